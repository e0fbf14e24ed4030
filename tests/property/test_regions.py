"""Regions split no combination, meet limits on the table, and lose no more than full-domain."""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pyarrow.parquet
import pytest
from helpers import oracle
from helpers.effort import tried
from helpers.releasecases import Case, random_case
from helpers.releasechecker import read_csv

import sievert
from sievert.commands.protect.local_recoding.columns import ENDS, LocalColumn, column_arrays
from sievert.commands.protect.regions.search import RegionProblem, find_regions
from sievert.commands.protect.regions.sums import add_class, demands_of
from sievert.hierarchies import Hierarchy
from sievert.measures import MEASURES
from sievert.methods.full_domain import SecretCells
from sievert.policy import Policy

COLOURS = {
    "red": ("warm", "*"),
    "pink": ("warm", "*"),
    "blue": ("cold", "*"),
    "grey": ("cold", "*"),
}
AGES = Hierarchy.intervals([str(age) for age in range(8)], [2, 4])
ILL = ("flu", "cold", "gout")
FACTOR = 2.0  # between the loss of regions and the least of all partitions
SUMMED = [measure for measure in MEASURES if measure.sum_rule is not None]


def run(case: Case, how: str, folder: Path) -> tuple[Any, list[dict[str, Any]]]:
    """Protect the table of a case by a method; return the result and the rows of its release."""
    folder.mkdir()
    case.write(folder / "table.csv")
    release = folder / "release.csv"
    options = {**case.options, "how": how}
    if how == "full":
        options.pop("labels", None)
    result = sievert.protect(folder / "table.csv", policy=case.policy, out=release, **options)
    return result, read_csv(release)[1] if release.exists() else []


def loss_of(result: Any) -> float:
    if result.release is None:
        losses = result.recoding.measure_losses().to_dict()
    else:
        losses = result.release.loss
    return float(losses["generalization_loss"]["arithmetic"])


@pytest.mark.parametrize("seed", range(tried(12, 150)))
def test_regions_meet_what_full_domain_meets_and_lose_no_more(seed: int, tmp_path: Path) -> None:
    case = random_case("regions", seed)
    full, _ = run(case, "full", tmp_path / "full")
    regions, _ = run(case, "regions", tmp_path / "regions")
    if full.met:
        assert regions.met, (seed, case.policy)
        assert loss_of(regions) <= loss_of(full) + 1e-9


def table(random: Random, records: int, ages: int = 8) -> dict[str, list[str]]:
    return {
        "age": [str(random.randrange(ages)) for _ in range(records)],
        "colour": [random.choice([*COLOURS]) for _ in range(records)],
        "ill": [random.choice((*ILL, "flu")) for _ in range(records)],
    }


def test_no_combination_is_split(tmp_path: Path) -> None:
    columns = table(Random(1), 300)
    policy = {
        "roles": {"quasi": ["age", "colour"], "sensitive": ["ill"], "rows_are_people": True},
        "limits": {"k_anonymity": {"min": 4}, "guess_gain": {"max": 0.2}},
    }
    trees: dict[str, Any] = {"age": AGES, "colour": Hierarchy(COLOURS)}
    release = tmp_path / "release.parquet"
    result = sievert.protect(
        columns, policy=policy, how="regions", out=release, hierarchies=trees, keep_order=True
    )
    assert result.met
    rows = pyarrow.parquet.read_table(release).to_pylist()
    labels = defaultdict(set)
    for age, colour, row in zip(columns["age"], columns["colour"], rows, strict=True):
        labels[age, colour].add((row["age"], row["colour"]))
    assert all(len(each) == 1 for each in labels.values())


def partitions(items: list[int]) -> Any:
    """Every way to put items into classes."""
    if not items:
        yield []
        return
    first, *rest = items
    for size in range(len(rest) + 1):
        for others in itertools.combinations(rest, size):
            left = [item for item in rest if item not in others]
            for classes in partitions(left):
                yield [[first, *others], *classes]


def problem_of(
    random: Random, limits: dict[str, Any], records: int = 14, ages: int = 8
) -> tuple[RegionProblem, list[dict[str, Any]]]:
    """A tiny problem without suppression, and the records that it is about."""
    columns = table(random, records, ages)
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    local = [
        LocalColumn.of_values("age", sorted({row["age"] for row in rows}), AGES, sets=False),
        LocalColumn.of_values(
            "colour", sorted({row["colour"] for row in rows}), Hierarchy(COLOURS), sets=False
        ),
    ]
    own = np.stack([c.positions(columns[c.name]) for c in local], axis=1)
    codes, combination = np.unique(own, axis=0, return_inverse=True)
    combination = combination.ravel()
    values = np.array([ILL.index(row["ill"]) for row in rows])
    keys, counts = np.unique(combination * len(ILL) + values, return_counts=True)
    secret = SecretCells(
        name="ill",
        combination=keys // len(ILL),
        value=keys % len(ILL),
        counts=counts,
        values=len(ILL),
    )
    policy = Policy.model_validate({"limits": limits})
    demands = demands_of(policy, [secret], np.bincount(combination), k=2, parameters={}, parts={})
    problem = RegionProblem(
        columns=column_arrays(local, [1.0, 1.0]),
        roots=np.array([column.domain - 1 for column in local]),
        codes=np.ascontiguousarray(codes),
        counts=np.bincount(combination),
        demands=demands,
        allowed=0,
    )
    return problem, [{**row, "combination": c} for row, c in zip(rows, combination, strict=True)]


