"""The ledger of releases: its file, its salt, what is refused, and cases that are known by hand."""

from __future__ import annotations

import json
import multiprocessing
import os
import unicodedata
import warnings
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.commandline import run
from helpers.savedpages import check_saved

import sievert
from sievert.commands.ledger import store
from sievert.counts.joint_values import ValueSets, count_common_values
from sievert.errors import InputError, RefusedError, UsageError

TOWNS = {"id": list("abcd"), "town": list("xyxy"), "ill": ["flu", "cold", "cold", "flu"]}
AGES = {"id": list("abcd"), "age": list("1122"), "ill": ["flu", "cold", "cold", "flu"]}
POLICY: dict[str, Any] = {
    "roles": {"quasi": ["age"], "sensitive": ["ill"], "person": "id"},
    "limits": {"k_anonymity": {"min": 2}},
}
RULES = """[roles]
quasi = ["age"]
sensitive = ["ill"]
person = "id"
[limits]
k_anonymity = { min = 2 }
"""


def add(ledger: Path, release: Any = None, **options: Any) -> Any:
    given = {"quasi": "town", "sensitive": "ill", "person": "id", "name": "towns"} | options
    return sievert.add_to_ledger(ledger, TOWNS if release is None else release, **given)


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    add(tmp_path / "ledger", date="2026-01-31")
    return tmp_path / "ledger"


def check(ledger: Path, release: Any = None, policy: Any = POLICY, **options: Any) -> Any:
    given = {"name": "ages"} | options
    return sievert.check_with_ledger(ledger, release or AGES, policy=policy, **given)


def write(path: Path, table: dict[str, list[str]]) -> Path:
    rows = [table, *zip(*table.values(), strict=True)]
    path.write_text("".join(",".join(row) + "\n" for row in rows), encoding="utf-8")
    return path


# -- cases that are known by hand -----------------------------------------------------------------


def test_safe_alone_and_unsafe_together(ledger: Path) -> None:
    result = check(ledger)
    assert result.alone.planned_met is True and result.met is False and result.only_together
    assert not result.passed
    assert [r.what for r in result.policy.reasons] == ["unsafe_together"]
    assert result.joint == {
        "people": 4, "classes": 4, "k_anonymity": 1, "unique": 4, "unique_only_together": 4,
        "k": 2, "below": 4,
    }  # fmt: skip
    ill = result.secrets["ill"]
    assert ill["bits"] == {"joint": 1.0, "alone": 0.0, "best_release": "towns", "gain": 1.0}
    assert ill["best_guess"]["gain"] == 0.5
    assert ill["values_left"]["least"] == 2  # no set of values says more: the people do


def test_the_same_classes_again_add_nothing(ledger: Path) -> None:
    same = {**AGES, "age": list("1212")}
    result = check(ledger, same)
    assert result.met is True and result.passed and not result.only_together
    assert result.joint["k_anonymity"] == 2 and result.secrets["ill"]["bits"]["gain"] == 0.0


def test_who_has_left_is_found_by_elimination(tmp_path: Path) -> None:
    """Two of four leave: both had a cold, and the new release tells who is still there."""
    first = {"id": list("abcd"), "town": ["x"] * 4, "ill": ["flu", "ache", "cold", "cold"]}
    second = {"id": list("ab"), "age": ["1"] * 2, "ill": ["flu", "ache"]}
    add(tmp_path / "ledger", first)
    limits = {"inference": {"ill": {"l_diversity": {"min": 2}}}}
    result = check(tmp_path / "ledger", second, policy={**POLICY, "limits": limits})
    assert result.alone.planned_met is True and result.met is False
    assert result.inference["ill"]["l_diversity"].value == 1


def test_few_exposed_people_are_not_hidden_by_many(tmp_path: Path) -> None:
    many = [str(i) for i in range(1000)]
    add(tmp_path / "ledger", {"id": many, "town": ["x", "y"] * 500, "ill": ["a", "b"] * 500})
    new = {"id": many[:4], "age": list("1122"), "ill": ["a"] * 4}
    limits = {"unique_records": {"max": 0.01}}
    result = check(tmp_path / "ledger", new, policy={**POLICY, "limits": limits})
    assert result.reidentification["unique_records"].value == 1.0 and result.met is False


