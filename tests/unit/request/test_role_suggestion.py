"""What a table without roles is answered with: likely roles, reasons, a command to go on with."""

from __future__ import annotations

import shlex
from pathlib import Path
from random import Random
from typing import Any

import pytest
from helpers.commandline import run

import sievert
from sievert.errors import MissingRolesError, UsageError
from sievert.request.role_suggestion import (
    ColumnEvidence,
    examine_values,
    suggest_role,
)

ROWS = 500


def columns() -> dict[str, list[Any]]:
    numbers = range(ROWS)
    return {
        "patient_id": [f"P{i}" for i in numbers],
        "sex": ["mf"[i % 2] for i in numbers],
        "seen": [f"{1950 + i % 40}-0{1 + i % 9}-1{i % 10}" for i in numbers],
        "diagnosis": [f"canary{i % 7}" for i in numbers],
        "pay": [-10000 if i % 10 < 7 else 2000 + 3 * i for i in numbers],
        "heat": [999 if i % 5 == 0 else 36 + i % 5 for i in numbers],
        "ward": [f"W{i % 6}" for i in numbers],
        "rate": [i * i for i in numbers],
        "site": ["here"] * ROWS,
    }


@pytest.fixture
def path(tmp_path: Path) -> Path:
    table = columns()
    lines = [
        ",".join(table),
        *(",".join(map(str, row)) for row in zip(*table.values(), strict=True)),
    ]
    out = tmp_path / "people of 2024.csv"
    out.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return out


REASONS = {
    "patient_id": ("-i", "identifier"),
    "sex": ("-q", "outsiders may know it"),
    "seen": ("-q", "looks like a date"),
    "diagnosis": ("-s", "likely a secret"),
    "pay": ("-q", "one value in 70 % of records, apart from the others: a code for missing?"),
    "heat": ("-q", "one value in 20 % of records"),
    "ward": ("-q", "or is it a secret (-s)?"),
    "rate": ("?", "nearly one value per record"),
    "site": ("?", "the same for everybody"),
}


