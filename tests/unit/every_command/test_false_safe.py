"""Attempts to make a gate say that a release is safe: none may end with a policy that is met.

Each attempt is a table and a policy that a hurried or a cunning user could write. A mistake is an
error (exit 2), everything else *not met* or *undecided* (exit 1).
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from typing import Any

import pytest
from helpers.commandline import run
from helpers.effort import tried
from helpers.randomtables import case
from helpers.recoding import random_table, recode

import sievert
from sievert import sharing
from sievert.errors import InputError, UsageError

Table = dict[str, list[Any]]
N = 40


def table() -> Table:
    """Forty people in four classes of ten; the secret has three values in every class."""
    return {
        "zip": [str(i // 10) for i in range(N)],
        "ill": [["flu", "hiv", "cold"][i % 3] for i in range(N)],
    }


def in_random_order(columns: Table) -> Table:
    """The rows in an order that tells nothing."""
    rows = list(zip(*columns.values(), strict=True))
    Random(5).shuffle(rows)
    return dict(zip(columns, map(list, zip(*rows, strict=True)), strict=True))


def policy(**limits: Any) -> dict[str, Any]:
    return {
        "roles": {"quasi": ["zip"], "sensitive": ["ill"]},
        "limits": limits or {"k_anonymity": {"min": 5}, "l_diversity": {"min": 2}},
    }


def with_roles(**roles: Any) -> dict[str, Any]:
    whole = policy()
    return {**whole, "roles": {**whole["roles"], **roles}}


def test_the_honest_case_is_met() -> None:
    """Else nothing below would show anything."""
    found = sievert.assess(table(), policy=policy())
    assert found.met is True and found.passed and found.to_dict()["policy"]["reasons"] == []
    whole = {**table(), "batch": [i % 7 for i in range(N)]}
    own = with_roles(ignored={"batch": "not released"})
    assert sievert.assess(whole, policy=own, planned=True).planned_met is True


# -- roles ----------------------------------------------------------------------------------------


def reasons(found: sievert.Assessment) -> dict[str, tuple[Any, list[str]]]:
    return {r["what"]: (r["met"], r["names"]) for r in found.to_dict()["policy"]["reasons"]}


def test_a_column_without_a_role() -> None:
    whole = {**table(), "age": [str(i) for i in range(N)], "income": list(range(N))}
    found = sievert.assess(whole, policy=policy())
    assert found.met is False
    assert reasons(found) == {"columns_without_role": (False, ["age", "income"])}
    for text in (repr(found), found._repr_html_(), json.dumps(found.to_dict())):
        assert "age" in text and "income" in text and "have no role" in text


@pytest.mark.parametrize("role", ["person", "household", "weight"])
def test_other_roles_are_roles(role: str) -> None:
    whole = {**table(), "x": list(range(N))}
    found = sievert.assess(whole, policy=with_roles(**{role: "x"}))
    assert "columns_without_role" not in reasons(found)
    assert found.to_dict()["roles"][role] == "x"
    assert found.to_dict()["roles"]["unassessed"] == []


def test_q_on_the_command_line_that_leaves_a_column_of_the_policy_out() -> None:
    whole = {**table(), "age": [str(i) for i in range(N)]}
    strict = policy()
    strict["roles"]["quasi"] = ["zip", "age"]
    assert sievert.assess(whole, policy=strict).met is False  # everybody is unique
    found = sievert.assess(whole, "zip", policy=strict)
    assert found.met is False and reasons(found) == {"quasi_left_out": (False, ["age"])}
    words = "The roles given here leave out age, which the policy counts as quasi-identifiers."
    assert words in " ".join(repr(found).split())


@pytest.mark.parametrize("role", ["identifier", "sensitive"])
def test_a_quasi_identifier_of_the_policy_given_another_role(role: str) -> None:
    whole = {**table(), "age": [str(i) for i in range(N)]}
    strict = policy(k_anonymity={"min": 5})
    strict["roles"]["quasi"] = ["zip", "age"]
    given = {"quasi": "zip", "sensitive": ["ill"], "identifier": []}
    given[role] = [*given[role], "age"]
    found = sievert.assess(whole, **given, policy=strict)
    stays = {"file_holds": (False, ["age"])} if role == "identifier" else {}
    assert found.met is False and reasons(found) == {"roles_replaced": (False, ["age"]), **stays}


def test_a_column_of_lists_has_no_role_either() -> None:
    """What cannot be measured is in the file all the same."""
    pyarrow = pytest.importorskip("pyarrow")
    whole = pyarrow.table({**table(), "visits": [[i, i + 1] for i in range(N)]})
    found = sievert.assess(whole, policy=policy())
    assert found.met is False and reasons(found) == {"columns_without_role": (False, ["visits"])}


def test_codes_for_missing_are_said() -> None:
    found = sievert.assess(table(), policy=policy(), na=["9"])
    assert found.policy is not None and "codes count as missing" in str(found.policy.rests_on)


def test_an_identifier_of_the_policy_left_out() -> None:
    whole = {**table(), "name": list(range(N)), "id": list(range(N))}
    own = with_roles(identifier=["name", "id"])
    assert sievert.assess(whole, policy=own, planned=True).planned_met is True
    found = sievert.assess(whole, identifier="id", policy=own, planned=True)
    assert found.planned_met is False
    assert reasons(found) == {"columns_without_role": (False, ["name"])}


def test_a_secret_of_the_policy_left_out() -> None:
    found = sievert.assess(table(), "zip", [], policy=policy(k_anonymity={"min": 5}))
    assert found.met is False and reasons(found) == {"secrets_left_out": (False, ["ill"])}


def test_roles_on_the_command_line_do_not_cover_the_rest() -> None:
    whole = {**table(), "age": [str(i) for i in range(N)]}
    for roles in ({}, {"quasi": [], "sensitive": []}):
        empty = {"roles": roles, "limits": policy()["limits"]}
        found = sievert.assess(whole, "zip", "ill", policy=empty)
        assert found.met is False and reasons(found)["columns_without_role"][1] == ["age"]
    with pytest.raises(UsageError, match="no quasi-identifiers"):
        sievert.assess(whole, policy={"roles": {}, "limits": policy()["limits"]})


def test_a_role_for_a_column_that_is_not_there() -> None:
    for role in ({"person": "age"}, {"quasi": ["zip", "age"]}, {"sensitive": ["ill", "age"]}):
        with pytest.raises(UsageError, match="'age' does not exist"):
            sievert.assess(table(), policy=with_roles(**role))
    with pytest.raises(UsageError, match="'age' does not exist"):  # it was typed
        sievert.assess(table(), identifier="age", policy=policy())


def test_a_dropped_column_that_a_release_lacks() -> None:
    """The policy of the original is that of its release, which has no identifiers."""
    for role in ({"ignored": {"age": "x"}}, {"identifier": ["age"]}):
        found = sievert.assess(table(), policy=with_roles(**role))
        plain = sievert.assess(table(), policy=policy())
        assert found.met is plain.met is True
        assert any("not here: 'age'" in note for note in found.warnings)
        assert not found.roles.identifier and not found.roles.ignored


def test_a_misspelt_role_leaves_the_column_without_one() -> None:
    """A name that is not there opens nothing: the column that was meant closes the gate."""
    whole = {**table(), "age": [str(i) for i in range(N)]}
    for role in ({"ignored": {"agee": "x"}}, {"identifier": ["Age"]}):
        found = sievert.assess(whole, policy=with_roles(**role))
        assert found.met is False
        assert reasons(found)["columns_without_role"][1] == ["age"]


def test_ignoring_without_a_reason() -> None:
    whole = {**table(), "age": [str(i) for i in range(N)]}
    for words in ("", " ", "say why", "TODO: say why"):  # the last two as a suggestion puts it
        with pytest.raises(UsageError, match="no reason"):
            sievert.assess(whole, policy=with_roles(ignored={"age": words}))


def test_a_column_that_is_ignored_by_the_policy_and_measured_here() -> None:
    whole = {**table(), "age": [str(i) for i in range(N)]}
    found = sievert.assess(whole, ["zip", "age"], policy=with_roles(ignored={"age": "x"}))
    assert found.met is False and dict(found.roles.ignored) == {}
    assert found.reidentification["k_anonymity"].value == 1


def test_a_person_is_not_counted_as_rows() -> None:
    """Whoever names the person wants people counted: rows do not stand in for them."""
    whole = {**table(), "who": [i // 5 for i in range(N)]}
    found = sievert.assess(whole, policy=with_roles(person="who"))
    assert found.met is not True


def twice() -> Table:
    """Every row is written twice, with the identifier of its person."""
    whole = {**table(), "patient_id": list(range(N))}
    return {c: [v for v in values for _ in range(2)] for c, values in whole.items()}


def test_rows_that_the_policy_calls_people_share_an_identifier(tmp_path: Path) -> None:
    """Every row written twice turns k = 10 into 20; the policy states it, and a caution says so."""
    own = with_roles(identifier=["patient_id"], rows_are_people=True)
    own["limits"]["k_anonymity"]["min"] = 15
    once = {c: v[::2] for c, v in twice().items()}
    assert sievert.assess(once, policy=own, planned=True).planned_met is False
    found = sievert.assess(twice(), policy=own, planned=True)
    assert found.planned_met is True and not reasons(found)
    (caution,) = found.cautions
    assert "'patient_id'" in caution
    for text in (repr(found), sievert_page(found)):
        shown = " ".join(text.replace("\\_", "_").split())
        assert "patient_id" in shown and "Caution" in shown and "one row each" not in shown
    person = with_roles(person="patient_id")
    whole = sievert.assess(twice(), policy=person, planned=True)
    assert whole.planned_met is True  # ten people in each class
    data, path = write(tmp_path / "t.csv", twice()), tmp_path / "p.toml"
    stated = "identifier = ['patient_id']\nrows_are_people = true\n"
    path.write_text(f"{ROLES}{stated}[limits]\nk_anonymity = {{ min = 15 }}\n")
    (gap,) = sievert.check_policy(path, data).gaps
    assert (gap.what, gap.name) == ("people_unstated", "patient_id")
    assert "rows are people, but rows share the identifier" in gap.text


@pytest.mark.parametrize(
    "name", ["customer", "AccountNo", "member", "Kundennummer", "contract_number", "case_no"]
)
def test_people_by_other_names(name: str) -> None:
    whole = {**table(), name: [i // 5 for i in range(N)]}
    found = sievert.assess(whole, policy=with_roles(ignored={name: "technical"}))
    assert found.met is False and "identifier_repeats" in reasons(found)
    assert name in repr(found)


@pytest.mark.parametrize("state", [True, False])
def test_a_file_that_holds_what_must_not_be_released(state: bool) -> None:
    """A file that holds names was called publishable, because they are 'to be dropped'."""
    whole = {**table(), "name": list(range(N)), "batch": [i % 7 for i in range(N)]}
    own = with_roles(identifier=["name"], ignored={"batch": "not released"})
    own["limits"]["k_anonymity"]["min"] = 5 if state else 11
    found = sievert.assess(whole, policy=own)
    assert found.met is False and not found.passed
    assert reasons(found) == {"file_holds": (False, ["name", "batch"])}
    first, without = (
        "No: the file still holds name and batch.",
        "Without them, both limits are met.",
    )
    if not state:
        without = "Without them, the policy is not met either. 1 of its 2 limits is breached"
    for text in (repr(found), sievert_page(found), found._repr_html_(), repr(found.share())):
        shown = " ".join(text.replace("&nbsp;", " ").split())
        assert first in shown and without in shown
    plan = sievert.assess(whole, policy=own, planned=True)
    assert plan.met is None and plan.planned_met is state and plan.passed is state
    would = "would" if state else "would not"
    for text in (repr(plan), sievert_page(plan), plan._repr_html_(), repr(plan.share())):
        shown = " ".join(text.replace("&nbsp;", " ").split())
        assert f"A release without name and batch {would} meet the policy." in shown
        assert "Yes" not in shown


@pytest.mark.parametrize("roles", [[], ["-q", "sex"], ["-q", "sex", "-s", "year"]])
def test_a_first_line_that_is_a_record_is_not_repeated(
    roles: list[str], tmp_path: Path, capfd: Any
) -> None:
    data = tmp_path / "t.csv"
    data.write_text("Alice,2001-02-03,f\nBob,2002-04-05,m\n")
    assert run("assess", str(data), *roles) == 2
    said = capfd.readouterr().err
    assert "--no-header" in said and not any(value in said for value in ("Alice", "2001", "Bob"))


def test_a_column_with_two_roles() -> None:
    """In a policy, and on the command line under a policy, it is a mistake."""
    with pytest.raises(UsageError, match="one role only"):
        sievert.assess(table(), policy=with_roles(quasi=["zip", "ill"]))
    with pytest.raises(UsageError, match="one role only"):
        sievert.assess(table(), ["zip", "ill"], policy=policy())
    whole = {**table(), "id": list(range(N))}
    for roles in (
        {"identifier": ["id"], "person": "id"},
        {"identifier": ["id"], "dropped": ["id"]},
        {"dropped": ["id"], "ignored": {"id": "a number"}},
        {"kept": {"id": "to join visits"}, "weight": "id"},
    ):
        with pytest.raises(UsageError, match="one role only"):
            sievert.assess(whole, policy=with_roles(**roles))
    for mistake in ({"identifier": "id", "person": "id"}, {"identifier": "ill"}):
        with pytest.raises(UsageError, match="role"):
            sievert.assess(whole, policy=policy(), **mistake)
    found = sievert.assess(table(), ["zip", "ill"], "ill")  # without a policy a remark says so
    assert any("both quasi-identifier and secret" in w for w in found.warnings)


# -- limits ---------------------------------------------------------------------------------------


TOOTHLESS: dict[str, Any] = {
    "k_anonymity": {"min": 1},
    "unique_records": {"max": 1},
    "average_risk": {"max": 1.0},
    "l_diversity": {"min": 1},
    "t_closeness": {"max": 1},
    "records_below": {"max": 0},
}


@pytest.mark.parametrize("measure", TOOTHLESS)
def test_a_limit_that_no_table_can_breach(measure: str, tmp_path: Path) -> None:
    unique = {**table(), "zip": [str(i) for i in range(N)]}
    own = policy(**{measure: TOOTHLESS[measure]})
    text = f"{ROLES}[limits]\n{measure} = {json.dumps(TOOTHLESS[measure]).replace(':', '=')}\n"
    text = text.replace('"', "")
    if measure == "records_below":
        own["parameters"] = {"records_below": {"k": 1}}
        text += "[parameters]\nrecords_below = { k = 1 }\n"
    found = sievert.assess(unique, policy=own)
    assert f"no table can breach the limit on {measure}" in " ".join(found.warnings)
    (tmp_path / "p.toml").write_text(text)
    gaps = sievert.check_policy(tmp_path / "p.toml", unique).gaps
    assert [(gap.what, gap.name) for gap in gaps] == [("harmless_side", measure)]


def test_a_secret_without_a_limit_is_said() -> None:
    found = sievert.assess(table(), policy=policy(k_anonymity={"min": 5}))
    assert found.met is True
    assert any("no limit on the secret 'ill'" in w for w in found.warnings)
    assert not any("no limit on" in w for w in sievert.assess(table(), policy=policy()).warnings)


def test_a_named_value_that_does_not_occur(tmp_path: Path) -> None:
    """A misspelt HIV has a confidence of 0 in every class."""
    own = policy(alpha_k={"max": 0.1}, k_anonymity={"min": 5})
    assert sievert.assess(table(), policy=own).met is False
    for named in ("HIV", {"ill": "HIV"}):
        own["parameters"] = {"alpha_k": {"value": named}}
        found = sievert.assess(table(), policy=own)
        assert found.met is None
        assert {v.measure: v.met for v in found.verdicts or ()}["alpha_k"] is None
    own.pop("parameters")
    given = {"alpha_k": {"value": {"ill": "HIV"}}}
    assert sievert.assess(table(), policy=own, parameters=given).met is None
    text = "[limits.inference.ill]\nalpha_k = { max = 0.1 }\n"
    text += "[parameters]\nalpha_k = { value = 'HIV' }\n"
    (tmp_path / "p.toml").write_text(ROLES + text)
    (gap,) = sievert.check_policy(tmp_path / "p.toml", table()).gaps
    assert (gap.what, gap.name) == ("undecidable_limits", "alpha_k")
    (tmp_path / "p.toml").write_text(
        f"{ROLES}[orders]\nill = ['flu', 'hiv']\n[limits]\nt_closeness_ordered = {{ max = 0.5 }}\n"
    )
    (gap,) = sievert.check_policy(tmp_path / "p.toml", table()).gaps
    assert "lacks 1 value" in gap.text


def test_a_policy_without_limits() -> None:
    for limits in ({}, {"reidentification": {}}, {"inference": {"ill": {}}}):
        bare = {"roles": policy()["roles"], "limits": limits}
        found = sievert.assess(table(), policy=bare)
        assert found.met is None and reasons(found) == {"no_limits": (None, [])}


def test_a_limit_in_the_wrong_direction() -> None:
    found = sievert.assess({**table(), "zip": [str(i) for i in range(N)]}, policy=policy(
        k_anonymity={"max": 5}, max_confidence={"min": 0.1}))  # fmt: skip
    assert found.met is None
    assert reasons(found) == {"harmless_side": (None, ["k_anonymity", "max_confidence"])}


@pytest.mark.parametrize(
    "limits",
    [
        {"k_anonimity": {"min": 5}},
        {"reidentification": {"k_anon": {"min": 5}}},
        {"k_anonymity": {"minimum": 5}},
        {"k_anonymity": {"min": float("nan")}},
        {"k_anonymity": {"min": float("-inf")}},
        {"max_confidence": {"max": float("inf")}},
        {"max_confidence": {"max": 80}},
        {"k_anonymity": {"min": -5}},
        {"t_closeness": {"max": -0.1}},
        {"k_anonymity": {}},
        {"k_anonymity": 5},
        {"k_anonymity": {"min": True}},
        {"discrimination_rate_of_value": {"max": 0.5}},
        {"inference": {"il": {"l_diversity": {"min": 2}}}},
        {"inference": {"ill": {"k_anonymity": {"min": 2}}}},
        {"reidentification": {"l_diversity": {"min": 2}}},
        {"t_closeness_ordered": {"max": 1.0}},  # no order is given
        {"semantic_discrimination_rate": {"max": 1.0}},  # nor a partition
    ],
)
def test_a_limit_that_makes_no_sense_is_an_error(limits: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        sievert.assess(table(), policy=policy(**limits))


def test_limits_beside_their_table() -> None:
    """[reidentification] instead of [limits.reidentification] was read as if it were not there."""
    beside = {**policy(l_diversity={"min": 2}), "reidentification": {"k_anonymity": {"min": 50}}}
    with pytest.raises(UsageError, match=r"\[limits.reidentification\]"):
        sievert.assess(table(), policy=beside)


def test_a_limit_on_a_measure_that_was_not_computed() -> None:
    with pytest.raises(UsageError, match="not among the numbers"):
        sievert.assess(table(), policy=policy(), measures=["k_anonymity"])


def test_a_limit_that_one_of_two_secrets_lacks_an_order_for() -> None:
    """It was held against the ordered secret, and the other passed unseen."""
    whole = {**table(), "pay": [i % 3 for i in range(N)]}
    both = policy(t_closeness_ordered={"max": 1.0})
    both["roles"]["sensitive"] = ["ill", "pay"]
    found = sievert.assess(whole, policy=both)
    assert found.met is None
    states = {v.where: (v.met, v.reason) for v in found.verdicts or ()}
    assert states["inference.pay"] == (True, None)
    assert states["inference.ill"] == (None, "it needs an order of the values")
    assert found.inference["pay"]["t_closeness_ordered"].details["order"] != "given"
    assert any("no order is given" in w for w in found.warnings)


def test_settings_of_the_policy_replaced_by_weaker_ones() -> None:
    """recursive_c with l = 1 instead of 3, or a partition that hides what is shared."""
    limits = policy(recursive_c={"max": 1.5}, semantic_discrimination_rate={"max": 0.9})
    limits["parameters"] = {"recursive_c": {"l": 2}}
    limits["partitions"] = {"ill": {"grave": ["hiv"]}}
    own = sievert.assess(table(), policy=limits)
    assert own.met is True
    assert sievert.assess(table(), policy=limits, parameters={"recursive_c": {"l": 2}}).met is True
    weaker = sievert.assess(table(), policy=limits, parameters={"recursive_c": {"l": 1}})
    assert weaker.met is False
    assert reasons(weaker) == {"settings_replaced": (False, ["recursive_c"])}
    other = {"ill": {"any": ["hiv", "flu"]}}
    found = sievert.assess(table(), policy=limits, partitions=other)
    assert found.met is False and reasons(found)["settings_replaced"][1] == ["ill"]


# -- numbers that are not there -------------------------------------------------------------------


def test_an_undefined_measure_is_undecided() -> None:
    whole = {"zip": ["1"] * N, "pay": [None, *range(N - 1)]}
    limits = {"t_closeness_ordered": {"max": 1.0}, "k_anonymity": {"min": 5}}
    roles = {"quasi": ["zip"], "sensitive": ["pay"]}
    found = sievert.assess(whole, policy={"roles": roles, "limits": limits})
    assert found.met is None
    assert {v.measure: v.met for v in found.verdicts or ()} == {
        "k_anonymity": True,
        "t_closeness_ordered": None,
    }


def test_one_record() -> None:
    limits = {"reidentification": {"separation": {"max": 1.0}}}
    found = sievert.assess({"zip": ["1"]}, "zip", policy={"limits": limits})
    assert found.met is None


def test_no_record_at_all(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("zip,ill\n")
    with pytest.raises(InputError):
        sievert.assess(tmp_path / "t.csv", policy=policy())
    with pytest.raises(InputError):
        sievert.assess({"zip": [], "ill": []}, policy=policy())


def secret_gains() -> dict[str, Any]:
    return policy(
        k_anonymity={"min": 5}, confidence_gain={"max": 0.9}, guess_gain={"max": 0.9},
        mutual_information={"max": 9.0},
    )  # fmt: skip


@pytest.mark.parametrize(
    "values",
    [["hiv"] * N, [None] * N, ["hiv" if i % 2 else None for i in range(N)]],
    ids=["one value", "all missing", "one value and missing"],
)
def test_a_constant_secret(values: list[Any]) -> None:
    """Everybody whose value is known has the same: no gain, and nothing is hidden either."""
    found = sievert.assess({**table(), "ill": values}, policy=secret_gains())
    assert found.met is False
    gain = found.inference["ill"]["confidence_gain"]
    assert gain.value == 0 and gain.reason == "H(X) = 0"
    breached = {v.measure for v in found.verdicts or () if v.met is False}
    assert breached == {"confidence_gain", "guess_gain"}


def test_missing_secrets_are_no_diversity() -> None:
    """In each class one value and as many missing: half sure, but of those known, certain."""
    values = [None if i % 2 else f"ill {i // 10}" for i in range(N)]
    for limits in (
        {"l_diversity": {"min": 2}},
        {"entropy_l": {"min": 2}},
        {"entropy_l_diversity": {"max": 0.5}},
        {"recursive_c": {"max": 1}},
        {"max_confidence": {"max": 0.5}},
        {"confidence_gain": {"max": 0.5}},
        {"guess_gain": {"max": 0.6}},
    ):
        if "entropy_l_diversity" in limits:
            limits = {"inference": {"ill": limits}}
        found = sievert.assess({**table(), "ill": values}, policy=policy(**limits))
        (verdict,) = found.verdicts or ()
        assert verdict.reading == "without missing secrets" and found.met is False, limits
    unbounded = sievert.assess({**table(), "ill": values}, "zip", "ill").inference["ill"]
    assert unbounded["recursive_c"].value == 1.0
    assert unbounded["recursive_c"].details["without_missing_reason"] == "unbounded"


@pytest.mark.parametrize("how", ["full", "local"])
@pytest.mark.parametrize(
    "limits",
    [
        {"entropy_l": {"min": 1.5}},
        {"recursive_c": {"max": 3}},
        {"confidence_gain": {"max": 0.6}},
        {"alpha_k": {"max": 0.6}},
    ],
    ids=str,
)
def test_releases_hold_limits_without_missing_secrets(how: str, limits: dict[str, Any]) -> None:
    """A class holds a limit by its known secrets too: methods that make classes know it."""
    random = Random(7)
    ages = [random.randrange(60) for _ in range(N)]
    ill = [random.choice(("flu", "hiv", "cold", None)) for _ in range(N)]
    rules = {
        "roles": {"quasi": ["age"], "sensitive": ["ill"], "rows_are_people": True},
        "limits": {"k_anonymity": {"min": 2}, **limits},
        "hierarchies": {"age": "interval:5,10,20"},
        "protect": {"suppress": 0.4},
    }
    made = sievert.protect({"age": ages, "ill": ill}, policy=rules, how=how)
    assert made.met is True
    for verdict in made.policy.verdicts:
        assert verdict.met, verdict


# -- missing keys under each reading --------------------------------------------------------------


def with_missing_keys() -> Table:
    """Unique people, and five rows without any key, which match everybody."""
    return {
        "zip": [*map(str, range(N - 5)), *[None] * 5],
        "age": [*map(str, range(N - 5)), *[None] * 5],
        "ill": table()["ill"],
    }


@pytest.mark.parametrize("missing", ["value", "wildcard", "drop"])
def test_missing_keys(missing: str) -> None:
    few = policy(k_anonymity={"min": 5})
    few["roles"]["quasi"] = ["zip", "age"]
    found = sievert.assess(with_missing_keys(), policy=few, missing=missing)
    assert found.met is False
    (verdict,) = found.verdicts or ()
    assert verdict.value == 1  # with wildcards everybody matches six
    if missing == "wildcard":
        assert found.reidentification["k_anonymity"].value == 6
        assert verdict.reading == "a missing value as a value of its own"


def test_missing_keys_that_are_an_error() -> None:
    few = policy(k_anonymity={"min": 5})
    few["roles"]["quasi"] = ["zip", "age"]
    with pytest.raises(InputError):
        sievert.assess(with_missing_keys(), policy=few, missing="error")


def test_dropping_the_people_at_risk() -> None:
    whole = {**table(), "zip": [None, *table()["zip"][1:]]}
    assert sievert.assess(whole, policy=policy()).met is False  # one unique
    found = sievert.assess(whole, policy=policy(), missing="drop")
    assert found.met is None and reasons(found) == {"records_left_out": (None, [])}


def test_suppressing_nearly_everybody() -> None:
    """98 of 100 records with the mark: the two that are left met the policy."""
    hidden = {"zip": ["1"] * 6 + ["*"] * 300, "ill": ["flu", "hiv", "cold"] * 102}
    found = sievert.assess(hidden, policy=policy())
    assert found.met is None and reasons(found) == {"records_left_out_by_mark": (None, [])}
    assert "limit suppressed_records" in " ".join(repr(found).split())
    assert sievert.assess(hidden, policy=policy(), keep_suppressed=True).met is True
    for most, met in ((299, False), (300, True)):
        limits = {**policy()["limits"], "suppressed_records": {"max": most}}
        assert sievert.assess(hidden, policy=policy(**limits)).met is met
    bare = {**policy()["limits"], "suppressed_records": {"min": 0}}  # bounds nothing
    assert sievert.assess(hidden, policy=policy(**bare)).met is None


def test_suppressed_records_of_a_policy_check(tmp_path: Path) -> None:
    hidden = {"zip": ["1"] * 6 + ["*"] * 300, "ill": ["flu", "hiv", "cold"] * 102}
    path = tmp_path / "p.toml"
    path.write_text(ROLES + "[limits]\nk_anonymity = { min = 5 }\n")
    assert [gap.what for gap in sievert.check_policy(path, hidden).gaps] == ["suppressed_unlimited"]
    assert sievert.check_policy(path, table()).passed
    path.write_text(path.read_text() + "suppressed_records = { max = 9 }\n")
    assert sievert.check_policy(path, hidden).passed


def test_codes_that_merge_values(tmp_path: Path) -> None:
    """Everybody who is alone is called missing: one class of them."""
    alone = {"zip": [*"0000011111", *map(str, range(20, 30))] * 2, "ill": table()["ill"]}
    alone = in_random_order(alone)
    limits = policy(k_anonymity={"min": 5})
    assert sievert.assess(alone, policy=limits).met is False
    codes = [str(i) for i in range(20, 30)]
    path = write(tmp_path / "t.csv", alone)
    found = sievert.assess(path, policy=limits, na=codes)
    assert found.met is None and reasons(found) == {"codes_not_listed": (None, [])}
    assert "codes_not_listed" in json.dumps(found.share().to_dict())
    own = {**limits, "reading": {"na": codes}}
    for na in ({}, {"na": codes}):  # the policy's codes are read as missing without being asked
        found = sievert.assess(path, policy=own, **na)
        assert found.met is True and found.reidentification["k_anonymity"].value == 10
    fewer = sievert.assess(path, policy=own, na=codes[1:])
    assert fewer.met is False and reasons(fewer) == {"settings_replaced": (False, ["na"])}
    compared = sievert.compare(path, {"r": path}, policy=limits, na=codes, **HOW)
    assert compared.met is None
    assert sievert.compare(path, {"r": path}, policy=own, **HOW).met is True


def test_wildcards_leave_other_measures_undecided(tmp_path: Path, capfd: Any) -> None:
    whole = {**table(), "zip": [None, "a", *table()["zip"][2:]]}
    limits = {
        "k_anonymity": {"min": 2},
        "unique_records": {"max": 0.1},
        "inference": {"ill": {"l_diversity": {"min": 2}, "t_closeness": {"max": 0.5}}},
    }
    found = sievert.assess(whole, policy=policy(**limits), missing="wildcard")
    states = {v.measure: (v.met, v.reason) for v in found.verdicts or ()}
    assert states["unique_records"] == (None, "not defined with wildcards")
    assert states["t_closeness"] == (None, "not defined with wildcards")
    assert states["l_diversity"][0] is False  # one value, where missing is a value
    assert states["k_anonymity"][0] is False  # one person, where missing is a value
    lonely = {"zip": [None, *map(str, range(9))], "age": [None, *map(str, range(9))]}
    lonely = {c: [*v[1:], "x"] for c, v in lonely.items()}
    lonely["age"][0] = None
    text = repr(sievert.assess(lonely, ["zip", "age"], missing="wildcard"))
    assert "Nobody is alone" not in text


# -- impossible limits ----------------------------------------------------------------------------


def skewed(classes: int = 5) -> Table:
    """95 of 100 people have the same value, in every class."""
    return {
        "zip": [str(i % classes) for i in range(100)],
        "ill": ["yes" if i < 5 else "no" for i in range(100)],
    }


IMPOSSIBLE: dict[str, dict[str, float]] = {
    "max_confidence": {"max": 0.8},
    "alpha_k": {"max": 0.9},
    "bayes_vulnerability_posterior": {"max": 0.9},
    "bayes_vulnerability_prior": {"max": 0.5},
    "l_diversity": {"min": 3},
    "entropy_l": {"min": 2},
    "entropy_l_diversity": {"max": 0.5},
    "recursive_c": {"max": 3},
    "entropy": {"min": 1},
    "conditional_entropy": {"min": 1},
    "reciprocal_entropy": {"max": 1},
}
IMPOSSIBLE_RECORDS: dict[str, dict[str, float]] = {
    "k_anonymity": {"min": 101},
    "average_risk": {"max": 0.009},
    "highest_risk": {"max": 0.009},
    "entropy": {"min": 7},
    "conditional_entropy": {"min": 7},
    "bayes_vulnerability_posterior": {"max": 0.001},
    "distinction": {"max": 0.001},
    "average_class_risk": {"max": 0.009},
}


@pytest.mark.parametrize("measure", IMPOSSIBLE)
def test_a_limit_that_no_release_can_meet(measure: str) -> None:
    limits = {"inference": {"ill": {measure: IMPOSSIBLE[measure]}}}
    for data in (skewed(), {**skewed(), "zip": ["any"] * 100}):  # the second is the best there is
        found = sievert.assess(data, policy=policy(**limits))
        (verdict,) = found.verdicts or ()
        assert found.met is False and verdict.impossible, measure
        assert "Impossible for this table" in " ".join(repr(found).split())
        assert "Impossible for this table" in sievert_page(found)
        assert found.to_dict()["policy"]["limits"][0]["impossible"] == verdict.impossible


def sievert_page(found: sievert.Assessment) -> str:
    from sievert.report import builder, markdown

    return markdown.render(builder.build([found]))


@pytest.mark.parametrize("measure", IMPOSSIBLE_RECORDS)
def test_a_limit_on_records_that_no_release_can_meet(measure: str) -> None:
    limits = {"reidentification": {measure: IMPOSSIBLE_RECORDS[measure]}}
    found = sievert.assess(skewed(), policy=policy(**limits))
    (verdict,) = found.verdicts or ()
    assert found.met is False and verdict.impossible


def test_possible_limits_are_not_called_impossible() -> None:
    """Whatever one class of all records reaches is possible."""
    best = sievert.assess({**skewed(), "zip": ["any"] * 100}, "zip", "ill")
    limits: dict[str, Any] = {"inference": {"ill": {}}, "reidentification": {}}
    for place, values in (("ill", best.inference["ill"]), (None, best.reidentification)):
        for name, value in values.items():
            if value.value is not None and value.riskier != "neither":
                where = limits["reidentification"] if place is None else limits["inference"][place]
                where[name] = limit_at(value, float(value.value))
    found = sievert.assess(skewed(50), policy=policy(**limits))
    assert [v.measure for v in found.verdicts or () if v.impossible] == []
    assert found.met is False


@pytest.mark.parametrize("chunk", range(4))
def test_what_a_table_meets_is_not_impossible(chunk: int) -> None:
    """A limit at the very number of a table is met by that table, so some release can meet it."""
    for number in range(10):
        c = case(Random(f"possible {chunk} {number}"))
        bare = sievert.assess(c.columns, c.quasi, c.secret, parameters={"recursive_c": {"l": c.l}})
        limits = {
            place: {
                name: limit_at(v, worst(v))
                for name, v in values.items()
                if v.value is not None and v.reason is None and v.riskier != "neither"
            }
            for place, values in (("r", bare.reidentification), ("s", bare.inference[c.secret]))
        }
        house = {
            "limits": {"reidentification": limits["r"], "inference": {c.secret: limits["s"]}},
            "parameters": {"recursive_c": {"l": c.l}},
        }
        found = sievert.assess(c.columns, c.quasi, c.secret, policy=house)
        for v in found.verdicts or ():
            # Each value has a bound of its own there, so that the number does not decide.
            capped = v.measure == "enhanced_beta_likeness"
            assert (v.met is True or capped) and v.impossible is None, (v.measure, v.impossible)


def limit_at(value: sievert.Value, number: float) -> dict[str, float]:
    """The tightest limit that the number of a measure meets; that on recursive_c is strict."""
    if value.riskier == "low":
        return {"min": number}
    return {"max": math.nextafter(number, math.inf) if value.id == "recursive_c" else number}


def worst(value: sievert.Value) -> float:
    """The number that a limit is held against."""
    readings = [value.value, value.details.get("without_missing")]
    numbers = [float(n) for n in readings if n is not None]
    return min(numbers) if value.riskier == "low" else max(numbers)


def test_contradictory_bounds() -> None:
    found = sievert.assess(table(), policy=policy(k_anonymity={"min": 20, "max": 5}))
    (verdict,) = found.verdicts or ()
    assert found.met is False and verdict.impossible


def test_a_shareable_assessment_does_not_say_why() -> None:
    limits = {"inference": {"ill": {"max_confidence": {"max": 0.8}}}}
    found = sievert.assess(skewed(), policy=policy(**limits)).share()
    assert found.to_dict()["policy"]["met"] is False and "impossible" not in repr(found)
    assert found.to_dict()["policy"]["limits"][0]["impossible"] is None


def test_a_gain_can_be_limited_where_a_confidence_cannot() -> None:
    limits = policy(k_anonymity={"min": 5}, confidence_gain={"max": 0.3}, guess_gain={"max": 0.1})
    found = sievert.assess(skewed(), policy=limits)
    assert found.met is True and not any(v.impossible for v in found.verdicts or ())
    uneven = {**skewed(), "zip": [str(i // 10) for i in range(100)]}  # some class has no yes
    found = sievert.assess(uneven, policy=limits)
    assert found.met is False and found.inference["ill"]["confidence_gain"].value == 1


# -- comparisons ----------------------------------------------------------------------------------


BY_KEY: dict[str, Any] = {"shuffles": 0, "threads": 1, "key": "id"}
HOW: dict[str, Any] = {"shuffles": 0, "threads": 1, "paired": True}


def test_a_release_that_lacks_the_secret() -> None:
    release = {"zip": table()["zip"]}
    found = sievert.compare(table(), {"r": release}, policy=policy(), **HOW)
    assert found.met is None and not found.passed
    assert found["r"].policy.to_dict()["met"] is None


def test_a_release_with_a_column_more() -> None:
    release = {**table(), "name": [str(i) for i in range(N)]}
    found = sievert.compare(table(), {"r": release}, policy=policy(), **HOW)
    assert found.met is False and not found.passed
    (reason,) = found["r"].policy.reasons
    assert (reason.what, reason.names) == ("columns_without_role", ("name",))
    assert "no role: name" in repr(found) and "name" in found._repr_html_()


def test_a_release_with_a_column_renamed() -> None:
    release = {"zip": table()["zip"], "illness": table()["ill"]}
    found = sievert.compare(table(), {"r": release}, policy=policy(), **HOW)
    assert found.met is False


def test_the_key_of_a_comparison_has_no_role() -> None:
    whole = {**table(), "id": [str(i) for i in range(N)]}
    found = sievert.compare(whole, {"r": whole}, policy=policy(), **BY_KEY)
    assert found.met is False
    held = sievert.compare(whole, {"r": whole}, policy=with_roles(identifier=["id"]), **BY_KEY)
    assert held.met is False and [r.what for r in held.releases[0].policy.reasons] == ["file_holds"]
    cannot = {"reason": "it joins the visits", "outsiders_cannot_know": True}
    kept = with_roles(kept={"id": cannot})
    assert sievert.compare(whole, {"r": whole}, policy=kept, **BY_KEY).met is not True


def test_a_comparison_without_limits() -> None:
    bare = {"roles": policy()["roles"]}
    found = sievert.compare(table(), {"r": table()}, policy=bare, **HOW)
    assert found.met is None and not found.passed


def people(seed: int) -> Table:
    """Four hundred people: their zip code tells nothing of their illness."""
    r = Random(seed)
    ills = ["flu", "hiv", "cold"]
    return {"zip": [str(r.randrange(4)) for _ in range(400)], "ill": r.choices(ills, k=400)}


def test_a_release_in_another_order() -> None:
    """Paired row by row with strangers, a release would seem to tell next to nothing."""
    order = Random(1).sample(range(400), 400)
    moved = {c: [v[i] for i in order] for c, v in people(0).items()}
    for release in (moved, people(1), {**people(1), "zip": people(0)["zip"]}):
        with pytest.raises(InputError, match="not paired by their order"):
            sievert.compare(people(0), {"r": release}, policy=policy(), shuffles=0)
    found = sievert.compare(people(0), {"r": people(0)}, policy=policy(), shuffles=0)
    assert found.met is True and found["r"].pairing.paired is True


def test_unrelated_tables_sorted_alike() -> None:
    alike = [
        {c: [v[i] for i in sorted(range(400), key=t["zip"].__getitem__)] for c, v in t.items()}
        for t in (people(0), people(1))
    ]
    with pytest.raises(InputError, match="not paired by their order"):
        sievert.compare(alike[0], {"r": alike[1]}, policy=policy(), shuffles=0)


def test_a_pairing_that_cannot_be_told_is_undecided() -> None:
    few = {c: v[:20] for c, v in people(0).items()}
    found = sievert.compare(few, {"r": few}, policy=policy(k_anonymity={"min": 2}), shuffles=0)
    assert found.met is None and not found.passed
    (reason,) = found["r"].policy.reasons
    assert reason.what == "pairing_unknown" and "Caution: it cannot" in repr(found)


# -- exit codes -----------------------------------------------------------------------------------


def write(path: Path, columns: Table) -> str:
    rows = zip(*columns.values(), strict=True)
    lines = [",".join(columns), *(",".join(map(str, row)) for row in rows)]
    path.write_text("\n".join(lines) + "\n")
    return str(path)


ROLES = "[roles]\nquasi = ['zip']\nsensitive = ['ill']\n"


@pytest.mark.parametrize(
    ("text", "more", "code"),
    [
        (ROLES + "[limits]\nk_anonymity = { min = 5 }\n", [], 0),
        (ROLES + "[limits]\nk_anonymity = { min = 11 }\n", [], 1),
        (ROLES, [], 1),
        (ROLES + "[limits]\nk_anonymity = { max = 50 }\n", [], 1),
        (ROLES + "[limits]\nk_anonymity = { min = 5 }\n", ["-s", "zip"], 2),
        (ROLES + "[limits]\nk_anonymity = { min = 500 }\n", [], 1),
        (ROLES + "[limits]\nt_closeness_ordered = { max = 1 }\n", [], 2),
        (ROLES + "[limits]\nk_anon = { min = 5 }\n", [], 2),
        ("", [], 2),
    ],
)
@pytest.mark.parametrize("command", ["assess", "compare"])
def test_exit_codes(
    text: str, more: list[str], code: int, command: str, tmp_path: Path, capfd: Any
) -> None:
    data = write(tmp_path / "t.csv", table())
    (tmp_path / "p.toml").write_text(text)
    tables = [data] if command == "assess" else [data, data, "--shuffles", "0", "--paired"]
    out = tmp_path / "out.json"
    arguments = [command, *tables, "--policy", str(tmp_path / "p.toml"), "--json", str(out)]
    assert run(*arguments, *more) == code
    if code < 2:
        result = json.loads(out.read_text())
        judged = result if command == "assess" else result["releases"][0]
        assert (judged["policy"]["met"] is True) == (code == 0)
        said = " ".join(capfd.readouterr().out.split())
        rests = "each row is taken for one person" in said
        assert rests or code == 1  # a policy that is met says what this rests on


def test_the_page_says_why() -> None:
    whole = {**table(), "surname": [str(i) for i in range(N)]}
    text = sievert_page(sievert.assess(whole, policy=policy()))
    first = text.split("## ")[0]
    assert "limits are met. 1 column has no role." in first
    assert "Not covered by this answer: surname has no role." in first
    about = "rest on this: the answer is about this file, with every column that it has; each row"
    assert f"{about} is taken for one person, which the policy does not say" in text
    text = sievert_page(sievert.assess(table(), policy={"roles": policy()["roles"]}))
    words = "whether the policy is met.** The policy has no limits: nothing was decided."
    assert words in text.split("## ")[0]
    breached = sievert_page(sievert.assess(whole, policy=policy(k_anonymity={"min": 11})))
    first = breached.split("## ")[0]
    assert "Its one limit is breached. 1 column has no role." in first


def test_a_shareable_page_names_columns_without_a_role_once() -> None:
    whole = {**table(), "surname": [str(i) for i in range(N)]}
    text = sievert_page(sievert.assess(whole, policy=policy()).share())
    assert "1 column has no role." in text
    assert text.count("surname") == 1


def test_every_reason_has_words_on_a_page() -> None:
    from sievert.policy.judgement import REASONS
    from sievert.report.texts import english

    assert {f"front.reason_{what}" for what in REASONS} <= set(english())


def test_reasons_are_masked_where_names_are(tmp_path: Path) -> None:
    whole = {**table(), "surname": [str(i) for i in range(N)]}
    found = sievert.assess(whole, policy=policy()).share(mask_names=True)
    assert "surname" not in json.dumps(found.to_dict()) and "surname" not in repr(found)
    assert found.to_dict()["policy"]["met"] is False


def test_a_command_can_add_reasons() -> None:
    from sievert.policy import Gate, Verdict, parse_policy

    add: list[Callable[[Gate], None]] = [
        lambda gate: gate.undecided("pairing_unknown"),
        lambda gate: gate.not_met("people_repeat", ["id"]),
    ]
    states = []
    for each in add:
        gate = Gate(parse_policy(policy()))
        each(gate)
        met = Verdict(
            measure="k_anonymity", where="reidentification", min=5, max=None, value=9, met=True
        )
        states.append(gate.judge([met]).met)
    assert states == [None, False]


# -- what would help ------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(tried(15, soak=30)))
def test_an_option_is_met_only_where_the_changed_table_is(seed: int) -> None:
    random = Random(seed)
    columns = random_table(random)
    quasi = [c for c in columns if c not in ("ill", "days")]
    if seed % 3 == 0:  # records that are suppressed in part
        for column in random.sample(quasi, len(quasi) - 1):
            columns[column] = ["*" if random.random() < 0.3 else v for v in columns[column]]
    if seed % 5 == 0:
        columns["batch"] = list(range(len(columns["ill"])))  # without a role
    limits = {
        "reidentification": {
            "k_anonymity": {"min": random.choice((2, 3, 5))},
            "suppressed_records": {"max": 0.0},
        },
        "inference": {"ill": {"l_diversity": {"min": random.choice((1, 2))}}},
    }
    roles = {"quasi": quasi, "sensitive": ["ill", "days"], "rows_are_people": True}
    rules = {"roles": roles, "limits": limits}
    columns = {c: [v if v is None else str(v) for v in values] for c, values in columns.items()}
    missing = random.choice(("value", "drop"))
    options = sievert.assess(columns, policy=rules, missing=missing).options
    assert options is not None
    each = zip(*(columns[c] for c in quasi), strict=True)
    kept = [missing == "value" or None not in row for row in each]
    for way in options.ways:
        if way.levels is not None:  # without the column that has no role
            release = sievert.protect(columns, policy=rules)
            assert (release.met, release.levels) == (way.met, way.levels)
            continue
        changed, _ = recode(columns, way.changes, {}, kept)
        left = [c for c in quasi if c in changed]
        real = sievert.assess(changed, left, policy=rules, missing=missing, quick=True)
        assert way.met is real.met and way.limits_met == sum(
            v.met is True for v in real.verdicts or ()
        )
        assert seed % 5 or way.met is False


# -- values that are spelt in several ways, columns that say who somebody is ----------------------


SPELT_ALIKE = [
    ("flu", "flu ", " flu"),
    ("é", "e\u0301"),
    ("é", "e\u0301 "),
    ("flu", "flu\u200b"),
    ("flu", "f\u00adlu", "ﬂu"),
    ("flu", "Flu", "FLU"),
    ("A\u2013B", "A-B"),
    ("7", "7.0", "07"),
    ("1999-12-31", "31.12.1999", "12/31/1999"),
    ("03/04/1999", "3/4/1999", "03/04/1999 00:00:00"),
]


@pytest.mark.parametrize("values", SPELT_ALIKE, ids=ascii)
def test_spellings_are_no_diversity(values: tuple[str, ...], tmp_path: Path) -> None:
    """One illness that is spelt in several ways looks like several of them."""
    spelt = {**table(), "ill": [values[i % len(values)] for i in range(N)]}
    found = sievert.assess(spelt, policy=policy(l_diversity={"min": 2}))
    assert found.met is False and reasons(found) == {"spelt_differently": (None, ["ill"])}
    assert found.verdicts[0].reading == "with all spellings of a value merged"
    assert found.to_dict()["policy"]["spellings"] == {"ill": len(values)}
    # A secret without a limit is undecided, too: the number beside the verdict depends on it.
    unlimited = sievert.assess(spelt, policy=policy(k_anonymity={"min": 5}))
    assert unlimited.met is None and unlimited.policy is not None
    (secret,) = unlimited.policy.unjudged
    assert (secret.secret, secret.people, secret.of) == ("ill", N, N)
    narrow = {**policy(), "limits": {"inference": {"ill": {"l_diversity": {"min": 2}}}}}
    assert sievert.assess(spelt, policy=narrow).met is False
    assert sievert.assess(spelt, policy={**narrow, "orders": {"ill": [*values]}}).met is True
    for how in ("full", "local"):  # a release is undecided too, which is no fault of the program
        made = sievert.protect(spelt, policy=narrow, how=how, out=tmp_path / "r.csv")
        assert not made.met and reasons(made)["spelt_differently"] == (None, ["ill"])
        assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("values", SPELT_ALIKE, ids=ascii)
def test_spellings_leave_it_undecided_where_both_readings_meet_the_limits(
    values: tuple[str, ...],
) -> None:
    """Nobody but the publisher knows whether they differ; the policy can say so."""
    three = [*values, "hiv"]
    spelt = {**table(), "ill": [three[i % len(three)] for i in range(N)]}
    own = policy(l_diversity={"min": 2})
    found = sievert.assess(spelt, policy=own)
    assert found.met is None and reasons(found) == {"spelt_differently": (None, ["ill"])}
    own["roles"]["distinct_spellings"] = ["ill"]
    said = sievert.assess(spelt, policy=own)
    assert said.met is True and "counted as spelt" in str(said.policy and said.policy.rests_on)


def test_distinct_spellings_of_a_column_without_a_role_is_a_mistake() -> None:
    for column in ("il", "weight"):
        with pytest.raises(UsageError, match="distinct_spellings"):
            sievert.assess(table(), policy=with_roles(distinct_spellings=[column], weight="weight"))


def test_spellings_of_a_quasi_identifier_are_a_caution() -> None:
    """They make classes smaller, which is never falsely safe; whoever merges them is told."""
    spelt = {**table(), "zip": [f"{i // 10}" + ".0" * (i % 2) for i in range(N)]}
    found = sievert.assess(spelt, policy=policy())
    assert found.met is True and reasons(found) == {}
    assert any("8 values of 'zip' coincide" in caution for caution in found.to_dict()["cautions"])


def test_a_shared_result_does_not_tell_how_many_values_are_spelt_alike() -> None:
    spelt = {**table(), "ill": ["flu" + "\u200b" * (i % 7) for i in range(N)]}
    found = sievert.assess(spelt, policy=policy(l_diversity={"min": 2}))
    assert found.to_dict()["policy"]["spellings"] == {"ill": 7}
    shared = sharing.shareable(found.to_dict())
    assert "spellings" not in shared["policy"] and "7 values" not in json.dumps(shared)
    assert shared["policy"]["met"] is False


def test_a_secret_that_looks_missing_is_a_caution() -> None:
    """Kept as a value, it adds to diversity; in a quasi-identifier it is a remark."""
    data = {"a": ["x", "x", "NA", "NA"], "ill": ["flu", "", "flu", "?"]}
    found = sievert.assess(data, "a", "ill").to_dict()
    (caution,) = found["cautions"]
    assert caution.startswith("2 records with a 'ill' that may mean missing")
    assert any("'a' that may mean missing" in remark for remark in found["warnings"])


def test_spellings_are_no_people() -> None:
    """Two rows of each of five people, who look like ten."""
    key = [f"p{i // 2}" if i % 2 else f"p{i // 2} " for i in range(N)]
    people = {**table(), "key": key}
    found = sievert.assess(people, policy=with_roles(person="key"))
    assert found.met is False and "spelt_differently" in reasons(found)
    found = sievert.assess(people, policy=with_roles(person="key"), planned=True)
    assert found.planned_met is None and reasons(found) == {"spelt_differently": (None, ["key"])}
    made = sievert.protect(people, policy=with_roles(person="key"))
    assert made.met is None and reasons(made) == {"spelt_differently": (None, ["key"])}
    alike = {**people, "key": [f"p{i}" for i in range(N)]}
    honest = sievert.assess(alike, policy=with_roles(person="key"), planned=True)
    assert honest.planned_met is True


PERSONS = [
    ("{}", "{}.0", "0{}", "00{}", "+{}"),
    ("p{}", "p{}\u200b", "\ufeffp{}", "p\u00ad{}", "p{}\u2060"),
    ("p{}", " p{}", "p{} ", "p{}\t", "\u00a0p{}"),
    ("an-a{}", "AN-A{}", "An-a{}", "an\u2010a{}", "ａn-a{}"),
    ("é{}", "e\u0301{}", "É{}", "E\u0301{}", " é{}"),
    ("{}.12.1999", "1999-12-{}", "12/{}/1999", "1999/12/{} 00:00:00", "{}-12-1999"),
]


@pytest.mark.parametrize("spellings", PERSONS, ids=ascii)
def test_eight_people_with_five_rows_each(spellings: tuple[str, ...]) -> None:
    """As they are spelt there are forty people, ten in each class; there are two."""
    people = {**table(), "key": [spellings[i % 5].format(13 + i // 5) for i in range(N)]}
    rules = {**with_roles(person="key"), "limits": {"k_anonymity": {"min": 5}}}
    found = sievert.assess(people, policy=rules, planned=True)
    assert found.planned_met is False and reasons(found) == {"spelt_differently": (None, ["key"])}
    assert (found.verdicts[0].value, found.reidentification["k_anonymity"].value) == (2, 10)
    assert any("40 values of 'key' coincide" in c for c in found.to_dict()["cautions"])
    apart = {**with_roles(person="key", distinct_spellings=["key"]), "limits": rules["limits"]}
    assert sievert.assess(people, policy=apart, planned=True).planned_met is True


@pytest.mark.parametrize("spelt", ["K{}", "k{}\u200b", " k{}", "ｋ{}"])
def test_keys_of_an_earlier_release_that_are_spelt_otherwise(spelt: str) -> None:
    """Two people are told apart by both releases together; by other spellings nobody is."""
    records = range(24)
    keys = [f"k{i}" for i in records]
    rules = {
        "roles": {"quasi": ["zip"], "identifier": ["id"], "rows_are_people": True},
        "limits": {"k_anonymity": {"min": 3}},
    }
    new = {"id": keys, "zip": ["a" if i < 12 else "b" for i in records]}
    towns = ["x" if 2 <= i < 14 else "y" for i in records]
    others = [spelt.format(i) for i in range(20)] + keys[20:]
    options: dict[str, Any] = {"policy": rules, "key": "id", "levels": {"zip": 0}}
    told = sievert.protect(new, earlier={"id": keys, "town": towns}, **options)
    found = sievert.protect(new, earlier={"id": others, "town": towns}, **options)
    for made in (told, found):
        assert made.met is False and made.to_dict()["earlier"]["k_anonymity"] == 2
    assert reasons(found)["spelt_differently"] == (None, ["id"])
    assert found.to_dict()["policy"]["spellings"] == {"id": 40}
    rules["roles"]["distinct_spellings"] = ["id"]
    apart = sievert.protect(new, earlier={"id": others, "town": towns}, **options)
    assert "spelt_differently" not in reasons(apart)


def test_spellings_in_a_count_state(tmp_path: Path) -> None:
    """A state has the values as they are spelt: it is as undecided as its table."""
    key = [("{}", "{}.0", "0{}", "00{}", "+{}")[i % 5].format(13 + i // 5) for i in range(N)]
    ill = [("flu", "Flu", "hiv")[i % 3] for i in range(N)]
    spelt = {**table(), "key": key, "ill": ill}
    state = tmp_path / "state"
    rules = with_roles(person="key")
    sievert.count(spelt, policy=rules, out=state)
    for data in (state, spelt):
        found = sievert.assess(data, policy=rules).to_dict()["policy"]
        assert found["spellings"] == {"ill": 2, "key": 40}
        assert [limit["value"] for limit in found["limits"]] == [2, 2]
        assert [limit["met"] for limit in found["limits"]] == [False, True]
        made = sievert.protect(data, policy=rules)
        assert made.met is not True and "spelt_differently" in reasons(made)


def test_explain_tells_of_spellings() -> None:
    spelt = {**table(), "ill": [("flu", "Flu", "hiv")[i % 3] for i in range(N)]}
    told = sievert.explain(spelt, "zip", "ill").to_dict()
    assert any("2 values of 'ill' coincide" in caution for caution in told["cautions"])
    people = {**table(), "key": [f"{'pP'[i % 2]}{i // 2}" for i in range(N)]}
    told = sievert.explain(people, policy=with_roles(person="key")).to_dict()
    assert any("values of 'key' coincide" in caution for caution in told["cautions"])
    apart = with_roles(person="key", distinct_spellings=["key", "ill"])
    told = sievert.explain({**people, **spelt}, policy=apart).to_dict()
    assert not any("coincide" in caution for caution in told["cautions"])


def test_attack_tells_of_spellings() -> None:
    """Attacks take the spellings of a secret for different values, and guess less than others."""
    spelt = {**table(), "ill": [("flu", "Flu", "hiv")[i % 3] for i in range(N)]}
    found = sievert.attack(spelt, policy=policy())
    assert any("2 values of 'ill' coincide" in caution for caution in found.cautions)
    apart = sievert.attack(spelt, policy=with_roles(distinct_spellings=["ill"]))
    assert not any("coincide" in caution for caution in apart.cautions)


@pytest.mark.parametrize("kind", ["binary", "large_binary"])
def test_texts_that_a_file_calls_bytes(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Many programs write texts into Parquet files without saying that they are texts."""
    pyarrow = pytest.importorskip("pyarrow")

    def as_bytes(texts: Sequence[str]) -> Any:
        values = [texts[i % len(texts)].encode() for i in range(N)]
        return pyarrow.array(values, getattr(pyarrow, kind)())

    def assess(texts: Sequence[str], **roles: Any) -> sievert.Assessment:
        data = pyarrow.table({**table(), "ill": as_bytes(texts)})
        rules = {**with_roles(**roles), "limits": {"l_diversity": {"min": 2}}}
        return sievert.assess(data, policy=rules)

    for texts in (("flu", "Flu"), ("flu", "flu\u200b", "é", "e\u0301")):
        found = assess(texts)
        assert found.met is None and reasons(found) == {"spelt_differently": (None, ["ill"])}
        assert found.to_dict()["policy"]["spellings"] == {"ill": len(texts)}
        assert assess(texts, distinct_spellings=["ill"]).met is True
    assert assess(("flu", "hiv", "é")).met is True
    monkeypatch.setattr("sievert.counts.spellings.MOST_FETCHED", 1)
    assert reasons(assess(("flu", "Flu"))) == {"spellings_not_compared": (None, ["ill"])}
    assert assess(("flu", "hiv")).met is True


