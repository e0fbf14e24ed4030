"""How far one class is beyond a rule, whether records without a secret count or not.

The loops are compiled where numba is at hand.
"""

from typing import Any

from sievert.arrays import Ints
from sievert.methods.full_domain.compiled_rules import class_excess
from sievert.methods.full_domain.rules import RuleArrays
from sievert.numerics.acceleration import jit_if_possible


@jit_if_possible
def rule_excess(
    rules: RuleArrays,
    r: int,
    tally: Ints,
    seen: Ints,
    size: int,
    totals: Ints,
    known_totals: Ints,
    tree: Ints,
    missing: int,
) -> Any:
    """How far a class is beyond rule `r`; above 0 if the class breaks it.

    `tally[s]` counts value s in the class, `seen` are the values that occur there, `totals[s]`
    counts it in the table, and `known_totals` are the same without the missing secrets.
    """
    number = rules.numbers[r]
    limit = rules.limits[r]
    value = rules.values[r]
    if not rules.known[r]:
        return class_excess(number, tally, seen, size, totals, totals.sum(), limit, value, tree)
    known = size
    if missing >= 0 and tally[missing] > 0:
        known = size - tally[missing]
        tally = tally.copy()
        tally[missing] = 0
        seen = seen[seen != missing]
    if known == 0 and not rules.judges_unknown[r]:
        return 0.0
    records = known_totals.sum()
    return class_excess(number, tally, seen, known, known_totals, records, limit, value, tree)
