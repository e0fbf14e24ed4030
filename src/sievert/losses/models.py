"""Models fitted on the release and scored on the original: what a record costs more, in bits.

A released label that is a value of the original stands for itself. Another label stands for a set
of values: the values below it in the column's hierarchy, or else the values that became it. Its
records count for each of these values alike. Suppressed cells say nothing. Half a record per cell
is added to every distribution: equally to all values of a column alone, and in proportion to the
column's own distribution where another column is given.
"""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np

from sievert.arrays import Floats, Ints
from sievert.formatting.remarks import Remark
from sievert.hierarchies import ROOT
from sievert.losses.loss import GONE, Loss, LossKind, PairedColumn, Release, as_numbers, in_order
from sievert.losses.numeric_columns import (
    NO_RECORDS,
    SINGULAR,
    NumericColumn,
    Side,
    correlations,
    in_range,
    numeric_columns,
    ranks,
)
from sievert.measures.kernel import LN2, mutual_information, total

MANY = 20  # numbers of a column beyond which it is cut
PARTS = 10
MOST_ATOMS = 64  # values of a column that are told apart; the rarest are merged beyond
MOST_LABELS = 256
SMOOTHING = 0.5  # records added to each cell
NO_NUMBERS = Remark("no_numeric_varies")
SINGULAR_ORIGINAL = Remark("singular_covariances")
UNBOUNDED = Remark("unbounded")


def cuts(column: PairedColumn) -> Floats | None:
    """The original's deciles, at which a column of many numbers is cut; None for other columns."""
    numbers = column.value_numbers
    if numbers is None or not in_range(numbers):
        return None
    side = Side.from_codes(numbers, np.bincount(column.original, minlength=len(numbers)))
    if len(side.values) <= MANY:
        return None
    return np.unique([side.quantile(k / PARTS) for k in range(1, PARTS)])


def parts(texts: Sequence[str | None], edges: Floats) -> Ints:
    """The part of each number, and one more part for missing values; GONE for `*` and texts."""
    missing_parts = [GONE if t is not None else len(edges) + 1 for t in texts]
    numbers = as_numbers(texts)
    if numbers is None:
        return np.array(missing_parts, dtype=np.int64)
    return np.where(np.isnan(numbers), missing_parts, np.searchsorted(edges, numbers, side="right"))


@dataclass(frozen=True, kw_only=True)
class CategoricalColumn:
    """A column as few atoms (values, or parts of the numbers), and what labels say about them.

    A row of `spread` is a distribution over the atoms; the first rows are the atoms themselves.
    """

    name: str
    original: Ints  # atom of each record
    released: Ints  # row of each record; the number of rows where it says nothing
    size: int
    spread: Floats

    @classmethod
    def from_column(cls, column: PairedColumn, number: NumericColumn | None) -> Self:
        """The atoms of one column."""
        edges = cuts(column)
        if edges is not None:
            atoms = parts(column.values, edges)
            atoms[atoms == GONE] = len(edges) + 1
        else:
            times = np.bincount(column.original, minlength=len(column.values))
            atoms = np.minimum(ranks(times), MOST_ATOMS)
        size = int(atoms.max()) + 1
        rows, more = _rows_of_sets(column, atoms, _own_atoms(column, number, edges, atoms), size)
        spread = np.concatenate((np.eye(size), more))
        rows = np.append(np.where(rows == GONE, len(spread), rows), len(spread))
        return cls(
            name=column.name,
            original=atoms[column.original],
            released=rows[column.released],
            size=size,
            spread=spread,
        )

    @cached_property
    def counts(self) -> Floats:
        """The records of the original with each atom."""
        return np.bincount(self.original, minlength=self.size).astype(np.float64)

    @cached_property
    def chances(self) -> tuple[Floats, Floats]:
        """The distribution over the atoms by the original, and by the release."""
        rows = np.bincount(self.released, minlength=len(self.spread) + 1)[:-1]
        released = np.asarray((rows[:, None] * self.spread).sum(axis=0))
        return _smooth(self.counts, 1.0 / self.size), _smooth(released, 1.0 / self.size)


def _own_atoms(
    column: PairedColumn, number: NumericColumn | None, edges: Floats | None, atoms: Ints
) -> Ints:
    """The atom of each label that is a value itself or a number; GONE for others."""
    place = {text: int(atom) for text, atom in zip(column.values, atoms, strict=True)}
    own = np.array([place.get(t, GONE) for t in column.labels], dtype=np.int64)
    own[[i for i, t in enumerate(column.labels) if t == ROOT]] = GONE
    if number is None:
        return own
    if edges is not None:
        return np.where(own == GONE, parts(column.labels, edges), own)
    before, after = number.coded
    order = np.argsort(before, kind="stable")[: int((~np.isnan(before)).sum())]
    nearest = atoms[order][np.searchsorted((before[order][1:] + before[order][:-1]) / 2, after)]
    return np.where((own == GONE) & ~np.isnan(after), nearest, own)


