"""Values of a column that coincide only canonically, and the table with such values merged.

Python compares different values if there are not too many. In larger columns the engine folds ASCII
texts, and only the other texts are fetched. A column with too many of these is not compared.
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sievert.counts.questions import MOST_TALLIED, Questions
from sievert.counts.recoded_records import ColumnMap, RecodedRecords
from sievert.formatting.canonical import canonical_text, group_spellings
from sievert.hierarchies import ROOT

MOST_FETCHED = 10**6  # different values of a column
MOST_COINCIDING = 10**6  # values of a larger column
MOST_ODD = 10**5  # of a larger column: values that the engine cannot fold
MOST_MERGED = 10**5  # values that are merged in the engine
SAMPLE = 1_000  # records that show which kinds of text a column has
FEW_RECORDS = 10_000  # records up to which values are fetched at once
TOGETHER = 10_000  # texts in one query
CAPITALS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
SMALL = "abcdefghijklmnopqrstuvwxyz"

# Kinds of text that an engine can fold: as they are, by their letters, by the zeros before them.
# Texts with a letter begin with it, or have neither blank nor colon: they are no date with a time.
NUMBER = r"0|[1-9][0-9]*|[0-9]{4}-[0-9]{2}-[0-9]{2}"
LOWER = r"[a-z][!-@\[-~]*( [!-@\[-~]+)*|[!-9;-@\[-~]*[a-z][!-9;-@\[-~]*"
UPPER = r"[A-Z][!-`{-~]*( [!-`{-~]+)*|[!-9;-`{-~]*[A-Z][!-9;-`{-~]*"
MIXED = r"[A-Za-z][!-~]*( [!-~]+)*|[!-9;-~]*[A-Za-z][!-9;-~]*"
PADDED = "0[0-9]+"
MIXED_CASE = "mixed"  # also matches texts of one case: looked for last
KINDS = {"number": NUMBER, "lower": LOWER, "upper": UPPER, "padded": PADDED, MIXED_CASE: MIXED}
ODD = "odd"
# Bytes as engines write them: each on its own, or all together.
ESCAPE = re.compile(r"\\x([0-9A-Fa-f]{2})")
ESCAPED = re.compile(r"\\x([0-9A-Fa-f]{2})+")
# Sets of kinds in which no two values coincide.
APART = ({"number", "lower"}, {"number", "upper"})


@dataclass(frozen=True)
class Spellings:
    """The values of a column that coincide only canonically."""

    column: str
    groups: tuple[tuple[str, ...], ...] = ()
    values: int = 0  # in all groups
    compared: bool = True  # whether all values were compared

    def choose_values(self, preferred: Collection[str] = ()) -> dict[str, str] | None:
        """Choose the value that each other value of its group becomes; None for too many values.

        It is one of the `preferred` values, or the first of its group.
        """
        if self.values > MOST_MERGED:
            return None
        merged: dict[str, str] = {}
        for group in self.groups:
            chosen = next((text for text in group if text in preferred), group[0])
            merged |= {text: chosen for text in group if text != chosen}
        return merged


def tallied_spellings(rows: Questions, column: str, quasi: Sequence[str]) -> Spellings | None:
    """Compare the values of a measured column that were counted with its classes.

    The values of suppressed records are compared, too. None if there are too many for this process.
    """
    if rows.engine.kind(column) == "other":
        return None
    if rows.engine.kind(column) != "text":
        return Spellings(column)
    tally = rows.tally(column, quasi)
    if sum(tally.values()) != rows.records:
        return None
    suppressed = rows.only_suppressed()
    others = [] if suppressed is None else _fetch(suppressed, column, MOST_TALLIED)
    return None if others is None else _of_texts(column, {*tally, *others})


def find_spellings(rows: Questions, column: str) -> Spellings:
    """Find the values of a column that coincide only canonically, among all records.

    Suppressed records are included.
    """
    rows = rows.with_suppressed()
    if rows.engine.kind(column) == "other":
        return _of_bytes(rows, column)
    if rows.engine.kind(column) != "text":
        return Spellings(column)
    if rows.records > FEW_RECORDS and _kinds_apart(rows, column):
        return Spellings(column)
    texts = _fetch(rows, column, MOST_FETCHED)
    return _in_the_engine(rows, column) if texts is None else _of_texts(column, texts)


def _of_bytes(rows: Questions, column: str) -> Spellings:
    """Compare the texts of a column of another type, such as bytes that are texts.

    They are not merged. If there are too many, a sample shows whether there can be spellings.
    """
    texts = _fetch(rows, column, MOST_FETCHED)
    if texts is not None:
        groups = group_spellings(_decode(text, digits=rows.engine.hex_bytes) for text in texts)
        return Spellings(column, values=sum(map(len, groups)))
    c = rows.sql_name(column)
    some = rows.engine.query_records(
        f"SELECT {rows.engine.record_text(c)} AS v FROM {rows.source} WHERE {c} IS NOT NULL "
        f"LIMIT {SAMPLE}"
    )
    decoded = [_decode(text, digits=rows.engine.hex_bytes) for (text,) in some]
    return Spellings(column, compared=all(canonical_text(text) == text for text in decoded))


def _decode(text: str, *, digits: bool = False) -> str:
    r"""Read bytes that an engine writes as \xE2\x80, as \xe280, or as their `digits` alone.

    >>> _decode(r"flu\xE2\x80\x8B") == "flu\u200b", _decode(r"\x666c75"), _decode(r"\xFF")
    (True, 'flu', '\\xFF')
    >>> _decode("666c75", digits=True)
    'flu'
    """
    try:
        if digits:
            return bytes.fromhex(text).decode()
        if ESCAPED.fullmatch(text):
            return bytes.fromhex(text[2:]).decode()
        return ESCAPE.sub(lambda byte: chr(int(byte[1], 16)), text).encode("latin-1").decode()
    except ValueError:  # no text
        return text


def merge_spellings(
    rows: Questions, columns: Sequence[str], merged: Mapping[str, Mapping[str, str]]
) -> Questions:
    """Ask about some columns of the same records, with the values `merged` in each column.

    Suppressed records that are left out are merged as well.
    """
    maps = {
        column: ColumnMap([*own], [*own.values()], [0] * len(own), partial=True)
        for column, own in merged.items()
        if own
    }
    names = tuple(dict.fromkeys(columns))

    def merge(source: str) -> tuple[str, RecodedRecords]:
        none = np.zeros(0, dtype=np.int64)
        view = f"alike{next(rows._number)}"
        return view, RecodedRecords(
            names=names, maps=maps, suppressed=none, mark=ROOT, source=source
        )

    other = rows.recode(*merge(rows.source))
    other.suppression = rows.suppression
    if rows.suppressed is not None:
        marked = merge(rows.suppressed.marked)
        whole = merge(rows.suppressed.whole)
        for view, records in (marked, whole):
            rows.engine.show_recoded(view, records)
        other.suppressed = replace(rows.suppressed, tables=other, marked=marked[0], whole=whole[0])
    return other


def _of_texts(column: str, texts: Iterable[str | None]) -> Spellings:
    return _of_groups(column, group_spellings(text for text in texts if text is not None))


def _of_groups(column: str, groups: Iterable[Sequence[str]]) -> Spellings:
    kept = tuple(tuple(group) for group in groups)
    return Spellings(column, kept, sum(map(len, kept)))


def _fetch(rows: Questions, column: str, most: int, where: str = "1 = 1") -> list[str] | None:
    """The different texts of a column; None where there are more than `most`."""
    c = rows.sql_name(column)
    answer = rows.engine.query_records(
        f"SELECT {rows.engine.record_text(c)} AS v FROM {rows.source} WHERE {c} IS NOT NULL "
        f"AND ({where}) GROUP BY {c} LIMIT {most + 1}"
    )
    texts = [text for (text,) in answer]
    return texts if len(texts) <= most else None


def _kind(rows: Questions, column: str, first: Collection[str] = ()) -> str:
    """The kind of a text, as SQL; it is compared with the kinds `first` before the others."""
    c = rows.sql_name(column)
    order = sorted(KINDS, key=lambda kind: kind not in first)
    whens = " ".join(f"WHEN {rows.engine.matches(c, KINDS[kind])} THEN '{kind}'" for kind in order)
    return f"CASE {whens} ELSE '{ODD}' END"


def _kinds_apart(rows: Questions, column: str) -> bool:
    """Whether the kinds of text in a column show that no two values coincide."""
    apart = False
    kinds_seen: set[str] = set()
    for part in (f" LIMIT {SAMPLE}", ""):  # the kinds of some records are looked for first
        kind = _kind(rows, column, kinds_seen - {MIXED_CASE})
        answer = rows.engine.query_records(
            f"SELECT kind FROM (SELECT {kind} AS kind FROM {rows.source} "
            f"WHERE {rows.sql_name(column)} IS NOT NULL{part}) AS d GROUP BY kind"
        )
        kinds_seen = {kind for (kind,) in answer}
        apart = any(kinds_seen <= kinds for kinds in APART)
        if not apart:  # the other records cannot change that
            return False
    return apart


def _in_the_engine(rows: Questions, column: str) -> Spellings:
    """Compare the values of a large column: ASCII texts in the engine, the others here."""
    kind = _kind(rows, column)
    odd = _fetch(rows, column, MOST_ODD, f"{kind} = '{ODD}'")
    if odd is None:
        return Spellings(column, compared=False)
    c = rows.sql_name(column)
    engine = rows.engine
    text = engine.record_text(c)
    zeros = f"COALESCE(NULLIF(REGEXP_REPLACE({text}, '^0+', ''), ''), '0')"
    small = f"TRANSLATE({text}, '{CAPITALS}', '{SMALL}')"
    folded = f"CASE WHEN {kind} = 'padded' THEN {zeros} ELSE {small} END"
    values = (
        f"SELECT {text} AS v, {folded} AS f FROM {rows.source} "
        f"WHERE {c} IS NOT NULL AND {kind} <> '{ODD}' GROUP BY {c}"
    )
    several = f"SELECT f FROM ({values}) AS d GROUP BY f HAVING COUNT(*) > 1"
    answer = engine.query_records(
        f"SELECT v FROM ({values}) AS a WHERE f IN ({several}) LIMIT {MOST_COINCIDING + 1}"
    )
    if len(answer) > MOST_COINCIDING:
        return Spellings(column, values=len(answer))
    concerned = {v for (v,) in answer}
    wanted = sorted({canonical_text(v) for v in odd if canonical_text(v).isascii()})
    for at in range(0, len(wanted), TOGETHER):
        few = ", ".join(map(engine.text_literal, wanted[at : at + TOGETHER]))
        answer = engine.query_records(f"SELECT v FROM ({values}) AS a WHERE f IN ({few})")
        concerned |= {v for (v,) in answer}
    return _of_groups(column, group_spellings([*sorted(concerned), *odd]))
