"""Five releases of Adult that ARX made, against what other tools print of them."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import pytest

import sievert
from sievert.errors import InputError, UsageError

from .tables import read_columns

QI4 = ["marital-status", "native-country", "race", "workclass"]
QI8 = ["sex", "age", "race", "marital-status", "education", "native-country", "workclass",
       "salary-class"]  # fmt: skip
# I(occupation; released key), its discrimination rate (scikit-learn's homogeneity_score),
# I(original key; released key), discernability, generalisation loss, suppressed records
PAIRS = {
    "adult_qi4_k10_l5_s5": (
        0.2971433982003383, 0.08748271552138548, 4.193132482032508, 155552564, 0.045487699755, 1372,
    ),
    "adult_qi4_k10_s0": (
        0.08244218385596828, 0.02427200523691534, 1.7595443410585447, 341691382, 0.547350636664, 0,
    ),
    "adult_qi4_k10_s5": (
        0.2981631735510722, 0.08778295007966373, 4.198790107502896, 154949524, 0.044824613752, 1352,
    ),
    "adult_qi4_k15_s5": (
        0.271147097549097, 0.0798290809858215, 3.9840626264733827, 149109072, 0.087128205982, 788,
    ),
    "adult_qi8_k5_s5": (
        0.6088138570871477, 0.1792423785539508, 6.563237518475455, 59199546, 0.170122791987, 1346,
    ),
}  # fmt: skip
EXACT = 1e-12


def hierarchies(reference: Path, columns: list[str]) -> dict[str, str]:
    folder = reference / "data" / "adult" / "hierarchies"
    return {c: str(folder / f"adult_hierarchy_{c}.csv") for c in columns}


@cache
def compared(reference: Path, key: str) -> sievert.Comparison:
    columns = QI4 if key == "qi4" else QI8
    names = [name for name in PAIRS if f"_{key}_" in name]
    pairs = reference / "data" / "pairs" / "arx_adult"
    return sievert.compare(
        reference / "data" / "adult" / "adult.csv",
        [pairs / f"{name}.csv.gz" for name in names],
        columns,
        "occupation",
        hierarchies=hierarchies(reference, columns),
        delimiter=";",
    )


@pytest.mark.parametrize("name", PAIRS)
def test_releases_of_adult(reference: Path, name: str) -> None:
    told, rate, identity, discernability, general, suppressed = PAIRS[name]
    found = compared(reference, name.split("_")[1])
    release = found[name]
    bits = release.disclosed.attribute["occupation"].whole
    assert bits.value == pytest.approx(told, rel=EXACT)
    assert bits.share == pytest.approx(rate, rel=EXACT)
    # Losses are of all records; the release on its own is without those suppressed.
    path = reference / "data" / "pairs" / "arx_adult" / f"{name}.csv.gz"
    columns = QI4 if "qi4" in name else QI8
    roles = path, columns, "occupation"
    kept = sievert.discrimination_rate(*roles, delimiter=";", keep_suppressed=True)
    assert kept == pytest.approx(rate, rel=EXACT)
    own = release.assessment.inference["occupation"]["discrimination_rate"].value
    assert own == sievert.discrimination_rate(*roles, delimiter=";")
    assert (own == kept) is (suppressed == 0)
    assert release.disclosed.identity.whole.value == pytest.approx(identity, rel=EXACT)
    assert release.losses["discernability"].value == discernability
    assert release.losses["generalization_loss"].value == pytest.approx(general, abs=1e-10)
    assert release.records.suppressed == suppressed
    before = found.original.attribute["occupation"].whole
    lost = release.disclosed.loss["occupation"].whole
    assert lost.value == pytest.approx(before.value - told, rel=1e-10)
    # Not the difference of both corrected values, which is -0.209 for the eight columns.
    assert lost.corrected == pytest.approx(lost.excess, abs=1e-12)
    low, high = lost.interval
    assert lost.reason is None and 0 <= low <= lost.corrected <= high
    assert release.disclosed.attribute["occupation"].floor <= bits.value
    assert release.pairing.paired is True and min(release.pairing.excess) > 100


def test_the_original_itself(reference: Path) -> None:
    """I(occupation; column), and with all four of them."""
    before = compared(reference, "qi4").original.attribute["occupation"]
    assert before.whole.value == pytest.approx(0.3962645195393264, rel=EXACT)
    assert before.whole.share == pytest.approx(0.11666520758675877, rel=EXACT)
    printed = {
        "marital-status": 0.076957517992, "native-country": 0.042911586248,
        "race": 0.019337676920, "workclass": 0.168189372135,
    }  # fmt: skip
    for column, bits in printed.items():
        assert before.columns[column].value == pytest.approx(bits, abs=1e-12)


@pytest.fixture(scope="module")
def first(reference: Path) -> dict[str, list[Any]]:
    """The first 5,692 records of Adult."""
    adult = read_columns(reference / "data" / "adult" / "adult.csv", ";")
    return {c: values[:5692] for c, values in adult.items()}


def test_the_key_of_few_records_is_mostly_noise(first: dict[str, list[Any]]) -> None:
    seven = [c for c in first if c not in ("age", "occupation")]
    found = sievert.compare(first, first, seven, "occupation", shuffles=19)
    bits = found.original.attribute["occupation"]
    assert bits.whole.value == pytest.approx(1.4307419563, abs=1e-10)
    assert bits.whole.chance == pytest.approx(0.9822769955, abs=1e-10)
    assert bits.whole.corrected == pytest.approx(0.4484649608, abs=1e-10)
    assert bits.columns["education"].chance == pytest.approx(0.0241221944, abs=1e-10)
    assert any("1.431 bits" in w and "0.9823 are chance" in w for w in found.warnings)
    assert found.releases[0].disclosed.attribute["occupation"].whole.noisy


def test_a_shuffled_release_of_adult_is_noticed(reference: Path) -> None:
    from random import Random

    adult = read_columns(reference / "data" / "adult" / "adult.csv", ";")
    order = list(range(len(adult["age"])))
    Random(1).shuffle(order)
    other = {c: [values[i] for i in order] for c, values in adult.items()}
    with pytest.raises(InputError, match="not paired by their order"):
        sievert.compare(adult, other, QI4, "occupation", shuffles=0)
    with pytest.raises(UsageError, match="--paired does not hold"):
        sievert.compare(adult, other, QI4, "occupation", shuffles=19, paired=True)


def test_pupils_by_their_number(reference: Path) -> None:
    """Releases with fewer pupils, matched by the column Student."""
    folder = reference / "data" / "pairs" / "pycanon"
    quasi = ["Teacher", "Gender", "Ethnic", "Freeredu", "wesson"]
    files = [folder / f"StudentsMath_Score_k{k}.csv" for k in (2, 5, 7)]
    found = sievert.compare(
        folder / "StudentsMath_Score.csv", files, quasi, "Score", key="Student", shuffles=19
    )
    assert [r.records.not_released for r in found.releases] == [1, 62, 152]
    assert [r.rows for r in found.releases] == [215, 154, 64]
    identity = [r.disclosed.identity.whole.value for r in found.releases]
    assert identity == sorted(identity, reverse=True)
    k = [r.assessment.reidentification["k_anonymity"].value for r in found.releases]
    assert k == [2, 5, 7]


def test_microaggregation(reference: Path) -> None:
    """Eight firms in groups of two: numbers near their group's mean."""
    folder = reference / "data" / "pairs" / "sdcmicro"
    original = read_columns(folder / "francdat_num.csv", ",")
    release = read_columns(folder / "francdat_num_microaggregated2.csv", ",")
    release = dict(zip(original, release.values(), strict=True))
    found = sievert.compare(original, release, list(original), shuffles=0).releases[0]
    distortion = found.losses["expected_distortion"]
    assert distortion.value is not None and 0 < distortion.value < 1
    means = found.losses["probabilistic_information_loss"]
    assert means.value is None and means.reason  # too few records for the normal distribution
