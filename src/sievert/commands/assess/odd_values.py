"""Values that are missing, look missing, or differ from others only in their spelling."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from sievert.formatting import plural
from sievert.formatting.remarks import Caution, Remark
from sievert.measurement.table_measures import TableMeasures
from sievert.request.suppression import marked_secrets

LOOKS_MISSING = {
    *("na", "n/a", "#n/a", "nan", "null", "none", "nil", "missing", "unknown", "not available"),
    *("", "-", "--", "?", ".", "..", "\\n", "-9", "-99", "-999", "-9999"),
}
Tally = Mapping[str | None, int]


def missing_values(
    measures: TableMeasures, errors: Mapping[str, int]
) -> tuple[dict[str, dict[str, int]], list[Remark]]:
    """Count values that are missing, empty or look missing, by column; note odd values."""
    questions = measures.questions
    quasi = measures.roles.quasi
    questions.sizes(quasi)
    by_column = {}
    notes = []
    columns = measures.roles.measured_columns
    nan = questions.count_nan([c for c in columns if questions.tally(c, quasi).get(None)])
    for column, coded in questions.coded_missing(columns, quasi).items():
        tally = questions.tally(column, quasi)
        apart = {"not_a_number": nan.get(column, 0), "error_cells": errors.get(column, 0)}
        counts = _count_missing(tally, coded, {name: n for name, n in apart.items() if n})
        if any(counts.values()):
            by_column[column] = counts
        if questions.engine.kind(column) == "float" and column in quasi:
            notes.append(Remark("floating_point", column=repr(column)))
        look = counts["looks_missing"] + counts["empty_text"]
        secret = column in measures.roles.sensitive
        notes += value_remarks(column, tally, look, secret=secret)
        suppression = questions.suppression
        if secret and suppression.mark is not None and not suppression.left_out:
            notes += marked_secrets({column: tally.get(suppression.mark, 0)})
    return by_column, notes


def _count_missing(tally: Tally, coded: int | None, apart: Mapping[str, int]) -> dict[str, int]:
    """Count records with no value, an empty text, a code for missing, or what looks like one.

    Values that are missing for special reasons are counted `apart`, by reason.
    """
    look_missing = (n for v, n in tally.items() if v and v.strip().lower() in LOOKS_MISSING)
    counts = {
        "missing": tally.get(None, 0) - (coded or 0) - sum(apart.values()),
        "empty_text": tally.get("", 0),
        "looks_missing": sum(look_missing),
    }
    if coded is not None:
        counts["na_codes"] = coded
    return {**counts, **apart}


def value_remarks(
    column: str, tally: Tally, looks_missing: int, *, secret: bool = False
) -> Iterator[Remark]:
    """Warn of values that look missing, and are counted as they are.

    In a secret such values may look like diversity, so the remark is a caution then.
    """
    if looks_missing:
        kind = Caution if secret else Remark
        yield kind("looks_missing", records=plural(looks_missing, "record"), column=repr(column))
