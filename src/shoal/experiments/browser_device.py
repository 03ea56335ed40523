"""A web page among the devices of a demo: the component in a headless browser, on this machine.

A small server on loopback hands out the page and the modules of the client. A script of the page,
not of the component, types the made-up record in as a person would, sends, and tells that server
what the component shows; it can do so only because the record is made up. The page is whole only
after its cluster was found, which is when the browser takes its picture and ends by itself. All
that the browser writes is in a folder that is removed.
"""

import json
import os
import queue
import shutil
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from html import escape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from shoal._browser_client import browser_modules
from shoal._processes import OWN_GROUP, kill_group
from shoal._typing import Floats
from shoal.experiments.device_fleet import TakingPart

__all__ = ["BrowserDevice", "PageVisit", "find_browser", "serve_page"]

VARIABLE = "CHROME"
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
WINDOW = "720,1400"
FLAGS = (
    "--headless",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-breakpad",
    "--no-first-run",
    "--hide-scrollbars",
    "--password-store=basic",
    f"--window-size={WINDOW}",
)
SECONDS = 60.0  # that the browser may take for a step; it takes less than five
TOLD = ("state", "report", "label")
MAX_TOLD = 1 << 16  # bytes
SENT, LABELED, REFUSED = "sent", "labeled", "refused"
KINDS = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}
HELD = "/whole.svg"  # answered last: until then the page is not whole
RESULTS = "/results"  # answered when there are results
PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>A page among the devices</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="stylesheet" href="page.css"><script type="module" src="shoal-report.js"></script>
<script type="module" src="visit.js"></script></head><body>
<p>A page of the demo, filled in by a script. The home is made up.</p>
<shoal-report {attributes}></shoal-report>
<img src="{held}" alt="" width="1" height="1"></body></html>
"""
STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; margin: 1rem; color: #1c2733; background: #fff; }
p { color: #4a5a6a; margin: 0 0 .75rem; }
shoal-report { color-scheme: light; }
img { position: absolute; }
"""
VISIT = """
const record = {record};
const report = document.querySelector("shoal-report");
const find = (selector) => report.shadowRoot.querySelector(selector);
const text = (selector) => find(selector)?.textContent ?? "";
const reached = (...states) =>
  new Promise((resolve) => {{
    const watcher = new MutationObserver(look);
    function look() {{
      if (!states.includes(report.getAttribute("state"))) return;
      watcher.disconnect();
      resolve();
    }}
    watcher.observe(report, {{ attributes: true }});
    look();
  }});
const tell = () => {{
  const state = report.getAttribute("state");
  const shown = {{ state, report: text("code"), label: text("[part=label]") }};
  return fetch("told", {{ method: "POST", body: JSON.stringify(shown) }});
}};
await customElements.whenDefined("shoal-report");
await reached("ready", "refused");
report.shadowRoot.querySelectorAll("input").forEach((input, i) => {{ input.value = record[i]; }});
find("button[type=submit]")?.click();
await reached("sent", "refused");
await tell();
await fetch("results");
report.shadowRoot.querySelectorAll("form button[type=button]").forEach((button) => button.click());
await reached("labeled", "refused");
await tell();
"""


class PageVisit(NamedTuple):
    r"""What the web page of a demo's device showed, for its synthetic record.

    Parameters
    ----------
    record : list of float
        The record that was typed in.
    report : bytes
        The report that was sent, as the page shows it.
    label : str
        The record's cluster, in the words of the page.
    screenshot : bytes or None
        Screenshot of the page as PNG, if the browser made one.

    Examples
    --------
    >>> from shoal.experiments import PageVisit
    >>> PageVisit([2.0, 3.0], b"\x05\x01", "cluster 2", screenshot=None).label
    'cluster 2'
    """

    record: list[float]
    report: bytes
    label: str
    screenshot: bytes | None

    @property
    def cluster(self) -> int | None:
        """Number of the cluster that the page shows; None if it shows none."""
        numbers = [int(word) for word in self.label.replace(":", " ").split() if word.isdecimal()]
        return numbers[0] if numbers else None


