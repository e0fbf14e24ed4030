"""Moments and quantiles of the numeric columns: how far they moved.

Discrepancies are taken in units of the original's standard deviations.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from sievert.arrays import Floats
from sievert.formatting.remarks import Remark, figure
from sievert.losses.loss import Loss, LossKind, Release, undefined_loss
from sievert.losses.numeric_columns import (
    SINGULAR,
    NumericColumn,
    NumericColumnPair,
    numeric_columns,
)
from sievert.measures.kernel import total
from sievert.numerics.special_functions import central

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
ENOUGH = 100  # records above which a statistic is taken as normally distributed
NEGLIGIBLE = 1e-20  # a variance in standard units that is rounding alone
_DOUBLE = ("covariance", "correlation")
Sides = tuple[Floats, Floats]  # before, after

NO_NUMBERS = Remark("no_numeric_column")
ONE_NUMBER = Remark("one_numeric_column")
CONSTANT = Remark("one_value")
ALL_CONSTANT = Remark("all_constant")
FEW = Remark("few_records", number=figure(ENOUGH))
NO_VARIANCE = Remark("no_variance")
NO_DENSITY = Remark("no_density")
NOTHING_LEFT = Remark("few_numbers_released")
NO_RECORDS = Remark("no_common_numbers")
SINGULAR_ORIGINAL = Remark("singular_correlations")
CONSTANT_AFTER = Remark("constant_after")


def probabilistic_information_loss(release: Release) -> Loss:
    """The chance that a sample like the original has statistics nearer to it than the release."""
    numbers = numeric_columns(release)
    if not numbers.columns:
        return undefined_loss(NO_NUMBERS)
    own = [(c, _single(c)) for c in numbers.columns]
    details: dict[str, Any] = {
        kind: _with_mean({"columns": {c.name: single[kind] for c, single in own}})
        for kind in ("mean", "variance")
    }
    shared = {kind: [_double(p, kind) for p in numbers.pairs] for kind in _DOUBLE}
    details |= {kind: _with_mean({"pairs": pairs}) for kind, pairs in shared.items()}
    quantiles = {c.name: single["quantiles"] for c, single in own}
    details["quantiles"] = _with_mean({"columns": quantiles})
    columns = {
        c.name: _mean([single["mean"], single["variance"], *single["quantiles"]["at"].values()])
        for c, single in own
    }
    statistics = [s for kind in details.values() for s in _statistics(kind)]
    value = _mean(statistics)
    return Loss(
        value=value,
        reason=None if value is not None else statistics[0]["reason"],
        columns=columns,
        details=details,
    )


PROBABILISTIC_INFORMATION_LOSS = LossKind(
    id="probabilistic_information_loss",
    title="Probabilistic information loss",
    unit="1",
    low=0.0,
    high=1.0,
    worse="high",
    formula=(
        "mean over statistics of 2·P(0 <= Z <= |theta' - theta|/sqrt(Var theta)): a probability"
    ),
    source="Mateo-Sanz, Domingo-Ferrer and Sebé 2005",
    reading=(
        "0: every mean, variance, covariance, correlation and quantile is kept; near 1: all lie "
        "further off than sampling would explain."
    ),
    compute=probabilistic_information_loss,
    aliases=("PIL",),
)


def _statistics(kind: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for statistic in [*kind.get("columns", {}).values(), *kind.get("pairs", [])]:
        yield from statistic["at"].values() if "at" in statistic else (statistic,)


def _with_mean(statistics: dict[str, Any]) -> dict[str, Any]:
    return {"value": _mean(list(_statistics(statistics))), **statistics}


def _mean(statistics: Sequence[Mapping[str, Any]]) -> float | None:
    values = [s["value"] for s in statistics if s["value"] is not None]
    return math.fsum(values) / len(values) if values else None


def _statistic(
    before: float | None, after: float | None, z: float | None, reason: str | None
) -> dict[str, Any]:
    """A statistic before and after, and the chance of a smaller discrepancy: erf(z/sqrt(2))."""
    reason = NOTHING_LEFT if reason is None and z is None else reason
    return {
        "value": None if reason is not None or z is None else central(z),
        "relative": abs(after - before) / abs(before) if before and after is not None else None,
        "original": before,
        "released": after,
        **({} if reason is None else {"reason": reason}),
    }


def _single(column: NumericColumn) -> dict[str, Any]:
    """Compare the mean, the variance and the quantiles of a column."""
    old = column.before
    new = column.after
    n = old.records
    s = old.deviation
    left = new.records > 0
    reason = _why_not(n, constant=s == 0)
    mean = new.mean if left else None
    variance = new.deviation**2 if left else None
    square = ((old.values - old.mean) / (s or 1.0)) ** 2 - 1.0
    wobble = total(square * square * old.counts) / n if s > 0 else 0.0
    flat = reason
    if flat is None and wobble <= NEGLIGIBLE:
        flat = NO_VARIANCE
    z_of_mean = None
    if reason is None and left:
        z_of_mean = (new.mean - old.mean) / s * math.sqrt(n)
    z_of_variance = None
    if flat is None and left:
        ratio = new.deviation / s if s > 0 else 0.0
        z_of_variance = (ratio * ratio - 1.0) * math.sqrt(n / wobble)
    at = {}
    for q in QUANTILES:
        x = old.quantile(q)
        y = new.quantile(q) if left else None
        g = 0.0 if reason is not None else old.density(x)
        far = None if y is None or not g else (y - x) * g * math.sqrt(n / (q * (1 - q)))
        missing = reason
        if missing is None and not g:
            missing = NO_DENSITY
        at[f"{q:g}"] = _statistic(x, y, far, missing)
    return {
        "mean": _statistic(old.mean, mean, z_of_mean, reason),
        "variance": _statistic(s * s, variance, z_of_variance, flat),
        "quantiles": {"value": _mean(list(at.values())), "at": at},
    }


def _why_not(records: int, *, constant: bool) -> Remark | None:
    """Why a statistic is not compared: too few records, or one value."""
    if records <= ENOUGH:
        return FEW
    return CONSTANT if constant else None


def _double(pair: NumericColumnPair, kind: str) -> dict[str, Any]:
    """Compare the covariance or the correlation of two columns."""
    n = pair.records
    z = None
    reason = _why_not(n, constant=pair.correlation is None)
    if kind == "covariance":
        before = pair.covariance
        after = pair.released_covariance
        noise = pair.spread
        scale = pair.scale
    else:
        before = pair.correlation or 0.0
        after = pair.released_correlation
        noise = pair.wobble
        scale = 1.0
    if reason is None and noise <= NEGLIGIBLE:
        reason = NO_VARIANCE
    if reason is None and after is not None:
        z = (after - before) / scale * math.sqrt(n / noise)
    shown = before if n and (kind != "correlation" or pair.correlation is not None) else None
    return {"columns": list(pair.columns), **_statistic(shown, after, z, reason)}


def _matrices(release: Release) -> tuple[int, Sides, Sides]:
    """The number of varying numeric columns, their covariances and their correlations.

    A column varies if it has several values in the original. Covariances are in the original's
    standard units. Both are given before and after, NaN where there is none.
    """
    numbers = numeric_columns(release)
    varying = {c.name: c for c in numbers.columns if c.before.deviation > 0}
    place = {name: i for i, name in enumerate(varying)}
    v, w, r, q = (np.full((len(varying), len(varying)), np.nan) for _ in range(4))
    for name, i in place.items():
        v[i, i] = 1.0
        r[i, i] = 1.0
        if varying[name].after.records > 1:
            ratio = varying[name].after.deviation / varying[name].before.deviation
            w[i, i] = ratio * ratio
            q[i, i] = 1.0 if ratio > 0 else np.nan
    for pair in numbers.pairs:
        if not all(name in place for name in pair.columns) or pair.correlation is None:
            continue
        i, j = (place[name] for name in pair.columns)
        unit = math.prod(varying[name].before.deviation for name in pair.columns)
        v[i, j] = pair.covariance / unit
        r[i, j] = pair.correlation
        if pair.released_covariance is not None:
            w[i, j] = pair.released_covariance / unit
        if pair.released_correlation is not None:
            q[i, j] = pair.released_correlation
    for m in (v, w, r, q):
        m.T[np.triu_indices(len(varying), 1)] = m[np.triu_indices(len(varying), 1)]
    return len(varying), (v, w), (r, q)


def covariance_discrepancy(release: Release) -> Loss:
    """Mean |v_ij - v'_ij|/(s_i·s_j) over i <= j."""
    columns, covariances, _ = _matrices(release)
    if not columns:
        return undefined_loss(ALL_CONSTANT if numeric_columns(release).columns else NO_NUMBERS)
    return _discrepancy(*covariances, 0)


