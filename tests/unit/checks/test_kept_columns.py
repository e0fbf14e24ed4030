"""Kept columns decide the limits on finding people, whatever role options give them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from helpers.commandline import run

import sievert
from sievert.errors import InputError

Table = dict[str, list[Any]]
N = 40
K = {"k_anonymity": {"min": 5}}


def table(**more: list[Any]) -> Table:
    """Forty people in four classes of ten; two of each class have the same w."""
    return {
        "zip": [str(i // 10) for i in range(N)],
        "ill": [["flu", "hiv", "cold"][i % 3] for i in range(N)],
        "w": [f"w{i % 5}" for i in range(N)],
        **more,
    }


def policy(limits: dict[str, Any] | None = None, **roles: Any) -> dict[str, Any]:
    own = {"quasi": ["zip"], "sensitive": ["ill"], "kept": {"w": "to join waves"}}
    return {"roles": {**own, "rows_are_people": True, **roles}, "limits": limits or K}


def reasons(found: Any) -> dict[str, tuple[bool | None, tuple[str, ...]]]:
    return {r.what: (r.met, r.names) for r in found.policy.reasons}


def write(path: Path, columns: Table) -> Path:
    rows = zip(*columns.values(), strict=True)
    lines = [",".join(columns), *(",".join(map(str, row)) for row in rows)]
    path.write_text("\n".join(lines) + "\n")
    return path


RULES = """
[roles]
quasi = ["zip"]
sensitive = ["ill"]
kept = { w = "to join waves" }
rows_are_people = true
[limits]
k_anonymity = { min = 5 }
"""


# -- a kept column that options give another role ---------------------------------------------


@pytest.mark.parametrize(
    "options",
    [
        {"sensitive": ["ill", "w"]},
        {"identifier": "w"},
        {"identifier": "w", "planned": True},
        {"person": "w"},
        {"household": "w"},
        {"weight": "w"},
        {"key_sets": [["zip"], ["w"]]},
    ],
    ids=str,
)
def test_a_kept_column_with_another_role_is_not_met(options: dict[str, Any]) -> None:
    weights = {"w": [1 + i % 5 for i in range(N)]}
    found = sievert.assess(table(**weights), policy=policy(), **options)
    assert found.met is not True and found.policy is not None
    assert found.policy.outcome is False
    replaced = reasons(found)["roles_replaced"]
    assert replaced[0] is False and "w" in replaced[1]


@pytest.mark.parametrize("sets", [None, [["zip", "w"], ["w"]]])
def test_a_kept_column_as_one_more_quasi_identifier_is_stricter(sets: Any) -> None:
    given: dict[str, Any] = {"quasi": ["zip", "w"]} if sets is None else {"key_sets": sets}
    found = sievert.assess(table(), policy=policy(), **given)
    assert found.met is False and "roles_replaced" not in reasons(found)
    found = sievert.assess(table(), policy=policy({"k_anonymity": {"min": 2}}), **given)
    assert found.met is True and not found.policy.reasons


def test_a_kept_column_that_is_made_a_secret_is_not_met_by_any_command(tmp_path: Path) -> None:
    """assess, protect and compare say the same of a table that is not met without the option."""
    whole = table()
    as_secret = {"policy": policy(), "sensitive": ["ill", "w"]}
    out = tmp_path / "r.csv"
    made = sievert.protect(whole, **as_secret, levels={"zip": 0}, out=out)
    assert made.met is False and reasons(made)["roles_replaced"] == (False, ("w",))
    assert not out.exists()
    compared = sievert.compare(whole, {"r": whole}, **as_secret, paired=True)
    assert compared.met is False
    assert reasons(compared.releases[0])["roles_replaced"] == (False, ("w",))


def test_the_command_line_does_not_meet_a_policy_with_a_kept_secret(tmp_path: Path) -> None:
    data = write(tmp_path / "t.csv", table())
    rules = tmp_path / "p.toml"
    rules.write_text(RULES)
    line = ["assess", str(data), "--policy", str(rules), "--quick"]
    assert run(*line) == 1
    assert run(*line, "-s", "ill,w") == 1


# -- suppressed rows by their kept columns ----------------------------------------------------


def with_suppressed(kept: list[str], **more: list[Any]) -> Table:
    """The same table with all w alike, and one suppressed row for each of `kept`."""
    number = len(kept)
    whole = table(w=["a"] * N)
    return {
        "zip": [*whole["zip"], *["*"] * number],
        "ill": [*whole["ill"], *["flu", "hiv", "cold"] * (number // 3), *["flu"] * (number % 3)],
        "w": [*whole["w"], *kept],
        **more,
    }


def of_suppressed(found: Any) -> dict[str, tuple[Any, Any]]:
    return {v.measure: (v.value, v.met) for v in found.verdicts if v.scope == "suppressed"}


LIMITS = {
    "k_anonymity": {"min": 7},
    "highest_risk": {"max": 0.15},
    "records_below": {"max": 0},
    "unique_records": {"max": 0},
    "suppressed_records": {"max": 60},
}
RARE: dict[str, tuple[list[str], tuple[float, float, float, float]]] = {
    "one of forty": (["b"] * 39 + ["c"], (1, 1.0, 1, 1 / 80)),
    "halves": (["b", "c"] * 6, (6, 1 / 6, 0, 0)),
}


@pytest.mark.parametrize("person", [False, True])
@pytest.mark.parametrize("name", RARE)
def test_kept_columns_tell_suppressed_rows_apart(name: str, person: bool) -> None:
    kept, (k, risk, below, unique) = RARE[name]
    whole = with_suppressed(kept)
    roles: dict[str, Any] = {}
    planned = {}
    if person:  # two rows each
        whole = {column: [*values, *values] for column, values in whole.items()}
        whole["key"] = [f"k{i}" for i in range(len(kept) + N)] * 2
        roles = {"person": "key", "rows_are_people": False}
        planned = {"planned": True}
    limits = {**LIMITS, "suppressed_records": {"max": 200}}
    found = sievert.assess(whole, policy=policy(limits, **roles), quick=True, **planned)
    assert found.policy is not None and found.policy.outcome is False
    own = of_suppressed(found)
    assert own["k_anonymity"] == (k, False) and own["highest_risk"] == (risk, False)
    if below:
        assert own["records_below"] == (below, False)
        assert own["unique_records"] == (pytest.approx(unique), False)
    lines = [v for v in found.verdicts if v.scope == "suppressed" and v.measure == "k_anonymity"]
    assert lines[0].reading == "with the kept columns as quasi-identifiers"


def test_kept_columns_that_nobody_knows_do_not_tell_suppressed_rows_apart() -> None:
    unknown = {"w": {"reason": "to join waves", "outsiders_cannot_know": True}}
    found = sievert.assess(with_suppressed(["b", "c"] * 6), policy=policy(LIMITS, kept=unknown))
    assert of_suppressed(found)["k_anonymity"] == (12, True)


def test_other_small_classes_are_counted_with_those_of_suppressed_rows() -> None:
    """Two people share zip 0 and w x; of the suppressed rows one is alone with c."""
    whole = with_suppressed(["b"] * 39 + ["c"])
    whole["w"][:3] = ["x", "x", "y"]
    limits = {**LIMITS, "unique_records": {"max": 0.01}}
    own = of_suppressed(sievert.assess(whole, policy=policy(limits), quick=True))
    assert own["unique_records"] == (pytest.approx(2 / 80), False)
    assert own["records_below"] == (4, False)


def test_compare_judges_suppressed_rows_by_their_kept_columns() -> None:
    release = with_suppressed(["b", "c"] * 6)
    original = {**release, "zip": [str(i // 13) for i in range(N + 12)]}
    limits = {"k_anonymity": {"min": 7}, "suppressed_records": {"max": 60}}
    compared = sievert.compare(original, {"r": release}, policy=policy(limits), paired=True)
    verdicts = compared.releases[0].policy.verdicts
    own = [v for v in verdicts if v.scope == "suppressed" and v.measure == "k_anonymity"]
    assert [(v.value, v.met) for v in own] == [(6, False)]


def test_suppressed_rows_with_respelt_secrets_are_told_apart_by_kept_columns() -> None:
    whole = with_suppressed(["b", "c"] * 6)
    whole["ill"][0] = "FLU"
    found = sievert.assess(
        whole, policy=policy({"k_anonymity": {"min": 7}, "l_diversity": {"min": 1}})
    )
    assert of_suppressed(found)["k_anonymity"] == (6, False)


# -- protect, with several rows for a person --------------------------------------------------


def visits(rows: int = 2) -> Table:
    """Forty people with several rows; w is a code of each person, shared by nobody."""
    whole = table(w=[f"c{i}" for i in range(N)], key=[f"k{i}" for i in range(N)])
    return {column: values * rows for column, values in whole.items()}


@pytest.mark.parametrize("out", [False, True])
def test_a_kept_column_that_is_unique_per_person_is_undecided(out: bool, tmp_path: Path) -> None:
    unknown = {"w": {"reason": "to join waves", "outsiders_cannot_know": True}}
    own = policy(kept=unknown, person="key", rows_are_people=False)
    file = tmp_path / "r.csv"
    made = sievert.protect(visits(), policy=own, **({"out": file} if out else {}))
    assert made.met is None and reasons(made)["kept_unique"] == (None, ("w",))
    assert not file.exists()


@pytest.mark.parametrize("out", [False, True])
@pytest.mark.parametrize("rows", ["keep", "drop", "auto"])
def test_suppression_that_leaves_kept_values_alone_is_undecided(
    rows: str, out: bool, tmp_path: Path
) -> None:
    """In the table w is shared by two people each; one of each pair is suppressed."""
    number = 120
    alone = [f"s{i}" for i in range(10)]
    whole: Table = {
        "zip": [str(i % 4) for i in range(number)] + [f"9{i}" for i in range(10)],
        "ill": [["flu", "hiv", "cold"][i % 3] for i in range(number + 10)],
        "w": [*alone, *["a"] * (number - 10), *alone],
    }
    unknown = {"w": {"reason": "to join waves", "outsiders_cannot_know": True}}
    own = policy({**K, "suppressed_records": {"max": 20}}, kept=unknown)
    file = tmp_path / "r.csv"
    made = sievert.protect(
        whole,
        policy=own,
        levels={"zip": 0},
        suppress=0.1,
        suppressed_rows=rows,
        **({"out": file} if out else {}),
    )
    assert made.met is None and reasons(made)["kept_unique"] == (None, ("w",))
    assert not file.exists()


# -- kept columns and secrets that say who somebody is ------------------------------------------


def with_names(role: str, name: str, values: list[Any]) -> tuple[Table, dict[str, Any]]:
    """A table in classes of fifty with one more column, which is kept or a secret."""
    number = len(values)
    whole: Table = {
        "zip": [str(i * 4 // number) for i in range(number)],
        "ill": [["flu", "hiv", "cold"][i % 3] for i in range(number)],
        name: values,
    }
    unknown = {name: {"reason": "the researcher needs it", "outsiders_cannot_know": True}}
    roles = {"kept": unknown} if role == "kept" else {"kept": {}, "sensitive": ["ill", name]}
    return whole, policy(**roles)


SHARED = [f"Anna B. {i % 60}" for i in range(240)]  # four people each


@pytest.mark.parametrize("role", ["kept", "secret"])
@pytest.mark.parametrize("name", ["name", "Name, Vorname", "PatNr", "patient_id", "e_mail"])
def test_names_that_people_share_name_them_all_the_same(name: str, role: str) -> None:
    whole, own = with_names(role, name, SHARED)
    found = sievert.assess(whole, policy=own)
    assert found.met is None and reasons(found)[f"{role}_names_people"] == (None, (name,))
    text = " ".join(repr(found).split())
    assert "rename it only if it does not say who somebody is" in text
    few = with_names(role, name, [f"Anna B. {i % 50}" for i in range(240)])[0]
    assert f"{role}_names_people" not in reasons(sievert.assess(few, policy=own))


@pytest.mark.parametrize("role", ["kept", "secret"])
@pytest.mark.parametrize("name", ["drug_name", "patient_age", "diagnosis_id", "w"])
def test_other_columns_may_have_many_values(name: str, role: str) -> None:
    whole, own = with_names(role, name, SHARED)
    assert f"{role}_names_people" not in reasons(sievert.assess(whole, policy=own))


@pytest.mark.parametrize("out", [False, True])
def test_a_kept_name_is_said_by_every_command(out: bool, tmp_path: Path) -> None:
    whole, own = with_names("kept", "name", SHARED)
    expected = (None, ("name",))
    file = tmp_path / "r.csv"
    made = sievert.protect(whole, policy=own, **({"out": file} if out else {}))
    assert made.met is None and reasons(made)["kept_names_people"] == expected
    assert not file.exists()
    compared = sievert.compare(whole, {"r": whole}, policy=own, paired=True)
    assert reasons(compared.releases[0])["kept_names_people"] == expected
    rules = tmp_path / "p.toml"
    kept = '{ reason = "the researcher needs it", outsiders_cannot_know = true }'
    rules.write_text(RULES.replace('kept = { w = "to join waves" }', f"kept = {{ name = {kept} }}"))
    gaps = sievert.check_policy(rules, whole).gaps
    assert ("undecided", "name") in [(gap.what, gap.name) for gap in gaps]


def test_names_of_suppressed_rows_are_looked_at() -> None:
    whole, own = with_names("kept", "name", ["x"] * 240)
    own["limits"] = {"k_anonymity": {"min": 5}, "suppressed_records": {"max": 60}}
    more = {"zip": ["*"] * 60, "ill": ["flu", "hiv"] * 30, "name": [f"Anna {i}" for i in range(60)]}
    whole = {column: [*values, *more[column]] for column, values in whole.items()}
    assert "kept_names_people" in reasons(sievert.assess(whole, policy=own))


# -- weights --------------------------------------------------------------------------------------


def weighted(values: list[Any], **options: Any) -> Any:
    number = len(values)
    whole: Table = {
        "zip": [str(i * 2 // number) for i in range(number)],
        "ill": [["flu", "hiv", "cold"][i % 3] for i in range(number)],
        "w": values,
    }
    return sievert.assess(whole, policy=policy(kept={}, weight="w"), **options)


NUMBERS: dict[str, list[Any]] = {
    "numbers": [100000 + 7 * i for i in range(20)],
    "texts": [str(100000 + 7 * i) for i in range(40)],
    "floats": [100000.0 + 7 * i for i in range(40)],
    "two alike": [100000, *[100000 + 7 * i for i in range(39)]],
}


@pytest.mark.parametrize("name", NUMBERS)
@pytest.mark.parametrize("options", [{}, {"weight": "w"}], ids=["policy", "option"])
def test_whole_numbers_that_all_differ_may_be_people(name: str, options: dict[str, Any]) -> None:
    found = weighted(NUMBERS[name], **options)
    assert found.met is None and reasons(found)["weight_names_people"] == (None, ("w",))


OTHERS: dict[str, list[Any]] = {
    "few records": [100000 + 7 * i for i in range(19)],
    "shared": [100000 + 7 * (i // 2) for i in range(40)],
    "fractions": [100000.5 + 7 * i for i in range(40)],
}


@pytest.mark.parametrize("name", OTHERS)
def test_other_numbers_are_weights(name: str) -> None:
    assert weighted(OTHERS[name]).met is True


@pytest.mark.parametrize("least", [-2, "-2", -0.5, "-1e-3"])
@pytest.mark.parametrize("options", [{}, {"weight": "w"}], ids=["policy", "option"])
def test_a_weight_below_0_is_an_error_wherever_it_is_named(
    least: Any, options: dict[str, Any]
) -> None:
    with pytest.raises(InputError, match="1 record with a weight below 0"):
        weighted([least, *[type(least)(2)] * 39], **options)
    zero = "-0" if isinstance(least, str) else type(least)(0)
    assert weighted([zero, *[type(least)(2)] * 39], **options).met is True
