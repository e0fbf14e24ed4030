"""A call of a command: its options are read, and its work is done."""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

from sievert.cli.parser import (
    COMMANDS,
    CommandPlace,
    function_of,
    parameters_of,
    parse,
    settings_of,
)
from sievert.errors import RefusedError, UsageError, require
from sievert.settings.command import Command, ListCommand, PageCommand
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
    if isinstance(COMMANDS[command], str):
        return _call_function(function_of(command), places, values)
    settings = from_command_line(settings_of(command), places, values)
    return call_with(command, settings, values)


def _call_function(
    function: Callable[..., Any], places: list[Any], values: Mapping[Any, Any]
) -> int:
    """Call a function whose arguments are options, or groups of options."""
    arguments: dict[str, Any] = {}
    for parameter, value in values.items():
        if parameter.field:
            arguments.setdefault(parameter.argument, {})[parameter.field] = value
        else:
            arguments[parameter.argument] = value
    groups = {n: g for n, g in function.__annotations__.items() if hasattr(g, "heading")}
    arguments |= {n: group(**arguments.get(n, {})) for n, group in groups.items()}
    return function(*places, **arguments) or 0


def call_with(command: str, settings: Command, typed: Mapping[Parameter, Any]) -> int:
    """Call a command with its settings; return the exit code.

    `typed` has the options as they were typed.
    """
    place = COMMANDS[command]
    assert isinstance(place, CommandPlace)
    work: Callable[..., Any] = getattr(import_module(f"sievert.{place.folder}.run"), place.run)
    if isinstance(settings, PageCommand):
        from sievert.cli.command import PageCall

        name = command.partition(" ")[0]
        return PageCall(name=name, settings=settings, typed=typed, run=work).work()
    if isinstance(settings, ListCommand):
        from sievert.cli.command import ListCall

        return ListCall(settings=settings, run=work).work()
    code: int = work(settings)
    return code
