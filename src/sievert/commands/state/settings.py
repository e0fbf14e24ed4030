"""The options of `count`, `merge` and `update`, and what may not be combined."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from sievert.errors import require
from sievert.settings.command import ListCommand
from sievert.settings.groups import (
    ColumnRoleSettings,
    EngineSettings,
    Missing,
    Names,
    Place,
    ReadingSettings,
)
from sievert.settings.option import UNSTATED, Unstated, option, redeclared
from sievert.settings.policy_source import PolicySource
from sievert.settings.readers import NAMES, PATH, PATHS, TABLE, TEXTS

USUAL_MARK = "*"  # of suppressed records


@dataclass(frozen=True, kw_only=True)
class StateCommand(ListCommand):
    """The settings of a command that writes a count state."""

    json: str | None = redeclared(
        ListCommand,
        "json",
        sentence="Write what the state holds, without values, to this file; - is stdout.",
    )
    force: bool = redeclared(
        ListCommand,
        "force",
        sentence="Replace a state that is there, or a file that sievert has not written.",
        in_python="Replace a state that is there.",
    )


@dataclass(frozen=True, kw_only=True)
class CountSettings(EngineSettings, StateCommand, ReadingSettings, ColumnRoleSettings):
    """Count a table into a state, which assess, explain and protect accept in its place.

    A state is a directory with every combination of the columns below that occurs and how many
    records have it. It is as sensitive as the data.
    """

    reference: ClassVar[
        str
    ] = """Count a table into a state, which `assess`, `explain` and `protect` accept in its place.

    The state is a directory that holds every combination of the columns with a role that occurs,
    and how many records have it: it is as sensitive as the data.
    """
    in_order: ClassVar[tuple[str, ...]] = ("data", "quasi", "sensitive", "identifier")

    data: Any = option(
        "The table, as for assess.",
        in_python="The table, as for `assess`.",
        reader=TABLE,
        place=True,
        reads=True,
    )
    out: Place | None = option(
        "The directory of the state, which is made.",
        default=None,
        heading="Output",
        flags=("--out", "-o"),
        reader=PATH,
        writes=True,
    )
    leave_out: str | Iterable[str] = option(
        "Columns that the state knows only by name and number of values: identifiers of a table "
        "whose state is to be updated.",
        in_python="Columns that the state knows only by name and number of values. Whether rows "
        "share an identifier cannot be told from two counts: a state that is to be updated leaves "
        "other identifiers out.",
        default=(),
        heading="Roles",
        reader=NAMES,
    )
    person: str | None = redeclared(
        ColumnRoleSettings,
        "person",
        sentence="The column that tells people apart, where they may have several rows.",
    )
    policy: PolicySource = redeclared(
        ColumnRoleSettings,
        "policy",
        sentence="A TOML file; only its roles and its codes for missing are used.",
        in_python="A `Policy`, a TOML file, or its content as a dict; only its roles and its codes "
        "for missing are used.",
    )
    suppressed: str | Unstated | None = redeclared(
        ReadingSettings,
        "suppressed",
        hidden=True,
        in_python="Not used: a state has all records.",
    )
    keep_suppressed: bool = redeclared(
        ReadingSettings,
        "keep_suppressed",
        hidden=True,
        in_python="Not used: a state has all records.",
    )
    missing: Missing = redeclared(ReadingSettings, "missing", hidden=True, side="command line")

    def check(self) -> None:
        """Refuse what goes with assess, and a count that is not written."""
        require(
            self.missing == "value"
            and not self.keep_suppressed
            and self.suppressed in (UNSTATED, USUAL_MARK),
            "--missing and --suppressed go with assess: a state has all records",
        )
        self.check_work()

    def check_work(self) -> None:
        """Refuse a count that is not written."""
        require(self.out is not None, "where is the state to be written?", hint="-o DIRECTORY")


@dataclass(frozen=True, kw_only=True)
class MergeSettings(StateCommand):
    """Add count states of the same columns up: the sum is that of counting the tables together."""

    reference: ClassVar[
        str
    ] = """Add states of the same columns up; or take all others away from the first.

    The result is that of counting the tables together. What is described, such as the name of the
    table, is that of the first state.
    """
    in_order: ClassVar[tuple[str, ...]] = ("states",)

    states: Sequence[Place] = option("Two or more states.", reader=PATHS, place=True, reads=True)
    out: Place | None = option(
        "The directory of the sum, which is made.",
        default=None,
        heading="Output",
        flags=("--out", "-o"),
        reader=PATH,
        writes=True,
    )
    subtract: bool = option(
        "Take all other states away from the first; records that are not there are refused.",
        in_python="Take the other states away from the first. Records that are not there are "
        "refused.",
        default=False,
    )
    again: bool = option(
        "Accept a state whose records, or most of them, seem to be in another one.",
        in_python="Accept a state with the records of another one, or with most of them, or with a "
        "table that is in another one.",
        default=False,
    )
    memory: str | None = option(
        "The most memory for data, such as 4GB.",
        in_python='The most memory for data, such as "4GB".',
        default=None,
        heading="Engine",
    )
    threads: int | None = option(
        "The most threads the engine may use.", default=None, heading="Engine"
    )
    temp: Place | None = option(
        "Where the private temporary directory is made.",
        default=None,
        heading="Engine",
        reader=PATH,
    )

    def check(self) -> None:
        """Refuse a sum that is not written."""
        require(self.out is not None, "where is the sum to be written?", hint="-o DIRECTORY")

    def check_work(self) -> None:
        """Refuse a single state."""
        require(
            len(self.states) > 1,
            "two states or more are added up",
            hint="sievert merge A B -o C",
        )


@dataclass(frozen=True, kw_only=True)
class UpdateSettings(EngineSettings, StateCommand):
    """Add records to a count state, or take some away: the same as counting the table again."""

    heading: ClassVar[str] = "Parameters"
    reference: ClassVar[
        str
    ] = """Add records to a state, or take records away: the result is that of counting again.

    The change is one new segment; the state is as it was until it is whole on the disk. Removing
    records that are not there is refused.
    """
    in_order: ClassVar[tuple[str, ...]] = ("state",)

    state: Place = option("The directory of the state.", reader=PATH, place=True, reads=True)
    add: Any = option(
        "A table of new records, read as the one that was counted. May be repeated.",
        in_python="A table of new records, or a list of them, with the columns of the table that "
        "was counted; they are read as it was.",
        default=(),
        reader=TEXTS,
        file=True,
        reads=True,
    )
    remove: Any = option(
        "A table of records that are gone; those that are not there are refused. May be repeated.",
        in_python="A table of records that are gone, or a list of them, with the columns of the "
        "table that was counted; they are read as it was.",
        default=(),
        reader=TEXTS,
        file=True,
        reads=True,
    )
    compact: bool = option(
        "Put all segments into one; done anyway where changes have a quarter of its rows.",
        in_python="Put all segments into one. It is done anyway beyond 32 segments, or where the "
        "changes have a quarter of the rows of the first segment.",
        default=False,
    )
    again: bool = option(
        "Accept a table whose records were added or removed already, or seem to be counted "
        "already.",
        in_python="Accept a table with the same records as one that was added already and not "
        "removed since, or was removed already, and one whose records mostly seem to be counted "
        "already.",
        default=False,
    )
    force: bool = redeclared(StateCommand, "force", side="command line")
    # The command line reads all tables as the state was counted.
    delimiter: str | None = redeclared(ReadingSettings, "delimiter", side="python")
    encoding: str = redeclared(ReadingSettings, "encoding", side="python")
    header: bool = redeclared(
        ReadingSettings,
        "header",
        side="python",
        in_python="Not used: tables are read as the one that was counted.",
    )
    types: Mapping[str, str] | None = redeclared(
        ReadingSettings,
        "types",
        side="python",
        in_python="Not used: tables are read as the one that was counted.",
    )
    na: Names = redeclared(
        ReadingSettings,
        "na",
        side="python",
        in_python="Not used: tables are read as the one that was counted.",
    )
    suppressed: str | Unstated | None = redeclared(
        ReadingSettings,
        "suppressed",
        side="python",
        in_python="Not used: a state has all records.",
    )
    keep_suppressed: bool = redeclared(
        ReadingSettings,
        "keep_suppressed",
        side="python",
        in_python="Not used: a state has all records.",
    )
    max_unpacked: str | None = redeclared(ReadingSettings, "max_unpacked", side="python")
    max_field: str | int | None = redeclared(ReadingSettings, "max_field", side="python")
    max_columns: int = redeclared(ReadingSettings, "max_columns", side="python")

    @property
    def tables(self) -> list[tuple[Any, int]]:
        """The tables of records, each with its sign: 1 is added, -1 is taken away."""
        added = [(data, 1) for data in _as_list(self.add)]
        removed = [(data, -1) for data in _as_list(self.remove)]
        return added + removed

    def check_work(self) -> None:
        """Refuse an update that changes nothing."""
        require(
            self.tables or self.compact,
            "nothing to add or to remove",
            hint="--add FILE, --remove FILE",
        )


def _as_list(given: Any) -> list[Any]:
    """List the tables that are given: one, or several in a list or a tuple."""
    return list(given) if isinstance(given, list | tuple) else [given]