def count(*sets: list[list[int]], few: int) -> Any:
    """The values left for one person, whose class in each release has these values."""
    number = 10
    own = [ValueSets(np.zeros(len(values), int), np.array(values), number) for (values,) in sets]
    common = count_common_values([np.zeros(1, int)] * len(sets), own, few)
    return int(common.together[0]), bool(common.none_common[0])


@pytest.mark.parametrize("few", [0, 512])
def test_values_in_common(few: int) -> None:
    """0 is missing; a value that was missing or has changed does not hide what the others say."""
    assert count([[1, 2, 3]], [[2, 3]], few=few) == (2, False)
    assert count([[1, 2]], [[2, 3]], few=few) == (1, False)
    assert count([[1, 2]], [[3, 4]], few=few) == (2, True)
    assert count([[1, 2]], [[3, 4]], [[4, 5]], few=few) == (1, True)
    assert count([[3, 4]], [[0, 1]], [[4, 5]], few=few) == (1, True)  # missing may be any value
    assert count([[0]], [[0]], few=few) == (1, True)


def test_a_secret_that_changes(tmp_path: Path) -> None:
    """Joint classes are diverse, and yet one value is common to all classes of somebody."""
    first = {"id": list("abcd"), "town": list("xxyy"), "ill": ["flu", "cold", "flu", "cold"]}
    second = {"id": list("abcd"), "age": list("1122"), "ill": ["flu", "ache", "flu", "cold"]}
    add(tmp_path / "ledger", first)
    limits = {"inference": {"ill": {"l_diversity": {"min": 2}}}}
    result = check(tmp_path / "ledger", second, policy={**POLICY, "limits": limits})
    left = result.secrets["ill"]["values_left"]
    assert left == {
        "least": 1, "disclosed": 2, "only_together": 2, "none_common": 0, "changed": 1,
    }  # fmt: skip
    assert result.inference["ill"]["l_diversity"].value == 1 and result.met is False


def test_rows_of_a_person_are_taken_together(tmp_path: Path) -> None:
    """Only one person has no row but in b: each class of the others hides nobody else."""
    first = {"id": ["p0", "p1", "p2"], "q": list("aaa"), "s": list("xxy")}
    second = {"id": ["p0", "p1", "p1", "p2", "p2"], "q": list("babab"), "s": list("xxxyy")}
    add(tmp_path / "ledger", first, quasi="q", sensitive="s")
    policy = {
        "roles": {"quasi": ["q"], "sensitive": ["s"], "person": "id"},
        "limits": {"k_anonymity": {"min": 2}, "inference": {"s": {"l_diversity": {"min": 2}}}},
    }
    result = check(tmp_path / "ledger", second, policy=policy)
    assert result.met is False and result.joint["k_anonymity"] == 1
    assert result.inference["s"]["l_diversity"].value == 1
    guess = result.secrets["s"]["best_guess"]
    assert guess["joint"] == guess["alone"] == pytest.approx(2 / 3)  # of people, not of rows
    several = {**second, "id": ["p0", "p1", "p1", "p2", "p2"], "q": list("aaabb")}
    assert check(tmp_path / "ledger", several, policy=policy).joint["k_anonymity"] == 1


def test_values_that_everybody_of_a_class_has_are_sure(tmp_path: Path) -> None:
    twice = {"id": list("aabb"), "town": list("xxxx"), "ill": ["flu", "cold"] * 2}
    add(tmp_path / "ledger", twice)
    limits = {"inference": {"ill": {"l_diversity": {"min": 2}}}}
    new = {"id": list("aabb"), "age": list("1111"), "ill": ["flu", "cold"] * 2}
    result = check(tmp_path / "ledger", new, policy={**POLICY, "limits": limits})
    assert result.inference["ill"]["l_diversity"].value == 1 and result.met is False


