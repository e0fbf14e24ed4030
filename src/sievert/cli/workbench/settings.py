"""The options of `workbench` and of `run`."""

from dataclasses import dataclass
from pathlib import Path

from sievert.errors import require
from sievert.formatting import ENGLISH
from sievert.settings.command import TextCommand
from sievert.settings.groups import Language
from sievert.settings.option import STDIN, option
from sievert.settings.readers import TABLE, WITHOUT

IDLE = 30.0  # minutes


@dataclass(frozen=True, kw_only=True)
class WorkbenchSettings(TextCommand):
    """Do the whole job in a browser on this computer: load, roles, assess, protect, report.

    The pages are served on 127.0.0.1 to whoever has the address that is printed, which works once.
    Nothing leaves the machine, and what is not saved is gone at the end.
    """

    file: str | None = option(
        "The table to begin with; another one can be chosen on the first page.",
        default=None,
        reader=TABLE,
        place=True,
    )
    session: Path | None = option("Go on with a session that was saved on a page.", default=None)
    browser: bool = option(
        "Only print the address.", default=True, flags=("--no-browser",), reader=WITHOUT
    )
    show_values: bool = option("Let pages name values of the data.", default=False)
    language: Language = option("The language of the pages.", default=ENGLISH)
    idle: float = option("End after so many minutes without a request.", default=IDLE)
    debug: bool = option("Show where in the program an error came up.", default=False)

    def check(self) -> None:
        """Refuse a time that is no time, standard input, and two tables to begin with."""
        require(self.idle > 0, "--idle takes minutes, more than 0")
        require(self.file != STDIN, "the workbench reads files, not standard input", hint="a file")
        require(self.file is None or self.session is None, "a table or --session, not both")


@dataclass(frozen=True, kw_only=True)
class RunSettings(TextCommand):
    """Run the commands of a session that was saved in the workbench, one after the other.

    The exit code is that of the releases: 1 where one of them does not meet the policy, whatever
    its original does. If the session says that its table is the release, that is one of them. The
    exit code is 7 where a file is left out because it was written under other roles or
    another policy.
    """

    session: Path = option("The TOML file.", place=True)
    debug: bool = option("Show where in the program an error came up.", default=False)
