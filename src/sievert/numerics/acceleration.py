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
    return jit_with(function)


def jit_with(function: F, **how: Any) -> F:
    """Do the same with further options of numba's `njit`.

    The code has that of all loops that it calls. So it is kept only as long as none of their
    modules changes; numba by itself looks at the module of the function.
    """
    from numba import njit

    compiled = njit(cache=True, nogil=True, **how)(function)
    names = function.__code__.co_names
    called = [_stamp(function.__globals__.get(name)) for name in names]
    own = _stamp(compiled)
    if own is not None:
        compiled._cache._cache_file._source_stamp = (own, *filter(None, called))
    return cast("F", compiled)


def _stamp(compiled: Any) -> Any:
    """What numba compares to see whether kept code is that of its source; None without such."""
    kept = getattr(getattr(compiled, "_cache", None), "_cache_file", None)
    return getattr(kept, "_source_stamp", None)


def jit_if_possible(function: F) -> F:
    """Compile a loop, or leave it as it is where numba is missing."""
    try:
        return jit(function)
    except ImportError:
        return function


def inline_if_possible(function: F) -> F:
    """Compile a small function that makes no arrays; without numba leave it as it is.

    Nobody counts who uses the given arrays: that takes several times as long as a few steps.
    """
    try:
        return jit_with(function, _nrt=False, forceinline=True)
    except ImportError:
        return function


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
