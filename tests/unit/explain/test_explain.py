"""Explanations: chapters, files, words; the parts against counts by hand."""

from __future__ import annotations

import csv
import itertools
import json
import math
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from helpers.commandline import run

import sievert
from sievert.commands.explain import totals, values
from sievert.commands.explain.coarser_columns import coarser_columns
from sievert.counts.cube import Cube
from sievert.errors import InputError, UsageError
from sievert.measurement.combinations import CombinationCounts, count_combinations
from sievert.measurement.subset_chapters import exact_shares, sample_shares
from sievert.measurement.subsets import (
    Subsets,
    largest_size,
)
from sievert.report import builder, terminal

PEOPLE = {
    "sex": ["f", "f", "f", "m", "m", "m", "m", "x"],
    "age": ["31", "31", "47", "47", "52", "52", "68", "70"],
    "town": ["Lisbon", "Lisbon", "Lisbon", "Porto", "Porto", "Porto", "lisbon", "Faro"],
    "illness": ["flu", "hiv", "flu", "flu", "flu", "flu", "gout", "gout"],
    "days": ["1", "5", "2", "90", "1", "3", "4", "8"],
}
QUASI = ("sex", "age", "town")


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "people.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(PEOPLE)
        writer.writerows(zip(*PEOPLE.values(), strict=True))
    return path


def counted(
    columns: dict[str, list[str]], quasi: tuple[str, ...], *secrets: str
) -> CombinationCounts:
    from sievert.session import open_source

    with open_source(columns) as (_, questions):
        return count_combinations(questions, quasi, secrets)


# -- the whole ----------------------------------------------------------------------------------


def test_the_whole_is_what_assess_says() -> None:
    found = sievert.explain(PEOPLE, QUASI, ["illness", "days"])
    due = sievert.assess(PEOPLE, QUASI, ["illness", "days"])
    for name, value in found.whole.reidentification.items():
        if name != "unique_count":
            assert value == due.reidentification[name].value, name
    assert found.whole.reidentification["unique_count"] == 4
    for secret, numbers in found.whole.inference.items():
        for name, value in numbers.items():
            assert value == pytest.approx(due.inference[secret][name].value, rel=1e-12), name


def render(found: Any, *, everything: bool = False) -> str:
    return terminal.as_text(terminal.render(builder.screen(found), everything=everything))


def test_chapters_of_the_json(table: Path, tmp_path: Path, capsys: Any) -> None:
    out = tmp_path / "out.json"
    arguments = ("explain", table, "-q", "sex,age,town", "-s", "illness", "--json", out)
    assert run(*arguments) == 0
    first = out.read_bytes()
    assert run(*arguments) == 0  # a file of ours is replaced
    assert out.read_bytes() == first
    found = json.loads(first)
    assert set(found) == {
        "sievert", "table", "roles", "subsets", "knowledge", "shapley", "columns", "values",
        "records", "suda", "population", "warnings", "cautions",
    }  # fmt: skip
    assert found["subsets"]["measured"] == found["subsets"]["of"] == 7
    assert found["subsets"]["complete"] and found["shapley"]["exact"]
    assert [len(s["columns"]) for s in found["subsets"]["list"]] == [1, 1, 1, 2, 2, 2, 3]
    assert [p["known"] for p in found["knowledge"]["points"]] == [0, 1, 2, 3]
    assert list(found["columns"]) == sorted(QUASI)
    assert found["subsets"]["measures"]["k_anonymity"] == {"riskier": "low", "unit": "records"}
    text = capsys.readouterr().out
    assert max(len(line) for line in text.splitlines()) <= 100


def test_nothing_is_named_unless_asked(table: Path, tmp_path: Path, capsys: Any) -> None:
    cells = {v for column in PEOPLE.values() for v in column if not v.isdigit() and len(v) > 1}
    arguments = ["explain", table, "-q", "sex,age,town", "-s", "illness,days", "--all"]
    arguments += ["--json", tmp_path / "a.json", "--records", tmp_path / "r.csv"]
    assert run(*arguments) == 0
    said = capsys.readouterr().out + (tmp_path / "a.json").read_text()
    said += (tmp_path / "r.csv").read_text()
    assert not [cell for cell in cells if cell in said]
    assert run("explain", table) == 0
    assert not [cell for cell in cells if cell in capsys.readouterr().out]
    assert run(*arguments, "--show-values") == 0
    assert "town: Faro" in capsys.readouterr().out


