"""The certificates of models 1 and 2 hold against another solver of another kind.

Clarabel (an interior-point method for cones) is given the same problem as a programme of its own:
t >= u·ln(u/v) is (-t, u, v) in the exponential cone, with u = p(x',y) and v = p(x')·p(y), both
linear in the channel, so that the sum of all t is I(X';Y) in nats.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from sievert.tradeoff import Joint, least_distortion, least_risk
from sievert.tradeoff.models import DistortionTask

clarabel = pytest.importorskip(
    "clarabel", reason="the second opinion is Clarabel's: pip install sievert[dev]"
)
sparse = pytest.importorskip("scipy.sparse", reason="Clarabel takes sparse matrices of SciPy")

LN2 = math.log(2)
SURE = 1e-7  # nats, or the share of the distortion: what Clarabel's answer may be wrong by
GAP = 1e-6  # bits, or the share of the distortion worth having


def solved(task, model, at):
    """Clarabel's optimum of model 1 (at: a distortion) or 2 (at: nats), and how sure it is."""
    p, given, d = task.joint.weights, task.joint.given, task.distortion
    (n, m), k = d.shape, given.shape[1]
    cells, pairs = n * m, k * m
    each = sparse.eye_array(m)
    together = sparse.kron(sparse.csr_array((p[:, None] * given).T), each)
    apart = sparse.kron(sparse.csr_array(np.outer(task.joint.secret, p)), each)
    empty, own = sparse.csr_array((pairs, pairs)), sparse.eye_array(pairs)
    # b - A·(W, t) = (-t, u, v), one triple a pair
    triples = sparse.vstack(
        (
            sparse.hstack((sparse.csr_array((pairs, cells)), own)),
            sparse.hstack((-together, empty)),
            sparse.hstack((-apart, empty)),
        )
    ).tocsr()[np.arange(3 * pairs).reshape(3, pairs).T.ravel()]
    rows = sparse.kron(sparse.eye_array(n), np.ones((1, m)))
    far = np.concatenate(((p[:, None] * d).ravel(), np.zeros(pairs)))
    told = np.concatenate((np.zeros(cells), np.ones(pairs)))
    least, most = (told, far) if model == 1 else (far, told)
    a = sparse.vstack(
        (
            sparse.hstack((rows, sparse.csr_array((n, pairs)))),
            -sparse.eye_array(cells, cells + pairs),
            sparse.csr_array(most[None]),
            triples,
        )
    )
    b = np.concatenate((np.ones(n), np.zeros(cells), [at], np.zeros(3 * pairs)))
    cones = [clarabel.ZeroConeT(n), clarabel.NonnegativeConeT(cells + 1)]
    cones += [clarabel.ExponentialConeT()] * pairs
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    nothing = sparse.csc_matrix((cells + pairs, cells + pairs))
    solver = clarabel.DefaultSolver(nothing, least, sparse.csc_matrix(a), b, cones, settings)
    found = solver.solve()
    assert str(found.status) in ("Solved", "AlmostSolved")
    slip = max(abs(found.obj_val - found.obj_val_dual), found.r_prim, found.r_dual)
    return found.obj_val, max(SURE, slip)


def drawn(seed):
    """A small task in which distortion buys something, and a share of all worth having."""
    for attempt in range(100):
        task, share = _drawn(seed, np.random.default_rng([seed, attempt]))
        if task.span > 0:
            return task, share
    raise AssertionError("no task was drawn")


def _drawn(seed, rng):
    """Empty cells, rare values, distortions of several kinds, fewer releases."""
    n, k = int(rng.integers(2, 7)), int(rng.integers(2, 6))
    table = rng.gamma(rng.choice([0.3, 1.0]), size=(n, k))
    if seed % 3 == 0:
        table[rng.random((n, k)) < 0.3] = 0.0
    if seed % 5 == 0:
        table[rng.integers(n)] *= 1e-3
    table[0, 0] += 0.1
    m = int(rng.integers(2, n + 1)) if seed % 2 else n  # of every second one fewer releases
    place = np.arange(n)
    distortion = (
        1.0 - np.eye(n),
        np.abs(place[:, None] - place) * 1.0,
        (place[:, None] - place) ** 2 * 10.0,
        rng.random((n, n)),
        rng.integers(0, 4, size=(n, n)) * 1.0,
    )[seed % 5][:, :m]
    joint = Joint.identity(table.sum(axis=1)) if seed % 10 == 7 else table
    return DistortionTask.from_table(joint, distortion), float(rng.uniform(0.03, 0.97))


@pytest.mark.parametrize("seed", range(50))
def test_model_1_brackets_what_clarabel_finds(seed):
    task, share = drawn(seed)
    at = task.nearest + share * task.span
    found = least_risk(task, None, at, gap=GAP)
    optimum, sure = solved(task, 1, at)
    assert sure < 1e-5
    assert found.bound * LN2 <= optimum + sure
    assert optimum <= found.objective * LN2 + sure
    assert found.gap <= 10 * GAP  # so that the bracket says something
    assert found.distortion <= at * (1 + 1e-12)


@pytest.mark.parametrize("seed", range(50, 70))
def test_model_2_brackets_what_clarabel_finds(seed):
    task, share = drawn(seed)
    bits = share * task.joint.information
    found = least_distortion(task, None, bits, gap=GAP * task.span)
    optimum, sure = solved(task, 2, bits * LN2)
    sure *= max(1.0, task.farthest)
    assert found.bound <= optimum + sure
    assert optimum <= found.objective + sure
    assert found.gap <= 10 * GAP * task.span
    assert found.risk <= bits * (1 + 1e-9)


def test_the_cases_are_not_trivial():
    """Most disclose something, some have an empty cell, some fewer releases than values."""
    held = [drawn(seed) for seed in range(50)]
    tasks = [task for task, _ in held]
    told = [
        least_risk(task, None, task.nearest + share * task.span, gap=1e-4).bound
        for task, share in held
    ]
    assert sum(bits > 1e-3 for bits in told) >= 25
    assert sum((task.joint.given == 0).any() for task in tasks) >= 10
    assert sum(task.distortion.shape[1] < len(task.joint.weights) for task in tasks) >= 10
