"""The least identity below a loss, and the least loss below an identity (models 3 and 4).

Both walk the information bottleneck of Tishby, Pereira and Bialek: the largest I(T;Y) for an
I(X;T), T the release. The problem is not convex and nobody knows a cheap certificate: answers come
from annealing downwards from T = X, from restarts whose spread is told, some random, some with few
values for each released one (where a secret never goes with a value, steps do not find these), and
for up to three values from a grid (with SciPy). Beside them stand bounds that hold for every
release: I(T;Y) <= min(I(X;T), I(X;Y), c·I(X;T)), c the largest total variation between two rows of
p(y|x) (Dobrushin's coefficient).

A coin that chooses between two releases, each with values of its own, attains what lies on the line
between them: both informations are mixed as the coin says.
"""

import itertools
import math
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from sievert.arrays import Floats, Ints
from sievert.errors import UsageError
from sievert.measures.kernel import LN2
from sievert.tradeoff.channel import TINY, Tradeoff, check_constraint, deadline, full_channel
from sievert.tradeoff.joint_distribution import Joint, disclosed_information, retained_information
from sievert.tradeoff.linear_programmes import GRID_VALUES, grid_channel

UNUSED = 1e-15
ALIKE = 7  # digits that two released values share to be one


@dataclass(frozen=True)
class InformationPoint:
    """A release with I(X;T) and I(T;Y), in nats."""

    rate: float
    information: float
    channel: Floats

    @classmethod
    def from_channel(cls, joint: Joint, channel: Floats) -> Self:
        """The point of a channel; released values that never occur or say the same are merged."""
        released = joint.weights @ channel
        used = released > UNUSED
        kept = channel[:, used]
        _, kinds = np.unique(np.round(kept / released[used], ALIKE), axis=1, return_inverse=True)
        if len(kinds) > kinds.max() + 1:
            kept = np.stack([np.bincount(kinds.ravel(), row) for row in kept])
        kept = kept / kept.sum(axis=1, keepdims=True)
        return cls(retained_information(joint, kept), disclosed_information(joint, kept), kept)


def hull(points: list[InformationPoint], upper: bool) -> list[InformationPoint]:
    """The points on the upper (or lower) convex hull, from the lowest rate to the highest."""
    sign = 1.0 if upper else -1.0
    edge: list[InformationPoint] = []
    for point in sorted(points, key=lambda p: (p.rate, -sign * p.information)):
        if edge and point.rate <= edge[-1].rate:
            continue
        while len(edge) > 1 and sign * _turn(edge[-2], edge[-1], point) >= 0:
            edge.pop()
        edge.append(point)
    if upper:  # a higher rate that tells no more is of no use
        edge = edge[: max(range(len(edge)), key=lambda i: (edge[i].information, -i)) + 1]
    return edge


def _turn(a: InformationPoint, b: InformationPoint, c: InformationPoint) -> float:
    """Whether c lies to the left (above zero) or to the right of the way from a to b."""
    return (b.rate - a.rate) * (c.information - a.information) - (b.information - a.information) * (
        c.rate - a.rate
    )


def bracket(
    edge: list[InformationPoint], rate: float | None, information: float | None
) -> tuple[InformationPoint, InformationPoint]:
    """The two neighbours on an edge between which a rate, or an information, lies."""
    for low, high in itertools.pairwise(edge):
        if (rate is not None and rate <= high.rate) or (
            information is not None and information <= high.information
        ):
            return low, high
    return edge[-1], edge[-1]


def time_share(
    joint: Joint, edge: list[InformationPoint], rate: float | None, information: float | None
) -> InformationPoint:
    """The release between two neighbours on an edge with a rate, or with an information.

    It is the second of the two with a certain probability, otherwise the first.
    """
    low, high = bracket(edge, rate, information)
    if rate is not None:
        span = high.rate - low.rate
        share = rate - low.rate
    else:
        assert information is not None
        span = high.information - low.information
        share = information - low.information
    coin = min(max(share / span if span > 0 else 1.0, 0.0), 1.0)
    if low is high or coin in (0, 1):
        return high if coin == 1 else low
    return InformationPoint.from_channel(
        joint, np.hstack(((1 - coin) * low.channel, coin * high.channel))
    )


