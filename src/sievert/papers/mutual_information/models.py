"""Figure 1 and section 5: the four models of the best trade-off, and model 1's closed form."""

import math

import numpy as np

import sievert
from sievert.charts import lines, tradeoff
from sievert.charts.risk_utility_map import BEST, LEAST, RECODED
from sievert.commands.limit.gaussian_model import Channel, Pair, gaussian_limit, rate_distortion
from sievert.papers.claims import (
    Claim,
    Given,
    PaperPart,
    announce,
    open_question,
    remark,
    statement,
)
from sievert.papers.mutual_information.measures import EXAMPLE, PATIENTS, formula, normal
from sievert.report.page import Grid, Paragraph, Picture

RHO = 0.8
TOUCHED = 0.25  # where the line of a constant sum touches the curve
DISTORTIONS = tuple(i / 20 for i in range(21))
COARSE = (0.1, 0.25, 0.4, 0.55, 0.7, 0.85)
NEAR = 5e-3  # bits between the curve and a table of 41 by 31 intervals
Points = list[tuple[float, float]]


def least_risk(rho: float, share: float) -> float:
    """R_inf as it is printed, in bits."""
    return -0.5 * math.log2(1 - (1 - share) * rho**2)


@announce("figure 1")
def figure_1(given: Given) -> PaperPart:
    """The drawing has no numbers; the curve of the closed form is drawn instead."""
    pair = Pair.of([[1.0]], [[1.0]], [[RHO]])
    curve = [(d, float(gaussian_limit(pair, model=1, at=d).risk or 0.0)) for d in DISTORTIONS]
    price = RHO**2 / (2 * math.log(2) * (1 - (1 - TOUCHED) * RHO**2))
    level = least_risk(RHO, TOUCHED) + price * TOUCHED
    sums = [r + price * d for d, r in curve]
    steps = np.diff([r for _, r in curve])
    discrete = [p.objective for p in sievert.limit(PATIENTS, "absolute", at=0.25).curve(12)]
    return PaperPart(
        title="Figure 1: risk and loss as a Lagrangian rate-distortion problem",
        about="A drawing without axes or numbers. Drawn here: the least I(X';Y) of two Gaussian "
        f"numbers with correlation {RHO}, by the share d of the variance that may be distorted.",
        claims=(
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
                f"least sum {min(sums):.4f} at d = {DISTORTIONS[int(np.argmin(sums))]}, the line "
                f"has {level:.4f}",
                holds=math.isclose(min(sums), level, abs_tol=1e-9)
                and DISTORTIONS[int(np.argmin(sums))] == TOUCHED,
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
        blocks=(_picture(curve, search_optima(), level, price),),
    )


def search_optima() -> Points:
    """Points of the curve by the search for a channel, in a table of 41 by 31 intervals."""
    x = np.linspace(-4, 4, 41)
    y = np.linspace(-4, 4, 31)
    table = normal(RHO, x, y)
    return [
        (d, sievert.limit(table, "squared", at=d, values=x.tolist(), gap=2e-3).objective)
        for d in COARSE
    ]


def _picture(curve: Points, points: Points, level: float, price: float) -> Picture:
    risk_by_distortion = dict(points)
    end = min(1.0, level / price)
    return Picture(
        spec=lines(
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
        caption=f"The straight line touches the curve at d = {TOUCHED}: at that price of "
        f"the distortion "
        f"this point has the least sum. The points of the search lie on the curve.",
        behind=Grid(
            caption="Points of the curve",
            head=("d", "Closed form", "Search", "R + lambda D"),
            rows=tuple(
                (
                    f"{d:.2f}",
                    f"{r:.4f}",
                    f"{risk_by_distortion[d]:.4f}" if d in risk_by_distortion else "-",
                    f"{level - price * d:.4f}" if d <= end else "-",
                )
                for d, r in curve
            ),
            right=(0, 1, 2, 3),
        ),
    )


CORRELATIONS = (0.3, 0.7, 0.95)
SHARES = (0.05, 0.25, 0.5, 0.9)
CLOSE = 1e-4


# -- model 1 --------------------------------------------------------------------------------------


@announce("model 1")
def model_1(given: Given) -> PaperPart:
    """The least risk within a distortion: the printed channel and its risk."""
    return PaperPart(
        title="Section 5.1: model 1",
        about="The least I(X';Y) with E d(X,X') <= D. For two Gaussian numbers the paper prints "
        "the optimal channel and its risk. The risk of the printed channel is computed from the "
        "covariance of X' and Y; that no other is better, by a search with a proven bound.",
        claims=(
            *(
                formula(
                    f"R_inf, rho = {rho}, d = {d}",
                    least_risk(rho, d),
                    standard(rho).risk(_printed_channel(d)),
                )
                for rho in CORRELATIONS
                for d in SHARES
            ),
            *(
                formula(f"E(X - X')^2 of the printed channel, d = {d}", d, _error(d))
                for d in SHARES
            ),
            _mean(),
            _noise(),
            _optimal(),
            # With Y = X the model is the rate-distortion function.
            formula(
                "Risk is the rate of information theory: a fair coin, D = 0.1, 1 - h(D)",
                1 + 0.1 * math.log2(0.1) + 0.9 * math.log2(0.9),
                sievert.limit([1, 1], "hamming", "identity", 0.1).objective,
            ),
            formula(
                "Risk is the rate: a Gaussian number, R_inf with rho = 1, d = 0.25",
                least_risk(1.0, 0.25),
                rate_distortion([[1.0]], 0.25).risk,
            ),
        ),
        blocks=(_beyond(), _example()),
    )


def standard(rho: float) -> Pair:
    """Two numbers of variance 1 and a correlation."""
    return Pair.of([[1.0]], [[1.0]], [[rho]])


def _printed_channel(d: float) -> Channel:
    """X' = (1-d) X + d Z, Z with the variance (1-d)/d."""
    return Channel(np.array([[1 - d]]), np.array([[d**2 * (1 - d) / d]]), np.zeros(1))


def _error(d: float, mean: float = 0.0) -> float:
    """The mean squared error of the printed channel, Z with a mean that far from X's."""
    return standard(0.5).distortion(_printed_channel(d)) + d**2 * mean**2


def _mean() -> Claim:
    right, wrong = (_error(0.25, mean) for mean in (0.0, 10.0))
    return statement(
        "Z is distributed as N(mu, ...), mu being mu_X as in the density printed after it",
        "mu",
        f"d = 0.25: E(X - X')^2 = {right:.2f} with mu = mu_X, {wrong:.2f} with mu 10 away",
        holds=math.isclose(right, 0.25) and wrong > 0.25,
        why="the distortion is not D with the mean of X",
    )


def _noise() -> Claim:
    both = [(float(_printed_channel(d).noise[0, 0]), d * (1 - d)) for d in SHARES]
    return statement(
        "d Z has the variance of the printed density, d (1-d) Var X",
        "d (1-d)",
        ", ".join(f"{a:.4f}" for a, _ in both),
        holds=all(math.isclose(a, b) for a, b in both),
        why="the two printed channels differ",
    )


def _optimal() -> Claim:
    far = max(abs(a - b) for a, b in [(least_risk(RHO, d), best) for d, best in search_optima()])
    return statement(
        "No channel has less risk than R_inf",
        "the minimum",
        f"search in a table of 41 by 31 intervals, d = {COARSE[0]} to {COARSE[-1]}: at most "
        f"{far:.4f} bits from R_inf",
        holds=far < NEAR,
        why="a channel of the search has less risk than the intervals explain",
    )


def _beyond() -> Paragraph:
    share = 1.5
    ours = float(gaussian_limit(standard(RHO), model=1, at=share).risk or 0.0)
    return remark(
        "A maximum loss D above Var X",
        "the text does not name the range of d; the printed noise has the variance (1-d)/d Var X, "
        f"which is none for d above 1, where R_inf would be negative ({least_risk(RHO, share):.4f} "
        f"at d = {share}): nothing need be told",
        f"{ours:.4f} bits",
    )


def _example() -> Picture:
    """Model 1 on a table of counts, with what no release is below."""
    optimum = sievert.limit(PATIENTS, "absolute", at=0.25)
    curve = optimum.curve(14)
    return Picture(
        spec=tradeoff(
            "Model 1 on a table of counts",
            ("80 people, four age groups, three diagnoses; distortion: groups moved, on average",),
            [
                *((name, 0.0, optimum.information) for name in (BEST, LEAST)),
                *((BEST, p.at, p.objective) for p in curve),
                *((LEAST, p.at, p.bound) for p in curve),
            ],
            [(RECODED, r.distortion, r.risk, f" ({r.intervals})") for r in optimum.recodings()],
            across="Distortion",
            up="Bits disclosed of the secret",
        ),
        caption="Recodings into two and three intervals tell more than the best channel at their "
        "distortion. From 0.58 on nothing need be told; one interval costs 1.",
        behind=Grid(
            caption="The least risk by distortion",
            head=("Distortion", "Best channel, bits", "None below"),
            rows=tuple(
                (f"{p.at:.3f}", f"{p.objective:.4f}", f"{max(0.0, p.bound):.4f}") for p in curve
            ),
            right=(0, 1, 2),
        ),
    )


# -- models 2, 3 and 4 ----------------------------------------------------------------------------


@announce("model 2")
def model_2(given: Given) -> PaperPart:
    """The least distortion within a risk: model 1 read the other way."""
    pair = standard(RHO)
    risks = {at: sievert.limit(PATIENTS, "absolute", at=at).objective for at in (0.1, 0.25, 0.4)}
    return PaperPart(
        title="Section 5.2: model 2",
        about=f"The least distortion with I(X';Y) <= R. It must be the inverse of model 1. "
        f"Computed on {EXAMPLE}.",
        claims=(
            *(
                formula(
                    f"D(R) at R = {risk:.4f} bits gives back model 1's D",
                    at,
                    sievert.limit(PATIENTS, "absolute", model=2, at=risk).objective,
                )
                for at, risk in risks.items()
            ),
            *(
                formula(
                    f"the same of two Gaussian numbers, rho = {RHO}, d = {share}",
                    share,
                    gaussian_limit(pair, model=2, at=least_risk(RHO, share)).objective,
                )
                for share in (0.25, 0.5)
            ),
        ),
        blocks=(
            remark(
                "The optimal channel of model 2",
                "the paper prints no solution; the share of the variance, "
                f"d = 1 - (1 - 4^-R)/rho^2, of two Gaussian numbers, R = 0.2 bits, rho = {RHO}",
                f"{gaussian_limit(pair, model=2, at=0.2).objective:.4f}",
            ),
        ),
    )


@announce("models 3 and 4")
def models_3_and_4(given: Given) -> PaperPart:
    """Mutual information for both, risk and loss."""
    rates = {
        at: sievert.limit(PATIENTS, model=3, at=at, seed=given.seed).objective
        for at in (0.02, 0.1, 0.2)
    }
    first = sievert.limit(PATIENTS, model=4, at=0.8, seed=given.seed)
    curve = first.curve(12)
    lost = [p.objective for p in curve]
    rows = tuple((f"{p.at:.3f}", f"{p.objective:.4f}", f"{p.risk:.4f}") for p in curve)
    return PaperPart(
        title="Section 5.3: models 3 and 4",
        about="The least I(X;X') within a loss I(X;Y) - I(X';Y), and the reverse. Both are not "
        "convex: what is found is the best of several searches, without a proof.",
        claims=(
            *(
                formula(
                    f"model 4 at R = {rate:.4f} bits gives back model 3's D",
                    at,
                    sievert.limit(PATIENTS, model=4, at=rate, seed=given.seed).objective,
                )
                for at, rate in rates.items()
            ),
            statement(
                "Less loss needs more risk",
                "a trade-off",
                f"loss {lost[0]:.4f} to {lost[-1]:.4f} bits for I(X;X') {curve[0].at:.3f} to "
                f"{curve[-1].at:.3f}",
                holds=bool((np.diff(lost) < CLOSE).all()),
                why="the loss rises with the risk",
            ),
        ),
        blocks=(
            Paragraph(
                f"The risk of both models is I(X;X'), identity disclosure. Attribute disclosure "
                f"I(X';Y), the risk of models 1 and 2, is what they keep as utility: with the "
                f"loss it adds up to I(X;Y), here {first.risk:.4f} + {first.loss:.4f} = "
                f"{first.information:.4f} bits. The least loss is the most of it.",
                kind="note",
            ),
            remark(
                "Closed forms of the optimal channels",
                "future research in the paper; model 4's loss of two Gaussian numbers, "
                f"1/2 log2(1 + 4^-R rho^2/(1 - rho^2)) bits, rho = {RHO}, R = 0.5 bits",
                f"{float(gaussian_limit(standard(RHO), model=4, at=0.5).objective or 0.0):.4f}",
            ),
            Picture(
                spec=lines(
                    "Model 4: the least loss by the identity told",
                    ("80 people, four age groups, three diagnoses",),
                    {"least loss": [(p.at, p.objective) for p in curve]},
                    across="I(X;X'), bits",
                    up="I(X;Y) - I(X';Y), bits",
                ),
                caption="The loss falls with every bit told of who is who, ever more slowly.",
                behind=Grid(
                    caption="The least loss",
                    head=("I(X;X')", "Loss", "I(X';Y)"),
                    rows=rows,
                    right=(0, 1, 2),
                ),
            ),
        ),
    )
