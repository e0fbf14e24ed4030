"""Columns of real numbers: the Gaussian limit and its release, after a check of normality."""

import math

import numpy as np

from sievert.arrays import Floats
from sievert.commands.limit.gaussian_model import (
    GaussianLimit,
    Pair,
    curve,
    gaussian_limit,
    limit_of_records,
)
from sievert.commands.limit.result import AlphabetResult, ReleaseCheck, TradeoffPoint
from sievert.commands.limit.run import LimitOutcome, LimitTable
from sievert.errors import InputError, require
from sievert.estimators import InformationEstimate
from sievert.formatting.remarks import Remark, figure
from sievert.numerics.special_functions import NORMAL_QUANTILE
from sievert.releases.channels import LimitSettings, Promise, inside
from sievert.releases.files import FileColumn

AGAIN = 40
WORDS = "squared difference as a share of the column's variance"


def solve_gaussian(table: LimitTable) -> LimitOutcome:
    """Columns of real numbers, taken as Gaussian after a check of how Gaussian they are."""
    _check_settings(table)
    settings, quasi, secrets = table.settings, table.roles.quasi, table.roles.sensitive
    table.clock("Gaussian channel", None)
    people, hint = table.people, "without --gaussian"
    x, y = (
        np.stack([people.numbers(c, hint=hint)[people.codes(c)] for c in columns], axis=1)
        for columns in (quasi, secrets)
    )
    number, weights, pair = int(settings.model), _weights(x), Pair.of_records(x, y)
    limits = [
        limit_of_records(x, y, number, a, weights, names=[*quasi, *secrets])
        if i == 0
        else gaussian_limit(pair, number, a, weights)
        for i, a in enumerate(settings.at)
    ]
    points = [_point(quasi, each, True) for each in limits]
    first = limits[0]
    if settings.points:
        high = {1: first.private, 2: first.information, 3: first.information}.get(number)
        high = 4.0 * len(quasi) if high is None else high
        spread = np.linspace(0.0, high, settings.points + 2)[1:-1].tolist()
        points += [_point(quasi, each, False) for each in curve(pair, number, spread, weights)]
    if first.normality is not None:
        table.notes.extend(first.normality.sentences)
    promise, drawn = None, {}
    if len(limits) == 1:
        promise = _promise(first, x, y, weights, settings.seed)
        released = first.channel.apply(x, settings.seed)
        for q, numbers in zip(quasi, released.T, strict=True):
            values, codes = np.unique(numbers, return_inverse=True)
            drawn[q] = FileColumn(q, [f"{v:.10g}" for v in values.tolist()], codes, "DOUBLE")
    part = AlphabetResult(
        quasi,
        f"mean over {len(quasi)} columns of the {WORDS}" if len(quasi) > 1 else WORDS,
        0,
        0,
        0,
        False,
        False,
        _estimate(first.information, len(x)),
        tuple(sorted(points, key=lambda p: (p.at, not p.asked))),
        channel=None if promise is None else first.channel.matrix,
        promise=promise,
        achieved=None if promise is None else _check_release(x, y, released, weights, promise),
    )
    checked = None if first.normality is None else first.normality.to_dict()
    return LimitOutcome("gaussian", [part], {}, drawn, checked)


def _point(columns: tuple[str, ...], best: GaussianLimit, requested: bool) -> TradeoffPoint:
    gap = None if best.objective is None else best.gap
    numbers = (best.at, best.objective, best.bound, gap, best.risk, best.loss, best.rate)
    return TradeoffPoint(columns, best.model, *numbers, best.distortion, None, asked=requested)


def _check_settings(table: LimitTable) -> None:
    settings = table.settings
    plain = LimitSettings(settings.model, settings.at)
    require(
        settings.model in (1, 2, 3, 4),
        f"no model {settings.model} of Gaussian columns",
        hint="--model 1 to 4",
    )
    names = ("distortion", "alphabet", "occurring", "reduced", "most")
    require(
        not settings.hierarchies
        and not any(getattr(settings, n) != getattr(plain, n) for n in names),
        "Gaussian columns have no values one by one, and a distortion of their own",
        hint="--gaussian without --distortion, --hierarchy, --alphabet, --reduced",
    )
    require(table.in_order, "Gaussian columns need records in order", hint="the engine duckdb")


def _weights(x: Floats) -> Floats:
    require(
        np.isfinite(x).all(),
        "some numbers of the quasi-identifiers are missing",
        hint="--gaussian with columns that have a number in every record",
        error=InputError,
    )
    spread = x.var(axis=0)
    require(
        (spread > 0).all(),
        "a quasi-identifier has one number only",
        hint="-q without it",
        error=InputError,
    )
    return np.asarray(1.0 / (x.shape[1] * spread))


def _promise(
    best: GaussianLimit, x: Floats, y: Floats, weights: Floats, seed: int
) -> Promise | None:
    """What the channel promises; none where it is unbounded.

    The distortion's variance over the draw is exact; of the risk as the Gaussian formula has it,
    the channel is applied again and again.
    """
    if best.risk is None:
        return None
    channel, cost = best.channel, np.diag(weights)
    moved = channel.matrix - np.eye(len(channel.mean))
    shift = np.cov(x.T, bias=True).reshape(moved.shape)
    noise = cost @ channel.noise
    variance = 2 * np.trace(noise @ noise) + 4 * np.trace(noise @ cost @ moved @ shift @ moved.T)
    far = math.sqrt(max(0.0, float(variance)) / len(x))
    several = [_information(channel.apply(x, seed + 1 + i), y) for i in range(AGAIN)]
    drawn = np.array([r for r in several if r is not None] or [best.risk])
    middle, error = float(drawn.mean()), float(drawn.std()) * math.sqrt(1 + 1 / len(drawn))
    return Promise(
        best.risk,
        best.loss,
        best.rate,
        best.distortion,
        (max(0.0, middle - NORMAL_QUANTILE * error), middle + NORMAL_QUANTILE * error),
        (
            max(0.0, best.distortion - NORMAL_QUANTILE * far),
            best.distortion + NORMAL_QUANTILE * far,
        ),
        middle - best.risk,
        Remark("by_repeats", number=figure(AGAIN)),
    )


def _information(released: Floats, y: Floats) -> float | None:
    """Bits that released numbers disclose about the sensitive ones by the Gaussian formula."""
    moving = released[:, released.std(axis=0) > 0]
    return gaussian_limit(Pair.of_records(moving, y), 1, 0.0).information if moving.size else 0.0


def _check_release(
    x: Floats, y: Floats, released: Floats, weights: Floats, promise: Promise
) -> ReleaseCheck | None:
    far = float((((released - x) ** 2) * weights).sum(axis=1).mean())
    risk = _estimate(_information(released, y), len(x))
    if risk is None:
        return None
    kept = inside(risk.value, promise.risk_range), inside(far, promise.distortion_range)
    return ReleaseCheck(risk, far, None, *kept)


def _estimate(bits: float | None, records: int) -> InformationEstimate | None:
    """Bits by the Gaussian formula, not corrected for chance."""
    if bits is None:
        return None
    return InformationEstimate(bits, bits, 0.0, None, records, 1, bits, 0.0)
