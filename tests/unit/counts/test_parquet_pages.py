"""Codes from a Parquet file's pages are those of its values; anything odd is declined."""

from __future__ import annotations

import datetime
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from sievert.counts.packed import parquet_pages
from sievert.counts.packed.coding import CodedColumn
from sievert.counts.packed.sources import ParquetSource, RecordBatch

PLAIN = ("number", "unsigned", "long", "text", "day", "sure", "same")


def frame(records: int, seed: int = 1) -> pa.Table:
    random = Random(seed)

    def lacking(make: Any, share: float = 0.2) -> list[Any]:
        return [None if random.random() < share else make() for _ in range(records)]

    day = datetime.date(1970, 1, 1)
    return pa.table(
        {
            "number": pa.array(lacking(lambda: random.randint(-3, 300)), pa.int16()),
            "unsigned": pa.array(lacking(lambda: 2**32 - random.randint(1, 9)), pa.uint32()),
            "long": pa.array(lacking(lambda: random.randint(0, 5) - 2**40), pa.int64()),
            "text": lacking(lambda: f"é{random.randint(0, 40)}"),
            "day": lacking(lambda: day + datetime.timedelta(days=random.randint(-9, 9))),
            "sure": lacking(lambda: random.choice("abc"), 0),
            "same": ["x"] * records,
            "flag": lacking(lambda: random.random() < 0.5),
        }
    )


def values(path: Path, names: list[str], *, by_pages: bool, least: int = 0) -> list[Any]:
    """The spelled values of every record; `least` columns must come from pages."""
    source = ParquetSource([path])
    coded = source.code(names)
    for column in coded:
        if column.kind == "text":
            column.bits = 10
    done: list[str] = []
    rows: list[Any] = []
    for batch in source.batches():
        keys = np.zeros(batch.records, dtype=np.uint64)

        def chunk(name: str, batch: RecordBatch = batch) -> Any:
            assert batch.chunk is not None
            found = replace(batch.chunk(name), records_per_text=0)

            class Watched:
                def pack(self, *given: Any) -> bool:
                    packed = found.pack(*given)
                    done.extend([name] * packed)
                    return packed

            return Watched()

        watched = RecordBatch(
            start=batch.start,
            records=batch.records,
            read_column=batch.read_column,
            chunk=chunk if by_pages else None,
        )
        watched.pack(coded, keys)
        shift = sum(c.bits for c in coded)
        columns = []
        for column in coded:
            shift -= column.bits
            held = (keys >> np.uint64(shift)) & np.uint64((1 << column.bits) - 1)
            columns.append(column.spell(held))
        rows.extend(zip(*columns, strict=True))
    if by_pages:
        assert len(set(done)) >= least, f"from pages came only {sorted(set(done))}"
    return rows


