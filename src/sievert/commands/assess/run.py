"""One assessment: the measures of a table, the attacks on it, and what its values look like."""

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
    from sievert.policy import Gate, Judgement, Policy

NOT_WITH_WILDCARDS = Remark("not_with_wildcards")
MOST_NUMBERS = 400  # different numbers of a secret whose distances are looked at
MOST_CELLS = 10**7  # classes times numbers
SIZES = (1, 2, 3, 5, 10, 20, 50, 100, 1000)  # where a span of class sizes begins
MOST_RECORDS = 10**12  # of a class


MOST_SIGHTINGS = 1000
NOT_MET_FIRST = (False, None, True)
RANKED = ("k_anonymity", "unique_records")


@dataclass(frozen=True, kw_only=True)
class AssessmentPlan:
    """The settings of an assessment, and what follows from them and from the policy."""

    settings: AssessSettings
    measuring: MeasureSettings
    alpha: Fraction | None = None  # of a match, where missing values match anything
    source: Mapping[str, Any] = field(default_factory=dict)  # how tables are read
    # Whether the order of the rows and the spellings are looked at; the benchmark leaves them out.
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
    """The worst first: policy not met, then undecided; the smallest k; the most unique people."""
    numbers = assessment.reidentification
    k, unique = (numbers[m].value if m in numbers else None for m in RANKED)
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
    """Measure a table that is open; the records are written to `target`."""
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
    alpha, inference, values = plan.alpha if wild else None, {}, dict[str, Ints]()
    risks = _describe_population(rows, roles, plan, alpha, clock)
    notes += [] if risks is None else risks.notes
    if settings.population is not None and risks is not None:
        of_table = population_parameters(risks.chapter["size"])
        measuring = replace(measuring, parameters={**measuring.parameters, **of_table})
    known = replace(roles, kept={c: roles.kept[c] for c in kept})
    measures = TableMeasures(questions, known, measuring, settings.measures, clock)
    if alpha is None:  # first: with the records of a secret, its values are counted
        inference = {s: measures.inference(s) for s in roles.sensitive}
    respelt = Respelt()
    if plan.spellings:
        respelt = compare_spellings(rows, roles, requested.policy)
    warnings += respelt.cautions
    alike: TableMeasures | None = None
    if alpha is None:
        reidentification = measures.reidentification()
        alike = _spelt_alike(respelt, rows, measures)
        if alike is not None:
            inference = {s: with_merged(own, alike.inference(s)) for s, own in inference.items()}
            reidentification = with_merged(reidentification, alike.reidentification())
        reidentification = measure_with_kept(questions, known, measuring, reidentification)
    else:
        from sievert.measurement import wildcards as _wildcards

        for secret in roles.sensitive:
            inference[secret], of_values = _wildcards.inference_under_wildcards(measures, secret)
            values |= {} if of_values is None else {secret: of_values}
        reidentification = _wildcards.reidentification_under_wildcards(measures, alpha, risks)
    order = RowOrder(seen=False)
    if plan.row_order and not settings.planned and table.state is None:  # a plan has no rows yet
        order = examine_order(rows, released_columns(rows, roles), measuring.orders)
    warnings += [*notes, *unused, *measures.warnings]
    warnings += order.notes if order.tells else []
    if settings.attacks:
        attacks, notes = _attack(measures, plan)
        warnings += notes
    if settings.records is not None and target is not None:
        clock("writing records", questions)
        with files.name_output(settings.records):
            from sievert.commands.assess import record_file

            kind = files.record_format(settings.records)
            if alpha is None or risks is None:
                record_file.write_records(measures, risks, target, kind)
            else:
                record_file.write_wildcard_records(measures, risks, values, target, kind)
    description = describe_input(table, questions, missing, dropped)
    if not wild:
        errors = table.error_cells if rows.complete else {}
        description["missing_values"], notes = missing_values(measures, errors)
        description["class_sizes"] = class_sizes(questions.sizes(roles.quasi), requested.policy)
        warnings += notes
        if (
            table.kind == "csv"
            and table.header
            and (same := questions.like_the_header(roles.quasi, roles.sensitive))
        ):
            warnings.append(Remark("header_again", records=plural(same, "record")))
    approximate = approximate_disclosure(measures)
    # A count state is no file that anybody passes on: it can only speak of a plan.
    planned = settings.planned or table.state is not None
    gate = requested.gate(
        questions.columns, roles, missing, dropped, questions.suppression, planned=planned
    )
    policy, options, explanation = None, None, None
    count = cache(partial(_count_combinations, questions, roles))
    if gate is not None:  # before the record file takes its place
        if unnamed:
            gate.undecided("rows_without_person")
        weighed = {*settings.weight_columns.values()}
        if replaced := [c for c in roles.kept if c in weighed]:
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
            from sievert.commands.assess.helpful_changes import OptionSearch

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
            search = OptionSearch(measures, changed, policy, reidentification, released)
            options, notes = search.find(count, wildcards=wild, leave_out=not dropped)
            warnings += notes
    if policy is None or not policy.of_suppressed:  # else limits look at the suppressed records
        smallest = questions.sizes(roles.quasi).least if questions.suppression.left_out else 0
        warnings += secrets_that_stay(questions.suppression, roles.sensitive, smallest)
    if settings.explain and not settings.quick and not wild:
        from sievert.measurement.subset_chapters import explain_columns

        explanation, notes = explain_columns(measures, count, clock)
        warnings += notes
    return Assessment(
        description,
        replace(roles, **settings.weight_columns),
        reidentification,
        inference,
        policy,
        attacks,
        approximate,
        _unicity(questions, roles, settings.trajectory),
        options,
        explanation,
        risks.chapter if risks is not None and settings.states_population else None,
        settings.framework,
        warnings=tuple(warnings),
        unassessed=columns_without_role(questions, roles, *settings.weight_columns.values()),
        **clock.stop(),
    )


