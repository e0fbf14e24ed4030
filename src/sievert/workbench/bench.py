"""One run of the workbench: its history, its jobs, and the pages made of them."""

import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from sievert.errors import SievertError, UsageError
from sievert.formatting import ENGLISH, count, percent, printable
from sievert.formatting.recognition import recognise
from sievert.report import drawings
from sievert.report.html import tidy
from sievert.report.texts import Texts
from sievert.version import __version__
from sievert.workbench.choices import Choices, History
from sievert.workbench.command_lines import displayed_words, pieces, with_field_names
from sievert.workbench.jobs import Jobs
from sievert.workbench.replay import session_script
from sievert.workbench.step import OPEN, Argv, Form, Step, View
from sievert.workbench.working_policy import policy_name, write_policy
from sievert.workbench.written_files import Stamp, file_stamps

HERE = Path(__file__).parent
ENGLISH_LINE = Markup('<span lang="en">{}</span>')


@dataclass(kw_only=True)
class Bench:
    """One run of the workbench: its history, its jobs, the steps and the texts."""

    history: History
    steps: Sequence[Step]
    texts: Texts
    folder: Path
    language: str = ENGLISH
    most_uploaded: int = 1 << 30
    outcomes: dict[str, str] = field(default_factory=dict)  # lines of actions that failed, by step
    refused: dict[str, Form] = field(default_factory=dict)  # and their forms

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
        return {step.name: step for step in self.steps}[name]

    def view(self, step: str = "", sent: Form | None = None) -> View:
        """What a page is made of."""
        outcome = self.outcomes.get(step, "")
        return View(
            choices=self.choices,
            results=self.jobs,
            texts=self.texts,
            outcome=outcome,
            sent=sent or self.refused.get(step),
        )

    def commands(self, step: Step) -> tuple[Argv, ...]:
        """The commands of a step; none where its choices do not make sense yet."""
        with suppress(SievertError):
            return (*step.commands(self.choices), *step.further(self.view(step.name)))
        return ()

    async def take(self, history: History) -> None:
        """Go on with another history: forget what nobody needs, and what earlier actions said."""
        self.outcomes.clear()
        self.history = history
        write_policy(self.choices, self.folder)
        await self.jobs.keep({argv for step in self.steps for argv in self.commands(step)})

    def notice_changed_files(self) -> None:
        """Results of a file that has changed since are forgotten."""
        stamps = file_stamps(self.choices)
        changed = {path for path, stamp in stamps.items() if self.stamps.get(path, stamp) != stamp}
        self.jobs.forget(changed)
        self.stamps |= stamps

    def line(self, english: str) -> str:
        """The line of an error in the language of the pages, or marked as English."""
        what, sign, hint = english.partition(" Try: ")
        plain = what.removesuffix(".")
        said = self.texts.remark(recognise(plain))
        if self.language == ENGLISH:
            return with_field_names(english, self.texts)
        if said == plain:
            return ENGLISH_LINE.format(english)
        whole = said if said.endswith(("?", ".")) else f"{said}."
        if sign:
            said = self.texts("workbench.try", what=whole, hint=self.texts.remark(recognise(hint)))
        return with_field_names(said, self.texts)

    # -- pages ----------------------------------------------------------------------------------

    def page(self, step: Step, error: str = "", sent: Form | None = None) -> str:
        """The page of a step, with its jobs begun, and with a form that was refused."""
        self.notice_changed_files()
        view = self.view(step.name, sent)
        commands = self.commands(step)
        self.jobs.want(commands, step.name)
        with self.texts.spoken():
            try:
                inner = step.context(view)
            except UsageError as mistake:
                inner = {}
                error = error or self.line(str(mistake))
            context = {**self._frame(step, commands), "error": error, **inner}
            return self.environment.get_template(step.template).render(context)

    def script_page(self, step: Step) -> str:
        """All commands, with the way back to the step that asked for them."""
        script = session_script(self.choices, self.steps, self.texts)
        with self.texts.spoken():
            context = {**self._frame(step, ()), "error": "", "outcome": "", "script": script}
            return self.environment.get_template("script.html.j2").render(context)

    def _frame(self, step: Step, commands: tuple[Argv, ...]) -> dict[str, Any]:
        """What the layout needs besides the step's own context."""
        first = commands[0] if commands else None
        errors = (self.jobs.error(argv) for argv in commands)
        failed = next((error for error in errors if error), "")
        return {
            "step": step,
            "rail": self._rail(step),
            "choices": self.choices,
            "table": printable(Path(self.choices.table).name),
            "policy": printable(policy_name(self.choices)),
            "command": [] if first is None else list(pieces(first)),
            "command_text": "" if first is None else " ".join(displayed_words(first)),
            "history": self.history,
            "language": self.language,
            "version": __version__,
            "failed": failed and self.line(failed),
            "stopped": any(self.jobs.stopped(argv) for argv in commands),
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
        return field.format("revision", self.history.revision) + field.format("step", step.name)

    def _rail(self, current: Step) -> list[dict[str, Any]]:
        rows = []
        for number, step in enumerate(self.steps, 1):
            try:
                state, words = step.status(self.view(step.name))
            except UsageError:
                state = OPEN
                words = self.texts("workbench.rail.mistake")
            here = step.name == current.name
            rows.append(
                {"step": step, "number": number, "state": state, "words": words, "here": here}
            )
        return rows

    def pending(self) -> list[dict[str, Any]]:
        """The command that runs, and the commands that wait."""
        return [
            {
                "step": job.step,
                "stage": self._stage(job.stage),
                "share": job.share,
                "command": " ".join(displayed_words(job.argv)),
            }
            for job in self.jobs.pending
        ]

    def _stage(self, words: str) -> str:
        """What a command is doing, in the language of the pages; numbers and names are left out."""
        key = "_".join(re.findall("[a-z]+", words))
        stages = "workbench.stages."
        return self.texts.get(f"{stages}{key}", self.texts(f"{stages}computing")) if words else ""

    def waiting(self, step: Step, commands: tuple[Argv, ...]) -> bool:
        """Whether a page will show more when a job has ended."""
        acting = any(job.step == step.name for job in self.jobs.pending)
        return acting or any(self.jobs.running(argv) for argv in commands)


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


def known_state(jobs: Jobs, commands: tuple[Argv, ...]) -> str:
    """Which results a page already shows: it is drawn anew where there are more."""
    done = "".join("1" if jobs.result(argv) is not None else "0" for argv in commands)
    return f"{done}{len(jobs.pending) > 0:d}"
