"""The experiment: every set of known columns and every combination in it, repeated."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sievert.arrays import Floats, Ints
from sievert.commands.compromise.settings import MATCHINGS, CompromiseSettings
from sievert.measures import kernel
from sievert.measures.approximate.compromise import compromises
from sievert.methods import (
    Groups,
    Queries,
    add_noise,
    draw_sample,
    frequencies,
    group_by_subsets,
    restrict_queries,
    utility,
)

LOWEST = 0.05  # the quantile that is reported with the mean and the minimum
ROOM = 1 << 22  # numbers in memory at a time
NUMBERS = ("initial_entropy", "area")
MATCHED_RUNS = 5  # runs that compute both
MOST_MATCHED = 3 * 10**7  # targets times records: "likelihood" weights all of them


@dataclass(frozen=True)
class ExperimentData:
    """Codes of the known columns, and codes of the confidential column into its domain."""

    known: Ints
    secret: Ints
    values: Floats
    sizes: tuple[int, ...]  # values of each known column


@dataclass(frozen=True)
class TargetSummary:
    """One number over all targets: mean, least, 5 % quantile."""

    mean: float
    minimum: float
    quantile: float

    @classmethod
    def from_dict(cls, data: Mapping[str, float]) -> "TargetSummary":
        """Read the numbers back from the JSON."""
        return cls(mean=data["mean"], minimum=data["minimum"], quantile=data["quantile_05"])

    def to_dict(self) -> dict[str, float]:
        """The numbers as JSON."""
        return {"mean": self.mean, "minimum": self.minimum, "quantile_05": self.quantile}


@dataclass(frozen=True, kw_only=True)
class CompromisePoint:
    """The uncertainty of an intruder who knows a number of columns.

    In `combinations` all combinations of known values have the same weight, as in the paper; in
    `records` all people.
    """

    known: int
    subsets: int
    targets: int  # combinations, over all sets of this number of columns
    combinations: Mapping[str, TargetSummary]
    records: Mapping[str, TargetSummary]
    exact: tuple[float, float]  # shares of combinations and of records with one value left
    near: Mapping[float, tuple[float, float]]  # the same with one window left, by epsilon

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], target: Mapping[str, Any]) -> "CompromisePoint":
        """Read a point back from the JSON; its `target` says who is compromised."""
        exact = target["exact"]
        summary = TargetSummary.from_dict
        return cls(
            known=data["known"],
            subsets=data["subsets"],
            targets=data["combinations"],
            combinations={n: summary(each) for n, each in data["over_combinations"].items()},
            records={n: summary(each) for n, each in data["over_records"].items()},
            exact=(exact["combinations"], exact["records"]),
            near={
                each["epsilon"]: (each["combinations"], each["records"])
                for each in target["approximate"]
            },
        )

    @property
    def known_records(self) -> float:
        """The share of records with one value left."""
        return self.exact[1]

    @property
    def known_combinations(self) -> float:
        """The share of combinations with one value left."""
        return self.exact[0]

    @property
    def near_records(self) -> Mapping[float, float]:
        """The share of records with one window left, by epsilon."""
        return {epsilon: records for epsilon, (_, records) in self.near.items()}

    def to_dict(self) -> dict[str, Any]:
        """The point as JSON."""
        return {
            "known": self.known,
            "subsets": self.subsets,
            "combinations": self.targets,
            "over_combinations": {k: v.to_dict() for k, v in self.combinations.items()},
            "over_records": {k: v.to_dict() for k, v in self.records.items()},
        }


@dataclass(frozen=True, kw_only=True)
class ExperimentPlan:
    """The settings of an experiment, and what follows from them."""

    settings: CompromiseSettings
    parameters: tuple[float, ...]  # of the method, each once; none of a release
    epsilons: tuple[float, ...]  # each once, in ascending order


@dataclass(frozen=True, kw_only=True)
class MatchedIntruder:
    """The result of one way to match, with most columns known, in the same few runs."""

    matching: str
    known: int
    runs: int
    bits: float  # mean over records
    exact: float  # share of records with one value left
    near: Mapping[float, float]  # by epsilon, with one window left

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "MatchedIntruder":
        """Read the numbers back from the JSON."""
        return cls(
            matching=data["matching"],
            known=data["known"],
            runs=data["runs"],
            bits=data["initial_entropy"],
            exact=data["exact"],
            near={each["epsilon"]: each["records"] for each in data["approximate"]},
        )

    def to_dict(self) -> dict[str, Any]:
        """The numbers as JSON."""
        return {
            "matching": self.matching,
            "known": self.known,
            "runs": self.runs,
            "initial_entropy": self.bits,
            "exact": self.exact,
            "approximate": [{"epsilon": eps, "records": share} for eps, share in self.near.items()],
        }


@dataclass(frozen=True, kw_only=True)
class ExperimentCurve:
    """One parameter of a method: a point for each number of known columns."""

    parameter: float | None
    axis: float | None  # utility on the paper's own scale
    error: float | None  # root mean square relative error of range means
    points: tuple[CompromisePoint, ...]
    people: Mapping[str, Floats] = field(default_factory=dict)  # all columns known, by class
    matchings: tuple[MatchedIntruder, ...] = ()  # of noise

    @classmethod
    def from_dict(
        cls, data: Mapping[str, Any], targets: Iterable[Mapping[str, Any]]
    ) -> "ExperimentCurve":
        """Read a curve back from the JSON; `targets` say who is compromised, of all curves."""
        parameter = data["parameter"]
        by_known = {each["known"]: each for each in targets if each["parameter"] == parameter}
        points = [CompromisePoint.from_dict(p, by_known[p["known"]]) for p in data["points"]]
        matchings = data.get("matchings") or ()
        return cls(
            parameter=parameter,
            axis=data["utility"]["axis"],
            error=data["utility"]["range_mean_error"],
            points=tuple(points),
            matchings=tuple(MatchedIntruder.from_dict(each) for each in matchings),
        )

    @property
    def last(self) -> CompromisePoint | None:
        """The point of an intruder who knows most columns."""
        return max(self.points, key=lambda point: point.known, default=None)


def experiment_curve(
    data: ExperimentData,
    plan: ExperimentPlan,
    place: int,
    sizes: Sequence[int],
    queries: Queries | None,
    released: tuple[Ints, Ints] | None,
    next_round: Callable[[], None],
) -> ExperimentCurve:
    """Run the experiment for the parameter at `place`, with known columns in sets of `sizes`."""
    settings = plan.settings
    parameter = plan.parameters[place] if plan.parameters else None
    targets: dict[int, list[dict[str, Any]]] = {size: [] for size in sizes}
    people: list[dict[str, Floats]] = []
    errors = []
    axis = None
    for number in range(settings.rounds):
        protected = _protect(data, settings.method, parameter, (settings.seed, place, number))
        axis = None if protected is None else protected.axis
        if protected is not None and queries is not None:
            known, numbers_known = _answers(data, settings.method, protected)
            errors.append(utility(queries, known, numbers_known).error)
        for batch in _batches(group_by_subsets(data.known, sizes), len(data.values)):
            chances = [
                np.asarray(protected.probabilities(groups, **settings.method_options))
                if released is None
                else frequencies(groups, released[0], len(data.values), released[1])
                for groups in batch
            ]
            result = compromises(
                data.values,
                np.concatenate(chances),
                epsilons=plan.epsilons,
                threads=settings.threads,
            )
            end = 0
            for groups in batch:
                mine = slice(end, end + groups.count)
                end += groups.count
                numbers = {name: getattr(result, name)[mine] for name in (*NUMBERS, "range")}
                targets[len(groups.columns)].append(
                    {**numbers, "sizes": groups.sizes, "entropies": result.entropies[mine]}
                )
                if len(groups.columns) == data.known.shape[1]:
                    people.append({name: x[groups.ids] for name, x in numbers.items()})
        next_round()
    by_person = {}
    if people:
        by_person = {name: np.mean([each[name] for each in people], axis=0) for name in people[0]}
    return ExperimentCurve(
        parameter=parameter,
        axis=axis,
        error=float(np.mean(errors)) if errors else None,
        points=tuple(_point(size, targets[size], plan) for size in sizes),
        people=by_person,
        matchings=tuple(_matchings(data, plan, place, max(sizes)))
        if settings.method == "noise"
        else (),
    )


def _matchings(
    data: ExperimentData, plan: ExperimentPlan, place: int, size: int
) -> Iterator[MatchedIntruder]:
    """Compare both ways to match; yield nothing if weighting all records would take long."""
    settings = plan.settings
    each = list(group_by_subsets(data.known, (size,)))
    runs = min(settings.rounds, MATCHED_RUNS)
    if sum(groups.count for groups in each) * len(data.secret) * runs > MOST_MATCHED:
        return
    releases = [
        _protect(data, "noise", plan.parameters[place], (settings.seed, place, run))
        for run in range(runs)
    ]
    for matching in MATCHINGS:
        chances = [
            release.probabilities(groups, **{**settings.method_options, "matching": matching})
            for release in releases
            for groups in each
        ]
        result = compromises(
            data.values, np.concatenate(chances), epsilons=plan.epsilons, threads=1
        )
        weights = np.tile(np.concatenate([groups.sizes for groups in each]), runs)
        weights = weights / weights.sum()
        bits, *near = (
            float(weights @ numbers)
            for numbers in (result.initial_entropy, *(result.entropies == 0).T)
        )
        yield MatchedIntruder(
            matching=matching,
            known=size,
            runs=runs,
            bits=bits,
            exact=float(weights @ (result.initial_entropy == 0)),
            near=dict(zip(plan.epsilons, near, strict=True)),
        )


def _batches(each: Iterable[Groups], size: int) -> Iterator[list[Groups]]:
    """Yield groups of several sets of columns, as many as there is room for."""
    batch: list[Groups] = []
    numbers = 0
    for groups in each:
        need = groups.count * size + len(groups.ids)
        if batch and numbers + need > ROOM:
            yield batch
            batch = []
            numbers = 0
        batch.append(groups)
        numbers += need
    if batch:
        yield batch


def _protect(
    data: ExperimentData, method: str, parameter: float | None, seed: Sequence[int]
) -> Any:
    """Apply the publisher's method to the data; None for a release from a file."""
    number = 0 if parameter is None else parameter
    secret = data.secret
    values = data.values
    match method:
        case "sampling":
            return draw_sample(secret, values, float(number), seed)
        case "query":
            return restrict_queries(secret, values, int(number), seed)
        case "noise":
            return add_noise(data.known, secret, values, float(number), seed, sizes=data.sizes)
    return None


