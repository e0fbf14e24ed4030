"""What is kept of classes and of the rules for them, as arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from sievert.arrays import Floats, Ints
from sievert.methods.full_domain import SecretCells
from sievert.methods.local.columns import INTERVAL, SET, ColumnArrays

NOWHERE = 1 << 60  # in place of the second least position of a class of one record


class SecretRules(NamedTuple):
    """The rules about secrets: `begins` tells where the values of each secret begin in a tally."""

    secrets: Ints
    kinds: Ints
    limits: Floats
    values: Ints
    begins: Ints
    totals: Ints
    trees: Ints
    heights: Ints
    missing: Ints


class ClassBlock(NamedTuple):
    """Classes and their pieces, which the loops change in place.

    Class c has `sizes[c]` records (none: it is gone), its pieces are a chain from `heads[c]` on
    through `after`. Piece p has `amounts[p]` records of the combination `combinations[p]`.
    """

    codes: Ints  # of every combination
    tallies: Ints  # of every combination: its values of the secrets
    states: Ints  # of every class, of some records of every combination, and two to work with
    sizes: Ints
    costs: Floats
    class_tallies: Ints
    heads: Ints
    after: Ints
    combinations: Ints
    amounts: Ints
    owners: Ints  # the class of every piece
    number: Ints  # how many pieces there are


def secret_rules_arrays(secrets: Sequence[SecretCells]) -> SecretRules:
    """The rules of these secrets as arrays; secrets without rules are left out."""
    ruled = [s for s in secrets if s.rules]
    rules = [(number, rule) for number, s in enumerate(ruled) for rule in s.rules]
    trees = [np.zeros((1, s.values), np.int64) if s.tree is None else s.tree for s in ruled]
    shape = (len(ruled), max([1, *map(len, trees)]), max([1, *(s.values for s in ruled)]))
    padded = np.zeros(shape, dtype=np.int64)
    for number, tree in enumerate(trees):
        padded[number, : len(tree), : tree.shape[1]] = tree
    totals = [np.bincount(s.value, s.counts, s.values).astype(np.int64) for s in ruled]
    return SecretRules(
        np.array([number for number, _ in rules], dtype=np.int64),
        np.array([rule.number for _, rule in rules], dtype=np.int64),
        np.array([rule.limit for _, rule in rules], dtype=np.float64),
        np.array([rule.value for _, rule in rules], dtype=np.int64),
        np.cumsum([0, *(s.values for s in ruled)]).astype(np.int64),
        np.concatenate([np.zeros(0, np.int64), *totals]),
        padded,
        np.array([len(tree) for tree in trees], dtype=np.int64),
        np.array([s.missing for s in ruled], dtype=np.int64),
    )


def first_states(columns: ColumnArrays, codes: Ints, counts: Ints) -> Ints:
    """The state of classes of one combination each: `codes[i, j]` is its position in column j."""
    states = np.repeat(codes[:, :, None], 4, axis=2)
    alone = counts == 1
    for j, kind in enumerate(columns.kinds):
        if kind == INTERVAL:
            states[alone, j, 1], states[alone, j, 3] = NOWHERE, -1
        elif kind == SET:
            bits = np.left_shift(1, codes[:, j])
            states[:, j, 0], states[:, j, 1] = np.where(alone, bits, 0), np.where(alone, 0, bits)
            states[:, j, 2:] = 0
        else:
            states[:, j, 2:] = 0
    return states
