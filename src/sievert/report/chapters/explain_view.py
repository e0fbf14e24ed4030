"""How the numbers of an explanation are shown: unique people, rates, each column's part."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property

from sievert.charts import Bar, bars
from sievert.charts.drawing import caption_bars, short_name
from sievert.charts.results import make_unique
from sievert.report.page import Block, Grid, Link, Picture, make_grid
from sievert.report.parts import LONGEST, Data, NumberText, ReportPart

BANDS = re.compile(r"in bands of ([-+.0-9e]+)")
CUT = re.compile(r"cut to the first (?:([0-9]+) )?characters?")
LEVEL = re.compile(r"at level ([0-9]+) of its hierarchy")
MERGED = re.compile(r"the ([0-9,]+) rarest values merged")
MANY = 5  # columns that are named one by one
MOST_SECRETS = 3
MOST_ROWS = 12  # of a picture


class ExplanationView(ReportPart):
    """One explanation: its numbers, its columns by name."""

    @cached_property
    def quasi(self) -> tuple[str, ...]:
        """The columns an outsider may know."""
        return tuple(self.data["roles"]["quasi"])

    @cached_property
    def secrets(self) -> tuple[str, ...]:
        """The secrets that are looked at."""
        return tuple(self.data["shapley"]["inference"])

    @cached_property
    def records(self) -> int:
        """The number of records that were counted; some of the table may be left out."""
        return int(self.data["population"]["sample"])

    @cached_property
    def subsets(self) -> Sequence[Data]:
        """Every measured set of known columns; the last is all of them."""
        return list(self.data["subsets"]["list"])

    @property
    def whole(self) -> Data:
        """What all columns together give away."""
        return self.subsets[-1]

    # -- numbers --------------------------------------------------------------------------------

    def alone(self, subset: Data) -> NumberText:
        """How many people are unique."""
        return self.writer.count(subset["reidentification"]["unique_count"])

    def of_all(self, alone: NumberText) -> NumberText:
        """A count of people as a share of all."""
        if alone.number is None or not self.records:
            return alone
        return self.writer.share(alone.number / self.records)

    def with_share(self, alone: NumberText) -> str:
        """A count of people with its share behind it."""
        known = self.say("with_share", number=alone, share=self.of_all(alone))
        return alone.text if alone.number is None else known

    def shapley(self, secret: str | None) -> Data:
        """Each column's share of a rate."""
        shapley = self.data["shapley"]
        chapter = shapley["reidentification"] if secret is None else shapley["inference"][secret]
        return dict(chapter["discrimination_rate"])

    def share(self, column: str, secret: str | None) -> NumberText:
        """The part of the whole that a column carries."""
        part = (self.shapley(secret)["columns"].get(column) or {}).get("share")
        return self.writer.share(part)

    def interval(self, column: str, secret: str | None) -> tuple[float, float] | None:
        """The interval of a sampled share."""
        shapley = self.shapley(secret)
        part, whole = shapley["columns"].get(column) or {}, shapley["whole"]
        known = "low" in part and whole
        return (part["low"] / whole, part["high"] / whole) if known else None

    def rate_heads(self, more: Iterable[str] = ()) -> list[str]:
        """Heads of columns with rates: of finding a person, of each secret, exact numbers."""
        secrets = [self.say("rate_of", name=self.labels[s]) for s in self.secrets[:MOST_SECRETS]]
        return [self.say("rate_of_finding"), *secrets, *(self.say(f"head_{m}") for m in more)]

    def rates(self, subset: Data, more: Iterable[str] = ()) -> list[NumberText]:
        """What stands below these heads."""
        numbers, exact = subset["reidentification"], self.writer.number
        each = {None: numbers} | {s: subset["inference"][s] for s in self.secrets[:MOST_SECRETS]}
        rates = (self.writer.share(target["discrimination_rate"]) for target in each.values())
        return [*rates, *(exact(numbers[m]) for m in more)]

    def rows_first(self, shown: int, of: int) -> str:
        """That only the first rows are shown, where there are more."""
        return self.say("rows_first", shown=shown, of=of) if of > shown else ""

    # -- names ----------------------------------------------------------------------------------

    @cached_property
    def column_names(self) -> Mapping[str, str]:
        """Names of the known columns, no two alike."""
        return dict(zip(self.quasi, make_unique(map(self.writer.name, self.quasi)), strict=True))

    @cached_property
    def labels(self) -> Mapping[str | None, str]:
        """Finding a person (None), and each secret, no two alike."""
        names = [self.say("finding"), *map(self.writer.name, self.secrets)]
        return dict(zip((None, *self.secrets), make_unique(names), strict=True))

    def set_of(self, columns: Sequence[str]) -> str:
        """A set of known columns in words."""
        if len(columns) > MANY:
            if not (left := [c for c in self.quasi if c not in set(columns)]):
                return self.say("all_columns", number=len(columns))
            if len(left) == 1:
                return self.say("all_but", column=self.column_names[left[0]])
            if len(columns) > 3 * MANY:
                return self.say("some_columns", number=len(columns))
        return self.names(columns)

    def names(self, columns: Sequence[str]) -> str:
        """Known columns in a sentence."""
        return self.texts.join([self.column_names[c] for c in columns])

    def value_of(self, value: Data, number: int, unnamed: str = "value_number") -> str:
        """A value by its number in a list; by itself where the JSON names it."""
        if value.get("missing"):
            return self.say("value_missing")
        if "value" not in value:
            return self.say(unnamed, number=number)
        return short_name(str(value["value"]), LONGEST)

    def value_in_column(self, value: Data, number: int, unnamed: str = "value_number") -> str:
        """The same with the name of its column before it."""
        name = self.value_of(value, number, unnamed)
        return self.say("value_of", column=self.column_names[value["column"]], value=name)

    def coarser(self, change: Data) -> str:
        """One way to make a column coarser, in words."""
        column, how = self.column_names[change["column"]], str(change["how"])
        for pattern, key, place in (
            (BANDS, "remedy_bands", "width"),
            (CUT, "remedy_cut", "number"),
            (LEVEL, "remedy_level", "level"),
            (MERGED, "remedy_merged", "number"),
        ):
            if match := pattern.fullmatch(how):
                one = key == "remedy_cut" and match[1] is None
                return self.say(f"{key}_one" if one else key, column=column, **{place: match[1]})
        return self.say("remedy_other", column=column)


def captioned_bars(
    part: ReportPart,
    key: str,
    marks: Sequence[tuple[Bar, NumberText]],
    grid: Grid,
    *,
    axis: str,
    more: str = "",
    **values: object,
) -> Block:
    """A picture of bars, each with its words; the table alone where no bar can be drawn."""
    if all(bar.number is None for bar, _ in marks):
        return grid
    below = [part.say(f"{key}_below", **values), *([more] if more else ())]
    spec = bars(part.say(f"{key}_chart"), below, [bar for bar, _ in marks], axis=part.say(axis))
    spec = caption_bars(spec, [text.text for _, text in marks])
    return Picture(spec, part.say(f"{key}_caption"), grid)


def terms(part: ReportPart, words: Iterable[tuple[str, str]]) -> Grid:
    """Words of a chapter, each with its definition behind a link and what it means in short."""
    rows = (
        (Link(part.say(key), f"def-{anchor}"), part.say(f"{key}_says")) for anchor, key in words
    )
    return make_grid(part.say("words_table"), (part.say("word"), part.say("meaning")), rows, ())
