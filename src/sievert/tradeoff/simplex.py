"""A check of the bottleneck and the funnel for two or three values of X: all releases on a grid.

A release is a set of posteriors u of X, with weights that make them p(x) on average. Both
informations are linear in the weights, so that over a grid of posteriors the best release is a
linear programme; what it finds can be attained, and is nearly the best there is. Needs SciPy.
"""

from __future__ import annotations

import itertools
import math
from importlib import import_module
from typing import Any

import numpy as np

from sievert.arrays import Floats
from sievert.errors import UsageError
from sievert.measures.kernel import LN2
from sievert.tradeoff.joint_distribution import Joint

LARGEST = 3


def grid(joint: Any, rate: float, *, least: bool = False, mesh: int = 80) -> float:
    """The largest I(X';Y) in bits with I(X;X') <= `rate` bits; `least`: the least with >=.

    >>> round(grid([[9, 1], [1, 9]], 0.3 / LN2), 3)
    0.265
    """
    distribution = Joint.of(joint)
    n = len(distribution.weights)
    if n > LARGEST:
        raise UsageError(f"a grid for {n} values is too large", hint=f"at most {LARGEST} values")
    try:
        linprog = import_module("scipy.optimize").linprog
    except ImportError:
        raise UsageError("the grid needs SciPy", hint="pip install 'sievert[limit]'") from None
    cuts = itertools.combinations_with_replacement(range(mesh + 1), n - 1)
    edges = np.array([(0, *cut, mesh) for cut in cuts], dtype=np.float64)
    posteriors = np.vstack((np.diff(edges, axis=1) / mesh, distribution.weights))
    information = _apart(posteriors @ distribution.given, distribution.secret)
    rates = _apart(posteriors, distribution.weights)
    sign = 1.0 if least else -1.0
    solved = linprog(
        sign * information,
        A_ub=-sign * rates[None],
        b_ub=[-sign * rate * LN2],
        A_eq=posteriors.T,
        b_eq=distribution.weights,
        bounds=(0, None),
        method="highs",
    )
    if solved.x is None:
        raise UsageError(
            "no release keeps so much of X", hint=f"at most {distribution.entropy:g} bits"
        )
    return max(0.0, math.fsum((solved.x * information).tolist()) / LN2)


def _apart(rows: Floats, mean: Floats) -> Floats:
    """KL distance of each row from a distribution, in nats."""
    ratio = np.where(rows > 0, rows, 1.0) / np.where(rows > 0, mean, 1.0)
    return np.asarray((rows * np.log(ratio)).sum(axis=1))
