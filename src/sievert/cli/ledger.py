"""The commands `ledger add`, `ledger check` and `ledger show`: options, and calls of functions."""

# Annotations are not deferred here: options are read from them.
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from sievert.cli.function_command import FunctionCall
from sievert.cli.options import (
    EngineOptions,
    GateOptions,
    Options,
    OutputOptions,
    PageOptions,
    ReadingOptions,
    RoleOptions,
)
from sievert.cli.parameters import TableName, Traits
from sievert.cli.states import StateOutput
from sievert.errors import require


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

    def salt_of(self, ledger: Path) -> Path:
        """The file of the salt of a ledger."""
        from sievert.commands.ledger.store import salt_beside

        return salt_beside(ledger) if self.salt is None else self.salt


@dataclass(frozen=True)
class ListOutput(StateOutput):
    """Where the list of releases is written.

    Attributes
    ----------
    json_
        Write the list of releases to this file; - is stdout.
    force
        Replace an existing file that sievert has not written.
    language
        The language of the terminal.
    debug
        Show where in the program an error came up.
    """


def add(
    ledger: Path,
    release: TableName,
    /,
    *,
    roles: RoleOptions = RoleOptions(),
    entry: LedgerOptions = LedgerOptions(),
    date: Annotated[str | None, Traits(heading="Release")] = None,
    reading: ReadingOptions = ReadingOptions(),
    output: ListOutput = ListOutput(),
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
    """
    from sievert.commands.ledger import api

    given = roles.arguments()
    others = given.pop("hierarchies") or given.pop("parameters")
    require(not others, "--hierarchy and --alpha-value do not go with ledger add")
    given.pop("parameters", None)
    inputs = [ledger, release, entry.salt_of(ledger), *roles.files]
    options = {**entry.arguments(), **given, **reading.arguments(), **engine.arguments()}
    return output.show(
        lambda watch: api.add_to_ledger(ledger, release, date=date, watch=watch, **options), inputs
    )


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
    command = FunctionCall("ledger", roles, reading, output, page, engine, None, gate)
    why = "--show-values goes with explain and attacks: nothing here names values"
    require(not output.show_values, why)
    # The table here has the key of its people, and is not the file that goes out.
    gate.refuse(
        "ledger check answers for a release without its key, which is no file here",
        "assess the release for the pipeline; the exit code of ledger check tells its answer",
    )
    return command.run(
        command.check_tables(release),
        ledger,
        release,
        function="check_with_ledger",
        inputs=[ledger, entry.salt_of(ledger)],
        **entry.arguments(),
    )


def show(ledger: Path, /, *, output: ListOutput = ListOutput()) -> int:
    """List the releases of a ledger; this needs no salt.

    Parameters
    ----------
    ledger
        The file of the ledger.
    """
    from sievert.commands.ledger import api

    return output.show(lambda _: api.read_ledger(ledger), [ledger, LedgerOptions().salt_of(ledger)])
