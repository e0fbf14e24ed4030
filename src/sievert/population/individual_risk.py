"""The individual risk of a weighted sample: E[1/F | f] of every record, its sum, its households.

A record represents w people, f records share its quasi-identifiers, F is the sum of their weights,
and p = f/F. Given f, the number of people F' is negative binomial, and r = E[1/F'] is the
probability that a match with one of them is right (Benedetti and Franconi 1998).
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Self

import numpy as np

from sievert.arrays import Floats, Ints
from sievert.counts.cube import run_starts
from sievert.errors import InputError, require, unknown
from sievert.formatting import plural
from sievert.measures.kernel import total
from sievert.population.estimate import Estimate

METHODS = ("exact", "approx")
# Terms of the series in 1 - p: the rest is less than 1e-18 if p >= 1/2 or f >= FEW.
TERMS = 56
FEW = 20
NODES = 16
PANEL = 2.0


@dataclass(frozen=True)
class Weighted:
    """`records[i]` records have the frequency `frequency[i]`; their weights exceed it by `excess`.

    If p is near 1, the risk depends on F - f. So the difference is computed before rounding, and
    exactly for integers, decimals and fractions.
    """

    frequency: Floats
    excess: Floats
    records: Ints

    @classmethod
    def of_classes(cls, frequency: Any, weight: Any, times: Any) -> Self:
        """Convert a histogram of classes: `times` classes of f records have the weight F."""
        return cls.of_records(frequency, weight, np.asarray(frequency) * np.asarray(times))

    @classmethod
    def of_records(cls, frequency: Any, weight: Any, times: Any = None) -> Self:
        """Convert a histogram of records, for missing values that match anything: no classes.

        Here f may be a fraction. Without `times` every entry is one record.
        """
        f = np.asarray(frequency)
        weight = np.asarray(weight)
        if weight.dtype == object:
            excess = np.array(list(map(_difference, weight.tolist(), f.tolist())))
        else:
            excess = (weight - f).astype(np.float64)
        records = np.ones(len(f), dtype=np.int64) if times is None else np.asarray(times)
        frequency = f.astype(np.float64)
        require(len(f) and records.sum(), "a sample without records has no risk")
        require(
            np.isfinite(excess).all() and (frequency >= 1).all(),
            "a weight is missing or infinite, or a frequency is below 1",
            hint="a weight column without missing values",
            error=InputError,
        )
        below = int(records[excess < 0].sum())
        require(
            not (excess < 0).any(),
            f"{plural(below, 'record')} with weights that add up to less than their number",
            hint="weights of at least 1: how many people a record stands for",
            error=InputError,
        )
        return cls(frequency, excess, records)


def _difference(weight: Any, frequency: Any) -> float:
    """F - f, rounded once; NaN if F is no number."""
    try:
        return float(Fraction(weight) - Fraction(frequency))
    except (ValueError, OverflowError, TypeError):
        return float("nan")


def individual_risk(weighted: Weighted, method: str = "exact") -> Floats:
    """The risk of a record of each entry: r = p^f/f · 2F1(f, f; f+1; 1-p).

    1/F <= r <= 1/f. f = 1: p/(1-p)·ln(1/p). f = 2: p/(1-p) - (p/(1-p))^2·ln(1/p). p = 1: 1/f.
    "approx" takes p/(f - (1-p)) for f >= 3, sdcMicro's default; it is never below the exact r.

    >>> individual_risk(Weighted.of_records([1, 2, 3], [17, 110, 108])).round(8).tolist()
    [0.17707583, 0.01714426, 0.01355297]
    """
    if method not in METHODS:
        raise unknown("method", method, METHODS)
    f = weighted.frequency
    odds = weighted.excess / weighted.frequency
    exact = (f < 3) | (method == "exact")
    p = 1.0 / (1.0 + odds)
    risks = np.asarray(p / ((f - 1.0) + p))
    risks[exact] = _exact(f[exact], odds[exact])
    return risks


def _exact(f: Floats, odds: Floats) -> Floats:
    """r = integral of y^(f-1)/(1 + odds·y) over 0 < y < 1, odds = (1-p)/p; no term is subtracted.

    p >= 1/2 or a large f: the series (p/f)·sum_k k!/(f+1)_k·(1-p)^k, which is the same function
    by Pfaff's transformation. Else upwards from 1 <= f < 2 by r(f+1) = (1/f - r(f))/odds.
    """
    risks = _series(f, odds)
    hard = (odds > 1.0) & (f < FEW)
    risks[hard] = _upwards(f[hard], odds[hard])
    return risks


def _series(f: Floats, odds: Floats) -> Floats:
    rest = odds / (1.0 + odds)
    terms = np.zeros_like(f)
    for k in range(TERMS - 1, -1, -1):
        terms = 1.0 + terms * rest * ((k + 1.0) / (f + (k + 1.0)))
    return np.asarray(1.0 / (f * (1.0 + odds)) * terms)


def _upwards(f: Floats, odds: Floats) -> Floats:
    whole = np.floor(f)
    part = f - whole
    risks = np.log1p(odds) / odds
    broken = part > 0
    if broken.any():
        risks[broken] = _fractional(1.0 + part[broken], odds[broken])
    for step in range(1, FEW):
        more = whole > step
        risks[more] = (1.0 / (step + part[more]) - risks[more]) / odds[more]
    return risks


def _fractional(f: Floats, odds: Floats) -> Floats:
    """r for 1 < f < 2 and odds > 1: a series up to y = 1/odds, and Gauss's quadrature beyond.

    odds^(-f)·[r(f, 1) + integral of exp((f-1)·s)/(1 + exp(-s)) over 0 < s < ln(odds)].
    """
    nodes, weights = np.polynomial.legendre.leggauss(NODES)
    reach = np.log(odds)
    panels = max(1, int(np.ceil(reach.max() / PANEL)))
    width = reach / panels
    risks = _series(f, np.ones_like(f)) * np.exp(-f * reach)
    for panel in range(panels):
        for node, weight in zip(nodes.tolist(), weights.tolist(), strict=True):
            s = width * (panel + (node + 1.0) / 2.0)
            risks += width * weight / 2.0 * np.exp((f - 1.0) * s - f * reach) / (1.0 + np.exp(-s))
    return risks


def expected_reidentifications(weighted: Weighted, method: str = "exact") -> Estimate:
    """The sum of the individual risks over all records, in records.

    >>> weighted = Weighted.of_classes([2, 2, 1, 1, 1, 1], [110, 84.5, 17, 541, 8, 5], [1] * 6)
    >>> round(expected_reidentifications(weighted).value, 2)
    0.97
    """
    risks = individual_risk(weighted, method)
    value = total(risks * weighted.records.astype(np.float64))
    return Estimate(value, method, details={"highest": float(risks.max())})


def global_risk(weighted: Weighted, method: str = "exact") -> Estimate:
    """The mean of the individual risks over all records."""
    expected = expected_reidentifications(weighted, method)
    assert expected.value is not None
    mean = expected.value / sum(int(n) for n in weighted.records)
    return Estimate(mean, method, details=expected.details)


def household_risks(risks: Any, households: Any) -> Floats:
    """The probability for each record that a member of its household is found: 1 - prod (1 - r).

    `households` are whole numbers, the same for the members of one household. The members are
    assumed to be found independently of each other.

    >>> household_risks([0.02, 0.5, 0.03, 0.03], [1, 7, 1, 1]).round(6).tolist()
    [0.077918, 0.5, 0.077918, 0.077918]
    """
    r = np.asarray(risks, dtype=np.float64)
    ids = np.asarray(households)
    require(r.shape == ids.shape and len(r), "one household for each record is needed")
    require(((r >= 0) & (r <= 1)).all(), "a risk is at least 0 and at most 1")
    order = np.lexsort((r, ids))  # so that the order of the records cannot change a digit
    r = r[order]
    ids = ids[order]
    starts = run_starts(ids)
    with np.errstate(divide="ignore"):
        joint = -np.expm1(np.add.reduceat(np.log1p(-r), starts))
    joint = np.maximum(joint, np.maximum.reduceat(r, starts))  # rounding never hides a member
    by_record = np.empty(len(r))
    by_record[order] = np.repeat(joint, np.diff(np.append(starts, len(r))))
    return by_record


def household_risk(risks: Any, households: Any) -> Estimate:
    """The mean over records of the risk of their household; `expected` is the sum over records.

    >>> round(household_risk([0.02, 0.03, 0.03], [1, 1, 1]).value, 3)
    0.078
    """
    by_record = household_risks(risks, households)
    _, first = np.unique(np.asarray(households), return_index=True)
    expected = total(by_record)
    return Estimate(
        expected / len(by_record),
        "household",
        details={
            "expected": expected,
            "households": len(first),
            "expected_households": total(by_record[first]),
            "highest": float(by_record.max()),
        },
    )
