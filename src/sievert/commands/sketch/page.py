"""The chapter of sketches: for each key what is estimated, with its interval."""

from collections.abc import Callable, Iterator

from sievert.commands.sketch.class_sample import IntervalEstimate
from sievert.commands.sketch.result import SketchedKey, SketchEstimates
from sievert.report.page import Block, Chapter, Grid, Paragraph
from sievert.report.parts import NumberText, ReportPart

BELOW = (3, 5, 10)  # classes of fewer people than these
UNIQUE = 2  # a class of fewer people has one
SMALL = 5  # a class of fewer people is small


def blocks(part: ReportPart) -> tuple[Block | Chapter, ...]:
    """The keys, the riskiest first; how to read the numbers, and what they do not say."""
    keys = _ranked(part)
    exact = ["all_exact"] if all(key.exact for key in keys) else []
    salted = "salted" if part.read(SketchEstimates).file.salted else "unsalted"
    inner: tuple[Block, ...] = (
        _keys(part, keys),
        _sizes(part, keys),
        *_certain(part, keys),
        Paragraph(part.say("reading"), "reading"),
        *(Paragraph(part.say(key)) for key in (*exact, "cannot_tell", salted)),
    )
    return (
        Chapter(title=part.say("title"), anchor=part.anchor("keys"), blocks=inner, screen=True),
    )


def points(part: ReportPart) -> list[tuple[str, str]]:
    """The key that makes most people unique; of several also the one that makes fewest so."""
    keys = _ranked(part)
    if len(keys) == 1:
        return [_point(part, "unique_alone", keys[0])]
    return [_point(part, "unique_most", keys[0]), _point(part, "unique_least", keys[-1])]


def _point(part: ReportPart, head: str, key: SketchedKey) -> tuple[str, str]:
    """How many people are unique by a key, and how they are spread over classes."""
    writer = part.writer
    unique = key.estimates.below[UNIQUE]
    values = {
        "columns": writer.names(key.columns),
        "unique": writer.share(unique.value),
        "low": writer.share(unique.low),
        "high": writer.share(unique.high),
        "classes": writer.count(key.sampled),
        "small": writer.share(key.estimates.below[SMALL].value),
        "risk": writer.share(key.estimates.average_risk.value),
    }
    why = "why_exact" if key.exact else "why"
    return part.say(head, **values), part.say(why, **values)


def _ranked(part: ReportPart) -> list[SketchedKey]:
    """The keys by the share of unique people, the highest first."""
    keys = part.read(SketchEstimates).keys
    return sorted(keys, key=lambda key: -key.estimates.below[UNIQUE].value)


def _share(part: ReportPart, estimate: IntervalEstimate) -> NumberText:
    """A share with its interval."""
    return _span(part, estimate, part.writer.share)


def _span(
    part: ReportPart, estimate: IntervalEstimate, write: Callable[[float], NumberText]
) -> NumberText:
    """A number with its interval, or alone where it is exact."""
    value = write(estimate.value)
    if estimate.low == estimate.high:
        return value
    low = write(estimate.low)
    high = write(estimate.high)
    return NumberText(part.say("span", value=value, low=low, high=high), value.number)


def _keys(part: ReportPart, keys: list[SketchedKey]) -> Grid:
    rows = [
        (
            part.writer.names(key.columns),
            _share(part, key.estimates.below[UNIQUE]),
            _share(part, key.estimates.average_risk),
            _span(part, key.estimates.classes, part.writer.count),
        )
        for key in keys
    ]
    return part.grid("keys_table", ("head_key", "head_unique", "head_risk", "head_classes"), rows)


def _sizes(part: ReportPart, keys: list[SketchedKey]) -> Grid:
    rows = [
        (
            part.writer.names(key.columns),
            *(_share(part, key.estimates.below[size]) for size in BELOW),
        )
        for key in keys
    ]
    more = [part.say("head_below", number=size) for size in BELOW]
    return part.grid("sizes_table", ("head_key",), rows, more=more)


def _certain(part: ReportPart, keys: list[SketchedKey]) -> Iterator[Grid]:
    """Of each secret the people whose value follows from the key."""
    rows = [
        (part.writer.names(key.columns), part.writer.name(secret), _share(part, estimate))
        for key in keys
        for secret, estimate in key.estimates.certain.items()
    ]
    if rows:
        yield part.grid("certain_table", ("head_key", "head_secret", "head_certain"), rows)
