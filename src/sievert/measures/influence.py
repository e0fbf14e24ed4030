"""How far one person can move a measure; a measure without such a bound is never shareable.

Each bound holds for every table of at least `records` records of which at least `others` do not
have the most frequent value of the secret: no person who is added, removed or given other values
moves the measure by more. N is the number of records, one for each person.
"""

from collections.abc import Callable

Bound = Callable[[int, int], float]  # of the records, and of those without the most frequent value


def influence_on_uniques(records: int, others: int) -> float:
    """A person leaves a class of two and is alone, as is who stays: two uniques more, of N."""
    return 2 / records


def influence_on_share(records: int, others: int) -> float:
    """One class, or one right guess, more or fewer, of N."""
    return 1 / records


def influence_on_guess_gain(records: int, others: int) -> float:
    """The gain is 1 - e/m: e guesses are wrong, m people lack the most frequent value, e <= m.

    One person moves e by one and m by one: |e/m - (e + 1)/(m - 1)| = (e + m)/(m(m - 1)) is at most
    2/(m - 1), and every other change is smaller.
    """
    return 2 / (others - 1) if others > 1 else 1.0
