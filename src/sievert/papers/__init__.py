"""Five papers recomputed: every table and figure that the text determines, beside what is printed.

One folder a paper; each has `paper(given) -> Paper`, and `TAKES`, the names of the tables it can
be given. `NAMES` are those of the command line.
"""

from importlib import import_module
from pathlib import Path
from types import ModuleType

from sievert.errors import InputError, require, unknown
from sievert.papers.claims import Given, Paper

NAMES = (
    "itpr",
    "discrimination-rate",
    "mutual-information",
    "relative-risk",
    "approximate-compromise",
)


def recompute(name: str, given: Given | None = None) -> Paper:
    """One paper, recomputed now."""
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
    """The names of the tables that a paper can be given."""
    names: tuple[str, ...] = _module(name).TAKES
    return names


def _module(name: str) -> ModuleType:
    return import_module(f"sievert.papers.{name.replace('-', '_')}")
