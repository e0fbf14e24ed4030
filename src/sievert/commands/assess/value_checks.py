"""Values that may not be what they seem: text that looks like missing, values that look alike.

Nothing is changed by this: such values are counted as they are, and the reader is told.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping

from sievert.notes import Count, Name, Note

LOOKS_MISSING = {
    "na",
    "n/a",
    "#n/a",
    "nan",
    "null",
    "none",
    "nil",
    "-",
    "--",
    "?",
    ".",
    "..",
    "",
    "missing",
    "unknown",
    "not available",
    "\\n",
    "-9",
    "-99",
    "-999",
    "-9999",
}

Tally = Mapping[str | None, int]


def missing_values(tally: Tally, coded: int | None) -> dict[str, int]:
    """How many records have no value, an empty text, a code for missing, or what looks like one."""
    looks = sum(
        n
        for v, n in tally.items()
        if isinstance(v, str) and v and v.strip().lower() in LOOKS_MISSING
    )
    codes = {} if coded is None else {"na_codes": coded}
    missing = tally.get(None, 0) - (coded or 0)
    return {"missing": missing, "empty_text": tally.get("", 0), "looks_missing": looks, **codes}


def remarks(column: str, tally: Tally, looks_missing: int) -> Iterable[Note]:
    """What the reader should know about the values of a column."""
    texts = [v for v in tally if v is not None]
    if looks_missing:
        yield Note(
            "{} of {} look like missing (such as NA, ? or -) and are kept as values: see --na",
            Count(looks_missing, "value"),
            Name(column),
        )
    for what, same in (
        ("surrounding blanks", str.strip),
        ("case", str.casefold),
        ("Unicode form", lambda v: unicodedata.normalize("NFC", v)),
    ):
        alike = len(texts) - len({same(v) for v in texts})
        if alike:
            yield Note(
                f"{{}} of {{}} differ from others by {what} only, and are counted as different",
                Count(alike, "value"),
                Name(column),
            )
