"""The result of `sievert report`: one page of the results of other commands."""

from dataclasses import dataclass, replace

from sievert.report.page import Page
from sievert.result import DocumentResult


@dataclass(frozen=True, kw_only=True)
class ResultsPage(DocumentResult):
    """One page of several results."""

    content: Page
    has_file: bool  # whether the page is written to a file; else the terminal shows all of it

    def page(self) -> Page:
        """The page."""
        return self.content

    def text(self) -> str:
        """The first screen for the terminal; the whole page as Markdown if there is no file."""
        from sievert.report import markdown, terminal

        if self.has_file:
            return terminal.for_stdout(replace(self.content, chapters=()))
        return markdown.render(self.content)
