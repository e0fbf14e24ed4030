"""Limits on the suppressed records as a class of their own, against an independent oracle."""

from __future__ import annotations

import math
from pathlib import Path
from random import Random
from typing import Any

import pytest
from helpers.effort import tried
from helpers.randomtables import Case, case, mark_suppressed
from helpers.suppressedoracle import suppressed_class

import sievert
from sievert.measures import BY_ID, MEASURES

CHUNKS = 8
NOT_OF_A_CLASS = {  # a class has a share in them that depends on its size: numbers of the table
    *("itpr", "itpr_unnormalized", "maximum_information_leakage"),
    *("lowest_risk", "largest_class"),  # of the best protected people, not of the worst
}


def test_every_measure_of_the_worst_class_is_judged() -> None:
    """A measure that is the worst number of any class can be judged on one class."""
    worst = {m.id for m in MEASURES if "max_q" in m.formula or "min_q" in m.formula}
    judged = {m.id for m in MEASURES if m.of_class}
    in_other_words = {"unique_records", "highest_risk", "records_below", "enhanced_beta_likeness"}
    assert worst - judged == NOT_OF_A_CLASS & worst
    assert judged - worst == in_other_words
    assert not judged & NOT_OF_A_CLASS


def limits_near(numbers: dict[str, list[Any]], random: Random) -> dict[str, dict[str, float]]:
    """A limit on each measure, a little on either side of its number."""
    limits = {}
    for name, given in numbers.items():
        readings = [min(x) for x in given] if name == "enhanced_beta_likeness" else given
        measure, finite = BY_ID[name], [n for n in readings if n is not None and n < math.inf]
        number = float(random.choice(finite)) if finite else 1.0
        number *= random.choice((0.8, 1.25))
        low = measure.low or 0.0
        high = math.inf if measure.high is None else measure.high
        side = "min" if measure.riskier == "low" else "max"
        limits[name] = {side: min(max(number, low), high)}
    return limits


def expected(name: str, readings: list[Any], limit: dict[str, float]) -> bool | None:
    """Whether every reading keeps the limit."""
    if name == "enhanced_beta_likeness":  # one number for each value, the bound of each beside it
        return all(gain <= min(limit["max"], cap) + 1e-12 for gain, cap in readings)
    if None in readings:
        return None
    if "min" in limit:
        return all(n >= limit["min"] for n in readings)
    if name == "recursive_c":
        return all(n < limit["max"] for n in readings)
    return all(n <= limit["max"] for n in readings)


def check(c: Case, random: Random, mark: str | None, person: str | None = None, **how: Any) -> int:
    """Compare the verdicts of an assessment with the oracle; how many there were."""
    ladder = {s: labels for s, labels in c.ladder.items() if s is not None}
    settings = {"order": c.order, "ladder": ladder, "l": c.l, "named": c.named}
    present = {row[c.secret] for row in c.rows}
    if c.named not in present:
        settings["named"] = None
    numbers: dict[str, Any] | None = suppressed_class(
        c.rows, c.quasi, c.secret, mark=mark, person=person, **settings
    )
    assert numbers is not None
    limits = limits_near(numbers, random)
    of_records = {m: x for m, x in limits.items() if BY_ID[m].kinds == ("record",)}
    of_secret = {m: x for m, x in limits.items() if "secret" in BY_ID[m].kinds}
    parameters: dict[str, Any] = {"recursive_c": {"l": c.l}}
    if settings["named"] is not None:
        parameters["alpha_k"] = {"value": {c.secret: settings["named"]}}
    policy = {
        "roles": {
            "quasi": list(c.quasi),
            "sensitive": [c.secret],
            **({"rows_are_people": True} if person is None else {"person": person}),
        },
        "limits": {"reidentification": of_records, "inference": {c.secret: of_secret}},
        "orders": {c.secret: list(c.order)},
        "parameters": parameters,
    }
    found = sievert.assess(
        c.columns,
        policy=policy,
        hierarchies={c.secret: sievert.Hierarchy(ladder)},
        suppressed=mark,
        quick=True,
        **how,
    )
    lines = {v.measure: v for v in found.verdicts or () if v.scope == "suppressed"}
    constant = len(present) == 1 or (None in present and len(present) == 2)
    for name, readings in numbers.items():
        line, limit = lines.pop(name), limits[name]
        met = expected(name, readings, limit)
        if constant and "secret" in BY_ID[name].kinds and name in ("confidence_gain",):
            continue  # of a constant secret nothing is met
        assert line.met is met, (name, line, readings, limit)
        if line.value is not None and name != "enhanced_beta_likeness":
            assert any(
                n is not None and math.isclose(line.value, n, rel_tol=1e-9, abs_tol=1e-12)
                for n in readings
            ), (name, line, readings)
    assert not lines
    return len(numbers)


