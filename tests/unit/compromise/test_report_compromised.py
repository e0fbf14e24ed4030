"""The chapter of approximate compromise: the numbers of the JSON, in words and pictures."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
from helpers.savedpages import check_saved

import sievert
from sievert.commands.compromise import page as compromised
from sievert.formatting import percent, significant
from sievert.report import texts
from sievert.report.page import Chapter, Grid, Link, Paragraph, Picture, walk
from sievert.report.parts import NumberWriter, ReportPart

ROWS = 623


@cache
def table(rows: int = ROWS, lacking: int = 0) -> dict[str, list[str | None]]:
    draw = random.Random(3)
    data: dict[str, list[str | None]] = {"age": [], "sex": [], "pay": [], "days": []}
    for i in range(rows):
        data["age"].append(str(draw.randrange(12)))
        data["sex"].append(draw.choice("fm"))
        data["pay"].append(None if i < lacking else str(10 * draw.randrange(1, 20)))
        data["days"].append(str(draw.randrange(6)))
    return data


@cache
def found(kind: str) -> dict[str, Any]:
    data, both = table(), ["age", "sex"]
    if kind == "sampling":
        made = sievert.compromise(data, both, "pay", replicates=3, epsilon=[10, 40])
    elif kind == "noise":
        made = sievert.compromise(data, both, "pay", method="noise", replicates=2)
    elif kind == "query":
        made = sievert.compromise(data, both, "pay", method="query", replicates=2)
    elif kind == "release":
        made = sievert.compromise(data, both, "pay", method="release", release=data)
    elif kind == "two secrets":
        made = sievert.compromise(data, both, ["pay", "days"], parameters=[0.5], replicates=2)
    elif kind == "one column":
        made = sievert.compromise(data, "sex", "pay", parameters=[0.1], replicates=1)
    elif kind == "one value":
        made = sievert.compromise(
            {**data, "pay": ["7"] * ROWS}, both, "pay", parameters=[0.1], replicates=1
        )
    elif kind == "many lines":
        fractions = [i / 10 for i in range(1, 9)]
        made = sievert.compromise(data, "sex", "pay", parameters=fractions, replicates=1)
    elif kind == "hostile":
        odd = {"<i>{a}\n": data["age"], "{p}\x1b": data["pay"]}
        made = sievert.compromise(odd, "<i>{a}\n", "{p}\x1b", parameters=[0.2], replicates=1)
    else:
        raise AssertionError(kind)
    read: dict[str, Any] = json.loads(json.dumps(made.to_dict()))
    return read


KINDS = (
    "sampling", "noise", "query", "release", "two secrets", "one column", "one value",
    "many lines", "hostile",
)  # fmt: skip


def part(kind: str) -> ReportPart:
    return ReportPart(
        kind="compromise", data=found(kind), writer=NumberWriter(texts.read_texts(None))
    )


def grids(held: ReportPart) -> Iterator[Grid]:
    for block in walk(compromised.blocks(held)):
        if isinstance(block, Grid | Picture):
            yield block.behind if isinstance(block, Picture) else block


def pictures(held: ReportPart) -> list[Picture]:
    return [b for b in walk(compromised.blocks(held)) if isinstance(b, Picture)]


def said(held: ReportPart) -> str:
    """Every text of the chapter and of the first screen, pictures as they stand in the JSON."""
    lines: list[str] = [f"{head} {text}" for head, text in compromised.points(held)]
    for block in walk(compromised.blocks(held)):
        if isinstance(block, Paragraph):
            lines.append(block.text)
        elif isinstance(block, Chapter):
            lines += [block.title, block.anchor]
        elif isinstance(block, Picture):
            spec = block.spec
            lines += [
                block.caption,
                json.dumps([spec[k] for k in ("title", "description", "data")]),
            ]
    for g in grids(held):
        lines += [g.caption, *g.head]
        lines += [c.text if isinstance(c, Link) else c for row in g.rows for c in row]
    return "\n".join(lines)


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_has_its_chapter(kind: str) -> None:
    held = part(kind)
    assert 1 <= len(compromised.points(held)) <= 3
    assert all(isinstance(b, Chapter) for b in compromised.blocks(held))
    assert len(pictures(held)) <= 6
    for g in grids(held):
        assert g.rows and all(len(row) == len(g.head) for row in g.rows)
        for cell in (c for row in g.rows for c in row if isinstance(c, Link)):
            assert f"definitions.{cell.anchor.removeprefix('def-')}.text" in held.texts
    text = said(held)
    assert "None" not in text and "\x1b" not in text


@pytest.mark.parametrize("kind", KINDS)
def test_pictures_say_what_their_tables_say(kind: str) -> None:
    for picture in pictures(part(kind)):
        cells = [[str(c) for c in row] for row in picture.behind.rows]
        for mark in picture.spec["data"]["values"]:
            told = {significant(mark["y"])}
            if "useful" in picture.caption:
                assert any(percent(mark["x"]) == row[1] and row[2] in told for row in cells)
            else:
                column = [h.split()[0] for h in picture.behind.head].index(f"{mark['x']:g}")
                (row,) = (r for r in cells if mark["line"] in (r[0], ""))
                assert row[column] in told


@pytest.mark.parametrize("method", ["sampling", "noise", "release"])
def test_a_saved_result_has_the_same_page(method: str) -> None:
    data = table(120)
    more = {"release": data} if method == "release" else {"replicates": 2}
    options = {"method": method, "epsilon": [10, 40], "show_values": True, **more}
    check_saved(sievert.compromise(data, ["age", "sex"], "pay", **options))


def test_internal_numbers_are_those_of_the_json() -> None:
    data, held = found("sampling"), part("sampling")
    curves = data["curves"]["pay"]
    entropy, area = pictures(held)[:2]
    for picture, number in ((entropy, "initial_entropy"), (area, "area")):
        marks = [m["y"] for m in picture.spec["data"]["values"]]
        means = [p["over_records"][number]["mean"] for c in curves for p in c["points"]]
        assert marks == means
    spread = list(grids(held))[2]
    first = curves[0]["points"][0]["over_combinations"]["initial_entropy"]
    certain = data["targets"]["pay"][0]["exact"]["combinations"]
    assert spread.rows[0][3] == percent(certain)
    assert spread.rows[0][4:7] == tuple(
        significant(first[k]) for k in ("mean", "quantile_05", "minimum")
    )
    targets = list(grids(held))[3]
    assert [r[2:] for r in targets.rows] == [
        (percent(t["exact"]["records"]), *(percent(a["records"]) for a in t["approximate"]))
        for t in data["targets"]["pay"]
    ]


def told_exactly(kind: str) -> set[str]:
    """Numbers over combinations, least ones and exact means that the page tells."""
    tokens = set(re.findall(r"[0-9][0-9,.]*", said(part(kind))))
    hits = set()
    for curves in found(kind)["curves"].values():
        for point in (p for c in curves for p in c["points"]):
            held = [point["over_combinations"], point["over_records"]]
            numbers = [x for over in held for n in over.values() for x in n.values()]
            fine = {significant(x) for x in numbers}
            hits |= {x for x in fine if len(re.sub(r"[^1-9]", "", x)) > 3} & tokens
            if point["combinations"] > 100:
                hits |= {f"{point['combinations']:,}"} & tokens
    return hits


def test_an_internal_page_is_exact() -> None:
    assert len(told_exactly("sampling")) > 20


def test_usefulness_stands_beside_protection() -> None:
    text = said(part("sampling"))
    assert "off by" in text
    assert "Usefulness was not measured" in said(part("release"))


def test_pictures_are_drawn() -> None:
    pytest.importorskip("vl_convert")
    for picture in pictures(part("hostile")):
        assert "<svg" in sievert.charts.svg(picture.spec)


@pytest.mark.parametrize(
    ("kind", "option"), [("sampling", "--fraction"), ("noise", "--percent"), ("query", "--size")]
)
def test_records_come_first_and_protections_are_assumed(kind: str, option: str) -> None:
    head, text = compromised.points(part(kind))[0]
    assert "the records an intruder who knows" in head or "For no record does an intruder" in head
    assert "knows age and sex" in head and f"{option} changes" in text
    assert ("in the unit of pay" in text) == (kind == "sampling")


def test_the_file_as_it_is_assumes_nothing() -> None:
    for more in ({"method": "release", "release": table()}, {"parameters": [1.0]}):
        result = sievert.compromise(table(), ["age", "sex"], "pay", replicates=1, **more)
        whole = ReportPart(
            kind="compromise", data=result.to_dict(), writer=NumberWriter(texts.read_texts(None))
        )
        assert "assumed" not in compromised.points(whole)[0][1]


def test_the_answer_begins_with_records_and_a_stated_intruder() -> None:
    """Under the parameter that exposes most records, whichever leaves least to guess on average."""
    data = json.loads(json.dumps(found("sampling")))
    targets = [t for t in data["targets"]["pay"] if t["known"] == 2]
    targets[1]["exact"]["records"] = 0.5  # more than for any other, though more is left to guess
    part = ReportPart(kind="compromise", data=data, writer=NumberWriter(texts.read_texts(None)))
    head, text = compromised.points(part)[0]
    assert head.startswith(
        "For 50 % of the records an intruder who knows age and sex of the person"
    )
    assert "sample of 10 %" in text


def test_both_matchings_stand_side_by_side() -> None:
    data = found("noise")
    part = ReportPart(kind="compromise", data=data, writer=NumberWriter(texts.read_texts(None)))
    likely = sievert.compromise(
        table(), ["age", "sex"], "pay", method="noise", replicates=2, parameters=[10],
        matching="likelihood",
    ).to_dict()  # fmt: skip
    oracle, weighed = data["curves"]["pay"][0]["matchings"]
    assert (oracle["matching"], weighed["matching"], oracle["runs"]) == ("oracle", "likelihood", 2)
    for each, curves in ((oracle, data["curves"]), (weighed, likely["curves"])):
        point = curves["pay"][0]["points"][-1]
        assert each["known"] == point["known"] == 2
        assert each["initial_entropy"] == pytest.approx(
            point["over_records"]["initial_entropy"]["mean"], abs=1e-12
        )
    assert oracle["exact"] == pytest.approx(data["targets"]["pay"][1]["exact"]["records"])
    assert "one who weighs all records" in compromised.points(part)[0][1]
    tables = [b for b in walk(tuple(compromised.blocks(part))) if isinstance(b, Grid)]
    (both,) = [grid for grid in tables if grid.caption.startswith("Both ways to match")]
    assert len(both.rows) == 10 and not both.folded
