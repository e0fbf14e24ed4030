"""The chapter of a comparison: exact for the operator, nothing small in what is passed on."""

from __future__ import annotations

import copy
import doctest
import json
import re
from collections.abc import Iterator
from random import Random
from typing import Any

import pytest

import sievert
from sievert.commands.report.api import build_page
from sievert.formatting import significant
from sievert.losses import BY_ID as LOSSES
from sievert.measures import BY_ID as MEASURES
from sievert.report import builder, texts
from sievert.report.chapters import compare as compared
from sievert.report.chapters import numbers as limits_numbers
from sievert.report.chapters.compare_view import ComparisonView, loss_of
from sievert.report.page import Block, BulletList, Chapter, Grid, Link, Paragraph, Picture, walk
from sievert.report.redaction import Redactor, ReportPart

ROWS = 600
HOSTILE = "<b onclick='x'>" + "w" * 200


def people(number: int = ROWS) -> dict[str, list[str]]:
    random = Random(3)
    towns = [random.choice("aaabbcd") for _ in range(number)]
    sexes = [random.choice("fm") for _ in range(number)]
    towns[:7] = [f"rare{i}" for i in range(7)]  # seven people alone
    ill = [
        f"d{(ord(s) + ord(t[0]) + (random.random() < 0.3)) % 3}"
        for s, t in zip(sexes, towns, strict=True)
    ]
    return {"sex": sexes, "town": towns, "ill": ill}


def releases(table: dict[str, list[str]]) -> dict[str, dict[str, list[str]]]:
    random = Random(4)
    towns = table["town"]
    few = ["*" if t.startswith("rare") else t for t in towns]
    return {
        "secret_name_wide": {**table, "town": ["ab" if t in "ab" else "cd" for t in towns]},
        "secret_name_few": {**table, "town": few, "sex": [
            "*" if t == "*" else s for t, s in zip(few, table["sex"], strict=True)]},
        "secret_name_noise": {**table, "town": [
            random.choice("abcd") if random.random() < 0.9 else t for t in towns]},
    }  # fmt: skip


@pytest.fixture(scope="module")
def data() -> dict[str, Any]:
    table = people()
    found = sievert.compare(table, releases(table), ["sex", "town"], "ill", shuffles=19, limit=True)
    return json.loads(json.dumps(found.to_dict()))


def part(data: dict[str, Any], *, internal: bool = False, **redactor: Any) -> ReportPart:
    rows = data["table"]["rows"]
    return ReportPart(
        "compare", data, Redactor(texts.read_texts(None), rows, internal=internal, **redactor), 2
    )


def grids(blocks: tuple[Block | Chapter, ...]) -> Iterator[Grid]:
    for block in walk(blocks):
        if isinstance(block, Picture):
            yield block.behind
        elif isinstance(block, Grid):
            yield block


def every(blocks: tuple[Block | Chapter, ...], front: tuple[str, ...] = ()) -> Iterator[str]:
    """All words of a page."""
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
            yield from (c.text if isinstance(c, Link) else c for c in row)


def numbers(text: str) -> list[float]:
    return [float(x.replace(",", "")) for x in re.findall(r"-?\d[\d,]*\.?\d*", text)]


def row(blocks: tuple[Block | Chapter, ...], words: str, caption: str = "") -> list[str]:
    for grid in grids(blocks):
        for cells in grid.rows:
            first = cells[0]
            if caption in grid.caption and isinstance(first, Link) and first.text == words:
                return [str(c) for c in cells[2:]]
    raise AssertionError(words)


def test_examples() -> None:
    assert doctest.testmod(limits_numbers).failed == 0


def test_internal_numbers_are_those_of_the_json(data: dict[str, Any]) -> None:
    blocks = compared.blocks(part(data, internal=True))
    say = significant
    held = data["releases"]
    told = row(blocks, "Told of the quasi-identifiers")
    assert told[1:] == [say(r["identity_disclosure"]["value"]) for r in held]
    assert told[0] == say(held[0]["identity_disclosure"]["maximum"])
    lost = row(blocks, "Lost beyond chance")
    assert lost[1:] == [say(loss_of(r["information_loss"]["ill"])[0]) for r in held]
    exact = row(blocks, "Told of the secret")
    assert exact[1:] == [say(r["attribute_disclosure"]["ill"]["value"]) for r in held]
    assert row(blocks, "Smallest group (k), records")[0] == "1"
    assert row(blocks, "People alone in their group")[0] == str(
        data["original"]["assessment"]["reidentification"]["unique_records"]["records"]
    )
    assert row(blocks, "Suppressed records")[1:] == ["0", "7", "0"]
    assert "secret_name_wide" in "".join(every(blocks)).replace("…", "_wide")


