"""The result of `sievert compromise`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sievert.commands._result import Result
from sievert.commands.compromise.experiment import ExperimentCurve
from sievert.roles import Roles
from sievert.version import __version__


@dataclass(frozen=True, repr=False)
class Compromises(Result):
    """What an intruder is left with: entropy and area by method, parameter and what is known."""

    table: Mapping[str, Any]
    roles: Roles
    curves: Mapping[str, tuple[ExperimentCurve, ...]]  # by secret
    domains: Mapping[str, Mapping[str, Any]]
    settings: Mapping[str, Any]
    warnings: tuple[str, ...] = ()
    unassessed: tuple[str, ...] = ()
    timings: Mapping[str, float] = field(default_factory=dict, compare=False, repr=False)
    peaks: Mapping[str, int] = field(default_factory=dict, compare=False, repr=False)

    def to_dict(self) -> dict[str, Any]:
        """The JSON of the command line: stable, without timings."""
        return {
            "sievert": __version__,
            "table": dict(self.table),
            "roles": self.roles.to_dict(self.unassessed),
            "settings": dict(self.settings),
            "domains": {s: dict(d) for s, d in self.domains.items()},
            "curves": {
                secret: [
                    {
                        "parameter": c.parameter,
                        "utility": {"axis": c.axis, "range_mean_error": c.error},
                        "points": [p.to_dict() for p in c.points],
                    }
                    for c in each
                ]
                for secret, each in self.curves.items()
            },
            "targets": {secret: list(self._targets(each)) for secret, each in self.curves.items()},
            "warnings": list(self.warnings),
        }

    def _targets(self, curves: Sequence[ExperimentCurve]) -> Iterator[dict[str, Any]]:
        """Who is compromised: with one value left, and with one window of each epsilon left."""
        for c in curves:
            for p in c.points:
                yield {
                    "parameter": c.parameter,
                    "known": p.known,
                    "exact": {"combinations": p.exact[0], "records": p.exact[1]},
                    "approximate": [
                        {"epsilon": eps, "combinations": a, "records": b}
                        for eps, (a, b) in p.near.items()
                    ],
                }

    def _rows(self) -> Iterator[dict[str, Any]]:
        for secret, each in self.curves.items():
            for c in each:
                for p in c.points:
                    for over, summaries in (
                        ("combinations", p.combinations),
                        ("records", p.records),
                    ):
                        for number, t in summaries.items():
                            yield {
                                "sensitive": secret,
                                "parameter": c.parameter,
                                "known": p.known,
                                "over": over,
                                "number": number,
                                "mean": t.mean,
                                "minimum": t.minimum,
                                "quantile_05": t.quantile,
                            }

    def charts(self) -> dict[str, Any]:
        """Vega-Lite dicts by name: entropy and area against what is known, of each secret."""
        from sievert.charts import of_compromises

        return of_compromises(self)
