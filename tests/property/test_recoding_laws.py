"""Anatomy, Mondrian and recoding against slow definitions, on random tables and on Adult.

Mondrian is compared with a recursion that walks over records and fractions; the smallest recoding
with a walk over all combinations of levels. Labels are read back and must hold their records.
"""

from __future__ import annotations

import csv
import itertools
import re
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from golden.tables import read_columns
from helpers.effort import tried
from hypothesis import given, settings
from hypothesis import strategies as st

from sievert.errors import InputError
from sievert.hierarchies import Hierarchy
from sievert.methods import Released, anatomise, mondrian, recode, smallest_recoding

Data = dict[str, list[Any]]
KNOWN = ["sex", "race", "marital-status", "education", "native-country", "workclass"]
INTERVAL = re.compile(r"\[(-?[\d.]+), (-?[\d.]+)\]")


@pytest.fixture(scope="module")
def adult(reference: Path) -> Data:
    """The first 5,692 records of Adult."""
    table = read_columns(reference / "data" / "adult" / "adult.csv", ";")
    return {name: values[:5692] for name, values in table.items()}


def ladders(reference: Path, names: Sequence[str]) -> dict[str, Hierarchy]:
    folder = reference / "data" / "adult" / "hierarchies"
    return {name: Hierarchy.read(folder / f"adult_hierarchy_{name}.csv") for name in names}


def random_table(seed: int) -> Data:
    """Numbers, decimals and texts, some columns heavy in one value."""
    rng = np.random.default_rng([seed, 41])
    records = int(rng.integers(1, 90))
    found: Data = {}
    for place in range(int(rng.integers(1, 5))):
        width = int(rng.integers(1, 12))
        codes = rng.integers(0, width, records)
        codes[rng.random(records) < 0.4 * (seed % 3)] = width // 2
        kind = int(rng.integers(0, 3))
        words = [str(v) for v in rng.choice(40, width, replace=False) - 20]
        if kind == 1:
            words = [str(int(v) / 8) for v in rng.choice(99, width, replace=False)]
        elif kind == 2:
            words = [f"v{v}" if v % 3 else f"v,{v}" for v in range(width)]
        found[f"c{place}"] = [words[c] for c in codes]
    return found


# -- Mondrian ----------------------------------------------------------------------------------


def value(text: str, numeric: bool) -> Any:
    return Fraction(text) if numeric else text


def is_numeric(texts: Sequence[str]) -> bool:
    return all(re.fullmatch(r"-?\d+(\.\d+)?", t) for t in texts)


def positions(texts: Sequence[str]) -> list[Fraction]:
    """Where each record lies: its number, or its place among the texts that occur."""
    if is_numeric(texts):
        return [Fraction(t) for t in texts]
    places = {t: Fraction(i) for i, t in enumerate(sorted(set(texts)))}
    return [places[t] for t in texts]


def slow_boxes(columns: list[list[Fraction]], k: int) -> list[list[int]]:
    """The definition, box by box."""
    spans = [max(column) - min(column) or Fraction(1) for column in columns]

    def cut(box: list[int]) -> list[list[int]]:
        ranges = [[c[i] for i in box] for c in columns]
        widths = [(max(r) - min(r)) / s for r, s in zip(ranges, spans, strict=True)]
        for place in sorted(range(len(columns)), key=lambda p: -widths[p]):
            options = []
            for at in sorted(set(ranges[place]))[:-1]:
                left = sum(v <= at for v in ranges[place])
                options.append((min(left, len(box) - left), at))
            if options and max(options)[0] >= k:
                at = max(options)[1]
                return [
                    *cut([i for i in box if columns[place][i] <= at]),
                    *cut([i for i in box if columns[place][i] > at]),
                ]
        return [box]

    return cut(list(range(len(columns[0]))))


