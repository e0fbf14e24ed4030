"""`compromise`: the experiment on a table, what it refuses, and numbers in an assessment."""

from __future__ import annotations

import csv
import doctest
import json
import math
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pandas
import pytest
from helpers.commandline import run

import sievert
from sievert.charts import curves
from sievert.cli import outputs
from sievert.commands.compromise import api as intrusion
from sievert.commands.compromise import experiment
from sievert.errors import InputError, UsageError
from sievert.report import builder, terminal

Table = dict[str, list[Any]]
KNOWN = ["sex", "age"]


def people(number: int = 300, seed: int = 2) -> Table:
    random = Random(seed)
    return {
        "id": [f"p{i}" for i in range(number)],
        "sex": [random.choice("fm") for _ in range(number)],
        "age": [str(random.randrange(20, 30)) for _ in range(number)],
        "pay": [str(10 * random.randrange(1, 13)) for _ in range(number)],
    }


def written(path: Path, table: Table) -> Path:
    pandas.DataFrame(table).to_csv(path, index=False)
    return path


@pytest.mark.parametrize("module", [intrusion, curves, experiment])
def test_examples(module: Any) -> None:
    assert doctest.testmod(module).failed == 0


# -- the experiment -------------------------------------------------------------------------------


def test_everybody_unique_and_all_known() -> None:
    """Whoever is sampled is known; of the others nothing is: H0 = (1 - fraction) log2 |D|."""
    number = 200
    table = {"key": [str(i) for i in range(number)], "pay": [str(i % 8) for i in range(number)]}
    for fraction in (0.1, 0.5):
        found = sievert.compromise(table, "key", "pay", parameters=[fraction], replicates=3)
        (point,) = found.curves["pay"][0].points
        due = (1 - fraction) * 3
        assert point.combinations["initial_entropy"].mean == pytest.approx(due, rel=1e-12)
        assert point.exact == pytest.approx((fraction, fraction))


def test_a_census_tells_what_is_in_the_table() -> None:
    """A sample of all: the intruder has the frequencies of the matching class."""
    table = people()
    found = sievert.compromise(table, KNOWN, "pay", parameters=[1], replicates=1)
    point = found.curves["pay"][0].points[-1]
    classes: dict[tuple[str, str], list[str]] = {}
    for sex, age, pay in zip(table["sex"], table["age"], table["pay"], strict=True):
        classes.setdefault((sex, age), []).append(pay)

    def entropy(values: list[str]) -> float:
        shares = [values.count(v) / len(values) for v in set(values)]
        return -math.fsum(p * math.log2(p) for p in shares)

    due = [entropy(values) for values in classes.values()]
    assert point.targets == len(classes)
    assert point.combinations["initial_entropy"].mean == pytest.approx(np.mean(due))
    assert point.combinations["initial_entropy"].minimum == pytest.approx(min(due))
    people_ = [e for e, values in zip(due, classes.values(), strict=True) for _ in values]
    assert point.records["initial_entropy"].mean == pytest.approx(np.mean(people_))
    assert found.curves["pay"][0].error == 0


def test_nearly_certain_is_not_exact() -> None:
    """Nine of ten alike leave 0.47 bits: only the class of one value is disclosed exactly."""
    table = {"town": ["a"] * 10 + ["b"] * 10, "pay": ["1"] * 9 + ["2"] + ["5"] * 10}
    found = sievert.compromise(table, "town", "pay", parameters=[1], replicates=1, epsilon=[1])
    (point,) = found.curves["pay"][0].points
    assert point.combinations["initial_entropy"].mean == pytest.approx(0.4689955936 / 2)
    assert point.exact == (0.5, 0.5) and point.near[1] == (1, 1)


@pytest.mark.parametrize(
    ("method", "parameters", "worse"),
    [("sampling", [0.1, 0.5], 1), ("query", [2, 16], 0), ("noise", [10, 100], 0)],
)
def test_less_utility_more_is_left(method: str, parameters: list[float], worse: int) -> None:
    found = sievert.compromise(
        people(), KNOWN, "pay", method=method, parameters=parameters, replicates=3
    )
    left = [c.points[0].combinations["initial_entropy"].mean for c in found.curves["pay"]]
    assert left[worse] < left[1 - worse]
    errors = [c.error for c in found.curves["pay"]]
    assert errors[0] is not None and errors[1] is not None
    assert errors[worse] <= errors[1 - worse] + 0.02
    for c in found.curves["pay"]:
        assert [p.known for p in c.points] == [1, 2]
        assert [p.subsets for p in c.points] == [2, 1]


def test_windows_of_epsilon() -> None:
    found = sievert.compromise(
        people(), KNOWN, "pay", parameters=[0.5], replicates=2, epsilon=[0, 110, 1000]
    )
    for point in found.curves["pay"][0].points:
        assert point.near[0] == point.exact
        assert point.near[110] == (1, 1) == point.near[1000]  # all values are within 110


