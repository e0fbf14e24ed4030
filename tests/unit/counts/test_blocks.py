"""Blocks of counted keys: nothing is lost, classes stay whole, and runs are merged as if sorted."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

pytest.importorskip("numba")

from sievert.counts.packed.blocks import KeyBlock, Run, cut_blocks, merge_runs
from sievert.counts.packed.coding import CodedColumn, UnfitError
from sievert.counts.packed.keys import CELL_BYTES, KeyBlocks, KeyLayout


def counted(keys: np.ndarray, low: int, size: int, threads: int) -> Run:
    return cut_blocks(*np.unique(keys, return_counts=True), low, size, threads)


def joined(blocks: Run) -> tuple[list[int], list[int]]:
    keys, counts = zip(*(block.open() for block in blocks), strict=True)
    return np.concatenate(keys).tolist(), np.concatenate(counts).tolist()


@pytest.mark.parametrize("seed", range(20))
def test_merged_runs_are_the_counts_of_all_records(seed: int) -> None:
    random = np.random.default_rng(seed)
    bits, low = int(random.choice([6, 20, 62])), int(random.choice([0, 2, 5]))
    size, threads = int(random.choice([1, 7, 100])), int(random.choice([1, 2, 3]))
    records = random.integers(0, 1 << bits, 600, dtype=np.uint64)
    records = np.concatenate([records, random.choice(records, 300)])
    if seed % 3 == 0:
        records.sort()  # as in a sorted file: runs do not overlap
    runs = [counted(part, low, size, threads) for part in np.array_split(records, 1 + seed % 5)]
    whole = [each.tolist() for each in np.unique(records, return_counts=True)]
    blocks = merge_runs(runs, low, size, threads)
    assert [*joined(blocks)] == whole
    for one, other in pairwise(blocks):
        assert one.last >> low < other.first >> low  # no class is in both
    assert not any(runs)  # they are used up


def test_a_block_takes_as_few_bytes_as_its_numbers_need() -> None:
    near = KeyBlock.from_arrays(np.array([2**60, 2**60 + 9], np.uint64), np.array([1, 255]))
    far = KeyBlock.from_arrays(np.array([5, 2**62 - 1], np.uint64), np.array([1, 2**33]))
    assert (near.bytes, far.bytes) == (2 * (4 + 1), 2 * (8 + 8))
    assert joined([near, far])[0] == [2**60, 2**60 + 9, 5, 2**62 - 1]
    assert joined([near, far])[1] == [1, 255, 1, 2**33]


def test_keys_are_joined_only_where_there_is_room() -> None:
    keys = np.arange(10, dtype=np.uint64)
    blocks = KeyBlocks(
        counted(keys, 1, 4, 1), KeyLayout(((CodedColumn(name="q", kind="int", bits=3),),), low=1)
    )
    assert len(blocks.blocks) == 3 and len(blocks) == 10
    assert blocks.join(10 * CELL_BYTES).keys.tolist() == keys.tolist()
    with pytest.raises(UnfitError):
        blocks.join(10 * CELL_BYTES - 1)
