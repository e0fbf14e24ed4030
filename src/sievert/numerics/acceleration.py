"""Threads, and loops compiled by numba, for large tables."""

from collections.abc import Callable
from functools import cache
from typing import Any, TypeVar, cast

from sievert.errors import UsageError
from sievert.numerics import machine

F = TypeVar("F", bound=Callable[..., Any])


def thread_count(threads: int | None) -> int:
    """The number of threads to use: `threads`, or one for each core of this process."""
    return machine.core_count() if threads is None else threads


def jit(function: F) -> F:
    """Compile a loop that runs without the GIL; the compiled code is cached beside the source."""
    from numba import njit

    return cast("F", njit(cache=True, nogil=True)(function))


def jit_only(function: F) -> F:
    """Compile a loop that is useless uncompiled; without numba, a call of it is an error."""
    try:
        return jit(function)
    except ImportError:

        def refuse(*_: Any) -> Any:
            raise UsageError(
                "comparing all pairs of people and rows needs the package numba",
                hint="pip install 'sievert[fast]'",
            )

        return cast("F", refuse)
    except RuntimeError:  # no place for a cache: compiled anew in every process
        from numba import njit

        return cast("F", njit(nogil=True)(function))


@cache
def compile_loops(*functions: Callable[..., Any]) -> tuple[Callable[..., Any], ...] | None:
    """Compile some functions; None without numba or a place for its cache."""
    try:
        jit(thread_count)  # needs numba and the cache even if no function is given
        return tuple(jit(function) for function in functions)
    except (ImportError, OSError, RuntimeError, ValueError):
        return None
