"""The cells of a secret, with the rules for a class that follow from the limits of a policy."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from sievert.arrays import Ints
from sievert.counts.recoded import type_order
from sievert.counts.secret_counts import order_values
from sievert.hierarchies import Hierarchy, to_hierarchy
from sievert.measurement.table_measures import MeasureSettings
from sievert.measures import BY_ID
from sievert.methods.full_domain import SecretCells
from sievert.methods.full_domain.rules import secret_rules
from sievert.policy import Policy


def secret_cells(
    secret: str,
    texts: Sequence[str | None],
    cells: tuple[Any, Any, Any],
    policy: Policy,
    measuring: MeasureSettings,
) -> SecretCells:
    """Make the cells of a secret, with its values numbered in their order, if they have one.

    `cells` has the combination, the code of the text and the records of each cell.
    """
    counted = np.bincount(cells[1], cells[2], len(texts))
    present = [t for t, n in zip(texts, counted, strict=True) if n]
    ordered = _sort_values(secret, present, measuring)
    values = present if ordered is None else ordered
    number_of = {text: number for number, text in enumerate(values)}
    named = measuring.parameters.get("alpha_k", {}).get("value")
    if isinstance(named, Mapping):
        named = named.get(secret)
    counts = {t: int(n) for t, n in zip(texts, counted, strict=True) if n and t is not None}
    tree = to_hierarchy(measuring.hierarchies.get(secret), counts)
    lacking = set()
    if ordered is None:
        lacking.add("order")
    if tree is None:
        lacking.add("hierarchy")
    limits = {
        measure: limit
        for measure, limit in {**policy.everywhere, **policy.inference.get(secret, {})}.items()
        if measure in BY_ID and not BY_ID[measure].needs & lacking
    }
    return SecretCells(
        name=secret,
        combination=cells[0],
        value=np.array([number_of.get(text, 0) for text in texts], dtype=np.int64)[cells[1]],
        counts=cells[2],
        values=len(values),
        rules=secret_rules(
            limits,
            measuring.parameters,
            named=None if named is None else number_of.get(named),
            missing=None in number_of,
        ),
        tree=None if tree is None else _labels_by_level(tree.with_root(), values),
        missing=number_of.get(None, -1),
    )


def _sort_values(
    secret: str, present: Sequence[str | None], measuring: MeasureSettings
) -> list[str | None] | None:
    """Sort the values; None if they have no order, or if some are missing."""
    texts = [text for text in present if text is not None]
    given = measuring.orders.get(secret)
    ordered = type_order(texts) if given is None else order_values(secret, [*given], texts)
    return None if ordered is None or len(texts) < len(present) else [*ordered]


def _labels_by_level(tree: Hierarchy, values: Sequence[str | None]) -> Ints:
    """Number the labels of the values on each level of a hierarchy, except its root."""
    levels = []
    for level in range(tree.height):
        numbers: dict[str | None, int] = {}
        labels = [None if text is None else tree.at(text, level) for text in values]
        levels.append([numbers.setdefault(label, len(numbers)) for label in labels])
    return np.array(levels, dtype=np.int64)
