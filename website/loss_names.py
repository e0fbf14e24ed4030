"""The names of the losses that protect minimises, written from their records."""

from __future__ import annotations

from pathlib import Path

from sievert.methods.full_domain.losses import MINIMISED

MODULE = Path(__file__).parents[1] / "src/sievert/formatting/loss_names.py"
HEAD = '''"""The losses that `protect` can minimise, for the command line; by `make generate`.

The records of the losses are in `methods.full_domain.losses`; the command line reads its options
without loading them.
"""

from typing import Literal, get_args

# How pages write each loss.
WRITTEN = {
'''
END = """]
LOSSES: tuple[Loss, ...] = get_args(Loss)
"""


def module() -> str:
    """The text of the module."""
    written = "".join(f'    "{loss.id}": "{loss.written}",\n' for loss in MINIMISED)
    names = "".join(f'    "{loss.id}",\n' for loss in MINIMISED)
    return f"{HEAD}{written}}}\nLoss = Literal[\n{names}{END}"


if __name__ == "__main__":
    MODULE.write_text(module(), encoding="utf-8")
