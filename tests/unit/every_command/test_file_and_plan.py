"""A verdict is about the file at hand: attempts to get a yes for a file that must not go out."""

from __future__ import annotations

import json
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest
from helpers.commandline import run

import sievert
from sievert.errors import UsageError
from sievert.report import markdown
from sievert.report.builder import build

Table = dict[str, list[Any]]
N = 40


def table() -> Table:
    """Forty people in four classes of ten; the secret has three values in every class."""
    return {
        "zip": [str(i // 10) for i in range(N)],
        "ill": [["flu", "hiv", "cold"][i % 3] for i in range(N)],
    }


def policy(**limits: Any) -> dict[str, Any]:
    return {
        "roles": {"quasi": ["zip"], "sensitive": ["ill"]},
        "limits": limits or {"k_anonymity": {"min": 5}, "l_diversity": {"min": 2}},
    }


def with_roles(**roles: Any) -> dict[str, Any]:
    whole = policy()
    return {**whole, "roles": {**whole["roles"], **roles}}


def reasons(found: sievert.Assessment) -> dict[str, tuple[Any, list[str]]]:
    return {r["what"]: (r["met"], r["names"]) for r in found.to_dict()["policy"]["reasons"]}


def sievert_page(found: sievert.Assessment) -> str:
    from sievert.report import builder, markdown

    return markdown.render(builder.build([found]))


def write(path: Path, columns: Table) -> str:
    rows = zip(*columns.values(), strict=True)
    lines = [",".join(columns), *(",".join(map(str, row)) for row in rows)]
    path.write_text("\n".join(lines) + "\n")
    return str(path)


ROLES = "[roles]\nquasi = ['zip']\nsensitive = ['ill']\nrows_are_people = true\n"
LIMITS = "[limits]\nk_anonymity = { min = 5 }\n"
NAMED = {**table(), "name": [f"n{i}" for i in range(N)]}


@pytest.mark.parametrize(
    "roles",
    [
        {"identifier": ["name"]},
        {"person": "name"},
        {"household": "name"},
        {"ignored": {"name": "for the audit only"}},
        {"dropped": ["name"]},
    ],
    ids=lambda roles: next(iter(roles)),
)
def test_a_file_that_still_holds_a_column(roles: dict[str, Any]) -> None:
    found = sievert.assess(NAMED, policy=with_roles(**roles))
    assert found.met is False and not found.passed
    assert reasons(found)["file_holds"] == (False, ["name"])
    assert "No: the file still holds name. Without it, both limits are met." in repr(found)
    assert found.to_dict()["question"] == "file"
    compared = sievert.compare(
        NAMED, {"r": NAMED}, policy=with_roles(**roles), shuffles=0, threads=1, key="name"
    )
    assert compared.met is False and not compared.passed
    kinds = {r.what for r in compared.releases[0].policy.reasons}
    assert "file_holds" in kinds
    with pytest.raises(UsageError, match="no release may have it"):
        sievert.protect(NAMED, policy=with_roles(**roles), keep="name")


def test_an_identifier_on_the_command_line_is_in_the_file() -> None:
    found = sievert.assess(NAMED, identifier="name", policy=policy())
    assert found.met is False and reasons(found) == {"file_holds": (False, ["name"])}


def test_another_role_on_the_command_line_does_not_release_it() -> None:
    """Whatever the command line makes of it: the policy says that it is not released."""
    for given in ({"sensitive": ["ill", "name"]}, {"quasi": ["zip", "name"]}):
        for planned in (False, True):
            own = with_roles(dropped=["name"])
            found = sievert.assess(NAMED, **given, policy=own, planned=planned)
            assert not found.passed and "file_holds" in reasons(found)


def test_a_weight_may_stay_and_is_named() -> None:
    whole = {**table(), "w": [2] * N}
    found = sievert.assess(whole, policy=with_roles(weight="w"))
    assert found.met is True and "This file also holds w" in repr(found)


NAMING_WEIGHTS = {
    "texts": ("w", [f"P{i:03}" for i in range(N)]),
    "one text": ("w", ["1.5"] * (N - 1) + ["Anna"]),
    "numbers of patients": ("patient_id", [10**6 + 7 * i for i in range(N)]),
    "numbers as texts": ("SSN", [f"{i:09}" for i in range(N)]),
    "dates": ("w", [date(1990, 1, 1) + timedelta(days=i) for i in range(N)]),
}


@pytest.mark.parametrize("case", NAMING_WEIGHTS)
def test_a_weight_that_may_say_who_somebody_is(case: str, tmp_path: Path) -> None:
    """A weight stays in a file, so that it must be one: a number of people."""
    name, values = NAMING_WEIGHTS[case]
    whole, own = {**table(), name: values}, with_roles(weight=name)
    undecided = {"weight_names_people": (None, [name])}
    found = sievert.assess(whole, policy=own)
    assert found.met is None and reasons(found) == undecided
    assert name in " ".join(repr(found).split())
    plan = sievert.assess(whole, policy=own, planned=True)
    assert plan.planned_met is None and reasons(plan) == undecided
    compared = sievert.compare(whole, {"r": whole}, policy=own, paired=True)
    assert compared.met is None
    out = tmp_path / "r.csv"
    kept = sievert.protect(whole, policy=own, keep=[name], out=out)
    assert kept.met is None and not out.exists()
    assert sievert.protect(whole, policy=own, out=out).released  # without the weight
    rules = tmp_path / "policy.toml"
    rules.write_text(f"{ROLES}weight = '{name}'\n{LIMITS}", encoding="utf-8")
    gaps = sievert.check_policy(rules, whole).gaps
    assert [(gap.what, gap.name) for gap in gaps] == [("undecided", name)]


@pytest.mark.parametrize(
    "values", [[1.5 + i for i in range(N)], [f"{i}.25" for i in range(N)], [2] * N, [None, 3] * 20]
)
def test_a_weight_of_numbers_stays(values: list[Any]) -> None:
    """Weights of a survey may all differ; an identifier with few values names nobody."""
    assert sievert.assess({**table(), "w": values}, policy=with_roles(weight="w")).met is True


def test_the_weight_of_a_synthetic_table() -> None:
    own = with_roles(weight="w")
    own["limits"] = {"synthetic": {"copies": {"rate": {"max": 1.0}}}}
    for values, expected in (([f"P{i}" for i in range(N)], {"w"}), ([2] * N, set())):
        made = sievert.synthetic({**table(), "w": [1] * N}, {**table(), "w": values}, policy=own)
        judged = made.tables[0].policy
        assert judged is not None
        found = [r.names for r in judged.reasons if r.what == "weight_names_people"]
        assert {name for names in found for name in names} == expected


def test_the_weight_of_suppressed_rows() -> None:
    own = with_roles(weight="w")
    own["limits"] = {"k_anonymity": {"min": 5}, "suppressed_records": {"max": 10}}
    whole = {
        c: [*values, *more]
        for (c, values), more in zip(table().items(), (["*"] * 10, ["flu"] * 10), strict=True)
    }
    whole["w"] = ["1"] * N + [f"P{i}" for i in range(10)]
    assert reasons(sievert.assess(whole, policy=own))["weight_names_people"] == (None, ["w"])


def test_key_sets_of_a_file_that_holds_names() -> None:
    rules = {"roles": {"sensitive": ["ill"], "identifier": ["name"]}, **policy()}
    rules["roles"] = {"sensitive": ["ill"], "identifier": ["name"]}
    found = sievert.assess(NAMED, key_sets=["zip"], policy=rules)
    assert found.met is False and not found.passed


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
@pytest.mark.parametrize("more", [(), ("--share",), ("--language", "de")], ids=" ".join)
def test_a_report_on_a_plan_and_on_a_file_answers_each_question(
    order: tuple[int, int],
    more: tuple[str, ...],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The plan meets the policy, and the file does not: no answer is about both."""
    monkeypatch.chdir(tmp_path)
    write(Path("t.csv"), NAMED)
    Path("p.toml").write_text(f"{ROLES}identifier = ['name']\n{LIMITS}")
    line = ["assess", "t.csv", "--policy", "p.toml"]
    assert run(*line, "--planned", "--json", "plan.json") == 0
    assert run(*line, "--json", "file.json") == 1
    both = ["plan.json", "file.json"]
    capsys.readouterr()
    assert run("report", *(both[i] for i in order), *more) == 0
    said = capsys.readouterr().out.replace("\n", " ")
    parts = (order.index(0) + 1, order.index(1) + 1)
    if more == ():
        plan = f"Part {parts[0]} (t.csv): A release without name would meet the policy."
        file = f"Part {parts[1]} (t.csv): No: the file still holds name."
        assert plan in said and file in said and "would not meet" not in said
    elif more == ("--share",):
        assert "A release without name would meet the policy." in said
        assert "No: the file still holds name." in said and "would not meet" not in said
    else:
        assert f"Teil {parts[0]} (t.csv): " in said and f"Teil {parts[1]} (t.csv): " in said


def test_a_report_on_two_files_that_hold_different_columns() -> None:
    """The answer on one file does not speak of the columns of another one."""
    rules = with_roles(dropped=["name", "phone"], rows_are_people=True)
    phones = {**table(), "phone": [f"p{i}" for i in range(N)]}
    first, second, third = (sievert.assess(t, policy=rules) for t in (NAMED, phones, table()))
    text = markdown.render(build([first, second, third]))
    assert "Part 1: No: the file still holds name." in text
    assert "Part 2: No: the file still holds phone." in text
    assert "Part 3: Yes" in text


@pytest.mark.parametrize("option", ["planned", "quick", "explain", "attacks", "verify", "force"])
@pytest.mark.parametrize("given", ["false", "no", 1, None])
def test_a_switch_is_true_or_false(option: str, given: Any) -> None:
    """A text is true in Python: planned='false' asked about a plan."""
    switches: dict[str, Any] = {option: given}
    with pytest.raises(UsageError, match=f"{option}: True or False"):
        sievert.assess(NAMED, policy=with_roles(dropped=["name"]), **switches)


def test_a_plan_is_no_yes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data, rules = write(tmp_path / "t.csv", NAMED), tmp_path / "p.toml"
    rules.write_text(f"{ROLES}identifier = ['name']\n{LIMITS}")
    out, page = tmp_path / "out.json", tmp_path / "page.html"
    line = ["assess", str(data), "--policy", str(rules)]
    assert run(*line) == 1
    assert run(*line, "--planned", "--json", str(out), "--html", str(page)) == 0
    content = json.loads(out.read_text())
    assert content["question"] == "planned" and content["policy"]["met"] is None
    assert content["policy"]["planned_met"] is True
    text = page.read_text(encoding="utf-8")
    assert "A release without name would meet the policy." in text and ">Yes" not in text
    assert '<div class="verdict planned">' in text and "Plan, no decision" in text
    assert "A plan: would a release of t.csv meet the policy?" in text
    capsys.readouterr()
    for more in ([], ["--share"]):
        assert run("report", str(out), *more) == 0
        said = capsys.readouterr().out
        assert "A release without name would meet the policy." in said and "Yes" not in said
    for gate in ("--junit", "--sarif"):
        assert run(*line, "--planned", gate, str(tmp_path / "gate.xml")) == 2
        assert "--planned is about no file" in capsys.readouterr().err
    assert not (tmp_path / "gate.xml").exists()
    rules.write_text(f"{ROLES}identifier = ['name']\nplanned = true\n{LIMITS}")
    assert run(*line) == 2  # a policy cannot say so
    assert run("assess", str(data), "-q", "zip", "--planned") == 2


def test_a_plan_that_does_not_meet_the_policy() -> None:
    own = with_roles(identifier=["name"])
    own["limits"]["k_anonymity"]["min"] = 11
    found = sievert.assess(NAMED, policy=own, planned=True)
    assert found.met is None and found.planned_met is False and not found.passed
    assert "A release without name would not meet the policy." in repr(found)


@pytest.mark.parametrize(
    ("own", "given"),
    [
        ({"ignored": {"ward": "not needed", "name": "-"}}, {"quasi": ["zip", "ward"]}),
        ({"dropped": ["ward", "name"]}, {"quasi": ["zip", "ward"]}),
        ({"dropped": ["ward", "name"]}, {"sensitive": ["ill", "ward"]}),
        ({"dropped": ["ward", "name"]}, {"key_sets": [["zip"], ["ward"]]}),
    ],
)
def test_a_plan_that_measures_a_column_contains_it(own: Any, given: Any) -> None:
    """Who measures a column that the policy does not release plans a release that has it."""
    table = {**NAMED, "ward": ["1"] * len(NAMED["zip"])}
    found = sievert.assess(table, policy=with_roles(**own), planned=True, **given)
    assert found.policy is not None and found.planned_met is False
    assert [(r.what, r.names) for r in found.policy.reasons] == [("file_holds", ("ward",))]
    said = " ".join(repr(found).split())
    assert "A release without name would not meet the policy." in said
    assert "The release still holds ward, which must not be released." in said


def test_counts_are_no_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    state, rules = tmp_path / "state", tmp_path / "p.toml"
    sievert.count(NAMED, "zip", "ill", identifier="name", out=state)
    found = sievert.assess(state, policy=with_roles(identifier=["name"]))
    assert found.met is None and found.planned_met is True and found.passed
    assert found.to_dict()["question"] == "planned"
    for text in (repr(found), sievert_page(found), repr(found.share())):
        said = " ".join(text.split())
        assert "The counts say nothing about a file. A release without name would" in said
        assert "Yes" not in said
    rules.write_text(f"{ROLES}identifier = ['name']\n{LIMITS}")
    line = ["assess", str(state), "--policy", str(rules), "--junit", str(tmp_path / "j.xml")]
    assert run(*line) == 2
    assert "a count state is no file" in capsys.readouterr().err


def kept(name: str, values: list[Any], **more: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    own = {name: {"reason": "the wave of the survey", **more}}
    return {**table(), name: values}, with_roles(kept=own)


def test_a_kept_column_helps_to_find_people() -> None:
    whole, own = kept("wave", [i % 5 for i in range(N)])
    found = sievert.assess(whole, policy=own)
    assert found.met is False  # two people have the same zip and wave
    verdict = next(v for v in found.verdicts if v.measure == "k_anonymity")
    assert (verdict.value, verdict.met) == (2, False)
    assert verdict.reading == "with the kept columns as quasi-identifiers"
    assert "wave (the wave of the survey)" in " ".join(repr(found).split())
    assert found.to_dict()["reidentification"]["k_anonymity"]["with_kept"] == 2
    shared = json.dumps(found.share().to_dict())
    assert "wave" in shared and "the survey" not in shared
    whole, own = kept("wave", [i % 5 for i in range(N)], outsiders_cannot_know=True)
    assert sievert.assess(whole, policy=own).met is True
    release = sievert.compare(whole, {"r": whole}, policy=kept("wave", [])[1], paired=True)
    assert release.met is not True


@pytest.mark.parametrize("more", [{}, {"outsiders_cannot_know": True}])
def test_a_kept_column_that_is_unique_is_undecided(more: dict[str, Any]) -> None:
    whole, own = kept("number", list(range(N)), **more)
    own["limits"] = {"l_diversity": {"min": 2}}
    found = sievert.assess(whole, policy=own)
    assert found.met is None and reasons(found)["kept_unique"] == (None, ["number"])


def test_kept_columns_that_are_unique_together_are_undecided() -> None:
    """Each has seven values; together they number the rows."""
    whole = {**table(), "a": [i // 7 for i in range(N)], "b": [i % 7 for i in range(N)]}
    known = {"reason": "joins tables", "outsiders_cannot_know": True}
    found = sievert.assess(whole, policy=with_roles(kept={"a": known, "b": known}))
    assert found.met is None and reasons(found)["kept_unique"] == (None, ["a", "b"])
    one = {c: values for c, values in whole.items() if c != "b"}
    assert sievert.assess(one, policy=with_roles(kept={"a": known})).met is True


@pytest.mark.parametrize("person", [False, True])
@pytest.mark.parametrize("suppressed", [12, 600])
def test_kept_values_of_suppressed_rows_are_undecided(suppressed: int, person: bool) -> None:
    """A value that only one suppressed row has finds its person, however many others there are."""
    n = 15 * N
    whole: Table = {
        "zip": [str(i % 4) for i in range(n)] + ["*"] * suppressed,
        "ill": [["flu", "hiv", "cold"][i % 3] for i in range(n + suppressed)],
        "wave": [f"w{i % 2}" for i in range(n)] + [f"u{i}" for i in range(suppressed)],
    }
    own = with_roles(kept={"wave": "readers compare waves"}, rows_are_people=True)
    own["limits"] = {"k_anonymity": {"min": 5}, "suppressed_records": {"max": suppressed}}
    given: dict[str, Any] = {"policy": own}
    if person:
        whole["number"] = list(range(n + suppressed))
        own["roles"].pop("rows_are_people")
        given["person"] = "number"
    found = sievert.assess(whole, **given)
    assert found.met is not True and reasons(found)["kept_unique"] == (None, ["wave"])
    whole["wave"] = [f"w{i % 2}" for i in range(n + suppressed)]
    assert "kept_unique" not in reasons(sievert.assess(whole, **given))


def test_a_kept_column_that_a_state_lacks_is_undecided(tmp_path: Path) -> None:
    whole, own = kept("wave", [i % 5 for i in range(N)])
    sievert.count(whole, "zip", "ill", leave_out=["wave"], out=tmp_path / "state")
    found = sievert.assess(tmp_path / "state", policy=own)
    assert found.planned_met is None and "kept_not_measured" in reasons(found)


def test_a_kept_column_needs_a_reason() -> None:
    for why in ("", " ", "TODO", "say why"):
        with pytest.raises(UsageError, match="reason"):
            sievert.assess(kept("wave", [1] * N)[0], policy=with_roles(kept={"wave": why}))
        with pytest.raises(UsageError, match="reason"):
            sievert.protect(kept("wave", [1] * N)[0], policy=policy(), keep={"wave": why})


@pytest.mark.parametrize("character", ["\x1b", "\x9b", "\x7f", "\x00", "\u202e", "\u200b"])
def test_reasons_cannot_write_over_an_answer(character: str) -> None:
    """Control characters are a mistake in the policy; white space is folded into one line."""
    bad = f"waves{character}[2J Yes, by this policy."
    whole = kept("wave", [1] * N)[0]
    ordered = {**policy(), "release": {"order": bad}}
    for own in (
        with_roles(kept={"wave": bad}),
        with_roles(kept={"wave": {"reason": bad}}),
        with_roles(ignored={"wave": bad}),
        ordered,
    ):
        with pytest.raises(UsageError, match="cannot be printed") as error:
            sievert.assess(whole, policy=own)
        assert character not in str(error.value)
    with pytest.raises(UsageError, match="cannot be printed"):
        sievert.protect(whole, policy=policy(), keep={"wave": bad})
    lines = with_roles(kept={"wave": "waves\r\n\r\n\tYes, by this policy."})
    assert "(waves Yes, by this policy.)" in " ".join(
        repr(sievert.assess(whole, policy=lines)).split()
    )


def test_what_a_yes_rests_on() -> None:
    found = sievert.assess(table(), policy=policy(k_anonymity={"min": 5}))
    content = found.to_dict()["policy"]
    assert found.met is True
    assert content["unjudged"] == [{"secret": "ill", "people": 0, "of": N}]
    assert content["rests_on"].startswith("the answer is about this file")
    words = "Nothing limits what is learnt about ill: 0 of 40 people are in groups with one value."
    for text in (repr(found), markdown.render(build([found]))):
        assert words in " ".join(text.split())
    shared = found.share().to_dict()["policy"]["unjudged"]
    assert shared == [{"secret": "ill", "people": None, "of": None}]
    assert "Nothing limits what is learnt about ill." in " ".join(repr(found.share()).split())
    sure = {**table(), "ill": [str(i // 10) for i in range(N)]}
    known = sievert.assess(sure, policy=policy(k_anonymity={"min": 5})).to_dict()["policy"]
    assert known["unjudged"] == [{"secret": "ill", "people": N, "of": N}]