def test_spellings_where_records_were_left_out() -> None:
    """Both readings leave out the same records: suppressed ones, and those without a value."""
    spelt = {**table(), "ill": [("flu", "Flu", "FLU")[i % 3] for i in range(N)]}
    spelt["zip"] = ["*"] * 10 + spelt["zip"][10:]
    rules = {**policy(), "limits": {"inference": {"ill": {"l_diversity": {"min": 2}}}}}
    found = sievert.assess(spelt, policy=rules)
    assert (
        found.met is False
        and found.inference["ill"]["l_diversity"].details["spellings_merged"] == 1
    )
    lacking = {**spelt, "zip": [None] * 10 + spelt["zip"][10:]}
    found = sievert.assess(lacking, policy=rules, missing="drop")
    assert found.met is False and "spelt_differently" in reasons(found)


def test_spellings_do_not_hide_behind_a_missing_secret() -> None:
    """The worse reading of missing secrets is looked at in both readings of spellings."""
    spelt = {**table(), "ill": [("flu", "Flu", None, "cold")[i % 4] for i in range(N)]}
    rules = {**policy(), "limits": {"inference": {"ill": {"l_diversity": {"min": 3}}}}}
    found = sievert.assess(spelt, policy=rules)
    assert found.met is False and found.verdicts[0].value == 2


