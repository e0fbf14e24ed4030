"""Microaggregation against values that others have printed."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest
from helpers.pairedrows import row_numbers

import sievert
from sievert.arrays import Floats, Ints
from sievert.commands.protect.microaggregation import MixedRecords, along_projection, mdav


def read(path: Path) -> tuple[list[str], Floats]:
    with path.open(encoding="utf-8", newline="") as file:
        names, *rows = csv.reader(file)
    return names, np.array([[float(text) for text in row] for row in rows])


def means(groups: Ints, table: Floats) -> Floats:
    sizes = np.bincount(groups)
    return np.stack([np.bincount(groups, x) / sizes for x in table.T], axis=1)[groups]


def test_the_pair_of_sdcmicro(reference: Path, tmp_path: Path) -> None:
    """Its groups of two are neighbours on the first principal component, not those of MDAV."""
    folder = reference / "data" / "pairs" / "sdcmicro"
    names, table = read(folder / "francdat_num.csv")
    released = read(folder / "francdat_num_microaggregated2.csv")[1]
    records = MixedRecords.of(list(table.T))
    assert means(along_projection(records, 2), table) == pytest.approx(released, abs=1e-12)
    assert mdav(records, 2).tolist() == [2, 3, 3, 0, 2, 0, 1, 1]
    out = tmp_path / "r.csv"  # in the release numbers have the decimals of their column
    rules = {
        "roles": {"quasi": names, "rows_are_people": True},
        "limits": {"k_anonymity": {"min": 2}},
    }
    result = sievert.protect(
        folder / "francdat_num.csv", policy=rules, how="microaggregate",
        grouping="projection", out=out,
    )  # fmt: skip
    assert result.released and result.release is not None and result.release.holds
    written = read(out)[1][np.argsort(row_numbers(out))]  # in the order of the original
    assert written == pytest.approx(released, abs=0.5)
    assert written[:, :2] == pytest.approx(released[:, :2], abs=0.0051)


@pytest.mark.parametrize(("k", "loss"), [(3, 16.93), (4, 19.55), (5, 22.46), (10, 33.19)])
def test_the_loss_on_tarragona(reference: Path, k: int, loss: float) -> None:
    """100 SSE/SST of standardised columns with MDAV, as the papers on microaggregation print it."""
    table = read(reference / "data" / "sdcmicro" / "Tarragona.csv")[1]
    scaled = (table - table.mean(axis=0)) / table.std(axis=0)
    groups = mdav(MixedRecords.of(list(table.T)), k)
    lost = ((scaled - means(groups, scaled)) ** 2).sum() / (scaled**2).sum()
    assert round(100 * float(lost), 2) == loss
