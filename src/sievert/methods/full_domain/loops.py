"""The loops of a search: those of NumPy at first, then compiled ones.

To load compiled loops takes as long as NumPy takes for a short search.
"""

from typing import Any

from sievert.methods.full_domain import plain
from sievert.methods.full_domain.nodes import Tables

CALLS = 5_000  # cells that NumPy scans while the functions for one node are called
MOST_TALLIES = 10**6  # counts of values in classes that NumPy holds at a time
MOST_VALUES = 512  # of a secret with rules: NumPy takes them one after the other


class Loops:
    """The loops that are used now; which ones follows from the cells that were scanned before."""

    def __init__(self, uncompiled: int, tallies: int, values: int = 0) -> None:
        """Scan `uncompiled` cells with NumPy; none for many `tallies`, or `values` with rules."""
        few = tallies <= MOST_TALLIES and values <= MOST_VALUES
        self._left = uncompiled if few else 0
        self.kernels: Any = plain if self._left else _compiled()

    def count(self, tables: Tables) -> int:
        """The cells of some tables, which are going to be scanned."""
        cells = sum(len(keys) for keys, _ in tables)
        if self._left > 0:
            self._left -= cells + CALLS
            self.kernels = plain if self._left > 0 else _compiled()
        return cells


def _compiled() -> Any:
    """The compiled loops, or those of NumPy where numba is missing."""
    try:
        from sievert.methods.full_domain import kernels
    except ImportError:
        return plain
    return kernels
