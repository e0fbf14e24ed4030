"""Cells counted by Spark: fetched while they fit here, kept there from the first that do not.

They are fetched once, in columns, into a DuckDB of our own, which answers everything that follows
from them, because Spark takes longer to plan a question than DuckDB to answer it.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

from sievert.counts.adapter import Adapter, LoadedColumns
from sievert.counts.cells import ask_together
from sievert.counts.duckdb import connection
from sievert.counts.duckdb.adapter import DuckDB
from sievert.counts.spark.cluster_cells import ClusterCells, has_arrow
from sievert.errors import InputError, require
from sievert.numerics.acceleration import thread_count

MOST_CELLS = 10**7  # cells up to which they are fetched


class FetchedCells(Adapter):
    """Tables of cells, all here or all on Spark, and the dialect of the engine that has them."""

    _session: Any

    def _guard(self, ask: Callable[[], Any]) -> Any:
        """Ask, unless interrupted; failures become our errors."""
        raise NotImplementedError

    def _ask(self, sql: str, use: Callable[[Any], Any], parameters: Sequence[Any] = ()) -> Any:
        """Pass the frame of a query on Spark to a function."""
        raise NotImplementedError

    def _open_cells(
        self, scratch: Path, resources: ExitStack, memory: str | None, threads: int | None
    ) -> None:
        self._made: dict[str, str | LoadedColumns] = {}  # the query or columns of each table
        self._there = ClusterCells(self._ask, self._session, self.kinds)
        resources.callback(self._there.forget_all)
        self._cells: DuckDB | ClusterCells = self._there
        self._checked = self.expected is None  # whether as many records were read as expected
        if MOST_CELLS and has_arrow():
            few = self.expected is not None and self.expected < connection.SMALL
            none = replace(
                self.table, kind="columns", data={"n": ()}, columns=("n",), types={}, na=()
            )
            options: Any = {} if few else {"memory": memory, "threads": thread_count(threads)}
            here = DuckDB(none, scratch, **options)
            self._cells = here
            resources.callback(here.close)
            here.run("DROP VIEW input")  # the records are not there

    def _interrupt_cells(self) -> None:
        if isinstance(self._cells, DuckDB):
            self._cells.interrupt()

    def _check_records(self) -> None:
        """Check how many records Spark reads, if they are queried before any cell is counted."""
        if not self._checked:
            self._checked = True
            self.table.check_records(
                self._there.rows("SELECT COUNT(*) FROM input")[0][0], self.expected
            )

    def count(self, name: str, sql: str, records: int) -> None:
        """Count cells, and fetch them if they fit; from the first that do not, all stay."""
        here = self._cells
        counted = records
        fetched = self._fetch(name, sql, records) if isinstance(here, DuckDB) else None
        if isinstance(here, DuckDB) and fetched is not None:
            counted = self._take({name: "SELECT * FROM fetched"}, fetched, here)
        else:
            if isinstance(here, DuckDB):
                self._make_again()
            self._there.keep(name, sql)
            if not self._checked:
                counted = int(self._there.rows(f"SELECT SUM(n) FROM {name}")[0][0] or 0)
        self._check_counted(counted, records)
        self._made[name] = sql

    def _make_again(self) -> None:
        """Make all tables of cells once more, on Spark, and ask there from now on."""
        self._cells = self._there
        for table, made in self._made.items():
            if isinstance(made, str):
                self._there.keep(table, made)
            else:
                self._there.load(table, made)

    def count_together(
        self, queries: Mapping[str, tuple[str, str]], keys: str, source: str, records: int
    ) -> bool:
        """Count the cells of several secrets in one pass over the records, if all of them fit."""
        here = self._cells
        columns = [column for column, _ in queries.values()]
        if not isinstance(here, DuckDB):
            return False
        name = next(iter(queries))
        sql = ask_together(columns, keys, source)
        fetched = self._fetch(name, sql, records * len(columns))
        if fetched is None:
            self._there.forget(name)
            return False
        queries_here = {
            table: f"SELECT {keys}, s{i} AS s, n FROM fetched WHERE which = {i}"
            for i, table in enumerate(queries)
        }
        self._check_counted(self._take(queries_here, fetched, here) / len(columns), records)
        self._made |= {table: single for table, (_, single) in queries.items()}
        return True

    def _take(self, queries: Mapping[str, str], fetched: Any, here: DuckDB) -> int:
        """Make tables of the fetched cells; return the number of records that they cover."""
        here.register("fetched", fetched)
        for name, sql in queries.items():
            here.keep(name, sql)
        here.unregister("fetched")
        return int(fetched.column("n").to_numpy().sum())

    def _check_counted(self, counted: float, records: int) -> None:
        """Check that the cells cover the records, and that the file has as many records."""
        if not self._checked:
            self._checked = True
            self.table.check_records(int(counted), self.expected)
        require(
            counted == records,
            f"{self.table.name}: two counts of its records differ",
            hint="a frame that does not depend on time or chance",
            error=InputError,
        )

    def _fetch(self, name: str, sql: str, records: int) -> Any:
        """Fetch the cells as columns; None if they are too many, or too large for the driver.

        If there are more than `MOST_CELLS` records, Spark counts the cells first.
        """
        kept = records > MOST_CELLS
        if kept:
            self._there.keep(name, sql)
            if self._there.rows(f"SELECT COUNT(*) FROM {name}")[0][0] > MOST_CELLS:
                return None
        fetched = self._ask(f"SELECT * FROM {name}" if kept else sql, _columns)
        if kept and fetched is not None:
            self._there.forget(name)
        return fetched

    def keep(self, name: str, sql: str) -> None:
        self._guard(lambda: self._cells.keep(name, sql))
        self._made[name] = sql

    def load(self, table: str, columns: LoadedColumns) -> None:
        self._guard(lambda: self._cells.load(table, columns))
        self._made[table] = columns

    def forget(self, name: str) -> None:
        del self._made[name]
        self._guard(lambda: self._cells.forget(name))

    def rows(self, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        return list(self._guard(lambda: self._cells.rows(sql, parameters)))

    def arrays(self, sql: str) -> list[Any]:
        return list(self._guard(lambda: self._cells.arrays(sql)))

    def each_answer(self, queries: Sequence[str]) -> list[list[Any]]:
        return list(self._guard(lambda: self._cells.each_answer(queries)))

    def list_downwards(self, value: str) -> str:
        return self._cells.list_downwards(value)

    def list_in_order(self, value: str, by: str) -> str:
        return self._cells.list_in_order(value, by)

    def list_pairs(self, n: str, ns: str, wide: bool) -> str:
        return self._cells.list_pairs(n, ns, wide)

    def profile(self, wide: bool) -> str:
        return self._cells.profile(wide)

    def each_pair(self, table: str, wide: bool) -> str:
        return self._cells.each_pair(table, wide)

    def gap(self, records: int, wide: bool) -> str:
        return self._cells.gap(records, wide)

    def as_text(self, value: str) -> str:
        return self._cells.as_text(value)


def _columns(frame: Any) -> Any:
    """A frame as columns of Arrow; None if it is too large for the driver."""
    try:
        return frame.toArrow()
    except Exception as error:
        if "maxResultSize" in str(error):
            return None
        raise
