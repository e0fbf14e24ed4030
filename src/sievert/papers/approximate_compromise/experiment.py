"""Sampling, queries and noise on a table, as section 5 has them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import sievert
from sievert.papers.approximate_compromise.data import PaperTable

H0, AREA = "initial_entropy", "area"
NUMBERS = {H0: "H0", AREA: "area"}
NAMES = {"sampling": "sampling", "query": "query restriction", "noise": "noise addition"}
# From the highest utility to the lowest.
AMOUNTS: dict[str, tuple[float, ...]] = {
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

    def unknowing(self, method: str, parameter: float, number: str) -> float:
        """With nothing known."""
        return self.curves[method][parameter][number, "combinations"][0]


def amount(method: str, parameter: float) -> str:
    """An amount as it is shown.

    >>> amount("sampling", 0.5), amount("query", 8), amount("noise", 25)
    ('50 %', 'Q = 8', '25 %')
    """
    if method == "query":
        return f"Q = {parameter:g}"
    return f"{100 * parameter if method == 'sampling' else parameter:g} %"


def run(study: PaperTable, seed: int) -> Experiment:
    """Every method and amount once, with nothing known and with one to all columns known."""
    curves: dict[str, dict[float, Means]] = {}
    values = 0
    blind = {study.secret: study.columns[study.secret]}
    blind[NOTHING] = ["1"] * len(blind[study.secret])
    for method, amounts in AMOUNTS.items():
        both = [
            sievert.compromise(
                table,
                known,
                study.secret,
                method=method,
                parameters=amounts,
                step=study.step,
                replicates=1,
                seed=seed,
            )
            for table, known in ((blind, [NOTHING]), (study.columns, study.known))
        ]
        values = int(both[1].domains[study.secret]["values"])
        pairs = zip(*(each.curves[study.secret] for each in both), strict=True)
        curves[method] = {
            float(without.parameter or 0): {
                (number, over): tuple(
                    getattr(point, over)[number].mean / (study.unit if number == AREA else 1)
                    for point in (*without.points, *knowing.points)
                )
                for number in NUMBERS
                for over in OVER
            }
            for without, knowing in pairs
        }
    return Experiment(curves, values)
