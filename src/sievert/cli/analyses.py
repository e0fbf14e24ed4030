"""The commands that analyse a table: options in, outputs written, an exit code."""

# Annotations are not deferred here: options are read from them.
from pathlib import Path
from typing import Annotated

from sievert.cli.command_options import MethodOptions
from sievert.cli.function_command import FunctionCall
from sievert.cli.options import (
    EngineOptions,
    OutputOptions,
    PageOptions,
    ReadingOptions,
    RoleOptions,
)
from sievert.cli.parameters import TableName, Traits


def compromise(
    data: TableName,
    /,
    *,
    roles: RoleOptions = RoleOptions(),
    method: MethodOptions = MethodOptions(),
    records: Annotated[Path | None, Traits(heading="Output")] = None,
    charts: Annotated[Path | None, Traits(heading="Output")] = None,
    reading: ReadingOptions = ReadingOptions(),
    output: OutputOptions = OutputOptions(),
    page: PageOptions = PageOptions(),
    engine: EngineOptions = EngineOptions(),
) -> int:
    """Say how near an intruder comes to a confidential number under sampling, queries or noise.

    Parameters
    ----------
    data
        The original table, as for assess; -s names columns of numbers.
    records
        Write one row a record, in input order, to this .csv or .parquet file.
    charts
        Draw what is left against what is known, as SVG files in this directory.
    """
    command = FunctionCall("compromise", roles, reading, output, page, engine, charts)
    return command.run(
        command.check_tables(data, method.release),
        data,
        files=[records],
        records=records,
        force=output.force,
        show_values=output.show_values,
        **method.arguments(),
    )