def test_secrets_of_large_tables_are_compared_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """Values that are too many to be tallied are asked of the engine; too many are undecided."""
    from sievert.checks import spellings as _spellings

    monkeypatch.setattr(_spellings, "tallied_spellings", lambda *_: None)
    spelt = {**table(), "ill": [("flu", "Flu", "hiv")[i % 3] for i in range(N)]}
    found = sievert.assess(spelt, policy=policy(l_diversity={"min": 2}))
    assert found.met is None and reasons(found) == {"spelt_differently": (None, ["ill"])}
    monkeypatch.setattr("sievert.counts.spellings.MOST_FETCHED", 1)
    monkeypatch.setattr("sievert.counts.spellings.MOST_ODD", 1)
    odd = {**spelt, "ill": ["ä", "ö", "ü", "ß"] * 10}
    found = sievert.assess(odd, policy=policy(l_diversity={"min": 2}))
    assert found.met is None and reasons(found) == {"spellings_not_compared": (None, ["ill"])}


def test_secrets_of_a_compared_release_that_are_spelt_otherwise() -> None:
    """Every class of the release has one illness, which looks like three."""
    spelt = {**table(), "ill": [("flu", "Flu", "flu\u200b")[i % 3] for i in range(N)]}
    keys = {"id": [f"k{i}" for i in range(N)]}
    rules = {
        **with_roles(identifier=["id"]),
        "limits": {"inference": {"ill": {"l_diversity": {"min": 2}}}},
    }
    release = {"zip": table()["zip"], "ill": spelt["ill"], **keys}
    compared = sievert.compare({**spelt, **keys}, {"r": release}, policy=rules, key="id")
    for own in (
        compared.to_dict()["original"]["policy"],
        compared.to_dict()["releases"][0]["policy"],
    ):
        assert own["met"] is False and own["spellings"] == {"ill": 3}
        assert "spelt_differently" in [r["what"] for r in own["reasons"]]
        assert own["limits"][0]["reading"] == "with all spellings of a value merged"


