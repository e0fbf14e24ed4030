"""What several parts of the paper use: the value of a formula as a claim, and the example."""

from __future__ import annotations

import numpy as np

from sievert.arrays import Floats
from sievert.papers.claims import Claim, number

DIGITS = 4

# 80 people in four age groups (rows) with three diagnoses (columns); not in the paper.
PATIENTS = [[16, 2, 2], [4, 12, 4], [2, 4, 14], [8, 8, 4]]
EXAMPLE = "80 people in four age groups with three diagnoses, an example that is not in the paper"


def records(times: int = 1) -> dict[str, list[str]]:
    """The example as records."""
    cells = [
        (f"group {i}", f"diagnosis {j}", n * times)
        for i, row in enumerate(PATIENTS)
        for j, n in enumerate(row)
    ]
    return {
        "age": [age for age, _, n in cells for _ in range(n)],
        "diagnosis": [diagnosis for _, diagnosis, n in cells for _ in range(n)],
    }


def normal(rho: float, x: Floats, y: Floats) -> Floats:
    """The density of two standard normal numbers of a correlation, up to a factor."""
    u, v = x[:, None], y[None, :]
    return np.asarray(np.exp(-(u**2 - 2 * rho * u * v + v**2) / (2 * (1 - rho**2))))


def formula(what: str, value: float, ours: float | None, *, why: str = "not the same") -> Claim:
    """The value of a printed formula beside one that was found without it.

    >>> formula("I", 0.73697, 0.736966).state
    'match'
    """
    return number(what, f"{value:.{DIGITS}f}", ours, why=why)
