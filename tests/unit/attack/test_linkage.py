"""Linkage, against fractions and every pair, and the compiled search against the plain one."""

from __future__ import annotations

import doctest
import json
import math
from collections.abc import Callable
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import permutations
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from helpers.effort import tried

from sievert.commands.attack.linkage import Linkage, distances, link, record_linkage, search, wilson
from sievert.commands.attack.linkage.space import build_space
from sievert.errors import ExhaustedError, InputError, UsageError

Table = list[np.ndarray]
ROOT = Path(__file__).parents[3]
POOLS: dict[str, Callable[[Random], float]] = {
    "few": lambda r: r.randint(0, 4),
    "tenths": lambda r: round(r.uniform(-1, 1), 1),
    "money": lambda r: round(r.uniform(0, 10**6), 2),
    "real": lambda r: r.random(),
    "far": lambda r: r.choice((1e-30, 1e30, 0.0, -1e30, 3e-9)),
    "near one": lambda r: 1.0 + r.randint(0, 3) * 2.0**-52,
    "endless": lambda r: r.choice((1e300, -1e-300, 1e-300, 7.0)),
    "large": lambda r: float(2**60 + 1024 * r.randint(0, 4)),
    "same": lambda r: 7.5,
    "same large": lambda r: 1e30,
}


def exact(x: float) -> Fraction | None:
    """A number as it is printed."""
    return None if math.isnan(x) else Fraction(repr(float(x)))


def root(x: Fraction) -> Fraction:
    with localcontext(prec=2000):
        return Fraction((Decimal(x.numerator) / Decimal(x.denominator)).sqrt())


def oracle(released: Table, original: Table, distance: str, scale: str) -> list[list[Fraction]]:
    """Every distance, by the definition."""
    found = [[Fraction(0)] * len(original[0]) for _ in released[0]]
    power = 2 if distance == "l2" else 1
    for one, other in zip(released, original, strict=True):
        xs, ys = one.tolist(), other.tolist()
        numeric = one.dtype.kind == "f"
        if distance != "gower" and not numeric:
            continue
        if numeric:
            xs, ys = [exact(x) for x in xs], [exact(y) for y in ys]
            there = [v for v in xs + ys if v is not None]
            span = max(there) - min(there) if there else Fraction(0)
            known = [y for y in ys if y is not None]
            divisor = Fraction(1)
            if distance == "gower":
                divisor = span
            elif scale == "sd":
                mean = sum(known, Fraction(0)) / max(1, len(known))
                squares = sum(((y - mean) ** 2 for y in known), Fraction(0))
                variance = squares / max(1, len(known) - 1)
                if not variance:
                    continue
                divisor = variance if distance == "l2" else root(variance)
        for i, x in enumerate(xs):
            for j, y in enumerate(ys):
                if not numeric:
                    found[i][j] += x != y
                elif (x is None) != (y is None):
                    found[i][j] += 1 if distance == "gower" else span**power / divisor
                elif x is not None and y is not None and divisor:
                    found[i][j] += abs(x - y) ** power / divisor
    if distance == "gower":
        return [[d / len(released) for d in row] for row in found]
    return found


def nearest(rows: list[list[Fraction]], allowed: list[list[bool]]) -> list[set[int]]:
    """The nearest originals of each record; roots are known to 2,000 digits."""
    found = []
    for row, may in zip(rows, allowed, strict=True):
        least = min((d for d, m in zip(row, may, strict=True) if m), default=Fraction(0))
        near = least * (1 + Fraction(1, 10**1700))
        found.append({j for j, d in enumerate(row) if may[j] and d <= near})
    return found


def assigned(rows: list[list[Fraction]]) -> tuple[list[set[int]], list[int]]:
    """What a record may have where the total is least, and in how many places, left-overs too."""
    n, m = len(rows), len(rows[0])
    size = max(n, m)

    def cost(i: int, j: int) -> Fraction:
        return rows[i][j] if i < n and j < m else Fraction(0)

    totals = {p: sum(cost(i, j) for i, j in enumerate(p)) for p in permutations(range(size))}
    least = min(totals.values()) * (1 + Fraction(1, 10**1700))
    places = [{p[i] for p, total in totals.items() if total <= least} for i in range(n)]
    return [{j for j in p if j < m} for p in places], [len(p) for p in places]


