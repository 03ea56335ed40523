"""Pictures of every page of the studio: wide and narrow, light and dark.

`python tools/studio_screenshots.py` starts a studio, opens data sets, buys what pages show, and
writes PNG files into build/screenshots. It needs Chromium and the packages of the tests. Names of
pages as arguments take those alone.
"""

import argparse
import sys
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from helpers.browser import chromium, visiting  # noqa: E402
from helpers.studio import StudioHere, studio_here  # noqa: E402

OUT = ROOT / "build/screenshots"
SIZES = {"wide": {"width": 1440, "height": 900}, "narrow": {"width": 390, "height": 844}}
SCHEMES = ("light", "dark")
DOCS = ["studio-explore", "studio-shapes", "studio-trade-off"]
PATIENCE = 180_000  # milliseconds; an audit or a comparison takes its time
DRAWN = "studio-chart[data-drawn]"
COMPARED = 'studio-trade-off[data-state="done"] studio-chart[data-drawn]'


@dataclass(frozen=True)
class Shot:
    """One page to be taken: where it is, and what is done there first."""

    name: str
    path: str
    ready: str = "h1"  # what is waited for
    act: Callable[[Any], None] | None = None  # the first time alone


def main() -> None:
    """Take all pictures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="Pages to take; all if left out.")
    parser.add_argument("--out", type=Path, default=OUT)
    parser.add_argument("--docs", action="store_true", help="Take those of docs/images again.")
    asked = parser.parse_args()
    if asked.docs:
        asked.names, asked.out = DOCS, ROOT / "docs/images"
    asked.out.mkdir(parents=True, exist_ok=True)
    folder = ROOT / "docs/images"
    with studio_here(folders=(folder,)) as here, chromium() as browser:
        here.client.timeout = PATIENCE / 1000
        for shot in pages(here, asked.names):
            if shot.name.startswith("campaign-") and not here.workspace.connect_origins:
                collect(here)
            address, act = f"{here.address}{shot.path}", shot.act
            for size, viewport in SIZES.items():
                for scheme in SCHEMES:
                    if asked.docs and (size, scheme) != ("wide", "light"):
                        continue
                    with visiting(browser, viewport=viewport, color_scheme=scheme) as visit:
                        page = visit.open(address)
                        page.set_default_timeout(PATIENCE)
                        if act is not None:
                            act(page)
                        page.wait_for_selector(shot.ready)
                        page.wait_for_load_state("networkidle")
                        address, act = page.url, None
                        page.evaluate("scrollTo(0, 0)")
                        kind = "" if asked.docs else f"-{size}-{scheme}"
                        file = asked.out / f"{shot.name}{kind}.png"
                        page.screenshot(path=file, full_page=not asked.docs)
                        print(file.relative_to(ROOT), flush=True)


def pages(here: StudioHere, wanted: Collection[str]) -> list[Shot]:
    """Prepare tables, and return the pages that show them."""
    customers = open_dataset(here, "customers", 5_000)
    spirals = open_dataset(here, "spirals", 5_000)
    bare = upload(here)
    limit(here, customers, 5.0)
    limit(here, spirals, 3.0)
    explored = 'studio-explore[data-whole="true"]'
    shots = [
        Shot("campaigns", "/campaigns"),
        Shot("table-open", "/"),
        Shot("table-names", f"/?table={bare}"),
        Shot("table-described", f"/?table={customers}"),
        Shot("explore", f"/explore?table={customers}", explored),
        Shot("explore-shapes", f"/explore?table={spirals}", explored),
        Shot("explore-own", f"/explore?table={spirals}", explored, show_own),
        Shot("release", f"/release?table={customers}", "#agree"),
        Shot("release-done", f"/release?table={customers}", DRAWN, buy),
        Shot("trade-off", f"/trade-off?table={customers}"),
        Shot("trade-off-done", f"/trade-off?table={spirals}", COMPARED, compare),
        Shot("shapes", f"/shapes?table={spirals}&source=shapes", DRAWN),
        Shot("shapes-made-up", f"/shapes?table={customers}", DRAWN),
        Shot("audit", f"/audit?table={customers}"),
        Shot("audit-done", f"/audit?table={customers}&method=DPKMeans-grid", DRAWN, audit),
        Shot("ledger", f"/ledger?table={customers}"),
        Shot("studio-explore", f"/explore?table={customers}&y=visits&epsilon=2", explored),
        Shot("studio-shapes", f"/shapes?table={spirals}&source=shapes", DRAWN),
        Shot("studio-trade-off", f"/trade-off?table={customers}", COMPARED, compare),
        Shot("gone", "/explore?table=none"),
        Shot("without-table", "/explore"),
    ]
    campaigns = [
        Shot("campaign-list", "/campaigns"),  # from here on with a collector
        Shot("campaign-new", "/campaigns?new=1"),
        Shot("campaign-results", "/campaigns?campaign=homes&version=1", DRAWN),
    ]
    shots += campaigns
    return [one for one in shots if not wanted or one.name in wanted]


def collect(here: StudioHere) -> None:
    """Run a collector with a campaign, devices that reported, and an analysis."""
    started = follow(here, here.client.post("/api/campaigns/collector", json={}).json())
    box = {"minimum": 0.0, "maximum": 20.0}
    asked = {
        **{"id": "homes", "title": "Where people live", "purpose": "Plan bus lines."},
        **{"columns": [{"name": "east", **box}, {"name": "north", **box}]},
        **{"epsilon": 3.0, "clusters": 3, "closes": "2099-01-01"},
        **{"url": started["address"], "origins": [here.address]},
    }
    here.client.post("/api/campaigns", json=asked).raise_for_status()
    path = "/api/campaigns/homes"
    follow(here, here.client.post(f"{path}/devices", json={"devices": 2_000}).json())
    here.client.post(f"{path}/analyses", json={"method": "noise-aware", "clusters": 3})
    while "done" not in {one["state"] for one in here.client.get(path).json()["analyses"]}:
        time.sleep(0.2)


def follow(here: StudioHere, job: dict[str, Any]) -> dict[str, Any]:
    """Wait for a job, and return its result."""
    while job["state"] == "running":
        time.sleep(0.1)
        job = here.client.get(f"/api/jobs/{job['id']}").json()
    if job["state"] != "done":
        raise SystemExit(f"{job['kind']}: {job}")
    return dict(job["result"])


def open_dataset(here: StudioHere, name: str, n: int) -> str:
    """Open a generated data set; return its identifier."""
    answer = here.client.post("/api/tables/dataset", json={"name": name, "n": n})
    return str(answer.raise_for_status().json()["id"])


def upload(here: StudioHere) -> str:
    """Send a file whose columns are not described yet."""
    rows = [f"{20 + n % 50},Turku,2020-01-0{1 + n % 9}" for n in range(99)]
    lines = "\n".join(["age,city,since", *rows])
    answer = here.client.post(
        "/api/tables/upload?name=people.csv&header=true",
        content=lines.encode(),
        headers={"Content-Type": "application/octet-stream"},
    )
    return str(answer.raise_for_status().json()["id"])


def limit(here: StudioHere, table: str, epsilon: float) -> None:
    """Set the limit of a table."""
    here.client.post(f"/api/tables/{table}/ledger", json={"epsilon": epsilon}).raise_for_status()


def buy(page: Any) -> None:
    """Order the release whose price is shown."""
    page.locator("#agree").check()
    page.get_by_role("button", name="Spend epsilon").click()


def show_own(page: Any) -> None:
    """Show the own records beside the others."""
    page.get_by_role("button", name="Show my own records").click()
    page.wait_for_selector("img.chart")


def compare(page: Any) -> None:
    """Have a quick look."""
    page.get_by_role("button", name="Quick look").click()


def audit(page: Any) -> None:
    """Run a quick audit."""
    page.get_by_role("button", name="Run the audit").click()


if __name__ == "__main__":
    main()
