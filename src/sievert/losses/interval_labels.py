"""Labels that are intervals of numbers: `[20, 30)`, `20-29`, `20 to 29`, `<30`, `>=60`, `60+`."""

from __future__ import annotations

import math
import re

_SIGN = r"[+\-−]?"
_DIGITS = r"(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d{1,2})?"
_END = rf"({_SIGN}(?:{_DIGITS}|inf|infinity|∞))"
_FLAGS = re.IGNORECASE | re.ASCII
_NUMBER = re.compile(rf"({_SIGN}{_DIGITS})", _FLAGS)
_BRACKETS = re.compile(rf"[\[\](]\s*{_END}\s*(?:,|;|-|–|—|\.\.|to)\s*{_END}\s*[\])\[]", _FLAGS)
_BETWEEN = re.compile(rf"{_END}\s*(?:-|–|—|\.\.|to)\s*{_END}", _FLAGS)
_BELOW = re.compile(rf"(?:<|<=|≤)\s*{_END}", _FLAGS)
_ABOVE = re.compile(rf"(?:>|>=|≥)\s*{_END}", _FLAGS)
_FROM = re.compile(rf"{_END}\s*\+", _FLAGS)


def interval(text: str) -> tuple[float, float] | None:
    """The ends of an interval that a label names; of a number, itself twice; None for others.

    Whether an end belongs to it is not told. An interval that ends before it begins is none.

    >>> interval("[20, 30)"), interval("-5--1"), interval(">=60"), interval("12"), interval("2*")
    ((20.0, 30.0), (-5.0, -1.0), (60.0, inf), (12.0, 12.0), None)
    """
    text = text.strip()
    if match := _NUMBER.fullmatch(text):
        return _value(match[1]), _value(match[1])
    if match := _BRACKETS.fullmatch(text) or _BETWEEN.fullmatch(text):
        low, high = _value(match[1]), _value(match[2])
    elif match := _BELOW.fullmatch(text):
        low, high = -math.inf, _value(match[1])
    elif match := _ABOVE.fullmatch(text) or _FROM.fullmatch(text):
        low, high = _value(match[1]), math.inf
    else:
        return None
    return (low, high) if low <= high else None


def _value(text: str) -> float:
    return float(text.replace("−", "-").replace("∞", "inf"))
