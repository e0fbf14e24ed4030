"""Weights, wildcard frequencies and values per record in assess and explain, as in sdcMicro."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from helpers.commandline import run

import sievert
from sievert.errors import ExhaustedError, InputError, UsageError

# sdcMicro, tests/testthat/test_indivRisk.R.
EIGHT = {
    "A": ["2", "3", "2", "2", "3", "3", "1", "2"],
    "B": ["3", "3", "3", "3", "3", "3", "4", "3"],
    "C": ["1", "3", "1", "2", "1", "1", "1", "1"],
    "w": ["18", "45.5", "39", "17", "92", "8", "123.5", "51"],
}
# SDC Practice Guide, tables 4.1, 4.3 and 4.5: residence, gender, education, labour, health, weight.
TEN = """U F si E yes 180; U F si E yes 180; U F pi N yes 215; U M sc E yes 76; R F sc J yes 186;
U M sc E no 76; U F pc N no 180; U M ps J yes 215; U F si N no 186; U F si N yes 76"""
# sdcMicro, freqCalc: francdat with missing keys.
KEYS = ["Key1", "Key2", "Key3", "Key4"]
LACKING = ((3, ["Key3"]), (4, ["Key1", "Key2"]), (5, ["Key4"]), (6, ["Key1"]))


def records(path: Path) -> dict[str, list[float]]:
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    return {name: [float(row[name] or "nan") for row in rows] for name in rows[0]}


@pytest.mark.parametrize("function", [sievert.assess, sievert.explain])
@pytest.mark.parametrize(("method", "three"), [("approx", 0.01369863), ("exact", 0.01355297)])
def test_individual_risk_of_sdcmicro(
    function: Any, method: str, three: float, tmp_path: Path
) -> None:
    path = tmp_path / "r.csv"
    function(EIGHT, ["A", "B", "C"], weight="w", individual_risk=method, records=path)
    found = records(path)
    assert found["class_size"] == [3, 1, 3, 1, 2, 2, 1, 3]
    assert found["population_frequency"] == [108, 45.5, 108, 17, 100, 100, 123.5, 108]
    two = 0.01877883
    expected = [three, 0.08579129, three, 0.17707583, two, two, 0.03931625, three]
    assert found["individual_risk"] == pytest.approx(expected, abs=5e-9)


def test_the_practice_guide(tmp_path: Path) -> None:
    names = ("residence", "gender", "education", "labour", "health", "weight")
    rows = [dict(zip(names, line.split(), strict=True)) for line in TEN.split(";")]
    table = {name: [row[name] for row in rows] for name in names}
    found = sievert.assess(
        table, names[:4], ["health"], weight="weight", records=tmp_path / "r.csv"
    )
    each = records(tmp_path / "r.csv")
    assert each["class_size"] == [2, 2, 1, 2, 1, 2, 1, 1, 2, 2]
    assert each["population_frequency"] == [360, 360, 215, 152, 186, 152, 180, 215, 262, 262]
    assert each["health.l_diversity"] == [1, 1, 1, 2, 1, 2, 1, 1, 2, 2]
    assert found.inference["health"]["l_diversity"].value == 1
    assert found.population is not None
    assert found.population["global_risk"]["value"] == pytest.approx(0.01582, abs=5e-6)
    assert found.population["expected_reidentifications"]["value"] == pytest.approx(
        0.1582, abs=5e-5
    )


@pytest.mark.parametrize(
    ("alpha", "sample", "people"),
    [
        (1, [3, 2, 4, 3, 3, 2, 2, 3], [149, 84.5, 194.5, 563, 566, 549, 22, 149]),
        (
            0.5,
            [2.5, 1.5, 4, 2.5, 2, 1.5, 1.5, 2.5],
            [129.5, 65, 194.5, 292.5, 553.5, 278.5, 13.5, 129.5],
        ),
    ],
)
def test_frequencies_of_sdcmicro(
    alpha: float, sample: list[float], people: list[float], reference: Path, tmp_path: Path
) -> None:
    with (reference / "data" / "sdcmicro" / "francdat.csv").open(newline="") as file:
        rows: list[dict[str, Any]] = list(csv.DictReader(file))
    for record, keys in LACKING:
        rows[record - 1] |= dict.fromkeys(keys)
    table = {k: [row[k] for row in rows] for k in (*KEYS, "w")}
    path = tmp_path / "r.csv"
    found = sievert.assess(table, KEYS, weight="w", missing="wildcard", alpha=alpha, records=path)
    each = records(path)
    assert each["frequency"] == sample and each["population_frequency"] == people
    k = found.reidentification["k_anonymity"]
    assert k.value == min(sample) and k.details["missing_as_value"] == 1
    # Between f = 1 and f = 2 sdcMicro leaves 0; the risk of a record that 1.5 match is not 0.
    assert min(each["individual_risk"]) > 0


TABLE = {"q": ["a", "a", None, "b"], "w": ["2", "3", "4", "5"], "s": ["x", "x", "y", None]}


def test_values_of_matching_records_are_judged_by_the_worse_reading() -> None:
    found = sievert.assess(TABLE, "q", "s", missing="wildcard", policy={
        "roles": {"ignored": {"w": "a weight"}}, "limits": {"l_diversity": {"min": 2}},
    })  # fmt: skip
    number = found.inference["s"]["l_diversity"]
    assert number.value == 2 and number.details["reading"] == "wildcard"
    assert number.details["missing_as_value"] == 1
    assert found.verdicts is not None
    (verdict,) = found.verdicts
    shown = repr(sievert.assess(TABLE, "q", "s", missing="wildcard"))
    assert "l-diversity" in shown and "With a missing value as a value of its own: 1." in shown
    assert verdict.met is False and verdict.value in (0, 1)


def test_the_chapter_of_the_population_is_on_the_page(tmp_path: Path) -> None:
    path, page, out = (tmp_path / name for name in ("t.csv", "p.md", "r.json"))
    path.write_text("q,w,s\na,2,x\na,3,y\n,4,y\nb,5,x\n")
    options = ["--weight", "w", "--fraction", "0.1", "--missing", "wildcard", "--alpha", "0.5"]
    command = ["assess", str(path), "-q", "q", "-s", "s", *options, "--individual-risk", "approx"]
    assert run(*command, "--markdown", str(page), "--json", str(out)) == 0
    text, content = page.read_text(), json.loads(out.read_text())
    assert "Individual risk: mean (global risk), by weights" in text and "Zayatz" in text
    assert "counts as 0.5 of a match" in text and "approximated" in text
    chapter = content["population"]
    assert chapter["size"] == 40 and chapter["alpha"] == 0.5 and chapter["missing"] == "wildcard"
    assert chapter["global_risk"]["method"] == "approx"
    assert content["roles"]["weight"] == "w" and content["roles"]["unassessed"] == []


def test_a_weight_given_here_is_no_role_of_the_policy() -> None:
    """It fails closed: what a column is under a policy, the policy says."""
    policy = {"roles": {"quasi": ["q"]}, "limits": {"k_anonymity": {"min": 1}}}
    table = {"q": ["a", "a"], "w": ["2", "3"]}
    assert sievert.assess(table, policy=policy, weight="w").met is False
    policy["roles"]["weight"] = "w"  # type: ignore[assignment]
    assert sievert.assess(table, policy=policy, weight="w").met is True


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"alpha": 0.5}, UsageError, "missing values that match anything"),
        ({"alpha": 1.5, "missing": "wildcard"}, UsageError, "from 0 to 1"),
        ({"alpha": "x", "missing": "wildcard"}, UsageError, "from 0 to 1"),
        ({"alpha": "0.1234567", "missing": "wildcard"}, UsageError, "six digits"),
        ({"individual_risk": "approx"}, UsageError, "follows from weights"),
        ({"weight": "w", "individual_risk": "fast"}, UsageError, "'exact', 'approx'"),
        ({"weight": "q"}, UsageError, "quasi-identifier and cannot be the weight"),
        ({"weight": "v"}, UsageError, "weight: column 'v' does not exist"),
        ({"weight": "minus"}, InputError, "1 record with a weight below 0"),
        ({"weight": "w", "person": "p"}, UsageError, "people with several rows"),
    ],
)
@pytest.mark.parametrize("function", [sievert.assess, sievert.explain])
def test_what_is_refused(
    function: Any, options: dict[str, Any], error: type[Exception], words: str
) -> None:
    table = {**TABLE, "minus": ["9", "9", "9", "-1"], "p": ["1", "1", "2", "3"]}
    with pytest.raises(error, match=words):
        function(table, "q", **options)


def test_what_would_take_too_long_is_refused_before_it_starts(tmp_path: Path) -> None:
    columns = {f"q{i}": [None if n >> i & 1 else "v" for n in range(128)] for i in range(7)}
    for function in (sievert.assess, sievert.explain):
        with pytest.raises(ExhaustedError, match="would take too long"):
            function({**columns, "w": ["1"] * 128}, list(columns), weight="w", missing="wildcard")


def test_nothing_of_the_population_is_shareable(
    tmp_path: Path, capsys: pytest.CaptureFixture
) -> None:
    path = tmp_path / "t.csv"
    path.write_text("q,w\na,2\na,3\n")
    assert run("assess", str(path), "-q", "q", "--weight", "w", "--share") == 7
    assert "moved by one person" in capsys.readouterr().err
    found = sievert.assess(path, "q", weight="w")
    assert "population" not in found.share().to_dict()


def test_weights_and_another_size_of_the_population() -> None:
    """394 people by the weights: a size near that is the same population, another is not."""
    for size, told in ((394, False), (410, False), (5000, True)):
        found = sievert.assess(EIGHT, ["A", "B", "C"], weight="w", population_size=size)
        assert any("the weights add up to 394 people" in c for c in found.cautions) is told
    assert "This file also holds w" in str(sievert.assess(EIGHT, ["A", "B", "C"], weight="w"))


def test_a_risk_by_weights_cannot_be_limited() -> None:
    with pytest.raises(UsageError, match=r"no limit on it; average_risk"):
        sievert.assess(EIGHT, ["A"], policy={"limits": {"global_risk": {"max": 0.05}}})
