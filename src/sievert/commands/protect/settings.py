"""The options of `protect`, its methods, and what may not be combined."""

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, ClassVar, Literal, get_args

from sievert.errors import require
from sievert.files import manifest_beside, pairing_beside, secrets_beside
from sievert.formatting.loss_names import LOSSES, Loss
from sievert.releases.choices import AUTO, DROP, SUPPRESSED_ROWS, SuppressedRows
from sievert.settings.checks import check_known, check_whole
from sievert.settings.command import PageCommand
from sievert.settings.groups import GateSettings, Place
from sievert.settings.option import TextReader, option
from sievert.settings.readers import (
    NAMES,
    PATH,
    PATHS,
    TABLE,
    column_numbers_reader,
    column_values,
)

How = Literal[
    "full",
    "regions",
    "local",
    "suppress",
    "microaggregate",
    "noise",
    "round",
    "pram",
    "anatomy",
    "sample",
]
Labels = Literal["hierarchy", "sets"]
Grouping = Literal["mdav", "v-mdav", "projection"]

FULL: How = "full"  # full-domain recoding, which is searched over combinations and not over records
HOW: tuple[How, ...] = get_args(How)
GAMMA = 0.2  # of V-MDAV: 0.2 for scattered records, about 1.1 for clustered ones (its paper)
SEARCHES = "--how full, which searches"
SEVERAL_LEVELS = re.compile(r"[^=,]+=\d+(,[^=,]+=\d+)+")


@dataclass(frozen=True, kw_only=True)
class ReleaseMethod:
    """A method that changes records: the function that does it, and the options that it reads."""

    function: str  # module and name, in the folder of the command
    reads: tuple[str, ...] = ()  # the options that not every method reads
    suppresses: bool = False  # whether it suppresses records, and recodes with hierarchies
    secrets_apart: bool = False  # whether the release has its secrets in a table of their own


METHODS: dict[How, ReleaseMethod] = {
    "regions": ReleaseMethod(function="regions.recode.recode", suppresses=True),
    "local": ReleaseMethod(function="local.recode", reads=("labels",), suppresses=True),
    "suppress": ReleaseMethod(
        function="local.suppress_cells", reads=("importance",), suppresses=True
    ),
    "microaggregate": ReleaseMethod(
        function="microaggregate.make", reads=("group", "grouping", "gamma")
    ),
    "noise": ReleaseMethod(function="number_columns.add_noise", reads=("amount", "correlated")),
    "round": ReleaseMethod(function="number_columns.round_numbers", reads=("base", "unbiased")),
    "pram": ReleaseMethod(function="pram.make", reads=("amount",)),
    "anatomy": ReleaseMethod(function="anatomy.make", reads=("group",), secrets_apart=True),
    "sample": ReleaseMethod(function="method.sample", reads=("fraction",)),
}


def method_named(name: str) -> How:
    """Give the method that is called `name`, or raise an error."""
    check_known("--how", name, HOW)
    return HOW[HOW.index(name)]


def _read_levels(given: list[str], flag: str) -> dict[str, int] | str:
    """Read COLUMN=LEVEL, several of them separated by commas; or the name of one manifest."""
    texts = [
        part
        for text in given
        for part in (text.split(",") if SEVERAL_LEVELS.fullmatch(text) else [text])
    ]
    if len(texts) == 1 and "=" not in texts[0]:
        return texts[0]
    levels = column_values(texts, flag, "age=2")
    require(
        all(number.isdecimal() for number in levels.values()),
        "--levels takes COLUMN=LEVEL, a whole number",
        hint="--levels age=2",
    )
    return {column: int(number) for column, number in levels.items()}


