"""How near an outsider comes to a secret number: H(eps) of the classes and of the table."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sievert.commands.assess.result import Assessment
from sievert.formatting import significant
from sievert.report.page import Grid, Picture, make_grid
from sievert.report.parts import ReportPart

MOST_BEHIND = 25  # rows of a table behind a curve
HEADS = ("near_line", "near_initial_entropy", "near_area", "near_range")


@dataclass(frozen=True, kw_only=True)
class NearCurve:
    """How near somebody comes to a number who knows a class, or the table only."""

    initial_entropy: float | None  # bits left to guess
    area: float | None  # below H(epsilon)
    range: float | None  # that the numbers left lie within
    steps: Sequence[tuple[float, float]]  # of the curve; a saved result has none

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "NearCurve":
        """Read one curve of the chapter."""
        return cls(
            initial_entropy=data.get("initial_entropy"),
            area=data.get("area"),
            range=data.get("range"),
            steps=data.get("steps", ()),
        )

    @property
    def numbers(self) -> tuple[str, ...]:
        """What stands below the heads of the table; nothing where there is no number."""
        numbers = (self.initial_entropy, self.area, self.range)
        return tuple("" if number is None else significant(number) for number in numbers)


@dataclass(frozen=True, kw_only=True)
class NearCurves:
    """The curves of a secret number: of the worst class, of all on average, of the table."""

    worst: NearCurve
    mean: NearCurve
    table: NearCurve

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "NearCurves":
        """Read the chapter of one secret."""
        return cls(
            worst=NearCurve.from_dict(data["worst"]),
            mean=NearCurve.from_dict(data["mean"]["records"]),
            table=NearCurve.from_dict(data["table"]),
        )


def _table(part: ReportPart, secret: str, near: NearCurves) -> Grid:
    """Bits left to guess, and how far apart the numbers left are: of classes and of the table."""
    rows = (
        (part.say("near_worst"), *near.worst.numbers),
        (part.say("near_mean"), *near.mean.numbers),
        (part.say("near_table"), *near.table.numbers),
    )
    return part.grid("near", HEADS, rows, secret=part.writer.name(secret))


def near_numbers(part: ReportPart, secret: str) -> Iterator[Grid | Picture]:
    """H(eps) of a secret number: windows may be values, so only for the operator."""
    given = part.read(Assessment).approximate.get(secret)
    near = None if given is None else NearCurves.from_dict(given)
    if near is None or not near.table.steps:
        return
    from sievert.charts.curves import close_stairs, lines

    yield _table(part, secret, near)
    stairs = close_stairs(
        {
            part.say("near_table"): near.table.steps,
            part.say("near_worst"): near.worst.steps,
        }
    )
    across = part.say("near_across")
    title = part.say("near", secret=part.writer.name(secret))
    up = part.texts("units.bits")
    rows = (
        (name, significant(x), significant(y))
        for name, steps in stairs.items()
        for x, y in steps[:: max(1, len(steps) // MOST_BEHIND)]
    )
    grid = make_grid(part.say("behind"), (part.say("near_line"), across, up), rows)
    below = (part.say("near_below"),)
    spec = lines(title, below, stairs, across=across, up=up, stair=True)
    yield Picture(
        spec=spec, caption=part.say("near_caption"), behind=grid, name=("approximate", secret)
    )
