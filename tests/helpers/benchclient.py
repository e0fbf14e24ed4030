"""Requests to the workbench without a server, a browser or commands: the application is called.

Commands wait in the queue for ever; a test puts the results that it needs there.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Mapping, Sequence
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlencode

from sievert.report.texts import read_texts
from sievert.workbench.application import make_application
from sievert.workbench.bench import Bench
from sievert.workbench.choices import Choices, History
from sievert.workbench.jobs import CommandResult
from sievert.workbench.step import Argv
from sievert.workbench.steps import STEPS


class Answer(NamedTuple):
    status: int
    headers: dict[str, str]
    body: str

    @property
    def alert(self) -> str:
        """The line that says what is wrong, as it stands in the HTML."""
        line = re.search(r'role="alert">.*?<p[^>]*>(.*?)</p>', self.body, re.S)
        return line[1] if line else ""


class BenchClient:
    """A workbench, and requests to it."""

    def __init__(self, choices: Choices, folder: Path, language: str = "en") -> None:
        texts = read_texts(None, language)
        self.bench = Bench(
            history=History(choices), steps=STEPS, texts=texts, folder=folder, language=language
        )
        self.app = make_application(self.bench)

    def know(self, argv: Argv, result: Any, code: int = 0, message: str = "") -> None:
        """Let a command have given this."""
        output = json.dumps(result).encode()
        self.bench.jobs._results[argv] = CommandResult(code, output, message)

    def get(self, path: str) -> Answer:
        return asyncio.run(self._ask("GET", path, b"", ""))

    def post(self, path: str, fields: Mapping[str, str | Sequence[str]]) -> Answer:
        """A form, with the revision that a page would have had, unless the fields have one."""
        sent = {"revision": str(self.bench.history.revision), "step": path, **fields}
        body = urlencode(sent, doseq=True, errors="surrogatepass").encode()
        return asyncio.run(self._ask("POST", path, body, "application/x-www-form-urlencoded"))

    async def _ask(self, method: str, path: str, body: bytes, kind: str) -> Answer:
        place, _, query = path.partition("?")
        headers = [(b"content-type", kind.encode()), (b"content-length", b"%d" % len(body))]
        scope = {
            "type": "http",
            "method": method,
            "path": f"/{place}",
            "raw_path": f"/{place}".encode(),
            "query_string": query.encode(),
            "headers": headers,
            "root_path": "",
            "scheme": "http",
            "server": ("127.0.0.1", 1),
            "http_version": "1.1",
        }
        said: list[Any] = []

        async def receive() -> dict[str, Any]:
            return {"type": "http.request", "body": body}

        async def send(message: Any) -> None:
            said.append(message)

        await self.app(scope, receive, send)  # a defect is an exception here
        given = {n.decode(): v.decode() for n, v in said[0]["headers"]}
        text = b"".join(m.get("body", b"") for m in said[1:]).decode()
        return Answer(said[0]["status"], given, text)


class Elements(HTMLParser):
    """What a page is made of: its elements with the names of their attributes."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.all: list[tuple[str, ...]] = []
        self.texts: list[str] = []
        self.addresses: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.all.append((tag, *(name for name, _ in attrs)))
        self.addresses += [value or "" for n, value in attrs if n in ("href", "src", "action")]

    def handle_data(self, data: str) -> None:
        self.texts.append(data)
