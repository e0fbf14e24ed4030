"""Tables of every type that is sketched, with values that engines spell in different ways."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from decimal import Decimal
from random import Random
from typing import Any

SALT = b"a secret of more than sixteen bytes"
# Of each column its type in Postgres.
POSTGRES = {
    "number": "bigint",
    "town": "text",
    "born": "date",
    "seen": "timestamp",
    "member": "boolean",
    "pay": "numeric(9,2)",
    "weight": "float8",
    "size": "real",
    "ill": "text",
    "dose": "float8",
}
KEYS = [["number"], ["town", "born", "member"], [*POSTGRES][:8]]
SECRETS = ["dose", "ill"]
SMALL = 8192  # bytes of a sketch that has no room for all classes


def typed_columns(records: int, seed: int = 0) -> dict[str, list[Any]]:
    """Columns of values with the types of `POSTGRES`, each sometimes missing."""
    random = Random(seed)
    towns = ["Köln", "", "a:b", "5:Köln", "it's", 'say "x"', "東京", "x" * 70, "34", "34.0", "-"]
    floats = [0.1, -0.0, 0.0, 1e-7, 1.5e300, 123456789.0, 1e16, 2**60 + 0.0, -2.5, 1 / 3, 34.0]
    makers: dict[str, Callable[[], Any]] = {
        "number": lambda: random.choice([random.randrange(-300, 900), 2**62, -(2**62)]),
        "town": lambda: random.choice(towns),
        "born": lambda: datetime.date(1900, 2, 27) + datetime.timedelta(random.randrange(40000)),
        "seen": lambda: (
            datetime.datetime(2024, 2, 28)
            + datetime.timedelta(
                microseconds=random.choice([0, 10**6, 1500000, random.randrange(10**12)])
            )
        ),
        "member": lambda: random.random() < 0.5,
        "pay": lambda: Decimal(random.randrange(-1000, 1000)) / 100,
        "weight": lambda: random.choice([*floats, random.gauss(70, 10)]),
        "size": lambda: random.choice([0.5, 1.0, 2.25, 34.0, 100.125]),
        "ill": lambda: random.choice(["flu", "hiv", "Grippe", "ü", ""]),
        "dose": lambda: random.choice([1.0, 2.5, 1e-5]),
    }
    return {
        name: [None if random.random() < 0.02 else make() for _ in range(records)]
        for name, make in makers.items()
    }


def arrow_table(columns: dict[str, list[Any]]) -> Any:
    """The same as a table of Arrow's."""
    import pyarrow

    kinds = {"pay": pyarrow.decimal128(9, 2), "size": pyarrow.float32()}
    return pyarrow.table({n: pyarrow.array(v, kinds.get(n)) for n, v in columns.items()})
