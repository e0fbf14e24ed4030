"""Requests and answers as lines of JSON, for other programs: only for the policy of the start.

Every request is a command that reads its tables in a process of its own, as on the command line, so
that a file that crashes a reader costs one answer. The process that waits for lines holds no data.
"""

import hashlib
import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields
from functools import partial
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, BinaryIO

from sievert.cli import app
from sievert.cli.messages import PLAINLY, forget
from sievert.cli.serve.settings import ServeSettings
from sievert.errors import RefusedError, SievertError, UsageError, require
from sievert.settings.groups import EngineSettings, ReadingSettings, RoleSettings
from sievert.sources import isolation
from sievert.version import __version__

LONGEST_LINE = 1 << 16  # bytes
LONGEST_ID = 200  # letters
# The keys of each request besides "command" and "id", and whether each is one text or a list.
REQUESTS: Mapping[str, Mapping[str, type]] = {
    "assess": {"data": str},
    "compare": {"original": str, "releases": list},
    "explain": {"data": str},
    "measures": {"ids": list},
    "policy": {},
}
OPTIONAL = ("ids",)
# explain points at records. Of compare a caller who writes a release could learn by whether it is
# taken for one of the original what that holds.
EXACT_ONLY = ("compare", "explain")
ELSEWHERE = ("the same without --share", "serve --exact")  # where more is said
Request = Mapping[str, Any]


def run(settings: ServeSettings) -> int:
    """Answer requests until there are no more; return the exit code."""
    what = "serve reads standard input and writes standard output"
    require(settings.stdio, what, hint="--stdio")
    require(settings.policy is not None, "serve answers for one policy", hint="--policy FILE")
    require(
        not (settings.exact and settings.mask_names),
        "exact answers name columns: --mask-names hides them",
    )
    assert isinstance(settings.policy, Path)
    policy = Path(settings.policy)
    server = _Server(settings=settings, policy=policy, sha256=_digest(policy))
    server.limits()  # so that a mistake in the policy is an error before the first request
    for module in ("commands.assess.api", "counts.duckdb.connection", "policy.judgement"):
        import_module(f"sievert.{module}")  # once, and not in every child
    for line in _lines(sys.stdin.buffer):
        answer, code = server.answer(line)
        try:
            sys.stdout.write(json.dumps(answer, sort_keys=True, allow_nan=False) + "\n")
            sys.stdout.flush()
        except BrokenPipeError:
            forget(sys.stdout)
            return 0
        if code > 128:  # somebody has stopped us
            return code
    return 0


def _lines(stream: BinaryIO) -> Iterator[bytes | None]:
    """The lines of a stream; None for one that is too long, which is skipped."""
    while line := stream.readline(LONGEST_LINE + 1):
        if len(line) <= LONGEST_LINE or line.endswith(b"\n"):
            yield line
            continue
        while line and not line.endswith(b"\n"):
            line = stream.readline(LONGEST_LINE)
        yield None


def _digest(path: Path) -> str:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        raise UsageError(f"{path.name}: {error.strerror}") from None


