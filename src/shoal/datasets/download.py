"""A file from the network: over https, whole, and not without end."""

import http.client
import time
import urllib.error
import urllib.request
from typing import IO, Any
from urllib.parse import urlsplit

from shoal.datasets.rebuild import LIMIT
from shoal.exceptions import DataError

__all__ = ["download"]

TIMEOUT = 30.0  # seconds without a sign of life
PATIENCE = 600.0  # seconds in all
CHUNK = 2**16


def download(url: str) -> bytes:
    """Get what an address serves.

    Parameters
    ----------
    url : str
        An address that begins with ``https://``; it may send us on to others of that kind.

    Returns
    -------
    content : bytes
        All of it.

    Raises
    ------
    DataError
        If the address is of another kind or does not serve the file, whole and of a size that a
        data set may have.

    Examples
    --------
    >>> download("http://example.org/points.csv")
    Traceback (most recent call last):
    ...
    shoal.exceptions.DataError: data must come over https, got 'http://example.org/points.csv'
    """
    _check(url)
    opener = urllib.request.build_opener(_Redirects, *_handlers())
    request = urllib.request.Request(url, headers={"User-Agent": "shoal"})
    try:
        with opener.open(request, timeout=TIMEOUT) as answer:
            return _read(url, answer)
    except urllib.error.HTTPError as failure:
        failure.close()
        # The usual words: those of the server may be anything.
        words = http.client.responses.get(failure.code, "")
        raise _lost(url, f"it answers {failure.code} {words}".rstrip()) from None
    except urllib.error.URLError as failure:
        raise _lost(url, _why(failure.reason)) from None
    except (http.client.HTTPException, OSError) as failure:
        raise _lost(url, _why(failure)) from None


def _handlers() -> list[urllib.request.BaseHandler]:
    """Return the ways to connect beyond the usual; a test puts its own here."""
    return []


class _Redirects(urllib.request.HTTPRedirectHandler):
    """Follow an address to another that is as safe."""

    def redirect_request(  # noqa: PLR0917 - the signature of the library
        self, req: Any, fp: IO[bytes], code: int, msg: str, headers: Any, newurl: str
    ) -> urllib.request.Request | None:
        try:
            _check(newurl)
        except DataError:
            fp.close()
            raise
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _check(url: str) -> None:
    if urlsplit(url).scheme != "https":
        raise DataError(f"data must come over https, got {url!r}")


def _read(url: str, answer: Any) -> bytes:
    expected = answer.headers.get("Content-Length", "")
    end = time.monotonic() + PATIENCE
    content = bytearray()
    while chunk := answer.read(CHUNK):
        content += chunk
        if len(content) > LIMIT:
            raise _lost(url, f"it serves more than {LIMIT // 2**20} MiB")
        if time.monotonic() > end:
            raise _lost(url, f"it takes longer than {PATIENCE:.0f} seconds")
    # The library takes the end of a broken connection for the end of the file.
    if expected.isdigit() and len(content) != int(expected):
        raise _lost(url, f"the connection broke after {len(content)} of {expected} bytes")
    return bytes(content)


def _why(failure: object) -> str:
    if isinstance(failure, http.client.IncompleteRead):
        return "the connection broke"
    words = (failure.strerror if isinstance(failure, OSError) else None) or str(failure)
    return " ".join(words.split()) or type(failure).__name__


def _lost(url: str, why: str) -> DataError:
    return DataError(f"the data must be downloaded from {url}: {why}; nothing was kept")