def _rows_of_sets(column: PairedColumn, atoms: Ints, rows: Ints, size: int) -> tuple[Ints, Floats]:
    """Make rows for the labels that stand for sets of values; the rarest labels share a row."""
    general = np.flatnonzero(rows == GONE)
    pairs = _below(column, general)
    released = column.released.astype(np.int64)
    lacking = np.setdiff1d(general, pairs[:, 0])
    star = [i for i in lacking.tolist() if column.labels[i] in (ROOT, None)]
    lacking = np.setdiff1d(lacking, star)
    if len(lacking):
        some = np.append(np.isin(np.arange(len(column.labels)), lacking), False)[column.released]
        both = released[some] * len(atoms) + column.original[some]
        pairs = np.concatenate((pairs, np.stack(np.divmod(np.unique(both), len(atoms)), axis=1)))
    if not len(pairs):
        return rows, np.zeros((0, size))
    times = np.bincount(released + 1, minlength=len(column.labels) + 1)[1:]
    labels, first, sets = np.unique(pairs[:, 0], return_inverse=True, return_counts=True)
    rank = np.minimum(ranks(times[labels]), MOST_LABELS - 1)
    rows[labels] = size + rank
    weight = np.maximum(times[labels], 1e-9) / sets
    key = rank[first] * size + atoms[pairs[:, 1]]
    table = np.bincount(key, weight[first], (int(rank.max()) + 1) * size).reshape(-1, size)
    return rows, np.asarray(table / table.sum(axis=1, keepdims=True))


def _below(column: PairedColumn, general: Ints) -> Ints:
    """Pairs (label, value) of the labels of the column's hierarchy and the values below each."""
    if column.hierarchy is None:
        return np.zeros((0, 2), dtype=np.int64)
    place = {column.labels[i]: i for i in general.tolist() if column.labels[i] != ROOT}
    pairs = {
        (place[label], i)
        for i, value in enumerate(column.values)
        if value is not None
        for label in column.hierarchy.labels.get(value, ())
        if label in place
    }
    return np.array(sorted(pairs), dtype=np.int64).reshape(-1, 2)


def _table(a: Ints, b: Ints, rows: int, columns: int) -> Ints:
    return np.bincount(a * columns + b, minlength=rows * columns).reshape(rows, columns)


def _information(table: Ints) -> float:
    i, j = np.nonzero(table)
    if not len(i):
        return 0.0
    first = table.sum(axis=1)[i]
    second = table.sum(axis=0)[j]
    return mutual_information(table[i, j], first, second, np.ones_like(i), int(table.sum()))


def _smooth(model: Floats, prior: Floats | float) -> Floats:
    """Probabilities from the records of each atom, with half a record added per cell.

    Each row is a distribution.
    """
    added = SMOOTHING * model.shape[-1]
    return np.asarray((model + added * prior) / (model.sum(axis=-1, keepdims=True) + added))


def _cost(counts: Floats, chances: Floats) -> float:
    """The mean bits of records that are given as counts by atom."""
    return total((counts * -np.log2(chances)).ravel()) / float(counts.sum())


def spanning_tree(weights: Floats) -> list[tuple[int, int]]:
    """The tree of greatest weight as pairs (parent, child), from column 0 on; the first of ties.

    >>> spanning_tree(np.array([[0, 1, 5], [1, 0, 3], [5, 3, 0]]))
    [(0, 2), (2, 1)]
    """
    joined: list[int] = [0]
    edges: list[tuple[int, int]] = []
    rest = list(range(1, len(weights)))
    while rest:
        edge = max(itertools.product(joined, rest), key=lambda e: weights[e])
        edges.append(edge)
        joined.append(edge[1])
        rest.remove(edge[1])
    return edges


def _independent(columns: Sequence[CategoricalColumn]) -> tuple[dict[str, Any], dict[str, float]]:
    old = [_cost(a.counts, a.chances[0]) for a in columns]
    new = [_cost(a.counts, a.chances[1]) for a in columns]
    extra = {a.name: n - o for a, o, n in zip(columns, old, new, strict=True)}
    return _bits_before_and_after(math.fsum(old), math.fsum(new)), extra


def _bits_before_and_after(old: float, new: float) -> dict[str, Any]:
    return {"value": new - old, "original": old, "released": new}


