"""One comparison: the original is read first, then one release after the other."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any

from sievert import roles as role
from sievert.checks.row_order import examine_order, released_columns
from sievert.commands.compare.distance_to_limit import Limits, ReleasePlace
from sievert.commands.compare.estimation import (
    Each,
    OriginalInformation,
    begin_disclosure,
    begin_information,
    doubts,
    fill_unreleased,
    neighbour_information,
    scattered_numbers,
)
from sievert.commands.compare.policy import Judging
from sievert.commands.compare.result import Assessed, Compared
from sievert.counts.cube import Cube
from sievert.counts.questions import Questions
from sievert.errors import InputError, require
from sievert.estimators import (
    quantile_bins,
)
from sievert.formatting import plural
from sievert.formatting.remarks import Remark
from sievert.hierarchies import Hierarchy, to_hierarchy
from sievert.losses import KINDS
from sievert.losses.loss import Release, as_numbers, combination_codes, in_order
from sievert.measurement.table_measures import unused_settings
from sievert.pairing import record_pairs
from sievert.pairing.pairing_file import OriginalFile, RowPairing
from sievert.policy import Judgement
from sievert.request.requested import RequestedRoles, check_known
from sievert.request.suppression import leave_out_suppressed
from sievert.request.table_description import columns_without_role, describe_input
from sievert.roles import Roles
from sievert.session import Clock
from sievert.sources.isolation import require_memory
from sievert.sources.table import Table

BESIDE = (  # measures that are shown before and after
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
RECORD_BYTES = 150  # that each column of a record takes at least; measured, and rounded off
MOST_TOGETHER = 1000  # shuffles; with more, threads share one target's instead of all targets


@dataclass(frozen=True)
class ComparisonSettings:
    """How tables are paired, and how information is estimated."""

    hierarchies: Mapping[str, Any]
    bins: Mapping[str, int]
    key: str | None
    paired: bool  # by their order, as stated
    missing: str
    shuffles: int
    seed: int
    threads: int
    limit: bool

    @property
    def _one_by_one(self) -> bool:
        return self.threads == 1 or self.shuffles > MOST_TOGETHER

    @property
    def estimation(self) -> dict[str, Any]:
        """How the information about one target is estimated."""
        return {
            "shuffles": self.shuffles,
            "seed": self.seed,
            "threads": self.threads if self._one_by_one else 1,
        }

    @contextmanager
    def workers(self) -> Iterator[Each]:
        """A `map` that begins all targets at once, on all threads; an error drops the rest."""
        if self._one_by_one:
            yield map
            return
        pool = ThreadPoolExecutor(self.threads)
        try:
            yield pool.map
        finally:
            pool.shutdown(cancel_futures=True)


# -- the original -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Original:
    """The original, read and estimated once for all releases."""

    table: Mapping[str, Any]
    roles: Roles
    people: record_pairs.People
    further: Cube | None  # columns that are not in use, where records are paired by their order
    predicted: tuple[str, ...]
    pair: Callable[[record_pairs.People], Release]  # with the records of a release
    edges: Mapping[str, Any]  # where numbers are cut
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
    settings: ComparisonSettings,
    judging: Judging,
    clock: Clock,
    each: Each,
) -> Original:
    """Roles, records and what the original itself tells of its secrets."""
    columns, key = questions.columns, settings.key
    roles, notes = requested.assign(questions)
    require(
        not settings.limit or roles.sensitive,
        "a limit on what is told needs a secret",
        hint="-s COLUMNS",
    )
    predicted = role.names(predict, columns) or roles.sensitive
    _check_columns(settings, roles, predicted, columns)
    used = tuple(dict.fromkeys((*roles.measured_columns, *predicted)))
    notes += requested.prepare(questions, roles, settings.missing, predicted, all_rows=True)[1]
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
    by_order = settings.key is None  # the tables must show it
    further = (
        record_pairs.read_further(questions, used, roles.identifier, table.name)
        if by_order
        else None
    )
    description = describe_input(table, questions)
    pair = partial(
        record_pairs.pair_columns,
        people,
        quasi=roles.quasi,
        secrets=(*roles.sensitive, *(p for p in predicted if p not in roles.measured_columns)),
        hierarchies=_hierarchies(people, used, settings.hierarchies),
        predicted=predicted,
        seed=settings.seed,
    )
    edges = _edges(people, roles.measured_columns, settings.bins, notes)
    information = begin_information(
        record_pairs.cut_numbers(pair(people), edges), roles.sensitive, settings.estimation, each
    )
    notes += unused_settings(replace(judging.settings, hierarchies={}), roles, columns)
    notes += leave_out_suppressed(questions, roles, where=SUPPRESSED)
    description["suppressed"] = questions.suppression.records
    assessment = judging.assess(BESIDE, table, questions, roles, clock, original=True)
    order = examine_order(questions, released_columns(questions, roles), judging.settings.orders)
    return Original(
        description,
        roles,
        people,
        further,
        predicted,
        pair,
        edges,
        information,
        cache(lambda: Limits(information()) if settings.limit else None),
        assessment,
        *judging.judge(None, assessment, roles, questions, order),
        notes,
        columns_without_role(questions, roles, *predicted, key),
        tuple(columns),
        OriginalFile(data, table),
    )


def _check_columns(
    settings: ComparisonSettings, roles: Roles, predicted: Sequence[str], columns: Sequence[str]
) -> None:
    for what, given in (
        ("hierarchy", settings.hierarchies),
        ("bins", settings.bins),
        ("--predict", predicted),
    ):
        for column in given:
            check_known(f"{what}: column", column, columns)
    for column, number in settings.bins.items():
        require(number == 0 or number >= 2, "bins: at least 2, or 0 for the values as they are")
        require(column in roles.measured_columns, f"bins: column {column!r} is neither -q nor -s")
    require(
        settings.key is None or settings.key not in (*roles.measured_columns, *predicted),
        f"the key {settings.key!r} tells everybody apart: it is no role of a release",
        hint="-q and -s without it",
    )


def _hierarchies(
    people: record_pairs.People, columns: Sequence[str], given: Mapping[str, Any]
) -> dict[str, Hierarchy]:
    trees: dict[str, Hierarchy] = {}
    for column in (c for c in columns if c in given):
        texts = people.cube.value_counts(people.cube.columns.index(column))
        if (tree := to_hierarchy(given[column], texts, column)) is not None:
            tree.require(texts, column)
            trees[column] = tree.with_root()
    return trees


def _edges(
    people: record_pairs.People,
    columns: Sequence[str],
    bins: Mapping[str, int],
    notes: list[Remark],
) -> dict[str, Any]:
    """Where numbers are cut: those of which there are nearly as many as records."""
    edges: dict[str, Any] = {}
    for column in columns:
        number, numbers = bins.get(column), as_numbers(people.texts(column))
        require(
            number is None or number <= 0 or numbers is not None,
            f"bins: column {column!r} does not hold numbers",
        )
        codes = people.codes(column)
        if (
            numbers is None
            or number == 0
            or (number is None and not record_pairs.sparse_numbers(codes))
        ):
            continue
        if number is None:
            notes.append(Remark("binned_original", column=repr(column), name=column))
        edges[column] = quantile_bins(numbers[codes], number)
    return edges


# -- releases -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class ComparedRelease:
    """A release compared on its own, with remarks on it and on its policy, and its place."""

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
    settings: ComparisonSettings,
    judging: Judging,
    clock: Clock,
    each: Each,
) -> ComparedRelease:
    """All about one release."""
    roles, columns = original.roles, questions.columns
    quasi, secrets = (tuple(c for c in r if c in columns) for r in (roles.quasi, roles.sensitive))
    require(
        quasi,
        f"{table.name}: the release has none of the quasi-identifiers",
        hint="the same names of columns in both tables",
    )
    wanted = dict.fromkeys((*roles.measured_columns, *original.predicted))
    there, lacking = ([c for c in wanted if (c in columns) == known] for known in (True, False))
    clock(f"reading the records of {name}", questions)
    as_spelt = original.people.as_spelt
    people = record_pairs.people(questions, there, settings.key, table.name, as_spelt=as_spelt)
    people = people.hide_suppressed(quasi, questions.suppression.mark)
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
            stated=settings.paired,
            unused=beside.unused,
        )
    strange = len(set(columns) - set(original.columns))
    remarks = [
        *questions.engine.notes,
        *record_pairs.pairing_notes(release, people, pairing, lacking, strange),
        *(
            record_pairs.respelt_pairs(original.people.cube, people.cube)
            if people.keyed and not as_spelt
            else ()
        ),
    ]
    description, rows = describe_input(table, questions), questions.records
    information, ordered = original.information(), in_order(release)
    losses = each(lambda kind: kind.compute(ordered), KINDS)
    cut = record_pairs.cut_numbers(release, original.edges)
    key = fill_unreleased(combination_codes([c.released for c in cut.quasi], cut.quasi[0].here))
    limits = original.limits()
    place = None if limits is None else limits.place(cut, key)
    disclosing = begin_disclosure(cut, key, information, settings.estimation, each)
    remarks += leave_out_suppressed(
        questions, Roles(quasi, secrets), keep_all=True, where=SUPPRESSED
    )
    description["suppressed"] = questions.suppression.records
    assessment = judging.assess(BESIDE, table, questions, Roles(quasi, secrets), clock)
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
        neighbour_information(release, original.edges, roles.sensitive, settings.threads)
    )
    remarks += [*doubts(release, disclosed), *scattered_numbers(cut, original.edges)]
    clock(f"losses of {name}", questions)
    here = release.quasi[0].here
    compared = Compared(
        name,
        description,
        rows,
        {
            "paired": int(here.sum()),
            "suppressed": int(release.suppressed.sum()),
            "not_released": int((~here).sum()),
            "unknown": release.extra,
            "cells_suppressed": int(sum(c.suppressed.sum() for c in release.quasi)),
        },
        disclosed,
        dict(zip((kind.id for kind in KINDS), losses, strict=True)),
        assessment,
        policy=policy,
        pairing=pairing,
    )
    return ComparedRelease(compared, remarks, policy_doubts, place)
