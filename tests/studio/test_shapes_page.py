"""The page Shapes, as it is used: by keyboard, by its address, on a phone."""

import re
from urllib.parse import parse_qs, urlsplit

import pytest

from helpers.studio import studio_here
from shoal.privacy import Ledger
from shoal.schema import Category, Number, Schema

SCHEMA = Schema(
    [
        Number("age", minimum=18, maximum=98, unit="years"),
        Number("income", minimum=0, maximum=200_000, scale="log"),
        Category("city", ["A", "B"]),
    ]
)


@pytest.fixture(scope="module")
def here():
    with studio_here() as running:
        yield running


@pytest.fixture(scope="module")
def table(here):
    held = here.workspace.add("people", "made-up", {}, SCHEMA)
    held.ledger = Ledger(epsilon=3.0)
    # The first chart of a process loads what draws it.
    rings = {"source": "shapes", "shape": "rings"}
    here.client.post(f"/api/tables/{held.id}/shapes", json=rings, timeout=60).raise_for_status()
    return held


@pytest.fixture
def open_shapes(here, table, visit):
    """Open the page with a state, and wait for its chart."""

    def open_page(**state):
        query = "&".join(f"{name}={value}" for name, value in state.items())
        page = visit.open(f"{here.address}/shapes?table={table.id}&{query}")
        page.wait_for_selector("studio-chart[data-clusters]")
        return page

    return open_page


def state(page):
    return {name: value[0] for name, value in parse_qs(urlsplit(page.url).query).items()}


def wait_for(page, words):
    page.get_by_text(re.compile(words)).first.wait_for()


def test_thresholds_by_keyboard_change_the_clusters_and_cost_nothing(open_shapes, table, visit):
    page = open_shapes(source="shapes", shape="rings")
    wait_for(page, "^2 clusters at epsilon 1. This is what DPDensity chooses by itself")
    assert page.get_by_text("Shown: generated shapes").is_visible()
    assert page.get_by_text("This costs nothing: it uses only what was released.").is_visible()
    drawn = int(page.locator("studio-chart").get_attribute("data-drawn"))
    level = page.get_by_label("Cut the tree at this density")
    level.focus()
    for _ in range(4):
        page.keyboard.press("PageUp")
    wait_for(page, "Without settings, DPDensity chooses 2 clusters")
    page.keyboard.press("End")
    wait_for(page, "^[01] clusters? at epsilon 1")
    assert float(state(page)["level"]) > 0
    assert int(page.locator("studio-chart").get_attribute("data-drawn")) > drawn
    assert page.locator("studio-chart canvas").count() == 1
    page.get_by_label("Probability of any false cluster").press("ArrowLeft")
    assert page.wait_for_function("location.search.includes('alpha=0.02')")
    page.get_by_role("button", name="Automatic").press("Enter")
    wait_for(page, "^2 clusters at epsilon 1. This is what DPDensity chooses by itself")
    assert "level" not in state(page)
    assert "alpha" not in state(page)
    assert table.ledger.entries == ()
    assert visit.hosts == {urlsplit(page.url).netloc}


def test_the_address_is_the_state(open_shapes):
    page = open_shapes(source="shapes", shape="rings", level=1.5)
    page.get_by_label("Records", exact=True).select_option("made-up")
    wait_for(page, "Shown: made-up records of your schema")
    assert "level" not in state(page)
    page.get_by_label("Epsilon of the density").press("ArrowRight")
    wait_for(page, "at epsilon 1.5")
    assert state(page)["epsilon"] == "1.5"
    page.reload()
    wait_for(page, "at epsilon 1.5")
    assert page.get_by_label("Records", exact=True).input_value() == "made-up"
    page.go_back()
    wait_for(page, "Shown: generated shapes")
    assert state(page)["level"] == "1.5"
    assert page.get_by_label("Cut the tree at this density").input_value() != "0"
    page.get_by_role("checkbox", name="income").uncheck()
    page.wait_for_function("location.search.includes('columns=0')")
    wait_for(page, "Generated shapes need two columns")
    page.go_back()
    wait_for(page, "Shown: generated shapes")
    with page.expect_download() as saved:
        page.get_by_role("button", name="Outlines (GeoJSON)").click()
    assert saved.value.suggested_filename == "shapes-rings-age-income.geojson"


def test_a_table_without_numbers_has_a_clear_line(here, visit):
    words = here.workspace.add("words", "made-up", {}, Schema([Category("city", ["A", "B"])]))
    page = visit.open(f"{here.address}/shapes?table={words.id}")
    wait_for(page, "features is a number, date or place")


def test_on_a_phone_and_for_a_screen_reader(open_shapes):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    page = open_shapes(source="shapes", shape="rings")
    rules = {"resultTypes": ["violations"]}
    found = axe.run(page, options=rules).response["violations"]
    assert [one["id"] for one in found if one["impact"] in ("serious", "critical")] == []
    label = page.locator("studio-chart").get_attribute("aria-label")
    assert "2 clusters" in label
    page.set_viewport_size({"width": 390, "height": 844})
    page.reload()
    page.wait_for_selector("studio-chart[data-clusters]")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
