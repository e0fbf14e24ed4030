"""Estimates of mutual information: worked examples, published settings, and what is refused."""

from __future__ import annotations

import dataclasses
import doctest
import itertools
import json
import math
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
import pytest
from golden.tables import read_columns

import sievert
from sievert.counts.answers import Sizes
from sievert.errors import UsageError
from sievert.estimators import (
    ContingencyTable,
    InformationEstimate,
    bin_numbers,
    chance,
    estimate,
    information,
    information_lost,
    is_continuous,
    ksg,
    quantile_bins,
)
from sievert.estimators.contingency import total
from sievert.estimators.information import Trio
from sievert.estimators.permutation import (
    ShuffleLayout,
    TableBlocks,
    _random_below,
    _table,
    independent,
    shuffle_test,
)

PAGE = Path(__file__).parents[3] / "docs" / "estimation.md"
SEVEN = (
    "sex", "race", "marital-status", "education", "native-country", "workclass", "salary-class",
)  # fmt: skip


def adult(reference: Path, *columns: str) -> Any:
    """Codes of some columns together, of the first 5,692 records."""
    table = read_columns(reference / "data" / "adult" / "adult.csv", ";")
    seen: dict[tuple[str, ...], int] = {}
    rows = zip(*(table[c][:5692] for c in columns), strict=True)
    return np.array([seen.setdefault(row, len(seen)) for row in rows])


def gaussian(seed: int, n: int, rho: float) -> tuple[Any, Any]:
    random = np.random.default_rng(seed)
    x = random.normal(size=n)
    return x, rho * x + math.sqrt(1 - rho * rho) * random.normal(size=n)


# What an estimate says.


def test_adult_education(reference: Path) -> None:
    """Published for these records: chance .0241221944."""
    found = information(adult(reference, "education"), adult(reference, "occupation"), shuffles=19)
    assert found.chance == pytest.approx(0.0241221944, abs=5e-11)
    assert found.value == pytest.approx(0.343, abs=5e-4)
    assert found.corrected == pytest.approx(0.319, abs=5e-4)
    assert found.maximum == pytest.approx(3.387, abs=5e-4)
    assert found.p_value == 0.05
    assert not found.noisy


def test_adult_seven_attributes(reference: Path) -> None:
    """Published: plug-in 1.4307, chance .9822769955, corrected .4484649608, Miller-Madow 1.298."""
    x = adult(reference, *SEVEN)
    assert x.max() + 1 == 1205
    found = information(x, adult(reference, "occupation"), shuffles=0)
    assert found.value == pytest.approx(1.4307, abs=5e-5)
    assert found.chance == pytest.approx(0.9822769955, abs=5e-11)
    assert found.corrected == pytest.approx(0.4484649608, abs=5e-11)
    assert found.miller_madow == pytest.approx(1.298, abs=5e-4)
    assert found.noisy
    assert found.p_value is None


def test_a_table_by_hand() -> None:
    """Counts 3 1 / 1 3: I = 3/4·log2(3/2) + 1/4·log2(1/2)."""
    x, y = [0, 0, 0, 0, 1, 1, 1, 1], [0, 0, 0, 1, 0, 1, 1, 1]
    found = information(x, y, shuffles=0)
    assert found.value == pytest.approx(0.75 * math.log2(1.5) - 0.25, rel=1e-14)
    # Of 8 records 4 get the value, k of them in the first class: 1, 16, 36, 16, 1 of 70 ways.
    three = 0.75 * math.log2(1.5) - 0.25
    assert found.chance == pytest.approx((2 * 1.0 + 32 * three) / 70, rel=1e-14)
    assert found.corrected == found.value - found.chance
    assert found.miller_madow == pytest.approx(three + (2 + 2 - 4 - 1) / (16 * math.log(2)))
    assert (found.cells, found.rows_per_cell, found.maximum) == (4, 2.0, 1.0)
    assert found.share == found.value
    assert found.noisy


def test_the_exact_p_value() -> None:
    """The same table: 34 of 70 arrangements tell as much or more."""
    joint = ContingencyTable.from_codes([0, 0, 0, 0, 1, 1, 1, 1], [0, 0, 0, 1, 0, 1, 1, 1])
    found = shuffle_test(joint.counts, joint.information, independent(joint), 2999, 0).p
    assert found == pytest.approx(34 / 70, abs=0.03)


