"""The attack by reasoning on the command line: both kinds of release, files, errors."""

from __future__ import annotations

import csv
import json
import random
from pathlib import Path
from typing import Any

import pytest
from helpers.commandline import run

from sievert import methods

pytestmark = pytest.mark.slow
QUASI = ["age", "zip"]
CANARY = "qx"
HEADLINES = {
    "attacker_accuracy", "learner_accuracy", "baseline", "global_relative_risk",
    "global_relative_risk_literal", "max_relative_risk", "converged", "method",
}  # fmt: skip


def people(records: int = 120) -> dict[str, list[str]]:
    """Whose zip tells something of the disease, and whose cells all begin alike."""
    rng = random.Random(3)
    zips = [rng.randrange(6) for _ in range(records)]
    return {
        "age": [str(rng.randrange(20, 60)) for _ in range(records)],
        "zip": [f"{CANARY}z{z}" for z in zips],
        "disease": [f"{CANARY}d{(z + rng.randrange(2)) % 4}" for z in zips],
    }


def write(path: Path, columns: dict[str, Any]) -> Path:
    with path.open("w", newline="") as file:
        out = csv.writer(file)
        out.writerow(columns)
        out.writerows(zip(*columns.values(), strict=True))
    return path


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("reasoning")
    original = people()
    anatomy = methods.anatomise(original, QUASI, "disease", 2)
    found = {
        "original": original,
        "coarse": methods.mondrian(original, QUASI, 6).columns,
        "people": anatomy.quasi_table,
        "secrets": anatomy.sensitive_table,
    }
    return {name: write(folder / f"{name}.csv", dict(table)) for name, table in found.items()}


ROLES = ("-q", "age,zip", "-s", "disease")


def test_coarse(tables: dict[str, Path], capsys: pytest.CaptureFixture) -> None:
    told = ("--original", tables["original"], *ROLES, "--sweeps", "800")
    assert run("attack", tables["coarse"], *told) == 0
    out, err = capsys.readouterr()
    words = " ".join(out.split())
    assert (
        "Reasoning names disease of" in words and "An attacker who reasons names disease" in words
    )
    assert "% by guessing" in words and "Worst off, by relative risk" not in words
    assert CANARY not in out + err
    assert run("attack", tables["coarse"], *told, "--all") == 0
    out, err = capsys.readouterr()
    assert "Worst off, by relative risk" in out
    assert CANARY not in out + err
    assert max(len(line) for line in out.splitlines()) <= 100
    assert run("attack", tables["coarse"], *told, "--json", "-") == 0
    text = capsys.readouterr().out
    found = json.loads(text)
    assert set(found) >= HEADLINES and found["method"] == "gibbs" and found["converged"] is True
    assert CANARY not in text and "NaN" not in text and "Infinity" not in text
    held = found["attacks"]["reasoning"]["disease"]
    assert held["attacker_accuracy"]["value"] == found["attacker_accuracy"] > found["baseline"]
    assert held["attacker_accuracy"]["riskier"] == "high"
    assert held["sampling"]["rhat"] < 1.01 and held["sampling"]["chains"] == 4
    assert run("attack", tables["coarse"], *told, "--json", "-", "--threads", "1") == 0
    assert capsys.readouterr().out == text
    assert run("attack", tables["coarse"], *told, "--json", "-", "--show-values") == 0
    assert f"{CANARY}d" in capsys.readouterr().out


