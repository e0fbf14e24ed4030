"""Every measure: pure functions of counts, one file a family, one explicit list."""

from __future__ import annotations

from sievert.measures.classes import CLASSES
from sievert.measures.information import INFORMATION
from sievert.measures.record import Found, Law, Measure
from sievert.measures.secrets import SECRETS

MEASURES: tuple[Measure, ...] = (*CLASSES, *INFORMATION, *SECRETS)
BY_ID = {m.id: m for m in MEASURES}

__all__ = ["BY_ID", "MEASURES", "Found", "Law", "Measure"]
