"""Parts of the estimates of what a release discloses, and doubts about them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from sievert.arrays import Ints
from sievert.commands.compare.result import Bits, Disclosed, Estimated
from sievert.estimators import (
    ContingencyTable,
    InformationEstimate,
    estimate,
    information_lost,
    ksg,
)
from sievert.formatting.remarks import Caution, Figure, Remark, Things
from sievert.losses.loss import GONE, Release, combination_codes
from sievert.pairing.record_pairs import sparse_numbers

Each = Callable[[Callable[[Any], Any], Sequence[Any]], Iterator[Any]]
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
                whole=self.estimates[None, s],
                columns={c: self.estimates[c, s] for c in self.columns},
                **class_distance(self.joint[None, s]),
            )
            for s in self.secrets
        }


def begin_information(
    original: Release, sensitive: Sequence[str], how: Mapping[str, Any], each: Each
) -> Callable[[], OriginalInformation]:
    """The original's codes, and what they tell of each secret."""
    columns = {c.name: c.original for c in original.quasi}
    secrets = {c.name: c.original for c in original.columns if c.name in sensitive}
    key = combination_codes(list(columns.values()))
    places = [(c, s) for c in (None, *columns) for s in secrets]

    def count(place: tuple[str | None, str]) -> tuple[ContingencyTable, InformationEstimate]:
        column, secret = place
        pair = ContingencyTable.from_codes(
            key if column is None else columns[column], secrets[secret]
        )
        # Whether the original's whole key tells anything is not asked: no shuffles for it.
        return pair, estimate(pair, **{**how, **({"shuffles": 0} if column is None else {})})

    begun = each(count, places)

    @cache
    def wait() -> OriginalInformation:
        counted = dict(zip(places, begun, strict=True))
        return OriginalInformation(
            key,
            columns,
            secrets,
            {place: pair for place, (pair, _) in counted.items()},
            {place: bits for place, (_, bits) in counted.items()},
        )

    return wait


def begin_disclosure(
    release: Release, key: Ints, known: OriginalInformation, how: Mapping[str, Any], each: Each
) -> Callable[[Mapping[str | None, Mapping[str, Any]]], Disclosed]:
    """The three informations, of the whole key, each column, each secret."""
    before = {None: known.key} | dict(known.columns)
    after = {None: key} | {c.name: fill_unreleased(c.released) for c in release.quasi}
    same = {c for c, codes in after.items() if np.array_equal(codes, before[c])}
    columns = [c for c in after if c is not None]

    def estimates(
        place: tuple[str | None, str | None],
    ) -> tuple[ContingencyTable, InformationEstimate, InformationEstimate | None]:
        """What a column (None: the key) tells of its original or a secret, and what not."""
        column, secret = place
        if secret is None:
            pair = ContingencyTable.from_codes(after[column], before[column])
            return pair, estimate(pair, **how), None
        was, codes = known.joint[column, secret], known.secrets[secret]
        pair = was if column in same else ContingencyTable.from_codes(after[column], codes)
        unchanged = column in same and column is not None
        bits = known.estimates[column, secret] if unchanged else estimate(pair, **how)
        return (
            pair,
            bits,
            information_lost(before[column], after[column], codes, before=was, after=pair, **how),
        )

    places = [(c, s) for c in after for s in (None, *known.secrets)]
    begun = each(estimates, places)

    def wait(neighbours: Mapping[str | None, Mapping[str, Any]]) -> Disclosed:
        pairs, bits, losses = (
            dict(zip(places, part, strict=True)) for part in zip(*begun, strict=True)
        )

        def collect(numbers: Mapping[Any, Any], secret: str | None, **beside: Any) -> Bits:
            each = {c: numbers[c, secret] for c in columns}
            return Bits(whole=numbers[None, secret], columns=each, **beside)

        return Disclosed(
            identity=collect(
                bits,
                None,
                ksg=neighbours.get(None),
                deterministic=is_function(pairs[None, None]),
            ),
            attribute={
                s: collect(bits, s, ksg=neighbours.get(s), **class_distance(pairs[None, s]))
                for s in known.secrets
            },
            loss={s: collect(losses, s) for s in known.secrets},
        )

    return wait


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
            information.setdefault(None if target == column else target, {})[column] = {
                "value": bits,
                "reason": reason,
            }
    return information


def doubts(release: Release, disclosed: Disclosed) -> list[Remark]:
    """Notes where a number is mostly noise, or where the records may be paired wrongly."""
    notes = chance_notes("chance_release", disclosed.attribute)
    if not any(_beyond_chance(e) for e in disclosed.identity.columns.values()):
        varies = any(len(np.unique(c.released)) > 1 for c in release.quasi)
        notes.insert(0, Remark("all_chance" if varies else "tells_nothing"))
    return notes


def scattered_numbers(release: Release, edges: Mapping[str, Any]) -> list[Caution]:
    """Cautions on numbers that are not cut, and of which the release has nearly one a record."""
    return [
        Caution("scattered_numbers", column=repr(c.name))
        for c in release.quasi
        if c.name not in edges and c.numbers is not None and sparse_numbers(c.released[c.here])
    ]


def chance_notes(key: str, attribute: Mapping[str, Bits]) -> list[Remark]:
    """How much of an estimate is chance, where it is much; `key` is that of the remark."""
    return [
        Remark(
            key,
            bits=Figure(f"{bits.whole.value:.4g}"),
            column=repr(secret),
            chance=Figure(f"{bits.whole.chance:.4g}"),
            records=Things(f"{bits.whole.rows_per_cell:.3g}", "record"),
        )
        for secret, bits in attribute.items()
        if bits.whole.noisy and bits.whole.value > 0
    ]


def _beyond_chance(bits: Estimated) -> bool:
    """Whether a column tells more of its original than chance would."""
    least = 1 / (bits.shuffles + 1)
    return (bits.p_value is None or bits.p_value <= max(CHANCE_P, least)) and bits.interval[0] > 0


def fill_unreleased(codes: Ints) -> Ints:
    """Records that were not released as a category of their own."""
    return np.where(codes == GONE, int(codes.max(initial=0)) + 1, codes)


def is_function(pair: ContingencyTable) -> bool:
    """Whether records with the same second code all have the same first one."""
    return len(pair.counts) == int(np.count_nonzero(pair.second))


def class_distance(pair: ContingencyTable) -> dict[str, Any]:
    """t-closeness of the classes, and the least information that such distances allow."""
    rows, columns = pair.codes
    sizes, values, records = pair.first, pair.second, pair.records
    over = np.maximum(0.0, pair.counts / sizes[rows] - values[columns] / records)
    t = np.bincount(rows, over, len(sizes))
    return {
        "t_closeness": float(t.max(initial=0.0)),
        "floor": 2 / np.log(2) * float((sizes / records) @ (t * t)),
    }
