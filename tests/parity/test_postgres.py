"""Tables of a Postgres database: the same JSON as from DuckDB, and failures in our own words."""

from __future__ import annotations

import csv
import datetime
import json
import math
import random
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import duckdb
import pyarrow
import pytest
from helpers import dbtmacros, enginereleases, ledgerparity, sketchtables, spellingtables
from helpers.commandline import command_line, environment, run_process
from helpers.effort import tried
from helpers.postgresserver import LACKING, Server, binaries
from helpers.randomtables import case, mark_suppressed
from helpers.roworder import without_order
from helpers.suppressedoracle import limits_on_classes

import sievert
from sievert import session
from sievert.counts.postgres import reading, transfer
from sievert.counts.postgres.adapter import Postgres
from sievert.errors import (
    EngineError,
    ExhaustedError,
    InputError,
    SievertError,
    UsageError,
)
from sievert.session import open_source

EXAMPLES = Path(__file__).parents[2] / "examples"
ODD = (
    'a"; DROP TABLE x; --', "ünï cödé", "select", "a.b", " blank", "tab\tname", "line\nend",
    "it's", "%s %(x)s", "{}", "back\\slash", "\N{PILE OF POO}", "x" * 63, "?", "c1", "N",
)  # fmt: skip
TOWNS = {"town": ["Köln", "Bonn", "Köln", None, "", "Bonn"], "age": [34, 71, 34, 34, 71, 19],
         "ill": ["flu", "hiv", "flu", "asthma", "flu", "flu"]}  # fmt: skip
TYPES = ("text", "int", "text")


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    """One for each process that runs tests."""
    programs = binaries()
    if programs is None:
        pytest.skip(LACKING)
    found = Server(programs)
    yield found
    found.stop()


@pytest.fixture(autouse=True)
def no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PGPASSWORD", "PGHOST", "PGUSER", "PGOPTIONS", "PGSERVICE", "PGPASSFILE"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def towns(server: Server) -> str:
    return server.load("towns", TOWNS, TYPES)


def through_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cells arrive in a file, as those of a large table do."""
    monkeypatch.setattr(transfer, "FEW", 0)


def told(result: sievert.Assessment, *, source: bool = False) -> str:
    """An assessment as text, but for what the source is called."""
    whole = result.to_dict()
    table = whole.pop("table")
    if source:
        other = ("name", "kind", "engine", "delimiter", "encoding", "verified")
        whole["table"] = {k: v for k, v in table.items() if k not in other}
        whole = without_order(whole)
    return json.dumps(whole, sort_keys=True, ensure_ascii=False)


def attempt(work: Callable[[], str]) -> str:
    try:
        return work()
    except SievertError as error:
        return f"{type(error).__name__}: {error}"


# -- the same numbers ---------------------------------------------------------------------------


def copied(server: Server, path: Path, name: str, delimiter: str = ",") -> str:
    """A CSV file as a table of text, loaded by the database."""
    with path.open(encoding="utf-8", newline="") as file:
        columns = next(csv.reader(file, delimiter=delimiter))
    address = server.load(name, {c: [] for c in columns})
    how = f"(FORMAT csv, HEADER, DELIMITER '{delimiter}')"
    with server.admin.cursor() as cursor, cursor.copy(f'COPY "{name}" FROM STDIN {how}') as copy:
        copy.write(path.read_bytes())
    return address


@pytest.mark.parametrize("missing", ["value", "drop"])
def test_the_hospital(server: Server, tmp_path: Path, missing: str) -> None:
    path, ladders = tmp_path / "hospital.csv", tmp_path / "ladders"
    program = [sys.executable, EXAMPLES / "hospital.py", path, "--hierarchies", ladders]
    subprocess.run(program, check=True, timeout=60)
    options: dict[str, Any] = {
        "policy": EXAMPLES / "hospital_policy.toml",
        "types": {"length_of_stay": "int", "age": "float"},
        "hierarchies": {"diagnosis": ladders / "diagnosis.csv"},
        "na": ["60", "HIV", "3.0"],
        "missing": missing,
    }
    address = copied(server, path, "hospital")
    there, here = sievert.assess(address, **options), sievert.assess(path, **options)
    assert there.table["engine"] == "postgres" and there.table["kind"] == "postgres"
    assert there.policy is not None and "rows have no order here" in str(there.policy.rests_on)
    assert told(there, source=True) == told(here, source=True)


def test_adult(server: Server, reference: Path) -> None:
    path = reference / "data" / "adult" / "adult.csv"
    address = copied(server, path, "adult", ";")
    quasi, secrets = ["sex", "race", "marital-status", "education"], ["occupation", "salary-class"]
    for roles in (([*quasi, "age"], secrets), (quasi, [*secrets, "age"])):
        for options in ({}, {"types": {"age": "int"}}):
            there, here = (sievert.assess(data, *roles, **options) for data in (address, path))
            assert told(there, source=True) == told(here, source=True)


def test_spellings(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """Persons and secrets that coincide canonically: both readings, and the same verdicts."""
    address = server.load("spelt", spellingtables.TABLE, spellingtables.TYPES)
    for size in (10_000, 0):  # cells through memory, and through a file
        monkeypatch.setattr(transfer, "FEW", size)
        there, here = (
            spellingtables.judged(sievert.assess(data, policy=spellingtables.POLICY))
            for data in (address, spellingtables.TABLE)
        )
        assert there == here and there["policy"]["met"] is False
        assert there["policy"]["spellings"] == {"ill": 7, "key": 40}
    values = server.load("spelt_values", {"v": spellingtables.VALUES})
    spellingtables.check_values(values, monkeypatch)


def test_many_secrets_counted_together(server: Server) -> None:
    chance = random.Random(1)
    names = [f"s{i}" for i in range(33)]
    columns = {c: [chance.choice(["a", "b", None]) for _ in range(9)] for c in ["q", *names]}
    address = server.load("wide", columns)
    there, here = (sievert.assess(data, ["q"], names) for data in (address, columns))
    assert told(there, source=True) == told(here, source=True)


@pytest.mark.parametrize("part", range(8))
def test_random_tables(server: Server, part: int, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(25 * part, 25 * part + tried(10, soak=25)):
        if number % 25 == 8:
            through_a_file(monkeypatch)
        chance = random.Random(number)
        found = case(chance)
        names = dict(zip(found.columns, chance.sample(ODD, len(found.columns)), strict=True))
        columns = {names[c]: values for c, values in found.columns.items()}
        secret = names[found.secret]
        options: dict[str, Any] = {
            "orders": {secret: found.order},
            "hierarchies": {secret: found.ladder} if None not in columns[secret] else {},
            "partitions": {secret: found.partition},
            "parameters": {"recursive_c": {"l": found.l}, "alpha_k": {"value": found.named}},
            "missing": chance.choice(("value", "value", "drop", "wildcard", "error")),
            "na": chance.choice(((), (), ("NULL", "é"))),
        }
        quasi = [names[q] for q in found.quasi]
        address = server.load(f"random {number}", columns).replace(" ", "%20")

        def run_on(
            data: Any,
            quasi: list[str] = quasi,
            secret: str = secret,
            options: dict[str, Any] = options,
        ) -> str:
            return told(sievert.assess(data, quasi, secret, **options), source=True)

        assert attempt(lambda: run_on(address)) == attempt(lambda: run_on(columns)), number  # noqa: B023
        if number % 5 == 0:
            assert combinations(address, [*quasi, secret]) == combinations(
                columns, [*quasi, secret]
            )


def test_how_often_the_database_is_asked(towns: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The work is counted: the records are read once to number them and once for all secrets."""
    asked: list[str] = []
    real_ask, real_lines = Postgres.ask, reading.lines

    def ask(engine: Any, sql: str, *given: Any) -> Any:
        asked.append(sql)
        return real_ask(engine, sql, *given)

    def lines(cursor: Any, sql: str) -> Any:
        asked.append(sql)
        return real_lines(cursor, sql)

    monkeypatch.setattr(Postgres, "ask", ask)
    monkeypatch.setattr(reading, "lines", lines)
    sievert.assess(towns, ["town"], ["ill", "age"])
    assert [sql.split()[0] for sql in asked if "FROM input" in sql] == ["WITH", "COPY"]
    assert len(asked) == 6  # the snapshot, the table, its columns, who may see it


