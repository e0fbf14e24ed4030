"""`compare` holds the limits of a policy against the original and every release."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pandas
import pytest
from helpers.commandline import run

import sievert
from sievert.commands.compare.policy import NEEDS, NOT_PLACED, NOT_RELEASED, gather_remarks
from sievert.commands.compare.run import BESIDE
from sievert.errors import UsageError
from sievert.formatting.remarks import Caution, Remark
from sievert.measures import BY_ID, MEASURES
from sievert.report import builder, terminal

Table = dict[str, list[Any]]
QUASI, SECRETS = ["age", "zip"], ["ill", "job"]
HOW: dict[str, Any] = {"shuffles": 0, "threads": 1}
EXAMPLES = Path(__file__).parents[3] / "examples"


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


def compared(
    limits: dict[str, Any], *names: str, **more: Any
) -> sievert.commands.compare.result.Comparison:
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
    held = {None: found.original.policy} | {r.name: r.policy for r in found.releases}
    states, readings = set(), set()
    for name, policy in held.items():
        table = people() if name is None else tables()[name]
        # A release that is suppressed as a whole is one class.
        alone = sievert.assess(
            table, QUASI, SECRETS, policy={"limits": limits}, keep_suppressed=name == "none"
        )
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
    keys = [(v.where, v.measure) for v in found.original.policy.verdicts]
    assert keys == [(v.where, v.measure) for v in verdicts]


def test_a_limit_on_a_secret_that_no_release_has() -> None:
    limits = {"inference": {"ill": {"l_diversity": {"min": 2}}}}
    found = compared(limits, "without")
    assert found.met is None and not found.passed and found["without"].policy.doubtful == 1
    limits = {"l_diversity": {"min": 2}}
    table = people()
    bare = {q: table[q] for q in QUASI}
    found = sievert.compare(table, bare, QUASI, "ill", policy={"limits": limits}, **HOW)
    assert [v.met for v in found.releases[0].policy.verdicts] == [None]


# -- measures that are compared for their limits only ---------------------------------------------


@pytest.fixture(scope="module")
def hospital(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tables of the demonstration, of fewer patients."""
    place = tmp_path_factory.mktemp("hospital")
    program = [sys.executable, EXAMPLES / "hospital.py", place / "hospital.csv"]
    options = ["--rows", "400", "--hierarchies", place / "ladders", "--releases", place]
    subprocess.run([str(a) for a in (*program, *options)], check=True, capture_output=True)
    return place


@pytest.mark.slow
def test_the_policy_of_the_demonstration(hospital: Path) -> None:
    """Every limit that an assessment evaluates is evaluated, with the same result."""
    how = {
        "policy": EXAMPLES / "hospital_policy.toml",
        "hierarchies": {"diagnosis": hospital / "ladders" / "diagnosis.csv"},
        "types": {"length_of_stay": "int"},
    }
    names = ("bands", "hidden", "noisy")
    files = {n: hospital / f"{n}.csv" for n in names}
    found = sievert.compare(hospital / "hospital.csv", files, **how, **HOW)
    alone = sievert.assess(hospital / "hospital.csv", **how)
    assert found.original.policy.to_dict() == alone.to_dict()["policy"]
    assert len(alone.verdicts) == 13 and not found.original.policy.doubtful
    for name in names:
        alone = sievert.assess(files[name], identifier=[], **how)
        assert found[name].policy.to_dict() == alone.to_dict()["policy"]
    rate = found["bands"].assessment.inference["diagnosis"]["semantic_discrimination_rate"]
    alone = sievert.assess(files["bands"], identifier=[], **how)
    assert rate == alone.inference["diagnosis"]["semantic_discrimination_rate"]
    assert not any("not evaluated" in w for w in found.warnings)


