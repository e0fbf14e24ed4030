"""Packed keys: columns as small integers side by side, and how many records have each key.

The code 0 is a missing value; numbers are coded by their distance to the smallest one, text by the
order in which it comes. What cannot be coded so is left to DuckDB.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import compute, parquet

from sievert.arrays import Ints
from sievert.counts.cube import MOST_BITS
from sievert.counts.packed import kernels, page_kernels
from sievert.counts.packed.parquet_pages import Chunk
from sievert.counts.packed.sorting import count_sorted
from sievert.errors import ExhaustedError
from sievert.sources.table import Table

BATCH = 1 << 20
DENSE = 24  # bits of a key up to which keys are counted in an array
SPARSE = 8  # places of that array per record, beyond which keys are sorted instead
FEW = 1 << 16  # places that are always affordable
SPELLINGS: dict[str, Callable[[int], str]] = {
    "int": str,
    "bool": lambda number: str(bool(number)).lower(),
    "date": lambda number: str(np.datetime64(number, "D")),
}


class UnfitError(Exception):
    """The columns cannot be coded: the engine counts them."""


class GrownError(Exception):
    """A column has more texts than its bits can hold."""


@dataclass
class CodedColumn:
    """How the values of one column become codes, and back."""

    name: str
    kind: str  # int, date, bool, text
    least: int = 0
    bits: int = 1
    texts: dict[Any, int] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def codes(self, array: Any) -> tuple[Ints, int, int]:
        """Numbers, what to subtract from them to get codes, and the least valid code."""
        if self.kind == "text":
            return self._text_codes(array), 0, 0
        if self.kind != "int":
            array = array.cast(pa.int32() if self.kind == "date" else pa.int8())
        if not array.null_count:
            return np.asarray(array), self.least - 1, 1
        numbers = np.asarray(array.fill_null(self.least)).astype(np.int64) - (self.least - 1)
        if numbers.min() < 1:
            raise UnfitError  # not what the writer has noted
        numbers[np.asarray(array.is_null())] = 0
        return numbers, 0, 0

    def dictionary_codes(self, values: Any) -> Ints:
        """The codes of the values of a dictionary; NO_CODE for a value that has none."""
        if self.kind == "text":
            return np.array(self._number_texts(values), dtype=np.uint64)
        codes = values.astype(np.int64) - (self.least - 1)
        fits = (codes >= 1) & (codes < 1 << self.bits)
        return np.where(fits, codes.astype(np.uint64), np.uint64(page_kernels.NO_CODE))

    def _number_texts(self, texts: Sequence[str | None]) -> list[int]:
        with self.lock:
            for text in texts:
                if text is not None and text not in self.texts:
                    self.texts[text] = len(self.texts) + 1
            if len(self.texts) >= 1 << self.bits:
                raise GrownError  # the bits stay as they are: other threads are packing with them
            return [0 if text is None else self.texts[text] for text in texts]

    def _text_codes(self, array: Any) -> Ints:
        if not pa.types.is_dictionary(array.type):
            array = array.dictionary_encode()
        numbers = np.array([*self._number_texts(array.dictionary.to_pylist()), 0], dtype=np.uint32)
        return np.asarray(numbers[np.asarray(array.indices.fill_null(len(numbers) - 1))])

    def spell(self, codes: Ints) -> list[str | None]:
        """The texts of codes, as the engine would spell them."""
        if self.kind == "text":
            texts = [None, *self.texts]
            return [texts[c] for c in codes]
        return [SPELLINGS[self.kind](self.least + int(c) - 1) if c else None for c in codes]


def _value_type(arrow: Any) -> Any:
    return arrow.value_type if pa.types.is_dictionary(arrow) else arrow


def _kind(arrow: Any) -> str:
    for kind, fits in (
        ("int", pa.types.is_integer),
        ("text", pa.types.is_string),
        ("text", pa.types.is_large_string),
        ("bool", pa.types.is_boolean),
        ("date", pa.types.is_date32),
    ):
        if fits(_value_type(arrow)):
            return kind
    raise UnfitError


@dataclass(frozen=True)
class RecordBatch:
    """Some records: where they begin, how many they are, and how to read a column of them."""

    start: int
    records: int
    read_column: Callable[[str], Any]
    chunk: Callable[[str], Chunk] | None = None

    def pack(self, coded: Sequence[CodedColumn], keys: Ints) -> None:
        """Fill the records' keys, which are 0, with the columns' codes, the last one lowest."""
        shift = sum(c.bits for c in coded)
        for column in coded:
            shift -= column.bits
            chunk = None
            if self.chunk is not None and column.kind in ("int", "date", "text"):
                chunk = self.chunk(column.name)
                if chunk.pack(keys, shift, column.dictionary_codes):
                    continue
            array = self.read_column(column.name)
            if len(array) != len(keys):
                raise UnfitError  # not what the writer has noted
            if chunk is not None:  # it may have left something
                keep = (1 << MOST_BITS) - (1 << shift + column.bits)
                keys &= keys.dtype.type(keep & int(np.iinfo(keys.dtype).max))
            numbers, minus, least = column.codes(array)
            if not kernels.pack(keys, numbers, minus, column.bits, least, shift):
                raise UnfitError


class ParquetSource:
    """Row groups of Parquet files, several of them read at a time."""

    def __init__(self, paths: Sequence[Path]) -> None:
        files = [parquet.ParquetFile(path) for path in paths]
        self._paths, self.schema = paths, files[0].schema_arrow
        self._metadata = [file.metadata for file in files]
        self._places = [
            {file.schema.column(i).path: i for i in range(len(file.schema))} for file in files
        ]
        self._groups = [
            (part, group)
            for part, metadata in enumerate(self._metadata)
            for group in range(metadata.num_row_groups)
        ]
        self.records = sum(m.num_rows for m in self._metadata)
        self._mine = threading.local()

    def batches(self) -> list[RecordBatch]:
        """The row groups."""
        sizes = [self._metadata[part].row_group(group).num_rows for part, group in self._groups]
        return [
            RecordBatch(
                start, size, partial(self._read_column, *place), partial(self._chunk, *place)
            )
            for start, size, place in zip(
                accumulate([0, *sizes]), sizes, self._groups, strict=False
            )
        ]

    def _read_column(self, part: int, group: int, name: str) -> Any:
        """A column of a row group; every thread has files of its own."""
        files = self._mine.__dict__.setdefault("files", {})
        text = _kind(self.schema.field(name).type) == "text"
        if (part, text and name) not in files:
            files[part, text and name] = parquet.ParquetFile(
                self._paths[part], read_dictionary=[name] if text else None, memory_map=True
            )
        table = files[part, text and name].read_row_group(group, columns=[name], use_threads=False)
        return table.column(name).combine_chunks()

    def _chunk(self, part: int, group: int, name: str) -> Chunk:
        metadata, place = self._metadata[part], self._places[part][name]
        column = metadata.schema.column(place)
        return Chunk(
            self._paths[part],
            metadata.row_group(group).column(place),
            optional=column.max_definition_level == 1,
            plain=column.max_definition_level <= 1 and column.max_repetition_level == 0,
            unsigned=pa.types.is_unsigned_integer(_value_type(self.schema.field(name).type)),
        )

    def texts(self, name: str) -> list[str]:
        """Texts of a column that its first row group holds; they need not be all."""
        return self._chunk(0, 0, name).texts() if self._metadata[0].num_row_groups else []

    def range(self, name: str) -> tuple[int, int]:
        """The least and the greatest number of a column, from what the writer noted."""
        limits: list[int] = []
        for part, group in self._groups:
            chunk = self._metadata[part].row_group(group).column(self._places[part][name])
            noted = chunk.statistics
            if noted is not None and noted.has_min_max:
                limits += (_number(noted.min), _number(noted.max))
            elif noted is None or noted.null_count != chunk.num_values:
                raise UnfitError
        return min(limits, default=0), max(limits, default=0)


class ArrowSource:
    """An Arrow table in memory, slice by slice."""

    def __init__(self, table: Any) -> None:
        self._table, self.schema, self.records = table, table.schema, table.num_rows

    def batches(self) -> list[RecordBatch]:
        """Slices."""
        return [
            RecordBatch(start, min(BATCH, self.records - start), partial(self._read_column, start))
            for start in range(0, self.records, BATCH)
        ]

    def _read_column(self, start: int, name: str) -> Any:
        return self._table.column(name).slice(start, BATCH).combine_chunks()

    def texts(self, name: str) -> list[str]:
        """Texts of a column in the first records; they need not be all."""
        texts = compute.unique(self._table.column(name).slice(0, 1 << 16)).to_pylist()
        return [text for text in texts if text is not None]

    def range(self, name: str) -> tuple[int, int]:
        """The least and the greatest number of a column."""
        least, most = compute.min_max(self._table.column(name)).as_py().values()
        return (0, 0) if least is None else (_number(least), _number(most))


def _number(value: Any) -> int:
    return int(np.datetime64(value, "D").astype(int) if hasattr(value, "toordinal") else value)


Source = ParquetSource | ArrowSource


def code_columns(source: Source, names: Sequence[str]) -> list[CodedColumn]:
    """How each column is coded, as far as can be told without reading it."""
    coded = []
    for name in names:
        if source.schema.get_field_index(name) < 0:  # absent, or there twice
            raise UnfitError
        kind = _kind(source.schema.field(name).type)
        if kind == "text":  # as many bits as the first records need; more when there are more texts
            texts = {text: code for code, text in enumerate(dict.fromkeys(source.texts(name)), 1)}
            coded.append(CodedColumn(name, kind, 0, max(1, len(texts).bit_length()), texts))
            continue
        least, most = (0, 1) if kind == "bool" else source.range(name)
        if not -(2**62) < least <= most < 2**62:
            raise UnfitError
        coded.append(CodedColumn(name, kind, least, (most - least + 1).bit_length()))
    return coded


def packable_source(table: Table, least: int) -> Source | None:
    """The source of a table whose keys can be packed, if it has at least `least` records."""
    if table.na or table.types or table.member:
        return None
    coded: Source
    if table.kind == "parquet" and table.path is not None:
        coded = ParquetSource(table.parts or (table.path,))
    elif isinstance(table.data, pa.Table) or type(table.data).__module__.startswith("polars"):
        coded = ArrowSource(pa.table(table.data))
    else:
        return None
    return coded if coded.records >= least else None


# -- counting -----------------------------------------------------------------------------------


class Pace:
    """The progress of a count, and whether it must stop."""

    def __init__(self) -> None:
        self.stopped = threading.Event()
        self._done = self._all = 0

    def start(self, batches: list[RecordBatch]) -> list[RecordBatch]:
        """These batches are to be read."""
        self._done, self._all = 0, len(batches)
        return batches

    def step(self) -> None:
        """Another batch is about to be read; an error if the count must stop."""
        self._done += 1
        if self.stopped.is_set():
            raise ExhaustedError("stopped before the answer was there", hint="a longer --timeout")

    @property
    def share(self) -> float:
        """Per cent of the batches that are read, or -1."""
        return 100.0 * self._done / self._all if 0 < self._done < self._all else -1.0


def count_keys(
    source: Source, coded: Sequence[CodedColumn], room: int, threads: int, pace: Pace
) -> tuple[Ints, Ints]:
    """The different keys in ascending order, and how many records have each."""
    while True:
        bits = sum(c.bits for c in coded)
        dense = bits <= DENSE and 1 << bits <= max(FEW, SPARSE * source.records)
        if bits > MOST_BITS or (not dense and 32 * source.records > room):
            raise UnfitError
        try:
            return (_count_dense if dense else _count_sorted)(source, coded, bits, threads, pace)
        except GrownError:
            for column in coded:
                if len(column.texts) >= 1 << column.bits:
                    column.bits = (4 * len(column.texts)).bit_length()


def _count_dense(
    source: Source, coded: Sequence[CodedColumn], bits: int, threads: int, pace: Pace
) -> tuple[Ints, Ints]:
    """Keys counted into one array per thread."""

    def work(batches: list[RecordBatch]) -> Ints:
        counts = np.zeros(1 << bits, dtype=np.int64)
        for batch in batches:
            pace.step()
            # Zeros take no memory until they are written: a file may boast of its records.
            keys = np.zeros(batch.records, dtype=np.uint32)
            batch.pack(coded, keys)
            kernels.add_to(counts, keys)
        return counts

    batches = pace.start(source.batches())
    counts, *others = map_threads(
        work, (batches[i::threads] for i in range(threads)), threads, pace
    )
    for other in others:
        counts += other
    if int(counts.sum()) != source.records:
        raise UnfitError  # not what the writer has noted
    present = np.flatnonzero(counts)
    return present.astype(np.uint64), counts[present]


def _count_sorted(
    source: Source, coded: Sequence[CodedColumn], bits: int, threads: int, pace: Pace
) -> tuple[Ints, Ints]:
    """Keys of all records, sorted and cut into runs."""
    keys = np.zeros(source.records, dtype=np.uint64)

    def fill(batch: RecordBatch) -> None:
        pace.step()
        batch.pack(coded, keys[batch.start : batch.start + batch.records])

    map_threads(fill, pace.start(source.batches()), threads, pace)
    return count_sorted(keys, bits, threads)


def map_threads(
    work: Callable[[Any], Any], items: Iterable[Any], threads: int, pace: Pace | None = None
) -> list[Any]:
    """Do the work on every item in some threads; a failure in one thread stops all."""
    with ThreadPoolExecutor(threads) as pool:
        try:
            return list(pool.map(work, items))
        except BaseException as error:
            if pace is not None and not isinstance(error, GrownError | UnfitError):
                pace.stopped.set()
            pool.shutdown(wait=True, cancel_futures=True)
            raise
