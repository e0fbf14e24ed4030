"""The options of `measures`."""

from dataclasses import dataclass

from sievert.formatting import ENGLISH
from sievert.settings.command import LinesCommand
from sievert.settings.groups import Language
from sievert.settings.option import option
from sievert.settings.readers import TEXTS


@dataclass(frozen=True, kw_only=True)
class MeasuresSettings(LinesCommand):
    """Every measure and every loss: what it means, its range, its source."""

    ids: tuple[str, ...] = option(
        "Only these, by id or by a name that the field uses: k, DR, t, suda.",
        default=(),
        place=True,
        reader=TEXTS,
    )
    language: Language = option(
        "The language of titles and readings; formulas and sources are as they are.",
        default=ENGLISH,
    )
    json: str | None = option(
        "Write the records to this file; - is stdout.", default=None, file=True
    )
    force: bool = option("Replace an existing file that sievert has not written.", default=False)
    debug: bool = option("Show the traceback of an error.", default=False)

    @property
    def is_printed(self) -> bool:
        """Tell whether the records are printed: not if they are written to a file."""
        return self.json is None
