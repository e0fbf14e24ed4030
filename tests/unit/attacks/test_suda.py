"""Minimal sample uniques and SUDA2 against the definition, tried out on every set of columns."""

from __future__ import annotations

import doctest
import math
import sys
from collections import Counter
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from helpers.effort import tried

from sievert.attacks import suda
from sievert.errors import InvariantError, UsageError
from sievert.numerics.acceleration import compile_loops

CHUNKS, TABLES = tried(5, soak=100), 30
Record = tuple[int | None, ...]
Sets = list[tuple[int, ...]]


def classes(records: list[Record]) -> tuple[list[Any], Any, list[int]]:
    """Codes by column, records of each class, and the class of each record."""
    different = list(dict.fromkeys(records))
    times = Counter(records)
    codes = [np.array([r[c] or 0 for r in different]) for c in range(len(records[0]))]
    counts = np.array([times[r] for r in different])
    return codes, counts, [different.index(r) for r in records]


def agrees(one: Record, other: Record, columns: tuple[int, ...]) -> bool:
    return all(one[c] == other[c] for c in columns)


def minimal_sets(records: list[Record], me: int) -> Sets:
    """By the definition: no other record agrees on the set, another does on every part of it."""
    others = [r for i, r in enumerate(records) if i != me]
    mine = records[me]
    known = [c for c, value in enumerate(mine) if value is not None]

    def shared(columns: tuple[int, ...]) -> bool:
        return any(agrees(mine, other, columns) for other in others)

    found = []
    for size in range(1, len(known) + 1):
        for columns in combinations(known, size):
            parts = [p for s in range(1, size) for p in combinations(columns, s)]
            if not shared(columns) and all(shared(part) for part in parts):
                found.append(columns)
    return found


def weight(a: int, m: int, s: int, scores: str) -> Fraction:
    if scores == "ihsn":
        fact = math.factorial
        return Fraction((2 ** (a - s) - 1) * fact(s) * fact(a - s), fact(a))
    product = Fraction(1)
    for i in range(s, m + 1):
        product *= a - i
    return product


def random_records(random: Random) -> list[Record]:
    columns = random.randint(1, 7)  # of seven, marks have two words
    values = [random.randint(1, 4) for _ in range(columns)]
    gaps = random.choice([0.0, 0.0, 0.1, 0.4])
    records: list[Record] = [
        tuple(None if random.random() < gaps else random.randint(1, v) for v in values)
        for _ in range(random.randint(1, 14))
    ]
    return records + random.choices(records, k=random.choice([0, 0, 1, 4]))


@pytest.fixture(params=[False, True], ids=["numpy", "numba"])
def compiled(request: pytest.FixtureRequest) -> bool:
    if request.param:
        pytest.importorskip("numba")
    return bool(request.param)


def check(records: list[Record], largest: int | None, compiled: bool) -> None:
    codes, counts, where = classes(records)
    a = len(codes)
    m = a - 1 if largest is None else min(largest, a - 1)
    found = suda.minimal_uniques(codes, counts, largest, compiled=compiled)
    sets = [minimal_sets(records, i) for i in range(len(records))]
    if m < a - 1:
        sets = [[c for c in mine if len(c) <= m] for mine in sets]
    sizes = m if m < a - 1 else a
    by_size = [[sum(len(c) == s for c in mine) for s in range(1, sizes + 1)] for mine in sets]
    assert found.by_size[where].tolist() == by_size
    assert found.unique.tolist() == np.flatnonzero(counts == 1).tolist()
    for scores in suda.SCORES:
        due = [sum((weight(a, m, len(c), scores) for c in mine), Fraction(0)) for mine in sets]
        assert found.suda_score(scores)[where] == pytest.approx([float(d) for d in due], rel=1e-14)
        held = [
            [
                sum((weight(a, m, len(s), scores) for s in mine if c in s), Fraction(0))
                for c in range(a)
            ]
            for mine in sets
        ]
        shares = [[h / d if d else 0 for h in row] for row, d in zip(held, due, strict=True)]
        ours = found.contributions(scores)[where]
        assert ours == pytest.approx(np.array(shares, dtype=float), rel=1e-14)
        assert (ours == 1).tolist() == [[share == 1 for share in row] for row in shares]
        file = sum(due)
        columns, levels = found.column_shares(scores), found.size_shares(scores)
        if file == 0:
            assert columns is None and levels is None
        else:
            assert columns == tuple(float(sum(column) / file) for column in zip(*held, strict=True))
            assert levels == tuple(
                float(sum(n) * weight(a, m, s, scores) / file)
                for s, n in enumerate(zip(*by_size, strict=True), 1)
            )
        for f in (0.01, 0.3, 1.0):
            dis = distribution(records, [float(d) for d in due], f)
            assert found.dis_suda_score(f, scores)[where] == pytest.approx(dis, rel=1e-12)


