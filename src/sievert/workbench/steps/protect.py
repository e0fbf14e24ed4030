"""The step Protect: levels of columns, the release they make, and all others on a map."""

import math
import shlex
from pathlib import Path
from typing import Any

from sievert.errors import UsageError, require
from sievert.formatting import percent
from sievert.formatting.loss_names import LOSSES
from sievert.hierarchies import check_specification, is_generated
from sievert.report.limits import STATES, own_limits, state_of
from sievert.report.overview import Overview
from sievert.workbench.choices import Choices
from sievert.workbench.command_lines import PRIVATE
from sievert.workbench.level_names import check_levels, level_names, levels_text, read_levels
from sievert.workbench.recoding_map import FORM, recoding_map
from sievert.workbench.result_pages import release_verdict
from sievert.workbench.step import DOUBTFUL, MET, OPEN, Action, Argv, Form, Step, View
from sievert.workbench.step_commands import (
    CELLS,
    FULL,
    beside_table,
    frontier_command,
    has_policy,
    has_roles,
    known_columns,
    named_file,
    protect_command,
    release_options,
    table_command,
    table_result,
)
from sievert.workbench.steps.explain import column_shares
from sievert.workbench.typed_paths import refusal_to_replace, replacing, typed_output
from sievert.workbench.written_files import (
    BEFORE,
    CURRENT,
    age_of,
    full_path,
    release_conditions,
    shown_levels,
    written_releases,
)

NAME = "protect"
HOW = (FULL, "local", CELLS)
BUDGETS = ("0", "0.01", "0.02", "0.05", "0.1", "0.2")
# The most records and recodings for which the map is drawn without being asked for.
FEW_RECORDS = 50_000
FEW_RECODINGS = 5_000
RECODING = ("hierarchies", "loss", "weights")
CHOSEN = ("how", "levels", "suppress", *RECODING)  # by the form
SETTINGS = (*CHOSEN, "frontier", "written", "under")


def commands(choices: Choices) -> tuple[Argv, ...]:
    """The release; how columns can become coarser; the table as it is; if wanted, all recodings."""
    if not has_roles(choices) or not has_policy(choices):
        return ()
    more = (frontier_command(choices),) if choices.text(NAME, "frontier") else ()
    beside = (
        table_command("hierarchies", choices),
        table_command("assess", choices),
        table_command("explain", choices),
    )
    return (protect_command(choices), *beside, *more)


def further(view: View) -> tuple[Argv, ...]:
    """All recodings, where it does not take long to go through them."""
    choices = view.choices
    if not has_roles(choices) or not has_policy(choices) or choices.text(NAME, "frontier"):
        return ()
    known = table_result("hierarchies", view)
    if known is None or known["table"]["rows"] > FEW_RECORDS:
        return ()
    recodings = math.prod(len(each["labels"]) + 1 for each in known["proposals"].values())
    return (frontier_command(choices),) if recodings <= FEW_RECODINGS else ()


def context(view: View) -> dict[str, Any]:
    """The form, the verdict on the release, and the map."""
    choices = view.choices
    if not has_roles(choices) or not has_policy(choices):
        return {"need": "policy" if has_roles(choices) else "roles"}
    release = view.get(protect_command(choices))
    how = choices.text(NAME, "how") or FULL
    given = bool(choices.mapping(NAME, "levels"))
    return {
        "need": "",
        "how": how,
        "ways": HOW,
        "columns": _columns(view, release),
        # the levels that the search has found, so that they are known when they are sent
        "searched": "" if given or not release else levels_text(shown_levels(view)),
        "budgets": _budgets(view, release),
        "recoding": None if how == CELLS else recoding_context(view),
        "given": given,
        "release": release_verdict(view, release, table_result("assess", view)),
        "frontier": recoding_map(view) if how == FULL else None,
        "wanted": bool(choices.text(NAME, "frontier") or further(view)),
        "form": FORM,
        **typed_output(view, _proposed_path(choices)),
        **_written(view),
        "writable": how != FULL or bool(shown_levels(view)),
    }


def _written(view: View) -> dict[str, Any]:
    """The files that were written, the last one that is still what the page shows, if any."""
    ages = {path: age_of(view, path) for path in view.choices.mapping(NAME, "written")}
    current = next((path for path in reversed(ages) if ages[path] == CURRENT), "")
    return {"written": ages, "current": current and full_path(current)}


