"""The public benchmark on the open data: every release has its numbers, twice the same."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from bench import releases
from bench.releases_page import COLUMNS, number_at, release_table

PAGE = Path(__file__).parents[2] / "docs" / "benchmark.md"
NOT_SCORED = {"v1, binned and rounded"}  # its columns have other names


def test_every_release_is_scored(reference: Path, tmp_path: Path) -> None:
    listed = releases.read_list(releases.LIST)
    first = releases.score(listed, reference / "data", lambda _: None)
    small = {**listed, "original": [o for o in listed["original"] if len(o["release"]) == 1]}
    again = releases.score(small, reference / "data", lambda _: None)
    names = {original["name"] for original in again["originals"]}
    assert again["originals"] == [o for o in first["originals"] if o["name"] in names]
    counted = json.loads((reference / "data" / "nist" / "sdnist_values.json").read_text())
    checked, page = 0, PAGE.read_text(encoding="utf-8")
    for original in first["originals"]:
        head, rows = release_table(original["releases"])
        assert all(f"| {' | '.join(row)} |" in page for row in (head, *rows)), original["name"]
        for release in original["releases"]:
            if release["name"] in NOT_SCORED:
                continue
            assert release["verdict"] in ("met", "breached", "undecided")
            refused = {*releases.STEPS[release["kind"]]} & {*release["not_computed"]}
            assert not refused
            values = [number_at(release["numbers"], c.path, c.pick) for c in COLUMNS]
            assert sum(value is not None for value in values) >= 5
            if (theirs := counted.get(Path(release["file"]).name)) is not None:
                checked += _same_unique_copies(release["numbers"], theirs)
    assert checked >= 8
    releases.write(first, tmp_path)
    assert (tmp_path / "index.html").stat().st_size > 10_000


def _same_unique_copies(numbers: dict[str, Any], theirs: dict[str, int]) -> bool:
    """As many as NIST's own tool counted, where the same columns were compared (no weights)."""
    own = numbers["synthetic"]["unique_copies"]["original"]
    if numbers["columns"] != theirs["features_shared_with_original"]:
        return False
    assert own["people"] == theirs["unique_in_original"]
    assert own["hits"] == theirs["of_these_found_in_release"]
    return True
