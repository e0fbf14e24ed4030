"""Records of a small table, fetched once as codes: NumPy answers questions about them.

Every answer has the integers that the engine's SQL would give. For a few thousand records, one
SQL statement takes longer than all the work here.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from sievert.arrays import Ints
from sievert.counts.answers import PeopleCounts, SecretCounts, Sizes
from sievert.counts.cells import CellTables
from sievert.counts.coded_cells import ClassCells, check_unicode
from sievert.counts.cube import Cube, histogram, rank_texts
from sievert.counts.memory_cells import MemoryCells, PeopleCounter
from sievert.counts.row_runs import ColumnRuns, count_column_runs
from sievert.counts.secret_counts import level_labels, order_values, part_labels
from sievert.counts.sightings import SecretSightings, count_secret, count_seen, once_each
from sievert.counts.wildcards import count_matches

# Equal values have equal texts, different ones different texts.
PLAIN = re.compile(
    r"VARCHAR|BOOLEAN|ENUM\(.*|U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?|DECIMAL.*|DOUBLE|FLOAT|DATE|"
    r"TIMESTAMP(_S|_MS|_NS)?",
    re.DOTALL,
)


class CodedTable(MemoryCells):
    """The records of a small table; there is no answer if a column cannot be coded."""

    def __init__(self, tables: CellTables, types: Mapping[str, str]) -> None:
        self.tables = tables
        self._types = {column: kind for column, kind in types.items() if PLAIN.fullmatch(kind)}
        self._coded: dict[str, tuple[Ints, tuple[str | None, ...]]] = {}
        self._counted: dict[tuple[tuple[str, ...], str], ClassCells] = {}

    def people_counter(self, person: str) -> PeopleCounter:
        """Make the counter of the people of these records."""
        return CodedPeople(self, person)

    def code(self, columns: Iterable[str]) -> bool:
        """Fetch columns that were not fetched before; return False if one cannot be coded."""
        columns = dict.fromkeys(columns)
        if not all(c in self._types for c in columns):
            return False
        new = [c for c in columns if c not in self._coded]
        if new:
            engine = self.tables.engine
            source = self.tables.source
            texts = ", ".join(engine.as_text(self.tables.sql_name(c)) for c in new)
            rows = engine.query_records(f"SELECT {texts} FROM {source}")
            for column, values in zip(new, zip(*rows, strict=True), strict=True):
                present = list(dict.fromkeys(values))
                place = {text: i for i, text in enumerate(present)}
                self._coded[column] = rank_texts([place[v] for v in values], present)
        return True

    def _records(self, columns: Sequence[str]) -> Cube:
        """One cell per record; the columns have been fetched."""
        codes, values = zip(*(self._coded[c] for c in columns), strict=True)
        return Cube(
            columns=tuple(columns),
            codes=codes,
            counts=np.ones(len(codes[0]), dtype=np.int64),
            values=values,
        )

    def _class_cells(self, quasi: tuple[str, ...], secret: str) -> ClassCells:
        if (quasi, secret) not in self._counted:
            cube = self._records((*quasi, secret)).roll_up((*quasi, secret))
            values = cube.codes[-1].astype(np.int64)
            sizes = cube.classes[1]
            self._counted[quasi, secret] = ClassCells(
                owner=cube.owner,
                values=values,
                counts=cube.counts,
                sizes=sizes,
                totals=cube.totals(-1),
            )
        return self._counted[quasi, secret]

    # -- records and columns --------------------------------------------------------------------

    def forget(self) -> None:
        """Forget what was counted and fetched."""
        self._coded.clear()
        self._counted.clear()

    def count_marked(
        self, quasi: Sequence[str], secret: str | None, *, cells: bool
    ) -> tuple[int, int] | None:
        """Count the records with the mark of suppression in every quasi-identifier, and in any."""
        if not self.code(quasi):
            return None
        every, some = self.tables.suppression.in_codes(self._records(quasi), quasi)
        return int(np.count_nonzero(every)), int(np.count_nonzero(some))

    def missing(self, quasi: Sequence[str]) -> dict[str, int] | None:
        """Count the records that lack each quasi-identifier."""
        if not self.code(quasi):
            return None
        return {q: int(np.count_nonzero(self._coded[q][0] == 0)) for q in quasi}

    def tally(self, column: str, quasi: tuple[str, ...]) -> dict[str | None, int] | None:
        """Count the records with each text; if values are no texts, only missing and empty ones."""
        if not self.code((column,)):
            return None
        codes, texts = self._coded[column]
        counts = dict(zip(texts, np.bincount(codes, minlength=len(texts)).tolist(), strict=True))
        whole = self.tables.engine.kind(column) == "text"
        return {text: n for text, n in counts.items() if n and (whole or not text)}

    def values(self, column: str, quasi: tuple[str, ...]) -> list[str] | None:
        """The different values of a secret as text, without missing; they stay in this process."""
        if not self.code((column,)):
            return None
        return [text for text in self._coded[column][1] if text is not None]

    def like_the_header(self, quasi: Sequence[str], secrets: Sequence[str]) -> int | None:
        """Count the records whose values are the names of their columns, as in joined files."""
        if not self.code((*quasi, *secrets)):
            return None
        same = {}
        for column in (*quasi, *secrets):
            codes, texts = self._coded[column]
            same[column] = codes == texts.index(column) if column in texts else np.zeros(1, bool)
        keys = np.all(np.broadcast_arrays(*(same[q] for q in quasi)), axis=0)
        counts = [np.count_nonzero(keys & same[s]) for s in secrets]
        return int(min(counts, default=np.count_nonzero(keys)))

    def distinct(self, columns: Iterable[str]) -> dict[str, int] | None:
        """Count the different values of each column; missing is one."""
        columns = list(columns)
        if not self.code(columns):
            return None
        coded = {c: self._coded[c] for c in columns}
        return {c: len(texts) - int(not np.any(codes == 0)) for c, (codes, texts) in coded.items()}

    def tallies(self, columns: Mapping[str, int]) -> dict[str, dict[str | None, int]] | None:
        """Count the records with each text of some columns, in the order of texts."""
        if not self.code(columns):
            return None
        return {c: self._roll_up((c,)).tally() for c in columns}

    # -- classes and secrets --------------------------------------------------------------------

    def sizes(self, quasi: tuple[str, ...]) -> Sizes | None:
        """The histogram of class sizes."""
        if not self.code(quasi):
            return None
        sizes = self._roll_up(quasi).sizes()
        sizes.check(self.tables.records)
        return sizes

    def matches(self, quasi: tuple[str, ...], sizes: Sizes) -> tuple[int, Sizes | None] | None:
        """Count the records that lack a key, and the records that match each other as wildcards."""
        return count_matches(self._roll_up(quasi)) if self.code(quasi) else None

    def secret_counts(
        self, quasi: tuple[str, ...], secret: str, needs: frozenset[str], **rare: Any
    ) -> SecretCounts | None:
        """Count what `needs` names about one secret."""
        if not self.code((*quasi, secret)):
            return None
        records = self.tables.records
        cells = self._class_cells(quasi, secret)
        texts = self._coded[secret][1]
        missing = int(cells.totals[0])
        present = [text for text in texts if text is not None]
        hierarchy = rare.get("hierarchy")
        partition = rare.get("partition")
        named = rare.get("named")
        counts: dict[str, Any] = {"missing": missing}
        if "known" in needs and 0 < missing < records:
            counts["known_profiles"] = cells.known().profiles()
        if "known_joint" in needs and 0 < missing < records:
            counts["known_joint"] = cells.known().joint
        if "order" in needs and not missing:
            counts["ranked"] = cells.rank(self.rank(secret, rare.get("order")))
        if "hierarchy" in needs and hierarchy is not None:
            labels, levels = level_labels(secret, hierarchy, present)
            counts["hierarchy_gaps"] = cells.merge([labels[text] for text in texts]).gaps(levels)
        if "parts" in needs and partition is not None:
            parts = part_labels(secret, partition, present)
            merged = cells.merge([parts[text] for text in texts])
            counts["parts"] = self._count(merged, frozenset({"joint"}), {})
        if "named" in needs and named is not None:
            check_unicode(named)
            counts["named"] = cells.count_named(texts.index(named) if named in texts else -1)
        return self._count(cells, needs, counts)

    def _count(
        self, cells: ClassCells, needs: frozenset[str], counts: Mapping[str, Any]
    ) -> SecretCounts:
        sizes = histogram(cells.sizes)
        values = histogram(cells.totals[cells.totals > 0])
        sizes.check(self.tables.records)
        values.check(self.tables.records)
        return SecretCounts(
            records=self.tables.records,
            sizes=sizes,
            values=values,
            profiles=cells.profiles(),
            joint=cells.joint if "joint" in needs else None,
            gaps=cells.gaps() if "gaps" in needs else None,
            **counts,
        )

    def rank(self, secret: str, order: Sequence[str] | None) -> Ints:
        """The rank of each code of a secret, in the order given or that of its type."""
        texts = self._coded[secret][1]
        present = [text for text in texts if text is not None]
        if order is None:
            ordered = self._type_order(secret, present)
        else:
            ordered = order_values(secret, order, present)
        place: dict[str | None, int] = {text: rank for rank, text in enumerate(ordered)}
        return np.array([place.get(text, -1) for text in texts], dtype=np.int64)

    def _type_order(self, secret: str, present: list[str]) -> list[str]:
        """The values of a secret in the order of its type."""
        if self._types[secret] == "VARCHAR":
            return present
        c = self.tables.sql_name(secret)
        source = self.tables.source
        rows = self.tables.engine.query_records(
            f"SELECT {self.tables.engine.as_text(c)} FROM {source} GROUP BY {c} ORDER BY {c}"
        )
        return [text for (text,) in rows]

    # -- combinations as codes ------------------------------------------------------------------

    def cube(self, columns: Sequence[str]) -> Cube | None:
        """The combinations of some columns' values; the texts stay in this process."""
        return self._roll_up(columns) if self.code(columns) else None

    def _roll_up(self, columns: Sequence[str]) -> Cube:
        """The combinations of columns that have been fetched."""
        return self._records(columns).roll_up(columns)

    def records_in_order(self, columns: Sequence[str]) -> Cube | None:
        """One cell per record, in the order of the input, whether records were left out or not."""
        if self.tables.source != "input" or not self.code(columns):
            return None
        return self._records(columns)

    def count_runs(self, columns: Sequence[str]) -> dict[str, ColumnRuns]:
        """The runs of each column in the order of the input; no records are left out."""
        records = self.records_in_order(columns)
        if records is None:
            return {}
        return {c: count_column_runs(own) for c, own in zip(columns, records.codes, strict=True)}


