"""Who may ask: this machine's browser that was given the token, and pages of this server only.

Checked before anything else looks at a request: the address by which the server was called, where
the request comes from, the cookie, and the type of what is sent. A cookie is sent to every port of
127.0.0.1, also to a server of somebody else, so it is bound to a path that nobody can guess.
"""

import hmac
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.cookies import CookieError, SimpleCookie
from typing import Any

from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

ADDRESS = "127.0.0.1"  # and no other
MOST_FORM = 1 << 23  # bytes of a form
FORMS = ("application/x-www-form-urlencoded", "multipart/form-data")
# The header keeps every other origin from hearing of ours. With it alone a form would be sent with
# "Origin: null", so pages say same-origin in a meta tag: that sends it to ourselves only.
HEADERS = {
    "content-security-policy": "default-src 'none'; style-src 'self'; script-src 'self'; "
    "img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'",
    "cache-control": "no-store",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-embedder-policy": "require-corp",
    "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
}
REFUSED = "refused\n"
NOT_OPENED = "refused: only the browser that opened the address of the start may see this page\n"


@dataclass(kw_only=True)
class Admission:
    """The secrets of one run: the token of the start, the cookie, the path of all pages."""

    port: int
    token: str | None = field(default_factory=lambda: secrets.token_urlsafe(32))
    cookie: str = field(default_factory=lambda: secrets.token_urlsafe(32))
    place: str = field(default_factory=lambda: secrets.token_urlsafe(16))
    used: list[str] = field(default_factory=list)  # the tokens that were redeemed

    @property
    def host(self) -> str:
        """As a browser calls this server."""
        return f"{ADDRESS}:{self.port}"

    @property
    def origin(self) -> str:
        """Where requests of our own pages come from."""
        return f"http://{self.host}"

    @property
    def start(self) -> str:
        """The address that opens the workbench, once."""
        return f"{self.origin}/start/{self.token}"

    @property
    def home(self) -> str:
        """The path of all pages."""
        return f"/{self.place}/"

    @property
    def cookie_name(self) -> str:
        """Cookies are shared by all ports: each server has its own."""
        return f"sievert-{self.port}"

    def redeem(self, token: str) -> bool:
        """Whether this is the token, which is then worth nothing any more."""
        if self.token is None or not hmac.compare_digest(token.encode(), self.token.encode()):
            return False
        self.used.append(self.token)
        self.token = None
        return True

    def was_redeemed(self, token: str) -> bool:
        """Whether `token` has been redeemed; its owner is told so."""
        return any(hmac.compare_digest(token.encode(), used.encode()) for used in self.used)

    def renew(self) -> bool:
        """Have another token, where the last one was redeemed: a browser that was closed has lost
        the cookie, and with it everything that is not saved. Says whether it is a new one."""
        if self.token is not None:
            return False
        self.token = secrets.token_urlsafe(32)
        return True

    def knows(self, cookies: str) -> bool:
        """Whether a request has the cookie."""
        try:
            given = SimpleCookie(cookies).get(self.cookie_name)
        except CookieError:
            return False
        return given is not None and hmac.compare_digest(given.value.encode(), self.cookie.encode())


class Gatekeeper:
    """The ASGI application around all others: refuses, or lets a request in and adds headers."""

    def __init__(
        self, app: ASGIApp, admission: Admission, announce: Callable[[str], None], used: str
    ) -> None:
        self.app = app
        self.admission = admission
        self.announce = announce  # announces another address
        self.used = used  # answers a request with a used token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                own = [(n.encode(), v.encode()) for n, v in HEADERS.items()]
                names = {name for name, _ in own} | {b"server"}
                others = [(n, v) for n, v in message.get("headers", ()) if n.lower() not in names]
                message = {**message, "headers": [*others, *own]}
            await send(message)

        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return
        headers: dict[str, list[str]] = {}
        for name, value in scope["headers"]:
            headers.setdefault(name.decode("latin-1").lower(), []).append(value.decode("latin-1"))
        answer = self._refusal(scope, headers)
        if answer is None:
            inner = f"/{scope['path'].removeprefix(self.admission.home)}"
            scope = {**scope, "path": inner, "raw_path": inner.encode()}
            await self.app(scope, receive, send_with_headers)
        else:
            answer.headers["connection"] = "close"
            await answer(scope, receive, send_with_headers)

    def _refusal(self, scope: Scope, headers: Mapping[str, list[str]]) -> Response | None:
        """The answer to a request that is not let in; to the token, the cookie."""
        method = scope["method"]
        path = scope["path"]
        ours = self.admission
        if headers.get("host") != [ours.host]:
            return _refuse(421)
        if "upgrade" in headers or method not in ("GET", "HEAD", "POST"):
            return _refuse(405)
        site = headers.get("sec-fetch-site", ["none"])
        if method == "GET" and path.startswith("/start/"):
            return self.start(path.removeprefix("/start/"), site)
        if method == "POST":
            if headers.get("sec-fetch-site") != ["same-origin"]:  # every browser says it
                return _refuse(403)
            if headers.get("origin") != [ours.origin]:
                return _refuse(403)
        elif site not in (["none"], ["same-origin"]):
            return _refuse(403)
        if not path.startswith(ours.home) or not ours.knows("; ".join(headers.get("cookie", ()))):
            return PlainTextResponse(NOT_OPENED, 403)
        if method == "POST":
            return _body_refusal(headers, upload=path == f"{ours.home}upload")
        return None

    def start(self, token: str, site: list[str]) -> Response:
        """A cookie for the token. From another page the way on is a new start: a strict cookie is
        not sent with a redirect of a request that has begun elsewhere."""
        ours = self.admission
        if not ours.redeem(token):
            if not ours.was_redeemed(token):
                return _refuse(403)
            if ours.renew():
                self.announce(ours.start)
            return PlainTextResponse(f"{self.used}\n", 403)
        if site in (["none"], ["same-origin"]):
            answer = Response(status_code=303, headers={"location": ours.home})
        else:
            refresh = f'<meta http-equiv="refresh" content="0; url={ours.home}">'
            answer = HTMLResponse(
                f"<!DOCTYPE html><html lang='en'><title>Sievert</title>{refresh}"
                f"<p><a href='{ours.home}'>Sievert</a></p></html>"
            )
        answer.set_cookie(
            ours.cookie_name, ours.cookie, path=ours.home, httponly=True, samesite="strict"
        )
        return answer


def _body_refusal(headers: Mapping[str, Any], *, upload: bool) -> Response | None:
    """The answer to something that is no form, or too large to be one."""
    kinds = headers.get("content-type", [])
    kind = kinds[0].partition(";")[0].strip().lower() if len(kinds) == 1 else ""
    if kind not in FORMS:
        return _refuse(415)
    lengths = headers.get("content-length", [])
    if len(lengths) != 1 or not lengths[0].isdigit():
        return _refuse(411)
    if not upload and int(lengths[0]) > MOST_FORM:
        return _refuse(413)
    return None


def _refuse(status: int) -> Response:
    return PlainTextResponse(REFUSED, status)