COVARIANCE_DISCREPANCY = LossKind(
    id="covariance_discrepancy",
    title="Discrepancy of the covariances",
    unit="1",
    low=0.0,
    high=None,
    worse="high",
    formula="mean over i <= j of |v_ij - v'_ij|/(s_i·s_j): in standard units of the original",
    source="Domingo-Ferrer and Torra 2001 (mean absolute error), scaled as Yancey et al. 2002",
    reading="0: every variance and covariance is kept; 1: off by a product of standard deviations.",
    compute=covariance_discrepancy,
)


def correlation_discrepancy(release: Release) -> Loss:
    """Mean |r_ij - r'_ij| over i < j."""
    columns, _, correlations = _matrices(release)
    return undefined_loss(ONE_NUMBER) if columns < 2 else _discrepancy(*correlations, 1)


CORRELATION_DISCREPANCY = LossKind(
    id="correlation_discrepancy",
    title="Discrepancy of the correlations",
    unit="1",
    low=0.0,
    high=2.0,
    worse="high",
    formula="mean over i < j of |r_ij - r'_ij|: a difference of correlations",
    source="Domingo-Ferrer and Torra 2001 (mean absolute error)",
    reading="0: every correlation is kept; 0.1: they are off by a tenth on average.",
    compute=correlation_discrepancy,
)


