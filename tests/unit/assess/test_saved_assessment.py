"""An assessment is read back from its JSON: the page of a saved result is that of the result."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import sievert
from sievert.commands.assess.result import Assessment, ChangeOptions
from sievert.commands.report.run import SavedResult
from sievert.formatting.recognition import recognise_all
from sievert.report import html
from sievert.report.builder import ReportSettings, build

ROWS = 60
POLICY = """
[roles]
quasi = ["age", "town"]
sensitive = ["ill", "pay"]
rows_are_people = true
[limits]
k_anonymity = { min = 3 }
[limits.inference.ill]
l_diversity = { min = 2 }
max_confidence = { max = 0.9 }
"""


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "table.csv"
    lines = (f"{20 + i % 13},{'ABC'[i % 3]},{'xyz'[i % 5 % 3]},{i % 7}" for i in range(ROWS))
    path.write_text("\n".join(["age,town,ill,pay", *lines]) + "\n")
    (tmp_path / "policy.toml").write_text(POLICY)
    return path


def assessments(table: Path) -> list[Assessment]:
    """With a policy and what would help; with key sets; with a framework; with a population."""
    policy = table.parent / "policy.toml"
    return [
        sievert.assess(table, policy=policy),
        sievert.assess(table, key_sets=[["age"], ["age", "town"]], sensitive="ill"),
        sievert.assess(table, policy=policy, framework="ico", quick=True),
        sievert.assess(table, quasi=["age", "town"], sensitive="ill", population_size=2_000),
    ]


def page_of(result: Any) -> str:
    return html.render(build([result], ReportSettings()))


def test_a_saved_assessment_has_the_same_page(table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    for result in assessments(table):
        written = json.dumps(result.to_dict())
        assert page_of(SavedResult(json.loads(written))) == page_of(result)
        saved = Assessment.from_dict(recognise_all(json.loads(written)))
        assert json.dumps(saved.to_dict()) == written
        assert page_of(saved) == page_of(result)


def test_the_options_are_read_back(table: Path) -> None:
    """Their verdicts lack the limits, which the policy has."""
    options = assessments(table)[0].options
    assert options is not None and options.ways
    saved = ChangeOptions.from_dict(options.to_dict())
    assert saved.to_dict() == options.to_dict()
    assert saved.best is not None and options.best is not None
    assert saved.best.to_dict() == options.best.to_dict()


def test_what_older_versions_left_out_is_optional(table: Path) -> None:
    """Keys that came later may be missing."""
    data = assessments(table)[0].to_dict()
    for key in ("cautions", "warnings", "options"):
        del data[key]
    for key in ("rests_on", "unjudged", "suppressed_records", "reasons"):
        del data["policy"][key]
    del data["roles"]["unassessed"]
    saved = Assessment.from_dict(data)
    assert saved.policy is not None and saved.options is None
    assert saved.unassessed == () and saved.warnings == ()
    assert page_of(SavedResult(data))