def find_browser() -> str | None:
    """Return the path of Chromium, from the environment variable CHROME or by its usual names.

    Examples
    --------
    >>> from shoal.experiments import find_browser
    >>> path = find_browser()
    >>> path is None or path.startswith("/")
    True
    """
    named = os.environ.get(VARIABLE)
    return next(filter(None, map(shutil.which, [named] if named else NAMES)), None)


class BrowserDevice:
    """A device of the demo that is a web page, shown by a headless browser.

    Parameters
    ----------
    browser : str
        Path of Chromium.
    server : ThreadingHTTPServer
        Server of the page, on the loopback interface.
    folder : Path
        Folder for all files of the browser; its creator removes it.

    Examples
    --------
    >>> from shoal.experiments import serve_page
    >>> with serve_page("/usr/bin/chromium") as device:
    ...     print(device.answer("/no-such-file"))
    None
    """

    def __init__(self, browser: str, server: ThreadingHTTPServer, folder: Path) -> None:
        self.origin = f"http://127.0.0.1:{server.server_port}"
        self._browser = browser
        self._folder = folder
        self._files = {f"/{path.name}": path.read_bytes() for path in browser_modules()}
        self._told: queue.Queue[dict[str, str]] = queue.Queue()
        self._has_results, self._is_whole = threading.Event(), threading.Event()
        self._process: subprocess.Popen[bytes] | None = None
        self._policy = ""
        self._record: list[float] = []
        self._last: dict[str, str] = {}

    def open(self, results: str, given: TakingPart, record: Floats) -> None:
        """Start the browser on the page, which sends the report of a record.

        Parameters
        ----------
        results : str
            Address where results will be published.
        given : TakingPart
            What every device needs to take part.
        record : ndarray of shape (d,)
            The record to type in.
        """
        self._record = record.tolist()
        named = {
            "campaign": given.document,
            "key": given.public_key,
            "ingest-key": given.ingest_key,
        }
        attributes = " ".join(f'{name}="{escape(value)}"' for name, value in named.items())
        asked = " ".join(sorted({_origin(given.document), _origin(results)}))
        self._policy = (
            "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
            f"base-uri 'none'; form-action 'none'; connect-src 'self' {asked}"
        )
        self._files |= {
            "/": PAGE.format(attributes=attributes, held=HELD[1:]).encode(),
            "/page.css": STYLE.encode(),
            "/visit.js": VISIT.format(record=json.dumps(self._record)).encode(),
        }
        self._process = self._start()

    def wait_until_sent(self) -> str | None:
        """Wait until the report has arrived; return None, or the reason why it has not."""
        return self._wait_for(SENT)

    def find_cluster(self) -> PageVisit | str:
        """Let the page fetch the results; return what it shows, or the reason why it cannot."""
        self._has_results.set()
        problem = self._wait_for(LABELED)
        if problem is not None:
            return problem
        self._is_whole.set()
        report = bytes.fromhex(self._last["report"])
        return PageVisit(self._record, report, self._last["label"], self._screenshot())

    def answer(self, path: str) -> tuple[bytes, str] | None:
        """Return the content of a path and its media type; some paths wait for an event."""
        if path == RESULTS:
            self._has_results.wait()
            return b"", "text/plain"
        if path == HELD:
            self._is_whole.wait()
            return b'<svg xmlns="http://www.w3.org/2000/svg"/>', KINDS[".svg"]
        body = self._files.get(path)
        return None if body is None else (body, KINDS.get(Path(path).suffix, "text/html"))

    def note(self, told: bytes) -> None:
        """Record what the page reports that it shows."""
        with suppress(ValueError, AttributeError):
            plain = json.loads(told)
            self._told.put({name: str(plain.get(name, "")) for name in TOLD})

    @property
    def policy(self) -> str:
        """Content security policy of the page."""
        return self._policy

    def stop(self) -> None:
        """Stop the browser with all its processes, and everything that waits for it."""
        self._has_results.set()
        self._is_whole.set()
        if self._process is not None:
            _end(self._process)

    def _start(self) -> "subprocess.Popen[bytes]":
        # As root it has no sandbox; of all pages it opens the own one alone.
        as_root = hasattr(os, "geteuid") and os.geteuid() == 0
        unboxed = ["--no-sandbox"] if as_root else []
        folder = str(self._folder)
        return subprocess.Popen(
            [
                self._browser,
                *FLAGS,
                *unboxed,
                f"--user-data-dir={folder}/profile",
                f"--screenshot={self._picture}",
                f"{self.origin}/",
            ],
            env={**_without_desktop(os.environ), "HOME": folder, "TMPDIR": folder},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            **OWN_GROUP,  # ended as a whole, and not by Ctrl-C before the devices
        )

    def _wait_for(self, state: str) -> str | None:
        end = time.monotonic() + SECONDS
        process = self._process
        while process is not None and process.poll() is None and time.monotonic() < end:
            with suppress(queue.Empty):
                self._last = self._told.get(timeout=0.2)
                if self._last["state"] == state:
                    return None
                return f"the page is in the state {self._last['state']!r}"
        ended = process is None or process.poll() is not None
        return "the browser ended" if ended else f"the browser took more than {SECONDS:g} s"

    def _screenshot(self) -> bytes | None:
        """Wait for the browser to make its picture and end."""
        assert self._process is not None
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(SECONDS)
        return self._picture.read_bytes() if self._picture.is_file() else None

    @property
    def _picture(self) -> Path:
        return self._folder / "page.png"


