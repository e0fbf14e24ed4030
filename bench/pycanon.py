"""A full ``assess`` of Adult against eight measures of pycanon on the same records.

pycanon needs an older pandas than ours, so it lives in a virtual environment of its own, which the
first run creates (this needs a package index). Its time is the sum of the seconds inside its eight
functions: no import, no reading, no copy of the frame. Ours is one call that
yields these eight and all other measures. The values of both are compared too.
"""

from __future__ import annotations

import importlib
import json
import math
import os
import subprocess
import venv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bench.common import (
    ROOT,
    BenchError,
    Options,
    Ratio,
    Result,
    Sample,
    digits,
    print_verdict,
    table,
    timed,
    verdict,
)

GOAL = 200.0
REQUIREMENT = "pycanon==1.3.6"
ENVIRONMENT = ROOT / ".bench-venv"
SECRET = "occupation"
TIMEOUT = 1800.0

# pycanon's function, and ours with the same meaning
FUNCTIONS = {
    "k_anonymity": "k_anonymity",
    "l_diversity": "l_diversity",
    "t_closeness": "t_closeness",
    "alpha_k_anonymity": "alpha_k",
    "basic_beta_likeness": "beta_likeness",
    "enhanced_beta_likeness": "enhanced_beta_likeness",
    "delta_disclosure": "delta_disclosure_present",
    "entropy_l_diversity": "entropy_l",
}

# Runs in the other environment with the path, the secret and the function names as arguments.
CHILD = """
import json, sys, time
import pandas
from pycanon import anonymity

path, secret, *names = sys.argv[1:]
frame = pandas.read_csv(path, sep=";")
quasi = [column for column in frame.columns if column != secret]
answer = {}
for name in names:
    copy = frame.copy()
    arguments = (copy, quasi) if name == "k_anonymity" else (copy, quasi, [secret])
    start = time.perf_counter()
    value = getattr(anonymity, name)(*arguments)
    taken = time.perf_counter() - start
    value = value[0] if isinstance(value, tuple) else value
    answer[name] = {"seconds": taken, "value": float(value)}
print(json.dumps(answer))
"""


def adult() -> Path:
    """Return the file of the Adult records in the reference folder."""
    folder = os.environ.get("SIEVERT_REFERENCE")
    if not folder:
        raise BenchError("set SIEVERT_REFERENCE to the folder that holds data/adult/adult.csv")
    path = Path(folder) / "data" / "adult" / "adult.csv"
    if not path.is_file():
        raise BenchError("no data/adult/adult.csv in the folder that SIEVERT_REFERENCE names")
    return path


def environment() -> Path:
    """Return the Python that has pycanon, after creating its environment if need be."""
    python = ENVIRONMENT / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    finished = ENVIRONMENT / f"{REQUIREMENT}.installed"
    if finished.is_file():
        return python
    print(f"creating {ENVIRONMENT.name} with {REQUIREMENT} ...", flush=True)
    venv.create(ENVIRONMENT, clear=True, with_pip=True)
    done = subprocess.run(
        [str(python), "-m", "pip", "install", "--quiet", REQUIREMENT],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise BenchError(f"{REQUIREMENT} could not be installed:\n{done.stderr.strip()}")
    finished.touch()
    return python


def theirs(python: Path, path: Path, names: Sequence[str]) -> dict[str, dict[str, float]]:
    """Run pycanon's functions; -I keeps this file from being taken for the package."""
    done = subprocess.run(
        [str(python), "-I", "-c", CHILD, str(path), SECRET, *names],
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        check=False,
    )
    if done.returncode != 0:
        raise BenchError(f"pycanon failed:\n{done.stderr.strip()}")
    answer: dict[str, dict[str, float]] = json.loads(done.stdout.splitlines()[-1])
    return answer


def agrees(name: str, their_value: float, our_value: float | None) -> bool:
    """Compare two values; pycanon cuts entropy l down to a whole number."""
    if our_value is None:
        return False
    if name == "entropy_l_diversity":
        our_value = math.floor(our_value + 1e-9)
    return math.isclose(their_value, our_value, rel_tol=1e-9, abs_tol=1e-12)


def frame(path: Path) -> Any:
    """Read the records with pandas as a user would."""
    try:
        pandas = importlib.import_module("pandas")
    except ImportError as error:
        raise BenchError("this benchmark hands over a pandas frame: install pandas") from error
    return pandas.read_csv(path, sep=";")


def values_of(assessment: Any) -> Mapping[str, float | None]:
    """Return our values under pycanon's names."""
    known = {**assessment.reidentification, **assessment.inference[SECRET]}
    return {name: known[ours].value for name, ours in FUNCTIONS.items()}


def run(options: Options) -> Result:
    """Run both in turns and print every function beside our one call."""
    import sievert

    path, python = adult(), environment()
    data = frame(path)
    quasi = [column for column in data.columns if column != SECRET]
    names = list(FUNCTIONS)
    assessment = sievert.assess(data, quasi=quasi, sensitive=[SECRET])  # also the warm-up
    ours: list[Sample] = []
    other: list[dict[str, dict[str, float]]] = []
    for _ in range(options.rounds or (1 if options.quick else 3)):
        other.append(theirs(python, path, names))
        # The middle of a few: one call is so short that a hiccup would count for much.
        calls = [
            timed(lambda: sievert.assess(data, quasi=quasi, sensitive=[SECRET])) for _ in range(5)
        ]
        ours.append(sorted(calls, key=lambda sample: sample.wall)[2])
    our_values = values_of(assessment)
    sums = [sum(entry["seconds"] for entry in turn.values()) for turn in other]
    ratio = Ratio.of(sums, [sample.wall for sample in ours])
    checks = {name: agrees(name, other[0][name]["value"], our_values[name]) for name in names}
    rows: list[tuple[str, ...]] = [
        (
            name,
            digits(min(turn[name]["seconds"] for turn in other)),
            f"{other[0][name]['value']:.12g}",
            f"{our_values[name]:.12g}" if our_values[name] is not None else "none",
            "yes" if checks[name] else "NO",
        )
        for name in names
    ]
    rows.append(("sum of the functions", digits(min(sums)), "", "", ""))
    rows.append(("sievert.assess, everything", digits(min(s.wall for s in ours)), "", "", ""))
    print(f"Adult, {len(data):,} records, {len(quasi)} quasi-identifiers, secret {SECRET}\n")
    print(table(("pycanon", "best s", "its value", "ours", "agree"), rows))
    goal = verdict(ratio.median, GOAL, at_least=True)
    if not all(checks.values()):
        print("\nThe values differ, so the times are not of the same work.")
        goal["met"] = False
    print_verdict("pycanon / sievert.assess", ratio, goal)
    return {
        "pycanon": other,
        "assess": ours,
        "ratio": ratio,
        "agree": checks,
        "goal": goal,
        "requirement": REQUIREMENT,
    }
