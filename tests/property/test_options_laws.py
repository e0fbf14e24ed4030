"""Options against tables that are really changed: every verdict, every number, the people alone."""

from __future__ import annotations

from itertools import product
from random import Random
from typing import Any

import pytest
from helpers.effort import tried
from helpers.recoding import LADDER, Columns, random_table, recode

import sievert
from sievert.commands.assess import helpful_changes
from sievert.commands.assess.result import ChangeOption
from sievert.measures import MEASURES

SECRETS = ("ill", "days")
PARTS = {"ill": {"infection": ("flu", "hiv"), "other": ("gout",)}}
ORDERS = {"ill": ("cold", "flu", "gout", "hiv")}
TREE = {
    v: (("viral" if v in ("flu", "hiv") else "not"), "*") for v in ("flu", "hiv", "gout", "cold")
}


def every_limit(random: Random) -> dict[str, Any]:
    """A limit on every measure that can have one, on the risky side and somewhere in its range."""
    limits: dict[str, Any] = {"reidentification": {}, "inference": {s: {} for s in SECRETS}}
    for m in MEASURES:
        side = "min" if m.riskier == "low" else "max"
        low = float(m.low or 0)
        high = float(m.high) if m.high is not None else low + 4.0
        limit = {side: random.choice((low, high, low + (high - low) * random.random()))}
        if "record" in m.kinds:
            limits["reidentification"][m.id] = limit
        for secret in SECRETS if "secret" in m.kinds else ():
            if (secret == "ill" or not {"parts", "hierarchy"} & m.needs) and m.id != "alpha_k":
                limits["inference"][secret][m.id] = limit
    return limits


def assess(columns: Columns, policy: dict[str, Any], **options: Any) -> sievert.Assessment:
    quasi = [c for c in columns if c not in (*SECRETS, "who")]
    return sievert.assess(columns, quasi, SECRETS, policy=policy, **options)


def check(way: ChangeOption, real: sievert.Assessment) -> None:
    assert real.policy is not None
    assert way.met == real.met
    assert way.alone == real.reidentification["unique_records"].details["records"]
    assert len(way.verdicts) == len(real.policy.verdicts)
    for ours, theirs in zip(way.verdicts, real.policy.verdicts, strict=True):
        assert (ours.measure, ours.where, ours.met) == (theirs.measure, theirs.where, theirs.met)
        assert ours.value == theirs.value, ours.measure


def everybody(random: Random, records: int) -> list[Any]:
    """Who each row is of: people with several rows or with one each, some rows without."""
    people = random.choice((records // 3, records // 8))
    if random.random() < 0.25:
        return list(range(records))
    return [None if random.random() < 0.05 else random.randint(0, people) for _ in range(records)]


@pytest.mark.parametrize("seed", range(tried(8, soak=200)))
def test_an_option_is_what_assess_says_of_the_changed_table(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    random = Random(seed)
    table, people = random_table(random), seed % 2 == 1
    roles: dict[str, Any] = {"sensitive": list(SECRETS), "rows_are_people": not people}
    if people:
        table["who"], roles["person"] = everybody(random, len(table["ill"])), "who"
    quasi = roles["quasi"] = [c for c in table if c not in (*SECRETS, "who")]
    trees = {c: tree for c, tree in (("ill", TREE), ("town", LADDER)) if c in table}
    limits = every_limit(random)
    policy = {"roles": roles, "orders": ORDERS, "partitions": PARTS, "limits": limits,
              "parameters": {"population_uniques": {"fraction": 0.1}}}  # fmt: skip
    reading: dict[str, Any] = random.choice(({}, {"memory": "1GB"}))  # counted here, or by DuckDB

    find_ways = helpful_changes.ChangedTables.find_ways

    def some(self: helpful_changes.ChangedTables, *given: Any) -> list[ChangeOption]:
        find_ways(self, *given)
        tried = [option for option in self.options.values() if option is not None]
        return random.sample(tried, min(4, len(tried)))

    monkeypatch.setattr(helpful_changes.ChangedTables, "find_ways", some)
    options = assess(table, policy, hierarchies=trees, **reading).options
    assert options is not None and (options.ways or options.reason is not None)
    for way in options.ways:
        changed, lost = recode(table, way.changes, {"town": LADDER})
        check(way, assess(changed, policy, hierarchies={"ill": TREE}, quick=True))
        assert way.detail_lost == pytest.approx(sum(lost) / len(quasi), rel=1e-12)


@pytest.mark.parametrize("seed", range(8))
def test_no_table_meets_as_many_limits_at_less_loss(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All tables on all levels, for limits that a coarser table never breaches."""
    random = Random(seed)
    table = random_table(random)
    quasi = [c for c in table if c not in SECRETS]
    limits = {
        "reidentification": {
            "k_anonymity": {"min": random.choice((2, 3, len(table["ill"])))},
            "unique_records": {"max": random.choice((0.0, 0.1))},
            "average_risk": {"max": random.choice((0.05, 0.5))},
        },
        "inference": {"ill": {"l_diversity": {"min": random.choice((2, 3, 9))}}},
    }
    roles = {"quasi": quasi, "sensitive": list(SECRETS), "rows_are_people": True}
    policy = {"roles": roles, "protect": {"how": "sample"}, "limits": limits}  # no release
    tables: list[helpful_changes.ChangedTables] = []
    find_ways = helpful_changes.ChangedTables.find_ways

    def find(self: helpful_changes.ChangedTables, *given: Any) -> list[ChangeOption]:
        tables.append(self)
        return find_ways(self, *given)

    monkeypatch.setattr(helpful_changes.ChangedTables, "find_ways", find)
    options = assess(table, policy).options
    assert options is not None
    if options.reason == "every_limit_met":
        return
    (changed,) = tables
    every = product(*(range(column.levels) for column in changed.problem.columns))
    measured = [o for levels in every if (o := changed._measure(levels)) is not None]
    most = max(o.limits_met for o in measured)
    least = min(o.detail_lost for o in measured if o.limits_met == most)
    if most > options.before.limits_met:
        best = max(options.ways, key=lambda o: o.limits_met)
        assert (best.limits_met, best.detail_lost) == (most, pytest.approx(least, rel=1e-12))
