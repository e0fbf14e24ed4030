"""Synthetic tables that must not look harmless: wrong controls, columns that hide, few people."""

from __future__ import annotations

from html import unescape
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from helpers.synthetictables import Rows, as_dict, columns
from helpers.workbooks import text_cell, xlsx

import sievert
from sievert.commands.report.run import build_page
from sievert.commands.synthetic.attacks.control import (
    _column_chance,
    differing_columns,
    shares_people,
)
from sievert.commands.synthetic.attacks.evidence import PoolGroups, chance, risk_interval
from sievert.commands.synthetic.attacks.tables import join_tables
from sievert.errors import InputError, UsageError
from sievert.numerics.special_functions import wilson
from sievert.report.html import render as render_html
from sievert.report.markdown import render as render_markdown
from sievert.report.pipeline import junit

WHO = ("age", "sex", "job", "weight")
ROLES = {"quasi": ["age", "sex"], "sensitive": ["job", "weight"], "rows_are_people": True}


def people(records: int, seed: int) -> Rows:
    random = Random(seed)
    return [
        (
            str(random.randint(20, 70)),
            random.choice("fm"),
            random.choice("abc"),
            f"{random.gauss(70, 12):.1f}",
        )
        for _ in range(records)
    ]


OWN, OTHER, FRESH = people(200, 1), people(100, 2), people(200, 3)


def attack(fake: dict[str, Any], control: Rows | None = None, **more: Any) -> Any:
    other = as_dict(OTHER if control is None else control, WHO)
    return sievert.synthetic(as_dict(OWN, WHO), fake, other, **more)


def policy(**limits: Any) -> dict[str, Any]:
    return {"roles": ROLES, "limits": {"synthetic": limits}}


def test_people_of_an_original_with_several_rows_each_are_no_control() -> None:
    """Every row of the original has a twin, so that a control's twin there looks like chance."""
    twice = OWN + OWN
    with pytest.raises(UsageError, match="people of the original"):
        sievert.synthetic(as_dict(twice, WHO), as_dict(OWN, WHO), as_dict(OWN[:100], WHO))
    pool = people(300, 5) * 2  # a pool of twins, parted at random, is what chance makes
    Random(1).shuffle(pool)
    parts = (columns(part, WHO) for part in (pool[:400], FRESH, pool[400:]))
    assert not shares_people(join_tables(*parts))


@pytest.mark.parametrize("same", [True, False])
def test_people_with_the_same_number_are_compared(*, same: bool) -> None:
    """Two visits of the same people; the same numbers of other people say nothing."""
    random, numbers = Random(4), [str(i) for i in range(100)]
    visits = [(*row[:3], str(60 + random.randrange(40))) for row in OWN[:100]]
    other = [(*row[:3], str(60 + random.randrange(40))) for row in OWN[:100]] if same else OTHER
    tables = [{"who": numbers, **as_dict(rows, WHO[:3])} for rows in (visits, other)]
    fake = as_dict(FRESH, WHO[:3])
    if same:
        with pytest.raises(UsageError, match="people of the original"):
            sievert.synthetic(tables[0], fake, tables[1], person="who")
    else:
        assert sievert.synthetic(tables[0], fake, tables[1], person="who").control


def test_a_generator_that_has_seen_the_control_is_no_comfort() -> None:
    with pytest.raises(UsageError, match="has seen them"):
        attack(as_dict(OTHER, WHO))
    both = attack(as_dict(OWN[:120] + OTHER[:60], WHO), policy=policy(unique_copies=LIMIT))
    assert both.met is None and any("has seen the control" in str(w) for w in both.warnings)
    honest = attack(as_dict(FRESH, WHO), policy=policy(unique_copies=LIMIT))
    assert honest.met is True and not honest.tables[0].alarms


LIMIT = {"risk": {"max": 0.05}}


def test_a_small_control_decides_nothing() -> None:
    rules = policy(membership={**LIMIT, "p": {"min": 0.01}})
    few = attack(as_dict(FRESH, WHO), OTHER[:5], policy=rules)
    assert few.met is None and any("is so small" in str(w) for w in few.warnings)
    assert attack(as_dict(FRESH, WHO), policy=rules).met is True


@pytest.mark.parametrize("controls", [1, 2, 5])
def test_no_test_is_more_certain_than_one_draw(controls: int) -> None:
    scores = np.array([1e6 + i for i in range(50)] + [0.5] * controls)
    p = chance(scores, PoolGroups(50))
    assert p is not None and p >= 1 / np.prod([(50 + i) / i for i in range(1, controls + 1)]) * 0.99


