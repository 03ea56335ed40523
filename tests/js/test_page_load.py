"""The built modules in Chromium: what a page loads to send a report, and parts that do not load."""

import re
import subprocess

import pytest

from helpers.browser import visiting
from helpers.campaigns import KEY
from helpers.javascript import CLIENT, node_or_skip
from shoal.campaigns import SealingKey, Shuffler
from shoal.mechanisms import (
    Duchi,
    Hybrid,
    Laplace,
    PartitionResponse,
    Piecewise,
    PlanarLaplace,
    SphericalLaplace,
    SquareWave,
)
from shoal.schema import Number, Schema

PAGE = "<!doctype html><title>Built</title>"
REPORT = """async ([url, publicKey, record]) => {
  const { Device, IndexedDbStore } = await import("/js/dist/shoal-device.js");
  const device = await Device.open({ store: new IndexedDbStore("built"), publicKey });
  try {
    await device.join(url);
    const { sent } = await device.report(record);
    return sent ? "sent" : "kept";
  } catch (refused) {
    return `${refused.code}: ${refused.message}`;
  }
}"""
KEPT_REPORTS = """() => new Promise((resolve) => {
  const opening = indexedDB.open("built");
  opening.onsuccess = () => {
    const asking = opening.result.transaction("device").objectStore("device").get(0);
    asking.onsuccess = () => {
      opening.result.close();
      resolve(asking.result.reports.length);
    };
  };
})"""
SQUARE = ([0.0, 0.0], [1.0, 1.0])
AGES = Schema([Number("age", minimum=0, maximum=120, missing="refuse")])
MECHANISMS = {
    "Duchi": (Duchi(1.0, bounds=SQUARE), [0.2, 0.7]),
    "Hybrid": (Hybrid(1.0, bounds=SQUARE), [0.2, 0.7]),
    "Laplace": (Laplace(1.0, bounds=SQUARE), [0.2, 0.7]),
    "PartitionResponse": (PartitionResponse(1.0, bounds=SQUARE), [0.2, 0.7]),
    "Piecewise": (Piecewise(1.0, bounds=SQUARE), [0.2, 0.7]),
    "PlanarLaplace": (PlanarLaplace(1.0, bounds=SQUARE), [0.2, 0.7]),
    "SphericalLaplace": (SphericalLaplace(1.0, bounds=([0.0] * 3, [1.0] * 3)), [0.2, 0.7, 0.5]),
    "SquareWave": (SquareWave(1.0, bounds=SQUARE), [0.2, 0.7]),
}


@pytest.fixture(scope="module")
def built():
    """Return the sizes that `npm run size` prints of the modules that it builds, by mechanism."""
    node_or_skip()
    if not (CLIENT / "node_modules").is_dir():
        pytest.skip("no node_modules in clients/js: nothing is built; run npm ci there")
    command = ["npm", "run", "--silent", "size"]
    done = subprocess.run(command, cwd=CLIENT, capture_output=True, text=True, check=True)
    rows = re.findall(r"^(\w+) +(\d+) +(\d+) +(\d+) +(\d+)$", done.stdout, re.MULTILINE)
    return {name: tuple(map(int, sizes)) for name, *sizes in rows}


def test_what_a_page_loads_is_small(built):
    """The sizes are those that the client's own page tells."""
    assert built.keys() == MECHANISMS.keys()
    assert all(plain < 20_000 for plain, *_ in built.values())
    told = (CLIENT / "README.md").read_text(encoding="utf-8")
    assert {f"{size:,}" for sizes in built.values() for size in sizes} <= set(told.split())


def loaded(visit):
    """Return the names of the built modules that were asked for."""
    return [one.rpartition("/")[2] for one in visit.addresses if "/js/dist/" in one]


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(
            name, marks=() if name in ("Laplace", "PartitionResponse") else pytest.mark.full
        )
        for name in MECHANISMS
    ],
)
def test_what_a_page_loads_to_send_a_report(browser, ask, built, name):
    mechanism, record = MECHANISMS[name]
    question = ask(mechanism=mechanism)
    question.files.texts["/empty.html"] = PAGE
    with visiting(browser) as visit:
        page = visit.open(f"{question.files.address}/empty.html")
        assert page.evaluate(REPORT, [question.document, str(KEY.public), record]) == "sent"
        names = loaded(visit)
    assert len(names) == len(set(names))
    total = sum((CLIENT / "dist" / one).stat().st_size for one in names)
    assert total == built[name][0] < 20_000
    assert len(question.stored) == question.campaign.report_format.width


@pytest.mark.parametrize("missing", ["partitions", "hpke", "schema"])
def test_a_part_that_does_not_load_costs_nothing(browser, ask, built, missing, files):
    """The page is asked twice: with a part of the client that is not there, and with all of it."""
    shuffler = Shuffler("Open Relay", 100, str(SealingKey.new().public))
    changed = {
        "partitions": {},
        "hpke": {"shuffler": shuffler, "reports_url": f"{files.address}/relay"},
        "schema": {"mechanism": PartitionResponse(1.0, schema=AGES)},
    }[missing]
    question = ask(**changed)
    files.texts["/empty.html"] = PAGE
    record = [41.0] if missing == "schema" else [0.2, 0.7]
    given = [question.document, str(KEY.public), record]
    taken = {"status": 201, "json": {"stored": 1, "duplicate": False}}
    with visiting(browser) as visit:
        visit.context.route("**/relay", lambda route: route.fulfill(**taken))
        page = visit.open(f"{files.address}/empty.html")
        page.route(f"**/dist/{missing}.js", lambda route: route.abort())
        told = page.evaluate(REPORT, given)
        assert told.startswith("campaign: all files of the client must be served")
        assert page.evaluate(KEPT_REPORTS) == 0
        assert question.stored == b""
        page.unroute(f"**/dist/{missing}.js")
        page.reload()
        assert page.evaluate(REPORT, given) == "sent"
        assert page.evaluate(KEPT_REPORTS) == 1
