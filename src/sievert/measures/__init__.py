"""Every measure: pure functions of counts, one file per family, one explicit list."""

from sievert.measures.classes import CLASSES
from sievert.measures.closeness import CLOSENESS
from sievert.measures.diversity import DIVERSITY
from sievert.measures.gains import GAINS
from sievert.measures.information import INFORMATION
from sievert.measures.measure import Law, Measure, MeasureResult

MEASURES: tuple[Measure, ...] = (*CLASSES, *INFORMATION, *DIVERSITY, *GAINS, *CLOSENESS)
BY_ID = {m.id: m for m in MEASURES}

__all__ = ["BY_ID", "MEASURES", "MeasureResult", "Law", "Measure"]
