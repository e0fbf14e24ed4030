"""What the manifest of a state notes about its columns besides their combinations."""

from collections.abc import Iterable, Mapping, Sequence

from sievert.counts.memory_cells import SourceNotes
from sievert.errors import UsageError
from sievert.sources.state_manifest import Spread, StateManifest


class StateNotes(SourceNotes):
    """Columns without combinations, and why values of the others are missing."""

    def __init__(self, state: StateManifest) -> None:
        self.state = state

    @property
    def left_out(self) -> Mapping[str, Spread]:
        """What the state knows about columns that it leaves out."""
        return self.state.left_out

    def has_values(self, column: str) -> bool:
        """Whether a column was counted."""
        return column in self.state.kept

    def check(self, column: str) -> None:
        """Raise an error if a column was not counted."""
        if column not in self.state.kept:
            raise UsageError(
                f"column {column!r} is not in the state", hint="sievert count with it, or the table"
            )

    def missing(self, columns: Iterable[str]) -> dict[str, int]:
        """Count the records that lack each identifier."""
        return {c: self.state.identifiers[c]["missing"] for c in self._identifiers(columns)}

    def distinct(self, columns: Iterable[str]) -> dict[str, int]:
        """Count the different values of each identifier."""
        return {c: self.state.identifiers[c]["values"] for c in self._identifiers(columns)}

    def _identifiers(self, columns: Iterable[str]) -> list[str]:
        return [c for c in columns if c in self.state.identifiers]

    def coded_missing(self, columns: Sequence[str], *, complete: bool) -> dict[str, int | None]:
        """Count the values of each column that are missing only because of a code for missing."""
        if self.state.na and not complete:
            return dict.fromkeys(columns)
        return {c: self.state.coded.get(c, 0) for c in columns}

    def nan(self, columns: Sequence[str], *, complete: bool) -> dict[str, int]:
        """Count the values of each column that are missing because they are NaN, if any are."""
        if not complete:
            return {}
        return {c: self.state.nan[c] for c in columns if self.state.nan.get(c)}
