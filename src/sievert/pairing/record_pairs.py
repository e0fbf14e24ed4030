"""The records of a release found again in the original, and signs that they are not the same."""

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

import numpy as np

from sievert.arrays import Floats, Ints
from sievert.attacks.reasoning.value_sets import label_members
from sievert.counts import microdata
from sievert.counts.cube import Cube
from sievert.counts.questions import Questions
from sievert.errors import InputError, require
from sievert.estimators import bin_numbers
from sievert.formatting import plural
from sievert.formatting.remarks import Caution, Remark, Things
from sievert.hierarchies import ROOT, Hierarchy
from sievert.losses.label_sets import label_coverage
from sievert.losses.loss import GONE, PairedColumn, Release, as_numbers
from sievert.pairing.agreement import agreement, seems_paired
from sievert.pairing.evidence import (
    BY_FILE,
    BY_KEY,
    PAIRING_FILE,
    STATED,
    UNPAIRED,
    Pairing,
    pairing_by_order,
    require_paired,
)
from sievert.request.repeated_rows import usable_columns

MOST_EVIDENCE = 8  # columns, with those in use, that are read to tell how records are paired


@dataclass(frozen=True, kw_only=True)
class People:
    """A table record by record: its columns as codes and, where there is one, a key."""

    name: str
    cube: Cube
    keyed: bool
    keyless: int = 0  # records left out because they have no key
    rows: Ints | None = None  # of a release with a pairing file: rows of the original, from 0
    as_spelt: bool = False  # whether keys that are spelt otherwise are of other people

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

    def hide_suppressed(self, quasi: Sequence[str], mark: str | None) -> "People":
        """The same with `*`, which losses know, for another mark in every quasi-identifier."""
        marked = self.cube.all_have(quasi, mark)
        if mark in (None, ROOT) or not marked.any():
            return self
        codes = list(self.cube.codes)
        values = list(self.cube.values)
        for at in (self.cube.columns.index(q) for q in quasi):
            if ROOT not in values[at]:
                values[at] = (*values[at], ROOT)
            codes[at] = np.where(marked, values[at].index(ROOT), codes[at])
        return replace(self, cube=replace(self.cube, codes=tuple(codes), values=tuple(values)))

    def numbers(self, column: str, what: str = "column", hint: str | None = None) -> Floats:
        """The numbers that the codes of a column stand for; an error where they are texts."""
        numbers = as_numbers(self.texts(column))
        require(numbers is not None, f"{what} {column!r} does not hold numbers", hint=hint)
        return np.asarray(numbers)


def people(
    questions: Questions,
    columns: Sequence[str],
    key: str | None,
    name: str,
    *,
    as_spelt: bool = False,
) -> People:
    """A table record by record: by its key if it has one, in its order otherwise.

    With `as_spelt`, keys that are spelt otherwise are of other people.
    """
    questions.check_usable(columns)
    if key is None:
        return People(name=name, cube=microdata.in_order(questions, columns, name), keyed=False)
    require(
        key in questions.columns,
        f"{name}: the release lacks the key {key!r}",
        hint="the same column in all tables; without --key records are paired by their order",
    )
    questions.engine.check_usable(key)
    cube = microdata.by_key(questions, columns, key, name)
    keyless = questions.records - cube.records
    return People(name=name, cube=cube, keyed=True, keyless=keyless, as_spelt=as_spelt)


