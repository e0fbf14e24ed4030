"""The options of `policy check`."""

from dataclasses import dataclass
from typing import Any, ClassVar

from sievert.errors import require
from sievert.formatting import ENGLISH
from sievert.settings.command import LinesCommand
from sievert.settings.groups import EngineSettings, Language, Missing, Place, ReadingSettings
from sievert.settings.option import option, redeclared
from sievert.settings.readers import PATH, TABLE


@dataclass(frozen=True, kw_only=True)
class PolicyCheckSettings(EngineSettings, ReadingSettings, LinesCommand):
    """Say what a policy lacks for a table: roles, columns, limits that make sense, a statement.

    The exit code is 0 if it lacks nothing and 1 if it does; whether its limits are met is for
    assess to say.
    """

    reference: ClassVar[str] = (
        """Say what a policy file lacks for a table, and write it into the file as comments."""
    )
    in_order: ClassVar[tuple[str, ...]] = ("policy", "data")

    policy: Place = option(
        "The policy, a TOML file.",
        in_python="The TOML file.",
        flags=("FILE",),
        reader=PATH,
        place=True,
        reads=True,
    )
    data: Any = option(
        "The table, as for assess.",
        in_python="The table, as for `assess`.",
        reader=TABLE,
        place=True,
        reads=True,
    )
    fix: bool = option(
        "Write what is lacking into the policy, as comments with suggestions. They change nothing: "
        "no column gets a role, and no limit is changed, until somebody has decided.",
        in_python="Whether to write what is lacking into the file, as comments with suggestions. "
        "They change nothing: no column gets a role and no limit is changed until somebody has "
        "decided.",
        default=False,
        heading="Parameters",
    )
    language: Language = option(
        "The language of the terminal; the policy is written in English.",
        default=ENGLISH,
        heading="Parameters",
        side="command line",
    )
    json: str | None = option(
        "Write what is lacking to this file; - is stdout.",
        default=None,
        heading="Parameters",
        side="command line",
        file=True,
    )
    force: bool = option(
        "Replace an existing file that sievert has not written.",
        default=False,
        heading="Parameters",
        side="command line",
    )
    debug: bool = option(
        "Show where in the program an error came up.",
        default=False,
        heading="Parameters",
        side="command line",
    )
    missing: Missing = redeclared(ReadingSettings, "missing", side="command line")

    def check(self) -> None:
        """Refuse a rule for missing values: the policy is compared with all records."""
        require(self.missing == "value", "--missing does not go with policy check")
