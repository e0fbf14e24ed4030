"""What an engine must be able to do: the contract of an adapter, and what follows by default.

Columns are called c0, c1, ... in the view `input` that the adapter makes of a table. Questions
about records read this view. Questions about cells read tables that were counted from it.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from sievert.counts.recoded_records import RecodedRecords
from sievert.formatting.remarks import Remark
from sievert.sources.table import Table

ColumnKind = Literal["text", "float", "ordered", "other"]
LoadedColumns = Mapping[str, tuple[str, Sequence[Any]]]  # the type and the values of each column


@dataclass(frozen=True, kw_only=True)
class HashDialect:
    """How an engine spells the hashes of a sketch in SQL."""

    string: str  # the type of a text
    as_text: Callable[[str], str]  # a column's value as DuckDB spells it
    octets: str  # the number of bytes of a text
    digest: str  # the first 16 hexadecimal digits of SHA-256 of a text

    def hash(self, key: str, sign: str, columns: Iterable[tuple[str, bool]]) -> str:
        """The hash of columns as hexadecimal text; each comes with whether it has floats."""
        parts = []
        for column, of_float in columns:
            text = self.as_text(column)
            if of_float:
                text = f"REGEXP_REPLACE({text}, '[.]0$', '')"
            size = f"CAST({self.octets.format(text)} AS {self.string})"
            parts.append(f"CASE WHEN {column} IS NULL THEN '-' ELSE {size} || ':' || {text} END")
        return self.digest.format(" || ".join([f"'{key}{sign}'", *parts]))


class Adapter(ABC):
    """One table on one engine.

    The capabilities say what else the engine can do. Other modules ask for a capability, never for
    the name of an engine.
    """

    # -- capabilities ---------------------------------------------------------------------------

    keeps_order: bool = False
    """The rows of the view `input` have the order of the table."""
    records_here: bool = False
    """This process reads the records, so that they can be fetched as codes or packed keys."""
    rereads_text: bool = False
    """Every question about a column of a text file reads the whole file again."""
    streams: bool = False
    """The answer to a query about records can be read as a stream of Arrow batches."""
    writes_parts: bool = False
    """A release as Parquet is a directory of parts, and this engine reads it again."""
    hex_bytes: bool = False
    """Bytes as text are their digits alone, such as 666c75."""

    # -- the table ------------------------------------------------------------------------------

    name: str
    """The name of the engine in every result."""
    table: Table
    columns: tuple[str, ...]
    kinds: Mapping[str, str]
    """The type of each column, in the words of DuckDB."""
    notes: list[Remark]
    """Remarks about the table that belong into the result."""
    not_read: int = 0
    """The number of other sheets, tables or files in the source."""
    expected: int | None = None
    """The number of records, where it is known before they are read."""
    weight: str | None = None
    """The column that says how many records a row stands for, in a state."""
    uncoded: str | None = None
    """The query for the columns before codes for missing values became missing."""
    untyped: str | None = None
    """The query for the columns before the types that the user gives."""
    nan: Mapping[str, str]
    """For columns that may hold NaN: SQL that is 1 where a value is NaN."""
    nan_source: str = "input"
    """The records before NaN became missing, which `nan` reads."""

    @abstractmethod
    def check_usable(self, column: str) -> None:
        """Raise an error if the values of a column cannot be compared, or cannot be read."""

    @abstractmethod
    def check_writable(self) -> None:
        """Raise an error if the records cannot be written to a file, one by one."""

    @abstractmethod
    def kind(self, column: str) -> ColumnKind:
        """Whether a column has text, floats, other values with an order, or neither."""

    # -- questions about records ----------------------------------------------------------------

    @abstractmethod
    def view(self, name: str, sql: str) -> None:
        """Make a view of records."""

    @abstractmethod
    def query_records(self, sql: str) -> list[tuple[Any, ...]]:
        """Answer a query that reads records."""

    @abstractmethod
    def count(self, name: str, sql: str, records: int) -> None:
        """Count cells over `records` records, and keep them as a table."""

    def count_together(
        self, queries: Mapping[str, tuple[str, str]], keys: str, source: str, records: int
    ) -> bool:
        """Count the cells of several secrets in one pass; return whether the engine can.

        For the name of each table, `queries` has the secret's column and the query for it alone.
        """
        return False

    def keep_there(self, name: str, sql: str) -> bool:
        """Keep the answer to a query about records beside them; return whether the engine can.

        An engine that cannot is asked with the query in a WITH clause.
        """
        return False

    @abstractmethod
    def has_text(self, column: str, text: str) -> str:
        """The condition that a record's value in a column has this text."""

    @abstractmethod
    def text_literal(self, text: str) -> str:
        """A text as a literal in a question about records."""

    @abstractmethod
    def record_text(self, column: str) -> str:
        """The text of a record's value."""

    @abstractmethod
    def matches(self, column: str, pattern: str) -> str:
        """The condition that the text of a record's value matches a regular expression."""

    def hash_dialect(self) -> HashDialect:
        """How this engine spells the hashes of a sketch."""
        raise NotImplementedError

    def read_arrow(self, columns: Sequence[str]) -> Iterator[Any]:
        """Read some columns of the records in Arrow batches, where the engine `streams`."""
        raise NotImplementedError

    def stream(self, sql: str) -> Iterator[Any]:
        """Answer a query in Arrow batches, where the engine `streams`."""
        raise NotImplementedError

    # -- questions about cells ------------------------------------------------------------------

    @abstractmethod
    def keep(self, name: str, sql: str) -> None:
        """Keep the answer to a query about cells as a table."""

    @abstractmethod
    def forget(self, name: str) -> None:
        """Drop a table of cells."""

    @abstractmethod
    def load(self, table: str, columns: LoadedColumns) -> None:
        """Make a table beside the cells from values of this process."""

    @abstractmethod
    def rows(self, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Answer a query about cells."""

    @abstractmethod
    def arrays(self, sql: str) -> list[Any]:
        """Answer a query about cells, column by column."""

    @abstractmethod
    def each_answer(self, queries: Sequence[str]) -> list[list[Any]]:
        """Answer several queries about cells, column by column; together, where this is faster."""

    @abstractmethod
    def list_downwards(self, value: str) -> str:
        """The values of a group as a list, the largest first."""

    @abstractmethod
    def list_in_order(self, value: str, by: str) -> str:
        """The values of a group as a list, in the order of `by`."""

    @abstractmethod
    def list_pairs(self, n: str, ns: str, wide: bool) -> str:
        """The pairs of two numbers of a group as a list."""

    @abstractmethod
    def profile(self, wide: bool) -> str:
        """The first numbers of the list `held` of pairs, the largest first."""

    @abstractmethod
    def each_pair(self, table: str, wide: bool) -> str:
        """The query for one row per pair of the lists `held` of a table."""

    @abstractmethod
    def gap(self, records: int, wide: bool) -> str:
        """The sum of max(0, n·records - ns·nq) over the pairs (n, ns) of the list `held`."""

    @abstractmethod
    def as_text(self, value: str) -> str:
        """The text of a value of cells."""

    # -- files ----------------------------------------------------------------------------------

    @abstractmethod
    def write(
        self,
        sql: str,
        path: Path,
        kind: str,
        *,
        delimiter: str = ",",
        header: bool = True,
        details: str = "",
    ) -> None:
        """Write the answer to a query about records to a file."""

    def write_cells(
        self, sql: str, as_text: Collection[str], folder: Path, names: Sequence[str]
    ) -> list[Path] | None:
        """Count cells and write them as Parquet files; return the files.

        The columns `as_text` are written as text. An engine that cannot write cells itself returns
        None: then they are counted as a table, which `write_counted` writes.
        """
        return None

    def write_counted(self, sql: str, path: Path, kind: str) -> None:
        """Write the answer to a query about cells to a file."""
        self.write(sql, path, kind)

    def register(self, name: str, frame: Any) -> None:
        """Show a frame of this process to the engine beside its cells."""
        raise NotImplementedError

    def unregister(self, name: str) -> None:
        """Let go of a frame."""
        raise NotImplementedError

    def write_release(
        self,
        records: RecodedRecords,
        path: Path,
        kind: str,
        *,
        delimiter: str,
        header: bool,
        key: str | None,
    ) -> str | None:
        """Write a release; return the table of the place of each record, if records have numbers.

        The table has the place of each record `n`.
        """
        raise NotImplementedError

    def show_recoded(self, view: str, records: RecodedRecords) -> None:
        """Make a view of recoded records, with the names of columns of the view `input`."""
        raise NotImplementedError

    # -- while it runs --------------------------------------------------------------------------

    def progress(self) -> float:
        """The per cent of the running query that are done; -1 if that is not known."""
        return -1.0

    @abstractmethod
    def interrupt(self) -> None:
        """Stop the running query; its caller gets an error."""

    @abstractmethod
    def close(self) -> None:
        """Close the engine, and leave nothing behind."""
