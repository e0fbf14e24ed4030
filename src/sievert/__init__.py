"""Sievert measures how much a data release exposes the people in it.

`assess` measures a whole table; every measure is also a function of its own, such as
`sievert.k_anonymity(data, quasi)` or `sievert.itpr(data, quasi, sensitive)`. Nothing heavy is
imported until it is used.
"""

from __future__ import annotations

from importlib import import_module
from importlib.machinery import PathFinder

from sievert.version import __version__

# A signal ends a command without a word until this module is imported: `typing` takes longer than
# all else here.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from sievert.commands.assess.api import assess
    from sievert.commands.assess.result import Assessment
    from sievert.commands.attack.api import attack
    from sievert.commands.attack.result import Attacks
    from sievert.commands.columns.api import describe_columns
    from sievert.commands.columns.result import ColumnList
    from sievert.commands.compare.api import compare
    from sievert.commands.compare.result import Comparison
    from sievert.commands.compromise.api import compromise
    from sievert.commands.compromise.result import Compromises
    from sievert.commands.explain.api import explain
    from sievert.commands.explain.result import Explanation
    from sievert.commands.functions import discrimination_rate_by_value, l_diversity_by_class
    from sievert.commands.hierarchies.api import propose_hierarchies
    from sievert.commands.hierarchies.result import ProposedHierarchies
    from sievert.commands.ledger.api import add_to_ledger, check_with_ledger, read_ledger
    from sievert.commands.ledger.result import Ledger, LedgerCheck
    from sievert.commands.limit.api import randomise
    from sievert.commands.limit.distribution import Limit, limit
    from sievert.commands.limit.result import Limited
    from sievert.commands.measure_functions import *
    from sievert.commands.policy.api import check_policy
    from sievert.commands.policy.result import PolicyCheck
    from sievert.commands.protect.api import protect
    from sievert.commands.protect.result import Protected
    from sievert.commands.report.api import write_report
    from sievert.commands.sketch.api import sketch
    from sievert.commands.sketch.result import SketchEstimates
    from sievert.commands.state.api import count, merge, update
    from sievert.commands.state.result import CountState
    from sievert.commands.synthetic.api import synthetic
    from sievert.commands.synthetic.result import SyntheticAssessment
    from sievert.errors import SievertError
    from sievert.hierarchies import Hierarchy
    from sievert.measures.approximate.compromise import approximate_compromise
    from sievert.measures.measure import Value

__all__ = [
    "Assessment",
    "Attacks",
    "ColumnList",
    "Comparison",
    "Compromises",
    "CountState",
    "Explanation",
    "Hierarchy",
    "Ledger",
    "LedgerCheck",
    "Limit",
    "Limited",
    "PolicyCheck",
    "ProposedHierarchies",
    "Protected",
    "SievertError",
    "SketchEstimates",
    "SyntheticAssessment",
    "Value",
    "__version__",
    "add_to_ledger",
    "approximate_compromise",
    "assess",
    "attack",
    "check_policy",
    "check_with_ledger",
    "compare",
    "compromise",
    "count",
    "describe_columns",
    "discrimination_rate_by_value",
    "l_diversity_by_class",
    "explain",
    "limit",
    "merge",
    "propose_hierarchies",
    "protect",
    "randomise",
    "read_ledger",
    "sketch",
    "synthetic",
    "update",
    "write_report",
]
# Where each public name lives; every measure is a function of `commands.functions` besides.
_HOMES = {
    "Assessment": "commands.assess.result",
    "Attacks": "commands.attack.result",
    "ColumnList": "commands.columns.result",
    "Comparison": "commands.compare.result",
    "Compromises": "commands.compromise.result",
    "CountState": "commands.state.result",
    "Explanation": "commands.explain.result",
    "Hierarchy": "hierarchies",
    "Ledger": "commands.ledger.result",
    "LedgerCheck": "commands.ledger.result",
    "Limit": "commands.limit.distribution",
    "Limited": "commands.limit.result",
    "PolicyCheck": "commands.policy.result",
    "ProposedHierarchies": "commands.hierarchies.result",
    "Protected": "commands.protect.result",
    "SievertError": "errors",
    "SketchEstimates": "commands.sketch.result",
    "SyntheticAssessment": "commands.synthetic.result",
    "Value": "measures.measure",
    "add_to_ledger": "commands.ledger.api",
    "approximate_compromise": "measures.approximate.compromise",
    "assess": "commands.assess.api",
    "attack": "commands.attack.api",
    "check_policy": "commands.policy.api",
    "check_with_ledger": "commands.ledger.api",
    "compare": "commands.compare.api",
    "compromise": "commands.compromise.api",
    "count": "commands.state.api",
    "describe_columns": "commands.columns.api",
    "discrimination_rate_by_value": "commands.functions",
    "l_diversity_by_class": "commands.functions",
    "explain": "commands.explain.api",
    "limit": "commands.limit.distribution",
    "merge": "commands.state.api",
    "propose_hierarchies": "commands.hierarchies.api",
    "protect": "commands.protect.api",
    "randomise": "commands.limit.api",
    "read_ledger": "commands.ledger.api",
    "sketch": "commands.sketch.api",
    "synthetic": "commands.synthetic.api",
    "update": "commands.state.api",
    "write_report": "commands.report.api",
}


def _measures() -> dict[str, Any]:
    return dict(import_module("sievert.commands.functions").FUNCTIONS)


if not TYPE_CHECKING:  # a type checker shall see what there is, and no more

    def __getattr__(name: str) -> Any:
        """A public name, a room of the package, or a measure, imported when it is first used."""
        if name in _HOMES:
            return getattr(import_module(f"sievert.{_HOMES[name]}"), name)
        path = f"sievert.{name}"
        if PathFinder.find_spec(path, __path__) is not None:
            return import_module(path)
        if not name.startswith("_"):
            measures = _measures()
            if name in measures:
                return measures[name]
        raise AttributeError(f"module 'sievert' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, *_measures()])
