"""Options that every command has: how to read, what to write, who may see it, what to run on."""

# Annotations are not deferred here: options are read from them.
import os
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from sievert.cli.messages import INTERNAL, tell
from sievert.cli.parameters import STDIN, JsonFile, Traits
from sievert.counts.engines import ENGINES
from sievert.errors import INTERNAL_AND_SHARED, NOT_SHAREABLE, SettingsError, SievertError, require
from sievert.formatting import ENGLISH, LANGUAGES
from sievert.roles import Typed

Names = list[str] | None
SpokenLanguage = Annotated[str, Traits(choices=tuple(LANGUAGES))]
MISSING = "missing:"


def pairs(given: Iterable[str] | None, option: str, example: str) -> dict[str, str]:
    """COLUMN=SOMETHING, as often as it was given."""
    by_column: dict[str, str] = {}
    for text in given or ():
        column, sign, value = text.partition("=")
        require(
            sign and column and value,
            f"{option} takes COLUMN=SOMETHING",
            hint=f"{option} {example}",
        )
        require(column not in by_column, f"{option} is given twice for column {column!r}")
        by_column[column] = value
    return by_column


def typed_names(given: Names) -> Typed | None:
    """Names as they were typed, separated by commas."""
    return None if given is None else Typed(given)


class Options:
    """A group of options; their names are those of the library's keywords."""

    def arguments(self) -> dict[str, Any]:
        """As the library takes them."""
        return dict(vars(self))


@dataclass(frozen=True)
class RoleOptions(Options):
    """Who is who among the columns.

    Attributes
    ----------
    quasi
        Columns an outsider could know about a person: age,zip. May be repeated.
    sensitive
        Secrets: disease,salary. May be repeated.
    identifier
        Columns that are dropped before release; never measured.
    person
        The column that tells people apart, where they may have several rows: people are counted.
    policy
        A TOML file with roles, partitions, orders, parameters and limits; exit 1 unless met.
    hierarchy
        COL=FILE (as ARX writes them, or a tree: .toml, .json), COL=interval:5,10, quantile:16,8,
        ends:18,85, prefix:4,3, date:month,year, order:2,4, top:20,5; or FILE.toml with
        [hierarchies]. For a secret's distance; how a quasi-identifier was made coarser (attack,
        compare) or could be.
    alpha_value
        COL=VALUE: alpha_k of this value of a secret only.
    """

    heading = "Roles"

    quasi: Annotated[Names, Traits(("--quasi", "-q", "--qi"))] = None
    sensitive: Annotated[Names, Traits(("--sensitive", "-s", "--sa"))] = None
    identifier: Annotated[Names, Traits(("--identifier", "-i"))] = None
    person: str | None = None
    policy: Path | None = None
    hierarchy: Names = None
    alpha_value: Names = None

    @property
    def files(self) -> list[str]:
        """The files that are read for this: of a policy, of hierarchies, and that these name."""
        given = [h.partition("=")[2] or h for h in self.hierarchy or ()]
        policy = [] if self.policy is None else [str(self.policy)]
        tables = [*policy, *given]
        for table in (t for t in tables if t.lower().endswith(".toml")):
            from sievert.hierarchies import read_hierarchies

            with suppress(SievertError):  # what is wrong with it is said by whoever reads it
                given += [h for h in read_hierarchies(table).values() if isinstance(h, str)]
        return [*tables, *given]

    def arguments(self) -> dict[str, Any]:
        hierarchies: dict[str, Any] = {}
        if self.hierarchy:
            from sievert.hierarchies import read_hierarchies
            from sievert.measurement.table_measures import check_hierarchies

            tables = [h for h in self.hierarchy if "=" not in h and h.lower().endswith(".toml")]
            for table in tables:
                hierarchies |= read_hierarchies(table)
            single = (h for h in self.hierarchy if h not in tables)
            hierarchies |= pairs(single, "--hierarchy", "disease=FILE")
            check_hierarchies(hierarchies)
        alpha = pairs(self.alpha_value, "--alpha-value", "disease=HIV")
        return {
            "quasi": typed_names(self.quasi),
            "sensitive": typed_names(self.sensitive),
            "identifier": typed_names(self.identifier),
            "person": self.person,
            "policy": self.policy,
            "hierarchies": hierarchies,
            "parameters": {"alpha_k": {"value": alpha}} if alpha else {},
        }


