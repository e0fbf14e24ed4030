"""The different keys of a table, and how many records have each: counted by several threads."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from sievert.arrays import Ints
from sievert.counts.cube import run_starts
from sievert.counts.packed import kernels
from sievert.counts.packed.codes import (
    MOST_BITS,
    CodedColumn,
    GrownError,
    RecordBatch,
    Source,
    UnfitError,
)
from sievert.errors import ExhaustedError

DENSE = 24  # bits of a key up to which keys are counted into an array
SPARSE = 8  # places per record, beyond which keys are sorted instead
FEW = 1 << 16  # places that are always worth it


class Pace:
    """How far a count has come, and whether it is to stop."""

    def __init__(self) -> None:
        self.stopped = threading.Event()
        self._done = self._all = 0

    def start(self, batches: list[RecordBatch]) -> list[RecordBatch]:
        """These batches are to be read."""
        self._done, self._all = 0, len(batches)
        return batches

    def step(self) -> None:
        """One batch is read; an error if that was enough."""
        self._done += 1
        if self.stopped.is_set():
            raise ExhaustedError("stopped before the answer was there", hint="a longer --timeout")

    @property
    def share(self) -> float:
        """Per cent of the batches that are read, or -1."""
        return 100.0 * self._done / self._all if 0 < self._done < self._all else -1.0


def count(
    source: Source, coded: Sequence[CodedColumn], room: int, threads: int, pace: Pace
) -> tuple[Ints, Ints]:
    """The different keys in ascending order, and how many records have each."""
    while True:
        bits = sum(c.bits for c in coded)
        dense = bits <= DENSE and 1 << bits <= max(FEW, SPARSE * source.records)
        if bits > MOST_BITS or (not dense and 32 * source.records > room):
            raise UnfitError
        try:
            return (_count_dense if dense else _count_sorted)(source, coded, bits, threads, pace)
        except GrownError:
            for column in coded:
                if len(column.texts) >= 1 << column.bits:
                    column.bits = (4 * len(column.texts)).bit_length()


def _count_dense(
    source: Source, coded: Sequence[CodedColumn], bits: int, threads: int, pace: Pace
) -> tuple[Ints, Ints]:
    """Keys counted into one array per thread."""

    def work(batches: list[RecordBatch]) -> Ints:
        counts = np.zeros(1 << bits, dtype=np.int64)
        for batch in batches:
            pace.step()
            keys = np.empty(batch.records, dtype=np.uint32)
            batch.pack(coded, keys)
            kernels.add_to(counts, keys)
        return counts

    batches = pace.start(source.batches())
    counts, *others = map_threads(
        work, (batches[i::threads] for i in range(threads)), threads, pace
    )
    for other in others:
        counts += other
    if int(counts.sum()) != source.records:
        raise UnfitError  # not what the writer has noted
    present = np.flatnonzero(counts)
    return present.astype(np.uint64), counts[present]


def _count_sorted(
    source: Source, coded: Sequence[CodedColumn], _: int, threads: int, pace: Pace
) -> tuple[Ints, Ints]:
    """Keys of all records, sorted by two threads and cut into runs."""
    keys, half = np.empty(source.records, dtype=np.uint64), source.records // 2

    def fill(batch: RecordBatch) -> None:
        pace.step()
        batch.pack(coded, keys[batch.start : batch.start + batch.records])

    map_threads(fill, pace.start(source.batches()), threads, pace)
    keys.partition(half)
    map_threads(np.ndarray.sort, (keys[:half], keys[half:]), threads)
    starts = run_starts(keys)
    return keys[starts], np.diff(starts, append=len(keys))


def map_threads(
    work: Callable[[Any], Any], items: Iterable[Any], threads: int, pace: Pace | None = None
) -> list[Any]:
    """The work on every item, so many at a time; what fails in one, stops all."""
    with ThreadPoolExecutor(threads) as pool:
        try:
            return list(pool.map(work, items))
        except BaseException as error:
            if pace is not None and not isinstance(error, GrownError | UnfitError):
                pace.stopped.set()
            pool.shutdown(wait=True, cancel_futures=True)
            raise
