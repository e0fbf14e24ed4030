"""The public function `describe_columns`: the columns of a table, each with a likely role."""

from typing import Any, Unpack

from sievert.commands.columns.result import ColumnList
from sievert.commands.columns.run import look_at_columns
from sievert.request.requested import LARGE, Reading
from sievert.request.table_description import describe_table
from sievert.session import Steps, no_progress
from sievert.sources.options import ReaderOptions

__all__ = ["ColumnList", "describe_columns"]


def describe_columns(
    data: Any,
    *,
    verify: bool = False,
    show_values: bool = False,
    watch: Steps = no_progress,
    **source: Unpack[ReaderOptions],
) -> ColumnList:
    """Say what the columns of a table look like, and suggest a role for each.

    Parameters
    ----------
    data
        The table: a path, a frame, a dict of lists.
    verify
        Check the page checksums of Parquet files.
    show_values
        Name the most frequent values of each column; without it no value is named.
    source
        How to read: delimiter, encoding, types, na, engine, memory, threads, temp.

    >>> table = {"age": [str(n % 63 + 18) for n in range(200)], "salary": ["1", "2"] * 100}
    >>> [(c.name, c.values, c.role) for c in describe_columns(table).columns]
    [('age', 63, 'quasi'), ('salary', 2, 'sensitive')]
    """
    reading = Reading(watch, LARGE, verify=verify, **source)
    with reading(data) as (table, questions):
        reading.clock("looking at the values", questions)
        columns = look_at_columns(questions, show_values=show_values)
        description = describe_table(table, questions)
    reading.clock.stop()
    return ColumnList(description, columns)
