"""Propensity: how well a model tells records of the release from records of the original.

Columns that are numeric before and after are compared as numbers. Other columns are compared as
texts where every released label is a value of the original, or where a value became several labels.
Where every value became one label, the original's values are first replaced by these labels: the
model cannot tell a mere recoding from the original. A column that shows nothing is left out.
"""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from sievert.arrays import Bools, Floats, Ints
from sievert.formatting.remarks import Remark
from sievert.hierarchies import ROOT
from sievert.losses.loss import GONE, Loss, LossKind, PairedColumn, Release, undefined_loss
from sievert.losses.numeric_columns import NumericColumn, numeric_columns, ranks

ALIASED = 1e-9  # share of its variance that a term must keep beside others
RIDGE = 1e-4
STEPS = 40
FAR = 30.0
CLOSE = 1e-13


class Design:
    """The terms of the model for each combination: numbers, and categories as indicators."""

    def __init__(self, numbers: Sequence[Floats], categories: Sequence[Ints]) -> None:
        self.dense = np.stack([np.ones(len(categories[0])), *numbers])
        ranks = [np.unique(codes, return_inverse=True)[1] for codes in categories]
        self.groups = [(codes, int(codes.max()) + 1) for codes in ranks]
        starts = np.cumsum([len(self.dense), *(w for _, w in self.groups)])
        self.starts = starts[:-1]
        self.terms = int(starts[-1])

    @cached_property
    def _pairs(self) -> list[tuple[int, int, Ints]]:
        pairs = itertools.combinations(enumerate(self.groups), 2)
        return [(i, j, a * width + b) for (i, (a, _)), (j, (b, width)) in pairs]

    def sums(self, weights: Floats) -> Floats:
        """For each term the sum of the weights times the term."""
        dense_sums = [float((row * weights).sum()) for row in self.dense]
        parts = [np.bincount(code, weights, width) for code, width in self.groups]
        return np.concatenate([np.array(dense_sums), *parts])

    def gram(self, weights: Floats) -> Floats:
        """For every two terms the sum of the weights times both."""
        out = np.zeros((self.terms, self.terms))
        out[: len(self.dense)] = [self.sums(row * weights) for row in self.dense]
        for (_, width), start in zip(self.groups, self.starts, strict=True):
            at = np.arange(start, start + width)
            out[at, at] = out[0, at]
        for i, j, code in self._pairs:
            _, a = self.groups[i]
            _, b = self.groups[j]
            table = np.bincount(code, weights, a * b).reshape(a, b)
            out[self.starts[i] : self.starts[i] + a, self.starts[j] : self.starts[j] + b] = table
        return np.asarray(np.triu(out) + np.triu(out, 1).T)

    def predictor(self, coefficients: Floats) -> Floats:
        """The linear predictor of each combination."""
        predictor = np.zeros(self.dense.shape[1])
        for row, x in zip(self.dense, coefficients[: len(self.dense)], strict=True):
            predictor += x * row
        for (code, width), start in zip(self.groups, self.starts, strict=True):
            predictor += coefficients[start : start + width][code]
        return predictor

    def independent(self, times: Floats) -> Ints:
        """The terms that are not determined by terms before them."""
        left = self.gram(times)
        whole = left.diagonal().copy()
        terms = []
        for i in range(self.terms):
            if whole[i] > 0 and left[i, i] > ALIASED * whole[i]:
                terms.append(i)
                column = left[i + 1 :, i].copy()
                left[i + 1 :, i + 1 :] -= np.multiply.outer(column, column / left[i, i])
        return np.array(terms)


def logistic(x: Floats) -> Floats:
    """1/(1 + exp(-x))."""
    return np.asarray(1.0 / (1.0 + np.exp(-np.clip(x, -700.0, 700.0))))


def solve(matrix: Floats, right: Floats) -> Floats:
    """The solution for a positive definite matrix: the same bits on any number of threads."""
    left = matrix.copy()
    x = right.copy()
    for i in range(len(x)):
        factors = left[i + 1 :, i] / left[i, i]
        left[i + 1 :, i + 1 :] -= np.multiply.outer(factors, left[i, i + 1 :])
        x[i + 1 :] -= factors * x[i]
    for i in range(len(x) - 1, -1, -1):
        x[i] = (x[i] - float((left[i, i + 1 :] * x[i + 1 :]).sum())) / left[i, i]
    return x


def fit_propensities(design: Design, every: Floats, released: Floats) -> tuple[Floats, int, float]:
    """The propensity of each combination, the rank of the design, and the ridge that was needed.

    `every` has the records of each combination on both sides, `released` those of the release. A
    category that occurs on one side only has the propensity 0 or 1, which is where the likelihood
    is largest; its records are set aside.
    """
    chance = np.full(len(every), np.nan)
    rest = np.ones(len(every), dtype=bool)
    aside = _one_sided(design, every, released, rest)
    while aside.any():
        chance[aside] = released[aside] > 0
        rest &= ~aside
        aside = _one_sided(design, every, released, rest)
    ridge = 0.0
    if rest.any():
        m = np.where(rest, every, 0.0)
        r = np.where(rest, released, 0.0)
        terms = design.independent(m)
        propensities = _newton(design, terms, m, r, ridge)
        if propensities is None:
            ridge = RIDGE
            propensities = _newton(design, terms, m, r, ridge)
        assert propensities is not None
        chance[rest] = propensities[rest]
    return chance, len(design.independent(every)), ridge


