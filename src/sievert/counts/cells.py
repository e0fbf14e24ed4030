"""Tables of cells on an engine: the counted combinations of values that every answer starts from.

Columns are called c0, c1, ... in the view `input` that the engine's adapter makes; the names that
users give end there.
"""

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from typing import Any, Self

from sievert.counts.adapter import Adapter, LoadedColumns
from sievert.counts.answers import Sizes
from sievert.counts.suppression import Suppression
from sievert.errors import InputError, require

WIDE = 2**31  # records from which two counts, or their product, do not fit one 64-bit integer
# columns of a text file that are read together
MOST_SETS = 16
LEAST_SETS = 4
MOST_VALUES = 2**22  # that these columns may have together, where they are more than the least

PEOPLE = "CASE WHEN p IS NULL THEN n ELSE 1 END"  # a row without a person is a person of its own


def count_people(fields: str, table: str, name: str = "n") -> str:
    """The query that counts the people with each combination of some fields."""
    return (
        f"SELECT {fields}, CAST(SUM({PEOPLE}) AS BIGINT) AS {name} FROM {table} GROUP BY {fields}"
    )


def quote_identifier(name: str) -> str:
    """Write the name of a column as an SQL identifier: the only way a name enters SQL.

    >>> quote_identifier('a"; drop table x; --')
    '"a""; drop table x; --"'
    """
    require("\0" not in name, "a column name holds a NUL character", error=InputError)
    return '"' + name.replace('"', '""') + '"'


def ask_together(columns: Sequence[str], keys: str, source: str) -> str:
    """The query for the cells of several secrets in one pass: in row i, `which` is i and s is si.

    The query repeats every record once for each secret, with that secret alone.
    """
    own = [f"CASE WHEN w.which = {i} THEN {c} END AS s{i}" for i, c in enumerate(columns)]
    fields = ", ".join(f"s{i}" for i in range(len(columns)))
    numbers = ", ".join(f"({i})" for i in range(len(columns)))
    return (
        f"SELECT {keys}, which, {fields}, COUNT(*) AS n FROM (SELECT {keys}, w.which, "
        f"{', '.join(own)} FROM {source} CROSS JOIN (VALUES {numbers}) AS w(which)) AS every "
        f"GROUP BY {keys}, which, {fields}"
    )


