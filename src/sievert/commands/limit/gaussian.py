"""Columns of real numbers: the Gaussian limit and its release, after a check of normality."""

import math
from collections.abc import Sequence

import numpy as np

from sievert.arrays import Floats
from sievert.commands.limit.finite import LimitOutcome, LimitTable
from sievert.commands.limit.gaussian_model import (
    GaussianLimit,
    Pair,
    curve,
    gaussian_limit,
    limit_of_records,
)
from sievert.commands.limit.result import AlphabetResult, ReleaseCheck, TradeoffPoint
from sievert.errors import InputError, require
from sievert.estimators import InformationEstimate
from sievert.formatting.remarks import Remark, figure
from sievert.numerics.special_functions import NORMAL_QUANTILE
from sievert.releases.channels import Promise, is_inside
from sievert.releases.files import FileColumn

AGAIN = 40  # releases that are drawn for an interval
WORDS = "squared difference as a share of the column's variance"


def solve_gaussian(table: LimitTable) -> LimitOutcome:
    """Solve columns of real numbers as Gaussian ones, after a check of their normality."""
    _check_settings(table)
    settings = table.settings
    quasi = table.roles.quasi
    secrets = table.roles.sensitive
    table.clock("Gaussian channel", None)
    people = table.people
    hint = "without --gaussian"

    def numbers_of(columns: Sequence[str]) -> Floats:
        return np.stack([people.numbers(c, hint=hint)[people.codes(c)] for c in columns], axis=1)

    x = numbers_of(quasi)
    y = numbers_of(secrets)
    number = int(settings.solved_model)
    weights = _weights(x)
    pair = Pair.of_records(x, y)
    limits = [
        limit_of_records(x, y, number, a, weights, names=[*quasi, *secrets])
        if i == 0
        else gaussian_limit(pair, number, a, weights)
        for i, a in enumerate(settings.constraints)
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
    promise = None
    drawn = {}
    if len(limits) == 1:
        promise = _promise(first, x, y, weights, settings.seed)
        released = first.channel.apply(x, settings.seed)
        for q, numbers in zip(quasi, released.T, strict=True):
            values, codes = np.unique(numbers, return_inverse=True)
            drawn[q] = FileColumn(q, [f"{v:.10g}" for v in values.tolist()], codes, "DOUBLE")
    part = AlphabetResult(
        columns=quasi,
        words=f"mean over {len(quasi)} columns of the {WORDS}" if len(quasi) > 1 else WORDS,
        values=0,
        released=0,
        merged=0,
        everything=False,
        reduced=False,
        information=_estimate(first.information, len(x)),
        points=tuple(sorted(points, key=lambda p: (p.at, not p.asked))),
        channel=None if promise is None else first.channel.matrix,
        promise=promise,
        achieved=None if promise is None else _check_release(x, y, released, weights, promise),
    )
    return LimitOutcome(
        alphabet="gaussian", parts=[part], whole={}, drawn=drawn, normality=first.normality
    )


def _point(columns: tuple[str, ...], best: GaussianLimit, requested: bool) -> TradeoffPoint:
    return TradeoffPoint(
        columns=columns,
        model=best.model,
        at=best.at,
        objective=best.objective,
        bound=best.bound,
        gap=None if best.objective is None else best.gap,
        risk=best.risk,
        loss=best.loss,
        identity=best.rate,
        distortion=best.distortion,
        epsilon=None,
        asked=requested,
    )


def _check_settings(table: LimitTable) -> None:
    model = table.settings.solved_model
    require(
        model in (1, 2, 3, 4),
        f"no model {model} of Gaussian columns",
        hint="--model 1 to 4",
    )
    require(
        not table.settings.is_about_values,
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
    """The promise of the channel; None if the risk is unbounded.

    The variance of the distortion over draws is exact. The variance of the risk, by the Gaussian
    formula, is estimated by applying the channel many times.
    """
    if best.risk is None:
        return None
    channel = best.channel
    cost = np.diag(weights)
    moved = channel.matrix - np.eye(len(channel.mean))
    shift = np.cov(x.T, bias=True).reshape(moved.shape)
    noise = cost @ channel.noise
    variance = 2 * np.trace(noise @ noise) + 4 * np.trace(noise @ cost @ moved @ shift @ moved.T)
    far = math.sqrt(max(0.0, float(variance)) / len(x))
    several = [_information(channel.apply(x, seed + 1 + i), y) for i in range(AGAIN)]
    finite = [risk for risk in several if risk is not None]
    drawn = np.array(finite if finite else [best.risk])
    middle = float(drawn.mean())
    error = float(drawn.std()) * math.sqrt(1 + 1 / len(drawn))
    return Promise(
        risk=best.risk,
        loss=best.loss,
        identity=best.rate,
        distortion=best.distortion,
        risk_range=(max(0.0, middle - NORMAL_QUANTILE * error), middle + NORMAL_QUANTILE * error),
        distortion_range=(
            max(0.0, best.distortion - NORMAL_QUANTILE * far),
            best.distortion + NORMAL_QUANTILE * far,
        ),
        bias=middle - best.risk,
        by=Remark("by_repeats", number=figure(AGAIN)),
    )


def _information(released: Floats, y: Floats) -> float | None:
    """The bits that released numbers disclose about the secrets, by the Gaussian formula."""
    moving = released[:, released.std(axis=0) > 0]
    if not moving.size:
        return 0.0
    return gaussian_limit(Pair.of_records(moving, y), 1, 0.0).information


def _check_release(
    x: Floats, y: Floats, released: Floats, weights: Floats, promise: Promise
) -> ReleaseCheck | None:
    far = float((((released - x) ** 2) * weights).sum(axis=1).mean())
    risk = _estimate(_information(released, y), len(x))
    if risk is None:
        return None
    return ReleaseCheck(
        risk=risk,
        distortion=far,
        identity=None,
        risk_inside=is_inside(risk.value, promise.risk_range),
        distortion_inside=is_inside(far, promise.distortion_range),
    )


def _estimate(bits: float | None, records: int) -> InformationEstimate | None:
    """Make an estimate of bits by the Gaussian formula, without a correction for chance."""
    if bits is None:
        return None
    return InformationEstimate(
        value=bits,
        miller_madow=bits,
        chance=0.0,
        p_value=None,
        records=records,
        cells=1,
        maximum=bits,
        standard_error=0.0,
    )
