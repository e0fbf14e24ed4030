"""The shareable version of an assessment: no small count, and nothing to work one back from.

Every count is rounded down to a multiple of the least cell and withheld below it; shares and bits
are rounded to a step that more than one cell of records is needed to move. Where the smallest class
is below the cell, numbers that one small class decides are withheld, also in the chapter of each
secret, and so is the difference between none and a few. Verdicts are not changed.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import Field, replace
from typing import Any, ClassVar, Protocol, TypeVar

from sievert.errors import require
from sievert.measures import BY_ID, Decides, decided_by
from sievert.measures.measure import SUPPRESSED, Value
from sievert.notes import Count, Name, Note, Reason
from sievert.policy import Judgement, Verdict
from sievert.policy.judgement import READINGS
from sievert.roles import Roles

LEAST = 10
FEWEST = 3
FINEST = 0.001
COARSEST = 0.2
DIGITS = 3
FEW_CELLS = 5  # a table with fewer records than this many cells shows little but verdicts
ONE_CLASS = {Decides.CLASS_SIZE, Decides.CLASS_UNCERTAINTY, Decides.CLASS_SHARE}
# A measure that anything else decides is withheld.
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
# Remarks without a count, made because no record has a value or because some record lacks one.
ABOUT_FEW_RECORDS = ("does not occur", "no k for missing values")
TABLE_FIELDS = {
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


class _Assessment(Protocol):
    """What is read of an assessment; `replace` makes its shareable version."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    @property
    def table(self) -> Mapping[str, Any]: ...
    @property
    def roles(self) -> Roles: ...
    @property
    def rows(self) -> int: ...
    @property
    def reidentification(self) -> Mapping[str, Value]: ...
    @property
    def inference(self) -> Mapping[str, Mapping[str, Value]]: ...
    @property
    def policy(self) -> Judgement | None: ...
    @property
    def warnings(self) -> tuple[str, ...]: ...
    @property
    def unassessed(self) -> tuple[str, ...]: ...


A = TypeVar("A", bound=_Assessment)


def make_shareable(assessment: A, *, min_cell: int = LEAST, mask_names: bool = False) -> A:
    """The assessment as it may be shown to a reader who must not learn about single persons."""
    require(
        isinstance(min_cell, int) and min_cell >= FEWEST, f"--min-cell must be at least {FEWEST}"
    )
    require("shared" not in assessment.table, "the assessment has been made shareable before")
    rules = _SharingRules(assessment, min_cell, mask_names)
    chapters: dict[str | None, dict[str, Value]] = {
        None: rules.chapter(assessment.reidentification, record=True),
        **{s: rules.chapter(v, record=False) for s, v in assessment.inference.items()},
    }
    policy = assessment.policy
    return replace(
        assessment,
        table=rules.table(assessment.table),
        roles=rules.roles(assessment.roles),
        reidentification=chapters[None],
        inference={rules.name(s): chapters[s] for s in assessment.inference},
        policy=None if policy is None else rules.judgement(policy, chapters),
        warnings=tuple(
            rules.note(w)
            for w in assessment.warnings
            if isinstance(w, Note) and not rules.about_few_records(w)
        ),
        unassessed=tuple(map(rules.name, assessment.unassessed)),
        approximate={},  # it describes single classes
    )


