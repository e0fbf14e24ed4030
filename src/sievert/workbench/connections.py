"""Connections to the workbench: whoever connects and asks for nothing keeps nobody out.

Every process of the machine can connect. A connection that has sent no request yet is closed after
a while, or as soon as there are too many of them, the oldest first; one whose request is refused is
closed with the answer. So all that stay are those of the user's browser.
"""

import asyncio
import time

from uvicorn.protocols.http.h11_impl import H11Protocol

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