def test_a_control_without_a_column_is_refused() -> None:
    control = as_dict(OTHER, WHO)
    del control["weight"]
    with pytest.raises(InputError, match="lacks 'weight'"):
        sievert.synthetic(as_dict(OWN, WHO), as_dict(OWN, WHO), control)
    with pytest.raises(UsageError, match="'age'"):  # rare values that no original has
        attack(as_dict(OWN, WHO), [(f"{row[0]} years", *row[1:]) for row in OTHER])
    parts = (columns(rows, WHO) for rows in (OWN, FRESH, OTHER))
    assert not differing_columns(join_tables(*parts))


def test_a_column_that_is_written_differently_hides_no_copies() -> None:
    """Words recoded, numbers on another scale, spaces, suppressed: copies are seen without it."""
    for column, write in (
        ("sex", {"f": "1", "m": "2"}.get),
        ("weight", lambda text: str(float(text) / 1000)),
        ("age", lambda text: f" {text}"),
        ("job", lambda text: "*"),
    ):
        fake = as_dict(OWN, WHO)
        fake[column] = [write(text) for text in fake[column]]  # type: ignore[arg-type, operator]
        result = attack(fake, policy=policy(membership={"rate": {"max": 1.0}}))
        copies = result.tables[0].results.attacks["copies"].original
        assert copies.rate == 1.0 and "copies" in result.tables[0].alarms
        assert any(f"{column!r}, of which" in str(w) for w in result.warnings)
        reason, *others = result.tables[0].policy.reasons
        assert [other.what for other in others] == ["traces_not_limited"]
        assert (reason.what, reason.names, result.met) == ("columns_not_compared", (column,), None)
    with pytest.raises(InputError, match="no column has a value"):
        attack({name: ["?"] for name in WHO})
    decimals = as_dict(OWN, WHO)
    decimals["age"] = [f"{text}.0" for text in decimals["age"]]
    assert attack(decimals).tables[0].results.attacks["copies"].original.rate == 1.0


def test_columns_that_only_the_synthetic_table_has_are_named() -> None:
    fake = as_dict(FRESH, WHO)
    fake["Weight"] = fake.pop("weight")
    rules = policy(membership={"rate": {"max": 1.0}})
    result = attack(fake, policy=rules)
    assert any("'Weight', which the original lacks" in str(w) for w in result.warnings)
    assert result.met is False
    assert "columns_without_role" in {r.what for r in result.tables[0].policy.reasons}
    numbered = [
        {"id": [f"{who}{i}" for i in range(len(rows))], **as_dict(rows, WHO)}
        for who, rows in (("p", OWN), ("p", FRESH), ("q", OTHER))
    ]
    told = sievert.synthetic(*numbered, identifier="id")
    assert any("'id': leave identifiers out" in str(w) for w in told.warnings)


def test_a_constant_secret_is_no_risk_and_no_comfort() -> None:
    own, other, fake = ([(*row[:2], "a", row[3]) for row in rows] for rows in (OWN, OTHER, FRESH))
    tables = (as_dict(rows, WHO) for rows in (own, fake, other))
    result = sievert.synthetic(*tables, policy=policy(inference=LIMIT))
    assert result.tables[0].results.inference["job"].risk is None and result.met is None


def test_one_record_says_how_little_it_shows() -> None:
    one = sievert.synthetic(*(as_dict(rows[:1], WHO) for rows in (OWN, OWN, OTHER)))
    copies = one.tables[0].results.attacks["copies"]
    assert (copies.risk, copies.p, copies.least_excess) == (1.0, 0.5, 1.0)
    distances = one.tables[0].results.attacks["membership"].details["distances"]
    assert distances["nndr_auc"] is None  # one synthetic row has no second nearest
    assert distances["dcr_auc"] == 1.0
    assert any("is so small" in str(w) for w in one.warnings)


@pytest.mark.parametrize("number", ["rate", "risk", "high", "least_excess"])
@pytest.mark.parametrize("bound", [5.0, 100.0, -0.1])
def test_a_limit_that_is_no_share_is_a_mistake(number: str, bound: float) -> None:
    """5 for 5 % would be met by the original itself."""
    with pytest.raises(UsageError, match="share from 0 to 1"):
        attack(as_dict(OWN, WHO), policy=policy(copies={number: {"max": bound}}))
    found = attack(as_dict(OWN, WHO), policy=policy(copies={"rate": {"max": 0.05}}))
    assert found.met is False


