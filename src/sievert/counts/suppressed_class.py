"""The suppressed records as a class of their own: its size, and its secrets beside all secrets.

Suppressed records are left out of every measure. But their secrets remain in the file, and somebody
who knows that a person is in the table, but finds no matching group, knows that the person is one
of them.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from sievert.arrays import Bools, Ints
from sievert.counts.answers import Gaps, JointCounts, Named, Profiles, Ranked, SecretCounts, Sizes
from sievert.counts.cells import PEOPLE, CellTables, count_people
from sievert.counts.cube import histogram
from sievert.counts.secret_counts import level_labels, order_values
from sievert.hierarchies import Hierarchy


@dataclass(frozen=True)
class ClassSize:
    """The people of the suppressed class, and all people of the file; rows if rows are counted."""

    members: int
    everybody: int


@dataclass(frozen=True, kw_only=True)
class SuppressedValues:
    """The values of one secret: the suppressed records with each, and all records with each.

    The texts are in the order of their type, as far as it has one. Where people are counted,
    `own` and `whole` are people, and somebody with two values counts for both.
    """

    texts: tuple[str | None, ...]
    own: Ints
    whole: Ints
    people: ClassSize | None = None
    known_people: ClassSize | None = None  # the people with at least one value that is not missing

    @property
    def known(self) -> Bools:
        """Whether each value is not missing."""
        return np.array([text is not None for text in self.texts], dtype=bool)

    def secret_counts(
        self,
        secret: str,
        *,
        order: Sequence[str] | None = None,
        hierarchy: Hierarchy | None = None,
        named: str | None = None,
        ordered: bool = False,
    ) -> SecretCounts:
        """The counts behind the measures of one class; the base rate is that of all records.

        With `ordered` the values are ranked by `order`, or by the order of their type. `named` is
        the named value of (alpha,k)-anonymity.
        """
        records = int(self.whole.sum())
        missing = int(self.whole[~self.known].sum())
        here = self.own > 0
        counts: dict[str, Any] = {}
        if 0 < missing < records and (here & self.known).any():
            counts |= self._count_known()
        if ordered and not missing:
            counts["ranked"] = self._rank(secret, order)
        if hierarchy is not None:
            counts["hierarchy_gaps"] = self._hierarchy_gaps(secret, hierarchy)
        if named is not None:
            counts["named"] = self._count_named(named)
        if self.people is not None:
            counts["people"] = self.people.everybody
            counts["confidence"] = self._joint(here, self.people.members)
        size = int(self.own.sum())
        return SecretCounts(
            records=records,
            sizes=Sizes.from_arrays([size], [1]),
            values=histogram(self.whole[self.whole > 0]),
            profiles=self._profiles(here, self.people),
            joint=self._joint(here, size),
            gaps=Gaps.from_arrays([size], [_gap(self.own, self.whole)]),
            missing=missing,
            **counts,
        )

    def _profiles(self, which: Bools, people: ClassSize | None) -> Profiles:
        downwards = np.sort(self.own[which])[::-1]
        return Profiles.from_arrays([downwards], [1], None if people is None else [people.members])

    def _joint(self, which: Bools, size: int) -> JointCounts:
        own = self.own[which]
        sizes = np.full_like(own, size)
        times = np.ones_like(own)
        return JointCounts.from_arrays(sizes, self.whole[which], own, times)

    def _count_known(self) -> dict[str, Any]:
        """The counts without the records whose secret is missing."""
        which = (self.own > 0) & self.known
        people = self.known_people
        size = int(self.own[which].sum()) if people is None else people.members
        return {
            "known_profiles": self._profiles(which, people),
            "known_joint": self._joint(which, size),
            "known_people": None if people is None else people.everybody,
        }

    def _rank(self, secret: str, order: Sequence[str] | None) -> Ranked:
        present = [text for text in self.texts if text is not None]
        values = present if order is None else order_values(secret, order, present)
        rank_of = {text: rank for rank, text in enumerate(values)}
        ranks = np.array([rank_of[text] for text in present], dtype=np.int64)
        by_rank = np.argsort(ranks)
        own = self.own[self.known][by_rank]
        whole = self.whole[self.known][by_rank]
        places = np.flatnonzero(own)
        return Ranked(
            ranks=places, counts=own[places], starts=np.zeros(1, dtype=np.int64), totals=whole
        )

    def _hierarchy_gaps(self, secret: str, hierarchy: Hierarchy) -> Gaps:
        """Gaps added up over the levels below the root; a missing value is a branch of its own."""
        present = [text for text in self.texts if text is not None]
        labels, levels = level_labels(secret, hierarchy, present)
        nodes = np.array([labels[text] for text in self.texts], dtype=np.int64)
        gap = 0
        for level in range(levels):
            own = np.bincount(nodes[:, level], self.own).astype(np.int64)
            whole = np.bincount(nodes[:, level], self.whole).astype(np.int64)
            gap += _gap(own, whole)
        return Gaps.from_arrays([int(self.own.sum())], [gap], levels)

    def _count_named(self, value: str) -> Named:
        place = self.texts.index(value) if value in self.texts else -1
        own = int(self.own[place]) if place >= 0 else 0
        members = int(self.own.sum()) if self.people is None else self.people.members
        if self.known_people is None:
            known = int(self.own[self.known].sum())
        else:
            known = self.known_people.members
        return Named((members,), (max(1, known),), (own,), elsewhere=place >= 0)


def _gap(own: Ints, whole: Ints) -> int:
    """The sum over values of max(0, n_qs·N - n_s·n_q), in whole numbers of any size."""
    size = int(own.sum())
    records = int(whole.sum())
    pairs = zip(own.tolist(), whole.tolist(), strict=True)
    return sum(max(0, n * records - total * size) for n, total in pairs if n)


class SuppressedRecords(Protocol):
    """The suppressed records of a table, wherever they are counted."""

    def size(self) -> ClassSize: ...
    def values(self, secret: str) -> SuppressedValues: ...


@dataclass(frozen=True, kw_only=True)
class MarkedRecords:
    """The suppressed records of a table on an engine, in a view beside that of all records."""

    tables: CellTables
    marked: str
    whole: str
    size_of_marked: int
    size_of_whole: int
    person: str | None = None

    def of_people(self, person: str) -> "MarkedRecords":
        """The same records, counted in people."""
        return replace(self, person=person)

    def size(self) -> ClassSize:
        """Count the members of the class, and everybody."""
        if self.person is None:
            return ClassSize(self.size_of_marked, self.size_of_whole)
        own, whole = self._count_both({"p": self.person})
        size = ClassSize(self._people(own), self._people(whole))
        self.tables.drop_tables(own, whole)
        return size

    def values(self, secret: str) -> SuppressedValues:
        """Count the suppressed records with each value of a secret, and all records with it."""
        if self.person is None:
            tables = self._count_both({"s": secret})
            texts, own, whole = self._join(*tables)
            values = SuppressedValues(texts=texts, own=own, whole=whole)
            self.tables.drop_tables(*tables)
            return values
        sightings = self._count_both({"s": secret, "p": self.person})
        holders = [self.tables.keep_table(count_people("s", table)) for table in sightings]
        everybody = (self._people(table) for table in sightings)
        known = (self._people(table, "s IS NOT NULL") for table in sightings)
        texts, own, whole = self._join(*holders)
        values = SuppressedValues(
            texts=texts,
            own=own,
            whole=whole,
            people=ClassSize(*everybody),
            known_people=ClassSize(*known),
        )
        self.tables.drop_tables(*sightings, *holders)
        return values

    def alone(self, columns: Sequence[str]) -> ClassSize:
        """Count the members, and everybody, who share their values of some columns with nobody."""
        names = {f"c{i}": column for i, column in enumerate(columns)}
        fields = ", ".join(names)
        if self.person is None:
            tables = self._count_both(names)
        else:
            sightings = self._count_both({**names, "p": self.person})
            own = self.tables.keep_table(count_people(fields, sightings[0]))
            whole = self.tables.keep_table(count_people(fields, sightings[1]))
            self.tables.drop_tables(*sightings)
            tables = (own, whole)
        own, whole = tables
        same = " AND ".join(f"a.{c} IS NOT DISTINCT FROM b.{c}" for c in names)
        ((members, everybody),) = self.tables.engine.rows(
            f"SELECT COUNT(a.n), COUNT(*) FROM {whole} AS b LEFT JOIN {own} AS a ON {same} "
            "WHERE b.n = 1"
        )
        self.tables.drop_tables(*tables)
        return ClassSize(int(members), int(everybody))

    def _count_both(self, columns: dict[str, str]) -> tuple[str, str]:
        """Count the combinations of some columns among suppressed and among all records."""
        names = {alias: self.tables.sql_name(column) for alias, column in columns.items()}
        fields = ", ".join(f"{c} AS {alias}" for alias, c in names.items())
        groups = ", ".join(names.values())
        counted = []
        for view, records in ((self.marked, self.size_of_marked), (self.whole, self.size_of_whole)):
            number = self.tables.record_count
            sql = f"SELECT {fields}, {number} AS n FROM {view} GROUP BY {groups}"
            counted.append(self.tables.keep_records(sql, records))
        return counted[0], counted[1]

    def _join(self, own: str, whole: str) -> tuple[tuple[str | None, ...], Ints, Ints]:
        """The text of each value, the suppressed records with it, and all records with it."""
        text = self.tables.engine.as_text("b.s")
        rows = self.tables.engine.rows(
            f"SELECT {text} AS v, COALESCE(a.n, 0) AS own, b.n AS n FROM {whole} AS b "
            f"LEFT JOIN {own} AS a ON a.s IS NOT DISTINCT FROM b.s ORDER BY b.s"
        )
        texts, numbers, totals = zip(*rows, strict=True)
        own_counts = np.array([int(n) for n in numbers], dtype=np.int64)
        return texts, own_counts, np.array([int(n) for n in totals], dtype=np.int64)

    def _people(self, table: str, where: str = "1 = 1") -> int:
        people = f"SELECT p, SUM(n) AS n FROM {table} WHERE {where} GROUP BY p"
        ((number,),) = self.tables.engine.rows(f"SELECT SUM({PEOPLE}) FROM ({people}) AS d")
        return int(number or 0)
