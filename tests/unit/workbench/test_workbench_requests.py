"""Hostile requests to the workbench, over bare sockets: all are refused, and nothing changes.

A page of another origin can make a browser send what is sent here, and another user of the machine
can send anything. Both lack the cookie; a page besides cannot choose the headers that say where a
request comes from.
"""

from __future__ import annotations

import asyncio
import os
import re
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from tempfile import gettempdir
from typing import NamedTuple

import pytest
import uvicorn
from helpers.commandline import command_line
from starlette.applications import Starlette
from uvicorn.server import ServerState

from sievert.workbench.protection import REFUSED, Admission, Gatekeeper
from sievert.workbench.server import MOST_SILENT, GuardedConnection, doorway

TABLE = "age,ill\n" + "30,y\n31,n\n" * 30
CANARY = "canary-7Q"


class Answer(NamedTuple):
    status: int
    headers: dict[str, str]
    body: str


class Workbench:
    """A running workbench, and requests to it."""

    def __init__(self, folder: Path, *options: str) -> None:
        (folder / "data.csv").write_text(TABLE)
        self.temp = folder / "temp"
        self.temp.mkdir(mode=0o700)
        command = command_line("workbench", "data.csv", "--no-browser")
        self.process = subprocess.Popen(
            [*command, *options],
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "TMPDIR": str(self.temp)},
        )
        assert self.process.stdout is not None
        address = re.search(r"http://127\.0\.0\.1:(\d+)(/\S+)", self.process.stdout.readline())
        assert address
        self.port, self.start = int(address[1]), address[2]
        self.cookie = self.home = ""

    def raw(self, text: str) -> Answer:
        with socket.create_connection(("127.0.0.1", self.port), timeout=60) as connection:
            connection.sendall(text.encode())
            answer = b""
            while chunk := connection.recv(1 << 16):
                answer += chunk
        head, _, body = answer.decode().partition("\r\n\r\n")
        first, *lines = head.split("\r\n")
        headers = {n.lower(): v for n, _, v in (line.partition(": ") for line in lines)}
        return Answer(int(first.split()[1]), headers, body)

    def send(self, method: str, path: str, body: str = "", **headers: str | None) -> Answer:
        """A request with our own headers, some of them replaced or left out (None)."""
        own: dict[str, str | None] = {
            "Host": f"127.0.0.1:{self.port}",
            "Cookie": self.cookie or None,
            "Connection": "close",
        }
        if method == "POST":
            own |= {
                "Origin": f"http://127.0.0.1:{self.port}",
                "Sec-Fetch-Site": "same-origin",
                "Content-Type": "application/x-www-form-urlencoded",
                "Content-Length": str(len(body)),
            }
        own |= {name.replace("_", "-"): value for name, value in headers.items()}
        lines = [f"{name}: {value}" for name, value in own.items() if value is not None]
        return self.raw("\r\n".join([f"{method} {path} HTTP/1.1", *lines, "", body]))

    def enter(self) -> Answer:
        answer = self.send("GET", self.start)
        self.cookie = answer.headers["set-cookie"].partition(";")[0]
        self.home = answer.headers["location"]
        return answer

    def page(self, name: str) -> str:
        return self.send("GET", f"{self.home}{name}").body

    def revision(self) -> str:
        found = re.search(r'name="revision" value="(\d+)"', self.page("load"))
        assert found
        return found[1]

    def end(self, number: int = signal.SIGINT) -> tuple[int, str]:
        self.process.send_signal(number)
        out, err = self.process.communicate(timeout=60)
        return self.process.returncode, out + err


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workbench]:
    running = Workbench(tmp_path_factory.mktemp("workbench"))
    try:
        first = running.enter()
        assert first.status == 303 and "token" not in first.headers["location"]
        assert running.start.rpartition("/")[2] not in first.headers["location"]
        yield running
    finally:
        code, said = running.end()
        assert code == 130 and CANARY not in said, said
        assert list(running.temp.iterdir()) == []


def change(encoding: str = CANARY) -> str:
    return f"encoding={encoding}&table=data.csv&revision="