@pytest.mark.parametrize("measure", [m.id for m in SUMMED])
def test_a_sum_is_met_where_the_measure_is(measure: str) -> None:
    """Compare the sums over classes with the measure computed from its definition."""
    record = next(m for m in MEASURES if m.id == measure)
    assert record.sum_rule is not None
    random = Random(measure)
    met = Counter()
    for _ in range(tried(60, 600)):
        bound = random.choice([0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 1.5, 2.0, 4.0, 6.0])
        for target in ("reidentification", "inference"):
            terms = record.sum_rule.of_record
            if target == "inference":
                terms = record.sum_rule.of_secret
            if terms is None or record.sum_rule.in_parts:
                continue
            limit = {measure: {record.sum_rule.side: bound}}
            limits = {target: limit if target == "reidentification" else {"ill": limit}}
            problem, rows = problem_of(random, limits)
            demands = problem.demands
            classes = random.randint(1, len(problem.codes))
            owner = np.array([random.randrange(classes) for _ in problem.codes])
            total = 0.0
            added = np.zeros(1)
            for number in np.unique(owner):
                tally = np.zeros(demands.tally, dtype=np.int64)
                size = 0
                for c in np.flatnonzero(owner == number):
                    size += int(problem.counts[c])
                    span = slice(demands.cells.starts[c], demands.cells.starts[c + 1])
                    np.add.at(tally, demands.cells.values[span], demands.cells.counts[span])
                add_class(demands.sums, size, tally, added)
                total += added[0]
            classed = [{"class": str(owner[row["combination"]]), "ill": row["ill"]} for row in rows]
            if target == "reidentification":
                value = oracle.reidentification(classed, ["class"])[measure]
            else:
                value = oracle.inference(classed, ["class"], "ill")[measure]
            if isinstance(value, dict):
                value = value[5]
            if value is None or isinstance(value, str) or abs(float(value) - bound) < 1e-9:
                continue
            holds = (
                float(value) <= bound if record.sum_rule.side == "max" else float(value) >= bound
            )
            assert holds == (total <= demands.sums.bounds[0] + 1e-9), (measure, target, bound)
            met[holds] += 1
    assert len(met) == 2 or measure == "semantic_discrimination_rate"


def loss_if_met(problem: RegionProblem, classes: list[list[int]]) -> float | None:
    """The loss of some classes; None if they break a limit or stand for every value."""
    demands = problem.demands
    total = np.zeros(len(demands.sums.bounds))
    added = np.zeros(len(demands.sums.bounds))
    loss = 0.0
    for members in classes:
        size = int(problem.counts[members].sum())
        if size < demands.k:
            return None
        tally = np.zeros(demands.tally, dtype=np.int64)
        for c in members:
            span = slice(demands.cells.starts[c], demands.cells.starts[c + 1])
            np.add.at(tally, demands.cells.values[span], demands.cells.counts[span])
        add_class(demands.sums, size, tally, added)
        total += added
        widths = [
            label_width(problem, j, problem.codes[members, j]) for j in range(len(problem.roots))
        ]
        if all(width == root for width, root in zip(widths, problem.roots, strict=True)):
            return None
        loss += size * sum(problem.columns.scale[j] * width for j, width in enumerate(widths))
    return None if (total > demands.sums.bounds).any() else loss


def label_width(problem: RegionProblem, j: int, positions: Any) -> int:
    """How many values besides one the lowest label above some positions stands for."""
    level = ENDS
    grid = problem.columns.grid[j]
    while len({int(grid[level, p]) for p in positions}) > 1:
        level += 2
    return int(grid[level + 1, positions[0]] - grid[level, positions[0]])


@pytest.mark.parametrize("seed", range(tried(8, 80)))
def test_the_loss_is_near_the_least_of_all_partitions(seed: int) -> None:
    """No partition of a tiny table loses less than half of what its regions lose."""
    random = Random(seed)
    limits = {"inference": {"ill": {"guess_gain": {"max": random.choice([0.1, 0.3, 0.6])}}}}
    problem, _ = problem_of(random, limits, records=12, ages=4)
    regions = find_regions(problem)
    possible = (
        loss_if_met(problem, classes) for classes in partitions([*range(len(problem.codes))])
    )
    least = min((loss for loss in possible if loss is not None), default=None)
    if regions is None or least is None:
        assert regions is None
        return
    assert least - 1e-9 <= regions.loss <= FACTOR * least + 1e-9
