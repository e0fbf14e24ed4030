"""Options that every command has: how to read, what to write, who may see it, what to run on."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Group, Parameter

from sievert.errors import UsageError
from sievert.roles import Typed

Names = list[str] | None
STDIN = "stdin:"


def pairs(given: Iterable[str] | None, option: str, example: str) -> dict[str, str]:
    """COLUMN=SOMETHING, as often as it was given."""
    found: dict[str, str] = {}
    for text in given or ():
        column, sign, value = text.partition("=")
        if not sign or not column or not value:
            raise UsageError(f"{option} takes COLUMN=SOMETHING", hint=f"{option} {example}")
        if column in found:
            raise UsageError(f"{option} is given twice for column {column!r}")
        found[column] = value
    return found


def _typed(given: Names) -> Typed | None:
    return None if given is None else Typed(given)


@Parameter(name="*", group=Group("Roles", sort_key=1))
@dataclass(frozen=True)
class RoleOptions:
    """Who is who among the columns."""

    quasi: Annotated[Names, Parameter(name=["--quasi", "-q", "--qi"])] = None
    """Columns an outsider could know about a person: age,zip. May be repeated."""
    sensitive: Annotated[Names, Parameter(name=["--sensitive", "-s", "--sa"])] = None
    """Secrets: disease,salary. May be repeated."""
    identifier: Annotated[Names, Parameter(name=["--identifier", "-i"])] = None
    """Columns that are dropped before release; never measured."""
    policy: Path | None = None
    """A TOML file with roles, partitions, orders, parameters and limits; exit 1 if breached."""
    hierarchy: Names = None
    """COL=FILE (as ARX writes them), COL=prefix, COL=interval:5,10,20: for a secret's distance;
    how a quasi-identifier was made coarser (attack, compare) or could be (explain)."""
    alpha_value: Names = None
    """COL=VALUE: alpha_k of this value of a secret only."""

    @property
    def hierarchies(self) -> dict[str, str]:
        """The hierarchy of each column."""
        found = pairs(self.hierarchy, "--hierarchy", "disease=FILE")
        if found:
            from sievert.commands.assess.api import check_ladders

            check_ladders(found)
        return found

    def arguments(self) -> dict[str, Any]:
        """As the library takes them."""
        alpha = pairs(self.alpha_value, "--alpha-value", "disease=HIV")
        return {
            "quasi": _typed(self.quasi),
            "sensitive": _typed(self.sensitive),
            "identifier": _typed(self.identifier),
            "policy": self.policy,
            "hierarchies": self.hierarchies,
            "parameters": {"alpha_k": {"value": alpha}} if alpha else {},
        }


@Parameter(name="*", group=Group("Reading", sort_key=2))
@dataclass(frozen=True)
class ReadingOptions:
    """How the data are read."""

    delimiter: str | None = None
    """The character between columns; found from the header unless given."""
    encoding: str = "utf-8"
    """The text encoding of a CSV file."""
    no_header: bool = False
    """The first line is a record; the columns are called column1, column2, ..."""
    type_: Annotated[Names, Parameter(name="--type")] = None
    """COL=int, float, date or text. Every CSV column is text unless typed: 01234 is not 1234."""
    na: Names = None
    """Text that stands for a missing value, such as NA. May be repeated."""
    missing: str = "value"
    """What a missing quasi-identifier is: value, wildcard (matches any), drop (record), error."""
    verify: bool = False
    """Check Parquet's page checksums and note the file's SHA-256."""
    max_unpacked: str | None = None
    """How large compressed data may become; 100 times its size and at most 20GB unless given."""
    max_field: str = "1MB"
    """How long a single field of a text file may be."""
    max_columns: int = 10_000
    """How many columns a table may have."""

    def arguments(self) -> dict[str, Any]:
        """As the library takes them."""
        return {
            "delimiter": self.delimiter,
            "encoding": self.encoding,
            "header": not self.no_header,
            "types": pairs(self.type_, "--type", "age=int"),
            "na": self.na or (),
            "missing": self.missing,
            "verify": self.verify,
            "max_unpacked": self.max_unpacked,
            "max_field": self.max_field,
            "max_columns": self.max_columns,
        }


@Parameter(name="*", group=Group("Output", sort_key=3))
@dataclass(frozen=True)
class OutputOptions:
    """What is written, and who may see it."""

    all_: Annotated[bool, Parameter(name="--all")] = False
    """Show every measure, not only the headlines."""
    json_: Annotated[str | None, Parameter(name="--json", allow_leading_hyphen=True)] = None
    """Write the whole result to this file; - is stdout."""
    timings: Path | None = None
    """Write the seconds of each step to this file."""
    force: bool = False
    """Replace existing files that sievert has not written."""
    share: bool = False
    """Make output fit to pass on: no count below --min-cell, no file name."""
    min_cell: int | None = None
    """With --share or a page: the smallest count that may be shown; 10 unless given."""
    mask_names: bool = False
    """With --share or a page: hide the names of columns too."""
    show_values: bool = False
    """Let explain and attacks name values of the data, and --debug messages that contain them."""
    debug: bool = False
    """Show where in the program an error came up."""

    def __post_init__(self) -> None:
        if self.share and self.show_values:
            raise UsageError("--share and --show-values exclude each other")


@Parameter(name="*", group=Group("Page", sort_key=3))
@dataclass(frozen=True)
class PageOptions:
    """A page to decide from."""

    html: Path | None = None
    """Write the result as one page that needs nothing else, fit to pass on, to this file."""
    markdown: Path | None = None
    """Write the same page as Markdown to this file."""
    internal: bool = False
    """With --html or --markdown: exact numbers, for the operator only."""
    title: str | None = None
    """With --html or --markdown: the page's title."""
    texts: Path | None = None
    """With --html or --markdown: a TOML file with the page's sentences in another language."""

    @property
    def asked(self) -> bool:
        """Whether there is a page at all."""
        return self.html is not None or self.markdown is not None

    def __post_init__(self) -> None:
        beside = self.internal or self.title is not None or self.texts is not None
        if beside and not self.asked:
            raise UsageError("--internal, --title and --texts go with --html or --markdown")
        self.check_endings(existing=False)  # whether others may be replaced is asked first

    def check_endings(self, *, existing: bool = True) -> None:
        """A page is called what it is."""
        for path, what, endings in (
            (self.html, "an HTML page", (".html", ".htm")),
            (self.markdown, "Markdown", (".md", ".markdown")),
        ):
            if path is None or str(path) == STDIN or path.suffix.lower() in endings:
                continue
            if not existing and os.path.lexists(path):
                continue
            stem = path.stem or "page"
            raise UsageError(f"{what} ends in {' or '.join(endings)}", hint=f"{stem}{endings[0]}")


