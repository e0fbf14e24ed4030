"""The scripts of GitHub's action, GitLab's template and the pre-commit hook, run as they are."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[2]
ACTION = ROOT / "integrations" / "github"
POLICY = """
[roles]
quasi = ["age"]
sensitive = ["ill, or not"]
rows_are_people = true
[limits]
k_anonymity = { min = 5 }
[limits.inference."ill, or not"]
l_diversity = { min = 2 }
"""


@pytest.fixture
def here(tmp_path: Path) -> Path:
    """A folder with a release that meets the policy and one that does not, and `sievert`."""
    (tmp_path / "our policy.toml").write_text(POLICY)
    for name, ages in (("closed", 2), ("open", 1200)):
        rows = [f"age{i % ages},s{i // 2 % 3}" for i in range(1200)]
        (tmp_path / f"{name} table.csv").write_text('age,"ill, or not"\n' + "\n".join(rows) + "\n")
    command = tmp_path / "bin" / "sievert"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m sievert "$@"\n')
    command.chmod(0o755)
    return tmp_path


def run_script(here: Path, script: str, *words: str, **variables: str) -> tuple[int, str]:
    """The exit code and the log of a script, run in bash as runners do."""
    path = (
        f"{here / 'bin'}{os.pathsep}{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    )
    done = subprocess.run(
        ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", script, *words],
        cwd=here,
        env={**os.environ, "PATH": path, **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


# -- GitHub ---------------------------------------------------------------------------------------


def act(here: Path, table: str, **inputs: str) -> tuple[int, str, str, str]:
    """The gate step of the action: its exit code, log, outputs and summary."""
    text = (ACTION / "action.yml").read_text()
    head, gate = text.split("- name: Gate")
    defaults = dict(re.findall(r"^  (\w+):\n    .*\n    default: (.*)$", head, re.MULTILINE))
    given = {name: value.strip('"') for name, value in defaults.items()}
    given |= {"data": table, "policy": "our policy.toml", **inputs}
    mapped = dict(re.findall(r"^ +(SIEVERT_\w+): \$\{\{ inputs\.(\w+) \}\}$", gate, re.MULTILINE))
    assert set(mapped.values()) == {*given} - {"install"}
    (script,) = re.findall(r"^ +run: (.*)$", gate, re.MULTILINE)
    assert "inputs." not in script  # what a caller gives is never part of a script
    files = {name: here / name for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
    for file in files.values():
        file.write_text("")
    variables = {variable: given[name] for variable, name in mapped.items()}
    variables |= {name: str(file) for name, file in files.items()}
    variables |= {"GITHUB_ACTION_PATH": str(ACTION), "RUNNER_TEMP": str(here)}
    code, log = run_script(here, script, **variables)
    output = re.search(r"^::stop-commands::(\w{32})\n(.*\n)?::\1::$", log, re.MULTILINE | re.DOTALL)
    assert output is not None
    log = log.replace(output[0], output[2] or "")
    return code, log, *(file.read_text() for file in files.values())  # type: ignore[return-value]


def test_the_action_fails_on_a_breached_policy_and_annotates_it(here: Path) -> None:
    code, log, output, summary = act(here, "open table.csv")
    assert code == 1 and output == "met=false\ncode=1\n"
    notes = [line for line in log.splitlines() if line.startswith("::")]
    file = "::error file=our policy.toml,title="
    assert notes[0].startswith(f"{file}reidentification.k_anonymity::")
    assert notes[0].endswith("withheld, breached. The policy asks for at least 5.")
    assert notes[1].startswith(f"{file}inference.ill%2C or not.l_diversity::")
    assert [note.partition("::")[2].partition("::")[0] for note in notes[2:]] == [
        "error file=our policy.toml,title=policy.met"
    ]
    assert "The policy is not met" in summary and "1 person" not in log + summary
    root = ElementTree.parse(here / "sievert-limits.xml").getroot()
    assert root.attrib["failures"] == "3"


def test_the_action_passes_on_a_met_policy(here: Path) -> None:
    code, log, output, summary = act(here, "closed table.csv", exact="true")
    assert code == 0 and output == "met=true\ncode=0\n" and "::error" not in log and summary


def test_exact_annotations_point_at_the_line(here: Path) -> None:
    code, log, *_ = act(here, "open table.csv", exact="true", junit="j.xml", arguments="--na NA")
    assert code == 1 and (here / "j.xml").exists()
    assert "::error file=our policy.toml,line=7,title=reidentification.k_anonymity::" in log
    assert "1 person, breached" in log


def test_the_action_without_an_answer(here: Path) -> None:
    """A failed run is no verdict, and leaves none of an earlier one; inputs are never commands."""
    act(here, "closed table.csv")
    nasty = '$(touch gone); touch gone; "'
    code, log, output, _ = act(here, nasty, quasi=nasty)
    assert code == 3 and output == "met=\ncode=3\n" and "::error title=Sievert::no answer" in log
    assert not (here / "gone").exists() and not (here / "sievert-limits.xml").exists()


# -- GitLab ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(("table", "code"), [("open", 1), ("closed", 0)])
def test_the_template_of_gitlab(table: str, code: int, here: Path) -> None:
    text = (ROOT / "integrations" / "gitlab" / "sievert.gitlab-ci.yml").read_text()
    script = "\n".join(re.findall(r"^    - (.*)$", text, re.MULTILINE))
    variables = dict(re.findall(r"^    (SIEVERT_\w+): ([^#\n]*[^#\s])", text, re.MULTILINE))
    variables = {name: value.strip('"') for name, value in variables.items()}
    variables |= {"SIEVERT_DATA": f"{table} table.csv", "SIEVERT_POLICY": "our policy.toml"}
    assert set(variables) == set(re.findall(r"\$(\w+)", script))
    (report,) = re.findall(r"^      junit: (.*)$", text, re.MULTILINE)
    (here / report).write_text("of an earlier run")
    assert run_script(here, script, **variables)[0] == code
    root = ElementTree.parse(here / report).getroot()
    assert root.attrib["failures"] == str(3 * code)


# -- pre-commit -----------------------------------------------------------------------------------


def test_the_hook_of_pre_commit(here: Path) -> None:
    text = (ROOT / ".pre-commit-hooks.yaml").read_text()
    (entry,) = re.findall(r"^  entry: (.*)$", text, re.MULTILINE)
    command = [*shlex.split(entry), "our policy.toml"]
    code, log = run_script(here, shlex.join([*command, "open table.csv", "closed table.csv"]))
    assert code == 1 and log.count("olicy is not met") == 1 and "Yes, by this policy" in log
    assert run_script(here, shlex.join([*command, "closed table.csv"]))[0] == 0
    (files,) = re.findall(r"^  files: (.*)$", text, re.MULTILINE)
    assert re.search(files, "a/b.csv") and not re.search(files, "b.csv.txt")
