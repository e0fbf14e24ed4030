"""The records of a release found again in the original, and signs that they are not the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np

from sievert.arrays import Ints
from sievert.counts import microdata
from sievert.counts.cube import Cube
from sievert.errors import InputError, UsageError, unknown
from sievert.estimators import binned
from sievert.formatting import plural
from sievert.hierarchies import ROOT, Hierarchy
from sievert.losses.label_sets import label_coverage
from sievert.losses.loss import GONE, PairedColumn, Release, as_numbers
from sievert.notes import Count, Name, Note

if TYPE_CHECKING:
    from sievert.counts.questions import Questions

NOT_IN_IT = "{} of {} without a place in its hierarchy"
NOT_ABOVE = "{} of {} in its hierarchy, but not above the original value"


@dataclass(frozen=True)
class People:
    """A table record by record: its columns as codes and, where there is one, a key."""

    name: str
    cube: Cube
    keyed: bool
    keyless: int = 0  # records left out because they have no key

    @property
    def records(self) -> int:
        """How many records there are."""
        return len(self.cube.counts)

    def codes(self, column: str) -> Ints:
        """The codes of a column."""
        return np.asarray(self.cube.codes[self.cube.columns.index(column)])

    def texts(self, column: str) -> Sequence[str | None]:
        """What the codes of a column stand for."""
        return self.cube.values[self.cube.columns.index(column)]


def people(questions: Questions, columns: Sequence[str], key: str | None, name: str) -> People:
    """A table record by record: by its key if it has one, in its order otherwise."""
    for column in columns:
        questions.engine.check_usable(column)
    if key is None:
        return People(name, microdata.in_order(questions, columns, name), keyed=False)
    if key not in questions.columns:
        raise UsageError(
            f"{name}: the release lacks the key {key!r}",
            hint="the same column in all tables; without --key records are paired by their order",
        )
    questions.engine.check_usable(key)
    cube = microdata.by_key(questions, columns, key, name)
    return People(name, cube, keyed=True, keyless=questions.records - cube.records)


def original_people(
    questions: Questions, columns: Sequence[str], key: str | None, name: str
) -> People:
    """The original; a key that was asked for must be there."""
    if key is not None and key not in questions.columns:
        raise unknown("--key: column of the original", key, questions.columns)
    return people(questions, columns, key, name)


def places(original: People, release: People) -> tuple[Ints, int]:
    """Of each original record its place in the release, GONE if it has none; how many are extra."""
    if release.keyed:
        mine, theirs = microdata.match_keys(original.cube, release.cube)
        if not len(mine):
            raise InputError(
                f"{release.name}: no record has a key of the original",
                hint="the same column, spelled alike, in both tables",
            )
        found = np.full(original.records, GONE, dtype=np.int64)
        found[mine] = theirs
        return found, release.records - len(mine)
    if original.records != release.records:
        raise UsageError(
            f"{release.name} has {plural(release.records, 'record')} and the original "
            f"{original.records:,}: their order does not tell who is who",
            hint="--key COLUMN, one value a person, in both tables",
        )
    return np.arange(original.records), 0


def paired(
    original: People,
    release: People,
    quasi: Sequence[str],
    secrets: Sequence[str],
    ladders: Mapping[str, Hierarchy],
    **options: Any,
) -> Release:
    """The columns of both, one place a record of the original."""
    at, extra = places(original, release)

    def column(name: str) -> PairedColumn:
        values, codes = original.texts(name), original.codes(name).astype(np.int64)
        if name in release.cube.columns:
            labels: Sequence[str | None] = same_numbers(values, release.texts(name))
            held = np.append(release.codes(name).astype(np.int64), GONE)[at]
        else:  # a column that was left out tells nothing
            labels, held = (ROOT,), np.where(at == GONE, GONE, 0)
        return PairedColumn(name, codes, held, values, labels, ladders.get(name))

    return Release(
        tuple(column(q) for q in quasi),
        tuple(column(s) for s in secrets if s not in quasi),
        extra=extra,
        **options,
    )


def same_numbers(
    values: Sequence[str | None], labels: Sequence[str | None]
) -> Sequence[str | None]:
    """Labels, those that are a number of the original spelled as it is there: 3.0 as 3.

    >>> same_numbers(["3", "4", None], ["3.0", "3.5", "4"])
    ['3', '3.5', '4']
    """
    known = set(values)
    if known.issuperset(labels):
        return labels
    if as_numbers(values) is None or as_numbers(labels) is None:
        return labels
    place = {Decimal(text): text for text in known if text not in (None, ROOT)}
    told = [
        text if text is None or text == ROOT or text in known else place.get(Decimal(text), text)
        for text in labels
    ]
    different = len(set(told)) == len(told) and len(place) == len(known - {None, ROOT})
    return told if different else labels


# -- signs of a wrong pairing ---------------------------------------------------------------------


def remarks(release: Release, people: People, lacking: Sequence[str], strange: int) -> list[Note]:
    """What stands out of how the records of the two tables go together."""
    notes = [
        Note("the release lacks {}: it counts as suppressed", Name(c))
        for c in lacking
        if c in {q.name for q in release.quasi}
    ]
    if strange:
        notes.append(
            Note("{} of the release, unknown to the original, not used", Count(strange, "column"))
        )
    if people.keyless:
        notes.append(Note("{} of the release without a key", Count(people.keyless)))
    if release.extra:
        notes.append(Note("{} of the release that the original lacks", Count(release.extra)))
    if not people.keyed:
        notes.append(Note("records are paired by their order"))
    for column in release.secrets:
        changed = int(np.count_nonzero(differs(column)))
        if column.name in lacking:
            notes.append(
                Note("{} was not released: bits are about its original values", Name(column.name))
            )
        elif changed:
            notes.append(
                Note(
                    "{} of {} other than in the original; risks are those of the original values",
                    Count(changed, "released value"),
                    Name(column.name),
                )
            )
    for column in release.columns:
        if column.name in lacking:
            continue
        if moved(column):
            notes.append(
                Note(
                    "{} has the values of the original, but in other records: is the order the "
                    "same?",
                    Name(column.name),
                )
            )
        if respelled(column):
            notes.append(
                Note(
                    "every value of {} is spelled in another way in the release: losses that "
                    "compare texts count it as changed",
                    Name(column.name),
                )
            )
        if column.hierarchy is not None:
            held = label_coverage(column)
            notes += [
                Note(template, Count(number, "released value"), Name(column.name))
                for template, which in ((NOT_IN_IT, held.unknown), (NOT_ABOVE, held.strayed))
                if (number := held.records(which))
            ]
    return notes


def differs(column: PairedColumn) -> Any:
    """Which released records have another text than the original."""
    place = {text: code for code, text in enumerate(column.values)}
    same = np.array([place.get(label, -2) for label in column.labels] + [GONE])
    return column.here & (same[column.released] != column.original)


def respelled(column: PairedColumn) -> bool:
    """Whether each value became a text of its own that the original does not know."""
    if column.numbers is not None:
        return False
    values, labels = column.original[column.here], column.released[column.here]
    became, was = np.full(len(column.values), GONE), np.full(len(column.labels), GONE)
    became[values], was[labels] = labels, values
    if not ((became[values] == labels).all() and (was[labels] == values).all()):
        return False
    old, new = (
        {texts[i] for i in np.unique(codes).tolist()}
        for texts, codes in ((column.values, values), (column.labels, labels))
    )
    return len(new - {None}) > 1 and not (new - {None}) & {*old, ROOT}


def moved(column: PairedColumn) -> bool:
    """Whether a column holds the same values as often as before, in other records."""
    if not column.here.all() or not differs(column).any():
        return False
    before = dict(
        zip(
            column.values,
            np.bincount(column.original, minlength=len(column.values)).tolist(),
            strict=True,
        )
    )
    after = dict(
        zip(
            column.labels,
            np.bincount(column.released, minlength=len(column.labels)).tolist(),
            strict=True,
        )
    )
    return {k: n for k, n in before.items() if n} == {k: n for k, n in after.items() if n}


def cut(release: Release, edges: Mapping[str, Any]) -> Release:
    """Numbers in bins, the same before and after; other labels stay what they are."""
    return replace(
        release,
        quasi=tuple(_cut(c, edges.get(c.name)) for c in release.quasi),
        secrets=tuple(_cut(c, edges.get(c.name)) for c in release.secrets),
    )


def _cut(column: PairedColumn, edges: Any) -> PairedColumn:
    if edges is None:
        return column
    before, after = binned(as_numbers(column.values), edges), as_numbers(column.labels)
    original = before[column.original]
    if after is None:
        return replace(column, original=original, values=_bins(before))
    inside = binned(after, edges)
    released = np.append(inside, GONE)[column.released]
    return replace(
        column, original=original, released=released, values=_bins(before), labels=_bins(inside)
    )


def _bins(codes: Ints) -> tuple[str | None, ...]:
    return tuple(str(i) for i in range(int(codes.max(initial=0)) + 1))


def sparse_numbers(people: People, column: str) -> bool:
    """Whether a column of numbers has too few records a value to be counted by value."""
    few, enough = 300, 5
    different = int(np.count_nonzero(np.bincount(people.codes(column))))
    return people.records >= few and people.records < enough * different
