"""Parts of the estimates of what a release discloses, and doubts about them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from sievert.commands.compare.disclosures import Disclosed
from sievert.estimators import ContingencyTable, InformationEstimate, ksg
from sievert.losses.loss import GONE, Release
from sievert.notes import Name, Note

if TYPE_CHECKING:
    from sievert.arrays import Ints

CHANCE_P = 0.02  # above it a column's information looks like chance
MOST_NEAR = 10**5  # records whose nearest neighbours are looked for; of more, evenly spread ones


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
    notes = []
    if not any(_beyond_chance(e) for e in disclosed.identity.columns.values()):
        varied = any(len(np.unique(c.released)) > 1 for c in release.quasi)
        notes.append(
            Note(
                "I(X';X) looks like chance in every column: are the records in the order of "
                "the original, or the key the right one?"
                if varied
                else "no quasi-identifier tells anything any more"
            )
        )
    for secret, bits in disclosed.attribute.items():
        if bits.whole.noisy and bits.whole.value > 0:
            notes.append(chance_note("the", bits.whole, secret, "read the corrected value"))
    return notes


def chance_note(whose: str, whole: InformationEstimate, secret: str, hint: str) -> Note:
    """How much of an estimate is chance."""
    many = f"{whole.rows_per_cell:.3g}"
    cell = "1 record a cell" if many == "1" else f"{many} records a cell"
    text = f"{whose} {whole.value:.4g} bits about {{}} are {whole.chance:.4g} chance"
    return Note(f"{text} ({cell}): {hint}", Name(secret))


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
