"""A comparison as a page may show it: each release's numbers, and what follows from these.

All that is concluded here is concluded from the numbers that are shown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from sievert.report.chapters.limit.numbers import bits, labels, share_of, step
from sievert.report.parts import ReportPart
from sievert.report.redaction import NumberText, Redactor

Data = Mapping[str, Any]
RARE = 0.05  # a p-value up to which chance is not the reason


@dataclass(frozen=True)
class SecretTexts:
    """What one release tells of one secret, and what it no longer tells; bits a record."""

    value: NumberText
    corrected: NumberText
    low: NumberText
    high: NumberText
    lost: NumberText
    lost_low: NumberText
    lost_high: NumberText
    kept: NumberText  # a share


@dataclass(frozen=True)
class ReleaseTexts:
    """One release."""

    number: int
    label: str
    data: Data
    identity: NumberText
    corrected: NumberText
    low: NumberText
    high: NumberText
    share: NumberText
    secrets: Mapping[str, SecretTexts]


@dataclass(frozen=True)
class ComparisonView:
    """All releases beside their original."""

    part: ReportPart

    @property
    def redactor(self) -> Redactor:
        """The hand it is written with."""
        return self.part.redactor

    @cached_property
    def secrets(self) -> tuple[str, ...]:
        """The secrets, in their order."""
        return tuple(self.part.data["original"]["attribute_disclosure"])

    @cached_property
    def key(self) -> NumberText:
        """What the original key holds: the most that can be told of it."""
        each = self.part.data["releases"][0]["identity_disclosure"]
        return bits(self.redactor, each["maximum"])

    def before(self, secret: str, what: str) -> NumberText:
        """A number of the original about a secret."""
        return bits(self.redactor, self.part.data["original"]["attribute_disclosure"][secret][what])

    @cached_property
    def releases(self) -> tuple[ReleaseTexts, ...]:
        """Each release, in the order given."""
        each = self.part.data["releases"]
        return tuple(
            self._release(number, label, data)
            for number, (label, data) in enumerate(
                zip(labels(self.part, each), each, strict=True), 1
            )
        )

    def _release(self, number: int, label: str, data: Data) -> ReleaseTexts:
        redactor, numbers = self.redactor, data["identity_disclosure"]
        value = bits(redactor, numbers["value"])
        low, high = (bits(redactor, end) for end in numbers["interval"])
        return ReleaseTexts(
            number,
            label,
            data,
            value,
            bits(redactor, numbers["corrected"]),
            low,
            high,
            share_of(redactor, value, self.key),
            {s: self._secret(data, s) for s in self.secrets},
        )

    def _secret(self, data: Data, secret: str) -> SecretTexts:
        redactor = self.redactor
        numbers, loss = data["attribute_disclosure"][secret], data["information_loss"][secret]
        beyond, half = loss_of(loss)
        low, high = (bits(redactor, end) for end in numbers["interval"])
        lost = bits(redactor, beyond)
        return SecretTexts(
            bits(redactor, numbers["value"]),
            bits(redactor, numbers["corrected"]),
            low,
            high,
            lost,
            bits(redactor, beyond - half),
            bits(redactor, beyond + half),
            share_of(redactor, lost, self.before(secret, "corrected"), rest=True),
        )

    # -- what follows ---------------------------------------------------------------------------

    @cached_property
    def dominated(self) -> Mapping[int, tuple[int, ...]]:
        """Of each release those that are nowhere worse and somewhere better.

        Where numbers are rounded: those that are better everywhere, even so.
        """
        if self.redactor.internal:
            numbers = {r.data["name"]: r.number for r in self.releases}
            return {
                r.number: tuple(numbers[n] for n in r.data["dominated_by"]) for r in self.releases
            }
        points = {r.number: _point(r) for r in self.releases}
        return {
            number: tuple(n for n, theirs in points.items() if _better(theirs, mine))
            for number, mine in points.items()
        }

    @property
    def best(self) -> tuple[ReleaseTexts, ...]:
        """The releases that no other one dominates."""
        return tuple(r for r in self.releases if not self.dominated[r.number])

    @property
    def identity_known(self) -> bool:
        """Whether what releases disclose of the key is shown at all."""
        return all(r.identity.number is not None for r in self.releases)

    @property
    def least(self) -> tuple[ReleaseTexts, ...]:
        """Of the best releases the one that discloses least of the key, or several alike."""
        return _lowest(self.best, [r.identity.number for r in self.best])

    def keeps_most(self, secret: str) -> tuple[ReleaseTexts, ...]:
        """Of the best releases the one that has lost least; none where intervals overlap.

        Rounded intervals have to be a step apart.
        """
        each = [(r, r.secrets[secret]) for r in self.best]
        best = _lowest([r for r, _ in each], [t.lost.number for _, t in each])
        if not best:
            return ()
        end = best[0].secrets[secret].lost_high.number
        if all(_reaches(t.lost_low.number, end, step(self.redactor)) for _, t in each):
            return ()
        return best

    def by_chance(self, secret: str, what: str) -> tuple[ReleaseTexts, ...]:
        """Releases of which so much would be told, or lost, by chance; for the operator only."""
        if not self.redactor.internal:
            return ()
        each = {r.number: r.data[what][secret]["p_value"] for r in self.releases}
        return tuple(r for r in self.releases if (each[r.number] or 0.0) > RARE)

    def near_nothing(self, secret: str) -> tuple[ReleaseTexts, ...]:
        """Releases of which what is told of a secret beyond chance has an interval down to 0."""
        return self._at_nothing({r.number: r.secrets[secret].low for r in self.releases})

    def not_lost(self, secret: str) -> tuple[ReleaseTexts, ...]:
        """Releases of which the loss has an interval down to 0."""
        return self._at_nothing({r.number: r.secrets[secret].lost_low for r in self.releases})

    def _at_nothing(self, lows: Mapping[int, NumberText]) -> tuple[ReleaseTexts, ...]:
        return tuple(
            r
            for r in self.releases
            if (low := lows[r.number].number) is not None and low <= step(self.redactor)
        )


def loss_of(numbers: Data) -> tuple[float, float]:
    """What was lost beyond chance, and half of its interval."""
    low, high = numbers["interval"]
    return numbers.get("excess", numbers["corrected"]), (high - low) / 2


def _point(release: ReleaseTexts) -> list[float | None]:
    losses = (t.lost.number for t in release.secrets.values())
    kept = [None if x is None else max(0.0, x) for x in losses]
    return [release.identity.number, release.corrected.number, *kept] if kept else []


def _better(theirs: Sequence[float | None], mine: Sequence[float | None]) -> bool:
    """Whether every number is known and lower."""
    return bool(mine) and all(
        t is not None and m is not None and t < m for t, m in zip(theirs, mine, strict=True)
    )


def _lowest(
    each: Sequence[ReleaseTexts], numbers: Sequence[float | None]
) -> tuple[ReleaseTexts, ...]:
    known = [n for n in numbers if n is not None]
    if not known or len(known) < len(numbers):
        return ()
    return tuple(r for r, n in zip(each, numbers, strict=True) if n == min(known))


def _reaches(low: float | None, end: float | None, slack: float) -> bool:
    """Whether an interval begins before another one ends, as far as rounding tells."""
    return low is None or end is None or low <= end + slack
