"""The segments of a state: combinations counted by any engine, added up, and written as Parquet.

Columns are called v0, v1, ... in a file, and the number of records n. Values that Parquet would
change are written as text.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb

from sievert.counts.duckdb import connection, failures
from sievert.counts.duckdb.reading import COPY, literal
from sievert.counts.questions import Questions
from sievert.counts.spellings import LOWER, MOST_FETCHED, NUMBER
from sievert.errors import InputError, RefusedError, require
from sievert.formatting import plural
from sievert.formatting.canonical import canonical_text
from sievert.numerics.special_functions import binomial_from, chi_square_below, poisson_below
from sievert.sources.state_manifest import (
    AGAIN,
    DAMAGED,
    DIGITS,
    MOST_RECORDS,
    Segment,
    StateManifest,
    file_sha256,
    spell_content,
)
from sievert.sources.table import Table

PLAIN = re.compile(r"VARCHAR|BOOLEAN|U?(TINY|SMALL|BIG)?INT(EGER)?|DOUBLE|FLOAT|DATE|DECIMAL\(.*\)")
AS_TEXT = re.compile(r"U?HUGEINT|TIME|TIMESTAMP(_S|_MS|_NS)?|UUID")
MOST_SEGMENTS = 32  # beyond which a state is compacted
BEYOND = f"{{0}} IS NULL OR abs({{0}}) > {MOST_RECORDS}"  # of a count: such a state is damaged
LARGEST_CHANGE = 0.25  # of the rows of the first segment: beyond it a state is compacted, too
LARGEST_UNSEEN = 0.5  # of the new combinations that are expected: fewer, and rows are counted twice
SURE = 200  # expected combinations from which half of them is rarer than RARE (Chernoff's bound)
CANONICAL = f"{NUMBER}|{LOWER}"  # texts that are their own canonical text
RARE = 1e-6  # a chance so small that few new combinations are no accident
UNLIKELY = 1e-4  # the same for two tables that agree too well: 8 of 10^6 random tables did
FREQUENT = 8  # records of a combination in two tables from which their difference tells much
MOST_UNEQUAL = 2  # a table with more times as many records is not compared
REPEATED = 0.01  # the chance at which repeated records of the same people are no accident


Ask = Callable[[str], list[tuple[Any, ...]]]  # returns the rows of a query


def stored_fields(number: int) -> list[str]:
    """The names of the columns in a file."""
    return [f"v{i}" for i in range(number)]


def returned_type(column: str, kind: str) -> str:
    """The type of a column in the state; raise an error if the column cannot be kept."""
    if kind.startswith("ENUM"):
        return "VARCHAR"
    require(
        PLAIN.fullmatch(kind) or AS_TEXT.fullmatch(kind),
        f"column {column!r} of type {kind.partition('(')[0]} is not kept in a state",
        hint=f"--type {column}=text, or the column as text",
        error=InputError,
    )
    return kind


def write_counts(
    questions: Questions, kept: Mapping[str, str], folder: Path, number: int
) -> list[Segment]:
    """Count the combinations of some columns, and write them; the paths are outputs of the engine.

    Packed keys are counted where the table has them; Spark writes one file for each of its parts.
    """
    engine = questions.engine
    names = [questions.sql_name(c) for c in kept]
    keys = ", ".join(names)
    path = segment_path(folder, number)
    sql = f"SELECT {keys}, COUNT(*) AS n FROM input GROUP BY {keys}"
    pairs = zip(names, kept.values(), strict=True)
    as_text = {name for name, kind in pairs if AS_TEXT.fullmatch(kind)}
    paths = engine.write_cells(sql, as_text, folder, stored_fields(len(kept)))
    if paths is not None:
        with duckdb.connect(":memory:", config={**connection.CONFIGURATION}) as reader:
            return [
                describe_segment(
                    file,
                    lambda sql: reader.execute(sql).fetchall(),
                    f"read_parquet({literal(str(file))})",
                )
                for file in _rename_segments(paths, folder, number)
            ]
    packed = _pack(questions, [*kept], names)
    table = questions.keep_table(sql, of_records=True) if packed is None else packed
    values = ", ".join(
        f"CAST(CAST({name} AS {kind}) AS {'VARCHAR' if AS_TEXT.fullmatch(kind) else kind}) AS {v}"
        for name, kind, v in zip(names, kept.values(), stored_fields(len(kept)), strict=True)
    )
    order = ", ".join(stored_fields(len(kept)))
    counted = f"SELECT {values}, CAST(n AS BIGINT) AS n FROM {table} ORDER BY {order}"
    engine.write_counted(counted, path, "state")
    segment = describe_segment(path, engine.rows, table)
    if packed is None:
        questions.drop_tables(table)
    else:
        engine.unregister(packed)
    return [segment]


def _pack(questions: Questions, columns: Sequence[str], names: Sequence[str]) -> str | None:
    """Show the combinations of packed keys to the engine as texts; None if they are unfit."""
    cube = questions.memory.compiled_cube(columns)
    if cube is None:
        return None
    import pyarrow as pa

    arrays = [
        pa.DictionaryArray.from_arrays(
            pa.array(codes.astype("int32")), pa.array(values, pa.string())
        ).dictionary_decode()
        for codes, values in zip(cube.codes, cube.values, strict=True)
    ]
    questions.engine.register("packed", pa.table([*arrays, pa.array(cube.counts)], [*names, "n"]))
    return "packed"


def segment_path(folder: Path, number: int) -> Path:
    """The file of a segment."""
    return folder / f"part-{number:05}.parquet"


def _rename_segments(paths: Iterable[Path], folder: Path, number: int) -> list[Path]:
    targets = []
    for at, path in enumerate(paths, number):
        target = segment_path(folder, at)
        path.rename(target)
        targets.append(target)
    path.parent.rmdir()
    return targets


def describe_segment(path: Path, ask: Ask, table: str) -> Segment:
    """Describe, for the manifest, a file with the content of a table of an engine."""
    path.chmod(0o600)
    ((rows, records, least),) = ask(f"SELECT COUNT(*), SUM(n), MIN(n) FROM {table}")
    signed = least is not None and least < 0
    return Segment(
        file=path.name,
        rows=rows,
        records=int(records or 0),
        signed=signed,
        size=path.stat().st_size,
        sha256=file_sha256(path),
    )


def digest_content(state: StateManifest, threads: int | None) -> tuple[str, str]:
    """The digests of the records of a state, for any order and any files.

    The SHA-256 of each combination is multiplied by its number, and added up. So the digests of two
    states add up to the digest of both together. The second digest counts all spellings of a value
    as one.
    """
    own: dict[str, Any] = {**connection.CONFIGURATION}
    if threads is not None:
        own["threads"] = threads
    fields = stored_fields(len(state.kept))
    with duckdb.connect(":memory:", config=own) as reader:
        spelt = _digest_rows(reader, state.paths, fields, {})
        folded = _fold_spellings(reader, state.paths, fields)
        return spelt, _digest_rows(reader, state.paths, fields, folded) if folded else spelt


def _digest_rows(
    reader: duckdb.DuckDBPyConnection,
    paths: Sequence[Path],
    fields: Sequence[str],
    folded: Mapping[str, str],
) -> str:
    """The digest of the rows of some files, whose columns are read as `folded`."""
    texts = (f"CAST({v} AS VARCHAR)" for v in fields)
    row = " || ".join(f"COALESCE(LENGTH({text}) || ':' || {text}, '-')" for text in texts)
    parts = (f"SUBSTR(h, {1 + DIGITS * i}, {DIGITS})" for i in range(4))
    sums = ", ".join(f"SUM(CAST(n AS HUGEINT) * CAST('0x' || {p} AS BIGINT))" for p in parts)
    rows = _signed_union([(path, 1) for path in paths], fields, folded)
    (numbers,) = reader.execute(
        f"SELECT {sums} FROM (SELECT n, SHA256({row}) AS h FROM ({rows}) AS r) AS d"
    ).fetchall()
    return spell_content(int(number or 0) for number in numbers)


@dataclass(frozen=True)
class Means:
    """The resources that adding up may use."""

    scratch: Path
    memory: str | None = None
    threads: int | None = None


class Sum:
    """Segments added up on a DuckDB of our own, which only reads them and writes the sum."""

    def __init__(
        self,
        parts: Sequence[tuple[Path, int]],
        columns: int,
        output: Path,
        means: Means,
        before: Sequence[Path] = (),
    ) -> None:
        self.output = output
        self._fields = stored_fields(columns)
        self._before = before
        self._keys = ", ".join(self._fields)
        self._files = Table(
            kind="parquet", name="state", path=output, parts=(*(path for path, _ in parts), *before)
        )
        self._connection = connection.own_engine(self._files)
        self._run(
            connection.lock_down(self._files, means.scratch, means.memory, means.threads, [output])
        )
        signed = _signed_union(parts, self._fields, {})
        self._run(
            f"CREATE TEMP TABLE sums AS SELECT {self._keys}, TRY_CAST(SUM(n) AS BIGINT) AS n "
            f"FROM ({signed}) AS d GROUP BY {self._keys} HAVING SUM(n) <> 0"
        )
        ((large,),) = self._run(f"SELECT COUNT(*) FROM sums WHERE {BEYOND.format('n')}")
        require(not large, f"a count of a state is {DAMAGED}", hint=AGAIN, error=InputError)

    def __enter__(self) -> "Sum":
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()

    def _run(self, sql: str) -> list[tuple[Any, ...]]:
        try:
            return self._connection.execute(sql).fetchall()
        except duckdb.Error as error:
            raise failures.explain(error, self._files, self._connection, "sums") from None

    def require_there(self) -> None:
        """Raise an error if the sum takes away more than it and the files before have."""
        lacking = "SELECT -n AS n FROM sums WHERE n < 0"
        if self._before:
            same = " AND ".join(f"a.{v} IS NOT DISTINCT FROM b.{v}" for v in self._fields)
            keys = ", ".join(f"a.{v}" for v in self._fields)
            paths = ", ".join(literal(str(path)) for path in self._before)
            lacking = (
                f"SELECT GREATEST(0, -MAX(a.n) - COALESCE(SUM(b.n), 0)) AS n "
                f"FROM (SELECT * FROM sums WHERE n < 0) AS a "
                f"LEFT JOIN read_parquet([{paths}]) AS b ON {same} GROUP BY {keys}"
            )
        ((number,),) = self._run(f"SELECT COALESCE(SUM(n), 0) FROM ({lacking}) AS d")
        require(
            not number,
            f"{plural(int(number), 'record')} to take away, but not there",
            hint="the records as they were counted",
            error=RefusedError,
        )

    def write(self) -> Segment:
        """Write the sum, in one order."""
        how = COPY["state"].format()
        target = literal(str(self.output))
        self._run(f"COPY (SELECT * FROM sums ORDER BY {self._keys}) TO {target} ({how})")
        return describe_segment(self.output, self._run, "sums")


@dataclass(frozen=True)
class Overlap:
    """The records of one table with a combination that another table lacks.

    `expected` is their expected number if they were other people of the same kind: the share of
    records that are alone in the larger table (Good 1953). If combinations have a person,
    `repeating` is the share of repeated combinations among the records of the larger table.
    """

    records: int
    unseen: int
    expected: float
    repeating: float | None = None

    @property
    def repeats_people(self) -> bool:
        """Whether more records of the same people repeat than within the larger table."""
        if self.repeating is None or self.records == self.unseen:
            return False
        return binomial_from(self.records - self.unseen, self.records, self.repeating) < REPEATED

    @property
    def suspicious(self) -> bool:
        """Whether far fewer combinations are new than other people would have brought."""
        if self.repeats_people:
            return True
        if self.unseen >= LARGEST_UNSEEN * self.expected:
            return False
        return self.expected > SURE or poisson_below(self.unseen, self.expected) < RARE


def count_overlap(
    small: Sequence[tuple[Path, int]],
    large: Sequence[tuple[Path, int]],
    columns: int,
    means: Means,
    *,
    people: bool = False,
) -> Overlap:
    """Compare the combinations of two counted tables, each given by its signed files.

    With `people` a combination has the person, so an equal combination is a repeated record.

    All spellings of a value count as one: another spelling does not make another table.
    """
    fields = stored_fields(columns)
    keys = ", ".join(fields)
    own_keys = ", ".join(f"a.{v}" for v in fields)
    same = " AND ".join(f"a.{v} IS NOT DISTINCT FROM b.{v}" for v in fields)
    first = max((path for path, sign in large if sign > 0), key=lambda path: path.stat().st_size)
    files = Table(
        kind="parquet",
        name="state",
        path=first,
        parts=tuple({path for path, _ in (*small, *large)}),
    )
    engine = connection.own_engine(files)
    try:
        engine.execute(connection.lock_down(files, means.scratch, means.memory, means.threads, []))
        folded = _fold_spellings(engine, files.parts, fields)
        ((alone, whole),) = engine.execute(
            "SELECT COUNT(*) FILTER (n = 1), SUM(n) FROM ("
            f"SELECT SUM(n) AS n FROM ({_signed_union([(first, 1)], fields, folded)}) AS s "
            f"GROUP BY {keys}) AS d"
        ).fetchall()
        ((records, unseen),) = engine.execute(
            "SELECT COALESCE(SUM(n), 0), COALESCE(SUM(n) FILTER (there <= 0), 0) FROM ("
            "SELECT ANY_VALUE(a.n) AS n, COALESCE(SUM(b.n), 0) AS there FROM ("
            f"SELECT {keys}, SUM(n) AS n FROM ({_signed_union(small, fields, folded)}) AS s "
            f"GROUP BY {keys} HAVING SUM(n) > 0) AS a "
            f"LEFT JOIN ({_signed_union(large, fields, folded)}) AS b ON {same} "
            f"GROUP BY {own_keys}) AS d"
        ).fetchall()
    except duckdb.Error as error:
        raise failures.explain(error, files, engine, "sums") from None
    finally:
        engine.close()
    share = alone / whole if whole and whole > 0 else 0.0
    seen_again = int(whole or 0) - int(alone)
    return Overlap(
        records=int(records),
        unseen=int(unseen),
        expected=float(records * share),
        repeating=(seen_again + 1) / (int(whole or 0) + 2) if people else None,
    )


@dataclass(frozen=True)
class CountAgreement:
    """How closely the frequencies of combinations agree in two tables.

    `distance` is the chi-square statistic of homogeneity over the `cells` combinations that are
    frequent enough; each difference counts as half a record more than it is. `same` is whether
    every combination has as many records in one table as in the other.
    """

    cells: int
    distance: float
    same: bool

    @property
    def suspicious(self) -> bool:
        """Whether other people would hardly agree as well."""
        return self.same or (self.cells > 1 and self.chance < UNLIKELY)

    @property
    def chance(self) -> float:
        """The chance that other people of the same kind agree at least as well."""
        return chi_square_below(self.distance, self.cells - 1)


def find_agreement(
    added: Sequence[tuple[Path, int]],
    counted: Sequence[tuple[Path, int]],
    columns: int,
    means: Means,
) -> CountAgreement | None:
    """Find the closest agreement of an added table with all counted files, and with single files.

    None if none has a similar number of records: a part of a table agrees no better than other
    people would. All spellings of a value count as one. If records are taken away at the same time,
    only the records that remain are compared: a table may replace another one.
    """
    fields = stored_fields(columns)
    paths = tuple(dict.fromkeys(path for path, _ in (*added, *counted)))
    files = Table(kind="parquet", name="state", path=paths[0], parts=paths)
    engine = connection.own_engine(files)
    wholes = [[*counted]]
    if len(counted) > 1 and all(sign > 0 for _, sign in counted):
        wholes += [[file] for file in counted]
    try:
        engine.execute(connection.lock_down(files, means.scratch, means.memory, means.threads, []))
        folded = _fold_spellings(engine, files.parts, fields)
        own = _count_cells_of(engine, "added", added, fields, folded)
        agreements = []
        for number, whole in enumerate(wholes):
            name = f"counted{number}"
            size = _count_cells_of(engine, name, whole, fields, folded)
            if min(own, size) * MOST_UNEQUAL >= max(own, size) > 0:
                agreements.append(_compare_counts(engine, "added", name, fields))
            engine.execute(f"DROP TABLE {name}")
    except duckdb.Error as error:
        raise failures.explain(error, files, engine, "sums") from None
    finally:
        engine.close()
    for agreement in agreements:
        if agreement.same:
            return agreement
    return min(agreements, key=lambda agreement: agreement.chance, default=None)


def _count_cells_of(
    engine: duckdb.DuckDBPyConnection,
    name: str,
    parts: Sequence[tuple[Path, int]],
    fields: Sequence[str],
    folded: Mapping[str, str],
) -> int:
    """Count the combinations of some files in a table `name`; return their records."""
    keys = ", ".join(fields)
    engine.execute(
        f"CREATE TEMP TABLE {name} AS SELECT {keys}, CAST(SUM(n) AS BIGINT) AS n "
        f"FROM ({_signed_union(parts, fields, folded)}) AS s GROUP BY {keys} HAVING SUM(n) > 0"
    )
    ((records,),) = engine.execute(f"SELECT COALESCE(SUM(n), 0) FROM {name}").fetchall()
    return int(records)


def _compare_counts(
    engine: duckdb.DuckDBPyConnection, first: str, second: str, fields: Sequence[str]
) -> CountAgreement:
    """Compare how frequent combinations are in two tables of an engine."""
    same = " AND ".join(f"a.{v} IS NOT DISTINCT FROM b.{v}" for v in fields)
    pairs = (
        f"SELECT COALESCE(a.n, 0) AS x, COALESCE(b.n, 0) AS y FROM {first} AS a "
        f"FULL OUTER JOIN {second} AS b ON {same}"
    )
    ((cells, x, y, differences),) = engine.execute(
        f"SELECT COUNT(*) FILTER (frequent), SUM(x) FILTER (frequent), SUM(y) FILTER (frequent), "
        f"SUM(ABS(x - y)) FROM (SELECT x, y, x + y >= {FREQUENT} AS frequent FROM ({pairs}) AS c) "
        "AS d"
    ).fetchall()
    if not x or not y:
        return CountAgreement(cells=0, distance=0.0, same=not differences)
    share = int(x) / int(x + y)
    ((distance,),) = engine.execute(
        "SELECT SUM(POW(ABS(x - (x + y) * CAST(? AS DOUBLE)) + 0.5, 2) / (x + y)) "
        f"FROM ({pairs}) AS c WHERE x + y >= {FREQUENT}",
        [share],
    ).fetchall()
    statistic = float(distance) / (share * (1 - share))
    return CountAgreement(cells=int(cells), distance=statistic, same=not differences)


def _fold_spellings(
    engine: duckdb.DuckDBPyConnection, paths: Sequence[Path], fields: Sequence[str]
) -> dict[str, str]:
    """The SQL that reads the canonical texts of each column with several spellings of a value.

    The texts are in tables of `engine`. In a column with too many values, only case and the blanks
    around a value are folded.
    """
    source = f"read_parquet([{', '.join(literal(str(path)) for path in paths)}])"
    described = engine.execute(f"DESCRIBE SELECT * FROM {source}").fetchall()
    texts = {name for name, kind, *_ in described if kind == "VARCHAR"}
    folded: dict[str, str] = {}
    for field in fields:
        if field not in texts:
            continue
        spelt = engine.execute(
            f"SELECT DISTINCT {field} FROM {source} WHERE {field} IS NOT NULL "
            f"AND NOT regexp_full_match({field}, {literal(CANONICAL)}) LIMIT {MOST_FETCHED + 1}"
        ).fetchall()
        if len(spelt) > MOST_FETCHED:
            folded[field] = f"lower(trim({field}))"
            continue
        canonical = {text: canonical_text(text) for (text,) in spelt}
        changed = {text: own for text, own in canonical.items() if own != text}
        if changed:
            engine.execute(
                f"CREATE TEMP TABLE canonical_{field} AS "
                "SELECT UNNEST(?::VARCHAR[]) AS spelt, UNNEST(?::VARCHAR[]) AS text",
                [[*changed], [*changed.values()]],
            )
            own = f"(SELECT text FROM canonical_{field} WHERE spelt = {field})"
            folded[field] = f"COALESCE({own}, {field})"
    return folded


def _signed_union(
    parts: Sequence[tuple[Path, int]], fields: Sequence[str], folded: Mapping[str, str]
) -> str:
    """The rows of some files, negative ones taken away; columns are read as in `folded`."""
    columns = ", ".join(f"{folded[v]} AS {v}" if v in folded else v for v in fields)
    return " UNION ALL ".join(
        f"SELECT {columns}, {sign} * CAST(n AS HUGEINT) AS n "
        f"FROM read_parquet([{_paths(parts, sign)}])"
        for sign in sorted({sign for _, sign in parts})
    )


def _paths(parts: Sequence[tuple[Path, int]], sign: int) -> str:
    return ", ".join(literal(str(path)) for path, own in parts if own == sign)


def is_fragmented(state: StateManifest) -> bool:
    """Whether a state has enough changes to be compacted."""
    first, *changes = state.segments
    changed = sum(segment.rows for segment in changes)
    return len(state.segments) > MOST_SEGMENTS or changed > LARGEST_CHANGE * first.rows


def check_sum(segment: Segment, records: int) -> None:
    """Raise an error if a sum does not cover every record."""
    require(
        segment.records == records,
        f"segments cover {segment.records} records where the manifest has {records}: {DAMAGED}",
        hint=AGAIN,
        error=InputError,
    )
