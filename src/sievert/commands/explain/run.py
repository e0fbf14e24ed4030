"""The steps of an explanation: each takes the counts of the table and returns its chapters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sievert import files
from sievert.arrays import Floats
from sievert.commands._common import Clock, Notes, check_known
from sievert.commands.explain import columns as column_shares
from sievert.commands.explain import population, riskiest_records, values
from sievert.commands.explain.combinations import (
    CombinationCounts,
    PeopleCombinations,
    count_combinations,
)
from sievert.commands.explain.subsets import (
    Subset,
    Subsets,
    knowledge,
    largest_size,
    undefined_reasons,
)
from sievert.counts import microdata
from sievert.counts.questions import Questions
from sievert.errors import SievertError, require
from sievert.formatting import plural
from sievert.measures import BY_ID
from sievert.measures.measure import NOTHING_TO_LEARN
from sievert.notes import Count, Name
from sievert.roles import Roles
from sievert.session import count_people

MOST_LISTED = 60  # columns of a ranking
ORDERS = 64  # orders of columns from which Shapley values are sampled
MOST_SAMPLED = 4096  # subsets that are measured for it, unless more orders are given
IDENTIFYING = 0.95  # a column with so many values per record identifies by itself
UNITS = {"unique_count": ("records", "high")}


@dataclass(frozen=True)
class ExplanationSettings:
    """Which subsets are measured, what is known about the population, and what may be shown."""

    max_size: int | None
    budget: int | None
    orders: int | None
    seed: int
    threads: int
    show_values: bool
    hierarchies: Mapping[str, Any]
    population: population.PopulationSettings

    def __post_init__(self) -> None:
        require(
            self.max_size is None or self.budget is None,
            "--max-size and --budget exclude each other",
        )
        for name, number, least in (
            ("--max-size", self.max_size, 1),
            ("--budget", self.budget, 1),
            ("--orders", self.orders, 4),
            ("--seed", self.seed, 0),
        ):
            require(number is None or number >= least, f"{name} must be at least {least}")


@dataclass(frozen=True)
class ExplanationRun:
    """What every step needs: the engine, the roles, the settings; `warnings` grows."""

    questions: Questions
    roles: Roles
    settings: ExplanationSettings
    clock: Clock
    warnings: Notes


def in_people(questions: Questions, person: str, settings: ExplanationSettings) -> Questions:
    """The table counted in people; of several rows no population is estimated."""
    people = count_people(questions, person)
    several = people.people < questions.records
    require(
        not several or not settings.population.any,
        "a population is not estimated from people with several rows",
        hint="without the options of the population",
    )
    return people if several else questions


def explain_risk(
    run: ExplanationRun, source: Mapping[str, Any], records: Any, target: Path | None
) -> tuple[tuple[Subset, ...], dict[str, Any]]:
    """The subsets and the chapters of the quasi-identifiers; writes the record file if wanted."""
    combinations = _count(run)
    subsets, chapters = _measure(run, combinations)
    chapters |= _coarser_columns(run, combinations, subsets)
    run.clock("looking at values", None)
    show = run.settings.show_values
    tallies = [values.tally_column(combinations, at) for at in range(len(run.roles.quasi))]
    chapters["values"] = {
        "columns": [values.riskiest_values(tally, show) for tally in tallies],
        "rare": values.rare_values(combinations, tallies, subsets.whole, show),
        "lookalikes": values.lookalikes(combinations, tallies, subsets.whole, show),
    }
    classes, risks, scores = combinations.classes, dict[str, Floats](), None
    if isinstance(combinations, PeopleCombinations):
        chapters["population"] = {"sample": run.questions.people, "totals": {}}
        run.warnings.add("people with several rows: no population is estimated, no SUDA scores")
    else:
        run.clock("estimating the population", run.questions)
        chapters["population"], risks, notes = population.describe_population(
            run.questions, combinations, run.settings.population, source
        )
        run.warnings.extend(notes)
        run.clock("searching minimal uniques", None)
        fraction = chapters["population"].get("fraction")
        scores = riskiest_records.score_classes(classes, run.settings.max_size, fraction)
        if scores is not None:
            chapters["suda"] = scores.to_dict(classes, show)
        else:
            run.warnings.add("too many quasi-identifiers to search minimal uniques")
    run.clock("pointing at records", run.questions)
    chapters["records"] = riskiest_records.riskiest_records(run.questions, classes, scores)
    if target is not None:
        run.clock("writing records", run.questions)
        people = run.questions.people
        columns = riskiest_records.record_columns(classes, scores, risks, people)
        with files.name_output(records):
            microdata.write_row_marks(
                run.questions, classes, columns, target, files.record_format(records)
            )
    if not run.roles.sensitive:
        in_rows = not isinstance(combinations, PeopleCombinations)
        chapters["ranking"] = rank(run, combinations) if in_rows else []
    return tuple(subsets.nonempty), chapters


# -- columns ------------------------------------------------------------------------------------


def _count(run: ExplanationRun) -> CombinationCounts:
    """Count the combinations, once for each sensitive attribute."""
    run.clock("counting combinations", run.questions)
    combinations = count_combinations(run.questions, run.roles.quasi, run.roles.sensitive)
    lacking = np.any([codes == 0 for codes in combinations.classes.codes], axis=0)
    if number := int(combinations.classes.counts[lacking].sum()):
        run.warnings.add(
            "{} without a quasi-identifier; missing is a value of its own", Count(number)
        )
    for secret, cube in combinations.secrets.items():
        if number := int(cube.counts[cube.codes[-1] == 0].sum()):
            run.warnings.add(
                "{} without {}; missing is a value of its own", Count(number), Name(secret)
            )
    return combinations


def _measure(
    run: ExplanationRun, combinations: CombinationCounts
) -> tuple[Subsets, dict[str, Any]]:
    """Measure subsets; the curve by number of known columns; each column's share."""
    run.clock("measuring subsets", None)
    settings, quasi, n = run.settings, run.roles.quasi, len(run.roles.quasi)
    size = largest_size(n) if settings.max_size is None else min(settings.max_size, n)
    subsets = Subsets(combinations, settings.threads)
    if settings.budget is not None:
        subsets.best_first(settings.budget)
        way = "best first"
    elif size == n:
        subsets.all()
        way = "all"
    else:
        subsets.up_to(size)
        way = f"up to {plural(size, 'column')}"
    subsets.some([quasi, *([c for c in quasi if c != other] for other in quasi)])
    complete = len(subsets.results) == 1 << n
    shares, prefixes = _shapley(run, subsets, complete)
    nothing = subsets.results[()]
    return subsets, {
        "shapley": shares,
        "knowledge": knowledge(subsets, prefixes),
        "subsets": {
            "measured": len(subsets.results) - 1,
            "of": (1 << n) - 1,
            "way": way,
            "complete": complete,
            "nothing_known": nothing.to_dict(),
            "undefined": undefined_reasons(nothing),
            "measures": _units(subsets.whole),
        },
    }


