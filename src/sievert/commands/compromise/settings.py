"""The options of `compromise`, and what may not be combined."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Literal, Self, get_args

from sievert import files
from sievert.errors import require
from sievert.settings.checks import check_known
from sievert.settings.command import PageCommand
from sievert.settings.groups import Place, RoleSettings
from sievert.settings.option import TextReader, option, redeclared
from sievert.settings.readers import NUMBERS, PATH, TABLE, listed_numbers

ProtectionMethod = Literal["sampling", "query", "noise", "release"]
# The same as those of the methods, which are not loaded for a page of help.
SamplePrior = Literal["uniform", "sample"]
OriginWeights = Literal["uniform", "posterior"]
Matching = Literal["oracle", "likelihood"]

METHODS: tuple[ProtectionMethod, ...] = get_args(ProtectionMethod)
MATCHINGS: tuple[Matching, ...] = get_args(Matching)
PARAMETERS = {"sampling": "fraction", "query": "size", "noise": "percent"}
MOST_REPLICATES = 10**4


def _read_parameters(given: list[str], _flag: str) -> list[float]:
    return listed_numbers(given, "parameters")


METHOD_PARAMETERS = TextReader(kind=str, several=True, convert=_read_parameters)


@dataclass(frozen=True, kw_only=True)
class CompromiseSettings(PageCommand):
    """Say how near an intruder comes to a confidential number under sampling, queries or noise."""

    heading: ClassVar[str] = "Method"
    reference: ClassVar[
        str
    ] = """Measure how near an intruder comes to a confidential number under a protection method.

    >>> table = {"sex": ["f", "m", "f", "m"], "pay": ["10", "20", "30", "20"]}
    >>> found = compromise(table, "sex", "pay", parameters=[0.5], replicates=2)
    >>> found.curves["pay"][0].points[0].known
    1
    """
    in_order: ClassVar[tuple[str, ...]] = ("data", "quasi", "sensitive", "identifier")

    data: Any = option(
        "The original table, as for assess; -s names columns of numbers.",
        in_python="The original table: a path, a frame, a dict of lists. The columns `quasi` are "
        "those that an intruder may know, `sensitive` the confidential ones, of numbers; the "
        "columns `identifier` are never looked at.",
        reader=TABLE,
        place=True,
        reads=True,
    )
    method: ProtectionMethod = option(
        "sampling, query, noise, or release: any other method, from a released table.",
        in_python='"sampling", "query" (restriction), "noise", or "release": any other, from a '
        "released table.",
        default="sampling",
    )
    fraction: list[float] | None = option(
        "Of sampling: 0.05,0.1,0.2,0.5 unless given.",
        default=None,
        reader=METHOD_PARAMETERS,
        side="command line",
    )
    size: list[float] | None = option(
        "Of query restriction: records of a query, even: 2,4,8,16,32 unless given.",
        default=None,
        reader=METHOD_PARAMETERS,
        side="command line",
    )
    percent: list[float] | None = option(
        "Of noise: per cent of each domain: 10,20,25,50,100 unless given.",
        default=None,
        reader=METHOD_PARAMETERS,
        side="command line",
    )
    parameters: Iterable[float] | None = option(
        "Fractions, sizes of query sets, or percents of noise.", default=None, side="python"
    )
    release: Any = option(
        "With --method release: the released table, in the same order unless there is a key.",
        in_python='With the method "release": the released table, with the pairing file that '
        "`protect` wrote beside it, or in the order of the original, as the tables must show, "
        "unless a key tells people apart.",
        default=None,
        reader=TABLE,
        reads=True,
    )
    key: str | None = option(
        "With --method release: a column that tells people apart, in both tables.",
        in_python='With the method "release": a column that tells people apart, in both tables.',
        default=None,
    )
    paired: bool = option(
        "Say that the release is in the order of the original, where the tables cannot show it; "
        "refused where they, or the pairing file, show another order.",
        in_python="Say that the release is in the order of the original, where the tables cannot "
        "show it. Where they show that it is not so, this is refused.",
        default=False,
    )
    epsilon: Iterable[float] = option(
        "Widths within which a confidential number must not be known: 10,20.",
        in_python="Widths: who is compromised approximately has all values left within one of "
        "them.",
        default=(),
        reader=NUMBERS,
    )
    step: float | None = option("Round confidential numbers to multiples of this.", default=None)
    replicates: int = option("How often a method is run for each parameter.", default=30)
    max_known: int | None = option("At most so many known columns.", default=None)
    seed: int = option("Where chance starts.", default=0)
    prior: SamplePrior = option(
        "Of sampling: what matches outside the sample are taken to have: uniform, sample.",
        in_python='Of sampling: what unsampled matches are taken to have, "uniform" or as in the '
        '"sample".',
        default="uniform",
    )
    weights: OriginWeights = option(
        "Of noise: how likely the origins of a value are: uniform, posterior.",
        in_python='Of noise: how likely the origins of a value are, "uniform" or "posterior".',
        default="uniform",
    )
    matching: Matching = option(
        "Of noise: who matches what is known: oracle, likelihood.",
        in_python='Of noise: who matches what is known, "oracle" or "likelihood".',
        default="oracle",
    )
    records: Place | None = option(
        "Write one row a record, in input order, to this .csv or .parquet file.",
        default=None,
        heading="Output",
        reader=PATH,
        writes=True,
    )
    charts: Path | None = option(
        "Draw what is left against what is known, as SVG files in this directory.",
        default=None,
        heading="Output",
        side="command line",
    )
    person: str | None = redeclared(
        RoleSettings,
        "person",
        in_python="The column that tells people apart, where they may have several rows: refused "
        "where people have several.",
    )
    hierarchies: Mapping[str, Any] | None = redeclared(
        RoleSettings, "hierarchies", side="command line"
    )

    @property
    def method_options(self) -> dict[str, Any]:
        """The options of the probabilities that an intruder infers from the method."""
        options: dict[str, dict[str, Any]] = {
            "sampling": {"prior": self.prior},
            "noise": {"weights": self.weights, "matching": self.matching},
        }
        return options.get(self.method, {})

    @property
    def rounds(self) -> int:
        """The number of runs for each parameter; a release is read once."""
        return self.replicates if self.method in PARAMETERS else 1

    @property
    def chart_folder(self) -> Path | None:
        """The directory of charts."""
        return self.charts

    @property
    def _typed_parameters(self) -> dict[str, list[float] | None]:
        """The parameters as typed, by the method that has them."""
        return {"sampling": self.fraction, "query": self.size, "noise": self.percent}

    def check(self) -> None:
        """Refuse the parameter of another method."""
        for method, numbers in self._typed_parameters.items():
            require(
                numbers is None or method == self.method,
                f"--{PARAMETERS[method]} goes with --method {method}",
            )

    def check_roles(self) -> None:
        """Refuse hierarchies, too: an intruder knows values as they are."""
        super().check_roles()
        require(not self.hierarchies, "--hierarchy goes with assess, explain and compare")

    def as_typed(self) -> Self:
        """Take the parameters of the method."""
        return replace(self, parameters=self._typed_parameters.get(self.method))

    def check_work(self) -> None:
        """Refuse combinations of options, however they were given."""
        check_known("--method:", self.method, METHODS)
        require(
            (self.method == "release") == (self.release is not None),
            "--release goes with --method release",
            hint="--method release",
        )
        require(
            self.missing in ("value", "error"),
            "a missing known value is a value of its own",
            hint="--missing value",
        )
        require(
            not self.paired or self.release is not None,
            "--paired is about a release and its original",
            hint="--method release --release FILE",
        )
        require(
            1 <= self.replicates <= MOST_REPLICATES,
            f"--replicates must be from 1 to {MOST_REPLICATES:,}",
        )
        if self.records is not None:
            files.record_format(self.records)
        require(
            self.records is None or (self.key is None and self.max_known is None),
            "a record file is in the order of the input, and of somebody who knows all columns",
            hint="--records without --key and --max-known",
        )
        require(
            self.method != "release" or self.parameters is None,
            "a release has no parameter",
            hint="without --fraction, --size, ...",
        )
