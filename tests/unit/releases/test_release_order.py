"""The order of the rows of a release is a function of what they say, and so it tells nothing."""

from __future__ import annotations

import hashlib
import itertools
import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from random import Random
from statistics import fmean, pstdev
from typing import Any

import duckdb
import pytest
from helpers.pairedrows import csv_rows, in_input_order, row_numbers

import sievert
from sievert.commands.protect import check, protection, writing
from sievert.errors import UsageError

METHODS: dict[str, dict[str, Any]] = {
    "full": {},
    "local": {"labels": "sets"},
    "suppress": {},
    "microaggregate": {"group": 4},
    "noise": {"amount": 0.2},
    "round": {"base": {"age": 10.0}},
    "pram": {"amount": 0.2},
    "anatomy": {"group": 2},
    "sample": {"fraction": 0.5},
}
AGES = {"age": "interval:5,10,20"}
KEPT = {"reason": "a test", "outsiders_cannot_know": True}
WIDE = 6  # standard deviations of chance


@pytest.fixture(autouse=True)
def same_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """The check of a release in this process: the same function, without starting another."""

    def confirm(path: Path, *order: Any, released: Path) -> list[str]:
        if path == released:  # else a copy with persons, which is not released
            assert check.judge(path, *order[:2]).met is True
        return []

    monkeypatch.setattr(writing, "confirm", confirm)


