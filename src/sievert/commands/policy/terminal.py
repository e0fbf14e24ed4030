"""A check of a policy as text: what it lacks, by kind, and what to write."""

from __future__ import annotations

from sievert.commands.policy.result import PolicyCheck
from sievert.formatting import plural, printable, wrap

TITLES = {
    "columns_without_role": "Columns without a role (the policy is not met until each has one)",
    "unknown_columns": "Columns that the table does not have (exit 2)",
    "unknown_measures": "Limits that make no sense for any table (exit 2)",
    "misplaced_limits": "Limits at a place where there is no such number (exit 2)",
    "impossible_limits": "Limits that no release of this table can meet",
    "undecidable_limits": "Limits that cannot be evaluated as it stands",
    "harmless_side": "Limits that bound the harmless side only (undecided)",
    "people_unstated": "Rows that may not be people",
    "no_limits": "No limits (undecided)",
}


def render(check: PolicyCheck, *, width: int = 100) -> str:
    """The whole text."""
    size = f"{plural(check.table['rows'], 'record')}, {plural(check.table['columns'], 'column')}"
    lines = [f"{printable(check.policy)}, held against {printable(check.table['name'])}: {size}"]
    if check.passed:
        lines.append("It lacks nothing for this table. Whether its limits are met: sievert assess.")
    for what, title in TITLES.items():
        gaps = [gap for gap in check.gaps if gap.what == what]
        if gaps:
            lines += ["", title]
        for gap in gaps:
            lines += wrap(printable(gap.text), width, "  ", "    ")
            if gap.suggestion:
                lines += wrap(f"try: {printable(gap.suggestion)}", width, "    ", "      ")
    if check.fixed:
        lines += [
            "",
            "Written into the policy as comments, which change nothing: decide on each of them.",
        ]
    return "\n".join(lines)
