"""What makes large tables fast: threads, and loops compiled by numba."""

from collections.abc import Callable
from functools import cache
from typing import Any, TypeVar, cast

from sievert.errors import UsageError
from sievert.numerics import machine

F = TypeVar("F", bound=Callable[..., Any])


def thread_count(threads: int | None) -> int:
    """How many threads to use: as many as wanted, or one for each core of this process."""
    return machine.core_count() if threads is None else threads


def jit(function: F) -> F:
    """Compile a loop once; its code is kept beside the source and runs without the GIL."""
    from numba import njit

    return cast("F", njit(cache=True, nogil=True)(function))


def jit_only(function: F) -> F:
    """Compile a loop that is of no use uncompiled; without numba, to call it is an error."""
    try:
        return jit(function)
    except ImportError:

        def refuse(*_: Any) -> Any:
            raise UsageError(
                "comparing all pairs of people and rows needs the package numba",
                hint="pip install 'sievert[fast]'",
            )

        return cast("F", refuse)
    except RuntimeError:  # no place to keep it: compiled anew in every process
        from numba import njit

        return cast("F", njit(nogil=True)(function))


@cache
def compile_loops(*functions: Callable[..., Any]) -> tuple[Callable[..., Any], ...] | None:
    """These functions compiled; None without numba or a place to keep compiled code."""
    try:
        jit(thread_count)  # asks for numba and the place even where no function is given
        return tuple(jit(function) for function in functions)
    except (ImportError, OSError, RuntimeError, ValueError):
        return None
