"""Lines of JSON: every request has one answer, shareable unless asked for, and nothing stops it."""

from __future__ import annotations

import csv
import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from helpers.commandline import command_line

from sievert.cli.serve.run import LONGEST_LINE, _digest, _Server
from sievert.cli.serve.settings import ServeSettings
from sievert.commands.assess import run as assessment
from sievert.errors import UsageError
from sievert.sources import isolation

POLICY = """
[roles]
quasi = ["age"]
sensitive = ["ill"]
rows_are_people = true
[partitions.ill]
grave = ["canary-ill-1"]
[limits]
k_anonymity = { min = 5 }
[limits.inference.ill]
l_diversity = { min = 2 }
"""


@pytest.fixture
def here(tmp_path: Path) -> Path:
    (tmp_path / "policy.toml").write_text(POLICY)
    for name, ages in (("open", 1000), ("closed", 4)):
        with (tmp_path / f"{name}.csv").open("w", newline="") as file:
            rows = csv.writer(file)
            rows.writerow(["age", "ill"])
            rows.writerows([f"canary-age-{i % ages}", f"canary-ill-{i % 3}"] for i in range(1200))
    (tmp_path / "torn.csv").write_text('age,ill\n"canary-age-1,canary-ill-1\n')
    return tmp_path


def ask(here: Path, requests: list[Any], *options: str) -> list[dict[str, Any]]:
    """The answers to requests, which are objects or bytes; none of them has a value of the data."""
    lines = [r if isinstance(r, bytes) else json.dumps(r).encode() for r in requests]
    command = command_line("serve", "--stdio", "--policy", "policy.toml")
    done = subprocess.run(
        [*command, *options], input=b"\n".join(lines), cwd=here, capture_output=True, check=False
    )
    assert done.returncode == 0 and done.stderr == b""
    assert b"canary" not in done.stdout
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(answers) == len(requests)
    for answer in answers:
        assert set(answer) == {"sievert", "id", "ok", "code", "result" if answer["ok"] else "error"}
        assert answer["ok"] == (answer["code"] <= 1)
    return answers


@pytest.mark.slow
def test_every_request_has_its_answer(here: Path) -> None:
    closed, opened, torn, none, measures, policy, *exact = ask(
        here,
        [
            {"command": "assess", "data": "closed.csv", "id": "first"},
            {"command": "assess", "data": str(here / "open.csv"), "id": 2},
            {"command": "assess", "data": "torn.csv"},
            {"command": "assess", "data": "not-there.csv"},
            {"command": "measures", "ids": ["k"]},
            {"command": "policy"},
            {"command": "explain", "data": "closed.csv"},
            {"command": "compare", "original": "open.csv", "releases": ["closed.csv"]},
        ],
    )
    assert (closed["id"], opened["id"], torn["id"]) == ("first", 2, None)
    assert closed["code"] == 0 and closed["result"]["policy"]["met"] is True
    assert opened["code"] == 1 and opened["result"]["policy"]["met"] is False
    assert opened["result"]["table"] == {"name": None, "rows": 1200, "columns": 2, "shared": 10}
    assert {v["value"] for v in opened["result"]["policy"]["limits"]} == {None}
    assert torn["code"] == none["code"] == 3
    assert "not-there" not in none["error"]["text"]  # shareable errors name no file
    assert set(measures["result"]["measures"]) == {"k_anonymity"}
    assert policy["result"]["limits"] == [
        {"where": "limits", "measure": "k_anonymity", "min": 5.0, "max": None},
        {"where": "limits.inference.ill", "measure": "l_diversity", "min": 2.0, "max": None},
    ]
    assert [answer["code"] for answer in exact] == [7, 7]


GARBAGE: list[Any] = [
    b"",
    b"\xff\xfe",
    b"nonsense",
    b"[" * 60_000,
    b"{" + b" " * 3 * LONGEST_LINE + b"}",
    b'"assess"',
    b'{"command": NaN}',
    {},
    {"command": "attack", "data": "open.csv"},
    {"command": "assess"},
    {"command": "assess", "data": ["open.csv"]},
    {"command": "assess", "data": ""},
    {"command": "assess", "data": "open.csv", "quasi": ["ill"]},
    {"command": "assess", "data": "open.csv", "policy": "other.toml"},
    {"command": "assess", "data": "open.csv", "id": {"a": 1}},
    {"command": "assess", "data": "open.csv", "id": 10**400},
    {"command": "measures", "ids": "k"},
    {"command": "measures", "ids": ["nonsense"]},
]
REFUSED: list[Any] = [
    {"command": "assess", "data": "-"},
    {"command": "assess", "data": "postgresql://somewhere/db?table=t"},
    {"command": "assess", "data": "open\0.csv"},
    {"command": "compare", "original": "open.csv", "releases": ["https://somewhere/t.csv"]},
]


