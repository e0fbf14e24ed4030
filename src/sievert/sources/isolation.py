"""Work on files of unknown origin: in a child process, with private temporary files.

Readers in compiled code may crash on a damaged or hostile file, or ask for all the memory there is.
The parent holds no data: it waits, passes signals on, and turns the child's end into an exit code.
A child whose parent is gone ends as if it had been asked to.

Temporary data is private to its owner, gone at the end, and swept after a crash. Every temporary
name carries the machine's start, the number and the start time of its process, so that the next run
can tell what a dead one has left behind from what a living one still needs. What another machine or
container has put into a shared directory is not touched.
"""

import json
import mmap
import os
import re
import shutil
import signal
import tempfile
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType

from sievert.errors import (
    EngineError,
    ExhaustedError,
    SievertError,
    is_out_of_memory,
    require,
)
from sievert.numerics import machine

LEAST = 1 << 29  # bytes of addresses; with fewer, Python and the libraries may hang or crash
GRACE = 5.0  # seconds after its deadline until a child that does not stop is killed
OFTEN = 0.02  # seconds between two looks at the memory of a child
SOON = 1.5  # seconds a child has to tidy up after a signal
GUARDIAN = "SIEVERT_ENDS_WITH"  # the process without which a command is not to go on
FILE, TIDY, DEADLINE, MEMORY, DONE, CHILD = SLOTS = range(6)
SLOT = 1 << 13
NAME = re.compile(r"\.?sievert-([0-9a-f]{8})-(\d+)-(\d+)-[0-9a-f]{16}(\.part)?")
_board = mmap.mmap(-1, len(SLOTS) * SLOT)  # what a child tells its parent, in shared memory
_places: list[str] = []


def _write_slot(slot: int, text: str) -> None:
    content = text.encode(errors="surrogateescape")[: SLOT - 1]
    _board[slot * SLOT : slot * SLOT + len(content) + 1] = content + b"\0"


def _read_slot(slot: int) -> str:
    content = _board[slot * SLOT : (slot + 1) * SLOT]
    return content[: content.index(0)].decode(errors="surrogateescape")


def announce_file(name: str) -> None:
    """Tell the parent, if there is one, which file is being read."""
    _write_slot(FILE, name)


def announce_directory(directory: Path) -> None:
    """Tell the parent, if there is one, where temporary files would be left by a sudden death."""
    place = str(directory)
    if place in _places:
        _places.remove(place)
    _places.append(place)
    _write_slot(TIDY, json.dumps(_places[-20:]))


def announce_deadline(seconds: float) -> None:
    """Tell the parent, if there is one, in how many seconds the work must be done."""
    _write_slot(DEADLINE, repr(time.monotonic() + seconds + GRACE))


def announce_memory(most: int) -> None:
    """Tell the parent, if there is one, how many bytes the work may hold at once."""
    _write_slot(MEMORY, str(most))
    if _read_slot(CHILD) == str(os.getpid()) and machine.resident_memory(os.getpid()) > most:
        raise _too_much_memory(most)


def require_memory(needed: int, what: str, hint: str) -> None:
    """Refuse work that is sure to hold more than --memory, before it is begun.

    `needed` are bytes beside those that the process holds already, rather too few than too many.
    """
    most = int(_read_slot(MEMORY) or 0)
    if not most or _read_slot(CHILD) != str(os.getpid()):
        return
    needed += machine.resident_memory(os.getpid())
    require(
        needed <= most,
        f"{what}: at least {needed / 2**20:,.0f} MB, more than the {most >> 20:,} MB of --memory",
        hint=hint,
        error=ExhaustedError,
    )


