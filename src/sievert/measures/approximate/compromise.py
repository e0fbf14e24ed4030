"""Approximate compromise: how closely an intruder knows a number that he may not get exactly.

H(eps) is the entropy that is left to an intruder who is content with a window of length eps. Its
integral, the area, is small if the values that he thinks possible are close to each other.
"""

import math
import sys
from bisect import bisect_right
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cache, cached_property, partial
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sievert.arrays import Floats, Ints
from sievert.counts.cube import run_starts
from sievert.errors import require
from sievert.formatting import plural
from sievert.measures import kernel
from sievert.measures.approximate.curves import (
    LARGEST,
    PLAIN_TABLE,
    TABLE,
    Axis,
    Masses,
    descents,
    distinct_rows,
    distribution,
    enclose_area,
    least,
    merge_values,
    normalize_rows,
    numbers,
    spread_of_values,
)
from sievert.numerics.acceleration import compile_loops, thread_count

# differences: to find all steps by default; at all
EXACT = 500_000
MOST = 20_000_000
WORK = 50_000_000  # values times windows tried, up to which all steps are found by default
TRIED = 40  # windows per value that finding all steps may need
MOST_VALUES = 1_000  # of a domain with many distributions
ROOM = 1 << 18  # costs that are kept at a time
COMPILE = 300_000  # rows of loops from which compiled code is worth its loading
COMPILE_LOADED = 5_000  # the same where numba is loaded already
COMPILE_MANY = 500_000_000  # the same of many distributions, costs looked at
FEW_CELLS = 2_000  # up to which compiled code is not worth it even where numba is there


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Compromise:
    """An intruder's remaining uncertainty about a number, for each window he is content with.

    Entropies are in bits, `range`, `standard_deviation` and `width90` in the unit of the values,
    areas in bits times that unit. `range` is the least window that leaves nothing. Where not
    `exact`, the area is the middle of its `bounds`, and `steps` are points of the curve: between
    two of them H lies between theirs.
    """

    initial_entropy: float
    area: float
    range: float
    steps: tuple[tuple[float, float], ...]
    bounds: tuple[float, float]
    exact: bool
    standard_deviation: float
    width90: float  # the shortest interval with at least 90 % of the probability
    _domain: Floats = field(default_factory=lambda: np.zeros(1))
    _at: Callable[[float], float] | None = None
    _tolerance: float = 1e-3

    def entropy(self, eps: float) -> float:
        """H(eps): what is left for a window of this length.

        >>> found = approximate_compromise([1, 3, 8, 9], [0.15, 0.1, 0.7, 0.05])
        >>> [round(found.entropy(eps), 3) for eps in (0, 1, 5, 6, 8)]
        [1.319, 1.054, 0.811, 0.61, 0.0]
        """
        require(eps >= 0.0, "a window is not a number from 0 on")
        if eps >= self.range:
            return 0.0
        if self._at is not None:
            return self._at(float(eps))
        return self.steps[bisect_right(self.steps, (float(eps), math.inf)) - 1][1]

    @property
    def average_entropy(self) -> float | None:
        """The area over the range; None where there is one value."""
        return self.area / self.range if self.range else None

    @cached_property
    def relative_area(self) -> float | None:
        """The area over that of the uniform distribution on the domain; None where that is 0."""
        whole = uniform_area(self._domain, self._tolerance)
        return self.area / whole if whole else None

    def to_dict(self) -> dict[str, Any]:
        """Plain values, as JSON holds them."""
        return {
            "initial_entropy": self.initial_entropy,
            "area": self.area,
            "bounds": list(self.bounds),
            "exact": self.exact,
            "range": self.range,
            "average_entropy": self.average_entropy,
            "relative_area": self.relative_area,
            "standard_deviation": self.standard_deviation,
            "width90": self.width90,
            "steps": [list(step) for step in self.steps],
        }

    def __repr__(self) -> str:
        within = "" if self.exact else f" ({self.bounds[0]:.6g} to {self.bounds[1]:.6g})"
        return (
            f"Compromise(initial entropy {self.initial_entropy:.6g} bits, area {self.area:.6g}"
            f"{within}, range {self.range:.6g}, "
            f"{plural(len(self.steps), 'step' if self.exact else 'point')})"
        )


