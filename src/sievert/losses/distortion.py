"""How far released values are from the original ones, each column on a scale of its own."""

import math
from typing import Any

import numpy as np

from sievert.arrays import Floats
from sievert.formatting.remarks import Remark
from sievert.losses.label_sets import ValueLabelPairs, label_coverage, value_label_pairs
from sievert.losses.loss import Loss, LossKind, PairedColumn, Release, needs_records
from sievert.measures import kernel

NO_SCALE = Remark("no_scale")
NO_NUMBERS = Remark("no_numbers")
TOO_LARGE = Remark("numbers_too_large")
TOO_SMALL = Remark("numbers_too_close")
NO_COLUMN = Remark("no_distortion")


@needs_records
def expected_distortion(release: Release) -> Loss:
    """The mean distance of a released value from the original one, over the quasi-identifiers.

    The distance of two numbers is their squared difference divided by the original's variance. In a
    hierarchy it is the level of the lowest common ancestor divided by the height. Otherwise it is 0
    or 1.
    """
    columns = {c.name: _distortion(c) for c in release.quasi}
    secrets = {c.name: _distortion(c) for c in release.secrets}
    distortions = [c["value"] for c in columns.values() if c["value"] is not None]
    details: dict[str, Any] = {"of_columns": len(distortions)}
    if secrets:
        details["secrets"] = secrets
    if not distortions:
        return Loss(value=None, reason=NO_COLUMN, columns=columns, details=details)
    return Loss(math.fsum(distortions) / len(distortions), columns=columns, details=details)


EXPECTED_DISTORTION = LossKind(
    id="expected_distortion",
    title="Expected distortion",
    unit="1",
    low=0.0,
    high=None,
    worse="high",
    formula=(
        "mean over columns of E d(x, x'): (x - x')²/variance of the original for numbers, level "
        "of the lowest common ancestor / height with a hierarchy, else 0 or 1"
    ),
    source="Domingo-Ferrer and Rebollo-Monedero 2009",
    reading="0: nothing was changed. 1: a column is as far from the original as if its mean, or "
    "nothing, had been released; numbers may be further off than that.",
    compute=expected_distortion,
    aliases=("distortion",),
)


def _distortion(column: PairedColumn) -> dict[str, Any]:
    pairs = value_label_pairs(column)
    if column.numbers is not None:
        return _squared_error(column, pairs)
    records = len(column.original)
    withheld = pairs.withheld
    if column.hierarchy is None:
        changed = records - int(pairs.times[pairs.unchanged].sum())
        value = kernel.ratio(changed, records)
        scale = "hamming"
    else:
        coverage = label_coverage(column)
        assert coverage.hierarchy is not None
        climbed = int(np.dot(coverage.times, coverage.meeting))
        value = kernel.ratio(climbed, records * coverage.hierarchy.height)
        scale = "hierarchy"
    return {"value": value, "scale": scale, "cells": records, "suppressed": withheld}


def _squared_error(column: PairedColumn, pairs: ValueLabelPairs) -> dict[str, Any]:
    """The squared error over cells with a number; a suppressed cell is guessed as the mean."""
    x, y = _numbers(column, pairs)
    there = ~np.isnan(x)
    x = x[there]
    y = y[there]
    times = pairs.times[there].astype(np.float64)
    suppressed = pairs.suppressed[there] | np.isnan(y)
    number = int(times.sum())
    out: dict[str, Any] = {
        "value": None,
        "scale": "squared error",
        "cells": number,
        "suppressed": int(times[suppressed].sum()),
        "squared_error": None,
        "variance": None,
    }
    if not number:
        return {**out, "reason": NO_NUMBERS}
    with np.errstate(over="ignore", invalid="ignore"):
        off, variance = _deviations(x, times)
        error = _sum(times * np.where(suppressed, off, x - y) ** 2) / number
    if not all(map(math.isfinite, (variance, error, error / (variance or 1.0)))):
        return {**out, "reason": TOO_LARGE}
    if variance == 0 and np.any(x != x[0]):
        return {**out, "reason": TOO_SMALL}
    out |= {"squared_error": error, "variance": variance}
    if variance > 0:
        return {**out, "value": error / variance}
    if error == 0:
        return {**out, "value": 0.0}
    return {**out, "reason": NO_SCALE}


def _numbers(column: PairedColumn, pairs: ValueLabelPairs) -> tuple[Floats, Floats]:
    """The numbers of each pair."""
    assert column.numbers is not None
    before, after = column.numbers
    values = np.full(len(column.values), np.nan)
    labels = np.full(len(column.labels) + 1, np.nan)
    values[column.original] = before
    labels[column.released] = after
    return values[pairs.original], labels[pairs.released]


def _deviations(x: Floats, times: Floats) -> tuple[Floats, float]:
    """How far each number is from the mean, and the variance; infinite where it overflows.

    The mean is a rounded number and a rest, lest numbers far from 0 lose their digits.
    """
    if np.all(x == x[0]):
        return np.zeros(len(x)), 0.0 if math.isfinite(x[0]) else math.inf
    number = float(times.sum())
    off = x - _sum(times * x) / number
    off = off - _sum(times * off) / number
    return off, _sum(times * off**2) / number


def _sum(terms: Floats) -> float:
    try:
        return kernel.total(terms) if np.all(np.isfinite(terms)) else math.inf
    except OverflowError:
        return math.inf


KINDS = (EXPECTED_DISTORTION,)
