"""Background knowledge: what is still missing, and what ruling out likely values would give."""

from __future__ import annotations

import numpy as np

from sievert.arrays import Ints
from sievert.attacks.attack import Attack, Group, Learned, by_column, measured, points, value
from sievert.counts.cube import Cube
from sievert.formatting import percent, plural
from sievert.measures import kernel
from sievert.measures.measure import NOTHING_TO_LEARN, Value

RULED_OUT = (1, 2, 3)
NONE_LEFT = "no class has so many values"


def background(cube: Cube, *, show: bool = False) -> Attack:
    """1 - DR of the last column, and the gain if the m likeliest values of a class are ruled out.

    >>> texts = [["2*", "3*"], ["asthma", "flu", "hiv"]]
    >>> cube = Cube.from_cells(["age", "s"], [[0, 0, 0, 1], [0, 1, 2, 1]], [1, 2, 1, 4], texts)
    >>> found = background(cube).parts["ruled_out_1"].numbers
    >>> found["people"].value, found["gain"].value, found["certain"].value
    (2, 0.25, 0)
    """
    learned = Learned(cube)
    left = measured("normalized_conditional_entropy", learned.target)
    i, _ = learned.surest
    share = None if learned.shares is None else float(learned.shares[i])
    worst = Group(
        int(learned.sizes[i]),
        {
            "conditional_entropy": value("conditional_entropy", float(learned.entropies[i])),
            "missing": value("missing", share, NOTHING_TO_LEARN if share is None else None),
        },
        learned.named(i, show),
    )
    return Attack(
        {
            "missing": value("missing", left.value, left.reason),
            "people": value("people", learned.people()),
        },
        _sentence(learned, left.value),
        worst,
        by_column(cube, show, missing=True),
        parts={f"ruled_out_{m}": _ruled_out(learned, m, show) for m in RULED_OUT},
    )


def _sentence(learned: Learned, left: float | None) -> str:
    if left is None:
        return "In the whole table everybody has the same value: nothing is missing."
    people = f"{learned.people():,} people" if learned.people() != 1 else "1 person"
    first = f"On average {percent(left)} of the uncertainty has to come from elsewhere."
    if float(learned.entropies.min()) == 0.0:
        return f"{first} For {people} nothing is missing."
    return f"{first} Least is missing for {people}."


def _ruled_out(learned: Learned, m: int, show: bool) -> Attack:
    """What is left for people who have none of the m likeliest values of their class."""
    wide = np.flatnonzero(learned.lengths > m)
    if not len(wide):
        names = ("people", "certain", "gain", "missing_after")
        numbers = {n: value(n, 0) if n in names[:2] else value(n, None, NONE_LEFT) for n in names}
        return Attack(numbers, f"No class has more than {plural(m, 'value')}.")
    starts, sizes = learned.starts[wide], learned.sizes[wide]
    summed = np.concatenate(([0], np.cumsum(learned.downwards)))
    top = summed[starts + m] - summed[starts]
    following, rest = learned.downwards[starts + m], sizes - top
    people, certain = int(rest.sum()), int(rest[following == rest].sum())
    # n/rest - n/n_q = n·top/(rest·n_q), times rest: nothing cancels.
    gains = following / sizes * top
    gain = kernel.total(gains) / people
    best = kernel.largest_ratio(following, rest)
    alike = np.flatnonzero(following * best[1] == rest * best[0])
    i = int(alike[np.argmax(rest[alike])])
    worst = Group(
        int(sizes[i]),
        {
            "people": value("people", int(rest[i])),
            "confidence": value("confidence", kernel.ratio(*best)),
            "gain": value("gain", float(gains[i]) / int(rest[i])),
        },
        learned.named(int(wide[i]), show),
    )
    numbers = {
        "people": value("people", people),
        "certain": value("certain", certain),
        "gain": value("gain", gain),
        "missing_after": _missing_after(learned, m, wide, rest),
    }
    whom = "the 1 person" if people == 1 else f"the {people:,} people"
    then = "nobody" if not certain else "1 of them" if certain == 1 else f"{certain:,} of them"
    reading = (
        f"For {whom} with another value the best guess gains {points(gain)} on average. It is then "
        f"certain for {then}."
    )
    return Attack(numbers, reading, worst)


def _missing_after(learned: Learned, m: int, wide: Ints, rest: Ints) -> Value:
    """The uncertainty that is left, as a share of that about the secret at first."""
    if learned.target.entropy == 0.0:  # one value: no class has more than one
        return value("missing_after", None, NOTHING_TO_LEARN)
    place = np.arange(len(learned.downwards)) - np.repeat(learned.starts, learned.lengths)
    tails = learned.downwards[place >= m]
    lengths = learned.lengths[wide] - m
    starts = np.cumsum(lengths) - lengths
    left = kernel.total(kernel.profile_entropies(tails, starts) * rest) / int(rest.sum())
    return value("missing_after", left / learned.target.entropy)