def table(random: Random, mark: str | None) -> Case | None:
    """A random table with suppressed records, and others; None where all are suppressed."""
    c = mark_suppressed(case(random), random, mark)
    rows = [all(row[q] == mark for q in c.quasi) for row in c.rows]
    return None if all(rows) else c


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_the_verdicts_are_those_of_the_oracle(chunk: int) -> None:
    judged = 0
    for number in range(tried(12, 150)):
        random = Random(f"suppressed {chunk} {number}")
        mark = random.choice(("*", "*", "hidden", None))
        if (c := table(random, mark)) is not None:
            judged += check(c, random, mark)
    assert judged > 50


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_people_with_several_rows(chunk: int) -> None:
    """The class is counted in people, and so is the base."""
    judged = 0
    for number in range(tried(12, 150)):
        random = Random(f"suppressed people {chunk} {number}")
        if (c := table(random, "*")) is None:
            continue
        size = len(next(iter(c.columns.values())))
        who = [random.choice(("p1", "p2", "p3", "p4", "p5", None)) for _ in range(size)]
        people = c.with_rows([{**row, "who": w} for row, w in zip(c.rows, who, strict=True)])
        whole = {**people.columns, "who": who}
        judged += check(
            Case(whole, c.quasi, c.secret, c.order, c.ladder, c.partition, c.l, c.named),
            random,
            "*",
            "who",
        )
    assert judged > 50


def test_a_large_table_is_judged_as_a_small_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Other code counts the other records; the class is the same."""
    monkeypatch.setattr("sievert.session.SMALL", 0)
    for number in range(tried(10, 60)):
        random = Random(f"suppressed sql {number}")
        if (c := table(random, "*")) is not None:
            check(c, random, "*")


@pytest.mark.parametrize("how", ["full", "local", "suppress"])
def test_a_release_that_keeps_its_suppressed_records_is_judged_as_its_file(
    how: str, tmp_path: Path
) -> None:
    """What protect says of the class from counts is what assess says of the file."""
    kept = 0
    for number in range(tried(12, 60)):
        random = Random(f"kept {how} {number}")
        rows = random.randint(20, 60)
        data = {
            "age": [str(random.randint(20, 60)) for _ in range(rows)],
            "s": [random.choice(("u", "v", "w")) for _ in range(rows)],
        }
        policy = {
            "roles": {"quasi": ["age"], "sensitive": ["s"], "rows_are_people": True},
            "hierarchies": {"age": "interval:5,10,20"},
            "protect": {"suppress": 0.4},
            "limits": {
                "reidentification": {
                    "k_anonymity": {"min": random.choice((2, 3, 4))},
                    "suppressed_records": {"max": int(0.4 * rows)},
                },
                "inference": {"s": {"l_diversity": {"min": 2}, "t_closeness": {"max": 0.6}}},
            },
        }
        out = tmp_path / "r.csv"
        made = sievert.protect(data, policy=policy, how=how, out=out, force=True)
        if made.suppressed_rows is None or not made.released:
            continue
        found = sievert.assess(out, policy=policy, quick=True)
        own = [v for v in found.verdicts or () if v.scope == "suppressed"]
        assert own == [v for v in made.policy.verdicts if v.scope == "suppressed"]
        text = out.read_text().splitlines()
        gone = sum(line.startswith("*,") for line in text)
        assert found.met is True
        if made.suppressed_rows == "dropped":
            assert gone == 0 and len(text) - 1 == rows - made.suppressed_records
        else:
            assert gone == made.suppressed_records and own
            assert all(v.met is True for v in own)
            kept += 1
    assert kept or how != "full"
