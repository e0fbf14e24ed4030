"""The chapter of a limit: the numbers of the JSON, in words, tables and pictures."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from random import Random
from typing import Any

import pytest
from helpers.savedpages import check_saved

import sievert
from sievert.commands.limit import page as limits
from sievert.formatting import percent, significant
from sievert.report import texts
from sievert.report.numbers import clean
from sievert.report.page import Block, BulletList, Chapter, Grid, Link, Paragraph, Picture, walk
from sievert.report.parts import NumberWriter, ReportPart

HOSTILE = "<script>\n" + "w" * 200
MODELS = (1, 2, 3, 4, "funnel", "identity", "identity reverse")


def people(number: int = 600) -> dict[str, list[str]]:
    random = Random(3)
    ages = [str(random.choice([20, 20, 30, 40, 50])) for _ in range(number)]
    jobs = [random.choice("pqqr") for _ in range(number)]
    ill = [f"d{(int(a) // 10 + (random.random() < 0.3)) % 3}" for a in ages]
    return {"age": ages, "job": jobs, "ill": ill}


def ran(
    table: Any = None, quasi: Any = "age", sensitive: Any = "ill", **how: Any
) -> dict[str, Any]:
    how = {"at": 0.1, "gap": 1e-3, **how}
    found = sievert.randomise(table or people(), quasi, sensitive, **how)
    return json.loads(json.dumps(found.to_dict()))


@pytest.fixture(scope="module")
def data() -> dict[str, Any]:
    return ran(distortion="absolute", points=5, show_values=True)


def part(data: dict[str, Any]) -> ReportPart:
    return ReportPart(kind="limit", data=data, writer=NumberWriter(texts.read_texts(None)))


def grids(blocks: tuple[Block | Chapter, ...]) -> list[Grid]:
    held = (b.behind if isinstance(b, Picture) else b for b in walk(blocks))
    return [b for b in held if isinstance(b, Grid)]


def text(cell: Any) -> str:
    return cell.text if isinstance(cell, Link) else cell


def every(blocks: tuple[Block | Chapter, ...], front: tuple[str, ...] = ()) -> Iterator[str]:
    yield from front
    for block in walk(blocks):
        if isinstance(block, Paragraph):
            yield block.text
        elif isinstance(block, BulletList):
            yield from block.items
        elif isinstance(block, Chapter):
            yield block.title
        elif isinstance(block, Picture):
            yield block.caption
            yield json.dumps(block.spec)
    for grid in grids(blocks):
        yield grid.caption
        for row in (grid.head, *grid.rows):
            yield from map(text, row)


def sentences(part: ReportPart) -> tuple[str, ...]:
    return tuple(" ".join(point).rstrip() for point in limits.points(part))


def test_internal_numbers_are_those_of_the_json(data: dict[str, Any]) -> None:
    p = part(data)
    blocks = limits.blocks(p)
    requested, curve, promised, matrix = grids(blocks)
    wanted = [point for point in data["points"] if point["asked"]]
    assert [text(row[0]) for row in requested.rows] == [percent(x["at"]) for x in wanted]
    for row, point in zip(requested.rows, wanted, strict=True):
        assert text(row[1]) == significant(clean(point["objective"]) or 0.0)
        assert text(row[2]) == significant(clean(point["bound"]) or 0.0)
    for row, point in zip(curve.rows, data["points"], strict=False):
        assert text(row[0]) == percent(point["at"])
        assert text(row[1]) == significant(clean(point["objective"]) or 0.0)
        assert text(row[2]) == significant(clean(point["bound"]) or 0.0)
    told = data["channel"]["parts"][0]
    assert len(curve.rows) == len(data["points"]) + len(told["recodings"])
    assert promised.rows[0][1] == significant(told["promised"]["risk"])
    assert promised.rows[0][3] == significant(told["achieved"]["risk"])
    assert promised.rows[1][3] == percent(told["achieved"]["distortion"])
    assert [r[0] for r in matrix.rows] == [v[0] for v in told["matrix"]["values"]]
    asked = next(x for x in data["points"] if x["asked"])
    assert significant(asked["bound"]) in sentences(p)[0]


def test_pictures_show_what_their_tables_say(data: dict[str, Any]) -> None:
    (picture,) = (b for b in walk(limits.blocks(part(data)))
                  if isinstance(b, Picture))  # fmt: skip
    shown = {(text(r[0]), text(c)) for r in picture.behind.rows for c in r[1:3]}
    values = picture.spec["data"]["values"]
    assert len(values) > 10
    for value in values:
        assert (percent(value["x"]), significant(value["y"])) in shown


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.slow
def test_every_model_has_its_words(model: int | str) -> None:
    table = {k: v[:200] for k, v in people().items()}
    found = ran(table, model=model, at=[0.1, 0.3], points=1 if model == "funnel" else 3)
    p = part(found)
    blocks = limits.blocks(p)
    assert 1 <= len(sentences(p)) <= 3
    first = blocks[0]
    assert isinstance(first, Chapter) and first.screen
    assert len(grids((first,))[0].rows) == 2  # the points asked for
    assert any(isinstance(b, Picture) for b in walk(blocks))
    assert all(len(r) == len(g.head) for g in grids(blocks) for r in g.rows)
    for key in ("across", "up"):
        assert f"limits.{key}_{str(model).replace(' ', '_')}" in texts.read_texts(None)


def test_columns_of_their_own() -> None:
    found = ran(quasi=["age", "job"], alphabet="columns")
    p = part(found)
    blocks = limits.blocks(p)
    said = " ".join(every(blocks, sentences(p)))
    assert "All columns together" in said and "The limit of job" in said
    anchors = [b.anchor for b in walk(blocks) if isinstance(b, Chapter)]
    assert len(anchors) == len(set(anchors)) == 5


def test_gaussian_and_unbounded() -> None:
    random = Random(5)
    x = [random.gauss(0, 1) for _ in range(400)]
    table = {"x": [f"{v:.6f}" for v in x], "y": [f"{v + random.gauss(0, 1):.6f}" for v in x]}
    found = ran(table, "x", "y", gaussian=True, gap=None, points=4)
    p = part(found)
    assert "if they are Gaussian" in " ".join(sentences(p))
    assert limits.blocks(p) and found["channel"]["normality"]["near"]
    assert not sentences(p)[0].startswith("The columns are not Gaussian")
    found["points"][0] |= {"objective": None, "bound": None, "asked": True}
    assert "there is no limit" in sentences(part(found))[0]
    assert "unbounded" in " ".join(every(limits.blocks(part(found))))


def test_a_failed_check_stands_before_the_number() -> None:
    random = Random(5)
    x = [random.lognormvariate(0, 1) for _ in range(300)]
    table = {"x": [f"{v:.6f}" for v in x], "y": [f"{v * random.uniform(0.5, 1):.6f}" for v in x]}
    p = part(ran(table, "x", "y", gaussian=True, gap=None))
    first, second, *_ = sentences(p)
    assert (
        first.startswith("The columns are not Gaussian") and "Far from Gaussian: x and y" in first
    )
    assert "on average over draws" in second
    main, *_ = limits.blocks(p)
    assert isinstance(main, Chapter) and isinstance(main.blocks[0], Paragraph)
    assert main.blocks[0].kind == "warning" and "not Gaussian" in main.blocks[0].text


def test_searches_that_disagree_are_warned_of(data: dict[str, Any]) -> None:
    for spread, warned in ((0.0, False), (0.02, True)):
        points = [{**point, "spread": spread} for point in data["points"]]
        said = " ".join(every(limits.blocks(part({**data, "points": points}))))
        assert ("The searches disagree" in said) == warned
        assert ("up to 0.02 bits apart" in said) == warned


def test_edges() -> None:
    table = people()
    hostile = {HOSTILE: table["age"], "ill": table["ill"]}
    found = ran(hostile, HOSTILE, "ill")
    p = part(found)
    blocks = limits.blocks(p)
    assert HOSTILE not in "".join(every(blocks, sentences(p)))
    assert not any(isinstance(b, Picture) for b in walk(blocks))  # one point is no curve
    found["points"][0]["reached"] = False
    assert "ended before it was as close" in " ".join(every(limits.blocks(part(found))))
    found["channel"]["parts"][0] |= {"achieved": None}
    assert len(sentences(part(found))) == 2 and limits.blocks(part(found))
    found["channel"]["parts"][0]["information"] = None
    assert "The table itself" not in " ".join(sentences(part(found)))


def test_outside_is_said(data: dict[str, Any]) -> None:
    other = copy.deepcopy(data)
    other["channel"]["parts"][0]["achieved"]["risk_inside"] = False
    for released in (True, False):
        other["settings"]["released"] = released
        assert "outside of where 95 %" in sentences(part(other))[1]


def test_links_and_large_matrices(data: dict[str, Any]) -> None:
    words = texts.read_texts(None)
    blocks = limits.blocks(part(data))
    for cell in (c for g in grids(blocks) for r in g.rows for c in r if isinstance(c, Link)):
        assert f"definitions.{cell.anchor.removeprefix('def-')}.text" in words
    assert "limits.title" in words
    other = copy.deepcopy(data)
    other["channel"]["parts"][0]["matrix"]["values"] = [["v"]] * 50
    assert "too many values" in " ".join(every(limits.blocks(part(other))))


GIVEN: tuple[dict[str, Any], ...] = (
    {"distortion": "absolute", "points": 5, "show_values": True},
    {"quasi": ["age", "job"], "alphabet": "columns"},
    {"model": 3, "at": [0.1, 0.3]},
    {"model": "identity", "sensitive": None},
)


@pytest.mark.parametrize("how", GIVEN, ids=str)
def test_a_limit_is_read_back(how: dict[str, Any]) -> None:
    """The page of a saved result is that of the result, in both languages."""
    given = {"quasi": "age", "sensitive": "ill", "at": 0.1, "gap": 1e-3, **how}
    check_saved(sievert.randomise(people(), given.pop("quasi"), given.pop("sensitive"), **given))


def test_a_gaussian_limit_is_read_back() -> None:
    random = Random(5)
    x = [random.lognormvariate(0, 1) for _ in range(300)]
    table = {"x": [f"{v:.6f}" for v in x], "y": [f"{v * random.uniform(0.5, 1):.6f}" for v in x]}
    for at in (0.1, 0):
        check_saved(sievert.randomise(table, "x", "y", gaussian=True, at=at))
