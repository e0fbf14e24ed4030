"""A release of a table of Postgres: recoded in the database, in its one snapshot that only reads.

The maps are constants of the query, so nothing is written there, not even temporary tables. Only
the rows of the release leave the database. They are streamed through a private file into our
DuckDB, which spills, and writes them.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sievert.counts.duckdb.reading import literal
from sievert.counts.duckdb.releases import PLACES, RELEASED, name_fields, write_by_hash
from sievert.counts.recoded_records import ColumnMap, RecodedRecords
from sievert.errors import InvariantError, require

ONE_SCAN = "SET LOCAL max_parallel_workers_per_gather = 0; SET LOCAL synchronize_seqscans = off"


def write_release(
    engine: Any,
    records: RecodedRecords,
    path: Path,
    kind: str,
    *,
    delimiter: str,
    header: bool,
    key: str | None,
) -> str | None:
    """Write all records; columns without a map are unchanged.

    The records are in the order of their hashes with `key`, or of the scan if `key` is None. The
    database does not number its rows, so no table of places is kept.
    """
    values, joins = _join_maps(engine, records, "m")
    engine.ask(ONE_SCAN)  # so that the same table has the same order
    names = dict.fromkeys((*records.names, *records.maps))
    own = ", ".join(f"c{engine.columns.index(name)}" for name in names)
    fields = ", ".join(f"{value} AS o{i}" for i, value in enumerate(values.values()))
    ways = ["VARCHAR" if name in records.maps else engine.way(name) for name in records.names]
    engine.take(
        RELEASED,
        engine.with_views(
            f"SELECT {fields}, r.record AS n FROM "
            f"(SELECT ROW_NUMBER() OVER () AS record, {own} FROM input) AS r {joins}"
        ),
        {f"o{i}": way for i, way in enumerate(ways)},
    )

    def write(sql: str) -> None:
        engine.write_here(sql, path, f"release_{kind}", delimiter=delimiter, header=header)

    if key is None:
        write(f"SELECT {name_fields(records.names)} FROM {RELEASED} ORDER BY n")
    else:
        write_by_hash(engine, records.names, key, write)
        engine.forget(PLACES)
    engine.forget(RELEASED)
    return None


def show_recoded(engine: Any, view: str, records: RecodedRecords) -> None:
    """Make a view of recoded records, with the columns of the input; labels are text."""
    values, joins = _join_maps(engine, records, f"{view}_")
    fields = (f"{value} AS c{engine.columns.index(name)}" for name, value in values.items())
    engine.view(view, f"SELECT {', '.join(fields)} FROM {records.source} AS r {joins}")
    engine.labelled = frozenset(records.maps)


def _join_maps(engine: Any, records: RecodedRecords, prefix: str) -> tuple[dict[str, str], str]:
    """The values of the release, and the joins; the maps are views."""
    tables = [f"{prefix}{i}" for i in range(len(records.maps))]
    engine.labelled = frozenset()
    for table, (name, column) in zip(tables, records.maps.items(), strict=True):
        spelled = _encode_texts(column) if column.partial else _spell_values(engine, name, column)
        engine.view(table, _constants(spelled))
    if len(records.suppressed):
        engine.view("gone", f"SELECT unnest({_array(records.suppressed.tolist(), 'bigint')}) AS k")
    return records.select(
        engine.columns,
        lambda own, value: f"{_encode_text(own)} = {value}",
        literal,
        tables,
        engine.record_text,
    )


def _spell_values(engine: Any, name: str, labels: ColumnMap) -> ColumnMap:
    """Spell the values of a map as the database does, which may differ from DuckDB.

    A missing value becomes an empty text, and an x is put before every other value, so that the
    database can look up all of them in one table.
    """
    column = f"c{engine.columns.index(name)}"
    text = _encode_text(column)
    sql = f"SELECT {text} AS v, {column}, COUNT(*) AS n FROM input GROUP BY {column}"
    ways = {"v": "VARCHAR", column: engine.way(name)}
    engine.take("occurring", engine.with_views(sql), ways)
    rows = engine.rows(f"SELECT v, {engine.as_text(column)} FROM occurring")
    engine.forget("occurring")
    label = dict(zip(labels.values, zip(labels.labels, labels.numbers, strict=True), strict=True))
    require(
        all(text in label for _, text in rows),
        "values of a column have no label",
        error=InvariantError,
    )
    own = [label[text] for _, text in rows]
    return ColumnMap([v for v, _ in rows], [t for t, _ in own], [n for _, n in own])


def _encode_texts(labels: ColumnMap) -> ColumnMap:
    """Spell the values of a map of texts, which the database spells as DuckDB does."""
    values = [None if v is None else f"x{v}" for v in labels.values]
    return ColumnMap(values, labels.labels, labels.numbers)


def _encode_text(column: str) -> str:
    return f"CASE WHEN {column} IS NULL THEN '' ELSE 'x' || CAST({column} AS text) END"


def _constants(column: ColumnMap) -> str:
    """A map as a query without a table."""
    kinds = (("v", "text"), ("t", "text"), ("n", "bigint"))
    fields = zip(kinds, (column.values, column.labels, column.numbers), strict=True)
    return "SELECT " + ", ".join(
        f"unnest({_array(values, kind)}) AS {name}" for (name, kind), values in fields
    )


def _array(values: Sequence[Any], kind: str) -> str:
    texts = ", ".join(_constant(value) for value in values)
    return f"CAST(ARRAY[{texts}] AS {kind}[])"


def _constant(value: Any) -> str:
    if value is None:
        return "NULL"
    return literal(value) if isinstance(value, str) else str(value)
