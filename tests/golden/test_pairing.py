"""Real releases are found to be paired by their order; synthetic and shuffled tables are not."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import sievert
from sievert.errors import InputError

from .tables import Columns, read_columns

HOW = {"shuffles": 0, "threads": 1}


def census(reference: Path, name: str) -> Columns:
    """A synthetic release of the census of Massachusetts."""
    return read_columns(reference / "data" / "nist" / "releases" / f"{name}.csv.gz", ",")


def test_adult_in_another_order(reference: Path) -> None:
    adult = read_columns(reference / "data" / "adult" / "adult.csv", ";")
    order = np.random.default_rng(0).permutation(len(adult["age"]))
    moved = {c: [values[i] for i in order] for c, values in adult.items()}
    with pytest.raises(InputError, match="not paired by their order"):
        sievert.attack(moved, adult, ["race", "workclass"], "occupation", reasoning=False)


def test_one_column_copied_and_the_others_invented(reference: Path) -> None:
    """This generator keeps the area of each row: one column speaks for the order, no other."""
    before = read_columns(reference / "data" / "nist" / "ma2019.csv.gz", ",")
    after = census(reference, "mostlyai_sd__mostlyai_sd_platform_v1")
    with pytest.raises(InputError, match=r"not paired.*: '(PUMA|DENSITY)' \d+\.?\d*, then '"):
        sievert.compare(before, after, ["PUMA", "SEX", "MSP"], "EDU", **HOW)


def test_a_hundred_synthetic_records(reference: Path) -> None:
    folder = reference / "data" / "pairs" / "anonymeter"
    before, after = (read_columns(folder / f"adults_{x}.csv", ",") for x in ("ori", "syn"))
    with pytest.raises(InputError, match="not paired by their order"):
        sievert.compare(before, after, ["age", "sex"], "income", **HOW)
    same = sievert.compare(before, before, ["age", "sex"], "income", **HOW).releases[0]
    assert same.pairing.paired is True


@pytest.mark.parametrize("name", ["v1", "v5"])
def test_rounded_and_noisy_numbers(reference: Path, name: str) -> None:
    """Heart disease: rounded and binned, and with noise on every number."""
    folder = reference / "data" / "pairs" / "privacy_umbrella"
    before, after = (read_columns(folder / f"{x}.csv", ",") for x in ("heart", f"{name}_heart"))
    del before[""]  # the number of the row
    for quasi in (["trestbps", "thalach"], ["sex", "trestbps"], ["trestbps"]):
        release = sievert.compare(before, after, quasi, "target", **HOW).releases[0]
        assert release.pairing.paired is True
