"""Packed keys, NumPy and the engine's SQL give the same result, to the last bit."""

from __future__ import annotations

import datetime
import json
import math
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import pandas
import polars
import pyarrow as pa
import pytest
from helpers import randomtables
from helpers.effort import tried
from helpers.suppressedoracle import limits_on_classes
from pyarrow import csv, parquet

import sievert
from sievert import session
from sievert.commands.explain import run as explanation
from sievert.counts.coded import CodedTable
from sievert.counts.duckdb.adapter import DuckDB
from sievert.counts.memory_cells import MemoryCells
from sievert.counts.packed import keys as packed_keys
from sievert.counts.packed import records as packed
from sievert.counts.packed import sources as packed_sources
from sievert.measures.approximate import compromise

SECRETS = ["secret", "amount", "real", "when", "price"]
SPREAD = {"tiny": 2, "some": 40, "many": 3000}
TINY = 20_000  # bytes: room to sort 300 records at a time, and to answer from 160 cells at once


@pytest.fixture(autouse=True)
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """A tiny room does not keep records from being coded, nor their counted keys."""
    monkeypatch.setattr(packed_sources, "CODE_BYTES", 0)
    monkeypatch.setattr(packed_sources, "BATCH", 100)
    monkeypatch.setattr(packed_keys, "COUNTED", 2.0)


def both(data: Any, monkeypatch: pytest.MonkeyPatch, *roles: Any, **options: Any) -> dict[str, Any]:
    """The result of packed keys, after it was compared with those of NumPy and the engine's SQL.

    Packed keys count with room for all records, and for a few of them at a time.
    """
    results = []
    for small, large, room in (
        (0, 10**12, 0),
        (10**12, 10**12, 0),
        (0, 0, TINY),
        (0, 0, 10**9),
    ):
        monkeypatch.setattr(session, "SMALL", small)
        monkeypatch.setattr(session, "_room", lambda _, room=room: room)
        monkeypatch.setattr(session, "PACKED_FROM", large)
        monkeypatch.setattr(session, "LOADING", large)
        # Classes of numbers are solved in compiled code beside packed keys.
        monkeypatch.setattr(compromise, "FEW_CELLS", large)
        # Missing values that match anything are matched in SQL, and in NumPy beside packed keys.
        few = 10**6 if not large else 0
        monkeypatch.setattr("sievert.counts.questions.FEW_CLASSES", few)
        results.append(sievert.assess(data, *roles, **options).to_dict())
    sql, coded, chunked, packed = (json.dumps(result, sort_keys=True) for result in results)
    assert sql == coded
    assert sql == packed
    assert sql == chunked
    return results[-1]


def random_table(random: Random) -> pa.Table:
    """Numbers, dates, text and booleans, some missing, in few or many classes."""
    records = random.choice((1, 7, 300, 2500))
    spread = SPREAD[random.choice(list(SPREAD))]
    lacking = random.choice((0.0, 0.0, 0.2))
    day = datetime.date(2020, 2, 28)

    def column(make: Any) -> list[Any]:
        return [None if random.random() < lacking else make() for _ in range(records)]

    kinds: dict[str, Any] = {
        "number": lambda: random.randint(-5, spread),
        "far": lambda: random.choice((-(2**40), 0, 3)) + random.randint(0, spread),
        "text": lambda: f"é{random.randint(0, spread)}",
        "day": lambda: day + datetime.timedelta(days=random.randint(0, spread)),
        "flag": lambda: random.random() < 0.3,
        "same": lambda: 5,
    }
    return pa.table(
        {
            **{name: column(make) for name, make in kinds.items()},
            "secret": column(lambda: f"s{min(random.randint(0, 9), random.randint(0, 9))}"),
            "amount": column(lambda: random.randint(0, 5) ** 2),
            "real": column(random.random),
            "when": column(lambda: day - datetime.timedelta(days=random.randint(0, 40))),
            "price": column(lambda: random.choice((-0.0, 0.0, math.nan, 0.25, 1e300, -7.5))),
        }
    )


