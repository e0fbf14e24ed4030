"""The plan of an explanation: the work before it starts, without what would be too much.

The unit of work is a sorted cell: one combination of values with a secret, once for every 64 bits
of the columns that are compared. The plan depends only on the table and the options, so the same
table has the same plan on every machine.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sievert.attacks.suda import ALL_SIZES, MOST_SETS, number_of_sets
from sievert.counts.cube import MOST_BITS, Cube
from sievert.errors import ExhaustedError, require
from sievert.formatting import plural
from sievert.formatting.remarks import Figure, Joined, Remark, figure
from sievert.measurement.combinations import CombinationCounts, PeopleCombinations
from sievert.measurement.subset_chapters import LEAST_ORDERS, SubsetSettings, default_orders
from sievert.measurement.subsets import largest_size

CELLS_PER_SECOND = 5 * 10**6  # cells that a slow machine sorts in a second
MOST_CELLS = 5 * 10**9  # cells that are sorted if there is no --timeout
MOST_CHANGES = 20  # rare values and lookalikes without which the table is measured
DEFAULT_SIZE = 3  # of minimal uniques, if there are too many columns to search all sizes
SPLITS = 16  # classes that a set of columns splits in the time in which one cell is sorted
PEOPLE = 4  # times the work, if cells are sightings of people


@dataclass(frozen=True, kw_only=True)
class ExplanationPlan:
    """The sizes of the table, and the limits on what is measured of it.

    `size` and `budget` limit the subsets, and `orders` the orders of columns for shares.
    `suda_size` is the largest size of minimal uniques (0: none are searched). `coarser` is the
    number of ways to coarsen columns. `given` names the choices of the caller, which stay.
    """

    columns: int
    classes: int
    cells: int
    words: int  # of 64 bits, for all columns
    ranked: int  # columns that are ranked as secrets
    size: int
    budget: int | None
    orders: int
    suda_size: int
    coarser: int
    given: frozenset[str] = frozenset()

    def subset_settings(self, settings: SubsetSettings) -> SubsetSettings:
        """Put the limits of this plan into the settings of the caller."""
        size = self.size if self.budget is None else None
        return SubsetSettings(
            max_size=size,
            budget=self.budget,
            orders=self.orders,
            seed=settings.seed,
            threads=settings.threads,
        )

    @property
    def complete(self) -> bool:
        """Tell whether all subsets are measured."""
        return self.size == self.columns and self.budget is None

    @property
    def parts(self) -> dict[str, int]:
        """The sorted cells of each step."""
        whole = self.cells * self.words
        few = self.budget or number_of_sets(self.columns, self.size)
        return {
            "subsets": few * self.cells + (self.columns + 1) * whole,
            "orders": 0 if self.complete else self.orders * self.columns * whole,
            "coarser": self.coarser * whole,
            "values": MOST_CHANGES * whole,
            "suda": number_of_sets(self.columns, self.suda_size) * self.classes // SPLITS,
            "ranking": self.ranked * whole,
        }

    @property
    def work(self) -> int:
        """The sorted cells of all steps."""
        return sum(self.parts.values())

    def smaller(self) -> ExplanationPlan | None:
        """Make the next smaller plan; None if nothing more can be left out."""
        if not self.complete and "orders" not in self.given and self.orders > LEAST_ORDERS:
            return replace(self, orders=max(LEAST_ORDERS, self.orders // 2))
        if self.budget is None and "max-size" not in self.given and self.size > 1:
            return replace(self, size=self.size - 1)
        if self.suda_size and "max-size" not in self.given:
            return replace(self, suda_size=self.suda_size - 1)
        if self.coarser:
            return replace(self, coarser=self.coarser // 2)
        return None

    def fit(self, most: int) -> ExplanationPlan:
        """Make the plan smaller until its work is at most `most`, or until it is the smallest."""
        plan = self
        while plan.work > most:
            smaller = plan.smaller()
            if smaller is None:
                break
            plan = smaller
        return plan

    def describe(self, full: ExplanationPlan) -> list[Remark]:
        """List the differences from the full plan."""
        changes: list[Remark] = []
        if self.orders < full.orders:
            what = Remark("orders", number=Figure(self.orders))
            changes.append(_instead(what, Figure(full.orders)))
        if self.size < full.size:
            what = Remark("subsets", columns=plural(self.size, "column"))
            changes.append(_instead(what, Figure(full.size)))
        if 0 < self.suda_size < full.suda_size:
            what = Remark("minimal_uniques", columns=plural(self.suda_size, "column"))
            changes.append(_instead(what, Figure(full.suda_size)))
        if not self.suda_size and full.suda_size > 0:
            changes.append(Remark("no_minimal_uniques"))
        if self.coarser < full.coarser:
            what = Remark("coarsenings", ways=plural(self.coarser, "way"))
            changes.append(_instead(what, figure(full.coarser)))
        return changes

    def to_dict(self, full: ExplanationPlan, most: int) -> dict[str, Any]:
        """Make the chapter of the JSON."""
        return {
            "unit": "sorted cells",
            "work": self.parts,
            "all": full.parts,
            "most": most,
            "reduced": self.describe(full),
        }


def _instead(what: Remark, number: Figure) -> Remark:
    """Say what is measured instead of the `number` of the full plan."""
    return Remark("instead", what=what, number=number)


def largest_minimal_unique(columns: int, max_size: int | None) -> int:
    """The largest size of minimal uniques that are searched, unless the work is too much."""
    if columns <= ALL_SIZES:
        if max_size is None or max_size >= columns - 1:
            return columns
        return max_size
    return min(max_size or DEFAULT_SIZE, largest_size(columns, MOST_SETS))


def plan_explanation(
    combinations: CombinationCounts, settings: SubsetSettings, coarser: int, ranked: int
) -> ExplanationPlan:
    """Plan the whole explanation, as the options ask for it."""
    n = len(combinations.quasi)
    classes = combinations.classes
    choices = {
        "max-size": settings.max_size,
        "orders": settings.orders,
        "budget": settings.budget,
    }
    people = isinstance(combinations, PeopleCombinations)
    cubes: Sequence[Cube] = [classes]
    if people:
        cubes = combinations.cubes
    elif combinations.secrets:
        cubes = list(combinations.secrets.values())
    return ExplanationPlan(
        columns=n,
        classes=len(classes.counts),
        cells=sum(len(cube.counts) for cube in cubes) * (PEOPLE if people else 1),
        words=max(1, -(-classes.bits // MOST_BITS)),
        ranked=ranked,
        size=min(n, settings.max_size or largest_size(n)),
        budget=settings.budget,
        orders=settings.orders or default_orders(n),
        suda_size=0 if people else largest_minimal_unique(n, settings.max_size),
        coarser=coarser,
        given=frozenset(name for name, choice in choices.items() if choice is not None),
    )


def reduce_plan(
    full: ExplanationPlan, timeout: float | None
) -> tuple[ExplanationPlan, Mapping[str, Any] | None, list[Remark]]:
    """Reduce a plan to the time there is; return it with its chapter and a remark.

    It is an error if even the smallest plan takes too long.
    """
    most = MOST_CELLS if timeout is None else int(timeout * CELLS_PER_SECOND)
    plan = full.fit(most)
    needed = -(-plan.work // CELLS_PER_SECOND)
    ease = [f"a smaller --{name}" for name in sorted(plan.given)]
    require(
        timeout is None or plan.work <= most,
        f"explaining {plural(plan.columns, 'quasi-identifier')} of "
        f"{plural(plan.classes, 'combination')} takes at least {plan.work:,} sorted cells, "
        f"and --timeout {timeout or 0:g} is for {most:,}",
        hint=", ".join([f"--timeout {needed}", *ease, "fewer -q"]),
        error=ExhaustedError,
    )
    if plan == full:
        return full, None, []
    remark = Remark(
        "reduced" if timeout is None else "reduced_timeout",
        work=figure(full.work),
        most=figure(most),
        what=Joined(plan.describe(full)),
    )
    return plan, plan.to_dict(full, most), [remark]
