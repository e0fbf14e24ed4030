"""The result of counting into a state, of adding states up, and of changing one."""

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass, field
from typing import Any

from sievert.formatting import printable
from sievert.report.texts import Texts
from sievert.result import DescribedResult
from sievert.sources.state_manifest import FORMAT, StateManifest
from sievert.version import __version__


@dataclass(frozen=True, repr=False)
class CountState(DescribedResult):
    """The content of a state: its columns, and how many records, combinations and segments."""

    manifest: StateManifest  # of the state as it is now
    _: KW_ONLY
    added: int = 0  # records that an update added
    removed: int = 0  # records that it took away
    compacted: bool = False  # whether all segments were put into one
    timings: dict[str, float] = field(default_factory=dict, compare=False)  # seconds by step
    peaks: dict[str, int] = field(default_factory=dict, compare=False)  # bytes by step

    @property
    def records(self) -> int:
        """How many records were counted."""
        return self.manifest.records

    def to_dict(self) -> dict[str, Any]:
        """The JSON of the command line: stable, and without values of the data."""
        state = self.manifest
        return {
            "sievert": __version__,
            "state": {
                "name": state.folder.name,
                "format": FORMAT,
                "schema": state.schema,
                "table": state.table["name"],
                "engine": state.engine,
                "records": state.records,
                "columns": list(state.kept),
                "left_out": list(state.left_out),
                "segments": [
                    {"rows": s.rows, "records": s.records, "bytes": s.size} for s in state.segments
                ],
                "added": self.added,
                "removed": self.removed,
                "compacted": self.compacted,
            },
            "roles": {
                "quasi": list(state.quasi),
                "sensitive": list(state.sensitive),
                "identifier": list(state.identifier),
                "person": state.person,
            },
        }

    def _lines(self, texts: Texts) -> Iterator[str]:
        state = self.manifest
        number = texts.number_of
        name = printable(state.folder.name)
        table = printable(state.table["name"])
        yield texts("state.title", state=name, table=table, size=number(state.records, "record"))
        yield texts(
            "state.rows",
            rows=number(sum(segment.rows for segment in state.segments), "combination"),
            columns=", ".join(map(printable, state.kept)),
        )
        if self.added or self.removed:
            added, removed = (number(n, "record") for n in (self.added, self.removed))
            yield texts("state.changed", added=added, removed=removed)
        if self.compacted:
            yield texts("state.compacted")
        yield texts("state.sensitive")
