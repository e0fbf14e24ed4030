"""Several sets of quasi-identifiers side by side: each as on its own, and the worst decides."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from helpers.commandline import run

import sievert
from sievert import session
from sievert.errors import RefusedError, UsageError
from sievert.report import html, markdown
from sievert.report.builder import build

SETS = (("age", "zip"), ("sex",), ("zip", "sex", "age"))
ROWS = 40


def table() -> dict[str, list[str | None]]:
    """Records with missing values, and records that one set or another takes for suppressed."""
    ages: list[str | None] = [str(20 + i % 3) for i in range(ROWS)]
    ages[3], ages[7], ages[8] = None, "*", "*"
    zips = ["*" if i in (7, 8, 9) else str(i % 2) for i in range(ROWS)]
    return {
        "age": ages,
        "zip": zips,
        "sex": ["*" if i in (8, 20) else "mf"[i // 7 % 2] for i in range(ROWS)],
        "ill": [("flu", "flu", "cold", "gout")[i * i % 7 % 4] for i in range(ROWS)],
        "batch": [str(i) for i in range(ROWS)],
    }


def assess(**more: Any) -> sievert.Assessment:
    return sievert.assess(table(), sensitive="ill", **more)


PATHS: dict[str, dict[str, Any]] = {
    "coded": {},
    "engine": {"memory": "200MB"},
    "people": {"person": "batch"},
    "drop": {"missing": "drop"},
    "wildcard": {"missing": "wildcard"},
    "drop on the engine": {"missing": "drop", "memory": "200MB"},
    "another mark": {"suppressed": None},
    "attacks": {"attacks": True},
    "kept": {"keep_suppressed": True},
    "some measures": {"measures": ["classes"]},
}


@pytest.mark.parametrize("name", PATHS)
def test_each_set_is_assessed_as_on_its_own(name: str) -> None:
    several = assess(key_sets=SETS, **PATHS[name])
    assert [each.roles.quasi for each in several.key_sets] == [*SETS]
    for key_set, each in zip(SETS, several.key_sets, strict=True):
        alone = assess(quasi=key_set, **PATHS[name])
        assert each.reidentification == alone.reidentification
        assert each.inference == alone.inference
        assert dict(each.table) == dict(alone.table)
        assert {*each.warnings} == {*alone.warnings}


def test_packed_keys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "table.parquet"
    parquet.write_table(pyarrow.table(table()), path)
    sources = [path, pyarrow.table(table())]
    for source in sources:
        plain = [sievert.assess(source, s, "ill", memory="200MB") for s in SETS]
        monkeypatch.setattr(session, "PACKED_FROM", 1)
        monkeypatch.setattr(session, "LOADING", 1)
        several = sievert.assess(source, sensitive="ill", key_sets=SETS)
        monkeypatch.undo()
        for each, alone in zip(several.key_sets, plain, strict=True):
            assert each.reidentification == alone.reidentification
            assert each.inference == alone.inference


def test_the_worst_set_is_the_result() -> None:
    several = assess(key_sets=SETS)
    worst = several.key_sets[2]
    assert several.roles.quasi == SETS[2]
    assert several.reidentification == worst.reidentification
    assert several.to_dict() == worst.to_dict() | {"key_sets": several.to_dict()["key_sets"]}
    assert several.unassessed == ("batch",)
    assert assess(key_sets=SETS[:2]).roles.quasi == SETS[0]


def test_json() -> None:
    content = assess(key_sets=SETS).to_dict()
    alone = assess(quasi=SETS[1]).to_dict()
    names = ("reidentification", "inference", "policy", "warnings")
    assert content["key_sets"][1] == {"quasi": ["sex"], **{name: alone[name] for name in names}}
    assert "key_sets" not in alone


ROLES = {"identifier": ["batch"], "sensitive": ["ill"], "rows_are_people": True}
UNIQUES = {"reidentification": {"unique_records": {"max": 0.0}, "suppressed_records": {"max": 9}}}


def judged(sets: Any, limits: Any = UNIQUES, **roles: Any) -> sievert.Assessment:
    return sievert.assess(
        table(), key_sets=sets, policy={"roles": ROLES | roles, "limits": limits}, planned=True
    )


def test_the_worst_set_decides_the_gate() -> None:
    """The second set breaches the limit though another one has the same k."""
    several = judged([("sex",), ("age", "zip", "sex"), ("zip",)])
    assert [each.planned_met for each in several.key_sets] == [True, False, True]
    assert several.planned_met is False and not several.passed
    assert several.roles.quasi == ("age", "zip", "sex")
    fine = judged([("sex",), ("sex",)], ignored={"age": "dropped", "zip": "dropped"})
    assert fine.planned_met is True and fine.passed


def test_a_set_that_is_undecided_leaves_the_gate_undecided() -> None:
    limits = {"reidentification": {"average_risk": {"max": 0.9}, "suppressed_records": {"max": 9}}}
    several = sievert.assess(
        table(),
        key_sets=[("age", "zip"), ("sex", "zip")],
        policy={"roles": ROLES, "limits": limits},
        missing="drop",
        planned=True,
    )
    assert [each.planned_met for each in several.key_sets] == [None, True]
    assert (
        several.planned_met is None and not several.passed and several.roles.quasi == ("age", "zip")
    )


def test_a_column_of_any_set_has_a_role() -> None:
    several = judged([("sex",), ("age",)])
    for each in several.key_sets:
        assert each.policy is not None
        bare = [r.names for r in each.policy.reasons if r.what == "columns_without_role"]
        assert bare == [("zip",)]
        assert each.unassessed == ("zip",)


def test_one_set_has_to_hold_what_the_policy_takes_for_known() -> None:
    limits = {"reidentification": {"average_risk": {"max": 0.99}, "suppressed_records": {"max": 9}}}
    less = judged([("age", "zip"), ("age", "sex")], limits, quasi=["age", "zip", "sex"])
    assert less.planned_met is False and less.policy is not None
    assert {r.what for r in less.policy.reasons} == {"roles_replaced"}
    whole = judged([("age", "zip", "sex"), ("age",)], limits, quasi=["age", "zip", "sex"])
    assert whole.planned_met is True


@pytest.mark.parametrize(
    ("sets", "more", "words"),
    [
        ([("age",)], {"quasi": "zip"}, "in place of|take the place"),
        ([("age",)], {"records": "r.csv"}, "record file"),
        ([], {}, "no key set"),
        ("age", {}, "lists of columns"),
        ([("age",), ("zipp",)], {}, "'zipp' does not exist"),
        ([("age",), ("zip", "zip")], {}, "named twice"),
        ([("age",), ("batch",)], {"identifier": "batch"}, "is an identifier"),
        ([("age",), ("batch",)], {"person": "batch"}, "is the person"),
        ([("age",), ()], {}, "which columns could an outsider know"),
    ],
)
def test_mistakes(sets: Any, more: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        assess(key_sets=sets, **more)


def test_key_sets_are_not_shared() -> None:
    """One person decides which set is the worst, and so moves every number of it."""
    several = assess(key_sets=SETS)
    with pytest.raises(RefusedError, match="key sets"):
        several.share()


def test_pages() -> None:
    page = build([assess(key_sets=SETS)])
    text = markdown.render(page)
    assert "| age and zip |" in text and "decides: zip, sex and age." in text
    chapter = next(c for c in page.chapters if c.title.startswith("Key sets"))
    assert chapter.screen
    assert "Key sets" in html.render(page)
    assert "Key sets" not in markdown.render(build([assess(quasi=SETS[0])]))


def test_frame() -> None:
    frame = assess(key_sets=SETS).to_frame()
    assert sorted(set(frame["key_set"])) == [1, 2, 3]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    columns = table()
    rows = zip(*columns.values(), strict=True)
    lines = [",".join(columns), *(",".join(v or "" for v in row) for row in rows)]
    out = tmp_path / "people.csv"
    out.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return out


def test_command_line(path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sets = ["--key-set", "age, zip", "--key-set", "sex", "-s", "ill"]
    assert run("assess", path, *sets, "--json", "-") == 0
    content = json.loads(capsys.readouterr().out)
    assert [each["quasi"] for each in content["key_sets"]] == [["age", "zip"], ["sex"]]
    policy = tmp_path / "policy.toml"
    policy.write_text(
        '[roles]\nidentifier = ["batch"]\nrows_are_people = true\n'
        "[limits]\nunique_records = { max = 0.06 }\nsuppressed_records = { max = 5 }\n"
    )
    assert run("assess", path, *sets, "--policy", policy) == 1  # the file holds batch
    plan = ["--policy", policy, "--planned"]
    assert run("assess", path, *sets, *plan) == 0
    assert run("assess", path, *sets, "--key-set", "age,zip,sex", *plan) == 1
    capsys.readouterr()
    assert run("assess", path, *sets, "-q", "age") == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert run("assess", path, *sets, "--share") == 7
    assert "key sets" in capsys.readouterr().err
