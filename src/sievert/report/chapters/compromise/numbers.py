"""How the numbers of approximate compromise may be told."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from sievert.formatting import percent
from sievert.report.chapters.explain.numbers import counted
from sievert.report.parts import Part
from sievert.report.redaction import Pen, Said

Numbers = Mapping[str, Any]


@dataclass(frozen=True)
class Case:
    """One confidential column: its curves, and the hand that writes them."""

    part: Part
    secret: str

    @property
    def pen(self) -> Pen:
        """The hand."""
        return self.part.pen

    @property
    def internal(self) -> bool:
        """Whether everything may be told."""
        return self.pen.internal

    @property
    def name(self) -> str:
        """The column as it may be called."""
        return self.pen.name(self.secret)

    def say(self, key: str, /, **values: object) -> str:
        """A text of this chapter."""
        return self.part.texts(f"compromised.{key}", **values)

    @property
    def curves(self) -> Sequence[Numbers]:
        """One for each parameter."""
        held: Sequence[Numbers] = self.part.data["curves"][self.secret]
        return held

    @property
    def domain(self) -> Numbers:
        """How many records have a number, and how many different ones there are."""
        held: Numbers = self.part.data["domains"][self.secret]
        return held

    @property
    def records(self) -> int:
        """Records with a number."""
        return max(1, counted(self.pen, int(self.domain["records"])))

    @cached_property
    def known(self) -> tuple[int, ...]:
        """How many columns are known, from few to many."""
        return tuple(sorted({p["known"] for c in self.curves for p in c["points"]}))

    def parameter(self, curve: Numbers) -> str:
        """How strongly the method was applied, in words."""
        method, value = self.part.data["settings"]["method"], curve["parameter"]
        if value is None:
            return self.say("parameter_release")
        shown = 100 * value if method == "sampling" else value
        return self.say(f"parameter_{method}", value=self.pen.setting("parameter", round(shown, 9)))

    def mean(self, point: Numbers, number: str, over: str = "over_records") -> Said:
        """A mean over people, or on an internal page over combinations."""
        value = point[over][number]["mean"]
        if number == "initial_entropy":
            return self._near(self.pen.bits(value, of=self.records))
        return self.pen.only_internal(value)

    def _near(self, said: Said) -> Said:
        """What is rounded to nothing need not be nothing."""
        if self.internal or said.number != 0:
            return said
        return Said(self.part.texts("words.about", number=said.text), said.number)

    def share(self, value: float | None) -> Said:
        """A share of the people, from their rounded number."""
        if self.internal or value is None:
            return self.pen.share(value)
        pen = replace(self.pen, rows=self.records)
        people = pen.count(math.floor(value * self.records + 1e-6))
        if self.pen.silent or pen.silent:
            return pen.withheld()
        if people.number is None:
            few = percent(self.pen.least / self.records)
            return Said(self.part.texts("words.under", share=few), None)
        share = min(1.0, people.number / self.records)
        return Said(percent(share), share)

    def error(self, curve: Numbers) -> Said:
        """How far off means over ranges are that the release gives."""
        value = curve["utility"]["range_mean_error"]
        if value is None or not self.internal:
            return self.pen.only_internal(value)
        return Said(percent(value), value)

    def target(self, curve: Numbers, known: int) -> Numbers | None:
        """Who is compromised, with so many columns known."""
        for held in self.part.data["targets"][self.secret]:
            if held["parameter"] == curve["parameter"] and held["known"] == known:
                found: Numbers = held
                return found
        return None

    def last(self, curve: Numbers) -> Numbers | None:
        """The point of somebody who knows most columns."""
        return max(curve["points"], key=lambda p: int(p["known"]), default=None)


def cases(part: Part) -> list[Case]:
    """Every confidential column."""
    return [Case(part, secret) for secret in part.data["curves"]]
