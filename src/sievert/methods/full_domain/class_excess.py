"""How far one class is beyond a rule, whether records without a secret count or not.

The loops are compiled where numba is at hand.
"""

from typing import Any

from sievert.arrays import Ints
from sievert.methods.full_domain.compiled_rules import class_excess
from sievert.methods.full_domain.rules import RuleArrays
from sievert.numerics.acceleration import inline_if_possible


@inline_if_possible
def rule_excess(
    rules: RuleArrays,
    r: int,
    tally: Ints,
    seen: Ints,
    size: int,
    totals: Ints,
    records: int,
    known_totals: Ints,
    known_records: int,
    tree: Ints,
    missing: int,
    work: Ints,
) -> Any:
    """How far a class is beyond rule `r`; above 0 if the class breaks it.

    `tally[s]` counts value s in the class, `seen` are the values that occur there, `totals[s]`
    counts it in the table of `records` records, and `known_totals` and `known_records` are the
    same without the missing secrets. `work` has two rows like `tally`, to work with.
    """
    number = rules.numbers[r]
    limit = rules.limits[r]
    value = rules.values[r]
    if not rules.known[r]:
        return class_excess(number, tally, seen, size, totals, records, limit, value, tree, work[0])
    absent = tally[missing] if missing >= 0 else 0
    known = size - absent
    if known == 0 and not rules.judges_unknown[r]:
        return 0.0
    values = 0
    for s in seen:
        if s != missing:
            work[1, values] = s
            values += 1
    if missing >= 0:
        tally[missing] = 0
    excess = class_excess(
        number,
        tally,
        work[1, :values],
        known,
        known_totals,
        known_records,
        limit,
        value,
        tree,
        work[0],
    )
    if missing >= 0:
        tally[missing] = absent  # as it was
    return excess