def test_as_json() -> None:
    found = information([0, 0, 1, 1] * 9, [0, 1, 2, 2] * 9, shuffles=9, seed=5)
    plain = found.to_dict()
    assert json.loads(json.dumps(plain)) == plain
    assert list(plain) == [
        "value", "corrected", "chance", "miller_madow", "p_value", "rows_per_cell", "interval",
        "maximum", "share", "standard_error", "shuffles", "noise",
    ]  # fmt: skip
    low, high = plain["interval"]
    half = 1.959963984540054 * found.standard_error
    assert (low + high) / 2 == pytest.approx(found.corrected)
    assert (high - low) / 2 == pytest.approx(half)
    assert found.level == 0.95
    with pytest.raises(dataclasses.FrozenInstanceError):
        found.value = 0.0  # type: ignore[misc]


def test_what_is_noise() -> None:
    def made(value: float, by_chance: float, records: int) -> InformationEstimate:
        return InformationEstimate(
            value=value,
            miller_madow=0.0,
            chance=by_chance,
            p_value=None,
            records=records,
            cells=10,
            maximum=1.0,
            standard_error=0.0,
        )

    assert made(1.0, 0.1, 49).noisy
    assert not made(1.0, 0.1, 50).noisy
    assert not made(1.0, 0.2, 50).noisy
    assert made(1.0, 0.21, 50).noisy
    assert made(-0.1, 0.3, 1000).noisy
    assert not made(0.0, 0.0, 1000).noisy


@pytest.mark.parametrize(
    ("x", "y", "value"),
    [([0], [0], 0.0), ([7, 7, 7], [1, 2, 3], 0.0), ([1, 2, 3, 4], [9, 9, 9, 9], 0.0)],
)
def test_nothing_to_tell(x: list[int], y: list[int], value: float) -> None:
    found = information(x, y, shuffles=4)
    assert (found.value, found.chance, found.standard_error, found.p_value) == (value, 0.0, 0.0, 1)
    assert found.miller_madow == 0.0
    same = information(x, x, shuffles=0)
    assert same.share in (None, 1.0)


def test_all_records_differ() -> None:
    """Two keys that tell all of each other, as any two keys do: nothing is learnt from it."""
    found = information(np.arange(64), np.arange(64)[::-1], shuffles=9)
    assert found.value == found.chance == found.maximum == 6.0
    assert (found.corrected, found.p_value) == (0.0, 1.0)


def test_codes_far_apart() -> None:
    x, y = np.array([10**15, 3, 10**15, 3, 8]), np.array([2**40, 2**40, 5, 5, 5])
    near = information([2, 0, 2, 0, 1], [1, 1, 0, 0, 0])
    assert information(x, y) == near


def test_many_cells_are_sorted() -> None:
    """Beyond the size of an array, against a dictionary of counts."""
    random = np.random.default_rng(0)
    x, y = random.integers(0, 3000, 2000), random.integers(0, 3000, 2000)
    joint = ContingencyTable.from_codes(x, y)
    seen: dict[tuple[int, int], int] = {}
    for pair in zip(x.tolist(), y.tolist(), strict=True):
        seen[pair] = seen.get(pair, 0) + 1
    cells = zip(*(codes.tolist() for codes in joint.codes), strict=True)
    assert dict(zip(cells, joint.counts.tolist(), strict=True)) == seen


@pytest.mark.parametrize("bad", [[], [0.5, 1.0], [[0, 1]], [-1, 0], [0, 1, 2]])
def test_what_is_refused(bad: list[Any]) -> None:
    with pytest.raises(UsageError):
        information(bad, [0, 1])
    with pytest.raises(UsageError):
        information_lost(bad, [0, 1], [0, 1])
    with pytest.raises(UsageError):
        information_lost([0, 1], bad, [0, 1])


def test_counts_of_other_records() -> None:
    x, c, y = [0, 1, 2, 3], [0, 0, 1, 1], [0, 1, 0, 1]
    with pytest.raises(UsageError, match="counted already"):
        information_lost(x, c, y, before=ContingencyTable.from_codes(c, y))
    with pytest.raises(UsageError, match="counted already"):
        information_lost(x, c, y, after=ContingencyTable.from_codes(c, [1, 1, 1, 1]))
    with pytest.raises(UsageError, match="at least one shuffle"):
        information(x, y, shuffles=-1)