@dataclass(frozen=True, kw_only=True)
class _Server:
    """What all requests have in common."""

    settings: ServeSettings
    policy: Path
    sha256: str  # of the policy at the start

    @property
    def shares(self) -> bool:
        """Whether answers hold only what is shareable."""
        return not self.settings.exact

    def answer(self, line: bytes | None) -> tuple[dict[str, Any], int]:
        """The answer to a line, and the exit code that the same command would have."""
        about: dict[str, Any] = {"sievert": __version__, "id": None}
        try:
            request = _parse(line)
            about["id"] = _identity(request)
            checked = _checked(request)
            self._check_shareable(checked["command"])
            code, result = self._result(checked)
        except SievertError as error:
            return about | _failure(error.exit_code, str(error)), error.exit_code
        if code > 1:
            text = result.rpartition("error: ")[2].strip()
            return about | _failure(code, text.replace(*ELSEWHERE)), code
        return about | {"ok": True, "code": code, "result": json.loads(result)}, code

    def _check_shareable(self, command: str) -> None:
        require(
            not (command in EXACT_ONLY and self.shares),
            f"{command}: nothing of it is shareable here",
            hint="serve --exact",
            error=RefusedError,
        )
        require(
            not (command == "policy" and self.settings.mask_names),
            "policy: its limits name columns, which are hidden here",
            hint="serve without --mask-names",
            error=RefusedError,
        )

    def _result(self, request: Request) -> tuple[int, str]:
        """The exit code of a command, and the JSON or the message that it gave."""
        require(
            _digest(self.policy) == self.sha256,
            "the policy has changed since the start",
            hint="start anew",
            error=RefusedError,
        )
        if request["command"] == "policy":
            return 0, json.dumps({"sha256": self.sha256, "limits": self.limits()})
        arguments = ["--share"] if self.shares else []
        with TemporaryFile() as out, TemporaryFile() as err:

            def work() -> int:
                with _instead_of_streams(out, err):
                    return app.run_until_stopped(arguments, self._call(request))

            code = isolation.supervise(work)
            stream = out if code <= 1 else err
            stream.seek(0)
            return code, stream.read().decode(errors="replace")

    def _call(self, request: Request) -> Callable[[], int]:
        """Make a request a call of its command."""
        from sievert.cli.calls import call_with
        from sievert.cli.parser import settings_of
        from sievert.commands.measures.settings import MeasuresSettings

        command = request["command"]
        if command == "measures":
            measures = MeasuresSettings(ids=tuple(request.get("ids", ())), json="-")
            return partial(call_with, command, measures, {})
        tables = {
            name: request[name] for name in ("data", "original", "releases") if name in request
        }
        groups = (RoleSettings, ReadingSettings, EngineSettings)
        shared = {f.name: getattr(self.settings, f.name) for g in groups for f in fields(g)}
        output = {"json": "-", "share": self.shares, "mask_names": self.settings.mask_names}
        quick = {"quick": True} if command == "assess" else {}
        settings = settings_of(command)(**tables, **shared, **output, **quick)
        return partial(call_with, command, settings, {})

    def limits(self) -> list[dict[str, Any]]:
        """The limits of the policy: no value of the data, which partitions and orders may hold."""
        from sievert.policy.document import read_policy

        policy = read_policy(self.policy)
        of_attacks = [
            (f"limits.synthetic.{attack}", name, limit)
            for attack, numbers in policy.synthetic.items()
            for name, limit in numbers.items()
        ]
        return [
            {"where": where, "measure": name, **limit.model_dump()}
            for where, name, limit in (*policy.every_limit(), *of_attacks)
        ]


def _failure(code: int, text: str) -> dict[str, Any]:
    meaning = PLAINLY.get(code, "interrupted")
    return {"ok": False, "code": code, "error": {"meaning": meaning, "text": text}}


def _parse(line: bytes | None) -> Request:
    """A line as a request."""
    require(line is not None, f"a request has at most {LONGEST_LINE:,} bytes")
    try:
        request = json.loads(line or b"")
    except (ValueError, RecursionError):
        raise UsageError("a request is one line of JSON in UTF-8") from None
    require(isinstance(request, dict), 'a request is an object: {"command": "measures"}')
    return dict(request)


def _identity(request: Request) -> str | int | None:
    """What the caller calls the request: it comes back with the answer."""
    name = request.get("id")
    known = name is None or (isinstance(name, int) and not isinstance(name, bool))
    require(
        (known and len(str(name)) <= LONGEST_ID)
        or (isinstance(name, str) and len(name) <= LONGEST_ID),
        f"an id is a text of at most {LONGEST_ID} letters, or a whole number",
    )
    return name


def _checked(request: Request) -> Request:
    """The same request, which has all keys of its command and no others."""
    command = request.get("command")
    require(
        isinstance(command, str) and command in REQUESTS,
        "no such command",
        hint=", ".join(REQUESTS),
    )
    keys = REQUESTS[str(command)]
    require(
        "planned" not in request,
        "a server answers about the file that is named, not about a planned release",
        hint="sievert assess FILE --planned",
    )
    others = set(request) - {"command", "id", *keys}
    what = f"{command} takes " + (", ".join(keys) or "nothing else")
    require(not others, what, hint="policy, roles and ways to read are given at the start")
    for key, kind in keys.items():
        require(key in request or key in OPTIONAL, what)
        value = request.get(key, [])
        texts = [value] if kind is str else value
        right = isinstance(texts, list) and all(isinstance(t, str) and t for t in texts)
        require(right, f"{key} is {'a text' if kind is str else 'a list of texts'}")
        if key != "ids":
            local = all(t != "-" and "://" not in t and "\0" not in t for t in texts)
            require(local, f"{key}: tables are files", hint="a path", error=RefusedError)
    if command == "assess":
        from sievert.sources.state_manifest import is_state

        require(
            not is_state(str(request["data"])),
            "a server answers about the file that is named, and a count state is no file that "
            "could go out",
            hint="assess the release itself",
        )
    return request


@contextmanager
def _instead_of_streams(out: Any, err: Any) -> Iterator[None]:
    """Standard output and error go to files for a while, and standard input is empty."""
    sys.stdout.flush()
    kept = [os.dup(number) for number in range(3)]
    nothing = os.open(os.devnull, os.O_RDONLY)
    try:
        for number, file in enumerate((nothing, out.fileno(), err.fileno())):
            os.dup2(file, number)
        yield
    finally:
        for number, file in enumerate(kept):
            os.dup2(file, number)
            os.close(file)
        os.close(nothing)