def _one_sided(design: Design, every: Floats, released: Floats, rest: Bools) -> Bools:
    """Whether each combination of `rest` has a category that `rest` has on one side only."""
    one_sided = np.zeros(len(every), dtype=bool)
    m = np.where(rest, every, 0.0)
    r = np.where(rest, released, 0.0)
    for code, width in design.groups:
        a = np.bincount(code, m, width)
        b = np.bincount(code, r, width)
        one_sided |= ((b == 0) | (a == b))[code]
    return one_sided & rest


def _newton(design: Design, terms: Ints, m: Floats, r: Floats, ridge: float) -> Floats | None:
    """The propensities of greatest likelihood; None where it is at infinity and `ridge` is 0."""
    beta = np.zeros(design.terms)
    share = float(r.sum()) / float(m.sum())
    beta[0] = math.log(share / (1 - share))
    penalty = np.where(terms == 0, 0.0, ridge)

    def cost(b: Floats) -> tuple[float, Floats]:
        eta = design.predictor(b)
        loss = np.logaddexp(0.0, eta) * m - eta * r
        return float(loss.sum()) + 0.5 * float((penalty * b[terms] ** 2).sum()), eta

    now, eta = cost(beta)
    for _ in range(STEPS if ridge == 0 else 5 * STEPS):
        p = logistic(eta)
        slope = design.sums(r - m * p)[terms] - penalty * beta[terms]
        curve = design.gram(m * p * (1 - p))[np.ix_(terms, terms)] + np.diag(penalty)
        step = np.zeros(design.terms)
        step[terms] = solve(curve, slope)
        gain = float((slope * step[terms]).sum())
        size = 1.0
        then, eta = cost(beta + step)
        while then > now + 1e-12 * abs(now) and size >= 1e-6:
            size /= 2
            then, eta = cost(beta + size * step)
        beta = beta + size * step
        now = then
        if ridge == 0 and float(np.abs(eta[m > 0]).max()) > FAR:
            return None
        if gain <= CLOSE:
            return logistic(eta)
    return None if ridge == 0 else logistic(eta)


MOST_CATEGORIES = 50  # of a column; the rarest are merged beyond
MOST_RECORDS = 50_000  # of the original, where combinations are many
NUMBERS = "numbers"
TEXTS = "texts"
LABELS = "labels"
WITHHELD = "withheld"
NOTHING_RELEASED = Remark("nothing_released")
NOTHING_SHOWN = Remark("every_column_withheld")


@dataclass(frozen=True, kw_only=True)
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


def _numbers(column: PairedColumn, number: NumericColumn) -> Coding:
    """Code a column by its standardised numbers, missing values and `*`."""
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
    return Coding(
        how=NUMBERS,
        before=codes[:cut],
        after=codes[cut:],
        width=len(kind),
        number=np.append(units, (0.0, 0.0)),
        kind=kind,
    )


def _categories(column: PairedColumn) -> Coding:
    values: list[Any] = list(column.values)
    labels: list[Any] = list(column.labels)
    if all(t is None or t == ROOT for t in labels) and any(v is not None for v in values):
        return Coding(
            how=WITHHELD,
            before=np.zeros(len(values), dtype=np.int64),
            after=np.zeros(len(labels), dtype=np.int64),
            width=1,
        )
    how = TEXTS
    became = _became(column)
    if became is not None and not {t for t in labels if t != ROOT} <= {*values, None}:
        how = LABELS
        lost = object()  # a value that no released record shows
        shown = [labels[i] if i != GONE else lost for i in became.tolist()]
        values = [None if v is None else s for v, s in zip(values, shown, strict=True)]
    place: dict[Any, int] = {}
    before = np.array([place.setdefault(t, len(place)) for t in values], dtype=np.int64)
    after = np.array([place.setdefault(t, len(place)) for t in labels], dtype=np.int64)
    times = np.zeros(len(place), dtype=np.int64)
    np.add.at(times, before, np.bincount(column.original, minlength=len(before)))
    left = np.bincount(column.released.astype(np.int64) + 1, minlength=len(after) + 1)[1:]
    np.add.at(times, after, left)
    rank = np.minimum(ranks(times), MOST_CATEGORIES - 1)
    return Coding(how=how, before=rank[before], after=rank[after], width=int(rank.max()) + 1)


def _became(column: PairedColumn) -> Ints | None:
    """The one label of each value (GONE: none is shown); None where a value has several."""
    plain = np.array([t is not None and t != ROOT for t in column.labels] + [False])
    shown = plain[column.released]
    values = column.original[shown]
    labels = column.released[shown].astype(np.int64)
    labels_of_values = np.full(len(column.values), GONE, dtype=np.int64)
    labels_of_values[values] = labels
    return labels_of_values if bool((labels_of_values[values] == labels).all()) else None


