"""Charts as files in one directory: checked before the work, written whole, never over an input."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from sievert import files
from sievert.charts.drawing import Spec
from sievert.charts.svg import MARK, svg
from sievert.errors import ExhaustedError, RefusedError, UsageError


def check(
    folder: Path, names: Iterable[str] = (), *, sources: Iterable[Any] = (), force: bool = False
) -> None:
    """Whether charts can be drawn, and written there: asked before the work, not after it."""
    sources = list(sources)
    if folder.is_symlink():
        raise RefusedError(f"{folder.name} is a symbolic link", hint="a plain directory")
    if folder.exists() and not folder.is_dir():
        _refuse_input([folder], sources)
        raise UsageError(f"{folder.name} is not a directory", hint="--charts DIR")
    if not folder.exists() and not folder.parent.is_dir():
        raise UsageError(f"{folder.name}: the directory it is to be made in does not exist")
    whole = folder.resolve()
    _refuse_input([whole, *whole.parents], sources)
    if folder.is_dir():
        for path in (folder / f"{name}.svg" for name in names):
            files.check(path, sources=sources, force=force or _is_ours(path))


def _refuse_input(places: Iterable[Path], sources: Iterable[Any]) -> None:
    """An input may be a directory: nothing is written into it either."""
    given = [s for s in sources if isinstance(s, str | os.PathLike)]
    for place in places:
        for source in given:
            try:
                same = place.samefile(source)
            except (OSError, ValueError):
                continue
            if same:
                raise RefusedError("the output is the input", hint="another directory")


def write(
    folder: Path, specs: Mapping[str, Spec], *, sources: Iterable[Any] = (), force: bool = False
) -> list[Path]:
    """Draw and write every chart; returns the files. Nothing is written if one may not be."""
    sources = list(sources)
    check(folder, specs, sources=sources, force=force)
    drawn = {folder / f"{name}.svg": svg(spec) for name, spec in specs.items()}
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise ExhaustedError(f"{folder.name} cannot be made: {error.strerror}") from None
    for path, text in drawn.items():
        files.write_text(path, text, sources=sources, force=force or _is_ours(path))
    return list(drawn)


def _is_ours(path: Path) -> bool:
    """Whether sievert has drawn this file: it may then be replaced without --force."""
    if path.is_symlink() or not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(len(MARK)) == MARK.encode()