def test_people_of_several_columns_and_rows(tmp_path: Path) -> None:
    first = {
        "name": ["Ann", "Ann", "Bob", "Bob"], "born": ["1", "2", "1", "1"],
        "town": ["x", "x", "x", "y"], "ill": ["flu"] * 4,
    }  # fmt: skip
    add(tmp_path / "ledger", first, person=["name", "born"])
    new = {"name": ["Ann", "Ann", "Bob"], "born": ["1", "2", "1"], "age": ["1"] * 3}
    result = sievert.check_with_ledger(tmp_path / "ledger", new, "age", person="name,born")
    assert result.joint["people"] == 3 and result.joint["k_anonymity"] == 1
    assert result.joint["unique"] == 1 and result.ledger["releases"][-1]["k_anonymity"] == 3


def test_measures_that_coded_values_cannot_have_are_undecided(ledger: Path) -> None:
    limits = {"k_anonymity": {"min": 1}, "inference": {"ill": {"t_closeness_ordered": {"max": 1}}}}
    policy = {**POLICY, "limits": limits, "orders": {"ill": ["cold", "flu"]}}
    result = check(ledger, policy=policy)
    assert result.met is None and not result.passed
    named = {"k_anonymity": {"min": 1}, "inference": {"ill": {"alpha_k": {"max": 0.9}}}}
    policy = {**POLICY, "limits": named, "parameters": {"alpha_k": {"value": {"ill": "flu"}}}}
    assert check(ledger, policy=policy).inference["ill"]["alpha_k"].value == 1.0


def test_codes_of_the_policy_are_missing(ledger: Path) -> None:
    policy = {**POLICY, "limits": {"k_anonymity": {"min": 1}}, "reading": {"na": ["?"]}}
    result = check(ledger, {**AGES, "age": ["?", "1", "1", "1"]}, policy=policy)
    assert result.met is True and "codes count as missing" in result.policy.rests_on


def test_suppressed_people_are_a_class(ledger: Path) -> None:
    result = check(ledger, {**AGES, "age": ["*", "1", "1", "1"]})
    assert result.joint["k_anonymity"] == 1 and result.table["suppressed"] == 1
    assert any("may be found by another" in w for w in result.warnings)


def test_keys_that_are_spelt_differently_leave_it_undecided(tmp_path: Path) -> None:
    keys = [f"k{i}" for i in range(20)]
    table = {"id": keys, "town": ["x", "y"] * 10, "ill": ["a"] * 10 + ["b"] * 10}
    add(tmp_path / "ledger", table)
    rows = {"age": ["1"] * 20, "ill": table["ill"]}
    policy = {**POLICY, "limits": {"k_anonymity": {"min": 1}}}
    assert check(tmp_path / "ledger", {**rows, "id": keys}, policy=policy).met is True
    for spell in (" {}".format, "{} ".format, str.upper, "{}.0".format, " {}.0".format):
        new = {**rows, "id": [*keys[:2], *map(spell, keys[2:])]}
        result = check(tmp_path / "ledger", new, policy=policy)
        assert result.met is None and not result.passed
        assert [r.what for r in result.policy.reasons] == ["keys_spelt_differently"]
        assert any(c.startswith("18 people") for c in result.cautions)
        (other := tmp_path / "other").unlink(missing_ok=True)
        add(other, {**new, "town": rows["age"]})
        back = check(other, {**rows, "id": keys}, policy=policy)  # the ledger has the odd ones
        assert back.met is None


def test_keys_that_coincide_canonically_are_one_person(tmp_path: Path) -> None:
    """The names of one release are composed, those of the other decomposed: eight seem alike."""
    names = [f"é{i}" for i in range(16)]
    others = [f"k{i}" for i in range(8)]
    first = {"id": [*names, *others], "town": ["x"] * 8 + ["y"] * 8 + ["z"] * 8, "ill": ["a"] * 24}
    ages = ["1" if i < 2 or 8 <= i < 14 else "2" for i in range(16)] + ["3"] * 8
    second = {"id": [*names, *others], "age": ages, "ill": ["a"] * 24}
    respelt = {**second, "id": [*(unicodedata.normalize("NFD", n) for n in names), *others]}
    ledger = tmp_path / "ledger"
    add(ledger, first)
    policy = {**POLICY, "limits": {"reidentification": {"k_anonymity": {"min": 5}}}}
    told = check(ledger, second, policy=policy)
    result = check(ledger, respelt, policy=policy)
    assert told.joint["k_anonymity"] == result.joint["k_anonymity"] == 2
    assert result.met is False and "keys_spelt_differently" in [
        r.what for r in result.policy.reasons
    ]
    (verdict,) = result.policy.verdicts
    assert (verdict.value, verdict.reading) == (2, "with all spellings of a value merged")
    assert result.to_dict()["policy"]["spellings"] == {"id": 32}
    assert any("32 values of 'id' coincide" in c for c in result.cautions)
    apart = {**policy, "roles": {**POLICY["roles"], "distinct_spellings": ["id"]}}
    said = check(ledger, respelt, policy=apart)
    assert said.met is True and said.joint["k_anonymity"] == 8


