"""The chapter of sketches: for each key what is estimated, with its interval."""

from collections.abc import Iterator

from sievert.report.page import Block, Chapter, Grid, Paragraph
from sievert.report.parts import Data, NumberText, ReportPart

BELOW = {3: "below_3", 5: "below_5", 10: "below_10"}  # classes of fewer people than these


def blocks(part: ReportPart) -> tuple[Block | Chapter, ...]:
    """The keys, the riskiest first; how to read the numbers, and what they do not say."""
    keys = _ranked(part)
    exact = ["all_exact"] if all(key["exact"] for key in keys) else []
    salted = "salted" if part.data["sketch_file"]["salted"] else "unsalted"
    inner: tuple[Block, ...] = (
        _keys(part, keys),
        _sizes(part, keys),
        *_certain(part, keys),
        Paragraph(part.say("reading"), "reading"),
        *(Paragraph(part.say(key)) for key in (*exact, "cannot_tell", salted)),
    )
    return (Chapter(part.say("title"), part.anchor("keys"), inner, screen=True),)


def points(part: ReportPart) -> list[tuple[str, str]]:
    """The key that makes most people unique; of several also the one that makes fewest so."""
    keys, writer = _ranked(part), part.writer
    points = []
    for several, key in (("unique_most", keys[0]), ("unique_least", keys[-1]))[: len(keys)]:
        values = {
            "columns": writer.names(key["columns"]),
            "unique": writer.share(key["unique"]["estimate"]),
            "low": writer.share(key["unique"]["low"]),
            "high": writer.share(key["unique"]["high"]),
            "classes": writer.count(key["sampled_classes"]),
            "small": writer.share(key["below_5"]["estimate"]),
            "risk": writer.share(key["average_risk"]["estimate"]),
        }
        head = "unique_alone" if len(keys) == 1 else several
        why = "why_exact" if key["exact"] else "why"
        points.append((part.say(head, **values), part.say(why, **values)))
    return points


def _ranked(part: ReportPart) -> list[Data]:
    """The keys by the share of unique people, the highest first."""
    return sorted(part.data["sketches"], key=lambda key: -key["unique"]["estimate"])


def _span(part: ReportPart, estimate: Data, *, shares: bool) -> NumberText:
    """A number with its interval, or alone where it is exact."""
    write = part.writer.share if shares else part.writer.count
    value, low, high = (write(estimate[end]) for end in ("estimate", "low", "high"))
    if estimate["low"] == estimate["high"]:
        return value
    return NumberText(part.say("span", value=value, low=low, high=high), value.number)


def _keys(part: ReportPart, keys: list[Data]) -> Grid:
    rows = [
        (
            part.writer.names(key["columns"]),
            _span(part, key["unique"], shares=True),
            _span(part, key["average_risk"], shares=True),
            _span(part, key["classes"], shares=False),
        )
        for key in keys
    ]
    return part.grid("keys_table", ("head_key", "head_unique", "head_risk", "head_classes"), rows)


def _sizes(part: ReportPart, keys: list[Data]) -> Grid:
    rows = [
        (
            part.writer.names(key["columns"]),
            *(_span(part, key[name], shares=True) for name in BELOW.values()),
        )
        for key in keys
    ]
    more = [part.say("head_below", number=below) for below in BELOW]
    return part.grid("sizes_table", ("head_key",), rows, more=more)


def _certain(part: ReportPart, keys: list[Data]) -> Iterator[Grid]:
    """Of each secret the people whose value follows from the key."""
    rows = [
        (
            part.writer.names(key["columns"]),
            part.writer.name(secret),
            _span(part, estimate, shares=True),
        )
        for key in keys
        for secret, estimate in key["certain"].items()
    ]
    if rows:
        yield part.grid("certain_table", ("head_key", "head_secret", "head_certain"), rows)
