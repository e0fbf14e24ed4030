"""The pages of the workbench: one address for each step, and what all pages have in common."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from starlette.applications import Starlette
from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import (
    FileResponse,
    HTMLResponse,
    PlainTextResponse,
    RedirectResponse,
    Response,
)
from starlette.routing import Route

from sievert.errors import SievertError
from sievert.formatting import middle_cut, printable
from sievert.workbench.bench import Bench, known_state
from sievert.workbench.choices import check_texts
from sievert.workbench.jobs import CommandResult
from sievert.workbench.replay import session_document, session_script
from sievert.workbench.step import Action, Form, Step
from sievert.workbench.steps.load import replace_table
from sievert.workbench.working_policy import write_policy

HERE = Path(__file__).parent
STATIC = {
    "report.css": HERE.parent / "report" / "style.css",
    "workbench.css": HERE / "static" / "workbench.css",
    "steps.css": HERE / "static" / "steps.css",
    "workbench.js": HERE / "static" / "workbench.js",
    "htmx.min.js": HERE / "static" / "htmx.min.js",
}
MOST_FIELDS = 50_000  # of a form: three for each column
LONGEST_LINE = 180  # of an error: it may repeat what was typed


def make_application(bench: Bench) -> Starlette:
    """Make the application of a run; `protection` checks each request before it."""

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        worker = asyncio.create_task(bench.jobs.work())
        first = bench.steps[0]
        write_policy(bench.choices, bench.folder)
        bench.jobs.want(bench.commands(first), first.name)
        try:
            yield
        finally:
            await bench.jobs.close()
            worker.cancel()

    pages = _Pages(bench)
    routes = [
        Route("/", pages.first),
        Route("/static/{name}", pages.static),
        Route("/job", pages.job),
        Route("/script", pages.script_page),
        Route("/script.sh", pages.script),
        Route("/session", pages.session),
        *(Route(f"/{name}", pages.move, methods=["POST"]) for name in ("undo", "redo")),
        *(Route(f"/{name}", pages.work, methods=["POST"]) for name in ("cancel", "again")),
        Route("/upload", pages.upload, methods=["POST"]),
        Route("/{step}", pages.show, methods=["GET"]),
        Route("/{step}", pages.submit, methods=["POST"]),
    ]
    return Starlette(
        routes=routes,
        lifespan=lifespan,
        exception_handlers={HTTPException: pages.missing, Exception: pages.defect},
    )


class _Pages:
    """The answers to requests that were let in."""

    def __init__(self, bench: Bench) -> None:
        self.bench = bench

    def _step(self, name: str) -> Step:
        try:
            return self.bench.step(name)
        except LookupError:
            raise HTTPException(404) from None

    def _page(
        self, step: Step, error: str = "", status: int = 200, sent: Form | None = None
    ) -> Response:
        html = self.bench.page(step, error, sent).encode(errors="backslashreplace")
        return HTMLResponse(html, status)

    async def missing(self, _request: Request, error: Exception) -> Response:
        """No such page."""
        assert isinstance(error, HTTPException)
        return PlainTextResponse(f"{error.detail}\n", error.status_code)

    async def defect(self, _request: Request, error: Exception) -> Response:
        """A mistake of ours: no word of the data."""
        text = self.bench.texts("workbench.defect", kind=type(error).__name__)
        return PlainTextResponse(f"{text}\n", 500)

    async def first(self, _request: Request) -> Response:
        """To the first step."""
        return RedirectResponse(self.bench.steps[0].name, 303)

    async def static(self, request: Request) -> Response:
        """One of our own files."""
        path = STATIC.get(request.path_params["name"])
        if path is None:
            raise HTTPException(404)
        return FileResponse(path)

    async def show(self, request: Request) -> Response:
        """The page of a step."""
        return self._page(self._step(request.path_params["step"]))

    async def submit(self, request: Request) -> Response:
        """Take the choices of a form; the answer leads back to the page."""
        bench = self.bench
        form = await _read_form(request)
        step = self._step(request.path_params["step"])
        if form.one("revision") != str(bench.history.revision):
            return self._page(step, bench.texts("workbench.stale"), 409)
        try:
            bench.outcomes.pop(step.name, None)
            bench.refused.pop(step.name, None)
            action = step.act(bench.choices, form)
            if action is not None:
                kept = action.kept or bench.choices
                check_texts(action.argv, kept.settings)
                await bench.take(bench.history.change(kept))
                if action.refusal:
                    return self._page(step, bench.line(action.refusal), 422, form)
                bench.jobs.act(action, step.name, self._finish(step.name, action, form))
            else:
                chosen = step.change(bench.choices, form)
                check_texts(chosen.table, chosen.settings)
                await bench.take(bench.history.change(chosen))
        except SievertError as error:
            return self._page(step, bench.line(middle_cut(str(error), LONGEST_LINE)), 422, form)
        after = self._step(form.one("next") or step.name)
        for asked in (step, after):  # a button begins what was stopped or has failed
            bench.jobs.again(bench.commands(asked))
        return RedirectResponse(after.name, 303)

    def _finish(self, step: str, action: Action, form: Form) -> Callable[[CommandResult], None]:
        """What happens when a command that writes has ended."""

        def finish(result: CommandResult) -> None:
            if result.code in action.accepted:
                self.bench.history = self.bench.history.change(action.then(self.bench.choices))
            else:
                refused = self.bench.texts.get(f"workbench.{step}.refused", "")
                self.bench.refused[step] = form
                line = refused if result.ended_well else self.bench.line(result.message)
                self.bench.outcomes[step] = line

        return finish

    async def move(self, request: Request) -> Response:
        """Undo or redo."""
        bench = self.bench
        form = await _read_form(request)
        step = self._step(form.one("step"))
        if form.one("revision") != str(bench.history.revision):
            return self._page(step, bench.texts("workbench.stale"), 409)
        undo = request.url.path.endswith("/undo")
        await bench.take(bench.history.undo() if undo else bench.history.redo())
        return RedirectResponse(step.name, 303)

    async def work(self, request: Request) -> Response:
        """Stop what a step is waiting for, or begin anew what was stopped or has failed."""
        step = self._step((await _read_form(request)).one("step"))
        self.bench.outcomes.clear()
        if request.url.path.endswith("/cancel"):
            await self.bench.jobs.cancel(step.name, self.bench.commands(step))
        else:
            self.bench.jobs.again(self.bench.commands(step))
        return RedirectResponse(step.name, 303)

    async def job(self, request: Request) -> Response:
        """How far the work of a step is: a part of its page; what is done is shown by the page."""
        bench = self.bench
        step = self._step(request.query_params.get("step", bench.steps[0].name))
        commands = bench.commands(step)
        known = request.query_params.get("known", "")
        if known and known != known_state(bench.jobs, commands):
            return Response("", headers={"hx-refresh": "true"})
        with bench.texts.spoken():
            pending = bench.pending()
            waiting = bench.waiting(step, commands)
            context = {"pending": pending, "waiting": waiting, "step": step}
            html = bench.environment.get_template("job.html.j2").render(context)
        return HTMLResponse(html)

    async def script_page(self, request: Request) -> Response:
        """All commands, and the way back."""
        step = self._step(request.query_params.get("step", self.bench.steps[0].name))
        return HTMLResponse(self.bench.script_page(step))

    async def script(self, _request: Request) -> Response:
        """All commands as a file, as a shell would run them."""
        headers = {"content-disposition": 'attachment; filename="session.sh"'}
        text = session_script(self.bench.choices, self.bench.steps, self.bench.texts)
        return PlainTextResponse(text, headers=headers)

    async def session(self, _request: Request) -> Response:
        """The session as one TOML file without data, to keep."""
        headers = {"content-disposition": 'attachment; filename="session.toml"'}
        text = session_document(self.bench.choices, self.bench.steps, self.bench.texts)
        return Response(text, media_type="application/toml", headers=headers)

    async def upload(self, request: Request) -> Response:
        """A table from the browser, into the private directory; where no path can be given."""
        bench = self.bench
        step = self.bench.steps[0]
        if int(request.headers["content-length"]) > bench.most_uploaded:
            return self._page(step, bench.texts("workbench.load.too_large"), 413)
        async with request.form(max_files=1, max_fields=10) as fields:
            file = fields.get("file")
            if fields.get("revision") != str(bench.history.revision):
                return self._page(step, bench.texts("workbench.stale"), 409)
            name = Path(getattr(file, "filename", None) or "").name
            if not isinstance(file, UploadFile) or not name.strip("."):
                return self._page(step, bench.texts("workbench.load.no_file"), 422)
            folder = bench.folder / f"upload-{bench.history.revision}"
            folder.mkdir(mode=0o700, exist_ok=True)
            target = folder / printable(name)[-100:]
            with target.open("wb") as copy:
                while chunk := await file.read(1 << 20):
                    copy.write(chunk)
            target.chmod(0o600)
        table = f"workbench:{folder.name}/{target.name}"
        await bench.take(bench.history.change(replace_table(bench.choices, table)))
        return RedirectResponse(step.name, 303)


async def _read_form(request: Request) -> Form:
    fields: dict[str, list[str]] = {}
    async with request.form(max_files=0, max_fields=MOST_FIELDS) as given:
        for name, value in given.multi_items():
            if isinstance(value, str):
                fields.setdefault(name, []).append(value)
    return Form(fields)
