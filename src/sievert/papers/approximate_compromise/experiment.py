"""The curves of section 6, and what it says of them: method by method, true or false."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise

import sievert
from sievert.commands.compromise.settings import ProtectionMethod
from sievert.papers.approximate_compromise.methods import PaperTable
from sievert.papers.claims import Claim, statement, turning

H0 = "initial_entropy"
AREA = "area"
NUMBERS = {H0: "H0", AREA: "area"}
NAMES = {"sampling": "sampling", "query": "query restriction", "noise": "noise addition"}
# From the highest utility to the lowest.
AMOUNTS: dict[ProtectionMethod, tuple[float, ...]] = {
    "sampling": (0.5, 0.2, 0.1, 0.05),
    "query": (2, 4, 8, 16, 32),
    "noise": (10, 20, 25, 50, 100),
}
NOTHING = "nothing"  # a column that is the same for everybody
OVER = ("combinations", "records")
# Of H0 and of the area, over combinations and over records: with 0 known columns, 1, 2, ...
Means = Mapping[tuple[str, str], tuple[float, ...]]


@dataclass(frozen=True)
class Experiment:
    """Means by method and amount; the paper's are those over combinations of known values."""

    curves: Mapping[str, Mapping[float, Means]]
    values: int

    def means(
        self, method: str, parameter: float, number: str, over: str = "combinations"
    ) -> list[float]:
        """With one known column, two, and so on."""
        return list(self.curves[method][parameter][number, over][1:])


def amount(method: str, parameter: float) -> str:
    """An amount as it is shown.

    >>> amount("sampling", 0.5), amount("query", 8), amount("noise", 25)
    ('50 %', 'Q = 8', '25 %')
    """
    return (
        f"Q = {parameter:g}"
        if method == "query"
        else f"{100 * parameter if method == 'sampling' else parameter:g} %"
    )


def run(study: PaperTable, seed: int, replicates: int) -> Experiment:
    """Every method and amount, with nothing known and with one to all columns known."""
    curves: dict[str, dict[float, Means]] = {}
    values = 0
    secret = study.columns[study.secret]
    blind = {study.secret: secret, NOTHING: ["1"] * len(secret)}
    for method, amounts in AMOUNTS.items():
        both = [
            sievert.compromise(
                table,
                known,
                study.secret,
                method=method,
                parameters=amounts,
                step=study.step,
                replicates=replicates,
                seed=seed,
            )
            for table, known in ((blind, [NOTHING]), (study.columns, study.known))
        ]
        values = int(both[1].domains[study.secret]["values"])
        curves[method] = {
            float(without.parameter or 0): {
                (number, over): tuple(
                    getattr(point, over)[number].mean / (study.unit if number == AREA else 1)
                    for point in (*without.points, *knowing.points)
                )
                for number in NUMBERS
                for over in OVER
            }
            for without, knowing in zip(*(each.curves[study.secret] for each in both), strict=True)
        }
    return Experiment(curves, values)


TOLERANCE = 1e-3  # of a mean: a change in the other direction that the number of draws explains
SIMILAR = 0.05
SHARP = 0.25
FLAT = 0.10
SLIGHT = 0.10
# What the paper compares.
HALF = ("sampling", 0.5)
EIGHT = ("query", 8.0)


def of_all(experiment: Experiment) -> list[Claim]:
    """The statements about every method, for the entropy and for the area."""
    each = [(method, number) for method in NAMES for number in NUMBERS]
    return [
        *(_utility(experiment, method, number) for method, number in each),
        *(_whole_way(experiment, method, number) for method, number in each),
        *(_knowledge(experiment, *which, over) for which in each for over in OVER),
        *(_gentle(experiment, method, number) for method, number in each),
    ]


def _utility(experiment: Experiment, method: str, number: str) -> Claim:
    curves = [experiment.means(method, a, number) for a in experiment.curves[method]]
    wrong = [
        known
        for known, column in enumerate(zip(*curves, strict=True), 1)
        if any(b < a * (1 - TOLERANCE) for a, b in pairwise(column))
    ]
    return statement(
        f"{NAMES[method].capitalize()}: {NUMBERS[number]} grows as utility falls",
        "increases",
        f"1 known: {_numbers(curve[0] for curve in curves)}",
        holds=not wrong,
        why=f"it falls somewhere with {', '.join(map(str, wrong))} known",
    )


def _knowledge(experiment: Experiment, method: str, number: str, over: str) -> Claim:
    curves = {a: experiment.means(method, a, number, over) for a in experiment.curves[method]}
    rises = {
        amount(method, a): max(y / x - 1 if x else 0.0 for x, y in pairwise(means))
        for a, means in curves.items()
    }
    wrong = {name: rise for name, rise in rises.items() if rise > TOLERANCE}
    first, means = next(iter(curves.items()))
    where = ", ".join(f"{name} by up to {_small(100 * rise)} %" for name, rise in wrong.items())
    return statement(
        f"{NAMES[method].capitalize()}: {NUMBERS[number]} declines with each known column, mean "
        f"over {over}",
        "declines",
        f"{amount(method, first)}, 1 to {len(means)} known: {_numbers(means)}",
        holds=not wrong,
        why=f"It rises by more than {100 * TOLERANCE:g} %: at {where}. Over records it never can; "
        "over combinations, the paper's mean, it may, since the more is known the more of them are "
        "small.",
    )