def _spelt_alike(
    respelt: Respelt, rows: Questions, measures: TableMeasures
) -> TableMeasures | None:
    """The same measures of the table with all spellings merged; None where none coincide."""
    roles = measures.roles
    columns = [*roles.measured_columns, *roles.knowable]
    columns += [] if roles.person is None else [roles.person]
    merged = respelt.merge(rows, columns, measures.settings.named_values(roles.sensitive))
    if merged is None:
        return None
    return measures.of_other(merged if roles.person is None else count_people(merged, roles.person))


def _describe_population(
    questions: Questions,
    roles: Roles,
    plan: AssessmentPlan,
    alpha: Fraction | None,
    clock: Clock,
) -> "PopulationRisks | None":
    """What is said of the population, or needed of frequencies; None where neither is."""
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
    """The verdicts of a policy, and what is to be said of them.

    `alike` measures the same table with all spellings merged.
    """
    from sievert.policy import judge, judge_suppressed
    from sievert.policy.judgement import verdict_remarks

    limited = {m for _, m, _ in gate.policy.every_limit()}
    of_suppressed: OfSuppressed = measures.of_suppressed(limited, reidentification)
    if alike is not None:
        merged = alike.of_suppressed(limited, alike.reidentification())
        of_suppressed = suppressed_with_merged(of_suppressed, merged)
    if wildcards:  # limits on what they leave undefined are undecided, not mistakes
        undefined = {
            kind: {
                m.id: Value(
                    id=m.id, value=None, unit=m.unit, riskier=m.riskier, reason=NOT_WITH_WILDCARDS
                )
                for m in measures.measures
                if kind in m.kinds
            }
            for kind in ("record", "secret")
        }
        reidentification = {**undefined["record"], **reidentification}
        inference = {s: {**undefined["secret"], **values} for s, values in inference.items()}

    if replaced := measures.settings.replaced(gate.policy, measures.roles.sensitive):
        gate.not_met("settings_replaced", replaced)
    gate.certain = {} if wildcards else measures.certain_people(gate.unlimited)
    if alike is not None:
        gate.certain = more_certain(gate.certain, alike.certain_people(gate.unlimited))
    best = measures.best_numbers(limited)
    verdicts, doubts = judge(gate.policy, reidentification, inference, best)
    lines = judge_suppressed(gate.policy, *of_suppressed)
    return gate.judge([*verdicts, *lines]), [*doubts, *verdict_remarks(lines)]


def _in_people(
    questions: Questions, person: str, plan: AssessmentPlan
) -> tuple[Questions, list[Remark]]:
    """The table counted in people, and a note on rows without one."""
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


def _unicity(questions: Questions, roles: Roles, sightings: int | None) -> dict[str, Any] | None:
    """How often so many of a person's classes are nobody else's."""
    if sightings is None:
        return None
    from sievert.measures.unicity import Trajectories

    return Trajectories(questions.sighting_cube(roles.quasi)).unicity(sightings).to_dict()


def _count_combinations(questions: Questions, roles: Roles) -> Any:
    """The combinations of an explanation and of options, which not every assessment has."""
    from sievert.measurement.combinations import count_combinations

    return count_combinations(questions, roles.quasi, roles.sensitive)


def _attack(measures: TableMeasures, plan: AssessmentPlan) -> tuple[Attacks, list[Remark]]:
    """The attacks that need the release alone, and notes about them."""
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
    """How near each class leads to a secret number, where its values are not too many."""
    questions, quasi = measures.questions, measures.roles.quasi
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
    """How many classes, and records in them, have 1 record, 2, 3 or 4, and so on.

    One of the spans begins at the least k of a policy.
    """
    limits = {} if policy is None else {**policy.everywhere, **policy.reidentification}
    least_k = getattr(limits.get("k_anonymity"), "min", None) or 1
    begins = sorted({*SIZES, math.ceil(max(1, min(least_k, MOST_RECORDS)))})
    places = [*np.searchsorted(sizes.sizes, begins).tolist(), None]
    return [
        {"least": least, "most": end and end - 1, "classes": part.things, "records": part.records}
        for least, end, start, stop in zip(
            begins, [*begins[1:], None], places, places[1:], strict=False
        )
        for part in [Sizes(sizes.sizes[start:stop], sizes.times[start:stop])]
    ]
