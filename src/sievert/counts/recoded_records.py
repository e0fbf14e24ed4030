"""Records recoded by their engine, which joins maps of columns and suppressed classes to them.

No record is read into this process: the engine that has the records writes the release. The query
is common to all engines; each of them loads the maps and writes the rows in its own way.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from sievert.arrays import Ints, Text


@dataclass(frozen=True, eq=False)
class ColumnMap:
    """The label of every value of a column, and the number that it adds to the key of a class."""

    values: Sequence[Text]
    labels: Sequence[Text]
    numbers: Sequence[int]
    partial: bool = False  # values that are not listed stay as they are, as text

    def table(self) -> dict[str, tuple[str, Sequence[object]]]:
        """The map in the form that an engine loads."""
        return {
            "v": ("text", list(self.values)),
            "t": ("text", list(self.labels)),
            "n": ("int", list(self.numbers)),
        }


@dataclass(frozen=True, kw_only=True, eq=False)
class RecodedRecords:
    """What a release has: columns in their order, maps of some, and the suppressed classes."""

    names: Sequence[str]
    maps: Mapping[str, ColumnMap]
    suppressed: Ints  # the keys of classes
    mark: str  # of suppressed records
    drop: bool = False  # leave them out
    source: str = "input"  # the view of the records

    def select(
        self,
        columns: Sequence[str],
        same: Callable[[str, str], str],
        literal: Callable[[str], str],
        tables: Sequence[str],
        as_text: Callable[[str], str] = str,
    ) -> tuple[dict[str, str], str]:
        """The value of each column of the release as SQL, and the joins of maps to the records `r`.

        The records have these `columns`. The maps are in `tables`, the suppressed classes in
        `gone`. `same` is the condition that a column of the records has the value `v` of a map. A
        value that a partial map does not list is written `as_text`.
        """
        values = {name: f"r.c{columns.index(name)}" for name in self.names}
        joins = [
            f"{'LEFT ' if labels.partial else ''}JOIN {table} "
            f"ON {same(f'r.c{columns.index(name)}', f'{table}.v')}"
            for table, (name, labels) in zip(tables, self.maps.items(), strict=True)
        ]
        if len(self.suppressed):
            key = " + ".join(f"{table}.n" for table in tables)
            joins.append(f"LEFT JOIN gone ON gone.k = {key}")
        mark = literal(self.mark)
        for table, (name, labels) in zip(tables, self.maps.items(), strict=True):
            if labels.partial:
                values[name] = f"COALESCE({table}.t, {as_text(values[name])})"
                continue
            values[name] = f"{table}.t"
            if len(self.suppressed) and not self.drop:
                values[name] = f"CASE WHEN gone.k IS NULL THEN {table}.t ELSE {mark} END"
        where = " WHERE gone.k IS NULL" if self.drop and len(self.suppressed) else ""
        return values, " ".join(joins) + where
