"""The workbench in a browser, and its sessions run again without one."""

from pathlib import Path

from sievert.cli.messages import say, tell
from sievert.cli.options import SpokenLanguage
from sievert.cli.parameters import STDIN, TableName
from sievert.errors import require
from sievert.formatting import ENGLISH
from sievert.sources.options import optional_package

IDLE = 30.0  # minutes


def workbench(
    file: TableName | None = None,
    /,
    *,
    session: Path | None = None,
    no_browser: bool = False,
    show_values: bool = False,
    language: SpokenLanguage = ENGLISH,
    idle: float = IDLE,
    debug: bool = False,
) -> int:
    """Do the whole job in a browser on this computer: load, roles, assess, protect, report.

    The pages are served on 127.0.0.1 to whoever has the address that is printed, which works once.
    Nothing leaves the machine, and what is not saved is gone at the end.

    Parameters
    ----------
    file
        The table to begin with; another one can be chosen on the first page.
    session
        Go on with a session that was saved on a page.
    no_browser
        Only print the address.
    show_values
        Let pages name values of the data.
    language
        The language of the pages.
    idle
        End after so many minutes without a request.
    debug
        Show where in the program an error came up.
    """
    for module in ("starlette", "uvicorn", "python_multipart"):
        optional_package(module, "the workbench needs", "workbench")
    from sievert.report.texts import read_texts
    from sievert.workbench.replay import open_session
    from sievert.workbench.server import serve
    from sievert.workbench.steps import STEPS
    from sievert.workbench.steps.load import begin

    require(idle > 0, "--idle takes minutes, more than 0")
    require(file != STDIN, "the workbench reads files, not standard input", hint="a file")
    require(file is None or session is None, "a table or --session, not both")
    choices = (
        begin("." if file is None else str(file), show_values=show_values)
        if session is None
        else open_session(session, STEPS, show_values=show_values)
    )
    texts = read_texts(None, language)

    def announce(address: str) -> None:
        say(f"{texts('workbench.announced', address=address)}\n")

    return serve(
        choices.put("load", language="" if language == ENGLISH else language),
        STEPS,
        texts,
        language=language,
        browser=not no_browser,
        idle=idle * 60,
        debug=debug,
        announce=announce,
    )


def run(session: Path, /, *, debug: bool = False) -> int:
    """Run the commands of a session that was saved in the workbench, one after the other.

    The exit code is that of the releases: 1 where one of them does not meet the policy, whatever
    its original does. If the session says that its table is the release, that is one of them. The
    exit code is 7 where a file is left out because it was written under other roles or
    another policy.

    Parameters
    ----------
    session
        The TOML file.
    debug
        Show where in the program an error came up.
    """
    from sievert.workbench.replay import replay
    from sievert.workbench.steps import STEPS

    return replay(session, STEPS, tell)
