"""One experiment: records are read as codes, and each parameter of a method gets a curve."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from sievert import files
from sievert.arrays import Floats, Ints
from sievert.commands.compromise.experiment import (
    ExperimentCurve,
    ExperimentData,
    ExperimentPlan,
    experiment_curve,
)
from sievert.commands.compromise.result import Compromises
from sievert.commands.compromise.settings import PARAMETERS, CompromiseSettings
from sievert.counts.questions import Questions
from sievert.errors import InputError, UsageError, require
from sievert.formatting import plural
from sievert.formatting.remarks import Remark, figure
from sievert.hierarchies import NUMBER
from sievert.losses.loss import GONE, PairedColumn, combination_codes
from sievert.methods import Queries, range_queries
from sievert.pairing import record_pairs
from sievert.pairing.evidence import Pairing
from sievert.pairing.pairing_file import OriginalFile, RowPairing, find_pairing
from sievert.request.requested import Reading, RequestedRoles, requested_roles
from sievert.request.suppression import keep_suppressed
from sievert.request.table_description import columns_without_role, describe_input
from sievert.roles import Roles
from sievert.session import Clock, Steps, no_progress
from sievert.settings.groups import reader_options
from sievert.sources.table import Table

MOST_VALUES = 400  # values of a domain
MOST_SUBSETS = 4096
QUERIES = 1000
HALF = 1e-6  # quotients that are closer to a half are rounded exactly
DEFAULTS: dict[str, tuple[float, ...]] = {
    "sampling": (0.05, 0.1, 0.2, 0.5),
    "query": (2, 4, 8, 16, 32),
    "noise": (10, 20, 25, 50, 100),
}


@dataclass(frozen=True, kw_only=True)
class ExperimentTables:
    """The records of the original and of a release, if any, paired by `places`; `notes` grows."""

    roles: Roles
    people: record_pairs.People
    notes: list[Remark]
    release: record_pairs.People | None = None
    places: Any = None  # of each original record in the release
    pairing: Pairing | None = None


@dataclass(frozen=True)
class SecretExperiment:
    """The curves of one confidential column, its domain, and the records that have a number."""

    curves: tuple[ExperimentCurve, ...]
    domain: Mapping[str, Any]
    records: Ints


def run(settings: CompromiseSettings, watch: Steps = no_progress) -> Compromises:
    """Run the experiment that `settings` ask for; `watch` is told of every step."""
    requested = requested_roles(
        settings.policy,
        settings.quasi,
        settings.sensitive,
        settings.identifier,
        person=settings.person,
    )
    settings.check_work()
    record_pairs.check_paired(settings.paired, settings.key)
    plan = plan_experiment(settings)
    how = requested.read_as_stated({**reader_options(settings)})
    reading = Reading(watch, verify=settings.verify, **how)
    released = _read_release(settings, reading)
    inputs = [settings.data, settings.release, settings.policy]
    with (
        files.write_whole(settings.records, sources=inputs, force=settings.force) as target,
        reading(settings.data, outputs=[target] if target else []) as (table, questions),
    ):
        reading.clock("reading the records", questions)
        tables = read_tables(table, questions, requested, settings, released)
        description = describe_input(table, questions)
        experiments = run_experiment(tables, plan, reading.clock)
        if settings.records is not None and target is not None:
            reading.clock("writing records", questions)
            with files.name_output(settings.records):
                kind = files.record_format(settings.records)
                columns = record_columns(experiments, tables.people.records, kind)
                questions.write_columns(columns, target, kind)
    return Compromises(
        table=description,
        roles=tables.roles,
        curves={secret: e.curves for secret, e in experiments.items()},
        domains={secret: e.domain for secret, e in experiments.items()},
        settings=_stated(plan),
        pairing=tables.pairing,
        warnings=tuple(tables.notes),
        unassessed=columns_without_role(questions, tables.roles, settings.key),
        **reading.clock.stop(),
    )


def plan_experiment(settings: CompromiseSettings) -> ExperimentPlan:
    """Choose the parameters of the method, and put the widths in order."""
    widths = sorted({float(e) for e in settings.epsilon})
    require(
        not any(not np.isfinite(e) or e < 0 for e in widths), "--epsilon takes widths from 0 on"
    )
    method = settings.method
    if settings.parameters is None:
        parameters = DEFAULTS.get(method, ())
    else:
        parameters = tuple(dict.fromkeys(settings.parameters))
    require(method == "release" or parameters, f"no {PARAMETERS.get(method)} given")
    return ExperimentPlan(settings=settings, parameters=parameters, epsilons=tuple(widths))


def _stated(plan: ExperimentPlan) -> dict[str, Any]:
    """Say in the result which method was run, and how."""
    settings = plan.settings
    return {
        "method": settings.method,
        "parameters": list(plan.parameters),
        "replicates": settings.rounds,
        "seed": settings.seed,
        "epsilon": list(plan.epsilons),
        "step": settings.step,
        "queries": QUERIES,
        **settings.method_options,
    }


# -- the tables ---------------------------------------------------------------------------------


def _read_release(settings: CompromiseSettings, reading: Reading) -> record_pairs.People | None:
    """Read the release record by record; it is paired once the original is there."""
    if settings.release is None:
        return None
    key = settings.key
    with reading(settings.release) as (table, questions):
        reading.clock("reading the release", questions)
        columns = [c for c in questions.columns if c != key]
        return record_pairs.people(questions, columns, key, table.name)


def _find_pairing(settings: CompromiseSettings, release: record_pairs.People) -> RowPairing:
    """Find the file that pairs the rows of the release with the original's, if there is one."""
    if settings.key is not None:
        return RowPairing()
    beside = find_pairing(settings.release, settings.temp)
    return beside.forget_rows(release.name) if settings.paired else beside


