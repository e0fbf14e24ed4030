"""Where the result of a command that prints a few lines is written."""

# Annotations are not deferred here: options are read from them.
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sievert.cli.messages import say
from sievert.cli.options import SpokenLanguage
from sievert.cli.parameters import JsonFile
from sievert.formatting import ENGLISH


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
