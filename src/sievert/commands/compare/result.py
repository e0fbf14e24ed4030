"""The result of `sievert compare`: releases of one original, side by side."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sievert.commands._result import Result
from sievert.commands.compare.disclosures import Assessed, Disclosed
from sievert.roles import Roles
from sievert.version import __version__

if TYPE_CHECKING:
    from sievert.commands.compare.distance_to_limit import LeastDisclosure, ReleaseDistance
    from sievert.commands.compare.policy import PolicyVerdicts
    from sievert.losses.loss import Loss


@dataclass(frozen=True)
class Compared:
    """One release beside its original."""

    name: str
    table: Mapping[str, Any]
    rows: int
    records: Mapping[str, int]  # paired, suppressed, ...
    disclosed: Disclosed
    losses: Mapping[str, Loss]
    assessment: Assessed
    dominated_by: tuple[str, ...] = ()
    limit: Mapping[str, ReleaseDistance] = field(
        default_factory=dict
    )  # by secret, where it was asked for
    policy: PolicyVerdicts | None = None  # its limits, where there are any

    def to_dict(self) -> dict[str, Any]:
        """As it stands in the JSON."""
        from sievert.losses import BY_ID

        return {
            "name": self.name,
            "rows": self.rows,
            "table": dict(self.table),
            "records": dict(self.records),
            **self.disclosed.to_dict(),
            "losses": {
                k: {
                    **_shown(v.details),
                    "value": v.value,
                    "unit": BY_ID[k].unit,
                    "worse": BY_ID[k].worse,
                    "reason": v.reason,
                    "columns": dict(v.columns),
                }
                for k, v in self.losses.items()
            },
            "assessment": self.assessment.to_dict(),
            "dominated_by": list(self.dominated_by),
            **({"limit": {s: p.to_dict() for s, p in self.limit.items()}} if self.limit else {}),
            **_limits_of(self.policy),
        }


def _limits_of(policy: PolicyVerdicts | None) -> dict[str, Any]:
    """The limits of a policy in the JSON; nothing where there are none."""
    return {} if policy is None else {"policy": policy.to_dict()}


def _shown(details: Mapping[str, Any]) -> dict[str, Any]:
    """Details without means and quantiles themselves: a quantile is the number of a person."""

    def bare(found: Mapping[str, Any]) -> dict[str, Any]:
        if "at" in found:
            return {**found, "at": {q: bare(statistic) for q, statistic in found["at"].items()}}
        return {k: v for k, v in found.items() if k not in ("original", "released")}

    return {
        k: {**v, "columns": {c: bare(found) for c, found in v["columns"].items()}}
        if k in ("mean", "quantiles") and isinstance(v, Mapping)
        else v
        for k, v in details.items()
    }


@dataclass(frozen=True, repr=False)
class Comparison(Result):
    """Releases of one original, side by side."""

    table: Mapping[str, Any]
    roles: Roles
    original: Mapping[str, Any]  # what it tells of secrets, its assessment, its limits
    releases: tuple[Compared, ...]
    rank_correlation: Mapping[str, Mapping[str, float | None]]
    settings: Mapping[str, Any]
    warnings: tuple[str, ...] = ()
    unassessed: tuple[str, ...] = ()
    timings: Mapping[str, float] = field(default_factory=dict, compare=False, repr=False)
    peaks: Mapping[str, int] = field(default_factory=dict, compare=False, repr=False)
    limits: Mapping[str, LeastDisclosure] = field(
        default_factory=dict
    )  # by secret, where it was asked for

    @property
    def met(self) -> bool | None:
        """Whether some release breaches no limit of the policy; None without limits."""
        held = [r.policy.met for r in self.releases if r.policy is not None]
        return any(held) if held else None

    def __getitem__(self, name: str) -> Compared:
        for release in self.releases:
            if release.name == name:
                return release
        raise KeyError(name)

    def to_dict(self) -> dict[str, Any]:
        """The JSON of the command line: stable, without timings."""
        return {
            "sievert": __version__,
            "table": dict(self.table),
            "roles": self.roles.to_dict(self.unassessed),
            "settings": dict(self.settings),
            "original": {
                "attribute_disclosure": {
                    s: e.to_dict() for s, e in self.original["attribute_disclosure"].items()
                },
                "assessment": self.original["assessment"].to_dict(),
                **_limits_of(self.original.get("policy")),
            },
            "releases": [release.to_dict() for release in self.releases],
            "rank_correlation": {k: dict(v) for k, v in self.rank_correlation.items()},
            **({"limit": {s: x.to_dict() for s, x in self.limits.items()}} if self.limits else {}),
            "warnings": list(self.warnings),
        }

    def _rows(self) -> Iterator[dict[str, Any]]:
        from sievert.losses import BY_ID

        for release in self.releases:
            for number, target, column, found in release.disclosed.every():
                for what in ("value", "corrected", "chance", "miller_madow", "p_value"):
                    yield {
                        "release": release.name,
                        "number": number,
                        "target": target,
                        "column": column,
                        "what": what,
                        "value": getattr(found, what),
                        "unit": "1" if what == "p_value" else "bits",
                        "reason": None,
                    }
            for name, loss in release.losses.items():
                yield {
                    "release": release.name,
                    "number": name,
                    "target": None,
                    "column": None,
                    "what": "value",
                    "value": loss.value,
                    "unit": BY_ID[name].unit,
                    "reason": loss.reason,
                }
            for secret, placed in release.limit.items():
                for what in ("distortion", "least", "bound", "ratio"):
                    yield {
                        "release": release.name,
                        "number": "limit",
                        "target": secret,
                        "column": None,
                        "what": what,
                        "value": getattr(placed, what),
                        "unit": "bits" if what in ("least", "bound") else "1",
                        "reason": placed.reason if what == "ratio" else None,
                    }

    def charts(self) -> dict[str, Any]:
        """Vega-Lite dicts by name: the risk-utility map of each secret, and its limit if asked."""
        from sievert.charts import of_comparison

        return of_comparison(self)
