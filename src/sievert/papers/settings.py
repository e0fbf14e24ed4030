"""The options of `paper`."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from sievert.errors import require
from sievert.settings.command import DocumentCommand
from sievert.settings.option import option
from sievert.settings.readers import column_values_reader

PaperName = Literal[
    "itpr",
    "discrimination-rate",
    "mutual-information",
    "relative-risk",
    "approximate-compromise",
]
REPEATED: PaperName = "approximate-compromise"  # the paper whose experiment is repeated
MOST_REPLICATES = 1000


@dataclass(frozen=True, kw_only=True)
class PaperSettings(DocumentCommand):
    """Recompute a paper: its tables, figures and verdicts, beside what is printed."""

    name: PaperName = option("The paper.", place=True)
    data: Mapping[str, str] | None = option(
        "NAME=FILE, a table that the paper used: adult, pums, ...; may be repeated. Nothing is "
        "downloaded.",
        default=None,
        reader=column_values_reader("adult=adult.csv"),
    )
    seed: int = option("Of what is drawn at random.", default=0)
    replicates: int | None = option(
        "With approximate-compromise: runs of its experiment; 30 as in the paper unless given.",
        default=None,
    )
    everything: bool = option(
        "Show every printed value, not only where it differs.", default=False, flags=("--all",)
    )
    json: str | None = option(
        "Write every printed value with ours to this file; - is stdout.", default=None, file=True
    )
    html: Path | None = option("Write the paper as one page to this file.", default=None)
    markdown: Path | None = option("Write the same page as Markdown to this file.", default=None)
    force: bool = option("Replace existing files that sievert has not written.", default=False)
    debug: bool = option("Show the traceback of an error.", default=False)

    def check(self) -> None:
        """Refuse replicates of a paper without an experiment, and names that are no pages."""
        require(
            self.replicates is None
            or (self.name == REPEATED and 1 <= self.replicates <= MOST_REPLICATES),
            f"--replicates goes with {REPEATED}, from 1 to {MOST_REPLICATES:,}",
        )
        self.check_endings(existing=False)  # existing files are checked first

    def read_files(self) -> list[str]:
        """List the tables that the paper is given."""
        return list((self.data or {}).values())
