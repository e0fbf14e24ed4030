"""The demo's report: its Markdown twin word by word, its answers, and the picture in the README.

After a meant change: `SOURCE_DATE_EPOCH=0 make demo`, `cp demo/report.md
tests/golden/hospital_report.md`, and the picture from what the last test writes to its temporary
folder.
"""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from sievert.charts.svg import svg
from sievert.cli import app
from sievert.commands.report.api import build_page

ROOT = Path(__file__).parents[2]
SNAPSHOT = Path(__file__).parent / "hospital_report.md"
RESULTS = ("hospital", "explained", "comparison")


def commands() -> list[list[str]]:
    """What `make demo` runs, from the Makefile itself."""
    recipe = (ROOT / "Makefile").read_text(encoding="utf-8").split("\ndemo:")[1].split("\n\n")[0]
    lines = recipe.replace("\\\n", " ").splitlines()
    found = [line.strip() for line in lines if line.strip().startswith("$(BIN)/")]
    return [shlex.split(re.split("[;>]| 2>", line)[0].replace("$(BIN)/", "")) for line in found]


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("demo")
    (place / "examples").symlink_to(ROOT / "examples")
    (place / "demo").mkdir()
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        patch.setenv("SOURCE_DATE_EPOCH", "0")
        for name, *arguments in commands():
            if name == "python":
                subprocess.run([sys.executable, *arguments], check=True)
            else:
                assert app._run(arguments) in (0, 1)
    return place / "demo"


def test_the_markdown_twin_is_the_snapshot(demo: Path) -> None:
    assert (demo / "report.md").read_text(encoding="utf-8") == SNAPSHOT.read_text(encoding="utf-8")


def test_the_report_answers(demo: Path) -> None:
    """May I publish this, if not why, what would help: on the first screen, in this order."""
    text = (demo / "report.md").read_text(encoding="utf-8")
    first = text.split('<a id="part1-chapter">')[0]
    places = [
        first.index("May the hospital's table be published?"),
        first.index(
            "The table as it is breaches 8 of 12 limits of the policy. Release 4 (halves) meets all"
        ),
        first.index("1,305 of 2,000 people (65.2 %) are the only one like them"),
        first.index("A best guess of diagnosis is right for 83.2 %"),
        first.index("What would help most: age in bands of 10"),
        first.index("## What was not measured"),
    ]
    assert places == sorted(places)


def test_the_shareable_page_is_short(demo: Path) -> None:
    """Verdicts, rounded numbers, and none of the exact ones."""
    page = (demo / "share.html").read_text(encoding="utf-8")
    assert len(page.encode()) < 20_000
    assert "The policy is not met: 8 of its 12 limits are breached." in page
    assert "Releases that meet the policy: 1 of 4." in page and "65 %" in page
    assert not re.search(r"65\.2|1,305|halves|hospital\.csv", page)


def test_the_page_is_small_and_needs_nothing(demo: Path) -> None:
    page = (demo / "report.html").read_text(encoding="utf-8")
    assert len(page.encode()) < 500_000
    assert "<script" not in page and not re.search(r'(src|href)="(?!#)', page)


def test_the_picture_in_the_readme(demo: Path, tmp_path: Path) -> None:
    page = build_page([demo / f"{name}.json" for name in RESULTS])
    titled = {" ".join(p.spec["title"]["text"]): p for p in page.pictures()}
    picture = titled["People alone after a change of the columns"]
    drawn = svg(picture.spec)
    (tmp_path / "demo.svg").write_text(drawn, encoding="utf-8")
    shown = (ROOT / "docs" / "images" / "demo.svg").read_text(encoding="utf-8")
    assert shown == drawn, f"another picture: {tmp_path / 'demo.svg'}"
    assert "65.2 %" in drawn and "9.35 %" in drawn
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "65.2 % as it is, 9.35 % with age and postcode coarser](docs/images/demo.svg)" in readme


def test_numbers_on_the_internal_page_are_those_of_the_json(demo: Path) -> None:
    held = json.loads((demo / "hospital.json").read_text(encoding="utf-8"))
    page = build_page([held])
    sizes = next(p for p in page.pictures() if "size" in " ".join(p.spec["title"]["text"]))
    spans = [s for s in held["table"]["class_sizes"] if s["records"]]
    drawn = [row["number"] for row in sizes.spec["data"]["values"]]
    assert drawn == [s["records"] for s in spans]
    assert [row[1] for row in sizes.behind.rows] == [f"{s['records']:,}" for s in spans]