def read_tables(
    table: Table,
    questions: Questions,
    requested: RequestedRoles,
    settings: CompromiseSettings,
    release: record_pairs.People | None,
) -> ExperimentTables:
    """Read the original records as codes, and pair the records of the release with them."""
    key = settings.key
    roles, notes = requested.assign(questions)
    require(roles.sensitive, "no confidential column of numbers given", hint="-s salary")
    require(
        key is None or key not in roles.measured_columns, f"the key {key!r} is no role of a release"
    )
    if 2 ** len(roles.quasi) > MOST_SUBSETS:
        notes.append(Remark("known_columns", number=figure(len(roles.quasi))))
    notes += requested.prepare(questions, roles, settings.missing, all_rows=True)[1]
    notes += keep_suppressed(questions, roles, Remark("every_record_searched"))
    people = record_pairs.people(questions, roles.measured_columns, key, table.name)
    tables = ExperimentTables(roles=roles, people=people, notes=notes)
    if release is None:
        return tables
    file = OriginalFile(settings.data, table)
    beside = _find_pairing(settings, release).fits(file, release.records, people.records)
    release = replace(release, rows=beside.rows)
    places, extra = record_pairs.record_places(people, release)
    if extra:
        notes.append(Remark("release_extra", records=plural(extra, "record")))
    known = [q for q in roles.quasi if q in release.cube.columns]
    marked = release.cube.all_have(known, questions.suppression.mark)
    number = int(np.count_nonzero(marked)) if known else 0
    if number:
        suppressed = Remark("release_suppressed", records=plural(number, "record"))
        notes.append(Remark("as_class", what=suppressed))
    tables = replace(tables, release=release, places=places)
    pairing = _check_pairing(tables, questions, settings, beside, file)
    notes += pairing.notes()
    return replace(tables, pairing=pairing)


