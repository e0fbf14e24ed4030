"""A release of Adult with more combinations than a limit is searched for."""

from __future__ import annotations

from pathlib import Path

import pytest

import sievert

QI8 = ["sex", "age", "race", "marital-status", "education", "native-country", "workclass",
       "salary-class"]  # fmt: skip


def test_eight_columns_are_merged(reference: Path) -> None:
    name = "adult_qi8_k5_s5"
    found = sievert.compare(
        reference / "data" / "adult" / "adult.csv",
        reference / "data" / "pairs" / "arx_adult" / f"{name}.csv.gz",
        QI8, "occupation", delimiter=";", shuffles=0, limit=True,
    )  # fmt: skip
    limit, held = found.limits["occupation"], found[name].limit["occupation"]
    assert (limit.combinations, limit.values) == (12458, 1000)
    assert held.distortion == pytest.approx(0.2223700351, abs=1e-10)
    assert held.bound is None and held.least is not None and 0.030 <= held.least <= 0.0325
    assert any("12,458 combinations" in w for w in found.warnings)
