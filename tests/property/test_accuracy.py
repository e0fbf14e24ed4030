"""Relative error at most 1e-12 against 60 digits, for counts up to 10^12 and 10^5 sizes."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import mpmath
import pytest
from helpers.contingency import record_counts, secret_counts

from sievert.measures import MEASURES
from sievert.measures.measure import MeasureResult
from sievert.measures.target import RecordTarget, SecretTarget

TOLERANCE = mpmath.mpf("1e-12")


def log2(x: mpmath.mpf) -> mpmath.mpf:
    return mpmath.log(x) / mpmath.log(2)


def entropy(counts: Sequence[int], times: Sequence[int] | None = None) -> mpmath.mpf:
    times = times or [1] * len(counts)
    n = mpmath.mpf(sum(c * t for c, t in zip(counts, times, strict=True)))
    return mpmath.fsum(c * t / n * log2(n / c) for c, t in zip(counts, times, strict=True) if c)


def close(name: str, ours: float, due: mpmath.mpf) -> None:
    assert abs(mpmath.mpf(ours) - due) <= TOLERANCE * abs(due), f"{name}: {ours!r} against {due}"


def expected(
    h: mpmath.mpf, entropies: Sequence[mpmath.mpf], sizes: Sequence[int], times: Sequence[int]
) -> dict[str, mpmath.mpf]:
    """The information measures from H(X) and H(X|q), as they are defined."""
    n = mpmath.mpf(sum(s * t for s, t in zip(sizes, times, strict=True)))
    shares = [s / n * e for s, e in zip(sizes, entropies, strict=True)]
    left = mpmath.fsum(x * t for x, t in zip(shares, times, strict=True))
    classes = sum(times)
    return {
        "entropy": h,
        "conditional_entropy": left,
        "mutual_information": h - left,
        "discrimination_rate": (h - left) / h,
        "normalized_conditional_entropy": left / h,
        "conditional_privacy": 1 - mpmath.mpf(2) ** (left - h),
        "maximum_information_leakage": h - min(shares),
        "itpr_unnormalized": 1 - min(shares) / h,
        "itpr": 1 - classes * min(shares) / h,
        "entropy_l_diversity": mpmath.mpf(2) ** -min(entropies),
        "entropy_variation": h - min(entropies),
    }


def check(target: RecordTarget | SecretTarget, due: dict[str, mpmath.mpf]) -> None:
    for measure in MEASURES:
        if measure.id in due:
            found = measure.compute(target, {})
            value = found.value if isinstance(found, MeasureResult) else found
            assert value is not None
            close(measure.id, float(value), due[measure.id])


@pytest.mark.parametrize("distinct", [10, 1_000, 100_000])
@pytest.mark.parametrize("largest", [10**3, 10**12])
def test_finding_a_record(distinct: int, largest: int) -> None:
    random = Random(f"{distinct} {largest}")
    distinct = min(distinct, largest // 2)
    sizes = sorted(random.sample(range(1, largest + 1), distinct))
    times = [random.randint(1, 50) for _ in sizes]
    with mpmath.workdps(60):
        counts = record_counts(sizes, times)
        due = expected(log2(mpmath.mpf(counts.records)), [log2(mpmath.mpf(s)) for s in sizes],
                       sizes, times)  # fmt: skip
        check(RecordTarget(counts), due)


def test_sizes_that_hardly_differ() -> None:
    """ITPR and entropy variation of nearly equal classes are tiny differences of large numbers."""
    with mpmath.workdps(60):
        sizes = [10**12, 10**12 + 1]
        counts = record_counts(sizes)
        logs = [log2(mpmath.mpf(s)) for s in sizes]
        check(RecordTarget(counts), expected(log2(mpmath.mpf(counts.records)), logs, sizes, [1, 1]))


def _inference(matrix: Sequence[Sequence[int]]) -> None:
    with mpmath.workdps(60):
        columns = [sum(column) for column in zip(*matrix, strict=True)]
        due = expected(
            entropy(columns),
            [entropy(row) for row in matrix],
            [sum(row) for row in matrix],
            [1] * len(matrix),
        )
        check(SecretTarget(secret_counts(matrix)), due)


N = 10**12
MATRICES = {
    "one deviating record of 10^12": [[N // 2, 0], [N // 2 - 1, 1]],
    "five deviating records of 10^9": [[5, 10**9 - 5], [1, 10**9]],
    "one swapped pair in an independent table": [[250_000_001, 249_999_999],
                                                 [249_999_999, 250_000_001]],
    "one swapped pair of 10^13": [[N + 1, N - 1, N], [N - 1, N + 1, N], [N, N, N]],
    "nearly independent and skewed": [[10**11, 9 * 10**11 + 1], [10**9, 9 * 10**9]],
    "certain but for one": [[N, 0, 0], [0, N, 1], [0, 0, N]],
    "one value": [[7, 0], [9, 1]],
}  # fmt: skip


@pytest.mark.parametrize("matrix", MATRICES.values(), ids=MATRICES)
def test_small_informations(matrix: list[list[int]]) -> None:
    _inference(matrix)


@pytest.mark.parametrize("seed", range(6))
def test_random_secrets(seed: int) -> None:
    random = Random(seed)
    classes, values = random.randint(2, 60), random.randint(2, 400)
    largest = 10 ** random.randint(1, 12)
    matrix = [[random.randint(0, largest) for _ in range(values)] for _ in range(classes)]
    matrix[0][0] = largest
    _inference([row for row in matrix if any(row)])


def test_independent_is_exactly_zero() -> None:
    """Proportional rows: the integers prove that nothing is learned."""
    matrix = [[a * b for b in (3, 10**6, 7, 11)] for a in (1, 10**5, 17)]
    target = SecretTarget(secret_counts(matrix))
    assert target.mutual_information == 0.0
    assert target.entropy_variation == 0.0
    assert target.conditional_entropy == target.entropy


def test_counts_beyond_64_bits() -> None:
    """10^19 records and more: integers do not wrap."""
    sizes = [5 * 10**18, 6 * 10**18, 1]
    with mpmath.workdps(60):
        counts = record_counts(sizes)
        assert counts.records == 11 * 10**18 + 1
        logs = [log2(mpmath.mpf(s)) for s in sizes]
        check(
            RecordTarget(counts),
            expected(log2(mpmath.mpf(counts.records)), logs, sizes, [1, 1, 1]),
        )


def test_products_beyond_64_bits() -> None:
    """N = 4·10^9: n_xy·N no longer fits 64 bits."""
    _inference([[3 * 10**9, 5], [10**9 - 17, 12]])