def test_keys_of_a_comparison_that_are_spelt_otherwise() -> None:
    """Records are paired by what is certain: one key of each table with a canonical text."""
    keys = [f"k{i}" for i in range(N)]
    original = {**table(), "id": keys}
    release = {**table(), "id": [k.upper() + "\u200b" for k in keys[:30]] + keys[30:]}
    found = sievert.compare(original, {"r": release}, "zip", "ill", key="id").to_dict()
    assert found["releases"][0]["records"]["paired"] == N
    assert any(c.startswith("30 keys") for c in found["cautions"])
    twice = {**table(), "id": [*keys[:-1], "K0"]}  # two of one canonical text: as they are spelt
    found = sievert.compare(original, {"r": twice}, "zip", "ill", key="id").to_dict()
    assert found["releases"][0]["records"]["paired"] == N - 1
    attacked = sievert.attack(release, original, "zip", "ill", key="id")
    assert any("30 keys" in str(note) for note in attacked.warnings)


@pytest.mark.parametrize("name", ["patient_id", "SSN", "email", "surname"])
def test_an_identifier_that_is_called_a_secret(name: str) -> None:
    """Whoever has the table has everybody's number, and every class has ten different ones."""
    named = {"zip": table()["zip"], name: [f"n{i}" for i in range(N)]}
    stated = {**policy(), "roles": {"quasi": ["zip"], "sensitive": [name]}}
    found = sievert.assess(named, policy=stated)
    assert found.met is None and reasons(found) == {"secret_names_people": (None, [name])}
    few = {**named, name: [f"n{i % 7}" for i in range(N)]}
    assert sievert.assess(few, policy=stated).met is True


