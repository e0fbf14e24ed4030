"""`compare` holds the limits of a policy against the original and every release."""

from __future__ import annotations

import json
import random
import tomllib
from pathlib import Path
from typing import Any

import pandas
import pytest

import sievert
from sievert import cli, terminalcompare
from sievert.comparing.judging import NOT_COMPARED, NOT_RELEASED, gathered
from sievert.comparing.run import BESIDE
from sievert.errors import UsageError
from sievert.measures import BY_ID
from sievert.notes import Name, Note

Table = dict[str, list[Any]]
QUASI, SECRETS = ["age", "zip"], ["ill", "job"]
HOW: dict[str, Any] = {"shuffles": 0, "threads": 1}


def people(number: int = 240) -> Table:
    r = random.Random(5)
    ages = [r.randrange(20, 50) for _ in range(number)]
    return {
        "age": [str(a) for a in ages],
        "zip": [str(r.randrange(3)) for _ in ages],
        "ill": [r.choice(["flu", "hiv", None, "cold"]) for _ in ages],
        "job": [f"j{(a // 10 + r.randrange(2)) % 4}" for a in ages],
    }


def tables() -> dict[str, Table]:
    table = people()
    return {
        "same": table,
        "tens": {**table, "age": [a[0] + "*" for a in table["age"]]},
        "none": {**table, "age": ["*"] * 240, "zip": ["*"] * 240},
        "without": {"zip": table["zip"], "job": table["job"]},
    }


def compared(limits: dict[str, Any], *names: str, **more: Any) -> sievert.comparison.Comparison:
    chosen = {n: t for n, t in tables().items() if n in names}
    return sievert.compare(
        people(), chosen, QUASI, SECRETS, policy={"limits": limits}, **HOW, **more
    )


def every_limit() -> dict[str, Any]:
    """A limit on every measure of a comparison, at both kinds of places; some met, some not."""
    bounds = {m: {"max" if BY_ID[m].riskier == "high" else "min": _middle(m)} for m in BESIDE}
    return {**bounds, "inference": {"job": {"l_diversity": {"min": 4}, "itpr": {"max": 1.0}}}}


def _middle(measure: str) -> float:
    return {"classes": 20, "k_anonymity": 5, "l_diversity": 3, "entropy_l": 2.5}.get(measure, 0.5)


# -- the same as an assessment --------------------------------------------------------------------


def test_verdicts_are_those_of_an_assessment() -> None:
    limits = every_limit()
    found = compared(limits, "same", "tens", "none")
    held = {None: found.original["policy"]} | {r.name: r.policy for r in found.releases}
    states, readings = set(), set()
    for name, policy in held.items():
        table = people() if name is None else tables()[name]
        alone = sievert.assess(table, QUASI, SECRETS, policy={"limits": limits})
        assert policy.to_dict() == alone.to_dict()["policy"]
        assert policy.met == alone.met
        states |= {v.met for v in policy.verdicts}
        readings |= {v.reading for v in policy.verdicts}
    assert states == {True, False}
    assert readings == {None, "without missing secrets"}  # the worse one decides


def test_a_release_without_columns() -> None:
    limits = every_limit()
    found = compared(limits, "without")
    verdicts = found["without"].policy.verdicts
    alone = sievert.assess(tables()["without"], ["zip"], ["job"], policy={"limits": limits})
    ours = [v for v in verdicts if v.where != "inference.ill"]
    assert ours == list(alone.verdicts)
    rest = [v for v in verdicts if v.where == "inference.ill"]
    assert rest and all((v.met, v.value, v.reason) == (None, None, NOT_RELEASED) for v in rest)
    assert sum("'ill' were not evaluated" in w for w in found.warnings) == 1
    keys = [(v.where, v.measure) for v in found.original["policy"].verdicts]
    assert keys == [(v.where, v.measure) for v in verdicts]


def test_a_limit_on_a_secret_that_no_release_has() -> None:
    limits = {"inference": {"ill": {"l_diversity": {"min": 2}}}}
    found = compared(limits, "without")
    assert found.met is True and found["without"].policy.doubtful == 1
    limits = {"l_diversity": {"min": 2}}
    table = people()
    bare = {q: table[q] for q in QUASI}
    found = sievert.compare(table, bare, QUASI, "ill", policy={"limits": limits}, **HOW)
    assert [v.met for v in found.releases[0].policy.verdicts] == [None]


# -- what is not evaluated ------------------------------------------------------------------------


def test_other_measures_are_not_evaluated_and_one_warning_says_so() -> None:
    limits = {
        "k_anonymity": {"min": 1},
        "beta_likeness": {"max": 3},
        "reidentification": {"records_below": {"max": 3}},
        "inference": {"job": {"t_closeness_ordered": {"max": 0.1}}},
    }
    found = compared(limits, "tens", "none", "without")
    said = [w for w in found.warnings if "does not compute" in w]
    assert len(said) == 1
    assert all(m in said[0] for m in ("beta_likeness", "records_below", "t_closeness_ordered"))
    for policy in (found.original["policy"], *(r.policy for r in found.releases)):
        open_ = {(v.measure, v.where): v.reason for v in policy.verdicts if v.met is None}
        assert set(open_.values()) == {NOT_COMPARED}
        assert ("records_below", "reidentification") in open_
        assert ("t_closeness_ordered", "inference.job") in open_
        assert {w for m, w in open_ if m == "beta_likeness"} == {"inference.ill", "inference.job"}
        assert policy.met and policy.breached == 0
    found = compared({"beta_likeness": {"max": 3}}, "tens")
    assert any("the limit on beta_likeness was not evaluated" in w for w in found.warnings)