@pytest.mark.parametrize("n", [10, 999, 1000, 50_000])
def test_sums_are_exact_in_any_order(n: int) -> None:
    random = np.random.default_rng(n)
    for terms in (
        random.random(n),
        random.normal(size=n) * 10.0 ** random.integers(-12, 12, n),
        np.zeros(n),
    ):
        due = math.fsum(terms.tolist())
        assert total(terms) == total(random.permutation(terms)) == pytest.approx(due, rel=1e-15)


# Chance.


def by_definition(a: list[int], b: list[int]) -> Any:
    """The sum over classes, values and counts, with many digits."""
    n, found = sum(a), mpmath.mpf(0)
    for x, y in itertools.product(set(a), set(b)):
        for k in range(max(1, x + y - n), min(x, y) + 1):
            ways = mpmath.binomial(x, k) * mpmath.binomial(n - x, y - k)
            told = mpmath.log(mpmath.mpf(k) * n / (x * y), 2)
            found += a.count(x) * b.count(y) * ways / mpmath.binomial(n, y) * k / n * told
    return found


def sizes(values: list[int]) -> Sizes:
    return Sizes.from_arrays(*np.unique(values, return_counts=True))


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ([1, 1], [1, 1]),
        ([5, 1, 1], [4, 3]),
        ([500, 500], [500, 500]),
        ([3000, 7000], [100, 9900]),
        ([1] * 50 + [9950], [10] * 30 + [9700]),
        ([1] * 400, [2] * 200),
        ([999_990, 10], [999_999, 1]),
    ],
)
def test_chance_has_all_digits(a: list[int], b: list[int]) -> None:
    with mpmath.workdps(40):
        due = by_definition(a, b)
        for compiled in compilers():
            found = chance(sizes(a), sizes(b), compiled=compiled)
            assert abs(found - due) <= 1e-13 * due


def compilers() -> list[bool]:
    """Plain, and compiled where numba is there."""
    from sievert.numerics.acceleration import compile_loops

    return [False] if compile_loops() is None else [False, True]


def test_chance_compiled_or_not() -> None:
    """Many different sizes, cells with fewer than one and with many records expected."""
    a = Sizes.from_arrays(np.r_[np.arange(1, 80), 5000, 20_000], np.r_[np.full(79, 3), 1, 1])
    b = Sizes.from_arrays([1, 400, 2000], [a.records - 400 * 9 - 2000 * 4, 9, 4])
    found = [chance(a, b, compiled=c, threads=t) for c in compilers() for t in (1, 2)]
    assert found == pytest.approx([found[0]] * len(found), rel=1e-13)
    assert len(set(found[:2])) == len(set(found[2:])) == 1 or len(found) == 2
    assert chance(b, a) == chance(a, b)


# Shuffles.


