"""Results as charts: a result becomes a Vega-Lite dict, the dict a static SVG."""

from sievert.charts.curves import lines, of_approximate, of_compromises, of_reasoning
from sievert.charts.drawing import BandPoint, Bar, Spec, band, bars
from sievert.charts.frontier import of_frontier
from sievert.charts.results import of_attacks, of_explanation, of_sizes
from sievert.charts.risk_utility_map import (
    Dot,
    of_comparison,
    of_limit,
    risk_utility_chart,
    tradeoff,
)
from sievert.charts.svg import check, svg, write

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
    "of_approximate",
    "of_attacks",
    "of_comparison",
    "of_compromises",
    "of_explanation",
    "of_frontier",
    "of_limit",
    "of_reasoning",
    "of_sizes",
    "svg",
    "tradeoff",
    "write",
]
