"""What a page says of every result: its table, roles, remarks and judgement by the policy.

It is read from the JSON, in which the results of all commands have it in the same place.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from sievert.policy.judgement import Judgement
from sievert.report.numbers import release_names
from sievert.roles import Roles, columns_by_role

SHARED = "rows share the identifier"  # in a caution: rows may not be people
DROPPED = "dropped"  # what becomes of suppressed records


def read_judgement(data: Mapping[str, Any]) -> Judgement | None:
    """Read back what a table of the JSON says of a policy; None where it has none."""
    policy = data.get("policy")
    return Judgement.from_dict(policy) if policy else None


@dataclass(frozen=True, kw_only=True)
class ClassSpan:
    """The classes whose sizes lie between two numbers, and their records."""

    least: int
    most: int | None  # None: of any size from `least` on
    classes: int
    records: int

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "ClassSpan":
        """Read an entry of the JSON."""
        return cls(
            least=data["least"],
            most=data["most"],
            classes=data["classes"],
            records=data["records"],
        )


@dataclass(frozen=True, kw_only=True)
class TableFacts:
    """What is known of a table: its file, its size, the records that were left out."""

    name: str | None
    kind: str | None  # such as "csv"
    rows: int | None  # None where that may not be shared
    columns: int
    people: int | None  # None where rows were counted
    class_sizes: tuple[ClassSpan, ...]
    suppressed: int  # records
    keeps_suppressed: bool  # whether they were counted as any other
    dropped: int  # records without a value
    delimiter: str | None
    compression: str | None
    verified: bool | None  # None of what has nothing to verify
    page_checksums: str | None  # why those of a verified file say less
    shared: int | None  # people in a step, of what may be shared

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "TableFacts":
        """Read the description of a table back from the JSON."""
        verified = data.get("verified")
        checked = isinstance(verified, Mapping)
        checks = verified if isinstance(verified, Mapping) else {}
        return cls(
            name=data.get("name"),
            kind=data.get("kind"),
            rows=data.get("rows"),
            columns=data.get("columns", 0),
            people=data.get("people"),
            class_sizes=tuple(ClassSpan.from_dict(span) for span in data.get("class_sizes") or ()),
            suppressed=data.get("suppressed") or 0,
            keeps_suppressed=bool(data.get("keep_suppressed")),
            dropped=data.get("dropped") or 0,
            delimiter=data.get("delimiter"),
            compression=data.get("compression"),
            verified=True if checked else verified,
            page_checksums=checks.get("page_checksums"),
            shared=data.get("shared"),
        )

    @property
    def file(self) -> str | None:
        """The name of the file that was read; a frame of Python has none."""
        return self.name if self.name and self.name != self.kind else None

    @property
    def left_out(self) -> int:
        """The number of suppressed records that are in no number."""
        return 0 if self.keeps_suppressed else self.suppressed


@dataclass(frozen=True, kw_only=True)
class JudgedRelease:
    """A release beside its original, or a synthetic table, with what was decided of it."""

    name: str
    file: str | None
    policy: Judgement | None
    alarms: tuple[str, ...] = ()  # attacks on a synthetic table that saw something
    inferred: int = 0  # columns that an attack infers

    @classmethod
    def of_comparison(cls, data: Mapping[str, Any]) -> "JudgedRelease":
        """Read a release of a comparison; what may be shared of it has no name."""
        return cls(
            name=str(data.get("name")),
            file=(data.get("table") or {}).get("name"),
            policy=read_judgement(data),
        )

    @classmethod
    def of_synthetic(cls, data: Mapping[str, Any]) -> "JudgedRelease":
        """Read a synthetic table, which is called by its file without the ending."""
        return cls(
            name=data["name"].partition(".")[0] or data["name"],
            file=data["name"],
            policy=read_judgement(data),
            alarms=tuple(data["alarms"]),
            inferred=len(data["attacks"]["inference"]),
        )


@dataclass(frozen=True, kw_only=True)
class Overview:
    """The facts that the first screen shows, for any command."""

    table: TableFacts
    roles: Roles
    unassessed: tuple[str, ...]  # columns without a role
    cautions: tuple[str, ...]  # remarks that stand before the first number
    warnings: tuple[str, ...]  # all remarks
    policy: Judgement | None
    original: Judgement | None  # of a comparison: how the policy judges the original
    releases: tuple[JudgedRelease, ...]  # of a comparison, or synthetic tables
    controlled: bool  # whether attacks were compared with a control group
    attacked: bool  # whether an assessment brings attacks along
    budget: bool  # whether the policy says nothing of suppressed records, but a setting does
    drops: bool  # whether suppressed records are left out of a release
    dropped_columns: tuple[str, ...]  # columns that a release lacks

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "Overview":
        """Read the overview of a result from its JSON."""
        roles = data.get("roles") or {}
        releases = tuple(JudgedRelease.of_comparison(each) for each in data.get("releases") or ())
        if "synthetic" in data:
            releases = tuple(JudgedRelease.of_synthetic(each) for each in data["synthetic"])
        return cls(
            table=TableFacts.from_dict(data.get("table") or {}),
            roles=Roles.from_dict(roles),
            unassessed=tuple(roles.get("unassessed") or ()),
            cautions=tuple(data.get("cautions") or ()),
            warnings=tuple(data.get("warnings") or ()),
            policy=read_judgement(data),
            original=read_judgement(data.get("original") or {}),
            releases=releases,
            controlled=data.get("control") is not None,
            attacked="attacks" in data,
            budget=bool(data.get("budget")),
            drops=data.get("suppressed_rows") == DROPPED,
            dropped_columns=tuple(data.get("dropped_columns") or ()),
        )

    @cached_property
    def columns(self) -> dict[str, list[str]]:
        """The columns of each role."""
        return columns_by_role(self.roles.to_dict(self.unassessed))

    @cached_property
    def release_names(self) -> list[str]:
        """The names of the releases."""
        return release_names((release.name, release.file) for release in self.releases)

    @property
    def counts_rows(self) -> bool:
        """Whether rows were counted that may not be people."""
        return self.table.people is None and any(SHARED in caution for caution in self.cautions)
