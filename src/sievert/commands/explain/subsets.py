"""Subsets of the quasi-identifiers: what each gives away, and the curve of what is known.

Combinations are counted once by the engine; every subset is rolled up from them. Numbers of finding
a person are those of `measures`, to the last bit; those of a secret agree with them to 1e-12.
"""

from __future__ import annotations

import heapq
import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from sievert.arrays import Ints
from sievert.attacks.attack import with_target
from sievert.counts.answers import RecordCounts, Sizes
from sievert.counts.cube import Cube
from sievert.counts.record_pairs import select_cells
from sievert.lattice import Lattice, SubsetSummary
from sievert.measures import BY_ID, MeasureResult
from sievert.measures.measure import NOTHING_TO_LEARN, ONE_RECORD
from sievert.measures.target import RecordTarget

if TYPE_CHECKING:
    from sievert.counts.questions import Questions

Number = int | float
Numbers = Mapping[str, Number | None]

ABOUT_RECORDS = (
    "k_anonymity",
    "classes",
    "unique_records",
    "discrimination_rate",
    "mutual_information",
    "itpr",
    "itpr_unnormalized",
    "separation",
    "distinction",
)
ABOUT_SECRETS = (
    "discrimination_rate",
    "mutual_information",
    "itpr",
    "itpr_unnormalized",
    "l_diversity",
    "max_confidence",
)
RATES = ("discrimination_rate", "itpr", "itpr_unnormalized")  # undefined where H(X) = 0
ALL_SUBSETS = 12  # columns up to which all subsets are measured unless asked otherwise
MOST_SUBSETS = (1 << ALL_SUBSETS) - 1
WORK = 3 * 10**6  # cells times subsets from which compiled loops are worth their loading


@dataclass(frozen=True)
class Subset:
    """What somebody learns who knows these columns: about who it is, and about each secret."""

    columns: tuple[str, ...]
    reidentification: Numbers
    inference: Mapping[str, Numbers] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """As it stands in the JSON."""
        return {
            "columns": list(self.columns),
            "reidentification": dict(self.reidentification),
            "inference": {s: dict(numbers) for s, numbers in self.inference.items()},
        }


@dataclass(frozen=True)
class Counted:
    """The combinations of the quasi-identifiers, alone (`classes`) and with each secret."""

    quasi: tuple[str, ...]
    classes: Cube
    secrets: Mapping[str, Cube]

    @classmethod
    def of(cls, questions: Questions, quasi: Sequence[str], secrets: Sequence[str]) -> Counted:
        """Ask an engine: one pass over the records for each secret."""
        cubes = {s: _with_secret(questions, tuple(quasi), s) for s in secrets}
        finest = next(iter(cubes.values()), None)
        classes = questions.cube(quasi) if finest is None else finest.roll_up(quasi)
        return cls(tuple(quasi), classes, cubes)

    @property
    def records(self) -> int:
        """How many records there are."""
        return self.classes.records

    @cached_property
    def sizes(self) -> Sizes:
        """The histogram of the sizes of the classes."""
        return self.classes.sizes()

    def recoded(self, codes: Mapping[str, Ints]) -> Counted:
        """The same where the values of some columns are merged: `codes[column][old]` is new."""

        def merged(cube: Cube) -> Cube:
            held = list(cube.codes)
            for column, new in codes.items():
                at = cube.columns.index(column)
                held[at] = np.asarray(new)[held[at]]
            return Cube(cube.columns, tuple(held), cube.counts, cube.values)

        # Only classes that are merged are classes again.
        classes = merged(self.classes).roll_up(self.quasi)
        return Counted(self.quasi, classes, {s: merged(c) for s, c in self.secrets.items()})

    def without(self, column: str, code: int) -> Counted:
        """The same without the records that have one value."""

        def kept(cube: Cube) -> Cube:
            return select_cells(cube, cube.codes[cube.columns.index(column)] != code)

        secrets = {s: kept(c) for s, c in self.secrets.items()}
        return Counted(self.quasi, kept(self.classes), secrets)

    def measured(self) -> Subset:
        """What all columns together give away."""
        return Subsets(self, threads=1, expected=1).whole


def named_apart(column: str) -> str:
    """What the last column of a cube with a secret is called: a secret may be known as well."""
    return f"{column}\0"


def _with_secret(questions: Questions, quasi: tuple[str, ...], secret: str) -> Cube:
    if secret in quasi:
        cube = with_target(questions.cube(quasi), secret)
    else:
        cube = questions.cube((*quasi, secret))
    return replace(cube, columns=(*quasi, named_apart(secret)))


