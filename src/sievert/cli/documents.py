"""The commands that print what is known: saved results on a page, papers."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

from sievert.cli.messages import say
from sievert.cli.options import (
    PageOptions,
    SpokenLanguage,
    pairs,
)
from sievert.cli.parameters import JsonFile, Traits
from sievert.errors import require
from sievert.formatting import ENGLISH

PAPERS = (
    "itpr",
    "discrimination-rate",
    "mutual-information",
    "relative-risk",
    "approximate-compromise",
)


def report(
    *results: Path,
    page: PageOptions = PageOptions(),
    share: bool = False,
    min_cell: int | None = None,
    mask_names: bool = False,
    language: SpokenLanguage = ENGLISH,
    force: bool = False,
    debug: bool = False,
) -> int:
    """Put results that were saved with --json on one page; without a file, Markdown on stdout.

    Parameters
    ----------
    results
        JSON files of assess, explain, attack, compare, compromise and limit, in the order of their
        chapters.
    share
        Make the page short and shareable; without it, it is exact and internal.
    min_cell
        With --share: so many people must change to move a number by a step; 10 unless given.
    mask_names
        With --share: hide the names of columns too.
    language
        The language of the page.
    force
        Replace existing files that sievert has not written.
    debug
        Show the traceback of an error.
    """
    from sievert.cli.outputs import check_outputs, write_page
    from sievert.commands.report.api import build_page
    from sievert.report import builder, markdown, terminal

    require(results, "no result given", hint="sievert report RESULT.json --html FILE")
    sources = [*results, page.texts]
    page.check_internal(share=share)
    check_outputs((page.html, page.markdown), sources, force=force)
    settings = builder.ReportSettings(share, page.title, page.texts, min_cell, mask_names, language)
    built = build_page(results, settings)
    if page.exists:
        write_page(built, page, sources, force=force)
        say(terminal.for_stdout(replace(built, chapters=())))
    else:
        say(markdown.render(built))
    return 0


def paper(
    name: Annotated[str, Traits(choices=PAPERS)],
    /,
    *,
    data: list[str] | None = None,
    seed: int = 0,
    replicates: int | None = None,
    all_: bool = False,
    json_: JsonFile = None,
    html: Path | None = None,
    markdown: Path | None = None,
    force: bool = False,
    debug: bool = False,
) -> int:
    """Recompute a paper: its tables, figures and verdicts, beside what is printed.

    Parameters
    ----------
    name
        The paper.
    data
        NAME=FILE, a table that the paper used: adult, pums, ...; may be repeated. Nothing is
        downloaded.
    seed
        Of what is drawn at random.
    replicates
        With approximate-compromise: runs of its experiment; 30 as in the paper unless given.
    all_
        Show every printed value, not only where it differs.
    json_
        Write every printed value with ours to this file; - is stdout.
    html
        Write the paper as one page to this file.
    markdown
        Write the same page as Markdown to this file.
    force
        Replace existing files that sievert has not written.
    debug
        Show the traceback of an error.
    """
    from sievert import papers
    from sievert.cli.outputs import check_outputs, write_json, write_page
    from sievert.cli.progress import Watch
    from sievert.papers import pages
    from sievert.papers.claims import Given

    tables = pairs(data, "--data", "adult=adult.csv")
    require(
        replicates is None or (name == PAPERS[-1] and 1 <= replicates <= 1000),
        f"--replicates goes with {PAPERS[-1]}, from 1 to 1,000",
    )
    page = PageOptions(html, markdown)
    sources = list(tables.values())
    check_outputs((json_, html, markdown), sources, force=force)
    with Watch() as watch:
        given = Given(
            data=tables, seed=seed, replicates=replicates or 30, step=lambda what: watch(what, None)
        )
        recomputed = papers.recompute(name, given)
    if json_ is not None:
        write_json(json_, pages.as_dict(recomputed), sources, force=force)
    if page.exists:
        write_page(pages.page(recomputed), page, sources, force=force)
    if json_ != "-":
        say(pages.terminal(recomputed, everything=all_) + "\n")
    return 0
