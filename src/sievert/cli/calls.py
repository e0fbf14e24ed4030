"""A call of a command: its options are read, and its work is done."""

from collections.abc import Mapping
from typing import Any

from sievert.cli.parser import parameters_of, parse, settings_of, work_of
from sievert.errors import RefusedError, UsageError, require
from sievert.settings.command import Command, DocumentCommand, LinesCommand, PageCommand
from sievert.settings.option import Parameter, from_command_line
from sievert.sources.addresses import holds_password


def call(command: str, tokens: list[str]) -> int:
    """Call a command with the options of the tokens; return the exit code."""
    require(
        not any(map(holds_password, tokens)),
        "a password in a command is seen by everybody on the machine",
        hint="PGPASSWORD in the environment, or ~/.pgpass",
        error=RefusedError,
    )
    try:
        places, values = parse(parameters_of(command), command, tokens)
    except UsageError as error:
        raise UsageError(error.what, hint=error.hint or f"sievert {command} --help") from None
    settings = from_command_line(settings_of(command), places, values)
    return call_with(command, settings, values)


def call_with(command: str, settings: Command, typed: Mapping[Parameter, Any]) -> int:
    """Call a command with its settings; return the exit code.

    `typed` has the options as they were typed.
    """
    work = work_of(command)
    if isinstance(settings, PageCommand):
        from sievert.cli.command import PageCall

        name = command.partition(" ")[0]
        return PageCall(name=name, settings=settings, typed=typed, run=work).work()
    if isinstance(settings, LinesCommand):
        from sievert.cli.command import LinesCall

        return LinesCall(settings=settings, run=work).work()
    if isinstance(settings, DocumentCommand):
        from sievert.cli.command import DocumentCall

        return DocumentCall(settings=settings, run=work).work()
    code: int = work(settings)
    return code