def test_pictures_show_what_their_tables_say(data: dict[str, Any]) -> None:
    for internal in (True, False):
        blocks = compared.blocks(part(data, internal=internal))
        pictures = [b for b in walk(blocks) if isinstance(b, Picture)]
        assert len(pictures) == 2
        for picture in pictures:
            shown = {x for r in picture.behind.rows for c in r for x in numbers(str(c))}
            for value in picture.spec["data"]["values"]:
                for key in ("across", "up", "low", "high", "least", "bound"):
                    number = value.get(key)
                    if number is None:
                        continue
                    near = (abs(number - x) < 6e-4 * max(1, abs(x)) or
                            abs(100 * number - x) < 0.06 for x in shown)  # fmt: skip
                    assert any(near), (internal, key, number)


def test_map_internal_equals_json(data: dict[str, Any]) -> None:
    blocks = compared.blocks(part(data, internal=True))
    first, second = (b.spec["data"]["values"] for b in walk(blocks) if isinstance(b, Picture))
    for value, release in zip(first, data["releases"], strict=True):
        beyond, half = loss_of(release["information_loss"]["ill"])
        assert value["across"] == pytest.approx(beyond, abs=1e-8)
        assert value["high"] == pytest.approx(beyond + half, abs=1e-8)
        assert value["up"] == release["identity_disclosure"]["value"]
    placed = [v for v in second if v["kind"] == "release"]
    for value, release in zip(placed, data["releases"], strict=True):
        assert value["across"] == pytest.approx(release["limit"]["ill"]["distortion"], abs=1e-8)
        assert value["up"] == pytest.approx(release["limit"]["ill"]["disclosed"], abs=1e-8)
    curve = [v["up"] for v in second if v["kind"] == "curve"]
    assert set(curve) <= {limits_numbers.clean(p["least"]) for p in data["limit"]["ill"]["points"]}


def test_nothing_small_is_passed_on(data: dict[str, Any]) -> None:
    shared = part(data)
    blocks = compared.blocks(shared)
    everything = list(every(blocks, compared.sentences(shared)))
    joined = "\n".join(everything)
    assert "secret_name" not in joined and "rare" not in joined
    assert row(blocks, "People alone in their group")[0] == "fewer than 10"
    assert row(blocks, "Suppressed records")[1:] == ["fewer than 10"] * 3
    assert row(blocks, "Smallest group (k), records")[0] == "fewer than 10"
    for words in ("ITPR", "(l)", "(t)", "p-value", "worst group", "Groups", "Average group"):
        assert not any(t.startswith(words) or t.endswith(words) for t in everything), words
    exact = json.dumps(data)
    for digits in set(re.findall(r"0\.\d{6,}", exact)):
        assert digits[:7] not in joined, digits
    grain = limits_numbers.bits_step(shared.redactor)
    for text in row(blocks, "Told of the quasi-identifiers"):
        (value,) = numbers(text)
        assert abs(value / grain - round(value / grain)) < 1e-6


def test_passed_on_is_decided_by_what_is_shown(data: dict[str, Any]) -> None:
    """A change that no shown number tells changes no word, table or picture."""
    other = copy.deepcopy(data)
    for release in other["releases"]:
        release["identity_disclosure"]["value"] += 1e-7
        release["information_loss"]["ill"]["p_value"] = 0.5
        release["attribute_disclosure"]["ill"]["noise"] = True
        release["dominated_by"] = [other["releases"][0]["name"]]
        release["name"] += "x"
        release["records"]["suppressed"] = 9
        release["assessment"]["reidentification"]["unique_records"]["records"] = 8
        k = release["assessment"]["reidentification"]["k_anonymity"]
        k["value"] = 4 if k["value"] < 10 else k["value"]
    alone = data["releases"][0]["assessment"]["reidentification"]["unique_records"]["records"]
    assert alone < 10
    one, two = part(data), part(other)
    kept = [list(every(compared.blocks(p), compared.sentences(p))) for p in (one, two)]
    assert kept[0] == kept[1]