def test_not_fit_to_pass_on(table: Path, capsys: Any) -> None:
    assert run("explain", table, "-q", "sex", "--share") == 7
    out, err = capsys.readouterr()
    assert out == ""
    assert "sievert assess --share" in err and "people.csv" not in err


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        (["--max-size", "2", "--budget", "9"], 2, "exclude"),
        (["--max-size", "0"], 2, "at least 1"),
        (["--fraction", "0.1", "--population-size", "99"], 2, "one of them"),
        (["--fraction", "2"], 2, ""),
        (["--population-size", "3"], 2, ""),
        (["--alpha", "0.5"], 2, "match anything"),
        (["--weight", "wieght"], 2, "does not exist"),
        (["--weight", "age"], 2, "quasi-identifier"),
        (["--weight", "illness"], 3, "8 records without a weight"),
        (["--hierarchy", "shoe=prefix"], 2, "does not exist"),
        (["--alpha-value", "illness=hiv"], 2, "assess"),
        (["--records", "x.txt"], 2, ".csv"),
        (["-s", "nothing"], 2, "nothing"),
    ],
)
def test_what_makes_no_sense(
    table: Path, options: list[str], code: int, words: str, capsys: Any
) -> None:
    assert run("explain", table, "-q", "sex,age,town", *options) == code
    err = capsys.readouterr().err
    assert err.count("\n") == 1 and words in err


def test_secrets_without_keys_are_asked_for(table: Path, capsys: Any) -> None:
    assert run("explain", table, "-s", "illness") == 2
    assert "-q" in capsys.readouterr().err


def test_roles_of_a_policy(table: Path, tmp_path: Path) -> None:
    policy = tmp_path / "p.toml"
    policy.write_text('[roles]\nquasi = ["sex", "age"]\nsensitive = ["illness"]\n')
    found = sievert.explain(table, policy=policy)
    assert found.roles.quasi == ("sex", "age") and found.roles.sensitive == ("illness",)
    assert found.unassessed == ("town", "days")


def test_a_result_can_be_looked_at() -> None:
    found = sievert.explain(PEOPLE, QUASI, "illness")
    assert found.subset("town", "sex").columns == ("sex", "town")
    assert found.to_frame().shape == (14, 16)
    assert "50 % are unique in the table. 4 of 8 people are the only one" in repr(found)
    assert found._repr_html_().startswith("<div>")
    with pytest.raises(UsageError):
        found.subset("days")


def test_one_column_and_one_record() -> None:
    found = sievert.explain({"a": ["x", "x", "y"]}, "a")
    assert found.chapters["columns"]["a"]["without"]["reidentification"]["k_anonymity"] == 3
    assert "33.3 % are unique in the table. 1 of 3 people is the only one" in repr(found)
    alone = sievert.explain({"a": ["x"], "b": ["y"], "s": ["z"]}, ["a", "b"], "s")
    assert alone.whole.reidentification["discrimination_rate"] is None
    assert alone.chapters["subsets"]["undefined"]["reidentification.separation"] == "one record"
    assert alone.chapters["subsets"]["undefined"]["inference.s.itpr"] == "H(X) = 0"
    assert "nothing to learn" in repr(alone)
    json.dumps(alone.to_dict(), allow_nan=False)


def test_everybody_alike() -> None:
    found = sievert.explain({"a": ["x"] * 6, "b": ["y"] * 6, "s": list("zzwwzz")}, ["a", "b"], "s")
    assert found.whole.inference["s"]["discrimination_rate"] == 0.0
    assert found.chapters["shapley"]["reidentification"]["discrimination_rate"]["whole"] == 0.0
    assert "Nobody is alone. At least 6 people share every combination of a and b" in repr(found)


def test_a_column_that_is_known_and_secret() -> None:
    found = sievert.explain(PEOPLE, ("sex", "age", "illness"), "illness")
    due = sievert.assess(PEOPLE, ("sex", "age"), "illness").inference["illness"]
    assert found.subset("illness").inference["illness"]["discrimination_rate"] == 1.0
    ours = found.subset("sex", "age").inference["illness"]["discrimination_rate"]
    assert ours == pytest.approx(due["discrimination_rate"].value, rel=1e-12)


