"""A release that Spark writes: no record comes to this process.

Parquet is a directory of parts; of text, the parts are put together into one file. The records of
the parts, one after the other, are in the order of their hashes.
"""

import shutil
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path

from sievert.counts.recoded_records import RecodedRecords
from sievert.counts.release_order import SPARK
from sievert.counts.spark import spelling
from sievert.counts.spark.cluster_cells import Ask, ClusterCells
from sievert.errors import ExhaustedError
from sievert.files import PART, csv_cell
from sievert.sources.isolation import temporary_name

FEW = 10**6  # rows of a map that every worker gets whole
NO_MARK = {"mapreduce.fileoutputcommitter.marksuccessfuljobs": "false"}


def write_release(
    ask: Ask,
    cells: ClusterCells,
    columns: Sequence[str],
    records: RecodedRecords,
    path: Path,
    kind: str,
    delimiter: str,
    header: bool,
    key: str | None,
) -> None:
    """Write all records; columns without a map are unchanged.

    Without a key they are in the order in which Spark happens to have them.
    """
    values, joins, tables = join_maps(cells, columns, records, "m")
    texts = {n: v if n in records.maps else cells.as_text(v) for n, v in values.items()}
    if kind == "csv":
        values = {"line": _line(texts, delimiter)}
    fields = ", ".join(f"{value} AS o{i}" for i, value in enumerate(values.values()))
    sql = f"SELECT {send_whole(tables)}{fields} FROM input AS r {joins}"
    if key is not None:
        row = SPARK.row(key, texts.values(), str)
        sql = _by_hash(
            f"SELECT {send_whole(tables)}{fields}, {row} AS h FROM input AS r {joins}",
            [f"o{i}" for i in range(len(values))],
            key,
        )
    try:
        if kind == "csv":
            names = delimiter.join(csv_cell(n, delimiter) for n in records.names) if header else ""
            _write_text(ask, sql, path, names)
        else:
            _write_parquet(ask, sql, path, [*records.names])
    except OSError as error:
        raise ExhaustedError(f"the release cannot be written: {error.strerror}") from None
    finally:
        for table in tables:
            cells.forget(table)


def _by_hash(sql: str, names: Sequence[str], key: str) -> str:
    """The query that sorts rows by their places, which follow from their hash h."""
    own = ", ".join(names)
    place = SPARK.place(key, "h", "copy")
    copies = f"SELECT {own}, h, ROW_NUMBER() OVER (PARTITION BY h ORDER BY h) AS copy"
    return (
        f"SELECT {own} FROM (SELECT {own}, {place} AS place FROM ({copies} FROM ({sql}) AS d) "
        "AS e) AS f ORDER BY place"
    )


def join_maps(
    cells: ClusterCells, columns: Sequence[str], records: RecodedRecords, prefix: str
) -> tuple[dict[str, str], str, dict[str, int]]:
    """The values of the release, the joins, and the rows of the tables loaded for them."""
    sizes = {f"{prefix}{i}": len(column.values) for i, column in enumerate(records.maps.values())}
    for table, column in zip(sizes, records.maps.values(), strict=True):
        cells.load(table, column.table())

    def same(own: str, value: str) -> str:
        return f"{cells.as_text(own)} IS NOT DISTINCT FROM {value}"

    values, joins = records.select(columns, same, spelling.literal, [*sizes], cells.as_text)
    if len(records.suppressed):
        cells.load("gone", {"k": ("int", records.suppressed.tolist())})
        sizes["gone"] = len(records.suppressed)
    return values, joins, sizes


def send_whole(tables: Mapping[str, int]) -> str:
    """Tell Spark to send small tables to every worker."""
    few = ", ".join(table for table, rows in tables.items() if rows <= FEW)
    return f"/*+ BROADCAST({few}) */ " if few else ""


def _write_parquet(ask: Ask, sql: str, path: Path, names: Sequence[str]) -> None:
    """Write a directory of Parquet files called part-00000.parquet and so on."""
    ask(sql, lambda frame: frame.toDF(*names).write.options(**NO_MARK).parquet(f"file://{path}"))
    for number, part in enumerate(_parts(path)):
        part.rename(path / f"part-{number:05}.parquet")
    for part in path.iterdir():
        if PART.fullmatch(part.name):
            part.chmod(0o600)
        else:
            part.unlink()  # checksums of Spark's own
    path.chmod(0o700)


def write_cells(
    ask: Ask,
    text: Callable[[str], str],
    sql: str,
    as_text: Collection[str],
    folder: Path,
    names: Sequence[str],
) -> list[Path]:
    """Write counted cells as files of Parquet in a folder of their own; return these files."""
    keys = sql.removeprefix("SELECT ").partition(", COUNT(*)")[0].split(", ")
    fields = ", ".join(f"{text(key) if key in as_text else key} AS o{key}" for key in keys)
    parts = folder / "parts"
    _write_parquet(ask, f"SELECT {fields}, n FROM ({sql}) AS d", parts, [*names, "n"])
    return _parts(parts)


def _write_text(ask: Ask, sql: str, path: Path, header: str) -> None:
    """Write one file: Spark writes parts beside it, which are joined in order."""
    parts = path.with_name(f".{temporary_name()}.part")
    try:
        ask(sql, lambda frame: frame.write.options(**NO_MARK).text(f"file://{parts}", lineSep="\n"))
        with path.open("wb") as file:
            file.write(f"{header}\n".encode() if header else b"")
            for part in _parts(parts):
                with part.open("rb") as content:
                    shutil.copyfileobj(content, file, 1 << 20)
    finally:
        shutil.rmtree(parts, ignore_errors=True)


def _parts(directory: Path) -> list[Path]:
    return sorted(directory.glob("part-*"))


def _line(values: Mapping[str, str], delimiter: str) -> str:
    """SQL for a record as a line of text, with quoted cells where needed."""
    signs = [spelling.literal(sign) for sign in (delimiter, '"', "\n", "\r")]
    quote = spelling.literal('"')
    two = spelling.literal('""')
    cells = []
    for value in values.values():
        odd = " OR ".join([f"{value} = ''", *(f"CONTAINS({value}, {sign})" for sign in signs)])
        quoted = f"CONCAT({quote}, REPLACE({value}, {quote}, {two}), {quote})"
        cells.append(f"CASE WHEN {value} IS NULL THEN '' WHEN {odd} THEN {quoted} ELSE {value} END")
    return f"CONCAT_WS({spelling.literal(delimiter)}, {', '.join(cells)})"