def test_links_lead_somewhere(data: dict[str, Any]) -> None:
    words = texts.read_texts(None)
    for internal in (True, False):
        for grid in grids(compared.blocks(part(data, internal=internal))):
            assert all(len(r) == len(grid.head) for r in grid.rows)
            for cell in (c for r in grid.rows for c in r if isinstance(c, Link)):
                key = cell.anchor.removeprefix("def-")
                known = key in MEASURES or key in LOSSES
                assert known or f"definitions.{key}.text" in words
    assert all(f"compared.loss_{name}" in words for name in LOSSES)
    assert "compared.title" in words


def test_sentences(data: dict[str, Any]) -> None:
    for internal in (True, False):
        found = compared.sentences(part(data, internal=internal))
        assert len(found) == 3 and all(found)
        assert not re.search(r"\banonymous|\bsafe\b", " ".join(found))
    without = {k: v for k, v in data.items() if k != "limit"}
    for release in (without := copy.deepcopy(without))["releases"]:
        release.pop("limit")
    assert "fewer than 10" in compared.sentences(part(without))[2]
    assert len([b for b in walk(compared.blocks(part(without))) if isinstance(b, Picture)]) == 1


def test_dominated_releases_are_said(data: dict[str, Any]) -> None:
    table = people()
    worse = {**table, "ill": table["ill"]}
    found = sievert.compare(
        table, {"same": worse, "wide": releases(table)["secret_name_wide"]},
        ["sex", "town"], "ill", shuffles=0,
    )  # fmt: skip
    held = found.to_dict()
    held["releases"][0]["dominated_by"] = ["wide"]
    said = " ".join(every(compared.blocks(part(held, internal=True))))
    assert "Release 1 (same) is out: Release 2 (wide) gives no more" in said
    assert "Release 2 (wide) is the best of these 2 releases" in said
    dominated = ComparisonView(**vars(part(held))).dominators  # not by the exact marks
    assert dominated == {1: (), 2: ()}


def test_large_k_is_told_and_alike_releases(data: dict[str, Any]) -> None:
    towns = {"town": list("ab") * 300, "ill": list("xxyy") * 150}
    found = sievert.compare(towns, [towns, towns], "town", "ill", shuffles=0).to_dict()
    shared = part(found)
    blocks = compared.blocks(shared)
    assert row(blocks, "Smallest group (k), records") == ["300", "300", "300"]
    assert "Release 1 and Release 2 give least away" in compared.sentences(shared)[0]
    assert "Release 1 300 and Release 2 300" in compared.sentences(shared)[2]


def test_edges() -> None:
    table = {
        HOSTILE: ["a", "b", "c"] * 40,
        "ill": ["x"] * 120,
        "n": [str(i % 7) for i in range(120)],
    }
    for sensitive in (None, "ill", ["ill", "n"]):
        found = sievert.compare(table, table, HOSTILE, sensitive, shuffles=0).to_dict()
        for internal in (True, False):
            p = part(found, internal=internal)
            blocks = compared.blocks(p)
            assert blocks and compared.sentences(p)
            assert HOSTILE not in "".join(every(blocks))
            anchors = [b.anchor for b in walk(blocks) if isinstance(b, Chapter)]
            assert len(anchors) == len(set(anchors))
            assert all(re.fullmatch(r"part2-[a-z]+\d*", a) for a in anchors)


def test_columns_may_be_called_like_rows() -> None:
    table = {"told": list("abc") * 40, "lost": list("ab") * 60}
    found = sievert.compare(table, table, ["told", "lost"], shuffles=0).to_dict()
    assert row(compared.blocks(part(found)), "told", "alone")


def test_few_records_and_many_releases(data: dict[str, Any]) -> None:
    small = {"town": list("ab") * 20, "ill": list("xxyy") * 10}
    found = sievert.compare(small, small, "town", "ill", shuffles=0).to_dict()
    assert [type(b) for b in compared.blocks(part(found))] == [Paragraph]
    assert compared.sentences(part(found)) == ()
    found["table"]["rows"] = 55  # not silent, but too small for bits
    assert compared.blocks(part(found)) and compared.sentences(part(found))
    many = copy.deepcopy(data)
    many["releases"] = [
        {**copy.deepcopy(r), "name": f"r{i}", "dominated_by": []}
        for i in range(10) for r in data["releases"]
    ]  # fmt: skip
    for internal in (True, False):
        for release, name in zip(many["releases"], range(30), strict=True):
            release["name"] = f"r{name}"
        blocks = compared.blocks(part(many, internal=internal))
        assert max(len(g.head) for g in grids(blocks)) <= 8
        assert all(len(s) < 600 for s in compared.sentences(part(many, internal=internal)))


