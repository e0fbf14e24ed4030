"""The result of a check of a policy: what it lacks for one table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from sievert.version import __version__


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
        """The terminal output."""
        terminal = import_module("sievert.commands.policy.terminal")
        return str(terminal.render(self))
