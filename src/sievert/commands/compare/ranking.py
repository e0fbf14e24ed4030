"""Several releases held against each other: which are dominated, which losses rank them alike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np


def dominated(points: Mapping[str, Sequence[float]]) -> dict[str, list[str]]:
    """Of each name those that are nowhere worse and somewhere better; less is better.

    >>> dominated({"a": (1, 2), "b": (1, 3), "c": (0, 4)})
    {'a': [], 'b': ['a'], 'c': []}
    """
    return {
        name: [
            other
            for other, theirs in points.items()
            if other != name
            and all(t <= m for t, m in zip(theirs, mine, strict=True))
            and any(t < m for t, m in zip(theirs, mine, strict=True))
        ]
        for name, mine in points.items()
    }


def ranks(numbers: Sequence[float]) -> list[float]:
    """Ranks from 1 on, equal numbers sharing their mean.

    >>> ranks([10, 20, 10])
    [1.5, 3.0, 1.5]
    """
    _, inverse, times = np.unique(np.asarray(numbers), return_inverse=True, return_counts=True)
    last = np.cumsum(times)
    return [float(r) for r in (last - (times - 1) / 2)[inverse]]


def rank_correlation(first: Sequence[float], second: Sequence[float]) -> float | None:
    """Spearman's, with ties; None where one side does not vary.

    >>> rank_correlation([1, 2, 3], [10, 30, 20])
    0.5
    """
    a, b = np.array(ranks(first)), np.array(ranks(second))
    a, b = a - a.mean(), b - b.mean()
    scale = float(np.sqrt((a @ a) * (b @ b)))
    return None if scale == 0 else max(-1.0, min(1.0, float(a @ b) / scale))
