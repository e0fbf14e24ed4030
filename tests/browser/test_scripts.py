"""Sixty scripts as columns, values, files and titles: all of them are text, none is run."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from browser.making import Workshop, drawn, numbers, written
from browser.tabs import Tab
from helpers.commandline import run
from helpers.payloads import NAMES, PAYLOADS, as_file
from markupsafe import escape

import sievert
from sievert.commands.report.run import build_page
from sievert.formatting import printable
from sievert.report import builder, html

LETTERS = 50  # of a long name that a page shows at least
MOST_BYTES = 500_000


def shown(tab: Tab) -> str:
    """What can be read, folded or not."""
    tab.asked("looks.unfold(true)")
    return str(tab.asked("looks.text()"))


def plain(text: str) -> str:
    """A text as a page shows it."""
    return " ".join(printable(text)[:LETTERS].split())


def visible(text: str) -> str:
    """The signs of a text that can be seen."""
    return "".join(sign for sign in text if sign.isprintable() and not sign.isspace())


def quiet(tab: Tab, url: str) -> None:
    """Opened, and nothing happened."""
    tab.open(url)
    assert tab.noted == [f"request {url}"]
    assert tab.asked("window.hit === undefined && document.scripts.length === 0")
    assert tab.asked("looks.active()") == []


@pytest.mark.parametrize("name", ["assess shared", "assess internal"])
def test_columns(workshop: Workshop, tab: Tab, name: str) -> None:
    quiet(tab, workshop.made(name).url)
    text = shown(tab)
    assert [n for n in NAMES if plain(n) not in text] == []


def test_values(workshop: Workshop, tab: Tab) -> None:
    quiet(tab, workshop.made("explain internal").url)
    text = shown(tab)
    assert [n for n in NAMES if plain(n) not in text] == []


def test_values_are_not_passed_on(workshop: Workshop) -> None:
    made = workshop.made("assess-attacks shared")
    text = made.path.read_text("utf-8").replace(str(escape(made.page.title)), "")
    values = [p for p in NAMES if p not in NAMES[10:14]]  # those are columns too
    assert [v for v in values if str(escape(printable(v))) in text] == []


def test_files_and_titles(workshop: Workshop, tab: Tab, tmp_path: Path) -> None:
    data = sievert.assess(drawn(["a", "b"], 3, 1), ["a", "b"]).to_dict()
    for number, payload in enumerate(PAYLOADS):
        data["table"]["name"] = PAYLOADS[number - 30]
        page = build_page([data], builder.ReportSettings(title=payload))
        path = tmp_path / f"{number}.html"
        path.write_text(html.render(page), encoding="utf-8")
        quiet(tab, path.as_uri())
        text = shown(tab)
        assert plain(PAYLOADS[number - 30]) in text
        assert visible(printable(" ".join(payload.split()))) in visible(text)


ALL = ["-q", "a,b", "-s", "c"]
COMMANDS = {
    "assess": [*ALL, "--attacks"],
    "explain": ALL,
    "attack": ALL,
    "compare": [*ALL, "--shuffles", "0"],
    "compromise": ["-q", "a,b", "-s", "n", "--type", "n=int", "--replicates", "2"],
    "limit": [*ALL, "--at", "0.2"],
}


@pytest.mark.parametrize("command", COMMANDS)
def test_command_line(tab: Tab, tmp_path: Path, command: str) -> None:
    """Tables and pages of hostile names, by the commands that people type."""
    first = 9 * list(COMMANDS).index(command)
    table: dict[str, list[Any]] = {**drawn(["a", "b", "c"], 3, 2), "n": numbers(2)}
    tables = [written(tmp_path, first, table)]
    if command == "compare":
        tables.append(written(tmp_path, first + 1, table))
    page = tmp_path / f"{as_file(PAYLOADS[first + 2])}.html"
    title = PAYLOADS[first + 3]
    done = run(command, *map(str, tables), *COMMANDS[command], "--html", str(page),
         "--title", title)  # fmt: skip
    assert done == 0
    quiet(tab, page.as_uri())
    text = shown(tab)
    assert plain(title) in text and plain(tables[0].name) in text


def test_size() -> None:
    """A page of thirty columns is small enough to be sent."""
    chance = random.Random(1)
    names = [f"column_{i}_of_the_table" for i in range(30)]
    table = {n: [f"{n} {chance.randrange(8)}" for _ in range(300)] for n in names}
    assessed = sievert.assess(table, names[:20], names[20:], attacks=True, show_values=True)
    explained = sievert.explain(table, names[:20], names[20:], budget=30, show_values=True)
    for result in (assessed, explained):
        assert len(html.render(build_page([result])).encode()) < MOST_BYTES
