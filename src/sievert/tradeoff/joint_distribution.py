"""The joint distribution of key and secret, and distortions, for the trade-off."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from sievert.arrays import Floats, Ints
from sievert.errors import InputError, require, unknown
from sievert.hierarchies import Hierarchy
from sievert.measures.kernel import LN2, total
from sievert.numerics.special_functions import divergence


@dataclass(frozen=True)
class Joint:
    """A distribution of X, the key (rows), and Y, the secret (columns).

    `alike` marks Y = X: the key itself is the secret.
    """

    table: Floats
    alike: bool = False

    @classmethod
    def of(cls, table: Any) -> "Joint":
        """Convert a table of counts or probabilities, X by Y.

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
    def identity(cls, weights: Any) -> "Joint":
        """Make X itself the secret, from the weights of its values."""
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
    """I in nats of p(x) and p(y|x); never negative."""
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


def hamming(values: int, released: int | None = None) -> Floats:
    """0 for the value itself, 1 for every other.

    >>> hamming(2).tolist()
    [[0.0, 1.0], [1.0, 0.0]]
    """
    return 1.0 - np.eye(values, values if released is None else released)


def squared(values: Any, released: Any = None) -> Floats:
    """The squared difference of numbers.

    >>> squared([0, 1, 3]).tolist()[0]
    [0.0, 1.0, 9.0]
    """
    return _apart(values, released) ** 2


def absolute(values: Any, released: Any = None) -> Floats:
    """The absolute difference of numbers."""
    return np.abs(_apart(values, released))


def ladder(hierarchy: Hierarchy, values: Sequence[str]) -> Floats:
    """The level of the lowest common label of two values, as a share of the height.

    >>> ladder(Hierarchy.prefixes(["00", "01", "10"]), ["00", "01", "10"]).tolist()[0]
    [0.0, 0.5, 1.0]
    """
    hierarchy = hierarchy.with_root()
    hierarchy.require(values, "X")
    distances = hamming(len(values))
    for level in range(hierarchy.height - 1, 0, -1):
        names: dict[str, int] = {}
        codes = np.array([names.setdefault(hierarchy.at(v, level), len(names)) for v in values])
        distances[codes[:, None] == codes] = level / hierarchy.height
    codes = np.unique(np.array(values, dtype=object), return_inverse=True)[1]
    distances[codes[:, None] == codes] = 0.0
    return distances


NAMED: dict[str, Callable[[Any, Any], Floats]] = {"squared": squared, "absolute": absolute}


def matrix(distortion: Any, rows: int, values: Any = None, released: Any = None) -> Floats:
    """The matrix of a distortion: "hamming", "squared", "absolute", or a matrix.

    The numbers of the values (and of the released values) are their positions unless given.

    >>> matrix("absolute", 2).tolist()
    [[0.0, 1.0], [1.0, 0.0]]
    """
    if isinstance(distortion, str):
        if distortion == "hamming":
            return hamming(rows, None if released is None else len(released))
        if distortion not in NAMED:
            raise unknown("distortion", distortion, ["hamming", *NAMED])
        numbers = np.arange(rows) if values is None else values
        require(len(numbers) == rows, f"{len(numbers)} numbers for {rows} values of X")
        return NAMED[distortion](numbers, released)
    try:
        distances = np.array(distortion, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError("the distortion does not hold numbers alone") from None
    require(
        distances.ndim == 2 and distances.shape[0] == rows and distances.shape[1],
        f"the distortion has shape {distances.shape}",
        hint=f"a matrix of {rows} rows, one a value of X, and a column a released value",
    )
    require(
        np.isfinite(distances).all() and not (distances < 0).any(),
        "the distortion has negative, missing or infinite numbers",
        error=InputError,
    )
    return distances


def _apart(values: Any, released: Any) -> Floats:
    first = np.asarray(values, np.float64)
    second = first if released is None else np.asarray(released, np.float64)
    require(
        first.ndim == 1 and second.ndim == 1 and len(second),
        "the numbers of the values are not one list",
    )
    require(
        np.isfinite(first).all() and np.isfinite(second).all(),
        "the numbers of the values are missing or infinite",
        error=InputError,
    )
    return np.asarray(first[:, None] - second)
