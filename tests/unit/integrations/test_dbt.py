"""The dbt package gives the integers of `assess`: its macros, rendered without dbt, in DuckDB.

`tests/soak/test_integrations.py` does the same with dbt itself.
"""

from __future__ import annotations

from random import Random
from typing import Any

import duckdb
import pyarrow
import pytest
from helpers import dbtmacros

import sievert
from sievert.formatting.canonical import canonical_text


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


def test_no_test_of_dbt_asks_about_a_plan() -> None:
    """They are about the table as it is."""
    macros = dbtmacros.macros()
    for test, limit in (("k_anonymity", "at_least"), ("unique_share", "at_most")):
        with pytest.raises(TypeError, match="planned"):
            getattr(macros, f"test_{test}")("release", ["age"], planned=True, **{limit: 1})


def test_nan_is_missing_and_spellings_are_undecided() -> None:
    """NaN beside NULL, or flu beside FLU, looked like two values of a secret."""
    macros, connection = dbtmacros.macros(), duckdb.connect(config={"threads": 1})
    connection.execute("create table release (zip varchar, pay double, ill varchar)")
    rows = [("1", float("nan"), "flu"), ("1", None, "flu "), ("1", float("nan"), "FLU")]
    connection.executemany("insert into release values (?, ?, ?)", rows)
    assert row(connection, macros.l_diversity_of("release", ["zip"], "pay"))["l"] == 1
    assert connection.execute(macros.test_l_diversity("release", ["zip"], "pay", 2)).fetchall()
    assert connection.execute(macros.test_l_diversity("release", ["zip"], "ill", 2)).fetchall()
    differ = macros.test_l_diversity("release", ["zip"], "ill", 2, distinct_spellings=True)
    assert not connection.execute(differ).fetchall()
    table = {"zip": ["1"] * 3, "pay": [float("nan"), None, float("nan")]}
    assert sievert.l_diversity(table, "zip", "pay") == 1


# -- NaN and spellings, as `assess` reads them -----------------------------------------------------


def not_a_number(kind: str) -> duckdb.DuckDBPyConnection:
    """Two people with NaN and one whose pay is missing, and each has another secret."""
    connection = duckdb.connect(config={"threads": 1})
    connection.execute(f"create table release (pay {kind}, ill varchar)")
    rows = [(float("nan"), "flu"), (float("nan"), "cold"), (None, "gout")]
    connection.executemany("insert into release values (?, ?)", rows)
    return connection


@pytest.mark.parametrize("kind", ["double", "float"])
def test_nan_is_missing_in_a_quasi_identifier(kind: str) -> None:
    """A person whose pay is NULL was alone beside NaN; `assess` has one class of missing pay."""
    macros, connection = dbtmacros.macros(), not_a_number(kind)
    assert row(connection, macros.k_anonymity_of("release", ["pay"]))["k"] == 3
    assert row(connection, macros.unique_share_of("release", ["pay"]))["uniques"] == 0
    assert sievert.k_anonymity({"pay": [float("nan"), float("nan"), None]}, "pay") == 3


def test_the_text_nan_is_a_value() -> None:
    macros, connection = dbtmacros.macros(), duckdb.connect(config={"threads": 1})
    connection.execute("create table release (zip varchar, ill varchar)")
    connection.execute("insert into release values ('nan', 'nan'), ('nan', null), (null, 'nan')")
    assert row(connection, macros.k_anonymity_of("release", ["zip"]))["k"] == 1
    assert sievert.k_anonymity({"zip": ["nan", "nan", None]}, "zip") == 1
    for database in ("snowflake", "redshift"):  # text or not: the safer reading
        other = dbtmacros.macros(database)
        assert row(connection, other.k_anonymity_of("release", ["zip"]))["k"] == 1
        secrets = f"select count({other.without_nan('ill', True)}) as known from release"
        assert row(connection, secrets)["known"] == 0


