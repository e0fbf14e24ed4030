"""Damaged Parquet files: the same records as an independent reader, or an error of the right kind.

Without checksums a flipped bit may be a value like any other: no reader can see it, and both must
then read the same. With checksums and `verify` nothing that a checksum covers may be accepted.
"""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import pytest
from mutate import Answer, Batch, Lost, Reader, asked, mutated_parquet, ours, parquet_files

pytestmark = pytest.mark.soak

BATCHES = 20
FILES = asked("PARQUET_FILES", 10_000)
UNSEEN = "changed, cannot be seen"
ALONE = "changed, read alone"
SEEN = "changed, seen by --verify only"


def independent(path: str, verify: bool) -> Answer:
    """The records as pyarrow reads them, spelled as they are compared: NaN missing, -0 = 0."""
    import pyarrow.parquet

    try:
        with pyarrow.parquet.ParquetFile(path, page_checksum_verification=verify) as file:
            table = file.read(use_threads=False)
        table.validate(full=True)
        columns = [[_compared(v) for v in column.to_pylist()] for column in table.columns]
    except Exception as error:
        return Answer(3, type(error).__name__)
    return Answer(0, rows=tuple(zip(*columns, strict=True)))


def _compared(value: Any) -> Any:
    if isinstance(value, float):
        return None if math.isnan(value) else value + 0.0
    return value


def verdict(whole: Counter, mine: Answer | Lost, theirs: Answer | Lost) -> str:
    """How the answers compare; what begins with an exclamation mark must not be."""
    if isinstance(mine, Lost):
        return "! hung" if mine.how == "hung" else "refused: 6"
    if mine.code:
        known = mine.code in (3, 5, 6, 7)
        return f"refused: {mine.code}" if known else f"! exit {mine.code}: {mine.why}"
    rows = Counter(mine.rows)
    if tuple(sorted(Counter(rows.values()).items())) != mine.sizes:
        return "! other classes"
    if isinstance(theirs, Lost) or theirs.code:
        return "unchanged, read alone" if rows == whole else ALONE
    if rows != Counter(theirs.rows):
        return "! read otherwise"
    return "unchanged" if rows == whole else UNSEEN


def protected(found: str, hit: str) -> str:
    """The verdict where every page has a checksum: only whole pages may change their places."""
    if hit in ("body", "page") and found.startswith("refused") and found != "refused: 3":
        return f"! {found}"
    if (hit == "body" and found == "unchanged") or (hit != "page" and found == UNSEEN):
        return f"! {found}"
    return found


@pytest.mark.parametrize("batch", range(BATCHES))
def test_damaged_files(batch: int, tmp_path: Path) -> None:
    path = tmp_path / "table.parquet"
    seeds = parquet_files()
    verdicts: Counter[str] = Counter()
    findings = []
    todo = Batch(FILES // BATCHES, 0.12 / BATCHES)
    with Reader(ours) as reader, Reader(independent) as other:
        path.write_bytes(seeds[0].content)
        whole = Counter(other(str(path), True).rows)

        def judge(verify: bool) -> str:
            mine = reader(str(path), {"verify": verify, "temp": str(tmp_path)})
            return verdict(whole, mine, other(str(path), verify))

        for number in todo:
            seed = seeds[number % len(seeds)]
            damage = mutated_parquet(Random(f"parquet {batch} {number}"), seed)
            path.write_bytes(damage.content)
            found = judge(seed.checksums)
            if seed.checksums:
                found = protected(found, damage.hit)
            elif found == ALONE:  # the engine looks less closely than --verify does
                found = SEEN if judge(True).startswith("refused") else f"! {ALONE}"
            verdicts[f"{'with' if seed.checksums else 'no'} checksums, {damage.hit}: {found}"] += 1
            if found.startswith("!"):
                findings.append(f"{found}: {damage.hit} of number {number} in batch {batch}")
    todo.close("damaged Parquet files", findings, verdicts=dict(verdicts))
