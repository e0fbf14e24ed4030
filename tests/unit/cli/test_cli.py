"""The command line: contracts of exit codes, JSON, messages and files."""

from __future__ import annotations

import csv
import json
import math
import os
import re
import signal
import stat
import subprocess
import sys
import time
import tomllib
from pathlib import Path
from typing import get_args

import pytest
from helpers.commandline import command_line, run

import sievert
from sievert.cli import app, parser, progress
from sievert.cli.help import run as help_
from sievert.commands.measures import catalogue
from sievert.measures import BY_ID, MEASURES
from sievert.numerics import machine
from sievert.session import PartCounter
from sievert.settings.option import HEADINGS

TABLE = "zip;age;disease\n01234;34;flu\n01234;34;hiv\n20095;71;flu\n20095;71;flu\n"


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "patients.csv"
    path.write_text(TABLE, encoding="utf-8")
    return path


def test_assess_prints_what_a_decision_needs(table: Path, capsys: pytest.CaptureFixture) -> None:
    assert run("assess", table, "-q", "zip,age", "-s", "disease") == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert (
        "Table patients.csv, 4 people (one row each), 3 columns" in out and "Delimiter" not in out
    )
    for words in ("k_anonymity", "unique_records", "Nobody is alone.", "guesses disease right"):
        assert words in " ".join(out.split())
    assert "ITPR" not in out and len(out.splitlines()) <= 40
    assert max(len(line) for line in out.splitlines()) <= 100
    for value in ("01234", "flu", "hiv"):
        assert value not in out


def test_all_shows_every_measure(table: Path, capsys: pytest.CaptureFixture) -> None:
    assert run("assess", table, "-q", "zip", "-s", "disease", "--all") == 0
    out = capsys.readouterr().out
    always = {"order", "hierarchy", "parts", "population"}
    for measure in MEASURES:
        if measure.kinds and not measure.needs & always:
            assert measure.title in out
    assert max(len(line) for line in out.splitlines()) <= 100


