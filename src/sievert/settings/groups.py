"""The groups of options that several commands share: roles, reading, outputs, pages, engines."""

import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, ClassVar, Literal, TypeAlias, cast

from sievert.errors import NOT_SHAREABLE, SettingsError, SievertError, require
from sievert.formatting import ENGLISH, LANGUAGES
from sievert.settings.option import STDIN, UNSTATED, Settings, TextReader, Unstated, option
from sievert.settings.policy_source import PolicySource
from sievert.settings.readers import (
    NAMES,
    PATH,
    TEXT,
    TEXTS,
    WITHOUT,
    column_values,
    column_values_reader,
)
from sievert.sources.engine_names import EngineName
from sievert.sources.options import ReaderOptions
from sievert.sources.state_manifest import is_state

Names: TypeAlias = str | Iterable[str] | None
Place: TypeAlias = str | os.PathLike[str]
Language = Literal["en", "de"]
Missing = Literal["value", "wildcard", "drop", "error"]
MISSING_MARK = "missing:"


def _read_hierarchies(given: list[str], flag: str) -> dict[str, Any]:
    """Read COLUMN=HIERARCHY and files of hierarchies, as often as they were given."""
    from sievert.hierarchies import check_specification, read_hierarchies

    hierarchies: dict[str, Any] = {}
    tables = [text for text in given if "=" not in text and text.lower().endswith(".toml")]
    for table in tables:
        hierarchies |= read_hierarchies(table)
    single = [text for text in given if text not in tables]
    hierarchies |= column_values(single, flag, "disease=FILE")
    for specification in hierarchies.values():
        check_specification(specification)
    return hierarchies


def hierarchy_files(typed: Iterable[str], policy: Any) -> list[str]:
    """List the files that roles read: a policy, hierarchies, and files that these name.

    `typed` are the texts of --hierarchy.
    """
    given = [text.partition("=")[2] or text for text in typed]
    tables = [*([] if policy is None else [str(policy)]), *given]
    for table in (t for t in tables if t.lower().endswith(".toml")):
        from sievert.hierarchies import read_hierarchies

        with suppress(SievertError):  # its reader will raise the error again
            given += [h for h in read_hierarchies(table).values() if isinstance(h, str)]
    return [*tables, *given]


def _mark(given: str, _flag: str) -> str | None:
    return None if given == MISSING_MARK else given


@dataclass(frozen=True, kw_only=True)
class ColumnRoleSettings(Settings):
    """The roles of the columns, and the policy that may state them."""

    heading: ClassVar[str] = "Roles"

    quasi: Names = option(
        "Columns an outsider could know about a person: age,zip. May be repeated.",
        in_python="Columns that an outsider could know about a person: one name, or several.",
        default=None,
        flags=("--quasi", "-q", "--qi"),
        reader=NAMES,
    )
    sensitive: Names = option(
        "Secrets: disease,salary. May be repeated.",
        in_python="Secrets: one name, or several.",
        default=None,
        flags=("--sensitive", "-s", "--sa"),
        reader=NAMES,
    )
    identifier: Names = option(
        "Columns that are dropped before release; never measured.",
        default=None,
        flags=("--identifier", "-i"),
        reader=NAMES,
    )
    person: str | None = option(
        "The column that tells people apart, where they may have several rows: people are counted.",
        default=None,
    )
    policy: PolicySource = option(
        "A TOML file with roles, partitions, orders, parameters and limits; exit 1 unless met.",
        in_python="A `Policy`, a TOML file, or its content as a dict.",
        default=None,
        reader=PATH,
        reads=True,
    )


@dataclass(frozen=True, kw_only=True)
class RoleSettings(ColumnRoleSettings):
    """The roles of the columns, and what is said of their values."""

    hierarchies: Mapping[str, Any] | None = option(
        "COL=FILE (as ARX writes them, or a tree: .toml, .json), COL=interval:5,10, "
        "quantile:16,8, ends:18,85, prefix:4,3, date:month,year, order:2,4, top:20,5; or FILE.toml "
        "with [hierarchies]. For a secret's distance; how a quasi-identifier was made coarser "
        "(attack, compare) or could be.",
        in_python="How columns were made coarser, or could be: by column a `Hierarchy`, a "
        'specification such as "interval:5,10" or "date:month,year", a file, or a tree '
        "(docs/protect.md has every kind). Of secrets: for distances.",
        default=None,
        flags=("--hierarchy",),
        reader=TextReader(kind=str, several=True, convert=_read_hierarchies),
    )
    alpha_value: Mapping[str, str] | None = option(
        "COL=VALUE: alpha_k of this value of a secret only.",
        default=None,
        reader=column_values_reader("disease=HIV"),
        side="command line",
    )


