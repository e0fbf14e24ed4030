"""Laws of the trade-off models: bounds hold, curves are convex, no release is better."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st

from sievert.tradeoff import (
    Joint,
    curve,
    funnel,
    least_distortion,
    least_loss,
    least_risk,
    perfect,
)
from sievert.tradeoff.channel import evaluate_channel
from sievert.tradeoff.models import DistortionTask

LN2 = math.log(2)


@st.composite
def tasks(draw, most=5):
    n, k, m = (draw(st.integers(1, most)) for _ in range(3))
    seed = draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    table = rng.integers(0, draw(st.sampled_from([3, 10, 1000])), size=(n, k)).astype(float)
    table[rng.integers(n), rng.integers(k)] += 1
    d = draw(st.sampled_from(["whole", "real", "own"]))
    if d == "own":
        distortion = np.abs(np.arange(n)[:, None] - np.arange(m)).astype(float)
    elif d == "whole":
        distortion = rng.integers(0, 4, size=(n, m)).astype(float)
    else:
        distortion = rng.random((n, m)) * 10.0 ** rng.integers(-3, 4)
    return DistortionTask.from_table(table, distortion), rng


@settings(max_examples=60, deadline=None)
@given(tasks(), st.floats(0, 1.2))
def test_the_bound_is_below_what_is_attained(held, share):
    task, _ = held
    at = task.nearest + share * (task.farthest - task.nearest)
    found = least_risk(task, None, at, gap=1e-4, most=400)
    assert 0 <= found.bound <= found.objective <= task.joint.information + 1e-9
    assert found.distortion <= at * (1 + 1e-9) + 1e-300
    assert np.isfinite(found.channel).all()
    assert (found.channel >= 0).all()
    assert np.allclose(found.channel.sum(axis=1), 1)


@settings(max_examples=40, deadline=None)
@given(tasks())
def test_no_channel_is_below_the_bound(held):
    task, rng = held
    n, m = task.distortion.shape
    channel = rng.dirichlet(np.full(m, rng.choice([0.1, 1.0])), size=n)
    risk, _, _, far = evaluate_channel(task.joint, channel, task.distortion)
    assert least_risk(task, None, max(far, task.nearest), most=100).bound <= risk + 1e-12
    if risk > 1e-3:
        assert least_distortion(task, None, risk, most=200).bound <= far * (1 + 1e-12) + 1e-12


@settings(max_examples=15, deadline=None)
@given(tasks(most=4), st.floats(0.05, 0.95))
def test_models_1_and_2_are_each_others_reverse(held, share):
    task, _ = held
    at = task.nearest + share * (task.farthest - task.nearest)
    one = least_risk(task, None, at, gap=1e-6, most=3000)
    if one.bound < 1e-3:
        return
    other = least_distortion(task, None, one.objective, most=3000)
    assert other.bound <= one.distortion * (1 + 1e-9)
    assert other.risk <= one.objective * (1 + 1e-9)


RISING = (  # after neighbours were mixed, the last points lay above those before
    np.array([[0.25, 0.25], [0.125, 0.25], [0, 0.125]]),
    np.array([[1.0, 3, 1], [1, 3, 0], [0, 0, 2]]),
)


@settings(max_examples=15, deadline=None)
@given(tasks(most=4))
@example((DistortionTask.from_table(*RISING), None))
def test_curves_are_convex(held):
    task, _ = held
    if task.farthest <= task.nearest:
        return
    found = curve(task.joint, task.full, points=6, gap=1e-3, most=300)
    scale = task.joint.information + 1e-12
    for values in (found.objective, found.bound):
        assert (np.diff(values, 2) >= -1e-9 * scale).all()
        assert (np.diff(values) <= 1e-9 * scale).all()
    assert all(p.bound <= p.objective for p in found.points)


@settings(max_examples=20, deadline=None)
@given(tasks(most=4))
def test_perfect_privacy_is_the_end_of_the_curve(held):
    task, _ = held
    found = perfect(task.joint, task.full)
    assert found.risk < 1e-9
    assert found.bound <= found.objective <= task.farthest * (1 + 1e-9)
    assert found.gap <= 1e-6 * (1 + found.objective)
    assert least_risk(task, None, found.objective * (1 + 1e-12), most=50).bound <= 1e-9


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32 - 1), st.floats(0.02, 0.98))
def test_a_grid_of_binary_channels_is_between(seed, share):
    rng = np.random.default_rng(seed)
    task = DistortionTask.from_table(rng.gamma(0.7, size=(2, 3)) + 1e-3, rng.random((2, 2)))
    at = task.nearest + share * (task.farthest - task.nearest)
    steps = np.linspace(0, 1, 201)
    a, b = (x.ravel() for x in np.meshgrid(steps, steps))
    p, y = task.joint.weights, task.joint.given
    d = task.distortion
    far = p[0] * (a * d[0, 0] + (1 - a) * d[0, 1]) + p[1] * (b * d[1, 0] + (1 - b) * d[1, 1])
    told = np.zeros(len(a))
    for one, two in ((a, b), (1 - a, 1 - b)):
        both = (p[0] * one)[:, None] * y[0] + (p[1] * two)[:, None] * y[1]
        size = both.sum(axis=1, keepdims=True)
        with np.errstate(divide="ignore", invalid="ignore"):
            logs = np.where(both > 0, np.log(both / (size * task.joint.secret)), 0.0)
        told += (both * logs).sum(axis=1)
    best = float(told[far <= at].min(initial=math.inf)) / LN2
    found = least_risk(task, None, at, gap=1e-7, most=3000)
    assert found.bound <= best + 1e-12


@settings(max_examples=15, deadline=None)
@given(tasks(most=4), st.floats(0.1, 0.9))
def test_splitting_a_secret_changes_nothing(held, share):
    """Y and a coin beside it are disclosed as Y is."""
    task, _ = held
    at = task.nearest + share * (task.farthest - task.nearest)
    split = Joint.of(np.hstack((task.joint.table * 0.25, task.joint.table * 0.75)))
    one = least_risk(task, None, at, gap=1e-5, most=2000)
    other = least_risk(split, task.full, at, gap=1e-5, most=2000)
    assert one.bound <= other.objective + 1e-12
    assert other.bound <= one.objective + 1e-12


@settings(max_examples=5, deadline=None)
@given(tasks(most=3), st.floats(0.1, 0.9))
def test_the_bottleneck_and_the_funnel_keep_their_bounds(held, share):
    task, rng = held
    joint = task.joint
    at = share * joint.entropy
    found, other = least_loss(joint, at), funnel(joint, at)
    assert found.bound <= found.objective
    assert found.identity <= at + 1e-9
    assert other.bound <= other.objective
    assert other.identity >= at - 1e-9
    assert other.risk <= found.risk + 1e-9
    channel = rng.dirichlet(np.ones(3), size=len(joint.weights))
    risk, _, identity, _ = evaluate_channel(joint, channel)
    if identity <= at:
        assert risk <= found.risk + 1e-4
