"""Download the file of a data set: over https, whole, and checked against its digest."""

import hashlib
import http.client
import logging
import os
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any
from urllib.parse import urlsplit

from shoal._files import atomic_write
from shoal.datasets.dataset import DatasetInfo
from shoal.datasets.recipes import LIMIT, rebuild
from shoal.datasets.registry import find
from shoal.exceptions import DataError, ParameterError

__all__ = ["cache_folder", "download", "fetch", "named_folder"]

VARIABLE = "SHOAL_DATA"  # of the environment: the folder of the data files
TIMEOUT = 30.0  # seconds without a sign of life
PATIENCE = 600.0  # seconds in all
CHUNK = 2**16

_log = logging.getLogger("shoal.datasets")


def fetch(
    name: str,
    folder: str | os.PathLike[str] | None = None,
    *,
    notify: Callable[[str], object] | None = None,
) -> Path:
    """Download the file of a data set, unless it is already there.

    The source files are downloaded from pinned addresses over https. The file is made from them,
    and kept only if its sha256 equals that of the registry.

    Parameters
    ----------
    name : str
        Name of a data set of :func:`shoal.datasets.list_datasets` that is ``downloadable``.
    folder : path-like, optional
        Folder for the file. By default the folder in the environment variable ``SHOAL_DATA``, or
        else ``shoal`` in the user's cache folder; :func:`shoal.datasets.load` looks in both.
    notify : callable, optional
        Called with the license and the source, in one line, before anything is downloaded; by
        default they are logged to ``shoal.datasets``.

    Returns
    -------
    path : Path
        The file.

    Raises
    ------
    ParameterError
        If no data set has this name, it needs no file, or the folder cannot be written to.
    DataError
        If the file cannot be downloaded, or is not the one in the registry. Nothing is kept then.

    Examples
    --------
    >>> from shoal.datasets import list_datasets
    >>> [info.name for info in list_datasets() if info.downloadable][:3]
    ['seeds', 'transfusion', 'adult']
    """
    info = find(name)
    if info.file is None:
        raise ParameterError(
            f"name must be a data set with a file to download, got {name!r}, which comes with "
            "scikit-learn"
        )
    if info.origin is None or not info.downloadable:
        raise DataError(f"{info.name} cannot be downloaded: {info.way}", parameter="", code="file")
    path = _place(folder) / info.file
    if _there(info, path):
        return path
    urls = info.origin.urls
    (notify or _log.info)(
        f"{info.name}: license {info.license}; source {info.source}; from {' and '.join(urls)}"
    )
    content = rebuild(info, [download(url) for url in urls])
    digest = hashlib.sha256(content).hexdigest()
    if digest != info.sha256:
        raise DataError(
            f"{info.file} must have sha256 {info.sha256}, got {digest} from {' and '.join(urls)}: "
            "what is served there was changed; nothing was kept",
            parameter="",
            code="file",
        )
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with atomic_write(path) as part:
            part.write_bytes(content)
    except OSError as failure:
        raise _unwritable(path, failure) from None
    return path


def named_folder() -> Path | None:
    """Return the folder that the environment variable ``SHOAL_DATA`` names, if it does."""
    folder = os.environ.get(VARIABLE)
    return Path(folder) if folder else None


def cache_folder() -> Path:
    """Return ``shoal`` below ``XDG_CACHE_HOME``, or below ``.cache`` in the home of the user."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    # By the convention, a path that is not absolute does not count.
    return (Path(base) if Path(base).is_absolute() else Path.home() / ".cache") / "shoal"


def _place(folder: str | os.PathLike[str] | None) -> Path:
    return Path(folder) if folder is not None else named_folder() or cache_folder()


def _there(info: DatasetInfo, path: Path) -> bool:
    """Return whether the file is there; another file of this name is left alone."""
    try:
        if not path.exists():
            return False
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as failure:
        raise _unwritable(path, failure) from None
    if digest != info.sha256:
        raise DataError(
            f"{str(path)!r} must have sha256 {info.sha256} or not be there, got another file: "
            "move it away to download",
            parameter="",
            code="file",
        )
    return True


def _unwritable(path: Path, failure: OSError) -> ParameterError:
    return ParameterError(
        f"folder must be one that can be written, got {str(path.parent)!r}: {failure.strerror}"
    )


def download(url: str) -> bytes:
    """Return what an https address serves, whole and of a size that a data set may have.

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
        raise DataError(f"data must come over https, got {url!r}", parameter="", code="file")


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
    return DataError(
        f"the data must be downloaded from {url}: {why}; nothing was kept",
        parameter="",
        code="file",
    )
