"""The chapter of an explanation: numbers as in the JSON, and nothing small in what is passed on."""

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
from sievert.report.redaction import Redactor, ReportPart, masks

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


def part(kind: str = "plain", *, internal: bool, rows: int = ROWS) -> ReportPart:
    return ReportPart(
        "explain", found(kind), Redactor(texts.read_texts(None), rows, internal=internal)
    )


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


@pytest.mark.parametrize("internal", [True, False])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.slow
def test_every_kind_has_its_chapter(kind: str, internal: bool) -> None:
    held = part(kind, internal=internal)
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


@pytest.mark.parametrize("internal", [True, False])
@pytest.mark.parametrize("kind", KINDS)
def test_pictures_say_what_their_tables_say(kind: str, internal: bool) -> None:
    for block in walk(explained.blocks(part(kind, internal=internal))):
        if not isinstance(block, Picture):
            continue
        cells = [[c.text if isinstance(c, Link) else c for c in row] for row in block.behind.rows]
        for mark in block.spec["data"]["values"]:
            if "shown" in mark:  # bars
                (row,) = (r for r in cells if r[0] == mark["row"])
                assert any(c.split(" (")[0] == mark["shown"] for c in row[1:])
                if mark["number"] is not None and "over" not in mark["shown"]:
                    assert mark["shown"] == percent(mark["number"])
            else:
                (row,) = (r for r in cells if r[0] == str(mark["x"]))
                y = mark["y"]
                ways = {f"{y:,.0f}", f"about {y:,.0f}", significant(y), percent(y)}
                assert ways & set(row) or f"over {percent(y)}" in row


def test_internal_numbers_are_those_of_the_json() -> None:
    data, blocks = found(), explained.blocks(part(internal=True))
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


def test_all_subsets_are_on_an_internal_page_only() -> None:
    inside, outside = (explained.blocks(part(internal=i)) for i in (True, False))
    assert len(grid(inside, "sets", 1).rows) == 7
    anchors = {b.anchor for b in outside if isinstance(b, Chapter)}
    assert not anchors & {"part1-values", "part1-records"}
    assert "k" not in {h.lower() for g in grids(outside) for h in g.head}
    assert "Smallest class" not in said(part(internal=False))


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


def told_exactly(kind: str, *, internal: bool) -> list[float]:
    """Numbers of the JSON that the page tells as they are."""
    data, text = found(kind), said(part(kind, internal=internal))
    hits: list[float] = []
    tokens = set(re.findall(r"[0-9][0-9,.]*", text.replace("\n", " ")))
    numbers = {float(t.replace(",", "").rstrip(".") or 0) for t in tokens}
    for number in exact(data):
        if number != round(number, 3):
            hits += [number] if number in numbers or significant(number) in tokens else []
        elif number > 100 and number % 10 and number not in (ROWS, 2 * ROWS, 10 * ROWS):
            hits += [number] if number in numbers else []
    return hits


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_exact_is_passed_on(kind: str) -> None:
    assert not told_exactly(kind, internal=False)


def test_an_internal_page_is_exact() -> None:
    assert len(told_exactly("plain", internal=True)) > 20


