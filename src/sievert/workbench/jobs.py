"""Commands that run for the workbench: one at a time, in child processes, stopped within a second.

What a command gives is kept under its command line. The process that serves pages reads no table.
"""

import asyncio
import json
import os
import re
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import Callable, Iterable, Mapping, Set
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from sievert.numerics import machine
from sievert.sources import isolation
from sievert.workbench.command_lines import real_arguments
from sievert.workbench.step import Action, Argv

GRACE = 0.5  # seconds that a command has to tidy up
LINE = re.compile(rb"[\r\n]|\x1b\[2K")
BAR = re.compile(r"(?P<stage>.*?)(?: \[(?P<bar>#*) *\].*| (?P<clock>\d+:\d\d))?")
WIDTH = 30  # of a whole bar
PICTURE = "--frontier"  # the option of a command whose result is only drawn
LAST = 2  # the rank of such a command


@dataclass(frozen=True)
class CommandResult:
    """What a command has given: its exit code, its JSON as it was written, its message."""

    code: int
    output: bytes
    message: str

    @property
    def ended_well(self) -> bool:
        """Whether there is a result; a policy that is not met is one."""
        return self.code in (0, 1)

    @cached_property
    def content(self) -> Any:
        """The JSON."""
        return json.loads(self.output) if self.output else {}


@dataclass(kw_only=True)
class Job:
    """A command that runs or waits; `finish` is called with the result of one that writes."""

    argv: Argv
    step: str
    finish: Callable[[CommandResult], None] | None = None
    inputs: Mapping[str, Argv] = field(default_factory=dict)
    process: Process | None = None
    stage: str = ""  # in the words of the command
    share: float | None = None  # of this stage, from 0 to 1
    cancelled: bool = False

    @property
    def rank(self) -> int:
        """What goes first: what a button asked for, what a page needs, what is only a picture."""
        if self.finish:
            return 0
        return LAST if PICTURE in self.argv else 1


