"""Long checks, run by `make soak`: 10^7 classes against 60 digits, many random tables."""

from __future__ import annotations

from pathlib import Path
from random import Random

import duckdb
import mpmath
import numpy as np
import pytest
import test_accuracy
import test_oracle_agreement as agreement
from helpers.randomtables import case

import sievert
from sievert.counts.answers import RecordCounts, Sizes
from sievert.measures.target import RecordTarget

pytestmark = pytest.mark.soak


def test_ten_million_classes() -> None:
    """10^7 classes of different sizes up to 10^12: relative error at most 1e-12."""
    generator = np.random.default_rng(0)
    sizes = np.unique(generator.integers(1, 10**12, 10_000_000))
    counts = RecordCounts(
        records=sum(map(int, sizes)), sizes=Sizes.from_arrays(sizes, np.ones_like(sizes))
    )
    target = RecordTarget(counts)
    with mpmath.workdps(40):
        n = mpmath.mpf(counts.records)
        held = mpmath.mpf(0)
        for size in sizes.tolist():
            held += size * mpmath.log(size)
        left = held / n / mpmath.log(2)
        h = mpmath.log(n) / mpmath.log(2)
        test_accuracy.close("H(X|Q)", target.conditional_entropy, left)
        test_accuracy.close("I", target.mutual_information, h - left)


def test_ten_million_values(tmp_path: Path) -> None:
    """10^7 different texts in a column, within the memory that is allowed."""
    path = tmp_path / "t.parquet"
    with duckdb.connect() as connection:
        connection.execute(f"COPY (SELECT 'v' || i AS q FROM range({10**7}) r(i)) TO '{path}'")
    assessment = sievert.assess(path, "q", memory="500MB")
    assert assessment.reidentification["classes"].value == 10**7


@pytest.mark.parametrize("chunk", range(40))
def test_twenty_thousand_tables(chunk: int) -> None:
    for number in range(500):
        c = case(Random(f"soak {chunk} {number}"))
        agreement.compare(c, agreement.assess(c, number % 3 == 0), number % 3 == 0)