def _answers(data: ExperimentData, method: str, protected: Any) -> tuple[Ints, Floats]:
    """The known codes and the confidential numbers of a user of the release."""
    if method == "sampling":
        return data.known[protected.taken], data.values[data.secret[protected.taken]]
    if method == "query":
        return data.known, protected.estimates
    return protected.nearest, protected.numbers


def _point(
    size: int, targets: Sequence[Mapping[str, Any]], plan: ExperimentPlan
) -> CompromisePoint:
    """Make a point of the curve from the targets of all sets of `size` columns and replicates."""
    rounds = plan.settings.rounds
    numbers = {
        name: np.concatenate([t[name] for t in targets])
        for name in (*NUMBERS, "sizes", "entropies")
    }
    weights = numbers["sizes"].astype(np.float64)
    equal = np.ones(len(weights))
    exact, *near = (
        (float(equal[hit].sum() / equal.sum()), float(weights[hit].sum() / weights.sum()))
        for hit in (numbers["initial_entropy"] == 0, *(numbers["entropies"] == 0).T)
    )
    return CompromisePoint(
        known=size,
        subsets=len(targets) // rounds,
        targets=len(weights) // rounds,
        combinations={n: _summary(numbers[n], equal) for n in NUMBERS},
        records={n: _summary(numbers[n], weights) for n in NUMBERS},
        exact=exact,
        near=dict(zip(plan.epsilons, near, strict=True)),
    )


def _summary(numbers: Floats, weights: Floats) -> TargetSummary:
    order = np.argsort(numbers, kind="stable")
    below = np.cumsum(weights[order])
    at = int(np.searchsorted(below, LOWEST * below[-1]))
    return TargetSummary(
        mean=kernel.total(numbers * weights) / float(below[-1]),
        minimum=float(numbers[order[0]]),
        quantile=float(numbers[order[min(at, len(order) - 1)]]),
    )
