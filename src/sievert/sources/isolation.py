"""Work on files of unknown origin: in a child process, with private temporary files.

Readers in compiled code may crash on a damaged or hostile file, or ask for all available memory.
The parent has no data: it waits, passes signals on, and turns the child's end into an exit code.
A child whose parent is gone stops as it does after a signal.

Temporary data is private to its owner. It is removed at the end, or by the next run after a crash.
Every temporary name has the machine's start, the number and the start time of its process. So the
next run can tell the files of a dead process from the files of a living one. It does not touch
files that another machine or container has put into a shared directory.
"""

import json
import math
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
GUARDIAN = "SIEVERT_ENDS_WITH"  # names the process with whose end a command stops
SLOTS = range(6)
FILE, TIDY, DEADLINE, MEMORY, DONE, CHILD = SLOTS
SLOT = 1 << 13
NAME = re.compile(r"\.?sievert-([0-9a-f]{8})-(\d+)-(\d+)-[0-9a-f]{16}(\.part)?")
_board = mmap.mmap(-1, len(SLOTS) * SLOT)  # shared memory: messages of a child to its parent
_places: list[str] = []


def _write_slot(slot: int, text: str) -> None:
    content = text.encode(errors="surrogateescape")[: SLOT - 1]
    _board[slot * SLOT : slot * SLOT + len(content) + 1] = content + b"\0"


def _read_slot(slot: int) -> str:
    content = _board[slot * SLOT : (slot + 1) * SLOT]
    return content[: content.index(0)].decode(errors="surrogateescape")


def announce_file(name: str) -> None:
    """Tell the parent, if there is one, the name of the file that is read."""
    _write_slot(FILE, name)


def announce_directory(directory: Path) -> None:
    """Tell the parent, if there is one, which directory has temporary files to remove."""
    place = str(directory)
    if place in _places:
        _places.remove(place)
    _places.append(place)
    _write_slot(TIDY, json.dumps(_places[-20:]))


def announce_deadline(seconds: float) -> None:
    """Tell the parent, if there is one, in how many seconds the work must be done."""
    _write_slot(DEADLINE, repr(time.monotonic() + seconds + GRACE))


def announce_memory(most: int) -> None:
    """Tell the parent, if there is one, the `most` bytes that the work may use at once."""
    _write_slot(MEMORY, str(most))
    if _read_slot(CHILD) == str(os.getpid()) and machine.resident_memory(os.getpid()) > most:
        raise _too_much_memory(most)


def require_memory(needed: int, what: str, hint: str) -> None:
    """Refuse work that certainly needs more than --memory, before it begins.

    `needed` is a lower bound of the bytes that the work needs in addition to the present ones.
    """
    most = _memory_limit()
    if not most or _read_slot(CHILD) != str(os.getpid()):
        return
    needed += machine.resident_memory(os.getpid())
    require(
        needed <= most,
        f"{what}: at least {needed / 2**20:,.0f} MB, more than the {most >> 20:,} MB of --memory",
        hint=hint,
        error=ExhaustedError,
    )


def _memory_limit() -> int:
    """The bytes that the work may use at once; 0 without a limit."""
    text = _read_slot(MEMORY)
    return int(text) if text else 0


def supervise(work: Callable[[], int]) -> int:
    """Do some work in a child process, if the system has these; return its exit code.

    Signals wait while the child is made. The parent passes them on and the work lets them in, so
    that no signal reaches a process that is not ready for it. A signal to the parent decides its
    exit code, even if the work was done a moment before. Later signals have the effect that they
    had before the call.
    """
    if not machine.can_fork():
        return work()
    require(
        (machine.address_limit() or LEAST) >= LEAST,
        f"less than {LEAST >> 20} MB of addresses: libraries cannot even be loaded",
        hint="a larger limit (ulimit -v)",
        error=ExhaustedError,
    )
    guardian = os.environ.pop(GUARDIAN, None)  # it guards this process, not its children
    for slot in SLOTS:
        _write_slot(slot, "")
    killed_before = machine.count_killed_for_memory()
    stopped: list[tuple[int, float]] = []  # the signals, and by when the child must have ended
    with machine.held_signals():
        # Each process notices by its pipe that the other one is gone.
        up = os.pipe()
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
    first_signal = stopped[0][0] if stopped else None
    return _conclude(code, first_signal, killed, killed_before)


def _conclude(
    code: int, first_signal: int | None, killed: SievertError | None, killed_before: int
) -> int:
    """The exit code of the parent from the child's, or the error; `killed` is why it was killed."""
    ended = _read_slot(DONE) == str(code)  # else it was killed, or some library ended it
    if code - 128 in machine.SIGNALS and first_signal is None and _is_confined():
        ended = False  # a library stops its own process where no thread can be started
    if first_signal is not None or not ended:  # a signal may have come while the child tidied up
        places = _read_slot(TIDY)
        for place in json.loads(places) if places else ():
            sweep(Path(place))
    if first_signal is not None:
        if code != 128 + first_signal:  # else the child has said so
            with suppress(OSError):
                os.write(2, b"interrupted\n")
        return 128 + first_signal
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
    """Say whether the number of addresses of a process is limited."""
    return machine.address_limit() is not None


def is_short_of_addresses() -> bool:
    """Say whether this process has used most of its addresses, so that libraries may fail."""
    most = machine.address_limit()
    peak = machine.peak_addresses()
    return most is not None and (peak is None or peak > most // 2)


def _work(work: Callable[[], int], parent: int) -> None:
    """Do the work of the child: limited, watched, and without a return to the parent's code."""
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
    """Wait until the child has ended; return the error if it had to be killed."""
    while True:
        most = _memory_limit()
        if machine.is_readable(pipe, OFTEN):
            return None
        if not stopped and guardian not in (None, str(os.getppid())):
            machine.send_signal(os.getpid(), signal.SIGTERM)
        deadline = stopped[0][1] if stopped else _deadline()
        late = time.monotonic() > deadline
        large = most and machine.resident_memory(child) > most
        if late or large:
            machine.kill_family(child)
            if late:
                return ExhaustedError("not done in time", hint="a longer --timeout")
            return _too_much_memory(most)


def _deadline() -> float:
    """The time by which the work must be done; infinite without a limit."""
    text = _read_slot(DEADLINE)
    return float(text) if text else math.inf


def _too_much_memory(most: int) -> ExhaustedError:
    return ExhaustedError(f"more than the {most >> 20:,} MB of --memory", hint="a larger --memory")


# -- temporary data ----------------------------------------------------------------------------


def _here() -> str:
    """A code of this machine since its start, for names of files."""
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
    with suppress(OSError):  # the first use of a temporary file reports the error
        tempfile.tempdir = temporary_directory()


def temporary_name() -> str:
    """A unique temporary name that contains the process it belongs to."""
    process = os.getpid()
    started = machine.start_time(process)
    if started is None:
        started = 0
    return f"sievert-{_here()}-{process}-{started}-{os.urandom(8).hex()}"


def sweep(directory: Path) -> None:
    """Remove the temporary files of processes that are no longer alive from a directory."""
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
    """Make a directory of mode 0700, and remove it when the block ends, however it ends."""
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