class _SharingRules:
    """What may be shown of one assessment, given the least cell and its smallest class."""

    def __init__(self, assessment: _Assessment, least: int, mask: bool) -> None:
        self.least, self.records, self.mask = least, assessment.rows, mask
        self.masks = _role_names(assessment) if mask else {}
        values = assessment.reidentification
        k = values.get("k_anonymity")
        self.small_classes = k is None or k.value is None or k.value < least
        self.smallest_class = 1 if k is None else int(k.value or 1)
        self.tiny_table = self.records < FEW_CELLS * least
        # More classes than half the records: some are unique, and how many may follow.
        unique, classes = values.get("unique_records"), values.get("classes")
        alone = least if unique is None else int(unique.details["records"])
        number = 0 if classes is None else int(classes.value or 0)
        self.classes_show_uniques = (
            self.small_classes and alone < least and number > self.records / 2 - least
        )

    def name(self, column: str) -> str:
        """The column's name, or its mask."""
        return self.masks.get(column, "..." if self.mask else column)

    def roles(self, roles: Roles) -> Roles:
        """The roles by names that may be shown; the policy itself says why a column is ignored."""

        def one(column: str | None) -> str | None:
            return None if column is None else self.name(column)

        return Roles(
            tuple(map(self.name, roles.quasi)),
            tuple(map(self.name, roles.sensitive)),
            tuple(map(self.name, roles.identifier)),
            one(roles.person),
            one(roles.household),
            one(roles.weight),
            {self.name(c): "..." if self.mask else why for c, why in roles.ignored.items()},
        )

    # -- numbers --------------------------------------------------------------------------------

    def _count(self, count: int | None, *, hide_zero: bool = False) -> int | None:
        """Rounded down to whole cells; None below one."""
        if count is None or (count == 0 and not hide_zero) or count == self.records:
            return count
        return count // self.least * self.least or None

    def chapter(self, values: Mapping[str, Value], *, record: bool) -> dict[str, Value]:
        """The values of re-identification (`record`) or of one secret."""
        entropy = values.get("entropy")
        bits = None if record or entropy is None else entropy.value
        return {m: self._value(v, record=record, bits=bits) for m, v in values.items()}

    def _suppress(self, value: Value, below: bool = False) -> Value:
        details = {"below": self.least} if below else {}
        return replace(value, value=None, reason=SUPPRESSED, details=details)

    def _value(self, value: Value, *, record: bool, bits: float | None) -> Value:
        number, by = value.value, decided_by(value.id)
        if by not in SHAREABLE:
            return self._suppress(value)
        if by is Decides.SMALL_CLASSES:
            return self._records_below(value)
        if by is Decides.SMALLEST_CLASS:
            if self.small_classes:
                return self._suppress(value, below=True)
        elif self.tiny_table or self._shows_one_class(by, record):
            return self._suppress(value)
        if number is None:
            hidden = record and self.small_classes
            return self._suppress(value) if hidden else replace(value, details={})
        if isinstance(number, int):
            exact = by is Decides.SMALLEST_CLASS or (
                by is Decides.CLASSES and not self.small_classes
            )
            count = number if exact and number >= self.least else self._count(number)
            if count is None:
                return self._suppress(value, below=True)
            return replace(value, value=count, details=self._details(value))
        if by is Decides.UNIQUES:
            alone = self._count(int(value.details["records"]), hide_zero=self.small_classes)
            if alone is None:
                return self._suppress(value, below=True)
            number = alone / self.records  # share and count must not tell more together
        if (rounded := self._round(value.id, number, bits)) is None:
            return self._suppress(value)
        return replace(value, value=rounded, details=self._details(value))

    def _shows_one_class(self, by: Decides, record: bool) -> bool:
        """Whether a few records could be worked back from a number.

        From N, the number of classes and a number that one class decides, the size of a small class
        may follow; from how uncertain a secret is in it, its counts. The number of classes alone
        may show how few people are unique.
        """
        if by is Decides.CLASSES:
            return record and self.classes_show_uniques
        if self.small_classes or by is not Decides.CLASS_UNCERTAINTY:
            return self.small_classes and by in ONE_CLASS
        step = self.least / self.smallest_class * math.log2(max(self.smallest_class, 2))
        return not record and step > COARSEST

    def _round(self, measure: str, number: float, bits: float | None = None) -> float | None:
        """To a step that more than a cell of records must move; the ends of the range are kept."""
        m = BY_ID[measure]
        if isinstance(number, int):
            return self._count(number)
        if number in (m.low, m.high):
            return number
        step = rounding(measure, self.records, self.least, bits)
        if m.decided_by is Decides.CLASS_SHARE:
            step = round_step(min(COARSEST, max(self.least / self.smallest_class, FINEST)))
        if step > COARSEST:
            return None
        rounded = round(number / step) * step
        if m.low is not None and rounded <= m.low:
            rounded = m.low + step
        if m.high is not None and rounded >= m.high:
            rounded = m.high - step
        return float(f"{rounded:.{DIGITS}g}") if rounded > 1 else round(rounded, 6)

    def _records_below(self, value: Value) -> Value:
        """Records in classes below each k, in whole cells."""
        exact = value.details["by_k"]
        most = self.records - (min(exact.values()) != self.records)
        by_k = {
            k: None if self.tiny_table else self._count(min(n, most), hide_zero=self.small_classes)
            for k, n in exact.items()
        }
        last = by_k[str(value.details["k"])]
        below = {"below": self.least} if not self.tiny_table and last is None else {}
        reason = SUPPRESSED if last is None else value.reason
        details = {**self._details(value), "by_k": by_k, **below}
        return replace(value, value=last, reason=reason, details=details)

    def _details(self, value: Value) -> dict[str, Any]:
        shareable: dict[str, Any] = {}
        measure = BY_ID[value.id]
        for key, detail in value.details.items():
            by = measure.details.get(key)
            if by is Decides.SETTING:
                shareable[key] = detail
            elif by is Decides.SMALLEST_CLASS:
                large = isinstance(detail, int) and detail >= self.least
                shareable[key] = detail if large else None
            elif by is Decides.COUNT:
                shareable[key] = self._count(detail)
            elif by is measure.decided_by:  # another reading of the same number
                shareable[key] = None if detail is None else self._round(value.id, detail)
        return shareable

    # -- the rest -------------------------------------------------------------------------------

    def table(self, source: Mapping[str, Any]) -> dict[str, Any]:
        """What may be shown of the table itself."""
        table = {k: v for k, v in source.items() if k in TABLE_FIELDS}
        rows = None if self.records < self.least else self.records
        table |= {"name": None, "rows": rows, "shared": self.least}
        if isinstance(table.get("verified"), Mapping):
            table["verified"] = True  # a digest of a small table can be guessed
        for key in ("dropped", "blank_lines"):
            if key in table:
                table[key] = self._whole_cells(table[key])
        if "missing_values" in table:
            table["missing_values"] = {
                self.name(c): self._parts(counts) for c, counts in table["missing_values"].items()
            }
        return table

    def _parts(self, counts: Mapping[str, int]) -> dict[str, int | None]:
        """Parts of a column; nearly all of them together would tell the few that are left."""
        if 0 < self.records - sum(counts.values()) < self.least:
            return dict.fromkeys(counts)
        return {what: self._whole_cells(n) for what, n in counts.items()}

    def _whole_cells(self, count: int) -> int | None:
        return None if self.tiny_table else count // self.least * self.least

    def judgement(self, policy: Judgement, chapters: Mapping[str | None, Any]) -> Judgement:
        """The verdicts beside numbers that may be shown, and the reasons."""
        return replace(
            policy,
            verdicts=tuple(self.verdict(v, chapters) for v in policy.verdicts),
            reasons=tuple(
                replace(r, names=tuple(n if n in BY_ID else self.name(n) for n in r.names))
                for r in policy.reasons
            ),
        )

    def verdict(self, verdict: Verdict, chapters: Mapping[str | None, Any]) -> Verdict:
        """The verdict as it was, beside the number that may be shown."""
        chapter, _, secret = verdict.where.partition(".")
        where = f"{chapter}.{self.name(secret)}" if secret else chapter
        value: Value | None = chapters[secret or None].get(verdict.measure)
        if value is None:  # it lacks what it needs, such as an order
            return replace(verdict, where=where)
        number = value.value
        if number is not None and verdict.reading:  # the worse reading
            detail = next(d for d, words in READINGS.items() if words == verdict.reading)
            number = value.details.get(detail)
        reason = SUPPRESSED if number is None and verdict.value is not None else value.reason
        # Why a limit is impossible would tell of the number of records, or of a value.
        return replace(verdict, where=where, value=number, reason=reason, impossible=None)

    def about_few_records(self, note: Note) -> bool:
        """Whether a remark exists because of a few records: that they exist is withheld."""
        return any(words in note.template for words in ABOUT_FEW_RECORDS) or any(
            isinstance(part, Count) and part.number < self.least for part in note.parts
        )

    def note(self, note: Note) -> str:
        """A remark with its counts in whole cells, and without reasons."""
        return note.render(
            {
                Count: self._count_in_words,
                Name: lambda n: repr(self.name(n.name)),
                Reason: lambda _: "...",
            }
        )

    def _count_in_words(self, count: Count) -> str:
        whole = self._whole_cells(count.number)
        return f"{whole:,} or more {count.thing}s" if whole else f"some {count.thing}s"