def distribution(records: list[Record], score: list[float], f: float) -> list[float]:
    """DIS-SUDA as it is printed; a missing value is a value of its own in U and P."""
    a, times = len(records[0]), Counter(records)
    u = sum(n == 1 for n in times.values())
    p = sum(n for n in times.values() if n == 2)
    q = 1 + (8 - a) / 20
    if not any(score):
        return [0.0] * len(score)
    d = u * f / (u * f + p * (1 - f))
    s = sum(x ** (-q) for x in score if x > 0)
    return [1 / (1 + (u / d - u) / (x**q * s)) if x else 0.0 for x in score]


@pytest.mark.parametrize("chunk", range(CHUNKS))
@pytest.mark.slow
def test_by_the_definition(chunk: int, compiled: bool) -> None:
    random = Random(chunk)
    for _ in range(TABLES):
        records = random_records(random)
        check(records, random.choice([None, None, 1, 2, 3, 9]), compiled)


def big_table(rows: int, widths: list[int], gaps: float) -> tuple[list[Any], Any]:
    rng = np.random.default_rng(7)
    table = np.stack([rng.integers(1, w, size=rows, endpoint=True) for w in widths], axis=1)
    table[rng.random(table.shape) < gaps] = 0
    different, counts = np.unique(table, axis=0, return_counts=True)
    return [different[:, c] for c in range(len(widths))], counts


