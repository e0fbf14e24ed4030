"""What the machine has for large tables: memory, threads, and loops compiled by numba."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from functools import cache
from typing import Any, TypeVar, cast

F = TypeVar("F", bound=Callable[..., Any])


def thread_count(threads: int | None) -> int:
    """How many threads to use: as many as wanted, or one for each core of this process."""
    if threads is not None:
        return threads
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 2


def physical_memory() -> int:
    """The bytes of memory of this machine."""
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def jit(function: F) -> F:
    """Compile a loop once; its code is kept beside the source and runs without the GIL."""
    from numba import njit

    return cast("F", njit(cache=True, nogil=True)(function))


@cache
def compile_loops(*functions: Callable[..., Any]) -> tuple[Callable[..., Any], ...] | None:
    """These functions compiled; None without numba or a place to keep compiled code."""
    try:
        jit(thread_count)  # asks for numba and the place even where no function is given
        return tuple(jit(function) for function in functions)
    except (ImportError, OSError, RuntimeError, ValueError):
        return None


def peak_memory() -> int:
    """The most bytes this process has held at once so far; 0 where that cannot be told."""
    try:
        import resource
    except ImportError:
        return 0
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else 1024 * most
