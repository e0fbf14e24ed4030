"""The Spark adapter: records are counted where they are, on one machine or on a cluster.

Questions about the counted cells are answered where the cells are: here, or on Spark if they are
many.
"""

import secrets
from collections.abc import Callable, Collection, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

from sievert.counts.adapter import HashDialect
from sievert.counts.duckdb import reading
from sievert.counts.recoded_records import RecodedRecords
from sievert.counts.spark import failures, releases, session, spelling
from sievert.counts.spark.cluster_cells import NO_RECORDS
from sievert.counts.spark.fetched_cells import FetchedCells
from sievert.errors import ExhaustedError, SievertError
from sievert.sources.table import Table

GROUP = "spark.jobGroup.id"


class Spark(FetchedCells):
    """One table on Spark: in a session that runs already, or in one of our own."""

    name = "spark"
    writes_parts = True

    def __init__(
        self,
        table: Table,
        scratch: Path,
        *,
        memory: str | None = None,
        threads: int | None = None,
        master: str | None = None,
        outputs: Sequence[Path] = (),
    ) -> None:
        self.table = table
        self.unfit = None
        self.uncoded: str | None = None
        self.untyped: str | None = None
        self.nan = dict[str, str]()
        self.nan_source = "not_numbers"
        self.expected: int | None = None
        self.unusable = dict(table.unusable)
        self.notes = list(table.notes)
        self.not_read = table.not_read
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
            self._open_cells(scratch, resources, memory, threads)
            self._resources = resources.pop_all()

    check_usable = reading.check_usable
    kind = reading.kind

    # -- records --------------------------------------------------------------------------------

    def view(self, name: str, sql: str) -> None:
        self._check_records()
        self._ask(sql, lambda frame: frame.createOrReplaceTempView(name))

    def query_records(self, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        self._check_records()
        return self._there.rows(sql, parameters)

    def keep_there(self, name: str, sql: str) -> bool:
        """Keep the answer on Spark: otherwise it would be counted again for each use."""
        self._check_records()
        self._there.keep(name, sql)
        return True

    def _ask(self, sql: str, use: Callable[[Any], Any], parameters: Sequence[Any] = ()) -> Any:
        def ask() -> Any:
            for value in parameters:
                str(value).encode()  # or the error would look like one of Spark
            # An empty list would be made by Java, whose classes are looked for in every archive.
            return use(self._session.sql(sql, args=list(parameters) or {}))

        return self._guard(ask)

    def _leave(self, group: Any) -> None:
        """Leave a running session as it was; a session that has died does not answer."""
        with suppress(Exception):
            self._context.setLocalProperty(GROUP, group)
            self._context.cancelJobGroup(self._group)

    def write(self, sql: str, path: Path, kind: str, **options: Any) -> None:
        self.check_writable()

    def check_writable(self) -> None:
        """Raise an error: Spark has no order of records in which to write them."""
        raise NO_RECORDS

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
        """Let Spark write a release: a directory of Parquet, or a file of text.

        Its records have no numbers, so there is no table of places.
        """
        self._check_records()
        releases.write_release(
            self._ask, self._there, self.columns, records, path, kind, delimiter, header, key
        )
        return None

    def write_cells(
        self, sql: str, as_text: Collection[str], folder: Path, names: Sequence[str]
    ) -> list[Path]:
        """Let Spark count cells and write them as files of Parquet; some columns `as_text`."""
        self._check_records()
        return releases.write_cells(self._ask, self._there.as_text, sql, as_text, folder, names)

    def show_recoded(self, view: str, records: RecodedRecords) -> None:
        """Make a view of recoded records, with the names of columns of the input."""
        values, joins, tables = releases.join_maps(self._there, self.columns, records, f"{view}_")
        fields = (f"{value} AS c{self.columns.index(name)}" for name, value in values.items())
        hint = releases.send_whole(tables)
        self.view(view, f"SELECT {hint}{', '.join(fields)} FROM {records.source} AS r {joins}")

    def progress(self) -> float:
        """The per cent of the running tasks that are done, or -1."""
        tracker = self._context.statusTracker()
        ours = set(tracker.getActiveJobsIds()) & set(tracker.getJobIdsForGroup(self._group))
        jobs = [tracker.getJobInfo(number) for number in ours]
        ids = {stage for job in jobs if job for stage in job.stageIds}
        infos = [tracker.getStageInfo(number) for number in ids]
        stages = [stage for stage in infos if stage is not None]
        tasks = sum(int(stage.numTasks) for stage in stages)
        if not tasks:
            return -1.0
        return 100.0 * sum(int(stage.numCompletedTasks) for stage in stages) / tasks

    def interrupt(self) -> None:
        """Stop the running query; its caller, and that of the next query, gets an error."""
        self._interrupted = True
        with suppress(Exception):  # it may have died
            self._context.cancelJobGroup(self._group)
        self._interrupt_cells()

    def close(self) -> None:
        """Leave the session, or stop our own, and drop its tables."""
        self._resources.close()

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

    def has_text(self, column: str, text: str) -> str:
        return f"{self.record_text(column)} = {spelling.literal(text)}"

    def hash_dialect(self) -> HashDialect:
        return spelling.hash_dialect(lambda c: self.kinds[self.columns[int(c[1:])]])

    def text_literal(self, text: str) -> str:
        return spelling.literal(text)

    def record_text(self, column: str) -> str:
        return f"CAST({column} AS STRING)"

    def matches(self, column: str, pattern: str) -> str:
        whole = rf"\A(?:{pattern})\z"
        return f"{self.record_text(column)} RLIKE {spelling.literal(whole)}"
