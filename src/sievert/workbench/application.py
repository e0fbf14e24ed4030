"""The pages of the workbench: one address for each step, and what all pages have in common."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup
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

from sievert.errors import SievertError, UsageError
from sievert.formatting import percent, printable
from sievert.formatting.language import count
from sievert.report import drawings
from sievert.report.html import tidy
from sievert.report.texts import Texts
from sievert.version import __version__
from sievert.workbench import script
from sievert.workbench.choices import Choices, History, session_text
from sievert.workbench.command_lines import pieces, shown
from sievert.workbench.file_stamps import Stamp, file_stamps
from sievert.workbench.jobs import CommandResult, Jobs
from sievert.workbench.step import OPEN, Action, Argv, Form, Step, View
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


@dataclass
class Bench:
    """One run of the workbench: its history, its jobs, the steps and the texts."""

    history: History
    steps: Sequence[Step]
    texts: Texts
    folder: Path
    language: str = "en"
    most_uploaded: int = 1 << 30
    outcomes: dict[str, str] = field(default_factory=dict)  # lines of actions that failed, by step

    def __post_init__(self) -> None:
        self.jobs = Jobs(self.folder)
        self.stamps: dict[str, Stamp] = {}  # of files that results are of
        self.environment = _environment(self.texts)

    @property
    def choices(self) -> Choices:
        """What is chosen now."""
        return self.history.now

    def step(self, name: str) -> Step:
        """The step of this name."""
        for step in self.steps:
            if step.name == name:
                return step
        raise HTTPException(404)

    def view(self, step: str = "") -> View:
        """What a page is made of."""
        outcome = self.outcomes.get(step, "")
        return View(self.choices, self.jobs, self.texts, outcome)

    def commands(self, step: Step) -> tuple[Argv, ...]:
        """The commands of a step; none where its choices do not make sense yet."""
        with suppress(SievertError):
            return (*step.commands(self.choices), *step.further(self.view(step.name)))
        return ()

    async def take(self, history: History) -> None:
        """Go on with another history: forget what nobody needs."""
        self.history = history
        write_policy(self.choices, self.folder)
        wanted = {argv for step in self.steps for argv in self.commands(step)}
        await self.jobs.keep(wanted)

    def notice_changed_files(self) -> None:
        """Results of a file that has changed since are forgotten."""
        stamps = file_stamps(self.choices)
        changed = {path for path, stamp in stamps.items() if self.stamps.get(path, stamp) != stamp}
        self.jobs.forget(changed)
        self.stamps |= stamps

    # -- pages ----------------------------------------------------------------------------------

    def page(self, step: Step, *, error: str = "", status: int = 200) -> HTMLResponse:
        """The page of a step, with its jobs begun."""
        self.notice_changed_files()
        view = self.view(step.name)
        commands = self.commands(step)
        self.jobs.want(commands, step.name)
        with self.texts.spoken():
            try:
                inner = step.context(view)
            except UsageError as mistake:
                inner, error = {}, error or str(mistake)
            context = {**self._frame(step, commands), "error": error, **inner}
            html = self.environment.get_template(step.template).render(context)
        return HTMLResponse(html, status)

    def _frame(self, step: Step, commands: tuple[Argv, ...]) -> dict[str, Any]:
        """What the layout needs besides the step's own context."""
        first = commands[0] if commands else None
        failed = next((line for argv in commands if (line := self.jobs.error(argv))), "")
        stopped = any(self.jobs.stopped(argv) for argv in commands)
        return {
            "step": step,
            "rail": self._rail(step),
            "choices": self.choices,
            "table": printable(Path(self.choices.table).name),
            "policy": printable(Path(self.choices.text("policy", "file")).name),
            "command": [] if first is None else list(pieces(first)),
            "command_text": "" if first is None else " ".join(shown(first)),
            "history": self.history,
            "language": self.language,
            "version": __version__,
            "failed": failed,
            "stopped": stopped,
            "outcome": self.outcomes.get(step.name, ""),
            "pending": self.pending(),
            "waiting": self.waiting(step, commands),
            "next_step": next(
                (after for before, after in pairwise(self.steps) if before is step), None
            ),
            "hidden": lambda: self._hidden(step),
            "known": known_state(self.jobs, commands),
            "ready": first is None or self.jobs.get(first) is not None,
        }

    def _hidden(self, step: Step) -> Markup:
        """The fields that every form has: an older page is known by its revision."""
        field = Markup('<input type="hidden" name="{}" value="{}">')
        revision = field.format("revision", self.history.revision)
        return revision + field.format("step", step.name)

    def _rail(self, current: Step) -> list[dict[str, Any]]:
        rows = []
        for number, step in enumerate(self.steps, 1):
            try:
                state, words = step.status(self.view(step.name))
            except UsageError:
                state, words = OPEN, self.texts("workbench.rail.mistake")
            here = step.name == current.name
            rows.append(
                {"step": step, "number": number, "state": state, "words": words, "here": here}
            )
        return rows

    def pending(self) -> list[dict[str, Any]]:
        """The command that runs, and those that wait."""
        stages = "workbench.stages."
        return [
            {
                "step": job.step,
                "stage": self.texts.get(f"{stages}{job.stage.replace(' ', '_')}", job.stage),
                "share": job.share,
                "command": " ".join(shown(job.argv)),
            }
            for job in self.jobs.pending
        ]

    def waiting(self, step: Step, commands: tuple[Argv, ...]) -> bool:
        """Whether a page will show more when a job has ended."""
        acting = any(job.step == step.name for job in self.jobs.pending)
        return acting or any(self.jobs.running(argv) for argv in commands)

    def stale(self, step: Step) -> HTMLResponse:
        """The answer to a form of a page that is older than the session."""
        return self.page(step, error=self.texts("workbench.stale"), status=409)


