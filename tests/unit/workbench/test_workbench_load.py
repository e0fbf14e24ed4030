"""The first page of the workbench: what was read, what is missing, what is suppressed."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from helpers.benchclient import BenchClient

import sievert
from sievert.errors import InputError, UsageError
from sievert.workbench.step_commands import table_command
from sievert.workbench.steps.load import begin, columns_command
from sievert.workbench.working_policy import policy_tables, policy_text, role_settings


def test_suppressed_rows_before_and_after_roles_are_chosen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The numbers are those of `columns` and `assess`."""
    monkeypatch.chdir(tmp_path)
    rows = ["*,*,y"] * 3 + ["30,*,n"] * 20 + ["31,b,y"] * 20
    (tmp_path / "data.csv").write_text("\n".join(("age,job,ill", *rows, "")))
    choices = begin("data.csv")
    listed = sievert.describe_columns(tmp_path / "data.csv").to_dict()
    assert [column["suppressed"] for column in listed["columns"]] == [3, 23, 0]

    client = BenchClient(choices, tmp_path)
    client.know(columns_command(choices) or (), listed)
    before = client.get("load").body
    assert "Columns with suppressed values: 2" in before and "said in the step Roles" in before
    assert '>age</th><td class="right">3</td><td class="right">6.98 %<' in before
    assert '>job</th><td class="right">23</td>' in before

    chosen = choices.put("roles", quasi=("age", "job"), sensitive=("ill",))
    client = BenchClient(chosen, tmp_path, "de")
    client.know(columns_command(chosen) or (), listed)
    assert "Der Schritt Bewerten zählt sie." in client.get("load").body
    assessed = sievert.assess(
        tmp_path / "data.csv", quasi=["age", "job"], sensitive=["ill"]
    ).to_dict()
    client.know(table_command("assess", chosen), json.loads(json.dumps(assessed)))
    assert assessed["table"]["suppressed"] == 3
    assert "<h2>Unterdrückte Datensätze: 3</h2>" in client.get("load").body


def test_names_of_files_are_neither_options_nor_anything_but_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("--json=evil.csv", "plain.csv", "\udcff.csv"):
        (tmp_path / name).write_text("a\n1\n")
    (tmp_path / "circle.csv").symlink_to("circle.csv")
    client = BenchClient(begin("."), tmp_path / "private")
    assert client.post("load", {"path": "circle.csv"}).status == 422
    page = client.get("load").body
    assert ">./--json=evil.csv</option>" in page and "\udcff" not in page
    assert client.post("load", {"table": "--json=evil.csv"}).status == 303
    assert client.bench.choices.table == "./--json=evil.csv"
    with pytest.raises(UsageError, match="not text"):
        begin("\udcff.csv")


def test_codes_for_missing_stand_in_the_policy_that_is_made_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise no table that has some could ever meet it; a file of the user's stays as it is."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data.csv").write_text("age,ill\n" + "30,y\n30,n\n-9,y\n-9,n\n" * 20)
    roles = role_settings({"quasi": ["age"], "sensitive": ["ill"]})
    choices = begin("data.csv").put("load", na=("-9",)).put("roles", **roles)
    made = choices.put("policy", limits={"k_anonymity": ">= 5"}, edited="yes")
    (tmp_path / "made.toml").write_text(policy_text(made))
    judged = sievert.assess("data.csv", policy="made.toml", na=["-9"]).to_dict()
    assert judged["policy"]["met"] is True

    (tmp_path / "own.toml").write_text("[limits]\nk_anonymity = { min = 5 }\n")
    assert (policy_tables(choices.put("policy", file="example:public_use")) or {})["reading"]
    assert "reading" not in (policy_tables(choices.put("policy", file="own.toml")) or {})


def test_going_on_sends_what_the_first_page_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever chooses a table or an encoding and then presses Next means it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data.csv").write_text("a\n1\n")
    (tmp_path / "other.csv").write_text("b\n1\n")
    client = BenchClient(begin("data.csv"), tmp_path / "private")
    button = re.search(r"<button[^>]*>Next: Roles</button>", client.get("load").body)
    assert button and 'form="load-form"' in button[0] and 'name="next" value="roles"' in button[0]
    sent = {"table": "other.csv", "encoding": "latin-1", "next": "roles"}
    answer = client.post("load", sent)
    assert (answer.status, answer.headers["location"]) == (303, "roles")
    now = client.bench.choices
    assert (now.table, now.text("load", "encoding")) == ("other.csv", "latin-1")
    assert client.post("load", sent).status == 303 and client.bench.history.revision == 1


@pytest.mark.parametrize(
    ("language", "line"),
    [
        ("en", "data.csv: not UTF-8 at byte 2. Try: “Encoding” latin-1 or cp1252"),
        (
            "de",
            "data.csv: kein UTF-8 ab Byte 2. Versuchen Sie: „Zeichenkodierung“ latin-1 oder cp1252",
        ),
    ],
)
def test_a_hint_names_the_field_of_the_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, language: str, line: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data.csv").write_bytes(b"a\n\xe4\n")
    choices = begin("data.csv")
    client = BenchClient(choices, tmp_path / "private", language)
    with pytest.raises(InputError) as error:
        sievert.describe_columns("data.csv")
    client.know(columns_command(choices) or (), {}, 3, str(error.value))
    page = client.get("load").body
    assert line in page and "--encoding" not in page
