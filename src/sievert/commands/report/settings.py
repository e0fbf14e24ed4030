"""The options of `report`."""

from dataclasses import dataclass
from typing import Any, ClassVar

from sievert.errors import INTERNAL_AND_SHARED, require
from sievert.formatting import ENGLISH
from sievert.settings.command import DocumentCommand
from sievert.settings.groups import Language, Place
from sievert.settings.option import option
from sievert.settings.readers import PATH, PATHS


@dataclass(frozen=True, kw_only=True)
class ReportPageSettings(DocumentCommand):
    """Put results that were saved with --json on one page; without a file, Markdown on stdout."""

    reference: ClassVar[str] = """Write one result, or several, as one page to decide from."""
    in_order: ClassVar[tuple[str, ...]] = ("results",)

    results: Any = option(
        "JSON files of assess, explain, attack, compare, compromise and limit, in the order of "
        "their chapters.",
        in_python="What assess, explain, attack, compare, compromise or limit return, or the path "
        "of a JSON file that one was saved to; one of them, or several.",
        reader=PATHS,
        place=True,
        reads=True,
    )
    html: Place | None = option(
        "Write the result to this file, as one page that needs nothing else; exact and internal, "
        "or shareable with --share.",
        default=None,
        heading="Page",
        reader=PATH,
    )
    markdown: Place | None = option(
        "Write the same page as Markdown to this file.", default=None, heading="Page", reader=PATH
    )
    share: bool = option(
        "Make the page short and shareable; without it, it is exact and internal.",
        in_python="Make the page short and shareable: verdicts, and numbers that one person can "
        "hardly move. Without it the page is exact, and marked as internal.",
        default=False,
    )
    internal: bool = option(
        "No longer needed: every output is internal without --share.",
        in_python="No longer needed: a page is internal without `share`.",
        default=False,
        heading="Page",
        hidden=True,
    )
    title: str | None = option(
        "With --html or --markdown: the page's title.",
        in_python="The page's title.",
        default=None,
        heading="Page",
    )
    texts: Place | None = option(
        "With --html or --markdown: a TOML file with sentences of the page in other words.",
        in_python="A TOML file with sentences of the page in other words.",
        default=None,
        heading="Page",
        reader=PATH,
        reads=True,
    )
    min_cell: int | None = option(
        "With --share: so many people must change to move a number by a step; 10 unless given.",
        default=None,
    )
    mask_names: bool = option("With --share: hide the names of columns too.", default=False)
    language: Language = option(
        "The language of the page.",
        in_python='The language of the page: "en" or "de".',
        default=ENGLISH,
    )
    force: bool = option("Replace existing files that sievert has not written.", default=False)
    debug: bool = option("Show the traceback of an error.", default=False, side="command line")

    @property
    def shows_progress(self) -> bool:
        """Tell that there are no steps to be shown."""
        return False

    def check(self) -> None:
        """Refuse a title without a page, a page of nothing, and one of two kinds."""
        beside = self.title is not None or self.texts is not None
        require(not beside or self.has_page, "--title and --texts go with --html or --markdown")
        self.check_endings(existing=False)  # existing files are checked first
        require(self.results, "no result given", hint="sievert report RESULT.json --html FILE")
        if self.internal and self.share:
            raise INTERNAL_AND_SHARED