def _environment(texts: Texts) -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(HERE / "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals |= {"t": texts, "drawings": drawings, "markup": Markup}
    environment.filters |= {"count": count, "percent": percent, "printable": printable}
    environment.filters["tidy"] = tidy
    return environment


def make_application(bench: Bench) -> Starlette:
    """The application of a run; whoever may ask is checked before it."""

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
        Route("/script", pages.script),
        Route("/session", pages.session),
        *(Route(f"/{name}", pages.move, methods=["POST"]) for name in ("undo", "redo")),
        Route("/cancel", pages.cancel, methods=["POST"]),
        Route("/again", pages.again, methods=["POST"]),
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
        return self.bench.page(self.bench.step(request.path_params["step"]))

    async def submit(self, request: Request) -> Response:
        """Take the choices of a form; the answer leads back to the page."""
        bench, form = self.bench, await _read_form(request)
        step = bench.step(request.path_params["step"])
        if form.one("revision") != str(bench.history.revision):
            return bench.stale(step)
        try:
            bench.outcomes.pop(step.name, None)
            action = step.act(bench.choices, form)
            if action is not None:
                bench.jobs.act(action, step.name, self._finish(step.name, action))
            else:
                await bench.take(bench.history.change(step.change(bench.choices, form)))
        except SievertError as error:
            return bench.page(step, error=str(error), status=422)
        target = form.one("next") or step.name
        return RedirectResponse(bench.step(target).name, 303)

    def _finish(self, step: str, action: Action) -> Callable[[CommandResult], None]:
        """What happens when a command that writes has ended."""

        def finish(result: CommandResult) -> None:
            if result.code in action.accepted:
                choices = action.then(self.bench.choices)
                self.bench.history = self.bench.history.change(choices)
            else:
                refused = self.bench.texts.get(f"workbench.{step}.refused", "")
                self.bench.outcomes[step] = refused if result.ended_well else result.message

        return finish

    async def move(self, request: Request) -> Response:
        """Undo or redo."""
        bench, form = self.bench, await _read_form(request)
        step = bench.step(form.one("step"))
        if form.one("revision") != str(bench.history.revision):
            return bench.stale(step)
        history = bench.history
        undo = request.url.path.endswith("/undo")
        await bench.take(history.undo() if undo else history.redo())
        return RedirectResponse(step.name, 303)

    async def cancel(self, request: Request) -> Response:
        """Stop what a step is waiting for."""
        step = self.bench.step((await _read_form(request)).one("step"))
        await self.bench.jobs.cancel(step.name)
        return RedirectResponse(step.name, 303)

    async def again(self, request: Request) -> Response:
        """Begin anew what was stopped or has failed."""
        step = self.bench.step((await _read_form(request)).one("step"))
        self.bench.jobs.again(self.bench.commands(step))
        return RedirectResponse(step.name, 303)

    async def job(self, request: Request) -> Response:
        """How far the work of a step is: a part of its page; what is done is shown by the page."""
        bench = self.bench
        step = bench.step(request.query_params.get("step", bench.steps[0].name))
        commands = bench.commands(step)
        known = request.query_params.get("known", "")
        here = known_state(bench.jobs, commands)
        if known and known != here:
            return Response("", headers={"hx-refresh": "true"})
        with bench.texts.spoken():
            pending, waiting = bench.pending(), bench.waiting(step, commands)
            context = {"pending": pending, "waiting": waiting, "step": step}
            html = bench.environment.get_template("job.html.j2").render(context)
        return HTMLResponse(html)

    async def script(self, _request: Request) -> Response:
        """All commands, as a shell would run them."""
        text = script.session_script(self.bench.choices, self.bench.steps)
        return PlainTextResponse(text)

    async def session(self, _request: Request) -> Response:
        """The session as one TOML file without data, to keep."""
        headers = {"content-disposition": 'attachment; filename="session.toml"'}
        text = session_text(self.bench.choices)
        return Response(text, media_type="application/toml", headers=headers)

    async def upload(self, request: Request) -> Response:
        """A table from the browser, into the private directory; where no path can be given."""
        bench, step = self.bench, self.bench.steps[0]
        if int(request.headers["content-length"]) > bench.most_uploaded:
            return bench.page(step, error=bench.texts("workbench.load.too_large"), status=413)
        async with request.form(max_files=1, max_fields=10) as fields:
            file = fields.get("file")
            if fields.get("revision") != str(bench.history.revision):
                return bench.stale(step)
            name = Path(getattr(file, "filename", None) or "").name
            if not isinstance(file, UploadFile) or not name.strip("."):
                return bench.page(step, error=bench.texts("workbench.load.no_file"), status=422)
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


def known_state(jobs: Jobs, commands: tuple[Argv, ...]) -> str:
    """Which results a page already shows: it is drawn anew where there are more."""
    done = "".join("1" if jobs.result(argv) is not None else "0" for argv in commands)
    return f"{done}{len(jobs.pending) > 0:d}"


async def _read_form(request: Request) -> Form:
    fields: dict[str, list[str]] = {}
    async with request.form(max_files=0, max_fields=MOST_FIELDS) as given:
        for name, value in given.multi_items():
            if isinstance(value, str):
                fields.setdefault(name, []).append(value)
    return Form(fields)
