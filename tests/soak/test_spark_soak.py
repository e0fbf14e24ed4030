"""Spark at length: 200 random tables, an executor that is killed, runs that are stopped."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import duckdb
import pytest

import sievert
from sievert.counts.spark import fetched_cells

pyspark = pytest.importorskip("pyspark")
from tests.parity.test_spark import compare, interpreted, spark  # noqa: E402, F401

pytestmark = pytest.mark.soak

SIEVERT = str(Path(sys.executable).with_name("sievert"))
PARTS = 4  # of the random tables, to run side by side
PROMPT = 2.0  # seconds from a signal to the end
ROLES = (["age", "zip", "job"], ["disease"])


@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("most", [0, 10**6])
def test_two_hundred_tables(
    interpreted: None,  # noqa: F811
    tmp_path: Path,
    part: int,
    most: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(fetched_cells, "MOST_CELLS", most)
    with ThreadPoolExecutor(2) as two:
        list(two.map(lambda n: compare(tmp_path, f"soak {n}"), range(part, 200, PARTS)))


def write(path: Path, records: int) -> Path:
    """People, some of them without a job."""
    with duckdb.connect() as connection:
        connection.execute(
            "COPY (SELECT hash(i) % 90 AS age, 'z' || hash(i * 5) % 400 AS zip, "
            "CASE WHEN hash(i * 3) % 50 > 0 THEN 'j' || hash(i * 7) % 4 END AS job, "
            "'d' || least(hash(i * 13) % 20, hash(i * 29) % 14) AS disease "
            f"FROM range({records}) AS t(i)) TO '{path}' (ROW_GROUP_SIZE 100_000)"
        )
    return path


# -- a cluster --------------------------------------------------------------------------------


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A Spark whose workers write into our directory, and read a table in many small tasks."""
    place = tmp_path / "home"
    (place / "conf").mkdir(parents=True)
    for name in ("bin", "jars"):
        (place / name).symlink_to(Path(pyspark.__file__).parent / name)
    (place / "conf" / "spark-defaults.conf").write_text("spark.sql.files.maxPartitionBytes 256k\n")
    monkeypatch.setenv("SPARK_HOME", str(place))
    running = pyspark.SparkContext
    if running._active_spark_context is not None:  # of another test in this process
        running._active_spark_context.stop()
    if running._gateway is not None:
        running._gateway.shutdown()
        running._gateway.proc.stdin.close()
        running._gateway = running._jvm = None


def executors() -> set[int]:
    """Those that have come from this process."""
    parents: dict[int, int] = {}
    found: set[int] = set()
    for place in Path("/proc").glob("[0-9]*"):
        try:
            rest = (place / "stat").read_text().rpartition(")")[2].split()
            executor = b"CoarseGrainedExecutorBackend" in (place / "cmdline").read_bytes()
        except OSError:
            continue
        parents[int(place.name)] = int(rest[1])
        found |= {int(place.name)} if executor and rest[0] != "Z" else set()

    def ours(process: int) -> bool:
        return process == os.getpid() or (process in parents and ours(parents[process]))

    return set(filter(ours, found))


def test_an_executor_is_killed_in_the_middle(home: None, tmp_path: Path) -> None:
    path = write(tmp_path / "people.parquet", 5_000_000)
    seen: list[tuple[float, set[int], set[int]]] = []

    def kill(questions: Any) -> None:
        """One of two, when some tasks of the count are done and some are not; then look again."""
        share = -1.0
        while not 10 < share < 90:
            share = questions.progress()
        before = executors()
        os.kill(min(before), signal.SIGKILL)
        while not executors() - before:
            time.sleep(0.1)
        seen.append((share, before, executors()))

    def watch(step: str, questions: Any) -> None:
        if step.startswith("counting secret"):
            threading.Thread(target=kill, args=[questions], daemon=True).start()

    found = sievert.assess(
        path, *ROLES, engine="spark", master="local-cluster[2,1,1024]", watch=watch
    ).to_dict()
    ((_, before, after),) = seen
    assert len(before) == 2 and min(before) not in after
    assert not executors()
    expected = sievert.assess(path, *ROLES).to_dict()
    assert (found["table"].pop("engine"), expected["table"].pop("engine")) == ("spark", "duckdb")
    assert json.dumps(found, sort_keys=True) == json.dumps(expected, sort_keys=True)


