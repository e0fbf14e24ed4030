"""The step Explain: which columns are to blame, and changes that can be tried at once."""

from typing import Any

from sievert.formatting.recognition import recognise
from sievert.report.parts import ReportPart
from sievert.workbench.choices import Choices
from sievert.workbench.level_names import level_of, levels_text
from sievert.workbench.result_pages import part_of, rendered
from sievert.workbench.step import MET, OPEN, Argv, Step, View
from sievert.workbench.step_commands import has_roles, table_command, table_result

NAME = "explain"
MOST_OPEN = 8  # changes that are not folded
MOST_NAMED = 2  # columns on the rail
WITHOUT = "left out"


def commands(choices: Choices) -> tuple[Argv, ...]:
    """The explanation, and the levels of the columns for its buttons."""
    if not has_roles(choices):
        return ()
    return table_command("explain", choices), table_command("hierarchies", choices)


def context(view: View) -> dict[str, Any]:
    """The page's blocks, and every change that was measured with its button."""
    if not has_roles(view.choices):
        return {"need": "roles"}
    result = table_result("explain", view)
    if result is None:
        return {"need": ""}
    changes = _changes(view, result)
    return {
        "need": "",
        **rendered(result, view.texts),
        "changes": changes[:MOST_OPEN],
        "more": changes[MOST_OPEN:],
        "now": part_of(result, view.texts).writer.count(
            _unique_count(result["subsets"]["list"][-1])
        )
        if result.get("subsets", {}).get("complete")
        else "",
        "levels": view.choices.mapping("protect", "levels"),
    }


def _unique_count(measured: Any) -> int:
    return int(measured["reidentification"]["unique_count"] or 0)


def _changes(view: View, result: Any) -> list[dict[str, Any]]:
    """Changes of one column, the one that leaves fewest people alone first."""
    proposals = (table_result("hierarchies", view) or {}).get("proposals", {})
    part = part_of(result, view.texts)
    changes = []
    for column, about in result.get("columns", {}).items():
        ways = [(each["coarsened"][0]["how"], each) for each in about.get("coarser") or ()]
        if len(result["roles"]["quasi"]) > 1:
            ways.append((WITHOUT, about["without"]))
        for how, measured in ways:
            level = level_of(proposals[column], how) if column in proposals else None
            changes.append((_unique_count(measured), _row(part, column, how, measured, level)))
    return [row for _, row in sorted(changes, key=lambda each: each[0])]


def _row(
    part: ReportPart, column: str, how: str, measured: Any, level: int | None
) -> dict[str, Any]:
    name = part.writer.name(column)
    of = measured["reidentification"]
    without = part.texts("options.without", columns=name)
    words = without if how == WITHOUT else f"{name} {part.texts.remark(recognise(how))}"
    return {
        "words": words[:1].upper() + words[1:],
        "alone": part.writer.count(of["unique_count"]),
        "share": part.writer.share(of["unique_records"]),
        "smallest": part.writer.count(of["k_anonymity"]),
        "column": column,
        "level": level,
        "take": None if level is None else levels_text({column: level}),
    }


def status(view: View) -> tuple[str, str]:
    """The columns that tell people apart best."""
    result = table_result("explain", view)
    if result is None:
        return OPEN, view.texts("workbench.explain.status_open")
    shares = column_shares(result)
    ranked = sorted(shares, key=lambda column: -shares[column])[:MOST_NAMED]
    return MET, ", ".join(map(part_of(result, view.texts).writer.name, ranked))


def column_shares(result: Any) -> dict[str, float]:
    """The share of the people alone that each column is to blame for; empty where there is none."""
    shapley = result.get("shapley", {}).get("reidentification", {})
    columns = shapley.get("unique_count", {}).get("columns") or {}
    return {c: about["share"] for c, about in columns.items() if about["share"] is not None}


EXPLAIN = Step(
    name=NAME, context=context, status=status, commands=commands
)  # changes are taken to the step Protect