def test_three_people_alone_are_not_told_from_none() -> None:
    pages = []
    for alone in (0, 3):
        a = [f"only {i}" if i < alone else str(i % 4) for i in range(840)]
        b = [str(i // 4 % 5) for i in range(840)]
        made = sievert.explain(
            {"a": a, "b": b, "s": ["yes" if i % 4 < 2 or i % 9 else "no" for i in range(840)]},
            ["a", "b"], "s", population_size=8400,
        )  # fmt: skip
        data = made.to_dict()
        assert data["subsets"]["list"][-1]["reidentification"]["unique_count"] == alone
        pages.append(said(ReportPart("explain", data, Redactor(texts.read_texts(None), 840))))
    assert pages[0] == pages[1]


@pytest.mark.parametrize("kind", ["plain", "population", "no secret", "many"])
def test_counts_of_people_are_whole_cells(kind: str) -> None:
    told = re.compile(r"fewer than 10|about [0-9,]*0|843|withheld")
    for g in grids(explained.blocks(part(kind, internal=False))):
        for at, head in enumerate(g.head):
            if "eople alone" in head and "Share" not in head:
                assert all(told.fullmatch(str(row[at])) for row in g.rows), head


def test_a_mean_adds_nothing_to_the_counts_that_are_told() -> None:
    data = found()
    redactor = Redactor(texts.read_texts(None), ROWS)
    by_size: dict[int, list[float]] = {}
    for s in data["subsets"]["list"]:
        number = redactor.count(s["reidentification"]["unique_count"]).number or 0.0
        by_size.setdefault(len(s["columns"]), []).append(number)
    for row in grid(explained.blocks(part(internal=False)), "curve").rows:
        held = by_size[int(str(row[0]))]
        assert row[3] == redactor.count(sum(held) / len(held)).text


def test_order_is_that_of_what_is_told() -> None:
    blocks = explained.blocks(part(internal=False))
    rows = grid(blocks, "remedies").rows[1:]
    numbers = [float(re.sub(r"\D", "", str(r[1]))) if "about" in r[1] else 0.0 for r in rows]  # type: ignore[operator]
    keys = [(n, str(r[0])) for n, r in zip(numbers, rows, strict=True)]
    assert keys == sorted(keys)


def test_a_secret_in_which_few_differ_has_no_rate() -> None:
    text = said(part("few differ", internal=False))
    assert "Too few people differ in rare" in text
    assert "withheld" in text
    for row in grid(explained.blocks(part("few differ", internal=False)), "shares").rows:
        assert row[2] == "withheld"


def test_a_small_table_is_silent() -> None:
    held = ReportPart("explain", found(), Redactor(texts.read_texts(None), 49))
    (only,) = explained.blocks(held)
    assert isinstance(only, Paragraph) and only.kind == "note"
    assert explained.sentences(held) == ()


def test_values_are_named_only_where_the_json_names_them() -> None:
    assert "sex: x" in said(part("named", internal=True))
    assert "sex: x" not in said(part("plain", internal=True))
    assert "sex: x" not in said(part("named", internal=False))


def test_rare_values_of_a_small_table_are_not_hinted_at() -> None:
    rare = {"kind": ["x" * (i + 1) if i < 3 else "abcde"[i % 5] for i in range(300)]}
    rare["sex"] = ["fm"[i % 2] for i in range(300)]
    data = sievert.explain(rare, ["kind", "sex"]).to_dict()
    assert data["columns"]["kind"]["coarser"]
    for internal in (True, False):
        held = ReportPart("explain", data, Redactor(texts.read_texts(None), 300, internal=internal))
        assert ("rarest" in said(held)) == internal


def test_that_few_records_are_left_out_is_not_told() -> None:
    data: Any = {
        **table(),
        "age": [None if i in (5, 6, 7) else a for i, a in enumerate(table()["age"])],
    }
    made = sievert.explain(data, ["age", "sex"], "ill", missing="drop").to_dict()
    assert made["population"]["sample"] == ROWS - 3
    held = ReportPart("explain", made, Redactor(texts.read_texts(None), ROWS))
    assert "840" not in said(held)


def test_masked_names_hide_the_columns() -> None:
    data = found()
    redactor = Redactor(
        texts.read_texts(None), ROWS, masks=masks(data["roles"], texts.read_texts(None))
    )
    text = said(ReportPart("explain", data, redactor))
    assert not re.search(r"\b(age|zip|sex|ill)\b", text)
    assert "quasi-identifier 1" in text


def test_first_screen() -> None:
    drives, helps, enough = explained.sentences(part(internal=True))
    data = found()
    alone = data["subsets"]["list"][-1]["reidentification"]["unique_count"]
    assert f"{alone:,} (" in drives
    assert f"instead of {alone:,}" in helps
    assert "whoever knows age and zip" in enough
    (ranked,) = explained.sentences(part("ranking", internal=True))
    assert "from the other" in ranked


@pytest.mark.parametrize("kind", ["plain", "hostile roles"])
def test_numbers_are_drawn(kind: str) -> None:
    pytest.importorskip("vl_convert")
    for block in walk(explained.blocks(part(kind, internal=False))):
        if isinstance(block, Picture):
            assert "<svg" in sievert.charts.svg(block.spec)
