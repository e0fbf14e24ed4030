"""Runs of columns in the order of the rows, from the keys that are packed for counting.

Two neighbours have the same value of a column if their keys have the same bits there. So runs are
counted beside the counting of keys, while a batch of keys is at hand.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from sievert.arrays import Ints
from sievert.counts.packed.coding import CodedColumn
from sievert.numerics.acceleration import jit

BLOCK = 2048  # keys that stay in the fastest memory while all columns are looked at


@jit
def count_changes(keys: Ints, masks: Ints, changes: Ints) -> None:
    """Add to `changes` how many keys differ from the one before in the bits of each mask."""
    differences = np.empty(BLOCK, dtype=keys.dtype)
    for first in range(1, len(keys), BLOCK):
        size = min(BLOCK, len(keys) - first)
        for i in range(size):
            differences[i] = keys[first + i] ^ keys[first + i - 1]
        for c in range(len(masks)):
            mask = masks[c]
            number = np.int64(0)
            for i in range(size):  # the compiler makes vectors of this loop as it stands
                if differences[i] & mask:
                    number += 1
            changes[c] += number


class RunCounter:
    """Counts the changes of some columns, batch by batch, in the order of the rows.

    A batch is known by where it begins. It may be counted again, and batches may come in any order.
    """

    def __init__(self, columns: Iterable[str] = ()) -> None:
        self.columns = frozenset(columns)
        # Of each column by batch: its rows, its changes, its first and its last code.
        self._batches: dict[str, dict[int, tuple[int, int, int, int]]] = {
            column: {} for column in self.columns
        }

    def wants(self, start: int, columns: Sequence[CodedColumn]) -> bool:
        """Whether some of these columns were not counted in a batch."""
        return any(c.name in self.columns and start not in self._batches[c.name] for c in columns)

    def add(self, start: int, keys: Ints, columns: Sequence[CodedColumn], low: int = 0) -> None:
        """Count a batch whose keys have these columns side by side above the `low` lowest bits."""
        if not len(keys) or not self.wants(start, columns):
            return
        kind: Any = keys.dtype.type
        names = list[str]()
        shifts = list[int]()
        fields = list[int]()
        shift = low
        for column in reversed(columns):
            if column.name in self.columns and start not in self._batches[column.name]:
                names.append(column.name)
                shifts.append(shift)
                fields.append((1 << column.bits) - 1)
            shift += column.bits
        masks = np.array(
            [field << by for field, by in zip(fields, shifts, strict=True)], dtype=kind
        )
        changes = np.zeros(len(masks), dtype=np.int64)
        count_changes(keys, masks, changes)
        first = int(keys[0])
        last = int(keys[-1])
        for name, by, field, number in zip(names, shifts, fields, changes.tolist(), strict=True):
            codes = first >> by & field, last >> by & field
            self._batches[name][start] = (len(keys), number, *codes)

    def runs(self, column: str, records: int) -> int | None:
        """How many runs a column has in all records; None where not all were counted."""
        batches = self._batches.get(column, {})
        expected = 0
        runs = 0
        before = -1
        for start in sorted(batches):
            rows, changes, first, last = batches[start]
            if start != expected:
                return None
            runs += changes + (first != before)
            expected = start + rows
            before = last
        return runs if expected == records else None
