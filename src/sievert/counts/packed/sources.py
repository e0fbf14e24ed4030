"""The sources of records whose keys are packed: Parquet files, or columns coded in memory."""

import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from sievert.arrays import Ints
from sievert.counts.cube import MOST_BITS
from sievert.counts.packed import kernels
from sievert.counts.packed.coding import (
    CodedColumn,
    UnfitError,
    column_kind,
    plain_numbers,
    value_type,
)
from sievert.counts.packed.parquet_pages import Chunk
from sievert.counts.packed.threads import WORTH_THREADS, Pace, map_threads
from sievert.errors import SievertError
from sievert.sources.table import Table

BATCH = 1 << 20
CODE_BYTES = 16  # of a value, while a column is being coded


@dataclass(frozen=True)
class RecordBatch:
    """Some records: their start, their number, and a function that reads a column of them."""

    start: int
    records: int
    read_column: Callable[[str], Any]
    chunk: Callable[[str], Chunk] | None = None

    def pack(self, coded: Sequence[CodedColumn], keys: Ints, low: int = 0) -> None:
        """Put the columns' codes into the records' keys, the last one above the `low` lowest bits.

        The keys must be 0 below the bits of the first column.
        """
        shift = low + sum(c.bits for c in coded)
        for column in coded:
            shift -= column.bits
            chunk = None
            if self.chunk is not None and column.kind != "bool":
                chunk = self.chunk(column.name)
                if chunk.pack(keys, shift, column.dictionary_codes):
                    continue
            array = self.read_column(column.name)
            if len(array) != len(keys):
                raise UnfitError  # not what the writer has noted
            if chunk is not None:  # it may have left something
                keep = (1 << MOST_BITS) - (1 << shift + column.bits)
                keys &= keys.dtype.type(keep & int(np.iinfo(keys.dtype).max))
            coded_already = isinstance(array, np.ndarray)
            if coded_already:
                numbers = array
                minus = 0
                least = 0
            else:
                numbers, minus, least = column.codes(array)
            if not kernels.pack(keys, numbers, minus, column.bits, least, shift):
                raise UnfitError


class Source(Protocol):
    """Records that can be coded."""

    records: int

    def plan(self, names: Sequence[str]) -> None:
        """Say which columns will be needed."""

    def code(self, names: Sequence[str], room: int, threads: int, pace: Pace) -> list[CodedColumn]:
        """The coding of each column, as far as it is known before the records are read."""

    def batches(self) -> list[RecordBatch]:
        """All records."""


class ParquetSource:
    """Row groups of Parquet files, several of them read at a time."""

    def __init__(self, paths: Sequence[Path]) -> None:
        files = [parquet.ParquetFile(path) for path in paths]
        self._paths = paths
        self.schema = files[0].schema_arrow
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
        self._numbered: dict[str, CodedColumn] = {}  # those whose values were numbered last

    def plan(self, names: Sequence[str]) -> None:
        """Do nothing: columns are read one by one."""

    def batches(self) -> list[RecordBatch]:
        """The row groups."""
        sizes = [self._metadata[part].row_group(group).num_rows for part, group in self._groups]
        return [
            RecordBatch(
                start=start,
                records=size,
                read_column=partial(self._read_column, *place),
                chunk=partial(self._chunk, *place),
            )
            for start, size, place in zip(
                accumulate([0, *sizes]), sizes, self._groups, strict=False
            )
        ]

    def code(self, names: Sequence[str], *_: Any) -> list[CodedColumn]:
        """Code columns with the bits that the first row group needs; they get more when necessary.

        A value that was numbered before keeps its number, so that several passes agree.
        """
        coded = []
        for name in names:
            if self.schema.get_field_index(name) < 0:  # absent, or there twice
                raise UnfitError
            column = CodedColumn(name=name, kind=column_kind(self.schema.field(name).type))
            before = self._numbered.get(name)
            if column.numbered and before is not None and before.size:
                column.values = before.values
                column.bits = before.size.bit_length()
                self._numbered[name] = column
            elif column.numbered:
                self._numbered[name] = column
                column.dictionary_codes(self.values(name), growing=True)
                # A column without a dictionary is assumed to have many values.
                column.bits = (column.size or self.records).bit_length()
            elif column.kind == "bool":
                column.fit_range(0, 1)
            else:
                column.fit_range(*self.range(name))
            coded.append(column)
        return coded

    def _read_column(self, part: int, group: int, name: str) -> Any:
        """A column of a row group; every thread has files of its own."""
        files = self._mine.__dict__.setdefault("files", {})
        noted = self._metadata[part].row_group(group).column(self._places[part][name])
        text = noted.physical_type == "BYTE_ARRAY" and noted.has_dictionary_page
        if (part, text and name) not in files:
            files[part, text and name] = parquet.ParquetFile(
                self._paths[part], read_dictionary=[name] if text else None, memory_map=True
            )
        table = files[part, text and name].read_row_group(group, columns=[name], use_threads=False)
        return table.column(name).combine_chunks()

    def _chunk(self, part: int, group: int, name: str) -> Chunk:
        metadata = self._metadata[part]
        place = self._places[part][name]
        column = metadata.schema.column(place)
        return Chunk(
            path=self._paths[part],
            noted=metadata.row_group(group).column(place),
            optional=column.max_definition_level == 1,
            plain=column.max_definition_level <= 1 and column.max_repetition_level == 0,
            unsigned=pa.types.is_unsigned_integer(value_type(self.schema.field(name).type)),
        )

    def values(self, name: str) -> list[Any]:
        """The values of a column in the first row group, which may not be all values."""
        return self._chunk(0, 0, name).values() if self._metadata[0].num_row_groups else []

    def range(self, name: str) -> tuple[int, int]:
        """The least and the greatest number of a column, as noted by the writer."""
        limits: list[int] = []
        for part, group in self._groups:
            chunk = self._metadata[part].row_group(group).column(self._places[part][name])
            noted = chunk.statistics
            if noted is not None and noted.has_min_max:
                limits += (_number(noted.min), _number(noted.max))
            elif noted is None or noted.null_count != chunk.num_values:
                raise UnfitError
        return min(limits, default=0), max(limits, default=0)


