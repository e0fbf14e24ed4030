"""The work of explain: each step takes the counts of the table and returns its chapters."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from sievert import files
from sievert.attacks.suda import number_of_sets
from sievert.checks.spellings import counted_as_spelt, told_apart
from sievert.commands.explain import riskiest_records, values
from sievert.commands.explain.coarser_columns import (
    CoarserColumn,
    coarser_column,
    coarser_columns,
    measure_coarser,
)
from sievert.commands.explain.plan import ExplanationPlan, plan_explanation, reduce_plan
from sievert.commands.explain.result import Explanation
from sievert.commands.explain.settings import ExplainSettings
from sievert.commands.explain.totals import dominated_totals
from sievert.counts import microdata
from sievert.counts.cube import Cube
from sievert.counts.questions import Questions
from sievert.counts.wildcards import class_values
from sievert.errors import InputError, SievertError, UsageError
from sievert.formatting import plural
from sievert.formatting.remarks import Remark, figure
from sievert.lattice import Lattice
from sievert.measurement.combinations import (
    CombinationCounts,
    PeopleCombinations,
    count_combinations,
)
from sievert.measurement.population_risks import (
    LARGE_POPULATION,
    PopulationRisks,
    describe_population,
)
from sievert.measurement.population_settings import check_rows_of_people
from sievert.measurement.subset_chapters import SubsetSettings, measure_subsets
from sievert.measurement.subsets import Subset, Subsets, about_records, about_secret
from sievert.measurement.table_measures import MeasureSettings
from sievert.measurement.wildcards import diversity_column, no_values
from sievert.request.requested import Reading, check_known, requested_roles
from sievert.request.table_description import columns_without_role, describe_input
from sievert.roles import Roles
from sievert.session import Clock, Steps, count_people, no_progress
from sievert.settings.groups import reader_options

MOST_LISTED = 60  # columns of a ranking
THREADS = 2
IDENTIFYING = 0.95  # a column with this many values per record identifies by itself


@dataclass(frozen=True, kw_only=True)
class ExplanationTask:
    """The settings of an explanation, and what follows from them and from the policy."""

    settings: ExplainSettings
    subsets: SubsetSettings
    stated: Mapping[str, Any]  # the hierarchies of the policy, which are used if they fit
    distinct: tuple[str, ...] = ()  # columns whose values differ although they look alike
    alpha: Fraction | None = None  # the share of a match, if missing values match anything


@dataclass(frozen=True, kw_only=True)
class ExplanationRun:
    """What every step needs: the engine, the roles, the task; `warnings` grows."""

    questions: Questions
    roles: Roles
    task: ExplanationTask
    clock: Clock
    warnings: list[Remark]

    @property
    def settings(self) -> ExplainSettings:
        """The options of the command."""
        return self.task.settings


def run(settings: ExplainSettings, watch: Steps = no_progress) -> Explanation:
    """Explain a table as `settings` say; `watch` is told of every step."""
    settings.check_work()
    requested = requested_roles(
        settings.policy,
        settings.quasi,
        settings.sensitive,
        settings.identifier,
        person=settings.person,
    )
    settings.check_population()
    source = reader_options(settings)
    task = ExplanationTask(
        settings=settings,
        subsets=SubsetSettings(
            max_size=settings.max_size,
            budget=settings.budget,
            orders=settings.orders,
            seed=settings.seed,
            threads=settings.threads or THREADS,
        ),
        stated=MeasureSettings().with_policy(requested.policy).hierarchies,
        distinct=requested.policy.roles.distinct_spellings if requested.policy else (),
        alpha=settings.share_of_match(settings.missing),
    )
    stated = requested.read_as_stated({**source})
    reading = Reading(watch, LARGE_POPULATION, verify=settings.verify, **stated)
    records = settings.records
    inputs = [
        settings.data,
        settings.policy,
        settings.population,
        *(settings.hierarchies or {}).values(),
    ]
    with (
        files.write_whole(records, sources=inputs, force=settings.force) as target,
        reading(settings.data, outputs=[target] if target else [], states=True) as (
            table,
            questions,
        ),
    ):
        requested = requested.of_table(table)
        roles, warnings = requested.assign(questions, quasi_needed=False, people=True)
        if roles.sensitive and not roles.quasi:
            from sievert.request.role_suggestion import no_quasi

            raise no_quasi(questions, roles.every_column, roles.person)
        settings.check_weight_columns(questions, roles.quasi)
        if records is not None:
            questions.engine.check_writable()
        dropped, notes = requested.prepare(questions, roles, settings.missing)
        if roles.person is not None and roles.quasi:
            notes += counted_as_spelt(questions, [roles.person], requested.policy)
            questions = in_people(questions, roles.person, task)
        description = describe_input(table, questions, settings.missing, dropped)
        explanation = ExplanationRun(
            questions=questions,
            roles=roles,
            task=task,
            clock=reading.clock,
            warnings=[*warnings, *notes],
        )
        subsets: tuple[Subset, ...] = ()
        if roles.quasi:
            subsets, chapters = explain_risk(explanation, source, records, target)
        elif settings.states_population or records is not None:
            raise UsageError("no quasi-identifiers given", hint="-q COLUMNS")
        else:
            chapters = {"ranking": rank(explanation, None)}
    unassessed: tuple[str, ...] = ()
    if roles.quasi:
        unassessed = columns_without_role(questions, roles, settings.weight, settings.household)
    return Explanation(
        table=description,
        roles=roles,
        subsets=subsets,
        chapters=chapters,
        warnings=tuple(explanation.warnings),
        unassessed=unassessed,
        **reading.clock.stop(),
    )


def in_people(questions: Questions, person: str, task: ExplanationTask) -> Questions:
    """Count the table in people; no population is estimated if somebody has several rows."""
    people = count_people(questions, person)
    several = people.people < questions.records
    check_rows_of_people(several, task.settings, task.alpha)
    return people if several else questions


def explain_risk(
    run: ExplanationRun, source: Mapping[str, Any], records: Any, target: Path | None
) -> tuple[tuple[Subset, ...], dict[str, Any]]:
    """Measure the subsets and make the chapters; write the record file to `target`, if any."""
    combinations = _count(run)
    ways = _coarser_ways(run, combinations)
    plan, planned = _plan(run, combinations, sum(map(len, ways.values())), source.get("timeout"))
    subsets, chapters = measure_subsets(
        combinations, plan.subset_settings(run.task.subsets), run.clock
    )
    chapters |= {**planned, **_coarser_columns(run, combinations, subsets, ways, plan.coarser)}
    run.clock("looking at values", None)
    show = run.settings.show_values
    tallies = [values.tally_column(combinations, at) for at in range(len(run.roles.quasi))]
    chapters["values"] = {
        "columns": [values.riskiest_values(tally, show) for tally in tallies],
        "rare": values.rare_values(combinations, tallies, subsets.whole, show),
        "lookalikes": values.lookalikes(combinations, tallies, subsets.whole, show),
    }
    classes = combinations.classes
    risks = None
    scores = None
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
    frequencies = None if risks is None or run.task.alpha is None else risks.frequencies
    chapters["records"] = riskiest_records.riskiest_records(
        run.questions, classes, scores, frequencies
    )
    if target is not None:
        run.clock("writing records", run.questions)
        columns = riskiest_records.record_columns(classes, scores, run.questions.people)
        if risks is not None:
            columns |= risks.columns
        columns |= _diversity(run, combinations, files.record_format(records))
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
    """Describe the people behind the table, and the risk of each class by its weights."""
    risks = describe_population(
        run.questions,
        run.roles.quasi,
        run.settings,
        source,
        run.task.alpha,
        combinations.classes,
    )
    risks.chapter["totals"] = dominated_totals(run.questions, combinations.secrets)
    run.warnings.extend(risks.notes)
    if run.task.alpha is not None:
        run.warnings.append(Remark("wildcards_explain"))
    return risks


def _diversity(
    run: ExplanationRun, combinations: CombinationCounts, kind: str
) -> dict[str, tuple[str, list[int]]]:
    """Count the values of each secret among the records that match each class."""
    columns = {}
    for secret, cells in combinations.secrets.items():
        numbers = class_values(cells, wildcard=run.task.alpha is not None)
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
    number = int(combinations.classes.counts[lacking].sum())
    if number:
        run.warnings.append(Remark("without_quasi", records=plural(number, "record")))
    for secret, cube in combinations.secrets.items():
        number = int(cube.counts[cube.codes[-1] == 0].sum())
        if number:
            records = plural(number, "record")
            run.warnings.append(Remark("without_secret", records=records, column=repr(secret)))
    values = dict(zip(run.roles.quasi, combinations.classes.values, strict=True))
    values |= {secret: cube.values[-1] for secret, cube in combinations.secrets.items()}
    apart = run.task.distinct
    run.warnings.extend(told_apart({c: values[c] for c in values if c not in apart}))
    return combinations


def _complete_hierarchies(run: ExplanationRun, combinations: CombinationCounts) -> dict[str, Any]:
    """Choose the hierarchies of the policy in which every value has a place."""
    complete = {}
    for column, hierarchy in run.task.stated.items():
        if column not in run.roles.quasi:
            continue
        try:
            coarser_column(combinations, column, hierarchy)
            complete[column] = hierarchy
        except InputError:
            run.warnings.append(Remark("hierarchy_lacks", column=repr(column)))
    return complete


def _plan(
    run: ExplanationRun, combinations: CombinationCounts, coarser: int, timeout: float | None
) -> tuple[ExplanationPlan, dict[str, Any]]:
    """Plan what is measured in the time there is; return the chapter on a reduced plan, too."""
    ranked = 0 if run.roles.sensitive else min(MOST_LISTED, len(run.questions.columns))
    full = plan_explanation(combinations, run.task.subsets, coarser, ranked)
    plan, chapter, remarks = reduce_plan(full, timeout)
    run.warnings.extend(remarks)
    return plan, {} if chapter is None else {"plan": chapter}


def _coarser_ways(
    run: ExplanationRun, combinations: CombinationCounts
) -> dict[str, list[CoarserColumn]]:
    """List the ways to coarsen each column, by its hierarchy if one is given."""
    quasi = run.roles.quasi
    hierarchies = run.settings.hierarchies or {}
    for column in hierarchies:
        check_known("hierarchy: column", column, run.questions.columns)
        if column not in quasi:
            run.warnings.append(Remark("hierarchy_no_quasi", column=repr(column)))
    of_policy = _complete_hierarchies(run, combinations)
    return coarser_columns(combinations, {**of_policy, **hierarchies})


def _coarser_columns(
    run: ExplanationRun,
    combinations: CombinationCounts,
    subsets: Subsets,
    ways: Mapping[str, Sequence[CoarserColumn]],
    most: int,
) -> dict[str, Any]:
    """Measure the table without each column, with coarser columns, and with all made coarser.

    At most `most` ways to coarsen a column are measured, first those of the columns whose omission
    leaves the fewest records unique.
    """
    pace = run.clock.count("measuring coarser columns", most + 1)
    quasi = run.roles.quasi
    without = {column: subsets.one(c for c in quasi if c != column) for column in quasi}
    by_help = sorted(ways, key=lambda c: without[c].reidentification["unique_count"] or 0)
    ordered = [way for column in by_help for way in ways[column]]
    measured = {id(way) for way in ordered[:most]}

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
    chapters: dict[str, Any] = {"columns": columns}
    if len(middle) > 1:
        chapters["coarser_together"] = measure(middle)
    return chapters


def rank(run: ExplanationRun, combinations: CombinationCounts | None) -> list[dict[str, Any]]:
    """Rank every column as a target, given the others.

    `combinations` are those of the quasi-identifiers, if they were counted.
    """
    questions = run.questions
    known = list(run.roles.quasi)
    run.clock("ranking columns", questions)
    apart = {*run.roles.identifier, *run.settings.weight_columns.values()}
    columns = [c for c in questions.columns if c not in apart]
    if len(columns) > MOST_LISTED:
        number = plural(len(columns), "column")
        run.warnings.append(Remark("ranked_first", number=figure(MOST_LISTED), columns=number))
        columns = list(dict.fromkeys([*known, *columns]))[:MOST_LISTED]
    columns = [c for c in columns if _is_usable(run, c)]
    known = known or _not_identifying(run, columns)
    if len(columns) < 2 or not known:
        return []
    cube = questions.cube(known) if combinations is None else combinations.classes
    return rank_columns(questions, columns, known, cube)


def _is_usable(run: ExplanationRun, column: str) -> bool:
    """Tell whether a column can be ranked; warn if it cannot."""
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
    """Choose the columns that have clearly fewer values than records."""
    records = run.questions.records
    distinct = run.questions.distinct(columns)
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
    """Measure what the `known` columns disclose about each other column; rank by that.

    `cube` has the combinations of the known columns; other columns are counted with them.
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

    def rank_key(entry: dict[str, Any]) -> list[float]:
        numbers = [entry["as_target"][name] for name in RANKED_BY]
        return [-1.0 if number is None else -number for number in numbers]

    return sorted(entries, key=rank_key)