def record_places(original: People, release: People) -> tuple[Ints, int]:
    """Of each original record its place in the release, GONE if it has none; how many are extra."""
    if release.keyed:
        as_spelt = release.as_spelt
        mine, theirs = microdata.match_keys(original.cube, release.cube, as_spelt=as_spelt)
        require(
            len(mine),
            f"{release.name}: no record has a key of the original",
            hint="the same column, spelled alike, in both tables",
            error=InputError,
        )
        places = np.full(original.records, GONE, dtype=np.int64)
        places[mine] = theirs
        return places, release.records - len(mine)
    if release.rows is not None:
        places = np.full(original.records, GONE, dtype=np.int64)
        places[release.rows] = np.arange(release.records)
        return places, 0
    require(
        original.records == release.records,
        f"{release.name} has {plural(release.records, 'record')} and the original "
        f"{original.records:,}: their order does not tell who is who",
        hint=f"the {PAIRING_FILE}; --key COLUMN, one value a person, in both tables; {UNPAIRED}",
    )
    return np.arange(original.records), 0


def respelt_pairs(first: Cube, second: Cube) -> list[Caution]:
    """A caution on records of two tables whose keys are the same only if they are spelt alike."""
    number = len(microdata.respelt_keys(first, second))
    return [Caution("paired_alike", keys=plural(number, "key"))] if number else []


def check_paired(paired: bool, key: str | None) -> None:
    """A key and the order of records cannot both pair them."""
    require(
        not paired or key is None,
        "a key pairs the records: their order does not matter then",
        hint="--key COLUMN or --paired",
    )


def check_pairing(
    name: str,
    columns: Sequence[PairedColumn],
    further: Callable[[], Sequence[PairedColumn]],
    *,
    keyed: bool,
    stated: bool,
    unused: str | None = None,
) -> Pairing:
    """How the records of two tables were paired; an error where their order does not pair them.

    Further columns are asked for where those in use do not show it. That the tables are paired can
    be `stated`, but not against the evidence. `unused` tells why a pairing file is not used.
    """
    if keyed:
        return BY_KEY
    found = pairing_by_order(columns)
    others: Sequence[PairedColumn] = ()
    if found.paired is not True:
        others = further()
        if more := [c for c in others if not tells_rows(c)]:
            found = pairing_by_order([*columns, *more])
    if stated and found.paired is None:
        found = _find_contradiction([*columns, *others]) or found
    require_paired(found, name, stated=stated, unused=unused)
    return STATED if stated else found


def _find_contradiction(columns: Sequence[PairedColumn]) -> Pairing | None:
    """The verdict where a column has all values of the original, but in other records.

    Its records agree no more than by chance. None where no column is like that.
    """
    for column in columns:
        if len(column.original) and is_moved(column):
            moments = agreement(column).moments()
            if not seems_paired(column, moments):
                return Pairing(
                    paired=False, by="order", columns=(column.name,), excess=(moments.excess,)
                )
    return None


def check_pairing_file(name: str, columns: Sequence[PairedColumn], *, proven: bool) -> Pairing:
    """How a pairing file paired two tables; an error where they show that it does not.

    It is proven if its digest of the original is that of the file. Otherwise the columns decide.
    """
    if proven:
        return BY_FILE
    here = columns[0].here
    there = [replace(c, original=c.original[here], released=c.released[here]) for c in columns]
    found = pairing_by_order(there)
    require_paired(found, name, unused="the pairing file is about another original")
    return replace(found, by="file") if found.paired else found


def read_further(
    questions: Questions, used: Sequence[str], apart: Sequence[str], name: str
) -> Cube | None:
    """A few columns that are not in use but may show how records are paired, in their order."""
    others = usable_columns(questions, [c for c in questions.columns if c not in (*used, *apart)])
    return _in_order(questions, others[: max(0, MOST_EVIDENCE - len(used))], name)


def pair_further(
    read: Cube | None, questions: Questions, name: str, *, released: bool = False
) -> list[PairedColumn]:
    """Such columns of one table, which were read (`released`: of the release), and the other's."""
    columns = [] if read is None else [c for c in read.columns if c in questions.columns]
    other = _in_order(questions, usable_columns(questions, columns), name)
    if read is None or other is None:
        return []
    original, release = (other, read) if released else (read, other)
    return pair_in_order(original, release, other.columns, {})


