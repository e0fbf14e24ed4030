"""The page of a saved release is that of the result itself."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import sievert
from sievert.commands.protect.content import ProtectedContent
from sievert.commands.report.run import SavedResult
from sievert.formatting.recognition import recognise_all
from sievert.report import html
from sievert.report.builder import ReportSettings, build

POLICY = """
[roles]
quasi = ["age", "town"]
sensitive = ["ill"]
rows_are_people = true
[limits]
k_anonymity = { min = 3 }
"""


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "table.csv"
    lines = (f"{20 + i % 13},{'ABC'[i % 3]},{'xyz'[i % 5 % 3]}" for i in range(60))
    path.write_text("\n".join(["age,town,ill", *lines]) + "\n")
    (tmp_path / "policy.toml").write_text(POLICY)
    return path


@pytest.mark.parametrize(
    "options",
    [
        {"frontier": True},
        {"how": "local"},
        {"how": "sample", "fraction": 0.5},
        {"levels": {"age": 1}},
    ],
)
def test_a_saved_release_has_the_same_page(
    table: Path, options: dict[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    result = sievert.protect(table, policy=table.parent / "policy.toml", **options)
    data = json.loads(json.dumps(result.to_dict()))
    pages = [html.render(build([r], ReportSettings())) for r in (result, SavedResult(data))]
    assert pages[0] == pages[1]
    content = ProtectedContent.from_dict(recognise_all(data))
    assert content.how == result.how
    assert content.levels == result.levels
    assert content.suppressed == result.suppressed_records
    assert content.searched is not ("levels" in options)
    assert (content.details is None) is (result.release is None)
    if content.frontier is not None:
        assert [p.chosen for p in content.frontier.points] == [p.chosen for p in result.frontier]
        assert sum(point.chosen for point in content.frontier.points) == 1
