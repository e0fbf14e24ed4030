"""Columns that a release keeps: what methods answer where these tell too many people apart."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

import sievert
from sievert.policy.judgement import WITH_KEPT

METHODS = ("full", "local", "suppress", "microaggregate")


def joined(rows: int = 60) -> dict[str, list[str]]:
    """Ages, a town that two people do not share with anybody, and an illness."""
    draw = random.Random(41)
    towns = ["far", "away", *(draw.choice("abc") for _ in range(rows - 2))]
    return {
        "age": [str(draw.randint(18, 40)) for _ in range(rows)],
        "town": towns,
        "ill": [draw.choice(("flu", "cold", "gout")) for _ in range(rows)],
    }


def rules(**limits: Any) -> dict[str, Any]:
    roles = {"quasi": ["age"], "sensitive": ["ill"], "rows_are_people": True}
    kept = {"town": "where people joined"}
    return {"roles": {**roles, "kept": kept}, "limits": limits}


@pytest.mark.parametrize("how", METHODS)
@pytest.mark.parametrize("k", [3, 5])
def test_a_kept_column_that_breaks_k_is_said_and_not_found_by_the_check(
    how: str, k: int, tmp_path: Path
) -> None:
    """No release is written, and the answer names the limit; nothing fails."""
    out, policy = tmp_path / "r.csv", rules(k_anonymity={"min": k})
    result = sievert.protect(joined(), policy=policy, how=how, out=out)
    assert result.met is False and not list(tmp_path.iterdir())
    breached = [v.measure for v in result.policy.verdicts if v.met is False]
    assert "k_anonymity" in breached


def test_a_release_of_marks_and_a_kept_column_tells_nothing(tmp_path: Path) -> None:
    """Records with `*` in each quasi-identifier are suppressed, whatever is kept beside."""
    table = joined()
    table["town"] = ["abc"[row % 3] for row in range(60)]
    out, policy = tmp_path / "r.csv", rules(k_anonymity={"min": 15})
    result = sievert.protect(table, policy=policy, out=out, hierarchies={"age": "interval:40"})
    assert result.met is False and not list(tmp_path.iterdir())


@pytest.mark.parametrize("people", [False, True])
def test_protect_and_assess_show_the_same_verdicts_on_a_release_that_keeps_a_column(
    people: bool, tmp_path: Path
) -> None:
    """Kept columns help to find people; secrets are judged in the groups of quasi-identifiers."""
    table = joined()
    table["town"] = ["abc"[row % 3] for row in range(60)]
    policy = rules(k_anonymity={"min": 2}, l_diversity={"min": 1}, average_risk={"max": 1})
    if people:
        table["who"] = [str(row // 2) for row in range(60)]
        policy["roles"] = {**policy["roles"], "rows_are_people": False, "person": "who"}
    out, ages = tmp_path / "r.csv", {"age": "interval:5,10,20"}
    made = sievert.protect(table, policy=policy, out=out, hierarchies=ages, suppress=0.2)
    assert made.released
    again = policy
    if people:  # the release has no person: whoever reads it counts rows
        roles = {c: r for c, r in policy["roles"].items() if c != "person"}
        again = {**policy, "roles": {**roles, "rows_are_people": True}}
    found = sievert.assess(out, policy=again).policy
    assert found is not None

    def shown(verdicts: Any) -> set[tuple[Any, ...]]:
        return {
            (v.measure, v.where, v.met, *(() if people else (v.value, v.reading, v.scope)))
            for v in verdicts
            if v.measure != "suppressed_records"
        }

    assert shown(made.policy.verdicts) == shown(found.verdicts)
    if not people:
        assert made.policy.unjudged == found.unjudged
        readings = {v.measure: v.reading for v in made.policy.verdicts if v.scope is None}
        assert readings["average_risk"] == WITH_KEPT and readings["l_diversity"] is None
