"""The blocks of a page as HTML: what is drawn, what is said of it, what a notebook gets."""

from __future__ import annotations

import re
import sys
import xml.etree.ElementTree as ET
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from browser import samples

from sievert.charts import svg
from sievert.charts.colours import LIGHT
from sievert.report import drawings, html
from sievert.report.page import (
    Chapter,
    Hundred,
    NumberGroup,
    NumberRow,
    Numbers,
    Page,
    Paragraph,
    PolicyAnswer,
)

pytest.importorskip("vl_convert")

STYLE = (Path(html.__file__).parent / "style.css").read_text(encoding="utf-8")
NAMED = re.compile(r"--([\w-]+): (#[0-9a-f]{6})")


@pytest.fixture(scope="module")
def page() -> str:
    return html.render(samples.decision())


def elements(picture: str, tag: str) -> list[ET.Element]:
    return list(ET.fromstring(picture).iter(tag))


# -- colours --------------------------------------------------------------------------------------


def test_pictures_and_styles_have_the_same_colours() -> None:
    light, dark = STYLE.split("prefers-color-scheme: dark")
    assert dict(NAMED.findall(light)) == LIGHT
    assert set(dict(NAMED.findall(dark.split("* {")[0]))) == set(LIGHT)


def test_charts_follow_the_page() -> None:
    drawn = svg(samples.PICTURE.spec, width=760)
    colours = re.findall(r' (?:fill|stroke)="([^"]*)"', drawn)
    assert {"var(--ink, #14191f)", "var(--bar, #3b5b92)"} <= set(colours)
    assert all(c == "none" or c.startswith(("var(", "color-mix(")) for c in colours)
    assert re.search(r'width="(\d+)"', drawn)[1] == "760"  # type: ignore[index]
    assert "style=" not in drawn and "var(" not in svg(samples.PICTURE.spec)


def test_a_text_that_looks_like_a_colour_stays() -> None:
    bar = replace(samples.SHARES[0], row='x fill="white"')
    spec = samples.bars("t", ["b"], [bar], axis="Share")
    texts = [e.text for e in elements(svg(spec, width=760), "{http://www.w3.org/2000/svg}text")]
    assert 'x fill="white"' in texts


# -- states ---------------------------------------------------------------------------------------


def test_each_state_has_a_shape_of_its_own() -> None:
    shapes = {
        state: ET.fromstring(drawings.icon(state))[0].attrib.get("d", "")
        + ET.fromstring(drawings.icon(state))[0].tag
        for state in ("met", "breached", "doubtful")
    }
    assert shapes == {"met": "rect", "breached": "circle", "doubtful": f"{drawings.DIAMOND}path"}
    assert "stroke-dasharray" in drawings.icon("open") and drawings.icon("other") == ""


@pytest.mark.parametrize("state", samples.VERDICTS)
def test_a_verdict(state: str) -> None:
    verdict = samples.VERDICTS[state]
    shown = html.render(samples.decision(state))
    assert f'<div class="verdict {state}">' in shown and verdict.text in shown
    assert str(drawings.icon(state, 40)) in shown
    assert (f'role="img" aria-label="{verdict.tally}"' in shown) is bool(verdict.states)


def test_many_limits_become_a_bar() -> None:
    states = 30 * ("met",) + 10 * ("breached",)
    bars = elements(drawings.strip(states, "30 met"), "rect")
    assert [float(b.attrib["width"]) for b in bars] == [204, 68]
    assert len(elements(drawings.strip(states[:12]), "g")) == 12


def test_a_lead_with_a_state_is_a_verdict() -> None:
    for lead, wanted in (("lead breached", "verdict breached"), ("lead", "lead")):
        shown = html.render(
            Page(title="t", language="en", front=(Paragraph("x", lead),), chapters=())
        )
        assert f'class="{wanted}"' in shown


# -- people ---------------------------------------------------------------------------------------


def test_a_hundred_people() -> None:
    picture = drawings.people(samples.PEOPLE)
    paths = elements(picture, "path")
    assert [p.attrib["d"].count("M") for p in paths[:3]] == [65, 27, 8]
    said = ET.fromstring(picture).attrib["aria-label"]
    assert said == (
        "Of every 100 people in the table: 65 alone, 27 in groups of 2–4, 8 in groups of 5+"
    )


@pytest.mark.parametrize(
    ("allowed", "corners"), [(None, 0), (0, 0), (3, 4), (5, 4), (7, 6), (100, 4)]
)
def test_the_allowance_is_a_box(allowed: int | None, corners: int) -> None:
    block = Hundred(
        title="People",
        shares=(60, 30, 10),
        labels=(("60", ""), ("30", ""), ("10", "")),
        allowed=allowed,
        allowance="words",
    )
    boxes = [
        p.attrib["d"]
        for p in elements(drawings.people(block), "path")
        if "stroke-dasharray" in p.attrib
    ]
    assert len(boxes) == (corners > 0)
    assert sum(len(re.findall("[MHV]", box)) for box in boxes) == corners
    assert "words" in html.fragment(block)


# -- numbers --------------------------------------------------------------------------------------


def numbers(*positions: float | None) -> Numbers:
    rows = (
        NumberRow(
            name="n",
            id="itpr",
            value="1",
            state="breached",
            mark="b",
            limit="0",
            far="",
            position=p,
        )
        for p in positions
    )
    return Numbers(caption="c", head=samples.HEAD, groups=(NumberGroup("", tuple(rows)),))


