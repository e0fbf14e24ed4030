"""Sections 1 to 4: discrepancies, mutual information, the lemma, measures of loss and risk."""

import math
from typing import Any

import numpy as np

import sievert
from sievert.arrays import Floats
from sievert.losses.gaussian import UNBOUNDED, gaussian_information
from sievert.papers.claims import (
    Claim,
    Given,
    PaperPart,
    announce,
    number,
    require_number,
    statement,
)
from sievert.tradeoff import Joint, squared
from sievert.tradeoff.channel import evaluate_channel

DIGITS = 4

# 80 people in four age groups (rows) with three diagnoses (columns); not in the paper.
PATIENTS = [[16, 2, 2], [4, 12, 4], [2, 4, 14], [8, 8, 4]]
EXAMPLE = "80 people in four age groups with three diagnoses, an example that is not in the paper"


def records(times: int = 1) -> dict[str, list[str]]:
    """The example as records."""
    cells = [
        (f"group {i}", f"diagnosis {j}", n * times)
        for i, row in enumerate(PATIENTS)
        for j, n in enumerate(row)
    ]
    return {
        "age": [age for age, _, n in cells for _ in range(n)],
        "diagnosis": [diagnosis for _, diagnosis, n in cells for _ in range(n)],
    }


def normal(rho: float, x: Floats, y: Floats) -> Floats:
    """The density of two standard normal numbers of a correlation, up to a factor."""
    u = x[:, None]
    v = y[None, :]
    return np.asarray(np.exp(-(u**2 - 2 * rho * u * v + v**2) / (2 * (1 - rho**2))))


def formula(what: str, value: float, ours: float | None, *, why: str = "not the same") -> Claim:
    """The value of a printed formula beside one that was found without it.

    >>> formula("I", 0.73697, 0.736966).state
    'match'
    """
    return number(what, f"{value:.{DIGITS}f}", ours, why=why)


SHIFTS = (0, 1, 3, 10)
RHO = (0.3, 0.7, 0.95)
TRIED = 300  # random tables and channels
ROUNDING = 1e-9
FINE = np.linspace(-5.5, 5.5, 161)


def bits(value: float | None) -> str:
    """An information as text; what is not finite is None."""
    return UNBOUNDED if value is None else f"{value:.4f}"


# -- section 1 ------------------------------------------------------------------------------------


@announce("section 1")
def discrepancies(given: Given) -> PaperPart:
    """Relative discrepancies and the probabilistic loss."""
    numbers = list(range(-50, 51))  # mean 0, variance 850
    losses = [_shift_losses(numbers, shift) for shift in SHIFTS]
    values = [float(f["value"]) for f in losses]
    return PaperPart(
        "Section 1: discrepancies and the probabilistic loss",
        "The numbers -50 to 50, all raised by the same amount; their mean is 0.",
        (
            _discrepancy(),
            formula(
                "pil of the mean, raised by 3: 2 P(0 <= Z <= 3/sqrt(850/101))",
                math.erf(3 / math.sqrt(2 * 850 / 101)),
                values[2],
            ),
            statement(
                "The more different the statistic, the greater is pil",
                "greater",
                f"raised by {', '.join(map(str, SHIFTS))}: "
                + ", ".join(f"{v:.4f}" for v in values),
                holds=values == sorted(set(values)),
                why="pil does not rise",
            ),
            statement(
                "Probabilistic losses lie within [0, 1]",
                "[0, 1]",
                f"{min(values):.4f} to {max(values):.4f}",
                holds=min(values) >= 0 and max(values) <= 1,
                why="outside of [0, 1]",
            ),
            statement(
                "A statistic that is 0 on the original has an infinite relative discrepancy",
                "infinite",
                f"relative discrepancy: {losses[1]['relative'] or UNBOUNDED}",
                holds=losses[1]["relative"] is None,
                why="it is finite",
            ),
        ),
    )


def _shift_losses(numbers: list[int], shift: int) -> dict[str, Any]:
    raised = {"x": [n + shift for n in numbers]}
    losses = sievert.compare({"x": numbers}, raised, "x", shuffles=0)["release"].losses
    means: dict[str, Any] = losses["probabilistic_information_loss"].details["mean"]["columns"]["x"]
    return means


def _discrepancy() -> Claim:
    """A mean of 180 cm and of 1.8 m, 2 % off, with a standard error of 1 %."""
    units = (180.0, 1.8)
    root = [0.02 * m / math.sqrt(m) for m in units]
    error = [0.02 * m / (0.01 * m) for m in units]
    return statement(
        "Z is standard normal",
        "Z = (T - theta)/sqrt(T)",
        f"the same mean in cm and in m: {root[0]:.3f} and {root[1]:.3f}; divided by sqrt(Var T): "
        f"{error[0]:.3f} and {error[1]:.3f}",
        holds=math.isclose(*root),
        contradicts=True,
        why="the next formula divides by sqrt(Var T); with sqrt(T) Z depends on the unit, and "
        "does not exist for a negative statistic",
    )