def test_the_cookie_is_strict_and_bound_to_a_path(tmp_path: Path) -> None:
    running = Workbench(tmp_path)
    try:
        answer = running.enter()
        attributes = answer.headers["set-cookie"].lower()
        assert "httponly" in attributes and "samesite=strict" in attributes
        assert f"path={running.home.lower()}" in attributes and len(running.home) > 20
        assert running.send("GET", running.home).status == 303
        assert "<h1>Load</h1>" in running.page("load")
        again = running.send("GET", running.start)  # the token works once
        assert again.status == 403 and "in the terminal" in again.body
        assert "set-cookie" not in again.headers
        assert running.send("GET", f"{running.start}x").body == REFUSED
        assert running.send("GET", running.start, Cookie=None).status == 403
        assert running.process.stdout is not None
        lines = [running.process.stdout.readline() for _ in range(3)]
        new = re.search(r"http://127\.0\.0\.1:\d+(/start/\S+)", lines[1])
        assert new and new[1] != running.start  # for a browser that was closed, in the terminal
        assert running.send("GET", new[1], Cookie=None).headers["location"] == running.home
        for used in (new[1], running.start):
            assert running.send("GET", used, Cookie=None).status == 403
        lines = [running.process.stdout.readline() for _ in range(2)]  # one more, not two
        private = list(running.temp.iterdir())
        assert [path.stat().st_mode & 0o777 for path in private] == [0o700]
    finally:
        code, said = running.end(signal.SIGTERM)
    assert code == 128 + signal.SIGTERM and "Traceback" not in said and "/" not in said
    assert list(running.temp.iterdir()) == []


@pytest.mark.parametrize(
    "host",
    [
        None, "", "localhost", "127.0.0.1", "127.0.0.1:1", "localhost:{port}",
        "localhost.evil:{port}", "evil.example:{port}", "127.0.0.1.nip.example:{port}",
        "127.0.0.1:{port}.",
        "127.0.0.2:{port}", "[::1]:{port}", "0.0.0.0:{port}", "127.0.0.1:0{port}",
        "user@127.0.0.1:{port}",
    ],
)  # fmt: skip
def test_only_the_exact_host_is_answered(bench: Workbench, host: str | None) -> None:
    name = None if host is None else host.format(port=bench.port)
    for path in (f"{bench.home}load", bench.start, "/", "/nothing"):
        answer = bench.send("GET", path, Host=name)
        assert answer.status in (400, 421), path
        assert "Sievert" not in answer.body and "set-cookie" not in answer.headers
    posted = bench.send("POST", f"{bench.home}load", change() + bench.revision(), Host=name)
    assert posted.status in (400, 421)
    assert CANARY not in bench.page("load")


def test_two_hosts_are_refused(bench: Workbench) -> None:
    own = f"Host: 127.0.0.1:{bench.port}\r\n"
    for hosts in (own + "Host: evil.example\r\n", "Host: evil.example\r\n" + own):
        text = f"GET {bench.home}load HTTP/1.1\r\n{hosts}Cookie: {bench.cookie}\r\n"
        assert bench.raw(f"{text}Connection: close\r\n\r\n").status in (400, 421)


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example", "Sec_Fetch_Site": "cross-site"},
        {"Origin": "https://evil.example"},
        {"Origin": "null", "Sec_Fetch_Site": "cross-site"},
        {"Origin": "null"},
        {"Origin": None},
        {"Sec_Fetch_Site": "cross-site"},
        {"Sec_Fetch_Site": "same-site"},  # another port of this machine
        {"Sec_Fetch_Site": "none"},
        {"Sec_Fetch_Site": None},
        {"Origin": "http://127.0.0.1:1"},
        {"Origin": "http://localhost:{port}"},
        {"Origin": "https://127.0.0.1:{port}"},
        {"Origin": "http://127.0.0.1:{port}.evil.example"},
        {"Cookie": None},
        {"Cookie": "sievert-{port}=guessed"},
        {"Cookie": "sievert-{port}="},
        {"Cookie": "other=1"},
    ],
)
def test_a_form_of_another_origin_changes_nothing(
    bench: Workbench, headers: dict[str, str | None]
) -> None:
    given = {n: None if v is None else v.format(port=bench.port) for n, v in headers.items()}
    body = change() + bench.revision()
    for path in ("load", "undo", "redo", "cancel", "again", "upload"):
        assert bench.send("POST", f"{bench.home}{path}", body, **given).status == 403
    assert CANARY not in bench.page("load")


