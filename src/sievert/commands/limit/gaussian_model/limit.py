"""The best trade-off of Gaussian vectors: models 1 to 4, their optimum and the channel."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from sievert.arrays import Floats
from sievert.commands.limit.gaussian_model import closed_forms, max_determinant
from sievert.commands.limit.gaussian_model.canonical_pair import (
    Canonical,
    Channel,
    Pair,
    Weights,
    matrix,
)
from sievert.commands.limit.gaussian_model.normality import Normality, normality
from sievert.errors import InputError, require
from sievert.measures.kernel import LN2

DIAGONAL = 1e-14  # relative cost of a product of two directions that counts as 0
NOTHING = 1e-14  # share of a variance that counts as 0
CLOSED = "closed form"
WATER = "water-filling"
BARRIER = "barrier"
BOTTLENECK = "bottleneck"


@dataclass(frozen=True, eq=False, kw_only=True)
class GaussianLimit:
    """The best release; informations in bits, None if they are unbounded.

    No release is below `bound`. `channel` attains `objective`, at most `gap` above it.
    """

    model: int
    at: float
    objective: float | None
    bound: float | None
    gap: float
    risk: float | None  # I(X';Y)
    loss: float | None  # I(X;Y) - I(X';Y)
    distortion: float  # E(X-X')^T·W·(X-X')
    rate: float | None  # I(X;X')
    information: float | None  # I(X;Y)
    private: float  # the least distortion that discloses nothing about Y
    channel: Channel
    method: str
    shares: tuple[float, ...]  # of the error in the variance of the canonical directions
    beta: float | None = None  # of models 3 and 4
    normality: Normality | None = None

    def to_dict(self) -> dict[str, Any]:
        """The values as JSON."""
        return {f.name: getattr(self, f.name) for f in fields(self)} | {
            "shares": list(self.shares),
            "channel": {
                "matrix": self.channel.matrix.tolist(),
                "noise": self.channel.noise.tolist(),
                "mean": self.channel.mean.tolist(),
            },
            "normality": None if self.normality is None else self.normality.to_dict(),
        }


@dataclass(frozen=True, eq=False)
class _ErrorCovariance:
    """The covariance of the error in canonical directions, or its diagonal."""

    error: Floats
    gap: float = 0.0  # of the objective, in nats or as a distortion
    method: str = CLOSED
    beta: float | None = None


def gaussian_limit(
    pair: Pair,
    model: int = 1,
    at: float = 0.0,
    weights: Weights = None,
    *,
    tolerance: float = max_determinant.TOLERANCE,
) -> GaussianLimit:
    """The best release of X when Y is secret, both Gaussian.

    Model 1: least I(X';Y) with a distortion of at most `at`; model 2: least distortion with
    I(X';Y) of at most `at` bits; model 3: least I(X;X') with a loss of at most `at` bits; model 4:
    least loss with I(X;X') of at most `at` bits. The distortion is E(X-X')^T·W·(X-X'): W = I, the
    matrix or its diagonal in `weights`, or S_X^-1 ("mahalanobis").

    >>> found = gaussian_limit(Pair.of([[4.0]], [[1.0]], [[1.6]]), 1, at=1.0)
    >>> round(found.risk, 9), found.distortion
    (0.471708236, 1.0)
    """
    require(model in (1, 2, 3, 4), "there are models 1, 2, 3 and 4")
    require(0 <= at < math.inf, "a limit is a number from 0 on")
    require(tolerance > 0, "a tolerance is above 0")
    canonical, cost = pair.align(weights)
    most = at if model == 1 else at * LN2
    if model in (1, 2):
        solution = _solve_distortion(pair, canonical, cost, weights, model, most, tolerance)
    else:
        solution = _solve_bottleneck(canonical, model, most)
    return _limit(pair, canonical, cost, model, at, solution)


def limit_of_records(
    x: Any,
    y: Any,
    model: int = 1,
    at: float = 0.0,
    weights: Weights = None,
    *,
    names: Sequence[str] | None = None,
    tolerance: float = max_determinant.TOLERANCE,
) -> GaussianLimit:
    """The best release for records (rows) of X and Y, with a check of their normality.

    `names` are the names of X's columns, then of Y's.
    """
    one = matrix(x)
    two = matrix(y)
    limit = gaussian_limit(Pair.of_records(one, two), model, at, weights, tolerance=tolerance)
    checked = normality(np.concatenate((one, two), axis=1), names=names, first=one.shape[1])
    return replace(limit, normality=checked)


def curve(
    pair: Pair, model: int, at: Iterable[float], weights: Weights = None
) -> tuple[GaussianLimit, ...]:
    """The best release for each of many limits; of models 3 and 4 the bottleneck's curve.

    >>> found = curve(Pair.of([[1.0]], [[1.0]], [[0.8]]), 4, [0.0, 0.5 / math.log(2)])
    >>> [round(point.risk * math.log(2), 9) for point in found]
    [0.0, 0.259224939]
    """
    return tuple(gaussian_limit(pair, model, one, weights) for one in at)


def rate_distortion(
    covariance: Any, at: float, weights: Weights = None, mean: Any = None
) -> GaussianLimit:
    """The least I(X;X') of a Gaussian vector with a distortion of at most `at`.

    Reverse water-filling over the eigenvalues of the weighted covariance: the errors of all
    directions are equal, or the whole variance of the direction.

    >>> round(rate_distortion([[4.0, 0.0], [0.0, 1.0]], 1.0).risk, 9)
    2.0
    """
    return gaussian_limit(Pair.of(covariance, covariance, covariance, mean), 1, at, weights)


def _solve_distortion(
    pair: Pair,
    canonical: Canonical,
    cost: Floats,
    weights: Weights,
    model: int,
    at: float,
    tolerance: float,
) -> _ErrorCovariance:
    """Solve model 1 or 2."""
    rho = canonical.rho
    rest = canonical.rest
    own = np.diag(cost)
    correlated = rho > 0
    private = (1 - NOTHING) * math.fsum(own[correlated].tolist())
    if (model == 1 and at >= private) or (model == 2 and at == 0):
        return _ErrorCovariance(correlated.astype(np.float64))
    if (np.abs(cost - np.diag(own)) <= DIAGONAL * np.sqrt(np.outer(own, own))).all():
        if model == 1:
            shares, _ = closed_forms.least_disclosing_shares(rho, rest, own, at)
        else:
            shares, _ = closed_forms.cheapest_shares(rho, rest, own, at)
        return _ErrorCovariance(shares, method=CLOSED if len(rho) == 1 else WATER)
    problem = max_determinant.DeterminantProblem(
        rho=rho, rest=rest, cost=cost, limit=at, cheapest=False
    )
    free = pair.free(weights, canonical)
    if (model == 1 and at == 0) or (model == 2 and at >= -0.5 * problem.unknown(free)):
        return _ErrorCovariance(free)
    if model == 2:
        problem = replace(problem, limit=-2 * at, cheapest=True)
    solution = max_determinant.solve(problem, tolerance)
    return _ErrorCovariance(
        solution.error, solution.gap / 2 if model == 1 else solution.gap, BARRIER
    )


def _solve_bottleneck(canonical: Canonical, model: int, at: float) -> _ErrorCovariance:
    """Solve model 3 or 4."""
    require(
        (canonical.rest != 0).all(),
        "X determines Y, in part or whole: the loss of information is unbounded",
        hint="model 1 or 2",
        error=InputError,
    )
    solve = closed_forms.at_loss if model == 3 else closed_forms.at_rate
    point = solve(canonical.rho, canonical.rest, at)
    return _ErrorCovariance(point.shares, method=BOTTLENECK, beta=point.beta)


def _limit(
    pair: Pair,
    canonical: Canonical,
    cost: Floats,
    model: int,
    at: float,
    solution: _ErrorCovariance,
) -> GaussianLimit:
    """Make the limit of a solution."""
    rho = canonical.rho
    rest = canonical.rest
    error = np.diag(solution.error) if solution.error.ndim == 1 else solution.error
    problem = max_determinant.DeterminantProblem(
        rho=rho, rest=rest, cost=cost, limit=at, cheapest=False
    )
    if solution.error.ndim == 1:
        shares = solution.error
        risk = closed_forms.nats(rho, rest, shares)
    else:
        shares = np.asarray(np.linalg.eigvalsh(error))
        shares[shares < NOTHING] = 0.0
        shares[shares > 1 - NOTHING] = 1.0
        known = -0.5 * problem.unknown(error)
        risk = None if known == math.inf else max(0.0, known)
    whole = closed_forms.nats(rho, rest, np.zeros(len(rho)))
    rate = closed_forms.nats(np.ones(len(rho)), np.zeros(len(rho)), shares)
    loss = None if whole is None else closed_forms.lost(rho, rest, error)
    distortion = max(0.0, problem.spent(error))
    reached = (_bits(risk), distortion, _bits(rate), _bits(loss))[model - 1]
    gap = solution.gap if model == 2 else solution.gap / LN2
    return GaussianLimit(
        model=model,
        at=float(at),
        objective=reached,
        bound=None if reached is None else max(0.0, reached - gap),
        gap=0.0 if reached is None else min(gap, reached),
        risk=_bits(risk),
        loss=_bits(loss),
        distortion=distortion,
        rate=_bits(rate),
        information=_bits(whole),
        private=math.fsum(np.diag(cost)[rho > 0].tolist()),
        channel=pair.channel(error, canonical),
        method=solution.method,
        shares=tuple(shares.tolist()),
        beta=solution.beta,
    )


def _bits(nats: float | None) -> float | None:
    return None if nats is None else nats / LN2