def members(label: str, domain: Sequence[str]) -> set[str]:
    """The values of a domain that a label stands for."""
    if label in domain:
        return {label}
    if found := INTERVAL.fullmatch(label):
        low, high = Fraction(found[1]), Fraction(found[2])
        return {v for v in domain if low <= Fraction(v) <= high}
    assert label[0] + label[-1] == "{}"
    listed = next(csv.reader([label[1:-1]]))
    assert len(listed) > 1
    assert set(listed) <= set(domain)
    return set(listed)


def check_boxes(data: Data, found: Released, k: int) -> list[dict[str, frozenset[str]]]:
    """Every class has k records, one label a column that holds them, and its box to itself."""
    quasi = found.quasi
    assert found.sizes.min() >= k
    assert np.array_equal(np.unique(found.classes), np.arange(len(found.sizes)))
    domains = {name: sorted(set(data[name])) for name in quasi}
    sets: dict[tuple[str, str], frozenset[str]] = {}
    boxes: list[dict[str, frozenset[str]]] = [{} for _ in found.sizes]
    for name in quasi:
        for own, label, number in zip(
            data[name], found.columns[name], found.classes.tolist(), strict=True
        ):
            assert label is not None
            if (name, label) not in sets:
                sets[name, label] = frozenset(members(label, domains[name]))
            held = sets[name, label]
            assert own in held
            assert boxes[number].setdefault(name, held) == held
    # Bits of the classes that hold each value: two classes that meet in every column share a cell.
    meet = [~0] * len(boxes)
    for name in quasi:
        holds = dict.fromkeys(domains[name], 0)
        for number, box in enumerate(boxes):
            for v in box[name]:
                holds[v] |= 1 << number
        for number, box in enumerate(boxes):
            touched = 0
            for v in box[name]:
                touched |= holds[v]
            meet[number] &= touched
    assert meet == [1 << number for number in range(len(boxes))]
    return boxes


@pytest.mark.parametrize("seed", range(tried(15, soak=60)))
def test_mondrian_is_its_definition(seed: int) -> None:
    data = random_table(seed)
    records = len(data["c0"])
    for k in {1, 2, min(5, records)}:
        if k > records:
            continue
        expected = slow_boxes([positions(c) for c in data.values()], k)
        tight = mondrian(data, list(data), k)
        region = mondrian(data, list(data), k, labels="region")
        for number, box in enumerate(expected):
            assert np.flatnonzero(tight.classes == number).tolist() == box
        assert np.array_equal(tight.classes, region.classes)
        inner, outer = check_boxes(data, tight, k), check_boxes(data, region, k)
        for a, b in zip(inner, outer, strict=True):
            assert all(a[name] <= b[name] for name in data)


@pytest.mark.parametrize("seed", range(tried(15, soak=30)))
def test_tight_ends_occur_and_regions_fill_the_domain(seed: int) -> None:
    data = random_table(seed)
    tight = mondrian(data, list(data), 2) if len(data["c0"]) > 1 else None
    if tight is None:
        return
    numeric = {name: is_numeric(data[name]) for name in data}
    for number, box in enumerate(check_boxes(data, tight, 2)):
        inside = np.flatnonzero(tight.classes == number).tolist()
        for name, held in box.items():
            own = [value(data[name][i], numeric[name]) for i in inside]
            ends = [value(v, numeric[name]) for v in held]
            assert (min(own), max(own)) == (min(ends), max(ends))
    region = mondrian(data, list(data), 2, labels="region")
    boxes = check_boxes(data, region, 2)
    cells = 1
    for name in data:
        cells *= len(set(data[name]))
    covered = 0
    for box in boxes:
        volume = 1
        for held in box.values():
            volume *= len(held)
        covered += volume
    assert covered == cells


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from("abcd"), st.integers(-3, 9)), min_size=3, max_size=40),
    st.permutations(range(40)),
)
def test_mondrian_does_not_depend_on_the_order_of_records(
    people: list[tuple[str, int]], order: list[int]
) -> None:
    data = {"a": [p[0] for p in people], "b": [str(p[1]) for p in people]}
    mixed = [i for i in order if i < len(people)]
    first = mondrian(data, ["a", "b"], 3)
    second = mondrian({c: [v[i] for i in mixed] for c, v in data.items()}, ["a", "b"], 3)
    for name in data:
        assert [first.columns[name][i] for i in mixed] == second.columns[name]


