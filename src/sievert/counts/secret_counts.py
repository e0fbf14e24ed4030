"""Counting one secret: its values in every class, and how far these are from the whole table."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from sievert.counts.answers import Gaps, JointCounts, Named, Profiles, Ranked, SecretCounts, Sizes
from sievert.counts.cells import CellTables
from sievert.errors import require
from sievert.hierarchies import Hierarchy

Labels = dict[str | None, list[int]]  # the labels of each value, and of a missing one


class SecretCounter:
    """Counts one secret within the classes of some quasi-identifiers."""

    beside = ("", "")  # fields of each class, and the join that adds them to its cells

    def __init__(self, tables: CellTables, quasi: tuple[str, ...], secret: str) -> None:
        self.tables = tables
        self.quasi = quasi
        self.secret = secret
        self.engine = tables.engine
        self.cells = tables.count_cells(quasi, secret)
        self.keys = tables.sql_names(quasi)

    def count(
        self,
        needs: frozenset[str],
        *,
        order: Sequence[str] | None = None,
        hierarchy: Hierarchy | None = None,
        partition: Mapping[str, Sequence[str]] | None = None,
        named: str | None = None,
    ) -> SecretCounts:
        """Count what `needs` names."""
        counts = self._count_cells(self.cells, needs)
        missing = counts["missing"]
        if "known" in needs and 0 < missing < counts["records"]:
            counts["known_profiles"] = self._known_profiles()
        if "known_joint" in needs and 0 < missing < counts["records"]:
            counts |= self._known_joint()
        if "order" in needs and not missing:
            counts["ranked"] = self._rank_values(order)
        if "hierarchy" in needs and hierarchy is not None:
            counts["hierarchy_gaps"] = self._hierarchy_gaps(hierarchy)
        if "parts" in needs and partition is not None:
            counts["parts"] = self._count_parts(partition)
        if "named" in needs and named is not None:
            counts["named"] = self._count_named(named)
        return SecretCounts(**counts)

    def _collect_pairs(self, cells: str, *, leaves: int | None = None) -> str:
        """One row per class: its size, the fields `beside`, and its (count, total of value) pairs.

        Where cells have every record once per level, only the first `leaves` labels make the size.
        """
        n = "a.n" if leaves is None else f"CASE WHEN a.s < {leaves} THEN a.n ELSE 0 END"
        fields, joins = self.beside
        return self.tables.keep_table(
            f"SELECT CAST(SUM({n}) AS BIGINT) AS nq, {fields}"
            f"{self.engine.list_pairs('a.n', 'b.ns', self.tables.wide)} AS held "
            f"FROM {cells} AS a JOIN {self.tables.value_totals(cells)} AS b "
            f"ON a.s IS NOT DISTINCT FROM b.s {joins}"
            f"GROUP BY {self.tables.sql_names(self.quasi, 'a.')}"
        )

    def _count_cells(self, cells: str, needs: frozenset[str]) -> dict[str, Any]:
        tables = self.tables
        wide = self.tables.wide
        pairs = self._collect_pairs(cells)
        total = tables.total(cells)
        queries = {
            "profiles": self._ask_profiles(self.engine.profile(wide), pairs),
            "values": "SELECT ns, COUNT(*) AS m, "
            "CAST(SUM(CASE WHEN s IS NULL THEN ns ELSE 0 END) AS BIGINT) AS lacking "
            f"FROM {tables.value_totals(cells)} GROUP BY ns",
        }
        if "joint" in needs:
            queries["joint"] = self._ask_joint(pairs)
        if "gaps" in needs and not wide:
            queries["gaps"] = self._ask_gaps(pairs, total, "CAST(MAX(g) AS BIGINT) AS g")
        answers = dict(zip(queries, self.engine.each_answer([*queries.values()]), strict=True))
        profiles = Profiles.from_arrays(*answers["profiles"])
        sizes = profiles.class_sizes()
        sizes.check(total)
        value_sizes, times, lacking = answers["values"]
        values = Sizes.from_arrays(value_sizes, times)
        values.check(total)
        counts: dict[str, Any] = {
            "records": total,
            "sizes": sizes,
            "values": values,
            "profiles": profiles,
            "missing": int(sum(lacking)),
        }
        if "joint" in needs:
            counts["joint"] = JointCounts.from_arrays(*answers["joint"])
        if "gaps" in needs:
            counts["gaps"] = (
                self._gaps(pairs, total) if wide else Gaps.from_arrays(*answers["gaps"])
            )
        tables.drop_tables(pairs)
        return counts

    def _ask_joint(self, pairs: str) -> str:
        return (
            "SELECT nq, ns, n, COUNT(*) AS m FROM "
            f"({self.engine.each_pair(pairs, self.tables.wide)}) AS d GROUP BY nq, ns, n"
        )

    def _known_joint(self) -> dict[str, Any]:
        """The cells of the records whose secret is known."""
        known = self.tables.keep_table(f"SELECT * FROM {self.cells} WHERE s IS NOT NULL")
        pairs = self._collect_pairs(known)
        joint = JointCounts.from_arrays(*self.engine.arrays(self._ask_joint(pairs)))
        self.tables.drop_tables(pairs)
        self.tables.drop_cells(known)
        return {"known_joint": joint}

    def _ask_profiles(self, profile: str, table: str) -> str:
        """The query for the distinct profiles of classes; `table` has one row for each class."""
        return (
            f"SELECT profile, COUNT(*) AS m FROM (SELECT {profile} AS profile FROM {table}) "
            "AS d GROUP BY profile ORDER BY profile"
        )

    def _profiles(self, profile: str, table: str) -> Profiles:
        return Profiles.from_arrays(*self.engine.arrays(self._ask_profiles(profile, table)))

    def _known_profiles(self) -> Profiles:
        """The profiles of classes without the records whose secret is missing."""
        return self._profiles(
            self.engine.list_downwards("n"),
            f"{self.cells} WHERE s IS NOT NULL GROUP BY {self.keys}",
        )

    def _ask_gaps(self, pairs: str, total: int, largest: str) -> str:
        gap = self.engine.gap(total, self.tables.wide)
        return f"SELECT nq, {largest} FROM (SELECT nq, {gap} AS g FROM {pairs}) AS d GROUP BY nq"

    def _gaps(self, pairs: str, total: int, levels: int = 1) -> Gaps:
        rows = self.engine.rows(self._ask_gaps(pairs, total, "MAX(g)"))
        return Gaps.from_arrays((n for n, _ in rows), (g for _, g in rows), levels)

    def _rank_values(self, order: Sequence[str] | None) -> Ranked:
        totals = self.tables.value_totals(self.cells)
        engine = self.engine
        if order is None:
            ranks = self.tables.keep_table(
                f"SELECT s, ns, ROW_NUMBER() OVER (ORDER BY s) - 1 AS r FROM {totals}"
            )
        else:
            present = self.tables.values(self.secret, self.quasi)
            values = order_values(self.secret, order, present)
            loaded = self.tables.load_table(
                {"v": ("text", values), "r": ("int", range(len(values)))}
            )
            ranks = self.tables.keep_table(
                f"SELECT a.s, a.ns, b.r FROM {totals} AS a "
                f"JOIN {loaded} AS b ON {engine.as_text('a.s')} = b.v"
            )
            self.tables.drop_tables(loaded)
        inner = (
            f"SELECT {engine.list_in_order('b.r', 'b.r')} AS ranks, "
            f"{engine.list_in_order('a.n', 'b.r')} AS held FROM {self.cells} AS a "
            f"JOIN {ranks} AS b ON a.s = b.s GROUP BY {self.tables.sql_names(self.quasi, 'a.')}"
        )
        lists, (_, totals_by_rank) = engine.each_answer(
            [
                f"SELECT ranks, held FROM ({inner}) AS d GROUP BY ranks, held ORDER BY ranks, held",
                f"SELECT r, ns FROM {ranks} ORDER BY r",
            ]
        )
        self.tables.drop_tables(ranks)
        lists_of_ranks, lists_of_counts = lists
        places = Profiles.from_arrays(lists_of_ranks, np.ones(len(lists_of_ranks)))
        counts = Profiles.from_arrays(lists_of_counts, np.ones(len(lists_of_counts)))
        return Ranked(
            ranks=places.counts,
            counts=counts.counts,
            starts=counts.starts,
            totals=np.asarray(totals_by_rank, dtype=np.int64),
        )

    def _merge_values(self, labels: Mapping[str | None, list[int]]) -> str:
        """Cells of the labels that each value has; a value may have one label per level."""
        pairs = [(v, label) for v, numbers in labels.items() for label in numbers]
        loaded = self.tables.load_table(
            {"v": ("text", [v for v, _ in pairs]), "s": ("int", [n for _, n in pairs])}
        )
        keys = self.tables.sql_names(self.quasi, "a.")
        text = self.engine.as_text("a.s")
        merged = self.tables.keep_table(
            f"SELECT {keys}, b.s AS s, CAST(SUM(a.n) AS BIGINT) AS n FROM {self.cells} AS a "
            f"JOIN {loaded} AS b ON {text} IS NOT DISTINCT FROM b.v GROUP BY {keys}, b.s"
        )
        self.tables.drop_tables(loaded)
        return merged

    _merge_parts = _merge_values

    def _hierarchy_gaps(self, hierarchy: Hierarchy) -> Gaps:
        """Gaps added up over the levels 0 .. height - 1; a missing value is a branch of its own."""
        present = self.tables.values(self.secret, self.quasi)
        labels, levels = level_labels(self.secret, hierarchy, present)
        merged = self._merge_values(labels)
        pairs = self._collect_pairs(merged, leaves=len(labels))
        gaps = self._gaps(pairs, self.tables.total(self.cells), levels)
        self.tables.drop_tables(pairs)
        self.tables.drop_cells(merged)
        return gaps

    def _count_parts(self, partition: Mapping[str, Sequence[str]]) -> SecretCounts:
        """The counts of a secret with merged values; values without a part are one more part."""
        present = self.tables.values(self.secret, self.quasi)
        merged = self._merge_parts(part_labels(self.secret, partition, present))
        counts = self._count_cells(merged, frozenset({"joint"}))
        self.tables.drop_cells(merged)
        return SecretCounts(**counts)

    def _count_named(self, value: str) -> Named:
        """How often classes have the named value; a class without a known secret never has it."""
        rows = self.engine.rows(
            "SELECT nq, known, held FROM (SELECT CAST(SUM(n) AS BIGINT) AS nq, "
            "CAST(SUM(CASE WHEN s IS NULL THEN 0 ELSE n END) AS BIGINT) AS known, "
            f"CAST(SUM(CASE WHEN {self.engine.as_text('s')} = ? THEN n ELSE 0 END) AS BIGINT) "
            f"AS held FROM {self.cells} GROUP BY {self.keys}) AS d GROUP BY nq, known, held "
            "ORDER BY nq, known, held",
            [value],
        )
        sizes = ((int(n), max(1, int(known)), int(count)) for n, known, count in rows)
        return Named(*zip(*sizes, strict=True))


# -- values as the user orders and groups them ----------------------------------------------------


def order_values(secret: str, order: Sequence[str], present: Sequence[str]) -> list[str]:
    """The values that occur, in the order that the user gives; raise an error if it lacks one."""
    lacking = len(set(present) - set(order))
    require(
        lacking == 0,
        f"the order of {secret!r} lacks {lacking} value(s) of the table",
        hint="list every value from low to high",
    )
    require(len(set(order)) >= len(order), f"the order of {secret!r} names a value twice")
    occur = set(present)
    return [v for v in order if v in occur]


def level_labels(secret: str, hierarchy: Hierarchy, present: Sequence[str]) -> tuple[Labels, int]:
    """The node above each value at every level below the root; the leaves get the first numbers."""
    tree = hierarchy.with_root()
    tree.require(present, secret)
    nodes: dict[tuple[int, str | None], int] = {}
    labels: Labels = {v: [] for v in (*present, None)}
    for level in range(tree.height):
        for v, numbers in labels.items():
            node = (level, None if v is None else tree.at(v, level))
            numbers.append(nodes.setdefault(node, len(nodes)))
    return labels, tree.height


def part_labels(
    secret: str, partition: Mapping[str, Sequence[str]], present: Sequence[str]
) -> Labels:
    """The part of each value; values that no part names are one more part."""
    part_of: dict[str | None, int] = {}
    for number, members in enumerate(partition.values()):
        for value in members:
            require(
                part_of.setdefault(value, number) == number,
                f"the partition of {secret!r} names a value in two parts",
                hint=f"look at its part {number + 1}",
            )
    return {v: [part_of.get(v, len(partition))] for v in (*present, None)}
