"""Losses of releases: what ARX prints for them, and small ones by hand.

Pairs made by ARX from Adult; A8 of the list of peer values; further numbers are those that ARX's
own tests expect for Adult generalised to given levels (TestAnonymizationKAnonymity, -LDiversity,
-TCloseness and TestUtilityMetrics: its entropy metric without suppression, average class size,
discernability).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import pytest
from test_losses_laws import column

from sievert.hierarchies import Hierarchy
from sievert.losses.distortion import expected_distortion
from sievert.losses.generalisation import (
    average_class_size,
    discernability,
    generalization_loss,
    non_uniform_entropy,
    normalized_certainty_penalty,
    precision,
)
from sievert.losses.loss import Release
from sievert.losses.margins import hellinger_margins, hellinger_pairs

from .tables import Columns, read_columns

QI4 = ("marital-status", "native-country", "race", "workclass")
QI8 = (
    "sex", "age", "race", "marital-status", "education", "native-country", "workclass",
    "salary-class",
)  # fmt: skip
QI9 = (*QI8[:-1], "occupation", "salary-class")


@pytest.fixture(scope="module")
def adult(reference: Path) -> Columns:
    return read_columns(reference / "data" / "adult" / "adult.csv", ";")


@pytest.fixture(scope="module")
def ladders(reference: Path) -> dict[str, Hierarchy]:
    folder = reference / "data" / "adult" / "hierarchies"
    return {n: Hierarchy.read(folder / f"adult_hierarchy_{n}.csv") for n in QI9}


@pytest.mark.parametrize(
    ("pair", "quasi", "lost", "squares"),
    [
        ("qi4_k10_s0", QI4, 0.547350636664, 341691382),
        ("qi4_k10_s5", QI4, 0.044824613752, 154949524),
        ("qi4_k10_l5_s5", QI4, 0.045487699755, 155552564),
        ("qi4_k15_s5", QI4, 0.087128205982, 149109072),
        ("qi8_k5_s5", QI8, 0.170122791987, 59199546),
    ],
)
def test_releases_of_arx(
    reference: Path,
    adult: Columns,
    ladders: dict[str, Hierarchy],
    pair: str,
    quasi: Sequence[str],
    lost: float,
    squares: int,
) -> None:
    path = reference / "data" / "pairs" / "arx_adult" / f"adult_{pair}.csv.gz"
    table = read_columns(path, ";")
    release = Release(quasi=tuple(column(n, adult[n], table[n], ladders[n]) for n in quasi))
    found = generalization_loss(release)
    assert found.value == pytest.approx(lost, rel=1e-10, abs=1e-12)
    assert discernability(release).value == squares
    by_column = {
        "qi4_k10_s0": (0.4331609310, 1, 0, 1),
        "qi4_k15_s5": (0.0261255885, 0.2927707049, 0.0261255885, 0.0261255885),
    }
    if pair in by_column:
        assert tuple(found.columns) == QI4
        assert tuple(found.columns.values()) == pytest.approx(by_column[pair], abs=5e-11)
    assert set(found.details["hierarchy"].values()) == {"given"}
    readings = normalized_certainty_penalty(release).details["reading"]
    assert readings == {n: "intervals" if n == "age" else "leaves" for n in quasi}


def generalised(
    adult: Columns, ladders: dict[str, Hierarchy], quasi: Sequence[str], levels: Sequence[int]
) -> Release:
    return Release(
        quasi=tuple(
            column(n, adult[n], [ladders[n].at(v, level) for v in adult[n]], ladders[n])
            for n, level in zip(quasi, levels, strict=True)
        )
    )


@pytest.mark.parametrize(
    ("levels", "squares", "size"),
    [
        ((1, 4, 1, 1, 3, 2, 2, 1), 456853172, 15081.0),  # A8
        ((1, 4, 1, 0, 3, 2, 2, 1), 311880088, 4308.857142857143),
        ((1, 4, 1, 1, 3, 2, 2, 0), None, 7540.5),
        ((1, 4, 1, 2, 2, 2, 2, 1), None, 10054.0),
        ((1, 1, 1, 1, 3, 2, 2, 1), None, 1005.4),
        ((1, 2, 1, 1, 3, 2, 2, 1), None, 1885.125),
    ],
)
def test_classes(
    adult: Columns,
    ladders: dict[str, Hierarchy],
    levels: Sequence[int],
    squares: int | None,
    size: float,
) -> None:
    """A8 and the class sizes of ARX's tests."""
    release = generalised(adult, ladders, QI8, levels)
    assert average_class_size(release).value == pytest.approx(size, rel=1e-15)
    if squares is not None:
        assert discernability(release).value == squares


