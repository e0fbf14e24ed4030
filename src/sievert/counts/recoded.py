"""A table with quasi-identifiers coarsened or left out: its counts follow from those of the table.

Every answer has the integers that the recoded table itself would give.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal, InvalidOperation

from sievert.counts.answers import RecordCounts, Sizes
from sievert.counts.coded import CodedQuestions
from sievert.counts.cube import Cube
from sievert.counts.questions import Questions
from sievert.errors import InvariantError, require

TIME = re.compile(r"(\d{4}-\d\d-\d\d)?([ T]?\d\d:\d\d:\d\d(\.\d+)?)?")


class RecodedQuestions(CodedQuestions):
    """Questions about cells with recoded values: those of each secret, under its name.

    `classes` are the cells of the quasi-identifiers; `secrets` have one more column, the last.
    """

    def __init__(self, table: Questions, classes: Cube, secrets: Mapping[str, Cube]) -> None:
        super().__init__(table.engine, table.records, {})
        self.suppression = table.suppression
        self._classes, self._secrets = classes, secrets
        self._coded = {s: (c.codes[-1], c.values[-1]) for s, c in secrets.items()}

    def code(self, columns: Iterable[str]) -> bool:
        return True

    def _records(self, columns: Sequence[str]) -> Cube:
        """The cells of some columns, which may not be merged."""
        *quasi, last = columns
        if last in self._secrets and (last in quasi or last not in self._classes.columns):
            cube = self._secrets[last]
            known = cube.select_columns(quasi)
            return Cube(
                tuple(columns),
                (*known.codes, cube.codes[-1]),
                cube.counts,
                (*known.values, cube.values[-1]),
            )
        return self._classes.select_columns(columns)

    def record_counts(self, quasi: Sequence[str], *, wildcard: bool) -> RecordCounts:
        """The counts behind every measure of re-identification; no reading of missing keys."""
        return RecordCounts(self.records, self.sizes(quasi))

    def suppressed_counts(self, columns: Sequence[str]) -> RecordCounts:
        """Count the suppressed records as one class: they have the mark in other columns, too."""
        size = self.suppressed.size()
        return RecordCounts(size.members, Sizes.from_arrays([size.members], [1]))

    def _type_order(self, secret: str, present: list[str]) -> list[str]:
        ordered = type_order(present)
        require(ordered is not None, "values without an order", error=InvariantError)
        return ordered or []


def type_order(texts: Sequence[str]) -> list[str] | None:
    """Numbers, dates or times in the order that engines give them; None of anything else.

    >>> type_order(["10", "9", "-1e3"]), type_order(["2020-01-02", "2019-12-31"])
    (['-1e3', '9', '10'], ['2019-12-31', '2020-01-02'])
    """
    if all(TIME.fullmatch(text) for text in texts):
        return sorted(texts)
    try:
        numbers = {text: Decimal(text) for text in texts}
    except InvalidOperation:
        return None
    known = sorted((text for text in texts if not numbers[text].is_nan()), key=numbers.__getitem__)
    return [*known, *(text for text in texts if numbers[text].is_nan())]
