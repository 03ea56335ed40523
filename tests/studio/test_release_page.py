"""The page Release in a browser: one spend, whatever is clicked, reloaded or opened twice."""

import json
import re
import time

import pytest

from helpers.browser import visiting
from helpers.studio import studio_here
from helpers.studio_tables import ROWS, WatchedColumns, people
from shoal.privacy import Release

PRICE = ".price button.main"
RELEASED = ".released"
DRAWN = ".released studio-chart[data-drawn]"


@pytest.fixture(scope="module")
def here():
    """Yield one studio in this process."""
    with studio_here() as opened:
        yield opened


class Shop:
    """A table with a ledger, whose records are behind a gate, and its page."""

    def __init__(self, here, *, open_gate=True, epsilon=2.0):
        self.columns = WatchedColumns(people(), open_gate=open_gate)
        here.workspace.ledgers.clear()  # a file of this name is about other people each time
        self.table = here.workspace.add("people.csv", "upload", self.columns, ROWS)
        here.client.post(f"/api/tables/{self.table.id}/ledger", json={"epsilon": epsilon})
        self.address = f"{here.address}/release?table={self.table.id}&epsilon=0.5&k=2"

    @property
    def entries(self):
        return self.table.ledger.entries


def agree(page):
    """Check the box that the price was seen; returns the button that buys."""
    page.get_by_label("I have seen the price").check()
    return page.locator(PRICE)


def test_a_price_is_shown_and_paid_once_by_a_double_click(here, visit):
    shop = Shop(here)
    page = visit.open(shop.address)
    button = page.get_by_role("button", name="Spend epsilon 0.5 of 2 and release")
    button.wait_for()
    assert button.is_disabled()
    assert shop.columns.reads == 0
    assert "has been spent" in page.locator(".ledger-bar").first.inner_text()
    assert "25% of the limit" in page.locator(".ledger-bar").last.inner_text()
    # The button is enabled again in between: the studio itself keeps the second press out.
    agree(page).evaluate(
        "(button) => { button.click(); button.click(); button.disabled = false; button.click(); }"
    )
    page.wait_for_selector(DRAWN)
    assert len(shop.entries) == len(shop.table.releases) == 1
    page.locator(".chip").get_by_text("ε 1.5 left").wait_for()
    assert "may be published" in page.locator(RELEASED).inner_text()
    assert "for your eyes only" in page.locator("[aria-label^='Labels']").inner_text()
    with page.expect_download() as started:
        page.get_by_role("link", name="release.json").click()
    saved = Release.from_json(started.value.path().read_text())
    assert shop.table.ledger.paid_for(saved.ledger)
    page.reload()
    page.wait_for_selector(DRAWN)
    assert len(shop.entries) == 1
    assert visit.hosts == {here.address.removeprefix("http://")}


def test_a_reload_in_the_middle_finds_the_same_purchase(here, visit):
    shop = Shop(here, open_gate=False)
    try:
        page = visit.open(shop.address)
        agree(page).click()
        page.get_by_role("heading", name="Releasing").wait_for()
        page.reload()
        page.get_by_role("heading", name="Releasing").wait_for()
        assert shop.columns.reached.is_set()
    finally:
        shop.columns.gate.set()
    page.wait_for_selector(RELEASED)
    assert len(shop.entries) == len(shop.table.releases) == 1


def test_two_tabs_that_both_press_share_one_release(here, visit):
    shop = Shop(here, open_gate=False)
    try:
        one, two = visit.open(shop.address), visit.open(shop.address)
        buttons = [agree(one), agree(two)]
        for button in buttons:
            button.click()
        for page in (one, two):
            page.get_by_role("heading", name="Releasing").wait_for()
    finally:
        shop.columns.gate.set()
    receipts = []
    for page in (one, two):
        page.wait_for_selector(RELEASED)
        receipts.append(page.locator(f"{RELEASED} .hint").last.inner_text())
    assert receipts[0] == receipts[1]
    assert len(shop.entries) == 1


@pytest.mark.full
def test_other_settings_at_the_same_time_are_refused_and_priced_anew(here, visit):
    shop = Shop(here, open_gate=False)
    try:
        one, two = visit.open(shop.address), visit.open(f"{shop.address}&profile=0.25")
        first, second = agree(one), agree(two)
        first.click()
        one.get_by_role("heading", name="Releasing").wait_for()
        second.click()
        assert "in progress" in two.get_by_role("alert").inner_text()
    finally:
        shop.columns.gate.set()
    one.wait_for_selector(RELEASED)
    agree(two).click()  # the price that was shown before the first was paid
    told = two.get_by_role("alert").filter(has_text="spent since")
    told.wait_for()
    assert "25% of the limit" in two.locator(".price .ledger-bar").first.inner_text()
    assert len(shop.entries) == 1