@dataclass(frozen=True)
class ReadingOptions(Options):
    """How the data are read.

    Attributes
    ----------
    delimiter
        The character between columns; found from the header unless given.
    encoding
        The text encoding of a CSV file.
    no_header
        The first line is a record; the columns are called column1, column2, ...
    type_
        COL=int, float, date or text. Every CSV column is text unless typed: 01234 is not 1234.
    na
        Text that stands for a missing value, such as NA. May be repeated.
    suppressed
        The mark of suppressed records, which have it in every quasi-identifier: * unless given here
        or listed in [reading] of the policy; missing: names missing values. Such records are
        counted apart.
    keep_suppressed
        Count suppressed records as any other.
    missing
        What a missing quasi-identifier is: a value, a wildcard (matches any), a reason to drop the
        record, or an error.
    verify
        Check Parquet's page checksums and note the file's SHA-256.
    max_unpacked
        How large compressed data may become; 100 times its size and at most 20GB unless given.
    max_field
        How long a single field of a text file may be.
    max_columns
        How many columns a table may have.
    """

    heading = "Reading"

    delimiter: str | None = None
    encoding: str = "utf-8"
    no_header: bool = False
    type_: Names = None
    na: Names = None
    suppressed: str | None = None
    keep_suppressed: bool = False
    missing: Annotated[str, Traits(choices=("value", "wildcard", "drop", "error"))] = "value"
    verify: bool = False
    max_unpacked: str | None = None
    max_field: str = "1MB"
    max_columns: int = 10_000

    def arguments(self) -> dict[str, Any]:
        apart = ("no_header", "type_", "suppressed")
        given = {name: value for name, value in vars(self).items() if name not in apart}
        if self.suppressed is not None:  # else a policy may say
            given["suppressed"] = None if self.suppressed == MISSING else self.suppressed
        return given | {
            "header": not self.no_header,
            "types": pairs(self.type_, "--type", "age=int"),
            "na": self.na or (),
        }


@dataclass(frozen=True)
class OutputOptions:
    """What is written, and who may see it.

    Attributes
    ----------
    all_
        Show every measure, not only the headlines.
    json_
        Write the whole result to this file; - is stdout.
    timings
        Write the seconds of each step to this file.
    force
        Replace existing files that sievert has not written.
    share
        Write one short, shareable version: verdicts, and numbers that one person can hardly move.
        Without it every output is exact and internal.
    min_cell
        With --share: so many people must change to move a number by a step; 10 unless given.
    mask_names
        With --share: hide the names of columns too.
    show_values
        Let explain and attacks name values of the data, and --debug messages that contain them.
    language
        The language of pages and the terminal; JSON and messages are English.
    debug
        Show where in the program an error came up.
    """

    heading = "Output"

    all_: bool = False
    json_: JsonFile = None
    timings: Path | None = None
    force: bool = False
    share: bool = False
    min_cell: int | None = None
    mask_names: bool = False
    show_values: bool = False
    language: SpokenLanguage = ENGLISH
    debug: bool = False

    def __post_init__(self) -> None:
        require(
            self.language in LANGUAGES,
            f"no language is called {self.language!r}",
            hint=", ".join(LANGUAGES),
        )
        for given, what in ((self.show_values, "values"), (self.timings, "timings")):
            if self.share and given:
                raise NOT_SHAREABLE[what]


