"""The public function `write_report`, written from the settings by `make generate`."""

from typing import Any

from sievert.commands.report.run import write
from sievert.commands.report.settings import ReportPageSettings
from sievert.settings.groups import Language, Place


def write_report(
    results: Any,
    *,
    html: Place | None = None,
    markdown: Place | None = None,
    share: bool = False,
    internal: bool = False,
    title: str | None = None,
    texts: Place | None = None,
    min_cell: int | None = None,
    mask_names: bool = False,
    language: Language = "en",
    force: bool = False,
) -> None:
    r"""Write one result, or several, as one page to decide from.

    Parameters
    ----------
    results
        What assess, explain, attack, compare, compromise or limit return, or the path of a JSON
        file that one was saved to; one of them, or several.
    html
        Write the result to this file, as one page that needs nothing else; exact and internal,
        or shareable with `share`.
    markdown
        Write the same page as Markdown to this file.
    share
        Make the page short and shareable: verdicts, and numbers that one person can hardly
        move. Without it the page is exact, and marked as internal.
    internal
        No longer needed: a page is internal without `share`.
    title
        The page's title.
    texts
        A TOML file with sentences of the page in other words.
    min_cell
        With `share`: so many people must change to move a number by a step; 10 unless given.
    mask_names
        With `share`: hide the names of columns too.
    language
        The language of the page: "en" or "de".
    force
        Replace existing files that sievert has not written.
    """
    settings = ReportPageSettings(
        results=results,
        html=html,
        markdown=markdown,
        share=share,
        internal=internal,
        title=title,
        texts=texts,
        min_cell=min_cell,
        mask_names=mask_names,
        language=language,
        force=force,
    )
    write(settings)
