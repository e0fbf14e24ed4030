"""Files that were written: none is replaced unasked, none made again under another policy."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from pathlib import Path

import pytest
from helpers.benchclient import BenchClient

from sievert.report.texts import read_texts
from sievert.workbench.choices import Choices, session_text
from sievert.workbench.replay import (
    exit_code,
    outdated_files,
    replay,
    session_commands,
    session_script,
)
from sievert.workbench.step import Form
from sievert.workbench.steps import STEPS
from sievert.workbench.steps.policy import POLICY
from sievert.workbench.steps.protect import PROTECT
from sievert.workbench.steps.report import REPORT

SWITCHES = {"do": "write", "level:age": "1"}
TEXTS = read_texts(None)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data.csv").write_text("age,ill\n" + "30,y\n31,n\n" * 30)
    (tmp_path / "private").mkdir()
    return tmp_path


@pytest.fixture
def choices(folder: Path) -> Choices:
    begun = Choices("data.csv").put("roles", quasi=("age",), rows_are_people="yes")
    return begun.put("policy", edited="yes", limits={"k_anonymity": ">= 2"})


def form(**fields: str) -> Form:
    return Form({name.replace("__", ":"): [text] for name, text in fields.items()})


def write_release(choices: Choices, path: str) -> Choices:
    action = PROTECT.act(choices, form(do="write", level__age="1", path=path))
    assert action is not None
    return action.then(choices)


def write_page(choices: Choices, path: str, **fields: str) -> Choices:
    action = REPORT.act(choices, form(do="write", path=path, **fields))
    assert action is not None
    return action.then(choices)


def makers(choices: Choices) -> list[str]:
    """The files that the commands of a session would write, but for private ones."""
    return [
        argv[argv.index(option) + 1]
        for argv in session_commands(choices, STEPS)
        for option in ("-o", "--html")
        if option in argv
    ]


def test_a_file_of_an_older_policy_is_not_made_again_under_the_new_one(
    choices: Choices, folder: Path
) -> None:
    written = write_page(write_release(choices, "old.csv"), "old.html")
    assert makers(written) == ["old.csv", "old.html"] and not outdated_files(written, STEPS)
    stricter = written.put("policy", limits={"k_anonymity": ">= 20"})
    assert makers(stricter) == [] and outdated_files(stricter, STEPS) == ["old.csv", "old.html"]
    both = write_release(stricter, "new.csv")
    assert makers(both) == ["new.csv"]
    script = session_script(both, STEPS, TEXTS)
    assert "# old.csv: left out, because it was written under other choices" in script
    assert "-o new.csv" in script and "-o old.csv" not in script
    assert makers(written.put("roles", quasi=("age", "ill"))) == []
    assert makers(written.put("load", na=("NA",))) == []
    back = stricter.put("policy", limits={"k_anonymity": ">= 2"})  # undone, or typed again
    assert makers(back) == ["old.csv", "old.html"]


def test_a_policy_that_was_only_saved_is_the_same_policy(choices: Choices, folder: Path) -> None:
    written = write_release(choices, "out.csv")
    saved = POLICY.change(written, form(do="save", path="mine.toml"))
    assert saved.text("policy", "file") == "mine.toml" and makers(saved) == ["out.csv"]
    (folder / "mine.toml").write_text((folder / "mine.toml").read_text().replace("2", "3"))
    assert makers(saved) == []  # changed outside


def test_changed_data_make_a_file_old_and_a_script_makes_it_of_the_new_data(
    choices: Choices, folder: Path
) -> None:
    written = write_page(write_release(choices, "out.csv"), "out.html")
    client = BenchClient(written, folder / "private")
    assert "<strong>It was written before" not in client.get("report").body
    (folder / "data.csv").write_text("age,ill\n" + "30,y\n31,n\n" * 31)
    assert "<strong>It was written before your last change" in client.get("report").body
    assert makers(written) == ["out.csv", "out.html"]


def test_a_saved_session_says_what_is_not_made_again(choices: Choices, folder: Path) -> None:
    written = write_release(choices, "o\nld.csv")
    stricter = written.put("policy", limits={"k_anonymity": ">= 20"})
    saved = BenchClient(stricter, folder / "private").get("session").body
    assert saved.startswith("# o\\nld.csv: left out, because") and tomllib.loads(saved)
    assert saved.endswith(session_text(stricter))
    (folder / "session.toml").write_text(saved)
    told: list[str] = []
    steps = [replace(step, commands=lambda _: ()) for step in STEPS]
    assert replay(Path("session.toml"), steps, told.append) == 7
    assert [line.partition(",")[0] for line in told] == ["o\\nld.csv: left out"]
    assert not (folder / "o\nld.csv").exists()


def test_all_pages_that_were_written_are_remembered(choices: Choices, folder: Path) -> None:
    first = write_page(choices, "first.html", heading="The first")
    second = write_page(first, "second.html", kind="share", part="explain")
    pages = [argv[1:] for argv in session_commands(second, STEPS) if argv[0] == "report"]
    assert pages == [
        ("workbench:assess.json", "--html", "first.html", "--title", "The first"),
        ("workbench:assess.json", "workbench:explain.json", "--html", "second.html", "--share"),
    ]
    body = BenchClient(second, folder / "private").get("report").body
    assert body.index(f"Written: {folder}/second.html. It is shareable") < body.index(
        f"Written: {folder}/first.html. It is internal"
    )
    assert REPORT.status(BenchClient(second, folder).bench.view("report")) == ("met", "second.html")
    again = write_page(second, "first.html")  # now without its title
    assert list(again.mapping("report", "written")) == ["second.html", "first.html"]
    more = second.put("compare", releases=("data.csv",))
    assert makers(more)[:2] == ["first.html", "second.html"]  # neither was about releases


@pytest.mark.parametrize("step", ["protect", "report", "policy"])
def test_nothing_is_replaced_unasked(choices: Choices, folder: Path, step: str) -> None:
    client = BenchClient(choices.put("protect", levels={"age": "0"}), folder / "private")
    ending = {"protect": "csv", "report": "html", "policy": "toml"}[step]
    one, two = f"one.{ending}", f"two.{ending}"
    for name in (one, two):
        (folder / name).write_text("<!-- written by sievert -->")
    assert 'name="replace"' not in client.get(step).body  # the proposed one is not there
    do = "save" if step == "policy" else "write"
    sent = {**SWITCHES, "do": do, "path": one}
    for box in ({}, {"replace": ""}, {"replace": "yes"}, {"replace": two}):
        answer = client.post(step, {**sent, **box})
        assert answer.status == 422 and f"{one} is there already" in answer.alert
        assert f'name="replace" value="{one}"' in answer.body  # asked, also without scripts
        assert f'name="path" value="{one}"' in answer.body
    assert not [job for job in client.bench.jobs.pending if job.finish]
    if step == "protect":  # the switches stay as they were sent
        assert client.bench.choices.mapping("protect", "levels") == {"age": "1"}
    assert client.post(step, {**sent, "replace": one}).status == 303
    assert (folder / two).read_text() == "<!-- written by sievert -->"
    if step == "policy":
        assert "k_anonymity" in (folder / one).read_text()
    else:
        (job,) = [job for job in client.bench.jobs.pending if job.finish]
        assert job.argv[-1] == "--force" and one in job.argv
    fresh = client.post(step, {**sent, "path": f"new.{ending}"})
    assert fresh.status == 303


@pytest.mark.parametrize(
    ("codes", "expected"),
    [
        ({"assess --planned": 1, "protect -o": 0}, 0),  # the original is not to go out
        ({"assess": 1, "protect -o": 0}, 1),  # its file is said to be the release
        ({"assess": 1, "compare": 0}, 1),
        ({"assess": 0}, 0),
        ({"assess": 0, "protect -o": 1}, 1),
        ({"assess": 0, "protect -o": 1, "report": 0}, 1),  # whatever ran last
        ({"assess --planned": 1, "protect": 0}, 1),  # nothing was written
        ({"assess": 0, "compare": 1}, 1),
        ({"assess --planned": 1, "compare": 0, "report": 0}, 0),
        ({"assess --planned": 1, "synthetic": 0}, 0),
        ({"assess": 3, "protect -o": 0}, 3),  # an error is one everywhere
        ({"explain": -9, "protect -o": 0}, 9),
        ({}, 0),
    ],
)
def test_a_session_exits_by_its_releases(codes: dict[str, int], expected: int) -> None:
    assert exit_code([(tuple(line.split()), code) for line, code in codes.items()]) == expected


@pytest.mark.parametrize(("least", "expected"), [("2", 0), ("40", 0), ("61", 1)])
def test_a_session_is_run_to_its_release(
    choices: Choices, folder: Path, least: str, expected: int
) -> None:
    """With k >= 40 the original does not meet the policy, and the release with one age does."""
    (folder / "data.csv").write_text("age,sex,ill\n" + "30,f,y\n31,f,n\n" * 30)
    own = choices.put("policy", edited="yes", limits={"k_anonymity": f">= {least}"})
    own = own.put("roles", quasi=("age", "sex"), sensitive=("ill",), rows_are_people="yes")
    written = write_release(own, "out.csv").put("compare", releases=())
    (folder / "session.toml").write_text(session_text(written))
    told: list[str] = []
    assert replay(Path("session.toml"), STEPS, told.append) == expected
    left_out = ["out.csv: not written; commands on it were left out\n"]
    assert told == (left_out if expected else [])
    assert (folder / "out.csv").exists() is (expected == 0)
