"""Four readings of a missing quasi-identifier."""

from __future__ import annotations

import csv
from pathlib import Path
from random import Random

import duckdb
import pytest
from helpers import oracle
from helpers.commandline import run
from helpers.randomtables import case

import sievert
from sievert import session
from sievert.errors import ExhaustedError, InputError, UsageError

TABLE = {"sex": ["f", "f", None, "m"], "age": ["1", None, "1", "2"], "s": ["x", "y", "x", "x"]}


def test_value_is_the_default() -> None:
    found = sievert.assess(TABLE, ["sex", "age"])
    assert found.reidentification["classes"].value == 4
    assert found.table["missing"] == "value"


def test_drop(tmp_path: Path) -> None:
    found = sievert.assess(TABLE, ["sex", "age"], ["s"], missing="drop", records=tmp_path / "r.csv")
    assert found.rows == 2 and found.table["dropped"] == 2
    assert found.reidentification["classes"].value == 2
    assert "Dropped 2 records without a quasi-identifier" in " ".join(repr(found).split())
    with (tmp_path / "r.csv").open() as file:
        assert [row["record"] for row in csv.DictReader(file)] == ["1", "4"]
    with pytest.raises(InputError, match="nothing is left"):
        sievert.assess({"q": [None, None]}, "q", missing="drop")


def test_the_other_k_is_said_where_it_differs() -> None:
    found = sievert.assess({"q": ["1", None]}, "q")
    assert "Where a missing value matches anything: 2." in repr(found)
    assert "matches anything:" not in repr(sievert.assess(TABLE, ["sex", "age"]))


def test_error() -> None:
    with pytest.raises(InputError, match="'sex' in 1 record, 'age' in 1 record"):
        sievert.assess(TABLE, ["sex", "age"], missing="error")
    assert sievert.assess(TABLE, "s", missing="error").rows == 4
    with pytest.raises(UsageError, match="'wildcard'"):
        sievert.assess(TABLE, "s", missing="wildcart")


@pytest.mark.slow
def test_wildcard_frequencies_agree_with_brute_force() -> None:
    for seed in range(60):
        c = case(Random(f"wildcard {seed}"))
        lacking = any(row[q] is None for row in c.rows for q in c.quasi)
        found = sievert.assess(c.columns, c.quasi, c.secret, missing="wildcard")
        values = found.reidentification
        if not lacking:
            assert "classes" in values and found.inference
            continue
        frequencies = [
            sum(all(a[q] is None or b[q] is None or a[q] == b[q] for q in c.quasi) for b in c.rows)
            for a in c.rows
        ]
        known = {"k_anonymity", "records_below", "suppressed_records"}
        assert set(values) == known and set(found.inference[c.secret]) == {"l_diversity"}
        assert values["k_anonymity"].value == min(frequencies) == oracle.wildcard_k(c.rows, c.quasi)
        below = {str(k): sum(f < k for f in frequencies) for k in (2, 3, 5)}
        assert values["records_below"].details["by_k"] == below
        assert "matches anything" in repr(found)


def test_wildcard_limits() -> None:
    columns = {f"q{i}": [None if n >> i & 1 else "v" for n in range(128)] for i in range(7)}
    with pytest.raises(ExhaustedError, match="would take too long"):
        sievert.assess(columns, list(columns), missing="wildcard")
    with pytest.raises(UsageError, match="wildcards make none"):
        sievert.assess(TABLE, ["sex", "age"], missing="wildcard", attacks=True)


def test_francdat_of_sdcmicro(reference: Path) -> None:
    """fk = 3 2 4 3 3 2 2 3 (sdcMicro, freqCalc with missing keys): k = 2, three records below 3."""
    source = reference / "data" / "sdcmicro" / "francdat.csv"
    with source.open(newline="") as file:
        rows = list(csv.DictReader(file))
    for record, keys in ((3, ["Key3"]), (4, ["Key1", "Key2"]), (5, ["Key4"]), (6, ["Key1"])):
        for key in keys:
            rows[record - 1][key] = ""
    names = ["Key1", "Key2", "Key3", "Key4"]
    columns = {k: [row[k] or None for row in rows] for k in names}
    values = sievert.assess(columns, names, missing="wildcard").reidentification
    assert values["k_anonymity"].value == 2
    assert values["records_below"].details["by_k"] == {"2": 0, "3": 3, "5": 8}


def test_nan_is_told_apart_from_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """NaN is missing in every count, and the counts say how much of it is."""
    nan, x = float("nan"), "x"
    table = {"x": [1.5, nan, None, nan, 2.5], "s": ["a", "a", "b", "b", "b"]}
    path = tmp_path / "t.csv"
    path.write_text("x,s\n1.5,a\nnan,a\n,b\nNaN,b\n2.5,b\n")
    parquet = tmp_path / "t.parquet"
    duckdb.execute(f"COPY (SELECT CAST(x AS DOUBLE) AS x, s FROM '{path}') TO '{parquet}'")
    apart = {"missing": 1, "empty_text": 0, "looks_missing": 0, "na_codes": 0, "not_a_number": 2}
    for small, large in ((10**12, 10**12), (0, 10**12), (0, 0)):
        for name, value in (("SMALL", small), ("PACKED_FROM", large), ("LOADING", large)):
            monkeypatch.setattr(session, name, value)
        for data, types in ((table, None), (parquet, None), (path, {x: "float"})):
            found = sievert.assess(data, x, "s", types=types)
            assert found.table["missing_values"] == {x: apart}
            assert found.reidentification["classes"].value == 3
    coded = sievert.assess(path, x, "s", types={x: "float"}, na=["2.5"])
    assert coded.table["missing_values"] == {x: apart | {"na_codes": 1}}
    dropped = sievert.assess(parquet, x, "s", missing="drop")
    assert dropped.table["missing_values"] == {}


def test_command_line(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    path = tmp_path / "t.csv"
    path.write_text("sex,age\nf,1\nf,\n,1\nm,2\n")
    for missing, code, words in (
        ("value", 0, "missing is a value of its own"),
        ("wildcard", 0, "a missing value matches anything"),
        ("drop", 0, "Dropped 2 records"),
        ("error", 3, "is missing"),
        ("wild", 2, "does not exist"),
    ):
        assert run("assess", str(path), "-q", "sex,age", "--missing", missing) == code
        assert words in "".join(capsys.readouterr())


def test_the_worse_reading_of_missing_secrets_is_shown_without_a_policy() -> None:
    """Missing as a value looks like diversity: those whose secret is known are shown."""
    some: list[str | None] = ["flu", None, "flu", None, "gout", None, "gout", None]
    found = sievert.assess({"q": list("aaaabbbb"), "s": some}, "q", "s")
    numbers = found.to_dict()["inference"]["s"]
    both = [
        (numbers[m]["value"], numbers[m]["without_missing"]) for m in ("l_diversity", "guess_gain")
    ]
    assert both == [(2, 1), (0, 1)]
    shown = " ".join(str(found).split())
    assert "l-diversity 1 value low is risky" in shown and "Without missing secrets" in shown
    assert "Where s is not missing, they put right 100 % of the guesses" in shown
    whole = str(sievert.assess({"q": list("aaaabbbb"), "s": list("uvwuvwuv")}, "q", "s"))
    assert "Without missing secrets" not in whole and "is not missing" not in whole
