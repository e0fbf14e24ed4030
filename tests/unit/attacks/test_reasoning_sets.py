"""What released texts stand for: every spelling, every source of a domain, hostile texts."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.reasoningtools import label_set

from sievert.attacks.reasoning import value_sets as module
from sievert.attacks.reasoning.atoms import boxes, merge_positions
from sievert.attacks.reasoning.candidates import candidate_pairs
from sievert.attacks.reasoning.domains import (
    MOST_VALUES,
    Domain,
    Interval,
    Members,
    number,
    pattern,
    public_domain,
    read_domain,
)
from sievert.attacks.reasoning.value_sets import Labels, PositionSets
from sievert.errors import ExhaustedError, InputError, UsageError
from sievert.hierarchies import Hierarchy

AGES = Domain(tuple(str(i) for i in range(-5, 101)), "given", True)


def meant(label: str | None, domain: Domain, *rest: Any, **options: Any) -> list[str | None]:
    return [domain.values[i] for i in label_set(label, domain, *rest, **options).tolist()]


def given(*values: str | None) -> Domain:
    return Domain(values, "given", True)


@pytest.mark.parametrize(
    ("label", "low", "high"),
    [
        ("[20-30)", 20, 29),
        ("[20, 30)", 20, 29),
        ("[20,30]", 20, 30),
        ("[20-30]", 20, 30),
        ("(20, 30]", 21, 30),
        ("(20; 30)", 21, 29),
        ("]20, 30[", 21, 29),
        ("[20–30)", 20, 29),
        (" [ 20 - 30 ) ", 20, 29),
        ("20-30", 20, 30),
        ("20–30", 20, 30),
        ("20 — 30", 20, 30),
        ("20 to 30", 20, 30),
        ("20..30", 20, 30),
        ("-5--1", -5, -1),
        ("[-5, 1)", -5, 0),
        ("−5–−1", -5, -1),
        ("[19.5, 22.25]", 20, 22),
        ("19.5-22.25", 20, 22),
        ("[2e1, 3e1)", 20, 29),
        (">=50", 50, 100),
        ("≥ 50", 50, 100),
        (">50", 51, 100),
        ("50+", 50, 100),
        ("50 +", 50, 100),
        ("<20", -5, 19),
        ("<=20", -5, 20),
        ("≤20", -5, 20),
        ("[60-*)", 60, 100),
        ("(*, 20]", -5, 20),
        ("[60, inf)", 60, 100),
        ("(-Infinity, 20)", -5, 19),
        ("(−∞; 20)", -5, 19),
        ("[7,7]", 7, 7),
        ("*", -5, 100),
        ("***", -5, 100),
    ],
)
def test_intervals(label: str, low: int, high: int) -> None:
    assert meant(label, AGES) == [str(i) for i in range(low, high + 1)]


@pytest.mark.parametrize(
    "label",
    [
        *(
            "[30-20]",
            "(7,7)",
            "x",
            "[20-30",
            "20-",
            "{}",
            "{a",
            "{20,{21}}",
            '{20,"21}',
            "",
            "200+",
        ),
        *('{"20"x}', '{20 "21"}', "{20,,21}", "{20,999}", "{[20, 30), 45}", "3**7", '{"{20,21}"}'),
    ],
)
def test_no_value_fits(label: str) -> None:
    with pytest.raises(InputError) as caught:
        label_set(label, AGES, column="age")
    text = str(caught.value)
    assert "'age': no known value fits 1 of 1 label" in text and "--domain age=FILE" in text
    assert not label.strip() or label not in text.replace("'age'", "")


def test_sets_in_braces() -> None:
    domain = given("M", "J", "a", "c,d", 'say "x"', " b ", "20", "21", "22", "{x}")
    for label, values in (
        ("{M,J}", ["M", "J"]),
        ("{J, M ,J}", ["M", "J"]),
        ("{ M }", ["M"]),
        ('{a,M,"c,d"}', ["M", "a", "c,d"]),
        ('{a, "c,d" , M}', ["M", "a", "c,d"]),
        ('{"say ""x"""}', ['say "x"']),
        ('{" b ",a}', ["a", " b "]),
        ("{20-21,M}", ["M", "20", "21"]),
        ('{"[20, 22)",M}', ["M", "20", "21"]),
        ("{x}", ["{x}"]),
        ('{"{x}",a}', ["a", "{x}"]),
    ):
        assert meant(label, domain) == values, label
    assert pattern("{[1;2],3}") == Members(("[1;2]", "3"))


