"""The frame of all pages: the address is the state, a lost studio comes back, all can use it."""

import re

import pytest
from axe_playwright_python.sync_playwright import Axe

from helpers.browser import visiting
from helpers.postgres import free_port
from helpers.studio import client, studio_here

NAMES = ["Table", "Explore", "Release", "Trade-off", "Shapes", "Campaigns", "Audit", "Ledger"]
NARROW = {"width": 390, "height": 844}
GONE = "This table is gone"


@pytest.fixture(scope="module")
def table(studio):
    with client(studio) as opened:
        return opened.post("/api/tables/dataset", json={"name": "customers", "n": 200}).json()


def heading(page, words=None):
    found = page.get_by_role("heading", level=1)
    found.wait_for()
    if words is not None:
        found.filter(has_text=words).wait_for()
    return found.inner_text()


def current(page):
    return page.locator("nav [aria-current]").inner_text()


def test_back_forward_and_reload_find_the_page_and_its_table(visit, studio, table):
    page = visit.open(f"{studio}/ledger?table={table['id']}")
    heading(page)
    page.get_by_role("link", name="Release", exact=True).click()
    page.wait_for_url(f"**/release?table={table['id']}")
    page.locator("studio-release h1").wait_for()  # the address changes before the page does
    release = heading(page)
    assert (current(page), page.title()) == ("Release", "Release · shoal studio")
    page.go_back()
    page.wait_for_url("**/ledger?**")
    page.locator("studio-ledger h1").wait_for()
    assert (heading(page) != release, current(page)) == (True, "Ledger")
    page.go_forward()
    page.wait_for_url("**/release?**")
    page.reload()
    assert (heading(page), current(page)) == (release, "Release")
    page.get_by_role("link", name=re.compile("shoal studio")).click()
    page.wait_for_url(f"{studio}/")
    page.locator("nav [aria-current]", has_text="Table").wait_for()
    assert visit.hosts == {studio.removeprefix("http://")}


def test_two_tabs_have_states_of_their_own(visit, studio, table):
    first = visit.open(f"{studio}/ledger?table={table['id']}")
    second = visit.open(f"{studio}/ledger?table=none")
    assert heading(second) == GONE
    assert heading(first) != GONE
    first.get_by_role("link", name="Release", exact=True).click()
    first.wait_for_url("**/release?**")
    assert second.url.endswith("/ledger?table=none")


def test_the_header_says_which_table_and_what_is_left(visit, studio, api):
    table = api.post("/api/tables/dataset", json={"name": "customers", "n": 200}).json()
    page = visit.open(f"{studio}/ledger?table={table['id']}")
    chip = page.locator("studio-table-chip a")
    chip.wait_for()
    assert chip.get_attribute("aria-label") == "Table customers: its ledger has no limit yet"
    answer = api.post(f"/api/tables/{table['id']}/ledger", json={"epsilon": 3.0})
    assert answer.status_code == 200, answer.text
    page.reload()
    page.locator("studio-table-chip a", has_text="ε 3 left").wait_for()
    page.get_by_role("link", name=re.compile("shoal studio")).click()
    chip.wait_for(state="detached")


def test_a_lost_studio_is_told_and_found_again(browser):
    port = free_port()  # one that no connection is given while nobody listens
    with visiting(browser) as visit:
        with studio_here(port=port) as here:
            table = here.client.post("/api/tables/dataset", json={"name": "line", "n": 50}).json()
            page = visit.open(f"{here.address}/ledger?table={table['id']}")
            heading(page)
            page.evaluate("window.kept = true")
        banner = page.locator("#banner")
        page.get_by_role("link", name="Release", exact=True).click()
        banner.get_by_role("button", name="Try again").wait_for()
        assert banner.get_attribute("role") == "status"
        page.go_back()
        banner.get_by_text("The studio is not responding.").wait_for()
        with studio_here(port=port):
            heading(page, GONE)  # tables are in memory alone
            assert banner.inner_text() == ""
            assert page.evaluate("window.kept")  # without a reload: what was typed stays
            page.get_by_role("link", name="Release", exact=True).click()
            page.wait_for_url("**/release?**")
            heading(page, GONE)


def test_by_keyboard(visit, studio):
    page = visit.open(f"{studio}/ledger")
    heading(page)
    seen = []
    for _ in range(10):
        page.keyboard.press("Tab")
        seen.append(page.evaluate("document.activeElement.textContent.trim()"))
    assert seen == ["Skip to the page", "shoal studio", *NAMES]
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "Colors"
    page.get_by_role("link", name="Skip to the page").focus()
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.localName") == "h1"
    assert page.url == f"{studio}/ledger"
    page.get_by_role("link", name="Release", exact=True).focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**/release")
    page.locator("h1:focus").wait_for()


def test_landmarks(visit, studio):
    page = visit.open(f"{studio}/ledger")
    heading(page)
    for role in ("banner", "main", "contentinfo"):
        assert page.get_by_role(role).count() == 1
    assert page.get_by_role("navigation", name="Pages").count() == 1
    assert page.locator("html").get_attribute("lang") == "en"


def test_colors_are_kept_and_the_same_in_all_tabs(visit, studio):
    page = visit.open(f"{studio}/ledger")
    heading(page)
    other = visit.open(f"{studio}/release")
    heading(other)
    ground = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(ground)
    page.get_by_label("Colors").select_option("dark")
    dark = page.evaluate(ground)
    assert dark != light
    other.locator('html[data-theme="dark"]').wait_for(state="attached")
    assert other.evaluate(ground) == dark
    page.reload()
    heading(page)
    assert (page.evaluate(ground), page.get_by_label("Colors").input_value()) == (dark, "dark")
    page.get_by_label("Colors").select_option("auto")
    page.emulate_media(color_scheme="dark")
    assert page.evaluate(ground) == dark
    page.get_by_label("Colors").select_option("light")
    assert page.evaluate(ground) == light


@pytest.mark.parametrize("scheme", [pytest.param("light", marks=pytest.mark.full), "dark"])
def test_nothing_overflows_on_a_narrow_screen(browser, studio, table, scheme):
    with visiting(browser, viewport=NARROW, color_scheme=scheme) as visit:
        page = visit.open(f"{studio}/ledger?table={table['id']}")
        heading(page)
        assert page.evaluate("document.documentElement.scrollWidth") == NARROW["width"]
        for name in NAMES:
            link = page.get_by_role("link", name=name, exact=True)
            link.scroll_into_view_if_needed()
            box = link.bounding_box()
            assert box["x"] >= 0
            assert box["x"] + box["width"] <= NARROW["width"] + 1
            assert box["height"] >= 30
        # The page that is open is in sight without scrolling.
        page.reload()
        heading(page)
        box = page.locator("nav [aria-current]").bounding_box()
        assert box["x"] + box["width"] <= NARROW["width"]
        serious = [
            one["id"]
            for one in Axe().run(page).response["violations"]
            if one["impact"] in ("serious", "critical")
        ]
        assert serious == []
