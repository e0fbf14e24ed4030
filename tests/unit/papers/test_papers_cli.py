"""Every paper by the command line: files and screen agree with each other and with the page."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from helpers.commandline import run

from sievert import papers
from sievert.papers.claims import HELD, NEED_WHY, STATES, Given, Paper
from sievert.report.page import Picture

pytestmark = pytest.mark.slow
PAGE = Path(__file__).parents[3] / "docs" / "papers.md"
MOST = 500_000  # bytes of a page
LONGEST = 250  # letters of a reason
TAKES = {
    "itpr": ("timings",),
    "discrimination-rate": ("adult", "adult_k10", "adult_k15", "adult_k10_l5"),
    "mutual-information": ("adult",),
    "relative-risk": ("adult", "hierarchies"),
    "approximate-compromise": ("pums", "wine", "breast_cancer"),
}


@pytest.fixture
def once(plain_paper: Callable[[str], Paper], monkeypatch: pytest.MonkeyPatch) -> None:
    """Compute each paper once."""
    compute = papers.recompute

    def cached(name: str, given: Given | None = None) -> Paper:
        if name not in papers.NAMES or (given is not None and given.data):
            return compute(name, given)
        return plain_paper(name)

    monkeypatch.setattr(papers, "recompute", cached)


@pytest.fixture(params=papers.NAMES)
def written(
    request: pytest.FixtureRequest,
    once: None,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> Iterator[tuple[Paper, Path, str]]:
    """A paper, the folder with what was written of it, and what was said."""
    name = request.param
    assert run("paper", name, *outputs(tmp_path)) == 0
    yield papers.recompute(name), tmp_path, capsys.readouterr().out


def outputs(folder: Path) -> list[str]:
    kinds = ("json", "html", "markdown")
    return [word for kind in kinds for word in (f"--{kind}", str(folder / f"paper.{kind}"))]


def words(text: str) -> str:
    return " ".join(text.split())


def test_what_is_written_agrees(written: tuple[Paper, Path, str]) -> None:
    paper, folder, _ = written
    told: dict[str, Any] = json.loads((folder / "paper.json").read_text(encoding="utf-8"))
    claims = [claim for part in told["parts"] for claim in part["claims"]]
    states = [claim["state"] for claim in claims]
    assert told["counted"] == {state: states.count(state) for state in STATES}
    page = (folder / "paper.markdown").read_text(encoding="utf-8")
    for state in STATES:
        (row,) = re.findall(rf"^\| {state} \| ([\d,]+) \|", page, re.MULTILINE) or ["0"]
        assert int(row) == states.count(state), state
    html = (folder / "paper.html").read_text(encoding="utf-8")
    pictures = [b for part in paper.parts for b in part.blocks if isinstance(b, Picture)]
    assert len(re.findall("<figure", html)) == len(pictures) > 0
    assert "<script" not in html and len(html.encode()) < MOST


def test_the_screen_shows_what_does_not_hold(
    written: tuple[Paper, Path, str], capsys: pytest.CaptureFixture[str]
) -> None:
    paper, _, said = written
    assert run("paper", paper.name, "--all") == 0
    every = words(capsys.readouterr().out)
    some = words(said)
    for part in paper.parts:
        assert words(part.title) in some
        for claim in part.claims:
            shown = words(f"printed {claim.printed}, ours {claim.ours}: {claim.state}")
            assert shown in every
            assert claim.state in HELD or (shown in some and words(claim.why) in some)
    assert not re.findall(r": (match|rounding|true)$", said, re.MULTILINE)
    assert max(map(len, said.splitlines())) <= 100


def test_the_same_twice(written: tuple[Paper, Path, str], tmp_path: Path) -> None:
    paper, folder, _ = written
    again = tmp_path / "again"
    again.mkdir()
    assert run("paper", paper.name, *outputs(again)) == 0
    for path in again.iterdir():
        assert path.read_bytes() == (folder / path.name).read_bytes()


def test_what_is_said_is_short_and_said_once(written: tuple[Paper, Path, str]) -> None:
    paper, _, _ = written
    assert len({part.title for part in paper.parts}) == len(paper.parts)
    for part in paper.parts:
        assert len({claim.what for claim in part.claims}) == len(part.claims), part.title
        for claim in part.claims:
            assert len(claim.why) <= LONGEST, claim.why
            assert bool(claim.why) >= (claim.state in NEED_WHY)
            assert not (claim.why and claim.state in ("match", "true"))


def test_json_on_standard_output(once: None, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("paper", "discrimination-rate", "--json", "-") == 0
    assert json.loads(capsys.readouterr().out)["paper"] == "discrimination-rate"


def test_the_page_of_the_manual_is_not_stale(once: None) -> None:
    text = PAGE.read_text(encoding="utf-8")
    rows = {
        cells[0].strip(" `"): [int(cell) for cell in cells[1:]]
        for line in re.findall(r"^\| (`[a-z-]+` \|(?: \d+ \|){8})$", text, re.MULTILINE)
        if (cells := line.rstrip("|").split("|"))
    }
    assert list(rows) == list(papers.NAMES)
    for name, numbers in rows.items():
        paper = papers.recompute(name)
        counted = [paper.count_states()[state] for state in STATES]
        assert numbers == [*counted, sum(counted)]
        assert f"| `{name}` | {paper.title} |" in text
        for table in papers.takes(name):
            assert f"`{table}=FILE`" in text
    assert f"| paper | {' | '.join(STATES)} | together |" in text


# -- what is refused ------------------------------------------------------------------------------


def refused(words: list[str], capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    """The exit code and the one line of an error."""
    code = run(*words)
    out, err = capsys.readouterr()
    assert not out and len(err.splitlines()) == 1 and err.startswith("error: ")
    return code, err


@pytest.mark.parametrize("name", papers.NAMES)
def test_only_the_tables_of_a_paper(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Another name and a missing file are told before anything is computed."""
    assert papers.takes(name) == TAKES[name]
    module = papers._module(name)
    monkeypatch.setattr(module, "paper", lambda _: pytest.fail("computed"))
    path = tmp_path / "table.csv"
    path.write_text("a,b\n1,2\n", encoding="utf-8")
    code, told = refused(["paper", name, "--data", f"elsewhere={path}"], capsys)
    assert code == 2 and all(f"--data {table}=FILE" in told for table in TAKES[name])
    for table in TAKES[name]:
        gone = tmp_path / "none.csv"
        code, told = refused(["paper", name, "--data", f"{table}={gone}"], capsys)
        assert (code, "none.csv: no such file" in told) == (3, True)


@pytest.mark.parametrize("name", papers.NAMES)
def test_another_table_is_told_first(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "table.csv"
    path.write_text("sex,income\nruritanian,secretive\n", encoding="utf-8")
    code, told = refused(["paper", name, "--data", f"{TAKES[name][0]}={path}"], capsys)
    assert code == 3 and "table.csv" in told
    assert "ruritanian" not in told and "secretive" not in told


def test_an_unknown_paper(capsys: pytest.CaptureFixture[str]) -> None:
    code, told = refused(["paper", "itrp"], capsys)
    assert code == 2 and "'itpr'" in told
    code, told = refused(["paper", "itpr", "--data", "timings"], capsys)
    assert code == 2


def test_files_of_others_are_kept(
    once: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "notes.html"
    path.write_text("mine", encoding="utf-8")
    code, _ = refused(["paper", "itpr", "--html", str(path)], capsys)
    assert code == 7 and path.read_text(encoding="utf-8") == "mine"
