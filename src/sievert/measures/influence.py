"""How far one person can move a measure: what is not declared here is never shareable.

Each bound holds for every table of at least `records` records of which at least `others` do not
have the most frequent value of the secret: no person who is added, removed or given other values
moves the measure by more. N is the number of records, one for each person.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

Bound = Callable[[int, int], float]  # of the records, and of those without the most frequent value


def _unique_records(records: int, others: int) -> float:
    """A person leaves a class of two and is alone, as is who stays: two uniques more, of N."""
    return 2 / records


def _one_record(records: int, others: int) -> float:
    """One class, or one right guess, more or fewer, of N."""
    return 1 / records


def _guess_gain(records: int, others: int) -> float:
    """The gain is 1 - e/m: e guesses are wrong, m people lack the most frequent value, e <= m.

    One person moves e by one and m by one: |e/m - (e + 1)/(m - 1)| = (e + m)/(m(m - 1)) is at most
    2/(m - 1), and every other change is smaller.
    """
    return 2 / (others - 1) if others > 1 else 1.0


INFLUENCE: Mapping[str, Bound] = {
    "unique_records": _unique_records,
    "average_risk": _one_record,
    "bayes_vulnerability_prior": _one_record,
    "bayes_vulnerability_posterior": _one_record,
    "guess_gain": _guess_gain,
}
