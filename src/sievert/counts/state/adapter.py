"""The DuckDB adapter of a state: a row of its input counts as many records as its weight."""

from pathlib import Path
from typing import Any

from sievert.counts.duckdb.adapter import DuckDB
from sievert.counts.state.segments import BEYOND, stored_fields
from sievert.errors import InputError, InvariantError, UsageError, require
from sievert.sources.state_manifest import AGAIN, DAMAGED, StateManifest
from sievert.sources.table import Table


class StateAdapter(DuckDB):
    """The combinations of a state, all segments together, as rows with a weight."""

    keeps_order = False
    rereads_text = False
    weight: str | None = "w"

    def __init__(self, table: Table, scratch: Path, **options: Any) -> None:
        state = table.state
        if state is None:
            raise InvariantError("no state")
        state.check_files()
        files = Table(kind="parquet", name=table.name, path=state.folder, parts=state.paths)
        super().__init__(files, scratch, **options)
        self.table = table
        self.name = state.engine
        self.notes = list(table.notes)
        self.columns = state.columns
        self.kinds = dict(state.kinds)
        self.unusable = dict(table.unusable)
        self.nan = {}
        self._show(state)

    def _show(self, state: StateManifest) -> None:
        """Make the view of the combinations; a table if some of them were taken away."""
        places = {c: f"c{self.columns.index(c)}" for c in state.kept}
        values = (
            f"CAST({stored} AS {state.kept[column]}) AS {places[column]}"
            for stored, column in zip(stored_fields(len(state.kept)), state.kept, strict=True)
        )
        self.run("DROP VIEW input")
        rows = f"SELECT {', '.join(values)}, n AS w FROM {self.behind}"
        if state.signed:
            keys = ", ".join(places.values())
            rows = (
                f"SELECT {keys}, TRY_CAST(SUM(w) AS BIGINT) AS w FROM ({rows}) AS d "
                f"GROUP BY {keys} HAVING SUM(w) <> 0"
            )
            self.keep("input", rows)
        else:
            self.view("input", rows)
        wrong = f"COUNT(*) FILTER (WHERE {BEYOND.format('w')} OR w < 1)"
        ((records, unsound),) = self.rows(f"SELECT SUM(w), {wrong} FROM input")
        require(
            int(records or 0) == state.records and not unsound,
            f"{self.table.name}: {DAMAGED}",
            hint=AGAIN,
            error=InputError,
        )

    def check_writable(self) -> None:
        """Raise an error: a state has no records to write one by one."""
        raise UsageError("--records needs the records, and a state has none", hint="the table")
