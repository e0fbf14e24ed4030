"""Ways to change a table, and what an assessment of the changed table would say."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sievert.policy import Verdict

# Why there are no options.
EVERY_LIMIT_MET = "every_limit_met"
NOTHING_HELPS = "nothing_helps"  # of what was tried
TOO_MANY = "too_many_combinations"
WILDCARDS = "wildcards"  # missing values that match anything make no classes
NO_ORDER = "values_without_order"


@dataclass(frozen=True)
class ColumnChange:
    """One quasi-identifier coarsened or left out."""

    column: str
    how: str  # "in bands of 20", "left out"
    values: int  # different values that are left; missing may be one; 0 of a column left out

    def to_dict(self) -> dict[str, Any]:
        """As it stands in the JSON."""
        return dict(vars(self))


@dataclass(frozen=True)
class ChangeOption:
    """The table as it is, or with some columns changed: is the policy met, and at what cost."""

    changes: tuple[ColumnChange, ...]
    met: bool | None  # limits and all other reasons
    verdicts: tuple[Verdict, ...]  # in the order of the policy's
    alone: int | None  # people or records with a combination of their own
    detail_lost: float  # share of the detail of the quasi-identifiers, from 0 to 1
    suppressed_records: int = 0  # besides those suppressed before

    @property
    def limits_met(self) -> int:
        """How many limits are met."""
        return sum(v.met is True for v in self.verdicts)

    @property
    def limits(self) -> int:
        """How many limits there are."""
        return len(self.verdicts)

    def to_dict(self) -> dict[str, Any]:
        """As it stands in the JSON."""
        return {
            "changes": [change.to_dict() for change in self.changes],
            "met": self.met,
            "limits_met": self.limits_met,
            "limits": [
                {"measure": v.measure, "where": v.where, "value": v.value, "met": v.met}
                for v in self.verdicts
            ],
            "alone": self.alone,
            "suppressed_records": self.suppressed_records,
            "detail_lost": self.detail_lost,
        }


@dataclass(frozen=True)
class ChangeOptions:
    """The table as it is, and up to three ways to change it; without any, the reason."""

    before: ChangeOption
    ways: tuple[ChangeOption, ...] = ()
    tried: int = 0  # changed tables that were measured
    reason: str | None = None  # why there are no ways

    def to_dict(self) -> Mapping[str, Any]:
        """As it stands in the JSON."""
        return {
            "before": self.before.to_dict(),
            "ways": [way.to_dict() for way in self.ways],
            "tried": self.tried,
            "reason": self.reason,
        }
