"""People with several rows: classes and cells are counted in distinct people.

The engine reduces the records to sightings: the distinct combinations of some columns and the
person. People do not add up, because a person in two classes counts in both. So every set of
columns has sightings of its own. A row without a person counts as a person of its own.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from sievert.counts.answers import (
    JointCounts,
    Named,
    NumberCells,
    PeopleCounts,
    Profiles,
    RecordCounts,
    SecretCounts,
    Sizes,
)
from sievert.counts.cells import PEOPLE, count_people
from sievert.counts.cube import Cube
from sievert.counts.questions import Questions
from sievert.counts.secret_counts import SecretCounter
from sievert.counts.sightings import once_each


class PeopleQuestions(Questions):
    """Questions about people; `rows` answers those about rows.

    The counter of the rows' cells in memory answers what it can, and the engine everything else.
    """

    person: str

    def __init__(self, rows: Questions, person: str) -> None:
        super().__init__(rows.engine, rows.records, rows.notes)
        self._rows = rows
        self.person = person
        self.sql_name(person)  # an error where a state does not have it
        self.counter = rows.memory.people_counter(person)
        self._number = rows._number
        self._input = rows._input
        self._sightings: dict[tuple[tuple[str, ...], str | None], str] = {}
        self._cell_totals: dict[str, int] = {}
        self._holders: dict[str, str] = {}

    @property
    def rows(self) -> Questions:
        """The questions about the rows of the same table."""
        return self._rows

    # -- questions that the rows answer ---------------------------------------------------------

    def missing(self, quasi: Sequence[str]) -> dict[str, int]:
        """Count the rows that lack each quasi-identifier, where any row does."""
        return self.rows.missing(quasi)

    def tally(self, column: str, quasi: Sequence[str]) -> dict[str | None, int]:
        """Count the rows with each text; only missing and empty of other or too many values."""
        return self.rows.tally(column, quasi)

    def values(self, column: str, quasi: Sequence[str]) -> list[str]:
        """The different values of a secret as text, without missing; they stay in this process."""
        return self.rows.values(column, quasi)

    def coded_missing(self, columns: Sequence[str], quasi: Sequence[str]) -> dict[str, int | None]:
        """Count the values of each column that are missing only because of a code for missing."""
        return self.rows.coded_missing(columns, quasi)

    def count_nan(self, columns: Sequence[str]) -> dict[str, int]:
        """Count the values of each column that are missing because they are NaN, if any are."""
        return self.rows.count_nan(columns)

    def like_the_header(self, quasi: Sequence[str], secrets: Sequence[str]) -> int:
        """Count the rows whose values are the names of their columns, as in joined files."""
        return self.rows.like_the_header(quasi, secrets)

    def distinct(self, columns: Iterable[str]) -> dict[str, int]:
        """Count the different values of each column; missing is one."""
        return self.rows.distinct(columns)

    # -- people ---------------------------------------------------------------------------------

    @cached_property
    def unnamed(self) -> int:
        """The number of rows without a person; each counts as a person of its own."""
        counted = self.counter.unnamed
        return self.missing([self.person]).get(self.person, 0) if counted is None else counted

    @cached_property
    def unnamed_everywhere(self) -> int:
        """The number of rows without a person, including suppressed rows that are left out."""
        suppressed = self.rows.only_suppressed()
        if suppressed is None:
            return self.unnamed
        return self.unnamed + suppressed.missing([self.person]).get(self.person, 0)

    @property
    def people(self) -> int:
        """The number of people."""
        return self._people

    @cached_property
    def _people(self) -> int:
        counted = self.counter.people
        if counted is not None:
            return counted
        people = self.distinct([self.person])[self.person]
        if self.unnamed:
            people -= 1  # missing is one of the values
        return people + self.unnamed

    def repeat(self, quasi: Sequence[str]) -> bool:
        """Whether anybody has several rows; people will be counted by the columns `quasi`."""
        if quasi:
            self.counter.plan(quasi)
        return self.people < self.records

    def only_suppressed(self) -> "PeopleQuestions | None":
        """Ask about the people of the suppressed records; None where none are left out."""
        marked = super().only_suppressed()
        return None if marked is None else PeopleQuestions(marked, self.person)

    # -- combinations as codes ------------------------------------------------------------------

    def sighting_cube(self, columns: Sequence[str]) -> Cube:
        """The combinations of some columns and, last, the person; rows without one are counted."""
        return once_each(self.rows.cube((*columns, self.person)))

    def cube(self, columns: Sequence[str]) -> Cube:
        """The combinations of some columns' values, and the number of people with each."""
        return self.sighting_cube(columns).roll_up(columns)

    def number_cells(self, quasi: Sequence[str], secret: str) -> NumberCells:
        """The cells of a numeric secret, in people; its texts stay in this process."""
        answer = self.counter.number_cells(quasi, secret)
        return super().number_cells(quasi, secret) if answer is None else answer

    # -- sightings ------------------------------------------------------------------------------

    def distinct_people(self, fields: str, table: str, where: str = "1 = 1") -> str:
        """The query for each person `p` once with some fields; `n` is the number of rows."""
        return (
            f"SELECT {fields}, p, CAST(SUM(n) AS BIGINT) AS n FROM {table} WHERE {where} "
            f"GROUP BY {fields}, p"
        )

    def sightings(self, quasi: tuple[str, ...], secret: str | None) -> str:
        """The table of distinct (keys, s, p) with n rows each: the question that reads records."""
        if (quasi, secret) not in self._sightings:
            sql = self._ask_cells(quasi, secret, self.person)
            self._sightings[quasi, secret] = self.keep_table(sql, of_records=True)
        return self._sightings[quasi, secret]

    def count_cells(self, quasi: tuple[str, ...], secret: str | None) -> str:
        """The table of cells (keys, s, n), n the number of people."""
        if (quasi, secret) not in self._cells:
            keys = self.sql_names(quasi) + ("" if secret is None else ", s")
            self._cells[quasi, secret] = self.keep_table(
                count_people(keys, self.sightings(quasi, secret))
            )
        return self._cells[quasi, secret]

    def _find_cells(self, quasi: tuple[str, ...]) -> str | None:
        return None  # people do not add up

    def total(self, cells: str) -> int:
        """The number of people in some cells, each counted as often as they were seen."""
        if cells not in self._cell_totals:
            self._cell_totals[cells] = self.count_where(cells, "1 = 1")
        return self._cell_totals[cells]

    def drop_cells(self, cells: str) -> None:
        """Drop cells that were made from other cells, and their totals."""
        super().drop_cells(cells)
        self._cell_totals.pop(cells, None)

    def value_holders(self, cells: str) -> str:
        """The table of the values of a secret and the number of people who have each."""
        if cells not in self._holders:
            (key,) = (key for key, table in self._cells.items() if table == cells)
            people = self.distinct_people("s", self.sightings(*key))
            self._holders[cells] = self.keep_table(count_people("s", f"({people}) AS d", "ns"))
        return self._holders[cells]

    def same_class(self, quasi: tuple[str, ...], a: str, b: str) -> str:
        """The condition that two rows are of one class."""
        names = (self.sql_name(q) for q in quasi)
        return " AND ".join(f"{a}.{c} IS NOT DISTINCT FROM {b}.{c}" for c in names)

    # -- answers --------------------------------------------------------------------------------

    def sizes(self, quasi: Sequence[str]) -> Sizes:
        """The histogram of class sizes, in people."""
        quasi = tuple(quasi)
        sizes = None if quasi in self._sizes else self.counter.sizes(quasi)
        if sizes is not None:
            self._sizes[quasi] = sizes
        return super().sizes(quasi)

    def record_counts(self, quasi: Sequence[str], *, wildcard: bool) -> RecordCounts:
        """The counts behind every measure of re-identification; no reading of missing keys."""
        quasi = tuple(quasi)
        sizes = self.sizes(quasi)
        pairs = sizes.records
        missing = self._lacking(quasi) if self.missing(quasi) else 0
        if pairs == self.people:  # nobody was seen in two classes
            return RecordCounts(records=self.people, sizes=sizes, missing=missing)
        people = self._people_counts(quasi)
        people.check(pairs)
        return RecordCounts(records=pairs, sizes=sizes, missing=missing, people=people)

    def _lacking(self, quasi: tuple[str, ...]) -> int:
        """Count the rows that lack a quasi-identifier."""
        lacking = self.counter.count_lacking(quasi)
        if lacking is not None:
            return lacking
        return self._count_records(self._any_missing(quasi))

    def _people_counts(self, quasi: tuple[str, ...]) -> PeopleCounts:
        counted = self.counter.count_sightings(quasi)
        if counted is not None:
            return counted
        sightings = self.sightings(quasi, None)
        classes = self.count_cells(quasi, None)
        seen = self.keep_table(
            f"SELECT a.p AS p, q.n AS size, a.n AS n FROM {sightings} AS a JOIN {classes} AS q "
            f"ON {self.same_class(quasi, 'a', 'q')}"
        )
        people = self.keep_table(
            f"SELECT p, COUNT(*) AS m, MIN(size) AS least FROM {seen} WHERE p IS NOT NULL "
            "GROUP BY p"
        )
        alone = f"CAST(SUM(n) AS BIGINT) AS t FROM {seen} WHERE p IS NULL GROUP BY size"
        sizes, times = self.engine.arrays(
            f"SELECT w, CAST(SUM(t) AS BIGINT) AS t FROM (SELECT least AS w, COUNT(*) AS t "
            f"FROM {people} GROUP BY least UNION ALL SELECT size AS w, {alone}) AS d GROUP BY w"
        )
        kinds = self.engine.arrays(
            "SELECT m, size, CAST(SUM(t) AS BIGINT) AS t FROM (SELECT b.m AS m, a.size AS size, "
            f"COUNT(*) AS t FROM {seen} AS a JOIN {people} AS b ON a.p = b.p GROUP BY b.m, a.size "
            f"UNION ALL SELECT 1 AS m, size, {alone}) AS d GROUP BY m, size ORDER BY m, size"
        )
        self.drop_tables(seen, people)
        m, size, t = (np.asarray(column, dtype=np.int64) for column in kinds)
        return PeopleCounts(
            people=self.people,
            smallest=Sizes.from_arrays(sizes, times),
            classes=m,
            sizes=size,
            times=t,
        )

    def certain_people(self, quasi: Sequence[str], secret: str) -> tuple[int, int]:
        """Count the people in classes where all have one value, and all people."""
        answer = self.counter.certain_people(quasi, secret)
        if answer is not None:
            return answer
        quasi = tuple(quasi)
        cells = self.count_cells(quasi, secret)
        classes = self.count_cells(quasi, None)
        certain = self.keep_table(
            f"SELECT DISTINCT {self.sql_names(quasi, 'a.')} FROM {cells} AS a JOIN {classes} AS q "
            f"ON {self.same_class(quasi, 'a', 'q')} WHERE a.n = q.n"
        )
        rows = (
            f"FROM {self.sightings(quasi, None)} AS a JOIN {certain} AS c "
            f"ON {self.same_class(quasi, 'a', 'c')}"
        )
        each = f"SELECT a.p AS p {rows} WHERE a.p IS NOT NULL GROUP BY a.p"
        ((named,),) = self.engine.rows(f"SELECT COUNT(*) FROM ({each}) AS d")
        ((alone,),) = self.engine.rows(f"SELECT SUM(a.n) {rows} WHERE a.p IS NULL")
        self.drop_tables(certain)
        return int(named) + int(alone or 0), self.people

    def secret_counts(
        self, quasi: Sequence[str], secret: str, needs: frozenset[str], **rare: Any
    ) -> SecretCounts:
        """Count what `needs` names about one secret."""
        counts = self.counter.secret_counts(tuple(quasi), secret, needs, **rare)
        if counts is not None:
            return counts
        return PeopleSecretCounter(self, tuple(quasi), secret).count(needs, **rare)


