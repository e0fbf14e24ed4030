"""Cells counted by Spark: fetched while they are few, kept there from the first that are many.

A few cells are fetched once, in columns, into a DuckDB of our own, which answers everything that
follows from them: Spark takes longer to plan a question than DuckDB to answer it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

from sievert.counts.duckdb.adapter import DuckDB
from sievert.counts.spark.cluster_cells import ClusterCells, has_arrow
from sievert.sources.table import Table

MOST_CELLS = 10**6  # that are fetched
Cells = DuckDB | ClusterCells


class FetchedCells:
    """Tables of cells, all here or all on Spark, and the dialect of whoever answers from them."""

    _session: Any
    kinds: dict[str, str]

    def _guard(self, ask: Callable[[], Any]) -> Any:
        """Ask, unless interrupted; failures are told in our words."""
        raise NotImplementedError

    def _ask(self, sql: str, use: Callable[[Any], Any], parameters: Sequence[Any] = ()) -> Any:
        """Hand the frame of a query on Spark to a function."""
        raise NotImplementedError

    def _open_cells(self, table: Table, scratch: Path, resources: ExitStack) -> None:
        self._made: dict[str, Callable[[Cells], None]] = {}  # how each table is made again
        self._there = ClusterCells(self._ask, self._session, self.kinds)
        resources.callback(self._there.forget_all)
        self._cells: Cells = self._there
        if MOST_CELLS and has_arrow():
            none = replace(table, kind="columns", data={"n": ()}, columns=("n",), types={}, na=())
            self._cells = here = DuckDB(none, scratch)
            resources.callback(here.close)
            here.run("DROP VIEW input")  # the records are not there

    def _interrupt_cells(self) -> None:
        if isinstance(self._cells, DuckDB):
            self._cells.interrupt()

    def count(self, name: str, sql: str, records: int) -> None:
        """Count cells, and fetch them if there are few; from the first that are many, all stay."""
        if isinstance(self._cells, ClusterCells):
            self._there.keep(name, sql)
        elif records <= MOST_CELLS:  # so there are no more cells than that
            self._fetch(name, sql, self._cells)
        else:
            self._there.keep(name, sql)
            if self._there.rows(f"SELECT COUNT(*) FROM {name}")[0][0] <= MOST_CELLS:
                self._fetch(name, f"SELECT * FROM {name}", self._cells)
                self._there.forget(name)
            else:
                self._cells = self._there
                for make in self._made.values():
                    make(self._there)
        self._made[name] = lambda cells: cells.keep(name, sql)

    def _fetch(self, name: str, sql: str, here: DuckDB) -> None:
        """The answer as a table of DuckDB."""
        fetched = self._ask(sql, lambda frame: frame.toArrow())
        here.register("fetched", fetched.to_reader())
        here.keep(name, "SELECT * FROM fetched")
        here.unregister("fetched")

    def keep(self, name: str, sql: str) -> None:
        self._make(name, lambda cells: cells.keep(name, sql))

    def load(self, table: str, columns: Mapping[str, tuple[str, Sequence[Any]]]) -> None:
        self._make(table, lambda cells: cells.load(table, columns))

    def _make(self, name: str, make: Callable[[Cells], None]) -> None:
        self._guard(lambda: make(self._cells))
        self._made[name] = make

    def forget(self, name: str) -> None:
        del self._made[name]
        self._guard(lambda: self._cells.forget(name))

    def rows(self, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        rows: list[tuple[Any, ...]] = self._guard(lambda: self._cells.rows(sql, parameters))
        return rows

    def arrays(self, sql: str) -> list[Any]:
        arrays: list[Any] = self._guard(lambda: self._cells.arrays(sql))
        return arrays

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
