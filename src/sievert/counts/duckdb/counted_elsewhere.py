"""A table whose records another database counts: its cells come to a DuckDB of our own.

What reads records runs in that database. DuckDB answers everything that follows from the cells. An
adapter of such a database names the columns and their types, makes the view `input`, and asks.
"""

import re
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from sievert.counts.duckdb.adapter import DuckDB
from sievert.errors import InputError, UsageError, require
from sievert.sources.table import Table

CELLS = re.compile(r"SELECT (.+), COUNT\(\*\) AS n FROM \w+ GROUP BY")
FIELD = re.compile(r"(c\d+)(?: AS (\w+))?")


class CountedElsewhere(DuckDB):
    """The DuckDB that has the cells."""

    keeps_order = False
    records_here = False
    rereads_text = False
    streams = False

    def __init__(self, table: Table, scratch: Path, **options: Any) -> None:
        self._views: dict[str, str] = {}
        none = replace(table, kind="columns", data={"n": ()}, columns=("n",), types={}, na=())
        super().__init__(none, scratch, **options)
        self.table = table

    @abstractmethod
    def ask(self, sql: str, parameters: Sequence[Any] | None = None) -> list[tuple[Any, ...]]:
        """The other database's answer to a query."""

    def view(self, name: str, sql: str) -> None:
        """Keep a view as text: a role that may only read cannot make one."""
        self._views[name] = sql

    def with_views(self, sql: str) -> str:
        """Put our views before a query."""
        views = (f"{name} AS NOT MATERIALIZED ({view})" for name, view in self._views.items())
        return f"WITH {', '.join(views)} {sql}"

    def query_records(self, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        return self.ask(self.with_views(sql), parameters or None)

    def count(self, name: str, sql: str, records: int) -> None:
        """Count cells in the other database, and load them here."""
        kinds = {field: self.kinds[column] for field, column in self.counted_fields(sql).items()}
        rows = self.query_records(sql)
        values = list(zip(*rows, strict=True)) or [() for _ in (*kinds, "n")]
        types = {**kinds, "n": "BIGINT"}
        self.load(name, dict(zip(types, zip(types.values(), values, strict=True), strict=True)))
        self.check_counted(name, records)

    def counted_fields(self, sql: str) -> dict[str, str]:
        """The columns whose cells a query counts, by the names of its fields."""
        fields = FIELD.findall(CELLS.findall(sql)[0])
        return {alias or c: self.columns[int(c[1:])] for c, alias in fields}

    def check_counted(self, cells: str, records: int) -> None:
        """Check that some cells cover all records."""
        ((counted,),) = self.rows(f"SELECT SUM(n) FROM {cells}")
        require(
            int(counted or 0) == records,
            f"{self.table.name}: two counts of its records differ",
            hint="a table, or a view that does not depend on time or chance",
            error=InputError,
        )

    def check_writable(self) -> None:
        """Raise an error: records stay in the database."""
        raise UsageError("--records needs the records here", hint="the table as a file or a frame")
