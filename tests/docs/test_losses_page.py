"""The page of losses says of every loss what its record says, and its examples run."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest

from sievert.losses import BY_ID, KINDS

DOCS = Path(__file__).parents[2] / "docs"
TEXT = (DOCS / "losses.md").read_text(encoding="utf-8")
PARTS = ("Definition", "Reading", "Example", "Limits and traps", "Source")
HEAD = ["id", "title", "unit", "range", "worse when", "reading"]


def sections() -> dict[str, str]:
    """The text below each heading."""
    _, *found = re.split(r"^## ", TEXT, flags=re.MULTILINE)
    return {heading: text for heading, _, text in (each.partition("\n") for each in found)}


def index() -> list[list[str]]:
    """The cells of the first table, its head first."""
    lines = TEXT.partition("\n## ")[0].splitlines()
    rows = [line.strip("|").split("|") for line in lines if line.startswith("|")]
    return [[cell.strip() for cell in row] for row in rows]


def anchor(heading: str) -> str:
    """What a link to a heading is called."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


@pytest.mark.parametrize("name", BY_ID)
def test_section_is_complete(name: str) -> None:
    kind = BY_ID[name]
    text = sections()[f"{kind.title} (`{name}`)"]
    parts = re.findall(r"^\*\*([A-Z][a-z ]+)\.\*\*", text, flags=re.MULTILINE)
    assert parts == list(PARTS)
    example = text.partition("**Example.**")[2].partition("**Limits and traps.**")[0]
    assert ">>> " in example
    definition = text.partition("**Reading.**")[0]
    assert re.search(rf"^Unit: {re.escape(kind.unit)}(\.| \()", definition, re.MULTILINE)
    assert f"Worse when {kind.worse}" in definition.replace("\n", " ")


def test_sections_and_index_are_in_the_order_of_the_records() -> None:
    named = [found[1] for h in sections() if (found := re.search(r"\(`(\w+)`\)$", h))]
    assert named == list(BY_ID)
    head, _, *rows = index()
    assert head == HEAD
    assert [re.findall(r"`(\w+)`", row[0]) for row in rows] == [[name] for name in BY_ID]


def test_index_agrees_with_the_records() -> None:
    for kind, row in zip(KINDS, index()[2:], strict=True):
        link = f"[`{kind.id}`](#{anchor(f'{kind.title} ({kind.id})')})"
        assert row == [link, kind.title, kind.unit, kind.bounds, kind.worse, kind.reading]


def test_links_within_the_page() -> None:
    there = {anchor(heading) for heading in sections()}
    linked = set(re.findall(r"\]\(#([^)]+)\)", TEXT))
    assert linked <= there
    assert len(linked) >= len(KINDS)


def test_records_read_alike() -> None:
    for kind in KINDS:
        assert kind.reading.endswith("."), kind.id
        assert kind.reading[0].isupper() or kind.reading[0].isdigit(), kind.id
        assert len(kind.title) <= 40, kind.id


@pytest.mark.parametrize("page", ["losses", "estimation", "compare"])
@pytest.mark.slow
def test_examples(page: str) -> None:
    failed, run = doctest.testfile(
        str(DOCS / f"{page}.md"), module_relative=False, optionflags=doctest.NORMALIZE_WHITESPACE
    )
    assert failed == 0
    assert run > 0
