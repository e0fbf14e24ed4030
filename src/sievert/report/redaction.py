"""How the numbers and names of a result are written: exact on an internal page, or shareable.

On a shareable page, a count is rounded down to whole cells and withheld below one cell, where it
looks like none; a share or a number of bits is rounded to a step that only more than a cell of
records can move. Everything that a page shows, in its words, tables, pictures and their
descriptions, passes through a redactor.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from sievert.charts.drawing import short_name
from sievert.formatting import percent, printable, significant
from sievert.measures import Decides
from sievert.report.declarations import decides
from sievert.report.page import Block, Chapter
from sievert.report.texts import Texts
from sievert.sharing import COARSEST, FEW_CELLS, FINEST, LEAST, round_step

LONGEST = 60  # letters of a name on a page
NEAR = 1e-9  # to an end of a scale


@dataclass(frozen=True)
class NumberText:
    """A number as a page shows it: in words, and as a picture may draw it (None: not at all)."""

    text: str
    number: float | None

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Redactor:
    """Writes the numbers and names of one table, which has `rows` records."""

    texts: Texts
    rows: int
    internal: bool = False
    least: int = LEAST
    masks: Mapping[str, str] | None = None

    # -- who sees what --------------------------------------------------------------------------

    @property
    def silent(self) -> bool:
        """Whether the table is too small for any of its numbers to be shared."""
        return not self.internal and self.rows < FEW_CELLS * self.least

    def name(self, column: str) -> str:
        """The name of a column, or its mask."""
        if self.masks is not None:
            column = self.masks.get(column, self.texts("words.column"))
        return short_name(column, LONGEST)

    def file(self, name: str) -> str:
        """The name of a file; withheld on a shareable page."""
        text = printable(name[: LONGEST + 1])
        return text[:LONGEST] if self.internal else self.texts("words.withheld")

    def names(self, columns: Iterable[str]) -> str:
        """Columns in a sentence."""
        return self.texts.join([*map(self.name, columns)])

    # -- numbers --------------------------------------------------------------------------------

    def withheld_text(self) -> NumberText:
        """The words in place of a number that is withheld."""
        return NumberText(self.texts("words.withheld"), None)

    def undefined_text(self) -> NumberText:
        """The words in place of a number that does not exist."""
        return NumberText(self.texts("words.undefined"), None)

    def _exact(
        self, value: float | None, write: Callable[[float], str] = significant
    ) -> NumberText:
        return self.undefined_text() if value is None else NumberText(write(value), value)

    def count(self, number: float | None) -> NumberText:
        """A number of records, people, classes or values."""
        if number is None or self.internal:
            return self._exact(number, "{:,.0f}".format)
        if self.silent:
            return self.withheld_text()
        records = int(number)
        if records <= self.rows:  # all and nearly all look alike
            records = min(records, self.rows - self.least + 1)
        if not (cells := records // self.least * self.least):
            return NumberText(self.texts("words.few", least=self.least), None)
        return NumberText(self.texts("words.about", number=f"{cells:,}"), cells)

    def everybody(self) -> NumberText:
        """The number of records of the table itself."""
        return self.withheld_text() if self.silent else NumberText(f"{self.rows:,}", self.rows)

    def share(self, part: float | None, of: int | None = None) -> NumberText:
        """A share of `of` records (all of them unless given), in per cent."""
        return self._share(part, of, people=True)

    def rate(
        self, value: float | None, of: int | None = None, bits: float | None = None
    ) -> NumberText:
        """A share of an uncertainty of `bits` (one, unless known), in per cent.

        One record can move it by as much as that record can be uncertain, log2 of their number.
        Exactly nothing and nearly nothing differ by a few people: they look alike.
        """
        if value is not None and not self.internal:
            value = min(max(value, NEAR), 1.0 - NEAR)
        most = math.log2(max(of or self.rows, 2))
        known = 1.0 if bits is None else max(bits, NEAR)
        return self._share(value, of, people=False, finer=max(1.0, most / known))

    def identity(self, value: float | None, of: int | None = None) -> NumberText:
        """A share of the uncertainty about whose a record is."""
        return self.rate(value, of, math.log2(max(of or self.rows, 2)))

    def bits(self, value: float | None, of: int | None = None) -> NumberText:
        """Bits per record; the unit stands beside it."""
        return self.mean(value, span=math.log2(max(of or self.rows, 2)), of=of)

    def mean(self, value: float | None, *, span: float = 1.0, of: int | None = None) -> NumberText:
        """A mean over `of` records of what lies between 0 and `span`."""
        if value is None or self.internal:
            return self._exact(value)
        if self.silent or (step := self._step(of, span)) is None:
            return self.withheld_text()
        rounded = _round_to_step(value, step)
        return NumberText(significant(rounded), rounded)

    def setting(self, name: str, value: float | None) -> NumberText:
        """A number that no record decides, by the name under which it is declared."""
        shown = self.internal or decides(name) is Decides.SETTING
        return self._exact(value) if shown else self.withheld_text()

    def only_internal(self, value: float | None) -> NumberText:
        """A number that one class or record decides."""
        return self._exact(value) if self.internal else self.withheld_text()

    def _records(self, of: int | None) -> int:
        """How many records a number is of, in whole cells: printed bounds would reveal it."""
        if of is None or 0 <= self.rows - of < self.least:
            return max(self.rows, 1)
        return max(of // self.least * self.least, min(of, self.least), 1)

    def _step(self, of: int | None, span: float = 1.0) -> float | None:
        step = round_step(max(self.least / self._records(of) * span, FINEST))
        return None if step > COARSEST * max(span, 1.0) else step

    def _share(
        self, part: float | None, of: int | None, *, people: bool, finer: float = 1.0
    ) -> NumberText:
        if part is None or self.internal:
            return self._exact(part, percent)
        if self.silent or (step := self._step(of, finer)) is None or step >= 0.5:
            return self.withheld_text()
        number = self._records(of)
        cell = self.least / number
        if people and part * number < self.least:  # looks like nobody
            return NumberText(self.texts("words.under", share=percent(cell)), None)
        if people and (1 - part) * number < self.least:
            return NumberText(self.texts("words.over", share=percent(1 - cell)), None)
        rounded = _round_to_step(part, step)
        if rounded <= 0:
            return NumberText(self.texts("words.under", share=percent(step)), None)
        if rounded >= 1:
            return NumberText(self.texts("words.over", share=percent(1 - step)), None)
        return NumberText(percent(rounded), rounded)


def _round_to_step(value: float, step: float) -> float:
    """To the nearest step; -0 is 0.

    >>> _round_to_step(0.1234, 0.02), _round_to_step(-0.001, 0.01)
    (0.12, 0.0)
    """
    return round(round(value / step) * step, 9) + 0.0


def role_columns(roles: Mapping[str, Any]) -> dict[str, list[str]]:
    """The columns of each role in the JSON of a result, and those that have none."""
    single = ("person", "household", "weight")
    given = {
        role: roles.get(role) or ()
        for role in ("quasi", "sensitive", "identifier", *single, "ignored", "unassessed")
    }
    return {
        role: [columns] if isinstance(columns, str) else list(columns)
        for role, columns in given.items()
    }


def masks(roles: Mapping[str, Any], texts: Texts) -> dict[str, str]:
    """Names that reveal the role of a column and nothing else."""
    names: dict[str, str] = {}
    for role, columns in role_columns(roles).items():
        for number, column in enumerate(columns, 1):
            names.setdefault(column, texts(f"words.mask_{role}", number=number))
    return names


Data = Mapping[str, Any]
# The section of the texts that a command's chapter is written with.
CHAPTERS = {
    "assess": "assessed",
    "explain": "explained",
    "attack": "attacked",
    "compare": "compared",
    "compromise": "compromised",
    "limit": "limits",
}


@dataclass(frozen=True)
class ReportPart:
    """One result: its command, its JSON, the redactor of its numbers, its place on the page.

    `data` is exact, except for an assessment on a shareable page: that has been made shareable
    already. `exact` is that assessment before; `result` the result itself.
    """

    kind: str  # a key of CHAPTERS
    data: Data
    redactor: Redactor
    number: int = 1
    result: Any = None
    exact: Data | None = None

    @property
    def texts(self) -> Texts:
        """All sentences."""
        return self.redactor.texts

    @property
    def internal(self) -> bool:
        """Whether the page is internal: everything may be shown."""
        return self.redactor.internal

    @property
    def rows(self) -> int:
        """The number of records of the table; 0 where it is withheld."""
        return int(self.data["table"]["rows"] or 0)

    def say(self, key: str, /, **values: object) -> str:
        """A text of this part's own section."""
        return self.texts(f"{CHAPTERS[self.kind]}.{key}", **values)

    def anchor(self, word: str) -> str:
        """A place on the page; `word` is our own."""
        return f"part{self.number}-{word}"

    def chapter(self, key: str, blocks: Iterable[Block | Chapter]) -> Chapter:
        """A chapter whose title and anchor have the same key."""
        return Chapter(self.say(f"{key}_title"), self.anchor(key), tuple(blocks))


def command_name(data: Data) -> str | None:
    """Which command has written this JSON.

    >>> command_name({"points": [], "channel": {}}), command_name({"seconds": {}})
    ('limit', None)
    """
    signs = {
        "shapley": "explain",
        "ranking": "explain",
        "releases": "compare",
        "curves": "compromise",
        "points": "limit",
        "reidentification": "assess",
        "attacks": "attack",
    }
    return next((kind for key, kind in signs.items() if key in data), None)