class Subsets:
    """The subsets measured so far, by their columns in the order they were given."""

    def __init__(self, counted: Counted, threads: int = 2, expected: int = MOST_SUBSETS) -> None:
        self.counted, self.quasi, self.records = counted, counted.quasi, counted.records
        cubes: dict[str | None, Cube] = {s: c for s, c in counted.secrets.items()}  # noqa: C416
        cubes = cubes or {None: counted.classes}
        cells = sum(len(cube.counts) for cube in cubes.values())
        subsets = min(expected, (1 << len(self.quasi)) - 1)
        fast = None if cells * subsets >= WORK else False
        self._lattices = {
            s: Lattice(cube, None if s is None else named_apart(s), threads, compiled=fast)
            for s, cube in cubes.items()
        }
        self.found: dict[tuple[str, ...], Subset] = {(): self._nothing()}

    @property
    def whole(self) -> Subset:
        """Everything known."""
        return self.one(self.quasi)

    @property
    def listed(self) -> list[Subset]:
        """The subsets measured so far but the empty one, small ones first."""
        place = {c: i for i, c in enumerate(self.quasi)}
        found = (s for s in self.found.values() if s.columns)
        return sorted(found, key=lambda s: (len(s.columns), [place[c] for c in s.columns]))

    def key(self, columns: Iterable[str]) -> tuple[str, ...]:
        """Columns in the order they were given."""
        wanted = set(columns)
        return tuple(c for c in self.quasi if c in wanted)

    def one(self, columns: Iterable[str]) -> Subset:
        """One subset."""
        key = self.key(columns)
        self.some([key])
        return self.found[key]

    def all(self) -> None:
        """Measure every subset."""
        rolled = {s: lattice.all() for s, lattice in self._lattices.items()}
        for columns in next(iter(rolled.values())):
            self._take({s: found[columns] for s, found in rolled.items()})

    def some(self, subsets: Iterable[Iterable[str]]) -> None:
        """Measure these subsets, if they have not been."""
        wanted = list(dict.fromkeys(self.key(s) for s in subsets))
        wanted = [s for s in wanted if s not in self.found]
        each = [lattice.some(wanted) for lattice in self._lattices.values()]
        for rolled in zip(*each, strict=True):
            self._take(dict(zip(self._lattices, rolled, strict=True)))

    def up_to(self, size: int) -> None:
        """Measure every subset of at most so many columns."""
        for n in range(1, min(size, len(self.quasi)) + 1):
            self.some(itertools.combinations(self.quasi, n))

    def best_first(self, budget: int) -> None:
        """Measure so many subsets: where few columns give away most, one column more is tried.

        "Most" is the largest discrimination rate per column, of finding a person or of a secret.
        """
        waiting: list[tuple[float, tuple[int, ...]]] = []
        for columns in itertools.islice(self._grown(()), budget):
            heapq.heappush(waiting, self._promise(columns))
        while waiting and len(self.found) - 1 < budget:
            _, places = heapq.heappop(waiting)
            for columns in self._grown(tuple(self.quasi[p] for p in places)):
                if len(self.found) - 1 >= budget:
                    break
                heapq.heappush(waiting, self._promise(columns))

    def _grown(self, columns: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
        """Subsets with one column more that have not been measured; measured on the way."""
        for column in self.quasi:
            key = self.key((*columns, column))
            if key not in self.found:
                self.some([key])
                yield key

    def _promise(self, columns: tuple[str, ...]) -> tuple[float, tuple[int, ...]]:
        subset = self.found[columns]
        chapters = (subset.reidentification, *subset.inference.values())
        rates = [c["discrimination_rate"] or 0.0 for c in chapters]
        return -max(rates) / len(columns), tuple(self.quasi.index(c) for c in columns)

    # -- from counts to numbers -----------------------------------------------------------------

    def _nothing(self) -> Subset:
        n = self.records
        everybody = Sizes.from_arrays([n], [1])
        rolled: dict[str | None, SubsetSummary] = {}
        for s, lattice in self._lattices.items():
            if s is None:
                rolled[s] = SubsetSummary((), everybody)
                continue
            totals = self.counted.secrets[s].totals(-1)
            left = n * lattice.prior
            rolled[s] = SubsetSummary(
                (), everybody, left, left, int((totals > 0).sum()), (int(totals.max()), n), 0.0
            )
        return self._measured(rolled)

    def _take(self, rolled: Mapping[str | None, SubsetSummary]) -> None:
        subset = self._measured(rolled)
        self.found[subset.columns] = subset

    def _measured(self, rolled: Mapping[str | None, SubsetSummary]) -> Subset:
        first = next(iter(rolled.values()))
        return Subset(
            first.columns,
            about_records(first.sizes, self.records),
            {
                s: about_secret(found, self.records, self._lattices[s].prior)
                for s, found in rolled.items()
                if s is not None
            },
        )


def about_records(sizes: Sizes, records: int) -> dict[str, Number | None]:
    """The measures of finding a person, and the number of unique records.

    >>> about_records(Sizes.from_arrays([1, 3], [1, 1]), 4)["unique_count"]
    1
    """
    target = RecordTarget(RecordCounts(records, sizes))
    found: dict[str, Number | None] = {}
    for name in ABOUT_RECORDS:
        value = BY_ID[name].compute(target, {})
        found[name] = value.value if isinstance(value, MeasureResult) else value
    found["unique_count"] = int(sizes.times[0]) if sizes.least == 1 else 0
    return found


def about_secret(rolled: SubsetSummary, records: int, prior: float) -> dict[str, Number | None]:
    """The measures of one secret, H(S) = `prior` bits, from what a subset leaves of it."""
    top, bottom = rolled.most
    found: dict[str, Number | None] = dict.fromkeys(RATES)
    found |= {
        "mutual_information": 0.0,
        "l_diversity": rolled.fewest,
        "max_confidence": top / bottom,
    }
    if prior == 0.0:
        return found
    classes = rolled.sizes.things
    gained = rolled.dependence
    if gained is None:
        gained = prior if rolled.left == 0.0 else max(0.0, prior - rolled.left / records)
    found["mutual_information"] = gained
    found["discrimination_rate"] = min(1.0, gained / prior)
    least = rolled.least / records / prior
    found["itpr_unnormalized"] = 0.0 if classes == 1 else min(1.0, max(0.0, 1.0 - least))
    if gained == 0.0:  # every class is as the table: a ratio of counts
        found["itpr"] = float(1 - Fraction(classes * rolled.sizes.least, records))
    else:
        found["itpr"] = min(1.0, max(0.0, 1.0 - classes * least))
    return found


def undefined(nothing: Subset) -> dict[str, str]:
    """Which numbers no subset has, and why: `reidentification.itpr`, `inference.NAME.itpr`."""
    why = dict.fromkeys(RATES, NOTHING_TO_LEARN) | {"separation": ONE_RECORD}
    chapters = [("reidentification", nothing.reidentification)]
    chapters += [(f"inference.{s}", numbers) for s, numbers in nothing.inference.items()]
    return {
        f"{chapter}.{name}": why[name]
        for chapter, numbers in chapters
        for name, value in numbers.items()
        if value is None
    }


# -- how much is known --------------------------------------------------------------------------

CURVE = {
    None: (
        "k_anonymity",
        "unique_records",
        "unique_count",
        "discrimination_rate",
        "itpr",
        "itpr_unnormalized",
        "separation",
        "distinction",
    ),
    "secret": ABOUT_SECRETS,
}
NOT_ALL = "not all subsets of this size were measured"


def knowledge(
    subsets: Subsets, sampled: Mapping[int, Sequence[tuple[str, ...]]] | None = None
) -> dict[str, Any]:
    """Risk by the number of columns that are known: least, mean and most over the subsets.

    Where not all subsets of a size were measured, least and most are over those that were, and the
    mean is over those `sampled` with equal chances; without any it is missing.
    """
    by_size: dict[int, list[Subset]] = {}
    for subset in subsets.found.values():
        by_size.setdefault(len(subset.columns), []).append(subset)
    chosen = {}
    for size, drawn in (sampled or {}).items():
        chosen[size] = [subsets.found[key] for key in drawn]
    points = []
    for size in range(len(subsets.quasi) + 1):
        held = by_size.get(size, [])
        of = math.comb(len(subsets.quasi), size)
        complete = len(held) == of
        mean = held if complete else chosen.get(size, [])
        point: dict[str, Any] = {"known": size, "subsets": len(held), "of": of}
        point["reason"] = None if complete else NOT_ALL
        point["reidentification"] = {
            name: _spread(
                [s.reidentification[name] for s in held], [s.reidentification[name] for s in mean]
            )
            for name in CURVE[None]
        }
        point["inference"] = {
            secret: {
                name: _spread(
                    [s.inference[secret][name] for s in held],
                    [s.inference[secret][name] for s in mean],
                )
                for name in CURVE["secret"]
            }
            for secret in subsets.counted.secrets
        }
        points.append(point)
    return {"points": points, "complete": all(p["reason"] is None for p in points)}


def _spread(held: list[Number | None], mean: list[Number | None]) -> dict[str, Number | None]:
    known = [x for x in held if x is not None]
    average = [x for x in mean if x is not None]
    return {
        "min": min(known, default=None),
        "mean": math.fsum(average) / len(average) if average else None,
        "max": max(known, default=None),
    }


def largest_size(columns: int, most: int = MOST_SUBSETS) -> int:
    """Up to which size subsets are measured where there are too many to measure all.

    >>> [largest_size(n) for n in (12, 13, 20, 100)]
    [12, 6, 3, 1]
    """
    if columns <= ALL_SUBSETS:
        return columns
    sizes = itertools.accumulate(math.comb(columns, s) for s in range(1, columns + 1))
    return max(1, sum(1 for number in sizes if number <= most))
