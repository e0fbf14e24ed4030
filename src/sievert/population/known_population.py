"""Risks if the population is known: the number of people in each class of the sample.

f_q records of the sample and F_q people of the population have the same quasi-identifiers. With a
population table nothing is estimated: every number here is a count divided by a count.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from sievert.arrays import Floats, Ints
from sievert.counts.answers import Sizes
from sievert.errors import InputError, require
from sievert.formatting import plural
from sievert.measures.kernel import ratio, total
from sievert.population.estimate import NO_UNIQUES, Estimate

THRESHOLDS = (0.05, 0.1, 0.2)
MOST = 2.0**62  # below it every sum of people fits into 64 bits


@dataclass(frozen=True)
class Known:
    """A histogram: `times[i]` classes have `sample[i]` records and `population[i]` people.

    Classes that the sample lacks (0 records) may be included; only the number of people depends on
    them.
    """

    sample: Ints
    population: Ints
    times: Ints

    @classmethod
    def of(cls, sample: Any, population: Any, times: Any) -> Self:
        """Check that the sample is part of the population; sort the rows."""
        f, people, t = (np.asarray(x, dtype=np.int64) for x in (sample, population, times))
        require(
            (people.astype(np.float64) * t).sum() < MOST,
            "more people than there can be",
            hint="one row a person",
        )
        records = f * t
        require(records.sum(), "a sample without records has no risk")
        missing = int(records[people == 0].sum())
        above = int(records[f > people].sum())
        require(
            not missing,
            f"{plural(missing, 'record')} of the sample in classes that the population lacks",
            hint="a population table that covers the sample, its values spelled the same",
            error=InputError,
        )
        require(
            not above,
            f"{plural(above, 'record')} in classes with fewer people than records",
            hint="a population table with one row a person",
            error=InputError,
        )
        order = np.lexsort((people, f))
        return cls(f[order], people[order], t[order])

    @classmethod
    def alone(cls, sizes: Sizes) -> Self:
        """The sample as its own population: F_q = f_q."""
        return cls.of(sizes.sizes, sizes.sizes, sizes.times)

    @property
    def sizes(self) -> Sizes:
        """The histogram of the sample's classes only."""
        inside = self.sample > 0
        return Sizes.from_arrays(self.sample[inside], self.times[inside])

    @property
    def records(self) -> int:
        """n, the records of the sample."""
        return int((self.sample * self.times).sum())

    @property
    def classes(self) -> int:
        """u, the classes of the sample."""
        return int(self.times[self.sample > 0].sum())

    def people(self, *, sampled: bool) -> int:
        """The number of people in the classes of the sample, or in all classes."""
        people = self.population * self.times
        if sampled:
            people = people[self.sample > 0]
        return int(people.sum())

    def at_risk(self, thresholds: Sequence[float]) -> dict[str, float]:
        """The share of the records with 1/F_q above each threshold."""
        records = self.sample * self.times
        n = self.records
        with np.errstate(divide="ignore"):
            risk = 1.0 / self.population
        return {f"{x:g}": ratio(int(records[risk > x].sum()), n) for x in thresholds}

    def expected_matches(self, weights: Floats | None = None) -> float:
        """The sum over classes of f_q/F_q: the expected number of records matched rightly."""
        inside = self.sample > 0
        records = (self.sample[inside] * self.times[inside]).astype(np.float64)
        terms = records / self.population[inside].astype(np.float64)
        return total(terms if weights is None else terms * weights[inside])


def prosecutor(sizes: Sizes, thresholds: Sequence[float] = THRESHOLDS) -> Estimate:
    """The risk from an attacker who knows that a person is in the sample.

    Highest 1/min f_q, average u/n (the value), shares of records with 1/f_q above thresholds.
    El Emam and Dankar 2008.

    >>> prosecutor(Sizes.from_arrays([1, 2], [1, 2])).value
    0.6
    """
    known = Known.alone(sizes)
    return Estimate(
        ratio(known.classes, known.records),
        "prosecutor",
        details={"highest": 1.0 / sizes.least, "at_risk": known.at_risk(thresholds)},
    )


