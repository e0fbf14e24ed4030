"""The macros of the dbt package without dbt: rendered with jinja2, and tables to run them on."""

from __future__ import annotations

import re
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

import duckdb
from jinja2 import Environment

import sievert

PACKAGE = Path(__file__).parents[1] / "integrations" / "dbt"
VALUES = (None, "", " ", "a", "A", "a ", "é", "*", "1", "01")
QUASI = (["zip code", "select", "age"], ["zip code", "select"], ["zip code"], ["select", "age"])
TYPES = {"age": "integer"}
LIMITS = {"k": 2, "l": 2, "share": 0.25}


def macros() -> SimpleNamespace:
    """The macros as functions that give SQL; tests are called test_NAME, as in dbt."""
    text = "".join(path.read_text() for path in sorted((PACKAGE / "macros").glob("*.sql")))
    text = re.sub(r"{% test (\w+)", r"{% macro test_\1", text).replace("endtest", "endmacro")
    package = SimpleNamespace()
    environment = Environment(autoescape=False)
    environment.globals |= {
        "sievert": package,
        "adapter": SimpleNamespace(quote=lambda name: '"' + name.replace('"', '""') + '"'),
        "dbt": SimpleNamespace(type_string=lambda: "varchar"),
    }
    module = environment.from_string(text).module
    vars(package).update({n: m for n, m in vars(module).items() if not n.startswith("_")})
    return package


def random_table(r: Random) -> dict[str, list[Any]]:
    """Some people with missing values, blanks, other cases, marks, numbers, and names to quote."""
    people = r.choice((1, 2, 5, 20, 60))
    kinds = [r.sample(VALUES, r.randint(1, len(VALUES))) for _ in range(2)]
    table: dict[str, list[Any]] = {
        "zip code": [r.choice(kinds[0]) for _ in range(people)],
        "select": [r.choice(kinds[1]) for _ in range(people)],
        "age": [r.choice((None, 1, 2)) for _ in range(people)],
        "ill": [r.choice((None, "flu", "Flu", "", "hiv")) for _ in range(people)],
    }
    table["age"][0] = 1  # a column of missing values only has no type
    return table


def load(connection: duckdb.DuckDBPyConnection, table: dict[str, list[Any]]) -> None:
    """Write a table into the database, as `release`."""
    columns = ", ".join(f'"{c}" {TYPES.get(c, "varchar")}' for c in table)
    connection.execute(f"create or replace table release ({columns})")
    rows = list(zip(*table.values(), strict=True))
    if rows:
        connection.executemany(f"insert into release values ({', '.join('?' * len(table))})", rows)


def as_assessed(table: dict[str, list[Any]], quasi: list[str]) -> dict[str, Any]:
    """The same numbers by `assess`, and whether each limit is met; nothing where there is none."""
    policy = {
        "roles": {"rows_are_people": True, "ignored": {c: "-" for c in table if c not in quasi}},
        "limits": {"reidentification": {"k_anonymity": {"min": LIMITS["k"]}}},
    }
    del policy["roles"]["ignored"]["ill"]  # type: ignore[attr-defined]
    policy["limits"]["reidentification"]["unique_records"] = {"max": LIMITS["share"]}
    policy["limits"]["inference"] = {"ill": {"l_diversity": {"min": LIMITS["l"]}}}
    try:
        result = sievert.assess(table, quasi, ["ill"], policy=policy, quick=True)
    except sievert.SievertError:
        return {}
    k, alone = (result.reidentification[m] for m in ("k_anonymity", "unique_records"))
    values = result.inference["ill"]["l_diversity"]
    assert result.policy is not None
    gate = all(reason.met is True for reason in result.policy.reasons)
    return {
        "k": k.value,
        "uniques": alone.details["records"],
        "l": values.value,
        "l_without_missing": values.details.get("without_missing", values.value),
        "suppressed": result.table["suppressed"],
        "met": {v.measure: v.met is True and gate for v in result.policy.verdicts},
    }
