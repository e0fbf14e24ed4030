"""The decision page in a real browser: its first screen, the dark, print, links to definitions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from browser import samples
from browser.making import Workshop
from browser.tabs import Tab, watched

FONTS = ("", "DejaVu Sans", "DejaVu Serif")
SCREEN = {"width": 1280, "height": 800}
MOST_SHEETS = 4


@pytest.fixture
def screen(browser: Any) -> Iterator[Tab]:
    context = browser.new_context(offline=True, viewport=SCREEN)
    yield watched(context.new_page())
    context.close()


def bottom(tab: Tab, what: str) -> float:
    return float(tab.asked(f"document.querySelector('{what}').getBoundingClientRect().bottom"))


def colour(tab: Tab, name: str) -> str:
    style = "getComputedStyle(document.documentElement)"
    return str(tab.asked(f"{style}.getPropertyValue('--{name}')"))


@pytest.mark.parametrize("state", samples.VERDICTS)
def test_the_answer_needs_no_scrolling(workshop: Workshop, screen: Tab, state: str) -> None:
    screen.open(workshop.made(f"decision {state}").url)
    for font in FONTS:
        if font:
            rule = f':root {{ --sans: "{font}" !important }}'
            screen.asked(f"document.styleSheets[0].insertRule('{rule}', 0)")
        assert bottom(screen, "nav") <= SCREEN["height"], font
        assert screen.asked("looks.scroll()") <= 0
        assert [screen.asked(f"looks.{each}()") for each in ("cut", "broken", "overlaps")] == [
            [], [], [],
        ], font  # fmt: skip


def test_findings_stand_beside_people(workshop: Workshop, screen: Tab) -> None:
    screen.open(workshop.made("decision breached").url)
    edge = "document.querySelector('{}').getBoundingClientRect().{}"
    points, people, warning = ".points", ".hundred", ".front .warning"
    assert screen.asked(f"{edge.format(points, 'right')} < {edge.format(people, 'left')}")
    assert screen.asked(f"{edge.format(points, 'top')} == {edge.format(people, 'top')}")
    assert screen.asked(f"{edge.format(warning, 'top')} >= {edge.format(people, 'bottom')}")
    screen.sized(390)
    assert screen.asked(f"{edge.format(points, 'bottom')} <= {edge.format(people, 'top')}")


@pytest.mark.parametrize("width", (390, 640, 641, 1000, 1280, 1920))
def test_charts_use_their_width(workshop: Workshop, screen: Tab, width: int) -> None:
    screen.open(workshop.made("decision breached").url)
    screen.sized(width)
    shown = screen.asked(
        "[...document.querySelectorAll('.chart')].map((e) => e.getBoundingClientRect())"
        ".filter((r) => r.width).map((r) => [r.left, r.width])"
    )
    home = "document.querySelector('.picture').getBoundingClientRect()"
    left, whole = screen.asked(f"[{home}.left, {home}.width]")
    wanted = min(whole, 480 if width <= 640 else 760 if width > 1000 else whole)
    assert shown == [[left, pytest.approx(wanted, abs=1)]]
    assert screen.asked("looks.smallest()") >= (9.9 if 640 < width < 1000 else 12)


def test_the_dark_and_paper(workshop: Workshop, screen: Tab) -> None:
    screen.open(workshop.made("decision breached").url)
    light = colour(screen, "page"), colour(screen, "met")
    screen.page.emulate_media(color_scheme="dark")
    assert (colour(screen, "page"), colour(screen, "met")) == ("#0f1318", "#7fd6a0")
    body = "getComputedStyle(document.documentElement).backgroundColor"
    assert screen.asked(body) == "rgb(15, 19, 24)"
    bar = "getComputedStyle(document.querySelector('.chart [aria-roledescription=bar]')).fill"
    assert screen.asked(bar) == "rgb(134, 166, 222)"
    screen.page.emulate_media(media="print", color_scheme="dark")
    assert (colour(screen, "page"), colour(screen, "met")) == light
    assert screen.asked(bar) == "rgb(59, 91, 146)"


def test_sheets_of_paper(workshop: Workshop, screen: Tab) -> None:
    screen.open(workshop.made("decision breached").url)
    printed = screen.page.pdf(prefer_css_page_size=True)
    sheets = len(re.findall(rb"/Type\s*/Page\b", printed))
    assert 1 <= sheets <= MOST_SHEETS


def test_a_name_leads_to_its_definition(workshop: Workshop, screen: Tab) -> None:
    screen.open(workshop.made("decision breached").url)
    assert not screen.asked("document.querySelector('.chapter').open")
    screen.page.click(".numbers a[href='#def-t_closeness']")
    screen.page.wait_for_selector("#def-t_closeness", state="visible")
    assert screen.asked("document.querySelector('.chapter').open")
