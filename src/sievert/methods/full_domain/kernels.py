"""Compiled loops of the search: sorted keys rolled up to a coarser level, classes held to rules.

A key has one field of bits per column, the first column highest, and the secret lowest.
"""

import math
from typing import Any

import numpy as np

from sievert.arrays import Floats, Ints
from sievert.numerics.acceleration import jit

# What a rule asks of a class. Those from ENTROPY to ENHANCED are convex in the distribution of the
# secret, as `slack` needs it.
SIZE, DISTINCT, DISTINCT_KNOWN = 0, 1, 2
ENTROPY, CONFIDENCE, NAMED, GAIN, EQUAL_T, ORDERED_T, TREE_T, BETA = 3, 4, 5, 6, 7, 8, 9, 10
ENHANCED = 11
RECURSIVE, DELTA, DELTA_PRESENT, CONFIDENCE_KNOWN, NAMED_KNOWN = 12, 13, 14, 15, 16
GAIN_KNOWN, ENTROPY_KNOWN, RECURSIVE_KNOWN = 17, 18, 19
NO_TREE = np.zeros((0, 0), dtype=np.int64)
LN2 = math.log(2.0)


@jit
def roll_up(keys: Ints, counts: Ints, low: int, bits: int, step: Ints) -> tuple[Ints, Ints]:
    """The table with one field on the next level: `step[label]` is the label above.

    Rows that become equal are added up. Rows that agree in the fields above and in the new label
    stand side by side, as one sorted run per old label: the runs are merged, two at a time.
    """
    n = len(keys)
    shift, width = np.uint64(low), np.uint64(bits)
    mask, rest = np.uint64((1 << bits) - 1), np.uint64((1 << low) - 1)
    rolled, sums = np.empty(n, dtype=np.uint64), np.empty(n, dtype=np.int64)
    a_keys, a_sums = np.empty(0, dtype=np.uint64), np.empty(0, dtype=np.int64)
    b_keys, b_sums = a_keys, a_sums
    starts = np.empty(len(step) + 1, dtype=np.int64)
    written, i = 0, 0
    while i < n:
        prefix, label = keys[i] >> (shift + width), step[np.int64((keys[i] >> shift) & mask)]
        head = (prefix << (shift + width)) | (np.uint64(label) << shift)
        runs, last, j = 0, mask + np.uint64(1), i
        while j < n and keys[j] >> (shift + width) == prefix:
            field = (keys[j] >> shift) & mask
            if field != last:
                if step[np.int64(field)] != label:
                    break
                starts[runs] = j - i
                runs += 1
                last = field
            j += 1
        size = j - i
        if runs <= 2:  # most often: merged where they are
            x, x_end = i, i + starts[1] if runs == 2 else j
            y = x_end
            while x < x_end and y < j:
                x_key, y_key = keys[x] & rest, keys[y] & rest
                first, second = x_key <= y_key, y_key <= x_key
                rolled[written] = head | (x_key if first else y_key)
                sums[written] = first * counts[x] + second * counts[y]
                x += first
                y += second
                written += 1
            for r in range(x if x < x_end else y, x_end if x < x_end else j):
                rolled[written] = head | (keys[r] & rest)
                sums[written] = counts[r]
                written += 1
            i = j
            continue
        if size > len(a_keys):
            a_keys, a_sums = np.empty(2 * size, dtype=np.uint64), np.empty(2 * size, dtype=np.int64)
            b_keys, b_sums = np.empty(2 * size, dtype=np.uint64), np.empty(2 * size, dtype=np.int64)
        for r in range(size):
            a_keys[r], a_sums[r] = keys[i + r] & rest, counts[i + r]
        starts[runs] = size
        while runs > 1:
            merged, at = 0, 0
            for pair in range(0, runs, 2):
                x, x_end = starts[pair], starts[pair + 1]
                y, y_end = x_end, starts[pair + 2] if pair + 2 <= runs else x_end
                starts[merged] = at
                merged += 1
                while x < x_end and y < y_end:
                    if a_keys[x] < a_keys[y]:
                        b_keys[at], b_sums[at] = a_keys[x], a_sums[x]
                        x += 1
                    elif a_keys[y] < a_keys[x]:
                        b_keys[at], b_sums[at] = a_keys[y], a_sums[y]
                        y += 1
                    else:
                        b_keys[at], b_sums[at] = a_keys[x], a_sums[x] + a_sums[y]
                        x += 1
                        y += 1
                    at += 1
                for r in range(x if x < x_end else y, x_end if x < x_end else y_end):
                    b_keys[at], b_sums[at] = a_keys[r], a_sums[r]
                    at += 1
            starts[merged] = at
            runs, size = merged, at
            a_keys, b_keys, a_sums, b_sums = b_keys, a_keys, b_sums, a_sums
        for r in range(size):
            rolled[written] = head | a_keys[r]
            sums[written] = a_sums[r]
            written += 1
        i = j
    return rolled[:written], sums[:written]


