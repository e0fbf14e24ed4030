"""The result of `sievert hierarchies`: one hierarchy per column, and their TOML."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sievert.formatting.toml import toml_value
from sievert.hierarchies import Hierarchy, fixed_form
from sievert.report.texts import read_texts
from sievert.result import Result

GIVEN = "given"
# The text of each reason for a hierarchy.
REASONS = {
    GIVEN: "proposed.given",
    "few_values": "proposed.few_values",
    "numbers": "proposed.numbers",
    "skewed_numbers": "proposed.skewed_numbers",
    "dates": "proposed.dates",
    "years": "proposed.years",
    "codes": "proposed.codes",
    "named_codes": "proposed.named_codes",
    "nested_codes": "proposed.nested_codes",
    "lost_zeros": "proposed.lost_zeros",
    "short_codes": "proposed.short_codes",
    "categories": "proposed.categories",
}


@dataclass(frozen=True, kw_only=True)
class ProposedColumn:
    """The hierarchy of a quasi-identifier: how it is written, and why this one."""

    given: Any  # the specification: a text, or a tree
    reason: str  # of a proposal; "given" if the user gave the hierarchy
    distinct: int  # the number of different values
    labels: tuple[int, ...]  # the number of labels on each level
    hierarchy: Hierarchy | None

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "ProposedColumn":
        """Read an entry of the JSON, which does not have the hierarchy itself."""
        return cls(
            given=data["hierarchy"],
            reason=data["reason"],
            distinct=data["distinct"],
            labels=tuple(data["labels"]),
            hierarchy=None,
        )

    @property
    def text(self) -> str:
        """The specification if it is a text."""
        return self.given if isinstance(self.given, str) else GIVEN

    def specification(self, *, fix: bool) -> Any:
        """The form for a policy; `fix` gives other data the same labels, and may name values."""
        fixed = fix or not isinstance(self.given, str | Mapping)
        if fixed and self.hierarchy is not None:
            return fixed_form(self.hierarchy)
        return self.given


@dataclass(frozen=True, kw_only=True, repr=False)
class ProposedHierarchies(Result):
    """A hierarchy for every quasi-identifier; `toml()` is what a policy can hold."""

    columns: Mapping[str, ProposedColumn]  # by quasi-identifier

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "ProposedHierarchies":
        """Read what a page shows back from the JSON."""
        proposals = data["proposals"].items()
        columns = {name: ProposedColumn.from_dict(entry) for name, entry in proposals}
        return cls(**cls.saved_fields(data), columns=columns)

    @property
    def proposed(self) -> int:
        """The number of columns whose hierarchy was not given."""
        return sum(column.reason != GIVEN for column in self.columns.values())

    @property
    def hierarchies(self) -> dict[str, Any]:
        """As other commands take them."""
        return {name: column.given for name, column in self.columns.items()}

    def toml(self, *, fix: bool = False) -> str:
        """[hierarchies] of a policy, to edit; with `fix` other data get the same labels."""
        texts = read_texts(None)
        lines = ["[hierarchies]"]
        for name, column in self.columns.items():
            why = texts(REASONS[column.reason], distinct=f"{column.distinct:,}")
            specification = toml_value(column.specification(fix=fix))
            lines.append(f"{toml_value(name)} = {specification}  # {why}")
        return "\n".join(lines) + "\n"

    def _content(self) -> dict[str, Any]:
        return {"proposals": {row.pop("column"): row for row in self._rows()}}

    def _rows(self) -> Iterator[dict[str, Any]]:
        return (
            {
                "column": name,
                "hierarchy": column.text,
                "reason": column.reason,
                "distinct": column.distinct,
                "labels": list(column.labels),
                "fixed": None if column.hierarchy is None else column.hierarchy.fixed,
            }
            for name, column in self.columns.items()
        )
