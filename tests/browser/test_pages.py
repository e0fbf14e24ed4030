"""Reports in a real browser: nothing runs, nothing is asked for, everything can be read."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterator
from typing import Any

import pytest
from browser.making import PAGES, SAMPLES, Made, Workshop
from browser.tabs import Tab

from sievert.report.page import (
    Block,
    BulletList,
    Chapter,
    Facts,
    Figures,
    Grid,
    Hundred,
    Link,
    Numbers,
    OptionCards,
    Page,
    Paragraph,
    Picture,
    Points,
    PolicyAnswer,
)

TAGS = {
    *("html", "head", "meta", "title", "style", "body", "main", "header", "nav", "footer"),
    *("section", "h1", "h2", "h3", "h4", "h5", "h6", "p", "ul", "ol", "li", "a", "strong"),
    *("table", "caption", "thead", "tbody", "tr", "th", "td", "details", "summary"),
    *("figure", "figcaption", "svg", "desc", "g", "path", "rect", "line", "text", "tspan"),
    *("defs", "clipPath", "circle", "div", "span", "dl", "dt", "dd", "code", "wbr"),
}
WIDTHS = (390, 1280, 1920)
SHEET, INSIDE = 794, 673  # pixels of A4, and of what its margins leave
SMALLEST = 8  # pixels of a letter on a telephone
CONTRAST = "color-contrast"  # the rule that takes most of the time


@pytest.fixture(scope="module", params=PAGES)
def made(request: pytest.FixtureRequest, workshop: Workshop, tab: Tab) -> Made:
    """Each page in turn, open in the tab."""
    found = workshop.made(request.param)
    tab.sized(1280)
    tab.open(found.url)
    return found


def test_nothing_happens(made: Made, tab: Tab) -> None:
    tab.page.wait_for_timeout(30)
    assert tab.noted == [f"request {made.url}"]
    assert tab.asked("window.hit === undefined && document.scripts.length === 0")


def test_nothing_could_happen(made: Made, tab: Tab) -> None:
    assert tab.asked("looks.active()") == []
    assert set(tab.asked("looks.tags()")) <= TAGS


def test_places_have_names_of_their_own(made: Made, tab: Tab) -> None:
    assert tab.asked("looks.twice()") == []


def test_axes_have_short_numbers(made: Made, tab: Tab) -> None:
    assert tab.asked("looks.ticks()") == []


@pytest.mark.parametrize("width", WIDTHS)
def test_screen(made: Made, tab: Tab, width: int) -> None:
    tab.sized(width)
    for unfolded in ("false", "true"):
        tab.asked(f"looks.unfold({unfolded})")
        _fits(tab)
    assert tab.asked("looks.smallest()") >= SMALLEST


@pytest.mark.parametrize("width", (SHEET, INSIDE))
def test_print(made: Made, tab: Tab, width: int) -> None:
    tab.asked("looks.unfold(false)")
    tab.sized(width, media="print")
    _fits(tab)
    assert tab.asked("looks.unseen()") == []


def test_sheets(made: Made, tab: Tab) -> None:
    printed = tab.page.pdf(prefer_css_page_size=True)
    assert len(re.findall(rb"/Type\s*/Page\b", printed)) > 0


def test_accessible(made: Made, tab: Tab) -> None:
    tab.sized(1280)
    tab.asked("looks.unfold(true)")
    assert _wrong(tab, {"rules": {CONTRAST: {"enabled": False}}}) == []


def test_reading_order_without_styles(made: Made, tab: Tab) -> None:
    """The last one on a page, as it takes the styles away."""
    tab.sized(1280)
    tab.asked("looks.unfold(true)")
    tab.asked("document.querySelectorAll('style').forEach((style) => style.remove())")
    _stand_in_order(tab.asked("looks.text()"), _texts(made.page))


def test_policy(made: Made) -> None:
    """What the page allows itself is its own style and nothing else."""
    text = made.path.read_text(encoding="utf-8")
    policy = re.search(r'Security-Policy" content="([^"]*)"', text)
    style = re.search(r"<style>(.*?)</style>", text, re.DOTALL)
    assert policy is not None and style is not None
    digest = base64.b64encode(hashlib.sha256(style[1].encode()).digest()).decode()
    assert policy[1] == (
        f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    )


def _fits(tab: Tab) -> None:
    assert tab.asked("looks.scroll()") <= 0
    assert tab.asked("looks.cut()") == []
    assert tab.asked("looks.broken()") == []
    assert tab.asked("looks.overlaps()") == []


def _wrong(tab: Tab, options: dict[str, Any]) -> list[tuple[str, str]]:
    """What axe holds to be serious or worse."""
    from axe_playwright_python.sync_playwright import Axe

    found = Axe().run(tab.page, options={"resultTypes": ["violations"], **options})
    wrong = [v for v in found.response["violations"] if v["impact"] in ("serious", "critical")]
    return [(v["id"], v["nodes"][0]["html"]) for v in wrong]


SHORT = [*(name for name in PAGES if name.endswith("shared")), "limit internal", *SAMPLES]


@pytest.mark.parametrize("scheme", ("light", "dark"))
@pytest.mark.parametrize("name", SHORT)
def test_contrast(workshop: Workshop, tab: Tab, name: str, scheme: str) -> None:
    """Colours are the same on all pages, and slow to look at: the shorter ones tell."""
    tab.sized(1280)
    tab.page.emulate_media(media="screen", color_scheme=scheme)
    tab.open(workshop.made(name).url)
    found = _wrong(tab, {"runOnly": [CONTRAST]})
    tab.page.emulate_media(color_scheme="light")
    assert found == []


# -- what a page says, in its order ---------------------------------------------------------------


def _stand_in_order(text: str, wanted: Iterator[str]) -> None:
    place = 0
    for each in wanted:
        plain = " ".join(each.split())
        found = text.find(plain, place)
        assert found >= 0, f"{plain!r} is not after {text[max(0, place - 80) : place]!r}"
        place = found + len(plain)


def _texts(page: Page) -> Iterator[str]:
    yield page.title
    for block in page.front:
        yield from _block(block)
    if len(page.chapters) > 1:
        yield page.contents
        yield from (chapter.topic or chapter.title for chapter in page.chapters)
    for chapter in page.chapters:
        yield from _block(chapter)
    yield from page.foot


def _block(block: Block | Chapter) -> Iterator[str]:
    if isinstance(block, Paragraph):
        yield block.text
    elif isinstance(block, BulletList):
        for place, item in enumerate(block.items):
            yield from block.marks[place : place + 1]
            yield item
    elif isinstance(block, Figures | Facts | Points):
        for item in block.items:
            yield from item
    elif isinstance(block, PolicyAnswer):
        yield from (block.text, block.why, block.tally)
    elif isinstance(block, Hundred):
        yield from (block.title, block.allowance)
        for label in block.labels:
            yield from label
    elif isinstance(block, OptionCards):
        for option in block.items:
            yield from (option.title, option.mark)
            for each in option.rows:
                yield from (each.name, each.before, each.after)
    elif isinstance(block, Numbers):
        yield from _numbers(block)
    elif isinstance(block, Picture):
        yield " ".join(block.spec["title"]["text"])
        yield block.caption
        yield from _grid(block.behind)
    elif isinstance(block, Grid):
        yield from _grid(block)
    else:
        yield block.title
        for inner in block.blocks:
            yield from _block(inner)


def _numbers(block: Numbers) -> Iterator[str]:
    yield block.caption
    yield from block.head[:5] if block.limited else block.head[:3:2]
    for group in block.groups:
        yield from (group.title, group.tally)
        for row in group.rows:
            yield from (row.name, row.id, row.mark, row.value, row.limit, row.far, row.remark)


def _grid(grid: Grid) -> Iterator[str]:
    yield grid.caption
    yield from grid.head
    for row in grid.rows:
        yield from (cell.text if isinstance(cell, Link) else cell for cell in row)


# -- what a page would not let happen -------------------------------------------------------------


def test_a_script_put_into_the_file_does_not_run(workshop: Workshop, tab: Tab) -> None:
    made = workshop.made("limit internal")
    path = made.path.with_name("changed.html")
    added = (
        "<script>document.title = 'hit'; alert(1)</script><img src=x onerror=alert(2)>"
        "<img src=http://evil.test/3.png><p style='color: red'>x</p><script src=y.js></script>"
    )
    path.write_text(made.path.read_text("utf-8").replace("<main>", f"<main>{added}"), "utf-8")
    tab.open(path.as_uri())

    def refused() -> bool:
        asked = {n.split()[1] for n in tab.noted if n.startswith("request")}
        failed = {n.split()[1] for n in tab.noted if n.startswith("failed") and n.endswith("csp")}
        told = [n for n in tab.noted if "Content Security Policy" in n]
        return len(told) >= 5 and asked - failed == {path.as_uri()}

    tab.wait_until(refused)
    assert refused()
    assert tab.page.title() == made.page.title
    assert not [n for n in tab.noted if n.startswith(("dialog", "error"))]


def test_the_browser_would_have_noticed(tmp_path: Any, tab: Tab) -> None:
    """The same checks on a page that does all of it."""
    path = tmp_path / "bad.html"
    path.write_text(
        "<script>alert(1); hit = 1; console.log(2); nothing()</script>"
        "<img src=http://evil.test/x.png onerror=1><a href=//evil.test>away</a>"
        "<p style='width: 3000px'>wide</p><p style='height: 0'>one</p><p>on the other</p>"
        "<div style='width: 20px; overflow: hidden'>cutcutcutcut</div>",
        "utf-8",
    )
    tab.open(path.as_uri())

    def noticed() -> bool:
        kinds = {n.split()[0] for n in tab.noted}
        return {"dialog", "console", "error", "request"} <= kinds and len(tab.noted) > 4

    tab.wait_until(noticed)
    assert noticed()
    assert len(tab.asked("looks.active()")) >= 3
    assert tab.asked("looks.scroll()") > 0
    assert any("cut at the side" in c for c in tab.asked("looks.cut()"))