def _in_order(questions: Questions, columns: Sequence[str], name: str) -> Cube | None:
    return microdata.in_order(questions, columns, name) if columns else None


def tells_rows(column: PairedColumn) -> bool:
    """Whether a column may be a number of rows: it ascends with them, or most values are single.

    Such a number is the same in unrelated tables.
    """
    if not len(column.original):
        return True
    numbers = column.value_numbers
    place = column.original if numbers is None else numbers[column.original]
    step = np.diff(place)
    different = int(np.count_nonzero(np.bincount(column.original)))
    return bool((step >= 0).all() or (step <= 0).all() or 2 * different > len(place))


def _paired(
    name: str,
    before: Ints,
    after: Ints,
    values: Sequence[str | None],
    labels: Sequence[str | None],
    hierarchies: Mapping[str, Hierarchy],
) -> PairedColumn:
    """A column whose labels are read where they are sets or intervals of its hierarchy's values."""
    tree = hierarchies.get(name)
    listed: dict[str, Ints] = {}
    if tree is not None:
        texts = [t for t in labels if t is not None and t[:1] + t[-1:] in ("{}", "[]")]
        members = label_members(texts, list(tree.labels), tree)
        listed = {text: own for text, own in zip(texts, members, strict=True) if len(own)}
    return PairedColumn(
        name=name,
        original=before,
        released=after,
        values=values,
        labels=labels,
        hierarchy=tree,
        listed=listed,
    )


def pair_in_order(
    original: Cube, release: Cube, columns: Sequence[str], hierarchies: Mapping[str, Hierarchy]
) -> list[PairedColumn]:
    """Columns of two tables of as many records, side by side in their order."""
    pairs = []
    for name in columns:
        mine = original.columns.index(name)
        theirs = release.columns.index(name)
        values = original.values[mine]
        labels = same_numbers(values, release.values[theirs])
        before, after = (
            np.asarray(codes, dtype=np.int64)
            for codes in (original.codes[mine], release.codes[theirs])
        )
        pairs.append(_paired(name, before, after, values, labels, hierarchies))
    return pairs


