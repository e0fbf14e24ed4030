"""Whole runs of the command line: damaged files, kills, signals, full disks, little memory.

Whatever happens, an output of an earlier run stays as it was or is replaced by a complete one,
errors are one line without a value of the data, and nothing is left behind.
"""

from __future__ import annotations

import contextlib
import csv
import gzip
import io
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import NamedTuple

import duckdb
import pyarrow.parquet
import pytest
from helpers.stopping import stop_at_random
from mutate import TEXTS, WORDS, Batch, asked, mutated_parquet, mutated_text, note, parquet_files

pytestmark = pytest.mark.soak

SIEVERT = str(Path(sys.executable).with_name("sievert"))
LIMIT = 60.0  # seconds for a run over a small file
PROMPT = 2.0  # seconds from a signal to the end
GONE = 10.0  # seconds after which a process that should end does not
STILL = f"still there after {GONE:g} seconds"
PARTS = 5  # of every check, to run side by side
DISK = 4 << 20  # bytes of a disk that is too small


class Done(NamedTuple):
    """A run that has ended."""

    code: int
    err: str
    peak: int  # kilobytes of its largest process


def started(*arguments: object, **how: object) -> subprocess.Popen:
    command = [SIEVERT, "assess", *map(str, arguments)]
    pipes = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen(command, start_new_session=True, **pipes, **how)


def run(*arguments: object, limit: float = LIMIT, **how: object) -> Done:
    with started(*arguments, **how) as process:
        watchdog = threading.Timer(limit, os.killpg, (process.pid, signal.SIGKILL))
        watchdog.start()
        err = process.stderr.read()
        _, status, usage = os.wait4(process.pid, 0)
        watchdog.cancel()
        process.returncode = os.waitstatus_to_exitcode(status)
    return Done(process.returncode, err, usage.ru_maxrss)


def complaint(done: Done) -> str | None:
    """What is wrong with the way a run has failed."""
    if done.code not in (3, 5, 6, 7):
        return f"exit {done.code}: {done.err}"
    if not done.err.startswith("error: ") or done.err.count("\n") != 1 or done.err[-1] != "\n":
        return f"not one line: {done.err!r}"
    return None


def names(folder: Path) -> list[str]:
    return sorted(p.name for p in folder.iterdir())


# -- damaged files ----------------------------------------------------------------------------


class Case(NamedTuple):
    """A damaged file: its content, options to read it, whether its header has changed."""

    content: bytes
    options: tuple[str, ...]
    renamed: bool
    header: str = ""


def damaged_text(random: Random) -> Case:
    file = mutated_text(random)
    first = _first(file.content, file.delimiter)
    name = (first or [""])[0].replace('"', '""')
    quasi = "name" if "\0" in name or not name else f'"{name}"'
    whole = {tuple(_first(t.content, t.delimiter)) for t in TEXTS}
    options = ("-q", quasi, "--delimiter", file.delimiter)
    return Case(file.content, options, tuple(first) not in whole, "\n".join(first))


def _first(content: bytes, delimiter: str) -> list[str]:
    """The header as a patient reader sees it."""
    text = content.decode("utf-8", errors="replace").removeprefix("\ufeff")
    return next(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter), [])


def damaged_parquet(random: Random) -> Case:
    seed = random.choice(parquet_files(200))
    damage = mutated_parquet(random, seed)
    options = ("-q", "name,code", "-s", "flag", *(["--verify"] if seed.checksums else []))
    return Case(damage.content, options, damage.hit in ("footer", "length"))


