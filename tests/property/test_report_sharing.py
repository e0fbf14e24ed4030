"""What a page that is passed on tells somebody who knows how it was made, and does the sums.

Tables come in families that differ by a few people only: nobody, one, three or nine are alone, hold
a rare value, lack one, are certain, are found in a register or are left out of a release. Pages of
one family are compared word by word. Rates and large counts may move by a step; words, small
counts, and what is there at all may not.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import sievert
from sievert.commands.report.api import build_page as build
from sievert.report import html, markdown
from sievert.report.builder import ReportSettings
from sievert.report.page import BulletList, Chapter, Grid, Link, Page, Paragraph, Picture, walk
from sievert.report.redaction import Redactor
from sievert.report.texts import read_texts
from sievert.sharing import LEAST

FEW = (1, 3, 9)
QUASI = ["age", "zip"]
SIZES = (*[5] * 60, *[10] * 30, *[20] * 8)  # of classes; all others are alike
ROWS = 1000
VALUES = ("flu", "flu", "cold", "gout")
RATE = re.compile(r"(?:(?:under|over|about) )?-?\d[\d.,]*(?:e-?\d+)? %|withheld(?= %)")
NUMBER = re.compile(r"(?<![\w.])-?\d(?:[\d,]*\d)?(?:\.\d+)?(?:e-?\d+)?")
DRAW = re.compile(r"It lies (outside of )?where rate of all.*|(in|out)side$")  # by chance alone
ALONE = re.compile(r"alone|unique|^[Ff]ewer than \d+ \|")
DRAWN = re.compile(r"^(number|end|start|x|y|low|high)$")

Table = dict[str, list[Any]]


# -- families of tables ---------------------------------------------------------------------------


def ward() -> Table:
    """Everybody is one of at least five, no secret is certain; the last records are all alike.

    The first ten have two ages that no coarser ones hide: that no class is small would be told.
    """
    keys = [i for i, n in enumerate(SIZES) for _ in range(n)]
    keys += [len(SIZES)] * (ROWS - len(keys))
    return {
        "age": [str(20 + k % 37 if k > 1 else 89 + 10 * k) for k in keys],
        "zip": [f"1{k // 37}" for k in keys],
        "ill": [VALUES[i % 4] for i in range(ROWS)],
        "pay": [str(1000 + 100 * (7 * i % 11)) for i in range(ROWS)],
    }


def alone(few: int) -> Table:
    """Ages that others have too, but nobody with this zip."""
    table = ward()
    for i in range(few):
        table["age"][-1 - i] = str(45 + i)
    return table


def rare(few: int) -> Table:
    table = ward()
    table["ill"][ROWS - few :] = ["Sx-rare"] * few
    return table


def odd(few: int) -> Table:
    """A known column in which all are alike but a few."""
    table = ward()
    table["zip"] = ["10"] * (ROWS - few) + ["odd"] * few
    return table


def alike(few: int) -> Table:
    """A secret of which all have one value, but a few who are alone."""
    table = alone(few)
    table["ill"] = ["flu"] * (ROWS - few) + ["Sx-other"] * few
    return table


def told(few: int) -> Table:
    """A secret that is certain for everybody, but for a few."""
    table = ward()
    table["ill"] = [VALUES[1 + int(a) % 3] for a in table["age"]]
    for i in range(few + (few == 1)):
        table["age"][-1 - i] = "20"
        table["zip"][-1 - i] = "1x"
        table["ill"][-1 - i] = VALUES[1 + i % 2]
    return table


def certain(few: int) -> Table:
    """A few who look alike and have the same secret."""
    table = ward()
    for i in range(few):
        table["age"][-1 - i], table["zip"][-1 - i], table["ill"][-1 - i] = "20", "1x", "gout"
    return table


def lacking(few: int) -> Table:
    table = ward()
    table["zip"][ROWS - few :] = [None] * few
    return table


def secretive(few: int) -> Table:
    table = ward()
    table["ill"][ROWS - few :] = [None] * few
    table["pay"][ROWS - few :] = [None] * few
    return table


FAMILIES = {
    f.__name__: f for f in (alone, rare, odd, alike, told, certain, lacking, secretive)
}  # fmt: skip


# -- results --------------------------------------------------------------------------------------


def coarser(table: Table) -> Table:
    return {**table, "age": [f"{a[:-1]}*" for a in table["age"]]}


MADE: dict[str, Callable[[Table], Any]] = {
    "assess": lambda t: sievert.assess(t, QUASI, "ill", attacks=True),
    "explain": lambda t: sievert.explain(t, QUASI, "ill", population_size=30 * ROWS),
    "ranking": lambda t: sievert.explain({c: t[c] for c in (*QUASI, "ill")}),
    "attack": lambda t: sievert.attack(t, None, QUASI, "ill"),
    "white box": lambda t: sievert.attack(coarser(t), t, QUASI, "ill", reasoning=False),
    "compare": lambda t: sievert.compare(t, [coarser(t)], QUASI, "ill", shuffles=9),
    "compromise": lambda t: sievert.compromise(
        t, QUASI, "pay", parameters=[1.0], epsilon=[100], replicates=1
    ),
    "limit": lambda t: sievert.randomise(t, "zip", "ill", at=0.1, points=3),
}
# An assessment tells that a secret has one value, and a rate of what few have, by its own rules;
# a column of one value has no curve.
APART = {("assess", "alike"), ("limit", "odd")}
QUICK = ("assess", "attack", "ranking", "compromise")


@cache
def result(made: str, family: str, few: int) -> Any:
    return MADE[made](FAMILIES[family](few))


def page(*results: Any, **settings: Any) -> Page:
    return build(results, ReportSettings(**settings))


def blocks(page: Page) -> Iterator[Any]:
    yield from walk((*page.front, *page.chapters))


def texts(page: Page) -> Iterator[str]:
    """Every word of a page, in its order, pictures with what they draw."""
    yield page.title
    for block in blocks(page):
        if isinstance(block, Chapter):
            yield f"{block.anchor}: {block.title}"
        elif isinstance(block, Paragraph):
            yield f"{block.kind}: {block.text}"
        elif isinstance(block, BulletList):
            yield from (*block.items, *block.marks)
        else:
            grid = block.behind if isinstance(block, Picture) else block
            if isinstance(block, Picture):
                yield block.caption
                yield from drawn(block.spec)
            yield grid.caption
            for row in (grid.head, *grid.rows):
                yield " | ".join(c.text if isinstance(c, Link) else c for c in row)


def drawn(spec: Any, name: str = "") -> Iterator[str]:
    if isinstance(spec, dict):
        for key, value in spec.items():
            yield from drawn(value, key)
    elif isinstance(spec, list):
        for value in spec:
            yield from drawn(value, name)
    elif DRAWN.match(name):
        yield "number"  # a rate near an edge may be drawn or not
    else:
        yield f"{name}: {spec}"


def shape(page: Page) -> list[str]:
    """The words of a page without its rates and the digits of its counts."""
    found = [NUMBER.sub("#", RATE.sub("rate", text)) for text in texts(page)]
    return [DRAW.sub("drawn", text) for text in found]


def counts(page: Page) -> list[str]:
    """Counts of records in small classes, and of people alone, as they are told."""
    told_ = "\n".join(t for t in texts(page) if ALONE.search(t))
    return re.findall(r"(?:about|fewer than) [\d,]+(?![\d,.]*\d? ?%)", told_)


# -- a few people ---------------------------------------------------------------------------------


@pytest.mark.parametrize("made", MADE)
@pytest.mark.parametrize("family", FAMILIES)
def test_nobody_and_a_few_look_the_same(made: str, family: str) -> None:
    if (made, family) in APART:
        return
    nobody = shape(page(result(made, family, 0)))
    for few in FEW if made in QUICK else FEW[::2]:
        assert shape(page(result(made, family, few))) == nobody, few


@pytest.mark.parametrize("made", ["assess", "explain", "attack", "compare"])
def test_counts_of_people_alone_do_not_move(made: str) -> None:
    """In a table whose small classes are whole cells, which leaves room for a few."""
    nobody = counts(page(result(made, "alone", 0)))
    assert nobody
    for few in FEW[::2]:
        assert counts(page(result(made, "alone", few))) == nobody


@pytest.mark.parametrize("rows", [500, 503])
def test_a_register_that_finds_a_few_finds_nobody(rows: int) -> None:
    table, pages = ward(), []
    for few in (0, *FEW):
        register = {
            "age": [table["age"][20 * i] if i < few else "999" for i in range(rows)],
            "zip": [table["zip"][20 * i] if i < few else "999" for i in range(rows)],
        }
        made = sievert.attack(table, None, QUASI, "ill", register=register, reasoning=False)
        pages.append(list(texts(page(made))))
    assert all(p == pages[0] for p in pages)


@pytest.mark.parametrize("way", ["left out", "suppressed"])
def test_a_few_records_that_a_release_lacks_are_none(way: str) -> None:
    original = {**ward(), "id": [str(i) for i in range(ROWS)]}
    pages = []
    for few in (0, *FEW):
        held = [i for i in range(ROWS) if way == "suppressed" or i < ROWS - few]
        release = {c: [v[i] for i in held] for c, v in coarser(original).items()}
        for column in QUASI if way == "suppressed" else ():
            release[column][ROWS - few :] = ["*"] * few
        compared = sievert.compare(original, [release], QUASI, "ill", key="id", shuffles=9)
        attacked = sievert.attack(release, original, QUASI, "ill", key="id", reasoning=False)
        pages.append([shape(page(compared)), shape(page(attacked))])
    assert all(p == pages[0] for p in pages)


def test_remarks_about_a_few_records_are_not_there() -> None:
    def remarks(table: Table) -> list[str]:
        found = build([sievert.assess(table, QUASI, "ill")])
        return [c.title for c in blocks(found) if isinstance(c, Chapter) and "remarks" in c.anchor]

    assert not remarks(lacking(9)) and not remarks(secretive(1))
    assert remarks(lacking(10))


def test_merging_rare_values_is_offered_only_where_they_are_many() -> None:
    """That it is offered tells that somebody has a rare value."""

    def offered(values: int) -> bool:
        table = {c: v * 2 for c, v in ward().items()}
        common = ["north", "south", "east"] * ROWS
        table["part"] = [*common[: 2 * ROWS - values], *(f"Qx-{i}" for i in range(values))]
        made = sievert.explain(table, ["age", "part"], "ill")
        return any("rare" in t and "merged" in t for t in texts(page(made)))

    assert [offered(n) for n in (0, 2, 9)] == [False] * 3


def test_a_page_of_several_results_tells_no_more() -> None:
    made = ("assess", "explain", "attack", "compare", "compromise", "limit")
    nobody = shape(page(*(result(m, "alone", 0) for m in made)))
    for few in FEW[::2]:
        assert shape(page(*(result(m, "alone", few) for m in made))) == nobody


# -- numbers --------------------------------------------------------------------------------------


def floats(held: Any) -> Iterator[float]:
    if isinstance(held, dict):
        for value in held.values():
            yield from floats(value)
    elif isinstance(held, list | tuple):
        for value in held:
            yield from floats(value)
    elif isinstance(held, float) and math.isfinite(held):
        yield held


def on_grid(number: float) -> bool:
    """Whether a number is a multiple of the finest step, or a share of whole cells."""
    steps = (0.001, LEAST / ROWS)
    return any(abs(number / s - round(number / s)) < 1e-6 for s in steps)


@pytest.mark.parametrize("made", MADE)
@pytest.mark.parametrize("family", ["alone", "told"])
def test_no_exact_number_is_on_the_page(made: str, family: str) -> None:
    found = result(made, family, 9)
    exact = [x for x in floats(found.to_dict()) if not on_grid(x) and not on_grid(100 * x)]
    held = page(found)
    numbers = [n for p in held.pictures() for n in floats(p.spec["data"])]
    for text in texts(held):
        for token in NUMBER.findall(text):
            value = float(token.replace(",", ""))
            numbers += [value, value / 100]
    for number in numbers:
        assert on_grid(number) or all(abs(number - x) > 1e-6 * abs(x) for x in exact), number


def test_all_and_nearly_all_are_one_count() -> None:
    for rows in (50, 500, 503, 1009):
        redactor = Redactor(read_texts(None), rows)
        nearly = {redactor.count(rows - few).text for few in range(LEAST)}
        assert len(nearly) == 1, rows
        alike = Counter(redactor.count(number).text for number in range(rows + 1))
        assert min(alike.values()) >= LEAST, rows


def test_ends_of_a_scale_are_not_told_from_near_them() -> None:
    redactor = Redactor(read_texts(None), ROWS)
    assert redactor.rate(0.0) == redactor.rate(1e-4) and redactor.rate(1.0) == redactor.rate(
        1 - 1e-4
    )
    assert redactor.identity(0.0) == redactor.identity(1e-4)
    assert redactor.share(0.0) == redactor.share(9 / ROWS) and redactor.share(
        1.0
    ) == redactor.share(1 - 9 / ROWS)


def test_bounds_do_not_tell_how_many_a_share_is_of() -> None:
    redactor = Redactor(read_texts(None), ROWS)
    for of in (ROWS - 9, ROWS - 3, ROWS):
        assert redactor.share(0.0, of=of) == redactor.share(0.0)
    assert len({redactor.share(0.0, of=of) for of in range(500, 510)}) == 1
    assert len({redactor.share(1.0, of=of) for of in range(500, 510)}) == 1


def test_rates_of_a_secret_that_few_have_are_withheld() -> None:
    """Whether or not an assessment has measured how uncertain the secret is."""
    for made in (
        sievert.attack(alike(9), None, QUASI, "ill", reasoning=False),
        sievert.attack(alike(9), None, QUASI, "ill", value={"ill": "flu"}, reasoning=False),
        sievert.attack(
            alike(9), None, QUASI, "ill", reasoning=False,
            partitions={"ill": {"x": ["flu"], "y": ["Sx-other"]}},
        ),
    ):  # fmt: skip
        grids = [b for b in blocks(page(made)) if isinstance(b, Grid)]
        rows = [row for g in grids for row in g.rows if str(getattr(row[0], "text", row[0])) != ""]
        about = [r for r in rows if len(r) == 4 and "ill" in str(r[1])]
        assert about
        assert all(r[3] in ("withheld", "") for r in about), about


# -- names and values -----------------------------------------------------------------------------


def test_no_cell_and_no_file_is_named(tmp_path: Path) -> None:
    """In HTML and Markdown, of every command, with values that cannot be missed."""
    table = {c: [v if v is None else f"Zq{v}" for v in held] for c, held in certain(3).items()}
    table["pay"] = ward()["pay"]
    table["ill"] = [f"{v}Zq" for v in table["ill"]]
    paths = []
    for name, held in (("zebra", table), ("gnu", coarser(table))):
        path = tmp_path / f"{name}.csv"
        rows = zip(*held.values(), strict=True)
        lines = [",".join(held), *(",".join("" if c is None else c for c in row) for row in rows)]
        path.write_text("\n".join(lines) + "\n")
        paths.append(path)
    data, release = paths
    found: list[Any] = [
        sievert.assess(data, QUASI, "ill", attacks=True),
        sievert.explain(data, QUASI, "ill", show_values=True),
        sievert.attack(release, data, QUASI, "ill", reasoning=False, show_values=True),
        sievert.attack(release, None, QUASI, "ill", register=data, reasoning=False),
        sievert.compare(data, [release], QUASI, "ill", shuffles=9),
        sievert.compromise(
            data, QUASI, "pay", parameters=[1.0], replicates=1, show_values=True
        ),
        sievert.randomise(data, "zip", "ill", at=0.1, show_values=True),
    ]  # fmt: skip
    saved = [json.loads(json.dumps(f.to_dict())) for f in found]
    for given in (found, saved):
        made = page(*given)
        for text in (html.render(made), markdown.render(made)):
            assert not re.search(r"Zq|zebra|gnu|\.csv", text, re.IGNORECASE)


# -- large classes, limits, remarks ---------------------------------------------------------------


def roomy(kind: str, few: int) -> Table:
    """Classes of fifty; a few have a value that nobody has, or that their class lacks."""
    table: Table = {"age": [str(20 + i // 50) for i in range(ROWS)], "zip": ["1"] * ROWS}
    ill = [("flu", "flu", "cold", "gout", "cold")[i % 5] for i in range(ROWS)]
    if kind == "lacks":
        ill[:50] = ["cold" if v == "gout" else v for v in ill[:50]]
    elif kind == "sure":
        ill[:50] = ["flu"] * 50
    value = {"lacks": "gout", "sure": "cold", "new": "Sx", "none": None}[kind]
    return {**table, "ill": [*([value] * few), *ill[few:]]}


@pytest.mark.parametrize("kind", ["lacks", "sure", "new", "none"])
def test_what_is_withheld_of_large_classes_does_not_tell_a_few(kind: str) -> None:
    pages = [shape(page(sievert.assess(roomy(kind, few), QUASI, "ill"))) for few in (0, *FEW)]
    assert all(p == pages[0] for p in pages)


def test_how_uncertain_a_class_is_does_not_tell_how_few_differ() -> None:
    """One, three or nine of fifty: of the numbers that one class decides none is shown."""
    for few in (0, *FEW):
        told_ = sievert.assess(roomy("sure", few), QUASI, "ill").share().inference["ill"]
        for measure in ("itpr", "entropy_variation", "entropy_l_diversity", "entropy_l"):
            assert told_[measure].value is None, measure


@pytest.mark.parametrize("bound", [0.75, 0.8, 0.9, 1.0])
def test_a_limit_on_confidence_does_not_tell_certain_from_nearly_so(bound: float) -> None:
    """Everybody of a class but one, or everybody: as long as the verdict is the same."""
    policy = {"limits": {"inference": {"ill": {"max_confidence": {"max": bound}}}}}
    lines = []
    for few in (0, 1, 3):
        found = sievert.assess(roomy("sure", few), QUASI, "ill", policy=policy)
        lines.append([t for t in texts(page(found)) if t.startswith("Highest confidence")])
    assert lines[0] and all(line == lines[0] for line in lines)


def test_that_a_named_value_does_not_occur_is_not_said() -> None:
    """It would tell nobody from a few."""
    for few in (0, *FEW):
        named = {"alpha_k": {"value": "Sx"}}
        found = sievert.assess(roomy("new", few), QUASI, "ill", parameters=named)
        assert not any("does not occur" in t for t in texts(page(found)))


def test_remarks_of_a_shared_assessment_name_no_masked_column() -> None:
    """Their words are fixed: with masked names they are left out."""
    shared = sievert.assess(secretive(40), QUASI, "ill").share()
    saved = json.loads(json.dumps(shared.to_dict()))
    for given in (shared, saved):
        assert any("'ill'" in t for t in texts(page(given)))
        assert not any("'ill'" in t for t in texts(page(given, mask_names=True)))


def test_masked_parts_of_one_table_are_of_one_table() -> None:
    made = [result(m, "alone", 0) for m in ("assess", "explain", "attack")]
    assert not any("takes it otherwise" in t for t in texts(page(*made, mask_names=True)))