def test_what_lacks_is_said(data: dict[str, Any]) -> None:
    lacking = copy.deepcopy(data)
    lacking["limit"]["ill"] |= {"merged": True, "reached": False, "perfect": None}
    lacking["limit"]["ill"]["points"] = []
    for release in lacking["releases"]:
        release["limit"]["ill"] |= {"least": None, "bound": None, "ratio": None, "reason": "so"}
        for loss in release["losses"].values():
            loss["value"] = None
        release["assessment"]["inference"] = {}
        for value in release["assessment"]["reidentification"].values():
            value["value"] = None
    for internal in (True, False):
        p = part(lacking, internal=internal)
        said = " ".join(every(compared.blocks(p), compared.sentences(p)))
        assert "is not known" in said and "not defined" in said
        assert "Other losses" not in said


def test_masked_names(data: dict[str, Any]) -> None:
    masks = {"sex": "quasi-identifier 1", "town": "quasi-identifier 2", "ill": "secret 1"}
    p = part(data, masks=masks)
    said = " ".join(every(compared.blocks(p), compared.sentences(p)))
    assert "secret 1" in said and not re.search(r"\b(town|ill)\b", said)


# -- limits of a policy ---------------------------------------------------------------------------

LIMITS = {
    "k_anonymity": {"min": 4},
    "unique_records": {"max": 0.001},
    "beta_likeness": {"max": 3},
    "inference": {"ill": {"l_diversity": {"min": 3}, "max_confidence": {"max": 0.97}}},
}


@pytest.fixture(scope="module")
def held() -> dict[str, Any]:
    table = people()
    found = sievert.compare(
        table, {**releases(table), "secret_name_same": table}, ["sex", "town"], "ill",
        shuffles=0, policy={"limits": LIMITS},
    )  # fmt: skip
    return json.loads(json.dumps(found.to_dict()))


def first_screen(data: dict[str, Any], **settings: Any) -> tuple[Block | Chapter, ...]:
    return build_page([data], builder.ReportSettings(**settings)).front


def limit_grids(front: tuple[Block | Chapter, ...]) -> list[Grid]:
    return [b for b in walk(front) if isinstance(b, Grid)]


def test_verdicts_of_each_release_are_on_the_first_screen(held: dict[str, Any]) -> None:
    words = {True: "✓\u00a0met", False: "✗\u00a0breached", None: "undecided"}
    tables = [held["original"], *held["releases"]]
    for internal in (False, True):
        (grid,) = limit_grids(first_screen(held, internal=internal))
        assert len(grid.rows) == len(LIMITS) + 1  # every limit once: beta-likeness of one secret
        for row_, *limits in zip(grid.rows, *(t["policy"]["limits"] for t in tables), strict=True):
            assert isinstance(row_[0], Link) and row_[0].anchor == f"def-{limits[0]['measure']}"
            cells = [str(c) for c in row_[3:]]
            assert [c.partition(":")[0] for c in cells] == [words[v["met"]] for v in limits]
            for cell, verdict in zip(cells, limits, strict=True):
                shown = numbers(cell.partition(":")[2])
                if internal and verdict["value"] is not None:
                    value = verdict["value"]
                    shares = ("unique_records",)
                    value *= 100 if verdict["measure"] in shares else 1
                    assert shown[0] == pytest.approx(value, rel=1e-2)
                else:
                    assert not shown


