"""Hierarchies of generalisation: checked, written as texts, files or trees, and proposed."""

from sievert.hierarchies.hierarchy import DELIMITERS, MOST_BYTES, Hierarchy
from sievert.hierarchies.labels import NUMBER, ROOT, interval_ends
from sievert.hierarchies.proposals import Proposal, propose
from sievert.hierarchies.specifications import (
    below_root,
    check_specification,
    describe_level,
    fixed_form,
    is_generated,
    is_made_from_data,
    parse,
    read_hierarchies,
    to_hierarchy,
    with_orders,
)

__all__ = [
    "DELIMITERS",
    "MOST_BYTES",
    "NUMBER",
    "ROOT",
    "Hierarchy",
    "Proposal",
    "below_root",
    "check_specification",
    "describe_level",
    "fixed_form",
    "interval_ends",
    "is_generated",
    "is_made_from_data",
    "parse",
    "propose",
    "read_hierarchies",
    "to_hierarchy",
    "with_orders",
]
