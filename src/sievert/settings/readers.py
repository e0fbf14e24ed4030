"""How texts of a command line become the values of options."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from sievert.errors import UsageError, require
from sievert.roles import Typed
from sievert.settings.option import TablePath, TextReader


def column_values(given: Iterable[str], flag: str, example: str) -> dict[str, str]:
    """Read COLUMN=SOMETHING, as often as it was given for the option `flag`."""
    by_column: dict[str, str] = {}
    for text in given:
        column, sign, value = text.partition("=")
        require(
            sign and column and value,
            f"{flag} takes COLUMN=SOMETHING",
            hint=f"{flag} {example}",
        )
        require(column not in by_column, f"{flag} is given twice for column {column!r}")
        by_column[column] = value
    return by_column


def column_numbers(given: Iterable[str], flag: str, example: str) -> dict[str, float]:
    """Read COLUMN=NUMBER, as often as it was given for the option `flag`."""
    try:
        return {c: float(n) for c, n in column_values(given, flag, example).items()}
    except ValueError:
        raise UsageError(f"{flag} takes COLUMN=NUMBER", hint=f"{flag} {example}") from None


def listed_numbers(given: Iterable[str], flag: str) -> list[float]:
    """Read numbers that are separated by commas, as often as they were given."""
    try:
        return [float(text) for part in given for text in part.split(",") if text]
    except ValueError:
        raise UsageError(f"{flag}: numbers separated by commas", hint="0.05,0.1") from None


def column_values_reader(example: str, flag: str = "") -> TextReader:
    """Return the reader of COLUMN=SOMETHING; messages name the option `flag` if it is given."""
    return TextReader(
        kind=str,
        several=True,
        convert=lambda given, name: column_values(given, flag or name, example),
    )


def column_numbers_reader(example: str) -> TextReader:
    """Return the reader of COLUMN=NUMBER."""
    return TextReader(
        kind=str, several=True, convert=lambda given, name: column_numbers(given, name, example)
    )


def _invert(given: bool, _flag: str) -> bool:
    return not given


def _as_list(convert: Callable[[str], Any]) -> Callable[[Iterable[str], str], list[Any]]:
    return lambda given, _flag: [convert(text) for text in given]


NAMES = TextReader(kind=str, several=True, convert=lambda given, _flag: Typed(given))
KEY_SETS = TextReader(kind=str, several=True, convert=_as_list(lambda text: Typed([text])))
TEXTS = TextReader(kind=str, several=True)
PATHS = TextReader(kind=Path, several=True)
PATH = TextReader(kind=Path)
TABLE = TextReader(kind=TablePath)
TABLES = TextReader(kind=TablePath, several=True)
TEXT = TextReader(kind=str)
WITHOUT = TextReader(kind=bool, convert=_invert)  # --no-SOMETHING
NUMBERS = TextReader(kind=str, several=True, convert=listed_numbers)
