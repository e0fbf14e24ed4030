"""`--how round`: quasi-identifiers of numbers as multiples of a base."""

from decimal import ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal

import numpy as np

from sievert.commands._common import check_known
from sievert.commands._release_files import FileColumn
from sievert.commands.protect.method import MethodSettings, RecordRelease, RecordTable, seed_remark
from sievert.commands.protect.number_columns import (
    NumberColumn,
    change_losses,
    number_column,
    required_numbers,
)
from sievert.errors import require

USE = 0x5A3D1E13  # tells the random numbers of rounding from those of other methods
EXACT = Context(prec=60)


def make(table: RecordTable, settings: MethodSettings) -> RecordRelease:
    """The nearest multiple, of two as near the even one; or one of both, right on average."""
    require(settings.base, "rounding needs the base of a column", hint="--base income=100")
    columns = required_numbers(table, "rounding")
    for name, base in settings.base.items():
        check_known("--base: quasi-identifier of numbers", name, tuple(columns))
        require(0 < base < np.inf, f"--base: that of {name!r} is not positive")
    rng = np.random.default_rng((settings.seed, USE))
    changed = {
        name: _rounded(columns[name], base, rng if settings.unbiased else None)
        for name, base in sorted(settings.base.items())
    }
    return RecordRelease(
        changed,
        change_losses(table, changed),
        {
            "rounding": "unbiased" if settings.unbiased else "nearest",
            "rounded_columns": len(changed),
        },
        np.zeros(table.records, dtype=bool),
        notes=[seed_remark(settings.seed)] if settings.unbiased else (),
    )


def _rounded(column: NumberColumn, base: float, rng: np.random.Generator | None) -> FileColumn:
    """Each value as a multiple of the base; by decimals, so that 0.3 is a multiple of 0.1."""
    step, own = Decimal(repr(float(base))), column.column
    how = ROUND_HALF_EVEN if rng is None else ROUND_FLOOR
    quotients = [EXACT.divide(Decimal(text or 0), step) for text in own.texts]
    wholes = [quotient.to_integral_value(how) for quotient in quotients]
    texts = [
        None if text is None else f"{EXACT.multiply(EXACT.add(whole, up), step).normalize(EXACT):f}"
        for up in ((0,) if rng is None else (0, 1))
        for text, whole in zip(own.texts, wholes, strict=True)
    ]
    codes = own.codes
    if rng is not None:
        parts = zip(quotients, wholes, strict=True)
        chance = np.array([float(EXACT.subtract(quotient, whole)) for quotient, whole in parts])
        codes = codes + len(own.texts) * (rng.random(len(codes)) < chance[codes])
    return number_column(own, texts, codes)
