"""What a hierarchy can be written like, and what is refused: kind by kind, with hostile values."""

from __future__ import annotations

import itertools
import json
import random
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import sievert
from sievert.errors import InputError, UsageError
from sievert.hierarchies import (
    Hierarchy,
    fixed_form,
    interval_ends,
    parse,
    propose,
    read_hierarchies,
    to_hierarchy,
    with_orders,
)
from sievert.hierarchies.intervals import IntervalLevels, exact_numbers, sorted_numbers

NOT_NUMBERS = ["", " ", "٣", "inf", "nan", "1_000", "1/3", "0x10", "1e999", "9" * 500, "12 "]
TREE = {"Europe": {"West": ["France", "Spain"], "East": ["Poland"]}, "Antarctica": ["Vostok"]}


def labels(spec: str, values: Any) -> dict[str, tuple[str, ...]]:
    return dict(parse(spec, values).labels)


def test_ends() -> None:
    ages = [str(n) for n in (3, 17, 18, 19, 84, 85, 103)]
    found = labels("ends:18,85", ages)
    assert [found[a][0] for a in ages] == ["< 18", "< 18", "18", "19", "84", ">= 85", ">= 85"]
    assert {x[1] for x in found.values()} == {"*"}
    assert interval_ends("< 18") == ("", "18", True, False)
    assert labels("ends:,85", ["3", "90"])["3"] == ("3", "*")
    assert labels("ends:18,", ["3", "90"])["3"] == ("< 18", "*")
    both = labels("ends:18,85/interval:5,10", [*ages, "-2"])
    assert both["19"] == ("19", "[18, 20)", "[18, 20)", "*")
    assert both["84"] == ("84", "[80, 85)", "[80, 85)", "*")
    assert both["-2"] == ("< 18", "< 18", "< 18", "*")
    assert labels("ends:-1.5,0.5", ["-1.50", "-1.6", "5e-1"])["-1.50"][0] == "-1.50"


def test_cuts() -> None:
    found = labels("cuts:-10,0.5,20/0.5", ["-10", "-11", "0.4999", "0.5", "1e9", "20"])
    assert found["-11"] == ("< -10", "< 0.5", "*")
    assert found["-10"] == ("[-10, 0.5)", "< 0.5", "*")
    assert found["0.5"] == ("[0.5, 20)", ">= 0.5", "*")
    assert found["1e9"][0] == found["20"][0] == ">= 20"


def test_quantiles_are_round_and_nested() -> None:
    incomes = {str(round(1000 * 1.01**n)): 1 for n in range(800)}
    tree = parse("quantile:16,8,4", incomes)
    assert tree.fixed is not None and tree.fixed.startswith("cuts:")
    cuts = [level.split(",") for level in tree.fixed.removeprefix("cuts:").split("/")]
    assert list(map(len, cuts)) == [15, 7, 3] and {*cuts[2]} <= {*cuts[1]} <= {*cuts[0]}
    assert all(len(c.rstrip("0")) <= 3 for c in cuts[0])  # round
    sizes: dict[str, int] = {}
    for x in tree.labels.values():
        sizes[x[2]] = sizes.get(x[2], 0) + 1
    assert all(150 <= n <= 250 for n in sizes.values())
    assert parse(tree.fixed, incomes) == parse(tree.fixed, incomes)
    assert parse(tree.fixed, incomes).labels == tree.labels
    later = parse(tree.fixed, ["-5", "1e9"])  # beyond the data: the outer intervals are open
    assert later.at("-5", 3).startswith("<") and later.at("1e9", 3).startswith(">=")


def test_quantiles_of_few_numbers_and_of_many_equal_ones() -> None:
    assert parse("quantile:4", ["7"]).fixed == "*"
    zeros = parse("quantile:8,4", {"0": 900, **{str(13 * n): 1 for n in range(1, 101)}})
    assert zeros.fixed == "cuts:10"  # the zeros, and everything else
    assert zeros.labels["0"][0] != zeros.labels["1300"][0]
    assert parse("quantile:2", ["-3", "4"]).fixed == "cuts:0"
    tiny = parse("quantile:2", ["1e-99", "2e-99", "3e-99", "4e-99"])
    assert len({x[0] for x in tiny.labels.values()}) == 2
    huge = parse("quantile:2", ["1" + "0" * 390, "3" + "0" * 390])
    assert len({x[0] for x in huge.labels.values()}) == 2


def test_the_same_number_is_never_parted() -> None:
    tree = parse("quantile:4,2", {"5": 3, "5.0": 3, "5e0": 3, "7": 3})
    assert tree.labels["5"] == tree.labels["5.0"] == tree.labels["5e0"]


