"""What the JSON of a protected table holds for its page: losses, details, the frontier."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

FULL = "full"  # the method that is searched over combinations


@dataclass(frozen=True, kw_only=True)
class ProtectedColumn:
    """A quasi-identifier in the release, as the JSON has it."""

    level: int | None  # None where records of one value may have different labels
    height: int | None
    hierarchy: str | None  # where it is from
    labels: int

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "ProtectedColumn":
        """Read an entry of the JSON."""
        return cls(
            level=data["level"],
            height=data["height"],
            hierarchy=data["hierarchy"],
            labels=data["labels"],
        )


@dataclass(frozen=True, kw_only=True)
class ReleaseLosses:
    """What a release has lost by the definitions that recodings have in common."""

    arithmetic: float  # the share of the detail
    geometric: float
    others: Mapping[str, float]  # by the id of the loss
    bits: Mapping[str, float]  # by secret

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "ReleaseLosses":
        """Read the losses back from the JSON."""
        means = data["generalization_loss"]
        apart = ("generalization_loss", "bits")
        return cls(
            arithmetic=means["arithmetic"],
            geometric=means["geometric"],
            others={loss: number for loss, number in data.items() if loss not in apart},
            bits=data["bits"],
        )


@dataclass(frozen=True, kw_only=True)
class RepeatedRelease:
    """A release together with earlier releases of the same people."""

    k_anonymity: int
    people_below: int

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "RepeatedRelease":
        """Read it back from the JSON."""
        return cls(k_anonymity=data["k_anonymity"], people_below=data["people_below"])


@dataclass(frozen=True, kw_only=True)
class FrontierRecoding:
    """A recoding that no other one is better than."""

    levels: Mapping[str, int]
    classes: int
    suppressed: int
    disclosed: float
    lost: float
    gap: float | None  # above the least that is possible
    meets: bool
    optimal: bool
    chosen: bool

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "FrontierRecoding":
        """Read a point of the frontier back from the JSON."""
        return cls(
            levels=data["levels"],
            classes=data["classes"],
            suppressed=data["suppressed"],
            disclosed=data["disclosed"],
            lost=data["lost"],
            gap=data.get("gap"),
            meets=data["meets"],
            optimal=data["optimal"],
            chosen=data["chosen"],
        )


@dataclass(frozen=True, kw_only=True)
class BesideRelease:
    """A release that was given, measured as the frontier is."""

    name: str
    classes: int
    disclosed: float
    lost: float
    gap: float | None

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "BesideRelease":
        """Read an entry of the JSON."""
        return cls(
            name=data["name"],
            classes=data["classes"],
            disclosed=data["disclosed"],
            lost=data["lost"],
            gap=data.get("gap"),
        )


@dataclass(frozen=True, kw_only=True)
class FrontierLimit:
    """The least that any release of an alphabet discloses at a loss."""

    levels: Mapping[str, int]  # of the alphabet
    combinations: int
    lost: float  # by the alphabet alone
    points: tuple[tuple[float, float], ...]  # what is lost, and the least that is disclosed

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "FrontierLimit":
        """Read the curve back from the JSON."""
        return cls(
            levels=data["levels"],
            combinations=data["combinations"],
            lost=data["lost"],
            points=tuple((point["lost"], point["disclosed"]) for point in data["points"]),
        )


@dataclass(frozen=True, kw_only=True)
class Frontier:
    """All recodings that no other one is better than, and what stands beside them."""

    secret: str | None  # whose bits are lost; None where another loss is minimised
    points: tuple[FrontierRecoding, ...]
    beside: tuple[BesideRelease, ...]
    limit: FrontierLimit | None

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "Frontier":
        """Read the frontier from the JSON of a protected table."""
        limit = data.get("frontier_limit")
        beside = data.get("frontier_beside") or ()
        return cls(
            secret=data["frontier_secret"],
            points=tuple(FrontierRecoding.from_dict(point) for point in data["frontier"]),
            beside=tuple(BesideRelease.from_dict(release) for release in beside),
            limit=FrontierLimit.from_dict(limit) if limit else None,
        )


@dataclass(frozen=True, kw_only=True)
class ProtectedContent:
    """What the JSON says of a protected table besides its policy.

    The recoding itself, the curve and the records of a method exist at run time only: the page is
    made of what a saved result has as well.
    """

    how: str  # the method
    minimised: str | None
    stopped: bool  # whether time was over before any recoding was found
    found: bool  # whether there is a release
    columns: Mapping[str, ProtectedColumn]
    levels: Mapping[str, int]
    floor: Mapping[str, int]  # the levels that the search started from
    unmet: str | None  # the limit that no release meets
    released: bool  # whether a file was written
    order: str | None
    paired: bool
    suppressed: int
    classes: int | None  # None where a method made the release
    proven: bool
    bound: float | None
    evaluated: int  # recodings that were measured in the search
    losses: ReleaseLosses | None
    own_losses: Mapping[str, Any]  # of a method that has losses of its own
    details: Mapping[str, Any] | None  # the numbers that a method gives about itself
    earlier: RepeatedRelease | None
    frontier: Frontier | None

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "ProtectedContent":
        """Read the JSON of a protected table."""
        columns = data["columns"].items()
        loss = data.get("loss", {})
        earlier = data.get("earlier")
        recoded = "generalization_loss" in loss
        return cls(
            how=data["how"],
            minimised=data["minimised"],
            stopped=bool(data.get("stopped")),
            found="loss" in data,
            columns={name: ProtectedColumn.from_dict(column) for name, column in columns},
            levels=data["levels"],
            floor=data.get("floor", {}),
            unmet=data["unmet"],
            released=data["released"],
            order=data.get("order"),
            paired=bool(data.get("pairing_file")),
            suppressed=data.get("suppressed", 0),
            classes=data.get("classes"),
            proven=data.get("proven", False),
            bound=data.get("bound"),
            evaluated=data.get("evaluated", 0),
            losses=ReleaseLosses.from_dict(loss) if recoded else None,
            own_losses={} if recoded else loss,
            details=data.get("details"),
            earlier=None if earlier is None else RepeatedRelease.from_dict(earlier),
            frontier=Frontier.from_dict(data) if data.get("frontier") else None,
        )

    @property
    def searched(self) -> bool:
        """Whether the release was searched for: its levels were not given."""
        return self.how != FULL or self.proven or self.evaluated > 0
