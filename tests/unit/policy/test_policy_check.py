"""`sievert policy check`: what a policy lacks for a table; a repair never opens a gate."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from helpers.commandline import run

import sievert
from sievert.commands.policy.repair import BEGIN, END, repair_text
from sievert.errors import UsageError

ROOT = Path(__file__).parents[3]
ROWS = [
    *(f"{i // 2},{20 + i % 3},{i % 2},{'no' if i < 38 else 'yes'},b{i}" for i in range(40)),
]
POLICY = """# The house's rules.
[roles]   # who is who
quasi = ["zip"]  # coarse
sensitive = ["debt", "dept"]
identifier = ["patient_id"]

[limits]
k_anonymity = { min = 50 }   # too many
k_anonimity = { min = 5 }
max_confidence = { max = 0.5 }
t_closeness_ordered = { max = 0.1 }
[limits.reidentification]
l_diversity = { min = 2 }
classes = { min = 2 }
"""
COMPLETE = """[roles]
quasi = ["age", "zip"]
sensitive = ["debt"]
household = "patient_id"
rows_are_people = true
ignored = { batch = "technical" }
[limits]
k_anonymity = { min = 5 }
guess_gain = { max = 0.9 }
"""


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    data, policy = tmp_path / "t.csv", tmp_path / "p.toml"
    data.write_text("patient_id,age,zip,debt,batch\n" + "\n".join(ROWS) + "\n")
    policy.write_text(POLICY)
    return policy, data


def gaps(policy: Path, data: Any, **more: Any) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for gap in sievert.check_policy(policy, data, **more).gaps:
        found.setdefault(gap.what, []).append(gap.name)
    return found


def test_everything_that_an_old_policy_lacks(files: tuple[Path, Path]) -> None:
    assert gaps(*files) == {
        "unknown_columns": ["dept"],
        "columns_without_role": ["age", "batch"],
        "unknown_measures": ["k_anonimity"],
        "misplaced_limits": ["l_diversity"],
        "impossible_limits": ["k_anonymity", "max_confidence"],
        "harmless_side": ["classes"],
        "undecidable_limits": ["t_closeness_ordered"],
        "people_unstated": ["patient_id"],
    }
    check = sievert.check_policy(*files)
    assert not check.passed and check.to_dict()["policy"]["complete"] is False
    text = repr(check)
    assert "confidence_gain" in text and "k_anonymity" in text and 'has no column "dept"' in text
    assert files[0].read_text() == POLICY  # nothing is written without --fix


def test_likely_roles_are_comments(tmp_path: Path) -> None:
    """What is printed to be copied gives nobody a role: lists of likely ones are comments."""
    policy, data = tmp_path / "p.toml", tmp_path / "t.csv"
    policy.write_text("[limits]\nk_anonymity = { min = 2 }\n")
    data.write_text("age,income,same\n" + "".join(f"{i % 7},{i * 3},x\n" for i in range(99)))
    lines = str(sievert.check_policy(policy, data)).splitlines()
    at = lines.index('  # quasi = ["age"]')
    assert lines[at + 1 : at + 4] == [
        '  # sensitive = ["income"]',
        "  [roles.ignored]",
        '  "same" = "say why"',
    ]
    copied = policy.read_text() + "\n".join(lines[at : at + 4])
    assert tomllib.loads(copied)["roles"] == {"ignored": {"same": "say why"}}


def test_a_complete_policy_lacks_nothing(files: tuple[Path, Path]) -> None:
    policy, data = files
    policy.write_text(COMPLETE)
    before = policy.stat().st_mtime_ns
    check = sievert.check_policy(policy, data, fix=True)
    assert check.passed and not check.fixed and policy.stat().st_mtime_ns == before
    assert "lacks nothing" in repr(check)


def test_it_points_at_a_heading_of_the_changelog(files: tuple[Path, Path]) -> None:
    policy, data = files
    text = repr(sievert.check_policy(policy, data))
    heading = re.search(r'CHANGELOG\.md, "(.+)"\.', text)
    assert heading is not None
    assert f"\n### {heading[1]}\n" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_no_limits_and_no_roles(files: tuple[Path, Path]) -> None:
    policy, data = files
    policy.write_text("# empty\n")
    assert gaps(policy, data)["no_limits"] == [""]
    assert len(gaps(policy, data)["columns_without_role"]) == 5
    sievert.check_policy(policy, data, fix=True)
    assert tomllib.loads(policy.read_text()) == {"roles": {}}
    policy.write_text("[limits]\nl_diversity = { min = 2 }\n")
    assert gaps(policy, data)["misplaced_limits"] == ["l_diversity"]


def test_a_repair_changes_nothing_but_comments(files: tuple[Path, Path]) -> None:
    policy, data = files
    policy.chmod(0o640)
    check = sievert.check_policy(policy, data, fix=True)
    text = policy.read_text()
    assert check.fixed and tomllib.loads(text) == tomllib.loads(POLICY)
    assert [line for line in text.splitlines() if line not in POLICY.splitlines()] == [
        line for line in text.splitlines() if line.startswith("# ") and line not in POLICY
    ]
    for line in POLICY.splitlines():
        assert line in text
    assert text.index(BEGIN) > text.index("[roles]") and text.index(END) < text.index("quasi =")
    assert policy.stat().st_mode & 0o777 == 0o640
    assert [p.name for p in policy.parent.iterdir() if p.name.startswith(".")] == []
    again = sievert.check_policy(policy, data, fix=True)
    assert not again.fixed and policy.read_text() == text  # not a second time


def test_a_repaired_policy_is_met_by_no_more_tables(files: tuple[Path, Path]) -> None:
    """Only a person gives a role: the gate stays closed until then."""
    policy, data = files
    lacking = COMPLETE.replace('ignored = { batch = "technical" }\n', "")
    policy.write_text(lacking)
    assert sievert.assess(data, policy=policy).met is False
    sievert.check_policy(policy, data, fix=True)
    found = sievert.assess(data, policy=policy)
    assert found.met is False and found.policy is not None
    assert [(r.what, r.names) for r in found.policy.reasons] == [
        ("file_holds", ("patient_id",)),
        ("columns_without_role", ("batch",)),
    ]
    policy.write_text(COMPLETE)
    assert sievert.assess(data, policy=policy, planned=True).planned_met is True


def test_what_was_decided_leaves_the_comments(files: tuple[Path, Path]) -> None:
    policy, data = files
    policy.write_text(COMPLETE.replace('ignored = { batch = "technical" }\n', ""))
    sievert.check_policy(policy, data, fix=True)
    decided = policy.read_text().replace("[limits]", '[roles.ignored]\nbatch = "x"\n[limits]')
    policy.write_text(decided)
    assert sievert.check_policy(policy, data, fix=True).passed
    assert BEGIN not in policy.read_text() and "batch" in policy.read_text()


@pytest.mark.parametrize(
    "text",
    [
        "roles = { quasi = ['zip'] }\n",
        'roles.quasi = ["zip"]\n[limits]\nk_anonymity = { min = 2 }',
        '[partitions.s]\nx = ["""\n[roles]\n"""]\n',
        "[roles]",
        "[roles]\r\nquasi = ['zip']\r\n",
        "",
        "[limits]\nk_anonymity = { min = 2 }",
        f"[roles]\n{BEGIN}\nquasi = ['zip']\n{END}\n",
    ],
)
def test_repairs_keep_what_a_file_says(text: str) -> None:
    comments = ["one", 'a line\nbreak, a "quote" and \x07', "[limits]", "k_anonymity = { min = 1 }"]
    tables = tomllib.loads(text)
    repaired = repair_text(text, comments)
    assert tomllib.loads(repaired) in (tables, {**tables, "roles": {}})
    assert repair_text(repaired, comments) == repaired
    assert tomllib.loads(repair_text(repaired, [])) in (tables, {**tables, "roles": {}})
    assert ("\r\n" in repaired) == ("\r\n" in text)


def test_comments_hold_no_value_and_no_number_of_the_data(files: tuple[Path, Path]) -> None:
    policy, data = files
    sievert.check_policy(policy, data, fix=True)
    inside = policy.read_text().split(BEGIN)[1].split(END)[0]
    assert "yes" not in inside and "0.95" not in inside and "40" not in inside


def test_odd_names_of_columns(tmp_path: Path) -> None:
    table = {'a "b"\n[limits]': ["1", "2"], "é\\": ["1", "1"], "#": ["x", "y"]}
    policy = tmp_path / "p.toml"
    policy.write_text("[limits]\nk_anonymity = { min = 1 }\n")
    sievert.check_policy(policy, table, fix=True)
    assert tomllib.loads(policy.read_text())["limits"] == {"k_anonymity": {"min": 1}}


def test_links_and_the_table_itself_are_not_written(files: tuple[Path, Path]) -> None:
    policy, data = files
    (policy.parent / "link.toml").symlink_to(policy)
    with pytest.raises(UsageError, match="symbolic link"):
        sievert.check_policy(policy.parent / "link.toml", data, fix=True)
    assert policy.read_text() == POLICY


def test_on_the_command_line(files: tuple[Path, Path], capfd: Any) -> None:
    policy, data = files
    out = policy.parent / "out.json"
    assert run("policy", "check", str(policy), str(data), "--json", str(out)) == 1
    said = capfd.readouterr().out
    assert "Columns without a role" in said and 'CHANGELOG.md, "When you upgrade"' in said
    found = json.loads(out.read_text())
    assert found["sievert"] == sievert.__version__ and len(found["gaps"]) == 10
    assert {"what", "where", "name", "text", "suggestion"} == set(found["gaps"][0])
    assert run("policy", "check", str(policy), str(data), "--json", "-", "--fix") == 1
    assert json.loads(capfd.readouterr().out)["policy"]["fixed"] is True
    policy.write_text(COMPLETE)
    assert run("policy", "check", str(policy), str(data)) == 0
    assert 'CHANGELOG.md, "When you upgrade"' in capfd.readouterr().out
    policy.write_text("[limit]\n")
    assert run("policy", "check", str(policy), str(data)) == 2
    assert run("policy", "check", str(policy), str(data), "--missing", "drop") == 2
    policy.write_text(COMPLETE)
    assert run("policy", "check", str(policy), str(data) + "x") == 3
    assert run("policy", "check", str(policy) + "x", str(data)) == 2
    capfd.readouterr()
    run("policy", "check", "--help")
    words = " ".join(capfd.readouterr().out.split())
    assert "--fix" in words and "They change nothing" in words