def _columns(view: View, release: Any) -> list[dict[str, Any]]:
    """The levels of every column, the one that is chosen, and how many people it exposes."""
    proposals = (table_result("hierarchies", view) or {}).get("proposals")
    if not proposals:
        return []
    explained = table_result("explain", view) or {}
    shares = column_shares(explained)
    levels = shown_levels(view)
    rows = []
    for column in (release or explained)["roles"]["quasi"] if release or explained else proposals:
        names = level_names(view.texts, proposals[column])
        at = int(levels.get(column, 0))
        share = percent(shares[column]) if column in shares else ""
        rows.append({"name": column, "levels": names, "chosen": names[at], "share": share})
    return rows


def _budgets(view: View, release: Any) -> dict[str, Any]:
    """How many people may be suppressed: as chosen, or as the policy says."""
    chosen = view.choices.text(NAME, "suppress")
    rows, allowed = (release["table"]["rows"], release["allowed"]) if release else (0, 0)
    alike = (value for value in BUDGETS if rows and int(float(value) * rows) == allowed)
    by_policy = next(alike, f"{allowed / rows:.4g}" if rows else "")
    values = sorted({*BUDGETS, *filter(None, (chosen or by_policy,))}, key=float)
    return {
        "chosen": chosen or by_policy,
        "by_policy": "" if chosen else by_policy,
        "values": [(value, percent(float(value))) for value in values],
        "used": release.get("suppressed") if release else None,
        "allowed": allowed,
    }


# -- what is sent ---------------------------------------------------------------------------------


def change(choices: Choices, form: Form) -> Choices:
    """What the buttons of the page do."""
    point = form.one("point")
    if point:
        return choices.put(NAME, how=None, levels=read_levels(point))
    merged = form.one("merge")
    if merged:
        levels = {**choices.mapping(NAME, "levels"), **read_levels(merged)}
        return choices.put(NAME, how=None, levels=levels)
    match form.one("do"):
        case "reset":
            return choices.put(NAME, **dict.fromkeys(CHOSEN))
        case "frontier":
            return choices.put(NAME, frontier="yes")
        case "calculate":
            return _apply_form(choices, form)
        case "search":
            return _with_ways(choices, form).put(NAME, levels=None)
    raise UsageError("nothing was chosen")


def _apply_form(choices: Choices, form: Form) -> Choices:
    """The choices with what the switches show; a search whose levels they show stays one.

    Levels of other hierarchies mean something else: then the least loss is looked for.
    """
    chosen = _with_ways(choices, form)
    levels = check_levels(form.beginning("level:"))
    if not _same(chosen, choices, "hierarchies"):
        return chosen.put(NAME, levels=None)
    searched = form.one("searched")
    alike = _same(chosen, choices, "how") and _same(chosen, choices, "suppress")
    as_found = alike and searched and levels == read_levels(searched)
    if as_found or not levels:  # the form of other ways has no levels
        return chosen
    return chosen.put(NAME, levels=levels)


def _same(one: Choices, other: Choices, name: str) -> bool:
    return one.of(NAME).get(name) == other.of(NAME).get(name)


def _with_ways(choices: Choices, form: Form) -> Choices:
    how = _how(form)
    settings = with_recoding_settings(choices, form)
    return settings.put(NAME, how="" if how == FULL else how, suppress=_budget(form))


def _how(form: Form) -> str:
    how = form.one("how", FULL)
    require(how in HOW, "no such way to recode", hint=", ".join(HOW))
    return how


def _budget(form: Form) -> str:
    """The share of people who may be suppressed; empty where it is as the policy says."""
    text = form.one("suppress")
    if not text or text == form.one("by_policy"):
        return ""
    try:
        share = float(text)
    except ValueError:
        share = -1.0
    require(0 <= share <= 1, "people who may be suppressed: a share from 0 to 1", hint="0.05")
    return text


def _proposed_path(choices: Choices) -> str:
    """Where a release could go: beside the table."""
    written = next(reversed(list(choices.mapping(NAME, "written"))), "")
    return written or beside_table(choices, "-release.csv")


def act(choices: Choices, form: Form) -> Action | None:
    """Write the release that the switches show where the user says."""
    if form.one("do") != "write":
        return None
    path = named_file(form, "path", "release.csv")
    taken = _apply_form(choices, form)
    shown = check_levels(form.beginning("level:"))
    if _how(form) == FULL:
        same = _same(taken, choices, "hierarchies")
        require(same, "the levels shown are of other hierarchies", hint="recalculate first")
        require(shown, "the levels of this release are not known yet", hint="recalculate first")
    seen = taken.put(NAME, levels=shown or taken.mapping(NAME, "levels"))
    options = shlex.join(release_options(seen))
    made_under = release_conditions(seen, options)

    def then(after: Choices) -> Choices:
        releases = dict.fromkeys((*after.texts("compare", "releases"), path))
        written = {**after.mapping(NAME, "written"), path: options}
        under = {**after.mapping(NAME, "under"), path: made_under}
        return after.put(NAME, written=written, under=under).put(
            "compare", releases=tuple(releases)
        )

    argv = (*protect_command(seen), "-o", path, *replacing(path))
    known = protect_command(taken)
    refusal = refusal_to_replace(form, path)
    return Action(argv=argv, then=then, accepted=(0,), kept=taken, known_by=known, refusal=refusal)


