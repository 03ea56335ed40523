"""Pictures of the site's pages: wide and narrow, light and dark.

`make docs`, then `python tools/site_screenshots.py` writes PNG files into build/site-screenshots.
It needs Chromium and the packages of the tests. Names of pages as arguments take those alone. It
says which pages are wider than the screen.
"""

import argparse
import functools
import http.server
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from helpers.browser import chromium  # noqa: E402

OUT = ROOT / "build/site-screenshots"
SITE = ROOT / "build/docs"
SIZES = {"wide": {"width": 1400, "height": 900}, "narrow": {"width": 390, "height": 844}}
SCHEMES = ("light", "dark")
PAGES = {
    "landing": "index.html",
    "choose": "choose.html",
    "guide": "central.html",
    "gallery": "auto_examples/index.html",
    "proof": "proofs/composition.html",
    "api": "api/shoal.cluster.DPKMeans.html",
}
PATIENCE = 120_000  # milliseconds
MAX_HEIGHT = 2400  # pixels of a page that are taken
TOO_WIDE = "document.documentElement.scrollWidth > document.documentElement.clientWidth"


def main() -> None:
    """Take all pictures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="Pages to take; all if left out.")
    parser.add_argument("--out", type=Path, default=OUT)
    parser.add_argument("--site", type=Path, default=SITE, help="Where the site was built.")
    asked = parser.parse_args()
    asked.out.mkdir(parents=True, exist_ok=True)
    with serving(asked.site) as address, chromium() as browser:
        for name, path in PAGES.items():
            if asked.names and name not in asked.names:
                continue
            for size, viewport in SIZES.items():
                for scheme in SCHEMES:
                    page = browser.new_page(viewport=viewport, color_scheme=scheme)
                    page.set_default_timeout(PATIENCE)
                    page.on("requestfailed", lambda request: print(f"failed: {request.url}"))
                    page.on("pageerror", lambda error: print(f"error: {error}"))
                    page.goto(f"{address}/{path}", wait_until="networkidle")
                    height = min(page.evaluate("document.body.scrollHeight"), MAX_HEIGHT)
                    page.set_viewport_size({**viewport, "height": height})
                    file = asked.out / f"{name}-{size}-{scheme}.png"
                    page.screenshot(path=file)
                    wide = " is wider than the screen" if page.evaluate(TOO_WIDE) else ""
                    print(f"{file}{wide}", flush=True)
                    page.close()


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        """Say nothing of requests."""


@contextmanager
def serving(folder: Path) -> Iterator[str]:
    """Serve a folder on this machine while the block lasts."""
    handler = functools.partial(_Quiet, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


if __name__ == "__main__":
    main()