class CellTables:
    """The cells of one table, counted once for each secret and rolled up from there."""

    def __init__(self, engine: Adapter, records: int | None = None) -> None:
        self.engine = engine
        self.columns = engine.columns
        self._number = itertools.count()
        self._cells: dict[tuple[tuple[str, ...], str | None], str] = {}
        self._totals: dict[str, str] = {}
        self.in_people: dict[str, Any] = {}  # by the column of the person, the same in people
        self._input = "input"
        self.suppression = Suppression()
        self.suppressed: Any = None  # the records that are left out as suppressed
        self.secrets: tuple[str, ...] = ()  # whose cells will be asked for
        weight = engine.weight
        self.record_count = f"CAST(SUM({weight}) AS BIGINT)" if weight else "COUNT(*)"
        self.first_line = False  # whether the names of the columns are the first line of a text
        self.records = self._count_records() if records is None else records
        self.wide = self.records >= WIDE

    def fork(self) -> Self:
        """The same table once more, before anything is counted and any record is left out."""
        other = copy(self)
        vars(other).update((k, dict(v)) for k, v in vars(self).items() if isinstance(v, dict))
        return other

    def check_usable(self, columns: Iterable[str]) -> None:
        """Raise an error if the values of one of these columns cannot be compared one by one."""
        for column in columns:
            self.engine.check_usable(column)

    @property
    def source(self) -> str:
        """The view of the records that are counted."""
        return self._input

    # -- names and tables -----------------------------------------------------------------------

    def sql_name(self, column: str) -> str:
        """The name of a column in SQL."""
        return f"c{self.columns.index(column)}"

    def sql_names(self, columns: Iterable[str], prefix: str = "") -> str:
        """The names of some columns, as written after SELECT and GROUP BY."""
        return ", ".join(prefix + self.sql_name(c) for c in columns)

    def keep_table(self, sql: str, *, of_records: bool = False) -> str:
        """Keep the answer to a query about cells or records as a table; return its name."""
        name = f"t{next(self._number)}"
        if of_records:
            self.engine.count(name, sql, self.records)
        else:
            self.engine.keep(name, sql)
        return name

    def keep_records(self, sql: str, records: int) -> str:
        """Keep combinations that are counted over some records as a table; return its name."""
        name = f"t{next(self._number)}"
        self.engine.count(name, sql, records)
        return name

    def load_table(self, columns: LoadedColumns) -> str:
        """Load columns of this process as a table of the engine; return its name."""
        name = f"t{next(self._number)}"
        self.engine.load(name, columns)
        return name

    def drop_tables(self, *tables: str) -> None:
        """Drop tables of cells."""
        for table in tables:
            self.engine.forget(table)

    # -- counting -------------------------------------------------------------------------------

    def _count_records(self, condition: str = "1 = 1") -> int:
        sql = f"SELECT {self.record_count} FROM {self._input} WHERE {condition}"
        return int(self.engine.query_records(sql)[0][0] or 0)

    def count_combinations(self, columns: Sequence[str], source: str | None = None) -> int:
        """Count the different combinations of values of some columns; missing is a value."""
        keys = self.sql_names(columns)
        table = source or self._input
        sql = f"SELECT COUNT(*) FROM (SELECT {keys} FROM {table} GROUP BY {keys}) AS d"
        return int(self.engine.query_records(sql)[0][0])

    def merged_by_type(self, columns: Sequence[str]) -> list[str]:
        """The columns whose type reads different texts, such as 01 and 1, as one number.

        No state has such columns: a table that has any is not counted.
        """
        if self.engine.table.state is not None:
            return []
        numbers = [c for c in columns if self.engine.table.types.get(c) in ("int", "float")]
        if self.engine.untyped is None:
            return numbers
        count = self.count_combinations
        before = f"({self.engine.untyped}) AS e"
        return [c for c in numbers if count([c], "input") < count([c], before)]

    def distinct(self, columns: Iterable[str]) -> dict[str, int]:
        """Count the different values of each column; missing is one."""
        counts = dict.fromkeys(columns, 0)
        for few in _share_passes(dict.fromkeys(counts, self.records)):
            with self._hold(few) as source:
                counts |= {c: self.count_combinations((c,), source) for c in few}
        return counts

    def tallies(self, columns: Mapping[str, int]) -> dict[str, dict[str | None, int]]:
        """Count the records with each text of some columns, in the order of texts.

        `columns` says how many values each of them has at most. The values stay in this process.
        """
        tallies: dict[str, dict[str | None, int]] = {}
        for few in _share_passes(columns):
            with self._hold(few) as source:
                for column in few:
                    c = self.sql_name(column)
                    counts = dict[str | None, int]()
                    value = self.engine.as_text(c)
                    number = self.record_count
                    sql = f"SELECT {value}, {number} FROM {source} GROUP BY {c}"
                    for text, n in self.engine.rows(sql):
                        counts[text] = counts.get(text, 0) + int(n)
                    ordered = sorted(counts, key=lambda text: (text is not None, text or ""))
                    tallies[column] = {text: counts[text] for text in ordered}
        return tallies

    @property
    def reads_whole_lines(self) -> bool:
        """Whether each question about a column reads all of a text file."""
        return self.first_line and self.engine.rereads_text

    @contextmanager
    def _hold(self, columns: Sequence[str]) -> Iterator[str]:
        """Give the table in which some columns are counted: a text file is read once for all."""
        if not self.reads_whole_lines or len(columns) == 1:
            yield self._input
            return
        table = self.keep_table(f"SELECT {self.sql_names(columns)} FROM {self._input}")
        yield table
        self.drop_tables(table)

    def count_cells(self, quasi: tuple[str, ...], secret: str | None) -> str:
        """The table of cells (keys, s, n): the only question that reads the records."""
        if (quasi, secret) not in self._cells and not self._count_together(quasi, secret):
            finer = self._find_cells(quasi) if secret is None else None
            sql = self._ask_cells(quasi, secret)
            keys = self.sql_names(quasi)
            if finer is not None:
                sql = f"SELECT {keys}, CAST(SUM(n) AS BIGINT) AS n FROM {finer} GROUP BY {keys}"
            self._cells[quasi, secret] = self.keep_table(sql, of_records=finer is None)
        return self._cells[quasi, secret]

    def _ask_cells(
        self, quasi: tuple[str, ...], secret: str | None, person: str | None = None
    ) -> str:
        own = {s: self.sql_name(c) for s, c in (("s", secret), ("p", person)) if c is not None}
        fields = ", ".join([self.sql_names(quasi), *(f"{c} AS {s}" for s, c in own.items())])
        groups = ", ".join([self.sql_names(quasi), *own.values()])
        return f"SELECT {fields}, {self.record_count} AS n FROM {self._input} GROUP BY {groups}"

    def _count_together(self, quasi: tuple[str, ...], secret: str | None) -> bool:
        """Count the cells of all secrets at once, if the engine can and they are several."""
        new = [s for s in self.secrets if s not in quasi and (quasi, s) not in self._cells]
        if secret not in new or len(new) == 1:
            return False
        names = {s: f"t{next(self._number)}" for s in new}
        queries = {names[s]: (self.sql_name(s), self._ask_cells(quasi, s)) for s in new}
        together = self.engine.count_together(
            queries, self.sql_names(quasi), self._input, self.records
        )
        if together:
            self._cells |= {(quasi, s): name for s, name in names.items()}
        return together

    def _find_cells(self, quasi: tuple[str, ...]) -> str | None:
        """Find a table of cells with these keys that was counted before."""
        return next((table for (q, _), table in self._cells.items() if q == quasi), None)

    def value_totals(self, cells: str) -> str:
        """The table of the values of a secret in some cells, and the number of records of each."""
        if cells not in self._totals:
            self._totals[cells] = self.keep_table(
                f"SELECT s, CAST(SUM(n) AS BIGINT) AS ns FROM {cells} GROUP BY s"
            )
        return self._totals[cells]

    def value_holders(self, cells: str) -> str:
        """The table of the values of a secret and the number of records with each."""
        return self.value_totals(cells)

    def drop_cells(self, cells: str) -> None:
        """Drop cells that were made from other cells, and their totals."""
        self.drop_tables(self._totals.pop(cells), cells)

    def count_where(self, cells: str, condition: str, parameters: Sequence[Any] = ()) -> int:
        """The number of records in the cells that meet a condition."""
        sql = f"SELECT CAST(COALESCE(SUM(n), 0) AS BIGINT) FROM {cells} WHERE {condition}"
        return int(self.engine.rows(sql, parameters)[0][0])

    def total(self, cells: str) -> int:
        """The number of records that some cells cover: all records."""
        return self.records

    def histogram(self, cells: str) -> Sizes:
        """The histogram of the cells' sizes; together they must cover every record."""
        sizes = Sizes.from_arrays(
            *self.engine.arrays(f"SELECT n, COUNT(*) AS m FROM {cells} GROUP BY n")
        )
        sizes.check(self.total(cells))
        return sizes

    def values(self, column: str, quasi: Sequence[str]) -> list[str]:
        """The different values of a secret as text, without missing; they stay in this process."""
        totals = self.value_totals(self.count_cells(tuple(quasi), column))
        text = self.engine.as_text("s")
        return [v for (v,) in self.engine.rows(f"SELECT {text} FROM {totals} WHERE s IS NOT NULL")]


