"""The paper on relative risks, recomputed: claims by state, exact beliefs, Adult."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path

import pytest

from sievert import charts
from sievert.attacks.reasoning.horizontal.release import HorizontalModel
from sievert.errors import InputError, UsageError
from sievert.papers.claims import NEED_WHY, Claim, Given, Paper
from sievert.papers.relative_risk import example, experiment, formulas, paper
from sievert.papers.relative_risk.example import adult
from sievert.report.page import Grid, Paragraph, Picture

COUNTED = {
    "match": 2,
    "rounding": 1,
    "true": 18,
    "contradicts itself": 6,
    "not determined by the text": 7,
}
# The attacker's and the learner's beliefs, exactly: nationality alone, local recoding.
ATTACKER = {
    "Malaysia": "6/11 5/11 0 0 0",
    "Japan": "14/139 55/139 35/139 35/278 35/278",
    "China": "0 0 0 1/2 1/2",
    "India": "14/29 15/29 0 0 0",
}
LEARNER = {
    "Malaysia": "77/241 80/241 28/241 28/241 28/241",
    "Japan": "343/2043 80/227 392/2043 98/681 98/681",
    "China": "35/187 40/187 28/187 42/187 42/187",
    "India": "343/1331 400/1331 196/1331 196/1331 196/1331",
}
PRINTED_LEARNER = {"Malaysia": 0.3122540093, "Japan": 0.1675331230, "China": 0.1895358348,
                   "India": 0.2524545560}  # fmt: skip
# Groups, attacker, GR and largest R, with all ties, per cent; combinations that occur, beta 1.
ADULT = {
    "k = 4": ("150", "31.51", "33.35", "0.83", "2.66", "10.54"),
    "k = 5": ("96", "27.86", "29.24", "0.46", "1.85", "9.80"),
    "k = 10": ("15", "24.06", "24.36", "0.18", "0.47", "3.42"),
}


@pytest.fixture(scope="module")
def found(plain_paper: Callable[[str], Paper]) -> Paper:
    return plain_paper("relative-risk")


@pytest.fixture(scope="module")
def of_adult(reference: Path) -> Iterator[Paper]:
    """Without the learner of equation (5), of which the page of Adult shows nothing."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(HorizontalModel, "published_learner", lambda _model: None)
        yield paper(Given({"adult": str(reference / "data" / "adult" / "adult.csv")}))


def claims(of: Paper, words: str) -> list[Claim]:
    return [c for part in of.parts for c in part.claims if words in c.what]


def only(of: Paper, words: str) -> Claim:
    (claim,) = claims(of, words)
    return claim


def test_claims_by_state(found: Paper) -> None:
    assert found.count_states() == Counter(COUNTED)
    assert found.name == "relative-risk"


def test_every_part_explains_itself(found: Paper) -> None:
    for part in found.parts:
        assert part.title and part.about.endswith(".") and part.claims
        for claim in part.claims:
            assert claim.what and claim.printed and claim.ours
            assert bool(claim.why) == (claim.state in (*NEED_WHY, "rounding")), claim.what


def test_pictures_are_drawn(found: Paper) -> None:
    pictures = [b for part in found.parts for b in part.blocks if isinstance(b, Picture)]
    assert len(pictures) == 2
    for picture in pictures:
        assert "<svg" in charts.svg(picture.spec)
        assert 0 < len(picture.behind.rows) <= 25


def test_what_the_other_groups_tell(found: Paper) -> None:
    """7 to 5 and 2 to 1 where columns are apart, nothing where combinations are symbols."""
    told = {c.what.rpartition(":")[0]: (c.ours, c.state) for c in claims(found, "has Heart, with")}
    even = ("Heart 0.5000, Flu 0.5000", "contradicts itself")
    assert told == {
        "Local recoding, columns apart": (
            "Heart 0.5833, Flu 0.4167 (not with 0.58 or more)",
            "true",
        ),
        "Local recoding, combinations as symbols": even,
    }
    told = [b.text for part in found.parts for b in part.blocks if isinstance(b, Paragraph)]
    assert any("columns apart 0.6667, combinations as symbols 0.5000" in text for text in told)


@pytest.mark.parametrize("nation", list(ATTACKER))
def test_beliefs_are_exact(nation: str) -> None:
    beliefs = example.nationality("Local recoding").beliefs[(nation,)]
    for who, exact in (("attacker", ATTACKER), ("learner", LEARNER)):
        ours = [beliefs[who][s] for s in ("Heart", "Flu", "Stomach", "HIV", "Diabetes")]
        assert ours == pytest.approx([float(Fraction(x)) for x in exact[nation].split()])
    assert beliefs["learner_printed"]["Heart"] == pytest.approx(PRINTED_LEARNER[nation], abs=1e-9)