@pytest.mark.parametrize("k", [5, 25])
def test_mondrian_of_adult(adult: Data, reference: Path, k: int) -> None:
    quasi = [*KNOWN, "salary-class", "age"]
    found = mondrian(adult, quasi, k)
    check_boxes(adult, found, k)
    expected = slow_boxes([positions(adult[name]) for name in quasi], k)
    for number, box in enumerate(expected):
        assert np.flatnonzero(found.classes == number).tolist() == box
    assert found.columns["occupation"] == adult["occupation"]
    given_order = mondrian(adult, quasi, k, hierarchies=ladders(reference, quasi))
    assert given_order.sizes.min() >= k


def test_mondrian_of_many_records() -> None:
    """Many records and values at once: nothing grows with their square."""
    rng = np.random.default_rng(5)
    codes = [rng.integers(0, width, 100_000) for width in (2, 5, 40)]
    codes.append(rng.permutation(100_000))  # no two alike: 10 records can always be cut
    data: Data = {f"c{i}": c.astype(str).tolist() for i, c in enumerate(codes)}
    found = mondrian(data, list(data), 5)
    assert found.sizes.min() >= 5
    assert found.sizes.max() < 10
    assert len(found.sizes) > 10_000


# -- Anatomy -----------------------------------------------------------------------------------


def check_buckets(data: Data, quasi: list[str], secret: str, least: int, seed: int = 0) -> None:
    found = anatomise(data, quasi, secret, least, seed)
    sizes = found.sizes
    assert sizes.min() >= least
    assert sizes.max() <= 2 * least - 1
    assert len(sizes) == len(data[secret]) // least
    buckets: dict[str, list[Any]] = {}
    for group, s in zip(*found.sensitive_table.values(), strict=True):
        buckets.setdefault(str(group), []).append(s)
    assert all(len(set(held)) == len(held) and held == sorted(held) for held in buckets.values())
    assert list(buckets) == [str(g) for g in range(len(sizes))]
    assert found.quasi_table["group"] == found.sensitive_table["group"]
    assert sorted(found.order.tolist()) == list(range(len(data[secret])))
    assert Counter(found.sensitive_table[secret]) == Counter(data[secret])
    for name in quasi:
        assert found.quasi_table[name] == [data[name][i] for i in found.order]
    linked = Counter(zip(found.groups.astype(str).tolist(), data[secret], strict=True))
    assert linked == Counter(zip(*found.sensitive_table.values(), strict=True))


@settings(max_examples=150, deadline=None)
@given(st.lists(st.integers(0, 9), min_size=2, max_size=80), st.integers(2, 6), st.integers(0, 9))
def test_anatomy(secrets: list[int], least: int, seed: int) -> None:
    data = {"key": [str(i) for i in range(len(secrets))], "s": [str(s) for s in secrets]}
    if max(Counter(secrets).values()) * least > len(secrets):
        with pytest.raises(InputError):
            anatomise(data, ["key"], "s", least, seed)
    else:
        check_buckets(data, ["key"], "s", least, seed)


@pytest.mark.parametrize("least", [2, 4, 6])
def test_anatomy_of_adult(adult: Data, least: int) -> None:
    check_buckets(adult, [*KNOWN, "salary-class"], "occupation", least)


# -- recoding ----------------------------------------------------------------------------------


def random_ladders(seed: int, data: Data) -> dict[str, Hierarchy]:
    """Nested labels at random, with or without one root; some columns have none."""
    rng = np.random.default_rng([seed, 42])
    found = {}
    for name, values in data.items():
        if rng.random() < 0.15:
            continue
        held = {v: [v] for v in dict.fromkeys(values)}
        for level in range(int(rng.integers(1, 5))):
            merged = {b: f"{level}:{rng.integers(0, 4)}" for b in {p[-1] for p in held.values()}}
            held = {v: [*path, merged[path[-1]]] for v, path in held.items()}
        ladder = Hierarchy({v: tuple(path[1:]) for v, path in held.items()})
        found[name] = ladder.with_root() if rng.random() < 0.8 else ladder
    return found


