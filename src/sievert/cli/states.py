"""The commands of count states: `count`, `merge` and `update`."""

# Annotations are not deferred here: options are read from them.
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from sievert.cli.messages import say
from sievert.cli.options import (
    EngineOptions,
    Names,
    ReadingOptions,
    SpokenLanguage,
    typed_names,
)
from sievert.cli.parameters import JsonFile, TableName, Traits
from sievert.errors import require
from sievert.formatting import ENGLISH
from sievert.roles import Typed

ChangeTables = Annotated[list[str] | None, Traits(file=True)]
NewState = Annotated[Path | None, Traits(("--out", "-o"), "Output")]


@dataclass(frozen=True)
class CountReading(ReadingOptions):
    """How the data are read; what goes with assess is refused, and not in the help."""

    suppressed: Annotated[str, Traits(hidden=True)] = "*"
    keep_suppressed: Annotated[bool, Traits(hidden=True)] = False
    missing: Annotated[str, Traits(hidden=True)] = "value"


CountReading.__doc__ = ReadingOptions.__doc__  # where the options are explained


@dataclass(frozen=True)
class StateOutput:
    """What is written beside a state.

    Attributes
    ----------
    json_
        Write what the state holds, without values, to this file; - is stdout.
    force
        Replace a state that is there, or a file that sievert has not written.
    language
        The language of the terminal.
    debug
        Show where in the program an error came up.
    """

    heading = "Output"

    json_: JsonFile = None
    force: bool = False
    language: SpokenLanguage = ENGLISH
    debug: bool = False

    def show(self, work: Callable[[Any], Any], inputs: list[Any]) -> int:
        """Do the work, write its JSON, and say what there is; the exit code."""
        from sievert.cli.outputs import check_outputs, write_json
        from sievert.cli.progress import Watch

        check_outputs([self.json_], inputs, force=self.force)
        with Watch() as watch:
            result = work(watch)
        if self.json_ is not None:
            write_json(self.json_, result.to_dict(), inputs, force=self.force)
        if self.json_ != "-":
            say(f"{result.describe(self.language)}\n")
        return 0 if getattr(result, "passed", True) else 1


def count(
    data: TableName,
    /,
    *,
    quasi: Annotated[Names, Traits(("--quasi", "-q", "--qi"), "Roles")] = None,
    sensitive: Annotated[Names, Traits(("--sensitive", "-s", "--sa"), "Roles")] = None,
    identifier: Annotated[Names, Traits(("--identifier", "-i"), "Roles")] = None,
    person: Annotated[str | None, Traits(heading="Roles")] = None,
    policy: Annotated[Path | None, Traits(heading="Roles")] = None,
    leave_out: Annotated[Names, Traits(heading="Roles")] = None,
    out: NewState = None,
    reading: CountReading = CountReading(),
    output: StateOutput = StateOutput(),
    engine: EngineOptions = EngineOptions(),
) -> int:
    """Count a table into a state, which assess, explain and protect accept in its place.

    A state is a directory with every combination of the columns below that occurs and how many
    records have it. It is as sensitive as the data.

    Parameters
    ----------
    data
        The table, as for assess.
    quasi
        Columns an outsider could know about a person: age,zip. May be repeated.
    sensitive
        Secrets: disease,salary. May be repeated.
    identifier
        Columns that are dropped before release; never measured.
    person
        The column that tells people apart, where they may have several rows.
    policy
        A TOML file; only its roles and its codes for missing are used.
    leave_out
        Columns that the state knows only by name and number of values: identifiers of a table whose
        state is to be updated.
    out
        The directory of the state, which is made.
    """
    from sievert.commands.state import api

    options = reading.arguments()
    kept = options.pop("keep_suppressed") or options.pop("suppressed") != "*"
    require(
        options.pop("missing") == "value" and not kept,
        "--missing and --suppressed go with assess: a state has all records",
    )
    require(out is not None, "where is the state to be written?", hint="-o DIRECTORY")
    return output.show(
        lambda watch: api.count(
            data,
            typed_names(quasi),
            typed_names(sensitive),
            typed_names(identifier),
            out=str(out),
            person=person,
            policy=policy,
            leave_out=Typed(leave_out or ()),
            force=output.force,
            watch=watch,
            **options,
            **engine.arguments(),
        ),
        [data, policy],
    )


def merge(
    *states: Path,
    out: NewState = None,
    subtract: bool = False,
    again: bool = False,
    memory: Annotated[str | None, Traits(heading="Engine")] = None,
    threads: Annotated[int | None, Traits(heading="Engine")] = None,
    temp: Annotated[Path | None, Traits(heading="Engine")] = None,
    output: StateOutput = StateOutput(),
) -> int:
    """Add count states of the same columns up: the sum is that of counting the tables together.

    Parameters
    ----------
    states
        Two or more states.
    out
        The directory of the sum, which is made.
    subtract
        Take all other states away from the first; records that are not there are refused.
    again
        Accept a state whose records, or most of them, seem to be in another one.
    memory
        The most memory for data, such as 4GB.
    threads
        The most threads the engine may use.
    temp
        Where the private temporary directory is made.
    """
    from sievert.commands.state import api

    require(out is not None, "where is the sum to be written?", hint="-o DIRECTORY")
    return output.show(
        lambda watch: api.merge(
            list(states),
            out=str(out),
            subtract=subtract,
            again=again,
            force=output.force,
            memory=memory,
            threads=threads,
            temp=temp,
            watch=watch,
        ),
        [*states],
    )


def update(
    state: Path,
    /,
    *,
    add: ChangeTables = None,
    remove: ChangeTables = None,
    compact: bool = False,
    again: bool = False,
    output: StateOutput = StateOutput(),
    engine: EngineOptions = EngineOptions(),
) -> int:
    """Add records to a count state, or take some away: the same as counting the table again.

    Parameters
    ----------
    state
        The directory of the state.
    add
        A table of new records, read as the one that was counted. May be repeated.
    remove
        A table of records that are gone; those that are not there are refused. May be repeated.
    compact
        Put all segments into one; done anyway where changes have a quarter of its rows.
    again
        Accept a table whose records were added or removed already, or seem to be counted already.
    """
    from sievert.commands.state import api

    return output.show(
        lambda watch: api.update(
            state,
            add=list(add or ()),
            remove=list(remove or ()),
            compact=compact,
            again=again,
            watch=watch,
            **engine.arguments(),
        ),
        [state, *(add or ()), *(remove or ())],
    )
