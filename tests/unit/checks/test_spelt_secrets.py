"""Secrets whose values coincide only canonically: nothing but the policy says that they differ."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import pytest

import sievert
from sievert.formatting.toml import toml_document

N = 120
TWO = ("flu", "FLU")
ORDERED = ("flu", "FLU", "hiv")


def columns(values: tuple[str, ...] = TWO) -> dict[str, list[Any]]:
    """People in four classes, in an order that tells nothing."""
    rows = [(str(i % 4), values[i // 4 % len(values)]) for i in range(N)]
    Random(41).shuffle(rows)
    return {"zip": [row[0] for row in rows], "ill": [row[1] for row in rows]}


def policy(**more: Any) -> dict[str, Any]:
    return {
        "roles": {"quasi": ["zip"], "sensitive": ["ill"], "rows_are_people": True},
        "limits": {"k_anonymity": {"min": 5}, "l_diversity": {"min": 2}},
        **more,
    }


def reasons(found: Any) -> dict[str, tuple[str, ...]]:
    return {reason.what: reason.names for reason in found.policy.reasons}


# -- an order of the file, the frame or the caller does not say that spellings differ -------------


def with_order_of_pandas(table: dict[str, list[Any]], order: tuple[str, ...], _: Path) -> Any:
    pandas = pytest.importorskip("pandas")
    ill = pandas.Categorical(table["ill"], categories=order, ordered=True)
    return pandas.DataFrame({**table, "ill": ill})


def with_order_of_polars(table: dict[str, list[Any]], order: tuple[str, ...], _: Path) -> Any:
    polars = pytest.importorskip("polars")
    return polars.DataFrame(table, schema={"zip": polars.String, "ill": polars.Enum(order)})


def with_order_of_spss(table: dict[str, list[Any]], order: tuple[str, ...], folder: Path) -> Any:
    pyreadstat, pandas = pytest.importorskip("pyreadstat"), pytest.importorskip("pandas")
    codes = {value: float(code) for code, value in enumerate(order, 1)}
    frame = pandas.DataFrame({**table, "ill": [codes[value] for value in table["ill"]]})
    labels = {"ill": {code: value for value, code in codes.items()}}
    path = folder / "table.sav"
    pyreadstat.write_sav(
        frame, path, variable_value_labels=labels, variable_measure={"ill": "ordinal"}
    )
    return path


TABLES = [with_order_of_pandas, with_order_of_polars, with_order_of_spss]


@pytest.mark.parametrize("make", TABLES)
def test_an_order_of_the_table_does_not_say_that_spellings_differ(
    make: Any, tmp_path: Path
) -> None:
    table = make(columns(), TWO, tmp_path)
    found = sievert.assess(table, policy=policy())
    assert found.met is False and reasons(found) == {"spelt_differently": ("ill",)}
    made = sievert.protect(table, policy=policy())
    assert made.met is not True and "spelt_differently" in reasons(made)
    table = make(columns(ORDERED), ORDERED, tmp_path)  # both readings meet the limits
    assert sievert.assess(table, policy=policy()).met is None
    path = tmp_path / "policy.toml"
    path.write_text(toml_document(policy()))
    gaps = sievert.check_policy(path, table).gaps
    assert any("spelt alike" in gap.text for gap in gaps)
    compared = sievert.compare(table, {"r": table}, policy=policy(), paired=True).to_dict()
    assert compared["original"]["policy"]["spellings"] == {"ill": 2}
    assert compared["releases"][0]["policy"]["met"] is None


def test_an_order_of_the_caller_does_not_say_that_spellings_differ() -> None:
    found = sievert.assess(columns(), policy=policy(), orders={"ill": TWO})
    assert found.met is False and reasons(found) == {"spelt_differently": ("ill",)}


def test_an_order_of_the_policy_says_that_spellings_differ(tmp_path: Path) -> None:
    own = policy(orders={"ill": [*TWO]})
    assert sievert.assess(columns(), policy=own).met is True
    assert sievert.assess(with_order_of_pandas(columns(), TWO, tmp_path), policy=own).met is True
    assert sievert.protect(columns(), policy=own).met is True


# -- a secret that no limit is about --------------------------------------------------------------

UNLIMITED = {"limits": {"k_anonymity": {"min": 5}}}


def unjudged(policy: Any) -> list[tuple[str, int | None, int | None]]:
    return [(each.secret, each.people, each.of) for each in policy.unjudged]


def test_a_secret_without_a_limit_is_read_in_the_worse_way_too(tmp_path: Path) -> None:
    own = policy(**UNLIMITED)
    found = sievert.assess(columns(), policy=own)
    assert found.met is None and reasons(found) == {"spelt_differently": ("ill",)}
    assert unjudged(found.policy) == [("ill", N, N)]
    made = sievert.protect(columns(), policy=own)
    assert made.met is not True and unjudged(made.policy) == [("ill", N, N)]
    compared = sievert.compare(columns(), {"r": columns()}, policy=own, paired=True)
    assert compared.met is None
    for table in (compared.to_dict()["original"], compared.to_dict()["releases"][0]):
        assert table["policy"]["unjudged"] == [{"secret": "ill", "people": N, "of": N}]
    path = tmp_path / "policy.toml"
    path.write_text(toml_document(own))
    assert any("spelt alike" in g.text for g in sievert.check_policy(path, columns()).gaps)
    own["roles"]["distinct_spellings"] = ["ill"]
    said = sievert.assess(columns(), policy=own)
    assert said.met is True and unjudged(said.policy) == [("ill", 0, N)]


def test_people_with_several_rows_and_a_respelt_secret_without_a_limit() -> None:
    rows = {name: [*values, *values] for name, values in columns().items()}
    rows["who"] = [f"p{i % N}" for i in range(2 * N)]
    own = policy(**UNLIMITED)
    own["roles"] = {"quasi": ["zip"], "sensitive": ["ill"], "person": "who"}
    found = sievert.assess(rows, policy=own, planned=True)
    assert found.planned_met is None and unjudged(found.policy) == [("ill", N, N)]


# -- an identifier that rows share in other spellings ---------------------------------------------

FIVE = ("a{}", "A{}", " a{}", "a{}\u200b", "\uff41{}")


def visits() -> dict[str, list[Any]]:
    """60 people with five rows each, whose numbers are spelt otherwise in each row."""
    rows = [(str(i % 4), "uvw"[i % 3], spelt.format(i)) for i in range(60) for spelt in FIVE]
    Random(41).shuffle(rows)
    return dict(zip(("zip", "ill", "patient_id"), map(list, zip(*rows, strict=True)), strict=True))


@pytest.mark.parametrize("role", ["identifier", "dropped", "nothing"])
def test_rows_that_share_an_identifier_in_other_spellings(role: str, tmp_path: Path) -> None:
    own = policy()
    own["roles"] = {"quasi": ["zip"], "sensitive": ["ill"]}
    own["roles"] |= {} if role == "nothing" else {role: ["patient_id"]}
    found = sievert.assess(visits(), policy=own, planned=True)
    assert found.planned_met is False and reasons(found)["identifier_repeats"] == ("patient_id",)
    path = tmp_path / "policy.toml"
    path.write_text(toml_document(own))
    gaps = sievert.check_policy(path, visits()).gaps
    assert any(gap.what == "people_unstated" for gap in gaps)
    if role != "identifier":
        return
    people = {**own, "roles": {**own["roles"], "rows_are_people": True}}
    assert sievert.assess(visits(), policy=people, planned=True).planned_met is True
    apart = {**own, "roles": {**own["roles"], "distinct_spellings": ["patient_id"]}}
    assert sievert.assess(visits(), policy=apart, planned=True).planned_met is True


@pytest.mark.parametrize("leave_out", [None, "patient_id"])
def test_a_state_knows_that_rows_share_an_identifier_in_other_spellings(
    leave_out: str | None, tmp_path: Path
) -> None:
    own = policy()
    own["roles"] = {"quasi": ["zip"], "sensitive": ["ill"], "identifier": ["patient_id"]}
    roles = {"identifier": "patient_id"} if leave_out is None else {"leave_out": leave_out}
    sievert.count(visits(), ["zip"], ["ill"], out=tmp_path / "state", **roles)
    found = sievert.assess(tmp_path / "state", policy=own)
    assert found.planned_met is False and reasons(found)["identifier_repeats"] == ("patient_id",)


# -- value labels that coincide -------------------------------------------------------------------


def labelled(folder: Path, labels: dict[float, str]) -> Path:
    """A file of SPSS with a secret of as many codes as it has labels."""
    pyreadstat, pandas = pytest.importorskip("pyreadstat"), pytest.importorskip("pandas")
    codes = [*labels]
    rows = [(str(i % 4), codes[i // 4 % len(codes)]) for i in range(N)]
    Random(41).shuffle(rows)
    frame = pandas.DataFrame(rows, columns=["zip", "ill"])
    path = folder / "labels.sav"
    pyreadstat.write_sav(frame, path, variable_value_labels={"ill": labels})
    return path


@pytest.mark.parametrize(
    "labels",
    [
        {1.0: "flu", 2.0: "flu "},
        {1.0: "flu", 2.0: "flu"},
        {1.0: "flu", 2.0: "FLU", 3.0: "flu"},
        {1.0: "flu", 2.0: "fl\u200bu", 3.0: " flu"},
    ],
    ids=ascii,
)
def test_value_labels_that_coincide_are_one_value(labels: dict[float, str], tmp_path: Path) -> None:
    """Two codes with one label are two values, which only the policy may say to differ."""
    path = labelled(tmp_path, labels)
    found = sievert.assess(path, policy=policy())
    assert found.met is False and reasons(found) == {"spelt_differently": ("ill",)}
    assert found.to_dict()["policy"]["spellings"] == {"ill": len(labels)}
    assert sievert.assess(path, ["zip"], ["ill"]).cautions
    apart = policy()
    apart["roles"]["distinct_spellings"] = ["ill"]
    assert sievert.assess(path, policy=apart).met is True
    states = [tmp_path / "state", tmp_path / "other"]
    for state in states:
        sievert.count(path, ["zip"], ["ill"], out=state)
    assert sievert.assess(states[0], policy=policy()).planned_met is False
    sievert.merge(states, out=tmp_path / "sum", again=True)
    assert sievert.assess(tmp_path / "sum", policy=policy()).planned_met is False


def test_labels_of_codes_that_do_not_occur_do_not_count(tmp_path: Path) -> None:
    path = labelled(tmp_path, {1.0: "flu", 2.0: "hiv"})
    pyreadstat = pytest.importorskip("pyreadstat")
    frame, _ = pyreadstat.read_sav(path)
    labels = {"ill": {1.0: "flu", 2.0: "hiv", 3.0: "flu"}}
    pyreadstat.write_sav(frame, path, variable_value_labels=labels)
    assert sievert.assess(path, policy=policy()).met is True