@pytest.mark.parametrize("gaps", [0.0, 0.1])
@pytest.mark.parametrize("largest", [None, 3])
def test_both_ways_and_any_room_agree(
    gaps: float, largest: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Eight columns have marks in several words; little room takes the records in parts."""
    pytest.importorskip("numba")
    codes, counts = big_table(3000, [2, 2, 3, 3, 4, 5, 6, 70], gaps)
    found = suda.minimal_uniques(codes, counts, largest, compiled=False)
    assert (found.by_size.sum(axis=0) > 0).sum() >= 2
    assert (found.found == suda.minimal_uniques(codes, counts, largest, compiled=True).found).all()
    monkeypatch.setattr(suda, "ROOM", 10_000)
    for compiled in (False, True):
        again = suda.minimal_uniques(codes, counts, largest, compiled=compiled)
        assert (found.found == again.found).all()


def test_wide_codes(compiled: bool) -> None:
    """More values than 16 bits hold, each once: every record has its number as an MSU."""
    numbers = np.arange(1, 70_001)
    found = suda.minimal_uniques([numbers, numbers % 2 + 1], np.ones(70_000), compiled=compiled)
    assert found.by_size.sum(axis=0).tolist() == [70_000, 0]
    assert found.column_shares() == (1.0, 0.0)


def test_a_complete_unique_record_has_one(compiled: bool) -> None:
    codes, counts = big_table(2000, [2, 2, 2, 3, 3, 9], 0.0)
    found = suda.minimal_uniques(codes, counts, compiled=compiled)
    assert ((found.by_size.sum(axis=1) > 0) == (counts == 1)).all()


def test_a_gap_singles_nobody_out(compiled: bool) -> None:
    """The first record is unique by its gap alone; the second by the value that others lack."""
    codes, counts, _ = classes([(1, None), (1, 2)])
    found = suda.minimal_uniques(codes, counts, compiled=compiled)
    assert found.by_size.tolist() == [[0, 0], [1, 0]]
    assert found.contributions().tolist() == [[0, 0], [0, 1]]
    assert len(found.unique) == 2


def test_one_record_and_none(compiled: bool) -> None:
    one = suda.minimal_uniques([np.array([1]), np.array([0])], np.array([1]), compiled=compiled)
    assert one.by_size.tolist() == [[1, 0]]
    assert one.dis_suda_score(0.5).tolist() == [1.0]
    empty = np.zeros(0, dtype=np.int64)
    none = suda.minimal_uniques([empty, empty], empty, compiled=compiled)
    assert none.by_size.shape == (0, 2) and none.column_shares() is None
    assert len(none.dis_suda_score(0.5)) == 0


def test_columns_may_come_in_any_order(compiled: bool) -> None:
    codes, counts = big_table(500, [3, 2, 5, 4], 0.05)
    found = suda.minimal_uniques(codes, counts, compiled=compiled)
    turned = suda.minimal_uniques(codes[::-1], counts, compiled=compiled)
    assert (found.suda_score("ihsn") == turned.suda_score("ihsn")).all()
    assert (found.contributions() == turned.contributions()[:, ::-1]).all()


def test_all_sizes_from_the_last_but_one_on() -> None:
    codes, counts = big_table(300, [2, 3, 3, 4], 0.0)
    found = suda.minimal_uniques(codes, counts)
    assert found.sizes == 4 and found.by_size[:, 3].any()
    for largest in (3, 4, 5):
        assert (found.found == suda.minimal_uniques(codes, counts, largest).found).all()
    assert suda.minimal_uniques(codes, counts, 2).sizes == 2


def test_the_weights_of_sizes() -> None:
    found = suda.minimal_uniques([np.array([1])] * 4, np.array([1]), compiled=False)
    assert found.weights() == (6, 2, 1, 1)
    assert found.weights("ihsn") == (Fraction(7, 4), Fraction(1, 2), Fraction(1, 4), 0)
    found = suda.minimal_uniques([np.array([1])] * 6, np.array([1]), 3, compiled=False)
    assert found.weights() == (60, 12, 3)


def test_without_numba(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "numba", None)
    compile_loops.cache_clear()
    codes, counts = big_table(50, [2, 3, 4], 0.0)
    try:
        found = suda.minimal_uniques(codes, counts, compiled=True)
    finally:
        compile_loops.cache_clear()
    assert (found.found == suda.minimal_uniques(codes, counts, compiled=False).found).all()


def test_the_search_can_be_ended(compiled: bool) -> None:
    calls = []

    def pace() -> None:
        calls.append(1)
        if len(calls) == 3:
            raise TimeoutError

    codes, counts = big_table(50, [2, 3, 4], 0.0)
    with pytest.raises(TimeoutError):
        suda.minimal_uniques(codes, counts, compiled=compiled, pace=pace)
    assert len(calls) == 3


def test_wide_tables_ask_for_a_largest_size() -> None:
    one = np.array([1])
    with pytest.raises(UsageError, match=r"8,191 sets of up to 13\. Try: a largest size of 4"):
        suda.minimal_uniques([one] * 13, one)
    with pytest.raises(UsageError, match="a largest size of 3"):
        suda.minimal_uniques([one] * 60, one, 4)
    assert suda.minimal_uniques([one] * 13, one, 2).by_size.tolist() == [[13, 0]]
    assert suda.minimal_uniques([one] * 12, one).sizes == 12


def test_number_of_columns() -> None:
    with pytest.raises(UsageError, match="at least 1"):
        suda.minimal_uniques([], np.array([1]), 1)
    with pytest.raises(
        UsageError, match=r"more than 1[,0]+ sets of up to 250.*a largest size of 2"
    ):
        suda.minimal_uniques([np.array([1])] * 250, np.array([1]))


@pytest.mark.parametrize("compiled", [False, True])
def test_more_columns_than_a_word_has_bits(compiled: bool) -> None:
    """Against the definition: sets of one and two of 70 columns."""
    rng = np.random.default_rng(4)
    table = np.unique(rng.integers(0, 6, (12, 70)), axis=0)
    found = suda.minimal_uniques(list(table.T), np.ones(12, dtype=int), 2, compiled=compiled)

    def alone(row: int, places: list[int]) -> bool:
        own = table[row, places]
        return bool(own.all()) and int((table[:, places] == own).all(axis=1).sum()) == 1

    for row in range(12):
        ones = [c for c in range(70) if alone(row, [c])]
        left = [c for c in range(70) if c not in ones and table[row, c]]
        twos = [pair for pair in combinations(left, 2) if alone(row, list(pair))]
        assert found.by_size[row].tolist() == [len(ones), len(twos)]
        counts = found.found[:, :, row]
        assert np.flatnonzero(counts[0]).tolist() == ones
        assert counts[1].tolist() == [sum(c in pair for pair in twos) for c in range(70)]


def test_wrong_parameters() -> None:
    one = np.array([1])
    found = suda.minimal_uniques([one], one)
    with pytest.raises(UsageError, match="below 1"):
        suda.minimal_uniques([one], one, 0)
    with pytest.raises(UsageError, match="'sdcmicro' or 'ihsn'"):
        found.suda_score("elliot")
    for fraction in (0, -0.1, 1.1, math.nan):
        with pytest.raises(UsageError, match="sampling fraction"):
            found.dis_suda_score(fraction)
    with pytest.raises(InvariantError):
        suda.minimal_uniques([one, np.array([1, 2])], one)


def test_examples_of_the_page() -> None:
    page = Path(__file__).parents[3] / "docs" / "suda.md"
    failed, run = doctest.testfile(str(page), module_relative=False)
    assert failed == 0 and run > 0
