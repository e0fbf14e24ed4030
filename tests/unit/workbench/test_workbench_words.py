"""What the pages say to somebody who knows no option and no file of the command line."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from helpers.benchclient import BenchClient

import sievert
from sievert.workbench.choices import Choices
from sievert.workbench.step_commands import protect_command
from sievert.workbench.steps.load import begin, columns_command
from sievert.workbench.working_policy import policy_text, role_settings

ROLES = {"quasi": ["age", "town"], "sensitive": ["diagnosis"], "identifier": ["id"]}


@pytest.fixture
def choices(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Choices:
    """A table of people, each of whom is alone; three are still far from the others in bands."""
    monkeypatch.chdir(tmp_path)
    ages = [*range(20, 80), 110, 112, 114]
    rows = [f"{i},{age},{'ab'[i % 2]},{'xyz'[i % 3]}" for i, age in enumerate(ages)]
    Path("data.csv").write_text("\n".join(("id,age,town,diagnosis", *rows, "")))
    limits = {"k_anonymity": ">= 5", "average_risk": "<= 0.25"}
    chosen = begin("data.csv").put("roles", **role_settings(ROLES))
    return chosen.put("policy", limits=limits, edited="yes")


def test_every_suggestion_has_its_reason(choices: Choices, tmp_path: Path) -> None:
    client = BenchClient(choices, tmp_path / "private")
    listed = sievert.describe_columns("data.csv").to_dict()
    client.know(columns_command(choices) or (), listed)
    page = client.get("roles").body
    cells = re.findall(r'data-head="Suggestion">(.*?)</td>', page, re.S)
    assert len(cells) == 4
    for cell in cells:
        assert re.search(r'<span class="note">[^<]+</span>', cell), cell
    assert not re.search(r">[^<]*\s\(?-[qsi]\b", page)


def test_a_limit_is_said_with_its_unit(choices: Choices, tmp_path: Path) -> None:
    page = BenchClient(choices, tmp_path).get("policy").body.replace("\N{NO-BREAK SPACE}", " ")
    assert "Average chance of being found: at most 25 %<br>" in page
    german = BenchClient(choices, tmp_path, "de").get("policy").body
    assert "höchstens 25\N{NO-BREAK SPACE}%<br>" in german


def test_a_release_that_is_not_met_has_a_way_out(choices: Choices, tmp_path: Path) -> None:
    Path("policy.toml").write_text(policy_text(choices))
    levels = {"age": 2, "town": 0}
    chosen = choices.put("protect", levels={name: str(level) for name, level in levels.items()})
    for suppress in (0.01, 0.5):
        result = sievert.protect("data.csv", policy="policy.toml", levels=levels, suppress=suppress)
        client = BenchClient(chosen.put("protect", suppress=str(suppress)), tmp_path / "private")
        known = json.loads(json.dumps(result.to_dict()))
        client.know(protect_command(client.bench.choices), known)
        page = client.get("protect").body
        buttons = re.findall(r'<button([^>]*)value="write"', page)
        assert result.met is (suppress == 0.5) and len(buttons) == 2
        assert all(('class="primary"' in each) is result.met for each in buttons)
        assert ("Press Find the least loss, or choose" in page) is not result.met
        panel = page.partition('id="verdict-panel"')[2].partition("</section>")[0]
        assert "--suppress" not in panel
        assert ("“People who may be suppressed”" in panel) is not result.met
    assert len(re.findall(r'class="note way ', page)) == 3 == len(re.findall(r'name="how"', page))
    (command,) = re.findall(r'id="command".*?</p>', page, re.S)
    assert "<span>--levels age=2,</span><span>town=0</span>" in command