@jit
def records_below(keys: Ints, counts: Ints, low: int, k: int) -> int:
    """The records in classes of fewer than k, the fields below `low` bits put aside."""
    shift, below, i, n = np.uint64(low), 0, 0, len(keys)
    while i < n:
        prefix, size = keys[i] >> shift, 0
        while i < n and keys[i] >> shift == prefix:
            size += counts[i]
            i += 1
        if size < k:
            below += size
    return below


@jit
def class_sizes(keys: Ints, counts: Ints, low: int) -> tuple[Ints, Ints]:
    """The key and the size of every class, the fields below `low` bits put aside."""
    shift, i, n, k = np.uint64(low), 0, len(keys), 0
    heads, sizes = np.empty(n, dtype=np.uint64), np.empty(n, dtype=np.int64)
    while i < n:
        prefix, size = keys[i] >> shift, 0
        while i < n and keys[i] >> shift == prefix:
            size += counts[i]
            i += 1
        heads[k], sizes[k] = prefix, size
        k += 1
    return heads[:k], sizes[:k]


@jit
def rule_distance(
    kind: int, limit: float, tally: Ints, seen: Ints, size: int, totals: Ints, tree: Ints
) -> Any:
    """What a class has of the quantity that a convex rule bounds from above by its limit.

    `tally[s]` counts value s in the class, `seen` are the values that occur, `totals[s]` counts it
    in the table. For ENTROPY it is log(limit) minus the entropy, in nats, and the bound is 0. For
    ENHANCED it is how far the gain of a value is above its own bound, the smaller of the limit and
    -ln p(s), plus the limit.
    """
    m, records = len(totals), totals.sum()
    if kind == ENTROPY:
        entropy = 0.0
        for s in seen:
            entropy -= tally[s] / size * math.log(tally[s] / size)
        return math.log(limit) - entropy
    if kind == CONFIDENCE:
        most = 0
        for s in seen:
            most = max(most, tally[s])
        return most / size
    if kind in (GAIN, BETA):
        largest = 0.0
        for s in seen:
            base = totals[s] if kind == BETA else records - totals[s]
            if base > 0:
                gain = tally[s] * records - totals[s] * size
                largest = max(largest, gain / (size * base))
        return largest
    if kind == ENHANCED:
        furthest = 0.0
        for s in seen:
            gain = (tally[s] * records - totals[s] * size) / (size * totals[s])
            furthest = max(furthest, gain - min(limit, math.log(records / totals[s])))
        return furthest
    if kind == EQUAL_T:
        over = 0
        for s in seen:
            over += max(0, tally[s] * records - totals[s] * size)
        return over / (size * records)
    if kind == ORDERED_T:
        whole, ahead = 0, 0
        for s in range(m - 1):
            ahead += tally[s] * records - totals[s] * size
            whole += abs(ahead)
        return whole / (size * records * (m - 1)) if m > 1 else 0.0
    moved: Any = 0  # TREE_T: the mean over levels of the distance of their labels
    levels = len(tree)
    for level in range(levels):
        gaps = np.zeros(m, dtype=np.int64)
        for s in range(m):
            gaps[tree[level, s]] += tally[s] * records - totals[s] * size
        for gap in gaps:
            moved += max(0, gap)
    return moved / (size * records * levels)


