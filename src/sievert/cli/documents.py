"""The commands that print what is known: saved results on a page, papers, the list of measures."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

from sievert.cli.messages import say
from sievert.cli.options import (
    EngineOptions,
    PageOptions,
    ReadingOptions,
    SpokenLanguage,
    pairs,
)
from sievert.cli.parameters import JsonFile, TableName, Traits
from sievert.cli.states import StateOutput
from sievert.errors import require
from sievert.formatting import ENGLISH
from sievert.version import __version__

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


def measures(
    *ids: str,
    language: SpokenLanguage = ENGLISH,
    json_: JsonFile = None,
    force: bool = False,
    debug: bool = False,
) -> int:
    """Every measure and every loss: what it means, its range, its source.

    Parameters
    ----------
    ids
        Only these, by id or by a name that the field uses: k, DR, t, suda.
    language
        The language of titles and readings; formulas and sources are as they are.
    json_
        Write the records to this file; - is stdout.
    force
        Replace an existing file that sievert has not written.
    debug
        Show the traceback of an error.
    """
    from sievert.cli import catalogue
    from sievert.cli.outputs import write_json
    from sievert.report.texts import read_texts

    entries = catalogue.find_entries(ids)
    if json_ is not None:
        write_json(json_, {"sievert": __version__, **catalogue.to_json(entries)}, [], force=force)
    else:
        texts = read_texts(None, language)
        say("\n\n".join("\n".join(catalogue.describe_entry(e, texts)) for e in entries) + "\n")
    return 0


def check(
    file: Path,
    data: TableName,
    /,
    *,
    fix: bool = False,
    language: SpokenLanguage = ENGLISH,
    json_: JsonFile = None,
    force: bool = False,
    debug: bool = False,
    reading: ReadingOptions = ReadingOptions(),
    engine: EngineOptions = EngineOptions(),
) -> int:
    """Say what a policy lacks for a table: roles, columns, limits that make sense, a statement.

    The exit code is 0 if it lacks nothing and 1 if it does; whether its limits are met is for
    assess to say.

    Parameters
    ----------
    file
        The policy, a TOML file.
    data
        The table, as for assess.
    fix
        Write what is lacking into the policy, as comments with suggestions. They change nothing:
        no column gets a role, and no limit is changed, until somebody has decided.
    language
        The language of the terminal; the policy is written in English.
    json_
        Write what is lacking to this file; - is stdout.
    force
        Replace an existing file that sievert has not written.
    debug
        Show where in the program an error came up.
    """
    from sievert.commands.policy.api import check_policy

    options = reading.arguments() | engine.arguments()
    require(options.pop("missing") == "value", "--missing does not go with policy check")
    return StateOutput(json_, force, language).show(
        lambda watch: check_policy(file, data, fix=fix, watch=watch, **options), [file, data]
    )


def columns(
    data: TableName,
    /,
    *,
    language: SpokenLanguage = ENGLISH,
    json_: JsonFile = None,
    force: bool = False,
    show_values: bool = False,
    debug: bool = False,
    reading: ReadingOptions = ReadingOptions(),
    engine: EngineOptions = EngineOptions(),
) -> int:
    """Say what the columns of a table look like, and suggest a role for each.

    Parameters
    ----------
    data
        The table, as for assess.
    language
        The language of the terminal.
    json_
        Write it to this file; - is stdout.
    force
        Replace an existing file that sievert has not written.
    show_values
        Name the most frequent values of each column.
    debug
        Show where in the program an error came up.
    """
    from sievert.commands.columns.api import describe_columns

    options = reading.arguments() | engine.arguments()
    require(options.pop("missing") == "value", "--missing does not go with columns")
    return StateOutput(json_, force, language).show(
        lambda watch: describe_columns(data, watch=watch, show_values=show_values, **options),
        [data],
    )
