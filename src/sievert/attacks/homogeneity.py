"""Homogeneity: what the released quasi-identifiers tell about a secret."""

from __future__ import annotations

from dataclasses import dataclass

from sievert.attacks.attack import Attack, Learned, by_column, measured, removed, value
from sievert.counts.cube import Cube
from sievert.formatting import percent, plural, significant


@dataclass(frozen=True)
class Words:
    """How a sentence speaks of what is learned."""

    about: str = "the secret"
    alike: str = "everybody has the same value"
    nobody: str = "Nobody's value is certain"


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
    rate = measured("discrimination_rate", learned.target)
    return Attack(
        {"discrimination_rate": rate, "people": value("people", learned.people())},
        sentence(learned, rate.value, len(cube.columns) - 1, words),
        learned.surest_class(show),
        by_column(cube, show),
    )


def sentence(learned: Learned, rate: float | None, columns: int, words: Words) -> str:
    """How certain the surest class is, and how much is gone on the whole."""
    if rate is None:
        return f"In the whole table {words.alike}: no attack is needed."
    i, alike = learned.surest
    people, size = learned.people(), int(learned.sizes[i])
    gone = removed(columns, rate, words.about)
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
