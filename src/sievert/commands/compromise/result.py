"""The result of `sievert compromise`."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sievert.commands.compromise.experiment import ExperimentCurve
from sievert.pairing.evidence import Pairing
from sievert.result import Result


@dataclass(frozen=True, repr=False)
class Compromises(Result):
    """The uncertainty that an intruder has left: entropy and area by method and known columns."""

    curves: Mapping[str, tuple[ExperimentCurve, ...]]  # by secret
    domains: Mapping[str, Mapping[str, Any]]  # by secret: what its numbers may be
    settings: Mapping[str, Any]  # method, seed, replicates and other choices
    pairing: Pairing | None = None  # of a release with the original

    def _content(self) -> dict[str, Any]:
        return {
            "settings": dict(self.settings),
            **({} if self.pairing is None else {"pairing": self.pairing.to_dict()}),
            "domains": {s: dict(d) for s, d in self.domains.items()},
            "curves": {
                secret: [
                    {
                        "parameter": c.parameter,
                        "utility": {"axis": c.axis, "range_mean_error": c.error},
                        "points": [p.to_dict() for p in c.points],
                        **(
                            {"matchings": [m.to_dict() for m in c.matchings]} if c.matchings else {}
                        ),
                    }
                    for c in each
                ]
                for secret, each in self.curves.items()
            },
            # who is compromised: with one value left, and with one window of each epsilon left
            "targets": {
                secret: [
                    {
                        "parameter": c.parameter,
                        "known": p.known,
                        "exact": {"combinations": p.exact[0], "records": p.exact[1]},
                        "approximate": [
                            {"epsilon": eps, "combinations": a, "records": b}
                            for eps, (a, b) in p.near.items()
                        ],
                    }
                    for c in each
                    for p in c.points
                ]
                for secret, each in self.curves.items()
            },
        }

    def _rows(self) -> Iterator[dict[str, Any]]:
        return (
            {
                "sensitive": secret,
                "parameter": c.parameter,
                "known": p.known,
                "over": over,
                "number": number,
                **summary.to_dict(),
            }
            for secret, each in self.curves.items()
            for c in each
            for p in c.points
            for over in ("combinations", "records")
            for number, summary in getattr(p, over).items()
        )

    def charts(self) -> dict[str, Any]:
        """Vega-Lite dicts by name: entropy and area against what is known, of each secret."""
        from sievert.charts import of_compromises

        return of_compromises(self)
