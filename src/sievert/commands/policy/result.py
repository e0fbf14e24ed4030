"""The result of a check of a policy: what it lacks for one table."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sievert.formatting import plural, printable, wrap
from sievert.report.texts import Texts, read_texts
from sievert.version import __version__

WIDTH = 100
KINDS = (
    "columns_without_role",
    "unknown_columns",
    "unknown_measures",
    "misplaced_limits",
    "impossible_limits",
    "undecidable_limits",
    "harmless_side",
    "people_unstated",
    "no_limits",
)


@dataclass(frozen=True)
class PolicyGap:
    """One thing that a policy lacks: what, in which table of the file, and what to write there."""

    what: str
    where: str
    name: str  # of a column or a measure; empty where it is the policy itself
    text: str
    suggestion: str

    def to_dict(self) -> dict[str, Any]:
        """As it stands in the JSON."""
        return dict(vars(self))


@dataclass(frozen=True, repr=False)
class PolicyCheck:
    """What a policy lacks for one table; nothing, if it can be held against it as it stands."""

    table: Mapping[str, Any]
    policy: str
    gaps: tuple[PolicyGap, ...]
    fixed: bool = False  # whether comments were written into the file

    @property
    def passed(self) -> bool:
        """Whether the policy lacks nothing for this table; its limits may still be breached."""
        return not self.gaps

    def to_dict(self) -> dict[str, Any]:
        """The JSON of the command line: stable."""
        return {
            "sievert": __version__,
            "table": dict(self.table),
            "policy": {"file": self.policy, "complete": self.passed, "fixed": self.fixed},
            "gaps": [gap.to_dict() for gap in self.gaps],
        }

    def __repr__(self) -> str:
        """The terminal output: what the policy lacks, by kind, and what to write."""
        return "\n".join(self._lines(read_texts(None)))

    def _lines(self, texts: Texts) -> Iterator[str]:
        table, name = self.table, printable(self.table["name"])
        size = f"{plural(table['rows'], 'record')}, {plural(table['columns'], 'column')}"
        yield texts("policy_check.title", policy=printable(self.policy), table=name, size=size)
        if self.passed:
            yield texts("policy_check.complete")
        for what in KINDS:
            gaps = [gap for gap in self.gaps if gap.what == what]
            if gaps:
                yield from ("", texts(f"policy_check.{what}"))
            for gap in gaps:
                yield from wrap(printable(gap.text), WIDTH, "  ", "    ")
                if gap.suggestion:
                    words = texts("policy_check.try", suggestion=printable(gap.suggestion))
                    yield from wrap(words, WIDTH, "    ", "      ")
        if self.fixed:
            yield from ("", texts("policy_check.fixed"))
