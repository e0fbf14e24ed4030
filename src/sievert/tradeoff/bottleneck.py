"""The least identity below a loss, and the least loss below an identity (models 3 and 4).

Both follow the information bottleneck of Tishby, Pereira and Bialek: the largest I(T;Y) for an
I(X;T), T the release. The problem is not convex, and no cheap certificate is known. Answers come
from annealing downwards from T = X, and from restarts, whose spread is reported. Some restarts are
random, others have few values for each released one: steps do not find these if a secret never
occurs with a value. For up to three values a grid (with SciPy) is searched as well. Bounds hold for
every release: I(T;Y) <= min(I(X;T), I(X;Y), c·I(X;T)), c the largest total variation between two
rows of p(y|x) (Dobrushin's coefficient).

A coin that chooses between two releases with distinct values attains every point on the line
between them: it mixes both informations.
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
ALIKE = 7  # digits in which two released values agree if they are merged


@dataclass(frozen=True)
class InformationPoint:
    """A release with I(X;T) and I(T;Y), in nats."""

    rate: float
    information: float
    channel: Floats

    @classmethod
    def from_channel(cls, joint: Joint, channel: Floats) -> Self:
        """The point of a channel, without released values that never occur or say the same."""
        released = joint.weights @ channel
        used = released > UNUSED
        kept = channel[:, used]
        _, kinds = np.unique(np.round(kept / released[used], ALIKE), axis=1, return_inverse=True)
        if len(kinds) > kinds.max() + 1:
            kept = np.stack([np.bincount(kinds.ravel(), row) for row in kept])
        kept = kept / kept.sum(axis=1, keepdims=True)
        return cls(retained_information(joint, kept), disclosed_information(joint, kept), kept)


def hull(points: list[InformationPoint], upper: bool) -> list[InformationPoint]:
    """The points on the upper or lower convex hull, from the lowest rate to the highest."""
    sign = 1.0 if upper else -1.0
    edge: list[InformationPoint] = []
    for point in sorted(points, key=lambda p: (p.rate, -sign * p.information)):
        if edge and point.rate <= edge[-1].rate:
            continue
        while len(edge) > 1 and sign * _turn(edge[-2], edge[-1], point) >= 0:
            edge.pop()
        edge.append(point)
    if upper:  # a higher rate without more information is of no use
        last = max(range(len(edge)), key=lambda i: (edge[i].information, -i))
        edge = edge[: last + 1]
    return edge


def _turn(a: InformationPoint, b: InformationPoint, c: InformationPoint) -> float:
    """The direction of c from the line of a to b: positive to the left, negative to the right."""
    left = (b.rate - a.rate) * (c.information - a.information)
    right = (b.information - a.information) * (c.rate - a.rate)
    return left - right


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
    """Mix two neighbours on an edge to a release with a rate, or with an information.

    It is the second of them with a certain probability, otherwise the first.
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
ROUNDS = 3  # rounds of restarts, as long as they gain
REFINED = 25  # slopes tried between two neighbours
CLOSE = 1e-8  # nats that a finer slope could still gain
STILL = 1e-14  # the relative change per step that ends the steps
ROUGH = 1e-9  # the same for steps on the way
HASTY = 200  # steps on the way
WORK = 1e9  # multiplications for one slope
TOGETHER = 1 << 16  # multiplications in a step of several channels side by side


def statistic(joint: Joint) -> Ints:
    """The number of the kind of each value of X that occurs: a kind has one p(y|x).

    So the kind of a value contains all its information about Y.
    """
    _, kinds = np.unique(np.round(joint.given, 14), axis=0, return_inverse=True)
    return np.asarray(kinds.ravel(), dtype=np.int64)


