"""The step Report: one page of the results, internal or shareable, written where the user says."""

import shlex
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from itertools import takewhile
from pathlib import Path
from typing import Any

from sievert.errors import SievertError, require
from sievert.workbench.choices import Choices, Setting
from sievert.workbench.command_lines import PRIVATE, displayed_words, pieces, repeated
from sievert.workbench.step import DOUBTFUL, MET, OPEN, Action, Argv, Form, Step, View, WrittenFile
from sievert.workbench.step_commands import (
    beside_table,
    compare_command,
    has_roles,
    named_file,
    synthetic_command,
    table_command,
)
from sievert.workbench.typed_paths import refusal_to_replace, replacing, typed_output
from sievert.workbench.written_files import chosen_alike, conditions, full_path, split_options

NAME = "report"
KINDS = ("internal", "share")
OTHERS: dict[str, Callable[[Choices], Argv]] = {
    "explain": partial(table_command, "explain"),
    "compare": compare_command,
    "synthetic": synthetic_command,
}


def _possible(choices: Choices) -> list[str]:
    """The results that a page can hold besides the assessment."""
    there = {
        "explain": True,
        "compare": bool(choices.texts("compare", "releases")),
        "synthetic": bool(choices.texts("synthetic", "tables")),
    }
    return [name for name in OTHERS if there[name]]


def _selected_paths(choices: Choices) -> list[str]:
    """The results that are ticked; a release is what the page is about, unless it was unticked."""
    parts, without = (choices.texts(NAME, name) for name in ("parts", "without"))
    default = ("compare",) if "compare" not in without else ()
    return [name for name in _possible(choices) if name in (*parts, *default)]


def _parts(choices: Choices, names: Iterable[str]) -> dict[str, Argv]:
    """The commands whose results stand on a page, by the names of their files."""
    parts = {"assess": table_command("assess", choices)}
    for name in names:
        require(name in OTHERS, "no such result", hint=", ".join(OTHERS))
        parts[name] = OTHERS[name](choices)
    return {f"{name}.json": argv for name, argv in parts.items()}


def _options(choices: Choices) -> Argv:
    """Who may read the page, its title and its language."""
    share = ("--share",) if choices.text(NAME, "kind") == "share" else ()
    mask = ("--mask-names",) if share and choices.text(NAME, "mask") else ()
    title = repeated("--title", [choices.text(NAME, "heading")])
    return (*share, *mask, *title, *repeated("--language", [choices.text("load", "language")]))


def _command(parts: Iterable[str], path: str, options: Iterable[str]) -> Argv:
    return ("report", *(f"{PRIVATE}{name}" for name in parts), "--html", path, *options)


def report_command(choices: Choices) -> Argv:
    """The command that writes the page."""
    return _command(_parts(choices, _selected_paths(choices)), _path(choices), _options(choices))


def _path(choices: Choices) -> str:
    return choices.text(NAME, "path") or beside_table(choices, "-report.html")


def commands(choices: Choices) -> tuple[Argv, ...]:
    """The results that the page is made of."""
    return tuple(_parts(choices, _selected_paths(choices)).values()) if has_roles(choices) else ()


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
        "parts": _selected_paths(choices),
        **typed_output(view, _path(choices)),
        "heading": choices.text(NAME, "heading"),
        "mask": choices.text(NAME, "mask"),
        "written": _written(choices),
        "command": list(pieces(report_command(choices))),
        "command_text": " ".join(displayed_words(report_command(choices))),
    }


def change(choices: Choices, form: Form) -> Choices:
    """Which results, who may read them, and the file."""
    kind = form.one("kind", KINDS[0])
    require(kind in KINDS, "a page is internal or shareable", hint=", ".join(KINDS))
    parts = tuple(name for name in form.many("part") if name in OTHERS)
    require(len(parts) == len(form.many("part")), "no such result", hint=", ".join(OTHERS))
    mask = form.one("mask") if kind == "share" else ""
    heading = form.one("heading")
    path = form.one("path")
    require(not heading.startswith("-"), "a title does not begin with a hyphen")
    kind = "" if kind == KINDS[0] else kind
    without = tuple(name for name in _possible(choices) if name not in parts)
    settings: dict[str, Setting] = {"kind": kind, "parts": parts, "without": without, "mask": mask}
    return choices.put(NAME, **settings, heading=heading, path=path)


def act(choices: Choices, form: Form) -> Action | None:
    """Write the page where the user says."""
    if form.one("do") != "write":
        return None
    chosen = change(choices, form)
    path = named_file(form, "path", "report.html")
    names = _selected_paths(chosen)
    parts = _parts(chosen, names)
    options = shlex.join((*names, *_options(chosen)))
    made_under = conditions(chosen, tuple(parts.values()))

    def then(after: Choices) -> Choices:
        earlier = {p: own for p, own in after.mapping(NAME, "written").items() if p != path}
        under = {**after.mapping(NAME, "under"), path: made_under}
        written: dict[str, Setting] = {"written": {**earlier, path: options}, "under": under}
        return after.put(NAME, **{**chosen.of(NAME), **written})

    argv = (*report_command(chosen), *replacing(path))
    return Action(argv=argv, then=then, inputs=parts, refusal=refusal_to_replace(form, path))


def _split(written: str) -> tuple[list[str], list[str]]:
    """The results that a written page is made of, and its options."""
    tokens = split_options(written)
    names = list(takewhile(lambda token: not token.startswith("-"), tokens))
    return names, tokens[len(names) :]


def _written(choices: Choices) -> list[dict[str, Any]]:
    """The pages that were written, the last one first: for whom, and whether anything changed."""
    rows = []
    for path, written in choices.mapping(NAME, "written").items():
        names, options = _split(written)
        now = conditions(choices, tuple(_parts(choices, names).values()))
        old = choices.mapping(NAME, "under").get(path) != now
        rows.append({"path": full_path(path), "old": old, "kind": KINDS["--share" in options]})
    return rows[::-1]


def status(view: View) -> tuple[str, str]:
    """Whether a page was written that is still of what is chosen."""
    written = _written(view.choices)
    if not written:
        return OPEN, view.texts("workbench.report.status_none")
    current = next((row["path"] for row in written if not row["old"]), "")
    if current:
        return MET, Path(current).name
    return DOUBTFUL, view.texts("workbench.protect.status_old")


def files(choices: Choices) -> tuple[WrittenFile, ...]:
    """The pages that were written, each of its own results."""
    under = choices.mapping(NAME, "under")
    pages = []
    for path, written in choices.mapping(NAME, "written").items():
        names, options = _split(written)
        parts = _parts(choices, names)
        alike = chosen_alike(under.get(path, ""), conditions(choices, tuple(parts.values())))
        pages.append(WrittenFile(path, _command(parts, path, options), parts, outdated=not alike))
    return tuple(pages)


REPORT = Step(
    name=NAME,
    context=context,
    status=status,
    change=change,
    commands=commands,
    act=act,
    settings=("kind", "parts", "without", "mask", "heading", "path", "written", "under"),
    files=files,
)
