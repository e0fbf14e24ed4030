"""The integer questions about one table, and the one SQL text that asks them.

Only plain nested GROUP BY and COUNT(*) or SUM of counts: no DISTINCT aggregates, no floats. What
engines spell differently, which is mostly lists, is in the `Adapter` of each engine.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np

from sievert.arrays import Ints
from sievert.counts.adapter import Adapter, LoadedColumns
from sievert.counts.answers import NumberCells, RecordCounts, SecretCounts, Sizes
from sievert.counts.cells import CellTables, match_masks, quote_identifier
from sievert.counts.cube import Cube, rank_texts
from sievert.counts.memory_cells import MemoryCells, SourceNotes
from sievert.counts.recoded_records import RecodedRecords
from sievert.counts.row_runs import ColumnRuns
from sievert.counts.secret_counts import SecretCounter
from sievert.counts.suppressed_class import MarkedRecords
from sievert.counts.suppression import ANY, EVERY
from sievert.counts.wildcards import MOST_KEYS, can_match, count_matches
from sievert.errors import InvariantError
from sievert.hierarchies import Hierarchy
from sievert.sources.state_manifest import Spread

MOST_TALLIED = 10**5  # different values of a column that are looked at one by one
MOST_CLASSES = 10**6  # up to which every text of a column is counted
FEW_CLASSES = 10**6  # classes up to which this process matches them; SQL matches more
# A number as a text, as files may have it and engines can match it.
NUMBER = "[ ]*[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?[ ]*"
WHOLE = "[ ]*[+]?[0-9]+([.]0*)?[ ]*"
NEGATIVE = "[ ]*-[0-9.]*[1-9][0-9.]*([eE][+-]?[0-9]+)?[ ]*"
TOGETHER = 12  # columns in one query: with more of them, DuckDB takes longer and longer to plan it


class Questions(CellTables):
    """Integer questions about the rows of one table; cells are counted once for each secret.

    `memory` answers what it can, and the engine everything else.
    """

    person: str | None = None  # the column of the person, where people are counted

    def __init__(
        self, engine: Adapter, records: int | None = None, notes: SourceNotes | None = None
    ) -> None:
        super().__init__(engine, records)
        self.memory = MemoryCells()
        self.notes = SourceNotes() if notes is None else notes
        self._sizes: dict[tuple[str, ...], Sizes] = {}
        self._tallies: dict[tuple[tuple[str, ...], str], dict[str | None, int]] = {}

    def fork(self) -> Self:
        """The same table once more, before anything is counted and any record is left out."""
        other = super().fork()
        other.memory = self.memory.fork(other)
        return other

    @property
    def rows(self) -> "Questions":
        """The questions about the rows of the same table."""
        return self

    @property
    def people(self) -> int | None:
        """The number of people; None where rows are counted."""
        return self.memory.people

    def repeat(self, quasi: Sequence[str]) -> bool:
        """Whether somebody has several rows; only where people are counted."""
        return False

    def sighting_cube(self, columns: Sequence[str]) -> Cube:
        """The combinations of some columns and, last, the person; only where people are counted."""
        raise InvariantError("rows have no person")

    @property
    def left_out(self) -> Mapping[str, Spread]:
        """What a state knows about columns that it leaves out."""
        return self.notes.left_out

    def sql_name(self, column: str) -> str:
        """The name of a column in SQL; raise an error if it has no cells."""
        self.notes.check(column)
        return super().sql_name(column)

    def plan_counts(self, quasi: Iterable[str], secrets: Iterable[str]) -> None:
        """Say which secrets will be counted in which classes, before any is counted."""
        self.memory.plan_counts(tuple(quasi), tuple(secrets))

    def progress(self) -> float:
        """The per cent of the running count that are done, or -1."""
        share = self.memory.progress()
        return share if share >= 0 else self.engine.progress()

    def interrupt(self) -> None:
        """Stop counting; the caller of the running question gets an error."""
        self.memory.interrupt()
        self.engine.interrupt()

    def has_values_of(self, column: str) -> bool:
        """Whether the values of a column are there: a state has those of counted columns only."""
        return column in self.columns and self.notes.has_values(column)

    def _count_missing(self, columns: Sequence[str], table: str) -> list[int]:
        """Count the records that lack each column."""
        return self._count_each([f"{self.sql_name(c)} IS NULL" for c in columns], table)

    def _count_each(self, conditions: Sequence[str], table: str) -> list[int]:
        """Count the records that satisfy each condition."""
        one = self.engine.weight or 1
        sums = ", ".join(f"SUM(CASE WHEN {c} THEN {one} ELSE 0 END)" for c in conditions)
        (counts,) = self.engine.query_records(f"SELECT {sums} FROM {table}")
        return [int(n or 0) for n in counts]

    def _any_missing(self, quasi: Sequence[str]) -> str:
        """The condition of records that lack a quasi-identifier."""
        return " OR ".join(f"{self.sql_name(q)} IS NULL" for q in quasi)

    def missing(self, quasi: Sequence[str]) -> dict[str, int]:
        """Count the records that lack each quasi-identifier, where any record does."""
        counts = self.notes.missing(quasi) if self.complete else {}
        others = [q for q in quasi if q not in counts]
        if others:
            answer = self.memory.missing(others)
            if answer is None:
                answers = self._count_missing(others, self._input)
                answer = dict(zip(others, answers, strict=True))
            counts |= answer
        return {q: counts[q] for q in quasi if counts.get(q)}

    def distinct(self, columns: Iterable[str]) -> dict[str, int]:
        """Count the different values of each column; missing is one."""
        columns = list(columns)
        counts = self.notes.distinct(columns) if self.complete else {}
        others = [c for c in columns if c not in counts]
        answer = self.memory.distinct(others)
        counts |= super().distinct(others) if answer is None else answer
        return {c: counts[c] for c in columns}

    def values(self, column: str, quasi: Sequence[str]) -> list[str]:
        """The different values of a secret as text, without missing; they stay in this process."""
        values = self.memory.values(column, tuple(quasi))
        return super().values(column, quasi) if values is None else values

    def drop_missing(self, quasi: Sequence[str]) -> int:
        """Leave out the records that lack a quasi-identifier from now on; return their number."""
        return self._leave_out(self._any_missing(quasi))

    def _leave_out(self, condition: str) -> int:
        """Exclude records that satisfy `condition` from all later questions; return how many."""
        self.forget_counts()
        view = f"kept{next(self._number)}"
        self.engine.view(view, f"SELECT * FROM {self._input} WHERE NOT ({condition})")
        self._input = view
        before = self.records
        self.records = self._count_records()
        return before - self.records

    def forget_counts(self) -> None:
        """Forget what was counted, and drop its tables."""
        self.memory.forget()
        self.drop_tables(*self._totals.values(), *self._cells.values())
        for counted in (self._totals, self._cells, self._sizes, self._tallies, self.in_people):
            counted.clear()

    # -- suppressed records ---------------------------------------------------------------------

    def count_marked(
        self, quasi: Sequence[str], secret: str | None, *, cells: bool
    ) -> tuple[int, int]:
        """Count the records with the mark of suppression in every quasi-identifier, and in any.

        With `cells`, cells are read that are counted anyway, with a secret or none; otherwise the
        records.
        """
        answer = self.memory.count_marked(quasi, secret, cells=cells)
        if answer is not None:
            return answer
        able = self.able_to_hold_mark(quasi)
        if not able:
            return 0, 0
        table = self.count_cells(tuple(quasi), secret) if cells else self._input
        names = [self.sql_name(q) for q in able]

        def count(joined: str) -> int:
            if not cells:
                condition = self.suppression.in_records(self.engine, names, joined)
                return self._count_records(condition)
            return self.count_where(
                table, *self.suppression.in_cells(self.engine.as_text, names, joined)
            )

        in_any = count(ANY)
        in_every = 0
        if in_any and len(able) == len(quasi):
            in_every = count(EVERY)
        return in_every, in_any

    def marks(self, columns: Sequence[str]) -> dict[str, int]:
        """Count the records with the mark of suppression in each column, where any has it."""
        able = [c for c in self.able_to_hold_mark(columns) if self.engine.kind(c) != "other"]
        if not able:
            return {}
        counts = self._count_each([self._marked([c]) for c in able], self._input)
        return {c: n for c, n in zip(able, counts, strict=True) if n}

    def count_suppressed_values(self, quasi: Sequence[str], secrets: Sequence[str]) -> list[int]:
        """Count the values of each secret among records with the mark in every quasi-identifier."""
        counts = []
        for c in map(self.sql_name, secrets):
            own = f"{self._marked(quasi)} AND {c} IS NOT NULL"
            values = f"SELECT {c} FROM {self._input} WHERE {own} GROUP BY {c}"
            ((number,),) = self.engine.query_records(f"SELECT COUNT(*) FROM ({values}) AS d")
            counts.append(int(number))
        return counts

    def drop_suppressed(self, quasi: Sequence[str]) -> None:
        """Leave out the records that have the mark in every quasi-identifier from now on.

        They can still be asked about as a class of their own.
        """
        whole = self._input
        records = self.records
        condition = self._marked(quasi)
        marked = f"marked{next(self._number)}"
        self.engine.view(marked, f"SELECT * FROM {whole} WHERE {condition}")
        number = self._leave_out(condition)
        self.suppressed = MarkedRecords(
            tables=self, marked=marked, whole=whole, size_of_marked=number, size_of_whole=records
        )
        self.memory.leave_out_suppressed(quasi, number)

    def only_suppressed(self) -> "Questions | None":
        """Ask about the suppressed records alone; None where none are left out."""
        if self.suppressed is None:
            return None
        return self._of_view(self.suppressed.marked, self.suppressed.size_of_marked)

    def suppressed_counts(self, columns: Sequence[str]) -> RecordCounts:
        """Count the classes that some columns make of the suppressed records."""
        answer = self.memory.suppressed_counts()
        if answer is not None:
            return answer
        marked = self.only_suppressed()
        assert marked is not None
        counts = marked.record_counts(columns, wildcard=False)
        marked.forget_counts()
        return counts

    def with_suppressed(self) -> "Questions":
        """Ask about all records, including the suppressed records that are left out."""
        if self.suppressed is None:
            return self
        return self._of_view(self.suppressed.whole, self.suppressed.size_of_whole)

    def _of_view(self, view: str, records: int) -> "Questions":
        """Ask about the records of another view of the same engine."""
        other = Questions(self.engine, records)
        other._input = view
        other._number = self._number
        return other

    def able_to_hold_mark(self, columns: Iterable[str]) -> list[str]:
        """The columns that can hold the mark of suppression."""
        return [c for c in columns if self.suppression.can_be_in(self.engine.kind(c))]

    def _marked(self, quasi: Sequence[str]) -> str:
        """The condition of records with the mark in every quasi-identifier."""
        return self.suppression.in_records(self.engine, [self.sql_name(q) for q in quasi])

    # -- values ---------------------------------------------------------------------------------

    def tally(self, column: str, quasi: Sequence[str]) -> dict[str | None, int]:
        """Count the records with each text; only missing and empty of other or too many values.

        The values stay in this process.
        """
        quasi = tuple(quasi)
        answer = self.memory.tally(column, quasi)
        if answer is not None:
            return answer
        if (quasi, column) not in self._tallies:
            columns = quasi if column in quasi else (column,)
            for at in range(0, len(columns), TOGETHER):
                self._tally_together(columns[at : at + TOGETHER], quasi)
        return self._tallies[quasi, column]

    def _tally_together(self, columns: Sequence[str], quasi: tuple[str, ...]) -> None:
        """Tally some columns in one query."""
        few = self.sizes(quasi).things <= MOST_CLASSES
        queries = []
        for i, column in enumerate(columns):
            if column in quasi:
                c = self.sql_name(column)
                n = "n"
                table = self._find_cells(quasi) or self.count_cells(quasi, None)
            else:
                c = "s"
                n = "ns"
                table = self.value_totals(self.count_cells(quasi, column))
            text = self.engine.as_text(c)
            blank = f"{c} IS NULL OR {text} = ''"
            where = "" if few and self.engine.kind(column) == "text" else f"WHERE {blank} "
            queries.append(
                f"SELECT * FROM (SELECT {i} AS i, {text} AS v, CAST(SUM({n}) AS BIGINT) AS n "
                f"FROM {table} {where}GROUP BY {c} ORDER BY CASE WHEN {blank} THEN 0 ELSE 1 END "
                f"LIMIT {MOST_TALLIED + 1}) AS d"
            )
        rows = self.engine.rows(" UNION ALL ".join(queries))
        for i, column in enumerate(columns):
            own = {value: int(n) for place, value, n in rows if place == i}
            whole = len(own) <= MOST_TALLIED
            self._tallies[quasi, column] = {v: n for v, n in own.items() if whole or not v}

    def tallies(self, columns: Mapping[str, int]) -> dict[str, dict[str | None, int]]:
        """Count the records with each text; `columns` says how many values each column has."""
        answer = self.memory.tallies(columns)
        if answer is not None:
            return answer
        if self.reads_whole_lines:
            return super().tallies(columns)
        return {c: self.cube((c,)).tally() for c in columns}

    def coded_missing(self, columns: Sequence[str], quasi: Sequence[str]) -> dict[str, int | None]:
        """Count the values of each column that are missing only because of a code for missing.

        None if records were left out: then codes of the other records are not told apart.
        """
        noted = self.notes.coded_missing(columns, complete=self.complete)
        if noted is not None:
            return noted
        if self.engine.uncoded is None:
            return dict.fromkeys(columns, 0)
        if not self.complete:
            return dict.fromkeys(columns)
        without = self._count_missing(columns, f"({self.engine.uncoded}) AS d")
        pairs = zip(columns, without, strict=True)
        nan = self.count_nan(columns)
        return {c: self.tally(c, quasi).get(None, 0) - n - nan.get(c, 0) for c, n in pairs}

    def count_codes(self, columns: Sequence[str], nan: Mapping[str, int]) -> dict[str, int]:
        """The same from the records, for columns with any; `nan` values of a column are NaN."""
        if self.engine.uncoded is None:
            return {}
        without = self._count_missing(columns, f"({self.engine.uncoded}) AS d")
        lacking = self.missing(columns)
        pairs = zip(columns, without, strict=True)
        counts = {c: lacking.get(c, 0) - n - nan.get(c, 0) for c, n in pairs}
        return {c: n for c, n in counts.items() if n}

    @property
    def complete(self) -> bool:
        """Whether no records were left out."""
        return self._input == "input"

    def count_nan(self, columns: Sequence[str]) -> dict[str, int]:
        """Count the values of each column that are missing because they are NaN, if there are any.

        No column if records were left out: then the other records are not told apart.
        """
        noted = self.notes.nan(columns, complete=self.complete)
        if noted is not None:
            return noted
        able = [c for c in columns if c in self.engine.nan]
        if not able or not self.complete:
            return {}
        sums = ", ".join(f"SUM({self.engine.nan[c]})" for c in able)
        (counts,) = self.engine.query_records(f"SELECT {sums} FROM {self.engine.nan_source}")
        return {c: int(n) for c, n in zip(able, counts, strict=True) if n}

    def like_the_header(self, quasi: Sequence[str], secrets: Sequence[str]) -> int:
        """Count the records whose values are the names of their columns, as in joined files."""
        answer = self.memory.like_the_header(quasi, secrets)
        if answer is not None:
            return answer
        counts = []
        for secret in secrets or (None,):
            cells = self.count_cells(tuple(quasi), secret)
            names = {self.sql_name(q): q for q in quasi} | ({"s": secret} if secret else {})
            equal = " AND ".join(f"{self.engine.as_text(c)} = ?" for c in names)
            counts.append(self.count_where(cells, equal, list(names.values())))
        return min(counts)

    def has_other_than(self, column: str, pattern: str) -> bool:
        """Whether the text of any value of a column does not fit a pattern."""
        c = self.sql_name(column)
        odd = self.engine.query_records(
            f"SELECT 1 AS n FROM {self.source} WHERE {c} IS NOT NULL "
            f"AND NOT {self.engine.matches(c, pattern)} LIMIT 1"
        )
        return bool(odd)

    def count_matching(self, column: str, pattern: str) -> int:
        """Count the records with a value of a column whose text fits a pattern."""
        c = self.sql_name(column)
        return self._count_records(f"{c} IS NOT NULL AND {self.engine.matches(c, pattern)}")

    def recode(self, view: str, records: RecodedRecords) -> "Questions":
        """Ask about the records with labels for values, which a view of the engine shows."""
        self.engine.show_recoded(view, records)
        other = Questions(self.engine, self.records)
        other._input = view
        other._number = self._number
        return other

    def sizes(self, quasi: Sequence[str]) -> Sizes:
        """The histogram of class sizes."""
        quasi = tuple(quasi)
        if quasi not in self._sizes:
            sizes = self.memory.sizes(quasi)
            if sizes is None:
                sizes = self.histogram(self.count_cells(quasi, None))
            self._sizes[quasi] = sizes
        return self._sizes[quasi]

    def record_counts(self, quasi: Sequence[str], *, wildcard: bool) -> RecordCounts:
        """The counts behind every measure of re-identification."""
        people = self.memory.people_counts()
        if people is not None:
            return people
        quasi = tuple(quasi)
        sizes = self.sizes(quasi)
        if not wildcard:
            return RecordCounts(records=self.records, sizes=sizes)
        matches = self.memory.matches(quasi, sizes)
        if matches is not None:
            lacking, matching = matches
            return RecordCounts(
                records=self.records, sizes=sizes, missing=lacking, wildcard=matching
            )
        cells = self._find_cells(quasi) or self.count_cells(quasi, None)
        missing = self.count_where(cells, self._any_missing(quasi))
        return RecordCounts(
            records=self.records,
            sizes=sizes,
            missing=missing,
            wildcard=self._wildcard(quasi) if missing else None,
        )

    def _wildcard(self, quasi: tuple[str, ...]) -> Sizes | None:
        """The histogram of matching records when a missing value matches anything.

        Classes are grouped by their pattern, a mask of the keys that they lack. Matching is not
        transitive, so there are frequencies of records, but no classes.
        """
        if self.sizes(quasi).things <= FEW_CLASSES:
            self.count_cells(quasi, None)  # rolled up, where a secret's cells are there
            return count_matches(self.cube(quasi))[1]
        keys = [self.sql_name(q) for q in quasi]
        if len(keys) > MOST_KEYS:
            return None
        bits = (f"(CASE WHEN {c} IS NULL THEN {1 << i} ELSE 0 END)" for i, c in enumerate(keys))
        classes = self.keep_table(
            f"SELECT {', '.join(keys)}, n, {' + '.join(bits)} AS mask, "
            f"ROW_NUMBER() OVER (ORDER BY n) AS id FROM {self.count_cells(quasi, None)}"
        )
        masks = sorted(
            int(mask) for (mask,) in self.engine.rows(f"SELECT mask FROM {classes} GROUP BY mask")
        )
        feasible = can_match(len(masks), self.sizes(quasi).things)
        counts: Counter[int] = Counter()
        for mask in masks if feasible else ():
            for frequency, n in self.engine.rows(match_masks(keys, classes, mask, masks)):
                counts[int(frequency)] += int(n)
        self.drop_tables(classes)
        return Sizes.from_arrays(list(counts), list(counts.values())) if feasible else None

    # -- secrets --------------------------------------------------------------------------------

    def certain_people(self, quasi: Sequence[str], secret: str) -> tuple[int, int]:
        """Count the records in classes where all have one value, and all records."""
        answer = self.memory.certain_people(quasi, secret)
        if answer is not None:
            return answer
        joint = self.secret_counts(quasi, secret, frozenset({"joint"})).joint
        return (0, 0) if joint is None else joint.certain

    def secret_counts(
        self,
        quasi: Sequence[str],
        secret: str,
        needs: frozenset[str],
        *,
        order: Sequence[str] | None = None,
        hierarchy: Hierarchy | None = None,
        partition: Mapping[str, Sequence[str]] | None = None,
        named: str | None = None,
    ) -> SecretCounts:
        """Count what `needs` names about one secret."""
        quasi = tuple(quasi)
        rare: dict[str, Any] = {
            "order": order,
            "hierarchy": hierarchy,
            "partition": partition,
            "named": named,
        }
        counts = self.memory.secret_counts(quasi, secret, needs, **rare)
        if counts is None:
            counts = SecretCounter(self, quasi, secret).count(needs, **rare)
        if self.people is None:
            self._sizes.setdefault(quasi, counts.sizes)
        return counts

    # -- combinations as codes ------------------------------------------------------------------

    def cube(self, columns: Sequence[str]) -> Cube:
        """The combinations of some columns' values; the texts stay in this process."""
        columns = tuple(columns)
        answer = self.memory.cube(columns)
        if answer is not None:
            return answer
        names = [self.sql_name(c) for c in columns]
        keys = ", ".join(names)
        counted = self._cells.get((columns[:-1], columns[-1]))
        if counted is not None:  # a secret and its classes
            sql = f"SELECT {self.sql_names(columns[:-1])}, s AS {names[-1]}, n FROM {counted}"
        else:
            counted = self._cells.get((columns, None))
            if counted is not None:
                sql = f"SELECT {keys}, n FROM {counted}"
            else:
                sql = f"SELECT {keys}, {self.record_count} AS n FROM {self._input} GROUP BY {keys}"
        cells = self.keep_table(sql, of_records=counted is None)
        sql = f"SELECT {{ranks}}, a.n AS n FROM {cells} AS a {{joins}}"
        (*codes, counts), texts = self.rank_values(names, cells, sql)
        self.drop_tables(cells)
        return Cube.from_cells(columns, codes, counts, texts).check(self.records)

    def number_cells(self, quasi: Sequence[str], secret: str) -> NumberCells:
        """The cells of a numeric secret; its texts stay in this process."""
        answer = self.memory.number_cells(tuple(quasi), secret)
        return self.cube((*quasi, secret)).number_cells if answer is None else answer

    def records_in_order(self, columns: Sequence[str]) -> Cube:
        """One cell per record, in the order of the input, whether records were left out or not."""
        answer = self.memory.records_in_order(columns)
        if answer is not None:
            return answer
        names = [self.sql_name(c) for c in columns]
        ranked = []
        for at in range(0, len(names), TOGETHER):
            few = names[at : at + TOGETHER]
            fields = ", ".join(dict.fromkeys(few))
            records = f"SELECT ROW_NUMBER() OVER () AS record, {fields} FROM input"
            table = self.keep_table(records)  # read once, not once for each column
            sql = f"SELECT {{ranks}} FROM {table} AS a {{joins}} ORDER BY a.record"
            ranks, texts = self.rank_values(few, table, sql)
            self.drop_tables(table)
            ranked += [rank_texts(*pair) for pair in zip(ranks, texts, strict=True)]
        codes, values = zip(*ranked, strict=True)
        return Cube(
            columns=tuple(columns),
            codes=codes,
            counts=np.ones(len(codes[0]), dtype=np.int64),
            values=values,
        )

    # -- the order of the rows ------------------------------------------------------------------

    def plan_runs(self, columns: Sequence[str]) -> None:
        """Name the columns whose runs will be asked for, before the records are read."""
        self.memory.plan_runs(columns)

    def count_runs(self, columns: Sequence[str]) -> dict[str, ColumnRuns]:
        """The runs of each column in the order of the input; no records are left out.

        The engine must keep the order of the rows.
        """
        runs = self.memory.count_runs(columns)
        others = [column for column in columns if column not in runs]
        for at in range(0, len(others), TOGETHER):
            few = others[at : at + TOGETHER]
            table = self.keep_table(f"SELECT {self.sql_names(dict.fromkeys(few))} FROM input")
            for column, number in zip(few, self._count_changes(few, table), strict=True):
                c = self.sql_name(column)
                counts = f"SELECT COUNT(*) AS n FROM {table} GROUP BY {c}"
                arrays = self.engine.arrays(f"SELECT n, COUNT(*) AS m FROM ({counts}) GROUP BY n")
                values = Sizes.from_arrays(*arrays)
                runs[column] = ColumnRuns(runs=number + 1, values=values)
            self.drop_tables(table)
        return {column: runs[column] for column in columns}

    def _count_changes(self, columns: Sequence[str], table: str) -> list[int]:
        """Count the rows of a table whose value of each column differs from the row before."""
        names = [self.sql_name(c) for c in columns]
        fields = [f"{c}, LAG({c}) OVER () AS before_{c}" for c in dict.fromkeys(names)]
        rows = f"SELECT ROW_NUMBER() OVER () AS record, {', '.join(fields)} FROM {table}"
        changed = (
            f"CAST(SUM(CASE WHEN record > 1 AND {c} IS DISTINCT FROM before_{c} THEN 1 ELSE 0 END) "
            "AS BIGINT)"
            for c in names
        )
        ((*counts,),) = self.engine.rows(f"SELECT {', '.join(changed)} FROM ({rows}) AS d")
        return [int(number or 0) for number in counts]

    def codes_in_order(self, column: str) -> tuple[Ints, list[str | None]]:
        """The code of a column in every row, in the order of the input, and the text of each code.

        No records are left out.
        """
        answer = self.memory.codes_in_order(column)
        if answer is not None:
            return answer
        cube = self.records_in_order([column])
        return cube.codes[0].astype(np.int64), list(cube.values[0])

    def rank_values(
        self, names: Sequence[str], table: str, sql: str
    ) -> tuple[list[Any], list[list[str | None]]]:
        """The arrays of a query with the `{ranks}` of values, and the text of each rank.

        `{joins}` in the query stands for the tables of ranks. The ranks number the values that
        occur in `table`.
        """
        tables = [
            self.keep_table(
                f"SELECT {c}, CAST(ROW_NUMBER() OVER (ORDER BY {c}) - 1 AS INTEGER) AS r "
                f"FROM (SELECT {c} FROM {table} GROUP BY {c}) AS d"
            )
            for c in names
        ]
        pairs = list(zip(names, tables, strict=True))
        queries = (f"SELECT {self.engine.as_text(c)} FROM {t} ORDER BY r" for c, t in pairs)
        texts = [[text for (text,) in self.engine.rows(query)] for query in queries]
        joins = " ".join(
            f"JOIN {t} AS j{i} ON a.{c} IS NOT DISTINCT FROM j{i}.{c}"
            for i, (c, t) in enumerate(pairs)
        )
        ranks = ", ".join(f"j{i}.r AS r{i}" for i in range(len(names)))
        arrays = self.engine.arrays(sql.format(ranks=ranks, joins=joins))
        self.drop_tables(*tables)
        return arrays, texts

    # -- classes and records one by one ---------------------------------------------------------

    def each_class(
        self, quasi: Sequence[str], secret: str | None
    ) -> Iterator[tuple[tuple[Any, ...], int, list[int]]]:
        """Every class: its key, its size, and the counts of its secret in descending order."""
        keys = self.sql_names(quasi)
        cells = self.count_cells(tuple(quasi), secret)
        for *key, size, profile in self.engine.rows(
            f"SELECT {keys}, CAST(SUM(n) AS BIGINT) AS nq, {self.engine.list_downwards('n')} "
            f"AS profile FROM {cells} GROUP BY {keys} ORDER BY {keys}"
        ):
            yield tuple(key), int(size), [int(n) for n in profile]

    def write_columns(self, columns: LoadedColumns, path: Path, kind: str) -> None:
        """Write columns of this process to a file, in the order of the first."""
        table = self.load_table(columns)
        names = [quote_identifier(name) for name in columns]
        self.engine.write(f"SELECT {', '.join(names)} FROM {table} ORDER BY {names[0]}", path, kind)
        self.drop_tables(table)
