"""Attempts to get a yes for a table whose suppressed rows tell a secret: none may be met.

Measures leave suppressed rows out, so their secrets used to be looked at by no limit. Each attempt
is met without its suppressed rows, so that they alone decide.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from helpers.commandline import run

import sievert
from sievert import session
from sievert.errors import UsageError

Table = dict[str, list[Any]]
N = 40
MARK = "*"
OF_RECORDS = ("highest_risk", "records_below")


def table(*suppressed: str | None, mark: str | None = MARK) -> Table:
    """Forty people in four classes of ten, and suppressed people with these secrets."""
    return {
        "zip": [str(i // 10) for i in range(N)] + [mark] * len(suppressed),
        "ill": [["flu", "hiv", "cold"][i % 3] for i in range(N)] + list(suppressed),
    }


def policy(**limits: Any) -> dict[str, Any]:
    return {
        "roles": {"quasi": ["zip"], "sensitive": ["ill"], "rows_are_people": True},
        "limits": limits or {"k_anonymity": {"min": 3}, "l_diversity": {"min": 2}},
        "release": {"order": "these rows are in the order in which they are written here"},
    }


def lines(judged: Any) -> dict[str, Any]:
    """Whether each limit is met by the suppressed rows."""
    return {v.measure: v.met for v in judged.verdicts if v.scope == "suppressed"}


def test_the_honest_case_is_met() -> None:
    """Enough suppressed people with different secrets are a class as any other."""
    found = sievert.assess(table("flu", "hiv", "cold"), policy=policy())
    assert found.met is True and lines(found.policy) == {"k_anonymity": True, "l_diversity": True}
    assert sievert.assess(table(), policy=policy()).policy.of_suppressed == ()
    assert not any("secrets stay" in caution for caution in found.cautions)


def test_one_row_with_a_rare_secret(tmp_path: Path, capfd: Any) -> None:
    found = sievert.assess(table("RARE"), policy=policy())
    assert found.met is False
    assert lines(found.policy) == {"k_anonymity": False, "l_diversity": False}
    assert found.policy.breached == 2 and found.policy.doubtful == 0
    data, rules, out = tmp_path / "t.csv", tmp_path / "p.toml", tmp_path / "out.json"
    rows = zip(*table("RARE").values(), strict=True)
    data.write_text("zip,ill\n" + "".join(f"{z},{ill}\n" for z, ill in rows))
    rules.write_text(
        '[roles]\nquasi = ["zip"]\nsensitive = ["ill"]\nrows_are_people = true\n'
        "[release]\norder = 'as written'\n[limits]\n"
        "k_anonymity = { min = 3 }\nl_diversity = { min = 2 }\n"
    )
    assert run("assess", str(data), "--policy", str(rules), "--json", str(out)) == 1
    limits = json.loads(out.read_text())["policy"]["limits"]
    assert [(v["measure"], v.get("scope"), v["met"]) for v in limits] == [
        ("k_anonymity", None, True),
        ("l_diversity", None, True),
        ("k_anonymity", "suppressed", False),
        ("l_diversity", "suppressed", False),
    ]
    said = " ".join(capfd.readouterr().out.split())
    assert "Both limits" in said or "All 2 of its limits are breached" in said or "2 limits" in said
    assert "suppressed rows: k-anonymity" in said and "RARE" not in said


def test_all_suppressed_rows_with_one_secret() -> None:
    found = sievert.assess(table(*["hiv"] * 9), policy=policy())
    assert found.met is False
    assert lines(found.policy) == {"k_anonymity": True, "l_diversity": False}
    assert sievert.assess(table(*["hiv"] * 9), policy=policy(), keep_suppressed=True).met is False


@pytest.mark.parametrize(
    ("measure", "limit"),
    [
        ("entropy_l", {"min": 1.8}),
        ("recursive_c", {"max": 3}),
        ("max_confidence", {"max": 0.5}),
        ("alpha_k", {"max": 0.5}),
        ("confidence_gain", {"max": 0.3}),
        ("t_closeness", {"max": 0.2}),
        ("beta_likeness", {"max": 0.8}),
        ("enhanced_beta_likeness", {"max": 0.6}),
        ("delta_disclosure", {"max": 1}),
        ("entropy_variation", {"max": 0.5}),
        ("highest_risk", {"max": 0.1}),
        ("records_below", {"max": 8}),
    ],
)
def test_each_limit_on_a_class(measure: str, limit: dict[str, float]) -> None:
    """Nine people, eight of them with one secret: met without them, and breached by them alone."""
    rare = table(*["hiv"] * 8, "flu")
    place = {measure: limit} if measure in OF_RECORDS else {"inference": {"ill": {measure: limit}}}
    whole = {**policy(**place), "parameters": {"records_below": {"k": 10}}}
    assert sievert.assess(table(), policy=whole).met is True
    found = sievert.assess(rare, policy=whole)
    assert found.met is False and lines(found.policy) == {measure: False}


def test_counts_of_people_in_small_classes_add_up() -> None:
    """Neither the others nor the suppressed people are too many alone; together they are."""
    data = table("flu", "hiv")
    data["zip"][:2] = ["a", "a"]
    whole = {**policy(records_below={"max": 3}), "parameters": {"records_below": {"k": 3}}}
    found = sievert.assess(data, policy=whole)
    verdicts = found.policy.verdicts if found.policy else ()
    assert [(v.value, v.met) for v in verdicts] == [(2, True), (4, False)]


def test_suppressed_rows_of_one_person() -> None:
    """Three rows are k, and one person is not."""
    data = {**table("flu", "hiv", "cold"), "who": [*map(str, range(N)), *["x"] * 3]}
    rules = policy()
    rules["roles"] = {"quasi": ["zip"], "sensitive": ["ill"], "person": "who"}
    found = sievert.assess(data, policy=rules, quick=True)
    assert lines(found.policy) == {"k_anonymity": False, "l_diversity": False}
    data["who"][-3:] = ["x", "y", "z"]
    assert lines(sievert.assess(data, policy=rules, quick=True).policy)["k_anonymity"] is True


@pytest.mark.parametrize("mark", ["gone", None])
def test_another_mark(mark: str | None) -> None:
    """It has to be listed; listed or not, what it hides is judged."""
    named = "missing:" if mark is None else mark
    limits = {**policy()["limits"], "suppressed_records": {"max": 9}}
    rare = table("RARE", mark=mark)
    honest = table("flu", "hiv", "cold", mark=mark)
    assert sievert.assess(rare, policy=policy(**limits), suppressed=mark).met is False
    found = sievert.assess(honest, policy=policy(**limits), suppressed=mark)
    assert found.met is None
    assert [reason.what for reason in found.policy.reasons] == ["mark_not_listed"]
    assert "mark_not_listed" in json.dumps(found.share().to_dict())
    listed = {**policy(**limits), "reading": {"suppressed": [named]}}
    for given in ({}, {"suppressed": mark}):  # the one mark of the policy needs no option
        assert sievert.assess(honest, policy=listed, **given).met is True
        assert sievert.assess(rare, policy=listed, **given).met is False
    several = {**policy(**limits), "reading": {"suppressed": [named, "x"]}}
    found = sievert.assess(rare, policy=several, suppressed=mark)
    assert found.met is False and lines(found.policy)["k_anonymity"] is False
    kept = sievert.assess(honest, policy=policy(), suppressed=mark, keep_suppressed=True)
    assert kept.met is True and kept.policy.reasons == ()  # nothing depends on the mark


def test_a_value_named_as_the_mark_hides_nobody(tmp_path: Path) -> None:
    """A class of three with one secret each would be hidden by its own value."""
    data = table()
    data["zip"][:1] = ["x"]
    path = tmp_path / "p.toml"
    path.write_text(
        '[roles]\nquasi = ["zip"]\nsensitive = ["ill"]\nrows_are_people = true\n'
        "[release]\norder = 'as written'\n[limits]\n"
        "k_anonymity = { min = 3 }\nsuppressed_records = { max = 5 }\n"
    )
    csv = tmp_path / "t.csv"
    rows = zip(*data.values(), strict=True)
    csv.write_text("zip,ill\n" + "".join(f"{z},{ill}\n" for z, ill in rows))
    assert run("assess", str(csv), "--policy", str(path), "--suppressed", "x") == 1
    assert run("assess", str(csv), "--policy", str(path)) == 1


def test_a_parquet_file(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "t.parquet"
    parquet.write_table(pyarrow.table(table("RARE")), path)
    assert sievert.assess(path, policy=policy()).met is False
    parquet.write_table(pyarrow.table(table("flu", "hiv", "cold")), path)
    assert sievert.assess(path, policy=policy()).met is True


@pytest.mark.parametrize("large", [False, True])
def test_a_release_that_is_compared(large: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if large:
        monkeypatch.setattr("sievert.session.SMALL", 0)
    original = {"zip": [str(i // 10) for i in range(N)], "ill": table()["ill"], "i": [*range(N)]}
    rules = policy()
    rules["roles"]["ignored"] = {"i": "the key"}
    for secrets, met in ((["RARE"], False), (["flu", "hiv", "cold"], True)):
        release = table(*secrets)
        release["i"] = [*range(N), *range(N, N + len(secrets))]
        whole = {
            "zip": original["zip"] + ["0"] * len(secrets),
            "ill": original["ill"] + list(secrets),
            "i": release["i"],
        }
        found = sievert.compare(whole, {"r": release}, policy=rules, key="i", shuffles=0)
        judged = found.releases[0].policy
        assert judged is not None and set(lines(judged).values()) == {met}
        assert all(v.met is True for v in judged.verdicts if v.scope is None)
        # The page says that it uses two conventions, and which numbers use which.
        (note,) = {w for w in found.warnings if "a category of their own" in w}
        assert "in the bits that are lost and told" in note and "the discrimination rate" in note


def test_a_count_state(tmp_path: Path) -> None:
    for number, (secrets, met) in enumerate(((["RARE"], False), (["flu", "hiv", "cold"], True))):
        state = tmp_path / f"state{number}"
        sievert.count(table(*secrets), "zip", "ill", out=state)
        found = sievert.assess(state, policy=policy(), quick=True)
        assert set(lines(found.policy).values()) == {met}
        here = sievert.assess(table(*secrets), policy=policy(), quick=True)
        assert found.policy.of_suppressed == here.policy.of_suppressed


def test_each_key_set_has_suppressed_rows_of_its_own() -> None:
    data = {**table("flu", "hiv", "cold", "RARE"), "age": ["1"] * (N + 3) + [MARK]}
    rules = policy()
    rules["roles"]["quasi"] = ["zip", "age"]
    found = sievert.assess(data, policy=rules, key_sets=[("zip",), ("age",)], quick=True)
    by_set = [set(lines(each.policy).values()) for each in found.key_sets]
    assert by_set == [{True}, {False}] and found.met is False


def test_secrets_that_are_missing_among_suppressed_rows() -> None:
    """Of those that are known, all are the same."""
    found = sievert.assess(table("hiv", "hiv", "hiv", None, None), policy=policy())
    (verdict,) = [v for v in found.policy.of_suppressed if v.measure == "l_diversity"]
    assert verdict.met is False and verdict.reading == "without missing secrets"
    nothing = sievert.assess(table(None, None, None), policy=policy())
    assert lines(nothing.policy)["l_diversity"] is False


def test_one_secret_spelt_in_two_ways_among_suppressed_rows() -> None:
    for other in ("RARE", "rare ", "ra\u200bre"):
        found = sievert.assess(table("rare", other, "rare"), policy=policy())
        assert found.met is not True
        assert "spelt_differently" in [reason.what for reason in found.policy.reasons]


def test_one_person_spelt_in_two_ways_among_suppressed_rows(tmp_path: Path) -> None:
    """Both readings of the class are computed, of a table and of its counts."""
    data = {**table("flu", "hiv", "cold"), "who": [*map(str, range(N)), "p1", "P1", "p1 "]}
    rules = policy()
    rules["roles"] = {"quasi": ["zip"], "sensitive": ["ill"], "person": "who"}
    state = tmp_path / "state"
    sievert.count(data, policy=rules, out=state)
    for source in (data, state):
        found = sievert.assess(source, policy=rules, quick=True, planned=source is data)
        assert found.planned_met is False and found.policy.spellings == {"who": 3}
        assert [(v.value, v.reading) for v in found.policy.of_suppressed] == [(1, MERGED)] * 2


MERGED = "with all spellings of a value merged"


def test_spellings_of_suppressed_rows_beside_others_that_are_said_to_differ() -> None:
    """The order lists two spellings of the other rows, and says nothing of the suppressed ones."""
    data = table("rare", "Rare", "rare")
    data["ill"][:N] = [("a", "A", "b", "c")[i % 4] for i in range(N)]
    listed = {**policy(), "orders": {"ill": ["a", "A", "b", "c", "rare"]}}
    for rules, values in ((listed, 2), (policy(), 4)):
        found = sievert.assess(data, policy=rules, quick=True)
        assert found.met is False and found.policy.spellings == {"ill": values}
        (verdict,) = [v for v in found.policy.of_suppressed if v.measure == "l_diversity"]
        assert (verdict.value, verdict.reading) == (1, MERGED)


def test_a_named_value_that_only_suppressed_rows_spell_otherwise() -> None:
    """Nobody of them has the value as it is named, and nearly all of them have it."""
    data = table(*["HIV"] * 6, "flu")
    rules = policy(inference={"ill": {"alpha_k": {"max": 0.5}}})
    rules["parameters"] = {"alpha_k": {"value": "hiv"}}
    found = sievert.assess(data, policy=rules, quick=True)
    assert found.met is False and found.policy.spellings == {"ill": 2}
    assert [(v.value, v.reading) for v in found.policy.of_suppressed] == [(6 / 7, MERGED)]


def test_spellings_of_suppressed_rows_that_are_compared() -> None:
    secrets = ["rare", "Rare", "RARE"]
    keys = [f"k{i}" for i in range(N + 3)]
    whole = {"zip": [*map(str, range(N + 3))], "ill": table(*secrets)["ill"], "i": keys}
    rules = policy()
    rules["roles"]["ignored"] = {"i": "the key"}
    found = sievert.compare(
        whole, {"r": {**table(*secrets), "i": keys}}, policy=rules, key="i", shuffles=0
    )
    judged = found.releases[0].policy
    assert judged is not None and lines(judged) == {"k_anonymity": True, "l_diversity": False}
    assert [v.reading for v in judged.of_suppressed] == [None, MERGED]


def test_spellings_of_rows_that_a_release_suppresses() -> None:
    """They are three values as they are spelt: kept, they breach the limit; auto drops them."""
    data = {
        "zip": [*table()["zip"], "7", "8", "9"],
        "ill": [*table()["ill"], "rare", "Rare", "RARE"],
    }
    kept, auto = (
        sievert.protect(
            data, policy=policy(), levels={"zip": 0}, suppress=0.2, suppressed_rows=rows
        )
        for rows in ("keep", "auto")
    )
    assert kept.met is False and lines(kept.policy) == {"k_anonymity": True, "l_diversity": False}
    assert auto.met is None and auto.policy.of_suppressed == ()
    assert any("3 records suppressed, which are left out" in note for note in auto.warnings)


def test_a_limit_that_no_class_can_be_judged_by_keeps_the_caution() -> None:
    """Where no limit looks at the suppressed rows, they are spoken of as before."""
    found = sievert.assess(table("RARE"), policy=policy(itpr={"max": 1}), quick=True)
    assert found.policy.of_suppressed == ()
    assert any("secrets stay in the table" in caution for caution in found.cautions)
    judged = sievert.assess(table("RARE"), policy=policy(), quick=True)
    assert not any("secrets stay in the table" in caution for caution in judged.cautions)
    assert any("secrets stay" in c for c in sievert.assess(table("RARE"), "zip", "ill").cautions)


def test_the_mark_as_a_secret_is_a_caution() -> None:
    """It looks as if the secret was suppressed, and is counted as a value."""
    words = "2 records with the mark of suppression as a value of 'ill'"
    data = table("flu", "hiv", MARK)
    data["ill"][0] = MARK
    assert any(words in c for c in sievert.assess(data, policy=policy()).cautions)
    data = {name: values[:N] for name, values in data.items()}
    words = words.replace("2 records", "1 record")
    assert any(words in c for c in sievert.assess(data, policy=policy()).cautions)
    assert not any("as a value of" in c for c in sievert.assess(table(), policy=policy()).cautions)


# -- what is said of it ---------------------------------------------------------------------------


def test_a_shareable_result_has_each_limit_once() -> None:
    """A second line would tell that somebody is suppressed; the verdict is the worse one."""
    shared = sievert.assess(table("RARE"), policy=policy()).share().to_dict()["policy"]
    assert [(v["measure"], v["met"]) for v in shared["limits"]] == [
        ("k_anonymity", False),
        ("l_diversity", False),
    ]
    assert "scope" not in json.dumps(shared) and shared["met"] is False


def test_a_pipeline_has_a_case_for_the_suppressed_rows() -> None:
    from sievert.report import pipeline
    from sievert.report.texts import read_texts

    result = sievert.assess(table("RARE"), policy=policy()).to_dict()
    cases = {(c.name, c.met) for c in pipeline.limit_cases(result, read_texts(None))}
    assert {("k_anonymity", True), ("k_anonymity.suppressed", False)} <= cases
    rules = [r["ruleId"] for r in json.loads(pipeline.sarif(result))["runs"][0]["results"]]
    assert "l_diversity.suppressed" in rules and "l_diversity" not in rules


def test_a_limit_counts_once_on_a_page() -> None:
    text = repr(sievert.assess(table("RARE"), policy=policy(k_anonymity={"min": 3})))
    words = " ".join(text.split())
    assert "Its one limit is breached." in words
    assert "Suppressed records, judged as a class of their own: 1. They breach 1 limit." in words


def test_only_leaving_them_out_helps() -> None:
    found = sievert.assess(table("RARE"), policy=policy()).to_dict()["options"]
    assert found["reason"] == "only_suppressed" and found["ways"] == []
    data = table("RARE")
    data["zip"][0] = "alone"
    for way in sievert.assess(data, policy=policy()).to_dict()["options"]["ways"]:
        assert way["met"] is False  # the suppressed row stays as it is


# -- releases -------------------------------------------------------------------------------------


def crowd() -> dict[str, Any]:
    """Forty people in four towns, and one who is alone in a fifth with a rare secret."""
    data = table()
    data["zip"] = [f"{z}{i % 2}" for i, z in enumerate(data["zip"])] + ["99"]
    data["ill"] = [*data["ill"], "RARE"]
    return data


def house(**protect: Any) -> dict[str, Any]:
    return {
        **policy(),
        "hierarchies": {"zip": "prefix:1"},
        "protect": {"suppress": 0.1, **protect},
    }


@pytest.mark.parametrize("how", ["full", "local", "suppress"])
def test_a_release_keeps_them_only_where_they_meet_the_limits(how: str, tmp_path: Path) -> None:
    out = tmp_path / "r.csv"
    made = sievert.protect(crowd(), policy=house(suppress=0.9), how=how, out=out)
    assert made.met is True and made.released
    text, manifest = out.read_text(), json.loads((tmp_path / "r.csv.json").read_text())
    of_class = lines(made.policy)
    if made.suppressed_rows == "dropped":
        assert of_class == {} and manifest["drop"] is True
        assert f"\n{MARK}," not in text and "RARE" not in text
        assert any("left out of the release" in warning for warning in made.warnings)
    elif made.suppressed_rows == "kept":
        assert set(of_class.values()) == {True} and "drop" not in manifest
        assert text.count(f"\n{MARK},") == made.suppressed_records >= 3
        assert any("stay as * in the release" in warning for warning in made.warnings)
    assert made.policy.suppressed_records == made.suppressed_records
    counted = [v.value for v in made.policy.verdicts if v.measure == "suppressed_records"]
    assert counted == [made.suppressed_records]
    assert sievert.assess(out, policy=house()).met is True


def test_keeping_what_breaches_a_limit_writes_nothing(tmp_path: Path) -> None:
    """With these levels one person is suppressed, and stays in the file as a class of one."""
    out = tmp_path / "r.csv"
    given: dict[str, Any] = {"policy": house(), "levels": {"zip": 1}, "out": out}
    made = sievert.protect(crowd(), suppressed_rows="keep", **given)
    assert made.met is False and not made.released and not out.exists()
    assert lines(made.policy) == {"k_anonymity": False, "l_diversity": False}
    assert made.suppressed_rows == "kept"
    dropped = sievert.protect(crowd(), suppressed_rows="drop", **given)
    assert dropped.met is True and "RARE" not in out.read_text()


def test_a_release_that_has_to_keep_them_is_searched_with_them(tmp_path: Path) -> None:
    """Where they have to stay, another recoding is found, or none; never one that breaches."""
    out = tmp_path / "r.csv"
    made = sievert.protect(crowd(), policy=house(), suppressed_rows="keep", out=out)
    if made.met:
        assert sievert.assess(out, policy=house()).met is True
    else:
        assert not out.exists()


@pytest.mark.parametrize("how", ["full", "local"])
def test_dropped_rows_count_against_the_budget(how: str, tmp_path: Path) -> None:
    """They are not in the file any more, and were suppressed all the same."""
    out = tmp_path / "r.csv"
    data = crowd()
    data["zip"] += [f"x{i}" for i in range(6)]
    data["ill"] += ["flu", "hiv"] * 3
    rules = {
        **policy(
            k_anonymity={"min": 3},
            l_diversity={"min": 2},
            suppressed_records={"max": 2},
        ),
        "hierarchies": {"zip": "prefix:1"},
    }
    levels = {"levels": {"zip": 0}} if how == "full" else {}
    made = sievert.protect(
        data, policy=rules, how=how, suppressed_rows="drop", suppress=0.5, out=out, **levels
    )
    counted = [v for v in made.policy.verdicts if v.measure == "suppressed_records"]
    assert [v.value for v in counted] == [made.suppressed_records]
    assert (made.suppressed_records <= 2) or (made.met is False and not out.exists())
    if how == "full":
        assert made.suppressed_records > 2


def test_drop_is_a_name_of_suppressed_rows_drop(tmp_path: Path) -> None:
    out = tmp_path / "r.csv"
    first = sievert.protect(crowd(), policy=house(), drop=True, out=out)
    text = out.read_text()
    second = sievert.protect(crowd(), policy=house(), suppressed_rows="drop", out=out)
    assert out.read_text() == text and first.suppressed_rows == second.suppressed_rows
    with pytest.raises(UsageError, match="contradict each other"):
        sievert.protect(crowd(), policy=house(), drop=True, suppressed_rows="keep")
    with pytest.raises(UsageError, match="--suppressed-rows"):
        sievert.protect(crowd(), policy=house(), suppressed_rows="perhaps")


@pytest.mark.parametrize("rows", ["auto", "drop"])
def test_a_release_that_the_engine_writes(
    rows: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sievert.commands.protect.protection.IN_THE_ENGINE", 0)
    out = tmp_path / "r.csv"
    given: dict[str, Any] = {"policy": house(), "levels": {"zip": 1}, "out": out}
    made = sievert.protect(crowd(), suppressed_rows=rows, **given)
    assert made.met is True and made.suppressed_rows == "dropped"
    assert "RARE" not in out.read_text() and len(out.read_text().splitlines()) == N + 1
    kept = sievert.protect(crowd(), suppressed_rows="keep", force=True, **given)
    assert kept.met is False


def test_people_with_several_suppressed_rows(tmp_path: Path) -> None:
    """Five rows of one person: the class has one member, and is left out."""
    data = table()
    data["zip"] += [f"{i}{i}" for i in range(5, 10)]
    data["ill"] += ["flu", "hiv", "cold", "flu", "hiv"]
    data["who"] = [*map(str, range(N)), *["x"] * 5]
    rules = {
        **policy(),
        "roles": {"quasi": ["zip"], "sensitive": ["ill"], "person": "who"},
        "hierarchies": {"zip": "prefix:1"},
        "protect": {"suppress": 0.2},
    }
    out = tmp_path / "r.csv"
    given: dict[str, Any] = {"policy": rules, "levels": {"zip": 0}, "out": out}
    made = sievert.protect(data, **given)
    assert made.suppressed_records == 5 and made.suppressed_rows == "dropped"
    kept = sievert.protect(data, suppressed_rows="keep", force=True, **given)
    assert kept.met is False and lines(kept.policy)["k_anonymity"] is False


# -- suppressed rows without a person --------------------------------------------------------------


@pytest.fixture
def nameless(tmp_path: Path) -> tuple[Path, Path]:
    """A table whose suppressed rows have no person, as a file, and a policy that counts people."""
    found = table("flu", "hiv", "cold")
    persons = [*map(str, range(N)), "", "", ""]
    rows = zip(persons, found["zip"], found["ill"], strict=True)
    data, rules = tmp_path / "t.csv", tmp_path / "p.toml"
    data.write_text("p,zip,ill\n" + "".join(",".join(row) + "\n" for row in rows))
    rules.write_text(
        '[roles]\nperson = "p"\nquasi = ["zip"]\nsensitive = ["ill"]\n'
        "[limits]\nk_anonymity = { min = 3 }\nl_diversity = { min = 2 }\n"
    )
    return data, rules


def whats(judged: Any) -> list[str]:
    return [reason.what for reason in judged.reasons]


@pytest.mark.parametrize("large", [False, True])
def test_suppressed_rows_without_a_person(
    large: bool, nameless: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows without a person were noticed only where they were not suppressed."""
    if large:
        monkeypatch.setattr(session, "PACKED_FROM", 0)
        monkeypatch.setattr(session, "LOADING", 0)
    data, rules = nameless
    judged = sievert.assess(data, policy=rules, planned=True)
    assert judged.planned_met is None and whats(judged.policy) == ["rows_without_person"]
    assert any("3 records without a person" in warning for warning in judged.warnings)
    sievert.count(data, policy=rules, out=tmp_path / "state")
    of_state = sievert.assess(tmp_path / "state", policy=rules)
    assert of_state.planned_met is None and whats(of_state.policy) == ["rows_without_person"]
    gaps = sievert.check_policy(rules, data).gaps
    assert [gap.what for gap in gaps] == ["undecided"] and "no person" in gaps[0].text


def test_rows_are_kept_as_any_other(nameless: tuple[Path, Path]) -> None:
    data, rules = nameless
    judged = sievert.assess(data, policy=rules, planned=True, keep_suppressed=True)
    assert judged.planned_met is None and whats(judged.policy) == ["rows_without_person"]
