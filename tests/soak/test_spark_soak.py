"""Spark at length: 200 random tables, and a cluster that loses an executor."""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import duckdb
import pytest

import sievert

pytest.importorskip("pyspark")
from tests.parity.test_spark import compare, interpreted, spark  # noqa: F401

pytestmark = pytest.mark.soak


def test_two_hundred_random_tables(interpreted: None, tmp_path: Path) -> None:  # noqa: F811
    with ThreadPoolExecutor(2) as two:
        list(two.map(lambda n: compare(tmp_path, f"soak {n}"), range(200)))


def below(process: int) -> list[int]:
    """The executors among the processes that have come from one."""
    parents: dict[int, int] = {}
    words: dict[int, bytes] = {}
    for place in Path("/proc").iterdir():
        if not place.name.isdigit():
            continue
        try:
            status = (place / "stat").read_text().rpartition(")")[2].split()
            words[int(place.name)] = (place / "cmdline").read_bytes()
        except OSError:
            continue
        parents[int(place.name)] = int(status[1])
    found = []
    for number, line in words.items():
        above = number
        while above not in (0, process):
            above = parents.get(above, 0)
        if above == process and b"CoarseGrainedExecutorBackend" in line:
            found.append(number)
    return found


def test_an_executor_is_killed_in_the_middle(tmp_path: Path) -> None:
    path = tmp_path / "people.parquet"
    with duckdb.connect() as connection:
        connection.execute(
            "COPY (SELECT (hash(i) % 90)::INT AS age, 'z' || hash(i * 5) % 400 AS zip, "
            "'m' || hash(i * 7) % 4 AS marital, 'd' || least(hash(i * 13) % 20, hash(i * 29) % 14) "
            f"AS disease FROM range(3000000) AS t(i)) TO '{path}' (ROW_GROUP_SIZE 100000)"
        )
    killed: list[int] = []

    def kill() -> None:
        """One executor, as soon as there are two: the first question is then being answered."""
        until = time.monotonic() + 120
        while not killed and time.monotonic() < until:
            there = below(os.getpid())
            if len(there) > 1:
                time.sleep(2.0)
                os.kill(there[0], signal.SIGKILL)
                killed.append(there[0])
            time.sleep(0.1)

    started: list[str] = []

    def watch(step: str, _: Any) -> None:
        if step.startswith("counting") and not started:
            started.append(step)
            threading.Thread(target=kill, daemon=True).start()

    roles = (["age", "zip", "marital"], ["disease"])
    found = sievert.assess(
        path, *roles, engine="spark", master="local-cluster[2,1,1024]", watch=watch
    )
    assert killed, "no executor was there to be killed"
    expected = sievert.assess(path, *roles)
    told = [json.dumps(a.to_dict() | {"table": None}, sort_keys=True) for a in (found, expected)]
    assert told[0] == told[1]
    time.sleep(1.0)
    assert not below(os.getpid())