def test_a_limit_on_every_measure_there_is() -> None:
    """With an order, a hierarchy and a partition of a secret, and with parameters."""
    values = ["flu", "hiv", "cold"]
    ladder = {"flu": ("mild", "*"), "cold": ("mild", "*"), "hiv": ("grave", "*")}
    some = [i for i, ill in enumerate(people()["ill"]) if ill is not None]

    def known(table: Table) -> Table:
        return {c: [held[i] for i in some] for c, held in table.items()}

    end = {"high": "max", "low": "min", "neither": "max"}
    limits = {
        kind: {m.id: {end[m.riskier]: m.low or 0.0} for m in MEASURES if kind_ in m.kinds}
        for kind, kind_ in (("reidentification", "record"), ("ill", "secret"))
    }
    house = {
        "limits": {
            "reidentification": limits["reidentification"],
            "inference": {"ill": limits["ill"]},
        },
        "orders": {"ill": ["cold", "flu", "hiv"]},
        "partitions": {"ill": {"grave": ["hiv"]}},
        "parameters": {"recursive_c": {"l": 2}, "records_below": {"k": [2, 7]},
                       "alpha_k": {"value": {"ill": "hiv"}},
                       "population_uniques": {"population_size": 5000}},
    }  # fmt: skip
    how: dict[str, Any] = {"policy": house, "hierarchies": {"ill": ladder}}
    tens = known(tables()["tens"])
    assert set(tens["ill"]) == set(values)
    found = sievert.compare(known(people()), {"tens": tens}, QUASI, "ill", **how, **HOW)
    for policy, table in (
        (found.original.policy, known(people())),
        (found["tens"].policy, tens),
    ):
        alone = sievert.assess(table, QUASI, "ill", **how)
        assert policy.to_dict() == alone.to_dict()["policy"]
        assert len(policy.verdicts) == sum(len(x) for x in limits.values())


def test_orders_of_the_table_itself_count() -> None:
    table = pandas.DataFrame(people()).assign(pay=[float(i % 7) for i in range(240)])
    bands = table.assign(pay=[f"band {i % 7 // 3}" for i in range(240)])
    limits = {"k_anonymity": {"min": 1}, "inference": {"pay": {"t_closeness_ordered": {"max": 1}}}}
    found = sievert.compare(table, {"bands": bands}, QUASI, "pay", policy={"limits": limits}, **HOW)
    assert not found.original.policy.breached and not found.original.policy.doubtful
    assert [v.reason for v in found["bands"].policy.verdicts] == [None, NEEDS["order"]]


def test_values_of_a_release_without_a_place() -> None:
    """A secret that was recoded, too, has no place in the order of the original's values."""
    table = people()
    coarse = {**table, "job": ["j01" if j in ("j0", "j1") else "j23" for j in table["job"]]}
    limits = {
        m: {"max": 0.0}
        for m in ("t_closeness_ordered", "t_closeness_hierarchical", "beta_likeness")
    }
    house = {
        "limits": {"inference": {"job": limits}},
        "orders": {"job": ["j0", "j1", "j2", "j3"]},
    }
    ladder = {f"j{i}": ("*",) for i in range(4)} | {"j01": ("*",), "j23": ("*",)}
    found = sievert.compare(
        table, {"coarse": coarse, "same": table}, QUASI, SECRETS, policy=house,
        hierarchies={"job": ladder}, **HOW,
    )  # fmt: skip
    assert not found.original.policy.doubtful and not found["same"].policy.doubtful
    reasons = {v.measure: v.reason for v in found["coarse"].policy.verdicts}
    assert reasons.pop("t_closeness_ordered") == NOT_PLACED
    assert set(reasons.values()) == {None}
    text = "'coarse': the limit on t_closeness_ordered ('job') was not evaluated: values of"
    assert sum(w.startswith(text) for w in found.warnings) == 1
    short = {**house, "orders": {"job": ["j0", "j1", "j2"]}}
    with pytest.raises(UsageError, match="lacks 1 value"):  # of the original: a mistake
        sievert.compare(table, table, QUASI, SECRETS, policy=short, **HOW)


