"""The options of `ledger add`, `ledger check` and `ledger show`, and what may not be combined."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from sievert.errors import require
from sievert.settings.command import Command, ListCommand, PageCommand
from sievert.settings.groups import (
    EngineSettings,
    GateSettings,
    Missing,
    Names,
    OutputSettings,
    Place,
    ReadingSettings,
    RoleSettings,
    hierarchy_files,
)
from sievert.settings.option import option, redeclared
from sievert.settings.policy_source import PolicySource
from sievert.settings.readers import PATH, TABLE, TEXT


def salt_beside(ledger: Path) -> Path:
    """Return the default path of the salt of a ledger.

    >>> salt_beside(Path("releases.ledger")).name
    'releases.ledger.salt'
    """
    return ledger.with_name(f"{ledger.name}.salt")


@dataclass(frozen=True, kw_only=True)
class LedgerList(ListCommand):
    """The settings of a command that lists the releases of a ledger."""

    json: str | None = redeclared(
        ListCommand, "json", sentence="Write the list of releases to this file; - is stdout."
    )
    force: bool = redeclared(ListCommand, "force", side="command line")


@dataclass(frozen=True, kw_only=True)
class ReleaseSettings(EngineSettings, ReadingSettings, RoleSettings, Command):
    """The settings of a command that reads a release, and the ledger of earlier ones."""

    heading: ClassVar[str] = "Release"
    in_order: ClassVar[tuple[str, ...]] = (
        "ledger",
        "release",
        "quasi",
        "sensitive",
        "identifier",
    )

    ledger: Place = option("The file of the ledger.", reader=PATH, place=True, reads=True)
    release: Any = option(
        "Your own copy of the new release, with the key of its people; as for assess.",
        in_python="The publisher's own copy of the new release, with the key of its people: a "
        "path, a frame, a dict of lists.",
        reader=TABLE,
        place=True,
        reads=True,
    )
    name: str | None = option(
        "What the release is called; the name of its file unless given.", default=None
    )
    salt: Place | None = option(
        "The file of the salt, without which nobody is found again; LEDGER.salt unless given.",
        in_python="The file of the salt; beside the ledger (LEDGER.salt) unless given.",
        default=None,
        reader=PATH,
        reads=True,
    )
    # Other commands count people by one column; a ledger may find them again by several.
    person: Names = redeclared(  # type: ignore[assignment]
        RoleSettings,
        "person",
        in_python="The column, or several, by which people are found again in all releases.",
        reader=TEXT,
    )
    hierarchies: Mapping[str, Any] | None = redeclared(
        RoleSettings, "hierarchies", side="command line"
    )
    missing: Missing = redeclared(
        ReadingSettings,
        "missing",
        in_python='Always "value": a missing value is a value of its own in a ledger.',
    )

    @property
    def salt_path(self) -> Path:
        """The file of the salt."""
        return salt_beside(Path(self.ledger)) if self.salt is None else Path(self.salt)

    def read_files(self) -> list[Any]:
        """List the ledger, its salt, the release, and the files that a policy names."""
        return [*super().read_files(), self.salt_path, *hierarchy_files((), self.policy)]

    def check_work(self) -> None:
        """Refuse a rule for missing values that a ledger does not have."""
        require(
            self.missing == "value",
            "a missing value is a value of its own in a ledger",
            hint="--missing value",
        )


@dataclass(frozen=True, kw_only=True)
class LedgerAddSettings(ReleaseSettings, LedgerList):
    """Note what a release says about whom, so that later ones can be held against it.

    The ledger has the class of every person and the values of secrets as keyed hashes, not the
    data. --person names the column, or several, by which people are found again.
    """

    reference: ClassVar[str] = (
        """Note in a ledger what a release says about whom: the classes of people, not the data."""
    )

    ledger: Place = redeclared(
        ReleaseSettings,
        "ledger",
        sentence="The file of the ledger; it is made, and a salt beside it, if it is not there.",
        in_python="The file of the ledger; it is made, with a salt, if it is not there.",
    )
    release: Any = redeclared(
        ReleaseSettings,
        "release",
        sentence="Your own copy of the release, with the key of its people; as for assess.",
        in_python="The publisher's own copy of the release, with the key of its people: a path, a "
        "frame, a dict of lists.",
    )
    date: str | None = option("When it was released, YYYY-MM-DD; today unless given.", default=None)
    policy: PolicySource = redeclared(
        RoleSettings,
        "policy",
        in_python="A `Policy`, a TOML file, or its content as a dict: its roles are used where "
        "none are given.",
    )

    def check(self) -> None:
        """Refuse options of the roles that only other commands read."""
        require(
            not self.hierarchies and not self.alpha_value,
            "--hierarchy and --alpha-value do not go with ledger add",
        )


@dataclass(frozen=True, kw_only=True)
class LedgerCheckSettings(ReleaseSettings, GateSettings, PageCommand):
    """Hold a new release against a policy together with the releases of a ledger.

    An attacker knows a person's values in every release, and in which releases the person is. The
    limits apply to people who look alike in all of them. The exit code is 1 unless the policy is
    met; the ledger is not changed.
    """

    reference: ClassVar[
        str
    ] = """Judge a new release by a policy, together with all releases of a ledger; write nothing.

    An attacker is taken to know the quasi-identifiers of all rows of a person in every release, and
    in which releases the person is. Kept columns are quasi-identifiers here, unless the policy says
    that outsiders cannot know them. People who look alike in all of them are a joint class. The
    limits apply to joint classes, of the people of every release: the riskiest number decides.
    """

    policy: PolicySource = redeclared(
        RoleSettings,
        "policy",
        in_python="A `Policy`, a TOML file, or its content as a dict: its limits apply to all "
        "releases together, and to the new one alone.",
    )
    force: bool = redeclared(OutputSettings, "force", side="command line")
    show_values: bool = redeclared(OutputSettings, "show_values", side="command line")

    @property
    def gate(self) -> GateSettings:
        """The files for a pipeline."""
        return self

    def check(self) -> None:
        """Refuse values to show, and files for a pipeline.

        The table has the key of its people here, and is not the file that goes out.
        """
        self.refuse_values()
        self.refuse_gate(
            "ledger check answers for a release without its key, which is no file here",
            "assess the release for the pipeline; the exit code of ledger check tells its answer",
        )

    def check_roles(self) -> None:
        """Refuse options of the roles that only other commands read."""
        super().check_roles()
        require(not self.hierarchies, "--hierarchy goes with assess, explain and compare")


@dataclass(frozen=True, kw_only=True)
class LedgerShowSettings(LedgerList):
    """List the releases of a ledger; this needs no salt."""

    reference: ClassVar[str] = """List the releases of a ledger; this needs no salt."""
    in_order: ClassVar[tuple[str, ...]] = ("ledger",)

    ledger: Place = option("The file of the ledger.", reader=PATH, place=True, reads=True)

    def read_files(self) -> list[Any]:
        """List the ledger and its salt."""
        return [*super().read_files(), salt_beside(Path(self.ledger))]
