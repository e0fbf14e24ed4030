"""The workbench: from the start to the first page, pages while a large table is counted, stopping.

The pages are asked for as a browser would, over its own connection with its cookie, while the
command that the page waits for runs in a process of its own.
"""

from __future__ import annotations

import http.client
import os
import re
import statistics
import subprocess
import sys
import time
from pathlib import Path
from urllib.parse import urlencode, urlsplit

from bench.common import BenchError, Options, Result, digits, scratch, table, verdict
from bench.scale import QUASI, write_classes

STEPS = ("load", "roles", "policy", "assess", "explain", "protect")
GOALS = {"start to first page": 2.0, "a page while it counts": 0.2, "stopping": 1.0}  # seconds


class Caller:
    """A browser without a window."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        assert process.stdout is not None
        found = re.search(r"http://\S+", process.stdout.readline())
        if found is None:
            raise BenchError("the workbench did not start: pip install 'sievert[workbench]'")
        parts = urlsplit(found[0])
        self.host = parts.netloc
        answer, _ = self._ask("GET", parts.path, {})
        cookie = answer.getheader("set-cookie") or ""
        self.cookie, self.home = cookie.partition(";")[0], answer.getheader("location") or ""

    def _ask(
        self, method: str, path: str, headers: dict[str, str], body: str | None = None
    ) -> tuple[http.client.HTTPResponse, str]:
        connection = http.client.HTTPConnection(self.host, timeout=60)
        connection.request(method, path, body, headers)
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        return answer, text

    def get(self, step: str) -> str:
        """A page."""
        return self._ask("GET", f"{self.home}{step}", {"Cookie": self.cookie})[1]

    def post(self, path: str, fields: dict[str, str]) -> None:
        """A form, with the revision of the page that it is on."""
        page = self.get(fields.get("step", path))
        revision = re.search(r'name="revision" value="(\d+)"', page)
        if revision is None:
            raise BenchError("the page has no form")
        headers = {
            "Cookie": self.cookie,
            "Origin": f"http://{self.host}",
            "Sec-Fetch-Site": "same-origin",
            "Content-Type": "application/x-www-form-urlencoded",
        }
        body = urlencode({"revision": revision[1], **fields})
        answer, _ = self._ask("POST", f"{self.home}{path}", headers, body)
        if answer.status != 303:
            raise BenchError(f"{path}: status {answer.status}")


def stop(caller: Caller, step: str) -> None:
    """Press the button, and wait until the page says that nothing runs."""
    caller.post("cancel", {"step": step})
    for _ in range(600):
        if 'action="cancel"' not in caller.get(step):
            return
        time.sleep(0.05)
    raise BenchError("the command was not stopped")


def one(data: Path) -> dict[str, list[float]]:
    """Seconds of each in one run."""
    taken: dict[str, list[float]] = {name: [] for name in GOALS}
    begun = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", "sievert", "workbench", data.name, "--no-browser"],
        cwd=data.parent,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=os.environ,
    )
    try:
        caller = Caller(process)
        caller.get("load")
        taken["start to first page"].append(time.perf_counter() - begun)
        while 'action="cancel"' in caller.get("load"):
            time.sleep(0.1)
        roles = {f"name:{i}": f'"{name}"' for i, name in enumerate([*QUASI, "disease"], 1)}
        roles |= {f"role:{i}": "quasi" for i in range(1, len(QUASI) + 1)}
        caller.post("roles", {**roles, f"role:{len(QUASI) + 1}": "sensitive"})
        caller.get("explain")
        for turn in range(24):
            begun = time.perf_counter()
            caller.get(STEPS[turn % len(STEPS)])
            taken["a page while it counts"].append(time.perf_counter() - begun)
        for step in ("assess", "protect", "explain"):
            stop(caller, step)
        caller.post("again", {"step": "explain"})
        caller.get("explain")
        time.sleep(1)
        begun = time.perf_counter()
        stop(caller, "explain")
        taken["stopping"].append(time.perf_counter() - begun)
    finally:
        process.terminate()
        process.communicate()
    return taken


def run(options: Options) -> Result:
    """Generate, measure, print, free."""
    rows = 10**5 if options.quick else 10**7
    taken: dict[str, list[float]] = {name: [] for name in GOALS}
    with scratch() as folder:
        data = folder / "classes.parquet"
        write_classes(data, rows, 1150)
        for _ in range(options.rounds or 3):
            for name, seconds in one(data).items():
                taken[name] += seconds
    lines = [
        (name, digits(statistics.median(s)), digits(max(s)), f"{GOALS[name]:g}")
        for name, s in taken.items()
    ]
    print(f"\n{rows:,} records\n")
    print(table(("", "median s", "longest s", "goal"), lines))
    result: Result = {"rows": rows, "seconds": taken}
    for name, seconds in taken.items():
        goal = verdict(max(seconds), GOALS[name], at_least=False)
        result[name] = goal
        print(f"\nSECONDS of {name}, the longest: {digits(max(seconds))}   "
              f"goal <= {GOALS[name]:g}: {'met' if goal['met'] else 'MISSED'}")  # fmt: skip
    return result
