"""Records recoded where they are: per-column maps and the suppressed classes are joined to them.

No record is read into this process: the engine writes the file, in the order of the input.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from sievert.arrays import Ints
from sievert.counts.cells import quote_identifier
from sievert.counts.questions import Questions
from sievert.errors import InvariantError, require

Text = str | None


@dataclass(frozen=True, eq=False)
class ColumnMap:
    """Of every value of a column its label, and the number that the label adds to a class's key."""

    values: Sequence[Text]
    labels: Sequence[Text]
    numbers: Sequence[int]


@dataclass(frozen=True, eq=False)
class RecodedRecords:
    """What is written: columns in their order, how some are recoded, which classes are gone."""

    names: Sequence[str]
    maps: Mapping[str, ColumnMap]
    suppressed: Ints  # the keys of classes
    mark: str  # of suppressed records
    drop: bool = False  # leave them out


def write_recoded(
    questions: Questions,
    records: RecodedRecords,
    path: Path,
    kind: str,
    *,
    delimiter: str = ",",
    header: bool = True,
) -> None:
    """Write all records; columns without a map are as they are."""
    maps = [_load_map(questions, name, records.maps[name]) for name in records.maps]
    gone = questions.load_table({"k": ("int", records.suppressed.tolist())})
    fields = ", ".join(questions.sql_name(name) for name in records.names)
    joins, key = [], []
    for i, (name, table) in enumerate(zip(records.maps, maps, strict=True)):
        column = questions.sql_name(name)
        joins.append(f"JOIN {table} AS m{i} ON r.{column} IS NOT DISTINCT FROM m{i}.v")
        key.append(f"m{i}.n")
    joins.append(f"LEFT JOIN {gone} AS g ON g.k = {' + '.join(key) or '0'}")
    place = {name: i for i, name in enumerate(records.maps)}
    mark = "'" + records.mark.replace("'", "''") + "'"
    select = [
        f"CASE WHEN g.k IS NULL THEN m{place[name]}.t ELSE {mark} END AS {quote_identifier(name)}"
        if name in place
        else f"r.{questions.sql_name(name)} AS {quote_identifier(name)}"
        for name in records.names
    ]
    source = f"SELECT ROW_NUMBER() OVER () AS record, {fields} FROM input"
    kept = " WHERE g.k IS NULL" if records.drop else ""
    questions.engine.write(
        f"SELECT {', '.join(select)} FROM ({source}) AS r {' '.join(joins)}{kept} "
        "ORDER BY r.record",
        path,
        f"release_{kind}",
        delimiter=delimiter,
        header=header,
    )
    questions.drop_tables(*maps, gone)


def _load_map(questions: Questions, name: str, column: ColumnMap) -> str:
    """The table of a column's values, as the engine has them, with their labels and numbers."""
    loaded = questions.load_table(
        {
            "v": ("text", list(column.values)),
            "t": ("text", list(column.labels)),
            "n": ("int", list(column.numbers)),
        }
    )
    own = questions.sql_name(name)
    values = questions.keep_table(f"SELECT {own} AS v FROM input GROUP BY {own}")
    text = questions.engine.as_text("d.v")
    table = questions.keep_table(
        f"SELECT d.v AS v, l.t AS t, l.n AS n FROM {values} AS d JOIN {loaded} AS l "
        f"ON {text} IS NOT DISTINCT FROM l.v"
    )
    sizes = [questions.engine.rows(f"SELECT COUNT(*) FROM {t}") for t in (values, table)]
    require(sizes[0] == sizes[1], "values of a column have no label, or two", error=InvariantError)
    questions.drop_tables(loaded, values)
    return table
