"""Output files: whole or absent, private, never over an input or somebody else's file."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sievert.errors import ExhaustedError, RefusedError, UsageError

KINDS = {".csv": "csv", ".parquet": "parquet"}
# What our own files begin with: they may be replaced without --force.
OURS = {".json": b'{\n "', ".csv": b"record,class_size,identity_bits"}


def kind(path: str | os.PathLike[str]) -> str:
    """The format of a record file by its ending."""
    suffix = Path(path).suffix.lower()
    if suffix not in KINDS:
        raise UsageError("a record file ends in .csv or .parquet", hint="--records out.csv")
    return KINDS[suffix]


def _is_ours(path: Path) -> bool:
    with path.open("rb") as file:
        start = file.read(1 << 16)
    begin = OURS.get(path.suffix.lower(), b"\0")
    marked = path.suffix.lower() != ".json" or b'"sievert"' in _tail(path)
    return start.startswith(begin) and marked


def _tail(path: Path) -> bytes:
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - (1 << 20)))
        return file.read()


def refuse_overwriting(path: Path, source: Any, *, force: bool) -> None:
    """An input is never written; another existing file only with --force."""
    if isinstance(source, str | os.PathLike) and path.exists():
        try:
            same = path.samefile(source)
        except OSError:
            same = False
        if same:
            raise RefusedError("the output is the input", hint="another name for the output")
    if path.is_symlink():
        raise RefusedError(f"{path.name} is a symbolic link", hint="a plain file name")
    if path.is_dir():
        raise UsageError(f"{path.name} is a directory", hint="a file name")
    if path.exists() and not force and not _is_ours(path):
        raise RefusedError(
            f"{path.name} exists and was not written by sievert", hint="--force, or another name"
        )


def check(path: str | os.PathLike[str], *, source: Any = None, force: bool = False) -> Path:
    """Whether an output may be written there; asked before the work, not after it."""
    target = Path(path)
    if not target.parent.is_dir():
        raise UsageError(f"{target.name}: its directory does not exist")
    refuse_overwriting(target, source, force=force)
    return target


@contextmanager
def whole(
    path: str | os.PathLike[str] | None, *, source: Any = None, force: bool = False
) -> Iterator[Path | None]:
    """A temporary name beside `path` to write to; it takes the place of `path` if all went well."""
    if path is None:
        yield None
        return
    target = check(path, source=source, force=force)
    temporary = target.resolve().parent / f".{target.name}.{os.getpid()}.part"
    try:
        os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        yield temporary
        with temporary.open("rb+") as file:
            os.fsync(file.fileno())
        temporary.replace(target)
        _sync(target.parent)
    except OSError as error:
        raise ExhaustedError(f"{target.name} cannot be written: {error.strerror}") from error
    finally:
        temporary.unlink(missing_ok=True)


def _sync(directory: Path) -> None:
    handle = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def write_text(
    path: str | os.PathLike[str], text: str, *, source: Any = None, force: bool = False
) -> None:
    """Write a text file, whole or not at all."""
    with whole(path, source=source, force=force) as temporary:
        assert temporary is not None
        temporary.write_text(text, encoding="utf-8")
