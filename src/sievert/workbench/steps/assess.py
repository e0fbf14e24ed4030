"""The step Assess: the decision page of the table as it is, and ways that would help."""

from typing import Any

from sievert.report.first_screen import PLANNED, held_columns
from sievert.report.limits import STATES, is_plan, limits_of, own_limits, state_of
from sievert.report.overview import Overview
from sievert.report.page import OptionCards, walk
from sievert.workbench.choices import Choices
from sievert.workbench.level_names import level_of, levels_text
from sievert.workbench.result_pages import page_of, rendered
from sievert.workbench.step import MET, OPEN, Argv, Step, View
from sievert.workbench.step_commands import (
    has_policy,
    has_roles,
    is_planned,
    table_command,
    table_result,
)

NAME = "assess"


def commands(choices: Choices) -> tuple[Argv, ...]:
    """The assessment, and the levels of the columns for the ways that would help."""
    if not has_roles(choices):
        return ()
    more = (table_command("hierarchies", choices),) if has_policy(choices) else ()
    return (table_command("assess", choices), *more)


def context(view: View) -> dict[str, Any]:
    """The page's blocks, and the ways that can be taken to the next step."""
    if not has_roles(view.choices):
        return {"need": "roles", "plan": False}
    result = table_result("assess", view)
    plan = is_planned(view.choices)
    if result is None:
        return {"need": "", "plan": plan}
    return {"need": "", "plan": plan, **rendered(result, view.texts), "ways": _ways(view, result)}


def _ways(view: View, result: Any) -> list[dict[str, str]]:
    """The options of the assessment as levels of columns, where they can be said so."""
    proposals = (table_result("hierarchies", view) or {}).get("proposals")
    page = page_of(result, view.texts)
    cards = next((b for b in walk(page.front) if isinstance(b, OptionCards)), None)
    if not proposals or cards is None:
        return []
    ways = []
    for way, card in zip(result["options"]["ways"], cards.items, strict=True):
        levels = {c["column"]: level_of(proposals[c["column"]], c["how"]) for c in way["changes"]}
        if levels and None not in levels.values():
            ways.append({"title": card.title, "state": card.state, "take": levels_text(levels)})
    return ways


def status(view: View) -> tuple[str, str]:
    """Whether the policy is met, of the file or as a plan; without one, nothing is decided."""
    result = table_result("assess", view)
    overview = None if result is None else Overview.from_dict(result)
    if overview is None or not limits_of(overview.policy):
        key = "status_open" if result is None else "status_no_policy"
        return OPEN, view.texts(f"workbench.assess.{key}")
    state = STATES[state_of(overview.policy)]
    forbidden_columns = held_columns(overview.policy)
    if forbidden_columns:
        columns = view.texts.number_of(len(forbidden_columns), "column")
        return state, view.texts("workbench.assess.status_holds", columns=columns)
    number = sum(
        STATES[limit.met] == state for limit in own_limits(overview.policy, budget=overview.budget)
    )
    if state == MET and is_plan(overview.policy):
        return PLANNED, view.texts("workbench.assess.status_planned", number=number)
    return state, view.texts(f"workbench.assess.status_{state}", number=number)


ASSESS = Step(
    name=NAME, context=context, status=status, commands=commands
)  # ways are taken to the step Protect
