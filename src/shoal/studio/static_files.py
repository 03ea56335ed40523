"""The files of the pages: our own, the JavaScript client's, and the library that draws charts.

The library is the bundle that vl-convert carries, the same that draws pictures and reports. Making
it takes seconds, in which the interpreter does nothing else, so a process of its own does it, and
the library is kept in the user's cache folder, by version; it holds nothing of anybody.
"""

import contextlib
import hashlib
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import FileResponse, Response
from starlette.staticfiles import StaticFiles

from shoal._browser_client import browser_client
from shoal._files import atomic_write
from shoal._processes import OWN_GROUP
from shoal.service import RefusedError, unavailable

__all__ = ["PAGE_NAMES", "add_pages", "warm_chart_library"]

FOLDER = Path(__file__).parent / "pages"
# Every page is the same document: its modules read the address.
PAGE_NAMES = (
    "",
    "explore",
    "release",
    "trade-off",
    "shapes",
    "campaigns",
    "audit",
    "ledger",
)
REVALIDATE = "no-cache"
MAKE = """
import sys
from shoal.plotting import chart_library
sys.stdout.buffer.write(chart_library().encode())
"""


def add_pages(app: FastAPI) -> None:
    """Serve the pages and what they load."""
    document = FOLDER / "index.html"

    async def page(_request: Request) -> Response:
        return FileResponse(document, media_type="text/html", headers={"Cache-Control": REVALIDATE})

    async def charts(request: Request) -> Response:
        library, tag = await run_in_threadpool(_library)
        headers = {"Cache-Control": REVALIDATE, "ETag": tag}
        if request.headers.get("if-none-match") == tag:
            return Response(status_code=304, headers=headers)
        return Response(library, media_type="text/javascript", headers=headers)

    for name in PAGE_NAMES:
        app.add_route(f"/{name}", page, methods=["GET"], include_in_schema=False)
    app.add_route("/charts.js", charts, methods=["GET"], include_in_schema=False)
    app.mount("/static", _Fresh(directory=FOLDER))
    app.mount("/client", _Fresh(directory=browser_client()))


def warm_chart_library() -> Callable[[], None]:
    """Make the library in the background, so that the first chart does not wait for it.

    Returns
    -------
    stop : callable
        Ends the process that makes it, if it still does.
    """

    def warm() -> None:
        with contextlib.suppress(RefusedError):  # whoever asks for it is told
            _library()

    threading.Thread(target=warm, name="chart library", daemon=True).start()
    return _stop_makers


class _Fresh(StaticFiles):
    """Files that a browser asks about each time: an update of shoal is seen at once."""

    def file_response(self, *args: Any, **kwargs: Any) -> Response:
        response = super().file_response(*args, **kwargs)
        response.headers["Cache-Control"] = REVALIDATE
        return response


_making = threading.Lock()


def _library() -> tuple[bytes, str]:
    """Return the library and its tag; made once, whoever asks first."""
    with _making:
        return _kept_library()


@lru_cache(maxsize=1)
def _kept_library() -> tuple[bytes, str]:
    kept = _cache_folder() / f"vega-{version('vl-convert-python')}.js"
    try:
        library = kept.read_bytes()
    except OSError:
        library = _make_library()
        _keep(kept, library)
    return library, f'"{hashlib.sha256(library).hexdigest()[:16]}"'


_makers: set[subprocess.Popen[bytes]] = set()


def _make_library() -> bytes:
    """Make the library in another process; Ctrl-C of a terminal is this one's alone."""
    command = [sys.executable, "-c", MAKE]
    maker = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, **OWN_GROUP
    )
    _makers.add(maker)
    try:
        library: bytes = maker.communicate()[0]
    finally:
        _makers.discard(maker)
    if maker.returncode or not library:
        raise unavailable("The library that draws charts could not be made.")
    return library


def _stop_makers() -> None:
    for maker in tuple(_makers):
        maker.kill()


def _keep(path: Path, library: bytes) -> None:
    """Write the library to the cache; where that cannot be, it is made again next time."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with atomic_write(path) as part:
            part.write_bytes(library)
    except OSError:
        return


def _cache_folder() -> Path:
    if os.name == "nt":
        return Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData/Local")) / "shoal"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "shoal"
