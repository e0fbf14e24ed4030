"""The ITPR paper recomputed: how every claim stands, the numbers themselves, bad files of times."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sievert import charts
from sievert.errors import InputError
from sievert.papers import recompute
from sievert.papers.claims import (
    CONTRADICTS,
    FALSE,
    MATCH,
    NEED_WHY,
    OPEN,
    ROUNDING,
    TRUE,
    Claim,
    Given,
    Paper,
    PaperPart,
)
from sievert.papers.itpr import figures, inference
from sievert.papers.itpr.cases import CONSTANT, IDS, RISES, THETA, direction
from sievert.report.page import Grid, Paragraph, Picture

STANDS = {TRUE: 82, MATCH: 67, FALSE: 1, OPEN: 7, CONTRADICTS: 21, ROUNDING: 4}
# The beginning of each part's title, and its claims.
PARTS = {
    "Tables 1 and 2": 12,
    "Table 3": 8,
    "Table 4": 40,
    "Section 3.3": 21,
    "Section 4": 11,
    "Tables 5 and 6": 14,
    "Figure 1": 13,
    "Figure 2": 7,
    "Figure 3": 11,
    "Figure 4": 21,
    "Figure 5": 2,
    "Figure 6": 4,
    "Table 7": 18,
}


@pytest.fixture(scope="module")
def paper(plain_paper: Callable[[str], Paper]) -> Paper:
    return plain_paper("itpr")


def part(paper: Paper, title: str) -> PaperPart:
    (found,) = [p for p in paper.parts if p.title.startswith(f"{title}:")]
    return found


def claim(paper: Paper, title: str, what: str) -> Claim:
    (found,) = [c for c in part(paper, title).claims if c.what == what]
    return found


def whats(paper: Paper, title: str, state: str) -> list[str]:
    return [c.what for c in part(paper, title).claims if c.state == state]


def test_how_the_claims_stand(paper: Paper) -> None:
    assert paper.count_states() == Counter(STANDS)
    assert {p.title.split(":")[0]: len(p.claims) for p in paper.parts} == PARTS


def test_every_part_says_what_it_is(paper: Paper) -> None:
    assert all(p.title and len(p.about) > 40 for p in paper.parts)
    assert len({p.title for p in paper.parts}) == len(paper.parts)


def test_a_reason_stands_where_one_is_needed_and_nowhere_else(paper: Paper) -> None:
    for held in paper.parts:
        assert len({c.what for c in held.claims}) == len(held.claims), held.title
        for c in held.claims:
            assert bool(c.why) == (c.state in (*NEED_WHY, ROUNDING)), c
            assert c.what and c.printed and c.ours


def test_table_4(paper: Paper) -> None:
    """Forty numbers: two are cut off, and two follow from no reading that gives the others."""
    held = part(paper, "Table 4")
    assert Counter(c.state for c in held.claims) == {MATCH: 36, ROUNDING: 2, CONTRADICTS: 2}
    assert whats(paper, "Table 4", CONTRADICTS) == [
        "Age case 5, Disease case 2: MIL",
        "Age case 5, Disease case 3: MIL",
    ]
    assert claim(paper, "Table 4", "Age case 5, Disease case 2: MIL").ours == "2.000"
    assert claim(paper, "Table 4", "Age case 5, Disease case 3: MIL").ours == "1.549"
    assert claim(paper, "Table 4", "Age case 5, Disease case 3: MI").ours == "0.5488"
    assert claim(paper, "Table 4", "Age case 4: MIL").ours == "2.7500"
    (readings,) = held.blocks
    assert isinstance(readings, Paragraph)
    assert "share of the class 2.75, 2, 2, 2, 1.549; without it 2, 1, 1, 1.25, 1.549;" in (
        readings.text
    )
    assert "table 2, 1, 1, 1, 0.6781; about the age by the secret 0.8113, 1, 1, 1, 1" in (
        readings.text
    )


def test_table_5(paper: Paper) -> None:
    """All ten values come out; the label of row 7 is wrong."""
    rows = part(paper, "Tables 5 and 6").claims[:10]
    assert {c.state for c in rows} == {MATCH}
    assert [float(c.ours) for c in rows] == pytest.approx(
        [1, 0, 1, 0.8333, 0.3333, 0.604, 0.75, 0.3333, 0.4545, 1], abs=1e-9
    )
    assert whats(paper, "Tables 5 and 6", CONTRADICTS) == [
        "Row 7 as it is labelled, with case 1 of Zip Code"
    ]


def test_disease_is_not_what_the_words_say(paper: Paper) -> None:
    assert whats(paper, "Table 3", CONTRADICTS) == [
        "Disease, case 2, as case 2 of Age",
        "Disease, case 3, as case 3 of Age",
    ]


def test_section_3_3_measure_by_measure(paper: Paper) -> None:
    assert whats(paper, "Section 3.3", CONTRADICTS) == [
        "MIL gives case 3 of Age less than case 5",
        "CP is wrong on case 1 of Age",
        "MI is right on case 1 of Disease",
        "CP is right on case 1 of Disease",
        "MIL is right on case 1 of Disease",
        "ELD is wrong on cases 2 and 3 of Disease",
    ]


def test_formulas_as_printed(paper: Paper) -> None:
    """Without the share row 5 is -0.33; the words and the minimum of ELD are excluded too."""
    held = [c for c in part(paper, "Section 4").claims if c.state == CONTRADICTS]
    assert [c.ours for c in held] == ["-0.3333", "2.0000", "0.143", "-0.638"]
    (grid,) = part(paper, "Section 4").blocks
    assert isinstance(grid, Grid)
    literal = [row[3] for row in grid.rows]
    assert literal == [
        "1.0000", "0.0000", "1.0000", "0.3333", "-0.3333", "-0.3333", "-0.0909", "1.0000",
    ]  # fmt: skip


def test_figure_1(paper: Paper) -> None:
    assert claim(paper, "Figure 1", "ITPR at epsilon 9998").state == MATCH
    assert claim(paper, "Figure 1", "ITPR at epsilon 0").ours == "0.0753"
    assert claim(paper, "Figure 1", "MIL, least").ours == "7.14"
    assert claim(paper, "Figure 1", "MIL, most").ours == "13.29"
    first = part(paper, "Figure 1").blocks[0]
    assert isinstance(first, Picture)
    drawn = {(v["line"], v["x"]): v["y"] for v in first.spec["data"]["values"]}
    assert drawn["ITPR", 8000] == pytest.approx(0.85, abs=1e-12)  # 1,000 and 9,000 records
    assert drawn["ITPR", 5000] == pytest.approx(0.5752574989159953, abs=1e-12)
    assert drawn["ELD", 9980] == pytest.approx(0.1, abs=1e-12)


def test_figure_2_behaves_as_figure_1(paper: Paper) -> None:
    """Which way a measure goes, not how large it is: ten classes tell more than two."""
    assert {c.state for c in part(paper, "Figure 2").claims} == {TRUE}
    assert claim(
        paper, "Figure 2", "ITPR has its least value at equal numbers, as with two values"
    ).ours.startswith("0.25")
    other = figures.growing(2)
    backwards = replace(other, of={name: values[::-1] for name, values in other.of.items()})
    assert {c.state for c in figures.figure_2(backwards, other).claims} == {FALSE}


def test_figures_3_and_4(paper: Paper) -> None:
    assert whats(paper, "Figure 3", CONTRADICTS) == [
        "DR is hard to read: its worst value depends on the table (section 5.2)"
    ]
    assert claim(paper, "Figure 4", "ELD (ages move apart)").state == TRUE
    assert claim(paper, "Figure 4", "MIL at theta 0.4").state == CONTRADICTS
    assert claim(paper, "Figure 4", "MI at theta 0.4").ours.startswith("0.0613 ")
    twelve = claim(paper, "Figure 4", "Theta of a group with 12 % where the table has 0.001 %")
    assert (twelve.state, twelve.ours) == (OPEN, "-0.529")
    assert whats(paper, "Figure 4", FALSE) == ["Theta of the group with 5 % is high"]


def test_readings_of_figure_3_that_the_text_excludes(paper: Paper) -> None:
    grid = part(paper, "Figure 3").blocks[-1]
    assert isinstance(grid, Grid)
    goes = {row[0]: dict(zip(IDS, row[1:], strict=True)) for row in grid.rows}
    assert goes[inference.SAME]["ITPR"] == CONSTANT
    assert goes[inference.SINGLE]["MIL"] == RISES
    wanted = {**dict.fromkeys(IDS, RISES), "MIL": "falls"}
    assert goes[inference.SHARED] == goes[inference.THREE] == wanted


def test_what_the_reasons_of_figure_4_rest_on() -> None:
    """MIL >= theta; with equal ages ITPR = theta/H(X) and ELD = 2^(theta - H(X))."""
    found = inference.inference()
    for series in (*found.growing.values(), found.drifting, found.moving):
        for i, theta in enumerate(series.of[THETA]):
            itpr, eld, dr, mi = (series.of[n][i] for n in ("ITPR", "ELD", "DR", "MI"))
            assert series.of["MIL"][i] >= theta - 1e-12
            if dr:
                whole = mi / dr
                assert itpr == pytest.approx(theta / whole, abs=1e-9)
                assert eld == pytest.approx(2 ** (theta - whole), abs=1e-9)
    assert found.drifting.of[THETA] == pytest.approx([i / 10 for i in range(10)], abs=2e-3)


def test_figure_5(paper: Paper) -> None:
    (picture,) = part(paper, "Figure 5").blocks
    assert isinstance(picture, Picture)
    assert picture.behind.head == ("theta", "0", "200", "400", "600", "800", "1,000", "1,200")
    first = picture.behind.rows[0]
    assert first == ("0.0", "0", "0.02", "0.04", "0.06", "0.08", "0.1", "0.12")
    assert whats(paper, "Figure 5", TRUE) == [
        "ITPR increases with epsilon",
        "ITPR increases with theta",
    ]


def test_table_7(paper: Paper) -> None:
    """Three marks go against section 3.3, a bracket against another sentence."""
    assert whats(paper, "Table 7", CONTRADICTS) == [
        "DR, inference",
        "MI, inference",
        "CP, inference",
        "DR is hard to read: its worst value depends on the table (table 7)",
    ]
    eld = claim(paper, "Table 7", "ELD, inference")
    assert eld.ours == "fails: rises with theta, ages move apart"
    beyond = part(paper, "Table 7").blocks[-1]
    assert isinstance(beyond, Grid)
    assert [row[1] for row in beyond.rows] == ["0.6131", "0.7421", "0.0000", "0.8000"]


def test_pictures_have_their_numbers_and_can_be_drawn(paper: Paper) -> None:
    pictures = [b for p in paper.parts for b in p.blocks if isinstance(b, Picture)]
    assert len(pictures) == 11
    for picture in pictures:
        assert picture.caption
        assert 1 < len(picture.behind.rows) <= 25
    assert "<svg" in charts.svg(pictures[0].spec)


def test_twice_the_same_and_step_by_step(paper: Paper) -> None:
    steps: list[str] = []
    assert recompute("itpr", Given(seed=5, step=steps.append)) == paper
    assert len(steps) == len(set(steps)) == 7


GROWTH = {"by_rows": [{"rows": 10**9, "wall": 9.0}, {"rows": 10**5, "wall": 0.1}]}
SCALE = {
    "billion": {
        "rows": 10**9,
        "samples": {"sievert, every measure": [{"wall": w} for w in (4.0, 5.0, 9.0)]},
    }
}


def kept(folder: Path, content: Any) -> str:
    path = folder / "times.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return str(path)


def test_figure_6_draws_times_that_are_given(tmp_path: Path) -> None:
    found = figures.figure_6(Given(data={"timings": kept(tmp_path, GROWTH)}))
    (picture,) = found.blocks
    assert isinstance(picture, Picture)
    assert picture.behind.rows == (("100,000", "0.1"), ("1,000,000,000", "9"))
    assert [c.ours for c in found.claims[:2]] == ["0.1 s", "9 s"]
    last = found.claims[-1]
    assert (last.state, last.ours) == (TRUE, "1.95 for 4.00, measured")


def test_times_that_grow_faster_than_the_records_make_it_false(tmp_path: Path) -> None:
    slow = {"by_rows": [{"rows": 10**5, "wall": 0.1}, {"rows": 10**6, "wall": 2.0}]}
    found = figures.figure_6(Given(data={"timings": kept(tmp_path, slow)}))
    assert found.claims[-1].state == FALSE


def test_the_other_file_of_the_benchmarks(tmp_path: Path) -> None:
    assert figures.read_times(kept(tmp_path, SCALE)) == [(10**9, 5.0)]


@pytest.mark.parametrize(
    "content",
    ["{", "[1]", "{}", '"by_rows"', {"by_rows": []}, {"by_rows": [{"rows": 5}]},
     {"by_rows": [{"rows": 10, "wall": 0}]}, '{"by_rows": [{"rows": 10, "wall": NaN}]}',
     '{"by_rows": [{"rows": Infinity, "wall": 1}]}', {"billion": {"rows": 1, "samples": {}}}],
)  # fmt: skip
def test_a_file_that_is_something_else(tmp_path: Path, content: Any) -> None:
    with pytest.raises(InputError) as raised:
        figures.read_times(kept(tmp_path, content))
    assert "times.json" in raised.value.what
    assert "\n" not in str(raised.value)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        figures.read_times(str(tmp_path / "times.json"))


def test_which_way() -> None:
    assert direction([3, 2, 1]) == "falls"
    assert direction([1, 2, 2]) == "goes up and down"
