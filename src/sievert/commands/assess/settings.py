"""The options of `assess`, and what may not be combined."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Literal, Self

from sievert import files
from sievert.errors import NOT_SHAREABLE, require
from sievert.measurement.population_settings import PopulationSettings
from sievert.settings.checks import check_known
from sievert.settings.command import PageCommand
from sievert.settings.groups import GateSettings, Place
from sievert.settings.option import option
from sievert.settings.readers import KEY_SETS, PATH, TABLE, column_values_reader

Framework = Literal["wp216", "ico", "hipaa", "ema0070", "iso27559", "sp800188"]


@dataclass(frozen=True, kw_only=True)
class AssessSettings(GateSettings, PageCommand, PopulationSettings):
    """Measure how easily a person is found in a table, and how much of each secret is
    given away.
    """

    reference: ClassVar[str] = """Measure how much a table exposes the people in it.

    >>> table = {"zip": ["1", "1", "2", "2"], "disease": ["flu", "flu", "flu", "hiv"]}
    >>> found = assess(table, ["zip"], ["disease"])
    >>> found.reidentification["k_anonymity"].value, found.inference["disease"]["l_diversity"].value
    (2, 1)
    """
    in_order: ClassVar[tuple[str, ...]] = ("data", "quasi", "sensitive", "identifier")

    data: Any = option(
        "CSV or TSV (plain, .gz, .zst; - is stdin), Parquet (file, directory), Arrow, DuckDB "
        "(x.db?table=t), SPSS, Stata, SAS, Excel (x.xlsx?sheet=s).",
        in_python="A path to a CSV, TSV or Parquet file; a pandas, Polars or Arrow frame; a dict "
        "of lists; or a count state (`count`), with its own roles where none are given.",
        reader=TABLE,
        place=True,
        reads=True,
    )
    key_sets: Iterable[str | Iterable[str]] | None = option(
        "In place of -q: a set of columns that an outsider could know together: age,zip. May be "
        "repeated; each set is assessed on its own, and the worst decides.",
        in_python="In place of `quasi`: several sets of quasi-identifiers, each assessed on its "
        "own. The result is that of the worst one: policy not met or undecided, smallest "
        "k, most unique people.",
        default=None,
        heading="Roles",
        flags=("--key-set",),
        reader=KEY_SETS,
    )
    trajectory: int | None = option(
        "With --person: how often so many of a person's classes are nobody else's (unicity).",
        default=None,
        heading="Roles",
    )
    planned: bool = option(
        "With --policy: ask about a planned release without the columns that must not be "
        "released. Without it, a file that still has such columns does not meet the policy.",
        in_python="With a policy: ask about a planned release without the columns that must not be "
        "released. `planned_met` has the answer, and `met` is None. Of a count state that "
        "is always the question.",
        default=False,
        heading="Roles",
    )
    attacks: bool = option(
        "Say what the five attacks on a release find that need nothing but the release.",
        default=False,
        heading="Attacks",
    )
    value: Mapping[str, str] | None = option(
        "With --attacks: COL=VALUE, the value of a secret whose rise in a class matters.",
        in_python="With `attacks`: of each secret the value whose rise in a class matters, such as "
        '``{"disease": "HIV"}``.',
        default=None,
        heading="Attacks",
        reader=column_values_reader("disease=HIV"),
    )
    records: Place | None = option(
        "Write one row a record, in input order, to this .csv or .parquet file.",
        in_python="Write one row a record, in input order, to this CSV or Parquet file.",
        default=None,
        heading="Output",
        reader=PATH,
        writes=True,
    )
    charts: Path | None = option(
        "Draw sizes of classes, what --attacks find and how near a number is, as SVG, to this "
        "folder.",
        default=None,
        heading="Output",
        side="command line",
    )
    quick: bool = option(
        "Leave out what would help (with --policy) and why (with --html or --markdown).",
        in_python="Leave out what would help (`options`), which an assessment with a policy has.",
        default=False,
        heading="Output",
    )
    framework: Framework | None = option(
        "Say which number answers which criterion of a regulator, on the page and in the JSON.",
        in_python="Map the numbers to the criteria of a regulator; the SHA-256 of the input is "
        "noted too.",
        default=None,
        heading="Output",
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
    measures: Iterable[str] | None = option(
        "Compute only these ids; all that apply unless given.", default=None, side="python"
    )
    explain: bool = option(
        "Say why the numbers are as they are (`explanation`): the share of each column, the most "
        "telling columns.",
        default=False,
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

    def check(self) -> None:
        """Refuse what is not shareable, and a plan for a pipeline."""
        for given, what in (
            (self.attacks, "attacks"),
            (self.records, "records"),
            (self.key_sets, "key_sets"),
            (self.framework, "framework"),
            (self.changes_population, "population"),
        ):
            if self.share and given:
                raise NOT_SHAREABLE[what]
        require(
            not self.share or self.quasi is not None or self.policy is not None,
            "no quasi-identifiers given",
            hint="-q COLUMNS; without --share to see them",
        )
        self.check_question(self.data, planned=self.planned)

    def check_roles(self) -> None:
        """Accept every option of the roles."""

    def as_typed(self) -> Self:
        """Explain on a page; name values in attacks only; give the value of --alpha-value."""
        alpha = {"alpha_k": {"value": self.alpha_value}} if self.alpha_value else {}
        return replace(
            self,
            parameters=alpha,
            show_values=self.attacks and self.show_values,
            quick=self.quick or self.share,
            explain=self.has_page and not self.quick and not self.share,
        )

    def check_work(self) -> None:
        """Refuse combinations of options, however they were given."""
        if self.records is not None:
            files.record_format(self.records)
        require(
            self.attacks or (not self.value and not self.show_values),
            "a named value and values to show belong to attacks",
            hint="--attacks",
        )
        if self.framework is not None:
            from sievert.commands.assess.frameworks import FRAMEWORKS

            check_known("a framework", self.framework, FRAMEWORKS)
        require(
            self.key_sets is None or self.quasi is None,
            "key sets take the place of quasi-identifiers",
            hint="--key-set or -q, not both",
        )
        require(
            self.key_sets is None or self.records is None,
            "a record file is about one set of quasi-identifiers",
            hint="-q COLUMNS in place of --key-set",
        )
        require(
            not self.planned or self.policy is not None,
            "planned asks whether a release would meet a policy",
            hint="--policy FILE",
        )