def plans() -> list[tuple[str, Any, ShuffleLayout | TableBlocks]]:
    """Counts and bits, and how to shuffle them."""
    random = np.random.default_rng(8)
    x, y = random.integers(0, 40, 900), random.integers(0, 6, 900)
    noise = np.where(random.random(900) < 0.3, random.integers(0, 10, 900), x // 4)
    joint = ContingencyTable.from_codes(x, y)
    found: list[tuple[str, Any, ShuffleLayout | TableBlocks]] = []
    found.append(("all", (joint.counts, joint.information), independent(joint)))
    for name, c in (("coarser", x // 4), ("noisy", noise)):
        trio = Trio.from_codes(x, c, y, joint, ContingencyTable.from_codes(c, y))
        found.append((name, (trio.counts, trio.hidden_information), trio.plan()))
    return found


@pytest.mark.parametrize("which", range(3))
def test_a_shuffle_is_the_same_compiled_and_on_any_threads(which: int) -> None:
    name, told, plan = plans()[which]
    assert isinstance(plan, ShuffleLayout), name
    found = {
        shuffle_test(*told, plan, 199, 4, compiled=c, threads=t)
        for c in compilers()
        for t in (1, 3)
    }
    assert len(found) == 1
    assert shuffle_test(*told, plan, 199, 5) not in found


@pytest.mark.parametrize(("values", "kind"), [(256, "u1"), (257, "u2"), (65_537, "u4")])
def test_codes_of_every_width(values: int, kind: str) -> None:
    """The same compiled or not, where codes take one byte, two, four."""
    y = np.arange(2 * values) % values
    joint = ContingencyTable.from_codes(np.arange(2 * values) // 2, y)
    plan = independent(joint)
    assert isinstance(plan, ShuffleLayout)
    assert plan.codes.dtype == np.dtype(kind)
    found = {
        shuffle_test(joint.counts, joint.information, plan, 3, 1, compiled=c) for c in compilers()
    }
    assert len(found) == 1


@pytest.mark.slow
def test_a_comparison_is_the_same_on_any_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """Targets one after the other, several at a time, and with the shuffles of each shared."""
    original = {
        "age": [str(20 + i * i % 31) for i in range(600)],
        "zip": [f"z{i * i % 7}" for i in range(600)],
        "disease": [f"d{i * i % 31 // 8}" for i in range(600)],
    }
    release = {**original, "age": [a[0] + "*" for a in original["age"]]}

    def found(threads: int) -> Any:
        compared = sievert.compare(original, release, ["age", "zip"], ["disease"], threads=threads)
        return compared.to_dict()

    due = found(1)
    assert found(3) == due
    monkeypatch.setattr("sievert.commands.compare.run.MOST_TOGETHER", 0)
    assert found(3) == due
    (told,) = due["releases"]
    kept = told["attribute_disclosure"]["disease"]["columns"]["zip"]
    assert kept == due["original"]["attribute_disclosure"]["disease"]["columns"]["zip"]


def test_random_numbers() -> None:
    """The published first numbers of SplitMix64 from 0, their upper halves; and no limit is met."""
    due = [0xE220A839, 0x6E789E6A, 0x06C45D18]
    assert _random_below(np.full(3, 1 << 32), np.uint64(0)).tolist() == due
    for room in (1, 2, 3, 10, 1000):
        found = np.bincount(_random_below(np.full(100_000, room), np.uint64(77)), minlength=room)
        assert len(found) == room
        assert ((found - 1e5 / room) ** 2 / (1e5 / room)).sum() < room + 5 * math.sqrt(2 * room)


def test_tables_are_drawn_as_they_should() -> None:
    """Every table of these sizes as often as there are orders of records that make it."""
    rows, columns, many = np.array([3, 2]), np.array([2, 2, 1]), 20_000
    found = _table(np.random.default_rng(2), rows, columns, many)
    assert (found.sum(axis=1) == columns).all()
    assert (found.sum(axis=2) == rows).all()
    seen: dict[tuple[int, ...], int] = {}
    for order in itertools.permutations([0, 0, 1, 1, 2]):
        table = tuple(np.bincount(order[:3], minlength=3).tolist())
        seen[table] = seen.get(table, 0) + 1
    for table, times in seen.items():
        share = times / math.factorial(5)
        spread = math.sqrt(share * (1 - share) / many)
        assert (found[:, 0] == table).all(axis=1).mean() == pytest.approx(share, abs=4 * spread)


def within(x: Any, c: Any, y: Any) -> float:
    """I(X;Y|X') by the definition: the mean over released values."""
    each = [
        (np.count_nonzero(c == v), ContingencyTable.from_codes(x[c == v], y[c == v]))
        for v in np.unique(c)
    ]
    return sum(n * joint.information for n, joint in each) / len(x)


def naive(x: Any, c: Any, y: Any, shuffles: int) -> tuple[float, float]:
    """Shuffle within each released value, count again: the p-value, the bits above the mean."""
    random = np.random.default_rng(1)
    due, found = within(x, c, y), []
    for _ in range(shuffles):
        z = y.copy()
        for value in np.unique(c):
            at = np.flatnonzero(c == value)
            z[at] = z[random.permutation(at)]
        found.append(within(x, c, z))
    hits = sum(bits >= due * (1 - 1e-12) for bits in found)
    return (1 + hits) / (shuffles + 1), due - float(np.mean(found))


@pytest.mark.parametrize("kind", ["one", "coarser", "noisy"])
@pytest.mark.slow
def test_drawn_and_shuffled_agree_with_the_definition(kind: str) -> None:
    """The secret hangs on the release alone, and a little on the original."""
    random = np.random.default_rng({"one": 1, "coarser": 2, "noisy": 7}[kind])
    n = 240
    x = random.integers(0, 6, n)
    c = {"one": np.zeros(n, dtype=int), "coarser": x // 2}.get(
        kind, np.where(random.random(n) < 0.3, random.integers(0, 3, n), x // 2)
    )
    y = (random.random(n) < 0.2 + 0.2 * c + 0.03 * (x % 2)).astype(int) + 2 * (c == 2)
    joint, after = ContingencyTable.from_codes(x, y), ContingencyTable.from_codes(c, y)
    due, above = naive(x, c, y, 600)
    assert 0.02 < due < 0.98
    found = {}
    for limit in (0, 10**9):
        trio = Trio.from_codes(x, c, y, joint, after)
        assert trio.hidden_information == pytest.approx(within(x, c, y), abs=1e-12)
        plan = trio.plan(per_cell=limit)
        found[type(plan)] = shuffle_test(trio.counts, trio.hidden_information, plan, 1999, 0)
    assert set(found) == {TableBlocks, ShuffleLayout}
    for told in found.values():
        assert told.p == pytest.approx(due, abs=0.08)
        assert told.above == pytest.approx(above, abs=0.004)
    assert found[TableBlocks].p == pytest.approx(found[ShuffleLayout].p, abs=0.05)
    assert found[TableBlocks].above == pytest.approx(found[ShuffleLayout].above, abs=0.002)


def test_the_excess_of_a_loss() -> None:
    """Nothing lost: near 0, recoded or noisy; something lost: near it, nearer than a difference."""
    random = np.random.default_rng(3)
    n = 4000
    x = random.integers(0, 400, n)
    y = np.where(random.random(n) < 0.7, x % 4, random.integers(0, 4, n))
    told = 4 * 0.25 * (0.775 * math.log2(0.775 / 0.25) + 3 * 0.075 * math.log2(0.075 / 0.25))
    for c, due in ((x % 8, 0.0), (x % 4, 0.0), (x // 100, told)):
        found = information_lost(x, c, y)
        assert found.excess == pytest.approx(due, abs=0.12)
        plain = information_lost(x, c, y, shuffles=0)
        assert abs(found.excess - due) < abs(plain.corrected - due) + 0.01
        assert found.reason is None and found.interval[0] >= 0
    noise = np.where(random.random(n) < 0.5, random.integers(0, 4, n), x % 4)
    found = information_lost(x % 4, noise, y)
    p = 0.775 * 0.625 + 0.225 / 3 * 0.375
    kept = p * math.log2(p / 0.25) + (1 - p) * math.log2((1 - p) / 3 / 0.25)
    assert found.excess == pytest.approx(told - kept, abs=0.05)
    same = information_lost(x, x, y)
    assert (same.value, same.excess, same.p_value) == (0, 0, 1)
    with pytest.raises(UsageError, match="at least one shuffle"):
        information_lost(x, x, y, shuffles=-1)
    assert information_lost(x, x % 8, y, shuffles=0).excess is None
    # A release that was not made from the original: it tells all, the original nothing.
    coin = random.integers(0, 2, n)
    found = information_lost(x % 4, coin, coin)
    assert found.excess == pytest.approx(-1, abs=0.02)
    assert "more than its original" in str(found.reason) and found.to_dict()["reason"]


def test_no_recoding_is_sure_to_lose_less_than_nothing(reference: Path) -> None:
    """Adult by nine columns, recoded: a loss of -0.42 bits (-0.43 to -0.42) was given once."""
    before = read_columns(reference / "data" / "adult" / "adult.csv", ";")
    after = read_columns(reference / "data" / "pairs" / "arx_adult" / "adult_qi8_k5_s5.csv.gz", ";")
    names = [c for c in before if c != "salary-class"]
    key = [f"{row}" for row in zip(*(before[c] for c in names), strict=True)]
    released = [f"{row}" for row in zip(*(after[c] for c in names), strict=True)]
    x, y = (np.unique(texts, return_inverse=True)[1] for texts in (key, before["salary-class"]))
    c = np.unique(released, return_inverse=True)[1]
    for shuffles in (0, 19):
        found = information_lost(x, c, y, shuffles=shuffles)
        low, high = found.interval
        assert high > 0 and (found.reason is not None or low <= found.corrected <= high)


def test_small_tables_are_drawn_and_others_shuffled() -> None:
    random = np.random.default_rng(0)
    x, y = random.integers(0, 5, 20_000), random.integers(0, 4, 20_000)
    assert isinstance(independent(ContingencyTable.from_codes(x, y)), TableBlocks)
    assert isinstance(
        independent(ContingencyTable.from_codes(np.arange(20_000) // 3, y)), ShuffleLayout
    )
    dependent = np.where(random.random(20_000) < 0.1, x % 4, y)
    assert information(x, dependent).p_value == 0.01


def test_many_shuffles_are_drawn_in_parts() -> None:
    joint = ContingencyTable.from_codes(np.arange(2000) % 2, np.arange(2000) % 3)
    plan = independent(joint)
    assert isinstance(plan, TableBlocks)
    found = [shuffle_test(joint.counts, joint.information, plan, 95, 0, drawn=n) for n in (60, 6)]
    assert [test.p for test in found] == [1.0, 1.0]


# What a release has lost.


def test_zero_loss_though_two_to_one() -> None:
    """Four values, the secret and the release their first bit: nothing is lost."""
    x = np.arange(400) % 4
    found = information_lost(x, x // 2, x // 2)
    assert (found.value, found.p_value, found.maximum) == (0.0, 1.0, 1.0)


def test_noise_may_seem_to_add() -> None:
    """A sample whose release tells more than its original: 1 of 8 records was changed by chance."""
    x, c = [0, 0, 0, 0, 1, 1, 1, 1], [0, 0, 0, 1, 1, 1, 1, 1]
    secret = [0, 0, 0, 1, 1, 1, 1, 1]
    found = information_lost(x, c, secret, shuffles=0)
    assert found.value == pytest.approx(-0.4056390622295665, rel=1e-12)
    assert found.maximum == pytest.approx(0.5487949406953985, rel=1e-12)
    assert found.noisy


def test_a_loss_is_a_difference() -> None:
    random = np.random.default_rng(3)
    x = random.integers(0, 30, 700)
    y = (x + random.integers(0, 20, 700)) // 12
    for c in (x // 5, np.where(random.random(700) < 0.4, x // 5, random.integers(0, 9, 700))):
        before, after = ContingencyTable.from_codes(x, y), ContingencyTable.from_codes(c, y)
        shuffled = information_lost(x, c, y, shuffles=19, before=before, after=after)
        assert shuffled == information_lost(x, c, y, shuffles=19)
        assert shuffled.corrected == pytest.approx(shuffled.excess, abs=1e-12)
        found = information_lost(x, c, y, shuffles=0, before=before, after=after)
        one, other = estimate(before, shuffles=0), estimate(after, shuffles=0)
        for name in ("value", "chance", "corrected", "miller_madow"):
            due = getattr(one, name) - getattr(other, name)
            assert getattr(found, name) == pytest.approx(due, rel=1e-12)
        assert found.rows_per_cell == min(one.rows_per_cell, other.rows_per_cell)
        assert found.maximum == one.value
        assert shuffled.p_value == 0.05 and shuffled.value == found.value


@pytest.mark.parametrize("noise", [0.0, 0.4])
def test_standard_error_is_the_jackknife(noise: float) -> None:
    """Every record left out in turn and all counted again."""
    random = np.random.default_rng(6)
    n = 45
    x = random.integers(0, 7, n) * 3
    y = (x // 9 + random.integers(0, 2, n)) * 2
    c = np.where(random.random(n) < noise, random.integers(0, 4, n), x // 6)

    def values(keep: Any) -> tuple[float, float]:
        before = ContingencyTable.from_codes(x[keep], y[keep]).information
        return before, before - ContingencyTable.from_codes(c[keep], y[keep]).information

    left = np.array([values(np.arange(n) != i) for i in range(n)])
    due = np.sqrt((n - 1) / n * ((left - left.mean(axis=0)) ** 2).sum(axis=0))
    assert information(x, y, shuffles=0).standard_error == pytest.approx(due[0], rel=1e-10)
    assert information_lost(x, c, y, shuffles=0).standard_error == pytest.approx(due[1], rel=1e-10)


# Intervals and bias, by simulation.


def simulated(
    kx: int, ky: int, n: int, alpha: float | None, runs: int
) -> tuple[float, list[InformationEstimate]]:
    """The true information of a table, and estimates from samples of it."""
    random = np.random.default_rng([kx, ky, n, runs])
    flat = np.full((kx, ky), 1.0 / ky)
    p = (flat if alpha is None else random.dirichlet(np.full(ky, alpha), kx)) / kx
    told = np.where(p > 0, p * np.log2(np.where(p > 0, p, 1) / (p.sum(axis=0) / kx)), 0.0)
    found = []
    for _ in range(runs):
        cells = random.choice(kx * ky, size=n, p=p.ravel())
        found.append(estimate(ContingencyTable.from_codes(cells // ky, cells % ky), shuffles=0))
    return float(told.sum()), found


@pytest.mark.parametrize(
    ("kx", "ky", "n", "alpha", "runs"),
    [
        (10, 10, 200, None, 300),
        (10, 10, 2000, None, 300),
        (50, 20, 1000, None, 150),
        (200, 14, 5692, None, 60),
        (10, 10, 200, 0.3, 300),
        (10, 10, 2000, 0.3, 300),
        (50, 20, 1000, 0.3, 150),
        (200, 14, 5692, 0.3, 60),
    ],
)
@pytest.mark.slow
def test_intervals_cover(kx: int, ky: int, n: int, alpha: float | None, runs: int) -> None:
    """The mean of the corrected estimate; and the truth lies between it and Miller and Madow's."""
    true, found = simulated(kx, ky, n, alpha, runs)
    corrected = np.array([e.corrected for e in found])
    mean = float(corrected.mean())
    covered = np.mean([e.interval[0] <= mean <= e.interval[1] for e in found])
    assert covered >= 0.93
    slack = 4 * corrected.std() / math.sqrt(runs)
    assert mean - slack <= true <= np.mean([e.miller_madow for e in found]) + slack
    assert np.mean([e.value for e in found]) > true
    if alpha is None:
        assert abs(mean) <= slack


@pytest.mark.parametrize("noise", [0.0, 0.3])
def test_intervals_of_a_loss_cover(noise: float) -> None:
    random = np.random.default_rng(31)
    p = random.dirichlet(np.full(8, 0.5), 30).ravel() / 30
    found = []
    for _ in range(250):
        cells = random.choice(240, size=1500, p=p)
        x, y = cells // 8, cells % 8
        c = np.where(random.random(1500) < noise, random.integers(0, 6, 1500), x // 5)
        found.append(information_lost(x, c, y, shuffles=0))
    mean = float(np.mean([e.corrected for e in found]))
    assert np.mean([e.interval[0] <= mean <= e.interval[1] for e in found]) >= 0.93


# Numbers.


@pytest.mark.slow
def test_ksg_gaussian() -> None:
    """rho = .8: .737 bits; at n = 3,000 .742 +- .025 was measured; 0 for independent columns."""
    found = [ksg(*gaussian(seed, 3000, 0.8)) for seed in range(12)]
    values = [value for value, reason in found if value is not None and reason is None]
    assert len(values) == 12
    assert np.mean(values) == pytest.approx(0.742, abs=3 * 0.025 / math.sqrt(12))
    assert np.std(values) == pytest.approx(0.025, rel=0.6)
    none = [ksg(*gaussian(seed, 3000, 0.0))[0] or 0.0 for seed in range(12)]
    assert np.mean(none) == pytest.approx(0.0, abs=0.02)


def brute_ksg(x: Any, y: Any, k: int) -> float:
    """The definition, all pairs of points."""
    dx, dy = np.abs(x[:, None] - x), np.abs(y[:, None] - y)
    far = np.maximum(dx, dy)
    np.fill_diagonal(far, np.inf)
    radius = np.sort(far, axis=1)[:, k - 1][:, None]
    nx = np.maximum((dx < radius).sum(axis=1) - 1, 0)
    ny = np.maximum((dy < radius).sum(axis=1) - 1, 0)
    psi = mpmath.digamma
    terms = [psi(int(a) + 1) + psi(int(b) + 1) for a, b in zip(nx, ny, strict=True)]
    return float((psi(k) + psi(len(x)) - sum(terms) / len(x)) / mpmath.log(2))


def scores(values: Any) -> Any:
    from statistics import NormalDist

    rank = [(2 * (values < v).sum() + (values == v).sum()) / (2 * len(values)) for v in values]
    return np.array([NormalDist().inv_cdf(float(r)) for r in rank])


@pytest.mark.parametrize("k", [1, 3, 6])
def test_ksg_by_definition(k: int) -> None:
    """Also with a few ties, compiled and not, in any order and after any rising function."""
    x, y = gaussian(k, 400, 0.6)
    x[:8], y[:5] = x[8:16], y[8:13]
    due = brute_ksg(scores(x), scores(y), k)
    order = np.random.default_rng(0).permutation(400)
    for compiled in compilers():
        found, reason = ksg(x, y, k, compiled=compiled)
        assert reason is None
        assert found == pytest.approx(due, rel=1e-11)
        assert ksg(x[order], y[order], k, compiled=compiled) == (found, None)
        assert ksg(np.exp(3 * x), y * 1e300, k, compiled=compiled) == (found, None)


def test_ksg_refuses() -> None:
    x, y = gaussian(0, 1000, 0.5)
    assert ksg(x, np.round(y, 1)) == (None, "more than 5% of the values are tied")
    assert ksg(x[:299], y[:299]) == (None, "fewer than 300 values")
    assert ksg(np.where(x > 2, np.nan, x), y) == (None, "some values are missing or infinite")
    with pytest.raises(UsageError):
        ksg(x, y[:-1])
    with pytest.raises(UsageError):
        ksg(x, y, 0)
    assert ksg(x, y, 1000) == (None, "no more than 1000 values")


def test_truly_continuous() -> None:
    x, _ = gaussian(0, 1000, 0.5)
    assert is_continuous(x) == (True, None)
    x[:50] = 7.0
    assert is_continuous(x) == (True, None)
    x[50] = 7.0
    assert is_continuous(x) == (False, "more than 5% of the values are tied")
    assert is_continuous(np.arange(30_000) % 90)[0] is False


def test_bins_of_a_gaussian() -> None:
    """10 bins, n = 3,000: .681 and, after Miller and Madow, .664."""
    found = []
    for seed in range(20):
        x, y = gaussian(seed, 3000, 0.8)
        found.append(
            ContingencyTable.from_codes(
                bin_numbers(x, quantile_bins(x)), bin_numbers(y, quantile_bins(y))
            )
        )
    assert np.mean([j.information for j in found]) == pytest.approx(0.681, abs=0.01)
    assert np.mean([j.miller_madow for j in found]) == pytest.approx(0.664, abs=0.01)


def test_bins() -> None:
    values = np.arange(1000.0)
    edges = quantile_bins(values)
    assert edges.tolist() == [100.0 * i for i in range(1, 10)]
    assert np.bincount(bin_numbers(values, edges)).tolist() == [100] * 10
    assert len(quantile_bins(np.arange(999.0))) == 8
    assert len(quantile_bins(np.arange(26.0))) == 1
    assert len(quantile_bins(np.arange(27.0))) == 2
    assert len(quantile_bins(values, 4)) == 3
    assert quantile_bins([]).tolist() == quantile_bins([5.0] * 99).tolist() == []
    assert quantile_bins([math.nan] * 99).tolist() == []


def test_bins_never_part_ties_nor_stay_empty() -> None:
    values = np.array([0.0] * 70 + [1.0] * 10 + [2.0] * 15 + [math.nan] * 5)
    edges = quantile_bins(values, 10)
    assert edges.tolist() == [1.0, 2.0]
    assert np.bincount(bin_numbers(values, edges)).tolist() == [70, 10, 15, 5]
    release = np.array([-3.0, 0.9, 1.0, math.inf, math.nan])
    assert bin_numbers(release, edges).tolist() == [0, 0, 1, 2, 3]


def test_the_page() -> None:
    failed, run = doctest.testfile(str(PAGE), module_relative=False)
    assert (failed, run > 10) == (0, True)
