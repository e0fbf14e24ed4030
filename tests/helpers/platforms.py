"""Which systems have wheels of every package that Sievert needs: asked of the package index.

    python tests/helpers/platforms.py [EXTRA ...]

Prints a table, with the packages that have none; nothing is downloaded or installed.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from pathlib import Path

PROJECT = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
SYSTEMS = {
    "Linux, x86_64": ("manylinux_2_28_x86_64", "manylinux_2_17_x86_64", "manylinux2014_x86_64"),
    "Linux, arm64": ("manylinux_2_28_aarch64", "manylinux_2_17_aarch64", "manylinux2014_aarch64"),
    "macOS, arm64": ("macosx_14_0_arm64", "macosx_12_0_arm64", "macosx_11_0_arm64"),
    "macOS, x86_64": ("macosx_14_0_x86_64", "macosx_11_0_x86_64", "macosx_10_15_x86_64"),
    "Windows, x86_64": ("win_amd64",),
}


def missing(requirements: list[str], python: str, platforms: tuple[str, ...]) -> str | None:
    """What pip says is missing there for these requirements and all that they need in turn."""
    with tempfile.TemporaryDirectory() as folder:
        command = [
            sys.executable, "-m", "pip", "install", "--dry-run", "--ignore-installed", "--quiet",
            "--disable-pip-version-check", "--only-binary=:all:", "--target", folder,
            "--implementation", "cp", "--python-version", python,
            *(part for platform in platforms for part in ("--platform", platform)),
            *requirements,
        ]  # fmt: skip
        done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode == 0:
        return None
    lines = [line for line in done.stderr.splitlines() if "No matching distribution" in line]
    return (lines or done.stderr.splitlines() or ["?"])[-1].removeprefix("ERROR: ")


def rows(requirements: list[str]) -> Iterator[tuple[str, dict[str, str | None]]]:
    """By system: what is missing for each version of Python, or None."""
    for system, platforms in SYSTEMS.items():
        yield system, {python: missing(requirements, python, platforms) for python in PYTHONS}


def main(extras: list[str]) -> int:
    """Print the table of the core and these extras; 1 if something is missing."""
    requirements = list(PROJECT["project"]["dependencies"])
    for extra in extras:
        requirements += PROJECT["project"]["optional-dependencies"][extra]
    print(f"| {', '.join(requirements)} | {' | '.join(PYTHONS)} |")
    print("|---" * (1 + len(PYTHONS)) + "|")
    complete = True
    for system, by_python in rows(requirements):
        complete &= not any(by_python.values())
        print(f"| {system} | {' | '.join(why or 'yes' for why in by_python.values())} |")
    return 0 if complete else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
