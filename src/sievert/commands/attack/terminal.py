"""The terminal output of `sievert attack`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sievert.commands._attack_chapter import attack_lines
from sievert.commands._terminal import heading_lines, note_lines

if TYPE_CHECKING:
    from sievert.commands.attack.result import Attacks


def render(result: Attacks, *, width: int = 100, everything: bool = False) -> str:
    """The whole text of attacks that need more than the release."""
    lines = heading_lines(result, width)
    lines += attack_lines(result.attacks, result.rows, width=width, everything=everything)
    lines += note_lines(result.warnings, width)
    return "\n".join(lines if everything else [*lines, "", "All numbers: --all."])
