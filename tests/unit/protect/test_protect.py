"""Making a release: it meets the policy, holds nothing else, is checked, and is whole or absent."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
from contextlib import redirect_stdout
from pathlib import Path
from random import Random
from typing import Any

import pytest
from helpers.effort import tried
from helpers.pairedrows import in_input_order

import sievert
from sievert.cli import app
from sievert.commands.protect import check as release_check
from sievert.commands.protect import writing
from sievert.commands.protect.settings import ProtectSettings
from sievert.commands.report.run import build_page
from sievert.errors import InputError, InvariantError, RefusedError, UsageError
from sievert.methods.full_domain import Search
from sievert.methods.full_domain.nodes import Hints
from sievert.releases.problem import ProtectionProblem
from sievert.settings.option import from_command_line, parameters

ROLES = {"quasi": ["age", "town"], "sensitive": ["ill"], "rows_are_people": True}
AGES = {"age": "interval:5,10,20"}


def people(records: int = 200, seed: int = 1) -> dict[str, list[str]]:
    random = Random(seed)
    return {
        "name": [f"n{i}" for i in range(records)],
        "age": [str(random.randint(18, 80)) for _ in range(records)],
        "town": [random.choice(("01234", "01239", "20095", "20099")) for _ in range(records)],
        "ill": [random.choice(("flu", "cold", "gout", "flu")) for _ in range(records)],
    }


def policy(**limits: Any) -> dict[str, Any]:
    return {"roles": ROLES, "limits": limits}


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_from_no_to_yes(tmp_path: Path) -> None:
    rules, out = policy(k_anonymity={"min": 5}), tmp_path / "release.csv"
    table = people()
    assert sievert.assess(table, policy=rules).met is False
    result = sievert.protect(table, policy=rules, hierarchies=AGES, out=out)
    assert result.met is True and result.released and result.passed
    released = rows(out)
    assert list(released[0]) == ["age", "town", "ill"]  # no name
    secrets = [row["ill"] for row in released]
    assert secrets != table["ill"]  # the order of the table does not stay
    assert [row["ill"] for row in in_input_order(out)] == table["ill"]  # who has which secret does
    suppressed = [row for row in released if row["age"] == "*" and row["town"] == "*"]
    assert len(suppressed) == result.recoding.suppressed_records <= 4
    check = sievert.assess(out, policy=rules)
    assert check.met is True
    manifest = json.loads((tmp_path / "release.csv.json").read_text(encoding="utf-8"))
    assert manifest["levels"] == result.levels and manifest["suppress"] == 0.02
    assert not any(text in json.dumps(manifest) for text in ("01234", "20095", "gout"))


def test_a_release_without_weights_meets_the_policy_that_names_them(tmp_path: Path) -> None:
    """Weights and households are not in the release; what remains is held against the policy."""
    rules = policy(k_anonymity={"min": 5})
    rules["roles"] = rules["roles"] | {"weight": "w", "household": "home"}
    table = people() | {"w": ["2.5"] * 200, "home": [str(i // 2) for i in range(200)]}
    out = tmp_path / "release.csv"
    assert sievert.protect(table, policy=rules, hierarchies=AGES, out=out).met
    check = sievert.assess(out, policy=rules)
    assert check.met and any("'home', 'w'" in note for note in check.warnings)
    misspelt = sievert.assess(table | {"v": table["w"]}, policy=rules)
    reasons = [r.what for r in misspelt.policy.reasons]
    assert reasons == ["file_holds", "columns_without_role"]


def test_the_same_bytes_twice(tmp_path: Path) -> None:
    rules = policy(k_anonymity={"min": 5}, l_diversity={"min": 2})
    for name in ("a.csv", "b.csv"):
        sievert.protect(people(), policy=rules, hierarchies=AGES, out=tmp_path / name)
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()


def test_codes_for_missing_are_those_of_the_policy(tmp_path: Path) -> None:
    """As in assess: listed they are missing, given or not; codes of nobody else decide nothing."""
    table = people() | {"age": ["-9" if i % 2 else "30" for i in range(200)]}
    listed = policy(k_anonymity={"min": 3}) | {"reading": {"na": ["-9"]}}
    given: dict[str, Any]
    for number, given in enumerate(({}, {"na": ["-9"]})):
        out = tmp_path / f"{number}.csv"
        result = sievert.protect(table, policy=listed, hierarchies=AGES, out=out, **given)
        assert result.met and {row["age"] for row in rows(out)} == {"", "30"}
    unlisted = sievert.protect(table, policy=policy(k_anonymity={"min": 3}), na=["-9"])
    assert [r.what for r in unlisted.policy.reasons] == ["codes_not_listed"]
    found = sievert.assess(people() | {"age": [*map(str, range(199)), "-9"]}, policy=listed)
    assert any(way["met"] for way in found.to_dict()["options"]["ways"])


def test_a_given_recoding_of_new_data(tmp_path: Path) -> None:
    rules = policy(k_anonymity={"min": 3})
    first = sievert.protect(people(seed=1), policy=rules, hierarchies=AGES)
    second = sievert.protect(
        people(seed=2), policy=rules, hierarchies=AGES, levels=first.levels, suppress=0.5
    )
    assert second.levels == first.levels
    third = sievert.protect(
        people(seed=2), policy=rules, hierarchies=AGES, levels={"age": 0}, suppress=0,
        out=tmp_path / "r.csv",
    )  # fmt: skip
    assert third.met is False and not list(tmp_path.iterdir())
    assert "too_many_suppressed" in [r.what for r in third.policy.reasons]
    apart = people() | {"age": [str(age) for age in range(200)]}
    none_left = sievert.protect(apart, policy=rules, hierarchies=AGES, levels={"age": 0})
    found = sievert.protect(apart, policy=rules, hierarchies=AGES)
    assert found.met  # so it would be false to say that no recoding meets the limits
    assert [r.what for r in none_left.policy.reasons] == ["levels_too_fine"]
    with pytest.raises(UsageError, match="has the levels 0 to"):
        sievert.protect(people(), policy=rules, hierarchies=AGES, levels={"age": 9})


def test_the_recoding_of_a_manifest(tmp_path: Path) -> None:
    rules = policy(k_anonymity={"min": 3})
    quantiles = {"age": "quantile:8,4,2"}
    first = sievert.protect(
        people(seed=1), policy=rules, hierarchies=quantiles, out=tmp_path / "a.csv", suppress=0.1
    )
    manifest = tmp_path / "a.csv.json"
    again = sievert.protect(people(seed=1), policy=rules, levels=manifest, out=tmp_path / "b.csv")
    assert again.levels == first.levels
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()
    other = sievert.protect(people(seed=2), policy=rules, levels=str(manifest), suppress=0.5)
    assert other.columns["age"].hierarchy == json.loads(manifest.read_text())["hierarchies"]["age"]
    for text in ("{", "[1]", '{"levels": {}}', '{"levels": {"age": "1"}, "hierarchies": {}}'):
        (tmp_path / "wrong.json").write_text(text)
        with pytest.raises(InputError, match=r"wrong\.json: not"):
            sievert.protect(people(), policy=rules, levels=tmp_path / "wrong.json")
    with pytest.raises(InputError, match="no such file"):
        sievert.protect(people(), policy=rules, levels=tmp_path / "none.json")


def test_dropped_records_and_kept_columns(tmp_path: Path) -> None:
    cannot = {"reason": "the wave of the survey", "outsiders_cannot_know": True}
    rules = {**policy(k_anonymity={"min": 5}), "roles": {**ROLES, "kept": {"name": cannot}}}
    table = {**people(), "name": [f"wave {i % 3}" for i in range(200)]}
    out = tmp_path / "r.csv"
    result = sievert.protect(
        table, policy=rules, hierarchies=AGES, out=out, drop=True, suppress=0.3
    )
    released = rows(out)
    assert len(released) == 200 - result.recoding.suppressed_records
    assert list(released[0]) == ["name", "age", "town", "ill"]
    manifest = json.loads((tmp_path / "r.csv.json").read_text(encoding="utf-8"))
    assert manifest["table"]["columns"] == ["name", "age", "town", "ill"]
    assert manifest["keep"] == ["name"] and manifest["drop"] is True
    assert "*" not in {row["town"] for row in released} or result.levels["town"]


def test_no_release_meets_the_policy(tmp_path: Path) -> None:
    """The limit that fails is named, the nearest release is described, and no file is written."""
    rules, out = policy(k_anonymity={"min": 5}, l_diversity={"min": 9}), tmp_path / "r.csv"
    result = sievert.protect(people(), policy=rules, hierarchies=AGES, out=out)
    assert result.met is False and not result.released and not result.passed
    assert result.unmet == "limits.l_diversity"
    assert "found without one limit (limits.l_diversity)" in " ".join(repr(result).split())
    assert not list(tmp_path.iterdir())


def test_what_the_check_does_not_confirm_is_not_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def write_nothing_new(target: Path, kind: str, columns: Any, questions: Any, **_: Any) -> None:
        target.write_text("age,town,ill\n27,01234,flu\n", encoding="utf-8")

    monkeypatch.setattr(writing, "write_release", write_nothing_new)
    with pytest.raises(InvariantError, match="nothing was written"):
        sievert.protect(
            people(), policy=policy(k_anonymity={"min": 5}), hierarchies=AGES,
            out=tmp_path / "r.csv",
        )  # fmt: skip
    assert not list(tmp_path.iterdir())


def test_an_identifier_that_repeats_keeps_the_gate_closed(tmp_path: Path) -> None:
    table = people()
    table["name"] = [f"n{i // 2}" for i in range(200)]
    roles = {"quasi": ["age", "town"], "sensitive": ["ill"], "identifier": ["name"]}
    rules = {"roles": roles, "limits": {"k_anonymity": {"min": 2}}}
    result = sievert.protect(table, policy=rules, hierarchies=AGES, out=tmp_path / "r.csv")
    assert result.met is not True and not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"suppress": 1.0}, "share of suppressed records"),
        ({"loss": "joy"}, "loss"),
        ({"levels": {"shoe": 1}}, "shoe"),
        ({"keep": ["shoe"]}, "shoe"),
        ({"weights": {"shoe": 1.0}}, "shoe"),
        ({"weights": {"age": -1.0}}, "not positive"),
        ({"weights": {"age": 0.0}}, "not positive"),
        ({"quasi": ["age", "ill"]}, "ill"),
    ],
)
def test_mistakes(options: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        sievert.protect(
            people(20), **{"policy": policy(k_anonymity={"min": 2}), "hierarchies": AGES, **options}
        )


def test_values_without_a_place() -> None:
    with pytest.raises(InputError, match=r"1 value\(s\) of column 'town'"):
        sievert.protect(
            people(), policy=policy(k_anonymity={"min": 2}),
            hierarchies={"town": {t: ["*"] for t in ("01234", "01239", "20095")}},
        )  # fmt: skip


def test_an_input_is_never_written(tmp_path: Path) -> None:
    source = tmp_path / "t.csv"
    table = people()
    lines = [",".join(table), *map(",".join, zip(*table.values(), strict=True))]
    source.write_text("\n".join(lines) + "\n", encoding="utf-8")
    with pytest.raises(RefusedError):
        sievert.protect(source, policy=policy(k_anonymity={"min": 2}), out=source, force=True)


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source, rules, out = tmp_path / "t.csv", tmp_path / "p.toml", tmp_path / "r.csv"
    table = people()
    lines = [";".join(table), *map(";".join, zip(*table.values(), strict=True))]
    source.write_text("\n".join(lines) + "\n", encoding="utf-8")
    rules.write_text(
        '[roles]\nquasi = ["age", "town"]\nsensitive = ["ill"]\nidentifier = ["name"]\n'
        'rows_are_people = true\n[hierarchies]\nage = "interval:5,10,20"\ntown = "prefix"\n'
        "[protect]\nsuppress = 0.05\n[limits]\nk_anonymity = { min = 5 }\n"
        "suppressed_records = { max = 20 }\n"
    )
    given = ["protect", str(source), "--policy", str(rules), "-o", str(out)]
    more = ["--json", str(tmp_path / "j.json"), "--html", str(tmp_path / "p.html")]
    assert app._run([*given, *more]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "Yes" in shown
    assert "No other choice of these levels that meets the policy loses less" in shown
    assert out.read_text(encoding="utf-8").startswith("age;town;ill\n")
    content = json.loads((tmp_path / "j.json").read_text(encoding="utf-8"))
    assert content["how"] == "full" and content["proven"] and content["policy"]["met"] is True
    assert {"levels", "classes", "suppressed", "loss", "bound", "minimised"} <= set(content)
    capsys.readouterr()
    assert app._run([*given[:-1], str(tmp_path / "s.csv"), "--share"]) == 7


@pytest.fixture
def checked_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """The check of a release does the same work in this process; other tests start one for it."""

    def run(command: list[str], **given: Any) -> Any:
        assert command == [sys.executable, "-m", release_check.__name__]
        monkeypatch.setattr(sys, "stdin", io.StringIO(given["input"].decode()))
        with redirect_stdout(io.StringIO()) as printed:
            release_check.main()
        return subprocess.CompletedProcess(command, 0, printed.getvalue().encode())

    monkeypatch.setattr(subprocess, "run", run)


@pytest.mark.parametrize("seed", range(tried(20, soak=40)))
def test_every_release_meets_its_policy(seed: int, checked_here: None, tmp_path: Path) -> None:
    """Random tables and policies: what is released passes `assess`, by the numbers of its file."""
    random = Random(f"protect {seed}")
    table = people(random.choice((20, 60, 150)), seed)
    if random.random() < 0.4:
        table["ill"] = [random.choice((None, text)) for text in table["ill"]]  # type: ignore[misc]
    if random.random() < 0.4:
        table["town"] = [random.choice((None, text, text)) for text in table["town"]]  # type: ignore[misc]
    choices: dict[str, Any] = {
        "k_anonymity": {"min": random.choice((2, 4, 7))},
        "l_diversity": {"min": 2},
        "entropy_l": {"min": 1.5},
        "t_closeness": {"max": 0.4},
        "max_confidence": {"max": 0.8},
        "confidence_gain": {"max": 0.6},
        "unique_records": {"max": 0.05},
        "average_risk": {"max": 0.2},
        "discrimination_rate": {"max": 0.3},
        "guess_gain": {"max": 0.4},
        "beta_likeness": {"max": 1.5},
    }
    limits = {m: choices[m] for m in random.sample(list(choices), random.randint(1, 4))}
    rules, out = policy(**limits), tmp_path / "r.csv"
    loss = random.choice(("generalization_loss", "entropy", "discernability", "bits"))
    result = sievert.protect(
        table, policy=rules, hierarchies=AGES, out=out, suppress=random.choice((0, 0.05, 0.2)),
        loss=loss,
    )  # fmt: skip
    assert out.exists() is result.released is (result.met is True)
    if result.released:
        again = sievert.assess(out, policy=rules, quick=True)  # gate apart: no limit on suppression
        limited = {v.measure: v for v in result.policy.verdicts if v.measure in limits}
        assert all(v.met for v in again.verdicts or ())
        assert {v.measure: v.value for v in again.verdicts or ()} == {
            m: v.value for m, v in limited.items()
        }


def test_a_sample_is_written_if_it_meets_the_policy(tmp_path: Path) -> None:
    rules, out = policy(k_anonymity={"min": 2}), tmp_path / "sample.csv"
    table = {**people(), "age": ["30"] * 200}
    result = sievert.protect(table, policy=rules, how="sample", fraction=0.5, seed=3, out=out)
    assert result.met and result.released and len(rows(out)) == 100 and result.levels == {}
    manifest = json.loads((tmp_path / "sample.csv.json").read_text(encoding="utf-8"))
    assert manifest["how"] == "sample" and manifest["seed"] == 3
    alone = sievert.protect(
        people(), policy=rules, how="sample", fraction=0.5, out=tmp_path / "b.csv"
    )
    assert alone.met is False and not (tmp_path / "b.csv").exists()
    assert "not written" in repr(alone)
    with pytest.raises(UsageError, match="above 0"):
        sievert.protect(table, policy=rules, how="sample")


def test_what_stands_against_a_table_stands_against_its_sample(tmp_path: Path) -> None:
    table = {**people(), "age": ["30"] * 200, "name": [f"n{i // 2}" for i in range(200)]}
    roles = {"quasi": ["age", "town"], "sensitive": ["ill"], "identifier": ["name"]}
    rules = {"roles": roles, "limits": {"k_anonymity": {"min": 2}}}
    result = sievert.protect(
        table, policy=rules, how="sample", fraction=0.5, out=tmp_path / "r.csv"
    )
    assert result.met is not True and not list(tmp_path.iterdir())


def test_a_recoding_with_one_label_everywhere_is_no_release(tmp_path: Path) -> None:
    """With * in every cell all records would be read as suppressed."""
    table = {"age": ["10", "20", "30", "90"], "town": ["a", "b", "c", "d"], "ill": ["flu"] * 4}
    rules, out = policy(k_anonymity={"min": 4}), tmp_path / "r.csv"
    for levels in (None, {"age": 3, "town": 1}):
        result = sievert.protect(
            table, policy=rules, hierarchies={"age": "interval:20,40"}, levels=levels, out=out
        )
        assert result.met is not True and not list(tmp_path.iterdir())


def test_local_recoding_is_written_with_its_caution(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source, rules, out = tmp_path / "t.csv", tmp_path / "p.toml", tmp_path / "r.csv"
    table = people(60)
    lines = [",".join(table), *map(",".join, zip(*table.values(), strict=True))]
    source.write_text("\n".join(lines) + "\n", encoding="utf-8")
    rules.write_text(
        '[roles]\nquasi = ["age", "town"]\nsensitive = ["ill"]\nidentifier = ["name"]\n'
        'rows_are_people = true\n[hierarchies]\nage = "interval:5,10,20"\ntown = "prefix"\n'
        "[limits]\nk_anonymity = { min = 4 }\nsuppressed_records = { max = 2 }\n"
    )
    given = ["protect", str(source), "--policy", str(rules), "-o", str(out), "--how", "local"]
    assert app._run(given) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "each class is recoded by itself" in shown and "can be worked back in part" in shown
    manifest = json.loads((tmp_path / "r.csv.json").read_text(encoding="utf-8"))
    assert "downcoding" in manifest["notes"][0]
    assert manifest["how"] == "local" and manifest["minimised"] == "arithmetic_loss"
    details = manifest["details"]
    assert details["labels"] == "hierarchy" and details["smallest_class"] >= 4
    assert details["reasoning"] == "run on all records"
    assert 0 < details["attacker_accuracy"] <= 1
    assert [row["ill"] for row in in_input_order(out)] == table["ill"]


def test_limits_that_local_recoding_does_not_look_for_are_checked(tmp_path: Path) -> None:
    rules = policy(k_anonymity={"min": 3}, discrimination_rate={"max": 0.01})
    result = sievert.protect(
        people(80), policy=rules, hierarchies=AGES, how="local", out=tmp_path / "r.csv"
    )
    assert result.met is False and not list(tmp_path.iterdir())
    assert result.release is not None and not result.release.holds
    verdicts = {v.measure: v.met for v in result.policy.verdicts}
    assert verdicts["k_anonymity"] is True and verdicts["discrimination_rate"] is False


def test_cells_suppressed_hold_k_under_both_readings(tmp_path: Path) -> None:
    """A * as a value of its own, and as anything; sdcMicro's k holds under the second only."""
    out, rules = tmp_path / "r.csv", policy(k_anonymity={"min": 4})
    table = {**people(), "sex": ["f", "m", "f", "f"] * 50}
    roles = {**ROLES, "quasi": ["age", "town", "sex"]}
    rules = {"roles": roles, "limits": {"k_anonymity": {"min": 4}}}
    made = {"policy": rules, "how": "suppress", "suppress": 0.0}
    result = sievert.protect(table, out=out, **made)
    assert result.released
    released = in_input_order(out)
    quasi = ("age", "town", "sex")
    for name in quasi:
        pairs = zip(released, table[name], strict=True)
        assert all(row[name] in ("*", value) for row, value in pairs)
    alike = [
        sum(all(a[q] == b[q] or "*" in (a[q], b[q]) for q in quasi) for b in released)
        for a in released
    ]
    assert min(alike) >= 4
    roles_of = {"quasi": list(quasi), "sensitive": "ill"}
    as_value = sievert.assess(out, **roles_of).reidentification["k_anonymity"].value
    as_missing = sievert.assess(out, **roles_of, na=["*"]).reidentification["k_anonymity"].value
    as_anything = sievert.assess(out, **roles_of, na=["*"], missing="wildcard")
    assert as_value == as_missing >= 4 and as_anything.reidentification["k_anonymity"].value == min(
        alike
    )
    important = sievert.protect(table, importance={"age": 9.0}, **made).release
    assert important is not None and result.release is not None
    kept = [sum(r.columns["age"].texts[c] == "*" for c in r.columns["age"].codes)
            for r in (result.release, important)]  # fmt: skip
    assert kept[1] < kept[0]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"how": "local", "loss": "entropy"}, "local recoding minimises"),
        ({"how": "local", "weights": {"shoe": 1.0}}, "shoe"),
        ({"how": "suppress", "importance": {"shoe": 1.0}}, "shoe"),
        ({"how": "suppress", "importance": {"age": 0.0}}, "not positive"),
    ],
)
def test_mistakes_of_methods(options: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        sievert.protect(people(20), policy=policy(k_anonymity={"min": 2}), **options)


@pytest.mark.parametrize("how", ["local", "suppress"])
def test_what_cannot_be_told_apart_is_suppressed_or_not_met(how: str, tmp_path: Path) -> None:
    """Fewer records than k, or a class of nothing but *: no release, no fault of the program."""
    rules, out = policy(k_anonymity={"min": 50}), tmp_path / "r.csv"
    few = sievert.protect(people(20), policy=rules, hierarchies=AGES, how=how, out=out)
    assert few.met is False and not list(tmp_path.iterdir())
    assert "not written" in repr(few)
    if how == "suppress":
        assert few.policy.reasons[-1].what == "all_suppressed"
    rules = policy(k_anonymity={"min": 15})
    table = {"age": [str(a) for a in range(20, 40)], "town": [f"{i:05}" for i in range(20)],
             "ill": ["flu"] * 20}  # fmt: skip
    starred = sievert.protect(
        table, policy=rules, how=how, out=out, suppress=0.0,
        hierarchies={c: {v: ["*"] for v in table[c]} for c in ("age", "town")},
    )  # fmt: skip
    assert starred.met is not True and not list(tmp_path.iterdir())


@pytest.mark.parametrize("how", [{}, {"how": "sample", "fraction": 0.9}])
def test_a_column_that_is_kept_needs_a_role(how: dict[str, Any], tmp_path: Path) -> None:
    """A column without a role stands against the release, as it does against any table."""
    table = {**people(), "age": ["30"] * 200}
    result = sievert.protect(
        table, policy=policy(k_anonymity={"min": 5}), keep=["name"], out=tmp_path / "r.csv", **how
    )
    assert result.met is False and not list(tmp_path.iterdir())
    assert "columns_without_role" in {reason.what for reason in result.policy.reasons}


def test_a_kept_column_may_have_its_role_from_the_caller(tmp_path: Path) -> None:
    """The process that confirms the release knows it too; what is left out is said rightly."""
    rules = policy(k_anonymity={"min": 5})
    table = {**people(), "name": [f"wave {i % 2}" for i in range(200)]}
    kept = {"policy": rules, "hierarchies": AGES, "suppress": 0.3}
    for keep in ("name=the wave, of two", {"name": "the wave, of two"}):
        result = sievert.protect(table, out=tmp_path / "r.csv", keep=keep, force=True, **kept)
        assert result.met is True and "name" in (tmp_path / "r.csv").read_text().splitlines()[0]
        known = sievert.assess(
            tmp_path / "r.csv", ["age", "town", "name"], "ill", identifier=[], policy=rules
        )
        assert known.met is True  # with the kept column as one more quasi-identifier
    kept["keep"] = ["name"]
    for forbidden in ({"identifier": ["name"]}, {"person": "name"}):
        with pytest.raises(UsageError, match="no release may have it"):
            sievert.protect(people(), **forbidden, **kept)
    refused = sievert.protect(people(), **kept)
    assert refused.met is False and "name" not in refused.dropped_columns
    shown = " ".join(repr(refused).split())
    assert "Columns have no role: name. " in shown and "the secrets only. Left out" not in shown


def test_the_answer_is_about_the_release() -> None:
    """Nobody may read that the table itself can be published."""
    rules = {**policy(k_anonymity={"min": 5}), "roles": {**ROLES, "identifier": ["name"]}}
    result = sievert.protect(people(), policy=rules, hierarchies=AGES)
    first = repr(result).splitlines()[0]
    assert first.startswith("✓ Yes, this release meets the policy.")
    assert build_page([result.to_dict()]).title == "May the release be published?"


def test_what_is_said_of_kept_columns_and_given_levels() -> None:
    rules = policy(k_anonymity={"min": 5})
    kept = sievert.protect(people(), policy=rules, hierarchies=AGES, keep=["name"])
    assert kept.cautions == (
        "the release also holds 'name', unchanged: nothing was measured of it",
        "the policy has no limit on the secret 'ill': what is learnt of it was not judged",
    )
    given = sievert.protect(people(), policy=rules, levels={"age": 4, "town": 2}, suppress=0.5)
    assert given.recoding is not None and not given.recoding.proven
    assert "nothing was searched" in " ".join(repr(given).split())
    assert "loses less" not in " ".join(repr(given).split()).replace("may lose less", "")


def test_a_release_is_replaced_unless_it_was_changed(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    def run() -> int:
        with pytest.raises(SystemExit) as stop:
            app.main(command)
        return int(str(stop.value.code))

    data, rules, out = tmp_path / "t.csv", tmp_path / "p.toml", tmp_path / "r.csv"
    table = people()
    lines = [",".join(row) for row in zip(*table.values(), strict=True)]
    data.write_text("\n".join([",".join(table), *lines]) + "\n", encoding="utf-8")
    roles = 'quasi = ["age", "town"]\nsensitive = ["ill"]\nrows_are_people = true\n'
    limits = "k_anonymity = { min = %d }\nsuppressed_records = { max = 7 }\n"
    rules.write_text(f"[roles]\n{roles}[limits]\n{limits % 5}", encoding="utf-8")
    command = ["protect", str(data), "--policy", str(rules), "-o", str(out), "--hierarchy"]
    command.append("age=interval:5,10,20")
    for _ in range(2):
        assert run() == 0
        private = f"written: {out}.pairing.parquet (private: do not pass it on)"
        said = capfd.readouterr().err.splitlines()
        assert said == [f"written: {out}", f"written: {out}.json", private]
    assert json.loads(Path(f"{out}.json").read_text(encoding="utf-8"))["suppressed"] <= 7
    before = out.read_bytes()
    rules.write_text(f"[roles]\n{roles}[limits]\n{limits % 500}", encoding="utf-8")
    assert run() == 1 and out.read_bytes() == before
    said = capfd.readouterr()
    assert f"not written: {out} is from an earlier run" in said.err
    assert "Impossible for this table" in said.out
    out.write_bytes(before + b"\n")
    assert run() == 7 and "--force" in capfd.readouterr().err


def test_the_policy_says_how_many_may_be_suppressed() -> None:
    for most in (0, 3, 7, 199):
        rules = policy(k_anonymity={"min": 2}, suppressed_records={"max": most})
        assert sievert.protect(people(), policy=rules, hierarchies=AGES).allowed == most
    rules = {**policy(k_anonymity={"min": 2}), "protect": {"suppress": 0.1}}
    assert sievert.protect(people(), policy=rules, hierarchies=AGES).allowed == 20


@pytest.mark.parametrize(
    "options",
    [
        {"how": "noise", "labels": "sets"},
        {"how": "full", "fraction": 0.5},
        {"how": "local", "levels": {"age": 1}},
        {"how": "sample", "fraction": 0.5, "suppress": 0.1},
        {"how": "round", "base": {"age": 5}, "seconds": 3},
        {"how": "suppress", "group": 3},
    ],
)
def test_options_of_other_methods_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match=r"is not read by|suppresses no records"):
        sievert.protect(people(), policy=policy(k_anonymity={"min": 2}), **options)


def test_several_levels_in_one_option() -> None:
    (levels,) = (p for p in parameters(ProtectSettings) if p.names == ("--levels",))
    for given in (["age=1,town=2"], ["age=1", "town=2"]):
        settings = from_command_line(ProtectSettings, ["t.csv"], {levels: given})
        assert settings.levels == {"age": 1, "town": 2}


def test_the_budget_of_suppressed_records_is_no_limit_of_the_policy() -> None:
    one = sievert.protect(people(), policy=policy(k_anonymity={"min": 3}), hierarchies=AGES)
    assert one.budget and one.to_dict()["budget"] is True
    assert [v.measure for v in one.policy.verdicts] == ["k_anonymity", "suppressed_records"]
    first = " ".join(repr(one).split())
    assert "Its one limit is met. The budget of suppressed records is kept." in first
    assert "none of 1 breached" in one._repr_html_() or "none of 1 breached" in first
    own = policy(k_anonymity={"min": 3}, suppressed_records={"max": 4})
    both = sievert.protect(people(), policy=own, hierarchies=AGES)
    assert not both.budget and "Both of its limits are met." in repr(both)


@pytest.mark.parametrize("how", ["full", "suppress"])
def test_a_policy_without_limits_is_met_by_no_release(how: str, tmp_path: Path) -> None:
    """What may be suppressed is not a limit that a policy could be met by."""
    out = tmp_path / "r.csv"
    result = sievert.protect(people(), policy=policy(), how=how, out=out)
    assert result.met is None and not out.exists()
    assert [r.what for r in result.policy.reasons] == ["no_limits"]


def test_a_search_that_is_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before it has found anything it does not say that there is nothing; else it tells the gap."""
    rules, out = policy(k_anonymity={"min": 5}), tmp_path / "r.csv"
    result = sievert.protect(people(), policy=rules, hierarchies=AGES, seconds=0, out=out)
    assert result.met is False and result.stopped and not list(tmp_path.iterdir())
    assert result.to_dict()["stopped"] is True and result.unmet is None
    said = " ".join(repr(result).split())
    assert "No release was found in time." in said and "No release meets" not in said
    assert "search_stopped" in [r.what for r in result.policy.reasons]
    run = Search.run
    monkeypatch.setattr(Search, "run", lambda s, accept, *_: run(s, accept, cells=5_500))
    result = sievert.protect(people(), policy=rules, hierarchies=AGES, out=out)
    assert result.released and result.recoding is not None and not result.recoding.proven
    assert 0 < result.recoding.bound < result.recoding.loss
    assert "a better recoding may exist, though none below 0." in " ".join(repr(result).split())


@pytest.mark.parametrize("suppress", [0, 0.2])
@pytest.mark.parametrize(
    "limits",
    [
        {"unique_records": {"max": 0.05}},
        {"average_risk": {"max": 0.3}, "l_diversity": {"min": 2}},
        {"records_below": {"max": 3}, "average_risk": {"max": 0.4}},
        {"mutual_information": {"max": 0.3}},
        {"guess_gain": {"max": 0.2}, "classes": {"min": 4}},
        {"classes": {"min": 4, "max": 20}},
    ],
)
def test_hints_change_no_release(
    limits: dict[str, Any], suppress: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nodes that cannot meet the policy are not judged, and only such."""
    random = Random(f"hints {suppress}")
    quasi = ["a", "b", "c", "d"]
    table = {c: [str(random.randint(0, 7)) for _ in range(60)] for c in quasi}
    table["ill"] = [random.choice(("flu", "cold", "gout", "flu")) for _ in range(60)]
    roles = {"quasi": quasi, "sensitive": ["ill"], "rows_are_people": True}
    judged: list[Any] = []
    judge = ProtectionProblem.judge

    def counted(*given: Any, **how: Any) -> Any:
        judged.append(given)
        return judge(*given, **how)

    monkeypatch.setattr(ProtectionProblem, "judge", counted)

    def released() -> tuple[Any, ...]:
        judged.clear()
        trees = dict.fromkeys(quasi, "interval:2,4")
        rules = {"roles": roles, "limits": limits}
        made = sievert.protect(table, policy=rules, hierarchies=trees, suppress=suppress)
        return made.met, made.levels, None if made.recoding is None else made.recoding.loss

    with_hints, few = released(), len(judged)
    monkeypatch.setattr(ProtectionProblem, "_hints", lambda *_: Hints())
    assert released() == with_hints and few <= len(judged)


def test_a_release_is_in_utf_8_whatever_its_table_is_in(tmp_path: Path) -> None:
    """The encoding that is given for both tables is that of the original."""
    original, release = tmp_path / "l.csv", tmp_path / "r.csv"
    sizes = ["größer", "kleiner"] * 30
    lines = ["Größe,ill", *(f"{size},{'flu' if i % 3 else 'hiv'}" for i, size in enumerate(sizes))]
    original.write_text("\n".join(lines) + "\n", encoding="latin-1")
    policy = {"limits": {"k_anonymity": {"min": 5}}, "roles": {"rows_are_people": True}}
    read = {"quasi": "Größe", "sensitive": "ill", "policy": policy, "encoding": "latin-1"}
    assert sievert.protect(original, out=release, **read).met
    assert "größer" in release.read_text(encoding="utf-8")
    compared = sievert.compare(original, release, **read)
    judged = compared.releases[0].policy
    assert judged is not None and judged.met is True


def test_an_identifier_cannot_be_kept(tmp_path: Path) -> None:
    """It wrote the numbers of people and said yes for a copy without them."""
    table = {"id": [*range(60)], "zip": ["a", "b"] * 30, "ill": ["flu", "hiv", "flu"] * 20}
    policy = {"limits": {"k_anonymity": {"min": 5}}, "roles": {"rows_are_people": True}}
    roles = {"quasi": "zip", "sensitive": "ill", "identifier": "id", "policy": policy}
    for keep in ("id", {"id": "it joins the visits"}):
        with pytest.raises(UsageError, match="'id' is identifier: no release may have it"):
            sievert.protect(table, out=tmp_path / "r.csv", keep=keep, **roles)
    assert not list(tmp_path.iterdir())
    dropped = str(sievert.protect(table, out=tmp_path / "s.csv", **roles))
    assert "Yes, this release meets the policy." in dropped
