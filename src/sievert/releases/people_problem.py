"""People with several rows: a class is released if it has enough different people.

Rows are recoded and suppressed, people are counted. A class with fewer people than k, or than the l
of a secret, is suppressed with all its rows. Every other limit is checked on the whole release,
counted in people as `assess --person` counts it.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from sievert.arrays import Bools, Ints
from sievert.counts.cube import Cube
from sievert.counts.people import PeopleQuestions
from sievert.counts.questions import Questions
from sievert.counts.recoded import recoded_people
from sievert.counts.suppressed_cells import CellsBeside, SuppressedCells
from sievert.errors import ExhaustedError, InvariantError, require
from sievert.hierarchies import Hierarchy
from sievert.measurement.combinations import CombinationCounts, count_sightings, recode
from sievert.measurement.table_measures import MeasureSettings
from sievert.methods.full_domain import Rule, SecretCells
from sievert.numerics.machine import physical_memory
from sievert.policy import Policy
from sievert.releases.floor import SearchFloor
from sievert.releases.problem import (
    ProtectionProblem,
    SearchSettings,
)
from sievert.roles import Roles
from sievert.sources import unpack

CELL = 16  # bytes that a value of a record takes
RECORD = 100  # bytes that a record takes
PERSON = 100  # bytes that a person takes
SHARE = 0.6  # the share of the machine's memory that is used, unless --memory says otherwise
COUNTED = ("distinct", "distinct_known")  # the rules for a class that do not depend on people


class PeopleProblem(ProtectionProblem):
    """The combinations of rows, with the people who were seen in each."""

    def __init__(
        self,
        questions: Questions,
        roles: Roles,
        combinations: CombinationCounts,
        measuring: MeasureSettings,
        hierarchies: Mapping[str, Hierarchy | None],
        settings: SearchSettings,
        floor: SearchFloor | None = None,
    ) -> None:
        super().__init__(questions, roles, combinations, measuring, hierarchies, settings, floor)
        person = questions.person
        if person is None:
            raise InvariantError("rows have no person")
        self.sightings, self.secret_sightings = count_sightings(
            lambda columns: questions.rows.cube((*columns, person)),
            roles.quasi,
            roles.sensitive,
        )

    def _rules(self, policy: Policy) -> tuple[int, list[SecretCells]]:
        """The rule on people as a first secret, and the secrets with rules that count values."""
        k, secrets = super()._rules(policy)
        counted = []
        for secret in secrets:
            rules = tuple(r for r in secret.rules if r.kind in COUNTED)
            k = max([k, *(math.ceil(r.limit) for r in rules)])  # nobody stands for two values
            counted.append(replace(secret, rules=rules))
        return 1, [self._people(k), *counted]

    def _sizes_fit(self, policy: Policy) -> None:
        """Return None, because the sizes of classes count rows."""

    def _people(self, k: int) -> SecretCells:
        """Treat the people of every combination as a secret that needs `k` values in a class.

        A row without a person is a person of its own.
        """
        seen = self.sightings
        person = seen.codes[-1].astype(np.int64)
        rows = seen.counts
        owner = seen.owner
        named = person > 0
        times = np.where(person > 0, 1, rows)
        everybody = np.repeat(person, times)
        alone = np.flatnonzero(everybody == 0)
        everybody[alone] = len(seen.values[-1]) + np.arange(len(alone))
        return SecretCells(
            name=None,
            combination=np.repeat(owner, times),
            value=everybody,
            counts=np.repeat(np.where(named, rows, 1), times),
            values=len(seen.values[-1]) + len(alone),
            rules=(Rule("distinct", k),),
        )

    def _ask_release(
        self, codes: Mapping[str, Ints], gone: Bools, quasi: Sequence[str]
    ) -> Questions:
        def released(cube: Cube, owner: Ints) -> Cube:
            return self._only(recode(cube, codes, gone[owner]), quasi)

        return recoded_people(
            self.questions,
            released(self.sightings, self.sightings.owner),
            {s: released(cube, self._owner(cube)) for s, cube in self.secret_sightings.items()},
        )

    def _suppressed_cells(self, gone: Bools) -> SuppressedCells:
        def split(cube: Cube, owner: Ints) -> CellsBeside:
            return CellsBeside.split(cube, gone[owner])

        return SuppressedCells(
            split(self.sightings, self.sightings.owner),
            {s: split(cube, self._owner(cube)) for s, cube in self.secret_sightings.items()},
            sightings=True,
        )

    def _owner(self, cube: Cube) -> Ints:
        """The combination of each sighting in `cube`, in which a secret precedes the person."""
        return cube.select_columns(cube.columns[:-1]).owner


def check_memory(people: PeopleQuestions, roles: Roles, memory: str | None) -> None:
    """Refuse a table before the work if the people of all combinations do not fit into memory.

    Every record is kept once for the classes and once for each secret, and people by their names.
    The bytes were measured and rounded up.
    """
    cells = (len(roles.quasi) + 2) * (1 + len(roles.sensitive))
    for_records = people.rows.records * (CELL * cells + RECORD)
    for_people = (people.people or 0) * PERSON
    needed = for_records + for_people
    room = unpack.size(memory, "--memory") if memory else int(SHARE * physical_memory())
    require(
        needed <= room,
        f"people with several rows are searched in memory: about {needed / 2**30:.1f} GB, more "
        f"than the {room / 2**30:.1f} GB that there are",
        hint="a larger --memory, fewer quasi-identifiers or secrets, or one record a person",
        error=ExhaustedError,
    )
