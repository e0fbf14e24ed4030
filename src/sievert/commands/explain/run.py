"""One explanation in the making: asks what is needed, and fills the chapters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sievert.commands._common import MOST_LISTED, Clock
from sievert.commands.explain import (
    coarsening,
    population,
    ranking,
    riskiest_records,
    shapley,
    values,
)
from sievert.commands.explain.population import PopulationSettings
from sievert.commands.explain.subsets import (
    ALL_SUBSETS,
    Counted,
    Subset,
    Subsets,
    knowledge,
    largest_size,
    undefined,
)
from sievert.counts import row_numbers
from sievert.counts.weights import class_weights
from sievert.errors import SievertError, UsageError, unknown
from sievert.formatting import plural
from sievert.measures import BY_ID
from sievert.measures.measure import NOTHING_TO_LEARN
from sievert.notes import Count, Name, Note
from sievert.population import population_size
from sievert.roles import Roles
from sievert.session import open_source

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sievert.counts.questions import Questions

ORDERS = 64  # orders of columns from which Shapley values are sampled
MOST_SAMPLED = 4096  # subsets that are measured for it, unless more orders are asked for
LARGE = 20_000  # records from which plain columns are counted from packed keys
IDENTIFYING = 0.95  # of the records: a column with so many values tells everything by itself
THREADS = 2
UNITS = {"unique_count": ("records", "high")}


class Run:
    """One explanation in the making."""

    def __init__(
        self,
        questions: Questions,
        roles: Roles,
        clock: Clock,
        show: bool,
        seed: int,
        threads: int | None,
    ) -> None:
        self.questions, self.roles, self.clock = questions, roles, clock
        self.show, self.seed, self.threads = show, seed, threads or THREADS
        self.warnings: list[Note] = []
        self.chapters: dict[str, Any] = {}
        self.listed: tuple[Subset, ...] = ()
        self.fraction: float | None = None
        self.risks: dict[str, NDArray[np.float64]] = {}
        self.scores: riskiest_records.Scores | None = None

    def columns(self, name: str | None, what: str) -> list[str]:
        """A column with another role than the three, if it was named."""
        if name is None:
            return []
        if name not in self.questions.columns:
            raise unknown(f"{what}: column", name, self.questions.columns)
        return [name]

    # -- columns --------------------------------------------------------------------------------

    def count(self) -> None:
        """Count the combinations, once for each secret."""
        self.clock("counting combinations", self.questions)
        quasi, secrets = self.roles.quasi, self.roles.sensitive
        self.counted = Counted.of(self.questions, quasi, secrets)
        lacking = _lacking(self.counted)
        if lacking:
            self.warnings.append(
                Note("{} without a quasi-identifier; missing is a value of its own", Count(lacking))
            )
        for secret, cube in self.counted.secrets.items():
            lacking = int(cube.counts[cube.codes[-1] == 0].sum())
            if lacking:
                self.warnings.append(
                    Note(
                        "{} without {}; missing is a value of its own", Count(lacking), Name(secret)
                    )
                )

    def measure(self, max_size: int | None, budget: int | None, orders: int | None) -> None:
        """Measure subsets; what each number of columns gives away; each column's share."""
        self.clock("measuring subsets", None)
        quasi = self.roles.quasi
        n = len(quasi)
        everything = n <= ALL_SUBSETS and max_size is None and budget is None
        size = largest_size(n) if max_size is None else min(max_size, n)
        self.subsets = subsets = Subsets(self.counted, self.threads)
        if everything or (budget is None and size == n):
            subsets.all()
            way = "all"
        elif budget is not None:
            subsets.best_first(budget)
            way = "best first"
        else:
            subsets.up_to(size)
            way = f"up to {plural(size, 'column')}"
        subsets.some([quasi, *([c for c in quasi if c != left] for left in quasi)])
        complete = len(subsets.found) == 1 << n
        few = max(8, min(ORDERS, MOST_SAMPLED // n))
        drawn = self._share(complete, few if orders is None else orders)
        self.chapters["knowledge"] = knowledge(subsets, drawn)
        self.listed = tuple(subsets.listed)
        self.chapters["subsets"] = {
            "measured": len(self.listed),
            "of": (1 << n) - 1,
            "way": way,
            "complete": complete,
            "nothing_known": subsets.found[()].to_dict(),
            "undefined": undefined(subsets.found[()]),
            "measures": _units(subsets.whole),
        }
        held = self.counted.classes
        self.chapters["columns"] = {
            column: {
                "values": len(np.unique(held.codes[at])),
                "without": subsets.one(c for c in quasi if c != column).to_dict(),
            }
            for at, column in enumerate(quasi)
        }

    def _share(self, complete: bool, orders: int) -> dict[int, list[tuple[str, ...]]] | None:
        """Shapley values of what all columns give away."""
        subsets, quasi = self.subsets, self.roles.quasi
        names: list[tuple[str, str | None, str]]
        names = [
            ("reidentification", None, m)
            for m in ("discrimination_rate", "mutual_information", "unique_count")
        ]
        names += [
            ("inference", s, m)
            for s in self.roles.sensitive
            for m in ("discrimination_rate", "mutual_information")
        ]

        def value(places: Sequence[int]) -> list[float]:
            subset = subsets.one(quasi[p] for p in places)
            return [float(self._numbers(subset, s)[m] or 0.0) for _, s, m in names]

        n = len(quasi)
        drawn: dict[int, list[tuple[str, ...]]] | None = None
        error: NDArray[np.float64] | None = None
        if complete:
            every = np.array([value([p for p in range(n) if m >> p & 1]) for m in range(1 << n)])
            parts = np.array([shapley.exact(column) for column in every.T])
        else:
            self.clock("sampling orders of columns", None)
            sample = shapley.sampled(value, n, orders, self.seed)
            parts, error, orders = sample.values, sample.error, sample.orders
            drawn = {}
            for prefix in sample.prefixes:
                drawn.setdefault(len(prefix), []).append(tuple(quasi[p] for p in prefix))
        whole, nothing = value(range(n)), value(())
        chapter: dict[str, Any] = {"exact": complete, "reidentification": {}, "inference": {}}
        if not complete:
            chapter |= {"orders": orders, "seed": self.seed, "level": shapley.LEVEL}
        for i, (risk, secret, name) in enumerate(names):
            place = chapter[risk] if secret is None else chapter[risk].setdefault(secret, {})
            if self._numbers(subsets.whole, secret)[name] is None:
                place[name] = {"whole": None, "reason": NOTHING_TO_LEARN, "columns": {}}
                continue
            place[name] = shapley.to_dict(
                quasi, parts[i], whole[i] - nothing[i], None if error is None else error[i]
            ) | {"reason": None}
        self.chapters["shapley"] = chapter
        return drawn

    @staticmethod
    def _numbers(subset: Subset, secret: str | None) -> Mapping[str, Any]:
        return subset.reidentification if secret is None else subset.inference[secret]

    def coarsen(self, given: dict[str, Any]) -> None:
        """What coarser columns would do, one at a time and together."""
        self.clock("measuring coarser columns", None)
        for column in given:
            if column not in self.questions.columns:
                raise unknown("hierarchy: column", column, self.questions.columns)
            if column not in self.roles.quasi:
                self.warnings.append(
                    Note(
                        "the hierarchy of {} is not used: it is not a quasi-identifier here",
                        Name(column),
                    )
                )
        rungs = coarsening.rungs(self.counted, given)
        for column in self.roles.quasi:
            found = [coarsening.measured(self.counted, [r]) for r in rungs.get(column, ())]
            self.chapters["columns"][column]["coarser"] = [c.to_dict() for c in found]
        together = [held[(len(held) - 1) // 2] for held in rungs.values()]
        if len(together) > 1:
            found_ = coarsening.measured(self.counted, together)
            self.chapters["coarser_together"] = found_.to_dict()

    def rank(self) -> None:
        """Every column as the target, given the others."""
        self.clock("ranking columns", self.questions)
        known = list(self.roles.quasi)
        columns = [c for c in self.questions.columns if c not in self.roles.identifier]
        if len(columns) > MOST_LISTED:
            self.warnings.append(
                Note(
                    f"only the first {MOST_LISTED} of {{}} are ranked",
                    Count(len(columns), "column"),
                )
            )
            columns = list(dict.fromkeys([*known, *columns]))[:MOST_LISTED]
        columns = [c for c in columns if self._usable(c)]
        if not known:
            known = self._telling(columns)
        if len(columns) < 2 or not known:
            self.chapters["ranking"] = []
            return
        cube = self.counted.classes if self.roles.quasi else self.questions.cube(known)
        self.chapters["ranking"] = ranking.ranked(self.questions, columns, known, cube)

    def _usable(self, column: str) -> bool:
        try:
            self.questions.engine.check_usable(column)
        except SievertError:
            self.warnings.append(
                Note("{} is not ranked: its values cannot be compared", Name(column))
            )
            return False
        return True

    def _telling(self, columns: Sequence[str]) -> list[str]:
        """Columns without those that have nearly one value for each record."""
        records = self.questions.records
        distinct = self.questions.distinct(columns)
        every = [c for c in columns if records <= 20 or distinct[c] <= IDENTIFYING * records]
        for column in columns:
            if column not in every:
                self.warnings.append(
                    Note(
                        "{} has nearly one value for each record: not counted as known",
                        Name(column),
                    )
                )
        return every

    # -- values and records ---------------------------------------------------------------------

    def look_at_values(self) -> None:
        """Values that carry risk, and values that look like errors."""
        self.clock("looking at values", None)
        held = values.tallies(self.counted)
        whole = self.subsets.whole
        self.chapters["values"] = {
            "columns": values.riskiest(held, self.show),
            "rare": values.suspects(self.counted, held, whole, self.show),
            "lookalikes": values.lookalikes(self.counted, held, whole, self.show),
        }

    def search(self, max_size: int | None) -> None:
        """Minimal sample uniques, scores, and the records they point at."""
        self.clock("searching minimal uniques", None)
        found = riskiest_records.searched(self.counted.classes, max_size)
        if found is None:
            self.warnings.append(Note("too many quasi-identifiers to search minimal uniques"))
        else:
            self.scores = riskiest_records.Scores.of(found, self.fraction)
            self.chapters["suda"] = self.scores.to_dict(self.counted.classes, self.show)
        self.clock("pointing at records", self.questions)
        self.chapters["records"] = riskiest_records.riskiest(
            self.questions, self.counted.classes, self.scores
        )

    def write(self, path: Path, kind: str) -> None:
        """One row a record."""
        marks = riskiest_records.marks(self.counted.classes, self.scores, self.risks)
        row_numbers.write_row_marks(self.questions, self.counted.classes, marks, path, kind)

    # -- population -----------------------------------------------------------------------------

    def population(self, asked: PopulationSettings, source: Mapping[str, Any]) -> None:
        """The chapter of the population: what was told of it decides what is in it."""
        self.clock("estimating the population", self.questions)
        sizes, records = self.counted.sizes, self.counted.records
        chapter: dict[str, Any] = {"sample": records, **population.of_sample_alone(sizes)}
        size = None
        if asked.size is not None or asked.fraction is not None:
            size = population_size(records, size=asked.size, fraction=asked.fraction)
        if asked.table is not None:
            size = self._known(asked.table, source, chapter)
        if size is not None:
            self.fraction = records / size
            chapter |= {"size": size, "fraction": self.fraction}
            chapter |= population.of_sample(sizes, size)
        if asked.weight is not None:
            self._weigh(asked.weight, chapter)
        if asked.household is not None:
            self._gather(asked.household, chapter)
        chapter["totals"] = {
            s: population.dominated(self.counted.secrets[s])
            for s in self.roles.sensitive
            if self.questions.engine.kind(s) in ("float", "ordered")
            and population.numeric(self.counted.secrets[s].values[-1])
        }
        self.chapters["population"] = chapter

    def _known(self, table: Any, source: Mapping[str, Any], chapter: dict[str, Any]) -> int:
        quasi = self.roles.quasi
        options = {k: v for k, v in source.items() if k not in ("engine", "master", "timeout")}
        options["types"] = {c: t for c, t in (source.get("types") or {}).items() if c in quasi}
        with open_source(table, large=LARGE, **options) as (_, questions):
            for column in quasi:
                if column not in questions.columns:
                    raise unknown("population: column", column, questions.columns)
                questions.engine.check_usable(column)
            cube = questions.cube(quasi)
        pairs = population.known(self.counted.classes, cube)
        chapter |= population.of_known(pairs, cube.records)
        return cube.records

    def _weigh(self, column: str, chapter: dict[str, Any]) -> None:
        found, risks = population.of_weights(
            class_weights(self.questions, self.roles.quasi, column)
        )
        chapter |= found
        self.risks["individual_risk"] = risks

    def _gather(self, column: str, chapter: dict[str, Any]) -> None:
        if column in self.roles.quasi:
            raise UsageError(f"column {column!r} is a quasi-identifier and cannot be the household")
        cells = self.questions.cube((*self.roles.quasi, column))
        risks = self.risks.get("individual_risk")
        if risks is None:
            risks = 1.0 / self.counted.classes.counts
        found, notes = population.of_households(cells, risks)
        chapter |= found
        self.warnings += notes


def _lacking(counted: Counted) -> int:
    """Records that lack some quasi-identifier."""
    held = counted.classes
    lacks = np.zeros(len(held.counts), dtype=bool)
    for codes in held.codes:
        lacks |= codes == 0
    return int(held.counts[lacks].sum())


def _units(whole: Subset) -> dict[str, dict[str, str]]:
    """The unit of every number of a subset, and which way is risky."""
    names = {*whole.reidentification}.union(*whole.inference.values())
    return {
        name: {"unit": unit, "riskier": riskier}
        for name in sorted(names)
        for unit, riskier in [UNITS.get(name) or (BY_ID[name].unit, BY_ID[name].riskier)]
    }
