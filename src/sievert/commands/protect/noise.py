"""`--how noise`: Gaussian noise on quasi-identifiers of numbers."""

import numpy as np

from sievert.arrays import Floats
from sievert.commands.protect.method import MethodSettings, RecordRelease, RecordTable, seed_remark
from sievert.commands.protect.number_columns import (
    change_losses,
    remark_on_numbers,
    required_numbers,
)
from sievert.errors import require

USE = 0x5A3D1E12  # tells the random numbers of noise from those of other methods


def make(table: RecordTable, settings: MethodSettings) -> RecordRelease:
    """Independent noise per column; correlated noise keeps means and covariances on average.

    Correlated: e has the covariance of the columns times amount², and x becomes
    mean + (x - mean + e)/sqrt(1 + amount²) (Kim 1986).
    """
    amount = settings.amount or 0.0
    require(
        0 < amount <= 100,
        "noise needs its standard deviation in those of the column, above 0 and at most 100",
        hint="--amount 0.1",
    )
    columns = required_numbers(table, "noise")
    rng = np.random.default_rng((settings.seed, USE))
    drawn = rng.standard_normal((len(columns), table.records))
    numbers = np.stack([column.numbers for column in columns.values()])
    if settings.correlated:
        released = _correlated(numbers, drawn, amount)
    else:
        scale = np.array([column.deviation for column in columns.values()])
        released = numbers + amount * scale[:, None] * drawn
    parts = zip(columns.items(), released, strict=True)
    changed = {name: column.with_numbers(own) for (name, column), own in parts}
    return RecordRelease(
        changed,
        change_losses(table, changed),
        {
            "amount": amount,
            "noise": "correlated" if settings.correlated else "independent",
            "noisy_columns": len(columns),
        },
        np.zeros(table.records, dtype=bool),
        notes=[remark_on_numbers(columns), seed_remark(settings.seed)],
    )


def _correlated(numbers: Floats, drawn: Floats, amount: float) -> Floats:
    """Noise with the covariance of the columns; one that is missing is their mean there."""
    missing = np.isnan(numbers)
    means = np.nanmean(numbers, axis=1, keepdims=True)
    off = np.where(missing, 0.0, numbers - means)
    values, vectors = np.linalg.eigh(off @ off.T / off.shape[1])
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    released = means + (off + amount * (root @ drawn)) / np.sqrt(1 + amount**2)
    return np.asarray(np.where(missing, np.nan, released))
