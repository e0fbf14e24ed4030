"""The commands of the guides: a reader can start them, they spoil nothing, and mislead nobody."""

from __future__ import annotations

import csv
import os
import re
import shlex
import shutil
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest
from helpers.commandline import run

ROOT = Path(__file__).parents[2]
POLICIES = ROOT / "examples" / "policies"
ALL = ("officer", "statistician", "engineer", "which-release")
WRITES = ("--json", "--records", "--html", "--markdown", "-o")


def guide(name: str) -> str:
    return (ROOT / "docs" / "guides" / f"{name}.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("guides")
    script = str(ROOT / "examples" / "hospital.py")
    command = [sys.executable, script, str(folder / "hospital.csv"), "--releases", str(folder)]
    subprocess.run(command, check=True, timeout=60, capture_output=True)
    return folder


def only(source: Path, target: Path, columns: tuple[str, ...]) -> None:
    """Write some columns of a table to a file of their own."""
    with source.open(encoding="utf-8", newline="") as rows, target.open("w", newline="") as file:
        out = csv.DictWriter(file, columns, extrasaction="ignore")
        out.writeheader()
        out.writerows(csv.DictReader(rows))


def commands(name: str) -> list[list[str]]:
    """The words of every command of a guide's console blocks."""
    return [shlex.split(line[2:]) for line in guide(name).splitlines() if line.startswith("$ ")]


@pytest.mark.parametrize("name", ALL)
def test_guides_begin_with_how_to_have_the_command(name: str) -> None:
    first = guide(name).partition("\n## ")[0]
    assert "make install" in first and 'export PATH="$PWD/.venv/bin:$PATH"' in first


@pytest.mark.parametrize("name", ALL)
def test_guides_leave_what_the_demo_wrote(name: str) -> None:
    recipe = (ROOT / "Makefile").read_text(encoding="utf-8").partition("\ndemo:")[2]
    written = set(re.findall(r"--(?:json|records|html|markdown) (demo/[\w.]+)", recipe))
    assert {"demo/decision.html", "demo/report.html", "demo/comparison.json"} <= written
    for words in commands(name):
        outputs = [after for word, after in pairwise(words) if word in WRITES]
        assert not written & set(outputs), words


@pytest.mark.parametrize("name", ["officer", "engineer"])
def test_limits_are_shown_as_met_only_where_no_column_is_left_over(name: str, demo: Path) -> None:
    """A page that says "met" of a file with other columns would mislead whoever copies it."""
    only(demo / "hidden.csv", demo / "three.csv", ("sex", "postcode", "diagnosis"))
    for command in re.findall(r"^\$ sievert (protect .*)", guide(name), re.MULTILINE):
        words = [re.sub("^demo/", f"{demo}/", word) for word in shlex.split(command)]
        words = [re.sub("^examples/", f"{ROOT}/examples/", word) for word in words]
        assert run(*words, "--force") == 0
    seen = 0
    shown = re.findall(r"^\$ (sievert assess .*)\n((?:[^$`].*\n)*)", guide(name), re.MULTILINE)
    for command, said in shown:
        if "Yes, by this policy." not in said:
            continue
        words = shlex.split(command)
        after = dict(pairwise(words))
        table = demo / Path(words[2]).name
        with table.open(encoding="utf-8", newline="") as file:
            columns = next(csv.reader(file))
        assert set(columns) == {*after["-q"].split(","), *after["-s"].split(",")}, command
        seen += 1
    assert seen


# -- the gate -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("release", "code", "words"),
    [
        ("three", 0, "the policy is met"),
        ("exact", 1, "breached"),
        ("hidden", 1, "no role"),  # it meets every limit all the same
        ("gone", 3, "exit 3"),
    ],
)
@pytest.mark.slow
def test_the_gate_of_the_guide(
    demo: Path, tmp_path: Path, release: str, code: int, words: str
) -> None:
    for name, source in (("three", "hidden"), ("exact", "hospital")):
        only(demo / f"{source}.csv", demo / f"{name}.csv", ("sex", "postcode", "diagnosis"))
    script = re.search(r"```sh\n(# gate\.sh.*?)```", guide("engineer"), re.DOTALL)
    assert script is not None
    binary = tmp_path / "bin"
    binary.mkdir()
    for name, words in (("sievert", "-m sievert"), ("python", "")):
        (binary / name).write_text(f'#!/bin/sh\nexec "{sys.executable}" {words} "$@"\n')
        (binary / name).chmod(0o755)
    (tmp_path / "gate.json").write_text("of yesterday")
    shutil.copyfile(POLICIES / "public_use.toml", tmp_path / "policy.toml")
    environment = {
        "PATH": f"{binary}{os.pathsep}/usr/bin{os.pathsep}/bin",
        "PYTHONPATH": str(ROOT / "src"),
        "HOME": str(tmp_path),
    }
    done = subprocess.run(
        ["/bin/sh", "-c", script[1], "gate.sh", str(demo / f"{release}.csv"), "policy.toml"],
        cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert done.returncode == code, done.stderr
    assert words in done.stdout
    assert (tmp_path / "gate.json").exists() == (code < 3)
