"""The step Report: one page of the results, internal or shareable, written where the user says."""

from contextlib import suppress
from pathlib import Path
from typing import Any

from sievert.errors import SievertError, require
from sievert.workbench.choices import Choices, Setting
from sievert.workbench.command_lines import PRIVATE, pieces, shown
from sievert.workbench.step import MET, OPEN, Action, Argv, Form, Step, View
from sievert.workbench.step_commands import (
    assess_command,
    beside_table,
    compare_command,
    explain_command,
    has_roles,
    named_file,
    synthetic_command,
)

NAME = "report"
KINDS = ("internal", "share")
OTHERS = {"explain": explain_command, "compare": compare_command, "synthetic": synthetic_command}


def _possible(choices: Choices) -> list[str]:
    """The results that a page can hold besides the assessment."""
    there = {
        "explain": True,
        "compare": bool(choices.texts("compare", "releases")),
        "synthetic": bool(choices.texts("synthetic", "tables")),
    }
    return [name for name in OTHERS if there[name]]


def _chosen(choices: Choices) -> list[str]:
    """The results that are ticked; a release is what the page is about, unless it was unticked."""
    parts, without = (choices.texts(NAME, name) for name in ("parts", "without"))
    default = ("compare",) if "compare" not in without else ()
    return [name for name in _possible(choices) if name in (*parts, *default)]


def _parts(choices: Choices) -> dict[str, Argv]:
    """The commands whose results stand on the page, by the names of their files."""
    parts = {"assess": assess_command(choices)}
    parts |= {n: OTHERS[n](choices) for n in _chosen(choices)}
    return {f"{name}.json": argv for name, argv in parts.items()}


def report_command(choices: Choices) -> Argv:
    """The command that writes the page."""
    files = (f"{PRIVATE}{name}" for name in _parts(choices))
    share = ("--share",) if choices.text(NAME, "kind") == "share" else ()
    mask = ("--mask-names",) if share and choices.text(NAME, "mask") else ()
    title = choices.text(NAME, "heading")
    named = ("--title", title) if title else ()
    spoken = choices.text("load", "language")
    language = ("--language", spoken) if spoken else ()
    return ("report", *files, "--html", _path(choices), *share, *mask, *named, *language)


def _path(choices: Choices) -> str:
    return choices.text(NAME, "path") or beside_table(choices, "-report.html")


def commands(choices: Choices) -> tuple[Argv, ...]:
    """The results that the page is made of."""
    return tuple(_parts(choices).values()) if has_roles(choices) else ()


def context(view: View) -> dict[str, Any]:
    """What can be on the page, who may read it, and where it goes."""
    choices = view.choices
    if view.sent is not None:  # refused, perhaps for its path
        with suppress(SievertError):
            choices = change(choices, view.sent)
    return {
        "need": "" if has_roles(choices) else "roles",
        "kinds": KINDS,
        "kind": choices.text(NAME, "kind") or KINDS[0],
        "possible": _possible(choices),
        "parts": _chosen(choices),
        "path": _path(choices),
        "heading": choices.text(NAME, "heading"),
        "mask": choices.text(NAME, "mask"),
        "written": choices.text(NAME, "written"),
        "written_kind": choices.text(NAME, "written_kind"),
        "command": list(pieces(report_command(choices))),
        "command_text": " ".join(shown(report_command(choices))),
    }


def change(choices: Choices, form: Form) -> Choices:
    """Which results, who may read them, and the file."""
    kind = form.one("kind", KINDS[0])
    require(kind in KINDS, "a page is internal or shareable", hint=", ".join(KINDS))
    parts = tuple(name for name in form.many("part") if name in OTHERS)
    require(len(parts) == len(form.many("part")), "no such result", hint=", ".join(OTHERS))
    mask = form.one("mask") if kind == "share" else ""
    heading, path = form.one("heading"), form.one("path")
    kind = "" if kind == KINDS[0] else kind
    without = tuple(name for name in _possible(choices) if name not in parts)
    settings: dict[str, Setting] = {"kind": kind, "parts": parts, "without": without, "mask": mask}
    return choices.put(NAME, **settings, heading=heading, path=path)


def act(choices: Choices, form: Form) -> Action | None:
    """Write the page where the user says."""
    if form.one("do") != "write":
        return None
    chosen = change(choices, form)
    named_file(form, "path", "report.html")
    force = ("--force",) if form.one("force") else ()

    def then(after: Choices) -> Choices:
        kind = chosen.text(NAME, "kind") or KINDS[0]
        return after.put(
            NAME, **{**chosen.of(NAME), "written": _path(chosen), "written_kind": kind}
        )

    return Action((*report_command(chosen), *force), then, inputs=_parts(chosen))


def status(view: View) -> tuple[str, str]:
    """Whether a page was written."""
    written = view.choices.text(NAME, "written")
    if not written:
        return OPEN, view.texts("workbench.report.status_none")
    return MET, Path(written).name


def files(choices: Choices) -> tuple[Action, ...]:
    """The page that was written."""
    if not choices.text(NAME, "written"):
        return ()
    return (Action(report_command(choices), inputs=_parts(choices)),)


REPORT = Step(
    NAME,
    context,
    status,
    change,
    commands,
    act,
    ("kind", "parts", "without", "mask", "heading", "path", "written", "written_kind"),
    files,
)
