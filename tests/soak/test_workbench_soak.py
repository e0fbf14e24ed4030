"""The workbench in Firefox, and the whole job on Adult: both take minutes."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from browser.benches import STEPS, start_bench
from browser.conftest import browser  # noqa: F401
from browser.test_workbench import hospital, whole_job  # noqa: F401

SCRIPT = Path(__file__).parents[1] / "browser" / "firefox.mjs"
POLICY = """[roles]
quasi = ["sex", "age", "race", "marital-status", "education", "native-country"]
ignored = { workclass = "not released", occupation = "not released" }
sensitive = ["salary-class"]

[limits.reidentification]
k_anonymity = { min = 5 }
"""


@pytest.mark.soak
def test_firefox(hospital: Path, tmp_path: Path) -> None:  # noqa: F811
    """Driven by puppeteer-core of npm, whose folder is SIEVERT_PUPPETEER: not by Playwright."""
    firefox, node = shutil.which("firefox-esr") or shutil.which("firefox"), shutil.which("node")
    modules = os.environ.get("SIEVERT_PUPPETEER")
    if not (firefox and node and modules):
        pytest.skip(
            "firefox, node or SIEVERT_PUPPETEER, a folder with puppeteer-core, is not there"
        )
    running = start_bench(hospital, "hospital.csv")
    try:
        said = subprocess.run(
            [node, str(SCRIPT), modules, firefox, running.address, str(tmp_path), "house.toml"],
            check=True,
            capture_output=True,
            text=True,
            timeout=900,
        ).stdout
    finally:
        running.stop()
    seen = json.loads(said.splitlines()[-1])
    assert seen["noted"] == []
    assert list(seen["pages"]) == list(STEPS)
    assert {page["sideways"] for page in seen["pages"].values()} == {0}


@pytest.mark.soak
@pytest.mark.parametrize("scripts", (True, False), ids=("scripts", "no scripts"))
def test_adult(browser: Any, reference: Path, tmp_path: Path, scripts: bool) -> None:  # noqa: F811
    """The job of the demo on Adult: 30,162 people, by keyboard."""
    shutil.copy(reference / "data" / "adult" / "adult.csv", tmp_path / "adult.csv")
    (tmp_path / "house.toml").write_text(POLICY)
    whole_job(browser, tmp_path, "adult.csv", 30162, scripts)
