"""What every request passes: limits, headers of the answer, and whoever counts it.

The body of a request is limited in bytes and in seconds while it is read, whether or not it says
how long it is. What is left of the body of a refused request is read and forgotten, within limits,
so that its sender reads the answer rather than an error of the connection.
"""

import asyncio
import re
import secrets
import time
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Protocol

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from shoal.service.cors import CrossOrigin
from shoal.service.limits import BucketTable, ClientAddresses
from shoal.service.problems import (
    RefusedError,
    problem_response,
    too_many_requests,
    unavailable,
)
from shoal.service.settings import ServiceSettings

__all__ = ["SECURITY_HEADERS", "LimitedBody", "RequestFrame", "Shortcut"]

SECURITY_HEADERS = [
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
]
NO_STORE = (b"cache-control", b"no-store")
METHODS = frozenset(("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"))
OTHER_BODY_BYTES = 1 << 16  # of requests to no shortcut: they are read before credentials
DRAIN_FACTOR = 8  # times the largest body: what is read of a refused request
DRAIN_BYTES = 1 << 23  # and at least so much
DRAIN_SECONDS = 2.0
CLIENT_BURST = 4.0  # seconds at the rate of a client
CLIENT_SHARE = 8  # one client has at most this part of the requests that are answered at a time
ALWAYS = frozenset(("/healthz", "/readyz"))  # answered to whoever watches over a busy server


class Shortcut(Protocol):
    """A route for large bodies, reached without a way through the framework.

    That way would double the cost of a small submission.
    """

    @property
    def path(self) -> str:
        """The template of its path."""

    @property
    def pattern(self) -> re.Pattern[str]:
        """Its paths, with a named group for each part that changes."""

    @property
    def max_body_bytes(self) -> int:
        """The largest body."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a POST request; ``scope["path_params"]`` has the groups of the pattern."""


