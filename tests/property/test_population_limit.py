"""A limit on the unique people of the population: by definition, in assess, and in the search."""

from __future__ import annotations

import itertools
import json
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import pytest
from helpers.commandline import run
from helpers.effort import tried

import sievert
from sievert.commands.protect import run as release_run
from sievert.counts.answers import Sizes
from sievert.errors import UsageError
from sievert.policy import parse_policy
from sievert.population import cautious, pitman, snb, zayatz

TREES = {
    "a": {str(v): [f"a{v // 3}", f"b{v // 9}", "*"] for v in range(40)},
    "b": {str(v): [f"c{v // 2}", f"d{v // 6}", "*"] for v in range(40)},
    "c": {v: ["*"] for v in "xy"},
}
ROLES = {"quasi": ["a", "b", "c"], "sensitive": ["s"], "rows_are_people": True}
TOML = '[roles]\nquasi = ["a", "b", "c"]\nsensitive = ["s"]\nrows_are_people = true\n'


def table(random: Random, records: int) -> dict[str, list[str]]:
    """Frequent combinations and rare ones."""
    return {
        "a": [str(min(39, int(random.expovariate(0.25)))) for _ in range(records)],
        "b": [str(min(39, int(random.expovariate(0.3)))) for _ in range(records)],
        "c": [random.choice("xxy") for _ in range(records)],
        "s": [random.choice("ppqr") for _ in range(records)],
    }


def policy(most: float, population: dict[str, Any] | None, **limits: Any) -> dict[str, Any]:
    rules = {"roles": ROLES, "limits": {"population_uniques": {"max": most}, **limits}}
    return rules if population is None else {
        **rules, "parameters": {"population_uniques": population}
    }  # fmt: skip


def sizes_of(classes: Counter[Any]) -> Sizes:
    times = Counter(classes.values())
    return Sizes.from_arrays(list(times), list(times.values()))


def by_definition(rows: list[tuple[Any, ...]], population: int) -> float:
    """The largest of three estimates, none above the sample's own share of uniques."""
    sizes = sizes_of(Counter(rows))
    own = sum(n == 1 for n in Counter(rows).values()) / len(rows)
    if population == len(rows):
        return own
    values = [model(sizes, population).value for model in (zayatz, pitman, snb)]
    return max(min(value, own) for value in values if value is not None)


@pytest.mark.parametrize("seed", range(tried(20, soak=400)))
def test_no_estimate_is_above_the_cautious_one(seed: int) -> None:
    random = Random(f"cautious {seed}")
    records = random.choice((1, 2, 10, 60, 200))
    rows = list(zip(*list(table(random, records).values())[:3], strict=True))
    if seed % 5 == 0:
        rows = [(i,) for i in range(records)]  # everybody is unique
    population = records * random.choice((1, 2, 10, 1000)) + random.choice((0, 1))
    sizes, alone = sizes_of(Counter(rows)), sum(n == 1 for n in Counter(rows).values())
    estimate = cautious(sizes, population)
    assert estimate.value == by_definition(rows, population)
    assert 0 <= estimate.value <= alone / records
    assert zayatz(sizes, population).value <= estimate.value
    if seed % 5 == 0:
        assert estimate.value == 1.0
    for model in (pitman, snb):
        other = model(sizes, population).value
        assert other is None or min(other, alone / records) <= estimate.value