def in_memory(table: pa.Table, random: Random) -> Any:
    """The same table as an Arrow, Polars or pandas frame, in some chunks."""
    size = random.choice((100, 1000, 10**6))
    chunked = pa.Table.from_batches(table.to_batches(max_chunksize=size), table.schema)
    kind = random.choice(("arrow", "polars", "pandas"))
    if kind == "polars" and pa.null() not in table.schema.types:
        return polars.from_arrow(chunked)
    return chunked if kind != "pandas" else chunked.to_pandas(types_mapper=pandas.ArrowDtype)


@pytest.mark.parametrize("seed", range(tried(10, soak=300)))
def test_random_tables(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    random = Random(seed)
    table = random_table(random)
    path = tmp_path / "t.parquet"
    dictionary = random.random() < 0.7
    parquet.write_table(
        table, path, row_group_size=random.choice((100, 1000, 10**6)), use_dictionary=dictionary
    )
    quasi = random.sample(table.column_names[:6], random.randint(1, 5))
    data: Any = path if random.random() < 0.5 else in_memory(table, random)
    if random.random() < 0.3:  # keys that are too long to be counted into an array
        monkeypatch.setattr(packed_keys, "DENSE", 3)
    if random.random() < 0.5:  # nothing known of the texts before they are read
        monkeypatch.setattr(packed_sources.ParquetSource, "values", lambda *_: [])
    threads = random.choice((1, 2, 3))
    secrets = random.sample(SECRETS, random.randint(1, 4))
    both(data, monkeypatch, quasi, secrets, threads=threads)
    cubes, rows = [], []
    for small, large, kind in (
        (0, 10**12, MemoryCells),
        (10**12, 10**12, CodedTable),
        (0, 0, packed.PackedRecords),
    ):
        monkeypatch.setattr(session, "SMALL", small)
        with session.open_source(data, large=large, threads=threads) as (_, questions):
            assert type(questions.memory) is kind
            cubes.append(questions.cube([*quasi, "secret"]))
            rows.append(questions.records_in_order(["real", *quasi]))
    for first, *others in (cubes, rows):
        for other in others:
            assert first.values == other.values
            assert first.counts.tolist() == other.counts.tolist()
            assert [c.tolist() for c in first.codes] == [c.tolist() for c in other.codes]


@pytest.mark.parametrize("seed", range(tried(10, soak=200)))
def test_random_tables_with_everything(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Orders, hierarchies, partitions and named values, which the engine answers."""
    case = randomtables.case(Random(seed))
    path = tmp_path / "t.parquet"
    text = {name: pa.array(values, pa.string()) for name, values in case.columns.items()}
    parquet.write_table(pa.table(text), path)
    both(
        path,
        monkeypatch,
        list(case.quasi),
        [case.secret],
        orders={case.secret: case.order},
        partitions={case.secret: case.partition},
        hierarchies={case.secret: {k: v for k, v in case.ladder.items() if k is not None}},
        parameters={"alpha_k": {"value": case.named}, "recursive_c": {"l": case.l}},
    )
    for missing in ("drop", "wildcard"):
        try:
            both(path, monkeypatch, list(case.quasi), [case.secret], missing=missing)
        except sievert.SievertError as error:
            assert "nothing is left" in str(error)


@pytest.mark.parametrize("seed", range(12))
def test_missing_values_match_anything(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The histogram of matching records, by its definition, in SQL, NumPy and of packed keys."""
    random = Random(f"match {seed}")
    names, lacking = "abcde"[: random.randint(1, 5)], random.choice((0.0, 0.1, 0.5, 0.9))
    rows = [
        tuple(None if random.random() < lacking else random.choice("xyz") for _ in names)
        for _ in range(random.choice((1, 12, 60)))
    ]

    def match(a: tuple[str | None, ...], b: tuple[str | None, ...]) -> bool:
        return all(None in pair or pair[0] == pair[1] for pair in zip(a, b, strict=True))

    alike = Counter(sum(match(a, b) for b in rows) for a in rows)
    columns = zip(*rows, strict=True)
    texts = {n: pa.array(v, pa.string()) for n, v in zip(names, columns, strict=True)}
    table = pa.table(texts)
    missing = sum(None in row for row in rows)
    for small, large, few in ((0, 10**12, 0), (0, 10**12, 10**6), (10**12, 10**12, 0), (0, 0, 0)):
        monkeypatch.setattr(session, "SMALL", small)
        monkeypatch.setattr("sievert.counts.questions.FEW_CLASSES", few)
        with session.open_source(table, large=large) as (_, questions):
            counts = questions.record_counts(tuple(names), wildcard=True)
        assert counts.missing == missing
        if missing:
            assert counts.wildcard is not None
            assert dict(zip(counts.wildcard.sizes, counts.wildcard.times, strict=True)) == alike
        else:
            assert counts.wildcard is None


@pytest.mark.parametrize("seed", range(tried(4, soak=80)))
def test_suppressed_records(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    random, mark = Random(f"suppressed {seed}"), ("*", "it's", "a", None)[seed % 4]
    case = randomtables.mark_suppressed(randomtables.case(random), random, mark)
    path = tmp_path / "t.parquet"
    text = {name: pa.array(values, pa.string()) for name, values in case.columns.items()}
    number = pa.array([random.randint(0, 2) for _ in case.rows])
    person = pa.array([random.choice(("p1", "p2", "p3", None)) for _ in case.rows])
    parquet.write_table(pa.table({**text, "number": number, "person": person}), path)
    quasi = list(case.quasi)
    for roles in ((quasi, [case.secret]), (quasi, []), (["number", *quasi], [case.secret])):
        for kept in (False, True):
            try:
                found = both(path, monkeypatch, *roles, suppressed=mark, keep_suppressed=kept)
            except sievert.SievertError as error:
                assert "nothing is left" in str(error)
                continue
            by_hand = sum(all(row.get(q, 0) == mark for q in roles[0]) for row in case.rows)
            assert found["table"]["suppressed"] == by_hand
            assert found["table"]["rows"] == len(case.rows) - (0 if kept else by_hand)
            options: dict[str, Any] = {"suppressed": mark, "keep_suppressed": kept}
            if roles[1] and not kept:  # what limits say of the suppressed records
                rules = limits_on_classes(roles[0], case.secret, mark=mark)
                both(path, monkeypatch, *roles, **options, policy=rules, quick=True)
                rules = limits_on_classes(roles[0], case.secret, person="person", mark=mark)
                judged = both(path, monkeypatch, *roles, **options, policy=rules, quick=True)
                lines = [v for v in judged["policy"]["limits"] if "scope" in v]
                assert bool(lines) == bool(by_hand)
            people = both(path, monkeypatch, *roles, person="person", **options)
            assert people["reidentification"]["suppressed_records"]["value"] == by_hand
            assert people["reidentification"]["suppressed_records"]["unit"] == "records"


@pytest.mark.parametrize("seed", range(tried(6, soak=120)))
def test_text_and_typed_columns(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sources that only the engine reads: CSV, a database, types, codes for missing, lists."""
    random = Random(f"text {seed}")
    table = random_table(random)
    path = tmp_path / "t.csv"
    csv.write_csv(table, path)
    if random.random() < 0.3:  # put together from two files
        path.write_text(2 * path.read_text(encoding="utf-8"), encoding="utf-8")
    quasi = random.sample(table.column_names[:6], random.randint(1, 5))
    secrets = random.sample(SECRETS, random.randint(1, 4))
    options: dict[str, Any] = {}
    if random.random() < 0.5:
        options["na"] = ["é1", "5", "s3"]
    if random.random() < 0.5 and table.num_rows < 2500:
        options["types"] = {"number": "int", "amount": "int", "real": "float", "day": "date"}
    try:
        both(path, monkeypatch, quasi, secrets, threads=random.choice((1, 2)), **options)
    except sievert.SievertError as error:
        assert "are not int" in str(error)  # a header among the numbers
    both(table.to_pydict(), monkeypatch, quasi, ["secret", "amount"])


def test_rows_like_the_header(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a,1,s\n" + "x,1,y\na,1,s\n" * 300, encoding="utf-8")
    both(path, monkeypatch, ["a", "1"], ["s"], types={"1": "int"})


def test_wide_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keys of more than 62 bits, which are packed in levels."""
    random = Random("wide")
    names = [f"q{i}" for i in range(60)]
    kinds = [[random.randint(0, 3) for _ in names] for _ in range(300)]
    rows = [random.choice(kinds) for _ in range(1200)]
    table = pa.table(
        {
            **{n: [f"v{row[i]}" for row in rows] for i, n in enumerate(names)},
            **{f"far{i}": [random.choice((0, 2**40)) for _ in rows] for i in range(3)},
            "s": [random.choice("abc") for _ in rows],
            "t": [random.choice("defg") for _ in rows],
            "*": ["*"] * len(rows),
        }
    )
    seen: list[Any] = []
    cut = packed_keys.cut_levels
    monkeypatch.setattr(
        packed_keys, "cut_levels", lambda *given: seen.append(cut(*given)) or seen[-1]
    )
    for secrets in (["s"], ["s", "t"], []):
        both(table, monkeypatch, names, secrets)
        both(table, monkeypatch, ["far0", "far1", "far2"], secrets)
    assert max(map(len, seen)) >= 4
    monkeypatch.setattr(session, "SMALL", 0)
    cubes = []
    for large in (10**12, 0):
        with session.open_source(table, large=large) as (_, questions):
            cubes.append(questions.cube([*names, "s"]))
    assert cubes[0].counts.tolist() == cubes[1].counts.tolist()
    assert [c.tolist() for c in cubes[0].codes] == [c.tolist() for c in cubes[1].codes]


def test_what_cannot_be_packed_is_left_to_the_engine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = random_table(Random(5))
    counted = watch_passes(monkeypatch)
    odd = table.append_column("odd", table["amount"].cast(pa.decimal128(30, 2)))
    both(odd, monkeypatch, ["odd"], ["secret"])
    assert not counted
    both(table, monkeypatch, ["number"], ["secret"])
    assert counted
    monkeypatch.setattr(packed_keys, "COUNTED", 0.0)  # no room for counted keys
    monkeypatch.setattr(packed_keys, "DENSE", 0)
    both(table, monkeypatch, ["number"], ["secret"])


def watch_passes(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """One entry for each pass over the records that counts keys."""
    passes: list[int] = []
    for source in (packed_sources.ParquetSource, packed_sources.CodedSource):
        batches = source.batches
        monkeypatch.setattr(
            source, "batches", lambda self, batches=batches: passes.append(1) or batches(self)
        )
    return passes


def test_nan_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also in a Parquet file, whose statistics leave NaN out."""
    path = tmp_path / "t.parquet"
    table = pa.table({"a": ["x", "y"] * 200, "s": [0.25, math.nan, -0.0, 0.0] * 100})
    parquet.write_table(table, path)
    for data in (path, table):
        assert (
            both(data, monkeypatch, ["a"], ["s"])["table"]["missing_values"]["s"]["not_a_number"]
            == 100
        )


def test_statistics_that_lie_are_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "t.parquet"
    parquet.write_table(pa.table({"a": [1, 2, 3, 4], "s": ["x", "y", "y", "x"]}), path)
    monkeypatch.setattr(packed_sources.ParquetSource, "range", lambda *_: (2, 3))
    both(path, monkeypatch, ["a"], ["s"])


@pytest.mark.parametrize("dense", [24, 0])
@pytest.mark.parametrize("source", ["arrow", "parquet", "csv", "pandas"])
def test_one_pass_for_all_secrets(
    dense: int, source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The records are read once, whatever the number of secrets; no statement counts them again."""
    table = random_table(Random(1)).drop_columns(["price"])
    passes, statements = watch_passes(monkeypatch), list[str]()
    execute = DuckDB._execute
    monkeypatch.setattr(
        DuckDB,
        "_execute",
        lambda self, sql, *given: statements.append(sql) or execute(self, sql, *given),
    )
    monkeypatch.setattr(packed_keys, "DENSE", dense)
    monkeypatch.setattr(session, "PACKED_FROM", 0)
    monkeypatch.setattr(session, "LOADING", 0)
    data: Any = table if source == "arrow" else tmp_path / "t"
    if source == "parquet":
        parquet.write_table(table, data)
    elif source == "csv":
        csv.write_csv(table, data)
    elif source == "pandas":
        data = table.to_pandas(types_mapper=pandas.ArrowDtype)
    numbers = []
    for secrets in (["secret"], ["secret", "same", "when"]):
        passes.clear()
        statements.clear()
        sievert.assess(data, ["number", "text"], secrets)
        assert len(passes) == 1
        assert not [sql for sql in statements if "GROUP BY" in sql]
        numbers.append(len(statements))
    assert numbers[0] == numbers[1]


def test_records_that_do_not_fit_are_read_once_per_secret(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Chunk by chunk, into blocks of counted keys; the engine's SQL counts nothing."""
    random, path = Random("chunks"), tmp_path / "t.parquet"
    rows = [(random.randint(0, 10**6), random.randint(0, 9), random.random()) for _ in range(3000)]
    columns = {"a": [a // 10**3 for a, *_ in rows], "b": [a % 10**3 for a, *_ in rows]}
    secrets = {"s": [f"s{s}" for _, s, _ in rows], "t": [f"t{int(9 * t)}" for *_, t in rows]}
    parquet.write_table(pa.table({**columns, **secrets}), path, row_group_size=100)
    passes, sizes, statements = watch_passes(monkeypatch), list[int](), list[str]()
    count_sorted, execute = packed_keys.count_sorted, DuckDB._execute
    monkeypatch.setattr(
        packed_keys,
        "count_sorted",
        lambda keys, *given: sizes.append(len(keys)) or count_sorted(keys, *given),
    )
    monkeypatch.setattr(
        DuckDB,
        "_execute",
        lambda self, sql, *given: statements.append(sql) or execute(self, sql, *given),
    )
    monkeypatch.setattr(packed_keys, "DENSE", 0)
    monkeypatch.setattr(session, "PACKED_FROM", 0)
    monkeypatch.setattr(session, "LOADING", 0)
    results = []
    for room, chunk in ((TINY, 300), (10**9, 3000)):
        monkeypatch.setattr(session, "_room", lambda _, room=room: room)
        for roles in (["s"], []):
            passes.clear(), sizes.clear(), statements.clear()
            results.append(sievert.assess(path, ["a", "b"], roles).to_dict())
            assert len(passes) == 1
            assert set(sizes) == {chunk}
            assert not [sql for sql in statements if "GROUP BY" in sql]
    assert results[:2] == results[2:]
    monkeypatch.setattr(session, "_room", lambda _: TINY)
    monkeypatch.setattr("sievert.counts.packed.records.FEW_CELLS", 0)
    passes.clear()
    sievert.assess(path, ["a", "b"], ["s", "t"])
    assert len(passes) <= 3


@pytest.mark.parametrize("seed", range(tried(6, soak=12)))
def test_people(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those with several rows or none, and numbers as their secrets."""
    table = random_table(Random(seed))
    path = tmp_path / "t.parquet"
    parquet.write_table(table, path, row_group_size=100, use_dictionary=seed % 2 == 0)
    if seed % 3 == 0:
        monkeypatch.setattr(packed_keys, "DENSE", 3)
    for data, secrets in ((table, ["amount", "number", "price"]), (path, ["secret", "price"])):
        both(data, monkeypatch, ["text", "flag"], secrets, person="far", threads=1 + seed % 3)


@pytest.mark.parametrize("names", [["a", "b"], ["a", "b", "c"], ["a", "b", "c", "d"]])
def test_people_of_wide_keys(names: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Keys of more than 62 bits with the person or the secret in their lowest level."""
    random = Random("people of wide keys")
    kinds = [{n: random.choice((0, 1, 2)) << 19 for n in "abcd"} for _ in range(20)]
    rows = [random.choice(kinds) for _ in range(400)]
    far = [random.choice((0, 3, 2**18)) for _ in rows]
    columns = {n: [row[n] for row in rows] for n in "abcd"}
    person = [random.choice((None, *range(40))) for _ in rows]
    table = pa.table({**columns, "s": far, "t": far[::-1], "person": person})
    both(table, monkeypatch, names, ["s", "t"], person="person")


def test_numbers_in_classes_of_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Floats in both roles, single precision too: the engine's spelling decides between ties."""
    random = Random("floats")
    short = pa.array([random.choice((0.1, 0.25, -3.5, None)) for _ in range(600)], pa.float32())
    keys = [random.choice((1e-7, 2.5, 10.0, 9.0, math.nan)) for _ in range(600)]
    table = pa.table({"q": keys, "r": short, "s": short[::-1], "t": keys[::-1]})
    for quasi in (["q"], ["q", "r"], ["r"]):
        both(table, monkeypatch, quasi, ["s", "t"])


def test_classes_that_tie(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of classes as bad as each other but not alike, the first by its texts is shown."""
    random = Random(5)
    for _ in range(5):
        cells = [
            (f"c{random.randint(0, 10**6)}", random.choice(((1, 2), (2, 1)))) for _ in range(9)
        ]
        rows = [(q, 10 * v) for q, pair in cells for v in (0, 1) for _ in range(pair[v])]
        random.shuffle(rows)
        columns = zip(*rows, strict=True)
        both(pa.table(dict(zip("qs", map(list, columns), strict=True))), monkeypatch, ["q"], ["s"])


def test_people_are_counted_in_one_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether they repeat, how many they are and what is missing follow from that count."""
    monkeypatch.setattr(session, "PACKED_FROM", 0)
    monkeypatch.setattr(session, "LOADING", 0)
    passes, asked, query_records = watch_passes(monkeypatch), list[str](), DuckDB.query_records
    monkeypatch.setattr(
        DuckDB, "query_records", lambda self, sql: asked.append(sql) or query_records(self, sql)
    )
    table = pa.table({"id": [1, 1, None, 2], "q": [1, None, 2, 2], "r": ["a", "a", "b", "b"]})
    sievert.assess(table, ["q", "r"], person="id")
    assert len(passes) == 1
    assert not [sql for sql in asked if "c0" in sql]  # where the person is


def test_a_stopped_count_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(self: packed.PackedRecords, *_: Any) -> None:
        self.interrupt()
        return count(self, *_)

    count = packed.PackedRecords._count
    monkeypatch.setattr(packed.PackedRecords, "_count", stop)
    monkeypatch.setattr(session, "PACKED_FROM", 0)
    monkeypatch.setattr(session, "LOADING", 0)
    with pytest.raises(sievert.SievertError, match="stopped before"):
        sievert.assess(random_table(Random(1)), ["number"], ["secret"])


def test_explain(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "t.parquet"
    parquet.write_table(random_table(Random(8)), path)
    found = []
    for large in (10**12, 0):
        monkeypatch.setattr(explanation, "LARGE_POPULATION", large)
        explained = sievert.explain(path, ["number", "text", "day", "flag"], ["secret"])
        found.append(json.dumps(explained.to_dict(), sort_keys=True))
    assert found[0] == found[1]