def test_json_contract(table: Path, tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    assert run("assess", table, "--qi", "zip", "-q", "age", "--sa", "disease", "--json", "-") == 0
    text = capsys.readouterr().out
    found = json.loads(text)
    assert list(found) == sorted(found)
    assert set(found) == {
        "sievert", "table", "roles", "reidentification", "inference", "policy", "warnings",
        "cautions",
    }  # fmt: skip
    assert found["table"]["rows"] == 4
    assert found["table"]["engine"] == "duckdb"
    assert found["roles"] == {"quasi": ["zip", "age"], "sensitive": ["disease"], "identifier": [],
                              "person": None, "household": None, "weight": None, "ignored": {},
                              "rows_are_people": False, "unassessed": []}  # fmt: skip
    assert found["reidentification"]["k_anonymity"] == {
        "value": 2, "unit": "records", "riskier": "low", "reason": None,
    }  # fmt: skip
    itpr = found["inference"]["disease"]["itpr"]
    assert set(itpr["beside"]) == {"k", "classes", "discrimination_rate", "itpr_unnormalized"}
    assert found["inference"]["disease"]["delta_disclosure"]["reason"] == "unbounded"
    assert "NaN" not in text and "Infinity" not in text
    assert str(tmp_path) not in text
    for threads in (1, 2, 3):
        assert run("assess", table, "-q", "zip,age", "-s", "disease", "--json", "-",
                   "--threads", threads) == 0  # fmt: skip
        assert capsys.readouterr().out == text


def test_json_file_is_private_and_replaced(table: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    for _ in range(2):
        assert run("assess", table, "-q", "zip", "--json", out) == 0
    assert json.loads(out.read_text())["table"]["rows"] == 4
    assert stat.S_IMODE(out.stat().st_mode) == 0o600
    assert sorted(p.name for p in tmp_path.iterdir()) == ["out.json", "patients.csv"]


def test_another_file_is_not_replaced(table: Path, tmp_path: Path, capsys) -> None:
    for name in ("out.json", "out.csv"):
        other = tmp_path / name
        other.write_text("somebody's notes")
        option = "--json" if name.endswith("json") else "--records"
        assert run("assess", table, "-q", "zip", option, other) == 7
        assert other.read_text() == "somebody's notes"
        assert "--force" in capsys.readouterr().err
        assert run("assess", table, "-q", "zip", option, other, "--force") == 0
        assert other.read_text() != "somebody's notes"


@pytest.mark.parametrize("option", ["--json", "--records", "--timings"])
def test_the_input_is_never_written(table: Path, option: str, capsys) -> None:
    assert run("assess", table, "-q", "zip", option, table, "--force") == 7
    assert table.read_text() == TABLE
    assert "input" in capsys.readouterr().err


def test_other_inputs_are_never_written(table: Path, tmp_path: Path) -> None:
    house, ladder = tmp_path / "house.toml", tmp_path / "ladder.csv"
    house.write_text("[limits]\nk_anonymity = { min = 1 }\n")
    ladder.write_text("flu;*\nhiv;*\n")
    options = ["assess", table, "-q", "zip", "-s", "disease", "--policy", house, "--force"]
    assert run(*options, "--json", house) == 7
    assert run(*options, "--hierarchy", f"disease={ladder}", "--records", ladder) == 7
    assert "k_anonymity" in house.read_text() and ladder.read_text().startswith("flu")


def test_nothing_is_written_when_the_run_fails(table: Path, tmp_path: Path) -> None:
    house = tmp_path / "house.toml"
    house.write_text("[limits]\nl_diversity = { min = 1 }\n")
    records = tmp_path / "records.csv"
    assert run("assess", table, "-q", "zip", "--policy", house, "--records", records) == 2
    assert not records.exists()


def test_our_own_files_are_known_by_content(table: Path, tmp_path: Path) -> None:
    for name, option in (("a.txt", "--json"), ("r.parquet", "--records"), ("t.x", "--timings")):
        for _ in range(2):
            assert run("assess", table, "-q", "zip", option, tmp_path / name) == 0
    import duckdb

    dose = tmp_path / "dose.parquet"
    duckdb.execute(f"COPY (SELECT 1.5 AS sievert, 'records' AS kind) TO '{dose}' (FORMAT parquet)")
    assert run("assess", table, "-q", "zip", "--records", dose) == 7
    other = tmp_path / "other.json"
    other.write_text('{\n "sievert": 1, "mine": 2}')
    assert run("assess", table, "-q", "zip", "--json", other) == 7


def test_a_symbolic_link_is_not_followed(table: Path, tmp_path: Path) -> None:
    target = tmp_path / "elsewhere"
    (tmp_path / "link.json").symlink_to(target)
    assert run("assess", table, "-q", "zip", "--json", tmp_path / "link.json") == 7
    assert not target.exists()


def test_a_directory_that_is_a_symbolic_link_is_not_written_to(
    table: Path, tmp_path: Path, capsys: pytest.CaptureFixture
) -> None:
    real, link = tmp_path / "real", tmp_path / "link"
    (real / "below").mkdir(parents=True)
    link.symlink_to(real)
    for option, name in (("--json", "x.json"), ("--html", "x.html"), ("--records", "x.csv")):
        assert run("assess", table, "-q", "zip", option, link / name) == 7
        assert "error: link is a symbolic link. Try: a plain directory" in capsys.readouterr().err
    assert run("attack", table, "-q", "zip", "-s", "age", "--charts", link / "new") == 7
    assert [path.name for path in real.iterdir()] == ["below"]
    assert run("assess", table, "-q", "zip", "--json", link / "below" / "x.json") == 0


ADDRESSES = {
    "postgresql://ann:secret@host/db?table=t": 7,
    "postgresql://ann:se/cret@host/db?table=t": 7,
    "postgres://ann:se?cret@host/db?table=t": 7,
    "postgresql://ann@host/db?table=t&password=secret": 7,
    "postgresql://ann@host/db?p%61ssword=secret&table=t": 7,
    "postgresql://ann@host/db?table=t&sslpassword=secret": 7,
    "postgresql://ann@host/db?table=t&ssl%70assword=secret": 7,
    "postgresql://ann@[::1]:54/db?table=t&passfile=secret&port=1&connect_timeout=2": 6,
}


@pytest.mark.parametrize(("address", "code"), ADDRESSES.items())
def test_a_password_in_an_address_is_refused(
    address: str, code: int, table: Path, capsys: pytest.CaptureFixture
) -> None:
    pytest.importorskip("psycopg")
    assert run("assess", address, "-q", "zip") == code
    assert run("attack", table, "-q", "zip", f"--register={address}") == code
    error = capsys.readouterr().err
    assert error.count("\n") == 2 and "secret" not in error
    if code == 7:
        assert run("policy", "check", "policy.toml", address) == 7


@pytest.mark.parametrize(
    "content",
    ["[" * 100_000 + "]" * 100_000, "[" * 600 + "]" * 600, "1e999", "-1e999", "NaN", "1" * 400],
    ids=["deep", "less-deep", "huge", "negative", "nan", "long"],
)
def test_a_saved_result_that_nobody_wrote(
    content: str, table: Path, tmp_path: Path, capsys: pytest.CaptureFixture
) -> None:
    kept = tmp_path / "kept.json"
    assert run("assess", table, "-q", "zip", "-s", "disease", "--json", kept) == 0
    whole = kept.read_text()
    kept.write_text(re.sub(r'"value": [\d.]+', f'"value": {content}', whole))
    capsys.readouterr()
    assert run("report", kept) == 3
    error = capsys.readouterr().err
    assert error.startswith("error: ") and error.count("\n") == 1
    kept.write_text(f'{{"sievert": {content}}}')
    assert run("assess", table, "-q", "zip", "--json", kept) == 7  # not ours: not replaced


@pytest.mark.parametrize("option", ["--texts", "--policy", "--hierarchy"])
def test_a_pipe_in_place_of_a_small_file(
    option: str, table: Path, tmp_path: Path, capsys: pytest.CaptureFixture
) -> None:
    pipe = tmp_path / "pipe.toml"
    os.mkfifo(pipe)
    page = tmp_path / "page.html"
    value = f"zip={pipe}" if option == "--hierarchy" else pipe
    code = run("assess", table, "-q", "zip", "--html", page, option, value)
    assert code in (2, 3) and "pipe.toml: not a regular file" in capsys.readouterr().err
    os.unlink(pipe)
    os.mkfifo(tmp_path / "pipe.json")
    assert run("report", tmp_path / "pipe.json") == 3


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_records_in_input_order(table: Path, tmp_path: Path, ending: str) -> None:
    out = tmp_path / f"records.{ending}"
    assert run("assess", table, "-q", "zip", "-s", "disease,age", "--records", out) == 0
    if ending == "csv":
        rows = list(csv.DictReader(out.read_text().splitlines()))
    else:
        import duckdb

        found = duckdb.execute(f"SELECT * FROM read_parquet('{out}')")
        names = [d[0] for d in found.description]
        rows = [dict(zip(names, row, strict=True)) for row in found.fetchall()]
    assert list(rows[0]) == [
        "record", "class_size", "identity_bits", "disease.posterior", "disease.information_gain",
        "disease.l_diversity", "age.posterior", "age.information_gain", "age.l_diversity",
    ]  # fmt: skip
    assert [int(r["record"]) for r in rows] == [1, 2, 3, 4]
    assert [float(r["disease.posterior"]) for r in rows] == [0.5, 0.5, 1.0, 1.0]
    assert [float(r["identity_bits"]) for r in rows] == [1.0] * 4
    assert stat.S_IMODE(out.stat().st_mode) == 0o600


def test_timings(table: Path, tmp_path: Path) -> None:
    out = tmp_path / "timings.json"
    assert run("assess", table, "-q", "zip", "-s", "disease", "--timings", out) == 0
    found = json.loads(out.read_text())
    assert found["total"] > 0 and "reading" in found["seconds"]


ERRORS = {
    "no such file": (["assess", "nothing.csv", "-q", "a"], 3, "nothing.csv"),
    "unknown column": (["assess", "{table}", "-q", "zipp"], 2, "Try: 'zip'"),
    "unknown secret": (["assess", "{table}", "-q", "zip", "-s", "diseases"], 2, "'disease'"),
    "twice": (["assess", "{table}", "-q", "zip,zip"], 2, "named twice"),
    "identifier and quasi": (["assess", "{table}", "-q", "zip", "-i", "zip"], 2, "identifier"),
    "unknown option": (["assess", "{table}", "--quazi=zip"], 2,
                       "is called '--quazi'. Try: --quasi, or sievert assess --help\n"),
    "unlike any option": (["limit", "{table}", "-z"], 2, "'-z'. Try: sievert limit --help\n"),
    "unknown command": (["asses", "{table}"], 2, "no command is called 'asses'. Try: assess\n"),
    "unlike any command": (["zzz"], 2, "called 'zzz'. Try: assess, attack, compare, "),
    "no data": (["assess", "-q", "zip"], 2, "assess: DATA is missing. Try: sievert assess --help"),
    "no value": (["limit", "{table}", "--at"], 2, "--at needs a value. Try: sievert limit --help"),
    "no number": (["assess", "{table}", "--threads", "two"], 2, "into int. Try: sievert assess"),
    "mistyped file": (["assess", "{table}s", "-q", "zip"], 3, ". Try: {table}\n"),
    "mistyped policy": (["assess", "{table}", "--policy", "{table}x"], 2, ". Try: {table}\n"),
    "mistyped beside others": (["assess", "{table}/x.csv", "-q", "zip"], 3, "x.csv: Not a dir"),
    "report of a folder": (["report", "/"], 3, "is a directory. Try: a file written"),
    "page as PDF": (["assess", "{table}", "-q", "zip", "--html", "no/x.pdf"], 2, "Try: no/x.html"),
    "page as text": (["paper", "itpr", "--markdown", "x.txt"], 2, "or .markdown. Try: x.md"),
    "unknown measure": (["measures", "itpt"], 2, "'itpr'"),
    "unknown engine": (["assess", "{table}", "-q", "zip", "--engine", "duckdbb"], 2, "'duckdb'"),
    "bad type": (["assess", "{table}", "-q", "zip", "--type", "zip=integer"], 2, "int"),
    "type of nothing": (["assess", "{table}", "-q", "zip", "--type", "zap=int"], 2, "'zip'"),
    "bad pair": (["assess", "{table}", "-q", "zip", "--type", "int"], 2, "COLUMN=SOMETHING"),
    "unfit": (["assess", "{table}", "-q", "disease", "--type", "disease=int"], 3, "4 value(s)"),
    "memory without a unit": (["assess", "{table}", "-q", "zip", "--memory", "4"], 2,
                              "error: --memory: 4 bytes? Try: 4GB\n"),
    "field without a unit": (["assess", "{table}", "-q", "zip", "--max-field", "16"], 2,
                             "error: --max-field: 16 bytes? Try: 16MB\n"),
    "unpacked without a unit": (["assess", "{table}", "-q", "zip", "--max-unpacked", "1.5"], 2,
                                "error: --max-unpacked: 1.5 bytes? Try: 1.5GB\n"),
    "bad memory": (["assess", "{table}", "-q", "zip", "--memory", "lots"], 2, "4GB"),
    "too many threads": (["assess", "{table}", "-q", "zip", "--threads", "99999"], 2, "at most"),
    "no text encoding": (["assess", "{table}", "-q", "zip", "--encoding", "base64"], 2, "latin-1"),
    "quote as delimiter": (["assess", "{table}", "-q", "zip", "--delimiter", '"'], 2, "character"),
    "huge memory": (["assess", "{table}", "-q", "zip", "--memory", "9" * 20 + "TB"], 2, "4GB"),
    "special file": (["assess", "{table}", "-q", "zip", "--json", "/dev/null"], 7, "regular"),
    "long name": (["assess", "{table}", "-q", "zip", "--json", "x" * 300], 2, "cannot be written"),
    "bad threads": (["assess", "{table}", "-q", "zip", "--threads", "0"], 2, "at least 1"),
    "bad temp": (["assess", "{table}", "-q", "zip", "--temp", "nowhere"], 2, "directory"),
    "bad encoding": (["assess", "{table}", "-q", "zip", "--encoding", "latin-99"], 2, "latin-1"),
    "bad record file": (["assess", "{table}", "-q", "zip", "--records", "r.txt"], 2, ".parquet"),
    "no such folder": (["assess", "{table}", "-q", "zip", "--json", "no/x.json"], 2,
                       "its directory does not exist. Try: another name, in a directory"),
    "network": (["assess", "https://example.org/x.csv", "-q", "zip"], 7, "network"),
    "population as a number": (["assess", "{table}", "-q", "zip", "--population", "300000"], 2,
                               "not a number. Try: --population-size 300000\n"),
    "no policy": (["assess", "{table}", "--policy", "none.toml"], 2, "none.toml"),
    "no hierarchy": (["assess", "{table}", "-q", "zip", "-s", "disease", "--hierarchy",
                      "disease=none.csv"], 3, "none.csv"),
    "no hierarchy of no secret": (["assess", "{table}", "-q", "zip", "--hierarchy",
                                   "zip=none.csv"], 3, "none.csv: No such file"),
    "no hierarchy of nothing": (["compare", "{table}", "{table}", "-q", "zip", "--hierarchy",
                                 "age=none.csv"], 3, "none.csv: No such file"),
    "hierarchy of a folder": (["explain", "{table}", "-q", "zip", "--hierarchy", "age=/"], 3,
                              "not a regular file"),
    "alpha of nothing": (["assess", "{table}", "-q", "zip", "-s", "disease", "--alpha-value",
                          "diseas=hiv"], 2, "'disease'"),
    "delimiter": (["assess", "{table}", "-q", "zip", "--delimiter", ";;"], 2, "one character"),
}  # fmt: skip


@pytest.mark.parametrize("name", ERRORS)
def test_errors_are_one_line_with_the_right_code(
    name: str, table: Path, capsys: pytest.CaptureFixture
) -> None:
    arguments, code, words = ERRORS[name]
    assert run(*(a.format(table=table) for a in arguments)) == code
    out, err = capsys.readouterr()
    assert out == "" and err.startswith("error: ") and words.format(table=table) in err
    assert err.count("\n") == 1
    assert "Traceback" not in err
    for value in ("01234", "flu", "hiv"):
        assert name == "alpha of nothing" or value not in err


def test_defects_are_70_and_silent(table: Path, monkeypatch, capsys) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError(" ".join(["a", "cell", "value"]))

    monkeypatch.setattr("sievert.commands.assess.run.run", broken)
    assert run("assess", table, "-q", "zip") == 70
    err = capsys.readouterr().err
    assert "a cell value" not in err and "ZeroDivisionError" in err
    assert run("assess", table, "-q", "zip", "--debug") == 70
    err = capsys.readouterr().err
    assert 'File "' in err and "a cell value" not in err
    assert run("assess", table, "-q", "zip", "--debug", "--show-values") == 70
    assert "a cell value" in capsys.readouterr().err
    monkeypatch.undo()
    assert run("assess", table, "-q", "zap", "--debug") == 2


def test_names_with_commas_quotes_and_newlines(tmp_path: Path, capsys) -> None:
    path = tmp_path / "odd.csv"
    path.write_text('"city, country","a\nb","x""y",d\x1b[31m\n1,2,3,4\n2,2,4,4\n')
    assert run("assess", path, "-q", "city, country", "-q", "a\nb", "-s", 'x"y') == 0
    out = capsys.readouterr().out
    assert '"city, country" and a\\nb' in out and "\x1b" not in out
    assert "Not covered by this answer: d\\x1b[31m has no role" in out
    assert run("assess", path, "-q", '"city, country","x""y"') == 0
    capsys.readouterr()
    assert run("assess", path) == 2
    err = capsys.readouterr().err
    assert "\x1b" not in err and """-q '"city, country","x""y"'""" in err
    assert run("assess", path, "-q", "city", "country") == 2
    assert "separated by commas" in capsys.readouterr().err


@pytest.mark.parametrize("given", [["age, zip"], ["age , zip"], [" age", "zip "], ['"age", "zip"']])
def test_blanks_around_commas(given: list[str], table: Path, capsys) -> None:
    options = [word for names in given for word in ("-q", names)]
    assert run("assess", table, *options, "-s", " disease", "--json", "-") == 0
    assert json.loads(capsys.readouterr().out)["roles"]["quasi"] == ["age", "zip"]


@pytest.mark.parametrize("given", [["age,", "zip"], ["age", ",zip"], ["age", ",", "zip"]])
def test_blanks_that_part_arguments(given: list[str], table: Path, capsys) -> None:
    assert run("assess", table, "-q", *given, "-s", "disease", "--json", "-") == 0
    assert json.loads(capsys.readouterr().out)["roles"]["quasi"] == ["age", "zip"]


def test_a_column_whose_name_begins_with_a_blank(tmp_path: Path, capsys) -> None:
    path = tmp_path / "odd.csv"
    path.write_text("a, b\n1,2\n2,2\n")
    assert run("assess", path, "-q", "a, b", "--json", "-") == 0
    assert json.loads(capsys.readouterr().out)["roles"]["quasi"] == ["a", " b"]


def test_what_is_said_about_other_columns(table: Path, tmp_path: Path, capsys) -> None:
    ladder = tmp_path / "ladder.csv"
    ladder.write_text("flu;*\nhiv;*\n")
    options = ["assess", table, "-q", "zip", "-s", "disease"]
    assert run(*options, "--hierarchy", f"diseas={ladder}") == 2
    assert "'disease'" in capsys.readouterr().err
    assert run(*options, "--hierarchy", f"age={ladder}") == 0
    assert "not a secret here" in capsys.readouterr().out
    assert run(*options, "--hierarchy", "disease=a", "--hierarchy", "disease=b") == 2
    assert "twice" in capsys.readouterr().err
    assert run(*options, "--alpha-value", "disease=measles") == 0
    assert "does not occur" in capsys.readouterr().out


def test_two_outputs_with_one_name(table: Path, tmp_path: Path) -> None:
    out = tmp_path / "o.csv"
    assert run("assess", table, "-q", "zip", "--records", out, "--timings", out) == 2
    assert not out.exists()


def test_a_full_disk_is_not_a_defect(table: Path) -> None:
    command = command_line("assess", str(table), "-q", "zip")
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 5 and done.stderr.startswith("error: the output cannot be written")


def test_interrupted(table: Path, monkeypatch) -> None:
    def stopped(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("sievert.commands.assess.run.run", stopped)
    assert run("assess", table, "-q", "zip") == 130


@pytest.fixture(scope="module")
def big(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Twenty million records that take many seconds."""
    import duckdb

    path = tmp_path_factory.mktemp("big") / "big.parquet"
    duckdb.execute(
        "COPY (SELECT hash(i) % 1000003 AS a, hash(i + 1) % 1000033 AS b, hash(i + 2) % 5 AS s "
        f"FROM range(20000000) t(i)) TO '{path}' (FORMAT parquet)"
    )
    return path


@pytest.mark.slow
def test_timeout(big: Path, tmp_path: Path, capsys) -> None:
    options = ["-q", "a,b", "-s", "s", "--temp", tmp_path, "--records", tmp_path / "r.csv"]
    options += ["--threads", "1", "--timeout", "1.5"]
    command = command_line("assess", big, *options)
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=60)
    assert done.returncode == 5
    assert "not done" in done.stderr and "--timeout" in done.stderr
    assert list(tmp_path.iterdir()) == []
    assert run("assess", big, "-q", "s", "--timeout", "0") == 2


@pytest.mark.slow
@pytest.mark.parametrize(("sent", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_signals_end_a_long_run_and_leave_nothing(
    sent: signal.Signals, code: int, big: Path, tmp_path: Path
) -> None:
    temp = tmp_path / "temp"
    temp.mkdir()
    process = subprocess.Popen(
        command_line("assess", str(big), "-q", "a,b", "-s", "s",
         "--temp", str(temp), "--threads", "1", "--json", str(tmp_path / "out.json")),
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
    )  # fmt: skip
    deadline = time.monotonic() + 120
    while not any(temp.iterdir()) and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(1.0)
    assert process.poll() is None, "the run ended before it could be stopped"
    process.send_signal(sent)
    _, err = process.communicate(timeout=60)
    assert process.returncode == code
    assert b"Traceback" not in err
    assert list(temp.iterdir()) == []
    assert sorted(p.name for p in tmp_path.iterdir()) == ["temp"]


def test_measures_lists_every_record(capsys: pytest.CaptureFixture) -> None:
    assert run("measures") == 0
    out = capsys.readouterr().out
    for measure in MEASURES:
        assert measure.id in out and measure.title in out
    assert run("measures", "itpr", "k_anonymity") == 0
    assert "def. 4.1" in capsys.readouterr().out
    assert run("measures", "--json", "-") == 0
    content = json.loads(capsys.readouterr().out)
    assert set(content["measures"]) == set(BY_ID)
    assert content["measures"]["k_anonymity"]["aliases"] == ["k"]


ALIASES = {
    "k": "k_anonymity", "K": "k_anonymity", "DR": "discrimination_rate", "t": "t_closeness",
    "l": "l_diversity", "l-diversity": "l_diversity", "ITPR": "itpr", "MI": "mutual_information",
    "uniques": "unique_records", "NCP": "normalized_certainty_penalty", "suda": "suda",
    "DIS-SUDA": "suda", "homogeneity": "attacks", "H(eps)": "approximate_compromise",
    "special uniques": "suda", "t closeness": "t_closeness", "pMSE": "pmse",
}  # fmt: skip


@pytest.mark.parametrize("alias", ALIASES)
def test_measures_by_other_names(alias: str, capsys: pytest.CaptureFixture) -> None:
    assert run("measures", alias) == 0
    out = capsys.readouterr().out
    assert out.startswith(f"{ALIASES[alias]}: ") and out.count("\n\n") == 0


def test_an_alias_means_one_thing() -> None:
    names = [name for e in catalogue.ENTRIES for name in (e.id, *e.aliases)]
    keys = [catalogue._key(name) for name in names]
    assert {key for key in keys if keys.count(key) > 1} == {"emd"}  # with and without an order


def test_pages_of_quantities_without_a_record(capsys: pytest.CaptureFixture) -> None:
    root = Path(__file__).parents[3]
    assert run("measures") == 0
    out = " ".join(capsys.readouterr().out.split())
    for topic in catalogue.TOPICS:
        assert (root / topic.page).is_file() and topic.command in out


@pytest.mark.parametrize(("given", "close"), [("mutal", "mutual_information"), ("kk", "k_")])
def test_the_nearest_id(given: str, close: str, capsys: pytest.CaptureFixture) -> None:
    assert run("measures", given) == 2
    assert f"Try: '{close}" in capsys.readouterr().err


@pytest.mark.parametrize("command", [[], ["assess"], ["policy"], ["policy", "check"]])
def test_help_is_the_page_of_the_option(command: list[str], capsys) -> None:
    assert run("help", *command) == 0
    page = capsys.readouterr()
    assert run(*command, "--help") == 0
    assert capsys.readouterr() == page and page.out.startswith("Usage: sievert")
    assert run("help", "asses") == 2
    assert capsys.readouterr().err == "error: no command is called 'asses'. Try: assess\n"


EVERY = [*parser.COMMANDS, "policy", ""]


@pytest.mark.parametrize("width", [60, 80, 100])
def test_pages_of_help(width: int) -> None:
    for command in EVERY:
        lines = list(help_.page(command, width))
        text = "\n".join(lines)
        verbatim = [line for line in lines if "completions/sievert" in line]
        assert all(len(line) <= width for line in lines if line not in verbatim), command
        assert "False" not in text and "--internal" not in text and "None" not in text
    page = " ".join(" ".join(help_.page("assess", width)).split())
    assert "[choices: value, wildcard, drop, error] [default: value]" in page
    assert "[choices: duckdb, spark, postgres]" in page
    example = "    sievert completion bash > ~/.local/share/bash-completion/completions/sievert"
    assert example in help_.page("completion", width)


def test_every_parameter_is_explained() -> None:
    for command in parser.COMMANDS:
        known = parser.parameters_of(command)
        names = [name for p in known for name in p.names]
        assert len(set(names)) == len(names), command
        for parameter in known:
            assert parameter.help.endswith((".", "...", "?")), (command, parameter.names)
            assert parameter.heading in HEADINGS


def test_choices_are_those_of_the_library() -> None:
    from sievert import papers
    from sievert.attacks.reasoning.settings import LIKELIHOODS
    from sievert.commands.compromise import settings as compromise
    from sievert.commands.protect.microaggregation import GROUPINGS
    from sievert.commands.protect.settings import METHODS
    from sievert.counts.engines import ENGINES
    from sievert.methods import noise, sampling
    from sievert.methods.full_domain import LOSSES
    from sievert.releases.choices import MODELS
    from sievert.request import requested

    choices = {
        (command, p.names[0]): p.choices
        for command in parser.COMMANDS
        for p in parser.parameters_of(command)
    }
    models = tuple(str(m).replace(" ", "-") for m in MODELS)
    assert choices["assess", "--missing"] == tuple(requested.MISSING)
    assert choices["assess", "--engine"] == tuple(ENGINES)
    assert choices["paper", "NAME"] == papers.NAMES
    assert choices["attack", "--likelihood"] == LIKELIHOODS
    assert choices["compromise", "--method"] == compromise.METHODS
    assert choices["compromise", "--prior"] == get_args(sampling.Prior)
    assert choices["compromise", "--weights"] == get_args(noise.Weights)
    assert choices["compromise", "--matching"] == get_args(noise.Matching)
    assert choices["limit", "--model"] == models
    assert choices["protect", "--how"] == ("full", *METHODS)
    assert choices["protect", "--loss"] == LOSSES
    assert choices["protect", "--grouping"] == tuple(GROUPINGS)


@pytest.mark.parametrize("given", ["inf", "1e400", "1e10", "nan", "0", "-1"])
def test_a_timeout_is_a_time(given: str, table: Path, capsys) -> None:
    assert run("assess", table, "-q", "zip", "--timeout", given) == 2
    assert capsys.readouterr().err.startswith("error: --timeout must be a positive number")


def test_the_root_is_no_table(capsys) -> None:
    assert run("assess", "/", "-q", "zip") == 3
    assert capsys.readouterr().err == "error: /: a directory without .parquet files\n"


def test_one_clock_beside_the_progress() -> None:
    assert progress.describe("counting", 50.0, 60.0).endswith("] left at most 1:00")
    assert progress.describe("reading", -1.0, 61.0) == "reading 1:01"


def test_progress_goes_on_after_a_table_is_closed() -> None:
    class Closed:
        def progress(self) -> float:
            raise ValueError("closed")

    watch = progress.Watch()
    assert watch._progress() == -1.0
    watch("reading", Closed())
    assert watch._progress() == -1.0
    watch("singling people out", PartCounter(4, math.inf))
    assert watch._progress() == 0.0


def test_texts_are_read_as_toml_is() -> None:
    from sievert import formatting
    from sievert.report import texts

    for language in formatting.LANGUAGES:
        for path in formatting.language_files(language):
            text = path.read_text(encoding="utf-8")
            assert formatting.read_lines(path) == dict(texts._flat(tomllib.loads(text)))


COMPLETE = """
eval "$SCRIPT"
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
_sievert
echo "${COMPREPLY[*]}"
"""


@pytest.mark.parametrize(
    ("words", "completed"),
    [
        (["sievert", "compa"], "compare"),
        (["sievert", "assess", "--key-s"], "--key-set"),
        (["sievert", "assess", "patie"], "patients.csv"),
        (["sievert", "assess", "patients.csv", "--policy", "pat"], "patients.csv"),
        (["sievert", "assess", "patients.csv", "--json", "pat"], "patients.csv"),
        (["sievert", "assess", "patients.csv", "--missing", ""], "value wildcard drop error"),
        (["sievert", "assess", "patients.csv", "--missing", "=", "dr"], "drop"),
        (["sievert", "compare", "a.csv", "b.csv", "--engine", ""], "duckdb spark postgres"),
        (["sievert", "limit", "a.csv", "--model", "id"], "identity identity-reverse"),
        (["sievert", "help", "comp"], "compare compromise completion"),
        (["sievert", "paper", "m"], "mutual-information"),
        (["sievert", "measures", "k_"], "k_anonymity"),
        (["sievert", "policy", ""], "check"),
        (["sievert", "policy", "check", "--fi"], "--fix"),
        (["sievert", "completion", ""], "bash zsh fish"),
        (["sievert", "assess", "--interna"], ""),
    ],
)
def test_completion_in_bash(words: list[str], completed: str, table: Path, capsys) -> None:
    assert run("completion", "bash") == 0
    script = capsys.readouterr().out
    done = subprocess.run(
        ["bash", "-c", COMPLETE, *words[:1], *words], cwd=table.parent, text=True,
        env={**os.environ, "SCRIPT": script}, capture_output=True,
    )  # fmt: skip
    assert (done.stdout.strip(), done.stderr) == (completed, "")


def test_completion_in_other_shells(capsys) -> None:
    for shell, words, choices in (
        ("zsh", "#compdef sievert", ":missing:(value wildcard drop error)'"),
        ("fish", "complete -c sievert", "-l missing -x -a 'value wildcard drop error'"),
    ):
        assert run("completion", shell) == 0
        script = capsys.readouterr().out
        assert words in script and choices in script and "--internal" not in script
    assert run("completion", "tcsh") == 2
    assert "'tcsh' does not exist. Try: one of 'bash', 'zsh', 'fish'" in capsys.readouterr().err


def test_a_system_without_room_for_a_process(monkeypatch, capsys) -> None:
    def full() -> int:
        raise BlockingIOError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(os, "umask", lambda _mask: 0)
    monkeypatch.setattr(os, "fork", full)
    monkeypatch.setattr(machine, "hold_signals", lambda _hold: None)
    with pytest.raises(SystemExit) as ended:
        app.main(["measures"])
    assert ended.value.code == 5
    assert capsys.readouterr().err.startswith("error: no process can be started: Resource")


def test_unknown_keywords_are_refused(table: Path) -> None:
    with pytest.raises(TypeError, match="'timeouts'"):
        sievert.assess(table, "zip", timeouts=3)
    with pytest.raises(TypeError, match="'timeouts'"):
        sievert.attack(table, quasi="zip", timeouts=3)


def test_closed_pipe_is_not_an_error() -> None:
    command = f"{sys.executable} -m sievert measures | head -n 1; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True)
    assert done.returncode == 0 and done.stderr == ""


HEAVY = (
    "numba",
    "scipy",
    "pandas",
    "polars",
    "pyarrow",
    "jinja2",
    "pyspark",
    "psycopg",
    "vl_convert",
)


@pytest.mark.parametrize(
    "code", ["import sievert", "from sievert.cli import app; app._run(['--help'])"]
)
def test_start_up_loads_nothing_heavy(code: str) -> None:
    script = (
        f"import sys\n{code}\n"
        f"loaded = [m for m in {HEAVY!r} if m in sys.modules]\n"
        "assert not loaded, loaded\n"
        "assert 'sievert.report' not in sys.modules\n"
        "assert 'duckdb' not in sys.modules and 'numpy' not in sys.modules\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(("command", "threads"), [("assess", "1"), ("limit", "None")])
def test_commands_that_count_start_no_threads_for_matrices(command: str, threads: str) -> None:
    script = (
        f"import os, sys\nsys.argv = ['sievert', {command!r}]\n"
        "from sievert.__main__ import main\nfrom sievert.cli import app\n"
        "app.main = lambda: print(os.environ.get('OPENBLAS_NUM_THREADS'))\nmain()\n"
    )
    own = {name: text for name, text in os.environ.items() if name != "OPENBLAS_NUM_THREADS"}
    done = subprocess.run([sys.executable, "-c", script], env=own, capture_output=True, text=True)
    assert done.stdout.split() == [threads], done.stderr


def test_the_parent_imports_the_standard_library_only() -> None:
    script = (
        "import sys\n"
        "from sievert.__main__ import main\n"
        "from sievert.cli import app\n"
        "rooms = {name.partition('.')[0] for name in sys.modules} - sys.stdlib_module_names\n"
        "rooms -= {'sitecustomize', '_distutils_hack'}  # of the environment\n"
        "assert rooms <= {'__main__', '__mp_main__', 'sievert'}, rooms\n"
        "own = {name for name in sys.modules if name.startswith('sievert.')}\n"
        "assert 'sievert.cli.parser' not in own, own\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_assessing_a_file_needs_no_frame_library(table: Path) -> None:
    script = (
        "import sys\n"
        "class Gone:\n"
        "    def find_spec(self, name, *rest):\n"
        f"        if name.partition('.')[0] in {HEAVY!r}: raise ImportError(name)\n"
        "sys.meta_path.insert(0, Gone())\n"
        "import sievert\n"
        f"found = sievert.assess({str(table)!r}, ['zip'], ['disease'])\n"
        "assert found.rows == 4\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_no_network(table: Path) -> None:
    """Any socket that is opened ends the run."""
    script = (
        "import socket, sys\n"
        "def refuse(*a, **k): raise AssertionError('network')\n"
        "socket.socket = refuse\n"
        "from sievert.cli import app as cli\n"
        f"sys.exit(cli._run(['assess', {str(table)!r}, '-q', 'zip', '-s', 'disease']))\n"
    )
    environment = {**os.environ, "no_proxy": "*"}
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, env=environment)
    assert done.returncode == 0, done.stderr


SWALLOWING = """
import signal, sys, time
from sievert.cli import app as cli
signal.signal(signal.SIGTERM, cli._stop)
sys.unraisablehook = cli._not_swallowed
class Thrown:
    def __del__(self):
        signal.raise_signal(signal.SIGTERM)
        time.sleep(0)
try:
    Thrown()
    time.sleep(30)
except KeyboardInterrupt:
    print("stopped by", cli._stopped[0])
"""


# Sent again so soon that it finds the hook for lost exceptions still at work.
AT_ONCE = """
send = cli._send_again
def at_once(number):
    cli._send_again = send
    signal.raise_signal(number)
cli._send_again = at_once
"""


@pytest.mark.parametrize("more", ["", AT_ONCE], ids=["soon", "at once"])
def test_a_signal_while_an_object_is_thrown_away_still_stops(more: str) -> None:
    script = SWALLOWING.replace("class Thrown:", f"{more}class Thrown:")
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=60
    )
    assert done.stdout == "stopped by 143\n"
    assert done.stderr == ""


def test_an_option_of_another_command(capfd: pytest.CaptureFixture[str]) -> None:
    from sievert.cli.parser import OWNERS

    for option in ("--weight", "--fraction", "--household"):
        assert run("compare", "DATA", option, "1") == 2
        assert f"Try: sievert assess {option}" in capfd.readouterr().err
    for option, command in OWNERS.items():  # each of them is one
        run(command, "DATA", option)
        assert "no option of" not in capfd.readouterr().err


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("EMD", ("t_closeness: ", "t_closeness_ordered: ")),
        ("ordered EMD", ("t_closeness_ordered: ",)),
        ("individual risk", ("individual_risk: ", "--weight COLUMN", "formula")),
        ("people alone", ("unique_records: ",)),
        ("records_below", ("records_below: People in groups below k",)),
        *(
            (topic, (f"{topic}: ", "formula", "risky when high", "command"))
            for topic in (
                "identity_disclosure", "attribute_disclosure", "individual_risk", "global_risk",
                "expected_reidentifications", "suda_score", "dis_suda_score",
            )
        ),
    ],
)  # fmt: skip
def test_measures_by_the_names_of_the_field(
    name: str, words: tuple[str, ...], capfd: pytest.CaptureFixture[str]
) -> None:
    assert run("measures", name) == 0
    text = capfd.readouterr().out
    assert all(word in text for word in words)
