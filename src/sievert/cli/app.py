"""The command line: its commands, signals and exit codes. Data on stdout, the rest on stderr."""

from __future__ import annotations

import codecs
import io
import os
import signal
import sys
import threading
import traceback
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Literal, NoReturn

from cyclopts import App, Parameter

from sievert.cli import analyses, documents, messages
from sievert.cli.options import STDIN, join_lists
from sievert.errors import MissingRolesError, SettingsError, SievertError
from sievert.sources import isolation
from sievert.version import __version__

if TYPE_CHECKING:
    from sys import UnraisableHookArgs
    from types import FrameType

app = App(
    name="sievert",
    version=__version__,
    help=(
        "Measure how much a data release exposes the people in it.\n\n"
        "Exit codes: 0 done; 1 a policy is not met or undecided; 2 usage; 3 input unreadable; 5 "
        "memory, disk or time ran out; 6 the engine failed; 7 refused for safety; 70 a defect of "
        "sievert; 130, 143 interrupted."
    ),
    help_format="plaintext",
    default_parameter=Parameter(negative=()),
    suppress_keyboard_interrupt=False,
)
# Errors are ours to print, and results are exit codes.
PLAINLY: Any = {"exit_on_error": False, "print_error": False, "result_action": "return_value"}
for command in (
    analyses.assess,
    analyses.attack,
    analyses.compare,
    analyses.compromise,
    analyses.limit,
    analyses.explain,
    documents.report,
    documents.paper,
    documents.measures,
):
    app.command(command)
policy = App(name="policy", help="Check a policy against a table.")
policy.command(documents.check)
app.command(policy)


@app.command(name="help")
def show_help(*command: str) -> None:
    """Show this page, or the page of a command: sievert help assess.

    Parameters
    ----------
    command
        The name of a command.
    """
    app([*command, "--help"], **PLAINLY)


@app.command
def completion(shell: Literal["bash", "zsh", "fish"], /) -> None:
    """Print the script that completes commands and options in a shell.

    In bash: sievert completion bash > ~/.local/share/bash-completion/completions/sievert

    Parameters
    ----------
    shell
        The shell that reads it.
    """
    sys.stdout.write(app.generate_completion(shell=shell) + "\n")


_stopped: list[int] = []
_swallowed: list[int] = []


def _stop(number: int, _frame: FrameType | None) -> None:
    """Remember the signal: engines turn its exception into one of their own."""
    again = bool(_swallowed)
    _swallowed.clear()
    _stopped.append(128 + number)
    if len(_stopped) == 1 or again:  # a second one must not disturb the tidying up
        raise KeyboardInterrupt


def _not_swallowed(lost: UnraisableHookArgs) -> None:
    """A signal that comes while an object is deleted stops nothing there: send it again."""
    if not (_stopped and issubclass(lost.exc_type, KeyboardInterrupt)):
        sys.__unraisablehook__(lost)
        return
    number = _stopped[0] - 128
    _swallowed.append(number)
    here = threading.main_thread().ident or 0  # a call that waits is woken in its own thread only
    soon = threading.Timer(0.01, signal.pthread_kill, (here, number))
    soon.daemon = True
    soon.start()


def main(tokens: Iterable[str] | None = None) -> NoReturn:
    """Run the command line and leave with one of the documented exit codes."""
    os.umask(0o077)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            plain = codecs.lookup(stream.encoding).name == "ascii"  # a plain locale
            encoding = "utf-8" if plain else stream.encoding
            stream.reconfigure(encoding=encoding, errors="backslashreplace")
    for number in isolation.SIGNALS:
        signal.signal(number, _stop)
    sys.unraisablehook = _not_swallowed
    arguments = list(sys.argv[1:] if tokens is None else tokens)
    try:  # files are read in a child process: a crash of a reader is an exit code, not a crash
        code = isolation.supervise(lambda: _run(arguments))
    except SievertError as error:
        code = _complain(error, arguments)
    raise SystemExit(code)


def _run(arguments: list[str]) -> int:
    given = join_lists(arguments)
    tokens = [
        STDIN if token == "-" and previous != "--json" else token
        for previous, token in zip(["", *given], given, strict=False)
    ]
    try:
        code = app(tokens, **PLAINLY)
        sys.stdout.flush()
        return code if isinstance(code, int) else 0
    except BrokenPipeError:
        _forget_output()
        return 0
    except KeyboardInterrupt:
        return _report_interrupt()
    except Exception as error:
        if _stopped:
            return _report_interrupt()
        if "--debug" in arguments and not messages.to_be_shared(arguments):
            _trace(error, values="--show-values" in arguments)
        if isinstance(error, OSError):
            _forget_output()
        return _complain(messages.in_our_words(error), arguments)


def _trace(error: Exception, *, values: bool) -> None:
    """Where an error came up; the words of engines and libraries only where values may be shown."""
    if values:
        error.__suppress_context__ = False
        traceback.print_exc()
        return
    link: BaseException | None = error
    while link is not None:
        sys.stderr.write("".join(traceback.format_tb(link.__traceback__)))
        sys.stderr.write(f"{type(link).__name__} (its words may hold values: --show-values)\n")
        link = link.__cause__ or link.__context__


def _forget_output() -> None:
    """What is still in the buffer cannot be written either; do not fail again at the exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _report_interrupt() -> int:
    sys.stderr.write("interrupted\n")
    return _stopped[0] if _stopped else 130


def _complain(error: SievertError, arguments: Iterable[str] = ()) -> int:
    """Print the line of an error; with --share it names no file, no column and no small count."""
    text = f"{error}"
    if isinstance(error, MissingRolesError) and not messages.to_be_shared(arguments):
        sys.stderr.write(f"{error.body}\n\n  {messages.command_line(arguments, error)}\n")
        return error.exit_code
    plain = error in messages.ABOUT_SHARING or isinstance(error, SettingsError)
    if messages.to_be_shared(arguments) and not plain:
        plainly = messages.PLAINLY[error.exit_code]
        text = f"{plainly}. Try: the same without --share, which says more"
    sys.stderr.write(f"error: {text}\n")
    return error.exit_code
