"""The dbt package gives the integers of `assess`: its macros, rendered without dbt, in DuckDB.

`tests/soak/test_integrations.py` does the same with dbt itself.
"""

from __future__ import annotations

from random import Random
from typing import Any

import dbtmacros
import duckdb
import pytest


def row(connection: duckdb.DuckDBPyConnection, sql: str) -> dict[str, Any]:
    result = connection.execute(sql)
    names = [column[0] for column in result.description]
    (only,) = result.fetchall()
    return dict(zip(names, only, strict=True))


@pytest.mark.slow
def test_the_macros_give_the_integers_of_assess() -> None:
    macros, connection, compared = dbtmacros.macros(), duckdb.connect(config={"threads": 1}), 0
    limits = dbtmacros.LIMITS
    for seed in range(40):
        r = Random(seed)
        table, quasi = dbtmacros.random_table(r), r.choice(dbtmacros.QUASI)
        dbtmacros.load(connection, table)
        expected = dbtmacros.as_assessed(table, quasi)
        k = row(connection, macros.k_anonymity_of("release", quasi))
        l = row(connection, macros.l_diversity_of("release", quasi, "ill"))  # noqa: E741
        alone = row(connection, macros.unique_share_of("release", quasi))
        tests = {
            "k_anonymity": macros.test_k_anonymity("release", quasi, limits["k"]),
            "l_diversity": macros.test_l_diversity("release", quasi, "ill", limits["l"]),
            "unique_records": macros.test_unique_share("release", quasi, limits["share"]),
        }
        passed = {name: not connection.execute(sql).fetchall() for name, sql in tests.items()}
        if not expected:  # every record is suppressed
            assert k["k"] is l["l"] is alone["uniques"] is None and not any(passed.values())
            continue
        compared += 1
        assert passed == expected["met"]
        assert k == {
            "k": expected["k"],
            "records": len(table["ill"]),
            "suppressed": expected["suppressed"],
        }
        assert (alone["uniques"], alone["people"]) == (
            expected["uniques"],
            len(table["ill"]) - expected["suppressed"],
        )
        known = [expected["l"], expected["l_without_missing"]]
        assert [l["l"], l["l_without_missing"]] == known
    assert compared > 30


def test_no_records_and_kept_marks() -> None:
    macros, connection = dbtmacros.macros(), duckdb.connect()
    dbtmacros.load(connection, {"zip code": [], "select": [], "age": [], "ill": []})
    for sql in (
        macros.test_k_anonymity("release", ["age"], 1),
        macros.test_l_diversity("release", ["age"], "ill", 1),
        macros.test_unique_share("release", "age", 1),
    ):
        assert len(connection.execute(sql).fetchall()) == 1  # nothing was measured: not met
    dbtmacros.load(connection, {"zip code": ["*", "a", "a", "a"], "select": ["*"] * 4})
    quasi = ["zip code", "select"]
    assert row(connection, macros.k_anonymity_of("release", quasi))["k"] == 3
    assert row(connection, macros.k_anonymity_of("release", quasi, False))["k"] == 1
    with pytest.raises(Exception, match="exceptions"):  # dbt's own, which is not here
        macros.k_anonymity_of("release", [])
