"""The chapter of an explanation: the numbers of the JSON, in words, tables and pictures."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import pytest

import sievert
from sievert.commands.explain import page as explained
from sievert.commands.explain.result import Explanation
from sievert.commands.explain.view import columns_view
from sievert.formatting import percent, significant
from sievert.policy import Verdict
from sievert.report import builder, terminal, texts
from sievert.report.explanation_view import round_shares
from sievert.report.page import BulletList, Chapter, Grid, Link, Paragraph, Picture, Points, walk
from sievert.report.parts import NumberWriter, ReportPart
from sievert.report.why import why_chapter

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
    return ReportPart(kind="explain", data=found(kind), writer=NumberWriter(texts.read_texts(None)))


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
    found: list[str] = [f"{head} {text}" for head, text in explained.points(held)]
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
    assert len(explained.points(held)) <= 3
    assert all(isinstance(b, Chapter) for b in blocks)
    assert sum(isinstance(b, Picture) for b in walk(blocks)) <= 8
    for g in grids(blocks):
        assert g.rows and all(len(row) == len(g.head) for row in g.rows)
        for cell in (c for row in g.rows for c in row if isinstance(c, Link)):
            key = cell.anchor.removeprefix("def-")
            assert f"definitions.{key}.text" in held.texts or key in sievert.measures.BY_ID
    assert "\x1b" not in said(held)
    assert "None" not in said(held) and "undefined" not in said(held)


def whole(text: str) -> int:
    """A share in whole per cent."""
    return 0 if text.startswith("under 1 %") else int(text.split(" %")[0])


@pytest.mark.parametrize("kind", ["plain", "few differ", "sampled", "same names", "many"])
def test_rounded_shares_add_up(kind: str) -> None:
    rows = grid(explained.blocks(part(kind)), "shares").rows
    data = found(kind)
    if len(rows) < len(data["roles"]["quasi"]):  # the first of them, then all
        rows = grid(explained.blocks(part(kind)), "shares", 1).rows
    for target, *shares in zip(*(row[1:-1] for row in rows), strict=True):
        assert sum(map(whole, (target, *shares))) == 100


def test_rounding_keeps_the_sum_and_the_sign() -> None:
    for shares in ([1.2, -0.2], [0.335, 0.335, 0.335, -0.005], [0.999, 0.0005, 0.0005], []):
        rounded = round_shares(shares)
        assert sum(rounded) == round(100 * sum(shares))
        assert all(abs(r - 100 * s) < 1 for r, s in zip(rounded, shares, strict=True))


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
                if mark["number"] is not None and "Shapley" in block.caption:
                    assert abs(whole(mark["shown"]) - 100 * mark["number"]) < 1
                elif mark["number"] is not None:
                    assert mark["shown"] == percent(mark["number"])
            else:
                (row,) = (r for r in cells if r[0] == str(mark["x"]))
                y = mark["y"]
                assert {f"{y:,.0f}", significant(y), percent(y)} & set(row)


def test_internal_numbers_are_those_of_the_json() -> None:
    data, blocks = found(), tuple(explained.blocks(part()))
    shares = data["shapley"]["reidentification"]["discrimination_rate"]["columns"]
    for column, share, *_, without in grid(blocks, "shares").rows:
        assert abs(whole(str(share)) - 100 * shares[str(column)]["share"]) < 1
        alone = data["columns"][str(column)]["without"]["reidentification"]["unique_count"]
        assert without == f"{alone:,}"
    points = {str(p["known"]): p for p in data["knowledge"]["points"]}
    steps = data["knowledge"]["path"]
    for (_, alone, share), step in zip(grid(blocks, "curve").rows, steps, strict=True):
        assert (alone, share) == (f"{step['unique_count']:,}", percent(step["unique_records"]))
    for known, _, least, mean, most in grid(blocks, "curve", 1).rows:
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
    (found_, drives), (_, helps), (_, enough) = explained.points(part())
    data = found()
    alone = data["subsets"]["list"][-1]["reidentification"]["unique_count"]
    assert found_ == f"{percent(alone / ROWS)} are unique in the table."
    assert f"{alone:,} of {ROWS} people are the only one" in drives
    assert f"instead of {alone:,}" in helps
    pair = explained.explain_columns.order_sets(columns_view(part()), 2)[0]
    some = pair.reidentification["unique_count"]
    assert f"Whoever knows age and zip singles out {some:,} of the {alone:,} people" in enough
    ((ranked, _),) = explained.points(part("ranking"))
    assert "from the other" in ranked


@pytest.mark.parametrize("kind", KINDS)
def test_the_screen_is_short_and_says_nothing_twice(kind: str) -> None:
    page = builder.screen(Saved(found(kind)))
    lines = terminal.as_text(terminal.render(page)).splitlines()
    described = 13 if kind in ("population", "weights", "everybody") else 0
    assert len(lines) <= 62 + described and max(map(len, lines)) <= 100
    said_ = [b.text for b in walk((*page.front, *page.chapters)) if isinstance(b, Paragraph)]
    said_ += [f"{h} {t}" for b in page.front if isinstance(b, Points) for h, t in b.items]
    assert len(set(said_)) == len(said_)


def test_estimates_of_the_population_are_on_the_first_screen() -> None:
    data = found("weights")["population"]
    expected = significant(data["expected_reidentifications"]["value"])
    mean, highest = (
        percent(x)
        for x in (data["global_risk"]["value"], data["global_risk"]["details"]["highest"])
    )
    text = explained.points(part("weights"))[0][1]
    assert f"Expected re-identifications by weights: {expected} (individual risk: mean" in text
    assert f"global risk, {mean}, highest {highest})" in text and "Household risk: mean" in text
    screen = terminal.as_text(terminal.render(builder.screen(Saved(found("weights")))))
    assert "Prosecutor risk, mean (counted)" in screen and "Records most at risk" in screen
    assert "never a fact" not in said(part("weights"))


def test_models_that_differ_are_a_range() -> None:
    data = json.loads(json.dumps(found("population")))
    models = ("zayatz", "pitman", "snb", "dankar")
    for model, value in zip(models, (0.6, 0.1, 0.5, 0.1), strict=True):
        data["population"][f"population_uniques_{model}"]["value"] = value
    apart = ReportPart(kind="explain", data=data, writer=NumberWriter(texts.read_texts(None)))
    text = explained.points(apart)[0][1]
    assert "an estimated 10 % to 60 % are unique, depending on the model." in text
    near = explained.points(part("population"))[0][1]
    assert "depending on the model" not in near and "are unique. " in near


def test_a_value_has_one_number_in_its_column() -> None:
    data = found()
    records: dict[tuple[str, int], int] = {}
    values = [v for c in data["values"]["columns"] for v in c["riskiest"]]
    values += [*data["values"]["rare"], *data["values"]["lookalikes"]]
    levels = data["suda"]["level_contributions"]
    values += [{**level, "column": c} for c, each in levels.items() for level in each]
    for value in values:
        key = value["column"], value["number"]
        assert records.setdefault(key, value["records"]) == value["records"]
    assert len(records) > 10
    assert [v["number"] for v in data["values"]["columns"][0]["riskiest"]] == [*range(1, 11)]


def test_everything_says_nothing_of_more() -> None:
    page = builder.screen(Saved(found()))
    everything = terminal.as_text(terminal.render(page, everything=True))
    assert "--all" not in everything and everything.endswith("The page: --html FILE.")
    assert everything.count("Words used in this chapter") == 1
    assert "Every number: --all." in terminal.as_text(terminal.render(page))


@dataclass(frozen=True)
class Saved:
    data: dict[str, Any]

    def to_dict(self) -> dict[str, Any]:
        return self.data


@pytest.mark.parametrize("kind", KINDS)
def test_a_saved_explanation_is_read_back(kind: str) -> None:
    back = Explanation.from_dict(found(kind))
    assert json.loads(json.dumps(back.to_dict())) == found(kind)
    assert builder.screen(back).chapters == builder.screen(Saved(found(kind))).chapters
    assert back.subsets == (() if back.columns is None else columns_view(part(kind)).subsets)


# -- why, on a decision page ----------------------------------------------------------------------


def assessed(kind: str = "plain", **more: Any) -> ReportPart:
    data = found(kind)
    explanation = {key: data[key] for key in ("shapley", "knowledge")}
    kept = {key: data[key] for key in ("table", "roles", "warnings")}
    return ReportPart(
        kind="assess",
        data={**kept, "explanation": explanation, **more},
        writer=NumberWriter(texts.read_texts(None)),
    )


def test_why_people_are_found() -> None:
    limit = Verdict(
        measure="unique_records",
        where="reidentification",
        min=None,
        max=0.05,
        value=0.2,
        met=False,
    ).to_dict()
    chapter = why_chapter(assessed(policy={"met": False, "limits": [limit]}))
    assert chapter is not None and chapter.anchor == "part1-why"
    assert chapter.title == "What tells people apart is mostly zip"
    data = found()
    shares, path = (b for b in chapter.blocks if isinstance(b, Picture))
    assert [row[0] for row in shares.behind.rows] == ["zip", "age", "sex"]
    for place in (1, 2):
        assert sum(whole(str(row[place])) for row in shares.behind.rows) == 100
    *steps, allowed = path.behind.rows
    assert [row[1] for row in steps] == [
        f"{s['unique_count']:,}" for s in data["knowledge"]["path"]
    ]
    assert allowed == ("the policy allows", "", "5 %")
    (lead,) = (b for b in chapter.blocks if isinstance(b, Paragraph))
    assert lead.kind == "reading" and "zip alone carries 53 % of" in lead.text
    alone = data["knowledge"]["path"][1]["unique_count"]
    assert f"singles out {alone:,} people" in lead.text


def test_a_decision_page_says_why() -> None:
    data = sievert.assess(table(), ["age", "zip", "sex"], "ill").to_dict()
    explained_ = Saved({**data, "explanation": assessed().data["explanation"]})
    page, plain = builder.screen(explained_), builder.screen(Saved(data))
    extra = {c.anchor for c in page.chapters} - {c.anchor for c in plain.chapters}
    assert extra == {"part1-why"}
    assert terminal.render(page) == terminal.render(plain)  # for the page
    assert "mostly zip" in terminal.as_text(terminal.render(page, everything=True))


@pytest.mark.parametrize("kind", [k for k in KINDS if k not in ("ranking", "hostile")])
def test_why_of_every_kind(kind: str) -> None:
    chapter = why_chapter(assessed(kind))
    if chapter is None:
        assert kind == "nobody alone" or not found(kind)["shapley"]
    else:
        assert chapter.title and any(isinstance(b, Picture | Grid) for b in chapter.blocks)


@pytest.mark.parametrize("kind", ["plain", "hostile roles"])
def test_numbers_are_drawn(kind: str) -> None:
    pytest.importorskip("vl_convert")
    for block in walk(explained.blocks(part(kind))):
        if isinstance(block, Picture):
            assert "<svg" in sievert.charts.svg(block.spec)
