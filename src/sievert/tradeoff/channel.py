"""Channels: the problem of finding the best one, and its result with a bound for all channels.

Matrices are processed in blocks of rows that stay in the cache; their numbers are in nats.
"""

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sievert.arrays import Floats
from sievert.errors import require
from sievert.measures.kernel import LN2, total
from sievert.renamed import renamed
from sievert.tradeoff.joint_distribution import Joint, disclosed_information, retained_information

if not TYPE_CHECKING:  # the name of earlier versions
    __getattr__ = renamed(__name__, {"evaluated": "evaluate_channel"})

FLOOR = -230.0  # the least logarithm: smaller shares of a channel are negligible
TINY = 1e-280
LARGEST = 1e30  # multiplier
BLOCK = 1 << 16  # numbers that are processed at a time
ROUNDING = 1e-15  # relative error of a bound
PRICES = 5  # prices that are tried for a bound


@dataclass(frozen=True)
class Cut:
    """A linear lower bound of the curve: I(X';Y) >= level - price·E d for every channel."""

    level: float
    price: float

    def at(self, distortion: float) -> float:
        """The lower bound of I at a distortion."""
        return self.level - self.price * distortion


class ChannelProblem:
    """An optimisation problem: a joint distribution, a distortion and its limit, further costs.

    If `limit` is None, the distortion is free. `cost` is added to I(X';Y), multiplied by
    p(x)·W(x'|x). `allowed` is 1 if a value may be released for another, else 0.
    """

    def __init__(
        self,
        joint: Joint,
        distortion: Floats,
        limit: float | None = None,
        *,
        cost: Floats | None = None,
        allowed: Floats | None = None,
    ) -> None:
        self.joint = joint
        self.distortion = distortion
        self.limit = limit
        self.cost = cost
        self.p = joint.weights
        self.given = joint.given
        self.allowed = allowed
        self.weighted = self.p[:, None] * self.given
        self.logs = np.log(joint.secret)
        self.never = None if allowed is None else np.where(allowed > 0, 0.0, np.inf)
        self.nearest = float(self.p @ distortion.min(axis=1))
        self.slack = 0.0  # the distance below the limit at which a channel may stay
        self.work = np.empty(distortion.shape)
        self.step = max(1, BLOCK // distortion.shape[1])
        self.each = np.arange(min(self.step, len(self.p)))

    def blocks(self) -> Iterator[slice]:
        """The rows in blocks."""
        return (slice(at, at + self.step) for at in range(0, len(self.p), self.step))

    def together(self, channel: Floats) -> Floats:
        """p(x', y)."""
        if self.joint.alike:
            return np.ascontiguousarray((self.p[:, None] * channel).T)
        return np.asarray(channel.T @ self.weighted)

    def slopes(self, ratios: Floats, out: Floats) -> Floats:
        """The gradient of the objective with respect to the channel."""
        if self.joint.alike:
            out[:] = ratios.T
        else:
            np.matmul(self.given, ratios.T, out=out)
        if self.cost is not None:
            out += self.cost
        return out

    def ratios(self, together: Floats, released: Floats) -> Floats:
        """ln of p(y|x') / p(y)."""
        ratios = np.log(np.maximum(together, TINY))
        ratios -= np.log(np.maximum(released, TINY))[:, None]
        ratios -= self.logs
        return ratios

    def costs(self, channel: Floats) -> float:
        """The further cost of a channel."""
        if self.cost is None:
            return 0.0
        return float(self.p @ np.einsum("ij,ij->i", channel, self.cost))

    def divergence(self, channel: Floats, logs: Floats, earlier: Floats) -> float:
        """The mean KL divergence of a channel from another, from their logarithms."""
        by_value = np.empty(len(self.p))
        for at in self.blocks():
            by_value[at] = np.einsum("ij,ij->i", channel[at], logs[at] - earlier[at])
        return float(self.p @ by_value)

    def tilt(
        self, base: Floats, less: Floats | None, at: float, logs: Floats, channel: Floats
    ) -> tuple[float, float]:
        """Make the channel exp(base - less - at·d), and move `at` until the limit is kept.

        Fill its logarithms and itself; return `at` and the distortion.
        """
        low = 0.0
        high = math.inf
        far = np.empty(len(self.p))
        square = np.empty(len(self.p))
        for _ in range(100):
            for rows in self.blocks():
                far[rows], square[rows] = self._tilt_rows(rows, base, less, at, logs, channel)
            mean = float(self.p @ far)
            if self.limit is None:
                break
            beyond = mean - (self.limit - self.slack)
            if abs(beyond) <= self.slack or (at == 0 and beyond <= 0):
                break
            if beyond > 0:
                low = at
            else:
                high = at
            if high < math.inf and high - low <= 1e-15 * high:
                break
            slope = float(self.p @ (square - far * far))
            ahead = at + beyond / slope if slope > abs(beyond) * 1e-12 else math.inf
            if not low < ahead < high:
                middle = 2.0 * low + 1.0 if math.isinf(high) else 0.5 * (low + high)
                ahead = 0.0 if low == 0 and beyond < 0 else middle
            at = min(ahead, LARGEST)
        return at, mean

    def _tilt_rows(
        self,
        rows: slice,
        base: Floats,
        less: Floats | None,
        at: float,
        logs: Floats,
        channel: Floats,
    ) -> tuple[Floats, Floats]:
        """Fill some rows of `tilt`; return the means of their distortions and of the squares."""
        row_logs = logs[rows]
        shares = channel[rows]
        d = self.distortion[rows]
        np.multiply(d, -at, out=row_logs)
        row_logs += base[rows]
        for costs in (less, self.never):
            if costs is not None:
                row_logs -= costs[rows]
        row_logs -= row_logs.max(axis=1, keepdims=True)
        np.maximum(row_logs, FLOOR, out=row_logs)
        np.exp(row_logs, out=shares)
        if self.allowed is not None:
            shares *= self.allowed[rows]
        some = shares.sum(axis=1, keepdims=True)
        shares /= some
        row_logs -= np.log(some)
        product = shares * d
        return product.sum(axis=1), np.einsum("ij,ij->i", product, d)

    def lower(self, ratios: Floats, price: float) -> tuple[float, Cut]:
        """The best bound of these distributions of Y, over several prices from `price` on."""
        costs = self.slopes(ratios, self.work)
        if self.never is not None:
            costs += self.never
        if self.limit is None:
            level = float(self.p @ costs.min(axis=1))
            level -= ROUNDING * abs(level)
            return level, Cut(level, 0.0)
        best = -math.inf
        line = Cut(0.0, 0.0)
        cheap: Cut | None = None
        dear: Cut | None = None
        for _ in range(PRICES):
            level, far = self._least(costs, price)
            beyond = far - self.limit
            sure = level - ROUNDING * (abs(level) + price * (far + self.limit))
            if sure + price * beyond > best:
                best = sure + price * beyond
                line = Cut(sure + price * far, price)
            if beyond > 0:
                cheap = Cut(level, beyond)
            else:
                dear = Cut(level, beyond)
            if cheap is None:
                ahead = price / 4 if price > 1e-9 else 0.0
            elif dear is None:
                ahead = 2 * price + 1e-3
            else:
                ahead = (cheap.level - dear.level) / (dear.price - cheap.price)
                if cheap.level + ahead * cheap.price <= best + 1e-13:
                    break
            if ahead == price:
                break
            price = ahead
        return best, line

    def _least(self, costs: Floats, price: float) -> tuple[float, float]:
        """The mean cost and the mean distortion of the cheapest release of each value."""
        level = np.empty(len(self.p))
        far = np.empty(len(self.p))
        for rows in self.blocks():
            d = self.distortion[rows]
            sums = d * price
            sums += costs[rows]
            place = (self.each[: len(d)], sums.argmin(axis=1))
            level[rows] = costs[rows][place]
            far[rows] = d[place]
        return float(self.p @ level), float(self.p @ far)


@dataclass(frozen=True, kw_only=True)
class Tradeoff:
    """The best release found for a constraint; all information in bits.

    `objective` is the number that its model minimises (1: the risk, 2: the distortion, 3: the
    identity, 4: the loss, "funnel": the risk), and `bound` is a lower bound of it for all releases.
    `channel` is p(x'|x), one row per value of X. `reached` says whether the gap was reached. For
    models without a certificate it is None, and `spread` is the range of the ends of their
    restarts. `cut` is a line below the whole curve, in nats by the share of the useful distortion.
    """

    model: int | str
    at: float
    objective: float
    bound: float
    risk: float
    loss: float
    identity: float
    distortion: float | None
    channel: Floats
    iterations: int = 0
    reached: bool | None = True
    spread: float | None = None
    cut: Cut | None = None

    @property
    def gap(self) -> float:
        """An upper bound of the gain of any other release."""
        return self.objective - self.bound

    def to_dict(self) -> dict[str, Any]:
        """The values as JSON, without the channel."""
        return {
            "model": self.model,
            "at": self.at,
            "objective": self.objective,
            "bound": self.bound,
            "gap": self.gap,
            "risk": self.risk,
            "loss": self.loss,
            "identity": self.identity,
            "distortion": self.distortion,
            "iterations": self.iterations,
            "reached": self.reached,
            "spread": self.spread,
        }


def deadline(seconds: float | None) -> float:
    """The time after `seconds`; infinite without a limit."""
    return math.inf if seconds is None else time.monotonic() + seconds


def check_constraint(at: float, what: str = "bits") -> None:
    """Raise an error unless a constraint is a finite number of at least 0."""
    require(
        math.isfinite(at) and at >= 0,
        "the constraint is not a number of at least 0",
        hint=f"{what}, such as 0.1",
    )


def evaluate_channel(
    joint: Joint, channel: Floats, distortion: Floats | None = None
) -> tuple[float, float, float, float | None]:
    """Risk, loss and identity in bits, and the distortion, of a channel of the values that occur.

    >>> evaluate_channel(Joint.of([[1, 0], [0, 1]]), np.eye(2), 1 - np.eye(2))
    (1.0, 0.0, 1.0, 0.0)
    """
    risk = disclosed_information(joint, channel) / LN2
    far = None if distortion is None else mean_distortion(joint, channel, distortion)
    return risk, max(0.0, joint.information - risk), retained_information(joint, channel) / LN2, far


def mean_distortion(joint: Joint, channel: Floats, distortion: Floats) -> float:
    """The mean distortion of a channel of the values that occur."""
    return total(joint.weights * np.einsum("ij,ij->i", channel, distortion))


def full_channel(joint: Joint, channel: Floats, distortion: Floats | None = None) -> Floats:
    """Extend a channel to all values: a value that never occurs is released as the nearest one."""
    if len(joint.rows) == len(joint.table):
        return channel
    nothing = np.zeros(len(joint.table), dtype=np.int64)
    nearest = nothing if distortion is None else distortion.argmin(axis=1)
    full = deterministic_channel(nearest, channel.shape[1])
    full[joint.rows] = channel
    return full


def deterministic_channel(places: Any, size: int) -> Floats:
    """The channel that releases one value, at `places`, for each value."""
    channel = np.zeros((len(places), size))
    channel[np.arange(len(places)), places] = 1.0
    return channel