def _check_pairing(
    tables: ExperimentTables,
    questions: Questions,
    settings: CompromiseSettings,
    beside: RowPairing,
    file: OriginalFile,
) -> Pairing:
    """Make sure that the records of the release belong to those of the original they stand by."""
    release = tables.release
    assert release is not None
    people = tables.people
    roles = tables.roles
    shared = [c for c in roles.measured_columns if c in release.cube.columns]
    mine = people.cube if beside.rows is None else people.cube.select_cells(beside.rows)
    columns: Sequence[PairedColumn] = []
    if settings.key is None:
        columns = record_pairs.pair_in_order(mine, release.cube, shared, {})
    if beside.rows is not None:
        proven = beside.is_proven(file)
        return record_pairs.check_pairing_file(release.name, columns, proven=proven)
    return record_pairs.check_pairing(
        release.name,
        columns,
        partial(_pair_further_columns, questions, roles, release, people.name),
        keyed=release.keyed,
        stated=settings.paired,
        unused=beside.unused,
    )


def _pair_further_columns(
    questions: Questions, roles: Roles, release: record_pairs.People, name: str
) -> list[PairedColumn]:
    """Pair columns without a role in the experiment, as further evidence of the order."""
    others = record_pairs.read_further(questions, roles.measured_columns, roles.identifier, name)
    if others is None:
        return []
    shared = [c for c in others.columns if c in release.cube.columns]
    return record_pairs.pair_in_order(others, release.cube, shared, {})


# -- the experiment -----------------------------------------------------------------------------


def run_experiment(
    tables: ExperimentTables, plan: ExperimentPlan, clock: Clock
) -> dict[str, SecretExperiment]:
    """Compute a curve for each confidential column and parameter."""
    settings = plan.settings
    quasi = tables.roles.quasi
    most = settings.max_known
    require(most is None or most >= 1, "--max-known must be at least 1")
    sizes = range(1, (len(quasi) if most is None else min(len(quasi), most)) + 1)
    experiments = {}
    for secret in tables.roles.sensitive:
        data, records = _experiment_data(tables, secret, settings.step)
        queries = _queries(tables, settings, data)
        released = _released_codes(tables, secret, records, settings.step, data.values)
        number = max(1, len(plan.parameters))
        titles = iter(
            f"{secret}: run {i} of {number * settings.rounds}"
            for i in range(number * settings.rounds + 1)
        )

        def next_round(titles: Any = titles) -> None:
            clock(next(titles), None)

        next_round()
        curves = tuple(
            experiment_curve(data, plan, place, sizes, queries, released, next_round)
            for place in range(number)
        )
        domain: dict[str, Any] = {"values": len(data.values), "records": len(records)}
        if settings.show_values:
            domain |= {"low": float(data.values[0]), "high": float(data.values[-1])}
        experiments[secret] = SecretExperiment(curves=curves, domain=domain, records=records)
    return experiments


def _experiment_data(
    tables: ExperimentTables, secret: str, step: float | None
) -> tuple[ExperimentData, Ints]:
    """The codes of all records that have a number, and their places among the records."""
    numbers = tables.people.numbers(secret, hint="-s with a column of numbers")
    by_record = multiples(numbers, step)[tables.people.codes(secret)]
    there = np.flatnonzero(~np.isnan(by_record))
    lacking = len(by_record) - len(there)
    if lacking:
        records_lacking = plural(lacking, "record")
        tables.notes.append(Remark("no_number_in", records=records_lacking, column=repr(secret)))
    require(len(there), f"column {secret!r} holds no number", error=InputError)
    values, codes = np.unique(by_record[there], return_inverse=True)
    if len(values) > MOST_VALUES:
        width = (values[-1] - values[0]) / 50
        raise UsageError(
            f"column {secret!r} has {len(values):,} different numbers, more than "
            f"{MOST_VALUES}: an experiment over all of them would not end",
            hint=f"--step {float(f'{width:.1g}') if width > 0 else 1.0:g} rounds them",
        )
    known = [_ranks(tables.people, c)[there] for c in tables.roles.quasi]
    return ExperimentData(
        known=np.stack(known, axis=1),
        secret=codes,
        values=values,
        sizes=tuple(int(k.max()) + 1 for k in known),
    ), there


