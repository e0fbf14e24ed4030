"""The slides on the discrimination rate, recomputed: claims by state, key numbers, Adult."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from itertools import product
from math import log2
from pathlib import Path
from typing import Any

import pytest

import sievert
from sievert import charts
from sievert.errors import InputError, SievertError, UsageError
from sievert.papers.claims import NEED_WHY, Claim, Given, Paper
from sievert.papers.discrimination_rate import paper
from sievert.papers.discrimination_rate.adult import FILES, K10, K15, L5, make_release
from sievert.papers.discrimination_rate.rates import EXPLAINS, QUASI
from sievert.report.page import Paragraph, Picture

from .tables import read_columns

COUNTED = {
    "match": 22,
    "rounding": 9,
    "true": 13,
    "false": 3,
    "contradicts itself": 11,
    "not determined by the text": 4,
}
# what the slides print, what the definition gives, by what is claimed
PRINTED = {
    "SDR of Age": ("0.66", "0.6667", "rounding"),
    "DR of Age by 2*": ("1", "1", "match"),
    "DR of Age by >=40": ("0.78", "0.7816", "match"),
    "DR of Age by 3*": ("0.87", "0.8735", "match"),
    "DR of Age by Age*": ("0.66", "0.6551", "match"),
    "DR of Disease by 2*, 3-anonymous": ("1", "1", "match"),
    "DR of Disease by >=40, 3-anonymous": ("0.70", "0.7595", "contradicts itself"),
    "DR of Disease by 3*, 3-anonymous": ("0.83", "0.8607", "contradicts itself"),
    "DR of Disease by Age*, 3-anonymous": ("0.52", "0.6202", "contradicts itself"),
    "DR of Disease by 2*, 3-diverse": ("0.78", "0.7889", "rounding"),
    "DR of Disease by >=40, 3-diverse": ("0.78", "0.7889", "rounding"),
    "DR of Disease by 3*, 3-diverse": ("0.78", "0.7889", "rounding"),
    "DR of Disease by Age*, 3-diverse": ("0.36", "0.3668", "rounding"),
    "1 - DR of Disease by 2*, 3-anonymous": ("0", "0", "match"),
    "1 - DR of Disease by >=40, 3-anonymous": ("0.30", "0.2405", "contradicts itself"),
    "1 - DR of Disease by 3*, 3-anonymous": ("0.17", "0.1393", "contradicts itself"),
    "1 - DR of Disease by Age*, 3-anonymous": ("0.48", "0.3798", "contradicts itself"),
    "1 - DR of Disease by 2*, 3-diverse": ("0.22", "0.2111", "rounding"),
    "1 - DR of Disease by >=40, 3-diverse": ("0.22", "0.2111", "rounding"),
    "1 - DR of Disease by 3*, 3-diverse": ("0.22", "0.2111", "rounding"),
    "1 - DR of Disease by Age*, 3-diverse": ("0.64", "0.6332", "rounding"),
}
# Adult: 10-anonymous and 15-anonymous (identity), 10-anonymous and 5-diverse (homogeneity)
ARX = {
    "identity attack": ("combined", "0.914137 and 0.867387"),
    "homogeneity attack, k": ("combined", "0.087783 and 0.087483"),
    "by values": ("Divorced", "0.871509 and 0.871785"),
}
OWN = {
    "identity attack": ("combined", "0.914137 and 0.889997"),
    "homogeneity attack, k": ("combined", "0.087783 and 0.087483"),
    "by values": ("Divorced", "0.871509 and 0.871785"),
}


@pytest.fixture(scope="module")
def plain(plain_paper: Callable[[str], Paper]) -> Paper:
    return plain_paper("discrimination-rate")


@pytest.fixture(scope="module", autouse=True)
def attacked_once() -> Iterator[None]:
    """Tables that are the same, read from several files, are attacked once."""
    attack, known = sievert.attack, []

    def once(table: Any, **how: Any) -> Any:
        for *same, attacks in known:
            if same == [table, how]:
                return attacks
        known.append((table, how, attack(table, **how)))
        return known[-1][-1]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sievert, "attack", once)
        yield


def adult(reference: Path, *, releases: bool) -> Given:
    data = {"adult": str(reference / "data" / "adult" / "adult.csv")}
    if releases:
        names = ("qi4_k10_s5", "qi4_k15_s5", "qi4_k10_l5_s5")
        folder = reference / "data" / "pairs" / "arx_adult"
        data |= {
            key: str(folder / f"adult_{name}.csv.gz")
            for key, name in zip(FILES.values(), names, strict=True)
        }
    return Given(data)


@pytest.fixture(scope="module")
def own(reference: Path) -> Paper:
    return paper(adult(reference, releases=False))


def claims(found: Paper) -> dict[str, Claim]:
    return {c.what: c for part in found.parts for c in part.claims}


def test_how_many_claims_stand_how(plain: Paper) -> None:
    assert plain.count_states() == Counter(COUNTED)


def test_every_printed_number(plain: Paper) -> None:
    held = claims(plain)
    assert {w: (held[w].printed, held[w].ours, held[w].state) for w in PRINTED} == PRINTED


def test_every_part_is_told(plain: Paper) -> None:
    assert len({part.title for part in plain.parts}) == len(plain.parts) == 12
    for part in plain.parts:
        assert part.title and part.about.endswith(".") and part.claims
        for claim in part.claims:
            assert claim.ours
            assert claim.why or claim.state not in NEED_WHY
            assert not claim.why or claim.state != "true"


def test_the_same_twice_and_step_by_step(plain: Paper) -> None:
    told: list[str] = []
    assert paper(Given(seed=3, step=told.append)) == plain
    assert told[:2] == ["Adult", "simple discrimination rate"] and len(told) == 9


def test_pictures_can_be_drawn(plain: Paper) -> None:
    pytest.importorskip("vl_convert")
    (picture,) = [b for p in plain.parts for b in p.blocks if isinstance(b, Picture)]
    assert charts.svg(picture.spec).startswith("<!-- drawn by sievert -->")
    assert len(picture.behind.rows) == 8


def test_the_tables_differ(plain: Paper) -> None:
    held = claims(plain)["records of the 3-anonymity table with another disease than in the "
                         "original"]  # fmt: skip
    assert (held.ours, held.state) == ("2", "contradicts itself") and "6 and 8" in held.why
    listed = claims(plain)["values of Marital Status that the last table lists"]
    assert (listed.printed, listed.ours, listed.state) == ("7", "6", "contradicts itself")


def test_orderings(plain: Paper) -> None:
    held = claims(plain)
    for value in ("2*", "Age*"):
        what = f"The 3-diverse release tells less by {value} than the 3-anonymous one"
        assert held[what].state == "true"
    told = [b.text for p in plain.parts for b in p.blocks if isinstance(b, Paragraph)]
    assert any(">=40 goes from 0.7595 to 0.7889; 3* goes from 0.8607 to 0.7889" in t for t in told)


def test_only_one_pattern_explains_the_three_numbers() -> None:
    """All ways to fill >=40 and 3*, one disease in 2*: by frequencies on the whole and by class."""

    def entropy(values: tuple[int, ...]) -> float:
        n = len(values)
        return sum(c / n * log2(n / c) for c in Counter(values).values())

    found = set()
    for six in product(range(6), repeat=6):
        whole = entropy((0, 0, 0, *six))
        if not whole:
            continue
        second, third = (1 - entropy(six[i : i + 3]) / 3 / whole for i in (0, 3))
        off = (second - 0.70, third - 0.83, second + third - 1 - 0.52)
        if all(abs(x) < 0.01 for x in off):
            held = ((0, 0, 0, *six), six[:3], six[3:])
            found.add(tuple(tuple(sorted(Counter(h).values())) for h in held))
    assert found == {((1, 1, 3, 4), (1, 1, 1), (1, 2))}
    assert sorted(Counter(EXPLAINS["disease"]).values()) == [1, 1, 3, 4]
    rate = sievert.discrimination_rate(EXPLAINS, "age_star", "disease")
    assert rate == pytest.approx(0.5239, abs=5e-5)


# -- Adult ----------------------------------------------------------------------------------------


def rates(found: Paper, title: str, row: str) -> str:
    (part,) = [p for p in found.parts if title in p.title]
    (picture,) = [b for b in part.blocks if isinstance(b, Picture)]
    (numbers,) = [pair for name, *pair in picture.behind.rows if name == row]
    return " and ".join(map(str, numbers))


def test_columns_of_adult(own: Paper) -> None:
    held = claims(own)
    assert held["records of Adult"].ours == "30,162"
    states = {name: held[f"values of {name}"].state for name in (*QUASI, "occupation")
              if name != "workclass"}  # fmt: skip
    assert set(states.values()) == {"match"} and "values of workclass" not in held
    assert any("Never-worked" in part.about for part in own.parts)
    assert own.count_states()["not determined by the text"] == 4


def test_the_whole_file_has_the_eighth_work_class(own: Paper, reference: Path) -> None:
    """Its complete records are those of the other file, so that the charts are the same."""
    path = reference / "data" / "adult" / "adult_uci_32561.csv"
    whole = paper(Given({"adult": str(path)}))
    held = claims(whole)
    assert (held["values of workclass"].ours, held["records of Adult"].ours) == ("8", "30,162")
    assert whole.count_states() == own.count_states() + Counter({"match": 1})
    for title, (row, typed) in OWN.items():
        assert rates(whole, title, row) == typed


def test_charts_of_own_releases(own: Paper) -> None:
    for title, (row, typed) in OWN.items():
        assert rates(own, title, row) == typed


def test_charts_of_releases_by_arx(reference: Path) -> None:
    found = paper(adult(reference, releases=True))
    for title, (row, typed) in ARX.items():
        assert rates(found, title, row) == typed


def test_own_releases_are_as_promised(reference: Path) -> None:
    table = read_columns(reference / "data" / "adult" / "adult.csv", ";")
    ten, diverse = make_release(table, K10), make_release(table, L5)
    assert sievert.k_anonymity(ten, QUASI) >= 10
    assert sievert.k_anonymity(make_release(table, K15), QUASI) >= 15
    assert sievert.l_diversity(diverse, QUASI, "occupation") >= 5
    assert ten["occupation"] == table["occupation"]


def test_a_file_that_is_not_adult(tmp_path: Path) -> None:
    other = tmp_path / "other.csv"
    other.write_text("race,secretvalue\nwhite,ruritanian\n")
    with pytest.raises(InputError, match=r"other\.csv is not Adult") as raised:
        paper(Given({"adult": str(other)}))
    assert "ruritanian" not in str(raised.value) and "\n" not in str(raised.value)
    with pytest.raises(SievertError):
        paper(Given({"adult": str(tmp_path / "none.csv")}))
    with pytest.raises(UsageError, match="release of Adult"):
        paper(Given({"adult_k10": str(other)}))
