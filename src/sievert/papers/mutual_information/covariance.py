"""Sections 5.4 and 5.5: synthetic keys, and what preserving information preserves besides."""

import math
from collections.abc import Callable

import numpy as np

import sievert
from sievert.arrays import Floats
from sievert.losses.gaussian import gaussian_information
from sievert.papers.claims import (
    Claim,
    Given,
    PaperPart,
    announce,
    apart,
    remark,
    require_number,
    statement,
)
from sievert.papers.mutual_information.measures import PATIENTS, bits, formula, normal, records
from sievert.report.page import Paragraph
from sievert.tradeoff import Joint
from sievert.tradeoff.channel import evaluate_channel

TIMES = 100  # records for one of the example
RATE = 0.8  # bits of identity
NEAR = 0.03  # bits, for the draw of 8,000 records
EXACT = 1e-9
FACTOR = 0.01  # what the steps of the table may change a factor by
X = np.linspace(-6, 6, 2401)
Y = np.linspace(-6, 6, 121)


# -- section 5.4 ----------------------------------------------------------------------------------


@announce("section 5.4")
def synthetic(given: Given) -> PaperPart:
    """Keys drawn from the channel of model 4."""
    optimum = sievert.limit(PATIENTS, model=4, at=RATE, seed=given.seed)
    table = records(TIMES)
    labelled = {**table, "label": _draw(table["age"], np.asarray(optimum.channel), given.seed)}
    (part,) = sievert.randomise(table, "age", "diagnosis", model=4, at=RATE, seed=given.seed).parts
    assert part.achieved is not None
    lost, as_keys = (
        optimum.information - disclosed
        for disclosed in (
            require_number(sievert.mutual_information(labelled, "label", "diagnosis")),
            part.achieved.risk.value,
        )
    )
    plain = _plain(optimum.identity)
    return PaperPart(
        title="Section 5.4: synthetic data by model 4",
        about=f"The example with {80 * TIMES:,} records; X' is drawn for each from the channel of "
        f"model 4 that tells {RATE} bits of identity.",
        claims=(
            statement(
                "Synthetic X' can be drawn from p(x'|x)",
                f"loss {optimum.loss:.4f}, as the model promises",
                f"of the draw {lost:.4f} bits",
                holds=abs(lost - optimum.loss) < NEAR,
                why="the draw is far from the promise",
            ),
            statement(
                "The connection of key and confidential attributes is minimally affected",
                "minimally",
                f"loss {optimum.loss:.4f}; keys kept or replaced by any key "
                f"alike, as much identity told: {plain:.4f} bits",
                holds=optimum.loss < plain,
                why="plain randomisation loses less",
            ),
        ),
        blocks=(
            Paragraph(
                f"The model's X' is a label of groups of keys. Where keys of the original kind are "
                f"to be released, one is drawn by the label, and more is lost: {as_keys:.4f} bits "
                f"in a draw, against {lost:.4f} with labels.",
                kind="note",
            ),
        ),
    )


def _plain(identity: float) -> float:
    """The loss of a channel that keeps a key or draws any, telling as much of the identity."""
    table = Joint.of(PATIENTS)
    low = 0.0
    high = 1.0
    for _ in range(60):
        kept = (low + high) / 2
        _, lost, identity_told, _ = evaluate_channel(table, kept * np.eye(4) + (1 - kept) / 4)
        low, high = (kept, high) if identity_told < identity else (low, kept)
    return lost


def _draw(keys: list[str], channel: Floats, seed: int) -> list[str]:
    """A label for every record, by the row of its key."""
    rng = np.random.default_rng(seed)
    upto = channel.cumsum(axis=1)[np.unique(keys, return_inverse=True)[1]][:, :-1]
    return [str(label) for label in (rng.random(len(keys))[:, None] > upto).sum(axis=1)]


# -- section 5.5 ----------------------------------------------------------------------------------


