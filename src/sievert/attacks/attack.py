"""The result of an attack: its numbers, the worst class, the people in it, and one sentence.

All attacks use `Learned`: how much the classes of a cube tell about its last column.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

import numpy as np

from sievert.arrays import Floats, Ints
from sievert.counts.answers import JointCounts, Profiles, RecordCounts, SecretCounts
from sievert.counts.cube import Cube, histogram, run_starts
from sievert.formatting import percent
from sievert.measures import BY_ID, kernel
from sievert.measures.measure import NOTHING_TO_LEARN, MeasureResult, Value
from sievert.measures.target import RecordTarget, SecretTarget

MOST_LISTED = 100  # values of a column, worst first
SAME = 1e-12  # of an entropy: what only rounding tells apart

# id -> unit, which way is risky; measures have their own
UNITS = {
    "people": ("people", "high"),
    "candidates": ("records", "low"),
    "confidence": ("1", "high"),
    "missing": ("1", "low"),
    "missing_after": ("1", "low"),
    "gain": ("1", "high"),
    "ratio": ("1", "high"),
    "prior": ("1", "neither"),
    "posterior": ("1", "high"),
    "parts": ("parts", "neither"),
    "certain": ("people", "high"),
    "rows": ("rows", "neither"),
    "unmatched": ("rows", "neither"),
    "single": ("rows", "high"),
    "suppressed": ("records", "neither"),
    "register_discrimination_rate": ("1", "high"),
    "known": ("rows", "neither"),
    "true_matches": ("rows", "high"),
    "false_matches": ("rows", "neither"),
    "lost": ("rows", "neither"),
    "right_guesses": ("rows", "high"),
    "correct_linkage": ("1", "high"),
    "spruill_confidentiality": ("1", "low"),
    "baseline": ("1", "neither"),
    "attacker_accuracy": ("1", "high"),
    "attacker_accuracy_literal": ("1", "high"),
    "attacker_expects": ("1", "high"),
    "learner_accuracy": ("1", "neither"),
    "learner_accuracy_literal": ("1", "neither"),
    "global_relative_risk": ("1", "high"),
    "global_relative_risk_literal": ("1", "high"),
    "max_relative_risk": ("1", "high"),
    "at_risk": ("people", "high"),
    "undecided": ("people", "neither"),
    "learner_undecided": ("people", "neither"),
}


# In the JSON of an attack, besides its numbers, parts and details.
OF_EVERY_ATTACK = frozenset({"reading", "worst_class", "columns", "values"})


def _read_numbers(data: Mapping[str, Any]) -> dict[str, Value]:
    """Read the numbers among the entries of the JSON back: they have a risky side."""
    return {
        name: Value.from_dict(name, entry)
        for name, entry in data.items()
        if isinstance(entry, Mapping) and "riskier" in entry and "value" in entry
    }


def value(name: str, number: float | None, reason: str | None = None) -> Value:
    """A number with its unit and its risky side."""
    unit, riskier = UNITS[name] if name in UNITS else (BY_ID[name].unit, BY_ID[name].riskier)
    return Value(id=name, value=number, unit=unit, riskier=riskier, reason=reason)


def measure_value(name: str, target: Any, **options: Any) -> Value:
    """A measure of a target."""
    result = BY_ID[name].compute(target, options)
    parts = (result.value, result.reason) if isinstance(result, MeasureResult) else (result,)
    return value(name, *parts)


@dataclass(frozen=True)
class Group:
    """People who look alike: how many, what is known of them, and, if asked for, their values."""

    records: int
    numbers: Mapping[str, Value] = field(default_factory=dict)
    values: Mapping[str, str | None] | None = None

    @classmethod
    def from_dict(
        cls, data: Mapping[str, Any], units: Mapping[str, Mapping[str, str]] | None = None
    ) -> "Group":
        """Read a group back from the JSON; in a list the `units` stand above it."""
        if units is None:
            numbers = _read_numbers(data)
        else:
            numbers = {
                name: Value(id=name, value=data[name], unit=unit["unit"], riskier=unit["riskier"])
                for name, unit in units.items()
            }
        return cls(records=data["records"], numbers=numbers, values=data.get("values"))

    def number(self, name: str) -> float | None:
        """A number of the group; None where it has none."""
        own = self.numbers.get(name)
        return None if own is None else own.value

    def to_dict(self, units: bool = True) -> dict[str, Any]:
        """As it stands in the JSON; in a list of such groups the units stand above the list."""
        numbers = {k: v.to_dict() if units else v.value for k, v in self.numbers.items()}
        values = {} if self.values is None else {"values": dict(self.values)}
        return {"records": self.records, **numbers, **values}


@dataclass(frozen=True)
class Listed:
    """The values of one column, worst first: all, or the first of many."""

    number: int
    groups: tuple[Group, ...]

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "Listed":
        """Read the values back from the JSON."""
        groups = (Group.from_dict(entry, data["units"]) for entry in data["listed"])
        return cls(number=data["number"], groups=tuple(groups))

    def to_dict(self) -> dict[str, Any]:
        """As it stands in the JSON."""
        return {
            "number": self.number,
            "units": {
                k: {"unit": v.unit, "riskier": v.riskier}
                for k, v in (self.groups[0].numbers if self.groups else {}).items()
            },
            "listed": [g.to_dict(units=False) for g in self.groups],
        }


@dataclass(frozen=True)
class Column:
    """What one column alone gives away, and each of its values."""

    number: Value
    values: Listed

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "Column":
        """Read a column back from the JSON."""
        (number,) = _read_numbers(data).values()
        return cls(number=number, values=Listed.from_dict(data["values"]))

    def to_dict(self) -> dict[str, Any]:
        """As it stands in the JSON."""
        return {self.number.id: self.number.to_dict(), "values": self.values.to_dict()}


@dataclass(frozen=True, kw_only=True)
class Attack:
    """One attack on one target."""

    numbers: Mapping[str, Value]
    reading: str
    worst: Group | None = None
    columns: Mapping[str, Column] = field(default_factory=dict)
    values: Listed | None = None
    parts: Mapping[str, "Attack"] = field(default_factory=dict)
    details: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "Attack":
        """Read an attack back from the JSON: its numbers and its parts are known by their form."""
        numbers = _read_numbers(data)
        parts = {
            name: cls.from_dict(entry)
            for name, entry in data.items()
            if isinstance(entry, Mapping) and "reading" in entry
        }
        columns = data.get("columns") or {}
        worst = data.get("worst_class")
        values = data.get("values")
        return cls(
            numbers=numbers,
            reading=data["reading"],
            worst=None if worst is None else Group.from_dict(worst),
            columns={name: Column.from_dict(entry) for name, entry in columns.items()},
            values=None if values is None else Listed.from_dict(values),
            parts=parts,
            details={
                name: entry
                for name, entry in data.items()
                if name not in OF_EVERY_ATTACK and name not in numbers and name not in parts
            },
        )

    def number(self, name: str) -> float | None:
        """A number of the attack; None where it has none."""
        own = self.numbers.get(name)
        return None if own is None else own.value

    def to_dict(self) -> dict[str, Any]:
        """As it stands in the JSON."""
        columns = {c: v.to_dict() for c, v in self.columns.items()}
        return {
            **{k: v.to_dict() for k, v in self.numbers.items()},
            "reading": self.reading,
            **self.details,
            **({} if self.worst is None else {"worst_class": self.worst.to_dict()}),
            **({"columns": columns} if columns else {}),
            **({} if self.values is None else {"values": self.values.to_dict()}),
            **{name: part.to_dict() for name, part in self.parts.items()},
        }


Attacks = Mapping[str, Mapping[str, Attack]]


def with_target(cube: Cube, secret: str) -> Cube:
    """The same cells with a quasi-identifier once more as the last column, the secret."""
    at = cube.columns.index(secret)
    return Cube(
        columns=(*cube.columns, f"{secret} (secret)"),
        codes=(*cube.codes, cube.codes[at]),
        counts=cube.counts,
        values=(*cube.values, cube.values[at]),
    )


class Learned:
    """What the classes of a cube tell about its last column."""

    def __init__(self, cube: Cube) -> None:
        self.cube = cube
        self.records = cube.records
        self.starts, self.sizes = cube.classes
        self.lengths = np.diff(np.append(self.starts, len(cube.counts)))
        self.owner = cube.owner
        self.totals = cube.totals(-1)
        self.downwards = cube.counts[np.lexsort((-cube.counts, self.owner))]

    @cached_property
    def target(self) -> SecretTarget:
        """The numbers that information measures are made of."""
        cells = self.cube.counts
        totals = self.totals
        return SecretTarget(
            SecretCounts(
                records=self.records,
                sizes=histogram(self.sizes),
                values=histogram(totals[totals > 0]),
                profiles=Profiles(self.downwards, self.starts, np.ones_like(self.starts)),
                joint=joint(
                    self.sizes[self.owner],
                    totals[self.cube.codes[-1]],
                    cells,
                    np.ones_like(cells),
                ),
            )
        )

    @cached_property
    def entropies(self) -> Floats:
        """H(S|q) of every class, in bits."""
        return kernel.profile_entropies(self.downwards, self.starts)

    @cached_property
    def shares(self) -> Floats | None:
        """h_q/H(S) of every class: its share of what is still missing; None without any doubt."""
        if self.target.entropy == 0.0:
            return None
        if len(self.starts) == 1:
            return np.ones(1)
        return np.clip(self.sizes * self.entropies / self.records / self.target.entropy, 0.0, 1.0)

    def drop(self, i: int) -> float:
        """H(S) - H(S|q) of one class, in bits; negative where a class is less certain."""
        whole = self.target.entropy
        left = float(self.entropies[i])
        if abs(whole - left) > kernel.CANCELLATION * whole:
            return whole - left
        profile = self.downwards[self.starts[i] : self.starts[i] + self.lengths[i]].tolist()
        sizes = self.target.values.sizes.tolist()
        times = self.target.values.times.tolist()
        with kernel.precisely():
            after = kernel.decimal_entropy(profile, [1] * len(profile), sum(profile))
            return float(kernel.decimal_entropy(sizes, times, self.records) - after)

    @property
    def first(self) -> Ints:
        """How often every class has its most frequent value."""
        return self.downwards[self.starts]

    @cached_property
    def surest(self) -> tuple[int, Ints]:
        """The class with the least uncertainty, and all classes with the same uncertainty.

        Of several such classes it is the largest one; of equally large ones, the one with the best
        guess. So its numbers do not depend on the spelling of values or the order of columns.
        """
        least = float(self.entropies.min())
        alike = np.flatnonzero(self.entropies <= least + SAME * max(1.0, least))
        keys = (self.entropies[alike], -self.first[alike], -self.sizes[alike])
        return int(alike[np.lexsort(keys)[0]]), alike

    def class_values(self, i: int, show: bool) -> dict[str, str | None] | None:
        """The values of a class, where values may be shown."""
        texts = values_of(self.cube, int(self.starts[i]), show) or {}
        return {column: texts[column] for column in self.cube.columns[:-1]} if show else None

    def surest_class(self, show: bool) -> Group:
        """The class with the least uncertainty, with its numbers."""
        i, _ = self.surest
        rate = None if self.shares is None else float(1.0 - self.shares[i])
        return Group(
            int(self.sizes[i]),
            {
                "conditional_entropy": value("conditional_entropy", float(self.entropies[i])),
                "confidence": value(
                    "confidence", kernel.ratio(int(self.first[i]), int(self.sizes[i]))
                ),
                "discrimination_rate_of_value": value(
                    "discrimination_rate_of_value",
                    rate,
                    NOTHING_TO_LEARN if rate is None else None,
                ),
            },
            self.class_values(i, show),
        )

    def people(self) -> int:
        """Count the people in classes that are as bad as the worst one."""
        return int(self.sizes[self.surest[1]].sum())


def joint(nq: Ints, ns: Ints, n: Ints, times: Ints) -> JointCounts:
    """Count the cells with the same size of class, total of value, and number of records."""
    order = np.lexsort((n, ns, nq))
    nq = nq[order]
    ns = ns[order]
    n = n[order]
    starts = run_starts(nq, ns, n)
    return JointCounts(
        class_size=nq[starts],
        value_size=ns[starts],
        count=n[starts],
        times=np.add.reduceat(times[order], starts),
    )


def record_target(sizes: Ints) -> RecordTarget:
    """The record itself as the target, found by classes of these sizes."""
    return RecordTarget(RecordCounts(records=int(sizes.sum()), sizes=histogram(sizes)))


def values_of(cube: Cube, cell: int, show: bool) -> dict[str, str | None] | None:
    """The values of a cell, where values may be shown."""
    columns = zip(cube.columns, cube.codes, cube.values, strict=True)
    return {c: values[codes[cell]] for c, codes, values in columns} if show else None


def list_groups(
    sizes: Ints,
    numbers: Floats | None,
    name: str,
    values: Callable[[int], Mapping[str, str | None] | None],
) -> Listed:
    """List classes by one of their numbers, worst first."""
    riskier = BY_ID[name].riskier if name in BY_ID else UNITS[name][1]
    worst = np.zeros(len(sizes)) if numbers is None else numbers
    order = np.lexsort((np.arange(len(sizes)), -sizes, -worst if riskier == "high" else worst))
    reason = NOTHING_TO_LEARN if numbers is None else None
    first = order[:MOST_LISTED].tolist()
    chosen = [None] * len(first) if numbers is None else numbers[first].tolist()
    groups = (
        Group(int(sizes[i]), {name: value(name, number, reason)}, values(i))
        for i, number in zip(first, chosen, strict=True)
    )
    return Listed(len(sizes), tuple(groups))


def by_column(cube: Cube, show: bool, *, missing: bool = False) -> dict[str, Column]:
    """Rate each column alone, and each of its values, by what it tells about the last column.

    With `missing`, the rates say what is still missing to certainty.
    """
    columns = {}
    if missing:
        whole = "normalized_conditional_entropy"
        each = "missing"
    else:
        whole = "discrimination_rate"
        each = "discrimination_rate_of_value"
    for column in cube.columns[:-1]:
        alone = Learned(cube.roll_up((column, cube.columns[-1])))
        shares = alone.shares
        numbers = shares
        if shares is not None and not missing:
            numbers = 1.0 - shares
        rate = measure_value(whole, alone.target)
        columns[column] = Column(
            value("missing", rate.value, rate.reason) if missing else rate,
            list_groups(alone.sizes, numbers, each, partial(alone.class_values, show=show)),
        )
    return columns


def points(gain: float) -> str:
    """A difference of two probabilities."""
    return f"{percent(gain).removesuffix(' %')} percentage points"


def certainty_gained(columns: int, rate: float, what: str) -> str:
    """Say in a sentence how much of the uncertainty is removed."""
    who = "This column removes" if columns == 1 else f"These {columns} columns together remove"
    return f"{who} {percent(rate)} of the uncertainty about {what}."
