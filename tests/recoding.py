"""Tables changed as an option says, value by value: what an option must agree with."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from random import Random
from typing import Any

from sievert.commands.assess.result import ColumnChange

Columns = dict[str, list[Any]]
LADDER = {f"z{i}": (f"y{i // 2}", f"x{i // 4}", "*") for i in range(8)}


def recode(
    columns: Columns, changes: Sequence[ColumnChange], ladders: Mapping[str, Any]
) -> Columns:
    """The table with its columns coarsened and left out; missing stays missing."""
    recoded = dict(columns)
    for change in changes:
        values = recoded.pop(change.column)
        if change.how != "left out":
            label = _label(values, change.how, ladders.get(change.column))
            recoded[change.column] = [None if v is None else label(v) for v in values]
    return recoded


def _label(values: list[Any], how: str, ladder: Mapping[str, Sequence[str]] | None) -> Any:
    number = int("".join(c for c in how.split(".")[0] if c.isdigit()) or 1)
    if how.startswith("in bands of"):
        width = Fraction(how.removeprefix("in bands of "))
        return lambda v: f"band {Fraction(str(v)) // width}"
    if how.startswith("cut to"):
        return lambda v: str(v)[:number]
    if how.endswith("merged"):
        counts = Counter(values)
        rare = {v for v, n in counts.items() if v is not None and n <= len(values) // 100}
        assert len(rare) == number, how
        return lambda v: "others" if v in rare else v
    assert ladder is not None and how == f"at level {number} of its hierarchy"
    return lambda v: ladder[v][number - 1]


def random_table(random: Random) -> Columns:
    """Up to 300 records: numbers, codes, categories with rare values, a ladder; two secrets."""
    n, gaps = random.randint(20, 300), random.choice((0.0, 0.0, 0.1))

    def column(draw: Any) -> list[Any]:
        return [None if random.random() < gaps else draw() for _ in range(n)]

    pools: Columns = {
        "age": column(lambda: random.randint(18, 18 + random.choice((12, 70)))),
        "zip": column(lambda: f"{random.randint(0, 40):05d}"),
        "job": column(lambda: random.choice("aaaabbbbccccdefghij")),
        "town": column(lambda: random.choice(list(LADDER))),
        "sex": column(lambda: random.choice("fm")),
    }
    quasi = random.sample(list(pools), random.randint(2, 4))
    illness = column(lambda: random.choice(("flu", "flu", "hiv", "gout", "cold")))
    days = column(lambda: random.choice((1, 2, 3, 5, 10, 20)))
    return {q: pools[q] for q in quasi} | {"ill": illness, "days": days}
