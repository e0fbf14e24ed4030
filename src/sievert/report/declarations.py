"""What a shareable page may show: numbers of which it is declared what decides them.

Chapters of a shareable page do not receive any other number of a result, nor those that one
class, cell or record decides. The redactor rounds the rest.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sievert.attacks.attack import UNITS
from sievert.losses import BY_ID as LOSSES
from sievert.measures import Decides, decided_by

ADMITTED = {
    Decides.SMALLEST_CLASS,
    Decides.UNIQUES,
    Decides.COUNT,
    Decides.CLASSES,
    Decides.UNCERTAINTY,
    Decides.BITS,
    Decides.ROOT,
    Decides.TWICE,
    Decides.EVERYBODY,
    Decides.SETTING,
}
PARTS = {"value", "min", "mean", "max"}  # of the number above them
# Mappings by names of columns, to numbers or to mappings that have a value.
BY_COLUMN = {
    "attribute_disclosure",
    "columns",
    "information_loss",
    "prior_records_a_secret",
}
# Numbers beside those of measures, losses and attacks.
NUMBERS: Mapping[str, Decides] = {
    name: decides
    for decides, names in {
        Decides.SETTING: "at columns epsilon fraction known limits model most of "
        "orders parameter replicates seed size subsets chains sweeps",
        Decides.COUNT: "exact paired released records rows sample single unique_count values",
        Decides.UNCERTAINTY: "share whole",
        Decides.BITS: "attribute_disclosure:each bound chance columns:each corrected disclosed "
        "excess identity identity_disclosure information information_loss:each initial_entropy "
        "interval least maximum objective per_cell release risk risk_corrected risk_interval table",
        Decides.EVERYBODY: "distortion distortion_interval perfect "
        "global_risk household_risk journalist marketer population_uniques_dankar "
        "population_uniques_pitman population_uniques_snb population_uniques_zayatz "
        "prior_records_a_secret:number prosecutor records_a_secret truta_maximal truta_minimal "
        "unique_match unique_match_known",
    }.items()
    for name in names.split()
}


def decides(name: str) -> Decides:
    """What decides a number of a result; undeclared where no record or table says so."""
    if name in LOSSES:
        decider = getattr(LOSSES[name], "decided_by", None)
        return decider if isinstance(decider, Decides) else Decides.UNDECLARED
    if name in UNITS:
        return UNITS[name][2] if len(UNITS[name]) > 2 else Decides.UNDECLARED
    return NUMBERS.get(name) or decided_by(name)


def keep_declared(tree: Any, name: str = "") -> Any:
    """The JSON of a result with None in place of each number that no page may be made of.

    >>> keep_declared({"risk": 0.5, "guess": 0.5, "people": {"value": 7, "unit": "people"}})
    {'risk': 0.5, 'guess': None, 'people': {'value': 7, 'unit': 'people'}}
    """
    if isinstance(tree, Mapping):
        if name in BY_COLUMN:
            return {
                column: keep_declared(
                    entry, f"{name}:{'each' if isinstance(entry, Mapping) else 'number'}"
                )
                for column, entry in tree.items()
            }
        return {
            key: keep_declared(entry, name if key in PARTS else key) for key, entry in tree.items()
        }
    if isinstance(tree, list | tuple):
        return [keep_declared(entry, name) for entry in tree]
    if isinstance(tree, int | float) and not isinstance(tree, bool):
        return tree if decides(name) in ADMITTED else None
    return tree
