"""How the numbers of an explanation may be told: people alone, rates, each column's part.

People alone are told as one rounded count, and their share is that of the rounded count, so that
no two roundings of one number stand side by side. A rate of a secret that few bits are to be
learned of rests on few people, and is rounded as if the table had no more.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from sievert.charts.results import make_unique
from sievert.formatting import percent, printable
from sievert.report.page import Cell, Link
from sievert.report.parts import ReportPart
from sievert.report.redaction import LONGEST, NumberText, Redactor

Numbers = Mapping[str, Any]

BANDS = re.compile(r"in bands of ([-+.0-9e]+)")
CUT = re.compile(r"cut to the first (?:([0-9]+) )?characters?")
LEVEL = re.compile(r"at level ([0-9]+) of its hierarchy")
MERGED = re.compile(r"the ([0-9,]+) rarest values merged")
PERCENT = re.compile(r"([0-9.]+) %")
BEYOND = 1e-9
MANY = 5  # columns that are named one by one
MOST_SECRETS = 3


@dataclass(frozen=True)
class ExplanationView:
    """One explanation, and the hand that writes it."""

    part: ReportPart

    @property
    def data(self) -> Numbers:
        """The JSON."""
        return self.part.data

    @property
    def internal(self) -> bool:
        """Whether everything may be told."""
        return self.part.redactor.internal

    def say(self, key: str, /, **values: object) -> str:
        """A text of this chapter."""
        return self.part.texts(f"explained.{key}", **values)

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
        """Records that were counted; fewer than the table has where some were left out."""
        return counted(self.part.redactor, int(self.data["population"]["sample"]))

    @cached_property
    def subsets(self) -> Sequence[Numbers]:
        """Every measured set of known columns; the last is all of them."""
        held: Sequence[Numbers] = self.data["subsets"]["list"]
        return held

    @property
    def whole(self) -> Numbers:
        """What all columns together give away."""
        return self.subsets[-1]

    # -- numbers --------------------------------------------------------------------------------

    def alone(self, held: Numbers) -> NumberText:
        """How many people are the only one."""
        return self.part.redactor.count(held["reidentification"]["unique_count"])

    def of_all(self, alone: NumberText) -> NumberText:
        """The share of the people that a told count is."""
        if alone.number is None or not self.records:
            return alone
        share = alone.number / self.records
        return NumberText(percent(share), share)

    def with_share(self, alone: NumberText) -> str:
        """A count of people with its share behind it."""
        if alone.number is None:
            return alone.text
        return self.say("with_share", number=alone, share=self.of_all(alone))

    def rate(self, numbers: Numbers, secret: str | None) -> NumberText:
        """A discrimination rate, of finding a person or of a secret."""
        return self.rated(numbers["discrimination_rate"], secret)

    def rated(self, value: float | None, secret: str | None) -> NumberText:
        """The same from its value."""
        records = max(1, self.records)
        if value is None and not self.internal:  # that all are alike is not told
            return self.part.redactor.withheld()
        if secret is None:
            return self.part.redactor.identity(value, records)
        numbers = self.whole["inference"][secret]
        rate, bits = numbers["discrimination_rate"], numbers["mutual_information"]
        return self.part.redactor.rate(value, records, bits / rate if rate else None)

    def weight(self, secret: str | None) -> int:
        """So many records a rate rests on: fewer where less than a bit is to be learned."""
        if secret is None:
            return max(1, self.records)
        numbers = self.whole["inference"][secret]
        rate, bits = numbers["discrimination_rate"], numbers["mutual_information"]
        return max(1, int(self.records * min(1.0, bits / rate))) if rate else max(1, self.records)

    def shapley(self, secret: str | None) -> Numbers:
        """Each column's share of a rate."""
        held = self.data["shapley"]
        chapter = held["reidentification"] if secret is None else held["inference"][secret]
        found: Numbers = chapter["discrimination_rate"]
        return found

    def share(self, column: str, secret: str | None) -> NumberText:
        """The part of the whole that a column carries; the smaller the whole, the coarser."""
        held, redactor = self.shapley(secret), self.part.redactor
        part = (held["columns"].get(column) or {}).get("share")
        if part is None and not self.internal:
            return redactor.withheld()
        whole = level(redactor, self.rated(held["whole"], secret))  # as told: bounds may be printed
        of = max(1, int(self.weight(secret) * (whole or 0.0)))
        return redactor.share(part, of=of) if secret is None else redactor.rate(part, of=of)

    def interval(self, column: str, secret: str | None) -> tuple[float, float] | None:
        """The interval of a sampled share, on an internal page."""
        held = self.shapley(secret)
        part = held["columns"].get(column) or {}
        if not self.internal or "low" not in part or not held["whole"]:
            return None
        return part["low"] / held["whole"], part["high"] / held["whole"]

    # -- names ----------------------------------------------------------------------------------

    @cached_property
    def called(self) -> Mapping[str, str]:
        """Names of the known columns, no two alike."""
        return dict(
            zip(self.quasi, make_unique(map(self.part.redactor.name, self.quasi)), strict=True)
        )

    @cached_property
    def labels(self) -> Mapping[str | None, str]:
        """Finding a person (None), and each secret, no two alike."""
        names = [self.say("finding"), *map(self.part.redactor.name, self.secrets)]
        return dict(zip((None, *self.secrets), make_unique(names), strict=True))

    def set_of(self, columns: Sequence[str]) -> str:
        """A set of known columns in words."""
        if len(columns) > MANY:
            left = [c for c in self.quasi if c not in set(columns)]
            if not left:
                return self.say("all_columns", number=len(columns))
            if len(left) == 1:
                return self.say("all_but", column=self.called[left[0]])
            if len(columns) > 3 * MANY:
                return self.say("some_columns", number=len(columns))
        return self.names(columns)

    def names(self, columns: Sequence[str]) -> str:
        """Known columns in a sentence."""
        *others, last = [self.called[c] for c in columns]
        return self.part.texts("words.and", first=", ".join(others), last=last) if others else last

    def value_of(self, held: Numbers, number: int, unnamed: str = "value_number") -> str:
        """A value by its number in a list; by itself where the JSON names it."""
        if held.get("missing"):
            return self.say("value_missing")
        if "value" not in held:
            return self.say(unnamed, number=number)
        text = printable(str(held["value"])[: LONGEST + 1])
        return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"

    def coarser(self, held: Numbers) -> str:
        """One way to make a column coarser, in words."""
        column, how = self.called[held["column"]], str(held["how"])
        if found := BANDS.fullmatch(how):
            return self.say("remedy_bands", column=column, width=found[1])
        if found := CUT.fullmatch(how):
            if found[1] is None:
                return self.say("remedy_cut_one", column=column)
            return self.say("remedy_cut", column=column, number=found[1])
        if found := LEVEL.fullmatch(how):
            return self.say("remedy_level", column=column, level=found[1])
        if (found := MERGED.fullmatch(how)) and self.internal:
            return self.say("remedy_merged", column=column, number=found[1])
        return self.say("remedy_merged_few" if found else "remedy_other", column=column)

    def telling(self, held: Numbers) -> bool:
        """Whether it may be told that a column can be made coarser so.

        That rare values can be merged says that there are some, and fewer than a cell of values
        may be of as few people.
        """
        found = MERGED.fullmatch(str(held["how"]))
        rare = int(found[1].replace(",", "")) if found else self.part.redactor.least
        return self.internal or rare >= self.part.redactor.least


def counted(redactor: Redactor, records: int) -> int:
    """Records that numbers are of; that a few of the table are left out is not told."""
    if redactor.internal:
        return records
    return (
        redactor.rows
        if redactor.rows - records < redactor.least
        else records // redactor.least * redactor.least
    )


def level(redactor: Redactor, said: NumberText) -> float | None:
    """How high a told rate is drawn: nothing that it does not say itself ("over 90 %")."""
    found = PERCENT.search(said.text)
    if said.number is None and found and said.text == redactor.texts("words.over", share=found[0]):
        return round(float(found[1]) / 100, 9)
    return said.number


def rank(redactor: Redactor, said: NumberText) -> float:
    """What a told rate is sorted by; over a bound is more than the bound."""
    height = level(redactor, said)
    if height is None:
        return 0.0
    return height if said.number is not None else height + BEYOND


def term(text: str, anchor: str) -> Cell:
    """A word that leads to its definition."""
    return Link(text, f"def-{anchor}")
