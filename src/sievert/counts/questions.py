"""The protocol of integer questions, and the one SQL text that asks them.

Only plain nested GROUP BY and COUNT(*) or SUM of counts: no DISTINCT aggregates, no floats. What
engines spell differently (lists, mostly) is in the small `Adapter` each engine provides. Columns
are called c0, c1, ... from here on, in a view `input` the adapter makes; users' names end there.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, Protocol

import numpy as np

from sievert.counts import wildcards
from sievert.counts.answers import (
    Gaps,
    JointCounts,
    Named,
    Profiles,
    Ranked,
    RecordCounts,
    SecretCounts,
    Sizes,
)
from sievert.counts.cube import Cube
from sievert.counts.quoting import quote_identifier
from sievert.errors import InvariantError, UsageError
from sievert.hierarchies import Hierarchy
from sievert.notes import Note

MOST_TALLIED = 10**5  # different values of a column that are looked at one by one
MOST_CLASSES = 10**6
WIDE = 2**31  # records from which two counts, or their product, do not fit one 64-bit integer


Kind = Literal["text", "float", "ordered", "other"]


class Adapter(Protocol):
    """What an engine must be able to do; about 150 lines each."""

    name: str
    columns: tuple[str, ...]
    uncoded: str | None
    notes: list[Note]

    def check_usable(self, column: str) -> None: ...
    def kind(self, column: str) -> Kind: ...
    def view(self, name: str, sql: str) -> None: ...
    def read(self, sql: str) -> list[tuple[Any, ...]]: ...
    def count(self, name: str, sql: str) -> None: ...
    def keep(self, name: str, sql: str) -> None: ...
    def forget(self, name: str) -> None: ...
    def rows(self, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]: ...
    def arrays(self, sql: str) -> list[Any]: ...
    def load(self, table: str, columns: Mapping[str, tuple[str, Sequence[Any]]]) -> None: ...
    def downwards(self, value: str) -> str: ...
    def ordered(self, value: str, by: str) -> str: ...
    def packed(self, n: str, ns: str, wide: bool) -> str: ...
    def profile(self, wide: bool) -> str: ...
    def each_pair(self, table: str, wide: bool) -> str: ...
    def gap(self, records: int, wide: bool) -> str: ...
    def as_text(self, value: str) -> str: ...
    def write(self, sql: str, path: Path, kind: str) -> None: ...
    def progress(self) -> float: ...
    def interrupt(self) -> None: ...
    def close(self) -> None: ...


class Questions:
    """Integer questions about one table, counted once for each secret and rolled up from there."""

    def __init__(self, engine: Adapter, records: int | None = None) -> None:
        self.engine = engine
        self.columns = engine.columns
        self._number = itertools.count()
        self._cells: dict[tuple[tuple[str, ...], str | None], str] = {}
        self._totals: dict[str, str] = {}
        self._sizes: dict[tuple[str, ...], Sizes] = {}
        if records is None:
            records = int(engine.read("SELECT COUNT(*) FROM input")[0][0])
        self.records = records
        self._wide = self.records >= WIDE
        self._input = "input"

    def progress(self) -> float:
        """Per cent of the running count that is done, or -1."""
        return self.engine.progress()

    def interrupt(self) -> None:
        """Stop counting; whoever asked gets an error."""
        self.engine.interrupt()

    def _c(self, column: str) -> str:
        return f"c{self.columns.index(column)}"

    def _keys(self, quasi: Sequence[str]) -> str:
        return ", ".join(self._c(q) for q in quasi)

    def _table(self, sql: str) -> str:
        name = f"t{next(self._number)}"
        self.engine.keep(name, sql)
        return name

    def _drop(self, *tables: str) -> None:
        for table in tables:
            self.engine.forget(table)

    # -- counting -------------------------------------------------------------------------------

    def _counted(self, quasi: tuple[str, ...], secret: str | None) -> str:
        """The table of cells (keys, s, n): the only question that reads the records."""
        if (quasi, secret) not in self._cells:
            keys, rolled = self._keys(quasi), None
            if secret is None:
                rolled = next((t for (q, _), t in self._cells.items() if q == quasi), None)
                sql = (
                    f"SELECT {keys}, CAST(SUM(n) AS BIGINT) AS n FROM {rolled} GROUP BY {keys}"
                    if rolled
                    else f"SELECT {keys}, COUNT(*) AS n FROM {self._input} GROUP BY {keys}"
                )
            else:
                s = self._c(secret)
                sql = (
                    f"SELECT {keys}, {s} AS s, COUNT(*) AS n FROM {self._input} "
                    f"GROUP BY {keys}, {s}"
                )
            name = f"t{next(self._number)}"
            if rolled:
                self.engine.keep(name, sql)
            else:
                self.engine.count(name, sql)
            self._cells[quasi, secret] = name
        return self._cells[quasi, secret]

    def _cells_of(self, quasi: tuple[str, ...]) -> str:
        """Any table of cells with these keys."""
        found = (t for (q, _), t in self._cells.items() if q == quasi)
        return next(found, None) or self._counted(quasi, None)

    def missing(self, quasi: Sequence[str]) -> dict[str, int]:
        """How many records lack each quasi-identifier; only those that some record lacks."""
        sums = ", ".join(f"SUM(CASE WHEN {self._c(q)} IS NULL THEN 1 ELSE 0 END)" for q in quasi)
        (found,) = self.engine.read(f"SELECT {sums} FROM {self._input}")
        return {q: int(n) for q, n in zip(quasi, found, strict=True) if n}

    def drop_missing(self, quasi: Sequence[str]) -> int:
        """From here on leave out the records that lack a quasi-identifier; returns how many."""
        lacking = " OR ".join(f"{self._c(q)} IS NULL" for q in quasi)
        self.engine.view("kept", f"SELECT * FROM input WHERE NOT ({lacking})")
        self._input = "kept"
        before = self.records
        self.records = int(self.engine.read("SELECT COUNT(*) FROM kept")[0][0])
        return before - self.records

    def tally(self, column: str, quasi: Sequence[str]) -> dict[str | None, int]:
        """How many records have each text; of other or too many values only missing and empty.

        The values stay in this process.
        """
        quasi = tuple(quasi)
        if column in quasi:
            c, cells = self._c(column), self._cells_of(quasi)
        else:
            c, cells = "s", self._counted(quasi, column)
        few = self.sizes(quasi).things <= MOST_CLASSES
        text = self.engine.as_text(c)
        few = few and self.engine.kind(column) == "text"
        which = "" if few else f"WHERE {c} IS NULL OR {text} = '' "
        rows = self.engine.rows(
            f"SELECT {text} AS v, CAST(SUM(n) AS BIGINT) AS n FROM {cells} {which}GROUP BY {c} "
            f"ORDER BY CASE WHEN {c} IS NULL OR {text} = '' THEN 0 ELSE 1 END "
            f"LIMIT {MOST_TALLIED + 1}"
        )
        rows = rows if len(rows) <= MOST_TALLIED else [row for row in rows if not row[0]]
        return {value: int(n) for value, n in rows}

    def coded_missing(self, columns: Sequence[str]) -> dict[str, int | None]:
        """How many values of each column are missing only because of a code for missing.

        None where records were left out: the codes of those that stay are not told apart.
        """
        if self.engine.uncoded is None:
            return dict.fromkeys(columns, 0)
        if self._input != "input":
            return dict.fromkeys(columns)
        sums = ", ".join(f"SUM(CASE WHEN {self._c(c)} IS NULL THEN 1 ELSE 0 END)" for c in columns)
        with_codes, without = (
            self.engine.read(f"SELECT {sums} FROM {table}")[0]
            for table in ("input", f"({self.engine.uncoded}) AS d")
        )
        pairs = zip(with_codes, without, strict=True)
        return {c: int(a or 0) - int(b or 0) for c, (a, b) in zip(columns, pairs, strict=True)}

    def like_the_header(self, quasi: Sequence[str], secrets: Sequence[str]) -> int:
        """Records whose every value is the name of its column, as where files were put together."""
        found = []
        for secret in secrets or (None,):
            cells = self._counted(tuple(quasi), secret)
            named = [(self._c(q), q) for q in quasi] + ([("s", secret)] if secret else [])
            equal = " AND ".join(f"{self.engine.as_text(c)} = ?" for c, _ in named)
            sql = f"SELECT CAST(COALESCE(SUM(n), 0) AS BIGINT) FROM {cells} WHERE {equal}"
            found.append(int(self.engine.rows(sql, [name for _, name in named])[0][0]))
        return min(found)

    def distinct(self, columns: Iterable[str]) -> dict[str, int]:
        """How many different values each column has; missing is one."""
        found = {}
        for column in columns:
            c = self._c(column)
            sql = f"SELECT COUNT(*) FROM (SELECT {c} FROM input GROUP BY {c}) AS d"
            found[column] = int(self.engine.read(sql)[0][0])
        return found

    def sizes(self, quasi: Sequence[str]) -> Sizes:
        """The histogram of class sizes."""
        quasi = tuple(quasi)
        if quasi not in self._sizes:
            classes = self._counted(quasi, None)
            found = self.engine.arrays(f"SELECT n, COUNT(*) AS m FROM {classes} GROUP BY n")
            self._sizes[quasi] = Sizes.from_arrays(*found)
            self._sizes[quasi].check(self.records)
        return self._sizes[quasi]

    def record_counts(self, quasi: Sequence[str], *, wildcard: bool) -> RecordCounts:
        """Everything about finding a person."""
        quasi = tuple(quasi)
        sizes = self.sizes(quasi)
        missing, frequencies = 0, None
        if wildcard:
            cells = self._cells_of(quasi)
            lacking = " OR ".join(f"{self._c(q)} IS NULL" for q in quasi)
            sql = f"SELECT CAST(COALESCE(SUM(n), 0) AS BIGINT) FROM {cells} WHERE {lacking}"
            missing = int(self.engine.rows(sql)[0][0])
            frequencies = self._wildcard(quasi) if missing else None
        return RecordCounts(self.records, sizes, missing, frequencies)

    def _wildcard(self, quasi: tuple[str, ...]) -> Sizes | None:
        """How many records match so many records when a missing value matches anything."""
        keys = [self._c(q) for q in quasi]
        if len(keys) > wildcards.MOST_KEYS:
            return None
        held = self._table(wildcards.patterns(keys, self._counted(quasi, None)))
        masks = [int(m) for (m,) in self.engine.rows(f"SELECT mask FROM {held} GROUP BY mask")]
        found: dict[int, int] | None = None
        if wildcards.feasible(len(masks), self.sizes(quasi).things):
            found = {}
            for a in sorted(masks):
                for frequency, n in self.engine.rows(wildcards.matches(keys, held, a, masks)):
                    found[int(frequency)] = found.get(int(frequency), 0) + int(n)
        self._drop(held)
        return None if found is None else Sizes.from_arrays(list(found), list(found.values()))

    # -- secrets --------------------------------------------------------------------------------

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
        """Everything about one secret that `needs` names."""
        quasi = tuple(quasi)
        cells = self._counted(quasi, secret)
        counts = self._about(quasi, cells, needs)
        self._sizes.setdefault(quasi, counts["sizes"])
        keys = self._keys(quasi)
        extra: dict[str, Any] = {}
        sql = f"SELECT CAST(COALESCE(SUM(n), 0) AS BIGINT) FROM {cells} WHERE s IS NULL"
        extra["missing"] = missing = int(self.engine.rows(sql)[0][0])
        if "known" in needs and 0 < missing < self.records:
            extra["known_profiles"] = self._profiles(
                f"SELECT {self.engine.downwards('n')} AS profile FROM {cells} "
                f"WHERE s IS NOT NULL GROUP BY {keys}"
            )
        if "order" in needs and not missing:
            extra["ranked"] = self._ranked(quasi, cells, secret, order)
        if "hierarchy" in needs and hierarchy is not None:
            extra["hierarchy_gaps"] = self._hierarchy_gaps(quasi, cells, secret, hierarchy)
        if "parts" in needs and partition is not None:
            extra["parts"] = self._parts(quasi, cells, secret, partition)
        if "named" in needs and named is not None:
            extra["named"] = self._named(quasi, cells, named)
        return SecretCounts(records=self.records, **{**counts, **extra})

    def _totals_of(self, cells: str) -> str:
        if cells not in self._totals:
            self._totals[cells] = self._table(
                f"SELECT s, CAST(SUM(n) AS BIGINT) AS ns FROM {cells} GROUP BY s"
            )
        return self._totals[cells]

    def _held(self, quasi: tuple[str, ...], cells: str, *, leaves: int | None = None) -> str:
        """One row a class: its size, and its (count, total of the value) pairs, packed.

        Where cells hold every record once a level, only the first `leaves` labels make the size.
        """
        totals, e = self._totals_of(cells), self.engine
        keys = ", ".join(f"a.{self._c(q)}" for q in quasi)
        n = "a.n" if leaves is None else f"CASE WHEN a.s < {leaves} THEN a.n ELSE 0 END"
        return self._table(
            f"SELECT CAST(SUM({n}) AS BIGINT) AS nq, "
            f"{e.packed('a.n', 'b.ns', self._wide)} AS held FROM {cells} AS a "
            f"JOIN {totals} AS b ON a.s IS NOT DISTINCT FROM b.s GROUP BY {keys}"
        )

    def _about(self, quasi: tuple[str, ...], cells: str, needs: frozenset[str]) -> dict[str, Any]:
        totals = self._totals_of(cells)
        held = self._held(quasi, cells)
        found: dict[str, Any] = {
            "sizes": Sizes.from_arrays(
                *self.engine.arrays(f"SELECT nq, COUNT(*) AS m FROM {held} GROUP BY nq")
            ),
            "values": Sizes.from_arrays(
                *self.engine.arrays(f"SELECT ns, COUNT(*) AS m FROM {totals} GROUP BY ns")
            ),
            "profiles": self._profiles(
                f"SELECT {self.engine.profile(self._wide)} AS profile FROM {held}"
            ),
        }
        found["sizes"].check(self.records)
        found["values"].check(self.records)
        if "joint" in needs:
            found["joint"] = JointCounts.from_arrays(
                *self.engine.arrays(
                    "SELECT nq, ns, n, COUNT(*) AS m FROM "
                    f"({self.engine.each_pair(held, self._wide)}) AS d GROUP BY nq, ns, n"
                )
            )
        if "gaps" in needs:
            found["gaps"] = self._gaps(held)
        self._drop(held)
        return found

    def _profiles(self, inner: str) -> Profiles:
        return Profiles.from_arrays(
            *self.engine.arrays(
                f"SELECT profile, COUNT(*) AS m FROM ({inner}) AS d GROUP BY profile "
                "ORDER BY profile"
            )
        )

    def _gaps(self, held: str, levels: int = 1) -> Gaps:
        gap = self.engine.gap(self.records, self._wide)
        rows = self.engine.rows(
            f"SELECT nq, MAX(g) FROM (SELECT nq, {gap} AS g FROM {held}) AS d GROUP BY nq"
        )
        return Gaps.from_arrays((n for n, _ in rows), (g for _, g in rows), levels)

    def values(self, column: str, quasi: Sequence[str]) -> list[str]:
        """The different values of a secret as text, without missing; they stay in this process."""
        totals = self._totals_of(self._counted(tuple(quasi), column))
        text = self.engine.as_text("s")
        rows = self.engine.rows(f"SELECT {text} FROM {totals} WHERE s IS NOT NULL")
        return [v for (v,) in rows]

    def _ranked(
        self, quasi: tuple[str, ...], cells: str, secret: str, order: Sequence[str] | None
    ) -> Ranked:
        totals, e = self._totals_of(cells), self.engine
        if order is None:
            ranks = self._table(
                f"SELECT s, ns, ROW_NUMBER() OVER (ORDER BY s) - 1 AS r FROM {totals}"
            )
        else:
            present = self.values(secret, quasi)
            lacking = len(set(present) - set(order))
            if lacking:
                raise UsageError(
                    f"the order of {secret!r} lacks {lacking} value(s) of the table",
                    hint="list every value from low to high",
                )
            if len(set(order)) < len(order):
                raise UsageError(f"the order of {secret!r} names a value twice")
            inside = [v for v in order if v in set(present)]
            given = f"t{next(self._number)}"
            e.load(given, {"v": ("text", inside), "r": ("int", range(len(inside)))})
            ranks = self._table(
                f"SELECT a.s, a.ns, b.r FROM {totals} AS a "
                f"JOIN {given} AS b ON {e.as_text('a.s')} = b.v"
            )
            self._drop(given)
        keys = ", ".join(f"a.{self._c(q)}" for q in quasi)
        inner = (
            f"SELECT {e.ordered('b.r', 'b.r')} AS ranks, {e.ordered('a.n', 'b.r')} AS held "
            f"FROM {cells} AS a JOIN {ranks} AS b ON a.s = b.s GROUP BY {keys}"
        )
        where, counts = e.arrays(
            f"SELECT ranks, held FROM ({inner}) AS d GROUP BY ranks, held ORDER BY ranks, held"
        )
        totals_by_rank = e.arrays(f"SELECT ns FROM {ranks} ORDER BY r")[0]
        self._drop(ranks)
        profiles = Profiles.from_arrays(where, np.ones(len(where)))
        held = Profiles.from_arrays(counts, np.ones(len(where)))
        return Ranked(
            profiles.counts, held.counts, held.starts, np.asarray(totals_by_rank, dtype=np.int64)
        )

    def _merged(
        self, quasi: tuple[str, ...], cells: str, mapping: Mapping[str | None, list[int]]
    ) -> str:
        """Cells of the labels that each value has; a value may have one label a level."""
        e = self.engine
        given = f"t{next(self._number)}"
        pairs = [(v, node) for v, nodes in mapping.items() for node in nodes]
        e.load(given, {"v": ("text", [v for v, _ in pairs]), "s": ("int", [n for _, n in pairs])})
        keys = ", ".join(f"a.{self._c(q)}" for q in quasi)
        merged = self._table(
            f"SELECT {keys}, b.s AS s, CAST(SUM(a.n) AS BIGINT) AS n FROM {cells} AS a "
            f"JOIN {given} AS b ON {e.as_text('a.s')} IS NOT DISTINCT FROM b.v GROUP BY {keys}, b.s"
        )
        self._drop(given)
        return merged

    def _hierarchy_gaps(
        self, quasi: tuple[str, ...], cells: str, secret: str, hierarchy: Hierarchy
    ) -> Gaps:
        """Gaps added up over the levels 0 .. height - 1; a missing value is a branch of its own."""
        tree = hierarchy.with_root()
        present = self.values(secret, quasi)
        tree.require(present, secret)
        nodes: dict[tuple[int, str | None], int] = {}
        mapping: dict[str | None, list[int]] = {v: [] for v in (*present, None)}
        for level in range(tree.height):  # level by level: the leaves get the first numbers
            for v, labels in mapping.items():
                node = (level, None if v is None else tree.at(v, level))
                labels.append(nodes.setdefault(node, len(nodes)))
        merged = self._merged(quasi, cells, mapping)
        held = self._held(quasi, merged, leaves=len(mapping))
        gaps = self._gaps(held, tree.height)
        self._drop(held, self._totals.pop(merged), merged)
        return gaps

    def _parts(
        self,
        quasi: tuple[str, ...],
        cells: str,
        secret: str,
        partition: Mapping[str, Sequence[str]],
    ) -> SecretCounts:
        """The counts of a secret whose values were merged; what no part names is one more part."""
        part_of: dict[str | None, int] = {}
        for number, members in enumerate(partition.values()):
            for value in members:
                if part_of.setdefault(value, number) != number:
                    raise UsageError(
                        f"the partition of {secret!r} names a value in two parts",
                        hint=f"look at its part {number + 1}",
                    )
        other = len(partition)
        mapping = {v: [part_of.get(v, other)] for v in (*self.values(secret, quasi), None)}
        merged = self._merged(quasi, cells, mapping)
        counts = SecretCounts(
            records=self.records, **self._about(quasi, merged, frozenset({"joint"}))
        )
        self._drop(self._totals.pop(merged), merged)
        return counts

    def _named(self, quasi: tuple[str, ...], cells: str, value: str) -> Named:
        """How often classes hold the named value; classes without a known secret hold it never."""
        keys = self._keys(quasi)
        known = "CAST(SUM(CASE WHEN s IS NULL THEN 0 ELSE n END) AS BIGINT)"
        rows = self.engine.rows(
            "SELECT nq, known, held FROM (SELECT CAST(SUM(n) AS BIGINT) AS nq, "
            f"{known} AS known, CAST(SUM(CASE WHEN {self.engine.as_text('s')} = ? THEN n ELSE 0 "
            f"END) AS BIGINT) AS held FROM {cells} GROUP BY {keys}) AS d GROUP BY nq, known, held "
            "ORDER BY nq, known, held",
            [value],
        )
        sizes = ((int(n), max(1, int(k)), int(h)) for n, k, h in rows)
        return Named(*zip(*sizes, strict=True))

    # -- combinations as codes ------------------------------------------------------------------

    def cube(self, columns: Sequence[str]) -> Cube:
        """The combinations of some columns' values; the texts stay in this process."""
        columns = tuple(columns)
        names = [self._c(c) for c in columns]
        keys = ", ".join(names)
        counted = self._cells.get((columns[:-1], columns[-1]))
        if counted is None:
            cells = f"t{next(self._number)}"
            sql = f"SELECT {keys}, COUNT(*) AS n FROM {self._input} GROUP BY {keys}"
            self.engine.count(cells, sql)
        else:  # a secret and its classes, counted already
            cells = self._table(
                f"SELECT {self._keys(columns[:-1])}, s AS {names[-1]}, n FROM {counted}"
            )
        ranks, texts = [], []
        for c in names:
            ranks.append(
                self._table(
                    f"SELECT {c}, ROW_NUMBER() OVER (ORDER BY {c}) - 1 AS r "
                    f"FROM (SELECT {c} FROM {cells} GROUP BY {c}) AS d"
                )
            )
            rows = self.engine.rows(f"SELECT {self.engine.as_text(c)} FROM {ranks[-1]} ORDER BY r")
            texts.append([v for (v,) in rows])
        joins = " ".join(
            f"JOIN {t} AS j{i} ON a.{c} IS NOT DISTINCT FROM j{i}.{c}"
            for i, (t, c) in enumerate(zip(ranks, names, strict=True))
        )
        select = ", ".join(f"j{i}.r AS r{i}" for i in range(len(names)))
        found = self.engine.arrays(f"SELECT {select}, a.n AS n FROM {cells} AS a {joins}")
        self._drop(cells, *ranks)
        cube = Cube.from_cells(columns, found[:-1], found[-1], texts)
        if cube.records != self.records:
            raise InvariantError(
                f"combinations cover {cube.records} records where {self.records} were read"
            )
        return cube

    # -- pointing at classes and records --------------------------------------------------------

    def each_class(
        self, quasi: Sequence[str], secret: str | None
    ) -> Iterator[tuple[tuple[Any, ...], int, list[int]]]:
        """Every class: its key, its size, the counts of its secret downwards."""
        quasi = tuple(quasi)
        keys = self._keys(quasi)
        cells = self._counted(quasi, secret)
        size = "CAST(SUM(n) AS BIGINT)"
        rows = self.engine.rows(
            f"SELECT {keys}, {size} AS nq, {self.engine.downwards('n')} AS profile FROM {cells} "
            f"GROUP BY {keys} ORDER BY {keys}"
        )
        for row in rows:
            yield tuple(row[: len(quasi)]), int(row[-2]), [int(n) for n in row[-1]]

    def write_records(
        self,
        quasi: Sequence[str],
        secrets: Sequence[str],
        path: Path,
        kind: str,
        marks: Mapping[str | None, Mapping[str, tuple[str, Sequence[Any]]]],
    ) -> None:
        """One row a record in input order: `marks` holds what each kind of cell is worth.

        `marks[None]` has a row for each class size, `marks[secret]` one for each distinct
        (class size, total of the value, count); the engine joins them to the records.
        """
        quasi = tuple(quasi)
        keys = [self._c(q) for q in quasi]
        tables = []
        select = ["r.record AS record"]
        joins = []
        for number, secret in enumerate((None, *secrets)):
            small = f"t{next(self._number)}"
            self.engine.load(small, marks[secret])
            columns = [c for c in marks[secret] if c not in ("nq", "ns", "n")]
            joined = self._marked(quasi, secret, small, columns)
            tables += [small, joined]
            on = [f"r.{c} IS NOT DISTINCT FROM j{number}.{c}" for c in keys]
            if secret is not None:
                on.append(f"r.s{number} IS NOT DISTINCT FROM j{number}.s")
            joins.append(f"JOIN {joined} AS j{number} ON {' AND '.join(on)}")
            select += [f"j{number}.{quote_identifier(c)} AS {quote_identifier(c)}" for c in columns]
        used = [*keys, *(f"{self._c(s)} AS s{i}" for i, s in enumerate(secrets, 1))]
        # Numbered before any are left out: a dropped record finds no class to join.
        source = f"SELECT ROW_NUMBER() OVER () AS record, {', '.join(used)} FROM input"
        self.engine.write(
            f"SELECT {', '.join(select)} FROM ({source}) AS r {' '.join(joins)} ORDER BY r.record",
            path,
            kind,
        )
        self._drop(*tables)

    def write_columns(
        self, columns: Mapping[str, tuple[str, Sequence[Any]]], path: Path, kind: str
    ) -> None:
        """Columns of ours as a file, in the order of the first."""
        small = f"t{next(self._number)}"
        self.engine.load(small, columns)
        names = [quote_identifier(name) for name in columns]
        self.engine.write(f"SELECT {', '.join(names)} FROM {small} ORDER BY {names[0]}", path, kind)
        self._drop(small)

    def _marked(
        self, quasi: tuple[str, ...], secret: str | None, small: str, columns: Sequence[str]
    ) -> str:
        """Classes (or cells) with the numbers of their kind beside them."""
        names = "".join(f", m.{quote_identifier(c)}" for c in columns)
        keys = [self._c(q) for q in quasi]
        classes = self._counted(quasi, None)
        if secret is None:
            plain = ", ".join(f"a.{c}" for c in keys)
            return self._table(
                f"SELECT {plain}{names} FROM {classes} AS a JOIN {small} AS m ON a.n = m.nq"
            )
        cells = self._counted(quasi, secret)
        totals = self._totals_of(cells)
        same = " AND ".join(f"a.{c} IS NOT DISTINCT FROM q.{c}" for c in keys)
        plain = ", ".join(f"a.{c}" for c in keys)
        return self._table(
            f"SELECT {plain}, a.s{names} FROM {cells} AS a JOIN {classes} AS q ON {same} "
            f"JOIN {totals} AS b ON a.s IS NOT DISTINCT FROM b.s JOIN {small} AS m "
            "ON q.n = m.nq AND b.ns = m.ns AND a.n = m.n"
        )
