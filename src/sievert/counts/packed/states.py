"""A state counted by packed keys: the keys of its rows are sorted, and their weights added up."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from sievert.arrays import Ints
from sievert.counts.cube import run_starts
from sievert.counts.packed import kernels
from sievert.counts.packed.adapter import PackedQuestions
from sievert.counts.packed.coding import CodedColumn, UnfitError
from sievert.counts.packed.keys import (
    KEY_BYTES,
    Counted,
    KeyCounter,
    KeyCounts,
    KeyLayout,
    cut_levels,
)
from sievert.counts.packed.sources import CodedSource
from sievert.counts.state.questions import StateQuestions
from sievert.sources.state_manifest import StateManifest


class WeightedKeyCounter(KeyCounter):
    """Counts keys of rows that stand for several records each."""

    weights: Ints

    def count(self, quasi: Sequence[str], secrets: Sequence[str]) -> Counted:
        """The keys of the classes with each secret."""
        coded = self._source.code((*quasi, *secrets), self._room, self._threads, self._pace)
        known, others = coded[: len(quasi)], coded[len(quasi) :]
        if len(others) < 2:
            return self._count_one(known, next(iter(others), None))
        return {secret.name: self._count_one(known, secret) for secret in others}

    def _count_one(self, quasi: list[CodedColumn], secret: CodedColumn | None) -> KeyCounts:
        rows = self._source.records
        levels = cut_levels([*quasi, *([] if secret is None else [secret])], rows)
        if (KEY_BYTES + 8 * len(levels)) * rows > self._room:
            raise UnfitError
        ranked, keys = list[Ints](), np.zeros(0, dtype=np.uint64)
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


class PackedStateQuestions(StateQuestions, PackedQuestions):
    """Questions about a large state of plain columns."""

    def __init__(self, engine: Any, state: StateManifest, room: int, threads: int) -> None:
        self.state = state
        (weights,) = engine.arrays("SELECT w FROM input")
        weights = np.asarray(weights, dtype=np.int64)
        source = CodedSource(engine.read_arrow, state.kept, len(weights))
        PackedQuestions.__init__(self, engine, state.records, source, room, threads)
        self._counter = WeightedKeyCounter(source, room, threads, self._pace)
        self._counter.weights = weights

    @property
    def _whole(self) -> bool:
        """Whether all records are counted but those suppressed."""
        return self._input == self._released and not self.wide
