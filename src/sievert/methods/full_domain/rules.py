"""What a class must hold, made from the limits of a policy.

A limit on a measure that is the worst over classes is a rule for each class: a class that breaks it
is suppressed. The measure declares the rule in its record (`measures.class_rules`). Every other
limit is about the table as a whole, and is checked on the release (`--how regions` also seeks those
with a `sum_rule`).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from sievert.arrays import Bools, Floats, Ints
from sievert.measures import BY_ID, MEASURES, Measure
from sievert.measures.class_rules import ClassRule

KNOWN = "_known"  # ends the name of a rule on the records whose secret is known
CLASS_RULES: Mapping[str, ClassRule] = {
    rule.name: rule for measure in MEASURES for rule in measure.class_rules
}
NUMBERS: Mapping[str, int] = {name: number for number, name in enumerate(CLASS_RULES)}
KINDS: tuple[str, ...] = (
    *CLASS_RULES,
    *(name + KNOWN for name, rule in CLASS_RULES.items() if rule.known),
)


@dataclass(frozen=True)
class Rule:
    """One demand on every class that is released.

    `kind` is the name of a class rule, with `_known` at its end where records without a secret are
    left out. `value` is what the class rule gets as its parameter.
    """

    kind: str
    limit: float
    value: int = 0

    @property
    def known(self) -> bool:
        """Whether records whose secret is missing are left out."""
        return self.kind.endswith(KNOWN)

    @property
    def of_class(self) -> ClassRule:
        """The class rule, as the measure declares it."""
        return CLASS_RULES[self.kind.removesuffix(KNOWN)]

    @property
    def convex(self) -> bool:
        """Whether the excess of a class is convex in the distribution of the secret."""
        return self.of_class.convex and not self.known

    @property
    def gradual(self) -> bool:
        """Whether local recoding joins classes by their excess."""
        return self.convex and self.of_class.gradual

    @property
    def monotone(self) -> bool:
        """Whether a coarser class holds the rule if a finer one does."""
        return self.of_class.monotone

    def largest_excess(self, totals: Ints) -> float:
        """How far above its limit any class can be, with the secret so distributed."""
        return self.of_class.largest_excess(totals, self.limit)


class RuleArrays(NamedTuple):
    """Rules as the loops read them, one place for each rule."""

    numbers: Ints  # of the class rules
    known: Bools  # whether records whose secret is missing are left out
    judges_unknown: Bools  # whether a class without any known secret is judged, too
    convex: Bools
    gradual: Bools
    limits: Floats
    values: Ints

    @classmethod
    def of(cls, rules: tuple[Rule, ...]) -> "RuleArrays":
        """The arrays of these rules."""
        return cls(
            numbers=np.array([NUMBERS[r.of_class.name] for r in rules], dtype=np.int64),
            known=np.array([r.known for r in rules], dtype=np.bool_),
            judges_unknown=np.array([r.of_class.judges_unknown for r in rules], dtype=np.bool_),
            convex=np.array([r.convex for r in rules], dtype=np.bool_),
            gradual=np.array([r.gradual for r in rules], dtype=np.bool_),
            limits=np.array([r.limit for r in rules], dtype=np.float64),
            values=np.array([r.value for r in rules], dtype=np.int64),
        )


def size_rule(limits: Mapping[str, Any]) -> int:
    """The k that limits on finding people demand of every class: 1 if they demand none."""
    k = 1
    for measure, limit in limits.items():
        size = BY_ID[measure].size_rule if measure in BY_ID else None
        bound = None if size is None else getattr(limit, size.side)
        if size is not None and bound is not None:
            k = max(k, size.fewest_records(bound))
    return k


def secret_rules(
    limits: Mapping[str, Any],
    parameters: Mapping[str, Mapping[str, Any]],
    *,
    named: int | None = None,
    missing: bool,
) -> tuple[Rule, ...]:
    """The rules that limits on one secret make.

    `parameters` are those of the measures, `named` is the number of the value that the policy
    names, and `missing` tells whether the secret of some records is missing.
    """
    return tuple(
        rule
        for measure, limit in limits.items()
        if measure in BY_ID
        for rule in _rules_of(BY_ID[measure], limit, parameters.get(measure, {}), named)
        if missing or not rule.known
    )


def _rules_of(
    measure: Measure, limit: Any, parameters: Mapping[str, Any], named: int | None
) -> Iterator[Rule]:
    """The rules that the limit on one measure makes."""
    names_value = named is not None and any(r.names_value for r in measure.class_rules)
    for of_class in measure.class_rules:
        bound = getattr(limit, of_class.side)
        if of_class.names_value != names_value or bound is None:
            continue
        if of_class.met_up_to is not None and bound <= of_class.met_up_to:
            continue
        value = named or 0
        if of_class.parameter is not None:
            value = parameters.get(of_class.parameter, of_class.default)
        yield Rule(of_class.name, float(bound), value)
        if of_class.known:
            yield Rule(of_class.name + KNOWN, float(bound), value)