def _tree(columns: Sequence[CategoricalColumn]) -> dict[str, Any]:
    weights = np.zeros((2, len(columns), len(columns)))
    tables: dict[tuple[int, int], tuple[Ints, Ints]] = {}
    for (i, a), (j, b) in itertools.combinations(enumerate(columns), 2):
        tables[i, j] = (
            _table(a.original, b.original, a.size, b.size),
            _table(a.released, b.released, len(a.spread) + 1, len(b.spread) + 1)[:-1, :-1],
        )
        weights[:, i, j] = weights[:, j, i] = [_information(table) for table in tables[i, j]]
    costs = []
    trees = []
    for side in (0, 1):
        edges = spanning_tree(weights[side])
        bits = [_cost(columns[0].counts, columns[0].chances[side])]
        for i, j in edges:
            if i < j:
                old, new = tables[i, j]
            else:
                old, new = (table.T for table in tables[j, i])
            records = old.astype(np.float64)
            model = _records_by_atom(new, columns[i], columns[j]) if side else records
            bits.append(_cost(records, _smooth(model, columns[j].chances[side])))
        costs.append(math.fsum(bits))
        trees.append({frozenset(e) for e in edges})
    names = [[columns[i].name for i in sorted(e)] for e in sorted(map(sorted, trees[1]))]
    return _bits_before_and_after(*costs) | {"edges": names, "edges_kept": len(trees[0] & trees[1])}


def _records_by_atom(table: Ints, a: CategoricalColumn, b: CategoricalColumn) -> Floats:
    """Turn a table of records by the rows of two columns into one by their atoms."""
    records = table.astype(np.float64)
    if len(a.spread) > a.size:
        records = np.einsum("ri,rs->is", a.spread, records)
    if len(b.spread) > b.size:
        records = np.einsum("is,sj->ij", records, b.spread)
    return records


def _gaussian(release: Release) -> dict[str, Any]:
    columns = [c for c in numeric_columns(release).columns if c.before.deviation > 0]
    if not columns:
        return {"value": None, "reason": NO_NUMBERS}
    means = []
    matrices = []
    for side in (0, 1):
        rows = [(c.numbers[side] - c.before.mean) / c.before.deviation for c in columns]
        whole = np.logical_and.reduce([~np.isnan(x) for x in rows])
        rows = [x if whole.all() else x[whole] for x in rows]
        if len(rows[0]) < 2:
            return {"value": None, "reason": NO_RECORDS}
        means.append(np.array([float(x.mean()) for x in rows]))
        matrices.append(correlations([x - m for x, m in zip(rows, means[-1], strict=True)]))
    return divergence(means[0], matrices[0], means[1], matrices[1]) | {
        "columns": [c.name for c in columns]
    }


def divergence(mean: Floats, cov: Floats, mean2: Floats, cov2: Floats) -> dict[str, Any]:
    """KL(N(mean, cov) || N(mean2, cov2)) in bits: the cost of the second where the first is true.

    >>> divergence(*(np.array(x) for x in ([0.0], [[1.0]], [1.0], [[1.0]])))["value"] * math.log(4)
    1.0
    """
    scale = np.sqrt(cov.diagonal())
    own = np.linalg.eigvalsh(cov / np.outer(scale, scale)) if scale.all() else np.zeros(1)
    if own[0] <= SINGULAR * own[-1]:
        return {"value": None, "reason": SINGULAR_ORIGINAL}
    root = np.linalg.inv(np.linalg.cholesky(cov))
    values, vectors = np.linalg.eigh(root @ cov2 @ root.T)
    if values[0] <= SINGULAR * values[-1]:
        return {"value": None, "reason": UNBOUNDED}
    shift = vectors.T @ (root @ (mean2 - mean))
    with np.errstate(over="ignore", divide="ignore"):
        u = (1.0 - values) / values
        log = np.where(np.abs(u) < 0.5, np.log1p(u), -np.log(values))  # of 1 + u
        terms = u - log + shift / values * shift
    if not np.isfinite(terms).all():
        return {"value": None, "reason": UNBOUNDED}
    return {"value": 0.5 * total(terms) / LN2}


def model_loss(release: Release) -> Loss:
    """The bits that each record of the original costs more under the tree fitted on the release.

    The costs under independent columns and under a Gaussian model are in the details.
    """
    release = in_order(release)
    numbers = {c.name: c for c in numeric_columns(release).columns}
    columns = [CategoricalColumn.from_column(c, numbers.get(c.name)) for c in release.columns]
    independent, extra = _independent(columns)
    tree = _tree(columns)
    details = {"independent": independent, "tree": tree, "gaussian": _gaussian(release)}
    return Loss(tree["value"], columns=extra, details={"smoothing": SMOOTHING, **details})


MODEL_LOSS = LossKind(
    id="model_loss",
    title="Model loss (tree)",
    unit="bits per record",
    low=None,
    high=None,
    worse="high",
    formula="mean over original records of log2 p(x)/p'(x), p and p' Chow-Liu trees fitted on the "
    "original and on the release, half a record added a cell",
    source="Chow and Liu 1968; Krichevsky and Trofimov 1981",
    reading="0: a model learnt from the release describes the original as well as one of its own.",
    compute=model_loss,
    aliases=("tree",),
)


KINDS = (MODEL_LOSS,)
