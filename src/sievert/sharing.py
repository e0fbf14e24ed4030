"""An assessment made fit to pass on: no small count, nothing it could be worked back from.

Every count is rounded down to a multiple of the least cell and withheld below it; shares and bits
are rounded to a step that more than one cell of records is needed to move. Where the smallest class
is below the cell, numbers that one small class decides are withheld, in the chapter of each secret
too, and so is the difference between none and a few. Verdicts stay as they were found.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from sievert.commands.assess.result import Assessment
from sievert.errors import UsageError
from sievert.measures import BY_ID, Decides, decided_by
from sievert.measures.value import SUPPRESSED, Value
from sievert.notes import Count, Name, Note, Reason
from sievert.roles import Roles

LEAST = 10
FEWEST = 3
FINEST = 0.001
COARSEST = 0.2
DIGITS = 3
FEW_CELLS = 5  # of a table with fewer records than that many cells, little but verdicts is shown
ONE_CLASS = {Decides.CLASS_SIZE, Decides.CLASS_UNCERTAINTY, Decides.CLASS_SHARE}
# What measures may be decided by to be passed on; anything else is withheld.
SHAREABLE = ONE_CLASS | {
    Decides.SMALLEST_CLASS,
    Decides.SMALL_CLASSES,
    Decides.UNIQUES,
    Decides.COUNT,
    Decides.CLASSES,
    Decides.UNCERTAINTY,
    Decides.BITS,
    Decides.TWICE,
    Decides.EVERYBODY,
}
# Remarks without a count that are there because nobody has a value, or somebody lacks one.
OF_NOBODY = ("does not occur", "no k for missing values")
OF_TABLE = {
    "kind",
    "rows",
    "columns",
    "engine",
    "compression",
    "na_codes",
    "blank_lines",
    "missing",
    "missing_values",
    "verified",
    "dropped",
}


def make_shareable(
    found: Assessment, *, min_cell: int = LEAST, mask_names: bool = False
) -> Assessment:
    """The assessment as it may be shown to somebody who must not learn about single persons."""
    if not isinstance(min_cell, int) or min_cell < FEWEST:
        raise UsageError(f"--min-cell must be at least {FEWEST}")
    if "shared" in found.table:
        raise UsageError("the assessment has been made fit to pass on before")
    return _Sharing(found, min_cell, mask_names).result()


class _Sharing:
    def __init__(self, found: Assessment, least: int, mask: bool) -> None:
        self.found, self.least, self.records, self.mask = found, least, found.rows, mask
        self.names = _masks(found) if mask else {}
        values = found.reidentification
        k = values.get("k_anonymity")
        self.small = k is None or k.value is None or k.value < least  # the smallest class
        self.smallest = 1 if k is None else int(k.value or 1)
        self.nothing = self.records < FEW_CELLS * least
        # More classes than half the records: some are unique, and how many may follow.
        unique = values.get("unique_records")
        alone = least if unique is None else int(unique.details["records"])
        classes = values.get("classes")
        number = 0 if classes is None else int(classes.value or 0)
        self.crowded = self.small and alone < least and number > self.records / 2 - least

    def result(self) -> Assessment:
        found = self.found
        self.chapters: dict[str | None, dict[str, Value]] = {
            None: self._chapter(found.reidentification, record=True),
            **{s: self._chapter(v, record=False) for s, v in found.inference.items()},
        }
        inference = {self._name(s): self.chapters[s] for s in found.inference}
        return replace(
            found,
            table=self._table(),
            roles=Roles(*(tuple(map(self._name, r)) for r in self._roles())),
            reidentification=self.chapters[None],
            inference=inference,
            verdicts=None if found.verdicts is None else tuple(map(self._verdict, found.verdicts)),
            warnings=tuple(self._note(w) for w in found.warnings if not self._of_few(w)),
            unassessed=tuple(map(self._name, found.unassessed)),
            approximate={},  # of single classes
        )

    def _roles(self) -> tuple[tuple[str, ...], ...]:
        roles = self.found.roles
        return roles.quasi, roles.sensitive, roles.identifier

    def _name(self, column: str) -> str:
        return self.names.get(column, "..." if self.mask else column)

    # -- numbers --------------------------------------------------------------------------------

    def _count(self, count: int | None, *, none_is_few: bool = False) -> int | None:
        """Rounded down to whole cells; None below one."""
        if count is None or (count == 0 and not none_is_few):
            return count
        if count == self.records:
            return count  # all of them
        return count // self.least * self.least or None

    def _chapter(self, values: Mapping[str, Value], *, record: bool) -> dict[str, Value]:
        entropy = values.get("entropy")
        bits = None if record or entropy is None else entropy.value
        return {m: self._value(v, record=record, bits=bits) for m, v in values.items()}

    def _withheld(self, value: Value, below: bool = False) -> Value:
        details = {"below": self.least} if below else {}
        return replace(value, value=None, reason=SUPPRESSED, details=details)

    def _value(self, value: Value, *, record: bool, bits: float | None = None) -> Value:
        number, by = value.value, decided_by(value.id)
        if by not in SHAREABLE:
            return self._withheld(value)
        if by is Decides.SMALL_CLASSES:
            return self._below(value)
        if by is Decides.SMALLEST_CLASS:
            if self.small:
                return self._withheld(value, below=True)
        elif self.nothing or self._of_one_class(by, record) or self._of_classes(by, record):
            return self._withheld(value)
        if number is None:
            return self._withheld(value) if record and self.small else replace(value, details={})
        if isinstance(number, int):
            exact = by is Decides.SMALLEST_CLASS or (by is Decides.CLASSES and not self.small)
            shown = number if exact and number >= self.least else self._count(number)
            if shown is None:
                return self._withheld(value, below=True)
            return replace(value, value=shown, details=self._details(value))
        if by is Decides.UNIQUES:
            alone = self._count(int(value.details["records"]), none_is_few=self.small)
            if alone is None:
                return self._withheld(value, below=True)
            number = alone / self.records  # share and count must not tell more together
        rounded = self._rounded(value.id, number, bits)
        if rounded is None:
            return self._withheld(value)
        return replace(value, value=rounded, details=self._details(value))

    def _of_one_class(self, by: Decides, record: bool) -> bool:
        """Whether few records of one class could be worked back from a number that it decides.

        From N, the number of classes and such a number the size of a small class may follow; from
        how uncertain a secret is in it, its counts.
        """
        if self.small or by is not Decides.CLASS_UNCERTAINTY:
            return self.small and by in ONE_CLASS
        step = self.least / self.smallest * math.log2(max(self.smallest, 2))
        return not record and step > COARSEST

    def _of_classes(self, by: Decides, record: bool) -> bool:
        """Whether the number of classes would tell how few people are alone."""
        return record and self.crowded and by is Decides.CLASSES

    def _rounded(self, measure: str, number: float, bits: float | None = None) -> float | None:
        """To a step that more than a cell of records must move; the ends of the range are kept."""
        m, n = BY_ID[measure], self.records
        if isinstance(number, int):
            return self._count(number)
        if number in (m.low, m.high):
            return number
        step = rounding(measure, n, self.least, bits)
        if m.decided_by is Decides.CLASS_SHARE:
            step = round_step(min(COARSEST, max(self.least / self.smallest, FINEST)))
        if step > COARSEST:
            return None
        rounded = round(number / step) * step
        if m.low is not None and rounded <= m.low:
            rounded = m.low + step
        if m.high is not None and rounded >= m.high:
            rounded = m.high - step
        return float(f"{rounded:.{DIGITS}g}") if rounded > 1 else round(rounded, 6)

    def _below(self, value: Value) -> Value:
        """Records in classes below each k, in whole cells."""
        exact = value.details["by_k"]
        everybody = min(exact.values()) == self.records
        by_k = {
            k: None
            if self.nothing
            else self._count(n if everybody else min(n, self.records - 1), none_is_few=self.small)
            for k, n in exact.items()
        }
        last = by_k[str(value.details["k"])]
        few = not self.nothing and last is None
        shown = self._withheld(value, below=few) if last is None else replace(value, value=last)
        below = {"below": self.least} if few else {}
        return replace(shown, details={**self._details(value), "by_k": by_k, **below})

    def _details(self, value: Value) -> dict[str, Any]:
        kept: dict[str, Any] = {}
        measure = BY_ID[value.id]
        for key, detail in value.details.items():
            by = measure.details.get(key)
            if by is Decides.SETTING:
                kept[key] = detail
            elif by is Decides.SMALLEST_CLASS:
                kept[key] = detail if isinstance(detail, int) and detail >= self.least else None
            elif by is Decides.COUNT:
                kept[key] = self._count(detail)
            elif by is measure.decided_by:  # another reading of the same number
                kept[key] = None if detail is None else self._rounded(value.id, detail)
        return kept

    # -- the rest -------------------------------------------------------------------------------

    def _table(self) -> dict[str, Any]:
        table = {k: v for k, v in self.found.table.items() if k in OF_TABLE}
        rows = None if self.records < self.least else self.records
        table |= {"name": None, "rows": rows, "shared": self.least}
        if isinstance(table.get("verified"), Mapping):
            table["verified"] = True  # a digest of a small table can be guessed
        for key in ("dropped", "blank_lines"):
            if key in table:
                table[key] = self._few(table[key])
        if "missing_values" in table:
            table["missing_values"] = {
                self._name(c): self._parts(counts) for c, counts in table["missing_values"].items()
            }
        return table

    def _parts(self, counts: Mapping[str, int]) -> dict[str, int | None]:
        """Parts of a column; nearly all of them together would tell the few that are left."""
        if 0 < self.records - sum(counts.values()) < self.least:
            return dict.fromkeys(counts)
        return {what: self._few(n) for what, n in counts.items()}

    def _few(self, count: int) -> int | None:
        return None if self.nothing else count // self.least * self.least if count else 0

    def _verdict(self, verdict: Any) -> Any:
        chapter, _, secret = verdict.where.partition(".")
        stands = self.chapters[secret or None][verdict.measure]
        number = stands.value
        if number is not None and verdict.reading:  # the reading without missing secrets
            number = stands.details.get("without_missing")
        where = f"{chapter}.{self._name(secret)}" if secret else chapter
        reason = SUPPRESSED if number is None and verdict.value is not None else stands.reason
        return replace(verdict, where=where, value=number, reason=reason)

    def _of_few(self, note: str) -> bool:
        """Whether a remark is there because of a few records: that they are there is not told."""
        if not isinstance(note, Note):
            return True  # its counts cannot be told from its words
        if any(words in note.template for words in OF_NOBODY):
            return True
        counts = [p for p in note.parts if isinstance(p, Count)]
        return any(count.number < self.least for count in counts)

    def _note(self, note: str) -> str:
        assert isinstance(note, Note)
        return note.render(
            {Count: self._said, Name: lambda n: repr(self._name(n.name)), Reason: lambda _: "..."}
        )

    def _said(self, count: Count) -> str:
        whole = 0 if self.nothing else count.number // self.least * self.least
        if not whole:
            return f"some {count.thing}s"
        return f"{whole:,} or more {count.thing}s"


def rounding(measure: str, records: int, least: int, bits: float | None = None) -> float:
    """The step of a number that all records decide: more than a cell of them must move it.

    `bits` is the entropy of the secret it is about.
    """
    most = max(1.0, math.log2(max(records, 2)))
    finest, by = least / max(records, 1), decided_by(measure)
    if BY_ID[measure].high != 1 or by is Decides.BITS:
        finest *= most
    if by is Decides.UNCERTAINTY and bits is not None:
        finest *= max(1.0, most / max(bits, FINEST))  # what one record can be unsure of
    if by is Decides.TWICE:
        finest *= 2
    return round_step(max(finest, FINEST))


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


def round_step(least: float) -> float:
    """The smallest of 1, 2, 5, 10, ... times a power of ten that is not below `least`.

    >>> [step_of(x) for x in (0.001, 0.0013, 0.03, 0.6)]
    [0.001, 0.002, 0.05, 1.0]
    """
    exponent = math.floor(math.log10(least) + 1e-9)
    digits = next(d for d in (1, 2, 5, 10) if d * 10.0**exponent >= least * (1 - 1e-9))
    return float(f"{digits}e{exponent}")
