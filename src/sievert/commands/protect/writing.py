"""A release as a file: written, assessed, confirmed in a process of its own, with its manifest."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from sievert.commands._measuring import MeasureSettings
from sievert.commands._release_files import FileColumn, write_release
from sievert.commands.protect.check import confirm, judge
from sievert.commands.protect.run import Protection
from sievert.counts.questions import Questions
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

    def write(self, columns: Sequence[FileColumn]) -> None:
        """Write all records of these columns."""
        csv: dict[str, Any] = {}
        if self.table.kind == "csv":
            csv = {"delimiter": self.table.delimiter or ",", "header": self.table.header}
        write_release(self.path, self.kind, columns, self.questions, **csv)
        self.names = [c.name for c in columns]

    def judge(self, source: Mapping[str, Any]) -> Judgement:
        """The policy held against the file; what stands against the table stands against it."""
        gate, release = self.protection.gate, self.protection.release
        if release is not None and release.gone.all():
            gate.not_met("all_suppressed")
            return replace(gate.judge(()), reasons=tuple(gate.reasons))
        of_file = judge(self.path, *self._order(source))
        gate.suppressed_records = of_file.suppressed_records
        of_table = gate.judge(of_file.verdicts)
        return replace(
            of_table, reasons=tuple(dict.fromkeys((*of_table.reasons, *of_file.reasons)))
        )

    def confirm(self, source: Mapping[str, Any]) -> list[str]:
        """The names of the columns, if a new process meets the policy with the file."""
        confirm(self.path, *self._order(source))
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
        return to_tables(self.protection.policy, self.names), options


def _plain_hierarchy(tree: Any) -> Any:
    """A hierarchy as JSON has it: the name of a file, or the labels of every value."""
    labels = tree.labels if isinstance(tree, Hierarchy) else tree
    return {v: list(x) for v, x in labels.items()} if isinstance(labels, Mapping) else str(tree)
