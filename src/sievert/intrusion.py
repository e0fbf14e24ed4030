"""Runs the experiment of approximate compromise over a table and holds the result."""

from __future__ import annotations

import html
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from sievert import roles as role
from sievert.comparing import pairing
from sievert.compromising.experiment import METHODS, PARAMETERS, Curve, Study, curve
from sievert.errors import InputError, UsageError, unknown
from sievert.hierarchies import NUMBER
from sievert.losses.loss import GONE, as_numbers
from sievert.notes import Count, Name, Note
from sievert.roles import Roles
from sievert.running import Clock, Reading, description, house_policy
from sievert.session import Steps, nobody
from sievert.version import __version__

if TYPE_CHECKING:
    from sievert.counts.questions import Questions
    from sievert.policy import Policy

LARGE = 10**5  # records from which plain columns are counted from packed keys
MOST_VALUES = 400  # of a domain
MOST_SUBSETS = 4096
REPLICATES = 30
QUERIES = 1000
HALF = 1e-6  # how near to a half a quotient is looked at exactly
DEFAULTS: dict[str, tuple[float, ...]] = {
    "sampling": (0.05, 0.1, 0.2, 0.5),
    "query": (2, 4, 8, 16, 32),
    "noise": (10, 20, 25, 50, 100),
}


@dataclass(frozen=True)
class Compromises:
    """What an intruder is left with: entropy and area by method, parameter and what is known."""

    table: Mapping[str, Any]
    roles: Roles
    curves: Mapping[str, tuple[Curve, ...]]  # by secret
    domains: Mapping[str, Mapping[str, Any]]
    settings: Mapping[str, Any]
    warnings: tuple[str, ...] = ()
    unassessed: tuple[str, ...] = ()
    timings: Mapping[str, float] = field(default_factory=dict, compare=False, repr=False)
    peaks: Mapping[str, int] = field(default_factory=dict, compare=False, repr=False)

    @property
    def rows(self) -> int:
        """How many records the table has."""
        return int(self.table["rows"])

    def to_dict(self) -> dict[str, Any]:
        """The JSON of the command line: stable, without timings."""
        return {
            "sievert": __version__,
            "table": dict(self.table),
            "roles": {
                "quasi": list(self.roles.quasi),
                "sensitive": list(self.roles.sensitive),
                "identifier": list(self.roles.identifier),
                "unassessed": list(self.unassessed),
            },
            "settings": dict(self.settings),
            "domains": {s: dict(d) for s, d in self.domains.items()},
            "curves": {
                secret: [
                    {
                        "parameter": c.parameter,
                        "utility": {"axis": c.axis, "range_mean_error": c.error},
                        "points": [p.to_dict() for p in c.points],
                    }
                    for c in each
                ]
                for secret, each in self.curves.items()
            },
            "targets": {secret: list(self._targets(each)) for secret, each in self.curves.items()},
            "warnings": list(self.warnings),
        }

    def _targets(self, curves: Sequence[Curve]) -> Iterator[dict[str, Any]]:
        """Who is compromised: with one value left, and with one window of each epsilon left."""
        for c in curves:
            for p in c.points:
                yield {
                    "parameter": c.parameter,
                    "known": p.known,
                    "exact": {"combinations": p.exact[0], "records": p.exact[1]},
                    "approximate": [
                        {"epsilon": eps, "combinations": a, "records": b}
                        for eps, (a, b) in p.near.items()
                    ],
                }

    def _rows(self) -> Iterator[dict[str, Any]]:
        for secret, each in self.curves.items():
            for c in each:
                for p in c.points:
                    for over, told in (("combinations", p.combinations), ("records", p.records)):
                        for number, t in told.items():
                            yield {
                                "sensitive": secret, "parameter": c.parameter, "known": p.known,
                                "over": over, "number": number, "mean": t.mean,
                                "minimum": t.minimum, "quantile_05": t.quantile,
                            }  # fmt: skip

    def to_frame(self) -> Any:
        """One row a number, as a pandas or Polars frame, whichever is installed."""
        for library in ("pandas", "polars"):
            try:
                module = __import__(library)
            except ImportError:
                continue
            return module.DataFrame(list(self._rows()))
        raise UsageError("to_frame() needs pandas or Polars", hint="pip install pandas")

    def charts(self) -> dict[str, Any]:
        """Vega-Lite dicts by name: entropy and area against what is known, of each secret."""
        from sievert.charts import of_compromises

        return of_compromises(self)

    def __repr__(self) -> str:
        from sievert.terminalcompromise import render

        return render(self)

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(repr(self))}</pre>"


