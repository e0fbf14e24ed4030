"""How a source is to be read: the keywords that every function of the Python interface accepts."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import TypedDict


class ReaderOptions(TypedDict, total=False):
    """The keywords, named like the options of the command line; a keyword left out is decided."""

    delimiter: str | None
    encoding: str
    types: Mapping[str, str] | None
    na: Iterable[str]
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