def test_missing_values_are_dropped_or_refused() -> None:
    holes = PEOPLE | {"sex": [None, *PEOPLE["sex"][1:]]}
    assert sievert.explain(holes, QUASI, missing="drop").rows == 7
    kept = sievert.explain(holes, QUASI)
    assert kept.rows == 8 and "1 record without a quasi-identifier" in kept.warnings[0]
    with pytest.raises(InputError):
        sievert.explain(holes, QUASI, missing="error")


def test_long_names_fit_the_screen() -> None:
    names = {c: f"{c} {'of the person in the register ' * 3}" for c in PEOPLE}
    table = {names[c]: held for c, held in PEOPLE.items()}
    quasi = [names[c] for c in QUASI]
    found = sievert.explain(table, quasi, [names["illness"]], fraction="0.1")
    for everything in (False, True):
        assert max(map(len, render(found, everything=everything).splitlines())) <= 100
    assert max(map(len, render(sievert.explain(table)).splitlines())) <= 100


# -- subsets ------------------------------------------------------------------------------------


def wide(columns: int, records: int, seed: int = 1) -> dict[str, list[str]]:
    chance = Random(seed)
    found = {
        f"q{i}": [str(chance.randrange(2 + i % 5)) for _ in range(records)] for i in range(columns)
    }
    found["s"] = [str(chance.randrange(3)) for _ in range(records)]
    return found


@pytest.mark.slow
def test_many_columns_by_size_by_budget_and_sampled() -> None:
    table = wide(14, 200)
    quasi = tuple(c for c in table if c != "s")
    by_size = sievert.explain(table, quasi, "s", max_size=2)
    sizes = [len(s.columns) for s in by_size.subsets]
    assert sizes.count(1) == 14 and sizes.count(2) == 91 and sizes.count(13) == 14
    assert not by_size.chapters["subsets"]["complete"]
    shares = by_size.chapters["shapley"]
    assert not shares["exact"] and shares["orders"] == 64
    for parts in (
        shares["reidentification"]["discrimination_rate"],
        shares["inference"]["s"]["mutual_information"],
    ):
        added = math.fsum(p["value"] for p in parts["columns"].values())
        assert added == pytest.approx(parts["whole"], rel=1e-12)
        assert all(p["low"] <= p["value"] <= p["high"] for p in parts["columns"].values())
    few = sievert.explain(table, quasi, budget=40, orders=4)
    assert few.chapters["subsets"]["way"] == "best first"
    assert {(c,) for c in quasi} <= {s.columns for s in few.subsets}
    assert "estimated from 4 orders" in repr(few)
    again = sievert.explain(table, quasi, budget=40, orders=4)
    assert again.to_dict() == few.to_dict()
    other = sievert.explain(table, quasi, budget=40, orders=4, seed=1)
    assert other.chapters["shapley"] != few.chapters["shapley"]


def test_best_first_measures_what_it_may() -> None:
    table = wide(6, 100)
    subsets = Subsets(counted(table, tuple(c for c in table if c != "s")))
    subsets.best_first(20)
    assert len(subsets.nonempty) == 20
    singles = [s for s in subsets.nonempty if len(s.columns) == 1]
    rates = {s.columns[0]: s.reidentification["discrimination_rate"] for s in singles}
    best = max(rates, key=lambda c: rates[c] or 0)
    assert all(subsets.key((best, c)) in subsets.results for c in rates)


def test_how_many_subsets_there_may_be() -> None:
    assert [largest_size(n) for n in (1, 12, 13, 20, 1000)] == [1, 12, 6, 3, 1]


def test_the_curve_is_over_subsets() -> None:
    found = sievert.explain(PEOPLE, QUASI, "illness")
    for point in found.chapters["knowledge"]["points"][1:]:
        held = [s for s in found.subsets if len(s.columns) == point["known"]]
        alone = [s.reidentification["unique_count"] for s in held]
        assert point["reidentification"]["unique_count"] == {
            "min": min(alone), "mean": sum(alone) / len(alone), "max": max(alone),
        }  # fmt: skip
        assert point["subsets"] == point["of"] == len(held)


# -- shares -------------------------------------------------------------------------------------


def test_shapley_by_hand_and_over_orders() -> None:
    chance = Random(5)
    n = 4
    v = np.array([0.0, *(chance.random() for _ in range(2**n - 1))])
    ours = exact_shares(v)
    due = [Fraction(0)] * n
    for order in itertools.permutations(range(n)):
        mask = 0
        for i in order:
            due[i] += Fraction(v[mask | 1 << i]) - Fraction(v[mask])
            mask |= 1 << i
    for i in range(n):
        assert ours[i] == pytest.approx(float(due[i] / math.factorial(n)), rel=1e-14, abs=1e-16)
    assert math.fsum(ours) == pytest.approx(v[-1], rel=1e-14)