class PeopleSecretCounter(SecretCounter):
    """Counts one secret in people: a person with two values counts for both."""

    def __init__(self, people: PeopleQuestions, quasi: tuple[str, ...], secret: str) -> None:
        super().__init__(people, quasi, secret)
        self.people = people
        self.classes = people.count_cells(quasi, None)
        self.sightings = people.sightings(quasi, secret)
        same = people.same_class(quasi, "a", "q")
        self.beside = ("MAX(q.n) AS people, ", f"JOIN {self.classes} AS q ON {same} ")

    def _count_cells(self, cells: str, needs: frozenset[str]) -> dict[str, Any]:
        counts = super()._count_cells(cells, needs)
        counts["people"] = self.people.people
        if cells == self.cells and "joint" in needs:
            counts["confidence"] = self._confidence(self.classes)
        return counts

    def _confidence(self, classes: str, where: str = "1 = 1") -> JointCounts:
        """Cells by the people of their class, the people with the value, and those who are both."""
        return JointCounts.from_arrays(
            *self.engine.arrays(
                f"SELECT q.n AS nq, b.ns AS ns, a.n AS n, COUNT(*) AS m FROM {self.cells} AS a "
                f"JOIN {classes} AS q ON {self.people.same_class(self.quasi, 'a', 'q')} "
                f"JOIN {self.people.value_holders(self.cells)} AS b "
                f"ON a.s IS NOT DISTINCT FROM b.s WHERE {where} GROUP BY q.n, b.ns, a.n"
            )
        )

    def _known_joint(self) -> dict[str, Any]:
        known = self._known_classes()
        joint = self._confidence(known, "a.s IS NOT NULL")
        self.tables.drop_tables(known)
        ((number,),) = self.engine.rows(
            f"SELECT SUM({PEOPLE}) FROM (SELECT p, SUM(n) AS n FROM {self.sightings} "
            "WHERE s IS NOT NULL GROUP BY p) AS d"
        )
        return {"known_joint": joint, "known_people": int(number)}

    def _ask_profiles(self, profile: str, table: str) -> str:
        return (
            "SELECT profile, COUNT(*) AS m, people FROM "
            f"(SELECT {profile} AS profile, people FROM {table}) AS d "
            "GROUP BY profile, people ORDER BY profile, people"
        )

    def _known_classes(self) -> str:
        """The table of classes and the number of their people with a known value."""
        people = self.people.distinct_people(self.keys, self.sightings, "s IS NOT NULL")
        return self.tables.keep_table(count_people(self.keys, f"({people}) AS d"))

    def _known_profiles(self) -> Profiles:
        known = self._known_classes()
        classes = self.tables.keep_table(
            f"SELECT {self.engine.list_downwards('a.n')} AS profile, MAX(q.n) AS people "
            f"FROM {self.cells} AS a JOIN {known} AS q "
            f"ON {self.people.same_class(self.quasi, 'a', 'q')} "
            f"WHERE a.s IS NOT NULL GROUP BY {self.tables.sql_names(self.quasi, 'a.')}"
        )
        profiles = self._profiles("profile", classes)
        self.tables.drop_tables(known, classes)
        return profiles

    def _merge_parts(self, labels: Mapping[str | None, list[int]]) -> str:
        """Count people once for each part, however many of its values they have."""
        pairs = [(v, number) for v, (number,) in labels.items()]
        loaded = self.tables.load_table(
            {"v": ("text", [v for v, _ in pairs]), "part": ("int", [n for _, n in pairs])}
        )
        keys = self.tables.sql_names(self.quasi, "a.")
        text = self.engine.as_text("a.s")
        parts = (
            f"(SELECT {keys}, b.part AS s, a.p AS p, a.n AS n FROM {self.sightings} AS a "
            f"JOIN {loaded} AS b ON {text} IS NOT DISTINCT FROM b.v) AS d"
        )
        fields = f"{self.keys}, s"
        people = self.people.distinct_people(fields, parts)
        merged = self.tables.keep_table(count_people(fields, f"({people}) AS e"))
        self.tables.drop_tables(loaded)
        return merged

    def _count_named(self, value: str) -> Named:
        known = self._known_classes()
        same = self.people.same_class
        rows = self.engine.rows(
            "SELECT nq, known, held FROM (SELECT MAX(q.n) AS nq, MAX(COALESCE(k.n, 0)) AS known, "
            f"CAST(SUM(CASE WHEN {self.engine.as_text('a.s')} = ? THEN a.n ELSE 0 END) AS BIGINT) "
            f"AS held FROM {self.cells} AS a "
            f"JOIN {self.classes} AS q ON {same(self.quasi, 'a', 'q')} "
            f"LEFT JOIN {known} AS k ON {same(self.quasi, 'a', 'k')} "
            f"GROUP BY {self.tables.sql_names(self.quasi, 'a.')}) AS d "
            "GROUP BY nq, known, held ORDER BY nq, known, held",
            [value],
        )
        self.tables.drop_tables(known)
        sizes = ((int(n), max(1, int(of)), int(count)) for n, of, count in rows)
        return Named(*zip(*sizes, strict=True))
