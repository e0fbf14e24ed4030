"""A logistic model of two samples on combinations of categories and numbers, with counts.

Sums go over codes, not over a matrix of indicators, and without linear algebra libraries: the same
bits on any number of threads.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property

import numpy as np

from sievert.arrays import Bools, Floats, Ints

ALIASED = 1e-9  # share of its variance that a term must keep beside others
RIDGE = 1e-4
STEPS, FAR, CLOSE = 40, 30.0, 1e-13


class Design:
    """The terms of the model for each combination: numbers, and categories as indicators."""

    def __init__(self, numbers: Sequence[Floats], categories: Sequence[Ints]) -> None:
        size = len(categories[0])
        self.dense = np.stack([np.ones(size), *numbers])
        self.groups: list[tuple[Ints, int]] = []
        for codes in categories:
            codes = np.unique(codes, return_inverse=True)[1]
            self.groups.append((codes, int(codes.max()) + 1))
        starts = np.cumsum([len(self.dense), *(w for _, w in self.groups)])
        self.starts, self.terms = starts[:-1], int(starts[-1])

    @cached_property
    def _pairs(self) -> list[tuple[int, int, Ints]]:
        groups = self.groups
        return [
            (i, j, groups[i][0] * groups[j][1] + groups[j][0])
            for i in range(len(groups))
            for j in range(i + 1, len(groups))
        ]

    def sums(self, weights: Floats) -> Floats:
        """For each term the sum of the weights times the term."""
        dense_sums = [float((row * weights).sum()) for row in self.dense]
        parts = [np.bincount(code, weights, width) for code, width in self.groups]
        return np.concatenate([np.array(dense_sums), *parts])

    def gram(self, weights: Floats) -> Floats:
        """For each two terms the sum of the weights times both."""
        out = np.zeros((self.terms, self.terms))
        for i, row in enumerate(self.dense):
            out[i] = self.sums(row * weights)
        for (_, width), start in zip(self.groups, self.starts, strict=True):
            at = np.arange(start, start + width)
            out[at, at] = out[0, at]
        for i, j, code in self._pairs:
            (_, a), (_, b) = self.groups[i], self.groups[j]
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
        """Terms that others before them do not determine."""
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
    left, x = matrix.copy(), right.copy()
    for i in range(len(x)):
        factors = left[i + 1 :, i] / left[i, i]
        left[i + 1 :, i + 1 :] -= np.multiply.outer(factors, left[i, i + 1 :])
        x[i + 1 :] -= factors * x[i]
    for i in range(len(x) - 1, -1, -1):
        x[i] = (x[i] - float((left[i, i + 1 :] * x[i + 1 :]).sum())) / left[i, i]
    return x


def fit_propensities(design: Design, every: Floats, released: Floats) -> tuple[Floats, int, float]:
    """The propensity of each combination, the rank of the design, and the ridge that was needed.

    A category that occurs on one side only is told apart for sure; its records are set aside, as
    they are where the likelihood is largest.
    """
    independent = design.independent(every)
    chance = np.full(len(every), np.nan)
    rest = np.ones(len(every), dtype=bool)
    while True:
        aside = _one_sided(design, every, released, rest)
        if not aside.any():
            break
        chance[aside] = released[aside] > 0
        rest &= ~aside
    ridge = 0.0
    if rest.any():
        m, r = np.where(rest, every, 0.0), np.where(rest, released, 0.0)
        terms = design.independent(m)
        propensities = _newton(design, terms, m, r, ridge)
        if propensities is None:
            ridge = RIDGE
            propensities = _newton(design, terms, m, r, ridge)
        assert propensities is not None
        chance[rest] = propensities[rest]
    return chance, len(independent), ridge


def _one_sided(design: Design, every: Floats, released: Floats, rest: Bools) -> Bools:
    """Combinations of the rest with a category that the rest has on one side only."""
    one_sided = np.zeros(len(every), dtype=bool)
    m, r = np.where(rest, every, 0.0), np.where(rest, released, 0.0)
    for code, width in design.groups:
        a, b = np.bincount(code, m, width), np.bincount(code, r, width)
        one_sided |= ((b == 0) | (a == b))[code]
    return one_sided & rest


def _newton(design: Design, terms: Ints, m: Floats, r: Floats, ridge: float) -> Floats | None:
    """Propensities of greatest likelihood; None where that is at infinity and nothing is held."""
    beta = np.zeros(design.terms)
    share = float(r.sum()) / float(m.sum())
    beta[0] = math.log(share / (1 - share))
    penalty = np.full(len(terms), ridge)
    penalty[terms == 0] = 0.0

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
        while True:
            then, eta = cost(beta + size * step)
            if then <= now + 1e-12 * abs(now) or size < 1e-6:
                break
            size /= 2
        beta, now = beta + size * step, then
        if ridge == 0 and float(np.abs(eta[m > 0]).max()) > FAR:
            return None
        if gain <= CLOSE:
            return logistic(eta)
    return None if ridge == 0 else logistic(eta)
