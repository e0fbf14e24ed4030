"""Compare what all command lines print and write on a base revision and on the working tree."""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from corpus.kept import keep
from corpus.running import Source, prepare_demo, run
from corpus.scenarios import ROOT, Scenario, documented, fixed, recorded
from sievert.cli.parser import COMMANDS

RECORDED_FROM = ("tests/unit", "tests/docs/test_schema.py")
SHOWN = 3  # lines of each side of a difference
WIDTH = 160  # characters of a line that are shown


def main() -> int:
    """Run the corpus; the exit code is 1 if anything differs."""
    parser = argparse.ArgumentParser(prog="corpus", description=__doc__)
    parser.add_argument("--base", default="HEAD", help="the revision to compare with")
    parser.add_argument("--most", type=int, help="run only so many scenarios, drawn by the seed")
    parser.add_argument("--only", default="", help="run only scenarios whose name has this text")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--recorded", type=Path, help="keep the recorded lines here, and use them")
    parser.add_argument("--keep", action="store_true", help="only write what CI compares with")
    given = parser.parse_args()
    if given.keep:
        keep()
        return 0
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        base = place / "base"
        git = ["git", "-C", str(ROOT), "worktree"]
        subprocess.run([*git, "add", "--detach", str(base), given.base], check=True)
        try:
            scenarios = _collect(given.recorded or place / "recorded", given.only)
            if given.most is not None and given.most < len(scenarios):
                scenarios = random.Random(given.seed).sample(scenarios, given.most)
            return _compare(scenarios, base, place)
        finally:
            subprocess.run([*git, "remove", "--force", str(base)], check=True)


def _collect(folder: Path, only: str) -> list[Scenario]:
    """Return the scenarios whose name has the text `only`; those of tests are in `folder`."""
    if not folder.exists():
        _record(folder)
    every = [*fixed([*COMMANDS]), *documented(), *recorded(folder)]
    return [scenario for scenario in every if only in scenario.name]


def _record(folder: Path) -> None:
    """Run the command-line tests, and keep their command lines in `folder`."""
    folder.mkdir()
    options = ["-q", "-n", "2", "-p", "corpus.recorder", "-m", "not slow"]
    paths = os.pathsep.join(str(ROOT / name) for name in ("tests", "src"))
    subprocess.run(
        [sys.executable, "-m", "pytest", *options, *(str(ROOT / p) for p in RECORDED_FROM)],
        cwd=ROOT,
        env={**os.environ, "CORPUS_FOLDER": str(folder), "PYTHONPATH": paths},
        stdout=subprocess.DEVNULL,
        check=False,
    )


def _compare(scenarios: list[Scenario], base: Path, place: Path) -> int:
    """Run `scenarios` on both revisions, and print what differs."""
    sources = {
        "base": prepare_demo(base, place / "demo_base"),
        "tree": prepare_demo(ROOT, place / "demo_tree"),
    }

    def both(number: int) -> list[str]:
        scenario = scenarios[number]
        before, after = (_outcome(scenario, sources[s], place / s / str(number)) for s in sources)
        return _differences(scenario.name, before, after)

    different = 0
    with ThreadPoolExecutor(max_workers=2) as pool:
        for lines in pool.map(both, range(len(scenarios))):
            different += bool(lines)
            for line in lines:
                print(line, flush=True)
    print(f"{len(scenarios)} scenarios, {different} different")
    return int(different > 0)


def _outcome(scenario: Scenario, source: Source, place: Path) -> dict[str, str]:
    """Run one scenario; a line that does not end is an outcome as well."""
    try:
        # Both revisions run below a folder of the same length: messages are cut by their length.
        return run(scenario, source, place)
    except subprocess.TimeoutExpired as error:
        return {"not ended": str(error.cmd[-1])}


def _differences(name: str, before: dict[str, str], after: dict[str, str]) -> list[str]:
    """Return lines that say where two outcomes differ first."""
    shown: list[str] = []
    for part in dict.fromkeys((*before, *after)):
        old = before.get(part, "(not there)").splitlines()
        new = after.get(part, "(not there)").splitlines()
        if old == new:
            continue
        first = next(
            (n for n, pair in enumerate(zip(old, new, strict=False)) if pair[0] != pair[1]),
            min(len(old), len(new)),
        )
        shown.append(f"  {part}, line {first + 1}")
        shown += [f"    - {line[:WIDTH]}" for line in old[first : first + SHOWN]]
        shown += [f"    + {line[:WIDTH]}" for line in new[first : first + SHOWN]]
    return [f"== {name}", *shown] if shown else []


if __name__ == "__main__":
    raise SystemExit(main())
