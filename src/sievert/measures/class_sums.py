"""Limits on the table as a whole that are sums over its classes.

Many measures of a whole table are a sum over classes, divided by something that no release changes:
the number of records, or the entropy of a secret. A limit on such a measure is met if

    sum over classes of  form(class) + per_record * records + per_named * records with one value

is at most `bound`. Joining two classes never raises the sum. `protect --how regions` forms classes
by it, before the release is measured. A measure declares it as the `sum_rule` of its record, as in
`measures.classes`. A new form is computed in `add_class` of `commands.protect.regions.sums`.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from typing import Literal

import numpy as np

from sievert.arrays import Floats, Ints


class SumForm(IntEnum):
    """What a class adds to a sum besides what each of its records adds."""

    COUNT = 0  # 1
    BELOW = 1  # its records, if it has fewer than `size`
    PAIRS = 2  # minus the ordered pairs of its records
    ALIKE = 3  # minus its records times the bits of choosing one of them
    LARGEST = 4  # its records with the most frequent value of the secret
    DOUBT = 5  # minus its records times the entropy of the secret in the class, in bits


@dataclass(frozen=True, kw_only=True)
class ClassSum:
    """A limit as a sum over classes; see the module."""

    form: SumForm
    bound: float
    per_record: float = 0.0
    per_named: float = 0.0
    named: int = 0  # the number of the value that `per_named` is about
    size: int = 0  # of SumForm.BELOW
    known: bool = False  # whether records without a secret are left out


Terms = Callable[[float, Ints, int], ClassSum]


@dataclass(frozen=True, kw_only=True)
class SumRule:
    """How a limit on a measure becomes a sum over classes.

    `of_record` and `of_secret` make the sum where the target is the record, and where it is a
    secret; None where the measure has no such target. Both take the limit, how many records of the
    table have each value of the secret (each record is a value of its own where the target is the
    record), and the size that the measure has as a parameter.
    """

    side: Literal["min", "max"]  # of the limit
    of_record: Terms | None = None
    of_secret: Terms | None = None
    known: bool = False  # whether a limit on a secret is also judged without missing values
    in_parts: bool = False  # whether the values of the secret are merged by the policy's parts


def entropy_of(totals: Ints) -> float:
    """The entropy of a distribution, in bits."""
    shares: Floats = totals[totals > 0] / max(1, int(totals.sum()))
    return -math.fsum((shares * np.log2(shares)).tolist())


def count_classes(limit: float, totals: Ints, size: int) -> ClassSum:
    """There are at most `limit` classes."""
    return ClassSum(form=SumForm.COUNT, bound=limit)


def count_per_record(limit: float, totals: Ints, size: int) -> ClassSum:
    """There are at most `limit` classes for each record."""
    return ClassSum(form=SumForm.COUNT, per_record=-limit, bound=0.0)


def alone(limit: float, totals: Ints, size: int) -> ClassSum:
    """At most the share `limit` of the records is alone in a class."""
    return ClassSum(form=SumForm.BELOW, size=2, per_record=-limit, bound=0.0)


def below_size(limit: float, totals: Ints, size: int) -> ClassSum:
    """At most `limit` records are in classes of fewer than `size`."""
    return ClassSum(form=SumForm.BELOW, size=size, bound=limit)


def pairs_apart(limit: float, totals: Ints, size: int) -> ClassSum:
    """At most the share `limit` of all pairs of records is told apart."""
    records = int(totals.sum())
    return ClassSum(form=SumForm.PAIRS, bound=-(1.0 - limit) * records * (records - 1))


def largest_share(limit: float, totals: Ints, size: int) -> ClassSum:
    """The share of right guesses is at most `limit`."""
    return ClassSum(form=SumForm.LARGEST, per_record=-limit, bound=0.0)


def gain_of_guesses(limit: float, totals: Ints, size: int) -> ClassSum:
    """The classes put at most the share `limit` of the wrong guesses right."""
    named = int(totals.argmax())
    return ClassSum(
        form=SumForm.LARGEST, per_record=-limit, per_named=limit - 1.0, named=named, bound=0.0
    )


def bits_left(limit: float, entropy: float) -> float:
    """The bits that stay open if a measure gives at most `limit` bits of an entropy away."""
    return entropy - limit


def bits_left_by_rate(limit: float, entropy: float) -> float:
    """The bits that stay open if at most the share `limit` of an entropy is given away."""
    return (1.0 - limit) * entropy


def bits_left_by_privacy(limit: float, entropy: float) -> float:
    """The bits that stay open if 1 - 2^(-bits given away) is at most `limit`."""
    return entropy + math.log2(1.0 - limit) if limit < 1.0 else -math.inf


def least_bits(limit: float, entropy: float) -> float:
    """The bits that stay open if a measure of these has to be at least `limit`."""
    return limit


def least_rate(limit: float, entropy: float) -> float:
    """The bits that stay open if they have to be at least the share `limit` of an entropy."""
    return limit * entropy


def entropy_rule(
    side: Literal["min", "max"],
    left: Callable[[float, float], float],
    *,
    of_record: bool = True,
    in_parts: bool = False,
) -> SumRule:
    """The rule of a limit that leaves `left(limit, entropy)` bits of the target open."""

    def alike(limit: float, totals: Ints, size: int) -> ClassSum:
        bits = left(limit, entropy_of(totals))
        return ClassSum(form=SumForm.ALIKE, per_record=bits, bound=0.0)

    def doubt(limit: float, totals: Ints, size: int) -> ClassSum:
        bits = left(limit, entropy_of(totals))
        return ClassSum(form=SumForm.DOUBT, per_record=bits, bound=0.0)

    return SumRule(
        side=side, of_record=alike if of_record else None, of_secret=doubt, in_parts=in_parts
    )
