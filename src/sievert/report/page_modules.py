"""The page of each command, which stands in the command's own folder."""

from importlib import import_module
from types import ModuleType


def page_module(kind: str) -> ModuleType:
    """Import the page of a command: the module that makes its blocks, points and facts."""
    return import_module(f"sievert.commands.{kind}.page")
