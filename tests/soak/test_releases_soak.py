"""The public benchmark on the open data: every release has its numbers, twice the same."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from bench import releases
from bench.releases_page import COLUMNS, number_at

NOT_SCORED = {"v1, binned and rounded"}  # its columns have other names


def test_every_release_is_scored(reference: Path, tmp_path: Path) -> None:
    listed = releases.read_list(releases.LIST)
    first = releases.score(listed, reference / "data", lambda _: None)
    small = {**listed, "original": [o for o in listed["original"] if len(o["release"]) == 1]}
    again = releases.score(small, reference / "data", lambda _: None)
    names = {original["name"] for original in again["originals"]}
    assert again["originals"] == [o for o in first["originals"] if o["name"] in names]
    counted = json.loads((reference / "data" / "nist" / "sdnist_values.json").read_text())
    for original in first["originals"]:
        for release in original["releases"]:
            if release["name"] in NOT_SCORED:
                continue
            assert release["verdict"] in ("met", "breached", "undecided")
            refused = {*releases.STEPS[release["kind"]]} & {*release["not_computed"]}
            assert not refused
            values = [number_at(release["numbers"], c.path, c.pick) for c in COLUMNS]
            assert sum(value is not None for value in values) >= 5
            if (theirs := counted.get(Path(release["file"]).name)) is not None:
                _check_unique_copies(release["numbers"], theirs)
    releases.write(first, tmp_path)
    assert (tmp_path / "index.html").stat().st_size > 10_000


def _check_unique_copies(numbers: dict[str, Any], theirs: dict[str, int]) -> None:
    """As many as NIST's own tool counted, where the same columns were compared (no weights)."""
    if numbers["columns"] == theirs["features_shared_with_original"]:
        own = numbers["synthetic"]["unique_copies"]["original"]
        assert own["people"] == theirs["unique_in_original"]
        assert own["hits"] == theirs["of_these_found_in_release"]
