"""The entries that `sievert measures` is asked for."""

from sievert.commands.measures.catalogue import find_entries
from sievert.commands.measures.result import EntryList
from sievert.commands.measures.settings import MeasuresSettings
from sievert.session import Steps, no_progress


def run(settings: MeasuresSettings, watch: Steps = no_progress) -> EntryList:
    """Find the measures and losses of some names, or all of them; `watch` is told nothing."""
    return EntryList(tuple(find_entries(settings.ids)))
