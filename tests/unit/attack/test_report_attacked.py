"""Chapters on attacks: the numbers of the JSON, in words, tables and pictures."""

from __future__ import annotations

import json
import random
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from helpers.savedpages import check_saved

import sievert
from sievert import methods
from sievert.attacks.attack import Attack
from sievert.charts import Bar
from sievert.charts.curves import running, shares
from sievert.commands.attack import page as attacked
from sievert.commands.attack import reasoning_chapter as reasoning
from sievert.commands.attack.result import Attacks
from sievert.formatting import percent
from sievert.report import texts
from sievert.report.page import Block, BulletList, Chapter, Grid, Link, Paragraph, Picture, walk
from sievert.report.parts import NumberWriter, ReportPart

QUASI = ["age", "zip"]
CELL = "wvy"  # begins every cell that is a text
TEXTS = texts.read_texts(None)
FOLDER = Path(attacked.__file__).parent


def people(records: int = 240) -> dict[str, list[str]]:
    rng = random.Random(3)
    zips = [rng.randrange(6) for _ in range(records)]
    return {
        "age": [str(rng.randrange(20, 40)) for _ in range(records)],
        "zip": [f"{CELL}z{z}" for z in zips],
        "disease": [f"{CELL}d{(z + rng.randrange(2)) % 4}" for z in zips],
        "id": [f"{CELL}{i}" for i in range(records)],
    }


ORIGINAL = people()
REGISTER = {c: v[100:] for c, v in people(400).items()}