def test_bars_share_a_limit_and_double() -> None:
    scale = drawings.limit_scale(numbers(2.32, 4.21, -0.6, None))
    assert scale.place(0) == drawings.LIMIT_AT and scale.doublings == (1, 2, 3, 4)
    assert scale.place(2) - scale.place(1) == pytest.approx(scale.place(1) - scale.place(0))
    assert 0 < scale.place(-99) < scale.place(-0.6) < scale.place(0)
    axis = [e.text for e in elements(drawings.limit_axis(scale, ("inside", "limit")), "text")]
    assert axis == ["inside", "limit", "2\xa0×", "4\xa0×", "8\xa0×", "16\xa0×"]


def test_a_breach_of_a_limit_of_zero_is_drawn() -> None:
    """No multiple says how far it is beyond: an arrow leads out of the picture."""
    scale = drawings.limit_scale(numbers(2.32, None))
    shown = {
        s: len(elements(drawings.limit_bar(scale, None, s), "path")) for s in ("met", "breached")
    }
    assert shown["breached"] == shown["met"] + 2


@pytest.mark.parametrize("far", [0.5, 5, 9, 12, 40, float("inf")])
def test_far_numbers_stay_on_the_picture(far: float) -> None:
    scale = drawings.limit_scale(numbers(far, -far))
    assert drawings.LIMIT_AT < scale.place(far) < drawings.LIMIT_WIDTH
    places = [scale.place(n) for n in scale.doublings]
    gaps = [b - a for a, b in pairwise(places)]
    assert places and all(gap >= 20 for gap in gaps)


def test_rows_of_numbers(page: str) -> None:
    rows = re.findall(r"<tr[^>]*><th scope=\"row\">.*?</tr>", page)
    shown = {re.search(r"<code>(.*?)</code>", r)[1]: r for r in rows if "<code>" in r}  # type: ignore[index]
    first, bare = shown["k_<wbr>anonymity"], shown["mutual_<wbr>information"]
    assert 'href="#def-k_anonymity"' in first and 'class="mark breached"' in first
    assert "5\xa0× short" in first and 'class="limit"' in first
    assert "<svg" not in bare and '<td class="far"></td>' in bare
    plain = page[page.index("Numbers without a limit") :].split("</table>")[0]
    assert plain.count('<th scope="col"') == 3 and "<svg" not in plain
    remark = "The diagnoses were not merged: the policy names no partition."
    assert f'<tr class="remark"><td colspan="6">{remark}</td></tr>' in page


# -- texts ----------------------------------------------------------------------------------------


def test_units_stay_with_their_numbers(page: str) -> None:
    assert "83\xa0% of people" in page and not re.search(r"> ?[^<]* [%×]", page)
    assert '<span class="whole">k-anonymity</span>' in page
    assert html.tidy("a < b & 5 %") == "a &lt; b &amp; 5\xa0%"


def test_only_monsters_may_break_in_a_table() -> None:
    assert html._classes("discrimination rate of everything") == ""
    assert html._classes("<script>alert(document.cookie)</script>") == ' class="long"'
    assert html._classes("x" * 25, "right") == ' class="right long"'


# -- the page -------------------------------------------------------------------------------------


def test_the_first_screen_in_two_columns() -> None:
    rows = html.arrange(samples.decision().front)
    assert [(beside, len(blocks)) for beside, blocks in rows] == [(False, 2), (True, 2), (False, 2)]
    assert html.arrange([samples.POINTS, samples.UNCOVERED])[0][0] is False


def test_the_bar_on_top_and_the_links(page: str) -> None:
    bar = page.split('<header class="bar">')[1].split("</header>")[0]
    for text in ("Sievert", "Decision page", "Internal: exact counts, not for passing on"):
        assert text in bar
    nav = page.split("<nav")[1].split("</nav>")[0]
    topics = re.findall(r">([^<]+)</a>", nav)
    assert topics == [
        "The 12 limits", "Why", "Releases compared", "What was not measured", "Definitions",
    ]  # fmt: skip


def test_a_folded_chapter(page: str) -> None:
    assert '<details class="chapter"><summary><h2 id="definitions">' in page


def test_no_style_and_no_script(page: str) -> None:
    assert " style=" not in page and "<script" not in page
    goals = set(re.findall(r'href="#([^"]*)"', page))
    assert goals <= set(re.findall(r' id="([^"]*)"', page))


def test_a_piece_for_a_notebook() -> None:
    blocks = samples.decision().front
    piece = html.fragment(*blocks, *(c for c in samples.decision().chapters))
    assert " id=" not in re.sub(r"<(clipPath|g)\b[^>]*>", "", piece) and "<style" not in piece
    assert "href=" not in piece and 'class="whole"' not in piece
    assert len(re.findall(r'class="chart', piece)) == 1  # nothing would hide the other
    assert "No. The policy is not met." in piece and "k-anonymity" in piece
    again = html.fragment(Chapter(title="t", anchor="a", blocks=(samples.PICTURE,)))
    assert 'class="chart cell"' in again


def test_labels_of_pictures_are_escaped() -> None:
    verdict = PolicyAnswer(state="met", text="x", why="", states=("met",), tally='"><script>')
    shown = html.render(samples.decision(verdict=verdict))
    assert "<script" not in shown and "&#34;&gt;&lt;script&gt;" in shown


# -- without the renderer -------------------------------------------------------------------------


def test_without_the_renderer_a_page_has_tables_and_says_once_what_to_install(
    page: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    decision = replace(samples.decision(), undrawn="pip install 'sievert[charts]'")
    plain = html.render(decision)
    assert 'class="chart' in page and "pip install" not in page
    assert 'class="chart' not in plain and plain.count("pip install") == 1
    pictures = len(list(decision.pictures()))
    assert plain.count("<details open>") - page.count("<details open>") == pictures > 0
    assert plain.count('class="people"') == page.count('class="people"') == 1  # drawn by ourselves
    assert "<table" in html.fragment(samples.PICTURE)
    no_pictures = replace(decision, front=(), chapters=())
    assert "pip install" not in html.render(no_pictures)
