"""What a recoding loses, and which of these losses a search minimises.

`generalization_loss` and `certainty_penalty` are means over cells of a share per label, `entropy`
is a sum over cells of the bits that a label lacks of its value: they follow from the level of each
column and from the suppressed records. `discernability` and `bits` need the classes. A loss that
`protect` minimises is one record of MINIMISED: the option, the JSON and the pages follow from it.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

import numpy as np

from sievert.arrays import Floats, Ints
from sievert.losses.formulas import GENERALISED, UNCERTAIN, LabelShare, discernability
from sievert.methods.full_domain.columns import LevelledColumn, bits_lost

Terms = list[list[float]]  # per column and level


class RecodedClasses(Protocol):
    """What a loss is computed from: the classes of a release, recoded by levels or locally."""

    @property
    def records(self) -> int:
        """The records of the table, suppressed ones included."""

    @property
    def suppressed(self) -> int:
        """The suppressed records."""

    @property
    def released_sizes(self) -> Ints:
        """The sizes of the classes that are not suppressed."""

    @property
    def weights(self) -> Floats:
        """How much each column counts; they sum to 1."""

    def mean_shares(self, share: LabelShare) -> Floats:
        """Per column the mean over records of the share; a suppressed record has 1."""

    def entropy(self) -> float:
        """The bits that labels lack of their values, summed over cells."""

    def bits(self) -> float:
        """I(X;Y) - I(X';Y) in bits per record, about the secret that the loss is of."""


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
        self.entropies = [
            [column.bits_below + bits_lost(table, counts) for table in column.tables]
            for column, counts in zip(columns, value_counts, strict=True)
        ]
        self.levels = [column.levels for column in columns]
        self._columns = columns
        self._value_counts = value_counts
        self._shares: dict[LabelShare, list[list[Floats]]] = {}
        self._sums: dict[LabelShare, Terms] = {}

    def shares(self, share: LabelShare) -> list[list[Floats]]:
        """Per column and level the share of every label."""
        if share not in self._shares:
            self._shares[share] = [
                [share.of(leaves, column.domain) for leaves in column.leaves]
                for column in self._columns
            ]
        return self._shares[share]

    def sums(self, share: LabelShare) -> Terms:
        """Per column and level the sum over records of the share of their label."""
        if share not in self._sums:
            parts = zip(self._columns, self._value_counts, self.shares(share), strict=True)
            self._sums[share] = [
                [
                    float((counts * of_labels[table]).sum())
                    for of_labels, table in zip(own, column.tables, strict=True)
                ]
                for column, counts, own in parts
            ]
        return self._sums[share]

    def weighted(self, sums: Terms, change: Callable[[float], float] = float) -> Terms:
        """Per column and level its part of a weighted mean over columns of changed means."""
        return [
            [change(s / self.records) * float(weight) for s in own]
            for own, weight in zip(sums, self.weights, strict=True)
        ]


@dataclass(frozen=True, kw_only=True)
class MinimisedLoss:
    """A loss that a search can minimise.

    `of_classes` is the loss of a release. `terms` tells what the level of each column adds at
    least; the least loss of a recoding is `of_terms` of their sum. Without terms it is
    `least_of_classes` of the classes, when none is suppressed. Pages write the loss as
    `written`.
    """

    id: str
    of_classes: Callable[[RecodedClasses], float]
    terms: Callable[[LevelSums], Terms] | None = None
    of_terms: Callable[[float], float] = float
    least_of_classes: Callable[[RecodedClasses], float] | None = None
    needs_secret: bool = False
    of_levels_only: bool = False  # suppression changes nothing, so the terms are the loss
    fewest_suppressed: bool = False  # of recodings with an equal loss: many have
    written: Literal["share", "number", "count"] = "share"


def arithmetic_mean(means: Floats, weights: Floats) -> float:
    """The weighted mean of the columns' mean shares."""
    return float((means * weights).sum())


def geometric_mean(means: Floats, weights: Floats) -> float:
    """prod over columns of (1 + mean share) ** weight, minus 1."""
    return float(np.expm1((np.log1p(means) * weights).sum()))


def _mean_height(sums: LevelSums) -> Terms:
    """Per column and level the weight · level / height."""
    return [
        [weight * level / max(1, levels - 1) for level in range(levels)]
        for levels, weight in zip(sums.levels, sums.weights.tolist(), strict=True)
    ]


def _discernability(classes: RecodedClasses) -> int:
    return discernability(classes.released_sizes, classes.suppressed, classes.records)


MINIMISED: tuple[MinimisedLoss, ...] = (
    MinimisedLoss(
        id="generalization_loss",
        of_classes=lambda c: geometric_mean(c.mean_shares(GENERALISED), c.weights),
        terms=lambda sums: sums.weighted(sums.sums(GENERALISED), math.log1p),
        of_terms=math.expm1,
    ),
    MinimisedLoss(
        id="arithmetic_loss",
        of_classes=lambda c: arithmetic_mean(c.mean_shares(GENERALISED), c.weights),
        terms=lambda sums: sums.weighted(sums.sums(GENERALISED)),
    ),
    MinimisedLoss(
        id="certainty_penalty",
        of_classes=lambda c: arithmetic_mean(c.mean_shares(UNCERTAIN), c.weights),
        terms=lambda sums: sums.weighted(sums.sums(UNCERTAIN)),
    ),
    MinimisedLoss(
        id="entropy",
        of_classes=lambda c: c.entropy(),
        terms=lambda sums: sums.entropies,
        of_levels_only=True,
        written="number",
    ),
    MinimisedLoss(
        id="discernability",
        of_classes=_discernability,
        least_of_classes=lambda c: float((c.released_sizes.astype(np.float64) ** 2).sum()),
        written="count",
    ),
    MinimisedLoss(
        id="bits",
        of_classes=lambda c: c.bits(),
        least_of_classes=lambda c: c.bits(),
        needs_secret=True,
        written="number",
    ),
)
# The mean of level / height, which `smallest_recoding` minimises: not one of the choices.
HEIGHTS = MinimisedLoss(
    id="heights",
    of_classes=lambda c: math.nan,
    terms=_mean_height,
    of_levels_only=True,
    fewest_suppressed=True,
)
LOSSES: tuple[str, ...] = tuple(loss.id for loss in MINIMISED)  # the choices of `--loss`
BY_NAME: Mapping[str, MinimisedLoss] = {loss.id: loss for loss in (*MINIMISED, HEIGHTS)}
# One entry of the JSON has both means; `bits` are there for each secret.
GENERALIZATION = "generalization_loss"
ARITHMETIC = "arithmetic_loss"
BITS = "bits"


@dataclass(frozen=True)
class Losses:
    """The losses of one recoding by their names; `bits` by secret, empty where there is none."""

    values: Mapping[str, float]
    monotonic_discernability: int
    bits: Mapping[str, float] = field(default_factory=dict)

    @classmethod
    def of(
        cls, classes: RecodedClasses, monotonic_discernability: int, bits: Mapping[str, float]
    ) -> "Losses":
        """All losses of the classes of a release."""
        values = {loss.id: loss.of_classes(classes) for loss in MINIMISED if not loss.needs_secret}
        return cls(values, monotonic_discernability, bits)

    @property
    def arithmetic(self) -> float:
        """The share of the detail that is lost."""
        return self.values[ARITHMETIC]

    def to_dict(self) -> dict[str, Any]:
        """As they stand in the JSON."""
        means = {
            "arithmetic": self.values[ARITHMETIC],
            "geometric": self.values[GENERALIZATION],
        }
        others = {n: v for n, v in self.values.items() if n not in (GENERALIZATION, ARITHMETIC)}
        return {
            GENERALIZATION: means,
            **others,
            "monotonic_discernability": self.monotonic_discernability,
            BITS: dict(self.bits),
        }
