"""A private place for temporary data: readable by its owner alone, removed at the end."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sievert.errors import ExhaustedError, UsageError


@contextmanager
def private_directory(parent: str | os.PathLike[str] | None = None) -> Iterator[Path]:
    """A directory of mode 0700 that is gone when the block ends, however it ends."""
    if parent is not None and not Path(parent).is_dir():
        raise UsageError("--temp is not a directory", hint="an existing directory")
    try:
        path = Path(tempfile.mkdtemp(prefix="sievert-", dir=parent))
    except OSError as error:
        raise ExhaustedError(
            f"no temporary directory can be made: {error.strerror}", hint="--temp DIR"
        ) from None
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)
