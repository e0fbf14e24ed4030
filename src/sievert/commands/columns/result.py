"""The result of `sievert columns`: what was read, and every column with a likely role."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sievert.formatting import count, printable, wrap
from sievert.report.texts import Texts
from sievert.request.role_suggestion import ColumnEvidence, role_reason
from sievert.result import DescribedResult
from sievert.version import __version__

WIDTH = 100
LONGEST = 40  # letters of a name
HEADS = ("columns.column", "columns.kind", "columns.values", "columns.missing", "columns.why")
KINDS = {
    "dates": "columns.dates",
    "numbers": "columns.numbers",
    "texts": "columns.texts",
    "constant": "columns.constant",
}


@dataclass(frozen=True, kw_only=True)
class DescribedColumn:
    """A column: how many values it has, what they are, and the role that this suggests."""

    name: str  # of the column
    values: int  # different ones
    missing: int  # records
    kind: str  # dates, numbers, texts or constant
    role: str | None  # as [roles] of a policy calls it; None where nothing is suggested
    reason: str  # the key of the reason
    codes: int  # values that look like codes for missing
    coded: int  # records that have one of them
    suppressed: int = 0  # records with the mark of suppression (--suppressed)
    examples: tuple[str, ...] = ()  # the most frequent values, where somebody wants to see them

    def explain_role(self, records: int, texts: Texts) -> str:
        """Why the role is suggested, in the language of the texts."""
        evidence = ColumnEvidence(
            values=self.values, records=records, codes=self.codes, coded=self.coded
        )
        return texts.remark(role_reason(evidence, self.reason))


@dataclass(frozen=True, repr=False)
class ColumnList(DescribedResult):
    """The columns of a table; what their values look like, never a value."""

    table: Mapping[str, Any]  # its name, rows and how it was read
    columns: tuple[DescribedColumn, ...]  # in their order

    def to_dict(self) -> dict[str, Any]:
        """The JSON of the command line: stable."""
        return {
            "sievert": __version__,
            "table": dict(self.table),
            "columns": [
                {k: v for k, v in vars(column).items() if k != "examples" or v}
                for column in self.columns
            ],
        }

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> "ColumnList":
        """What such a JSON says."""
        return cls(given["table"], tuple(DescribedColumn(**each) for each in given["columns"]))

    def _lines(self, texts: Texts) -> Iterator[str]:
        number = texts.number_of
        rows = self.table["rows"]
        columns = len(self.columns)
        size = f"{number(rows, 'record')}, {number(columns, 'column')}"
        yield texts("columns.title", table=printable(self.table["name"]), size=size)
        names = [printable(c.name[: LONGEST + 1])[:LONGEST] for c in self.columns]
        kinds = {c.kind: texts(KINDS[c.kind]) for c in self.columns}
        heads = [texts(key) for key in HEADS]
        width = max(map(len, [heads[0], *names]))
        wide = max(map(len, [heads[1], *kinds.values()]))

        def start(name: str, kind: str, values: str, missing: str) -> str:
            return f"  {name:<{width}}  {kind:<{wide}}  {values:>9}  {missing:>9}  "

        yield from ("", start(*heads[:4]) + heads[4])
        for name, column in zip(names, self.columns, strict=True):
            begin = start(name, kinds[column.kind], count(column.values), count(column.missing))
            why = column.explain_role(rows, texts)
            yield from wrap(why, max(WIDTH, len(begin) + 40), begin, " " * len(begin))
        yield from ("", texts("columns.decide"))