@dataclass(frozen=True, kw_only=True)
class ReadingSettings(Settings):
    """How the data are read."""

    heading: ClassVar[str] = "Reading"

    delimiter: str | None = option(
        "The character between columns; found from the header unless given.", default=None
    )
    encoding: str = option("The text encoding of a CSV file.", default="utf-8")
    header: bool = option(
        "The first line is a record; the columns are called column1, column2, ...",
        in_python="Whether the first line has the names of the columns. Without names they are "
        "called column1, column2, ...",
        default=True,
        flags=("--no-header",),
        reader=WITHOUT,
    )
    types: Mapping[str, str] | None = option(
        "COL=int, float, date or text. Every CSV column is text unless typed: 01234 is not 1234.",
        in_python='By column "int", "float", "date" or "text". Every CSV column is text unless '
        "typed: 01234 is not 1234.",
        default=None,
        flags=("--type",),
        reader=column_values_reader("age=int"),
    )
    na: Names = option(
        "Text that stands for a missing value, such as NA. May be repeated.",
        in_python='Texts that stand for a missing value, such as "NA".',
        default=(),
        reader=TEXTS,
    )
    suppressed: str | Unstated | None = option(
        "The mark of suppressed records, which have it in every quasi-identifier: * unless given "
        "here or listed in [reading] of the policy; missing: names missing values. Such records "
        "are counted apart.",
        in_python='The mark of suppressed records, which have it in every quasi-identifier: "*" '
        "unless given here or listed in [reading] of the policy; None names missing "
        "values. Such records are counted apart.",
        default=UNSTATED,
        reader=TextReader(kind=str, convert=_mark),
    )
    keep_suppressed: bool = option("Count suppressed records as any other.", default=False)
    missing: Missing = option(
        "What a missing quasi-identifier is: a value, a wildcard (matches any), a reason to drop "
        "the record, or an error.",
        in_python='What a missing quasi-identifier is: a "value" of its own, a "wildcard" that '
        'matches anything, a reason to "drop" the record, or an "error".',
        default="value",
    )
    verify: bool = option(
        "Check Parquet's page checksums and note the file's SHA-256.", default=False
    )
    max_unpacked: str | None = option(
        "How large compressed data may become; 100 times its size and at most 20GB unless given.",
        default=None,
    )
    max_field: str | int | None = option(
        "How long a single field of a text file may be.", default="1MB", reader=TEXT
    )
    max_columns: int = option("How many columns a table may have.", default=10_000)


@dataclass(frozen=True, kw_only=True)
class EngineSettings(Settings):
    """What counts, and with how much."""

    heading: ClassVar[str] = "Engine"

    engine: EngineName | None = option(
        "What counts; duckdb unless the data are elsewhere.",
        in_python='What counts: "duckdb", "spark" or "postgres"; duckdb unless the data are '
        "elsewhere.",
        default=None,
    )
    master: str | None = option(
        "With --engine spark: the cluster, such as spark://host:7077; local[*] unless given.",
        default=None,
    )
    memory: str | None = option(
        "The most memory for data, such as 4GB: the engine spills to disk before; exit 5 beyond.",
        in_python='The most memory for data, such as "4GB": the engine spills to disk before.',
        default=None,
    )
    threads: int | None = option("The most threads the engine may use.", default=None)
    timeout: float | None = option(
        "The most seconds the run may take; exit 5 beyond.",
        in_python="The most seconds the run may take.",
        default=None,
    )
    temp: Place | None = option(
        "Where the private temporary directory is made.", default=None, reader=PATH
    )


def reader_options(settings: Settings) -> ReaderOptions:
    """Collect what `settings` say of reading and of the engine, for opening a source.

    A mark of suppression that is not stated is left out: a policy may state it.
    """
    given: dict[str, Any] = {
        f.name: getattr(settings, f.name)
        for f in fields(settings)
        if f.name in ReaderOptions.__annotations__
    }
    if given.get("suppressed") is UNSTATED:
        del given["suppressed"]
    return cast("ReaderOptions", given)


