"""Whether two tables of as many records are paired by their order, decided by evidence.

A column *speaks for* the order if more records agree in it than by chance, and than with the
release shifted by up to five rows, by more than 6 standard deviations. Two unrelated tables that
are sorted by the same column agree more than by chance, but they do so when shifted as well. One
column is not enough: it may have been copied, and the others invented. So another column must still
agree more than by chance within the strata of that column's original values.

If the evidence does not decide, tables are not paired if chance alone explains every column whose
agreement would show. A user may state that tables are paired if they may be. The statement is
refused if a column has all values of the original, but in other records, and agrees no more than by
chance.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from sievert.errors import InputError, UsageError, require
from sievert.formatting import significant
from sievert.formatting.remarks import Caution, Remark
from sievert.losses.loss import PairedColumn
from sievert.pairing.agreement import (
    SEEN,
    Moments,
    agreement,
    could_exceed,
    exceeds,
    least_excess,
    rank_correlation,
    rank_correlation_deviations,
    seems_paired,
)

SHIFTS = tuple(d for d in range(-5, 6) if d)
PAIRING_FILE = "pairing file that protect wrote, beside the release"
KNOWN = f"the {PAIRING_FILE}, or --key COLUMN, one value a person, in both tables"
UNPAIRED = (
    "sievert synthetic ORIGINAL RELEASE for a release that is synthetic, sampled or otherwise has "
    "other rows"
)


@dataclass(frozen=True)
class Pairing:
    """How records were paired, and the evidence.

    `columns` are the columns that decided. `excess` has their standard deviations over chance; for
    the first column also over shifts, and for a second column within the strata of the first.
    """

    paired: bool | None  # None: the evidence does not decide
    by: str  # order, key, file, stated
    columns: tuple[str, ...] = ()
    excess: tuple[float, ...] = ()

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "Pairing":
        """Read the entry of the JSON."""
        return cls(
            paired=data.get("paired"),
            by=data.get("by", ""),
            columns=tuple(data.get("columns") or ()),
            excess=tuple(data.get("excess") or ()),
        )

    def to_dict(self) -> dict[str, Any]:
        """The entry of the JSON."""
        return {**vars(self), "columns": list(self.columns), "excess": list(self.excess)}

    def notes(self) -> Iterable[Remark]:
        """The remarks on the pairing; there is none for a key."""
        if self.paired is None:
            yield Caution("order_unknown")
        elif self.by == "file":
            yield Remark("paired_by_file")
        elif self.by == "stated":
            yield Remark("order_stated")
        elif self.by == "order":
            yield Remark("order_checked")


BY_KEY = Pairing(paired=True, by="key")
BY_FILE = Pairing(paired=True, by="file")
STATED = Pairing(paired=True, by="stated")


def require_paired(
    pairing: Pairing, name: str, *, stated: bool = False, unused: str | None = None
) -> Pairing:
    """Raise an error if two tables are not paired by their order, even if that is `stated`."""
    evidence = ""
    if pairing.columns:
        shown = [
            f"{column!r} {significant(excess)}"
            for column, excess in zip(pairing.columns, pairing.excess, strict=True)
        ]
        evidence = (
            f" (standard deviations over chance: {', then '.join(shown)}; more than 6 needed)"
        )
    refused = ", so that --paired does not hold" if stated else ""
    beside = f"{unused}; " if unused else ""
    require(
        pairing.paired is not False,
        f"{name}: the records are not paired by their order{refused}: the columns of both tables "
        f"agree no more than those of unrelated people would{evidence}",
        hint=f"{beside}{KNOWN}; {UNPAIRED}; --hierarchy COL=FILE if values were generalised",
        error=UsageError if stated else InputError,
    )
    return pairing


class _ColumnEvidence:
    """The agreement of one column, and its agreement with the release shifted."""

    def __init__(self, pairs: PairedColumn) -> None:
        self.pairs = pairs
        self.column = agreement(pairs)
        self.name = pairs.name
        self.moments = self.column.moments()

    @cached_property
    def most_shifted(self) -> int:
        """The largest number of records that agree with the release shifted by some rows."""
        return max(self.column.count(shift) for shift in SHIFTS)

    @property
    def _beside(self) -> float:
        return max(self.moments.expected, self.most_shifted)

    @property
    def speaks(self) -> bool:
        """Whether the column speaks for the order."""
        least = least_excess(self.moments)
        return exceeds(self.moments) and self.moments.found - self._beside > least

    @property
    def is_shifted(self) -> bool:
        """Whether more records agree after a shift: rows were lost or added at the beginning."""
        return self.most_shifted - self.moments.found > least_excess(self.moments)

    @property
    def could_speak(self) -> bool:
        """Whether perfect agreement would exceed chance and all shifts."""
        return self.moments.most - self._beside > least_excess(self.moments)

    @property
    def may_speak(self) -> bool:
        """Whether the column's numbers are correlated more than by chance, and than with shifts.

        Under heavy noise, too few records agree for a proof.
        """
        if rank_correlation_deviations(self.pairs) <= SEEN:
            return False
        moved = (replace(self.pairs, released=np.roll(self.pairs.released, d)) for d in SHIFTS)
        own, freedom = rank_correlation(self.pairs)
        beside = max(rank_correlation(column)[0] for column in moved)
        return (own - beside) * math.sqrt(freedom) > SEEN

    @property
    def excess(self) -> float:
        """Standard deviations over chance and over all shifts."""
        spread = self.moments.deviation
        return 0.0 if spread == 0 else (self.moments.found - self._beside) / spread


def pairing_by_order(columns: Iterable[PairedColumn]) -> Pairing:
    """The verdict on two tables whose columns are compared row by row."""
    evidence = [_ColumnEvidence(c) for c in columns if len(c.original)]
    able = [c for c in evidence if could_exceed(c.moments)]
    if len(able) < 2:  # too few records, or no second column that varies
        return _by_chance(able) or Pairing(None, "order")
    speaking = [c for c in able if exceeds(c.moments) and c.speaks]
    if not speaking:
        if not any(c.could_speak or c.is_shifted for c in able):
            return _by_chance(able) or Pairing(None, "order")
        if any(c.may_speak for c in able):
            return Pairing(None, "order")
        best = max(able, key=lambda c: c.excess)
        return Pairing(paired=False, by="order", columns=(best.name,), excess=(best.excess,))
    return _within_strata(speaking, able)


def _by_chance(able: Sequence[_ColumnEvidence]) -> Pairing | None:
    """The verdict if chance, or a shift, explains all agreement; None if it does not."""
    if not able or not all(c.is_shifted or not seems_paired(c.pairs, c.moments) for c in able):
        return None
    best = max(able, key=lambda c: c.moments.excess)
    return Pairing(paired=False, by="order", columns=(best.name,), excess=(best.moments.excess,))


def _within_strata(speaking: Sequence[_ColumnEvidence], able: Sequence[_ColumnEvidence]) -> Pairing:
    """The verdict by a second column, which must agree within equal values of a speaking one."""
    against: list[tuple[float, _ColumnEvidence, _ColumnEvidence]] = []
    likely = False  # whether a second column agrees too much for chance, but too little for proof
    for first in sorted(speaking, key=lambda c: c.column.different):
        strata = np.unique(first.column.original, return_inverse=True)[1]
        others = [c for c in able if c is not first]
        for second in sorted(others, key=lambda c: -c.moments.excess):
            within: Moments = second.column.moments(strata)
            if exceeds(within):
                names = (first.name, second.name)
                return Pairing(
                    paired=True, by="order", columns=names, excess=(first.excess, within.excess)
                )
            likely = likely or seems_paired(second.pairs, within, strata)
            if could_exceed(within):
                against.append((within.excess, first, second))
    if likely:
        return Pairing(None, "order")
    # Strata of single records say nothing; but chance that explains most other columns does.
    if not against:
        unlike = [c for c in able if not exceeds(c.moments)]
        if len(unlike) >= len(speaking):
            against = [(c.moments.excess, speaking[0], c) for c in unlike]
    if not against:
        return Pairing(None, "order")
    excess, first, second = max(against, key=lambda evidence: evidence[0])
    return Pairing(
        paired=False, by="order", columns=(first.name, second.name), excess=(first.excess, excess)
    )
