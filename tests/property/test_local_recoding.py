"""Local recoding against brute force: every rule holds on the released file, labels are true."""

from __future__ import annotations

import importlib
import math
import sys
from collections import Counter, defaultdict
from fractions import Fraction
from random import Random
from typing import Any

import numpy as np
import pytest
from helpers.effort import tried

import sievert
from sievert.attacks.reasoning.value_sets import label_members
from sievert.commands.protect import local
from sievert.commands.protect.local_recoding import merging
from sievert.commands.protect.local_recoding.columns import (
    INTERVAL,
    NUMBERS,
    SET,
    TREE,
    LocalColumn,
    column_arrays,
)
from sievert.commands.protect.local_recoding.costs import gather
from sievert.commands.protect.local_recoding.labels import column_labels, label
from sievert.commands.protect.local_recoding.recoding import recode_locally
from sievert.hierarchies import Hierarchy
from sievert.methods.full_domain import Rule, SecretCells

COLOURS = {
    "red": ("warm", "*"), "orange": ("warm", "*"), "pink": ("warm", "*"), "blue": ("cold", "*"),
    "green": ("cold", "*"), "grey": ("none", "*"), "a, b": ("odd", "*"), 'q"t': ("odd", "*"),
}  # fmt: skip
AGES = Hierarchy.intervals([str(a) for a in range(10, 50)], [5, 10, 20])
TREES = {"age": AGES, "colour": Hierarchy(COLOURS)}
ILL = ("flu", "cold", "gout", "ache")


def table(random: Random, records: int, *, missing: bool = False) -> dict[str, list[str | None]]:
    colours: list[str | None] = [*COLOURS, *([None] if missing else [])]
    return {
        "age": [str(random.randint(10, 49)) for _ in range(records)],
        "colour": [random.choice(colours) for _ in range(records)],
        "ill": [random.choice((*ILL, "flu", "flu")) for _ in range(records)],
    }


def policy(limits: dict[str, Any]) -> dict[str, Any]:
    roles = {"quasi": ["age", "colour"], "sensitive": ["ill"], "rows_are_people": True}
    return {"roles": roles, "limits": limits}


def classes_of(columns: dict[str, list[str | None]]) -> dict[tuple[Any, ...], list[int]]:
    classes = defaultdict(list)
    for row, labels in enumerate(zip(columns["age"], columns["colour"], strict=True)):
        classes[labels].append(row)
    return classes


def holds(limits: dict[str, Any], secrets: list[str | None], rows: list[int]) -> bool:
    """Every rule by its definition, for one class."""
    own, every = Counter(secrets[row] for row in rows), Counter(secrets)
    n, total = len(rows), len(secrets)
    entropy = -math.fsum(x / n * math.log(x / n) for x in own.values())
    gaps = {v: Fraction(own[v], n) - Fraction(every[v], total) for v in every}
    distance = sum(abs(gap) for gap in gaps.values()) / 2
    checks = {
        "k_anonymity": lambda limit: n >= limit["min"],
        "l_diversity": lambda limit: len(own) >= limit["min"],
        "entropy_l": lambda limit: entropy >= math.log(limit["min"]) - 1e-9,
        "t_closeness": lambda limit: distance <= limit["max"] + 1e-12,
    }
    return all(checks[measure](limit) for measure, limit in limits.items())


@pytest.mark.parametrize("seed", range(tried(9, soak=200)))
def test_every_rule_holds_and_no_label_is_false(seed: int) -> None:
    random = Random(f"local {seed}")
    original = table(random, random.choice((30, 80, 200)), missing=random.random() < 0.3)
    choices = {"l_diversity": {"min": 2}, "entropy_l": {"min": 1.6}, "t_closeness": {"max": 0.45}}
    limits = {"k_anonymity": {"min": random.choice((2, 3, 5))}}
    limits |= {m: choices[m] for m in random.sample(list(choices), random.choice((0, 0, 1, 2)))}
    kind = ("hierarchy", "sets", "cells")[seed % 3]
    how = {"how": "suppress"} if kind == "cells" else {"how": "local", "labels": kind}
    result = sievert.protect(
        original, policy=policy(limits), hierarchies=TREES, suppress=0.9, seed=seed, **how
    )
    assert result.release is not None
    released = dict(original)
    for name, column in result.release.columns.items():
        released[name] = [column.texts[code] for code in column.codes]
    assert released["ill"] == original["ill"] and list(result.release.columns) == ["age", "colour"]
    classes = classes_of(released)
    for labels, rows in classes.items():
        assert set(labels) == {"*"} or holds(limits, original["ill"], rows), (labels, limits)
    assert sum(map(len, classes.values())) == len(original["ill"])
    for name in ("age", "colour"):
        _check_labels(name, original[name], released[name], list(classes.values()), kind)
    if not result.release.suppressed.any():
        assert result.met is True and result.release.holds


