"""The work of compare: read the original first, then one release after the other."""

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import Any

from sievert import roles as role
from sievert.checks.row_order import examine_order, released_columns
from sievert.commands.compare.distance_to_limit import Limits, ReleasePlace
from sievert.commands.compare.estimation import (
    Each,
    OriginalInformation,
    begin_disclosure,
    begin_information,
    chance_notes,
    doubts,
    fill_unreleased,
    neighbour_information,
    scattered_numbers,
)
from sievert.commands.compare.policy import Judging, gather_remarks
from sievert.commands.compare.ranking import dominance, loss_correlations
from sievert.commands.compare.result import (
    Assessed,
    Compared,
    ComparedOriginal,
    Comparison,
    ComparisonChoices,
    LeastDisclosure,
    PairedRecords,
    ReleaseDistance,
)
from sievert.commands.compare.settings import CompareSettings
from sievert.counts.cube import Cube
from sievert.counts.questions import Questions
from sievert.errors import InputError, require
from sievert.estimators import (
    quantile_bins,
)
from sievert.formatting import make_unique, plural
from sievert.formatting.remarks import Remark
from sievert.hierarchies import Hierarchy, to_hierarchy
from sievert.losses import KINDS
from sievert.losses.loss import Release, as_numbers, combination_codes, in_order
from sievert.measurement.table_measures import (
    MeasureSettings,
    check_hierarchies,
    unused_settings,
)
from sievert.numerics.acceleration import thread_count
from sievert.pairing import record_pairs
from sievert.pairing.pairing_file import OriginalFile, RowPairing, find_pairing
from sievert.policy import Judgement
from sievert.request.requested import Reading, RequestedRoles, check_known, requested_roles
from sievert.request.suppression import leave_out_suppressed
from sievert.request.table_description import columns_without_role, describe_input
from sievert.roles import Roles
from sievert.session import Clock, Steps, no_progress
from sievert.settings.groups import reader_options
from sievert.sources.isolation import require_memory
from sievert.sources.options import missing_codes
from sievert.sources.table import Table

BESIDE = (  # measures that are shown for the original and for each release
    "classes",
    "k_anonymity",
    "unique_records",
    "average_risk",
    "discrimination_rate",
    "itpr",
    "itpr_unnormalized",
    "max_confidence",
    "l_diversity",
    "entropy_l",
    "t_closeness",
    "mutual_information",
)
SUPPRESSED = Remark("left_out_bits")
RECORD_BYTES = 150  # bytes that each column of a record takes at least; measured and rounded
MOST_TOGETHER = 1000  # shuffles; with more, threads share the shuffles of one target at a time


@dataclass(frozen=True, kw_only=True)
class ComparisonPlan:
    """The settings of a comparison, and what follows from them and from the policy."""

    settings: CompareSettings
    hierarchies: Mapping[str, Any]  # given, and those of the policy
    threads: int

    @property
    def _one_by_one(self) -> bool:
        return self.threads == 1 or self.settings.shuffles > MOST_TOGETHER

    @property
    def estimation(self) -> dict[str, Any]:
        """How the information about one target is estimated."""
        return {
            "shuffles": self.settings.shuffles,
            "seed": self.settings.seed,
            "threads": self.threads if self._one_by_one else 1,
        }

    @contextmanager
    def workers(self) -> Iterator[Each]:
        """Give a `map` that begins all targets at once, on all threads; an error drops the rest."""
        if self._one_by_one:
            yield map
            return
        pool = ThreadPoolExecutor(self.threads)
        try:
            yield pool.map
        finally:
            pool.shutdown(cancel_futures=True)


# -- the original -------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Original:
    """The original, which is read and estimated once for all releases."""

    table: Mapping[str, Any]
    roles: Roles
    people: record_pairs.People
    further: Cube | None  # other columns, if records are paired by their order
    predicted: tuple[str, ...]
    pair: Callable[[record_pairs.People], Release]  # pairs the original with a release
    edges: Mapping[str, Any]  # the edges of the bins of numbers
    information: Callable[[], OriginalInformation]  # waits for the estimates
    limits: Callable[[], Limits | None]
    assessment: Assessed
    policy: Judgement | None
    doubts: list[Remark]  # about the policy
    notes: list[Remark]
    unassessed: tuple[str, ...]
    columns: tuple[str, ...]
    file: OriginalFile


