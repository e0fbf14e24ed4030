"""The loops of `kernels` in NumPy: for short searches, and for machines without numba."""

import math

import numpy as np

from sievert.arrays import Bools, Floats, Ints
from sievert.counts.cube import run_starts
from sievert.methods.full_domain.rules import CLASS_RULES, NUMBERS, RuleArrays

LN2 = math.log(2.0)
EXCESSES = [rule.excess for rule in CLASS_RULES.values()]  # by the number of the rule


def roll_up(keys: Ints, counts: Ints, low: int, bits: int, step: Ints) -> tuple[Ints, Ints]:
    """The table with one field on the next level: `step[label]` is the label above."""
    shift = np.uint64(low)
    mask = np.uint64((1 << bits) - 1)
    labels = step[((keys >> shift) & mask).astype(np.int64)].astype(np.uint64)
    return sort_keys((keys & ~(mask << shift)) | (labels << shift), counts)


def sort_keys(keys: Ints, counts: Ints) -> tuple[Ints, Ints]:
    """Keys in ascending order with the sums of their counts."""
    order = np.argsort(keys, kind="stable")
    ordered = keys[order]
    starts = run_starts(ordered)
    return ordered[starts], np.add.reduceat(counts[order], starts)


def class_sizes(keys: Ints, counts: Ints, low: int) -> tuple[Ints, Ints]:
    """The key and the size of every class, the fields below `low` bits put aside."""
    heads = keys >> np.uint64(low)
    starts = run_starts(heads)
    return heads[starts], np.add.reduceat(counts, starts)


def records_below(keys: Ints, counts: Ints, low: int, k: int) -> int:
    """The records in classes of fewer than k, the fields below `low` bits put aside."""
    sizes = class_sizes(keys, counts, low)[1]
    return int(sizes[sizes < k].sum())


def judge_classes(
    keys: Ints,
    counts: Ints,
    low: int,
    secret_bits: int,
    rules: RuleArrays,
    totals: Ints,
    known_totals: Ints,
    tree: Ints,
    missing: int,
) -> tuple[Ints, Floats]:
    """Of every class whether it breaks a rule, and of every rule its slack over all classes."""
    heads = keys >> np.uint64(low)
    starts = run_starts(heads)
    at = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, len(keys))))
    secrets = (keys & np.uint64((1 << secret_bits) - 1)).astype(np.int64)
    if not rules.known.any() and (rules.numbers == NUMBERS["distinct"]).all():
        # People: too many for a table.
        pairs = np.unique(at * len(totals) + secrets) // len(totals)
        distinct = np.bincount(pairs, minlength=len(starts))
        return (distinct < max(rules.limits, default=0)).astype(np.uint8), np.zeros(len(rules[0]))
    tally = np.bincount(secrets * len(starts) + at, counts, len(totals) * len(starts))
    tally = tally.astype(np.int64).reshape(len(totals), len(starts))
    sizes = tally.sum(axis=0)
    broken = np.zeros(len(starts), dtype=bool)
    slack = np.zeros(len(rules.numbers))
    for r in range(len(slack)):
        excess = rule_excess(rules, r, tally, sizes, totals, known_totals, tree, missing)
        broken |= excess > 0
        if rules.convex[r]:
            slack[r] = float((sizes * np.maximum(excess, 0.0)).sum())
    return broken.astype(np.uint8), slack


def rule_excess(
    rules: RuleArrays,
    r: int,
    tally: Ints,
    sizes: Ints,
    totals: Ints,
    known_totals: Ints,
    tree: Ints,
    missing: int,
) -> Floats:
    """Of every class how far it is beyond rule `r`; `tally[s, c]` counts value s in class c."""
    judged = np.ones(len(sizes), dtype=bool)
    if rules.known[r]:
        totals = known_totals
        if missing >= 0:
            sizes = sizes - tally[missing]
            tally = tally.copy()
            tally[missing] = 0
        if not rules.judges_unknown[r]:
            judged = sizes > 0
    excess = np.zeros(len(sizes))
    of_judged = tally[:, judged]
    excess[judged] = EXCESSES[rules.numbers[r]](
        of_judged,
        range(len(totals)),
        sizes[judged],
        totals,
        int(totals.sum()),
        float(rules.limits[r]),
        int(rules.values[r]),
        tree,
        np.empty_like(of_judged),
    )
    return excess


def hidden_shares(
    heads: Ints, sizes: Ints, broken: Ints, lows: Ints, widths: Ints, shares: Floats
) -> Floats:
    """Of every column what suppression adds to the sum of its shares: size · (1 - share)."""
    gone = broken.astype(bool)
    fields = (heads[gone][:, None] >> lows.astype(np.uint64)) & (
        (np.uint64(1) << widths.astype(np.uint64)) - np.uint64(1)
    )
    own = np.stack([shares[j, fields[:, j].astype(np.int64)] for j in range(len(lows))], axis=1)
    return np.asarray((sizes[gone][:, None] * (1.0 - own)).sum(axis=0))


def uncertainty(keys: Ints, counts: Ints, secret_bits: int, values: int, broken: Ints) -> float:
    """N · H(secret | class) in bits; the classes that are `broken` count as one, the suppressed."""
    starts = run_starts(keys >> np.uint64(secret_bits))
    lost = broken[: len(starts)].astype(bool)
    classes, cells = _lump(keys, counts, secret_bits, values, starts, lost)
    return float((_n_log_n(classes).sum() - _n_log_n(cells).sum()) / LN2)


def node_sums(
    keys: Ints, counts: Ints, secret_bits: int, values: int, k: int, broken: Ints, n_log_n: Floats
) -> tuple[int, float, float]:
    """Of one node: suppressed records, and the sums of n log2 n over classes and over cells."""
    starts = run_starts(keys >> np.uint64(secret_bits))
    lost = np.add.reduceat(counts, starts) < k
    if len(broken):
        lost |= broken.astype(bool)
    classes, cells = _lump(keys, counts, secret_bits, values, starts, lost)
    of_classes, of_cells = (float(_n_log_n(each).sum() / LN2) for each in (classes, cells))
    return int(classes[-1]), of_classes, of_cells


def _lump(
    keys: Ints, counts: Ints, secret_bits: int, values: int, starts: Ints, lost: Bools
) -> tuple[Floats, Floats]:
    """The sizes of classes and of cells, those of the lost classes put together at the end."""
    gone = np.repeat(lost, np.diff(np.append(starts, len(keys))))
    own = (keys[gone] & np.uint64((1 << secret_bits) - 1)).astype(np.int64)
    tally = np.bincount(own, counts[gone], values)
    sizes = np.add.reduceat(counts, starts)[~lost]
    return np.append(sizes, tally.sum()), np.append(counts[~gone], tally)


def _n_log_n(numbers: Ints) -> Floats:
    return numbers * np.log(np.maximum(numbers, 1))
