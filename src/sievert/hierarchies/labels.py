"""What labels are written like: numbers, intervals and the root."""

import re
from decimal import Decimal, localcontext
from fractions import Fraction

ROOT = "*"
PRECISION = 600  # digits, enough for every decimal number that is read
_FLAGS = re.IGNORECASE | re.ASCII
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d{1,2})?", _FLAGS)
_END = r"([+\-−]?(?:(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d{1,2})?|inf(?:inity)?|∞))"
_OPEN_END = rf"({_END[1:-1]}|\*)"
_TO = r"\s*(?:,|;|-|–|—|\.\.|to)\s*"
_BRACKETS = re.compile(rf"([\[(\]])\s*{_OPEN_END}{_TO}{_OPEN_END}\s*([\])\[])", _FLAGS)
_BETWEEN = re.compile(rf"{_END}{_TO.replace(',|;|', '')}{_END}", _FLAGS)
_BEYOND = re.compile(rf"(<=|>=|<|>|≤|≥)\s*{_END}", _FLAGS)
_FROM = re.compile(rf"{_END}\s*\+", _FLAGS)


def interval_ends(text: str) -> tuple[str, str, bool, bool] | None:
    """The ends of an interval that a label names, empty where there is none; whether they are in.

    >>> interval_ends("[20, 30)"), interval_ends("<= 5"), interval_ends("2*")
    (('20', '30', True, False), ('', '5', True, True), None)
    """
    if match := _BRACKETS.fullmatch(text):
        return match[2], match[3], match[1] == "[", match[4] == "]"
    if match := _BETWEEN.fullmatch(text):
        return match[1], match[2], True, True
    if (match := _BEYOND.fullmatch(text)) and match[1] in ("<", "<=", "≤"):
        return "", match[2], True, match[1] != "<"
    if match:
        return match[2], "", match[1] != ">", True
    return (match[1], "", True, True) if (match := _FROM.fullmatch(text)) else None


def interval_label(low: Fraction | None, high: Fraction | None) -> str:
    """The label of the numbers from `low` to below `high`; without an end where it is None.

    >>> interval_label(Fraction(20), Fraction(30)), interval_label(None, Fraction("0.5"))
    ('[20, 30)', '< 0.5')
    """
    if low is None or high is None:
        end = low if high is None else high
        return ROOT if end is None else f"{'<' if low is None else '>='} {all_digits(end)}"
    return f"[{all_digits(low)}, {all_digits(high)})"


def all_digits(number: Fraction) -> str:
    """A number with all its digits: two intervals must not share a label."""
    if number.denominator == 1:
        return str(number.numerator)
    with localcontext(prec=PRECISION):
        return f"{(Decimal(number.numerator) / Decimal(number.denominator)).normalize():f}"
