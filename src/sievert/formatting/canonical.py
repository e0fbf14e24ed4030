"""The canonical text of a value: one text for all its spellings.

The rules are in docs/reading.md under *Spellings*. They depend on the text only, so that one value
has the same canonical text in every table, engine and release.
"""

import re
import unicodedata
from collections.abc import Iterable
from datetime import date

_ASCII_CONTROLS = re.compile(r"[\x00-\x08\x0e-\x1b\x7f]")  # without blanks
# Invisible characters without a category of their own: fillers, joiners, selectors.
_INVISIBLE = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2065\u3164\ufe00-\ufe0f\uffa0\ufff0-\ufff8"
    "\U000e0000-\U000e0fff]"
)
_INVISIBLE_CATEGORIES = ("Cf", "Cc")  # format characters (zero width, direction, BOM), controls
_BLANKS = "\u2800"  # an empty pattern of Braille: it looks blank, but is no blank of Unicode
_DASHES = "\u02d7\u2043\u2212"  # a minus, a hyphen bullet: no dashes for Unicode
_NUMBER = re.compile(r"([+-]?)([0-9]*)(?:\.([0-9]*)|,0{0,2})?", re.ASCII)
_MIDNIGHT = r"(?:[t ]0?0:00(?::00(?:\.0+)?)?(?: ?(?:z|[+-]00(?::?00)?))?)?"
_YEAR_FIRST = re.compile(rf"([0-9]{{4}})([-/.])([0-9]{{1,2}})\2([0-9]{{1,2}}){_MIDNIGHT}")
_YEAR_LAST = re.compile(rf"([0-9]{{1,2}})([-/.])([0-9]{{1,2}})\2([0-9]{{4}}){_MIDNIGHT}")


def canonical_text(text: str) -> str:
    """Return the one text for all spellings of a value; a canonical text is its own.

    >>> canonical_text("  Flu\u200b "), canonical_text("ﬂu"), canonical_text("a\u00a0 b")
    ('flu', 'flu', 'a b')
    >>> [canonical_text(t) for t in ("7", "7.0", "07", "+7", "7.50", "-0", "1e3")]
    ['7', '7', '7', '7', '7.5', '0', '1e3']
    >>> [canonical_text(t) for t in ("31.12.1999", "12/31/1999", "1999-12-31 00:00:00")]
    ['1999-12-31', '1999-12-31', '1999-12-31']
    >>> [canonical_text(t) for t in ("3/4/1999", "03/04/1999 00:00", "03.04.1999")]
    ['03/04/1999', '03/04/1999', '03.04.1999']
    """
    folded = _fold(text)
    if not folded or folded[0] not in "+-.0123456789":
        return folded
    canonical = _plain_number(folded)
    if canonical is None:
        canonical = _day(folded)
    return folded if canonical is None else canonical


def group_spellings(texts: Iterable[str]) -> list[list[str]]:
    """Find the texts that coincide only canonically: groups of two or more, in canonical order.

    >>> group_spellings(["flu", "Flu", "cold", "07", "7"])
    [['07', '7'], ['Flu', 'flu']]
    """
    groups: dict[str, list[str]] = {}
    for text in texts:
        groups.setdefault(canonical_text(text), []).append(text)
    return [sorted(groups[key]) for key in sorted(groups) if len(groups[key]) > 1]


def _fold(text: str) -> str:
    """Fold everything that does not depend on numbers and dates."""
    if text.isascii():
        return " ".join(_ASCII_CONTROLS.sub("", text).split()).lower()
    folded = _fold_once(text)
    while folded != text:  # characters may compose anew where another one was removed
        text = folded
        folded = _fold_once(text)
    return folded


def _fold_once(text: str) -> str:
    composed = unicodedata.normalize("NFKC", text)
    seen = _INVISIBLE.sub("", "".join(map(_visible, composed)))
    return unicodedata.normalize("NFKC", " ".join(seen.split()).casefold())


def _visible(character: str) -> str:
    """Replace an invisible character by nothing, a blank by " ", a dash by "-"."""
    category = unicodedata.category(character)
    if character.isspace() or character in _BLANKS:
        return " "
    if category in _INVISIBLE_CATEGORIES:
        return ""
    return "-" if category == "Pd" or character in _DASHES else character


def _plain_number(text: str) -> str | None:
    """Write a decimal number in the shortest way, digit by digit; None for anything else."""
    match = _NUMBER.fullmatch(text)
    if match is None:
        return None
    sign, whole, fraction = match.groups()
    if not whole and not fraction:
        return None
    whole = whole.lstrip("0")
    if not whole:
        whole = "0"
    fraction = "" if fraction is None else fraction.rstrip("0")
    number = f"{whole}.{fraction}" if fraction else whole
    return f"-{number}" if sign == "-" and number != "0" else number


def _day(text: str) -> str | None:
    """Write a date as year, month and day; None for any other text.

    A date that could be one of two days keeps its order and its separator. Zeros before a number
    and midnight behind the date change nothing.
    """
    match = _YEAR_FIRST.fullmatch(text)
    if match is not None:
        year, _, month, day = match.groups()
        return _iso(year, month, day)
    match = _YEAR_LAST.fullmatch(text)
    if match is not None:
        one, separator, two, year = match.groups()
        days = {_iso(year, one, two), _iso(year, two, one)} - {None}
        if len(days) == 2:
            return f"{one:0>2}{separator}{two:0>2}{separator}{year}"
        return days.pop() if days else None
    return None


def _iso(year: str, month: str, day: str) -> str | None:
    try:
        return date(int(year), int(month), int(day)).isoformat()
    except ValueError:
        return None
