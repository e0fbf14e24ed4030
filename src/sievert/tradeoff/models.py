"""The least risk below a distortion, and the least distortion below a risk (models 1 and 2).

Domingo-Ferrer and Rebollo-Monedero 2009. Both are convex: every answer is a release with a lower
bound for all releases. With Y = X they are the rate-distortion function and its inverse.
"""

import math
import time
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np

from sievert.arrays import Floats
from sievert.errors import require
from sievert.measures.kernel import LN2
from sievert.tradeoff.channel import (
    ChannelProblem,
    Cut,
    Tradeoff,
    check_constraint,
    deadline,
    deterministic_channel,
    evaluate_channel,
    full_channel,
    mean_distortion,
)
from sievert.tradeoff.joint_distribution import (
    Joint,
    disclosed_information,
    matrix,
    mutual_information,
)
from sievert.tradeoff.linear_programmes import perfect
from sievert.tradeoff.mirror_descent import DescentResult, descend

GAP = 1e-4  # bits, or the share of the useful range of distortion
MOST = 20_000
BLEND = 0.5  # share of the uniform channel in the start of another search
ROUNDS = 60
HAIR = 1e-12  # share of the useful range of distortion that is negligible


@dataclass(frozen=True)
class DistortionTask:
    """A joint distribution and a distortion, reduced to the values that occur."""

    joint: Joint
    full: Floats
    distortion: Floats

    @classmethod
    def from_table(cls, joint: Any, distortion: Any) -> Self:
        """Make the task from a table, and a distortion as a matrix or by its name; keep a task."""
        if isinstance(joint, cls):
            return joint
        distribution = Joint.of(joint)
        full = matrix(distortion, len(distribution.table))
        return cls(distribution, full, np.ascontiguousarray(full[distribution.rows]))

    @cached_property
    def nearest(self) -> float:
        """The least possible distortion."""
        return mean_distortion(
            self.joint,
            deterministic_channel(self.distortion.argmin(axis=1), self.distortion.shape[1]),
            self.distortion,
        )

    @cached_property
    def constant(self) -> int:
        """The single value that distorts least when it is released for all records."""
        return int((self.joint.weights @ self.distortion).argmin())

    @cached_property
    def excess(self) -> Floats:
        """The distortion of each released value less that of the nearest value."""
        return np.asarray(self.distortion - self.distortion.min(axis=1, keepdims=True))

    @cached_property
    def span(self) -> float:
        """The useful range: the distortion of one value for all, less the least possible one."""
        return mean_distortion(self.joint, self.silent(), self.excess)

    @property
    def farthest(self) -> float:
        """The distortion of one value for all, from which on nothing need be disclosed."""
        return self.nearest + self.span

    @cached_property
    def shares(self) -> Floats:
        """The excess as shares of the span, for the searches."""
        return np.asarray(self.excess / self.span)

    def share(self, distortion: float) -> float:
        """Convert a distortion to a share of the range from the nearest (0) to the farthest (1)."""
        return (distortion - self.nearest) / self.span

    def silent(self) -> Floats:
        """The channel that releases one value for all."""
        return deterministic_channel(
            np.full(len(self.distortion), self.constant), self.distortion.shape[1]
        )

    def closest(self, gap: float, most: int, until: float) -> DescentResult:
        """The channel of least risk among the channels that distort least."""
        least = self.distortion.min(axis=1, keepdims=True)
        allowed = (self.excess <= least * 1e-12).astype(np.float64)
        if (allowed.sum(axis=1) == 1).all() or self.joint.information == 0:
            channel = deterministic_channel(
                self.distortion.argmin(axis=1), self.distortion.shape[1]
            )
            value = disclosed_information(self.joint, channel)
            return DescentResult(
                channel=channel, value=value, bound=value, cut=Cut(0.0, 0.0), iterations=0
            )
        return descend(
            ChannelProblem(self.joint, self.excess, allowed=allowed), gap, most, until=until
        )

    def answer(
        self,
        model: int,
        at: float,
        channel: Floats,
        bound: float,
        gap: float,
        iterations: int = 0,
        cut: Cut | None = None,
    ) -> Tradeoff:
        """Make the answer of a channel."""
        risk, loss, identity, far = evaluate_channel(self.joint, channel, self.distortion)
        objective = risk if model == 1 else far
        assert objective is not None
        bound = min(bound, objective)
        return Tradeoff(
            model=model,
            at=at,
            objective=objective,
            bound=bound,
            risk=risk,
            loss=loss,
            identity=identity,
            distortion=far,
            channel=full_channel(self.joint, channel, self.full),
            iterations=iterations,
            reached=objective - bound <= gap * (1 + 1e-9),
            cut=cut,
        )


def least_risk(
    joint: Any,
    distortion: Any,
    at: float,
    *,
    gap: float = GAP,
    most: int = MOST,
    seconds: float | None = None,
    start: Floats | None = None,
    known: Cut | None = None,
) -> Tradeoff:
    """Model 1: the least I(X';Y) of all releases X' of X with E d(X,X') <= `at`.

    Stop at a `gap` in bits, after `most` steps, or after `seconds`. `start` is a channel to begin
    with, `known` a line known to be below the curve.

    >>> found = least_risk([[9, 1], [1, 9]], "hamming", 0.1, gap=1e-6)
    >>> round(found.objective, 5), round(found.bound, 5)
    (0.31992, 0.31992)
    """
    task = DistortionTask.from_table(joint, distortion)
    _check(at, gap, most, "a distortion")
    until = deadline(seconds)
    nearest = task.nearest
    require(
        at >= nearest * (1 - 1e-12),
        f"no release has a distortion of {at:g}",
        hint=f"a distortion from {nearest:g} on",
    )
    if task.span <= 0 or at >= task.farthest:
        return task.answer(1, at, task.silent(), 0.0, gap)
    if at <= nearest * (1 + 1e-12) or task.joint.information == 0:
        done = task.closest(gap * LN2, most, until)
        return task.answer(1, at, done.channel, done.bound / LN2, gap, done.iterations)
    share = task.share(at)
    field = ChannelProblem(task.joint, task.shares, max(share, HAIR))
    done = descend(field, gap * LN2, most, until=until, start=_blend(start), known=known)
    # A bound for more distortion is a bound for less.
    near = task.closest(gap * LN2, most, until) if share < HAIR else done
    return task.answer(1, at, near.channel, done.bound / LN2, gap, done.iterations, done.cut)


