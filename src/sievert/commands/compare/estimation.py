"""Parts of the estimates of what a release discloses, and doubts about them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sievert.arrays import Ints
from sievert.commands.compare.result import Bits, Disclosed
from sievert.estimators import ContingencyTable, InformationEstimate, ksg
from sievert.losses.loss import GONE, Release
from sievert.notes import Name, Note

CHANCE_P = 0.02  # above it a column's information looks like chance
MOST_NEAR = 10**5  # records whose nearest neighbours are looked for; of more, evenly spread ones


@dataclass(frozen=True)
class OriginalInformation:
    """What is counted of the original once, for all releases.

    `joint` and `estimates` are of a column (None: the whole key) and a secret.
    """

    key: Ints
    columns: Mapping[str, Ints]
    secrets: Mapping[str, Ints]
    joint: Mapping[tuple[str | None, str], ContingencyTable]
    estimates: Mapping[tuple[str | None, str], InformationEstimate]

    def bits(self) -> dict[str, Bits]:
        """What the original itself tells of each secret."""
        return {
            s: Bits(
                self.estimates[None, s],
                {c: self.estimates[c, s] for c in self.columns},
                class_distance(self.joint[None, s]),
            )
            for s in self.secrets
        }


def neighbour_information(
    release: Release, edges: Mapping[str, Any], secrets: Sequence[str], threads: int
) -> dict[str | None, dict[str, Any]]:
    """What columns of real numbers tell of the original (None) and of each secret."""
    information: dict[str | None, dict[str, Any]] = {}
    numbers = {
        c.name: c.numbers for c in release.columns if c.name in edges and c.numbers is not None
    }
    for column in (c.name for c in release.quasi if c.name in numbers):
        after = numbers[column][1]
        for target in (t for t in (column, *secrets) if t in numbers):
            before = numbers[target][0]
            both = np.isfinite(after) & np.isfinite(before)
            step = 1 + int(np.count_nonzero(both)) // MOST_NEAR
            bits, reason = ksg(after[both][::step], before[both][::step], threads=threads)
            place = None if target == column else target
            information.setdefault(place, {})[column] = {"value": bits, "reason": reason}
    return information


def doubts(release: Release, disclosed: Disclosed) -> list[Note]:
    """Notes where a number is mostly noise, or where the records may be paired wrongly."""
    notes = chance_notes("the", disclosed.attribute, "read the corrected value")
    if not any(_beyond_chance(e) for e in disclosed.identity.columns.values()):
        varied = any(len(np.unique(c.released)) > 1 for c in release.quasi)
        text = (
            "I(X';X) looks like chance in every column: are the records in the order of "
            "the original, or the key the right one?"
            if varied
            else "no quasi-identifier tells anything any more"
        )
        notes.insert(0, Note(text))
    return notes


def chance_notes(whose: str, attribute: Mapping[str, Bits], hint: str) -> list[Note]:
    """How much of an estimate is chance, where it is much."""
    return [
        Note(
            f"{whose} {bits.whole.value:.4g} bits about {{}} are {bits.whole.chance:.4g} chance "
            f"({many} record{'' if many == '1' else 's'} a cell): {hint}",
            Name(secret),
        )
        for secret, bits in attribute.items()
        if bits.whole.noisy and bits.whole.value > 0
        for many in [f"{bits.whole.rows_per_cell:.3g}"]
    ]


def _beyond_chance(estimate: InformationEstimate) -> bool:
    """Whether a column tells more of its original than chance would."""
    least = 1 / (estimate.shuffles + 1)
    likely = estimate.p_value is None or estimate.p_value <= max(CHANCE_P, least)
    return likely and estimate.interval[0] > 0


def fill_unreleased(codes: Ints) -> Ints:
    """Records that were not released as a category of their own."""
    return np.where(codes == GONE, int(codes.max(initial=0)) + 1, codes)


def class_distance(pair: ContingencyTable) -> dict[str, Any]:
    """t-closeness of the classes, and the least information that such distances allow."""
    rows, columns = pair.codes
    sizes, values, records = pair.first, pair.second, pair.records
    over = np.maximum(0.0, pair.counts / sizes[rows] - values[columns] / records)
    t = np.bincount(rows, over, len(sizes))
    floor = 2 / np.log(2) * float((sizes / records) @ (t * t))
    return {"t_closeness": float(t.max(initial=0.0)), "floor": floor}
