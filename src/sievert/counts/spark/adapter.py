"""The Spark adapter: records are counted where they are, on one machine or on a cluster.

A few cells are fetched once, in columns, into a DuckDB of our own, which answers everything that
follows from them: Spark takes longer to plan a question than DuckDB to answer it. Where there are
many cells, they stay on Spark, and it answers.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from sievert.counts.cells import Kind
from sievert.counts.duckdb import reading
from sievert.counts.duckdb.adapter import DuckDB
from sievert.counts.spark import failures, session
from sievert.counts.spark.cluster_cells import NO_RECORDS, ClusterCells, has_arrow
from sievert.errors import ExhaustedError, SievertError
from sievert.sources.table import Table

GROUP = "spark.jobGroup.id"
MOST_CELLS = 10**6  # that are fetched
Cells = DuckDB | ClusterCells


class Spark:
    """One table on Spark: in a session that runs already, or in one of our own."""

    name = "spark"

    def __init__(
        self,
        table: Table,
        scratch: Path,
        *,
        memory: str | None = None,
        threads: int | None = None,
        master: str | None = None,
    ) -> None:
        self.table, self.unfit = table, None
        self.uncoded: str | None = None
        self.unusable, self.notes = dict(table.unusable), list(table.notes)
        self._made: dict[str, Callable[[Cells], None]] = {}  # how each table is made again
        self._interrupted = False
        session.check(table)
        with ExitStack() as resources:
            own = session.session(table, scratch, memory, threads, master)
            self._session = resources.enter_context(own)
            from sievert.counts.spark import reading as spark_reading

            self._group = f"sievert {secrets.token_hex(8)}"
            self._context = self._session.sparkContext
            resources.callback(self._leave, self._context.getLocalProperty(GROUP))
            self._context.setLocalProperty(GROUP, self._group)
            self.columns, self.kinds = self._guard(
                lambda: spark_reading.view(self, table, self._session, scratch, resources)
            )
            self._there = ClusterCells(self._ask, self._session, self.kinds)
            resources.callback(self._there.forget_all)
            self._cells: Cells = self._there
            if MOST_CELLS and has_arrow():
                none = replace(table, kind="columns", data={"n": ()}, columns=("n",), types={})
                self._cells = here = DuckDB(replace(none, na=()), scratch)
                resources.callback(here.close)
                here.run("DROP VIEW input")  # the records are not there
            self.close = resources.pop_all().close

    def check_usable(self, column: str) -> None:
        """An error where the values of a column cannot be compared one by one."""
        reading.check_usable(column, self.kinds[column], self.unusable)

    def kind(self, column: str) -> Kind:
        """Text, a float, something else with an order of its own (numbers, dates), or neither."""
        return reading.kind(self.kinds[column])

    # -- records --------------------------------------------------------------------------------

    def view(self, name: str, sql: str) -> None:
        self._ask(sql, lambda frame: frame.createOrReplaceTempView(name))

    def query_records(self, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        return self._there.rows(sql, parameters)

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

    def _ask(self, sql: str, use: Callable[[Any], Any], parameters: Sequence[Any] = ()) -> Any:
        def ask() -> Any:
            for value in parameters:
                str(value).encode()  # or the error would look like one of Spark
            return use(self._session.sql(sql, args=list(parameters)))

        return self._guard(ask)

    def _leave(self, group: Any) -> None:
        """Leave a session that goes on as it was; one that has died does not answer."""
        with suppress(Exception):
            self._context.setLocalProperty(GROUP, group)
            self._context.cancelJobGroup(self._group)

    def write(self, sql: str, path: Path, kind: str) -> None:
        """Spark has no order of records to write them in."""
        raise NO_RECORDS

    def progress(self) -> float:
        """Per cent of the running tasks that are done, or -1."""
        tracker = self._context.statusTracker()
        ours = set(tracker.getActiveJobsIds()) & set(tracker.getJobIdsForGroup(self._group))
        ids = {s for j in ours if (job := tracker.getJobInfo(j)) for s in job.stageIds}
        stages = [stage for s in ids if (stage := tracker.getStageInfo(s)) is not None]
        tasks = sum(stage.numTasks for stage in stages)
        return 100.0 * sum(s.numCompletedTasks for s in stages) / tasks if tasks else -1.0

    def interrupt(self) -> None:
        """Stop the running query; whoever asked, or asks next, gets an error."""
        self._interrupted = True
        with suppress(Exception):  # it may have died
            self._context.cancelJobGroup(self._group)
        if isinstance(self._cells, DuckDB):
            self._cells.interrupt()

    def _guard(self, ask: Callable[[], Any]) -> Any:
        if self._interrupted:
            raise ExhaustedError("stopped before the answer was there", hint="a longer --timeout")
        try:
            return ask()
        except SievertError:
            raise
        except Exception as error:
            # Not chained: the engine's message may repeat a line of the data.
            raise failures.explain(error, self, interrupted=self._interrupted) from None

    # -- cells ----------------------------------------------------------------------------------

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