@pytest.mark.parametrize("codec", ["none", "snappy", "gzip", "zstd"])
@pytest.mark.parametrize("version", ["1.0", "2.0"])
@pytest.mark.parametrize("size", [64, 1 << 20])
@pytest.mark.slow
def test_written_by_arrow(codec: str, version: str, size: int, tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    data = frame(5000)
    parquet.write_table(
        data, path, compression=codec, data_page_version=version, data_page_size=size,
        row_group_size=2000,
    )  # fmt: skip
    names = [*PLAIN, "flag"]
    found = values(path, names, by_pages=True, least=len(PLAIN))
    assert found == values(path, names, by_pages=False)
    expected = data.column("text").to_pylist()
    assert [row[names.index("text")] for row in found] == expected


def test_columns_that_must_be_there(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    kinds = pa.schema([pa.field("sure", pa.string(), nullable=False)])
    parquet.write_table(frame(1000).select(["sure"]).cast(kinds), path)
    assert values(path, ["sure"], by_pages=True, least=1) == values(path, ["sure"], by_pages=False)


def test_written_by_duckdb(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    with duckdb.connect() as connection:
        connection.register("data", frame(20_000))
        connection.execute(f"COPY data TO '{path}' (FORMAT parquet, ROW_GROUP_SIZE 3000)")
    assert values(path, list(PLAIN), by_pages=True, least=3) == values(
        path, list(PLAIN), by_pages=False
    )


def test_other_encodings_are_read_as_values(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    parquet.write_table(frame(3000), path, use_dictionary=["text"])
    assert values(path, list(PLAIN), by_pages=True, least=1) == values(
        path, list(PLAIN), by_pages=False
    )


def test_a_dictionary_given_up_half_way(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    parquet.write_table(
        pa.table({"text": [f"t{i % 700}" for i in range(5000)]}), path,
        dictionary_pagesize_limit=600, data_page_size=200, write_batch_size=50,
    )  # fmt: skip
    assert values(path, ["text"], by_pages=True) == values(path, ["text"], by_pages=False)


@pytest.mark.slow
def test_bytes_changed_anywhere_never_crash(tmp_path: Path) -> None:
    """Whatever the pages say, nothing outside of them is read, and no key leaves its bits."""
    path, random = tmp_path / "a.parquet", Random(5)
    parquet.write_table(frame(700), path, compression="none")
    whole = path.read_bytes()
    source = ParquetSource([path])
    coded = {c.name: c for c in source.code(PLAIN)}
    [batch] = source.batches()
    assert batch.chunk is not None
    taken = 0
    for _ in range(4000):
        name = random.choice(PLAIN)
        chunk = replace(batch.chunk(name), records_per_text=0)
        start = chunk.noted.dictionary_page_offset
        changed = bytearray(whole)
        for _ in range(random.choice((1, 1, 3))):
            changed[start + random.randrange(chunk.noted.total_compressed_size)] ^= random.choice(
                (1, 128, 255, random.randrange(1, 256))
            )
        path.write_bytes(changed)
        keys = np.zeros(batch.records, dtype=np.uint64)
        bits = 12 if coded[name].kind == "text" else coded[name].bits
        column = CodedColumn(name=name, kind=coded[name].kind, least=coded[name].least, bits=bits)
        if chunk.pack(keys, 3, column.dictionary_codes):
            taken += 1
            assert int(keys.max()) < 1 << (3 + column.bits)
    assert taken > 500  # texts and numbers changed, not the pages' form


def test_texts_with_few_records_each_are_left_to_arrow(tmp_path: Path) -> None:
    """pyarrow reads a large dictionary faster, text by text; numbers are unpacked in any case."""
    path = tmp_path / "t.parquet"
    parquet.write_table(frame(700), path)
    (batch,) = ParquetSource([path]).batches()
    assert batch.chunk is not None
    coded = {c.name: c for c in ParquetSource([path]).code(["text", "same", "number"])}
    for name, unpacked in {"text": False, "same": True, "number": True}.items():
        keys = np.zeros(700, dtype=np.uint64)
        assert batch.chunk(name).pack(keys, 0, coded[name].dictionary_codes) is unpacked
    keys = np.zeros(700, dtype=np.uint64)
    enough = replace(batch.chunk("text"), records_per_text=10)
    assert enough.pack(keys, 0, coded["text"].dictionary_codes)


def test_a_chunk_that_is_cut_short_is_declined(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    parquet.write_table(frame(700), path)
    [batch] = ParquetSource([path]).batches()
    assert batch.chunk is not None
    chunk = replace(batch.chunk("text"), records_per_text=0)
    path.write_bytes(path.read_bytes()[: chunk.noted.dictionary_page_offset + 30])
    column = CodedColumn(name="text", kind="text", bits=12)
    assert not chunk.pack(np.zeros(700, dtype=np.uint64), 0, column.dictionary_codes)
    assert not parquet_pages.Chunk(
        path=tmp_path / "none", noted=chunk.noted, optional=True, plain=True, unsigned=False
    ).pack(np.zeros(700, dtype=np.uint64), 0, column.dictionary_codes)
