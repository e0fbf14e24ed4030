"""What the JSON of an explanation holds for its page: sets of columns, changes, the ranking."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sievert.measurement.subsets import Numbers, Subset
from sievert.measures.measure import Number


@dataclass(frozen=True, kw_only=True)
class NumberRange:
    """A number of several sets of columns: the least, the mean and the largest."""

    least: Number | None
    mean: float | None
    most: Number | None

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "NumberRange":
        """Read a range back from the JSON."""
        return cls(least=data["min"], mean=data["mean"], most=data["max"])


@dataclass(frozen=True, kw_only=True)
class KnowledgePoint:
    """All measured sets with the same number of known columns."""

    known: int  # columns
    measured: int  # sets
    possible: int
    unique_count: NumberRange
    rates: Mapping[str, NumberRange]  # the discrimination rate of each secret

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "KnowledgePoint":
        """Read a point of the curve back from the JSON."""
        return cls(
            known=data["known"],
            measured=data["subsets"],
            possible=data["of"],
            unique_count=NumberRange.from_dict(data["reidentification"]["unique_count"]),
            rates={
                secret: NumberRange.from_dict(numbers["discrimination_rate"])
                for secret, numbers in data["inference"].items()
            },
        )

    @property
    def complete(self) -> bool:
        """Whether all sets of this size were measured."""
        return self.measured == self.possible


@dataclass(frozen=True, kw_only=True)
class Coarsening:
    """One way to make a column coarser, as the JSON has it."""

    column: str
    how: str
    values: int  # that are left; missing may be one

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "Coarsening":
        """Read a way back from the JSON."""
        return cls(column=data["column"], how=data["how"], values=data["values"])


@dataclass(frozen=True, kw_only=True)
class CoarserTable:
    """What all known columns give away after some of them were made coarser."""

    coarsened: tuple[Coarsening, ...]
    reidentification: Numbers
    inference: Mapping[str, Numbers]

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "CoarserTable":
        """Read the measured table back from the JSON."""
        return cls(
            coarsened=tuple(Coarsening.from_dict(change) for change in data["coarsened"]),
            reidentification=data["reidentification"],
            inference=data["inference"],
        )


MeasuredTable = Subset | CoarserTable  # known columns as they are, or coarser


@dataclass(frozen=True, kw_only=True)
class ColumnChanges:
    """What would be given away without a column, and with a coarser one."""

    without: Subset | None
    coarser: tuple[CoarserTable, ...]

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "ColumnChanges":
        """Read the changes of a column back from the JSON."""
        without = data.get("without")
        coarser = data.get("coarser") or ()
        return cls(
            without=None if without is None else Subset.from_dict(without),
            coarser=tuple(CoarserTable.from_dict(table) for table in coarser),
        )


@dataclass(frozen=True, kw_only=True)
class TellingColumn:
    """The one column that tells most of another column."""

    column: str
    discrimination_rate: float | None

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "TellingColumn":
        """Read the column back from the JSON."""
        return cls(column=data["column"], discrimination_rate=data["discrimination_rate"])


@dataclass(frozen=True, kw_only=True)
class RankedColumn:
    """A column as a secret that the other columns tell, and as the only known column."""

    column: str
    values: int
    told: Numbers  # of the column, by the others
    told_most_by: TellingColumn | None
    unique_count: int  # people whom the column alone makes unique

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "RankedColumn":
        """Read an entry of the ranking back from the JSON."""
        most = data["told_most_by"]
        return cls(
            column=data["column"],
            values=data["values"],
            told=data["as_target"],
            told_most_by=None if most is None else TellingColumn.from_dict(most),
            unique_count=data["as_key"]["unique_count"],
        )


@dataclass(frozen=True, kw_only=True)
class ColumnsContent:
    """What drives the risk of a table with known columns, and what would help."""

    subsets: tuple[Subset, ...]  # measured sets of known columns; the last is all of them
    complete: bool  # whether all sets were measured
    orders: int | None  # from which shares were sampled; None where they are exact
    points: tuple[KnowledgePoint, ...]  # with at least one known column
    changes: Mapping[str, ColumnChanges]  # by column
    together: CoarserTable | None  # several columns coarser at once

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "ColumnsContent":
        """Read the chapters on columns back from the JSON."""
        shapley = data["shapley"]
        subsets = data["subsets"]
        points = (KnowledgePoint.from_dict(point) for point in data["knowledge"]["points"])
        together = data.get("coarser_together")
        return cls(
            subsets=tuple(Subset.from_dict(subset) for subset in subsets["list"]),
            complete=subsets["complete"],
            orders=None if shapley["exact"] else shapley["orders"],
            points=tuple(point for point in points if point.known),
            changes={
                column: ColumnChanges.from_dict(changes)
                for column, changes in data["columns"].items()
            },
            together=None if together is None else CoarserTable.from_dict(together),
        )

    @property
    def whole(self) -> Subset:
        """What all columns together give away."""
        return self.subsets[-1]


@dataclass(frozen=True, kw_only=True)
class ExplanationContent:
    """What the JSON says of columns; values and records are `ExplainedRecords`."""

    columns: ColumnsContent | None  # None where no columns are known: they were only ranked
    ranking: tuple[RankedColumn, ...] | None  # None where columns were not ranked

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "ExplanationContent":
        """Read the JSON of an explanation."""
        ranking = None
        if "ranking" in data:
            ranking = tuple(RankedColumn.from_dict(entry) for entry in data["ranking"])
        return cls(
            columns=ColumnsContent.from_dict(data) if "shapley" in data else None,
            ranking=ranking,
        )
