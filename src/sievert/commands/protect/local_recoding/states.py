"""What is kept of classes and of the rules for them, as arrays."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from sievert.arrays import Floats, Ints
from sievert.methods.full_domain import SecretCells
from sievert.methods.full_domain.rules import RuleArrays

SIZE, HEAD, MARK = 0, 1, 2  # of a class; a mark tells that it was looked at
COMBINATION, AMOUNT, OWNER, AFTER = 0, 1, 2, 3  # of a piece; the one after it in its class


class SecretRules(NamedTuple):
    """The rules about secrets: `begins` tells where the values of each secret begin in a tally."""

    rules: RuleArrays
    secrets: Ints  # of every rule
    begins: Ints
    totals: Ints
    known_totals: Ints
    trees: Ints
    heights: Ints
    missing: Ints


class ClassBlock(NamedTuple):
    """Classes and their pieces, which the loops change in place.

    A class has `classes[c, SIZE]` records (none: it is gone), its pieces are a chain that begins
    with `classes[c, HEAD]`. A piece has `pieces[p, AMOUNT]` records of one combination; piece i
    always is one of combination i. Few arrays, because each of them takes time to compile.
    """

    codes: Ints  # of every combination
    near: Ints  # of every combination the nearest others, nearest first; -1: no more
    tallies: Ints  # of every combination: its values of the secrets
    class_tallies: Ints
    states: Ints  # of every class, and two to work with
    costs: Floats  # of every class, per record
    classes: Ints
    pieces: Ints
    own: Ints  # to work with: combinations, and how many records of each
    number: Ints  # how many pieces there are, and the last mark


def secret_rules_arrays(secrets: Sequence[SecretCells]) -> SecretRules:
    """The rules of these secrets as arrays; secrets without rules are left out."""
    ruled = [s for s in secrets if s.rules]
    rules = [(number, rule) for number, s in enumerate(ruled) for rule in s.rules]
    trees = [np.zeros((1, s.values), np.int64) if s.tree is None else s.tree for s in ruled]
    shape = (len(ruled), max([1, *map(len, trees)]), max([1, *(s.values for s in ruled)]))
    padded = np.zeros(shape, dtype=np.int64)
    for number, tree in enumerate(trees):
        padded[number, : len(tree), : tree.shape[1]] = tree
    none = np.zeros(0, np.int64)
    return SecretRules(
        rules=RuleArrays.of(tuple(rule for _, rule in rules)),
        secrets=np.array([number for number, _ in rules], dtype=np.int64),
        begins=np.cumsum([0, *(s.values for s in ruled)]).astype(np.int64),
        totals=np.concatenate([none, *(s.totals() for s in ruled)]),
        known_totals=np.concatenate([none, *(s.known_totals() for s in ruled)]),
        trees=padded,
        heights=np.array([len(tree) for tree in trees], dtype=np.int64),
        missing=np.array([s.missing for s in ruled], dtype=np.int64),
    )


def first_block(
    codes: Ints, near: Ints, counts: Ints, tallies: Ints, groups: Sequence[Ints] | None = None
) -> ClassBlock:
    """A block with these classes, or every combination by itself; their states are to be made."""
    n = len(counts)
    classes = np.zeros((n, 3), dtype=np.int64)
    classes[:, HEAD] = -1
    pieces = np.zeros((4 * n + 16, 4), dtype=np.int64)
    pieces[:n, COMBINATION] = np.arange(n)
    pieces[:n, AMOUNT], pieces[:, AFTER] = counts, -1
    if groups is None:
        classes[:, HEAD], classes[:, SIZE], pieces[:n, OWNER] = np.arange(n), counts, np.arange(n)
    for own in groups or ():
        classes[own[0], HEAD], classes[own[0], SIZE] = own[0], counts[own].sum()
        pieces[own, OWNER], pieces[own[:-1], AFTER] = own[0], own[1:]
    class_tallies = np.zeros_like(tallies)
    np.add.at(class_tallies, pieces[:n, OWNER], tallies)
    return ClassBlock(
        codes,
        near,
        tallies,
        class_tallies,
        np.zeros((n + 2, codes.shape[1], 4), dtype=np.int64),
        np.zeros(n),
        classes,
        pieces,
        np.zeros((len(pieces), 2), dtype=np.int64),
        np.array([n, 0]),
    )
