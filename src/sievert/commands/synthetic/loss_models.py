"""What models and associations of an unpaired table have lost: no row stands beside another.

All columns are categories here: of many values the most frequent originals by themselves, and all
others together, so that the work of every number is bounded.
"""

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sievert.arrays import Floats, Ints
from sievert.estimators.contingency import ContingencyTable
from sievert.losses.numeric_columns import ranks
from sievert.losses.prediction import MOST_SCORED, bayes_tables, share_right
from sievert.losses.propensity import (
    MOST_CATEGORIES,
    MOST_RECORDS,
    Design,
    fit_propensities,
    summarize_propensities,
)

MOST_TERMS = 400  # of all columns together, where they tell two tables apart


@dataclass(frozen=True, kw_only=True)
class ModelLoss:
    """How far relations, models and information of a table are from the original's; 0 is best."""

    association: dict[tuple[str, str], float]  # the difference of Cramér's V
    correlation: dict[tuple[str, str], float]  # of Pearson's r, for two columns of numbers
    propensity: Mapping[str, Any]
    prediction: Mapping[str, Mapping[str, float]]  # by secret
    entropy: Mapping[str, tuple[float, float]]  # by column: of the original, of the table, in bits
    information: Mapping[str, tuple[float, float]]  # by secret: the same, of all other columns

    def to_dict(self) -> dict[str, Any]:
        """As in the JSON."""
        lost = [own["loss"] for own in self.prediction.values()]
        return {
            "association": mean_of(self.association.values()),
            "correlation": mean_of(self.correlation.values()),
            "propensity": dict(self.propensity),
            "prediction": {
                "loss": mean_of(lost),
                "secrets": {s: dict(own) for s, own in self.prediction.items()},
            },
            "entropy": _both_sides(self.entropy, "columns"),
            "information": _both_sides(self.information, "secrets"),
        }


def mean_of(values: Any) -> float | None:
    """The mean of some numbers; None if there are none."""
    every = list(values)
    return math.fsum(every) / len(every) if every else None


def _both_sides(pairs: Mapping[str, tuple[float, float]], parts: str) -> dict[str, Any]:
    """The mean difference in bits, and both sides of each part."""
    return {
        "difference": mean_of(abs(a - b) for a, b in pairs.values()),
        parts: {name: {"original": a, "synthetic": b} for name, (a, b) in pairs.items()},
    }


def model_loss(
    names: Sequence[str],
    original: Ints,
    other: Ints,
    numbers: Mapping[str, tuple[Floats, Floats]],
    secrets: Sequence[str],
) -> ModelLoss:
    """The losses of two tables of codes; `numbers` has numeric columns, NaN for what is missing."""
    first, second = most_frequent(original, other, MOST_CATEGORIES)
    pairs = list(itertools.combinations(range(len(names)), 2))
    tables = {
        pair: [ContingencyTable.from_codes(rows[:, pair[0]], rows[:, pair[1]]) for rows in both]
        for both in [(first, second)]
        for pair in pairs
    }
    bits = {
        pair: [table.information - table.chance for table in own] for pair, own in tables.items()
    }
    information = {
        names[at]: (
            math.fsum(own[0] for pair, own in bits.items() if at in pair),
            math.fsum(own[1] for pair, own in bits.items() if at in pair),
        )
        for at in range(len(names))
        if names[at] in secrets and pairs
    }
    prediction = {}
    if pairs:
        prediction = {
            name: predict(first, second, at) for at, name in enumerate(names) if name in secrets
        }
    return ModelLoss(
        association={
            (names[a], names[b]): abs(cramers_v(tables[a, b][0]) - cramers_v(tables[a, b][1]))
            for a, b in pairs
        },
        correlation={
            (a, b): abs(
                _correlation(numbers[a][0], numbers[b][0])
                - _correlation(numbers[a][1], numbers[b][1])
            )
            for a, b in itertools.combinations(numbers, 2)
        },
        propensity=tell_apart(original, other),
        prediction=prediction,
        entropy={
            name: (entropy(original[:, at]), entropy(other[:, at])) for at, name in enumerate(names)
        },
        information=information,
    )


def most_frequent(original: Ints, other: Ints, most: int) -> tuple[Ints, Ints]:
    """Codes by how frequent they are in the original; from the last one on all in one.

    >>> a, b = most_frequent(np.array([[5], [5], [7], [8]]), np.array([[7], [9]]), 2)
    >>> a.ravel().tolist(), b.ravel().tolist()
    ([0, 0, 1, 1], [1, 1])
    """
    both = np.concatenate([original, other])
    codes = np.empty_like(both)
    for at in range(both.shape[1]):
        times = np.bincount(original[:, at], minlength=int(both[:, at].max()) + 1)
        codes[:, at] = np.minimum(ranks(times), most - 1)[both[:, at]]
    return codes[: len(original)], codes[len(original) :]


