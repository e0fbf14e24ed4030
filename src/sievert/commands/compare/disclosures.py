"""What a comparison has found: bits of the whole key, of each column, of each secret."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sievert.arrays import Ints
    from sievert.estimators import ContingencyTable, InformationEstimate
    from sievert.measures.measure import Value


@dataclass(frozen=True)
class Assessed:
    """The measures of one table that stand beside each other before and after."""

    reidentification: Mapping[str, Value]
    inference: Mapping[str, Mapping[str, Value]]

    def to_dict(self) -> dict[str, Any]:
        """As it stands in the JSON."""
        return {
            "reidentification": {k: v.to_dict() for k, v in self.reidentification.items()},
            "inference": {
                s: {k: v.to_dict() for k, v in values.items()}
                for s, values in self.inference.items()
            },
        }


@dataclass(frozen=True)
class Bits:
    """An information of the whole key and of each column, and what belongs beside it."""

    whole: InformationEstimate
    columns: Mapping[str, InformationEstimate]
    details: Mapping[str, Any] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """As it stands in the JSON."""
        return {
            **self.whole.to_dict(),
            **self.details,
            "columns": {c: e.to_dict() for c, e in self.columns.items()},
        }


@dataclass(frozen=True)
class Disclosed:
    """What a release tells of the original key and of each secret, and what it no longer tells."""

    identity: Bits
    attribute: Mapping[str, Bits]
    loss: Mapping[str, Bits]

    def to_dict(self) -> dict[str, Any]:
        """As it stands in the JSON."""
        return {
            "identity_disclosure": self.identity.to_dict(),
            "attribute_disclosure": {s: b.to_dict() for s, b in self.attribute.items()},
            "information_loss": {s: b.to_dict() for s, b in self.loss.items()},
        }

    def every(self) -> Iterator[tuple[str, str | None, str | None, InformationEstimate]]:
        """Every estimate: its name, its secret, its column, itself."""
        held: list[tuple[str, str | None, Bits]]
        held = [("identity_disclosure", None, self.identity)]
        held += [("attribute_disclosure", s, b) for s, b in self.attribute.items()]
        held += [("information_loss", s, b) for s, b in self.loss.items()]
        for name, secret, bits in held:
            yield name, secret, None, bits.whole
            for column, each in bits.columns.items():
                yield name, secret, column, each


@dataclass(frozen=True)
class OriginalInformation:
    """What is counted of the original once, for all releases."""

    key: Ints
    columns: Mapping[str, Ints]
    secrets: Mapping[str, Ints]
    joint: Mapping[
        tuple[str | None, str], ContingencyTable
    ]  # of a column (None: the key) and a secret
    told: Mapping[tuple[str | None, str], InformationEstimate]
