"""The DuckDB adapter: a locked-down connection that answers integer questions."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import duckdb

from sievert.counts.adapter import Adapter, HashDialect
from sievert.counts.duckdb import connection, failures, reading, releases
from sievert.counts.duckdb.reading import literal
from sievert.errors import ExhaustedError
from sievert.sources.table import Table


class DuckDB(Adapter):
    """One table on DuckDB, in memory, spilling to a private directory."""

    name = "duckdb"
    keeps_order = True
    records_here = True
    rereads_text = True
    streams = True
    _connection: Any = None

    def __init__(
        self,
        table: Table,
        scratch: Path,
        *,
        memory: str | None = None,
        threads: int | None = None,
        outputs: Sequence[Path] = (),
    ) -> None:
        self.table = table
        self.behind = "given"
        self._sound = True
        self.uncoded, self.untyped = reading.AS_READ
        self.nan_source = "given"
        self.nan = dict[str, str]()
        self._opened = self._guard(
            lambda: connection.open_engine(table, scratch, memory, threads, outputs)
        )
        self._connection = self._opened.connection
        table = self._opened.table
        self.unusable = dict(table.unusable)
        self.notes = list(table.notes)
        self.not_read = table.not_read
        self.columns, self.kinds, view = reading.view(self, table)
        self.view("input", view)

    check_usable = reading.check_usable
    kind = reading.kind

    def check_writable(self) -> None:
        """Records can be written, in their order."""

    def register(self, name: str, frame: Any) -> None:
        """Show a frame of the caller to the engine, without a copy."""
        self._guard(lambda: self._connection.register(name, frame))

    def unregister(self, name: str) -> None:
        """Let go of a frame."""
        self._guard(lambda: self._connection.unregister(name))

    # -- asking ---------------------------------------------------------------------------------

    def run(self, sql: str, parameters: Sequence[Any] = ()) -> None:
        self._execute(sql, parameters)

    def view(self, name: str, sql: str) -> None:
        self.run(f"CREATE TEMP VIEW {name} AS {sql}")

    def keep(self, name: str, sql: str) -> None:
        self.run(f"CREATE TEMP TABLE {name} AS {sql}")

    def count(self, name: str, sql: str, records: int) -> None:
        self.keep(name, sql)

    def forget(self, name: str) -> None:
        self.run(f"DROP TABLE {name}")

    def rows(self, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        return list(self._guard(lambda: self._execute(sql, parameters).fetchall()))

    query_records = rows

    def arrays(self, sql: str) -> list[Any]:
        return list(self._guard(lambda: self._execute(sql).fetchnumpy()).values())

    def each_answer(self, queries: Sequence[str]) -> list[list[Any]]:
        return [self.arrays(sql) for sql in queries]

    def query(self, sql: str) -> Any:
        return self._guard(lambda: self._connection.sql(sql))

    def _execute(self, sql: str, parameters: Sequence[Any] = ()) -> Any:
        return self._guard(lambda: self._connection.execute(sql, list(parameters)))

    def load(self, table: str, columns: Mapping[str, tuple[str, Sequence[Any]]]) -> None:
        values = [list(values) for _, values in columns.values()]
        self.run(f"CREATE TEMP TABLE {table} AS SELECT {reading.lists(columns)}", values)

    def write(self, sql: str, path: Path, kind: str, **options: Any) -> None:
        written = reading.copy_options(kind, **options)
        self.run(f"COPY ({sql}) TO {literal(str(path))} ({written})")

    write_release = releases.write_release
    show_recoded = releases.show_recoded
    read_arrow = reading.read_arrow
    stream = reading.stream

    def progress(self) -> float:
        """The per cent of the running query that are done, or -1."""
        return float(self._connection.query_progress())

    def interrupt(self) -> None:
        """Stop the running query; its caller gets an error."""
        self._connection.interrupt()

    def close(self) -> None:
        self._opened.close(sound=self._sound)

    def _guard(self, ask: Callable[[], Any]) -> Any:
        sound = self._sound
        self._sound = False  # until there is an answer
        try:
            answer = ask()
        except duckdb.Error as error:
            # Not chained: the engine's message may repeat a line of the data.
            raise failures.explain(error, self.table, self._connection, self.behind) from None
        except MemoryError:
            raise ExhaustedError("out of memory", hint="a smaller --memory") from None
        self._sound = sound
        return answer

    # -- dialect --------------------------------------------------------------------------------

    def list_downwards(self, value: str) -> str:
        return f"list_sort(list({value}), 'DESC')"

    def list_in_order(self, value: str, by: str) -> str:
        return f"list({value} ORDER BY {by})"

    def list_pairs(self, n: str, ns: str, wide: bool) -> str:
        """A class's (n, ns) pairs as a list of integers ns·2^b + n: a third of a struct's time."""
        kind, bits = ("HUGEINT", 62) if wide else ("BIGINT", 31)
        return f"list((CAST({ns} AS {kind}) << {bits}) + {n})"

    def profile(self, wide: bool) -> str:
        n, _ = self._unpack_pair(wide)
        return f"list_sort(list_transform(held, lambda x: CAST({n} AS BIGINT)), 'DESC')"

    def each_pair(self, table: str, wide: bool) -> str:
        n, ns = (f"CAST({part} AS BIGINT)" for part in self._unpack_pair(wide))
        unnested = f"SELECT nq, unnest(held) AS x FROM {table}"
        return f"SELECT nq, {n} AS n, {ns} AS ns FROM ({unnested}) AS u"

    def gap(self, records: int, wide: bool) -> str:
        n, ns = self._unpack_pair(wide)
        term = f"greatest(0, {n} * {records} - {ns} * nq)"
        return f"list_sum(list_transform(held, lambda x: {term}))"

    def _unpack_pair(self, wide: bool) -> tuple[str, str]:
        bits = 62 if wide else 31
        mask = f"CAST({(1 << bits) - 1} AS HUGEINT)" if wide else str((1 << bits) - 1)
        return f"(x & {mask})", f"(x >> {bits})"

    def as_text(self, value: str) -> str:
        return f"CAST({value} AS VARCHAR)"

    def has_text(self, column: str, text: str) -> str:
        return f"{self.as_text(column)} = {literal(text)}"

    def record_text(self, column: str) -> str:
        return self.as_text(column)

    def text_literal(self, text: str) -> str:
        return literal(text)

    def hash_dialect(self) -> HashDialect:
        return HashDialect(
            string="VARCHAR",
            as_text=self.as_text,
            octets="STRLEN({})",
            digest="SUBSTRING(SHA256({}), 1, 16)",
        )

    def matches(self, column: str, pattern: str) -> str:
        return f"regexp_full_match({self.as_text(column)}, {literal(pattern)})"
