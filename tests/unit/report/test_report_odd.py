"""Pages of odd but valid results: one record, one column, nothing known, nothing to learn."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

import sievert
from sievert.commands.report.run import build_page as build
from sievert.measures import BY_ID
from sievert.report import html, markdown
from sievert.report.builder import ReportSettings
from sievert.report.page import Page
from sievert.report.terminal import as_text, render

pytestmark = pytest.mark.slow
ROWS = 60
SETTINGS = (
    ReportSettings(),
    ReportSettings(share=True, mask_names=True),
    ReportSettings(share=True, min_cell=3),
)

Table = dict[str, list[Any]]


def summary(page: Page) -> str:
    """What a terminal shows of a page."""
    return " ".join(as_text(render(page)).split())


def mod(number: int, rows: int = ROWS) -> list[Any]:
    return [str(i % number) for i in range(rows)]


def holes(number: int, every: int) -> list[Any]:
    return [None if i % every == 0 else str(i % number) for i in range(ROWS)]


TABLES: dict[str, tuple[Table, list[str], list[str]]] = {
    "one record": ({"q": ["a"], "s": ["x"]}, ["q"], ["s"]),
    "one column": ({"q": mod(7)}, ["q"], []),
    "one value": ({"q": ["a"] * ROWS}, ["q"], []),
    "constant secret": ({"q": mod(7), "s": ["x"] * ROWS}, ["q"], ["s"]),
    "all missing": ({"q": [None] * ROWS, "s": [None] * ROWS}, ["q"], ["s"]),
    "some missing": ({"q": holes(7, 9), "r": mod(4), "s": holes(3, 8)}, ["q", "r"], ["s"]),
    "everybody alone": ({"q": mod(ROWS), "s": mod(ROWS)}, ["q"], ["s"]),
    "numbers": (
        {"q": [i % 7 / 3 for i in range(ROWS)], "s": [i % 11 * 1.5 for i in range(ROWS)]},
        ["q"],
        ["s"],
    ),
    "odd names": ({" ": mod(7), "{x}|<b>.y": mod(3)}, [" "], ["{x}|<b>.y"]),
    "thirty secrets": (
        {"q": mod(7), **{f"s{j}": mod(j + 2) for j in range(30)}},
        ["q"],
        [f"s{j}" for j in range(30)],
    ),
    "more secrets than bars": (
        {"q": mod(7), **{f"s{j}": mod(j % 9 + 2) for j in range(70)}},
        ["q"],
        [f"s{j}" for j in range(70)],
    ),
}
WEIGHED: Table = {
    "q": mod(7), "r": mod(40), "s": mod(3), "w": [1 + i % 5 for i in range(ROWS)],
    "h": [str(i // 3) for i in range(ROWS)],
}  # fmt: skip


def pages(*results: Any) -> None:
    """Nothing is raised, whoever may see the page, of results and of their JSON."""
    saved = [json.loads(json.dumps(r.to_dict())) for r in results]
    shareable = any("reidentification" in each for each in saved)
    settings = SETTINGS if shareable else SETTINGS[:1]
    built = [build(results, each) for each in settings]
    built += [build(saved, each) for each in settings[:2]]
    assert all(summary(page) and markdown.render(page) for page in built)
    assert html.render(built[0])


def bounds(measure: str, *, both: bool) -> dict[str, float]:
    m = BY_ID[measure]
    if both:
        return {"min": float(m.low or 0), "max": 1e9 if m.high is None else float(m.high)}
    if m.riskier == "low":
        return {"min": 1.0}
    return {"max": 0.5 if m.high == 1 else 1.0}


def everything(found: Any, *, both: bool) -> dict[str, Any]:
    """A limit on every number of an assessment."""
    limits: dict[str, Any] = {
        "inference": {s: {m: bounds(m, both=both) for m in v} for s, v in found.inference.items()}
    }
    limits["reidentification"] = {m: bounds(m, both=both) for m in found.reidentification}
    return {"limits": limits}


@pytest.mark.parametrize("name", TABLES)
def test_an_assessment_with_limits_on_everything(name: str) -> None:
    table, quasi, secrets = TABLES[name]
    found = sievert.assess(table, quasi, secrets or None)
    for both in (False, True)[len(secrets) // 30 :]:
        policy = everything(found, both=both)
        pages(sievert.assess(table, quasi, secrets or None, policy=policy, attacks=not both))


@pytest.mark.parametrize("missing", ["wildcard", "drop"])
def test_other_readings_of_missing_values(missing: str) -> None:
    table, quasi, secrets = TABLES["some missing"]
    found = sievert.assess(table, quasi, secrets, missing=missing)
    policy = everything(found, both=False)
    pages(found)
    pages(sievert.assess(table, quasi, secrets, missing=missing, policy=policy))


@pytest.mark.parametrize("name", [n for n in TABLES if "secrets" not in n])
def test_all_chapters_on_one_page(name: str) -> None:
    table, quasi, secrets = TABLES[name]
    held = sievert.assess(table, quasi, secrets or None)
    policy = everything(held, both=False)
    pages(
        sievert.assess(table, quasi, secrets or None, policy=policy),
        sievert.explain(table, quasi, secrets or None, population_size=5000),
        sievert.attack(table, None, quasi, secrets or None, reasoning=False),
        sievert.compare(table, [table, table], quasi, secrets or None, policy=policy, shuffles=2),
    )


@pytest.mark.parametrize(
    "options",
    [
        {"weight": "w"},
        {"fraction": 0.1},
        {"population_size": 3000, "household": "h"},
        {"population": {c: WEIGHED[c] * 5 for c in ("q", "r")}},
    ],
    ids=["weight", "fraction", "household", "population"],
)
def test_a_sample_of_a_population(options: dict[str, Any]) -> None:
    pages(sievert.explain(WEIGHED, ["q", "r"], "s", **options))


def test_even_then_is_said_only_of_the_table_the_limit_is_about() -> None:
    letters = random.Random(1)
    words = ["".join(letters.choices("abcdefghijklmnopqrstuvwxyz", k=3)) for _ in range(120)]
    half = [word[::-1] if i < 60 else "zz" for i, word in enumerate(words)]
    table = {"q": words, "r": half, "s": mod(3, 120)}
    limit = {"limits": {"reidentification": {"unique_records": {"max": 0.01}}}}
    explained = sievert.explain(table, ["q", "r"], "s")
    for quasi, said in ((["q", "r"], True), (["q"], False)):
        assessed = sievert.assess(table, quasi, "s", policy=limit)
        assert ("Even then" in summary(build([assessed, explained]))) is said
