"""Linear programmes: perfect privacy, and a check of the bottleneck and the funnel on a grid.

Perfect privacy is the least distortion of a release without information about the secret: W >= 0
with rows that add up to 1 and sum_x p(x)·(p(y|x) - p(y))·W(x'|x) = 0. Any multipliers u, exact or
not, give a bound:
E d >= sum_x p(x)·min_x' [d(x,x') - sum_y u(x',y)·(p(y|x) - p(y))].

The grid is for two or three values of X. A release is a set of posteriors of X, with weights that
make their mean p(x). Both informations are linear in the weights, so that the best release over a
grid of posteriors is a linear programme. Its solution is attainable, and nearly the best of all.
Both need SciPy.
"""

import itertools
import math
from importlib import import_module
from typing import Any

import numpy as np

from sievert.arrays import Floats
from sievert.errors import UsageError, require
from sievert.measures.kernel import LN2
from sievert.tradeoff.channel import (
    Tradeoff,
    deterministic_channel,
    evaluate_channel,
    full_channel,
    mean_distortion,
)
from sievert.tradeoff.joint_distribution import Joint, matrix

LARGEST = 1_000_000  # numbers of the programme of perfect privacy, for about a minute
GAP = 1e-4  # share of the distortion within which the programme counts as solved
GRID_VALUES = 3
UNUSED = 1e-12  # weight of a posterior that is not released


def perfect(joint: Any, distortion: Any) -> Tradeoff:
    """The least E d(X,X') with I(X';Y) = 0; needs SciPy.

    >>> table = [[8, 1, 1], [2, 6, 2], [1, 2, 7], [4, 4, 2]]
    >>> round(perfect(table, "absolute").distortion, 9)
    0.576086957
    """
    distribution = Joint.of(joint)
    full = matrix(distortion, len(distribution.table))
    reduced = full[distribution.rows]
    n, m = reduced.shape
    if distribution.information == 0:
        channel = deterministic_channel(reduced.argmin(axis=1), m)
        bound = mean_distortion(distribution, channel, reduced)
    else:
        channel, bound = _programme(distribution, reduced)
        constant = int((distribution.weights @ reduced).argmin())
        silent = deterministic_channel(np.full(n, constant), m)
        costs = [mean_distortion(distribution, each, reduced) for each in (channel, silent)]
        if costs[0] > costs[1]:
            channel = silent
    risk, loss, identity, far = evaluate_channel(distribution, channel, reduced)
    assert far is not None
    return Tradeoff(
        model=2,
        at=0.0,
        objective=far,
        bound=min(bound, far),
        risk=risk,
        loss=loss,
        identity=identity,
        distortion=far,
        channel=full_channel(distribution, channel, full),
        reached=far - bound <= GAP * far,
    )


def grid(joint: Any, rate: float, *, least: bool = False, mesh: int = 80) -> float:
    """The largest I(X';Y) in bits with I(X;X') <= `rate` bits; `least`: the least with >=.

    >>> round(grid([[9, 1], [1, 9]], 0.3 / LN2), 3)
    0.265
    """
    _, shares, information, _ = _grid_programme(Joint.of(joint), rate * LN2, least, mesh)
    return max(0.0, math.fsum((shares * information).tolist()) / LN2)


def grid_channel(
    joint: Joint, rate: float | None, information: float | None, *, mesh: int = 40
) -> tuple[Floats, float]:
    """The best channel on a grid with at most a rate, or at least an information, in nats.

    Also return the slope there, dI(X;X')/dI(X';Y), from which a search may leave the grid.
    """
    constraint = information if rate is None else rate
    assert constraint is not None
    posteriors, shares, _, price = _grid_programme(
        joint, constraint, False, mesh, swapped=rate is None
    )
    used = shares > UNUSED
    channel = (posteriors[used] * shares[used, None]).T / joint.weights[:, None]
    slope = price
    if rate is not None:
        slope = 1.0 / price if price else math.inf
    return channel / channel.sum(axis=1, keepdims=True), slope


def _grid_programme(
    distribution: Joint, constraint: float, least: bool, mesh: int, *, swapped: bool = False
) -> tuple[Floats, Floats, Floats, float]:
    """Posteriors of X on a grid, their weights in the best release, their information, the price.

    The release has the most I(X';Y) for an I(X;X'), or the `least`. If `swapped`, it has the least
    I(X;X') for an I(X';Y).
    """
    weights = distribution.weights
    n = len(distribution.weights)
    require(
        n <= GRID_VALUES,
        f"a grid for {n} values is too large",
        hint=f"at most {GRID_VALUES} values",
    )
    cuts = itertools.combinations_with_replacement(range(mesh + 1), n - 1)
    edges = np.array([(0, *cut, mesh) for cut in cuts], dtype=np.float64)
    posteriors = np.vstack((np.diff(edges, axis=1) / mesh, weights))
    information = _divergences(posteriors @ distribution.given, distribution.secret)
    rates = _divergences(posteriors, weights)
    goal = rates if swapped else information
    bound = information if swapped else rates
    sign = 1.0 if least or swapped else -1.0
    solution = _scipy("scipy.optimize", "the grid").linprog(
        sign * goal,
        A_ub=-sign * bound[None],
        b_ub=[-sign * constraint],
        A_eq=posteriors.T,
        b_eq=weights,
        bounds=(0, None),
        method="highs",
    )
    require(
        solution.x is not None,
        "no release keeps so much of X",
        hint=f"at most {distribution.entropy:g} bits",
    )
    return posteriors, solution.x, information, abs(float(solution.ineqlin.marginals[0]))


def _divergences(rows: Floats, mean: Floats) -> Floats:
    """The Kullback-Leibler divergence of each row from a distribution, in nats."""
    ratio = np.where(rows > 0, rows, 1.0) / np.where(rows > 0, mean, 1.0)
    return np.asarray((rows * np.log(ratio)).sum(axis=1))


def _scipy(module: str, purpose: str) -> Any:
    try:
        return import_module(module)
    except ImportError:
        raise UsageError(f"{purpose} needs SciPy", hint="pip install 'sievert[limit]'") from None


def _programme(joint: Joint, distortion: Floats) -> tuple[Floats, float]:
    sparse = _scipy("scipy.sparse", "perfect privacy")
    n, m = distortion.shape
    apart = (joint.given - joint.secret)[:, :-1]  # one column follows from the others
    require(
        n * m * (apart.shape[1] + 1) <= LARGEST,
        f"perfect privacy of {n} values, {m} released values and {joint.given.shape[1]} "
        "secret values is too large a programme",
        hint="fewer values, or a small risk instead of none",
    )
    silent = sparse.kron(sparse.csr_array((joint.weights[:, None] * apart).T), sparse.eye_array(m))
    solution = _scipy("scipy.optimize", "perfect privacy").linprog(
        (joint.weights[:, None] * distortion).ravel(),
        A_eq=sparse.vstack((silent, sparse.kron(sparse.eye_array(n), np.ones((1, m))))).tocsr(),
        b_eq=np.concatenate((np.zeros(silent.shape[0]), np.ones(n))),
        bounds=(0, None),
        method="highs",
    )
    require(
        solution.x is not None,
        "the linear programme was not solved",
        hint="a small risk instead of none",
    )
    channel = np.maximum(solution.x.reshape(n, m), 0.0)
    channel /= channel.sum(axis=1, keepdims=True)
    u = np.asarray(solution.eqlin.marginals[: silent.shape[0]]).reshape(apart.shape[1], m)
    return channel, max(float(joint.weights @ (distortion - apart @ u).min(axis=1)), 0.0)
