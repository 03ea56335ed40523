"""One Chromium for a file of tests, and a server of pages that may do no more than they must.

Pages come with a strict Content-Security-Policy: modules and sheets of their own origin, and no
other. What a page writes to its console as an error, and every address it asks, is collected.
"""

import mimetypes
import shutil
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page

ROOT = Path(__file__).parents[2]
MODULES = ROOT / "clients/js/src"
CHROMIUM = shutil.which("chromium")
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)
NO_SUCCESS = "Failed to load resource:"
TIMEOUT = (
    60_000  # milliseconds; what is waited for comes in far less, on a machine that is not busy
)


@contextmanager
def chromium() -> Iterator["Browser"]:
    """Start a browser, or skip the tests that need one."""
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if CHROMIUM is None:
        pytest.skip("needs a browser: apt-get install chromium")
    with api.sync_playwright() as started:
        browser = started.chromium.launch(
            executable_path=CHROMIUM, args=list(FLAGS), headless=True, timeout=60_000
        )
        try:
            yield browser
        finally:
            browser.close()


@dataclass
class FileServer:
    """Files of folders and texts of tests, by path."""

    address: str
    folders: dict[str, Path] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)

    def read(self, path: str) -> bytes | None:
        """Return what is at a path of an address."""
        if path in self.texts:
            return self.texts[path].encode()
        for prefix, folder in self.folders.items():
            file = folder / path.removeprefix(prefix)
            if path.startswith(prefix) and ".." not in path and file.is_file():
                return file.read_bytes()
        return None


@contextmanager
def serving_files(folders: Mapping[str, Path], *, connect: str = "'self'") -> Iterator[FileServer]:
    """Serve folders by the prefix of their paths; pages may ask the addresses of `connect`."""
    policy = (
        "default-src 'none'; script-src 'self'; style-src 'self'; base-uri 'none'; "
        f"form-action 'none'; connect-src {connect}"
    )

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            path = urlsplit(self.path).path
            body = files.read(path)
            self.send_response(404 if body is None else 200)
            self.send_header("Content-Type", mimetypes.guess_type(path)[0] or "text/html")
            self.send_header("Content-Length", str(len(body or b"")))
            self.send_header("Content-Security-Policy", policy)
            kept = "max-age=60" if path.endswith(".js") else "no-store"  # modules stay as they are
            self.send_header("Cache-Control", kept)
            self.end_headers()
            self.wfile.write(body or b"")

        def log_message(self, *_args: object) -> None:
            """Write nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    files = FileServer(f"http://127.0.0.1:{server.server_port}", dict(folders))
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield files
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@dataclass
class Visit:
    """A context of a browser, with its own storage, and what its pages said and asked."""

    context: "BrowserContext"
    errors: list[str] = field(default_factory=list)
    addresses: list[str] = field(default_factory=list)

    def open(self, address: str) -> "Page":
        """Open a page whose errors and requests are noted."""
        page = self.context.new_page()
        page.set_default_timeout(TIMEOUT)
        page.on("console", self._note)
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("request", lambda request: self.addresses.append(request.url))
        page.goto(address)
        return page

    def _note(self, message: "ConsoleMessage") -> None:
        # The browser's own line about an answer that is no success, which tests ask for.
        if message.type in ("error", "warning") and not message.text.startswith(NO_SUCCESS):
            self.errors.append(message.text)

    @property
    def hosts(self) -> set[str]:
        """Return all hosts, with their ports, that were asked."""
        return {urlsplit(address).netloc for address in self.addresses}


@contextmanager
def visiting(browser: "Browser", **settings) -> Iterator[Visit]:
    """Open a fresh context; the test fails if a page wrote an error that was not expected."""
    context = browser.new_context(**settings)
    visit = Visit(context)
    try:
        yield visit
    finally:
        context.close()
    assert visit.errors == []
