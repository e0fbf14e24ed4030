"""Which of the two questions the workbench asks: about a planned release, or about the file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from helpers.benchclient import BenchClient

import sievert
from sievert.formatting.toml import toml_document
from sievert.policy import parse_policy
from sievert.workbench.choices import Choices, parse_session, session_text
from sievert.workbench.command_lines import check_arguments
from sievert.workbench.replay import session_script
from sievert.workbench.step import known_settings
from sievert.workbench.step_commands import table_command
from sievert.workbench.steps import STEPS
from sievert.workbench.steps.assess import ASSESS
from sievert.workbench.steps.load import begin
from sievert.workbench.working_policy import policy_tables, role_settings, role_table, with_roles

POLICY = """
[roles]
quasi = ["age"]
sensitive = ["ill"]
identifier = ["name"]
rows_are_people = true
[limits]
k_anonymity = { min = 2 }
"""


@pytest.fixture
def choices(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Choices:
    """A table that holds names, and a policy whose limits it meets."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "private").mkdir()
    rows = [f"n{number},{number % 3},{number % 2}" for number in range(60)]
    Path("data.csv").write_text("\n".join(("name,age,ill", *rows, "")))
    Path("policy.toml").write_text(POLICY)
    return begin("data.csv").put("policy", file="policy.toml")


def bench(choices: Choices, language: str = "en") -> BenchClient:
    """A workbench that has assessed the table, as its own command line does."""
    client = BenchClient(choices, Path("private"), language)
    argv = table_command("assess", choices)
    result = sievert.assess("data.csv", policy="policy.toml", planned="--planned" in argv)
    client.know(argv, json.loads(json.dumps(result.to_dict())), 0 if result.passed else 1)
    return client


def test_a_table_that_is_opened_is_a_plan_and_called_one(choices: Choices) -> None:
    argv = table_command("assess", choices)
    assert "--planned" in argv
    check_arguments(argv)  # as of a session that is run again
    client = bench(choices)
    page = client.get("assess").body
    assert "A plan: would a release of these columns" in page
    assert "A release without name would meet the policy." in page
    assert ">Yes" not in page and "May this file be passed on" not in page
    assert ASSESS.status(client.bench.view("assess")) == (
        "planned",
        "only a plan, its limits met: 1",
    )
    german = bench(choices, "de").get("assess").body
    assert "Ein Plan: Würde eine Veröffentlichung" in german
    assert "--planned" in session_script(choices, STEPS, client.bench.texts)


def test_a_file_that_still_holds_names_is_never_green(choices: Choices) -> None:
    client = bench(choices)
    sent = {"table": "data.csv", "question": "file"}
    assert client.post("load", sent).status == 303
    asked = client.bench.choices
    assert "--planned" not in table_command("assess", asked)
    assert parse_session(session_text(asked), known_settings(STEPS)) == asked
    about_file = bench(asked)
    page = about_file.get("assess").body
    assert "No: the file still holds name." in page and ">Yes" not in page
    assert ASSESS.status(about_file.bench.view("assess")) == (
        "breached",
        "still holds 1 column that must not go out",
    )
    assert "May this file be passed on as it is?" in page


def test_a_table_is_one_of_two_things(choices: Choices) -> None:
    client = BenchClient(choices, Path("private"))
    assert client.post("load", {"table": "data.csv", "question": "else"}).status == 422
    client.post("load", {"table": "data.csv", "question": "file"})
    Path("other.csv").write_text("name,age,ill\nn,1,2\n")
    client.post("load", {"table": "other.csv"})  # another table is an original again
    assert client.bench.choices.text("load", "question") == ""
    without_policy = begin("data.csv").put("roles", quasi=("age",))
    assert "--planned" not in table_command("assess", without_policy)


def test_every_role_of_a_policy_outlives_the_form(choices: Choices) -> None:
    """Columns that are dropped or kept, and those whose spellings differ."""
    roles = {
        "quasi": ["age"],
        "sensitive": ["ill"],
        "dropped": ["name"],
        "kept": {"row": "the analysis needs it"},
        "distinct_spellings": ["age"],
        "rows_are_people": True,
    }
    known = {**roles, "kept": {"row": {"reason": "a key", "outsiders_cannot_know": True}}}
    for given in (roles, known):
        chosen = choices.put("roles", **role_settings(given))
        assert role_table(chosen) == given
        assert parse_session(session_text(chosen), known_settings(STEPS)) == chosen
        assert policy_tables(chosen) is not None
    Path("policy.toml").write_text(toml_document({"roles": known, "limits": {}}))
    client = BenchClient(choices, Path("private"))
    names = ["name", "age", "ill", "row"]
    form = {f"name:{n}": json.dumps(name) for n, name in enumerate(names)}
    form |= {"role:0": "dropped", "role:1": "quasi", "role:2": "sensitive", "role:3": "kept"}
    assert client.post("roles", {**form, "person": "rows"}).alert.endswith("the analysis needs it")
    sent = {**form, "why:3": "a key", "person": "rows"}
    assert client.post("roles", sent).status == 303
    assert role_table(with_roles(client.bench.choices)) == known
    tables = policy_tables(client.bench.choices)
    assert tables is not None
    parse_policy(tables, "policy.toml")
