"""Records recoded where they are: per-column maps and the suppressed classes are joined to them.

No record is read into this process: the engine that has them writes the release. What engines have
in common is the query; each of them loads the maps and writes the rows in its own way.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from sievert.arrays import Ints, Text


@dataclass(frozen=True, eq=False)
class ColumnMap:
    """Of every value of a column its label, and the number that the label adds to a class's key."""

    values: Sequence[Text]
    labels: Sequence[Text]
    numbers: Sequence[int]
    partial: bool = False  # values that are not listed stay as they are, as text

    def table(self) -> dict[str, tuple[str, Sequence[object]]]:
        """As an engine loads it."""
        return {
            "v": ("text", list(self.values)),
            "t": ("text", list(self.labels)),
            "n": ("int", list(self.numbers)),
        }


@dataclass(frozen=True, kw_only=True, eq=False)
class RecodedRecords:
    """What is written: columns in their order, how some are recoded, which classes are gone."""

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
        """Of each column of the release its value as SQL, and what joins the maps to records `r`.

        The records have these `columns`. The maps are in these tables, the suppressed classes in
        `gone`; `same` is the condition that a column of the records has the value `v` of a map. A
        value that stays as it is where a map is partial is written `as_text`.
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
