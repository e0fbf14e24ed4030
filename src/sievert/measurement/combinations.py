"""The combinations of the quasi-identifiers, from which other numbers follow; merging of values.

Where people have several rows, combinations include the person and are counted in people.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from sievert.arrays import Bools, Ints
from sievert.counts.answers import Sizes
from sievert.counts.cube import Cube
from sievert.counts.questions import Questions
from sievert.lattice import Lattice
from sievert.lattice.people import PeopleLattice

WORK = 3 * 10**6  # cells times subsets from which compiled loops are worth their loading


@dataclass(frozen=True)
class CombinationCounts:
    """The combinations of the quasi-identifiers, alone and with each sensitive attribute."""

    quasi: tuple[str, ...]
    classes: Cube
    secrets: Mapping[str, Cube]

    @property
    def records(self) -> int:
        """The number of records; of sightings, if people have several rows."""
        return self.classes.records

    @property
    def cubes(self) -> tuple[Cube, ...]:
        """The cubes from which everything is rolled up."""
        return (self.classes, *self.secrets.values())

    @cached_property
    def sizes(self) -> Sizes:
        """The histogram of the class sizes."""
        return self.classes.sizes()

    def lattices(self, threads: int, expected: int) -> dict[str | None, Lattice | PeopleLattice]:
        """The lattices that measure subsets: of each sensitive attribute, or of classes alone."""
        cubes: dict[str | None, Cube] = dict(self.secrets.items()) or {None: self.classes}
        cells = sum(len(cube.counts) for cube in cubes.values())
        subsets = min(expected, (1 << len(self.quasi)) - 1)
        compiled = None if cells * subsets >= WORK else False
        return {
            s: Lattice(cube, None if s is None else secret_column(s), threads, compiled=compiled)
            for s, cube in cubes.items()
        }

    def merge_values(self, codes: Mapping[str, Ints]) -> CombinationCounts:
        """The counts after values are merged: `codes[column][old]` is the new code of a value."""
        # Merged cells are classes again only after they are rolled up.
        classes = recode(self.classes, codes).roll_up(self.quasi)
        return CombinationCounts(
            self.quasi, classes, {s: recode(c, codes) for s, c in self.secrets.items()}
        )

    def drop_value(self, column: str, code: int) -> CombinationCounts:
        """The counts without the records that have one value."""
        return CombinationCounts(
            self.quasi,
            _drop(self.classes, column, code),
            {s: _drop(c, column, code) for s, c in self.secrets.items()},
        )


@dataclass(frozen=True, kw_only=True)
class PeopleCombinations(CombinationCounts):
    """The combinations counted in people; the last column of sightings is the person."""

    sightings: Cube
    secret_sightings: Mapping[str, Cube]

    @classmethod
    def from_sightings(
        cls, quasi: tuple[str, ...], sightings: Cube, secrets: Mapping[str, Cube]
    ) -> PeopleCombinations:
        """Count the people of every combination."""
        return cls(
            quasi=quasi,
            classes=_count_people(sightings),
            secrets={s: _count_people(cube) for s, cube in secrets.items()},
            sightings=sightings,
            secret_sightings=secrets,
        )

    @property
    def cubes(self) -> tuple[Cube, ...]:
        """The cubes from which everything is rolled up."""
        return (self.sightings, *self.secret_sightings.values())

    def lattices(self, threads: int, expected: int) -> dict[str | None, Lattice | PeopleLattice]:
        """The lattices that measure subsets: of people, and of each sensitive attribute."""
        of_secrets = self.secret_sightings.items()
        return {
            None: PeopleLattice(self.sightings),
            **{s: PeopleLattice(cube, secret_column(s)) for s, cube in of_secrets},
        }

    def _change(self, change: Callable[[Cube], Cube]) -> PeopleCombinations:
        secrets = {s: change(cube) for s, cube in self.secret_sightings.items()}
        return self.from_sightings(self.quasi, change(self.sightings), secrets)

    def merge_values(self, codes: Mapping[str, Ints]) -> CombinationCounts:
        """The counts after values are merged; a person who was seen with both counts once."""
        return self._change(lambda cube: recode(cube, codes))

    def drop_value(self, column: str, code: int) -> CombinationCounts:
        """The counts without the rows that have one value."""
        return self._change(lambda cube: _drop(cube, column, code))


def recode(cube: Cube, codes: Mapping[str, Ints], gone: Bools | None = None) -> Cube:
    """The cells with other codes in some columns, without cells that are `gone`; not merged."""
    if gone is not None and gone.any():
        cube = cube.select_cells(np.flatnonzero(~gone))
    columns = [
        codes[name].astype(np.uint32)[own] if name in codes else own
        for name, own in zip(cube.columns, cube.codes, strict=True)
    ]
    return replace(cube, codes=tuple(columns))


def _drop(cube: Cube, column: str, code: int) -> Cube:
    return cube.select_cells(cube.codes[cube.columns.index(column)] != code)


def _count_people(sightings: Cube) -> Cube:
    """Count the people of each combination of columns; rows without a person count themselves."""
    distinct = sightings.roll_up(sightings.columns)
    once = np.where(distinct.codes[-1] == 0, distinct.counts, 1)
    return replace(distinct, counts=once).roll_up(sightings.columns[:-1])


def count_combinations(
    questions: Questions, quasi: Sequence[str], secrets: Sequence[str]
) -> CombinationCounts:
    """Count the combinations, with one pass over the records for each sensitive attribute."""
    quasi = tuple(quasi)
    if questions.person is not None:
        sightings = count_sightings(questions.sighting_cube, quasi, secrets)
        return PeopleCombinations.from_sightings(quasi, *sightings)
    cubes = {s: _with_secret(questions.cube, quasi, s) for s in secrets}
    finest = next(iter(cubes.values()), None)
    return CombinationCounts(
        quasi, questions.cube(quasi) if finest is None else finest.roll_up(quasi), cubes
    )


def count_sightings(
    ask: Callable[[Sequence[str]], Cube], quasi: Sequence[str], secrets: Sequence[str]
) -> tuple[Cube, dict[str, Cube]]:
    """The combinations with the person as the last column, alone and with each secret."""
    quasi = tuple(quasi)
    return ask(quasi), {s: _with_secret(ask, quasi, s) for s in secrets}


def secret_column(column: str) -> str:
    """The name of a secret's column in a cube, as it may be a quasi-identifier as well."""
    return f"{column}\0"


def _with_secret(ask: Callable[[Sequence[str]], Cube], quasi: tuple[str, ...], secret: str) -> Cube:
    """The combinations with a secret, which may be a quasi-identifier; the person is last."""
    cube = ask(quasi if secret in quasi else (*quasi, secret))
    person = cube.columns[len({*quasi, secret}) :]
    with_secret = cube.select_columns((*quasi, secret, *person))
    return replace(with_secret, columns=(*quasi, secret_column(secret), *person))
