"""`python -m sievert`, and the command."""

import gc
import os
import signal
import sys

# Commands that count. They multiply no large matrices, and threads for that take as long to start
# as all else that NumPy loads.
COUNTING = {
    *("assess", "columns", "completion", "count", "explain", "hierarchies", "ledger", "measures"),
    *("merge", "policy", "report", "sketch", "update"),
}

signal.signal(signal.SIGINT, signal.SIG_DFL)  # a signal while importing ends it without a word


def _open_streams() -> None:
    """A stream that the caller has closed is nothing: no file of ours takes its number."""
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest number that is free
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(number, mode, encoding="utf-8", closefd=False))


def main() -> None:
    """Run the command line."""
    gc.set_threshold(100_000)  # new objects between two looks for cycles, which imports hardly make
    if sys.argv[1:] and sys.argv[1] in COUNTING:
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    _open_streams()
    from sievert.cli.app import main as run

    run()


if __name__ == "__main__":
    main()
