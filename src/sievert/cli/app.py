"""The command line: its commands, signals and exit codes. Data on stdout, the rest on stderr."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, NoReturn, TextIO

from sievert.errors import MissingRolesError, SettingsError, SievertError
from sievert.numerics import machine
from sievert.sources import isolation

if TYPE_CHECKING:
    from sys import UnraisableHookArgs
    from types import FrameType

HELP = {"--help", "-h"}
NO_FILES = {*HELP, "--version"}  # options with which a command reads no files
# Commands that run in this process; the last two start a child for every request or command.
NO_CHILD: tuple[list[str], ...] = ([], ["help"], ["serve"], ["workbench"])

_stopped: list[int] = []
_swallowed: list[int] = []


def _stop(number: int, frame: FrameType | None) -> None:
    """Remember the signal, because engines turn its exception into one of their own.

    A signal during an import is sent again later: a compiled module would abort with a traceback.
    So is a signal while a lost one is sent again, as it would be lost, too.
    """
    while frame is not None:
        importing = frame.f_code.co_filename.startswith("<frozen importlib")
        if importing or frame.f_code is _not_swallowed.__code__:
            _send_again(number)
            return
        frame = frame.f_back
    again = bool(_swallowed)
    _swallowed.clear()
    _stopped.append(128 + number)
    if len(_stopped) == 1 or again:  # a second signal must not disturb the cleaning up
        raise KeyboardInterrupt


def _not_swallowed(lost: UnraisableHookArgs) -> None:
    """Send a signal again that was lost because it came while an object was deleted."""
    if not (_stopped and issubclass(lost.exc_type, KeyboardInterrupt)):
        sys.__unraisablehook__(lost)
        return
    number = _stopped[0] - 128
    _swallowed.append(number)
    _send_again(number)


def _send_again(number: int) -> None:
    """Send the same signal in a moment."""
    here = threading.main_thread().ident or 0
    soon = threading.Timer(0.01, machine.signal_main_thread, (here, number))
    soon.daemon = True
    soon.start()


def main(tokens: Iterable[str] | None = None) -> NoReturn:
    """Run the command line and leave with one of the documented exit codes.

    Files are read in a child process: a crash of a reader is an exit code, not a crash.
    """
    os.umask(0o077)
    for stream in (sys.stdout, sys.stderr):
        _write_anything(stream)
    arguments = list(sys.argv[1:] if tokens is None else tokens)
    try:
        alone = not NO_FILES.isdisjoint(_options(arguments)) or arguments[:1] in NO_CHILD
        if alone:
            code = run_until_stopped(arguments)
        else:
            code = isolation.supervise(lambda: run_until_stopped(arguments))
    except SievertError as error:
        code = _complain(error, arguments)
    raise SystemExit(code)


def _write_anything(stream: TextIO) -> None:
    """Escape characters that the encoding lacks; use UTF-8 in a plain locale."""
    reconfigure = getattr(stream, "reconfigure", None)
    if reconfigure is not None:
        plain = stream.encoding.lower().replace("_", "-") in ("ascii", "us-ascii", "ansi-x3.4-1968")
        reconfigure(encoding="utf-8" if plain else stream.encoding, errors="backslashreplace")


def run_until_stopped(arguments: list[str], call: Callable[[], int] | None = None) -> int:
    """Run a command; signals are received only here, so that none is lost before or after.

    A `call` takes the place of the command that the arguments name. The arguments still say who may
    see its errors.
    """
    sys.unraisablehook = _not_swallowed
    try:
        with machine.held_signals(), machine.handled_signals(_stop):
            return _run(arguments, call)
    except KeyboardInterrupt:
        return _report_interrupt()


def _run(arguments: list[str], call: Callable[[], int] | None = None) -> int:
    from sievert.cli import messages

    try:
        return _call(arguments) if call is None else call()
    except KeyboardInterrupt:
        return _report_interrupt()
    except Exception as error:
        if _stopped:
            return _report_interrupt()
        if "--debug" in arguments and not messages.to_be_shared(arguments):
            _trace(error, values="--show-values" in arguments)
        if isinstance(error, OSError):
            messages.forget(sys.stdout)
        return _complain(messages.in_our_words(error), arguments)


def _options(tokens: list[str]) -> set[str]:
    """The tokens that may be options: those before the two hyphens that end the options."""
    return {*tokens[: tokens.index("--")]} if "--" in tokens else {*tokens}


def _call(arguments: list[str]) -> int:
    """Run a command, or show its help or the version; return the exit code."""
    from sievert.cli import parser

    tokens = parser.join_lists(arguments)
    options = _options(tokens)
    if "--version" in options:
        from sievert.cli.messages import say
        from sievert.version import __version__

        say(f"{__version__}\n")
        return 0
    command, rest = parser.split_command(tokens)
    if HELP & options or command not in parser.COMMANDS:
        from sievert.cli.help.run import show_page

        show_page(command)
        return 0
    from sievert.cli import calls

    return calls.call(command, rest)


def _trace(error: Exception, *, values: bool) -> None:
    """Print the traceback of an error; with `values`, also the words of engines and libraries."""
    import traceback

    from sievert.cli.messages import tell

    if values:
        error.__suppress_context__ = False
        tell(traceback.format_exc())
        return
    link: BaseException | None = error
    while link is not None:
        tell("".join(traceback.format_tb(link.__traceback__)))
        tell(f"{type(link).__name__} (its words may hold values: --show-values)\n")
        link = link.__cause__ or link.__context__


def _report_interrupt() -> int:
    """Say that the command was interrupted; return the exit code of the signal."""
    from sievert.cli.messages import tell

    tell("interrupted\n")
    return _stopped[0] if _stopped else 130


def _complain(error: SievertError, arguments: Sequence[str] = ()) -> int:
    """Print an error in a line; with --share it names no file, no column and no small count."""
    from sievert.cli import messages

    text = f"{error}"
    if isinstance(error, MissingRolesError) and arguments and not messages.to_be_shared(arguments):
        question, lines = error.describe(messages.language_of(arguments))
        messages.tell(f"{question}\n{lines}\n\n  {messages.command_line(arguments, error)}\n")
        return error.exit_code
    plain = error in messages.ABOUT_SHARING or isinstance(error, SettingsError)
    if messages.to_be_shared(arguments) and not plain:
        plainly = messages.PLAINLY[error.exit_code]
        text = f"{plainly}. Try: the same without --share, which says more"
    messages.tell(f"error: {text}\n")
    return error.exit_code
