"""Classes, their pieces and the rules for them, as arrays."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from sievert.arrays import Floats, Ints
from sievert.methods.full_domain import SecretCells
from sievert.methods.full_domain.rules import RuleArrays

# Columns of the array of classes.
SIZE = 0
HEAD = 1
VISIT = 2  # the last list in which the class was put
# Columns of the array of pieces.
COMBINATION = 0
AMOUNT = 1
OWNER = 2
AFTER = 3  # the next piece of its class


class SecretRules(NamedTuple):
    """The rules about secrets; in a tally, the values of secret s begin at `begins[s]`."""

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

    A class has `classes[c, SIZE]` records, or none if it is gone. Its pieces are a chain that
    begins with `classes[c, HEAD]`. A piece has `pieces[p, AMOUNT]` records of one combination;
    piece i always has records of combination i. There are few arrays, because each takes time to
    compile.
    """

    codes: Ints  # of every combination
    near: Ints  # for every combination the nearest others, nearest first; -1: no more
    tallies: Ints  # for every combination its values of the secrets
    class_tallies: Ints
    states: Ints  # of every class, and two to work with
    costs: Floats  # of every class, per record
    classes: Ints
    pieces: Ints
    own: Ints  # to work with: combinations, and the records of each
    number: Ints  # the number of pieces, and the number of lists of classes so far


def secret_rules_arrays(secrets: Sequence[SecretCells]) -> SecretRules:
    """Put the rules of the secrets into arrays; leave out secrets without rules."""
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
    """Make a block with the classes `groups`, or with one class for each combination.

    The states of the classes are not computed yet.
    """
    n = len(counts)
    classes = np.zeros((n, 3), dtype=np.int64)
    classes[:, HEAD] = -1
    pieces = np.zeros((4 * n + 16, 4), dtype=np.int64)
    pieces[:n, COMBINATION] = np.arange(n)
    pieces[:n, AMOUNT] = counts
    pieces[:, AFTER] = -1
    if groups is None:
        classes[:, HEAD] = np.arange(n)
        classes[:, SIZE] = counts
        pieces[:n, OWNER] = np.arange(n)
    for own in groups or ():
        classes[own[0], HEAD] = own[0]
        classes[own[0], SIZE] = counts[own].sum()
        pieces[own, OWNER] = own[0]
        pieces[own[:-1], AFTER] = own[1:]
    class_tallies = np.zeros_like(tallies)
    np.add.at(class_tallies, pieces[:n, OWNER], tallies)
    return ClassBlock(
        codes=codes,
        near=near,
        tallies=tallies,
        class_tallies=class_tallies,
        states=np.zeros((n + 2, codes.shape[1], 4), dtype=np.int64),
        costs=np.zeros(n),
        classes=classes,
        pieces=pieces,
        own=np.zeros((len(pieces), 2), dtype=np.int64),
        number=np.array([n, 0]),
    )
