"""The paper on mutual information, recomputed: claims by state, closed forms, the models, Adult."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from sievert import charts
from sievert.errors import InputError
from sievert.papers.claims import NEED_WHY, Claim, Given, Paper
from sievert.papers.mutual_information import paper
from sievert.report.page import Grid, Paragraph, Picture

COUNTED = {
    "match": 37,
    "true": 20,
    "false": 5,
    "contradicts itself": 2,
    "not determined by the text": 1,
}
# R_inf in nats, by correlation and normalised distortion
LEAST = {
    (0.3, 0.05): 0.04468890557560835,
    (0.3, 0.25): 0.034943063732083224,
    (0.3, 0.5): 0.023021969250703423,
    (0.3, 0.9): 0.004520372326074535,
    (0.7, 0.05): 0.3132117742585185,
    (0.7, 0.25): 0.22903752919023082,
    (0.7, 0.5): 0.14051876486655618,
    (0.7, 0.9): 0.02512060821837334,
    (0.95, 0.05): 0.9737682353999483,
    (0.95, 0.25): 0.5648580168597216,
    (0.95, 0.5): 0.3000561572963779,
    (0.95, 0.9): 0.047292721244933895,
}
FALSE = (
    "The best linear estimate U' of U from V has I(U';V) = I(U;V), rho = 0.8",
    "I(X;Y) - I(X';Y) = 0 implies that X and X' are bijectively related",
    "I(X';Y) conforms to t-closeness: little information, and every class is close",
    "X' is sufficient, I(X';Y) = I(X;Y)",
    "Preserving mutual information preserves the covariances up to that factor",
)
CONTRADICTS = (
    "Z is standard normal",
    "a has k entries, Y has n",
)
ADULT = {0.02: 0.2992, 0.05: 0.1955, 0.1: 0.1139, 0.2: 0.0485, 0.4: 0.0021}


@pytest.fixture(scope="module")
def plain(plain_paper: Callable[[str], Paper]) -> Paper:
    return plain_paper("mutual-information")


@pytest.fixture(scope="module")
def adult(reference: Path) -> Paper:
    return paper(Given({"adult": str(reference / "data" / "adult" / "adult.csv")}))


def claims(found: Paper) -> dict[str, Claim]:
    return {c.what: c for part in found.parts for c in part.claims}


def test_how_many_claims_stand_how(plain: Paper) -> None:
    assert plain.count_states() == Counter(COUNTED)


def test_what_does_not_hold(plain: Paper) -> None:
    held = [c for part in plain.parts for c in part.claims]
    assert tuple(c.what for c in held if c.state == "false") == FALSE
    assert tuple(c.what for c in held if c.state == "contradicts itself") == CONTRADICTS


def test_every_part_is_told(plain: Paper) -> None:
    assert len({part.title for part in plain.parts}) == len(plain.parts) == 12
    for part in plain.parts:
        assert (
            part.title
            and part.about.endswith(".")
            and (part.claims or "--data adult=FILE" in part.about)
        )
        for claim in part.claims:
            assert claim.ours
            assert claim.why or claim.state not in NEED_WHY
            assert not claim.why or claim.state != "true"


def test_the_same_twice_and_step_by_step(plain: Paper) -> None:
    told: list[str] = []
    assert paper(Given(step=told.append)) == plain
    assert told[:2] == ["Adult", "section 1"] and len(told) == 12


def test_another_seed_stands_alike(plain: Paper) -> None:
    other = paper(Given(seed=7))
    assert other != plain
    assert other.count_states() == plain.count_states()


@pytest.mark.parametrize("rho, d", LEAST)
def test_the_least_risk_of_gaussian_numbers(plain: Paper, rho: float, d: float) -> None:
    held = claims(plain)[f"R_inf, rho = {rho}, d = {d}"]
    bits = LEAST[rho, d] / math.log(2)
    assert held.state == "match"
    assert held.printed == f"{bits:.4f}"
    assert float(held.ours) == pytest.approx(bits, abs=5e-7)


def test_key_numbers(plain: Paper) -> None:
    held = claims(plain)
    assert held["I(X;Y) = H(X) - H(X|Y)"].ours == "0.335816"
    assert held["I(U;V) = -log sqrt(1 - rho^2), rho = 0.7"].ours == "0.485715"
    assert "loss 0, I(X;X') 1 of 2 bits" in held[FALSE[1]].ours
    assert held["D(R) at R = 0.1252 bits gives back model 1's D"].state == "match"
    assert held["model 4 at R = 0.9387 bits gives back model 3's D"].state == "match"
    # 0.7370 bits of X; -1/2 log2(1 - rho^2 (1 - 4^-R)) of them told
    told = -0.5 * math.log2(1 - 0.64 * 0.5)
    lost = -0.5 * math.log2(1 - 0.64) - told
    remarks = [b.text for p in plain.parts for b in p.blocks if isinstance(b, Paragraph)]
    assert any("Var X: 0.0000 bits (" in r and "-0.2003 at d = 1.5" in r for r in remarks)
    assert any("variance of X': 19 % of Var X" in r for r in remarks)
    assert f"{lost:.4f}" == "0.4588" and any("optimal channels: 0.4588 (" in r for r in remarks)
    assert held["the drawn curve"].ours == "0.7370, 0.2782, 0.0000"
    factors = "2 X: 2.00; X^3: 3.00; X, of the other sign within 1.54 of 0:"
    assert factors in held[FALSE[-1]].ours


def test_pictures_can_be_drawn(plain: Paper) -> None:
    pytest.importorskip("vl_convert")
    pictures = [b for p in plain.parts for b in p.blocks if isinstance(b, Picture)]
    assert len(pictures) == 3
    for picture in pictures:
        assert charts.svg(picture.spec).startswith("<!-- drawn by sievert -->")
        assert 10 <= len(picture.behind.rows) <= 25


# -- Adult ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("at", ADULT)
def test_the_limit_of_adult(adult: Paper, at: float) -> None:
    grid = adult.parts[-1].blocks[-1]
    assert isinstance(grid, Grid) and "of 0.4326 bits" in grid.caption
    ((found, bound),) = [[float(str(x)) for x in row[1:]] for row in grid.rows if row[0] == f"{at}"]
    assert bound == pytest.approx(ADULT[at], abs=1.5e-4)
    assert bound <= found <= bound + 2e-4


def test_releases_of_adult(adult: Paper) -> None:
    part = adult.parts[-1]
    states = Counter(c.state for c in part.claims)
    assert states == {"true": 4}
    placed = claims(adult)["No release tells less than R(D) at its distortion"]
    assert "marital-status hidden 0.3364" in placed.ours
    assert "education hidden 0.0770" in placed.ours
    (picture,) = [b for b in part.blocks if isinstance(b, Picture)]
    assert len(picture.behind.rows) <= 25


def test_a_file_that_is_not_adult(tmp_path: Path) -> None:
    other = tmp_path / "other.csv"
    other.write_text("education,occupation\nruritanian,spy\n")
    with pytest.raises(InputError, match=r"other\.csv is not Adult") as raised:
        paper(Given({"adult": str(other)}))
    assert "ruritanian" not in str(raised.value) and "\n" not in str(raised.value)
