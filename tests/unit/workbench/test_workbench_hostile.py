"""Hostile texts in every field of every form, and as names of files: one line, never a defect."""

from __future__ import annotations

import asyncio
import os
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from helpers.benchclient import BenchClient, Elements
from helpers.payloads import PAYLOADS, as_file

from sievert.errors import UsageError
from sievert.workbench.choices import Choices, History
from sievert.workbench.jobs import Jobs
from sievert.workbench.replay import open_session
from sievert.workbench.steps import STEPS

HOSTILE = (
    "\0", "a\0b.toml", "x" * 5000, "d/" * 2500 + "x.toml", "x" * 300 + ".toml", "\ud800",
    "../evil.txt", "/nonexistent/evil.toml", "/", "..", "/dev/stdin",
    "-x", "--json=evil.txt", "workbench:../x", "example:../x", "']\n[limits]\nx = 1", '"\\ud800"',
    '"\\u0000"', "{0.__class__}%s%n{{7*7}}", "<script>alert(1)</script>", "1e999", "nan",
    "9" * 400, "[" * 3000, '{"age": 1}', '{"\\ud800": "1"}', "inference//\0",
)  # fmt: skip
EVERY = 9
FIELDS = {
    "load": "path table delimiter encoding suppressed missing no_header na types next revision",
    "roles": "name:0 role:0 why:0 hint:0 person suggest name: role:x",
    "policy": "do source file roles key:1 min:1 max:1 drop:1 new_measure new_place new_bound path",
    "assess": "do",
    "protect": "do point merge how suppress by_policy searched level:age level: path replace",
    "compare": "remove path",
    "synthetic": "remove path control",
    "report": "do kind part mask heading path replace",
    "undo": "step",
    "cancel": "step",
    "again": "step",
}
FORMS: dict[str, tuple[dict[str, str], ...]] = {
    "roles": ({"name:0": '"age"', "role:0": "ignored", "why:0": "because"}, {}),
    "policy": (
        {"do": "use", "source": "own"},
        {"do": "use", "new_measure": "k_anonymity", "new_bound": "5"},
        {"do": "use", "key:1": '"k_anonymity"', "min:1": "5"},
        {"do": "save"},
    ),
    "protect": ({"do": "write", "level:age": "1", "path": "out.csv"}, {"do": "search"}, {}),
    "report": ({"do": "write", "path": "out.html"}, {"do": "keep"}),
}


@pytest.fixture
def client(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> BenchClient:
    place = tmp_path / "here"
    (place / "private").mkdir(parents=True)
    monkeypatch.chdir(place)
    (place / "data.csv").write_text("age,ill\n" + "30,y\n31,n\n" * 30)
    begun = Choices("data.csv").put("load", folder=".")
    begun = begun.put("roles", quasi=("age",), rows_are_people="yes")
    begun = begun.put("policy", edited="yes", limits={"k_anonymity": ">= 2"})
    return BenchClient(begun, place / "private")


def chosen(place: int) -> tuple[str, ...]:
    """All of them in a soak; else a few of them, others for every field."""
    first = place % EVERY
    return HOSTILE if os.environ.get("SIEVERT_SOAK") else HOSTILE[first::EVERY]


def sent_forms(step: str) -> Iterator[dict[str, Any]]:
    for form in FORMS.get(step, ({},)):
        yield {name: text for name, text in form.items() if name != "do"}  # lacks its button
        for place, field in enumerate(FIELDS[step].split()):
            for text in chosen(place):
                yield {**form, field: text}
            yield {**form, field: ["x", HOSTILE[0], form.get(field, HOSTILE[2])]}


@pytest.mark.parametrize("step", FIELDS)
def test_hostile_texts_in_forms(client: BenchClient, tmp_path: Path, step: str) -> None:
    """Refused with one line, or taken as text: no defect, nothing written, no broken command."""
    bench, begun = client.bench, client.bench.choices
    for sent in sent_forms(step):
        bench.history = History(begun)
        bench.jobs.queue.clear()
        answer = client.post(step, sent)
        assert answer.status in (303, 404, 409, 422), sent
        if answer.status == 422:
            assert 0 < len(answer.alert) < 300 and "\n" not in answer.alert, sent
        for job in bench.jobs.pending:
            assert not any("\0" in token or "\ud800" in token for token in job.argv), sent
    outside = {path.name for path in tmp_path.iterdir()}
    inside = {path.name for path in (tmp_path / "here").iterdir()}
    assert outside == {"here"} and inside <= {"private", "data.csv", "policy.toml"}


@pytest.mark.parametrize(
    ("step", "field"),
    [
        *(("load", "path"), ("policy", "file"), ("policy", "path"), ("compare", "path")),
        *(("synthetic", "path"), ("synthetic", "control")),
        *(("protect", "path"), ("report", "path")),
    ],
)
def test_a_path_that_no_file_can_have(client: BenchClient, step: str, field: str) -> None:
    form = {"source": "own", "do": "use"} if field == "file" else {"do": "write", "level:age": "1"}
    if (step, field) == ("policy", "path"):
        form = {"do": "save"}
    for text in HOSTILE[:5]:
        answer = client.post(step, {**form, field: text})
        assert answer.status == 422 and 0 < len(answer.alert) < 200
        assert not [job for job in client.bench.jobs.pending if job.finish]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('[load]\nencoding = "\\u0000"', "no command can be given"),
        ("[protect.written]\n'out.csv' = '\"'", "options that are not understood"),
        ("[report.written]\n'out.html' = \"'\"", "options that are not understood"),
        ("[report.written]\n'out.html' = '--json x'", "begins like an option"),
    ],
)
def test_a_session_with_a_text_that_no_command_can_have(
    tmp_path: Path, text: str, words: str
) -> None:
    path = tmp_path / "session.toml"
    path.write_text(f'workbench = 1\ntable = "t.csv"\n{text}\n')
    with pytest.raises(UsageError, match=words):
        open_session(path, STEPS)


