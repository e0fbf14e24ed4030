"""Releases that are given, put beside the frontier: what each discloses and tells of a secret."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sievert.arrays import Ints
from sievert.errors import require
from sievert.request.requested import Reading, RequestedRoles, check_known


@dataclass(frozen=True)
class GivenRelease:
    """A release by its name: H(X') and I(X';Y) of its own records, in bits, as counted.

    Suppressed records are one class; a quasi-identifier that it lacks tells nothing.
    """

    name: str
    records: int
    classes: int
    disclosed: float
    information: float


def read_given(
    tables: Sequence[Any], requested: RequestedRoles, reading: Reading
) -> tuple[GivenRelease, ...]:
    """Count the combinations of releases, with the first secret."""
    releases = []
    for number, table in enumerate(tables, 1):
        with reading(table) as (_, questions):
            quasi, sensitive, _ = requested.names(questions.columns)
            require(sensitive, "--beside compares what is lost of a secret", hint="-s COL")
            check_known("--beside: column", sensitive[0], questions.columns)
            known = [c for c in quasi if c in questions.columns]
            require(known, "--beside: a release without any of the quasi-identifiers")
            questions.check_usable((*known, sensitive[0]))
            cells = questions.cube((*known, sensitive[0]))
            sizes, values = (cells.roll_up(c).counts for c in (known, [sensitive[0]]))
            told = _entropy(sizes)
            releases.append(
                GivenRelease(
                    name=Path(table).name if isinstance(table, str | Path) else f"release {number}",
                    records=cells.records,
                    classes=len(sizes),
                    disclosed=told,
                    information=max(0.0, told + _entropy(values) - _entropy(cells.counts)),
                )
            )
    return tuple(releases)


def _entropy(counts: Ints) -> float:
    """In bits, of how often each thing occurs.

    >>> _entropy(np.array([2, 1, 1]))
    1.5
    """
    shares = counts / counts.sum()
    return float(-(shares * np.log2(shares)).sum()) + 0.0