def least_distortion(
    joint: Any,
    distortion: Any,
    at: float,
    *,
    gap: float | None = None,
    most: int = MOST,
    seconds: float | None = None,
    start: Tradeoff | None = None,
) -> Tradeoff:
    """Model 2: the least E d(X,X') of all releases X' of X with I(X';Y) <= `at` bits.

    Stop at a `gap` of the distortion (by default one ten-thousandth of its useful range), after
    `most` steps, or after `seconds`. `at` = 0 is perfect privacy and needs SciPy.

    >>> found = least_distortion([[9, 1], [1, 9]], "hamming", 0.319922954)
    >>> round(found.objective, 3)
    0.1
    """
    task = DistortionTask.from_table(joint, distortion)
    nearest = task.nearest
    span = task.span
    gap = GAP * span if gap is None else gap
    _check(at, gap, most, "bits")
    until = deadline(seconds)
    rate = at * LN2
    if span <= 0:
        return task.answer(2, at, task.silent(), nearest, gap)
    first = task.closest(min(GAP, at / 2) * LN2, most, until)
    if first.value <= rate:
        return task.answer(2, at, first.channel, nearest, gap, first.iterations)
    if at == 0:
        return perfect(task.joint, task.full)
    search = _RateSearch(task, rate, gap / span, first.channel, start)
    search.run(most, until)
    return task.answer(
        2, at, search.mixture(), nearest + span * search.low, gap, search.steps, search.cut
    )


class _RateSearch:
    """Newton's steps along the curve of model 1 to the point with a rate, in nats.

    Distortions are shares of the span.
    """

    def __init__(
        self, task: DistortionTask, rate: float, gap: float, near: Floats, start: Tradeoff | None
    ) -> None:
        self.task = task
        self.rate = rate
        self.gap = gap
        self.steps = 0
        self.within = task.silent()
        self.beyond = near
        self.low = 0.0
        self.cut = Cut(0.0, 0.0)
        self.last = None if start is None else start.channel[task.joint.rows]
        self.cuts = [] if start is None or start.cut is None else [start.cut]

    def far(self, channel: Floats) -> float:
        return mean_distortion(self.task.joint, channel, self.task.shares)

    def run(self, most: int, until: float) -> None:
        price = disclosed_information(self.task.joint, self.beyond)
        target = 1.0 - self.rate / price  # on the chord, which is above the curve
        width = math.inf
        care = 1.0
        for _ in range(ROUNDS):
            done = descend(
                ChannelProblem(self.task.joint, self.task.shares, max(target, HAIR)),
                max(care * min(price * self.gap, self.rate) / 4, 1e-15),
                max(0, most - self.steps),
                until=until,
                start=_blend(self.last),
                known=max(self.cuts, key=lambda c: c.at(target), default=None),
            )
            self.steps += done.iterations
            self.last = done.channel
            self._learn(done)
            high = self.far(self.mixture())
            if high - self.low <= self.gap or self.steps >= most or time.monotonic() >= until:
                return
            if self.cut.price:
                price = self.cut.price
            halved = high - self.low <= width / 2
            if not halved:
                care /= 4
            target = self.low if halved and self.low > 0 else (self.low + high) / 2
            target = min(max(target, 1e-3 * high), high)
            width = high - self.low

    def _learn(self, done: DescentResult) -> None:
        """Use the channel and the lower bound of a descent."""
        if done.value <= self.rate:
            if self.far(done.channel) < self.far(self.within):
                self.within = done.channel
        elif self.far(done.channel) > self.far(self.beyond):
            self.beyond = done.channel
        self.cuts.append(done.cut)
        for cut in self.cuts:
            if cut.price <= 0:
                continue
            distortion = (cut.level - self.rate) / cut.price
            if distortion > self.low:
                self.low = distortion
                self.cut = cut

    def mixture(self) -> Floats:
        """Mix a channel within the rate and one beyond it to a channel that just meets it."""
        joint = self.task.joint
        weighted = joint.weights[:, None] * joint.given
        one, other = (c.T @ weighted for c in (self.within, self.beyond))
        low = 0.0
        high = 1.0
        for _ in range(50):
            middle = 0.5 * (low + high)
            together = one + middle * (other - one)
            sums = together.sum(axis=1)
            used = sums > 0
            rate = mutual_information(sums[used], together[used] / sums[used, None])
            if rate <= self.rate:
                low = middle
            else:
                high = middle
        return np.asarray(self.within + low * (self.beyond - self.within))


def _blend(start: Floats | None) -> Floats | None:
    return None if start is None else (1 - BLEND) * start + BLEND / start.shape[1]


def _check(at: float, gap: float, most: int, what: str) -> None:
    check_constraint(at, what)
    require(gap >= 0 and most >= 0, "the gap and the number of steps cannot be negative")
