"""One paper, recomputed as the command line asks for it."""

from dataclasses import dataclass
from typing import Any

from sievert import papers
from sievert.papers import pages
from sievert.papers.claims import Given, Paper
from sievert.papers.settings import PaperSettings
from sievert.report.page import Page
from sievert.result import DocumentResult
from sievert.session import Steps, no_progress

REPLICATES = 30  # as in the paper


@dataclass(frozen=True, kw_only=True)
class RecomputedPaper(DocumentResult):
    """A recomputed paper, and how much of it the terminal shows."""

    paper: Paper
    everything: bool  # not only the claims that do not hold

    def to_dict(self) -> dict[str, Any]:
        """The JSON of the command line."""
        return pages.as_dict(self.paper)

    def page(self) -> Page:
        """The paper on one page."""
        return pages.page(self.paper)

    def text(self) -> str:
        """The paper on a screen."""
        return pages.terminal(self.paper, everything=self.everything) + "\n"


def run(settings: PaperSettings, watch: Steps = no_progress) -> RecomputedPaper:
    """Recompute a paper; `watch` is told of every step."""
    given = Given(
        data=dict(settings.data or {}),
        seed=settings.seed,
        replicates=REPLICATES if settings.replicates is None else settings.replicates,
        step=lambda what: watch(what, None),
    )
    paper = papers.recompute(settings.name, given)
    return RecomputedPaper(paper=paper, everything=settings.everything)
