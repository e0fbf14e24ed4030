"""The result of `sievert compromise`."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sievert.commands.compromise.experiment import ExperimentCurve
from sievert.pairing.evidence import Pairing
from sievert.result import Result


@dataclass(frozen=True, kw_only=True)
class SecretDomain:
    """The numbers of a confidential column: how many, and, if shown, the ends."""

    values: int
    records: int  # with a number
    low: float | None
    high: float | None

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "SecretDomain":
        """Read an entry of the JSON."""
        return cls(
            values=data["values"],
            records=data["records"],
            low=data.get("low"),
            high=data.get("high"),
        )


@dataclass(frozen=True, repr=False)
class Compromises(Result):
    """The uncertainty that an intruder has left: entropy and area by method and known columns."""

    curves: Mapping[str, tuple[ExperimentCurve, ...]]  # by secret
    domains: Mapping[str, Mapping[str, Any]]  # by secret: what its numbers may be
    settings: Mapping[str, Any]  # method, seed, replicates and other choices
    pairing: Pairing | None = None  # of a release with the original

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "Compromises":
        """Read the experiments back from the JSON."""
        pairing = data.get("pairing")
        return cls(
            **cls.saved_fields(data),
            curves={
                secret: tuple(
                    ExperimentCurve.from_dict(curve, data["targets"][secret]) for curve in curves
                )
                for secret, curves in data["curves"].items()
            },
            domains=data["domains"],
            settings=data["settings"],
            pairing=Pairing.from_dict(pairing) if pairing else None,
        )

    @property
    def method(self) -> str:
        """The method that protects the numbers."""
        return str(self.settings["method"])

    @property
    def replicates(self) -> int:
        """The number of runs for each parameter."""
        return int(self.settings["replicates"])

    @property
    def seed(self) -> int:
        """The seed of the runs."""
        return int(self.settings["seed"])

    @property
    def epsilons(self) -> Sequence[float]:
        """The widths of windows that an intruder is content with."""
        return tuple(self.settings["epsilon"])

    def domain(self, secret: str) -> SecretDomain:
        """What the numbers of a confidential column may be."""
        return SecretDomain.from_dict(self.domains[secret])

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
