"""Pages that other commands wrote: found below the studio's folders, and shown in a cage.

A page is a file that anybody may have made, with scripts of its own. So it is served as a document
without an origin: its scripts can draw, and can reach neither the studio nor any other address. A
document that fills a window could still lead that window elsewhere, so it is shown in a frame,
which the policy of the studio keeps here. A page is asked for by a digest of its place, never by a
path, so no path leads out of the folders, and links that do are not followed.
"""

import hashlib
import html
import os
import re
import stat
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from shoal._files import BINARY
from shoal.service import RefusedError

__all__ = ["FRAME", "PAGE_POLICY", "ReportPage", "find_pages", "read_page"]

MAX_PAGES = 500
MAX_FILES = 20_000  # looked at; a folder of this many is no folder of reports
MAX_BYTES = 1 << 26
HEAD_BYTES = 1 << 13  # where a title is looked for
# Windows has neither: links are looked for before, and no file makes anybody wait.
NO_LINKS, NO_WAIT = getattr(os, "O_NOFOLLOW", 0), getattr(os, "O_NONBLOCK", 0)
TITLE = re.compile(r"<title[^>]*>(.*?)</title>", re.IGNORECASE | re.DOTALL)
# Charts are drawn by code that Vega makes of them, hence eval; there is nothing to reach from here.
PAGE_POLICY = (
    "sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval'; "
    "style-src 'unsafe-inline'; img-src data: blob:; font-src data:; connect-src 'none'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
)
# What a window of its own shows: the same address again, in a frame.
FRAME = (
    '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>shoal studio: a report'
    '</title><link rel="stylesheet" href="/static/studio.css"></head><body><iframe class="whole" '
    'title="The report" src="/reports/{page}" sandbox="allow-scripts"></iframe></body></html>'
)


class ReportPage(NamedTuple):
    """A page that was found.

    Parameters
    ----------
    id : str
        Digest of its place.
    title : str
        As the page says, or its name.
    place : str
        Folder and path in it, for readers.
    time : str
        When it was written, in UTC and ISO 8601.
    size : int
        In bytes.
    path : Path
        Where it is; no page gets to know it.
    """

    id: str
    title: str
    place: str
    time: str
    size: int
    path: Path

    def to_dict(self) -> dict[str, Any]:
        """Return it as pages read it."""
        return {
            "id": self.id,
            "title": self.title,
            "place": self.place,
            "time": self.time,
            "size": self.size,
        }


def find_pages(folders: Iterable[Path]) -> list[ReportPage]:
    """Return the pages below some folders, the newest first.

    Parameters
    ----------
    folders : iterable of Path
        Where to look; links are not followed.

    Returns
    -------
    pages : list of ReportPage
        At most 500.
    """
    found = [page for path, place in _places(folders) if (page := _page(path, place)) is not None]
    return sorted(found, key=lambda page: page.time, reverse=True)[:MAX_PAGES]


def read_page(folders: Iterable[Path], identifier: str) -> bytes:
    """Return the bytes of a page that :func:`find_pages` names, or refuse."""
    for path, place in _places(folders):
        if _digest(path) == identifier and _page(path, place) is not None:
            content = _read(path, MAX_BYTES)
            if content is not None:
                return content
    raise RefusedError("not-found", "There is no such page: look at the list again.")


def _places(folders: Iterable[Path]) -> Iterator[tuple[Path, str]]:
    """Find files that may be pages, with a place that readers know."""
    looked_at = 0
    for folder in folders:
        root = folder.resolve()
        for at, inner, names in os.walk(root, followlinks=False):
            inner[:] = sorted(name for name in inner if not name.startswith("."))
            for name in sorted(names):
                looked_at += 1
                if looked_at > MAX_FILES:
                    return
                if name.lower().endswith((".html", ".htm")) and not name.startswith("."):
                    path = Path(at) / name
                    yield path, f"{root.name}/{path.relative_to(root).as_posix()}"


def _page(path: Path, place: str) -> ReportPage | None:
    head = _read(path, HEAD_BYTES, whole=False)
    if head is None:
        return None
    told = path.lstat()
    text = TITLE.search(head.decode("utf-8", "replace"))
    title = " ".join(html.unescape(text[1]).split())[:200] if text else ""
    time = datetime.fromtimestamp(told.st_mtime, UTC).isoformat(timespec="seconds")
    return ReportPage(_digest(path), title or path.name, place, time, told.st_size, path)


def _read(path: Path, most: int, *, whole: bool = True) -> bytes | None:
    """Return the bytes of a plain file, which is no link; None for anything else."""
    try:
        if not NO_LINKS and path.is_symlink():
            return None
        descriptor = os.open(path, os.O_RDONLY | NO_LINKS | NO_WAIT | BINARY)
    except OSError:
        return None
    with os.fdopen(descriptor, "rb") as file:
        told = os.fstat(descriptor)
        if not stat.S_ISREG(told.st_mode) or (whole and told.st_size > most):
            return None
        return file.read(most)


def _digest(path: Path) -> str:
    return hashlib.sha256(os.fsencode(path)).hexdigest()[:32]
