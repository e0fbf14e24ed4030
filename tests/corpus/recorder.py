"""A pytest plugin that keeps each command line of the tests with the files that it starts from.

`pytest -p corpus.recorder` with CORPUS_FOLDER set writes one folder for each call of the command
line: `call.json` with the arguments, and `files` with a copy of the test's folder.
"""

from __future__ import annotations

import json
import os
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from corpus.scenarios import PLACE
from sievert.cli import app

MOST_BYTES = 4 << 20  # of a test's folder: larger ones are left out
WAITING = {"serve", "workbench"}  # commands that wait for a client

_plain_run = app._run
_here: dict[str, Any] = {}
_numbers: Counter[str] = Counter()


def _can_be_kept(folder: Path) -> bool:
    """Tell whether `folder` is small and holds files only: a pipe cannot be copied."""
    paths = [path for path in folder.rglob("*") if not path.is_dir()]
    if not all(path.is_file() and os.access(path, os.R_OK) for path in paths):
        return False
    return sum(path.stat().st_size for path in paths) <= MOST_BYTES


def _keep(arguments: list[str]) -> None:
    """Write the `arguments` and the files of the running test to a folder of their own."""
    place: Path | None = _here.get("place")
    test: str | None = _here.get("test")
    if place is None or test is None or WAITING & {*arguments[:1]}:
        return
    outside = [a for a in arguments if os.path.isabs(a) and not a.startswith(str(place))]
    if outside or not _can_be_kept(place):
        return
    _numbers[test] += 1
    name = f"{test}-{_numbers[test]}".replace("/", "_").replace("::", "-")
    case = Path(os.environ["CORPUS_FOLDER"]) / "".join(c if c.isalnum() else "_" for c in name)
    shutil.copytree(place, case / "files", symlinks=True)
    call = {
        "test": test,
        "number": _numbers[test],
        "arguments": [a.replace(str(place), PLACE) for a in arguments],
    }
    (case / "call.json").write_text(json.dumps(call), encoding="utf-8")


def _run(arguments: list[str], call: Callable[[], int] | None = None) -> int:
    """Keep the command line, then run it as ever."""
    if call is None:
        _keep([str(a) for a in arguments])
    return _plain_run(arguments, call)


app._run = _run


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Any:
    """Remember the folder of the test while it runs."""
    _here["place"] = getattr(item, "funcargs", {}).get("tmp_path")
    _here["test"] = item.nodeid
    try:
        return (yield)
    finally:
        _here.clear()
