"""An assessment made fit to pass on: no small count, nothing it could be worked back from.

Counts below the least cell are withheld, and those from which one would follow by subtraction.
Shares and bits are rounded to a step that more than one cell of records is needed to move. What is
a function of the smallest class alone is withheld with it. Verdicts stay as they were found.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from sievert.errors import UsageError
from sievert.measures import BY_ID
from sievert.notes import Count, Note
from sievert.result import SUPPRESSED, Assessment, Number, Value
from sievert.roles import Roles

LEAST = 10
FEWEST = 3
FINEST = 0.001
COARSEST = 0.5
DIGITS = 3
# Functions of N and the smallest class where the target is the record.
OF_SMALLEST = {
    "highest_risk", "itpr", "itpr_unnormalized", "maximum_information_leakage",
    "entropy_variation", "entropy_l_diversity", "reciprocal_entropy",
}  # fmt: skip
KEPT_DETAILS = {"l", "satisfiable", "named_value", "reading"}
HIDDEN_SOURCE = {"name", "delimiter", "encoding"}


def shared(found: Assessment, *, min_cell: int = LEAST, mask_names: bool = False) -> Assessment:
    """The assessment as it may be shown to somebody who must not learn about single persons."""
    if not isinstance(min_cell, int) or min_cell < FEWEST:
        raise UsageError(f"--min-cell must be at least {FEWEST}")
    if "shared" in found.table:
        raise UsageError("the assessment has been made fit to pass on before")
    return _Sharing(found, min_cell, mask_names).result()


class _Sharing:
    def __init__(self, found: Assessment, least: int, mask: bool) -> None:
        self.found, self.least, self.records = found, least, found.rows
        self.names = _masks(found) if mask else {}

    def result(self) -> Assessment:
        found = self.found
        reidentification = self._chapter(found.reidentification, record=True)
        inference = {
            self._name(secret): self._chapter(values, record=False)
            for secret, values in found.inference.items()
        }
        return replace(
            found,
            table=self._table(),
            roles=Roles(*(tuple(map(self._name, r)) for r in self._roles())),
            reidentification=reidentification,
            inference=inference,
            verdicts=None if found.verdicts is None else tuple(map(self._verdict, found.verdicts)),
            warnings=tuple(self._note(w) for w in found.warnings),
            unassessed=tuple(map(self._name, found.unassessed)),
        )

    def _roles(self) -> tuple[tuple[str, ...], ...]:
        roles = self.found.roles
        return roles.quasi, roles.sensitive, roles.identifier

    def _name(self, column: str) -> str:
        return self.names.get(column, column)

    # -- numbers --------------------------------------------------------------------------------

    def _small(self, count: int) -> bool:
        """Whether a count, or what is left of all records without it, is below the least cell."""
        return 0 < count < self.least or 0 < self.records - count < self.least

    def _count(self, count: int | None) -> int | None:
        return None if count is None or self._small(count) else count

    def _chapter(self, values: Mapping[str, Value], *, record: bool) -> dict[str, Value]:
        k = values.get("k_anonymity")
        hidden = k is None or k.value is None or self._small(int(k.value))
        return {
            m: self._withheld(v) if record and hidden and m in OF_SMALLEST else self._value(v)
            for m, v in values.items()
        }

    def _withheld(self, value: Value, below: bool = False) -> Value:
        details = {"below": self.least} if below else {}
        return replace(value, value=None, reason=SUPPRESSED, details=details)

    def _value(self, value: Value) -> Value:
        number = value.value
        if value.id == "records_below":
            return self._below(value)
        details = self._details(value)
        if number is None:
            return replace(value, details=details)
        if isinstance(number, int):
            if self._small(number):
                return self._withheld(value, below=number < self.least)
            return replace(value, details=details)
        if value.id == "unique_records" and self._small(int(value.details["records"])):
            return self._withheld(value, below=int(value.details["records"]) < self.least)
        rounded = self._rounded(value.id, number)
        return self._withheld(value) if rounded is None else replace(
            value, value=rounded, details=details
        )  # fmt: skip

    def _rounded(self, measure: str, number: Number) -> Number | None:
        """To a step that more than a cell of records must move; the ends of the range are kept."""
        m, n = BY_ID[measure], self.records
        if isinstance(number, int):
            return self._count(number)
        if number in (m.low, m.high):
            return number
        finest = self.least / n * (1.0 if m.high == 1 else max(1.0, math.log2(n)))
        step = _step(max(finest, FINEST))
        if step > COARSEST:
            return None
        rounded = round(number / step) * step
        if m.low is not None and rounded <= m.low:
            rounded = m.low + step
        if m.high is not None and rounded >= m.high:
            rounded = m.high - step
        return float(f"{rounded:.{DIGITS}g}") if rounded > 1 else round(rounded, 6)

    def _below(self, value: Value) -> Value:
        """Records in classes below each k: the steps between them are cells as well."""
        by_k: dict[str, int | None] = {}
        shown = 0
        for k, count in sorted(value.details["by_k"].items(), key=lambda pair: int(pair[0])):
            apart = count - shown
            by_k[k] = None if self._small(count) or 0 < apart < self.least else count
            shown = shown if by_k[k] is None else count
        details = {"by_k": by_k, "k": value.details["k"]}
        last = by_k[str(value.details["k"])]
        if last is None:
            return replace(self._withheld(value, below=int(value.value or 0) < self.least),
                           details={**details, "below": self.least})  # fmt: skip
        return replace(value, value=last, details=details)

    def _details(self, value: Value) -> dict[str, Any]:
        kept: dict[str, Any] = {}
        for key, detail in value.details.items():
            if key in KEPT_DETAILS:
                kept[key] = detail
            elif key == "without_missing":
                kept[key] = None if detail is None else self._rounded(value.id, detail)
            elif isinstance(detail, int):  # records, wildcard, k of the smallest class, ...
                kept[key] = self._count(detail)
        return kept

    # -- the rest -------------------------------------------------------------------------------

    def _table(self) -> dict[str, Any]:
        table = {k: v for k, v in self.found.table.items() if k not in HIDDEN_SOURCE}
        table |= {"name": None, "rows": self._count(self.records), "shared": self.least}
        if isinstance(table.get("verified"), Mapping):
            table["verified"] = True  # a digest of a small table can be guessed
        for key in ("dropped", "blank_lines"):
            if key in table:
                table[key] = self._count(table[key])
        if "missing_values" in table:
            table["missing_values"] = {
                self._name(c): {what: self._count(n) for what, n in counts.items()}
                for c, counts in table["missing_values"].items()
            }
        return table

    def _verdict(self, verdict: Any) -> Any:
        chapter, _, secret = verdict.where.partition(".")
        values = self.found.inference[secret] if secret else self.found.reidentification
        number = verdict.value
        if number is not None:
            original = values[verdict.measure]
            stands = self._chapter(values, record=not secret)[verdict.measure]
            number = None if stands.value is None else (
                stands.value if number == original.value else self._rounded(original.id, number)
            )  # fmt: skip
        where = f"{chapter}.{self._name(secret)}" if secret else chapter
        withheld = number is None and verdict.value is not None
        return replace(
            verdict, where=where, value=number, reason=SUPPRESSED if withheld else verdict.reason
        )

    def _note(self, note: str) -> str:
        if not isinstance(note, Note):
            return note
        return note.told(self._said, lambda n: repr(self._name(n.name)))

    def _said(self, count: Count) -> str:
        if 0 < count.number < self.least:
            return f"fewer than {self.least} {count.thing}s"
        return f"nearly all {count.thing}s" if self._small(count.number) else str(count)


def _masks(found: Assessment) -> dict[str, str]:
    """Names that tell the role of a column and nothing else."""
    names: dict[str, str] = {}
    for what, columns in (
        ("quasi-identifier", found.roles.quasi),
        ("secret", found.roles.sensitive),
        ("identifier", found.roles.identifier),
        ("column", found.unassessed),
    ):
        for number, column in enumerate(columns, 1):
            names.setdefault(column, f"{what} {number}")
    return names


def _step(least: float) -> float:
    """The smallest of 1, 2, 5, 10, ... times a power of ten that is not below `least`.

    >>> [_step(x) for x in (0.001, 0.0013, 0.03, 0.6)]
    [0.001, 0.002, 0.05, 1.0]
    """
    exponent = math.floor(math.log10(least) + 1e-9)
    digits = next(d for d in (1, 2, 5, 10) if d * 10.0**exponent >= least * (1 - 1e-9))
    return float(f"{digits}e{exponent}")
