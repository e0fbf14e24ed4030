"""Distortion measures: matrices of true values (rows) by released values (columns)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from sievert.arrays import Floats
from sievert.errors import InputError, require, unknown
from sievert.hierarchies import Hierarchy


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
    """The difference of numbers, whatever its sign."""
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
    """A distortion as its matrix: "hamming", "squared", "absolute", or a matrix of one's own.

    Numbers of the values (and of those released) are their positions unless given.

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
    first, second = (
        np.asarray(v, np.float64) for v in (values, values if released is None else released)
    )
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
