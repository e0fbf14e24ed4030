"""The terminal output of `sievert attack`."""

from __future__ import annotations

from sievert.commands._attack_chapter import attack_lines
from sievert.commands._terminal import whole_text
from sievert.commands.attack.result import Attacks


def render(result: Attacks, *, width: int = 100, everything: bool = False) -> str:
    """The whole text of attacks that need more than the release."""
    lines = attack_lines(result.attacks, result.rows, width=width, everything=everything)
    return whole_text(result, lines, width, "" if everything else "All numbers: --all.")