# -- section 2 ------------------------------------------------------------------------------------


@announce("section 2")
def information(given: Given) -> PaperPart:
    """Mutual information by entropies, and of Gaussian variables."""
    table = records()
    (x, y), (x_y, y_x) = (
        [require_number(f(table, *pair)) for pair in (("diagnosis", "age"), ("age", "diagnosis"))]
        for f in (sievert.entropy, sievert.conditional_entropy)
    )
    both, shared_bits = (
        require_number(f(table, "age", "diagnosis"))
        for f in (sievert.joint_entropy, sievert.mutual_information)
    )
    return PaperPart(
        "Section 2: mutual information",
        f"By entropies: {EXAMPLE}. Of two Gaussian numbers: by counting, in a fine table of their "
        f"density. Of vectors: by elimination in the covariance matrix.",
        (
            formula("I(X;Y) = H(X) - H(X|Y)", x - x_y, shared_bits),
            formula("I(X;Y) = H(Y) - H(Y|X)", y - y_x, shared_bits),
            formula("I(X;Y) = H(X) + H(Y) - H(X,Y)", x + y - both, shared_bits),
            *(
                formula(
                    f"I(U;V) = -log sqrt(1 - rho^2), rho = {rho}",
                    -math.log2(math.sqrt(1 - rho**2)),
                    Joint.of(normal(rho, FINE, FINE)).information,
                    why="of a table of 161 by 161 intervals",
                )
                for rho in RHO
            ),
            _vectors(given.seed),
            _sufficient(0.8),
        ),
    )


def _vectors(seed: int) -> Claim:
    """The formula of the determinant, for vectors of 2 and 3 numbers."""
    mixed = np.random.default_rng(seed).normal(size=(5, 5))
    joint = mixed @ mixed.T + np.eye(5)
    u = joint[:2, :2]
    v = joint[2:, 2:]
    uv = joint[:2, 2:]
    p = _root(u) @ uv @ _root(v)
    printed = -0.5 * math.log2(float(np.linalg.det(np.eye(2) - p @ p.T)))
    ours = gaussian_information(u, v, uv)
    return formula("I(U;V) = -1/2 log det(I - P P^t), 2 by 3 numbers at random", printed, ours)


def _root(covariance: Floats) -> Floats:
    """The inverse of the symmetric square root."""
    values, vectors = np.linalg.eigh(covariance)
    return np.asarray((vectors / np.sqrt(values)) @ vectors.T)


def _sufficient(rho: float) -> Claim:
    """U' = rho V, of standard normal numbers."""
    whole = gaussian_information([[1.0]], [[1.0]], [[rho]])
    with_v = gaussian_information([[rho**2]], [[1.0]], [[rho]])
    with_u = gaussian_information([[1.0]], [[rho**2]], [[rho**2]])
    return statement(
        f"The best linear estimate U' of U from V has I(U';V) = I(U;V), rho = {rho}",
        f"I(U;V) = {bits(whole)}",
        f"I(U';V) {bits(with_v)}, I(U;U') {bits(with_u)}",
        holds=with_v is not None and whole is not None and math.isclose(with_v, whole),
        why="U' = rho V is a function of V without noise, so that H(U'|V) is -infinity and I(U';V) "
        "unbounded; what sufficiency means is I(U;U') = I(U;V), and that holds",
    )


# -- section 3 ------------------------------------------------------------------------------------


@announce("lemma 1")
def lemma(given: Given) -> PaperPart:
    """The loss is not negative where X' is made from X, and may be where it is not."""
    rng = np.random.default_rng(given.seed)
    losses = [_lost(rng) for _ in range(TRIED)]
    table = Joint.of(PATIENTS)
    # X' = (X, Y): made from Y as well, it tells everything about Y
    peeked = require_number(sievert.entropy(records(), "age", "diagnosis"))
    return PaperPart(
        "Section 3: lemma 1",
        "I(X;Y) - I(X';Y) is not negative where X' is a randomised function of X.",
        (
            statement(
                "I(X;Y) - I(X';Y) >= 0",
                ">= 0",
                f"{TRIED} random tables and channels, the least loss {min(losses):.6f} bits",
                holds=min(losses) >= -ROUNDING,
                why="a negative loss",
            ),
            statement(
                "The hypothesis, that X' is no function of Y, is needed",
                "a function of X, but not of Y",
                f"with X' = (X, Y) on the example: {table.information - peeked:.4f} bits",
                holds=table.information < peeked,
                why="no loss is negative without it",
            ),
        ),
    )


def _lost(rng: np.random.Generator) -> float:
    """The loss of a random channel, from its own sums: not cut off at 0."""
    keys, secrets, released = rng.integers(2, 7, size=3)
    joint = rng.dirichlet(np.full(keys * secrets, 0.5)).reshape(keys, secrets)
    channel = rng.dirichlet(np.full(released, 0.5), size=keys)
    return disclosed_bits(joint) - disclosed_bits(channel.T @ joint)


