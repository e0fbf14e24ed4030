"""Releases of Adult against the limit: those that ARX made, and plain methods as channels."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sievert
from sievert.commands.compare import distance_to_limit
from sievert.tradeoff import absolute

from .tables import Columns, read_columns

QI4 = ["marital-status", "native-country", "race", "workclass"]
PAIR = ("marital-status", "education")
Pair = tuple[str, str]

# bits told (as in test_compare.py), distortion, and between what the least possible is by a search
# that went on much longer
ARX = {
    "adult_qi4_k10_l5_s5": (0.2971433982003383, 0.0283552152, 0.18621, 0.18632),
    "adult_qi4_k10_s0": (0.08244218385596828, 0.1401100723, 0.01736, 0.01746),
    "adult_qi4_k10_s5": (0.2981631735510722, 0.0280236722, 0.18742, 0.18749),
    "adult_qi4_k15_s5": (0.271147097549097, 0.0328642000, 0.17095, 0.17102),
}
# levels of marital-status and education, share kept (PRAM), share released (sampling):
# distortion, bits told, least possible
METHODS = {
    ("recoding", (0, 1)): (0.1726, 0.3169, 0.0618),
    ("recoding", (1, 0)): (0.1056, 0.4021, 0.1082),
    ("recoding", (1, 1)): (0.2784, 0.2982, 0.0218),
    ("recoding", (1, 2)): (0.3270, 0.2443, 0.0112),
    ("pram", 0.1): (0.0862, 0.3235, 0.1303),
    ("pram", 0.3): (0.2479, 0.1964, 0.0306),
    ("pram", 0.5): (0.3854, 0.1083, 0.0034),
    ("sampling", 0.9): (0.0604, 0.3893, 0.1726),
    ("sampling", 0.7): (0.1811, 0.3028, 0.0574),
    ("sampling", 0.5): (0.3019, 0.2163, 0.0162),
}
# width of intervals or scale of Laplace noise on the age, absolute distortion in years
OF_AGE = {
    ("intervals", 5): (1.1752, 0.0717, 0.0378),
    ("intervals", 10): (2.3489, 0.0614, 0.0195),
    ("intervals", 20): (4.5121, 0.0483, 0.0065),
    ("noise", 2): (1.8625, 0.0619, 0.0253),
    ("noise", 5): (4.3831, 0.0387, 0.0069),
    ("noise", 10): (7.0681, 0.0195, 0.0011),
}
PRINTED = 6e-5  # four places
GAP = 1e-4


@cache
def adult(reference: Path) -> Columns:
    return read_columns(reference / "data" / "adult" / "adult.csv", ";")


def placed(reference: Path, names: list[str], columns: list[str]) -> sievert.Comparison:
    pairs = reference / "data" / "pairs" / "arx_adult"
    return sievert.compare(
        reference / "data" / "adult" / "adult.csv",
        [pairs / f"{name}.csv.gz" for name in names],
        columns,
        "occupation",
        delimiter=";",
        shuffles=0,
        limit=True,
    )


def read_by_hand(original: Columns, release: Columns, columns: list[str]) -> float:
    """The best reading of each released class among the combinations of the original."""
    rows = list(zip(*(original[c] for c in columns), strict=True))
    labels = list(zip(*(release[c] for c in columns), strict=True))
    values = sorted(set(rows))
    classes: dict[Any, list[int]] = {}
    for i, label in enumerate(labels):
        classes.setdefault(label, []).append(i)
    codes = [np.unique(np.array(original[c]), return_inverse=True)[1] for c in columns]
    first = [rows.index(v) for v in values]
    right = 0
    for held in classes.values():
        shared = sum(
            np.bincount(code[held], minlength=int(code.max()) + 1)[code[first]] for code in codes
        )
        right += int(np.max(shared))
    return 1.0 - right / (len(rows) * len(columns))


def test_the_releases_of_arx(reference: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(distance_to_limit, "FEWER_POINTS", 2)
    found = placed(reference, list(ARX), QI4)
    limit = found.limits["occupation"]
    assert (limit.combinations, limit.values, limit.merged) == (720, 720, False)
    assert limit.information == pytest.approx(0.3962645195393264, rel=1e-12)
    assert limit.perfect is None and limit.reason
    pairs = reference / "data" / "pairs" / "arx_adult"
    for name, (told, far, low, high) in ARX.items():
        held = found[name].limit["occupation"]
        assert held.disclosed == pytest.approx(told, rel=1e-12)
        assert held.as_channel == pytest.approx(told, rel=1e-9)  # recoding is a function of the key
        assert held.distortion == pytest.approx(far, abs=1e-10)
        release = read_columns(pairs / f"{name}.csv.gz", ";")
        assert held.distortion == pytest.approx(read_by_hand(adult(reference), release, QI4))
        assert held.bound is not None and held.least is not None and held.ratio is not None
        assert held.bound <= high and low <= held.least
        assert held.least - held.bound <= distance_to_limit.NOTHING * (1 + 1e-9)
        assert held.ratio == pytest.approx(told / held.least)


def test_the_small_release_of_arx(reference: Path) -> None:
    """Three classes of three people each: one of three is read rightly."""
    folder = reference / "data" / "pairs" / "arx_small"
    found = sievert.compare(
        folder / "test2.csv", folder / "test2_k3.csv", ["ZIPCode", "Age"], "Disease",
        shuffles=0, limit=True,
    )  # fmt: skip
    held, limit = found["test2_k3"].limit["Disease"], found.limits["Disease"]
    assert held.distortion == pytest.approx(2 / 3)
    assert held.disclosed == pytest.approx(0.9182958340544894, rel=1e-12)
    assert held.bound is not None and held.least is not None
    assert held.bound <= 0.05667 and held.least >= 0.05663
    assert limit.perfect == pytest.approx(7 / 9, abs=1e-9)


# -- methods as channels --------------------------------------------------------------------------


@cache
def joint(reference: Path) -> tuple[list[Pair], np.ndarray, np.ndarray]:
    """marital-status x education against occupation."""
    table = adult(reference)
    pairs = list(zip(table[PAIR[0]], table[PAIR[1]], strict=True))
    values = sorted(set(pairs))
    x = {v: i for i, v in enumerate(values)}
    y = {v: i for i, v in enumerate(sorted(set(table["occupation"])))}
    counts = np.zeros((len(x), len(y)))
    for pair, secret in zip(pairs, table["occupation"], strict=True):
        counts[x[pair], y[secret]] += 1
    far = [[((a[0] != b[0]) + (a[1] != b[1])) / 2 for b in values] for a in values]
    return values, counts, np.array(far)


def function(values: list[Any], label: Callable[[Any], Any]) -> np.ndarray:
    """The channel of a recoding."""
    labels = sorted({label(v) for v in values})
    channel = np.zeros((len(values), len(labels)))
    channel[np.arange(len(values)), [labels.index(label(v)) for v in values]] = 1.0
    return channel


def recoding(reference: Path, levels: tuple[int, int]) -> np.ndarray:
    folder = reference / "data" / "adult" / "hierarchies"
    trees = []
    for column in PAIR:
        lines = (folder / f"adult_hierarchy_{column}.csv").read_text().splitlines()
        trees.append({line.split(";")[0]: line.split(";") for line in lines})
    return function(
        joint(reference)[0],
        lambda v: tuple(t[x][i] for t, x, i in zip(trees, v, levels, strict=True)),
    )


def pram(reference: Path, share: float) -> np.ndarray:
    """Each column kept, or with the chance `share` one of its values, all as likely."""
    values = joint(reference)[0]
    sides = [sorted({v[i] for v in values}) for i in (0, 1)]
    first, second = ((1 - share) * np.eye(len(s)) + share / len(s) for s in sides)
    rows = [sides[0].index(a) * len(sides[1]) + sides[1].index(b) for a, b in values]
    return np.kron(first, second)[rows]


def sampling(reference: Path, share: float) -> np.ndarray:
    """A record as it is, or nothing of it."""
    number = len(joint(reference)[0])
    return np.hstack((share * np.eye(number), np.full((number, 1), 1 - share)))


WAYS: dict[str, Callable[[Path, Any], np.ndarray]] = {
    "recoding": recoding, "pram": pram, "sampling": sampling,
}  # fmt: skip


@pytest.mark.parametrize("method", METHODS)
def test_methods_against_the_optimum(reference: Path, method: tuple[str, Any]) -> None:
    _, counts, far = joint(reference)
    found = distance_to_limit.against(counts, far, WAYS[method[0]](reference, method[1]), gap=GAP)
    distortion, told, least = METHODS[method]
    assert found.distortion == pytest.approx(distortion, abs=PRINTED)
    assert found.disclosed == pytest.approx(told, abs=PRINTED)
    assert found.bound is not None and found.least is not None
    assert found.bound - PRINTED <= least <= found.least + PRINTED
    assert found.least - found.bound <= GAP * (1 + 1e-9)
    assert found.ratio is not None and found.ratio > 2


def test_sampling_is_the_chord(reference: Path) -> None:
    """What sampling tells and distorts lies on the line from everything to nothing."""
    _, counts, far = joint(reference)
    whole = distance_to_limit.against(counts, far, np.eye(len(counts)))
    nothing = distance_to_limit.against(counts, far, np.ones((len(counts), 1)))
    for share in (0.9, 0.5):
        found = distance_to_limit.against(counts, far, sampling(reference, share))
        assert found.disclosed == pytest.approx(share * whole.disclosed)
        assert found.distortion == pytest.approx((1 - share) * nothing.distortion)


@pytest.mark.parametrize("method", OF_AGE)
def test_methods_on_numbers(reference: Path, method: tuple[str, int]) -> None:
    table = adult(reference)
    ages, x = np.unique(np.array(table["age"], dtype=int), return_inverse=True)
    y = np.unique(np.array(table["occupation"]), return_inverse=True)[1]
    counts = np.bincount(x * (y.max() + 1) + y, minlength=len(ages) * (y.max() + 1))
    if method[0] == "intervals":
        channel = function(ages.tolist(), lambda age: age // method[1])
    else:  # Laplace's, on whole years
        steps = np.abs(np.arange(ages[0] - 120, ages[-1] + 121) - ages[:, None])
        chances = np.where(steps <= 120, np.exp(-steps / method[1]), 0.0)
        channel = chances / chances.sum(axis=1, keepdims=True)
    found = distance_to_limit.against(
        counts.reshape(len(ages), -1), absolute(ages), channel, gap=GAP
    )
    distortion, told, least = OF_AGE[method]
    assert found.distortion == pytest.approx(distortion, abs=PRINTED)
    assert found.disclosed == pytest.approx(told, abs=PRINTED)
    assert found.bound is not None and found.least is not None
    assert found.bound - PRINTED <= least <= found.least + PRINTED
    assert found.ratio is not None and found.ratio > 1.5
