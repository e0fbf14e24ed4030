"""From the sample to the population: the chapter's numbers, from counts and what was told of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from sievert import population as people
from sievert.arrays import Ints
from sievert.counts.cube import Cube, histogram, merge_cells, run_starts
from sievert.counts.weights import Weights
from sievert.errors import UsageError
from sievert.hierarchies import NUMBER
from sievert.notes import Count, Note

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sievert.counts.answers import Sizes

N_LARGEST, SHARE = 2, 85
PERCENT = 10


@dataclass(frozen=True)
class PopulationSettings:
    """What was said of the population, and where weights and households are."""

    size: int | None = None
    fraction: float | str | None = None
    table: Any = None
    weight: str | None = None
    household: str | None = None

    def __post_init__(self) -> None:
        given = [x is not None for x in (self.size, self.fraction, self.table)]
        if sum(given) > 1:
            raise UsageError(
                "--population-size, --fraction and --population say the same thing: one of them"
            )

    @property
    def any(self) -> bool:
        """Whether anything was said."""
        told = (self.size, self.fraction, self.table, self.weight, self.household)
        return any(x is not None for x in told)


def known(sample: Cube, population: Cube) -> people.Known:
    """How many people of a population table share each class of the sample, joined by texts."""
    columns = []
    inside = np.ones(len(population.counts), dtype=bool)
    for own, other, codes in zip(sample.values, population.values, population.codes, strict=True):
        place = {text: code for code, text in enumerate(own)}
        where = np.array([place.get(text, -1) for text in other], dtype=np.int64)
        held = where[codes.astype(np.int64)]
        inside &= held >= 0
        columns.append(held)
    both = [
        np.concatenate((own.astype(np.uint64), held[inside].astype(np.uint64)))
        for own, held in zip(sample.codes, columns, strict=True)
    ]
    # A digit for the sample's records and one for the population's: two sums in one pass each.
    k = len(sample.counts)
    first, f = merge_cells(both, sample.widths, _only(sample.counts, inside.sum(), True))
    _, big = merge_cells(both, sample.widths, _only(population.counts[inside], k, False))
    assert len(first) == len(f) == len(big)
    pairs, times = np.unique(np.stack((f, big)), axis=1, return_counts=True)
    beyond = histogram(population.counts[~inside])
    return people.Known.of(
        np.concatenate((pairs[0], np.zeros(len(beyond.sizes), dtype=np.int64))),
        np.concatenate((pairs[1], beyond.sizes)),
        np.concatenate((times, beyond.times)),
    )


def _only(counts: Ints, others: int, first: bool) -> Ints:
    """Counts beside zeros for the cells of the other table."""
    zeros = np.zeros(int(others), dtype=np.int64)
    return np.concatenate((counts, zeros) if first else (zeros, counts))


def of_sample(sizes: Sizes, size: int) -> dict[str, Any]:
    """Estimates from the histogram of class sizes and the size of the population."""
    found = {
        "population_uniques_zayatz": people.zayatz(sizes, size),
        "population_uniques_pitman": people.pitman(sizes, size),
        "population_uniques_snb": people.snb(sizes, size),
        "population_uniques_dankar": people.dankar(sizes, size),
        "unique_match": people.unique_match(sizes, size),
    }
    return {name: estimate.to_dict() for name, estimate in found.items()}


def of_known(pairs: people.Known, size: int) -> dict[str, Any]:
    """Counted, where a population table was given."""
    found = {
        "journalist": people.journalist(pairs),
        "marketer": people.marketer(pairs),
        "unique_match_known": people.known_unique_match(pairs),
        "truta_minimal": people.truta_minimal(pairs, size),
        "truta_maximal": people.truta_maximal(pairs, size),
    }
    return {name: estimate.to_dict() for name, estimate in found.items()}


def of_sample_alone(sizes: Sizes) -> dict[str, Any]:
    """Prosecutor; journalist and marketer as if nobody were outside the sample."""
    itself = people.Known.alone(sizes)
    return {
        "prosecutor": people.prosecutor(sizes).to_dict(),
        "journalist": people.journalist(itself).to_dict(),
        "marketer": people.marketer(itself).to_dict(),
    }


def of_weights(weights: Weights) -> tuple[dict[str, Any], NDArray[np.float64]]:
    """Individual and global risk, and the risk of a record of each class."""
    records, sums, times, which = weights.kinds()
    exact = np.array(sums, dtype=object)
    held = people.Weighted.of_classes(np.array(records), exact, times)
    risks = people.individual_risk(held)
    found = {
        "expected_reidentifications": people.expected_reidentifications(held).to_dict(),
        "global_risk": people.global_risk(held).to_dict(),
    }
    return found, risks[which]


def of_households(cells: Cube, risks: NDArray[np.float64]) -> tuple[dict[str, Any], list[Note]]:
    """Household risk from the cells of (class, household) and the risk of each class's records.

    A record without a household is a household of its own.
    """
    own = np.repeat(risks[cells.owner], cells.counts)
    house = np.repeat(cells.codes[-1].astype(np.int64), cells.counts)
    lacking = house == 0
    house[lacking] = -1 - np.arange(int(lacking.sum()))
    notes = []
    if lacking.any():
        notes.append(
            Note("{} without a household: each is one of its own", Count(int(lacking.sum())))
        )
    return {"household_risk": people.household_risk(own, house).to_dict()}, notes


# -- totals of a numeric secret -----------------------------------------------------------------


def numeric(texts: Sequence[str | None]) -> bool:
    """Whether all values are finite numbers."""
    known_ = [t for t in texts if t is not None]
    return bool(known_) and all(NUMBER.fullmatch(t) for t in known_)


def dominated(cube: Cube) -> dict[str, Any]:
    """In how many classes one or two people make up most of the total of a numeric secret.

    Far from the limits by floating point; near them, by exact fractions. Missing values contribute
    nothing; a class with a negative one has no rule.
    """
    texts = cube.values[-1]
    exact = [Fraction(0) if t is None else Fraction(t) for t in texts]
    values = np.array([float(x) for x in exact])
    known_ = cube.codes[-1] != 0
    order = np.lexsort((-values[cube.codes[-1]], cube.owner))
    order = order[known_[order]]
    held = values[cube.codes[-1][order]]
    counts, group = cube.counts[order], cube.owner[order]
    if not len(order):
        return _flags(0, 0, 0, 0)
    starts = run_starts(group)
    ends = np.append(starts[1:], len(group)) - 1
    total = np.add.reduceat(held * counts, starts)
    first = held[starts]
    after = np.where(starts < ends, held[np.minimum(starts + 1, len(held) - 1)], 0.0)
    second = np.where(counts[starts] > 1, first, after)
    negative = held[ends] < 0
    usable = ~negative & (total > 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        share = (first + second) / total * 100 - SHARE
        left = (total - first - second) / first * 100 - PERCENT
    flagged_n, flagged_p = usable & (share > 0), usable & (left < 0)
    for i in np.flatnonzero(usable & ((abs(share) < 1e-6) | (abs(left) < 1e-6))).tolist():
        cells = order[starts[i] : ends[i] + 1]
        times = zip(cube.codes[-1][cells].tolist(), cube.counts[cells].tolist(), strict=True)
        whole = [(exact[code], n) for code, n in times]
        top = [x for x, n in whole[:2] for _ in range(min(n, 2))][:2]
        sum_ = sum((x * n for x, n in whole), Fraction(0))
        flagged_n[i] = bool(people.dominance(top, N_LARGEST, SHARE, total=sum_).details["flagged"])
        flagged_p[i] = bool(people.p_percent(top, PERCENT, total=sum_).details["flagged"])
    return _flags(len(starts), int(negative.sum()), int(flagged_n.sum()), int(flagged_p.sum()))


def _flags(classes: int, negative: int, n_k: int, p: int) -> dict[str, Any]:
    return {
        "classes": classes,
        "classes_with_negative": negative,
        "dominance": {"n": N_LARGEST, "k": SHARE, "flagged": n_k},
        "p_percent": {"p": PERCENT, "flagged": p},
    }