def test_secrets_of_a_ledger_that_coincide_canonically(tmp_path: Path) -> None:
    """flu and Flu are one value: nobody's classes leave two of them."""
    rows = {"id": [f"k{i}" for i in range(20)], "ill": ["flu", "Flu"] * 10}
    ledger = tmp_path / "ledger"
    add(ledger, {**rows, "town": ["x"] * 20})
    limits = {"inference": {"ill": {"l_diversity": {"min": 2}}}}
    result = check(ledger, {**rows, "age": ["1"] * 20}, policy={**POLICY, "limits": limits})
    assert result.met is False
    assert "spelt_differently" in [r.what for r in result.policy.reasons]
    assert result.secrets["ill"]["values_left"]["least"] == 1
    unlimited = {**POLICY, "limits": {"k_anonymity": {"min": 5}}}
    result = check(ledger, {**rows, "age": ["1"] * 20}, policy=unlimited)
    assert result.met is None and result.policy is not None
    assert [r.what for r in result.policy.reasons] == ["spelt_differently"]
    assert [(u.secret, u.people, u.of) for u in result.policy.unjudged] == [("ill", 20, 20)]


def test_zeros_at_the_start_of_keys_leave_it_undecided(tmp_path: Path) -> None:
    """1 to 9 are others than 01 to 09, and 10 to 30 the same: alone nobody of them is at risk."""
    rows = {"town": ["x"] * 30, "ill": ["a", "b"] * 15}
    ages = {"age": ["1"] * 30, "ill": rows["ill"]}
    short, long = [str(i) for i in range(1, 31)], [f"{i:02d}" for i in range(1, 31)]
    for first, second in ((short, long), (long, short), (long, list(range(1, 31)))):
        (ledger := tmp_path / "ledger").unlink(missing_ok=True)
        add(ledger, {**rows, "id": first})
        result = check(ledger, {**ages, "id": second})
        assert result.met is None and result.joint["k_anonymity"] == 9
        assert any(c.startswith("9 people") for c in result.cautions)
        assert check(ledger, {**ages, "id": first}).met is True


def test_the_number_that_is_shown_is_the_riskiest(tmp_path: Path) -> None:
    """c has left, alone with one value; in the new release one value of two is missing."""
    old = {"id": list("abcde"), "town": list("xxxyy"), "ill": ["u", "v", "u", "u", "v"]}
    new = {"id": list("abde"), "age": list("1111"), "ill": [None, "v", "u", "v"]}
    add(tmp_path / "ledger", old)
    found = check(tmp_path / "ledger", new).inference["ill"]["l_diversity"]
    assert found.value == 1


def test_secrets_of_one_release_are_named(ledger: Path) -> None:
    policy = {**POLICY, "roles": {**POLICY["roles"], "sensitive": ["illness"]}}
    renamed = {"id": AGES["id"], "age": AGES["age"], "illness": AGES["ill"]}
    said = [w for w in check(ledger, renamed, policy=policy).warnings if "by their names" in w]
    assert said and "'ill', 'illness' are in one release only" in said[0]
    assert not any("by their names" in w for w in check(ledger).warnings)


def test_few_known_people_are_said(tmp_path: Path) -> None:
    keys = [f"k{i}" for i in range(10)]
    for name in ("one", "two"):
        add(tmp_path / "ledger", {"id": keys, "town": [name] * 10, "ill": ["a"] * 10}, name=name)
    new = {"id": [*keys[:2], *(f"n{i}" for i in range(8))], "age": ["1"] * 10, "ill": ["a"] * 10}
    said = [c for c in check(tmp_path / "ledger", new).cautions if "spelt alike" in c]
    assert said and said[0].startswith("2 of 10 people") and "20 of 20" in said[0]
    whole = check(tmp_path / "ledger", {**new, "id": keys})
    assert not any("spelt alike" in c for c in whole.cautions)