@dataclass(frozen=True)
class GateOptions:
    """The limits of a policy for a pipeline.

    Attributes
    ----------
    junit
        With --policy: write every limit as a test case to this XML file (JUnit).
    sarif
        With --policy: write every limit that is not met as a finding to this file (SARIF).
    """

    heading = "Output"

    junit: Path | None = None
    sarif: Path | None = None

    def check_policy(self, policy: Path | None) -> None:
        """There are limits in a policy only."""
        require(
            policy is not None or (self.junit is None and self.sarif is None),
            "--junit and --sarif write the limits of a policy",
            hint="--policy FILE",
        )

    def check_question(self, data: str | Path, *, planned: bool) -> None:
        """A pipeline lets a file through: it does not ask about a plan, nor about counts."""
        from sievert.sources.state_manifest import is_state

        gate = self.junit is not None or self.sarif is not None
        require(
            not (planned and gate),
            "--planned is about no file: --junit and --sarif do not go with it",
            hint="assess the release itself",
            error=SettingsError,
        )
        require(
            not (gate and is_state(data)),
            "a count state is no file that could go out: --junit and --sarif do not go with it",
            hint="assess the release itself",
            error=SettingsError,
        )

    def refuse(self, why: str, hint: str) -> None:
        """Raise an error if a file for a pipeline is asked for, where no answer is about a file."""
        require(
            self.junit is None and self.sarif is None,
            f"{why}: --junit and --sarif do not go with it",
            hint=hint,
            error=SettingsError,
        )


@dataclass(frozen=True)
class PageOptions:
    """A page to decide from.

    Attributes
    ----------
    html
        Write the result to this file, as one page that needs nothing else; exact and internal, or
        shareable with --share.
    markdown
        Write the same page as Markdown to this file.
    internal
        No longer needed: every output is internal without --share.
    title
        With --html or --markdown: the page's title.
    texts
        With --html or --markdown: a TOML file with sentences of the page in other words.
    """

    heading = "Page"

    html: Path | None = None
    markdown: Path | None = None
    internal: Annotated[bool, Traits(hidden=True)] = False
    title: str | None = None
    texts: Path | None = None

    @property
    def exists(self) -> bool:
        """Whether there is a page at all."""
        return self.html is not None or self.markdown is not None

    def __post_init__(self) -> None:
        beside = self.title is not None or self.texts is not None
        require(not beside or self.exists, "--title and --texts go with --html or --markdown")
        self.check_endings(existing=False)  # existing files are checked first

    def check_internal(self, *, share: bool) -> None:
        """What --internal asks for is what there is without --share."""
        if self.internal and share:
            raise INTERNAL_AND_SHARED
        if self.internal:
            tell(INTERNAL)

    def check_endings(self, *, existing: bool = True) -> None:
        """A page is called what it is."""
        for path, what, endings in (
            (self.html, "an HTML page", (".html", ".htm")),
            (self.markdown, "Markdown", (".md", ".markdown")),
        ):
            if path is not None:
                right = str(path) == STDIN or path.suffix.lower() in endings
                hint = str(path.with_suffix(endings[0])) if path.name else f"page{endings[0]}"
                later = not existing and os.path.lexists(path)
                require(right or later, f"{what} ends in {' or '.join(endings)}", hint=hint)


@dataclass(frozen=True)
class EngineOptions(Options):
    """What counts, and with how much.

    Attributes
    ----------
    engine
        What counts; duckdb unless the data are elsewhere.
    master
        With --engine spark: the cluster, such as spark://host:7077; local[*] unless given.
    memory
        The most memory for data, such as 4GB: the engine spills to disk before; exit 5 beyond.
    threads
        The most threads the engine may use.
    timeout
        The most seconds the run may take; exit 5 beyond.
    temp
        Where the private temporary directory is made.
    """

    heading = "Engine"

    engine: Annotated[str | None, Traits(choices=tuple(ENGINES))] = None
    master: str | None = None
    memory: str | None = None
    threads: int | None = None
    timeout: float | None = None
    temp: Path | None = None
