"""Every synthetic release of a census is unpaired; pairs of columns of real releases are paired."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest
from golden.tables import read_columns

import sievert
from sievert.errors import InputError

HOW = {"shuffles": 0, "threads": 1}
LONGER_OR_SHORTER = ["smartnoise_pacsynth", "subsample_40pcnt"]


def test_synthetic_releases_of_a_census(reference: Path) -> None:
    folder = reference / "data" / "nist"
    before, seen = read_columns(folder / "ma2019.csv.gz", ","), 0
    for path in sorted((folder / "releases").glob("*.csv.gz")):
        if path.name.startswith(tuple(LONGER_OR_SHORTER)):
            continue
        after = read_columns(path, ",")
        after.pop("", None)  # the number of the row
        quasi = [c for c in ("SEX", "MSP", "RAC1P", "PUMA") if c in after]
        with pytest.raises(InputError, match="not paired by their order"):
            sievert.compare(before, after, quasi, **HOW)
        seen += 1
    assert seen == 12


@pytest.mark.parametrize("records", [200, 2000])
def test_pairs_of_columns_of_adult(reference: Path, records: int) -> None:
    adult = read_columns(reference / "data" / "adult" / "adult.csv", ";")
    some = {c: values[:records] for c, values in adult.items()}
    order = np.random.default_rng(records).permutation(records)
    for pair in itertools.combinations(some, 2):
        before = {c: some[c] for c in pair}
        moved = {c: [some[c][i] for i in order] for c in pair}
        found = sievert.compare(before, before, list(pair), **HOW).releases[0].pairing
        assert found.paired is True, pair
        with pytest.raises(InputError, match="not paired by their order"):
            sievert.compare(before, moved, list(pair), **HOW)
