"""Claims beyond a rounded number: a verdict, and a value that must be met exactly."""

from __future__ import annotations

from sievert.papers.model import CONTRADICTS, MATCH, Claim, statement


def verdict(what: str, printed: str, ours: str, holds: bool, why: str) -> Claim:
    """A statement that says why only where it does not hold.

    >>> verdict("H(0)", "equal", "1 and 1", True, "they differ").why
    ''
    """
    return statement(what, printed, ours, holds=holds, why="" if holds else why)


def exactly(what: str, printed: float, ours: float, why: str) -> Claim:
    """A count, or a sum that must be 1: one too many is not a rounded digit.

    >>> exactly("groups", 5, 4, "there are four").state
    'contradicts itself'
    """
    met = printed == ours
    shown = f"{printed:g}", f"{ours:g}" if met else f"{ours:.4g}"
    return Claim(what, *shown, MATCH if met else CONTRADICTS, "" if met else why)


def apart(worst: float, most: float) -> str:
    """How far two ways to the same numbers differ, without digits that hang on the machine.

    >>> apart(2e-16, 1e-12), apart(0.25, 1e-12)
    ('apart by less than 1e-12', 'apart by 0.25')
    """
    return f"apart by less than {most:g}" if worst < most else f"apart by {worst:.2g}"
