"""Cells that stay on Spark because they are too many to be fetched, and its dialect for them."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Protocol

import numpy as np

from sievert.counts.spark import spelling
from sievert.errors import InvariantError, UsageError, require

SQL_TYPES = {"text": "STRING", "int": "BIGINT"}
NO_RECORDS = UsageError("--records does not go with --engine spark", hint="--engine duckdb")


ORDER = re.compile(r" ORDER BY ([\w, ]+)$")  # of columns that the query selects


class Ask(Protocol):
    """Passes the frame of a query to a function; failures become our errors."""

    def __call__(
        self, sql: str, use: Callable[[Any], Any], parameters: Sequence[Any] = ()
    ) -> Any: ...


def has_arrow() -> bool:
    """Whether answers can come as columns: Spark needs pyarrow for that."""
    from pyspark.sql.pandas.utils import require_minimum_pyarrow_version

    try:
        require_minimum_pyarrow_version()
    except ImportError:
        return False
    return True


class ClusterCells:
    """Tables of cells in a session of Spark, which answers from them."""

    def __init__(self, ask: Ask, session: Any, kinds: Mapping[str, str]) -> None:
        self._ask = ask
        self._session = session
        self._kinds = list(kinds.values())
        self._kept: dict[str, Any] = {}
        self._secrets: set[str] = set()  # the columns that s stands for
        self._arrow = has_arrow()

    def keep(self, name: str, sql: str, parameters: Sequence[Any] = ()) -> None:
        """Keep a small table from which later questions start: the first of them counts it."""
        if name in self._kept:
            return
        self._secrets |= set(re.findall(r"(c\d+) AS s\b", sql))

        def keep(frame: Any) -> None:
            self._kept[name] = frame.persist()
            frame.createOrReplaceTempView(name)

        self._ask(sql, keep, parameters)

    def forget(self, name: str) -> None:
        """Drop a table, if it is there."""
        if name not in self._kept:
            return
        self._session.catalog.dropTempView(name)
        self._kept.pop(name).unpersist()

    def forget_all(self) -> None:
        """Leave nothing in a running session; a session that has died does not answer."""
        with suppress(Exception):
            for kept in self._kept.values():
                kept.unpersist()

    def rows(self, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """The answer, row by row."""
        return list(map(tuple, self._ask(sql, lambda frame: frame.collect(), parameters)))

    def arrays(self, sql: str) -> list[Any]:
        """The answer, column by column."""
        return self.each_answer([sql])[0]

    def each_answer(self, queries: Sequence[str]) -> list[list[Any]]:
        """The answers to several queries in one, each column by column.

        They are sorted here: Spark would look at all rows twice to sort them across partitions.
        """
        plain = [ORDER.sub("", sql) for sql in queries]
        if not self._arrow:
            answers = []
            for query in plain:
                rows, names = self._ask(query, lambda frame: (frame.collect(), frame.columns))
                columns = list(zip(*rows, strict=True)) if rows else [()] * len(names)
                answers.append(dict(zip(names, columns, strict=True)))
        elif len(plain) == 1:
            table = self._ask(plain[0], lambda frame: frame.toArrow())
            answers = [dict(zip(table.column_names, table.columns, strict=True))]
        else:
            answers = self._unite(plain)
        return [_sort(answer, sql) for answer, sql in zip(answers, queries, strict=True)]

    def _unite(self, queries: Sequence[str]) -> list[dict[str, Any]]:
        """Answer several queries by one, with a column for the rows of each answer."""
        parts = []
        for i, query in enumerate(queries):
            fields = ["NULL"] * len(queries)
            fields[i] = "ARRAY(STRUCT(*))"  # in a missing structure, no field could be present
            names = ", ".join(f"{field} AS r{j}" for j, field in enumerate(fields))
            parts.append(f"SELECT {names} FROM ({query}) AS d")
        table = self._ask(" UNION ALL ".join(parts), lambda frame: frame.toArrow())
        answers = []
        for column in table.columns:
            rows = column.combine_chunks().flatten()
            own = [field.name for field in rows.type]
            answers.append(dict(zip(own, rows.flatten(), strict=True)))
        return answers

    def load(self, table: str, columns: Mapping[str, tuple[str, Sequence[Any]]]) -> None:
        """Make a table from values of this process."""
        if any(kind not in SQL_TYPES for kind, _ in columns.values()):  # numbers of records
            raise NO_RECORDS
        rows = zip(*(values for _, values in columns.values()), strict=True)
        text = json.dumps([dict(zip(columns, r, strict=True)) for r in rows], ensure_ascii=False)
        types = ", ".join(f"{name} {SQL_TYPES[kind]}" for name, (kind, _) in columns.items())
        parsed = f"SELECT EXPLODE(FROM_JSON(?, 'ARRAY<STRUCT<{types}>>')) AS x"
        self.keep(table, f"SELECT x.* FROM ({parsed}) AS d", [text])

    # -- dialect --------------------------------------------------------------------------------

    def list_downwards(self, value: str) -> str:
        return f"SORT_ARRAY(COLLECT_LIST({value}), false)"

    def list_in_order(self, value: str, by: str) -> str:
        pairs = f"SORT_ARRAY(COLLECT_LIST(NAMED_STRUCT('r', {by}, 'v', {value})))"
        return f"TRANSFORM({pairs}, x -> x.v)"

    def list_pairs(self, n: str, ns: str, wide: bool) -> str:
        return f"COLLECT_LIST(NAMED_STRUCT('n', {n}, 'ns', {ns}))"

    def profile(self, wide: bool) -> str:
        return "SORT_ARRAY(TRANSFORM(held, x -> x.n), false)"

    def each_pair(self, table: str, wide: bool) -> str:
        return f"SELECT nq, x.n, x.ns FROM (SELECT nq, EXPLODE(held) AS x FROM {table}) AS u"

    def gap(self, records: int, wide: bool) -> str:
        factor = "DECIMAL(19, 0)" if wide else "BIGINT"
        total = "DECIMAL(38, 0)" if wide else "BIGINT"
        n = f"CAST(x.n AS {factor})"
        ns = f"CAST(x.ns AS {factor})"
        nq = f"CAST(nq AS {factor})"
        whole = f"CAST({records} AS {factor})"
        term = f"GREATEST(CAST(0 AS {total}), {n} * {whole} - {ns} * {nq})"
        return f"AGGREGATE(held, CAST(0 AS {total}), (g, x) -> CAST(g + {term} AS {total}))"

    def as_text(self, value: str) -> str:
        column = value.rpartition(".")[2]
        columns = self._secrets if column == "s" else {column}
        return spelling.as_text(value, [self._kinds[int(c.removeprefix("c"))] for c in columns])


def _plain(value: Any) -> Any:
    """A value of NumPy as one of Python; other values unchanged."""
    return value.tolist() if hasattr(value, "tolist") else value


def _sort(answer: Mapping[str, Any], sql: str) -> list[Any]:
    """Sort the rows of an answer as its query wants; no value may be missing."""
    require(
        not any(getattr(column, "null_count", 0) for column in answer.values()),
        "an engine answered with a missing count",
        error=InvariantError,
    )
    columns = {
        name: np.asarray(column) if hasattr(column, "null_count") else column
        for name, column in answer.items()
    }
    order = ORDER.search(sql)
    if order is None:
        return list(columns.values())
    keys = [[_plain(value) for value in columns[name]] for name in order[1].split(", ")]
    rows = list(zip(*keys, strict=True))
    places = sorted(range(len(rows)), key=rows.__getitem__)
    return [[column[place] for place in places] for column in columns.values()]
