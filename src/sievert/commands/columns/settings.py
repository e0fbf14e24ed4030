"""The options of `columns`."""

from dataclasses import dataclass
from typing import Any, ClassVar

from sievert.errors import require
from sievert.formatting import ENGLISH
from sievert.settings.command import LinesCommand
from sievert.settings.groups import EngineSettings, Language, Missing, ReadingSettings
from sievert.settings.option import option, redeclared
from sievert.settings.readers import TABLE


@dataclass(frozen=True, kw_only=True)
class ColumnsSettings(EngineSettings, ReadingSettings, LinesCommand):
    """Say what the columns of a table look like, and suggest a role for each."""

    reference: ClassVar[
        str
    ] = """Say what the columns of a table look like, and suggest a role for each.

    >>> table = {"age": [str(n % 63 + 18) for n in range(200)], "salary": ["1", "2"] * 100}
    >>> [(c.name, c.values, c.role) for c in describe_columns(table).columns]
    [('age', 63, 'quasi'), ('salary', 2, 'sensitive')]
    """
    in_order: ClassVar[tuple[str, ...]] = ("data",)

    data: Any = option(
        "The table, as for assess.",
        in_python="The table: a path, a frame, a dict of lists.",
        reader=TABLE,
        place=True,
        reads=True,
    )
    language: Language = option(
        "The language of the terminal.",
        default=ENGLISH,
        heading="Parameters",
        side="command line",
    )
    json: str | None = option(
        "Write it to this file; - is stdout.",
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
    show_values: bool = option(
        "Name the most frequent values of each column.",
        in_python="Name the most frequent values of each column; without it no value is named.",
        default=False,
        heading="Parameters",
    )
    debug: bool = option(
        "Show where in the program an error came up.",
        default=False,
        heading="Parameters",
        side="command line",
    )
    missing: Missing = redeclared(ReadingSettings, "missing", side="command line")

    def check(self) -> None:
        """Refuse a rule for missing values: they are counted."""
        require(self.missing == "value", "--missing does not go with columns")