def read_original(
    data: Any,
    table: Table,
    questions: Questions,
    requested: RequestedRoles,
    predict: Any,
    plan: ComparisonPlan,
    judging: Judging,
    clock: Clock,
    each: Each,
) -> Original:
    """Read the roles and records of the original; begin to estimate what it tells about secrets."""
    columns = questions.columns
    key = plan.settings.key
    roles, notes = requested.assign(questions)
    require(
        not plan.settings.limit or roles.sensitive,
        "a limit on what is told needs a secret",
        hint="-s COLUMNS",
    )
    predicted = role.names(predict, columns) or roles.sensitive
    _check_columns(plan, roles, predicted, columns)
    used = tuple(dict.fromkeys((*roles.measured_columns, *predicted)))
    notes += requested.prepare(questions, roles, plan.settings.missing, predicted, all_rows=True)[1]
    clock("reading the original's records", questions)
    if key is not None:
        check_known("--key: column of the original", key, columns)
    require_memory(
        RECORD_BYTES * questions.records * len(used),
        f"{plural(questions.records, 'record')} are compared in memory, {len(used)} columns each",
        "a larger --memory, fewer columns, or a sample of both tables",
    )
    as_spelt = requested.calls_distinct(key)
    people = record_pairs.people(questions, used, key, table.name, as_spelt=as_spelt)
    if people.keyless:
        notes.append(Remark("original_keyless", records=plural(people.keyless, "record")))
    require(people.records, f"{table.name}: no record has a key", error=InputError)
    by_order = plan.settings.key is None  # the tables must show it
    further = None
    if by_order:
        further = record_pairs.read_further(questions, used, roles.identifier, table.name)
    description = describe_input(table, questions)
    pair = partial(
        record_pairs.pair_columns,
        people,
        quasi=roles.quasi,
        secrets=(*roles.sensitive, *(p for p in predicted if p not in roles.measured_columns)),
        hierarchies=_hierarchies(people, used, plan.hierarchies),
        predicted=predicted,
        seed=plan.settings.seed,
    )
    edges = _edges(people, roles.measured_columns, plan.settings.bins or {}, notes)
    information = begin_information(
        record_pairs.cut_numbers(pair(people), edges), roles.sensitive, plan.estimation, each
    )
    notes += unused_settings(replace(judging.settings, hierarchies={}), roles, columns)
    notes += leave_out_suppressed(questions, roles, where=SUPPRESSED)
    description["suppressed"] = questions.suppression.records
    assessment = judging.assess(BESIDE, table, questions, roles, clock, original=True)
    order = examine_order(questions, released_columns(questions, roles), judging.settings.orders)
    policy, policy_doubts = judging.judge(None, assessment, roles, questions, order)
    return Original(
        table=description,
        roles=roles,
        people=people,
        further=further,
        predicted=predicted,
        pair=pair,
        edges=edges,
        information=information,
        limits=cache(lambda: Limits(information()) if plan.settings.limit else None),
        assessment=assessment,
        policy=policy,
        doubts=policy_doubts,
        notes=notes,
        unassessed=columns_without_role(questions, roles, *predicted, key),
        columns=tuple(columns),
        file=OriginalFile(data, table),
    )


def _check_columns(
    plan: ComparisonPlan, roles: Roles, predicted: Sequence[str], columns: Sequence[str]
) -> None:
    """Refuse options on columns that do not exist, or that have no suitable role."""
    for what, given in (
        ("hierarchy", plan.hierarchies),
        ("bins", plan.settings.bins or {}),
        ("--predict", predicted),
    ):
        for column in given:
            check_known(f"{what}: column", column, columns)
    for column, number in (plan.settings.bins or {}).items():
        require(number == 0 or number >= 2, "bins: at least 2, or 0 for the values as they are")
        require(column in roles.measured_columns, f"bins: column {column!r} is neither -q nor -s")
    require(
        plan.settings.key is None or plan.settings.key not in (*roles.measured_columns, *predicted),
        f"the key {plan.settings.key!r} tells everybody apart: it is no role of a release",
        hint="-q and -s without it",
    )


def _hierarchies(
    people: record_pairs.People, columns: Sequence[str], given: Mapping[str, Any]
) -> dict[str, Hierarchy]:
    """Make the hierarchies of columns in use from the given ones."""
    trees: dict[str, Hierarchy] = {}
    for column in columns:
        if column not in given:
            continue
        texts = people.cube.value_counts(people.cube.columns.index(column))
        tree = to_hierarchy(given[column], texts, column)
        if tree is not None:
            tree.require(texts, column)
            trees[column] = tree.with_root()
    return trees


def _edges(
    people: record_pairs.People,
    columns: Sequence[str],
    bins: Mapping[str, int],
    notes: list[Remark],
) -> dict[str, Any]:
    """Cut columns of numbers into bins, if nearly all numbers differ or `bins` say so."""
    edges: dict[str, Any] = {}
    for column in columns:
        number = bins.get(column)
        numbers = as_numbers(people.texts(column))
        require(
            number is None or number <= 0 or numbers is not None,
            f"bins: column {column!r} does not hold numbers",
        )
        codes = people.codes(column)
        if numbers is None or number == 0:
            continue
        if number is None and not record_pairs.sparse_numbers(codes):
            continue
        if number is None:
            notes.append(Remark("binned_original", column=repr(column), name=column))
        edges[column] = quantile_bins(numbers[codes], number)
    return edges


