"""How a source is to be read: the keywords that every function of the Python interface accepts.

And the optional packages that it takes to read some sources.
"""

import importlib
import os
from collections.abc import Iterable, Mapping
from typing import Any, Literal, TypedDict

from sievert.errors import UsageError, is_out_of_memory


EngineName = Literal["duckdb", "spark", "postgres"]


class ReaderOptions(TypedDict, total=False):
    """The keywords, named like the options of the command line; a keyword left out is decided."""

    delimiter: str | None
    encoding: str
    types: Mapping[str, str] | None
    na: str | Iterable[str] | None
    suppressed: str | None
    keep_suppressed: bool
    header: bool
    max_unpacked: str | None
    max_field: str | int | None
    max_columns: int
    engine: str | None
    memory: str | None
    threads: int | None
    temp: str | os.PathLike[str] | None
    master: str | None
    timeout: float | None


def missing_codes(options: Mapping[str, Any]) -> tuple[str, ...]:
    """The codes for missing values; a text is one code.

    >>> missing_codes({"na": "-9"}), missing_codes({"na": ["-9", "?"]}), missing_codes({"na": None})
    (('-9',), ('-9', '?'), ())
    """
    given = options.get("na") or ()
    return (given,) if isinstance(given, str) else tuple(given)


def optional_package(module: str, needs: str, extra: str = "formats") -> Any:
    """A module of a package that need not be installed; the error says what needs it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        if is_out_of_memory(error):
            raise MemoryError from None
        package = module.partition(".")[0].replace("_", "-")
        raise UsageError(
            f"{needs} the package {package}", hint=f"pip install 'sievert[{extra}]'"
        ) from None