# -- the file -------------------------------------------------------------------------------------


def test_what_is_kept(ledger: Path, tmp_path: Path) -> None:
    salt = tmp_path / "ledger.salt"
    for path in (ledger, salt):
        assert path.stat().st_mode & 0o777 == 0o600
    with zipfile.ZipFile(ledger) as archive:
        content = b"".join(archive.read(name) for name in archive.namelist())
    for value in (b"flu", b"cold", b'"a"'):
        assert value not in content
    before, names = ledger.read_bytes(), sorted(os.listdir(tmp_path))
    check(ledger)
    assert ledger.read_bytes() == before and sorted(os.listdir(tmp_path)) == names
    listed = sievert.read_ledger(ledger).releases
    assert [(r["name"], r["date"], r["rows"], r["classes"]) for r in listed] == [
        ("towns", "2026-01-31", 4, 2)
    ]


def test_other_salts_give_other_codes(tmp_path: Path) -> None:
    for name in ("one", "two"):
        add(tmp_path / name)
    one, two = (
        store.read_ledger(tmp_path / n, store.read_salt(tmp_path / f"{n}.salt"))[0]
        for n in ("one", "two")
    )
    assert not np.isin(one.people, two.people).any() and one.digest != two.digest
    elsewhere = tmp_path / "elsewhere"
    add(tmp_path / "three", salt=elsewhere)
    assert elsewhere.exists() and not (tmp_path / "three.salt").exists()


def test_refusals(ledger: Path, tmp_path: Path) -> None:
    salt = tmp_path / "ledger.salt"
    for error, words, call in (
        (RefusedError, "already, as 'towns'", lambda: add(ledger, name="other")),
        (RefusedError, "another release", lambda: add(ledger, AGES, quasi="age")),
        (UsageError, "shoe", lambda: add(ledger, person="shoe")),
        (UsageError, "--person", lambda: add(ledger, person=None)),
        (UsageError, "--date", lambda: add(ledger, date="tomorrow")),
        (UsageError, "value of its own", lambda: add(ledger, missing="drop")),
        (InputError, "without a person", lambda: add(ledger, {**TOWNS, "id": [None, *"bcd"]})),
        (InputError, "no such ledger", lambda: check(tmp_path / "none", salt=salt)),
        (InputError, "no such salt", lambda: check(ledger, salt=tmp_path / "none")),
        (InputError, "called by the same keys", lambda: check(ledger, {**AGES, "id": [*"efgh"]})),
    ):
        before = ledger.read_bytes()
        with pytest.raises(error, match=words):
            call()
        assert ledger.read_bytes() == before
    other = tmp_path / "other"
    other.write_text("00" * 32, encoding="ascii")
    for call in (
        lambda: check(ledger, salt=other),
        lambda: add(ledger, AGES, quasi="age", salt=other),
    ):
        with pytest.raises(RefusedError, match="salt is not that of"):
            call()
    other.write_text("pepper", encoding="ascii")
    with pytest.raises(InputError, match="holds no salt"):
        check(ledger, salt=other)


