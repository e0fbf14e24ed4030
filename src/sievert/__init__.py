"""Sievert measures how much a data release exposes the people in it.

`assess` measures a whole table; every measure is also a function of its own, such as
`sievert.k_anonymity(data, quasi)` or `sievert.itpr(data, quasi, sensitive)`. Nothing heavy is
imported until it is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sievert.version import __version__

if TYPE_CHECKING:
    from sievert.commands.assess.api import assess
    from sievert.commands.assess.result import Assessment
    from sievert.commands.attack.api import attack
    from sievert.commands.attack.result import Attacks
    from sievert.commands.compare.api import compare
    from sievert.commands.compare.result import Comparison
    from sievert.commands.compromise.api import compromise
    from sievert.commands.compromise.result import Compromises
    from sievert.commands.explain.api import explain
    from sievert.commands.explain.result import Explanation
    from sievert.commands.functions import discrimination_rate_by_value
    from sievert.commands.limit.api import Limit, limit, randomise
    from sievert.commands.limit.result import Limited
    from sievert.errors import SievertError
    from sievert.hierarchies import Hierarchy
    from sievert.measures.approximate.compromise import approximate_compromise
    from sievert.measures.value import Value
    from sievert.report.files import write_report

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
    "Assessment": "sievert.commands.assess.result",
    "Value": "sievert.commands.assess.result",
    "assess": "sievert.commands.assess.api",
    "discrimination_rate_by_value": "sievert.commands.functions",
    "explain": "sievert.commands.explain.api",
    "Explanation": "sievert.commands.explain.api",
    "Attacks": "sievert.commands.attack.api",
    "attack": "sievert.commands.attack.api",
    "Comparison": "sievert.commands.compare.api",
    "compare": "sievert.commands.compare.api",
    "Compromises": "sievert.commands.compromise.api",
    "compromise": "sievert.commands.compromise.api",
    "Limit": "sievert.commands.limit.api",
    "Limited": "sievert.commands.limit.api",
    "limit": "sievert.commands.limit.api",
    "randomise": "sievert.commands.limit.api",
    "approximate_compromise": "sievert.measures.approximate.compromise",
    "Hierarchy": "sievert.hierarchies",
    "SievertError": "sievert.errors",
    "write_report": "sievert.report.files",
}


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    if name in _FUNCTIONS:
        return import_module("sievert.commands.functions").FUNCTIONS[name]
    raise AttributeError(f"module 'sievert' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, *_FUNCTIONS])
