"""A release that DuckDB writes from its own records."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from sievert.counts.cells import quote_identifier
from sievert.counts.duckdb.reading import literal
from sievert.counts.recoded_records import ColumnMap, RecodedRecords
from sievert.counts.release_order import DUCKDB
from sievert.errors import InvariantError, require

RELEASED = "released"
PLACES = "places"


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

    The records are in the order of their hashes with `key`, or of the input if `key` is None.
    """
    values, joins, tables = _join_maps(engine, records, "m")
    names = dict.fromkeys((*records.names, *records.maps))
    own = ", ".join(f"c{engine.columns.index(name)}" for name in names)
    fields = ", ".join(f"{value} AS o{i}" for i, value in enumerate(values.values()))
    source = (
        f"SELECT {fields}, r.record AS n FROM "
        f"(SELECT ROW_NUMBER() OVER () AS record, {own} FROM input) AS r {joins}"
    )

    def write(sql: str) -> None:
        engine.write(sql, path, f"release_{kind}", delimiter=delimiter, header=header)

    if key is None:
        write(f"SELECT {name_fields(records.names)} FROM ({source}) AS d ORDER BY n")
    else:
        engine.keep(RELEASED, source)
        write_by_hash(engine, records.names, key, write)
        engine.forget(RELEASED)
    for table in tables:
        engine.forget(table)
    return None if key is None else PLACES


def name_fields(names: Sequence[str]) -> str:
    """The columns o0, o1, ... with their names in the release."""
    return ", ".join(f"o{i} AS {quote_identifier(name)}" for i, name in enumerate(names))


def write_by_hash(
    engine: Any, names: Sequence[str], key: str, write: Callable[[str], None]
) -> None:
    """Write the table of released rows in the order of their hashes; keep the place of each row.

    The number n of a row only distinguishes equal rows, which are interchangeable.
    """
    columns = [f"o{i}" for i in range(len(names))]
    row = DUCKDB.row(key, columns, engine.as_text)
    place = DUCKDB.number.format(DUCKDB.place(key, "h", "copy"))
    copies = (
        "SELECT n, h, ROW_NUMBER() OVER (PARTITION BY h ORDER BY n) AS copy "
        f"FROM (SELECT n, {row} AS h FROM {RELEASED}) AS d"
    )
    engine.keep(PLACES, f"SELECT n, {place} AS place FROM ({copies}) AS d")
    write(
        f"SELECT {name_fields(names)} FROM {RELEASED} AS r JOIN {PLACES} AS p ON r.n = p.n "
        "ORDER BY p.place"
    )


def show_recoded(engine: Any, view: str, records: RecodedRecords) -> None:
    """Make a view of recoded records, with the names of columns of the input."""
    values, joins, _ = _join_maps(engine, records, f"{view}_")
    fields = [f"{value} AS c{engine.columns.index(name)}" for name, value in values.items()]
    fields += [] if engine.weight is None else [f"r.{engine.weight}"]
    engine.view(view, f"SELECT {', '.join(fields)} FROM {records.source} AS r {joins}")


def _join_maps(
    engine: Any, records: RecodedRecords, prefix: str
) -> tuple[dict[str, str], str, list[str]]:
    """The values of the release, the joins, and the tables that were loaded for them."""
    tables = [f"{prefix}{i}" for i in range(len(records.maps))]
    for table, (name, column) in zip(tables, records.maps.items(), strict=True):
        _load_map(engine, table, f"c{engine.columns.index(name)}", column)
    values, joins = records.select(
        engine.columns,
        lambda own, value: f"{own} IS NOT DISTINCT FROM {value}",
        literal,
        tables,
        engine.record_text,
    )
    if len(records.suppressed):
        engine.load("gone", {"k": ("int", records.suppressed.tolist())})
        tables.append("gone")
    return values, joins, tables


def _load_map(engine: Any, table: str, column: str, labels: ColumnMap) -> None:
    """Make the table of a column's values, as the engine has them, with labels and numbers."""
    engine.load("labels", labels.table())
    engine.keep("occurring", f"SELECT {column} AS v FROM input GROUP BY {column}")
    text = engine.as_text("d.v")
    engine.keep(
        table,
        f"SELECT d.v AS v, l.t AS t, l.n AS n FROM occurring AS d JOIN labels AS l "
        f"ON {text} IS NOT DISTINCT FROM l.v",
    )
    sizes = [engine.rows(f"SELECT COUNT(*) FROM {t}") for t in ("occurring", table)]
    whole = labels.partial or sizes[0] == sizes[1]
    require(whole, "values of a column have no label, or two", error=InvariantError)
    for other in ("labels", "occurring"):
        engine.forget(other)