@Parameter(name="*", group=Group("Engine", sort_key=4))
@dataclass(frozen=True)
class EngineOptions:
    """What counts, and with how much."""

    engine: str | None = None
    """What counts: duckdb (unless the data are elsewhere), spark, postgres."""
    master: str | None = None
    """With --engine spark: the cluster, such as spark://host:7077; local[*] unless given."""
    memory: str | None = None
    """The most memory the engine may use, such as 4GB; it spills to disk beyond."""
    threads: int | None = None
    """The most threads the engine may use."""
    timeout: float | None = None
    """The most seconds the run may take; exit 5 beyond."""
    temp: Path | None = None
    """Where the private temporary directory is made."""

    def arguments(self) -> dict[str, Any]:
        """As the library takes them."""
        return dict(vars(self))


@Parameter(name="*", group=Group("Attacks", sort_key=1))
@dataclass(frozen=True)
class AttackOptions:
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
class ReasoningOptions:
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
        found = dict(vars(self))
        found["reasoning"] = not found.pop("no_reasoning")
        if self.domain is None or tuple(self.domain) in (("cross",), ("observed",)):
            found["domain"] = "cross" if self.domain is None else next(iter(self.domain))
        else:
            found["domain"] = pairs(self.domain, "--domain", "age=17..90")
        return found


@Parameter(name="*", group=Group("Comparison", sort_key=1))
@dataclass(frozen=True)
class ComparisonOptions:
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
        return {**vars(self), "predict": _typed(self.predict), "bins": numbers}


@Parameter(name="*", group=Group("Method", sort_key=1))
@dataclass(frozen=True)
class MethodOptions:
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
        found = dict(vars(self))
        given = {"sampling": "fraction", "query": "size", "noise": "percent"}
        named = {option: found.pop(option) for option in given.values()}
        for method, option in given.items():
            if named[option] is not None and method != self.method:
                raise UsageError(f"--{option} goes with --method {method}")
        parameters = named.get(given.get(self.method, ""))
        found["parameters"] = None if parameters is None else _numbers(parameters, "parameters")
        found["epsilon"] = _numbers(self.epsilon or (), "--epsilon")
        return found


@Parameter(name="*", group=Group("Limit", sort_key=1))
@dataclass(frozen=True)
class LimitOptions:
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


def _numbers(given: Iterable[str], option: str) -> list[float]:
    """Numbers separated by commas, as often as they were given."""
    try:
        return [float(text) for part in given for text in part.split(",") if text]
    except ValueError:
        raise UsageError(f"{option}: numbers separated by commas", hint="0.05,0.1") from None


@Parameter(name="*", group=Group("Subsets", sort_key=1.2))
@dataclass(frozen=True)
class SubsetOptions:
    """Which subsets of the columns are measured."""

    max_size: int | None = None
    """Only subsets of at most so many columns. All are measured up to 12 columns."""
    budget: int | None = None
    """Only so many subsets, the most telling first."""
    orders: int | None = None
    """Orders of the columns from which shares are sampled if not all subsets are measured: 64."""
    seed: int = 0
    """Where sampling starts."""

    def arguments(self) -> dict[str, Any]:
        """As the library takes them."""
        return dict(vars(self))


@Parameter(name="*", group=Group("Population", sort_key=1.4))
@dataclass(frozen=True)
class PopulationOptions:
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

    def arguments(self) -> dict[str, Any]:
        """As the library takes them."""
        return dict(vars(self))
