"""Commands of the workbench: one at a time, in a queue, stopped with all that they have started."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from helpers.commandline import command_line

from sievert.numerics import machine
from sievert.report.texts import read_texts
from sievert.sources.isolation import GUARDIAN
from sievert.workbench import jobs as module
from sievert.workbench.jobs import CommandResult, Jobs
from sievert.workbench.server import serve
from sievert.workbench.step import Action
from sievert.workbench.steps import STEPS
from sievert.workbench.steps.load import begin

# In place of Python: says how far it is, then answers, fails, or waits and cannot be asked to stop.
COMMAND = """#!/bin/sh
case "$3" in
  wait) trap "" TERM; sleep 60 & echo $! > "$TMPDIR/child"
        printf "\\r\\033[2Kcounting [###############               ] left at most 0:30" >&2; wait ;;
  fail) printf "\\r\\033[2Kreading 0:01\\r\\033[2K" >&2; echo "error: no such file" >&2; exit 3 ;;
  *) echo "{\\"said\\": \\"$3 $SIEVERT_ENDS_WITH\\"}"; exit 1 ;;
esac
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (script := tmp_path / "command").write_text(COMMAND)
    script.chmod(0o700)
    monkeypatch.setattr(module.sys, "executable", str(script))
    return tmp_path


def working(folder: Path, use: Callable[[Jobs], Awaitable[None]]) -> None:
    async def run() -> None:
        jobs = Jobs(folder)
        worker = asyncio.create_task(jobs.work())
        try:
            await asyncio.wait_for(use(jobs), 60)
        finally:
            await jobs.close()
            worker.cancel()

    asyncio.run(run())


async def until(condition: Callable[[], object]) -> None:
    while not condition():
        await asyncio.sleep(0.01)


def test_results_are_kept_by_command_line(folder: Path) -> None:
    async def use(jobs: Jobs) -> None:
        jobs.want([("one",), ("fail",), ("one",)], "load")
        assert [job.argv for job in jobs.pending] == [("one",), ("fail",)]  # each once
        await until(lambda: not jobs.pending)
        assert jobs.get(("one",)) == {"said": f"one {os.getpid()}"}  # exit code 1 is a result
        assert jobs.get(("fail",)) is None and jobs.error(("fail",)) == "no such file"
        jobs.want([("one",), ("fail",)], "load")
        assert jobs.pending == []
        jobs.again([("fail",)])
        jobs.want([("fail",)], "load")
        assert jobs.running(("fail",))

    working(folder, use)


def alive(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="no /proc")
def test_a_command_is_stopped_with_its_children_and_does_not_begin_again(folder: Path) -> None:
    async def use(jobs: Jobs) -> None:
        jobs.want([("wait",), ("one",)], "load")
        jobs.want([("two",)], "policy")
        await until(lambda: jobs.current is not None and jobs.current.share is not None)
        assert jobs.current is not None
        assert (jobs.current.stage, jobs.current.share) == ("counting", 0.5)
        assert [job.argv for job in jobs.queue] == [("one",), ("two",)]
        child = int((folder / "child").read_text())
        await jobs.cancel("roles", [("wait",), ("one",)])  # begun by another step
        await until(lambda: not alive(child))
        await until(lambda: not jobs.pending)
        assert jobs.get(("two",)) is not None  # of another step
        assert jobs.stopped(("wait",)) and jobs.result(("wait",)) is None
        jobs.want([("wait",), ("one",)], "load")
        assert jobs.pending == []  # until somebody says so

    working(folder, use)


def test_what_nobody_needs_any_more_is_dropped(folder: Path) -> None:
    async def use(jobs: Jobs) -> None:
        written: list[CommandResult] = []
        jobs.want([("wait",), ("old",), ("new",)], "load")
        jobs.act(Action(argv=("write",)), "protect", written.append)
        await until(lambda: (folder / "child").exists())
        await jobs.keep({("new",)})
        await until(lambda: not jobs.pending)
        assert jobs.get(("new",)) and jobs.result(("old",)) is None
        assert len(written) == 1 and jobs.result(("write",)) is None  # run once, never kept

    working(folder, use)


def test_a_picture_gives_way_to_everything_else(folder: Path) -> None:
    async def use(jobs: Jobs) -> None:
        order: list[str] = []
        picture = ("wait", "--frontier")
        jobs.want([picture], "protect")
        await until(lambda: (folder / "child").exists())
        jobs.want([("page",)], "assess")
        jobs.act(Action(argv=("write",)), "protect", lambda _: order.append("written"))
        assert [job.argv for job in jobs.pending] == [("write",), ("page",), picture]
        (folder / "child").unlink()
        await until(lambda: (folder / "child").exists())  # begun again
        assert order == ["written"] and jobs.get(("page",)) is not None
        assert jobs.current is not None and jobs.current.argv == picture and not jobs.queue
        await jobs.cancel("protect")
        await until(lambda: not jobs.pending)

    working(folder, use)


def test_what_is_known_to_be_refused_is_not_begun(folder: Path) -> None:
    async def use(jobs: Jobs) -> None:
        refused: list[CommandResult] = []
        jobs._results = {("look",): CommandResult(1, b"{}", "")}
        action = Action(argv=("write",), known_by=("look",), accepted=(0,))
        jobs.act(action, "protect", refused.append)
        assert [result.code for result in refused] == [1] and jobs.pending == []

    working(folder, use)


def test_a_command_ends_with_the_workbench_that_began_it() -> None:
    command = command_line("columns", "-")
    environment = {**os.environ, GUARDIAN: "1"}  # not the process that begins it here
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
    ) as process:  # whose input has no end
        assert process.wait(60) == 143


def test_a_signal_before_the_server_runs_ends_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever reads the address may send one at once."""
    monkeypatch.chdir(tmp_path)
    Path("data.csv").write_text("age,ill\n30,y\n")
    before = {number: signal.getsignal(number) for number in machine.SIGNALS}
    try:
        code = serve(
            begin("data.csv"),
            STEPS,
            read_texts(None),
            language="en",
            browser=False,
            idle=60,
            debug=False,
            announce=lambda _: signal.raise_signal(signal.SIGINT),
        )
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    assert code == 128 + signal.SIGINT
