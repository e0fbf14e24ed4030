"""The levels that the page of a release shows, and whether a written file is still of them."""

from sievert.workbench.step import View
from sievert.workbench.step_commands import explain_command, hierarchies_command, protect_command


def shown_levels(view: View) -> dict[str, str]:
    """The level of each column as it is chosen or was found; empty while none is known."""
    choices = view.choices
    release = view.get(protect_command(choices)) or {}
    levels = choices.mapping("protect", "levels") or release.get("levels")
    proposals = (view.get(hierarchies_command(choices)) or {}).get("proposals")
    if not levels or not proposals:
        return {}
    known = release or view.get(explain_command(choices))
    columns = known["roles"]["quasi"] if known else proposals
    most = {column: len(proposals[column]["labels"]) for column in columns}
    return {column: str(min(int(levels.get(column, 0)), most[column])) for column in columns}
