"""The command as a process: closed and full streams, broken pipes, signals at any moment."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from helpers.effort import tried
from helpers.stopping import COMMAND, duration, stop_anywhere, stop_at_random

POLICY = (
    "[roles]\nquasi = ['zip']\nsensitive = ['disease']\nrows_are_people = true\n"
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


# The command, with a signal to itself at one moment of its life.
AT = {
    "while it starts": "command._open_streams = stop",
    "while its child works": (
        "from sievert.sources import isolation\n"
        "wait = isolation._wait\n"
        "isolation._wait = lambda *about: (stop(), wait(*about))[1]"
    ),
    "after its child": (
        "from sievert.numerics import machine\n"
        "wait = machine.wait_for_exit\n"
        "machine.wait_for_exit = lambda child: (wait(child), stop())[0]"
    ),
    "at its end": (
        "from sievert.cli import app\n"
        "run = app.main\n"
        "def main():\n"
        "    try:\n        run()\n"
        "    finally:\n        stop()\n"
        "app.main = main"
    ),
}
STOP_ITSELF = """
import os, sys
from sievert import __main__ as command
def stop():
    if os.getpid() == first:
        os.kill(first, {sent})
first = os.getpid()
{moment}
command.main()
"""


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("moment", AT)
@pytest.mark.parametrize("arguments", [["assess", "patients.csv", "-q", "zip"], ["help"]])
def test_no_moment_ends_by_the_raw_signal(
    arguments: list[str], moment: str, sent: signal.Signals, table: Path
) -> None:
    code = STOP_ITSELF.format(sent=int(sent), moment=AT[moment])
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], cwd=table.parent, capture_output=True, timeout=60
    )
    stopped = arguments != ["help"] or not moment.endswith(("its child", "its child works"))
    assert done.returncode == (128 + sent if stopped else 0)
    assert done.stderr == (b"interrupted\n" if stopped else b"")


def test_a_server_that_waits_ends_by_a_signal_as_documented(table: Path) -> None:
    policy = table.with_name("policy.toml")
    policy.write_text(POLICY.format(k=2))
    process = subprocess.Popen(
        [*COMMAND, "serve", "--stdio", "--policy", policy],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdin is not None and process.stdout is not None
    process.stdin.write('{"command": "policy"}\n')
    process.stdin.flush()
    assert '"ok": true' in process.stdout.readline()
    process.send_signal(signal.SIGTERM)
    assert process.communicate(timeout=60)[1] == "interrupted\n"
    assert process.returncode == 143


def test_nohup_keeps_a_command_alive(table: Path) -> None:
    code = STOP_ITSELF.format(sent=int(signal.SIGHUP), moment=AT["while its child works"])
    line = 'trap "" HUP; exec "$@"'
    words = ["bash", "-c", line, "bash", sys.executable, "-c", code]
    done = subprocess.run(
        [*words, "assess", str(table), "-q", "zip"], capture_output=True, timeout=60
    )
    assert done.returncode == 0, done.stderr


def test_nothing_is_tried_out_in_the_temporary_directory(table: Path, tmp_path: Path) -> None:
    """A file that only tries the directory out stays there if a signal comes at that moment."""
    temporary, names = tmp_path / "temporary", tmp_path / "names.txt"
    temporary.mkdir()
    code = (
        "import os, sys\n"
        "def note(event, about):\n"
        f"    if event == 'open' and os.path.dirname(str(about[0])) == {str(temporary)!r}:\n"
        f"        os.write(notes, os.path.basename(about[0]).encode() + b'\\n')\n"
        f"notes = os.open({str(names)!r}, os.O_CREAT | os.O_APPEND | os.O_WRONLY)\n"
        "sys.addaudithook(note)\n"
        "from sievert.__main__ import main\n"
        "main()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "assess", str(table), "-q", "zip", "--json", "-"],
        env={**os.environ, "TMPDIR": str(temporary)}, capture_output=True, timeout=60,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    names_opened = names.read_text().split()
    assert [name for name in names_opened if not name.startswith("sievert-")] == []
    assert list(temporary.iterdir()) == []


@pytest.mark.slow
def test_signals_at_any_moment_leave_nothing_and_are_told(table: Path, tmp_path: Path) -> None:
    """From the start of Python to the end: only before our first line a signal may end it raw."""
    moments, ready = random.Random(41), 0
    policy = tmp_path / "policy.toml"
    policy.write_text(POLICY.format(k=2))
    commands = [
        ["assess", table, "-q", "zip", "-s", "disease", "--json", "-"],
        ["protect", table, "--policy", policy, "-o", tmp_path / "release.csv", "--force"],
        ["count", table, "-q", "zip", "-o", tmp_path / "counts.sievert", "--force"],
        ["measures"],
    ]
    longest = [duration(command) for command in commands]
    runs = tried(30, 1000)
    for number in range(runs):
        sent = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)[number % 3]
        command = commands[number % len(commands)]
        delay = moments.uniform(0, 1.1 * longest[number % len(commands)])
        stopped = stop_anywhere(command, sent, delay)
        assert stopped.left == [], (command, delay)
        if stopped.ready:
            ready += 1
            assert stopped.code == 128 + sent, (command, delay, stopped.error)
            said = {line.partition(":")[0] for line in stopped.error.splitlines()}
            assert said <= {"interrupted", "written"}, (command, delay, stopped.error)
    assert ready > runs / 3  # most moments are ours
    parts = [path.name for path in tmp_path.iterdir() if path.name.startswith((".", "sievert-"))]
    assert parts == []