def rounding(measure: str, records: int, least: int, bits: float | None = None) -> float:
    """The step of a number that all records decide: more than a cell of them must move it.

    `bits` is the entropy of the secret that the number is about.
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


def _role_names(assessment: _Assessment) -> dict[str, str]:
    """Names that reveal the role of a column and nothing else."""
    roles, names = assessment.roles, dict[str, str]()
    for role, columns in (
        ("quasi-identifier", roles.quasi),
        ("secret", roles.sensitive),
        ("identifier", roles.identifier),
        *((role, (column,)) for role, column in roles.single_columns.items()),
        ("ignored column", tuple(roles.ignored)),
        ("column", assessment.unassessed),
    ):
        for number, column in enumerate(columns, 1):
            names.setdefault(column, f"{role} {number}")
    return names


def round_step(least: float) -> float:
    """The smallest of 1, 2, 5, 10, ... times a power of ten that is not below `least`.

    >>> [round_step(x) for x in (0.001, 0.0013, 0.03, 0.6)]
    [0.001, 0.002, 0.05, 1.0]
    """
    exponent = math.floor(math.log10(least) + 1e-9)
    digits = next(d for d in (1, 2, 5, 10) if d * 10.0**exponent >= least * (1 - 1e-9))
    return float(f"{digits}e{exponent}")