def test_sampled_shares_are_near_the_exact_ones() -> None:
    chance = Random(6)
    n = 6
    v = np.array([0.0, *(chance.random() for _ in range(2**n - 1))])
    due = exact_shares(v)
    inside = 0
    for seed in range(20):
        means, halves, _ = sample_shares(lambda s: [v[sum(1 << i for i in s)]], n, 40, seed)
        assert math.fsum(means[0]) == pytest.approx(v[-1], rel=1e-12)
        inside += int((abs(means[0] - due) <= halves[0]).sum())
    assert 0.88 <= inside / (20 * n) <= 1.0


# -- coarser ------------------------------------------------------------------------------------


def test_coarser_columns_are_those_of_a_recoded_table() -> None:
    chance = Random(7)
    ages = [str(chance.randrange(18, 90)) for _ in range(300)]
    codes = [f"{chance.randrange(10000, 10400):05d}" for _ in range(300)]
    jobs = ["nurse"] * 150 + ["guard"] * 147 + ["judge", "abbot", "diver"]
    table = {"age": ages, "code": codes, "job": jobs, "s": [str(i % 3) for i in range(300)]}
    found = sievert.explain(table, ["age", "code", "job"], "s").chapters["columns"]
    bands = {
        f"in bands of {w}": [str(int(a) // w) for a in ages] for w in (5, 10, 20, 40)
    }  # fmt: skip
    cut = {f"cut to the first {n} characters": [c[:n] for c in codes] for n in (4, 3)}
    seen = set()
    for column, ways in (("age", bands), ("code", cut)):
        for rung in found[column]["coarser"]:
            how = rung["coarsened"][0]["how"]
            assert how in ways, how
            seen.add(how)
            due = sievert.assess(table | {column: ways[how]}, ["age", "code", "job"], "s")
            assert rung["reidentification"]["k_anonymity"] == due.reidentification[
                "k_anonymity"].value  # fmt: skip
            ours = rung["inference"]["s"]["discrimination_rate"]
            theirs = due.inference["s"]["discrimination_rate"].value
            assert ours == pytest.approx(theirs, rel=1e-12)
            assert rung["coarsened"][0]["values"] == len(set(ways[how]))
    assert {"in bands of 5", "in bands of 10", "in bands of 20"} <= seen and len(seen) >= 4
    (rare,) = found["job"]["coarser"]
    assert rare["coarsened"] == [
        {"column": "job", "how": "cut to its 2 most frequent values", "values": 3}
    ]


def test_coarser_by_a_hierarchy() -> None:
    ladder = {"31": ("young", "*"), "47": ("old", "*"), "52": ("old", "*"), "68": ("old", "*"),
              "70": ("old", "*")}  # fmt: skip
    found = sievert.explain(PEOPLE, QUASI, hierarchies={"age": ladder, "days": "prefix"})
    (rung,) = found.chapters["columns"]["age"]["coarser"]  # one value left says nothing
    assert rung["coarsened"] == [
        {"column": "age", "how": "at level 1 of its hierarchy", "values": 2}
    ]
    merged = PEOPLE | {"age": ["young" if a == "31" else "old" for a in PEOPLE["age"]]}
    due = sievert.unique_records(merged, QUASI)
    assert rung["reidentification"]["unique_records"] == due
    assert any("'days' is not used" in w for w in found.warnings)


def test_rungs_of_odd_columns() -> None:
    ways = {
        "a": ["1" + ".0" * (i > 0) + "0" * i for i in range(12)],
        "b": ["9" * 400 + str(i) for i in range(12)],
    }
    same = coarser_columns(counted(ways, ("a", "b")), {})["a"]  # one number: no bands
    assert [rung.how for rung in same] == ["cut to its 5 most frequent values"]
    held = counted({"a": [f"{i}e30" for i in range(40)], "b": ["x"] * 40}, ("a", "b"))
    assert all(r.values > 1 for rungs in coarser_columns(held, {}).values() for r in rungs)


# -- values -------------------------------------------------------------------------------------


def test_values_and_what_leaving_one_out_gains() -> None:
    found = sievert.explain(PEOPLE, QUASI, "illness", show_values=True).chapters["values"]
    sex = next(c for c in found["columns"] if c["column"] == "sex")
    assert [(v["value"], v["records"], v["unique_count"]) for v in sex["riskiest"]] == [
        ("x", 1, 1), ("f", 3, 1), ("m", 4, 2),
    ]  # fmt: skip
    due = sievert.discrimination_rate_by_value(PEOPLE, "sex")
    assert {v["value"]: v["discrimination_rate"] for v in sex["riskiest"]} == pytest.approx(
        {k: r for (k,), r in due.items()}, rel=1e-12
    )
    due = sievert.discrimination_rate_by_value(PEOPLE, "sex", "illness")
    ours = {v["value"]: v["inference"]["illness"] for v in sex["riskiest"]}
    assert ours == pytest.approx({k: r for (k,), r in due.items()}, rel=1e-12)
    for rare in found["rare"]:
        kept = [i for i, v in enumerate(PEOPLE[rare["column"]]) if v != rare["value"]]
        left = {c: [held[i] for i in kept] for c, held in PEOPLE.items()}
        after = sievert.assess(left, QUASI, "illness")
        before = sievert.assess(PEOPLE, QUASI, "illness")
        for name in ("discrimination_rate", "itpr_unnormalized"):
            gain = before.reidentification[name].value - after.reidentification[name].value
            assert rare["gain"][name] == pytest.approx(gain, abs=1e-12)
            gain = before.inference["illness"][name].value
            gain -= after.inference["illness"][name].value
            assert rare["gain"]["inference"]["illness"][name] == pytest.approx(gain, abs=1e-12)
        gone = before.reidentification["unique_records"].details["records"]
        gone -= after.reidentification["unique_records"].details["records"]
        assert rare["gain"]["unique_count"] == rare["gain"]["records_below_2"] == gone


def test_misspelt_values() -> None:
    town = ["Lisbon"] * 30 + ["lisbon", " Lisbon", "Lisbom", "Lisbno", "Porto", "Proto", "1234"]
    town += ["1235"] * 20 + ["Porto"] * 19
    table = {"town": town, "a": ["1"] * len(town)}
    found = sievert.explain(table, ["town", "a"], show_values=True).chapters["values"]["lookalikes"]
    seen = {(v["value"], v["differs_by"], v["like"]["value"]) for v in found}
    assert seen == {
        ("lisbon", "case", "Lisbon"),
        (" Lisbon", "blanks", "Lisbon"),
        ("Lisbom", "one letter", "Lisbon"),
        ("Lisbno", "one letter", "Lisbon"),
        ("Proto", "one letter", "Porto"),
    }
    assert all(v["gain"]["unique_count"] == 1 for v in found)
    hidden = sievert.explain(table, ["town", "a"])
    said = render(hidden, everything=True)
    assert "Lisb" not in said and "--show-values" in said
    assert "5 rare values look like a frequent one" in said and "case" in said


@pytest.mark.parametrize(
    ("a", "b", "due"),
    [("abcd", "abcd", True), ("abcd", "abxd", True), ("abcd", "acbd", True), ("abcd", "abc", True),
     ("abcd", "bcd", True), ("abcd", "xbcx", False), ("abcd", "ab", False), ("", "a", True),
     ("abcd", "badc", False)],
)  # fmt: skip
def test_one_edit(a: str, b: str, due: bool) -> None:
    assert values._one_edit(a, b) is values._one_edit(b, a) is due


# -- records ------------------------------------------------------------------------------------


def test_records_by_their_own_numbers(table: Path, tmp_path: Path) -> None:
    out = tmp_path / "r.csv"
    found = sievert.explain(table, QUASI, records=out, fraction="0.5")
    riskiest = found.chapters["records"]["riskiest"]
    alone = [r["record"] for r in riskiest if r["class_size"] == 1]
    assert sorted(alone) == [3, 4, 7, 8]
    assert [r["record"] for r in riskiest if r["class_size"] == 2] == [1, 2, 5, 6]
    scores = [r["suda_score"] for r in riskiest if r["class_size"] == 1]
    assert scores == sorted(scores, reverse=True)
    with out.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [int(r["record"]) for r in rows] == list(range(1, 9))
    assert [int(r["class_size"]) for r in rows] == [2, 2, 1, 1, 2, 2, 1, 1]
    for r in riskiest:
        row = rows[r["record"] - 1]
        assert float(row["suda_score"]) == r["suda_score"] and int(row["msus"]) == r["msus"]
        assert float(row["dis_suda_score"]) == r["dis_suda_score"]
        assert float(row["risk"]) == 1 / r["class_size"]
    found = sievert.explain(table, QUASI, records=out)  # ours: may be replaced
    assert found.chapters["suda"]["records_with_msu"] == 4


def test_records_keep_their_numbers_when_others_are_dropped(tmp_path: Path) -> None:
    holes = PEOPLE | {"sex": [None, *PEOPLE["sex"][1:]]}
    out = tmp_path / "r.parquet"
    found = sievert.explain(holes, QUASI, missing="drop", records=out)
    import duckdb

    rows = duckdb.execute(f"SELECT record, class_size FROM read_parquet('{out}')").fetchall()
    assert rows == [(2, 1), (3, 1), (4, 1), (5, 2), (6, 2), (7, 1), (8, 1)]
    assert {r["record"] for r in found.chapters["records"]["riskiest"]} == set(range(2, 9))


def test_values_by_their_part_of_the_scores() -> None:
    found = sievert.explain(PEOPLE, QUASI, show_values=True).chapters["suda"]
    for column, share in found["column_contributions"].items():
        levels = found["level_contributions"][column]
        assert math.fsum(level["share"] for level in levels) == pytest.approx(share)
        assert [level["share"] for level in levels] == sorted(
            (level["share"] for level in levels), reverse=True
        )
    hidden = sievert.explain(PEOPLE, QUASI).chapters["suda"]["level_contributions"]
    assert all("value" not in level for levels in hidden.values() for level in levels)
    said = render(sievert.explain(PEOPLE, QUASI), everything=True)
    assert "Columns by their part of all SUDA scores" in said


@pytest.mark.slow
def test_too_many_columns_to_search_all_sets() -> None:
    table = wide(25, 40)
    found = sievert.explain(table, [c for c in table if c != "s"], max_size=4, orders=4)
    assert found.chapters["suda"]["largest_size"] == 4  # 15,275 sets; of size 5, 68,405
    table = {f"q{i}": ["a", "b", "c"] for i in range(61)}
    found = sievert.explain(table, list(table), max_size=1, orders=4)
    assert found.chapters["suda"]["msus"] == {"1": 183}  # each value of each column is unique
    assert found.chapters["records"]["riskiest"][0]["class_size"] == 1


def test_few_records_are_pointed_at() -> None:
    table = {"a": [str(i) for i in range(100)], "b": ["x"] * 100}
    held = sievert.explain(table, ["a", "b"]).chapters["records"]["riskiest"]
    assert len(held) == 20 and len({r["record"] for r in held}) == 20
    same = {"a": ["x"] * 100, "b": ["x"] * 100}
    held = sievert.explain(same, ["a", "b"]).chapters["records"]["riskiest"]
    assert [r["record"] for r in held] == list(range(1, 21))


# -- ranking ------------------------------------------------------------------------------------


def test_every_column_as_the_target() -> None:
    found = sievert.explain(PEOPLE, ["sex", "age", "town"])
    held = {entry["column"]: entry for entry in found.chapters["ranking"]}
    assert set(held) == set(PEOPLE)
    for column, entry in held.items():
        known = [c for c in QUASI if c != column]
        due = sievert.assess(PEOPLE, known, column).inference[column]
        for name in ("discrimination_rate", "itpr_unnormalized", "mutual_information"):
            assert entry["as_target"][name] == pytest.approx(due[name].value, rel=1e-12), name
    rates = [e["as_target"]["discrimination_rate"] for e in found.chapters["ranking"]]
    assert rates == sorted(rates, reverse=True)
    assert "ranking" not in sievert.explain(PEOPLE, QUASI, "illness").chapters


def test_no_roles_at_all_is_a_ranking() -> None:
    table = wide(4, 50) | {"id": [f"p{i}" for i in range(50)]}
    found = sievert.explain(table)
    assert {e["column"] for e in found.chapters["ranking"]} == set(table)
    assert set(found.to_dict()) == {"sievert", "table", "roles", "ranking", "warnings", "cautions"}
    assert any("'id' has nearly one value" in w for w in found.warnings)
    known = {e["column"] for e in found.chapters["ranking"] if e["known"]}
    assert known == {"q0", "q1", "q2", "q3", "s"}
    assert "to choose roles from" in repr(found) and "People alone by it" in repr(found)
    left = sievert.explain(table, identifier="id")
    assert {e["column"] for e in left.chapters["ranking"]} == known
    with pytest.raises(UsageError, match="no quasi-identifiers"):
        sievert.explain(table, fraction=0.1)


# -- population ---------------------------------------------------------------------------------


def test_a_population_table(table: Path, tmp_path: Path) -> None:
    everybody = {c: PEOPLE[c] * 2 + PEOPLE[c][:1] for c in QUASI}
    found = sievert.explain(table, QUASI, population=everybody).chapters["population"]
    assert found["size"] == 17 and found["fraction"] == 8 / 17
    # classes of 2 records have 5 and 4 people, the unique ones 2 each
    assert found["journalist"]["details"]["highest"] == 0.5
    assert found["marketer"]["value"] == pytest.approx((2 / 5 + 2 / 4 + 4 / 2) / 8, rel=1e-15)
    assert found["unique_match_known"]["value"] == 0.5
    assert found["truta_minimal"]["value"] == 0.0
    assert found["truta_maximal"]["value"] == pytest.approx((2 / 5 + 2 / 4 + 2) / 17, rel=1e-15)
    with pytest.raises(InputError, match="5 records of the sample in classes"):
        sievert.explain(table, QUASI, population={c: PEOPLE[c][:3] for c in QUASI})
    with pytest.raises(UsageError, match="population: column"):
        sievert.explain(table, QUASI, population={"sex": ["f"]})


def test_weights_and_households() -> None:
    weight = ["18.0", "45.5", "39", "17", "541", "8", "5", "92.25"]
    table = PEOPLE | {"w": weight, "h": ["1", "1", "2", "2", "2", None, None, "3"]}
    found = sievert.explain(table, QUASI, weight="w", household="h")
    held = found.chapters["population"]
    risks = []
    for f, F in ((2, 63.5), (2, 63.5), (1, 39), (1, 17), (2, 549), (2, 549), (1, 5), (1, 92.25)):
        odds = f / F / (1 - f / F)
        log = math.log(F / f)
        risks.append(odds * log if f == 1 else odds - odds**2 * log)
    assert held["expected_reidentifications"]["value"] == pytest.approx(sum(risks), rel=1e-12)
    assert held["global_risk"]["value"] == pytest.approx(sum(risks) / 8, rel=1e-12)
    own = [1 - math.prod(1 - r for r in risks[a:b]) for a, b in ((0, 2), (2, 5))]
    due = 2 * own[0] + 3 * own[1] + sum(risks[5:])
    assert held["household_risk"]["details"]["expected"] == pytest.approx(due, rel=1e-12)
    assert "2 records without a household" in found.warnings[-1]
    alone = sievert.explain(PEOPLE | {"h": ["1"] * 8}, QUASI, household="h")
    assert alone.chapters["population"]["household_risk"]["value"] == 1.0
    with pytest.raises(InputError, match="less than their number"):
        sievert.explain(PEOPLE | {"w": ["0.5"] * 8}, QUASI, weight="w")
    with pytest.raises(InputError, match="1 record without a weight"):
        sievert.explain(PEOPLE | {"w": [None, *weight[1:]]}, QUASI, weight="w")


def test_weights_are_added_exactly() -> None:
    from sievert.counts.microdata import class_frequencies
    from sievert.session import open_source

    table = {"q": ["a"] * 10 + ["b"] * 3, "w": ["0.1"] * 10 + ["1e18", "1", "0.000000001"]}
    with open_source(table) as (_, questions):
        found = class_frequencies(questions, ["q"], "w")
    _, sums, _, which = found.kinds()
    assert [sums[i] for i in which] == [Fraction(1), 10**18 + 1 + Fraction(1, 10**9)]


def test_totals_of_a_numeric_secret() -> None:
    table = {
        "q": ["a"] * 4 + ["b"] * 4 + ["c"] + ["d"] * 2,
        "s": [50, 30, 15, 5, 85, 0, 15, 0, 7, -1, 5],
    }
    held = sievert.explain(table, "q", "s").chapters["population"]["totals"]["s"]
    assert held["classes"] == 4 and held["classes_with_negative"] == 1
    assert held["dominance"]["flagged"] == 2  # b: 100 of 100; c; a has 80 of 100
    assert held["p_percent"]["flagged"] == 2
    text = sievert.explain(table, "q", "s")
    assert "Two largest above 85 %" in render(text, everything=True)
    words = sievert.explain({"q": ["a"], "s": ["9"]}, "q", "s")
    assert words.chapters["population"]["totals"] == {}  # text is no number unless typed


def test_dominance_on_the_limit() -> None:
    """85 % exactly is not above it, whatever floating point says."""
    for tenths in (1, 3, 7):
        share = [Fraction(55 * tenths, 100), Fraction(30 * tenths, 100), Fraction(15 * tenths, 100)]
        texts = [str(float(x)) for x in share]
        cube = Cube.from_cells(["q", "s"], [[0, 0, 0], [0, 1, 2]], [1, 1, 1], [["a"], texts])
        due = sum(sorted(map(Fraction, texts))[1:]) * 100 > 85 * sum(map(Fraction, texts))
        assert totals.dominance_flags(cube)["dominance"]["flagged"] == int(due)


def test_estimates_are_told_as_such(table: Path) -> None:
    found = sievert.explain(table, QUASI, fraction="0.1")
    held = found.chapters["population"]
    assert held["size"] == 80 and held["unique_match"]["details"]["standard_error"] > 0
    said = " ".join(render(found, everything=True).split())
    assert "Among 80 people an estimated" in said
    assert "a sample of 80 people: 10 % of them" in said


def test_the_page_says_what_the_example_says(tmp_path: Path) -> None:
    """The page quotes the hospital example, which fits on a screen."""
    import subprocess
    import sys

    root = Path(__file__).parents[3]
    table = tmp_path / "hospital.csv"
    subprocess.run([sys.executable, root / "examples" / "hospital.py", table], check=True)
    found = sievert.explain(table, policy=root / "examples" / "hospital_policy.toml")
    lines = render(found).splitlines()
    assert len(lines) <= 54 and lines[0] == "What drives the risk in hospital.csv?"
    block = (root / "docs" / "explain.md").read_text().split("```console\n$ ")[1]
    quoted = block.partition("\n")[2].split("\n...\n")[0]
    assert "\n".join(lines).startswith(quoted) and quoted.count("\n") >= 30


def test_leaving_out_is_said_of_one_column() -> None:
    table = {"a": [str(i) for i in range(20)], "b": [str(i % 4) for i in range(20)]}
    said = " ".join(render(sievert.explain(table, ["a", "b"])).split())
    words = "Leaving out a column would help most. With a left out, nobody would be alone; now 20 "
    assert words in said
    half = {"a": [str(i // 2 % 5) for i in range(20)], "b": ["x", "y"] * 10}
    alike = {c: [*values, *values] for c, values in half.items()}
    assert "at least 20 people would share" in render(sievert.explain(alike, ["a", "b"]))


def test_the_path_takes_the_column_that_makes_most_people_unique() -> None:
    found = sievert.explain(PEOPLE, QUASI, "illness").chapters
    steps, known = found["knowledge"]["path"], []
    for step in steps:
        others = [c for c in QUASI if c not in known]
        alone = {
            c: sievert.explain(PEOPLE, [*known, c]).whole.reidentification["unique_count"]
            for c in others
        }
        assert step["unique_count"] == max(alone.values()) == alone[step["column"]]
        assert step["unique_records"] == step["unique_count"] / 8
        known.append(step["column"])
    assert sorted(known) == sorted(QUASI)
    few = sievert.explain(PEOPLE, QUASI, max_size=1).chapters["knowledge"]["path"]
    assert few[0] == steps[0] and len(few) >= 1


def test_chapters_are_attributes() -> None:
    weights = {**PEOPLE, "w": ["3"] * len(PEOPLE["sex"])}
    result = sievert.explain(weights, QUASI, weight="w")
    data = result.to_dict()
    for name in ("population", "shapley", "values", "records", "suda", "ranking", "knowledge"):
        assert getattr(result, name) == data[name]
    assert "w" not in [entry["column"] for entry in result.ranking]
    assert sievert.explain(PEOPLE).population is None


def test_half_of_those_who_are_unique_is_not_most_of_them() -> None:
    text = repr(sievert.explain({"a": list("1233"), "c": list("pppq")}, ["a", "c"]))
    assert "Whoever knows a singles out 2 of the 4 people who are unique (50 % of all)." in text
    assert "One of 2 columns singles out 2 of the 4 people who are unique" in text