def supervise(work: Callable[[], int]) -> int:
    """The exit code of some work, done in a child process where there are such.

    Signals wait while the child is made. The parent passes them on and the work lets them in, so
    that none finds a process that is not ready for it. Whoever stopped the parent is told so, even
    where the work was done a moment before. Signals that come later do what they did before, or
    wait as they did before.
    """
    if not machine.can_fork():
        return work()
    require(
        (machine.address_limit() or LEAST) >= LEAST,
        f"less than {LEAST >> 20} MB of addresses: libraries cannot even be loaded",
        hint="a larger limit (ulimit -v)",
        error=ExhaustedError,
    )
    guardian = os.environ.pop(GUARDIAN, None)  # of this process, not of those that it starts
    for slot in SLOTS:
        _write_slot(slot, "")
    killed_before = machine.count_killed_for_memory()
    stopped: list[tuple[int, float]] = []  # the signals, and by when the child must have ended
    with machine.held_signals():
        up = os.pipe()  # each side notices by its pipe that the other one is gone
        down = os.pipe()
        try:
            child = machine.fork()
        except OSError as error:
            raise ExhaustedError(f"no process can be started: {error.strerror}") from None
        if child == 0:
            os.close(up[0])
            os.close(down[1])
            _work(work, down[0])
        os.close(up[1])
        os.close(down[0])

        def pass_on(number: int, _frame: FrameType | None) -> None:
            stopped.append((number, time.monotonic() + SOON))
            with suppress(ProcessLookupError):
                machine.send_signal(child, number)

        with machine.handled_signals(pass_on):
            killed = _wait(up[0], child, stopped, guardian)
        code = machine.wait_for_exit(child)  # signals wait: its number may soon be another's
    os.close(up[0])
    os.close(down[1])
    ended = _read_slot(DONE) == str(code)  # else it was killed, or some library ended it
    if code - 128 in machine.SIGNALS and not stopped and _is_confined():
        ended = False  # a library stops its own process where no thread can be started
    if stopped or not ended:  # a signal may have come while the child tidied up
        for place in json.loads(_read_slot(TIDY) or "[]"):
            sweep(Path(place))
    if stopped:
        if code != 128 + stopped[0][0]:  # else the child has said so
            with suppress(OSError):
                os.write(2, b"interrupted\n")
        return 128 + stopped[0][0]
    if ended:
        return code
    if killed is not None:
        raise killed
    raise _obituary(code, starved=machine.count_killed_for_memory() > killed_before)


def _obituary(code: int, *, starved: bool) -> SievertError:
    on = f" on {_read_slot(FILE)}" if _read_slot(FILE) else ""
    if machine.was_killed(code) and starved:
        return ExhaustedError(f"the system ran out of memory{on}", hint="a smaller --memory")
    if _is_confined():  # libraries that get no memory abort, crash or leave
        return ExhaustedError(
            f"the process that reads the data died{on}: its memory is limited",
            hint="a larger limit (ulimit -v)",
        )
    how = f"signal {-code}" if code < 0 else f"code {code}"
    return EngineError(
        f"the process that reads the data died ({how}){on}",
        hint="the file may be damaged: open it with the program that wrote it",
    )


def _is_confined() -> bool:
    """Whether somebody has limited the addresses that a process may use."""
    return machine.address_limit() is not None


