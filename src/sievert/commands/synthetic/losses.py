"""How far a table whose rows are not paired with the original's is from it: columns, and pairs.

Only counts are compared, so the two tables need neither the same order nor the same length.
"""

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sievert.arrays import Ints
from sievert.commands.synthetic.loss_models import ModelLoss, mean_of

GROUPS = 20  # of the numbers of a column that has more of them, as equal as ties allow
DENSE = 2**22  # cells of a table of counts


@dataclass(frozen=True)
class UnpairedLoss:
    """Total variation: the share of rows that would have to change for equal counts; 0 is best."""

    columns: dict[str, float]
    pairs: dict[tuple[str, str], float]
    models: ModelLoss | None = None

    @property
    def margins(self) -> float:
        """The mean over columns."""
        return math.fsum(self.columns.values()) / len(self.columns)

    def to_dict(self) -> dict[str, Any]:
        """As in the JSON."""
        worst = max(self.pairs, key=lambda pair: self.pairs[pair], default=None)
        return {
            "margins": self.margins,
            "pairs": mean_of(self.pairs.values()),
            "columns": dict(self.columns),
            "worst_pair": None if worst is None else list(worst),
            "worst_pair_distance": None if worst is None else self.pairs[worst],
            **({} if self.models is None else self.models.to_dict()),
        }


@dataclass(frozen=True, kw_only=True)
class SavedLoss:
    """What the JSON says of a loss: means, without the pairs of columns that they are of."""

    content: Mapping[str, Any]

    def to_dict(self) -> dict[str, Any]:
        """As in the JSON."""
        return dict(self.content)


@dataclass(frozen=True, kw_only=True)
class LossNumbers:
    """The numbers of a loss that pages show; 0 is best, and None stands for no number."""

    margins: float
    pairs: float | None
    columns: Mapping[str, float]
    association: float | None
    correlation: float | None
    of_largest: float | None  # of the propensity score, as a share of the most it can be
    prediction: float | None
    entropy: float | None
    information: float | None

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "LossNumbers":
        """Read the numbers from the JSON of a loss."""
        return cls(
            margins=data["margins"],
            pairs=data["pairs"],
            columns=data["columns"],
            association=data["association"],
            correlation=data["correlation"],
            of_largest=data["propensity"]["of_largest"],
            prediction=data["prediction"]["loss"],
            entropy=data["entropy"]["difference"],
            information=data["information"]["difference"],
        )


def unpaired_loss(names: Sequence[str], original: Ints, other: Ints) -> UnpairedLoss:
    """The distances of two tables of codes, one row per record and one column per name."""
    widths = [int(max(a.max(), b.max())) + 1 for a, b in zip(original.T, other.T, strict=True)]
    columns = {
        name: total_variation(original[:, at], other[:, at], widths[at])
        for at, name in enumerate(names)
    }
    pairs = {
        (names[a], names[b]): total_variation(
            original[:, a] * widths[b] + original[:, b],
            other[:, a] * widths[b] + other[:, b],
            widths[a] * widths[b],
        )
        for a, b in itertools.combinations(range(len(names)), 2)
    }
    return UnpairedLoss(columns, pairs)


def group_numbers(codes: Ints, original: Ints, known: int) -> Ints:
    """Codes in the order of their numbers, put into groups of the original; the last ones stay.

    Codes from `known` on are what is missing.

    >>> codes = np.arange(100)
    >>> np.bincount(group_numbers(codes, codes, 100)).tolist() == [5] * 20
    True
    """
    if len(np.unique(original)) <= GROUPS:
        return codes
    ordered = np.sort(original[original < known])
    ends = ordered[len(ordered) * np.arange(1, GROUPS) // GROUPS] if len(ordered) else ordered
    return np.where(codes < known, np.searchsorted(np.unique(ends), codes, "right"), GROUPS)


def total_variation(original: Ints, other: Ints, size: int) -> float:
    """Half the sum of the differences of shares, from whole numbers.

    >>> total_variation(np.array([0, 0, 1, 1]), np.array([0, 1]), 2)
    0.0
    >>> total_variation(np.array([0, 0]), np.array([1]), 2)
    1.0
    """
    if size > DENSE:
        both = np.unique(np.concatenate([original, other]), return_inverse=True)[1]
        known = len(original)
        original = both[:known]
        other = both[known:]
        size = int(both.max()) + 1
    n, m = (np.bincount(codes, minlength=size) for codes in (original, other))
    apart = np.abs(n * len(other) - m * len(original)).sum()
    return float(apart / (2 * len(original) * len(other)))
