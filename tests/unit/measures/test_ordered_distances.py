"""Ordered distances of many classes: loops and arrays agree, and few classes are solved exactly."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sievert.counts.answers import Ranked
from sievert.measures import closeness


def random_classes(values: int, classes: int, each: float) -> tuple[Ranked, int]:
    """Classes of random values, all of which occur, and the number of their records."""
    rng = np.random.default_rng(values)
    owner = np.repeat(np.arange(classes), 1 + rng.poisson(each, classes))
    keys, counts = np.unique(
        owner * values + rng.integers(0, values, len(owner)), return_counts=True
    )
    _, ranks = np.unique(keys % values, return_inverse=True)
    totals = np.bincount(ranks, counts).astype(np.int64)
    starts = np.searchsorted(keys // values, np.arange(classes))
    return Ranked(ranks=ranks, counts=counts, starts=starts, totals=totals), len(owner)


@pytest.mark.parametrize(("values", "classes", "each"), [(2, 50, 1), (20, 900, 4), (300, 60, 90)])
def test_loops_and_arrays_agree(values: int, classes: int, each: float) -> None:
    pytest.importorskip("numba")
    ranked, records = random_classes(values, classes, each)
    distances = [closeness._ordered_distances(ranked, records, least) for least in (0, 10**12)]
    assert distances[0] == pytest.approx(distances[1], abs=1e-13)
    exact = [float(closeness._ordered_distance(ranked, i, records)) for i in range(classes)]
    assert distances[0] == pytest.approx(exact, abs=1e-12)


def test_equal_classes_are_solved_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Thousands of people are alone with the value that is farthest from all others."""
    solved: list[int] = []
    exact = closeness._ordered_distance

    def count(ranked: Ranked, i: int, records: int) -> Any:
        solved.append(i)
        return exact(ranked, i, records)

    monkeypatch.setattr(closeness, "_ordered_distance", count)
    ranks = np.array([*[0] * 3000, *range(10)])
    starts = np.arange(3001)  # everybody alone, and one class of all values
    totals = np.bincount(ranks)
    ranked = Ranked(
        ranks=ranks, counts=np.ones(len(ranks), dtype=np.int64), starts=starts, totals=totals
    )
    rough = closeness._ordered_distances(ranked, len(ranks))
    worst = closeness._different_classes(ranked, np.flatnonzero(rough >= rough.min()))
    assert len(worst) == 2
    distance = max(closeness._ordered_distance(ranked, i, len(ranks)) for i in worst)
    assert float(distance) == pytest.approx(float(rough.max()))
    assert len(solved) == 2