def _ranks(people: record_pairs.People, column: str) -> Ints:
    """The codes of a known column: numbers in their order, texts in alphabetical order."""
    texts = people.texts(column)
    codes = people.codes(column)
    present = np.unique(codes)
    values = [texts[c] for c in present.tolist()]
    order = np.arange(len(values))
    if all(t is not None and NUMBER.fullmatch(t) for t in values):
        order = np.argsort([float(t) if t else 0.0 for t in values], kind="stable")
    rank = np.zeros(len(texts), dtype=np.int64)
    rank[present[order]] = np.arange(len(order))
    return rank[codes]


def _queries(
    tables: ExperimentTables, settings: CompromiseSettings, data: ExperimentData
) -> Queries | None:
    if settings.method not in PARAMETERS:
        return None
    try:
        return range_queries(
            data.known, data.secret, data.values, QUERIES, settings.seed, sizes=data.sizes
        )
    except InputError:
        tables.notes.append(Remark("no_utility"))
        return None


def _released_codes(
    tables: ExperimentTables, secret: str, records: Ints, step: float | None, values: Floats
) -> tuple[Ints, Ints] | None:
    """The released number of each original record, as the code of a value, and its class."""
    people = tables.release
    if people is None:
        return None
    at = tables.places[records]
    require(secret in people.cube.columns, f"the release lacks the confidential column {secret!r}")
    numbers = people.numbers(secret, "the released column")
    released = np.append(multiples(numbers, step)[people.codes(secret)], np.nan)[at]
    above = np.clip(np.searchsorted(values, released), 0, len(values) - 1)
    nearer = np.abs(released - values[above - 1]) < np.abs(released - values[above])
    nearest = np.where((above > 0) & nearer, above - 1, above)
    codes = np.where(np.isnan(released), GONE, nearest)
    shared = [q for q in tables.roles.quasi if q in people.cube.columns]
    require(shared, "the release has none of the known columns")
    return codes, combination_codes(
        [np.append(people.codes(q).astype(np.int64), GONE)[at] for q in shared], at != GONE
    )


def record_columns(
    experiments: Mapping[str, SecretExperiment], records: int, kind: str
) -> dict[str, tuple[str, Sequence[Any]]]:
    """The record file: the uncertainty of each record's number for one who knows all columns."""
    columns: dict[str, tuple[str, Sequence[Any]]] = {"record": ("BIGINT", range(1, records + 1))}
    for secret, experiment in experiments.items():
        title = files.escape_formula(secret) if kind == "csv" else secret
        for curve in experiment.curves:
            parameter = "" if curve.parameter is None else f"_{curve.parameter:.12g}"
            for name, numbers in curve.people.items():
                by_record = np.full(records, None, dtype=object)
                by_record[experiment.records] = numbers
                columns[f"{title}_{name}{parameter}"] = ("DOUBLE", by_record.tolist())
    return columns


def multiples(numbers: Floats, step: float | None) -> Floats:
    """Round numbers, read as they print, to multiples of a `step`; halves to even multiples.

    >>> multiples(np.array([0.29, 0.35, 0.45, np.nan]), 0.1).tolist()
    [0.3, 0.4, 0.4, nan]
    """
    if step is None:
        return numbers
    require(step > 0 and np.isfinite(step), "--step must be a positive number")
    exact = Fraction(repr(float(step)))
    with np.errstate(over="ignore"):
        shares = numbers / step
    require(not np.isinf(shares).any(), "--step is too small for these numbers")
    whole = np.rint(shares)
    for place in np.flatnonzero(np.abs(np.abs(shares - whole) - 0.5) < HALF).tolist():
        whole[place] = round(Fraction(repr(float(numbers[place]))) / exact)
    distinct, places = np.unique(whole, return_inverse=True)
    return np.array([k if np.isnan(k) else float(int(k) * exact) for k in distinct.tolist()])[
        places
    ]
