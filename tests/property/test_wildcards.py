"""Frequencies, weights, risks and values of records where a missing value matches anything.

Every number is computed once more, record against record, with fractions.
"""

from __future__ import annotations

import csv
import math
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

import pytest

import sievert
from sievert import session
from sievert.population import Weighted, individual_risk

WEIGHTS = ("1", "2.5", "17", "1.05", "3", "1e3")
ALPHAS = (None, 1, "0.5", 0.3, 0)
Row = dict[str, Any]


def random_rows(random: Random) -> tuple[list[Row], list[str]]:
    """A small table with missing values in several columns, ties, weights and a secret."""
    quasi = [f"q{i}" for i in range(random.randint(1, 4))]
    lacking, spread = random.choice((0.1, 0.3, 0.6)), random.randint(1, 3)
    rows: list[Row] = []
    for number in range(random.randint(2, 14)):
        row: Row = {
            q: None if random.random() < lacking else random.choice("abc"[:spread]) for q in quasi
        }
        row |= {"w": random.choice(WEIGHTS), "s": random.choice(("x", "y", "z", None))}
        rows.append(row | {"n": str(number)})
    rows[0][quasi[0]] = None  # some value is missing
    return rows, quasi


def columns_of(rows: list[Row]) -> dict[str, list[Any]]:
    return {name: [row[name] for row in rows] for name in rows[0]}


def matches(a: Row, b: Row, quasi: list[str]) -> bool:
    return all(a[q] is None or b[q] is None or a[q] == b[q] for q in quasi)


def slowly(rows: list[Row], quasi: list[str], alpha: Fraction) -> list[tuple[Fraction, ...]]:
    """Of each record f, F and l, by the definition."""
    numbers = []
    for a in rows:
        same = [b for b in rows if matches(a, b, quasi)]
        part = [
            alpha if any(b[q] is None and a[q] is not None for q in quasi) else Fraction(1)
            for b in same
        ]
        people = sum((p * Fraction(b["w"]) for p, b in zip(part, same, strict=True)), Fraction(0))
        values = Fraction(len({b["s"] for b in same}))
        numbers.append((sum(part, Fraction(0)), people, values))
    return numbers


def read(path: Path) -> list[dict[str, float]]:
    with path.open(newline="") as file:
        return [{k: float(v or "nan") for k, v in row.items()} for row in csv.DictReader(file)]


def assessed(rows: list[Row], quasi: list[str], path: Path, **options: Any) -> sievert.Assessment:
    """The assessment with weights and a file of records where missing values match anything."""
    return sievert.assess(
        columns_of(rows), quasi, ["s"], weight="w", missing="wildcard", records=path, force=True,
        **options,
    )  # fmt: skip


@pytest.mark.parametrize("seed", range(12))
def test_every_record_agrees_with_brute_force(seed: int, tmp_path: Path) -> None:
    random = Random(f"wildcards {seed}")
    rows, quasi = random_rows(random)
    given = ALPHAS[seed % len(ALPHAS)]
    alpha = Fraction(1 if given is None else str(given))
    expected, path = slowly(rows, quasi, alpha), tmp_path / "r.csv"
    method = random.choice(("exact", "approx"))
    risks = [
        float(individual_risk(Weighted.of_records([f], [w]), method)[0]) for f, w, _ in expected
    ]
    found = assessed(rows, quasi, path, alpha=given, individual_risk=method)
    explained = tmp_path / "e.csv"
    about = sievert.explain(
        columns_of(rows), quasi, ["s"], weight="w", missing="wildcard", records=explained,
        alpha=given, individual_risk=method,
    )  # fmt: skip
    for records in (read(path), read(explained)):
        assert [r["record"] for r in records] == list(range(1, len(rows) + 1))
        assert [r["frequency"] for r in records] == [float(f) for f, _, _ in expected]
        assert [r["population_frequency"] for r in records] == [float(w) for _, w, _ in expected]
        assert [r["s.l_diversity"] for r in records] == [float(v) for _, _, v in expected]
        assert [r["individual_risk"] for r in records] == pytest.approx(risks, rel=1e-14)
    assert found.reidentification["k_anonymity"].value == float(min(f for f, _, _ in expected))
    below = {str(k): sum(f < k for f, _, _ in expected) for k in (2, 3, 5)}
    assert found.reidentification["records_below"].details["by_k"] == below
    assert found.inference["s"]["l_diversity"].value == min(v for _, _, v in expected)
    by_class = sievert.l_diversity_by_class(columns_of(rows), quasi, "s", missing="wildcard")
    of_rows = zip(rows, expected, strict=True)
    assert by_class == {tuple(row[q] for q in quasi): v for row, (_, _, v) in of_rows}
    assert found.population is not None
    for chapter in (found.population, about.chapters["population"]):
        assert chapter["expected_reidentifications"]["value"] == pytest.approx(math.fsum(risks))
        assert chapter["global_risk"]["method"] == method
        assert chapter["alpha"] == float(alpha)


