"""Modules and names that have another name now: the old one warns, and has the same content."""

import warnings
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def moved(old: str, new: str) -> Callable[[str], Any]:
    """Return the `__getattr__` of the module `old`, which takes every name from `new`."""

    def attribute(name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(f"module {old!r} has no attribute {name!r}")
        value = getattr(import_module(new), name)
        warnings.warn(f"{old} is now {new}", DeprecationWarning, stacklevel=2)
        return value

    return attribute


def renamed(module: str, names: Mapping[str, str]) -> Callable[[str], Any]:
    """Return the `__getattr__` of a `module`, which takes its old names from the new ones.

    `names` has the new name of each old one.
    """

    def attribute(name: str) -> Any:
        if name not in names:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        value = getattr(import_module(module), names[name])
        message = f"{module}.{name} is now {module}.{names[name]}"
        warnings.warn(message, DeprecationWarning, stacklevel=2)
        return value

    return attribute
