"""Anatomy, Mondrian and full-domain recoding: examples by hand, choices, files, errors."""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sievert.errors import ExhaustedError, InputError, RefusedError, SievertError, UsageError
from sievert.hierarchies import Hierarchy
from sievert.methods import anatomise, mondrian, recode, smallest_recoding
from sievert.methods import mondrian as _function
from sievert.methods.recoding import encode

PEOPLE: dict[str, list[Any]] = {
    "age": ["27", "29", "38", "31", "36", "52"],
    "town": ["Ulm", "Ulm", "Bonn", "Köln", "Bonn", "Köln"],
    "illness": ["flu", "cold", "flu", "cold", "gout", "gout"],
}
AGES = Hierarchy.intervals(PEOPLE["age"], [10, 20])
TOWNS = Hierarchy(
    {"Ulm": ("south", "*"), "Bonn": ("Rhine", "*"), "Köln": ("Rhine", "*"), "Mainz": ("Rhine", "*")}
)


def rows(path: Path) -> list[list[str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


# -- Anatomy -----------------------------------------------------------------------------------


def test_anatomy_by_hand() -> None:
    """Two of each secret and l = 2: ties go to the secret that sorts first."""
    found = anatomise(PEOPLE, ["age", "town"], "illness", 2)
    assert list(found.quasi_table) == ["age", "town", "group"]
    assert found.sensitive_table == {
        "group": ["0", "0", "1", "1", "2", "2"],
        "illness": ["cold", "flu", "cold", "gout", "flu", "gout"],
    }
    assert found.quasi_table["group"] == ["0", "0", "1", "1", "2", "2"]
    assert found.sizes.tolist() == [2, 2, 2]
    assert [PEOPLE["age"][i] for i in found.order] == found.quasi_table["age"]
    assert [str(g) for g in found.groups[found.order]] == found.quasi_table["group"]


def test_anatomy_follows_its_seed_and_no_order_links() -> None:
    secrets = [str(i % 5) for i in range(200)]
    data = {"key": [str(i) for i in range(200)], "secret": secrets}
    first, again, other = (anatomise(data, ["key"], "secret", 4, s) for s in ((3, 1), (3, 1), 4))
    assert first.quasi_table == again.quasi_table
    assert first.sensitive_table == again.sensitive_table
    assert first.quasi_table != other.quasi_table
    # In each bucket the first row of both tables belongs together about one time in four or five.
    hits = total = 0
    for seed in range(40):
        found = anatomise(data, ["key"], "secret", 4, seed)
        mine = [secrets[i] for i in found.order]
        hits += sum(a == b for a, b in zip(mine, found.sensitive_table["secret"], strict=True))
        total += len(mine)
    assert abs(hits / total - 0.25) < 0.02


def test_anatomy_left_overs_go_to_any_bucket_without_their_secret() -> None:
    data = {"key": list("abcdefg"), "secret": list("uuvvwwx")}
    seen = Counter(
        tuple(anatomise(data, ["key"], "secret", 3, seed).sizes.tolist()) for seed in range(60)
    )
    assert set(seen) == {(4, 3), (3, 4)}


def test_anatomy_with_missing_values() -> None:
    data = {"age": ["27", None, None, "31"], "illness": [None, "flu", "flu", None]}
    found = anatomise(data, ["age"], "illness", 2)
    assert found.sensitive_table["illness"] == [None, "flu", None, "flu"]


def test_anatomy_is_refused_where_a_secret_is_too_frequent() -> None:
    data = {"age": ["1", "2", "3", "4", "5"], "illness": ["flu", "flu", "flu", "cold", "gout"]}
    with pytest.raises(InputError, match="1 value of more than 1/2") as error:
        anatomise(data, ["age"], "illness", 2)
    assert "flu" not in str(error.value)
    assert "at most 1" in str(error.value)
    with pytest.raises(InputError, match="3 values"):
        anatomise(data, ["age"], "illness", 6)


def test_anatomy_files(tmp_path: Path) -> None:
    found = anatomise(PEOPLE, ["age", "town"], "illness", 2)
    keys, secrets = tmp_path / "keys.csv", tmp_path / "secrets.csv"
    found.write(keys, secrets)
    assert rows(keys)[0] == ["age", "town", "group"]
    assert [row[0] for row in rows(keys)[1:]] == found.quasi_table["age"]
    assert rows(secrets)[1:3] == [["0", "cold"], ["0", "flu"]]
    with pytest.raises(RefusedError):
        found.write(keys, secrets)
    with pytest.raises(RefusedError, match="the output is the input"):
        found.write(keys, secrets, sources=[keys], force=True)
    with pytest.raises(RefusedError, match="the output is the input"):
        found.write(keys, keys, force=True)


# -- Mondrian ----------------------------------------------------------------------------------


def labels(data: dict[str, list[Any]], k: int, **options: Any) -> list[tuple[Any, ...]]:
    found = mondrian(data, list(data), k, **options)
    return list(zip(*(found.columns[name] for name in data), strict=True))


def test_mondrian_by_hand() -> None:
    found = mondrian(PEOPLE, ["age", "town"], 2)
    # Both ranges are whole: age first, 3 and 3; then nothing can be cut.
    assert (
        found.columns["age"] == ["[27, 31]", "[27, 31]", "[36, 52]", "[27, 31]"] + ["[36, 52]"] * 2
    )
    assert (
        found.columns["town"]
        == ["{Köln,Ulm}"] * 2 + ["{Bonn,Köln}", "{Köln,Ulm}"] + ["{Bonn,Köln}"] * 2
    )
    assert found.columns["illness"] == PEOPLE["illness"]
    assert found.classes.tolist() == [0, 0, 1, 0, 1, 1]
    assert (found.quasi, found.sizes.tolist()) == (("age", "town"), [3, 3])


def test_mondrian_prefers_the_widest_column() -> None:
    data = {"a": ["0", "1", "2", "3"], "b": ["1", "1", "2", "9"]}
    assert labels(data, 2) == [("[0, 1]", "1")] * 2 + [("[2, 3]", "[2, 9]")] * 2
    wide = {"a": [str(a) for a in range(8)], "b": ["9", "1"] * 4}
    # a is cut into 0-3 and 4-7 (first of two equals), then b spans more of its range.
    assert labels(wide, 2)[:2] == [("[0, 2]", "9"), ("[1, 3]", "1")]


def test_mondrian_cuts_beside_a_heavy_median() -> None:
    """A median that most records have: the cut that leaves k on both sides is next to it."""
    assert labels({"a": ["1", "2", "2", "2", "2", "3"]}, 2) == [("[1, 3]",)] * 6
    assert labels({"a": ["1", "1", "2", "2", "2", "3"]}, 2) == [("1",)] * 2 + [("[2, 3]",)] * 4
    assert labels({"a": ["1", "2", "2", "2", "3", "3"]}, 2) == [("[1, 2]",)] * 4 + [("3",)] * 2
    # As even on both sides of the median: it goes to the left.
    assert labels({"a": list("1112333")}, 3) == [("[1, 2]",)] * 4 + [("3",)] * 3
    assert mondrian({"a": ["1", "2", "3"]}, ["a"], 1).sizes.tolist() == [1, 1, 1]
    assert labels({"a": ["1", "2", "3", "4", "5"]}, 2) == [("[1, 3]",)] * 3 + [("[4, 5]",)] * 2


def test_mondrian_regions() -> None:
    data = {"a": ["1", "2", "8", "9"], "b": ["x", "x", "z", "z"]}
    assert labels(data, 2) == [("[1, 2]", "x")] * 2 + [("[8, 9]", "z")] * 2
    order = {"b": ["w", "x", "y", "z"]}
    whole = "{w,x,y,z}"
    assert (
        labels(data, 2, labels="region", orders=order)
        == [("[1, 2]", whole)] * 2 + [("[8, 9]", whole)] * 2
    )
    ages = {"a": [str(a) for a in range(11)]}
    assert (
        labels({"a": data["a"]}, 2, labels="region", orders=ages)
        == [("[0, 2]",)] * 2 + [("[3, 10]",)] * 2
    )


def test_mondrian_orders() -> None:
    data = {"size": ["S", "M", "L", "XL"]}
    assert labels(data, 2) == [("{S,XL}",), ("{L,M}",), ("{L,M}",), ("{S,XL}",)]
    order = {"size": ["XS", "S", "M", "L", "XL"]}
    assert labels(data, 2, orders=order) == [("{S,M}",)] * 2 + [("{L,XL}",)] * 2
    assert labels({"size": ["S", "L"]}, 2, orders=order) == [("{S,M,L}",)] * 2
    # Numbers in an order of their own are texts.
    assert labels({"n": ["1", "3"]}, 2, orders={"n": ["1", "2", "3"]}) == [("[1, 3]",)] * 2
    assert labels({"n": ["1", "3"]}, 2, orders={"n": ["2", "3", "1"]}) == [("{3,1}",)] * 2


def test_mondrian_hierarchies_give_an_order() -> None:
    ladder = {"d": ("2", "*"), "a": ("1", "*"), "c": ("2", "*"), "b": ("1", "*")}
    data = {"x": ["a", "b", "c", "d"]}
    found = labels(data, 2, hierarchies={"x": Hierarchy(ladder)})
    assert found == [("{a,b}",)] * 2 + [("{d,c}",)] * 2
    ages = Hierarchy.intervals([str(a) for a in range(100)], [10])
    assert labels({"a": ["20", "30"]}, 2, hierarchies={"a": ages}) == [("[20, 30]",)] * 2
    assert (
        labels({"a": ["20", "30"]}, 2, hierarchies={"a": ages}, labels="region")
        == [("[0, 99]",)] * 2
    )


def test_mondrian_numbers() -> None:
    assert labels({"a": ["-5", "10"]}, 2) == [("[-5, 10]",)] * 2
    assert labels({"a": ["9", "10", "-1", "2"]}, 2)[0] == ("[9, 10]",)
    # By value, in whatever spelling; spellings of one number are one value.
    assert labels({"a": ["1e1", "9.50", "10", "+.5"]}, 2) == [
        ("10",), ("[0.5, 9.50]",), ("10",), ("[0.5, 9.50]",),
    ]  # fmt: skip
    assert labels({"a": [1, 2, 2.5, 4]}, 2)[2:] == [("[2.5, 4]",)] * 2
    # Codes with zeros in front are no numbers.
    assert labels({"a": ["01", "02", "10"]}, 2) == [("{01,02,10}",)] * 3
    assert labels({"a": ["0", "0.5"]}, 2) == [("[0, 0.5]",)] * 2
    huge = {"a": ["1e99", "0.0000000001", "-1e99", "1" * 500]}
    assert labels(huge, 4)[0][0].startswith("{")
    assert labels({"a": huge["a"][:3]}, 3)[0][0].startswith("[-1000")
    assert len(set(labels({"a": huge["a"][:3]}, 1))) == 3


def test_mondrian_quotes_what_could_be_misread() -> None:
    """Values in braces are read back as one line of CSV."""
    values = ["a,b", "c", "{d}", 'e"f', " g", "", "h\ni"]
    ((label,), *_) = labels({"a": values}, len(values))
    assert label[0] + label[-1] == "{}"
    assert next(csv.reader([label[1:-1]])) == sorted(values)
    assert label.startswith('{""," g","a,b",c,')  # blanks outside quotes may be trimmed
    assert labels({"a": ["a,b", "a,b"]}, 2) == [("a,b",)] * 2  # a plain value stays as it is


def test_mondrian_lists_only_so_much(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setattr(sys.modules[_function.__module__], "MOST_LISTED", 3)
    with pytest.raises(ExhaustedError, match="list 4 values"):
        labels({"a": list("abcd")}, 4)
    assert labels({"a": list("1234")}, 4) == [("[1, 4]",)] * 4


# -- recoding ----------------------------------------------------------------------------------


def test_recoding_by_hand() -> None:
    found = recode(PEOPLE, {"age": 1, "town": 1}, {"age": AGES, "town": TOWNS})
    assert found.columns["age"] == [
        "[20, 30)", "[20, 30)", "[30, 40)", "[30, 40)", "[30, 40)", "[50, 60)"
    ]  # fmt: skip
    assert found.columns["town"] == ["south", "south", "Rhine", "Rhine", "Rhine", "Rhine"]
    assert found.columns["illness"] == PEOPLE["illness"]
    assert sorted(found.sizes.tolist()) == [1, 2, 3]
    assert not found.suppressed.any()
    assert found.loss == pytest.approx((1 / 3 + 1 / 2) / 2, rel=1e-15)
    fewer = recode(PEOPLE, {"age": 1, "town": 1}, {"age": AGES, "town": TOWNS}, suppress=2)
    assert fewer.suppressed.tolist() == [False] * 5 + [True]
    assert (fewer.columns["age"][-1], fewer.columns["town"][-1]) == ("*", "*")
    assert fewer.columns["age"][:-1] == found.columns["age"][:-1]
    assert PEOPLE["age"][-1] == "52"


def test_suppressed_records_join_a_class_of_stars() -> None:
    data = {"a": ["1", "1", "2"], "b": ["x", "x", "x"]}
    found = recode(data, {"a": 1, "b": 1}, {c: Hierarchy.prefixes(data[c]) for c in data})
    assert found.sizes.tolist() == [3]
    found = recode(data, {"a": 0, "b": 0}, {}, suppress=2)
    assert found.columns == {"a": ["1", "1", "*"], "b": ["x", "x", "*"]}
    assert found.classes[0] == found.classes[1] != found.classes[2]


def test_missing_values_are_below_the_root_only() -> None:
    data = {"town": ["Ulm", None, "Bonn"]}
    columns = [recode(data, {"town": n}, {"town": TOWNS}).columns["town"] for n in range(3)]
    assert columns == [["Ulm", None, "Bonn"], ["south", None, "Rhine"], ["*"] * 3]
    short = Hierarchy({"Ulm": ("south",), "Bonn": ("Rhine",)})
    assert recode(data, {"town": 1}, {"town": short}).columns["town"] == columns[1]


def test_smallest_recoding_by_hand() -> None:
    ladders = {"age": AGES, "town": TOWNS}
    found = smallest_recoding(PEOPLE, ["age", "town"], ladders, 2)
    assert found.levels == {"age": 3, "town": 0}
    assert found.heights == {"age": 3, "town": 2}
    found = smallest_recoding(PEOPLE, ["age", "town"], ladders, 2, suppressed=0.5)
    assert (found.levels, int(found.suppressed.sum())) == ({"age": 1, "town": 0}, 2)
    assert smallest_recoding(PEOPLE, ["age"], {}, 1).levels == {"age": 0}


def test_of_equal_losses_the_one_that_suppresses_least() -> None:
    data = {"a": ["1", "1", "1", "1", "2"], "b": ["x", "y", "z", "z", "z"]}
    star = {c: Hierarchy(dict.fromkeys(data[c], ("*",))) for c in data}
    # Level (0, 1) leaves one record, (1, 0) two.
    found = smallest_recoding(data, ["a", "b"], star, 2, suppressed=0.4)
    assert (found.levels, int(found.suppressed.sum())) == ({"a": 0, "b": 1}, 1)
    swapped = smallest_recoding(data, ["b", "a"], star, 2, suppressed=0.4)
    assert swapped.levels == {"b": 1, "a": 0}
    same = {"a": ["1", "2"], "b": ["x", "y"], "c": ["1", "1"]}
    star = {c: Hierarchy({v: (v + "'", "*") for v in same[c]}) for c in same}
    assert smallest_recoding(same, ["c", "a"], star, 2).levels == {"c": 0, "a": 2}


def test_shares_are_the_decimals_they_print_as() -> None:
    """0.29 of 100 records are 29, though 0.29 * 100 is a little less in doubles."""
    data = {"a": ["x"] * 71 + [str(i) for i in range(29)]}
    star = {"a": Hierarchy(dict.fromkeys(data["a"], ("*",)))}
    assert smallest_recoding(data, ["a"], star, 2, suppressed=0.29).levels == {"a": 0}
    assert smallest_recoding(data, ["a"], star, 2, suppressed=0.28).levels == {"a": 1}


def test_recoding_files(tmp_path: Path) -> None:
    found = recode({"a": ["x,y", None], "b": [1, 2]}, {"a": 0}, {})
    found.write(tmp_path / "out.csv")
    assert rows(tmp_path / "out.csv") == [["a", "b"], ["x,y", "1"], ["", "2"]]
    with pytest.raises(RefusedError):
        found.write(tmp_path / "out.csv")
    found.write(tmp_path / "out.csv", force=True)
    assert [p.name for p in tmp_path.iterdir()] == ["out.csv"]
    mondrian(PEOPLE, ["age"], 2).write(tmp_path / "boxes.csv")
    assert rows(tmp_path / "boxes.csv")[1] == ["[27, 31]", "Ulm", "flu"]


# -- data and errors ---------------------------------------------------------------------------


def test_columns_of_numbers_and_arrays() -> None:
    found = recode({"a": np.array([1, 2]), "b": [1.5, float("nan")]}, {"a": 0, "b": 0}, {})
    assert found.columns == {"a": ["1", "2"], "b": ["1.5", None]}
    assert encode(["b", None, "b"])[1] == ["b", None]


@pytest.mark.parametrize(
    ("call", "kind", "words"),
    [
        (lambda: mondrian([["1"]], ["a"], 2), UsageError, "plain columns"),  # type: ignore[arg-type]
        (lambda: mondrian(PEOPLE, ["agee"], 2), UsageError, "'agee' does not exist"),
        (lambda: mondrian(PEOPLE, [], 2), UsageError, "at least one"),
        (lambda: mondrian(PEOPLE, ["age", "age"], 2), UsageError, "each once"),
        (lambda: mondrian({"a": []}, ["a"], 1), InputError, "without records"),
        (lambda: mondrian({"a": ["1"], "b": []}, ["a"], 1), InputError, "lengths differ"),
        (lambda: mondrian(PEOPLE, ["age"], 0), UsageError, "k is"),
        (lambda: mondrian(PEOPLE, ["age"], 7), InputError, "6 records make no class of 7"),
        (lambda: mondrian(PEOPLE, ["age"], 2, labels="x"), UsageError, "tight"),  # type: ignore[arg-type]
        (lambda: mondrian({"a": ["1", None]}, ["a"], 1), InputError, "1 missing value "),
        (lambda: mondrian(PEOPLE, ["town"], 2, orders={"town": ["Ulm"]}), InputError, "2 values"),
        (lambda: mondrian(PEOPLE, ["town"], 2, orders={"age": []}), UsageError, "'age'"),
        (lambda: mondrian(PEOPLE, ["town"], 2, orders={"town": "UU"}), UsageError, "twice"),
        (lambda: mondrian(PEOPLE, ["age"], 2, hierarchies={"age": TOWNS}), InputError, "6 value"),
        (lambda: anatomise(PEOPLE, ["age"], "illness", 1), UsageError, "at least 2"),
        (lambda: anatomise(PEOPLE, ["age"], "ilness", 2), UsageError, "'ilness'"),
        (lambda: anatomise(PEOPLE, ["illness"], "illness", 2), UsageError, "not the secret"),
        (lambda: anatomise({"group": ["1"], "s": ["1"]}, ["group"], "s", 2), UsageError, "group"),
        (lambda: anatomise(PEOPLE, ["age"], "illness", 2, -1), UsageError, "seed"),
        (lambda: recode(PEOPLE, {"age": 4}, {"age": AGES}), UsageError, "from 0 to 3"),
        (lambda: recode(PEOPLE, {"age": 1}, {}), UsageError, "a hierarchy for the column"),
        (lambda: recode(PEOPLE, {"age": 0}, {"age": TOWNS}), InputError, "6 value"),
        (lambda: recode(PEOPLE, {"age": 0}, {}, suppress=0), UsageError, "suppress is"),
        (lambda: smallest_recoding(PEOPLE, ["age"], {}, 2), InputError, "6 records reaches k = 2"),
        (lambda: smallest_recoding(PEOPLE, ["age"], {"age": AGES}, 7), InputError, "k = 7"),
        (
            lambda: smallest_recoding(PEOPLE, ["age"], {"age": AGES}, 2, most=3),
            ExhaustedError,
            "4 combinations of levels, more than 3",
        ),
        (
            lambda: smallest_recoding(PEOPLE, ["age"], {}, 2, suppressed=1.5),
            UsageError,
            "from 0 to 1",
        ),
    ],
)
def test_errors(call: Any, kind: type[SievertError], words: str) -> None:
    with pytest.raises(kind, match=words) as error:
        call()
    assert not any(value in str(error.value) for value in PEOPLE["town"])