def _share_passes(columns: Mapping[str, int]) -> list[tuple[str, ...]]:
    """Group columns that are counted in one pass; `columns` has the most values of each."""
    passes: list[list[str]] = []
    room = 0
    for column, values in columns.items():
        full = not passes or len(passes[-1]) >= MOST_SETS
        if full or (room < values and len(passes[-1]) >= LEAST_SETS):
            passes.append([])
            room = MOST_VALUES
        passes[-1].append(column)
        room -= values
    return [tuple(few) for few in passes]


def match_masks(keys: Sequence[str], classes: str, a: int, masks: Sequence[int]) -> str:
    """The query for the histogram of matching records of the classes of pattern `a`.

    Two classes match if they agree on the keys that neither lacks: one join per pair of patterns.
    """
    parts = []
    for b in masks:
        common = [c for i, c in enumerate(keys) if not (a | b) & (1 << i)]
        shared = "".join(f"{c}, " for c in common)
        grouped = f" GROUP BY {', '.join(common)}" if common else ""
        on = " AND ".join(f"x.{c} = y.{c}" for c in common) or "1 = 1"
        parts.append(
            f"SELECT x.id AS id, x.n AS own, y.n AS n FROM {classes} AS x JOIN (SELECT {shared}"
            f"CAST(SUM(n) AS BIGINT) AS n FROM {classes} WHERE mask = {b}{grouped}) AS y "
            f"ON {on} WHERE x.mask = {a}"
        )
    return (
        "SELECT f, CAST(SUM(own) AS BIGINT) FROM (SELECT MAX(own) AS own, CAST(SUM(n) AS BIGINT) "
        f"AS f FROM ({' UNION ALL '.join(parts)}) AS u GROUP BY id) AS v GROUP BY f"
    )
