"""What a release is held against besides its policy: all other recodings."""

# Annotations are not deferred here: options are read from them.
from dataclasses import dataclass

from sievert.cli.options import Options


@dataclass(frozen=True)
class BesidesOptions(Options):
    """What the release is put beside.

    Attributes
    ----------
    frontier
        Go through all combinations of levels, and list those that no other is better than in what
        they disclose and in what they have lost.
    """

    heading = "Beside the release"

    frontier: bool = False
