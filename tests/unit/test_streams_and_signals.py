"""The command as a process: closed and full streams, broken pipes, signals at any moment."""

from __future__ import annotations

import signal
import subprocess
from pathlib import Path

import pytest
from stopping import COMMAND, stop_at_random

POLICY = (
    "[roles]\nquasi = ['zip']\nrows_are_people = true\n"
    "ignored = {{ disease = 'not released' }}\n"
    "[limits]\nk_anonymity = {{ min = {k} }}\n"
)


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "patients.csv"
    path.write_text("zip,disease\n" + "1,flu\n1,hiv\n2,flu\n2,flu\n" * 5)
    return path


def shell(line: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    """A line of bash, in which $@ is the command with the arguments."""
    words = ["bash", "-c", line, "bash", *COMMAND, *map(str, arguments)]
    return subprocess.run(words, capture_output=True, text=True, timeout=60)


@pytest.mark.parametrize("streams", ["<&-", ">&-", "2>&-", "<&- >&-", ">&- 2>&-", "<&- >&- 2>&-"])
def test_closed_streams_change_no_exit_code(streams: str, table: Path, tmp_path: Path) -> None:
    kept = tmp_path / "kept.json"
    for k, code in ((2, 0), (100, 1)):
        policy = tmp_path / f"{k}.toml"
        policy.write_text(POLICY.format(k=k))
        arguments = ("assess", table, "--policy", policy, "--quick", "--json", kept)
        done = shell(f'"$@" {streams}', *arguments)
        assert done.returncode == code and kept.read_text().startswith("{")
        assert "Traceback" not in done.stderr
        kept.unlink()
    assert table.read_text().startswith("zip,")


@pytest.mark.parametrize("streams", [("--quick",), ("--json", "-")], ids=["page", "json"])
def test_nobody_reads_what_a_gate_prints(streams: tuple[str, ...], table: Path) -> None:
    for k, code in ((2, 0), (100, 1)):
        policy = table.with_name(f"{k}.toml")
        policy.write_text(POLICY.format(k=k))
        line = 'sleep 0 | "$@" | true; exit ${PIPESTATUS[1]}'
        done = shell(line, "assess", table, "--policy", policy, *streams)
        assert (done.returncode, done.stderr.count("\n")) == (code, 0), done.stderr


@pytest.mark.parametrize("streams", ["2>&-", "2>/dev/full", ">&- 2>/dev/full"])
def test_a_usage_error_that_cannot_be_said(streams: str) -> None:
    assert shell(f'"$@" {streams}', "assess", "--nothing").returncode == 2
    assert shell(f'"$@" {streams}', "assess", "nothing.csv", "-q", "a").returncode == 3
    assert shell(f'"$@" {streams}', "help", "nothing").returncode == 2


def test_standard_input_that_is_closed_is_empty() -> None:
    done = shell('"$@" <&-', "assess", "-", "-q", "a")
    assert done.returncode == 3 and done.stderr.startswith("error: ")


def test_memory_holds_for_the_process(table: Path, tmp_path: Path) -> None:
    """Python alone holds more than this, so the child is stopped and swept."""
    temp = tmp_path / "temp"
    temp.mkdir()
    arguments = ("assess", table, "-q", "zip", "--temp", temp, "--memory")
    done = shell('"$@"', *arguments, "4MB")
    assert done.returncode == 5 and not list(temp.iterdir())
    assert done.stderr == "error: more than the 4 MB of --memory. Try: a larger --memory\n"
    assert shell('"$@"', *arguments, "300MB").returncode == 0


@pytest.mark.parametrize("kilobytes", [170_000, 300_000, 540_000])
def test_too_few_addresses(kilobytes: int, table: Path, tmp_path: Path) -> None:
    """Whatever a library does where it gets no memory: exit 5, and nothing is left behind."""
    temp = tmp_path / "temp"
    temp.mkdir()
    line = f'ulimit -v {kilobytes}; export OPENBLAS_NUM_THREADS=8; exec "$@"'
    done = shell(line, "assess", table, "-q", "zip", "-s", "disease", "--temp", temp)
    assert done.returncode in (0, 5), done.stderr
    assert done.returncode == 0 or done.stderr.splitlines()[-1].startswith("error: ")
    assert not list(temp.iterdir()) and "Traceback" not in done.stderr


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["assess", "--help"], ["help"]])
@pytest.mark.parametrize("reader", ["head -n 1", "true"])
def test_pages_into_a_broken_pipe(arguments: list[str], reader: str) -> None:
    done = shell(f'"$@" | {reader}; exit ${{PIPESTATUS[0]}}', *arguments)
    assert (done.returncode, done.stderr) == (0, "")


def test_pages_on_a_full_disk() -> None:
    done = shell('"$@" > /dev/full', "--help")
    assert done.returncode == 5 and done.stderr.startswith("error: the output cannot be written")


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_is_never_lost(sent: signal.Signals, table: Path) -> None:
    stop_at_random(table, sent, runs=10)


def test_a_signal_waits_until_a_module_is_imported(tmp_path: Path) -> None:
    """Compiled modules abort with a traceback if their import is stopped half-way."""
    (tmp_path / "slow.py").write_text("import os, signal\nos.kill(os.getpid(), 2)\nwhole = True\n")
    code = (
        "import signal, time; from sievert.cli import app; signal.signal(2, app._stop)\n"
        "try:\n    import slow; time.sleep(9)\n"
        "except KeyboardInterrupt:\n    raise SystemExit(app._stopped[0] if slow.whole else 1)\n"
    )
    done = subprocess.run([*COMMAND[:1], "-c", code], cwd=tmp_path, capture_output=True, timeout=60)
    assert (done.returncode, done.stderr) == (130, b"")