@dataclass(frozen=True, kw_only=True)
class ProtectSettings(GateSettings, PageCommand):
    """Make the release that meets a policy at the least loss.

    Every quasi-identifier is brought to one level of its hierarchy (--hierarchy, or [hierarchies]
    in the policy; proposed where none is given), and records in classes that still break a limit
    are suppressed. The search is exact. The release is read back and assessed in a new process.
    --how makes it by another method, which does what its options say and looks for no limit.
    """

    heading: ClassVar[str] = "Release"
    reference: ClassVar[
        str
    ] = """Find the recoding of least loss whose release meets a policy, and write that release.

    Every quasi-identifier is brought to one level of its hierarchy (full-domain recoding); records
    in classes that still break a rule have `*` in all of them. The search is exact. The release
    holds the quasi-identifiers and the secrets only, and is read back and assessed in a process of
    its own before it takes its place.

    >>> table = {"age": ["27", "29", "38", "31"] * 5, "ill": ["flu", "cold"] * 10}
    >>> rules = {"roles": {"rows_are_people": True}, "limits": {"k_anonymity": {"min": 6}}}
    >>> found = protect(table, "age", "ill", policy=rules, hierarchies={"age": "interval:5,10"})
    >>> found.met, found.levels
    (True, {'age': 2})
    """
    in_order: ClassVar[tuple[str, ...]] = ("data", "quasi", "sensitive", "identifier")

    data: Any = option(
        "The original table, as for assess.",
        in_python="The original table: a path, a frame, a dict of lists.",
        reader=TABLE,
        place=True,
        reads=True,
    )
    how: How | None = option(
        "The method, as [protect] in the policy says unless given; full without it, which recodes "
        "whole columns.",
        in_python="The method: full (full-domain recoding), or as [protect] in the policy says. "
        "With anatomy the secrets are in a table of their own, `<out>.secrets.csv` for an `out` of "
        "`<out>.csv`.",
        default=None,
    )
    suppress: float | None = option(
        "The largest share of records that may be suppressed, as [protect] in the policy or its "
        "limit on suppressed_records says unless given; 0.02 without them.",
        in_python="The largest share of records that may be suppressed: as [protect] in the policy "
        "says, else its limit on suppressed_records, else 0.02.",
        default=None,
    )
    loss: Loss = option(
        "What is minimised: generalization_loss (its geometric form, as in ARX), arithmetic_loss, "
        "certainty_penalty, entropy, discernability, or bits told about the first secret.",
        default="generalization_loss",
    )
    weights: Mapping[str, float] | None = option(
        "COLUMN=NUMBER: how much a quasi-identifier counts in the loss; 1 unless given.",
        in_python="How much each quasi-identifier counts in the loss; 1 unless given.",
        default=None,
        flags=("--column-weight",),
        reader=column_numbers_reader("age=2"),
    )
    levels: Mapping[str, int] | Place | None = option(
        "A recoding that is given: the manifest of an earlier release, with its hierarchies, or "
        "COLUMN=LEVEL,... where columns that are not named stay as they are.",
        in_python="A recoding that is given, column by column or by the manifest of an earlier "
        "release, whose hierarchies are taken as well: nothing is searched.",
        default=None,
        reader=TextReader(kind=str, several=True, convert=_read_levels),
    )
    keep: str | Iterable[str] | Mapping[str, str] = option(
        "Other columns that the release holds.",
        in_python="Other columns that the release holds besides those of [roles.kept] in the "
        "policy: their names, or each with the reason. A column that the policy calls identifier, "
        "person, household, ignored or dropped is refused.",
        default=(),
        reader=NAMES,
    )
    suppressed_rows: SuppressedRows = option(
        "What becomes of suppressed records: keep their rows, with * in every quasi-identifier, "
        "drop them, or auto, which keeps them where they meet the limits as a class of their own. "
        "They count as suppressed in any case.",
        in_python="What becomes of suppressed records: keep leaves their rows in the release with "
        "`*` in every quasi-identifier, drop leaves them out. auto keeps them where they meet the "
        "limits as a class of their own, and drops them otherwise. They count as suppressed in any "
        "case.",
        default=AUTO,
    )
    drop: bool = option(
        "The same as --suppressed-rows drop.",
        in_python='The same as suppressed_rows="drop".',
        default=False,
    )
    keep_order: bool = option(
        "Write the records in the order of the table, which can give values back; without it their "
        "order tells nothing.",
        default=False,
    )
    seconds: float | None = option(
        "Stop the search after so many seconds; the result tells how much better it could be.",
        in_python="When to stop the search; the result then tells how much better a recoding could "
        "be.",
        default=None,
    )
    labels: Labels = option(
        "Of local recoding: hierarchy, or sets of values and intervals.", default="hierarchy"
    )
    importance: Mapping[str, float] | None = option(
        "COLUMN=NUMBER: how much a column is worth when cells are suppressed; 1 unless given.",
        in_python="How much each column is worth when cells are suppressed; 1 unless given.",
        default=None,
        reader=column_numbers_reader("age=2"),
    )
    group: int | None = option(
        "The least records of a group: for microaggregation the policy's k unless given, for "
        "anatomy its l.",
        default=None,
    )
    amount: float | None = option(
        "Noise: its standard deviation, in those of the column. PRAM: the share of values that "
        "change.",
        default=None,
    )
    fraction: float | None = option("Samples: the share of the records.", default=None)
    base: Mapping[str, float] | None = option(
        "COLUMN=NUMBER: round a column to multiples of a number.",
        in_python="Of rounding: the number of each column to whose multiples it is rounded.",
        default=None,
        reader=column_numbers_reader("income=100"),
    )
    grouping: Grouping = option(
        "Microaggregation: mdav, v-mdav (groups of k to 2k - 1), or projection (in the order of "
        "the first principal component).",
        default="mdav",
    )
    gamma: float = option(
        "V-MDAV: how readily groups grow; 0.2 for scattered records, 1.1 for clustered ones.",
        default=GAMMA,
    )
    correlated: bool = option(
        "Noise with the covariances of the columns, which stay as they are on average.",
        default=False,
    )
    unbiased: bool = option(
        "Round up or down by chance, so that numbers stay as they are on average.", default=False
    )
    seed: int = option("Where drawing starts.", default=0)
    population_size: int | None = option(
        "The table is a sample of so many people: for a limit on population_uniques.", default=None
    )
    frontier: bool = option(
        "Go through all combinations of levels, and list those that no other is better than in "
        "what they disclose and in what they have lost, beside the least that any release could "
        "disclose.",
        default=False,
    )
    beside: Any = option(
        "With --frontier: a release of this table that is put beside the recodings. May be "
        "repeated.",
        in_python="Releases of this table that are measured as the frontier is.",
        default=(),
        reader=PATHS,
        reads=True,
    )
    earlier: Any = option(
        "A release of the same people that is out already: whoever has both files must not tell "
        "apart fewer people than k. May be repeated.",
        in_python="Releases of the same people that are out already: whoever has all files must "
        "not tell apart fewer people than k.",
        default=(),
        reader=PATHS,
        reads=True,
    )
    key: str | None = option(
        "With --earlier: the column, in all tables, that tells people apart.", default=None
    )
    out: Place | None = option(
        "Write the release to this .csv or .parquet file. It holds the quasi-identifiers and the "
        "secrets only. Spark writes Parquet as a directory. Beside it are a manifest, FILE.json, "
        "and a private file that pairs its rows with the original's, FILE.pairing.parquet.",
        in_python="Where to write the release (.csv or .parquet, which is a directory where Spark "
        "writes it); beside it a manifest, `<out>.json`, and a private file that pairs its rows "
        "with those of the original, `<out>.pairing.parquet`.",
        default=None,
        heading="Output",
        flags=("--release", "-o"),
        reader=PATH,
    )
    charts: Path | None = option(
        "Draw the frontier as an SVG file in this directory.",
        default=None,
        heading="Output",
        side="command line",
    )
    show_values: bool = option(
        "Let explain and attacks name values of the data, and --debug messages that contain them.",
        default=False,
        side="command line",
    )
    orders: Mapping[str, Iterable[str]] | None = option(
        "Of secrets: the values from low to high.", default=None, side="python"
    )
    partitions: Mapping[str, Mapping[str, Iterable[str]]] | None = option(
        "Of secrets: parts by meaning, and their values.", default=None, side="python"
    )
    parameters: Mapping[str, Mapping[str, Any]] | None = option(
        'Such as ``{"recursive_c": {"l": 3}, "records_below": {"k": 5}}``.',
        default=None,
        side="python",
    )

    @property
    def gate(self) -> GateSettings:
        """The files for a pipeline."""
        return self

    @property
    def chart_folder(self) -> Path | None:
        """The directory of charts."""
        return self.charts

    @property
    def is_announced(self) -> bool:
        """Tell that the files of the release are named on stderr."""
        return True

    @property
    def rows_of_suppressed(self) -> SuppressedRows:
        """What becomes of suppressed records, as one of two options says."""
        return DROP if self.drop else self.suppressed_rows

    def read_files(self) -> list[Any]:
        """List the tables that are read, and the manifest of levels that are given."""
        levels = [self.levels] if isinstance(self.levels, str | os.PathLike) else []
        return [*super().read_files(), *levels]

    def written_files(self) -> list[Path | None]:
        """List the release, and what stands beside it."""
        if self.out is None:
            return []
        release = Path(self.out)
        apart = self.how in METHODS and METHODS[self.how].secrets_apart
        return [
            release,
            manifest_beside(release),
            secrets_beside(release) if apart else None,
            None if self.keep_order else pairing_beside(release),
        ]

    def check(self) -> None:
        """Refuse charts of anything but a frontier."""
        require(
            self.charts is None or self.frontier, "--charts draws the frontier", hint="--frontier"
        )

    def check_work(self) -> None:
        """Refuse combinations of options that no method allows."""
        check_known("loss", self.loss, LOSSES)
        check_known("--suppressed-rows", self.suppressed_rows, SUPPRESSED_ROWS)
        require(
            not self.drop or self.suppressed_rows in (AUTO, DROP),
            f"--drop and --suppressed-rows {self.suppressed_rows} contradict each other",
            hint="one of them",
        )
        check_whole("--seed", self.seed, 0)
        require(
            self.suppress is None or 0 <= self.suppress < 1,
            "the share of suppressed records is from 0 to below 1",
        )

    def check_method(self, how: How) -> None:
        """Refuse options that the method `how` does not read."""
        for name, stated in (
            ("frontier", self.frontier),
            ("levels", self.levels),
            ("seconds", self.seconds),
        ):
            require(
                how == FULL or not stated, f"--{name} is not read by --how {how}", hint=SEARCHES
            )
        suppresses = how == FULL or METHODS[how].suppresses
        require(
            suppresses or not self.suppress,
            f"--how {how} suppresses no records",
            hint="no --suppress",
        )
        chosen = self.method_options
        for name in METHOD_OPTIONS:
            readers = [method for method, facts in METHODS.items() if name in facts.reads]
            require(
                how in readers or name not in chosen,
                f"--{name} is not read by --how {how}",
                hint=" or ".join(f"--how {reader}" for reader in readers),
            )

    @property
    def method_options(self) -> dict[str, Any]:
        """Give the options of methods that are not as usual, by their names."""
        given = {f.name: (getattr(self, f.name), f.default) for f in fields(self)}
        return {
            name: given[name][0]
            for name in METHOD_OPTIONS
            if given[name][0] not in (given[name][1], {})
        }


# The options that only some methods read, in the order of the settings.
METHOD_OPTIONS = tuple(
    f.name
    for f in fields(ProtectSettings)
    if any(f.name in method.reads for method in METHODS.values())
)