class RequestFrame:
    """Outermost layer of an application, which enforces limits and observes requests.

    Parameters
    ----------
    app : ASGI application
        The application inside.
    shortcuts : sequence of Shortcut
        Handlers of POST requests to their paths, which bypass the application.
    settings : ServiceSettings
        Limits.
    clients : ClientAddresses
        Identifies clients, to limit each of them.
    cross_origin : CrossOrigin
        Answers cross-origin requests of web pages.
    observe : callable
        Called after every request with the identifier of its answer, method and template of the
        route (both from fixed sets), status and seconds.
    follow : callable
        Called once with a function that returns the number of requests in progress.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> from shoal.service import ClientAddresses, CrossOrigin, RequestFrame, ServiceSettings
    >>> class NoCampaigns:
    ...     def get(self, campaign):
    ...         return None
    ...     async def find(self, campaign, digest=None):
    ...         return None
    >>> async def app(scope, receive, send):
    ...     await send({"type": "http.response.start", "status": 204, "headers": []})
    >>> frame = RequestFrame(
    ...     app,
    ...     shortcuts=(),
    ...     settings=ServiceSettings(),
    ...     clients=ClientAddresses(0),
    ...     cross_origin=CrossOrigin(NoCampaigns()),
    ...     observe=lambda *seen: None,
    ...     follow=lambda count: None,
    ... )
    >>> callable(frame)
    True
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        shortcuts: Sequence[Shortcut],
        settings: ServiceSettings,
        clients: ClientAddresses,
        cross_origin: CrossOrigin,
        observe: Callable[[str, str, str, int, float], None],
        follow: Callable[[Callable[[], int]], None],
    ) -> None:
        self._app = app
        self._shortcuts = shortcuts
        self._settings = settings
        self._clients = clients
        self._cross_origin = cross_origin
        self._observe = observe
        self._rates = BucketTable(settings.client_rate, CLIENT_BURST * settings.client_rate)
        self._active = 0
        self._active_of: Counter[bytes] = Counter()  # clients with a request, and no others
        follow(lambda: self._active)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = time.perf_counter()
        shortcut = self._shortcut(scope)
        limit = min(OTHER_BODY_BYTES, self._settings.max_body_bytes)
        limit = limit if shortcut is None else shortcut.max_body_bytes
        body = LimitedBody(scope, receive, limit, self._settings.body_seconds)
        headers = self._cross_origin.headers(scope)
        answer = _Answer(send, body, headers, self._settings.send_seconds)
        scope["request_id"] = answer.identifier  # for errors, which are answered further out
        client = self._clients.find(scope) or b""
        self._active += 1
        self._active_of[client] += 1
        try:
            app = (
                self._refusal(scope, body, client)
                or self._cross_origin.preflight(scope)
                or shortcut
                or self._app
            )
            await app(scope, body.receive, answer.send)
        finally:
            self._active -= 1
            self._active_of[client] -= 1
            if not self._active_of[client]:
                del self._active_of[client]
            seconds = time.perf_counter() - started
            method = scope["method"] if scope["method"] in METHODS else "other"
            route = getattr(scope.get("route") or scope.get("endpoint"), "path", "none")
            self._observe(answer.identifier, method, route, answer.status or 500, seconds)

    def _shortcut(self, scope: Scope) -> Shortcut | None:
        """Return the shortcut of a request, if there is one."""
        for shortcut in self._shortcuts if scope["method"] == "POST" else ():
            found = shortcut.pattern.fullmatch(scope["path"])
            if found is not None:
                scope["path_params"] = found.groupdict()
                scope["endpoint"] = shortcut
                return shortcut
        return None

    def _refusal(self, scope: Scope, body: "LimitedBody", client: bytes) -> ASGIApp | None:
        """Return the answer to a request that is refused before it is looked at."""
        refused: RefusedError | None = body.refusal
        if scope["path"] not in ALWAYS:
            most = self._settings.max_requests
            if self._active > most:
                refused = unavailable("Too many requests are being answered.")
            elif client and (wait := self._rates.take(client)):
                refused = too_many_requests("Too many requests from this client.", wait)
            elif client and self._active_of[client] > max(1, most // CLIENT_SHARE):
                # Bodies that never come: a rate alone would let one client hold all of them.
                refused = too_many_requests("Too many requests of this client at a time.", 1.0)
        return None if refused is None else problem_response(refused)


class LimitedBody:
    """Body of a request, limited in size and in time.

    Parameters
    ----------
    scope : ASGI scope
        ASGI scope of the request.
    receive : ASGI receive
        ASGI receive function of the server.
    limit : int
        Largest number of bytes.
    seconds : float
        Longest time until the body is complete.

    Examples
    --------
    >>> import asyncio
    >>> from shoal.service import LimitedBody, read_body
    >>> async def send():
    ...     return {"type": "http.request", "body": b"a report", "more_body": False}
    >>> async def read():
    ...     body = LimitedBody({"headers": []}, send, limit=100, seconds=5.0)
    ...     return await read_body(body.receive)
    >>> asyncio.run(read())
    b'a report'
    """

    def __init__(self, scope: Scope, receive: Receive, limit: int, seconds: float) -> None:
        self._receive = receive
        self._limit = limit
        self._seconds = seconds
        self._read = 0
        self._deadline: float | None = None
        self.refusal: RefusedError | None = None
        self._drains = True
        length, chunked = b"0", False
        for name, value in scope["headers"]:
            if name == b"content-length":
                length = value
            elif name == b"transfer-encoding":
                chunked = True
            elif name == b"expect":
                self._drains = False  # it waits for our word before it sends anything
        # Digits are few enough: the head of a request is limited.
        size = int(length) if length.isdigit() else -1
        self.is_complete = size == 0 and not chunked
        if size > self._limit:
            self.refusal = self._too_large()

    async def receive(self) -> Message:
        """Return the next part; RefusedError if it is too large, too late, or incomplete."""
        if self.is_complete:
            return await self._receive()
        message = await self._next(self._seconds)
        if self._read > self._limit:
            raise self._too_large()
        return message

    async def drain(self) -> bool:
        """Read and discard the rest; return whether the end was reached within the limits."""
        if not self._drains:
            return False
        limit = max(DRAIN_BYTES, DRAIN_FACTOR * self._limit)
        self._deadline = None
        try:
            while not self.is_complete and self._read <= limit:
                await self._next(DRAIN_SECONDS)
        except RefusedError:
            return False
        return self.is_complete

    async def _next(self, seconds: float) -> Message:
        """Return the next part of the body, within so many seconds from the first call."""
        if self._deadline is None:
            self._deadline = asyncio.get_running_loop().time() + seconds
        try:
            async with asyncio.timeout_at(self._deadline):
                message = await self._receive()
        except TimeoutError:
            self._drains = False
            raise RefusedError("timeout", "The body did not arrive in time.") from None
        if message["type"] == "http.disconnect":
            raise RefusedError("malformed-request", "The body was cut off.")
        self._read += len(message.get("body", b""))
        self.is_complete = not message.get("more_body", False)
        return message

    def _too_large(self) -> RefusedError:
        return RefusedError("too-large", f"The body may have {self._limit} bytes.")


class _Answer:
    """Sends an answer with the headers that every answer has."""

    def __init__(
        self,
        send: Send,
        body: LimitedBody,
        headers: list[tuple[bytes, bytes]],
        send_seconds: float,
    ) -> None:
        self._send = send
        self._body = body
        self._headers = headers
        self._send_seconds = send_seconds
        self.identifier = secrets.token_hex(8)
        self.status = 0

    async def send(self, message: Message) -> None:
        """Pass one message on."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
            headers = [*message["headers"], *SECURITY_HEADERS, *self._headers]
            headers.append((b"x-request-id", self.identifier.encode("ascii")))
            if not any(name == b"cache-control" for name, _ in message["headers"]):
                headers.append(NO_STORE)
            if not self._body.is_complete and not await self._body.drain():
                headers.append((b"connection", b"close"))
            message = {**message, "headers": headers}
        elif message.get("more_body", False):
            async with asyncio.timeout(self._send_seconds):
                await self._send(message)
            return
        await self._send(message)
