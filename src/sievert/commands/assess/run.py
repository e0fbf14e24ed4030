"""The work of assess: measure a table, attack it, describe its values and judge it."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sievert import files
from sievert import roles as role
from sievert.arrays import Ints
from sievert.attacks.attack import Attacks
from sievert.checks.kept_columns import judge_kept, measure_with_kept
from sievert.checks.other_tables import judge_other_tables
from sievert.checks.row_order import RowOrder, examine_order, judge_order, released_columns
from sievert.checks.spellings import (
    OfSuppressed,
    Respelt,
    compare_spellings,
    more_certain,
    suppressed_with_merged,
    with_merged,
)
from sievert.commands.assess.odd_values import missing_values
from sievert.commands.assess.result import Assessment
from sievert.commands.assess.settings import AssessSettings
from sievert.counts.answers import Sizes
from sievert.counts.questions import Questions
from sievert.errors import UsageError, require
from sievert.formatting import plural
from sievert.formatting.remarks import Remark
from sievert.measurement.population_settings import check_rows_of_people, population_parameters
from sievert.measurement.table_measures import (
    MeasureSettings,
    TableMeasures,
    check_hierarchies,
    unused_settings,
)
from sievert.measures import MEASURES
from sievert.measures.measure import Value
from sievert.request.repeated_rows import judge_weight
from sievert.request.requested import (
    Reading,
    RequestedRoles,
    check_whole,
    collect_sets,
    requested_roles,
)
from sievert.request.suppression import secrets_that_stay
from sievert.request.table_description import columns_without_role, describe_input
from sievert.roles import Roles
from sievert.session import Clock, Steps, count_people, no_progress
from sievert.settings.groups import reader_options
from sievert.sources.table import Table

if TYPE_CHECKING:
    from sievert.measurement.population_risks import PopulationRisks
    from sievert.measures.unicity import Unicity
    from sievert.policy import Gate, Judgement, Policy

NOT_WITH_WILDCARDS = Remark("not_with_wildcards")
MOST_NUMBERS = 400  # different numbers of a secret whose distances are measured
MOST_CELLS = 10**7  # classes times numbers
SIZES = (1, 2, 3, 5, 10, 20, 50, 100, 1000)  # the sizes at which spans of class sizes begin
MOST_RECORDS = 10**12  # the largest size at which a span begins
MOST_SIGHTINGS = 1000
NOT_MET_FIRST = (False, None, True)


@dataclass(frozen=True, kw_only=True)
class AssessmentPlan:
    """The settings of an assessment, and what follows from them and from the policy."""

    settings: AssessSettings
    measuring: MeasureSettings
    alpha: Fraction | None = None  # the share of a match, if missing values match anything
    source: Mapping[str, Any] = field(default_factory=dict)  # how tables are read
    # Whether the order of the rows and the spellings are examined; the benchmark leaves them out.
    row_order: bool = True
    spellings: bool = True


def run(settings: AssessSettings, watch: Steps = no_progress) -> Assessment:
    """Assess a table as `settings` say; `watch` is told of every step."""
    settings.check_work()
    sets = None if settings.key_sets is None else collect_sets(settings.key_sets)
    requested = requested_roles(
        settings.policy,
        settings.quasi,
        settings.sensitive,
        settings.identifier,
        person=settings.person,
    )
    if settings.parameters:
        from sievert.policy import check_parameters

        check_parameters(settings.parameters)
    if settings.trajectory is not None:
        check_whole("--trajectory", settings.trajectory, 1, MOST_SIGHTINGS)
        person = settings.person
        if person is None and requested.policy is not None:
            person = requested.policy.roles.person
        require(
            person is not None,
            "a trajectory needs to know who is who",
            hint="--person COLUMN",
        )
    settings.check_population()
    measuring = MeasureSettings(
        hierarchies=settings.hierarchies or {},
        orders=settings.orders or {},
        partitions=settings.partitions or {},
        parameters={**settings.population_parameters, **(settings.parameters or {})},
    ).with_policy(requested.policy)
    check_hierarchies(measuring.hierarchies)
    source = reader_options(settings)
    plan = AssessmentPlan(
        settings=settings,
        measuring=measuring,
        alpha=settings.share_of_match(settings.missing),
        source=source,
    )
    how = requested.read_as_stated({**source})
    verify = settings.verify or settings.framework is not None
    reading = Reading(watch, None, verify=verify, **how)
    secrets = len(requested.names(())[1])
    inputs = [settings.data, settings.policy, settings.population, *measuring.hierarchies.values()]
    with (
        files.write_whole(settings.records, sources=inputs, force=settings.force) as target,
        reading(
            settings.data, outputs=[target] if target else [], secrets=secrets, states=True
        ) as (table, questions),
    ):
        requested = requested.of_table(table)
        if sets is not None:
            return assess_key_sets(table, questions, requested, sets, plan, reading.clock)
        return assess_table(table, questions, requested, plan, reading.clock, target)


def assess_key_sets(
    table: Table,
    questions: Questions,
    requested: RequestedRoles,
    given: Sequence[str | tuple[str, ...]],
    plan: AssessmentPlan,
    clock: Clock,
) -> Assessment:
    """Assess each of several key sets; return the worst assessment, with all of them beside it."""
    sets = [role.names(each, questions.columns) for each in given]
    assessments = []
    for number, key_set in enumerate(sets):
        fork = questions.fork()
        others = (*sets[:number], *sets[number + 1 :])
        one = replace(requested, given=[key_set, *requested.given[1:]], other_sets=others)
        assessments.append(assess_table(table, fork, one, plan, clock, None))
        fork.forget_counts()
    return replace(min(assessments, key=_rank), key_sets=tuple(assessments), **clock.stop())


def _rank(assessment: Assessment) -> tuple[int, float, float]:
    """The rank of an assessment, the worst first.

    A policy that is not met comes before an undecided one. Then the smallest k counts, and then the
    most unique people.
    """
    numbers = assessment.reidentification
    k = numbers["k_anonymity"].value if "k_anonymity" in numbers else None
    unique = numbers["unique_records"].value if "unique_records" in numbers else None
    outcome = None if assessment.policy is None else assessment.policy.outcome
    return NOT_MET_FIRST.index(outcome), math.inf if k is None else k, -(unique or 0.0)


def assess_table(
    table: Table,
    questions: Questions,
    requested: RequestedRoles,
    plan: AssessmentPlan,
    clock: Clock,
    target: Path | None,
) -> Assessment:
    """Assess a table that is open; write the records to `target`."""
    settings = plan.settings
    missing = settings.missing
    attacks = None
    unnamed: list[Remark] = []
    if settings.records is not None:
        questions.engine.check_writable()
    if plan.row_order:
        questions.plan_runs([c for names in requested.names(questions.columns) for c in names])
    roles, warnings = requested.assign(questions, people=True)
    searched = requested.policy is not None and not settings.quick
    stated = MeasureSettings().with_policy(requested.policy).hierarchies
    unused = unused_settings(
        plan.measuring,
        roles,
        questions.columns,
        coarsened=roles.quasi if searched else stated,
    )
    settings.check_weight_columns(questions, roles.quasi)
    counted = None if table.state is None else table.state.kept
    kept = [c for c in roles.kept if counted is None or c in counted]
    dropped, notes = requested.prepare(questions, roles, missing, kept)
    rows = questions
    if roles.person is not None:
        questions, unnamed = _in_people(questions, roles.person, plan)
        notes += unnamed
    measuring = replace(plan.measuring, orders={**table.orders, **plan.measuring.orders})
    wild = missing == "wildcard" and bool(questions.missing(roles.quasi))
    if wild and settings.attacks:
        raise UsageError("--attacks needs classes, and wildcards make none")
    alpha = plan.alpha if wild else None
    inference: dict[str, dict[str, Value]] = {}
    values: dict[str, Ints] | None = None
    risks = _describe_population(rows, roles, plan, alpha, clock)
    if risks is not None:
        notes += risks.notes
    if settings.population is not None and risks is not None:
        of_table = population_parameters(risks.chapter["size"])
        measuring = replace(measuring, parameters={**measuring.parameters, **of_table})
    known = replace(roles, kept={c: roles.kept[c] for c in kept})
    measures = TableMeasures(
        questions=questions, roles=known, settings=measuring, ids=settings.measures, clock=clock
    )
    if alpha is None:  # first: with the records of a secret, its values are counted
        inference = {s: measures.inference(s) for s in roles.sensitive}
    respelt = Respelt()
    if plan.spellings:
        respelt = compare_spellings(rows, roles, requested.policy)
    warnings += respelt.cautions
    alike: TableMeasures | None = None
    if alpha is None:
        reidentification = measures.reidentification()
        alike = _merge_spellings(respelt, rows, measures)
        if alike is not None:
            inference = {s: with_merged(own, alike.inference(s)) for s, own in inference.items()}
            reidentification = with_merged(reidentification, alike.reidentification())
        reidentification = measure_with_kept(questions, known, measuring, reidentification)
    else:
        inference, reidentification, values = _measure_wildcards(measures, alpha, risks)
    order = RowOrder(seen=False)
    if plan.row_order and not settings.planned and table.state is None:  # a plan has no rows yet
        order = examine_order(rows, released_columns(rows, roles), measuring.orders)
    warnings += [*notes, *unused, *measures.warnings]
    if order.tells:
        warnings += order.notes
    if settings.attacks:
        attacks, notes = _attack(measures, plan)
        warnings += notes
    if target is not None:
        _write_records(measures, risks, values, settings, target)
    description = describe_input(table, questions, missing, dropped)
    if not wild:
        entries, notes = _describe_values(measures, table, rows, requested.policy)
        description |= entries
        warnings += notes
    approximate = approximate_disclosure(measures)
    # A count state is no file that anybody passes on: it can only speak of a plan.
    planned = settings.planned or table.state is not None
    gate = requested.gate(
        questions.columns, roles, missing, dropped, questions.suppression, planned=planned
    )
    policy = None
    options = None
    explanation = None
    count = cache(partial(_count_combinations, questions, roles))
    if gate is not None:  # before the record file takes its place
        if unnamed:
            gate.undecided("rows_without_person")
        weighed = {*settings.weight_columns.values()}
        replaced = [c for c in roles.kept if c in weighed]
        if replaced:
            gate.not_met("roles_replaced", replaced)
        judge_order(gate, order)
        judge_other_tables(gate, rows)
        gate.counts = table.state is not None
        judge_kept(gate, questions, roles, counted, wild=wild, fresh=requested.fresh)
        judge_weight(gate, rows, roles.weight, settings.weight)
        doubtful = respelt.doubt(gate)
        policy, notes = _judge(measures, alike, gate, reidentification, inference, wildcards=wild)
        warnings += notes
        if searched:
            released = None
            if not (dropped or questions.suppression.left_out or unnamed or doubtful):
                columns = [c for c in (*roles.measured_columns, roles.person) if c is not None]
                released = requested.gate(
                    *(columns, roles, missing, 0, questions.suppression),
                    released=roles.measured_columns,
                )
            # A changed table is a plan: it is judged without the columns that are not released.
            changed = requested.gate(
                questions.columns, roles, missing, dropped, questions.suppression, planned=True
            )
            assert changed is not None
            changed.take_reasons(gate)
            from sievert.commands.assess.helpful_changes import OptionSearch

            search = OptionSearch(
                measures=measures,
                gate=changed,
                judgement=policy,
                numbers=reidentification,
                released=released,
            )
            options, notes = search.find(count, wildcards=wild, leave_out=not dropped)
            warnings += notes
    if policy is None or not policy.of_suppressed:  # no limit judges the suppressed records
        smallest = questions.sizes(roles.quasi).least if questions.suppression.left_out else 0
        warnings += secrets_that_stay(questions.suppression, roles.sensitive, smallest)
    if settings.explain and not settings.quick and not wild:
        from sievert.measurement.subset_chapters import explain_columns

        explanation, notes = explain_columns(measures, count, clock)
        warnings += notes
    return Assessment(
        table=description,
        roles=replace(roles, **settings.weight_columns),
        reidentification=reidentification,
        inference=inference,
        policy=policy,
        attacks=attacks,
        approximate=approximate,
        trajectory=_unicity(questions, roles, settings.trajectory),
        options=options,
        explanation=explanation,
        population=risks.chapter if risks is not None and settings.states_population else None,
        framework=settings.framework,
        warnings=tuple(warnings),
        unassessed=columns_without_role(questions, roles, *settings.weight_columns.values()),
        **clock.stop(),
    )


def _measure_wildcards(
    measures: TableMeasures, alpha: Fraction, risks: "PopulationRisks | None"
) -> tuple[dict[str, dict[str, Value]], dict[str, Value], dict[str, Ints]]:
    """Measure a table whose missing values match anything.

    Return the numbers on each secret, those of re-identification, and the different values of the
    secrets among the records that match each class.
    """
    from sievert.measurement.wildcards import (
        inference_under_wildcards,
        reidentification_under_wildcards,
    )

    inference = {}
    values = {}
    for secret in measures.roles.sensitive:
        inference[secret], of_classes = inference_under_wildcards(measures, secret)
        if of_classes is not None:
            values[secret] = of_classes
    return inference, reidentification_under_wildcards(measures, alpha, risks), values


def _write_records(
    measures: TableMeasures,
    risks: "PopulationRisks | None",
    values: Mapping[str, Ints] | None,
    settings: AssessSettings,
    target: Path,
) -> None:
    """Write the record file; `values` are those of the secrets if missing values match anything."""
    if settings.records is None:
        return
    measures.clock("writing records", measures.questions)
    with files.name_output(settings.records):
        from sievert.commands.assess import record_file

        kind = files.record_format(settings.records)
        if values is None or risks is None:
            record_file.write_records(measures, risks, target, kind)
        else:
            record_file.write_wildcard_records(measures, risks, values, target, kind)


def _describe_values(
    measures: TableMeasures, table: Table, rows: Questions, policy: "Policy | None"
) -> tuple[dict[str, Any], list[Remark]]:
    """Describe missing values and sizes of classes; note odd values and a repeated header."""
    questions = measures.questions
    roles = measures.roles
    missing, notes = missing_values(measures, table.error_cells if rows.complete else {})
    sizes = class_sizes(questions.sizes(roles.quasi), policy)
    if table.kind == "csv" and table.header:
        same = questions.like_the_header(roles.quasi, roles.sensitive)
        if same:
            notes.append(Remark("header_again", records=plural(same, "record")))
    return {"missing_values": missing, "class_sizes": sizes}, notes


def _merge_spellings(
    respelt: Respelt, rows: Questions, measures: TableMeasures
) -> TableMeasures | None:
    """Prepare the same measures of the table with all spellings merged; None if none coincide."""
    roles = measures.roles
    columns = [*roles.measured_columns, *roles.knowable]
    if roles.person is not None:
        columns.append(roles.person)
    merged = respelt.merge(rows, columns, measures.settings.named_values(roles.sensitive))
    if merged is None:
        return None
    if roles.person is not None:
        return measures.of_other(count_people(merged, roles.person))
    return measures.of_other(merged)


def _describe_population(
    questions: Questions,
    roles: Roles,
    plan: AssessmentPlan,
    alpha: Fraction | None,
    clock: Clock,
) -> "PopulationRisks | None":
    """Describe the population, or the frequencies that are needed; None if neither is."""
    settings = plan.settings
    partly = alpha is not None and (alpha != 1 or settings.records is not None)
    if not settings.states_population and not partly:
        return None
    from sievert.measurement.population_risks import describe_population

    clock("estimating the population", questions)
    return describe_population(questions, roles.quasi, settings, plan.source, alpha)


def _judge(
    measures: TableMeasures,
    alike: TableMeasures | None,
    gate: "Gate",
    reidentification: Mapping[str, Value],
    inference: Mapping[str, Mapping[str, Value]],
    *,
    wildcards: bool,
) -> "tuple[Judgement, list[Remark]]":
    """Judge the table by a policy; return the judgement with remarks.

    `alike` measures the same table with all spellings merged.
    """
    from sievert.policy import judge, judge_suppressed
    from sievert.policy.judgement import verdict_remarks

    limited = {m for _, m, _ in gate.policy.every_limit()}
    of_suppressed: OfSuppressed = measures.of_suppressed(limited, reidentification)
    if alike is not None:
        merged = alike.of_suppressed(limited, alike.reidentification())
        of_suppressed = suppressed_with_merged(of_suppressed, merged)
    if wildcards:  # a limit on an undefined measure is undecided then, and not a mistake
        of_records = _undefined_values(measures, "record")
        of_secrets = _undefined_values(measures, "secret")
        reidentification = {**of_records, **reidentification}
        inference = {s: {**of_secrets, **values} for s, values in inference.items()}
    replaced = measures.settings.replaced(gate.policy, measures.roles.sensitive)
    if replaced:
        gate.not_met("settings_replaced", replaced)
    gate.certain = {} if wildcards else measures.certain_people(gate.unlimited)
    if alike is not None:
        gate.certain = more_certain(gate.certain, alike.certain_people(gate.unlimited))
    best = measures.best_numbers(limited)
    verdicts, doubts = judge(gate.policy, reidentification, inference, best)
    lines = judge_suppressed(gate.policy, *of_suppressed)
    return gate.judge([*verdicts, *lines]), [*doubts, *verdict_remarks(lines)]


def _undefined_values(measures: TableMeasures, kind: str) -> dict[str, Value]:
    """The values of all measures of a kind that are not defined with wildcards."""
    values = {}
    for measure in measures.measures:
        if kind in measure.kinds:
            values[measure.id] = Value(
                id=measure.id,
                value=None,
                unit=measure.unit,
                riskier=measure.riskier,
                reason=NOT_WITH_WILDCARDS,
            )
    return values


def _in_people(
    questions: Questions, person: str, plan: AssessmentPlan
) -> tuple[Questions, list[Remark]]:
    """Count the table in people; note rows without a person."""
    require(
        plan.settings.missing != "wildcard",
        "a missing value that matches anything is not defined for people with several rows",
        hint="--missing value",
    )
    people = count_people(questions, person)
    check_rows_of_people(people.people < questions.records, plan.settings, plan.alpha)
    require(
        not plan.settings.attacks or people.people == questions.records,
        "attacks are not defined for people with several rows",
        hint="without --attacks",
    )
    unnamed = people.unnamed_everywhere
    note = Remark("without_person", records=plural(unnamed, "record"))
    return people, [note] if unnamed else []


def _unicity(questions: Questions, roles: Roles, sightings: int | None) -> "Unicity | None":
    """Measure how often a number of `sightings` singles out one person."""
    if sightings is None:
        return None
    from sievert.measures.unicity import Trajectories

    return Trajectories(questions.sighting_cube(roles.quasi)).unicity(sightings)


def _count_combinations(questions: Questions, roles: Roles) -> Any:
    """Count the combinations, which only an explanation and the search for options need."""
    from sievert.measurement.combinations import count_combinations

    return count_combinations(questions, roles.quasi, roles.sensitive)


def _attack(measures: TableMeasures, plan: AssessmentPlan) -> tuple[Attacks, list[Remark]]:
    """Run the attacks that need only the release; return them with notes."""
    from sievert.attacks.release_attacks import attack_release, check_named

    named = plan.settings.value or {}
    measures.clock("attacking", measures.questions)
    check_named(named, measures.roles.sensitive)
    return attack_release(
        measures.questions.cube,
        measures.roles.quasi,
        measures.roles.sensitive,
        hierarchies=plan.measuring.hierarchies,
        partitions=plan.measuring.partitions,
        named=named,
        show=plan.settings.show_values,
    )


def approximate_disclosure(measures: TableMeasures) -> dict[str, dict[str, Any]]:
    """Measure how closely each class tells a numeric secret, unless it has too many values."""
    questions = measures.questions
    quasi = measures.roles.quasi
    numbers = [
        secret
        for secret, values in measures.value_counts.items()
        if measures.measures is MEASURES
        and secret not in quasi
        and questions.engine.kind(secret) != "text"
        and 1 < values <= MOST_NUMBERS
        and questions.sizes(quasi).things <= MOST_CELLS // values
    ]
    if not numbers:  # nothing more has to be imported
        return {}
    from sievert.commands.assess.near_classes import near_classes

    near = {secret: near_classes(questions.number_cells(quasi, secret)) for secret in numbers}
    return {secret: classes for secret, classes in near.items() if classes is not None}


def class_sizes(sizes: Sizes, policy: "Policy | None" = None) -> list[dict[str, int | None]]:
    """Count classes and their records by size: 1 record, 2 records, 3 or 4, and so on.

    One of the spans begins at the least k of a policy.
    """
    limits = {} if policy is None else {**policy.everywhere, **policy.reidentification}
    limit = limits.get("k_anonymity")
    least_k = 1 if limit is None else limit.min or 1
    begins = sorted({*SIZES, math.ceil(max(1, min(least_k, MOST_RECORDS)))})
    places = np.searchsorted(sizes.sizes, begins).tolist()
    spans = []
    for number, least in enumerate(begins):
        last = number + 1 == len(begins)
        most = None if last else begins[number + 1] - 1
        chosen = slice(places[number], None if last else places[number + 1])
        part = Sizes(sizes.sizes[chosen], sizes.times[chosen])
        spans.append(
            {"least": least, "most": most, "classes": part.things, "records": part.records}
        )
    return spans
