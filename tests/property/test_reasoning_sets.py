"""Labels, lumps, boxes and containment against plain sets of Python."""

from __future__ import annotations

import csv
import io
import itertools
from collections import Counter, defaultdict
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from helpers.effort import tried
from helpers.reasoningtools import label_set
from hypothesis import given, settings
from hypothesis import strategies as st

from sievert.attacks.reasoning import candidates as module
from sievert.attacks.reasoning.atoms import boxes, merge_positions
from sievert.attacks.reasoning.candidates import candidate_pairs
from sievert.attacks.reasoning.domains import Domain, pattern, public_domain
from sievert.attacks.reasoning.value_sets import Labels, PositionSets
from sievert.errors import ExhaustedError, InputError
from sievert.hierarchies import Hierarchy

MANY = settings(max_examples=100, deadline=None)
VALUES = st.lists(st.text('ab1 ,"{}*-[', max_size=4), min_size=1, max_size=6, unique=True)
NUMBERS = st.decimals(-50, 50, places=1).map(lambda d: f"{d:f}") | st.integers(-50, 50).map(str)


@MANY
@given(st.lists(NUMBERS, min_size=1, max_size=20, unique=True), NUMBERS, NUMBERS, st.data())
def test_intervals(values: list[str], one: str, other: str, data: st.DataObject) -> None:
    low, high = sorted((one, other), key=Fraction)
    left, right = data.draw(st.sampled_from("[(]")), data.draw(st.sampled_from("])["))
    by = data.draw(st.sampled_from([", ", "-", "–", ";", " to ", ".."]))
    domain = Domain(tuple(values), "given", True)

    def inside(text: str) -> bool:
        x, a, b = Fraction(text), Fraction(low), Fraction(high)
        return (a <= x if left == "[" else a < x) and (x <= b if right == "]" else x < b)

    expected = [i for i, v in enumerate(values) if inside(v)]
    label = f"{left}{low}{by}{high}{right}"
    if expected:
        assert label_set(label, domain).tolist() == expected
    else:
        with pytest.raises(InputError):
            label_set(label, domain)


@MANY
@given(VALUES, st.data())
def test_braces_hold_any_text(values: list[str], data: st.DataObject) -> None:
    chosen = data.draw(st.lists(st.sampled_from(values), min_size=1))
    if "*" in chosen:
        return
    text = io.StringIO()
    csv.writer(text, quoting=csv.QUOTE_ALL, lineterminator="").writerow(chosen)
    label = "{" + text.getvalue() + "}"
    domain = Domain(tuple(values), "given", True)
    if label not in values:
        assert label_set(label, domain).tolist() == sorted({values.index(c) for c in chosen})


@MANY
@given(st.lists(st.text("12", min_size=1, max_size=4), min_size=1, unique=True), st.text("12*"))
def test_masks(values: list[str], mask: str) -> None:
    domain = Domain(tuple(values), "given", True)
    expected = {i for i, v in enumerate(values) if v == mask}
    if "*" in mask and not expected:
        expected = {
            i
            for i, v in enumerate(values)
            if len(v) == len(mask) and all(m in ("*", c) for m, c in zip(mask, v, strict=True))
        }
        start = mask.rstrip("*")
        if (not expected and "*" not in start) or not start:
            expected = {i for i, v in enumerate(values) if v.startswith(start)}
    try:
        assert label_set(mask, domain).tolist() == sorted(expected)
    except InputError:
        assert not expected


@MANY
@given(st.lists(st.text() | st.none(), max_size=8), st.lists(st.text() | st.none(), max_size=8))
def test_any_text_is_read_or_refused(
    released: list[str | None], original: list[str | None]
) -> None:
    """What a release names fits its own labels: only sets that cannot be read are refused."""
    try:
        domain = public_domain(released, original=original or None)
    except InputError:
        return
    assert len(set(domain.values)) == len(domain.values) and domain.added >= 0
    assert set(original) <= set(domain.values)
    try:
        labels = Labels.read(released, domain)
    except InputError:
        return
    assert (labels.sets.sizes > 0).all() and len(labels.numbers) == len(released)
    for text, label in zip(released, labels.numbers.tolist(), strict=True):
        if text in original and text != "*":
            assert domain.places[text] in labels.sets[label]


@MANY
@given(st.lists(st.text("ab", min_size=3, max_size=3), min_size=1, max_size=8, unique=True))
def test_every_rung_holds_its_values(values: list[str]) -> None:
    hierarchy = Hierarchy.prefixes(values)
    released = [hierarchy.at(v, level) for v in values for level in range(4)]
    domain = public_domain(released, hierarchy=hierarchy)
    labels = Labels.read(released, domain, hierarchy)
    assert domain.values == tuple(values)
    for i, v in enumerate(values):
        for level in range(4):
            below = [w for w in values if w[: 3 - level] == v[: 3 - level]]
            found = labels.sets[labels.numbers[4 * i + level]]
            assert [values[j] for j in found.tolist()] == below


def random_sets(rng: Any, size: int, labels: int) -> list[list[int]]:
    kind = rng.integers(3)
    if kind == 0:  # windows
        starts = rng.integers(0, size, labels)
        return [list(range(a, min(size, a + 1 + int(rng.integers(size))))) for a in starts.tolist()]
    if kind == 1:  # a partition
        part = rng.integers(0, labels, size)
        found = [np.flatnonzero(part == i).tolist() for i in range(labels)]
        return [f for f in found if f] or [[0]]
    return [
        sorted(rng.choice(size, int(rng.integers(1, size + 1)), replace=False).tolist())
        for _ in range(labels)
    ]


