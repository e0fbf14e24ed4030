"""Quasi-identifiers of numbers: noise, rounding, and what a method has changed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal
from typing import Any

import numpy as np

from sievert.arrays import Floats, Ints
from sievert.commands.protect.method import RecordRelease, RecordTable, seed_remark
from sievert.commands.protect.settings import ProtectSettings
from sievert.errors import InputError, UsageError, require
from sievert.formatting import list_names
from sievert.formatting.remarks import Remark
from sievert.losses.distortion import expected_distortion
from sievert.losses.label_sets import value_label_pairs
from sievert.losses.loss import PairedColumn, Release, as_numbers
from sievert.losses.numeric_columns import LARGEST
from sievert.releases.files import TEXT, FileColumn
from sievert.request.requested import check_known

# These seeds tell the random numbers of methods apart.
NOISE = 0x5A3D1E12
ROUNDING = 0x5A3D1E13
EXACT = Context(prec=60)


@dataclass(frozen=True, eq=False)
class NumberColumn:
    """A quasi-identifier as numbers with a number of decimals; NaN is a missing value."""

    column: FileColumn
    numbers: Floats
    decimals: int

    @property
    def deviation(self) -> float:
        """The standard deviation of the numbers that are not missing (divided by n)."""
        there = self.numbers[~np.isnan(self.numbers)]
        return float(there.std()) if len(there) else 0.0

    def with_numbers(self, numbers: Floats) -> FileColumn:
        """Replace the numbers of the column by others, rounded to its decimals; NaN is missing."""
        values, codes = np.unique(numbers, return_inverse=True)
        texts = [None if np.isnan(x) else f"{x:.{self.decimals}f}" for x in values.tolist()]
        return number_column(self.column, texts, codes)


def number_column(column: FileColumn, texts: Sequence[str | None], codes: Ints) -> FileColumn:
    """Replace the texts of a column of numbers; some may be equal, and 0 gets no sign."""
    plain = [t if t is None or t.strip("-0.") else t.removeprefix("-") for t in texts]
    place = {text: number for number, text in enumerate(dict.fromkeys(plain))}
    numbers = np.array([place[text] for text in plain], dtype=np.int64)
    kind = column.kind
    if kind != TEXT:  # a narrow type may be too small for the changed numbers
        whole = "INT" in kind and not any("." in text for text in place if text is not None)
        kind = "BIGINT" if whole else "DOUBLE"
    return replace(column, texts=list(place), codes=numbers[codes], kind=kind)


def number_columns(table: RecordTable) -> dict[str, NumberColumn]:
    """Read the quasi-identifiers that are numbers.

    Codes that begin with 0 are no numbers. A column whose given hierarchy has other labels than
    intervals is none, either.
    """
    columns = {}
    for name in table.roles.quasi:
        column = table.columns[name]
        given = table.measuring.hierarchies.get(name)
        intervals = given is None or str(given).startswith(("interval:", "quantile:", "ends:"))
        texts = [t for t in column.texts if t is not None]
        padded = any(t.lstrip("+-")[:1] == "0" and t.lstrip("+-")[1:2].isdigit() for t in texts)
        numbers = as_numbers(column.texts)
        if numbers is None or padded or not intervals:
            continue
        require(
            np.nanmax(np.abs(numbers)) < LARGEST,
            f"column {name!r}: numbers too large to be squared",
            error=InputError,
        )
        places = [-int(Decimal(t).as_tuple().exponent) for t in texts]
        columns[name] = NumberColumn(column, numbers[column.codes], max(0, *places))
    return columns


def required_numbers(table: RecordTable, how: str) -> dict[str, NumberColumn]:
    """Read the quasi-identifiers that are numbers; an error if there is none."""
    columns = number_columns(table)
    if not columns:
        raise UsageError(f"no quasi-identifier holds numbers, as {how} needs", hint="another --how")
    return columns


def remark_on_numbers(columns: Mapping[str, NumberColumn]) -> Remark:
    """Name the columns that were taken as numbers, because codes can look like numbers."""
    return Remark("taken_as_numbers", columns=list_names(list(columns)))


def change_losses(table: RecordTable, changed: Mapping[str, FileColumn]) -> dict[str, Any]:
    """Measure what the quasi-identifiers have lost; every number is worse when high.

    `distortion` is a mean over columns: of numbers the squared error as a share of the variance, of
    other columns the share of changed cells. `mean_change` is the mean absolute change of numbers
    that stay numbers, in standard deviations. `changed_cells` is the share of changed cells.
    """
    pairs = []
    for name, own in table.columns.items():
        if name in table.roles.quasi:
            new = changed.get(name, own)
            pairs.append(
                PairedColumn(
                    name=name,
                    original=own.codes,
                    released=new.codes,
                    values=own.texts,
                    labels=new.texts,
                )
            )
    losses: dict[str, Any] = {"distortion": expected_distortion(Release(quasi=tuple(pairs))).value}
    moves = []
    for name, column in number_columns(table).items():
        released = changed.get(name)
        after = None if released is None else as_numbers(released.texts)
        if released is None or after is None or not column.deviation:
            continue
        move = np.abs(after[released.codes] - column.numbers) / column.deviation
        moves.append(move[~np.isnan(move)])
    if moves:
        losses["mean_change"] = float(np.concatenate(moves).mean())
    cells = len(pairs) * table.records
    unchanged = sum(int(p.times[p.unchanged].sum()) for p in map(value_label_pairs, pairs))
    losses["changed_cells"] = (cells - unchanged) / cells
    return {name: value for name, value in losses.items() if value is not None}


# -- noise and rounding ---------------------------------------------------------------------------


def add_noise(table: RecordTable, settings: ProtectSettings) -> RecordRelease:
    """Add independent noise to each column, or correlated noise.

    Correlated noise keeps means and covariances on average: e has the covariance of the columns
    times amount², and x becomes mean + (x - mean + e)/sqrt(1 + amount²) (Kim 1986).
    """
    amount = settings.amount or 0.0
    require(
        0 < amount <= 100,
        "noise needs its standard deviation in those of the column, above 0 and at most 100",
        hint="--amount 0.1",
    )
    columns = required_numbers(table, "noise")
    rng = np.random.default_rng((settings.seed, NOISE))
    drawn = rng.standard_normal((len(columns), table.records))
    numbers = np.stack([column.numbers for column in columns.values()])
    if settings.correlated:
        released = _add_correlated(numbers, drawn, amount)
    else:
        scale = np.array([column.deviation for column in columns.values()])
        released = numbers + amount * scale[:, None] * drawn
    parts = zip(columns.items(), released, strict=True)
    changed = {name: column.with_numbers(own) for (name, column), own in parts}
    return RecordRelease(
        columns=changed,
        loss=change_losses(table, changed),
        details={
            "amount": amount,
            "noise": Remark("noise_correlated" if settings.correlated else "noise_independent"),
            "noisy_columns": len(columns),
        },
        suppressed=np.zeros(table.records, dtype=bool),
        notes=[remark_on_numbers(columns), seed_remark(settings.seed)],
    )


def _add_correlated(numbers: Floats, drawn: Floats, amount: float) -> Floats:
    """Add noise with the covariance of the columns; a missing number counts as the mean."""
    missing = np.isnan(numbers)
    means = np.nanmean(numbers, axis=1, keepdims=True)
    off = np.where(missing, 0.0, numbers - means)
    values, vectors = np.linalg.eigh(off @ off.T / off.shape[1])
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    released = means + (off + amount * (root @ drawn)) / np.sqrt(1 + amount**2)
    return np.asarray(np.where(missing, np.nan, released))


def round_numbers(table: RecordTable, settings: ProtectSettings) -> RecordRelease:
    """Round to the nearest multiple, of two the even one; if `unbiased`, draw a neighbour."""
    bases = settings.base or {}
    require(bases, "rounding needs the base of a column", hint="--base income=100")
    columns = required_numbers(table, "rounding")
    for name, base in bases.items():
        check_known("--base: quasi-identifier of numbers", name, tuple(columns))
        require(0 < base < np.inf, f"--base: that of {name!r} is not positive")
    rng = np.random.default_rng((settings.seed, ROUNDING))
    changed = {
        name: _round(columns[name], base, rng if settings.unbiased else None)
        for name, base in sorted(bases.items())
    }
    return RecordRelease(
        columns=changed,
        loss=change_losses(table, changed),
        details={
            "rounding": Remark("rounding_unbiased" if settings.unbiased else "rounding_nearest"),
            "rounded_columns": len(changed),
        },
        suppressed=np.zeros(table.records, dtype=bool),
        notes=[seed_remark(settings.seed)] if settings.unbiased else (),
    )


def _round(column: NumberColumn, base: float, rng: np.random.Generator | None) -> FileColumn:
    """Round each value to a multiple of the base, in decimals: 0.3 is a multiple of 0.1."""
    step = Decimal(repr(float(base)))
    own = column.column
    how = ROUND_HALF_EVEN if rng is None else ROUND_FLOOR
    quotients = [EXACT.divide(Decimal(text or 0), step) for text in own.texts]
    wholes = [quotient.to_integral_value(how) for quotient in quotients]
    texts: list[str | None] = []
    for up in (0,) if rng is None else (0, 1):
        for text, whole in zip(own.texts, wholes, strict=True):
            multiple = EXACT.multiply(EXACT.add(whole, up), step).normalize(EXACT)
            texts.append(None if text is None else f"{multiple:f}")
    codes = own.codes
    if rng is not None:
        parts = zip(quotients, wholes, strict=True)
        chance = np.array([float(EXACT.subtract(quotient, whole)) for quotient, whole in parts])
        codes = codes + len(own.texts) * (rng.random(len(codes)) < chance[codes])
    return number_column(own, texts, codes)