def test_the_same_twice_and_on_any_threads() -> None:
    def json_(**how: Any) -> str:
        found = sievert.compromise(people(), KNOWN, "pay", method="noise", replicates=2, **how)
        return outputs.as_json(found.to_dict())

    assert json_(threads=1) == json_(threads=2)
    assert json_() != json_(seed=1)


def test_any_other_method_from_a_release() -> None:
    original = people()
    release = {
        **original,
        "sex": ["*"] * 300,
        "pay": [str(10 * round(int(p) / 30) * 3) for p in original["pay"]],
    }
    found = sievert.compromise(
        original, KNOWN, "pay", method="release", release=release, max_known=1
    )
    (curve,) = found.curves["pay"]
    assert curve.parameter is None and curve.error is None
    assert curve.points[0].combinations["initial_entropy"].mean < math.log2(5) + 0.01
    rows = [i for i in range(300) if i % 3]
    Random(1).shuffle(rows)
    some = {c: [values[i] for i in rows] for c, values in original.items()}
    found = sievert.compromise(original, KNOWN, "pay", method="release", release=some, key="id")
    whole = sievert.compromise(original, KNOWN, "pay", parameters=[1], replicates=1)
    mine, theirs = (f.curves["pay"][0].points[-1].records for f in (found, whole))
    assert mine["initial_entropy"].mean != theirs["initial_entropy"].mean
    with pytest.raises(UsageError, match="who is who"):
        sievert.compromise(original, KNOWN, "pay", method="release", release=some)
    with pytest.raises(UsageError, match="lacks"):
        sievert.compromise(
            original, KNOWN, "pay", method="release", release={"sex": original["sex"]}
        )


def test_values_left_out_and_rounded() -> None:
    table = people()
    table["pay"][:10] = [None] * 10
    found = sievert.compromise(table, KNOWN, "pay", parameters=[0.5], replicates=1, step=50)
    assert found.domains["pay"] == {"values": 3, "records": 290}
    assert any("10 records without a number" in w for w in found.warnings)
    shown = sievert.compromise(
        table, KNOWN, "pay", parameters=[0.5], replicates=1, step=50, show_values=True
    )
    assert shown.domains["pay"]["low"] == 0 and shown.domains["pay"]["high"] == 100


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"sensitive": "sex"}, "does not hold numbers"),
        ({"sensitive": None}, "no confidential column"),
        ({"method": "magic"}, "magic"),
        ({"method": "release"}, "--release"),
        ({"parameters": []}, "no fraction"),
        ({"parameters": [0]}, "above 0"),
        ({"method": "query", "parameters": [3]}, "even"),
        ({"replicates": 0}, "--replicates"),
        ({"epsilon": [-1]}, "--epsilon"),
        ({"step": -1}, "--step"),
        ({"max_known": 0}, "--max-known"),
        ({"missing": "drop"}, "value of its own"),
        ({"prior": "other"}, "prior"),
        ({"records": "r.csv", "key": "id"}, "--records without --key"),
        ({"records": "r.csv", "max_known": 1}, "--records without"),
    ],
)
def test_what_does_not_go(how: dict[str, Any], words: str) -> None:
    given: dict[str, Any] = {"quasi": KNOWN, "sensitive": "pay", "replicates": 1, **how}
    with pytest.raises(UsageError, match=words):
        sievert.compromise(people(), **given)


def test_too_many_numbers_and_none() -> None:
    table = people(900)
    table["pay"] = [str(i) for i in range(900)]
    with pytest.raises(UsageError, match="900 different numbers") as error:
        sievert.compromise(table, KNOWN, "pay")
    assert "--step 20" in str(error.value)
    table["pay"] = ["*"] * 900
    with pytest.raises((UsageError, InputError)):
        sievert.compromise(table, KNOWN, "pay")


# -- command line ---------------------------------------------------------------------------------


