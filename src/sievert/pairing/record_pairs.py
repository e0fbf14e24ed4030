"""Pairing the records of a release with those of the original, and signs of a wrong pairing."""

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

MOST_EVIDENCE = 8  # columns, including those in use, that are read as evidence of the pairing


@dataclass(frozen=True, kw_only=True)
class People:
    """A table record by record: its columns as codes, and a key if there is one."""

    name: str
    cube: Cube
    keyed: bool
    keyless: int = 0  # records left out because they have no key
    rows: Ints | None = None  # of a release with a pairing file: rows of the original, from 0
    as_spelt: bool = False  # whether keys with another spelling belong to other people

    @property
    def records(self) -> int:
        """The number of records."""
        return len(self.cube.counts)

    def codes(self, column: str) -> Ints:
        """The codes of a column."""
        return np.asarray(self.cube.codes[self.cube.columns.index(column)])

    def texts(self, column: str) -> Sequence[str | None]:
        """The texts of the codes of a column."""
        return self.cube.values[self.cube.columns.index(column)]

    def hide_suppressed(self, quasi: Sequence[str], mark: str | None) -> "People":
        """Replace a mark in every quasi-identifier by `*`, which losses know."""
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
        """The numbers of the codes of a column; raise an error if they are texts."""
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
    """Read a table record by record: by its key if it has one, in its order otherwise.

    With `as_spelt`, keys with another spelling belong to other people.
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
    """The place of each original record in the release (or GONE), and the number of extra ones."""
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
    """A caution on records of two tables whose keys are the same only canonically."""
    number = len(microdata.respelt_keys(first, second))
    return [Caution("paired_alike", keys=plural(number, "key"))] if number else []


def check_paired(paired: bool, key: str | None) -> None:
    """Refuse to pair records by a key and by their order at once."""
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
    """Decide how the records of two tables are paired; raise an error if their order does not.

    `further` gives more columns if those in use do not decide. It can be `stated` that the tables
    are paired, but not against the evidence. `unused` says why a pairing file is not used.
    """
    if keyed:
        return BY_KEY
    pairing = pairing_by_order(columns)
    others: Sequence[PairedColumn] = ()
    if pairing.paired is not True:
        others = further()
        more = [c for c in others if not tells_rows(c)]
        if more:
            pairing = pairing_by_order([*columns, *more])
    if stated and pairing.paired is None:
        pairing = _find_contradiction([*columns, *others]) or pairing
    require_paired(pairing, name, stated=stated, unused=unused)
    return STATED if stated else pairing


def _find_contradiction(columns: Sequence[PairedColumn]) -> Pairing | None:
    """The verdict if a column has all values of the original, but in other records.

    Its records agree no more than by chance. None if there is no such column.
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
    """Decide how a pairing file pairs two tables; raise an error if they contradict it.

    It is proven if its digest of the original is that of the file. Otherwise the columns decide.
    """
    if proven:
        return BY_FILE
    here = columns[0].here
    there = [replace(c, original=c.original[here], released=c.released[here]) for c in columns]
    pairing = pairing_by_order(there)
    require_paired(pairing, name, unused="the pairing file is about another original")
    return replace(pairing, by="file") if pairing.paired else pairing


def read_further(
    questions: Questions, used: Sequence[str], apart: Sequence[str], name: str
) -> Cube | None:
    """Read a few columns that are not in use, in their order, as evidence of the pairing."""
    others = usable_columns(questions, [c for c in questions.columns if c not in (*used, *apart)])
    return _in_order(questions, others[: max(0, MOST_EVIDENCE - len(used))], name)


def pair_further(
    read: Cube | None, questions: Questions, name: str, *, released: bool = False
) -> list[PairedColumn]:
    """Pair the columns that were `read` of one table (`released`: the release) with the other's."""
    columns = [] if read is None else [c for c in read.columns if c in questions.columns]
    other = _in_order(questions, usable_columns(questions, columns), name)
    if read is None or other is None:
        return []
    if released:
        return pair_in_order(other, read, other.columns, {})
    return pair_in_order(read, other, other.columns, {})


def _in_order(questions: Questions, columns: Sequence[str], name: str) -> Cube | None:
    return microdata.in_order(questions, columns, name) if columns else None