def test_a_limit_without_a_population_is_undecided(tmp_path: Path) -> None:
    data, rules = table(Random(1), 200), policy(1.0, None)
    found = sievert.assess(data, policy=rules)
    assert found.met is None and "population_uniques" not in found.reidentification
    assert found.verdicts[0].reason == "it needs the size of the population"
    assert "the policy does not state the population" in found.policy.rests_on
    narrower = {**rules, "limits": {"reidentification": rules["limits"]}}
    assert sievert.assess(data, policy=narrower).met is None
    (tmp_path / "p.toml").write_text(TOML + "[limits]\npopulation_uniques = { max = 0.5 }\n")
    gaps = sievert.check_policy(tmp_path / "p.toml", data).gaps
    assert [g.what for g in gaps] == ["undecidable_limits"] and "population_size" in gaps[
        0
    ].suggestion
    with pytest.raises(UsageError, match="needs the size of the population"):
        sievert.protect(data, policy=rules)
    with pytest.raises(UsageError, match="population_uniques needs a population"):
        sievert.population_uniques(data, ["a", "b"])
    compared = sievert.compare(data, {"same": data}, policy={
        **rules, "limits": {**rules["limits"], "k_anonymity": {"min": 1}}},
        shuffles=0, threads=1)  # fmt: skip
    assert compared["same"].policy.met is None


def test_how_a_population_is_stated(tmp_path: Path) -> None:
    data = table(Random(1), 200)
    value = by_definition(list(zip(data["a"], data["b"], data["c"], strict=True)), 2000)
    for stated, options in (
        ({"population_size": 2000}, {}),
        ({"fraction": 0.1}, {}),
        (None, {"population_size": 2000}),
        (None, {"fraction": "0.1"}),
        ({"fraction": 0.1}, {"fraction": "0.10"}),
        (None, {"population": {c: data[c] * 10 for c in ("a", "b", "c")}}),
    ):
        for most, met in ((value, True), (value * (1 - 1e-9), False)):
            found = sievert.assess(data, policy=policy(most, stated), quick=True, **options)
            assert found.met is met and found.verdicts[0].value == value
    details = found.reidentification["population_uniques"].details
    assert details["population"] == 2000 and details["taken"] in details["considered"]
    replaced = sievert.assess(
        data, policy=policy(1.0, {"fraction": 0.1}), quick=True, population_size=10**6
    )
    assert replaced.met is False and replaced.policy.reasons[0].what == "settings_replaced"
    for wrong in ({}, {"fraction": 0.0}, {"fraction": 0.1, "population_size": 9}, {"size": 9}):
        with pytest.raises(UsageError, match="population_uniques"):
            sievert.assess(data, policy=policy(1.0, wrong))
    with pytest.raises(UsageError, match="a population of 9 cannot"):
        sievert.assess(data, policy=policy(1.0, {"population_size": 9}))