def test_passed_on_limits_tell_no_number_and_no_name(held: dict[str, Any]) -> None:
    front = first_screen(held)
    said = list(every(front))
    assert "secret_name" not in "\n".join(said)
    limits = next(b for b in walk(front) if isinstance(b, Chapter) and b.anchor == "limits")
    asked = {"4", "0.1", "3", "0.97"}
    for text in every(limits.blocks):
        bare = re.sub(r"Release \d+|\d quasi-identifiers, \d secret", "", text)
        assert set(re.findall(r"\d[\d.]*", bare)) <= asked, text
    changed = copy.deepcopy(held)  # the same verdicts of other numbers: the same page
    for table in (changed["original"], *changed["releases"]):
        for verdict in table["policy"]["limits"]:
            verdict["value"] = None if verdict["value"] is None else verdict["value"] + 1
            verdict["reading"] = "without missing secrets"
    assert list(every(first_screen(changed))) == said
    masked = "\n".join(every(first_screen(held, mask_names=True)))
    assert "secret 1" in masked and not re.search(r"\bill\b", masked)


def lead_of(data: dict[str, Any], *states: bool | None) -> str:
    """The first sentence where releases were judged so."""
    made = {**data, "releases": [copy.deepcopy(data["releases"][0]) for _ in states]}
    for number, (release, state) in enumerate(zip(made["releases"], states, strict=True)):
        release |= {"name": f"r{number}", "dominated_by": []}
        for verdict in release["policy"]["limits"]:
            verdict["met"] = True
        release["policy"]["limits"][-1]["met"] = state
    front = first_screen(made)
    assert isinstance(front[0], Paragraph)
    return front[0].text


def test_the_lead_speaks_of_releases(held: dict[str, Any]) -> None:
    policy = "of the policy"
    assert lead_of(held, True) == f"The release meets all limits {policy} (5 of 5)."
    assert lead_of(held, False).endswith(f"the limits {policy}: 1 of 5 is breached.")
    assert "but 1 of 5 could not be evaluated" in lead_of(held, None)
    assert lead_of(held, True, True) == f"All 2 releases meet all limits {policy}."
    assert lead_of(held, False, False).startswith("None of the 2 releases meets")
    assert lead_of(held, True, False) == (
        f"Release 1 meets all limits {policy}. Release 2 does not meet the policy."
    )
    assert "Release 1 and Release 3 breach no limit" in lead_of(held, None, False, None)
    many = lead_of(held, *[True] * 9, False)
    assert many.startswith("Release 1, Release 2, Release 3, Release 4 and 5 others meet all")


def test_limits_of_many_releases_and_of_few_records(held: dict[str, Any]) -> None:
    many = {**held, "releases": [
        {**r, "name": f"{r['name']}{i}", "dominated_by": []}
        for i in range(3) for r in held["releases"]
    ]}  # fmt: skip
    found = limit_grids(first_screen(many))
    assert len(found) == 3 and all(len(g.head) == 8 for g in found)
    small = {"town": list("ab") * 20, "ill": list("xxyy") * 10}
    policy = {"limits": {"k_anonymity": {"min": 21}, "inference": {"ill": {"l_diversity": {
        "min": 2}}}}}  # fmt: skip
    few = sievert.compare(small, small, "town", "ill", shuffles=0, policy=policy).to_dict()
    front = first_screen(few)
    assert "1 of 2 is breached" in front[0].text  # type: ignore[union-attr]
    assert [str(c) for c in limit_grids(front)[0].rows[0][3:]] == [
        "✗\u00a0breached",
        "✗\u00a0breached",
    ]


def test_limits_beside_those_of_an_assessment(held: dict[str, Any]) -> None:
    alone = sievert.assess(people(), ["sex", "town"], "ill", policy={"limits": LIMITS}).to_dict()
    page = build_page([alone, held])
    lead = page.front[0]
    assert (
        isinstance(lead, Paragraph)
        and "The table as it is breaches " in lead.text
        and "Release 1" in lead.text
    )
    limits = next(b for b in walk(page.front) if isinstance(b, Chapter) and b.anchor == "limits")
    kinds = [type(b) for b in limits.blocks]
    after = [Paragraph] * 3  # how to read it, what it rests on, that verdicts are exact
    assert kinds == [Paragraph, BulletList, Paragraph, BulletList, Grid, *after]
    anchors = {b.anchor for b in walk((*page.front, *page.chapters)) if isinstance(b, Chapter)}
    (grid,) = limit_grids(page.front)
    assert all(c.anchor in anchors for r in grid.rows for c in r if isinstance(c, Link))
    without = {**held, "releases": [
        {k: v for k, v in r.items() if k != "policy"} for r in held["releases"]
    ]}  # fmt: skip
    assert not limit_grids(first_screen(without))
