"""The commands `ledger add`, `ledger check` and `ledger show`: options, and calls of functions."""

# Annotations are not deferred here: options are read from them.
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from sievert.cli.command import Command
from sievert.cli.messages import say
from sievert.cli.options import (
    EngineOptions,
    GateOptions,
    Options,
    OutputOptions,
    PageOptions,
    ReadingOptions,
    RoleOptions,
    SpokenLanguage,
)
from sievert.cli.parameters import JsonFile, TableName, Traits
from sievert.errors import require
from sievert.formatting.language import ENGLISH


@dataclass(frozen=True)
class LedgerOptions(Options):
    """What a release is called, and the salt of its ledger.

    Attributes
    ----------
    name
        What the release is called; the name of its file unless given.
    salt
        The file of the salt, without which nobody is found again; LEDGER.salt unless given.
    """

    heading = "Release"

    name: str | None = None
    salt: Path | None = None


def add(
    ledger: Path,
    release: TableName,
    /,
    *,
    roles: RoleOptions = RoleOptions(),
    entry: LedgerOptions = LedgerOptions(),
    date: Annotated[str | None, Traits(heading="Release")] = None,
    reading: ReadingOptions = ReadingOptions(),
    language: SpokenLanguage = ENGLISH,
    json_: JsonFile = None,
    force: bool = False,
    debug: bool = False,
    engine: EngineOptions = EngineOptions(),
) -> int:
    """Note what a release says about whom, so that later ones can be held against it.

    The ledger has the class of every person and the values of secrets as keyed hashes, not the
    data. --person names the column, or several, by which people are found again.

    Parameters
    ----------
    ledger
        The file of the ledger; it is made, and a salt beside it, if it is not there.
    release
        Your own copy of the release, with the key of its people; as for assess.
    date
        When it was released, YYYY-MM-DD; today unless given.
    language
        The language of the terminal.
    json_
        Write the list of releases to this file; - is stdout.
    force
        Replace an existing file that sievert has not written.
    debug
        Show where in the program an error came up.
    """
    from sievert.cli.outputs import check_outputs
    from sievert.cli.progress import Watch
    from sievert.commands.ledger import api

    given = roles.arguments()
    others = given.pop("hierarchies") or given.pop("parameters")
    require(not others, "--hierarchy and --alpha-value do not go with ledger add")
    given.pop("parameters", None)
    inputs = [ledger, release, entry.salt, roles.policy]
    check_outputs([json_], inputs, force=force)
    with Watch() as watch:
        result = api.add_to_ledger(
            ledger,
            release,
            date=date,
            watch=watch,
            **entry.arguments(),
            **given,
            **reading.arguments(),
            **engine.arguments(),
        )
    return _show(result, json_, inputs, language, force=force)


def check(
    ledger: Path,
    release: TableName,
    /,
    *,
    roles: RoleOptions = RoleOptions(),
    entry: LedgerOptions = LedgerOptions(),
    reading: ReadingOptions = ReadingOptions(),
    output: OutputOptions = OutputOptions(),
    gate: GateOptions = GateOptions(),
    page: PageOptions = PageOptions(),
    engine: EngineOptions = EngineOptions(),
) -> int:
    """Hold a new release against a policy together with the releases of a ledger.

    An attacker knows a person's values in every release, and in which releases the person is. The
    limits apply to people who look alike in all of them. The exit code is 1 unless the policy is
    met; the ledger is not changed.

    Parameters
    ----------
    ledger
        The file of the ledger.
    release
        Your own copy of the new release, with the key of its people; as for assess.
    """
    command = Command("ledger", roles, reading, output, page, engine, None, gate)
    why = "--show-values goes with explain and attacks: nothing here names values"
    require(not output.show_values, why)
    return command.run(
        command.check_tables(release),
        ledger,
        release,
        function="check_with_ledger",
        inputs=[ledger, entry.salt],
        **entry.arguments(),
    )


def show(
    ledger: Path,
    /,
    *,
    language: SpokenLanguage = ENGLISH,
    json_: JsonFile = None,
    force: bool = False,
    debug: bool = False,
) -> int:
    """List the releases of a ledger; this needs no salt.

    Parameters
    ----------
    ledger
        The file of the ledger.
    language
        The language of the terminal.
    json_
        Write the list to this file; - is stdout.
    force
        Replace an existing file that sievert has not written.
    debug
        Show where in the program an error came up.
    """
    from sievert.cli.outputs import check_outputs
    from sievert.commands.ledger import api

    check_outputs([json_], [ledger], force=force)
    return _show(api.read_ledger(ledger), json_, [ledger], language, force=force)


def _show(result: Any, to: str | None, inputs: list[Any], language: str, *, force: bool) -> int:
    """Write a list of releases as JSON, or print it."""
    from sievert.cli.outputs import write_json

    if to is not None:
        write_json(to, result.to_dict(), [i for i in inputs if i is not None], force=force)
    if to != "-":
        say(f"{result.describe(language)}\n")
    return 0