@pytest.mark.parametrize("spec", ["interval:5", "cuts:5", "quantile:2", "ends:1,5"])
@pytest.mark.parametrize("value", NOT_NUMBERS)
def test_what_is_no_number_is_counted_not_named(spec: str, value: str) -> None:
    with pytest.raises(InputError, match=r"1 value\(s\) are not finite numbers") as error:
        parse(spec, ["1", "2", value])
    assert len(value) < 3 or value not in str(error.value)


def test_lengths_of_codes() -> None:
    found = labels("prefix:4,2", ["35510", "20095", "3551"])
    assert found["35510"] == ("3551*", "35***", "*") and found["3551"][0] == "3551*"
    assert parse("prefix:3,0", ["35510"]).labels["35510"] == ("355**", "*****")
    for spec in ("prefix", "prefix:4,2", "prefix:9,2,0"):
        tree = parse(spec, ["35510", "20095", "abc"])
        assert tree.fixed is not None and parse(tree.fixed, ["35510"]).at("35510", 1)
        assert parse(tree.fixed, tree.labels).labels == tree.labels
        assert parse(tree.fixed, ["99"]).labels["99"][-1] == tree.labels["abc"][-1]
    with pytest.raises(InputError, match=r"1 value\(s\) are longer than 5 characters"):
        parse("prefix:4,2/5", ["35510", "355101"])


def test_dates() -> None:
    spec = "date:month,quarter,year,decade"
    found = labels(spec, ["2024-02-29", "1999-12-31T23:59:60.5Z", "0987-05-01 00:00:00+0530"])
    assert found["2024-02-29"] == ("2024-02", "2024-Q1", "2024", "2020s", "*")
    assert found["1999-12-31T23:59:60.5Z"] == ("1999-12", "1999-Q4", "1999", "1990s", "*")
    assert found["0987-05-01 00:00:00+0530"] == ("0987-05", "0987-Q2", "0987", "0980s", "*")
    assert labels("date:quarter", ["2024-04"])["2024-04"] == ("2024-Q2", "*")
    assert labels("date:day,week", ["2024-12-30 10:00"])["2024-12-30 10:00"] == (
        "2024-12-30", "2025-W01", "*",
    )  # fmt: skip
    wrong = [
        "2023-02-29", "2024-13-01", "0000-01-01", "12024-01-01", "2024-1-1", "", " ", "2024-01-01 ",
        "2024-01-01T25:00", "٢٠٢٤-٠١-٠١", "20241301", "2024-01-01 (BC)", "infinity", "31.12.24",
        "2024-01.01", "2024.01", "1.2024", "202401", "31/12-2024", "2024-01-01 9:5",
    ]  # fmt: skip
    with pytest.raises(InputError, match=rf"date: {len(wrong)} value\(s\) are not dates"):
        parse(spec, [*wrong, "2024-01-01"])
    with pytest.raises(InputError, match="1 value"):
        parse("date:day", ["2024-01", "2024-01-01"])  # a month has no day


@pytest.mark.parametrize(
    ("values", "order"),
    [
        (["31.12.1999", "1.2.2001"], "/dmy"),
        (["31/12/1999 23:59", "01/02/2001 9:05:30"], "/dmy"),
        (["31-12-1999", "01-02-2001", "2001-02-01"], "/dmy"),
        (["12/31/1999", "2/1/2001"], "/mdy"),
        (["19991231", "20010201"], ""),
        (["1999/12/31", "2001.02.01"], ""),
        (["12/1999", "2-2001", "2001/02"], ""),
    ],
)
def test_dates_as_people_write_them(values: list[str], order: str) -> None:
    tree = parse("date:month,year", values)
    assert [tree.at(v, 1) for v in values[:2]] == ["1999-12", "2001-02"]
    assert tree.fixed == f"date:month,year{order}"
    assert parse(tree.fixed, values[1:2]).at(values[1], 1) == "2001-02"


def test_dates_in_order() -> None:
    days = ["2.1.2024", "19.1.2024 9:30", "19.1.2024 10:30", "01.02.2024"]
    assert parse("order:2", days[::-1]).at(days[1], 1) == f"{days[0]}–{days[1]}"
    assert parse("order:2", days[::-1]).at(days[2], 1) == f"{days[2]}–{days[3]}"


