"""Count states: whatever was added and taken away, the JSON is that of counting again."""

from __future__ import annotations

import datetime
import json
import math
import shutil
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pytest
from helpers.effort import tried
from helpers.randomtables import case, mark_suppressed
from helpers.roworder import without_order

import sievert
from sievert import session
from sievert.counts.state import segments
from sievert.errors import RefusedError
from sievert.releases import floor as _search_floor

SCHEMA = pa.schema(
    {
        "number": pa.int16(),
        "text": pa.string(),
        "day": pa.date32(),
        "price": pa.float64(),
        "flag": pa.bool_(),
        "moment": pa.timestamp("ms"),
        "cost": pa.decimal128(20, 2),
        "small": pa.float32(),
        "who": pa.string(),
        "other": pa.string(),
    }
)
QUASI, SECRETS = ["number", "text", "flag"], ["price", "day", "moment", "cost", "small"]


def stable(result: Any) -> str:
    """Return the JSON of a result without the order of rows, which a state does not have."""
    found = without_order(result.to_dict())
    if found.get("question") == "planned":  # a state says that it holds counts only
        found["policy"].pop("counts", None)
    return json.dumps(found, sort_keys=True)


def records(random: Random, number: int) -> list[dict[str, Any]]:
    """Records of every type that a state keeps, some missing, some alike."""
    day, made = datetime.date(2020, 2, 28), []
    for _ in range(number):
        values: dict[str, Any] = {
            "number": random.randint(-2, 2),
            "text": random.choice(("a", "A", "", "é", "NA", "*")),
            "day": day + datetime.timedelta(days=random.randint(0, 3)),
            "price": random.choice((-0.0, 0.0, math.nan, 0.1, 1e300, -7.5)),
            "flag": random.random() < 0.3,
            "moment": datetime.datetime(2020, 1, random.randint(1, 3), 1, 2, 3, 456000),
            "cost": Decimal(random.randint(-3, 3)) / 4,
            "small": random.choice((0.1, 2.5, math.nan)),
            "who": f"p{random.randint(0, number // 2)}",
            "other": "x",
        }
        lacking = random.choice([*SCHEMA.names, "other"]) if random.random() < 0.4 else None
        made.append({c: None if c == lacking else v for c, v in values.items()})
    return made


def table(rows: list[dict[str, Any]]) -> pa.Table:
    return pa.Table.from_pylist(rows, SCHEMA)


