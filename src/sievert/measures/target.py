"""What the attacker wants: the record itself, or a secret. One set of numbers for both.

Information measures are one formula each, whatever the target X: they only need H(X), H(X|Q), I,
the smallest class entropy and the smallest class share. These two classes compute them from counts,
once, with every digit.
"""

import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from sievert.arrays import Floats
from sievert.counts.answers import PeopleCounts, Profiles, RecordCounts, SecretCounts
from sievert.measures import kernel
from sievert.measures.measure import Number


def _difference(large: float, small: float, precisely: Callable[[], Decimal]) -> float:
    """large - small, with 50 digits where the plain difference would lose its own."""
    plain = large - small
    if plain > kernel.CANCELLATION * large:
        return plain
    with kernel.precisely():
        return float(precisely())


class _Classes:
    """The sizes of the classes, which both targets have."""

    def __init__(self, counts: RecordCounts | SecretCounts) -> None:
        self.records = counts.records
        self.sizes = counts.sizes
        self.classes = self.sizes.things
        self.smallest_class = self.sizes.least


class RecordTarget(_Classes):
    """The record itself: N equally likely values, H(X) = log2 N, H(X|q) = log2 n_q."""

    def __init__(self, counts: RecordCounts) -> None:
        super().__init__(counts)
        self.counts = counts

    @property
    def people(self) -> int:
        """The number of people: one per record."""
        return self.records

    @property
    def average_risk(self) -> float:
        """The mean over people of 1/n_q."""
        return kernel.ratio(self.classes, self.records)

    @property
    def most_alike(self) -> int:
        """The size of the largest smallest class that anybody has."""
        return self.sizes.most

    def below(self, k: int) -> int:
        """Count the people in classes of fewer than `k`."""
        return self.sizes.records_below(k)

    @cached_property
    def entropy(self) -> float:
        return math.log2(self.records)

    @cached_property
    def conditional_entropy(self) -> float:
        if self.classes == 1:
            return self.entropy
        return kernel.mean_log2(self.sizes.sizes, self.sizes.times, self.records)

    @cached_property
    def mutual_information(self) -> float:
        if self.sizes.most == 1:  # everybody alone: the class is the record
            return self.entropy
        return kernel.entropy(self.sizes.sizes, self.sizes.times, self.records)

    @property
    def class_entropy(self) -> float:
        return self.mutual_information

    @cached_property
    def least_entropy(self) -> float:
        return math.log2(self.sizes.least)

    @property
    def effective_values(self) -> float:
        return float(self.sizes.least)

    @cached_property
    def least_share(self) -> float:
        if self.classes == 1:
            return self.entropy
        return self.sizes.least * self.least_entropy / self.records

    @cached_property
    def itpr(self) -> float:
        """1 - K·min h/H, the ITPR, for more than one class: never exactly 0."""
        k = self.sizes.least
        classes = self.classes
        n = self.records
        if classes == 1:
            return 0.0
        return _difference(
            1.0,
            classes * self.least_share / self.entropy,
            lambda: 1 - Decimal(classes * k) * Decimal(k).ln() / (Decimal(n) * Decimal(n).ln()),
        )

    @cached_property
    def entropy_variation(self) -> float:
        return float(kernel.log2_ratio(self.sizes.sizes[:1], self.records)[0])

    @property
    def prior(self) -> Fraction:
        return Fraction(1, self.records)

    @property
    def posterior(self) -> Fraction:
        return Fraction(self.classes, self.records)


class PersonTarget(RecordTarget):
    """A person seen in m of the classes: M equally likely pairs of a person and a class.

    `records` is M, and H(X) is the entropy of the person. All people of a class are equally likely.
    """

    def __init__(self, counts: RecordCounts, people: PeopleCounts) -> None:
        super().__init__(counts)
        self.seen = people
        self._classes_of_people = people.by_classes()

    @property
    def people(self) -> int:
        """The number of people."""
        return self.seen.people

    @property
    def average_risk(self) -> float:
        """The mean over people of the largest 1/n_q of their classes."""
        smallest = self.seen.smallest
        return kernel.sum_ratios(smallest.times, smallest.sizes, self.people)

    @property
    def average_risk_of_random_row(self) -> float:
        """The mean over people of the mean of 1/n_q over their classes."""
        return kernel.sum_ratios(self.seen.times, self.seen.classes * self.seen.sizes, self.people)

    @property
    def most_alike(self) -> int:
        """The size of the largest smallest class that anybody has."""
        return self.seen.smallest.most

    def below(self, k: int) -> int:
        """Count the people who have a class of fewer than `k`."""
        smallest = self.seen.smallest
        return int(smallest.times[smallest.sizes < k].sum())

    @cached_property
    def entropy(self) -> float:
        classes = np.array(list(self._classes_of_people))
        people = np.array(list(self._classes_of_people.values()))
        return kernel.entropy(classes, people, self.records)

    def _entropy_precisely(self) -> Decimal:
        classes = self._classes_of_people
        return kernel.decimal_entropy(classes, classes.values(), self.records)

    def _left_precisely(self) -> Decimal:
        """H(X|Q) with 50 digits."""
        pairs = zip(self.sizes.sizes.tolist(), self.sizes.times.tolist(), strict=True)
        logs = sum((Decimal(n * t) * Decimal(n).ln() for n, t in pairs), Decimal(0))
        return logs / self.records / Decimal(2).ln()

    @cached_property
    def mutual_information(self) -> float:
        left = kernel.mean_log2(self.sizes.sizes, self.sizes.times, self.records)
        difference = _difference(
            self.entropy, left, lambda: self._entropy_precisely() - self._left_precisely()
        )
        return max(0.0, difference)

    @cached_property
    def class_entropy(self) -> float:
        return kernel.entropy(self.sizes.sizes, self.sizes.times, self.records)

    @cached_property
    def itpr(self) -> float:
        """1 - K·min h/H, the ITPR, for H(X) > 0."""
        k = self.sizes.least
        classes = self.classes
        pairs = self.records
        share = Decimal(classes * k) * Decimal(k).ln() / Decimal(2).ln() / pairs
        return _difference(
            1.0,
            classes * self.least_share / self.entropy,
            lambda: 1 - share / self._entropy_precisely(),
        )

    @cached_property
    def entropy_variation(self) -> float:
        least = Decimal(self.sizes.least)
        return _difference(
            self.entropy,
            self.least_entropy,
            lambda: self._entropy_precisely() - least.ln() / Decimal(2).ln(),
        )

    @property
    def prior(self) -> Fraction:
        return Fraction(max(self._classes_of_people), self.records)


