"""The steps of an explanation: each takes the counts of the table and returns its chapters."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from sievert import files
from sievert.attacks.suda import number_of_sets
from sievert.checks.spellings import told_apart
from sievert.commands.explain import riskiest_records, values
from sievert.commands.explain.coarser_columns import (
    CoarserColumn,
    coarser_column,
    coarser_columns,
    measure_coarser,
)
from sievert.commands.explain.plan import ExplanationPlan, plan_explanation, reduce_plan
from sievert.commands.explain.totals import dominated_totals
from sievert.counts import microdata
from sievert.counts.cube import Cube
from sievert.counts.questions import Questions
from sievert.counts.wildcards import class_values
from sievert.errors import InputError, SievertError
from sievert.formatting import plural
from sievert.formatting.remarks import Remark, figure
from sievert.lattice import Lattice
from sievert.measurement.combinations import (
    CombinationCounts,
    PeopleCombinations,
    count_combinations,
)
from sievert.measurement.population_risks import PopulationRisks, describe_population
from sievert.measurement.population_settings import PopulationSettings, check_rows_of_people
from sievert.measurement.subset_chapters import SubsetSettings, measure_subsets
from sievert.measurement.subsets import Subset, Subsets, about_records, about_secret
from sievert.measurement.wildcards import diversity_column, no_values
from sievert.request.requested import check_known
from sievert.roles import Roles
from sievert.session import Clock, count_people

MOST_LISTED = 60  # columns of a ranking

IDENTIFYING = 0.95  # a column with so many values per record identifies by itself


@dataclass(frozen=True, kw_only=True)
class ExplanationSettings(SubsetSettings):
    """Which subsets are measured, what is known about the population, and what may be shown."""

    show_values: bool
    hierarchies: Mapping[str, Any]
    stated: Mapping[str, Any]  # the hierarchies of the policy, used where they fit
    population: PopulationSettings
    distinct: tuple[str, ...] = ()  # columns whose values differ although they look alike
    alpha: Fraction | None = None  # of a match, where missing values match anything


@dataclass(frozen=True)
class ExplanationRun:
    """What every step needs: the engine, the roles, the settings; `warnings` grows."""

    questions: Questions
    roles: Roles
    settings: ExplanationSettings
    clock: Clock
    warnings: list[Remark]


def in_people(questions: Questions, person: str, settings: ExplanationSettings) -> Questions:
    """The table counted in people; of several rows no population is estimated."""
    people = count_people(questions, person)
    several = people.people < questions.records
    check_rows_of_people(several, settings.population, settings.alpha)
    return people if several else questions


def explain_risk(
    run: ExplanationRun, source: Mapping[str, Any], records: Any, target: Path | None
) -> tuple[tuple[Subset, ...], dict[str, Any]]:
    """The subsets and the chapters of the quasi-identifiers; writes the record file if wanted."""
    combinations = _count(run)
    ways = _coarser_ways(run, combinations)
    plan, planned = _plan(run, combinations, sum(map(len, ways.values())), source.get("timeout"))
    subsets, chapters = measure_subsets(combinations, plan.subset_settings(run.settings), run.clock)
    chapters |= {**planned, **_coarser_columns(run, combinations, subsets, ways, plan.coarser)}
    run.clock("looking at values", None)
    show = run.settings.show_values
    tallies = [values.tally_column(combinations, at) for at in range(len(run.roles.quasi))]
    chapters["values"] = {
        "columns": [values.riskiest_values(tally, show) for tally in tallies],
        "rare": values.rare_values(combinations, tallies, subsets.whole, show),
        "lookalikes": values.lookalikes(combinations, tallies, subsets.whole, show),
    }
    classes, risks, scores = combinations.classes, None, None
    if isinstance(combinations, PeopleCombinations):
        chapters["population"] = {"sample": run.questions.people, "totals": {}}
        run.warnings.append(Remark("people_no_population"))
    else:
        run.clock("estimating the population", run.questions)
        risks = _describe_population(run, combinations, source)
        chapters["population"] = risks.chapter
        fraction = chapters["population"].get("fraction")
        if plan.suda_size:
            sets = number_of_sets(len(classes.columns), plan.suda_size)
            pace = run.clock.count("searching minimal uniques", sets)
            scores = riskiest_records.score_classes(classes, plan.suda_size, fraction, pace)
            chapters["suda"] = scores.to_dict(classes, show)
    run.clock("pointing at records", run.questions)
    frequencies = None if risks is None or run.settings.alpha is None else risks.frequencies
    chapters["records"] = riskiest_records.riskiest_records(
        run.questions, classes, scores, frequencies
    )
    if target is not None:
        run.clock("writing records", run.questions)
        columns = {
            **riskiest_records.record_columns(classes, scores, run.questions.people),
            **({} if risks is None else risks.columns),
            **_diversity(run, combinations, files.record_format(records)),
        }
        with files.name_output(records):
            microdata.write_row_marks(
                run.questions, classes, columns, target, files.record_format(records)
            )
    if not run.roles.sensitive:
        in_rows = not isinstance(combinations, PeopleCombinations)
        chapters["ranking"] = rank(run, combinations) if in_rows else []
    return tuple(subsets.nonempty), chapters


def _describe_population(
    run: ExplanationRun, combinations: CombinationCounts, source: Mapping[str, Any]
) -> PopulationRisks:
    """The people behind the table, and the risk of each class by its weights."""
    settings = run.settings
    risks = describe_population(
        run.questions,
        run.roles.quasi,
        settings.population,
        source,
        settings.alpha,
        combinations.classes,
    )
    risks.chapter["totals"] = dominated_totals(run.questions, combinations.secrets)
    run.warnings.extend(risks.notes)
    if settings.alpha is not None:
        run.warnings.append(Remark("wildcards_explain"))
    return risks


def _diversity(
    run: ExplanationRun, combinations: CombinationCounts, kind: str
) -> dict[str, tuple[str, list[int]]]:
    """Of each class, the different values of each secret among the records that match it."""
    columns = {}
    for secret, cells in combinations.secrets.items():
        numbers = class_values(cells, wildcard=run.settings.alpha is not None)
        if numbers is None:
            run.warnings.append(no_values(secret))
        else:
            columns[diversity_column(secret, kind)] = "int", numbers.tolist()
    return columns


# -- columns ------------------------------------------------------------------------------------


def _count(run: ExplanationRun) -> CombinationCounts:
    """Count the combinations, once for each sensitive attribute."""
    run.clock("counting combinations", run.questions)
    combinations = count_combinations(run.questions, run.roles.quasi, run.roles.sensitive)
    lacking = np.any([codes == 0 for codes in combinations.classes.codes], axis=0)
    if number := int(combinations.classes.counts[lacking].sum()):
        run.warnings.append(Remark("without_quasi", records=plural(number, "record")))
    run.warnings.extend(
        Remark("without_secret", records=plural(number, "record"), column=repr(secret))
        for secret, cube in combinations.secrets.items()
        if (number := int(cube.counts[cube.codes[-1] == 0].sum()))
    )
    values = dict(zip(run.roles.quasi, combinations.classes.values, strict=True))
    values |= {secret: cube.values[-1] for secret, cube in combinations.secrets.items()}
    apart = run.settings.distinct
    run.warnings.extend(told_apart({c: values[c] for c in values if c not in apart}))
    return combinations


def _fitting(run: ExplanationRun, combinations: CombinationCounts) -> dict[str, Any]:
    """The hierarchies of the policy in which every value has its place."""
    fitting = {}
    for column in (c for c in run.settings.stated if c in run.roles.quasi):
        try:
            coarser_column(combinations, column, run.settings.stated[column])
            fitting[column] = run.settings.stated[column]
        except InputError:
            run.warnings.append(Remark("hierarchy_lacks", column=repr(column)))
    return fitting


def _plan(
    run: ExplanationRun, combinations: CombinationCounts, coarser: int, timeout: float | None
) -> tuple[ExplanationPlan, dict[str, Any]]:
    """What is measured in the time there is, and the chapter that says so where it is not all."""
    ranked = 0 if run.roles.sensitive else min(MOST_LISTED, len(run.questions.columns))
    full = plan_explanation(combinations, run.settings, coarser, ranked)
    plan, chapter, remarks = reduce_plan(full, timeout)
    run.warnings.extend(remarks)
    return plan, {} if chapter is None else {"plan": chapter}


def _coarser_ways(
    run: ExplanationRun, combinations: CombinationCounts
) -> dict[str, list[CoarserColumn]]:
    """The ways to coarsen each column, by its hierarchy where one is given."""
    quasi, hierarchies = run.roles.quasi, run.settings.hierarchies
    for column in hierarchies:
        check_known("hierarchy: column", column, run.questions.columns)
        if column not in quasi:
            run.warnings.append(Remark("hierarchy_no_quasi", column=repr(column)))
    return coarser_columns(combinations, {**_fitting(run, combinations), **hierarchies})


def _coarser_columns(
    run: ExplanationRun,
    combinations: CombinationCounts,
    subsets: Subsets,
    ways: Mapping[str, Sequence[CoarserColumn]],
    most: int,
) -> dict[str, Any]:
    """Each column left out or coarsened, and the columns coarsened together.

    Only so many ways are measured: those of columns without which fewest records are unique first.
    """
    pace = run.clock.count("measuring coarser columns", most + 1)
    quasi = run.roles.quasi
    without = {column: subsets.one(c for c in quasi if c != column) for column in quasi}
    by_help = sorted(ways, key=lambda c: without[c].reidentification["unique_count"] or 0)
    measured = {id(way) for way in [way for c in by_help for way in ways[c]][:most]}

    def measure(chosen: list[CoarserColumn]) -> dict[str, Any]:
        pace()
        return measure_coarser(combinations, chosen)

    columns = {
        column: {
            "values": len(np.unique(combinations.classes.codes[at])),
            "without": without[column].to_dict(),
            "coarser": [measure([way]) for way in ways.get(column, ()) if id(way) in measured],
        }
        for at, column in enumerate(quasi)
    }
    middle = [coarser[(len(coarser) - 1) // 2] for coarser in ways.values()]
    together = {"coarser_together": measure(middle)} if len(middle) > 1 else {}
    return {"columns": columns, **together}


def rank(run: ExplanationRun, combinations: CombinationCounts | None) -> list[dict[str, Any]]:
    """Every column as the target, given the others; `combinations` of the quasi-identifiers."""
    questions, known = run.questions, list(run.roles.quasi)
    run.clock("ranking columns", questions)
    apart = {*run.roles.identifier, *run.settings.population.columns.values()}
    columns = [c for c in questions.columns if c not in apart]
    if len(columns) > MOST_LISTED:
        number = plural(len(columns), "column")
        run.warnings.append(Remark("ranked_first", number=figure(MOST_LISTED), columns=number))
        columns = list(dict.fromkeys([*known, *columns]))[:MOST_LISTED]
    columns = [c for c in columns if _usable(run, c)]
    known = known or _not_identifying(run, columns)
    if len(columns) < 2 or not known:
        return []
    cube = questions.cube(known) if combinations is None else combinations.classes
    return rank_columns(questions, columns, known, cube)


def _usable(run: ExplanationRun, column: str) -> bool:
    if column in run.questions.left_out:
        run.warnings.append(Remark("not_ranked_left_out", column=repr(column)))
        return False
    try:
        run.questions.engine.check_usable(column)
    except SievertError:
        run.warnings.append(Remark("not_ranked", column=repr(column)))
        return False
    return True


def _not_identifying(run: ExplanationRun, columns: Sequence[str]) -> list[str]:
    """The columns without those that have nearly one value per record."""
    records, distinct = run.questions.records, run.questions.distinct(columns)
    chosen = [c for c in columns if records <= 20 or distinct[c] <= IDENTIFYING * records]
    run.warnings.extend(
        Remark("nearly_identifier", column=repr(column))
        for column in columns
        if column not in chosen
    )
    return chosen


# -- every column as the target ------------------------------------------------------------------


RANKED_BY = ("discrimination_rate", "itpr_unnormalized", "mutual_information")
MOST_PAIRS = 16  # known columns up to which each is tried alone


def rank_columns(
    questions: Questions, columns: Sequence[str], known: Sequence[str], cube: Cube
) -> list[dict[str, Any]]:
    """What the `known` columns disclose about each column, themselves excepted; the most first.

    `cube` holds the combinations of the known columns; other columns are counted with them.
    """
    entries = []
    for column in columns:
        others = [c for c in known if c != column]
        cells = cube if column in known else questions.cube((*known, column))
        if not others:
            continue
        alone = cells.roll_up([column])
        lattice = Lattice(cells, column, compiled=False)
        (rolled,) = lattice.some([others])
        best = None
        if len(others) <= MOST_PAIRS and lattice.prior:
            singles = [
                (about_secret(r, cells.records, lattice.prior)["discrimination_rate"], r.columns[0])
                for r in lattice.some([c] for c in others)
            ]
            rate, which = max(singles, key=lambda pair: pair[0] or 0.0)
            best = {"column": which, "discrimination_rate": rate}
        entries.append(
            {
                "column": column,
                "known": column in known,
                "values": len(alone.counts),
                "entropy": lattice.prior,
                "as_target": about_secret(rolled, cells.records, lattice.prior),
                "told_most_by": best,
                "as_key": about_records(alone.sizes(), cells.records),
                "reason": "H(X) = 0" if lattice.prior == 0.0 else None,
            }
        )
    return sorted(
        entries,
        key=lambda entry: [
            -1.0 if (number := entry["as_target"][name]) is None else -number for name in RANKED_BY
        ],
    )
