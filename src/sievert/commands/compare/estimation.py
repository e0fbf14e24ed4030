"""The estimates of what a release discloses, and remarks on their reliability."""

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
CHANCE_P = 0.02  # above it the information of a column looks like chance

MOST_NEAR = 10**5  # records whose nearest neighbours are searched; of more, evenly spread ones


@dataclass(frozen=True, kw_only=True)
class OriginalInformation:
    """The counts and estimates of the original, made once for all releases.

    `joint` and `estimates` are by column (None: the whole key) and secret.
    """

    key: Ints
    columns: Mapping[str, Ints]
    secrets: Mapping[str, Ints]
    joint: Mapping[tuple[str | None, str], ContingencyTable]
    estimates: Mapping[tuple[str | None, str], InformationEstimate]

    def bits(self) -> dict[str, Bits]:
        """The bits that the original itself tells about each secret."""
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
    """Begin to estimate what the original tells about each secret; the result waits for it."""
    columns = {c.name: c.original for c in original.quasi}
    secrets = {c.name: c.original for c in original.columns if c.name in sensitive}
    key = combination_codes(list(columns.values()))
    places = [(c, s) for c in (None, *columns) for s in secrets]

    def count(place: tuple[str | None, str]) -> tuple[ContingencyTable, InformationEstimate]:
        column, secret = place
        codes = key if column is None else columns[column]
        pair = ContingencyTable.from_codes(codes, secrets[secret])
        options = dict(how)
        if column is None:  # no test whether the whole key tells anything
            options["shuffles"] = 0
        return pair, estimate(pair, **options)

    begun = each(count, places)

    @cache
    def wait() -> OriginalInformation:
        counted = dict(zip(places, begun, strict=True))
        return OriginalInformation(
            key=key,
            columns=columns,
            secrets=secrets,
            joint={place: pair for place, (pair, _) in counted.items()},
            estimates={place: bits for place, (_, bits) in counted.items()},
        )

    return wait


def begin_disclosure(
    release: Release, key: Ints, known: OriginalInformation, how: Mapping[str, Any], each: Each
) -> Callable[[Mapping[str | None, Mapping[str, Any]]], Disclosed]:
    """Begin to estimate the three informations of the whole key, each column and each secret."""
    before = {None: known.key} | dict(known.columns)
    after = {None: key} | {c.name: fill_unreleased(c.released) for c in release.quasi}
    same = {c for c, codes in after.items() if np.array_equal(codes, before[c])}
    columns = [c for c in after if c is not None]

    def estimates(
        place: tuple[str | None, str | None],
    ) -> tuple[ContingencyTable, InformationEstimate, InformationEstimate | None]:
        """Estimate what a column (None: the key) tells about its original or a secret."""
        column, secret = place
        if secret is None:
            pair = ContingencyTable.from_codes(after[column], before[column])
            return pair, estimate(pair, **how), None
        was = known.joint[column, secret]
        codes = known.secrets[secret]
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
        pairs = {}
        bits = {}
        losses = {}
        for place, (pair, of_place, lost) in zip(places, begun, strict=True):
            pairs[place] = pair
            bits[place] = of_place
            losses[place] = lost

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
    """Estimate what columns of real numbers tell about the original (None) and each secret."""
    information: dict[str | None, dict[str, Any]] = {}
    numbers = {
        c.name: c.numbers for c in release.columns if c.name in edges and c.numbers is not None
    }
    columns = [c.name for c in release.quasi if c.name in numbers]
    for column in columns:
        after = numbers[column][1]
        targets = [t for t in (column, *secrets) if t in numbers]
        for target in targets:
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
    """Note numbers that are mostly noise, and records that may be paired wrongly."""
    notes = chance_notes("chance_release", disclosed.attribute)
    if not any(_beyond_chance(e) for e in disclosed.identity.columns.values()):
        varies = any(len(np.unique(c.released)) > 1 for c in release.quasi)
        notes.insert(0, Remark("all_chance" if varies else "tells_nothing"))
    return notes


def scattered_numbers(release: Release, edges: Mapping[str, Any]) -> list[Caution]:
    """Caution against numbers that are not cut, and nearly all different in the release."""
    return [
        Caution("scattered_numbers", column=repr(c.name))
        for c in release.quasi
        if c.name not in edges and c.numbers is not None and sparse_numbers(c.released[c.here])
    ]


def chance_notes(key: str, attribute: Mapping[str, Bits]) -> list[Remark]:
    """Make a remark on each estimate that is mostly chance; `key` is the key of the remark."""
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
    """Tell whether a column tells more about its original than chance would."""
    least = 1 / (bits.shuffles + 1)
    return (bits.p_value is None or bits.p_value <= max(CHANCE_P, least)) and bits.interval[0] > 0


def fill_unreleased(codes: Ints) -> Ints:
    """Give records that were not released a code of their own."""
    return np.where(codes == GONE, int(codes.max(initial=0)) + 1, codes)


def is_function(pair: ContingencyTable) -> bool:
    """Tell whether all records with the same second code have the same first code."""
    return len(pair.counts) == int(np.count_nonzero(pair.second))


def class_distance(pair: ContingencyTable) -> dict[str, Any]:
    """t-closeness of the classes, and the least information that such distances allow."""
    rows, columns = pair.codes
    sizes = pair.first
    values = pair.second
    records = pair.records
    over = np.maximum(0.0, pair.counts / sizes[rows] - values[columns] / records)
    t = np.bincount(rows, over, len(sizes))
    return {
        "t_closeness": float(t.max(initial=0.0)),
        "floor": 2 / np.log(2) * float((sizes / records) @ (t * t)),
    }
