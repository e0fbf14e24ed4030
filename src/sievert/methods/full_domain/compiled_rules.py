"""How far a class is beyond a rule; by `make generate` from the records of measures."""

from typing import Any

from sievert.arrays import Ints
from sievert.measures.closeness import beta_excess as _beta_excess
from sievert.measures.closeness import delta_breaks as _delta_breaks
from sievert.measures.closeness import delta_present_breaks as _delta_present_breaks
from sievert.measures.closeness import enhanced_excess as _enhanced_excess
from sievert.measures.closeness import moved_in_tree as _moved_in_tree
from sievert.measures.closeness import moved_ranks as _moved_ranks
from sievert.measures.closeness import moved_share as _moved_share
from sievert.measures.diversity import confidence_excess as _confidence_excess
from sievert.measures.diversity import entropy_lack as _entropy_lack
from sievert.measures.diversity import lacking_values as _lacking_values
from sievert.measures.diversity import named_excess as _named_excess
from sievert.measures.diversity import recursive_breaks as _recursive_breaks
from sievert.measures.gains import gain_excess as _gain_excess
from sievert.numerics.acceleration import inline_if_possible

beta_excess = inline_if_possible(_beta_excess)
delta_breaks = inline_if_possible(_delta_breaks)
delta_present_breaks = inline_if_possible(_delta_present_breaks)
enhanced_excess = inline_if_possible(_enhanced_excess)
moved_in_tree = inline_if_possible(_moved_in_tree)
moved_ranks = inline_if_possible(_moved_ranks)
moved_share = inline_if_possible(_moved_share)
confidence_excess = inline_if_possible(_confidence_excess)
entropy_lack = inline_if_possible(_entropy_lack)
lacking_values = inline_if_possible(_lacking_values)
named_excess = inline_if_possible(_named_excess)
recursive_breaks = inline_if_possible(_recursive_breaks)
gain_excess = inline_if_possible(_gain_excess)


@inline_if_possible
def class_excess(
    number: int,
    tally: Any,
    seen: Ints,
    size: int,
    totals: Ints,
    records: int,
    limit: float,
    value: int,
    tree: Ints,
    work: Ints,
) -> Any:
    """How far a class is beyond the rule with this number; above 0 if the class breaks it.

    The product makes a number of a truth.
    """
    given = tally, seen, size, totals, records, limit, value, tree, work
    if number == 0:
        return 1.0 * lacking_values(*given)
    if number == 1:
        return 1.0 * entropy_lack(*given)
    if number == 2:
        return 1.0 * recursive_breaks(*given)
    if number == 3:
        return 1.0 * confidence_excess(*given)
    if number == 4:
        return 1.0 * named_excess(*given)
    if number == 5:
        return 1.0 * gain_excess(*given)
    if number == 6:
        return 1.0 * moved_share(*given)
    if number == 7:
        return 1.0 * moved_ranks(*given)
    if number == 8:
        return 1.0 * moved_in_tree(*given)
    if number == 9:
        return 1.0 * beta_excess(*given)
    if number == 10:
        return 1.0 * enhanced_excess(*given)
    if number == 11:
        return 1.0 * delta_breaks(*given)
    if number == 12:
        return 1.0 * delta_present_breaks(*given)
    raise ValueError("no such rule")
