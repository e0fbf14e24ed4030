"""Prediction: how well the quasi-identifiers foretell a column, before and after.

The model is naive Bayes on categories. Columns of many numbers are cut at the original's deciles.
The records are halved at random; a model learnt on one half is scored on the other, and the other
way round. The halves depend on the values of the records and the seed, not on the order of records.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from sievert.arrays import Bools, Floats, Ints
from sievert.formatting.remarks import Remark
from sievert.hierarchies import ROOT
from sievert.losses.loss import (
    GONE,
    Loss,
    LossKind,
    PairedColumn,
    Release,
    in_order,
    undefined_loss,
)
from sievert.losses.models import cuts, parts

MOST_SCORED = 50_000  # records of a half that are predicted, evenly spread
MOST_SCORES = 1 << 24  # numbers compared for them: fewer records where there are many values
MOST_CELLS = 1 << 23  # values of a predictor times values of the target
MOST_VALUES = 1 << 13
BLOCK = 1 << 18
STREAM = 7
NOTHING_TO_PREDICT = Remark("nothing_to_predict")
ONE_RECORD = Remark("fewer_than_two")
TOO_MANY = Remark("too_many_to_predict")
NOTHING_LEARNT = Remark("nothing_learnt")


@dataclass(frozen=True)
class Predictor:
    """The category of a quasi-identifier for each record; the last is for records not released."""

    before: Ints
    after: Ints
    widths: tuple[int, int]

    @classmethod
    def from_column(cls, column: PairedColumn) -> Self:
        """A quasi-identifier as categories, on each side in its own terms."""
        values = np.arange(len(column.values))
        labels = np.arange(len(column.labels))
        edges = cuts(column)
        if edges is not None:
            values = parts(column.values, edges)
            binned = parts(column.labels, edges)
            star = np.array([t == ROOT for t in column.labels], dtype=bool)
            if bool(((binned != GONE) | star).all()):
                values = np.where(values == GONE, len(edges) + 2, values)
                labels = np.where(binned == GONE, len(edges) + 2, binned)
        values = np.unique(values, return_inverse=True)[1]
        labels = np.unique(labels, return_inverse=True)[1]
        widths = (int(values.max(initial=-1)) + 1, int(labels.max(initial=-1)) + 1)
        after = np.append(labels, widths[1])[column.released]
        return cls(values[column.original], after, widths)


@dataclass(frozen=True)
class PredictionTarget:
    """A column to predict: the true values, and the values that the release shows (GONE: none)."""

    truth: Ints
    released: Ints
    width: int

    @classmethod
    def from_column(cls, column: PairedColumn) -> Self:
        """Read a label as a value: itself, or the value that most often became this label."""
        edges = cuts(column)
        values = np.arange(len(column.values))
        own = {t: i for i, t in enumerate(column.values)}
        labels = np.array([own.get(t, GONE) for t in column.labels], dtype=np.int64)
        if edges is not None:
            values = parts(column.values, edges)
            values[values == GONE] = len(edges) + 1
            labels = np.where(labels == GONE, parts(column.labels, edges), values[labels])
        width = int(values.max()) + 1
        truth = values[column.original]
        star = np.array([t == ROOT for t in column.labels], dtype=bool)
        labels[star] = GONE
        other = (labels == GONE) & ~star
        if other.any():
            labels = _commonest(column.released, truth, labels, other, width)
        codes = np.append(labels, GONE)[column.released]
        return cls(truth, np.where(column.suppressed, GONE, codes), width)


def _commonest(released: Ints, truth: Ints, labels: Ints, other: Bools, width: int) -> Ints:
    some = np.append(other, False)[released]
    pairs, times = np.unique(
        released[some].astype(np.int64) * width + truth[some], return_counts=True
    )
    order = np.lexsort((-pairs, times))
    labels[pairs[order] // width] = pairs[order] % width
    return labels


def bayes_tables(
    codes: Sequence[Ints], widths: Sequence[int], target: Ints, width: int, fold: Ints
) -> tuple[list[list[Floats]], list[Floats]]:
    """For both halves the logarithms of p(x|y), with one table per predictor, and of p(y).

    One is added to every count; a category of records that were not released tells nothing.
    """
    side = fold * (width + 1) + np.where(target == GONE, width, target)
    totals = np.bincount(side, minlength=2 * (width + 1)).reshape(2, -1)[:, :width]
    logs: list[list[Floats]] = [[], []]
    for code, size in zip(codes, widths, strict=True):
        counts = np.bincount(
            code * (2 * (width + 1)) + side, minlength=(size + 1) * 2 * (width + 1)
        ).reshape(size + 1, 2, -1)
        for half in (0, 1):
            table = np.log((counts[:, half, :width] + 1) / (totals[half] + size))
            table[size] = 0.0
            logs[half].append(table)
    return logs, [np.log((t + 1) / (t.sum() + width)) for t in totals]


def share_right(
    logs: Sequence[Floats], prior: Floats, codes: Sequence[Ints], truth: Ints, some: Ints
) -> float:
    """The share of some records whose likeliest value is the true one."""
    right = 0
    step = max(1, BLOCK // len(prior))
    for start in range(0, len(some), step):
        rows = some[start : start + step]
        score = np.tile(prior, (len(rows), 1))
        for table, code in zip(logs, codes, strict=True):
            score += table[code[rows]]
        right += int((score.argmax(axis=1) == truth[rows]).sum())
    return right / len(some)


def _accuracies(
    predictors: Sequence[Predictor], target: PredictionTarget, fold: Ints
) -> dict[str, float | None]:
    """The accuracy learnt from either side, that of the commonest value, and what is lost."""
    most = min(MOST_SCORED, max(1000, MOST_SCORES // target.width))
    halves = [np.flatnonzero(fold == half) for half in (0, 1)]
    scored = [x[np.arange(min(len(x), most)) * len(x) // min(len(x), most)] for x in halves]
    accuracies: list[float | None] = []
    for side, learnt in enumerate((target.truth, target.released)):
        if not (learnt != GONE).any():
            accuracies.append(None)
            continue
        codes = [(p.before, p.after)[side] for p in predictors]
        widths = [p.widths[side] for p in predictors]
        logs, priors = bayes_tables(codes, widths, learnt, target.width, fold)
        shares = [
            share_right(logs[1 - half], priors[1 - half], codes, target.truth, scored[half])
            for half in (0, 1)
        ]
        accuracies.append(math.fsum(shares) / 2)
    counts = np.bincount(target.truth)
    before, after = accuracies
    return {
        "original": before,
        "released": after,
        "baseline": int(counts.max()) / int(counts.sum()),
        "loss": None if before is None or after is None else before - after,
        "scored": sum(map(len, scored)),
    }


def prediction(release: Release) -> Loss:
    """The accuracy of the original's model less that of the release's, over predicted columns."""
    names = release.predicted or tuple(c.name for c in release.secrets)
    release = in_order(release)
    targets = {c.name: c for c in release.columns if c.name in names}
    if not targets:
        return undefined_loss(NOTHING_TO_PREDICT)
    if release.records < 2:
        return undefined_loss(ONE_RECORD)
    rng = np.random.default_rng([release.seed, STREAM])
    fold = np.zeros(release.records, dtype=np.int64)
    fold[rng.permutation(release.records)[: release.records // 2]] = 1
    known = {c.name: Predictor.from_column(c) for c in release.quasi}
    accuracies: dict[str, dict[str, Any]] = {}
    for name, column in targets.items():
        target = PredictionTarget.from_column(column)
        predictors = [p for other, p in known.items() if other != name]
        widest = max((max(p.widths) for p in predictors), default=0) + 1
        few = target.width * widest <= MOST_CELLS and target.width <= MOST_VALUES
        if few:
            accuracies[name] = {**_accuracies(predictors, target, fold)}
        else:
            accuracies[name] = dict.fromkeys(("original", "released", "baseline", "loss", "scored"))
        if accuracies[name]["loss"] is None:
            accuracies[name]["reason"] = NOTHING_LEARNT if few else TOO_MANY
    losses = [f["loss"] for f in accuracies.values() if f["loss"] is not None]
    details = {"seed": release.seed}
    if not losses:
        reason = next(iter(accuracies.values()))["reason"]
        return Loss(value=None, reason=reason, columns=accuracies, details=details)
    return Loss(math.fsum(losses) / len(losses), columns=accuracies, details=details)


PREDICTION = LossKind(
    id="prediction",
    title="Accuracy lost in prediction",
    unit="1",
    low=-1.0,
    high=1.0,
    worse="high",
    formula=(
        "accuracy of naive Bayes learnt on half of the original less that learnt on half of the "
        "release, each the share of the other half's original values foretold right"
    ),
    source="Iyengar 2002 (classification as a use of the data); the model as in Duda and Hart 1973",
    reading=(
        "0: a column is foretold as well from the release; the baseline is the commonest value."
    ),
    compute=prediction,
    aliases=("accuracy",),
)


KINDS = (PREDICTION,)
