"""The ranking of releases: which are dominated, and whether losses rank them alike."""

from collections.abc import Mapping, Sequence

import numpy as np

from sievert.commands.compare.result import Compared
from sievert.losses import BY_ID

FEWEST_RANKED = 3  # releases


def dominance(releases: Sequence[Compared]) -> dict[str, list[str]]:
    """Find, for each release, the releases that dominate it: they disclose and lose no more.

    The numbers are the identity disclosure in both readings, and the loss beyond chance.
    """
    points = {}
    for release in releases:
        identity = release.disclosed.identity.whole
        losses = [max(0.0, each.whole.beyond) for each in release.disclosed.loss.values()]
        if losses:
            points[release.name] = (identity.value, identity.corrected, *losses)
    if not points:
        return {release.name: [] for release in releases}
    return dominating(points)


def dominating(points: Mapping[str, Sequence[float]]) -> dict[str, list[str]]:
    """Find, for each name, the names that dominate it: nowhere worse, somewhere better.

    Less is better.

    >>> dominating({"a": (1, 2), "b": (1, 3), "c": (0, 4)})
    {'a': [], 'b': ['a'], 'c': []}
    """
    dominated_by: dict[str, list[str]] = {name: [] for name in points}
    for name, own in points.items():
        for other, numbers in points.items():
            pairs = list(zip(numbers, own, strict=True))
            nowhere_worse = all(theirs <= ours for theirs, ours in pairs)
            somewhere_better = any(theirs < ours for theirs, ours in pairs)
            if other != name and nowhere_worse and somewhere_better:
                dominated_by[name].append(other)
    return dominated_by


def loss_correlations(releases: Sequence[Compared]) -> dict[str, dict[str, float | None]]:
    """The rank correlation of each other loss with the information loss, over the releases."""
    if len(releases) < FEWEST_RANKED:
        return {}
    lost = {
        secret: [r.disclosed.loss[secret].whole.beyond for r in releases]
        for secret in releases[0].disclosed.loss
    }
    correlations: dict[str, dict[str, float | None]] = {}
    for name in releases[0].losses:
        values = [r.losses[name].value for r in releases]
        sign = 1 if BY_ID[name].worse == "high" else -1
        numbers = [sign * v for v in values if v is not None]
        if len(numbers) == len(values):
            correlations[name] = {s: rank_correlation(numbers, x) for s, x in lost.items()}
    return correlations


def ranks(numbers: Sequence[float]) -> list[float]:
    """Rank numbers from 1 on; equal numbers share their mean rank.

    >>> ranks([10, 20, 10])
    [1.5, 3.0, 1.5]
    """
    _, inverse, times = np.unique(np.asarray(numbers), return_inverse=True, return_counts=True)
    return [float(r) for r in (np.cumsum(times) - (times - 1) / 2)[inverse]]


def rank_correlation(first: Sequence[float], second: Sequence[float]) -> float | None:
    """Spearman's rank correlation, with ties; None if one side does not vary.

    >>> rank_correlation([1, 2, 3], [10, 30, 20])
    0.5
    """
    a = np.array(ranks(first))
    b = np.array(ranks(second))
    a = a - a.mean()
    b = b - b.mean()
    scale = float(np.sqrt((a @ a) * (b @ b)))
    return None if scale == 0 else max(-1.0, min(1.0, float(a @ b) / scale))
