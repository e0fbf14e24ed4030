"""What a class must hold, made from the limits of a policy.

A limit on a measure that is the worst over classes is a rule for each class: a class that breaks it
is suppressed. Every other limit is about the table as a whole, and is checked on the release.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

# Measures of one class at its worst, with the side of the limit; in the order of the kernels.
MOST_RECORDS = 1 << 62  # more than any table has
KINDS = (
    "size",
    "distinct",
    "distinct_known",
    "entropy",
    "confidence",
    "named",
    "gain",
    "equal_t",
    "ordered_t",
    "tree_t",
    "beta",
    "enhanced",
    "recursive",
    "delta",
    "delta_present",
    "confidence_known",
    "named_known",
    "gain_known",
    "entropy_known",
    "recursive_known",
)
LEAST: dict[str, tuple[str, ...]] = {
    "l_diversity": ("distinct", "distinct_known"),
    "entropy_l": ("entropy", "entropy_known"),
}
MOST = {
    "max_confidence": ("confidence", "confidence_known"),
    "alpha_k": ("confidence", "confidence_known"),
    "confidence_gain": ("gain", "gain_known"),
    "t_closeness": ("equal_t",),
    "t_closeness_ordered": ("ordered_t",),
    "t_closeness_hierarchical": ("tree_t",),
    "beta_likeness": ("beta",),
    "enhanced_beta_likeness": ("enhanced",),
    "recursive_c": ("recursive", "recursive_known"),
    "delta_disclosure": ("delta",),
    "delta_disclosure_present": ("delta_present",),
}
CONVEX = frozenset(KINDS[3:12])
MONOTONE = frozenset(KINDS[:3])  # what a coarser class holds, if a finer one does


@dataclass(frozen=True)
class Rule:
    """One demand on every class that is released.

    `value` is the l of a recursive rule, or the number of a named value of the secret.
    """

    kind: str
    limit: float
    value: int = 0

    @property
    def number(self) -> int:
        """What the kernels call this kind."""
        return KINDS.index(self.kind)

    def largest_excess(self, totals: Any) -> float:
        """How far above its limit any class can be, with the secret so distributed."""
        if self.kind == "entropy":
            return math.log(self.limit)
        if self.kind == "beta":
            rarest = min(int(n) for n in totals if n)
            return max(0.0, (int(totals.sum()) - rarest) / rarest - self.limit)
        if self.kind == "enhanced":
            return self._largest_enhanced_excess(totals)
        return max(0.0, 1.0 - self.limit)

    def _largest_enhanced_excess(self, totals: Any) -> float:
        """How far a gain can be above the bound of its value: all records of a class have it."""
        records, largest = int(totals.sum()), 0.0
        for number in totals:
            if number:
                gain = (records - int(number)) / int(number)
                bound = min(self.limit, math.log(records / int(number)))
                largest = max(largest, gain - bound)
        return largest


def size_rule(limits: Mapping[str, Any]) -> int:
    """The k that limits on finding people demand of every class: 1 if they demand none."""
    least = limits["k_anonymity"].min if "k_anonymity" in limits else None
    k = 1 if least is None else max(1, math.ceil(min(least, MOST_RECORDS)))
    most = limits["highest_risk"].max if "highest_risk" in limits else None
    if most is not None and 0 < most < 1:
        first = max(1, int(min(1 / most, MOST_RECORDS)) - 1)
        k = max(k, next((n for n in range(first, first + 4) if 1 / n <= most), MOST_RECORDS))
    return k


def secret_rules(
    limits: Mapping[str, Any], *, recursive_l: int = 2, named: int | None = None, missing: bool
) -> tuple[Rule, ...]:
    """The rules that limits on one secret make; `named` is the value that alpha_k names."""
    rules = []
    for measure, limit in limits.items():
        kinds: tuple[str, ...] = LEAST.get(measure, ())
        bound = limit.min
        if measure in MOST:
            kinds, bound = MOST[measure], limit.max
        if measure == "alpha_k" and named is not None:
            kinds = ("named", "named_known")
        for kind in kinds if bound is not None else ():
            if kind.endswith("_known") and not missing:
                continue
            if measure == "entropy_l" and bound <= 1:
                continue  # every class has an entropy l of 1 at least
            rules.append(
                Rule(kind, float(bound), recursive_l if measure == "recursive_c" else named or 0)
            )
    return tuple(rules)