def test_the_command(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    table = written(tmp_path / "people.csv", people())
    out, records = tmp_path / "out.json", tmp_path / "records.csv"
    code = run("compromise", table, "-q", "sex,age", "-s", "pay", "--fraction", "0.1,0.5",
                "--replicates", "2", "--epsilon", "20", "--json", out, "--records", records,
                "--charts", tmp_path / "charts", "--timings", tmp_path / "t.json")  # fmt: skip
    text = capfd.readouterr().out
    assert code == 0 and "bits are left to guess of pay" in text and "Known within 20" in text
    assert len(text.splitlines()) <= 45
    assert all(len(line) <= 100 for line in text.splitlines())
    found = json.loads(out.read_text())
    assert set(found) >= {"curves", "targets", "table", "roles", "warnings"}
    first = found["curves"]["pay"][0]
    assert first["parameter"] == 0.1 and len(first["points"]) == 2
    assert {"over_combinations", "over_records"} <= set(first["points"][0])
    assert found["targets"]["pay"][0]["approximate"][0]["epsilon"] == 20
    with records.open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 300 and [r["record"] for r in rows[:2]] == ["1", "2"]
    assert {"pay_initial_entropy_0.1", "pay_area_0.5", "pay_range_0.5"} <= set(rows[0])
    assert sorted(p.name for p in (tmp_path / "charts").iterdir()) == [
        "area_pay.svg", "initial_entropy_pay.svg",
    ]  # fmt: skip
    run("compromise", table, "-q", "sex", "-s", "pay", "--all", "--replicates", "1")
    words = " ".join(capfd.readouterr().out.split())
    assert "300 records have a number in pay, 12 different ones." in words
    assert "5 % of people have at most" in words and "mean over combinations" in words


@pytest.mark.parametrize(
    ("extra", "code", "words"),
    [
        (["--size", "4"], 2, "--method query"),
        (["--fraction", "x"], 2, "numbers"),
        (["--share"], 7, "not shareable"),
        (["--hierarchy", "age=prefix"], 2, "--hierarchy"),
        (["--method", "release"], 2, "--release"),
    ],
)
def test_refused(
    tmp_path: Path, extra: list[str], code: int, words: str, capfd: pytest.CaptureFixture[str]
) -> None:
    table = written(tmp_path / "people.csv", people(40))
    assert run("compromise", table, "-q", "sex,age", "-s", "pay", *extra) == code
    error = capfd.readouterr().err
    assert words in error and len(error.splitlines()) == 1


@pytest.mark.parametrize("method", ["sampling", "query", "noise", "release"])
def test_no_cell_is_told(tmp_path: Path, method: str, capfd: pytest.CaptureFixture[str]) -> None:
    """Every known value a token, every number far from the others and from 0."""
    random = Random(3)
    pays = [str(7_391_000 + 10_007 * i * i) for i in range(8)]
    held = {
        "=town": [f"qxt{random.randrange(4)}z" for _ in range(60)],
        "age": [f"qxa{random.randrange(6)}z" for _ in range(60)],
        "pay": [random.choice(pays) for _ in range(60)],
    }
    table = written(tmp_path / "people.csv", held)
    extra = ["--release", table] if method == "release" else []
    code = run("compromise", table, "-q", "=town,age", "-s", "pay", "--method", method, *extra,
                "--replicates", "2", "--all", "--epsilon", "5", "--json", tmp_path / "o.json",
                "--records", tmp_path / "r.csv", "--charts", tmp_path / "c", "--debug",
                "--timings", tmp_path / "t.json")  # fmt: skip
    out, err = capfd.readouterr()
    assert code == 0, err
    written_ = [p for p in tmp_path.rglob("*") if p.is_file() and p != table]
    assert len(written_) == 5
    timings = (tmp_path / "t.json").read_text()  # whose digits are chance
    for text in (out, err, *(p.read_text() for p in written_)):
        assert "qx" not in text
        assert text == timings or not any(pay in text.replace(",", "") for pay in pays)
    assert run("compromise", table, "-q", "age", "-s", "=town") == 2
    assert "qx" not in capfd.readouterr().err


# -- numbers in an assessment ---------------------------------------------------------------------


def test_an_assessment_tells_how_near() -> None:
    table = {
        "zip": ["1", "1", "2", "2", "3", "3"],
        "pay": [77, 80, 50, 107, 10, 10],
    }
    found = sievert.assess(pandas.DataFrame(table), "zip", "pay")
    near = found.approximate["pay"]
    assert near["worst"]["area"] == 0 and near["worst"]["records"] == 2
    assert near["mean"]["classes"]["area"] == pytest.approx((3 + 57 + 0) / 3)
    assert near["mean"]["records"]["initial_entropy"] == pytest.approx(2 / 3)
    assert near["table"]["range"] == 97
    text = json.dumps(found.to_dict())
    assert '"approximate"' in text and "steps" not in text
    page = terminal.as_text(terminal.render(builder.screen(found), everything=True))
    assert "Area below H(epsilon)" in page
    assert "approximate" not in found.share().to_dict()
    # Layla (50 or 107) is better off than Qays (77 or 80), though both are one bit.
    without = sievert.assess(
        pandas.DataFrame({c: v[:4] for c, v in table.items()}), "zip", "pay"
    ).approximate["pay"]
    assert without["worst"]["area"] == pytest.approx(3)


def test_texts_and_too_many_numbers_are_left_alone() -> None:
    table = people()
    assert sievert.assess(table, KNOWN, "pay").approximate == {}  # text, unless typed
    frame = pandas.DataFrame({"zip": ["1"] * 500, "pay": range(500)})
    assert sievert.assess(frame, "zip", "pay").approximate == {}
    dates = pandas.DataFrame({"zip": ["1", "2"], "day": pandas.to_datetime(["2020-01-01"] * 2)})
    assert sievert.assess(dates, "zip", "day").approximate == {}


def test_the_chart_of_an_assessment(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    table = written(tmp_path / "people.csv", people())
    folder = tmp_path / "charts"
    code = run("assess", table, "-q", "sex", "-s", "pay", "--type", "pay=int", "--charts", folder)
    assert code == 0 and (folder / "approximate_pay.svg").exists()
    bare = tmp_path / "bare"
    assert run("assess", table, "-q", "sex", "-s", "pay", "--charts", bare) == 0
    assert [p.name for p in bare.iterdir()] == ["class_sizes.svg"]
