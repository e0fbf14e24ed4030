"""Cells on their way from the database into a DuckDB of our own.

The cells of a small table go through memory into the DuckDB that all small tables share. Other
cells go through a private file into a DuckDB that spills.
"""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from sievert.counts.duckdb import connection
from sievert.counts.duckdb.counted_elsewhere import CountedElsewhere
from sievert.counts.postgres import reading
from sievert.errors import EngineError, require
from sievert.sources.table import Table

FEW = 10_000  # records up to which cells go through memory


class Transfer(CountedElsewhere):
    """A DuckDB that takes over the answers of the database."""

    def __init__(
        self, table: Table, scratch: Path, *, outputs: Sequence[Path] = (), **options: Any
    ) -> None:
        self._scratch = scratch
        self._file = scratch / "cells"
        self._small = not outputs and all(value is None for value in options.values())
        outputs = () if self._small else (self._file, *outputs)
        super().__init__(table, scratch, outputs=outputs, **options)

    def _cursor(self) -> AbstractContextManager[Any]:
        """A cursor of the database; its failures become our errors."""
        raise NotImplementedError

    def take(
        self, name: str, sql: str, ways: Mapping[str, str], records: int | None = None
    ) -> None:
        """Stream an answer into a table of DuckDB, through memory or through a private file."""
        if self._small and (records is None or records > FEW):
            # From now on a DuckDB of our own is used, which spills and reads the private file.
            self._small = False
            shared = self._connection
            self._connection = connection.own_engine(self.table)
            self.run(connection.lock_down(self.table, self._scratch, None, None, [self._file]))
            shared.close()
        copy = f"COPY ({sql}) TO STDOUT"
        try:
            with self._cursor() as cursor:
                if self._small:
                    lines = reading.lines(cursor, copy)
                else:
                    longest = reading.stream(cursor, copy, self._file)
                sent = cursor.rowcount
            if self._small:
                self.load("arriving", reading.columns_of_lines(lines, ways))
                self.keep(name, f"SELECT {reading.parse_fields(ways)} FROM arriving")
                self.forget("arriving")
            else:
                self.keep(name, reading.select_from_file(self._file, ways, longest))
        finally:
            self._file.unlink(missing_ok=True)
        ((arrived,),) = self.rows(f"SELECT COUNT(*) FROM {name}")
        require(
            arrived == sent,
            f"{self.table.name}: {arrived} of {sent} cells arrived",
            error=EngineError,
        )
