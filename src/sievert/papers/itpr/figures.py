"""Figures 1, 2, 5 and 6: finding a record, ITPR over epsilon and theta, times and records."""

import statistics
from math import isfinite, log10
from pathlib import Path
from typing import Any

from sievert import charts
from sievert.errors import InputError, require
from sievert.files import read_json
from sievert.papers.claims import Claim, Given, PaperPart, number, open_question, statement
from sievert.papers.itpr.cases import (
    FALLS,
    RISES,
    SLOW,
    THETA,
    Numbers,
    Series,
    direction,
    draw,
    hardly_moves,
    records,
    series,
    text,
    unit,
)
from sievert.report.page import Grid, Picture

RECORDS = 10_000
# Records with the growing value. With ten values the other nine share the rest evenly, so the
# number must be one more than a multiple of nine.
TWO = (1, 2, 5, 10, 20, 50, 100, 200, *range(500, 5001, 500))
TEN = (1, 10, 37, 100, *range(199, 1000, 99), 1000)
EPSILON = "epsilon, records"


def epsilon(small: int, values: int) -> int:
    """Largest difference between the numbers of records of two values (equation 11).

    >>> epsilon(1, 2), epsilon(1000, 10)
    (9998, 0)
    """
    return (RECORDS - small) // (values - 1) - small


