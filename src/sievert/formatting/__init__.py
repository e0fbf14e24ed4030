"""Numbers and names as text, for terminals, pages and messages, in the language that is spoken.

That is English unless told: a language is its words by key, and how it writes numbers.
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
# Where the texts of each language are: in files texts/CODE.toml of rooms and of commands.
LANGUAGES = {ENGLISH: PACKAGE, "de": PACKAGE}
_SPOKEN: ContextVar[Mapping[str, str] | None] = ContextVar("spoken", default=None)


def printable(name: str) -> str:
    """A name as it may be shown on a terminal: no line breaks, no escape sequences.

    >>> printable("a\\x1b[31m\\nb")
    'a\\\\x1b[31m\\\\nb'
    """
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in name)


def plural(number: int, thing: str) -> str:
    """A number and its thing.

    >>> plural(1, "record"), plural(2_000, "record"), plural(2, "class")
    ('1 record', '2,000 records', '2 classes')
    """
    ending = "" if number == 1 else "es" if thing.endswith("s") else "s"
    return f"{number:,} {thing}{ending}"


def list_names(names: Sequence[str], most: int = 12) -> str:
    """Names in quotes; of many the first ones, and how many more there are.

    >>> list_names(["a", "b", "c"], most=2)
    "'a', 'b' and 1 more"
    """
    listed = ", ".join(map(repr, names[:most]))
    more = len(names) - most
    return f"{listed} and {more:,} more" if more > 0 else listed


def nearest(name: str, names: Iterable[str]) -> str | None:
    """The name most like a mistyped one, or None.

    >>> nearest("ocupation", ["age", "occupation"])
    'occupation'
    """
    known = {n.casefold(): n for n in names}
    if name.casefold() in known:  # asked before it is known whether a hint is needed
        return known[name.casefold()]
    from difflib import get_close_matches  # for mistakes only

    matches = get_close_matches(name.casefold(), known, n=1, cutoff=0.6)
    return known[matches[0]] if matches else None


def make_unique(labels: Iterable[str]) -> list[str]:
    """Labels as they are, but no two alike: alike ones would be one row.

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
    """Within it, words and numbers are those of these texts."""
    token = _SPOKEN.set(texts)
    try:
        yield
    finally:
        _SPOKEN.reset(token)


def say(key: str, /, **values: object) -> str:
    """A text of the language that is spoken.

    >>> say("words.and", first="age", last="zip")
    'age and zip'
    """
    return (_SPOKEN.get() or read_language(ENGLISH))[key].format_map(values)


# -- numbers ------------------------------------------------------------------------------------


def marks() -> tuple[str, str]:
    """The decimal mark and what stands between thousands.

    >>> marks()
    ('.', ',')
    """
    return (say("numbers.decimal"), say("numbers.thousands")) if _SPOKEN.get() else (".", ",")


def digits(number: str) -> str:
    """A number that was written in English, as the language that is spoken writes it.

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
    """A number of things.

    >>> count(12345)
    '12,345'
    """
    return digits(f"{number:,}")


def significant(x: float) -> str:
    """Four significant digits without an exponent; certainty is never rounded to, or away.

    >>> [significant(x) for x in (1.0, 0.99999, 0.5, 0.0, 0.000123456, 1234.56, 6.631e-05)]
    ['1', '0.99999', '0.5', '0', '0.0001235', '1,235', '0.00006631']
    """
    return digits(significant_digits(x))


def significant_digits(x: float) -> str:
    """The same as English writes it, whatever language is spoken."""
    if x == int(x) or abs(x) >= 1000:
        return f"{x:,.0f}"
    if abs(x) < 1e-9:
        return f"{x:.3e}"
    places = 4
    while places < 17 and float(f"{x:.{places}g}") == 1.0:
        places += 1
    return f"{Decimal(f'{x:.{places}g}'):f}"


def percent(share: float) -> str:
    """A share in per cent that never rounds something to nothing or to all.

    >>> [percent(x) for x in (0.0, 0.00001, 0.12345, 0.9996, 0.99999, 1.0)]
    ['0 %', 'under 0.01 %', '12.3 %', '99.96 %', 'over 99.99 %', '100 %']
    """
    if 0 < share < 0.0001:
        return say("numbers.under", share=digits("0.01 %"))
    if 0.9999 < share < 1:
        return say("numbers.over", share=digits("99.99 %"))
    text = f"{100 * share:.3g}"
    return digits(f"{100 * share:.4g} %" if text == "100" and share < 1 else f"{text} %")


def wrap(text: str, width: int, indent: str, after: str | None = None) -> list[str]:
    """Wrapped lines that do not part a number from its per cent sign."""
    after = indent if after is None else after
    kept = text.replace(" %", "\xa0%")
    lines = textwrap.wrap(
        kept, width, initial_indent=indent, subsequent_indent=after, break_on_hyphens=False
    )
    return [line.replace("\xa0", " ") for line in lines]


def middle_cut(text: str, longest: int) -> str:
    """A text that is not too long: what it begins and ends with.

    >>> middle_cut("adult_qi4_k10_s5", 9), middle_cut("bands", 9)
    ('adul…0_s5', 'bands')
    """
    if len(text) <= longest:
        return text
    end = (longest - 1) // 2
    return f"{text[: longest - 1 - end]}…{text[len(text) - end :]}"


def own_name(name: str, file: str | None) -> str:
    """The name of a table by its file, where it was named after that.

    >>> own_name("bands", "bands.csv"), own_name("bands (2)", "bands.csv"), own_name("a", "b.csv")
    ('bands.csv', 'bands.csv (2)', 'a')
    """
    stem = (file or "").partition(".")[0]
    if file and stem and (name == stem or name.startswith(f"{stem} (")):
        return file + name[len(stem) :]
    return name