# -- stopped ----------------------------------------------------------------------------------


def java(temp: Path) -> list[str]:
    """The processes of Spark that write into this directory."""
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        try:
            if str(temp).encode() in (place / "cmdline").read_bytes():
                found.append(place.name)
        except OSError:
            continue
    return found


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_stopped_at_any_moment(number: int, tmp_path: Path) -> None:
    """Before Java is there, while it starts, while it reads, while it counts."""
    path = write(tmp_path / "people.parquet", 5_000_000)
    temp = tmp_path / "temp"
    temp.mkdir()
    command = [SIEVERT, "assess", str(path), "-q", "age,zip,job", "-s", "disease", "--engine",
               "spark"]  # fmt: skip
    for delay in (1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 6.0, 9.0, 12.0, 16.0):
        with subprocess.Popen(
            command,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "TMPDIR": str(temp)},
        ) as process:
            time.sleep(delay)
            process.send_signal(number)
            sent = time.monotonic()
            _, err = process.communicate(timeout=60)
            took = time.monotonic() - sent
        left = [p.name for p in temp.iterdir()]
        # The watcher of Java may need a moment longer.
        time.sleep(0.2)
        assert (process.returncode, err) == (128 + number, "interrupted\n"), delay
        assert took < PROMPT, delay
        assert (java(temp), left) == ([], []), delay


def test_killed(tmp_path: Path) -> None:
    """A command that is killed takes Java with it; the next one sweeps what it has left."""
    path = write(tmp_path / "people.parquet", 5_000_000)
    temp = tmp_path / "temp"
    temp.mkdir()
    command = [SIEVERT, "assess", str(path), "-q", "age,zip,job", "--engine", "spark"]
    for delay in (2.0, 3.0, 8.0):
        with subprocess.Popen(
            command, stdout=subprocess.DEVNULL, env={**os.environ, "TMPDIR": str(temp)}
        ) as process:
            time.sleep(delay)
            process.kill()
        time.sleep(PROMPT)
        assert java(temp) == [], delay
    command[-1] = "duckdb"
    subprocess.run(command, env={**os.environ, "TMPDIR": str(temp)}, check=True,
                   stdout=subprocess.DEVNULL)  # fmt: skip
    assert list(temp.iterdir()) == []


def test_a_release_that_is_killed_or_not(tmp_path: Path) -> None:
    """Killed while Spark writes, no release is there; then there is one, and nothing else."""
    data, temp = write(tmp_path / "people.parquet", 200_000), tmp_path / "temp"
    here, policy = tmp_path / "out", tmp_path / "policy.toml"
    for folder in (temp, here):
        folder.mkdir()
    policy.write_text(
        '[roles]\nquasi = ["age", "zip", "job"]\nsensitive = ["disease"]\nrows_are_people = true\n'
        '[limits]\nk_anonymity = { min = 20 }\n[hierarchies]\nage = "interval:10,30"\n',
        encoding="utf-8",
    )
    out = here / "release.parquet"
    command = [SIEVERT, "protect", str(data), "--policy", str(policy), "--engine", "spark", "-o",
               str(out), "--json", str(tmp_path / "result.json")]  # fmt: skip
    environment = {**os.environ, "TMPDIR": str(temp)}
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, env=environment) as process:
        while process.poll() is None and not any(here.glob(".*.part/part-*")):
            time.sleep(0.02)
        assert process.poll() is None  # Spark has begun to write
        process.kill()
    time.sleep(PROMPT)
    assert java(temp) == []
    assert not any(path.name.startswith("release") for path in here.iterdir())
    subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)
    assert sorted(path.name for path in here.iterdir()) == [out.name, f"{out.name}.json"]
    assert list(temp.iterdir()) == []
    result = json.loads((tmp_path / "result.json").read_text(encoding="utf-8"))
    assert result["released"] and result["policy"]["met"]
    released = duckdb.sql(f"SELECT count(*), count(*) FILTER (age = '*') FROM '{out}/*.parquet'")
    assert released.fetchall() == [(200_000, result["suppressed"])]