@pytest.mark.slow
@pytest.mark.parametrize("database", ["duckdb", "snowflake"])
def test_a_macro_passes_only_if_assess_does(database: str) -> None:
    """On random tables whose secrets are spelt in several ways; NaN and NULL are both missing."""
    macros, connection = dbtmacros.macros(database), duckdb.connect(config={"threads": 1})
    limits, passed, undecided = dbtmacros.LIMITS, 0, 0
    for seed in range(120):
        table, quasi = dbtmacros.respelt_table(Random(seed)), ["zip code", "age"]
        dbtmacros.load(connection, table)
        expected = dbtmacros.as_assessed(table, quasi)["met"]
        tests = {
            "k_anonymity": macros.test_k_anonymity("release", quasi, limits["k"]),
            "l_diversity": macros.test_l_diversity("release", quasi, "ill", limits["l"]),
            "unique_records": macros.test_unique_share("release", quasi, limits["share"]),
        }
        for measure, sql in tests.items():
            met = not connection.execute(sql).fetchall()
            assert expected[measure] or not met, (measure, table)
            passed += met and measure == "l_diversity"
            undecided += expected[measure] and not met
            if database == "duckdb" and {"ﬂu", "２"}.isdisjoint(table["ill"]):
                assert met == expected[measure], (measure, table)
    assert passed > 5 and (undecided or database == "duckdb")


@pytest.mark.slow
@pytest.mark.parametrize("database", ["duckdb", "snowflake"])
def test_no_two_spellings_of_a_value_are_taken_for_different(database: str) -> None:
    """Of every character, and of numbers, days and words; what is not compared is no danger.

    The canonical text of each stands beside it: № is No.
    """
    macros, connection = dbtmacros.macros(database), duckdb.connect(config={"threads": 1})
    every = [f"a{chr(code)}b" for code in range(1, 0x10000) if not 0xD800 <= code < 0xE000]
    spelt = [*every, *dbtmacros.spelt_texts(Random("spellings"))]
    beside = [canonical_text(text) for text in spelt]
    given = pyarrow.table({"given": [*dict.fromkeys((*spelt, *beside))]})
    connection.register("texts", given)
    sql = vars(macros)["default__folded_values"]("select given from texts")
    if database == "duckdb":
        sql = vars(macros)["duckdb__folded_values"]("select given from texts")
    rows = connection.execute(f"select given, comparable, folded from ({sql}) as f").fetchall()
    assert len(rows) == given.num_rows and dbtmacros.find_unsafe(rows) == []
    assert sum(comparable for _, comparable, _ in rows) > (30_000 if database == "duckdb" else 500)


def test_words_with_accents_are_compared() -> None:
    """Only in one spelling each: such a column does not need distinct_spellings."""
    macros, connection = dbtmacros.macros(), duckdb.connect(config={"threads": 1})
    words = ("Grippe ü", "Ärger – sehr", "грипп", "γρίπη", "感冒", "かぜ", "rhume «été»", "grypa ł")
    rows = [("1", word) for word in words]
    connection.execute("create table release (zip varchar, ill varchar)")
    connection.executemany("insert into release values (?, ?)", rows)
    assert not connection.execute(macros.test_l_diversity("release", ["zip"], "ill", 8)).fetchall()
    connection.execute("insert into release values ('1', 'grippe u\u0308')")
    failed = row(connection, macros.test_l_diversity("release", ["zip"], "ill", 8))
    assert (failed["spelt_differently"], failed["not_compared"]) == (1, 0)
    connection.execute("update release set ill = 'm²' where ill = 'grippe u\u0308'")
    failed = row(connection, macros.test_l_diversity("release", ["zip"], "ill", 8))
    assert (failed["spelt_differently"], failed["not_compared"]) == (0, 1)
    differ = macros.test_l_diversity("release", ["zip"], "ill", 8, distinct_spellings=True)
    assert not connection.execute(differ).fetchall()
