"""What a release is held against besides its policy: all other recodings, earlier releases."""

# Annotations are not deferred here: options are read from them.
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sievert.cli.options import Options


@dataclass(frozen=True)
class BesidesOptions(Options):
    """What the release is put beside.

    Attributes
    ----------
    frontier
        Go through all combinations of levels, and list those that no other is better than in what
        they disclose and in what they have lost.
    earlier
        A release of the same people that is out already: whoever has both files must not tell apart
        fewer people than k. May be repeated.
    key
        With --earlier: the column, in all tables, that tells people apart.
    """

    heading = "Release"

    frontier: bool = False
    earlier: list[Path] | None = None
    key: str | None = None

    def arguments(self) -> dict[str, Any]:
        return {**vars(self), "earlier": self.earlier or ()}
