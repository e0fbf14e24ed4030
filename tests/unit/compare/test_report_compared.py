"""The chapter of a comparison: the numbers of the JSON, in words, tables and pictures."""

from __future__ import annotations

import copy
import doctest
import json
import re
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
from helpers.savedpages import check_saved

import sievert
from sievert.commands.compare import page as compared
from sievert.commands.compare.view import ComparisonView
from sievert.commands.report.run import build_page
from sievert.formatting import significant
from sievert.losses import BY_ID as LOSSES
from sievert.measures import BY_ID as MEASURES
from sievert.policy import Verdict
from sievert.report import numbers as limits_numbers
from sievert.report import texts
from sievert.report.limits import PERCENT, each_limit, titles
from sievert.report.page import (
    Block,
    BulletList,
    Chapter,
    Grid,
    Link,
    Page,
    Paragraph,
    Picture,
    PolicyAnswer,
    walk,
)
from sievert.report.parts import NumberWriter, ReportPart

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


def part(data: dict[str, Any]) -> ReportPart:
    return ReportPart(
        kind="compare", data=data, writer=NumberWriter(texts.read_texts(None)), number=2
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
    blocks = compared.blocks(part(data))
    say = significant
    held = data["releases"]
    told = row(blocks, "Identity risk I(X';X), bits")
    assert told[1:] == [say(r["identity_disclosure"]["value"]) for r in held]
    assert told[0] == say(held[0]["identity_disclosure"]["maximum"])
    lost = row(blocks, "Information loss, corrected for chance")
    assert lost[1:] == [say(r["information_loss"]["ill"]["excess"]) for r in held]
    exact = row(blocks, "Attribute risk I(X';Y), bits")
    assert exact[1:] == [say(r["attribute_disclosure"]["ill"]["value"]) for r in held]
    assert row(blocks, "Smallest group (k), records")[0] == "1"
    assert row(blocks, "People alone in their group")[0] == str(
        data["original"]["assessment"]["reidentification"]["unique_records"]["records"]
    )
    assert row(blocks, "Suppressed records")[1:] == ["0", "7", "0"]
    assert "secret_name_wide" in "".join(every(blocks)).replace("…", "_wide")


def test_pictures_show_what_their_tables_say(data: dict[str, Any]) -> None:
    blocks = compared.blocks(part(data))
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
                assert any(near), (key, number)


def test_map_internal_equals_json(data: dict[str, Any]) -> None:
    blocks = compared.blocks(part(data))
    first, second = (b.spec["data"]["values"] for b in walk(blocks) if isinstance(b, Picture))
    for value, release in zip(first, data["releases"], strict=True):
        loss = release["information_loss"]["ill"]
        assert value["across"] == pytest.approx(loss["excess"], abs=1e-8)
        assert value["high"] == pytest.approx(loss["interval"][1], abs=1e-8)
        assert value["up"] == release["identity_disclosure"]["value"]
    placed = [v for v in second if v["kind"] == "release"]
    for value, release in zip(placed, data["releases"], strict=True):
        assert value["across"] == pytest.approx(release["limit"]["ill"]["distortion"], abs=1e-8)
        assert value["up"] == pytest.approx(release["limit"]["ill"]["disclosed"], abs=1e-8)
    curve = [v["up"] for v in second if v["kind"] == "curve"]
    assert set(curve) <= {limits_numbers.clean(p["least"]) for p in data["limit"]["ill"]["points"]}


def test_links_lead_somewhere(data: dict[str, Any]) -> None:
    words = texts.read_texts(None)
    for grid in grids(compared.blocks(part(data))):
        assert all(len(r) == len(grid.head) for r in grid.rows)
        for cell in (c for r in grid.rows for c in r if isinstance(c, Link)):
            key = cell.anchor.removeprefix("def-")
            known = key in MEASURES or key in LOSSES
            assert known or f"definitions.{key}.text" in words
    assert all(f"compared.loss_{name}" in words for name in LOSSES)
    assert "compared.title" in words


def sentences(part: ReportPart) -> list[str]:
    return [" ".join(point) for point in compared.points(part)]


def test_sentences(data: dict[str, Any]) -> None:
    found = sentences(part(data))
    assert len(found) == 3 and all(found)
    assert "the releases tell" in found[2] and "times the least possible" in found[2]
    assert "secret_name_few is nearest to the limit" in found[2]
    assert not re.search(r"\banonymous|\bsafe\b", " ".join(found))
    without = {k: v for k, v in data.items() if k != "limit"}
    for release in (without := copy.deepcopy(without))["releases"]:
        release.pop("limit")
    assert sentences(part(without)) == found[:2]
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
    said = " ".join(every(compared.blocks(part(held))))
    assert "same is out: wide gives no more" in said
    assert sentences(part(held))[0].startswith("wide is the best of these 2 releases")
    assert ComparisonView(**vars(part(held))).dominators == {1: (2,), 2: ()}


def test_large_k_is_told_and_alike_releases(data: dict[str, Any]) -> None:
    towns = {"town": list("ab") * 300, "ill": list("xxyy") * 150}
    found = sievert.compare(towns, [towns, towns], "town", "ill", shuffles=0).to_dict()
    shared = part(found)
    blocks = compared.blocks(shared)
    assert row(blocks, "Smallest group (k), records") == ["300", "300", "300"]
    assert "give least away" in sentences(shared)[0]
    (table, *_) = grids(blocks)
    assert [r[table.head.index("k")] for r in table.rows] == ["300", "300", "300"]


def test_edges() -> None:
    table = {
        HOSTILE: ["a", "b", "c"] * 40,
        "ill": ["x"] * 120,
        "n": [str(i % 7) for i in range(120)],
    }
    for sensitive in (None, "ill", ["ill", "n"]):
        found = sievert.compare(table, table, HOSTILE, sensitive, shuffles=0).to_dict()
        p = part(found)
        blocks = compared.blocks(p)
        assert blocks and sentences(p)
        assert HOSTILE not in "".join(every(blocks))
        anchors = [b.anchor for b in walk(blocks) if isinstance(b, Chapter)]
        assert len(anchors) == len(set(anchors))
        assert all(re.fullmatch(r"part2-[a-z]+\d*", a) for a in anchors)


def test_columns_may_be_called_like_rows() -> None:
    table = {"told": list("abc") * 40, "lost": list("ab") * 60}
    found = sievert.compare(table, table, ["told", "lost"], shuffles=0).to_dict()
    assert row(compared.blocks(part(found)), "told", "alone")


def test_many_releases(data: dict[str, Any]) -> None:
    many = copy.deepcopy(data)
    many["releases"] = [
        {**copy.deepcopy(r), "name": f"r{i}", "dominated_by": []}
        for i in range(10) for r in data["releases"]
    ]  # fmt: skip
    for release, name in zip(many["releases"], range(30), strict=True):
        release["name"] = f"r{name}"
    blocks = compared.blocks(part(many))
    assert max(len(g.head) for g in grids(blocks)) <= 8  # of releases side by side
    assert all(len(s) < 600 for s in sentences(part(many)))
    assert len(next(grids(blocks)).rows) == 31  # one row per release


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
    p = part(lacking)
    said = " ".join(every(compared.blocks(p), tuple(sentences(p))))
    assert "is not known" in said and "not defined" in said
    assert "Other losses" not in said


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


def limits_of_page(page: Page) -> Chapter:
    """The chapter on the limits of a policy."""
    chapters = [b for b in walk(page.chapters) if isinstance(b, Chapter)]
    (chapter,) = [c for c in chapters if c.anchor.endswith("-policy")]
    return chapter


def limit_grids(data: dict[str, Any]) -> list[Grid]:
    return [b for b in limits_of_page(build_page([data])).blocks if isinstance(b, Grid)]


def test_verdicts_of_each_release_are_on_the_page(held: dict[str, Any]) -> None:
    words = {True: "✓\u00a0met", False: "✗\u00a0breached", None: "undecided"}
    tables = [held["original"], *held["releases"]]
    (grid,) = limit_grids(held)
    own = [[v for v in t["policy"]["limits"] if "scope" not in v] for t in tables]
    rows = grid.rows[: len(LIMITS) + 1]  # every limit once: beta-likeness of one secret
    for row_, *limits in zip(rows, *own, strict=True):
        assert isinstance(row_[0], Link) and row_[0].anchor == f"def-{limits[0]['measure']}"
        cells = [str(c) for c in row_[3:]]
        assert [c.partition(":")[0] for c in cells] == [words[v["met"]] for v in limits]
        for cell, verdict in zip(cells, limits, strict=True):
            shown = numbers(cell.partition(":")[2])
            if verdict["value"] is not None:
                value = verdict["value"]
                value *= 100 if verdict["measure"] in PERCENT else 1
                assert shown[0] == pytest.approx(value, rel=1e-2)
            else:
                assert not shown


def test_limits_on_suppressed_records_are_rows_of_their_own(held: dict[str, Any]) -> None:
    """Only one of the tables has suppressed records: the others have a dash."""
    (grid,) = limit_grids(held)
    tables = [held["original"], *held["releases"]]
    lines = [[v for v in t["policy"]["limits"] if "scope" in v] for t in tables]
    (some,) = [own for own in lines if own]
    rows = grid.rows[len(LIMITS) + 1 :]
    assert len(rows) == len(some) == 4  # seven people are not unique, and are not counted there
    for row_, verdict in zip(rows, some, strict=True):
        assert isinstance(row_[0], Link) and row_[0].text.startswith("suppressed rows: ")
        cells = [str(c) for c in row_[3:]]
        assert cells.count("–") == len(tables) - 1
        assert ("breached" in str(cells)) == (verdict["met"] is False)


def test_one_line_per_release_says_what_it_breaches(held: dict[str, Any]) -> None:
    first = compared.blocks(part(held))[0]
    lines = next(b for b in first.blocks if isinstance(b, BulletList) and b.states)
    assert len(lines.items) == len(held["releases"]) == len(lines.states)
    for line, state, release in zip(lines.items, lines.states, held["releases"], strict=True):
        assert line.startswith(f"{release['name']}: ")
        met = release["policy"]["met"]
        assert state == {True: "met", False: "breached", None: "doubtful"}[met]
        breached = [v for v in release["policy"]["limits"] if v["met"] is False]
        assert all(titles(texts.read_texts(None), v["measure"], 5)[1] in line for v in breached[:4])
    assert "Suppressed records, judged as a class of their own: 7." in lines.items[1]


def made_of(data: dict[str, Any], *states: bool | None) -> dict[str, Any]:
    """Releases that were judged so."""
    made = {**data, "releases": [copy.deepcopy(data["releases"][0]) for _ in states]}
    for number, (release, state) in enumerate(zip(made["releases"], states, strict=True)):
        release |= {"name": f"r{number}", "dominated_by": []}
        for verdict in release["policy"]["limits"]:
            verdict["met"] = True
        release["policy"]["limits"][-1]["met"] = state
    return made


def verdict_of(data: dict[str, Any], *states: bool | None) -> str:
    (verdict,) = [
        b for b in build_page([made_of(data, *states)]).front if isinstance(b, PolicyAnswer)
    ]
    return f"{verdict.state}: {verdict.text} {verdict.why}"


def test_the_verdict_speaks_of_releases(held: dict[str, Any]) -> None:
    assert verdict_of(held, True) == "met: Yes, by this policy. All of its 5 limits are met."
    assert "1 of its 5 limits is breached" in verdict_of(held, False)
    assert "1 of its 5 limits could not be evaluated" in verdict_of(held, None)
    assert verdict_of(held, True, True).startswith("met: 2 of 2 releases meet the policy.")
    none = "breached: No release meets the policy. Not met by r0 and r1."
    assert verdict_of(held, False, False) == none
    one = "met: 1 of 2 releases meets the policy. Met by r0. Not met by r1."
    assert verdict_of(held, True, False) == one
    assert "Undecided for r0 and r2." in verdict_of(held, None, False, None)
    many = verdict_of(held, *[True] * 9, False)
    assert "Met by r0, r1, r2, r3 and 5 others." in many


def test_limits_of_many_releases(held: dict[str, Any]) -> None:
    many = {**held, "releases": [
        {**r, "name": f"{r['name']}{i}", "dominated_by": []}
        for i in range(3) for r in held["releases"]
    ]}  # fmt: skip
    found = limit_grids(many)
    assert len(found) == 3 and all(len(g.head) == 8 for g in found)


def test_limits_beside_those_of_an_assessment(held: dict[str, Any]) -> None:
    alone = sievert.assess(people(), ["sex", "town"], "ill", policy={"limits": LIMITS}).to_dict()
    page = build_page([alone, held])
    (answer,) = [b for b in page.front if isinstance(b, PolicyAnswer)]
    assert answer.text.startswith("The original: no. ") and "secret_name_wide" in answer.why
    limits = limits_of_page(page)
    assert [type(b) for b in limits.blocks] == [Grid, Paragraph]  # how to read it
    rests = [b.text for b in walk(page.chapters) if isinstance(b, Paragraph) and b.kind == "note"]
    assert any(text.startswith("The verdicts rest on this: ") for text in rests)
    anchors = {b.anchor for b in walk((*page.front, *page.chapters)) if isinstance(b, Chapter)}
    (grid,) = [b for b in limits.blocks if isinstance(b, Grid)]
    assert all(c.anchor in anchors for r in grid.rows for c in r if isinstance(c, Link))
    without = {**held, "releases": [
        {k: v for k, v in r.items() if k != "policy"} for r in held["releases"]
    ]}  # fmt: skip
    page = build_page([without])
    assert not [b for b in walk(page.chapters) if getattr(b, "anchor", "").endswith("-policy")]


# -- the table of releases ------------------------------------------------------------------------


def overview(data: dict[str, Any]) -> Grid:
    """The table that a terminal shows."""
    first = compared.blocks(part(data))[0]
    assert isinstance(first, Chapter) and first.screen
    (grid,) = [b for b in first.blocks if isinstance(b, Grid)]
    return grid


def test_one_row_per_release_with_the_numbers_of_the_json(held: dict[str, Any]) -> None:
    grid = overview(held)
    assert [row_[0] for row_ in grid.rows] == ["original", *(r["name"] for r in held["releases"])]
    columns = ["Identity risk", "% of H(X)", "k", "Suppressed", "Policy, limits met"]
    assert list(grid.head[1:]) == [*columns, "Attribute risk, ill", "Loss, ill"]
    for row_, release in zip(grid.rows[1:], held["releases"], strict=True):
        told, lost = release["attribute_disclosure"]["ill"], release["information_loss"]["ill"]
        lines = map(Verdict.from_dict, release["policy"]["limits"])
        limits = each_limit(lines)  # suppressed records have a second line
        met = sum(v.met is True for v in limits)
        own = release["assessment"]["reidentification"]
        cells = [str(cell) for cell in row_]
        identity = release["identity_disclosure"]["value"]
        assert cells[1].partition(",")[0] == significant(identity)
        assert cells[3] == str(own["k_anonymity"]["value"])
        assert cells[4] == str(release["records"]["suppressed"])
        assert cells[5].endswith(f", {met} of {len(limits)}")
        clean = limits_numbers.clean
        first = f"{significant(told['value'])} ({significant(clean(told['corrected']) or 0)})"
        assert cells[6] == first
        known = f"{significant(clean(lost.get('excess', lost['corrected'])) or 0.0)} ± "
        assert cells[7].startswith("not known" if "reason" in lost else known)


def test_identity_risk_is_a_bound_where_values_were_changed_at_random(data: dict[str, Any]) -> None:
    flags = [r["identity_disclosure"]["deterministic"] for r in data["releases"]]
    assert flags == [True, True, False]  # recoded, suppressed, perturbed
    made = copy.deepcopy(data)
    for release in made["releases"]:
        release["identity_disclosure"]["chance"] = release["identity_disclosure"]["value"]
    marked = ["at most" in str(row_[1]) for row_ in overview(made).rows]
    assert marked == [False, False, False, True]
    said = " ".join(every(compared.blocks(part(made))))
    assert "secret_name_noise gives records with the same values different ones" in said
    (first, *_) = (b for b in walk(compared.blocks(part(made))) if isinstance(b, Picture))
    named = [v["name"] for v in first.spec["data"]["values"]]
    assert [n for n in named if "(at most)" in n] == named[2:3]


def test_releases_have_their_own_names(data: dict[str, Any]) -> None:
    made = copy.deepcopy(data)
    files = [("bands", "bands.csv"), ("bands (2)", "bands.csv"), ("mine", "x.csv")]
    for release, (name, file) in zip(made["releases"], files, strict=True):
        release |= {"name": name, "dominated_by": []}
        release["table"]["name"] = file
    names = [row_[0] for row_ in overview(made).rows[1:]]
    assert names == ["bands", "bands (2)", "mine"]
    for number, release in enumerate(made["releases"]):
        release["name"] = f"{'long' * 20}{number}"
    cut = [str(row_[0]) for row_ in overview(made).rows[1:]]
    assert len({*cut}) == 3 and [c[-1] for c in cut] == ["0", "1", "2"]
    for number, release in enumerate(made["releases"]):
        stem = f"adult_qi4_k1{number}_s5"
        release["name"], release["table"]["name"] = stem, f"{stem}.csv.gz"
    names = [str(row_[0]) for row_ in overview(made).rows[1:]]
    assert names == ["k10_s5", "k11_s5", "k12_s5"]
    assert "Release 1" not in " ".join(every(compared.blocks(part(made))))


def test_a_share_is_kept_only_where_it_is_known(data: dict[str, Any]) -> None:
    changed = copy.deepcopy(data)
    whole = changed["original"]["attribute_disclosure"]["ill"]["corrected"]
    widths, told = (0.1, 0.2, 0.1), (0.5, 0.5, 1.1)  # of the interval, and of the release
    for release, width, share in zip(changed["releases"], widths, told, strict=True):
        release["attribute_disclosure"]["ill"]["corrected"] = share * whole
        loss = release["information_loss"]["ill"]
        loss["corrected"] = loss["excess"] = 0.25 * whole
        loss["interval"] = [(0.25 - width / 2) * whole, (0.25 + width / 2) * whole]
    head, text = compared.points(part(changed))[1]
    assert head == "Kept of what the original tells about ill:"
    assert "wide 75 % (70 % to 80 %)" in text and text.count("cannot be said") == 2
    for release in changed["releases"]:
        release["attribute_disclosure"]["ill"]["corrected"] = 2 * whole
    head, text = compared.points(part(changed))[1]
    assert "cannot be said" in head and "seems to tell more" in text and "%" not in head + text


def test_a_table_says_why_a_policy_is_not_met(held: dict[str, Any]) -> None:
    changed = copy.deepcopy(held)
    policy = changed["releases"][0]["policy"]
    policy["met"] = False
    for verdict in policy["limits"]:
        verdict["met"] = True
    reason = {"what": "columns_without_role", "names": ["a", "b"], "met": False}
    policy["reasons"] = [reason]
    number = len(policy["limits"])
    cells = " ".join(map(str, overview(changed).rows[1])).replace("\u00a0", " ")
    assert f"✗ {number} of {number}, but 2 columns have no role" in cells


RULES = """
[roles]
quasi = ["sex", "town"]
sensitive = ["ill"]
rows_are_people = true
[limits]
k_anonymity = { min = 5 }
l_diversity = { min = 2 }
"""


@pytest.mark.parametrize("with_policy", [False, True])
def test_a_comparison_is_read_back(with_policy: bool, tmp_path: Path) -> None:
    """The page of a saved comparison is that of the comparison itself."""
    policy = tmp_path / "p.toml"
    policy.write_text(RULES, encoding="utf-8")
    roles: dict[str, Any] = {"quasi": ["sex", "town"], "sensitive": ["ill"]}
    roles = {"policy": policy} if with_policy else roles
    table = people()
    made = sievert.compare(table, releases(table), shuffles=19, limit=not with_policy, **roles)
    check_saved(made)
