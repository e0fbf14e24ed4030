"""The options of `attack`, and what may not be combined."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from sievert.attacks.reasoning.settings import ReasoningSettings
from sievert.errors import require
from sievert.settings.command import PageCommand
from sievert.settings.groups import Missing, Place, ReadingSettings, RoleSettings
from sievert.settings.option import option, redeclared
from sievert.settings.policy_source import PolicySource
from sievert.settings.readers import PATH, TABLE, column_values_reader


@dataclass(frozen=True, kw_only=True)
class AttackSettings(PageCommand, ReasoningSettings):
    """Attack a release: alone, by reasoning, with a register of outsiders, and with the
    original.
    """

    heading: ClassVar[str] = "Attacks"
    reference: ClassVar[
        str
    ] = """Attack a release as somebody would who reasons, has a register, or the original.

    >>> release = {"age": ["2*", "2*", "3*", "3*"], "disease": ["flu", "flu", "flu", "hiv"]}
    >>> register = {"name": ["Ann", "Bob"], "age": ["22", "35"]}
    >>> ages = {"22": ["2*"], "25": ["2*"], "35": ["3*"]}
    >>> tables = {"register": register, "hierarchies": {"age": ages}}
    >>> result = attack(release, quasi="age", sensitive="disease", **tables)
    >>> result["identity"]["grey_box"].numbers["candidates"].value
    2
    >>> round(result.beliefs["35"]["attacker"]["hiv"], 6)
    0.5
    """
    in_order: ClassVar[tuple[str, ...]] = (
        "release",
        "original",
        "quasi",
        "sensitive",
        "identifier",
    )

    release: Any = option(
        "As for assess. --hierarchy says how its columns were generalised; types are those of the "
        "release, other ways to read go for all tables.",
        in_python="The released table: a path, a frame, a dict of lists; or two of them, as "
        "Anatomy makes them: people with their group, groups with their secrets. The types and "
        "the engine are those of the release; other ways to read go for all tables.",
        reader=TABLE,
        place=True,
        reads=True,
    )
    register: Any = option(
        "A table that shares quasi-identifiers with the release: who are the candidates of a row?",
        in_python="A table of outsiders that shares quasi-identifiers with the release: who are "
        "the candidates of a row?",
        default=None,
        reader=TABLE,
        reads=True,
    )
    original: Any = option(
        "The table that the release was made of, in the same order unless there is a key.",
        in_python="The table that the release was made of: do released values give the original "
        "ones away, and is somebody right who reasons?",
        default=None,
        reader=TABLE,
        reads=True,
    )
    key: str | None = option(
        "A column that tells people apart, the same in all tables.",
        in_python="A column that tells people apart, the same in all tables. Without it, the "
        "release needs the pairing file that `protect` wrote, beside it; or the original must have "
        "its records in the order of the release, and the tables must show that it has.",
        default=None,
    )
    paired: bool = option(
        "Say that the original is in the order of the release, where the tables cannot show it; "
        "refused where they, or the pairing file, show another order.",
        in_python="Say that the original has its records in the order of the release, where the "
        "tables cannot show it. Where they show that it is not so, this is refused.",
        default=False,
    )
    value: Mapping[str, str] | None = option(
        "COL=VALUE: the value of a secret whose rise in a class matters, such as disease=HIV.",
        in_python="Of each secret the value whose rise in a class matters, such as "
        '``{"disease": "HIV"}``.',
        default=None,
        reader=column_values_reader("disease=HIV"),
    )
    records: Place | None = option(
        "Write one row a record to this .csv or .parquet file: of the original what attacker and "
        "learner believe of its secret, and whether it is at risk; without the original, of the "
        "release, what those believe whose values fit.",
        default=None,
        heading="Output",
        reader=PATH,
        writes=True,
    )
    charts: Path | None = option(
        "Draw what the attacks find, as SVG files in this directory.",
        default=None,
        heading="Output",
        side="command line",
    )
    partitions: Mapping[str, Mapping[str, Iterable[str]]] | None = option(
        "How values of a secret are merged by meaning: parts and their values.",
        default=None,
        side="python",
    )
    person: str | None = redeclared(
        RoleSettings,
        "person",
        in_python="The column that tells people apart, where they may have several rows: refused "
        "where people have several.",
    )
    policy: PolicySource = redeclared(
        RoleSettings,
        "policy",
        in_python="A `Policy`, a TOML file, or its content as a dict: its roles and partitions are "
        "used.",
    )
    hierarchies: Mapping[str, Any] | None = redeclared(
        RoleSettings,
        "hierarchies",
        in_python="How columns were made coarser, and how values of a secret are merged by "
        'meaning: by column a `Hierarchy`, a specification such as "interval:5,10", a file, or a '
        "tree (docs/protect.md has every kind).",
    )
    missing: Missing = redeclared(
        ReadingSettings,
        "missing",
        in_python='What a missing quasi-identifier is: a "value" of its own, a "wildcard" that '
        "matches anything (there are then no classes, and only register and original are looked "
        'at), a reason to "drop" the record, or an "error".',
    )

    @property
    def tables(self) -> tuple[Any, Any]:
        """The released table, and the second one of a release in two tables or None."""
        if isinstance(self.release, tuple):
            people, secrets = self.release
            return people, secrets
        return self.release, self.sensitive_table

    @property
    def is_grouped(self) -> bool:
        """Tell whether it is known by groups only who has which secret."""
        return self.group is not None or self.tables[1] is not None

    @property
    def must_reason(self) -> bool:
        """Tell whether it is an error if nobody can reason: what is asked for depends on it."""
        return not self.is_usual or self.original is not None or self.is_grouped

    @property
    def chart_folder(self) -> Path | None:
        """The directory of charts."""
        return self.charts

    def check_roles(self) -> None:
        """Refuse the value of a measure: attacks have an option of their own for it."""
        require(
            not self.alpha_value,
            "--alpha-value goes with assess",
            hint="--value COL=VALUE",
        )

    def check_work(self) -> None:
        """Refuse combinations of options, however they were given."""
        require(
            self.key is None or self.register is not None or self.original is not None,
            "a key links tables",
            hint="--register FILE or --original FILE",
        )
        require(
            not self.paired or self.original is not None,
            "--paired is about a release and its original",
            hint="--original FILE",
        )
        if isinstance(self.release, tuple):
            require(
                len(self.release) == 2 and self.sensitive_table is None,
                "a release has one table or two",
                hint="(people, secrets)",
            )
        require(
            self.records is None or self.reasoning,
            "--records tells what somebody believes who reasons",
        )
        self.check_reasoning()
