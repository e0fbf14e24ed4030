"""Random tables, policies and methods: what is released meets its policy, nothing else is there."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import pytest
from helpers.effort import tried

import sievert
from sievert.commands.protect import writing
from sievert.commands.protect.settings import HOW
from sievert.errors import InputError, UsageError

CHUNKS, TABLES = tried(8, soak=19), 11  # so many tests, each of so many tables
REAL = 1  # tests of few tables whose releases a process of its own confirms, as always
LIMITS: dict[str, tuple[dict[str, float], ...]] = {
    "k_anonymity": ({"min": 1}, {"min": 2}, {"min": 3}),
    "l_diversity": ({"min": 1}, {"min": 2}),
    "entropy_l": ({"min": 1.2},),
    "t_closeness": ({"max": 0.5},),
    "max_confidence": ({"max": 0.7}, {"max": 1.0}),
    "unique_records": ({"max": 0.3},),
    "average_risk": ({"max": 0.5},),
    "discrimination_rate": ({"max": 0.8},),
    "guess_gain": ({"max": 0.5},),
    "beta_likeness": ({"max": 3.0},),
}


def table(random: Random) -> dict[str, list[str | None]]:
    records = random.choice((6, 15, 40))
    draw: dict[str, Any] = {
        "age": lambda: str(random.choice((20, 21, 35, 36, 50))),
        "pay": lambda: f"{random.choice((1, 2, 9)) + random.choice((0, 0, 0.25)):.2f}",
        "town": lambda: random.choice(("01", "02", "13")),
        "ill": lambda: random.choice(("flu", "cold", "gout")),
    }
    columns = {name: [each() for _ in range(records)] for name, each in draw.items()}
    for column in columns.values():
        if random.random() < 0.2:
            column[random.randrange(records)] = None
    return columns


def options(how: str, random: Random) -> dict[str, Any]:
    """Options that a method needs."""
    choices: dict[str, dict[str, Any]] = {
        "full": {"suppress": random.choice((0, 0.1, 0.3)), "drop": random.random() < 0.3},
        "regions": {"suppress": random.choice((0, 0.1, 0.3))},
        "local": {
            "labels": random.choice(("hierarchy", "sets")),
            "suppress": random.choice((0, 0.3)),
        },
        "suppress": {"suppress": random.choice((0, 0.1, 0.3))},
        "microaggregate": {
            "group": random.choice((2, 3, 5)),
            "grouping": random.choice(("mdav", "v-mdav")),
            "gamma": 1.1,
        },
        "noise": {"amount": 0.3, "correlated": random.random() < 0.5},
        "round": {"base": {"age": 20, "pay": 5}, "unbiased": random.random() < 0.5},
        "pram": {"amount": random.choice((0.1, 0.5))},
        "anatomy": {"group": 2},
        "sample": {"fraction": 0.7},
    }
    return choices[how]


def meets(folder: Path, out: Path, how: str, rules: dict[str, Any]) -> bool:
    """Whether a release meets its policy when it is assessed as anybody would."""
    limits, roles = rules["limits"], rules["roles"]
    if how != "anatomy":
        return all(v.met for v in sievert.assess(out, policy=rules, quick=True).verdicts or ())
    record = {m: x for m, x in limits.items() if m in ("k_anonymity", "unique_records")}
    record |= {m: x for m, x in limits.items() if m in ("average_risk", "discrimination_rate")}
    secret = {m: x for m, x in limits.items() if m not in record or m == "discrimination_rate"}
    met = []
    if record:
        joins = {"reason": "joins two tables", "outsiders_cannot_know": True}
        own = {**roles, "sensitive": [], "kept": {"group": joins}}
        rules = {"roles": own, "limits": {"reidentification": record}}
        met.append(sievert.assess(out, policy=rules, quick=True).met)
    if secret:
        rules = {
            "roles": {**roles, "quasi": ["group"]},
            "limits": {"inference": {"ill": secret}},
        }
        met.append(sievert.assess(folder / "r.secrets.csv", policy=rules, quick=True).met)
    return all(met)


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_every_release_meets_its_policy(
    chunk: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    random, released = Random(f"releases {chunk}"), 0
    real = chunk < REAL
    if not real:  # `meets` assesses the file again anyway, in this process
        monkeypatch.setattr(writing, "confirm", lambda *order, **_: [])
    for number in range(3 if real else TABLES):
        folder = tmp_path / str(number)
        folder.mkdir()
        how = random.choice(HOW)
        names = random.sample(list(LIMITS), random.choice((1, 1, 2)))
        quasi = random.choice((["age", "pay"], ["age", "town"], ["age", "pay", "town"]))
        data = {c: x for c, x in table(random).items() if c in (*quasi, "ill")}
        roles = {"quasi": quasi, "sensitive": ["ill"], "rows_are_people": True}
        rules = {"roles": roles, "limits": {m: random.choice(LIMITS[m]) for m in names}}
        given, out = options(how, random), folder / "r.csv"
        given |= {"base": {c: n for c, n in given.get("base", {}).items() if c in quasi}}
        try:
            result = sievert.protect(
                data, policy=rules, how=how, out=out, seed=random.randrange(9), **given
            )
        except (UsageError, InputError):  # a group too large, a secret too frequent
            assert how in ("anatomy", "microaggregate") and not list(folder.iterdir())
            continue
        assert out.exists() is result.released is (result.met is True)
        if not result.released:
            assert not list(folder.iterdir())
            continue
        released += 1
        assert meets(folder, out, how, rules), (how, rules)
    assert released or real
