"""The files that results are of: when each was changed, and how long it is."""

from pathlib import Path
from typing import TypeAlias

from sievert.workbench.choices import Choices

Stamp: TypeAlias = tuple[int, int] | None  # None where there is no such file


def file_stamps(choices: Choices) -> dict[str, Stamp]:
    """The files that the choices name, with their stamps."""
    paths = {choices.table.partition("?")[0], choices.text("policy", "file")}
    paths |= {*choices.texts("compare", "releases"), *choices.texts("synthetic", "tables")}
    paths |= {choices.text("synthetic", "control"), *hierarchy_files(choices)}
    return {path: _stamp(path) for path in sorted(filter(None, paths))}


def hierarchy_files(choices: Choices) -> list[str]:
    """The files among the hierarchies that were chosen; the others are rules."""
    given = choices.mapping("protect", "hierarchies").values()
    return sorted(text for text in given if Path(text).is_file())


def _stamp(path: str) -> Stamp:
    try:
        status = Path(path).stat()
    except (OSError, ValueError):
        return None
    return status.st_mtime_ns, status.st_size