def approximate_compromise(
    values: ArrayLike,
    probabilities: ArrayLike,
    *,
    domain: ArrayLike | None = None,
    exact: bool | None = None,
    tolerance: float = 1e-3,
    threads: int | None = None,
    compiled: bool | None = None,
) -> Compromise:
    """Measure how well a number is known to somebody who holds these values possible.

    H(eps) is the least entropy of the probabilities of runs, over all ways to cut the sorted
    values into runs no longer than eps. Equal values are one, their probabilities added; values
    of probability 0 (below 1e-30) are left out; any order will do.

    Parameters
    ----------
    values, probabilities
        What the number may be, and how likely each is for the intruder. Probabilities that miss
        a sum of 1 by no more than 1e-9 are divided by their sum.
    domain
        What the number might have been; the values unless given. For `relative_area`.
    exact
        Whether every step is found, or the area enclosed. By default steps, where that is quick:
        for up to 1,000 values, or 7,000 equally spaced ones.
    tolerance
        Of an enclosed area: the largest share of it that half the distance of the bounds may be.
    threads
        How many to use; all cores by default. The numbers are the same.
    compiled
        Whether to use compiled code, if numba is there; by default where it pays.

    Examples
    --------
    One salary is 50 or 107, another 77 or 80: both are one bit, but the second is as good as known.

    >>> approximate_compromise([50, 107], [0.5, 0.5]).area
    57.0
    >>> approximate_compromise([77, 80], [0.5, 0.5])
    Compromise(initial entropy 1 bits, area 3, range 3, 2 steps)
    """
    require(tolerance > 0.0, "the tolerance of an area is not above 0", hint="0.001")
    given, p = distribution(values, probabilities)
    possible = p > 0.0
    axis = Axis.from_values(given)
    places = axis.places[possible]
    p = p[possible]
    within = given if domain is None else merge_values(numbers(domain, "the domain", 1))[0]
    require(
        np.isin(given[possible], within).all(),
        "a value is not in the domain",
        hint="a domain with all values",
    )
    deviation, width90 = spread_of_values(axis.real(places - places[0]), p)
    size = len(p)
    top = float(places[-1] - places[0])
    if size == 1:
        return Compromise(
            initial_entropy=0.0,
            area=0.0,
            range=0.0,
            steps=((0.0, 0.0),),
            bounds=(0.0, 0.0),
            exact=True,
            standard_deviation=deviation,
            width90=width90,
            _domain=within,
        )
    windows, tried = _windows(axis, places, exact)
    large = bool(compiled)
    if compiled is None:
        large = windows is None or tried * size >= COMPILE
        compiled = large or ("numba" in sys.modules and tried * size >= COMPILE_LOADED)
    # The bits do not depend on what is loaded: costs are searched where they would be anyway.
    most = TABLE if large else PLAIN_TABLE
    workers = thread_count(threads)
    at = cache(partial(least, places, p[None], compiled=compiled, tabled=most, threads=workers))
    if windows is None:
        low, high, points = enclose_area(at(), top, axis.whole, tolerance)
    else:
        if not axis.whole and compiled and size <= most and compile_loops() is not None:
            from sievert.measures.approximate.class_windows import trace_alone

            where, h = trace_alone(Masses(p[None]).table()[0], places, windows)
        else:
            _, where, h = descents(at(), windows, 1)
        points = list(zip(windows[where].tolist(), h.tolist(), strict=True))
        low = math.fsum(a[1] * (b[0] - a[0]) for a, b in pairwise(points))
        high = low
    low = axis.real(low)
    high = axis.real(high)

    def entropy(eps: float) -> float:
        return float(at()(np.zeros(1, dtype=np.int64), np.array([axis.window(eps)]))[0])

    return Compromise(
        initial_entropy=points[0][1],
        area=low + (high - low) / 2.0,
        range=axis.real(top),
        steps=tuple((axis.real(eps), h) for eps, h in points),
        bounds=(low, high),
        exact=low == high,
        standard_deviation=deviation,
        width90=width90,
        _domain=within,
        _at=None if low == high else entropy,
        _tolerance=tolerance,
    )


def _windows(axis: Axis, places: Floats, exact: bool | None) -> tuple[Floats | None, int]:
    """The windows at which the curve may fall (None to enclose the area), and how many to try."""
    size = len(places)
    windows = None
    if exact is not False:
        windows = axis.differences(MOST if exact else EXACT, places)
    tried = TRIED * size
    if windows is not None:
        tried = min(tried, len(windows))
    require(
        windows is not None or not exact,
        f"{size:,} values have too many differences for an exact curve",
        hint="bounds of the area (exact=False), or rounded values",
    )
    if exact is None and tried * size > WORK:
        windows = None
    return windows, tried


@dataclass(frozen=True, kw_only=True, eq=False)
class CompromiseBatch:
    """Many distributions over one domain, a place for each in every array.

    `entropies` has a column for each of the `epsilons`.
    """

    initial_entropy: Floats
    area: Floats
    range: Floats
    entropies: Floats
    epsilons: tuple[float, ...]
    distinct: int  # how many of the distributions differ


