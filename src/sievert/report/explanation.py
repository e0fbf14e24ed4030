"""What the JSON says of why people are found: shares of columns, what is known, values, records."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

RATE = "discrimination_rate"  # the measure whose shares pages show


@dataclass(frozen=True, kw_only=True)
class ColumnShare:
    """The part of a rate that a column carries; with an interval where it was sampled."""

    share: float | None  # of the whole
    low: float | None
    high: float | None

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "ColumnShare":
        """Read an entry of the JSON."""
        return cls(share=data.get("share"), low=data.get("low"), high=data.get("high"))


@dataclass(frozen=True, kw_only=True)
class RateShares:
    """A rate and the part of it that each column carries; no columns where there is no rate."""

    whole: float | None
    columns: Mapping[str, ColumnShare]

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "RateShares":
        """Read the shares of one rate."""
        columns = data["columns"].items()
        return cls(
            whole=data["whole"],
            columns={name: ColumnShare.from_dict(column or {}) for name, column in columns},
        )


@dataclass(frozen=True, kw_only=True)
class PathStep:
    """A column that becomes known, and how many people are unique by then."""

    column: str
    unique_count: int
    unique_records: float

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "PathStep":
        """Read a step of the path."""
        return cls(
            column=data["column"],
            unique_count=data["unique_count"],
            unique_records=data["unique_records"],
        )


@dataclass(frozen=True, kw_only=True)
class KnowledgePath:
    """The most telling columns one after the other, and the people unique by all columns."""

    steps: tuple[PathStep, ...]
    unique_count: int
    unique_records: float

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "KnowledgePath":
        """Read the chapter on what is known."""
        everything = data["points"][-1]["reidentification"]
        return cls(
            steps=tuple(PathStep.from_dict(step) for step in data["path"]),
            unique_count=everything["unique_count"]["max"],
            unique_records=everything["unique_records"]["max"],
        )


@dataclass(frozen=True, kw_only=True)
class ColumnShapley:
    """What explains the numbers of an assessment or an explanation: shares, and the path."""

    finding: RateShares  # of finding a person
    secrets: Mapping[str, RateShares]
    path: KnowledgePath
    alone_without: Mapping[str, int] | None  # people unique without a column; None: not measured

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "ColumnShapley":
        """Read an explanation, or the JSON of an assessment with one."""
        chapters = data.get("explanation") or data
        shapley = chapters["shapley"]
        columns = data.get("columns")
        alone = None
        if columns is not None:
            alone = {
                name: column["without"]["reidentification"]["unique_count"]
                for name, column in columns.items()
                if column.get("without") is not None
            }
        return cls(
            finding=RateShares.from_dict(shapley["reidentification"][RATE]),
            secrets={
                secret: RateShares.from_dict(rates[RATE])
                for secret, rates in shapley["inference"].items()
            },
            path=KnowledgePath.from_dict(chapters["knowledge"]),
            alone_without=alone,
        )

    def of(self, secret: str | None) -> RateShares:
        """The shares of finding a person (None), or of a secret."""
        return self.finding if secret is None else self.secrets[secret]


# -- the population -------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class PopulationEstimate:
    """An estimate for the population: its value, and what is known of its error."""

    value: float | None
    reason: str | None  # why there is no value
    method: str | None
    standard_error: float | None
    highest: float | None  # of single records
    missing_as_value: float | None
    taken: str | None  # the model that it was taken from

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "PopulationEstimate":
        """Read an entry of the JSON."""
        details = data.get("details") or {}
        return cls(
            value=data["value"],
            reason=data.get("reason"),
            method=data.get("method"),
            standard_error=details.get("standard_error"),
            highest=details.get("highest"),
            missing_as_value=details.get("missing_as_value"),
            taken=None if details.get("taken") is None else str(details["taken"]),
        )


@dataclass(frozen=True, kw_only=True)
class TotalFlags:
    """Classes in which one or two people make up most of the total of a secret."""

    classes: int
    dominated: int
    estimable: int

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "TotalFlags":
        """Read an entry of the JSON."""
        return cls(
            classes=data["classes"],
            dominated=data["dominance"]["flagged"],
            estimable=data["p_percent"]["flagged"],
        )


@dataclass(frozen=True, kw_only=True)
class PopulationChapter:
    """The people behind a table, where anything was said of them."""

    sample: int  # people or records that were counted
    size: int | None
    fraction: float | None
    alpha: float | None  # how much of a match a missing value is
    estimates: Mapping[str, PopulationEstimate]
    totals: Mapping[str, TotalFlags]  # by secret

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "PopulationChapter":
        """Read the chapter of an assessment or an explanation from its whole JSON."""
        about = data.get("population") or {}
        estimates = {
            name: PopulationEstimate.from_dict(entry)
            for name, entry in about.items()
            if isinstance(entry, Mapping) and "value" in entry
        }
        totals = (about.get("totals") or {}).items()
        return cls(
            sample=about.get("sample", 0),
            size=about.get("size"),
            fraction=about.get("fraction"),
            alpha=about.get("alpha"),
            estimates=estimates,
            totals={secret: TotalFlags.from_dict(flags) for secret, flags in totals},
        )


# -- values and records ---------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class NumberedValue:
    """A value by its number in its column; by itself where the JSON names it."""

    column: str
    number: int | None
    text: str | None  # None where values are not named
    missing: bool
    records: int

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], column: str = "") -> "NumberedValue":
        """Read a value, which may stand below the name of its column."""
        return cls(
            column=data.get("column", column),
            number=data.get("number"),
            text=str(data["value"]) if "value" in data else None,
            missing=bool(data.get("missing")),
            records=data["records"],
        )


@dataclass(frozen=True, kw_only=True)
class RiskyValue:
    """A value that tells people apart, with the rates of those who have it."""

    value: NumberedValue
    unique_count: int
    discrimination_rate: float | None
    inference: Mapping[str, float | None]  # by secret

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "RiskyValue":
        """Read an entry of the JSON."""
        return cls(
            value=NumberedValue.from_dict(data),
            unique_count=data["unique_count"],
            discrimination_rate=data["discrimination_rate"],
            inference=data["inference"],
        )


@dataclass(frozen=True, kw_only=True)
class FewestValues:
    """The values of a column that few people have, together."""

    values: int
    records: int
    unique_count: int
    discrimination_rate: float | None

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "FewestValues":
        """Read an entry of the JSON."""
        return cls(
            values=data["values"],
            records=data["records"],
            unique_count=data["unique_count"],
            discrimination_rate=data["discrimination_rate"],
        )


@dataclass(frozen=True, kw_only=True)
class ColumnValues:
    """The values of one column: the riskiest ones, and the rare ones."""

    column: str
    riskiest: tuple[RiskyValue, ...]
    fewest: tuple[FewestValues, ...]

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "ColumnValues":
        """Read an entry of the JSON."""
        return cls(
            column=data["column"],
            riskiest=tuple(RiskyValue.from_dict(value) for value in data["riskiest"]),
            fewest=tuple(FewestValues.from_dict(few) for few in data["fewest"]),
        )


@dataclass(frozen=True, kw_only=True)
class Gain:
    """What would change without the records of a value, or if it were another one."""

    unique_count: float | None
    records_below_5: float | None  # None of a value that would become another one
    numbers: Mapping[str, float | None]  # by measure

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "Gain":
        """Read an entry of the JSON."""
        return cls(
            unique_count=data["unique_count"],
            records_below_5=data.get("records_below_5"),
            numbers={
                measure: number
                for measure, number in data.items()
                if not isinstance(number, Mapping)
            },
        )


@dataclass(frozen=True, kw_only=True)
class RareValue:
    """A value of few records, and what leaving these out would change."""

    value: NumberedValue
    unique_count: int
    gain: Gain

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "RareValue":
        """Read an entry of the JSON."""
        return cls(
            value=NumberedValue.from_dict(data),
            unique_count=data["unique_count"],
            gain=Gain.from_dict(data["gain"]),
        )


@dataclass(frozen=True, kw_only=True)
class Lookalike:
    """A rare value that differs little from a frequent one."""

    value: NumberedValue
    like: NumberedValue
    differs_by: str
    gain: Gain

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "Lookalike":
        """Read an entry of the JSON."""
        return cls(
            value=NumberedValue.from_dict(data),
            like=NumberedValue.from_dict(data["like"], data["column"]),
            differs_by=data["differs_by"],
            gain=Gain.from_dict(data["gain"]),
        )


@dataclass(frozen=True, kw_only=True)
class ValuesChapter:
    """Values that carry risk, rare values, and values that look like frequent ones."""

    columns: tuple[ColumnValues, ...]
    rare: tuple[RareValue, ...]
    lookalikes: tuple[Lookalike, ...]

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "ValuesChapter":
        """Read the chapter of an explanation."""
        return cls(
            columns=tuple(ColumnValues.from_dict(column) for column in data["columns"]),
            rare=tuple(RareValue.from_dict(value) for value in data["rare"]),
            lookalikes=tuple(Lookalike.from_dict(value) for value in data["lookalikes"]),
        )


@dataclass(frozen=True, kw_only=True)
class LevelScore:
    """The part of the scores that one value of a column has."""

    value: NumberedValue
    share: float

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "LevelScore":
        """Read an entry of the JSON."""
        return cls(value=NumberedValue.from_dict(data), share=data["share"])


@dataclass(frozen=True, kw_only=True)
class SudaChapter:
    """Special uniques: minimal sets of values that single people out, and their scores."""

    records_with_msu: int | None
    records_by_size: Mapping[str, int]  # people by the size of their smallest set
    size_shares: Mapping[str, float]
    columns: Mapping[str, float] | None  # the part of each; None where nobody is singled out
    levels: Mapping[str, tuple[LevelScore, ...]]  # by column

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "SudaChapter":
        """Read the chapter of an explanation."""
        levels = (data.get("level_contributions") or {}).items()
        return cls(
            records_with_msu=data.get("records_with_msu"),
            records_by_size=data.get("records_by_smallest_msu") or {},
            size_shares=data.get("size_shares") or {},
            columns=data["column_contributions"],
            levels={
                column: tuple(LevelScore.from_dict(level) for level in of_column)
                for column, of_column in levels
            },
        )


@dataclass(frozen=True, kw_only=True)
class RiskyRecord:
    """A record at risk, by its row."""

    record: int
    class_size: int
    frequency: float | None  # estimated in the population
    suda_score: float | None
    msus: int | None
    smallest_msu: int | None
    columns: Mapping[str, float]  # what each contributes to the score

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "RiskyRecord":
        """Read an entry of the JSON."""
        return cls(
            record=data["record"],
            class_size=data["class_size"],
            frequency=data.get("frequency"),
            suda_score=data.get("suda_score"),
            msus=data.get("msus"),
            smallest_msu=data.get("smallest_msu"),
            columns=data.get("column_contributions") or {},
        )


@dataclass(frozen=True, kw_only=True)
class RecordsChapter:
    """The records at risk; none where there is a reason."""

    riskiest: tuple[RiskyRecord, ...]
    weighted: bool  # whether their frequency in the population was estimated

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "RecordsChapter":
        """Read the chapter of an explanation."""
        riskiest = () if data["reason"] is not None else tuple(data["riskiest"])
        return cls(
            riskiest=tuple(RiskyRecord.from_dict(record) for record in riskiest),
            weighted=bool(riskiest) and "frequency" in riskiest[0],
        )


@dataclass(frozen=True, kw_only=True)
class ExplainedRecords:
    """The chapters of an explanation on values and records; None where they were not made."""

    values: ValuesChapter | None
    suda: SudaChapter | None
    records: RecordsChapter | None

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "ExplainedRecords":
        """Read the JSON of an explanation."""
        values = data.get("values")
        suda = data.get("suda")
        records = data.get("records")
        return cls(
            values=ValuesChapter.from_dict(values) if values else None,
            suda=None if suda is None else SudaChapter.from_dict(suda),
            records=None if records is None else RecordsChapter.from_dict(records),
        )