def tables(random: Random, *, rows: int, pools: list[str] | None = None) -> tuple[Table, Table]:
    """A release and an original of a few columns, half of the release copied."""
    n, m = random.randint(1, rows), random.randint(1, rows)
    released: Table = []
    original: Table = []
    source = [random.randrange(m) for _ in range(n)]
    for _ in range(random.randint(1, 4)):
        missing = random.choice((0.0, 0.0, 0.3))
        if random.random() < 0.4:
            codes = random.choice((2, 5, 200))
            ys = [0 if random.random() < missing else random.randint(1, codes) for _ in range(m)]
            xs = [ys[s] if random.random() < 0.7 else random.randint(0, codes + 1) for s in source]
            released.append(np.array(xs, dtype=np.int32))
            original.append(np.array(ys, dtype=np.int64))
            continue
        make = POOLS[random.choice(pools or list(POOLS))]
        zs = [math.nan if random.random() < missing else float(make(random)) for _ in range(m)]
        ws = [zs[s] if random.random() < 0.5 else float(make(random)) for s in source]
        released.append(np.array(ws))
        original.append(np.array(zs))
    return released, original


def both(*arguments: Any, **options: Any) -> Linkage:
    """The plain result, after it was compared with the compiled one."""
    plain = link(*arguments, **options, compiled=False)
    fast = link(*arguments, **options, compiled=True)
    assert fast.to_dict() == plain.to_dict()
    for name in ("nearest", "found", "credit"):
        assert np.array_equal(getattr(fast, name), getattr(plain, name)), name
    return plain


@pytest.fixture
def small_leaves(monkeypatch: pytest.MonkeyPatch) -> None:
    """Trees with several levels for a few originals."""
    monkeypatch.setattr(search, "LEAF", 2)
    monkeypatch.setattr(search, "WIDE_LEAF", 2)


@pytest.mark.usefixtures("small_leaves")
@pytest.mark.parametrize("distance", ["gower", "l1", "l2"])
@pytest.mark.parametrize("seed", range(tried(10, soak=200)))
@pytest.mark.slow
def test_nearest_is_exact(distance: Any, seed: int) -> None:
    """Ties are ties: of decimals, of missing values, across columns, within blocks."""
    random = Random(f"{distance}{seed}")
    for _ in range(5):
        released, original = tables(random, rows=14)
        if all(c.dtype.kind != "f" for c in original):
            released.append(np.zeros(len(released[0])))
            original.append(np.ones(len(original[0])))
        n, m = len(released[0]), len(original[0])
        scale = random.choice(("sd", "none"))
        blocks = random.choice((1, 1, 3))
        mine = np.array([random.randrange(blocks) for _ in range(n)])
        theirs = np.array([random.randrange(blocks) for _ in range(m)])
        origin = np.array([random.randrange(-1, m) for _ in range(n)])
        options = {"distance": distance, "scale": scale, "block": ([mine], [theirs])}
        found = both(released, original, origin, **options)
        rows = oracle(released, original, distance, scale)
        allowed = [[bool(a == b) for b in theirs] for a in mine]
        due = nearest(rows, allowed)
        assert found.nearest.tolist() == [len(d) for d in due]
        assert found.found.tolist() == [int(o) in d for o, d in zip(origin, due, strict=True)]
        credit = [Fraction(int(int(o) in d), len(d) or 1) for o, d in zip(origin, due, strict=True)]
        assert found.correct_linkage == pytest.approx(float(sum(credit) / n), rel=1e-15)
        assert found.ties == sum(len(d) > 1 for d in due)
        chance = [
            Fraction(int(o >= 0 and may[o]), sum(may) or 1)
            for o, may in zip(origin, allowed, strict=True)
        ]
        assert found.baseline == pytest.approx(float(sum(chance) / n), rel=1e-15)