def pair_columns(
    original: People,
    release: People,
    *,
    quasi: Sequence[str],
    secrets: Sequence[str],
    hierarchies: Mapping[str, Hierarchy],
    **options: Any,
) -> Release:
    """The columns of both, one place a record of the original."""
    at, extra = record_places(original, release)

    def column(name: str) -> PairedColumn:
        values = original.texts(name)
        codes = original.codes(name).astype(np.int64)
        if name in release.cube.columns:
            labels: Sequence[str | None] = same_numbers(values, release.texts(name))
            released = np.append(release.codes(name).astype(np.int64), GONE)[at]
        else:  # a column that was left out tells nothing
            labels = (ROOT,)
            released = np.where(at == GONE, GONE, 0)
        return _paired(name, codes, released, values, labels, hierarchies)

    return Release(
        quasi=tuple(column(q) for q in quasi),
        secrets=tuple(column(s) for s in secrets if s not in quasi),
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
    before = as_numbers(values)
    after = as_numbers(labels)
    if before is None or after is None:
        return labels
    # Equal decimals are equal floats, which are found in less time.
    if known.issuperset(itertools.compress(labels, np.isin(after, before).tolist())):
        return labels
    spelling = {Decimal(text): text for text in known if text not in (None, ROOT)}
    texts = [
        text if text is None or text == ROOT or text in known else spelling.get(Decimal(text), text)
        for text in labels
    ]
    different = len(set(texts)) == len(texts) and len(spelling) == len(known - {None, ROOT})
    return texts if different else labels


# -- signs of a wrong pairing ---------------------------------------------------------------------


def pairing_notes(
    release: Release, people: People, pairing: Pairing, lacking: Sequence[str], strange: int
) -> Iterator[Remark]:
    """What stands out of how the records of the two tables go together."""
    quasi = {q.name for q in release.quasi}
    if strange and not quasi.isdisjoint(lacking):
        yield Caution("renamed")
    yield from (Remark("release_lacks", column=repr(c)) for c in lacking if c in quasi)
    if strange:
        yield Remark("release_strange", columns=plural(strange, "column"))
    if people.keyless:
        yield Remark("release_keyless", records=plural(people.keyless, "record"))
    if release.extra:
        yield Remark("release_extra", records=plural(release.extra, "record"))
    yield from pairing.notes()
    for column in release.secrets:
        name = repr(column.name)
        if column.name in lacking:
            yield Remark("secret_not_released", column=name)
        elif changed := int(np.count_nonzero(differs(column))):
            yield Remark("secret_changed", values=_released(changed), column=name)
    for column in (c for c in release.columns if c.name not in lacking):
        name = repr(column.name)
        if is_moved(column):
            yield Remark("moved", column=name)
        if is_respelled(column):
            yield Remark("respelled", column=name)
        if column.hierarchy is not None:
            coverage = label_coverage(column)
            unread = coverage.records(coverage.unknown & ~coverage.listed)
            strayed = coverage.records(coverage.strayed)
            if unread:
                yield Remark("no_place", values=_released(unread), column=name)
            if strayed:
                yield Remark("not_above", values=_released(strayed), column=name)


def _released(number: int) -> Things:
    return plural(number, "released value")


def differs(column: PairedColumn) -> Any:
    """Which released records have another text than the original."""
    place = {text: code for code, text in enumerate(column.values)}
    same = np.array([place.get(label, -2) for label in column.labels] + [GONE])
    return column.here & (same[column.released] != column.original)


def is_respelled(column: PairedColumn) -> bool:
    """Whether each value became a text of its own that the original does not know."""
    if column.numbers is not None:
        return False
    values = column.original[column.here]
    labels = column.released[column.here]
    became = np.full(len(column.values), GONE)
    was = np.full(len(column.labels), GONE)
    became[values] = labels
    was[labels] = values
    if not ((became[values] == labels).all() and (was[labels] == values).all()):
        return False
    old, new = (
        {texts[i] for i in np.unique(codes).tolist()}
        for texts, codes in ((column.values, values), (column.labels, labels))
    )
    return len(new - {None}) > 1 and not (new - {None}) & {*old, ROOT}


def is_moved(column: PairedColumn) -> bool:
    """Whether a column holds the same values as often as before, in other records."""
    if not column.here.all() or not differs(column).any():
        return False
    before, after = (
        {
            text: n
            for text, n in zip(texts, np.bincount(codes, minlength=len(texts)), strict=True)
            if n
        }
        for texts, codes in ((column.values, column.original), (column.labels, column.released))
    )
    return before == after


def cut_numbers(release: Release, edges: Mapping[str, Any]) -> Release:
    """Numbers in bins, the same before and after; other labels stay what they are."""
    quasi, secrets = (
        tuple(_cut_column(c, edges[c.name]) if c.name in edges else c for c in columns)
        for columns in (release.quasi, release.secrets)
    )
    return replace(release, quasi=quasi, secrets=secrets)


def _cut_column(column: PairedColumn, edges: Any) -> PairedColumn:
    before = bin_numbers(column.value_numbers, edges)
    after = column.label_numbers
    column = replace(column, original=before[column.original], values=_bins(before))
    if after is None:
        return column
    inside = bin_numbers(after, edges)
    return replace(column, released=np.append(inside, GONE)[column.released], labels=_bins(inside))


def _bins(codes: Ints) -> tuple[str | None, ...]:
    return tuple(str(i) for i in range(int(codes.max(initial=0)) + 1))


def sparse_numbers(codes: Ints) -> bool:
    """Whether a column of numbers has too few records a value to be counted by value."""
    few = 300
    enough = 5
    different = int(np.count_nonzero(np.bincount(codes)))
    return len(codes) >= few and len(codes) < enough * different
