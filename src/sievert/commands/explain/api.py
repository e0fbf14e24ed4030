"""The public function `explain`: which columns, values and records drive the risk of a table.

It has one keyword per option of the command, so that editors and `help` show them all.
"""

import os
from collections.abc import Iterable, Mapping
from typing import Any, Unpack

from sievert import files
from sievert.checks.spellings import counted_as_spelt
from sievert.commands.explain.result import Explanation
from sievert.commands.explain.run import (
    ExplanationRun,
    ExplanationSettings,
    explain_risk,
    in_people,
    rank,
)
from sievert.errors import UsageError
from sievert.measurement.population_risks import LARGE
from sievert.measurement.population_settings import PopulationSettings
from sievert.measurement.table_measures import MeasureSettings
from sievert.request.requested import PolicySource, Reading, requested_roles
from sievert.request.table_description import columns_without_role, describe_input
from sievert.session import Steps, no_progress
from sievert.sources.options import ReaderOptions

THREADS = 2


# The public function: its keywords are the options of the command, its docstring their reference.
def explain(
    data: Any,
    quasi: str | Iterable[str] | None = None,
    sensitive: str | Iterable[str] | None = None,
    identifier: str | Iterable[str] | None = None,
    *,
    person: str | None = None,
    max_size: int | None = None,
    budget: int | None = None,
    orders: int | None = None,
    seed: int = 0,
    hierarchies: Mapping[str, Any] | None = None,
    population_size: int | None = None,
    fraction: float | str | None = None,
    population: Any = None,
    weight: str | None = None,
    household: str | None = None,
    individual_risk: str = "exact",
    alpha: float | str | None = None,
    policy: PolicySource = None,
    records: str | os.PathLike[str] | None = None,
    force: bool = False,
    show_values: bool = False,
    missing: str = "value",
    verify: bool = False,
    watch: Steps = no_progress,
    **source: Unpack[ReaderOptions],
) -> Explanation:
    """Explain which columns, values and records drive the risk of a table.

    Parameters
    ----------
    data
        As for `assess`: a path, a frame, a dict of lists, or a count state, whose records have no
        row numbers.
    quasi, sensitive, identifier
        Columns an outsider could know; secrets; columns that are dropped before release. Without
        secrets every column is ranked as one; without quasi-identifiers that is all.
    person
        The column whose values tell people apart, where a person may have several rows: classes
        are then counted in distinct people.
    max_size, budget
        Measure subsets of at most so many columns, or so many subsets, the most telling first. All
        subsets are measured up to 12 columns; beyond, as large ones as 4,095 subsets allow.
    orders, seed
        Orders of the columns from which Shapley values are sampled where not all subsets are
        measured; 64 unless given, fewer beyond 64 columns.
    hierarchies
        How quasi-identifiers could be coarsened: "interval:5,10", "date:month,year", a file, a
        tree, a `Hierarchy` (docs/protect.md has every kind); those of the policy where they fit.
    population_size, fraction, population
        The table is a sample: of so many people, of this share of them, of this table.
    weight, household
        Columns: how many people a record stands for; which household it belongs to.
    individual_risk
        With weights: the "exact" risk, or "approx", sdcMicro's default, which is never below it.
    alpha
        With missing="wildcard": how much a record counts that lacks a value which another one has.
    policy
        Only its roles are used.
    records
        Write one row a record, in input order, to this CSV or Parquet file.
    show_values
        Name values of the data in the result.
    missing
        What a missing quasi-identifier is: a "value" of its own, a "wildcard" that matches anything
        (in the frequencies of records and in what follows from weights; elsewhere it stays a
        value), a reason to "drop" the record, or an "error".
    source
        How to read: delimiter, encoding, types, na, engine, memory, threads, temp.

    >>> table = {"zip": ["1", "1", "2", "3"], "sex": ["f", "m", "m", "m"]}
    >>> found = explain(table, ["zip", "sex"])
    >>> found.subset("zip").reidentification["unique_count"], found.whole.columns
    (2, ('zip', 'sex'))
    """
    if records is not None:
        files.record_format(records)
    requested = requested_roles(policy, quasi, sensitive, identifier, person=person)
    stated = PopulationSettings(
        population_size, fraction, population, weight, household, alpha, individual_risk
    )
    settings = ExplanationSettings(
        max_size=max_size,
        budget=budget,
        orders=orders,
        seed=seed,
        threads=source.get("threads") or THREADS,
        show_values=show_values,
        hierarchies=hierarchies or {},
        stated=MeasureSettings().with_policy(requested.policy).hierarchies,
        distinct=requested.policy.roles.distinct_spellings if requested.policy else (),
        population=stated,
        alpha=stated.share_of_match(missing),
    )
    reading = Reading(watch, LARGE, verify=verify, **requested.read_as_stated({**source}))
    with (
        files.write_whole(
            records, sources=[data, policy, population, *(hierarchies or {}).values()], force=force
        ) as target,
        reading(data, outputs=[target] if target else [], states=True) as (table, questions),
    ):
        requested = requested.of_table(table)
        roles, warnings = requested.assign(questions, quasi_needed=False, people=True)
        if roles.sensitive and not roles.quasi:
            from sievert.request.role_suggestion import no_quasi

            raise no_quasi(questions, roles.every_column, roles.person)
        stated.check_columns(questions, roles.quasi)
        if records is not None:
            questions.engine.check_writable()
        dropped, notes = requested.prepare(questions, roles, missing)
        if roles.person is not None and roles.quasi:
            notes += counted_as_spelt(questions, [roles.person], requested.policy)
            questions = in_people(questions, roles.person, settings)
        description = describe_input(table, questions, missing, dropped)
        run = ExplanationRun(
            questions=questions,
            roles=roles,
            settings=settings,
            clock=reading.clock,
            warnings=[*warnings, *notes],
        )
        if roles.quasi:
            subsets, chapters = explain_risk(run, source, records, target)
        elif settings.population.any or records is not None:
            raise UsageError("no quasi-identifiers given", hint="-q COLUMNS")
        else:
            subsets, chapters = (), {"ranking": rank(run, None)}
    return Explanation(
        table=description,
        roles=roles,
        subsets=subsets,
        chapters=chapters,
        warnings=tuple(run.warnings),
        unassessed=columns_without_role(questions, roles, weight, household) if roles.quasi else (),
        **reading.clock.stop(),
    )