def test_an_uncertain_order_of_day_and_month() -> None:
    values = ["03/04/1999", "12/11/2001"]
    for spec in ("date:month", "date:quarter,year", "date:day,week", "order:2"):
        with pytest.raises(InputError, match="the day or the month stands first") as refused:
            parse(spec, values)
        assert "/mdy" in (refused.value.hint or "")
    assert parse("date:year,decade", values).labels[values[0]] == ("1999", "1990s", "*")
    assert parse("date:month", ["04/04/1999"]).at("04/04/1999", 1) == "1999-04"  # no matter
    assert parse("date:month/dmy", values).at(values[0], 1) == "1999-04"
    assert parse("date:month/mdy", values).at(values[0], 1) == "1999-03"
    assert parse("date:month/mdy", ["1999-04-03"]).fixed == "date:month/mdy"
    with pytest.raises(InputError, match=r"1 value\(s\) are not dates"):
        parse("date:year", ["31/12/1999", "12/31/1999"])  # no order fits both
    with pytest.raises(InputError, match=r"1 value\(s\) are not dates"):
        parse("date:year/mdy", ["31/12/1999", "12/11/2001"])


def test_the_most_frequent_values() -> None:
    counts = {"d": 1, "b": 5, "a": 5, "c": 7, "other": 99, "": 50}
    found = labels("top:3,1", counts)
    assert [found[v][0] for v in "abcd"] == ["a", "b", "c", "other"]
    assert [found[v][1] for v in "abcd"] == ["other", "other", "c", "other"]
    assert found["other"] == found[""] == ("other", "other", "*")
    assert labels("top:1", ["x", "y", "y"])["x"][0] == "other"  # texts are counted
    assert labels("top:1", ["y", "x"]) == labels("top:1", ["x", "y"])  # equally often: the first
    fixed: Any = fixed_form(parse("top:3,1", counts))
    again = to_hierarchy(fixed, [*counts, "new"])
    assert again is not None and again.with_root().labels["new"] == ("other", "other", "*")
    assert {v: again.with_root().labels[v] for v in counts} == found


def test_neighbours_in_an_order() -> None:
    grades = ["none", "mild", "severe", "fatal", "x"]
    tree = with_orders({"g": "order:2,4", "h": "top:1"}, {"g": grades})
    assert tree["h"] == "top:1" and tree["g"].labels["severe"] == (
        "severe–fatal",
        "none–fatal",
        "*",
    )
    assert tree["g"].labels["x"] == ("x", "x", "*")
    found = labels("order:2,4", ["10", "9", "-1", "1e3"])
    assert found["9"] == ("-1–9", "-1–1e3", "*") and found["10"][0] == "10–1e3"
    assert labels("order:2", ["2024-02-01", "2023-01-01"])["2024-02-01"][0] == (
        "2023-01-01–2024-02-01"
    )
    with pytest.raises(UsageError, match="neither numbers nor dates"):
        parse("order:2", ["mild", "severe"])
    with pytest.raises(InputError, match="the same label"):
        with_orders({"g": "order:2"}, {"g": ["a", "b–c", "a–b", "c"]})


def test_trees(tmp_path: Path) -> None:
    tree = to_hierarchy(TREE, [])
    assert tree is not None
    assert tree.labels["France"] == ("West", "Europe")
    assert tree.labels["Vostok"] == ("Antarctica", "Antarctica")  # aligned at the top
    for name, text in (
        ("t.json", json.dumps(TREE)),
        ("t.toml", '[Europe]\nWest = ["France", "Spain"]\nEast = ["Poland"]\n'),
    ):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        assert parse(str(path), []).labels["Spain"] == ("West", "Europe")
    some = to_hierarchy({"*": {"known": ["a"], "rest": ["..."]}}, ["a", "b", "c"])
    assert some is not None and some.labels["c"] == ("rest", "*")
    with pytest.raises(InputError, match="2 value"):
        tree.require(["France", "Narnia", "Oz"], "country")


