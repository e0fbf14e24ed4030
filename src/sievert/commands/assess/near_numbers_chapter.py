"""How near an outsider comes to a secret number: H(eps) of the classes and of the table."""

from collections.abc import Iterator

from sievert.formatting import significant
from sievert.report.page import Grid, Picture, make_grid
from sievert.report.parts import Data, ReportPart

MOST_BEHIND = 25  # rows of a table behind a curve


def _table(part: ReportPart, secret: str, near: Data) -> Grid:
    """Bits left to guess, and how far apart the numbers left are: of classes and of the table."""
    sides = {"worst": near["worst"], "mean": near["mean"]["records"], "table": near["table"]}
    names = ("initial_entropy", "area", "range")
    rows = (
        (part.say(f"near_{key}"), *(significant(n[m]) if m in n else "" for m in names))
        for key, n in sides.items()
    )
    head = (f"near_{name}" for name in ("line", *names))
    return part.grid("near", head, rows, secret=part.writer.name(secret))


def near_numbers(part: ReportPart, secret: str) -> Iterator[Grid | Picture]:
    """H(eps) of a secret number: windows may be values, so only for the operator."""
    near = getattr(part.result, "approximate", {}).get(secret)
    if near is None:
        return
    from sievert.charts.curves import close_stairs, lines

    yield _table(part, secret, near)
    stairs = close_stairs({part.say(f"near_{w}"): near[w]["steps"] for w in ("table", "worst")})
    line, across, below, caption = part.texts.each(
        "assessed.near", ("line", "across", "below", "caption")
    )
    title, up = part.say("near", secret=part.writer.name(secret)), part.texts("units.bits")
    rows = (
        (name, significant(x), significant(y))
        for name, steps in stairs.items()
        for x, y in steps[:: max(1, len(steps) // MOST_BEHIND)]
    )
    grid = make_grid(part.say("behind"), (line, across, up), rows)
    yield Picture(lines(title, (below,), stairs, across=across, up=up, stair=True), caption, grid)