@jit
def rule_excess(
    kind: int, limit: float, tally: Ints, seen: Ints, size: int, totals: Ints, tree: Ints
) -> Any:
    """How far a class is beyond the limit of a convex rule; 0 or less if it holds the rule."""
    distance = rule_distance(kind, limit, tally, seen, size, totals, tree)
    if kind == ENTROPY:
        return distance if distance > 1e-12 else 0.0
    return distance if kind == ENHANCED else distance - limit


@jit
def breaks_other(
    kind: int,
    limit: float,
    value: int,
    tally: Ints,
    seen: Ints,
    size: int,
    totals: Ints,
    missing: int,
) -> Any:
    """Whether a class breaks a rule that `rule_distance` does not know.

    `value` is the rule's l, or the number of a named value.
    """
    if kind == SIZE:
        return size < limit
    absent = tally[missing] if missing >= 0 else 0
    known = size - absent
    if kind == DISTINCT:
        return len(seen) < limit
    if kind == DISTINCT_KNOWN:
        return len(seen) - (absent > 0) < limit
    if kind == NAMED:
        return tally[value] / size > limit
    if kind == NAMED_KNOWN:
        return known > 0 and tally[value] / known > limit
    if kind >= CONFIDENCE_KNOWN:  # the class and the table without missing secrets
        if known == 0:
            return False
        tally, totals, size, seen = tally.copy(), totals.copy(), known, seen[seen != missing]
        if missing >= 0:
            tally[missing] = totals[missing] = 0
        if kind == CONFIDENCE_KNOWN:
            return rule_excess(CONFIDENCE, limit, tally, seen, size, totals, NO_TREE) > 0
        if kind == GAIN_KNOWN:
            return rule_excess(GAIN, limit, tally, seen, size, totals, NO_TREE) > 0
        if kind == ENTROPY_KNOWN:
            return rule_excess(ENTROPY, limit, tally, seen, size, totals, NO_TREE) > 0
    if kind in (RECURSIVE, RECURSIVE_KNOWN):
        left, most, rest = tally.copy(), 0, size
        for s in seen:
            most = max(most, tally[s])
        for _ in range(value - 1):  # the most frequent values are taken away
            top = 0
            for s in seen:
                if left[s] > left[top]:
                    top = s
            rest -= left[top]
            left[top] = 0
        return rest == 0 or most / rest >= limit  # strict, as the limit on the measure
    if kind in (DELTA, DELTA_PRESENT):
        records, largest = totals.sum(), 0.0
        for s in seen:
            largest = max(largest, abs(math.log((tally[s] * records) / (size * totals[s]))))
        return largest > limit + 1e-12 or (kind == DELTA and len(seen) < np.sum(totals > 0))
    return False  # the others are judged by their distance


