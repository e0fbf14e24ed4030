"""Bounds of query restriction against linear programmes, solved by HiGHS."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.effort import tried

from sievert.errors import InputError
from sievert.methods import infer_from_answers, restrict_queries

optimize = pytest.importorskip("scipy.optimize")


def programme(answers: np.ndarray, size: int, order: np.ndarray, low: float, high: float) -> list:
    """Least and greatest value of every record, one programme each; None where none has them."""
    half, records = size // 2, len(order)
    matrix = np.zeros((len(answers), records))
    for i in range(len(answers)):
        matrix[i, order[i * half : i * half + size]] = 1
    found = []
    for record in range(records):
        ends = []
        for sign in (1, -1):
            cost = np.zeros(records)
            cost[record] = sign
            told = optimize.linprog(cost, A_eq=matrix, b_eq=answers, bounds=(low, high))
            if told.status == 2:
                return []
            assert told.status == 0
            ends.append(sign * told.fun)
        found.append(tuple(ends))
    return found


@pytest.mark.parametrize("part", range(4))
def test_bounds(part: int) -> None:
    """Random systems, with records that are in no query, whole and real domains."""
    outside = 0
    for seed in range(part, tried(100, soak=400), 4):
        random = np.random.default_rng([seed, 11])
        size = int(random.choice([2, 4, 6]))
        records = int(random.integers(size, size + 8))
        if seed % 2:
            values = np.arange(1.0, random.integers(3, 8))
        else:
            values = np.sort(np.round(random.random(int(random.integers(2, 6))) * 100, 2))
            values = np.unique(values)
        secret = random.integers(0, len(values), records)
        found = restrict_queries(secret, values, size, seed)
        due = programme(found.answers, size, found.order, values[0], values[-1])
        outside += records % (size // 2) > 0
        assert len(due) == records
        for record, (low, high) in enumerate(due):
            assert found.low[record] == pytest.approx(low, abs=1e-9 * max(1.0, values[-1]))
            assert found.high[record] == pytest.approx(high, abs=1e-9 * max(1.0, values[-1]))
            assert low - 1e-9 <= values[secret[record]] <= high + 1e-9
    assert outside > 3


def test_answers_that_nobody_has() -> None:
    """Altered answers are refused exactly where the programme has no solution."""
    refused = 0
    for seed in range(60):
        random = np.random.default_rng([seed, 12])
        size, records = 4, 9
        values = np.arange(1.0, 6.0)
        found = restrict_queries(random.integers(0, 5, records), values, size, seed)
        answers = found.answers + random.integers(-6, 7, len(found.answers))
        due = programme(answers, size, found.order, 1.0, 5.0)
        if due:
            again = infer_from_answers(answers, values, size, found.order)
            assert [(a, b) for a, b in zip(again.low, again.high, strict=True)] == [
                (pytest.approx(low, abs=1e-9), pytest.approx(high, abs=1e-9)) for low, high in due
            ]
            continue
        refused += 1
        with pytest.raises(InputError):
            infer_from_answers(answers, values, size, found.order)
    assert 5 < refused < 55