@pytest.mark.parametrize("seed", range(tried(20, soak=40)))
def test_recoding_is_the_label_of_each_value(seed: int) -> None:
    data, rng = random_table(seed), np.random.default_rng(seed)
    given_ladders = random_ladders(seed, data)
    heights = {n: given_ladders[n].height if n in given_ladders else 0 for n in data}
    levels = {name: int(rng.integers(0, heights[name] + 1)) for name in data}
    rows = list(
        zip(
            *(
                [given_ladders[n].at(v, levels[n]) if n in given_ladders else v for v in data[n]]
                for n in data
            ),
            strict=True,
        )
    )
    sizes = Counter(rows)
    for suppress in (None, 1, 2, 4):
        found = recode(data, levels, given_ladders, suppress=suppress)
        stars = ("*",) * len(data)
        expected = [stars if sizes[row] < (suppress or 1) else row for row in rows]
        assert list(zip(*found.columns.values(), strict=True)) == expected
        assert found.suppressed.tolist() == [sizes[row] < (suppress or 1) for row in rows]
        assert len(set(zip(found.classes.tolist(), expected, strict=True))) == len(set(expected))
        assert sorted(found.sizes.tolist()) == sorted(Counter(expected).values())


def slow_smallest(
    data: Data, given_ladders: dict[str, Hierarchy], k: int, share: str
) -> tuple[Fraction, int, tuple[int, ...]] | None:
    """The least (loss, suppressed, levels) of all combinations of levels."""
    heights = [given_ladders[n].height if n in given_ladders else 0 for n in data]
    found = []
    for levels in itertools.product(*(range(h + 1) for h in heights)):
        columns = [
            [given_ladders[n].at(v, level) if level else v for v in data[n]]
            for n, level in zip(data, levels, strict=True)
        ]
        sizes = Counter(zip(*columns, strict=True)).values()
        below = sum(size for size in sizes if size < k)
        if below <= Fraction(share) * len(columns[0]):
            parts = (Fraction(a, b or 1) for a, b in zip(levels, heights, strict=True))
            found.append((sum(parts, Fraction(0)) / len(heights), below, levels))
    return min(found, default=None)


@pytest.mark.parametrize("seed", range(tried(20, soak=80)))
def test_smallest_recoding_is_the_best_of_all(seed: int) -> None:
    data = random_table(seed)
    given_ladders = random_ladders(seed, data)
    for k, share in ((2, "0"), (3, "0.1"), (6, "0.3")):
        expected = slow_smallest(data, given_ladders, k, share)
        if expected is None:
            with pytest.raises(InputError, match="no recoding"):
                smallest_recoding(data, list(data), given_ladders, k, suppressed=float(share))
            continue
        found = smallest_recoding(data, list(data), given_ladders, k, suppressed=float(share))
        assert tuple(found.levels.values()) == expected[2]
        assert int(found.suppressed.sum()) == expected[1]
        assert found.loss == float(expected[0])
        kept = Counter(found.classes[~found.suppressed].tolist())
        assert all(size >= k for size in kept.values())


def test_smallest_recoding_of_adult(adult: Data, reference: Path) -> None:
    quasi = ["sex", "race", "marital-status", "workclass"]
    part = {name: adult[name] for name in quasi}
    given_ladders = ladders(reference, quasi)
    for k, share in ((5, "0"), (5, "0.02"), (50, "0.05")):
        expected = slow_smallest(part, given_ladders, k, share)
        assert expected is not None
        found = smallest_recoding(adult, quasi, given_ladders, k, suppressed=float(share))
        assert tuple(found.levels.values()) == expected[2]
        assert int(found.suppressed.sum()) == expected[1]