@jit
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
    """Of every class whether it breaks a rule, and of every rule its slack over all classes.

    The fields below `low` bits are put aside but for the secret. The slack of a convex rule is the
    sum over classes of size · max(0, quantity - limit).
    """
    shift, mask = np.uint64(low), np.uint64((1 << secret_bits) - 1)
    n, k, i = len(keys), 0, 0
    broken = np.zeros(n, dtype=np.uint8)
    slack = np.zeros(len(kinds))
    tally = np.zeros(len(totals), dtype=np.int64)
    seen = np.empty(len(totals), dtype=np.int64)
    while i < n:
        prefix, size, distinct = keys[i] >> shift, 0, 0
        while i < n and keys[i] >> shift == prefix:
            s = np.int64(keys[i] & mask)
            if tally[s] == 0:
                seen[distinct] = s
                distinct += 1
            tally[s] += counts[i]
            size += counts[i]
            i += 1
        here = seen[:distinct]
        for r in range(len(kinds)):
            if ENTROPY <= kinds[r] <= ENHANCED and kinds[r] != NAMED:
                over = rule_excess(kinds[r], limits[r], tally, here, size, totals, tree)
                slack[r] += size * max(0.0, over)
                if over > 0.0:
                    broken[k] = 1
                continue
            if kinds[r] == NAMED:
                slack[r] += max(0.0, tally[values[r]] - limits[r] * size)
            if not broken[k]:
                broken[k] = breaks_other(
                    kinds[r], limits[r], values[r], tally, here, size, totals, missing
                )
        for s in here:
            tally[s] = 0
        k += 1
    return broken[:k], slack


@jit
def hidden_shares(
    heads: Ints, sizes: Ints, broken: Ints, lows: Ints, widths: Ints, shares: Floats
) -> Floats:
    """Of every column what suppression adds to the sum of its shares: size · (1 - share)."""
    more = np.zeros(len(lows))
    for c in range(len(heads)):
        if broken[c]:
            for j in range(len(lows)):
                mask = np.uint64((1 << widths[j]) - 1)
                label = np.int64((heads[c] >> np.uint64(lows[j])) & mask)
                more[j] += sizes[c] * (1.0 - shares[j, label])
    return more


@jit
def uncertainty(keys: Ints, counts: Ints, secret_bits: int, values: int, broken: Ints) -> float:
    """N · H(secret | class) in bits; the classes that are `broken` count as one, the suppressed."""
    shift, mask = np.uint64(secret_bits), np.uint64((1 << secret_bits) - 1)
    tally, gone = np.zeros(values, dtype=np.int64), 0
    i, n, k, total = 0, len(keys), 0, 0.0
    while i < n:
        prefix, size, cells = keys[i] >> shift, 0, 0.0
        while i < n and keys[i] >> shift == prefix:
            if broken[k]:
                tally[np.int64(keys[i] & mask)] += counts[i]
                gone += counts[i]
            else:
                size += counts[i]
                cells += counts[i] * math.log(counts[i])
            i += 1
        if size:
            total += size * math.log(size) - cells
        k += 1
    if gone:
        total += gone * math.log(gone)
        for s in range(values):
            if tally[s]:
                total -= tally[s] * math.log(tally[s])
    return total / LN2


@jit
def node_sums(
    keys: Ints, counts: Ints, secret_bits: int, values: int, k: int, broken: Ints, n_log_n: Floats
) -> tuple[int, float, float]:
    """Of one node: suppressed records, and the sums of n log2 n over classes and over cells.

    A class is suppressed if it has fewer than k records or is `broken` (which may be empty: none);
    the suppressed classes count as one. `n_log_n` has the logarithms of small numbers.
    """
    shift, mask = np.uint64(secret_bits), np.uint64((1 << secret_bits) - 1)
    tally, known = np.zeros(values, dtype=np.int64), len(n_log_n)
    gone, classes, cells, c, i, n = 0, 0.0, 0.0, 0, 0, len(keys)
    while i < n:
        prefix, size, first, own = keys[i] >> shift, 0, i, 0.0
        while i < n and keys[i] >> shift == prefix:
            m = counts[i]
            own += n_log_n[m] if m < known else m * math.log2(m)
            size += m
            i += 1
        if size < k or (len(broken) > 0 and broken[c]):
            gone += size
            for r in range(first, i):
                tally[np.int64(keys[r] & mask)] += counts[r]
        else:
            classes += n_log_n[size] if size < known else size * math.log2(size)
            cells += own
        c += 1
    if gone:
        classes += gone * math.log2(gone)
        for m in tally:
            if m:
                cells += m * math.log2(m)
    return gone, classes, cells