@pytest.mark.parametrize("distance", ["gower", "l1", "l2"])
@pytest.mark.parametrize("seed", range(tried(12, soak=25)))
def test_one_to_one_is_the_least_total(distance: Any, seed: int) -> None:
    """Against all permutations; a record with a choice has all that it may get."""
    random = Random(f"{distance}{seed} one")
    pools = ["few", "tenths", "money", "same"]
    released, original = tables(random, rows=5, pools=pools)
    released.append(np.array([float(random.randint(0, 2)) for _ in released[0]]))
    original.append(np.array([float(random.randint(0, 2)) for _ in original[0]]))
    origin = np.array([random.randrange(-1, len(original[0])) for _ in released[0]])
    found = both(released, original, origin, distance=distance, linkage="one-to-one")
    due, places = assigned(oracle(released, original, distance, "sd"))
    assert found.nearest.tolist() == [len(d) for d in due]
    hits = [int(o) in d for o, d in zip(origin, due, strict=True)]
    assert found.found.tolist() == hits
    assert found.credit.tolist() == [h / p for h, p in zip(hits, places, strict=True)]


@pytest.mark.parametrize("distance", ["gower", "l1", "l2"])
@pytest.mark.parametrize("scale", ["sd", "none"])
def test_distances(distance: Any, scale: Any) -> None:
    random = Random(7)
    for _ in range(20):
        released, original = tables(random, rows=8, pools=[p for p in POOLS if p != "endless"])
        released.append(np.array([random.random() for _ in released[0]]))
        original.append(np.array([random.random() for _ in original[0]]))
        due = np.array(oracle(released, original, distance, scale), dtype=float)
        found = distances(released, original, distance=distance, scale=scale)
        assert found == pytest.approx(due, rel=1e-12, abs=1e-13 * due.max())


def test_larger_tables_with_every_kind_of_column() -> None:
    """Deep trees, more codes than a mask has bits, long decimals, gaps: against all pairs."""
    rng = np.random.default_rng(5)
    n = 1500
    numbers = [
        rng.integers(0, 90, n).astype(float),
        rng.normal(size=n),
        rng.normal(size=n).round(2),
    ]
    codes = [rng.integers(0, 4, n), rng.integers(0, 300, n)]
    for column in numbers:
        column[rng.random(n) < 0.05] = np.nan
    noisy = [x + rng.normal(scale=0.2, size=n).round(1) for x in numbers]
    swapped = [np.where(rng.random(n) < 0.2, rng.permutation(k), k) for k in codes]
    released, original = [*noisy, *swapped], [*numbers, *codes]
    every = [*range(5)]
    for distance, used in (("gower", every), ("l1", every), ("l2", every), ("gower", [3, 4])):
        mine, theirs = [released[i] for i in used], [original[i] for i in used]
        found = both(mine, theirs, np.arange(n), distance=distance)
        far = distances(mine, theirs, distance=distance)
        least = far.min(axis=1, keepdims=True)
        near = far <= least + 1e-12 * far.max()
        assert np.array_equal(found.nearest, near.sum(axis=1))
        assert np.array_equal(found.found, np.diag(near))


def wide_tables(random: Random, rows: int) -> tuple[Table, Table]:
    """18 columns of every kind with few values, so that many distances tie; a third is missing."""
    rng = np.random.default_rng(random.randrange(2**32))
    original: Table = []
    for j in range(18):
        if j % 3 == 0:
            original.append(rng.integers(0 if j % 2 else 1, 3, rows))
            continue
        column = rng.integers(0, j, rows) / (10.0 if j % 2 else 1.0)
        column[rng.random(rows) < 0.3] = math.nan
        original.append(column + (rng.random(rows) if j == 17 and random.random() < 0.5 else 0.0))
    changed = [np.where(rng.random(rows) < 0.5, rng.permutation(c), c) for c in original]
    return changed, original


