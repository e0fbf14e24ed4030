"""Charts: what is in them, what is said of them, what is not; the files they become."""

from __future__ import annotations

import doctest
import json
import os
import re
import stat
import sys
import xml.etree.ElementTree as ET
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from helpers.commandline import run

import sievert
from sievert import charts
from sievert.charts import BandPoint, Bar, Dot, band, bars, risk_utility_chart
from sievert.charts.rendering import draw, fit
from sievert.commands.report.run import build_page
from sievert.errors import InvariantError, UsageError
from sievert.report import html
from sievert.report.builder import ResultPages

pytest.importorskip("vl_convert")

# cells that occur nowhere else
TABLE = {
    "zip": ["zqx1", "zqx1", "zqx2", "zqx2", "zqx3", "zqx3"],
    "sex": ["wvy1", "wvy2", "wvy1", "wvy2", "wvy1", None],
    "disease": ["jkh1", "jkh1", "jkh2", "jkh1", "jkh2", "jkh3"],
}
CELLS = ("zqx", "wvy", "jkh")
QUASI = ["zip", "sex"]


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "patients.csv"
    rows = zip(*TABLE.values(), strict=True)
    text = "\n".join(",".join("" if v is None else v for v in row) for row in rows)
    path.write_text(f"{','.join(TABLE)}\n{text}\n", encoding="utf-8")
    return path


def numbers(spec: Any) -> dict[tuple[str, str | None], Any]:
    return {(r["row"], r.get("series")): r["number"] for r in spec["data"]["values"]}


def parsed(picture: str) -> ET.Element:
    """An SVG that is nothing but a picture."""
    root = ET.fromstring(picture)
    for element in root.iter():
        name = element.tag.rpartition("}")[2]
        assert name in ("svg", "title", "desc", "g", "path", "rect", "line", "text", "tspan"), name
        for attribute, value in element.attrib.items():
            plain = attribute.rpartition("}")[2]
            assert not plain.startswith("on") and plain not in ("href", "style"), attribute
            assert "url(" not in value and "javascript" not in value.lower()
    assert root.get("role") == "img" and root.get("aria-label")
    assert root[0].tag.endswith("title") and root[1].tag.endswith("desc") and root[1].text
    return root


def said(root: ET.Element, kind: str) -> list[str | None]:
    return [e.get("aria-label") for e in root.iter() if e.get("aria-roledescription") == kind]


# -- what is in them ------------------------------------------------------------------------------


def test_attacks_by_column_and_by_value() -> None:
    found = sievert.attack(TABLE, quasi=QUASI, sensitive="disease", original=TABLE)
    drawn = found.charts()
    assert list(drawn) == [
        "identity_black_box", "identity_white_box", "homogeneity_disease",
        "homogeneity_disease_by_zip", "homogeneity_disease_by_sex", "reasoning_disease",
    ]  # fmt: skip
    plain = found["homogeneity"]["disease"]
    for name, attack in (
        ("identity_black_box", found["identity"]["black_box"]),
        ("identity_white_box", found["identity"]["white_box"]),
        ("homogeneity_disease", plain),
    ):
        assert numbers(drawn[name]) == {
            ("zip", None): attack.columns["zip"].number.value,
            ("sex", None): attack.columns["sex"].number.value,
            ("combined", None): attack.numbers["discrimination_rate"].value,
        }
    rates = [
        g.numbers["discrimination_rate_of_value"].value for g in plain.columns["sex"].values.groups
    ]
    by_value = numbers(drawn["homogeneity_disease_by_sex"])
    assert by_value == {(f"value {i}", None): rate for i, rate in enumerate(rates, 1)}


def test_no_cell_unless_shown() -> None:
    for show in (False, True):
        attacked = sievert.attack(
            TABLE, quasi=QUASI, sensitive="disease", show_values=show
        ).charts()
        text = json.dumps(attacked) + "".join(charts.svg(s) for s in attacked.values())
        assert [cell in text for cell in CELLS] == [show, show, False]
        explained = sievert.explain(TABLE, QUASI, "disease", show_values=show).charts()
        text = json.dumps(explained) + "".join(charts.svg(s) for s in explained.values())
        assert not any(cell in text for cell in CELLS)
    assert ("(missing)", None) in numbers(attacked["homogeneity_disease_by_sex"])


