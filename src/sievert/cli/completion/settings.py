"""What `completion` is asked for."""

from dataclasses import dataclass
from typing import Literal

from sievert.settings.command import TextCommand
from sievert.settings.option import option

Shell = Literal["bash", "zsh", "fish"]


@dataclass(frozen=True, kw_only=True)
class CompletionSettings(TextCommand):
    """Print the script that completes commands and options in a shell.

    In bash:

        sievert completion bash > ~/.local/share/bash-completion/completions/sievert
    """

    shell: Shell = option("The shell that reads it.", place=True)
