"""What is asked of a channel, and what is to be known of the alphabets that it gets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sievert.commands.limit.alphabets import AUTO, COLUMNS, MOST, ReleaseAlphabet
from sievert.commands.limit.channels import IDENTITY, REVERSE
from sievert.commands.limit.columns import HAMMING
from sievert.notes import Count, Note


@dataclass(frozen=True)
class LimitSettings:
    """What is asked of the channel."""

    model: int | str
    at: tuple[float, ...]
    distortion: Any = HAMMING
    hierarchies: Mapping[str, Any] | None = None
    alphabet: str = AUTO
    most: int = MOST
    occurring: bool = False
    reduced: int | None = None
    points: int = 0
    gap: float | None = None
    seconds: float | None = None
    seed: int = 0

    @property
    def alike(self) -> bool:
        """Whether X itself is the secret."""
        return self.model in (IDENTITY, REVERSE)

    @property
    def solving(self) -> dict[str, Any]:
        """As searches take it."""
        return {"gap": self.gap, "seconds": self.seconds, "seed": self.seed}


def about(kind: str, found: Sequence[ReleaseAlphabet], *, labelled: bool) -> list[Note]:
    """What is to be known of alphabets."""
    notes: list[Note] = []
    if kind == COLUMNS and len(found) > 1:
        notes.append(
            Note(
                "each column has a channel of its own, which --at goes for: all together they are "
                "not the best release, and what is promised is promised of each column"
            )
        )
    for each in found:
        if each.merged:
            notes.append(
                Note(
                    "{} of rare combinations count as the nearest frequent ones; how far these are "
                    "is part of the distortion",
                    Count(each.merged),
                )
            )
        if each.reduced:
            notes.append(Note("only {} may be released", Count(len(each.released), "combination")))
    if labelled:
        notes.append(
            Note(
                "the release is synthetic: for each record a label is drawn, and for the label "
                "values of somebody who could have it; it tells less than the label, and loses more"
            )
        )
    return notes
