"""`--how sample`: a share of the records, as they are."""

import numpy as np

from sievert.commands.protect.method import MethodSettings, RecordRelease, RecordTable
from sievert.errors import require

USE = 0x5A3D1E11  # tells the random numbers of samples from those of other methods


def make(table: RecordTable, settings: MethodSettings) -> RecordRelease:
    """Every record is as likely to be released as any other; their order stays."""
    fraction = settings.fraction or 0.0
    require(
        0 < fraction <= 1,
        "a sample needs its share of the records, above 0 and at most 1",
        hint="--fraction 0.1",
    )
    size = round(fraction * table.records)
    require(size > 0, "a sample without records", hint="a larger --fraction")
    return RecordRelease(
        {},
        {"records": 1 - size / table.records},
        {"fraction": fraction, "records": size},
        np.zeros(table.records, dtype=bool),
        np.sort(np.random.default_rng((settings.seed, USE)).permutation(table.records)[:size]),
    )
