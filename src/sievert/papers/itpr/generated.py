"""Tables of ages and diseases that section 5.2 describes, and their measures along each axis.

The text fixes the numbers of records, ages and diseases. It does not say which disease grows in
which age, so there are several readings; what the text says of a figure rules some of them out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sievert.papers.itpr.common import THETA, Numbers, Series, secrets, series
from sievert.papers.itpr.data import Columns

AGES, DISEASES, OF_AGE = 5, 10, 2_000
EVEN = OF_AGE // DISEASES

# Which disease grows in each age; None: the age keeps ten equally frequent diseases.
SAME, SHARED, THREE, OWN, SINGLE = (
    "the same disease in every age",
    "one disease in three ages, another in two",
    "three diseases, in two, two and one ages",
    "another disease in every age",
    "a disease in one age only",
)
GROWING: dict[str, tuple[int | None, ...]] = {
    SAME: (0, 0, 0, 0, 0),
    SHARED: (0, 0, 0, 1, 1),
    THREE: (0, 0, 1, 1, 2),
    OWN: (0, 1, 2, 3, 4),
    SINGLE: (0, None, None, None, None),
}
# Records of each of the other nine diseases in an age; lambda is 2,000 less ten times that.
FINE = (*range(200, 0, -20), 10, 5, 2, 1)
COARSE = (200, 160, 100, 60, 20, 1)

# Figure 4, one age drifts: records of its growing disease, for theta near 0, 0.1, ..., 0.9.
DRIFTS = (200, 463, 589, 691, 780, 860, 935, 1004, 1069, 1131)
# Figure 4, ages move apart: every age has 1,280 records of one disease and 80 of each other one.
MOVES = (
    (0, 0, 0, 0, 0),
    (1, 0, 0, 0, 0),
    (1, 1, 0, 0, 0),
    (1, 2, 0, 0, 0),
    (1, 1, 2, 2, 0),
    (1, 2, 3, 0, 0),
    (1, 2, 3, 4, 0),
)
KEPT = 1_280


@dataclass(frozen=True)
class Inference:
    """Figure 3 by reading, and the two readings of figure 4."""

    growing: Mapping[str, Series]  # against lambda
    drifting: Series  # against theta
    moving: Series  # against theta


def spread_evenly(records: int, values: int, first: int, at: int = 0) -> list[int]:
    """Records of each value: `first` have the one at `at`, the others share the rest.

    >>> spread_evenly(10, 4, 3), spread_evenly(10, 4, 7, at=2)
    ([3, 3, 2, 2], [1, 1, 7, 1])
    """
    each, more = divmod(records - first, values - 1)
    counts = [each + 1] * more + [each] * (values - 1 - more)
    return [*counts[:at], first, *counts[at:]]


def diseases(counts: Sequence[Sequence[int]]) -> list[str]:
    """A column: for each age in turn so many records of each disease."""
    return [f"d{i}" for age in counts for i, n in enumerate(age) for _ in range(n)]


def _grow(which: Sequence[int | None], first: int) -> list[str]:
    return diseases(
        [spread_evenly(OF_AGE, DISEASES, EVEN if at is None else first, at=at or 0) for at in which]
    )


def inference() -> Inference:
    """Every table of figures 3 and 4 as a column of diseases beside the same ages."""
    table: Columns = {"age": [f"a{i}" for i in range(AGES) for _ in range(OF_AGE)]}
    others = {reading: FINE if reading == SHARED else COARSE for reading in GROWING}
    for reading, which in GROWING.items():
        for other in others[reading]:
            table[f"{reading} {other}"] = _grow(which, OF_AGE - (DISEASES - 1) * other)
    for first in DRIFTS:
        table[f"drift {first}"] = _grow(GROWING[SINGLE], first)
    for i, which in enumerate(MOVES):
        table[f"move {i}"] = _grow(which, KEPT)
    measured = secrets(table, "age", [name for name in table if name != "age"])
    return Inference(
        {
            reading: series(
                [OF_AGE - DISEASES * other for other in others[reading]],
                [measured[f"{reading} {other}"] for other in others[reading]],
            )
            for reading in GROWING
        },
        _by_theta([measured[f"drift {first}"] for first in DRIFTS]),
        _by_theta([measured[f"move {i}"] for i in range(len(MOVES))]),
    )


def _by_theta(points: Sequence[Numbers]) -> Series:
    return series([point[THETA] for point in points], points)


# Figure 5: ten ages of 1,000 records and twenty diseases. One age grows by 9 k and the nine others
# lose k each, so that epsilon is 10 k; one of the nine drifts.
LOST = tuple(range(0, 121, 20))
SHARES = (0.05, 0.15, 0.2005, 0.243, 0.28, 0.3135, 0.345, 0.375, 0.4035, 0.4305)


def surface() -> dict[int, list[Numbers]]:
    """By epsilon, the measures for rising theta."""
    surfaces = {}
    for lost in LOST:
        small, large = 1_000 - lost, 1_000 + 9 * lost
        sizes = [small] * 9 + [large]
        table: Columns = {"age": [f"a{i}" for i, size in enumerate(sizes) for _ in range(size)]}
        for share in SHARES:
            drifting = spread_evenly(small, 20, round(share * small))
            rest = [[size // 20] * 20 for size in sizes[1:]]
            table[f"{share}"] = diseases([drifting, *rest])
        names = [name for name in table if name != "age"]
        measured = secrets(table, "age", names)
        surfaces[10 * lost] = [measured[name] for name in names]
    return surfaces
