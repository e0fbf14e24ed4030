"""Figures 1 and 2: 10,000 records, and a value that one record has or an equal share of them."""

from __future__ import annotations

from sievert.papers.claims import Claim, PaperPart, number, open_question, statement
from sievert.papers.itpr.common import (
    FALLS,
    RISES,
    Series,
    records,
    series,
)
from sievert.papers.itpr.pictures import draw, text, unit

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
    """Finding a record by a column of so many values, against epsilon."""
    sizes = TWO if values == 2 else TEN
    points = []
    for small in sizes:
        other = (RECORDS - small) // (values - 1)
        column = ["y0"] * small + [f"y{i}" for i in range(1, values) for _ in range(other)]
        points.append(records({"y": column}, "y"))
    return series([epsilon(small, values) for small in sizes], points)


def figure_1(growth: Series) -> PaperPart:
    """Two values, with what section 5.1 says of them."""
    last = {name: values[-1] for name, values in growth.of.items()}
    first = {name: values[0] for name, values in growth.of.items()}
    late = growth.axis.index(epsilon(500, 2))
    claims = [
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
        open_question(
            "ELD increases extremely slowly",
            "extremely slowly",
            "how slow is slow is not said. ELD is 1 divided by the records of the rarer value: it "
            "hardly leaves 0 on most of the axis and reaches 1 at its end",
            f"{text(first['ELD'])} at epsilon 0, {text(growth.of['ELD'][late])} at 9000, "
            f"{text(last['ELD'])} at 9998",
        ),
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
    ]
    return PaperPart(
        "Figure 1: two values, against epsilon",
        "10,000 records and a column of two values. The rarer one grows from a single record to "
        "half of them; epsilon is the difference between the two. The text fixes this figure "
        "wholly.",
        tuple(claims),
        draw(
            "Finding a record by a column of two values",
            growth,
            across=EPSILON,
            below="10,000 records; epsilon is the difference between the numbers of the two values",
            seen="ITPR rises with epsilon from 0.075 to 1; MI and CP fall to 0, DR stays below "
            "0.08, and ELD leaves 0 only at the end.",
            apart="MIL rises too, from 7.1 to 13.3 bits.",
        ),
    )


def figure_2(growth: Series) -> PaperPart:
    """Ten values: the same behaviours, measure by measure."""
    claims = [
        open_question(
            "How many records the other nine values have",
            "10 different values for Y",
            "only the number of values is stated; we let one value grow and the other nine share "
            "the rest evenly, which reaches 0 to 1110",
            f"epsilon {growth.axis[0]:g} to {growth.axis[-1]:g}",
        ),
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
        _same(growth, "DR stays below 0.1", "DR", 0.1, max(growth.of["DR"])),
        _same(growth, "ITPR converges to a very small value", "ITPR", 0.1, growth.of["ITPR"][0]),
    ]
    return PaperPart(
        "Figure 2: ten values, against epsilon",
        "The same with ten values, of which one grows from a single record to an equal share and "
        "the others have equal numbers. The text says that every measure behaves as in figure 1.",
        tuple(claims),
        draw(
            "Finding a record by a column of ten values",
            growth,
            across=EPSILON,
            below="10,000 records; nine values have equal numbers, the tenth is rarer",
            seen="ITPR rises from 0.25 to 1 with epsilon; DR, MI and CP hardly move, and fall.",
            apart="MIL rises from 12.3 to 13.3 bits.",
        ),
    )


def _same(growth: Series, what: str, name: str, below: float, ours: float) -> Claim:
    return statement(
        f"{what}, as with two values",
        "the same behaviour as in figure 1",
        f"{ours:.4f}",
        holds=ours < below,
        why=f"ten equal classes tell log 10 of log {RECORDS:,}, a quarter of what is unknown; "
        f"{name} cannot be small there",
    )


def _goes(growth: Series, name: str, way: str, printed: str) -> Claim:
    """Whether a measure goes as printed while epsilon increases."""
    ours, values = growth.goes(name), growth.of[name]
    return statement(
        f"{name} as epsilon increases",
        printed,
        f"{ours}: {text(values[0])} to {text(values[-1])}{unit(name)}",
        holds=ours == way,
        why="it goes another way",
    )
