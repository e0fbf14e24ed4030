"""Ladders: complete, nested, and read as ARX writes them."""

from __future__ import annotations

from pathlib import Path

import pytest

import sievert
from sievert.errors import InputError, UsageError
from sievert.hierarchies import Hierarchy, parse


def write(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "ladder.csv"
    path.write_text(text, encoding="utf-8")
    return path


def test_read(tmp_path: Path) -> None:
    for text in (
        "a;x;*\nb;x;*\nc;y;*",
        "﻿a,x,*\r\nb,x,*\r\nc,y,*\r\n",
        'a\t"x"\t*\nb\tx\t*\nc\ty\t*\n',
    ):
        found = Hierarchy.read(write(tmp_path, text))
        assert found.height == 2
        assert [found.at(v, 1) for v in "abc"] == ["x", "x", "y"]
        assert found.at("a", 0) == "a" and found.at("c", 2) == "*"
    awkward = 'Lung cancer, small cell, stage 2;Cancer\n"flu\nsevere";Flu\na\u2028b;Other\n'
    found = Hierarchy.read(write(tmp_path, awkward))
    assert found.at("Lung cancer, small cell, stage 2", 1) == "Cancer"
    assert found.at("flu\nsevere", 1) == "Flu" and found.at("a\u2028b", 1) == "Other"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a;x;*\nb;x\n", "1 of 2 values have too few levels"),
        ("a;x;k\nb;x;l\n", r"1 label\(s\) of level 1 have different parents on level 2"),
        ("a;x;*\na;y;*\n", "line 2: a value stands in two lines"),
        ("", "without values"),
        ("a;x;\nb;x;\n", "2 of 2 values have an empty label"),
    ],
)
def test_damaged_files(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        Hierarchy.read(write(tmp_path, text))


def test_missing_file_and_encoding(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="No such file"):
        Hierarchy.read(tmp_path / "none.csv")
    path = tmp_path / "latin.csv"
    path.write_bytes(b"\xe9;*\n")
    with pytest.raises(InputError, match="not UTF-8 at byte 0"):
        Hierarchy.read(path)


def test_prefixes() -> None:
    found = Hierarchy.prefixes(["35510", "3551", "20095"])
    assert found.height == 5
    assert [found.at("35510", i) for i in range(6)] == [
        "35510", "3551*", "355**", "35***", "3****", "*****",
    ]  # fmt: skip
    assert found.at("3551", 2) == "355**"


def test_intervals() -> None:
    found = Hierarchy.intervals(["27", "30", "-3", "7.5"], [5, 10])
    assert found.at("27", 1) == "[25, 30)" and found.at("30", 1) == "[30, 35)"
    assert found.at("-3", 1) == "[-5, 0)" and found.at("7.5", 2) == "[0, 10)"
    assert found.at("27", 3) == "*"
    large = Hierarchy.intervals([str(10**7 + 5 * i) for i in range(6)], [5, 10])
    assert len({large.at(v, 1) for v in large.labels}) == 6
    exact = Hierarchy.intervals([str(2**60), str(2**60 + 1)], [1])
    assert exact.at(str(2**60), 1) != exact.at(str(2**60 + 1), 1)
    assert Hierarchy.intervals(["0.35"], [0.1]).at("0.35", 1).startswith("[0.3, 0.4")
    halves = Hierarchy.intervals([str(10**17) + ".5", str(10**17) + ".0"], [0.5])
    assert len({halves.at(v, 1) for v in halves.labels}) == 2
    with pytest.raises(InputError, match=r"3 value\(s\) are not finite numbers"):
        Hierarchy.intervals(["1/3", "1_000", "1e3000000"], [5])
    with pytest.raises(UsageError, match="positive"):
        Hierarchy.intervals(["1"], [float("inf")])
    with pytest.raises(UsageError, match="not a multiple"):
        Hierarchy.intervals(["1"], [5, 12])
    with pytest.raises(UsageError, match="positive"):
        Hierarchy.intervals(["1"], [])
    with pytest.raises(InputError, match=r"2 value\(s\) are not finite numbers"):
        Hierarchy.intervals(["1", "secret", "inf"], [5])


def test_parse(tmp_path: Path) -> None:
    assert parse("prefix", ["12"]).height == 2
    assert parse("interval:5,10", ["12"]).height == 3
    assert parse(str(write(tmp_path, "12;*\n")), ["12"]).height == 1
    with pytest.raises(UsageError, match="not numbers"):
        parse("interval:five", ["12"])


def test_a_value_without_a_place_is_counted_not_named() -> None:
    table = {"q": ["a", "a", "b"], "s": ["secret one", "secret two", "x"]}
    with pytest.raises(InputError, match=r"2 value\(s\) of column 's'") as error:
        sievert.t_closeness_hierarchical(table, "q", "s", hierarchy=Hierarchy({"x": ("*",)}))
    assert "secret" not in str(error.value)
    with pytest.raises(InputError, match="1 value has no place"):
        Hierarchy({"x": ("*",)}).at("secret", 1)
    with pytest.raises(UsageError, match=r"level 2 of 0\.\.1"):
        Hierarchy({"x": ("*",)}).at("x", 2)


def test_a_root_is_added_where_there_is_none() -> None:
    found = Hierarchy({"a": ("x",), "b": ("y",)})
    assert found.with_root().height == 2 and found.with_root().at("a", 2) == "*"
    assert Hierarchy({"a": ("*",), "b": ("*",)}).with_root().height == 1
    table = {"q": ["1", "1", "2", "2"], "s": ["a", "a", "b", "b"]}
    flat = sievert.t_closeness_hierarchical(table, "q", "s", hierarchy=found)
    assert flat == sievert.t_closeness(table, "q", "s") == 0.5


def test_every_adult_hierarchy(reference: Path) -> None:
    folder = reference / "data" / "adult" / "hierarchies"
    heights = {
        p.stem.partition("hierarchy_")[2]: Hierarchy.read(p).height for p in folder.iterdir()
    }
    assert heights == {
        "age": 4, "education": 3, "marital-status": 2, "native-country": 2, "occupation": 2,
        "race": 1, "salary-class": 1, "sex": 1, "workclass": 2,
    }  # fmt: skip
