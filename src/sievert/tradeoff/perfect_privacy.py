"""Perfect privacy: the least distortion of a release that tells nothing about the secret.

A linear programme: W >= 0 with rows that add up to 1 and sum_x p(x)·(p(y|x) - p(y))·W(x'|x) = 0.
The bound is made from its multipliers u, whatever they are worth:
E d >= sum_x p(x)·min_x' [d(x,x') - sum_y u(x',y)·(p(y|x) - p(y))].
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

from sievert.arrays import Floats
from sievert.errors import UsageError
from sievert.tradeoff.channel import (
    Tradeoff,
    deterministic_channel,
    evaluated,
    full_channel,
    mean_distortion,
)
from sievert.tradeoff.distortions import matrix
from sievert.tradeoff.joint_distribution import Joint

LARGEST = 1_000_000  # numbers that the programme may have: about a minute
GAP = 1e-4  # share of the distortion within which it counts as solved


def perfect(joint: Any, distortion: Any) -> Tradeoff:
    """The least E d(X,X') with I(X';Y) = 0; needs SciPy.

    >>> table = [[8, 1, 1], [2, 6, 2], [1, 2, 7], [4, 4, 2]]
    >>> round(perfect(table, "absolute").distortion, 9)
    0.576086957
    """
    distribution = Joint.of(joint)
    full = matrix(distortion, len(distribution.table))
    reduced = full[distribution.rows]
    constant = int((distribution.weights @ reduced).argmin())
    silent = deterministic_channel(np.full(len(reduced), constant), reduced.shape[1])
    if distribution.information == 0:
        silent = deterministic_channel(reduced.argmin(axis=1), reduced.shape[1])
        return _found(distribution, full, silent, mean_distortion(distribution, silent, reduced))
    channel, bound = _programme(distribution, reduced)
    if mean_distortion(distribution, channel, reduced) > mean_distortion(
        distribution, silent, reduced
    ):
        channel = silent
    return _found(distribution, full, channel, bound)


def _found(joint: Joint, full: Floats, channel: Floats, bound: float) -> Tradeoff:
    risk, loss, identity, far = evaluated(joint, channel, full[joint.rows])
    assert far is not None
    numbers = (2, 0.0, far, min(bound, far), risk, loss, identity, far)
    return Tradeoff(*numbers, full_channel(joint, channel, full), reached=far - bound <= GAP * far)


def _programme(joint: Joint, distortion: Floats) -> tuple[Floats, float]:
    try:
        sparse, linprog = import_module("scipy.sparse"), import_module("scipy.optimize").linprog
    except ImportError:
        hint = "pip install 'sievert[limit]'"
        raise UsageError("perfect privacy needs SciPy", hint=hint) from None
    n, m = distortion.shape
    apart = (joint.given - joint.secret)[:, :-1]  # one column follows from the others
    if n * m * (apart.shape[1] + 1) > LARGEST:
        raise UsageError(
            f"perfect privacy of {n} values, {m} released values and {joint.given.shape[1]} "
            "secret values is too large a programme",
            hint="fewer values, or a small risk instead of none",
        )
    weighted = joint.weights[:, None] * apart
    silent = sparse.kron(sparse.csr_array(weighted.T), sparse.eye_array(m))
    rows = sparse.kron(sparse.eye_array(n), np.ones((1, m)))
    right = np.concatenate((np.zeros(silent.shape[0]), np.ones(n)))
    solved = linprog(
        (joint.weights[:, None] * distortion).ravel(),
        A_eq=sparse.vstack((silent, rows)).tocsr(),
        b_eq=right,
        bounds=(0, None),
        method="highs",
    )
    if solved.x is None:
        raise UsageError("the linear programme was not solved", hint="a small risk instead of none")
    channel = np.maximum(solved.x.reshape(n, m), 0.0)
    channel /= channel.sum(axis=1, keepdims=True)
    u = np.asarray(solved.eqlin.marginals[: silent.shape[0]]).reshape(apart.shape[1], m)
    return channel, max(float(joint.weights @ (distortion - apart @ u).min(axis=1)), 0.0)
