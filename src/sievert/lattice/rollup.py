"""Compiled loops that roll up counts of cells to coarser cells."""

import math
from typing import Any

import numpy as np

from sievert.arrays import Ints
from sievert.numerics.acceleration import jit

DIGIT = 11  # bits of a key for one pass of the sort
LOGS = 1 << 16  # counts whose logarithms are in a table
DENSE_BITS = 22
INDEX_BITS = 18  # bits of keys whose rows are looked up in an array


@jit
def without(keys: Ints, low: int, bits: int) -> Ints:
    """Remove the field of `bits` bits above the lowest `low` bits from the keys."""
    below = np.uint64((1 << low) - 1)
    by = np.uint64(low + bits)
    rest = np.uint64(low)
    kept = np.empty(len(keys), dtype=np.uint64)
    for i in range(len(keys)):
        kept[i] = ((keys[i] >> by) << rest) | (keys[i] & below)
    return kept


@jit
def fields(keys: Ints, lows: Ints, widths: Ints) -> Ints:
    """Make keys of some fields only, the last field in the lowest bits."""
    packed = np.zeros(len(keys), dtype=np.uint64)
    for f in range(len(lows)):
        by = np.uint64(lows[f])
        bits = np.uint64(widths[f])
        mask = np.uint64((1 << widths[f]) - 1)
        for i in range(len(keys)):
            packed[i] = (packed[i] << bits) | ((keys[i] >> by) & mask)
    return packed


@jit
def _sum_dense(keys: Ints, counts: Ints, bits: int) -> tuple[Ints, Ints]:
    """Add up the counts of equal keys in an array with a place for every key."""
    sums = np.zeros(1 << bits, dtype=np.int64)
    for i in range(len(keys)):
        sums[keys[i]] += counts[i]
    present = np.flatnonzero(sums)
    return present.astype(np.uint64), sums[present]


@jit
def _radix_sort(keys: Ints, counts: Ints, bits: int) -> tuple[Ints, Ints]:
    """Sort keys in ascending order with their counts, digit by digit from the lowest."""
    size = 1 << DIGIT
    mask = np.uint64((1 << DIGIT) - 1)
    source = keys
    target = np.empty_like(keys)
    numbers = counts
    others = np.empty_like(counts)
    for shift in range(0, bits, DIGIT):
        by = np.uint64(shift)
        starts = np.zeros(size + 1, dtype=np.int64)
        for i in range(len(source)):
            starts[np.int64((source[i] >> by) & mask) + 1] += 1
        if len(source) == 0 or starts[np.int64((source[0] >> by) & mask) + 1] == len(source):
            continue  # one digit for all
        for d in range(size):
            starts[d + 1] += starts[d]
        for i in range(len(source)):
            digit = np.int64((source[i] >> by) & mask)
            target[starts[digit]] = source[i]
            others[starts[digit]] = numbers[i]
            starts[digit] += 1
        if shift == 0:  # the arguments stay as they are
            source = target
            target = np.empty_like(keys)
            numbers = others
            others = np.empty_like(counts)
        else:
            source, target = target, source
            numbers, others = others, numbers
    return source, numbers


@jit
def merge(keys: Ints, counts: Ints, bits: int) -> tuple[Ints, Ints]:
    """The different keys in ascending order, and the sums of their counts."""
    if bits <= DENSE_BITS and (1 << bits) <= 8 * len(keys) + 4096:
        return _sum_dense(keys, counts, bits)
    ordered, times = _radix_sort(keys, counts, bits)
    different = 0
    for i in range(len(ordered)):
        if i == 0 or ordered[i] != ordered[i - 1]:
            different += 1
    merged = np.empty(different, dtype=np.uint64)
    sums = np.zeros(different, dtype=np.int64)
    at = -1
    for i in range(len(ordered)):
        if i == 0 or ordered[i] != ordered[i - 1]:
            at += 1
            merged[at] = ordered[i]
        sums[at] += times[i]
    return merged, sums


@jit
def rank(keys: Ints) -> tuple[Ints, int]:
    """The rank of each key among the different keys, and the number of different keys."""
    ordered, places = _radix_sort(keys, np.arange(len(keys)), 64)
    ranks = np.empty_like(keys)
    different = 0
    for i in range(len(keys)):
        if i == 0 or ordered[i] != ordered[i - 1]:
            different += 1
        ranks[places[i]] = different - 1
    return ranks, different


