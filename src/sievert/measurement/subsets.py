"""Subsets of the quasi-identifiers: what each discloses, and the curve by number of known columns.

The engine counts the combinations once; every subset is rolled up from them. The measures of
re-identification equal those of `measures` to the last bit; the measures of a sensitive attribute
agree to 1e-12.
"""

import heapq
import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from sievert.counts.answers import PeopleCounts, RecordCounts, Sizes
from sievert.lattice import Lattice, SubsetSummary, no_pace
from sievert.lattice.people import PeopleLattice
from sievert.measurement.combinations import CombinationCounts
from sievert.measures import BY_ID, MeasureResult
from sievert.measures.measure import NOTHING_TO_LEARN, ONE_RECORD, Number
from sievert.measures.target import record_target

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
CURVE_ABOUT_RECORDS = (
    "k_anonymity",
    "unique_records",
    "unique_count",
    "discrimination_rate",
    "itpr",
    "itpr_unnormalized",
    "separation",
    "distinction",
)
RATES = ("discrimination_rate", "itpr", "itpr_unnormalized")  # undefined where H(X) = 0
ALL_SUBSETS = 12  # columns up to which all subsets are measured, unless the caller limits them
MOST_SUBSETS = (1 << ALL_SUBSETS) - 1
NOT_ALL = "not all subsets of this size were measured"


@dataclass(frozen=True)
class Subset:
    """What an attacker who knows these columns learns about identity and each sensitive value."""

    columns: tuple[str, ...]
    reidentification: Numbers
    inference: Mapping[str, Numbers] = field(default_factory=dict)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "Subset":
        """Read an entry of the JSON."""
        return cls(
            columns=tuple(data["columns"]),
            reidentification=data["reidentification"],
            inference=data["inference"],
        )

    def numbers(self, secret: str | None) -> Numbers:
        """The measures of one sensitive attribute, or of re-identification if `secret` is None."""
        return self.reidentification if secret is None else self.inference[secret]

    def to_dict(self) -> dict[str, Any]:
        """The entry of the JSON."""
        return {
            "columns": list(self.columns),
            "reidentification": dict(self.reidentification),
            "inference": {s: dict(numbers) for s, numbers in self.inference.items()},
        }


