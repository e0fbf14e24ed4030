"""The services of the machine and its operating system: cores, memory, processes, signals.

Every call that some system lacks is here, with a replacement. Only `__main__` has such calls, too,
because it blocks signals before it imports anything.

- no `fork` (Windows): the command line works in its own process. A crash of a reader ends the
  command, and neither --timeout nor --memory can stop a library that does not answer.
- no `resource` (Windows): the system decides about core dumps; the peak of memory is 0, unknown.
- no `/proc` (macOS, Windows): the memory of a process is unknown, so that only the engine obeys
  --memory. Files of a dead process are not removed if nobody can tell that it is dead.
- no signal masks (Windows): a signal while a command starts ends it without a message.
- no sync of directories, or of files opened for reading (Windows): files are opened for writing,
  and directories are not synced.
- no locks on files (Windows): a file is the lock, for as long as it exists.
- no users by number (Windows): files in a private directory are assumed to be one's own.
- no files in memory (macOS, Windows): small files are read by an engine of their own, more slowly.
- no size of the memory (Windows): 4 GiB are assumed unless --memory says otherwise.
"""

import _thread
import os
import platform
import re
import select
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType, ModuleType

resource: ModuleType | None
fcntl: ModuleType | None
try:
    import fcntl
    import resource
except ImportError:
    resource = None
    fcntl = None

NAMES = ("SIGINT", "SIGTERM", "SIGHUP")
SIGNALS = tuple(getattr(signal, name) for name in NAMES if hasattr(signal, name))
ASSUMED_MEMORY = 4 << 30  # bytes of a machine whose memory is unknown
IS_POSIX = os.name == "posix"


# -- cores and memory -----------------------------------------------------------------------------


def core_count() -> int:
    """The number of cores that this process may use, or else of the machine."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    cores = os.cpu_count()
    return 1 if cores is None else cores


def physical_memory() -> int:
    """The bytes of memory of this machine."""
    if hasattr(os, "sysconf"):
        with suppress(OSError, ValueError):
            return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return ASSUMED_MEMORY


def peak_memory() -> int:
    """The largest number of bytes that this process has used at once; 0 if it is unknown."""
    if resource is None:
        return 0
    most: int = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else 1024 * most


def address_limit() -> int | None:
    """The number of addresses, in bytes, that a process may use; None without a limit."""
    if resource is None:
        return None
    most: int = resource.getrlimit(resource.RLIMIT_AS)[0]
    return None if most == resource.RLIM_INFINITY else most


def peak_addresses() -> int | None:
    """The largest number of addresses, in bytes, that this process has used; None if unknown."""
    with suppress(OSError, ValueError):
        peak = re.search(r"VmPeak:\s*(\d+) kB", Path("/proc/self/status").read_text())
        return int(peak[1]) << 10 if peak else 0
    return None


def limit_own_process() -> None:
    """Forbid core dumps, which would contain data, and more memory than the machine has."""
    if resource is None:
        return
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with suppress(OSError, ValueError):
        memory = physical_memory()
        soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
        if soft == resource.RLIM_INFINITY or soft > memory:
            resource.setrlimit(resource.RLIMIT_DATA, (memory, hard))


def has_memory_files() -> bool:
    """Say whether the system has files in memory, without a name in any directory."""
    return hasattr(os, "memfd_create") and Path("/proc/self/fd").exists()


def memory_file() -> tuple[int, Path]:
    """Make a file in memory, if the system has these; return its number and its path."""
    number = os.memfd_create("sievert")
    return number, Path(f"/proc/self/fd/{number}")


# -- processes ------------------------------------------------------------------------------------


def can_fork() -> bool:
    """Say whether the system can make a child process that has all that is loaded here."""
    return hasattr(os, "fork")


def fork() -> int:
    """Make a child process, if the system can: 0 in the child, its number in the parent."""
    return os.fork()


def wait_for_exit(child: int) -> int:
    """Wait for a child; return its exit code, or minus the number of the signal that ended it."""
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status)


def is_readable(pipe: int, seconds: float) -> bool:
    """Say whether a pipe gets something to read, or loses its other end, within some `seconds`."""
    return bool(select.select([pipe], [], [], seconds)[0])


def children(process: int) -> list[int]:
    """The processes that a process has started from its main thread."""
    with suppress(OSError):
        listed = Path(f"/proc/{process}/task/{process}/children").read_text()
        return [int(number) for number in listed.split()]
    return []


def resident_memory(process: int) -> int:
    """The bytes of memory of a process and its children, without mapped files."""
    pages = 0
    for each in (process, *children(process)):
        with suppress(OSError, ValueError):
            _, resident, shared = map(int, Path(f"/proc/{each}/statm").read_text().split()[:3])
            pages += resident - shared
    return pages * os.sysconf("SC_PAGE_SIZE") if pages else 0


def count_killed_for_memory() -> int:
    """Count the processes that the system has killed for lack of memory since it started."""
    try:
        lines = Path("/proc/vmstat").read_text().splitlines()
    except OSError:
        return 0
    return next((int(n) for name, n in (x.split() for x in lines) if name == "oom_kill"), 0)


def was_killed(code: int) -> bool:
    """Say whether an exit code means that somebody killed the process."""
    return hasattr(signal, "SIGKILL") and code == -signal.SIGKILL


def kill_family(process: int) -> None:
    """End a process and its children at once."""
    for each in (*children(process), process):
        os.kill(each, signal.SIGKILL)


def start_time(process: int) -> int | None:
    """The start of a process, in the kernel's ticks; 0 if it is unknown, None if it is dead."""
    with suppress(OSError, IndexError, ValueError):
        state, *rest = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
        return (
            None if state in "ZX" else int(rest[18])
        )  # dead, but its parent has not waited for it
    if not IS_POSIX:  # signal 0 would stop the process
        return 0
    try:
        os.kill(process, 0)
    except OSError as error:
        return None if isinstance(error, ProcessLookupError) else 0
    return 0