def test_counting_is_another_way() -> None:
    """All 64 tables: eight people, each with one disease and one nationality."""
    assert sum(formulas.count_tables().values()) == pytest.approx(8)
    expected = formulas.count_tables()
    assert expected["Heart", "Malaysia"] / expected["Flu", "Malaysia"] == pytest.approx(6 / 5)


def test_the_two_learners_differ(found: Paper) -> None:
    claim = only(found, "(4) conditioned")
    assert (claim.state, claim.ours) == (
        "contradicts itself",
        "0.319502 by (4), 0.312254 by (5)",
    )
    assert only(found, "full support").ours == "9 of 20 probabilities are 0"


def test_sizes_of_groups() -> None:
    part = experiment.sizes(Given())
    assert [(c.ours, c.state) for c in part.claims] == [("37.95", "match"), ("355.75", "rounding")]
    fits = [g for g in range(1, 5693) if round(5692 / g) == 38]
    assert (fits[0], fits[-1]) == (148, 151)
    assert not [g for g in range(1, 5693) if 354.5 <= 5692 / g < 355.5]


def test_the_prior_alone_moves_the_risk(found: Paper) -> None:
    """The attacker believes the same in all lines; a weak prior makes the learner agree."""
    (part,) = (p for p in found.parts if "prior alone" in p.title)
    (picture,) = part.blocks
    assert isinstance(picture, Picture)
    rows = picture.behind.rows
    assert [row[3] for row in rows] == ["1", "0.1", "1/1,200"]
    assert len({row[4:6] for row in rows}) == 1
    ties = [float(str(row[7])) for row in rows]
    assert ties == sorted(ties, reverse=True) and ties[0] > 1 and ties[-1] == 0


def test_the_same_seed_gives_the_same(found: Paper) -> None:
    example.nationality.cache_clear()
    steps: list[str] = []
    assert paper(Given(step=steps.append)) == found
    assert steps[0] == "table 1" and len(steps) == 5


def test_without_adult_nothing_is_claimed(found: Paper) -> None:
    part = found.parts[-1]
    assert "--data adult=FILE" in part.about and not part.blocks
    assert {(c.ours, c.state) for c in part.claims} == {("-", "not determined by the text")}


def test_adult(of_adult: Paper) -> None:
    assert of_adult.count_states() == Counter(COUNTED)
    (grid,) = of_adult.parts[-1].blocks
    assert isinstance(grid, Grid)
    first = {
        row[0]: (row[1], *row[4:]) for row in grid.rows if row[2:4] == ("those that occur", "1")
    }
    assert first == ADULT
    assert len(grid.rows) == 12
    assert only(of_adult, "GR, k = 4").ours == "0.26 to 15.27 %"
    assert only(of_adult, "Most of the three: largest").ours == "1.49 to 24.97"


def test_hierarchies_of_adult(reference: Path, tmp_path: Path) -> None:
    folder = reference / "data" / "adult" / "hierarchies"
    assert {name: tree.height for name, tree in example.read_trees(str(folder)).items()} == dict(
        zip(example.KEYS, (1, 1, 2, 3, 2, 2, 1), strict=True)
    )
    with pytest.raises(InputError, match="0 files of the hierarchy of sex"):
        example.read_trees(str(tmp_path))
    with pytest.raises(UsageError, match="adult=FILE as well"):
        paper(Given({"hierarchies": str(folder)}))


def test_either_file_of_adult_will_do(reference: Path) -> None:
    """The unreduced file has blanks before its values and records with missing ones."""
    folder = reference / "data" / "adult"
    assert adult(str(folder / "adult.csv")) == adult(str(folder / "adult_uci_32561.csv"))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("sex,race\nsecretive,White\n", "no column 'marital-status'"),
        ("", "empty file"),
        (
            "sex,race,marital-status,education,native-country,workclass,salary-class,occupation\n"
            "secretive,b,c,d,e,f,g,h\n",
            "1 complete records, fewer than 5,692",
        ),
        (
            "sex,race,marital-status,education,native-country,workclass,salary-class,occupation\n"
            "secretive,b\n",
            "line 2: 2",
        ),
    ],
)
def test_another_file_is_refused(tmp_path: Path, text: str, told: str) -> None:
    path = tmp_path / "table.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=told) as error:
        adult(str(path))
    assert "secretive" not in str(error.value) and "\n" not in str(error.value)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"adult\.csv: No such file"):
        adult(str(tmp_path / "adult.csv"))