@pytest.mark.slow
def test_garbage_is_answered(here: Path) -> None:
    answers = ask(here, [*GARBAGE, *REFUSED, {"command": "policy", "id": "last"}])
    assert [answer["code"] for answer in answers[: len(GARBAGE)]] == [2] * len(GARBAGE)
    assert [answer["code"] for answer in answers[len(GARBAGE) : -1]] == [7] * len(REFUSED)
    assert answers[-1]["ok"] and answers[-1]["id"] == "last"


@pytest.mark.slow
def test_a_name_is_never_an_option_and_standard_input_is_empty(here: Path) -> None:
    names = ["--share=false", "/dev/stdin"]
    answers = ask(here, [{"command": "assess", "data": name} for name in names], "--exact")
    assert {answer["code"] for answer in answers} == {3}


@pytest.mark.slow
def test_exact_answers(here: Path) -> None:
    opened, explained, compared = ask(
        here,
        [
            {"command": "assess", "data": "open.csv"},
            {"command": "explain", "data": "closed.csv"},
            {"command": "compare", "original": "closed.csv", "releases": ["open.csv"]},
        ],
        "--exact",
    )
    assert compared["code"] == 3 or compared["result"]["releases"][0]["policy"]["met"] is False
    assert opened["result"]["policy"]["limits"][0]["value"] == 1
    assert opened["result"]["table"]["name"] == "open.csv"
    assert explained["code"] == 0 and "shapley" in explained["result"]


def test_masked_names(here: Path) -> None:
    requests = [{"command": "assess", "data": "open.csv"}, {"command": "policy"}]
    assessed, policy = ask(here, requests, "--mask-names")
    assert assessed["code"] == 1 and assessed["result"]["roles"]["sensitive"] == ["secret 1"]
    assert policy["code"] == 7
    assert not re.search(r"\b(age|ill)\b", json.dumps([assessed, policy]))


def server(here: Path) -> _Server:
    policy = here / "policy.toml"
    settings = ServeSettings(policy=policy)
    return _Server(settings=settings, policy=policy, sha256=_digest(policy))


def test_another_policy_is_refused(here: Path) -> None:
    ours = server(here)
    assert ours.answer(b'{"command": "policy"}')[1] == 0
    (here / "policy.toml").write_text(POLICY.replace("5", "1"))
    answer, code = ours.answer(b'{"command": "assess", "data": "open.csv"}')
    assert code == 7 and "changed" in answer["error"]["text"]


def test_a_crash_costs_one_answer(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And leaves no open file behind."""
    monkeypatch.setattr(assessment, "run", lambda *_, **__: os._exit(9))
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(3):
        assert server(here).answer(b'{"command": "assess", "data": "open.csv"}')[1] == 6
    assert len(os.listdir("/proc/self/fd")) == before
    assert isolation.supervise(lambda: 0) == 0


@pytest.mark.parametrize(
    "options",
    [
        [],
        ["--stdio"],
        ["--policy", "policy.toml"],
        ["--stdio", "--policy", "none.toml"],
        ["--stdio", "--policy", "policy.toml", "--exact", "--mask-names"],
    ],
)
def test_it_does_not_start_without_a_policy(
    options: list[str], here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from sievert.cli.calls import call

    monkeypatch.chdir(here)
    with pytest.raises(UsageError):
        call("serve", options)


def test_a_server_speaks_of_files_not_of_counts_or_plans(here: Path) -> None:
    """A request cannot ask about a plan, nor about counts: a program lets files through by code."""
    state = here / "closed.state"
    count = command_line("count", "closed.csv", "-q", "age", "-s", "ill")
    made = subprocess.run([*count, "-o", state], cwd=here, capture_output=True, check=False)
    assert made.returncode == 0, made.stderr
    file, counts, *plans = ask(
        here,
        [
            {"command": "assess", "data": "closed.csv"},
            {"command": "assess", "data": "closed.state"},
            {"command": "assess", "data": "closed.csv", "planned": True},
            {"command": "assess", "planned": False, "data": "closed.csv"},
            {"command": "policy", "planned": True},
        ],
    )
    assert (file["code"], file["result"]["question"]) == (0, "file")
    assert file["result"]["policy"]["met"] is True
    assert (counts["ok"], counts["code"]) == (False, 2)
    assert "a count state is no file" in counts["error"]["text"]
    for plan in plans:
        assert (plan["ok"], plan["code"]) == (False, 2)
        assert "not about a planned release" in plan["error"]["text"]