@pytest.mark.parametrize(
    ("tree", "words"),
    [
        ({"a": {"x": ["1"]}, "b": {"y": ["1"]}}, "a value stands in two places"),
        ({"a": {"x": ["1"]}, "b": {"x": ["2"]}}, "different parents"),
        ({"a": {"x": "1"}}, "tables in tables"),
        ({"a": {"x": [["1"]]}}, "no value"),
        ({"a": {"x": [True]}}, "no value"),
        ({"a": {"x": []}}, "without values"),
    ],
)
def test_damaged_trees(tree: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        to_hierarchy(tree, [])
    deep: Any = ["1"]
    for n in range(60):
        deep = {f"l{n}": deep}
    with pytest.raises(InputError, match="at most 50 deep"):
        to_hierarchy(deep, [])


def test_functions_mappings_and_one_label() -> None:
    tree = to_hierarchy(lambda v: (v[0], "*"), ["ab", "ac"])
    assert tree is not None and tree.labels["ab"] == ("a", "*")
    assert to_hierarchy(lambda v: v[0], ["ab"]).labels == {"ab": ("a",)}  # type: ignore[union-attr]
    assert to_hierarchy({"a": ["x"], "b": "x"}, []).labels == {"a": ("x",), "b": ("x",)}  # type: ignore[union-attr]
    assert parse("*", ["a", "b"]).labels == {"a": ("*",), "b": ("*",)}


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("interval:five", "not numbers"), ("interval:", "not numbers"), ("interval:0", "positive"),
        ("interval:5,12", "not a multiple"), ("quantile:16,5", "multiple of the next"),
        ("quantile:4,8", "multiple of the next"), ("quantile:1", "below 2"),
        ("quantile:x", "not whole numbers"), ("ends:18", "two ends"), ("ends:,", "no end is given"),
        ("ends:85,18", "below the second"), ("ends:1,2/prefix:3", "intervals only"),
        ("ends:a,b", "not numbers"), ("cuts:3,2", "larger than the one before"),
        ("cuts:1,2/3", "among those of the level below"), ("cuts:", "not numbers"),
        ("prefix:2,3", "fewer characters"), ("prefix:a", "not whole"), ("prefix:-1", "not whole"),
        ("prefix:2/0", "below 1"), ("date:moon", "not a unit"), ("date:year,month", "units grow"),
        ("date:month/ymd", "not an order"),
        ("date:week,year", "two months"), ("date:", "not a unit"), ("order:2,3", "multiple of the"),
        ("order:1", "below 2"), ("top:5,20", "fewer values"), ("top:0", "below 1"),
        ("top:٣", "not whole"),
    ],
)  # fmt: skip
def test_mistakes_in_a_specification(spec: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        parse(spec, ["1"])
    with pytest.raises(UsageError, match=words):
        sievert.assess({"a": ["1"]}, "a", hierarchies={"a": spec})


def test_a_file_with_the_hierarchies_of_several_columns(tmp_path: Path) -> None:
    path = tmp_path / "h.toml"
    path.write_text('[hierarchies]\nage = "interval:5"\n[hierarchies.c]\nEurope = ["France"]\n')
    found = read_hierarchies(path)
    assert found == {"age": "interval:5", "c": {"*": {"Europe": ["France"]}}}
    for text in ("", "[hierarchies]\nage = 5\n", "hierarchies = 3\n"):
        path.write_text(text)
        with pytest.raises(UsageError, match=r"no table \[hierarchies\]"):
            read_hierarchies(path)
    path.write_text("[")
    with pytest.raises(InputError, match="not TOML"):
        read_hierarchies(path)


@pytest.mark.parametrize(
    ("values", "text", "reason"),
    [
        (["f", "m"], "*", "few_values"),
        ([str(n) for n in range(17, 81)], "interval:5,10,20,40", "numbers"),
        ({str(n * 1000): 1000 // n for n in range(1, 200)}, "quantile:16,8,4", "skewed_numbers"),
        (["01234", "01299", "20095"], "prefix", "codes"),
        ([f"2024-{m:02}-{d:02}" for m in range(1, 13) for d in (1, 9)], "date:month,quarter",
         "dates"),
        ([f"{y}-07-04 12:00:0{s}" for y in range(1985, 2020) for s in range(3)],
         "date:day,decade", "dates"),
        ([f"2024-03-{d:02}" for d in range(1, 29)], "date:week", "dates"),
        ([f"2024-{m:02}" for m in range(1, 13)], "date:quarter", "dates"),
        ([f"{d}.{m}.2024" for m in range(1, 13) for d in (1, 19)], "date:month,quarter/dmy",
         "dates"),
        ([f"{m}/{d}/2024" for m in range(1, 13) for d in (1, 19)], "date:month,quarter/mdy",
         "dates"),
        ([f"2024{m:02}{d:02}" for m in range(1, 13) for d in (1, 9)], "date:month,quarter",
         "dates"),
        ([f"{m:02}/{d:02}/{y}" for m in range(1, 13) for d in (1, 9) for y in range(1990, 2020)],
         "date:year,decade", "years"),
        ([f"3011{d:02}{d:02}" for d in range(10, 13)], "prefix", "codes"),  # no year of anybody
        ([f"job {n}" * (n % 3 + 1) for n in range(30)], "top:20,5", "categories"),
        (["red", "green", "blue"], "*", "few_values"),
    ],
)  # fmt: skip
def test_proposals(values: Any, text: str, reason: str) -> None:
    found = propose(values)
    assert found.reason == reason and found.text.startswith(text)
    assert found.hierarchy is not None and found.hierarchy.with_root().height >= 1
    assert found.distinct == len(dict.fromkeys(values))


def test_nothing_is_proposed_for_nothing() -> None:
    assert propose([]).hierarchy is None
    assert Hierarchy.prefixes([""]).fixed is None


NUMBERS: dict[str, tuple[list[int], str, str]] = {
    # codes: five digits, four, lost zeros, several lengths, running numbers, two digits
    "plz": ([20095, 10115, 80331, 99084], "prefix", "codes"),
    "post_code": ([1011, 3512, 9711, 1017], "prefix", "named_codes"),
    "zip": ([2139, 2140, 10115, 99501, 501], "interval:10,100,1000,10000", "lost_zeros"),
    "naics_code": ([23, 236, 2361, 541, 54151], "prefix", "nested_codes"),
    "icd9": ([250, 401, 414, 786], "prefix", "named_codes"),
    "region": ([*range(1, 131)], "top:20,5", "short_codes"),
    "dept_id": ([11, 23, 47, 99], "*", "short_codes"),
    # quantities, whatever their length
    "age": ([*range(18, 90)], "interval", "numbers"),
    "year": ([*range(1950, 2011)], "interval", "numbers"),
    "birth_code": ([*range(1950, 2011)], "interval", "numbers"),
    "hours": ([*range(1, 100)], "interval", "numbers"),
    "hours_per_week": ([20, 35, 38, 40, 45], "interval", "numbers"),
    "salary": ([31234, 45671, 52347, 98765], "interval", "numbers"),
    "region_income": ([31234, 45671, 52347, 98765], "interval", "numbers"),
    "spent": ([31200, 45650, 52340, 98700], "interval", "numbers"),
    "x": ([31234, 45671, 52347, 98765], "prefix", "codes"),
    "height": ([*range(150, 200)], "interval", "numbers"),
}


@pytest.mark.parametrize("name", NUMBERS)
def test_numbers_are_codes_or_quantities(name: str) -> None:
    values, text, reason = NUMBERS[name]
    found = propose([str(v) for v in values], name)
    assert found.reason == reason and found.text.startswith(text)


def test_lost_zeros_are_cut_as_if_they_were_there() -> None:
    codes = ["02139", "02140", "10115", "99501", "00501"]
    tree = propose([str(int(c)) for c in codes], "zip").hierarchy
    whole = propose(codes, "zip").hierarchy
    assert tree is not None and whole is not None
    for level, (a, b) in itertools.product(range(1, 5), itertools.combinations(codes, 2)):
        cut = tree.at(str(int(a)), level) == tree.at(str(int(b)), level)
        assert cut == (whole.at(a, level) == whole.at(b, level))


def test_decimals_of_one_length_are_no_codes() -> None:
    assert propose(["0.240", "0.560", "1.450", "0.125"]).reason == "numbers"


def test_a_proposal_by_name_says_how_to_override_it() -> None:
    table = {"zip": ["2139", "2140", "10115", "99501"] * 5, "ill": ["a", "b"] * 10}
    rules = {"roles": {"rows_are_people": True}, "limits": {"k_anonymity": {"min": 2}}}
    notes = " ".join(sievert.protect(table, "zip", "ill", policy=rules).warnings)
    assert notes.count("proposed hierarchies: 'zip'; sievert hierarchies writes them") == 1
    assert "by its name 'zip' has codes (interval:10,100,1000,10000); quantities: " in notes
    assert "--hierarchy zip=interval:5,10" in notes
    page = " ".join(repr(sievert.propose_hierarchies(table, "zip")).split())
    assert "whose leading zeros are lost" in page and "--hierarchy COLUMN=interval:5,10" in page


@pytest.mark.parametrize("seed", range(20))
def test_numbers_in_order_and_intervals_as_one_by_one(seed: int) -> None:
    chance = random.Random(seed)
    digits = chance.choice((0, 2, 17, 25))
    texts = [f"{chance.gauss(0, 10 ** chance.randint(-2, 3)):.{digits}f}" for _ in range(200)]
    texts += ["0.1", "0.10", "1e-1", "0.1000000000000000055511151231257827", "-0", "0"]
    texts += ["9" * 330] if seed % 5 == 0 else []
    exact = {text: Fraction(text) for text in texts}
    assert exact_numbers(texts) == exact
    assert sorted_numbers(exact.values()) == sorted({*exact.values()})
    levels = IntervalLevels([Fraction("0.5"), Fraction(2), Fraction(10)])
    alone = {text: (*levels.labels(text, number), "*") for text, number in exact.items()}
    assert levels.label_values(texts) == alone