@announce("section 5.5")
def preservation(given: Given) -> PaperPart:
    """X' = a'Y, the best linear estimate of X from three numbers Y."""
    mixed = np.random.default_rng(given.seed).normal(size=(4, 4))
    joint = mixed @ mixed.T + np.eye(4)
    x = joint[:1, :1]
    xy = joint[:1, 1:]
    y = joint[1:, 1:]
    a = xy @ np.linalg.inv(y)
    releases = a @ y @ a.T  # Var X'
    cross = a @ y  # Cov(X',Y)
    whole = gaussian_information(x, y, xy)
    with_y = gaussian_information(releases, y, cross, dependent=EXACT)
    with_x = gaussian_information(x, releases, a @ xy.T)
    kept = float(releases[0, 0] / x[0, 0])
    return PaperPart(
        title="Section 5.5: mutual information against covariances",
        about="X is one number, Y three, jointly Gaussian with covariances at random; X' = a^T Y "
        "is the best linear estimate of X.",
        claims=(
            statement(
                "The covariance matrix is preserved when X is replaced by X': Cov(X',Y) = Cov(X,Y)",
                "preserved",
                apart(float(np.abs(cross - xy).max()), EXACT),
                holds=bool(np.allclose(cross, xy)),
                why="they differ",
            ),
            statement(
                "X' is sufficient, I(X';Y) = I(X;Y)",
                f"I(X;Y) = {bits(whole)}",
                f"I(X';Y) {bits(with_y)}",
                holds=with_y is not None and abs(with_y - (whole or 0)) < EXACT,
                why="X' = a^T Y is a function of Y and has no noise, so that H(X'|Y) is -infinity; "
                "and since it is made from Y, lemma 1 does not apply to it",
            ),
            formula("what sufficiency gives: I(X;X') = I(X;Y)", whole or 0.0, with_x),
            statement(
                "a has k entries, Y has n",
                "a in R^k, Y in R^n",
                f"a has {int(a.size)} entries for 3 numbers Y",
                holds=int(a.size) != 3,
                contradicts=True,
                why="a^T Y and a = Cov(X,Y) Cov(Y)^-1 need as many entries as Y has: k is n",
            ),
            *_factor(),
        ),
        blocks=(
            remark(
                "The variance of X'",
                "that part of Var X which Y explains; of the whole covariance matrix of X and Y "
                "only Cov(X',Y) is preserved, which is the one that the text computes",
                f"{100 * kept:.0f} % of Var X",
            ),
        ),
    )


def _factor() -> list[Claim]:
    """Functions of X that lose nothing, by what they make of the covariances with three numbers."""
    turned = math.sqrt(2.365973884)  # half of Var X is from values within this of the mean
    functions: dict[str, Callable[[Floats], Floats]] = {
        "2 X": lambda x: 2 * x,
        "X^3": lambda x: x**3,
        f"X, of the other sign within {turned:.2f} of 0": lambda x: np.where(
            np.abs(x) < turned, -x, x
        ),
    }
    ratios = {name: [_ratio(of, rho) for rho in (0.8, -0.3, 0.5)] for name, of in functions.items()}
    shown = "; ".join(f"{name}: {r[0]:.2f}" for name, r in ratios.items())
    return [
        statement(
            "Where I(X;Y) is preserved, Cov(X',Y) is in proportion to Cov(X,Y)",
            "a constant factor",
            f"the factor of {shown}",
            holds=all(max(r) - min(r) < FACTOR for r in ratios.values()),
            why="the factor differs between the numbers of Y",
        ),
        statement(
            "Preserving mutual information preserves the covariances up to that factor",
            "preserved",
            f"the factor of {shown}",
            holds=all(abs(r[0]) > FACTOR for r in ratios.values()),
            why=f"the last X' is one-to-one, so that nothing is lost in model 4, and its "
            "covariances with Y are all 0: half of Var X comes from values within "
            f"{turned:.2f} standard deviations",
        ),
    ]


def _ratio(function: Callable[[Floats], Floats], rho: float) -> float:
    """Cov(X',Y)/Cov(X,Y) in a fine table of two normal numbers."""
    sums = normal(rho, X, Y) @ Y
    return float(function(X) @ sums / (X @ sums))
