"""Figure 5: ITPR over epsilon and theta."""

from __future__ import annotations

from sievert import charts
from sievert.papers.claims import PaperPart, open_question, statement
from sievert.papers.itpr.common import RISES, THETA, Numbers, direction
from sievert.papers.itpr.pictures import text
from sievert.report.page import Grid, Picture

LINES = (0, 400, 800, 1200)


def figure_5(points: dict[int, list[Numbers]]) -> PaperPart:
    """Ten ages, twenty diseases; one age grows, another drifts."""
    itpr = {epsilon: [point["ITPR"] for point in points] for epsilon, points in points.items()}
    levels = list(zip(*itpr.values(), strict=True))
    last = max(itpr)
    claims = (
        open_question(
            "How epsilon and theta grow",
            "epsilon 0 to 1200, theta 0 to 0.9",
            "which ages have more records and which one drifts is not stated. One age that shrinks "
            "cannot be meant: with a record left against 1,111 each it reaches 1110. We let one "
            "age grow to 2,080 records and drift one of the nine others",
            f"epsilon 0 to {last}, theta 0 to {points[last][-1][THETA]:.2f}",
        ),
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
    )
    return PaperPart(
        "Figure 5: ITPR over epsilon and theta",
        "10,000 records, ten ages and twenty diseases. The text calls the result figure 3; it is "
        "figure 5. Note what the left end shows: at theta 0 the disease does not depend on the age "
        "at all, and ITPR still rises with epsilon.",
        claims,
        (_picture(points),),
    )


def _picture(points: dict[int, list[Numbers]]) -> Picture:
    lines_by_epsilon = {
        f"epsilon {epsilon:,}": [(point[THETA], point["ITPR"]) for point in points[epsilon]]
        for epsilon in LINES
    }
    spec = charts.lines(
        "ITPR over epsilon and theta",
        ["10,000 records; one age has epsilon more records than the others, another one drifts"],
        lines_by_epsilon,
        across="theta, bits",
        up="ITPR",
    )
    rows = tuple(
        (
            f"{step / 10:.1f}",
            *(text(points[step]["ITPR"]) for points in points.values()),
        )
        for step in range(len(points[0]))
    )
    grid = Grid(
        "ITPR by theta (down, rounded) and epsilon (across)",
        ("theta", *(f"{epsilon:,}" for epsilon in points)),
        rows,
        right=tuple(range(len(points) + 1)),
        folded=True,
    )
    return Picture(
        spec, "ITPR rises with theta along each line, and with epsilon from line to line.", grid
    )
