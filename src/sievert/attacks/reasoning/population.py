"""What anybody learns of the population from a release, and how near it comes to the truth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from sievert.arrays import Floats, Ints
from sievert.attacks.reasoning import credible_intervals

LEVEL = 0.9
Text = str | None


def of_secrets(
    alpha: Floats, secret_counts: Ints, secrets: Sequence[Text], truth: Ints | None
) -> tuple[dict[Text, dict[str, float]], dict[str, Any]]:
    """The secret's distribution, exactly: means, 90 % intervals; and its distance to the truth."""
    weights = alpha + secret_counts
    total = float(weights.sum())
    shares = None if truth is None else _shares(truth.sum(axis=0)[: len(secrets)])
    shares_by_secret = {}
    for s, text in enumerate(secrets):
        b = float(weights[s])
        low, high = credible_intervals.interval(b, total - b, LEVEL) if total > b else (1.0, 1.0)
        shares_by_secret[text] = {"mean": b / total, "low": low, "high": high}
        if shares is not None:
            shares_by_secret[text]["truth"] = float(shares[s])
    return shares_by_secret, {} if shares is None else _distance(shares, weights / total)


def of_keys(
    mean: Floats,
    drawn: Floats,
    atoms: Mapping[Any, int],
    secrets: Sequence[Text],
    truth: Ints | None,
) -> tuple[dict[Text, dict[Any, dict[str, float]]], dict[str, Any]]:
    """A factor's distribution given each secret, by value; and its distance to the truth.

    `atoms` are the values that are asked about and their atoms; `truth[s, a]` counts the original.
    """
    low, high = credible_intervals.empirical(drawn, LEVEL)
    shares_by_secret: dict[Text, dict[Any, dict[str, float]]] = {}
    for s, text in enumerate(secrets):
        own = None if truth is None else _shares(truth[s])
        shares_by_secret[text] = {}
        for name, a in atoms.items():
            estimate = {
                "mean": float(mean[s, a]),
                "low": float(low[s, a]),
                "high": float(high[s, a]),
            }
            shares_by_secret[text][name] = (
                estimate if own is None else {**estimate, "truth": float(own[a])}
            )
    if truth is None:
        return shares_by_secret, {}
    people = _shares(truth.sum(axis=1))
    each = [
        _distance(_shares(truth[s]), mean[s]) if people[s] else None for s in range(len(secrets))
    ]
    return shares_by_secret, {
        name: _mean(people, [None if e is None else e[name] for e in each])
        for name in ("total_variation", "bits")
    }


def _shares(counts: Ints) -> Floats:
    total = counts.sum()
    return counts / total if total else np.zeros(len(counts))


def _distance(truth: Floats, believed: Floats) -> dict[str, float | None]:
    bits = credible_intervals.bits(truth, believed).value
    return {"total_variation": credible_intervals.total_variation(truth, believed), "bits": bits}


def _mean(weights: Floats, numbers: Sequence[float | None]) -> float | None:
    """The mean over people; None where it is unbounded for some."""
    if any(n is None and w > 0 for n, w in zip(numbers, weights, strict=True)):
        return None
    return float(sum(w * n for n, w in zip(numbers, weights, strict=True) if n is not None))