def test_damage_and_other_versions(ledger: Path) -> None:
    whole = ledger.read_bytes()
    place = whole.index(b"0/classes") + 11
    damaged = [b"", b"no archive", whole[:-30], whole[: len(whole) // 2]]
    damaged.append(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
    for content in damaged:
        ledger.write_bytes(content)
        with pytest.raises(InputError, match="damaged"):
            check(ledger)
    rewritten = rewrite(ledger, whole, "0/classes", lambda content: content[:-4] + bytes(4))
    with pytest.raises(InputError, match="damaged"):
        check(rewritten)
    for version in (b"2", b"3"):  # without spellings of keys, without kept columns
        number = b'n": ' + version + b","
        older = rewrite(ledger, whole, "manifest.json", lambda c, n=number: c.replace(b'n": 4,', n))
        with pytest.raises(InputError, match="another version"):
            check(older)


def rewrite(ledger: Path, whole: bytes, member: str, change: Any) -> Path:
    """The same archive with one member changed, and sums that are right."""
    ledger.write_bytes(whole)
    with zipfile.ZipFile(ledger) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    members[member] = change(members[member])
    with zipfile.ZipFile(ledger, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return ledger


def test_the_seal_covers_names(tmp_path: Path) -> None:
    """Members that change their names, are there twice or are not expected are refused."""
    ledger = tmp_path / "ledger"
    add(ledger, {**TOWNS, "job": list("uvuv")}, sensitive=["ill", "job"])
    with zipfile.ZipFile(ledger) as archive:
        members = [(name, archive.read(name)) for name in archive.namelist()]
    swap = {"0/secret0": "0/secret1", "0/secret1": "0/secret0"}
    renamed = [(swap.get(name, name), content) for name, content in members]
    order = [name for name, _ in members]
    for changed in (
        renamed,
        sorted(renamed, key=lambda member: order.index(member[0])),
        [*members, members[1]],
        [*members[:-1], ("0/more", b""), members[-1]],
        members[::-1],
        members[:-1],
    ):
        with zipfile.ZipFile(ledger, "w") as archive, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a name that is there twice
            for name, content in changed:
                archive.writestr(name, content)
        with pytest.raises(InputError, match="damaged"):
            check(ledger)


def _add_one(ledger: Path, number: int) -> None:
    add(ledger, {**TOWNS, "town": [f"{number}{t}" for t in TOWNS["town"]]}, name=f"r{number}")


def test_releases_that_are_added_at_once_all_stay(tmp_path: Path) -> None:
    ledger = tmp_path / "ledger"
    context = multiprocessing.get_context("fork")
    adding = [context.Process(target=_add_one, args=(ledger, i)) for i in range(4)]
    for process in adding:
        process.start()
    for process in adding:
        process.join()
    names = {release["name"] for release in sievert.read_ledger(ledger).releases}
    assert names == {f"r{i}" for i in range(4)}


# -- the command line and the page ----------------------------------------------------------------


def test_commands(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    towns, ages = write(tmp_path / "towns.csv", TOWNS), write(tmp_path / "ages.csv", AGES)
    (rules := tmp_path / "p.toml").write_text(RULES, encoding="utf-8")
    ledger, out = tmp_path / "ledger", tmp_path / "out.json"
    given = ["--person", "id", "-q", "town", "-s", "ill"]
    assert run("ledger", "add", str(ledger), str(towns), *given) == 0
    assert "Added to ledger: 1 release" in capsys.readouterr().out
    page = tmp_path / "page.html"
    line = ["ledger", "check", str(ledger), str(ages), "--policy", str(rules)]
    assert run(*line, "--json", str(out), "--html", str(page)) == 1
    said = " ".join(capsys.readouterr().out.split())
    assert said.startswith("✗ A release without id would not meet the policy.")
    sentence = "Alone, the release meets the policy; together with the earlier releases it does not"
    assert sentence in said and sentence in page.read_text(encoding="utf-8")
    assert "4 of them are unique in no release alone" in said
    content = json.loads(out.read_text(encoding="utf-8"))
    assert content["only_together"] is True and content["policy"]["planned_met"] is False
    assert run("ledger", "show", str(ledger), "--json", "-") == 0
    assert json.loads(capsys.readouterr().out)["listing"]["releases"][0]["name"] == "towns.csv"
    assert run("report", str(out)) == 0
    assert run(*line, "--share") == 7
    assert run("ledger", "add", str(ledger), str(towns), *given) == 7
    assert run("ledger", "check", str(ledger), str(ages), "-q", "age", "--person", "x") == 2


@pytest.mark.parametrize("policy", [POLICY, None])
def test_a_saved_result_has_the_same_page(ledger: Path, policy: Any) -> None:
    given = {} if policy else {"quasi": "age", "sensitive": "ill", "person": "id"}
    result = check(ledger, policy=policy, **given)
    check_saved(result)
    read = type(result).from_dict(result.to_dict())
    assert read.joint_risk.unique == 4 and read.learnt["ill"].bits.best_release == "towns"
    assert read.met is result.met and read.only_together is result.only_together


@pytest.mark.parametrize("option", ["--junit", "--sarif"])
def test_no_file_for_a_pipeline_about_a_release_without_its_key(
    option: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A dashboard would show a plan as a file that passed: refused before anything is read."""
    written = tmp_path / "limits.out"
    (rules := tmp_path / "p.toml").write_text(RULES, encoding="utf-8")
    line = ["ledger", "check", "none.ledger", "none.csv", "--policy", str(rules)]
    assert run(*line, option, str(written)) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert "answers for a release without its key" in said and "none.csv" not in said
    assert not written.exists()


def test_without_a_policy_there_is_no_verdict(ledger: Path) -> None:
    result = sievert.check_with_ledger(ledger, AGES, "age", "ill", person="id")
    assert result.met is None and result.passed and result.alone is None
    assert "No policy was given" in repr(result)
    assert len(list(result._rows())) == len(result.reidentification) + len(result.inference["ill"])


# -- kept columns -----------------------------------------------------------------------------

CROWD = 24
KEYS = [f"k{i}" for i in range(CROWD)]
HALVES = ["a" if i < 12 else "b" for i in range(CROWD)]
QUARTERS = ["x" if 2 <= i < 14 else "y" for i in range(CROWD)]  # of whom two are in the other half


def rules(kept: str, *, known: bool = True, **roles: Any) -> dict[str, Any]:
    column = {"reason": "readers ask for it", "outsiders_cannot_know": not known}
    own = {"quasi": ["c"], "person": "id", "kept": {kept: column}}
    return {"roles": {**own, **roles}, "limits": {"k_anonymity": {"min": 3}}}


def with_constant(column: str, values: list[str]) -> dict[str, list[str]]:
    return {"id": KEYS, "c": ["1"] * CROWD, column: values}


def test_a_kept_column_of_the_new_release_makes_joint_classes(tmp_path: Path) -> None:
    """Two people are x and b, or y and a: with age as a quasi-identifier joint k is 2."""
    path = tmp_path / "ledger"
    add(path, {"id": KEYS, "town": QUARTERS}, sensitive=(), name="one")
    release = with_constant("age", HALVES)
    found = check(path, release, rules("age"), name="two")
    assert found.policy.outcome is False and found.joint["k_anonymity"] == 2
    same = check(path, release, {**rules("age"), "roles": {"quasi": ["c", "age"], "person": "id"}})
    assert found.joint == same.joint and found.alone.outcome is True
    unknown = check(path, release, rules("age", known=False), name="two")
    assert unknown.policy.outcome is True and unknown.joint["k_anonymity"] == 12


def test_a_kept_column_of_an_earlier_release_makes_joint_classes(tmp_path: Path) -> None:
    path = tmp_path / "ledger"
    earlier = with_constant("town", QUARTERS)
    added = sievert.add_to_ledger(path, earlier, policy=rules("town"), name="one")
    assert added.releases[0]["roles"]["quasi"] == ["c", "town"]
    own = {**POLICY, "roles": {"quasi": ["age"], "person": "id"}}
    own["limits"] = {"k_anonymity": {"min": 3}}
    found = check(path, {"id": KEYS, "age": HALVES}, own)
    assert found.policy.outcome is False and found.joint["k_anonymity"] == 2


@pytest.mark.parametrize("person", ["id", ["id", "c"]])
def test_a_kept_column_that_is_unique_is_undecided_in_a_ledger(person: Any, tmp_path: Path) -> None:
    path = tmp_path / "ledger"
    whole = with_constant("age", HALVES)
    add(path, whole, quasi="age", sensitive=(), name="one", person=person)
    codes = {**whole, "code": [f"x{i}" for i in range(CROWD)]}
    several = isinstance(person, list)
    people = {"person": None, "identifier": person} if several else {"ignored": {"c": "constant"}}
    own = rules("code", known=False, quasi=["age"], **people)
    found = check(path, codes, own, person=person, name="two")
    told = {r.what: (r.met, r.names) for r in found.policy.reasons}
    what = "kept_unique" if person == "id" else "kept_not_measured"
    assert told[what] == (None, ("code",)) and found.policy.outcome is not True
