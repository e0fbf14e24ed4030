"""Sievert measures how much a data release exposes the people in it.

`assess` measures a whole table; every measure is also a function of its own, such as
`sievert.k_anonymity(data, quasi)` or `sievert.itpr(data, quasi, sensitive)`. Nothing heavy is
imported until it is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sievert.version import __version__

if TYPE_CHECKING:
    from sievert.assessment import assess
    from sievert.attacking import Attacks, attack
    from sievert.comparison import Comparison, compare
    from sievert.errors import SievertError
    from sievert.explanation import Explanation, explain
    from sievert.functions import discrimination_rate_by_value
    from sievert.hierarchies import Hierarchy
    from sievert.intrusion import Compromises, compromise
    from sievert.limited import Limit, Limited, limit, randomise
    from sievert.measures.approximate import approximate_compromise
    from sievert.report.written import write_report
    from sievert.result import Assessment, Value

__all__ = [
    "Assessment",
    "Attacks",
    "Comparison",
    "Compromises",
    "Explanation",
    "Hierarchy",
    "Limit",
    "Limited",
    "SievertError",
    "Value",
    "__version__",
    "approximate_compromise",
    "assess",
    "attack",
    "compare",
    "compromise",
    "discrimination_rate_by_value",
    "explain",
    "limit",
    "randomise",
    "write_report",
]
# Every measure as a function of a table, `sievert.ID(data, quasi, sensitive=None)`.

_FUNCTIONS = (
    "k_anonymity",
    "classes",
    "unique_records",
    "highest_risk",
    "average_risk",
    "average_class_risk",
    "records_below",
    "separation",
    "distinction",
    "itpr",
    "itpr_unnormalized",
    "discrimination_rate",
    "semantic_discrimination_rate",
    "mutual_information",
    "conditional_privacy",
    "maximum_information_leakage",
    "entropy_variation",
    "entropy_l_diversity",
    "reciprocal_entropy",
    "bayes_vulnerability_posterior",
    "bayes_vulnerability_prior",
    "entropy",
    "conditional_entropy",
    "normalized_conditional_entropy",
    "joint_entropy",
    "l_diversity",
    "entropy_l",
    "recursive_c",
    "max_confidence",
    "alpha_k",
    "t_closeness",
    "t_closeness_ordered",
    "t_closeness_hierarchical",
    "beta_likeness",
    "enhanced_beta_likeness",
    "delta_disclosure",
    "delta_disclosure_present",
)
_HOMES = {
    "Assessment": "sievert.result",
    "Value": "sievert.result",
    "assess": "sievert.assessment",
    "discrimination_rate_by_value": "sievert.functions",
    "explain": "sievert.explanation",
    "Explanation": "sievert.explanation",
    "Attacks": "sievert.attacking",
    "attack": "sievert.attacking",
    "Comparison": "sievert.comparison",
    "compare": "sievert.comparison",
    "Compromises": "sievert.intrusion",
    "compromise": "sievert.intrusion",
    "Limit": "sievert.limited",
    "Limited": "sievert.limited",
    "limit": "sievert.limited",
    "randomise": "sievert.limited",
    "approximate_compromise": "sievert.measures.approximate",
    "Hierarchy": "sievert.hierarchies",
    "SievertError": "sievert.errors",
    "write_report": "sievert.report.written",
}


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    if name in _FUNCTIONS:
        return import_module("sievert.functions").FUNCTIONS[name]
    raise AttributeError(f"module 'sievert' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, *_FUNCTIONS])
