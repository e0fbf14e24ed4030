"""Lines of text that the terminal outputs of several commands share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from sievert.commands._result import Result
from sievert.formatting import plural, printable, significant, wrap
from sievert.measures import BY_ID
from sievert.measures.measure import NOTHING_TO_LEARN, UNBOUNDED
from sievert.sources.csv_header import SHOWN

if TYPE_CHECKING:
    from sievert.measures.measure import Value
    from sievert.policy import Judgement, Verdict

LONGEST = 28  # letters of a release's name in a table
SHORTEST = 14
REASONS = {
    NOTHING_TO_LEARN: "there is only one value, so nothing to learn",
}


def number_text(value: Value) -> str:
    """A number with the digits a reader can use."""
    if value.value is None:
        return "unbounded" if value.reason == UNBOUNDED else "undefined"
    return f"{value.value:,}" if isinstance(value.value, int) else significant(value.value)


def unit_text(measure_id: str, unit: str | None = None) -> str:
    """The unit in words; a number without one is a share or a ratio."""
    m = BY_ID[measure_id]
    unit = unit or m.unit
    return unit if unit != "1" else "share, 0 to 1" if m.high == 1 else "ratio"


def reason_text(reason: str | None) -> str:
    """A reason in the words of somebody who decides."""
    return REASONS.get(reason or "", reason or "")


def number_line(title: str, text: str, after: str) -> str:
    """A title, a number and what belongs to it."""
    return f"  {title:<36} {text:>12}  {after}".rstrip()


def join_words(words: Sequence[str]) -> str:
    """Words as a sentence lists them.

    >>> join_words(["age"]), join_words(["age", "sex"]), join_words(["age", "sex", "zip"])
    ('age', 'age and sex', 'age, sex and zip')
    """
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def wrap_all(texts: Iterable[str], width: int, indent: str, after: str | None = None) -> list[str]:
    """The wrapped lines of several texts."""
    return [line for text in texts for line in wrap(text, width, indent, after)]


def whole_text(result: Result, lines: Iterable[str], width: int, more: str = "") -> str:
    """The text of a result: table and roles, these lines, remarks, and how to see `more`."""
    remarks = [w for w in result.warnings if w not in result.cautions]
    notes = wrap_all(map(printable, remarks), width, "  - ", "    ")
    end = [*(["", "Note"] if notes else []), *notes, *(["", more] if more else [])]
    return "\n".join([*_heading_lines(result, width), *lines, *end])


def _heading_lines(result: Result, width: int) -> list[str]:
    """The table and its roles."""
    table, roles = result.table, result.roles
    how = f"{plural(result.rows, 'record')}, {plural(table['columns'], 'column')}"
    if "people" in table:
        how = f"{table['people']:,} people (who are counted) in {how}"
    if "delimiter" in table:
        delimiter = SHOWN.get(table["delimiter"], table["delimiter"])
        how += f", delimiter '{delimiter}', {table['encoding']}"
    how += f", {table['compression']}" if "compression" in table else ""
    verified = table.get("verified")
    if isinstance(verified, dict):
        checks = verified.get("page_checksums")
        how += f"; page checksums {checks}" if checks else "; SHA-256 noted in the JSON"
    elif verified is False:
        how += "; not verified"
    lines = wrap(f"{printable(table['name'] or 'the table')}: {how}", width, "", "  ")
    lines += wrap_all((f"CAUTION: {printable(c)}." for c in result.cautions), width, "", "  ")
    if table.get("dropped"):
        lines.append(f"Dropped: {plural(table['dropped'], 'record')} without a quasi-identifier")
    if table.get("suppressed"):
        became = "counted as any other" if table.get("keep_suppressed") else "left out"
        lines.append(f"Suppressed: {plural(table['suppressed'], 'record')}, {became}")
    for title, names in (
        ("Quasi-identifiers (an outsider may know)", roles.quasi),
        ("Sensitive (secret)", roles.sensitive),
        ("Identifiers (to be dropped)", roles.identifier),
        *((f"{r.capitalize()} (a column)", (c,)) for r, c in roles.single_columns.items()),
        ("Ignored (the policy says why)", tuple(roles.ignored)),
        ("Not assessed (if released, an outsider may know them too)", result.unassessed),
    ):
        if names:
            text = ", ".join(f'"{printable(n)}"' if "," in n else printable(n) for n in names)
            lines += wrap(f"{title}: {text}", width, "", "  ")
    return lines


def limit_lines(v: Verdict, width: int) -> list[str]:
    """One limit, what it asks and what was found."""
    word = {True: "met", False: "BREACHED", None: "undecided"}[v.met]
    bounds = " and ".join(
        f"{sign} {bound:,.12g}"
        for sign, bound in [(">=", v.min), ("<=", v.max)]
        if bound is not None
    )
    value, unit = reason_text(v.reason), ""
    if v.value is not None:
        value, unit = significant(v.value), f" {unit_text(v.measure)}"
        shown = float(value.replace(",", ""))
        if any(shown == bound != v.value for bound in (v.min, v.max)):
            value = f"{v.value:.12g}"  # digits enough to see on which side of its limit it lies
    place = printable(f"{v.measure} ({v.where.removeprefix('inference.')})")
    after = f"{unit}; limit {bounds}{f', {v.reading}' if v.reading else ''}"
    line = f"  {word:<13} {place:<44} {value:>10}{after}"
    lines = [line]
    if len(line) > width:
        lines = [f"  {word:<13} {place}"[:width], f"  {'':<13} {value}{after}"]
    if v.impossible is not None:
        lines += wrap(f"impossible: {v.impossible}", width, " " * 16)
    return lines


def basis_lines(policies: Iterable[Judgement | None], width: int) -> list[str]:
    """What verdicts rest on, and how many suppressed records they say nothing about."""
    bases = dict.fromkeys(
        p.rests_on
        + (
            f" ({plural(p.suppressed_records, 'suppressed record')} here)"
            if p.suppressed_records
            else ""
        )
        for p in policies
        if p is not None and p.rests_on
    )
    return wrap_all((f"This rests on: {basis}." for basis in bases), width, "  ")


def reason_lines(policy: Judgement, width: int, indent: str = "  ") -> list[str]:
    """Why a policy is not met or undecided, besides its limits."""
    words = {False: "not met: ", None: "undecided: "}
    reasons = (words[r.met] + printable(r.text) for r in policy.reasons if r.met is not True)
    return wrap_all(reasons, width, indent, indent + "  ")


def tabulate(
    rows: Sequence[Sequence[str]],
    after: Sequence[str] | None = None,
    width: int = 100,
    *,
    names: bool = False,
) -> list[str]:
    """Text in columns, the first one to the left and numbers to the right.

    Where they are too wide, names in the first column are cut; else other columns follow below,
    each time beside the first one.

    >>> tabulate([["", "a", "b"], ["x", "10", "20"]], ["", ""], 9)
    ['      a', '  x  10', '', '      b', '  x  20']
    """
    after = after or [""] * len(rows)
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    room = width - 2 - max(len(mark) + 2 * bool(mark) for mark in after)
    left = room - sum(wide + 2 for wide in widths[1:])
    if names and SHORTEST <= left < widths[0]:
        widths[0] = left
    blocks: list[list[int]] = [[]]
    for i, wide in enumerate(widths[1:], 1):
        if blocks[-1] and sum(widths[j] + 2 for j in (0, *blocks[-1])) + wide > room:
            blocks.append([])
        blocks[-1].append(i)
    lines: list[str] = []
    for block in blocks:
        lines += [""] if lines else []
        for row, mark in zip(rows, after, strict=True):
            cells = [shorten(row[0], widths[0]).ljust(widths[0])]
            cells += [row[i].rjust(widths[i]) for i in block]
            lines.append(f"  {'  '.join(cells)}  {mark if block is blocks[-1] else ''}".rstrip())
    return lines


def shorten(text: str, longest: int = LONGEST) -> str:
    """A text that is not too long for a table.

    >>> shorten("release"), shorten("release", 5)
    ('release', 'rele…')
    """
    return text if len(text) <= longest else text[: longest - 1] + "…"
