"""The Postgres adapter: records are counted where they are, and only counts leave the database.

Queries that read records run in the database, in one snapshot that can only read. The counted
cells are streamed into a DuckDB of our own, which answers everything that follows from them.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from sievert.counts.adapter import HashDialect
from sievert.counts.cells import ask_together
from sievert.counts.postgres import reading, releases, values
from sievert.counts.postgres.transfer import Transfer
from sievert.errors import InputError, UsageError
from sievert.sources.options import optional_package
from sievert.sources.table import Table


class Postgres(Transfer):
    """One table of Postgres; its cells on DuckDB."""

    name = "postgres"
    hex_bytes = True

    def __init__(self, table: Table, scratch: Path, **options: Any) -> None:
        self._server: Any = None
        self.labelled: frozenset[str] = frozenset()  # columns that have labels for values
        self._stopped = False
        self._asking = False
        self._doubting = False
        super().__init__(table, scratch, **options)
        try:
            self._open()
        except BaseException:
            self.close()
            raise

    def _open(self) -> None:
        table = self.table
        self._driver: Any = optional_package("psycopg", "tables of Postgres need", "postgres")
        self._server = reading.connect(self._driver, table.data)
        self.ask(reading.BEGIN)
        oid, self.behind = reading.relation(self.ask, table)
        self.catalog = reading.columns(self.ask, oid, table)
        self.columns = tuple(self.catalog)
        self.kinds = {name: reading.kind(column, table) for name, column in self.catalog.items()}
        self.notes += [reading.HIDDEN] if self.ask(reading.SECURED, [oid, oid]) else []
        self.uncoded = values.select_raw(self.catalog, self.behind) if table.na else None
        untyped = values.select(self.catalog, replace(table, types={}), self.behind)
        self.untyped = untyped if table.types else None
        self.nan = values.find_nan(self.catalog, table)
        self.nan_source = self.behind
        self.view("input", values.select(self.catalog, table, self.behind))

    def check_usable(self, column: str) -> None:
        """Raise an error if the values of a column cannot be compared, or cannot be read."""
        notes = reading.check_usable(self.catalog[column], self.table)
        self.notes += [note for note in notes if note not in self.notes]

    # -- in the database ------------------------------------------------------------------------

    def count(self, name: str, sql: str, records: int) -> None:
        """Count cells in the database, and keep them as a table of DuckDB."""
        ways = {field: self.way(column) for field, column in self.counted_fields(sql).items()}
        self.take(name, self.with_views(sql), ways, records)
        self.check_counted(name, records)

    def count_together(
        self, queries: Mapping[str, tuple[str, str]], keys: str, source: str, records: int
    ) -> bool:
        """Count the cells of several secrets in one pass over the records."""
        secrets = {f"s{i}": column for i, (column, _) in enumerate(queries.values())}
        ways = self._ways({c: c for c in keys.split(", ")}) | {"which": "BIGINT"}
        sql = self.with_views(ask_together([*secrets.values()], keys, source))
        self.take("together", sql, ways | self._ways(secrets), records)
        for i, table in enumerate(queries):
            self.keep(table, f"SELECT {keys}, s{i} AS s, n FROM together WHERE which = {i}")
            self.check_counted(table, records)
        self.forget("together")
        return True

    def _ways(self, fields: Mapping[str, str]) -> dict[str, str]:
        """The types in which the values of fields arrive, by their columns' names in SQL."""
        return {field: self.way(self.columns[int(c[1:])]) for field, c in fields.items()}

    def way(self, name: str) -> str:
        """The type in which the values of a column arrive."""
        if name in self.labelled:
            return "VARCHAR"
        return reading.transfer_type(self.catalog[name], self.table)

    def ask(self, sql: str, parameters: Sequence[Any] | None = None) -> list[tuple[Any, ...]]:
        """The answer of the database to a query."""
        with self._cursor() as cursor:
            cursor.execute(sql.encode(), parameters)
            return list(cursor.fetchall()) if cursor.description else []

    @contextmanager
    def _cursor(self) -> Iterator[Any]:
        if self._stopped:
            raise reading.timed_out()
        self._asking = True
        try:
            with self._server.cursor() as cursor:
                yield cursor
        except self._driver.Error as error:
            # Not chained: the database's message may repeat a value of the data.
            failure = reading.explain(error, self.table, lost=self._server.closed)
        except UnicodeError:
            failure = UsageError("a name or a code for missing is not valid Unicode")
        else:
            return
        finally:
            self._asking = False
        if isinstance(failure, InputError) and not self._doubting:
            self._doubting = True  # the snapshot goes on, to see which values do not fit
            self.ask("ROLLBACK TO SAVEPOINT asked")
            failure = reading.explain_unfit(self, self.table)
        raise failure from None

    # -- the rest -------------------------------------------------------------------------------

    def has_text(self, column: str, text: str) -> str:
        return f"{self.record_text(column)} = {self.text_literal(text)}"

    matches = values.matches

    def record_text(self, column: str) -> str:
        return values.record_text(column)

    def text_literal(self, text: str) -> str:
        return values.text_literal(text)

    def hash_dialect(self) -> HashDialect:
        return values.hash_dialect(lambda c: self.kinds[self.columns[int(c[1:])]])

    def write(self, sql: str, path: Path, kind: str, **options: Any) -> None:
        self.check_writable()

    write_release = releases.write_release
    show_recoded = releases.show_recoded
    write_here = Transfer.write

    def write_counted(self, sql: str, path: Path, kind: str) -> None:
        self.write_here(sql, path, kind)

    def progress(self) -> float:
        """The per cent of the running query that are done; -1 while the database works."""
        return -1.0 if self._asking else super().progress()

    def interrupt(self) -> None:
        """Stop the running query, here and in the database."""
        self._stopped = True
        super().interrupt()
        with suppress(Exception):
            self._server.cancel_safe(timeout=5)

    def close(self) -> None:
        """End the snapshot, and stop a query that the database still works on."""
        if self._server is not None and not self._server.closed:
            with suppress(Exception):
                if self._server.info.transaction_status == self._driver.pq.TransactionStatus.ACTIVE:
                    self._server.cancel_safe(timeout=5)
            self._server.close()
        super().close()
