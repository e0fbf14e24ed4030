"""The keywords of the Python interface that say how to read a source; optional packages.

The optional packages read some formats.
"""

import importlib
import os
from collections.abc import Iterable, Mapping
from typing import Any, TypedDict

from sievert.errors import UsageError, is_out_of_memory


class ReaderOptions(TypedDict, total=False):
    """The keywords, named like the options of the command line; all have a default."""

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
    """The codes for missing values in `options`; a text is one code.

    >>> missing_codes({"na": "-9"}), missing_codes({"na": ["-9", "?"]}), missing_codes({"na": None})
    (('-9',), ('-9', '?'), ())
    """
    given = options.get("na")
    if not given:
        return ()
    return (given,) if isinstance(given, str) else tuple(given)


def optional_package(module: str, needs: str, extra: str = "formats") -> Any:
    """Import a `module` of an optional package; the error says what `needs` it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        if is_out_of_memory(error):
            raise MemoryError from None
        package = module.partition(".")[0].replace("_", "-")
        raise UsageError(
            f"{needs} the package {package}", hint=f"pip install 'sievert[{extra}]'"
        ) from None
