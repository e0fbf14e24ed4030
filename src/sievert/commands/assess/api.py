"""The public function `assess`.

It has one keyword per option of the command, so that editors and `help` show them all.
"""

import math
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Unpack

from sievert import files
from sievert import roles as role
from sievert.commands.assess.frameworks import FRAMEWORKS
from sievert.commands.assess.result import Assessment
from sievert.commands.assess.run import AssessmentSettings, assess_table
from sievert.counts.questions import Questions
from sievert.errors import require
from sievert.measurement.population_settings import PopulationSettings
from sievert.measurement.table_measures import MeasureSettings, check_hierarchies
from sievert.request.requested import (
    PolicySource,
    Reading,
    RequestedRoles,
    check_known,
    check_switches,
    check_whole,
    collect_sets,
    requested_roles,
)
from sievert.session import Clock, Steps, no_progress
from sievert.sources.options import ReaderOptions
from sievert.sources.table import Table

MOST_SIGHTINGS = 1000


def assess(
    data: Any,
    quasi: str | Iterable[str] | None = None,
    sensitive: str | Iterable[str] | None = None,
    identifier: str | Iterable[str] | None = None,
    *,
    key_sets: Iterable[str | Iterable[str]] | None = None,
    person: str | None = None,
    trajectory: int | None = None,
    population_size: int | None = None,
    fraction: float | str | None = None,
    population: Any = None,
    weight: str | None = None,
    household: str | None = None,
    individual_risk: str = "exact",
    alpha: float | str | None = None,
    hierarchies: Mapping[str, Any] | None = None,
    orders: Mapping[str, Iterable[str]] | None = None,
    partitions: Mapping[str, Mapping[str, Iterable[str]]] | None = None,
    parameters: Mapping[str, Mapping[str, Any]] | None = None,
    policy: PolicySource = None,
    planned: bool = False,
    records: str | os.PathLike[str] | None = None,
    force: bool = False,
    measures: Iterable[str] | None = None,
    attacks: bool = False,
    value: Mapping[str, str] | None = None,
    show_values: bool = False,
    missing: str = "value",
    quick: bool = False,
    explain: bool = False,
    framework: str | None = None,
    verify: bool = False,
    watch: Steps = no_progress,
    **source: Unpack[ReaderOptions],
) -> Assessment:
    """Measure how much a table exposes the people in it.

    Parameters
    ----------
    data
        A path to a CSV, TSV or Parquet file; a pandas, Polars or Arrow frame; a dict of lists; or a
        count state (`count`), with its own roles where none are given.
    quasi, sensitive, identifier
        Columns an outsider could know; secrets; columns that are dropped before release.
    key_sets
        In place of `quasi`: several sets of quasi-identifiers, each assessed on its own. The result
        is that of the worst one: policy not met or undecided, smallest k, most unique people.
    person
        The column whose values tell people apart, where a person may have several rows: classes
        are then counted in distinct people.
    trajectory
        With a person: how often so many of a person's classes are nobody else's (unicity).
    population_size, fraction, population
        The table is a sample: of so many people, of this share of them, of this table.
    weight, household
        Columns: how many people a record stands for; which household it belongs to.
    individual_risk
        With weights: the "exact" risk, or "approx", sdcMicro's default, which is never below it.
    alpha
        With missing="wildcard": how much a record counts that lacks a value which another one has.
    hierarchies, orders, partitions
        For secrets: a `Hierarchy` (or a file), the values from low to high, parts by meaning. A
        hierarchy of a quasi-identifier says how it could be coarsened (`options`).
    parameters
        Such as ``{"recursive_c": {"l": 3}, "records_below": {"k": 5}}``.
    policy
        Limits: a `Policy`, a TOML file, or its content as a dict. A table that holds a column which
        the policy calls identifier, person, household, ignored or dropped does not meet it.
    planned
        With a policy: ask about a planned release without those columns. `planned_met` has the
        answer, and `met` is None. Of a count state that is always the question.
    records
        Write one row a record, in input order, to this CSV or Parquet file.
    measures
        Compute only these ids; all that apply unless given.
    attacks, value, show_values
        Run the attacks that need the release alone; of each secret the value whose rise in a class
        matters, such as ``{"disease": "HIV"}``; name values of the data in their results.
    missing
        What a missing quasi-identifier is: a "value" of its own, a "wildcard" that matches anything
        (only k, the records below it, l and what follows from weights are then defined), a reason
        to "drop" the record, or an "error".
    quick, explain
        Leave out what would help (`options`), which an assessment with a policy has; say why the
        numbers are as they are (`explanation`): the share of each column, the most telling columns.
    framework
        Map the numbers to the criteria of a regulator: "wp216", "ico", "hipaa", "ema0070",
        "iso27559" or "sp800188"; the SHA-256 of the input is noted too.
    verify
        Check the page checksums of Parquet files, and note the SHA-256 of the input.
    source
        How to read: delimiter, encoding, types, na, engine, memory, threads, temp.

    >>> table = {"zip": ["1", "1", "2", "2"], "disease": ["flu", "flu", "flu", "hiv"]}
    >>> found = assess(table, ["zip"], ["disease"])
    >>> found.reidentification["k_anonymity"].value, found.inference["disease"]["l_diversity"].value
    (2, 1)
    """
    check_switches(
        planned=planned,
        force=force,
        attacks=attacks,
        show_values=show_values,
        quick=quick,
        explain=explain,
        verify=verify,
    )
    if records is not None:
        files.record_format(records)
    require(
        attacks or (not value and not show_values),
        "a named value and values to show belong to attacks",
        hint="--attacks",
    )
    if framework is not None:
        check_known("a framework", framework, FRAMEWORKS)
    sets = None if key_sets is None else collect_sets(key_sets)
    require(
        sets is None or quasi is None,
        "key sets take the place of quasi-identifiers",
        hint="--key-set or -q, not both",
    )
    require(
        sets is None or records is None,
        "a record file is about one set of quasi-identifiers",
        hint="-q COLUMNS in place of --key-set",
    )
    require(
        not planned or policy is not None,
        "planned asks whether a release would meet a policy",
        hint="--policy FILE",
    )
    requested = requested_roles(policy, quasi, sensitive, identifier, person=person)
    if parameters:
        from sievert.policy import check_parameters

        check_parameters(parameters)
    if trajectory is not None:
        check_whole("--trajectory", trajectory, 1, MOST_SIGHTINGS)
        require(
            person is not None or (requested.policy and requested.policy.roles.person is not None),
            "a trajectory needs to know who is who",
            hint="--person COLUMN",
        )
    stated = PopulationSettings(
        population_size, fraction, population, weight, household, alpha, individual_risk
    )
    measuring = MeasureSettings(
        hierarchies or {},
        orders or {},
        partitions or {},
        {**stated.parameters, **(parameters or {})},
    ).with_policy(requested.policy)
    check_hierarchies(measuring.hierarchies)
    settings = AssessmentSettings(
        measuring,
        measures,
        missing,
        attacks,
        value or {},
        show_values,
        records,
        trajectory,
        quick,
        explain,
        stated,
        stated.share_of_match(missing),
        source,
        framework,
        planned=planned,
    )
    how = requested.read_as_stated({**source})
    reading = Reading(watch, None, verify=verify or framework is not None, **how)
    secrets = len(requested.names(())[1])
    with (
        files.write_whole(
            records,
            sources=[data, policy, population, *measuring.hierarchies.values()],
            force=force,
        ) as target,
        reading(data, outputs=[target] if target else [], secrets=secrets, states=True) as opened,
    ):
        table, questions = opened
        requested = requested.of_table(table)
        if sets is not None:
            return assess_key_sets(table, questions, requested, sets, settings, reading.clock)
        return assess_table(table, questions, requested, settings, reading.clock, target)