# -- what is not evaluated ------------------------------------------------------------------------


def test_a_measure_without_what_it_needs_is_not_evaluated() -> None:
    limits = {
        "k_anonymity": {"min": 1},
        "inference": {"job": {"t_closeness_ordered": {"max": 0.1}}},
        "semantic_discrimination_rate": {"max": 0.1},
    }
    found = compared(limits, "tens", "without")
    told = [w for w in found.warnings if "t_closeness_ordered" in w]
    reason = f"not evaluated: {NEEDS['order']}"
    assert told == [f"the limit on t_closeness_ordered ('job') was {reason}"]
    for policy in (found.original.policy, found["tens"].policy):
        open_ = {(v.measure, v.where): v.reason for v in policy.verdicts if v.met is None}
        assert open_ == {
            ("t_closeness_ordered", "inference.job"): NEEDS["order"],
            ("semantic_discrimination_rate", "inference.ill"): NEEDS["parts"],
            ("semantic_discrimination_rate", "inference.job"): NEEDS["parts"],
        }
        assert policy.met is None and policy.breached == 0


def test_a_policy_that_says_nothing_of_a_table_is_a_mistake() -> None:
    limits = {"t_closeness_ordered": {"max": 0.1}, "t_closeness_hierarchical": {"max": 0.1}}
    words = "the original: no limit of the policy can be evaluated; t_closeness_ordered: it needs"
    with pytest.raises(UsageError, match=words):
        compared(limits, "tens")
    bands = {**people(), "job": [f"band {j}" for j in people()["job"]]}
    table = {**people(), "job": list(range(240))}
    with pytest.raises(UsageError, match="'bands': no limit of the policy"):
        sievert.compare(table, {"bands": bands}, QUASI, "job", policy={
            "limits": {"t_closeness_ordered": {"max": 0.1}}}, **HOW)  # fmt: skip


@pytest.mark.parametrize("what", ["orders", "partitions"])
def test_what_a_policy_says_of_other_columns(what: str) -> None:
    given = {"orders": ["1", "2"], "partitions": {"low": ["1"]}}[what]
    house = {"limits": {"k_anonymity": {"min": 1}}, what: {"zip": given}}
    found = sievert.compare(people(), people(), QUASI, "job", policy=house, **HOW)
    assert f"the {what[:-1]} of 'zip' is not used: it is not a secret here" in found.warnings
    house[what] = {"zap": given}
    with pytest.raises(UsageError, match="'zap' does not exist"):
        sievert.compare(people(), people(), QUASI, "job", policy=house, **HOW)


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
    one, two = Remark("no_order"), Caution("order_kept")
    assert gather_remarks({None: [one, two], "r": [one]}) == [one, f"the original: {two}"]
    assert gather_remarks({"r": [one], "s": [two, one]}) == [one, f"'s': {two}"]
    assert gather_remarks({"r": [two]}) == [two] and gather_remarks({}) == []
    assert isinstance(gather_remarks({"r": [one], "s": [two, one]})[1], Caution)
    found = compared({"k_anonymity": {"max": 9}}, "tens", "none")
    assert sum("harmless side" in w for w in found.warnings) == 1


# -- what is written ------------------------------------------------------------------------------


def test_a_policy_changes_nothing_else() -> None:
    chosen = {n: tables()[n] for n in ("tens", "none")}
    bare = sievert.compare(people(), chosen, QUASI, SECRETS, **HOW)
    roles = {"roles": {"quasi": QUASI, "sensitive": SECRETS}}
    other = sievert.compare(people(), chosen, policy=roles, **HOW)
    assert "policy" not in json.dumps(bare.to_dict())
    assert bare.met is other.met is None and bare.passed and not other.passed  # without limits
    held = compared({"k_anonymity": {"min": 3}}, "tens", "none")
    for result in (other.to_dict(), held.to_dict()):
        for table in (result["original"], *result["releases"]):
            keys = {"met", "limits", "reasons", "rests_on", "suppressed_records", "name", "sha256"}
            keys |= {"unjudged"}
            assert set(table.pop("policy")) == keys
        assert json.dumps(result) == json.dumps(bare.to_dict())


