"""Formulas of losses that both `compare` and `protect` report."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sievert.arrays import Floats, Ints


@dataclass(frozen=True, kw_only=True)
class LabelShare:
    """How much of its column a label leaves open, from 0 (one value) to 1 (all values).

    The share of a label that stands for `leaves` values, in a column with `domain` values, is
    `open_values(leaves)` divided by `most(domain)`.
    """

    open_values: Callable[[Ints], Ints]
    most: Callable[[int], int]

    def of(self, leaves: Ints, domain: int) -> Floats:
        """The share of each label."""
        return self.open_values(leaves) / self.most(domain)


# (leaves - 1) / (domain - 1); 0 of a column with one value, which has nothing to lose.
GENERALISED = LabelShare(
    open_values=lambda leaves: leaves - 1, most=lambda domain: max(domain - 1, 1)
)
# leaves / domain; 0 of a label that stands for one value.
UNCERTAIN = LabelShare(
    open_values=lambda leaves: np.where(leaves > 1, leaves, 0), most=lambda domain: domain
)


def discernability(sizes: Ints, suppressed: int, records: int) -> int:
    """The sum of the squared `sizes` of released classes, and all `records` per suppressed one.

    >>> discernability(np.array([2, 3]), suppressed=1, records=6)
    19
    """
    return int((sizes * sizes).sum()) + suppressed * records