@pytest.mark.parametrize(
    "kind",
    ["text/plain", "application/json", "", None, "application/x-www-form-urlencoded2", "*/*"],
)
def test_only_forms_are_read(bench: Workbench, kind: str | None) -> None:
    body = change() + bench.revision()
    assert bench.send("POST", f"{bench.home}load", body, Content_Type=kind).status == 415
    assert CANARY not in bench.page("load")


def test_a_form_has_a_length_and_is_not_too_large(bench: Workbench) -> None:
    chunked = {"Content_Length": None, "Transfer_Encoding": "chunked"}
    assert bench.send("POST", f"{bench.home}load", "0\r\n\r\n", **chunked).status == 411
    assert bench.send("POST", f"{bench.home}load", Content_Length=str(1 << 30)).status == 413
    assert bench.send("POST", f"{bench.home}upload", Content_Length="-5").status in (400, 411)


def test_pages_are_not_for_other_sites_nor_for_those_without_the_cookie(bench: Workbench) -> None:
    for path in ("load", "roles", "script", "script.sh", "session", "job", "static/workbench.css"):
        for headers in (
            {"Cookie": None},
            {"Cookie": f"sievert-{bench.port}={'x' * 43}"},
            {"Sec_Fetch_Site": "cross-site", "Sec_Fetch_Dest": "image"},
            {"Sec_Fetch_Site": "same-site", "Sec_Fetch_Dest": "iframe"},
        ):
            answer = bench.send("GET", f"{bench.home}{path}", **headers)
            assert answer.status == 403 and answer.body.startswith("refused")
    for path in ("/", "/load", "/static/htmx.min.js", f"{bench.home[:-2]}/load", "//load"):
        assert bench.send("GET", path).status == 403
    for method in ("PUT", "DELETE", "OPTIONS", "TRACE", "PATCH", "CONNECT"):
        assert bench.send(method, f"{bench.home}load").status in (400, 405)
    assert bench.send("GET", f"{bench.home}static/../../pyproject.toml").status in (403, 404)
    assert bench.send("GET", f"{bench.home}static/%2e%2e%2fpage.py").status == 404


def test_there_are_no_websockets(bench: Workbench) -> None:
    upgrade = {
        "Connection": "Upgrade",
        "Upgrade": "websocket",
        "Sec_WebSocket_Key": "AAAAAAAAAAAAAAAAAAAAAA==",
        "Sec_WebSocket_Version": "13",
        "Origin": "https://evil.example",
    }
    text = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in upgrade.items())
    host = f"Host: 127.0.0.1:{bench.port}\r\nCookie: {bench.cookie}\r\n"
    with socket.create_connection(("127.0.0.1", bench.port), timeout=60) as connection:
        connection.sendall(f"GET {bench.home}load HTTP/1.1\r\n{host}{text}\r\n".encode())
        first = connection.recv(1 << 12).decode()
    assert int(first.split()[1]) in (400, 403, 405) and "101" not in first.split("\r\n")[0]


def test_every_answer_has_the_headers_that_protect_it(bench: Workbench) -> None:
    for answer in (
        bench.send("GET", f"{bench.home}load"),
        bench.send("GET", f"{bench.home}static/htmx.min.js"),
        bench.send("GET", f"{bench.home}nothing"),
        bench.send("GET", "/", Cookie=None),
    ):
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy and "frame-ancestors 'none'" in policy
        assert "unsafe" not in policy and "*" not in policy
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["x-frame-options"] == "DENY"
        assert answer.headers["cross-origin-opener-policy"] == "same-origin"
        assert answer.headers["cross-origin-resource-policy"] == "same-origin"
        assert "server" not in answer.headers
        assert not any(name.startswith("access-control") for name in answer.headers)


def test_a_page_that_is_older_than_the_session_changes_nothing(bench: Workbench) -> None:
    revision = bench.revision()
    body = f"encoding=utf-8&na=NA&table=data.csv&revision={revision}"
    assert bench.send("POST", f"{bench.home}load", body).status == 303
    second = bench.send("POST", f"{bench.home}load", body)  # sent twice
    assert second.status == 409 and "older than the session" in second.body
    undo = f"step=load&revision={bench.revision()}"
    assert bench.send("POST", f"{bench.home}undo", undo).status == 303
    assert 'value="NA"' not in bench.page("load")
    mistake = f"path=/etc/hosts&revision={bench.revision()}"
    answer = bench.send("POST", f"{bench.home}load", mistake)
    assert answer.status == 422 and "not in the folder" in answer.body