@pytest.mark.parametrize(
    ("quasi", "levels", "bits"),
    [
        (QI8, (1, 1, 1, 1, 3, 2, 2, 1), 324620.5269918695),
        (QI8, (1, 4, 0, 0, 3, 2, 2, 1), 377622.78458729305),
        (QI8, (0, 4, 1, 1, 3, 2, 2, 1), 398400.0741806447),
        (QI9, (1, 0, 1, 1, 3, 2, 2, 0, 1), 255559.85455731067),
        (QI9, (1, 1, 1, 1, 3, 2, 2, 1, 1), 379417.3460570988),
        (QI9, (1, 2, 1, 1, 3, 2, 2, 1, 1), 407289.5388925293),
        (QI9, (0, 4, 1, 1, 3, 2, 2, 1, 1), 453196.8932458743),
    ],
)
def test_entropy(
    adult: Columns,
    ladders: dict[str, Hierarchy],
    quasi: Sequence[str],
    levels: Sequence[int],
    bits: float,
) -> None:
    """Non-uniform entropy of whole columns generalised, as ARX's tests expect it."""
    release = generalised(adult, ladders, quasi, levels)
    found = non_uniform_entropy(release)
    assert found.value == pytest.approx(bits, rel=1e-14)
    heights = [ladders[n].height for n in quasi]
    due = 1 - sum(a / b for a, b in zip(levels, heights, strict=True)) / len(quasi)
    assert precision(release).value == pytest.approx(due, rel=1e-14)


def small(reference: Path, name: str) -> Columns:
    return read_columns(reference / "data" / "pairs" / "arx_small" / name, ";")


def test_nine_records_by_hand(reference: Path) -> None:
    """The t-closeness paper's table, postal codes on level 2 of 5, ages on level 1 of 2."""
    before, after = small(reference, "test2.csv"), small(reference, "test2_k3.csv")
    folder = reference / "data" / "pairs" / "arx_small"
    quasi = tuple(
        column(n, before[n], after[n], Hierarchy.read(folder / f"test2_hierarchy_{n}.csv"))
        for n in ("ZIPCode", "Age")
    )
    secrets = tuple(column(n, before[n], after[n]) for n in ("Salary", "Disease"))
    release = Release(quasi=quasi, secrets=secrets)
    assert discernability(release).value == 27
    assert average_class_size(release).value == 3
    # Six codes begin with 476, three with 479; each label of an age stands for three ages.
    found = generalization_loss(release)
    assert dict(found.columns) == {"ZIPCode": 0.5, "Age": 0.25}
    assert found.value == pytest.approx(math.sqrt(1.5 * 1.25) - 1, rel=1e-15)
    assert precision(release).value == 0.55
    bits = non_uniform_entropy(release)
    assert bits.value == pytest.approx(6 * math.log2(6) + 12 * math.log2(3), rel=1e-15)
    assert bits.details["share"] == pytest.approx(bits.value / (18 * math.log2(9)), rel=1e-15)
    # Ages 22 to 52: [20,30[ leaves 8 years of 30 open, [30,40[ ten, >=40 twelve.
    penalty = normalized_certainty_penalty(release)
    assert dict(penalty.columns) == pytest.approx({"ZIPCode": 5 / 9, "Age": 1 / 3}, rel=1e-15)
    assert penalty.details["reading"] == {"ZIPCode": "leaves", "Age": "intervals"}
    distortion = expected_distortion(release)
    assert distortion.value == pytest.approx((2 / 5 + 1 / 2) / 2, rel=1e-15)
    assert [c["value"] for c in distortion.details["secrets"].values()] == [0, 0]
    assert hellinger_margins(release).value == 0.5
    assert hellinger_pairs(release).value == pytest.approx(5 / 6, rel=1e-15)


def test_seven_records_by_hand(reference: Path) -> None:
    """ARX's example, without hierarchies: labels stand for what became them."""
    before, after = small(reference, "test.csv"), small(reference, "test_k2.csv")
    release = Release(quasi=tuple(column(n, before[n], after[n]) for n in before))
    assert discernability(release).value == 4 + 9 + 4
    assert average_class_size(release).value == 7 / 3
    found = generalization_loss(release)
    assert set(found.details["hierarchy"].values()) == {"observed"}
    assert dict(found.columns) == {"age": 1 / 3, "gender": 1, "zipcode": 1 / 3}
    assert found.value == pytest.approx((4 / 3 * 2 * 4 / 3) ** (1 / 3) - 1, rel=1e-14)
    assert precision(release).value is None
    bits = non_uniform_entropy(release)
    due = {
        "age": 4 + math.log2(3) + 2 * math.log2(3 / 2),
        "gender": 4 * math.log2(7 / 4) + 3 * math.log2(7 / 3),
        "zipcode": 2 + math.log2(5) + 4 * math.log2(5 / 4),
    }
    assert {n: c["bits"] for n, c in bits.columns.items()} == pytest.approx(due, rel=1e-15)
    penalty = normalized_certainty_penalty(release)
    due = {"age": (4 * 16 + 3 * 20) / 7 / 36, "gender": 1, "zipcode": 0.5}
    assert dict(penalty.columns) == pytest.approx(due, rel=1e-15)
    assert expected_distortion(release).value == 1
