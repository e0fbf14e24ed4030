"""The step Synthetic: tables that are not paired with the original, with or without a control."""

from pathlib import Path
from typing import Any

from sievert.errors import require
from sievert.workbench.choices import Choices
from sievert.workbench.result_pages import releases_state, rendered
from sievert.workbench.step import OPEN, Argv, Form, Step, View
from sievert.workbench.step_commands import named_file, synthetic_command
from sievert.workbench.typed_paths import is_there, short_name

NAME = "synthetic"


def commands(choices: Choices) -> tuple[Argv, ...]:
    """The attacks, once there is a synthetic table."""
    return (synthetic_command(choices),) if choices.texts(NAME, "tables") else ()


def context(view: View) -> dict[str, Any]:
    """The tables, and the report's own blocks."""
    choices = view.choices
    tables = [(path, Path(path).name) for path in choices.texts(NAME, "tables")]
    content = {"tables": tables, "control": choices.text(NAME, "control")}
    result = view.get(synthetic_command(choices)) if tables else None
    return content if result is None else {**content, **rendered(result, view.texts)}


def change(choices: Choices, form: Form) -> Choices:
    """Add or take away a synthetic table; name the people whom its generator never saw."""
    tables = choices.texts(NAME, "tables")
    gone = form.one("remove")
    if gone:
        return choices.put(NAME, tables=tuple(path for path in tables if path != gone))
    path = form.one("path")
    control = form.one("control")
    require(path or tables, "no synthetic table is named", hint="the path of a table")
    for field in ("path", "control"):
        file = named_file(form, field, "the path of a table") if form.one(field) else "."
        require(is_there(file), f"{short_name(file)}: no such file")
    added = tuple(dict.fromkeys((*tables, *filter(None, (path,)))))
    return choices.put(NAME, tables=added, control=control)


def status(view: View) -> tuple[str, str]:
    """How many synthetic tables there are."""
    number = len(view.choices.texts(NAME, "tables"))
    if not number:
        return OPEN, view.texts("workbench.synthetic.status_none")
    result = view.get(synthetic_command(view.choices))
    state = OPEN if result is None else releases_state(result, view.texts)
    return state, view.texts.number_of(number, "table")


SYNTHETIC = Step(
    name=NAME,
    context=context,
    status=status,
    change=change,
    commands=commands,
    settings=("tables", "control"),
)