def disclosed_bits(joint: Floats) -> float:
    """I of a table of probabilities, in bits."""
    apart = np.outer(joint.sum(axis=1), joint.sum(axis=0))
    there = joint > 0
    return float((joint[there] * np.log2(joint[there] / apart[there])).sum())


@announce("sections 3.1 and 3.2")
def comparisons(given: Given) -> PaperPart:
    """Mutual information against the mean squared error and against correlations."""
    four = Joint.of([[1, 0], [1, 0], [0, 1], [0, 1]])  # the secret is the first of two bits
    _, lost, kept, _ = evaluate_channel(
        four, np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 1.0]])
    )
    far = squared(range(4))
    same = evaluate_channel(four, np.eye(4), far)
    other = evaluate_channel(four, np.eye(4)[[1, 2, 3, 0]], far)
    return PaperPart(
        "Sections 3.1 and 3.2: against squared errors and correlations",
        "What a zero of each measure says, and what correlations do not see.",
        (
            statement(
                "A zero MSE implies X = X'",
                "X = X'",
                f"X' = X: MSE {same[3]:g}; the values of X permuted: MSE {other[3]:g}",
                holds=same[3] == 0 and (other[3] or 0) > 0,
                why="another X' has no MSE",
            ),
            statement(
                "I(X;Y) - I(X';Y) = 0 implies that X and X' are bijectively related",
                "bijective",
                f"four keys released as two: loss {lost:g}, I(X;X') {kept:g} of "
                f"{four.entropy:g} bits",
                holds=lost > ROUNDING,
                why="the secret is the first of the key's two bits and only that is released: "
                "nothing is lost, I(X;Y) = I(X';Y), and X' is two-to-one. No loss means that X - "
                "X' - Y is a Markov chain",
            ),
            _bregman(),
            _square(),
        ),
    )


def _bregman() -> Claim:
    """The divergence of sum p log p between the joint table and the product of its margins."""
    p = np.array(PATIENTS) / 80
    q = np.outer(p.sum(axis=1), p.sum(axis=0))
    slope = np.log2(q) + 1 / math.log(2)
    return formula(
        "Mutual information is a Bregman divergence: that of sum p log p",
        float((p * np.log2(p)).sum() - (q * np.log2(q)).sum() - (slope * (p - q)).sum()),
        require_number(sievert.mutual_information(records(), "age", "diagnosis")),
    )


def _square() -> Claim:
    """Y is the square of X."""
    x = [-1, 0, 1] * 10
    table = {"x": [str(n) for n in x], "y": [str(n * n) for n in x]}
    r = float(np.corrcoef(x, [n * n for n in x])[0, 1])
    bits_shared = require_number(sievert.mutual_information(table, "x", "y"))
    return statement(
        "Mutual information measures the general dependence, correlation only the linear one",
        "more than correlation",
        f"Y = X^2, X = -1, 0, 1: correlation {abs(r):.4f}, I(X;Y) {bits_shared:.4f} bits",
        holds=abs(r) < ROUNDING < bits_shared,
        why="the correlation sees it, or mutual information does not",
    )


# -- section 4 ------------------------------------------------------------------------------------


@announce("section 4")
def risks(given: Given) -> PaperPart:
    """Identity disclosure, attribute disclosure, and t-closeness."""
    rare = {"key": ["a"] * 2000 + ["b"] * 2, "secret": ["x", "y"] * 1000 + ["y", "y"]}
    (none, close), (little, far) = (
        [
            require_number(f(table, "key", "secret"))
            for f in (sievert.mutual_information, sievert.t_closeness)
        ]
        for table in ({"key": ["a", "b"] * 20, "secret": ["x", "x", "y", "y"] * 10}, rare)
    )
    return PaperPart(
        "Section 4: measures of risk",
        "I(X';X) is called identity disclosure, I(X';Y) attribute disclosure. In "
        "section 3 the same two stand for utility: what is told is kept there, and a risk here.",
        (
            formula(
                "I(X';X) of X' = X is H(X)",
                require_number(sievert.entropy(records(), "diagnosis", "age")),
                evaluate_channel(Joint.of(PATIENTS), np.eye(4))[2],
            ),
            statement(
                "I(X';Y) conforms to t-closeness: no information where t = 0",
                "conforms",
                f"t = {close:g}: I = {none:g} bits",
                holds=close == 0 and abs(none) < ROUNDING,
                why="information at t = 0",
            ),
            statement(
                "I(X';Y) conforms to t-closeness: little information, and every class is close",
                "distance of each class no more than t",
                f"I = {little:.5f} bits, t = {far:.4f}",
                holds=far < 0.1,
                why="I is a mean over the records: two people of 2,002 with one secret leave it "
                "near 0, and their class is far. The more others, the nearer I is to 0, t to 1/2: "
                "no bound on I is one on t, whichever t below 1/2 counts as close",
            ),
        ),
    )
