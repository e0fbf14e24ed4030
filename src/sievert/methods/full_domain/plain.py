"""The loops of `kernels` in NumPy: for short searches, and for machines without numba."""

import math

import numpy as np

from sievert.arrays import Bools, Floats, Ints
from sievert.counts.cube import run_starts
from sievert.methods.full_domain.rules import KINDS

LN2 = math.log(2.0)


def roll_up(keys: Ints, counts: Ints, low: int, bits: int, step: Ints) -> tuple[Ints, Ints]:
    """The table with one field on the next level: `step[label]` is the label above."""
    shift, mask = np.uint64(low), np.uint64((1 << bits) - 1)
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
    kinds: Ints,
    limits: Floats,
    values: Ints,
    totals: Ints,
    tree: Ints,
    missing: int,
) -> tuple[Ints, Floats]:
    """Of every class whether it breaks a rule, and of every rule its slack over all classes."""
    heads = keys >> np.uint64(low)
    starts = run_starts(heads)
    at = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, len(keys))))
    secrets = (keys & np.uint64((1 << secret_bits) - 1)).astype(np.int64)
    if all(KINDS[number] == "distinct" for number in kinds):  # people: too many for a table
        pairs = np.unique(at * len(totals) + secrets) // len(totals)
        distinct = np.bincount(pairs, minlength=len(starts))
        return (distinct < max(limits, default=0)).astype(np.uint8), np.zeros(len(kinds))
    tally = np.bincount(at * len(totals) + secrets, counts, len(starts) * len(totals))
    tally = tally.astype(np.int64).reshape(len(starts), len(totals))
    broken, slack = np.zeros(len(starts), dtype=bool), np.zeros(len(kinds))
    for r, (number, limit, value) in enumerate(zip(kinds, limits, values, strict=True)):
        own, over = judge_tallies(
            KINDS[number], float(limit), int(value), tally, totals, tree, missing
        )
        broken |= own
        slack[r] = float((tally.sum(axis=1) * np.maximum(over, 0.0)).sum())
    return broken.astype(np.uint8), slack


def judge_tallies(
    kind: str, limit: float, value: int, tally: Ints, totals: Ints, tree: Ints, missing: int
) -> tuple[Ints, Floats]:
    """Which classes break one rule, and by how much they exceed the limit of a convex one."""
    none = np.zeros(len(tally))
    if kind.endswith("_known"):  # the classes and the table without missing secrets
        table, whole = tally.copy(), totals.copy()
        if missing >= 0:
            table[:, missing] = whole[missing] = 0
        if kind == "distinct_known":
            return (table > 0).sum(axis=1) < limit, none
        broken, some = np.zeros(len(tally), dtype=bool), table.any(axis=1)
        plain = kind.removesuffix("_known")
        broken[some], _ = judge_tallies(plain, limit, value, table[some], whole, tree, missing)
        return broken, none
    sizes, records = tally.sum(axis=1), int(totals.sum())
    over = tally * records - np.outer(sizes, totals)
    if kind == "size":
        return sizes < limit, none
    if kind == "distinct":
        return (tally > 0).sum(axis=1) < limit, none
    if kind == "recursive":
        ordered = -np.sort(-tally, axis=1)
        rest = ordered[:, value - 1 :].sum(axis=1)
        ratio = ordered[:, 0] / np.maximum(rest, 1)
        return (rest == 0) | (ratio >= limit), none  # strict, as the limit on the measure
    if kind in ("delta", "delta_present"):
        with np.errstate(divide="ignore"):
            logs = np.abs(np.log(tally * records / np.outer(sizes, np.maximum(totals, 1))))
        worst = np.where(tally > 0, logs, 0.0).max(axis=1)
        lacking = (tally > 0).sum(axis=1) < (totals > 0).sum()
        return (worst > limit + 1e-12) | (lacking & (kind == "delta")), none
    if kind == "entropy":
        shares = tally / sizes[:, None]
        logs = np.log(np.where(tally > 0, shares, 1.0))
        excess = math.log(limit) + (shares * logs).sum(axis=1)
        return excess > 1e-12, excess
    if kind == "named":
        quantity = tally[:, value] / sizes
    elif kind == "confidence":
        quantity = tally.max(axis=1) / sizes
    elif kind == "enhanced":
        gains = np.where(totals > 0, over / np.outer(sizes, np.maximum(totals, 1)), 0.0)
        bounds = np.minimum(limit, np.log(records / np.maximum(totals, 1)))
        excess = np.maximum((gains - bounds).max(axis=1), 0.0)
        return excess > 0, excess
    elif kind in ("gain", "beta"):
        base = totals if kind == "beta" else records - totals
        gains = np.where(base > 0, over / np.outer(sizes, np.maximum(base, 1)), 0.0)
        quantity = np.maximum(gains.max(axis=1), 0.0)
    elif kind == "equal_t":
        quantity = np.maximum(over, 0).sum(axis=1) / (sizes * records)
    elif kind == "ordered_t":
        steps = max(len(totals) - 1, 1)
        quantity = np.abs(over.cumsum(axis=1)[:, :-1]).sum(axis=1) / (sizes * records * steps)
    else:
        moved = np.zeros_like(sizes)
        for labels in tree:
            gaps = np.zeros((len(tally), int(labels.max()) + 1), dtype=np.int64)
            np.add.at(gaps.T, labels, over.T)
            moved += np.maximum(gaps, 0).sum(axis=1)
        quantity = moved / (sizes * records * len(tree))
    return quantity > limit, quantity - limit


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
