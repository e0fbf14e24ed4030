"""Losses of generalised, suppressed and recoded columns against a slow count, and their laws.

The slow count walks over the records of small random releases, with sets of values and exact
fractions. Releases are made with everything that occurs: labels that stand on several levels of a
hierarchy, ladders without a root, labels of another branch or of none, missing values, dropped
records.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from random import Random
from typing import Any

import numpy as np
import pytest

from sievert.formatting.remarks import Remark
from sievert.hierarchies import NUMBER, Hierarchy
from sievert.losses import distortion, generalisation, margins
from sievert.losses.loss import GONE, LossKind, PairedColumn, Release

TABLES = 400
CHUNKS = 8
KINDS = {k.id: k for m in (generalisation, distortion, margins) for k in m.KINDS}
MONOTONE = (
    "generalization_loss", "normalized_certainty_penalty", "non_uniform_entropy", "discernability",
)  # fmt: skip
Text = str | None
DROPPED = object()


def coded(texts: Sequence[Any]) -> tuple[Any, list[Text]]:
    """Texts as codes, DROPPED as the code of a record that was not released."""
    names = list(dict.fromkeys(t for t in texts if t is not DROPPED))
    place = {t: i for i, t in enumerate(names)}
    return np.array([GONE if t is DROPPED else place[t] for t in texts], dtype=np.int64), names


def column(
    name: str, before: Sequence[Any], after: Sequence[Any], ladder: Hierarchy | None = None
) -> PairedColumn:
    """A column from its texts."""
    (original, values), (released, labels) = coded(before), coded(after)
    return PairedColumn(
        name=name,
        original=original,
        released=released,
        values=values,
        labels=labels,
        hierarchy=ladder,
    )


def loss(name: str, release: Release) -> Any:
    """One loss; whatever it says has no NaN in it."""
    found = KINDS[name].compute(release)
    _plain(found.value), _plain(found.columns), _plain(found.details)
    assert (found.value is None) == (found.reason is not None)
    kind: LossKind = KINDS[name]
    if found.value is not None:
        assert kind.low is None or found.value >= kind.low
        assert kind.high is None or found.value <= kind.high
    return found


def _plain(thing: Any) -> None:
    if isinstance(thing, dict):
        for key, value in thing.items():
            assert type(key) is str
            _plain(value)
    elif isinstance(thing, list | tuple):
        for value in thing:
            _plain(value)
    else:
        plain = type(thing) in (int, float, str, bool, Remark)
        assert thing is None or plain, type(thing)
        assert not isinstance(thing, float) or math.isfinite(thing)


# -- random releases ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Made:
    """A column as texts."""

    name: str
    before: list[Any]
    after: list[Any]
    ladder: Hierarchy | None

    @property
    def column(self) -> PairedColumn:
        return column(self.name, self.before, self.after, self.ladder)


def ladder(chance: Random, mixed: bool = True) -> Hierarchy:
    """A random nested ladder; texts may return on higher levels, and there may be no root."""
    leaves = [f"v{i}" for i in range(chance.randint(1, 6))]
    texts = [*leaves, "A", "B", "C", "D", "E", "F"]
    blocks = {v: v for v in leaves}
    rungs: dict[str, list[str]] = {v: [] for v in leaves}
    for level in range(chance.randint(0, 3)):
        nodes = list(dict.fromkeys(blocks.values()))
        groups = [chance.randrange(len(nodes)) for _ in nodes]
        names = chance.sample(texts, len(nodes))
        if not mixed:
            names = [f"{level} {n}" for n in names]
        parent = dict(zip(nodes, (names[g] for g in groups), strict=True))
        if chance.random() < 0.3:
            parent = {n: n for n in nodes}  # a level on which nothing happens
        blocks = {v: parent[b] for v, b in blocks.items()}
        for v in leaves:
            rungs[v].append(blocks[v])
    if chance.random() < 0.6:
        for v in leaves:
            rungs[v].append("*")
    return Hierarchy({v: tuple(r) for v, r in rungs.items()})


def made(chance: Random, name: str, dropped: Sequence[bool]) -> Made:
    known = chance.random() < 0.7
    tree = ladder(chance)
    before: list[Any] = [chance.choice(list(tree.labels)) for _ in dropped]
    missing, star, stray = (chance.choice((0.0, 0.0, 0.3)) for _ in range(3))
    before = [None if chance.random() < missing else v for v in before]
    texts = [*tree.labels, *itertools.chain(*tree.labels.values()), "elsewhere", None]
    level = chance.randint(0, tree.height)
    after: list[Any] = []
    for value, gone in zip(before, dropped, strict=True):
        rung = level if chance.random() < 0.7 else chance.randint(0, tree.height)
        label = None if value is None else tree.at(value, rung)
        if chance.random() < star:
            label = chance.choice(("*", None))
        if chance.random() < stray:
            label = chance.choice(texts)
        after.append(DROPPED if gone else label)
    return Made(name, before, after, tree if known else None)


def release(number: int) -> tuple[list[Made], Release]:
    chance = Random(number)
    records = chance.choice((1, 2, 5, 12, 30))
    share = chance.choice((0.0, 0.0, 0.2, 1.0 if number % 20 == 0 else 0.2))
    dropped = [chance.random() < share for _ in range(records)]
    columns = [made(chance, f"q{i}", dropped) for i in range(chance.randint(1, 3))]
    secret = [made(chance, "s", dropped)] if chance.random() < 0.3 else []
    quasi, secrets = ([m.column for m in group] for group in (columns, secret))
    return [*columns, *secret], Release(quasi=tuple(quasi), secrets=tuple(secrets))


# -- the slow count -------------------------------------------------------------------------------


class Slow:
    """What each cell of a column is worth, one record after the other."""

    def __init__(self, m: Made) -> None:
        self.m, self.n = m, Counter(m.before)
        self.rungs: dict[str, tuple[str, ...]] = {}
        if m.ladder is not None:
            self.rungs = {v: (v, *labels) for v, labels in m.ladder.labels.items()}
            if len({r[-1] for r in self.rungs.values()}) > 1 or m.ladder.height == 0:
                self.rungs = {v: (*r, "*") for v, r in self.rungs.items()}
            self.height = len(next(iter(self.rungs.values()))) - 1
        self.values = len(self.rungs) if self.rungs else len(self.n)
        self.cells = list(zip(m.before, m.after, strict=True))

    def suppressed(self, value: Text, label: Any) -> bool:
        return label is DROPPED or label == "*" or (label is None and value is not None)

    def at(self, level: int, label: Text) -> set[Text]:
        return {v for v, r in self.rungs.items() if r[level] == label}

    def seen(self, label: Text) -> set[Text]:
        return {v for v, x in self.cells if x == label and not self.suppressed(v, x)}

    def place(self, value: Text, label: Text) -> tuple[set[Text], int | None, bool]:
        """What a label covers, its level, and whether it is above the value."""
        if not self.rungs:
            return self.seen(label), None, True
        if value == label:
            return {value}, 0, True
        for level in range(self.height + 1):
            if value in self.rungs and self.rungs[value][level] == label:
                return self.at(level, label), level, True
        for level in range(self.height + 1):
            if self.at(level, label):
                return self.at(level, label), level, False
        return self.seen(label), None, False

    def leaves(self, value: Text, label: Any) -> int:
        if self.suppressed(value, label):
            return self.values
        return min(self.values, len(self.place(value, label)[0]))

    def covered(self, value: Text, label: Any) -> int:
        if self.suppressed(value, label):
            return len(self.cells)
        return sum(self.n[v] for v in self.place(value, label)[0] | {value})

    def level(self, value: Text, label: Any) -> int | None:
        return self.height if self.suppressed(value, label) else self.place(value, label)[1]

    def meeting(self, value: Text, label: Any) -> int:
        if self.suppressed(value, label):
            return self.height
        covers, level, above = self.place(value, label)
        if above:
            assert level is not None
            return level
        if level is None or value not in self.rungs:
            return self.height
        leaf = self.rungs[next(iter(covers))]
        return next(i for i in range(level, self.height + 1) if leaf[i] == self.rungs[value][i])

    def mean(self, worth: Callable[[Text, Any], Any]) -> Fraction:
        return Fraction(sum(worth(*c) for c in self.cells)) / len(self.cells)


def slow_classes(columns: list[Made]) -> tuple[Counter[Any], int]:
    slow = [Slow(m) for m in columns]
    sizes: Counter[Any] = Counter()
    suppressed = 0
    for cells in zip(*(s.cells for s in slow), strict=True):
        if all(s.suppressed(*c) for s, c in zip(slow, cells, strict=True)):
            suppressed += 1
        else:
            sizes[tuple(label for _, label in cells)] += 1
    return sizes, suppressed


def slow_distance(columns: list[Made]) -> float:
    before: Counter[Any] = Counter(zip(*(m.before for m in columns), strict=True))
    slow = [Slow(m) for m in columns]
    after: Counter[Any] = Counter(
        tuple("*" if s.suppressed(*c) else c[1] for s, c in zip(slow, row, strict=True))
        for row in zip(*(s.cells for s in slow), strict=True)
    )
    n = len(columns[0].before)
    terms = [(math.sqrt(before[t] / n) - math.sqrt(after[t] / n)) ** 2 for t in before | after]
    return math.sqrt(math.fsum(terms) / 2)


def near(ours: Any, due: Any) -> None:
    if due is None:
        assert ours is None
    else:
        assert ours == pytest.approx(float(due), rel=1e-12, abs=1e-15)


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_every_loss_is_the_slow_count(chunk: int) -> None:
    for number in range(chunk, TABLES, CHUNKS):
        columns, whole = release(number)
        quasi = columns[: len(whole.quasi)]
        records = whole.records
        slow = [Slow(m) for m in quasi]

        sizes, suppressed = slow_classes(quasi)
        found = loss("discernability", whole)
        assert found.value == sum(n * n for n in sizes.values()) + suppressed * records
        near(
            loss("average_class_size", whole).value,
            Fraction(records - suppressed, len(sizes)) if sizes else None,
        )

        shares = [
            (s.mean(s.leaves) - 1) / (s.values - 1) if s.values > 1 else Fraction(0) for s in slow
        ]
        found = loss("generalization_loss", whole)
        for m, share in zip(quasi, shares, strict=True):
            near(found.columns[m.name], share)
        near(found.value, math.prod(1 + float(x) for x in shares) ** (1 / len(shares)) - 1)

        prec = [
            1 - s.mean(s.level) / s.height
            if s.rungs and all(s.level(*c) is not None for c in s.cells)
            else None
            for s in slow
        ]
        found = loss("precision", whole)
        for m, p in zip(quasi, prec, strict=True):
            near(found.columns[m.name], p)
        there = [p for p in prec if p is not None]
        near(found.value, sum(there) / len(there) if there else None)

        found = loss("non_uniform_entropy", whole)
        bits = [
            math.fsum(math.log2(Fraction(s.covered(*c), s.n[c[0]])) for c in s.cells) for s in slow
        ]
        for m, b in zip(quasi, bits, strict=True):
            near(found.columns[m.name]["bits"], b)
            near(found.columns[m.name]["per_cell"], b / records)
        near(found.value, math.fsum(bits))

        found = loss("normalized_certainty_penalty", whole)
        open_ = []
        for s in slow:
            each = [
                1 if s.suppressed(*c) else Fraction(s.leaves(*c), s.values) * (s.leaves(*c) > 1)
                for c in s.cells
            ]
            open_.append(Fraction(sum(each)) / records)
            near(found.columns[s.m.name], open_[-1])
        near(found.value, sum(open_) / len(open_))

        found = loss("expected_distortion", whole)
        far = []
        for m in columns:
            s = Slow(m)
            if s.rungs:
                far.append(s.mean(s.meeting) / s.height)
            else:
                far.append(s.mean(lambda v, x, s=s: int(s.suppressed(v, x) or v != x)))
            where = found.columns if m in quasi else found.details["secrets"]
            near(where[m.name]["value"], far[-1])
        near(found.value, sum(far[: len(quasi)]) / len(quasi))

        found = loss("hellinger_margins", whole)
        apart = [slow_distance([m]) for m in columns]
        for m, d in zip(columns, apart, strict=True):
            near(found.columns[m.name], d)
        near(found.value, math.fsum(apart) / len(apart))
        near(found.details["worst_distance"], max(apart))
        alone = found.columns
        found = loss("hellinger_pairs", whole)
        for pair in found.details.get("pairs", ()):
            assert pair["distance"] >= max(alone[n] for n in pair["columns"]) - 1e-15
        if len(columns) == 1:
            assert found.value is None
        else:
            apart = [slow_distance(list(two)) for two in itertools.combinations(columns, 2)]
            near(found.value, math.fsum(apart) / len(apart))
            near(found.details["worst_distance"], max(apart))


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_numbers_are_the_slow_count(chunk: int) -> None:
    """Squared errors and widths of intervals, where columns are numbers."""
    for number in range(chunk, TABLES // 2, CHUNKS):
        chance = Random(50_000 + number)
        records = chance.choice((1, 2, 7, 25))
        before: list[Any] = [
            None if chance.random() < 0.1 else Fraction(chance.randint(-40, 40), 4)
            for _ in range(records)
        ]
        there = [x for x in before if x is not None]
        # None: suppressed, or still missing; DROPPED; a number, or an interval
        noisy: list[Any] = [
            chance.choice((None, DROPPED))
            if chance.random() < 0.15 or x is None
            else x + Fraction(chance.randint(-3, 3), 4)
            for x in before
        ]
        texts = [None if x is None else str(float(x)) for x in before]
        after = [x if x in (None, DROPPED) else str(float(x)) for x in noisy]
        entry = loss("expected_distortion", Release(quasi=(column("x", texts, after),))).columns[
            "x"
        ]
        numbers = [x for x in noisy if x not in (None, DROPPED)]
        if there and numbers:
            mean = sum(there) / len(there)
            variance = sum((x - mean) ** 2 for x in there) / len(there)
            errors = [
                (x - (mean if y in (None, DROPPED) else y)) ** 2
                for x, y in zip(before, noisy, strict=True)
                if x is not None
            ]
            near(entry["squared_error"], sum(errors) / len(errors))
            near(entry["variance"], variance)
            if variance:
                near(entry["value"], sum(errors) / len(errors) / variance)

        labels, widths = [], []
        low, high = min(there, default=Fraction(0)), max(there, default=Fraction(0))
        for x in before:
            label, ends = _label(chance, x)
            labels.append(label)
            if x is None:
                widths.append(Fraction(0) if label is None else Fraction(1))
            elif ends is None:
                widths.append(Fraction(1))
            else:
                a, b = max(ends[0], low), min(ends[1], high)
                widths.append(max(b - a, Fraction(0)) / (high - low) if high > low else Fraction(0))
        found = loss("normalized_certainty_penalty", Release(quasi=(column("x", texts, labels),)))
        if found.details["reading"]["x"] == "intervals":
            assert high > low
            near(found.value, sum(widths) / records)
        else:
            wider = [w for w, x in zip(labels, before, strict=True) if x is not None]
            wider = [w for w in wider if w not in ("*", None, DROPPED)]
            assert high == low or all(NUMBER.fullmatch(w) for w in wider)


def _label(chance: Random, x: Fraction | None) -> tuple[Any, tuple[Fraction, Fraction] | None]:
    """An interval around a number, written in one of the ways that are understood."""
    pick = chance.random()
    if x is None:
        return (None, None) if pick < 0.7 else (DROPPED, None)
    if pick < 0.1:
        return chance.choice(("*", None, DROPPED)), None
    if pick < 0.2:
        return str(float(x)), (x, x)
    width = chance.choice((5, 10, 20))
    a = x // width * width
    b = a + width
    far = Fraction(10**6)
    return chance.choice(
        [
            (f"[{a}, {b})", (a, b)),
            (f"]{a};{b}[", (a, b)),
            (f"({float(a)}, {float(b)}]", (a, b)),
            (f"{a}-{b}", (a, b)),
            (f"{a}–{b}", (a, b)),
            (f"{a} to {b}", (a, b)),
            (f"<{b}", (-far, b)),
            (f"<= {b}", (-far, b)),
            (f">={a}", (a, far)),
            (f"≥ {a}", (a, far)),
            (f"{a}+", (a, far)),
        ]
    )


# -- laws -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_an_unchanged_release_loses_nothing(chunk: int) -> None:
    for number in range(chunk, 120, CHUNKS):
        columns, _ = release(1_000 + number)
        same = [replace(m, after=m.before) for m in columns]
        whole = Release(quasi=tuple(m.column for m in same))
        for name in KINDS:
            found = loss(name, whole)
            if name == "discernability":
                rows = Counter(zip(*(m.before for m in same), strict=True))
                assert found.value == sum(n * n for n in rows.values())
            elif name == "precision":
                assert found.value in (1.0, None)
            elif name != "average_class_size":
                assert found.value in (0.0, None), name


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_coarser_labels_never_lose_less(chunk: int) -> None:
    """Records go up their ladders one by one, then all together, also where no ladder is given."""
    for number in range(chunk, 160, CHUNKS):
        chance = Random(60_000 + number)
        records = chance.randint(2, 15)
        steps: list[list[Made]] = []
        trees = [ladder(chance, mixed=False).with_root() for _ in range(chance.randint(1, 3))]
        rungs = [[0] * records for _ in trees]
        before = [[chance.choice(list(t.labels)) for _ in range(records)] for t in trees]
        for _ in range(5):
            steps.append(
                [
                    Made(f"q{i}", v, [t.at(x, r) for x, r in zip(v, rungs[i], strict=True)], t)
                    for i, (t, v) in enumerate(zip(trees, before, strict=True))
                ]
            )
            for tree, levels in zip(trees, rungs, strict=True):
                for i in range(records):
                    levels[i] = min(tree.height, levels[i] + (chance.random() < 0.4))
        # A class that is torn apart is smaller: discernability may fall.
        _never_less(steps, MONOTONE[:-1])
        for known in (True, False):
            together = [
                [
                    Made(m.name, m.before, [t.at(x, min(t.height, r)) for x in m.before], t)
                    for m, t in zip(steps[0], trees, strict=True)
                ]
                for r in range(4)
            ]
            if not known:
                together = [[replace(m, ladder=None) for m in step] for step in together]
            _never_less(together, MONOTONE)


def _never_less(steps: list[list[Made]], names: Sequence[str]) -> None:
    releases = [Release(quasi=tuple(m.column for m in step)) for step in steps]
    for name in names:
        values = [loss(name, r).value for r in releases]
        for less, more in itertools.pairwise(values):
            assert more >= less - 1e-12 * abs(less), name


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_order_and_names_do_not_matter(chunk: int) -> None:
    for number in range(chunk, 120, CHUNKS):
        chance = Random(70_000 + number)
        columns, whole = release(2_000 + number)
        quasi = columns[: len(whole.quasi)]
        plain = Release(quasi=tuple(m.column for m in quasi))
        order = list(range(whole.records))
        chance.shuffle(order)
        turned = list(reversed(quasi))
        moved = [
            replace(m, before=[m.before[i] for i in order], after=[m.after[i] for i in order])
            for m in quasi
        ]
        texts = {t for m in quasi for t in (*m.before, *m.after, *_texts(m.ladder))}
        names = {t: f"{i} {t}" for i, t in enumerate(texts - {None, "*", DROPPED}, start=5)}
        names |= {None: None, "*": "*", DROPPED: DROPPED}
        other = [
            Made(
                m.name,
                [names[t] for t in m.before],
                [names[t] for t in m.after],
                m.ladder
                and Hierarchy(
                    {names[v]: tuple(names[x] for x in r) for v, r in m.ladder.labels.items()}
                ),
            )
            for m in quasi
        ]
        for name in KINDS:
            due = loss(name, plain)
            for changed in (turned, moved, other):
                found = loss(name, Release(quasi=tuple(m.column for m in changed)))
                assert found.value == due.value, name
                assert dict(found.columns) == dict(due.columns), name


def _texts(tree: Hierarchy | None) -> list[str]:
    return [] if tree is None else [*tree.labels, *itertools.chain(*tree.labels.values())]
