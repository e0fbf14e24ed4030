"""The server of the workbench: one address, one user, one private directory, and an end.

It listens on 127.0.0.1 only, at a port that the system chooses, keeps no log, and ends when nobody
has asked for anything for a while.

Every process of the machine can connect. A connection that has sent no request yet is closed after
a while, or as soon as there are too many of them, the oldest first; one whose request is refused is
closed with the answer. So all that stay are those of the user's browser.
"""

import asyncio
import logging
import signal
import socket
import tempfile
import time
import webbrowser
from collections.abc import Callable, Sequence
from pathlib import Path
from types import FrameType

import uvicorn
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from sievert.numerics import machine
from sievert.report.texts import Texts
from sievert.sources.isolation import private_directory
from sievert.workbench.application import make_application
from sievert.workbench.bench import Bench
from sievert.workbench.choices import Choices, History
from sievert.workbench.jobs import Jobs
from sievert.workbench.protection import ADDRESS, Admission, Gatekeeper
from sievert.workbench.step import Step

MOST_SILENT = 100  # connections without a request; a browser has a few
PATIENCE = 10.0  # seconds for the first request
BACKLOG = 100  # connections that are taken in at once


class GuardedConnection(H11Protocol):
    """One connection, which is closed if it keeps silent."""

    patience = PATIENCE

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for a request; close the oldest connection of too many that wait."""
        super().connection_made(transport)
        self.since = time.monotonic()
        self.deadline = self.loop.call_later(self.patience, self.close_if_silent)
        others = (each for each in self.connections if isinstance(each, GuardedConnection))
        silent = [each for each in others if each.cycle is None]
        if len(silent) > MOST_SILENT:
            min(silent, key=lambda each: each.since).close_if_silent()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no longer."""
        self.deadline.cancel()
        super().connection_lost(exc)

    def close_if_silent(self) -> None:
        """End it, unless there was a request: that has been answered, or will be."""
        if self.cycle is None:
            self.connections.discard(self)
            self.transport.abort()


class _Watched:
    """The application, with the time of the last request; a page that only waits is one too."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self.last = time.monotonic()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.last = time.monotonic()
        await self.app(scope, receive, send)


class _IdleServer(uvicorn.Server):
    """A server that ends after `idle` seconds without a request and without work."""

    def __init__(self, config: uvicorn.Config, watched: _Watched, jobs: Jobs, idle: float) -> None:
        super().__init__(config)
        self.watched = watched
        self.jobs = jobs
        self.idle = idle
        self.ended_by = 0

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Note a signal; an exception could be lost in what runs at that moment, as in imports."""
        self.ended_by = sig
        super().handle_exit(sig, frame)

    async def on_tick(self, counter: int) -> bool:
        """Called ten times a second; says whether to end."""
        if self.jobs.pending:
            self.watched.last = time.monotonic()
        if time.monotonic() - self.watched.last > self.idle:
            return True
        return await super().on_tick(counter)


def serve(
    choices: Choices,
    steps: Sequence[Step],
    texts: Texts,
    *,
    language: str,
    browser: bool,
    idle: float,
    debug: bool,
    announce: Callable[[str], None],
) -> int:
    """Serve pages until Ctrl-C, or until nobody has asked for `idle` seconds."""
    logging.getLogger("uvicorn.error").disabled = not debug
    with private_directory() as folder, socket.socket() as listening:
        tempfile.tempdir = str(folder)  # what a library puts down is private and swept too
        listening.bind((ADDRESS, 0))
        listening.listen()  # so that a reader of the address gets an answer
        admission = Admission(port=listening.getsockname()[1])
        bench = Bench(
            history=History(choices), steps=steps, texts=texts, folder=folder, language=language
        )
        watched = _Watched(make_application(bench))
        config = uvicorn.Config(
            Gatekeeper(watched, admission, announce, texts("workbench.used")),
            access_log=False,
            log_config=None,
            ws="none",
            server_header=False,
            date_header=False,
            proxy_headers=False,
            timeout_graceful_shutdown=1,
            http=GuardedConnection,
            backlog=BACKLOG,
        )
        server = _IdleServer(config, watched, bench.jobs, idle)
        for number in machine.SIGNALS:
            signal.signal(number, server.handle_exit)
        announce(admission.start)
        if browser:
            webbrowser.open(doorway(folder, admission.start).as_uri())
        try:
            server.run(sockets=[listening])
        finally:
            tempfile.tempdir = None
    return 128 + server.ended_by if server.ended_by else 0


def doorway(folder: Path, address: str) -> Path:
    """A private page that leads to the address: everybody sees the arguments of a browser."""
    path = folder / "start.html"
    path.touch(mode=0o600)
    refresh = f'<meta http-equiv="refresh" content="0; url={address}">'
    path.write_text(f"<!DOCTYPE html><title>Sievert</title>{refresh}", encoding="utf-8")
    return path