def cramers_v(table: ContingencyTable) -> float:
    """Cramér's V, from 0 (independent) to 1; 0 where a column has one value only.

    >>> cramers_v(ContingencyTable.from_codes([0, 0, 1, 1], [0, 0, 1, 1]))
    1.0
    """
    x, y = table.codes
    least = min(np.count_nonzero(table.first), np.count_nonzero(table.second)) - 1
    if least < 1:
        return 0.0
    share = table.counts / table.first[x] * (table.counts / table.second[y])
    return math.sqrt(max(0.0, math.fsum(share.tolist()) - 1.0) / least)


def _correlation(first: Floats, second: Floats) -> float:
    """Pearson's r of the records that have both numbers; 0 where one of them does not vary."""
    known = ~(np.isnan(first) | np.isnan(second))
    x = first[known]
    y = second[known]
    if len(x) < 2 or x.min() == x.max() or y.min() == y.max():
        return 0.0
    x, y = (z / float(np.abs(z).max()) for z in (x, y))
    x, y = (z - math.fsum(z.tolist()) / len(z) for z in (x, y))
    spread = math.sqrt(float((x * x).sum()) * float((y * y).sum()))
    return min(1.0, max(-1.0, float((x * y).sum()) / spread)) if spread else 0.0


def entropy(codes: Ints) -> float:
    """Shannon's entropy of a column, in bits.

    >>> entropy(np.array([0, 0, 1, 1]))
    1.0
    """
    counts = np.bincount(codes)
    shares = counts[counts > 0] / len(codes)
    return -math.fsum((shares * np.log2(shares)).tolist()) + 0.0


def tell_apart(original: Ints, other: Ints) -> dict[str, Any]:
    """How well a logistic model of single columns tells records of the two tables apart (pMSE)."""
    most = max(2, min(MOST_CATEGORIES, MOST_TERMS // original.shape[1]))
    parts = [rows[:: -(-len(rows) // MOST_RECORDS)] for rows in (original, other)]
    both = np.concatenate(most_frequent(parts[0], parts[1], most))
    side = np.repeat((0.0, 1.0), [len(part) for part in parts])
    rows, place = np.unique(both, axis=0, return_inverse=True)
    every = np.bincount(place.ravel()).astype(np.float64)
    fake = np.bincount(place.ravel(), side).astype(np.float64)
    chances, rank, _ = fit_propensities(Design([], list(rows.T)), every, fake)
    value, details = summarize_propensities(chances, every, fake, rank)
    kept = ("expected", "ratio", "of_largest", "terms", "records")
    return {"pmse": value, **{name: details[name] for name in kept}}


def predict(original: Ints, other: Ints, target: int) -> dict[str, float]:
    """How often a column of the original is foretold right, by halves of either table.

    Naive Bayes of all other columns; the baseline is the original's most frequent value.
    """
    width = int(max(original[:, target].max(), other[:, target].max())) + 1
    columns = [at for at in range(original.shape[1]) if at != target]
    sizes = [int(max(original[:, at].max(), other[:, at].max())) + 1 for at in columns]
    known = [original[:, at] for at in columns]
    truth = original[:, target]
    halves = [_halves(len(rows)) for rows in (original, other)]
    scored = [np.flatnonzero(halves[0] == half) for half in (0, 1)]
    scored = [some[:: max(1, -(-len(some) // MOST_SCORED))] for some in scored]
    accuracies = []
    for rows, fold in zip((original, other), halves, strict=True):
        codes = [rows[:, at] for at in columns]
        logs, priors = bayes_tables(codes, sizes, rows[:, target], width, fold)
        right = [
            share_right(logs[1 - half], priors[1 - half], known, truth, some)
            for half, some in enumerate(scored)
            if len(some)
        ]
        accuracies.append(math.fsum(right) / len(right))
    return {
        "original": accuracies[0],
        "synthetic": accuracies[1],
        "baseline": int(np.bincount(truth).max()) / len(truth),
        "loss": accuracies[0] - accuracies[1],
    }


def _halves(records: int) -> Ints:
    """0 and 1, as many of each as can be, always in the same order."""
    return np.random.default_rng(records).permutation(np.arange(records) % 2)
