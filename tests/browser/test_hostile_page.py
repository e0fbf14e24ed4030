"""A hostile page in a real browser, beside the tab of somebody who has opened the workbench.

It is served on another port of 127.0.0.1, which browsers call the same site: the cookie is sent
with what it asks. By the name localhost it is another site. Both know the secret path, the revision
and the token of the start, which was used: more than a page could find out.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from browser.benches import Visitor, start_bench

HOSTILE = (Path(__file__).parent / "hostile.js").read_text(encoding="utf-8")
REFUSED = {403, 405, 421}
ATTEMPTS = 20  # that reach the server, at least


class HostileSite(BaseHTTPRequestHandler):
    """An empty page, on which anything may be run."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/html")
        self.end_headers()
        self.wfile.write(b"<!DOCTYPE html><title>hostile</title><body>")

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def hostile_port() -> Iterator[int]:
    with ThreadingHTTPServer(("127.0.0.1", 0), HostileSite) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_address[1]
        server.shutdown()


def test_a_hostile_page_reads_and_changes_nothing(
    browser: Any, tmp_path: Path, hostile_port: int
) -> None:
    (tmp_path / "data.csv").write_text("age,ill\n" + "30,y\n31,n\n" * 30)
    running = start_bench(tmp_path, "data.csv")
    context = browser.new_context()
    victim = Visitor(context.new_page(), running)
    try:
        victim.enter()
        victim.wait()
        victim.go("roles")
        victim.page.select_option("select[name='role:1']", "quasi")
        victim.click("button[name=next]")  # so that there is something to undo
        home = victim.page.url.removesuffix("policy")
        before = session_of(victim)
        for host in ("127.0.0.1", "localhost"):
            attack(context, f"http://{host}:{hostile_port}/", home, running.address, before[1])
            assert session_of(victim) == before
        wrong_name = context.new_page()
        assert wrong_name.goto(home.replace("127.0.0.1", "localhost")).status == 421
        victim.click("header.top form[action=undo] button")  # the page was not even outdated
        assert session_of(victim)[1] == str(int(before[1]) + 1)
    finally:
        context.close()
        running.stop()


def session_of(victim: Visitor) -> tuple[str, str]:
    """The choices as they would be saved, and the revision."""
    saved = victim.page.evaluate("fetch('session').then(answer => answer.text())")
    page = victim.page.evaluate("fetch('load').then(answer => answer.text())")
    revision = re.search(r'name="revision" value="(\d+)"', page)
    assert revision and 'table = "data.csv"' in saved
    return saved, revision[1]


def attack(context: Any, site: str, home: str, start: str, revision: str) -> None:
    """Open a hostile page, let it try everything, and follow its links."""
    page = context.new_page()
    answers: list[Any] = []
    requests: list[Any] = []
    origin = home[: home.index("/", len("http://"))]
    context.on("response", lambda it: it.url.startswith(origin) and answers.append(it))
    context.on("request", lambda it: it.url.startswith(origin) and requests.append(it))
    page.goto(site)
    said = page.evaluate(HOSTILE, {"home": home, "revision": revision, "start": start})
    assert {name: text for name, text in said.items() if text} == {}
    for path in ("protect", "session", ""):
        page.goto(site)
        page.evaluate("url => document.body.innerHTML = `<a href=${url}>here</a>`", home + path)
        page.click("a")
        page.wait_for_url(home + path)
        assert page.inner_text("body").startswith("refused")
    assert {it.status for it in answers} <= REFUSED
    assert len(requests) > ATTEMPTS
    # The browser takes another port for the same site: then the server alone refuses.
    assert any("cookie" in it.all_headers() for it in requests) is ("127.0.0.1" in site)
    page.close()
