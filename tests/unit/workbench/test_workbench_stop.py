"""After Stop, every button of a page that asks for results begins their commands again."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from helpers.benchclient import BenchClient

from sievert.workbench.choices import Choices
from sievert.workbench.step_commands import frontier_command, table_command
from sievert.workbench.steps.load import begin

STOPPED = 'action="again"'
# The buttons of each step, with what its form would send where nothing was changed on the page.
BUTTONS: list[tuple[str, Mapping[str, str]]] = [
    ("protect", {"do": "calculate", "how": "full"}),
    ("protect", {"do": "search", "how": "full"}),
    ("protect", {"do": "reset"}),
    ("protect", {"do": "frontier"}),
    ("compare", {"path": "release.csv"}),
    ("synthetic", {"path": "synthetic.csv"}),
    ("report", {"kind": "internal", "part": "compare", "path": "page.html"}),
]


@pytest.fixture
def choices(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Choices:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "private").mkdir()
    for name in ("data.csv", "release.csv", "synthetic.csv"):
        Path(name).write_text("age,ill\n30,y\n")
    chosen = begin("data.csv").put("roles", quasi=("age",), sensitive=("ill",))
    chosen = chosen.put("policy", file="example:internal").put("compare", releases=("release.csv",))
    return chosen.put("synthetic", tables=("synthetic.csv",))


@pytest.mark.parametrize(("step", "fields"), BUTTONS, ids=lambda each: str(each))
def test_a_button_begins_what_was_stopped(
    step: str, fields: Mapping[str, str], choices: Choices, tmp_path: Path
) -> None:
    client = BenchClient(choices, tmp_path / "private")
    client.get(step)
    begun = {job.argv for job in client.bench.jobs.pending}
    assert begun
    client.post("cancel", {"step": step})
    assert STOPPED in client.get(step).body and not client.bench.jobs.pending
    assert client.post(step, fields).status == 303
    assert STOPPED not in client.get(step).body
    assert begun <= {job.argv for job in client.bench.jobs.pending}


def test_a_button_of_one_step_leaves_what_was_stopped_elsewhere(
    choices: Choices, tmp_path: Path
) -> None:
    client = BenchClient(choices.put("protect", frontier="yes"), tmp_path / "private")
    client.get("protect")
    client.post("cancel", {"step": "protect"})
    assert client.post("compare", {"path": "release.csv"}).status == 303
    client.get("compare")
    assert client.bench.jobs.stopped(frontier_command(choices))
    assert STOPPED in client.get("protect").body


def test_a_button_tries_again_what_has_failed(choices: Choices, tmp_path: Path) -> None:
    client = BenchClient(choices, tmp_path / "private")
    assess = table_command("assess", choices)
    client.know(assess, {}, 5, "out of memory")
    assert "out of memory" in client.get("protect").body
    client.post("protect", {"do": "calculate", "how": "full"})
    assert "out of memory" not in client.get("protect").body
    assert client.bench.jobs.running(assess)
