"""From the sample to the population: the numbers of the chapter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from sievert import population as people
from sievert.arrays import Floats
from sievert.counts.cube import Cube, histogram, merge_cells, run_starts
from sievert.counts.microdata import ClassWeights
from sievert.errors import UsageError
from sievert.hierarchies import NUMBER
from sievert.notes import Count, Note

if TYPE_CHECKING:
    from sievert.counts.answers import Sizes

N_LARGEST, SHARE = 2, 85
PERCENT = 10


@dataclass(frozen=True)
class PopulationSettings:
    """What the user states about the population, and the columns of weights and households."""

    size: int | None = None
    fraction: float | str | None = None
    table: Any = None
    weight: str | None = None
    household: str | None = None

    def __post_init__(self) -> None:
        if sum(x is not None for x in (self.size, self.fraction, self.table)) > 1:
            raise UsageError(
                "--population-size, --fraction and --population say the same thing: one of them"
            )

    @property
    def any(self) -> bool:
        """Whether anything is stated."""
        return any(
            x is not None
            for x in (self.size, self.fraction, self.table, self.weight, self.household)
        )


def match_population(sample: Cube, population: Cube) -> people.Known:
    """How many people of a population table share each class of the sample, joined by texts."""
    columns = []
    inside = np.ones(len(population.counts), dtype=bool)
    for own, other, codes in zip(sample.values, population.values, population.codes, strict=True):
        place = {text: code for code, text in enumerate(own)}
        where = np.array([place.get(text, -1) for text in other], dtype=np.int64)
        columns.append(where[codes.astype(np.int64)])
        inside &= columns[-1] >= 0
    both = [
        np.concatenate((own.astype(np.uint64), other[inside].astype(np.uint64)))
        for own, other in zip(sample.codes, columns, strict=True)
    ]
    # Each table's counts beside zeros for the cells of the other: two sums over the same cells.
    counts, inner = sample.counts, population.counts[inside]
    _, f = merge_cells(both, sample.widths, np.concatenate((counts, np.zeros_like(inner))))
    _, big = merge_cells(both, sample.widths, np.concatenate((np.zeros_like(counts), inner)))
    assert len(f) == len(big)
    pairs, times = np.unique(np.stack((f, big)), axis=1, return_counts=True)
    beyond = histogram(population.counts[~inside])
    return people.Known.of(
        np.concatenate((pairs[0], np.zeros(len(beyond.sizes), dtype=np.int64))),
        np.concatenate((pairs[1], beyond.sizes)),
        np.concatenate((times, beyond.times)),
    )


def sample_estimates(sizes: Sizes, size: int) -> dict[str, Any]:
    """Estimates from the histogram of class sizes and the size of the population."""
    return {
        "population_uniques_zayatz": people.zayatz(sizes, size).to_dict(),
        "population_uniques_pitman": people.pitman(sizes, size).to_dict(),
        "population_uniques_snb": people.snb(sizes, size).to_dict(),
        "population_uniques_dankar": people.dankar(sizes, size).to_dict(),
        "unique_match": people.unique_match(sizes, size).to_dict(),
    }


def population_counts(pairs: people.Known, size: int) -> dict[str, Any]:
    """Exact numbers, where a population table is given."""
    return {
        "journalist": people.journalist(pairs).to_dict(),
        "marketer": people.marketer(pairs).to_dict(),
        "unique_match_known": people.known_unique_match(pairs).to_dict(),
        "truta_minimal": people.truta_minimal(pairs, size).to_dict(),
        "truta_maximal": people.truta_maximal(pairs, size).to_dict(),
    }


def sample_as_population(sizes: Sizes) -> dict[str, Any]:
    """Prosecutor risk; journalist and marketer risk as if nobody were outside the sample."""
    itself = people.Known.alone(sizes)
    return {
        "prosecutor": people.prosecutor(sizes).to_dict(),
        "journalist": people.journalist(itself).to_dict(),
        "marketer": people.marketer(itself).to_dict(),
    }


def weighted_risks(weights: ClassWeights) -> tuple[dict[str, Any], Floats]:
    """Individual and global risk, and the risk of a record of each class."""
    records, sums, times, which = weights.kinds()
    exact = np.array(sums, dtype=object)
    classes = people.Weighted.of_classes(np.array(records), exact, times)
    return {
        "expected_reidentifications": people.expected_reidentifications(classes).to_dict(),
        "global_risk": people.global_risk(classes).to_dict(),
    }, people.individual_risk(classes)[which]


def household_risks(cells: Cube, risks: Floats) -> tuple[dict[str, Any], list[Note]]:
    """Household risk from the cells of (class, household) and the risk of each class's records.

    A record without a household is a household of its own.
    """
    own = np.repeat(risks[cells.owner], cells.counts)
    household = np.repeat(cells.codes[-1].astype(np.int64), cells.counts)
    lacking = household == 0
    number = int(lacking.sum())
    household[lacking] = -1 - np.arange(number)
    note = Note("{} without a household: each is one of its own", Count(number))
    chapter = {"household_risk": people.household_risk(own, household).to_dict()}
    return chapter, [note] if number else []


# -- totals of a numeric sensitive attribute ----------------------------------------------------


def numeric(texts: Sequence[str | None]) -> bool:
    """Whether all values are finite numbers."""
    present = [t for t in texts if t is not None]
    return bool(present) and all(NUMBER.fullmatch(t) for t in present)


def dominance_flags(cube: Cube) -> dict[str, Any]:
    """In how many classes one or two people make up most of a numeric sensitive total.

    Floating point decides far from the limits, exact fractions near them. Missing values contribute
    nothing; the rules do not apply to a class with a negative value.
    """
    texts = cube.values[-1]
    exact = [Fraction(0) if t is None else Fraction(t) for t in texts]
    values = np.array([float(x) for x in exact])
    present = cube.codes[-1] != 0
    order = np.lexsort((-values[cube.codes[-1]], cube.owner))
    order = order[present[order]]
    amounts = values[cube.codes[-1][order]]
    counts, group = cube.counts[order], cube.owner[order]
    if not len(order):
        return _flags(0, 0, 0, 0)
    starts = run_starts(group)
    ends = np.append(starts[1:], len(group)) - 1
    total = np.add.reduceat(amounts * counts, starts)
    first = amounts[starts]
    after = np.where(starts < ends, amounts[np.minimum(starts + 1, len(amounts) - 1)], 0.0)
    second = np.where(counts[starts] > 1, first, after)
    negative = amounts[ends] < 0
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