@pytest.mark.full
def test_settings_are_in_the_address_and_once_more_is_asked_for_on_purpose(here, visit):
    shop = Shop(here)
    page = visit.open(shop.address)
    agree(page).click()
    page.wait_for_selector(RELEASED)
    page.get_by_label("Epsilon of the clusters").fill("0.75")
    page.get_by_label("Epsilon of the clusters").blur()
    page.get_by_role("button", name="Spend epsilon 0.75 of 2").wait_for()
    page.wait_for_url(re.compile(r"epsilon=0\.75"))
    page.reload()
    page.get_by_role("button", name="Spend epsilon 0.75 of 2").wait_for()
    page.goto(shop.address)
    page.get_by_role("button", name="Release once more").click()
    page.get_by_role("button", name="Spend epsilon 0.5 of 2").wait_for()
    assert "once before" in page.locator(".price").inner_text()
    page.go_back()
    page.wait_for_selector(RELEASED)
    page.go_forward()
    agree(page).click()
    page.get_by_role("table", name="Releases of this table").locator("tbody tr").nth(1).wait_for()
    assert len(shop.entries) == 2


def test_what_the_ledger_cannot_pay_is_said(here, visit):
    shop = Shop(here, epsilon=0.3)
    page = visit.open(shop.address)
    assert "asked epsilon = 0.5" in page.get_by_role("alert").inner_text()
    assert page.locator(PRICE).count() == 0
    assert (shop.columns.reads, shop.entries) == (0, ())


def test_a_lost_studio_does_not_say_that_nothing_was_spent(here, visit):
    shop = Shop(here)
    page = visit.open(shop.address)
    button = agree(page)
    visit.context.set_offline(True)
    button.click()
    banner = page.locator("#banner")
    banner.get_by_text("charged once").wait_for()
    visit.context.set_offline(False)
    banner.get_by_role("button", name="Try again").click()
    agree(page).click()  # it did not reach the studio: the price is still there
    page.wait_for_selector(RELEASED)
    assert len(shop.entries) == 1


def test_a_refusal_that_comes_from_the_records_is_for_the_curator_only(here, visit):
    shop = Shop(here)
    shop.columns.columns["age"][7] = "unknown"
    page = visit.open(shop.address)
    agree(page).click()
    alert = page.get_by_role("alert").filter(has_text="For your eyes only")
    alert.wait_for()
    assert "'age'" in alert.inner_text()
    assert shop.entries == ()


def test_where_nobody_holds_records_the_page_points_to_campaigns(here, visit):
    shop = Shop(here)
    shop.table.trust_model = "local"
    page = visit.open(shop.address)
    assert (
        page.get_by_role("link", name="Go to Campaigns")
        .get_attribute("href")
        .startswith("/campaigns?table=")
    )


def test_a_picture_that_scrolls_does_so_by_keyboard_from_the_start(here, browser):
    shop = Shop(here)
    with visiting(browser, viewport={"width": 390, "height": 844}) as visit:
        page = visit.open(shop.address)
        agree(page)

        def hold(route):  # what the page asks for last, before it shows a release
            time.sleep(0.5)
            route.continue_()

        page.route(f"**/api/tables/{shop.table.id}", hold)
        page.locator(PRICE).click()
        first = page.wait_for_function(
            """(drawn) => {
                const one = document.querySelector(drawn);
                return one && [one.scrollWidth > one.clientWidth, one.tabIndex];
            }""",
            arg=DRAWN,
            polling="raf",
        )
        assert first.json_value() == [True, 0]


@pytest.mark.parametrize("width", [pytest.param(1440, marks=pytest.mark.full), 390])
def test_no_serious_issue_and_nothing_overflows(here, browser, width):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    shop = Shop(here)
    with visiting(browser, viewport={"width": width, "height": 844}) as visit:
        page = visit.open(shop.address)
        page.wait_for_selector(PRICE)
        check(axe, page)
        agree(page).click()
        page.wait_for_selector(DRAWN)
        check(axe, page)


def check(axe, page):
    """Find no serious issue, and no scrolling sideways."""
    found = axe.run(page).response["violations"]
    serious = [one["id"] for one in found if one["impact"] in ("serious", "critical")]
    assert serious == [], json.dumps(found)[:2000]
    wide = page.evaluate("document.documentElement.scrollWidth - innerWidth")
    assert wide <= 0
