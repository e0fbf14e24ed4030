"""How columns become coarser and what is minimised: hierarchies, the loss, weights of columns."""

import math
from pathlib import Path
from typing import Any

from sievert.errors import require
from sievert.hierarchies import check_specification, is_generated
from sievert.methods.full_domain import LOSSES
from sievert.workbench.choices import Choices
from sievert.workbench.command_lines import PRIVATE
from sievert.workbench.step import Form, View
from sievert.workbench.step_commands import known_columns, table_result

NAME = "protect"
SETTINGS = ("hierarchies", "loss", "weights")


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
    choices, sent = view.choices, view.sent or Form({})
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
        "open": any(choices.of(NAME).get(name) for name in SETTINGS)
        or any(each["hierarchy"] or each["weight"] not in ("", "1") for each in columns),
    }
