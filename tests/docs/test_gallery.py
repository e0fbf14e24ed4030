"""The gallery of charts: its pictures are those of the demo, and each has its words."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from sievert.report.texts import english
from website.gallery import IMAGES, PICTURES, drawn, explained, limited

TEXT = (Path(__file__).parents[2] / "docs" / "gallery.md").read_text(encoding="utf-8")


def test_every_picture_has_its_words() -> None:
    shown = re.findall(r"\(images/(gallery_\w+\.svg)\)", TEXT)
    assert set(shown) == {f"gallery_{name}.svg" for name in PICTURES}
    assert set(shown) == {path.name for path in IMAGES.glob("gallery_*.svg")}
    charts = TEXT.split("\n### ")[1:]
    assert len(charts) == len(shown) + 1  # and the picture of the README
    for chart in charts:
        assert re.findall(r"^- \*\*(\w+)\*\*", chart, re.MULTILINE) == ["Shows", "Read", "Do"]
        assert chart.count("](images/") == 1 and "\nFrom `" in chart


def test_every_chart_of_a_page_has_a_picture() -> None:
    """The title of a chart is a text whose key ends like this; names of columns stand in it."""
    chart = re.compile(r"(^|[._])chart(_\w+)?$")
    titles = {key: text for key, text in english().items() if chart.search(key)}
    beginnings = [title.replace("diagnosis", "{secret}") for _, title in PICTURES.values()]
    beginnings = [text for text in beginnings if text]
    elsewhere = {"explained.remedies_chart", "synthetic.map_chart"}  # the README's; without a title
    assert len(titles) > len(elsewhere) + 20
    for key, title in titles.items():
        shown = [b for b in beginnings if re.sub(r"value of .*", "value of {column}", b) in title]
        assert shown or key in elsewhere, f"{key} has no picture in docs/gallery.md"


def without_last_digits(svg: str) -> str:
    """Write the numbers of a picture with 9 digits: those after them depend on the processor."""
    return re.sub(r"-?\d+\.\d+(e-?\d+)?", lambda number: f"{float(number[0]):.9g}", svg)


def test_pictures_are_those_of_the_demo() -> None:
    """Of two quick results; the soak tests draw all."""
    pytest.importorskip("vl_convert")
    for name, text in drawn([explained, limited]):
        shown = (IMAGES / name).read_text(encoding="utf-8")
        same = without_last_digits(shown) == without_last_digits(text)
        assert same, f"{name}: run `python -m website.gallery`"
