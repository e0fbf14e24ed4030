"""Weights: the exact sum of a column over each class.

The engine counts the combinations of class and weight, as it counts anything; the weights' texts
become integers of a common scale here. So no engine adds decimals, and all give the same sums.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from sievert.arrays import Ints
from sievert.counts.cube import Cube
from sievert.errors import InputError, UsageError
from sievert.formatting import plural
from sievert.hierarchies import NUMBER

if TYPE_CHECKING:
    from sievert.counts.questions import Questions

MOST_DIGITS = 40


@dataclass(frozen=True)
class ClassWeights:
    """Classes in ascending order of their codes: records, and weights in units of 10^-scale."""

    records: Ints
    sums: Ints
    scale: int

    def kinds(self) -> tuple[list[int], list[Fraction], Ints, Ints]:
        """Different pairs of records and weight: these, how many classes each, the pair of each."""
        pairs: dict[tuple[int, int], int] = {}
        both = zip(self.records.tolist(), self.sums.tolist(), strict=True)
        which = np.array([pairs.setdefault(pair, len(pairs)) for pair in both], dtype=np.int64)
        sums = [Fraction(int(w), 10**self.scale) for _, w in pairs]
        return [n for n, _ in pairs], sums, np.bincount(which), which


def class_weights(questions: Questions, quasi: Sequence[str], column: str) -> ClassWeights:
    """The records of every class and the sum of their weights."""
    if column in quasi:
        raise UsageError(f"column {column!r} is a quasi-identifier and cannot be the weight")
    cube = questions.cube((*quasi, column))
    units, scale = _units(cube, column)
    starts, sizes = cube.classes
    cell_weights = units[cube.codes[-1].astype(np.int64)]
    if float(abs(units).max()) * cube.records < 2**62:
        sums = np.add.reduceat(cell_weights.astype(np.int64) * cube.counts, starts)
    else:
        sums = np.add.reduceat(cell_weights * cube.counts.astype(object), starts)
    return ClassWeights(sizes, sums, scale)


def _units(cube: Cube, column: str) -> tuple[Ints, int]:
    """The weight of every code as an integer, and how many digits it stands for after the point."""
    texts = cube.values[-1]
    wrong = [t is None or not NUMBER.fullmatch(t) for t in texts]
    bad = int(cube.totals(-1)[np.array(wrong)].sum())
    if bad:
        raise InputError(
            f"{plural(bad, 'record')} without a weight that is a finite number in {column!r}",
            hint="a weight column of numbers without missing values",
        )
    numbers = [Decimal(0 if t is None else t) for t in texts]
    scale = max(0, *(-int(d.as_tuple().exponent) for d in numbers))
    if scale > MOST_DIGITS:
        raise InputError(f"a weight of {column!r} has {scale} digits after the point")
    return np.array([int(Fraction(d) * 10**scale) for d in numbers], dtype=object), scale
