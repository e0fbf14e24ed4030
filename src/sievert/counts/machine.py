"""What the machine has: cores, and a compiler for loops if numba is there."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any


def cores(threads: int | None) -> int:
    """How many threads to use."""
    if threads is not None:
        return threads
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 2


def loops(*functions: Callable[..., Any]) -> list[Callable[..., Any]] | None:
    """These compiled, or None without numba or a place to keep compiled code."""
    try:
        from sievert.counts.packed.kernels import compiled

        return [compiled(function) for function in functions]
    except (ImportError, OSError, RuntimeError, ValueError):
        return None
