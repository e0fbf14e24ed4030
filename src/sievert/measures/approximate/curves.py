"""The least entropy as a function of the window: its steps, and the area below it.

H falls in steps, at differences of values. If there are few differences, intervals are halved until
every step is found. Otherwise the area is enclosed, because H never rises. This module also checks
and sorts probabilities over numbers, and merges equal values.
"""

import heapq
import math
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sievert.arrays import Floats, Ints
from sievert.counts.cube import run_starts
from sievert.errors import UsageError, require
from sievert.formatting import plural
from sievert.measures import kernel
from sievert.numerics.acceleration import compile_loops

Entropies = Callable[[Ints, Floats], Floats]

DECIMALS = 9  # values with no more are taken as they are written
MOST_WHOLE = 2.0**53
FLAT = 1e-13  # shares of H by which rounding may lower it
# values up to which every cost is kept: compiled, in NumPy
TABLE = 256
PLAIN_TABLE = 1_500
AT_ONCE = 16  # windows tried at a time where an area is enclosed
PER_NAT = 1.4426950408889634  # bits


@dataclass(frozen=True)
class Axis:
    """Ascending values at places whose differences are equal where differences of values should be.

    0.3 - 0.2 and 0.2 - 0.1 are not the same to a computer. Values with few decimals, or equally
    spaced ones, are put at whole numbers; others are their own places. A difference of places
    times `over/under` is a difference of values.
    """

    places: Floats
    over: float = 1.0
    under: float = 1.0
    whole: bool = False

    @classmethod
    def from_values(cls, values: Floats) -> "Axis":
        """The places of ascending values.

        >>> Axis.from_values(np.array([0.1, 0.2, 0.4])).places.tolist()
        [0.0, 1.0, 3.0]
        """
        if len(values) == 1:
            return cls(np.zeros(1), whole=True)
        most = float(np.abs(values).max())
        for decimals in range(DECIMALS + 1):
            if 2 * most * 10.0**decimals >= MOST_WHOLE:
                break
            whole = np.rint(values * 10.0**decimals)
            if np.array_equal(whole / 10.0**decimals, values):
                steps = (whole - whole[0]).astype(np.int64)
                common = int(np.gcd.reduce(steps))
                places = (steps // common).astype(np.float64)
                return cls(places, float(common), 10.0**decimals, whole=True)
        places = np.arange(len(values), dtype=np.float64)
        span = float(values[-1] - values[0])
        last = len(values) - 1
        off = np.abs(values - (values[0] + places * (span / last)))
        slack = 4.0 * float(np.spacing(most))
        evenly_spaced = last > 1 and span > 1e3 * slack * last and bool((off <= slack).all())
        if evenly_spaced:
            return cls(places, span, float(last), whole=True)
        return cls(values)

    def real(self, places: Any) -> Any:
        """Turn a difference of places into a difference of values."""
        return places * self.over / self.under if self.whole else places

    def window(self, eps: float) -> float:
        """The longest window of places that is no longer than a window of values."""
        if not self.whole:
            return eps
        places = float(np.rint(min(eps / self.over * self.under, MOST_WHOLE)))
        return places if self.real(places) <= eps else places - 1.0

    def differences(self, most: float, places: Floats | None = None) -> Floats | None:
        """All differences of places, ascending; None where there may be more than `most`."""
        places = self.places if places is None else places
        size = len(places)
        top = float(places[-1] - places[0])
        pairs = size * (size - 1) // 2
        if self.whole and top <= min(pairs, most):
            return np.arange(int(top) + 1, dtype=np.float64)
        if pairs > most:
            return None
        return np.unique(np.concatenate([places[i] - places[: i + 1] for i in range(size)]))


class Masses:
    """The masses of runs of values: prefix sums of probabilities in two parts, one row each."""

    def __init__(self, probabilities: Floats) -> None:
        one = len(probabilities) == 1
        columns: Sequence[Any] = probabilities[0].tolist() if one else list(probabilities.T)
        high = [columns[0] * 0.0]
        low = [columns[0] * 0.0]
        for p in columns:
            total = high[-1]
            new = total + p
            part = new - total
            high.append(new)
            low.append(low[-1] + ((total - (new - part)) + (p - part)))
        shape = (len(columns) + 1, len(probabilities))
        self.high = np.ascontiguousarray(np.array(high).reshape(shape).T)
        self.low = np.ascontiguousarray(np.array(low).reshape(shape).T)
        self.rest = (self.high[:, -1:] - self.high) + (self.low[:, -1:] - self.low)

    def costs(self, i: int, j: Any) -> Floats:
        """-q·log2(q) of runs (j, i] of every row, accurate near 0 and near 1."""
        high = self.high
        low = self.low
        mass = (high[:, i, None] - high[:, j]) + (low[:, i, None] - low[:, j])
        costs = -mass * np.log2(mass, out=np.zeros_like(mass), where=mass > 0.0)
        large = mass > 0.5
        rest = (high[:, j] + self.rest[:, i, None])[large]
        costs[large] = -mass[large] * np.log1p(-rest) * PER_NAT
        return np.asarray(costs)

    def table(self) -> Floats:
        """The costs of all runs, (j, i] at place i·(i-1)/2 + j."""
        ends = range(1, self.high.shape[1])
        return np.concatenate([self.costs(i, slice(0, i)) for i in ends], axis=1)


def least(
    places: Floats,
    probabilities: Floats,
    *,
    compiled: bool,
    tabled: int = TABLE,
    threads: int = 1,
) -> Entropies:
    """A function that returns H for rows and windows, pair by pair; a row is a distribution.

    The probabilities of a single distribution must be positive. Compiled code keeps all costs of up
    to `tabled` values.
    """
    masses = Masses(probabilities)
    rows, size = probabilities.shape
    compiled = compiled and compile_loops() is not None
    keep = rows > 1 or size <= (tabled if compiled else PLAIN_TABLE)
    if not compiled and keep:
        return _plain(places, np.ascontiguousarray(masses.table().T))
    if not compiled:
        return lambda _, epsilons: np.array([_direct(places, masses, e) for e in epsilons.tolist()])
    from sievert.measures.approximate import windows

    work: Callable[[Ints, Floats, Floats], None]
    if keep:
        work = partial(windows.least_entropy_from_table, masses.table(), places)
    else:

        def work(_: Ints, epsilons: Floats, out: Floats) -> None:
            windows.least_entropy_by_search(
                places, masses.high[0], masses.low[0], masses.rest[0], epsilons, out
            )

    def entropies(at: Ints, epsilons: Floats) -> Floats:
        out = np.empty(len(at))
        step = max(1, -(-len(at) // (4 * threads)))
        pieces = [np.s_[k : k + step] for k in range(0, len(at), step)]
        if threads == 1 or len(at) * size < 1 << 14:
            work(at, epsilons, out)
        else:
            with ThreadPoolExecutor(threads) as pool:
                list(pool.map(lambda k: work(at[k], epsilons[k], out[k]), pieces))
        return out

    return entropies


def window_starts(places: Floats, eps: float) -> list[int]:
    """The beginnings of the longest runs that end before each place, from 0 on."""
    first = np.searchsorted(places, places - eps)
    # The differences above are rounded; the differences of two places decide.
    while True:
        early = (first > 0) & (places - places[np.maximum(first - 1, 0)] <= eps)
        if not early.any():
            break
        first[early] -= 1
    while True:
        far = places - places[first] > eps
        if not far.any():
            break
        first[far] += 1
    return [0, *first.tolist()]


def _plain(places: Floats, table: Floats) -> Entropies:
    """`windows.least_entropy_from_table` in NumPy: all distributions of one window at a time."""
    size = len(places)
    rows = table.shape[1]

    def entropies(at: Ints, epsilons: Floats) -> Floats:
        out = np.empty(len(at))
        order = np.argsort(epsilons, kind="stable")
        for some in np.split(order, run_starts(epsilons[order])[1:]):
            first = window_starts(places, float(epsilons[some[0]]))
            whole_table = 2 * len(some) > rows
            costs = table if whole_table else table[:, at[some]]
            h = np.zeros((size + 1, costs.shape[1]))
            for i in range(1, size + 1):
                base = i * (i - 1) // 2
                j = first[i]
                (h[j:i] + costs[base + j : base + i]).min(axis=0, out=h[i])
            out[some] = h[size][at[some]] if whole_table else h[size]
        return out

    return entropies


def _direct(places: Floats, masses: Masses, eps: float) -> float:
    """H of one distribution for one window; only the costs that are needed are computed."""
    first = window_starts(places, eps)
    size = len(places)
    ends = np.array([0, *(i for i in range(1, size) if first[i + 1] > first[i])])
    needed = np.zeros(size + 1, dtype=bool)
    needed[ends] = True
    needed[size] = True
    for i in range(size, 0, -1):
        if needed[i]:
            needed[first[i]] = True
    h = np.zeros(size + 1)
    for i in np.flatnonzero(needed)[1:].tolist():
        j = np.append(ends[np.searchsorted(ends, first[i]) : np.searchsorted(ends, i)], first[i])
        h[i] = (h[j] + masses.costs(i, j)[0]).min()
    return float(h[size])


def descents(entropies: Entropies, windows: Floats, rows: int) -> tuple[Ints, Ints, Floats]:
    """Every step of every row, in order: the row, the place of its window, and H from there on."""
    row = np.arange(rows)
    low = np.zeros(rows, dtype=np.int64)
    high = np.full(rows, len(windows) - 1)
    above = entropies(row, np.zeros(rows))
    below = low * 0.0
    steps = [(row, low, above)]
    while True:
        falls = above - below > FLAT * above
        done = falls & (high - low == 1)
        steps.append((row[done], high[done], below[done]))
        # H falls somewhere between the ends of the intervals that are left.
        left = falls & ~done
        if not left.any():
            break
        row = row[left]
        low = low[left]
        high = high[left]
        above = above[left]
        below = below[left]
        middle = (low + high) // 2
        value = entropies(row, windows[middle])
        row = np.concatenate((row, row))
        low = np.concatenate((low, middle))
        high = np.concatenate((middle, high))
        above = np.concatenate((above, value))
        below = np.concatenate((value, below))
    row = np.concatenate([step[0] for step in steps])
    place = np.concatenate([step[1] for step in steps])
    value = np.concatenate([step[2] for step in steps])
    order = np.lexsort((place, row))
    return row[order], place[order], value[order]


def enclose_area(
    entropies: Entropies, top: float, whole: bool, tolerance: float
) -> tuple[float, float, list[tuple[float, float]]]:
    """The bounds of the area, from below and from above, and the points of the curve.

    The intervals whose bounds differ most are halved until the bounds of the area are near enough.
    """

    def at(windows: list[float]) -> list[float]:
        rows = np.zeros(len(windows), dtype=np.int64)
        return [float(h) for h in entropies(rows, np.array(windows))]

    points = {0.0: at([0.0])[0], top: 0.0}
    ends: dict[float, float] = {}  # of the interval that begins somewhere
    heap: list[tuple[float, float]] = []

    def bounds(start: float) -> tuple[float, float]:
        """The area of an interval, from below and from above."""
        end = ends[start]
        high = points[start]
        low = points[end]
        # H may be the same up to the end of the interval.
        flat = high - low <= FLAT * high or not start < _middle(start, end, whole) < end
        return (high if flat else low) * (end - start), high * (end - start)

    def add(start: float, end: float) -> float:
        ends[start] = end
        low, high = bounds(start)
        if low < high:
            heapq.heappush(heap, (low - high, start))
        return low

    low = add(0.0, top)
    while heap:
        # What lies between the bounds is in the heap.
        between = -math.fsum(gap for gap, _ in heap)
        if between <= tolerance * (2.0 * low + between):
            break
        for _ in range(1 + len(heap) // (8 * AT_ONCE)):
            some = [heapq.heappop(heap)[1] for _ in range(min(AT_ONCE, len(heap)))]
            middles = [_middle(a, ends[a], whole) for a in some]
            for a, m, value in zip(some, middles, at(middles), strict=True):
                b = ends[a]
                old = bounds(a)[0]
                points[m] = min(max(value, points[b]), points[a])
                low += add(a, m) + add(m, b) - old
    each = [bounds(start) for start in ends]
    curve = sorted(points.items())
    if not heap:  # every step is known
        curve[1:] = [b for a, b in pairwise(curve) if a[1] - b[1] > FLAT * a[1]]
    return math.fsum(x for x, _ in each), math.fsum(x for _, x in each), curve


def _middle(a: float, b: float, whole: bool) -> float:
    return float(math.floor((a + b) / 2.0)) if whole else a + (b - a) / 2.0


SUM = 1e-9  # by which probabilities may miss 1
LARGEST = 1e300  # a range that leaves room for the area
SHARE = 0.9
NEVER = 1e-30  # less likely values count as impossible: sums could not tell them from 0


def numbers(given: ArrayLike, what: str, dimensions: int, empty: bool = False) -> Floats:
    """An array of finite numbers."""
    try:
        array = np.array(given, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise UsageError(f"{what}: not an array of numbers") from None
    require(
        array.ndim == dimensions,
        f"{what}: {plural(array.ndim, 'dimension')} instead of {dimensions}",
    )
    require(array.size != 0 or empty, f"{what}: there are none")
    require(np.isfinite(array).all(), f"{what}: one is missing or not finite")
    return array


def merge_values(values: Floats) -> tuple[Floats, Ints, Ints]:
    """The different values in order, the order of all values, and where each value begins in it."""
    order = np.argsort(values, kind="stable")
    starts = run_starts(values[order])
    distinct = values[order][starts]
    with np.errstate(over="ignore"):
        require(distinct[-1] - distinct[0] < LARGEST, "the values are too far apart to be measured")
    return distinct + 0.0, order, starts


def normalize_rows(matrix: Floats) -> Floats:
    """Divide each row of probabilities by its sum; probabilities below `NEVER` become 0."""
    require(not (matrix < 0.0).any(), "a probability is negative")
    with np.errstate(over="ignore"):
        totals = matrix.sum(axis=1)
    if len(matrix) == 1 and np.isfinite(totals[0]):
        totals[0] = kernel.total(matrix[0])
    off = np.flatnonzero(~(np.abs(totals - 1.0) <= SUM))
    which = f" of distribution {off[0] + 1}" if len(matrix) > 1 and len(off) else ""
    require(not len(off), f"the probabilities{which} do not add up to 1")
    shares = matrix / totals[:, None]
    return np.asarray(np.where(shares < NEVER, 0.0, shares))


def distribution(values: ArrayLike, probabilities: ArrayLike) -> tuple[Floats, Floats]:
    """The different values in order, with their probabilities, which may be 0."""
    given = numbers(values, "the values", 1)
    p = numbers(probabilities, "the probabilities", 1)
    require(len(given) == len(p), f"{plural(len(given), 'value')} and {len(p):,} probabilities")
    x, order, starts = merge_values(given)
    return x, np.add.reduceat(normalize_rows(p[None])[0][order], starts)


def distinct_rows(matrix: Floats) -> tuple[Ints, Ints]:
    """The place of the first of each kind of row, and the number of the kind of every row."""
    kind = np.dtype((np.void, matrix.dtype.itemsize * matrix.shape[1]))
    rows = np.ascontiguousarray(matrix).view(kind).ravel()
    return np.unique(rows, return_index=True, return_inverse=True)[1:]


def spread_of_values(x: Floats, p: Floats) -> tuple[float, float]:
    """The standard deviation, and the length of the shortest interval with 90 %."""
    if len(x) == 1:
        return 0.0, 0.0
    top = float(x[-1])
    share = x / float(x[-1])
    deviation = top * math.sqrt(kernel.total(p * (share - kernel.total(share * p)) ** 2))
    masses = Masses(p[None])
    sums = masses.high[0] + masses.low[0]
    start = np.searchsorted(sums, sums[1:] - SHARE + 1e-12, side="right") - 1
    return deviation, float((x - x[np.maximum(start, 0)])[start >= 0].min())