@pytest.mark.parametrize(
    ("limits", "words"),
    [
        ({"k_anonimity": {"min": 2}}, "k_anonymity"),
        ({"inference": {"il": {"itpr": {"max": 1}}}}, "not a sensitive attribute"),
        ({"reidentification": {"beta_likeness": {"max": 1}}}, "not among the numbers"),
        ({"inference": {"ill": {"k_anonymity": {"min": 1}}}}, "not among the numbers"),
    ],
)
def test_mistakes_stay_mistakes(limits: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        compared(limits, "tens")


@pytest.mark.parametrize("measure", ["l_diversity", "beta_likeness"])
def test_a_limit_on_secrets_needs_one(measure: str) -> None:
    table, limits = people(), {measure: {"max": 2}}
    with pytest.raises(UsageError, match="name one with -s"):
        sievert.compare(table, table, QUASI, policy={"limits": limits}, **HOW)


def test_remarks_of_all_tables_are_said_once() -> None:
    one, two = Note("a {}", Name("x")), Note("b")
    assert gathered({None: [one, two], "r": [one]}) == ["a 'x'", "the original: b"]
    assert gathered({"r": [one], "s": [two, one]}) == ["a 'x'", "'s': b"]
    assert gathered({"r": [two]}) == ["b"] and gathered({}) == []
    found = compared({"k_anonymity": {"max": 9}}, "tens", "none")
    assert sum("harmless side" in w for w in found.warnings) == 1


# -- what is written ------------------------------------------------------------------------------


def test_without_limits_nothing_changes() -> None:
    chosen = {n: tables()[n] for n in ("tens", "none")}
    bare = sievert.compare(people(), chosen, QUASI, SECRETS, **HOW)
    roles = {"roles": {"quasi": QUASI, "sensitive": SECRETS}}
    other = sievert.compare(people(), chosen, policy=roles, **HOW)
    assert json.dumps(bare.to_dict()) == json.dumps(other.to_dict())
    assert "policy" not in json.dumps(bare.to_dict()) and bare.met is other.met is None
    assert terminalcompare.render(bare, everything=True) == terminalcompare.render(
        other, everything=True
    )
    held = compared({"k_anonymity": {"min": 3}}, "tens", "none").to_dict()
    for table in (held["original"], *held["releases"]):
        assert set(table.pop("policy")) == {"met", "limits"}
    assert json.dumps(held) == json.dumps(bare.to_dict())


def test_on_the_screen() -> None:
    limits = {"k_anonymity": {"min": 100}, "beta_likeness": {"max": 3}, "classes": {"max": 500}}
    found = compared(limits, "same", "none")
    text = terminalcompare.render(found)
    assert "  original: 1 of 4 breached, 2 not evaluated\n    BREACHED      k_anonymity" in text
    assert "  2 none: none breached, 2 not evaluated\n\n" in text
    assert text.count("BREACHED") == 2 and "does not compute it\n" not in text
    text = terminalcompare.render(found, everything=True)
    assert "  2 none: none breached, 2 not evaluated\n    met           k_anonymity" in text
    assert text.count("not evaluated beta_likeness (job)") == 3
    assert all(len(line) <= 100 for line in terminalcompare.render(found).splitlines())
    assert "  1 none: met (1 of 1)" in repr(compared({"k_anonymity": {"min": 100}}, "none"))


@pytest.mark.parametrize(
    ("names", "least", "code"),
    [
        (["tens", "none"], 100, 0),
        (["tens", "same"], 100, 1),
        (["tens"], 1, 0),
        (["none"], 240, 0),
        (["none"], 241, 1),
    ],
)
def test_exit_codes(names: list[str], least: int, code: int, tmp_path: Path, capfd: Any) -> None:
    pandas.DataFrame(people()).to_csv(tmp_path / "original.csv", index=False)
    for name in names:
        pandas.DataFrame(tables()[name]).to_csv(tmp_path / f"{name}.csv", index=False)
    policy = tmp_path / "p.toml"
    roles = "[roles]\nquasi = ['age', 'zip']\nsensitive = ['job']\n"
    policy.write_text(f"{roles}[limits]\nk_anonymity = {{ min = {least} }}\n")
    files = [tmp_path / f"{n}.csv" for n in ("original", *names)]
    out = tmp_path / "out.json"
    arguments = ["compare", *files, "--policy", policy, "--shuffles", 0, "--json", out]
    assert cli._run([str(a) for a in arguments]) == code
    text = capfd.readouterr().out
    data = json.loads(out.read_text())
    met = [r["policy"]["met"] for r in data["releases"]]
    assert any(met) == (code == 0)
    assert text.count("k_anonymity (reidentification)") == 1 * (least > 1) + met.count(False)
    limit = data["releases"][0]["policy"]["limits"][0]
    asked = tomllib.loads(policy.read_text())["limits"]["k_anonymity"]["min"]
    assert limit["min"] == asked and limit["measure"] == "k_anonymity"


def test_a_mistake_is_exit_2_and_help_says_when_1(tmp_path: Path, capfd: Any) -> None:
    path, policy = tmp_path / "t.csv", tmp_path / "p.toml"
    pandas.DataFrame(people()).to_csv(path, index=False)
    policy.write_text("[limits]\nk_anonimity = { min = 2 }\n")
    arguments = ["compare", path, path, "-q", "age", "--policy", policy]
    assert cli._run([str(a) for a in arguments]) == 2
    assert "k_anonymity" in capfd.readouterr().err
    cli._run(["compare", "--help"])
    assert "every release breaches one" in " ".join(capfd.readouterr().out.split())