def people(records: int = 200, seed: int = 1) -> dict[str, list[Any]]:
    """People sorted by their age."""
    random = Random(seed)
    return {
        "age": [str(20 + i * 40 // records) for i in range(records)],
        "town": [random.choice(("north", "south")) for _ in range(records)],
        "ill": [("flu", "cold", "gout")[random.randrange(3)] for _ in range(records)],
        "id": [f"p{i}" for i in range(records)],
        "batch": [str(i % 3) for i in range(records)],
    }


def rules(k: int = 1, **roles: Any) -> dict[str, Any]:
    own = {"quasi": ["age", "town"], "sensitive": ["ill"], "rows_are_people": True, **roles}
    return {
        "roles": {**own, "dropped": [c for c in ("id", "batch") if c not in own.get("kept", {})]},
        "limits": {"k_anonymity": {"min": k}},
        "release": {"order": "a test"},
    }


def release(table: Any, out: Path, k: int = 1, **options: Any) -> list[dict[str, str]]:
    result = sievert.protect(table, policy=rules(k), hierarchies=AGES, out=out, **options)
    assert result.released, result
    return csv_rows(out)


def shuffled(table: dict[str, list[Any]], seed: int) -> dict[str, list[Any]]:
    order = list(range(len(table["age"])))
    Random(seed).shuffle(order)
    return {name: [values[i] for i in order] for name, values in table.items()}


def by_hash(rows: Sequence[Sequence[str | None]], seed: int, file: str) -> list[int]:
    """The order as docs/protect.md specifies it, written anew: the indices of the rows."""
    key = hashlib.sha256(f"sievert release order\n{file}\n{seed}".encode()).hexdigest()[:16]
    seen: Counter[Any] = Counter()
    places = []
    for row in rows:
        cells = ("-" if c is None else f"{len(c.encode())}:{c}" for c in row)
        digest = hashlib.sha256(f"{key}/{''.join(cells)}".encode()).hexdigest()
        seen[tuple(row)] += 1
        text = f"{key}={int(digest[:16], 16)}:{seen[tuple(row)]}"
        places.append(int(hashlib.sha256(text.encode()).hexdigest()[:16], 16))
    return sorted(range(len(rows)), key=places.__getitem__)


def cells(path: Path) -> list[tuple[str | None, ...]]:
    """The rows of a CSV file in their order; an empty cell is missing."""
    return [tuple(text or None for text in row.values()) for row in csv_rows(path)]


# -- a function of the released rows --------------------------------------------------------------


@pytest.mark.parametrize("how", METHODS)
def test_rows_stand_where_their_hashes_say(how: str, tmp_path: Path) -> None:
    """Every method: what a row says, and how many say the same, decides; nothing else."""
    for seed in (0, 5):
        out = tmp_path / f"{seed}.csv"
        policy = rules(1, **({"kept": {"batch": KEPT}} if seed else {}))
        keep = ["batch"] if seed else []
        given: dict[str, Any] = {"hierarchies": AGES, "how": how, "seed": seed, **METHODS[how]}
        assert sievert.protect(people(), policy=policy, out=out, keep=keep, **given).released
        parts = [(out, "release")]
        if how == "anatomy":
            parts.append((tmp_path / f"{seed}.secrets.csv", "secrets"))
        for path, file in parts:
            rows = cells(path)
            assert len(rows) == (100 if how == "sample" else 200)
            ordered = [rows[i] for i in by_hash(sorted(rows, key=repr), seed, file)]
            expected = sorted(rows, key=repr)
            assert rows == [expected[i] for i in by_hash(expected, seed, file)], ordered[:3]
            assert rows != [expected[i] for i in by_hash(expected, seed + 1, file)]


@pytest.mark.parametrize("how", ["anatomy", "full"])
def test_kept_columns_that_number_the_rows_are_no_release(how: str, tmp_path: Path) -> None:
    """The key of anatomy is fresh, and columns of the table are not, whatever they are called."""
    table = people()
    table |= {"tens": [str(i // 14) for i in range(200)], "ones": [str(i % 14) for i in range(200)]}
    policy = rules(1, kept={"tens": KEPT, "ones": KEPT})
    given: dict[str, Any] = {"how": how, "hierarchies": AGES, **METHODS[how]}
    out = tmp_path / "r.csv"
    found = sievert.protect(table, policy=policy, out=out, keep=["tens", "ones"], **given)
    assert found.met is None and not out.exists()
    assert [(r.what, r.names) for r in found.policy.reasons] == [("kept_unique", ("tens", "ones"))]
    one = rules(1, kept={"tens": KEPT}, dropped=["ones", "id", "batch"])
    one["roles"]["dropped"].append("ones")
    assert sievert.protect(table, policy=one, out=out, keep=["tens"], **given).released


def test_only_protect_calls_a_key_fresh(tmp_path: Path) -> None:
    """In the hands of somebody else the file has two kept columns that number its rows."""
    out = tmp_path / "r.csv"
    kept = {"batch": KEPT}
    given: dict[str, Any] = {"how": "anatomy", "hierarchies": AGES, "group": 2}
    assert sievert.protect(
        people(), policy=rules(1, kept=kept), out=out, keep=["batch"], **given
    ).released
    policy = rules(1, kept={**kept, "group": KEPT}, sensitive=[])
    found = sievert.assess(out, policy=policy)
    assert found.met is None
    assert [(r.what, r.names) for r in found.policy.reasons] == [
        ("kept_unique", ("batch", "group"))
    ]
    with pytest.raises(UsageError):
        sievert.assess(out, policy={**policy, "fresh": ["group"]})


@pytest.mark.parametrize("in_engine", [False, True])
@pytest.mark.parametrize("drop", [False, True])
@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_permuting_the_rows_does_not_change_the_bytes(
    kind: str, drop: bool, in_engine: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if kind == "parquet":
        pytest.importorskip("pyarrow")
    monkeypatch.setattr(protection, "IN_THE_ENGINE", 1 if in_engine else 10**9)
    table, written = {**people(300), "note": [None, "", "a,b"] * 100}, []
    table["town"][:3] = ["elsewhere"] * 3  # suppressed
    for seed in range(3):
        out = tmp_path / f"{seed}.{kind}"
        options: dict[str, Any] = {"drop": drop, "keep": ["note"], "suppress": 0.1}
        policy = rules(5, kept={"note": KEPT})
        result = sievert.protect(
            shuffled(table, seed), policy=policy, hierarchies=AGES, out=out, **options
        )
        assert result.released and result.suppressed_records
        written.append(out.read_bytes())
    assert written[0] == written[1] == written[2]


def test_memory_and_engine_write_the_same_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = []
    for least in (1, 10**9):
        monkeypatch.setattr(protection, "IN_THE_ENGINE", least)
        release(people(300), tmp_path / f"{least}.csv", 5, seed=3)
        written.append((tmp_path / f"{least}.csv").read_bytes())
        assert row_numbers(tmp_path / f"{least}.csv") == row_numbers(tmp_path / "1.csv")
    assert written[0] == written[1]


@pytest.mark.parametrize("how", ["round", "microaggregate"])
def test_methods_that_draw_nothing_do_not_see_the_order(how: str, tmp_path: Path) -> None:
    table, written = {**people(), "age": [str(20 + i % 40) for i in range(200)]}, []
    for seed in range(2):
        rows = release(shuffled(table, seed), tmp_path / f"{seed}.csv", how=how, **METHODS[how])
        written.append([tuple(row.values()) for row in rows])
    same = written[0] == written[1]
    assert same or sorted(written[0]) != sorted(written[1])  # groups may depend on ties


# -- nothing is told ------------------------------------------------------------------------------


def hits(ages: Sequence[str], released: Sequence[int]) -> int:
    """The rows whose exact age is that of their place in the sorted table."""
    return sum(ages[place] == ages[number - 1] for place, number in enumerate(released))


def by_chance(ages: Sequence[str]) -> tuple[float, float]:
    """The mean and the standard deviation of such hits in a random order."""
    random, numbers, found = Random(1), list(range(1, len(ages) + 1)), []
    for _ in range(200):
        random.shuffle(numbers)
        found.append(hits(ages, numbers))
    return fmean(found), pstdev(found)


@pytest.mark.parametrize("in_engine", [False, True])
def test_a_table_sorted_by_age_does_not_give_ages_back(
    in_engine: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(protection, "IN_THE_ENGINE", 1 if in_engine else 10**9)
    table, out = people(400), tmp_path / "r.csv"
    rows = release(table, out, 5)
    assert len({row["age"] for row in rows}) > 1  # exact ages are worth knowing
    mean, deviation = by_chance(table["age"])
    assert hits(table["age"], row_numbers(out)) < mean + WIDE * deviation
    kept = release(table, tmp_path / "kept.csv", 5, keep_order=True)
    assert [row["ill"] for row in kept] == table["ill"]  # every age is known by its place


def test_runs_are_what_chance_gives(tmp_path: Path) -> None:
    """Equal rows are dispersed: labels of neighbours are alike as often as in a random order."""
    rows = release(people(400), tmp_path / "r.csv", 5)

    def runs(labels: Sequence[str]) -> int:
        return sum(one != other for one, other in itertools.pairwise(labels))

    for column in ("age", "town", "ill"):
        labels, random = [row[column] for row in rows], Random(2)
        found, moved = [], list(labels)
        for _ in range(200):
            random.shuffle(moved)
            found.append(runs(moved))
        assert abs(runs(labels) - fmean(found)) < WIDE * pstdev(found)


def test_rows_of_one_person_do_not_stand_together(tmp_path: Path) -> None:
    random = Random(4)
    who = [f"p{i // 3}" for i in range(600)]  # as a table of visits has them
    table = {
        "age": [str(20 + i // 20) for i in range(600)],
        "town": [random.choice(("north", "south")) for _ in range(600)],
        "ill": [random.choice(("flu", "cold", "gout")) for _ in range(600)],
        "who": who,
    }
    roles = {"quasi": ["age", "town"], "sensitive": ["ill"], "person": "who"}
    policy = {"roles": roles, "limits": {"k_anonymity": {"min": 3}}}
    given: dict[str, Any] = {"policy": policy, "hierarchies": AGES, "suppress": 0.3}

    def neighbours(numbers: Sequence[int]) -> int:
        """Neighbours in the file that are rows of one person."""
        persons = [who[n - 1] for n in numbers]
        return sum(one == other for one, other in itertools.pairwise(persons))

    assert sievert.protect(table, out=tmp_path / "r.csv", **given).released
    found, numbers = [], list(range(1, 601))
    for _ in range(200):
        random.shuffle(numbers)
        found.append(neighbours(numbers))
    told = neighbours(row_numbers(tmp_path / "r.csv"))
    assert told < fmean(found) + WIDE * pstdev(found) < neighbours(range(1, 601))


def test_the_two_files_of_anatomy_do_not_go_together(tmp_path: Path) -> None:
    release(people(), tmp_path / "r.csv", how="anatomy", group=2)
    first, second = csv_rows(tmp_path / "r.csv"), csv_rows(tmp_path / "r.secrets.csv")
    groups, random, found = [row["group"] for row in second], Random(3), []
    same = sum(one["group"] == other for one, other in zip(first, groups, strict=True))
    for _ in range(200):
        random.shuffle(groups)
        found.append(sum(one["group"] == other for one, other in zip(first, groups, strict=True)))
    assert same <= fmean(found) + WIDE * pstdev(found)
    listed = [row["group"] for row in second]
    assert listed != sorted(listed, key=int)


def test_a_release_of_limit_has_such_an_order(tmp_path: Path) -> None:
    table, out = people(), tmp_path / "r.csv"
    sievert.randomise(table, ["town"], "ill", ["age", "id", "batch"], at=0.2, seed=7, out=out)
    rows = cells(out)
    expected = sorted(rows, key=repr)
    assert rows == [expected[i] for i in by_hash(expected, 7, "release")]
    assert [row["ill"] for row in in_input_order(out)] == table["ill"]


# -- asked for ------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", METHODS)
def test_keep_order_is_the_order_of_the_table_with_a_caution(how: str, tmp_path: Path) -> None:
    table, out = people(), tmp_path / "r.csv"
    result = sievert.protect(
        table, policy=rules(), hierarchies=AGES, how=how, out=out, keep_order=True, **METHODS[how]
    )
    assert result.released and result.order == "kept" and not result.paired
    assert any("in the order of the table" in caution for caution in result.cautions)
    assert not Path(f"{out}.pairing.parquet").exists()
    manifest = json.loads(Path(f"{out}.json").read_text(encoding="utf-8"))
    assert manifest["order"] == "kept" and "pairing" not in manifest
    if how not in ("anatomy", "sample"):
        assert [row["ill"] for row in csv_rows(out)] == table["ill"]


def visits() -> tuple[dict[str, list[Any]], dict[str, Any]]:
    """People with three rows each, one after the other, and a policy that counts them."""
    random = Random(5)
    ages = [str(random.choice((20, 30, 40))) for _ in range(200)]
    table = {
        "age": [age for age in ages for _ in range(3)],
        "ill": [random.choice(("flu", "cold", "gout")) for _ in range(600)],
        "who": [f"p{i // 3}" for i in range(600)],
    }
    roles = {"quasi": ["age"], "sensitive": ["ill"], "person": "who"}
    return table, {"roles": roles, "limits": {"k_anonymity": {"min": 3}}}


def towns() -> tuple[dict[str, list[Any]], dict[str, Any]]:
    """People sorted by a number that the release lacks, and by which their town goes."""
    table = people(400)
    table["town"] = [("north", "south")[i // 50 % 2] for i in range(400)]
    table["age"] = [str(Random(i).choice((20, 40))) for i in range(400)]
    policy = rules()
    del policy["release"]
    return table, policy


@pytest.mark.parametrize("made", [visits, towns])
@pytest.mark.parametrize("large", [True, False])
def test_keep_order_writes_nothing_where_the_order_tells(
    made: Any, large: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file that goes out decides, and not one with a person beside."""
    if large:
        monkeypatch.setattr(protection, "IN_THE_ENGINE", 1)
    table, policy = made()
    out = tmp_path / "r.csv"
    given: dict[str, Any] = {"out": out, "levels": {}, "hierarchies": AGES, "keep_order": True}
    result = sievert.protect(table, policy=policy, **given)
    assert result.met is None and not result.released and not out.exists()
    assert [reason.what for reason in result.policy.reasons] == ["order_tells"]
    stated = {**policy, "release": {"order": "the table was shuffled by groups"}}
    assert sievert.protect(table, policy=stated, **given).released
    by_hash = {**given, "keep_order": False, "force": True}
    assert sievert.protect(table, policy=policy, **by_hash).released


def test_the_manifest_says_which_order(tmp_path: Path) -> None:
    release(people(), tmp_path / "r.csv", seed=9)
    manifest = json.loads((tmp_path / "r.csv.json").read_text(encoding="utf-8"))
    assert (manifest["order"], manifest["seed"]) == ("by_hash", 9)
    again = sievert.protect(people(), policy=rules(), hierarchies=AGES)
    assert again.order is None and not again.paired  # nothing was written


def test_awkward_cells_have_one_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Missing, empty, quoted and long cells hash alike in memory and in SQL."""
    odd = [None, "", "a,b", 'c "d"', "e\nf", "ü", "-", "1:a", "\t"]
    table = {
        "age": [20 + i % 3 for i in range(270)],
        "town": [odd[i % 9] for i in range(270)],
        "ill": [odd[i * 7 % 9] for i in range(270)],
        "weight": [[0.5, 1e-5, None, 70.0, 1e16][i % 5] for i in range(270)],
    }
    written = []
    for least in (1, 10**9):
        monkeypatch.setattr(protection, "IN_THE_ENGINE", least)
        out = tmp_path / f"{least}.csv"
        # The empty text and the tab coincide if they are spelt alike, and differ here.
        policy = rules(1, kept={"weight": KEPT}, distinct_spellings=["ill"])
        assert sievert.protect(table, policy=policy, keep=["weight"], out=out).released
        with duckdb.connect() as engine:
            written.append((out.read_bytes(), engine.sql(f"FROM read_csv('{out}')").columns))
    assert written[0] == written[1]
