"""Options of single commands."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from cyclopts import Group, Parameter

from sievert.cli.options import Names, Options, pairs, typed_names
from sievert.errors import UsageError

PARAMETERS = {"sampling": "fraction", "query": "size", "noise": "percent"}


def _numbers(given: Iterable[str], option: str) -> list[float]:
    """Numbers separated by commas, as often as they were given."""
    try:
        return [float(text) for part in given for text in part.split(",") if text]
    except ValueError:
        raise UsageError(f"{option}: numbers separated by commas", hint="0.05,0.1") from None


@Parameter(name="*", group=Group("Attacks", sort_key=1))
@dataclass(frozen=True)
class AttackOptions(Options):
    """What the attacker has besides the release."""

    register: str | None = None
    """A table that shares quasi-identifiers with the release: who are the candidates of a row?"""
    original: str | None = None
    """The table that the release was made of, in the same order unless there is a key."""
    key: str | None = None
    """A column that tells people apart, the same in all tables."""
    value: Names = None
    """COL=VALUE: the value of a secret whose rise in a class matters, such as disease=HIV."""

    def arguments(self) -> dict[str, Any]:
        """As the library takes them."""
        return {**vars(self), "value": pairs(self.value, "--value", "disease=HIV")}


@Parameter(name="*", group=Group("Reasoning", sort_key=1.1))
@dataclass(frozen=True)
class ReasoningOptions(Options):
    """Somebody who reasons by Bayes' rule from the release itself."""

    no_reasoning: bool = False
    """Leave out the attack by reasoning."""
    sensitive_table: str | None = None
    """The second table of a release by Anatomy: groups and their secrets."""
    group: str | None = None
    """The column of groups, within which it is unknown who has which secret."""
    likelihood: str = "product"
    """product: columns are independent given the secret; saturated: all columns are one symbol."""
    alpha: float = 1.0
    """The weight of every secret before the release is seen."""
    beta: float = 1.0
    """The weight of every value given the secret before the release is seen."""
    domain: Names = None
    """COL=FILE or COL=LOW..HIGH: values that a column may have; or observed: the original's."""
    chains: int | None = None
    """How many chains, where beliefs must be sampled: 4, or 8 by groups, unless given."""
    sweeps: int | None = None
    """At most so many sweeps of each chain."""
    seed: int = 0
    """Where chance starts."""

    def arguments(self) -> dict[str, Any]:
        """As the library takes them."""
        options = dict(vars(self))
        options["reasoning"] = not options.pop("no_reasoning")
        names = ["cross"] if self.domain is None else list(self.domain)
        if names in (["cross"], ["observed"]):
            return options | {"domain": names[0]}
        return options | {"domain": pairs(names, "--domain", "age=17..90")}


@Parameter(name="*", group=Group("Comparison", sort_key=1))
@dataclass(frozen=True)
class ComparisonOptions(Options):
    """How releases are held against their original."""

    key: str | None = None
    """A column that tells people apart, the same in all tables; else their order must be."""
    predict: Names = None
    """Columns to predict from the release and from the original; the secrets unless given."""
    bins: Names = None
    """COL=N: cut a column of numbers at N quantiles of the original; 0 for the values as they
    are. Columns of nearly as many numbers as records are cut unless told otherwise."""
    shuffles: int = 99
    """From how many shuffles a p-value is made; 0 for none."""
    seed: int = 0
    """Where shuffling starts."""
    limit: bool = False
    """Hold each release against the least bits about a secret that its distortion would allow."""

    def arguments(self) -> dict[str, Any]:
        """As the library takes them."""
        numbers: dict[str, int] = {}
        for column, text in pairs(self.bins, "--bins", "income=10").items():
            if not text.isdecimal():
                raise UsageError("--bins takes COLUMN=NUMBER", hint="--bins income=10")
            numbers[column] = int(text)
        return {**vars(self), "predict": typed_names(self.predict), "bins": numbers}


