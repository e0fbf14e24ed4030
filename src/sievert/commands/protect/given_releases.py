"""Given releases beside the frontier: what each discloses, and what it tells about a secret."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sievert.arrays import Ints
from sievert.errors import require
from sievert.request.requested import Reading, RequestedRoles, check_known


@dataclass(frozen=True, kw_only=True)
class GivenRelease:
    """A release with its name; `disclosed` is H(X') and `information` I(X';Y), in bits.

    Suppressed records are one class. A quasi-identifier that the release lacks tells nothing.
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
            sizes = cells.roll_up(known).counts
            values = cells.roll_up([sensitive[0]]).counts
            disclosed = _entropy(sizes)
            releases.append(
                GivenRelease(
                    name=Path(table).name if isinstance(table, str | Path) else f"release {number}",
                    records=cells.records,
                    classes=len(sizes),
                    disclosed=disclosed,
                    information=max(0.0, disclosed + _entropy(values) - _entropy(cells.counts)),
                )
            )
    return tuple(releases)


def _entropy(counts: Ints) -> float:
    """The entropy in bits, given how often each value occurs.

    >>> _entropy(np.array([2, 1, 1]))
    1.5
    """
    shares = counts / counts.sum()
    return float(-(shares * np.log2(shares)).sum()) + 0.0
