"""The experiment: every set of known columns, every combination that occurs, again and again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sievert.arrays import Floats, Ints
from sievert.measures import kernel
from sievert.measures.approximate.compromise import compromises
from sievert.methods import (
    Groups,
    Queries,
    every,
    frequencies,
    noisy,
    restricted,
    sampled,
    utility,
)

LOWEST = 0.05  # the quantile that is shown beside the mean and the minimum
METHODS = ("sampling", "query", "noise", "release")
PARAMETERS = {"sampling": "fraction", "query": "size", "noise": "percent"}
ROOM = 1 << 22  # numbers held at a time
NUMBERS = ("initial_entropy", "area")


@dataclass(frozen=True)
class ExperimentData:
    """What is studied: codes of the known columns, and of the secret into its domain."""

    known: Ints
    secret: Ints
    values: Floats
    sizes: tuple[int, ...]  # values of each known column

    @property
    def records(self) -> int:
        """How many records there are."""
        return len(self.secret)


@dataclass(frozen=True)
class TargetSummary:
    """One number over all targets: mean, least, 5 % quantile."""

    mean: float
    minimum: float
    quantile: float

    def to_dict(self) -> dict[str, float]:
        """As it stands in the JSON."""
        return {"mean": self.mean, "minimum": self.minimum, "quantile_05": self.quantile}


@dataclass(frozen=True)
class CompromisePoint:
    """What so many known columns leave to an intruder.

    `combinations` counts every combination of known values alike, as the paper does; `records`
    every person.
    """

    known: int
    subsets: int
    targets: int  # combinations, over all sets of so many columns
    combinations: Mapping[str, TargetSummary]
    records: Mapping[str, TargetSummary]
    exact: tuple[float, float]  # share of combinations, and of records, with one value left
    near: Mapping[float, tuple[float, float]]  # by epsilon, those with one window left

    def to_dict(self) -> dict[str, Any]:
        """As it stands in the JSON."""
        return {
            "known": self.known,
            "subsets": self.subsets,
            "combinations": self.targets,
            "over_combinations": {k: v.to_dict() for k, v in self.combinations.items()},
            "over_records": {k: v.to_dict() for k, v in self.records.items()},
        }


@dataclass(frozen=True)
class ExperimentCurve:
    """One parameter of a method: a point for each number of known columns."""

    parameter: float | None
    axis: float | None  # utility on the paper's own scale
    error: float | None  # root mean square relative error of range means
    points: tuple[CompromisePoint, ...]
    people: Mapping[str, Floats] = field(default_factory=dict)  # all columns known, by class


def curve(
    study: ExperimentData,
    method: str,
    parameter: float | None,
    *,
    replicates: int,
    seed: int,
    place: int,
    sizes: Sequence[int],
    epsilons: Sequence[float],
    queries: Queries | None,
    released: tuple[Ints, Ints] | None = None,
    options: Mapping[str, Any],
    threads: int | None,
    step: Callable[[], None],
) -> ExperimentCurve:
    """The experiment for one parameter."""
    held: dict[int, list[_Seen]] = {size: [] for size in sizes}
    errors, axis = [], None
    whole = study.known.shape[1]
    people: list[Mapping[str, Floats]] = []
    rounds = replicates if method in PARAMETERS else 1
    for number in range(rounds):
        made = _made(study, method, parameter, (seed, place, number))
        axis = None if made is None else made.axis
        if made is not None and queries is not None:
            errors.append(utility(queries, *_answers(study, method, made)).error)
        for some in _together(every(study.known, sizes), len(study.values)):
            chances = [_chances(study, made, released, groups, options) for groups in some]
            batch = compromises(
                study.values, np.concatenate(chances), epsilons=epsilons, threads=threads
            )
            end = 0
            for groups in some:
                mine = slice(end, end := end + groups.count)
                held[len(groups.columns)].append(
                    _Seen(
                        groups.sizes,
                        batch.initial_entropy[mine],
                        batch.area[mine],
                        batch.entropies[mine],
                    )
                )
                if len(groups.columns) == whole:
                    people.append(
                        {
                            "initial_entropy": batch.initial_entropy[mine][groups.ids],
                            "area": batch.area[mine][groups.ids],
                            "range": batch.range[mine][groups.ids],
                        }
                    )
        step()
    points = tuple(_point(size, held[size], rounds, epsilons) for size in sizes)
    error = float(np.mean(errors)) if errors else None
    means = {name: np.mean([each[name] for each in people], axis=0) for name in (people or [{}])[0]}
    return ExperimentCurve(parameter, axis, error, points, means)


def _together(each: Iterable[Groups], size: int) -> Iterator[list[Groups]]:
    """Groups of several sets of columns, as many as there is room for."""
    some: list[Groups] = []
    held = 0
    for groups in each:
        need = groups.count * size + len(groups.ids)
        if some and held + need > ROOM:
            yield some
            some, held = [], 0
        some.append(groups)
        held += need
    if some:
        yield some


def _chances(
    study: ExperimentData,
    made: Any,
    released: tuple[Ints, Ints] | None,
    groups: Groups,
    options: Mapping[str, Any],
) -> Floats:
    if made is None:
        assert released is not None
        return frequencies(groups, released[0], len(study.values), released[1])
    return np.asarray(made.probabilities(groups, **options))


def _made(study: ExperimentData, method: str, parameter: float | None, seed: Sequence[int]) -> Any:
    if method == "sampling":
        return sampled(study.secret, study.values, float(parameter or 0), seed)
    if method == "query":
        return restricted(study.secret, study.values, int(parameter or 0), seed)
    if method == "noise":
        return noisy(
            study.known, study.secret, study.values, float(parameter or 0), seed, sizes=study.sizes
        )
    return None


def _answers(study: ExperimentData, method: str, made: Any) -> tuple[Ints, Floats]:
    """Known codes and confidential numbers that a user of the release has."""
    if method == "sampling":
        return study.known[made.taken], study.values[study.secret[made.taken]]
    if method == "query":
        return study.known, made.estimates
    return made.nearest, made.numbers


@dataclass(frozen=True)
class _Seen:
    """The targets of one set of columns in one replicate."""

    sizes: Ints
    initial_entropy: Floats
    area: Floats
    entropies: Floats  # at each epsilon


def _point(
    size: int, seen: Sequence[_Seen], rounds: int, epsilons: Sequence[float]
) -> CompromisePoint:
    weights = np.concatenate([s.sizes for s in seen]).astype(np.float64)
    alike = np.ones(len(weights))
    numbers = {n: np.concatenate([getattr(s, n) for s in seen]) for n in NUMBERS}
    zero = numbers["initial_entropy"] == 0
    near = {
        eps: np.concatenate([s.entropies[:, i] for s in seen]) == 0
        for i, eps in enumerate(epsilons)
    }
    return CompromisePoint(
        size,
        len(seen) // rounds,
        sum(len(s.sizes) for s in seen) // rounds,
        {n: _told(held, alike) for n, held in numbers.items()},
        {n: _told(held, weights) for n, held in numbers.items()},
        (_share(zero, alike), _share(zero, weights)),
        {eps: (_share(hit, alike), _share(hit, weights)) for eps, hit in near.items()},
    )


def _told(numbers: Floats, weights: Floats) -> TargetSummary:
    order = np.argsort(numbers, kind="stable")
    below = np.cumsum(weights[order])
    at = int(np.searchsorted(below, LOWEST * below[-1]))
    mean = kernel.total(numbers * weights) / float(below[-1])
    return TargetSummary(
        mean, float(numbers[order[0]]), float(numbers[order[min(at, len(order) - 1)]])
    )


def _share(hit: Any, weights: Floats) -> float:
    return float(weights[hit].sum() / weights.sum())
