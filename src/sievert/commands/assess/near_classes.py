"""Approximate compromise of a numeric secret: H(eps) of every class, the worst and the means."""

from typing import Any

import numpy as np

from sievert.arrays import Floats, Ints
from sievert.counts.answers import NumberCells
from sievert.counts.cube import run_starts
from sievert.hierarchies import NUMBER
from sievert.measures import kernel
from sievert.measures.approximate.compromise import (
    ClassCompromises,
    Compromise,
    approximate_compromise,
    class_compromises,
    uniform_area,
)
from sievert.measures.approximate.curves import Axis


def near_classes(cells: NumberCells) -> dict[str, Any] | None:
    """Measure H0 and area of a numeric secret: the worst class, and the means; None for texts."""
    if not all(t is None or NUMBER.fullmatch(t) for t in cells.texts):
        return None
    numbers = np.array([np.nan if t is None else float(t) for t in cells.texts])
    values, place = np.unique(numbers[~np.isnan(numbers)], return_inverse=True)
    if len(values) < 2 or not np.isfinite(values).all():
        return None
    places = np.full(len(numbers), -1)
    places[~np.isnan(numbers)] = place
    classes, codes, counts = _in_order(cells, places, len(values))
    starts = run_starts(classes)
    bounds = np.append(starts, len(classes))
    solved = class_compromises(values, codes, counts, bounds)
    kinds = solved.classes
    sizes = np.add.reduceat(counts, starts)
    worst = _worst_class(cells, classes[starts], solved, values, codes, counts, bounds)
    shares = np.zeros(len(values))
    shares[codes[bounds[worst] : bounds[worst + 1]]] = counts[bounds[worst] : bounds[worst + 1]]
    totals = np.bincount(codes, counts, len(values))
    uniform = uniform_area(values)
    of_worst = _curve(approximate_compromise(values, shares / shares.sum()), uniform)
    of_table = _curve(approximate_compromise(values, totals / totals.sum()), uniform)
    of_classes = _means(solved, np.ones(len(kinds)), len(sizes))
    of_records = _means(solved, sizes[kinds].astype(np.float64), counts.sum())
    return {
        "classes": len(sizes),
        "values": len(values),
        "worst": {"records": int(sizes[worst]), **of_worst},
        "mean": {"classes": of_classes, "records": of_records},
        "table": of_table,
        "unit": "bits; area in bits times the unit of the column",
        "riskier": "low",
    }


def _means(solved: ClassCompromises, weights: Floats, number: Any) -> dict[str, float]:
    """The weighted means of H0 and area over classes or records; there are `number` of them."""
    entropies = np.repeat(solved.initial_entropy * weights, solved.times)
    areas = np.repeat(solved.area * weights, solved.times)
    return {
        "initial_entropy": kernel.total(entropies) / float(number),
        "area": kernel.total(areas) / float(number),
    }


def _in_order(cells: NumberCells, places: Ints, values: int) -> tuple[Ints, Ints, Ints]:
    """Sort the cells; return the class, the place of the value and the records of each.

    Cells without a value are left out. Cells of a class with equal values are merged.
    """
    classes = np.repeat(np.arange(len(cells.bounds) - 1), np.diff(cells.bounds))
    codes = places[cells.codes]
    counts = cells.counts
    if (codes < 0).any():
        known = codes >= 0
        classes = classes[known]
        codes = codes[known]
        counts = counts[known]
    keys = classes * values + codes
    if (keys[1:] > keys[:-1]).all():
        return classes, codes, counts
    order = np.argsort(keys, kind="stable")
    starts = run_starts(keys[order])
    keys = keys[order][starts]
    return keys // values, keys % values, np.add.reduceat(counts[order], starts)


def _worst_class(
    cells: NumberCells,
    numbers: Ints,
    solved: ClassCompromises,
    values: Floats,
    codes: Ints,
    counts: Ints,
    bounds: Ints,
) -> int:
    """Find the class with the least area, then entropy, then records; then the first by texts.

    `numbers` are the numbers of the classes among the given cells. Classes with the same shape have
    the same curve, so it does not matter which of them is taken.
    """
    sizes = np.add.reduceat(counts, bounds[:-1])
    lengths = np.diff(bounds)
    least = np.arange(len(solved.classes))
    for each in (solved.area, solved.initial_entropy, sizes[solved.classes]):
        least = least[each[least] == each[least].min()]
    worst = solved.classes[least]
    axis = Axis.from_values(values)

    def cells_of(c: int) -> tuple[bytes, bytes]:
        own = slice(bounds[c], bounds[c + 1])
        return codes[own].tobytes(), counts[own].tobytes()

    def shape(c: int) -> tuple[bytes, bytes]:
        places = axis.places[codes[bounds[c] : bounds[c + 1]]]
        return (places - places[0] if axis.whole else places).tobytes(), cells_of(c)[1]

    if len({shape(c) for c in worst.tolist()}) == 1:
        return int(worst[0])
    like = {cells_of(c) for c in worst.tolist()}
    same = np.isin(lengths, lengths[worst])
    several = np.flatnonzero(same & (sizes == sizes[worst[0]])).tolist()
    tied = numbers[[c for c in several if cells_of(c) in like]]
    return int(np.searchsorted(numbers, cells.first(tied)))


def _curve(curve: Compromise, uniform: float) -> dict[str, Any]:
    """Describe a curve without the windows, which are differences of values."""
    return {
        "initial_entropy": curve.initial_entropy,
        "area": curve.area,
        "range": curve.range,
        "relative_area": curve.area / uniform if uniform else None,
        "standard_deviation": curve.standard_deviation,
        "width90": curve.width90,
        "steps": [list(s) for s in curve.steps],
    }
