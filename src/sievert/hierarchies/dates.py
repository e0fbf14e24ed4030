"""Levels of dates: day, week, month, quarter, year, decade, of dates as people write them.

The year has four digits. It stands first (1999-12-31, 1999/12/31, 19991231, 1999-12) or last
(31.12.1999, 12/31/1999, 12/1999); a time may follow a day. If the year is last, day and month are
in the order that makes all values dates. If both orders do, the labels must not depend on it, or
the user must give it.
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import date
from typing import NamedTuple

from sievert.errors import InputError, require
from sievert.hierarchies.hierarchy import Hierarchy
from sievert.hierarchies.labels import ROOT

UNITS = ("day", "week", "month", "quarter", "year", "decade")
ORDERS = ("dmy", "mdy")  # of 31/12/1999 and 12/31/1999
_TIME = (
    r"(?:[t ](?P<time>([01]?\d|2[0-3]):[0-5]\d(:([0-5]\d|60)(\.\d+)?)?"
    r"(\s?(z|[+-]\d\d(:?\d\d)?))?))?"
)
_FORMS = (
    rf"(?P<y>\d{{4}})(?P<sign>[-/.]?)(?P<m>\d\d)(?P=sign)(?P<d>\d\d){_TIME}",
    rf"(?P<one>\d\d?)(?P<sign>[-/.])(?P<two>\d\d?)(?P=sign)(?P<y>\d{{4}}){_TIME}",
    r"(?P<y>\d{4})[-/](?P<m>\d\d)",
    r"(?P<m>\d\d?)[-/](?P<y>\d{4})",
)
_DATES = tuple(re.compile(form, re.IGNORECASE | re.ASCII) for form in _FORMS)


class Moment(NamedTuple):
    """The first day that a text may mean, and its time."""

    day: date
    time: str


def date_hierarchy(
    values: Iterable[str], units: Sequence[str], order: str | None = None
) -> Hierarchy:
    """Make a hierarchy of dates in units that grow, up to the root; time zones are ignored.

    >>> units = ["month", "quarter", "year", "decade"]
    >>> date_hierarchy(["2024-02-29 23:59:00+02"], units).labels.popitem()[1]
    ('2024-02', '2024-Q1', '2024', '2020s', '*')
    >>> date_hierarchy(["1.2.1999", "31.12.1999"], ["month"]).fixed
    'date:month/dmy'
    """
    check_units(units)
    readings = _readings(values, order, months="day" not in units and "week" not in units)
    days = {moment.day for read in readings.values() for moment in read.values()}
    rows = {day: (*(_label(day, unit) for unit in units), ROOT) for day in days}
    ladder, *others = [{v: rows[at.day] for v, at in read.items()} for read in readings.values()]
    _require_certain(all(other == ladder for other in others))
    known = order
    if not known and not others:
        known = next(iter(readings))
    return Hierarchy(ladder, "date", f"date:{','.join(units)}" + (f"/{known}" if known else ""))


def in_time_order(values: Collection[str]) -> list[str]:
    """Sort dates from the earliest to the latest; dates of one moment by their text."""
    read, *others = _readings(values).values()
    _require_certain(not others)
    return sorted(values, key=lambda v: (read[v], v))


def check_units(units: Sequence[str]) -> None:
    """Check that units are known, grow, and each lies in the next; a week lies in no other unit."""
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
    """Say whether a text is a date, with or without time, or a month."""
    return any(_moment(_parts(value), order) is not None for order in ORDERS)


def _require_certain(certain: bool) -> None:
    require(
        certain,
        "date: whether the day or the month stands first is not certain",
        hint="date:month,year/dmy where the day is first, /mdy where the month is; "
        "date:year,decade needs no order",
        error=InputError,
    )


def _readings(
    values: Iterable[str], order: str | None = None, *, months: bool = True
) -> dict[str, dict[str, Moment]]:
    """The moments of all values, by the orders of day and month in which all are dates."""
    parts = {v: _parts(v) for v in values}
    depends = any("one" in part for part in parts.values())
    orders: tuple[str, ...] = ("",)
    if depends:
        orders = (order,) if order else ORDERS
    readings: dict[str, dict[str, Moment]] = {}
    for known in orders:
        moments = ((v, _moment(part, known, months=months)) for v, part in parts.items())
        readings[known] = {v: moment for v, moment in moments if moment is not None}
    most = max(map(len, readings.values()))
    require(
        most == len(parts),
        f"date: {len(parts) - most} value(s) are not dates",
        hint="dates as 2024-02-29, 29.02.2024 or 20240229, with or without time",
        error=InputError,
    )
    return {known: read for known, read in readings.items() if len(read) == most}


def _parts(value: str) -> dict[str, str | None]:
    """The year, month, day and time of a date as they are written; empty for any other text."""
    for form in _DATES:
        match = form.fullmatch(value)
        if match is not None:
            return match.groupdict()
    return {}


def _moment(parts: Mapping[str, str | None], order: str, *, months: bool = True) -> Moment | None:
    """The moment that the parts describe, with day and month in an `order`; None for no moment."""
    named = dict(zip(order, (parts.get("one"), parts.get("two")), strict=False))
    year, month, day = (parts.get(part) or named.get(part) for part in "ymd")
    if not year or not month or not (day or months):
        return None
    time = parts.get("time")
    hours, colon, rest = ("" if time is None else time).partition(":")
    first = int(day) if day else 1
    try:
        return Moment(date(int(year), int(month), first), hours.zfill(2) + colon + rest)
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
