"""Figure 1: the curve of the least risk, and a price of the distortion as its tangent."""

from __future__ import annotations

import math

import numpy as np

import sievert
from sievert.charts import lines
from sievert.papers.claims import Given, PaperPart, open_question, statement
from sievert.papers.mutual_information.common import PATIENTS, normal
from sievert.report.page import Grid, Picture
from sievert.tradeoff.gaussian import Pair, gaussian_limit

RHO = 0.8
TOUCHED = 0.25  # where the line of a constant sum touches the curve
SHARES = tuple(i / 20 for i in range(21))
COARSE = (0.1, 0.25, 0.4, 0.55, 0.7, 0.85)
NEAR = 5e-3  # bits between the curve and a table of 41 by 31 intervals
Points = list[tuple[float, float]]


def least_risk(rho: float, share: float) -> float:
    """R_inf as it is printed, in bits."""
    return -0.5 * math.log2(1 - (1 - share) * rho**2)


def figure_1(given: Given) -> PaperPart:
    """The drawing has no numbers; the curve of the closed form is drawn instead."""
    given.step("figure 1")
    pair = Pair.of([[1.0]], [[1.0]], [[RHO]])
    curve = [(d, float(gaussian_limit(pair, model=1, at=d).risk or 0.0)) for d in SHARES]
    optima = search_optima()
    price = RHO**2 / (2 * math.log(2) * (1 - (1 - TOUCHED) * RHO**2))
    level = least_risk(RHO, TOUCHED) + price * TOUCHED
    sums = [r + price * d for d, r in curve]
    steps = np.diff([r for _, r in curve])
    discrete = [p.objective for p in sievert.limit(PATIENTS, "absolute", at=0.25).curve(12)]
    return PaperPart(
        "Figure 1: risk and loss as a Lagrangian rate-distortion problem",
        "A drawing without axes or numbers. Drawn here: the least I(X';Y) of two Gaussian numbers "
        f"with correlation {RHO}, by the share d of the variance that may be distorted.",
        (
            open_question(
                "the drawn curve",
                "a drawing without numbers",
                "neither the distribution nor the units are given; ours is the closed "
                f"form in bits, rho = {RHO}, d = 0, 0.5, 1",
                ", ".join(f"{curve[i][1]:.4f}" for i in (0, 10, 20)),
            ),
            statement(
                "The curve falls: more loss allows less risk",
                "falls",
                f"from {curve[0][1]:.4f} to {curve[-1][1]:.4f} bits",
                holds=bool((steps < 0).all()),
                why="it rises somewhere",
            ),
            statement(
                "The curve is convex, so that a price of the loss finds each of its points",
                "Lagrangian",
                f"steps from {steps[0]:.4f} to {steps[-1]:.4f} bits",
                holds=bool((np.diff(steps) > 0).all()),
                why="it is not convex",
            ),
            statement(
                "R + lambda D is least where the line touches the curve",
                "Lagrangian",
                f"least sum {min(sums):.4f} at d = {SHARES[int(np.argmin(sums))]}, the line "
                f"has {level:.4f}",
                holds=math.isclose(min(sums), level, abs_tol=1e-9)
                and SHARES[int(np.argmin(sums))] == TOUCHED,
                why="it is least elsewhere",
            ),
            statement(
                "The curve of a table of counts falls and is convex as well",
                "falls, convex",
                f"the example: from {discrete[0]:.4f} to {discrete[-1]:.4f}",
                holds=bool(
                    (np.diff(discrete) <= 1e-6).all() and (np.diff(discrete, 2) >= -1e-6).all()
                ),
                why="a search ended above the curve",
            ),
        ),
        (_picture(curve, optima, level, price),),
    )


def search_optima() -> Points:
    """Points of the curve by the search for a channel, in a table of 41 by 31 intervals."""
    x, y = np.linspace(-4, 4, 41), np.linspace(-4, 4, 31)
    table = normal(RHO, x, y)
    return [
        (d, sievert.limit(table, "squared", at=d, values=x.tolist(), gap=2e-3).objective)
        for d in COARSE
    ]


def _picture(curve: Points, points: Points, level: float, price: float) -> Picture:
    risk_by_distortion = dict(points)
    end = min(1.0, level / price)
    rows = tuple(
        (
            f"{d:.2f}",
            f"{r:.4f}",
            f"{risk_by_distortion[d]:.4f}" if d in risk_by_distortion else "-",
            f"{level - price * d:.4f}" if d <= end else "-",
        )
        for d, r in curve
    )
    return Picture(
        lines(
            f"The least risk by the loss, two Gaussian numbers with correlation {RHO}",
            ("Below the curve nothing is possible; the line has the same R + lambda D everywhere",),
            {
                "closed form": curve,
                "search in a table": points,
                "R + lambda D": [(0.0, level), (end, level - price * end)],
            },
            across="d, the distortion as a share of Var X",
            up="I(X';Y), bits",
        ),
        f"The straight line touches the curve at d = {TOUCHED}: at that price of the distortion "
        f"this point has the least sum. The points of the search lie on the curve.",
        Grid(
            "Points of the curve",
            ("d", "Closed form", "Search", "R + lambda D"),
            rows,
            right=(0, 1, 2, 3),
        ),
    )
