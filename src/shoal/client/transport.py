"""HTTP by the standard library: one request, one answer, no redirect, bounded in size and time."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple, Protocol

from shoal import _numbers
from shoal._optional import require

if TYPE_CHECKING:
    import ssl

__all__ = ["Answer", "Request", "Transport", "UrlTransport"]

BLOCK = 1 << 16


class Request(NamedTuple):
    """An HTTP request to a server.

    Examples
    --------
    >>> Request("GET", "https://example.org/v1/campaigns/homes").body is None
    True
    """

    method: str
    url: str
    headers: Mapping[str, str] = {}
    body: bytes | None = None
    max_bytes: int = BLOCK

    def __repr__(self) -> str:
        return f"Request({self.method} {self.url})"  # neither key nor report


class Answer(NamedTuple):
    """Answer of a server: status, headers by lower-case name, and content.

    Examples
    --------
    >>> Answer(503, {"retry-after": "2"}, b"").status
    503
    """

    status: int
    headers: Mapping[str, str]
    body: bytes


class Transport(Protocol):
    """Protocol of functions that send a request to a server and return the answer.

    It raises ``OSError`` if there is no complete answer in time, and does not follow redirects.

    Examples
    --------
    >>> def offline(request: Request) -> Answer:
    ...     raise OSError("no network")
    >>> transport: Transport = offline
    """

    def __call__(self, request: Request) -> Answer:
        """Return the answer."""
        ...


class UrlTransport:
    """Transport that sends requests by ``urllib``.

    Parameters
    ----------
    timeout : float, default=10.0
        Number of seconds until the answer must be complete.
    context : ssl.SSLContext, default=None
        Certificates that are trusted; None takes those of the system.

    Examples
    --------
    >>> UrlTransport(timeout=5.0).timeout
    5.0
    """

    def __init__(self, *, timeout: float = 10.0, context: "ssl.SSLContext | None" = None) -> None:
        self.timeout = _numbers.positive("timeout", timeout)
        self.context = context

    def __call__(self, request: Request) -> Answer:
        """Return the answer to a request.

        Parameters
        ----------
        request : Request
            With an https address, or http on the own machine.

        Returns
        -------
        answer : Answer
            Of any status, redirects included.

        Raises
        ------
        OSError
            If there is no whole answer in time, or one that is too long.
        """
        _numbers.web_address("url", request.url)
        answer: Answer = require("shoal.client._http", extra="").exchange(
            request, timeout=self.timeout, context=self.context
        )
        return answer
