"""Counting a state by packed keys: the keys of its rows are sorted, and their weights added up."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from sievert.arrays import Ints
from sievert.counts.cells import CellTables
from sievert.counts.cube import run_starts
from sievert.counts.packed import kernels
from sievert.counts.packed.coding import CodedColumn, UnfitError
from sievert.counts.packed.keys import (
    KEY_BYTES,
    Counted,
    KeyCounter,
    KeyCounts,
    KeyLayout,
    cut_levels,
)
from sievert.counts.packed.records import PackedRecords
from sievert.counts.packed.sources import CodedSource
from sievert.sources.state_manifest import StateManifest


class WeightedKeyCounter(KeyCounter):
    """Counts the keys of rows that represent several records each."""

    def __init__(self, weights: Ints, *source: Any) -> None:
        super().__init__(*source)
        self.weights = weights

    def count(self, quasi: Sequence[str], secrets: Sequence[str]) -> Counted:
        """The keys of the classes with each secret."""
        coded = self._source.code((*quasi, *secrets), self._room, self._threads, self._pace)
        known = coded[: len(quasi)]
        others = coded[len(quasi) :]
        if len(others) < 2:
            return self._count_one(known, next(iter(others), None))
        return {secret.name: self._count_one(known, secret) for secret in others}

    def _count_one(self, quasi: list[CodedColumn], secret: CodedColumn | None) -> KeyCounts:
        rows = self._source.records
        levels = cut_levels([*quasi, *([] if secret is None else [secret])], rows)
        if (KEY_BYTES + 8 * len(levels)) * rows > self._room:
            raise UnfitError
        ranked = list[Ints]()
        keys = np.zeros(0, dtype=np.uint64)
        for number, level in enumerate(levels):
            own = np.zeros(rows, dtype=np.uint64)
            for batch in self._source.batches():
                self._pace.step()
                batch.pack(level, own[batch.start : batch.start + batch.records])
            if number:
                classes, different = kernels.rank_keys(keys)
                ranked.append(different)
                own |= classes.astype(np.uint64) << np.uint64(sum(c.bits for c in level))
            keys = own
        order = np.argsort(keys, kind="stable")
        keys = keys[order]
        starts = run_starts(keys)
        counts = np.add.reduceat(self.weights[order], starts)
        layout = KeyLayout(levels, tuple(ranked))
        return KeyCounts(keys[starts], counts, layout if secret is None else layout.with_secret())


def pack_state(tables: CellTables, state: StateManifest, room: int, threads: int) -> PackedRecords:
    """The rows of a state as packed keys with weights."""
    engine = tables.engine
    (weights,) = engine.arrays("SELECT w FROM input")
    weights = np.asarray(weights, dtype=np.int64)
    source = CodedSource(engine.read_arrow, state.kept, len(weights))
    return PackedRecords(
        tables, source, room, threads, counter=partial(WeightedKeyCounter, weights)
    )
