"""`sievert limit`: what it prints, writes, and refuses."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from helpers.commandline import run

import sievert
from sievert.commands.limit import page as limit_chapter
from sievert.report import builder, texts


@pytest.fixture
def table(tmp_path: Path) -> Path:
    rng = np.random.default_rng(2)
    job = rng.choice(4, 800, p=[0.4, 0.3, 0.2, 0.1])
    ill = np.where(rng.random(800) < 0.2 + 0.2 * job, "HIV", "Flu")
    age = 20 + 10 * job + rng.integers(0, 8, 800)
    lines = [f"p{i};Job{j};{a};{s}" for i, (j, a, s) in enumerate(zip(job, age, ill, strict=True))]
    path = tmp_path / "people.csv"
    path.write_text("\n".join(["name;job;age;ill", *lines]) + "\n")
    return path


def test_the_answer_comes_first(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("limit", table, "-q", "job", "-s", "ill", "-i", "name", "--at", "0.1") == 0
    out, err = capsys.readouterr()
    assert err == ""
    text = " ".join(out.split())
    assert "With at most 10 % of the values changed, no method that releases job tells less" in text
    assert "bits about ill on average over draws; " in text
    assert "is reached. The table itself tells" in text and "whatever it does" in text
    assert "The best channel promises" in text and "Local epsilon" in text
    assert len(out.splitlines()) <= 40
    assert max(len(line) for line in out.splitlines()) <= 100
    for value in ("Job1", "HIV", "Flu", "p17"):
        assert value not in out


@pytest.mark.slow
def test_everything_is_written(
    table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("vl_convert")
    out, matrix, charts, result = (
        tmp_path / n for n in ("release.csv", "matrix.csv", "charts", "r.json")
    )
    command = (
        "limit", table, "-q", "age", "-s", "ill", "-i", "name", "--distortion", "absolute",
        "--at", "0.05", "-o", out, "--matrix", matrix, "--charts", charts, "--json", result,
    )  # fmt: skip
    assert run(*command) == 0
    before, after = table.read_text().splitlines(), out.read_text().splitlines()
    assert after[0] == "job;age;ill" and len(after) == len(before)
    assert matrix.read_text().startswith("age,released age,probability\n")
    assert (charts / "limit_age.svg").read_text().startswith("<!-- drawn by sievert")
    found = json.loads(result.read_text())
    assert {"sievert", "table", "roles", "points", "channel", "warnings"} <= set(found)
    asked = [p for p in found["points"] if p["asked"]]
    assert len(asked) == 1 and len(found["points"]) == 21
    for name in ("at", "objective", "bound", "gap", "risk", "loss", "distortion", "epsilon"):
        assert name in asked[0]
    assert asked[0]["units"]["risk"] == "bits"
    (part,) = found["channel"]["parts"]
    assert part["achieved"]["risk"] >= 0 and part["promised"]["distortion"] <= 0.05 + 1e-9
    assert "Job1" not in result.read_text() and "matrix" not in part
    text = result.read_text()
    # ours, but a release is data: it needs --force; an input never gives way
    assert run(*command) == 7
    assert run(*command, "--force") == 0
    assert result.read_text() == text and out.read_text().splitlines() == after
    capsys.readouterr()


def test_several_points_and_values(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ("limit", table, "-q", "job", "-s", "ill", "--json", "-")
    assert run(*command, "--at", "0.05,0.1", "--at", "0.2") == 0
    found = json.loads(capsys.readouterr().out)
    assert [p["at"] for p in found["points"]] == [0.05, 0.1, 0.2]
    assert found["channel"]["inside"] is None
    assert run(*command, "--at", "0.1", "--show-values") == 0
    (part,) = json.loads(capsys.readouterr().out)["channel"]["parts"]
    assert part["matrix"]["values"] == [["Job0"], ["Job1"], ["Job2"], ["Job3"]]
    assert np.sum(part["matrix"]["probabilities"]) == pytest.approx(4)


@pytest.mark.parametrize(
    "model, words",
    [
        ("2", "bits told about ill"), ("3", "To lose at most"), ("4", "told of who is who"),
        ("funnel", "To keep at least"), ("identity", "bits of who is who"),
        ("identity-reverse", "bits told of who is who"),
    ],
)  # fmt: skip
@pytest.mark.slow
def test_every_model_has_its_sentence(
    table: Path, model: str, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("limit", table, "-q", "job", "-s", "ill", "--model", model, "--at", "0.02") == 0
    assert words in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize(
    "more, code",
    [
        (["--at", "0.1", "--share"], 7),
        (["--at", "x"], 2),
        (["--at", "0.1,0.2", "-o", "r.csv"], 2),
        (["--at", "0.1", "-o", "r.txt"], 2),
        (["--at", "0.1", "-o", "INPUT", "--force"], 7),
        (["--at", "0.1", "--matrix", "INPUT", "--force"], 7),
        (["--at", "0.1", "-o", "r.csv", "--matrix", "r.csv"], 2),
        (["--at", "0.1", "--model", "9"], 2),
        (["--at", "0.1", "--distortion", "nowhere.csv"], 3),
        (["--at", "0.1", "--hierarchy", "ill=prefix"], 2),
        (["--at", "0.1", "--gaussian"], 2),
        (["--at", "0.1", "--alpha-value", "ill=HIV"], 2),
    ],
)
def test_what_is_refused(
    table: Path,
    more: list[str],
    code: int,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(table.parent)
    before = table.read_text()
    more = [str(table) if m == "INPUT" else m for m in more]
    assert run("limit", table, "-q", "job", "-s", "ill", *more) == code
    out, err = capsys.readouterr()
    assert out == "" and len(err.splitlines()) == 1 and err.startswith("error: ")
    assert "HIV" not in err and "Job" not in err
    assert table.read_text() == before and not (table.parent / "r.csv").exists()


def test_columns_one_by_one_and_every_constraint() -> None:
    table = {c: [str(i * k % 7) for i in range(140)] for c, k in (("a", 1), ("b", 3), ("s", 2))}
    result = sievert.randomise(table, ["a", "b"], "s", at=[0.1, 0.3], alphabet="columns")
    head, text = limit_chapter.points(builder.make_part(result, 1, texts.read_texts(None)))[0]
    assert head.startswith("Columns were taken one by one; the worst is ")
    assert "With at most 10 %" in text and "With at most 30 %" in text


def test_without_a_constraint_there_is_one_and_it_is_said() -> None:
    table = {"a": list("xxyyz") * 20, "s": list("ppqqp") * 20}
    result = sievert.randomise(table, "a", "s")
    assert [point.at for point in result.points] == [0.1]
    assert "no constraint was given: it is 0.1 (--at)" in repr(result)
    assert "no constraint" not in repr(sievert.randomise(table, "a", "s", at=0.1))
