"""Keys of people, and names of secrets, that may differ between the releases of a ledger.

A ledger has keyed hashes only. So other spellings of the new release's keys are hashed, too.
"""

from collections.abc import Collection, Sequence

import numpy as np

from sievert.arrays import Ints
from sievert.commands.ledger.joint import ReleasesTogether, number_words
from sievert.commands.ledger.store import LedgerRelease, Pseudonyms
from sievert.counts.joint_classes import mark_numbers
from sievert.counts.questions import Questions
from sievert.formatting import list_names
from sievert.formatting.remarks import Caution, Figure, Remark

POINT_ZERO = ".0"  # the end of a whole number that was read as a float


def spell_otherwise(text: str, width: int = 0) -> tuple[str, ...]:
    """Other spellings of a key; always the same number of them.

    A whole number is also spelt without zeros at the start, and with zeros up to the `width` of the
    longest key: if keys agree with and without zeros, the longest keys do.

    >>> spell_otherwise(" A7.0")
    ('A7.0', 'a7', 'A7', ' A7', 'A7', 'A7', '  A7.0', ' A7.0 ', ' A7.0.0', '  A7.0.0')
    >>> spell_otherwise("07", 4)[4:6]
    ('7', '0007')
    """
    short = text.strip().removesuffix(POINT_ZERO)
    without_zeros = short
    with_zeros = short
    if short.isascii() and short.isdigit():
        without_zeros = short.lstrip("0")
        if not without_zeros:
            without_zeros = "0"
        with_zeros = short.zfill(width)
    longer = f"{text}{POINT_ZERO}"
    return (
        text.strip(),
        short.casefold(),
        short.upper(),
        text.removesuffix(POINT_ZERO),
        without_zeros,
        with_zeros,
        f" {text}",
        f"{text} ",
        longer,
        f" {longer}",
    )


def join_key(parts: Sequence[str]) -> str:
    """Join the columns of a person's key to one text."""
    return parts[0] if len(parts) == 1 else "".join(f"{len(text)}:{text}" for text in parts)


def count_respelt(
    questions: Questions,
    person: Sequence[str],
    pseudonyms: Pseudonyms,
    releases: Sequence[LedgerRelease],
) -> int:
    """Count the people of a ledger that a new release has only if its keys are spelt otherwise."""
    if not releases:
        return 0
    cube = questions.cube(tuple(person))
    columns: list[list[str]] = []
    for values, codes in zip(cube.values, cube.codes, strict=True):
        texts = ["" if value is None else value for value in values]
        columns.append([texts[code] for code in codes.tolist()])
    keys = list(zip(*columns, strict=True))
    widths = [max(map(len, column), default=0) for column in columns]
    ledger = _people_of(releases)
    hashes = pseudonyms.people([join_key(key) for key in keys])
    known, own = number_words([ledger, hashes])
    there = mark_numbers(known, int(own.max()) + 1)[own]
    others: set[str] = set()
    for key, known_before in zip(keys, there.tolist(), strict=True):
        if not known_before:
            spellings = zip(*map(spell_otherwise, key, widths), strict=True)
            others.update(join_key(spelling) for spelling in spellings)
    known, own, other = number_words([ledger, hashes, pseudonyms.people([*others])])
    size = 1 + max(int(numbers.max(initial=-1)) for numbers in (known, own, other))
    return int(
        (mark_numbers(known, size) & mark_numbers(other, size) & ~mark_numbers(own, size)).sum()
    )


def _people_of(releases: Sequence[LedgerRelease]) -> Ints:
    """The hashes of the people of all rows of some releases."""
    return np.concatenate([release.people for release in releases])


def count_alike(spelt: Sequence[Ints], alike: Sequence[Ints]) -> int:
    """Count the hashes of texts as they are `spelt` whose canonical text others have as well.

    >>> one, other = np.array([[1, 1], [2, 2], [3, 3]]), np.array([[7, 7], [7, 7], [8, 8]])
    >>> count_alike([one], [other])
    2
    """
    pairs = np.stack([np.concatenate(number_words(each)) for each in (alike, spelt)])
    times = np.bincount(np.unique(pairs, axis=1)[0])
    return int(times[times > 1].sum())


def merge_releases(
    releases: Sequence[LedgerRelease], person: Sequence[str], apart: Collection[str]
) -> tuple[list[LedgerRelease], dict[str, int]]:
    """Merge the spellings of people and of secrets; return how many values coincide by column.

    People are called by the names of their columns. Columns `apart` are distinct by the policy.
    """
    merged: dict[str, int] = {}
    people = not {*person} & {*apart}
    if people:
        keys = count_alike([r.people for r in releases], [r.alike for r in releases])
        if keys:
            merged[", ".join(person)] = keys
    for secret in dict.fromkeys(s for release in releases for s in release.secrets):
        own = [r.secrets[secret] for r in releases if secret in r.secrets]
        if secret not in apart:
            values = count_alike([s.codes for s in own], [s.alike for s in own])
            if values:
                merged[secret] = values
    return [release.with_merged_spellings(merged, people=people) for release in releases], merged


def doubt_keys(together: ReleasesTogether) -> list[Caution]:
    """Caution if the new release has few people of the ledger, and the others far more."""
    *earlier, new = (together.members(i) for i in range(len(together.releases)))
    if len(earlier) < 2:
        return []
    times = np.sum(earlier, axis=0)
    here = int(new.sum())
    known = int((new & (times > 0)).sum())
    people = int(times.sum())
    again = int(times[times > 1].sum())
    if 2 * known >= here or again * here < 2 * known * people:
        return []
    return [
        Caution(
            "few_known",
            known=Figure(known),
            people=Figure(here),
            again=Figure(again),
            all=Figure(people),
        )
    ]


def name_single_secrets(releases: Sequence[LedgerRelease]) -> list[Remark]:
    """Remark on secrets of one release that may have another name in others."""
    single = dict[str, None]()
    for release in releases:
        others = {s for other in releases if other is not release for s in other.secrets}
        if others - {*release.secrets}:
            single |= dict.fromkeys(s for s in release.secrets if s not in others)
    if not single:
        return []
    key = "single_secret" if len(single) == 1 else "single_secrets"
    return [Remark(key, names=list_names([*single]))]
