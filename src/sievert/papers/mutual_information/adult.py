"""The models on Adult: an experiment the paper does not have, with its measures and model 1."""

from typing import Any

import numpy as np

import sievert
from sievert.papers.claims import Claim, Given, PaperPart, announce, statement
from sievert.papers.given_tables import (
    ADULT,
    GIVE_ADULT,
    HIDDEN,
    Columns,
    read_columns,
    suppress_rare,
)
from sievert.report.page import Grid, Picture

QUASI = ["marital-status", "education"]
SECRET = "occupation"
ALLOWED = (0.02, 0.05, 0.1, 0.2, 0.4)
DRAWN = 0.1
SMALL = 100  # people of a class that is hidden
TITLE = "Model 1 on Adult"
ABOUT = (
    "The paper has no experiment. Here marital-status and education are released, and occupation "
    "is secret; the distortion is the mean share of the two values that are changed."
)


@announce("Adult")
def part(given: Given) -> PaperPart:
    """The least that must be told about the occupation, and where plain releases stand."""
    if "adult" not in given.data:
        return PaperPart(TITLE, f"{ABOUT} {GIVE_ADULT}")
    table = read_columns(given.data["adult"], [*QUASI, SECRET], ADULT)
    given.step("Adult, the limit")
    optimum = sievert.randomise(table, QUASI, SECRET, at=list(ALLOWED), seed=given.seed)
    one = sievert.randomise(table, QUASI, SECRET, at=DRAWN, seed=given.seed)
    given.step("Adult, plain releases")
    compared = sievert.compare(table, releases(table), QUASI, SECRET, shuffles=0, limit=True)
    return PaperPart(
        title=TITLE,
        about=f"{ABOUT} {len(table[SECRET]):,} records.",
        claims=(_curve(optimum), _kept_claim(one), *_distance_claims(compared)),
        blocks=(_picture(compared), _least(optimum)),
    )


def releases(table: Columns) -> dict[str, Columns]:
    """Plain protections: a column hidden, or the key of people in small classes."""
    hidden = [HIDDEN] * len(table[SECRET])
    return {
        "marital-status hidden": {**table, QUASI[0]: hidden},
        "education hidden": {**table, QUASI[1]: hidden},
        f"classes below {SMALL} hidden": suppress_rare(table, QUASI, SMALL),
    }


def _curve(optimum: Any) -> Claim:
    (part,) = optimum.parts
    whole = part.information.value
    risks = [p.objective for p in part.points if p.objective is not None]
    slopes = np.diff([whole, *risks]) / np.diff([0.0, *ALLOWED])
    return statement(
        "R(D) falls and is convex",
        "falls, convex",
        f"{whole:.4f} bits at 0, {risks[-1]:.4f} at {ALLOWED[-1]}",
        holds=bool((slopes < 0).all() and (np.diff(slopes) > 0).all()),
        why="it does not",
    )


def _least(optimum: Any) -> Grid:
    (part,) = optimum.parts
    return Grid(
        caption=f"The least I(X';Y) of {part.information.value:.4f} bits",
        head=("Distortion", "Least found", "No release is below"),
        rows=tuple(
            (f"{p.at}", f"{p.objective:.4f}", f"{p.bound:.4f}")
            for p in part.points
            if p.objective is not None
        ),
        right=(0, 1, 2),
    )


def _kept_claim(one: Any) -> Claim:
    (part,) = one.parts
    low, high = part.promise.risk_range
    return statement(
        f"A release drawn from the optimal channel keeps the promise, D = {DRAWN}",
        f"{low:.4f} to {high:.4f} bits in 95 of 100 releases",
        f"{part.achieved.risk.value:.4f} bits, distortion {part.achieved.distortion:.4f}",
        holds=bool(one.inside),
        why="this draw is one of the five of 100, or the channel does not do as promised",
    )


def _distance_claims(compared: Any) -> list[Claim]:
    limits = {r.name: r.limit[SECRET] for r in compared.releases}
    whole = compared.limits[SECRET].information
    return [
        statement(
            "I(X;Y) - I(X';Y) >= 0 (lemma 1)",
            ">= 0",
            ", ".join(f"{name} {whole - p.disclosed:.4f}" for name, p in limits.items()),
            holds=all(whole >= p.disclosed - 1e-9 for p in limits.values()),
            why="a negative loss",
        ),
        statement(
            "No release tells less than R(D) at its distortion",
            ">= R(D)",
            "; ".join(
                f"{name} {p.disclosed:.4f}, least {p.bound:.4f}" for name, p in limits.items()
            ),
            holds=all(p.disclosed >= p.bound - 1e-9 for p in limits.values()),
            why="a release is below the bound",
        ),
    ]


def _picture(compared: Any) -> Picture:
    curve = [("the best there is", p.at, p.objective) for p in compared.limits[SECRET].points]
    dots = [
        (r.name, r.limit[SECRET].distortion, r.limit[SECRET].disclosed) for r in compared.releases
    ]
    return Picture(
        spec=compared.charts()[f"limit_{SECRET}"],
        caption="A plain release stands above the curve by what the best one, as distorted, "
        "need not tell.",
        behind=Grid(
            caption="What is told of the occupation",
            head=("Release", "Distortion", "Bits"),
            rows=tuple(
                (n, f"{d:.4f}", f"{r:.4f}")
                for n, d, r in [*dots, *curve[:: max(1, -(-len(curve) // 20))]]
            ),
            right=(1, 2),
        ),
    )
