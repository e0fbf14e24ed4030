"""Hierarchies, the loss and weights of columns as chosen in Protect: in commands and sessions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sievert.errors import SievertError
from sievert.report.texts import read_texts
from sievert.workbench.choices import Choices, parse_session, session_text
from sievert.workbench.command_lines import check_arguments
from sievert.workbench.jobs import CommandResult, Jobs
from sievert.workbench.replay import session_commands, session_script
from sievert.workbench.step import Form, View, known_settings
from sievert.workbench.step_commands import (
    compare_command,
    frontier_command,
    protect_command,
    table_command,
)
from sievert.workbench.steps import STEPS
from sievert.workbench.steps.protect import PROTECT, recoding_context
from sievert.workbench.written_files import file_stamps, written_before

OPTIONS = ("--hierarchy", "age=interval:5,20", "--hierarchy", "zip={file}")


@pytest.fixture
def choices(tmp_path: Path) -> Choices:
    (tmp_path / "zips.csv").write_text("0101;01\n0102;01\n")
    roles = {"quasi": ("age", "zip"), "sensitive": ("ill",)}
    start = Choices(str(tmp_path / "data.csv")).put("load", folder=str(tmp_path))
    return start.put("roles", **roles).put("policy", file="example:internal")


def form(**fields: str) -> Form:
    return Form({"do": ["calculate"], **{k.replace("__", ":"): [v] for k, v in fields.items()}})


def sent(choices: Choices, **more: str) -> Form:
    file = str(Path(choices.table).parent / "zips.csv")
    return form(
        hierarchy__age="interval:5,20",
        hierarchy__zip=file,
        weight__age="2,5",
        weight__zip="1",
        loss="arithmetic_loss",
        **more,
    )


def test_they_stand_in_every_command_that_reads_them(choices: Choices) -> None:
    chosen = PROTECT.change(choices, sent(choices))
    file = str(Path(choices.table).parent / "zips.csv")
    options = tuple(token.format(file=file) for token in OPTIONS)
    commands = [table_command(name, chosen) for name in ("assess", "explain", "hierarchies")]
    for argv in (*commands, compare_command(chosen)):
        assert argv[-4:] == options
    more = ("--loss", "arithmetic_loss", "--column-weight", "age=2.5")
    assert protect_command(chosen) == (*protect_command(choices), *options, *more)
    assert frontier_command(chosen) == (*protect_command(chosen), "--frontier")
    by_group = protect_command(chosen.put("protect", how="local"))
    assert "--loss" not in by_group and {"--hierarchy", "--column-weight"} <= {*by_group}
    cells = protect_command(chosen.put("protect", how="suppress"))
    assert not {"--loss", "--hierarchy", "--column-weight"} & {*cells}
    secret = chosen.put("roles", quasi=("age",), sensitive=("zip",))
    assert f"zip={file}" not in table_command("assess", secret)  # it would be that of a secret
    again = parse_session(session_text(chosen), known_settings(STEPS))
    assert session_commands(again, STEPS) == session_commands(chosen, STEPS)
    for argv in session_commands(chosen, STEPS):
        check_arguments(argv)
    assert "--hierarchy age=interval:5,20" in session_script(chosen, STEPS, read_texts(None))
    assert PROTECT.change(chosen, form(do="reset")) == choices


def test_other_hierarchies_and_losses_are_searched_for(choices: Choices) -> None:
    shown = {"level__age": "2", "level__zip": "1"}
    given = PROTECT.change(choices, form(**shown))
    assert given.mapping("protect", "levels")
    assert not PROTECT.change(given, sent(choices, **shown)).mapping("protect", "levels")
    found = {**shown, "searched": '{"age": "2", "zip": "1"}'}
    weighted = PROTECT.change(choices, form(weight__age="3", loss="entropy", **found))
    assert weighted.of("protect") == {"weights": {"age": "3"}, "loss": "entropy"}  # still a search
    kept = PROTECT.change(given, form(weight__age="3", **shown))
    assert kept.mapping("protect", "levels") == {"age": "2", "zip": "1"}
    with pytest.raises(SievertError, match="other hierarchies"):
        PROTECT.act(given, Form(sent(choices, **shown)._fields | {"do": ["write"], "path": ["x"]}))
    chosen = PROTECT.change(choices, sent(choices))
    untouched = PROTECT.change(chosen, form(point='{"age": "1", "zip": "0"}'))
    assert untouched.mapping("protect", "hierarchies") == chosen.mapping("protect", "hierarchies")


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"hierarchy__age": "interval:wide"}, "interval"),
        ({"hierarchy__age": "nowhere.csv"}, "hierarchy of age is no rule"),
        ({"hierarchy__age": "/etc/hosts"}, "hierarchy of age is no rule"),
        ({"hierarchy__age": "workbench:upload-1/x.csv"}, "hierarchy of age is no rule"),
        ({"hierarchy__age": "{folder}/nowhere.csv"}, "nowhere.csv"),
        ({"hierarchy__a=b": "prefix"}, "cannot be said here"),
        ({"hierarchy__-a": "prefix"}, "cannot be said here"),
        ({"weight__age": "heavy"}, "weight of age"),
        ({"weight__age": "0"}, "weight of age"),
        ({"weight__age": "inf"}, "weight of age"),
        ({"loss": "money"}, "no such loss"),
    ],
)
def test_what_makes_no_sense_is_refused_and_shown_again(
    choices: Choices, fields: dict[str, str], words: str
) -> None:
    folder = str(Path(choices.table).parent)
    typed = form(**{name: text.format(folder=folder) for name, text in fields.items()})
    with pytest.raises(SievertError, match=words) as refused:
        PROTECT.change(choices, typed)
    assert len(str(refused.value).splitlines()) <= 2
    context = recoding_context(
        View(choices=choices, results=Nothing(), texts=read_texts(None), sent=typed)
    )
    assert [each["name"] for each in context["columns"]] == ["age", "zip"]
    if "hierarchy__age" in fields:
        assert context["open"] and context["columns"][0]["hierarchy"]


class Nothing:
    def get(self, argv: Any) -> Any:
        return None

    def error(self, argv: Any) -> None:
        return None

    def running(self, argv: Any) -> bool:
        return False


def test_results_of_a_hierarchy_that_has_changed_are_forgotten(
    choices: Choices, tmp_path: Path
) -> None:
    chosen = PROTECT.change(choices, sent(choices))
    file = str(tmp_path / "zips.csv")
    assert file in file_stamps(chosen) and "interval:5,20" not in file_stamps(chosen)
    jobs = Jobs(tmp_path)
    jobs._results = {
        argv: CommandResult(0, b"{}", "")
        for argv in (protect_command(chosen), protect_command(choices))
    }
    jobs.forget({file})
    assert jobs.get(protect_command(chosen)) is None
    assert jobs.get(protect_command(choices)) is not None


def test_a_release_is_older_than_a_hierarchy_of_its_own_that_has_changed(
    choices: Choices, tmp_path: Path
) -> None:
    (tmp_path / "data.csv").write_text("age,zip,ill\n")
    file = str(tmp_path / "zips.csv")
    write = {"do": ["write"], "path": ["out.csv"], "level:age": ["1"], "level:zip": ["1"]}
    chosen = PROTECT.change(choices, sent(choices))
    written = {}
    for name, before in (("own", chosen), ("other", choices)):
        action = PROTECT.act(before, Form(write))
        assert action is not None
        written[name] = action.then(action.kept or before)
        assert not written_before(written[name], "out.csv")
    imported = PROTECT.change(written["other"], form(hierarchy__zip=file))
    assert not written_before(imported, "out.csv")  # another release would use it
    Path(file).write_text("0101;0\n0102;0\n0103;1\n")
    assert written_before(written["own"], "out.csv")
    assert not written_before(imported, "out.csv")
