"""Whether a control group is one: people drawn together with the original, and none of them in it.

A wrong control is worse than none. People of another kind are easier or harder to attack for
reasons that have nothing to do with the synthetic table; people of the original in the control hide
what the table says of them.
"""

from __future__ import annotations

import numpy as np

from sievert.arrays import Ints
from sievert.attacks.synthetic.evidence import hypergeometric_tail
from sievert.attacks.synthetic.keys import SharedRows
from sievert.attacks.synthetic.tables import SyntheticTables
from sievert.numerics.special_functions import chi_square

SURE = 0.01  # over all columns together (Bonferroni)
EXPECTED = 5  # people of a value in the smaller group, on average: rarer values are taken together
BINS = 20  # of numbers


def differing_columns(tables: SyntheticTables) -> list[str]:
    """The columns in which the original and the control differ by more than chance."""
    level = SURE / len(tables.columns)
    own = (_column_chance(tables, at) for at in range(len(tables.columns)))
    return [c.name for c, p in zip(tables.columns, own, strict=True) if p < level]


def _column_chance(tables: SyntheticTables, at: int) -> float:
    """The chance of a difference as large as that of one column, by chi-square."""
    column, codes, n = tables.columns[at], tables.pool[:, at], tables.originals
    counts = np.bincount(codes, minlength=column.values)
    if column.is_number:
        groups = _bins(counts, column.missing)
    else:
        groups = _common(counts, len(codes), min(n, len(codes) - n))
    first = np.bincount(groups[codes[:n]], minlength=groups.max() + 1)
    second = np.bincount(groups[codes[n:]], minlength=groups.max() + 1)
    both = first + second
    first, second, both = (each[both > 0] for each in (first, second, both))
    if len(both) < 2:
        return 1.0
    expected = both * (n / len(codes))
    others = both - expected
    distance = float(((first - expected) ** 2 / expected + (second - others) ** 2 / others).sum())
    return chi_square(distance, len(both) - 1)


def _common(counts: Ints, people: int, smaller: int) -> Ints:
    """Every frequent value by itself, and all rare ones together."""
    rare = counts * smaller < EXPECTED * people
    groups = np.cumsum(~rare)
    return np.where(rare, 0, groups)


def _bins(counts: Ints, missing: int) -> Ints:
    """Numbers in bins of about as many people each; those that are missing by themselves."""
    known = counts.copy()
    if missing >= 0:
        known[missing] = 0
    below = np.cumsum(known) - known
    groups = below * BINS // max(1, int(known.sum()))
    if missing >= 0:
        groups[missing] = BINS
    return groups


def shares_people(tables: SyntheticTables) -> bool:
    """Whether the control has people of the original: more equal rows than strangers would.

    A control's row is in the original about as often as an original's row is there a second time.
    """
    rows, n, c = SharedRows.of(tables), tables.originals, tables.controls
    at = rows.of_person
    twins = int(np.count_nonzero(rows.originals[at[:n]] > 1))
    found = int(np.count_nonzero(rows.originals[at[n:]] > 0))
    return hypergeometric_tail(found, n + c, twins + found, c) < SURE / 10