def _check_labels(
    name: str,
    before: list[str | None],
    after: list[str | None],
    classes: list[list[int]],
    kind: str,
) -> None:
    """Each label covers its own value, and names no value of a single record of its class."""
    values = list(TREES[name].labels)
    texts = list(dict.fromkeys(after))
    members = dict(zip(texts, label_members(texts, values, TREES[name]), strict=True))
    for value, text in zip(before, after, strict=True):
        if text not in ("*", None) and text != value:
            assert value in {values[i] for i in members[text]}, (value, text)
        assert text is not None or value is None
    if kind != "sets":
        allowed = {*values, *(x for v in TREES[name].labels.values() for x in v), None}
        assert set(texts) <= (allowed if kind == "hierarchy" else {*values, None, "*"})
        return
    for rows in classes:
        own, text = Counter(before[row] for row in rows), after[rows[0]]
        named = set() if text is None else _named(text) & set(values)
        assert len(own) == 1 or all(own[v] >= 2 or _is_end(v, text, own) for v in named), text


def _named(text: str) -> set[str]:
    """The values that a label names: members of a set, ends of an interval, or itself."""
    if text.startswith("["):
        return {part.strip() for part in text[1:-1].split(",")}
    if text.startswith("{"):
        return {
            part
            for part in (*COLOURS, *AGES.labels)
            if f" {part}," in f" {text[1:-1]}," or f'"{part}"' in text
        }
    return {text}