@pytest.mark.parametrize("distance", ["gower", "l1", "l2"])
@pytest.mark.parametrize("leaf", [2, 40, 512])
def test_wide_tables_against_every_pair(
    distance: Any, leaf: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever the size of the leaves that are compared side by side."""
    monkeypatch.setattr(search, "LEAF", leaf)
    random = Random(f"{distance}{leaf}")
    for _ in range(tried(1, soak=3)):
        released, original = wide_tables(random, 60)
        origin = np.array([random.randrange(-1, 60) for _ in range(60)])
        result = both(released, original, origin, distance=distance, scale="none")
        rows = oracle(released, original, distance, "none")
        due = nearest(rows, [[True] * 60 for _ in range(60)])
        assert result.nearest.tolist() == [len(d) for d in due]
        assert result.found.tolist() == [int(o) in d for o, d in zip(origin, due, strict=True)]


@pytest.mark.parametrize("distance", ["gower", "l1", "l2"])
def test_sums_in_single_precision_err_less_than_their_margin(distance: Any) -> None:
    """And so few pairs have to be compared in doubles: hardly more than are nearest."""
    random = Random(distance)
    for pools in (None, ["money", "real"]):
        for _ in range(20):
            released, original = tables(random, rows=40, pools=pools)
            released.append(np.array([random.random() for _ in released[0]]))
            original.append(np.array([random.random() for _ in original[0]]))
            space, mine, theirs = build_space(released, original, distance, "sd")
            columns, caps, order = search.draw_sketch(space, theirs)
            shares = space.shares(mine)[:, order]
            sums = np.zeros((len(shares), columns.shape[1]), dtype=np.float32)
            for own, column, cap in zip(shares.T, columns, caps, strict=True):
                sums += np.minimum(space.raise_gap(np.abs(own[:, None] - column)), cap)
            far = space.table(mine, theirs) / space.whole
            assert np.abs(sums - far).max() < space.margin / 4
    rng = np.random.default_rng(1)
    wide = [rng.random(500) for _ in range(18)]
    space, mine, theirs = build_space([c[:100] for c in wide], wide, distance, "sd")
    far = space.table(mine, theirs) / space.whole
    assert np.count_nonzero(far <= far.min(axis=1, keepdims=True) + 2 * space.margin) == 100


def test_printed_decimals_tie() -> None:
    """0.3 - 0.2 and 0.2 - 0.1 differ as doubles."""
    found = both([np.array([0.2])], [np.array([0.1, 0.3])], np.array([0]), distance="l1")
    assert 0.3 - 0.2 != 0.2 - 0.1
    assert (found.nearest.tolist(), found.credit.tolist()) == ([2], [0.5])


@pytest.mark.usefixtures("small_leaves")
def test_ties_that_doubles_miss() -> None:
    """Parts of one sum, beside a number so long that doubles cannot hold the distances."""
    parts = np.arange(1, 300)
    original = [np.append(parts / 1000, 5 + 2**-50), np.append((300 - parts) / 1000, 5.0)]
    found = both([np.zeros(1)] * 2, original, np.array([7]), distance="l1", scale="none")
    assert len(set((original[0] + original[1])[:-1].tolist())) > 1
    assert (found.nearest.tolist(), found.found.tolist()) == ([299], [True])
    twos = np.append(np.random.default_rng(0).permutation(298) // 2, 149)
    blocks = [np.arange(150)], [np.append(twos, 150)]
    nothing = [np.zeros(150)] * 2
    found = both(nothing, original, np.arange(150), distance="l1", scale="none", block=blocks)
    assert found.nearest.tolist() == [2] * 149 + [1]


def test_columns_tie_with_each_other() -> None:
    """A third of a range of 3 is three ninths of a range of 9; a whole range is a mismatch."""
    original = [np.array([0.0, 1.0, 3.0]), np.array([3.0, 0.0, 9.0])]
    found = both([np.zeros(1), np.zeros(1)], original, np.array([1]))
    assert found.nearest.tolist() == [2]
    far = [np.array([7.0, 0.0]), np.array([1, 2])]
    found = both([np.zeros(1), np.array([1])], far, np.array([0]))
    assert found.nearest.tolist() == [2]


def test_equal_deviations_tie() -> None:
    """Columns whose deviations have a rational ratio, beside one that has none to them."""
    original = [np.array([0.0, 1.0, 5.0]), np.array([1.0, 0.0, 5.0]), np.array([0.0, 0.0, 1.0])]
    found = both([np.zeros(1)] * 3, original, np.array([0]), distance="l1")
    assert found.nearest.tolist() == [2]
    tenfold = [original[0], original[1] * 10, original[2]]
    found = both([np.zeros(1)] * 3, tenfold, np.array([0]), distance="l1")
    assert found.nearest.tolist() == [2]
    thrice = [np.array([1.0, 0.0, 2.0, 4.0]), np.array([0.0, 3.0, 4.0, 12.0])]
    found = both([np.zeros(1)] * 2, thrice, np.array([0]), distance="l1")
    assert found.nearest.tolist() == [2]
    halves = [np.array([4.0, 8.0, 4.0, 8.0, 9.0]), np.array([5.0, 1.0, 5.0, 1.0, 1.0])]
    found = both([np.array([6.0]), np.array([3.0])], halves, np.array([0]), distance="l1")
    assert found.nearest.tolist() == [4]


def test_codes_of_any_size() -> None:
    """Unsigned beside signed ones, too long for a double."""
    mine, theirs = np.array([2**63 + 1], dtype=np.uint64), np.array([2**62, 1])
    assert both([mine], [theirs], np.array([0])).nearest.tolist() == [2]
    theirs = np.array([2**62, 2**62 + 1])
    mine = np.array([2**62 + 1], dtype=np.uint64)
    found = both([mine], [theirs], np.array([1], dtype=np.uint8), block=([mine], [theirs]))
    assert found.credit.tolist() == [1.0]


def test_the_context_of_decimals_does_not_matter() -> None:
    columns = [np.array([1 / 3, 2 / 3 + 1e-16])], [np.array([2 / 3, 1 / 3 - 1e-16])]
    due = link(*columns, np.array([1, 0])).to_dict()
    with localcontext(prec=3):
        assert link(*columns, np.array([1, 0])).to_dict() == due


def test_missing_values() -> None:
    """Missing and missing are alike; missing and a value are as far apart as values can be."""
    gap = math.nan
    far = distances(
        [np.array([gap, 1.0]), np.array([0, 0])], [np.array([gap, 3.0]), np.array([0, 5])]
    )
    assert far.tolist() == [[0.0, 1.0], [0.5, 1.0]]
    far = distances(
        [np.array([gap, 1.0])], [np.array([gap, 3.0, 4.0])], distance="l2", scale="none"
    )
    assert far.tolist() == [[0.0, 9.0, 9.0], [9.0, 4.0, 9.0]]
    empty = [np.array([gap, gap]), np.array([1.0, 2.0])]
    assert both(empty, empty, np.arange(2)).correct_linkage == 1.0


def test_records_without_origin_are_not_linked() -> None:
    column = [np.array([1.0, 2.0])]
    found = both(column, column, np.array([0, -1]))
    assert found.found.tolist() == [True, False]
    assert (found.correct_linkage, found.spruill_confidentiality) == (0.5, 0.5)
    assert found.baseline == 0.25


def test_an_empty_block_links_nobody() -> None:
    column = [np.array([1.0, 2.0])]
    for how in ("nearest", "one-to-one"):
        block = ([np.array([1, 9])], [np.array([1, 1])])
        found = both(column, column, np.arange(2), block=block, linkage=how)
        assert found.nearest.tolist() == [1, 0]
        assert found.correct_linkage == 0.5
        assert found.baseline == 0.25


def test_a_fully_suppressed_release_is_chance() -> None:
    """Whatever the order of the rows: the assignment that happens to be true does not count."""
    original = [np.arange(1, 8), np.arange(7.0)]
    released = [np.zeros(7, dtype=int), np.full(7, math.nan)]
    for how in ("nearest", "one-to-one"):
        found = both(released, original, np.arange(7), linkage=how)
        assert found.correct_linkage == pytest.approx(1 / 7)
        assert found.baseline == pytest.approx(1 / 7)
        assert found.ties == 7


@pytest.mark.parametrize("how", ["nearest", "one-to-one"])
def test_the_order_of_records_does_not_matter(how: Any) -> None:
    random, rng = Random(3), np.random.default_rng(3)
    for _ in range(20):
        released, original = tables(random, rows=30)
        n, m = len(released[0]), len(original[0])
        origin = rng.integers(-1, m, n)
        one = both(released, original, origin, linkage=how)
        mine, theirs = rng.permutation(n), rng.permutation(m)
        moved = np.where(origin[mine] >= 0, np.argsort(theirs)[origin[mine]], -1)
        other = both([c[mine] for c in released], [c[theirs] for c in original], moved, linkage=how)
        assert other.to_dict() == one.to_dict()
        assert np.array_equal(other.credit, one.credit[mine])


def test_wilson() -> None:
    """The ends solve |share - p| = z·sqrt(p(1 - p)/n)."""
    for successes, trials, level in ((23, 100, 0.95), (1.5, 7, 0.9), (999, 1000, 0.99)):
        z = {0.95: 1.959963984540054, 0.9: 1.6448536269514722, 0.99: 2.5758293035489004}[level]
        for end in wilson(successes, trials, level):
            assert abs(successes / trials - end) == pytest.approx(
                z * (end * (1 - end) / trials) ** 0.5
            )
    assert wilson(0, 10)[0] == 0.0
    assert wilson(10, 10)[1] == 1.0


def test_to_dict_is_plain_json_without_cells() -> None:
    column = [np.array([123456.5, 2.0])]
    text = json.dumps(link(column, column, np.arange(2)).to_dict())
    assert "123456" not in text
    assert set(json.loads(text)) >= {"correct_linkage", "spruill_confidentiality", "baseline"}


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"distance": "cosine"}, UsageError, "cosine"),
        ({"linkage": "best"}, UsageError, "best"),
        ({"scale": "range"}, UsageError, "range"),
        ({"level": 1.0}, UsageError, "level"),
        ({"origin": np.array([0])}, UsageError, "one row number"),
        ({"origin": np.array([0.0, 1.0])}, UsageError, "one row number"),
        ({"origin": np.array([0, 2])}, UsageError, "2 original records"),
        ({"origin": np.array([0, -2])}, UsageError, "not a row"),
        ({"released": []}, UsageError, "same columns"),
        ({"released": [np.ones(2), np.ones(2)]}, UsageError, "same columns"),
        ({"released": [np.array([1, 2])]}, UsageError, "column 1"),
        ({"released": [np.array(["a", "b"])]}, UsageError, "column 1"),
        ({"released": [np.array([1.0, np.inf])]}, InputError, "column 1"),
        ({"released": [np.zeros(0)], "origin": np.zeros(0, int)}, InputError, "release"),
        ({"original": [np.zeros(0)], "origin": np.array([-1, -1])}, InputError, "original"),
        ({"block": ([np.ones(2)], [np.ones(2)])}, UsageError, "block"),
        ({"block": ([np.ones(1, int)], [np.ones(2, int)])}, UsageError, "block"),
    ],
    ids=str,
)
def test_what_makes_no_sense(change: dict[str, Any], error: type[Exception], words: str) -> None:
    given: dict[str, Any] = {
        "released": [np.array([1.0, 2.0])],
        "original": [np.array([1.0, 2.0])],
        "origin": np.arange(2),
    }
    given |= change
    with pytest.raises(error, match=words):
        link(given.pop("released"), given.pop("original"), given.pop("origin"), **given)


def test_categories_alone_have_no_sum_of_differences() -> None:
    with pytest.raises(UsageError, match="numbers"):
        link([np.array([1])], [np.array([1])], np.array([0]), distance="l1")


def test_too_many_for_one_to_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """The limit is of a block."""
    monkeypatch.setattr(record_linkage, "MOST_ASSIGNED", 3)
    column = [np.arange(4.0)]
    with pytest.raises(ExhaustedError, match="at most 3 records"):
        link(column, column, np.arange(4), linkage="one-to-one")
    codes = [np.array([1, 1, 2, 2])]
    found = link(column, column, np.arange(4), linkage="one-to-one", block=(codes, codes))
    assert found.correct_linkage == 1.0


def test_without_numba(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "compile_loops", lambda *functions: None)
    column = [np.arange(4.0)]
    assert link(column, column, np.arange(4), compiled=True).correct_linkage == 1.0


def test_the_page_runs() -> None:
    failed, run = doctest.testfile(str(ROOT / "docs" / "linkage.md"), module_relative=False)
    assert failed == 0
    assert run > 0