def test_masks() -> None:
    zips = given("45500", "45501", "45601", "44501", "4550", "455001")
    for label, values in (
        ("4550*", ["45500", "45501"]),
        ("4*501", ["45501", "44501"]),
        ("45*0*", ["45500", "45501", "45601"]),
        ("455**", ["45500", "45501"]),
        ("455*", ["4550"]),
        ("45****", ["455001"]),
        ("456*", ["45601"]),  # no value of four characters: any rest
        ("*4501", ["44501"]),
        ("*****", ["45500", "45501", "45601", "44501", "4550", "455001"]),
    ):
        assert meant(label, zips) == values, label
    words = given("Married", "Mar", "Mary", "Single")
    for label, values in (
        ("Mar*", ["Married", "Mar", "Mary"]),  # not a number: one star at the end is any rest
        ("Mar****", ["Married"]),
        ("Ma**", ["Mary"]),
        ("S**", ["Single"]),
        ("M*ry", ["Mary"]),
    ):
        assert meant(label, words) == values, label


def test_plain_values_win_over_patterns() -> None:
    domain = given("<=20", "50+", "10-20", "{a,b}", "2*", "21", "15", "a")
    for label in ("<=20", "50+", "10-20", "{a,b}", "2*"):
        assert meant(label, domain) == [label]
    assert meant(">20", domain) == ["21"]


def test_hierarchies_win_over_patterns() -> None:
    ladder = {"a": ("10-20", "x", "*"), "b": ("10-20", "x", "*"), "15": ("c", "y", "*")}
    hierarchy = Hierarchy(ladder)
    domain = public_domain(["10-20", "y"], hierarchy=hierarchy)
    assert domain == Domain(("a", "b", "15"), "hierarchy", True)
    assert meant("10-20", domain, hierarchy) == ["a", "b"]
    assert meant("y", domain, hierarchy) == ["15"]
    assert meant("{x,15}", domain, hierarchy) == ["a", "b", "15"]
    assert meant("[15-16]", domain, hierarchy) == ["15"]
    assert meant("x", given("b", "z"), hierarchy) == ["b"]
    # a text that is a value and a label above others may be either
    twice = Hierarchy({"s": ("s", "*"), "t": ("s", "*"), "u": ("u", "*")})
    assert meant("s", given("s", "t", "u"), twice) == ["s", "t"]
    assert meant("u", given("s", "t", "u"), twice) == ["u"]
    # a star is everything, also what is not in the hierarchy; unless it is a label of some values
    assert meant("*", given("a", "w", None), hierarchy) == ["a", "w"]
    partly = Hierarchy({"a": ("*",), "b": ("other",)})
    assert meant("*", given("a", "b"), partly) == ["a"]


def test_prefix_ladders_keep_length() -> None:
    values = ["AB1", "AB22", "AC1", "AB33"]
    hierarchy = Hierarchy.prefixes(values)
    domain = public_domain(["AB**", "AC1*"], hierarchy=hierarchy)
    assert meant("AB**", domain, hierarchy) == ["AB1", "AB22", "AB33"]
    assert meant("AC1*", domain, hierarchy) == ["AC1"]


def test_missing() -> None:
    released = ["20", None, "*"]
    domain = public_domain(released)
    assert domain.values == ("20", None) and domain.public
    assert meant(None, domain) == [None] and meant("*", domain) == ["20"]
    wild = public_domain(released, wildcard=True)
    assert wild.values == ("20",) and meant(None, wild, wildcard=True) == ["20"]
    both = public_domain(released, wildcard=True, original=["20", None])
    assert both == Domain(("20", None), "release", True)
    assert meant(None, both, wildcard=True) == ["20", None]
    with pytest.raises(InputError):
        label_set(None, wild)
    assert public_domain(["20", "21"], original=["20", None]).added == 1


def test_domains_from_the_release() -> None:
    def values(*released: str | None) -> tuple[str | None, ...]:
        domain = public_domain(released)
        assert domain.public and domain.source == "release" and domain.added == 0
        return domain.values

    assert values("b", "a", "10", "9", None, "*") == ("9", "10", "a", "b", None)
    assert values("[20-23)", "22-24", "{30,31}") == ("20", "21", "22", "23", "24", "30", "31")
    assert values("(20, 22]", "-1-1") == ("-1", "0", "1", "21", "22")
    assert values("2*", "3") == ("3", *(str(i) for i in range(20, 30)))
    assert len(values("4550*", "455**")) == 100
    assert values("1*1") == tuple(f"1{i}1" for i in range(10))
    assert values("Mar*", "Married", "{a,Mary}") == ("Married", "Mary", "a")
    assert values("{a,[1-2]}") == ("1", "2", "a")


