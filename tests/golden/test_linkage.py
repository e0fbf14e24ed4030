"""Linkage: values of anonymeter and sdcMicro, and releases whose share follows from counts.

Each test of a peer's value names its entry (A19, A20) in the list of peer values. No tool prints
the shares of the releases below; where they do not follow from class sizes that one prints, the
test counts them a second time, the slow way.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sievert.commands.attack.linkage import distances, link, wilson

from .tables import Columns, read_columns

QI4 = ["marital-status", "native-country", "race", "workclass"]
QI8 = [*QI4, "sex", "age", "education", "salary-class"]
STUDENT = ["Teacher", "Gender", "Ethnic", "Freeredu", "wesson"]
HEART_NUMBERS = ["age", "trestbps", "chol", "thalach", "oldpeak"]
HEART_CODES = ["sex", "cp", "fbs", "restecg", "exang", "slope", "ca", "thal"]


def numbers(table: Columns, names: list[str]) -> list[Any]:
    return [np.array([float(value) for value in table[name]]) for name in names]


def codes(released: Columns, original: Columns, names: list[str]) -> tuple[list[Any], list[Any]]:
    """The texts of both files as codes from 1."""
    found: tuple[list[Any], list[Any]] = ([], [])
    for name in names:
        texts = {text: i for i, text in enumerate([*released[name], *original[name]], 1)}
        for side, table in zip(found, (released, original), strict=True):
            side.append(np.array([texts[text] for text in table[name]]))
    return found


def credit(released: Columns, original: Columns, names: list[str], origin: list[int]) -> float:
    """The share of categories alone, from the combinations that occur."""
    mine = list(zip(*(released[name] for name in names), strict=True))
    theirs = list(zip(*(original[name] for name in names), strict=True))
    kinds = Counter(theirs)
    total = 0.0
    for (row, own), times in Counter(zip(mine, [theirs[o] for o in origin], strict=True)).items():
        alike = {kind: sum(a == b for a, b in zip(row, kind, strict=True)) for kind in kinds}
        most = max(alike.values())
        near = sum(kinds[kind] for kind in kinds if alike[kind] == most)
        total += times * (alike[own] == most) / near
    return total / len(mine)


# A19: anonymeter's tests of its success rate.


@pytest.mark.parametrize(
    ("successes", "trials", "rate", "error", "tolerance"),
    [
        (850, 1000, 0.849, 0.022, 5e-4),
        (0, 1000, 0.002, 0.002, 5e-4),
        (1000, 1000, 0.998, 0.002, 5e-4),
        (23, 100, 0.23998824451588613, 0.08155558571285167, 1e-15),
    ],
)
def test_wilson(successes: int, trials: int, rate: float, error: float, tolerance: float) -> None:
    """A19. The middle of the interval and half its width, at 95 %."""
    low, high = wilson(successes, trials)
    assert (low + high) / 2 == pytest.approx(rate, abs=tolerance)
    assert (high - low) / 2 == pytest.approx(error, abs=tolerance)


# A20: sdcMicro's tests of recordLinkage (examples of Herranz et al. 2015). Its x is the original.


def test_one_to_one_links_all_where_the_nearest_do_not() -> None:
    """A20. Four points, moved outwards but for one, which is moved to the middle."""
    original = [np.array([1.0, 0.0, -1.0, 0.0]), np.array([0.0, 1.0, 0.0, -1.0])]
    released = [np.array([0.0, 0.0, -2.1, 0.0]), np.array([0.0, 2.1, 0.0, -2.1])]
    for distance in ("gower", "l1", "l2"):
        found = link(released, original, np.arange(4), distance=distance, linkage="one-to-one")
        assert found.correct_linkage == 1.0
        assert link(released, original, np.arange(4), distance=distance).correct_linkage < 1.0


def test_one_to_one_links_none() -> None:
    """A20."""
    original, released = [np.array([1.0, 2.0, 3.0, 4.0])], [np.array([2.0, 3.0, 4.0, -0.1])]
    for how in ("one-to-one", "nearest"):
        assert link(released, original, np.arange(4), linkage=how).correct_linkage == 0.0


def test_gower() -> None:
    """A20. (20, f, A), (40, m, B) against (20, f, B), (30, m, B)."""
    x = [np.array([20.0, 40.0]), np.array([1, 2]), np.array([1, 2])]
    y = [np.array([20.0, 30.0]), np.array([1, 2]), np.array([2, 2])]
    assert distances(x, y) == pytest.approx(np.array([[1 / 3, 5 / 6], [2 / 3, 1 / 6]]), rel=1e-15)
    assert link(y, x, np.arange(2), linkage="one-to-one").correct_linkage == 1.0


def test_two_assignments_of_least_total() -> None:
    """The same file: 0, 2, 100 and 0, 100, 101 have two of 99; sdcMicro takes one of them."""
    original, released = [np.array([0.0, 2.0, 100.0])], [np.array([0.0, 100.0, 101.0])]
    options: dict[str, Any] = {"distance": "l1", "scale": "none"}
    found = link(released, original, np.arange(3), linkage="one-to-one", **options)
    assert found.nearest.tolist() == [1, 2, 2]
    assert found.credit.tolist() == [1.0, 0.5, 0.5]
    far = distances(original, released, **options)
    assert far.tolist() == [[0, 100, 101], [2, 98, 99], [100, 0, 1]]


def test_number_of_nearest() -> None:
    """The same file, `n_best`: ties are counted, and 1e-7 is not 0."""
    options: dict[str, Any] = {"distance": "l2", "scale": "none"}
    found = link([np.array([0.0, 1.0])], [np.array([0.0, 0.0])], np.arange(2), **options)
    assert found.nearest.tolist() == [2, 2]
    found = link([np.array([0.0, 2.0])], [np.array([0.0, 1e-7])], np.arange(2), **options)
    assert found.nearest.tolist() == [1, 1]


# Releases, row by row with their originals.


@pytest.mark.parametrize(
    ("name", "classes", "suppressed"),
    [("adult_qi4_k10_s5", 127, 1352), ("adult_qi4_k10_l5_s5", 125, 1372)],
)
def test_suppressed_adult(name: str, classes: int, suppressed: int, reference: Path) -> None:
    """A24's classes. Nothing is recoded: a record that is kept is found 1 in n_q times, and the
    classes are whole, so that each adds 1; a suppressed one is equally far from all."""
    original = read_columns(reference / "data" / "adult" / "adult.csv", ";")
    release = read_columns(reference / "data" / "pairs" / "arx_adult" / f"{name}.csv.gz", ";")
    mine, theirs = codes(release, original, QI4)
    found = link(mine, theirs, np.arange(30162))
    share = (classes + suppressed / 30162) / 30162
    assert found.correct_linkage == pytest.approx(share, rel=1e-14)
    assert found.baseline == pytest.approx(1 / 30162, rel=1e-15)
    assert found.nearest.max() == 30162
    assert found.found.all()


def test_recoded_adult(reference: Path) -> None:
    """All but the race is recoded: what is left is its distinction (A23)."""
    original = read_columns(reference / "data" / "adult" / "adult.csv", ";")
    path = reference / "data" / "pairs" / "arx_adult" / "adult_qi4_k10_s0.csv.gz"
    mine, theirs = codes(read_columns(path, ";"), original, QI4)
    found = link(mine, theirs, np.arange(30162))
    assert found.correct_linkage == pytest.approx(1.657715005636231e-4, rel=1e-14)


@pytest.mark.parametrize(("name", "quasi"), [("qi4_k15_s5", QI4), ("qi8_k5_s5", QI8)])
def test_partly_recoded_adult(name: str, quasi: list[str], reference: Path) -> None:
    original = read_columns(reference / "data" / "adult" / "adult.csv", ";")
    path = reference / "data" / "pairs" / "arx_adult" / f"adult_{name}.csv.gz"
    release = read_columns(path, ";")
    kept = [q for q in quasi if set(release[q]) & set(original[q])]
    mine, theirs = codes(release, original, quasi)
    found = link(mine, theirs, np.arange(30162))
    due = credit(release, original, kept, list(range(30162)))
    assert found.correct_linkage == pytest.approx(due, rel=1e-12)
    assert len(kept) < len(quasi)


@pytest.mark.parametrize("k", [2, 5, 7])
def test_pupils(k: int, reference: Path) -> None:
    """Some pupils are left out; the others are known by their number."""
    folder = reference / "data" / "pairs" / "pycanon"
    original = read_columns(folder / "StudentsMath_Score.csv", ",")
    release = read_columns(folder / f"StudentsMath_Score_k{k}.csv", ",")
    rows = {student: row for row, student in enumerate(original["Student"])}
    origin = [rows[student] for student in release["Student"]]
    mine, theirs = codes(release, original, STUDENT)
    found = link(mine, theirs, np.array(origin))
    assert found.originals == 216
    assert found.correct_linkage == pytest.approx(
        credit(release, original, STUDENT, origin), rel=1e-12
    )


@pytest.mark.parametrize(
    ("folder", "names"),
    [("test", ["age", "gender", "zipcode"]), ("test2", ["ZIPCode", "Age", "Salary", "Disease"])],
)
def test_small_tables_of_arx(folder: str, names: list[str], reference: Path) -> None:
    """Everything is recoded, and all are equally near; or only the quasi-identifiers are."""
    path = reference / "data" / "pairs" / "arx_small"
    original = read_columns(path / f"{folder}.csv", ";")
    release = read_columns(path / f"{folder}_k{2 if folder == 'test' else 3}.csv", ";")
    mine, theirs = codes(release, original, names)
    found = link(mine, theirs, np.arange(len(mine[0])))
    assert found.correct_linkage == pytest.approx(1 / 7 if folder == "test" else 1.0)


def test_microaggregation_hides_one_in_two(reference: Path) -> None:
    """The mean of two records is equally far from both, in decimals: the assignment of least total
    distance cannot tell them apart."""
    folder = reference / "data" / "pairs" / "sdcmicro"
    names = ["Num1", "Num2", "Num3"]
    original = numbers(read_columns(folder / "francdat_num.csv", ","), names)
    path = folder / "francdat_num_microaggregated2.csv"
    released = numbers(read_columns(path, ","), names)
    for distance in ("gower", "l1", "l2"):
        found = link(released, original, np.arange(8), distance=distance, linkage="one-to-one")
        assert found.credit.tolist() == [0.5] * 8
    due = {"gower": 0.25, "l1": 0.25, "l2": 0.375}
    for distance, share in due.items():
        assert link(released, original, np.arange(8), distance=distance).correct_linkage == share
    found = link(released, original, np.arange(8), distance="l2")
    assert found.nearest.tolist() == [2, 1, 2, 2, 1, 2, 2, 2]


@pytest.mark.parametrize("distance", ["gower", "l1", "l2"])
def test_noise(distance: Any, reference: Path) -> None:
    """1,025 patients, 302 of them different, with noise on five numbers: against all pairs."""
    folder = reference / "data" / "pairs" / "privacy_umbrella"
    original = read_columns(folder / "heart.csv", ",")
    release = read_columns(folder / "v5_heart.csv", ",")
    mine, theirs = codes(release, original, HEART_CODES)
    mine, theirs = numbers(release, HEART_NUMBERS) + mine, numbers(original, HEART_NUMBERS) + theirs
    found = link(mine, theirs, np.arange(1025), distance=distance)
    far = distances(mine, theirs, distance=distance)
    near = far <= far.min(axis=1, keepdims=True) + 1e-12
    share = (np.diag(near) / near.sum(axis=1)).mean()
    assert found.correct_linkage == pytest.approx(share, rel=1e-12)
    assert np.array_equal(found.nearest, near.sum(axis=1))
    low, high = found.interval
    assert found.baseline < low < found.correct_linkage < high
