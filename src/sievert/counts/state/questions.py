"""Questions about a state, answered from weighted combinations and from its manifest."""

from collections.abc import Iterable, Mapping, Sequence

from sievert.counts.cells import Adapter
from sievert.counts.questions import Questions
from sievert.errors import UsageError
from sievert.sources.states import Spread, StateManifest


class StateQuestions(Questions):
    """The questions about a table, of which there are only the counts."""

    def __init__(self, engine: Adapter, state: StateManifest) -> None:
        super().__init__(engine, state.records)
        self.state = state

    @property
    def left_out(self) -> Mapping[str, Spread]:
        """What the state knows of columns that it leaves out."""
        return self.state.left_out

    def has_values_of(self, column: str) -> bool:
        """Whether the values of a column were counted."""
        return column in self.state.kept

    def sql_name(self, column: str) -> str:
        """The name of a column in SQL; an error where it was not counted."""
        if column not in self.state.kept:
            raise UsageError(
                f"column {column!r} is not in the state", hint="sievert count with it, or the table"
            )
        return super().sql_name(column)

    def missing(self, quasi: Sequence[str]) -> dict[str, int]:
        """How many records lack each column; only those that some record lacks."""
        noted = self._noted(quasi)
        counts = {c: self.state.identifiers[c]["missing"] for c in noted}
        if others := [c for c in quasi if c not in noted]:
            counts |= super().missing(others)
        return {c: counts[c] for c in quasi if counts.get(c)}

    def distinct(self, columns: Iterable[str]) -> dict[str, int]:
        """How many different values each column has; missing is one."""
        columns = list(columns)
        noted = self._noted(columns)
        counts = super().distinct(c for c in columns if c not in noted)
        counts |= {c: self.state.identifiers[c]["values"] for c in noted}
        return {c: counts[c] for c in columns}

    def _noted(self, columns: Iterable[str]) -> set[str]:
        """The columns that were not counted, but of which the manifest has what is asked."""
        return {c for c in columns if c in self.state.identifiers and self.complete}

    def coded_missing(self, columns: Sequence[str], quasi: Sequence[str]) -> dict[str, int | None]:
        """How many values of each column are missing only because of a code for missing."""
        if self.state.na and not self.complete:
            return dict.fromkeys(columns)
        return {c: self.state.coded.get(c, 0) for c in columns}

    def count_nan(self, columns: Sequence[str]) -> dict[str, int]:
        """How many values of each column are missing because they are NaN; columns with any."""
        return {c: n for c in columns if (n := self.state.nan.get(c))} if self.complete else {}
