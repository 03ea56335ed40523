"""Who may ask the studio, and the headers of every answer.

A web page of somebody else must neither read nor change anything here, though it runs in the
browser of the person who may: requests for another host name are refused (DNS rebinding), so are
requests that a browser says come from another site, and every request that changes something needs
a header that no form can send. Where others can reach the studio, a token is needed as well: it
comes once in the address, and is a cookie from then on. A refused request is refused before its
body is read; the bodies of all others are limited in bytes and seconds.
"""

import hmac
import re
import secrets
from collections.abc import Callable, Iterable
from urllib.parse import parse_qsl, quote, urlencode

from starlette.datastructures import Headers
from starlette.requests import cookie_parser
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from shoal.service import LimitedBody, RefusedError, problem_response
from shoal.studio.settings import StudioSettings

__all__ = ["COOKIE", "HEADER", "Guard"]

HEADER = "shoal-studio"  # of every request that is no GET; a form of another site cannot send it
COOKIE = "shoal-studio"
SAFE = frozenset(("GET", "HEAD"))
HOST = re.compile(r"(?:\[(?P<address>[0-9a-f:.]+)\]|(?P<name>[^][:@/\s]+))(?::[0-9]{1,5})?")
OWN_SITES = frozenset(("same-origin", "none"))
FILE = "application/octet-stream"  # the only kind of body that may be large
MAX_BODY_BYTES = 1 << 22  # of all others, which are JSON
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
    "font-src 'self'; connect-src {connect}; base-uri 'none'; form-action 'none'; "
    "frame-src 'self'; frame-ancestors 'self'; object-src 'none'"
)
FIXED = [
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), microphone=(), geolocation=(), usb=()"),
    (b"cache-control", b"no-store"),
]


class Guard:
    """The outermost part of the application.

    Parameters
    ----------
    app : ASGI application
        The rest.
    settings : StudioSettings
        Names and token.
    connect : callable
        Returns other origins on which pages may call, such as that of a collector which the studio
        started.
    """

    def __init__(
        self, app: ASGIApp, *, settings: StudioSettings, connect: Callable[[], Iterable[str]]
    ) -> None:
        self._app = app
        self._settings = settings
        self._names = settings.allowed_names
        self._token = settings.token
        self._connect = connect

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        body = self._limited_body(scope, receive, headers)
        scope["request_id"] = secrets.token_hex(8)  # for errors, which are answered further out
        app: ASGIApp = self._app
        if (refused := self._refusal(scope, headers) or body.refusal) is not None:
            app = problem_response(refused)
        elif self._token and (way := self._welcome(scope, headers)) is not None:
            app = way  # for a browser that has the cookie as well: the token leaves the address
        elif self._token and not self._is_known(headers):
            app = problem_response(
                RefusedError(
                    "unauthorized", "Open the address that `shoal studio` printed, with its token."
                )
            )

        async def framed(message: Message) -> None:
            if message["type"] == "http.response.start":
                kept = self._framed(list(message["headers"]))
                if not body.is_complete and not await body.drain():
                    kept.append((b"connection", b"close"))
                message = {**message, "headers": kept}
            await send(message)

        await app(scope, body.receive, framed)

    def _limited_body(self, scope: Scope, receive: Receive, headers: Headers) -> LimitedBody:
        kind = headers.get("content-type", "").partition(";")[0].strip().lower()
        limit = self._settings.max_body_bytes
        limit = limit if kind == FILE else min(limit, MAX_BODY_BYTES)
        return LimitedBody(scope, receive, limit, self._settings.body_seconds)

    def _framed(self, headers: list[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
        """Return the headers of an answer with those that every answer has."""
        named = {name.lower() for name, _ in headers}
        headers += [pair for pair in FIXED if pair[0] not in named]
        if b"content-security-policy" not in named:
            policy = POLICY.format(connect=" ".join(("'self'", *self._connect())))
            headers.append((b"content-security-policy", policy.encode("ascii")))
        return headers

    def _refusal(self, scope: Scope, headers: Headers) -> RefusedError | None:
        """Return why a request is refused that another site may have caused."""
        hosts = headers.getlist("host")
        if len(hosts) != 1 or _name(hosts[0]) not in self._names:
            return RefusedError(
                "wrong-host",
                "The studio does not answer under this host name: use the address that it printed.",
            )
        own = {f"{scheme}://{hosts[0].lower()}" for scheme in ("http", "https")}
        from_page = all(origin.lower() in own for origin in headers.getlist("origin"))
        if not from_page or not (_is_own_site(headers) or _is_visit(scope, headers)):
            return RefusedError(
                "cross-origin", "Pages of other sites may not send requests to the studio."
            )
        if scope["method"] not in SAFE and headers.get(HEADER) != "1":
            return RefusedError(
                "cross-origin", f"A request that changes something needs the header {HEADER}: 1."
            )
        return None

    def _is_known(self, headers: Headers) -> bool:
        """Return whether a request carries the token."""
        scheme, _, given = headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer" and self._matches(given):
            return True
        # Other servers of this machine set cookies too, and not all of them by the rules.
        return self._matches(cookie_parser(headers.get("cookie", "")).get(COOKIE, ""))

    def _matches(self, given: str) -> bool:
        return hmac.compare_digest(given.encode(), self._token.encode())

    def _welcome(self, scope: Scope, headers: Headers) -> Response | None:
        """Return a way to the page that keeps the token as a cookie, if the address has it."""
        if scope["method"] != "GET":
            return None
        pairs = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        given = [value for name, value in pairs if name == "token"]
        if len(given) != 1 or not self._matches(given[0]):
            return None
        rest = urlencode([(name, value) for name, value in pairs if name != "token"])
        path = "/" + quote(scope["path"].lstrip("/\\"))  # never the address of another host
        path = f"{path}?{rest}" if rest else path
        if _is_own_site(headers):
            answer: Response = RedirectResponse(path, status_code=303)
        else:
            # Followed from another site: a browser would not send the cookie with a redirect.
            answer = Response(media_type="text/html", headers={"Refresh": f"0; url={path}"})
        answer.set_cookie(COOKIE, self._token, httponly=True, samesite="strict", path="/")
        return answer


def _is_own_site(headers: Headers) -> bool:
    """Return whether a browser says that the request comes from our own page, or from a person."""
    return headers.get("sec-fetch-site", "same-origin") in OWN_SITES


def _is_visit(scope: Scope, headers: Headers) -> bool:
    """Return whether somebody follows a link to one of our pages: nobody else sees the answer."""
    return (
        scope["method"] in SAFE
        and headers.get("sec-fetch-mode") == "navigate"
        and headers.get("sec-fetch-dest") == "document"
        and not scope["path"].startswith("/api/")
    )


def _name(host: str) -> str:
    """Return the name of a Host header, in small letters and without its port."""
    found = HOST.fullmatch(host.lower())
    return "" if found is None else found["name"] or found["address"]