@pytest.mark.parametrize("missing", ["value", "drop"])
def test_key_sets(server: Server, missing: str) -> None:
    """Each set leaves out records of its own: what one has left out is back for the next."""
    table = {
        "town": ["Bonn", "*", "*", None, "Bonn", "Ulm"],
        "age": ["34", "*", "71", "34", "*", "34"],
        "sex": ["m", "*", "*", "f", None, "f"],
        "ill": ["flu", "hiv", "flu", "asthma", "flu", "flu"],
    }
    sets = [("town", "age"), ("sex",), ("town", "sex"), ("age",)]
    address = server.load("key sets", table).replace(" ", "%20")
    options: dict[str, Any] = {"sensitive": "ill", "key_sets": sets, "missing": missing}
    there = sievert.assess(address, **options)
    assert told(there, source=True) == told(sievert.assess(table, **options), source=True)
    for key_set, each in zip(sets, there.key_sets, strict=True):
        alone = sievert.assess(address, key_set, "ill", missing=missing)
        assert each.reidentification == alone.reidentification
        assert each.inference == alone.inference


@pytest.mark.parametrize("mark", ["*", "it's %s \\ é?", "a", None])
def test_suppressed_records(server: Server, mark: str | None) -> None:
    for number in range(3):
        chance = random.Random(f"suppressed {number} {mark}")
        found = mark_suppressed(case(chance), chance, mark)
        address = server.load(f"suppressed {number}", found.columns).replace(" ", "%20")
        options: dict[str, Any] = {"suppressed": mark, "keep_suppressed": number == 2}

        def run_on(data: Any, found: Any = found, options: dict[str, Any] = options) -> str:
            return told(sievert.assess(data, found.quasi, found.secret, **options), source=True)

        there = attempt(lambda: run_on(address))  # noqa: B023
        assert there == attempt(lambda: run_on(found.columns)), number  # noqa: B023
        assert '"suppressed": 0' not in there
        people = {**found.columns, "who": ["p1", "p2", None] * (1 + len(found.rows) // 3)}
        people["who"] = people["who"][: len(found.rows)]
        address = server.load(f"suppressed people {number}", people).replace(" ", "%20")
        for person in (None, "who"):
            rules = limits_on_classes(found.quasi, found.secret, person=person, mark=mark)
            rules["roles"]["ignored"] = {} if person else {"who": "not released"}
            options |= {"policy": rules, "quick": True}
            there = attempt(lambda: run_on(address))  # noqa: B023
            assert there == attempt(lambda: run_on(people)), number  # noqa: B023
            assert ('"scope": "suppressed"' in there) == (number < 2 and "Error" not in there)


def test_explain(server: Server) -> None:
    chance = random.Random(5)
    columns = {
        "zip": [str(chance.randrange(40)) for _ in range(500)],
        "age": [chance.choice((None, *map(str, range(30)))) for _ in range(500)],
        "sex": [chance.choice("fm") for _ in range(500)],
        "disease": [chance.choice("abcde") for _ in range(500)],
    }
    address = server.load("explained", columns)

    def explained(data: Any) -> dict[str, Any]:
        found = sievert.explain(data, ["zip", "age", "sex"], "disease", fraction=0.1).to_dict()
        # A database numbers no records.
        scores = sorted(r["suda_score"] for r in found.pop("records")["riskiest"])
        return {k: v for k, v in found.items() if k not in ("table", "warnings")} | {"s": scores}

    assert explained(address) == explained(columns)


def test_states(server: Server, tmp_path: Path) -> None:
    """Counted in the database, a state is that of the same columns here, and both add up."""
    columns: dict[str, list[Any]] = {
        "town": ["Köln", "Bonn", "Köln", None, "", "Bonn"],
        "age": [34, 71, 34, 34, 71, None],
        "pay": [0.1, math.nan, -0.0, 0.0, None, 1e300],
        "day": ["2020-02-29", None, "1999-12-31", "2020-02-29", "2020-02-29", "2020-02-29"],
        "ill": ["flu", "hiv", "flu", "asthma", "flu", "flu"],
    }
    address = server.load("stated", columns, ("text", "bigint", "float8", "date", "text"))
    roles = ["town", "age", "day"], ["ill", "pay"]
    for person in (None, "ill"):
        quasi, secrets = roles if person is None else (roles[0], ["pay"])
        options: dict[str, Any] = {"person": person}
        sievert.count(address, quasi, secrets, out=tmp_path / "state", force=True, **options)
        whole = sievert.assess(address, quasi, secrets, **options).to_dict()
        ours = sievert.assess(tmp_path / "state").to_dict()
        assert json.dumps(ours, sort_keys=True) == json.dumps(whole, sort_keys=True)
    sievert.count(address, *roles, out=tmp_path / "state", force=True)
    sievert.update(tmp_path / "state", add=[address, address], remove=address, again=True)
    assert sievert.assess(tmp_path / "state").rows == 12
    days = [None if d is None else datetime.date.fromisoformat(d) for d in columns["day"]]
    here = pyarrow.table({**columns, "day": pyarrow.array(days, pyarrow.date32())})
    sievert.update(tmp_path / "state", remove=here)
    assert told(sievert.assess(tmp_path / "state")) == told(sievert.assess(address, *roles))


def test_wildcards_weights_and_nan(server: Server, tmp_path: Path) -> None:
    chance = random.Random(7)
    columns: dict[str, list[Any]] = {
        "zip": [chance.choice((None, *"abc")) for _ in range(60)],
        "age": [chance.choice((None, *"12")) for _ in range(60)],
        "w": [chance.choice(("1", "2.5", "1e19", "1.000000001")) for _ in range(60)],
        "x": [chance.choice(("nan", None, "1.5", "2.5")) for _ in range(60)],
    }
    address, quasi = server.load("weighted", columns), ["zip", "age"]
    options: dict[str, Any] = {"missing": "wildcard", "alpha": "0.3", "weight": "w"}

    def numbers(data: Any) -> list[dict[str, Any]]:
        wild = sievert.assess(data, quasi, "x", **options).to_dict()
        explained = sievert.explain(data, quasi, "x", **options).to_dict()
        plain = sievert.assess(data, quasi, "x", types={"x": "float"}, na=["1.5"]).to_dict()
        return [
            {k: wild[k] for k in ("reidentification", "inference", "population")},
            explained["population"],
            plain["table"]["missing_values"],
        ]

    assert numbers(address) == numbers(columns)
    assert numbers(columns)[2]["x"]["not_a_number"] == columns["x"].count("nan")
    with pytest.raises(UsageError, match="--records"):
        sievert.explain(address, quasi, records=tmp_path / "r.csv", **options)


def test_compare(server: Server) -> None:
    chance = random.Random(6)
    original = {
        "id": [f"p{i}" for i in range(400)],
        "zip": [chance.choice((None, *map(str, range(9)))) for _ in range(400)],
        "sex": [chance.choice("fm") for _ in range(400)],
        "disease": [chance.choice("abcde") for _ in range(400)],
    }
    kept = [i for i in range(400) if i % 9]
    chance.shuffle(kept)
    release = {c: [values[i] for i in kept] for c, values in original.items()}
    release["zip"] = [
        None if z is None else "*" if z == "3" else f"{int(z) // 3}" for z in release["zip"]
    ]
    addresses = server.load("original_table", original), server.load("release_table", release)

    def compared(first: Any, second: Any) -> dict[str, Any]:
        found = sievert.compare(
            first, {"r": second}, ["zip", "sex"], "disease", key="id", shuffles=19
        ).to_dict()
        del found["table"], found["releases"][0]["table"]
        return without_order(found)

    assert compared(*addresses) == compared(original, release)
    assert compared(addresses[0], release) == compared(original, release)
    with pytest.raises(sievert.SievertError, match="--key"):
        sievert.compare(*addresses, ["zip", "sex"], "disease")


def combinations(data: Any, columns: list[str]) -> Any:
    with session.open_source(data) as (_, questions):
        cube = questions.cube(columns)
    return cube.values, cube.counts.tolist(), [c.tolist() for c in cube.codes]


# A type as Postgres and as DuckDB call it, and values that both write alike.
AWKWARD: dict[str, tuple[str, str, list[str | None]]] = {
    "bool": ("bool", "BOOLEAN", ["true", "false", None]),
    "int2": ("int2", "SMALLINT", ["-32768", "0", "7", None]),
    "int8": ("int8", "BIGINT", ["9223372036854775807", "-9223372036854775808", "9007199254740993"]),
    "float4": ("float4", "FLOAT", ["0.1", "1e6", "1234567", "16777216", "-0.0", "0", "nan", "inf",
                                   "1e-5", "3.4e38", "1e15", "1e16", "1e-45"]),
    "float8": ("float8", "DOUBLE", ["0.1", "0.30000000000000004", "1e15", "1234567890123456.5",
                                    "1e16", "12345678901234567", "1e-5", "0.0001", "-0.0", "0",
                                    "nan", "inf", "-inf", "5e-324", "1.7976931348623157e308", "34",
                                    "-1e15", "999999999999999.9", "123456789012345680"]),
    "decimal": ("numeric(10,2)", "DECIMAL(10,2)", ["1.5", "1.50", "-0.05", "12345678.90", None]),
    "fraction": ("numeric(3,3)", "DECIMAL(3,3)", ["0.5", "-0.25", "0"]),
    "long": ("numeric(38,10)", "DECIMAL(38,10)", ["1", "1234567890123456789012345678.0123456789"]),
    "date": ("date", "DATE", ["2020-02-29", "0044-03-15 (BC)", "infinity", "5874897-12-31", None]),
    "time": ("time", "TIME", ["10:00:00", "10:00:00.5", "23:59:59.999999", "00:00:00"]),
    "timestamp": ("timestamp", "TIMESTAMP", ["2020-01-01 10:00:00.1234", "-infinity", "1900-01-01",
                                             "0044-03-15 (BC) 10:00:00", "2020-01-01 10:00:00"]),
    "instant": ("timestamptz", "TIMESTAMPTZ", ["2020-01-01 10:00:00+02", "2020-01-01 08:00:00+00",
                                               "infinity", "2020-01-01 08:00:00.000001+00"]),
    "interval": ("interval", "INTERVAL", ["1 month", "30 days", "1 year 2 months 3 days 04:05:06.5",
                                          "-1 month", "1 month -1 days", "-00:00:01", "24:00:00"]),
    "uuid": ("uuid", "UUID", ["d9e91fcc-c3db-47d5-b091-ccc74c860e26", None]),
    "text": ("text", "VARCHAR", ["a", "A", "", " a", "a ", "\\N", "\\.", "a\tb", "a\\tb", "a\nb",
                                 "a\\nb", "a\r\nb", "\b\f\v\\\\", '"', "''", "é", "e\u0301", "ß",
                                 "\u2028", "\N{PILE OF POO}", "NULL", "\\", "\\x41", "n",
                                 "x" * 3_000_000, None]),
    "varchar": ("varchar(5)", "VARCHAR", ["ab", "ab ", None]),
}  # fmt: skip


@pytest.fixture(scope="module")
def awkward(server: Server, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same values, one table a type, in DuckDB files and in the database."""
    folder = tmp_path_factory.mktemp("awkward")
    for name, (there, here, values) in AWKWARD.items():
        (folder / name).mkdir()
        with duckdb.connect(str(folder / name / "t.db")) as connection:
            rows = (values * 2 + values[:1]) * 2
            keys = [str(i % 3) for i in range(len(rows))]
            connection.execute(f"CREATE TABLE {name} (k VARCHAR, v {here})")
            connection.execute(
                f"INSERT INTO {name} SELECT unnest(CAST(? AS VARCHAR[])), "
                f"CAST(unnest(CAST(? AS VARCHAR[])) AS {here})",
                [keys, rows],
            )
        spelled = [f"{v.replace(' (BC)', '')} BC" if v and "(BC)" in v else v for v in rows]
        server.load(name, {"k": keys, "v": spelled}, ["text", there])
    return folder


@pytest.mark.parametrize("name", AWKWARD)
@pytest.mark.parametrize("how", ["plain", "file", "na", "text", "int", "float", "date"])
def test_awkward_types(
    server: Server, awkward: Path, name: str, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    options: dict[str, Any] = {}
    if how == "file":
        through_a_file(monkeypatch)
    elif how == "na":
        codes = ["1.0", "0.1", "-0.0", "inf", "nan", "1000000000000000.0", "1000000.0", "-.25", "7",
                 "true", "1.50", "2020-02-29", "1900-01-01 00:00:00", "1 month", "10:00:00", "\\N",
                 "34.0", "1e+16", "0044-03-15 (BC)", "a\tb", "1e-45"]  # fmt: skip
        options["na"] = codes
    elif how != "plain":
        options["types"] = {"v": how}

    def run_on(data: str) -> str:
        seen: set[str] = set()

        def watch(step: str, questions: Any) -> None:
            if step == "counting classes" and not seen:  # first as spelt, then perhaps merged
                seen.add(f"{sorted(questions.values('v', ['v']))} {questions.distinct(['v'])}")

        found = sievert.assess(data, ["v"], ["k", "v"], watch=watch, **options)
        assert len(seen) == 1
        return f"{told(found, source=True)} {seen}"

    there = attempt(lambda: run_on(server.url(name)))
    here = attempt(lambda: run_on(f"{awkward / name / 't.db'}?table={name}"))
    assert there == here.replace("t.db", name)


def test_bytes(server: Server, tmp_path: Path) -> None:
    """Bytes that are no text, told apart."""
    values = [b"A", b"", b"\xff\x00", b"\\x41", None, b"a"] * 2 + [b"A"]
    keys = [str(i % 3) for i in range(13)]
    there = server.load("bytes", {"k": keys, "v": values}, ["text", "bytea"])
    with duckdb.connect(str(tmp_path / "t.db")) as connection:
        connection.execute("CREATE TABLE t (k VARCHAR, v BLOB)")
        connection.executemany("INSERT INTO t VALUES (?, ?)", list(zip(keys, values, strict=True)))
    found = [sievert.assess(x, ["k"], ["v"]) for x in (there, tmp_path / "t.db")]
    assert told(found[0], source=True) == told(found[1], source=True)


def test_types_that_only_postgres_has(server: Server) -> None:
    """Compared as text; what is not one plain value is refused, unless told to be text."""
    admin = server.admin
    admin.execute("CREATE TYPE mood AS ENUM ('sad', 'glad')")
    admin.execute("CREATE TYPE pair AS (a int, b int)")
    admin.execute("CREATE DOMAIN grade AS numeric(4,1) CHECK (VALUE > 0)")
    admin.execute("CREATE DOMAIN mark AS grade")
    admin.execute("CREATE DOMAIN many AS int[]")
    columns: dict[str, tuple[str, list[str], int, str]] = {
        "mood": ("mood", ["sad", "glad", "sad"], 2, "text"),
        "mark": ("mark", ["1", "1.0", "2.5"], 2, "ordered"),
        "number": ("numeric", ["1.0", "1.00", "NaN"], 2, "text"),
        "huge": ("numeric(50,2)", ["1.0", "1.00", "2"], 2, "text"),
        "round": ("numeric(3,-2)", ["100", "120", "300"], 2, "text"),
        "endless": ("numeric", ["Infinity", "1e40", "-0.0"], 3, "text"),
        "padded": ("char(4)", ["a", "a  ", " a"], 2, "text"),
        "letter": ('"char"', ["a", "b", "a"], 2, "text"),
        "address": ("inet", ["10.0.0.1", "10.0.0.1/32", "10.0.0.0/8"], 2, "text"),
        "bits": ("bit(3)", ["101", "101", "001"], 2, "text"),
        "clock": ("timetz", ["10:00+02", "08:00+00", "10:00+02"], 2, "ordered"),
        "number of": ("oid", ["1", "4294967295", "1"], 2, "ordered"),
        "list": ("int[]", ["{1}", "{1}", "{2}"], 2, "refused"),
        "json": ("json", ["{}", "{ }", "{}"], 2, "refused"),
        "jsonb": ("jsonb", ["{}", "{ }", "{}"], 1, "refused"),
        "pair": ("pair", ["(1,2)", "(1,2)", "(2,1)"], 2, "refused"),
        "many": ("many", ["{1}", "{1}", "{2}"], 2, "refused"),
        "range": ("int4range", ["[1,3]", "[1,4)", "[2,3]"], 2, "refused"),
        "point": ("point", ["(1,2)", "(1,2)", "(1,3)"], 2, "refused"),
    }
    address = server.load(
        "peculiar", {c: v for c, (_, v, _, _) in columns.items()}, [k for k, *_ in columns.values()]
    )
    with open_source(address) as (_, questions):
        for column, (_, _, distinct, kind) in columns.items():
            assert questions.distinct([column])[column] == distinct, column
            if kind == "refused":
                with pytest.raises(UsageError, match="not of plain values"):
                    questions.engine.check_usable(column)
            else:
                questions.engine.check_usable(column)
                assert questions.engine.kind(column) == kind, column
                assert sum(n for _, n, _ in questions.each_class([column], None)) == 3
    found = sievert.assess(address, ["padded"], ["number"])
    note = "'padded' is of type character(n): blanks at the end of its values do not count"
    assert found.warnings.count(note) == 1
    assert any(w.startswith("'number' is numeric without a precision") for w in found.warnings)
    told_to_be_text = sievert.assess(
        address, ["json"], ["list"], types={"json": "text", "list": "text"}
    )
    assert told_to_be_text.reidentification["classes"].value == 2


def test_collations(server: Server) -> None:
    """Text that a collation calls equal is still told apart."""
    server.admin.execute(
        "CREATE COLLATION loose (provider = icu, locale = 'und-u-ks-level1', deterministic = false)"
    )
    values = {"q": ["a", "A", "á", "b"], "s": ["x", "X", "x", "y"]}
    address = server.load("loose", values, ['text COLLATE "loose"'] * 2)
    options: dict[str, Any] = {"na": ["b"], "types": {"s": "text"}}
    for how in ({}, options):
        there, here = (sievert.assess(data, "q", "s", **how) for data in (address, values))
        assert told(there, source=True) == told(here, source=True)
    assert there.reidentification["classes"].value == 4
    with pytest.raises(InputError, match=r"loose: 4 value\(s\) of column 's' are not int"):
        sievert.assess(address, "q", "s", types={"s": "int"})


# -- which table --------------------------------------------------------------------------------


def test_names_of_tables(server: Server, towns: str) -> None:
    server.admin.execute("CREATE SCHEMA IF NOT EXISTS other")
    server.admin.execute("DROP TABLE IF EXISTS other.towns; CREATE TABLE other.towns (q text)")
    server.admin.execute("INSERT INTO other.towns VALUES ('only')")
    server.admin.execute('CREATE TABLE IF NOT EXISTS "Other.Towns ü" (q text)')
    server.admin.execute("""INSERT INTO "Other.Towns ü" VALUES ('a'), ('b')""")
    assert sievert.classes(towns, "town") == 4
    assert sievert.classes(server.url("public.towns"), "town") == 4
    assert sievert.classes(server.url("other.towns"), "q") == 1
    assert sievert.classes(server.url("Other.Towns%20%C3%BC"), "q") == 2
    assert sievert.classes(server.url("towns", more="&options=-csearch_path%3Dother"), "q") == 1
    for wrong, hint in (
        ("twons", "'towns'"),
        ("TOWNS", "'towns'"),
        ("othr.towns", "'other.towns'"),
    ):
        with pytest.raises(UsageError, match=f"table '{wrong}' does not exist. Try: {hint}"):
            sievert.classes(server.url(wrong), "town")
    with pytest.raises(UsageError, match="does not exist"):
        sievert.classes(server.url('x"; DROP TABLE towns; --'), "town")
    with pytest.raises(UsageError, match="which table"):
        sievert.classes(server.url(), "town")


def test_names_of_columns(server: Server) -> None:
    address = server.load("cases", {"Age": ["1"], "age": ["2"]})
    with pytest.raises(InputError, match="same name"):
        sievert.classes(address, "age")
    address = server.load("columns", TOWNS, TYPES)
    with pytest.raises(UsageError, match="'tovn' does not exist"):
        sievert.classes(address, "town", types={"tovn": "int"})
    with pytest.raises(UsageError, match="town"):
        sievert.assess(address, "tovn")
    with pytest.raises(UsageError, match=r"(?s)age.*ill"):  # the list of columns
        sievert.assess(address)
    with pytest.raises(InputError, match="no columns"):
        server.admin.execute("CREATE TABLE bare ()")
        sievert.classes(server.url("bare"), "x")
    with pytest.raises(InputError, match="0 records"):
        sievert.classes(server.load("empty", {"q": []}), "q")


def test_everything_that_can_be_selected(server: Server, towns: str) -> None:
    """Views, views of views, partitions, foreign tables, materialised views."""
    expected = told(sievert.assess(towns, ["town", "age"], "ill"))
    for statement in (
        "CREATE OR REPLACE VIEW seen AS SELECT * FROM towns",
        "CREATE OR REPLACE VIEW seen_again AS SELECT * FROM seen",
        "CREATE MATERIALIZED VIEW kept AS SELECT * FROM towns",
        "CREATE TABLE parted (town text, age int, ill text) PARTITION BY RANGE (age)",
        "CREATE TABLE young PARTITION OF parted FOR VALUES FROM (0) TO (50)",
        "CREATE TABLE old PARTITION OF parted FOR VALUES FROM (50) TO (150)",
        "INSERT INTO parted SELECT * FROM towns",
        "CREATE EXTENSION postgres_fdw",
        f"CREATE SERVER loop FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '{server.folder}', "
        "dbname 'postgres')",
        "CREATE USER MAPPING FOR admin SERVER loop OPTIONS (user 'admin')",
        "CREATE FOREIGN TABLE far (town text, age int, ill text) SERVER loop "
        "OPTIONS (table_name 'towns')",
    ):
        server.admin.execute(statement)
    for name in ("seen", "seen_again", "kept", "parted", "far"):
        assert told(sievert.assess(server.url(name), ["town", "age"], "ill")) == expected, name
    server.admin.execute("DROP VIEW seen CASCADE; DROP MATERIALIZED VIEW kept")


def test_a_view_that_is_never_the_same(server: Server, towns: str) -> None:
    server.admin.execute(
        "CREATE VIEW chance AS SELECT town FROM towns, generate_series(1, 1000) "
        "WHERE random() < 0.5"
    )
    try:
        with pytest.raises(InputError, match="two counts of its records differ"):
            sievert.assess(server.url("chance"), "town")
    finally:
        server.admin.execute("DROP VIEW chance")


def test_one_snapshot(server: Server, towns: str) -> None:
    """What others write during the run does not count."""
    expected = told(sievert.assess(towns, ["town", "age"], "ill"))
    seen = []

    def watch(step: str, questions: Any) -> None:
        if questions is not None:
            seen.append(step)
            server.admin.execute("INSERT INTO towns VALUES ('Trier', 1, 'flu')")

    assert told(sievert.assess(towns, ["town", "age"], "ill", watch=watch)) == expected
    assert len(seen) >= 3
    assert sievert.records_below(towns, "town", k=10**6) == 6 + len(seen)


# -- who may what -------------------------------------------------------------------------------


def role(server: Server, name: str, *grants: str) -> None:
    """A role that may do nothing but what is granted."""
    server.admin.execute("REVOKE TEMP ON DATABASE postgres FROM PUBLIC")
    server.admin.execute(f"DROP OWNED BY {name}; DROP ROLE {name}" if _exists(server, name) else "")
    server.admin.execute(f"CREATE ROLE {name} LOGIN")
    for grant in grants:
        server.admin.execute(f"GRANT {grant} TO {name}")


def _exists(server: Server, name: str) -> bool:
    found = server.admin.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", [name])
    return found.fetchone() is not None


def test_a_role_that_may_only_read(server: Server, towns: str) -> None:
    expected = told(sievert.assess(towns, ["town", "age"], "ill"))
    role(server, "reader", "SELECT ON towns")
    found = sievert.assess(server.url("towns", "reader"), ["town", "age"], "ill")
    assert told(found) == expected
    role(server, "partial", "SELECT (town, ill) ON towns")
    address = server.url("towns", "partial")
    assert sievert.classes(address, "town", missing="drop") == 3
    with pytest.raises(EngineError, match="may not read column 'age'"):
        sievert.assess(address, ["town", "age"], "ill")
    with pytest.raises(EngineError, match="may not read"):
        sievert.assess(address)
    role(server, "stranger")
    with pytest.raises(EngineError, match="may not read 'towns'"):
        sievert.classes(server.url("towns", "stranger"), "town")
    server.admin.execute("CREATE SCHEMA closed CREATE TABLE inner_towns (q text)")
    role(server, "outsider", "SELECT ON closed.inner_towns")
    with pytest.raises(EngineError, match="may not read"):
        sievert.classes(server.url("closed.inner_towns", "outsider"), "q")


def test_row_level_security(server: Server) -> None:
    address = server.load("secured", TOWNS, TYPES)
    role(server, "one_town", "SELECT ON secured")
    server.admin.execute("ALTER TABLE secured ENABLE ROW LEVEL SECURITY")
    server.admin.execute("CREATE POLICY mine ON secured USING (town = 'Bonn')")
    server.admin.execute("CREATE VIEW through AS SELECT * FROM secured")
    server.admin.execute("GRANT SELECT ON through TO one_town")
    note = "the role may not see all records (row-level security)"
    found = sievert.assess(server.url("secured", "one_town"), "age")
    assert note in found.warnings and found.table["rows"] == 2
    assert note in sievert.assess(server.url("through", "one_town"), "age").warnings
    assert note not in sievert.assess(address, "age").warnings  # a superuser sees all


# -- failures -----------------------------------------------------------------------------------


def test_values_that_do_not_fit(server: Server) -> None:
    values = {"q": ["1", "1.0", "+1", "x", "1.4", None, "-9"], "s": list("abcdefg")}
    address = server.load("unfit", values)
    for options in ({"types": {"q": "int"}}, {"types": {"q": "date"}}):
        there, here = (
            attempt(lambda: told(sievert.assess(data, "q", "s", **options)))  # noqa: B023
            for data in (address, values)
        )
        assert there == here.replace("columns:", "unfit:") and "value(s) of column 'q'" in there
    with pytest.raises(InputError, match=r"1 value\(s\) of column 'q' are not int"):
        sievert.assess(address, "q", "s", types={"q": "int"}, na=["x"])
    there = sievert.assess(address, "q", "s", types={"q": "int"}, na=["x", "1.4"])
    typed = {**values, "q": [1, 1, 1, None, None, None, -9]}
    here = sievert.assess(typed, "q", "s")
    assert there.reidentification == here.reidentification and there.inference == here.inference
    here = sievert.assess(values, "q", "s", types={"q": "int"}, na=["x", "1.4"])
    assert told(there) == told(here) and "several ways" in told(there)
    alike = server.load("alike", {**values, "q": ["1", "1", "1", "2", "3", None, "-9"]})
    assert "several ways" not in told(sievert.assess(alike, "q", "s", types={"q": "int"}))
    assert there.table["missing_values"]["q"]["na_codes"] == 2


def test_a_view_that_fails(server: Server, towns: str) -> None:
    """Whatever its words are, and also where the user's types could be to blame."""
    server.admin.execute("CREATE VIEW failing AS SELECT 1 / (age - age) AS q, town FROM towns")
    with pytest.raises(EngineError, match=r"failed on failing \(DivisionByZero\)") as found:
        sievert.classes(server.url("failing"), "q")
    assert found.value.__suppress_context__
    with pytest.raises(InputError, match="failing: a value does not fit"):
        sievert.classes(server.url("failing"), "q", types={"q": "int"})
    assert sievert.classes(server.url("failing"), "town") == 4


def test_no_connection(server: Server, towns: str, monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = "Zq7wrong"
    keyed = server.url("towns", "keyed")
    for address, why in (
        (keyed, "password"),
        (keyed.replace("keyed@", f"keyed:{wrong}@"), "password"),
        (server.url("towns", "nobody_at_all"), "does not admit this role"),
        (towns.replace("/postgres?", "/no_such?"), "no such database"),
        (f"postgresql://admin@/postgres?host={server.folder}/none&table=t", "no server listens"),
        (f"postgresql://admin:{wrong}@127.0.0.1:1/postgres?table=t", "no server listens"),
        (f"postgresql://admin:{wrong}@no.such.host.invalid/postgres?table=t", "no such host"),
    ):
        with pytest.raises(
            EngineError, match=rf"cannot connect to the database \(.*{why}"
        ) as found:
            sievert.classes(address, "town")
        assert wrong not in str(found.value) and found.value.exit_code == 6
    for address in (f"postgresql://u:{wrong}%zz@/x?table=t", f"postgresql:///x?{wrong}=1&table=t"):
        with pytest.raises(UsageError, match="address of the database cannot be read") as found:
            sievert.classes(address, "town")
        assert wrong not in str(found.value)
    monkeypatch.setenv("PGPASSWORD", server.password)
    assert sievert.classes(keyed, "town") == 4


def test_a_password_is_never_shown(server: Server, towns: str, tmp_path: Path) -> None:
    server.admin.execute(
        "CREATE OR REPLACE VIEW broken AS SELECT 1 / (age - age) AS age FROM towns"
    )
    passfile = tmp_path / "pgpass"
    passfile.write_text(f"*:*:*:keyed:{server.password}\n")
    passfile.chmod(0o600)
    secret = f"keyed:{server.password}"
    for user, table, column, code, settings in (
        ("keyed", "towns", "town", 0, {"PGPASSWORD": server.password}),
        ("keyed", "towns", "town", 0, {"PGPASSFILE": str(passfile)}),
        ("keyed", "townz", "town", 2, {"PGPASSWORD": server.password}),
        ("keyed", "towns", "tovn", 2, {"PGPASSWORD": server.password}),
        ("keyed", "broken", "age", 6, {"PGPASSWORD": server.password}),
        ("keyed", "towns", "town", 6, {"PGPASSWORD": server.password + "x"}),
        (secret, "towns", "town", 7, {}),  # everybody on the machine would see it
    ):
        out = tmp_path / "out.json"
        address = server.url(table, user)
        done = run_process("assess", address, "-q", column, "--json", out, "--debug", "--force",
                   env=environment(**settings))  # fmt: skip
        assert done.returncode == code, done.stderr
        said = done.stdout + done.stderr + (out.read_text() if out.exists() else "")
        assert server.password not in said
        assert str(server.folder) not in said
        out.unlink(missing_ok=True)


def test_no_message_repeats_a_value(server: Server) -> None:
    """The database's own words would."""
    address = server.load("marked", {"q": ["Zq7cellvalue", "1"]})
    done = run_process("assess", address, "-q", "q", "--type", "q=int", "--debug")
    assert done.returncode == 3 and "1 value(s) of column 'q' are not int" in done.stderr
    assert "zq7" not in (done.stdout + done.stderr).casefold()


def test_without_the_library(towns: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(UsageError, match=r"psycopg.*pip install 'sievert\[postgres\]'"):
        sievert.classes(towns, "town")


def test_records_stay_in_the_database(towns: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="--records"):
        sievert.assess(towns, "town", "ill", records=tmp_path / "records.csv")
    assert not list(tmp_path.iterdir())


def test_the_cells_are_private(towns: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the database sends lies in a file of ours only, and not for long."""
    modes = []
    real = reading.select_from_file
    through_a_file(monkeypatch)

    def arriving(path: Path, ways: Mapping[str, str], longest: int) -> str:
        modes.append(stat.S_IMODE(path.stat().st_mode))
        return real(path, ways, longest)

    monkeypatch.setattr(reading, "arriving", arriving)
    with open_source(towns, temp=tmp_path) as (_, questions):
        questions.sizes(["town"])
        (scratch,) = tmp_path.iterdir()
        assert modes == [0o600] and stat.S_IMODE(scratch.stat().st_mode) == 0o700
        assert not list(scratch.iterdir())
    assert not list(tmp_path.iterdir())


@pytest.fixture
def slow(server: Server, towns: str) -> Iterator[str]:
    """A view that takes a minute."""
    server.admin.execute("CREATE OR REPLACE VIEW slow AS SELECT t.* FROM towns AS t, pg_sleep(60)")
    yield server.url("slow")
    assert quiet(server)
    server.admin.execute("DROP VIEW slow")


def quiet(server: Server) -> bool:
    """Nothing of ours is left running in the database."""
    until = time.monotonic() + 30
    while server.running() and time.monotonic() < until:
        time.sleep(0.05)
    return not server.running()


def wait_until_closed(server: Server) -> None:
    """Until the database knows of no connection of ours."""
    query = "SELECT COUNT(*) FROM pg_stat_activity WHERE application_name = 'sievert'"
    until = time.monotonic() + 30
    while server.admin.execute(query).fetchone() != (0,):
        assert time.monotonic() < until
        time.sleep(0.05)


def busy(server: Server) -> int:
    """The process of the server that works for us, once there is one."""
    until = time.monotonic() + 30
    while not (found := server.running()):
        assert time.monotonic() < until, "nothing was asked"
        time.sleep(0.05)
    return found[0]


def test_time_limits(server: Server, slow: str) -> None:
    limited = slow.replace("?", "?options=-cstatement_timeout%3D300&")
    with pytest.raises(ExhaustedError, match="stopped before the answer was there") as found:
        sievert.classes(limited, "town")
    assert found.value.exit_code == 5
    started = time.monotonic()
    with pytest.raises(ExhaustedError, match="not done within 1 seconds"):
        sievert.classes(slow, "town", timeout=1.0)
    assert time.monotonic() - started < 60  # what the view would take


def test_a_lost_connection(server: Server, slow: str, tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    arguments = command_line("assess", slow, "-q", "town", "-s", "ill", "--json", out)
    process = subprocess.Popen(arguments, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    server.admin.execute("SELECT pg_terminate_backend(%s)", [busy(server)])
    said, complained = process.communicate(timeout=60)
    assert process.returncode == 6 and not said
    assert complained == "error: the connection to the database was lost. Try: run again\n"
    assert not list(tmp_path.iterdir())


def test_lost_between_two_questions(server: Server, towns: str) -> None:
    query = (
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'sievert'"
    )
    with open_source(towns) as (_, questions):
        server.admin.execute(query)
        wait_until_closed(server)
        with pytest.raises(EngineError, match="connection to the database was lost"):
            questions.sizes(["town"])


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_stops_the_database(server: Server, slow: str, number: int) -> None:
    arguments = command_line("assess", slow, "-q", "town")
    process = subprocess.Popen(arguments, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    busy(server)
    process.send_signal(number)
    said, complained = process.communicate(timeout=60)
    assert (process.returncode, said, complained) == (128 + number, "", "interrupted\n")


def test_progress_is_not_known(towns: str, monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[float] = []
    real = reading.lines
    with open_source(towns) as (_, questions):

        def lines(cursor: Any, sql: str) -> list[str]:
            shown.append(questions.engine.progress())
            return real(cursor, sql)

        monkeypatch.setattr(reading, "lines", lines)
        questions.sizes(["town"])
    assert shown == [-1.0]


def test_everything_is_closed(server: Server, towns: str) -> None:
    for wrong in (towns, server.url("no_such_table")):
        with suppress(UsageError):
            sievert.classes(wrong, "town")
    wait_until_closed(server)


def test_people_with_several_rows(server: Server) -> None:
    """Random tables whose rows are of fewer people, some rows of nobody known."""
    for seed in range(tried(10, 200)):
        made, random_ = case(random.Random(seed)), random.Random(seed)
        rows = len(made.columns["s"])
        people = [random_.choice(["a", "b", "c", None]) for _ in range(rows)]
        columns = {**made.columns, "id": people}
        place = server.load(f"people{seed}", columns, ("text",) * len(columns))
        options: dict[str, Any] = {"person": "id", "partitions": {"s": made.partition}}
        ours = sievert.assess(place, list(made.quasi), ["s"], **options)
        theirs = sievert.assess(columns, list(made.quasi), ["s"], **options)
        assert told(ours) == told(theirs)


# -- releases -----------------------------------------------------------------------------------


def test_releases(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The database recodes as DuckDB does: the same records, manifest and verdicts."""
    enginereleases.confirm_here(monkeypatch)
    for seed in range(tried(4, 40)):
        enginereleases.start_from_a_floor(monkeypatch, seed)
        given, kind = enginereleases.options(seed), ("parquet", "csv")[seed // 2 % 2]
        address = server.load("r", enginereleases.columns(seed), enginereleases.POSTGRES)
        here, there = (
            enginereleases.release(data, tmp_path / f"{place}{seed}.{kind}", **given)
            for place, data in (("here", enginereleases.frame(seed)), ("there", address))
        )
        assert here == there
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]


def test_the_same_bytes_again_and_nothing_written_there(server: Server, tmp_path: Path) -> None:
    """A role that may only read is enough; the release is checked by a process of its own."""
    address = server.load("r", enginereleases.columns(1), enginereleases.POSTGRES)
    address = address.replace("admin@", "keyed@").replace("?", f"?password={server.password}&")
    outs = [tmp_path / name for name in ("a.csv", "b.csv")]
    for out in outs:
        assert sievert.protect(address, out=out, **enginereleases.options(1)).released
    assert outs[0].read_bytes() == outs[1].read_bytes()
    with pytest.raises(UsageError, match="--how noise needs the records here"):
        sievert.protect(address, out=tmp_path / "c.csv", how="noise", **enginereleases.options(1))


def test_ledger(server: Server, tmp_path: Path) -> None:
    url = server.load("noted", ledgerparity.COLUMNS, ledgerparity.POSTGRES)
    here = ledgerparity.note(tmp_path, "here", ledgerparity.COLUMNS)
    assert ledgerparity.note(tmp_path, "there", url) == here


def test_sketches(server: Server) -> None:
    columns = sketchtables.typed_columns(3000)
    url = server.load("sketched", columns, sketchtables.POSTGRES.values())
    options: Any = {"key_sets": sketchtables.KEYS, "sensitive": sketchtables.SECRETS}
    options |= {"salt": sketchtables.SALT, "size": sketchtables.SMALL}
    ours = sievert.sketch(url, **options)
    assert (
        ours.to_bytes() == sievert.sketch(sketchtables.arrow_table(columns), **options).to_bytes()
    )
    assert not any(key.exact for key in ours.keys[1:])


# -- the macros for dbt ----------------------------------------------------------------------------


def test_the_dbt_macros_take_no_two_spellings_for_different(server: Server) -> None:
    """The rules of canonical texts, of every character and of numbers, days and words."""
    macros = dbtmacros.macros("postgres")
    every = [f"a{chr(code)}b" for code in range(1, 0x10000) if not 0xD800 <= code < 0xE000]
    texts = [*every, *dbtmacros.spelt_texts(random.Random("spellings"))]
    with server.connect() as connection:
        connection.execute("create temporary table texts (given text)")
        with connection.cursor().copy("copy texts from stdin") as copy:
            for text in texts:
                copy.write_row([text])
        folded = vars(macros)["postgres__folded_values"]("select given from texts")
        query = f"select given, comparable, folded from ({folded}) as f"
        rows = connection.execute(query.encode()).fetchall()
    assert len(rows) == len(texts) and dbtmacros.find_unsafe(rows) == []
    assert sum(comparable for _, comparable, _ in rows) > 30_000


def test_the_dbt_macros_pass_only_if_assess_does(server: Server) -> None:
    """On random tables with NaN and respelt secrets; the same numbers, too."""
    macros, limits, passed = dbtmacros.macros("postgres"), dbtmacros.LIMITS, 0
    for seed in range(40):
        table, quasi = dbtmacros.respelt_table(random.Random(seed)), ["zip code", "age"]
        expected = dbtmacros.as_assessed(table, quasi)
        with server.connect() as connection:
            columns = '"zip code" text, age double precision, ill text'
            connection.execute(f"create temporary table release ({columns})")
            with connection.cursor().copy("copy release from stdin") as copy:
                for values in zip(*table.values(), strict=True):
                    copy.write_row(values)
            k = connection.execute(macros.k_anonymity_of("release", quasi).encode()).fetchone()
            assert k is not None and k[0] == expected["k"]
            tests = {
                "k_anonymity": macros.test_k_anonymity("release", quasi, limits["k"]),
                "l_diversity": macros.test_l_diversity("release", quasi, "ill", limits["l"]),
                "unique_records": macros.test_unique_share("release", quasi, limits["share"]),
            }
            for measure, query in tests.items():
                met = not connection.execute(query.encode()).fetchall()
                assert expected["met"][measure] or not met, (measure, table)
                passed += met and measure == "l_diversity"
    assert passed > 2