# -- several key sets ----------------------------------------------------------------------------


NOT_MET_FIRST = (False, None, True)
RANKED = ("k_anonymity", "unique_records")


def assess_key_sets(
    table: Table,
    questions: Questions,
    requested: RequestedRoles,
    given: Sequence[str | tuple[str, ...]],
    settings: AssessmentSettings,
    clock: Clock,
) -> Assessment:
    """The worst of the assessments of each set, with all of them beside it."""
    sets = [role.names(each, questions.columns) for each in given]
    assessments = []
    for number, key_set in enumerate(sets):
        fork, others = questions.fork(), (*sets[:number], *sets[number + 1 :])
        one = replace(requested, given=[key_set, *requested.given[1:]], other_sets=others)
        assessments.append(assess_table(table, fork, one, settings, clock, None))
        fork.forget_counts()
    return replace(min(assessments, key=_rank), key_sets=tuple(assessments), **clock.stop())


def _rank(assessment: Assessment) -> tuple[int, float, float]:
    """The worst first: policy not met, then undecided; the smallest k; the most unique people."""
    numbers = assessment.reidentification
    k, unique = (numbers[m].value if m in numbers else None for m in RANKED)
    outcome = None if assessment.policy is None else assessment.policy.outcome
    return NOT_MET_FIRST.index(outcome), math.inf if k is None else k, -(unique or 0.0)