class Jobs:
    """The commands of a session: a queue, the one that runs, and what they have given."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.queue: list[Job] = []
        self.current: Job | None = None
        self._results: dict[Argv, CommandResult] = {}
        self._stopped: set[Argv] = set()  # by the user: not begun again by itself
        self._wake = asyncio.Event()
        self._ending: asyncio.Task[None] | None = None  # of a picture that gave way

    # -- what there is --------------------------------------------------------------------------

    def result(self, argv: Argv) -> CommandResult | None:
        """What a command has given, well or not."""
        return self._results.get(argv)

    def get(self, argv: Argv) -> Any:
        """The JSON of a command; None where it has not ended well yet."""
        result = self._results.get(argv)
        return result.content if result is not None and result.ended_well else None

    def error(self, argv: Argv) -> str | None:
        """The line of a command that failed."""
        result = self._results.get(argv)
        return None if result is None or result.ended_well else result.message

    def running(self, argv: Argv) -> bool:
        """Whether a command runs or waits for its turn."""
        return any(job.argv == argv for job in self.pending)

    def stopped(self, argv: Argv) -> bool:
        """Whether the user has stopped a command."""
        return argv in self._stopped

    @property
    def pending(self) -> list[Job]:
        """The command that runs, unless it is being stopped, and the commands that wait."""
        running = [self.current] if self.current and not self.current.cancelled else []
        return [*running, *self.queue]

    # -- what shall be done ---------------------------------------------------------------------

    def want(self, commands: Iterable[Argv], step: str) -> None:
        """Begin the commands whose results are lacking, in their turn."""
        for argv in commands:
            known = argv in self._results or argv in self._stopped
            if not known and not self.running(argv):
                self._add(Job(argv=argv, step=step))

    def act(self, action: Action, step: str, finish: Callable[[CommandResult], None]) -> None:
        """Run a command that writes a file, once; a second submit while it waits is the same.

        Where its result is known without the file and is not accepted, nothing is begun.
        """
        known = self.result(action.known_by)
        if known is not None and known.ended_well and known.code not in action.accepted:
            finish(known)
        elif not self.running(action.argv):
            self._add(Job(argv=action.argv, step=step, finish=finish, inputs=action.inputs))

    def _add(self, job: Job) -> None:
        self.queue.append(job)
        running = self.current
        if running is not None and not running.cancelled and job.rank < running.rank == LAST:
            running.cancelled = True  # a picture gives way, and is begun again
            self.queue.append(Job(argv=running.argv, step=running.step))
            self._ending = asyncio.create_task(self._stop(running))
        self.queue.sort(key=lambda each: each.rank)
        self._wake.set()

    def again(self, commands: Iterable[Argv]) -> None:
        """Forget that commands were stopped or have failed."""
        for argv in commands:
            self._stopped.discard(argv)
            if self.error(argv) is not None:
                del self._results[argv]

    def forget(self, changed: Set[str]) -> None:
        """What commands on these files have given is no longer known: the files have changed."""
        for argv in [*self._results]:
            if any(changed & {*_files(token)} for token in argv):
                del self._results[argv]

    async def keep(self, wanted: set[Argv]) -> None:
        """Drop what nobody needs any more; commands that write are never dropped."""
        self.queue = [job for job in self.queue if job.finish or job.argv in wanted]
        job = self.current
        if job is not None and job.finish is None and job.argv not in wanted:
            await self._stop(job)

    async def cancel(self, step: str, commands: Iterable[Argv] = ()) -> None:
        """Stop what a step waits for, whichever step began it; only the user begins it again."""
        wanted = {*commands}
        for job in [job for job in self.pending if job.step == step or job.argv in wanted]:
            self._stopped.add(job.argv)
            if job in self.queue:
                self.queue.remove(job)
            else:
                await self._stop(job)

    async def _stop(self, job: Job) -> None:
        job.cancelled = True
        process = job.process
        if process is None or process.returncode is not None:
            return
        with suppress(ProcessLookupError):
            process.terminate()
        with suppress(TimeoutError):
            await asyncio.wait_for(process.wait(), GRACE)
        if process.returncode is None:
            with suppress(ProcessLookupError):
                machine.kill_family(process.pid)
        isolation.sweep(self.folder)

    async def close(self) -> None:
        """Stop everything."""
        self.queue.clear()
        if self.current is not None:
            await self._stop(self.current)
        for _ in range(100):  # until its last words are read
            if self.current is None:
                break
            await asyncio.sleep(0.01)

    async def work(self) -> None:
        """Run one command after the other, for ever."""
        while True:
            await self._wake.wait()
            self._wake.clear()
            while self.queue:
                job = self.current = self.queue.pop(0)
                try:
                    result = await self._run_if_possible(job)
                    if job.finish is not None and not job.cancelled:
                        job.finish(result)
                    elif not job.cancelled:
                        self._results[job.argv] = result
                finally:
                    self.current = None

    async def _run_if_possible(self, job: Job) -> CommandResult:
        """The same, where the system may refuse the command line: too long, or no memory."""
        try:
            return await self._run(job)
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or "not a command line"
            return CommandResult(2, b"", f"the command cannot be started: {why}")

    async def _run(self, job: Job) -> CommandResult:
        """A command, after those whose results it reads."""
        for name, argv in job.inputs.items():
            result = self._results.get(argv) or await self._execute(job, argv, ("--json", "-"))
            if job.cancelled or not result.ended_well:
                return result
            self._results[argv] = result
            path = self.folder / name
            path.touch(mode=0o600)
            path.write_bytes(result.output)
        return await self._execute(job, job.argv, () if job.finish else ("--json", "-"))

    async def _execute(self, job: Job, argv: Argv, more: Argv) -> CommandResult:
        own = {"TMPDIR": str(self.folder), "FORCE_COLOR": "1", isolation.GUARDIAN: str(os.getpid())}
        job.process = process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "sievert", *real_arguments(argv, self.folder), *more),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=PIPE,
            stderr=PIPE,
            env={**os.environ, **own},
            start_new_session=True,  # Ctrl-C is for us; we stop it with all of its family
        )
        assert process.stdout is not None
        if job.cancelled:
            await self._stop(job)
        output, message = await asyncio.gather(process.stdout.read(), _follow(job, process))
        return CommandResult(await process.wait(), output, message)


def _files(token: str) -> tuple[str, str]:
    """The file that a token of a command line names, if it does: FILE?QUERY, or COLUMN=FILE."""
    return token.partition("?")[0], token.partition("=")[2]


async def _follow(job: Job, process: Process) -> str:
    """Read what a command says: lines that come and go are its progress, the rest its message."""
    assert process.stderr is not None
    said = ""
    rest = b""
    while chunk := await process.stderr.read(1 << 12):
        *lines, rest = LINE.split(rest + chunk)
        for line in (each.decode(errors="replace") for each in lines if each.strip()):
            said += f"{line}\n"
        latest = rest.decode(errors="replace").strip()
        parts = BAR.fullmatch(latest) if latest else None
        if parts:
            job.stage = parts["stage"]
            job.share = None if parts["bar"] is None else len(parts["bar"]) / WIDTH
    return message_of(said + rest.decode(errors="replace"))


def message_of(said: str) -> str:
    """The message of a command without the word that begins it and without progress.

    >>> message_of("reading 0:02\\nerror: data.csv: no such file\\n")
    'data.csv: no such file'
    """
    _, sign, message = said.rpartition("error: ")
    return message.strip() if sign else said.strip()
