"""The workbench without a browser: choices, their history, their command lines, saved sessions."""

from __future__ import annotations

import hashlib
import json
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sievert.errors import SievertError, UsageError
from sievert.formatting.toml import toml_document
from sievert.report.texts import read_texts
from sievert.workbench.choices import Choices, History, parse_session, session_text
from sievert.workbench.command_lines import displayed_words, pieces, real_arguments, role_arguments
from sievert.workbench.replay import open_session, replay, session_commands, session_script
from sievert.workbench.step import Form, View, known_settings
from sievert.workbench.steps import STEPS
from sievert.workbench.steps.load import LOAD, begin
from sievert.workbench.steps.policy import POLICY, current_limits
from sievert.workbench.steps.roles import ROLES_STEP
from sievert.workbench.working_policy import (
    examples,
    limit_tables,
    limit_texts,
    named_policy,
    policy_tables,
    policy_text,
    write_policy,
)

ROOT = Path(__file__).parents[3]
KNOWN = known_settings(STEPS)
TEXT = st.text(max_size=12).map(lambda text: text.encode(errors="replace").decode())
NAMES = st.sampled_from([(step, key) for step, keys in KNOWN.items() for key in keys])
VALUES = st.one_of(
    TEXT,
    st.lists(TEXT, max_size=3).map(tuple),
    st.dictionaries(TEXT.filter(bool), TEXT, max_size=3),
)
CHANGES = st.lists(st.tuples(NAMES, VALUES), max_size=6)


def changed(changes: list[Any]) -> list[Choices]:
    every = [Choices("data.csv")]
    for (step, key), value in changes:
        every.append(every[-1].put(step, **{key: value}))
    return every


@given(CHANGES, st.integers(0, 8))
@settings(max_examples=60, deadline=None)
def test_undo_and_redo_are_each_other_s_inverse(changes: list[Any], back: int) -> None:
    history = History(Choices("data.csv"))
    for choices in changed(changes)[1:]:
        history = history.change(choices)
    everything = history.past, history.now
    undone = history
    for _ in range(back):
        undone = undone.undo()
    redone = undone
    for _ in range(back):
        redone = redone.redo()
    assert (redone.past, redone.now) == everything
    assert redone.revision >= undone.revision >= history.revision
    for _ in changes:
        history = history.undo()
    assert history.now == Choices("data.csv") and not history.past
    assert history.undo() is history


def test_a_new_choice_after_undo_forgets_what_was_undone() -> None:
    first = History(Choices("a.csv")).change(Choices("b.csv")).undo()
    assert first.change(Choices("c.csv")).future == ()
    assert first.change(first.now) is first  # the same choice is no step


@given(CHANGES)
@settings(max_examples=100, deadline=None)
def test_a_saved_session_is_read_back_as_it_was(changes: list[Any]) -> None:
    choices = changed(changes)[-1]
    assert parse_session(session_text(choices), KNOWN) == choices


ROLES = {"quasi": ("sex", "age"), "sensitive": ("city, country",), "identifier": ("id",)}


