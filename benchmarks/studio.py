"""The studio in Chromium: when its first page can be used, and when a slider's picture is there.

`python benchmarks/studio.py` starts a studio from this tree, and needs Chromium and the packages of
the tests. A first page can be used when its field for files takes one; a picture is there when the
frame that follows the answer is painted, counted from the event of the slider.
"""

import argparse
import os
import statistics
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from helpers.browser import chromium, visiting  # noqa: E402
from helpers.studio import studio_here  # noqa: E402

FIRST = 1000.0  # milliseconds
PICTURE = 200.0
USABLE = """() => new Promise((done) => {
  const look = () => document.querySelector("main input[type=file]:not(:disabled)")
    ? done(performance.now()) : requestAnimationFrame(look);
  look();
})"""
EXPLORED = 'studio-explore[data-whole="true"]'


def main() -> None:
    """Print medians and 95th percentiles."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=5_000)
    parser.add_argument("--moves", type=int, default=30)
    parser.add_argument("--visits", type=int, default=10)
    asked = parser.parse_args()
    print(f"load of this machine, 1 minute: {os.getloadavg()[0]:.1f}, {os.cpu_count()} cores")
    with studio_here() as here, chromium() as browser:
        here.client.get("/charts.js").raise_for_status()  # made once for each version of Vega
        show("first page usable, new browser", first_pages(browser, here, asked.visits), FIRST)
        for name in ("customers", "gaussians"):
            asked_for = {"name": name, "n": asked.records}
            table = here.client.post("/api/tables/dataset", json=asked_for).json()["id"]
            path = f"/api/tables/{table}/settings"
            here.client.post(path, json={"n_guess": asked.records}).raise_for_status()
            times = slider(browser, f"{here.address}/explore?table={table}", asked.moves)
            show(f"slider to picture, {name}, {asked.records:,} records", times, PICTURE)


def show(what: str, times: list[float], target: float) -> None:
    """Print one line."""
    median = statistics.median(times)
    high = statistics.quantiles(times, n=20)[-1]
    kept = "kept" if high <= target else "missed"
    print(
        f"{what:<52} median {median:6.0f} ms   95% {high:6.0f} ms   largest {max(times):6.0f} ms   "
        f"target {target:.0f} ms: {kept}",
        flush=True,
    )


def first_pages(browser: Any, here: Any, visits: int) -> list[float]:
    """Return milliseconds from a navigation until a file can be dropped, in new contexts."""
    times = []
    for _ in range(visits):
        with visiting(browser) as visit:
            page = visit.open(here.address)
            times.append(page.evaluate(USABLE))
    return times


def slider(browser: Any, address: str, moves: int) -> list[float]:
    """Return milliseconds from each move of the slider until its picture is painted."""
    times = []
    with visiting(browser, viewport={"width": 1440, "height": 900}) as visit:
        page = visit.open(address)
        page.set_default_timeout(60_000)
        page.wait_for_selector(EXPLORED)
        page.get_by_label("Privacy: epsilon").focus()
        for move in range(moves + 3):
            shown = page.locator("studio-explore")
            before = shown.get_attribute("data-epsilon")
            page.keyboard.press("ArrowRight" if move % 20 < 10 else "ArrowLeft")
            page.wait_for_selector(f'studio-explore:not([data-epsilon="{before}"])')
            if move >= 3:  # the first ones load what they need
                times.append(float(shown.get_attribute("data-milliseconds") or "nan"))
            page.wait_for_selector(EXPLORED)
            time.sleep(0.05)  # a hand is not quicker
    return times


if __name__ == "__main__":
    main()
