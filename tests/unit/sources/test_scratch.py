"""Temporary data: private, removed, and swept after a run that was killed."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

import sievert
from sievert import files
from sievert.errors import RefusedError, UsageError
from sievert.numerics import machine
from sievert.sources import isolation


def test_private_and_gone(tmp_path: Path) -> None:
    with isolation.private_directory(tmp_path) as place:
        assert stat.S_IMODE(place.stat().st_mode) == 0o700
        (place / "spill").write_text("data")
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(ZeroDivisionError), isolation.private_directory(tmp_path):
        _ = 1 / 0
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(UsageError), isolation.private_directory(tmp_path / "none"):
        pass


def test_only_the_dead_are_swept(tmp_path: Path) -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    alive, token = os.getpid(), "0" * 16
    started, here = machine.start_time(alive), isolation._here()
    elsewhere = tmp_path / f"sievert-{'0' * 8}-{ended.pid}-12345-{token}"
    elsewhere.mkdir()
    dead = tmp_path / f"sievert-{here}-{ended.pid}-12345-{token}"
    reused = tmp_path / f".sievert-{here}-{alive}-{(started or 1) + 1}-{token}.part"
    mine = tmp_path / f"sievert-{here}-{alive}-{started}-{token}"
    other = tmp_path / "sievert-notes"
    dead.mkdir()
    (dead / "spill").write_text("data")
    mine.mkdir()
    reused.write_text("half a file")
    other.write_text("not ours")
    (tmp_path / "elsewhere").mkdir()
    link = tmp_path / f"sievert-{here}-{ended.pid}-12345-{'1' * 16}"
    link.symlink_to(tmp_path / "elsewhere")
    isolation.sweep(tmp_path)
    assert not dead.exists() and not reused.exists()
    assert mine.exists() and other.exists() and link.is_symlink()
    assert elsewhere.exists()  # another machine's, in a shared directory
    isolation.sweep(tmp_path / "none")


def test_what_a_killed_run_leaves_is_gone_after_the_next(tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    table.write_text("q,s\na,1\nb,2\n")
    script = (
        "import sys, time, sievert\n"
        "def wait(step, _):\n"
        "    if step == 'computing':\n"
        "        print('ready', flush=True); time.sleep(60)\n"
        f"sievert.assess({str(table)!r}, 'q', 's', temp={str(tmp_path / 'temp')!r}, "
        f"records={str(tmp_path / 'r.csv')!r}, watch=wait)\n"
    )
    (tmp_path / "temp").mkdir()
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        process.send_signal(signal.SIGKILL)
    time.sleep(0.05)
    assert list((tmp_path / "temp").iterdir())
    sievert.assess(table, "q", "s", temp=tmp_path / "temp", records=tmp_path / "r.csv")
    assert list((tmp_path / "temp").iterdir()) == []
    assert sorted(p.name for p in tmp_path.iterdir()) == ["r.csv", "t.csv", "temp"]


def test_a_directory_is_written_whole(tmp_path: Path) -> None:
    """It takes its place at the end, replaces parts of ours if forced, and nothing else."""
    out = tmp_path / "r.parquet"

    def write(text: str, *, force: bool = False) -> None:
        with files.write_whole(out, force=force, directory=True) as temporary:
            assert temporary is not None
            temporary.mkdir()
            (temporary / "part-00000.parquet").write_text(text)
            assert out.exists() is force
            if text == "bad":
                raise ValueError

    for _ in range(2):
        with pytest.raises(ValueError, match=r"^$"):
            write("bad")
        assert not list(tmp_path.iterdir())
    write("one")
    with pytest.raises(RefusedError, match="is there already"):
        write("two")
    with pytest.raises(ValueError, match=r"^$"):
        write("bad", force=True)
    assert (out / "part-00000.parquet").read_text() == "one"
    write("two", force=True)
    assert (out / "part-00000.parquet").read_text() == "two"
    with pytest.raises(RefusedError, match="is a directory"), files.write_whole(out, force=True):
        pass
    (out / "mine").write_text("")
    with pytest.raises(UsageError, match="is a directory"):
        write("two", force=True)
    assert [path.name for path in tmp_path.iterdir()] == [out.name]
