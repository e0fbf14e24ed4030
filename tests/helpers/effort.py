"""How many random cases are tried: some in every run, all of them where there is time."""

from __future__ import annotations

import os

SOAKING = os.environ.get("SIEVERT_SOAK") == "1"


def tried(usual: int, soak: int) -> int:
    """So many cases in every run, and so many in `make soak`."""
    return soak if SOAKING else usual
