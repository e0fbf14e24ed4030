"""What guides and pages show is run: console blocks as written, Python examples as doctests.

A console block has lines that begin with `$ ` (a command) and, below each, what it says, verbatim.
A line of `...` stands for any lines, `...` within a line for any text. `$ echo $?` shows the exit
code; where it is not asked for, a command must end with 0, or with 1 if it has a policy. Commands
are run in a folder with `demo` as `make demo` leaves it, and with `examples`.
"""

from __future__ import annotations

import doctest
import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from sievert.cli.app import _run

ROOT = Path(__file__).parents[2]
PAGES = sorted((*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")))
# Pages whose examples other tests run, and where.
ELSEWHERE = {
    "attacks": "unit/attack/test_attacking.py",
    "approximate": "unit/measures/test_approximate.py",
    "charts": "unit/charts/test_charts.py",
    "compare": "docs/test_losses_page.py",
    "estimation": "docs/test_losses_page.py",
    "limit": "docs/test_pages.py",
    "linkage": "unit/attack/test_linkage.py",
    "losses": "docs/test_losses_page.py",
    "methods": "unit/methods/test_methods.py",
    "population": "unit/population/test_population.py",
    "reasoning": "docs/test_pages.py",
    "suda": "unit/attacks/test_suda.py",
}


@dataclass(frozen=True)
class Step:
    """A command and what stands below it."""

    command: str
    said: tuple[str, ...]


def blocks(page: Path, language: str) -> list[str]:
    """The fenced blocks of a page in one language."""
    text = page.read_text(encoding="utf-8")
    tokens = MarkdownIt("commonmark").parse(text) if language in text else []
    return [t.content for t in tokens if t.type == "fence" and t.info.strip() == language]


def steps(page: Path) -> list[Step]:
    """Every command of the console blocks of a page, in order."""
    found: list[Step] = []
    for block in blocks(page, "console"):
        first, *rest = re.split(r"^\$ ", block, flags=re.MULTILINE)
        assert not first.strip(), f"{page.name}: a console block begins with a command"
        for each in rest:
            command, _, said = re.sub(r"\\\n\s*", "", each).partition("\n")
            found.append(Step(command, tuple(said.rstrip("\n").splitlines())))
    return found


def fits(said: tuple[str, ...], lines: list[str]) -> str:
    """Nothing if the lines are what was said; else the line from which on they are not."""
    runs: list[list[str]] = [[]]  # what stands between lines of dots, each run in one piece
    for line in said:
        if line.strip() == "...":
            runs.append([])
        else:
            runs[-1].append(line.rstrip())
    at, last = 0, len(runs) - 1
    for number, wanted in enumerate(runs):
        end = len(lines) - len(wanted)
        places = range(at, end + 1)
        if number == 0:
            places = places[:1]
        if number == last and wanted:
            places = places[-1:] if end >= at else places
        place = next((i for i in places if _alike(wanted, lines[i : i + len(wanted)])), None)
        if place is None:
            return wanted[0]
        at = place + len(wanted)
    return "" if at == len(lines) or (last and not runs[-1]) else f"(more was said) {lines[at]}"


def _alike(wanted: list[str], lines: list[str]) -> bool:
    patterns = [".*".join(map(re.escape, line.split("..."))) for line in wanted]
    pairs = zip(patterns, lines, strict=True)
    return all(re.fullmatch(pattern, line.rstrip()) for pattern, line in pairs)


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of `make demo`."""
    folder = tmp_path_factory.mktemp("made") / "demo"
    folder.mkdir()
    script = str(ROOT / "examples" / "hospital.py")
    options = ["--hierarchies", str(folder / "hierarchies"), "--releases", str(folder)]
    command = [sys.executable, script, str(folder / "hospital.csv"), *options]
    subprocess.run(command, check=True, timeout=60, capture_output=True)
    return folder


def run(command: str, code: int, capfd: pytest.CaptureFixture[str]) -> tuple[int, str]:
    """Run one command of a console block; its exit code and what it said."""
    if command == "echo $?":
        return 0, str(code)
    words = shlex.split(command)
    if words[0] == "ls":
        return 0, "\n".join(name for name in words[1:] if Path(name).exists())
    if words[0] == "python":
        done = subprocess.run(
            [sys.executable, *words[1:]], capture_output=True, text=True, timeout=60
        )
        return done.returncode, done.stdout + done.stderr
    assert words[0] == "sievert", command
    capfd.readouterr()
    code = _run(words[1:])
    told = capfd.readouterr()
    return code, (told.out + told.err).replace("\N{NO-BREAK SPACE}", " ")  # they look the same


SHOWN = [page for page in PAGES if blocks(page, "console")]


@pytest.mark.parametrize("page", SHOWN, ids=[p.stem for p in SHOWN])
@pytest.mark.slow
def test_console_blocks(
    page: Path,
    demo: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    shutil.copytree(demo, tmp_path / "demo")
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    todo, code, wrong = steps(page), 0, []
    for step, after in zip(todo, [*todo[1:], None], strict=True):
        code, told = run(step.command, code, capfd)
        missing = fits(step.said, told.splitlines())
        if missing:
            wrong.append(f"$ {step.command}\n  lacks: {missing}\n  said: {told[:400]}")
        asked = after is not None and after.command == "echo $?"
        if not asked and code > ("--policy" in step.command):
            wrong.append(f"$ {step.command}\n  exit {code}: {told[-400:]}")
    assert not wrong, "\n".join(wrong)


def test_guides_show_what_they_say() -> None:
    assert {"officer", "engineer"} <= {page.stem for page in SHOWN}


HERE = [
    page
    for page in PAGES
    if ">>> " in page.read_text(encoding="utf-8")
    and page.parent.name != "measures"
    and page.stem not in ELSEWHERE
    and page.stem != "api"  # written from docstrings, whose examples are run where they stand
]


@pytest.mark.parametrize("page", HERE, ids=[p.stem for p in HERE])
def test_python_examples(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    failed, tried = doctest.testfile(str(page), module_relative=False, optionflags=flags)
    assert failed == 0 and tried > 0


@pytest.mark.parametrize("name", ELSEWHERE)
def test_examples_of_other_pages_are_run_elsewhere(name: str) -> None:
    text = (ROOT / "tests" / ELSEWHERE[name]).read_text(encoding="utf-8")
    assert re.search(rf"\b{name}(\.md)?\"", text) and "doctest." in text


def test_how_lines_fit() -> None:
    lines = ["a", "b 1", "c", "d"]
    assert fits(("a", "b ...", "c", "d"), lines) == ""
    assert fits(("...", "c", "..."), lines) == ""
    assert fits(("a", "..."), lines) == ""
    assert fits(("...", "d"), lines) == ""
    assert fits(("a", "...", "c", "d"), lines) == ""
    assert fits(("...", "c"), lines) == "c"
    assert fits(("a", "c", "..."), lines) == "a"
    assert fits(("...", "b 1", "d", "..."), lines) == "b 1"
    assert fits(("...", "d", "...", "c", "..."), lines) == "c"
    assert fits(("a",), lines) == "(more was said) b 1"
    assert fits((*lines, "e"), lines) == "a"
    assert fits(("...", "b", "..."), ["b b", "b"]) == ""
    assert fits((), lines) == "(more was said) a"
    assert fits((), []) == ""