# -- releases -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class ComparedRelease:
    """A release that was compared, with remarks on it and on its policy, and its distortion."""

    release: Compared
    remarks: list[Remark]
    doubts: list[Remark]
    place: ReleasePlace | None


def compare_release(
    name: str,
    table: Table,
    questions: Questions,
    original: Original,
    beside: RowPairing,
    plan: ComparisonPlan,
    judging: Judging,
    clock: Clock,
    each: Each,
) -> ComparedRelease:
    """Compare one release with the original."""
    roles = original.roles
    columns = questions.columns
    quasi = tuple(c for c in roles.quasi if c in columns)
    secrets = tuple(c for c in roles.sensitive if c in columns)
    require(
        quasi,
        f"{table.name}: the release has none of the quasi-identifiers",
        hint="the same names of columns in both tables",
    )
    wanted = dict.fromkeys((*roles.measured_columns, *original.predicted))
    there = [c for c in wanted if c in columns]
    lacking = [c for c in wanted if c not in columns]
    clock(f"reading the records of {name}", questions)
    as_spelt = original.people.as_spelt
    people = record_pairs.people(questions, there, plan.settings.key, table.name, as_spelt=as_spelt)
    people = people.hide_suppressed(quasi, questions.suppression.mark)
    if plan.settings.paired:
        beside = beside.forget_rows(table.name)
    beside = beside.fits(original.file, people.records, original.people.records)
    release = original.pair(replace(people, rows=beside.rows))
    clock(f"checking how the records of {name} are paired", questions)
    if beside.rows is not None:
        proven = beside.is_proven(original.file)
        pairing = record_pairs.check_pairing_file(table.name, release.columns, proven=proven)
    else:
        pairing = record_pairs.check_pairing(
            table.name,
            release.columns,
            partial(record_pairs.pair_further, original.further, questions, table.name),
            keyed=people.keyed,
            stated=plan.settings.paired,
            unused=beside.unused,
        )
    strange = len(set(columns) - set(original.columns))
    remarks = [
        *questions.engine.notes,
        *record_pairs.pairing_notes(release, people, pairing, lacking, strange),
    ]
    if people.keyed and not as_spelt:
        remarks += record_pairs.respelt_pairs(original.people.cube, people.cube)
    description = describe_input(table, questions)
    rows = questions.records
    information = original.information()
    ordered = in_order(release)
    losses = each(lambda kind: kind.compute(ordered), KINDS)
    cut = record_pairs.cut_numbers(release, original.edges)
    key = fill_unreleased(combination_codes([c.released for c in cut.quasi], cut.quasi[0].here))
    limits = original.limits()
    place = None if limits is None else limits.place(cut, key)
    disclosing = begin_disclosure(cut, key, information, plan.estimation, each)
    remarks += leave_out_suppressed(
        questions, Roles(quasi=quasi, sensitive=secrets), keep_all=True, where=SUPPRESSED
    )
    description["suppressed"] = questions.suppression.records
    assessment = judging.assess(
        BESIDE, table, questions, Roles(quasi=quasi, sensitive=secrets), clock
    )
    order = examine_order(questions, released_columns(questions, roles), judging.settings.orders)
    remarks += order.notes
    policy, policy_doubts = judging.judge(
        name,
        assessment,
        replace(roles, merged=tuple(questions.merged_by_type(quasi))),
        questions,
        order,
        paired=pairing.paired is not None,
    )
    clock(f"estimating {name}", questions)
    disclosed = disclosing(
        neighbour_information(release, original.edges, roles.sensitive, plan.threads)
    )
    remarks += [*doubts(release, disclosed), *scattered_numbers(cut, original.edges)]
    clock(f"losses of {name}", questions)
    here = release.quasi[0].here
    compared = Compared(
        name=name,
        table=description,
        rows=rows,
        records=PairedRecords(
            paired=int(here.sum()),
            suppressed=int(release.suppressed.sum()),
            not_released=int((~here).sum()),
            unknown=release.extra,
            cells_suppressed=int(sum(c.suppressed.sum() for c in release.quasi)),
        ),
        disclosed=disclosed,
        losses=dict(zip((kind.id for kind in KINDS), losses, strict=True)),
        assessment=assessment,
        policy=policy,
        pairing=pairing,
    )
    return ComparedRelease(release=compared, remarks=remarks, doubts=policy_doubts, place=place)


