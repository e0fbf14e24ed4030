"""What `help` is asked for."""

from dataclasses import dataclass

from sievert.settings.command import TextCommand
from sievert.settings.option import option
from sievert.settings.readers import TEXTS


@dataclass(frozen=True, kw_only=True)
class HelpSettings(TextCommand):
    """Show this page, or the page of a command: sievert help assess."""

    command: tuple[str, ...] = option(
        "The name of a command.", default=(), place=True, reader=TEXTS
    )