def _discrepancy(old: Floats, new: Floats, offset: int) -> Loss:
    """The mean absolute difference of upper triangles; relative to the entries beside it."""
    upper = np.triu_indices(len(old), offset)
    a = old[upper]
    b = new[upper]
    there = ~(np.isnan(a) | np.isnan(b))
    if not there.any():
        return undefined_loss(NOTHING_LEFT)
    a = a[there]
    b = b[there]
    apart = np.abs(a - b)
    some = a != 0
    variation = apart[some] / np.abs(a[some])
    details = {
        "mean_variation": math.fsum(variation.tolist()) / len(variation) if some.any() else None,
        "mean_square_error": math.fsum((apart * apart).tolist()) / len(apart),
        "largest": float(apart.max()),
        "entries": len(apart),
        "undefined": int((~there).sum()),
    }
    return Loss(math.fsum(apart.tolist()) / len(apart), details=details)


def eigenvalue_discrepancy(release: Release) -> Loss:
    """Sum of |e_i - e'_i|/e_i over the eigenvalues of the correlation matrices, largest first."""
    columns, _, correlations = _matrices(release)
    if columns < 2:
        return undefined_loss(ONE_NUMBER)
    for m, reason in zip(correlations, (NO_RECORDS, CONSTANT_AFTER), strict=True):
        if np.isnan(m).any():
            return undefined_loss(reason)
    before, after = (np.linalg.eigvalsh(m)[::-1] for m in correlations)
    if before[-1] <= SINGULAR * before[0]:
        return undefined_loss(SINGULAR_ORIGINAL)
    apart = (np.abs(before - after) / before).tolist()
    return Loss(
        math.fsum(apart),
        details={
            "original": before.tolist(),
            "released": after.tolist(),
            "mean": math.fsum(apart) / len(apart),
        },
    )


EIGENVALUE_DISCREPANCY = LossKind(
    id="eigenvalue_discrepancy",
    title="Discrepancy of the eigenvalues",
    unit="1",
    low=0.0,
    high=None,
    worse="high",
    formula="sum over i of |e_i - e'_i|/e_i, e the eigenvalues of the correlation matrix",
    source="sdcMicro, dUtility with method eigen; Templ and Meindl 2008",
    reading="0: the principal components explain as much as before.",
    compute=eigenvalue_discrepancy,
)


KINDS = (
    PROBABILISTIC_INFORMATION_LOSS,
    COVARIANCE_DISCREPANCY,
    CORRELATION_DISCREPANCY,
    EIGENVALUE_DISCREPANCY,
)