def test_on_the_screen() -> None:
    limits = {
        "k_anonymity": {"min": 100},
        "t_closeness_ordered": {"max": 1},
        "classes": {"max": 500},
    }
    found = compared(limits, "same", "none")
    text = repr(found)
    assert "? It cannot be decided whether a release meets the policy." in text
    assert "Undecided for none. Not met by same." in " ".join(text.split())
    rows = {line.split()[0]: line for line in text.splitlines() if " of 4" in line}
    assert "✗\u00a0not met, 1 of 4" in rows["original"] and "✗\u00a0not met, 1" in rows["same"]
    assert "?\u00a0undecided, 2 of 4" in rows["none"]
    everything = terminal.as_text(terminal.render(builder.screen(found), everything=True))
    assert "Which limits each release meets" in everything
    assert "The verdicts rest on this: " in everything
    words = "none: no limit is breached, but nothing can be said of t-closeness, ordered"
    assert words in " ".join(text.split()) and words in " ".join(everything.split())
    assert all(len(line) <= 100 for line in text.splitlines())
    assert "✓\u00a0met, 1 of 1" in repr(compared({"k_anonymity": {"min": 100}}, "none"))


@pytest.mark.parametrize(
    ("names", "least", "code"),
    [
        (["tens", "none"], 100, 0),
        (["tens", "same"], 100, 1),
        (["tens"], 2, 0),
        (["none"], 240, 0),
        (["none"], 241, 1),
    ],
)
def test_exit_codes(names: list[str], least: int, code: int, tmp_path: Path, capfd: Any) -> None:
    pandas.DataFrame(people()).to_csv(tmp_path / "original.csv", index=False)
    for name in names:
        pandas.DataFrame(tables()[name]).to_csv(tmp_path / f"{name}.csv", index=False)
    policy = tmp_path / "p.toml"
    roles = "[roles]\nquasi = ['age', 'zip']\nsensitive = ['job', 'ill']\n"
    policy.write_text(f"{roles}[limits]\nk_anonymity = {{ min = {least} }}\n")
    files = [tmp_path / f"{n}.csv" for n in ("original", *names)]
    out = tmp_path / "out.json"
    arguments = ["compare", *files, "--policy", policy, "--shuffles", 0, "--json", out, "--paired"]
    assert run(*arguments) == code
    text = capfd.readouterr().out
    data = json.loads(out.read_text())
    met = [r["policy"]["met"] for r in data["releases"]]
    assert any(met) == (code == 0)
    assert text.count("✗\u00a0not met, 0 of 1") == 1 * (least > 1) + met.count(False)
    assert text.count("✓\u00a0met, 1 of 1") == 1 * (least == 1) + met.count(True)
    limit = data["releases"][0]["policy"]["limits"][0]
    asked = tomllib.loads(policy.read_text())["limits"]["k_anonymity"]["min"]
    assert limit["min"] == asked and limit["measure"] == "k_anonymity"


def test_a_mistake_is_exit_2_and_help_says_when_1(tmp_path: Path, capfd: Any) -> None:
    path, policy = tmp_path / "t.csv", tmp_path / "p.toml"
    pandas.DataFrame(people()).to_csv(path, index=False)
    policy.write_text("[limits]\nk_anonimity = { min = 2 }\n")
    arguments = ["compare", path, path, "-q", "age", "--policy", policy]
    assert run(*arguments) == 2
    assert "k_anonymity" in capfd.readouterr().err
    run("compare", "--help")
    assert "1 unless some release meets it" in " ".join(capfd.readouterr().out.split())
