"""What an estimate ends in: a number of bits, what chance alone gives, and how sure both are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sievert.numerics.tails import NORMAL_QUANTILE

ROWS_PER_CELL = 5  # below, most cells of a table are an accident
NOISE = 0.2  # share of the value that chance may have


@dataclass(frozen=True)
class InformationEstimate:
    """A mutual information, or a difference of two, of some records, in bits.

    `value` is exact for these records; `chance` is what it would be on average if the two columns
    had nothing to do with each other; `corrected` is the rest. `interval` is the spread of
    `corrected` over samples. Of a difference `cells` is the larger of the two numbers of cells.
    """

    value: float
    miller_madow: float
    chance: float
    p_value: float | None  # None without shuffles
    records: int
    cells: int
    maximum: float
    standard_error: float
    shuffles: int = 0
    level: float = 0.95
    excess: float | None = None  # of a loss: less what shuffles make of no loss

    @property
    def corrected(self) -> float:
        """The value without what chance gives."""
        return self.value - self.chance

    @property
    def beyond(self) -> float:
        """What is beyond chance: of a loss its excess, where it was shuffled."""
        return self.corrected if self.excess is None else self.excess

    @property
    def interval(self) -> tuple[float, float]:
        """Where the corrected values of most other samples lie."""
        half = NORMAL_QUANTILE * self.standard_error
        return self.corrected - half, self.corrected + half

    @property
    def rows_per_cell(self) -> float:
        """Records of an occupied cell, on average."""
        return self.records / self.cells

    @property
    def share(self) -> float | None:
        """The value as a share of the most it could be; None where that is nothing."""
        return self.value / self.maximum if self.maximum else None

    @property
    def noisy(self) -> bool:
        """Whether the value is not to be read without the corrected one."""
        few = self.records < ROWS_PER_CELL * self.cells
        return few or abs(self.chance) > NOISE * abs(self.value)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, as JSON holds them."""
        excess = {} if self.excess is None else {"excess": self.excess}
        return excess | {
            "value": self.value,
            "corrected": self.corrected,
            "chance": self.chance,
            "miller_madow": self.miller_madow,
            "p_value": self.p_value,
            "rows_per_cell": self.rows_per_cell,
            "interval": list(self.interval),
            "maximum": self.maximum,
            "share": self.share,
            "standard_error": self.standard_error,
            "shuffles": self.shuffles,
            "noise": self.noisy,
        }