def test_several_releases_side_by_side() -> None:
    coarse = {**TABLE, "zip": ["zqx1"] * 2 + ["*"] * 4}
    for show in (False, True):
        releases = {
            name: sievert.attack(table, quasi=QUASI, sensitive="disease", show_values=show).attacks
            for name, table in (("fine", TABLE), ("coarse", coarse))
        }
        drawn = charts.of_attacks(releases)
        held = numbers(drawn["homogeneity_disease"])
        for name, attacks in releases.items():
            whole = attacks["homogeneity"]["disease"].numbers["discrimination_rate"].value
            assert held["combined", name] == whole
        # ranks of two releases say nothing about each other
        assert ("homogeneity_disease_by_zip" in drawn) is show
    rows = {row for row, _ in numbers(drawn["homogeneity_disease_by_zip"])}
    assert rows == {"zqx1", "zqx2", "zqx3", "*"}
    root = parsed(charts.svg(drawn["homogeneity_disease"]))
    assert len(said(root, "bar")) == 6 and "zip, fine: " in str(said(root, "bar")[0])


def test_an_explanation() -> None:
    found = sievert.explain(TABLE, QUASI, "disease")
    drawn = found.charts()
    assert list(drawn) == [
        "knowledge_identity", "knowledge_disease", "shares_identity", "shares_disease",
    ]  # fmt: skip
    for name, risk in (("identity", None), ("disease", "disease")):
        points = found.chapters["knowledge"]["points"]
        held = [p["inference"][risk] if risk else p["reidentification"] for p in points]
        assert [
            (r["known"], r["least"], r["mean"], r["most"])
            for r in drawn[f"knowledge_{name}"]["data"]["values"]
        ] == [
            (p["known"], *(h["discrimination_rate"][x] for x in ("min", "mean", "max")))
            for p, h in zip(points, held, strict=True)
        ]
        part = found.chapters["shapley"]
        part = part["inference"][risk] if risk else part["reidentification"]
        columns = part["discrimination_rate"]["columns"]
        shares = numbers(drawn[f"shares_{name}"])
        assert shares == {(c, None): columns[c]["value"] for c in columns}
        assert list(shares.values()) == sorted(shares.values(), reverse=True)
    assert sievert.explain(TABLE).charts() == {}


def test_sampled_shares_have_intervals() -> None:
    more = {**TABLE, "age": list("112345"), "town": list("aabbcc"), "eyes": list("xyzxyz")}
    drawn = sievert.explain(more, [*QUASI, "age", "town", "eyes"], max_size=1, orders=4).charts()
    spec = drawn["shares_identity"]
    assert all(r["low"] <= r["number"] <= r["high"] for r in spec["data"]["values"])
    assert "orders, intervals of 95 %" in spec["description"]
    parsed(charts.svg(spec))
    assert "Not every subset" in drawn["knowledge_identity"]["description"]


def test_undefined_is_said() -> None:
    same = {"zip": ["1", "1", "2"], "sex": ["f", "m", "m"], "disease": ["x", "x", "x"]}
    spec = sievert.attack(same, quasi=QUASI, sensitive="disease").charts()["homogeneity_disease"]
    assert set(numbers(spec).values()) == {None}
    root = parsed(charts.svg(spec))
    assert said(root, "bar") == []
    assert [e.text for e in root.iter()].count("undefined") == 3
    assert "zip: undefined; sex: undefined; combined: undefined" in str(root[1].text)
    drawn = sievert.explain(same, QUASI, "disease").charts()
    assert list(drawn) == ["knowledge_identity", "shares_identity"]


