"""The options of `explain`."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from sievert import files
from sievert.measurement.population_settings import PopulationSettings
from sievert.settings.command import PageCommand
from sievert.settings.groups import Place
from sievert.settings.option import option
from sievert.settings.readers import PATH, TABLE


@dataclass(frozen=True, kw_only=True)
class ExplainSettings(PageCommand, PopulationSettings):
    """Say which columns, values and records drive the risk, and what coarser columns would do."""

    reference: ClassVar[
        str
    ] = """Explain which columns, values and records drive the risk of a table.

    >>> table = {"zip": ["1", "1", "2", "3"], "sex": ["f", "m", "m", "m"]}
    >>> found = explain(table, ["zip", "sex"])
    >>> found.subset("zip").reidentification["unique_count"], found.whole.columns
    (2, ('zip', 'sex'))
    """
    in_order: ClassVar[tuple[str, ...]] = ("data", "quasi", "sensitive", "identifier")

    data: Any = option(
        "As for assess. Without -s every column is ranked as a secret; without -q that is all.",
        in_python="As for `assess`: a path, a frame, a dict of lists, or a count state, whose "
        "records have no row numbers. Without `sensitive` every column is ranked as a secret; "
        "without `quasi` that is all.",
        reader=TABLE,
        place=True,
        reads=True,
    )
    max_size: int | None = option(
        "Only subsets of at most so many columns. All are measured up to 12 columns.",
        default=None,
        heading="Subsets",
    )
    budget: int | None = option(
        "Only so many subsets, the most telling first.", default=None, heading="Subsets"
    )
    orders: int | None = option(
        "Orders of the columns from which shares are sampled if not all subsets are measured: 64.",
        default=None,
        heading="Subsets",
    )
    seed: int = option("Where sampling starts.", default=0, heading="Subsets")
    records: Place | None = option(
        "Write one row a record, in input order, to this .csv or .parquet file.",
        default=None,
        heading="Output",
        reader=PATH,
        writes=True,
    )
    charts: Path | None = option(
        "Draw what is known and each column's share, as SVG files in this directory.",
        default=None,
        heading="Output",
        side="command line",
    )

    @property
    def chart_folder(self) -> Path | None:
        """The directory of charts."""
        return self.charts

    def check_work(self) -> None:
        """Refuse a record file of an unknown kind."""
        if self.records is not None:
            files.record_format(self.records)