def current_boot() -> str:
    """A text for this start of this machine and container, where process numbers are valid."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text()
        return f"{boot}{Path('/proc/self/ns/pid').stat().st_ino}"
    except OSError:
        return platform.node()


def is_own(status: os.stat_result) -> bool:
    """Say whether a file belongs to the user of this process."""
    return not hasattr(os, "getuid") or status.st_uid == os.getuid()


# -- signals and files ----------------------------------------------------------------------------


def send_signal(process: int, number: int) -> None:
    """Send a signal to a process that was forked."""
    os.kill(process, number)


def hold_signals(hold: bool) -> None:
    """Block signals, if the system can, or unblock them."""
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_BLOCK if hold else signal.SIG_UNBLOCK, SIGNALS)


@contextmanager
def held_signals() -> Iterator[None]:
    """Block signals within the `with` block; afterwards restore the former state."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def handled_signals(handler: Callable[[int, FrameType | None], None]) -> Iterator[None]:
    """Pass signals to `handler` within the `with` block; block them before and after it.

    A signal that is ignored stays ignored, as `nohup` demands.
    """
    before = {number: signal.getsignal(number) for number in SIGNALS}
    handled = [number for number in SIGNALS if before[number] not in (signal.SIG_IGN, None)]
    for number in handled:
        signal.signal(number, handler)
    try:
        try:
            hold_signals(False)
            yield
        finally:
            hold_signals(True)  # signals that came until now are handled here
    finally:
        for number in handled:
            signal.signal(number, before[number])


def signal_main_thread(thread: int, number: int) -> None:
    """Send a signal to the main thread; only a signal to its own thread wakes a waiting call."""
    if hasattr(signal, "pthread_kill"):
        signal.pthread_kill(thread, number)
    else:
        _thread.interrupt_main(signal.Signals(number))


def sync(path: Path) -> None:
    """Write a file, or the names in a directory where the system allows it, through to the disk."""
    if not IS_POSIX and path.is_dir():
        return
    handle = os.open(path, os.O_RDONLY if IS_POSIX else os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def lock(path: Path, seconds: float = 0.0) -> Iterator[bool]:
    """Take the lock on a path, one process at a time; yield False if it is not free in `seconds`.

    A directory is locked itself, a file by an empty file beside it, PATH.lock, which stays. The
    system frees the lock when the process ends, however it ends. On a system without locks, the
    existence of PATH.lock is the lock.
    """
    own = path.with_name(f"{path.name}.lock")
    mode = os.O_CREAT | os.O_RDWR
    if fcntl is None:
        mode |= os.O_EXCL
    elif path.is_dir():
        own = path
        mode = os.O_RDONLY
    until = time.monotonic() + seconds
    handle: int | None = None
    while handle is None:
        try:
            handle = os.open(own, mode, 0o600)
            if fcntl is not None:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except (BlockingIOError, FileExistsError):
            if handle is not None:
                os.close(handle)
                handle = None
            if time.monotonic() >= until:
                break
            time.sleep(0.02)
    try:
        yield handle is not None
    finally:
        if handle is not None:
            os.close(handle)
            if fcntl is None:
                own.unlink()