@pytest.mark.parametrize(
    "released",
    [
        ["*"],
        [">50", "20", "21"],
        ["<= 20"],
        ["[60-*)", "[20-60)"],
        ["60+", "12"],
        ["Mar*"],
        ["a", "x*y"],
        ["[20.5-30]"],
        ["[20-30]", "20.5"],
        ["[20-30]", "020"],
        ["[0-1000000000000)"],
        ["4*******"],
        ["{}", "{,}", "{a,}", "*"],
        [],
    ],
)
def test_releases_that_name_too_little(released: list[str]) -> None:
    with pytest.raises(InputError, match=r"--domain age=FILE or age=LOW\.\.HIGH"):
        public_domain(released, column="age")
    domain = public_domain(released, original=["25", "71", "3"])
    assert domain.source == "original" and not domain.public
    assert {"25", "71", "3"} <= set(domain.values) and domain.added == 3


def test_the_original_adds_values() -> None:
    domain = public_domain(["[20-22]"], original=["21", "9", "20", "b", None])
    assert domain == Domain(
        values=("20", "21", "22", "9", "b", None), source="release", public=False, added=3
    )
    assert domain.positions(["9", "nobody", None]).tolist() == [3, -1, 5]
    # a text of the original is a plain value, whatever it looks like
    assert public_domain(["<=20", ">20"], original=["<=20", ">20"]).public
    assert public_domain(["<=20"], original=["<=20", ">20"]).values == ("<=20", ">20")
    assert not public_domain(["a"], given=["a"], original=["b"]).public
    assert public_domain(["*"], given=["a"], original=["a"]) == Domain(("a",), "given", True)
    observed = public_domain(["1-9"], given=["a"], original=["5", "3", "5"], observed=True)
    assert observed == Domain(("3", "5"), "original", False)
    assert meant("{3,4,5}", observed) == ["3", "5"]
    with pytest.raises(UsageError):
        public_domain(["a"], observed=True)


def test_domains_from_a_hierarchy() -> None:
    hierarchy = Hierarchy({"b": ("x",), "a": ("x",)})
    domain = public_domain(["x", "new", "{newer,a}", "1-2", "*", None], hierarchy=hierarchy)
    assert domain == Domain(("b", "a", "new", "newer", None), "hierarchy", True)


def test_given_domains(tmp_path: Path) -> None:
    assert read_domain("-2..1") == ("-2", "-1", "0", "1")
    assert read_domain(("a", None, "a")) == ("a", None)
    path = tmp_path / "values.txt"
    for text, values in (
        ("b\r\na\n\nb\n", ("b", "a")),
        ('Lung, small\n"quoted, ""one"""\nflu\n', ("Lung, small", 'quoted, "one"', "flu")),
        ("17;10-20;*\n25;20-30;*\n", ("17", "25")),
        ("a,x\nb,x\n", ("a", "b")),
        ('"flu\nbad";Flu\nb;B\n', ("flu\nbad", "b")),
        ("\ufeffa", ("a",)),
    ):
        path.write_text(text, encoding="utf-8", newline="")
        assert read_domain(path) == read_domain(str(path)) == values
    assert public_domain(["17"], given=path).source == "given"


@pytest.mark.parametrize(
    "spec", ["0..1000000000000", f"0..{MOST_VALUES}", "0.." + "9" * 10_000, "5..3", "1.5..2.5", ()]
)
def test_given_ranges_refused(spec: Any) -> None:
    started = time.process_time()
    with pytest.raises(UsageError):
        read_domain(spec)
    assert time.process_time() - started < 3


def test_given_files_refused(tmp_path: Path) -> None:
    (tmp_path / "latin").write_bytes(b"\xe9\n")
    (tmp_path / "torn").write_text("a;x;*\nb;x\n", encoding="utf-8")
    for name in ("none", "latin", "torn", "", "x" * 5000):
        with pytest.raises(InputError):
            read_domain(tmp_path / name)


def test_labels_are_sets() -> None:
    released = ["[20-22)", "{20,21}", "20-21", "22", None, "*", "22", "{20,21,22}"]
    domain = public_domain(released)
    labels = Labels.read(released, domain, column="age")
    assert labels.numbers.tolist() == [0, 0, 0, 1, 2, 3, 1, 3]
    assert [labels.sets[i].tolist() for i in range(4)] == [[0, 1], [2], [3], [0, 1, 2]]
    with pytest.raises(InputError, match="no known value fits 2 of 3 labels"):
        Labels.read(["canary", "20", "bird", "bird"], domain, column="age")
    with pytest.raises(InputError) as caught:
        label_set("canary", domain)
    assert "canary" not in str(caught.value)


def test_exact_numbers() -> None:
    big = given("9007199254740992", "9007199254740993", "0.1", "0.10000000000000000001")
    assert meant(">9007199254740992", big) == ["9007199254740993"]
    assert meant("<=0.1", big) == ["0.1"]
    assert number("9" * 5000) is None
    assert pattern("1-2") == Interval(low=1, high=2, low_in=True, high_in=True)


