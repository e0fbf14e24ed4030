"""Probabilities of an intruder against a slow count in fractions; bounds against all databases.

The slow count walks over the records and groups of small random tables. The bounds of a chain of
sums are compared with every database over a small domain that has these sums; for long chains and
real numbers with intervals that are narrowed step by step, and with a database that attains each
bound.
"""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from helpers.effort import tried

from sievert.errors import InputError
from sievert.methods import (
    add_noise,
    draw_sample,
    frequencies,
    group_by_subsets,
    group_records,
    infer_from_answers,
    origin_probabilities,
    range_queries,
    restrict_queries,
    utility,
)
from sievert.methods.query_restriction import chain_bounds

TABLES = tried(20, soak=60)
SYSTEMS = 200
Row = list[Fraction]


def random_table(seed: int) -> tuple[Any, Any, list[float], Any]:
    """Known codes, secret codes, a domain (some values of which nobody has), the generator."""
    rng = np.random.default_rng([seed, 77])
    records, columns = int(rng.integers(2, 40)), int(rng.integers(1, 5))
    known = np.stack([rng.integers(0, rng.integers(1, 7), records) for _ in range(columns)], axis=1)
    values = sorted(rng.choice(60, int(rng.integers(1, 9)), replace=False).tolist())
    if seed % 3 == 0:
        values = [v / 8 - 3 for v in values]
    return known, rng.integers(0, len(values), records), values, rng


def members(known: Any, columns: tuple[int, ...]) -> dict[tuple[int, ...], list[int]]:
    """The records of each combination, combinations in ascending order."""
    found = defaultdict(list)
    for record, row in enumerate(known.tolist()):
        found[tuple(row[c] for c in columns)].append(record)
    return dict(sorted(found.items()))


def same(found: Any, expected: list[Row]) -> None:
    assert found.shape == (len(expected), len(expected[0]))
    for row, exact in zip(found.tolist(), expected, strict=True):
        assert sum(exact) == 1
        assert abs(math.fsum(row) - 1) <= 1e-12
        for p, q in zip(row, exact, strict=True):
            assert (p == 0) == (q == 0)
            assert abs(Fraction(p) - q) <= q * Fraction(1, 10**13)


def mean(rows: list[Row]) -> Row:
    return [sum(each, Fraction(0)) / len(rows) for each in zip(*rows, strict=True)]


def even(inside: list[bool]) -> Row:
    return [Fraction(int(i), sum(inside)) for i in inside]


@pytest.mark.parametrize("seed", range(TABLES))
def test_groups(seed: int) -> None:
    known, *_ = random_table(seed)
    columns = known.shape[1]
    all_groups = list(group_by_subsets(known))
    assert len(all_groups) == 2**columns - 1
    assert [g.columns for g in group_by_subsets(known, [columns])] == [tuple(range(columns))]
    for groups in all_groups:
        slow = members(known, groups.columns)
        assert [tuple(k) for k in groups.keys.tolist()] == list(slow)
        assert groups.sizes.tolist() == [len(m) for m in slow.values()]
        for group, records in enumerate(slow.values()):
            assert np.flatnonzero(groups.ids == group).tolist() == records
        alone = group_records(known, groups.columns)
        assert np.array_equal(alone.ids, groups.ids)


@pytest.mark.parametrize("seed", range(TABLES))
def test_sampling(seed: int) -> None:
    known, secret, values, rng = random_table(seed)
    fraction = float(rng.choice([0.5, 0.3, 1.0]))
    if round(fraction * len(secret)) < 1:
        fraction = 1.0
    found = draw_sample(secret, values, fraction, seed)
    size, taken = len(values), np.flatnonzero(found.taken).tolist()
    overall = [Fraction(secret[taken].tolist().count(d), len(taken)) for d in range(size)]
    for groups in group_by_subsets(known):
        flat, informed = [], []
        for records in members(known, groups.columns).values():
            drawn = [int(secret[r]) for r in records if r in taken]
            rest = 1 - Fraction(len(drawn), len(records))
            f = [Fraction(drawn.count(d), len(records)) for d in range(size)]
            flat.append([f[d] + rest / size for d in range(size)])
            informed.append([f[d] + rest * overall[d] for d in range(size)])
        same(found.probabilities(groups), flat)
        same(found.probabilities(groups, prior="sample"), informed)


