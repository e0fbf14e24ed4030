"""A table that holds names: no command says yes to it, or ends with 0, unless it speaks of a plan.

The table meets every limit, so that only its columns stand against it.
"""

from __future__ import annotations

import json
import random
import subprocess
from pathlib import Path

import duckdb
import pytest
from helpers.commandline import command_line, run
from helpers.workbooks import text_cell, xlsx

import sievert

POLICY = """
[roles]
quasi = ["age"]
sensitive = ["ill"]
{role}
rows_are_people = true
[limits]
k_anonymity = {{ min = 2 }}
"""
ROLES = {  # by which a policy says that the column must not be released
    "identifier": 'identifier = ["name"]',
    "ignored": 'ignored = { name = "tidied up later" }',
    "dropped": 'dropped = ["name"]',
    "household": 'household = "name"',
    "person": 'person = "name"',
}
PLAN = "A release without name would meet the policy."
YES = ("Yes,", "Yes.", "All of its", "The policy is met")


@pytest.fixture(params=ROLES)
def here(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    rows = [f"n{number},{number % 3},{'abcd'[number // 3 % 4]}" for number in range(60)]
    random.Random(41).shuffle(rows)  # an order that tells nothing
    Path("data.csv").write_text("\n".join(("name,age,ill", *rows, "")))
    text = POLICY.format(role=ROLES[request.param])
    if request.param == "person":
        text = text.replace("rows_are_people = true\n", "")
    Path("policy.toml").write_text(text)
    return tmp_path


GATES: list[list[str]] = [
    [],
    ["--quick"],
    ["--share"],
    ["--share", "--mask-names"],
    ["--json", "-"],
    ["--json", "-", "--share"],
    ["--html", "page.html"],
    ["--html", "page.html", "--share"],
    ["--markdown", "page.md"],
    ["--junit", "limits.xml"],
    ["--sarif", "limits.sarif", "--share"],
    ["--key-set", "age"],
    ["--missing", "wildcard"],
    ["--all"],
    ["--attacks"],
    ["--engine", "duckdb", "--threads", "1"],
]


def refuses(more: list[str]) -> bool:
    """Whether a policy with people and wild cards are refused together."""
    return "wildcard" in more and 'person = "name"' in Path("policy.toml").read_text()


@pytest.mark.parametrize("more", GATES, ids=lambda more: " ".join(more) or "plain")
def test_assess_says_no_to_the_file(
    more: list[str], here: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    code = run("assess", "data.csv", "--policy", "policy.toml", *more)
    assert code == (2 if refuses(more) else 1)
    said = capfd.readouterr().out
    pages = [Path(name).read_text() for name in more if Path(name).suffix in (".html", ".md")]
    for text in (said, *pages):
        assert not any(word in text for word in YES), text
    if "--json" in more:
        policy = json.loads(said)["policy"]
        assert policy["met"] is False and "planned_met" not in policy


@pytest.mark.parametrize("more", GATES, ids=lambda more: " ".join(more) or "plain")
def test_a_plan_calls_itself_one_or_is_refused(
    more: list[str], here: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    code = run("assess", "data.csv", "--policy", "policy.toml", "--planned", *more)
    said = capfd.readouterr().out.replace("\n  ", " ")
    pages = [Path(name).read_text() for name in more if Path(name).suffix in (".html", ".md")]
    if {"--junit", "--sarif"} & {*more} or refuses(more):
        assert code == 2 and not list(here.glob("limits.*"))
        return
    if "--json" in more:
        result = json.loads(said)
        assert result["question"] == "planned" and result["policy"]["met"] is None
        assert result["policy"]["planned_met"] is (code == 0)
        return
    for text in pages or [said]:
        assert "would" in text and not any(word in text for word in YES), text


def test_python_says_no_to_the_file(here: Path) -> None:
    result = sievert.assess("data.csv", policy="policy.toml")
    assert result.met is False and not result.passed
    plan = sievert.assess("data.csv", policy="policy.toml", planned=True)
    assert plan.met is None and plan.planned_met is not None
    with pytest.raises(sievert.SievertError, match="planned"):
        sievert.assess("data.csv", ["age"], ["ill"], planned=True)
    given = {"policy": "policy.toml", "planned": True}
    with pytest.raises(TypeError, match="planned"):  # it is no keyword of a comparison
        sievert.compare("data.csv", "data.csv", **given)


def test_counts_are_never_the_file(here: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run("count", "data.csv", "--policy", "policy.toml", "-o", "counts.sievert") == 0
    capfd.readouterr()
    code = run("assess", "counts.sievert", "--policy", "policy.toml", "--json", "-")
    policy = json.loads(capfd.readouterr().out)["policy"]
    assert policy["met"] is None and policy["planned_met"] is (code == 0)
    gate = ("--junit", "limits.xml")
    assert run("assess", "counts.sievert", "--policy", "policy.toml", *gate) == 2


def test_a_release_with_names_is_no_release(here: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """The original passed off as its own release, and names among the released columns."""
    assert run("compare", "data.csv", "data.csv", "--policy", "policy.toml", "--json", "-") == 1
    (release,) = json.loads(capfd.readouterr().out)["releases"]
    assert release["policy"]["met"] is False
    assert run("compare", "data.csv", "data.csv", "--policy", "policy.toml") == 1
    assert not any(word in capfd.readouterr().out for word in YES)
    kept = ("--keep", "name", "-o", "kept.csv")
    assert run("protect", "data.csv", "--policy", "policy.toml", *kept) != 0
    assert not any(word in capfd.readouterr().out for word in YES)
    planned = run("protect", "data.csv", "--policy", "policy.toml", "--planned", "-o", "p.csv")
    assert planned == 2 and not Path("p.csv").exists()


def test_what_protect_writes_is_the_file_at_hand(
    here: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    code = run("protect", "data.csv", "--policy", "policy.toml", "-o", "release.csv")
    assert code == 0 and "name" not in Path("release.csv").read_text().splitlines()[0]
    capfd.readouterr()
    again = run("assess", "release.csv", "--policy", "policy.toml", "--quick")
    said = capfd.readouterr()
    if 'person = "name"' in Path("policy.toml").read_text():
        # A release without the key of its people does not say who has which rows.
        assert again == 2 and "'name' does not exist" in said.err and "Yes" not in said.out
    else:
        assert again == 0 and "Yes" in said.out


def test_a_server_says_no_to_the_file(here: Path) -> None:
    ask = '{"command": "assess", "data": "data.csv"}\n{"command": "assess", "planned": true}\n'
    command = command_line("serve", "--stdio", "--policy", "policy.toml")
    done = subprocess.run(command, input=ask, capture_output=True, text=True, timeout=120)
    first, second = map(json.loads, done.stdout.splitlines())
    assert first["code"] == 1 and first["result"]["policy"]["met"] is False
    assert second["ok"] is False and second["code"] != 0
    refused = subprocess.run([*command, "--planned"], capture_output=True, text=True, timeout=120)
    assert refused.returncode == 2


def test_no_policy_can_ask_about_a_plan(here: Path) -> None:
    """It would stay behind in a pipeline."""
    text = Path("policy.toml").read_text()
    for line in ("planned = true\n", "[release]\nplanned = true\n", 'question = "planned"\n'):
        Path("odd.toml").write_text(line + text)
        assert run("assess", "data.csv", "--policy", "odd.toml") == 2


@pytest.mark.parametrize("called", ["name", None, "Name "])
def test_names_in_the_index_of_a_frame(called: str | None, here: Path) -> None:
    """pandas writes the index into a file, so that it goes out with the columns."""
    import pandas as pd

    table = pd.read_csv("data.csv", dtype=str)
    bare = table[["age", "ill"]]
    held = bare.set_index(pd.Index(table["name"].to_numpy(), name=called))
    whole = "name" if called == "name" else None  # otherwise it has no role
    if whole or "person" not in Path("policy.toml").read_text():
        found = sievert.assess(held, policy="policy.toml")
        assert found.met is False and found.policy is not None
        expected = "file_holds" if whole else "columns_without_role"
        assert expected in [reason.what for reason in found.policy.reasons]
    if "person" not in Path("policy.toml").read_text():
        assert (
            sievert.assess(bare, policy="policy.toml").met is True
        )  # numbers of rows are no names


@pytest.mark.parametrize("kind", ["patients", "floats", "shuffled", "filtered", "from_one"])
def test_numbers_in_the_index_of_a_frame(kind: str, here: Path) -> None:
    """Other numbers than those of the rows may be those of people.

    A shuffled index 0..n-1 was taken for no column once. It gives the order of the original away:
    whoever sorts by it has the rows as they were.
    """
    import pandas as pd

    if "person" in Path("policy.toml").read_text():
        return  # the frame lacks the person
    frame = pd.read_csv("data.csv", dtype=str)[["age", "ill"]]
    if kind == "patients":
        frame.index = pd.Index([100000 + 7 * number for number in range(60)])
    elif kind == "floats":
        frame.index = pd.Index([0.5 + number for number in range(60)])
    elif kind == "shuffled":
        frame = frame.sample(frac=1, random_state=1)
    elif kind == "filtered":
        frame = pd.concat([frame, frame]).iloc[60:]
        frame.index += 60
    else:
        frame.index += 1
    found = sievert.assess(frame, policy="policy.toml")
    assert found.met is False and found.policy is not None
    assert [(r.what, r.names) for r in found.policy.reasons] == [
        ("columns_without_role", ("index",))
    ]
    assert any("reset_index(drop=True)" in note for note in found.warnings)
    assert sievert.assess(frame.reset_index(drop=True), policy="policy.toml").met is True
    named = frame.assign(index=frame.index + 1)  # a column of that name is another one
    reasons = sievert.assess(named, policy="policy.toml").policy.reasons
    assert [r.names for r in reasons] == [("index", "level_0")]


def test_an_index_beside_its_own_column(here: Path) -> None:
    import pandas as pd

    table = pd.read_csv("data.csv", dtype=str).set_index("name", drop=False)
    found = sievert.assess(table, policy="policy.toml")
    assert found.met is False and found.table["columns"] == 3
    table.index = table.index[::-1]
    with pytest.raises(sievert.SievertError, match="same name"):
        sievert.assess(table, policy="policy.toml")


# -- what goes out with the table, though nobody looked at it -------------------------------------

OPEN = """
[roles]
quasi = ["age"]
sensitive = ["ill"]
rows_are_people = true
[limits]
k_anonymity = { min = 2 }
"""


def rows_in_random_order() -> list[tuple[str, str]]:
    rows = [(str(number % 3), "abcd"[number // 3 % 4]) for number in range(60)]
    random.Random(41).shuffle(rows)
    return rows


def workbook(folder: Path, **others: list[list[str]]) -> Path:
    pytest.importorskip("python_calamine")

    def sheet(rows: list[list[str]]) -> list[str]:
        return ["".join(map(text_cell, row)) for row in rows]

    data = [["age", "ill"], *map(list, rows_in_random_order())]
    return xlsx(folder / "two.xlsx", Data=sheet(data), **{n: sheet(r) for n, r in others.items()})


def database(folder: Path, *statements: str) -> Path:
    path = folder / "house.db"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE data (age VARCHAR, ill VARCHAR)")
        connection.executemany("INSERT INTO data VALUES (?, ?)", rows_in_random_order())
        for statement in statements:
            connection.execute(statement)
    return path


def parquet(folder: Path, **others: str) -> Path:
    whole = folder / "parts"
    whole.mkdir()
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE data (age VARCHAR, ill VARCHAR)")
        connection.executemany("INSERT INTO data VALUES (?, ?)", rows_in_random_order())
        connection.execute(f"COPY data TO '{whole / 'part-0.parquet'}' (FORMAT parquet)")
    for name, content in others.items():
        (whole / name).write_text(content)
    return whole


NAMES = "CREATE TABLE names AS SELECT 'Anna' AS name"
MORE = {  # sources with something beside the table, and how it is called
    "sheet": lambda f: (workbook(f, People=[["name"], ["Anna"]]), "1 other sheet"),
    "sheets": lambda f: (workbook(f, A=[["x"]], B=[["y"]], C=[]), "2 other sheets"),
    "table": lambda f: (f"{database(f, NAMES)}?table=data", "1 other table"),
    "schema": lambda f: (
        f"{database(f, 'CREATE SCHEMA s', NAMES.replace('names', 's.data'))}?table=main.data",
        "1 other table",
    ),
    "view": lambda f: (
        f"{database(f, 'CREATE VIEW names AS SELECT 1 AS n')}?table=data",
        "1 other table",
    ),
    "file": lambda f: (parquet(f, **{"names.csv": "name\nAnna\n"}), "1 other file"),
    "not_ours": lambda f: (parquet(f, **{"part-0.parquet.json": '["Anna"]'}), "1 other file"),
}
ALONE = {
    "empty_sheet": lambda f: workbook(f, Sheet2=[]),
    "empty_table": lambda f: f"{database(f, 'CREATE TABLE names (name VARCHAR)')}?table=data",
    "directory": lambda f: parquet(
        f,
        _SUCCESS="",
        empty="",
        **{
            "_metadata": "x",
            ".part-0.parquet.crc": "x",
            "part-0.parquet.json": '{"sievert": "0.2.0", "release": {}}',
        },
    ),
}


@pytest.mark.parametrize("kind", MORE)
def test_a_file_that_holds_more_than_the_table_is_undecided(
    kind: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    source, more = MORE[kind](tmp_path)
    policy = tmp_path / "policy.toml"
    policy.write_text(OPEN)
    result = sievert.assess(source, policy=policy)
    assert result.met is None and result.policy is not None
    assert [reason.what for reason in result.policy.reasons] == ["other_tables"]
    assert any(note.startswith(f"{more} beside the table") for note in result.warnings)
    assert sievert.assess(source, policy=policy, planned=True).planned_met is True
    assert any(more in note for note in sievert.assess(source, ["age"], ["ill"]).warnings)
    for share in ([], ["--share"], ["--language", "de"]):
        assert run("assess", str(source), "--policy", str(policy), *share) == 1
        said = capfd.readouterr().out
        assert not any(word in said for word in YES) and "Anna" not in said
        assert "as a file of its own" in said.replace("\n", " ") or "--language" in share
    compared = sievert.compare(source, {"r": source}, policy=policy, paired=True)
    assert compared.met is None


@pytest.mark.parametrize("kind", ALONE)
def test_what_programs_leave_beside_a_table_does_not_count(kind: str, tmp_path: Path) -> None:
    policy = tmp_path / "policy.toml"
    policy.write_text(OPEN)
    result = sievert.assess(ALONE[kind](tmp_path), policy=policy)
    assert result.met is True and not any("beside the table" in note for note in result.warnings)