def compromise(
    data: Any,
    quasi: str | Iterable[str] | None = None,
    sensitive: str | Iterable[str] | None = None,
    identifier: str | Iterable[str] | None = None,
    *,
    method: str = "sampling",
    parameters: Iterable[float] | None = None,
    release: Any = None,
    key: str | None = None,
    epsilon: Iterable[float] = (),
    step: float | None = None,
    replicates: int = REPLICATES,
    max_known: int | None = None,
    seed: int = 0,
    prior: str = "uniform",
    weights: str = "uniform",
    matching: str = "oracle",
    records: str | os.PathLike[str] | None = None,
    force: bool = False,
    show_values: bool = False,
    policy: Policy | str | os.PathLike[str] | Mapping[str, Any] | None = None,
    missing: str = "value",
    verify: bool = False,
    watch: Steps = nobody,
    **source: Any,
) -> Compromises:
    """Measure how near an intruder comes to a confidential number under a protection method.

    Parameters
    ----------
    data
        The original table: a path, a frame, a dict of lists.
    quasi, sensitive, identifier
        Columns an intruder may know; confidential columns, of numbers; columns never looked at.
    method
        "sampling", "query" (restriction), "noise", or "release": any other, from a released table.
    parameters
        Fractions, sizes of query sets, or percents of noise.
    release, key
        With the method "release": the released table, in the order of the original unless a key
        tells people apart.
    epsilon
        Widths: who is compromised approximately has all values left within one of them.
    step
        Round confidential numbers to multiples of this.
    replicates, seed
        How often a method is run for each parameter, and where chance starts.
    max_known
        At most so many known columns.
    prior, weights, matching
        Of sampling: what unsampled matches are taken to have, "uniform" or as in the "sample". Of
        noise: "uniform" or "posterior" weights; "oracle" or "likelihood" matching.
    records
        Write one row a record, in input order, to this CSV or Parquet file.
    show_values
        Name the least and the greatest confidential number in the result.
    source
        How to read: delimiter, encoding, types, na, engine, memory, threads, temp.

    >>> table = {"sex": ["f", "m", "f", "m"], "pay": ["10", "20", "30", "20"]}
    >>> found = compromise(table, "sex", "pay", parameters=[0.5], replicates=2)
    >>> found.curves["pay"][0].points[0].known
    1
    """
    house = house_policy(policy)
    if house is not None:
        quasi = quasi if quasi is not None else house.roles.quasi
        sensitive = sensitive if sensitive is not None else house.roles.sensitive
        identifier = identifier if identifier is not None else house.roles.identifier
    if method not in METHODS:
        raise unknown("--method:", method, METHODS)
    if (method == "release") != (release is not None):
        raise UsageError("--release goes with --method release", hint="--method release")
    if missing not in ("value", "error"):
        raise UsageError("a missing known value is a value of its own", hint="--missing value")
    if not 1 <= replicates <= 10**4:
        raise UsageError("--replicates must be from 1 to 10,000")
    widths = sorted({float(e) for e in epsilon})
    if any(not np.isfinite(e) or e < 0 for e in widths):
        raise UsageError("--epsilon takes widths from 0 on")
    from sievert import files

    format_ = None if records is None else files.kind(records)
    chosen = _parameters(method, parameters)
    options: dict[str, Any] = {}
    if method == "sampling":
        options = {"prior": prior}
    elif method == "noise":
        options = {"weights": weights, "matching": matching}
    steps: dict[str, float] = {}
    clock = Clock(steps, watch)
    reading = Reading(clock, {**source, "verify": verify}, LARGE)
    run = _Run(clock, method, key, step, show_values, source.get("threads"))
    if release is not None:  # checked and paired once the original is there
        with reading(release) as (table, questions):
            run.release(table.name, questions)
    inputs = [data, release, policy]
    with (
        files.whole(records, sources=inputs, force=force) as target,
        reading(data, outputs=[target] if target else []) as (table, questions),
    ):
        run.original(table.name, questions, quasi, sensitive, identifier, missing)
        described = description(table, questions)
        curves = run.curves(chosen, replicates, seed, max_known, widths, options)
        if records is not None and target is not None:
            clock("writing records", questions)
            with files.writing(records):
                questions.write_columns(run.by_record(curves), target, str(format_))
    clock.stop()
    settings = {
        "method": method, "parameters": list(chosen), "replicates": run.rounds(replicates),
        "seed": seed, "epsilon": widths, "step": step, "queries": QUERIES, **options,
    }  # fmt: skip
    used = {*run.roles.used, *run.roles.identifier, key}
    return Compromises(
        described,
        run.roles,
        curves,
        run.domains,
        settings,
        tuple(run.notes),
        tuple(c for c in run.columns if c not in used),
        steps,
        clock.peaks,
    )


