"""What would help, and why: the options and the explanation of an assessment."""

from __future__ import annotations

import hashlib
import json
import shlex
from pathlib import Path
from random import Random
from typing import Any

import pytest
from helpers.commandline import run
from helpers.recoding import LADDER

import sievert
from sievert.commands.assess import helpful_changes
from sievert.commands.assess import result as options
from sievert.commands.report.run import build_page
from sievert.counts.recoded import type_order
from sievert.measurement import subset_chapters as explanation
from sievert.report import html, markdown

N = 400


def people() -> dict[str, list[Any]]:
    """Age tells most, the town little, sex nothing that matters; two values of a secret."""
    random = Random(1)
    return {
        "age": [random.randint(18, 80) for _ in range(N)],
        "town": [random.choice(list(LADDER)) for _ in range(N)],
        "sex": [random.choice("fm") for _ in range(N)],
        "ill": [random.choice(("flu", "hiv", "gout")) for _ in range(N)],
    }


def policy(**limits: Any) -> dict[str, Any]:
    return {
        "roles": {"quasi": ["age", "town", "sex"], "sensitive": ["ill"], "rows_are_people": True},
        "limits": {"reidentification": limits or {"k_anonymity": {"min": 3}}},
    }


def assess(table: dict[str, list[Any]] | None = None, **given: Any) -> sievert.Assessment:
    return sievert.assess(table or people(), **{"policy": policy(), **given})


def found(assessment: sievert.Assessment) -> options.ChangeOptions:
    assert assessment.options is not None
    return assessment.options


def test_the_ways_and_their_json() -> None:
    result = assess()
    ways = found(result).ways
    assert 1 <= len(ways) <= 3 and result.met is False
    assert (
        found(result).before.alone == result.reidentification["unique_records"].details["records"]
    )
    assert len(ways[0].changes) == 1 and ways[0].changes[0].column == "age"
    assert ways[-1].met is True and ways[-1].limits_met == len(ways[-1].verdicts) == 1
    written = result.to_dict()["options"]
    assert written["ways"][-1] == {
        "changes": [vars(change) for change in ways[-1].changes],
        "met": True,
        "limits_met": 1,
        "limits": [
            {
                "measure": "k_anonymity",
                "where": "reidentification",
                "value": ways[-1].verdicts[0].value,
                "met": True,
            }
        ],
        "alone": 0,
        "suppressed_records": ways[-1].suppressed_records,
        "detail_lost": ways[-1].detail_lost,
        "levels": ways[-1].levels,
        "proven": True,
    }
    assert written["reason"] is None and written["tried"] >= len(ways)
    assert json.dumps(assess().to_dict()) == json.dumps(result.to_dict())  # the same every time


def test_the_best_way_is_the_release_that_protect_makes() -> None:
    limits = policy(k_anonymity={"min": 3}, unique_records={"max": 0.01})
    limits["limits"]["inference"] = {"ill": {"l_diversity": {"min": 2}}}
    judged = assess(policy=limits)
    way, release = found(judged).ways[-1], sievert.protect(people(), policy=limits)
    assert release.met is way.met is True and release.levels == way.levels
    assert release.recoding is not None
    assert release.recoding.suppressed_records == way.suppressed_records
    assert release.recoding.losses.arithmetic == way.detail_lost
    # protect limits suppressed records as well, in the middle of the policy's own limits
    # and judges the suppressed records as a class of their own
    verdicts = [v for v in release.policy.verdicts if v.scope is None]
    own = [v for v in verdicts if v.measure != "suppressed_records"]
    assert list(way.verdicts) == own
    assert judged.policy is not None
    assert [v.measure for v in way.verdicts] == [v.measure for v in judged.policy.verdicts]


