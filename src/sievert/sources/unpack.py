"""Compressed text is unpacked into the private directory, up to a limit, before it is read."""

import gzip
import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from sievert.errors import ExhaustedError, InputError, RefusedError, UsageError, require
from sievert.sources.options import optional_package

MAGIC = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}
BLOCK = 1 << 20
ZSTD_BLOCK = 1 << 12  # a few bytes of zstd may be 128 KiB of zeros: never much at a time
RATIO = 100
MOST = 20 << 30
SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([KMGT]?)i?B?", re.IGNORECASE)
NO_SIZE = 1024  # bytes: a smaller number without a unit lacks it
USUAL = {"--memory": "GB", "--max-unpacked": "GB", "--max-field": "MB"}


def kind(start: bytes) -> str | None:
    """The compression of a file that begins with `start`; None if there is none."""
    return next((name for magic, name in MAGIC.items() if start.startswith(magic)), None)


def size(text: str | int, option: str = "--max-unpacked") -> int:
    """Convert text such as 500MB to a number of bytes.

    >>> size("2 KB"), size("1.5G"), size(100)
    (2048, 1610612736, 100)
    """
    match = SIZE.fullmatch(str(text).strip())
    if match is None:
        raise UsageError(f"{option} is not a size", hint=f"{option} 4{USUAL[option]}")
    bare = isinstance(text, str) and match[0] == match[1]
    require(
        not bare or float(match[1]) >= NO_SIZE,
        f"{option}: {match[1]} bytes?",
        hint=f"{match[1]}{USUAL[option]}",
    )
    unit = match[2].upper() if match[2] else " "
    return int(float(match[1]) * 1024 ** " KMGT".index(unit))


def unpack(path: Path, compression: str, target: Path, limit: str | None = None) -> None:
    """Write the plain text of a compressed file to `target`."""
    most = size(limit) if limit else min(MOST, max(RATIO * path.stat().st_size, 1 << 24))
    try:
        with path.open("rb") as file:
            _write(_blocks(file, compression), target, path.name, most)
    except (EOFError, zlib.error, gzip.BadGzipFile):
        raise InputError(f"{path.name}: a damaged or truncated {compression} file") from None
    except OSError as error:
        raise ExhaustedError(
            f"no room to unpack {path.name}: {error.strerror}", hint="--temp on a larger disk"
        ) from None


def drain(stream: BinaryIO, target: Path, name: str, limit: str | None = None) -> None:
    """Write a stream that can be read only once, a pipe or standard input, to `target`."""
    try:
        _write(iter(lambda: stream.read(BLOCK), b""), target, name, size(limit) if limit else MOST)
    except OSError as error:
        raise ExhaustedError(
            f"no room for a copy of {name}: {error.strerror}", hint="--temp on a larger disk"
        ) from None


def _write(blocks: Iterator[bytes], target: Path, name: str, most: int) -> None:
    written = 0
    with target.open("wb") as out:
        for block in blocks:
            written += len(block)
            require(
                written <= most,
                f"{name}: more than {most:,} bytes of text",
                hint="--max-unpacked with a larger size, if you trust the file",
                error=RefusedError,
            )
            out.write(block)


def _blocks(file: BinaryIO, compression: str) -> Iterator[bytes]:
    if compression == "gzip":
        with gzip.GzipFile(fileobj=file) as plain:  # reads every member
            while block := plain.read(BLOCK):
                yield block
        return
    zstandard = optional_package("zstandard", "zstd files need")
    decompressor = zstandard.ZstdDecompressor()
    frame = None
    try:
        while packed := file.read(ZSTD_BLOCK):
            while packed:
                if frame is None:
                    frame = decompressor.decompressobj()
                yield frame.decompress(packed)
                if frame.eof:
                    packed = frame.unused_data
                    frame = None
                else:
                    packed = b""
    except zstandard.ZstdError:
        raise EOFError from None
    if frame is not None:  # the last frame has no end
        raise EOFError
