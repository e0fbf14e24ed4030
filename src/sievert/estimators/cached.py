"""A property that is computed at its first use and then cached."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    cached_value = cached_property
else:

    class cached_value:  # noqa: N801
        """As `functools.cached_property`, which before Python 3.12 has one lock for all objects."""

        def __init__(self, function: Callable[[Any], Any]) -> None:
            self.function, self.__doc__ = function, function.__doc__

        def __get__(self, instance: Any, owner: Any = None) -> Any:
            if instance is None:
                return self
            value = instance.__dict__[self.function.__name__] = self.function(instance)
            return value
