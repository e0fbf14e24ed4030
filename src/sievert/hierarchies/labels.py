"""The texts of labels: numbers, intervals and the root."""

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
    """The ends of the interval that a label describes, empty without an end; whether they belong.

    >>> interval_ends("[20, 30)"), interval_ends("<= 5"), interval_ends("2*")
    (('20', '30', True, False), ('', '5', True, True), None)
    """
    match = _BRACKETS.fullmatch(text)
    if match is not None:
        return match[2], match[3], match[1] == "[", match[4] == "]"
    match = _BETWEEN.fullmatch(text)
    if match is not None:
        return match[1], match[2], True, True
    match = _BEYOND.fullmatch(text)
    if match is not None and match[1] in ("<", "<=", "≤"):
        return "", match[2], True, match[1] != "<"
    if match is not None:
        return match[2], "", match[1] != ">", True
    match = _FROM.fullmatch(text)
    return None if match is None else (match[1], "", True, True)


def interval_label(low: Fraction | None, high: Fraction | None) -> str:
    """The label of the numbers from `low` to below `high`; None is no end.

    >>> interval_label(Fraction(20), Fraction(30)), interval_label(None, Fraction("0.5"))
    ('[20, 30)', '< 0.5')
    """
    if low is not None and high is not None:
        return f"[{all_digits(low)}, {all_digits(high)})"
    if low is not None:
        return f">= {all_digits(low)}"
    return ROOT if high is None else f"< {all_digits(high)}"


def all_digits(number: Fraction) -> str:
    """Write a number with all its digits, so that two intervals never share a label."""
    if number.denominator == 1:
        return str(number.numerator)
    with localcontext(prec=PRECISION):
        return f"{(Decimal(number.numerator) / Decimal(number.denominator)).normalize():f}"