@given(
    st.fixed_dictionaries(
        {},
        optional={
            "delimiter": st.sampled_from([",", ";", "\t"]),
            "na": st.lists(TEXT.filter(bool), max_size=3).map(tuple),
            "types": st.dictionaries(TEXT.filter(bool), st.just("int"), max_size=2),
            "no_header": st.just("yes"),
        },
    ),
    st.sampled_from(["", "example:internal", "example:public_use"]),
)
@settings(max_examples=40, deadline=None)
def test_a_replay_has_the_same_command_lines(load: dict[str, Any], policy: str) -> None:
    choices = Choices("data.csv").put("load", **load).put("roles", **ROLES)
    choices = choices.put("policy", file=policy)
    again = parse_session(session_text(choices), KNOWN)
    commands = session_commands(choices, STEPS)
    assert session_commands(again, STEPS) == commands
    assert commands[0][0] == "columns" and any(argv[0] == "assess" for argv in commands)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "not a session"),
        ("workbench = 2\ntable = 'a'", "another version"),
        ("workbench = 1", "no table"),
        ("workbench = 1\ntable = 'a'\n[lod]\nx = 'y'", "lod: not known here. Try: load"),
        ("workbench = 1\ntable = 'a'\n[load]\ndelimeter = ','", "Try: delimiter"),
        ("workbench = 1\ntable = 'a'\n[load]\nencoding = 5", "not a text"),
        ("workbench = ", "not TOML"),
    ],
)
def test_a_session_that_is_not_understood_is_refused(text: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        parse_session(text, KNOWN)


def test_a_session_holds_no_values_and_no_results() -> None:
    choices = Choices("data.csv").put("roles", **ROLES)
    assert tomllib.loads(session_text(choices)) == {
        "workbench": 1,
        "table": "data.csv",
        "roles": {role: list(columns) for role, columns in ROLES.items()},
    }


# -- command lines -------------------------------------------------------------------------------


def test_roles_are_options_until_there_is_a_policy() -> None:
    choices = Choices("data.csv").put("roles", **ROLES, person="id")
    assert role_arguments(choices) == (
        *("-q", "sex,age", "-s", '"city, country"', "-i", "id", "--person", "id"),
    )
    option, policy = role_arguments(choices.put("policy", file="example:internal"))
    assert option == "--policy" and policy.startswith("workbench:")


def test_a_command_is_shown_as_it_would_be_typed() -> None:
    argv = ("assess", "my data.csv", "--policy", "workbench:0123456789ab/house.toml", "--na", "-9")
    assert " ".join(displayed_words(argv)) == (
        "sievert assess 'my data.csv' --policy house.toml --na -9"
    )
    assert list(pieces(argv))[3] == "--policy house.toml"
    folder = Path("/private")
    assert real_arguments(argv, folder)[3] == "/private/0123456789ab/house.toml"


def test_a_script_brings_its_policy_along() -> None:
    choices = Choices("data.csv").put("roles", **ROLES).put("policy", file="example:internal")
    script = session_script(choices, STEPS, read_texts(None))
    assert "cat > internal.toml <<'" in script and "[limits.reidentification]" in script
    assert "sievert assess data.csv --policy internal.toml" in script


# -- policies ------------------------------------------------------------------------------------


def test_what_is_bundled_is_what_it_says() -> None:
    bundled = {path.name: path.read_bytes() for path in examples().values()}
    assert bundled == {
        path.name: path.read_bytes() for path in (ROOT / "examples" / "policies").iterdir()
    }
    script = (ROOT / "src/sievert/workbench/static/htmx.min.js").read_bytes()
    assert hashlib.sha256(script).hexdigest() in (ROOT / "NOTICES.md").read_text(encoding="utf-8")


def test_limits_as_settings_are_those_of_the_file() -> None:
    for path in [*examples().values(), ROOT / "examples" / "hospital_policy.toml"]:
        limits = tomllib.loads(path.read_text(encoding="utf-8"))["limits"]
        assert limit_tables(limit_texts(limits)) == limits


def test_the_users_policy_is_used_as_it_is_until_something_differs(tmp_path: Path) -> None:
    own = tmp_path / "house.toml"
    own.write_text('[roles]\nquasi = ["age"]\n[limits]\nk_anonymity = { min = 5 }\n')
    form = Form({"do": ["use"], "source": ["own"], "file": [str(own)], "roles": ["yes"]})
    choices = POLICY.change(Choices("data.csv"), form)
    assert named_policy(choices) == str(own)
    assert choices.texts("roles", "quasi") == ("age",)
    other = choices.put("roles", quasi=("age", "sex"))
    name = str(named_policy(other))
    assert name.startswith("workbench:") and name.endswith("/house.toml")
    write_policy(other, tmp_path)
    written = tmp_path / name.removeprefix("workbench:")
    assert written.stat().st_mode & 0o777 == 0o600
    assert tomllib.loads(written.read_text())["roles"]["quasi"] == ["age", "sex"]
    assert tomllib.loads(own.read_text())["roles"]["quasi"] == ["age"]


def edit(**fields: str) -> Form:
    return Form({"do": ["use"], **{k.replace("__", ":"): [v] for k, v in fields.items()}})


def test_limits_are_edited_in_a_form_and_checked_as_in_a_file(tmp_path: Path) -> None:
    choices = Choices("data.csv").put("roles", **ROLES)
    first = POLICY.change(choices, edit(new_measure="k_anonymity", new_bound="5"))
    assert policy_tables(first) == {
        "roles": {role: list(columns) for role, columns in ROLES.items()},
        "limits": {"k_anonymity": {"min": 5}},
    }
    key = json.dumps("k_anonymity")
    second = POLICY.change(
        first,
        edit(
            key__1=key,
            min__1="7",
            new_measure="guess_gain",
            new_place="inference/city, country",
            new_bound="0,5",
        ),
    )
    limits = (policy_tables(second) or {})["limits"]
    assert limits == {
        "k_anonymity": {"min": 7},
        "inference": {"city, country": {"guess_gain": {"max": 0.5}}},
    }
    other = json.dumps("inference/city, country/guess_gain")
    dropped = edit(key__1=key, min__1="7", drop__1="yes", key__2=other, min__2="", max__2="")
    assert POLICY.change(second, dropped).of("policy") == {"edited": "yes"}
    unchanged = edit(key__1=key, min__1="7.0", key__2=other, max__2="0,50")
    assert POLICY.change(second, unchanged) == second
    with pytest.raises(UsageError, match="limit on k_anonymity is not a number"):
        POLICY.change(second, edit(key__1=key, min__1="seven"))
    for mistake in ({"new_bound": "x"}, {"new_bound": "nan"}, {"new_measure": "k_anonimity"}):
        with pytest.raises(UsageError):
            POLICY.change(choices, edit(**{"new_measure": "k_anonymity", **mistake}))
    with pytest.raises(UsageError, match="share from 0 to 1"):
        POLICY.change(choices, edit(new_measure="unique_records", new_bound="80"))
    path = tmp_path / "saved.toml"
    saved = POLICY.change(second, Form({"do": ["save"], "path": [str(path)]}))
    assert path.read_text() == policy_text(second) and named_policy(saved) == str(path)
    with pytest.raises(SievertError, match="is there already"):
        POLICY.change(second, Form({"do": ["save"], "path": [str(path)]}))


def test_documents_of_nested_tables_are_read_back() -> None:
    tables = {"a": 1, "b": {"c d": {"min": 0.5}, "e": {"f": {"g": ["\x7f", '"', True]}}}, "h": {}}
    assert tomllib.loads(toml_document(tables)) == tables


def test_another_policy_keeps_limits_that_were_changed_with_it() -> None:
    key = json.dumps("reidentification/k_anonymity")
    first = POLICY.change(Choices("data.csv"), edit(source="scientific_use"))
    same = edit(source="public_use", key__1=key, min__1="5.0")
    assert POLICY.change(first, same).of("policy") == {"file": "example:public_use"}
    both = POLICY.change(first, edit(source="public_use", key__1=key, min__1="9"))
    assert current_limits(both) == {
        **current_limits(POLICY.change(first, same)),
        "reidentification/k_anonymity": ">= 9",
    }
    assert POLICY.change(both, edit(source="public_use")) == both
    with pytest.raises(UsageError, match=r"nobody\.toml"):
        POLICY.change(both, edit(source="public_use", file="nobody.toml"))


def test_what_was_typed_is_shown_again_when_it_is_refused() -> None:
    choices = POLICY.change(Choices("data.csv"), edit(source="scientific_use"))
    key = json.dumps("reidentification/k_anonymity")
    sent = edit(source="public_use", key__1=key, min__1="seven", new_bound="much")
    context = POLICY.context(
        View(choices=choices, results=NoResults(), texts=read_texts(None), sent=sent)
    )
    assert "seven" in {row["min"] for row in context["limits"]}
    assert context["new"]["bound"] == "much" and context["chosen"] == "public_use"


def test_limits_are_counted_for_each_secret() -> None:
    choices = POLICY.change(Choices("data.csv"), edit(source="scientific_use"))
    view = View(choices=choices, results=NoResults(), texts=read_texts(None))
    assert POLICY.status(view)[1] == "Limits: 7"
    view = View(
        choices=choices.put("roles", sensitive=("a", "b")),
        results=NoResults(),
        texts=read_texts(None),
    )
    assert POLICY.status(view)[1] == "7 limits, 3 of them for each of 2 secrets"


# -- forms ---------------------------------------------------------------------------------------


def role_form(**fields: str) -> Form:
    columns = ["age", "income", "batch\n", "id"]
    names = {f"name:{i}": [json.dumps(name)] for i, name in enumerate(columns)}
    return Form({**names, **{k.replace("__", ":"): [v] for k, v in fields.items()}})


def test_roles_of_a_form() -> None:
    form = role_form(
        role__0="quasi", role__1="sensitive", role__2="ignored", why__2="a number", person='"id"'
    )
    choices = ROLES_STEP.change(Choices("data.csv"), form)
    assert choices.of("roles") == {
        "quasi": ("age",),
        "sensitive": ("income",),
        "ignored": {"batch\n": "a number"},
        "person": "id",
    }
    suggested = role_form(role__0="quasi", hint__0="sensitive", hint__1="sensitive", suggest="yes")
    choices = ROLES_STEP.change(Choices("data.csv"), suggested)
    assert choices.of("roles") == {"quasi": ("age",), "sensitive": ("income",)}
    with pytest.raises(UsageError, match="say why"):
        ROLES_STEP.change(Choices(), role_form(role__2="ignored"))
    with pytest.raises(UsageError, match="only one column"):
        ROLES_STEP.change(Choices(), role_form(role__0="weight", role__1="weight"))
    with pytest.raises(UsageError):
        ROLES_STEP.change(Choices(), role_form(role__0="nothing"))


def test_only_tables_of_the_folder_can_be_loaded(tmp_path: Path) -> None:
    (inside := tmp_path / "in" / "a.csv").parent.mkdir()
    inside.write_text("a\n1\n")
    (outside := tmp_path / "b.csv").write_text("a\n1\n")
    (inside.parent / "link.csv").symlink_to(outside)
    choices = begin(str(inside.parent))
    assert begin("postgresql://host/db?table=t").table == "postgresql://host/db?table=t"
    assert begin("x.xlsx?sheet=s").text("load", "folder") == "."
    assert LOAD.commands(choices) == ()
    loaded = LOAD.change(choices, Form({"path": [str(inside)], "na": ["NA, -9"]}))
    assert LOAD.commands(loaded) == (("columns", str(inside), "--na", "NA", "--na", "-9"),)
    for other in (outside, inside.parent / "link.csv", inside.parent / ".." / "b.csv"):
        with pytest.raises(UsageError, match="not in the folder"):
            LOAD.change(choices, Form({"path": [str(other)]}))
    with pytest.raises(UsageError, match="no such file"):
        LOAD.change(choices, Form({"path": [str(inside.parent / "c.csv")]}))


class NoResults:
    def get(self, argv: Any) -> Any:
        return None

    def error(self, argv: Any) -> None:
        return None

    def running(self, argv: Any) -> bool:
        return False


@pytest.mark.parametrize("language", ["en", "de"])
def test_every_step_has_a_state_before_anything_is_known(language: str) -> None:
    texts = read_texts(None, language)
    for choices in (Choices(), Choices("data.csv").put("roles", **ROLES)):
        view = View(choices=choices, results=NoResults(), texts=texts)
        for step in STEPS:
            state, words = step.status(view)
            assert state == "open" or step is ROLES_STEP
            assert words and step.context(view) is not None
            assert f"workbench.{step.name}.title" in texts


def test_a_session_is_run_again_without_a_browser(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "data.csv").write_text("age,ill\n" + "30,y\n31,n\n" * 30)
    choices = Choices("data.csv").put("roles", quasi=("age",), rows_are_people="yes")
    choices = choices.put("policy", edited="yes", limits={"k_anonymity": ">= 40"})
    (tmp_path / "session.toml").write_text(session_text(choices))
    monkeypatch.chdir(tmp_path)
    assert replay(Path("session.toml"), STEPS[:3], lambda _: None) == 1
    said = capfd.readouterr().out
    assert "60 records, 2 columns" in said and "ill" in said  # which has no role
    assert {p.name for p in tmp_path.iterdir()} == {"data.csv", "session.toml"}


def test_without_the_extra_there_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    from sievert.cli.workbench.run import run
    from sievert.cli.workbench.settings import WorkbenchSettings

    monkeypatch.setitem(sys.modules, "uvicorn", None)
    with pytest.raises(UsageError, match=r"pip install 'sievert\[workbench\]'"):
        run(WorkbenchSettings())


@pytest.mark.parametrize(
    "text",
    (
        '[compare]\nreleases = ["rel.csv", "--json", "victim.txt", "--force"]',
        '[synthetic]\ntables = ["rel.csv"]\ncontrol = "--json=victim.txt"',
        "[protect.written]\n'out.csv' = '--force --json victim.txt'",
        "[protect.written]\n'out.csv' = '--force'",
        "[protect]\nsuppress = '--force'",
    ),
)
def test_a_session_cannot_bring_options(tmp_path: Path, text: str) -> None:
    head = 'workbench = 1\ntable = "t.csv"\n[roles]\nquasi = ["age"]\nsensitive = ["ill"]\n'
    limits = "[policy.limits]\nk_anonymity = '2'\n" if "protect" in text else ""
    path = tmp_path / "session.toml"
    path.write_text(f"{head}{limits}{text}\n")
    with pytest.raises(UsageError, match="begins like an option"):
        open_session(path, STEPS)


def test_a_session_shows_no_values_by_itself(tmp_path: Path) -> None:
    path = tmp_path / "session.toml"
    path.write_text('workbench = 1\ntable = "t.csv"\n[load]\nfolder = "/"\nshow_values = "yes"\n')
    choices = open_session(path, STEPS)
    assert choices.of("load") == {"folder": "."}
    assert open_session(path, STEPS, show_values=True).text("load", "show_values") == "yes"
