"""Five papers recomputed: every table and figure that the text determines, beside what is printed.

Each paper has a folder with `paper(given) -> Paper`, and `TAKES`, the names of the tables that it
can be given. `NAMES` are the names of papers on the command line.
"""

from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, get_args

from sievert.errors import InputError, require, unknown
from sievert.papers.settings import PaperName

if TYPE_CHECKING:
    from sievert.papers.claims import Given, Paper

NAMES: tuple[str, ...] = get_args(PaperName)


def recompute(name: str, given: "Given | None" = None) -> "Paper":
    """Recompute one paper now."""
    from sievert.papers.claims import Given

    if name not in NAMES:
        raise unknown("paper", name, NAMES)
    given = given or Given()
    known = takes(name)
    for table, path in given.data.items():  # before any work
        require(
            table in known,
            f"{table!r} is no table that the paper {name} uses",
            hint=", ".join(f"--data {each}=FILE" for each in known),
        )
        require(
            "://" in path or Path(path).exists(),
            f"{Path(path).name}: no such file",
            hint=f"--data {table}=FILE",
            error=InputError,
        )
    paper: Paper = _module(name).paper(given)
    return paper


def takes(name: str) -> tuple[str, ...]:
    """List the names of the tables that a paper can be given."""
    names: tuple[str, ...] = _module(name).TAKES
    return names


def _module(name: str) -> ModuleType:
    return import_module(f"sievert.papers.{name.replace('-', '_')}")