@jit
def group_rows(keys: Ints, matrix: Ints, bits: int) -> tuple[Ints, Ints]:
    """The different keys in the order of their first place, and the sums of their rows."""
    where = np.empty(len(keys), dtype=np.int32)
    number = 0
    if bits <= INDEX_BITS:
        place = np.full(1 << bits, np.int32(-1))
        for i in range(len(keys)):
            row = place[keys[i]]
            if row < 0:
                row = number
                place[keys[i]] = number
                number += 1
            where[i] = row
    else:
        size = 1024
        while size < 2 * len(keys):
            size *= 2
        place = np.full(size, np.int32(-1))
        slots = np.empty(size, dtype=np.uint64)
        mask = np.uint64(size - 1)
        for i in range(len(keys)):
            key = keys[i]
            slot = np.int64(((key * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(29)) & mask)
            while place[slot] >= 0 and slots[slot] != key:
                slot = np.int64(np.uint64(slot + 1) & mask)
            if place[slot] < 0:
                place[slot] = number
                slots[slot] = key
                number += 1
            where[i] = place[slot]
    different = np.empty(number, dtype=np.uint64)
    sums = np.zeros((number, matrix.shape[1]), dtype=matrix.dtype)
    for i in range(len(keys)):
        row = where[i]
        different[row] = keys[i]
        for s in range(matrix.shape[1]):
            sums[row, s] += matrix[i, s]
    return different, sums


@jit
def fill_matrix(keys: Ints, counts: Ints, low: int, matrix: Ints) -> Ints:
    """Fill one row per class and one column per value from sorted cells; return the rows' keys."""
    by = np.uint64(low)
    mask = np.uint64((1 << low) - 1)
    row_keys = np.empty(len(matrix), dtype=np.uint64)
    row = -1
    for i in range(len(keys)):
        if i == 0 or keys[i] >> by != keys[i - 1] >> by:
            row += 1
            row_keys[row] = keys[i] >> by
        matrix[row, keys[i] & mask] = counts[i]
    return row_keys


@jit
def _information_left(nq: Any, n: Any) -> float:
    """n·log2(nq / n)."""
    return float(n * math.log1p((nq - n) / n) / math.log(2.0))


@jit
def _table_of_logs() -> Any:
    """n·log2(n) of small counts."""
    logs = np.zeros(LOGS)
    for n in range(2, LOGS):
        logs[n] = n * math.log2(n)
    return logs


LOG_TABLE = _table_of_logs()


@jit
def _times_log(n: Any, logs: Any) -> float:
    return float(logs[n] if n < LOGS else n * math.log2(n))


@jit
def _summarise(sizes: Ints, most: Ints, values: Ints, own: Any) -> Any:
    """The result of `about`, from the size, commonest value and number of values of each class."""
    top = np.int64(0)
    bottom = np.int64(1)
    total = 0.0
    lost = 0.0
    least = math.inf
    fewest = np.int64(1 << 62)
    for q in range(len(sizes)):
        least = min(least, own[q])
        fewest = min(fewest, values[q])
        if float(most[q]) * float(bottom) > float(top) * float(sizes[q]):
            top = most[q]
            bottom = sizes[q]
        after = total + own[q]
        if total >= own[q]:
            lost += (total - after) + own[q]
        else:
            lost += (own[q] - after) + total
        total = after
    return sizes, total + lost, least, fewest, top, bottom


@jit
def about_rows(matrix: Ints, logs: Any) -> Any:
    """Like `about`, for one row per class and one column per value of the secret."""
    classes = len(matrix)
    sizes = np.zeros(classes, dtype=np.int64)
    most = np.zeros(classes, dtype=np.int64)
    values = np.zeros(classes, dtype=np.int64)
    own = np.zeros(classes)
    for row in range(classes):
        nq = np.int64(0)
        commonest = np.int64(0)
        different = np.int64(0)
        left = 0.0
        for s in range(matrix.shape[1]):
            n = np.int64(matrix[row, s])
            nq += n
            commonest = max(commonest, n)
            if n > 0:
                different += 1
        if different > 1:
            whole = _times_log(nq, logs)
            left = whole
            for s in range(matrix.shape[1]):
                left -= _times_log(np.int64(matrix[row, s]), logs)
            if left < 1e-3 * whole:  # nearly certain: the difference has lost its digits
                left = 0.0
                for s in range(matrix.shape[1]):
                    if matrix[row, s]:
                        left += _information_left(nq, np.int64(matrix[row, s]))
        sizes[row] = nq
        most[row] = commonest
        values[row] = different
        own[row] = left
    return _summarise(sizes, most, values, own)


@jit
def about(keys: Ints, counts: Ints, low: int) -> Any:
    """Summarise sorted cells whose `low` lowest bits are the secret.

    Return the class sizes; the sum over cells of n·log2(nq / n), compensated; the least such sum
    of a class; the fewest values of a class; the greatest share n / nq as its two integers.
    """
    by = np.uint64(low)
    classes = 0
    for i in range(len(keys)):
        if i == 0 or keys[i] >> by != keys[i - 1] >> by:
            classes += 1
    sizes = np.zeros(classes, dtype=np.int64)
    most = np.zeros(classes, dtype=np.int64)
    values = np.zeros(classes, dtype=np.int64)
    own = np.zeros(classes)
    q = -1
    for i in range(len(keys)):
        if i == 0 or keys[i] >> by != keys[i - 1] >> by:
            q += 1
        sizes[q] += counts[i]
        most[q] = max(most[q], counts[i])
        values[q] += 1
    q = -1
    for i in range(len(keys)):
        if i == 0 or keys[i] >> by != keys[i - 1] >> by:
            q += 1
        own[q] += _information_left(sizes[q], counts[i])
    return _summarise(sizes, most, values, own)