def _shapley(
    run: ExplanationRun, subsets: Subsets, complete: bool
) -> tuple[dict[str, Any], dict[int, list[tuple[str, ...]]]]:
    """Shapley values of what all columns disclose, and the subsets sampled for them by size."""
    quasi, n = subsets.quasi, len(subsets.quasi)
    rates = ("discrimination_rate", "mutual_information")
    names: list[tuple[str | None, str]] = [(None, m) for m in (*rates, "unique_count")]
    names += [(secret, m) for secret in run.roles.sensitive for m in rates]

    def value(places: Sequence[int]) -> list[float]:
        subset = subsets.one(quasi[p] for p in places)
        return [float(subset.numbers(secret)[m] or 0.0) for secret, m in names]

    chapter: dict[str, Any] = {"exact": complete, "reidentification": {}, "inference": {}}
    prefixes: dict[int, list[tuple[str, ...]]] = {}
    errors: Sequence[Floats | None] = [None] * len(names)
    if complete:
        every = np.array([value([p for p in range(n) if m >> p & 1]) for m in range(1 << n)])
        shares: Sequence[Floats] = [column_shares.exact_shares(column) for column in every.T]
    else:
        run.clock("sampling orders of columns", None)
        orders, seed = run.settings.orders, run.settings.seed
        orders = orders or max(8, min(ORDERS, MOST_SAMPLED // n))
        means, halves, sampled = column_shares.sample_shares(value, n, orders, seed)
        shares, errors = list(means), list(halves)
        for prefix in sampled:
            prefixes.setdefault(len(prefix), []).append(tuple(quasi[p] for p in prefix))
        chapter |= {"orders": len(sampled) // n, "seed": seed, "level": column_shares.LEVEL}
    wholes = np.subtract(value(range(n)), value(())).tolist()
    for (secret, name), share, whole, error in zip(names, shares, wholes, errors, strict=True):
        place = chapter["reidentification"]
        if secret is not None:
            place = chapter["inference"].setdefault(secret, {})
        if subsets.whole.numbers(secret)[name] is None:
            place[name] = {"whole": None, "reason": NOTHING_TO_LEARN, "columns": {}}
        else:
            place[name] = column_shares.shares_by_column(quasi, share, whole, error) | {
                "reason": None
            }
    return chapter, prefixes


def _coarser_columns(
    run: ExplanationRun, combinations: CombinationCounts, subsets: Subsets
) -> dict[str, Any]:
    """Each column left out or coarsened, and the columns coarsened together."""
    run.clock("measuring coarser columns", None)
    quasi, hierarchies = run.roles.quasi, run.settings.hierarchies
    for column in hierarchies:
        check_known("hierarchy: column", column, run.questions.columns)
        if column not in quasi:
            run.warnings.add(
                "the hierarchy of {} is not used: it is not a quasi-identifier here", Name(column)
            )
    ways = column_shares.coarser_columns(combinations, hierarchies)
    columns = {
        column: {
            "values": len(np.unique(combinations.classes.codes[at])),
            "without": subsets.one(c for c in quasi if c != column).to_dict(),
            "coarser": [
                column_shares.measure_coarser(combinations, [way]) for way in ways.get(column, ())
            ],
        }
        for at, column in enumerate(quasi)
    }
    middle = [coarser[(len(coarser) - 1) // 2] for coarser in ways.values()]
    if len(middle) < 2:
        return {"columns": columns}
    return {
        "columns": columns,
        "coarser_together": column_shares.measure_coarser(combinations, middle),
    }


def _units(whole: Subset) -> dict[str, dict[str, str]]:
    """The unit of every number of a subset, and which way is risky."""
    return {
        name: {"unit": unit, "riskier": riskier}
        for name in sorted({*whole.reidentification}.union(*whole.inference.values()))
        for unit, riskier in [UNITS.get(name) or (BY_ID[name].unit, BY_ID[name].riskier)]
    }


def rank(run: ExplanationRun, combinations: CombinationCounts | None) -> list[dict[str, Any]]:
    """Every column as the target, given the others; `combinations` of the quasi-identifiers."""
    questions = run.questions
    run.clock("ranking columns", questions)
    known = list(run.roles.quasi)
    columns = [c for c in questions.columns if c not in run.roles.identifier]
    if len(columns) > MOST_LISTED:
        run.warnings.add(
            f"only the first {MOST_LISTED} of {{}} are ranked", Count(len(columns), "column")
        )
        columns = list(dict.fromkeys([*known, *columns]))[:MOST_LISTED]
    columns = [c for c in columns if _usable(run, c)]
    known = known or _not_identifying(run, columns)
    if len(columns) < 2 or not known:
        return []
    cube = questions.cube(known) if combinations is None else combinations.classes
    return column_shares.rank_columns(questions, columns, known, cube)


def _usable(run: ExplanationRun, column: str) -> bool:
    try:
        run.questions.engine.check_usable(column)
    except SievertError:
        run.warnings.add("{} is not ranked: its values cannot be compared", Name(column))
        return False
    return True


def _not_identifying(run: ExplanationRun, columns: Sequence[str]) -> list[str]:
    """The columns without those that have nearly one value per record."""
    records, distinct = run.questions.records, run.questions.distinct(columns)
    chosen = [c for c in columns if records <= 20 or distinct[c] <= IDENTIFYING * records]
    for column in (c for c in columns if c not in chosen):
        run.warnings.add(
            "{} has nearly one value for each record: not counted as known", Name(column)
        )
    return chosen
