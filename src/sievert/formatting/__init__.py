"""Numbers and names as text, for terminals, pages and messages, in the current language.

The current language is English by default. A language has texts by key, and marks for numbers.
"""

import itertools
import textwrap
from collections.abc import Iterable, Sequence
from decimal import Decimal

from sievert.formatting.languages import (
    ENGLISH,
    LANGUAGES,
    digits,
    language_files,
    marks,
    percent,
    printable,
    read_language,
    read_lines,
    say,
    speaking,
)
from sievert.formatting.remarks import plural

__all__ = [
    "ENGLISH",
    "LANGUAGES",
    "count",
    "digits",
    "language_files",
    "list_names",
    "make_unique",
    "marks",
    "middle_cut",
    "nearest",
    "own_name",
    "percent",
    "plural",
    "printable",
    "read_language",
    "read_lines",
    "say",
    "significant",
    "significant_digits",
    "speaking",
    "wrap",
]


def list_names(names: Sequence[str], most: int = 12) -> str:
    """List names in quotes: at most `most` of them, and the number of the others.

    >>> list_names(["a", "b", "c"], most=2)
    "'a', 'b' and 1 more"
    """
    listed = ", ".join(map(repr, names[:most]))
    more = len(names) - most
    return f"{listed} and {more:,} more" if more > 0 else listed


def nearest(name: str, names: Iterable[str]) -> str | None:
    """The name that is most similar to a mistyped one, or None.

    >>> nearest("ocupation", ["age", "occupation"])
    'occupation'
    """
    known = {n.casefold(): n for n in names}
    if name.casefold() in known:  # called before it is known whether a hint is needed
        return known[name.casefold()]
    from difflib import get_close_matches  # used after mistakes only

    matches = get_close_matches(name.casefold(), known, n=1, cutoff=0.6)
    return known[matches[0]] if matches else None


def make_unique(labels: Iterable[str]) -> list[str]:
    """Number labels that occur several times, because equal labels would become one row.

    >>> make_unique(["age", "combined", "combined"])
    ['age', 'combined', 'combined (2)']
    """
    unique: list[str] = []
    for label in labels:
        numbered = (f"{label} ({number})" for number in itertools.count(2))
        unique.append(next(t for t in itertools.chain([label], numbered) if t not in unique))
    return unique


# -- numbers ------------------------------------------------------------------------------------


def count(number: float) -> str:
    """Write a whole number, or a count that is a fraction, with marks between thousands.

    >>> count(12345)
    '12,345'
    """
    return digits(f"{number:,}")


def significant(x: float) -> str:
    """Write four significant digits without an exponent; only 1 is written as 1.

    >>> [significant(x) for x in (1.0, 0.99999, 0.5, 0.0, 0.000123456, 1234.56, 6.631e-05)]
    ['1', '0.99999', '0.5', '0', '0.0001235', '1,235', '0.00006631']
    """
    return digits(significant_digits(x))


def significant_digits(x: float) -> str:
    """Write four significant digits in English, whatever the current language is."""
    if x == int(x) or abs(x) >= 1000:
        return f"{x:,.0f}"
    if abs(x) < 1e-9:
        return f"{x:.3e}"
    places = 4
    while places < 17 and float(f"{x:.{places}g}") == 1.0:
        places += 1
    return f"{Decimal(f'{x:.{places}g}'):f}"


def wrap(text: str, width: int, indent: str, after: str | None = None) -> list[str]:
    """Wrap a text into lines without a break between a number and its per cent sign."""
    after = indent if after is None else after
    kept = text.replace(" %", "\xa0%")
    lines = textwrap.wrap(
        kept, width, initial_indent=indent, subsequent_indent=after, break_on_hyphens=False
    )
    return [line.replace("\xa0", " ") for line in lines]


def middle_cut(text: str, longest: int) -> str:
    """Shorten a text to its first and last characters if it is longer than `longest`.

    >>> middle_cut("adult_qi4_k10_s5", 9), middle_cut("bands", 9)
    ('adul…0_s5', 'bands')
    """
    if len(text) <= longest:
        return text
    end = (longest - 1) // 2
    return f"{text[: longest - 1 - end]}…{text[len(text) - end :]}"


def own_name(name: str, file: str | None) -> str:
    """The file of a table in place of a `name` that was made of it; else the name.

    >>> own_name("bands", "bands.csv"), own_name("bands (2)", "bands.csv"), own_name("a", "b.csv")
    ('bands.csv', 'bands.csv (2)', 'a')
    """
    if not file:
        return name
    stem = file.partition(".")[0]
    if stem and (name == stem or name.startswith(f"{stem} (")):
        return file + name[len(stem) :]
    return name
