"""Levels of dates: day, week, month, quarter, year, decade, of ISO dates and timestamps."""

import re
from collections.abc import Iterable, Sequence
from datetime import date

from sievert.errors import InputError, require
from sievert.hierarchies.labels import ROOT

UNITS = ("day", "week", "month", "quarter", "year", "decade")
_TIME = r"([01]\d|2[0-3]):[0-5]\d(:([0-5]\d|60)(\.\d+)?)?"
_ZONE = r"\s?(z|[+-]\d\d(:?\d\d)?)"
DATE = re.compile(
    rf"(\d{{4}})-(\d\d)(?:-(\d\d)(?:[t ]{_TIME}({_ZONE})?)?)?", re.IGNORECASE | re.ASCII
)


def date_labels(values: Iterable[str], units: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """The labels of dates in units that grow, up to the root; the day is the one that is written.

    >>> date_labels(["2024-02-29 23:59:00+02"], ["month", "quarter", "year", "decade"]).popitem()[1]
    ('2024-02', '2024-Q1', '2024', '2020s', '*')
    """
    check_units(units)
    distinct = list(dict.fromkeys(values))
    days = {value: day for value in distinct if (day := _day(value, units)) is not None}
    if wrong := len(distinct) - len(days):
        raise InputError(
            f"date: {wrong} value(s) are not dates",
            hint="dates as 2024-02-29, with or without time",
        )
    labels = {day: (*(_label(day, unit) for unit in units), ROOT) for day in {*days.values()}}
    return {value: labels[day] for value, day in days.items()}


def check_units(units: Sequence[str]) -> None:
    """Units are known, grow, and lie in the next one; weeks lie in no other unit."""
    known = f"some of {', '.join(UNITS)}, in this order"
    require(units and {*units} <= {*UNITS}, "date: not a unit of dates", hint=known)
    places = [UNITS.index(unit) for unit in units]
    require(places == sorted({*places}), "date: units grow from level to level", hint=known)
    require(
        "week" not in units[:-1],
        "date: a week may lie in two months or years",
        hint="date:day,week",
    )


def is_date(value: str) -> bool:
    """Whether a text is an ISO date, timestamp or month."""
    return _day(value, ()) is not None


def _day(value: str, units: Sequence[str]) -> date | None:
    """The first day that a value may mean; a month has no day or week."""
    match = DATE.fullmatch(value)
    if match is None or (match[3] is None and not {*units}.isdisjoint(("day", "week"))):
        return None
    try:
        return date(int(match[1]), int(match[2]), int(match[3] or 1))
    except ValueError:
        return None


def _label(day: date, unit: str) -> str:
    match unit:
        case "day":
            return day.isoformat()
        case "week":
            year, week, _ = day.isocalendar()
            return f"{year:04}-W{week:02}"
        case "month":
            return f"{day.year:04}-{day.month:02}"
        case "quarter":
            return f"{day.year:04}-Q{(day.month + 2) // 3}"
        case "year":
            return f"{day.year:04}"
    return f"{day.year // 10:03}0s"