@Parameter(name="*", group=Group("Method", sort_key=1))
@dataclass(frozen=True)
class MethodOptions(Options):
    """What the publisher does, and what the intruder makes of it."""

    method: str = "sampling"
    """sampling, query, noise, or release: any other method, from a released table."""
    fraction: Names = None
    """Of sampling: 0.05,0.1,0.2,0.5 unless given."""
    size: Names = None
    """Of query restriction: records of a query, even: 2,4,8,16,32 unless given."""
    percent: Names = None
    """Of noise: per cent of each domain: 10,20,25,50,100 unless given."""
    release: str | None = None
    """With --method release: the released table, in the same order unless there is a key."""
    key: str | None = None
    """With --method release: a column that tells people apart, in both tables."""
    epsilon: Names = None
    """Widths within which a confidential number must not be known: 10,20."""
    step: float | None = None
    """Round confidential numbers to multiples of this."""
    replicates: int = 30
    """How often a method is run for each parameter."""
    max_known: int | None = None
    """At most so many known columns."""
    seed: int = 0
    """Where chance starts."""
    prior: str = "uniform"
    """Of sampling: what matches outside the sample are taken to have: uniform, sample."""
    weights: str = "uniform"
    """Of noise: how likely the origins of a value are: uniform, posterior."""
    matching: str = "oracle"
    """Of noise: who matches what is known: oracle, likelihood."""

    def arguments(self) -> dict[str, Any]:
        """As the library takes them."""
        options = dict(vars(self))
        parameters = None
        for method, option in PARAMETERS.items():
            values = options.pop(option)
            if values is not None and method != self.method:
                raise UsageError(f"--{option} goes with --method {method}")
            parameters = values if method == self.method else parameters
        return options | {
            "parameters": None if parameters is None else _numbers(parameters, "parameters"),
            "epsilon": _numbers(self.epsilon or (), "--epsilon"),
        }


@Parameter(name="*", group=Group("Limit", sort_key=1))
@dataclass(frozen=True)
class LimitOptions(Options):
    """What is asked of the best release."""

    model: str = "1"
    """1: least disclosed at a distortion; 2: least distortion at so many bits disclosed; 3: least
    told of who is who at a loss; 4: least loss at so many bits told of who is who; funnel: least
    disclosed with so many bits kept; identity, identity-reverse: 1 and 2, of the values
    themselves."""
    at: Names = None
    """The constraint: a distortion (models 1, identity) or bits; 0.05,0.1,0.2 for several."""
    distortion: str = "hamming"
    """hamming, squared, absolute (numbers as shares of their range), or a CSV file of distances of
    one column: released values in the first line, each value before its distances."""
    alphabet: str = "auto"
    """joint: all combinations together; columns: a channel for each column; merged: rare
    combinations as the nearest frequent ones; auto: joint while there are at most --most."""
    most: int = 1000
    """The most combinations of one alphabet."""
    occurring: bool = False
    """Release only combinations that occur in the table."""
    reduced: int | None = None
    """Release only so many combinations, chosen to be near all."""
    gaussian: bool = False
    """Columns of real numbers, taken as Gaussian after a check of how Gaussian they are."""
    points: int = 0
    """So many points of the whole curve besides; 20 for charts unless given."""
    gap: float | None = None
    """When a channel is good enough: bits (of model 2: distortion) it may be from the bound."""
    seconds: float | None = None
    """Stop looking after so many seconds a curve; the release then depends on the machine."""
    seed: int = 0
    """Where drawing starts."""

    def arguments(self) -> dict[str, Any]:
        """As the library takes them."""
        if not self.at:
            raise UsageError("no constraint given", hint="--at 0.1")
        return {**vars(self), "at": _numbers(self.at, "--at")}


@Parameter(name="*", group=Group("Subsets", sort_key=1.2))
@dataclass(frozen=True)
class SubsetOptions(Options):
    """Which subsets of the columns are measured."""

    max_size: int | None = None
    """Only subsets of at most so many columns. All are measured up to 12 columns."""
    budget: int | None = None
    """Only so many subsets, the most telling first."""
    orders: int | None = None
    """Orders of the columns from which shares are sampled if not all subsets are measured: 64."""
    seed: int = 0
    """Where sampling starts."""


@Parameter(name="*", group=Group("Population", sort_key=1.4))
@dataclass(frozen=True)
class PopulationOptions(Options):
    """Of what the table is a sample."""

    population_size: int | None = None
    """The table is a sample of so many people."""
    fraction: str | None = None
    """The table is this share of the people: 0.1 for one in ten."""
    population: str | None = None
    """A table of everybody, with the same quasi-identifiers."""
    weight: str | None = None
    """The column that says how many people a record stands for."""
    household: str | None = None
    """The column that says which household a record belongs to."""
