"""One exchange over HTTP by the standard library, in a module of its own.

``urllib``, ``ssl`` and ``email`` are a quarter of what a device would load at its start; they are
loaded when it first sends.
"""

import contextlib
import http.client
import socket
import ssl
import threading
import urllib.error
import urllib.request
from typing import Any
from urllib.parse import urlsplit

from shoal.client.transport import BLOCK, Answer, Request

__all__ = ["exchange"]

AGENT = "shoal-device"  # the same for all devices
LATE = "the answer was not whole in time"


def exchange(request: Request, *, timeout: float, context: ssl.SSLContext | None) -> Answer:
    """Return the answer to a request; OSError if there is no whole one in time."""
    watch = _Watch(timeout)
    try:
        answer = _ask(request, watch, timeout, context)
    except (OSError, ValueError, http.client.HTTPException) as failure:
        if watch.late:  # of any kind: TLS has its own for a socket that is gone
            raise TimeoutError(LATE) from None
        if isinstance(failure, OSError):
            raise
        # Broken HTTP, and what urllib cannot read in it: a length, an address to go on to.
        raise OSError(f"no HTTP answer ({type(failure).__name__})") from None
    finally:
        watch.end()
    if watch.late:  # what was cut off can look whole
        raise TimeoutError(LATE)
    return answer


def _ask(
    request: Request, watch: "_Watch", timeout: float, context: ssl.SSLContext | None
) -> Answer:
    asked = urllib.request.Request(
        request.url,
        data=request.body,
        headers={"User-Agent": AGENT, **request.headers},
        method=request.method,
    )
    try:
        answer = _opener(request.url, watch, context).open(asked, timeout=timeout)
    except urllib.error.HTTPError as refusal:
        answer = refusal
    with answer:
        body = _read(answer, request.max_bytes)
        headers = {name.lower(): value for name, value in answer.headers.items()}
        return Answer(int(answer.status), headers, body)


def _opener(
    url: str, watch: "_Watch", context: ssl.SSLContext | None
) -> urllib.request.OpenerDirector:
    if urlsplit(url).scheme == "https":
        return urllib.request.build_opener(_NoRedirect(), _Https(watch, context))
    # The own machine needs no proxy.
    proxies = urllib.request.ProxyHandler({})
    return urllib.request.build_opener(_NoRedirect(), proxies, _Http(watch))


class _Http(urllib.request.HTTPHandler):
    """Connects as ``urllib`` does, and notes the socket."""

    def __init__(self, watch: "_Watch") -> None:
        super().__init__()
        self._watch = watch

    def http_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
        """Send a request."""
        return self.do_open(_noting(http.client.HTTPConnection, self._watch), req)


class _Https(urllib.request.HTTPSHandler):
    """The same over TLS."""

    def __init__(self, watch: "_Watch", context: ssl.SSLContext | None) -> None:
        self._trusted = ssl.create_default_context() if context is None else context
        super().__init__(context=self._trusted)
        self._watch = watch

    def https_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
        """Send a request."""
        kind = _noting(http.client.HTTPSConnection, self._watch)
        return self.do_open(kind, req, context=self._trusted)


def _noting(kind: type[http.client.HTTPConnection], watch: "_Watch") -> Any:
    """Return a kind of connection that notes its socket."""

    class Connection(kind):  # type: ignore[valid-type, misc]
        def connect(self) -> None:
            super().connect()
            watch.sockets.append(self.sock)

    return Connection


class _Watch:
    """Hangs up in the end: each byte may come in time, and the answer never."""

    def __init__(self, timeout: float) -> None:
        self.late = False
        self.sockets: list[socket.socket] = []
        self._timer = threading.Timer(timeout, self._hang_up)
        self._timer.daemon = True
        self._timer.start()

    def end(self) -> None:
        """Watch no more."""
        self._timer.cancel()

    def _hang_up(self) -> None:
        self.late = True
        for connected in self.sockets:
            with contextlib.suppress(OSError):
                connected.shutdown(socket.SHUT_RDWR)


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """Follows nothing: addresses come from a signed document, or from the app."""

    def redirect_request(self, *asked: Any, **kwargs: Any) -> None:
        """Return no request."""


def _read(answer: Any, max_bytes: int) -> bytes:
    """Read an answer whole, or not at all, and not without end."""
    blocks, size = [], 0
    while block := answer.read1(BLOCK):
        size += len(block)
        if size > max_bytes:
            raise OSError(f"an answer of more than {max_bytes} bytes")
        blocks.append(block)
    declared = answer.headers.get("Content-Length", "")
    if declared.isdecimal() and int(declared) != size:
        raise OSError("an answer that was cut off")
    return b"".join(blocks)
