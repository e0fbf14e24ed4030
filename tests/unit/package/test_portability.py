"""Other systems, as far as this one can play them: calls that they lack are in one module."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

import sievert
from sievert.numerics import machine

SOURCE = Path(sievert.__file__).parent
MODULES = {
    "fcntl", "grp", "posix", "pty", "pwd", "resource", "select", "syslog", "termios", "tty",
}  # fmt: skip
OF_OS = {
    "chown", "chroot", "confstr", "ctermid", "eventfd", "fchmod", "fchown", "fork", "forkpty",
    "getegid", "geteuid", "getgid", "getgroups", "getloadavg", "getpgid", "getpgrp", "getpriority",
    "getresuid", "getuid", "kill", "killpg", "lchown", "lockf", "major", "memfd_create", "minor",
    "mkfifo", "mknod", "nice", "openpty", "pipe2", "posix_fadvise", "posix_fallocate",
    "posix_spawn", "posix_spawnp", "pread", "preadv", "pwrite", "pwritev", "sched_getaffinity",
    "sched_setaffinity", "sched_yield", "sendfile", "setegid", "seteuid", "setgid", "setpgid",
    "setpriority", "setsid", "setuid", "splice", "statvfs", "sysconf", "tcgetpgrp", "tcsetpgrp",
    "uname", "wait", "wait3", "wait4", "waitid", "waitpid",
}  # fmt: skip
OF_SIGNAL = {
    "SIGALRM", "SIGHUP", "SIGKILL", "SIGPIPE", "SIGQUIT", "SIGUSR1", "SIGUSR2", "SIG_BLOCK",
    "SIG_SETMASK", "SIG_UNBLOCK", "alarm", "pause", "pthread_kill", "pthread_sigmask", "setitimer",
    "siginterrupt", "sigpending", "sigtimedwait", "sigwait", "sigwaitinfo",
}  # fmt: skip


def uses(tree: ast.Module) -> set[str]:
    """The names of calls, modules and places that some system lacks."""
    named = set()
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                named |= {each.name for each in names} & MODULES
            case ast.ImportFrom(module=module, names=names):
                lacking = {"os": OF_OS, "signal": OF_SIGNAL}.get(module or "", set())
                named |= {module} & MODULES | {each.name for each in names} & lacking
            case ast.Attribute(value=ast.Name(id="os"), attr=name) if name in OF_OS:
                named.add(f"os.{name}")
            case ast.Attribute(value=ast.Name(id="signal"), attr=name) if name in OF_SIGNAL:
                named.add(f"signal.{name}")
            case ast.Call(
                func=ast.Name(id="hasattr" | "getattr"),
                args=[ast.Name(id="os" | "signal"), ast.Constant(value=name), *_],
            ) if name in OF_OS | OF_SIGNAL:
                named.add(name)
            case ast.Constant(value=str(text)) if re.match(r"/(proc|dev|sys)/", text):
                named.add(text)
    return named


def test_calls_that_some_system_lacks_are_in_one_module() -> None:
    """Only the command itself holds signals before it imports anything of ours."""
    home = Path(machine.__file__)
    used = {p: uses(ast.parse(p.read_text(encoding="utf-8"))) for p in SOURCE.rglob("*.py")}
    held = {"SIG_BLOCK", "SIGHUP", "pthread_sigmask", "sigpending"}
    command = used.pop(SOURCE / "__main__.py")
    assert {name.removeprefix("signal.") for name in command} == held
    assert {path.name for path, names in used.items() if names} == {home.name}
    assert len(used[home]) > 10  # the test sees them


# What Windows lacks is taken away before anything of ours is imported.
ELSEWHERE = f"""
import os, signal, sys
import duckdb, numpy, subprocess  # whose own wheels know their system
for name in {sorted(OF_OS)!r}:
    vars(os).pop(name, None)
for name in {sorted(OF_SIGNAL)!r}:
    vars(signal).pop(name, None)
for name in {sorted(MODULES - {"select", "posix"})!r}:
    sys.modules[name] = None
os.name = "elsewhere"  # `pathlib` has been imported by now
def refuse(event, arguments):
    if event == "open" and str(arguments[0]).startswith("/proc/"):
        raise FileNotFoundError(2, "no such file")
sys.addaudithook(refuse)
from sievert.__main__ import main
main()
"""


def test_a_table_is_assessed_where_all_of_them_are_missing(tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    table.write_text("zip,age,disease\n1,30,flu\n1,30,cold\n2,40,flu\n2,50,hiv\n")
    shown = {}
    for place, command in (("here", ["-m", "sievert"]), ("there", ["-c", ELSEWHERE])):
        (folder := tmp_path / place).mkdir()
        outputs = ["--json", str(folder / "t.json"), "--html", str(folder / "t.html")]
        options = ["assess", str(table), "-q", "zip,age", "-s", "disease", *outputs]
        done = subprocess.run([sys.executable, *command, *options], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert {path.name for path in folder.iterdir()} == {"t.json", "t.html"}
        shown[place] = (done.stdout, (folder / "t.json").read_bytes())
    assert shown["here"] == shown["there"]
    wrong = [sys.executable, "-c", ELSEWHERE, "assess", str(tmp_path / "none.csv"), "-q", "zip"]
    missing = subprocess.run(wrong, capture_output=True, text=True)
    assert missing.returncode == 3 and missing.stderr.startswith("error: none.csv: No such file")


def test_what_is_assumed_where_a_system_does_not_tell(monkeypatch: pytest.MonkeyPatch) -> None:
    assert machine.physical_memory() > 0 and machine.peak_memory() > 0
    monkeypatch.delattr("os.sysconf")
    monkeypatch.delattr("os.sched_getaffinity", raising=False)
    monkeypatch.setattr(machine, "resource", None)
    assert machine.physical_memory() == machine.ASSUMED_MEMORY
    assert machine.core_count() >= 1
    assert machine.peak_memory() == 0 and machine.address_limit() is None
    machine.limit_own_process()  # does nothing
