"""The joint distribution of the key attributes and the secret."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from sievert.arrays import Floats, Ints
from sievert.errors import InputError, require
from sievert.measures.kernel import LN2, total
from sievert.numerics.special_functions import divergence


@dataclass(frozen=True)
class Joint:
    """A distribution of X (rows, what is released) and Y (columns, what is secret).

    `alike` marks Y = X: then what is disclosed is the key itself.
    """

    table: Floats
    alike: bool = False

    @classmethod
    def of(cls, table: Any) -> Joint:
        """A table of counts or probabilities, X by Y.

        >>> Joint.of([[3, 1], [1, 3]]).table.tolist()
        [[0.375, 0.125], [0.125, 0.375]]
        """
        if isinstance(table, Joint):
            return table
        counts = _numbers(table, 2, "the joint table")
        require(
            counts.size and (counts > 0).any(),
            "the joint table is empty",
            hint="counts of X by Y",
            error=InputError,
        )
        counts = counts / counts.max()
        return cls(counts / total(counts.ravel()))

    @classmethod
    def identity(cls, weights: Any) -> Joint:
        """X itself as the secret: the weights of its values."""
        counts = _numbers(weights, 1, "the weights")
        require(
            (counts > 0).any(),
            "the weights are empty",
            hint="counts of the values of X",
            error=InputError,
        )
        counts = counts / counts.max()
        return cls(np.diag(counts / total(counts)), alike=True)

    @cached_property
    def rows(self) -> Ints:
        """The values of X that occur."""
        return np.flatnonzero(self.table.sum(axis=1) > 0)

    @cached_property
    def weights(self) -> Floats:
        """p(x) of the values that occur."""
        sums = self.table[self.rows].sum(axis=1)
        return np.asarray(sums / total(sums))

    @cached_property
    def given(self) -> Floats:
        """p(y|x) of the values that occur."""
        rows = self.table[self.rows]
        rows = rows[:, rows.sum(axis=0) > 0]
        return np.asarray(rows / rows.sum(axis=1, keepdims=True))

    @cached_property
    def secret(self) -> Floats:
        """p(y) of the values that occur."""
        sums = self.weights @ self.given
        return np.asarray(sums / total(sums))

    @cached_property
    def information(self) -> float:
        """I(X;Y) in bits.

        >>> Joint.identity([1, 1]).information
        1.0
        """
        return mutual_information(self.weights, self.given) / LN2

    @cached_property
    def entropy(self) -> float:
        """H(X) in bits."""
        return max(0.0, -total(self.weights * np.log2(self.weights)))


def mutual_information(weights: Floats, given: Floats) -> float:
    """I in nats of a distribution and what follows from each of its values, never negative."""
    second = weights @ given
    places = second > 0
    u = (given[:, places] - second[places]) / second[places]
    return max(0.0, total((np.outer(weights, second[places]) * divergence(u)).ravel()))


def disclosed_information(joint: Joint, channel: Floats) -> float:
    """I(X';Y) in nats of a channel of the values that occur."""
    released = joint.weights @ channel
    used = released > 0
    together = (channel[:, used] * joint.weights[:, None]).T @ joint.given
    return mutual_information(released[used], together / together.sum(axis=1, keepdims=True))


def retained_information(joint: Joint, channel: Floats) -> float:
    """I(X;X') in nats of a channel of the values that occur."""
    return mutual_information(joint.weights, channel)


def _numbers(numbers: Any, dimensions: int, what: str) -> Floats:
    try:
        checked = np.array(numbers, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{what} does not hold numbers alone") from None
    require(
        checked.ndim == dimensions,
        f"{what} has {checked.ndim} dimensions, not {dimensions}",
        error=InputError,
    )
    require(np.isfinite(checked).all(), f"{what} has missing or infinite numbers", error=InputError)
    require(
        not (checked < 0).any(),
        f"{what} has negative numbers",
        hint="counts or probabilities",
        error=InputError,
    )
    return checked