@pytest.mark.parametrize("seed", range(tried(15, soak=60)))
def test_lumped(seed: int) -> None:
    rng = np.random.default_rng([seed, 1])
    size, secrets = int(rng.integers(1, 30)), int(rng.integers(1, 4))
    held = random_sets(rng, size, int(rng.integers(1, 6)))
    weights = rng.random((secrets, size))
    asked = np.flatnonzero(rng.random(size) < 0.3)
    given_as = np.isin(np.arange(size), asked) if seed % 2 else asked.tolist()
    found = merge_positions(PositionSets.from_lists(held), given_as, weights)
    groups: dict[Any, list[int]] = defaultdict(list)
    for i in range(size):
        alone = i if i in asked else None
        groups[alone, tuple(i in h for h in held)].append(i)
    expected = sorted(groups.values())
    assert [np.flatnonzero(found.atom_of == a).tolist() for a in range(found.atoms)] == expected
    sums = [[sum(row[i] for i in g) for g in expected] for row in weights]
    assert np.allclose(found.prior, sums, rtol=1e-14, atol=0)
    for label, h in enumerate(held):
        mine = [a for a, g in enumerate(expected) if g[0] in h]
        assert found.sets[label].tolist() == mine


def random_classes(seed: int) -> tuple[Any, list[int], list[list[list[int]]], Any, Any]:
    rng = np.random.default_rng([seed, 2])
    columns = int(rng.integers(1, 4))
    sizes = rng.integers(1, 7, columns).tolist()
    held = [random_sets(rng, size, int(rng.integers(1, 5))) for size in sizes]
    many, people = int(rng.integers(1, 9)), int(rng.integers(1, 12))
    classes = np.stack([rng.integers(0, len(h), many) for h in held], axis=1)
    victims = np.stack([rng.integers(0, size, people) for size in sizes], axis=1)
    return rng, sizes, held, classes, victims


@pytest.mark.parametrize("seed", range(tried(20, soak=80)))
def test_contains(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng, _, held, classes, victims = random_classes(seed)
    victims[rng.random(victims.shape) < 0.05] = -1
    if seed % 2:
        monkeypatch.setattr(module, "CELLS", 1 << int(rng.integers(6, 9)))
    expected = [
        (v, c)
        for v, values in enumerate(victims.tolist())
        for c, labels in enumerate(classes.tolist())
        if all(x in h[label] for x, h, label in zip(values, held, labels, strict=True))
    ]
    found = candidate_pairs(
        classes, [PositionSets.from_lists(h) for h in held], victims, len(expected)
    )
    assert list(zip(found.victims.tolist(), found.classes.tolist(), strict=True)) == expected


def cut(
    sizes: list[int], columns: list[PositionSets], classes: Any, victims: Any, most: int
) -> bool:
    try:
        return bool(boxes(sizes, columns, classes, victims, most=most).sets)
    except ExhaustedError:
        return False


@pytest.mark.parametrize("seed", range(tried(20, soak=80)))
def test_boxes(seed: int) -> None:
    """Every combination listed, with its weight, and the classes that hold it."""
    rng, sizes, held, classes, victims = random_classes(seed)
    every = list(itertools.product(*map(range, sizes)))
    beta = rng.random(int(rng.integers(1, 4)))
    overrides = {every[i]: float(rng.random()) for i in rng.integers(0, len(every), seed % 3)}
    columns = [PositionSets.from_lists(h) for h in held]
    most = 10**7
    if seed % 2:  # so few that boxes which meet no other must not be cut
        most = next(m for m in itertools.count(0) if cut(sizes, columns, classes, victims, m))
    found = boxes(sizes, columns, classes, victims, beta, overrides=overrides, most=most)
    distinct = sorted(set(map(tuple, classes.tolist())))
    assert [distinct[i] for i in found.label_of.tolist()] == [tuple(c) for c in classes.tolist()]
    assert len(found.sets) == len(distinct)

    def signature(values: tuple[int, ...]) -> tuple[bool, ...]:
        return tuple(
            all(x in h[label] for x, h, label in zip(values, held, labels, strict=True))
            for labels in distinct
        )

    asked = set(map(tuple, victims.tolist())) | set(overrides)
    expected: Counter[Any] = Counter()
    for values in every:
        expected[values if values in asked else None, signature(values)] += 1
    atoms = [
        tuple(a in found.sets[i] for i in range(len(distinct))) for a in range(found.prior.shape[1])
    ]
    for row, weight in zip(found.prior, beta, strict=True):
        lumps = {s: n * weight for (values, s), n in expected.items() if values is None}
        singles = sorted((signature(v), overrides.get(v, float(weight))) for v in asked)
        assert len(row) == len(lumps) + len(singles)
        some = sorted(zip(atoms[: len(asked)], row.tolist(), strict=False))
        assert [s for s, _ in some] == [s for s, _ in singles]
        assert [w for _, w in some] == pytest.approx([w for _, w in singles], rel=1e-15)
        rest = dict(zip(atoms[len(asked) :], row[len(asked) :].tolist(), strict=True))
        assert rest == pytest.approx(lumps, rel=1e-14)
    for v, atom in zip(map(tuple, victims.tolist()), found.atom_of.tolist(), strict=True):
        assert atoms[atom] == signature(v)
        assert found.prior[0, atom] == pytest.approx(overrides.get(v, beta[0]), rel=1e-15)
    different = {tuple(v): a for v, a in zip(victims.tolist(), found.atom_of.tolist(), strict=True)}
    assert len(set(different.values())) == len(different)
    assert all((np.diff(found.sets[i]) > 0).all() for i in range(len(distinct)))


def test_patterns_do_not_fail_on_any_text() -> None:
    for letters in itertools.product('[{*"-,1)', repeat=4):
        pattern("".join(letters))
