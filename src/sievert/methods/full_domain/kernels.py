"""Compiled loops of the search: sorted keys rolled up to a coarser level, classes held to rules.

A key has one field of bits per column, the first column highest, and the secret lowest.
"""

import math

import numpy as np

from sievert.arrays import Floats, Ints
from sievert.methods.full_domain.class_excess import rule_excess
from sievert.methods.full_domain.rules import RuleArrays
from sievert.numerics.acceleration import jit

LN2 = math.log(2.0)


@jit
def roll_up(keys: Ints, counts: Ints, low: int, bits: int, step: Ints) -> tuple[Ints, Ints]:
    """The table with one field on the next level: `step[label]` is the label above.

    Rows that become equal are added up. Rows that agree in the fields above and in the new label
    stand side by side, as one sorted run per old label: the runs are merged, two at a time.
    """
    n = len(keys)
    shift = np.uint64(low)
    width = np.uint64(bits)
    mask = np.uint64((1 << bits) - 1)
    rest = np.uint64((1 << low) - 1)
    rolled = np.empty(n, dtype=np.uint64)
    sums = np.empty(n, dtype=np.int64)
    a_keys = np.empty(0, dtype=np.uint64)
    a_sums = np.empty(0, dtype=np.int64)
    b_keys = a_keys
    b_sums = a_sums
    starts = np.empty(len(step) + 1, dtype=np.int64)
    written = 0
    i = 0
    while i < n:
        prefix = keys[i] >> (shift + width)
        label = step[np.int64((keys[i] >> shift) & mask)]
        head = (prefix << (shift + width)) | (np.uint64(label) << shift)
        runs = 0
        last = mask + np.uint64(1)
        j = i
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
            x = i
            x_end = i + starts[1] if runs == 2 else j
            y = x_end
            while x < x_end and y < j:
                x_key = keys[x] & rest
                y_key = keys[y] & rest
                first = x_key <= y_key
                second = y_key <= x_key
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
            a_keys = np.empty(2 * size, dtype=np.uint64)
            a_sums = np.empty(2 * size, dtype=np.int64)
            b_keys = np.empty(2 * size, dtype=np.uint64)
            b_sums = np.empty(2 * size, dtype=np.int64)
        for r in range(size):
            a_keys[r] = keys[i + r] & rest
            a_sums[r] = counts[i + r]
        starts[runs] = size
        while runs > 1:
            merged = 0
            at = 0
            for pair in range(0, runs, 2):
                x = starts[pair]
                x_end = starts[pair + 1]
                y = x_end
                y_end = starts[pair + 2] if pair + 2 <= runs else x_end
                starts[merged] = at
                merged += 1
                while x < x_end and y < y_end:
                    if a_keys[x] < a_keys[y]:
                        b_keys[at] = a_keys[x]
                        b_sums[at] = a_sums[x]
                        x += 1
                    elif a_keys[y] < a_keys[x]:
                        b_keys[at] = a_keys[y]
                        b_sums[at] = a_sums[y]
                        y += 1
                    else:
                        b_keys[at] = a_keys[x]
                        b_sums[at] = a_sums[x] + a_sums[y]
                        x += 1
                        y += 1
                    at += 1
                for r in range(x if x < x_end else y, x_end if x < x_end else y_end):
                    b_keys[at] = a_keys[r]
                    b_sums[at] = a_sums[r]
                    at += 1
            starts[merged] = at
            runs = merged
            size = at
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
    shift = np.uint64(low)
    below = 0
    i = 0
    n = len(keys)
    while i < n:
        prefix = keys[i] >> shift
        size = 0
        while i < n and keys[i] >> shift == prefix:
            size += counts[i]
            i += 1
        if size < k:
            below += size
    return below


@jit
def class_sizes(keys: Ints, counts: Ints, low: int) -> tuple[Ints, Ints]:
    """The key and the size of every class, the fields below `low` bits put aside."""
    shift = np.uint64(low)
    i = 0
    n = len(keys)
    k = 0
    heads = np.empty(n, dtype=np.uint64)
    sizes = np.empty(n, dtype=np.int64)
    while i < n:
        prefix = keys[i] >> shift
        size = 0
        while i < n and keys[i] >> shift == prefix:
            size += counts[i]
            i += 1
        heads[k] = prefix
        sizes[k] = size
        k += 1
    return heads[:k], sizes[:k]


@jit
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
    """Of every class whether it breaks a rule, and of every rule its slack over all classes.

    The fields below `low` bits are put aside but for the secret. The slack of a convex rule is the
    sum over classes of size · max(0, excess).
    """
    shift = np.uint64(low)
    mask = np.uint64((1 << secret_bits) - 1)
    n = len(keys)
    k = 0
    i = 0
    broken = np.zeros(n, dtype=np.uint8)
    slack = np.zeros(len(rules.numbers))
    records = totals.sum()
    known_records = known_totals.sum()
    tally = np.zeros(len(totals), dtype=np.int64)
    seen = np.empty(len(totals), dtype=np.int64)
    work = np.empty((2, len(totals)), dtype=np.int64)
    while i < n:
        prefix = keys[i] >> shift
        size = 0
        distinct = 0
        while i < n and keys[i] >> shift == prefix:
            s = np.int64(keys[i] & mask)
            if tally[s] == 0:
                seen[distinct] = s
                distinct += 1
            tally[s] += counts[i]
            size += counts[i]
            i += 1
        here = seen[:distinct]
        for r in range(len(rules.numbers)):
            if broken[k] and not rules.convex[r]:
                continue
            excess = rule_excess(
                rules,
                r,
                tally,
                here,
                size,
                totals,
                records,
                known_totals,
                known_records,
                tree,
                missing,
                work,
            )
            if rules.convex[r]:
                slack[r] += size * max(0.0, excess)
            if excess > 0.0:
                broken[k] = 1
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
    shift = np.uint64(secret_bits)
    mask = np.uint64((1 << secret_bits) - 1)
    tally = np.zeros(values, dtype=np.int64)
    gone = 0
    i = 0
    n = len(keys)
    k = 0
    total = 0.0
    while i < n:
        prefix = keys[i] >> shift
        size = 0
        cells = 0.0
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
    shift = np.uint64(secret_bits)
    mask = np.uint64((1 << secret_bits) - 1)
    tally = np.zeros(values, dtype=np.int64)
    known = len(n_log_n)
    gone = 0
    classes = 0.0
    cells = 0.0
    c = 0
    i = 0
    n = len(keys)
    while i < n:
        prefix = keys[i] >> shift
        size = 0
        first = i
        own = 0.0
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