@pytest.mark.parametrize(
    "label",
    [
        "9" * 100_000,
        "[" + "9" * 100_000 + "-",
        " " * 100_000 + "x",
        "{" + " " * 100_000 + "{}",
        "{" * 50_000 + "}" * 50_000,
        "{" + '"' * 99_999 + "}",
        '{"' + 'a""' * 33_333 + "}",
        "{" + "a," * 50_000 + "}",
        "{" + '"a" ' * 25_000 + "}",
        "*1" * 50_000,
        "q" + "*" * 100_000,
        "a*" + "b" * 100_000,
        "- " * 50_000,
        "1e" * 50_000,
        "1" + " " * 100_000 + "+-",
    ],
)
def test_long_labels_are_quick(label: str) -> None:
    started = time.process_time()
    with pytest.raises(InputError):
        Labels.read([label], AGES)
    public_domain([label, "1"], original=["1"])
    assert time.process_time() - started < 3


def test_too_many_members(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_MEMBERS", 50)
    with pytest.raises(ExhaustedError, match="more than 50 values"):
        Labels.read([f"0-{i}" for i in range(20)], AGES)


def test_lumps_of_table_1() -> None:
    # {M,J}, {J}, {C,J}, {I,M}; nobody asks about I and C, nor about two values in no set
    sets = PositionSets.from_lists([[0, 1], [1], [1, 2], [0, 3]])
    weights = np.array([[1.0, 1, 1, 1, 0.25, 0.5], [2, 2, 2, 2, 2, 2]])
    found = merge_positions(sets, np.array([True, True, False, False, False, False]), weights)
    assert found.atom_of.tolist() == [0, 1, 2, 3, 4, 4] and found.atoms == 5
    assert found.prior.tolist() == [[1, 1, 1, 1, 0.75], [2, 2, 2, 2, 4]]
    assert [found.sets[i].tolist() for i in range(4)] == [[0, 1], [1], [1, 2], [0, 3]]
    whole = merge_positions(PositionSets.from_lists([[0, 1, 2]]), [], np.full((1, 3), 0.1))
    assert whole.atoms == 1 and whole.sets.members.tolist() == [0]


def test_lumped_weights_keep_their_digits() -> None:
    found = merge_positions(
        PositionSets.from_lists([np.arange(10**6)]), [7], np.full((1, 10**6), 0.1)
    )
    assert found.prior[0].tolist() == pytest.approx([99_999.9, 0.1], rel=1e-14)


def test_boxes_are_small_where_the_product_is_not() -> None:
    size = 10**5
    halves = PositionSets.from_lists(
        [np.arange(size // 2), np.arange(size // 2, size), np.arange(size)]
    )
    found = boxes(
        [size] * 7,
        [halves] * 7,
        np.array([[0] * 7, [1] * 7, [2] * 7, [0] * 7]),
        np.array([[5] * 7, [size - 1] * 7, [5] * 6 + [size - 1]]),
        np.array([1.0, 1e-30]),
    )
    assert found.label_of.tolist() == [0, 1, 2, 0]
    assert found.atom_of.tolist() == [0, 2, 1]
    half = (size // 2) ** 7
    weights = [1, 1, 1, half - 1, size**7 - 2 * half - 1, half - 1]
    assert sorted(found.prior[0]) == pytest.approx(sorted(weights), rel=1e-15)
    assert sorted(found.prior[1]) == pytest.approx(sorted(1e-30 * w for w in weights), rel=1e-15)
    assert [len(found.sets[i]) for i in range(3)] == [2, 2, 6]


def test_boxes_give_up() -> None:
    ones = PositionSets.from_lists([[i] for i in range(200)] + [range(200)])
    classes = np.array([*([i, i, i] for i in range(200)), [200] * 3])
    with pytest.raises(ExhaustedError, match="--likelihood product"):
        boxes([200] * 3, [ones] * 3, classes, np.zeros((1, 3), dtype=np.int64), most=10**6)


def test_too_many_pairs() -> None:
    sets = [PositionSets.from_lists([[0, 1], [0]])]
    classes = np.array([[0]] * 100 + [[1]] * 100)
    victims = np.zeros((50, 1), dtype=np.int64)
    assert len(candidate_pairs(classes, sets, victims, 10_000).victims) == 10_000
    with pytest.raises(ExhaustedError, match="more than 9,999 pairs"):
        candidate_pairs(classes, sets, victims, 9_999)
    with pytest.raises(ExhaustedError, match="more than 4,999 pairs"):
        candidate_pairs(classes[:100], sets, victims, 4_999)