def record_target(counts: RecordCounts) -> RecordTarget:
    """The target of re-identification: records, or people with several."""
    return RecordTarget(counts) if counts.people is None else PersonTarget(counts, counts.people)


def _effective_values(profiles: Profiles, entropies: Floats) -> float:
    """2^(min H(S|q)); a whole number if the values of that class are equally frequent.

    It is at most the number of people of the class: one person with three values protects nobody.
    """
    members = profiles.members
    capped = np.minimum(members, 2.0**entropies * (1 - 1e-12))
    fewest = int(members[capped.argmin()])
    if fewest == capped.min():
        return float(fewest)
    least = int(entropies.argmin())
    profile = profiles.profile(least)
    if profile[0] == profile[-1]:
        return float(len(profile))
    effective: float = 2.0 ** float(entropies[least])
    return effective


class SecretTarget(_Classes):
    """A sensitive attribute: H(X) = H(S), H(X|q) = H(S | class q)."""

    def __init__(self, counts: SecretCounts) -> None:
        super().__init__(counts)
        self.counts = counts
        self.values = counts.values
        self.profiles = counts.profiles
        if counts.profiles.people is not None:
            self.smallest_class = int(counts.profiles.people.min())

    def without_missing(self, number: Number | None) -> dict[str, Any]:
        """The same measure without the records whose secret is missing, if there are any."""
        if not self.counts.missing:
            return {}
        return {"without_missing": number, "records_with_missing_secret": self.counts.missing}

    @cached_property
    def entropy(self) -> float:
        return kernel.entropy(self.values.sizes, self.values.times, self.records)

    @cached_property
    def conditional_entropy(self) -> float:
        return self.entropy if self.mutual_information == 0.0 else self._conditional_entropy

    @cached_property
    def _conditional_entropy(self) -> float:
        p = self.profiles
        return kernel.total(p.sizes * self._entropies * p.times) / self.records

    @cached_property
    def mutual_information(self) -> float:
        if self._conditional_entropy == 0.0:  # the class determines the secret
            return self.entropy
        c = self.counts.joint
        assert c is not None
        return kernel.mutual_information(c.count, c.class_size, c.value_size, c.times, self.records)

    @cached_property
    def class_entropy(self) -> float:
        return kernel.entropy(self.sizes.sizes, self.sizes.times, self.records)

    @cached_property
    def _entropies(self) -> Floats:
        return kernel.profile_entropies(self.profiles.counts, self.profiles.starts)

    @cached_property
    def least_entropy(self) -> float:
        return float(self._entropies.min())

    @cached_property
    def effective_values(self) -> float:
        """2^(min H(S|q))."""
        return _effective_values(self.profiles, self._entropies)

    @cached_property
    def effective_known(self) -> float | None:
        """The same without the records whose secret is missing; None if all are."""
        known = self.counts.known_profiles
        if known is None:
            return None
        return _effective_values(known, kernel.profile_entropies(known.counts, known.starts))

    @cached_property
    def least_share(self) -> float:
        return float((self._entropies * self.profiles.sizes).min()) / self.records

    def _least_precisely(self, weighted: bool) -> Decimal:
        """min over classes of H(S|q), or of n_q·H(S|q)/N, with 50 digits."""
        weights = self.profiles.sizes if weighted else 1
        near = map(self.profiles.profile, kernel.close_below(self._entropies * weights).tolist())
        return min(
            kernel.decimal_entropy(profile, [1] * len(profile), sum(profile))
            * (sum(profile) if weighted else 1)
            / (self.records if weighted else 1)
            for profile in near
        )

    def _entropy_precisely(self) -> Decimal:
        v = self.values
        return kernel.decimal_entropy(v.sizes.tolist(), v.times.tolist(), self.records)

    @cached_property
    def itpr(self) -> float:
        """1 - K·min h/H, the ITPR, for H(X) > 0; rational where the secret is independent."""
        if self.mutual_information == 0.0:
            return float(1 - Fraction(self.classes * self.sizes.least, self.records))
        return _difference(
            1.0,
            self.classes * self.least_share / self.entropy,
            lambda: 1 - self.classes * self._least_precisely(True) / self._entropy_precisely(),
        )

    @cached_property
    def entropy_variation(self) -> float:
        if self.mutual_information == 0.0:
            return 0.0
        return _difference(
            self.entropy,
            self.least_entropy,
            lambda: self._entropy_precisely() - self._least_precisely(False),
        )

    @property
    def prior(self) -> Fraction:
        return Fraction(self.values.most, self.records)

    @cached_property
    def posterior(self) -> Fraction:
        return Fraction(int((self.profiles.largest * self.profiles.times).sum()), self.records)


Target = RecordTarget | SecretTarget  # entropies in bits
