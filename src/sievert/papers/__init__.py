"""Five papers recomputed: every table and figure that the text determines, beside what is printed.

One folder a paper; each has `paper(given) -> Paper`. `NAMES` are those of the command line.
"""

from __future__ import annotations

from importlib import import_module

from sievert.errors import unknown
from sievert.papers.model import Given, Paper

NAMES = (
    "itpr",
    "discrimination-rate",
    "mutual-information",
    "relative-risk",
    "approximate-compromise",
)


def recompute(name: str, given: Given | None = None) -> Paper:
    """One paper, recomputed now."""
    if name not in NAMES:
        raise unknown("paper", name, NAMES)
    module = import_module(f"sievert.papers.{name.replace('-', '_')}")
    found: Paper = module.paper(given or Given())
    return found
