"""A release as a file: written, assessed, confirmed in a process of its own, with its manifest."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from sievert.commands._measuring import MeasureSettings
from sievert.commands._release_files import FileColumn, write_release
from sievert.commands.protect.check import confirm, judge
from sievert.commands.protect.people import person_column
from sievert.commands.protect.run import Protection, release_columns
from sievert.counts.questions import Questions
from sievert.counts.recoded_records import RecodedRecords, write_recoded
from sievert.hierarchies import Hierarchy
from sievert.policy import Judgement, to_tables
from sievert.sources.table import Table


class ReleaseFile:
    """A release as a file, and how it is read back: its secrets as those of the original."""

    def __init__(
        self,
        path: Path,
        kind: str,
        table: Table,
        questions: Questions,
        protection: Protection,
        measuring: MeasureSettings,
    ) -> None:
        self.path, self.kind, self.table, self.questions = path, kind, table, questions
        self.protection, self.measuring = protection, measuring
        self.names: list[str] = []
        self.with_person: Path | None = None

    def write_from_memory(self, with_person: Path, keep: Iterable[str], *, drop: bool) -> None:
        """Read the records, and write them; with a person beside, where people are counted."""
        columns, suppressed = release_columns(self.questions, self.protection, keep)
        people = self.protection.people
        who = None if people is None else person_column(people)
        if drop:
            columns = [c.only(~suppressed) for c in columns]
            who = None if who is None else who.only(~suppressed)
        self._write(self.path, columns)
        self.names = [c.name for c in columns]
        if who is not None:
            self._write_people(with_person, columns, who)

    def _write_people(self, path: Path, columns: Sequence[FileColumn], person: FileColumn) -> None:
        """Write the same records with their person beside: people can be counted in no other way.

        The file is private, and is not kept; where the release holds the person there is no need.
        """
        if person.name not in self.names:
            self._write(path, [*columns, person])
            self.with_person = path

    def write_in_engine(self, records: RecodedRecords) -> None:
        """Let the engine write the release from its own records."""
        write_recoded(self.questions, records, self.path, self.kind, **self._csv())
        self.names = list(records.names)

    def _csv(self) -> dict[str, Any]:
        """A text file is written as the input is."""
        if self.table.kind != "csv":
            return {}
        return {"delimiter": self.table.delimiter or ",", "header": self.table.header}

    def _write(self, path: Path, columns: Sequence[FileColumn]) -> None:
        write_release(path, self.kind, columns, self.questions, **self._csv())

    def judge(self, source: Mapping[str, Any]) -> Judgement:
        """The policy held against the file; what stands against the table stands against it."""
        of_file, gate = judge(self.path, *self._order(source)), self.protection.gate
        gate.suppressed_records = of_file.suppressed_records
        of_table = gate.judge(of_file.verdicts)
        return replace(
            of_table, reasons=tuple(dict.fromkeys((*of_table.reasons, *of_file.reasons)))
        )

    def confirm(self, source: Mapping[str, Any]) -> list[str]:
        """The names of the columns, if a new process meets the policy with the file."""
        confirm(self.with_person or self.path, *self._order(source), released=self.path)
        return self.names

    def _order(self, source: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        """The policy for the columns of the release, and how the file is read."""
        roles, measuring = self.protection.roles, self.measuring
        options: dict[str, Any] = {
            "quasi": list(roles.quasi),
            "sensitive": list(roles.sensitive),
            "orders": {c: list(order) for c, order in measuring.orders.items()},
            "hierarchies": {
                s: _plain_hierarchy(tree)
                for s, tree in measuring.hierarchies.items()
                if s in roles.sensitive
            },
            "parameters": dict(measuring.parameters),
        }
        if self.kind == "csv":
            types = {c: t for c, t in (source.get("types") or {}).items() if c in roles.sensitive}
            like_the_input = self.table.kind == "csv"
            options["types"] = types or None
            options["delimiter"] = (self.table.delimiter if like_the_input else None) or ","
            options["header"] = self.table.header if like_the_input else True
        person = [roles.person] if self.with_person and roles.person else []
        return to_tables(self.protection.policy, [*self.names, *person]), options


def _plain_hierarchy(tree: Any) -> Any:
    """A hierarchy as JSON has it: the name of a file, or the labels of every value."""
    labels = tree.labels if isinstance(tree, Hierarchy) else tree
    return {v: list(x) for v, x in labels.items()} if isinstance(labels, Mapping) else str(tree)
