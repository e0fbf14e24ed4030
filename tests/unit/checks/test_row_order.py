"""The order of the rows of the file at hand: what it tells, and what it must not be blamed for."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from itertools import groupby, permutations, product
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

import sievert
from sievert import sharing
from sievert.checks.row_order import RowOrder, examine_order
from sievert.counts.answers import Sizes
from sievert.counts.memory_cells import MemoryCells
from sievert.counts.row_runs import count_block_runs, count_column_runs
from sievert.estimators.runs import Blocks, RunMoments, block_moments, run_moments
from sievert.report import markdown
from sievert.report.builder import ReportSettings, build
from sievert.session import open_source

Table = dict[str, list[Any]]
PEOPLE = 400
SEXES, ILLNESSES, ZIPS = ("f", "m"), ("flu", "cold", "hiv", "none"), ("10", "11", "12", "13")


# -- the number of runs ---------------------------------------------------------------------------


def count_runs(values: Any) -> int:
    return sum(1 for _ in groupby(values))


@pytest.mark.parametrize("values", ["a", "ab", "aabb", "aaab", "aaabbc", "abcdd", "aaaa"])
def test_moments_are_those_of_all_orders(values: str) -> None:
    runs = [count_runs(order) for order in permutations(values)]
    mean = sum(runs) / len(runs)
    variance = sum((number - mean) ** 2 for number in runs) / len(runs)
    counts = list(Counter(values).values())
    moments = run_moments(Sizes.from_arrays(counts, [1] * len(counts)))
    assert moments.mean == pytest.approx(mean)
    assert moments.variance == pytest.approx(variance, abs=1e-12)
    owners, sizes = np.zeros(len(counts), dtype=np.int64), np.array(counts)
    of_block = block_moments(owners, sizes)
    assert of_block.mean == pytest.approx(mean)
    assert of_block.variance == pytest.approx(variance, abs=1e-12)


def test_blocks_add_up() -> None:
    """All orders of two blocks, each shuffled on its own."""
    second = list(permutations("abbc"))
    both = [count_runs(a) + count_runs(b) for a in permutations("aab") for b in second]
    mean = sum(both) / len(both)
    variance = sum((number - mean) ** 2 for number in both) / len(both)
    moments = block_moments(np.array([0, 0, 1, 1, 1]), np.array([2, 1, 1, 2, 1]))
    assert moments.mean == pytest.approx(mean)
    assert moments.variance == pytest.approx(variance)


def test_runs_of_codes() -> None:
    counted = count_column_runs(np.array([2, 2, 0, 2, 1, 1]))
    assert counted.runs == 4
    assert (counted.values.sizes.tolist(), counted.values.times.tolist()) == ([1, 2, 3], [1, 1, 1])
    assert count_column_runs(np.array([], dtype=np.int64)).runs == 0
    starts = np.array([True, False, False, True, False, False])
    blocks = count_block_runs(np.array([2, 2, 0, 0, 1, 1]), starts)
    assert blocks.runs == 4
    assert sorted(zip(blocks.owners.tolist(), blocks.counts.tolist(), strict=True)) == [
        (0, 1), (0, 2), (1, 1), (1, 2),
    ]  # fmt: skip


def test_the_threshold_is_six_deviations_below() -> None:
    moments = RunMoments(mean=10_000.0, variance=2_500.0)
    assert moments.far_exceed(9_699) and not moments.far_exceed(9_700)
    assert not moments.far_exceed(10_301)  # more runs than by chance tell nothing here
    assert not RunMoments(mean=1.0, variance=0.0).far_exceed(1)


def test_two_rare_values_that_meet_are_no_evidence() -> None:
    """They are 77 standard deviations below the mean, and meet once in 10,000 files."""
    moments = run_moments(Sizes.from_arrays([2, 19_998], [1, 1]))
    assert (moments.mean - 3) / math.sqrt(moments.variance) > 6
    assert not moments.far_exceed(3)


def test_exact_cases_of_rare_values() -> None:
    """Pairs of rare values side by side are no chance, though they are few."""
    pairs = run_moments(Sizes.from_arrays([2, 1], [6, 88]))
    assert pairs.far_exceed(100 - 6) and pairs.far_exceed(100 - 4)
    assert not pairs.far_exceed(100 - 2)
    three = run_moments(Sizes.from_arrays([2, 1], [3, 1994]))
    assert three.far_exceed(2000 - 3) and not three.far_exceed(2000 - 1)
    assert examine(rare_pairs(100, 6)).tells == ("zip",)
    assert examine(rare_pairs(2000, 3)).tells == ("zip",)


def rare_pairs(rows: int, pairs: int) -> Table:
    """Rows with values of their own, but for pairs of neighbours that share one."""
    families = [[f"z{number}"] * 2 for number in range(pairs)]
    others = [[f"z{number}"] for number in range(pairs, rows - pairs)]
    units = [*families, *others]
    Random(1).shuffle(units)
    return {"zip": [value for unit in units for value in unit]}


@pytest.mark.parametrize("sizes", [(2, 2, 1, 1), (2, 2, 2), (3, 2, 1), (3, 3), (4, 1, 1), (1, 5)])
def test_the_bound_for_joins_holds_in_all_orders(sizes: tuple[int, ...]) -> None:
    """Each order of a few rows is tried, as one block, and as one of two equal blocks."""
    values = [value for value, size in enumerate(sizes) for _ in range(size)]
    orders = set(permutations(values))
    joins = Counter(len(values) - count_runs(list(order)) for order in orders)
    two = Counter[int]()
    for (first, m), (second, n) in product(joins.items(), repeat=2):
        two[first + second] += m * n
    rows = np.array([float(len(values))])
    pairs = np.array([float(sum(n * (n - 1) for n in sizes))])
    for blocks, counted in (
        (Blocks(rows=rows, pairs=pairs), joins),
        (Blocks(rows=np.repeat(rows, 2), pairs=np.repeat(pairs, 2)), two),
    ):
        for least in range(1, max(counted) + 1):
            chance = sum(m for number, m in counted.items() if number >= least) / counted.total()
            assert chance <= math.exp(blocks.log_chance(least)) * (1 + 1e-9)


def test_pairs_inside_sorted_blocks() -> None:
    """In two towns, each of 50 rows, three families of two stand together."""
    owners = np.repeat([0, 1], 47)
    counts = np.tile([2] * 3 + [1] * 44, 2)
    moments = block_moments(owners, counts)
    assert moments.far_exceed(100 - 6) and not moments.far_exceed(100 - 1)


def test_random_orders_of_skewed_tables_do_not_tell() -> None:
    """Of 40,000 random orders of skewed columns at most as many tell as the level says."""
    rng = np.random.default_rng(1)
    alarms, tried = 0, 0
    for number in (20, 60, 300):
        for skew in (0.5, 1.0, 1.5, 2.5):
            weights = 1.0 / np.arange(1, 61) ** skew
            codes = rng.choice(60, number, p=weights / weights.sum())
            moments = run_moments(count_column_runs(codes).values)
            for _ in range(3_334):
                order = rng.permutation(codes)
                alarms += moments.far_exceed(1 + int(np.count_nonzero(np.diff(order))))
                tried += 1
    assert tried > 40_000 and alarms <= 2  # 0.4 would be the mean at the level of 1 in 100,000


@pytest.mark.parametrize("rows", [5, 19, 20])
def test_a_file_of_few_rows_was_not_examined(rows: int) -> None:
    table = {"age": ["a"] * rows, "ill": ["flu", "gout"] * (rows // 2) + ["flu"] * (rows % 2)}
    rules = policy()
    rules["roles"]["quasi"] = ["age"]
    said = sievert.assess(table, policy=rules).to_dict()["policy"]["rests_on"]
    assert ("was not examined: there are fewer than 20" in said) is (rows < 20)
    assert ("tells no more than the values" in said) is (rows == 20)


# -- the oracle -----------------------------------------------------------------------------------


def slow_oracle(table: Table) -> set[str]:
    """The columns that tell, written down from the documentation, row by row."""
    rows = list(zip(*table.values(), strict=True))
    names = list(table)

    def far_fewer(groups: list[list[Any]]) -> bool:
        runs, mean, variance = 0, 0.0, 0.0
        for group in groups:
            n, counts = len(group), Counter(group).values()
            s2, s3 = sum(m * m for m in counts), sum(m**3 for m in counts)
            runs += count_runs(group)
            mean += n + 1 - s2 / n
            if n > 1:
                variance += (s2 * (s2 + n * (n + 1)) - 2 * n * s3 - n**3) / (n * n * (n - 1))
        below = mean - runs
        if variance < 1e-9 or below <= 6 * math.sqrt(variance):
            return False
        u = 2 * below / variance
        chance = math.exp(-variance / 4 * ((1 + u) * math.log(1 + u) - u))
        varied = [group for group in groups if len(set(group)) > 1]
        return min(chance, chance_of_joins(varied)) < 1e-5

    whole = {name: [row[i] for row in rows] for i, name in enumerate(names)}
    if len(rows) < 20 or not any(far_fewer([values]) for values in whole.values()):
        return set()
    key: list[str] = []
    while True:
        for name in names:
            longer = [*key, name]
            if name not in key and len(set(whole[name])) > 1 and is_sorted(whole, key, name):
                key = longer
                break
        else:
            break
    groups: list[list[int]] = []
    for i in range(len(rows)):
        same = i > 0 and all(whole[name][i] == whole[name][i - 1] for name in key)
        if same:
            groups[-1].append(i)
        else:
            groups.append([i])
    return {
        name
        for name in names
        if name not in key and far_fewer([[whole[name][i] for i in group] for group in groups])
    }


def chance_of_joins(groups: list[list[Any]]) -> float:
    """The bound for the chance of so many equal neighbours, from the documentation."""
    joins = sum(len(group) - count_runs(group) for group in groups)
    means = [sum(m * (m - 1) for m in Counter(g).values()) / len(g) for g in groups]
    if joins <= sum(means):
        return 1.0
    chosen = math.ceil(joins - sum(means))
    total = Fraction(0)
    for group, mean in zip(groups, means, strict=True):
        n, j = len(group), min(chosen, len(group) - 1)
        power = Fraction(n**j * math.factorial(n - j), math.factorial(n))
        total += Fraction(mean * math.exp(math.log(power) / j))
    logarithm = chosen * math.log(total) - math.log(math.perm(joins, chosen))
    return math.exp(min(0.0, logarithm))


def is_sorted(whole: Table, key: list[str], name: str) -> bool:
    """Whether a column rises, or falls, wherever the columns before it stay the same."""
    values = whole[name]
    steps = [
        (values[i - 1], values[i])
        for i in range(1, len(values))
        if all(whole[k][i] == whole[k][i - 1] for k in key) and values[i] != values[i - 1]
    ]
    return bool(steps) and (all(a < b for a, b in steps) or all(a > b for a, b in steps))


def examine(data: Any, *columns: str, **options: Any) -> RowOrder:
    with open_source(data, **options) as (_, questions):
        return examine_order(questions, columns or questions.columns)


def people(random: Random, number: int = PEOPLE) -> Table:
    """People in a random order, with columns that depend on nothing."""
    return {
        "age": [str(20 + random.randrange(60)) for _ in range(number)],
        "sex": [random.choice(SEXES) for _ in range(number)],
        "zip": [random.choice(ZIPS) for _ in range(number)],
        "ill": [random.choice(ILLNESSES) for _ in range(number)],
    }


def sort_rows(table: Table, *names: str, reverse: bool = False) -> Table:
    rows = list(zip(*table.values(), strict=True))
    places = [list(table).index(name) for name in names]
    rows.sort(key=lambda row: [row[i] for i in places], reverse=reverse)
    return dict(zip(table, map(list, zip(*rows, strict=True)), strict=True))


def band(age: str) -> str:
    low = int(age) // 20 * 20
    return f"[{low}, {low + 20})"


def generalised(table: Table, label: Callable[[str], str] = band) -> Table:
    return {**table, "age": [label(age) for age in table["age"]]}


@pytest.mark.parametrize("seed", range(40))
def test_what_tells_is_what_the_oracle_says(seed: int) -> None:
    random = Random(seed)
    table = people(random, random.choice((15, 60, 200, 500)))
    names = random.sample(list(table), random.randrange(4))
    table = sort_rows(table, *names, reverse=random.random() < 0.3) if names else table
    if random.random() < 0.7:
        table = {**table, "age": [str(int(age) // 10) for age in table["age"]]}
    if random.random() < 0.2:
        del table[random.choice(["sex", "zip"])]
    assert set(examine(table).tells) == slow_oracle(table)


# -- false safes ----------------------------------------------------------------------------------


def policy(**more: Any) -> dict[str, Any]:
    roles = {"quasi": ["age", "sex", "zip"], "sensitive": ["ill"], "rows_are_people": True}
    return {"roles": roles, "limits": {"k_anonymity": {"min": 2}}, **more}


def is_undecided(data: Any, **options: Any) -> list[str]:
    """The columns for which an assessment is undecided; it is met but for the order."""
    found = sievert.assess(data, policy=policy(), **options)
    assert found.met is None and found.policy is not None
    (reason,) = found.policy.reasons
    assert reason.what == "order_tells" and reason.met is None
    assert any("fewer runs" in caution for caution in found.cautions)
    assert "the order of the rows tells more" in str(found.policy.rests_on)
    assert sievert.assess(data, policy=policy(release={"order": "it is random"}), **options).met
    bare = sievert.assess(data, ["age", "sex", "zip"], "ill", **options)
    assert any("fewer runs" in caution for caution in bare.cautions)
    return list(reason.names)


def test_sorted_by_exact_values_then_generalised() -> None:
    table = generalised(sort_rows(people(Random(1), 2000), "age", "sex"))
    assert is_undecided(table) == ["sex"]


def test_the_same_downwards() -> None:
    table = generalised(sort_rows(people(Random(2), 2000), "age", "sex", reverse=True))
    assert is_undecided(table) == ["sex"]


def test_labels_of_several_levels_in_the_order_of_exact_values() -> None:
    """Some ages have a band, as after local recoding, and lie between those that have none."""

    def label(age: str) -> str:
        return age if int(age) % 3 else band(age)

    table = generalised(sort_rows(people(Random(3), 4000), "age"), label)
    assert "age" in examine(table).tells


def test_stars_in_the_order_of_exact_values() -> None:
    ages = sort_rows(people(Random(4), 4000), "age")
    table = generalised(ages, lambda age: "*" if age in ("31", "47") else age)
    assert "age" in examine(table).tells


def test_sorted_by_a_column_that_was_dropped() -> None:
    table = sort_rows(people(Random(5), 1000), "zip", "age")
    regions = {"10": "south", "11": "north", "12": "south", "13": "north"}
    table["zip"] = [regions[zip_] for zip_ in table["zip"]]
    assert "zip" in examine(table).tells


def test_rows_of_one_person_side_by_side() -> None:
    random = Random(6)
    table = people(random, 1000)
    twice = {
        name: [value for value in values for _ in range(2)] if name != "ill" else values + values
        for name, values in table.items()
    }
    assert set(is_undecided(generalised(twice))) == {"age", "sex", "zip"}


def test_sorted_within_one_label() -> None:
    """The rows are sorted by bands, and those of one band only by exact age and sex as well."""
    table = sort_rows(people(Random(7), 3000), "age", "sex")
    rows = list(zip(*table.values(), strict=True))
    other = [row for row in rows if int(row[0]) >= 40]
    Random(8).shuffle(other)
    other.sort(key=lambda row: int(row[0]) // 20)
    rows = [row for row in rows if int(row[0]) < 40] + other
    mixed = dict(zip(table, map(list, zip(*rows, strict=True)), strict=True))
    assert "sex" in is_undecided(generalised(mixed))


@pytest.mark.parametrize("kind", ["csv", "parquet", "frame", "packed", "plain"])
def test_whatever_holds_the_rows(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import pandas as pd

    frame = pd.DataFrame(generalised(sort_rows(people(Random(9), 30_000), "age", "sex")))
    shuffled = frame.sample(frac=1, random_state=1).reset_index(drop=True)
    for data, tells in ((frame, ["sex"]), (shuffled, [])):
        source: Any = data
        if kind in ("parquet", "packed", "plain"):
            source = tmp_path / "t.parquet"
            data.to_parquet(source, row_group_size=7000, index=False)
        elif kind == "csv":
            source = tmp_path / "t.csv"
            data.to_csv(source, index=False)
        if kind == "plain":  # as where the compiled code is not installed
            monkeypatch.setattr("sievert.session._room", lambda _: 0)
        assert list(examine(source, large=10**4 if kind == "packed" else None).tells) == tells
        if tells:
            assert is_undecided(source) == tells
        else:
            assert sievert.assess(source, policy=policy()).met is True


def test_parts_are_one_file_after_the_other(tmp_path: Path) -> None:
    import pandas as pd

    frame = pd.DataFrame(generalised(sort_rows(people(Random(10), 4000), "age", "sex")))
    folder = tmp_path / "parts"
    folder.mkdir()
    for number in range(4):
        part = frame.iloc[1000 * number : 1000 * (number + 1)]
        part.to_parquet(folder / f"part-{number}.parquet", index=False)
    assert "sex" in is_undecided(folder)


def test_a_release_of_a_comparison(tmp_path: Path) -> None:
    original = sort_rows(people(Random(11), 2000), "age", "sex")
    release = generalised(original)
    found = sievert.compare(original, {"r": release}, policy=policy(), paired=True, shuffles=10)
    (one,) = found.releases
    assert one.policy is not None and one.policy.met is None
    assert [reason.what for reason in one.policy.reasons] == ["order_tells"]
    stated = policy(release={"order": "sorted by a random number"})
    found = sievert.compare(original, {"r": release}, policy=stated, paired=True, shuffles=10)
    assert found.releases[0].policy is not None and found.releases[0].policy.met is True


def test_suppressed_rows_at_their_places() -> None:
    """Rows that are left out of every measure stay in the file, between their neighbours."""
    table = generalised(sort_rows(people(Random(12), 4000), "age"))
    for i in range(0, 4000, 40):
        for name in ("age", "sex", "zip"):
            table[name][i] = "*"
    found = sievert.assess(
        table, policy=policy(limits={"k_anonymity": {"min": 2}, "suppressed_records": {"max": 0.1}})
    )
    assert found.met is not True and found.policy is not None
    assert "order_tells" in [reason.what for reason in found.policy.reasons]


# -- no false alarms ------------------------------------------------------------------------------


def test_a_random_order_raises_no_alarm() -> None:
    for seed in range(200):
        random = Random(seed)
        table = people(random, random.choice((30, 100, 400, 3000)))
        table["rare"] = ["x" if random.random() < 0.01 else "y" for _ in table["age"]]
        table["pair"] = [str(random.randrange(len(table["age"]))) for _ in table["age"]]
        assert examine(table) == RowOrder(), seed


@pytest.mark.parametrize(
    "names", [["age"], ["ill"], ["zip", "age"], ["sex", "ill", "age"], ["age", "sex", "zip", "ill"]]
)
@pytest.mark.parametrize("reverse", [False, True])
def test_sorted_by_released_columns(names: list[str], reverse: bool) -> None:
    table = sort_rows(generalised(people(Random(13), 2000)), *names, reverse=reverse)
    order = examine(table)
    assert not order.tells and order.sorted_by[: len(names)] == tuple(names)
    found = sievert.assess(table, policy=policy())
    assert found.met is True and "sorted by released columns" in str(found.policy.rests_on)


def test_known_orders_of_labels() -> None:
    """Numbers and the numbers of labels, missing ones first or last."""
    random = Random(14)
    ages = [str(random.randrange(5, 120)) for _ in range(3000)]
    ages.sort(key=int)
    other = [random.choice("ab") for _ in ages]
    for label in (str, lambda age: f"[{int(age) // 5 * 5}, {int(age) // 5 * 5 + 5})"):
        for column in ([label(age) for age in ages], [label(age) for age in ages][::-1]):
            for table in (column, [None, *column[1:]], [*column[:-1], None]):
                order = examine({"age": table, "x": other})
                assert order == RowOrder(sorted_by=("age",))


def test_an_order_that_is_given() -> None:
    random = Random(15)
    table = {"size": ["low"] * 300 + ["medium"] * 300 + ["high"] * 300}
    table["x"] = [random.choice("ab") for _ in table["size"]]
    assert examine(table).tells == ("size",)
    with open_source(table) as (_, questions):
        order = examine_order(questions, ["size", "x"], {"size": ["low", "medium", "high"]})
    assert order == RowOrder(sorted_by=("size",))


def test_few_rows_tell_nothing() -> None:
    assert examine({"a": [str(i // 2 % 5) for i in range(19)]}) == RowOrder(few=True)


def test_without_an_order_of_rows() -> None:
    """What keeps no order says so; nothing is asked of it."""

    class Engine:
        keeps_order = False

    class Nothing:
        engine = Engine()

    unseen: Any = Nothing()
    order = examine_order(unseen, ["a"])
    assert order == RowOrder(seen=False)
    assert order.notes == ["rows have no order here: the order of the rows was not looked at"]


def test_engines_without_an_order() -> None:
    from sievert.counts.duckdb.adapter import DuckDB
    from sievert.counts.postgres.adapter import Postgres
    from sievert.counts.spark.adapter import Spark
    from sievert.counts.state.adapter import StateAdapter

    assert DuckDB.keeps_order
    assert not any(engine.keeps_order for engine in (Spark, Postgres, StateAdapter))


def test_a_state_says_that_it_has_no_order(tmp_path: Path) -> None:
    table = people(Random(16))
    state = tmp_path / "s.state"
    sievert.count(table, ["age", "sex", "zip"], ["ill"], out=state)
    found = sievert.assess(state, policy=policy())
    assert found.policy is not None and found.policy.question == "planned"
    assert "not that of a release" in str(found.policy.rests_on)


def test_a_plan_is_not_about_the_order_of_the_original() -> None:
    table = generalised(sort_rows(people(Random(1), 2000), "age", "sex"))
    found = sievert.assess(table, policy=policy(), planned=True)
    assert found.policy is not None and found.policy.planned_met is True
    assert not any("fewer runs" in caution for caution in found.cautions)
    assert "not that of a release" in str(found.policy.rests_on)


def test_all_ways_of_counting_agree(tmp_path: Path) -> None:
    import pandas as pd

    from sievert.counts.packed.records import PackedRecords

    table = sort_rows(people(Random(17), 20_000), "age", "sex")
    table["ill"][5] = None
    path = tmp_path / "t.parquet"
    pd.DataFrame(table).to_parquet(path, row_group_size=3000, index=False)
    with open_source(path, large=10**4) as (_, questions):
        assert isinstance(questions.memory, PackedRecords)
        questions.plan_runs(list(table))
        alone = questions.count_runs(list(table))
        questions.sizes(["age", "sex", "zip", "ill"])
        beside = questions.count_runs(list(table))
        codes_here = {name: questions.codes_in_order(name) for name in table}
        questions.memory = MemoryCells()
        slow = questions.count_runs(list(table))
        for name, values in table.items():
            counts = sorted(Counter(values).values())
            for counted in (alone[name], beside[name], slow[name]):
                assert counted.runs == count_runs(values)
                sizes = np.repeat(counted.values.sizes, counted.values.times).tolist()
                assert sizes == counts
            for codes, texts in (codes_here[name], questions.codes_in_order(name)):
                assert [texts[code] for code in codes.tolist()] == values


def test_a_shareable_page_says_that_a_reason_is_withheld() -> None:
    """Only the internal page may say that the order tells: one person can decide that."""
    found = sievert.assess(
        generalised(sort_rows(people(Random(9), 400), "age", "sex")), policy=policy()
    )
    assert found.met is None and found.policy is not None
    assert [r.what for r in found.policy.reasons] == ["order_tells"]
    shared = sharing.shareable(found.to_dict())
    assert [(r["what"], r["met"]) for r in shared["policy"]["reasons"]] == [("withheld", None)]
    assert "There is a reason that only the internal page names" in markdown.render(
        build([found], ReportSettings(share=True))
    )