def test_whoever_connects_and_says_nothing_keeps_nobody_out(bench: Workbench) -> None:
    """More of them than there may be: the oldest are closed, and the page is answered."""
    silent = [
        socket.create_connection(("127.0.0.1", bench.port), timeout=10)
        for _ in range(MOST_SILENT + 20)
    ]
    try:
        for each in silent[::2]:
            each.sendall(b"GET / HTTP/1.1\r\nHost:")  # nor who does not come to an end
        assert bench.send("GET", f"{bench.home}load").status == 200
        with suppress(ConnectionResetError):
            assert silent[0].recv(1) == b""
        last = silent[-1]
        last.sendall(f"GET / HTTP/1.1\r\nHost: 127.0.0.1:{bench.port}\r\n\r\n".encode())
        answer = b""
        while chunk := last.recv(1 << 12):  # it ends with the answer
            answer += chunk
        assert answer.startswith(b"HTTP/1.1 403") and b"connection: close" in answer.lower()
    finally:
        for each in silent:
            each.close()


def test_a_connection_without_a_request_is_closed_after_a_while() -> None:
    class Hasty(GuardedConnection):
        patience = 0.01

    async def connect() -> bytes:
        config, state = uvicorn.Config(Starlette(), log_config=None), ServerState()
        loop = asyncio.get_running_loop()
        server = await loop.create_server(lambda: Hasty(config, state, {}), "127.0.0.1", 0)
        async with server:
            reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
            writer.write(b"GET / HTTP/1.1")
            answer = b""
            with suppress(ConnectionResetError):
                answer = await reader.read()
            writer.close()
            return answer

    assert asyncio.run(asyncio.wait_for(connect(), 30)) == b""


def test_an_uploaded_table_is_private(bench: Workbench) -> None:
    fence = "fence"
    parts = {
        'name="revision"': bench.revision(),
        'name="file"; filename="../../evil.csv"': TABLE,
    }
    body = "".join(
        f"--{fence}\r\nContent-Disposition: form-data; {head}\r\n\r\n{text}\r\n"
        for head, text in parts.items()
    )
    kind = f"multipart/form-data; boundary={fence}"
    answer = bench.send("POST", f"{bench.home}upload", f"{body}--{fence}--\r\n", Content_Type=kind)
    assert answer.status == 303
    (file,) = bench.temp.rglob("*.csv")
    assert file.name == "evil.csv" and file.stat().st_mode & 0o777 == 0o600
    assert "evil.csv" in bench.page("load")
    assert bench.send("POST", f"{bench.home}undo", f"step=load&revision={bench.revision()}")


def test_the_address_is_opened_through_a_private_page(tmp_path: Path) -> None:
    """From a page of the disk the way on is a new request: a redirect would lack the cookie."""
    admission = Admission(port=5000)
    page = doorway(tmp_path, admission.start)
    assert page.stat().st_mode & 0o777 == 0o600 and admission.start in page.read_text()
    answer = Gatekeeper(Starlette(), admission, print, "used").start(
        str(admission.token), ["cross-site"]
    )
    assert answer.status_code == 200 and "samesite=strict" in answer.headers["set-cookie"].lower()
    assert f'content="0; url={admission.home}"' in bytes(answer.body).decode()
    assert admission.token is None  # it has been used


def test_a_killed_workbench_leaves_nothing_for_long(tmp_path: Path) -> None:
    running = Workbench(tmp_path)
    running.enter()
    (left,) = running.temp.iterdir()
    code, _ = running.end(signal.SIGKILL)
    assert code == -signal.SIGKILL and left.exists()
    command = command_line("columns", "data.csv", "--temp", str(running.temp))
    for _ in range(100):  # a command that was running may still be ending
        subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
        if not list(running.temp.iterdir()):
            break
        time.sleep(0.05)
    assert list(running.temp.iterdir()) == []


def test_it_ends_by_itself(tmp_path: Path) -> None:
    running = Workbench(tmp_path, "--idle", "0.005")
    out, err = running.process.communicate(timeout=60)
    assert running.process.returncode == 0 and not err, out
    assert list(running.temp.iterdir()) == [] and str(running.temp) != gettempdir()
