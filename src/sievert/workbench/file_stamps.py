"""The files that results are of: when each was changed, and how long it is."""

from pathlib import Path
from typing import TypeAlias

from sievert.workbench.choices import Choices

Stamp: TypeAlias = tuple[int, int] | None  # None where there is no such file


def file_stamps(choices: Choices) -> dict[str, Stamp]:
    """The files that the choices name, with their stamps."""
    paths = {choices.table.partition("?")[0], choices.text("policy", "file")}
    paths |= {*choices.texts("compare", "releases"), *choices.texts("synthetic", "tables")}
    paths.add(choices.text("synthetic", "control"))
    hierarchies = choices.mapping("protect", "hierarchies").values()
    paths |= {text for text in hierarchies if Path(text).is_file()}  # the others are rules
    return {path: file_stamp(path) for path in sorted(filter(None, paths))}


def file_stamp(path: str) -> Stamp:
    """When a file was changed, and how long it is."""
    try:
        status = Path(path).stat()
    except (OSError, ValueError):
        return None
    return status.st_mtime_ns, status.st_size