def status(view: View) -> tuple[str, str]:
    """Whether the release meets the policy and is written as it is shown."""
    texts = view.texts
    choices = view.choices
    known = has_roles(choices) and has_policy(choices)
    release = view.get(protect_command(choices)) if known else None
    ages, current = _written(view).values() if known else ({}, "")
    overview = None if release is None else Overview.from_dict(release)
    state = OPEN if overview is None else STATES[state_of(overview.policy)]
    if state == MET and current:
        return MET, texts("workbench.protect.status_written", name=Path(current).name)
    if ages and (state == MET or (state == OPEN and BEFORE in ages.values())):
        return DOUBTFUL, texts("workbench.protect.status_old")
    if overview is None:
        return OPEN, texts("workbench.protect.status_open")
    if state == MET:
        return OPEN, texts("workbench.protect.status_no_file")
    limits = own_limits(overview.policy, budget=overview.budget)
    met = sum(limit.met is True for limit in limits)
    return state, texts("workbench.protect.status", met=met, number=len(limits))


# -- how columns become coarser and what is minimised: hierarchies, the loss, weights of columns ---


def with_recoding_settings(choices: Choices, form: Form) -> Choices:
    """The choices with the hierarchies, the loss and the weights of a form, if it has them."""
    hierarchies = dict(choices.mapping(NAME, "hierarchies"))
    for column, text in form.beginning("hierarchy:").items():
        if text != hierarchies.get(column, ""):
            _check_hierarchy(choices, column, text)
            hierarchies[column] = text
    weights = {
        **choices.mapping(NAME, "weights"),
        **{c: _weight(c, text) for c, text in form.beginning("weight:").items()},
    }
    loss = form.one("loss", choices.text(NAME, "loss"))
    require(loss in ("", *LOSSES), "no such loss", hint=", ".join(LOSSES))
    return choices.put(
        NAME,
        hierarchies={column: text for column, text in hierarchies.items() if text},
        weights={column: text for column, text in weights.items() if text},
        loss="" if loss == LOSSES[0] else loss,
    )


def _check_hierarchy(choices: Choices, column: str, text: str) -> None:
    """Refuse what is neither a rule nor a file of the folder; values are the command's matter."""
    awkward = "=" in column or column.startswith("-")
    require(not awkward, f"{column}: its hierarchy cannot be said here", hint="in the policy")
    if not text or is_generated(text):
        return
    folder = Path(choices.text("load", "folder") or ".").resolve()
    require(
        not text.startswith(PRIVATE) and Path(text).resolve().is_relative_to(folder),
        f"the hierarchy of {column} is no rule, nor a file in the folder of the start or below it",
        hint="interval:5,10,20",
    )
    check_specification(text)


def _weight(column: str, text: str) -> str:
    """A positive number; empty for 1."""
    try:
        weight = float(text.replace(",", ".") or 1)
    except ValueError:
        weight = math.nan
    require(0 < weight < math.inf, f"the weight of {column} is not a positive number", hint="2")
    return "" if weight == 1 else f"{weight:.12g}"


def recoding_context(view: View) -> dict[str, Any]:
    """The settings as the page shows them, or as they were typed if they were refused.

    Columns are those of the roles: a hierarchy that fails can be mended.
    """
    choices = view.choices
    sent = view.sent or Form({})
    proposals = (table_result("hierarchies", view) or {}).get("proposals", {})
    hierarchies, weights = (choices.mapping(NAME, name) for name in ("hierarchies", "weights"))
    columns = [
        {
            "name": column,
            "hierarchy": sent.one(f"hierarchy:{column}", hierarchies.get(column, "")),
            "in_use": proposals.get(column, {}).get("hierarchy", ""),
            "weight": sent.one(f"weight:{column}", weights.get(column, "")),
        }
        for column in known_columns(choices)
    ]
    return {
        "columns": columns,
        "loss": sent.one("loss", choices.text(NAME, "loss")) or LOSSES[0],
        "losses": LOSSES,
        "open": any(choices.of(NAME).get(name) for name in RECODING)
        or any(each["hierarchy"] or each["weight"] not in ("", "1") for each in columns),
    }


PROTECT = Step(
    name=NAME,
    context=context,
    status=status,
    change=change,
    commands=commands,
    act=act,
    settings=SETTINGS,
    files=written_releases,
    further=further,
)
