"""The options of `synthetic`, and what may not be combined."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from sievert import files
from sievert.errors import require
from sievert.settings.command import PageCommand
from sievert.settings.groups import GateSettings, Names, OutputSettings, Place, RoleSettings
from sievert.settings.option import TextReader, option, redeclared
from sievert.settings.policy_source import PolicySource
from sievert.settings.readers import PATH, TABLE, TABLES


def _read_split(given: str, flag: str) -> tuple[tuple[str, ...], ...]:
    """Read two sets of columns: A,B:C,D."""
    halves = given.split(":")
    require(
        len(halves) == 2 and all(halves),
        f"{flag} takes two sets of columns",
        hint=f"{flag} age,sex:town,job",
    )
    return tuple(tuple(half.split(",")) for half in halves)


@dataclass(frozen=True, kw_only=True)
class SyntheticSettings(GateSettings, PageCommand):
    """Attack synthetic tables, and hold what their people suffer against strangers.

    Rows are not paired with those of the original. -q names what an attacker knows (all other
    columns unless given), -s what is inferred (all unless given). A --policy may limit any number:
    [limits.synthetic.copies] risk = { max = 0.05 }.
    """

    heading: ClassVar[str] = "Attacks"
    reference: ClassVar[
        str
    ] = """Attack synthetic tables: what do they say of the people whose data they were made from?

    Each attack scores every person of the original and of the control, people whom the generator
    never saw, without using who is which. What originals suffer more than strangers is the risk.

    >>> people = {"age": ["20", "30", "40", "50"], "job": ["a", "b", "a", "c"]}
    >>> fake = {"age": ["20", "30", "41", "50"], "job": ["a", "b", "a", "c"]}
    >>> found = synthetic(people, fake)
    >>> found.tables[0].results.attacks["copies"].original.hits
    3.0
    """
    in_order: ClassVar[tuple[str, ...]] = (
        "original",
        "synthetic",
        "control",
        "quasi",
        "sensitive",
        "identifier",
    )

    original: Any = option(
        "The table that the generator was trained on; as for assess.",
        in_python="The table that the generator was trained on: a path, a frame, a dict of lists.",
        reader=TABLE,
        place=True,
        reads=True,
    )
    synthetic: Any = option(
        "One or several synthetic tables, with the same names of columns.",
        in_python="The synthetic table, or a list of several; rows are not paired with those of "
        "the original.",
        flags=("TABLES",),
        reader=TABLES,
        place=True,
        reads=True,
    )
    control: Any = option(
        "People drawn together with the original and kept from the generator: without them there "
        "are rates and no risk.",
        in_python="People drawn together with the original and kept from the generator. Without "
        "it there are rates, and no risk.",
        default=None,
        reader=TABLE,
        reads=True,
    )
    split: tuple[Sequence[str], Sequence[str]] | None = option(
        "A,B:C,D: columns that are known in one place, and in another; are they brought together?",
        in_python="Two sets of columns that are known in two places, for linkability.",
        default=None,
        reader=TextReader(kind=str, convert=_read_split),
    )
    records: Place | None = option(
        "Write one row a person of the original, with the score of every attack, to this .csv or "
        ".parquet file.",
        default=None,
        heading="Output",
        reader=PATH,
        writes=True,
    )
    quasi: Names = redeclared(
        RoleSettings,
        "quasi",
        in_python="What an attacker knows of a person whose secret they infer; all other columns "
        "unless given.",
    )
    sensitive: Names = redeclared(
        RoleSettings,
        "sensitive",
        in_python="The columns that are inferred; all shared ones unless given.",
    )
    identifier: Names = redeclared(
        RoleSettings, "identifier", in_python="Columns that are not compared."
    )
    person: str | None = redeclared(
        RoleSettings,
        "person",
        in_python="The column that tells which rows are of one person: they change sides together.",
    )
    policy: PolicySource = redeclared(
        RoleSettings,
        "policy",
        in_python="A `Policy`, a TOML file, or its content as a dict: every table is judged by its "
        "[limits.synthetic.ATTACK].",
    )
    hierarchies: Mapping[str, Any] | None = redeclared(
        RoleSettings, "hierarchies", side="command line"
    )
    show_values: bool = redeclared(OutputSettings, "show_values", side="command line")

    @property
    def tables(self) -> list[Any]:
        """The synthetic tables."""
        several = isinstance(self.synthetic, list | tuple)
        return list(self.synthetic) if several else [self.synthetic]

    @property
    def gate(self) -> GateSettings:
        """The files for a pipeline."""
        return self

    def check(self) -> None:
        """Refuse a command line without a synthetic table, and values to show."""
        self._check_tables()
        self.refuse_values()

    def check_roles(self) -> None:
        """Refuse hierarchies, too: values are compared as they are."""
        super().check_roles()
        require(not self.hierarchies, "--hierarchy goes with assess, explain and compare")

    def check_work(self) -> None:
        """Refuse combinations of options, however they were given."""
        require(
            self.missing == "value",
            "a missing value is a value of its own here",
            hint="--missing value",
        )
        if self.records is not None:
            files.record_format(self.records)
        self._check_tables()
        require(
            self.records is None or len(self.tables) == 1,
            "--records goes with one synthetic table",
        )

    def _check_tables(self) -> None:
        """Refuse a call without a synthetic table."""
        require(
            self.tables, "no synthetic table given", hint="sievert synthetic ORIGINAL SYNTHETIC"
        )