def _parameters(method: str, given: Iterable[float] | None) -> tuple[float, ...]:
    if method == "release":
        if given is not None:
            raise UsageError("a release has no parameter", hint="without --fraction, --size, ...")
        return ()
    chosen = DEFAULTS[method] if given is None else tuple(given)
    if not chosen:
        raise UsageError(f"no {PARAMETERS[method]} given")
    return chosen


class _Run:
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
        self.released: pairing.People | None = None

    def rounds(self, replicates: int) -> int:
        """How often the method is run."""
        return replicates if self.method in PARAMETERS else 1

    def original(
        self,
        name: str,
        questions: Questions,
        quasi: Any,
        sensitive: Any,
        identifier: Any,
        missing: str,
    ) -> None:
        """The records, as codes: known columns in their order, secrets in the order of numbers."""
        from sievert.running import treat_missing

        self.columns = questions.columns
        if not role.names(quasi, self.columns):
            shown = self.columns[:60]
            raise role.missing_roles(
                questions.distinct(shown), questions.records, len(self.columns) - len(shown)
            )
        self.roles, warnings = role.assign(self.columns, quasi, sensitive, identifier)
        self.notes += warnings
        if not self.roles.sensitive:
            raise UsageError("no confidential column of numbers given", hint="-s salary")
        if self.key is not None and self.key in self.roles.used:
            raise UsageError(f"the key {self.key!r} is no role of a release")
        treat_missing(missing, questions, self.roles.quasi)
        if 2 ** len(self.roles.quasi) > MOST_SUBSETS:
            self.notes.append(
                Note("{} known columns: --max-known keeps it short", Count(len(self.roles.quasi)))
            )
        self.clock("reading the records", questions)
        used = tuple(dict.fromkeys(self.roles.used))
        self.people = pairing.people(questions, used, self.key, name)
        self.notes += questions.engine.notes
        if self.released is not None:
            self._pair()

    def release(self, name: str, questions: Questions) -> None:
        """The released records; which columns matter is known later."""
        self.clock("reading the release", questions)
        there = [c for c in questions.columns if c != self.key]
        self.released = pairing.people(questions, there, self.key, name)

    def _pair(self) -> None:
        """The released records, paired with the original's."""
        assert self.released is not None
        self.places, extra = pairing.places(self.people, self.released)
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
    ) -> dict[str, tuple[Curve, ...]]:
        """A curve for each secret and parameter."""
        if most is not None and most < 1:
            raise UsageError("--max-known must be at least 1")
        sizes = range(1, min(len(self.roles.quasi), most or len(self.roles.quasi)) + 1)
        found: dict[str, tuple[Curve, ...]] = {}
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

    def _study(self, secret: str) -> tuple[Study, Any]:
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
        return Study(np.stack(known, axis=1), codes, values, tops), there

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

    def _queries(self, study: Study, seed: int) -> Any:
        from sievert.methods import range_queries

        if self.method not in PARAMETERS:
            return None
        try:
            return range_queries(
                study.known, study.secret, study.values, QUERIES, seed, sizes=study.sizes
            )
        except InputError:
            self.notes.append(Note("no utility: too few ranges have a mean other than 0"))
            return None

    def _released(self, secret: str, study: Study) -> tuple[Any, Any]:
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
        from sievert.losses.loss import joined

        shared = [q for q in self.roles.quasi if q in people.cube.columns]
        if not shared:
            raise UsageError("the release has none of the known columns")
        keys = [np.append(people.codes(q).astype(np.int64), GONE)[at] for q in shared]
        return codes, joined(keys, at != GONE)

    def by_record(self, curves: Mapping[str, Sequence[Curve]]) -> dict[str, tuple[str, Any]]:
        """What is left of everybody's secret to somebody who knows all columns, and its file."""
        found: dict[str, tuple[str, Any]] = {
            "record": ("BIGINT", range(1, self.people.records + 1))
        }
        for secret, each in curves.items():
            for c in each:
                for name, held in c.people.items():
                    full: list[float | None] = [None] * self.people.records
                    for place, x in zip(self.kept[secret].tolist(), held.tolist(), strict=True):
                        full[place] = x
                    told = "" if c.parameter is None else f"_{c.parameter:g}"
                    found[f"{secret}_{name}{told}"] = ("DOUBLE", full)
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