@dataclass(frozen=True, kw_only=True)
class OutputSettings(Settings):
    """What is written, and who may see it."""

    heading: ClassVar[str] = "Output"

    everything: bool = option(
        "Show every measure, not only the headlines.",
        default=False,
        flags=("--all",),
        side="command line",
    )
    json: str | None = option(
        "Write the whole result to this file; - is stdout.",
        default=None,
        side="command line",
        file=True,
    )
    timings: Path | None = option(
        "Write the seconds of each step to this file.", default=None, side="command line"
    )
    force: bool = option("Replace existing files that sievert has not written.", default=False)
    share: bool = option(
        "Write one short, shareable version: verdicts, and numbers that one person can hardly "
        "move. Without it every output is exact and internal.",
        default=False,
        side="command line",
    )
    min_cell: int | None = option(
        "With --share: so many people must change to move a number by a step; 10 unless given.",
        default=None,
        side="command line",
    )
    mask_names: bool = option(
        "With --share: hide the names of columns too.", default=False, side="command line"
    )
    show_values: bool = option(
        "Let explain and attacks name values of the data, and --debug messages that contain them.",
        in_python="Name values of the data in the result.",
        default=False,
    )
    language: Language = option(
        "The language of pages and the terminal; JSON and messages are English.",
        default=ENGLISH,
        side="command line",
    )
    debug: bool = option(
        "Show where in the program an error came up.", default=False, side="command line"
    )

    def check_output(self) -> None:
        """Refuse an unknown language, and outputs that are not shareable."""
        require(
            self.language in LANGUAGES,
            f"no language is called {self.language!r}",
            hint=", ".join(LANGUAGES),
        )
        for given, what in ((self.show_values, "values"), (self.timings, "timings")):
            if self.share and given:
                raise NOT_SHAREABLE[what]


@dataclass(frozen=True, kw_only=True)
class GateSettings(Settings):
    """The limits of a policy for a pipeline."""

    heading: ClassVar[str] = "Output"

    junit: Path | None = option(
        "With --policy: write every limit as a test case to this XML file (JUnit).",
        default=None,
        side="command line",
    )
    sarif: Path | None = option(
        "With --policy: write every limit that is not met as a finding to this file (SARIF).",
        default=None,
        side="command line",
    )

    @property
    def is_gate(self) -> bool:
        """Tell whether files for a pipeline are asked for."""
        return self.junit is not None or self.sarif is not None

    def check_policy(self, policy: Any) -> None:
        """Refuse files for a pipeline without a `policy`: only it has limits."""
        require(
            policy is not None or not self.is_gate,
            "--junit and --sarif write the limits of a policy",
            hint="--policy FILE",
        )

    def check_question(self, data: Any, *, planned: bool) -> None:
        """Refuse a plan or a count state: a pipeline lets a file through."""
        require(
            not (planned and self.is_gate),
            "--planned is about no file: --junit and --sarif do not go with it",
            hint="assess the release itself",
            error=SettingsError,
        )
        require(
            not (self.is_gate and is_state(data)),
            "a count state is no file that could go out: --junit and --sarif do not go with it",
            hint="assess the release itself",
            error=SettingsError,
        )

    def refuse_gate(self, why: str, hint: str) -> None:
        """Refuse files for a pipeline where no answer is about a file."""
        require(
            not self.is_gate,
            f"{why}: --junit and --sarif do not go with it",
            hint=hint,
            error=SettingsError,
        )


@dataclass(frozen=True, kw_only=True)
class PageSettings(Settings):
    """A page to decide from."""

    heading: ClassVar[str] = "Page"

    html: Path | None = option(
        "Write the result to this file, as one page that needs nothing else; exact and internal, "
        "or shareable with --share.",
        default=None,
        side="command line",
    )
    markdown: Path | None = option(
        "Write the same page as Markdown to this file.", default=None, side="command line"
    )
    internal: bool = option(
        "No longer needed: every output is internal without --share.",
        default=False,
        side="command line",
        hidden=True,
    )
    title: str | None = option(
        "With --html or --markdown: the page's title.", default=None, side="command line"
    )
    texts: Path | None = option(
        "With --html or --markdown: a TOML file with sentences of the page in other words.",
        default=None,
        side="command line",
    )

    @property
    def has_page(self) -> bool:
        """Tell whether a page is asked for."""
        return self.html is not None or self.markdown is not None

    def check_page(self) -> None:
        """Refuse a title without a page, and names of pages that do not say what they are."""
        beside = self.title is not None or self.texts is not None
        require(not beside or self.has_page, "--title and --texts go with --html or --markdown")
        self.check_endings(existing=False)  # existing files are checked first

    def check_endings(self, *, existing: bool = True) -> None:
        """Refuse a page whose name has another ending; with `existing` also of a file there is."""
        check_page_endings(self.html, self.markdown, existing=existing)


def check_page_endings(html: Place | None, markdown: Place | None, *, existing: bool) -> None:
    """Refuse a page whose name has another ending; with `existing` also of a file there is."""
    for given, what, endings in (
        (html, "an HTML page", (".html", ".htm")),
        (markdown, "Markdown", (".md", ".markdown")),
    ):
        if given is not None:
            path = Path(given)
            right = str(path) == STDIN or path.suffix.lower() in endings
            hint = str(path.with_suffix(endings[0])) if path.name else f"page{endings[0]}"
            later = not existing and os.path.lexists(path)
            require(right or later, f"{what} ends in {' or '.join(endings)}", hint=hint)
