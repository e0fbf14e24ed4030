"""The names of the engines, written from their registrations."""

from __future__ import annotations

from pathlib import Path

from sievert.counts.engines import ENGINES

MODULE = Path(__file__).parents[1] / "src/sievert/sources/engine_names.py"
HEAD = '''"""The engines that count tables, for types and the command line; by `make generate`.

They are registered in `counts.engines`.
"""

from typing import Literal

'''


def module() -> str:
    """The text of the module."""
    names = ", ".join(f'"{name}"' for name in ENGINES)
    return f"{HEAD}EngineName = Literal[{names}]\n"


if __name__ == "__main__":
    MODULE.write_text(module(), encoding="utf-8")
