"""The work of `workbench` and `run`: pages in a browser, or the commands of a saved session."""

from sievert.cli.messages import say, tell
from sievert.cli.workbench.settings import RunSettings, WorkbenchSettings
from sievert.formatting import ENGLISH
from sievert.sources.options import optional_package


def run(settings: WorkbenchSettings) -> int:
    """Serve the pages of the workbench until the user ends it; return the exit code."""
    for module in ("starlette", "uvicorn", "python_multipart"):
        optional_package(module, "the workbench needs", "workbench")
    from sievert.report.texts import read_texts
    from sievert.workbench.replay import open_session
    from sievert.workbench.server import serve
    from sievert.workbench.steps import STEPS
    from sievert.workbench.steps.load import begin

    settings.check()
    if settings.session is None:
        table = "." if settings.file is None else settings.file
        choices = begin(table, show_values=settings.show_values)
    else:
        choices = open_session(settings.session, STEPS, show_values=settings.show_values)
    language = settings.language
    texts = read_texts(None, language)

    def announce(address: str) -> None:
        say(f"{texts('workbench.announced', address=address)}\n")

    return serve(
        choices.put("load", language="" if language == ENGLISH else language),
        STEPS,
        texts,
        language=language,
        browser=settings.browser,
        idle=settings.idle * 60,
        debug=settings.debug,
        announce=announce,
    )


def run_session(settings: RunSettings) -> int:
    """Run the commands of a saved session; return the exit code of its releases."""
    from sievert.workbench.replay import replay
    from sievert.workbench.steps import STEPS

    return replay(settings.session, STEPS, tell)
