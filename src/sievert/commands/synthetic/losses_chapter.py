"""What synthetic tables have lost, as grids of their chapter: columns, relations and models."""

from collections.abc import Callable

from sievert.commands.synthetic.losses import LossNumbers
from sievert.commands.synthetic.result import AttackedTable
from sievert.report.page import Grid
from sievert.report.parts import ReportPart

# What relations, models and information have lost: the name of each number, and the number.
LOSSES: tuple[tuple[str, Callable[[LossNumbers], float | None]], ...] = (
    ("loss_association", lambda lost: lost.association),
    ("loss_correlation", lambda lost: lost.correlation),
    ("loss_of_largest", lambda lost: lost.of_largest),
    ("loss_prediction", lambda lost: lost.prediction),
    ("loss_entropy", lambda lost: lost.entropy),
    ("loss_information", lambda lost: lost.information),
)


def models_grid(part: ReportPart, table: AttackedTable, *, folded: bool) -> Grid:
    """What relations, models and information have lost, and what chance alone gives."""
    own = table.lost
    sides = _sides(table)
    rows = [
        (part.say(key), *(part.writer.number(number_of(side)) for side in sides))
        for key, number_of in LOSSES
        if number_of(own) is not None
    ]
    return part.grid("losses_table", _heads("head_loss", "head_value", sides), rows, folded=folded)


def columns_grid(part: ReportPart, table: AttackedTable) -> Grid:
    """How far each column is from the original's, the farthest first; what chance alone gives."""
    own = table.lost
    sides = _sides(table)
    share = part.writer.share
    rows = [(part.say("mean_margins"), *(share(side.margins) for side in sides))]
    if own.pairs is not None:
        rows.append((part.say("mean_pairs"), *(share(side.pairs) for side in sides)))
    for column in sorted(own.columns, key=lambda column: -own.columns[column]):
        far = (share(side.columns[column]) for side in sides)
        rows.append((part.writer.name(column), *far))
    heads = _heads("head_secret", "head_far", sides)
    return part.grid("utility_table", heads, rows, folded=True)


def _sides(table: AttackedTable) -> list[LossNumbers]:
    """The numbers of the table; with a control, also the numbers that chance alone gives."""
    chance = table.lost_by_chance
    return [table.lost] if chance is None else [table.lost, chance]


def _heads(name: str, number: str, sides: list[LossNumbers]) -> tuple[str, ...]:
    """The keys of the heads of a table of losses."""
    return (name, number) if len(sides) == 1 else (name, number, "head_by_chance")