@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("make", [damaged_text, damaged_parquet])
def test_damaged_files(make: Callable[[Random], Case], part: int, tmp_path: Path) -> None:
    """A documented exit code and one line without a value; nothing is left behind."""
    table, out, temp = tmp_path / "table", tmp_path / "out.json", tmp_path / "temp"
    temp.mkdir()
    codes: Counter[str] = Counter()
    findings = []
    todo = Batch(asked("COMMANDS", 200) // PARTS, 0.05 / PARTS)
    for number in todo:
        case = make(Random(f"command {make.__name__} {part} {number}"))
        table.write_bytes(case.content)
        done = run(table, *case.options, "--json", out, "--temp", temp)
        codes[f"exit {done.code}"] += 1
        wrong = None
        if done.code == 0:
            json.loads(out.read_text(encoding="utf-8"))
            out.unlink()
        elif not (done.code == 2 and case.renamed and "Traceback" not in done.err):
            wrong = complaint(done)
        if any(word in done.err and word not in case.header for word in WORDS):
            wrong = f"a value in the message: {done.err}"
        if names(tmp_path) != ["table", "temp"] or names(temp):
            wrong = f"left behind: {names(tmp_path)}, {names(temp)}"
        if wrong:
            findings.append(f"{part} {number}: {wrong} {case.options} {case.content[:300]!r}")
    todo.close(f"command line, {make.__name__}", findings, codes=dict(codes))


# -- kills and signals ------------------------------------------------------------------------


class Bench:
    """A run that takes a while, over the outputs of an earlier one."""

    def __init__(self, folder: Path, records: str) -> None:
        self.folder, self.temp = folder / "out", folder / "temp"
        self.folder.mkdir()
        self.temp.mkdir()
        self.table, self.small = folder / "table.parquet", folder / "small.csv"
        self.small.write_text("a,b\n1,2\n")
        duckdb.execute(
            "COPY (SELECT hash(i) % 1009 AS a, hash(i + 1) % 97 AS b, hash(i + 2) % 5 AS s "
            f"FROM range(600000) t(i)) TO '{self.table}' (FORMAT parquet)"
        )
        self.outputs = [self.folder / "out.json"]
        if records:
            self.outputs.append(self.folder / f"records.{records}")
        assert run(*self._arguments("a")).code == 0
        self.old = [path.read_bytes() for path in self.outputs]
        begun = time.monotonic()
        assert run(*self._arguments("a,b")).code == 0
        self.seconds = time.monotonic() - begun
        self.new = [path.read_bytes() for path in self.outputs]
        assert self.old != self.new

    def _arguments(self, quasi: str) -> list[object]:
        options = ["--json", self.outputs[0]]
        if self.outputs[1:]:
            options += ["--records", self.outputs[1]]
        return [self.table, "-q", quasi, "-s", "s", "--temp", self.temp, *options]

    def moment(self, random: Random) -> float:
        """Any moment of the run; as often near its end, where outputs are written."""
        first = random.choice((0.0, 0.8))
        return self.seconds * random.uniform(first, 1.0)

    def start(self) -> subprocess.Popen:
        for name in self.left():  # a finding of its own, made once
            shutil.rmtree(self.temp / name, ignore_errors=True)
            (self.folder / name).unlink(missing_ok=True)
        for path, content in zip(self.outputs, self.old, strict=True):
            path.write_bytes(content)
        return started(*self._arguments("a,b"))

    def damage(self) -> list[str]:
        """Outputs that are neither the old ones, byte for byte, nor the new ones, complete."""
        found = []
        for path, old, new in zip(self.outputs, self.old, self.new, strict=True):
            content = path.read_bytes() if path.exists() else b""
            if content not in (old, new) and not _same_table(content, new):
                found.append(f"{path.name} is neither old nor new ({len(content)} bytes)")
        return found

    def is_new(self) -> bool:
        pairs = zip(self.outputs, self.new, strict=True)
        return all(p.read_bytes() == new or _same_table(p.read_bytes(), new) for p, new in pairs)

    def left(self) -> list[str]:
        """What lies in the temporary directory or beside the outputs and should not."""
        beside = set(names(self.folder)) - {p.name for p in self.outputs}
        return names(self.temp) + sorted(beside)

    def next_start(self) -> Done:
        """A normal run over another table, with its outputs in the same place."""
        others = [path.with_stem("other") for path in self.outputs]
        options = ["--temp", self.temp, "--json", others[0]]
        if others[1:]:
            options += ["--records", others[1]]
        done = run(self.small, "-q", "a", *options)
        for path in others:
            path.unlink()
        return done


def _same_table(content: bytes, other: bytes) -> bool:
    """Whether two Parquet files hold the same records; their bytes may differ."""
    if content[:4] != b"PAR1" or other[:4] != b"PAR1":
        return False
    try:
        one, two = (pyarrow.parquet.read_table(pyarrow.BufferReader(c)) for c in (content, other))
    except (OSError, ValueError):
        return False
    return one.equals(two)


@pytest.fixture(scope="module")
def bench(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Bench:
    return Bench(tmp_path_factory.mktemp("bench"), request.param)


def processes(session: int) -> list[int]:
    """The living processes of a run, which has a session of its own."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                state, _, _, its = (entry / "stat").read_text().rpartition(")")[2].split()[:4]
                if int(its) == session and state not in "ZX":
                    found.append(int(entry.name))
    return found


def end_of(process: subprocess.Popen) -> str:
    """Wait until all processes of a run are gone; what it says, or that it had to be killed."""
    end = time.monotonic() + GONE
    while process.poll() is None or processes(process.pid):
        if time.monotonic() > end:
            os.killpg(process.pid, signal.SIGKILL)
            return STILL
        time.sleep(0.01)
    return process.stderr.read()


@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("bench", ["", "csv", "parquet"], indirect=True)
def test_kills(bench: Bench, part: int) -> None:
    """Outputs stay whole, the worker goes away by itself, the next start cleans up."""
    findings = []
    outcomes: Counter[str] = Counter()
    todo = Batch(asked("KILLS", 50) // PARTS, 0.04 / PARTS)
    for number in todo:
        random = Random(f"kill {bench.outputs[-1].name} {part} {number}")
        wrong = []
        with bench.start() as process:
            moment = bench.moment(random)
            time.sleep(moment)
            victims = [process.pid]
            if number % 5 == 4:  # the worker instead of the whole run
                victims = [p for p in processes(process.pid) if p != process.pid] or victims
            for victim in victims:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(victim, signal.SIGKILL)
            err = end_of(process)
        done = Done(process.returncode, err, 0)
        outcomes[f"exit {done.code}"] += 1
        ended = done.code in (0, -signal.SIGKILL) and err != STILL
        if not ended and (done.code != 6 or complaint(done)):
            wrong.append(f"exit {done.code}: {err}")
        wrong += bench.damage()
        outcomes["all new" if bench.is_new() else "old or mixed"] += 1
        after = bench.next_start()
        if after.code or bench.left():
            wrong.append(f"next start: exit {after.code}, left {bench.left()}")
        findings += [f"{part} {number}, after {moment:.2f} s: {w}" for w in wrong]
    check = f"kill -9, {bench.outputs[-1].name}"
    todo.close(check, findings, outcomes=dict(outcomes), run=round(bench.seconds, 2))


@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("bench", ["csv"], indirect=True)
def test_signals(sent: signal.Signals, part: int, bench: Bench) -> None:
    """The run ends soon with the signal's exit code and leaves nothing behind."""
    findings = []
    outcomes: Counter[str] = Counter()
    slowest = 0.0
    todo = Batch(asked("SIGNALS", 20) // PARTS, 0.03 / PARTS)
    for number in todo:
        random = Random(f"{sent.name} {bench.outputs[-1].name} {part} {number}")
        moment = bench.moment(random)
        with bench.start() as process:
            time.sleep(moment)
            begun = time.monotonic()
            with contextlib.suppress(ProcessLookupError):
                if number % 2:  # as a terminal does
                    os.killpg(process.pid, sent)
                else:
                    process.send_signal(sent)
            err = end_of(process)
        took = time.monotonic() - begun
        slowest = max(slowest, took)
        code = 128 - process.returncode if process.returncode < 0 else process.returncode
        early = process.returncode == -sent and "in main\n" not in err  # Python was still starting
        outcomes[f"exit {code}{' while starting' * early}"] += 1
        wrong = bench.damage() + [f"left behind: {name}" for name in bench.left()]
        if code not in (0, 128 + sent) or (err.count("\n") > 1 and not early):
            wrong.append(f"exit {process.returncode}: {err}")
        if code == 0 and not bench.is_new():
            wrong.append("exit 0 with an old output")
        if code and took > PROMPT:
            wrong.append(f"ended only after {took:.1f} s")
        findings += [f"{part} {number}, after {moment:.2f} s: {w}" for w in wrong]
    check = f"{sent.name}, {bench.outputs[-1].name}"
    todo.close(check, findings, outcomes=dict(outcomes), slowest=round(slowest, 2))


# -- full disks -------------------------------------------------------------------------------


@pytest.fixture
def mounted(tmp_path: Path) -> Iterator[Path]:
    """A directory on a file system of a few megabytes."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={DISK}", "tmpfs", str(disk)]
    try:
        done = subprocess.run(mount, capture_output=True, text=True)
    except FileNotFoundError:
        pytest.skip("there is no mount command to make a small file system with")
    if done.returncode:
        pytest.skip(f"a small file system cannot be mounted here: {done.stderr.strip()}")
    try:
        yield disk
    finally:
        subprocess.run(["umount", "--lazy", str(disk)], check=True)


@pytest.fixture
def limited(tmp_path: Path) -> Path:
    """A directory for runs that may write no file of more than a few megabytes."""
    disk = tmp_path / "disk"
    disk.mkdir()
    return disk


def _small_files() -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (DISK, DISK))


def _wide(path: Path, rows: int, kind: str) -> Path:
    """Six quasi-identifiers that make up to a million classes, and a secret."""
    digits = ", ".join(f"hash(hash(i) % 1000003) // {10**k} % 10 AS q{k}" for k in range(6))
    options = "FORMAT parquet" if kind == "parquet" else "FORMAT csv, HEADER true"
    duckdb.execute(
        f"COPY (SELECT {digits}, hash(i + 7) % 20 AS s FROM range({rows}) t(i)) "
        f"TO '{path}' ({options})"
    )
    return path


QUASI = ("-q", "q0,q1,q2,q3,q4,q5", "-s", "s")


@pytest.mark.parametrize("what", ["spill", "copy", "unpacked", "records.csv", "records.parquet"])
@pytest.mark.parametrize("way", ["mounted", "limited"])
def test_full_disk(way: str, what: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    """Exit 5, one line, the old output as it was, nothing left on the disk."""
    disk: Path = request.getfixturevalue(way)
    table = _wide(tmp_path / "table", 2_000_000, "parquet" if "records" in what else "csv")
    options: list[object] = [*QUASI, "--temp", disk]
    if what == "spill":
        options += ["--memory", "100MB", "--threads", "1"]
    elif what == "copy":
        options += ["--encoding", "latin-1"]
    elif what == "unpacked":
        table.write_bytes(gzip.compress(table.read_bytes(), 1))
    out = disk / what if "records" in what else tmp_path / "out.json"
    small = tmp_path / "small.csv"
    small.write_text("a,b\n1,2\n")
    option = "--records" if "records" in what else "--json"
    assert run(small, "-q", "a", option, out).code == 0
    old, beside = out.read_bytes(), names(disk)
    how = {"preexec_fn": _small_files} if way == "limited" else {}
    done = run(table, *options, option, out, limit=600, **how)
    note(f"full disk, {what}, {way}", exit=done.code, message=done.err.strip())
    assert done.code == 5 and complaint(done) is None, done
    assert out.read_bytes() == old
    assert names(disk) == beside


# -- little memory ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "rows"),
    [("parquet", asked("ROWS", 10_000_000)), ("csv", asked("CSV_ROWS", 2_000_000))],
)
def test_little_memory(kind: str, rows: int, tmp_path: Path) -> None:
    """The same bytes as without a limit, or exit 5 with the option to change."""
    table, out = _wide(tmp_path / f"table.{kind}", rows, kind), tmp_path / "out.json"
    temp = tmp_path / "temp"
    temp.mkdir()
    options = [table, *QUASI, "--temp", temp, "--json", out]
    findings, due = [], b""
    for memory in (None, "64MB", "256MB", "1GB"):
        begun = time.monotonic()
        done = run(*options, *(["--memory", memory] if memory else []), limit=1800)
        seconds = round(time.monotonic() - begun, 1)
        found = out.read_bytes() if done.code == 0 else b""
        due = due or found
        note(f"memory, {kind}, {rows} rows", limit=memory, exit=done.code, seconds=seconds,
             same=found == due, message=done.err.strip(), peak_kilobytes=done.peak)  # fmt: skip
        if done.code == 0 and found != due:
            findings.append(f"{memory}: other numbers")
        if done.code and (done.code != 5 or complaint(done) or "--memory" not in done.err):
            findings.append(f"{memory}: exit {done.code}: {done.err}")
        if names(temp):
            findings.append(f"{memory}: left behind {names(temp)}")
        out.unlink(missing_ok=True)
    assert due and not findings, findings


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_signals_right_after_the_start(sent: signal.Signals, tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    table.write_text("zip,disease\n" + "1,flu\n1,hiv\n2,flu\n" * 5)
    stop_at_random(table, sent, runs=100)
