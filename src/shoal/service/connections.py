"""Connections: heads of requests limited in bytes and in seconds, and so many at a time.

uvicorn reads heads of any length from clients of any slowness. This protocol refuses both, and what
is no HTTP at all, with problem documents.
"""

import asyncio
from typing import Any, cast

from uvicorn.config import Config
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol
from uvicorn.server import ServerState

from shoal.service.middleware import SECURITY_HEADERS
from shoal.service.problems import MEDIA_TYPE, RefusedError, problem_bytes, unavailable
from shoal.service.settings import ServiceSettings

__all__ = ["make_protocol"]

NO_HTTP = "The request is no HTTP/1.1."


class _TooLongError(Exception):
    """The head of a request is longer than allowed."""


class LimitedProtocol(HttpToolsProtocol):
    """HTTP of one connection, with limits.

    Parameters
    ----------
    config, server_state, app_state, _loop
        As uvicorn makes them.
    """

    settings: ServiceSettings

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self._in_head = True
        self._head_bytes = 0  # of the parts that were parsed
        self._unfinished_bytes = 0  # read since the head began
        self._ended = False  # whether the read holds the end of another request
        self._between = False  # whether a request has ended and none has begun
        self._too_long = False
        self._timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start to read, unless there are too many connections."""
        super().connection_made(transport)
        if len(self.connections) > self.settings.max_connections:
            self._refuse(unavailable("Too many connections are open."))
            return
        self._start_timer()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the timer."""
        self._stop_timer()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Read on, within limits."""
        if self.transport.is_closing():
            return
        if self._between and not data.strip(b"\r\n"):
            return  # lines without a request; uvicorn would stop its clock for idle connections
        self._ended = False
        super().data_received(data)
        if self._in_head and not self.transport.is_closing():
            # Parts of a header are not seen before its end.
            self._unfinished_bytes += 0 if self._ended else len(data)
            if self._unfinished_bytes > self.settings.max_header_bytes:
                self._too_long = True
                self.send_400_response("")
            elif self._timer is None:
                self._start_timer()

    def on_message_begin(self) -> None:
        """Begin to count."""
        super().on_message_begin()
        self._in_head, self._between = True, False
        self._head_bytes = 0

    def on_url(self, url: bytes) -> None:
        """Count the bytes of the target."""
        self._count(len(url))
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        """Count the bytes of a header."""
        self._count(len(name) + len(value) + 4)
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """End the count."""
        self._in_head = False
        self._head_bytes = self._unfinished_bytes = 0
        self._stop_timer()
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """Note that what follows in this read is another request."""
        self._ended = self._between = True
        super().on_message_complete()

    def send_400_response(self, msg: str) -> None:
        """Refuse what cannot be read, and close."""
        if self._too_long:
            limit = self.settings.max_header_bytes
            self._refuse(
                RefusedError("header-too-large", f"The head of a request may have {limit} bytes.")
            )
        else:
            self._refuse(RefusedError("malformed-request", NO_HTTP))

    def _count(self, size: int) -> None:
        self._head_bytes += size
        if self._head_bytes > self.settings.max_header_bytes:
            self._too_long = True
            raise _TooLongError

    def _start_timer(self) -> None:
        self._timer = self.loop.call_later(self.settings.header_seconds, self._late)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _late(self) -> None:
        """Refuse a head that did not arrive in time; a connection without any is closed."""
        self._timer = None
        if not self._in_head or self.transport.is_closing():
            return
        if self._unfinished_bytes:
            self._refuse(RefusedError("timeout", "The head did not arrive in time."))
        else:
            self.transport.close()

    def _refuse(self, refused: RefusedError) -> None:
        """Write a problem document without any request, and close."""
        content = problem_bytes(refused)
        headers = {
            "content-type": MEDIA_TYPE,
            "content-length": str(len(content)),
            "connection": "close",
            **cast("dict[str, str]", refused.headers or {}),
        }
        lines = [STATUS_LINE[refused.status_code]]
        lines += [f"{name}: {value}\r\n".encode("latin-1") for name, value in headers.items()]
        lines += [b"%b: %b\r\n" % header for header in SECURITY_HEADERS]
        self.transport.write(b"".join([*lines, b"\r\n", content]))
        self.transport.close()


def make_protocol(limits: ServiceSettings) -> type[LimitedProtocol]:
    """Return the protocol class of a server with these settings."""

    class Protocol(LimitedProtocol):
        """HTTP with the limits of one server."""

        settings = limits

    return Protocol
