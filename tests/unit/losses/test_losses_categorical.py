"""Losses of generalised, suppressed and recoded columns: the corners."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from test_losses_laws import DROPPED, KINDS, column, loss

from sievert.hierarchies import Hierarchy
from sievert.losses.generalisation import interval
from sievert.losses.label_sets import count_keys, label_coverage
from sievert.losses.loss import GONE, PairedColumn, Release

TREE = Hierarchy(
    {
        "anna": ("women", "people", "*"),
        "berta": ("women", "people", "*"),
        "carl": ("men", "people", "*"),
        "rex": ("dogs", "animals", "*"),
        "cat": ("cat", "animals", "*"),
    }
)


def of(before: list[Any], after: list[Any], tree: Hierarchy | None = None) -> Release:
    return Release(quasi=(column("who", before, after, tree),))


@pytest.mark.parametrize(
    ("text", "ends"),
    [
        ("20", (20, 20)),
        (" 20 ", (20, 20)),
        ("-3.5", (-3.5, -3.5)),
        ("−3", (-3, -3)),
        ("1e-5", (1e-5, 1e-5)),
        ("[20, 30)", (20, 30)),
        ("[20,30[", (20, 30)),
        ("]20;30]", (20, 30)),
        ("(20.5, 30.25]", (20.5, 30.25)),
        ("[20-30]", (20, 30)),
        ("[-20--10]", (-20, -10)),
        ("(-inf, 20.0]", (-math.inf, 20)),
        ("[60, ∞)", (60, math.inf)),
        ("20-29", (20, 29)),
        ("20 - 29", (20, 29)),
        ("20–29", (20, 29)),
        ("20—29", (20, 29)),
        ("20..29", (20, 29)),
        ("20 to 29", (20, 29)),
        ("20 TO 29", (20, 29)),
        ("-5-3", (-5, 3)),
        ("-5--1", (-5, -1)),
        ("-5 to -1", (-5, -1)),
        ("−5–−1", (-5, -1)),
        ("1e-5-2e3", (1e-5, 2000)),
        ("7-7", (7, 7)),
        ("<30", (-math.inf, 30)),
        ("<= -30", (-math.inf, -30)),
        ("≤30", (-math.inf, 30)),
        (">=60", (60, math.inf)),
        ("> 60", (60, math.inf)),
        ("≥60", (60, math.inf)),
        ("60+", (60, math.inf)),
    ],
)
def test_intervals(text: str, ends: tuple[float, float]) -> None:
    assert interval(text) == ends


@pytest.mark.parametrize(
    "text",
    [
        "", "*", "2*", "old", "30-20", "2024-05-01", "2024-05", "1,000-2,000", "[1,5,2,5)", "20-",
        "-", "<", "20-30-40", "20 and 30", "{20, 30}", "[20, 30", "١-٢", "NaN", "<a", "++5",
    ],
)  # fmt: skip
def test_what_is_no_interval(text: str) -> None:
    assert interval(text) is None


def test_records_of_the_kinds() -> None:
    assert list(KINDS) == [
        "discernability", "average_class_size", "generalization_loss", "precision",
        "non_uniform_entropy", "normalized_certainty_penalty", "expected_distortion",
        "hellinger_margins", "hellinger_pairs",
    ]  # fmt: skip
    for kind in KINDS.values():
        assert kind.title and kind.unit and kind.formula and kind.source and kind.reading
        assert kind.worse == ("low" if kind.id == "precision" else "high")


def test_no_records() -> None:
    nothing = np.zeros(0, dtype=np.int64)
    empty = Release(
        quasi=(
            PairedColumn(name="a", original=nothing, released=nothing, values=[], labels=[]),
            PairedColumn(name="b", original=nothing, released=nothing, values=[], labels=[]),
        )
    )
    for name in KINDS:
        assert loss(name, empty).reason == "the original has no records"


@pytest.mark.parametrize("gone", ["*", DROPPED, None])
def test_everything_suppressed(gone: Any) -> None:
    before = ["anna", "carl", "carl"]
    for tree in (TREE, None):
        release = of(before, [gone] * 3, tree)
        assert loss("discernability", release).value == 9
        assert loss("average_class_size", release).reason == "every record was suppressed"
        for name in ("generalization_loss", "normalized_certainty_penalty", "expected_distortion"):
            assert loss(name, release).value == 1, name
        assert loss("precision", release).value == (0 if tree else None)
        assert loss("non_uniform_entropy", release).details["share"] == 1
        assert loss("hellinger_margins", release).value == 1


def test_numbers_suppressed_are_guessed_as_their_mean() -> None:
    for after in (["*", "*", "*"], ["1", "*", DROPPED], [None, "2", "6"]):
        found = loss("expected_distortion", of(["1", "2", "6"], after)).columns["who"]
        parts = {"1": 4, "2": 1, "6": 9}  # squared distance to 3
        lost = sum(d for (x, d), y in zip(parts.items(), after, strict=True) if y != x)
        assert found["value"] == pytest.approx(lost / 14, rel=1e-15)
        assert found["suppressed"] == sum(y in ("*", None, DROPPED) for y in after)


def test_the_lowest_level_counts() -> None:
    """`cat` stands on two levels: unchanged is level 0."""
    release = of(["cat", "rex", "anna"], ["cat", "animals", "women"], TREE)
    assert label_coverage(release.quasi[0]).level.sum() == 0 + 2 + 1
    assert loss("precision", release).value == pytest.approx(1 - 3 / 9)
    assert loss("generalization_loss", release).value == pytest.approx((1 + 2 + 2 - 3) / 3 / 4)


def test_labels_of_another_branch_and_of_none() -> None:
    """A label counts with its own leaves and level; it meets the value further up."""
    release = of(["anna", "anna", "rex"], ["men", "carl", "women"], TREE)
    found = loss("generalization_loss", release)
    assert found.value == pytest.approx((1 + 1 + 2 - 3) / 3 / 4)
    assert found.details["strayed"] == {"who": 3}
    assert loss("precision", release).value == pytest.approx(1 - (1 + 0 + 1) / 9)
    assert loss("expected_distortion", release).value == pytest.approx((2 + 2 + 3) / 9)
    # anna within {anna, carl}, twice, as carl does not occur; rex within {rex, anna, berta}
    assert loss("non_uniform_entropy", release).value == pytest.approx(math.log2(3))

    release = of(["anna", "berta", "rex"], ["f", "f", "rex"], TREE)
    found = loss("generalization_loss", release)
    assert found.value == pytest.approx((2 + 2 + 1 - 3) / 3 / 4)
    assert found.details["unknown"] == {"who": 2}
    lacking = loss("precision", release)
    assert (
        lacking.value is None and lacking.reason == "labels that the hierarchy lacks have no level"
    )
    assert loss("expected_distortion", release).value == pytest.approx(2 / 3)


def test_values_that_the_hierarchy_lacks() -> None:
    release = of(["eve", "eve", None, "anna"], ["eve", "women", None, "anna"], TREE)
    assert loss("precision", release).value == pytest.approx(1 - 1 / 12)
    assert loss("expected_distortion", release).value == pytest.approx(1 / 4)
    assert loss("generalization_loss", release).value == pytest.approx(1 / 4 / 4)


def test_a_ladder_without_a_root_gets_one() -> None:
    tree = Hierarchy({"a": ("x",), "b": ("x",), "c": ("y",)})
    release = of(["a", "b", "c"], ["x", "b", "*"], tree)
    assert loss("precision", release).value == pytest.approx(1 - (1 + 0 + 2) / 6)


def test_one_value_has_nothing_to_lose() -> None:
    for tree in (None, Hierarchy({"a": ("*",)})):
        release = of(["a", "a"], ["a", "*"], tree)
        assert loss("generalization_loss", release).value == 0
        assert loss("normalized_certainty_penalty", release).value == 0.5
        bits = loss("non_uniform_entropy", release)
        assert bits.value == 0 and bits.details["share"] is None
        assert "one value" in bits.details["reason"]


def test_one_leaf_below_a_label_is_certain() -> None:
    release = of(["rex", "carl", "anna"], ["dogs", "men", "women"], TREE)
    assert loss("normalized_certainty_penalty", release).value == pytest.approx(2 / 5 / 3)


def test_precision_over_the_columns_that_have_a_hierarchy() -> None:
    release = Release(
        quasi=(
            column("a", ["anna", "carl"], ["women", "carl"], TREE),
            column("b", ["x", "y"], ["z", "z"]),
        )
    )
    found = loss("precision", release)
    assert found.value == pytest.approx(1 - 1 / 6)
    assert found.columns["b"] is None
    assert found.details["reasons"] == {"b": "no hierarchy was given"}
    assert found.details["of_columns"] == 1


def test_intervals_or_leaves() -> None:
    ages = ["21", "25", "33", "61"]

    def read(after: list[Any], tree: Hierarchy | None = None) -> tuple[float, str]:
        found = loss("normalized_certainty_penalty", of(ages, after, tree))
        return found.value, found.details["reading"]["who"]

    assert read(["20-29", "20-29", "33", "*"]) == (
        pytest.approx((8 + 8 + 0 + 40) / 160),
        "intervals",
    )
    # One label is no interval; numbers alone; one label outside the range.
    assert read(["young", "young", "33", ">60"])[1] == "leaves"
    assert read(["23", "23", "33", "61"]) == (pytest.approx(4 / 16), "leaves")
    assert read(["0-10", "25", "33", "61"]) == (0, "intervals")
    tree = Hierarchy.intervals(ages, [10, 20])
    assert read([tree.at(a, 1) for a in ages], tree) == (
        pytest.approx((9 + 9 + 10 + 1) / 160),
        "intervals",
    )
    found = loss("normalized_certainty_penalty", of(["5", "5"], ["0-9", "0-9"]))
    assert found.value == 0 and found.details["reading"] == {"who": "leaves"}


def test_squared_errors() -> None:
    found = loss("expected_distortion", of(["1", "2.0", "6"], ["1.0", "4", "6"])).columns["who"]
    assert found["squared_error"] == pytest.approx(4 / 3)
    assert found["variance"] == pytest.approx(14 / 3)
    assert found["value"] == pytest.approx(4 / 14)
    constant = loss("expected_distortion", of(["0.1"] * 10, ["0.1"] * 9 + ["*"]))
    assert constant.value == 0
    constant = loss("expected_distortion", of(["5", "5"], ["5", "6"]))
    assert constant.value is None
    assert "do not vary" in constant.columns["who"]["reason"]
    assert constant.columns["who"]["squared_error"] == 0.5
    # A value that was missing has no number to be far from.
    found = loss("expected_distortion", of([None, "1", "3"], ["7", "1", "3"])).columns["who"]
    assert found["value"] == 0 and found["cells"] == 2
    # Far from 0 beside its spread.
    far = [str(10**9 + x) for x in (0, 1, 2)]
    found = loss("expected_distortion", of(far, [*far[:2], far[1]])).columns["who"]
    assert found["value"] == pytest.approx(0.5, rel=1e-12)
    near = [repr(1e8 + x / 7) for x in (0, 1, 1, 1, 3, 8)]
    exact = [Fraction(float(x)) for x in near]
    mean = sum(exact) / 6
    found = loss("expected_distortion", of(near, ["*", *near[1:]])).columns["who"]
    assert found["squared_error"] == pytest.approx(float((exact[0] - mean) ** 2 / 6), rel=1e-12)
    due = sum((x - mean) ** 2 for x in exact) / 6
    assert found["variance"] == pytest.approx(float(due), rel=1e-12)


@pytest.mark.parametrize("huge", ["1" + "0" * 200, "9" * 400])
def test_numbers_too_large(huge: str) -> None:
    for before, after in ((["1", huge], ["1", huge]), (["1", "2"], ["1", huge])):
        found = loss("expected_distortion", of(before, after))
        if len(huge) > 308:  # beyond any float: a text
            assert found.columns["who"]["scale"] == "hamming"
            continue
        assert found.value is None
        assert found.columns["who"]["reason"] == "numbers too large to be squared"
    loss("normalized_certainty_penalty", of(["1", huge], ["0-2", f">{huge}"]))


def test_hellinger() -> None:
    """The counts of the example of SmallCountRounding's HDutility."""
    f, g = [1, 2, 3, 4, 5, 6], [0, 3, 3, 3, 6, 6]
    texts = [[str(i) for i, n in enumerate(counts) for _ in range(n)] for counts in (f, g)]
    due = math.sqrt(sum((math.sqrt(a) - math.sqrt(b)) ** 2 for a, b in zip(f, g, strict=True)) / 2)
    found = loss("hellinger_margins", of(*texts))
    assert found.value == pytest.approx(due / math.sqrt(21), rel=1e-14)
    assert found.details["worst"] == "who"


