"""Policies: limits met and breached, mistakes named with what was meant."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from helpers.commandline import run

import sievert
from sievert.errors import UsageError
from sievert.policy import parse_policy, read_policy

TABLE = {
    "zip": ["1", "1", "2", "2", "2", None],
    "s": ["flu", "hiv", "flu", "flu", None, "flu"],
    "same": ["x"] * 6,
    "n": [1, 2, 3, 4, 5, 6],
}


def judged(limits: dict[str, Any], sensitive: str | None = "s", **more: Any) -> sievert.Assessment:
    data = {c: values for c, values in TABLE.items() if c in ("zip", sensitive)}
    return sievert.assess(data, "zip", sensitive, policy={"limits": limits, **more})


def test_met_and_breached() -> None:
    found = judged(
        {"average_risk": {"max": 0.99}, "inference": {"s": {"t_closeness": {"max": 0.99}}}}
    )
    assert found.met is True
    found = judged({"k_anonymity": {"min": 2}})
    assert found.met is False
    (verdict,) = found.verdicts or ()
    assert (verdict.where, verdict.value, verdict.met) == ("reidentification", 1, False)
    assert found.to_dict()["policy"]["limits"][0]["min"] == 2


def test_everywhere_and_narrower() -> None:
    found = judged({"discrimination_rate": {"max": 0.9}, "reidentification": {
        "discrimination_rate": {"max": 0.99}}})  # fmt: skip
    assert {v.where: v.max for v in found.verdicts or ()} == {
        "reidentification": 0.99,
        "inference.s": 0.9,
    }


def test_unbounded_and_constant_are_breached() -> None:
    found = judged({"inference": {"s": {"delta_disclosure": {"max": 100}}}})
    assert found.met is False and found.to_dict()["policy"]["limits"][0]["reason"] == "unbounded"
    found = judged({"inference": {"same": {"discrimination_rate": {"max": 1}}}}, "same")
    assert found.met is False


def test_undefined_for_another_reason_is_undecided() -> None:
    one = {"zip": ["1"]}
    limits = {"limits": {"reidentification": {"separation": {"max": 0.5}}}}
    found = sievert.assess(one, "zip", policy=limits)
    assert found.met is None and not found.passed
    assert found.to_dict()["policy"]["met"] is None
    assert any("not evaluated" in w for w in found.warnings)
    assert (found.verdicts or ())[0].met is None


def test_the_worse_reading_decides() -> None:
    """A missing secret must not look like diversity."""
    table = {"zip": ["1", "1"], "s": ["flu", None]}
    limits = {"limits": {"inference": {"s": {"l_diversity": {"min": 2}}}}}
    found = sievert.assess(table, "zip", "s", policy=limits)
    assert found.inference["s"]["l_diversity"].value == 2
    assert found.inference["s"]["l_diversity"].details["without_missing"] == 1
    assert found.met is False


def test_a_limit_on_the_harmless_side_decides_nothing() -> None:
    found = judged({"k_anonymity": {"max": 5}})
    assert found.met is None and [v.met for v in found.verdicts or ()] == [True]
    assert any("harmless side" in w for w in found.warnings)
    assert judged({"average_risk": {"min": 0, "max": 0.99}}).met is True


def test_roles_of_the_policy_are_not_replaced_silently() -> None:
    found = sievert.assess(TABLE, "n", policy={"roles": {"quasi": ["zip"]}})
    assert any("replace those of the policy" in w for w in found.warnings)


REPLACED = "the quasi-identifiers given here replace those of the policy"


@pytest.mark.parametrize(
    "command",
    [
        lambda data, **roles: sievert.explain(data, "zip", **roles),
        lambda data, **roles: sievert.attack(data, None, "zip", **roles),
        lambda data, **roles: sievert.compare(data, data, "zip", **roles),
        lambda data, **roles: sievert.randomise(data, "zip", at=0.5, **roles),
        lambda data, **roles: sievert.compromise(
            data, "zip", parameters=[0.5], replicates=2, **roles
        ),
    ],
    ids=["explain", "attack", "compare", "limit", "compromise"],
)
def test_every_command_says_that_roles_of_the_policy_are_replaced(command: Any) -> None:
    data = {"zip": ["1", "1", "2", "2"] * 5, "sex": ["f", "m"] * 10, "pay": ["10", "20"] * 10}
    policy = {"roles": {"quasi": ["sex"], "sensitive": ["pay"]}}
    assert REPLACED in command(data, policy=policy).warnings
    same = {"roles": {"quasi": ["zip"], "sensitive": ["pay"]}}
    assert REPLACED not in command(data, policy=same).warnings


def test_parts_that_do_not_occur_are_noted() -> None:
    found = judged({}, partitions={"s": {"rare": ["measles", "hiv"]}})
    assert any("names 1 value that do not occur" in w for w in found.warnings)


def test_roles_partitions_orders_parameters() -> None:
    policy = {
        "roles": {"quasi": ["zip"], "sensitive": ["s"]},
        "partitions": {"s": {"ill": ["flu", "hiv"]}},
        "parameters": {"recursive_c": {"l": 1}, "alpha_k": {"value": {"s": "hiv"}},
                       "records_below": {"k": [2, 4]}},
    }  # fmt: skip
    values = sievert.assess(TABLE, policy=policy).inference["s"]
    assert values["recursive_c"].details["l"] == 1
    assert values["alpha_k"].value == 0.5
    assert values["semantic_discrimination_rate"].value is not None
    below = sievert.assess(TABLE, policy=policy).reidentification["records_below"]
    assert below.details["by_k"] == {"2": 1, "4": 6}
    assert sievert.assess(TABLE, ["n"], policy=policy).roles.quasi == ("n",)


MISTAKES: dict[str, tuple[str, str]] = {
    "limits of nothing": ("limits = 5", "limits is not a table"),
    "nested too deeply": ("a=" + "[" * 100000, "nested too deeply"),
    "not TOML": ("[limits", "not TOML"),
    "unknown table": ("[limit]\nk_anonymity = { min = 5 }", "limits"),
    "unknown role": ('[roles]\nquazi = ["zip"]', "quasi"),
    "unknown measure": ("[limits]\nk_anonimity = { min = 5 }", "k_anonymity"),
    "usual name": ("[limits]\nK = { min = 5 }", "'K'. Try: k_anonymity"),
    "unknown narrower measure": ("[limits.inference.s]\nitpt = { max = 1 }", "itpr"),
    "unknown bound": ("[limits]\nitpr = { maximum = 5 }", "max"),
    "no bound": ("[limits]\nitpr = { }", "needs min or max"),
    "a bound of text": ('[limits]\nitpr = { max = "high" }', "limits.itpr.max"),
    "a limit without a table": ("[limits]\nitpr = 5", "limits.itpr"),
    "unknown parameter": ("[parameters]\nrecursive = { l = 2 }", "recursive_c"),
    "l of nothing": ("[parameters]\nrecursive_c = { l = 0 }", "recursive_c.l"),
    "absent measure": ("[limits]\nt_closeness_ordered = { max = 1 }", "no secret has an order"),
    "absent narrower": ("[limits.reidentification]\nl_diversity = { min = 2 }", "not among"),
    "unknown secret": ("[limits.inference.t]\nitpr = { max = 1 }", "not a sensitive attribute"),
    "80 for 80 %": ("[limits]\nmax_confidence = { max = 80 }", "for 80 % write 0.8"),
    "true is no number": ("[limits]\nk_anonymity = { min = true }", "limits.k_anonymity.min"),
    "a limit at the top level": ("[reidentification]\nk_anonymity = { min = 5 }", "[limits.reid"),
    "ignored without a reason": ('[roles]\nignored = { n = " " }', "'n': no reason is given"),
    "ignored and a role": ("[roles]\nignored = { zip = 'x' }\nquasi = ['zip']", "one role only"),
    "ignored role is a list": ('[roles]\nignored = ["zip"]', "roles.ignored"),
    "a hierarchy of numbers": ("[hierarchies]\nzip = 5", "a hierarchy is a text"),
    "unknown role person": (
        '[roles]\nquasi = ["zip"]\nperson = "t"',
        "'t' does not exist",
    ),
    "person role and rows": (
        '[roles]\nquasi = ["zip"]\nperson = "s"\nrows_are_people = true',
        "exclude each other",
    ),
    "role of people": ('[roles]\nquasi = ["zip"]\nrows_are_people = "yes"', "rows_are_people"),
    "role twice, person": ('[roles]\nquasi = ["zip"]\nperson = "zip"', "one role only"),
    "role twice, weight": (
        '[roles]\nquasi = ["zip"]\nweight = "s"\nidentifier = ["s"]',
        "one role only",
    ),
    "nan is no number": ("[limits]\nk_anonymity = { min = nan }", "limits.k_anonymity.min"),
    "a role of text": ('[roles]\nquasi = "zip"', "not a list"),
    "order of nothing": ('[orders]\nt = ["flu"]', "does not exist"),
    "order lacks values": ('[orders]\ns = ["flu"]', "lacks 1 value"),
    "value in two parts": ('[partitions.s]\na = ["flu"]\nb = ["flu"]', "two parts"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes_exit_2(name: str, tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    text, words = MISTAKES[name]
    (tmp_path / "house.toml").write_text(text)
    (tmp_path / "t.csv").write_text("zip,s\n1,flu\n1,hiv\n")
    arguments = ["assess", str(tmp_path / "t.csv"), "--policy"]
    roles = [] if "role" in name else ["-q", "zip", "-s", "s"]
    assert run(*arguments, str(tmp_path / "house.toml"), *roles) == 2
    err = capsys.readouterr().err
    assert words in err and err.count("\n") == 1
    assert "hiv" not in err


def test_breached_exits_1(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    (tmp_path / "house.toml").write_text("[limits]\nk_anonymity = { min = 5 }")
    (tmp_path / "t.csv").write_text("zip,s\n1,flu\n1,hiv\n")
    arguments = ["assess", str(tmp_path / "t.csv"), "-q", "zip", "--policy"]
    assert run(*arguments, str(tmp_path / "house.toml")) == 1
    assert "Its one limit is breached" in capsys.readouterr().out


def test_large_policies_are_refused(tmp_path: Path) -> None:
    (tmp_path / "house.toml").write_text("#" * (1 << 20) + "\n")
    with pytest.raises(UsageError, match="not a policy"):
        read_policy(tmp_path / "house.toml")
    assert parse_policy({}).everywhere == {}
