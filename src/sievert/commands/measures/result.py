"""The result of `sievert measures`: measures, losses and other documented quantities."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sievert.commands.measures.catalogue import Entry, describe_entry, to_json
from sievert.report.texts import Texts
from sievert.result import DescribedResult
from sievert.version import __version__


@dataclass(frozen=True, repr=False)
class EntryList(DescribedResult):
    """Measures, losses and topics, in the order in which they are described."""

    entries: tuple[Entry, ...]

    def to_dict(self) -> dict[str, Any]:
        """The JSON of the command line."""
        return {"sievert": __version__, **to_json(self.entries)}

    def _lines(self, texts: Texts) -> Iterator[str]:
        paragraphs = ("\n".join(describe_entry(entry, texts)) for entry in self.entries)
        yield "\n\n".join(paragraphs)
