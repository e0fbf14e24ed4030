"""Three charts of Adult as the discrimination-rate slides have them, against the typed tables."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import sievert
from sievert import charts

from .tables import read_columns
from .test_attacks import HOMOGENEITY, IDENTITY, MARITAL, QI4, RECORD, pair

K10, K15, L5 = "qi4_k10_s5", "qi4_k15_s5", "qi4_k10_l5_s5"
LABELS = {K10: "10-anonymous", K15: "15-anonymous", L5: "10-anonymous, 5-diverse"}
DIGITS = 5e-7  # those of the tables
PICTURES = Path(__file__).parents[2] / "docs" / "images"


@pytest.fixture(scope="module")
def attacks(reference: Path) -> dict[str, Any]:
    adult = read_columns(reference / "data" / "adult" / "adult.csv", ";")
    return {
        name: sievert.attack(
            pair(reference, name),
            quasi=QI4,
            sensitive="occupation",
            original=adult,
            show_values=True,
            keep_suppressed=True,
        ).attacks
        for name in LABELS
    }


def drawn(attacks: dict[str, Any], *names: str) -> dict[str, charts.Spec]:
    return charts.of_attacks({LABELS[name]: attacks[name] for name in names})


def numbers(spec: charts.Spec, name: str) -> dict[str, Any]:
    held = [row for row in spec["data"]["values"] if row["series"] == LABELS[name]]
    return {row["row"]: row["number"] for row in held}


def same_picture(name: str, spec: charts.Spec) -> None:
    """The picture in the documentation is of these numbers."""
    pytest.importorskip("vl_convert")
    shown = (PICTURES / f"adult_{name}.svg").read_text(encoding="utf-8")
    for row in spec["data"]["values"]:
        assert f'aria-label="{row["said"]}"' in shown


def test_identity_by_column_and_combined(attacks: dict[str, Any]) -> None:
    found = drawn(attacks, K10, K15)
    for box, typed in (("white_box", IDENTITY), ("black_box", RECORD)):
        for name in (K10, K15):
            rates = numbers(found[f"identity_{box}"], name)
            assert list(rates) == [*QI4, "combined"]
            assert list(rates.values()) == pytest.approx(typed[name], abs=DIGITS)
    same_picture("identity", found["identity_white_box"])


def test_homogeneity_by_column_and_combined(attacks: dict[str, Any]) -> None:
    found = drawn(attacks, K10, L5)["homogeneity_occupation"]
    for name in (K10, L5):
        rates = numbers(found, name)
        assert list(rates) == [*QI4, "combined"]
        assert list(rates.values()) == pytest.approx(HOMOGENEITY[name], abs=DIGITS)
    same_picture("homogeneity", found)


def test_homogeneity_by_value_of_marital_status(attacks: dict[str, Any]) -> None:
    found = drawn(attacks, K10, L5)["homogeneity_occupation_by_marital-status"]
    k, diverse = numbers(found, K10), numbers(found, L5)
    assert set(k) == set(diverse) == set(MARITAL)
    for value, typed in MARITAL.items():
        assert (k[value], diverse[value]) == pytest.approx(typed, abs=DIGITS)
    assert list(k.values()) == sorted(k.values(), reverse=True)  # worst first
    same_picture("marital_status", found)
