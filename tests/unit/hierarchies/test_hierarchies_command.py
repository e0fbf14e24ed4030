"""Hierarchies from the command line to the manifest: proposed, edited, used, fixed, used again."""

from __future__ import annotations

import json
import tomllib
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest
from helpers.commandline import run

import sievert
from sievert.commands.hierarchies.result import ProposedHierarchies
from sievert.commands.report.run import build_page
from sievert.errors import InputError, UsageError
from sievert.formatting.recognition import recognise_all
from sievert.report import markdown

RULES = """
[roles]
quasi = ["age", "income", "job", "day", "grade"]
sensitive = ["ill"]
identifier = ["name"]
rows_are_people = true
[orders]
grade = ["none", "mild", "severe", "fatal"]
[hierarchies]
grade = "order:2"
[limits]
k_anonymity = { min = 4 }
"""
SECRET_WORDS = ("Zorblax", "Quuxly")


def people(records: int = 300, seed: int = 1) -> dict[str, list[str]]:
    random = Random(f"hierarchies {seed}")
    jobs = [f"job {n}" for n in range(25)] + [f"{SECRET_WORDS[0]}ist"]
    days = [f"{random.randint(2018, 2023)}-{random.randint(1, 12):02}" for _ in range(records)]
    return {
        "name": [f"{SECRET_WORDS[1]}{i}" for i in range(records)],
        "age": [str(random.randint(18, 90)) for _ in range(records)],
        "income": [str(int(random.paretovariate(0.8) * 1000)) for _ in range(records)],
        "job": [random.choice(jobs[: 3 + i % 24]) for i in range(records)],
        "day": [f"{month}-1{i % 9}" for i, month in enumerate(days)],
        "grade": [random.choice(("none", "mild", "severe", "fatal")) for _ in range(records)],
        "ill": [random.choice(("flu", "cold", "gout")) for _ in range(records)],
    }


def write(path: Path, table: dict[str, list[str]]) -> Path:
    lines = [",".join(table), *map(",".join, zip(*table.values(), strict=True))]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    rules = tmp_path / "p.toml"
    rules.write_text(RULES, encoding="utf-8")
    return write(tmp_path / "t.csv", people()), rules


