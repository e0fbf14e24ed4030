"""The Spark adapter: the same integer questions, on one machine or on a cluster."""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

from sievert.counts.cells import Kind
from sievert.counts.duckdb import reading
from sievert.counts.spark import failures, session, spelling
from sievert.errors import ExhaustedError, SievertError, UsageError
from sievert.sources.table import Table

SQL_TYPES = {"text": "STRING", "int": "BIGINT"}
GROUP = "spark.jobGroup.id"
NO_RECORDS = UsageError("--records does not go with --engine spark", hint="--engine duckdb")


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
        self._kept: dict[str, Any] = {}
        self._secrets: set[str] = set()  # the columns that s stands for
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
            self.close = resources.pop_all().close

    def check_usable(self, column: str) -> None:
        """An error where the values of a column cannot be compared one by one."""
        reading.check_usable(column, self.kinds[column], self.unusable)

    def kind(self, column: str) -> Kind:
        """Text, a float, something else with an order of its own (numbers, dates), or neither."""
        return reading.kind(self.kinds[column])

    # -- asking ---------------------------------------------------------------------------------

    def view(self, name: str, sql: str) -> None:
        self._ask(sql, lambda frame: frame.createOrReplaceTempView(name))

    def keep(self, name: str, sql: str, parameters: Sequence[Any] = ()) -> None:
        """A small table that later questions start from: the first of them counts it."""
        self._secrets |= set(re.findall(r"(c\d+) AS s\b", sql))
        self._kept[name] = self._ask(sql, lambda frame: frame.persist(), parameters)
        self._guard(lambda: self._kept[name].createOrReplaceTempView(name))

    count = keep

    def forget(self, name: str) -> None:
        self._guard(lambda: self._session.catalog.dropTempView(name))
        self._guard(self._kept.pop(name).unpersist)

    def _leave(self, group: Any) -> None:
        """Leave a session that goes on as it was; one that has died does not answer."""
        with suppress(Exception):
            self._context.setLocalProperty(GROUP, group)
            self._context.cancelJobGroup(self._group)
            for kept in self._kept.values():
                kept.unpersist()

    def rows(self, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        return list(map(tuple, self._ask(sql, lambda frame: frame.collect(), parameters)))

    query_records = rows

    def arrays(self, sql: str) -> list[Any]:
        rows, names = self._ask(sql, lambda frame: (frame.collect(), frame.columns))
        return list(zip(*rows, strict=True)) if rows else [() for _ in names]

    def _ask(self, sql: str, use: Callable[[Any], Any], parameters: Sequence[Any] = ()) -> Any:
        def ask() -> Any:
            for value in parameters:
                str(value).encode()  # or the error would look like one of Spark
            return use(self._session.sql(sql, args=list(parameters)))

        return self._guard(ask)

    def load(self, table: str, columns: Mapping[str, tuple[str, Sequence[Any]]]) -> None:
        if any(kind not in SQL_TYPES for kind, _ in columns.values()):  # numbers of records
            raise NO_RECORDS
        rows = zip(*(values for _, values in columns.values()), strict=True)
        text = json.dumps([dict(zip(columns, r, strict=True)) for r in rows], ensure_ascii=False)
        types = ", ".join(f"{name} {SQL_TYPES[kind]}" for name, (kind, _) in columns.items())
        parsed = f"SELECT EXPLODE(FROM_JSON(?, 'ARRAY<STRUCT<{types}>>')) AS x"
        self.keep(table, f"SELECT x.* FROM ({parsed}) AS d", [text])

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

    # -- dialect --------------------------------------------------------------------------------

    def list_downwards(self, value: str) -> str:
        return f"SORT_ARRAY(COLLECT_LIST({value}), false)"

    def list_in_order(self, value: str, by: str) -> str:
        pairs = f"SORT_ARRAY(COLLECT_LIST(NAMED_STRUCT('r', {by}, 'v', {value})))"
        return f"TRANSFORM({pairs}, x -> x.v)"

    def list_pairs(self, n: str, ns: str, wide: bool) -> str:
        return f"COLLECT_LIST(NAMED_STRUCT('n', {n}, 'ns', {ns}))"

    def profile(self, wide: bool) -> str:
        return "SORT_ARRAY(TRANSFORM(held, x -> x.n), false)"

    def each_pair(self, table: str, wide: bool) -> str:
        return f"SELECT nq, x.n, x.ns FROM (SELECT nq, EXPLODE(held) AS x FROM {table}) AS u"

    def gap(self, records: int, wide: bool) -> str:
        factor, sum_ = ("DECIMAL(19, 0)", "DECIMAL(38, 0)") if wide else ("BIGINT", "BIGINT")
        n, ns, nq, whole = (f"CAST({v} AS {factor})" for v in ("x.n", "x.ns", "nq", records))
        term = f"GREATEST(CAST(0 AS {sum_}), {n} * {whole} - {ns} * {nq})"
        return f"AGGREGATE(held, CAST(0 AS {sum_}), (g, x) -> CAST(g + {term} AS {sum_}))"

    def as_text(self, value: str) -> str:
        column, kinds = value.rpartition(".")[2], list(self.kinds.values())
        columns = self._secrets if column == "s" else {column}
        return spelling.as_text(value, [kinds[int(c.removeprefix("c"))] for c in columns])

    def text_literal(self, text: str) -> str:
        return f"DECODE(UNHEX('{text.encode().hex()}'), 'UTF-8')"  # no quotes to escape
