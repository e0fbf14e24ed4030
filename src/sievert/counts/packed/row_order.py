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
    """Add to `changes` the number of keys that differ from the key before in the bits of a mask."""
    differences = np.empty(BLOCK, dtype=keys.dtype)
    for first in range(1, len(keys), BLOCK):
        size = min(BLOCK, len(keys) - first)
        for i in range(size):
            differences[i] = keys[first + i] ^ keys[first + i - 1]
        for c in range(len(masks)):
            mask = masks[c]
            number = np.int64(0)
            for i in range(size):  # the compiler turns this loop into vector instructions
                if differences[i] & mask:
                    number += 1
            changes[c] += number


class RunCounter:
    """Counts the changes of some columns, batch by batch, in the order of the rows.

    A batch is identified by its start. It may be counted again, and batches may have any order.
    """

    def __init__(self, columns: Iterable[str] = ()) -> None:
        self.columns = frozenset(columns)
        # For each column and batch: its rows, its changes, its first and its last code.
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
            first_code = first >> by & field
            last_code = last >> by & field
            self._batches[name][start] = (len(keys), number, first_code, last_code)

    def runs(self, column: str, records: int) -> int | None:
        """Count the runs of a column in all records; None if not all batches were counted."""
        batches = self._batches.get(column, {})
        expected = 0
        runs = 0
        before = -1
        for start in sorted(batches):
            rows, changes, first, last = batches[start]
            if start != expected:
                return None
            runs += changes
            if first != before:
                runs += 1
            expected = start + rows
            before = last
        return runs if expected == records else None
