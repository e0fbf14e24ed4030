"""A release that DuckDB writes from its own records, in the order of the input."""

from pathlib import Path
from typing import Any

from sievert.counts.cells import quote_identifier
from sievert.counts.duckdb.reading import literal
from sievert.counts.recoded_records import ColumnMap, RecodedRecords
from sievert.errors import InvariantError, require


def write_release(
    engine: Any, records: RecodedRecords, path: Path, kind: str, *, delimiter: str, header: bool
) -> None:
    """Write all records; columns without a map are as they are."""
    values, joins, tables = _join_maps(engine, records, "m")
    fields = ", ".join(f"{value} AS {quote_identifier(name)}" for name, value in values.items())
    names = dict.fromkeys((*records.names, *records.maps))
    own = ", ".join(f"c{engine.columns.index(name)}" for name in names)
    engine.write(
        f"SELECT {fields} FROM (SELECT ROW_NUMBER() OVER () AS record, {own} FROM input) AS r "
        f"{joins} ORDER BY r.record",
        path,
        f"release_{kind}",
        delimiter=delimiter,
        header=header,
    )
    for table in tables:
        engine.forget(table)


def show_recoded(engine: Any, view: str, records: RecodedRecords) -> None:
    """Make a view of recoded records, its columns called as those of the input."""
    values, joins, _ = _join_maps(engine, records, f"{view}_")
    fields = [f"{value} AS c{engine.columns.index(name)}" for name, value in values.items()]
    fields += [] if engine.weight is None else [f"r.{engine.weight}"]
    engine.view(view, f"SELECT {', '.join(fields)} FROM input AS r {joins}")


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
    )
    if len(records.suppressed):
        engine.load("gone", {"k": ("int", records.suppressed.tolist())})
        tables.append("gone")
    return values, joins, tables


def _load_map(engine: Any, table: str, column: str, labels: ColumnMap) -> None:
    """The table of a column's values, as the engine has them, with their labels and numbers."""
    engine.load("labels", labels.table())
    engine.keep("occurring", f"SELECT {column} AS v FROM input GROUP BY {column}")
    text = engine.as_text("d.v")
    engine.keep(
        table,
        f"SELECT d.v AS v, l.t AS t, l.n AS n FROM occurring AS d JOIN labels AS l "
        f"ON {text} IS NOT DISTINCT FROM l.v",
    )
    sizes = [engine.rows(f"SELECT COUNT(*) FROM {t}") for t in ("occurring", table)]
    require(sizes[0] == sizes[1], "values of a column have no label, or two", error=InvariantError)
    for other in ("labels", "occurring"):
        engine.forget(other)