def pool_records(
    release: Release, codings: Sequence[Coding]
) -> tuple[list[Ints], Floats, Floats, bool]:
    """The codes of each combination, its records, its released records, and whether it is a sample.

    Where there are many combinations, only some records of both sides are taken.
    """
    here = release.quasi[0].here
    sides = [_keys(release.columns, codings, side) for side in (0, 1)]
    if sides[0] is not None and sides[1] is not None:
        few = release.records <= MOST_RECORDS
        if few or 2 * len(np.unique(sides[0][:: release.records // MOST_RECORDS])) < MOST_RECORDS:
            keys = np.concatenate((sides[0] * 2, sides[1][here] * 2 + 1))
            keys, times = np.unique(keys, return_counts=True)
            if few or len(keys) <= 2 * MOST_RECORDS:
                return *_decode_keys(keys, times, codings), False
    size = min(MOST_RECORDS, release.records)
    some = np.arange(size) * release.records // size
    left = some[here[some]] if here[some].any() else np.flatnonzero(here)[:1]
    codes = [
        np.concatenate((k.before[c.original[some]], k.after[c.released[left]]))
        for c, k in zip(release.columns, codings, strict=True)
    ]
    side = np.repeat((0.0, 1.0), (len(some), len(left)))
    return codes, np.ones(len(side)), side, size < release.records


def _keys(columns: Sequence[PairedColumn], codings: Sequence[Coding], side: int) -> Ints | None:
    """One number per record for its combination; None where 64 bits are not enough."""
    if math.prod(k.width for k in codings) >= 1 << 61:
        return None
    keys: Any = 0
    for c, k in zip(columns, codings, strict=True):
        if side == 0:
            codes = c.original
            table = k.before
        else:
            codes = c.released
            table = k.after
        keys = keys * k.width + (table[codes] if len(table) else 0)
    return np.asarray(keys)


def _decode_keys(
    keys: Ints, times: Ints, codings: Sequence[Coding]
) -> tuple[list[Ints], Floats, Floats]:
    """Decode combinations from their numbers; a combination of both sides is one row."""
    rows, place = np.unique(keys >> 1, return_inverse=True)
    every = np.asarray(np.bincount(place, times), dtype=np.float64)
    released = np.asarray(np.bincount(place, times * (keys & 1)), dtype=np.float64)
    codes = [np.asarray(code) for code in np.unravel_index(rows, [k.width for k in codings])]
    return codes, every, released


def _design(codes: Sequence[Ints], codings: Sequence[Coding]) -> Design:
    numbers = []
    categories = []
    for code, k in zip(codes, codings, strict=True):
        if k.number is not None and k.kind is not None:
            numbers.append(k.number[code])
            code = k.kind[code]
        categories.append(code)
    return Design(numbers, categories)


def summarize_propensities(
    chance: Floats, every: Floats, released: Floats, rank: int
) -> tuple[float, dict[str, Any]]:
    """The mean squared distance of propensities from the released share, and what chance gives."""
    records = float(every.sum())
    share = float(released.sum()) / records
    value = float((every * (chance - share) * (chance - share)).sum()) / records
    unit = (1 - share) ** 2 * share / records
    expected = (rank - 1) * unit
    deviation = math.sqrt(2 * (rank - 1)) * unit
    return value, {
        "expected": expected,
        "ratio": value / expected if expected > 0 else None,
        "standardized": (value - expected) / deviation if deviation > 0 else None,
        "of_largest": value / (share * (1 - share)),
        "terms": rank,
        "records": int(records),
    }


def pmse(release: Release) -> Loss:
    """The mean squared distance of the propensities from the released share of the records."""
    if not release.quasi[0].here.any():
        return undefined_loss(NOTHING_RELEASED)
    numbers = {c.name: c for c in numeric_columns(release).columns}
    codings = [
        _numbers(c, numbers[c.name]) if c.name in numbers else _categories(c)
        for c in release.columns
    ]
    compared = {c.name: {"compared": k.how} for c, k in zip(release.columns, codings, strict=True)}
    if all(k.how == WITHHELD for k in codings):
        return Loss(None, NOTHING_SHOWN, compared)
    codes, every, released, thinned = pool_records(release, codings)
    chance, rank, ridge = fit_propensities(_design(codes, codings), every, released)
    value, details = summarize_propensities(chance, every, released, rank)
    details |= {"thinned": thinned, "ridge": ridge}
    return Loss(value, columns=compared, details=details)


PMSE = LossKind(
    id="pmse",
    title="Propensity score (pMSE)",
    unit="1",
    low=0.0,
    high=0.25,
    worse="high",
    formula="mean of (p - c)^2 over the pooled records, p from a logistic model of all columns, "
    "c = n'/(n + n'): a squared probability",
    source="Woo, Reiter, Oganian and Karr 2009; Snoke, Raab, Nowok, Dibben and Slavkovic 2018",
    reading=(
        "0: no model of single columns tells the release from the original; c·(1 - c): it always "
        "does."
    ),
    compute=pmse,
    aliases=("propensity score", "propensity"),
)


KINDS = (PMSE,)