def contraction(joint: Joint) -> float:
    """The largest total variation between p(y|x) of two values (Dobrushin's coefficient)."""
    given = joint.given
    step = max(1, (1 << 22) // given.size)
    blocks = (given[at : at + step, None, :] for at in range(0, len(given), step))
    return min(1.0, max(0.5 * float(np.abs(b - given).sum(axis=2).max()) for b in blocks))


def stationary_points(
    joint: Joint, beta: float, channels: Floats, most: int, still: float = STILL
) -> Iterator[tuple[InformationPoint, int]]:
    """Follow the steps of the bottleneck to stationary points of I(X;T) - beta·I(T;Y).

    Several channels of one shape take their steps together. Yield a point with its steps for each.
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
                ends[moving[i]] = (channels[i], step)
            channels = channels[on]
            moving = moving[on]
            values = values[on]
            released = released[on]
            if not len(moving):
                break
        before = values
        used = (released > 1e-14).any(axis=0)
        if not used.all():
            sums = channels[:, :, used].sum(axis=2, keepdims=True)
            if sums.all():
                channels = channels[:, :, used] / sums
    yield from ((InformationPoint.from_channel(joint, channel), step) for channel, step in ends)


def lagrangian(point: InformationPoint, beta: float) -> float:
    """I(X;T) - beta·I(T;Y) in nats."""
    return point.rate - beta * point.information


def sparse_starts(joint: Joint, rng: np.random.Generator) -> Iterator[Floats]:
    """Yield channels whose released values represent few values each.

    The first are for sets of values from the zeros of the joint distribution: the set against the
    rest; the set, or any value. Random sets follow without end.
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
    """The curve of the largest I(T;Y) for an I(X;T), found by annealing."""

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
        most = min(HASTY, self.most) if rough else self.most
        still = ROUGH if rough else STILL
        point, steps = next(stationary_points(self.joint, beta, channel[None], most, still))
        self.steps += steps
        return point

    def _anneal(self, slopes: int) -> None:
        """Go down from T = X by ever lower slopes, each from the end of the one before."""
        channel = np.eye(len(self.joint.weights))
        for beta in np.geomspace(HIGHEST, LOWEST, slopes).tolist():
            if time.monotonic() >= self.until:
                break
            self.points.append(self._settle(beta, channel, rough=True))
            channel = self.points[-1].channel
            if channel.shape[1] == 1:
                break

    def search(
        self, rate: float | None, information: float | None, grid_values: int = GRID_VALUES
    ) -> float:
        """Refine the curve at a rate, or at an information; return the spread of the restarts.

        A grid is searched for up to `grid_values` values; then the spread is 0.
        """
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
        few = len(self.joint.weights) <= grid_values
        return 0.0 if few and self._use_grid(rate, information) else spread

    def _refine(
        self, rate: float | None, information: float | None
    ) -> tuple[InformationPoint, InformationPoint]:
        """Try ever finer slopes at a target; return its neighbours on the curve."""
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
        """Try other starts, `dense` of them dense; return the Lagrangians at their ends.

        Only the best of the sparse starts counts, because many are meant for other tables.
        """
        values = []
        n = len(self.joint.weights)
        generators = [np.random.default_rng([self.seed, i]) for i in range(RESTARTS + 1)]
        starts = itertools.chain(
            (rng.exponential(size=(n, n)) ** 2 + 1e-6 for rng in generators[:dense]),
            itertools.islice(sparse_starts(self.joint, generators[-1]), SPARSE_RESTARTS),
        )
        several = max(1, TOGETHER // (n * n * self.joint.given.shape[1]))
        while time.monotonic() < self.until:
            some = [*itertools.islice(starts, several)]
            if not some:
                break
            channels = np.stack([np.pad(s, ((0, 0), (0, n - s.shape[1]))) for s in some])
            channels /= channels.sum(axis=2, keepdims=True)
            for point, steps in stationary_points(self.joint, beta, channels, self.most):
                self.steps += steps
                self.points.append(point)
                values.append(lagrangian(point, beta))
        return [*values[:dense], *sorted(values)[:1]]

    def _use_grid(self, rate: float | None, information: float | None) -> bool:
        """Add the best channel on a grid, and the end of steps from it; False if there is none.

        It is nearly the best of all, wherever other searches ended.
        """
        if self.joint.information == 0:
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
    """The rate, or the information, in nats, of a constraint of model 4 or 3."""
    check_constraint(at)
    if model == 4:
        return at * LN2, None
    return None, max(0.0, joint.information - at) * LN2


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
        assert information is not None
        bound = information / LN2 / max(curve.contraction, TINY)
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
    joint: Any,
    at: float,
    *,
    seed: int = 0,
    seconds: float | None = None,
    grid_values: int = GRID_VALUES,
) -> Tradeoff:
    """Model 3: the least I(X;X') found of the releases X' of X with I(X;Y) - I(X';Y) <= `at` bits.

    A grid is searched as well for up to `grid_values` values of X.

    >>> found = least_identity([[9, 1], [1, 9]], 0.531004406 - 0.183368747 / LN2)
    >>> round(found.objective * LN2, 6)
    0.3
    """
    return _solve(Joint.of(joint), 3, at, seed, seconds, grid_values)


def least_loss(
    joint: Any,
    at: float,
    *,
    seed: int = 0,
    seconds: float | None = None,
    grid_values: int = GRID_VALUES,
) -> Tradeoff:
    """Model 4: the least I(X;Y) - I(X';Y) found of the releases X' of X with I(X;X') <= `at` bits.

    A grid is searched as well for up to `grid_values` values of X.

    >>> found = least_loss([[9, 1], [1, 9]], 0.3 / LN2)
    >>> round(found.risk * LN2, 6)
    0.183369
    """
    return _solve(Joint.of(joint), 4, at, seed, seconds, grid_values)


def _solve(
    joint: Joint, model: int, at: float, seed: int, seconds: float | None, grid_values: int
) -> Tradeoff:
    curve = BottleneckCurve(joint, seed=seed, seconds=seconds)
    rate, information = target(joint, model, at)
    return answer(curve, model, at, curve.search(rate, information, grid_values))