def test_the_upper_end_of_a_risk_is_there_where_most_strangers_are_hit() -> None:
    """Failures 2 of 6 against 1 of 4: the root of (f_T - t f_C)^2 = (f_T - l_T)^2 + t^2 (...)^2."""
    own, other = np.array([1.0, 1, 1, 1, 0, 0]), np.array([1.0, 1, 1, 0])
    risk, low, high = risk_interval(own, other)
    assert risk == pytest.approx(-1 / 3) and low is not None and low < risk
    assert high is not None and risk < high < 1
    (least, _), (_, most) = wilson(2, 6), wilson(1, 4)
    ratio = 1 - high
    given = (1 / 3 - least) ** 2 + ratio**2 * (most - 1 / 4) ** 2
    assert (1 / 3 - ratio / 4) ** 2 == pytest.approx(given)
    assert risk_interval(np.ones(3), other)[2] == 1.0  # everybody is hit: no more can be


def visits(people_of: Rows, who: str, times: int) -> dict[str, list[str]]:
    """Every person with one to `times` rows, which differ in the weight only."""
    random = Random(who)
    rows = [
        (f"{who}{i}", *row[:3], f"{float(row[3]) + visit:.1f}")
        for i, row in enumerate(people_of)
        for visit in range(random.randint(1, times))
    ]
    return as_dict(rows, ("id", *WHO))


def test_people_with_several_rows_are_a_control_and_wrong_ones_are_none() -> None:
    """Rows of a person come together: they say once, not six times, how people differ."""
    fake = {name: visits(FRESH, "s", 6)[name] for name in WHO}
    refused = 0
    for seed in range(10, 30):
        own, other = (
            visits(people(80, seed + more), who, 6) for more, who in ((0, "t"), (50, "c"))
        )
        try:
            sievert.synthetic(own, fake, other, person="id")
        except UsageError:
            refused += 1
    assert refused <= 2
    own = visits(OWN, "t", 6)
    others = [(row[0], row[1], "a", row[3]) for row in OTHER]
    with pytest.raises(UsageError, match="'job'"):
        sievert.synthetic(own, fake, visits(others, "c", 6), person="id")
    with pytest.raises(UsageError, match="people of the original"):
        sievert.synthetic(own, fake, visits(OWN[:60], "c", 6), person="id")


def test_people_who_came_alone_differ_as_by_chi_square() -> None:
    rows, others = people(300, 11), people(150, 12)
    tables = [columns(part, WHO) for part in (rows, FRESH, others)]
    alone = join_tables(*tables)
    each = join_tables(*tables, clusters=np.arange(450))
    for at in range(len(WHO)):
        assert _column_chance(each, at) == pytest.approx(_column_chance(alone, at), abs=0.02)


@pytest.mark.parametrize("times", [1, 2])
def test_other_rows_of_a_person_are_a_caution(times: int) -> None:
    """A row that is copied is no nearer than the person's own other row."""
    tables = [
        as_dict(rows * times, WHO) | {"id": [f"{who}{i}" for i in range(len(rows))] * times}
        for who, rows in (("a", OWN), ("b", OTHER))
    ]
    found = sievert.synthetic(tables[0], as_dict(FRESH, WHO), tables[1], person="id")
    cautions = found.to_dict()["cautions"]
    assert any("several rows" in caution for caution in cautions) == (times > 1)


# -- a yes beside an alarm ------------------------------------------------------------------------


def copied(**limits: Any) -> Any:
    """Half of the people are copied; the limits are met by any table unless given otherwise."""
    fake = as_dict([*FRESH[:100], *OWN[:100]], WHO)
    every = ("copies", "unique_copies", "singling_out", "membership", "inference")
    own = {name: {"rate": {"max": 1.0}} for name in every}
    return attack(fake, policy=policy(**{**own, **limits}))


def test_limits_that_tolerate_a_leak_give_no_bare_yes() -> None:
    """One headline says both, on every output; it is not marked as a yes."""
    result = copied()
    assert "copies" in result.tables[0].alarms and result.met is True
    headline = "The policy's limits are met, but attacks found traces of people: copies"
    html, shown = result._repr_html_(), " ".join(repr(result).split())
    assert f"? {headline}" in shown and "Yes" not in shown.split(headline)[0]
    page = build_page([result])
    for text in (html, render_markdown(page), render_html(page)):
        assert headline in " ".join(unescape(text).split()) and "Yes, by this policy" not in text
    content = result.to_dict()
    assert content["policy"]["met"] is True and "copies" in content["policy"]["alarms"]
    assert content["synthetic"][0]["policy"]["alarms"] == content["synthetic"][0]["alarms"]


