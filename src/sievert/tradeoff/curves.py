"""The curve of a model: the best releases for many constraints, each from the one before."""

import itertools
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sievert.arrays import Floats
from sievert.errors import require
from sievert.measures.kernel import LN2
from sievert.tradeoff.bottleneck import BottleneckCurve, answer, target
from sievert.tradeoff.channel import Tradeoff, deadline
from sievert.tradeoff.joint_distribution import Joint
from sievert.tradeoff.models import GAP, MOST, DistortionTask, least_distortion, least_risk

POINTS = 20
PASSES = 100
FLAT = 1e-13  # relative height above a line that is ignored


@dataclass(frozen=True)
class Curve:
    """Answers of one model for rising constraints; convex for the models 1 to 4."""

    model: int
    points: tuple[Tradeoff, ...]

    @property
    def at(self) -> list[float]:
        """The constraints."""
        return [p.at for p in self.points]

    @property
    def objective(self) -> list[float]:
        """The attained values."""
        return [p.objective for p in self.points]

    @property
    def bound(self) -> list[float]:
        """The lower bounds for any release."""
        return [p.bound for p in self.points]


def curve(
    joint: Any,
    distortion: Any = None,
    *,
    model: int = 1,
    at: Sequence[float] | None = None,
    points: int = POINTS,
    gap: float | None = None,
    most: int = MOST,
    seconds: float | None = None,
    seed: int = 0,
) -> Curve:
    """Solve a model at some constraints: `at`, or `points` evenly spread over the useful range.

    `most` is the number of steps for each point, `seconds` the time for all points.

    >>> found = curve([[9, 1], [1, 9]], "hamming", at=[0.05, 0.1, 0.25], gap=1e-6)
    >>> [round(x * LN2, 5) for x in found.objective]
    [0.28818, 0.22175, 0.08228]
    """
    require(model in (1, 2, 3, 4), "there is no such model", hint="1, 2, 3 or 4")
    require(at is not None or points >= 1, "a curve has at least one point", hint="points=20")
    require(
        model in (3, 4) or distortion is not None,
        f"model {model} needs a distortion",
        hint='"hamming"',
    )
    until = deadline(seconds)
    if model in (3, 4):
        return _bottleneck(Joint.of(joint), model, at, points, until, seed)
    task = DistortionTask.from_table(joint, distortion)
    low = task.nearest if model == 1 else 0.0
    high = task.farthest if model == 1 else task.joint.information
    answers: list[Tradeoff] = []
    last: Tradeoff | None = None
    for place in _constraints(at, low, high, points):
        left = max(0.0, until - time.monotonic())
        if model == 1:
            last = least_risk(
                task,
                None,
                place,
                gap=GAP if gap is None else gap,
                most=most,
                seconds=left,
                start=None if last is None else last.channel[task.joint.rows],
                known=None if last is None else last.cut,
            )
        else:
            last = least_distortion(task, None, place, gap=gap, most=most, seconds=left, start=last)
        answers.append(last)
    return Curve(model, tuple(_convex(task, model, answers, gap)))


def _constraints(at: Sequence[float] | None, low: float, high: float, points: int) -> list[float]:
    """The given constraints, or evenly spaced ones between ends whose answers are known."""
    if at is not None:
        return sorted({float(a) for a in at})
    return [float(x) for x in np.linspace(low, high, points + 2)[1:-1]]


def _bottleneck(
    joint: Joint,
    model: int,
    at: Sequence[float] | None,
    points: int,
    until: float,
    seed: int,
) -> Curve:
    walk = BottleneckCurve(joint, seed=seed, seconds=max(0.0, until - time.monotonic()))
    high = joint.information if model == 3 else walk.joint.entropy
    constraints = _constraints(at, 0.0, high, points)
    spreads = [walk.search(*target(joint, model, place)) for place in constraints]
    pairs = zip(constraints, spreads, strict=True)  # each search adds points for all answers
    return Curve(model, tuple(answer(walk, model, *pair) for pair in pairs))


def _convex(
    task: DistortionTask, model: int, answers: list[Tradeoff], gap: float | None
) -> list[Tradeoff]:
    """Lower points to the line between two others, and raise bounds to the lines of others."""
    points = list(answers)
    _keep_lowest(task, points)
    for _ in range(PASSES):  # a better point may put its neighbours above a line again
        if not _mix_neighbours(task, points):
            break
    _keep_lowest(task, points)
    wanted = gap
    if wanted is None:
        wanted = GAP if model == 1 else GAP * task.span
    for i, point in enumerate(points):
        bound = max(point.bound, *(_line(task, model, p, point.at) for p in answers))
        point = replace(point, bound=min(bound, point.objective))
        points[i] = replace(point, reached=point.gap <= wanted * (1 + 1e-9))
    return points


def _keep_lowest(task: DistortionTask, points: list[Tradeoff]) -> None:
    """Replace points above the one before, whose channel meets their weaker constraint as well."""
    for i in range(1, len(points)):
        if points[i - 1].objective < points[i].objective:
            points[i] = _with(task, points[i], points[i - 1].channel[task.joint.rows])


def _mix_neighbours(task: DistortionTask, points: list[Tradeoff]) -> bool:
    """Replace points above the line between two others by the mixture of the two."""
    edge: list[int] = []
    for i in range(len(points)):
        while len(edge) > 1 and _over(points[edge[-2]], points[edge[-1]], points[i]) > 0:
            edge.pop()
        edge.append(i)
    changed = False
    for before, after in itertools.pairwise(edge):
        low = points[before]
        high = points[after]
        for i in range(before + 1, after):
            if _over(low, points[i], high) > FLAT * low.objective:
                changed = True
            share = (points[i].at - low.at) / (high.at - low.at) if high.at > low.at else 0.0
            channels = [p.channel[task.joint.rows] for p in (low, high)]
            points[i] = _with(task, points[i], channels[0] + share * (channels[1] - channels[0]))
    return changed


def _with(task: DistortionTask, point: Tradeoff, channel: Floats) -> Tradeoff:
    """Replace the channel of an answer."""
    return task.answer(
        int(point.model), point.at, channel, point.bound, 0.0, point.iterations, point.cut
    )


def _over(low: Tradeoff, point: Tradeoff, high: Tradeoff) -> float:
    """The height of a point above the line between two others."""
    share = (point.at - low.at) / (high.at - low.at) if high.at > low.at else 0.0
    return point.objective - (low.objective + share * (high.objective - low.objective))


def _line(task: DistortionTask, model: int, point: Tradeoff, at: float) -> float:
    """The lower bound that the line of one answer gives at the constraint of another."""
    cut = point.cut
    if cut is None or not cut.price > 0:
        return 0.0
    if model == 1:
        return cut.at(task.share(at)) / LN2
    return task.nearest + task.span * (cut.level - at * LN2) / cut.price
