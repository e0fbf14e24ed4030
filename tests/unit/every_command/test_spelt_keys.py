"""Keys of people that tables spell differently: in `synthetic`, `compare` and `attack`."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

import sievert

SPELT = ("{}", "{}.0", "0{}", "{} ", "+{}")
ATTACKS = ("copies", "unique_copies", "singling_out", "membership", "inference")


def visits(people: int, first: int, seed: int, spelt: tuple[str, ...]) -> dict[str, list[str]]:
    """Three rows of each person, whose number is spelt in one way or in several."""
    random = Random(seed)
    rows = []
    for person in range(first, first + people):
        age = str(random.randint(20, 70))
        for visit in range(3):
            name = spelt[visit % len(spelt)].format(person)
            rows.append((name, age, random.choice("abcd")))
    return {c: [row[at] for row in rows] for at, c in enumerate(("id", "age", "job"))}


def fake(seed: int = 9) -> dict[str, list[str]]:
    drawn = visits(60, 0, seed, ("{}",))
    return {c: drawn[c] for c in ("age", "job")}


def rules(**roles: Any) -> dict[str, Any]:
    own = {"quasi": ["age"], "sensitive": ["job"], "person": "id", **roles}
    every = {name: {"rate": {"max": 1.0}} for name in ATTACKS}
    return {"roles": own, "limits": {"synthetic": every}}


def reasons(judgement: Any) -> dict[str, tuple[bool | None, tuple[str, ...]]]:
    return {each.what: (each.met, each.names) for each in judgement.reasons}


def test_people_of_a_synthetic_table_who_are_spelt_differently_are_undecided() -> None:
    """Rows of one person would count as rows of several: the answer is no yes."""
    own, control = visits(80, 100, 1, ("{}",)), visits(60, 500, 2, ("{}",))
    alike = sievert.synthetic(own, fake(), control, policy=rules())
    assert alike.met is True and "spelt_differently" not in reasons(alike.tables[0].policy)
    ways = visits(80, 100, 1, SPELT[:3])
    respelt = {**own, "id": [*ways["id"][:15], *own["id"][15:]]}  # of five people
    for policy, met in ((rules(), None), (rules(distinct_spellings=["id"]), True)):
        found = sievert.synthetic(respelt, fake(), control, policy=policy)
        assert found.met is met
        assert ("spelt_differently" in reasons(found.tables[0].policy)) is (met is None)
        assert any("15 values of 'id' coincide" in caution for caution in found.cautions)


def test_a_control_with_the_people_of_the_original_under_other_spellings() -> None:
    """They are no strangers, and would hide what the table says of these people."""
    own, control = visits(80, 100, 1, ("{}",)), visits(60, 110, 2, ("0{}",))
    found = sievert.synthetic(own, fake(), control, policy=rules())
    assert found.met is None
    assert reasons(found.tables[0].policy)["spelt_differently"] == (None, ("id",))
    assert found.tables[0].policy.spellings == {"id": 120}


def test_a_synthetic_table_that_spells_values_otherwise_is_undecided() -> None:
    """Copies in capitals are copies all the same, and no attack sees them."""
    own, control = visits(80, 100, 1, ("{}",)), visits(60, 500, 2, ("{}",))
    copies = {c: [*own[c]] for c in ("age", "job")}
    copies["job"] = [job.upper() if row % 2 else job for row, job in enumerate(copies["job"])]
    found = sievert.synthetic(own, copies, control, policy=rules())
    assert found.met is None
    assert reasons(found.tables[0].policy)["spelt_differently"] == (None, ("job",))
    assert any("no attack takes them for copies" in caution for caution in found.cautions)


# -- keys that are said to differ -----------------------------------------------------------------

ORIGINAL = {"id": ["01", "2", "3", "4"], "age": ["20", "30", "40", "50"], "ill": [*"abab"]}
RELEASE = {**ORIGINAL, "id": ["1", "2", "3", "4"]}


@pytest.mark.parametrize(("distinct", "paired"), [([], 4), (["id"], 3)])
def test_keys_that_the_policy_calls_distinct_pair_as_they_are_spelt(
    distinct: list[str], paired: int
) -> None:
    roles = {"quasi": ["age"], "sensitive": ["ill"], "identifier": ["id"], "rows_are_people": True}
    policy = {
        "roles": {**roles, "distinct_spellings": distinct},
        "limits": {"k_anonymity": {"min": 1}},
    }
    compared = sievert.compare(ORIGINAL, RELEASE, policy=policy, key="id")
    assert compared.to_dict()["releases"][0]["records"]["paired"] == paired
    attacked = sievert.attack(RELEASE, original=ORIGINAL, policy=policy, key="id")
    assert attacked.attacks["identity"]["white_box"].details["paired"] == paired
    for result in (compared, attacked):
        said = any("by another spelling only" in caution for caution in result.cautions)
        assert said is (not distinct)
