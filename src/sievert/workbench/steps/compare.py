"""The step Compare: all releases beside the table they were made of, on one map."""

from pathlib import Path
from typing import Any

from markupsafe import Markup

from sievert.commands.compare.view import ComparisonView
from sievert.errors import require
from sievert.report.limits import STATES, each_limit, limits_of, state_of
from sievert.workbench.choices import Choices
from sievert.workbench.maps import DOUBTFUL, MapPoint, MapWords, draw_map
from sievert.workbench.result_pages import part_of, releases_state, rendered
from sievert.workbench.step import OPEN, Argv, Form, Step, View
from sievert.workbench.step_commands import compare_command, has_roles, named_file
from sievert.workbench.typed_paths import is_there, short_name
from sievert.workbench.written_files import written_before

NAME = "compare"
# Pixels of the map.
WIDE = 700
NARROW = 330


def commands(choices: Choices) -> tuple[Argv, ...]:
    """The comparison, once there is a release."""
    ready = has_roles(choices) and choices.texts(NAME, "releases")
    return (compare_command(choices),) if ready else ()


def context(view: View) -> dict[str, Any]:
    """The releases, the map and the report's own chapters."""
    choices = view.choices
    releases = [
        (path, Path(path).name, written_before(choices, path))
        for path in choices.texts(NAME, "releases")
    ]
    need = "" if has_roles(choices) else "roles"
    content: dict[str, Any] = {"need": need, "releases": releases, "maps": {}, "rows": []}
    result = view.get(compare_command(choices)) if releases and not need else None
    if result is None:
        return content
    rows, secret = _rows(view, result)
    return {
        **content,
        **rendered(result, view.texts),
        "rows": rows,
        "secret": secret,
        "maps": _maps(view, rows, secret),
    }


def _rows(view: View, result: Any) -> tuple[list[dict[str, Any]], str]:
    """Each release with its place on the map, and the secret whose loss is across."""
    comparison = ComparisonView(**vars(part_of(result, view.texts)))
    secret = next(iter(comparison.secrets), "")
    rows = []
    for release in comparison.releases:
        texts = release.secrets.get(secret)
        limits = each_limit(limits_of(release.policy))
        state = STATES[state_of(release.policy)] if limits else DOUBTFUL
        better = comparison.dominating(release) if comparison.dominators[release.number] else ""
        met = sum(limit.met is True for limit in limits)
        rows.append(
            {
                "name": release.label,
                "state": state,
                "mark": view.texts(f"workbench.compare.mark_{state}", met=met, number=len(limits))
                if limits
                else "",
                "disclosed": release.identity,
                "share": release.share,
                "lost": texts.lost if texts is not None else None,
                "better": better,
                "at_most": release.at_most,
            }
        )
    return rows, secret


def _maps(view: View, rows: list[dict[str, Any]], secret: str) -> dict[str, Markup]:
    """The map in two widths; none where nothing can be placed."""
    texts = view.texts
    places = [
        (row, row["lost"].number, row["disclosed"].number)
        for row in rows
        if row["lost"] is not None and None not in (row["lost"].number, row["disclosed"].number)
    ]
    if not places:
        return {}
    dots = [
        MapPoint(
            across=across,
            up=up,
            state=row["state"],
            said="",
            name=texts("workbench.compare.at_most_name", name=row["name"])
            if row["at_most"]
            else row["name"],
            hollow=bool(row["better"]),
        )
        for row, across, up in places
    ]
    words = MapWords(
        label=texts("workbench.compare.map_label", number=len(dots)),
        across=texts("workbench.protect.across", secret=secret),
        up=texts("workbench.protect.up"),
        note=texts("workbench.compare.corrected"),
    )
    return {k: draw_map(dots, words, size) for k, size in (("wide", WIDE), ("narrow", NARROW))}


def change(choices: Choices, form: Form) -> Choices:
    """Add a release by its path, or take one from the list."""
    releases = choices.texts(NAME, "releases")
    gone = form.one("remove")
    if gone:
        return choices.put(NAME, releases=tuple(path for path in releases if path != gone))
    path = named_file(form, "path", "the path of a release of this table")
    require(is_there(path), f"{short_name(path)}: no such file")
    return choices.put(NAME, releases=tuple(dict.fromkeys((*releases, path))))


def status(view: View) -> tuple[str, str]:
    """How many releases there are."""
    releases = view.choices.texts(NAME, "releases")
    number = len(releases)
    if not number:
        return OPEN, view.texts("workbench.compare.status_none")
    shown = view.texts.number_of(number, "release")
    old = sum(written_before(view.choices, path) for path in releases)
    if old:
        return DOUBTFUL, view.texts("workbench.compare.status_old", releases=shown, old=old)
    result = view.get(compare_command(view.choices)) if has_roles(view.choices) else None
    return OPEN if result is None else releases_state(result, view.texts), shown


COMPARE = Step(
    name=NAME,
    context=context,
    status=status,
    change=change,
    commands=commands,
    settings=("releases",),
)
