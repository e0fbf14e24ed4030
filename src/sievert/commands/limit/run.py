"""The steps of a limit: read the records as codes, solve the model, draw a release."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from sievert.arrays import Ints
from sievert.commands.limit.result import AlphabetResult, ReleaseCheck, TradeoffPoint
from sievert.counts.questions import Questions
from sievert.errors import require
from sievert.estimators import (
    ContingencyTable,
    InformationEstimate,
    estimate,
)
from sievert.formatting import plural
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
    check_kind,
    cut_at_quantiles,
    describe_distortion,
    in_bins,
    released_column,
)
from sievert.releases.channels import (
    CONVEX,
    LABELLED,
    LimitSettings,
    channel_promise,
    draw,
    epsilon,
    inside,
    solutions,
    synthetic,
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
# Matrices of the size of a channel that a search needs at least at a time, as measured.
FEW = 7  # for distances of numbers, and for models that release labels
MATRICES = 14
OF_IDENTITY = 20  # if the key is the secret


@dataclass(frozen=True, kw_only=True)
class LimitTable:
    """The records as codes, with the roles and engine types of the columns; `notes` grows."""

    roles: Roles
    people: record_pairs.People
    kinds: Mapping[str, str]  # the engine's type of each column but identifiers, in their order
    in_order: bool  # records in the order of the input; otherwise combinations with counts
    settings: LimitSettings
    clock: Clock
    notes: list[str]

    @cached_property
    def weights(self) -> Ints:
        """The number of records of each row of codes."""
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
    normality: dict[str, Any] | None = None  # of Gaussian columns


def read_original(
    name: str,
    questions: Questions,
    requested: RequestedRoles,
    missing: str,
    settings: LimitSettings,
    clock: Clock,
    *,
    everything: bool,
) -> LimitTable:
    """Read the records as codes, with all columns if a release is written."""
    roles, _ = requested.assign(questions)
    check_secrets(roles, roles.sensitive)
    require(
        roles.sensitive or settings.alike, "no secret given", hint="-s disease, or --model identity"
    )
    hierarchies = settings.hierarchies if settings.hierarchies else {}
    for column in hierarchies:
        check_known("--hierarchy: quasi-identifier", column, roles.quasi)
    check_kind(settings.distortion, len(roles.quasi), hierarchies)
    _, notes = requested.prepare(questions, roles, missing, all_rows=True)
    notes += keep_suppressed(questions, roles, "a release has every record")
    if roles.sensitive and settings.alike:
        notes.insert(0, "the key itself is the secret here: other secrets do not count")
    clock("reading the records", questions)
    in_order = questions.engine.name == "duckdb"
    require(
        not everything or in_order,
        f"{questions.engine.name} knows no order of records: no release can be written",
        hint="the same without -o, or the engine duckdb",
    )
    types = getattr(questions.engine, "kinds", {})
    kinds = {c: str(types.get(c, TEXT)) for c in questions.columns if c not in roles.identifier}
    wanted = tuple(kinds) if everything else roles.measured_columns
    if in_order:
        people = record_pairs.people(questions, wanted, None, name)
    else:
        people = record_pairs.People(name, questions.cube(wanted), keyed=False)
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
        table.notes.append(
            f"{plural(len(table.unassessed), 'column')} not assessed, yet released unchanged: an "
            "outsider may know them too"
        )
    if everything:
        table.notes.append("secrets are released as they are, beside the drawn values")
    if everything and settings.seed == 0:
        table.notes.append(
            "drawn with the seed that everybody has: who knows the channel can repeat it; give a "
            "--seed of your own, and keep it to yourself"
        )
    return table


# -- finite alphabets ---------------------------------------------------------------------------


def solve_finite(table: LimitTable) -> LimitOutcome:
    """Solve columns value by value."""
    settings = table.settings
    hierarchies = settings.hierarchies if settings.hierarchies else {}
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
    labelled = settings.model in LABELLED
    require(
        not labelled or (settings.reduced is None and columns[0].kind != MATRIX),
        f"model {settings.model} releases values drawn from the table",
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
    draws = [
        (alphabet, symbols)
        for alphabet, (_, symbols) in zip(each, solved, strict=True)
        if symbols is not None
    ]
    whole: dict[str, InformationEstimate] = {}
    if kind == COLUMNS and not settings.alike:  # all columns together, if each has its own channel
        whole = _estimate_together(table, [symbols for _, symbols in draws], secret)
    return LimitOutcome(
        alphabet=kind,
        parts=[part for part, _ in solved],
        whole=whole,
        drawn=_drawn_columns(table, draws),
    )


def _estimate_together(
    table: LimitTable, symbols: Sequence[Ints], secret: Ints
) -> dict[str, InformationEstimate]:
    """The information of all columns together: in the table, and in the release if one is drawn."""
    codes = {"table": [table.codes(q) for q in table.roles.quasi], "release": symbols}
    return {
        name: _estimate(table, combination_codes(columns), secret)
        for name, columns in codes.items()
        if columns
    }


def _drawn_columns(
    table: LimitTable, draws: Sequence[tuple[ReleaseAlphabet, Ints]]
) -> dict[str, FileColumn]:
    """The columns of the release, from the symbols drawn for each alphabet."""
    drawn: dict[str, FileColumn] = {}
    for alphabet, symbols in draws:
        for place, column in enumerate(alphabet.columns):
            drawn[column.name] = FileColumn(
                column.name,
                column.labels,
                alphabet.released[symbols, place],
                table.kinds[column.name] if column.labels is column.values else TEXT,
            )
    return drawn


def _check_memory(table: LimitTable, each: Sequence[ReleaseAlphabet]) -> None:
    """Raise an error before the search if its matrices do not fit into memory."""
    largest = max(each, key=lambda alphabet: alphabet.distortion.size)
    near = any(c.kind in (SQUARED, ABSOLUTE) for c in largest.columns)
    few = near or table.settings.model in LABELLED
    matrices = OF_IDENTITY if table.settings.alike else MATRICES
    if few:
        matrices = FEW
    require_memory(
        8 * matrices * largest.distortion.size,
        f"{plural(len(largest.symbols), 'combination')} of an alphabet and as many to release, "
        "searched in memory",
        f"a larger --memory, or fewer combinations: --most {len(largest.symbols) // 2}",
    )


def _column_notes(columns: Sequence[ReleasedColumn], distortion: Any) -> Iterator[str]:
    """Remark on the scale of distances if it differs from the distortion that the user named."""
    yield from (
        f"{c.name!r} does not hold numbers: its distortion is whether a value is changed"
        for c in columns
        if distortion in (SQUARED, ABSOLUTE) and c.kind == HAMMING
    )
    if any(c.kind in (SQUARED, ABSOLUTE) for c in columns):
        yield "distances of numbers are shares of their column's range"
    if any(c.kind in (SQUARED, ABSOLUTE, HIERARCHY) and None in c.values for c in columns):
        yield "a missing value is as far from every other as values can be"


def _alphabet_notes(kind: str, each: Sequence[ReleaseAlphabet], *, labelled: bool) -> Iterator[str]:
    """Remark on the alphabets."""
    if kind == COLUMNS and len(each) > 1:
        yield (
            "each column has a channel of its own, which --at goes for: all together they are "
            "not the best release, and what is promised is promised of each column"
        )
    for alphabet in each:
        if alphabet.merged:
            yield (
                f"{plural(alphabet.merged, 'record')} of rare combinations count as the nearest "
                "frequent ones; how far these are "
                "is part of the distortion"
            )
        if alphabet.reduced:
            yield f"only {plural(len(alphabet.released), 'combination')} may be released"
    if labelled:
        yield (
            "the release is synthetic: for each record a label is drawn, and for the label "
            "values of somebody who could have it; it tells less than the label, and loses more"
        )


def _secret_codes(table: LimitTable) -> Ints:
    """The code of all secrets together for each record; real numbers are in bins."""
    if table.settings.alike:
        return np.zeros(len(table.weights), dtype=np.int64)
    coded = []
    for s in table.roles.sensitive:
        codes = table.codes(s)
        bins = in_bins(table.people.texts(s), codes) if table.in_order else None
        if bins is not None:
            codes = bins
            table.notes.append(cut_at_quantiles(s))
        coded.append(codes)
    if len(coded) > 1:
        table.notes.append("the secrets count as one: the combination of their values")
    return combination_codes(coded)


def _solve(
    table: LimitTable, number: int, alphabet: ReleaseAlphabet, secret: Ints
) -> tuple[AlphabetResult, Ints | None]:
    """Solve one alphabet; for a single constraint, also draw symbols from its channel."""
    settings = table.settings
    model = table.settings.model
    distances = alphabet.distortion
    target = alphabet.of_record if settings.alike else secret
    stop: dict[str, Any] = {"gap": settings.gap, "seconds": settings.seconds, "seed": settings.seed}
    if settings.alike:
        joint = Joint.identity(alphabet.counts.sum(axis=1))
    else:
        joint = Joint.of(alphabet.counts)
    best = solutions(joint, distances, model, settings.at, **stop)
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
    if model in LABELLED:
        channel = trim(synthetic(joint.weights, channel))
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
            risk_inside=inside(risk.value, promise.risk_range),
            distortion_inside=inside(far, promise.distortion_range),
        ),
    ), symbols


def _point(
    alphabet: ReleaseAlphabet, joint: Joint, model: int | str, best: Tradeoff, requested: bool
) -> TradeoffPoint:
    distortion = best.distortion
    if distortion is None:  # of the synthetic release
        channel = synthetic(joint.weights, trim(best.channel))
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
    """Estimate the mutual information of two columns of codes."""
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
