"""Subsets of the quasi-identifiers counted in people, who are made distinct for every subset.

Numbers of people do not add up: two classes that become one may share people. So every subset is
made from the finest sightings, which contain the person.
"""

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np

from sievert.counts.cube import Cube, histogram
from sievert.counts.sightings import count_seen, distinct_sightings
from sievert.lattice import SubsetSummary, no_pace
from sievert.measures import kernel


class PeopleLattice:
    """Subsets of the columns of sightings, whose last column is the person.

    The column before the person is a secret where one is named.
    """

    def __init__(self, sightings: Cube, secret: str | None = None) -> None:
        self._cube = sightings
        self._secret = secret
        self._given = [c for c in sightings.columns[:-1] if c != secret]

    def all(self, pace: Callable[[], None] = no_pace) -> dict[tuple[str, ...], SubsetSummary]:
        """Summarise every subset but the empty one; `pace`, called at each, may raise to stop."""
        summaries: dict[tuple[str, ...], SubsetSummary] = {}
        for summary in self.up_to(len(self._given)):
            pace()
            summaries[summary.columns] = summary
        return summaries

    def some(self, subsets: Iterable[Sequence[str]]) -> Iterator[SubsetSummary]:
        """Summarise these subsets only."""
        for subset in subsets:
            columns = tuple(c for c in self._given if c in subset)
            yield self._about_people(columns) if self._secret is None else self._about(columns)

    def up_to(self, size: int) -> Iterator[SubsetSummary]:
        """Summarise every subset of at most `size` columns, small ones first."""
        for n in range(1, min(size, len(self._given)) + 1):
            yield from self.some(itertools.combinations(self._given, n))

    def _about_people(self, columns: tuple[str, ...]) -> SubsetSummary:
        sizes, people = count_seen(distinct_sightings(self._cube, columns))
        several = people if sizes.records > people.people else None
        return SubsetSummary(columns=columns, sizes=sizes, records=sizes.records, people=several)

    def _about(self, columns: tuple[str, ...]) -> SubsetSummary:
        assert self._secret is not None
        cells = distinct_sightings(self._cube, (*columns, self._secret)).class_cube
        counts = cells.counts
        sizes = cells.classes[1]
        owner = cells.owner
        members = distinct_sightings(self._cube, columns).classes[1]
        records = cells.records
        totals = cells.totals(-1)
        present = totals[totals > 0]
        prior = kernel.entropy(present, np.ones_like(present), records)
        terms = counts * kernel.log2_ratio(counts, sizes[owner])
        by_class = np.bincount(owner, terms, len(sizes))
        fewest = np.minimum(np.bincount(owner, minlength=len(sizes)), members)
        most = np.zeros(len(sizes), dtype=np.int64)
        np.maximum.at(most, owner, counts)
        once = np.ones(len(counts), dtype=np.int64)
        return SubsetSummary(
            columns=columns,
            sizes=histogram(sizes),
            left=kernel.total(terms),
            least=float(by_class.min()),
            fewest=int(fewest.min()),
            most=kernel.largest_ratio(most, members),
            dependence=kernel.mutual_information(
                counts, sizes[owner], totals[cells.codes[-1]], once, records
            ),
            records=records,
            prior=prior,
        )