def _is_end(value: str, text: str | None, own: Counter[str | None]) -> bool:
    """The end of a coarser interval may be a value that one record has, or none."""
    if text is None or not text.startswith("["):
        return False
    five = int(value) // 5 * 5
    return int(value) in (five, five + 4) and any(v and int(v) // 5 * 5 == five for v in own)


@pytest.mark.parametrize("kind", ["hierarchy", "sets"])
def test_compare_reads_the_labels(kind: str) -> None:
    """The losses of the release alone are those that protect gives, of sets and intervals too."""
    original = table(Random("compared"), 60)
    result = sievert.protect(
        original, policy=policy({"k_anonymity": {"min": 3}}), hierarchies=TREES, how="local",
        labels=kind, suppress=0,
    )  # fmt: skip
    assert result.release is not None
    released = dict(original)
    for name, column in result.release.columns.items():
        released[name] = [column.texts[code] for code in column.codes]
    assert kind == "hierarchy" or any(text.startswith("{") for text in released["colour"])
    compared = sievert.compare(
        original, released, ["age", "colour"], "ill", hierarchies=TREES, paired=True
    ).to_dict()["releases"][0]
    loss = compared["losses"]["generalization_loss"]
    assert loss["value"] == pytest.approx(result.release.loss["generalization_loss"]["geometric"])
    assert loss["unknown"] == {"age": 0, "colour": 0}


def test_classes_are_drawn_whole() -> None:
    classes = np.repeat(np.arange(12), 5)
    drawn = local.draw_classes(classes, 3, 20)
    assert drawn.sum() == 20 and set(np.bincount(classes[drawn])) <= {0, 5}
    assert np.array_equal(drawn, local.draw_classes(classes, 3, 20))
    assert local.draw_classes(np.zeros(30, dtype=np.int64), 3, 20).all()  # one class, taken whole
    assert local.draw_classes(classes[:20], 3, 20).all()


def test_the_same_seed_the_same_release_and_any_order_of_rows() -> None:
    random = Random("rows")
    original = table(random, 120)
    rules = policy({"k_anonymity": {"min": 4}, "l_diversity": {"min": 2}})
    order = random.sample(range(120), 120)
    shuffled = {name: [column[i] for i in order] for name, column in original.items()}

    def labels(data: dict[str, list[str | None]], seed: int, rules: Any) -> list[tuple[Any, ...]]:
        result = sievert.protect(
            data, policy=rules, hierarchies=TREES, how="local", labels="sets", seed=seed, suppress=0
        )
        assert result.release is not None
        columns = result.release.columns.values()
        return [*zip(*([c.texts[i] for i in c.codes] for c in columns), strict=True)]

    first = labels(original, 1, rules)
    assert first == labels(original, 1, rules) == labels(original, 2, rules)
    assert [first[i] for i in order] == labels(shuffled, 1, rules)
    lent = policy({"k_anonymity": {"min": 4}})
    split = {
        "age": ["20"] * 20 + ["21"] * 2, "colour": ["red"] * 22, "ill": [*ILL, *ILL[:3], *ILL] * 2
    }  # fmt: skip
    releases = [labels(split, seed, lent) for seed in range(6)]
    assert len({tuple(r) for r in releases}) > 1  # which records were lent
    assert len({tuple(sorted(r)) for r in releases}) == 1  # the classes are the same


@pytest.mark.parametrize("seed", range(6))
def test_numpy_and_compiled_loops_agree(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    random = Random(f"twin {seed}")
    data = table(random, 90, missing=seed % 2 == 1)
    rules = ((), (Rule("distinct", 2),), (Rule("equal_t", 0.4), Rule("entropy", 1.5)))[seed % 3]
    columns = [
        LocalColumn.of_values(n, sorted(set(data[n]), key=str), TREES[n], sets=seed < 4)
        for n in ("age", "colour")
    ]
    positions = np.stack([c.positions(data[c.name]) for c in columns], axis=1)
    codes, at, counts = np.unique(positions, axis=0, return_inverse=True, return_counts=True)
    ill = [ILL.index(text or "flu") for text in data["ill"]]
    cells, sums = np.unique(np.stack([at.ravel(), ill], axis=1), axis=0, return_counts=True)
    secrets = [
        SecretCells(
            name="ill",
            combination=cells[:, 0],
            value=cells[:, 1],
            counts=sums,
            values=len(ILL),
            rules=rules,
        )
    ]
    given = {"k": 4, "weights": [1.0, 2.0], "most": 40, "effort": (64, 16, 6)}
    compiled = recode_locally(columns, codes, counts, secrets, **given)  # type: ignore[arg-type]
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "sievert.commands.protect.local_recoding.kernels", None)
        patch.delattr("sievert.commands.protect.local_recoding.kernels")
        for name in ("costs", "exchanges", "merging", "recoding", "splitting"):
            patch.delitem(sys.modules, f"sievert.commands.protect.local_recoding.{name}")
        plain = importlib.import_module("sievert.commands.protect.local_recoding.recoding")
        assert plain.join_classes.__module__ == merging.__name__
        assert not hasattr(plain.join_classes, "py_func")
        slow = plain.recode_locally(columns, codes, counts, secrets, **given)
    for one, other in zip(vars(compiled).values(), vars(slow).values(), strict=True):
        assert np.array_equal(one, other)


def test_labels() -> None:
    colours = LocalColumn.of_values("colour", [*COLOURS], TREES["colour"], sets=True)
    ages = LocalColumn.of_values("age", ["12", "31"], AGES, sets=True)
    tree = LocalColumn.of_values("age", ["12", "31"], AGES, sets=False)
    many = [str(a) for a in range(300)]
    numbers = LocalColumn.of_values("n", many, Hierarchy.intervals(many, [5]), sets=True)
    wide = LocalColumn.of_values("n", many[:120], Hierarchy.intervals(many[:120], [5]), sets=True)
    assert (colours.kind, ages.kind, tree.kind) == (SET, NUMBERS, TREE)
    assert (numbers.kind, wide.kind) == (INTERVAL, NUMBERS)

    def of(column: LocalColumn, **several: bool) -> str | None:
        texts = [text.lstrip("_").replace("_", " ") for text in several]
        places = sorted(zip(column.positions(texts).tolist(), several.values(), strict=True))
        return label(column, [p for p, _ in places], [s for _, s in places])[0]

    assert of(colours, red=True, blue=True) in ("{red, blue}", "{blue, red}")
    assert of(colours, red=True, blue=False) in ("{cold, red}", "{red, cold}")
    assert of(colours, red=True, pink=False) == "warm"
    assert of(colours, red=False) == "red"  # all have it
    assert of(colours, red=True, grey=False) == "*"  # the label above stands for nothing else
    assert of(numbers, _12=True, _31=True) == "[12, 31]"
    assert of(numbers, _12=False, _31=False) == "[10, 34]"
    # Of a set and an interval the one with fewer values, of equals the interval.
    assert of(ages, _12=True, _31=True) == "{12, 31}"
    assert of(ages, _12=False, _31=False) == '{"[10, 15)", "[30, 35)"}'
    assert of(ages, _12=False, _31=True) == '{"[10, 15)", 31}'
    assert of(ages, _12=True, _13=True) == "[12, 13]"
    assert of(ages, _12=True, _13=False, _14=True) == "[12, 14]"  # "[10, 15)" has more
    assert of(ages, _12=False, _13=False, _14=False) == "[10, 14]"
    assert of(wide, _3=True, _61=True, _62=True, _119=False) == '{3, 61, 62, "[115, 120)"}'
    assert of(tree, _12=True, _31=True) == "*" and of(tree, _12=True, _14=True) == "[10, 15)"


@pytest.mark.parametrize("seed", range(6))
def test_what_a_class_costs_is_what_its_label_covers(seed: int) -> None:
    """Of numbers and of words, below and beyond one word of bits, with a missing value."""
    random = Random(f"width {seed}")
    values: list[str | None] = [str(v) for v in range(random.choice((7, 62, 63, 124, 125)))]
    tree = Hierarchy.intervals([v for v in values if v], [3, 12]).with_root()
    if seed % 2:
        tree = Hierarchy({f"w{v}": labels for v, labels in tree.labels.items()})
        values = [f"w{v}" for v in values] + [None]
    column = LocalColumn.of_values("x", values, tree, sets=True)
    arrays = column_arrays([column], [1.0])
    codes, x = np.arange(column.domain)[:, None], np.zeros((1, 1, 4), dtype=np.int64)
    for _ in range(60):
        places = sorted(random.sample(range(column.domain), random.choice((1, 2, 3, 5))))
        own = np.array([(p, random.choice((1, 1, 2, 4))) for p in places])
        cost = gather(arrays, codes, own, len(own), x, 0, 1.0, np.inf)
        runs = label(column, places, (own[:, 1] > 1).tolist())[1]
        assert cost * (column.domain - 1) == pytest.approx(sum(b - a + 1 for a, b in runs) - 1)


def test_blocks_and_combinations_that_are_left_over() -> None:
    """Blocks of few combinations: the rules hold all the same, if the table holds them."""
    random = Random("blocks")
    texts = [str(a) for a in range(10, 50)]
    column = LocalColumn.of_values("age", texts, AGES, sets=False)
    codes = np.arange(40)[:, None]
    counts = np.array([random.choice((1, 1, 2, 7)) for _ in range(40)])
    value = np.array([0] * 20 + [1] * 20)
    secrets = [
        SecretCells(
            name="s",
            combination=np.arange(40),
            value=value,
            counts=counts,
            values=2,
            rules=(Rule("distinct", 2),),
        )
    ]
    pieces = recode_locally([column], codes, counts, secrets, k=3, weights=[1.0], most=5)
    for owner in np.unique(pieces.owner):
        own = pieces.combination[pieces.owner == owner]
        assert len(set(value[own].tolist())) == 2 and counts[own].sum() >= 3
    assert column_labels(column, codes[:, 0], pieces).widths.max() <= 40
