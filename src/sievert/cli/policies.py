"""The command that checks a policy against a table."""

# Annotations are not deferred here: cyclopts would evaluate each of them on every call.
import sys
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from sievert.cli.options import EngineOptions, ReadingOptions
from sievert.errors import require


def check(
    file: Path,
    data: str | Path,  # always a text; shells complete the names of files
    /,
    *,
    fix: bool = False,
    json_: Annotated[str | None, Parameter(name="--json", allow_leading_hyphen=True)] = None,
    force: bool = False,
    debug: bool = False,
    reading: ReadingOptions = ReadingOptions(),
    engine: EngineOptions = EngineOptions(),
) -> int:
    """Say what a policy lacks for a table: roles, columns, limits that make sense, a statement.

    The exit code is 0 if it lacks nothing and 1 if it does; whether its limits are met is for
    assess to say.

    Parameters
    ----------
    file
        The policy, a TOML file.
    data
        The table, as for assess.
    fix
        Write what is lacking into the policy, as comments with suggestions. They change nothing:
        no column gets a role, and no limit is changed, until somebody has decided.
    json_
        Write what is lacking to this file; - is stdout.
    force
        Replace an existing file that sievert has not written.
    debug
        Show where in the program an error came up.
    """
    from sievert.cli.outputs import check_outputs, write_json
    from sievert.cli.progress import Watch
    from sievert.commands.policy import api

    options = reading.arguments()
    require(options.pop("missing") == "value", "--missing does not go with policy check")
    check_outputs([json_], [file, data], force=force)
    with Watch() as watch:
        result = api.check_policy(file, data, fix=fix, watch=watch, **options, **engine.arguments())
    if json_ is not None:
        write_json(json_, result.to_dict(), [file, data], force=force)
    if json_ != "-":
        sys.stdout.write(f"{result!r}\n")
    return 0 if result.passed else 1