@contextmanager
def serve_page(browser: str) -> Iterator[BrowserDevice]:
    """Serve a page for a browser within a ``with`` block; no process or file is left after it.

    Examples
    --------
    >>> from shoal.experiments import serve_page
    >>> with serve_page("/usr/bin/chromium") as device:
    ...     print(type(device).__name__)
    BrowserDevice
    """
    with ExitStack() as stack:
        folder = tempfile.TemporaryDirectory(prefix="shoal-page-", ignore_cleanup_errors=True)
        path = Path(stack.enter_context(folder))
        server = _PageServer(("127.0.0.1", 0), BaseHTTPRequestHandler)
        stack.callback(server.server_close)
        device = BrowserDevice(browser, server, path)
        server.RequestHandlerClass = _handler(device)
        thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        stack.callback(thread.join)
        stack.callback(server.shutdown)
        stack.callback(device.stop)
        yield device


class _PageServer(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_args: Any) -> None:
        """Write nothing: a browser that ends lets connections go."""


def _handler(device: BrowserDevice) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            found = device.answer(urlsplit(self.path).path)
            body, kind = found or (b"", "text/plain")
            self._send(200 if found else 404, body, kind)

        def do_POST(self) -> None:
            size = self.headers.get("Content-Length", "")
            if not size.isdecimal() or int(size) > MAX_TOLD:
                self._send(413, b"", "text/plain")
                return
            device.note(self.rfile.read(int(size)))
            self._send(204, b"", "text/plain")

        def _send(self, status: int, body: bytes, kind: str) -> None:
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.send_header("Content-Security-Policy", device.policy)
            self.send_header("Cache-Control", "no-store")
            self.end_headers()
            with suppress(OSError):  # of a browser that is gone
                self.wfile.write(body)

        def log_message(self, *_args: Any) -> None:
            """Write nothing."""

    return Handler


def _end(process: "subprocess.Popen[bytes]") -> None:
    """End a browser and wait until all its processes are gone: one left would write files."""
    end = time.monotonic() + 5.0
    while kill_group(process.pid) and time.monotonic() < end:
        process.poll()
        time.sleep(0.02)
    process.wait()


def _without_desktop(environment: "os._Environ[str]") -> dict[str, str]:
    """Leave out where a browser finds the files and the messages of its user."""
    return {
        name: value for name, value in environment.items() if not name.startswith(("XDG_", "DBUS_"))
    }


def _origin(address: str) -> str:
    parts = urlsplit(address)
    return f"{parts.scheme}://{parts.netloc}"