def is_short_of_addresses() -> bool:
    """Whether this process has used most of the addresses it may: libraries then fail anyhow."""
    most = machine.address_limit()
    peak = machine.peak_addresses()
    return most is not None and (peak is None or peak > most // 2)


def _work(work: Callable[[], int], parent: int) -> None:
    """The child: limited, watched, and never back into the parent's code."""
    code = 70
    _write_slot(CHILD, str(os.getpid()))
    try:
        machine.limit_own_process()
        threading.Thread(target=_end_with_parent, args=[parent], daemon=True).start()
        code = work()
    except Exception as error:  # of a process that cannot even begin
        if is_out_of_memory(error):
            code = ExhaustedError.exit_code
            os.write(2, b"error: out of memory\n")
    finally:
        _write_slot(DONE, str(code))
        os._exit(code)


def _end_with_parent(parent: int) -> None:
    """Wait for the end of the parent, then ask the main thread to stop, then stop."""
    os.read(parent, 1)
    machine.send_signal(os.getpid(), signal.SIGTERM)
    time.sleep(SOON)
    os._exit(143)


def _wait(
    pipe: int, child: int, stopped: list[tuple[int, float]], guardian: str | None
) -> SievertError | None:
    """Until the child has ended; why, if it had to be killed."""
    while True:
        most = int(_read_slot(MEMORY) or 0)
        if machine.is_readable(pipe, OFTEN):
            return None
        if not stopped and guardian not in (None, str(os.getppid())):
            machine.send_signal(os.getpid(), signal.SIGTERM)
        deadline = stopped[0][1] if stopped else float(_read_slot(DEADLINE) or "inf")
        late = time.monotonic() > deadline
        large = most and machine.resident_memory(child) > most
        if late or large:
            machine.kill_family(child)
            if late:
                return ExhaustedError("not done in time", hint="a longer --timeout")
            return _too_much_memory(most)


def _too_much_memory(most: int) -> ExhaustedError:
    return ExhaustedError(f"more than the {most >> 20:,} MB of --memory", hint="a larger --memory")


# -- temporary data ----------------------------------------------------------------------------


def _here() -> str:
    """This machine since it started, as a few letters of a name."""
    return f"{zlib.crc32(machine.current_boot().encode()):08x}"


def temporary_directory() -> str:
    """The directory for temporary files that `tempfile` would choose, without a file to try it.

    A signal at that moment would leave the file behind.
    """
    if tempfile.tempdir is None and machine.IS_POSIX:
        named = (os.environ.get(name) for name in ("TMPDIR", "TEMP", "TMP"))
        for place in (*named, "/tmp", "/var/tmp", "/usr/tmp", os.curdir):  # noqa: S108
            if place and Path(place).is_dir() and os.access(place, os.W_OK | os.X_OK):
                return str(Path(place).absolute())
    return tempfile.gettempdir()


def settle_temporary_directory() -> None:
    """Choose the directory for temporary files of the whole process, libraries included."""
    with suppress(OSError):  # whoever needs one will say so
        tempfile.tempdir = temporary_directory()


def temporary_name() -> str:
    """A temporary name nobody else has, with the process it belongs to."""
    process = os.getpid()
    return f"sievert-{_here()}-{process}-{machine.start_time(process) or 0}-{os.urandom(8).hex()}"


def sweep(directory: Path) -> None:
    """Remove what processes that are no longer alive have left in a directory."""
    entries = []
    here = _here()
    with suppress(OSError):
        entries = list(os.scandir(directory))
    for entry in entries:
        parts = NAME.fullmatch(entry.name)
        if not parts or parts[1] != here or entry.is_symlink():
            continue
        started = machine.start_time(int(parts[2]))
        if started is None or (started and int(parts[3]) and started != int(parts[3])):
            with suppress(OSError):
                own = machine.is_own(entry.stat(follow_symlinks=False))
                if own and entry.is_dir(follow_symlinks=False):
                    shutil.rmtree(entry.path, ignore_errors=True)
                elif own:
                    Path(entry.path).unlink(missing_ok=True)


@contextmanager
def private_directory(parent: str | os.PathLike[str] | None = None) -> Iterator[Path]:
    """A directory of mode 0700 that is gone when the block ends, however it ends."""
    require(
        parent is None or Path(parent).is_dir(),
        "--temp is not a directory",
        hint="an existing directory",
    )
    path: Path | None = None
    try:
        try:
            place = Path(temporary_directory() if parent is None else parent)
            sweep(place)
            announce_directory(place)
            path = place / temporary_name()
            path.mkdir(mode=0o700)
        except OSError as error:
            raise ExhaustedError(
                f"no temporary directory can be made: {error.strerror}", hint="--temp DIR"
            ) from None
        yield path.resolve()
    finally:
        if path is not None:
            shutil.rmtree(path, ignore_errors=True)
