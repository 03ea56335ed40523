"""Trade-off in a browser: curves, a point that opens in Explore, reload and cancel, files."""

import re
from urllib.parse import parse_qs, urlsplit

import pytest

from helpers.browser import visiting
from helpers.studio import studio_here
from shoal.plotting._theme import LOOKS
from shoal.schema import Number, Schema

SCHEMA = Schema(
    [Number(name, minimum=0, maximum=100, missing="refuse") for name in ("age", "income")]
)
QUICK = "&methods=DPKMeans-grid,KdLaplace-grid&epsilons=1,8&k=3&runs=2&seed=4"
LONG = "&methods=PartitionResponse&epsilons=1&k=3&runs=100"
DONE = "studio-trade-off [data-job]"
TIMEOUT = 60_000  # the first comparison loads all modules
# A point is the only place with a whole block of its method's color; the legend is below.
FIND_POINT = """(color) => {
  const canvas = document.querySelector("studio-chart canvas");
  canvas.scrollIntoView({ block: "center" });
  const { width, height } = canvas;
  const { data } = canvas.getContext("2d").getImageData(0, 0, width, height);
  const own = (x, y) => color.every((value, i) => data[4 * (y * width + x) + i] === value);
  const around = [-1, 0, 1];
  for (let x = 2; x < width - 2; x++)
    for (let y = 2; y < height * 0.75; y++)
      if (around.every((dx) => around.every((dy) => own(x + dx, y + dy)))) {
        const box = canvas.getBoundingClientRect();
        return [box.x + x * box.width / width, box.y + y * box.height / height];
      }
}"""


@pytest.fixture(scope="module")
def here():
    with studio_here() as started:
        yield started


@pytest.fixture
def address(here):
    table = here.workspace.add("people.csv", "made-up", {}, SCHEMA)
    table.n_guess = 300
    return f"{here.address.rstrip('/')}/trade-off?table={table.id}"


def compare(page):
    page.get_by_text("Choose the settings").click()
    page.get_by_role("button", name="Compare these").click()


def query(page):
    search = page.evaluate("location.search")
    return {name: value for name, (value,) in parse_qs(search.removeprefix("?")).items()}


def violations(page):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    found = axe.run(page).response["violations"]
    return [(one["id"], one["nodes"][0]["html"]) for one in found if one["impact"] != "minor"]


def test_from_settings_to_a_point_in_explore(visit, address):
    page = visit.open(address + QUICK)
    page.set_default_timeout(TIMEOUT)
    compare(page)
    page.wait_for_selector(DONE)
    assert query(page)["methods"] == "DPKMeans-grid,KdLaplace-grid"
    assert query(page)["job"]
    shown = page.locator("studio-trade-off")
    assert "Undecided: 2 runs of each method" in shown.inner_text()
    assert "made-up records of your schema" in shown.inner_text()
    rows = page.get_by_role("region", name="Cost of each method").locator("tbody tr")
    assert rows.count() == 4
    assert violations(page) == []
    for button, name, start in (
        ("PNG", "trade-off.png", b"\x89PNG"),
        ("SVG", "trade-off.svg", b"<svg"),
        ("CSV of all points", "trade-off.csv", b"method,"),
    ):
        with page.expect_download() as loaded:
            page.get_by_role("button", name=button).click()
        assert loaded.value.suggested_filename == name
        assert loaded.value.path().read_bytes().startswith(start)
    link = page.get_by_role("link", name="Explore DPKMeans-grid at epsilon 1", exact=True)
    wanted = link.get_attribute("href")
    page.mouse.click(
        *page.evaluate(FIND_POINT, list(bytes.fromhex(LOOKS["dpkmeans-grid"].color[1:])))
    )
    page.wait_for_url("**/explore?**")
    found = query(page)
    assert page.url.endswith(wanted)
    assert (found["method"], found["epsilon"], found["k"]) == ("DPKMeans-grid", "0.5", "3")
    assert found["source"] == "made-up"
    page.go_back()
    page.wait_for_selector(DONE)
    page.get_by_role("link", name="Explore KdLaplace-grid at epsilon 8", exact=True).press("Enter")
    page.wait_for_url("**/explore?**")
    assert query(page)["method"] == "KdLaplace-grid"
    assert visit.hosts == {urlsplit(address).netloc}


def test_reload_and_cancel_in_the_middle(visit, address, here):
    page = visit.open(address + LONG)
    page.set_default_timeout(TIMEOUT)
    compare(page)
    working = page.get_by_text(re.compile(r"Comparing \([1-9]\d* of 200\)"))
    working.wait_for()
    job = here.workspace.jobs.get(query(page)["job"])
    page.reload()
    working.wait_for()
    assert job.state == "running"
    page.get_by_role("button", name="Cancel").click()
    page.get_by_text("Canceled: ").wait_for()
    assert job.finished.is_set()
    assert job.state == "canceled"
    page.reload()
    page.get_by_text("Canceled: ").wait_for()


def test_a_job_that_is_gone_leaves_its_settings(visit, address):
    page = visit.open(f"{address}{QUICK}&job=0123456789abcdef")
    page.get_by_text("This comparison is gone").wait_for()
    page.get_by_text("Choose the settings").click()
    boxes = page.locator("input[name=method]:checked")
    assert [box.get_attribute("value") for box in boxes.all()] == [
        "DPKMeans-grid",
        "KdLaplace-grid",
    ]
    assert page.get_by_label("Seed").input_value() == "4"
    page.get_by_label("Runs", exact=True).fill("7")
    page.get_by_label("Worst-case epsilons").fill("4, 0.5")
    assert (query(page)["runs"], query(page)["epsilons"]) == ("7", "0.5,4")
    page.get_by_label("Worst-case epsilons").fill("none")
    page.get_by_role("button", name="Compare these").click()
    assert "one to twelve numbers" in page.get_by_role("alert").inner_text()


def test_on_a_telephone(browser, address, here):
    """A comparison that another tab has finished, in the dark."""
    table = parse_qs(urlsplit(address).query)["table"][0]
    settings = {"methods": ["DPKMeans-grid"], "epsilons": [1.0], "clusters": 3, "runs": 5}
    started = here.client.post(f"/api/tables/{table}/trade-off", json=settings).json()
    size = {"width": 390, "height": 844}
    with visiting(browser, viewport=size, color_scheme="dark") as visit:
        page = visit.open(f"{address}&job={started['id']}")
        page.set_default_timeout(TIMEOUT)
        page.wait_for_selector(DONE)
        assert "At a worst-case epsilon of 1, with a curator" in page.inner_text("studio-trade-off")
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        assert violations(page) == []
