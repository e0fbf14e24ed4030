"""The result of `sievert protect`: the recoding, what it loses, and the verdict on the release."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sievert.commands.protect.given_releases import GivenRelease
from sievert.commands.protect.limit_curve import LimitCurve
from sievert.commands.protect.method import RecordRelease
from sievert.methods.full_domain import FrontierPoint, FullDomainRecoding
from sievert.policy import Judgement
from sievert.result import Result


@dataclass(frozen=True, kw_only=True)
class ColumnLevel:
    """A quasi-identifier in the release: its level, and where its hierarchy is from."""

    level: int | None  # None where records of one value may have different labels
    height: int | None
    hierarchy: str | None
    labels: int  # how many different ones can occur
    fixed: str | None = None  # the hierarchy for other data, without a value of these


@dataclass(frozen=True, repr=False, kw_only=True)
class Protected(Result):
    """A release that meets a policy at the least loss; or the nearest one, if none does.

    `released` tells whether a file was written. Where no release meets the policy, `unmet` is the
    limit without which the recoding was found.
    """

    how: str  # the method
    minimised: str | None  # the loss that the search minimised
    columns: Mapping[str, ColumnLevel]  # by quasi-identifier
    recoding: FullDomainRecoding | None  # the levels, the records suppressed, the loss
    policy: Judgement  # the verdict on each limit
    allowed: int  # records that may be suppressed
    released: bool  # whether a file was written
    unmet: str | None = None  # the limit that no release meets
    dropped_columns: tuple[str, ...] = ()  # columns that the release lacks
    release: RecordRelease | None = None  # of a method that changes records
    frontier: Sequence[FrontierPoint] = ()  # recodings that no other is better than
    limit: LimitCurve | None = None  # beside the frontier
    beside: Sequence[GivenRelease] = ()  # measured as the frontier is
    earlier: Mapping[str, Any] | None = None  # together with earlier releases
    stopped: bool = False  # whether time was over before any recoding was found
    order: str | None = None  # of the rows of the file: by_hash, or kept from the table
    paired: bool = False  # whether a private file pairs its rows with those of the table
    budget: bool = False  # whether suppressed records are limited by `allowed`, not by the policy
    drops: bool = False  # whether suppressed records are left out of the release

    @property
    def met(self) -> bool | None:
        """Whether the release meets the policy; None where it is undecided."""
        return self.policy.met

    @property
    def passed(self) -> bool:
        """Whether there is a release that meets the policy."""
        return self.met is True

    @property
    def levels(self) -> dict[str, int]:
        """The level of every quasi-identifier; empty where a column has not one level."""
        levels = ((name, column.level) for name, column in self.columns.items())
        return {name: level for name, level in levels if level is not None}

    @property
    def floor(self) -> dict[str, int]:
        """The levels that the search started from, where there were too many combinations."""
        columns = () if self.recoding is None else self.recoding.columns
        return {column.name: column.floor for column in columns if column.floor}

    @property
    def suppressed_rows(self) -> str | None:
        """What becomes of suppressed records: kept or dropped; None where there are none."""
        if not self.suppressed_records:
            return None
        return "dropped" if self.drops else "kept"

    @property
    def suppressed_records(self) -> int:
        """How many records are suppressed: with `*` in every quasi-identifier, or left out."""
        of = self.recoding or self.release
        return 0 if of is None else of.suppressed_records

    def _content(self) -> dict[str, Any]:
        recoding = self.recoding
        content: dict[str, Any] = {
            "how": self.how,
            "minimised": self.minimised,
            "levels": self.levels,
            "columns": {name: dict(vars(column)) for name, column in self.columns.items()},
            "allowed": self.allowed,
            "budget": self.budget,
            "suppressed_rows": self.suppressed_rows,
            "released": self.released,
            "order": self.order,
            "pairing_file": self.paired,
            "unmet": self.unmet,
            "dropped_columns": list(self.dropped_columns),
            "policy": self.policy.to_dict(),
        }
        if recoding is not None:
            content |= {
                "classes": recoding.classes,
                "suppressed": recoding.suppressed_records,
                "loss": recoding.losses.to_dict(),
                "proven": recoding.proven,
                "bound": recoding.bound,
                "nodes": recoding.nodes,
                "evaluated": recoding.visited,
            }
            content |= {"floor": self.floor} if self.floor else {}
        if self.stopped:
            content["stopped"] = True
        if self.frontier:
            content |= {
                "frontier": [self._point(p) for p in self.frontier],
                "frontier_secret": next(iter(self.roles.sensitive), None),
            }
        if self.frontier and self.limit is not None:
            content["frontier_limit"] = self.limit.to_dict(self.roles.quasi)
            content["frontier_beside"] = [self._beside(r, self.limit) for r in self.beside]
        if self.earlier is not None:
            content["earlier"] = dict(self.earlier)
        if self.release is not None:
            content |= {
                "suppressed": self.release.suppressed_records,
                "loss": dict(self.release.loss),
                "details": dict(self.release.details),
            }
        return content

    def _point(self, point: FrontierPoint) -> dict[str, Any]:
        recoding = point.recoding
        return {
            "levels": dict(zip(self.roles.quasi, recoding.hierarchy_levels, strict=False)),
            "classes": recoding.classes,
            "suppressed": recoding.suppressed_records,
            "disclosed": point.disclosed,
            "lost": point.lost,
            "loss": recoding.loss,
            "meets": point.meets,
            "optimal": point.optimal,
            "chosen": point.chosen,
            "gap": point.gap,
        }

    @staticmethod
    def _beside(release: GivenRelease, limit: LimitCurve) -> dict[str, Any]:
        lost = limit.information - release.information
        least = limit.least(lost)
        finer = least is None or release.disclosed < least
        return {
            "name": release.name,
            "records": release.records,
            "classes": release.classes,
            "disclosed": release.disclosed,
            "lost": lost,
            "gap": None if finer or least is None else release.disclosed - least,
        }

    def _rows(self) -> Iterator[dict[str, Any]]:
        return ({"column": name, **vars(column)} for name, column in self.columns.items())
