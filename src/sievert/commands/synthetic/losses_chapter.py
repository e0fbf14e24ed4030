"""What synthetic tables have lost, as grids of their chapter: columns, relations and models."""

from sievert.report.page import Grid
from sievert.report.parts import Data, ReportPart

# The numbers of what relations, models and information have lost: their names in a table.
LOSSES = {
    "association": "loss_association",
    "correlation": "loss_correlation",
    "of_largest": "loss_of_largest",
    "prediction": "loss_prediction",
    "entropy": "loss_entropy",
    "information": "loss_information",
}


def models_grid(part: ReportPart, table: Data, *, folded: bool) -> Grid:
    """What relations, models and information have lost, and what chance alone gives."""
    own, other = table["utility"], table["utility"]["control"]
    sides = [own] if other is None else [own, other]
    rows = [
        (part.say(key), *(part.writer.number(loss_of(side, name)) for side in sides))
        for name, key in LOSSES.items()
        if loss_of(own, name) is not None
    ]
    heads = ("head_loss", "head_value", *(("head_by_chance",) if other else ()))
    return part.grid("losses_table", heads, rows, folded=folded)


def loss_of(utility: Data, name: str) -> float | None:
    """One number of what was lost."""
    if name == "of_largest":
        return float(utility["propensity"][name])
    value = utility[name]
    if isinstance(value, dict):
        value = value["loss" if name == "prediction" else "difference"]
    return None if value is None else float(value)


def columns_grid(part: ReportPart, table: Data) -> Grid:
    """How far each column is from the original's, the farthest first; what chance alone gives."""
    own, other = table["utility"], table["utility"]["control"]
    rows = [(part.say("mean_margins"), own["margins"], other and other["margins"])]
    if own["pairs"] is not None:
        rows.append((part.say("mean_pairs"), own["pairs"], other and other["pairs"]))
    order = sorted(own["columns"].items(), key=lambda each: -each[1])
    rows += [(part.writer.name(c), far, other and other["columns"][c]) for c, far in order]
    heads = ("head_secret", "head_far", *(("head_by_chance",) if other else ()))
    shown = [
        (name, *(part.writer.share(x) for x in (far, chance) if x is not None))
        for name, far, chance in rows
    ]
    return part.grid("utility_table", heads, shown, folded=True)
