"""How far a release is from the limit: the least bits that its distortion would allow.

A released record is read as well as it can be: each released class stands for the combination of
the original that is nearest to its records. What the class tells of the secret, that combination
tells at most, so that no release made from the key alone is below the curve at this distortion.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sievert.commands import _pairing
from sievert.errors import UsageError
from sievert.measures.kernel import LN2
from sievert.notes import Count, Name, Note
from sievert.tradeoff import Joint, Tradeoff, curve, least_risk, perfect
from sievert.tradeoff.joint_distribution import disclosed_information, mutual_information
from sievert.tradeoff.models import GAP, DistortionTask

if TYPE_CHECKING:
    from sievert.arrays import Floats, Ints
    from sievert.commands.compare.disclosures import Disclosed, OriginalInformation
    from sievert.losses.loss import Release

MOST_VALUES = 1_000  # combinations of a search; rarer ones join the nearest of them
MOST_COMBINATIONS = 100_000
MOST_CELLS = 10**7  # of values and secrets
MOST_PROGRAMME = 200_000  # numbers of the linear programme: some seconds
SECONDS = 120.0  # a secret
WORK = 1.5 * 10**9  # products a point of the curve: about as many steps of any size
FEW = 200  # values up to which a curve is fine and has many points
POINTS, FEWER_POINTS = 22, 6  # of the curve, besides those of the releases
NOTHING = 1e-3  # bits: a ratio to less is not told
CHUNK = 4 * 10**6


@dataclass(frozen=True)
class ReleaseDistance:
    """One release against the limit of one secret; information in bits.

    `least` was attained by some release with this distortion, below `bound` is none; `as_channel`
    is what the release tells if its chance has nothing to do with the secret.
    """

    distortion: float
    disclosed: float
    corrected: float | None = None
    as_channel: float | None = None
    as_released: float | None = None
    least: float | None = None
    bound: float | None = None
    columns: Mapping[str, float] | None = None

    @property
    def ratio(self) -> float | None:
        """At least so many times the least possible is disclosed."""
        if self.least is None or self.least <= NOTHING:
            return None
        return self.disclosed / self.least

    @property
    def reason(self) -> str | None:
        """Why there is no ratio."""
        if self.least is None:
            return "no release made from the merged combinations distorts so little"
        return None if self.ratio is not None else "so much distortion allows to tell nothing"

    def to_dict(self) -> dict[str, Any]:
        """As it stands in the JSON."""
        gap = None if self.least is None or self.bound is None else self.least - self.bound
        return {
            "distortion": self.distortion,
            "distortion_as_released": self.as_released,
            "columns": dict(self.columns or {}),
            "disclosed": self.disclosed,
            "corrected": self.corrected,
            "as_channel": self.as_channel,
            "least": self.least,
            "bound": self.bound,
            "gap": gap,
            "ratio": self.ratio,
            "reason": self.reason,
        }


@dataclass(frozen=True)
class LeastDisclosure:
    """The least bits about one secret against the distortion."""

    combinations: int
    values: int  # fewer where combinations were merged
    information: float  # what the values tell without any distortion
    points: tuple[Tradeoff, ...]
    perfect: float | None  # the least distortion that tells nothing
    reason: str | None = None  # why this is not known

    @property
    def merged(self) -> bool:
        """Whether rare combinations count as a nearest one: then there is no bound."""
        return self.values < self.combinations

    @property
    def reached(self) -> bool:
        """Whether the search ended where it was to end."""
        return all(bool(p.reached) for p in self.points)

    def to_dict(self) -> dict[str, Any]:
        """As it stands in the JSON."""
        return {
            "distortion": "hamming, mean over columns",
            "combinations": self.combinations,
            "values": self.values,
            "merged": self.merged,
            "information": self.information,
            "reached": self.reached,
            "points": [
                {
                    "distortion": p.at,
                    "least": p.objective,
                    "bound": None if self.merged else p.bound,
                }
                for p in self.points
            ],
            "perfect": self.perfect,
            "perfect_reason": self.reason,
        }


# -- one channel ----------------------------------------------------------------------------------


def against(joint: Any, distortion: Any, channel: Any, **how: Any) -> ReleaseDistance:
    """A channel p(x'|x), whatever its released labels, against the limit at its distortion.

    >>> told = against([[9, 1], [1, 9]], "hamming", [[0.8, 0.0, 0.2], [0.0, 0.8, 0.2]], gap=1e-6)
    >>> round(told.distortion, 3), round(told.disclosed, 3), round(told.least, 3)
    (0.1, 0.425, 0.32)
    """
    task = DistortionTask.from_table(joint, distortion)
    held = np.asarray(channel, dtype=np.float64)[task.joint.rows]
    guesses = (task.joint.weights[:, None] * held).T @ task.distortion
    far = float(guesses.min(axis=1).sum())
    told = disclosed_information(task.joint, held) / LN2
    best = least_risk(task, None, max(far, task.nearest), **how)
    return ReleaseDistance(
        far, told, as_channel=told, least=min(best.objective, told), bound=best.bound
    )


# -- releases -------------------------------------------------------------------------------------


class Space:
    """The combinations of the original, and those of them that a release is read as."""

    def __init__(self, key: Ints, columns: Mapping[str, Ints]) -> None:
        self.key, self.names, self.codes = key, list(columns), list(columns.values())
        _, first, sizes = np.unique(key, return_index=True, return_counts=True)
        self.combinations = len(first)
        frequent = np.sort(np.argsort(-sizes, kind="stable")[:MOST_VALUES])
        self.values: list[Ints] = []  # of each column, those the readings have
        self.places: list[Ints] = []  # of each reading, its value in each column
        self.held: list[Ints] = []  # of each record, its value among them, or one beyond
        for codes in self.codes:
            values, places = np.unique(codes[first[frequent]], return_inverse=True)
            at = np.minimum(np.searchsorted(values, codes), len(values) - 1)
            self.values.append(values)
            self.places.append(places)
            self.held.append(np.where(values[at] == codes, at, len(values)))
        self.readings = len(frequent)
        self.nearest = self._nearest(first, frequent)
        self.cells = self.nearest[key]

    @property
    def merged(self) -> bool:
        return self.readings < self.combinations

    def _nearest(self, first: Ints, frequent: Ints) -> Ints:
        """Of each combination the reading that shares most values with it, the first of such."""
        if not self.merged:
            return np.arange(self.combinations)
        found = np.empty(self.combinations, dtype=np.int64)
        for at in range(0, self.combinations, CHUNK // self.readings):
            part = first[at : at + CHUNK // self.readings]
            shared = np.zeros((len(part), self.readings), dtype=np.int16)
            for held, places in zip(self.held, self.places, strict=True):
                shared += held[part][:, None] == places
            found[at : at + len(part)] = shared.argmax(axis=1)
        found[frequent] = np.arange(self.readings)
        return found

    def distances(self) -> Floats:
        """The mean share of columns in which the records of a value differ from a reading."""
        sizes = np.bincount(self.cells, minlength=self.readings)
        same = self._shared(self.cells, np.arange(len(self.cells)), self.readings)
        return np.asarray(1.0 - same / (sizes[:, None] * len(self.codes)))

    def _shared(self, rows: Ints, records: Ints, number: int) -> Floats:
        """How many values of its records each row shares with each reading."""
        found = np.zeros((number, self.readings))
        for held, places, values in zip(self.held, self.places, self.values, strict=True):
            wide = len(values) + 1
            counts = np.bincount(rows * wide + held[records], minlength=number * wide)
            found += counts.reshape(number, wide)[:, places]
        return found

    def read(self, classes: Ints) -> tuple[float, dict[str, float]]:
        """The least distortion at which released classes can be read, and that of each column."""
        order = np.argsort(classes, kind="stable")
        _, starts, sizes = np.unique(classes[order], return_index=True, return_counts=True)
        ends = starts + sizes
        cells = self.key[order]
        reading = np.empty(len(order), dtype=np.int64)
        pure = np.minimum.reduceat(cells, starts) == np.maximum.reduceat(cells, starts)
        one = np.repeat(pure, sizes)
        reading[order[one]] = self.nearest[cells[one]]
        for part in _chunks(np.flatnonzero(~pure), max(1, CHUNK // self.readings)):
            places = np.concatenate([np.arange(starts[c], ends[c]) for c in part])
            rows = np.repeat(np.arange(len(part)), sizes[part])
            best = self._shared(rows, order[places], len(part)).argmax(axis=1)
            reading[order[places]] = best[rows]
        far = {
            name: float(np.mean(places[reading] != held))
            for name, places, held in zip(self.names, self.places, self.held, strict=True)
        }
        return float(np.mean(list(far.values()))), far


def _chunks(places: Ints, size: int) -> Iterator[Ints]:
    for at in range(0, len(places), size):
        yield places[at : at + size]


def spelled(release: Release) -> float | None:
    """The mean share of columns that differ as released; None where labels are not values."""
    far = []
    for column in release.quasi:
        labels = {column.labels[i] for i in np.unique(column.released[column.here]).tolist()}
        if not column.here.all() or not labels <= set(column.values):
            return None
        far.append(float(np.mean(_pairing.differs(column))))
    return float(np.mean(far))


def as_channel(key: Ints, classes: Ints, table: Floats) -> float | None:
    """I(X';Y) in bits, were the class of a record drawn from its combination alone."""
    classes = np.unique(classes, return_inverse=True)[1]
    wide = int(classes.max(initial=0)) + 1
    if wide * table.shape[1] > MOST_CELLS:
        return None
    pairs, times = np.unique(key * wide + classes, return_counts=True)
    rows, places = np.divmod(pairs, wide)
    share = times / table.sum(axis=1)[rows]
    told = np.stack([np.bincount(places, share * column[rows], wide) for column in table.T], axis=1)
    weights = told.sum(axis=1)
    return mutual_information(weights / weights.sum(), told / weights[:, None]) / LN2


class Limits:
    """All releases of a comparison against the limit of each secret."""

    def __init__(self, known: OriginalInformation) -> None:
        self.known = known
        self.seen: dict[str, tuple[float, dict[str, float], float | None]] = {}
        self.channels: dict[tuple[str, str], float | None] = {}
        self.notes: list[Note] = []
        number = int(known.key.max(initial=0)) + 1
        self.space = None
        if number > MOST_COMBINATIONS:
            text = "{} of the quasi-identifiers are too many for a limit: fewer or coarser -q"
            self.notes.append(Note(text, Count(number, "combination")))
            return
        self.space = Space(known.key, known.columns)
        self.tables = {s: self._table(known.secrets[s]) for s in known.secrets}
        if self.space.merged:
            text = (
                "{} of the quasi-identifiers: for the limit the rare ones count as the nearest of "
                f"the {MOST_VALUES:,} most frequent; what is called least can be reached, but is "
                "not known to be the least"
            )
            self.notes.append(Note(text, Count(number, "combination")))

    def _table(self, secret: Ints) -> Floats | None:
        assert self.space is not None
        y = np.unique(secret, return_inverse=True)[1]
        wide, tall = int(y.max(initial=0)) + 1, self.space.readings
        if wide * tall > MOST_CELLS:
            return None
        counts = np.bincount(self.space.cells * wide + y, minlength=wide * tall)
        return counts.reshape(tall, wide).astype(np.float64)

    def see(self, name: str, release: Release, classes: Ints) -> None:
        """How far a release, its numbers cut as in the comparison, is from the original."""
        if self.space is None:
            return
        self.seen[name] = (*self.space.read(classes), spelled(release))
        for secret, table in self.tables.items():
            if table is not None and not self.space.merged:
                self.channels[name, secret] = as_channel(self.known.key, classes, table)

    def solved(
        self, releases: Mapping[str, Disclosed], seconds: float | None = None
    ) -> tuple[dict[str, LeastDisclosure], dict[str, dict[str, ReleaseDistance]]]:
        """The limit of each secret, and where each release is."""
        limits: dict[str, LeastDisclosure] = {}
        found: dict[str, dict[str, ReleaseDistance]] = {name: {} for name in releases}
        if self.space is None:
            return limits, found
        distances = self.space.distances()
        for secret, table in self.tables.items():
            if table is None:
                text = "{} has too many values for a limit: --bins makes them fewer"
                self.notes.append(Note(text, Name(secret)))
                continue
            left = SECONDS if seconds is None else min(SECONDS, seconds)
            began = time.monotonic()
            limit = limits[secret] = self._limit(table, distances, left)
            seconds = None if seconds is None else seconds - (time.monotonic() - began)
            for name, told in releases.items():
                found[name][secret] = self._placed(name, secret, told, limit)
            self._doubts(secret, limit, {name: found[name][secret] for name in releases})
        return limits, found

    def _limit(self, table: Floats, distances: Floats, seconds: float) -> LeastDisclosure:
        assert self.space is not None
        task = DistortionTask.from_table(Joint.of(table), distances)
        few = len(table) <= FEW
        own = np.linspace(task.nearest, task.farthest, POINTS if few else FEWER_POINTS)
        asked = {float(x) for x in own} | {far for far, *_ in self.seen.values()}
        steps = int(max(40, WORK // (table.size * len(table))))
        zero, reason = _perfect(task)
        points = curve(
            task.joint,
            distances,
            at=sorted(x for x in asked if x >= task.nearest),
            gap=GAP if few else NOTHING,
            most=steps,
            seconds=seconds,
        ).points
        told = task.joint.information
        return LeastDisclosure(self.space.combinations, len(table), told, points, zero, reason)

    def _placed(
        self, name: str, secret: str, told: Disclosed, limit: LeastDisclosure
    ) -> ReleaseDistance:
        far, columns, plain = self.seen[name]
        whole, channel = told.attribute[secret].whole, self.channels.get((name, secret))
        point = next((p for p in limit.points if p.at == far), None)
        least = bound = None
        if point is not None:
            least = point.objective if channel is None else min(point.objective, channel)
            if limit.perfect is not None and far >= limit.perfect:
                least = 0.0
            bound = None if limit.merged else min(point.bound, least)
        numbers = (far, whole.value, whole.corrected, channel, plain, least, bound)
        return ReleaseDistance(*numbers, columns)

    def _doubts(
        self, secret: str, limit: LeastDisclosure, placed: Mapping[str, ReleaseDistance]
    ) -> None:
        if not limit.reached:
            widest = max(p.gap for p in limit.points)
            text = f"the limit of {{}} is known within {widest:.2g} bits, not closer"
            self.notes.append(Note(text, Name(secret)))
        if self.known.told[None, secret].noisy:
            text = (
                "the limit of {} is that of the table as it stands, chance included: ratios speak "
                "of these records"
            )
            self.notes.append(Note(text, Name(secret)))
        for name, each in placed.items():
            if each.bound is not None and each.disclosed < each.bound - 1e-9:
                text = (
                    "{} tells less of {} than any release made from the key alone can tell in the "
                    "long run: by chance, or it was made with an eye on the secret"
                )
                self.notes.append(Note(text, Name(name), Name(secret)))


def _perfect(task: DistortionTask) -> tuple[float | None, str | None]:
    """The least distortion of a release that tells nothing, or why it is not known."""
    n, m = task.distortion.shape
    if n * m * task.joint.given.shape[1] > MOST_PROGRAMME:
        return None, "too many values for the linear programme"
    try:
        return perfect(task.joint, task.full).objective, None
    except UsageError as error:
        return None, str(error)
