"""Digests of what 46 command lines print and write, which every test run compares with."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from corpus.running import Source, environment, run, write_programs
from corpus.scenarios import ROOT, examples, fixed
from sievert.cli.parser import COMMANDS

KEPT = ROOT / "tests" / "golden" / "command_lines.json"
DIGITS = 16  # of a digest


def keep() -> None:
    """Write the digests of the working tree to `KEPT`."""
    text = json.dumps(digests(), indent=1, ensure_ascii=False)
    KEPT.write_text(text + "\n", encoding="utf-8")


def digests() -> dict[str, dict[str, str]]:
    """Run the lines on the working tree; return a digest of each output, by line and output."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        source = Source(root=ROOT, demo=place / "demo")
        write_programs(source.demo)
        scenarios = [*fixed([*COMMANDS]), *examples(_example_files(place / "files", source))]

        def outputs(number: int) -> dict[str, str]:
            return run(scenarios[number], source, place / "runs" / str(number))

        with ThreadPoolExecutor(max_workers=2) as pool:
            every = [*pool.map(outputs, range(len(scenarios)))]
    return {
        scenario.name: {part: _digest(text) for part, text in kept.items()}
        for scenario, kept in zip(scenarios, every, strict=True)
    }


def _example_files(folder: Path, source: Source) -> Path:
    """Write the example table, its releases and its policy to `folder`, and return it."""
    folder.mkdir()
    script = str(ROOT / "examples" / "hospital.py")
    subprocess.run(
        [sys.executable, script, "hospital.csv", "--releases", "."],
        cwd=folder,
        env=environment(source.root, source.demo),
        check=True,
        capture_output=True,
    )
    shutil.copy(ROOT / "examples" / "hospital_policy.toml", folder / "policy.toml")
    return folder


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8")).hexdigest()[:DIGITS]
