"""Run scenarios with one revision of the source, and keep what they print and write."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from corpus.masking import mask
from corpus.scenarios import PLACE, Scenario

SECONDS = 300  # of one line
BINARY = {".parquet", ".feather", ".arrow", ".db", ".xlsx", ".png", ".zst", ".gz"}


@dataclass(frozen=True, kw_only=True)
class Source:
    """A revision of the source: its folder, and the folder of its demo."""

    root: Path
    demo: Path


def write_programs(place: Path) -> None:
    """Write the programs `python` and `sievert` of the lines to the folder `bin` in `place`."""
    bin_folder = place / "bin"
    bin_folder.mkdir(parents=True)
    for name, words in (("python", ""), ("sievert", "-m sievert ")):
        program = bin_folder / name
        program.write_text(f'#!/bin/sh\nexec "{sys.executable}" {words}"$@"\n')
        program.chmod(0o755)


def prepare_demo(root: Path, place: Path) -> Source:
    """Write the demo of the revision in `root` to `place`."""
    write_programs(place)
    (place / ".charts").touch()
    (place / "examples").symlink_to(root / "examples")
    recipe = ["-f", str(root / "Makefile"), "-o", f"{place}/.charts", f"VENV={place}", "demo"]
    subprocess.run(
        ["make", "--no-print-directory", *recipe],
        cwd=place,
        env=environment(root, place),
        check=True,
        capture_output=True,
    )
    return Source(root=root, demo=place)


def environment(root: Path, demo: Path) -> dict[str, str]:
    """Return the environment in which `sievert` is the revision in `root`."""
    return {
        **os.environ,
        "PATH": f"{demo / 'bin'}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(root / "src"),
        "SOURCE_DATE_EPOCH": "0",
        "COLUMNS": "100",
        "OPENBLAS_NUM_THREADS": "1",
    }


def run(scenario: Scenario, source: Source, place: Path) -> dict[str, str]:
    """Run the lines of `scenario` in `place`; return what was printed and written, by its name."""
    place.mkdir(parents=True)
    if scenario.files is not None:
        shutil.copytree(scenario.files, place, symlinks=True, dirs_exist_ok=True)
    if scenario.after_demo:
        shutil.copytree(source.demo / "demo", place / "demo")
        (place / "examples").symlink_to(source.root / "examples")
    before = _stamps(place)
    kept: dict[str, str] = {}
    folders = [(str(place), "<place>"), (str(source.root), "<root>")]
    for number, line in enumerate(scenario.lines, 1):
        done = subprocess.run(
            ["bash", "-c", line.replace(PLACE, str(place))],
            cwd=place,
            env=environment(source.root, source.demo),
            capture_output=True,
            timeout=SECONDS,
            check=False,
            stdin=subprocess.DEVNULL,
        )
        title = f"{number}: {line}"
        for stream, content in (("stdout", done.stdout), ("stderr", done.stderr)):
            kept[f"{title} [{stream}]"] = mask(content.decode("utf-8", "replace"), folders)
        kept[f"{title} [exit code]"] = str(done.returncode)
    for name, stamp in _stamps(place).items():
        if before.get(name) != stamp:
            kept[f"file {name}"] = _content(place / name, folders)
    return kept


def _stamps(place: Path) -> Mapping[str, tuple[int, int]]:
    """Return size and time of each file in `place`, by its name."""
    paths = (p for p in sorted(place.rglob("*")) if p.is_file() and not p.is_symlink())
    stats = {str(path.relative_to(place)): path.stat() for path in paths}
    return {name: (stat.st_size, stat.st_mtime_ns) for name, stat in stats.items()}


def _content(path: Path, folders: list[tuple[str, str]]) -> str:
    """Return the masked text of a file; of a binary file only its size, which versions may move."""
    if path.suffix in BINARY:
        return f"{path.suffix} file"
    return mask(path.read_bytes().decode("utf-8", "replace"), folders)