@pytest.mark.parametrize("seed", range(TABLES))
def test_query_restriction(seed: int) -> None:
    known, secret, values, rng = random_table(seed)
    size = 2 * int(rng.integers(1, len(secret) // 2 + 1))
    found = restrict_queries(secret, values, size, seed)
    again = infer_from_answers(found.answers, values, size, found.order)
    for part in ("low", "high", "first", "last", "estimates", "answers"):
        assert np.array_equal(getattr(found, part), getattr(again, part))
    lows, highs = narrowed([values[c] for c in secret[found.order]], size // 2, values)
    exact = {int(r): (lows[i], highs[i]) for i, r in enumerate(found.order)}
    rows = {
        r: even([low <= Fraction(v) <= high for v in values]) for r, (low, high) in exact.items()
    }
    for r, (low, high) in exact.items():
        assert (found.low[r], found.high[r]) == (float(low), float(high))
        assert low <= Fraction(values[secret[r]]) <= high
    # Estimates keep every answer.
    blocks = found.estimates[found.order[: len(secret) // (size // 2) * (size // 2)]]
    sums = blocks.reshape(-1, size // 2).sum(axis=1)
    assert sums[1:] + sums[:-1] == pytest.approx(found.answers, rel=1e-12, abs=1e-9)
    for groups in group_by_subsets(known):
        slow = members(known, groups.columns)
        same(found.probabilities(groups), [mean([rows[r] for r in m]) for m in slow.values()])


@pytest.mark.parametrize("seed", range(TABLES))
def test_noise(seed: int) -> None:
    known, secret, values, rng = random_table(seed)
    percent = float(rng.choice([0, 20, 50, 100, 150]))
    found = add_noise(known, secret, values, percent, seed)
    size, half = len(values), found.span // 2
    assert np.all(np.abs(found.secret - secret) <= half)
    assert np.all(np.abs(found.known - known) <= np.array(found.spans) // 2)
    prior = (rng.integers(1, 9, size) / 4).tolist()
    flat, posterior = {}, {}
    for c in range(-half, size + half):
        near = [abs(c - d) <= half for d in range(size)]
        flat[c] = even(near)
        w = [Fraction(prior[d]) * _moves(found.span, c - d) for d in range(size)]
        posterior[c] = [x / sum(w) for x in w]
    for groups in group_by_subsets(known):
        slow = members(known, groups.columns)
        for rows, more in (
            (flat, {}),
            (posterior, {"weights": "posterior", "prior": prior}),
        ):
            own = [mean([rows[int(found.secret[r])] for r in m]) for m in slow.values()]
            same(found.probabilities(groups, **more), own)
            likely = [_likely(found, groups.columns, key, rows) for key in slow]
            same(found.probabilities(groups, matching="likelihood", **more), likely)


def _moves(span: int, step: int) -> int:
    return math.comb(span, step + span // 2) if abs(step) <= span // 2 else 0


def _likely(found: Any, columns: tuple[int, ...], key: tuple[int, ...], rows: Any) -> Row:
    total, sums = 0, [Fraction(0)] * len(found.values)
    for released, c in zip(found.known.tolist(), found.secret.tolist(), strict=True):
        weight = math.prod(
            _moves(found.spans[a], released[a] - k) for a, k in zip(columns, key, strict=True)
        )
        total += weight
        sums = [s + weight * p for s, p in zip(sums, rows[c], strict=True)]
    return [s / total for s in sums]


@pytest.mark.parametrize("seed", range(TABLES))
def test_frequencies(seed: int) -> None:
    known, secret, values, rng = random_table(seed)
    size = len(values)
    shown = np.where(rng.random(len(secret)) < 0.8, secret, -1)
    classes = np.where(rng.random(len(secret)) < 0.9, rng.integers(0, 4, len(secret)), -1)
    shown[classes < 0] = -1

    def frequency(records: list[int]) -> Row:
        return mean(
            [even([True] * size if shown[r] < 0 else [d == int(shown[r]) for d in range(size)])
             for r in records]
        )  # fmt: skip

    by_class = {
        c: frequency(np.flatnonzero(classes == c).tolist()) for c in np.unique(classes).tolist()
    }
    for groups in group_by_subsets(known):
        slow = members(known, groups.columns).values()
        same(frequencies(groups, shown, size), [frequency(m) for m in slow])
        mixed = [mean([by_class[int(classes[r])] for r in m]) for m in slow]
        same(frequencies(groups, shown, size, classes), mixed)


# -- bounds ------------------------------------------------------------------------------------


def narrowed(
    held: list[float], half: int, values: list[float]
) -> tuple[list[Fraction], list[Fraction]]:
    """Bounds by narrowing the interval of each block from its neighbours, there and back.

    Exact, as the sums of blocks form a path: what one end allows reaches the other in one sweep.
    """
    exact = [Fraction(v) for v in held]
    low, high = Fraction(values[0]), Fraction(values[-1])
    count = len(exact) // half
    sums = [sum(exact[i * half : (i + 1) * half], Fraction(0)) for i in range(count)]
    answers = [a + b for a, b in itertools.pairwise(sums)]
    spans = [[half * low, half * high] for _ in sums]
    sweep = [(i, i + 1) for i in range(count - 1)]
    for a, b in sweep + [(b, a) for a, b in reversed(sweep)]:
        total = answers[min(a, b)]
        spans[b][0] = max(spans[b][0], total - spans[a][1])
        spans[b][1] = min(spans[b][1], total - spans[a][0])
    lows, highs = [low] * len(exact), [high] * len(exact)
    for block, (least, most) in enumerate(spans):
        for record in range(block * half, (block + 1) * half):
            lows[record] = max(low, least - (half - 1) * high)
            highs[record] = min(high, most - (half - 1) * low)
    return lows, highs


@pytest.mark.parametrize("chunk", range(8))
def test_bounds_are_those_of_all_databases(chunk: int) -> None:
    """Every database over the whole numbers of a small domain that has the answers."""
    for seed in range(chunk * SYSTEMS // 8, (chunk + 1) * SYSTEMS // 8):
        rng = np.random.default_rng([seed, 78])
        least, width = int(rng.integers(-3, 4)), int(rng.integers(1, 5))
        records = int(rng.integers(2, {1: 11, 2: 9, 3: 8, 4: 7}[width]))
        half = int(rng.integers(1, records // 2 + 1))
        top = least + width
        every_one = np.array(list(itertools.product(range(least, top + 1), repeat=records)))
        blocks = every_one[:, : records // half * half].reshape(len(every_one), -1, half).sum(2)
        answers = blocks[:, 1:] + blocks[:, :-1]
        mine = answers[int(rng.integers(len(answers)))]
        fits = every_one[(answers == mine).all(axis=1)]
        values = list(range(least, top + 1))
        found = infer_from_answers(mine, values, 2 * half, range(records))
        assert found.low.tolist() == fits.min(axis=0).tolist()
        assert found.high.tolist() == fits.max(axis=0).tolist()
        sums = blocks[(answers == mine).all(axis=1)]
        (low, high), _ = chain_bounds(mine, 2 * half, least, top)
        assert low.tolist() == sums.min(axis=0).tolist()
        assert high.tolist() == sums.max(axis=0).tolist()


def test_answers_are_refused_exactly_where_no_database_has_them() -> None:
    refused = 0
    for seed in range(SYSTEMS):
        rng = np.random.default_rng([seed, 79])
        records, half = int(rng.integers(4, 8)), int(rng.integers(1, 3))
        every_one = np.array(list(itertools.product(range(3), repeat=records)))
        blocks = every_one[:, : records // half * half].reshape(len(every_one), -1, half).sum(2)
        answers = blocks[:, 1:] + blocks[:, :-1]
        mine = answers[int(rng.integers(len(answers)))] + rng.integers(-1, 2, answers.shape[1])
        there = bool((answers == mine).all(axis=1).any())
        refused += not there
        if there:
            infer_from_answers(mine, [0, 1, 2], 2 * half, range(records))
        else:
            with pytest.raises(InputError):
                infer_from_answers(mine, [0, 1, 2], 2 * half, range(records))
    assert 20 < refused < SYSTEMS - 20


@pytest.mark.parametrize("seed", range(20))
def test_each_bound_is_attained(seed: int) -> None:
    """Long chains: for each end of each record a database with the answers that has it."""
    rng = np.random.default_rng([seed, 80])
    half, width = int(rng.integers(1, 5)), int(rng.integers(2, 26))
    records = int(rng.integers(2 * half, 120))
    held = np.minimum(rng.geometric(2 / width, records) - 1, width - 1)
    count = records // half
    sums = held[: count * half].reshape(-1, half).sum(axis=1)
    found = infer_from_answers(sums[1:] + sums[:-1], range(width), 2 * half, range(records))
    lows, highs = narrowed(held.tolist(), half, [0, width - 1])
    assert found.low.tolist() == lows
    assert found.high.tolist() == highs
    (low, high), _ = chain_bounds(sums[1:] + sums[:-1], 2 * half, 0, width - 1)
    for end, block_ends in ((found.low, low), (found.high, high)):
        for block in range(count):
            sign = np.where((np.arange(count) - block) % 2 == 0, 1, -1)
            moved = sums + sign * (int(block_ends[block]) - sums[block])
            assert np.array_equal(moved[1:] + moved[:-1], sums[1:] + sums[:-1])
            assert moved.min() >= 0
            assert moved.max() <= half * (width - 1)
            # One record at its bound, the others of its block share what is left.
            left = int(moved[block]) - int(end[block * half])
            assert 0 <= left <= (half - 1) * (width - 1)


# -- utility -----------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(20))
def test_range_queries(seed: int) -> None:
    known, secret, values, rng = random_table(seed)
    values = [v + 100 for v in values]
    sizes = (known.max(axis=0) + 1 + rng.integers(0, 2, known.shape[1])).tolist()
    queries = range_queries(known, secret, values, 60, seed, sizes=sizes)
    keep = rng.random(len(secret)) < 0.5
    keep[0] = True
    held = np.array(values)[secret]
    found = utility(queries, known[keep], held[keep])
    squares, empty = [], 0
    for columns, low, high, truth in zip(
        queries.columns.tolist(), queries.low.tolist(), queries.high.tolist(),
        queries.truth.tolist(), strict=True,
    ):  # fmt: skip
        inside = np.ones(len(secret), dtype=bool)
        for column, a, b in zip(columns, low, high, strict=True):
            assert 0 <= a <= b < (sizes[column] if column >= 0 else 1)
            if column >= 0:
                inside &= (known[:, column] >= a) & (known[:, column] <= b)
        assert truth == pytest.approx(held[inside].mean(), rel=1e-12)
        mine = held[inside & keep]
        empty += not len(mine)
        answer = mine.mean() if len(mine) else held[keep].mean()
        squares.append((answer / truth - 1) ** 2)
    assert found.unanswered == empty
    assert found.error == pytest.approx(math.sqrt(math.fsum(squares) / 60), rel=1e-9, abs=1e-12)


def test_laws_of_more_release() -> None:
    """The order of records does not matter; noise of no percent tells each group's values."""
    known, secret, values, rng = random_table(7)
    order = rng.permutation(len(secret))
    found = add_noise(known, secret, values, 0)
    moved = add_noise(known[order], secret[order], values, 0)
    for one, two in zip(group_by_subsets(known), group_by_subsets(known[order]), strict=True):
        assert np.array_equal(found.probabilities(one), moved.probabilities(two))
        whole = draw_sample(secret, values, 1).probabilities(one)
        assert np.allclose(found.probabilities(one), whole, rtol=1e-14, atol=0)
        assert np.array_equal(whole, frequencies(one, secret, len(values)))


@pytest.mark.parametrize("span", [0, 2, 6, 24, 60, 1200])
def test_reachable_rows_add_up_and_mirror(span: int) -> None:
    for weights in ("uniform", "posterior"):
        rows = origin_probabilities(25, span, weights)
        assert rows.shape == (25 + span, 25)
        assert np.allclose(rows.sum(axis=1), 1, rtol=0, atol=1e-14)
        assert np.allclose(rows, rows[::-1, ::-1], rtol=1e-13, atol=0)
