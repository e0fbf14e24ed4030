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
from sievert.formatting.canonical import canonical_text

PACKAGE = Path(__file__).parents[2] / "integrations" / "dbt"
VALUES = (None, "", " ", "a", "A", "a ", "é", "*", "1", "01")
QUASI = (["zip code", "select", "age"], ["zip code", "select"], ["zip code"], ["select", "age"])
TYPES = {"age": "double"}
LETTERS = "aAeE \u0301\u200b\u00adßsſﬂ\t\u00a0-–µμΣσςK01.,+"
RESPELT = (  # of each the values of one secret
    *(("flu", "Flu"), ("flu", "flu\u200b"), ("é", "e\u0301"), ("a b", "a  b"), ("a b", "a\u00a0b")),
    *(("7", "7.0"), ("7", "07"), ("7", "+7"), ("0.5", ".50"), ("7", "7,00"), ("x-y", "x–y")),
    *(("31.12.1999", "1999-12-31"), ("1999-12-31", "1999-12-31 00:00:00"), ("ﬂu", "flu")),
    *(("straße", "STRASSE"), ("grippe ü", "Grippe Ü"), ("2", "２"), ("flu", "f\u00adlu")),
    *(("flu", "cold"), ("Grippe ü", "Husten"), ("7", "70"), ("1", "10"), ("3/4/1999", "4/3/1999")),
)
PARENTS: dict[str, tuple[str, ...]] = {"redshift": ("postgres",)}
LIMITS = {"k": 2, "l": 2, "share": 0.25}


def macros(database: str = "duckdb") -> SimpleNamespace:
    """The macros as functions that give SQL; tests are called test_NAME, as in dbt.

    As in dbt, a macro may be written for one `database`, or else for its parent, or for all.
    """
    text = "".join(path.read_text() for path in sorted((PACKAGE / "macros").glob("*.sql")))
    text = re.sub(r"{% test (\w+)", r"{% macro test_\1", text).replace("endtest", "endmacro")
    package = SimpleNamespace()
    environment = Environment(autoescape=False)

    def dispatch(name: str, package_name: str) -> Any:
        assert package_name == "sievert"
        known = vars(package)
        prefixes = [database, *PARENTS.get(database, ()), "default"]
        return next(known[f"{p}__{name}"] for p in prefixes if f"{p}__{name}" in known)

    environment.globals |= {
        "sievert": package,
        "adapter": SimpleNamespace(
            quote=lambda name: '"' + name.replace('"', '""') + '"', dispatch=dispatch
        ),
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


def respelt_table(r: Random) -> dict[str, list[Any]]:
    """Some people whose secrets are spelt in several ways, and with missing ages that are NaN."""
    people = r.choice((4, 8, 20, 60))
    secrets = r.choice(RESPELT)
    more = r.choice(((), (None,), ("asthma",), ("asthma", "gout")))
    ages = r.choice(((1.0, 2.0), (1.0, None), (float("nan"), None), (1.0, float("nan"), None)))
    return {
        "zip code": [r.choice(("1", "2")) for _ in range(people)],
        "age": [r.choice(ages) for _ in range(people)],
        "ill": [r.choice((*secrets, *more)) for _ in range(people)],
    }


def find_unsafe(rows: list[tuple[str, int, str]]) -> list[str]:
    """The canonical texts of compared values that have more than one folded text."""
    folded: dict[str, set[str]] = {}
    for given, comparable, text in rows:
        if comparable:
            folded.setdefault(canonical_text(given), set()).add(text)
    return [text for text, found in folded.items() if len(found) > 1]


def spelt_texts(r: Random) -> list[str]:
    """Numbers, days and words that have the rules of canonical texts at their edges."""
    ends = ("", ".", ".0", ".5", ".50", ".05", ",", ",0", ",00", ",000")
    starts = ("", "0", "00", "7", "07", "70", "10")
    numbers = [f"{s}{w}{e}" for s in ("", "+", "-") for w in starts for e in ends]
    times = ("", " 00:00", "T00:00:00.0Z", " 00:00:00 +00:00", " 00:01")
    parts = ("1", "01", "12", "13", "31", "99", "0")
    days = [f"{a}{s}{b}{s}1999{t}" for a in parts for b in parts for s in "./-" for t in times]
    days += [f"1999{s}{a}{s}{b}{t}" for a in parts for b in parts for s in "./-" for t in times]
    words = ["".join(r.choices(LETTERS, k=r.randint(0, 5))) for _ in range(20_000)]
    return sorted({*numbers, *days, *words})


def load(connection: duckdb.DuckDBPyConnection, table: dict[str, list[Any]]) -> None:
    """Write a table into the database, as `release`."""
    columns = ", ".join(f'"{c}" {TYPES.get(c, "varchar")}' for c in table)
    connection.execute(f"create or replace table release ({columns})")
    rows = list(zip(*table.values(), strict=True))
    if rows:
        connection.executemany(f"insert into release values ({', '.join('?' * len(table))})", rows)


def as_assessed(table: dict[str, list[Any]], quasi: list[str]) -> dict[str, Any]:
    """The same numbers by `assess`, and whether each limit is met; nothing where there is none."""
    policy: dict[str, dict[str, Any]] = {
        "roles": {"rows_are_people": True, "ignored": {c: "-" for c in table if c not in quasi}},
        "limits": {"reidentification": {"k_anonymity": {"min": LIMITS["k"]}}},
    }
    del policy["roles"]["ignored"]["ill"]
    policy["limits"]["reidentification"]["unique_records"] = {"max": LIMITS["share"]}
    policy["limits"]["inference"] = {"ill": {"l_diversity": {"min": LIMITS["l"]}}}
    try:
        result = sievert.assess(table, quasi, ["ill"], policy=policy, quick=True, planned=True)
    except sievert.SievertError:
        return {}
    k, alone = (result.reidentification[m] for m in ("k_anonymity", "unique_records"))
    values = result.inference["ill"]["l_diversity"]
    assert result.policy is not None
    # The macros of k and of unique people know no secret: how it is spelt is up to that of l.
    about_secrets = ("spelt_differently", "spellings_not_compared")
    against = [r.what for r in result.policy.reasons if r.met is not True]
    others = [what for what in against if what not in about_secrets]
    gates = {"l_diversity": not against}
    return {
        "k": k.value,
        "uniques": alone.details["records"],
        "l": values.value,
        "l_without_missing": values.details.get("without_missing", values.value),
        "suppressed": result.table["suppressed"],
        "met": {
            measure: gates.get(measure, not others)
            and all(v.met is True for v in result.policy.verdicts if v.measure == measure)
            for measure in ("k_anonymity", "l_diversity", "unique_records")
        },
    }
