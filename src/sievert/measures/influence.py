"""How far one person can move a measure; a measure without such a bound is never shareable.

Each bound is valid for every table with at least `records` records, if at least `others` records
do not have the most frequent value of the secret. Adding or removing a person, or changing the
person's values, moves the measure by no more. N is the number of records, one for each person.
"""

from collections.abc import Callable

Bound = Callable[[int, int], float]  # arguments: `records` and `others`


def influence_on_uniques(records: int, others: int) -> float:
    """A person leaves a class of two: then both people are alone, two more uniques among N."""
    return 2 / records


def influence_on_share(records: int, others: int) -> float:
    """One class, or one right guess, more or fewer among N."""
    return 1 / records


def influence_on_guess_gain(records: int, others: int) -> float:
    """The gain is 1 - e/m: e guesses are wrong, and m people lack the most frequent value, e <= m.

    One person moves e by one and m by one: |e/m - (e + 1)/(m - 1)| = (e + m)/(m(m - 1)) is at most
    2/(m - 1), and every other change is smaller.
    """
    return 2 / (others - 1) if others > 1 else 1.0
