"""How near an outsider comes to a secret number: H(eps) of the classes and of the table."""

from collections.abc import Iterator

from sievert.formatting import significant
from sievert.report.page import Grid, Picture, make_grid
from sievert.report.parts import Data, ReportPart

MOST_BEHIND = 25  # rows of a table behind a curve
HEADS = {"initial_entropy": "near_initial_entropy", "area": "near_area", "range": "near_range"}


def _table(part: ReportPart, secret: str, near: Data) -> Grid:
    """Bits left to guess, and how far apart the numbers left are: of classes and of the table."""
    sides = {
        "near_worst": near["worst"],
        "near_mean": near["mean"]["records"],
        "near_table": near["table"],
    }
    rows = (
        (part.say(key), *(significant(numbers[m]) if m in numbers else "" for m in HEADS))
        for key, numbers in sides.items()
    )
    return part.grid("near", ("near_line", *HEADS.values()), rows, secret=part.writer.name(secret))


def near_numbers(part: ReportPart, secret: str) -> Iterator[Grid | Picture]:
    """H(eps) of a secret number: windows may be values, so only for the operator."""
    near = getattr(part.result, "approximate", {}).get(secret)
    if near is None:
        return
    from sievert.charts.curves import close_stairs, lines

    yield _table(part, secret, near)
    stairs = close_stairs(
        {
            part.say("near_table"): near["table"]["steps"],
            part.say("near_worst"): near["worst"]["steps"],
        }
    )
    across = part.say("near_across")
    title, up = part.say("near", secret=part.writer.name(secret)), part.texts("units.bits")
    rows = (
        (name, significant(x), significant(y))
        for name, steps in stairs.items()
        for x, y in steps[:: max(1, len(steps) // MOST_BEHIND)]
    )
    grid = make_grid(part.say("behind"), (part.say("near_line"), across, up), rows)
    below = (part.say("near_below"),)
    spec = lines(title, below, stairs, across=across, up=up, stair=True)
    yield Picture(spec, part.say("near_caption"), grid)