@pytest.mark.parametrize("rows", [1, 3])
def test_people_are_offered_the_release_that_protect_makes(rows: int) -> None:
    """Where people have several rows k counts people; where they have one, it counts rows."""
    table = {**people(), "who": [i // rows for i in range(N)]}
    limits = policy(k_anonymity={"min": 4}, unique_records={"max": 0.01})
    limits["roles"] = {**limits["roles"], "person": "who"}
    del limits["roles"]["rows_are_people"]
    limits["limits"]["inference"] = {"ill": {"l_diversity": {"min": 2}}}
    way, release = (
        found(assess(table, policy=limits)).ways[-1],
        sievert.protect(table, policy=limits),
    )
    assert release.recoding is not None and release.met is way.met is True
    assert release.levels == way.levels and way.suppressed_records == release.suppressed_records
    assert way.detail_lost == release.recoding.losses.arithmetic
    # and judges the suppressed records as a class of their own
    verdicts = [v for v in release.policy.verdicts if v.scope is None]
    own = [v for v in verdicts if v.measure != "suppressed_records"]
    assert list(way.verdicts) == own
    table["who"][0] = None  # type: ignore[call-overload]
    undecided = found(assess(table, policy=limits)).ways  # one row may be anybody's
    assert all(way.levels is None and way.met is not True for way in undecided)


def test_no_release_is_promised_that_protect_would_refuse() -> None:
    rules = policy(k_anonymity={"min": 3})
    other = {**rules, "protect": {"how": "sample"}}
    assert all(way.levels is None for way in found(assess(policy=other)).ways)


def test_options_change_nothing_else() -> None:
    whole, quick = assess().to_dict(), assess(quick=True).to_dict()
    assert "options" not in quick and whole.pop("options") is not None
    assert whole == quick
    bare = sievert.assess(people(), ["age"], ["ill"])
    assert bare.options is None and "options" not in bare.to_dict()


def test_no_way_loses_more_than_another_and_gives_no_more() -> None:
    ways = found(assess(policy=policy(k_anonymity={"min": 5}, unique_records={"max": 0.01}))).ways
    kinds = [(w.limits_met, -(w.alone or 0), -w.detail_lost, -len(w.changes)) for w in ways]
    for a in kinds:
        assert not any(a != b and all(x >= y for x, y in zip(b, a, strict=True)) for b in kinds)


def test_a_policy_that_is_met_needs_no_help() -> None:
    options_ = found(assess(policy=policy(unique_records={"max": 1.0})))
    assert options_.ways == () and options_.reason == options.EVERY_LIMIT_MET


def test_a_limit_that_nothing_helps() -> None:
    limits = {"inference": {"ill": {"l_diversity": {"min": 4}}}}
    result = assess(policy={**policy(), "limits": limits})
    assert all(way.met is False for way in found(result).ways)


def test_no_column_is_left_but_one() -> None:
    """Somebody always knows something: a release without quasi-identifiers is no option."""
    table = {"age": people()["age"], "ill": people()["ill"]}
    roles = {"quasi": ["age"], "sensitive": ["ill"], "rows_are_people": True}
    whole = found(assess(table, policy={**policy(k_anonymity={"min": 300}), "roles": roles}))
    hows = {change.how for way in whole.ways for change in way.changes}
    assert hows and helpful_changes.LEFT_OUT not in hows


def test_reasons_besides_limits_stay() -> None:
    table = {**people(), "batch": list(range(N))}
    result = assess(table)
    ways = found(result).ways
    assert ways and ways[-1].limits_met == len(ways[-1].verdicts)
    assert all(way.met is False for way in ways if way.levels is None)  # a column has no role
    assert ways[-1].levels and ways[-1].met  # a release does not hold that column
    gaps = {**people(), "age": [None, *people()["age"][1:]]}
    dropped = found(assess(gaps, missing="drop")).ways
    assert dropped and not any(way.met for way in dropped)  # undecided: records were left out
    hows = {change.how for way in dropped for change in way.changes}
    assert helpful_changes.LEFT_OUT not in hows  # else other records would be left out


def test_a_hierarchy_of_a_quasi_identifier_is_used() -> None:
    table = {**people(), "age": ["1"] * N}
    limits = policy(k_anonymity={"min": 60})
    result = assess(table, policy=limits, hierarchies={"town": LADDER})
    hows = [change.how for way in found(result).ways for change in way.changes]
    assert "at level 1 of its hierarchy" in hows or "at level 2 of its hierarchy" in hows
    assert not any("not used" in w for w in result.warnings)
    quick = assess(table, policy=limits, hierarchies={"town": LADDER}, quick=True)
    assert any("the hierarchy of 'town' is not used" in w for w in quick.warnings)


def test_a_hierarchy_that_lacks_values_is_no_error() -> None:
    result = assess(hierarchies={"town": {"z1": ("y", "*")}})
    assert any("'town' is not used: it lacks values" in w for w in result.warnings)
    assert found(result).ways


def test_marks_of_suppression() -> None:
    """No option makes more records look suppressed: they would be left out of every number."""
    table = people()
    table["town"] = ["*"] * N
    for way in found(assess(table, policy=policy(k_anonymity={"min": 60}))).ways:
        assert {c.column for c in way.changes if c.how == helpful_changes.LEFT_OUT} != {
            "age",
            "sex",
        }


def test_what_cannot_be_searched_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    gaps = {**people(), "age": [None, *people()["age"][1:]]}
    wild = found(assess(gaps, missing="wildcard"))
    assert (wild.ways, wild.reason, wild.before.alone) == ((), options.WILDCARDS, None)
    monkeypatch.setattr(helpful_changes, "MOST_CELLS", 10)
    assert found(assess()).reason == options.TOO_MANY
    monkeypatch.undo()
    monkeypatch.setattr(helpful_changes, "WORK", 0)
    monkeypatch.setattr(helpful_changes, "RELEASE_WORK", 0)
    assert found(assess()).reason == options.NOTHING_HELPS and found(assess()).tried == 0
    monkeypatch.undo()
    monkeypatch.setattr(helpful_changes, "type_order", lambda _: None)
    days = {**people(), "ill": [i % 9 for i in range(N)]}
    ordered = {"inference": {"ill": {"t_closeness_ordered": {"max": 0.01}}}}
    assert found(assess(days, policy={**policy(), "limits": ordered})).reason == options.NO_ORDER


def test_only_some_measures() -> None:
    result = assess(measures=["k_anonymity"])
    whole = assess()
    assert found(result).before.alone == found(whole).before.alone
    assert found(result).ways == found(whole).ways


def test_as_few_tables_as_there_is_time_for(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = assess()
    assert found(whole).complete and found(whole).ways[-1].proven is True
    assert "budget" not in repr(whole)
    monkeypatch.setattr(helpful_changes, "WORK", 5 * (2 * helpful_changes.FIXED + N))
    few = assess()
    assert found(few).tried <= 5  # of the classes, and of the secret
    assert few.to_dict()["options"]["complete"] is False
    page = build_page([few])
    assert "better ones may exist" not in repr(few)  # of the best one that is proven
    for text in (" ".join(each.split()) for each in (markdown.render(page), html.render(page))):
        assert "No other choice of these levels that meets the policy loses less." in text
        assert "as many as the budget allows: better ones may exist" in text
    for name in ("RELEASE_WORK", "CHANGE_WORK"):
        monkeypatch.setattr(helpful_changes, name, 1)
    nothing = assess()
    assert not found(nothing).complete
    assert "budget" in repr(nothing) and "that meets the policy loses less" not in repr(nothing)


def test_the_order_of_a_type() -> None:
    assert type_order(["b", "a"]) is None
    assert type_order(["nan", "inf", "-inf", "1"]) == ["-inf", "1", "inf", "nan"]
    assert type_order(["10:00:00.5", "10:00:00"]) == ["10:00:00", "10:00:00.5"]
    assert type_order([str(2**63), str(2**63 - 1)]) == [str(2**63 - 1), str(2**63)]


# -- why ------------------------------------------------------------------------------------------


def test_the_explanation_is_that_of_explain() -> None:
    result = assess(explain=True).to_dict()["explanation"]
    due = sievert.explain(people(), ["age", "town", "sex"], ["ill"]).to_dict()
    assert result["shapley"] == due["shapley"] and result["knowledge"] == due["knowledge"]
    path = result["path"]
    assert [step["column"] for step in path] == [None, "age", "town", "sex"]
    assert [step["known"] for step in path][2] == ["age", "town"]
    whole = assess().reidentification["unique_records"].details["records"]
    alone = [step["unique_count"] for step in path]
    assert alone == sorted(alone) and alone[-1] == whole
    assert assess(explain=True, quick=True).explanation is None and assess().explanation is None
    bare = sievert.assess(people(), ["age", "town"], explain=True)
    assert bare.explanation is not None and bare.options is None


def test_too_many_combinations_to_explain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(explanation, "MOST_CELLS", 10)
    result = assess(explain=True)
    assert result.explanation is None
    assert any("too many combinations" in w for w in result.warnings)
    monkeypatch.undo()
    monkeypatch.setattr(explanation, "WORK", 1)
    monkeypatch.setattr(explanation, "WORK_ALONE", 1)
    table = {f"q{i}": [j % (i + 2) for j in range(N)] for i in range(5)}
    shorter = sievert.assess(table, list(table), explain=True).explanation
    assert shorter is not None and len(shorter["path"]) == 2
    assert shorter["shapley"]["exact"] is False and shorter["shapley"]["orders"] == 4


# -- the command line, the policy's file ----------------------------------------------------------


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    data, file = tmp_path / "people.csv", tmp_path / "strict.toml"
    rows = [
        ",".join(people()),
        *(",".join(map(str, r)) for r in zip(*people().values(), strict=True)),
    ]
    data.write_text("\n".join(rows) + "\n")
    file.write_text(
        '[roles]\nquasi = ["age", "town", "sex"]\nsensitive = ["ill"]\nrows_are_people = true\n'
        "[limits.reidentification]\nk_anonymity = { min = 3 }\n"
    )
    return data, file


def assessed(*arguments: object) -> dict[str, Any]:
    *given, output = arguments
    assert run("assess", *given, "--json", output) == 1
    content: dict[str, Any] = json.loads(Path(str(output)).read_text())
    return content


def test_quick_and_pages(files: tuple[Path, Path], tmp_path: Path) -> None:
    data, file = files
    plain = assessed(data, "--policy", file, tmp_path / "a.json")
    assert "options" in plain and "explanation" not in plain
    quick = assessed(
        data, "--policy", file, "--quick", "--html", tmp_path / "a.html", tmp_path / "b.json"
    )
    assert "options" not in quick and "explanation" not in quick
    paged = assessed(data, "--policy", file, "--markdown", tmp_path / "a.md", tmp_path / "c.json")
    assert "options" in paged and "explanation" in paged


def test_the_printed_command_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """In the directory where the table was assessed, with the options that it was read with."""
    monkeypatch.chdir(tmp_path)
    for folder, name in (("our data", "release.csv"), ("policies", "strict.toml")):
        Path(folder).mkdir()
        table = zip(*people().values(), strict=True)
        rows = [";".join(people()), *(";".join(map(str, row)) for row in table)]
        limits = "[limits.reidentification]\nk_anonymity = { min = 3 }\n"
        limits += '[reading]\nna = ["-9"]\n'  # codes that a policy does not list decide nothing
        text = "\n".join(rows) if name == "release.csv" else "roles.rows_are_people=true\n" + limits
        Path(folder, name).write_text(text)
    arguments = ["assess", "our data/release.csv", "--delimiter=;", "-q", "age,town", "-q", "sex"]
    arguments += ["-s", "ill", "--policy", "policies/strict.toml", "--na=-9", "--threads", "1"]
    assert run(*arguments, "--all", "--language", "de") == 1
    *_, head, line = capsys.readouterr().out.splitlines()
    assert head == "So entsteht die beste dieser Veröffentlichungen:"
    name, command, *options = shlex.split(line)
    assert (name, command) == ("sievert", "protect") and "--all" not in options
    assert run(command, *options) == 0
    assert Path("new_release.csv").is_file() and "eingehalten" in capsys.readouterr().out


def test_the_policy_has_a_name_and_a_digest(files: tuple[Path, Path], tmp_path: Path) -> None:
    data, file = files
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    content = assessed(data, "--policy", file, tmp_path / "a.json")["policy"]
    assert (content["name"], content["sha256"]) == ("strict.toml", digest)
    judged = assess(policy=file).policy
    assert judged is not None and (judged.name, judged.digest) == ("strict.toml", digest)
    for given in (policy(), sievert.policy.read_policy(file)):
        judged = assess(policy=given).policy
        assert judged is not None and (judged.name, judged.digest) == (None, None)
    shared = assessed(data, "--policy", file, "--share", tmp_path / "b.json")
    assert "options" not in shared and "explanation" not in shared
    assert (shared["policy"]["name"], shared["policy"]["sha256"]) == (None, digest)
    masked = assessed(data, "--policy", file, "--share", "--mask-names", tmp_path / "c.json")
    assert masked["policy"]["sha256"] is None
