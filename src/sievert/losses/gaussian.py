"""What one Gaussian vector tells about another, from their covariances.

A covariance matrix is worked on in exact fractions of the numbers it holds, so that blocks which
are nearly singular cost no digits.
"""

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from sievert.arrays import Floats
from sievert.formatting.remarks import Remark
from sievert.losses.loss import Loss, LossKind, Release, in_order, undefined_loss
from sievert.losses.numeric_columns import (
    NO_RECORDS,
    correlations,
    numeric_columns,
    original_numbers,
)
from sievert.measures.kernel import LN2

EXACT = 20  # columns up to which a matrix is worked on in fractions
# The share of its variance that a column must keep beside others not to be one of them.
DEPENDENT = 1e-12
UNBOUNDED = Remark("unbounded")
NO_SECRET = Remark("no_numeric_secret")

Matrix = Sequence[Sequence[float]] | Floats


def scalar(rho: float) -> float | None:
    """I of two Gaussian variables with this correlation, in bits; None where it is unbounded.

    -1/2 log2(1 - rho^2).

    >>> round(scalar(0.8) * math.log(2), 6)
    0.510826
    """
    if not abs(rho) < 1:
        return None
    log = math.log1p(-rho * rho) if abs(rho) < 0.5 else math.log1p(-rho) + math.log1p(rho)
    return -0.5 * log / LN2


def gaussian_information(
    cov_u: Matrix,
    cov_v: Matrix,
    cov_uv: Matrix,
    dependent: float = DEPENDENT,
    *,
    most_exact: int = EXACT,
) -> float | None:
    """I(U;V) of Gaussian vectors from their covariances, in bits; None where it is unbounded.

    It is -1/2 log2 det(I - P·P^T), computed as a sum over the variables of V: -1/2 log2 of the
    share of the variance that remains once U is known, given the variables before it. A variable
    that others of its own vector determine is left out. Up to `most_exact` columns, the matrix is
    worked on in exact fractions.

    >>> round(gaussian_information([[4.0]], [[1.0]], [[1.6]]), 9)
    0.736965594
    """
    u, v, uv = (np.asarray(m, dtype=np.float64) for m in (cov_u, cov_v, cov_uv))
    joint = np.block([[u, uv], [uv.T, v]])
    exact = len(joint) <= most_exact
    given = _VarianceLeft(joint, exact)
    alone = _VarianceLeft(v, exact)
    for i in range(len(u)):
        if given.share(i) > dependent:
            given.know(i)
    terms = []
    for i in range(len(v)):
        before = alone.share(i)
        after = given.share(len(u) + i)
        if before <= dependent:
            continue
        if after <= dependent * before:
            return None
        terms.append(-0.5 * _log(min(1, after / before)))
        given.know(len(u) + i)
        alone.know(i)
    return max(0.0, math.fsum(terms) / LN2)


def _log(ratio: Any) -> float:
    """ln of a share, with all its digits near 1."""
    return math.log1p(float(ratio - 1)) if 2 * ratio > 1 else math.log(float(ratio))


class _VarianceLeft:
    """The variances that are left when some variables are known, by elimination."""

    def __init__(self, covariance: Floats, exact: bool) -> None:
        kind: Any = Fraction if exact else float
        self.rows: list[list[Any]] = [[kind(float(x)) for x in row] for row in covariance]
        self.whole = [self.rows[i][i] for i in range(len(self.rows))]
        self.open = list(range(len(self.rows)))

    def share(self, i: int) -> Any:
        """The share of a variable's variance that is left; 0 where it had none."""
        return self.rows[i][i] / self.whole[i] if self.whole[i] > 0 else 0

    def know(self, i: int) -> None:
        """Take a variable as known."""
        self.open.remove(i)
        known = self.rows[i]
        for j in self.open:
            row = self.rows[j]
            factor = self.rows[j][i] / known[i]
            if factor:
                for k in self.open:
                    row[k] -= factor * known[k]


def information_between(joint: Floats, u: Sequence[int], v: Sequence[int]) -> float | None:
    """I(U;V) of the variables `u` and `v` of one covariance matrix."""
    return gaussian_information(joint[np.ix_(u, u)], joint[np.ix_(v, v)], joint[np.ix_(u, v)])


def standard(x: Floats) -> Floats:
    """A column in standard units; zeros where it has one value."""
    if x.min() == x.max():
        return np.zeros(len(x))
    apart = x - x.mean()
    apart = np.ldexp(apart, -math.frexp(float(np.abs(apart).max()))[1])  # its square is a number
    return np.asarray(apart / math.sqrt(float((apart * apart).mean())))


def gaussian_loss(release: Release) -> Loss:
    """I(U;V) - I(U';V): U, U' the numeric quasi-identifiers, V the original's numeric secrets."""
    release = in_order(release)
    known = {c.name for c in release.quasi}
    columns = [c for c in numeric_columns(release).columns if c.name in known]
    if not columns:
        return undefined_loss(Remark("no_numeric_quasi"))
    numbers = {c.name: original_numbers(c) for c in release.secrets}
    secrets = {name: x for name, x in numbers.items() if x is not None}
    variables = [c.numbers[side] for side in (0, 1) for c in columns] + list(secrets.values())
    whole = np.logical_and.reduce([~np.isnan(x) for x in variables])
    details: dict[str, Any] = {
        "quasi": [c.name for c in columns],
        "secrets": list(secrets),
        "records": int(whole.sum()),
    }
    if details["records"] < 2:
        return Loss(None, NO_RECORDS, details=details)
    joint = correlations([standard(x if whole.all() else x[whole]) for x in variables])
    d = len(columns)
    u = range(d)
    u2 = range(d, 2 * d)
    v = range(2 * d, len(variables))
    information = {
        name: information_between(joint, *pair)
        for name, pair in {"identity": (u, u2), "original": (u, v), "released": (u2, v)}.items()
        if secrets or name == "identity"
    }
    for name, bits in information.items():
        details[name] = {"value": bits}
        if bits is None:
            details[name]["reason"] = UNBOUNDED
    if not secrets:
        return Loss(None, NO_SECRET, details=details)
    before = information["original"]
    after = information["released"]
    if before is None or after is None:
        return Loss(None, UNBOUNDED, details=details)
    return Loss(before - after, details=details)


GAUSSIAN_INFORMATION = LossKind(
    id="gaussian_information",
    title="Information loss of Gaussian data",
    unit="bits",
    low=None,
    high=None,
    worse="high",
    formula="I(U;V) - I(U';V), I(U;V) = -1/2 log2 det(I - P·P^T), P = S_U^(-1/2)·S_UV·S_V^(-1/2)",
    source="Domingo-Ferrer and Rebollo-Monedero 2009, section 5.5",
    reading="What the released quasi-identifiers tell less about the secrets, were all Gaussian.",
    compute=gaussian_loss,
)


KINDS = (GAUSSIAN_INFORMATION,)
