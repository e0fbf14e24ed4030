"""The steps of a limit over values: read records as codes, solve the model, draw a release."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from sievert.arrays import Ints
from sievert.commands.limit.gaussian_model.normality import Normality
from sievert.commands.limit.result import AlphabetResult, ReleaseCheck, TradeoffPoint
from sievert.commands.limit.settings import LimitSettings
from sievert.counts.questions import Questions
from sievert.errors import require
from sievert.estimators import (
    ContingencyTable,
    InformationEstimate,
    estimate,
)
from sievert.formatting import plural
from sievert.formatting.remarks import Remark
from sievert.losses.loss import combination_codes
from sievert.pairing import record_pairs
from sievert.releases.alphabets import (
    ABSOLUTE,
    COLUMNS,
    HAMMING,
    HIERARCHY,
    MATRIX,
    SQUARED,
    ReleaseAlphabet,
    ReleasedColumn,
    alphabets,
    binned_remark,
    check_kind,
    cut_secret,
    describe_distortion,
    released_column,
)
from sievert.releases.channels import (
    CONVEX,
    LABELLED,
    channel_promise,
    channel_to_values,
    draw,
    epsilon,
    is_inside,
    solutions,
    trim,
)
from sievert.releases.files import TEXT, FileColumn
from sievert.request.requested import RequestedRoles, check_known
from sievert.request.suppression import keep_suppressed
from sievert.roles import Roles, check_secrets
from sievert.session import Clock
from sievert.sources.isolation import require_memory
from sievert.tradeoff import Joint, Tradeoff, interval_recodings

MOST_INTERVALS = 12
# Matrices of the size of a channel that a search holds at once, at least; measured.
FEW = 7
MATRICES = 14
OF_IDENTITY = 20


@dataclass(frozen=True, kw_only=True)
class LimitTable:
    """The records as codes, with the roles and engine types of the columns; `notes` grows."""

    roles: Roles
    people: record_pairs.People
    kinds: Mapping[str, str]  # the engine's type of each column but identifiers, in their order
    in_order: bool  # records as the input has them; otherwise combinations with their counts
    settings: LimitSettings
    clock: Clock
    notes: list[Remark]

    @cached_property
    def weights(self) -> Ints:
        """How many records each row of codes stands for."""
        return np.asarray(self.people.cube.counts, dtype=np.int64)

    @property
    def unassessed(self) -> tuple[str, ...]:
        """The columns without a role."""
        return tuple(c for c in self.kinds if c not in self.roles.measured_columns)

    def codes(self, name: str) -> Ints:
        """The code of each record in a column."""
        return self.people.codes(name).astype(np.int64)


@dataclass(frozen=True, kw_only=True)
class LimitOutcome:
    """The results of all alphabets, and the columns of the release that was drawn."""

    alphabet: str
    parts: list[AlphabetResult]
    whole: dict[str, InformationEstimate]
    drawn: dict[str, FileColumn]
    normality: Normality | None = None  # of Gaussian columns: how Gaussian they are


def read_original(
    name: str,
    questions: Questions,
    requested: RequestedRoles,
    settings: LimitSettings,
    clock: Clock,
) -> LimitTable:
    """Read the records as codes; all columns where they are to be released."""
    everything = settings.out is not None
    roles, _ = requested.assign(questions)
    check_secrets(roles, roles.sensitive)
    require(
        roles.sensitive or settings.is_of_identity,
        "no secret given",
        hint="-s disease, or --model identity",
    )
    hierarchies = settings.hierarchies or {}
    for column in hierarchies:
        check_known("--hierarchy: quasi-identifier", column, roles.quasi)
    check_kind(settings.distortion, len(roles.quasi), hierarchies)
    _, notes = requested.prepare(questions, roles, settings.missing, all_rows=True)
    notes += keep_suppressed(questions, roles, Remark("every_record_released"))
    if roles.sensitive and settings.is_of_identity:
        notes.insert(0, Remark("key_is_secret"))
    clock("reading the records", questions)
    in_order = questions.engine.keeps_order
    require(
        not everything or in_order,
        f"{questions.engine.name} knows no order of records: no release can be written",
        hint="the same without -o, or the engine duckdb",
    )
    types = questions.engine.kinds
    kinds = {c: str(types.get(c, TEXT)) for c in questions.columns if c not in roles.identifier}
    wanted = tuple(kinds) if everything else roles.measured_columns
    people = (
        record_pairs.people(questions, wanted, None, name)
        if in_order
        else record_pairs.People(name=name, cube=questions.cube(wanted), keyed=False)
    )
    table = LimitTable(
        roles=roles,
        people=people,
        kinds=kinds,
        in_order=in_order,
        settings=settings,
        clock=clock,
        notes=notes,
    )
    if everything and table.unassessed:
        unassessed = plural(len(table.unassessed), "column")
        table.notes.append(Remark("unassessed_released", columns=unassessed))
    if everything:
        table.notes.append(Remark("secrets_as_they_are"))
    if everything and settings.seed == 0:
        table.notes.append(Remark("public_seed"))
    return table


# -- finite alphabets ---------------------------------------------------------------------------


def solve_finite(table: LimitTable) -> LimitOutcome:
    """Columns taken value by value."""
    settings = table.settings
    hierarchies = settings.hierarchies or {}
    model = settings.solved_model
    columns = [
        released_column(
            q,
            table.people.texts(q),
            table.people.codes(q),
            settings.distortion,
            hierarchies.get(q),
        )
        for q in table.roles.quasi
    ]
    table.notes.extend(_column_notes(columns, settings.distortion))
    labelled = model in LABELLED
    require(
        not labelled or (settings.reduced is None and columns[0].kind != MATRIX),
        f"model {model} releases values drawn from the table",
        hint="without --reduced, and without distances from a file",
    )
    secret = _secret_codes(table)
    kind, each = alphabets(
        columns,
        secret,
        table.weights,
        settings.alphabet,
        settings.most,
        occurring=settings.occurring or labelled,
        reduced=settings.reduced,
    )
    table.notes.extend(_alphabet_notes(kind, each, labelled=labelled))
    _check_memory(table, each)
    solved = []
    for number, alphabet in enumerate(each):
        table.clock(f"channel {number + 1} of {len(each)}", None)
        solved.append(_solve(table, number, alphabet, secret))
    parts = [part for part, _ in solved]
    draws = [
        (alphabet, symbols)
        for alphabet, (_, symbols) in zip(each, solved, strict=True)
        if symbols is not None
    ]
    whole = {}
    if (
        kind == COLUMNS and not settings.is_of_identity
    ):  # all columns together, where each has its channel
        together = {
            "table": [table.codes(q) for q in table.roles.quasi],
            "release": [symbols for _, symbols in draws],
        }
        whole = {
            what: _estimate(table, combination_codes(codes), secret)
            for what, codes in together.items()
            if codes
        }
    drawn = {
        c.name: FileColumn(
            c.name,
            c.labels,
            alphabet.released[symbols, j],
            table.kinds[c.name] if c.labels is c.values else TEXT,
        )
        for alphabet, symbols in draws
        for j, c in enumerate(alphabet.columns)
    }
    return LimitOutcome(alphabet=kind, parts=parts, whole=whole, drawn=drawn)


def _check_memory(table: LimitTable, each: Sequence[ReleaseAlphabet]) -> None:
    """An error before the search where its matrices would not fit into memory."""
    largest = max(each, key=lambda alphabet: alphabet.distortion.size)
    near = any(c.kind in (SQUARED, ABSOLUTE) for c in largest.columns)
    few = near or table.settings.solved_model in LABELLED
    matrices = FEW if few else OF_IDENTITY if table.settings.is_of_identity else MATRICES
    require_memory(
        8 * matrices * largest.distortion.size,
        f"{plural(len(largest.symbols), 'combination')} of an alphabet and as many to release, "
        "searched in memory",
        f"a larger --memory, or fewer combinations: --most {len(largest.symbols) // 2}",
    )


def _column_notes(columns: Sequence[ReleasedColumn], distortion: Any) -> Iterator[Remark]:
    """How distances are scaled, where that differs from the distortion the user named."""
    yield from (
        Remark("not_numbers", column=repr(c.name))
        for c in columns
        if distortion in (SQUARED, ABSOLUTE) and c.kind == HAMMING
    )
    if any(c.kind in (SQUARED, ABSOLUTE) for c in columns):
        yield Remark("range_shares")
    if any(c.kind in (SQUARED, ABSOLUTE, HIERARCHY) and None in c.values for c in columns):
        yield Remark("missing_far")


def _alphabet_notes(
    kind: str, each: Sequence[ReleaseAlphabet], *, labelled: bool
) -> Iterator[Remark]:
    """What a user should know about the alphabets."""
    if kind == COLUMNS and len(each) > 1:
        yield Remark("own_channels")
    for alphabet in each:
        if alphabet.merged:
            yield Remark("rare_merged", records=plural(alphabet.merged, "record"))
        if alphabet.reduced:
            combinations = plural(len(alphabet.released), "combination")
            yield Remark("only_released", combinations=combinations)
    if labelled:
        yield Remark("synthetic_release")


def _secret_codes(table: LimitTable) -> Ints:
    """One code per record for the sensitive attributes together; real numbers in bins."""
    if table.settings.is_of_identity:
        return np.zeros(len(table.weights), dtype=np.int64)
    every = []
    for s in table.roles.sensitive:
        codes = table.codes(s)
        if table.in_order:
            cut = cut_secret(table.people.texts(s), codes)
            if cut is not None:
                codes = cut
                table.notes.append(binned_remark(s))
        every.append(codes)
    if len(every) > 1:
        table.notes.append(Remark("secrets_as_one"))
    return combination_codes(every)


def _solve(
    table: LimitTable, number: int, alphabet: ReleaseAlphabet, secret: Ints
) -> tuple[AlphabetResult, Ints | None]:
    """The curve of one alphabet; of one constraint also the channel, and symbols drawn from it."""
    settings = table.settings
    model = settings.solved_model
    distances = alphabet.distortion
    target = alphabet.of_record if settings.is_of_identity else secret
    stop: dict[str, Any] = {"gap": settings.gap, "seconds": settings.seconds, "seed": settings.seed}
    joint = (Joint.identity if settings.is_of_identity else Joint.of)(
        alphabet.counts.sum(axis=1) if settings.is_of_identity else alphabet.counts
    )
    best = solutions(joint, distances, model, settings.constraints, **stop)
    points = [_point(alphabet, joint, model, t, True) for t in best]
    if settings.points:
        points += [
            _point(alphabet, joint, model, t, False)
            for t in solutions(joint, distances, model, None, points=settings.points, **stop)
        ]
    ordered = alphabet.is_ordered and model in CONVEX
    part = AlphabetResult(
        columns=alphabet.names,
        words=describe_distortion(alphabet.columns),
        values=len(alphabet.symbols),
        released=len(alphabet.released),
        merged=alphabet.merged,
        everything=alphabet.everything,
        reduced=alphabet.reduced,
        information=_estimate(table, alphabet.of_record, target),
        points=tuple(sorted(points, key=lambda p: (p.at, not p.asked))),
        recodings=tuple(
            interval_recodings(joint, distances, most=MOST_INTERVALS) if ordered else ()
        ),
        texts=(alphabet.texts(released=False), alphabet.texts(released=True)),
    )
    if len(best) > 1:
        return part, None
    channel = trim(best[0].channel)
    channel = trim(channel_to_values(joint.weights, channel)) if model in LABELLED else channel
    promise = channel_promise(alphabet, channel, joint)
    part = replace(part, channel=channel, epsilon=epsilon(channel), promise=promise)
    if not table.in_order:
        return part, None
    symbols = draw(channel, alphabet.of_record, settings.seed, number)
    far = float(alphabet.record_distortion(symbols).mean())
    risk = _estimate(table, symbols, target)
    return replace(
        part,
        achieved=ReleaseCheck(
            risk=risk,
            distortion=far,
            identity=ContingencyTable.from_codes(symbols, alphabet.of_record).information,
            risk_inside=is_inside(risk.value, promise.risk_range),
            distortion_inside=is_inside(far, promise.distortion_range),
        ),
    ), symbols


def _point(
    alphabet: ReleaseAlphabet, joint: Joint, model: int | str, best: Tradeoff, requested: bool
) -> TradeoffPoint:
    distortion = best.distortion
    if distortion is None:  # of the synthetic release
        channel = channel_to_values(joint.weights, trim(best.channel))
        distortion = float(joint.weights @ np.einsum("ij,ij->i", channel, alphabet.distortion))
    return TradeoffPoint(
        columns=alphabet.names,
        model=model,
        at=best.at,
        objective=best.objective,
        bound=best.bound,
        gap=best.gap,
        risk=best.risk,
        loss=best.loss,
        identity=best.identity,
        distortion=distortion,
        epsilon=epsilon(best.channel),
        reached=best.reached,
        spread=best.spread,
        asked=requested,
    )


def _estimate(table: LimitTable, first: Ints, second: Ints) -> InformationEstimate:
    """The mutual information of two columns of codes, corrected for chance."""
    if table.in_order:
        return estimate(ContingencyTable.from_codes(first, second), shuffles=0)
    keys, places = np.unique(first * (int(second.max()) + 1) + second, return_inverse=True)
    joint = ContingencyTable(
        records=int(table.weights.sum()),
        first=np.bincount(first, table.weights).astype(np.int64),
        second=np.bincount(second, table.weights).astype(np.int64),
        keys=keys,
        counts=np.bincount(places, table.weights).astype(np.int64),
    )
    return estimate(joint, shuffles=0)
