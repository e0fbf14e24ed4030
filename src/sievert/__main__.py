"""`python -m sievert`, and the command."""

import signal

signal.signal(signal.SIGINT, signal.SIG_DFL)  # a signal while importing ends it without a word


def main() -> None:
    """Run the command line."""
    from sievert.cli.app import main as run

    run()


if __name__ == "__main__":
    main()