def test_two_tables(tables: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    rows = tmp_path / "rows.csv"
    arguments = (
        tables["people"], "--sensitive-table", tables["secrets"], "--original",
        tables["original"], *ROLES, "--chains", "4",
    )  # fmt: skip
    assert run("attack", *arguments, "--records", rows, "--json", "-") == 0
    text, err = capsys.readouterr()
    found = json.loads(text)
    assert found["attacks"]["reasoning"]["disease"]["kind"] == "vertical"
    assert found["attacks"]["reasoning"]["disease"]["groups"] == 60
    assert found["roles"]["sensitive"] == ["disease"] and "homogeneity" not in found["attacks"]
    assert CANARY not in text + err
    with rows.open(newline="") as file:
        records = list(csv.DictReader(file))
    assert [int(r["record"]) for r in records] == list(range(1, 121))
    assert {r["disease_at_risk"] for r in records} <= {"yes", "no", "undecided"}
    sure = sum(r["disease_at_risk"] != "no" for r in records)
    assert sure >= found["attacks"]["reasoning"]["disease"]["at_risk"]["value"]
    assert all(0 <= float(r["disease_attacker"]) <= 1 for r in records)
    assert CANARY not in rows.read_text()


def test_one_table_with_groups(
    tables: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture
) -> None:
    original = people(8)
    both = write(tmp_path / "both.csv", {**original, "batch": list("aabbccdd")})
    assert run("attack", both, "--group", "batch", *ROLES, "--json", "-") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["method"] == "exact" and found["attacker_accuracy"] is None
    told = found["attacks"]["reasoning"]["disease"]
    assert told["attacker_accuracy"]["reason"] == "needs the original"
    assert 0 < told["attacker_expects"]["value"] <= 1


def test_off(tables: dict[str, Path], capsys: pytest.CaptureFixture) -> None:
    assert run("attack", tables["coarse"], *ROLES, "--no-reasoning", "--json", "-") == 0
    found = json.loads(capsys.readouterr().out)
    assert "reasoning" not in found["attacks"] and not HEADLINES & set(found)


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        (("--likelihood", "naive"), 2, "--likelihood"),
        (("--alpha", "0"), 2, "alpha must be positive"),
        (("--beta", "-1"), 2, "beta must be positive"),
        (("--domain", "age=1..9999999999"), 2, "a domain of more than"),
        (("--domain", "nothing=1..9"), 2, "--domain: column"),
        (("--domain", "age"), 2, "--domain takes COLUMN=SOMETHING"),
        (("--domain", "age=no-such-file.txt"), 3, "no such file"),
        (("--chains", "1"), 2, "--chains must be"),
        (("--sweeps", "3"), 2, "--sweeps must be"),
        (("--group", "ward"), 2, "--group: column"),
        (("--records", "rows.csv", "--no-reasoning"), 2, "who reasons"),
        (("--share",), 7, "not shareable"),
    ],
)
def test_errors(
    options: tuple[str, ...], code: int, words: str, tables: dict[str, Path],
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    assert run("attack", tables["coarse"], *ROLES, *options) == code
    out, err = capsys.readouterr()
    assert out == "" and words in err and err.count("\n") <= 2 and CANARY not in err
    assert not list(tmp_path.iterdir())


def test_groups_of_other_sizes(
    tables: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture
) -> None:
    secrets = write(tmp_path / "few.csv", {"group": ["0", "0", "1"], "disease": ["a", "b", "c"]})
    assert run("attack", tables["people"], "--sensitive-table", secrets, *ROLES) == 3
    err = capsys.readouterr().err
    assert "groups have other numbers of people and secrets" in err and CANARY not in err


def test_a_star_alone_says_nothing(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    """Other attacks go on; reasoning that was asked for fails in one line."""
    table = write(tmp_path / "stars.csv", {"age": ["*"] * 4, "disease": list("aabb")})
    roles = ("-q", "age", "-s", "disease", "--keep-suppressed")
    assert run("attack", table, *roles[:-1]) == 3
    assert "every record is suppressed" in capsys.readouterr().err
    assert run("attack", table, *roles, "--json", "-") == 0
    found = json.loads(capsys.readouterr().out)
    assert any("no reasoning about 'disease'" in note for note in found["warnings"])
    assert run("attack", table, *roles, "--beta", "2") == 3
    assert "--domain age=FILE" in capsys.readouterr().err
    assert run("attack", table, *roles, "--domain", "age=20..29", "--json", "-") == 0
    assert json.loads(capsys.readouterr().out)["method"] == "closed form"


@pytest.mark.parametrize("kind", ["coarse", "people"])
def test_released_records(
    kind: str, tables: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture
) -> None:
    """Without the original, every released record has what those believe whose values fit."""
    rows = tmp_path / "rows.csv"
    second = ("--sensitive-table", tables["secrets"], "--chains", "4") if kind == "people" else ()
    told = (*ROLES, *second, "--records", rows, "--all", "--markdown", tmp_path / "page.md")
    assert run("attack", tables[kind], *told) == 0
    out = capsys.readouterr().out
    assert CANARY not in out
    for text in (out, (tmp_path / "page.md").read_text()):  # what needs the original has no row
        assert "undefined" not in text.lower() and "expects to name" in " ".join(text.split())
    with rows.open(newline="") as file:
        records = list(csv.DictReader(file))
    assert len(records) == 120 and CANARY not in rows.read_text()
    for row in records:
        if kind == "people":
            assert 0 < float(row["disease_attacker"]) <= 1 and 0 < float(row["disease_learner"]) < 1
        else:
            least, most = float(row["disease_attacker_least"]), float(row["disease_attacker_most"])
            assert 0 < least <= most <= 1
            assert float(row["disease_learner_least"]) <= float(row["disease_learner_most"])


def test_tables_of_other_people(tables: dict[str, Path], capsys: pytest.CaptureFixture) -> None:
    """A release whose labels nobody can read is no proof of anything."""
    folder = tables["coarse"].parent
    regions = [f"{CANARY} region {i % 3}" for i in range(120)]
    unread = write(folder / "unread.csv", {**people(), "zip": regions})
    told = ("--original", tables["original"], *ROLES)
    assert run("attack", unread, *told, "--json", "-") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["attacker_accuracy"] is None
    held = found["attacks"]["reasoning"]["disease"]
    assert "not values of the original" in held["attacker_accuracy"]["reason"]
    assert "--hierarchy zip=FILE" in held["reading"] and held["unreadable_labels"] == ["zip"]
    assert run("attack", unread, *told) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "What reasoning tells is not known. What an attacker" in text and CANARY not in text
    assert "labels of zip are not values of the original" in text and "by guessing" not in text
    other = write(folder / "other.csv", {**people(), "disease": ["none"] * 120})
    assert run("attack", other, *told) == 3
    assert "no secret of the original occurs in the release" in capsys.readouterr().err


def test_chains_that_do_not_agree_tell_nothing(
    tables: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture
) -> None:
    rows = tmp_path / "rows.csv"
    told = (
        tables["people"], "--sensitive-table", tables["secrets"], "--original", tables["original"],
        *ROLES, "--sweeps", "50", "--records", rows,
    )  # fmt: skip
    for _ in range(2):  # the second time over a file of our own
        assert run("attack", *told) == 0
        assert "chains of the simulation do not agree" in " ".join(capsys.readouterr().out.split())
    with rows.open(newline="") as file:
        records = list(csv.DictReader(file))
    assert {r["disease_at_risk"] for r in records} == {"undecided"}
    assert {r["disease_attacker"] for r in records} == {""}
