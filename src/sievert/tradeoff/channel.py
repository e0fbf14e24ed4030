"""The result of a search: a channel, what it discloses and distorts, and a bound for all."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from sievert.arrays import Floats
from sievert.errors import UsageError
from sievert.measures.kernel import LN2, total
from sievert.tradeoff.channel_matrices import Cut
from sievert.tradeoff.joint_distribution import Joint, disclosed_information, retained_information


@dataclass(frozen=True)
class Tradeoff:
    """The best release found for a constraint; all information in bits.

    `objective` is what its model minimises (1: the risk, 2: the distortion, 3: the identity,
    4: the loss, "funnel": the risk), `bound` what no release is below. `channel` is p(x'|x),
    one row per value of X. `reached` says whether the gap was reached; of models without a
    certificate it is None, and `spread` is how far apart their restarts ended. `cut` is a line
    below the whole curve, in nats by the share of the distortion worth having.
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
        """By how much some other release might be better."""
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
    """The time at which so many seconds are over; infinite without a limit."""
    return math.inf if seconds is None else time.monotonic() + seconds


def check_constraint(at: float, what: str = "bits") -> None:
    """An error unless a constraint is a finite number of at least 0."""
    if not (math.isfinite(at) and at >= 0):
        hint = f"{what}, such as 0.1"
        raise UsageError("the constraint is not a number of at least 0", hint=hint)


def evaluated(
    joint: Joint, channel: Floats, distortion: Floats | None = None
) -> tuple[float, float, float, float | None]:
    """Risk, loss and identity in bits, and the distortion, of a channel of the values that occur.

    >>> evaluated(Joint.of([[1, 0], [0, 1]]), np.eye(2), 1 - np.eye(2))
    (1.0, 0.0, 1.0, 0.0)
    """
    risk = disclosed_information(joint, channel) / LN2
    far = None if distortion is None else mean_distortion(joint, channel, distortion)
    return risk, max(0.0, joint.information - risk), retained_information(joint, channel) / LN2, far


def mean_distortion(joint: Joint, channel: Floats, distortion: Floats) -> float:
    """The mean distortion of a channel of the values that occur."""
    return total(joint.weights * np.einsum("ij,ij->i", channel, distortion))


def full_channel(joint: Joint, channel: Floats, distortion: Floats | None = None) -> Floats:
    """A channel of all values: one that never occurs is released as the nearest value."""
    if len(joint.rows) == len(joint.table):
        return channel
    full = np.zeros((len(joint.table), channel.shape[1]))
    if distortion is None:
        full[:, 0] = 1.0
    else:
        full[np.arange(len(full)), distortion.argmin(axis=1)] = 1.0
    full[joint.rows] = channel
    return full


def deterministic_channel(places: Any, size: int) -> Floats:
    """The channel that releases one value for each."""
    channel = np.zeros((len(places), size))
    channel[np.arange(len(places)), places] = 1.0
    return channel
