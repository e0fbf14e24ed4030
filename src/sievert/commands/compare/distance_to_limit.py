"""The distance of a release from the limit: the fewest bits that its distortion would allow.

A released record is read as well as possible: each released class stands for the combination of the
original that is nearest to its records. This combination tells at least as much about the secret as
the class, so no release made from the key alone is below the curve at this distortion.
"""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from sievert.arrays import Floats, Ints
from sievert.commands.compare.estimation import OriginalInformation
from sievert.commands.compare.result import (
    NOTHING,
    Disclosed,
    LeastDisclosure,
    LeastPoint,
    ReleaseDistance,
)
from sievert.errors import UsageError
from sievert.formatting import plural
from sievert.formatting.remarks import Figure, Remark, figure
from sievert.losses.loss import Release
from sievert.measures.kernel import LN2
from sievert.pairing import record_pairs
from sievert.tradeoff import Joint, curve, least_risk, perfect
from sievert.tradeoff.joint_distribution import disclosed_information, mutual_information
from sievert.tradeoff.models import GAP, DistortionTask

MOST_VALUES = 1_000  # combinations of a search; rarer ones join the nearest of them
MOST_COMBINATIONS = 100_000
MOST_CELLS = 10**7  # of values and secrets
MOST_PROGRAMME = 200_000  # numbers of the linear programme: some seconds
SECONDS = 120.0  # for each secret
WORK = 1.5 * 10**9  # products for each point of the curve, which limit its steps
FEW = 200  # values up to which a curve is fine and has POINTS
POINTS = 22  # of the curve, besides those of the releases
FEWER_POINTS = 6
CHUNK = 4 * 10**6


@dataclass(frozen=True)
class ReleasePlace:
    """The distortion of a release, and the bits that it would tell if it were drawn by chance."""

    distortion: float
    columns: Mapping[str, float]
    as_released: float | None
    channels: Mapping[str, float | None]  # by secret


# -- one channel ----------------------------------------------------------------------------------


def against(joint: Any, distortion: Any, channel: Any, **how: Any) -> ReleaseDistance:
    """Compare a channel p(x'|x) with the limit at its distortion; its labels do not matter.

    >>> place = against([[9, 1], [1, 9]], "hamming", [[0.8, 0.0, 0.2], [0.0, 0.8, 0.2]], gap=1e-6)
    >>> round(place.distortion, 3), round(place.disclosed, 3), round(place.least, 3)
    (0.1, 0.425, 0.32)
    """
    task = DistortionTask.from_table(joint, distortion)
    rows = np.asarray(channel, dtype=np.float64)[task.joint.rows]
    far = float(((task.joint.weights[:, None] * rows).T @ task.distortion).min(axis=1).sum())
    bits = disclosed_information(task.joint, rows) / LN2
    best = least_risk(task, None, max(far, task.nearest), **how)
    return ReleaseDistance(
        distortion=far,
        disclosed=bits,
        as_channel=bits,
        least=min(best.objective, bits),
        bound=best.bound,
    )


# -- releases -------------------------------------------------------------------------------------