@pytest.mark.parametrize(
    ("kind", "spell"),
    [
        ("int", lambda i: "0" * (i % 10) + str(i // 10)),
        ("float", lambda i: f"{i // 10}.{'0' * (i % 10 + 1)}"),
        ("float", lambda i: str(2**53 + i % 2)),  # beyond what a float tells apart
    ],
)
def test_values_that_a_type_makes_one(
    kind: str, spell: Callable[[int], str], tmp_path: Path
) -> None:
    """The file has all its spellings, and nearly everybody is unique by them."""
    spelt = {**table(), "zip": [spell(i) for i in range(N)]}
    types = {"zip": kind}
    found = sievert.assess(spelt, policy=policy(k_anonymity={"min": 5}), types=types)
    assert found.met is None and reasons(found) == {"merged_by_type": (None, ["zip"])}
    assert any("several ways" in str(note) for note in found.warnings)
    honest = {**table(), "zip": [str(i // 10) for i in range(N)]}
    assert sievert.assess(honest, policy=policy(), types=types).met is True
    state = tmp_path / "state"
    with pytest.raises(InputError, match="several ways"):
        sievert.count(spelt, "zip", "ill", out=state, types=types)
    sievert.count(honest, "zip", "ill", out=state, types=types)
    assert sievert.assess(state, policy=policy()).planned_met is True
    compared = sievert.compare(
        {**honest, "i": [*range(N)]},
        {"r": {**spelt, "i": [*range(N)]}},
        key="i",
        policy=with_roles(ignored={"i": "the key"}),
        types=types,
    )
    judged = compared.releases[0].policy
    assert judged is not None and judged.met is not True
    assert [r.names for r in judged.reasons if r.what == "merged_by_type"] == [("zip",)]


@pytest.mark.parametrize("encoding", ["utf-7", "unicode_escape", "raw_unicode_escape", "idna"])
def test_encodings_that_make_texts_one(encoding: str, tmp_path: Path) -> None:
    """An escape and the character that it stands for are two texts to everybody else."""
    path = tmp_path / "t.csv"
    path.write_text("zip\n" + "a\n" * 9 + "+AGE-\n" + "\\x61\n")
    with pytest.raises(UsageError, match="not known"):
        sievert.assess(path, "zip", encoding=encoding)


@pytest.mark.parametrize("bound", [1e19, 1e300])
def test_limits_beyond_every_table(bound: float) -> None:
    """Also where a release is looked for that would meet them."""
    assert sievert.assess(table(), policy=policy(k_anonymity={"min": bound})).met is False
    risk = sievert.assess(table(), policy=policy(highest_risk={"max": 1 / bound}))
    assert risk.met is False