def test_proposed_written_and_used(
    files: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data, rules = map(str, files)
    out = tmp_path / "h.toml"
    more = ["--json", str(tmp_path / "j.json"), "--html", str(tmp_path / "p.html")]
    assert run("hierarchies", data, "--policy", rules, "-o", str(out), *more) == 0
    captured = capsys.readouterr()
    shown = " ".join(captured.out.split())
    assert "4 of 5 hierarchies are proposals" in shown and "quantile:16,8,4" in shown
    proposals = json.loads((tmp_path / "j.json").read_text(encoding="utf-8"))["proposals"]
    assert {c: p["reason"] for c, p in proposals.items()} == {
        "age": "numbers", "income": "skewed_numbers", "job": "categories", "day": "dates",
        "grade": "given",
    }  # fmt: skip
    text = out.read_text(encoding="utf-8")
    table = tomllib.loads(text)["hierarchies"]
    assert table["job"] == "top:20,5" and table["day"].startswith("date:")
    pages = (tmp_path / "p.html").read_text(encoding="utf-8") + text + captured.out + captured.err
    assert not any(word in pages for word in (*SECRET_WORDS, "job 3", "severe"))
    given = ["protect", data, "--policy", rules, "--hierarchy", str(out)]
    assert run(*given, "-o", str(tmp_path / "r.csv"), "--suppress", "0.1") == 0
    assert run("hierarchies", data, "--policy", rules, "-o", str(out)) != 0  # it exists
    assert run("hierarchies", data, "-q", "age", "--share") == 7
    assert run("hierarchies", data, "-q", "age", "--fix") == 2


def test_fixed_hierarchies_give_other_data_the_same_labels(
    files: tuple[Path, Path], tmp_path: Path
) -> None:
    data, rules = files
    out = tmp_path / "fixed.toml"
    first = sievert.propose_hierarchies(data, policy=rules, out=out, fix=True)
    fixed = tomllib.loads(out.read_text(encoding="utf-8"))["hierarchies"]
    assert fixed["income"].startswith("cuts:") and fixed["job"]["other"]["other"] == ["..."]
    assert fixed["grade"] == "order:2"  # the policy has the order
    both: dict[str, Any] = {}
    for seed in (1, 2):
        table = people(400, seed)
        table["job"][0] = "a new job"
        found = sievert.propose_hierarchies(
            table, policy=rules, hierarchies={c: sievert_tree(h) for c, h in fixed.items()}
        )
        assert {c.reason for c in found.columns.values()} == {"given"}
        for name, column in found.columns.items():
            assert column.hierarchy is not None
            for value, labels in column.hierarchy.labels.items():
                assert both.setdefault((name, value), labels) == labels
    for name, column in first.columns.items():
        assert column.hierarchy is not None
        for value, labels in column.hierarchy.labels.items():
            assert both.get((name, value), labels) == labels


def sievert_tree(given: Any) -> Any:
    return given if isinstance(given, str) else {"*": given}


def test_the_manifest_fixes_cuts_and_names_no_value(
    files: tuple[Path, Path], tmp_path: Path
) -> None:
    data, rules = files
    out = tmp_path / "r.csv"
    result = sievert.protect(data, policy=rules, out=out, suppress=0.1)
    assert result.met is True
    manifest = json.loads((tmp_path / "r.csv.json").read_text(encoding="utf-8"))
    assert manifest["hierarchies"]["income"].startswith("cuts:")
    assert manifest["hierarchies"]["job"] == "top:20,5"
    assert manifest["hierarchies"]["grade"] == "order:2"
    assert manifest["made_from_data"] == ["job"]
    assert not any(word in json.dumps(manifest) for word in (*SECRET_WORDS, "job 3", "severe"))
    sievert.protect(data, policy=rules, out=out, how="local", suppress=0.1)
    local = json.loads((tmp_path / "r.csv.json").read_text(encoding="utf-8"))
    assert local["hierarchies"] == manifest["hierarchies"]
    assert local["made_from_data"] == ["job"]
    # the same recoding of other data
    given = {**manifest["hierarchies"], "job": "top:20,5"}
    later = sievert.protect(
        people(seed=2), policy=rules, hierarchies=given, levels=result.levels, suppress=0.9
    )
    assert later.levels == result.levels
    drifting = any("'job' (top:20,5) is made from this table" in note for note in later.warnings)
    assert drifting is bool(result.levels["job"])
    assert not any("income" in note for note in later.warnings)
    assert sievert.assess(out, policy=rules).met is not False  # the same policy, unreduced


def test_hierarchies_of_a_policy_count_everywhere(files: tuple[Path, Path]) -> None:
    data, rules = files
    text = rules.read_text(encoding="utf-8").replace(
        '[hierarchies]\n', '[hierarchies]\nage = "interval:30"\nill = { cough = ["flu", "cold"], '
        'pain = ["gout"] }\n'
    ).replace("min = 4 }", "min = 1 }\nt_closeness_hierarchical = { max = 1 }")  # fmt: skip
    rules.write_text(text, encoding="utf-8")
    found = sievert.assess(data, policy=rules)
    assert found.inference["ill"]["t_closeness_hierarchical"].value is not None
    plain = {"flu": ["cough", "*"], "cold": ["cough", "*"], "gout": ["pain", "*"]}
    assert sievert.assess(data, policy=rules, hierarchies={"ill": plain}).met is False  # replaced
    explained = sievert.explain(data, policy=rules)
    ways = json.dumps(explained.to_dict())
    assert "at level 1 of its hierarchy" in ways
    released = sievert.protect(data, policy=rules, suppress=0.1)
    assert released.columns["age"].hierarchy == "interval:30"
    other = {**people(), "ill": ["gout"] * 300}
    assert sievert.protect(other, policy=rules, hierarchies={"ill": plain}).met is False
    for given in ("top:1", lambda value: value[:1]):
        with pytest.raises(UsageError, match="made from its values"):
            sievert.protect(data, policy=rules, hierarchies={"ill": given})
    text = text.replace("max = 1 }", "max = 0.5 }")
    out = data.with_name("r.csv")
    assert sievert.protect(data, policy=parsed(text), out=out, suppress=0.1).released
    assert sievert.assess(out, policy=parsed(text)).met is True


def parsed(text: str) -> dict[str, Any]:
    return {**tomllib.loads(text)}


def test_compare_and_attack_take_every_kind(files: tuple[Path, Path], tmp_path: Path) -> None:
    data, rules = files
    out = tmp_path / "r.csv"
    kinds = {"income": "quantile:8,4", "job": "top:5", "day": "date:quarter,year"}
    result = sievert.protect(data, policy=rules, hierarchies=kinds, out=out, suppress=0.1)
    assert result.released
    compared = sievert.compare(data, out, policy=rules, hierarchies=kinds)
    loss = compared.releases[0].losses["generalization_loss"]
    assert loss.value is not None
    columns = ["age", "income", "job", "day", "grade"]
    attacked = sievert.attack(out, data, columns, "ill", hierarchies=kinds, policy=rules)
    assert attacked.to_dict()["attacks"]
    with pytest.raises(UsageError, match="made from the data, and the register"):
        sievert.attack(out, None, columns, "ill", register=data, hierarchies=kinds)


def test_values_without_a_place_and_unknown_columns(
    files: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    data, rules = files
    table = people()
    table["grade"][0] = SECRET_WORDS[0]
    with pytest.raises(InputError, match=r"1 value\(s\) of column 'grade'"):
        sievert.protect(table, policy=rules)
    table["day"][0] = SECRET_WORDS[0]
    with pytest.raises(InputError, match=r"column 'day': date: 1 value\(s\) are not dates"):
        sievert.propose_hierarchies(table, "day", hierarchies={"day": "date:month"})
    assert run("assess", str(data), "-q", "age", "--hierarchy", "age=intervl:5") != 0
    said = capsys.readouterr().err
    assert "No such file" in said and "quantile:16,8,4" in said
    assert run("assess", str(data), "-q", "age", "--hierarchy", "age") == 2


def test_a_saved_result_has_the_same_page() -> None:
    table = people()
    found = sievert.propose_hierarchies(table, ["age", "income", "day"], "ill")
    saved = json.loads(json.dumps(found.to_dict()))
    read = ProposedHierarchies.from_dict(recognise_all(saved))
    assert {**read.columns} == {
        name: replace(column, given=column.text, hierarchy=None)
        for name, column in found.columns.items()
    }
    assert (read.roles.quasi, read.roles.sensitive) == (found.roles.quasi, found.roles.sensitive)
    assert read.warnings == found.warnings and read.cautions == found.cautions
    assert markdown.render(build_page([saved])) == markdown.render(build_page([found]))
