"""From the sample to the population: the numbers of the chapter."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from sievert import population as people
from sievert.arrays import Floats
from sievert.commands._combinations import CombinationCounts
from sievert.commands._common import check_known
from sievert.counts.cube import Cube, histogram, merge_cells, run_starts
from sievert.counts.microdata import ClassWeights, class_weights
from sievert.counts.questions import Questions
from sievert.errors import require
from sievert.formatting import plural
from sievert.hierarchies import NUMBER
from sievert.session import open_source

LARGE = 20_000  # records from which plain columns are counted from packed keys
N_LARGEST, SHARE = 2, 85
PERCENT = 10
ESTIMATES = {  # from the class sizes of the sample and the size of the population
    "population_uniques_zayatz": people.zayatz,
    "population_uniques_pitman": people.pitman,
    "population_uniques_snb": people.snb,
    "population_uniques_dankar": people.dankar,
    "unique_match": people.unique_match,
}


@dataclass(frozen=True)
class PopulationSettings:
    """What the user states about the population, and the columns of weights and households."""

    size: int | None = None
    fraction: float | str | None = None
    table: Any = None
    weight: str | None = None
    household: str | None = None

    def __post_init__(self) -> None:
        require(
            sum(x is not None for x in (self.size, self.fraction, self.table)) <= 1,
            "--population-size, --fraction and --population say the same thing: one of them",
        )

    @property
    def any(self) -> bool:
        """Whether anything is stated."""
        return any(x is not None for x in vars(self).values())


def describe_population(
    questions: Questions,
    combinations: CombinationCounts,
    stated: PopulationSettings,
    source: Mapping[str, Any],
) -> tuple[dict[str, Any], dict[str, Floats], list[str]]:
    """The chapter of the population, the risk of each class by its weights, and notes."""
    sizes, records, quasi = combinations.sizes, combinations.records, combinations.quasi
    itself = people.Known.alone(sizes)  # as if nobody were outside the sample
    chapter: dict[str, Any] = {
        "sample": records,
        "prosecutor": people.prosecutor(sizes).to_dict(),
        "journalist": people.journalist(itself).to_dict(),
        "marketer": people.marketer(itself).to_dict(),
    }
    risks: dict[str, Floats] = {}
    notes: list[str] = []
    size = None
    if stated.size is not None or stated.fraction is not None:
        size = people.population_size(records, size=stated.size, fraction=stated.fraction)
    if stated.table is not None:
        size, numbers = _population_table(combinations, stated.table, source)
        chapter |= numbers
    if size is not None:
        chapter |= {"size": size, "fraction": records / size}
        chapter |= {name: f(sizes, size).to_dict() for name, f in ESTIMATES.items()}
    if stated.weight is not None:
        numbers, risks["individual_risk"] = weighted_risks(
            class_weights(questions, quasi, stated.weight)
        )
        chapter |= numbers
    if stated.household is not None:
        require(
            stated.household not in quasi,
            f"column {stated.household!r} is a quasi-identifier and cannot be the household",
        )
        numbers, notes = household_risks(
            questions.cube((*quasi, stated.household)),
            risks["individual_risk"] if risks else 1.0 / combinations.classes.counts,
        )
        chapter |= numbers
    chapter["totals"] = {
        secret: dominance_flags(cube)
        for secret, cube in combinations.secrets.items()
        if questions.engine.kind(secret) in ("float", "ordered") and _numeric(cube.values[-1])
    }
    return chapter, risks, notes


def _population_table(
    combinations: CombinationCounts, table: Any, source: Mapping[str, Any]
) -> tuple[int, dict[str, Any]]:
    """The size of a population that is given as a table, and exact numbers."""
    quasi = combinations.quasi
    options = {k: v for k, v in source.items() if k not in ("engine", "master", "timeout")}
    options["types"] = {c: t for c, t in (source.get("types") or {}).items() if c in quasi}
    with open_source(table, large=LARGE, **options) as (_, questions):
        for column in quasi:
            check_known("population: column", column, questions.columns)
            questions.engine.check_usable(column)
        cube = questions.cube(quasi)
    pairs, size = match_population(combinations.classes, cube), cube.records
    return size, {
        "journalist": people.journalist(pairs).to_dict(),
        "marketer": people.marketer(pairs).to_dict(),
        "unique_match_known": people.known_unique_match(pairs).to_dict(),
        "truta_minimal": people.truta_minimal(pairs, size).to_dict(),
        "truta_maximal": people.truta_maximal(pairs, size).to_dict(),
    }


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


def weighted_risks(weights: ClassWeights) -> tuple[dict[str, Any], Floats]:
    """Individual and global risk, and the risk of a record of each class."""
    records, sums, times, which = weights.kinds()
    classes = people.Weighted.of_classes(np.array(records), np.array(sums, dtype=object), times)
    return {
        "expected_reidentifications": people.expected_reidentifications(classes).to_dict(),
        "global_risk": people.global_risk(classes).to_dict(),
    }, people.individual_risk(classes)[which]


def household_risks(cells: Cube, risks: Floats) -> tuple[dict[str, Any], list[str]]:
    """Household risk from the cells of (class, household) and the risk of each class's records.

    A record without a household is a household of its own.
    """
    own = np.repeat(risks[cells.owner], cells.counts)
    household = np.repeat(cells.codes[-1].astype(np.int64), cells.counts)
    number = int((household == 0).sum())
    household[household == 0] = -1 - np.arange(number)
    note = f"{plural(number, 'record')} without a household: each is one of its own"
    chapter = {"household_risk": people.household_risk(own, household).to_dict()}
    return chapter, [note] if number else []


# -- totals of a numeric sensitive attribute ----------------------------------------------------


def _numeric(texts: Sequence[str | None]) -> bool:
    """Whether all values are finite numbers."""
    present = [t for t in texts if t is not None]
    return bool(present) and all(NUMBER.fullmatch(t) for t in present)


def dominance_flags(cube: Cube) -> dict[str, Any]:
    """In how many classes one or two people make up most of a numeric sensitive total.

    Floating point decides far from the limits, exact fractions near them. Missing values contribute
    nothing; the rules do not apply to a class with a negative value.
    """
    exact = [Fraction(0) if t is None else Fraction(t) for t in cube.values[-1]]
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
