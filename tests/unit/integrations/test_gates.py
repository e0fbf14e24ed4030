"""The scripts of GitHub's action, GitLab's template and the pre-commit hook, run as they are."""

from __future__ import annotations

import os
import re
import runpy
import shlex
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from xml.etree import ElementTree

import pytest

import sievert

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[3]
REPORT = "sievert-limits.xml"
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
        rows = [f"age{i % ages},s{i * i % 3}" for i in range(1200)]
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


@pytest.mark.parametrize("arguments", ["--help", "-h", "--version"])
def test_a_run_that_only_tells_how_it_is_used_is_no_answer(arguments: str, here: Path) -> None:
    """It ends with the exit code 0 and has looked at no table."""
    code, log, output, summary = act(here, "open table.csv", arguments=arguments)
    assert code != 0 and output == f"met=\ncode={code}\n" and summary == ""
    assert "::error title=Sievert::no answer" in log
    assert run_template(here, "open", SIEVERT_ARGUMENTS=arguments)[0] != 0


@pytest.mark.parametrize("table", ["closed", "open"])
def test_no_gate_asks_about_a_plan(table: str, here: Path) -> None:
    """A pipeline lets a file through: --planned is refused in one sentence, met or not."""
    refused = "error: --planned is about no file"
    code, log, output, summary = act(here, f"{table} table.csv", arguments="--planned")
    assert code == 2 and output == "met=\ncode=2\n" and refused in log and summary == ""
    code, log = run_template(here, table, SIEVERT_ARGUMENTS="--planned --share")
    assert code == 2 and refused in log
    text = (ROOT / ".pre-commit-hooks.yaml").read_text()
    (entry,) = re.findall(r"^  entry: (.*)$", text, re.MULTILINE)
    for words in (["our policy.toml", "--planned"], ["--planned", "our policy.toml"]):
        command = [*shlex.split(entry), *words, f"{table} table.csv"]
        assert run_script(here, shlex.join(command))[0] != 0


def test_every_gate_asks_about_the_file_at_hand(here: Path) -> None:
    """Of a table that meets all limits but holds names, none says yes."""
    text = POLICY.replace("rows_are", 'identifier = ["name"]\nrows_are')
    (here / "our policy.toml").write_text(text)
    rows = (here / "closed table.csv").read_text().splitlines()
    named = [f"n{number},{row}" for number, row in enumerate(rows[1:])]
    (here / "named table.csv").write_text("\n".join((f"name,{rows[0]}", *named)) + "\n")
    code, log, output, summary = act(here, "named table.csv")
    assert code == 1 and output == "met=false\ncode=1\n" and "Yes" not in log + summary
    assert "title=policy.file_holds::" in log and "the file still holds" in summary
    assert act(here, "closed table.csv")[0] == 0
    assert run_template(here, "named")[0] == 1
    hook = (ROOT / ".pre-commit-hooks.yaml").read_text()
    (entry,) = re.findall(r"^  entry: (.*)$", hook, re.MULTILINE)
    command = [*shlex.split(entry), "our policy.toml", "named table.csv"]
    code, log = run_script(here, shlex.join(command))
    assert code == 1 and "Yes" not in log


def test_a_check_of_dagster_asks_about_the_file_at_hand(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The check itself, with the least of Dagster: what passes, and what it records."""
    dagster = SimpleNamespace(
        AssetChecksDefinition=object,
        AssetCheckResult=SimpleNamespace,
        AssetCheckSeverity=SimpleNamespace(ERROR="error"),
        asset_check=lambda **_: lambda check: check,
    )
    monkeypatch.setitem(sys.modules, "dagster", dagster)
    path = ROOT / "integrations" / "dagster" / "disclosure_check.py"
    made = runpy.run_path(str(path))["disclosure_check"]
    table, policy = str(here / "closed table.csv"), here / "our policy.toml"
    assert made(None, table, str(policy))().passed is True
    counts = str(here / "counts.sievert")
    sievert.count(table, policy=policy, out=counts)
    plan = made(None, counts, str(policy))()
    assert plan.passed is False and "no file that could go out" in plan.metadata["reasons"][-1]
    policy.write_text(
        POLICY.replace('"ill, or not"]\nrows', '"ill, or not"]\nidentifier = ["age2"]\nrows')
    )
    named = {
        "age2": [f"n{n}" for n in range(40)],
        "age": ["x"] * 40,
        "ill, or not": ["a", "b"] * 20,
    }
    held = made(None, named, str(policy))()  # type: ignore[arg-type]
    assert held.passed is False and "still holds 'age2'" in " ".join(held.metadata["reasons"])


# -- GitLab ---------------------------------------------------------------------------------------


def run_template(here: Path, table: str, **given: str) -> tuple[int, str]:
    """The exit code and the log of GitLab's job, which leaves no report of an earlier run."""
    text = (ROOT / "integrations" / "gitlab" / "sievert.gitlab-ci.yml").read_text()
    script = "\n".join(re.findall(r"^    - (.*)$", text, re.MULTILINE))
    variables = dict(re.findall(r"^    (SIEVERT_\w+): ([^#\n]*[^#\s])", text, re.MULTILINE))
    variables = {name: value.strip('"') for name, value in variables.items()}
    variables |= {"SIEVERT_DATA": f"{table} table.csv", "SIEVERT_POLICY": "our policy.toml"}
    assert set(variables) == set(re.findall(r"\$(\w+)", script))
    (report,) = re.findall(r"^      junit: (.*)$", text, re.MULTILINE)
    assert report == REPORT
    (here / report).write_text("of an earlier run")
    return run_script(here, script, **{**variables, **given})


@pytest.mark.parametrize(("table", "code"), [("open", 1), ("closed", 0)])
def test_the_template_of_gitlab(table: str, code: int, here: Path) -> None:
    assert run_template(here, table)[0] == code
    root = ElementTree.parse(here / REPORT).getroot()
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
