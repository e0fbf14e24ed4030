"""`python -m sievert`, and the command."""

import gc
import os
import signal
import sys
from contextlib import suppress
from types import FrameType

# Commands that count. They multiply no large matrices, and threads for that take as long to start
# as all else that NumPy loads.
COUNTING = {
    *("assess", "columns", "completion", "count", "explain", "hierarchies", "ledger", "measures"),
    *("merge", "policy", "report", "sketch", "update"),
}
STOPPING = [signal.SIGINT, signal.SIGTERM]
if hasattr(signal, "SIGHUP"):
    STOPPING.append(signal.SIGHUP)

_noted: list[int] = []

signal.signal(signal.SIGINT, signal.SIG_DFL)  # until main begins, it ends a command without a word


def _hold_signals() -> None:
    """Let signals wait until a command is ready for them, and again once it is done.

    A thread that does not hold them back only notes them. Where a system has no signal masks, a
    signal while a command starts ends it without a word.
    """
    if not hasattr(signal, "pthread_sigmask"):
        return
    signal.pthread_sigmask(signal.SIG_BLOCK, STOPPING)
    for number in STOPPING:
        if signal.getsignal(number) == signal.SIG_DFL:  # nohup ignores one, which stays so
            signal.signal(number, _note)


def _note(number: int, _frame: FrameType | None) -> None:
    _noted.append(number)


def _open_streams() -> None:
    """A stream that the caller has closed is nothing: no file of ours takes its number."""
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest number that is free
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(number, mode, encoding="utf-8", closefd=False))


def _leave(code: int) -> None:
    """End the process at once, so that no signal comes too late to change its exit code.

    All output has been written by now. Tidying up inside Python would only take time.
    """
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    waiting = signal.sigpending() if hasattr(signal, "sigpending") else set()
    late = [*_noted, *sorted(waiting.intersection(STOPPING))]
    if late and code <= 128:
        with suppress(OSError):
            os.write(2, b"interrupted\n")
        code = 128 + late[0]
    os._exit(code)


def main() -> None:
    """Run the command line."""
    _hold_signals()
    gc.set_threshold(100_000)  # new objects between two looks for cycles, which imports hardly make
    if sys.argv[1:] and sys.argv[1] in COUNTING:
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    _open_streams()
    from sievert.cli.app import main as run
    from sievert.sources import isolation

    isolation.settle_temporary_directory()
    try:
        run()
    except SystemExit as end:
        assert isinstance(end.code, int)
        _leave(end.code)


if __name__ == "__main__":
    main()
