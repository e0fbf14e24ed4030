"""The options of `compare`."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from sievert.errors import UsageError, require
from sievert.settings.checks import check_whole
from sievert.settings.command import PageCommand
from sievert.settings.groups import GateSettings, Names
from sievert.settings.option import TextReader, option
from sievert.settings.readers import NAMES, TABLE, TABLES, column_values

SHUFFLES = 99
MOST_SHUFFLES = 10**5
MOST_BINS = 10**4


def _bins(given: list[str], flag: str) -> dict[str, int]:
    """Read COLUMN=NUMBER of whole numbers."""
    texts = column_values(given, flag, "income=10")
    if not all(text.isdecimal() for text in texts.values()):
        raise UsageError("--bins takes COLUMN=NUMBER", hint="--bins income=10")
    return {column: int(text) for column, text in texts.items()}


@dataclass(frozen=True, kw_only=True)
class CompareSettings(GateSettings, PageCommand):
    """Say what releases of a table disclose and what they have lost, both in bits.

    A --policy is held against the original and every release; the exit code is 1 unless some
    release meets it.
    """

    reference: ClassVar[
        str
    ] = """Measure what releases of a table disclose and what they have lost, both in bits.

    >>> original = {"age": ["21", "22", "35", "36"], "disease": ["flu", "flu", "hiv", "flu"]}
    >>> release = {"age": ["2*", "2*", "3*", "3*"], "disease": ["flu", "flu", "hiv", "flu"]}
    >>> found = compare(original, {"tens": release}, "age", "disease", paired=True)
    >>> found["tens"].disclosed.identity.whole.value
    1.0
    """
    in_order: ClassVar[tuple[str, ...]] = (
        "original",
        "releases",
        "quasi",
        "sensitive",
        "identifier",
    )

    original: Any = option(
        "The table that the releases were made of; as for assess.",
        in_python="The table that the releases were made of: a path, a frame, a dict of lists.",
        reader=TABLE,
        place=True,
        reads=True,
    )
    releases: Any = option(
        "One or several releases of it, with the same names of columns. --hierarchy says how "
        "columns were generalised; ways to read go for all tables.",
        in_python="One release, a list of them, or a dict of names and releases.",
        reader=TABLES,
        place=True,
        reads=True,
    )
    key: str | None = option(
        "A column that tells people apart, the same in all tables; else their order must be.",
        in_python="A column that tells people apart, the same in all tables. Without it a release "
        "needs the pairing file that `protect` wrote, beside it; or it must have its records in "
        "the order of the original, and the tables must show that it has.",
        default=None,
        heading="Comparison",
    )
    paired: bool = option(
        "Say that the releases are in the order of the original, where the tables cannot show it; "
        "refused where they, or the pairing file, show another order.",
        in_python="Say that releases have their records in the order of the original, where the "
        "tables cannot show it. Where they show that it is not so, this is refused.",
        default=False,
        heading="Comparison",
    )
    predict: Names = option(
        "Columns to predict from the release and from the original; the secrets unless given.",
        default=None,
        heading="Comparison",
        reader=NAMES,
    )
    bins: Mapping[str, int] | None = option(
        "COL=N: cut a column of numbers at N quantiles of the original; 0 for the values as they "
        "are. Columns of nearly as many numbers as records are cut unless told otherwise.",
        in_python='Numbers cut at quantiles of the original, such as ``{"income": 10}``; 0 takes '
        "the values as they are. Columns of nearly as many numbers as records are cut unless told "
        "otherwise.",
        default=None,
        heading="Comparison",
        reader=TextReader(kind=str, several=True, convert=_bins),
    )
    shuffles: int = option(
        "From how many shuffles a p-value is made; 0 for none.",
        default=SHUFFLES,
        heading="Comparison",
    )
    seed: int = option("Where shuffling starts.", default=0, heading="Comparison")
    limit: bool = option(
        "Hold each release against the least bits about a secret that its distortion would allow.",
        default=False,
        heading="Comparison",
    )
    charts: Path | None = option(
        "Draw the map of risk and loss, with --limit the limit too, as SVG files in this "
        "directory.",
        default=None,
        heading="Output",
        side="command line",
    )
    force: bool = option(
        "Replace existing files that sievert has not written.", default=False, side="command line"
    )
    show_values: bool = option(
        "Let explain and attacks name values of the data, and --debug messages that contain them.",
        default=False,
        side="command line",
    )

    @property
    def gate(self) -> GateSettings:
        """The files for a pipeline."""
        return self

    @property
    def chart_folder(self) -> Path | None:
        """The directory of charts."""
        return self.charts

    def check(self) -> None:
        """Refuse a command line without a release, and values to show."""
        require(
            self.releases, "no release given", hint="sievert compare ORIGINAL RELEASE -q COLUMNS"
        )
        self.refuse_values()

    def check_work(self) -> None:
        """Refuse numbers that are out of their range."""
        require(
            self.missing in ("value", "error"),
            "releases are compared with a missing value as a value of its own",
            hint="--missing value, or error",
        )
        check_whole("--shuffles", self.shuffles, 0, MOST_SHUFFLES)
        check_whole("--seed", self.seed, 0)
        require(
            isinstance(self.bins, Mapping | None) and isinstance(self.key, str | None),
            "bins: {column: number}; key: the name of a column",
        )
        for number in (self.bins or {}).values():
            check_whole("bins", number, 0, MOST_BINS)