@pytest.mark.parametrize("seed", range(3))
def test_laws(seed: int, tmp_path: Path) -> None:
    random = Random(f"laws of wildcards {seed}")
    rows, quasi = random_rows(random)
    path = tmp_path / "r.csv"
    whole = assessed(rows, quasi, path)
    records = read(path)
    # The order of the records does not matter.
    order = random.sample(range(len(rows)), len(rows))
    again = assessed([rows[i] for i in order], quasi, path)
    assert [r | {"record": 0} for r in read(path)] == [records[i] | {"record": 0} for i in order]
    assert again.to_dict()["population"] == whole.to_dict()["population"]
    # More records match than share a class, and they have no fewer values.
    strict = sievert.assess(columns_of(rows), quasi, ["s"], weight="w", records=path, force=True)
    for own, wild in zip(read(path), records, strict=True):
        assert wild["frequency"] >= own["class_size"] == wild["class_size"]
        assert wild["s.l_diversity"] >= own["s.l_diversity"]
        assert wild["population_frequency"] >= own["population_frequency"]
        assert wild["individual_risk"] <= own["individual_risk"]
    assert whole.population is not None and strict.population is not None
    beside = whole.population["global_risk"]["details"]["missing_as_value"]
    assert beside == strict.population["global_risk"]["value"]
    assert beside >= whole.population["global_risk"]["value"]
    # The less a record counts that lacks a value, the fewer match.
    assessed(rows, quasi, path, alpha=1)
    assert read(path) == records
    before = records
    for alpha in (0.7, 0.5, 0):
        assessed(rows, quasi, path, alpha=alpha)
        fewer = read(path)
        assert all(a["frequency"] <= b["frequency"] for a, b in zip(fewer, before, strict=True))
        before = fewer
    # With a weight of 1 each, nobody is outside of the sample: the risk is one over the frequency.
    ones = assessed([row | {"w": "1"} for row in rows], quasi, path)
    for r in read(path):
        assert r["frequency"] == r["population_frequency"]
        assert r["individual_risk"] == pytest.approx(1 / r["frequency"], rel=1e-15)
    assert ones.reidentification == whole.reidentification and ones.inference == whole.inference


def test_engines_agree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """NumPy, the engine's SQL and packed keys count the same classes and weights."""
    rows, quasi = random_rows(Random("engines"))
    results = []
    for small, large in ((10**12, 10**12), (0, 10**12), (0, 0)):
        for name, value in (("SMALL", small), ("PACKED_FROM", large), ("LOADING", large)):
            monkeypatch.setattr(session, name, value)
        found = assessed(rows, quasi, tmp_path / "r.csv", alpha="0.5", fraction="0.1")
        results.append((found.to_dict(), (tmp_path / "r.csv").read_text()))
    assert results[0] == results[1] == results[2]


def test_without_missing_values_the_readings_are_one(tmp_path: Path) -> None:
    rows, quasi = random_rows(Random("none missing"))
    rows = [row | {q: row[q] or "a" for q in quasi} for row in rows]
    wild = assessed(rows, quasi, tmp_path / "w.csv", alpha=0.5)
    plain = sievert.assess(columns_of(rows), quasi, ["s"], weight="w", records=tmp_path / "p.csv")
    assert (tmp_path / "w.csv").read_text() == (tmp_path / "p.csv").read_text()
    assert wild.population == plain.population and wild.inference == plain.inference


def test_weights_beyond_64_bits_are_added_exactly(tmp_path: Path) -> None:
    rows = [
        {"a": "1", "w": "1e19", "s": "x"}, {"a": None, "w": "1.000000001", "s": "y"},
        {"a": "2", "w": "1e19", "s": "x"},
    ]  # fmt: skip
    assessed(rows, ["a"], tmp_path / "r.csv", alpha=0.5)
    wild = [r["population_frequency"] for r in read(tmp_path / "r.csv")]
    share = Fraction("1.000000001")
    assert wild == [float(10**19 + share / 2), float(2 * 10**19 + share), float(10**19 + share / 2)]
