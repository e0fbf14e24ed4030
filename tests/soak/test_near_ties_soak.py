"""Intervals of an attacker who reasons, on tables whose secrets are about equally likely.

`python tests/soak/test_near_ties_soak.py` prints the table of `docs/attacks/reasoning.md`.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

if __name__ == "__main__":
    sys.path.append(str(Path(__file__).parents[1]))

from helpers.nearties import FAMILIES, NUMBERS, coverage

SEEDS = range(50)


@pytest.mark.parametrize("family", FAMILIES)
def test_intervals_hold_the_exact_number(family: str) -> None:
    for name, (share, _, tables) in coverage(family, SEEDS).items():
        assert tables >= 40, (family, "too few tables have a number")
        assert share >= 0.9, (family, name, share)


if __name__ == "__main__":
    print("| tables | with a number |", " | ".join(f"`{name}`" for name in NUMBERS), "|")
    print("|---|" + "---|" * (len(NUMBERS) + 1))
    for each in FAMILIES:
        found = coverage(each, SEEDS)
        cells = [f"{100 * s:.0f} % ({100 * w:.1f} points)" for s, w, _ in found.values()]
        tables = found["attacker_accuracy"][2]
        print(f"| {each} | {tables} of {len(SEEDS)} |", " | ".join(cells), "|", flush=True)
