"""How far a column is from a random order, in standard deviations, by exact moments."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any


def as_number(text: str | None) -> Fraction | None:
    try:
        return None if text is None else Fraction(text)
    except ValueError:
        return None


def varies_enough(values: Sequence[Any]) -> bool:
    """Say whether neighbours that differ, and neighbours beside the main value, are expected."""
    counts = Counter(values)
    rest = len(values) - max(counts.values())
    return rest * (rest - 1) >= 5 * len(values)


def score_of_runs(values: Sequence[Any]) -> float:
    """Compare the number of equal neighbours with the exact moments under random orders."""
    n = len(values)
    counts = list(Counter(values).values())
    equal = sum(first == second for first, second in pairwise(values))
    pairs = sum(a * (a - 1) for a in counts)
    mean = pairs / n
    if mean < 5:
        return math.nan
    triples = sum(a * (a - 1) * (a - 2) for a in counts)
    fours = sum(a * (a - 1) * (a - 2) * (a - 3) for a in counts)
    crossed = pairs**2 - sum((a * (a - 1)) ** 2 for a in counts)
    squares = mean
    squares += 2 * (n - 2) * triples / (n * (n - 1) * (n - 2))
    squares += (n - 2) * (n - 3) * (fours + crossed) / (n * (n - 1) * (n - 2) * (n - 3))
    return float((equal - mean) / math.sqrt(squares - mean**2))


def ranks_of(values: Sequence[Any]) -> list[float]:
    """Compute the mean rank of every value, less the mean of all."""

    def key(value: Any) -> tuple[int, Any]:
        number = as_number(str(value)) if value is not None else None
        if number is not None:
            return (1, number)
        return (0, "") if value is None else (2, value)

    counts = Counter(key(value) for value in values)
    ranks: dict[tuple[int, Any], float] = {}
    before = 0
    for value in sorted(counts):
        ranks[value] = before + (counts[value] - 1) / 2
        before += counts[value]
    middle = (len(values) - 1) / 2
    return [ranks[key(value)] - middle for value in values]


def score_of_neighbours(ranks: Sequence[float]) -> float:
    """Compare the serial correlation of ranks, in a circle, with its moments (Wald, Wolfowitz)."""
    n = len(ranks)
    product = math.fsum(first * second for first, second in pairwise(ranks))
    product += ranks[-1] * ranks[0]
    second = math.fsum(rank**2 for rank in ranks)
    fourth = math.fsum(rank**4 for rank in ranks)
    mean = -second / (n - 1)
    variance = (second**2 - fourth) / (n - 1)
    variance += (second**2 - 2 * fourth) / ((n - 1) * (n - 2))
    variance -= mean**2
    return float((product - mean) / math.sqrt(variance))


def score_of_place(ranks: Sequence[float]) -> float:
    """Compare the correlation of ranks with their place in the file with none."""
    middle = (len(ranks) - 1) / 2
    return score_of_correlation(ranks, [place - middle for place in range(len(ranks))])


def score_of_correlation(ranks: Sequence[float], others: Sequence[float]) -> float:
    """Compare the correlation of two columns of ranks with none (Spearman)."""
    together = math.fsum(rank * other for rank, other in zip(ranks, others, strict=True))
    squares = math.fsum(rank**2 for rank in ranks) * math.fsum(other**2 for other in others)
    return together / math.sqrt(squares / (len(ranks) - 1))
