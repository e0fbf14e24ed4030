"""The chapter of an explanation: the numbers of the JSON, in words, tables and pictures."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest

import sievert
from sievert.formatting import percent, significant
from sievert.report import texts
from sievert.report.chapters import explain as explained
from sievert.report.page import BulletList, Chapter, Grid, Link, Paragraph, Picture, walk
from sievert.report.parts import NumberWriter, ReportPart

ROWS = 843
HOSTILE = "<b>a\n\x1b[31m{x}" + 200 * "y"


@cache
def table(rows: int = ROWS) -> dict[str, list[str]]:
    draw = random.Random(7)
    data: dict[str, list[str]] = {"age": [], "zip": [], "sex": [], "ill": [], "rare": []}
    for i in range(rows):
        data["age"].append(str(20 + int(draw.betavariate(2, 3) * 70)))
        data["zip"].append(f"{draw.choice((1, 1, 1, 2, 3))}0{draw.randrange(60):02d}")
        data["sex"].append(draw.choice("fm") if i else "x")
        data["ill"].append(draw.choice(["flu", "flu", "cold", "gout", "hiv"]))
        data["rare"].append("yes" if i < 3 else "no")
    return data


@cache
def found(kind: str = "plain") -> dict[str, Any]:
    quasi, data = ["age", "zip", "sex"], table()
    if kind == "plain":
        made = sievert.explain(data, quasi, "ill")
    elif kind == "named":
        made = sievert.explain(data, quasi, "ill", show_values=True)
    elif kind == "ranking":
        made = sievert.explain(data)
    elif kind == "no secret":
        made = sievert.explain(data, quasi)
    elif kind == "few differ":
        made = sievert.explain(data, quasi, "rare")
    elif kind == "one column":
        made = sievert.explain(data, "age", "ill")
    elif kind == "constant":
        made = sievert.explain({**data, "ill": ["flu"] * ROWS}, quasi, "ill")
    elif kind == "population":
        made = sievert.explain(data, quasi, "ill", population_size=10 * ROWS)
    elif kind == "weights":
        more = {**data, "w": ["5"] * ROWS, "house": [str(i // 2) for i in range(ROWS)]}
        made = sievert.explain(more, quasi, "ill", weight="w", household="house")
    elif kind == "everybody":
        twice = {c: [*v, *v] for c, v in data.items()}
        made = sievert.explain(data, quasi, "ill", population=twice)
    elif kind == "same names":
        odd = {**data, "finding a person": data["ill"], HOSTILE: data["ill"]}
        odd[HOSTILE + "z"] = data["rare"]
        made = sievert.explain(odd, quasi, ["finding a person", HOSTILE, HOSTILE + "z"])
    elif kind == "sampled":
        made = sievert.explain(data, quasi, "ill", max_size=1)
    elif kind == "nobody alone":
        half = [str(i % 2) for i in range(ROWS)]
        made = sievert.explain({"a": half, "b": half, "s": data["ill"]}, ["a", "b"], "s")
    elif kind == "everybody alone":
        own = [str(i) for i in range(ROWS)]
        made = sievert.explain({"a": own, "b": data["sex"], "s": own}, ["a", "b"], "s")
    elif kind == "hostile":
        made = sievert.explain({HOSTILE: data["age"], HOSTILE + "z": data["zip"]})
    elif kind == "hostile roles":
        odd = {HOSTILE: data["age"], HOSTILE + "z": data["zip"], "{s}": data["ill"]}
        made = sievert.explain(odd, [HOSTILE, HOSTILE + "z"], "{s}")
    elif kind == "many":
        draw = random.Random(1)
        wide = {f"c{i}": [str(draw.randrange(3)) for _ in range(ROWS)] for i in range(30)}
        made = sievert.explain(wide, list(wide), max_size=1, orders=4)
    else:
        raise AssertionError(kind)
    read: dict[str, Any] = json.loads(json.dumps(made.to_dict()))
    return read


KINDS = (
    "plain", "named", "ranking", "no secret", "few differ", "one column", "constant", "population",
    "sampled", "weights", "everybody", "same names", "nobody alone", "everybody alone", "hostile",
    "hostile roles", "many",
)  # fmt: skip


def part(kind: str = "plain") -> ReportPart:
    return ReportPart("explain", found(kind), NumberWriter(texts.read_texts(None)))


def grids(blocks: Any) -> Iterator[Grid]:
    for block in walk(blocks):
        if isinstance(block, Grid):
            yield block
        elif isinstance(block, Picture):
            yield block.behind


def grid(blocks: Any, anchor: str, at: int = 0) -> Grid:
    (chapter,) = (b for b in blocks if isinstance(b, Chapter) and b.anchor == f"part1-{anchor}")
    return list(grids(chapter.blocks))[at]


def said(held: ReportPart) -> str:
    """Every text of the chapter and of the first screen, pictures as they stand in the JSON."""
    found: list[str] = list(explained.sentences(held))
    for block in walk(explained.blocks(held)):
        if isinstance(block, Paragraph):
            found.append(block.text)
        elif isinstance(block, BulletList):
            found += block.items
        elif isinstance(block, Chapter):
            found += [block.title, block.anchor]
        elif isinstance(block, Picture):
            found += [block.caption, json.dumps(_shown(block.spec))]
    for g in grids(explained.blocks(held)):
        found += [g.caption, *g.head]
        found += [c.text if isinstance(c, Link) else c for row in g.rows for c in row]
    return "\n".join(found)


def _shown(spec: Any) -> Any:
    return {key: spec[key] for key in ("title", "description", "data")}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.slow
def test_every_kind_has_its_chapter(kind: str) -> None:
    held = part(kind)
    blocks = explained.blocks(held)
    anchors = [b.anchor for b in walk(blocks) if isinstance(b, Chapter)]
    assert len(set(anchors)) == len(anchors)
    assert len(explained.sentences(held)) <= 3
    assert sum(isinstance(b, Picture) for b in walk(blocks)) <= 7
    for g in grids(blocks):
        assert g.rows and all(len(row) == len(g.head) for row in g.rows)
        for cell in (c for row in g.rows for c in row if isinstance(c, Link)):
            key = cell.anchor.removeprefix("def-")
            assert f"definitions.{key}.text" in held.texts or key in sievert.measures.BY_ID
    assert "\x1b" not in said(held)
    assert "None" not in said(held) and "undefined" not in said(held)


@pytest.mark.parametrize("kind", KINDS)
def test_pictures_say_what_their_tables_say(kind: str) -> None:
    for block in walk(explained.blocks(part(kind))):
        if not isinstance(block, Picture):
            continue
        cells = [[c.text if isinstance(c, Link) else c for c in row] for row in block.behind.rows]
        for mark in block.spec["data"]["values"]:
            if "shown" in mark:  # bars
                (row,) = (r for r in cells if r[0] == mark["row"])
                assert any(c.split(" (")[0] == mark["shown"] for c in row[1:])
                if mark["number"] is not None:
                    assert mark["shown"] == percent(mark["number"])
            else:
                (row,) = (r for r in cells if r[0] == str(mark["x"]))
                y = mark["y"]
                assert {f"{y:,.0f}", significant(y), percent(y)} & set(row)


def test_internal_numbers_are_those_of_the_json() -> None:
    data, blocks = found(), explained.blocks(part())
    shares = data["shapley"]["reidentification"]["discrimination_rate"]["columns"]
    for column, share, *_, without in grid(blocks, "shares").rows:
        assert share == percent(shares[str(column)]["share"])
        alone = data["columns"][str(column)]["without"]["reidentification"]["unique_count"]
        assert without == f"{alone:,}"
    points = {str(p["known"]): p for p in data["knowledge"]["points"]}
    for known, _, least, mean, most in grid(blocks, "curve").rows:
        held = points[str(known)]["reidentification"]["unique_count"]
        assert (least, most) == (f"{held['min']:,}", f"{held['max']:,}")
        assert mean == significant(held["mean"])
    (picture,) = (b for b in walk(blocks) if isinstance(b, Picture) and "change" in b.caption)
    now = picture.spec["data"]["values"][0]
    assert now["number"] == data["subsets"]["list"][-1]["reidentification"]["unique_records"]
    rows = grid(blocks, "records", -1).rows
    assert [r[0] for r in rows] == [f"{r['record']:,}" for r in data["records"]["riskiest"]]


def test_all_subsets_are_listed() -> None:
    assert len(grid(explained.blocks(part()), "sets", 1).rows) == 7


def exact(data: Any) -> Iterator[float]:
    """Every number of the JSON that is of people, or comes from counts of them."""
    if isinstance(data, dict):
        for key, value in data.items():
            if key in ("roles", "table", "of", "subsets", "orders") and not isinstance(value, dict):
                continue
            yield from exact(value)
    elif isinstance(data, list):
        for value in data:
            yield from exact(value)
    elif isinstance(data, int | float) and not isinstance(data, bool):
        yield data


def told_exactly(kind: str) -> list[float]:
    """Numbers of the JSON that the page tells as they are."""
    data, text = found(kind), said(part(kind))
    hits: list[float] = []
    tokens = set(re.findall(r"[0-9][0-9,.]*", text.replace("\n", " ")))
    numbers = {float(t.replace(",", "").rstrip(".") or 0) for t in tokens}
    for number in exact(data):
        if number != round(number, 3):
            hits += [number] if number in numbers or significant(number) in tokens else []
        elif number > 100 and number % 10 and number not in (ROWS, 2 * ROWS, 10 * ROWS):
            hits += [number] if number in numbers else []
    return hits


def test_an_internal_page_is_exact() -> None:
    assert len(told_exactly("plain")) > 20


def test_values_are_named_only_where_the_json_names_them() -> None:
    assert "sex: x" in said(part("named"))
    assert "sex: x" not in said(part("plain"))


def test_first_screen() -> None:
    drives, helps, enough = explained.sentences(part())
    data = found()
    alone = data["subsets"]["list"][-1]["reidentification"]["unique_count"]
    assert f"{alone:,} (" in drives
    assert f"instead of {alone:,}" in helps
    assert "whoever knows age and zip" in enough
    (ranked,) = explained.sentences(part("ranking"))
    assert "from the other" in ranked


@pytest.mark.parametrize("kind", ["plain", "hostile roles"])
def test_numbers_are_drawn(kind: str) -> None:
    pytest.importorskip("vl_convert")
    for block in walk(explained.blocks(part(kind))):
        if isinstance(block, Picture):
            assert "<svg" in sievert.charts.svg(block.spec)
