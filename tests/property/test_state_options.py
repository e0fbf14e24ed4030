"""A state in place of its table: the same JSON with every option of a command, or a refusal."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest
from helpers.effort import tried
from helpers.roworder import without_order

import sievert
from sievert import session
from sievert.errors import SievertError

KEPT = ["zip", "age", "sex", "size"]  # "size" and "home" are numbers of people and households
OTHERS = ["home", "ill", "pay"]
IDENTIFIERS = ["patient_id", "batch"]  # called like one, and named so by a policy
REFUSALS = (  # what a state cannot answer, each in one line
    "is not in the state",
    "a count state has no records",
    "--records needs the records",
    "counted with another --",
    "the state was made without --verify",
)
LIMITS: list[dict[str, Any]] = [
    {"k_anonymity": {"min": 2}},
    {"unique_records": {"max": 0.1}, "average_risk": {"max": 0.3}},
    {"population_uniques": {"max": 0.2}},
    {"l_diversity": {"min": 2}, "guess_gain": {"max": 0.2}},
    {"t_closeness": {"max": 0.3}, "suppressed_records": {"max": 0.5}},
]


def table(random: Random) -> dict[str, list[Any]]:
    """A few records: some missing, some suppressed, some alike, some of the same people."""
    number, lacking = random.randint(2, 30), random.choice((0.0, 0.0, 0.15))

    def column(values: list[Any], share: float = lacking) -> list[Any]:
        return [None if random.random() < share else random.choice(values) for _ in range(number)]

    people = random.choice((number * 100, number, 2))  # hardly anybody twice, some, everybody
    rows: dict[str, list[Any]] = {
        "zip": column(["10", "11", "20", "NA", "21"][: random.randint(1, 5)]),
        "age": column([30, 31, 45, 46, 60]),
        "sex": column(["f", "m"]),
        "size": column([1, 2, 3], 0.0),
        "home": column([f"h{i}" for i in range(number // 2 + 1)], 0.0),
        "ill": column(["flu", "cold", "ache"]),
        "pay": column([1.5, 2.5, float("nan")]),
        "patient_id": column([f"p{i}" for i in range(people)]),
        "batch": column([f"b{i}" for i in range(people)]),
    }
    if random.random() < 0.2:
        for at in range(random.randint(1, number)):
            for name in ("zip", "sex"):
                rows[name][at] = "*"
    return rows


def some(random: Random, every: list[list[dict[str, Any]]], share: float) -> dict[str, Any]:
    """Some of these options, each with one of its values."""
    chosen: dict[str, Any] = {}
    for values in every:
        chosen |= random.choice(values) if random.random() < share else {}
    return chosen


def make_policy(random: Random) -> dict[str, Any]:
    every: list[list[dict[str, Any]]] = [
        [{"identifier": ["patient_id"]}, {"identifier": ["batch"]}, {"identifier": IDENTIFIERS}],
        [{"ignored": {"home": "why"}}, {"ignored": {"size": "why", "home": "why"}}],
        [{"rows_are_people": True}, {"person": "patient_id"}],
    ]
    roles = some(random, every, 0.4)
    if random.random() < 0.5:
        roles |= {"quasi": random.sample(KEPT[:3], 2), "sensitive": random.sample(OTHERS[1:], 1)}
    return {"roles": roles, "limits": random.choice(LIMITS)}


COMMON: list[list[dict[str, Any]]] = [
    [{"missing": "drop"}, {"missing": "wildcard"}, {"missing": "error"}],
    [{"person": "patient_id"}, {"person": "home"}],
    [{"identifier": ["patient_id"]}, {"identifier": ["batch"]}],
    [{"keep_suppressed": True}, {"suppressed": None}, {"suppressed": "NA"}],
    [{"na": ("NA",)}, {"na": ("f",)}, {"types": {"age": "text"}}, {"verify": True}],
    [{"population_size": 100}, {"population_size": 1000}],
]
SAMPLE: list[list[dict[str, Any]]] = [
    [{"fraction": 0.1}, {"population": "times"}],
    [{"weight": "size"}, {"weight": "size", "individual_risk": "approx"}, {"household": "home"}],
    [{"missing": "wildcard", "alpha": 0.5}],
]
OWN: dict[str, list[list[dict[str, Any]]]] = {
    "assess": [
        *SAMPLE,
        [{"person": "patient_id", "trajectory": 1}, {"person": "patient_id", "trajectory": 2}],
        [{"orders": {"ill": ["flu", "cold", "ache"]}}],
        [{"partitions": {"ill": {"a": ["flu", "cold"], "b": ["ache"]}}}],
        [{"hierarchies": {"age": "interval:5,10"}}],
        [{"parameters": {"recursive_c": {"l": 2}, "records_below": {"k": 3}}}],
        [{"measures": ["k_anonymity", "t_closeness"]}, {"measures": ["discrimination_rate"]}],
        [{"attacks": True, "show_values": True}, {"attacks": True, "value": {"ill": "flu"}}],
        [{"quick": True}, {"explain": True}],
        [{"framework": "wp216"}, {"framework": "iso27559"}, {"records": "records.csv"}],
    ],
    "explain": [
        *SAMPLE,
        [{"max_size": 1}, {"max_size": 2}, {"budget": 3}, {"orders": 4, "seed": 7}],
        [{"hierarchies": {"age": "interval:5"}}],
        [{"show_values": True}],
    ],
    "protect": [
        [{"suppress": 0.0}, {"suppress": 0.3}],
        [{"loss": "entropy"}, {"loss": "discernability"}, {"loss": "bits"}],
        [{"weights": {"age": 2.0}}],
        [{"hierarchies": {"age": "interval:5,20"}}],
        [{"levels": {"age": 1}}, {"frontier": True}],
        [{"keep": ["home"]}, {"keep": ["batch"]}],
        [{"how": "full"}, {"how": "local"}, {"how": "microaggregate"}, {"how": "anatomy"}],
        [{"earlier": "release", "key": "patient_id"}, {"earlier": "release", "key": "home"}],
        [{"drop": True}],
    ],
}


def make_options(random: Random, command: str, data: dict[str, list[Any]]) -> dict[str, Any]:
    """Options of a command; some of them do not go together, which both have to say."""
    options = some(random, COMMON, 0.1) | some(random, OWN[command], 0.2)
    if "population" in options:
        options["population"] = {c: v * 3 for c, v in data.items()}
    if "earlier" in options:
        options["earlier"] = [{c: data[c] for c in (options["key"], "zip", "sex")}]
    return options


def outcome(command: str, data: Any, options: dict[str, Any]) -> tuple[dict[str, Any] | None, str]:
    """The JSON, or what is said in place of it; row numbers apart, which a state has none of."""
    try:
        result = getattr(sievert, command)(data, **options).to_dict()
    except SievertError as error:
        return None, str(error)
    result = without_order(json.loads(json.dumps(result)))
    result.pop("records", None)
    return result, ""


def compare(seed: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """One random table, its state, and one command with random options."""
    random = Random(seed)
    if random.random() < 0.5:  # what is large is counted by packed keys
        monkeypatch.setattr(session, "PACKED_FROM", 0)
        monkeypatch.setattr(session, "LOADING", 0)
    data, command = table(random), random.choice(("assess", "assess", "explain", "protect"))
    options = make_options(random, command, data)
    given: dict[str, Any] = {}
    if random.random() < 0.7:
        given = {"quasi": random.sample(KEPT, random.randint(1, 3))}
        given["sensitive"] = random.sample(OTHERS[1:], random.choice((0, 1, 1, 2)))
        if command == "assess" and random.random() < 0.2:
            given["key_sets"] = [given.pop("quasi"), ["zip"]]
    if command == "protect" or random.random() < 0.6:
        options["policy"] = make_policy(random)
    counted = {"na": options["na"]} if "na" in options and random.random() < 0.7 else {}
    wanted = options.get("person", options.get("policy", {}).get("roles", {}).get("person"))
    if random.random() < (0.8 if wanted else 0.2):
        counted["person"] = wanted or random.choice(("patient_id", "home"))
    apart = [c for c in IDENTIFIERS if random.random() < 0.4 and c != counted.get("person")]
    counted |= {"identifier": [c for c in IDENTIFIERS if c not in apart]}
    quasi, sensitive = random.sample(KEPT, random.choice((2, 4, 4, 4))), OTHERS[1:]
    if "records" in options:
        options["records"] = folder / "records.csv"
    sievert.count(data, quasi, sensitive, leave_out=apart, out=folder / "state", **counted)
    of_state = {**options, **given}
    stated = options.get("policy", {}).get("roles", {})
    if not given and not stated.get("quasi"):
        given = {"quasi": quasi, "sensitive": sensitive}
        if {"identifier", "person"} & {*options} or "identifier" in stated:
            of_state |= given  # its roles are those of the state where no roles are given at all
        else:
            given |= {"person": counted.get("person"), "identifier": counted["identifier"]}
    ours, said = outcome(command, folder / "state", of_state)
    if ours is None and any(text in said for text in REFUSALS):
        return "refused"
    if command == "assess" and "policy" in options:
        given["planned"] = True  # a state is no file that could be released: it answers for a plan
    theirs, instead = outcome(command, data, {**options, **given})
    assert said == instead, (seed, command, options, given, apart)
    if ours is None or theirs is None:
        return "error"
    if command == "explain" and apart:  # of which a state has no values to rank
        for each in (ours, theirs):
            each["ranking"] = [e for e in each.get("ranking") or () if e["column"] not in apart]
            each["warnings"] = [w for w in each["warnings"] if "not ranked: the state" not in w]
    if command == "assess" and "policy" in options:
        assert ours["policy"].pop("counts") is True and ours["policy"]["met"] is None
    assert json.dumps(ours) == json.dumps(theirs), (seed, command, options, given, apart)
    return "equal"


def test_a_state_says_what_its_table_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    number, ends = tried(12, soak=3000), list[str]()
    for at in range(number):
        (folder := tmp_path / str(at)).mkdir()
        with monkeypatch.context() as patch:
            ends.append(compare(f"options {at}", folder, patch))
    assert ends.count("equal") > number // 5, {end: ends.count(end) for end in ends}