def two_worlds(pairs: int = 60) -> Any:
    """Chains that never agree."""
    table = {"nation": list("ab") * pairs, "disease": list("xy") * pairs}
    groups = [str(i // 2) for i in range(2 * pairs)]
    release = tuple({"group": groups, c: table[c]} for c in table)
    return sievert.attack(release, table, "nation", "disease", method="gibbs", chains=4, sweeps=200)


def made(name: str) -> dict[str, Any]:
    if name == "apart":
        return two_worlds().to_dict()
    if name == "sampled":
        release = methods.mondrian(ORIGINAL, QUASI, 6).columns
        return sievert.attack(release, ORIGINAL, QUASI, "disease", sweeps=800).to_dict()
    if name == "hopes":
        return sievert.attack(ORIGINAL, None, QUASI, "disease").to_dict()
    if name == "register":
        return sievert.attack(
            ORIGINAL, ORIGINAL, QUASI, "disease", register=REGISTER, key="id",
            likelihood="saturated", show_values=True,
        ).to_dict()  # fmt: skip
    assert name == "assess"
    tree = {f"{CELL}d{i}": [f"half {i // 2}", "any"] for i in range(4)}
    return sievert.assess(
        ORIGINAL, QUASI, "disease", attacks=True, value={"disease": f"{CELL}d1"},
        partitions={"disease": {"two": [f"{CELL}d0", f"{CELL}d1"]}},
        hierarchies={"disease": tree},
    ).to_dict()  # fmt: skip


NAMES = ("register", "sampled", "hopes", "apart", "assess")


@pytest.fixture(scope="module")
def results() -> dict[str, dict[str, Any]]:
    return {name: made(name) for name in NAMES}


def part_of(data: dict[str, Any]) -> ReportPart:
    kind = "assess" if "reidentification" in data else "attack"
    return ReportPart(kind=kind, data=data, writer=NumberWriter(TEXTS))


def said(blocks: tuple[Block | Chapter, ...]) -> Iterator[str]:
    """Every text on the page, and every picture."""
    for block in walk(blocks):
        if isinstance(block, Paragraph):
            yield block.text
        elif isinstance(block, BulletList):
            yield from block.items
        elif isinstance(block, Chapter):
            yield block.title
        elif isinstance(block, Picture):
            yield block.caption
            yield json.dumps(block.spec["data"]) + block.spec["description"]
            yield from said((block.behind,))
        elif isinstance(block, Grid):
            yield from (block.caption, *block.head)
            yield from (c.text if isinstance(c, Link) else c for row in block.rows for c in row)


def everything(part: ReportPart) -> str:
    return "\n".join((*said(attacked.blocks(part)), *findings(part)))


def findings(part: ReportPart) -> list[str]:
    return [f"{head} {text}" for head, text in attacked.points(part)]


def pictures(part: ReportPart) -> list[Picture]:
    return [b for b in walk(attacked.blocks(part)) if isinstance(b, Picture)]


def chapter(part: ReportPart, word: str) -> Chapter:
    (found,) = (
        b for b in walk(attacked.blocks(part))
        if isinstance(b, Chapter) and b.anchor == part.anchor(word)
    )  # fmt: skip
    return found


# -- every page ---------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.slow
def test_a_page(name: str, results: dict[str, Any]) -> None:
    part = part_of(results[name])
    blocks = attacked.blocks(part)
    anchors = [b.anchor for b in walk(blocks) if isinstance(b, Chapter)]
    assert len(anchors) == len(set(anchors)) > 1 and all(
        re.fullmatch(r"[\w-]+", a) for a in anchors
    )
    assert 1 <= len(findings(part)) <= 3
    assert all(isinstance(b, Chapter) for b in blocks)
    for block in walk(blocks):
        grid = block.behind if isinstance(block, Picture) else block
        if isinstance(grid, Grid):
            assert grid.rows and all(len(row) == len(grid.head) for row in grid.rows)
            for cell in (c for row in grid.rows for c in row if isinstance(c, Link)):
                key = cell.anchor.removeprefix("def-")
                assert f"definitions.{key}.text" in TEXTS or key in sievert.measures.BY_ID
    for text in said(blocks):
        assert not re.search(r"anonymous|Said\(|\{\w*\}", text)


@pytest.mark.parametrize("name", NAMES)
def test_pictures_show_what_their_tables_say(name: str, results: dict[str, Any]) -> None:
    found = pictures(part_of(results[name]))
    assert found
    for picture in found:
        values, rows = picture.spec["data"]["values"], picture.behind.rows
        if "line" in values[0]:
            table = {
                (float(row[0].replace(",", "")), line): row[i]  # type: ignore[union-attr]
                for row in rows for i, line in enumerate(picture.behind.head[1:], 1)
            }  # fmt: skip
            assert len(table) == len(values)
            assert all(table[v["x"], v["line"]] == percent(v["y"]) for v in values)
            continue
        assert len(values) == len(rows)
        for value, row in zip(values, rows, strict=True):
            first = row[0].text if isinstance(row[0], Link) else row[0]
            assert value["row"] == first
            told = [c for c in row[1:] if isinstance(c, str)]
            assert any(c.split(" (")[0] == value["shown"] for c in told)
            assert any(value["said"] == f"{first}: {c}" for c in told)
            if value["number"] is not None:
                assert value["shown"] == percent(value["number"])


@pytest.mark.parametrize("show_values", [False, True])
def test_a_saved_result_has_the_same_page(show_values: bool) -> None:
    tree = {f"{CELL}d{i}": [f"half {i // 2}", "any"] for i in range(4)}
    result = sievert.attack(
        ORIGINAL, ORIGINAL, QUASI, "disease", register=REGISTER, key="id",
        value={"disease": f"{CELL}d1"}, hierarchies={"disease": tree}, show_values=show_values,
    )  # fmt: skip
    check_saved(result)
    read = Attacks.from_dict(result.to_dict())
    rate = read.attacks["identity"]["black_box"].columns["age"].number
    assert rate == result.attacks["identity"]["black_box"].columns["age"].number
    assert read.attacks["semantic"]["disease"].parts["level_1"].parts["skewness"].reading


def test_saved_results_of_other_attackers_have_the_same_pages() -> None:
    check_saved(two_worlds(20))
    check_saved(sievert.attack(ORIGINAL, None, QUASI, "disease"))


# -- numbers --------------------------------------------------------------------------------------


def test_numbers_are_those_of_the_json(results: dict[str, Any]) -> None:
    data = results["register"]
    part = part_of(data)
    attacks = data["attacks"]
    drawn = {p.spec["title"]["text"][0]: p.spec["data"]["values"] for p in pictures(part)}
    for title, held in (
        ("Whose record it is, by column", attacks["identity"]["black_box"]),
        ("The original values, by column", attacks["identity"]["white_box"]),
        ("disease, by column", attacks["homogeneity"]["disease"]),
    ):
        shown = {v["row"]: v["number"] for v in drawn[title]}
        for column in QUASI:
            number = held["columns"][column]["discrimination_rate"]["value"]
            assert shown[column] == number
        assert shown["all together"] == held["discrimination_rate"]["value"]
    told = attacks["reasoning"]["disease"]
    named = [v["number"] for v in drawn["Attacker against learner: disease"]]
    names = ("attacker_accuracy", "learner_accuracy", "baseline")
    assert named == [told[n]["value"] for n in names] == [data[n] for n in names]
    column = attacks["homogeneity"]["disease"]["columns"]["zip"]["values"]["listed"]
    values = drawn["disease, by value of zip"]
    assert [v["number"] for v in values] == [g["discrimination_rate_of_value"] for g in column]
    assert [v["row"] for v in values] == [g["values"]["zip"] for g in column]  # --show-values
    grey = attacks["identity"]["grey_box"]
    (rows,) = (b for b in chapter(part, "grey-box").blocks if isinstance(b, Grid))
    cells = {row[0]: row[1] for row in rows.rows}
    for name in ("single", "unmatched", "known", "true_matches", "false_matches", "lost"):
        assert cells[TEXTS(f"attacked.grey_{name}")] == f"{grey[name]['value']:,}"
    text = everything(part)
    assert f"{attacks['identity']['black_box']['people']['value']} of 240 people are alone" in text
    assert "The worst class of each attack:" in text  # --show-values
    assert f"{told['at_risk']['value']:,} people are at risk" in text
    assert f"{told['worst'][0]['row']:,}" in text and "With other weights of the prior" in text


def test_values_are_not_named_unless_they_were_asked_for(results: dict[str, Any]) -> None:
    for name in ("sampled", "hopes", "assess"):
        assert CELL not in everything(part_of(results[name]))
    assert CELL in everything(part_of(results["register"]))


def test_intervals_and_chains(results: dict[str, Any]) -> None:
    data = results["sampled"]
    told = data["attacks"]["reasoning"]["disease"]
    part = part_of(data)
    drawn = {p.spec["title"]["text"][0]: p.spec["data"]["values"] for p in pictures(part)}
    bars = drawn["Attacker against learner: disease"]
    for bar, who in zip(bars, ("attacker", "learner"), strict=False):
        assert [bar["low"], bar["high"]] == told["intervals"][f"{who}_accuracy"]
    assert "low" not in bars[2]
    lines = drawn["Convergence of the chains: disease"]
    places = told["sampling"]["so_far"]
    assert [(v["x"], v["y"]) for v in lines] == [
        (p["sweeps"], p["by_chain"][c]) for c in range(4) for p in places
    ]
    text = everything(part)
    assert f"R-hat is {told['sampling']['rhat']:.3f}" in text and "which agree" in text


def test_chains_that_do_not_agree_give_no_headline(results: dict[str, Any]) -> None:
    data = results["apart"]
    assert data["converged"] is False
    part = part_of(data)
    held = chapter(part, "reason1")
    assert isinstance(held.blocks[0], Paragraph) and held.blocks[0].kind == "warning"
    assert "do not agree" in held.blocks[0].text
    assert "did not settle" in findings(part)[-1]
    assert not any("Attacker against" in p.caption + p.spec["title"]["text"][0]
                   for p in pictures(part))  # fmt: skip
    row = next(b for b in walk(attacked.blocks(part)) if isinstance(b, Grid)).rows[-1]
    assert row[2:] == ("", "", "")
    assert "By chain the attacker is right for 0 % to 100 %" in everything(part_of(data))


def test_without_the_original(results: dict[str, Any]) -> None:
    data = results["hopes"]
    part = part_of(data)
    assert reasoning.state(Attack.from_dict(data["attacks"]["reasoning"]["disease"])) == "expects"
    text = everything(part)
    assert "cannot be told without the original" in text and "white-box" not in text
    assert "undefined" not in text
    number = data["attacks"]["reasoning"]["disease"]["attacker_expects"]["value"]
    assert f"expects to name disease of {percent(number)}" in findings(part)[-1]


def test_tables_that_do_not_fit() -> None:
    other = {**ORIGINAL, "zip": [f"{CELL}other"] * 240}
    domain = {"zip": [f"{CELL}z{i}" for i in range(6)] + [f"{CELL}other"]}
    data = sievert.attack(ORIGINAL, other, QUASI, "disease", domain=domain).to_dict()
    assert data["attacker_accuracy"] is None and data["converged"]
    part = part_of(data)
    assert "fit no released class" in chapter(part, "reason1").blocks[0].text  # type: ignore
    assert "do not fit" in findings(part)[-1]


def test_assess(results: dict[str, Any]) -> None:
    data = results["assess"]
    part = part_of(data)
    held = chapter(part, "secret1-semantic")
    (grid,) = (b for b in held.blocks if isinstance(b, Grid))
    told = data["attacks"]["semantic"]["disease"]
    assert [row[0] for row in grid.rows] == ["the partition", "level 1 of the hierarchy"]
    assert grid.rows[0][1] == str(told["partition"]["people"]["value"])
    assert "the named value of disease" in everything(part)
    assert attacked.blocks(part)
    bare = part_of({**data, "attacks": None})
    assert attacked.blocks(bare) == () and not findings(bare)


# -- odd tables -----------------------------------------------------------------------------------


def test_odd_tables() -> None:
    rng = random.Random(1)
    hostile = [
        "<script>alert(1)</script>",
        "x" * 200,
        "x" * 201,
        "a\nb",
        "{age}",
        "%s",
        "all together",
    ]
    wide = {f"c{i}": [str(rng.randrange(3)) for _ in range(80)] for i in range(33)}
    odd = {n: [str(rng.randrange(3)) for _ in range(80)] for n in hostile}
    one = {"age": [str(rng.randrange(3)) for _ in range(80)], "same": ["x"] * 80}
    blank = {"age": ["", " ", "a", "b"] * 20, "s": ["x", "y", " ", ""] * 20}
    cases: list[tuple[Any, Any, Any]] = [
        (wide, list(wide)[:31], list(wide)[31:]),
        (odd, hostile[:3] + hostile[4:], hostile[3]),
        (one, "age", None),
        (one, "age", "same"),
        (one, "same", "age"),
        (blank, "age", "s"),
    ]
    for table, quasi, secret in cases:
        data = sievert.attack(
            table, quasi=quasi, sensitive=secret, reasoning=False, show_values=True
        ).to_dict()
        part = part_of(data)
        assert everything(part)
        for picture in pictures(part):
            rows = [v["row"] for v in picture.spec["data"]["values"]]
            assert len(rows) == len(set(rows)) and max(map(len, rows)) <= 70
    wild = {"age": [None, "a", "b", "c"] * 20, "s": ["x", "y"] * 40}
    data = sievert.attack(wild, quasi="age", sensitive="s", missing="wildcard").to_dict()
    assert attacked.blocks(part_of(data)) is not None


def test_rarer_sentences() -> None:
    """One person, several secrets, an exact count, a domain that nobody outside has."""
    many = {f"s{i}": [str((i + j) % 3) for j in range(80)] for i in range(5)} | {
        "age": ["a"] * 40 + ["b"] * 39 + ["c"]
    }
    part = part_of(sievert.attack(many, many, "age", list(many)[:5]).to_dict())
    text = everything(part)
    assert "Of 80 people 1 is alone" in text and "For 1 person s0 is certain" in text
    assert "The original values of" in text and "the first 3 secrets;" in text
    table = {"age": ["1", "2"] * 4, "s": list("xyyxxyyx"), "group": list("aabbccdd")}
    data = sievert.attack(table, quasi="age", sensitive="s", group="group").to_dict()
    assert data["method"] == "exact"
    assert "by counting all possible tables" in everything(part_of(data))
    data = sievert.attack(ORIGINAL, ORIGINAL, QUASI, "disease", domain="observed").to_dict()
    assert "Nobody outside has that list" in everything(part_of(data))
    turned = {
        **ORIGINAL,
        "disease": [f"{CELL}d{(int(d[-1]) + 1) % 4}" for d in ORIGINAL["disease"]],
    }
    data = sievert.attack(ORIGINAL, turned, QUASI, "disease").to_dict()
    assert data["attacker_accuracy"] < data["baseline"]
    text = everything(part_of(data))
    assert "is not known: what was computed does worse than guessing" in text
    assert "little more" not in text and "Attacker against learner" not in text
    near = json.loads(json.dumps(data))  # less than guessing by chance alone
    right = near["attacks"]["reasoning"]["disease"]["attacker_accuracy"]
    right["value"] = data["baseline"] - 0.01
    assert "Reasoning is not shown to beat guessing." in " ".join(
        head for head, _ in attacked.points(part_of(near))
    )


def test_skewness_finds_nobody(results: dict[str, Any]) -> None:
    """Whose secret became likelier is neither found nor certain."""
    part = part_of(results["hopes"])
    grid = next(b for b in walk(attacked.blocks(part)) if isinstance(b, Grid))
    rows = {str(getattr(row[0], "text", row[0])): row[2:] for row in grid.rows}
    assert rows["Skewness"] == ("", "", "")
    assert rows["Reasoning"][0] == rows["Reasoning"][2] == "" and "%" in rows["Reasoning"][1]
    counted = [many for many, *_ in rows.values() if many]
    title = attacked.blocks(part)[0].title
    some = sum(many != "0" for many in counted)
    words = "No attack" if not some else f"{some} of {len(counted)} attacks that aim at certainty"
    assert title.startswith(words)
    skewness = results["hopes"]["attacks"]["skewness"]["disease"]
    places = [percent(skewness[name]["value"]) for name in ("posterior", "prior")]
    text = everything(part)
    assert f"posterior {places[0]} from {places[1]}" in text and "(not named here)" in text
    unknown = sievert.assess(ORIGINAL, QUASI, "disease", attacks=True, value={"disease": "no"})
    text = everything(part_of(unknown.to_dict()))
    assert "The named value of disease does not occur." in text


def test_every_text_is_there() -> None:
    held = tomllib.loads((FOLDER / "texts" / "en.toml").read_text(encoding="utf-8"))
    source = "".join(p.read_text() for p in FOLDER.glob("*.py"))
    for section in ("attacked", "reasoned"):
        for text in held[section].values():
            assert "!" not in text and not re.search(r"\b(anonymous|safe)\b", text)
    said = [f"attacked.{key}" for key in re.findall(r'part\.say\(f?"(\w+)', source)]
    for key in [*said, *re.findall(r'"((?:attacked|reasoned)\.\w+)"', source)]:
        start = key if key.endswith("_") else f"{key}_"
        known = [k for k in texts.english() if k == key or k.startswith(start)]
        assert known, key


# -- charts ---------------------------------------------------------------------------------------


def test_charts_can_be_drawn(results: dict[str, Any]) -> None:
    from sievert.charts import svg

    for picture in pictures(part_of(results["sampled"])):
        if "Convergence" in picture.spec["title"]["text"][0] or "Attacker" in str(picture.spec):
            drawn = svg(picture.spec, width=720)
            assert "aria-label" in drawn and "%" in drawn


def test_shares_and_running_means() -> None:
    sampled = Bar(
        row="a", number=0.25, interval=(0.2, 0.3), text="25 % (20 % to 30 %)", shown="25 %"
    )
    spec = shares("t", ["b"], [sampled, Bar(row="c", number=None, text="withheld")], axis="x")
    first, second = spec["data"]["values"]
    assert first["shown"] == "25 %" and first["said"] == "a: 25 % (20 % to 30 %)"
    assert second["number"] is None and second["end"] == 0 and second["shown"] == "withheld"
    assert spec["description"] == "b. a: 25 % (20 % to 30 %); c: withheld."
    chains = {"1": [(5.0, 0.4), (10.0, 0.4)], "2": [(5.0, 0.4), (10.0, 0.4)]}
    spec = running("t", ["b"], chains, across="x", up="y")
    assert spec["layer"][0]["encoding"]["y"]["scale"]["domain"] == [0.39, 0.41]
    assert spec["description"] == "b. 1, 10: 0.4; 2, 10: 0.4."