def test_only_the_highest_of_many() -> None:
    spec = bars(
        "t", ["b"], [Bar(row=f"c{i}", number=i / 100) for i in range(90)], axis="DR", of=500
    )
    assert [row for row, _ in numbers(spec)] == [f"c{i}" for i in range(30, 90)]
    assert spec["title"]["subtitle"] == ["b", "The 60 highest of 500"]
    many = {"n": [str(i // 2) for i in range(400)], "s": list("ab") * 200}
    spec = sievert.assess(many, "n", "s", attacks=True).attacks
    assert spec is not None
    by_value = charts.of_attacks({"": spec})["homogeneity_s_by_n"]
    assert len(numbers(by_value)) == 30 and "The 30 highest of 200" in by_value["description"]


def test_charts_are_the_pictures_of_the_page() -> None:
    """Also those that are too many for a page, each under a name of its own."""
    random = Random(3)
    secrets = ["a", "b", "c", "x y", "x-y"]
    table = {"zip": [random.choice("012") for _ in range(60)]}
    table |= {secret: [str(random.randint(1, 9)) for _ in range(60)] for secret in secrets}
    types = dict.fromkeys(secrets, "int")
    found = sievert.compromise(table, "zip", secrets, types=types, replicates=1)
    drawn = found.charts()
    assert list(drawn) == [
        f"{number}_{name}"
        for name in ("a", "b", "c", "x-y", "x-y_2")
        for number in ("initial_entropy", "area")
    ]
    named = [picture for picture in build_page([found]).pictures() if picture.name]
    assert [picture.spec for picture in named] == [*drawn.values()][: len(named)]
    assert 0 < len(named) < len(drawn)
    assert ResultPages(found, "de").charts()["area_a"] != drawn["area_a"]


# -- pictures -------------------------------------------------------------------------------------


def test_every_mark_is_named_and_bytes_stay() -> None:
    for name, spec in sievert.attack(TABLE, quasi=QUASI, sensitive="disease").charts().items():
        picture = charts.svg(spec)
        draw.cache_clear()
        assert picture == charts.svg(spec)
        assert len(picture) < 40_000
        assert sorted(map(str, said(parsed(picture), "bar"))) == sorted(
            r["said"] for r in spec["data"]["values"]
        ), name
        assert picture.count("http") == 2  # the namespaces
    for name, spec in sievert.explain(TABLE, QUASI, "disease").charts().items():
        picture = charts.svg(spec)
        draw.cache_clear()
        assert picture == charts.svg(spec)
        kind = "bar" if name.startswith("shares") else "point"
        assert len(said(parsed(picture), kind)) == len(spec["data"]["values"])


def test_a_curve_with_gaps() -> None:
    points = [
        BandPoint(known=0, least=0.0, mean=0.0, most=0.0),
        BandPoint(known=1, least=0.1, mean=None, most=0.3),
        BandPoint(known=3, least=0.5, mean=0.5, most=0.5),
    ]
    root = parsed(charts.svg(band("t", ["b"], points, axis="DR", known="columns")))
    assert said(root, "point") == [
        "0 known: most 0, mean 0, least 0", "3 known: most 0.5, mean 0.5, least 0.5",
    ]  # fmt: skip


STRANGE = ["</svg><script>alert(1)</script>", 'x" onload="alert(1)', "a\x1b[31m\nb\x01",
           "datum['a.b']", "\u202egnp", "&amp;<!--", "combined", "../../etc",
           "name " * 30]  # fmt: skip


def test_strange_names_stay_text() -> None:
    table = {name: ["1", "2", "2"] for name in STRANGE} | {"se\ncret/": ["a", "b", "b"]}
    drawn = sievert.attack(table, quasi=STRANGE, sensitive="se\ncret/", show_values=True).charts()
    assert len(drawn) == 3 + len(STRANGE)
    assert len({name.casefold() for name in drawn}) == len(drawn)
    for name, spec in drawn.items():
        assert all(c.isalnum() or c in "_-" for c in name) and name.isascii()
        root = parsed(charts.svg(spec))
        assert len(said(root, "bar")) == len(spec["data"]["values"])
    assert len(numbers(drawn["homogeneity_se-cret"])) == len(STRANGE) + 1
    explained = sievert.explain(table, STRANGE[:5], "se\ncret/").charts()
    for spec in explained.values():
        parsed(charts.svg(spec))


TEXTS = ["a\x1b", "\ufffe", "\ud800", "\0", "x" * 10**6, "", "\n"]


@pytest.mark.parametrize("text", TEXTS, ids=range(len(TEXTS)))
@pytest.mark.slow
def test_no_text_ends_the_renderer(text: str) -> None:
    """Some characters abort its process, and it measures long texts letter by letter."""
    table = {"q": [text or "''", "b", "b"], "r": ["1", "1", "2"], "s": ["x", "y", "y"]}
    with_name = {"q": table["q"], text[:50] or "r": table["r"], "s": table["s"]}
    for data in (table, with_name) if text not in ("\ud800", "\0") else ():
        quasi = list(data)[:2]
        drawn = sievert.assess(data, quasi, "s", attacks=True, show_values=True).attacks
        assert drawn is not None
        for spec in charts.of_attacks({text: drawn, "b": drawn}).values():
            parsed(charts.svg(spec))
    parsed(
        charts.svg(bars(f"t {text[:50]}", [text[:50]], [Bar(row=text[:50], number=0.5)], axis="DR"))
    )


def test_a_dict_of_somebody_else_is_looked_at() -> None:
    spec = bars("t", ["b"], [Bar(row="a", number=0.5)], axis="DR")
    spec["data"]["values"][0]["row"] = "a\x01"
    with pytest.raises(UsageError, match="no picture can show"):
        charts.svg(spec)


def test_what_cannot_be_drawn_says_nothing_of_the_data() -> None:
    spec = bars("t", ["b"], [Bar(row="zqx", number=0.5)], axis="DR") | {"layer": "zqx"}
    with pytest.raises(InvariantError) as error:
        charts.svg(spec)
    assert "zqx" not in str(error.value) and error.value.__suppress_context__


@pytest.mark.parametrize("seed", range(4))
def test_numbers_of_close_points_hide_nothing(seed: int) -> None:
    """Many points, half of them nearly in one place: no number lies on another or on a point."""
    random = np.random.default_rng(seed)
    spread = np.concatenate([random.random((12, 2)), 0.9 + 0.02 * random.random((12, 2))])
    dots = [
        Dot(name=f"t{i}", across=x, up=y, interval=(x, x))
        for i, (x, y) in enumerate(spread.tolist())
    ]
    spec = risk_utility_chart("Map", ["below"], dots, across="lost", up="told")
    narrow = spec["usermeta"]["narrow"]
    for values, pixels in ((spec["data"]["values"], 320), (narrow["data"]["values"], 180)):
        domains = [spec["layer"][0]["encoding"][way]["scale"]["domain"] for way in "xy"]
        size = np.array([pixels, spec["height"]])

        def place(of: str, size: Any = size, values: Any = values, domains: Any = domains) -> Any:
            at = np.array([[value[f"{of}across"], value[f"{of}up"]] for value in values])
            low, high = np.array(domains).T
            return (at - low) / (high - low) * size

        points, numbers, ends = place(""), place("number_"), place("to_")
        half = np.array([[3.4 * len(v["number"]), 4.5] for v in values])  # of its ink
        for i, own in enumerate(numbers):
            apart = (np.abs(numbers - own) > half + half[i]).any(axis=1)
            assert np.delete(apart, i).all()
            assert (np.abs(points - own) > half[i] + 4.2).any(axis=1).all()
            if np.array_equal(ends[i], points[i]):  # without a line: nearest to its own
                assert np.argmin(((points - own) ** 2).sum(axis=1)) == i
    assert sorted(int(v["number"]) for v in spec["data"]["values"]) == [*range(1, 25)]
    assert {*narrow["layer"][-1]["encoding"]["x"]} == {"value"}  # names above, on a telephone
    drawn = [fit(spec, width)["layer"][-1]["encoding"]["x"] for width in (340, 760)]
    assert "value" in drawn[0] and "field" in drawn[1]
    parsed(charts.svg(spec, width=340))


# -- files ----------------------------------------------------------------------------------------

COMMANDS = {
    "attack": ("attack", "identity_black_box", "homogeneity_disease"),
    "assess": ("assess --attacks", "identity_black_box", "homogeneity_disease_by_sex"),
    "explain": ("explain", "knowledge_identity", "shares_disease"),
}


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.slow
def test_charts_become_files(
    command: str, table: Path, tmp_path: Path, capsys: pytest.CaptureFixture
) -> None:
    words, *names = COMMANDS[command]
    verb, *options = words.split()
    folder = tmp_path / "charts"
    arguments = (verb, table, "-q", "zip,sex", "-s", "disease", *options, "--charts", folder)
    assert run(*arguments) == 0
    out, err = capsys.readouterr()
    files = sorted(folder.iterdir())
    assert sorted(err.splitlines()) == [f"written: {f}" for f in files] and "written" not in out
    assert {f"{n}.svg" for n in names} <= {f.name for f in files}
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    before = {}
    for file in files:
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        before[file] = file.read_bytes()
        assert not any(cell.encode() in before[file] for cell in CELLS)
        parsed(before[file].decode())
    assert run(*arguments) == 0  # ours are replaced
    assert {f: f.read_bytes() for f in folder.iterdir()} == before
    assert run(*arguments, "--show-values") == 0
    shown = b"".join(f.read_bytes() for f in folder.iterdir())
    assert (b"wvy1" in shown) is (command != "explain") and b"jkh" not in shown
    assert run(*arguments, "--share") == 7


def test_what_is_refused(table: Path, tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    folder = tmp_path / "charts"
    attack = ("attack", table, "-q", "zip", "--charts")

    def refused(code: int, words: str, *arguments: object) -> None:
        assert run(*arguments) == code
        err = capsys.readouterr().err
        assert words in err and err.count("\n") == 1

    refused(7, "the output is the input", *attack, table)
    (tmp_path / "notes.txt").write_text("mine")
    refused(2, "not a directory", *attack, tmp_path / "notes.txt")
    refused(2, "does not exist", *attack, tmp_path / "none" / "charts")
    refused(
        7, "charts draw exact numbers", "assess", table, "-q", "zip", "--share", "--charts", folder
    )
    refused(2, "files in a directory", *attack, "-")
    refused(2, "no chart", "explain", table, "--charts", folder)
    refused(2, "same name", *attack, folder, "--json", folder)
    assert not folder.exists()
    folder.mkdir()
    refused(2, "same name", *attack, folder, "--json", folder / "identity_black_box.svg")
    link = tmp_path / "link"
    link.symlink_to(folder)
    refused(7, "symbolic link", *attack, link)
    other = folder / "identity_black_box.svg"
    other.write_text("mine")
    refused(7, "written by sievert", *attack, folder, "--json", tmp_path / "out.json")
    assert not (tmp_path / "out.json").exists()
    assert [f.name for f in folder.iterdir()] == [other.name] and other.read_text() == "mine"
    assert run(*attack, folder, "--force") == 0
    parsed(other.read_text())
    other.unlink()
    other.symlink_to(table)
    before = table.read_bytes()
    assert run(*attack, folder, "--force") == 7
    assert table.read_bytes() == before


def test_an_input_in_the_folder_stays(table: Path, tmp_path: Path) -> None:
    """A table called like a chart, and a directory that is the table."""
    inner = tmp_path / "identity_black_box.svg"
    inner.write_bytes(table.read_bytes())
    assert run("attack", inner, "-q", "zip", "--charts", tmp_path, "--force") != 0
    assert inner.read_bytes() == table.read_bytes()
    lake = tmp_path / "lake"
    lake.mkdir()
    duckdb = pytest.importorskip("duckdb")
    duckdb.execute(f"COPY (FROM read_csv('{table}')) TO '{lake}/a.parquet'")
    for place in (lake, lake / "charts"):
        assert run("attack", lake, "-q", "zip", "--charts", place) == 7
    assert os.listdir(lake) == ["a.parquet"]


def test_the_page() -> None:
    page = Path(sievert.__file__).parents[2] / "docs" / "charts.md"
    failed, tried = doctest.testfile(
        str(page), module_relative=False, optionflags=doctest.NORMALIZE_WHITESPACE
    )
    assert failed == 0 and tried > 5


def test_charts_of_an_assessment_and_of_reasoning(table: Path, tmp_path: Path) -> None:
    folder = tmp_path / "sizes"
    assert run("assess", table, "-q", "zip", "--charts", folder) == 0
    assert [p.name for p in folder.iterdir()] == ["class_sizes.svg"]
    release = {"age": ["2*", "2*", "3*", "3*"] * 5, "disease": ["flu", "flu", "flu", "hiv"] * 5}
    original = {**release, "age": ["20", "21", "30", "31"] * 5}
    found = sievert.attack(release, original, "age", "disease", hierarchies={"age": AGES}, seed=1)
    spec = found.charts()["reasoning_disease"]
    told = found.to_dict()["attacks"]["reasoning"]["disease"]
    keys = {"attacker": "attacker_accuracy", "learner": "learner_accuracy", "guessing": "baseline"}
    assert {row["row"]: row["number"] for row in spec["data"]["values"]} == {
        who: told[key]["value"] for who, key in keys.items()
    }
    assert charts.svg(spec)


AGES = {age: (f"{age[0]}*", "*") for age in ("20", "21", "30", "31")}


def test_without_the_renderer_the_command_says_what_to_install(
    table: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    options = ("-q", "zip,sex", "-s", "disease")
    assert run("assess", table, *options, "--charts", tmp_path / "charts") == 2
    said = "the package vl-convert. Try: pip install 'sievert[charts]'\n"
    assert capfd.readouterr().err == f"error: --charts needs {said}"
    assert not (tmp_path / "charts").exists()
    with pytest.raises(UsageError, match="a chart needs the package"):
        charts.svg(bars("never drawn before", ["b"], [Bar(row="a", number=0.123)], axis="x"))
    assert run("assess", table, *options, "--html", tmp_path / "p.html") == 0
    assert "sievert[charts]" in (tmp_path / "p.html").read_text(encoding="utf-8")


# -- names that JavaScript has already ------------------------------------------------------------

INHERITED = ("constructor", "__proto__", "toString", "hasOwnProperty", "valueOf")


def named_table(name: str, where: str, seed: int = 1) -> tuple[dict[str, list[str]], Any, Any]:
    """A table with a name of JavaScript as a quasi-identifier, a secret, or a value."""
    random = Random(f"inherited {seed}")
    table = {
        "zip": [str(random.randrange(5)) for _ in range(60)],
        "age": [str(random.randrange(20, 26)) for _ in range(60)],
        "ill": [random.choice("abc") for _ in range(60)],
    }
    if where == "value":
        table = {c: [name if v in ("1", "20", "a") else v for v in own] for c, own in table.items()}
        return table, ["zip", "age"], ["ill"]
    renamed = {"quasi": "zip", "secret": "ill"}[where]
    table = {name if c == renamed else c: own for c, own in table.items()}
    quasi, secrets = [c for c in table if c not in ("ill",)][:2], [*table][2:]
    return table, quasi, secrets


@pytest.mark.parametrize("name", INHERITED)
@pytest.mark.parametrize("where", ["quasi", "secret", "value"])
def test_names_that_javascript_has_already(name: str, where: str) -> None:
    """Charts look texts up in objects of JavaScript: a column `constructor` ended the page."""
    table, quasi, secrets = named_table(name, where)
    other = {**table, quasi[-1]: [value[:1] for value in table[quasi[-1]]]}
    results = [
        sievert.assess(table, quasi, secrets),
        sievert.explain(table, quasi, secrets),
        sievert.compare(table, {name: table, "other": other}, quasi, secrets, paired=True),
        sievert.attack(table, table, quasi, secrets, paired=True),
    ]
    page = html.render(build_page(results))
    assert "\u2063" not in page
    assert page.count("<svg") > 4
    drawn = [text for text in re.findall(r"<text[^>]*>([^<]*)</text>", page) if text == name]
    assert drawn or where == "value"


@pytest.mark.parametrize("name", INHERITED[:2])
def test_files_that_are_called_so(name: str, tmp_path: Path) -> None:
    table, _, _ = named_table("x", "quasi")
    other = named_table("x", "quasi", 2)[0]
    paths = []
    for at, own in ((name, other), ("toString", table)):
        path = tmp_path / f"{at}.csv"
        lines = [",".join(own), *(",".join(row) for row in zip(*own.values(), strict=True))]
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        paths.append(path)
    page = html.render(build_page([sievert.synthetic(table, paths)]))
    assert name in page and "\u2063" not in page