def test_people_in_several_classes_are_no_sample() -> None:
    data = {**table(Random(1), 60), "who": [str(i // 2) for i in range(60)]}
    roles = {**ROLES, "person": "who"}
    del roles["rows_are_people"]
    rules = {**policy(1.0, {"population_size": 600}), "roles": roles}
    found = sievert.assess(data, policy=rules, planned=True, quick=True)
    assert found.planned_met is None and "several classes" in found.verdicts[0].reason
    data["who"] = [str(i) for i in range(60)]
    assert sievert.assess(data, policy=rules, planned=True, quick=True).planned_met is True


def test_suppressed_records_were_drawn_as_well() -> None:
    """A stated size is that of everybody: what is left stands for its part of it."""
    data = table(Random(2), 200)
    kept = [i for i in range(200) if i % 4]
    for column in ("a", "b", "c"):
        data[column] = [v if i % 4 else "*" for i, v in enumerate(data[column])]
    rules = policy(1.0, {"population_size": 2000}, suppressed_records={"max": 50})
    found = sievert.assess(data, policy=rules, quick=True)
    rows = [(data["a"][i], data["b"][i], data["c"][i]) for i in kept]
    assert found.verdicts[0].value == by_definition(rows, 1500)


def test_the_number_is_not_shareable() -> None:
    data = table(Random(3), 2000)
    found = sievert.assess(data, policy=policy(1e-9, {"population_size": 54_321}), quick=True)
    shared = found.share().to_dict()
    assert "population_uniques" not in shared["reidentification"]
    assert shared["policy"]["limits"][0] == {
        "measure": "population_uniques", "where": "reidentification", "min": None, "max": 1e-9,
        "met": False, "value": None, "reason": "suppressed", "reading": None, "impossible": None,
    }  # fmt: skip
    assert "54321" not in json.dumps(shared)


@pytest.mark.parametrize("seed", range(tried(16, soak=300)))
def test_the_search_against_brute_force(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The exact optimum, with and without suppression, whatever else the policy limits."""
    random = Random(f"population {seed}")
    data, share = table(random, random.choice((30, 80))), (0.0, 0.1, 0.3)[seed % 3]
    population = len(data["a"]) * random.choice((2, 10, 50))
    others: dict[str, Any] = random.choice(
        (
            {},
            {"k_anonymity": {"min": 2}},
            {"t_closeness": {"max": 0.7}},
            {"beta_likeness": {"max": 2.0}},
        )
    )
    most = random.choice((0.0, 0.005, 0.02, 0.1))
    rules = policy(most, {"population_size": population}, **others)
    protections = []

    def keep(*given: Any) -> Any:
        protections.append(find(*given))
        return protections[-1]

    find = release_run.find_protection
    monkeypatch.setattr(release_run, "find_protection", keep)
    result = sievert.protect(data, policy=rules, hierarchies=TREES, suppress=share)
    problem, own_policy = protections[0].problem, protections[0].policy
    without = policy(1.0, None, **others)
    del without["limits"]["population_uniques"]
    search, least = problem.search(parse_policy(without)), None
    for node in itertools.product(*(range(c.levels) for c in problem.columns)):
        recoding = search.at(node)
        gone = problem.gone(recoding)
        if problem.combinations.classes.counts[gone].sum() > problem.allowed or gone.all():
            continue
        levels = list(zip("abc", node, strict=True))
        rows = [
            tuple(TREES[c][data[c][i]][n - 1] if n else data[c][i] for c, n in levels)
            for i in range(len(data["a"]))
        ]
        lost = _suppressed(problem, recoding, data)
        kept = [row for row, out in zip(rows, lost, strict=True) if not out]
        within = population * len(kept) // len(rows)
        met = by_definition(kept, max(within, len(kept))) <= most
        met &= all(
            v.met is True
            for v in problem.verdicts(recoding, own_policy)
            if v.measure != "population_uniques"
        )
        if met and (least is None or recoding.loss < least):
            least = recoding.loss
    assert (least is None) == (result.met is not True)
    if least is not None:
        assert result.recoding is not None and result.recoding.proven
        assert result.recoding.loss == pytest.approx(least, rel=1e-9, abs=1e-12)


def _suppressed(problem: Any, recoding: Any, data: dict[str, list[str]]) -> list[bool]:
    """Of every record whether the recoding suppresses it."""
    classes, gone = problem.combinations.classes, problem.gone(recoding)
    place = {
        tuple(classes.values[j][codes[i]] for j, codes in enumerate(classes.codes)): bool(gone[i])
        for i in range(len(gone))
    }
    return [place[row] for row in zip(data["a"], data["b"], data["c"], strict=True)]


def test_a_release_is_written_and_confirmed(tmp_path: Path) -> None:
    data, out = table(Random(4), 200), tmp_path / "r.csv"
    rules = policy(0.005, None, t_closeness={"max": 0.8})
    result = sievert.protect(
        data, policy=rules, hierarchies=TREES, suppress=0.2, out=out, drop=True,
        population_size=2000,
    )  # fmt: skip
    assert result.released and result.met is True
    lines = [",".join(row) for row in zip(*data.values(), strict=True)]
    (tmp_path / "d.csv").write_text("\n".join(["a,b,c,s", *lines]), encoding="utf-8")
    (tmp_path / "p.toml").write_text(
        TOML + "[limits]\npopulation_uniques = { max = 0.01 }\n"
        "[parameters]\npopulation_uniques = { fraction = 0.1 }\n"
    )
    given = [str(tmp_path / "d.csv"), "--policy", str(tmp_path / "p.toml")]
    assert run("protect", *given, "-o", str(tmp_path / "o.csv")) == 0