def test_a_command_that_cannot_be_started_ends_with_a_line(tmp_path: Path) -> None:
    """One that is too long for the system, for instance: the next one runs all the same."""

    async def run() -> None:
        jobs = Jobs(tmp_path)
        worker = asyncio.create_task(jobs.work())
        commands = [("columns", "\0"), ("columns", "x" * (1 << 18))]
        jobs.want(commands, "load")
        while jobs.pending:
            await asyncio.sleep(0.01)
        assert not worker.done()
        for argv in commands:
            assert str(jobs.error(argv)).startswith("the command cannot be started: ")
        worker.cancel()

    asyncio.run(run())


# -- names of files -------------------------------------------------------------------------------

FILES = [f"{number:02d}{as_file(payload)}.csv" for number, payload in enumerate(PAYLOADS)]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    for name in FILES:
        Path(name).write_text("age,ill\n30,y\n")
    return tmp_path


def plain_names() -> list[str]:
    return [f"{number:02d}plain.csv" for number in range(len(FILES))]


def choices_of(names: list[str]) -> Choices:
    """A session in which every step names files."""
    begun = Choices(names[6]).put("load", folder=".").put("roles", quasi=("age",))
    begun = begun.put("policy", edited="yes", limits={"k_anonymity": ">= 2"})
    begun = begun.put("compare", releases=tuple(names))
    begun = begun.put("synthetic", tables=tuple(names), control=names[31])
    options = dict.fromkeys(names, "")
    begun = begun.put("protect", written=options).put("report", written=options)
    return begun.put("report", path=names[32], written=options)


@pytest.mark.parametrize("step", [*(step.name for step in STEPS), "script?step=load"])
def test_payloads_as_names_of_files(folder: Path, step: str) -> None:
    """A page has the same elements and attributes as with plain names, and the names as texts."""
    hostile = BenchClient(choices_of(FILES), folder).get(step).body
    for name in FILES:
        Path(name).rename(f"{name[:2]}plain.csv")
    plain = BenchClient(choices_of(plain_names()), folder).get(step).body
    there, expected = Elements(hostile), Elements(plain)
    assert there.all == expected.all and there.addresses == expected.addresses
    assert "alert(7)" in "".join(there.texts)  # a name did get there


def test_payloads_as_names_of_files_in_errors_and_sessions(folder: Path) -> None:
    client = BenchClient(Choices(FILES[6]).put("roles", quasi=("age",)), folder)
    expected = Elements(client.post("compare", {"path": "plain-nowhere.csv"}).body)
    for name in FILES:
        answer = client.post("compare", {"path": f"nowhere{name}"})
        assert answer.status == 422 and Elements(answer.body).all == expected.all
    session = BenchClient(choices_of(FILES), folder).get("session").body
    assert session.count("left out") == 2 * len(FILES)
    assert all(line.startswith("# ") for line in session.split("\n") if "left out" in line)
    assert tomllib.loads(session)["compare"]["releases"] == FILES
