"""People with several rows: releases against brute force over all nodes, with sets of people."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from random import Random
from typing import Any

import pytest
from helpers import peopleoracle
from helpers.effort import tried
from helpers.pairedrows import csv_rows, row_numbers

import sievert
from sievert.commands.protect import protection
from sievert.errors import InvariantError, UsageError
from sievert.releases import problem

TREES = {
    "age": {str(a): [f"{a // 2}x", "*"] for a in range(6)},
    "town": {t: ["*"] for t in "abc"},
}
QUASI = list(TREES)


def sightings(random: Random) -> list[dict[str, Any]]:
    rows = random.choice((12, 30, 60))
    people = random.choice((rows // 3, rows // 2, rows))
    lacking = random.random() < 0.2
    return [
        {
            "age": str(random.randrange(6)),
            "town": random.choice("aabc"),
            "ill": random.choice(("flu", "cold", "flu", "gout")),
            "who": None if lacking and random.random() < 0.1 else f"p{random.randrange(people)}",
        }
        for _ in range(rows)
    ]


def label(column: str, value: str, level: int) -> str:
    return value if level == 0 else TREES[column][value][level - 1]


def released(rows: list[dict[str, Any]], levels: tuple[int, ...], least: int) -> Any:
    """The rows that are kept, recoded, and how many are suppressed: too few people, whole class."""
    recoded = [
        {**row, **{c: label(c, row[c], x) for c, x in zip(QUASI, levels, strict=True)}}
        for row in rows
    ]
    seen: dict[Any, set[Any]] = {}
    for number, row in enumerate(recoded):
        own = ("row", number) if row["who"] is None else row["who"]
        seen.setdefault((row["age"], row["town"]), set()).add(own)
    kept = [row for row in recoded if len(seen[row["age"], row["town"]]) >= least]
    return kept, len(rows) - len(kept)


def lost(rows: int, kept: list[dict[str, Any]], levels: tuple[int, ...]) -> float:
    """The mean share of the domain below a label, over cells; 1 where it is suppressed."""
    total = 0.0
    for column, level in zip(QUASI, levels, strict=True):
        tree = TREES[column]
        for row in kept:
            below = sum(label(column, v, level) == row[column] for v in tree)
            total += (below - 1) / (len(tree) - 1)
        total += rows - len(kept)
    return total / (rows * len(QUASI))


@pytest.mark.parametrize("seed", range(tried(25, soak=50)))
def test_the_best_release_of_people(seed: int, tmp_path: Path) -> None:
    """Never falsely safe, and nothing that meets the policy loses less."""
    random = Random(f"people {seed}")
    rows = sightings(random)
    k, least, share = (
        random.choice((2, 3, 5)),
        random.choice((0, 0, 2)),
        random.choice((0, 0.1, 0.3)),
    )
    rules: dict[str, Any] = {
        "roles": {"quasi": QUASI, "sensitive": ["ill"], "person": "who"},
        "limits": {"reidentification": {"k_anonymity": {"min": k}}},
    }
    if least:
        rules["limits"]["inference"] = {"ill": {"l_diversity": {"min": least}}}
    table = {c: [row[c] for row in rows] for c in rows[0]}
    out = tmp_path / "r.csv"
    to = out if seed % 10 == 0 else None
    result = sievert.protect(
        table, policy=rules, hierarchies=TREES, out=to, suppress=share, loss="arithmetic_loss"
    )
    unnamed = any(row["who"] is None for row in rows)
    best: float | None = None
    for levels in itertools.product(range(3), range(2)):
        kept, gone = released(rows, levels, max(k, least))
        if least:  # classes without two values go too
            values: dict[Any, set[str]] = {}
            for row in kept:
                values.setdefault((row["age"], row["town"]), set()).add(row["ill"])
            kept = [row for row in kept if len(values[row["age"], row["town"]]) >= least]
            gone = len(rows) - len(kept)
        if gone <= int(share * len(rows)) and kept and levels != (2, 1):  # * is suppressed
            own = lost(len(rows), kept, levels)
            best = own if best is None else min(best, own)
    assert out.exists() is result.released is (to is not None and result.met is True)
    if best is None:
        assert result.met is False
        return
    assert result.met is (None if unnamed else True)
    assert result.recoding.losses.arithmetic == pytest.approx(best, abs=1e-12)
    if not result.released:
        return
    written = csv_rows(out)
    assert list(written[0]) == ["age", "town", "ill"]
    pairs = zip(written, row_numbers(out), strict=True)
    beside = [{**row, "who": rows[number - 1]["who"]} for row, number in pairs]
    left = [row for row in beside if (row["age"], row["town"]) != ("*", "*")]
    found = peopleoracle.reidentification(left, QUASI, "who")
    assert found["k_anonymity"] >= k
    if least:
        assert peopleoracle.inference(left, QUASI, "ill", "who")["l_diversity"] >= least


def stays() -> tuple[dict[str, list[str]], dict[str, Any]]:
    """Four rows of one person in a class of one age: k = 2 in rows, 1 in people."""
    table = {
        "age": ["1"] * 4 + ["2", "2", "3", "3", "3"],
        "town": ["a"] * 9,
        "ill": ["flu", "cold", "flu", "gout", "flu", "cold", "flu", "cold", "gout"],
        "who": ["x", "x", "x", "x", "y", "z", "u", "v", "w"],
    }
    roles = {"quasi": QUASI, "sensitive": ["ill"], "person": "who"}
    return table, {"roles": roles, "limits": {"k_anonymity": {"min": 2}}}


def test_rows_of_one_person_are_no_crowd(tmp_path: Path) -> None:
    table, rules = stays()
    out = tmp_path / "r.csv"
    result = sievert.protect(
        table, policy=rules, hierarchies=TREES, out=out, suppress=0.5, levels={"age": 0}
    )
    assert result.released
    assert result.recoding.suppressed_records == 4
    assert result.table["people"] == 6
    assert result.suppressed_rows == "dropped"  # as a class of their own they are too few people
    assert min(row_numbers(out)) == 5
    manifest = json.loads((tmp_path / "r.csv.json").read_text(encoding="utf-8"))
    assert manifest["table"]["columns"] == ["age", "town", "ill"]
    private = "r.csv.pairing.parquet"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["r.csv", "r.csv.json", private]


def test_dropped_rows_as_parquet(tmp_path: Path) -> None:
    table, rules = stays()
    out, levels = tmp_path / "a.parquet", {"age": 0}
    options: dict[str, Any] = {"hierarchies": TREES, "suppress": 0.5, "levels": levels}
    result = sievert.protect(table, policy=rules, out=out, drop=True, **options)
    assert result.released
    assert sievert.assess(out, quasi=QUASI).rows == 5


def test_a_release_never_holds_the_person(tmp_path: Path) -> None:
    table, rules = stays()
    with pytest.raises(UsageError, match="'who' is person"):
        sievert.protect(table, policy=rules, out=tmp_path / "b.csv", keep=["who"])


def test_the_check_counts_people(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A search that counts rows is caught by the check, which has the person beside."""
    table, rules = stays()
    monkeypatch.setattr(protection, "PeopleProblem", problem.ProtectionProblem)
    with pytest.raises(InvariantError, match="nothing was written"):
        sievert.protect(table, policy=rules, hierarchies=TREES, out=tmp_path / "r.csv")
    assert not list(tmp_path.iterdir())


def test_other_methods_refuse_people() -> None:
    table, rules = stays()
    with pytest.raises(UsageError, match="several rows"):
        sievert.protect(table, policy=rules, how="sample", fraction=0.5)
    with pytest.raises(UsageError, match="matches anything"):
        sievert.protect(table, policy=rules, missing="wildcard")
