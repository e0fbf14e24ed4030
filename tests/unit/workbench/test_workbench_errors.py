"""Lines of errors in a German session: translated, or marked as English."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from helpers.benchclient import BenchClient

from sievert.formatting.recognition import pattern
from sievert.report.texts import english
from sievert.workbench import bench
from sievert.workbench.choices import Choices
from sievert.workbench.step_commands import table_command
from sievert.workbench.steps.load import begin

HERE = Path(bench.__file__).parent
RAISING = {"require": 1, "UsageError": 0, "RefusedError": 0}
# What is said before there is a page, of a session or of the name of the table.
BEFORE_PAGES = {"choices.py", "replay.py", "command_lines.py"}
AT_THE_START = {"the name of the table is not text"}


def messages() -> Iterator[tuple[str, str]]:
    """The messages of the steps, with a name where something is put in."""
    for path in HERE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
                continue
            at = RAISING.get(node.func.id)
            if at is None or len(node.args) <= at or path.name in BEFORE_PAGES:
                continue
            match node.args[at]:
                case ast.Constant(value=str(text)) if text not in AT_THE_START:
                    yield f"{path.name}:{node.lineno}", text
                case ast.JoinedStr(values=parts):
                    words = (p.value if isinstance(p, ast.Constant) else "'x'" for p in parts)
                    yield f"{path.name}:{node.lineno}", "".join(map(str, words))


def test_every_error_of_the_steps_has_its_text() -> None:
    """A new one needs a line in [errors] of en.toml, and in every other language."""
    known = [pattern(text) for key, text in english().items() if key.startswith("errors.")]
    put_in = {"'x': 'x'", "only one column can be the 'x'", "'x' is a private folder"}
    listed = {p: t for p, t in messages() if t not in put_in}
    assert len(listed) > 25
    assert {p: t for p, t in listed.items() if not any(k.fullmatch(t) for k in known)} == {}


def test_errors_of_forms_and_of_commands_in_german(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("data.csv").write_text("age,ill\n30,y\n")
    choices = begin("data.csv").put("roles", quasi=("age",))
    german = BenchClient(choices, tmp_path, "de")
    alert = german.post("compare", {"path": "nowhere.csv"}).alert
    assert alert.endswith("nowhere.csv: keine solche Datei")
    alert = german.post("report", {"do": "write", "path": "data.csv"}).alert
    assert "data.csv gibt es schon. Versuchen Sie: das Kästchen" in alert
    for message, shown in {
        "data.csv: no such file": "<p>data.csv: keine solche Datei</p>",
        "<b> went wrong. Try: x": '<p><span lang="en">&lt;b&gt; went wrong. Try: x</span></p>',
    }.items():
        german.know(table_command("assess", choices), {}, 3, message)
        assert shown in german.get("assess").body
    plain = BenchClient(Choices("data.csv"), tmp_path)
    assert plain.bench.line("data.csv: no such file. Try: x") == "data.csv: no such file. Try: x"
