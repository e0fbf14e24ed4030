"""The command `sketch`: its options, and the call of its function."""

# Annotations are not deferred here: options are read from them.
from pathlib import Path
from typing import Annotated

from sievert.cli.function_command import FunctionCall
from sievert.cli.options import (
    EngineOptions,
    OutputOptions,
    PageOptions,
    ReadingOptions,
    RoleOptions,
)
from sievert.cli.parameters import TableName, Traits
from sievert.errors import require
from sievert.roles import Typed


def sketch(
    data: TableName,
    /,
    *others: TableName,
    roles: RoleOptions = RoleOptions(),
    key_set: Annotated[list[str] | None, Traits(heading="Roles")] = None,
    subsets: Annotated[int | None, Traits(heading="Roles")] = None,
    salt: Annotated[Path | None, Traits(heading="Output")] = None,
    size: Annotated[int, Traits(heading="Output")] = 1 << 18,
    out: Annotated[Path | None, Traits(("--out", "-o"), "Output")] = None,
    reading: ReadingOptions = ReadingOptions(),
    output: OutputOptions = OutputOptions(),
    page: PageOptions = PageOptions(),
    engine: EngineOptions = EngineOptions(),
) -> int:
    """Estimate how exposed people are from a small sketch of a huge table, or of several tables.

    Of a table, make a sketch: a sample of its classes, in one pass. Of sketches, show what they say
    together: sievert sketch A.sketch B.sketch -o C.sketch merges them.

    Parameters
    ----------
    data
        The table, as for assess, or a sketch.
    others
        More sketches, which are merged with the first.
    key_set
        In place of -q: a set of columns that an outsider could know together: age,zip. May be
        repeated; each has a sketch of its own, all made in one pass.
    subsets
        A sketch of every set of up to so many columns of -q.
    salt
        A file of at least 16 secret bytes, the same for all tables that are to be merged: without
        it, whoever has the sketch can look for known people in it.
    size
        Bytes of each sketch, at most.
    out
        Write the sketches to this file, to merge and to look at later.
    """
    command = FunctionCall("sketch", roles, reading, output, page, engine, None)
    tables = command.check_tables(data, *others)
    require(not output.show_values, "--show-values goes with explain and attacks")
    return command.run(
        tables,
        tables if others else data,
        inputs=[salt],
        files=[out],
        announced=True,
        key_sets=None if key_set is None else [Typed([text]) for text in key_set],
        subsets=subsets,
        salt=salt,
        size=size,
        out=out,
        force=output.force,
    )
