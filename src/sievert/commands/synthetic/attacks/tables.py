"""The original, the synthetic and the control table in one set of codes, and their distances.

Distances are whole numbers, so that ties are exact and the same on every machine. A category that
differs is one `UNIT`; a number differs by its place on a grid of `UNIT` steps between the least and
the largest number of the pool, which is the people of the original and of the control. What is
missing equals what is missing, and is one unit away from every value.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import ceil

import numpy as np

from sievert.arrays import Bools, Floats, Ints
from sievert.commands.synthetic.attacks.evidence import PoolGroups
from sievert.counts.cube import run_starts
from sievert.errors import InputError, require
from sievert.hierarchies import NUMBER

UNIT = 1024
LONGEST = 400  # characters of a number
MISSING_PLACE = 4 * UNIT  # on the grid of numbers: one unit, the most, away from every other place
PAIRS = 2 * 10**10  # of people and rows that are compared; beyond it, every k-th person is attacked
SHORT = np.iinfo(np.int16).max
Texts = Sequence[str | None]
ColumnCodes = tuple[
    Texts, Ints
]  # the different values of a column, and the number of each record's


@dataclass(frozen=True, eq=False, kw_only=True)
class SharedColumn:
    """One column that the tables share: what its codes mean, and where they lie.

    The codes of numbers go upwards; the code of what is missing is the last one.
    """

    name: str
    values: int  # how many codes there are, that of what is missing included
    missing: int  # the code of what is missing; -1 where nothing is
    numbers: tuple[Fraction, ...] | None  # per code but that of what is missing; None: categories
    places: Ints  # per code: where numbers lie on the grid, and the code itself for categories

    @property
    def is_number(self) -> bool:
        """Whether the values are numbers."""
        return self.numbers is not None


@dataclass(frozen=True, eq=False, kw_only=True)
class SyntheticTables:
    """The pool of real people, originals first, and the synthetic table: one row per record."""

    columns: tuple[SharedColumn, ...]
    pool: Ints  # a row per person, a code per column
    synthetic: Ints
    groups: PoolGroups  # who is in the original
    thinned: int | None = None  # every so-manieth person is attacked; None: as the pairs allow

    @property
    def originals(self) -> int:
        """How many people there are in the original."""
        return self.groups.originals

    @property
    def people(self) -> int:
        """How many people there are in the pool."""
        return len(self.pool)

    @property
    def controls(self) -> int:
        """How many people of the pool are not in the original."""
        return len(self.pool) - self.originals

    @cached_property
    def pool_rows(self) -> DistinctRows:
        """The different rows of the pool."""
        return DistinctRows.of(self.pool, self.order)

    @cached_property
    def stride(self) -> int:
        """Of how many people one is attacked where each is compared with all rows."""
        if self.thinned is not None:
            return self.thinned
        rows = len(self.pool_rows.rows)
        return max(1, ceil(rows * (rows + len(self.synthetic_rows.rows)) / PAIRS))

    @cached_property
    def attacked(self) -> AttackedPeople:
        """Every k-th person of the original, and every k-th of the control."""
        numbers = np.arange(self.people)
        numbers[self.originals :] -= self.originals
        return AttackedPeople.of(self.pool_rows, numbers % self.stride == 0)

    @property
    def attacked_groups(self) -> PoolGroups:
        """Who is in the original, where rates are those of every k-th person."""
        return replace(self.groups, sampled=self.stride > 1)

    @cached_property
    def synthetic_rows(self) -> DistinctRows:
        """The different rows of the synthetic table."""
        return DistinctRows.of(self.synthetic, self.order)

    @cached_property
    def numeric(self) -> Bools:
        """Which columns are numbers."""
        return np.array([column.is_number for column in self.columns], dtype=bool)

    @cached_property
    def order(self) -> Ints:
        """The columns by their numbers of values: rows in this order share most with the next."""
        return np.argsort([column.values for column in self.columns], kind="stable")

    def places(self, rows: Ints, order: Ints) -> Ints:
        """Where rows lie in some columns, column by column, as the distances need it."""
        short = all(len(c.places) == 0 or c.places.max() <= SHORT for c in self.columns)
        wide = len(self.columns) * UNIT > SHORT or not short
        places = np.empty((len(order), len(rows)), dtype=np.int32 if wide else np.int16)
        for place, at in zip(places, order.tolist(), strict=True):
            place[:] = self.columns[at].places[rows[:, at]]
        return places

    def only(self, names: Sequence[str]) -> SyntheticTables:
        """The same records with some of the columns."""
        at = [self.at(name) for name in names]
        columns = tuple(self.columns[i] for i in at)
        return SyntheticTables(
            columns=columns,
            pool=self.pool[:, at],
            synthetic=self.synthetic[:, at],
            groups=self.groups,
            thinned=self.stride,
        )

    def as_categories(self) -> SyntheticTables:
        """The same records, numbers being labels: two differ by one unit, or are the same."""
        columns = tuple(
            SharedColumn(
                name=c.name,
                values=c.values,
                missing=c.missing,
                numbers=None,
                places=np.arange(c.values),
            )
            for c in self.columns
        )
        return SyntheticTables(
            columns=columns,
            pool=self.pool,
            synthetic=self.synthetic,
            groups=self.groups,
            thinned=self.stride,
        )

    @property
    def incomparable(self) -> list[str]:
        """The columns in which no synthetic row has a value, or a number in the range, of the pool.

        Either they are written differently in the synthetic table, or they do not describe people.
        """
        names = []
        for at, column in enumerate(self.columns):
            codes = (np.unique(rows[:, at]) for rows in (self.pool, self.synthetic))
            real, fake = (own[own != column.missing] for own in codes)
            common = (
                (fake >= real[0]) & (fake <= real[-1])  # codes of numbers go upwards
                if column.is_number and len(real)
                else np.isin(fake, real)
            )
            if not common.any() and (len(real) or len(fake)):
                names.append(column.name)
        return names

    def at(self, name: str) -> int:
        """The number of a column."""
        return [column.name for column in self.columns].index(name)


@dataclass(frozen=True, eq=False)
class DistinctRows:
    """The different rows of a table, how often each occurs, and that of each record."""

    rows: Ints
    counts: Ints
    of_record: Ints

    @classmethod
    def of(cls, records: Ints, by: Ints) -> DistinctRows:
        """The different rows of these records, in the order of some of their columns."""
        order = np.lexsort(records.T[by[::-1]])
        starts = run_starts(*records[order].T)
        counts = np.diff(np.append(starts, len(records)))
        of_record = np.empty(len(records), dtype=np.int64)
        of_record[order] = np.repeat(np.arange(len(starts)), counts)
        return cls(records[order[starts]], counts, of_record)


@dataclass(frozen=True, eq=False)
class AttackedPeople:
    """The different rows of the people who are attacked, and whose row is whose."""

    rows: Ints
    in_pool: Ints  # per row, its place among the different rows of the pool
    of_person: Ints  # per person of the pool, the place of their row here; -1: not attacked

    @classmethod
    def of(cls, pool: DistinctRows, attacked: Bools) -> AttackedPeople:
        """The rows of some people of the pool."""
        in_pool, of_attacked = np.unique(pool.of_record[attacked], return_inverse=True)
        of_person = np.full(len(attacked), -1, dtype=np.int64)
        of_person[attacked] = of_attacked
        return cls(pool.rows[in_pool], in_pool, of_person)

    def spread(self, values: Ints | Floats) -> Floats:
        """What holds for rows, per person; NaN for those who are not attacked."""
        per_person = np.full((len(self.of_person), *values.shape[1:]), np.nan)
        attacked = self.of_person >= 0
        per_person[attacked] = values[self.of_person[attacked]]
        return per_person


def join_tables(
    original: Mapping[str, ColumnCodes],
    synthetic: Mapping[str, ColumnCodes],
    control: Mapping[str, ColumnCodes] | None = None,
    categories: Sequence[str] = (),
    clusters: Ints | None = None,
) -> SyntheticTables:
    """The columns that all tables share, in one set of codes.

    Values are numbers where all of them are, unless the column is among `categories`: 7 and 7.0
    are then the same. `clusters` tells which people of the original and the control came together.
    """
    tables = [original, synthetic] if control is None else [original, synthetic, control]
    names = [name for name in original if all(name in table for table in tables)]
    require(names, "the tables share no column", hint="columns of the same names", error=InputError)
    columns = []
    codes = []
    for name in names:
        column, own = _code([table[name] for table in tables], name, number=name not in categories)
        columns.append(column)
        codes.append(own)
    people, fake, *others = (np.stack(each, axis=1) for each in zip(*codes, strict=True))
    pool = np.concatenate([people, *others])
    for rows, what in (
        (people, "original"),
        (fake, "synthetic table"),
        *((o, "control") for o in others),
    ):
        require(len(rows), f"the {what} has no record", error=InputError)
    columns = [_place(c, np.unique(pool[:, at])) for at, c in enumerate(columns)]
    return SyntheticTables(
        columns=tuple(columns), pool=pool, synthetic=fake, groups=PoolGroups(len(people), clusters)
    )


def _code(
    parts: Sequence[ColumnCodes], name: str, *, number: bool
) -> tuple[SharedColumn, list[Ints]]:
    """The codes of a column in each table; where numbers lie is not known yet."""
    present = [[texts[c] for c in np.unique(codes).tolist()] for texts, codes in parts]
    texts = sorted({t for each in present for t in each if t is not None})
    exact: dict[str, Fraction | str] = {t: _number(t) if number else t for t in texts}
    numbers: tuple[Fraction, ...] | None = None
    known_numbers = {n for n in exact.values() if isinstance(n, Fraction)}
    distinct: list[Fraction | str] = [*dict.fromkeys(exact.values())]
    if distinct and len(known_numbers) == len(distinct):
        numbers = tuple(sorted(known_numbers))
        distinct = [*numbers]
    place = {each: code for code, each in enumerate(distinct)}
    code_of: dict[str | None, int] = {t: place[exact[t]] for t in texts}
    known = len(distinct)
    missing = known if any(None in each for each in present) else -1
    code_of[None] = known
    codes = [
        np.array([code_of.get(t, 0) for t in own], dtype=np.int64)[own_codes]
        for own, own_codes in parts
    ]
    values = known + (missing >= 0)
    return SharedColumn(
        name=name, values=values, missing=missing, numbers=numbers, places=np.arange(values)
    ), codes


def _number(text: str) -> Fraction | str:
    """A number where a text is one: 7 and 7.0 are the same in a column of words, too."""
    return Fraction(text) if len(text) <= LONGEST and NUMBER.fullmatch(text) else text


def _place(column: SharedColumn, pool: Ints) -> SharedColumn:
    """The column with the places of its numbers on the grid that the pool spans."""
    if column.numbers is None:
        return column
    real = [column.numbers[code] for code in pool.tolist() if code != column.missing]
    low, high = (min(real), max(real)) if real else (Fraction(0), Fraction(0))
    span = high - low
    whole = span <= UNIT and all(n.denominator == 1 for n in column.numbers)
    places = []
    for number in column.numbers:
        inside = min(max(number, low), high) - low  # an outlier of the synthetic table is clipped
        if not span:
            places.append(0)
        elif whole:
            places.append(int(UNIT // span * inside))
        else:
            places.append(int((UNIT * inside / span + Fraction(1, 2)).__floor__()))
    places += [MISSING_PLACE] * (column.missing >= 0)
    return SharedColumn(
        name=column.name,
        values=column.values,
        missing=column.missing,
        numbers=column.numbers,
        places=np.array(places, dtype=np.int64),
    )
