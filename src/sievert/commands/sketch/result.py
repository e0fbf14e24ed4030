"""The result of `sievert sketch`: estimates of each key, with intervals."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from sievert.commands.sketch.class_sample import (
    COVERAGE,
    IntervalEstimate,
    SampleEstimates,
    estimate_sample,
)
from sievert.counts.sketch.sample import ClassSample
from sievert.counts.sketch.storage import SketchFile
from sievert.errors import UsageError
from sievert.result import Result

# The share of people in classes of fewer people than a size, as the JSON calls it.
SHARES_BELOW = {2: "unique", 3: "below_3", 5: "below_5", 10: "below_10", 20: "below_20"}


@dataclass(frozen=True, kw_only=True)
class SketchedKey:
    """One set of columns: the size of its sample, and the estimates."""

    columns: tuple[str, ...]
    exact: bool  # every class is in the sample
    sampled: int  # classes
    share: float  # of all classes that are sampled, on average
    estimates: SampleEstimates

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "SketchedKey":
        """Read an entry of the JSON."""
        read = IntervalEstimate.from_dict
        return cls(
            columns=tuple(data["columns"]),
            exact=data["exact"],
            sampled=data["sampled_classes"],
            share=data["sampled_share"],
            estimates=SampleEstimates(
                classes=read(data["classes"]),
                average_risk=read(data["average_risk"]),
                below={
                    size: read(data[name]) for size, name in SHARES_BELOW.items() if name in data
                },
                certain={secret: read(entry) for secret, entry in data["certain"].items()},
            ),
        )

    def to_dict(self) -> dict[str, Any]:
        """The estimates of the key as JSON."""
        return {
            "columns": list(self.columns),
            "exact": self.exact,
            "sampled_classes": self.sampled,
            "sampled_share": self.share,
            **{name: estimate.to_dict() for name, _, estimate in self.numbers if name != "certain"},
            "certain": {secret: each.to_dict() for secret, each in self.estimates.certain.items()},
        }

    @property
    def numbers(self) -> Iterator[tuple[str, str | None, IntervalEstimate]]:
        """Every number: its name, the secret that it is about, the estimate."""
        own = self.estimates
        yield "classes", None, own.classes
        yield "average_risk", None, own.average_risk
        yield from ((SHARES_BELOW[below], None, estimate) for below, estimate in own.below.items())
        yield from (("certain", secret, each) for secret, each in own.certain.items())


def estimate_key(sample: ClassSample, secrets: tuple[str, ...]) -> SketchedKey:
    """Estimate the numbers of one sketch."""
    single = {
        secret: np.bincount(cells.owner, minlength=len(sample.hashes)) == 1
        for secret, cells in zip(secrets, sample.secrets, strict=True)
    }
    return SketchedKey(
        columns=sample.columns,
        exact=sample.complete,
        sampled=len(sample.hashes),
        share=sample.share,
        estimates=estimate_sample(sample.counts, sample.share, sample.records, single),
    )


@dataclass(frozen=True, kw_only=True)
class SavedSketchFile:
    """What the JSON says of a file of sketches, which it does not hold."""

    size: int  # bytes of each sketch, at most
    salted: bool

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "SavedSketchFile":
        """Read the entry of the JSON."""
        return cls(size=data["size"], salted=data["salted"])

    def to_bytes(self) -> bytes:
        """Refuse: the sketches are in their own file."""
        raise UsageError("a result that was saved as JSON has no sketches", hint="their own file")


@dataclass(frozen=True, repr=False)
class SketchEstimates(Result):
    """Estimates from sketches of a table: the share of unique people of each key, and more."""

    keys: tuple[SketchedKey, ...]  # one for each set of columns
    file: SketchFile | SavedSketchFile  # the file that is written

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "SketchEstimates":
        """Read the estimates back from the JSON."""
        return cls(
            **cls.saved_fields(data),
            keys=tuple(SketchedKey.from_dict(entry) for entry in data["sketches"]),
            file=SavedSketchFile.from_dict(data["sketch_file"]),
        )

    def to_bytes(self) -> bytes:
        """The file of the sketches."""
        return self.file.to_bytes()

    def _content(self) -> dict[str, Any]:
        return {
            "sketches": [key.to_dict() for key in self.keys],
            "sketch_file": {
                "size": self.file.size,
                "salted": self.file.salted,
                "coverage": COVERAGE,
            },
        }

    def _rows(self) -> Iterator[dict[str, Any]]:
        return (
            {
                "columns": ", ".join(key.columns),
                "number": name,
                "sensitive": secret,
                **estimate.to_dict(),
                "exact": key.exact,
            }
            for key in self.keys
            for name, secret, estimate in key.numbers
        )