# -- all tables ---------------------------------------------------------------------------------


def run(settings: CompareSettings, watch: Steps = no_progress) -> Comparison:
    """Compare releases with their original as `settings` say; `watch` is told of every step."""
    requested = requested_roles(
        settings.policy,
        settings.quasi,
        settings.sensitive,
        settings.identifier,
        person=settings.person,
    )
    settings.check_work()
    record_pairs.check_paired(settings.paired, settings.key)
    trees = MeasureSettings(settings.hierarchies or {}).with_policy(requested.policy).hierarchies
    check_hierarchies(trees)
    named = named_releases(settings.releases)
    plan = ComparisonPlan(
        settings=settings, hierarchies=trees, threads=thread_count(settings.threads)
    )
    options = requested.read_as_stated({**reader_options(settings)})
    judging = Judging(
        requested=requested,
        hierarchies=trees,
        missing=settings.missing,
        codes=missing_codes(options),
    )
    reading = Reading(watch, verify=settings.verify, **options)
    clock = reading.clock
    compared: dict[str, ComparedRelease] = {}
    with plan.workers() as each:
        with reading(settings.original) as (table, questions):
            first = read_original(
                settings.original,
                table,
                questions,
                requested,
                settings.predict,
                plan,
                judging,
                clock,
                each,
            )
        for name, data in named.items():
            by_order = settings.key is None
            beside = find_pairing(data, settings.temp) if by_order else RowPairing()
            with reading(data) as (table, questions):
                compared[name] = compare_release(
                    name, table, questions, first, beside, plan, judging, clock, each
                )
        limits, distances, limit_notes = _limits(first, compared, reading)
    known = first.information().bits()
    dominated_by = dominance([c.release for c in compared.values()])
    finished = tuple(
        replace(c.release, limit=distances.get(name, {}), dominated_by=tuple(dominated_by[name]))
        for name, c in compared.items()
    )
    return Comparison(
        table=first.table,
        roles=first.roles,
        original=ComparedOriginal(
            attribute=known, assessment=first.assessment, policy=first.policy
        ),
        releases=finished,
        rank_correlation=loss_correlations(finished),
        settings=ComparisonChoices(
            shuffles=settings.shuffles,
            seed=settings.seed,
            key=settings.key,
            bins={c: len(e) + 1 for c, e in first.edges.items()},
            predicted=tuple(first.predicted),
        ),
        limits=limits,
        warnings=(
            *first.notes,
            *chance_notes("chance_original", known),
            *limit_notes,
            *gather_remarks({c.release.file: c.remarks for c in compared.values()}),
            *gather_remarks(
                {None: first.doubts} | {c.release.file: c.doubts for c in compared.values()}
            ),
        ),
        unassessed=first.unassessed,
        **clock.stop(),
    )


def _limits(
    original: Original, compared: Mapping[str, ComparedRelease], reading: Reading
) -> tuple[dict[str, LeastDisclosure], dict[str, dict[str, ReleaseDistance]], list[Remark]]:
    """Find the limit of each secret and the distances of the releases, if it was asked for."""
    limits = original.limits()
    whole = reading.source.get("timeout")
    if limits is None:
        return {}, {}, []
    reading.clock("searching the least possible bits", None)
    left = None if whole is None else max(0.0, whole - (time.monotonic() - reading.started))
    disclosed = {name: c.release.disclosed for name, c in compared.items()}
    places = {name: c.place for name, c in compared.items()}
    of_secrets, distances = limits.solve(disclosed, places, left)
    return of_secrets, distances, limits.notes


def named_releases(given: Any) -> dict[str, Any]:
    """Name the releases: by the given name, by the name of the file, or by a number."""
    if isinstance(given, Mapping) and not all(_is_column(each) for each in given.values()):
        named = [(str(name), data) for name, data in given.items()]
    else:
        several = list(given) if isinstance(given, list | tuple) else [given]
        number = "release {}" if len(several) > 1 else "release"
        named = [(_file_stem(d) or number.format(i), d) for i, d in enumerate(several, 1)]
    require(named, "no release to compare", hint="compare ORIGINAL RELEASE [RELEASE ...]")
    names = make_unique(text for text, _ in named)
    return dict(zip(names, (data for _, data in named), strict=True))


def _is_column(data: Any) -> bool:
    """Tell whether this is a column of a table, and not a table."""
    if isinstance(data, list | tuple):
        return True
    return hasattr(data, "__array__") and not hasattr(data, "columns")


def _file_stem(data: Any) -> str | None:
    """The name of a file without its endings."""
    if not isinstance(data, str | os.PathLike) or str(data) == "stdin:":
        return None
    name = Path(str(data).partition("?")[0]).name
    return name.partition(".")[0] or name or None
