"""What every loss is made of and ends in: columns before and after, and a number with its unit."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, wraps
from typing import Any, Literal, TypeVar, cast

import numpy as np

from sievert.arrays import Bools, Floats, Ints
from sievert.estimators.contingency import rank_keys, table_size
from sievert.formatting.remarks import Remark
from sievert.hierarchies import NUMBER, ROOT, Hierarchy

Owner = TypeVar("Owner")
Thing = TypeVar("Thing")
GONE = -1  # the code of a record that was not released


@dataclass(frozen=True, kw_only=True)
class PairedColumn:
    """A column of the original and what became of it, with one place per record of the original.

    `original` and `released` contain codes; `values` and `labels` contain their texts, None for
    missing. `listed` has the labels that are sets or intervals of values of the hierarchy, with the
    places of these values.
    """

    name: str
    original: Ints
    released: Ints  # GONE where the record was not released
    values: Sequence[str | None]
    labels: Sequence[str | None]
    hierarchy: Hierarchy | None = None
    listed: Mapping[str, Ints] = field(default_factory=dict)

    @cached_property
    def here(self) -> Bools:
        """Whether each record was released."""
        return np.asarray(self.released != GONE)

    @cached_property
    def suppressed(self) -> Bools:
        """Whether each cell was withheld: `*` or missing now but not before, or its record is gone.

        The place after the last label is that of records that were not released.
        """
        is_star = np.array([label == ROOT for label in self.labels] + [True])
        is_missing = np.array([label is None for label in self.labels] + [True])
        had_text = np.array([value != ROOT for value in self.values])
        had_value = np.array([value is not None for value in self.values])
        starred = is_star[self.released] & had_text[self.original]
        lost = is_missing[self.released] & had_value[self.original]
        return np.asarray(starred | lost | ~self.here)

    @cached_property
    def value_numbers(self) -> Floats | None:
        """The number of every value, NaN for missing; None where other texts occur."""
        return as_numbers(self.values)

    @cached_property
    def label_numbers(self) -> Floats | None:
        """The number of every label, likewise."""
        return as_numbers(self.labels)

    @cached_property
    def numbers(self) -> tuple[Floats, Floats] | None:
        """Before and after as numbers, NaN where there is none; None where other texts occur."""
        before = self.value_numbers
        after = self.label_numbers
        if before is None or after is None:
            return None
        return before[self.original], np.append(after, np.nan)[self.released]


def as_numbers(texts: Sequence[str | None]) -> Floats | None:
    """Texts as numbers, `*` and missing as NaN; None if a text is no number, or all are missing."""
    known = [t for t in texts if t is not None and t != ROOT]
    if not known or not all(map(NUMBER.fullmatch, known)):
        return None
    numbers = np.array(list(map(float, known)))
    if np.isinf(numbers).any():
        return None
    if len(known) == len(texts):
        return numbers
    with_gaps = np.full(len(texts), np.nan)
    with_gaps[[t is not None and t != ROOT for t in texts]] = numbers
    return with_gaps


@dataclass(frozen=True, kw_only=True)
class Release:
    """All that losses are computed from: one release beside its original.

    Columns have one place per record of the original, in its order or (`ordered`) sorted.
    """

    quasi: tuple[PairedColumn, ...]
    secrets: tuple[PairedColumn, ...] = ()
    predicted: tuple[str, ...] = ()  # columns to predict; the secrets unless given
    seed: int = 0
    extra: int = 0  # records of the release that the original lacks
    ordered: bool = False  # whether records are in the order of what they say

    @property
    def records(self) -> int:
        """The number of records of the original."""
        return len(self.quasi[0].original)

    @property
    def columns(self) -> tuple[PairedColumn, ...]:
        """All columns: the quasi-identifiers, then the secrets."""
        return self.quasi + self.secrets

    @cached_property
    def suppressed(self) -> Bools:
        """Whether each record has no quasi-identifier left, or was not released."""
        return np.asarray(np.logical_and.reduce([c.suppressed for c in self.quasi]))

    @cached_property
    def classes(self) -> Ints:
        """The released class of each record, numbered from 0; GONE where it was not released."""
        return combination_codes([c.released for c in self.quasi], self.quasi[0].here)


def combination_codes(codes: Sequence[Ints], here: Bools | None = None) -> Ints:
    """Number the combinations of codes from 0 on; a record that is not `here` gets GONE.

    >>> combination_codes([np.array([2, 0, 2]), np.array([5, 9, 5])]).tolist()
    [1, 0, 1]
    """
    if here is not None and not here.all():
        out = np.full(len(here), GONE, dtype=np.int64)
        out[here] = combination_codes([column_codes[here] for column_codes in codes])
        return out
    keys = np.zeros(len(codes[0]), dtype=np.int64)
    bound = 1
    for column_codes in codes:
        top = int(column_codes.max(initial=0)) + 2
        if table_size(keys) >= bound > table_size(keys) // top or bound > (1 << 62) // top:
            keys, bound = rank_keys(keys, bound)
        keys = keys * top + (column_codes.astype(np.int64) + 1)
        bound *= top
    return rank_keys(keys, bound)[0]


def in_order(release: Release) -> Release:
    """The same records sorted by their texts, which are numbered in that order too.

    Records with the same texts are interchangeable, so nothing depends on the original order.
    """
    if release.ordered:
        return release
    columns = [_by_text(column) for column in release.columns]
    codes = combination_codes([codes for c in columns for codes in (c.released, c.original)])
    order = np.argsort(codes, kind="stable")
    columns = [replace(c, original=c.original[order], released=c.released[order]) for c in columns]
    quasi = len(release.quasi)
    return replace(
        release, quasi=tuple(columns[:quasi]), secrets=tuple(columns[quasi:]), ordered=True
    )


def _by_text(column: PairedColumn) -> PairedColumn:
    """A column whose codes rank its texts, missing ones first."""
    codes = []
    texts = []
    for own, values in ((column.original, column.values), (column.released, column.labels)):
        order = sorted(range(len(values)), key=lambda i: (values[i] is not None, values[i] or ""))
        rank = np.empty(len(values) + 1, dtype=np.int64)
        rank[order] = np.arange(len(values))
        rank[-1] = GONE
        codes.append(rank[own])
        texts.append([values[i] for i in order])
    return replace(column, original=codes[0], released=codes[1], values=texts[0], labels=texts[1])


@dataclass(frozen=True)
class Loss:
    """One loss of one release: a number or the reason why there is none, and its parts."""

    value: float | None
    reason: Remark | None = None
    columns: Mapping[str, Any] = field(default_factory=dict)  # by column, where that makes sense
    details: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "Loss":
        """Read a loss back from the JSON; its unit and the worse side are those of its kind."""
        known = ("value", "unit", "worse", "reason", "columns")
        return cls(
            value=data.get("value"),
            reason=data.get("reason"),
            columns=data.get("columns", {}),
            details={key: entry for key, entry in data.items() if key not in known},
        )


def undefined_loss(reason: Remark, **details: Any) -> Loss:
    """A loss that does not exist, and why."""
    return Loss(None, reason, details=details)


def computed_once(compute: Callable[[Owner], Thing]) -> Callable[[Owner], Thing]:
    """Make a function compute once per column or release, and keep the result with it."""
    key = f"{compute.__module__}.{compute.__qualname__}"

    @wraps(compute)
    def compute_once(owner: Owner) -> Thing:
        cache = vars(owner)
        if key not in cache:
            cache[key] = compute(owner)
        return cast("Thing", cache[key])

    return compute_once


def needs_records(compute: Callable[[Release], Loss]) -> Callable[[Release], Loss]:
    """Make a loss say that it does not exist where the original has no records."""

    @wraps(compute)
    def compute_or_refuse(release: Release) -> Loss:
        return compute(release) if release.records else undefined_loss(Remark("no_records"))

    return compute_or_refuse


@dataclass(frozen=True, kw_only=True)
class LossKind:
    """A kind of loss: what it is, how to read it, where it comes from."""

    id: str
    title: str
    unit: str
    low: float | None
    high: float | None
    worse: Literal["high", "low"]  # more is lost where it is high, or low
    formula: str
    source: str
    reading: str
    compute: Callable[[Release], Loss]
    aliases: tuple[str, ...] = ()  # other names that the field uses

    @property
    def bounds(self) -> str:
        """The range in words."""
        if self.low is None:
            return Remark("range_any") if self.high is None else f"<= {self.high:g}"
        return f"[{self.low:g}, {self.high:g}]" if self.high is not None else f">= {self.low:g}"
