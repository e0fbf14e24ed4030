"""One experiment in the making: the records as codes, then a curve for each parameter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from sievert.commands import _pairing
from sievert.commands._common import Clock, RequestedRoles
from sievert.commands.compromise.experiment import (
    PARAMETERS,
    ExperimentCurve,
    ExperimentData,
    curve,
)
from sievert.errors import InputError, UsageError
from sievert.files import escape_formula
from sievert.hierarchies import NUMBER
from sievert.losses.loss import GONE, as_numbers, combination_codes
from sievert.methods import range_queries
from sievert.notes import Count, Name, Note

if TYPE_CHECKING:
    from sievert.counts.questions import Questions

MOST_VALUES = 400  # of a domain
MOST_SUBSETS = 4096
QUERIES = 1000
HALF = 1e-6  # how near to a half a quotient is looked at exactly


class Run:
    """One experiment in the making."""

    def __init__(
        self,
        clock: Clock,
        method: str,
        key: str | None,
        step: float | None,
        show: bool,
        threads: int | None,
    ) -> None:
        self.clock, self.method, self.key = clock, method, key
        self.step, self.show, self.threads = step, show, threads
        self.notes: list[Note] = []
        self.domains: dict[str, dict[str, Any]] = {}
        self.released: _pairing.People | None = None

    def rounds(self, replicates: int) -> int:
        """How often the method is run."""
        return replicates if self.method in PARAMETERS else 1

    def original(
        self, name: str, questions: Questions, requested: RequestedRoles, missing: str
    ) -> None:
        """The records, as codes: known columns in their order, secrets in the order of numbers."""
        self.columns = questions.columns
        self.roles, warnings = requested.assign(questions)
        self.notes += warnings
        if not self.roles.sensitive:
            raise UsageError("no confidential column of numbers given", hint="-s salary")
        if self.key is not None and self.key in self.roles.measured_columns:
            raise UsageError(f"the key {self.key!r} is no role of a release")
        _, notes = requested.prepare(questions, self.roles, missing)
        if 2 ** len(self.roles.quasi) > MOST_SUBSETS:
            self.notes.append(
                Note("{} known columns: --max-known keeps it short", Count(len(self.roles.quasi)))
            )
        self.clock("reading the records", questions)
        used = tuple(dict.fromkeys(self.roles.measured_columns))
        self.people = _pairing.people(questions, used, self.key, name)
        self.notes += notes
        if self.released is not None:
            self._pair()

    def release(self, name: str, questions: Questions) -> None:
        """The released records; which columns matter is known later."""
        self.clock("reading the release", questions)
        there = [c for c in questions.columns if c != self.key]
        self.released = _pairing.people(questions, there, self.key, name)

    def _pair(self) -> None:
        """The released records, paired with the original's."""
        assert self.released is not None
        self.places, extra = _pairing.places(self.people, self.released)
        if extra:
            self.notes.append(Note("{} of the release that the original lacks", Count(extra)))
        if not self.released.keyed:
            self.notes.append(Note("records are paired by their order"))

    # -- the experiment -------------------------------------------------------------------------

    def curves(
        self,
        parameters: Sequence[float],
        replicates: int,
        seed: int,
        most: int | None,
        widths: Sequence[float],
        options: Mapping[str, Any],
    ) -> dict[str, tuple[ExperimentCurve, ...]]:
        """A curve for each secret and parameter."""
        if most is not None and most < 1:
            raise UsageError("--max-known must be at least 1")
        sizes = range(1, min(len(self.roles.quasi), most or len(self.roles.quasi)) + 1)
        found: dict[str, tuple[ExperimentCurve, ...]] = {}
        self.kept: dict[str, Any] = {}
        for secret in self.roles.sensitive:
            study, self.kept[secret] = self._study(secret)
            queries = self._queries(study, seed)
            rounds = len(parameters or [None]) * self.rounds(replicates)
            done = iter(range(1, rounds + 1))

            def step(secret: str = secret, rounds: int = rounds, done: Any = done) -> None:
                self.clock(f"{secret}: run {next(done)} of {rounds}", None)

            self.clock(f"{secret}: run 0 of {rounds}", None)
            found[secret] = tuple(
                curve(
                    study,
                    self.method,
                    parameter,
                    replicates=replicates,
                    seed=seed,
                    place=place,
                    sizes=sizes,
                    epsilons=widths,
                    queries=queries,
                    released=self._released(secret, study) if self.released else None,
                    options=options,
                    threads=self.threads,
                    step=step,
                )
                for place, parameter in enumerate(parameters or [None])
            )
        return found

    def _study(self, secret: str) -> tuple[ExperimentData, Any]:
        """Codes of everybody who has a number; where they are among the records."""
        texts = self.people.texts(secret)
        numbers = as_numbers(texts)
        if numbers is None:
            raise UsageError(
                f"column {secret!r} does not hold numbers", hint="-s with a column of numbers"
            )
        held = self._rounded(numbers)[self.people.codes(secret)]
        there = np.flatnonzero(~np.isnan(held))
        if len(there) < len(held):
            lacking = Count(len(held) - len(there))
            self.notes.append(Note("{} without a number in {}: left out", lacking, Name(secret)))
        if not len(there):
            raise InputError(f"column {secret!r} holds no number")
        values, codes = np.unique(held[there], return_inverse=True)
        if len(values) > MOST_VALUES:
            raise UsageError(
                f"column {secret!r} has {len(values):,} different numbers, more than "
                f"{MOST_VALUES}: an experiment over all of them would not end",
                hint=f"--step {_rough((values[-1] - values[0]) / 50):g} rounds them",
            )
        known = [self._ordered(c)[there] for c in self.roles.quasi]
        self.domains[secret] = {"values": len(values), "records": len(there)}
        if self.show:
            self.domains[secret] |= {"low": float(values[0]), "high": float(values[-1])}
        tops = tuple(int(k.max()) + 1 for k in known)
        return ExperimentData(np.stack(known, axis=1), codes, values, tops), there

    def _rounded(self, numbers: Any) -> Any:
        if self.step is None:
            return numbers
        if not self.step > 0 or not np.isfinite(self.step):
            raise UsageError("--step must be a positive number")
        return multiples(numbers, self.step)

    def _ordered(self, column: str) -> Any:
        """Codes of a known column: numbers in their order, texts in that of the alphabet."""
        texts, codes = self.people.texts(column), self.people.codes(column)
        present = np.unique(codes)
        held = [texts[c] for c in present.tolist()]
        if all(t is not None and NUMBER.fullmatch(t) for t in held):
            order = np.argsort([float(t or 0) for t in held], kind="stable")
        else:
            order = np.arange(len(held))
        rank = np.zeros(len(texts), dtype=np.int64)
        rank[present[order]] = np.arange(len(order))
        return rank[codes]

    def _queries(self, study: ExperimentData, seed: int) -> Any:
        if self.method not in PARAMETERS:
            return None
        try:
            return range_queries(
                study.known, study.secret, study.values, QUERIES, seed, sizes=study.sizes
            )
        except InputError:
            self.notes.append(Note("no utility: too few ranges have a mean other than 0"))
            return None

    def _released(self, secret: str, study: ExperimentData) -> tuple[Any, Any]:
        """Of each original record its released number and its released class."""
        assert self.released is not None
        people, at = self.released, self.places[self.kept[secret]]
        if secret not in people.cube.columns:
            raise UsageError(f"the release lacks the confidential column {secret!r}")
        numbers = as_numbers(people.texts(secret))
        if numbers is None:
            raise UsageError(f"the released column {secret!r} does not hold numbers")
        held = np.append(self._rounded(numbers)[people.codes(secret)], np.nan)[at]
        place = np.searchsorted(study.values, held)
        inside = np.clip(place, 0, len(study.values) - 1)
        nearer = (inside > 0) & (
            np.abs(held - study.values[inside - 1]) < np.abs(held - study.values[inside])
        )
        codes = np.where(np.isnan(held), GONE, inside - nearer)
        shared = [q for q in self.roles.quasi if q in people.cube.columns]
        if not shared:
            raise UsageError("the release has none of the known columns")
        keys = [np.append(people.codes(q).astype(np.int64), GONE)[at] for q in shared]
        return codes, combination_codes(keys, at != GONE)

    def by_record(
        self, curves: Mapping[str, Sequence[ExperimentCurve]], kind: str
    ) -> dict[str, tuple[str, Any]]:
        """What is left of everybody's secret to somebody who knows all columns, and its file."""
        found: dict[str, tuple[str, Any]] = {
            "record": ("BIGINT", range(1, self.people.records + 1))
        }
        for secret, each in curves.items():
            called = escape_formula(secret) if kind == "csv" else secret
            for c in each:
                for name, held in c.people.items():
                    full: list[float | None] = [None] * self.people.records
                    for place, x in zip(self.kept[secret].tolist(), held.tolist(), strict=True):
                        full[place] = x
                    told = "" if c.parameter is None else f"_{c.parameter:.12g}"
                    found[f"{called}_{name}{told}"] = ("DOUBLE", full)
        return found


def multiples(numbers: Any, step: float) -> Any:
    """Numbers as the nearest multiples of a step, halves as even ones; all are what they print as.

    >>> multiples(np.array([0.29, 0.35, 0.45, np.nan]), 0.1).tolist()
    [0.3, 0.4, 0.4, nan]
    """
    exact = Fraction(repr(float(step)))
    with np.errstate(over="ignore"):
        shares = numbers / step
    if np.isinf(shares).any():
        raise UsageError("--step is too small for these numbers")
    whole = np.rint(shares)
    for place in np.flatnonzero(np.abs(np.abs(shares - whole) - 0.5) < HALF).tolist():
        whole[place] = round(Fraction(repr(float(numbers[place]))) / exact)
    found, places = np.unique(whole, return_inverse=True)
    return np.array([k if np.isnan(k) else float(int(k) * exact) for k in found.tolist()])[places]


def _rough(number: float) -> float:
    """One digit of a number."""
    return float(f"{number:.1g}") if number > 0 else 1.0
