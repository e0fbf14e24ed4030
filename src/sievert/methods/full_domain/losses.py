"""What a recoding loses: sums over columns and levels, known before the search, and over classes.

`generalization_loss` and `certainty_penalty` are means over cells of a share per label, `entropy`
is a sum over cells of the bits that a label lacks of its value: they follow from the level of each
column and from the suppressed records. `discernability` and `bits` need the classes.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sievert.arrays import Bools, Floats, Ints
from sievert.methods.full_domain.columns import LevelledColumn, bits_lost

LOSSES = (
    "generalization_loss",
    "arithmetic_loss",
    "certainty_penalty",
    "entropy",
    "discernability",
    "bits",
)
HEIGHTS = "heights"  # the mean of level / height, which `smallest_recoding` minimises


@dataclass(frozen=True)
class Losses:
    """The losses of one recoding; `bits` by secret, empty where there is none."""

    geometric: float
    arithmetic: float
    certainty_penalty: float
    entropy: float
    discernability: int
    monotonic_discernability: int
    bits: Mapping[str, float]

    def to_dict(self) -> dict[str, Any]:
        """As they stand in the JSON."""
        return {
            "generalization_loss": {"arithmetic": self.arithmetic, "geometric": self.geometric},
            "certainty_penalty": self.certainty_penalty,
            "entropy": self.entropy,
            "discernability": self.discernability,
            "monotonic_discernability": self.monotonic_discernability,
            "bits": dict(self.bits),
        }


class LevelSums:
    """Per column and level the sum over records of a share per label."""

    def __init__(
        self,
        columns: Sequence[LevelledColumn],
        value_counts: Sequence[Ints],
        weights: Sequence[float],
    ) -> None:
        self.records = int(value_counts[0].sum())
        self.weights = np.asarray(weights, dtype=np.float64) / float(np.sum(weights))
        self.shares = [list(column.shares) for column in columns]
        self.penalties = [
            [np.where(below > 1, below / column.domain, 0.0) for below in column.leaves]
            for column in columns
        ]
        self.sums = self._sum(columns, value_counts, self.shares)
        self.penalty_sums = self._sum(columns, value_counts, self.penalties)
        self.entropies = [
            [column.bits_below + bits_lost(table, counts) for table in column.tables]
            for column, counts in zip(columns, value_counts, strict=True)
        ]

    @staticmethod
    def _sum(
        columns: Sequence[LevelledColumn], value_counts: Sequence[Ints], shares: list[list[Floats]]
    ) -> list[list[float]]:
        return [
            [float((counts * s[table]).sum()) for s, table in zip(own, column.tables, strict=True)]
            for column, counts, own in zip(columns, value_counts, shares, strict=True)
        ]

    def terms(self, loss: str) -> list[list[float]] | None:
        """Per column and level what it adds to the least loss; None where that needs the classes.

        The geometric loss is expm1 of the sum.
        """
        if loss in ("discernability", "bits"):
            return None
        if loss == "entropy":
            return self.entropies
        if loss == HEIGHTS:
            heights = [max(1, len(own) - 1) for own in self.sums]
            parts = zip(self.sums, heights, self.weights.tolist(), strict=True)
            return [[weight * i / top for i in range(len(own))] for own, top, weight in parts]
        sums = self.penalty_sums if loss == "certainty_penalty" else self.sums
        change = math.log1p if loss == "generalization_loss" else float
        return [
            [change(s / self.records) * float(weight) for s in own]
            for own, weight in zip(sums, self.weights, strict=True)
        ]

    def geometric(self, means: Floats) -> float:
        """prod over columns of (1 + mean share) ** weight, minus 1."""
        return float(np.expm1((np.log1p(means) * self.weights).sum()))

    def arithmetic(self, means: Floats) -> float:
        """The weighted mean of the columns' mean shares."""
        return float((means * self.weights).sum())


def discernability(sizes: Ints, gone: Bools, records: int) -> int:
    """Sum of squared class sizes; a suppressed record counts as many as all records."""
    return int((sizes[~gone] ** 2).sum()) + int(sizes[gone].sum()) * records
