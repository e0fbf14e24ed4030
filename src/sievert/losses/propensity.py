"""Propensity: how well a model tells records of the release from records of the original.

Columns that are numeric before and after are compared as numbers. Other columns are compared as
texts where every released label is a value of the original, or where a value became several labels;
where every value became one label, the original's values are first given these labels: a recoding
alone cannot be told apart. A column that shows nothing at all is left out.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sievert.arrays import Floats, Ints
from sievert.hierarchies import ROOT
from sievert.losses.logistic import Design, fit_propensities
from sievert.losses.loss import GONE, Kind, Loss, PairedColumn, Release, without
from sievert.losses.numeric_columns import NumericColumn, numeric_columns
from sievert.measures.measure import Decides

MOST_CATEGORIES = 50  # of a column; the rarest are merged beyond
MOST_RECORDS = 50_000  # of the original, where combinations are many
NUMBERS, TEXTS, LABELS, WITHHELD = "numbers", "texts", "labels", "withheld"
NOTHING_RELEASED = "no record was released"
NOTHING_SHOWN = "every column is withheld"


@dataclass(frozen=True)
class Coding:
    """A column on an alphabet that both sides share: a category for each value and each label.

    `number` has a number for each category of a numeric column, 0 (the mean) where it has none.
    """

    how: str
    before: Ints
    after: Ints
    width: int
    number: Floats | None = None
    kind: Ints | None = None  # of each category: 0 a number, else what stands instead

    @classmethod
    def from_column(cls, column: PairedColumn, number: NumericColumn | None) -> Coding:
        """The alphabet of one column."""
        return _numbers(column, number) if number is not None else _categories(column)


def _numbers(column: PairedColumn, number: NumericColumn) -> Coding:
    """Standardised numbers, and what stands where there is none: missing, or `*`."""
    both = np.concatenate(number.coded)
    there = ~np.isnan(both)
    values, place = np.unique(both[there], return_inverse=True)
    texts = [*column.values, *column.labels]
    codes = np.full(len(texts), len(values))
    codes[there] = place
    codes[[i for i, t in enumerate(texts) if t == ROOT]] += 1
    units = (values - number.before.mean) / (number.before.deviation or 1.0)
    kind = np.append(np.zeros(len(values), dtype=np.int64), (1, 2))
    cut = len(column.values)
    return Coding(NUMBERS, codes[:cut], codes[cut:], len(kind), np.append(units, (0.0, 0.0)), kind)


def _categories(column: PairedColumn) -> Coding:
    values: list[Any] = list(column.values)
    labels: list[Any] = list(column.labels)
    if all(t is None or t == ROOT for t in labels) and any(v is not None for v in values):
        nothing = [np.zeros(len(x), dtype=np.int64) for x in (values, labels)]
        return Coding(WITHHELD, nothing[0], nothing[1], 1)
    how = TEXTS
    became = _became(column)
    if became is not None and not {t for t in labels if t != ROOT} <= {*values, None}:
        how = LABELS
        lost = object()  # a value that no released record shows
        shown = [labels[i] if i != GONE else lost for i in became.tolist()]
        values = [None if v is None else s for v, s in zip(values, shown, strict=True)]
    place: dict[Any, int] = {}
    before, after = (
        np.array([place.setdefault(t, len(place)) for t in texts], dtype=np.int64)
        for texts in (values, labels)
    )
    times = np.zeros(len(place), dtype=np.int64)
    np.add.at(times, before, np.bincount(column.original, minlength=len(before)))
    left = np.bincount(column.released.astype(np.int64) + 1, minlength=len(after) + 1)[1:]
    np.add.at(times, after, left)
    rank = np.empty(len(times), dtype=np.int64)
    rank[np.argsort(-times, kind="stable")] = np.arange(len(times))
    rank = np.minimum(rank, MOST_CATEGORIES - 1)
    return Coding(how, rank[before], rank[after], int(rank.max()) + 1)


def _became(column: PairedColumn) -> Ints | None:
    """The one label of each value (GONE: none is shown); None where a value has several."""
    plain = np.array([t is not None and t != ROOT for t in column.labels] + [False])
    shown = plain[column.released]
    values, labels = column.original[shown], column.released[shown].astype(np.int64)
    labels_of_values = np.full(len(column.values), GONE, dtype=np.int64)
    labels_of_values[values] = labels
    return labels_of_values if bool((labels_of_values[values] == labels).all()) else None


@dataclass(frozen=True)
class PooledRecords:
    """Records of both sides by combination: codes, and how many of each side."""

    codes: list[Ints]
    all: Floats
    released: Floats
    thinned: bool


def pool_records(release: Release, codings: Sequence[Coding]) -> PooledRecords:
    """Both sides by combination, or some records of each where combinations are many."""
    here = release.quasi[0].here
    sides = [_keys(release.columns, codings, side) for side in (0, 1)]
    if sides[0] is not None and sides[1] is not None:
        few = release.records <= MOST_RECORDS
        if few or 2 * len(np.unique(sides[0][:: release.records // MOST_RECORDS])) < MOST_RECORDS:
            keys = np.concatenate((sides[0] * 2, sides[1][here] * 2 + 1))
            keys, times = np.unique(keys, return_counts=True)
            if few or len(keys) <= 2 * MOST_RECORDS:
                return _decode_keys(keys, times, codings)
    size = min(MOST_RECORDS, release.records)
    some = np.arange(size) * release.records // size
    left = some[here[some]] if here[some].any() else np.flatnonzero(here)[:1]
    codes = [
        np.concatenate((k.before[c.original[some]], k.after[c.released[left]]))
        for c, k in zip(release.columns, codings, strict=True)
    ]
    side = np.repeat((0.0, 1.0), (len(some), len(left)))
    return PooledRecords(codes, np.ones(len(side)), side, size < release.records)


def _keys(columns: Sequence[PairedColumn], codings: Sequence[Coding], side: int) -> Ints | None:
    """One number a record for its combination; None where numbers would not do."""
    if math.prod(k.width for k in codings) >= 1 << 61:
        return None
    keys: Any = 0
    for c, k in zip(columns, codings, strict=True):
        codes, table = (c.original, k.before) if side == 0 else (c.released, k.after)
        keys = keys * k.width + (table[codes] if len(table) else 0)
    return np.asarray(keys)


def _decode_keys(keys: Ints, times: Ints, codings: Sequence[Coding]) -> PooledRecords:
    """Combinations from their numbers; those of both sides in one row."""
    rows, place = np.unique(keys >> 1, return_inverse=True)
    every, released = (
        np.asarray(np.bincount(place, x), dtype=np.float64) for x in (times, times * (keys & 1))
    )
    codes = []
    for k in reversed(codings):
        rows, code = np.divmod(rows, k.width)
        codes.append(code)
    return PooledRecords(codes[::-1], every, released, False)


def _design(codes: Sequence[Ints], codings: Sequence[Coding]) -> Design:
    numbers, categories = [], []
    for code, k in zip(codes, codings, strict=True):
        if k.number is not None and k.kind is not None:
            numbers.append(k.number[code])
            code = k.kind[code]
        categories.append(code)
    return Design(numbers, categories)


def pmse(release: Release) -> Loss:
    """The mean squared distance of the propensities from the released share of the records."""
    if not release.quasi[0].here.any():
        return without(NOTHING_RELEASED)
    numbers = {c.name: c for c in numeric_columns(release).columns}
    codings = [Coding.from_column(c, numbers.get(c.name)) for c in release.columns]
    compared = {c.name: {"compared": k.how} for c, k in zip(release.columns, codings, strict=True)}
    if all(k.how == WITHHELD for k in codings):
        return Loss(None, NOTHING_SHOWN, compared)
    both = pool_records(release, codings)
    chance, rank, ridge = fit_propensities(_design(both.codes, codings), both.all, both.released)
    records = float(both.all.sum())
    share = float(both.released.sum()) / records
    apart = chance - share
    value = float((both.all * apart * apart).sum()) / records
    unit = (1 - share) ** 2 * share / records
    expected, deviation = (rank - 1) * unit, math.sqrt(2 * (rank - 1)) * unit
    details = {
        "expected": expected,
        "ratio": value / expected if expected > 0 else None,
        "standardized": (value - expected) / deviation if deviation > 0 else None,
        "of_largest": value / (share * (1 - share)),
        "terms": rank,
        "records": int(records),
        "thinned": both.thinned,
        "ridge": ridge,
    }
    return Loss(value, columns=compared, details=details)


KINDS = (
    Kind(
        "pmse",
        "Propensity score (pMSE)",
        "1",
        0.0,
        0.25,
        "high",
        "mean of (p - c)^2 over the pooled records, p from a logistic model of all columns, "
        "c = n'/(n + n'): a squared probability",
        "Woo, Reiter, Oganian and Karr 2009; Snoke, Raab, Nowok, Dibben and Slavkovic 2018",
        "0: no model of single columns tells the release from the original; c·(1 - c): it always "
        "does.",
        pmse,
        decided_by=Decides.EVERYBODY,
    ),
)
