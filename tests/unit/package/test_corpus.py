"""The byte corpus finds a difference, and finds none between a revision and itself."""

from __future__ import annotations

import sys
from pathlib import Path

from corpus.__main__ import _differences
from corpus.running import Source, run
from corpus.scenarios import ROOT, Scenario, documented


def source(folder: Path) -> Source:
    """Return this revision, with a `sievert` of its own and no demo."""
    program = folder / "demo" / "bin" / "sievert"
    program.parent.mkdir(parents=True)
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m sievert "$@"\n')
    program.chmod(0o755)
    return Source(root=ROOT, demo=folder / "demo")


def test_what_is_printed_and_written_is_kept(tmp_path: Path) -> None:
    files = tmp_path / "files"
    files.mkdir()
    (files / "t.csv").write_text("zip,ill\n1,flu\n1,hiv\n", encoding="utf-8")
    line = "sievert assess {place}/t.csv -q zip -s ill --json {place}/out.json"
    scenario = Scenario(name="one", lines=(line,), files=files)
    here = source(tmp_path)
    kept = run(scenario, here, tmp_path / "runs" / "tree")
    assert kept[f"1: {line} [exit code]"] == "0" and kept[f"1: {line} [stderr]"] == ""
    assert "Table t.csv, 2 people" in kept[f"1: {line} [stdout]"]
    assert '"sievert": "<version>"' in kept["file out.json"] and "file t.csv" not in kept
    assert str(tmp_path) not in "".join(kept.values())
    assert _differences("one", kept, run(scenario, here, tmp_path / "runs" / "base")) == []


def test_the_first_line_that_differs_is_shown() -> None:
    before = {"1: sievert [stdout]": "a\nb\nc", "1: sievert [exit code]": "0"}
    after = {"1: sievert [stdout]": "a\nx\nc", "1: sievert [exit code]": "0", "file r.csv": "q"}
    assert _differences("one", before, after) == [
        *("== one", "  1: sievert [stdout], line 2", "    - b", "    - c", "    + x", "    + c"),
        *("  file r.csv, line 1", "    - (not there)", "    + q"),
    ]


def test_pages_with_commands_are_scenarios() -> None:
    found = {scenario.name: scenario for scenario in documented()}
    assert {"README.md", "docs/guides/officer.md", "docs/guides/engineer.md"} <= set(found)
    assert all(scenario.lines for scenario in found.values())