def compromises(
    domain: ArrayLike,
    probabilities: ArrayLike,
    *,
    epsilons: ArrayLike | None = None,
    threads: int | None = None,
    compiled: bool | None = None,
) -> CompromiseBatch:
    """Measure many distributions over one domain of up to 1,000 values; a row for each.

    >>> found = compromises([10, 20, 30, 40], [[0.5, 0.1, 0.3, 0.1], [0.5, 0, 0, 0.5]])
    >>> found.initial_entropy.round(6).tolist(), found.area.round(6).tolist(), found.range.tolist()
    ([1.685475, 1.0], [31.254215, 30.0], [30.0, 30.0])
    """
    values, order, starts = merge_values(numbers(domain, "the domain", 1))
    matrix = numbers(probabilities, "the probabilities", 2)
    require(
        matrix.shape[1] == len(order),
        "a row of probabilities has one place for each value of the domain",
    )
    require(
        len(values) <= MOST_VALUES,
        f"{len(values):,} values are too many for many distributions at once",
        hint="approximate_compromise of each",
    )
    wanted = np.zeros(0) if epsilons is None else numbers(epsilons, "the windows", 1, empty=True)
    require(not (wanted < 0.0).any(), "a window is not a number from 0 on")
    matrix = np.add.reduceat(normalize_rows(matrix)[:, order], starts, axis=1)
    first, place = distinct_rows(matrix)
    matrix = matrix[first]
    axis = Axis.from_values(values)
    windows = axis.differences(math.inf)
    assert windows is not None
    chosen = np.array([axis.window(min(e, LARGEST)) for e in wanted.tolist()])
    rows, size = matrix.shape
    work = rows * size * size * (min(len(windows), TRIED * size) + len(chosen))
    compiled = work >= COMPILE_MANY if compiled is None else compiled
    step = max(1, ROOM // (size * (size + 1) // 2))
    measure = partial(_measure_rows, axis, windows, chosen, compiled)
    with ThreadPoolExecutor(thread_count(threads)) as pool:
        parts = list(pool.map(measure, (matrix[k : k + step] for k in range(0, rows, step))))
    whole = np.concatenate(parts)[place]
    initial, area, top = whole[:, :3].T.copy()
    return CompromiseBatch(
        initial_entropy=initial,
        area=area,
        range=top,
        entropies=whole[:, 3:],
        epsilons=tuple(wanted.tolist()),
        distinct=rows,
    )


@dataclass(frozen=True, eq=False)
class ClassCompromises:
    """The different classes of a table: one class of each kind, and how many there are of it."""

    classes: Ints
    times: Ints
    initial_entropy: Floats
    area: Floats


def class_compromises(
    values: Floats, codes: Ints, counts: Ints, bounds: Ints, *, compiled: bool | None = None
) -> ClassCompromises:
    """Measure a number in every class, as `compromises` does for the shares of its values.

    Class c has the cells from `bounds[c]` up to `bounds[c + 1]`. A cell has `counts` records with
    the value that its code numbers, in ascending order.
    """
    number = len(bounds) - 1
    size = len(values)
    axis = Axis.from_values(values)
    if compiled is None:
        loaded = "numba" in sys.modules and number * size >= FEW_CELLS
        windows = TRIED * size
        if axis.whole:
            windows = min(size * (size - 1) // 2, int(axis.places[-1] - axis.places[0]) + 1)
        compiled = loaded or number * size * size * min(windows, TRIED * size) >= COMPILE_MANY
    if compiled and number > 1 and compile_loops() is not None:
        from sievert.measures.approximate.class_curves import different_classes, trace_classes

        classes, times = different_classes(codes, counts, bounds)
        initial_entropy, area = trace_classes(axis, codes, counts, bounds, classes)
        return ClassCompromises(
            classes=classes, times=times, initial_entropy=initial_entropy, area=area
        )
    table = np.zeros((number, size))
    table[np.repeat(np.arange(number), np.diff(bounds)), codes] = counts
    batch = compromises(values, table / table.sum(axis=1)[:, None])
    return ClassCompromises(
        classes=np.arange(number),
        times=np.ones(number, dtype=np.int64),
        initial_entropy=batch.initial_entropy,
        area=batch.area,
    )


def _measure_rows(
    axis: Axis, windows: Floats, chosen: Floats, compiled: bool, matrix: Floats
) -> Floats:
    """The initial entropy, the area, the range and H of the chosen windows of each distribution."""
    rows, size = matrix.shape
    positive = matrix > 0.0
    possible = positive[0] if rows == 1 else np.ones(size, dtype=bool)
    at = least(axis.places[possible], matrix[:, possible], compiled=compiled)
    row, where, h = descents(at, windows, rows)
    begin = run_starts(row)
    width = np.append(windows[where[1:]] - windows[where[:-1]], 0.0)
    width[begin[1:] - 1] = 0.0
    last = size - 1 - np.argmax(positive[:, ::-1], axis=1)
    return np.stack(
        (
            h[begin],
            axis.real(np.add.reduceat(h * width, begin)),
            axis.real(axis.places[last] - axis.places[np.argmax(positive, axis=1)]),
            *(at(np.arange(rows), np.full(rows, eps)) for eps in chosen.tolist()),
        ),
        axis=1,
    )


def uniform_area(domain: Floats, tolerance: float = 1e-3) -> float:
    """The area of the uniform distribution: in closed form where the domain is equally spaced.

    Windows of k steps hold k + 1 of n values: n // (k + 1) full runs and what is left over.
    """
    axis = Axis.from_values(domain)
    size = len(domain)
    if size == 1:
        return 0.0
    if not axis.whole or axis.places[-1] != size - 1:
        return approximate_compromise(domain, np.full(size, 1.0 / size), tolerance=tolerance).area
    lengths = np.arange(1.0, size)
    full = size // lengths * lengths
    left = size % lengths
    h = full * np.log2(size / lengths) + left * np.log2(size / np.maximum(left, 1.0))
    return float(axis.real(kernel.total(h) / size))
