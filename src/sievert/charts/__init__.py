"""Results as charts: a result becomes a Vega-Lite dict, the dict a static SVG.

The modules are imported when a name is first used: a command that draws nothing loads few of them.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sievert.charts.curves import lines
    from sievert.charts.drawing import BandPoint, Bar, Spec, band, bars
    from sievert.charts.rendering import check, svg, write
    from sievert.charts.results import of_attacks, of_explanation
    from sievert.charts.risk_utility_map import Dot, risk_utility_chart, tradeoff

__all__ = [
    "Bar",
    "Dot",
    "BandPoint",
    "Spec",
    "band",
    "bars",
    "check",
    "risk_utility_chart",
    "lines",
    "of_attacks",
    "of_explanation",
    "svg",
    "tradeoff",
    "write",
]
_HOMES = {
    "curves": ("lines",),
    "drawing": ("BandPoint", "Bar", "Spec", "band", "bars"),
    "results": ("of_attacks", "of_explanation"),
    "risk_utility_map": ("Dot", "risk_utility_chart", "tradeoff"),
    "rendering": ("check", "svg", "write"),
}

if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        """A chart, imported when it is first used."""
        for module, names in _HOMES.items():
            if name in names:
                return getattr(import_module(f"sievert.charts.{module}"), name)
        raise AttributeError(f"module 'sievert.charts' has no attribute {name!r}")