def test_hellinger_names_the_worst() -> None:
    columns = tuple(
        column(name, ["a", "b", "a", "b"], after)
        for name, after in (
            ("z", ["a", "b", "b", "a"]), ("y", ["a", "a", "a", "b"]), ("x", ["c", "d", "c", "d"]),
        )
    )  # fmt: skip
    release = Release(quasi=columns[:2], secrets=columns[2:])
    assert loss("hellinger_margins", release).details["worst"] == "x"
    assert loss("hellinger_margins", release).columns["z"] == 0
    pairs = loss("hellinger_pairs", release)
    assert pairs.details["worst"] == ["x", "y"]
    assert len(pairs.details["pairs"]) == 3
    assert pairs.columns["x"] == 1


@pytest.mark.slow
def test_tables_of_many_cells_are_sorted_instead() -> None:
    """The same numbers by both ways of counting, also where texts have many codes."""
    chance = np.random.default_rng(5)
    original, released = chance.integers(0, 50, 400), chance.integers(0, 50, 400)
    gone = chance.random(400) < 0.1
    spread = 7919
    texts = [str(i) for i in range(50)]
    wide = [f"unused {i}" for i in range(50 * spread)]
    wide[::spread] = texts

    def release(scale: int, names: list[str]) -> Release:
        columns = tuple(
            PairedColumn(
                name=n,
                original=o * scale,
                released=np.where(gone, GONE, r * scale),
                values=names,
                labels=names,
            )
            for n, o, r in (("a", original, released), ("b", released, original))
        )
        return Release(quasi=columns)

    small, large = release(1, texts), release(spread, wide)
    for name in KINDS:
        if name not in ("normalized_certainty_penalty", "expected_distortion"):
            one, other = (loss(name, r) for r in (small, large))
            assert one.value == other.value, name
            assert dict(one.columns) == dict(other.columns), name
    present, times = count_keys(np.array([10**12, 3, 10**12]), 10**13)
    assert present.tolist() == [3, 10**12] and times.tolist() == [1, 2]


def test_no_value_of_the_data_is_told() -> None:
    before = ["canary-1", "canary-2", None, "canary-3", "canary-1"]
    after = ["canary-4", "*", "canary-2", DROPPED, "canary-1"]
    tree = Hierarchy({f"canary-{i}": ("canary-4", "*") for i in (1, 2, 3)})
    for ladder in (tree, None):
        release = Release(
            quasi=(
                column("a", before, after, ladder),
                column("b", ["1", "2", "3", "4", "5"], after),
            )
        )
        for name in KINDS:
            assert "canary" not in repr(loss(name, release)), name
