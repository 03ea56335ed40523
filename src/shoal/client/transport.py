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
    """What is asked of a server.

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
    """What a server answered: status, headers by their names in small letters, and content.

    Examples
    --------
    >>> Answer(503, {"retry-after": "2"}, b"").status
    503
    """

    status: int
    headers: Mapping[str, str]
    body: bytes


class Transport(Protocol):
    """Carries a request to a server; any function of this form will do.

    It raises ``OSError`` where there is no whole answer in time, and follows no redirect.

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
    """Carries requests by ``urllib``.

    Parameters
    ----------
    timeout : float, default=10.0
        Seconds until the answer must be whole.
    context : ssl.SSLContext, default=None
        Which servers are trusted; None takes the certificates of the system.

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