HIGHEST = 1000.0
LOWEST = 1.0
SLOPES = 40
RESTARTS = 5
SPARSE_RESTARTS = 12
ROUNDS = 3  # of restarts, as long as they gain
REFINED = 25  # slopes tried between two neighbours
CLOSE = 1e-8  # nats that a finer slope could still gain
STILL = 1e-14  # of a change per step, as a share: at the end, and on the way
ROUGH = 1e-9
HASTY = 200  # steps on the way
WORK = 1e9  # multiplications for one slope
TOGETHER = 1 << 16  # multiplications in a step of several channels side by side


def statistic(joint: Joint) -> Ints:
    """For each value of X that occurs, the number of its kind: values of one kind have the same
    p(y|x), so that their kind tells as much as they do."""
    _, kinds = np.unique(np.round(joint.given, 14), axis=0, return_inverse=True)
    return np.asarray(kinds.ravel(), dtype=np.int64)


def contraction(joint: Joint) -> float:
    """The largest total variation between what two values tell (Dobrushin's coefficient)."""
    given = joint.given
    step = max(1, (1 << 22) // given.size)
    blocks = (given[at : at + step, None, :] for at in range(0, len(given), step))
    return min(1.0, max(0.5 * float(np.abs(b - given).sum(axis=2).max()) for b in blocks))


def stationary_points(
    joint: Joint, beta: float, channels: Floats, most: int, still: float = STILL
) -> Iterator[tuple[InformationPoint, int]]:
    """Where the steps of the bottleneck lead: stationary points of I(X;T) - beta·I(T;Y).

    Several channels of one shape take their steps side by side.
    """
    p = joint.weights
    given = joint.given
    weighted = p[:, None] * given
    ends: list[tuple[Floats, int]] = [(channel, 0) for channel in channels]
    moving = np.arange(len(channels))
    before = np.full(len(channels), math.inf)
    for step in range(1, most + 1):
        released = p @ channels
        together = channels.transpose(0, 2, 1) @ weighted
        rarity = np.log(np.maximum(released, TINY))
        logs = np.log(np.maximum(together, TINY)) - rarity[:, :, None]
        field = given @ logs.transpose(0, 2, 1)
        field *= beta
        field += rarity[:, None, :]
        high = field.max(axis=2, keepdims=True)
        field -= high
        channels = np.exp(field)
        sums = channels.sum(axis=2, keepdims=True)
        channels /= sums
        # up to a constant the Lagrangian at the channels before, the lower the better
        values = -((high + np.log(sums))[:, :, 0] @ p)
        on = before - values > still * (1.0 + np.abs(values))
        if step == most or not on.all():
            for i in range(len(moving)) if step == most else np.flatnonzero(~on):
                ends[moving[i]] = channels[i], step
            channels = channels[on]
            moving = moving[on]
            values = values[on]
            released = released[on]
            if not len(moving):
                break
        before = values
        used = (released > 1e-14).any(axis=0)
        if not used.all() and (sums := channels[:, :, used].sum(axis=2, keepdims=True)).all():
            channels = channels[:, :, used] / sums
    yield from ((InformationPoint.from_channel(joint, channel), step) for channel, step in ends)


def lagrangian(point: InformationPoint, beta: float) -> float:
    """I(X;T) - beta·I(T;Y) in nats."""
    return point.rate - beta * point.information


def sparse_starts(joint: Joint, rng: np.random.Generator) -> Iterator[Floats]:
    """Channels whose released values stand for few values each, those of the joint's zeros first.

    For a set of values: the set against the rest; the set, or any value; and sets drawn at random.
    """
    n = len(joint.weights)
    sets = dict.fromkeys(
        chosen.tobytes()
        for zeros in (joint.given <= 0, ~np.eye(n, dtype=bool))
        for chosen in zeros.T
        if 0 < chosen.sum() < n
    )
    for chosen in (np.frombuffer(each, dtype=bool) for each in sets):
        yield np.stack([chosen, ~chosen], axis=1).astype(np.float64)
        yield np.stack([0.5 * chosen, 1.0 - 0.5 * chosen], axis=1)
    while True:
        start = np.zeros((n, n))
        start[np.arange(n), rng.integers(0, n, n)] = 1.0
        start[np.arange(n), rng.integers(0, n, n)] += rng.random(n)
        yield start


class BottleneckCurve:
    """The curve of the largest I(T;Y) for an I(X;T), as far as annealing finds it."""

    def __init__(
        self, joint: Joint, *, seed: int = 0, seconds: float | None = None, slopes: int = SLOPES
    ) -> None:
        self.whole = joint
        self.kinds = statistic(joint)
        size = int(self.kinds.max()) + 1
        table = np.zeros((size, joint.given.shape[1]))
        np.add.at(table, self.kinds, joint.weights[:, None] * joint.given)
        self.joint = Joint.of(table)
        self.seed = seed
        self.steps = 0
        self.contraction = contraction(self.joint)
        self.until = deadline(seconds)
        self.most = int(min(max(WORK / (size * size * table.shape[1]), 50), 2000))
        self.points = [
            InformationPoint.from_channel(self.joint, np.ones((size, 1))),
            InformationPoint.from_channel(self.joint, np.eye(size)),
        ]
        self._anneal(slopes)

    def _settle(self, beta: float, channel: Floats, *, rough: bool = False) -> InformationPoint:
        most, still = (min(HASTY, self.most), ROUGH) if rough else (self.most, STILL)
        point, steps = next(stationary_points(self.joint, beta, channel[None], most, still))
        self.steps += steps
        return point

    def _anneal(self, slopes: int) -> None:
        """Down from T = X: ever lower slopes, each from where the one before ended."""
        channel = np.eye(len(self.joint.weights))
        for beta in np.geomspace(HIGHEST, LOWEST, slopes).tolist():
            if time.monotonic() >= self.until:
                break
            self.points.append(self._settle(beta, channel, rough=True))
            channel = self.points[-1].channel
            if channel.shape[1] == 1:
                break

    def search(self, rate: float | None, information: float | None) -> float:
        """Refine the curve at a rate, or at an information; returns the spread of the restarts."""
        spread = 0.0
        for round_ in range(ROUNDS):
            low, high = self._refine(rate, information)
            if low is high or high.information <= low.information:
                break
            beta = (high.rate - low.rate) / (high.information - low.information)
            values = [lagrangian(low, beta), *self._restart(beta, 0 if round_ else RESTARTS)]
            if round_ == 0:
                spread = (max(values) - min(values)) / (1.0 if information is not None else beta)
            if values[0] - min(values) <= CLOSE:
                break
        return 0.0 if self._use_grid(rate, information) else spread

    def _refine(
        self, rate: float | None, information: float | None
    ) -> tuple[InformationPoint, InformationPoint]:
        """Ever finer slopes at a target; returns its neighbours on the curve."""
        edge = hull(self.points, upper=True)
        for _ in range(REFINED):
            low, high = bracket(edge, rate, information)
            if low is high or time.monotonic() >= self.until:
                break
            beta = (high.rate - low.rate) / (high.information - low.information)
            point = self._settle(beta, high.channel)
            if lagrangian(low, beta) - lagrangian(point, beta) <= CLOSE:
                break
            self.points.append(point)
            edge = hull(self.points, upper=True)
        return bracket(edge, rate, information)

    def point(self, rate: float | None, information: float | None) -> InformationPoint:
        """The best release known with a rate, or with an information."""
        return time_share(self.joint, hull(self.points, upper=True), rate, information)

    def _restart(self, beta: float, dense: int) -> list[float]:
        """Try other starts, so many of them dense; returns where they end, to be minimised.

        The sparse ones count where they are best: many are meant for other tables.
        """
        values = []
        n = len(self.joint.weights)
        generators = [np.random.default_rng([self.seed, i]) for i in range(RESTARTS + 1)]
        starts = itertools.chain(
            (rng.exponential(size=(n, n)) ** 2 + 1e-6 for rng in generators[:dense]),
            itertools.islice(sparse_starts(self.joint, generators[-1]), SPARSE_RESTARTS),
        )
        several = max(1, TOGETHER // (n * n * self.joint.given.shape[1]))
        while (some := [*itertools.islice(starts, several)]) and time.monotonic() < self.until:
            channels = np.stack([np.pad(s, ((0, 0), (0, n - s.shape[1]))) for s in some])
            channels /= channels.sum(axis=2, keepdims=True)
            for point, steps in stationary_points(self.joint, beta, channels, self.most):
                self.steps += steps
                self.points.append(point)
                values.append(lagrangian(point, beta))
        return [*values[:dense], *sorted(values)[:1]]

    def _use_grid(self, rate: float | None, information: float | None) -> bool:
        """Of few values, the best channel on a grid, and where steps lead from it; False without.

        It is nearly the best there is, wherever other searches ended.
        """
        if len(self.joint.weights) > GRID_VALUES or self.joint.information == 0:
            return False
        try:
            channel, slope = grid_channel(self.joint, rate, information)
        except UsageError:  # without SciPy
            return False
        self.points.append(InformationPoint.from_channel(self.joint, channel))
        if LOWEST < slope < HIGHEST:
            self.points.append(self._settle(slope, channel))
        self._refine(rate, information)
        return True

    def channel(self, point: InformationPoint) -> Floats:
        """A point's channel, for all values that occur."""
        return np.asarray(point.channel[self.kinds])


def target(joint: Joint, model: int, at: float) -> tuple[float | None, float | None]:
    """The rate, or the information, in nats, that a constraint of model 3 or 4 stands for."""
    check_constraint(at)
    return (at * LN2, None) if model == 4 else (None, max(0.0, joint.information - at) * LN2)


def answer(curve: BottleneckCurve, model: int, at: float, spread: float) -> Tradeoff:
    """The best release known for a constraint, in bits, and a bound for any release."""
    joint = curve.whole
    rate, information = target(joint, model, at)
    point = curve.point(rate, information)
    risk = point.information / LN2
    identity = point.rate / LN2
    loss = max(0.0, joint.information - risk)
    if model == 3:
        objective = identity
        bound = (information or 0.0) / LN2 / max(curve.contraction, TINY)
    else:
        objective = loss
        bound = joint.information - at * curve.contraction
    return Tradeoff(
        model=model,
        at=at,
        objective=objective,
        bound=min(max(bound, 0.0), objective),
        risk=risk,
        loss=loss,
        identity=identity,
        distortion=None,
        channel=full_channel(joint, curve.channel(point)),
        iterations=curve.steps,
        reached=None,
        spread=spread / LN2,
    )


def least_identity(
    joint: Any, at: float, *, seed: int = 0, seconds: float | None = None
) -> Tradeoff:
    """Model 3: the least I(X;X') found of the releases X' of X with I(X;Y) - I(X';Y) <= `at` bits.

    >>> found = least_identity([[9, 1], [1, 9]], 0.531004406 - 0.183368747 / LN2)
    >>> round(found.objective * LN2, 6)
    0.3
    """
    return _solve(Joint.of(joint), 3, at, seed, seconds)


def least_loss(joint: Any, at: float, *, seed: int = 0, seconds: float | None = None) -> Tradeoff:
    """Model 4: the least I(X;Y) - I(X';Y) found of the releases X' of X with I(X;X') <= `at` bits.

    >>> found = least_loss([[9, 1], [1, 9]], 0.3 / LN2)
    >>> round(found.risk * LN2, 6)
    0.183369
    """
    return _solve(Joint.of(joint), 4, at, seed, seconds)


def _solve(joint: Joint, model: int, at: float, seed: int, seconds: float | None) -> Tradeoff:
    curve = BottleneckCurve(joint, seed=seed, seconds=seconds)
    return answer(curve, model, at, curve.search(*target(joint, model, at)))
