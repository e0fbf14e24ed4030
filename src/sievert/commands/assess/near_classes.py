"""How near each class leads to a secret number: H(eps) of every class, the worst and the means."""

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
    """H0 and area of the secret number in every class: the worst, and the means; None of texts."""
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
    kinds, times = solved.classes, solved.times
    sizes = np.add.reduceat(counts, starts)
    worst = _worst_class(cells, classes[starts], solved, values, codes, counts, bounds)
    shares = np.zeros(len(values))
    shares[codes[bounds[worst] : bounds[worst + 1]]] = counts[bounds[worst] : bounds[worst + 1]]
    totals = np.bincount(codes, counts, len(values))
    uniform = uniform_area(values)
    one, whole = (
        _curve(approximate_compromise(values, each / each.sum()), uniform)
        for each in (shares, totals)
    )
    return {
        "classes": len(sizes),
        "values": len(values),
        "worst": {"records": int(sizes[worst]), **one},
        "mean": {
            over: {
                n: kernel.total(np.repeat(getattr(solved, n) * weights, times)) / float(number)
                for n in ("initial_entropy", "area")
            }
            for over, weights, number in (
                ("classes", np.ones(len(kinds)), len(sizes)),
                ("records", sizes[kinds].astype(np.float64), counts.sum()),
            )
        },
        "table": whole,
        "unit": "bits; area in bits times the unit of the column",
        "riskier": "low",
    }


def _in_order(cells: NumberCells, places: Ints, values: int) -> tuple[Ints, Ints, Ints]:
    """The class, the place of the value and the records of each cell, in this order.

    Cells without a value are left out, and those with equal values of a class are one.
    """
    classes = np.repeat(np.arange(len(cells.bounds) - 1), np.diff(cells.bounds))
    codes, counts = places[cells.codes], cells.counts
    if (codes < 0).any():
        known = codes >= 0
        classes, codes, counts = classes[known], codes[known], counts[known]
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
    """The class of the least area, then entropy, then records; the first by its texts of several.

    `numbers` are those of the classes among the given cells. Classes of one shape have one curve:
    which of them is taken does not matter.
    """
    sizes, lengths = np.add.reduceat(counts, bounds[:-1]), np.diff(bounds)
    least = np.arange(len(solved.classes))
    for each in (solved.area, solved.initial_entropy, sizes[solved.classes]):
        least = least[each[least] == each[least].min()]
    worst, axis = solved.classes[least], Axis.from_values(values)

    def cells_of(c: int) -> tuple[bytes, bytes]:
        own = slice(bounds[c], bounds[c + 1])
        return codes[own].tobytes(), counts[own].tobytes()

    def shape(c: int) -> tuple[bytes, bytes]:
        places = axis.places[codes[bounds[c] : bounds[c + 1]]]
        return (places - places[0] if axis.whole else places).tobytes(), cells_of(c)[1]

    if len({shape(c) for c in worst.tolist()}) == 1:
        return int(worst[0])
    like, same = {cells_of(c) for c in worst.tolist()}, np.isin(lengths, lengths[worst])
    several = np.flatnonzero(same & (sizes == sizes[worst[0]])).tolist()
    tied = numbers[[c for c in several if cells_of(c) in like]]
    return int(np.searchsorted(numbers, cells.first(tied)))


def _curve(curve: Compromise, uniform: float) -> dict[str, Any]:
    """A curve without the values it goes through: windows are differences of them."""
    return {
        "initial_entropy": curve.initial_entropy,
        "area": curve.area,
        "range": curve.range,
        "relative_area": curve.area / uniform if uniform else None,
        "standard_deviation": curve.standard_deviation,
        "width90": curve.width90,
        "steps": [list(s) for s in curve.steps],
    }
