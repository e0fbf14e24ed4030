"""The class rules of measures as one compiled function, written from the measures' records."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from sievert.measures.class_rules import ClassRule
from sievert.methods.full_domain.rules import CLASS_RULES

MODULE = Path(__file__).parents[1] / "src/sievert/methods/full_domain/compiled_rules.py"
HEAD = '''"""How far a class is beyond a rule; by `make generate` from the records of measures."""

from typing import Any

from sievert.arrays import Ints
{imports}
from sievert.numerics.acceleration import inline_if_possible

{functions}


@inline_if_possible
def class_excess(
    number: int,
    tally: Any,
    seen: Ints,
    size: int,
    totals: Ints,
    records: int,
    limit: float,
    value: int,
    tree: Ints,
    work: Ints,
) -> Any:
    """How far a class is beyond the rule with this number; above 0 if the class breaks it.

    The product makes a number of a truth.
    """
    given = tally, seen, size, totals, records, limit, value, tree, work
'''
CASE = """    if number == {number}:
        return 1.0 * {function}(*given)
"""
END = """    raise ValueError("no such rule")
"""


def module(rules: Iterable[ClassRule] = CLASS_RULES.values()) -> str:
    """The text of the module."""
    functions = [rule.excess for rule in rules]
    distinct = sorted({(f.__module__, f.__name__) for f in functions})
    imports = "\n".join(f"from {place} import {name} as _{name}" for place, name in distinct)
    compiled = "\n".join(f"{name} = inline_if_possible(_{name})" for _, name in distinct)
    cases = "".join(
        CASE.format(number=number, function=function.__name__)
        for number, function in enumerate(functions)
    )
    return HEAD.format(imports=imports, functions=compiled) + cases + END


if __name__ == "__main__":
    MODULE.write_text(module(), encoding="utf-8")