def tells_rows(column: PairedColumn) -> bool:
    """Whether a column may number the rows: it is sorted, or most values occur once.

    Such numbers are the same in unrelated tables.
    """
    if not len(column.original):
        return True
    numbers = column.value_numbers
    place = column.original if numbers is None else numbers[column.original]
    step = np.diff(place)
    different = int(np.count_nonzero(np.bincount(column.original)))
    return bool((step >= 0).all() or (step <= 0).all() or 2 * different > len(place))


def _pair_column(
    name: str,
    before: Ints,
    after: Ints,
    values: Sequence[str | None],
    labels: Sequence[str | None],
    hierarchies: Mapping[str, Hierarchy],
) -> PairedColumn:
    """Pair a column; labels that are sets or intervals of its hierarchy's values are read."""
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
    """Pair columns of two tables with equally many records, in their order."""
    pairs = []
    for name in columns:
        mine = original.columns.index(name)
        theirs = release.columns.index(name)
        values = original.values[mine]
        labels = same_numbers(values, release.values[theirs])
        before = np.asarray(original.codes[mine], dtype=np.int64)
        after = np.asarray(release.codes[theirs], dtype=np.int64)
        pairs.append(_pair_column(name, before, after, values, labels, hierarchies))
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
    """Pair the columns of both tables, with one place per record of the original."""
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
        return _pair_column(name, codes, released, values, labels, hierarchies)

    return Release(
        quasi=tuple(column(q) for q in quasi),
        secrets=tuple(column(s) for s in secrets if s not in quasi),
        extra=extra,
        **options,
    )


def same_numbers(
    values: Sequence[str | None], labels: Sequence[str | None]
) -> Sequence[str | None]:
    """Spell labels that are numbers of the original as the original does: 3.0 as 3.

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
    # Equal decimals are equal floats, and comparing floats takes less time.
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
    """The remarks on the pairing of the records of two tables."""
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
            continue
        changed = int(np.count_nonzero(differs(column)))
        if changed:
            yield Remark("secret_changed", values=_released_values(changed), column=name)
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
                yield Remark("no_place", values=_released_values(unread), column=name)
            if strayed:
                yield Remark("not_above", values=_released_values(strayed), column=name)


def _released_values(number: int) -> Things:
    return plural(number, "released value")


def differs(column: PairedColumn) -> Any:
    """Whether each released record has another text than the original."""
    place = {text: code for code, text in enumerate(column.values)}
    same = np.array([place.get(label, -2) for label in column.labels] + [GONE])
    return column.here & (same[column.released] != column.original)


def is_respelled(column: PairedColumn) -> bool:
    """Whether each value became a text of its own that the original does not have."""
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
    old = {column.values[i] for i in np.unique(values).tolist()}
    new = {column.labels[i] for i in np.unique(labels).tolist()}
    return len(new - {None}) > 1 and not (new - {None}) & {*old, ROOT}


def is_moved(column: PairedColumn) -> bool:
    """Whether a column has the same values as often as before, but in other records."""
    if not column.here.all() or not differs(column).any():
        return False
    before = _count_texts(column.values, column.original)
    after = _count_texts(column.labels, column.released)
    return before == after


def _count_texts(texts: Sequence[str | None], codes: Ints) -> dict[str | None, int]:
    """Count the records with each text that occurs."""
    numbers = np.bincount(codes, minlength=len(texts)).tolist()
    return {text: n for text, n in zip(texts, numbers, strict=True) if n}


def cut_numbers(release: Release, edges: Mapping[str, Any]) -> Release:
    """Put numbers into bins, the same before and after; other labels are unchanged."""

    def cut(columns: Sequence[PairedColumn]) -> tuple[PairedColumn, ...]:
        return tuple(_cut_column(c, edges[c.name]) if c.name in edges else c for c in columns)

    return replace(release, quasi=cut(release.quasi), secrets=cut(release.secrets))


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
    """Whether a column of numbers has too few records per value to be counted by value."""
    few = 300
    enough = 5
    different = int(np.count_nonzero(np.bincount(codes)))
    return len(codes) >= few and len(codes) < enough * different
