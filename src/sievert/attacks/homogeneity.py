"""Homogeneity and background knowledge: what classes tell about a secret, and what is missing."""

from dataclasses import dataclass

import numpy as np

from sievert.arrays import Ints
from sievert.attacks.attack import (
    Attack,
    Group,
    Learned,
    by_column,
    certainty_gained,
    measure_value,
    points,
    value,
)
from sievert.counts.cube import Cube
from sievert.formatting import percent, plural, significant
from sievert.formatting.remarks import Remark
from sievert.measures import kernel
from sievert.measures.measure import NOTHING_TO_LEARN, Value


@dataclass(frozen=True)
class Words:
    """How a sentence speaks of what is learned."""

    about: str = "the secret"
    alike: str = "everybody has the same value"
    nobody: str = "Nobody's value is certain"


RULED_OUT = (1, 2, 3)
NONE_LEFT = Remark("values_used_up")
SECRET = Words()
MERGED = Words("what the secret means", "all values mean the same", "Nobody's value is certain")
ORIGINAL = Words(
    "the original values", "everybody had the same original values", "Nobody's original is certain"
)


def homogeneity(cube: Cube, *, show: bool = False, words: Words = SECRET) -> Attack:
    """DR of the last column, the secret, given the others: of all, of each, of each value.

    >>> texts = [["2*", "3*"], ["flu", "hiv"]]
    >>> cube = Cube.from_cells(["age", "disease"], [[0, 1, 1], [0, 0, 1]], [2, 1, 1], texts)
    >>> found = homogeneity(cube)
    >>> round(found.numbers["discrimination_rate"].value, 6), found.numbers["people"].value
    (0.383689, 2)
    """
    learned = Learned(cube)
    rate = measure_value("discrimination_rate", learned.target)
    return Attack(
        numbers={"discrimination_rate": rate, "people": value("people", learned.people())},
        reading=sentence(learned, rate.value, len(cube.columns) - 1, words),
        worst=learned.surest_class(show),
        columns=by_column(cube, show),
    )


def sentence(learned: Learned, rate: float | None, columns: int, words: Words) -> str:
    """How certain the surest class is, and how much is gone on the whole."""
    if rate is None:
        return f"In the whole table {words.alike}: no attack is needed."
    i, alike = learned.surest
    people = learned.people()
    size = int(learned.sizes[i])
    gone = certainty_gained(columns, rate, words.about)
    if learned.entropies[i] == 0.0:
        who = "1 person stands" if people == 1 else f"{people:,} people stand"
        where = "a class" if len(alike) == 1 else plural(len(alike), "class")
        return f"{who} in {where} where {words.alike}: it is certain. {gone}"
    right = percent(int(learned.first[i]) / size)
    left = significant(float(learned.entropies[i]))
    return (
        f"{words.nobody}. In the worst class of {plural(size, 'record')} the best guess is right "
        f"for {right} of the people; {left} bits are still missing. {gone}"
    )


def background(cube: Cube, *, show: bool = False) -> Attack:
    """1 - DR of the last column, and the gain if the m likeliest values of a class are ruled out.

    >>> texts = [["2*", "3*"], ["asthma", "flu", "hiv"]]
    >>> cube = Cube.from_cells(["age", "s"], [[0, 0, 0, 1], [0, 1, 2, 1]], [1, 2, 1, 4], texts)
    >>> found = background(cube).parts["ruled_out_1"].numbers
    >>> found["people"].value, found["gain"].value, found["certain"].value
    (2, 0.25, 0)
    """
    learned = Learned(cube)
    left = measure_value("normalized_conditional_entropy", learned.target)
    i, _ = learned.surest
    share = None if learned.shares is None else float(learned.shares[i])
    worst = Group(
        int(learned.sizes[i]),
        {
            "conditional_entropy": value("conditional_entropy", float(learned.entropies[i])),
            "missing": value("missing", share, NOTHING_TO_LEARN if share is None else None),
        },
        learned.class_values(i, show),
    )
    return Attack(
        numbers={
            "missing": value("missing", left.value, left.reason),
            "people": value("people", learned.people()),
        },
        reading=_sentence(learned, left.value),
        worst=worst,
        columns=by_column(cube, show, missing=True),
        parts={f"ruled_out_{m}": _ruled_out(learned, m, show) for m in RULED_OUT},
    )


def _sentence(learned: Learned, left: float | None) -> str:
    if left is None:
        return "In the whole table everybody has the same value: nothing is missing."
    people = f"{learned.people():,} people" if learned.people() != 1 else "1 person"
    nothing = float(learned.entropies.min()) == 0.0
    rest = f"For {people} nothing is missing." if nothing else f"Least is missing for {people}."
    return f"On average {percent(left)} of the uncertainty has to come from elsewhere. {rest}"


def _ruled_out(learned: Learned, m: int, show: bool) -> Attack:
    """What is left for people who have none of the m likeliest values of their class."""
    wide = np.flatnonzero(learned.lengths > m)
    if not len(wide):
        names = ("people", "certain", "gain", "missing_after")
        numbers = {n: value(n, 0) if n in names[:2] else value(n, None, NONE_LEFT) for n in names}
        return Attack(numbers=numbers, reading=f"No class has more than {plural(m, 'value')}.")
    starts = learned.starts[wide]
    sizes = learned.sizes[wide]
    summed = np.concatenate(([0], np.cumsum(learned.downwards)))
    top = summed[starts + m] - summed[starts]
    following = learned.downwards[starts + m]
    rest = sizes - top
    people = int(rest.sum())
    certain = int(rest[following == rest].sum())
    # n/rest - n/n_q = n·top/(rest·n_q), times rest: nothing cancels.
    gains = following / sizes * top
    gain = kernel.total(gains) / people
    best = kernel.largest_ratio(following, rest)
    alike = np.flatnonzero(following * best[1] == rest * best[0])
    i = int(alike[np.lexsort((-sizes[alike], -rest[alike]))[0]])  # no number differs after that
    worst = Group(
        int(sizes[i]),
        {
            "people": value("people", int(rest[i])),
            "confidence": value("confidence", kernel.ratio(*best)),
            "gain": value("gain", float(gains[i]) / int(rest[i])),
        },
        learned.class_values(int(wide[i]), show),
    )
    numbers = {
        "people": value("people", people),
        "certain": value("certain", certain),
        "gain": value("gain", gain),
        "missing_after": _missing_after(learned, m, wide, rest),
    }
    whom = "the 1 person" if people == 1 else f"the {people:,} people"
    if not certain:
        then = "nobody"
    elif certain == 1:
        then = "1 of them"
    else:
        then = f"{certain:,} of them"
    return Attack(
        numbers=numbers,
        reading=f"For {whom} with another value the best guess gains {points(gain)} on average. It "
        f"is then certain for {then}.",
        worst=worst,
    )


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
