"""The demo: what it prints, its report word by word, its answers, and the picture in the README.

After a meant change: `SOURCE_DATE_EPOCH=0 make demo`, `cp demo/report.md
tests/golden/hospital_report.md`, and the picture from what the last but one test writes to its
temporary folder.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import sievert
from sievert.charts.rendering import svg
from sievert.commands.report.run import build_page

ROOT = Path(__file__).parents[2]
SNAPSHOT = Path(__file__).parent / "hospital_report.md"
RESULTS = ("hospital", "explained", "comparison")


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """`make demo` in a folder of its own, with this Python: the folder, and what it printed."""
    place = tmp_path_factory.mktemp("demo")
    (place / "examples").symlink_to(ROOT / "examples")
    for name, words in (("python", ""), ("sievert", "-m sievert ")):
        program = place / "bin" / name
        program.parent.mkdir(exist_ok=True)
        program.write_text(f'#!/bin/sh\nexec "{sys.executable}" {words}"$@"\n')
        program.chmod(0o755)
    (place / ".charts").touch()
    recipe = ["-f", str(ROOT / "Makefile"), "-o", f"{place}/.charts", f"VENV={place}", "demo"]
    paths = f"{ROOT / 'src'}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"
    done = subprocess.run(
        ["make", "--no-print-directory", *recipe],
        cwd=place, capture_output=True, text=True, timeout=240,
        env={**os.environ, "SOURCE_DATE_EPOCH": "0", "PYTHONPATH": paths},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return place / "demo", done.stdout


@pytest.fixture(scope="module")
def demo(printed: tuple[Path, str]) -> Path:
    return printed[0]


def test_the_demo_prints_a_screen_and_ends_with_the_page(printed: tuple[Path, str]) -> None:
    folder, text = printed
    lines = text.splitlines()
    assert len(lines) < 60
    assert lines[0].startswith(
        "✗ A release without patient_id, department and admission_month would"
    )
    first = " ".join(" ".join(lines[:2]).split())
    assert "would not meet the policy. 8 of its 13 limits are breached: 4 of 5 on finding" in first
    assert any(line.startswith("✓ Yes, this release meets the policy.") for line in lines)
    assert lines[-1].endswith(str(folder / "release.html"))
    assert str(folder / "release.csv") in lines[-1] and str(folder / "decision.html") in lines[-2]
    for name in ("decision.html", "release.html", "release.csv", "release.csv.json"):
        assert (folder / name).exists()


def test_the_release_of_the_demo_meets_the_policy(demo: Path) -> None:
    policy = ROOT / "examples" / "hospital_policy.toml"
    tables = tomllib.loads(policy.read_text(encoding="utf-8"))
    roles = tables["roles"]
    del roles["ignored"], roles["identifier"]  # the release does not hold them
    release = sievert.assess(demo / "release.csv", policy=tables, types={"length_of_stay": "int"})
    assert release.met is True and release.rows == 1816  # and 184 suppressed


def test_the_markdown_twin_is_the_snapshot(demo: Path) -> None:
    assert (demo / "report.md").read_text(encoding="utf-8") == SNAPSHOT.read_text(encoding="utf-8")


def test_the_report_answers(demo: Path) -> None:
    """May I publish this, if not why, what would help: on the first screen, in this order."""
    text = (demo / "report.md").read_text(encoding="utf-8")
    first = text.split('<a id="part1-chapter">')[0]
    places = [
        first.index("May the hospital's table be published?"),
        first.index(
            "would not meet the policy. release: yes.** Of the original: 8 of its 13 limits"
        ),
        first.index("1,305 of 2,000 are the only one with their sex, age, postcode and occupation"),
        first.index("guesses diagnosis right for 83.2 % of people, and for 12.7 % without them"),
        first.index("release gives least away"),
        first.index("## What would help"),
    ]
    assert places == sorted(places)
    assert "## What was not measured" in text


def test_the_shareable_page_is_short(demo: Path) -> None:
    """Verdicts, rounded numbers, and none of the exact ones."""
    whole = (demo / "share.html").read_text(encoding="utf-8")
    page = re.sub("<style>.*?</style>", "", whole, flags=re.DOTALL)
    assert len(page.encode()) < 20_000 and len(whole.encode()) < 40_000
    words = " ".join(re.sub("<[^>]+>", " ", page).split())
    assert words.startswith("A plan: would a release of this table meet the policy?")
    assert "would not meet the policy. 8 of its 13 limits are breached: 4 of 5" in words
    assert "Releases that meet the policy: 1 of 4." in words and "65 %" in words
    assert not re.search(r"65\.2|1,305|release\.csv|hospital\.csv", page)


def test_the_page_is_small_and_needs_nothing(demo: Path) -> None:
    for name in ("decision", "report"):
        page = (demo / f"{name}.html").read_text(encoding="utf-8")
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
    assert "65.2 %" in drawn and ">5 %<" in drawn
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    said = "65.2 % as it is, 5 % with age, postcode and occupation coarser](docs/images/demo.svg)"
    assert said in readme


def test_numbers_on_the_internal_page_are_those_of_the_json(demo: Path) -> None:
    held = json.loads((demo / "hospital.json").read_text(encoding="utf-8"))
    page = build_page([held])
    sizes = next(p for p in page.pictures() if "stand alone" in " ".join(p.spec["title"]["text"]))
    spans = [s for s in held["table"]["class_sizes"] if s["records"]]
    drawn = [row["number"] for row in sizes.spec["data"]["values"]]
    assert drawn == [s["records"] for s in spans]
    assert [row[1] for row in sizes.behind.rows] == [f"{s['records']:,}" for s in spans]
