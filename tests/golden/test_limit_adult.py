"""Adult released through the best channel: what the records show against what was promised."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest
from helpers.pairedrows import row_numbers

import sievert

from .tables import read_columns

QUASI = ["marital-status", "education"]
TABLE = 0.4326073852478  # I(marital-status, education; occupation) of all records, in bits
# distortion: what no release is below, to the gap of 1e-4 bits
LEAST = {0.02: 0.2992, 0.05: 0.1955, 0.1: 0.1139, 0.2: 0.0485, 0.4: 0.0021}


@cache
def limited(reference: Path, at: float, out: Path) -> sievert.Limited:
    data = reference / "data" / "adult" / "adult.csv"
    return sievert.randomise(data, QUASI, "occupation", at=at, out=out)


@pytest.mark.parametrize("at", LEAST)
def test_the_release_keeps_the_promise(reference: Path, tmp_path: Path, at: float) -> None:
    out = tmp_path / "release.csv"
    found = limited(reference, at, out)
    (part,) = found.parts
    (point,) = part.points
    assert part.information is not None and part.promise is not None and part.achieved is not None
    assert part.information.value == pytest.approx(TABLE, abs=1e-12)
    assert (part.values, part.released) == (101, 112)
    assert point.reached and point.gap <= 1e-4
    assert point.bound == pytest.approx(LEAST[at], abs=1e-4)
    assert point.distortion <= at * (1 + 1e-9)
    low, high = part.promise.risk_range
    assert low <= part.achieved.risk.value <= high and part.achieved.risk_inside
    low, high = part.promise.distortion_range
    assert low <= part.achieved.distortion <= high and part.achieved.distortion_inside
    assert found.inside is True
    # the file holds what was measured
    before = read_columns(reference / "data" / "adult" / "adult.csv", ";")
    order = np.argsort(row_numbers(out))
    after = {name: [values[i] for i in order] for name, values in read_columns(out, ";").items()}
    assert list(after) == list(before)
    for name in before:
        if name not in QUASI:
            assert after[name] == before[name]
    changed = [np.mean([a != b for a, b in zip(before[q], after[q], strict=True)]) for q in QUASI]
    assert np.mean(changed) == pytest.approx(part.achieved.distortion, abs=1e-12)
    told = _information(["\0".join(x) for x in zip(*(after[q] for q in QUASI), strict=True)],
                        after["occupation"])  # fmt: skip
    assert told == pytest.approx(part.achieved.risk.value, abs=1e-10)


def _information(first: list[str], second: list[str]) -> float:
    x, y = (np.unique(c, return_inverse=True)[1] for c in (first, second))
    table = np.zeros((x.max() + 1, y.max() + 1))
    np.add.at(table, (x, y), 1 / len(x))
    expected = np.outer(table.sum(axis=1), table.sum(axis=0))
    there = table > 0
    return float((table[there] * np.log2(table[there] / expected[there])).sum())