def test_help_with_reasons(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("assess", path) == 2
    out, err = capsys.readouterr()
    assert out == "" and "error" not in err
    assert err.startswith("no quasi-identifiers given: which columns could an outsider know")
    flat = " ".join(err.split())
    values = {name: len(set(column)) for name, column in columns().items()}
    for name, (option, words) in REASONS.items():
        start = flat.index(f"{name} {values[name]:,} {option} ")
        assert words in flat[start : start + 200], name
    assert "move it from -q to -s: pay, heat and ward." in flat
    for value in ("canary", "10000", "999", "1950", "here"):
        assert value not in err.replace(str(path), ""), value
    assert max(len(line) for line in err.splitlines()[:-1]) <= 100


def test_the_command_line_runs(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("assess", path) == 2
    name, *arguments = shlex.split(capsys.readouterr().err.splitlines()[-1])
    assert name == "sievert"
    assert arguments[2:] == [
        *("-q", "sex,seen,pay,heat,ward", "-s", "diagnosis", "-i", "patient_id"),
    ]  # fmt: skip
    assert run(*arguments) == 0


def test_what_was_typed_is_repeated(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """All but options that may hold values of the data; columns with a role have no other."""
    assert run("assess", path, "--alpha-value", "diagnosis=canary1", "--threads", 1) == 2
    err = capsys.readouterr().err
    assert "canary" not in err and err.endswith("-i patient_id --threads 1 ...\n")
    assert run("assess", "--missing", "drop", path, "-s", "ward") == 2
    name, *arguments = shlex.split(capsys.readouterr().err.splitlines()[-1])
    assert arguments == [
        *("assess", str(path), "-q", "sex,seen,pay,heat", "-s", "diagnosis"),
        *("-i", "patient_id", "--missing", "drop", "-s", "ward"),
    ]  # fmt: skip
    assert name == "sievert" and run(*arguments) == 0
    assert "Learning ward" in capsys.readouterr().out


def test_in_german(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("assess", path, "--language", "de") == 2
    err = capsys.readouterr().err
    assert err.startswith("keine Quasi-Identifikatoren angegeben: Welche Spalten")
    assert "ein Wert in 70 % der Datensätze" in " ".join(err.split())
    assert err.endswith("-i patient_id --language de\n")


def test_many_columns_are_summarised(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "wide.csv"
    head = ",".join(f"long_column_of_a_survey_{i}" for i in range(800))
    path.write_text("\n".join([head, *(",".join(["1", "2"] * 400) for _ in range(3))]) + "\n")
    assert run("assess", path) == 2
    err = capsys.readouterr().err
    assert "and 780 more columns" in err and err.count("\n") <= 40
    assert "long_column_of_a_survey_32" not in err and "768 more" in err
    policy = {"limits": {"k_anonymity": {"min": 2}}}
    judged = sievert.assess(path, "long_column_of_a_survey_0", policy=policy).policy
    assert judged is not None
    (reason,) = (r for r in judged.reasons if r.what == "columns_without_role")
    assert len(reason.names) == 799 and len(reason.text) < 700 and "787 more" in reason.text


def test_of_many_columns_those_with_a_telling_name_are_looked_at() -> None:
    names = [*(f"q{i}" for i in range(30)), "AGE", "INCOME", "WEIGHT"]
    with pytest.raises(UsageError) as raised:
        sievert.assess({name: [str(i % 3) for i in range(9)] for name in names})
    lines = str(raised.value).splitlines()
    rows = [line.split()[:3] for line in lines if line.startswith("  ")][1:22]
    assert rows[17:20] == [["AGE", "3", "-q"], ["INCOME", "3", "-s"], ["WEIGHT", "3", "?"]]
    assert [row[0] for row in rows[:3]] == ["q0", "q1", "q2"] and rows[20][:2] == ["and", "13"]
    assert raised.value.hint is not None and raised.value.hint.endswith(",q16,AGE -s INCOME")


def test_a_role_is_said_once(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("assess", path) == 2
    (line,) = (each for each in capsys.readouterr().err.splitlines() if each.startswith("  sex "))
    assert line.endswith("-q  outsiders may know it")


def test_frames_with_numbers_and_other_types() -> None:
    pyarrow = pytest.importorskip("pyarrow")
    table = columns()
    table |= {"list": [[1], [2]] * (ROWS // 2), "pay": [float(pay) for pay in table["pay"]]}
    with pytest.raises(MissingRolesError) as raised:
        sievert.assess(pyarrow.table(table))
    assert isinstance(raised.value, UsageError) and raised.value.exit_code == 2
    text = " ".join(str(raised.value).split())
    assert "one value in 70 % of records" in text and "10000" not in text


@pytest.mark.parametrize(
    ("name", "values", "role"),
    [
        ("income", 30, ("-s", "secret")),
        ("Diagnosis_Age", 30, ("-s", "secret")),
        ("zip", 30, ("-q", "known")),
        ("patient_id", 100, ("-i", "identifier")),
        ("patient_id", 60, ("--person", "called_identifier")),
        ("name_of_town", 20, ("-q", "known")),
        ("covid", 2, ("-q", "unclear")),
        ("Name", 13, ("-i", "of_a_person")),
        ("last_name", 100, ("-i", "identifier")),
        ("username", 13, ("-q", "unclear")),
        ("e-mail", 40, ("-i", "of_a_person")),
        ("PatNr", 60, ("--person", "called_identifier")),
        ("Pat_Nr", 100, ("-i", "identifier")),
        ("pat_no", 100, ("-i", "identifier")),
        ("record_no", 60, ("-i", "of_a_person")),
        ("VersNr", 60, ("--person", "called_identifier")),
        ("Versichertennr", 60, ("--person", "called_identifier")),
        ("KVNR", 60, ("--person", "called_identifier")),
        ("Aktenzeichen", 60, ("--person", "called_identifier")),
        ("ahv", 60, ("--person", "called_identifier")),
        ("e_mail", 40, ("-i", "of_a_person")),
        ("Telefon", 40, ("-i", "of_a_person")),
        ("mobilePhone", 60, ("--person", "called_identifier")),
        ("mobile", 40, ("-i", "of_a_person")),
        ("mobile", 2, ("-q", "unclear")),
        ("address", 40, ("-i", "of_a_person")),
        ("Strasse", 40, ("-i", "of_a_person")),
        ("Straße", 40, ("-i", "of_a_person")),
        ("Anschrift", 40, ("-i", "of_a_person")),
        ("barcode", 100, ("-i", "identifier")),
        ("contact", 40, ("-i", "of_a_person")),
        ("contact", 9, ("-q", "unclear")),
        ("contacts", 40, ("-q", "unclear")),
        ("initials", 40, ("-i", "of_a_person")),
        ("nom", 40, ("-i", "of_a_person")),
        ("nominal", 40, ("-q", "unclear")),
        ("apellido", 40, ("-i", "of_a_person")),
        ("Name, Vorname", 40, ("-i", "of_a_person")),
        ("sampling_weight", 40, ("", "weight")),
        ("PWGTP", 40, ("", "weight")),
        ("thing", 1, ("", "constant")),
        ("thing", 99, ("", "nearly_unique")),
    ],
)
def test_roles_by_name(name: str, values: int, role: tuple[str, str]) -> None:
    assert suggest_role(name, ColumnEvidence(values=values, records=100)) == role


def tally(*values: object) -> dict[str | None, int]:
    counts: dict[str | None, int] = {}
    for value in values:
        key = None if value is None else str(value)
        counts[key] = counts.get(key, 0) + 1
    return counts


@pytest.mark.parametrize(
    ("values", "codes"),
    [
        ([*range(20), -1, -1], 1),
        ([*range(20), -9, -9, -99, -99], 2),
        ([*range(20), 99, 99, 999, 999], 2),
        ([*range(90, 105), 99, 99], 0),  # one of them
        ([*range(20), -1], 0),  # once
        ([-1, 0, 1] * 9, 0),  # an answer of three
        ([-5, -4, -3, -2, -1, 0, 1] * 9, 0),  # negative numbers
        (["a", "b", "-1", "-1"], 0),
        ([None, "", " "], 0),
        ([9999, 9999], 0),
    ],
)
def test_codes_for_missing(values: list[object], codes: int) -> None:
    assert examine_values(tally(*values), len(values)).codes == codes


@pytest.mark.parametrize(
    ("values", "dates"),
    [
        (["2020-01-31", "1999-12-01"], True),
        (["2020-01", "2020-02"], True),
        (["31.1.2020", "1.12.99"], True),
        (["2020-01-31 10:00:00", None], True),
        (["1234.5", "1900.1"], False),
        (["12", "2020"], False),
        (["1-2", "flat 3/4"], False),
    ],
)
def test_dates(values: list[object], dates: bool) -> None:
    assert examine_values(tally(*values), len(values)).dates is dates


NAMES = (
    *("weight", "wt", "fnlwgt", "pwgtp", "hhid", "household", "patient_id", "visit_id"),
    "person_no",
    *("age", "zip", "sex", "salary", "diagnosis", "name", "email", "date", "code", "x", "state"),
)


@pytest.mark.parametrize("seed", range(40))
def test_what_is_suggested_is_accepted(seed: int) -> None:
    """Two weights, households or persons were suggested at once, and refused when pasted."""
    random = Random(f"suggestions {seed}")
    records = random.choice((6, 30, 80))
    table = {
        name: [str(random.randrange(random.choice((1, 2, 9, 10**6)))) for _ in range(records)]
        for name in random.sample(NAMES, random.randint(3, 9))
    }
    suggested = sievert.describe_columns(table).columns
    roles: dict[str, Any] = {"quasi": [], "sensitive": [], "identifier": [], "ignored": {}}
    for column in suggested:
        if column.role in ("quasi", "sensitive", "identifier"):
            roles[column.role].append(column.name)
        elif column.role is None:
            roles["ignored"][column.name] = "not released"
        else:
            assert column.role not in roles
            roles[column.role] = column.name
    if not roles["quasi"]:
        return
    policy = {"roles": roles, "limits": {"k_anonymity": {"min": 1}}}
    assert sievert.assess(table, policy=policy, quick=True).policy is not None


def test_two_weights() -> None:
    table = {"age": list("1212"), "weight": list("1234"), "fnlwgt": list("5678")}
    assert [c.role for c in sievert.describe_columns(table).columns] == ["quasi", None, None]
