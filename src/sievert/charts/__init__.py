"""Results as charts: a result becomes a Vega-Lite dict, the dict a static SVG."""

from __future__ import annotations

from sievert.charts.curves import lines, of_approximate, of_compromises
from sievert.charts.drawing import BandPoint, Bar, Spec, band, bars
from sievert.charts.files import check, write
from sievert.charts.reasoning import of_reasoning
from sievert.charts.results import of_attacks, of_explanation, of_sizes
from sievert.charts.risk_utility_map import Dot, of_comparison, risk_utility_chart
from sievert.charts.svg import svg
from sievert.charts.tradeoff_curve import of_limit, tradeoff

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
    "of_limit",
    "of_reasoning",
    "of_sizes",
    "svg",
    "tradeoff",
    "write",
]