class CodedPeople(PeopleCounter):
    """The people of a small table; there is no answer if a column cannot be coded."""

    def __init__(self, records: CodedTable, person: str) -> None:
        self._records = records
        self._person = person
        self._seen: dict[tuple[str, ...], tuple[Sizes, PeopleCounts]] = {}

    def _sightings(self, columns: tuple[str, ...]) -> Cube | None:
        """The combinations of some columns and, last, the person; rows without one are counted."""
        cube = self._records.cube((*columns, self._person))
        return None if cube is None else once_each(cube)

    @property
    def people(self) -> int | None:
        """The number of people."""
        return self._everybody

    @cached_property
    def _everybody(self) -> int | None:
        sightings = self._sightings(())
        return None if sightings is None else sightings.records

    def _count(self, quasi: tuple[str, ...]) -> tuple[Sizes, PeopleCounts] | None:
        if quasi not in self._seen:
            sightings = self._sightings(quasi)
            if sightings is None:
                return None
            self._seen[quasi] = count_seen(sightings)
        return self._seen[quasi]

    def sizes(self, quasi: tuple[str, ...]) -> Sizes | None:
        """The histogram of class sizes, in people."""
        counted = self._count(quasi)
        return None if counted is None else counted[0]

    def count_sightings(self, quasi: tuple[str, ...]) -> PeopleCounts | None:
        """Count the classes in which people were seen, and the people of these classes."""
        counted = self._count(quasi)
        return None if counted is None else counted[1]

    def count_lacking(self, quasi: tuple[str, ...]) -> int | None:
        """Count the rows that lack a quasi-identifier."""
        classes = self._records.cube(quasi)
        return None if classes is None else int(classes.counts[classes.lacking].sum())

    def certain_people(self, quasi: Sequence[str], secret: str) -> tuple[int, int] | None:
        """Count the people in classes where all have one value, and all people."""
        sightings = self._sightings((*quasi, secret))
        return None if sightings is None else SecretSightings(sightings).certain()

    def secret_counts(
        self, quasi: tuple[str, ...], secret: str, needs: frozenset[str], **rare: Any
    ) -> SecretCounts | None:
        """Count what `needs` names about one secret."""
        sightings = self._sightings((*quasi, secret))
        if sightings is None:
            return None
        named = rare.get("named")
        if named is not None and "named" in needs:
            check_unicode(named)
        everybody = self._everybody
        assert everybody is not None  # the person was coded
        seen = SecretSightings(sightings)
        return count_secret(seen, secret, needs, everybody, self._records.rank, **rare)
