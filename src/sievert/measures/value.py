"""One measured number with its unit, as results and their JSON hold it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sievert.measures.measure import Number

SUPPRESSED = "suppressed"


@dataclass(frozen=True)
class Value:
    """One measured number with its unit, which way is risky, and why it is missing if it is."""

    id: str
    value: Number | None
    unit: str
    riskier: str
    reason: str | None = None
    details: Mapping[str, Any] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """As it stands in the JSON."""
        return {
            "value": self.value,
            "unit": self.unit,
            "riskier": self.riskier,
            "reason": self.reason,
            **self.details,
        }
