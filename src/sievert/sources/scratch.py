"""Temporary data: private to its owner, gone at the end, swept after a crash.

Every temporary name carries the machine's start, the number and the start time of its process, so
that the next run can tell what a dead one has left behind from what a living one still needs. What
another machine or container has put into a shared directory is not touched.
"""

from __future__ import annotations

import os
import platform
import re
import secrets
import shutil
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import gettempdir

from sievert.errors import ExhaustedError, UsageError

NAME = re.compile(r"\.?sievert-([0-9a-f]{8})-(\d+)-(\d+)-[0-9a-f]{16}(\.part)?")


def _here() -> str:
    """This start of this machine, and this container: process numbers mean something only here."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text()
        here = f"{boot}{Path('/proc/self/ns/pid').stat().st_ino}"
    except OSError:
        here = platform.node()
    return f"{zlib.crc32(here.encode()):08x}"


def _start_time(process: int) -> int | None:
    """When a process started, in the kernel's ticks; 0 where that cannot be told, None if dead."""
    try:
        state, *rest = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
        return None if state in "ZX" else int(rest[18])  # dead, but nobody has asked how it ended
    except (OSError, IndexError, ValueError):
        pass
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return None
    except OSError:
        return 0
    return 0


def name() -> str:
    """A temporary name nobody else has, with the process it belongs to."""
    process = os.getpid()
    return f"sievert-{_here()}-{process}-{_start_time(process) or 0}-{secrets.token_hex(8)}"


def sweep(directory: Path) -> None:
    """Remove what processes that are no longer alive have left in a directory."""
    here = _here()
    try:
        entries = list(os.scandir(directory))
    except OSError:
        return
    for entry in entries:
        parts = NAME.fullmatch(entry.name)
        if not parts or parts[1] != here or entry.is_symlink():
            continue
        started = _start_time(int(parts[2]))
        if started is None or (started and int(parts[3]) and started != int(parts[3])):
            try:
                if entry.stat(follow_symlinks=False).st_uid != os.getuid():
                    continue
                if entry.is_dir(follow_symlinks=False):
                    shutil.rmtree(entry.path, ignore_errors=True)
                else:
                    Path(entry.path).unlink(missing_ok=True)
            except OSError:
                continue


@contextmanager
def private_directory(parent: str | os.PathLike[str] | None = None) -> Iterator[Path]:
    """A directory of mode 0700 that is gone when the block ends, however it ends."""
    if parent is not None and not Path(parent).is_dir():
        raise UsageError("--temp is not a directory", hint="an existing directory")
    try:
        place = Path(gettempdir() if parent is None else parent)
        sweep(place)
        path = place / name()
        path.mkdir(mode=0o700)
    except OSError as error:
        raise ExhaustedError(
            f"no temporary directory can be made: {error.strerror}", hint="--temp DIR"
        ) from None
    try:
        yield path.resolve()
    finally:
        shutil.rmtree(path, ignore_errors=True)
