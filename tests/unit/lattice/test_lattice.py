"""Every subset of columns, rolled up, is what counting the records gives."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from fractions import Fraction
from random import Random
from typing import Any

import mpmath
import numpy as np
import pytest
from helpers.effort import tried

from sievert.counts.cube import Cube, histogram
from sievert.lattice import Lattice, SubsetSummary
from sievert.session import open_source


def random_table(random: Random) -> dict[str, list[Any]]:
    """A few columns of text, some values missing, with a secret that may or may not depend."""
    records, columns = random.randint(1, 120), random.randint(1, 5)
    found: dict[str, list[Any]] = {}
    for c in range(columns):
        spread = random.choice((1, 2, 3, 9, 60))
        found[f"q{c}"] = [
            None if random.random() < 0.05 else f"v{random.randrange(spread)}"
            for _ in range(records)
        ]
    kind = random.choice(("free", "own", "wide"))
    values = {"free": 3, "own": 4, "wide": 150}[kind]
    found["s"] = [
        found["q0"][i]
        if kind == "own" and random.random() < 0.7
        else f"s{random.randrange(values)}"
        for i in range(records)
    ]
    return found


def check(
    rolled: SubsetSummary, table: dict[str, list[Any]], secret: str | None, prior: float
) -> None:
    """Against a count of the records, and entropies of many digits."""
    rows = list(zip(*(table[c] for c in rolled.columns), strict=True))
    records, sizes = len(rows), Counter(rows)
    assert dict(zip(rolled.sizes.sizes, rolled.sizes.times, strict=True)) == Counter(sizes.values())
    if secret is None:
        return
    cells = Counter(zip(rows, table[secret], strict=True))
    classes: dict[Any, list[int]] = {}
    for (q, _), n in cells.items():
        classes.setdefault(q, []).append(n)
    left = {
        q: sum(n * mpmath.log(mpmath.mpf(sizes[q]) / n, 2) for n in held)
        for q, held in classes.items()
    }
    assert rolled.left == pytest.approx(float(sum(left.values())), rel=1e-13, abs=1e-300)
    assert rolled.least == pytest.approx(float(min(left.values())), rel=1e-12, abs=1e-300)
    assert rolled.fewest == min(len(held) for held in classes.values())
    best = max(Fraction(max(held), sizes[q]) for q, held in classes.items())
    assert Fraction(*rolled.most) == best
    totals = Counter(table[secret])
    known = sum(
        mpmath.mpf(n) / records
        * mpmath.log(mpmath.mpf(n) * records / (sizes[q] * totals[s]), 2)
        for (q, s), n in cells.items()
    )  # fmt: skip
    information = prior - rolled.left / records
    if rolled.dependence is not None:
        information = rolled.dependence
        exact = all(n * records == sizes[q] * totals[s] for (q, s), n in cells.items())
        assert (information == 0) == (exact and len(cells) == len(sizes) * len(totals))
    assert information == pytest.approx(float(known), rel=1e-11, abs=1e-14)


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("seed", range(tried(12, soak=200)))
@pytest.mark.slow
def test_random_tables(seed: int, compiled: bool) -> None:
    if compiled:
        pytest.importorskip("numba")
    with mpmath.workdps(40):
        table = random_table(Random(seed))
        quasi = [c for c in table if c != "s"]
        with open_source(table) as (_, questions):
            for secret in (None, "s"):
                cube = questions.cube([*quasi, *([secret] if secret else [])])
                lattice = Lattice(cube, secret, compiled=compiled)
                found = lattice.all()
                assert set(found) == {
                    s for n in range(1, len(quasi) + 1) for s in itertools.combinations(quasi, n)
                }
                for columns, rolled in found.items():
                    assert rolled.columns == columns
                    check(rolled, table, secret, lattice.prior)
                for rolled in lattice.up_to(2):
                    check(rolled, table, secret, lattice.prior)


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.slow
def test_keys_of_more_than_64_bits(compiled: bool) -> None:
    if compiled:
        pytest.importorskip("numba")
    random = Random(3)
    table = {f"q{c}": [f"v{random.randrange(3000)}" for _ in range(4000)] for c in range(7)}
    table["s"] = [random.choice("abc") for _ in range(4000)]
    with open_source(table) as (_, questions):
        cube = questions.cube(list(table))
    assert cube.bits > 64
    lattice = Lattice(cube, "s", compiled=compiled)
    with mpmath.workdps(30):
        for rolled in lattice.some([("q0",), ("q1", "q5"), tuple(table)[:-1]]):
            check(rolled, table, "s", lattice.prior)
    assert len(lattice.all()) == 127


def test_large_counts_keep_their_digits() -> None:
    """Classes of a billion with a few exceptions: nothing is lost to a difference."""
    pytest.importorskip("numba")
    n = 10**9
    codes = (np.array([1, 1, 2, 2], dtype=np.uint32), np.array([1, 2, 1, 2], dtype=np.uint32))
    cube = Cube(
        columns=("q", "s"),
        codes=codes,
        counts=np.array([n, 1, 2, n]),
        values=((None, "a", "b"), (None, "x", "y")),
    )
    for compiled in (True, False):
        [rolled] = Lattice(cube, "s", compiled=compiled).all().values()
        with mpmath.workdps(50):

            def own(*held: int) -> Any:
                return sum(h * mpmath.log(mpmath.mpf(sum(held)) / h, 2) for h in held)

            assert rolled.left == pytest.approx(float(own(n, 1) + own(2, n)), rel=1e-13)
            assert rolled.least == pytest.approx(float(own(n, 1)), rel=1e-13)


def test_a_cube_is_the_same_whatever_the_order_of_records() -> None:
    random = Random(9)
    table = random_table(random)
    order = list(range(len(table["s"])))
    random.shuffle(order)
    cubes = []
    for places in (range(len(order)), order):
        with open_source({c: [v[i] for i in places] for c, v in table.items()}) as (_, questions):
            cubes.append(questions.cube(list(table)))
    first, second = cubes
    assert first.values == second.values
    assert first.counts.tolist() == second.counts.tolist()
    assert [c.tolist() for c in first.codes] == [c.tolist() for c in second.codes]
    held = Counter(zip(*table.values(), strict=True))
    texts = [[v[c] for c in codes] for v, codes in zip(first.values, first.codes, strict=True)]
    spelled = zip(*texts, strict=True)
    assert dict(zip(spelled, first.counts.tolist(), strict=True)) == dict(held)
    assert math.prod(len(v) for v in first.values) >= len(first.counts)


@pytest.mark.parametrize("sizes", [[70_000, 70_000, 3], [1, 1, 2] * 9])
def test_squares_of_sizes_have_room(sizes: list[int]) -> None:
    """Sizes in 32 bits, as a count of 10^5 records gives them: the square of one has more."""
    found = histogram(np.array(sizes, dtype=np.int32))
    assert found.sizes.dtype == found.times.dtype == np.int64
    assert int(found.sizes @ (found.sizes * found.times)) == sum(n * n for n in sizes)
