"""What the machine and its operating system offer: cores, memory, processes, signals.

Every call that some system lacks is here, with what happens without it. Only `__main__` has some
of its own: it lets signals wait before it imports anything.

- no `fork` (Windows): the command line works in its own process. A crash of a reader is then a
  crash, and neither --timeout nor --memory can stop a library that does not answer.
- no `resource` (Windows): core dumps are left to the system, and the peak of memory is 0, unknown.
- no `/proc` (macOS, Windows): what a process holds is unknown, so that only the engine keeps to
  --memory; and what a dead process has left is not swept, where it cannot be told that it is dead.
- no signal masks (Windows): a signal while a command starts ends it without a word.
- no files opened to be read that can be synced, and no directories (Windows): files are opened to
  be written, and directories are not synced.
- no locks on files (Windows): a file is taken instead, and waited for as long as it is there.
- no users by number (Windows): what lies in a private directory is taken to be one's own.
- no files in memory (macOS, Windows): small files are read by an engine of their own, more slowly.
- no size of the memory (Windows): 4 GiB are assumed; --memory says otherwise.
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
    resource = fcntl = None

NAMES = ("SIGINT", "SIGTERM", "SIGHUP")
SIGNALS = tuple(getattr(signal, name) for name in NAMES if hasattr(signal, name))
ASSUMED_MEMORY = 4 << 30  # bytes of a machine that does not tell
IS_POSIX = os.name == "posix"


# -- what there is --------------------------------------------------------------------------------


def core_count() -> int:
    """The cores that this process may use, or those of the machine."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def physical_memory() -> int:
    """The bytes of memory of this machine."""
    if hasattr(os, "sysconf"):
        with suppress(OSError, ValueError):
            return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return ASSUMED_MEMORY


def peak_memory() -> int:
    """The most bytes this process has held at once so far; 0 where that cannot be told."""
    if resource is None:
        return 0
    most: int = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else 1024 * most


def address_limit() -> int | None:
    """How many bytes of addresses a process may use; None if nobody has limited them."""
    if resource is None:
        return None
    most: int = resource.getrlimit(resource.RLIMIT_AS)[0]
    return None if most == resource.RLIM_INFINITY else most


def peak_addresses() -> int | None:
    """The most bytes of addresses this process has used; None where that cannot be told."""
    with suppress(OSError, ValueError):
        peak = re.search(r"VmPeak:\s*(\d+) kB", Path("/proc/self/status").read_text())
        return int(peak[1]) << 10 if peak else 0
    return None


def limit_own_process() -> None:
    """No core dumps with data in them; no more memory than the machine has."""
    if resource is None:
        return
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with suppress(OSError, ValueError):
        memory = physical_memory()
        soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
        if soft == resource.RLIM_INFINITY or soft > memory:
            resource.setrlimit(resource.RLIMIT_DATA, (memory, hard))


def has_memory_files() -> bool:
    """Whether a file may lie in memory, without a name in any directory."""
    return hasattr(os, "memfd_create") and Path("/proc/self/fd").exists()


def memory_file() -> tuple[int, Path]:
    """A file in memory, where there are such: its number, and the path by which it is read."""
    number = os.memfd_create("sievert")
    return number, Path(f"/proc/self/fd/{number}")


# -- processes ------------------------------------------------------------------------------------


def can_fork() -> bool:
    """Whether work may be done in a child process that begins with all that is loaded here."""
    return hasattr(os, "fork")


def fork() -> int:
    """Make a child process, where that can be done: 0 in the child, its number in the parent."""
    return os.fork()


def wait_for_exit(child: int) -> int:
    """The exit code of a child; minus the number of the signal that ended it."""
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status)


def is_readable(pipe: int, seconds: float) -> bool:
    """Whether a pipe has something to read, or its other end is gone, within some seconds."""
    return bool(select.select([pipe], [], [], seconds)[0])


def children(process: int) -> list[int]:
    """The processes that a process has started from its main thread."""
    with suppress(OSError):
        listed = Path(f"/proc/{process}/task/{process}/children").read_text()
        return [int(number) for number in listed.split()]
    return []


def resident_memory(process: int) -> int:
    """The bytes of data that a process and its children hold; not what lies in files as well."""
    pages = 0
    for each in (process, *children(process)):
        with suppress(OSError, ValueError):
            _, resident, shared = map(int, Path(f"/proc/{each}/statm").read_text().split()[:3])
            pages += resident - shared
    return pages * os.sysconf("SC_PAGE_SIZE") if pages else 0


def count_killed_for_memory() -> int:
    """How many processes the system has killed for want of memory since it started."""
    try:
        lines = Path("/proc/vmstat").read_text().splitlines()
    except OSError:
        return 0
    return next((int(n) for name, n in (x.split() for x in lines) if name == "oom_kill"), 0)


def was_killed(code: int) -> bool:
    """Whether this exit code says that the system, or somebody else, has ended a process."""
    return hasattr(signal, "SIGKILL") and code == -signal.SIGKILL


def kill_family(process: int) -> None:
    """End a process and its children at once."""
    for each in (*children(process), process):
        os.kill(each, signal.SIGKILL)


def start_time(process: int) -> int | None:
    """When a process started, in the kernel's ticks; 0 where that cannot be told, None if dead."""
    with suppress(OSError, IndexError, ValueError):
        state, *rest = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
        return None if state in "ZX" else int(rest[18])  # dead, but nobody has asked how it ended
    if not IS_POSIX:  # where to ask a process is to stop it
        return 0
    try:
        os.kill(process, 0)
    except OSError as error:
        return None if isinstance(error, ProcessLookupError) else 0
    return 0


def current_boot() -> str:
    """This start of this machine, and this container: process numbers mean something only here."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text()
        return f"{boot}{Path('/proc/self/ns/pid').stat().st_ino}"
    except OSError:
        return platform.node()


def is_own(status: os.stat_result) -> bool:
    """Whether a file belongs to whoever runs this process."""
    return not hasattr(os, "getuid") or status.st_uid == os.getuid()


# -- signals and files ----------------------------------------------------------------------------


def send_signal(process: int, number: int) -> None:
    """Send a process a signal, where processes were forked."""
    os.kill(process, number)


def hold_signals(hold: bool) -> None:
    """Let signals wait, where a system can do so, or let them in."""
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_BLOCK if hold else signal.SIG_UNBLOCK, SIGNALS)


@contextmanager
def held_signals() -> Iterator[None]:
    """Let signals wait in the block; after it they wait only if they did so before."""
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
    """Let signals in for the block, to `handler`; they wait, where a system can, before and after.

    A signal that is ignored stays so: `nohup` asks for that.
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
            hold_signals(True)  # those that came until now are handled here
    finally:
        for number in handled:
            signal.signal(number, before[number])


def signal_main_thread(thread: int, number: int) -> None:
    """Send the main thread a signal: a call that waits is woken in its own thread only."""
    if hasattr(signal, "pthread_kill"):
        signal.pthread_kill(thread, number)
    else:
        _thread.interrupt_main(signal.Signals(number))


def sync(path: Path) -> None:
    """See to it that a file, or the names in a directory where one can be opened, is on disk."""
    if not IS_POSIX and path.is_dir():
        return
    handle = os.open(path, os.O_RDONLY if IS_POSIX else os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def lock(path: Path, seconds: float = 0.0) -> Iterator[bool]:
    """Hold the lock on a path, one process at a time; False if it is not free in some seconds.

    A directory is locked itself, a file by an empty one beside it, PATH.lock, which stays. The
    system frees the lock when the process ends, however it ends. Where it cannot, PATH.lock is the
    lock, and is removed.
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
