"""How the numbers of approximate compromise may be told."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from sievert.formatting import percent
from sievert.report.chapters.explain.view import round_records
from sievert.report.parts import Data, ReportPart
from sievert.report.redaction import NumberText, Redactor


@dataclass(frozen=True)
class CompromiseView:
    """One confidential column: its curves, and the hand that writes them."""

    part: ReportPart
    secret: str

    @property
    def redactor(self) -> Redactor:
        """The hand."""
        return self.part.redactor

    @property
    def internal(self) -> bool:
        """Whether everything may be told."""
        return self.redactor.internal

    @property
    def name(self) -> str:
        """The column as it may be called."""
        return self.redactor.name(self.secret)

    def say(self, key: str, /, **values: object) -> str:
        """A text of this chapter."""
        return self.part.texts(f"compromised.{key}", **values)

    @property
    def curves(self) -> Sequence[Data]:
        """One for each parameter."""
        return list(self.part.data["curves"][self.secret])

    @property
    def domain(self) -> Data:
        """How many records have a number, and how many different ones there are."""
        return dict(self.part.data["domains"][self.secret])

    @property
    def records(self) -> int:
        """Records with a number."""
        return max(1, round_records(self.redactor, int(self.domain["records"])))

    @cached_property
    def known(self) -> tuple[int, ...]:
        """How many columns are known, from few to many."""
        return tuple(sorted({p["known"] for c in self.curves for p in c["points"]}))

    def parameter(self, curve: Data) -> str:
        """How strongly the method was applied, in words."""
        method, value = self.part.data["settings"]["method"], curve["parameter"]
        if value is None:
            return self.say("parameter_release")
        shown = 100 * value if method == "sampling" else value
        return self.say(
            f"parameter_{method}", value=self.redactor.setting("parameter", round(shown, 9))
        )

    def mean(self, point: Data, number: str, over: str = "over_records") -> NumberText:
        """A mean over people, or on an internal page over combinations."""
        value = point[over][number]["mean"]
        if number == "initial_entropy":
            bits = self.redactor.bits(value, of=self.records)
            if self.internal or bits.number != 0:
                return bits
            # what is rounded to nothing need not be nothing
            return NumberText(self.part.texts("words.about", number=bits.text), 0.0)
        return self.redactor.only_internal(value)

    def share(self, value: float | None) -> NumberText:
        """A share of the people, from their rounded number."""
        if self.internal or value is None:
            return self.redactor.share(value)
        redactor = replace(self.redactor, rows=self.records)
        people = redactor.count(math.floor(value * self.records + 1e-6))
        if self.redactor.silent or redactor.silent:
            return redactor.withheld()
        if people.number is None:
            few = percent(self.redactor.least / self.records)
            return NumberText(self.part.texts("words.under", share=few), None)
        share = min(1.0, people.number / self.records)
        return NumberText(percent(share), share)

    def error(self, curve: Data) -> NumberText:
        """How far off means over ranges are that the release gives."""
        value = curve["utility"]["range_mean_error"]
        if value is None or not self.internal:
            return self.redactor.only_internal(value)
        return NumberText(percent(value), value)

    def target(self, curve: Data, known: int) -> Data | None:
        """Who is compromised, with so many columns known."""
        at = (curve["parameter"], known)
        targets: list[Data] = self.part.data["targets"][self.secret]
        return next((t for t in targets if (t["parameter"], t["known"]) == at), None)

    def last(self, curve: Data) -> Data | None:
        """The point of somebody who knows most columns."""
        return max(curve["points"], key=lambda p: int(p["known"]), default=None)


def make_views(part: ReportPart) -> list[CompromiseView]:
    """Every confidential column."""
    return [CompromiseView(part, secret) for secret in part.data["curves"]]