def _number(value: Any) -> int:
    return int(np.datetime64(value, "D").astype(int) if hasattr(value, "toordinal") else value)


class CodedSource:
    """Arrow columns, of a frame or from the engine, which are read once and kept as codes.

    Planned columns are read together with the first column that is needed.
    """

    def __init__(
        self, read: Callable[[Sequence[str]], Iterable[Any]], columns: Iterable[str], records: int
    ) -> None:
        self._read = read
        self._columns = tuple(columns)
        self.records = records
        self._planned: tuple[str, ...] = ()
        self._coded: dict[str, tuple[CodedColumn, Ints] | None] = {}

    def plan(self, names: Sequence[str]) -> None:
        """Read these columns together with the first one that is needed."""
        self._planned = tuple(dict.fromkeys(names))

    def code(self, names: Sequence[str], room: int, threads: int, pace: Pace) -> list[CodedColumn]:
        """The coding of each column; columns that were not coded before are read."""
        if not set(names) <= set(self._columns):
            raise UnfitError
        wanted = dict.fromkeys((*names, *self._planned))
        new = [name for name in wanted if name not in self._coded]
        if new:
            if CODE_BYTES * self.records * len(self._coded | dict.fromkeys(new)) > room:
                raise UnfitError
            self._coded |= dict.fromkeys(new)  # for good, unless it is read whole
            self._coded |= self._read_codes(new, threads, pace)
        columns = [self._coded[name] for name in names]
        if any(c is None or len(c[1]) != self.records for c in columns):
            raise UnfitError
        return [c[0] for c in columns if c is not None]

    def _read_codes(
        self, names: Sequence[str], threads: int, pace: Pace
    ) -> dict[str, tuple[CodedColumn, Ints] | None]:
        parts = [_ColumnParts(name) for name in names]
        try:
            for batch in self._read(names):
                pace.step()
                pairs = zip(parts, batch.columns, strict=True)
                own = threads if batch.num_rows > WORTH_THREADS else 1
                map_threads(lambda pair: pair[0].add(pair[1]), pairs, own)
        except SievertError:
            raise
        except Exception:  # the engine meets the same fault when it counts, and explains it
            pace.step()
            raise UnfitError from None
        return dict(zip(names, map_threads(_ColumnParts.join, parts, threads), strict=True))

    def batches(self) -> list[RecordBatch]:
        """Slices of the codes."""
        return [
            RecordBatch(start, min(BATCH, self.records - start), partial(self._slice, start))
            for start in range(0, self.records, BATCH)
        ]

    def _slice(self, start: int, name: str) -> Ints:
        column = self._coded[name]
        assert column is not None
        return column[1][start : start + BATCH]


class _ColumnParts:
    """A column that is being coded, part by part."""

    def __init__(self, name: str) -> None:
        self.column = CodedColumn(name=name, kind="text")
        self.fits = True
        self._parts: list[tuple[Ints, Ints | None]] = []

    def add(self, array: Any) -> None:
        """Add values; numbers are coded once all of them are there."""
        try:
            self.column.kind = column_kind(array.type)
        except UnfitError:
            self.fits = False
        if not self.fits:
            return
        if self.column.numbered:
            self._parts.append((self.column.number_array(array, growing=True), None))
            return
        numbers = plain_numbers(array, self.column.kind)
        lacking = np.asarray(numbers.is_null()) if numbers.null_count else None
        if lacking is not None:
            numbers = numbers.fill_null(0)
        self._parts.append((np.asarray(numbers), lacking))

    def join(self) -> tuple[CodedColumn, Ints] | None:
        """The column and the codes of all records; None if it cannot be coded."""
        if not self.fits or not self._parts:
            return None
        column = self.column
        if column.numbered:
            column.bits = max(1, column.size.bit_length())
            return column, np.concatenate([part for part, _ in self._parts])
        present = [part if lacks is None else part[~lacks] for part, lacks in self._parts]
        limits = [int(edge) for part in present if len(part) for edge in (part.min(), part.max())]
        try:
            column.fit_range(min(limits, default=0), max(limits, default=0))
        except UnfitError:
            return None
        kind: Any = np.uint32 if column.bits <= 32 else np.uint64
        codes = np.zeros(sum(len(part) for part, _ in self._parts), dtype=kind)
        at = 0
        for part, lacks in self._parts:
            own = (part.astype(np.int64) - (column.least - 1)).astype(kind)
            codes[at : at + len(part)] = own if lacks is None else np.where(lacks, 0, own)
            at += len(part)
        return column, codes


def packable_source(table: Table, engine: Any, columns: Sequence[str], records: int) -> Source:
    """The source of a table's records; they come from the engine if there is no shorter way."""
    plain = not (table.na or table.types or table.member)
    if plain and table.kind == "parquet" and table.path is not None:
        return ParquetSource(table.parts or (table.path,))
    if plain and (
        isinstance(table.data, pa.Table) or type(table.data).__module__.startswith("polars")
    ):
        frame = pa.table(table.data)
        return CodedSource(lambda names: frame.select(list(names)).to_batches(), columns, records)
    return CodedSource(engine.read_arrow, columns, records)