class Space:
    """The combinations of the original, and the readings: those for which a class may stand.

    `columns` has for each column the places of the readings among its values, the place of each
    record among them (or one beyond), and the number of these values.
    """

    def __init__(self, key: Ints, columns: Mapping[str, Ints], most_readings: int) -> None:
        """Choose the most frequent combinations as readings, at most `most_readings`."""
        _, first, sizes = np.unique(key, return_index=True, return_counts=True)
        frequent = np.sort(np.argsort(-sizes, kind="stable")[:most_readings])
        self.key = key
        self.combinations = len(first)
        self.readings = len(frequent)
        self.columns: dict[str, tuple[Ints, Ints, int]] = {}
        for name, codes in columns.items():
            values, places = np.unique(codes[first[frequent]], return_inverse=True)
            at = np.minimum(np.searchsorted(values, codes), len(values) - 1)
            self.columns[name] = (
                places,
                np.where(values[at] == codes, at, len(values)),
                len(values),
            )
        self.merged = self.readings < self.combinations
        self.nearest = self._nearest(first, frequent)
        self.cells = self.nearest[key]

    def _nearest(self, first: Ints, frequent: Ints) -> Ints:
        """Find the reading that shares most values with each combination, the first of several."""
        if not self.merged:
            return np.arange(self.combinations)
        nearest = np.empty(self.combinations, dtype=np.int64)
        for at in range(0, self.combinations, CHUNK // self.readings):
            part = first[at : at + CHUNK // self.readings]
            shared = np.zeros((len(part), self.readings), dtype=np.int16)
            for places, own, _ in self.columns.values():
                shared += own[part][:, None] == places
            nearest[at : at + len(part)] = shared.argmax(axis=1)
        nearest[frequent] = np.arange(self.readings)
        return nearest

    def distances(self) -> Floats:
        """The mean share of columns in which the records of a value differ from a reading."""
        sizes = np.bincount(self.cells, minlength=self.readings)
        same = self._shared_values(self.cells, np.arange(len(self.cells)), self.readings)
        return np.asarray(1.0 - same / (sizes[:, None] * len(self.columns)))

    def _shared_values(self, rows: Ints, records: Ints, number: int) -> Floats:
        """Count the values that the records of each row share with each reading."""
        shared = np.zeros((number, self.readings))
        for places, own, values in self.columns.values():
            wide = values + 1
            counts = np.bincount(rows * wide + own[records], minlength=number * wide)
            shared += counts.reshape(number, wide)[:, places]
        return shared

    def read_classes(self, classes: Ints) -> tuple[float, dict[str, float]]:
        """Read released classes at the least distortion; return it, and that of each column."""
        order = np.argsort(classes, kind="stable")
        _, starts, sizes = np.unique(classes[order], return_index=True, return_counts=True)
        cells = self.key[order]
        reading = np.empty(len(order), dtype=np.int64)
        pure = np.minimum.reduceat(cells, starts) == np.maximum.reduceat(cells, starts)
        one = np.repeat(pure, sizes)
        reading[order[one]] = self.nearest[cells[one]]
        mixed = np.flatnonzero(~pure)
        step = max(1, CHUNK // self.readings)
        for at in range(0, len(mixed), step):
            part = mixed[at : at + step]
            places = np.concatenate([np.arange(starts[c], starts[c] + sizes[c]) for c in part])
            rows = np.repeat(np.arange(len(part)), sizes[part])
            best = self._shared_values(rows, order[places], len(part)).argmax(axis=1)
            reading[order[places]] = best[rows]
        far = {
            name: float(np.mean(places[reading] != own))
            for name, (places, own, _) in self.columns.items()
        }
        return float(np.mean(list(far.values()))), far


def text_distortion(release: Release) -> float | None:
    """The mean share of columns that differ in the release; None if labels are not values."""
    for column in release.quasi:
        labels = {column.labels[i] for i in np.unique(column.released[column.here]).tolist()}
        if not column.here.all() or not labels <= set(column.values):
            return None
    return float(np.mean([float(np.mean(record_pairs.differs(c))) for c in release.quasi]))


def as_channel(key: Ints, classes: Ints, table: Floats) -> float | None:
    """I(X';Y) in bits, if the class of a record were drawn from its combination alone."""
    classes = np.unique(classes, return_inverse=True)[1]
    wide = int(classes.max(initial=0)) + 1
    if wide * table.shape[1] > MOST_CELLS:
        return None
    pairs, times = np.unique(key * wide + classes, return_counts=True)
    rows, places = np.divmod(pairs, wide)
    share = times / table.sum(axis=1)[rows]
    cells = np.stack(
        [np.bincount(places, share * column[rows], wide) for column in table.T], axis=1
    )
    weights = cells.sum(axis=1)
    return mutual_information(weights / weights.sum(), cells / weights[:, None]) / LN2


class Limits:
    """The limit of each secret, and the distance of releases from it; `notes` grows."""

    def __init__(self, known: OriginalInformation) -> None:
        self.known = known
        self.notes: list[Remark] = []
        self.space: Space | None = None
        number = int(known.key.max(initial=0)) + 1
        if number > MOST_COMBINATIONS:
            combinations = plural(number, "combination")
            self.notes.append(Remark("too_many_for_limit", combinations=combinations))
            return
        space = Space(known.key, known.columns, MOST_VALUES)
        self.space = space
        self.tables = {s: _count_cells(space, codes) for s, codes in known.secrets.items()}
        if space.merged:
            self.notes.append(
                Remark(
                    "merged_for_limit",
                    combinations=plural(number, "combination"),
                    number=figure(MOST_VALUES),
                )
            )

    def place(self, release: Release, classes: Ints) -> ReleasePlace | None:
        """Measure the distortion of a release; its numbers are cut as in the comparison."""
        if self.space is None:
            return None
        distortion, columns = self.space.read_classes(classes)
        as_released = text_distortion(release)
        channels = {}
        for secret, table in self.tables.items():
            if table is not None and not self.space.merged:
                channels[secret] = as_channel(self.known.key, classes, table)
        return ReleasePlace(
            distortion=distortion, columns=columns, as_released=as_released, channels=channels
        )

    def solve(
        self,
        releases: Mapping[str, Disclosed],
        places: Mapping[str, ReleasePlace | None],
        seconds: float | None = None,
    ) -> tuple[dict[str, LeastDisclosure], dict[str, dict[str, ReleaseDistance]]]:
        """Find the limit of each secret, and the distance of each release from it."""
        limits: dict[str, LeastDisclosure] = {}
        by_release: dict[str, dict[str, ReleaseDistance]] = {name: {} for name in releases}
        placed = {name: place for name, place in places.items() if place is not None}
        if self.space is None:
            return limits, by_release
        distances = self.space.distances()
        end = time.monotonic() + (seconds or 0.0)
        for secret, table in self.tables.items():
            if table is None:
                self.notes.append(Remark("secret_too_many_values", column=repr(secret)))
                continue
            limit = _search_limit(
                self.space,
                table,
                distances,
                {place.distortion for place in placed.values()},
                SECONDS if seconds is None else min(SECONDS, end - time.monotonic()),
            )
            limits[secret] = limit
            for name, place in placed.items():
                by_release[name][secret] = _distance(place, secret, releases[name], limit)
            self._note_doubts(secret, limit, {n: by_release[n][secret] for n in releases})
        return limits, by_release

    def _note_doubts(
        self, secret: str, limit: LeastDisclosure, distances: Mapping[str, ReleaseDistance]
    ) -> None:
        """Note if a limit is not exact, if it is mostly chance, or if a release is below it."""
        if not limit.reached:
            gaps = [p.objective - p.bound for p in limit.points if p.bound is not None]
            widest = Figure(f"{max(gaps):.2g}")
            self.notes.append(Remark("limit_within", column=repr(secret), bits=widest))
        if self.known.estimates[None, secret].noisy:
            self.notes.append(Remark("limit_of_table", column=repr(secret)))
        self.notes += [
            Remark("tells_less", name=repr(name), column=repr(secret))
            for name, each in distances.items()
            if each.bound is not None and each.disclosed < each.bound - 1e-9
        ]


def _count_cells(space: Space, secret: Ints) -> Floats | None:
    """Count records by reading and value of the secret; None if there are too many cells."""
    y = np.unique(secret, return_inverse=True)[1]
    wide = int(y.max(initial=0)) + 1
    tall = space.readings
    if wide * tall > MOST_CELLS:
        return None
    counts = np.bincount(space.cells * wide + y, minlength=wide * tall)
    return counts.reshape(tall, wide).astype(np.float64)


def _search_limit(
    space: Space, table: Floats, distances: Floats, at: set[float], seconds: float
) -> LeastDisclosure:
    """Find the fewest bits at evenly spread distortions, and at the distortions `at`."""
    task = DistortionTask.from_table(Joint.of(table), distances)
    few = len(table) <= FEW
    spread = np.linspace(task.nearest, task.farthest, POINTS if few else FEWER_POINTS).tolist()
    zero, reason = _perfect(task)
    points = curve(
        task.joint,
        distances,
        at=sorted(x for x in at.union(spread) if x >= task.nearest),
        gap=GAP if few else NOTHING,
        most=int(max(40, WORK // (table.size * len(table)))),
        seconds=seconds,
    ).points
    return LeastDisclosure(
        combinations=space.combinations,
        values=len(table),
        information=task.joint.information,
        points=tuple(LeastPoint(at=p.at, objective=p.objective, bound=p.bound) for p in points),
        reached=all(bool(p.reached) for p in points),
        perfect=zero,
        reason=reason,
    )


def _distance(
    place: ReleasePlace, secret: str, disclosed: Disclosed, limit: LeastDisclosure
) -> ReleaseDistance:
    """Compare the bits that a release tells about a secret with the fewest at its distortion."""
    far = place.distortion
    channel = place.channels.get(secret)
    whole = disclosed.attribute[secret].whole
    point = next((p for p in limit.points if p.at == far), None)
    least: float | None = None
    bound: float | None = None
    if point is not None:
        least = point.objective if channel is None else min(point.objective, channel)
        if limit.perfect is not None and far >= limit.perfect:
            least = 0.0
        if point.bound is not None and not limit.merged:
            bound = min(point.bound, least)
    return ReleaseDistance(
        distortion=far,
        disclosed=whole.value,
        corrected=whole.corrected,
        as_channel=channel,
        as_released=place.as_released,
        least=least,
        bound=bound,
        columns=place.columns,
    )


def _perfect(task: DistortionTask) -> tuple[float | None, str | None]:
    """Find the least distortion of a release that tells nothing, or say why it is not known."""
    if task.distortion.size * task.joint.given.shape[1] > MOST_PROGRAMME:
        return None, "too many values for the linear programme"
    try:
        return perfect(task.joint, task.full).objective, None
    except UsageError as error:
        return None, str(error)
