"""A workbench that runs in a process of its own, and what a visitor does there."""

from __future__ import annotations

import os
import re
import signal
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from helpers.commandline import command_line

STEPS = (
    *("load", "roles", "policy", "assess", "explain"),
    *("protect", "compare", "synthetic", "report"),
)
PATIENCE = 240_000  # milliseconds until a page that waits for a command is given up


@dataclass
class RunningBench:
    """A server, its address, the folder for its temporary files, and where it was started."""

    process: subprocess.Popen[str]
    address: str
    temporary: Path
    place: Path
    said: Path

    def stop(self, number: int = signal.SIGINT) -> int:
        """End it; its exit code."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        self.process.communicate(timeout=60)
        return self.process.returncode


def start_bench(place: Path, *arguments: str) -> RunningBench:
    """Start a workbench in a folder and wait for its address."""
    temporary, said = place / "temporary", place / "said.txt"
    temporary.mkdir(exist_ok=True)
    with said.open("w") as errors:
        process = subprocess.Popen(
            command_line("workbench", *arguments, "--no-browser"),
            cwd=place,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            env={**os.environ, "TMPDIR": str(temporary)},
        )
    assert process.stdout is not None
    line = process.stdout.readline()
    address = re.search(r"http://127\.0\.0\.1:\d+/start/\S+", line)
    assert address, said.read_text()
    return RunningBench(process, address[0], temporary, place, said)


@dataclass
class Visitor:
    """A page of a workbench, and how to get about on it."""

    page: Any
    bench: RunningBench
    scripts: bool = True

    def __post_init__(self) -> None:
        self.page.set_default_timeout(PATIENCE)

    def enter(self) -> None:
        """Open the address that was printed."""
        self.page.goto(self.bench.address)
        self.wait()  # a page at work would open itself again
        assert "/start/" not in self.page.url

    def go(self, step: str) -> None:
        """Open the page of a step by the rail."""
        self.click(f"nav.rail a[href={step}]")

    def follow(self, step: str) -> None:
        """Open the page of a step by the keyboard."""
        self.reach(f"nav.rail a[href={step}]")
        self.enter_on(step)

    def enter_on(self, step: str) -> None:
        """Press the enter key on something that leads to the page of a step."""
        self.leave(lambda: self.press("Enter"))
        assert self.page.url.endswith(f"/{step}")

    def click(self, selector: str) -> None:
        """Click on something that opens a page."""
        self.leave(lambda: self.page.click(selector))

    def leave(self, act: Callable[[], None]) -> None:
        """Do what opens a page, and wait for it: until then the page before is still there."""
        self.page.evaluate("() => { document.documentElement.dataset.left = '' }")
        act()
        self.wait()

    def wait(self) -> None:
        """Wait until a page is there to its end and nothing runs for it any more."""
        ready = "html:not([data-left]):not(:has(form.cancel)) footer.command"
        self.page.wait_for_selector(ready, state="attached")
        self.page.wait_for_load_state()  # its scripts have run

    def press(self, *keys: str) -> None:
        """Press keys one after the other."""
        for key in keys:
            self.page.keyboard.press(key)

    def reach(self, selector: str, most: int = 400) -> None:
        """Go on with the tab key until something has the focus."""
        for _ in range(most):
            if self.page.evaluate(
                "wanted => document.activeElement?.matches(wanted) ?? false", selector
            ):
                return
            self.page.keyboard.press("Tab")
        raise AssertionError(f"the tab key does not lead to {selector}")
