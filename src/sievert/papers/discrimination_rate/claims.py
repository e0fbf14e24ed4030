"""Two kinds of claims that the slides need: counts, and statements with a reason if false."""

from __future__ import annotations

from sievert.papers.model import CONTRADICTS, DIFFERS, MATCH, Claim, statement


def count(what: str, printed: str, ours: int, *, why: str = "", contradicts: bool = False) -> Claim:
    """A printed number of things beside ours: the same or not, there is nothing to round.

    >>> count("values", "7", 7).state, count("values", "7", 6, why="one is missing").state
    ('match', 'differs')
    """
    if int(printed) == ours:
        return Claim(what, printed, str(ours), MATCH)
    return Claim(what, printed, str(ours), CONTRADICTS if contradicts else DIFFERS, why)


def verdict(what: str, printed: str, ours: str, *, holds: bool, why: str) -> Claim:
    """A statement, with the reason only where it does not hold."""
    return statement(what, printed, ours, holds=holds, why="" if holds else why)
