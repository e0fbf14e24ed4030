"""The least I(X';Y) of a channel below a distortion, between an attained value and a bound.

I(X';Y) is convex in the channel W and 1-smooth relative to sum p(x)·W·ln W, so that mirror descent
finds its minimum; here with momentum (Nesterov's dual averaging with relative distances). Its error
falls with the square of the number of steps as long as every step passes its check. The answer is
the better one of the mean of its channels and the last channel. One multiplier keeps every step
within the limit on the distortion. For any distributions t of Y, one per released value, and
price >= 0

    I(X';Y) + price·E d >= sum_x p(x)·min_x' [price·d(x,x') + sum_y p(y|x)·ln(t_x'(y) / p(y))],

so that every step gives a true bound: with t = p(y|x') of its channel, or with the normalised mean
of the logarithms so far. All numbers here are in nats.
"""

import math
import time
from dataclasses import dataclass

import numpy as np

from sievert.arrays import Floats
from sievert.tradeoff.channel import LARGEST, ChannelProblem, Cut
from sievert.tradeoff.joint_distribution import disclosed_information

SLOWER = 2.0  # factor by which a refused step slows down
FASTER = 1.1  # factor by which an accepted step speeds up
SLOWEST = 64.0
WIDE = 1e-3  # gap below which momentum starts anew
AGAIN = 0.1  # share of the last such gap below which it starts anew again
SLACK = 0.02  # share of the gap that an inexact limit may cost
LEAST = 1e-100  # the least share that can grow again


@dataclass(frozen=True, kw_only=True)
class DescentResult:
    """A channel, its value, the best bound with its line, and the number of steps."""

    channel: Floats
    value: float
    bound: float
    cut: Cut
    iterations: int


@dataclass
class _Point:
    """The marginals and the cost of a channel, without the channel: momentum needs no more."""

    together: Floats
    released: Floats
    cost: float

    def toward(self, other: "_Point", share: float) -> "_Point":
        return _Point(
            self.together + share * (other.together - self.together),
            self.released + share * (other.released - self.released),
            self.cost + share * (other.cost - self.cost),
        )


