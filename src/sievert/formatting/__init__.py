"""Numbers and names as text, for terminals, pages and messages, in the current language.

The current language is English by default. A language has texts by key, and marks for numbers.
"""

import itertools
import json
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from decimal import Decimal
from functools import cache
from pathlib import Path

ENGLISH = "en"
PACKAGE = Path(__file__).parents[1]
# The folder of each language, whose texts are in files texts/CODE.toml of rooms and commands.
LANGUAGES = {ENGLISH: PACKAGE, "de": PACKAGE}
_SPOKEN: ContextVar[Mapping[str, str] | None] = ContextVar("spoken", default=None)


def printable(name: str) -> str:
    """Make a name safe for a terminal: no line breaks, no escape sequences.

    >>> printable("a\\x1b[31m\\nb")
    'a\\\\x1b[31m\\\\nb'
    """
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in name)


def plural(number: int, thing: str) -> str:
    """Write a number with its noun in the singular or the plural.

    >>> plural(1, "record"), plural(2_000, "record"), plural(2, "class")
    ('1 record', '2,000 records', '2 classes')
    """
    if number == 1:
        return f"{number:,} {thing}"
    ending = "es" if thing.endswith("s") else "s"
    return f"{number:,} {thing}{ending}"


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


# -- languages -----------------------------------------------------------------------------------


def language_files(language: str) -> list[Path]:
    """List the files that have the texts of a language: those of rooms and those of commands."""
    folder = LANGUAGES[language]
    name = f"texts/{language}.toml"
    return [*sorted(folder.glob(f"*/{name}")), *sorted(folder.glob(f"*/*/{name}"))]


@cache
def read_language(language: str) -> Mapping[str, str]:
    """Read every text of a language by its key."""
    return {
        key: text for path in language_files(language) for key, text in read_lines(path).items()
    }


def read_lines(path: Path) -> Mapping[str, str]:
    """Read a file of texts, ten times as fast as TOML: each text is one line."""
    texts = {}
    above = ""
    for line in path.read_text(encoding="utf-8").splitlines():
        key, sign, value = line.partition(" = ")
        if line.startswith("["):
            above = f"{line[1:-1]}."
        elif sign and not line.startswith("#"):
            plain = value[1:-1]
            texts[f"{above}{key}"] = json.loads(value) if "\\" in plain else plain
    return texts


@contextmanager
def speaking(texts: Mapping[str, str]) -> Iterator[None]:
    """Use these texts for words and numbers within the block."""
    token = _SPOKEN.set(texts)
    try:
        yield
    finally:
        _SPOKEN.reset(token)


def say(key: str, /, **values: object) -> str:
    """A text of the current language.

    >>> say("words.and", first="age", last="zip")
    'age and zip'
    """
    texts = _SPOKEN.get()
    if not texts:
        texts = read_language(ENGLISH)
    return texts[key].format_map(values)


# -- numbers ------------------------------------------------------------------------------------


def marks() -> tuple[str, str]:
    """The decimal mark and the mark between thousands.

    >>> marks()
    ('.', ',')
    """
    return (say("numbers.decimal"), say("numbers.thousands")) if _SPOKEN.get() else (".", ",")


def digits(number: str) -> str:
    """Convert a number that is written in English to the marks of the current language.

    >>> german = {"numbers.decimal": ",", "numbers.thousands": "."}
    >>> with speaking(german):
    ...     digits("1,234.5")
    '1.234,5'
    """
    decimal, thousands = marks()
    if (decimal, thousands) == (".", ","):
        return number
    return number.translate({ord("."): decimal, ord(","): thousands})


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


def percent(share: float) -> str:
    """Write a share in per cent, without rounding to 0 % or 100 %.

    >>> [percent(x) for x in (0.0, 0.00001, 0.12345, 0.9996, 0.99999, 1.0)]
    ['0 %', 'under 0.01 %', '12.3 %', '99.96 %', 'over 99.99 %', '100 %']
    """
    if 0 < share < 0.0001:
        return say("numbers.under", share=digits("0.01 %"))
    if 0.9999 < share < 1:
        return say("numbers.over", share=digits("99.99 %"))
    text = f"{100 * share:.3g}"
    if text == "100" and share < 1:
        text = f"{100 * share:.4g}"
    return digits(f"{text} %")


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