def journalist(known: Known, thresholds: Sequence[float] = THRESHOLDS) -> Estimate:
    """The risk from an attacker who does not know whether a person is in the sample.

    Highest 1/min F_q over the classes of the sample, average (the value) max(u/sum F_q, (1/n)·sum
    f_q/F_q), shares of records with 1/F_q above thresholds. El Emam and Dankar 2008, as in ARX.

    >>> known = Known.of([1, 1, 2, 5], [1, 2, 4, 5], [1, 1, 1, 1])
    >>> journalist(known).value, journalist(known).details["highest"]
    (0.3333333333333333, 1.0)
    """
    people = known.people(sampled=True)
    return Estimate(
        max(ratio(known.classes, people), known.expected_matches() / known.records),
        "journalist",
        details={
            "highest": 1.0 / int(known.population[known.sample > 0].min()),
            "at_risk": known.at_risk(thresholds),
        },
    )


def marketer(known: Known) -> Estimate:
    """The share of the records that an attacker who matches all of them matches rightly.

    (1/n)·sum over classes of f_q/F_q. Dankar and El Emam 2010.

    >>> marketer(Known.of([1, 1, 2, 5], [1, 2, 4, 5], [1, 1, 1, 1])).value
    0.3333333333333333
    """
    return Estimate(known.expected_matches() / known.records, "marketer")


def known_unique_match(known: Known) -> Estimate:
    """The probability that a match of a unique record with one person is right, counted.

    Classes with f_q = 1, divided by the people in them. Skinner and Elliot 2002.

    >>> known_unique_match(Known.of([1, 1, 2, 5], [1, 2, 4, 5], [1, 1, 1, 1])).value
    0.6666666666666666
    """
    alone = known.sample == 1
    classes = int(known.times[alone].sum())
    people = int((known.population[alone] * known.times[alone]).sum())
    if not classes:
        return Estimate(None, "counted", NO_UNIQUES)
    return Estimate(ratio(classes, people), "counted", details={"sample_uniques": classes})


def truta_minimal(known: Known, population: int) -> Estimate:
    """The share of the population that is unique in the sample and in the population.

    #{q: f_q = F_q = 1}/N. Truta, Fotouhi and Barth-Jones 2004.

    >>> example = Known.of([1, 0, 1, 2, 5], [1, 1, 2, 4, 5], [1, 1, 1, 1, 1])
    >>> truta_minimal(example, 13).value == 1 / 13
    True
    """
    unique = int(known.times[(known.sample == 1) & (known.population == 1)].sum())
    return Estimate(ratio(unique, _everybody(known, population)), "truta minimal")


def truta_maximal(known: Known, population: int) -> Estimate:
    """The share of the population that is matched rightly: (1/N)·sum f_q/F_q.

    It is n/N times the marketer's risk. Truta, Fotouhi and Barth-Jones 2004.

    >>> example = Known.of([1, 0, 1, 2, 5], [1, 1, 2, 4, 5], [1, 1, 1, 1, 1])
    >>> truta_maximal(example, 13).value == 3 / 13
    True
    """
    return Estimate(known.expected_matches() / _everybody(known, population), "truta maximal")


def truta_weighted(
    known: Known,
    population: int,
    weights: Mapping[tuple[int, int], float],
    otherwise: float = 0.0,
) -> Estimate:
    """A weighted share between both: (1/(N·w_11))·sum over classes of w(f_q, F_q)·f_q/F_q.

    `weights` has w(f, F) by pair, and `otherwise` is the weight of all other pairs. No weight is
    negative or exceeds w(1, 1). Equal weights give the maximal measure, w(1, 1) alone the minimal
    one. Truta, Fotouhi and Barth-Jones 2004, from the abstract and the paper that cites it.

    >>> example = Known.of([1, 0, 1, 2, 5], [1, 1, 2, 4, 5], [1, 1, 1, 1, 1])
    >>> truta_weighted(example, 13, {(1, 1): 1.0}, otherwise=0.5).value == 2 / 13
    True
    """
    most = weights.get((1, 1), otherwise)
    require(
        most > 0 and all(0 <= w <= most for w in [otherwise, *weights.values()]),
        "weights are not negative, and that of (1, 1) is the largest",
    )
    pairs = zip(known.sample.tolist(), known.population.tolist(), strict=True)
    shares = np.array([weights.get(pair, otherwise) / most for pair in pairs])
    return Estimate(
        known.expected_matches(shares) / _everybody(known, population), "truta weighted"
    )


def _everybody(known: Known, population: int) -> int:
    people = known.people(sampled=False)
    require(
        population >= people,
        f"a population of {population:,} cannot have {people:,} in its classes",
    )
    return population