def _whole_way(experiment: Experiment, method: str, number: str) -> Claim:
    falls = {
        amount(method, a): decline(experiment.means(method, a, number))
        for a in experiment.curves[method]
    }
    wrong = [name for name, fall in falls.items() if fall < -TOLERANCE]
    return statement(
        f"{NAMES[method].capitalize()}: {NUMBERS[number]} declines from one known column to all",
        "declines",
        f"by {_numbers((100 * x for x in falls.values()), 1)} %",
        holds=not wrong and max(falls.values()) > 0,
        why=f"it does not at {', '.join(wrong) or 'any amount'}",
    )


def _small(x: float) -> str:
    """One digit, without an exponent.

    >>> _small(0.0000084), _small(0.0061)
    ('0.000008', '0.006')
    """
    return f"{Decimal(f'{x:.1g}'):f}"


def decline(means: list[float]) -> float:
    """From one known column to all, in parts of what one leaves."""
    return (means[0] - means[-1]) / means[0]


def _gentle(experiment: Experiment, method: str, number: str) -> Claim:
    falls = [decline(experiment.means(method, a, number)) for a in experiment.curves[method]]
    return statement(
        f"{NAMES[method].capitalize()}: {NUMBERS[number]} declines the more gently the lower the "
        "utility",
        "gentle where utility is low",
        f"decline {_numbers((100 * x for x in falls), 1)} %",
        holds=all(b <= a + TOLERANCE for a, b in pairwise(falls)) and falls[-1] < falls[0],
        why="a less useful release declines more sharply than a more useful one",
    )


def of_pair(experiment: Experiment) -> list[Claim]:
    """A sample of half the records beside queries over eight."""
    means = {n: [experiment.means(*which, n) for which in (HALF, EIGHT)] for n in NUMBERS}
    pair = [experiment.curves[method][amount] for method, amount in (HALF, EIGHT)]
    nothing = {n: [each[n, "combinations"][0] for each in pair] for n in NUMBERS}
    last = [m[-1] for m in means[AREA]]
    more = nothing[AREA][0] / nothing[AREA][1] - 1
    falls = {n: [decline(m) for m in pair] for n, pair in means.items()}
    return [
        _similar(experiment, "nothing known", nothing[H0]),
        _similar(experiment, "one column known", [m[0] for m in means[H0]]),
        *(
            statement(
                f"50 % sample: {NUMBERS[n]} drops sharply with what is known",
                "sharply",
                f"by {100 * falls[n][0]:.1f} %{turning(falls[n][0], SHARP)}",
                holds=falls[n][0] > SHARP,
                why=f"not by more than {100 * SHARP:g} %",
            )
            for n in NUMBERS
        ),
        *(
            statement(
                f"Q = 8: {NUMBERS[n]} remains flat",
                "flat",
                f"declines by {100 * falls[n][1]:.1f} %{turning(falls[n][1], FLAT)}",
                holds=falls[n][1] < FLAT,
                why=f"it declines by {100 * FLAT:g} % or more; how long the windows are that sums "
                "of eight leave depends on how skewed the column is",
            )
            for n in NUMBERS
        ),
        statement(
            "By the area, the 50 % sample is superior to Q = 8 with nothing known",
            "superior",
            f"{nothing[AREA][0]:.1f} and {nothing[AREA][1]:.1f}",
            holds=more > 0,
            why="the sample leaves less",
        ),
        statement(
            "By the area, the superiority of the 50 % sample is slight",
            "slightly",
            f"{100 * more:+.1f} %{turning(more, SLIGHT)}",
            holds=0 < more <= SLIGHT,
            why=f"not between 0 and {100 * SLIGHT:g} % more",
        ),
        statement(
            "By the area, the 50 % sample is more vulnerable than Q = 8 with all columns known",
            "much more",
            f"{last[0]:.1f} and {last[1]:.1f}",
            holds=last[0] < last[1],
            why="The sample has the larger mean area: who is not sampled may have any value, which "
            "outweighs the windows that sums of eight leave in a skewed column.",
        ),
    ]


def _similar(experiment: Experiment, when: str, pair: list[float]) -> Claim:
    apart = abs(pair[0] - pair[1]) / math.log2(experiment.values)
    return statement(
        f"H0 of a 50 % sample and of Q = 8, {when}",
        "similar",
        f"{pair[0]:.2f} and {pair[1]:.2f} bits{turning(apart, SIMILAR)}",
        holds=apart <= SIMILAR,
        why=f"apart by {100 * apart:.1f} % of log2 of the number of values",
    )


def _numbers(numbers: Iterable[float], places: int = 2) -> str:
    return ", ".join(f"{round(x, places) + 0.0:.{places}f}" for x in numbers)
