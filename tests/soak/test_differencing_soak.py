"""The differencing attack on every neighbour of every family, and on random tables."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from helpers import differencing
from helpers.differencing import ASSESS, FAMILIES, Family, Row, Workplace

TABLES = 150


@pytest.mark.parametrize("options", ASSESS, ids=["policy", "masked", "wildcard"])
@pytest.mark.parametrize("kind", FAMILIES)
def test_every_neighbour(kind: str, options: tuple[str, ...], tmp_path: Path) -> None:
    family = FAMILIES[kind]()
    moved = differencing.difference(Workplace(tmp_path), family, options)
    assert family.moves or all(each.startswith("verdict") for each in moved), moved


def table(random: Random) -> list[Row]:
    """Records in classes of any size, with any secret; some values are missing."""
    records = random.choice((40, 990, 999, 1000, 1001, 1100, 1499, 2000))
    keys, values = random.choice((3, 60, 900)), random.choice((1, 2, 5, 300))
    skew, lacks = random.choice((0.0, 0.5, 0.98)), random.choice((0.0, 0.0, 0.05))
    return [
        (
            "" if random.random() < lacks else str(random.randrange(keys)),
            str(random.randrange(random.choice((1, 3)))),
            "flu" if random.random() < skew else f"S{random.randrange(values)}",
            str(random.randrange(5000)),
        )
        for _ in range(records)
    ]


@pytest.mark.parametrize("chunk", range(5))
def test_random_tables(chunk: int, tmp_path: Path) -> None:
    """A person of a random table has other values, is missing, or is added: six neighbours each."""
    place = Workplace(tmp_path)
    for number in range(chunk, TABLES, 5):
        random = Random(f"differencing {number}")
        rows = table(random)
        at, other = random.randrange(len(rows)), rows[random.randrange(len(rows))]
        neighbours = (
            differencing.changed(rows, at, age="Qx", zip="Qx"),
            differencing.changed(rows, at, age=other[0], zip=other[1]),
            differencing.changed(rows, at, ill=random.choice(("Sx", "flu", ""))),
            differencing.changed(rows, at, **dict(zip(differencing.HEADER, other, strict=True))),
            (*rows[:at], *rows[at + 1 :]),
            (*rows, other),
        )
        family = Family(tuple(rows), neighbours, moves=True)
        differencing.difference(place, family, ASSESS[number % 3])
