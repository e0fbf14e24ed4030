"""A folder that is whole or as it was: made beside its place, then put there in one step.

A marker in it lists what was made. A folder without the marker, or with a file that the marker
does not list, is somebody else's and stays.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

MARKER = ".sievert-site"


class SiteError(Exception):
    """What keeps the site from being built, in words for its author."""


def replace(out: Path, fill: Callable[[Path], None]) -> None:
    """Fill a new folder and put it in the place of `out`."""
    out = Path(out).absolute()
    check(out)
    out.parent.mkdir(parents=True, exist_ok=True)
    made = Path(tempfile.mkdtemp(prefix=f".{out.name}-", dir=out.parent))
    try:
        fill(made)
        _mark(made)
        made.chmod(0o755)
        _put(made, out)
    finally:
        shutil.rmtree(made, ignore_errors=True)


def check(out: Path) -> None:
    """Refuse a place that holds anything this builder did not make."""
    if out.is_symlink() or (out.exists() and not out.is_dir()):
        raise SiteError(f"{out.name}: not a plain folder")
    found = _files(out) if out.exists() else set()
    if not found:
        return
    if MARKER not in found:
        raise SiteError(f"{out.name}: not empty, and not made by this builder")
    made = set((out / MARKER).read_text(encoding="utf-8").splitlines())
    foreign = sorted(found - made - {MARKER})
    if foreign:
        raise SiteError(f"{out.name}: {foreign[0]} was not made by this builder")


def _files(folder: Path) -> set[str]:
    return {p.relative_to(folder).as_posix() for p in folder.rglob("*") if not p.is_dir()}


def _mark(folder: Path) -> None:
    names = "\n".join(sorted(_files(folder)))
    (folder / MARKER).write_text(names + "\n", encoding="utf-8")


def _put(made: Path, out: Path) -> None:
    """Two renames; if the second one fails, the first is taken back."""
    if not out.exists():
        made.rename(out)
        return
    old = made.with_name(made.name + "-old")
    out.rename(old)
    try:
        made.rename(out)
    except OSError:
        old.rename(out)
        raise
    shutil.rmtree(old)