def growing(values: int) -> Series:
    """The chance of finding a record by a column of `values` values, against epsilon."""
    sizes = {small: (RECORDS - small) // (values - 1) for small in (TWO if values == 2 else TEN)}
    columns = (
        ["y0"] * small + [f"y{i}" for i in range(1, values) for _ in range(other)]
        for small, other in sizes.items()
    )
    points = [records({"y": column}, "y") for column in columns]
    return series([epsilon(small, values) for small in sizes], points)


def figure_1(growth: Series) -> PaperPart:
    """Two values, with what section 5.1 says of them."""
    first, last = ({name: v[end] for name, v in growth.of.items()} for end in (0, -1))
    return PaperPart(
        title="Figure 1: two values, against epsilon",
        about="10,000 records and a column of two values. The rarer one grows from a single record "
        "to half of them; epsilon is the difference between the two. The text fixes this figure "
        f"wholly. It has no threshold for extremely slowly; ours is less than {100 * SLOW:g} % of "
        "the range over the first nine tenths of the axis, which no eye sees in a chart.",
        claims=(
            number("epsilon with 1 and 9,999 records", "9998", growth.axis[-1]),
            number("ITPR at epsilon 9998", "1", last["ITPR"]),
            number("ITPR at epsilon 0", "0.07", first["ITPR"]),
            _goes(growth, "ITPR", RISES, "diminishes smoothly while epsilon decreases"),
            statement(
                "DR is small throughout",
                "below 0.1",
                f"at most {max(growth.of['DR']):.4f}",
                holds=max(growth.of["DR"]) < 0.1,
                why="it goes higher",
            ),
            _goes(growth, "MI", FALLS, "increases towards equal numbers of records"),
            _goes(growth, "CP", FALLS, "increases towards equal numbers of records"),
            _goes(growth, "ELD", RISES, "increases as epsilon increases"),
            hardly_moves(growth, "ELD increases extremely slowly"),
            _goes(growth, "MIL", RISES, "increases as epsilon increases"),
            number("MIL, least", "7", min(growth.of["MIL"])),
            number("MIL, most", "13", max(growth.of["MIL"])),
            statement(
                "ITPR is lowest for equal numbers and highest for a value of few records",
                "lower risk when equal, higher when rare",
                f"{text(first['ITPR'])} and {text(last['ITPR'])}",
                holds=first["ITPR"] == min(growth.of["ITPR"])
                and last["ITPR"] == max(growth.of["ITPR"]),
                why="the ends are not the extremes",
            ),
        ),
        blocks=draw(
            "Finding a record by a column of two values",
            growth,
            across=EPSILON,
            below="10,000 records; epsilon is the difference between the numbers of the two values",
            seen="ITPR rises with epsilon from 0.075 to 1; MI and CP fall to 0, DR stays below "
            "0.08, and ELD leaves 0 only at the end.",
            apart="MIL rises too, from 7.1 to 13.3 bits.",
        ),
    )


def figure_2(growth: Series, two: Series) -> PaperPart:
    """Ten values: the same behaviours, measure by measure."""
    return PaperPart(
        title="Figure 2: ten values, against epsilon",
        about="The same with ten values, of which one grows from a single record to an equal share "
        "and the others have equal numbers, which reaches an epsilon of 0 to 1110; the text states "
        "the number of values only. It says that every measure behaves as in figure 1: which way "
        "it goes is compared, not its values, since ten equal classes tell log 10 of log 10,000.",
        claims=(
            *(
                _goes(growth, name, way, f"the same behaviour as in figure 1: {words}")
                for name, way, words in (
                    ("ITPR", RISES, "diminishes while epsilon decreases"),
                    ("MI", FALLS, "increases towards equal numbers"),
                    ("CP", FALLS, "increases towards equal numbers"),
                    ("ELD", RISES, "increases with epsilon"),
                    ("MIL", RISES, "increases with epsilon"),
                )
            ),
            *(
                statement(
                    f"{name} has its {'least' if way == RISES else 'largest'} value at equal "
                    "numbers, as with two values",
                    "the same behaviour as in figure 1",
                    f"{text(growth.of[name][0])} at epsilon 0",
                    holds=two.goes(name) == growth.goes(name) == way,
                    why="it goes another way than with two values",
                )
                for name, way in (("DR", FALLS), ("ITPR", RISES))
            ),
        ),
        blocks=draw(
            "Finding a record by a column of ten values",
            growth,
            across=EPSILON,
            below="10,000 records; nine values have equal numbers, the tenth is rarer",
            seen="ITPR rises from 0.25 to 1 with epsilon; DR, MI and CP hardly move, and fall.",
            apart="MIL rises from 12.3 to 13.3 bits.",
        ),
    )


def _goes(growth: Series, name: str, way: str, printed: str) -> Claim:
    """Whether a measure goes as printed while epsilon increases."""
    ours = growth.goes(name)
    values = growth.of[name]
    return statement(
        f"{name} as epsilon increases",
        printed,
        f"{ours}: {text(values[0])} to {text(values[-1])}{unit(name)}",
        holds=ours == way,
        why="it goes another way",
    )


LINES = (0, 400, 800, 1200)


def figure_5(points: dict[int, list[Numbers]]) -> PaperPart:
    """Ten ages, twenty diseases; one age grows, another drifts."""
    itpr = {epsilon: [point["ITPR"] for point in points] for epsilon, points in points.items()}
    levels = list(zip(*itpr.values(), strict=True))
    last = max(itpr)
    return PaperPart(
        title="Figure 5: ITPR over epsilon and theta",
        about="10,000 records, ten ages and twenty diseases. The text calls the result figure 3; "
        "it is figure 5. Note what the left end shows: at theta 0 the disease does not depend on "
        "the age at all, and ITPR still rises with epsilon. Which ages have more records and which "
        "one drifts is not stated; one age that shrinks cannot be meant: with a record left "
        "against 1,111 each it reaches 1110. Here one age grows to 2,080 records, and one of the "
        f"nine others drifts: epsilon 0 to {last}, theta 0 to {points[last][-1][THETA]:.2f}.",
        claims=(
            statement(
                "ITPR increases with epsilon",
                "increases smoothly",
                f"at theta 0: {text(levels[0][0])} to {text(levels[0][-1])}; at theta 0.9: "
                f"{text(levels[-1][0])} to {text(levels[-1][-1])}",
                holds=all(direction(level) == RISES for level in levels),
                why="it does not rise everywhere",
            ),
            statement(
                "ITPR increases with theta",
                "increases smoothly",
                f"at epsilon 0: {text(itpr[0][0])} to {text(itpr[0][-1])}; at epsilon {last}: "
                f"{text(itpr[last][0])} to {text(itpr[last][-1])}",
                holds=all(direction(values) == RISES for values in itpr.values()),
                why="it does not rise everywhere",
            ),
        ),
        blocks=(_surface_picture(points),),
    )


def _surface_picture(points: dict[int, list[Numbers]]) -> Picture:
    return Picture(
        spec=charts.lines(
            "ITPR over epsilon and theta",
            [
                "10,000 records; one age has epsilon more records than the others, another one "
                "drifts"
            ],
            {
                f"epsilon {epsilon:,}": [(point[THETA], point["ITPR"]) for point in points[epsilon]]
                for epsilon in LINES
            },
            across="theta, bits",
            up="ITPR",
        ),
        caption="ITPR rises with theta along each line, and with epsilon from line to line.",
        behind=Grid(
            caption="ITPR by theta (down, rounded) and epsilon (across)",
            head=("theta", *(f"{epsilon:,}" for epsilon in points)),
            rows=tuple(
                (f"{step / 10:.1f}", *(text(line[step]["ITPR"]) for line in points.values()))
                for step in range(len(points[0]))
            ),
            right=tuple(range(len(points) + 1)),
            folded=True,
        ),
    )


HINT = "a file that python -m bench growth or python -m bench scale has kept"
PAPER = ((10**5, 1.0), (10**9, 19.0))
OURS = "sievert, every measure"

Times = list[tuple[int, float]]  # records, seconds


def figure_6(given: Given) -> PaperPart:
    """What the text prints of the figure, and our own times if they are given."""
    times = read_times(given.data["timings"]) if "timings" in given.data else []
    return PaperPart(
        title="Figure 6: time against records",
        about="A run of this page measures no times. Its times come from the benchmarks: python -m "
        "bench growth keeps a file of seconds against records, which --data timings=FILE draws "
        "here. The paper's 19 seconds for 10^9 records on 100 workers are 526,316 records a second "
        "and worker.",
        claims=(
            *(_seconds(*each, dict(times)) for each in PAPER),
            number("Orders of magnitude of the records", "4", log10(PAPER[1][0] / PAPER[0][0])),
            number("Orders of magnitude of the time", "1", log10(PAPER[1][1] / PAPER[0][1])),
            *([_grows(times)] if len(times) > 1 else ()),
        ),
        blocks=(_times_picture(times),) if times else (),
    )


def _seconds(records: int, seconds: float, measured: dict[int, float]) -> Claim:
    """A time of the paper's cluster; ours on this machine, where the file has one."""
    what = f"Seconds for 10^{round(log10(records))} records"
    ours = measured.get(records)
    if ours is not None and ours <= seconds:
        return statement(f"{what}, at most", f"{seconds:g}", f"{text(ours)} s", holds=True)
    return open_question(
        what,
        f"{seconds:g}",
        "a time of a cluster (four nodes, 100 workers) of which neither the machines nor the table "
        "are published",
        "-" if ours is None else f"{text(ours)} s here",
    )


def _grows(times: Times) -> Claim:
    least, fast = times[0]
    most, slow = times[-1]
    records = log10(most / least)
    seconds = log10(slow / fast)
    return statement(
        "Time grows by fewer orders of magnitude than the records",
        "1 order for 4",
        f"{seconds:.2f} for {records:.2f}, measured",
        holds=seconds < records,
        why="the times given grow as fast as the records or faster",
    )


def _times_picture(times: Times) -> Picture:
    spec = charts.lines(
        "Time against records",
        ["Every measure of a generated table; the paper: ITPR on 100 workers"],
        {
            "measured here": [(log10(records), seconds) for records, seconds in times],
            "the paper, as stated": [(log10(records), seconds) for records, seconds in PAPER],
        },
        across="Records, as a power of ten",
        up="Seconds",
    )
    rows = tuple((f"{records:,}", text(seconds)) for records, seconds in times)
    grid = Grid(
        caption="The measured times",
        head=("Records", "Seconds"),
        rows=rows,
        right=(0, 1),
        folded=True,
    )
    return Picture(
        spec=spec,
        caption="Seconds against the records; the paper states two times only.",
        behind=grid,
    )


def read_times(path: str) -> Times:
    """Records and seconds of a file that the benchmarks wrote, fewest records first."""
    name = Path(path).name
    document = read_json(path, HINT)
    try:
        times = sorted(_times(document))
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise InputError(f"{name} has no times against records", hint=HINT) from error
    require(
        times and all((n > 0 and t > 0 and isfinite(t) for n, t in times)),
        f"{name} has no times against records",
        hint=HINT,
        error=InputError,
    )
    return times


def _times(document: Any) -> Times:
    if "by_rows" in document:
        return [(int(cell["rows"]), float(cell["wall"])) for cell in document["by_rows"]]
    one = document["billion"]
    walls = [float(sample["wall"]) for sample in one["samples"][OURS]]
    return [(int(one["rows"]), statistics.median(walls))]
