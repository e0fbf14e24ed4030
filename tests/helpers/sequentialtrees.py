"""A synthetic table of the usual kind, for tests: one classification or regression tree a column.

Each column is drawn from a tree (CART) of the columns before it: a row falls into a leaf and gets
the value of one of the real rows there. Leaves have at least `LEAF` rows, and a node is split as
long as that makes its parts any purer.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sievert.numerics.acceleration import jit_only

LEAF = 5  # real rows that a value is drawn from, at least


def draw_rows(base: Any, numeric: Any, rows: int, rng: np.random.Generator) -> Any:
    """So many rows like those of a base, whose codes go upwards where a column is numeric."""
    fake = np.empty((rows, base.shape[1]), dtype=np.int64)
    fake[:, 0] = base[rng.integers(len(base), size=rows), 0]
    for at in range(1, base.shape[1]):
        before = np.ascontiguousarray(base[:, :at]), np.ascontiguousarray(fake[:, :at])
        target = np.ascontiguousarray(base[:, at])
        fake[:, at] = _draw_column(*before, target, numeric[: at + 1], rng.random(rows))
    return fake


@jit_only
def _draw_column(base: Any, fake: Any, target: Any, numeric: Any, chances: Any) -> Any:
    """The values of one more column: those of leaves into which the rows fall."""
    real, made, drawn = np.arange(len(base)), np.arange(len(fake)), np.empty(len(fake), np.int64)
    nodes = [(0, len(base), 0, len(fake))]
    while len(nodes):
        first, last, start, end = nodes.pop()
        if start == end:
            continue
        at, left = _best_split(base, target, numeric, real[first:last])
        if at < 0:
            for row in made[start:end]:
                drawn[row] = target[real[first + int(chances[row] * (last - first))]]
            continue
        middle = first + _part(base[:, at], left, real[first:last])
        between = start + _part(fake[:, at], left, made[start:end])
        nodes.append((first, middle, start, between))
        nodes.append((middle, last, between, end))
    return drawn


@jit_only
def _part(column: Any, left: Any, rows: Any) -> int:
    """Put the rows that go left before the others; returns how many they are."""
    goes = np.array([left[column[row]] for row in rows])
    ordered = np.concatenate((rows[goes], rows[~goes]))
    rows[:] = ordered
    return int(goes.sum())


@jit_only
def _best_split(base: Any, target: Any, numeric: Any, rows: Any) -> Any:
    """The column, and which of its codes go left, that leave the target purest; -1: none."""
    best, column, most = 0.0, -1, target.max() + 1
    chosen = np.zeros(0, np.bool_)
    if len(rows) < 2 * LEAF:
        return column, chosen
    whole = np.bincount(target[rows], minlength=most)
    if whole.max() == len(rows):
        return column, chosen
    best = _purity(whole, numeric[-1]) + 1e-9
    for at in range(base.shape[1]):
        values = base[:, at].max() + 1
        counts = np.zeros((values, most), np.int64)
        for row in rows:
            counts[base[row, at], target[row]] += 1
        sizes = counts.sum(axis=1)
        # Numbers by their size, words by how often they have the target's most frequent value.
        keys = np.arange(values) / 1.0
        if not numeric[at]:
            keys = counts[:, whole.argmax()] / np.maximum(sizes, 1)
        below, many = np.zeros(most, np.int64), 0
        order = np.argsort(keys, kind="mergesort")
        for place in range(values):
            code = order[place]
            if sizes[code] == 0:
                continue
            below += counts[code]
            many += sizes[code]
            if min(many, len(rows) - many) < LEAF:
                continue
            pure = _purity(below, numeric[-1]) + _purity(whole - below, numeric[-1])
            if pure > best:
                best, column = pure, at
                chosen = np.zeros(values, np.bool_)
                chosen[order[: place + 1]] = True
    return column, chosen


@jit_only
def _purity(counts: Any, is_number: bool) -> float:
    """What Gini's impurity, or the sum of squares of numbers, falls by as this grows."""
    codes = np.arange(len(counts))
    if is_number:
        return float((counts * codes).sum() ** 2 / counts.sum())
    return float((counts * counts).sum() / counts.sum())