def test_a_pipeline_has_no_bare_yes_beside_an_alarm() -> None:
    text = junit(copied().to_dict())
    assert "limits are met, but attacks found traces of people: copies" in text
    assert "The policy is met" not in text
    fresh = attack(as_dict(FRESH, WHO), policy=policy(copies={"rate": {"max": 1.0}}))
    assert not fresh.tables[0].alarms and "The policy is met." in junit(fresh.to_dict())


def test_a_secret_whose_inference_is_limited_is_judged() -> None:
    """A page said that nothing limits what is learnt about a secret, beside the limit on it."""
    limited = copied(inference={"rate": {"max": 0.99}})
    assert [each.secret for each in limited.tables[0].policy.unjudged] == []
    # No table can breach a limit of 1, so that it judges nothing.
    tolerant = copied()
    assert [each.secret for each in tolerant.tables[0].policy.unjudged] == ["job", "weight"]
    remark = "no table can breach the limit on copies.rate (synthetic)"
    assert tolerant.warnings.count(remark) == 1
    fake = as_dict(FRESH, WHO)
    result = attack(fake, policy=policy(copies={"rate": {"max": 1.0}}))
    assert [each.secret for each in result.tables[0].policy.unjudged] == ["job", "weight"]


def test_a_leak_that_the_policy_does_not_limit_leaves_it_undecided() -> None:
    """The limits are on one attack, and another one sees the copies."""
    fake = as_dict([*FRESH[:100], *OWN[:100]], WHO)
    result = attack(fake, policy=policy(inference={"rate": {"max": 1.0}}))
    assert result.met is None and not result.passed
    (reason,) = result.tables[0].policy.reasons
    assert reason.what == "traces_not_limited" and "copies" in reason.names
    assert "does not limit these attacks" in " ".join(repr(result).split())


def test_a_no_without_an_alarm_says_both() -> None:
    result = attack(as_dict(FRESH, WHO), policy=policy(inference={"rate": {"max": 0.0}}))
    assert not result.tables[0].alarms and result.met is False
    assert "although no attack found traces of people" in " ".join(repr(result).split())


def test_several_tables_one_of_which_leaks() -> None:
    fake = as_dict([*FRESH[:100], *OWN[:100]], WHO)
    every = ("copies", "unique_copies", "singling_out", "membership", "inference")
    rules = policy(**{name: {"rate": {"max": 1.0}} for name in every})
    tables = [as_dict(FRESH, WHO), fake]
    result = sievert.synthetic(as_dict(OWN, WHO), tables, as_dict(OTHER, WHO), policy=rules)
    assert [bool(t.alarms) for t in result.tables] == [False, True] and result.met is True
    shown = " ".join(repr(result).split())
    assert shown.startswith("?") and "Attacks found traces of people in" in shown
    assert result.to_dict()["policy"]["alarms"]


def test_a_kept_column_of_values_of_their_own_is_undecided() -> None:
    """The synthetic table has the numbers of the people, in another order."""
    people = {"zip": ["1", "2"] * 30, "ill": ["flu", "cold", "hiv"] * 20}
    numbers = [f"U{i}" for i in range(60)]
    original = {**people, "wave": numbers}
    policy = {
        "roles": {
            "quasi": ["zip"],
            "sensitive": ["ill"],
            "rows_are_people": True,
            "kept": {"wave": {"reason": "readers compare", "outsiders_cannot_know": True}},
        },
        "limits": {"synthetic": {"copies": {"rate": {"max": 1}}}},
    }
    fake = {**people, "wave": numbers[::-1]}
    judged = sievert.synthetic(original, fake, policy=policy).tables[0].policy
    assert judged is not None and judged.met is not True
    assert {r.what: list(r.names) for r in judged.reasons}["kept_unique"] == ["wave"]
    fake = {**people, "wave": ["a", "b"] * 30}
    judged = sievert.synthetic(fake, fake, policy=policy).tables[0].policy
    assert judged is not None and "kept_unique" not in {r.what for r in judged.reasons}


def test_a_synthetic_workbook_with_another_sheet_is_undecided(tmp_path: Path) -> None:
    pytest.importorskip("python_calamine")
    fake = as_dict(FRESH, WHO)
    header, rows = [*fake], zip(*fake.values(), strict=True)
    cells = ["".join(text_cell(str(cell)) for cell in row) for row in (header, *rows)]
    rules = policy(unique_copies=LIMIT)
    alone = xlsx(tmp_path / "alone.xlsx", Data=cells)
    assert attack(alone, policy=rules).met is True
    more = xlsx(tmp_path / "more.xlsx", Data=cells, People=[text_cell("Anna")])
    result = attack(more, policy=rules)
    assert result.met is None
    judged = result.tables[0].policy
    assert judged is not None and [r.what for r in judged.reasons] == ["other_tables"]
