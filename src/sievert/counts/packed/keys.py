"""Packed keys: the codes of a record's values side by side, and the number of records per key.

A key has the secret in its lowest bits and the class above them. A class with more columns than fit
into 62 bits is packed in levels: the keys of the first columns are replaced by their ranks, which
stand above the columns that follow.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sievert.arrays import Bools, Ints
from sievert.counts.cube import MOST_BITS
from sievert.counts.packed import kernels
from sievert.counts.packed.blocks import KeyBlock, Run, cut_blocks, merge_runs
from sievert.counts.packed.coding import CodedColumn, GrownError, UnfitError
from sievert.counts.packed.row_order import RunCounter
from sievert.counts.packed.sorting import count_sorted
from sievert.counts.packed.sources import RecordBatch, Source
from sievert.counts.packed.threads import WORTH_THREADS, Pace, map_threads

DENSE = 24  # bits of keys up to which keys are counted in an array
SPARSE = 8  # places of that array per record, beyond which keys are sorted instead
FEW = 1 << 16  # places that are always affordable
KEY_BYTES = 40  # of a record, while keys are ranked, or sorted with their weights
SORT_BYTES = 16  # of a record, while keys are sorted and counted
CELL_BYTES = 72  # of a cell, while answers are made of all cells at once
# Shares of the room: chunks being sorted, counted keys, and blocks of these that are open.
CHUNK = 0.4
COUNTED = 0.5
OPEN = 0.1


@dataclass(frozen=True)
class KeyLayout:
    """Where the columns are in a key: the secret in its `low` lowest bits, the class above them.

    Each level of a class has some columns. `ranked[i]` has the keys of level i by their rank, which
    stands above the columns of level i + 1; the keys of the last level are the classes.
    """

    levels: tuple[tuple[CodedColumn, ...], ...]
    ranked: tuple[Ints, ...] = ()
    secret: CodedColumn | None = None
    low: int = 0

    @property
    def quasi(self) -> list[CodedColumn]:
        """The columns of a class in their order."""
        return [column for level in self.levels for column in level]

    @property
    def columns(self) -> list[CodedColumn]:
        """The columns of a class, and the secret."""
        return [*self.quasi, *([] if self.secret is None else [self.secret])]

    def without_secret(self) -> KeyLayout:
        """The layout of the classes alone."""
        return replace(self, secret=None, low=0)

    def with_secret(self) -> KeyLayout:
        """The layout of the same keys if the lowest column of the class is the secret."""
        *quasi, secret = self.levels[-1]
        levels = (*self.levels[:-1], tuple(quasi))
        return replace(self, levels=levels, secret=secret, low=secret.bits)

    def fields(self, classes: Ints) -> dict[str, tuple[Ints, int]]:
        """For each column the keys that contain it, and its lowest bit there."""
        places: dict[str, tuple[Ints, int]] = {}
        for number in reversed(range(len(self.levels))):
            shift = 0
            for column in reversed(self.levels[number]):
                places[column.name] = (classes, shift)
                shift += column.bits
            if number:
                classes = self.ranked[number - 1][classes >> np.uint64(shift)]
        return places


@dataclass(frozen=True)
class KeyCounts:
    """The different keys in ascending order, and the number of records with each."""

    keys: Ints
    counts: Ints
    layout: KeyLayout

    def fields(self) -> dict[str, tuple[Ints, int]]:
        """For each column the keys that it is in, and its lowest bit there."""
        secret = self.layout.secret
        places = self.layout.fields(self.keys >> np.uint64(self.layout.low))
        return places if secret is None else {**places, secret.name: (self.keys, 0)}

    def filter(self, keep: Callable[[KeyCounts], Bools]) -> KeyCounts:
        """Only the keys for which `keep` is true."""
        kept = keep(self)
        return replace(self, keys=self.keys[kept], counts=self.counts[kept])

    def join(self, room: int) -> KeyCounts:
        """All keys at once: these."""
        return self


@dataclass(frozen=True)
class KeyBlocks:
    """The different keys in blocks, if there is no room for all of them at once."""

    blocks: Run
    layout: KeyLayout

    def __len__(self) -> int:
        """The number of different keys."""
        return sum(len(block.counts) for block in self.blocks)

    def open(self, block: KeyBlock) -> KeyCounts:
        """The keys of one block."""
        return KeyCounts(*block.open(), self.layout)

    def filter(self, keep: Callable[[KeyCounts], Bools]) -> KeyBlocks:
        """Only the keys for which `keep` is true."""
        parts = (self.open(block).filter(keep) for block in self.blocks)
        blocks = [KeyBlock.from_arrays(p.keys, p.counts) for p in parts if len(p.keys)]
        return KeyBlocks(blocks, self.layout)

    def join(self, room: int) -> KeyCounts:
        """All keys at once, if there is room for them and for the answers."""
        if CELL_BYTES * len(self) > room:
            raise UnfitError
        keys = np.empty(len(self), dtype=np.uint64)
        counts = np.empty(len(self), dtype=np.int64)
        at = 0
        for block in self.blocks:
            end = at + len(block.counts)
            keys[at:end], counts[at:end] = block.open()
            at = end
        return KeyCounts(keys, counts, self.layout)


class CodedRecords:
    """The class of every record and the codes of several secrets, read in one pass."""

    def __init__(
        self,
        layout: KeyLayout,
        classes: Ints,
        codes: dict[str, tuple[CodedColumn, Ints]],
        threads: int,
    ) -> None:
        self.layout = layout
        self._classes = classes
        self._codes = codes
        self._threads = threads

    def __getitem__(self, name: str) -> KeyCounts:
        """The keys of one secret, counted in an array or by sorting."""
        secret, codes = self._codes[name]
        low = secret.bits
        size = len(self.layout.ranked[-1]) << low
        keys = (self._classes.astype(np.uint64) << np.uint64(low)) | codes
        if size <= max(FEW, 2 * len(keys)):
            counts = np.zeros(size, dtype=np.int64)
            kernels.add_to(counts, keys)
            present = np.flatnonzero(counts)
            pair = (present.astype(np.uint64), counts[present])
        else:
            pair = _sort_keys(keys, size.bit_length(), self._threads)
        return KeyCounts(*pair, replace(self.layout, secret=secret, low=low))


class SeparateSecrets:
    """Several secrets without room for all of them together: each is counted when needed."""

    def __init__(self, counter: KeyCounter, quasi: Sequence[CodedColumn]) -> None:
        self._counter = counter
        self._quasi = [column.name for column in quasi]

    def __getitem__(self, name: str) -> KeyCounts | KeyBlocks:
        """The keys of one secret, in a pass of its own."""
        counted = self._counter.count(self._quasi, [name])
        assert isinstance(counted, KeyCounts | KeyBlocks)
        return counted


Counted = KeyCounts | KeyBlocks | dict[str, KeyCounts] | CodedRecords | SeparateSecrets


class KeyCounter:
    """Counts the keys of some columns of a source, in one pass over its records."""

    def __init__(self, source: Source, room: int, threads: int, pace: Pace) -> None:
        self._source = source
        self._room = room
        self._threads = threads
        self._pace = pace
        self.runs = RunCounter()

    def count(self, quasi: Sequence[str], secrets: Sequence[str]) -> Counted:
        """The keys of the classes with each secret; the codes of all records if keys are large."""
        coded = self._source.code((*quasi, *secrets), self._room, self._threads, self._pace)
        while True:
            try:
                return self._count(coded[: len(quasi)], coded[len(quasi) :])
            except GrownError:
                for column in coded:
                    column.grow()

    def _count(self, quasi: list[CodedColumn], secrets: list[CodedColumn]) -> Counted:
        low = max((c.bits for c in secrets), default=0)
        bits = low + sum(c.bits for c in quasi)
        places = max(1, len(secrets)) << bits if bits <= DENSE else 0
        if 0 < places <= min(1 << DENSE, max(FEW, SPARSE * self._source.records)):
            counts = self._count_dense(quasi, secrets, low, bits)
            layout = KeyLayout((tuple(quasi),))
            several = {
                secret.name: KeyCounts(*pair, replace(layout, secret=secret, low=low))
                for secret, pair in zip(secrets, counts, strict=False)
            }
            if len(several) > 1:
                return several
            return next(iter(several.values()), KeyCounts(*counts[0], layout))
        return self._read(quasi, secrets)

    def _count_dense(
        self, quasi: list[CodedColumn], secrets: list[CodedColumn], low: int, bits: int
    ) -> list[tuple[Ints, Ints]]:
        """Count keys of `bits` bits in one array for each secret and thread."""

        def work(batches: list[RecordBatch]) -> list[Ints]:
            counts = [np.zeros(1 << bits, dtype=np.int64) for _ in secrets or (None,)]
            for batch in batches:
                self._pace.step()
                # Zeros take no memory until they are written: a file may boast of its records.
                keys = np.zeros(batch.records, dtype=np.uint32)
                batch.pack(quasi, keys, low)
                self.runs.add(batch.start, keys, quasi, low)
                for number, own in enumerate(counts):
                    mine = keys if number == len(counts) - 1 else keys.copy()
                    secret = secrets[number : number + 1]
                    batch.pack(secret, mine)
                    self.runs.add(batch.start, mine, secret)
                    kernels.add_to(own, mine)
            return counts

        batches = self._pace.start(self._source.batches())
        shares = [batches[i :: self._threads] for i in range(self._threads)]
        counts, *others = map_threads(work, [s for s in shares if s], self._threads, self._pace)
        results = []
        for number, own in enumerate(counts):
            for other in others:
                own += other[number]
            if int(own.sum()) != self._source.records:
                raise UnfitError  # not what the writer has noted
            present = np.flatnonzero(own)
            results.append((present.astype(np.uint64), own[present]))
        return results

    def _read(self, quasi: list[CodedColumn], secrets: list[CodedColumn]) -> Counted:
        """Count the keys of all records: sorted with one secret, or classes beside several."""
        records = self._source.records
        one = len(secrets) <= 1
        levels = cut_levels([*quasi, *secrets] if one else quasi, records)
        if one and len(levels) == 1:
            return self._read_chunks(quasi, secrets)
        beside = [] if one else secrets
        kinds = {c.name: np.min_scalar_type((1 << c.bits) - 1) for c in beside}
        size = KEY_BYTES if one else CELL_BYTES
        size += 8 * (len(levels) - 1) + sum(kind.itemsize for kind in kinds.values())
        if size * records > self._room or any(c.bits > 32 for c in beside):
            if one:
                raise UnfitError
            return SeparateSecrets(self, quasi)
        keys = [np.zeros(records, dtype=np.uint64) for _ in levels]
        codes = {name: np.zeros(records, dtype=kind) for name, kind in kinds.items()}

        def fill(batch: RecordBatch) -> None:
            self._pace.step()
            part = slice(batch.start, batch.start + batch.records)
            for level, own in zip(levels, keys, strict=True):
                batch.pack(level, own[part])
                self.runs.add(batch.start, own[part], level)
            for column in beside:
                own = np.zeros(batch.records, dtype=np.uint32)
                batch.pack([column], own)
                self.runs.add(batch.start, own, [column])
                codes[column.name][part] = own

        map_threads(fill, self._pace.start(self._source.batches()), self._threads, self._pace)
        ranked = list[Ints]()
        above = keys[0]
        bits = sum(c.bits for c in levels[0])
        for level, own in zip(levels[1:], keys[1:], strict=True):
            classes, different = kernels.rank_keys(above)
            ranked.append(different)
            low = sum(c.bits for c in level)
            above = own | (classes.astype(np.uint64) << np.uint64(low))
            bits = low + len(different).bit_length()
        if not one:
            classes, different = kernels.rank_keys(above)
            layout = KeyLayout((*levels, ()), (*ranked, different))
            pairs = {c.name: (c, codes[c.name]) for c in beside}
            return CodedRecords(layout, classes, pairs, self._threads)
        layout = KeyLayout(levels, tuple(ranked))
        layout = layout.with_secret() if secrets else layout
        pair = _sort_keys(above, bits, self._threads)
        if CELL_BYTES * len(pair[0]) <= self._room:
            return KeyCounts(*pair, layout)
        blocks = cut_blocks(*pair, layout.low, self._block_size, self._threads)
        return KeyBlocks(blocks, layout)

    def _read_chunks(
        self, quasi: list[CodedColumn], secrets: list[CodedColumn]
    ) -> KeyCounts | KeyBlocks:
        """Count keys chunk by chunk; a chunk has as many records as there is room to sort."""
        columns = [*quasi, *secrets]
        low = sum(c.bits for c in secrets)
        bits = sum(c.bits for c in columns)
        size = self._block_size
        layout = KeyLayout(
            levels=(tuple(quasi),), ranked=(), secret=secrets[0] if secrets else None, low=low
        )
        runs = list[Run]()
        chunks = self._chunks()
        most = max((sum(b.records for b in chunk) for chunk in chunks), default=0)
        buffer = np.zeros(most, dtype=np.uint64)
        room = np.empty_like(buffer)
        for number, chunk in enumerate(chunks):
            keys = buffer[: sum(batch.records for batch in chunk)]
            if number:
                keys[:] = 0
            self._fill(keys, chunk, columns)
            threads = self._threads if len(keys) > WORTH_THREADS else 1
            counted = count_sorted(keys, bits, threads, room[: len(keys)])
            if len(chunks) == 1 and CELL_BYTES * len(counted[0]) <= self._room:
                return KeyCounts(*_shrink(*counted, len(keys)), layout)
            runs.append(cut_blocks(*counted, low, -(-size // 4), self._threads))  # parts of them
            if sum(block.bytes for run in runs for block in run) > COUNTED * self._room:
                runs = [merge_runs(runs, low, size, self._threads)]
                if sum(block.bytes for block in runs[0]) > COUNTED * self._room:
                    raise UnfitError
        del buffer, room, keys, counted
        blocks = merge_runs(runs, low, size, self._threads) if len(runs) > 1 else runs[0]
        together = KeyBlocks(blocks, layout)
        fits = CELL_BYTES * len(together) <= self._room
        return together.join(self._room) if fits else together

    @property
    def _block_size(self) -> int:
        """The number of cells of a block, if every thread opens one."""
        return max(1, int(OPEN * self._room) // (CELL_BYTES * self._threads))

    def _chunks(self) -> list[list[RecordBatch]]:
        """Group the batches in order: each chunk has as many as there is room to sort."""
        batches = self._pace.start(self._source.batches())
        most = max(1, int(CHUNK * self._room) // SORT_BYTES)
        if any(batch.records > 1.5 * most for batch in batches):
            raise UnfitError
        chunks = [list[RecordBatch]()]
        records = 0
        for batch in batches:
            if chunks[-1] and records + batch.records > most:
                chunks.append([])
                records = 0
            chunks[-1].append(batch)
            records += batch.records
        return chunks

    def _fill(self, keys: Ints, batches: Sequence[RecordBatch], columns: list[CodedColumn]) -> None:
        """Pack the keys of some batches; the keys are 0 before."""
        first = batches[0].start if batches else 0

        def fill(batch: RecordBatch) -> None:
            self._pace.step()
            at = batch.start - first
            batch.pack(columns, keys[at : at + batch.records])
            self.runs.add(batch.start, keys[at : at + batch.records], columns)

        map_threads(fill, batches, self._threads, self._pace)


def cut_levels(columns: Sequence[CodedColumn], records: int) -> tuple[tuple[CodedColumn, ...], ...]:
    """Cut columns into levels; each level has room for the rank of the level before."""
    levels: list[list[CodedColumn]] = [[]]
    used = 0
    rank = records.bit_length()
    for column in columns:
        if levels[-1] and used + column.bits > MOST_BITS:
            levels.append([])
            used = rank
        if used + column.bits > MOST_BITS:
            raise UnfitError
        levels[-1].append(column)
        used += column.bits
    return tuple(tuple(level) for level in levels)


def _sort_keys(keys: Ints, bits: int, threads: int) -> tuple[Ints, Ints]:
    """The different keys in ascending order, and how often each occurs; the keys are used up."""
    threads = threads if len(keys) > WORTH_THREADS else 1
    return _shrink(*count_sorted(keys, bits, threads), len(keys))


def _shrink(keys: Ints, counts: Ints, size: int) -> tuple[Ints, Ints]:
    """Copy counted keys if they are parts of far larger arrays."""
    if 2 * len(keys) > size:
        return keys, counts
    return keys.copy(), counts.copy()
