"""Modules, names and keys that were replaced: the old one warns, and has the same content."""

import warnings
from collections.abc import Callable, ItemsView, Iterator, KeysView, Mapping, ValuesView
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


class SubscriptedRecord:
    """A record that used to be a mapping: its keys still give their values, and warn."""

    def to_dict(self) -> Mapping[str, Any]:
        """The entries of the JSON."""
        raise NotImplementedError

    def _entries(self) -> Mapping[str, Any]:
        """What the mapping held: the entries of the JSON, unless a record says otherwise."""
        return self.to_dict()

    def _warned(self) -> Mapping[str, Any]:
        """Return the entries, with a warning to the caller that reads them by keys."""
        message = f"{type(self).__name__} has attributes now: read them instead of keys"
        warnings.warn(message, DeprecationWarning, stacklevel=3)
        return self._entries()

    def __getitem__(self, key: str) -> Any:
        return self._warned()[key]

    def __contains__(self, key: object) -> bool:
        return key in self._warned()

    def __iter__(self) -> Iterator[str]:
        return iter(self._warned())

    def get(self, key: str, default: Any = None) -> Any:
        """Return the value of a key; `default` if there is none."""
        return self._warned().get(key, default)

    def keys(self) -> KeysView[str]:
        """Return the keys."""
        return self._warned().keys()

    def values(self) -> ValuesView[Any]:
        """Return the values."""
        return self._warned().values()

    def items(self) -> ItemsView[str, Any]:
        """Return the keys with their values."""
        return self._warned().items()