class _Descent:
    def __init__(self, field: ChannelProblem, start: Floats | None, price: float) -> None:
        self.field = field
        self.price = price
        self.pace = 1.0
        shape = field.distortion.shape
        base = np.zeros(shape) if start is None else np.log(np.maximum(start, LEAST))
        self.channel = np.zeros(shape)
        self.new = np.zeros(shape)
        self.logs = np.zeros(shape)
        self.new_logs = np.zeros(shape)
        self.gained = np.zeros(shape)
        self.new_gained = np.zeros(shape)
        if field.limit is not None:
            field.slack = SLACK * min(field.limit - field.nearest, 1e-3 * field.limit)
        field.tilt(base, None, 0.0, self.logs, self.channel)
        self.base = self.logs.copy()
        self.ahead = self.channel.copy()
        self.front = self._point(self.channel)
        self.best = self.front
        self._anew()
        self.value = math.inf
        self.leads = False

    def _point(self, channel: Floats) -> _Point:
        f = self.field
        return _Point(f.together(channel), f.p @ channel, f.costs(channel))

    def _anew(self) -> None:
        self.means = np.zeros_like(self.best.together)
        self.weight = 0.0
        self.tilt = 0.0

    def restart(self) -> None:
        """Drop the momentum and start again from the mean of all channels."""
        self.front = self.best
        self.ahead[:] = self.channel
        np.maximum(self.channel, LEAST, out=self.logs)
        np.log(self.logs, out=self.logs)
        self.base[:] = self.logs
        self.gained[:] = 0.0
        self._anew()

    def update_bound(self) -> tuple[float, Cut]:
        """The better of the two bounds of this step; also set the better value of its channels."""
        mean, mean_ratios = self._value(self.best)
        last, ratios = self._value(self.front)
        self.value = min(mean, last)
        self.leads = last < mean
        bound = self.field.lower(ratios if self.leads else mean_ratios, self.price)
        if self.weight:
            ratios = self.means / self.weight
            ratios -= np.log(np.exp(ratios) @ self.field.joint.secret)[:, None]
            other = self.field.lower(ratios, self.tilt / self.weight)
            bound = max(bound, other, key=lambda pair: pair[0])
        if bound[1].price:
            self.price = bound[1].price
        return bound

    def _value(self, point: _Point) -> tuple[float, Floats]:
        ratios = self.field.ratios(point.together, point.released)
        return float(np.vdot(point.together, ratios)) + point.cost, ratios

    def keep(self, gap: float) -> None:
        """Tighten the slack of the limit so that it costs little of the remaining gap."""
        f = self.field
        if f.limit is not None:
            f.slack = min(SLACK * gap / max(self.price, 1e-6), 0.01 * (f.limit - f.nearest))
            f.slack = max(f.slack, 1e-14 * f.limit)

    def step(self) -> None:
        """Take one step, shortened until it is as good as the model predicts."""
        f = self.field
        while True:
            a = (1.0 + math.sqrt(1.0 + 4.0 * self.weight * self.pace)) / (2.0 * self.pace)
            share = a / (self.weight + a)
            here = self.best.toward(self.front, share)
            slope = f.ratios(here.together, here.released)
            gained = f.slopes(slope, self.new_gained)
            gained *= a
            gained += self.gained
            tilt = (self.tilt / self.weight if self.weight else self.price) * (self.weight + a)
            tilt = 0.0 if f.limit is None else min(tilt, LARGEST)
            tilt, _ = f.tilt(self.base, gained, tilt, self.new_logs, self.new)
            front = self._point(self.new)
            best = self.best.toward(front, share)
            value = float(np.vdot(best.together, f.ratios(best.together, best.released)))
            model = float(np.vdot(here.together, slope))
            model += float(np.vdot(slope, best.together - here.together))
            model += share / a * f.divergence(self.new, self.new_logs, self.logs)
            if value <= model + 1e-13 * (1.0 + abs(value)) or self.pace > SLOWEST:
                break
            self.pace *= SLOWER
        self.pace /= FASTER
        self.means += a * slope
        self.weight += a
        self.tilt = tilt
        self.front = front
        self.best = best
        self.new_gained = self.gained
        self.gained = gained
        self.logs, self.new_logs = self.new_logs, self.logs
        self.ahead, self.new = self.new, self.ahead
        np.subtract(self.ahead, self.channel, out=self.new)
        self.new *= share
        self.channel += self.new


def descend(
    field: ChannelProblem,
    gap: float,
    most: int,
    *,
    until: float = math.inf,
    start: Floats | None = None,
    known: Cut | None = None,
) -> DescentResult:
    """Descend until the gap is reached, or the steps or the time are used up."""
    floor = 0.0 if field.cost is None else -math.inf
    best = floor
    cut = Cut(floor, 0.0)
    if known is not None and field.limit is not None and known.at(field.limit) > best:
        best = known.at(field.limit)
        cut = known
    run = _Descent(field, start, cut.price if cut.price else 1e-3)
    wide = WIDE
    since = 0
    check = 0
    step = 0
    while True:
        if step >= min(check, most):
            check = step + max(3, min(20, step // 8))
            bound = run.update_bound()
            if bound[0] > best:
                best, cut = bound
            left = run.value - best
            if left <= gap or step >= most or time.monotonic() >= until:
                break
            run.keep(left)
            if since > 10 and left < AGAIN * wide:
                run.restart()
                wide = left
                since = 0
        run.step()
        step += 1
        since += 1
    better = run.ahead if run.leads else run.channel  # the last channel, or the mean of all
    channel = better / better.sum(axis=1, keepdims=True)
    value = disclosed_information(field.joint, channel) + field.costs(channel)
    return DescentResult(
        channel=channel, value=value, bound=min(best, value), cut=cut, iterations=step
    )
