"""Fixtures shared by all tests."""

from __future__ import annotations

import fcntl
import gc
import os
import pickle
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from helpers.effort import SOAKING
from hypothesis import HealthCheck, settings

from sievert.numerics import acceleration

# Tests run side by side: threads of a library that wait for each other would only get in the way.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# A page says at which minute it was written: two pages of one test are of the same minute.
os.environ.setdefault("SOURCE_DATE_EPOCH", str(int(time.time())))

# Half a million objects are collected with the tests and stay: nothing is gained by looking at
# them again and again, now or while the tests run.
gc.disable()

# The same examples in every run, none refused because the machine is busy; soaking draws others.
settings.register_profile(
    "suite",
    deadline=None,
    derandomize=not SOAKING,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("suite")

HERE = Path(__file__).parent
PLAIN_JIT = acceleration.jit
compiling: Counter[str] = Counter()  # the sources whose loops this worker is compiling


def jit_in_turns(function: Any) -> Any:
    """A compiled loop as ever, but no two workers compile the same source at once.

    The second one waits and loads what the first one has kept. Sources form no cycle, so that
    nobody waits for whoever waits for them; within a worker, numba's own lock comes first.
    """
    from numba.core.compiler_lock import global_compiler_lock

    loop, source = PLAIN_JIT(function), function.__code__.co_filename
    compile_plainly = loop.compile

    def compile_in_turn(signature: Any) -> Any:
        if signature in loop.overloads:
            return compile_plainly(signature)
        with global_compiler_lock, open(source, "rb") as turn:
            if not compiling[source]:
                fcntl.flock(turn, fcntl.LOCK_EX)
            compiling[source] += 1
            try:
                return compile_plainly(signature)
            finally:
                compiling[source] -= 1

    loop.compile = compile_in_turn
    return loop


acceleration.jit = jit_in_turns
# The soak tests go on where the laws stop, and share what mutates files.
sys.path[:0] = [str(HERE / "property"), str(HERE / "soak")]
# Folders with long files, and a long file of another folder.
LONG = ("mutation", "parity", "property", "golden", "browser", "test_workbench_flow.py")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--soak", action="store_true", help="run the long checks of tests/soak")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """The long checks are not part of the suite unless asked for."""
    if collection_path.name == "soak" and not config.getoption("--soak"):
        return True
    return None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Long files first, so that no worker is left alone with one in the end."""
    places = {name: place for place, name in enumerate(LONG)}

    def place(item: pytest.Item) -> int:
        return places.get(item.path.name, places.get(item.path.parent.name, len(LONG)))

    items.sort(key=place)


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.enable()


@pytest.fixture(scope="session")
def reference() -> Path:
    """The folder with real data and reference values, named by SIEVERT_REFERENCE."""
    folder = os.environ.get("SIEVERT_REFERENCE")
    if not folder:
        pytest.skip("SIEVERT_REFERENCE is not set: no reference data to compare with")
    return Path(folder)


@pytest.fixture(scope="session")
def plain_paper(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Any]:
    """A paper recomputed without data, for all workers by the first that needs it."""
    from sievert.papers import recompute

    folder = tmp_path_factory.getbasetemp()
    folder = folder.parent if "PYTEST_XDIST_WORKER" in os.environ else folder

    def compute(name: str) -> Any:
        path = folder / f"{name}.pickle"
        with (folder / f"{name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not path.exists():
                path.write_bytes(pickle.dumps(recompute(name)))
        return pickle.loads(path.read_bytes())

    return compute