class Subsets:
    """The subsets measured so far: `results` by columns, which are in the order of `quasi`."""

    def __init__(
        self, combinations: CombinationCounts, threads: int = 2, expected: int = MOST_SUBSETS
    ) -> None:
        self.combinations = combinations
        self.quasi = combinations.quasi
        self._lattices = combinations.lattices(threads, expected)
        self.results: dict[tuple[str, ...], Subset] = {}
        self.pace: Callable[[], None] = no_pace  # called at each subset; may raise
        self._record({s: self._nothing_known(s) for s in self._lattices})

    @property
    def whole(self) -> Subset:
        """All columns known."""
        return self.one(self.quasi)

    @property
    def nonempty(self) -> list[Subset]:
        """The subsets measured so far, except the empty one, small ones first."""
        place = {c: i for i, c in enumerate(self.quasi)}
        return sorted(
            (s for s in self.results.values() if s.columns),
            key=lambda s: (len(s.columns), [place[c] for c in s.columns]),
        )

    def key(self, columns: Iterable[str]) -> tuple[str, ...]:
        """The columns in the order of the quasi-identifiers."""
        wanted = set(columns)
        return tuple(c for c in self.quasi if c in wanted)

    def one(self, columns: Iterable[str]) -> Subset:
        """One subset."""
        key = self.key(columns)
        self.some([key])
        return self.results[key]

    def all(self) -> None:
        """Measure every subset."""
        rolled = {s: lattice.all(self.pace) for s, lattice in self._lattices.items()}
        for columns in next(iter(rolled.values())):
            self._record({s: by_columns[columns] for s, by_columns in rolled.items()})

    def some(self, subsets: Iterable[Iterable[str]]) -> None:
        """Measure the subsets among these that have not been measured."""
        wanted = [
            key for key in dict.fromkeys(self.key(s) for s in subsets) if key not in self.results
        ]
        for rolled in zip(*(x.some(wanted) for x in self._lattices.values()), strict=True):
            self.pace()
            self._record(dict(zip(self._lattices, rolled, strict=True)))

    def up_to(self, size: int) -> None:
        """Measure every subset of at most `size` columns."""
        sizes = range(1, min(size, len(self.quasi)) + 1)
        self.some(c for n in sizes for c in itertools.combinations(self.quasi, n))

    def best_first(self, budget: int) -> None:
        """Measure `budget` subsets: one more column is tried where few columns disclose most.

        "Most" is the largest discrimination rate per column, of re-identification or inference.
        """
        waiting = [self._priority(c) for c in itertools.islice(self._supersets(()), budget)]
        heapq.heapify(waiting)
        while waiting and len(self.results) <= budget:
            _, places = heapq.heappop(waiting)
            for columns in itertools.islice(
                self._supersets(tuple(self.quasi[p] for p in places)),
                budget + 1 - len(self.results),
            ):
                heapq.heappush(waiting, self._priority(columns))

    def _supersets(self, columns: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
        """Measure and yield the subsets with one column more that have not been measured."""
        for column in self.quasi:
            key = self.key((*columns, column))
            if key not in self.results:
                self.some([key])
                yield key

    def _priority(self, columns: tuple[str, ...]) -> tuple[float, tuple[int, ...]]:
        subset = self.results[columns]
        chapters = (subset.reidentification, *subset.inference.values())
        best = max(c["discrimination_rate"] or 0.0 for c in chapters)
        return -best / len(columns), tuple(self.quasi.index(c) for c in columns)

    # -- from counts to numbers -----------------------------------------------------------------

    def _nothing_known(self, secret: str | None) -> SubsetSummary:
        n = self.combinations.records
        lattice = self._lattices[secret]
        if isinstance(lattice, PeopleLattice):
            return next(lattice.some([()]))
        everybody = Sizes.from_arrays([n], [1])
        if secret is None:
            return SubsetSummary(columns=(), sizes=everybody)
        totals = self.combinations.secrets[secret].totals(-1)
        left = n * lattice.prior
        most = (int(totals.max()), n)
        return SubsetSummary(
            columns=(),
            sizes=everybody,
            left=left,
            least=left,
            fewest=int((totals > 0).sum()),
            most=most,
            dependence=0.0,
        )

    def _record(self, rolled: Mapping[str | None, SubsetSummary]) -> None:
        first = next(iter(rolled.values()))
        records = self.combinations.records
        self.results[first.columns] = Subset(
            first.columns,
            about_records(first.sizes, first.records or records, first.people),
            {
                s: about_secret(counts, counts.records or records, self._prior(s, counts))
                for s, counts in rolled.items()
                if s is not None
            },
        )

    def _prior(self, secret: str, rolled: SubsetSummary) -> float:
        lattice = self._lattices[secret]
        return lattice.prior if isinstance(lattice, Lattice) else rolled.prior or 0.0


def about_records(
    sizes: Sizes, records: int, people: PeopleCounts | None = None
) -> dict[str, Number | None]:
    """The measures of re-identification, and the number of unique records.

    >>> about_records(Sizes.from_arrays([1, 3], [1, 1]), 4)["unique_count"]
    1
    """
    target = record_target(RecordCounts(records=records, sizes=sizes, people=people))
    values = {name: BY_ID[name].compute(target, {}) for name in ABOUT_RECORDS}
    numbers = {name: v.value if isinstance(v, MeasureResult) else v for name, v in values.items()}
    return numbers | {"unique_count": target.below(2)}


def about_secret(rolled: SubsetSummary, records: int, prior: float) -> dict[str, Number | None]:
    """The measures of a sensitive attribute S with H(S) = `prior` bits, given a subset."""
    top, bottom = rolled.most
    numbers: dict[str, Number | None] = {
        **dict.fromkeys(RATES),
        "mutual_information": 0.0,
        "l_diversity": rolled.fewest,
        "max_confidence": top / bottom,
    }
    if prior == 0.0:
        return numbers
    classes = rolled.sizes.things
    information = rolled.dependence
    if information is None:
        information = prior if rolled.left == 0.0 else max(0.0, prior - rolled.left / records)
    least = rolled.least / records / prior
    itpr = min(1.0, max(0.0, 1.0 - classes * least))
    if information == 0.0:  # every class is distributed as the table: a ratio of counts
        itpr = float(1 - Fraction(classes * rolled.sizes.least, records))
    return numbers | {
        "mutual_information": information,
        "discrimination_rate": min(1.0, information / prior),
        "itpr_unnormalized": 0.0 if classes == 1 else min(1.0, max(0.0, 1.0 - least)),
        "itpr": itpr,
    }


def undefined_reasons(nothing: Subset) -> dict[str, str]:
    """The numbers that no subset has, and why: `reidentification.itpr`, `inference.NAME.itpr`."""
    reasons = dict.fromkeys(RATES, NOTHING_TO_LEARN) | {"separation": ONE_RECORD}
    chapters = {"reidentification": nothing.reidentification} | {
        f"inference.{s}": numbers for s, numbers in nothing.inference.items()
    }
    return {
        f"{chapter}.{name}": reasons[name]
        for chapter, numbers in chapters.items()
        for name, value in numbers.items()
        if value is None
    }


def measure_whole(combinations: CombinationCounts) -> Subset:
    """Measure what all columns together disclose."""
    return Subsets(combinations, threads=1, expected=1).whole


# -- the curve by number of known columns -------------------------------------------------------


def knowledge(subsets: Subsets, sampled: Mapping[int, Sequence[tuple[str, ...]]]) -> dict[str, Any]:
    """The risk by the number of known columns: minimum, mean and maximum over the subsets.

    If not all subsets of a size were measured, minimum and maximum are over the measured ones. The
    mean is over the subsets `sampled` with equal chances; it is missing if there are none.
    """
    points = []
    for size in range(len(subsets.quasi) + 1):
        measured = [s for s in subsets.results.values() if len(s.columns) == size]
        number = math.comb(len(subsets.quasi), size)
        complete = len(measured) == number
        averaged = measured if complete else [subsets.results[k] for k in sampled.get(size, ())]
        points.append(
            {
                "known": size,
                "subsets": len(measured),
                "of": number,
                "reason": None if complete else NOT_ALL,
                "reidentification": _ranges(measured, averaged, None, CURVE_ABOUT_RECORDS),
                "inference": {
                    secret: _ranges(measured, averaged, secret, ABOUT_SECRETS)
                    for secret in subsets.combinations.secrets
                },
            }
        )
    complete = all(p["reason"] is None for p in points)
    return {"points": points, "complete": complete, "path": _path(subsets)}


def _path(subsets: Subsets) -> list[dict[str, Any]]:
    """The steps of knowing one more column: each adds the column that makes most people unique.

    Among equal columns it is the one with the higher discrimination rate. The path ends when no set
    with one more column was measured.
    """
    by_columns = {frozenset(s.columns): s for s in subsets.results.values()}
    known: frozenset[str] = frozenset()
    path: list[dict[str, Any]] = []
    while True:
        others = [c for c in subsets.quasi if c not in known and known | {c} in by_columns]
        if not others:
            return path
        exposures = {c: exposure(by_columns[known | {c}]) for c in others}
        column = max(others, key=exposures.__getitem__)
        known |= {column}
        numbers = by_columns[known].reidentification
        path.append(
            {"column": column} | {n: numbers[n] for n in ("unique_count", "unique_records")}
        )


def exposure(subset: Subset) -> tuple[float, float]:
    """The number of people whom these columns make unique, then the discrimination rate."""
    numbers = subset.reidentification
    return numbers["unique_count"] or 0, numbers["discrimination_rate"] or 0.0


def _ranges(
    measured: list[Subset], averaged: list[Subset], secret: str | None, names: Sequence[str]
) -> dict[str, dict[str, Number | None]]:
    def values(subsets: list[Subset], name: str) -> list[Number]:
        numbers = [subset.numbers(secret)[name] for subset in subsets]
        return [number for number in numbers if number is not None]

    ranges: dict[str, dict[str, Number | None]] = {}
    for name in names:
        numbers = values(measured, name)
        average = values(averaged, name)
        ranges[name] = {
            "min": min(numbers, default=None),
            "mean": math.fsum(average) / len(average) if average else None,
            "max": max(numbers, default=None),
        }
    return ranges


def largest_size(columns: int, most: int = MOST_SUBSETS) -> int:
    """The size up to which subsets are measured if there are too many to measure all.

    >>> [largest_size(n) for n in (12, 13, 20, 100)]
    [12, 6, 3, 1]
    """
    if (1 << columns) - 1 <= most:
        return columns
    sizes = itertools.accumulate(math.comb(columns, s) for s in range(1, columns + 1))
    return max(1, sum(1 for number in sizes if number <= most))