@pytest.mark.parametrize("seed", range(tried(4, soak=60)))
def test_a_changed_state_is_a_recount(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    random = Random(seed)
    if seed % 4 < 2:  # what is large is counted by packed keys
        monkeypatch.setattr(session, "PACKED_FROM", 0)
        monkeypatch.setattr(session, "LOADING", 0)
    person = "who" if seed % 2 else None
    size = tried(40, soak=150)
    rows, state = records(random, random.randint(2, size)), tmp_path / "state"
    sievert.count(table(rows), QUASI, SECRETS, person=person, out=state, na=("NA",))
    for _ in range(tried(2, soak=5)):
        new = records(random, random.randint(0, size // 2)) or rows[:1]
        gone = random.sample(rows, random.randint(0, len(rows) - 1))
        more = {"compact": random.random() < 0.3, "again": True}  # few records, often alike
        change = sievert.update(state, add=table(new), remove=table(gone) if gone else (), **more)
        assert (change.added, change.removed) == (len(new), len(gone))
        for each in gone:
            rows.remove(each)
        rows += new
        random.shuffle(rows)
        assert change.records == len(rows)
    whole = table(rows)
    assert stable(sievert.assess(state)) == stable(
        sievert.assess(whole, QUASI, SECRETS, person=person, na=("NA",))
    )
    few = random.sample(QUASI, 2)
    options = {"missing": random.choice(("value", "drop")), "attacks": person is None}
    assert stable(sievert.assess(state, few, SECRETS[:2], **options)) == stable(
        sievert.assess(whole, few, SECRETS[:2], na=("NA",), **options)
    )


@pytest.mark.parametrize("seed", range(tried(12, soak=200)))
def test_a_state_is_the_table(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With suppressed records, missing values that match anything, orders and hierarchies."""
    random = Random(seed)
    if seed % 4 < 2:
        monkeypatch.setattr(session, "PACKED_FROM", 0)
        monkeypatch.setattr(session, "LOADING", 0)
    made = mark_suppressed(case(random), random, None if seed % 3 == 0 else "*")
    roles = list(made.quasi), [made.secret]
    options: dict[str, Any] = {
        "missing": random.choice(("value", "wildcard")),
        "keep_suppressed": bool(seed % 2) or made.rows[0]["q0"] in (None, "*"),
        "suppressed": None if seed % 3 == 0 else "*",
        "orders": {"s": made.order},
        "partitions": {"s": made.partition},
        "parameters": {"alpha_k": {"value": made.named}, "recursive_c": {"l": made.l}},
    }
    sievert.count(made.columns, *roles, out=tmp_path / "state")

    def outcome(data: Any) -> str:
        try:
            return stable(sievert.assess(data, *roles, **options))
        except sievert.SievertError as error:
            return str(error)

    assert outcome(tmp_path / "state") == outcome(made.columns)


@pytest.mark.parametrize("person", [None, "who"])
def test_explain_and_protect_take_a_state(person: str | None, tmp_path: Path) -> None:
    random = Random(5)
    data, state = table(records(random, 60)), tmp_path / "state"
    sievert.count(data, QUASI, ["price"], person=person, out=state)
    policy = {"roles": {"rows_are_people": person is None}, "limits": {"k_anonymity": {"min": 3}}}
    for options in ({}, {"policy": policy}):
        ours = sievert.explain(state, QUASI, "price", person=person, **options).to_dict()
        theirs = sievert.explain(data, QUASI, "price", person=person, **options).to_dict()
        assert {entry["record"] for entry in ours["records"]["riskiest"]} == {None}
        assert ours["records"]["reason"] and not theirs["records"]["reason"]
        ours["records"] = theirs["records"] = None  # a state has no order of records
        assert json.dumps(ours, sort_keys=True) == json.dumps(theirs, sort_keys=True)
    roles = QUASI, "price"
    options = {"policy": policy, "person": person, "suppress": 0.2}
    assert stable(sievert.protect(state, *roles, **options)) == stable(
        sievert.protect(data, *roles, **options)
    )
    more: dict[str, Any] = {"policy": policy, "person": person, "explain": True}
    more |= {"trajectory": 2} if person else {"fraction": 0.1}
    assert stable(sievert.assess(state, *roles, **more)) == stable(
        sievert.assess(data, *roles, **more, planned=True)  # a state answers for a plan
    )


def test_parts_add_up_to_the_whole(tmp_path: Path) -> None:
    random = Random(7)
    rows, parts, number = records(random, 100), list[Path](), tried(10, soak=100)
    for at in range(number):
        parts.append(tmp_path / f"part{at}")
        sievert.count(table(rows[at::number]), QUASI, SECRETS, out=parts[-1])
    hundred = parts * (100 // number)
    random.shuffle(hundred)
    sievert.merge(hundred, out=tmp_path / "sum", again=True)
    whole = sievert.assess(table(rows * (100 // number)), QUASI, SECRETS)
    assert stable(sievert.assess(tmp_path / "sum")) == stable(whole)
    most = [tmp_path / "sum", *hundred[3:]]
    less = sievert.merge(most, out=tmp_path / "less", subtract=True, again=True)
    left = [row for path in hundred[:3] for row in rows[int(path.name[4:]) :: number]]
    assert less.records == len(left) == 3 * 100 // number
    assert stable(sievert.assess(tmp_path / "less")) == stable(
        sievert.assess(table(left), QUASI, SECRETS)
    )
    lacking = [tmp_path / "less", *hundred[:4]]
    with pytest.raises(RefusedError, match=r"\d+ records? to take away, but not there"):
        sievert.merge(lacking, out=tmp_path / "none", subtract=True, again=True)
    assert not (tmp_path / "none").exists()


def test_segments_are_put_together_when_they_are_many(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    random, state = Random(3), tmp_path / "state"
    rows = records(random, 100)
    sievert.count(table(rows), QUASI, SECRETS, out=state)
    monkeypatch.setattr(segments, "MOST_SEGMENTS", 3)
    numbers = []
    for at in range(4):
        change = sievert.update(state, remove=table(rows[at * 2 : at * 2 + 2]), again=True)
        numbers.append(len(change.manifest.segments))
        assert stable(sievert.assess(state)) == stable(
            sievert.assess(table(rows[at * 2 + 2 :]), QUASI, SECRETS)
        )
    assert numbers == [2, 3, 1, 2]
    assert len(list(state.glob("part-*"))) == 2  # what was put together is gone
    copy = shutil.copytree(state, tmp_path / "copy")
    assert len(sievert.update(copy, compact=True).manifest.segments) == 1
    assert stable(sievert.assess(copy)) == stable(sievert.assess(state))


@pytest.mark.parametrize("large", [0, 10**9])
def test_a_search_from_a_floor_takes_a_state(
    large: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Combinations that are too many are recoded in the engine, with their weights."""
    random = Random(11)
    data = {
        "a": [random.choice([*map(str, range(9)), None]) for _ in range(200)],
        "b": [str(min(random.randrange(8), random.randrange(8))) for _ in range(200)],
        "s": [random.choice("pqr") for _ in range(200)],
    }
    for name in ("PACKED_FROM", "LOADING"):
        monkeypatch.setattr(session, name, large)
    monkeypatch.setattr("sievert.request.requested.LARGE", large)
    sievert.count(data, ["a", "b"], "s", out=tmp_path / "state")
    monkeypatch.setattr(_search_floor, "MOST_COMBINATIONS", 40)
    options: dict[str, Any] = {
        "policy": {"roles": {"rows_are_people": True}, "limits": {"k_anonymity": {"min": 4}}},
        "hierarchies": {"a": "interval:3,6", "b": "interval:2,4"},
        "suppress": 0.1,
    }
    ours = sievert.protect(tmp_path / "state", ["a", "b"], "s", **options)
    assert ours.floor
    assert stable(ours) == stable(sievert.protect(data, ["a", "b"], "s", **options))
