"""Explore in a browser: the slider and its readings, the address, what leaves, one purchase."""

import json
import re

import numpy as np
import pytest

from helpers.studio import studio_in_process
from shoal.privacy import Ledger
from shoal.schema import Category, Date, Number, Schema
from shoal.studio import StudioSettings, Workspace, exploration

axe_playwright = pytest.importorskip("axe_playwright_python.sync_playwright")

NUMBERS = Schema(
    [
        Number("age", minimum=0, maximum=120, missing="refuse", unit="years"),
        Number("income", minimum=0, maximum=200_000, missing="refuse"),
    ]
)
MIXED = Schema(
    [
        Number("age", minimum=0, maximum=120),
        Number("income", minimum=1, maximum=200_000, scale="log"),
        Category("city", ["A", "B"]),
        Date("since", minimum="2010-01-01", maximum="2024-01-01"),
    ]
)
RNG = np.random.default_rng(0)
COLUMNS = {"age": RNG.uniform(20, 60, 500), "income": RNG.uniform(1e4, 9e4, 500)}
PAGE = "studio-explore"


@pytest.fixture(scope="module")
def workspace():
    return Workspace(StudioSettings())


@pytest.fixture(scope="module")
def address(workspace):
    with studio_in_process(workspace) as opened:
        yield opened


@pytest.fixture
def table(workspace):
    table = workspace.add("people.csv", "upload", COLUMNS, NUMBERS)
    table.n_guess, table.ledger = 600, Ledger(epsilon=3.0)
    return table


def opened(visit, address, table, query=""):
    page = visit.open(f"{address}/explore?table={table.id}{query}")
    page.wait_for_selector(f'{PAGE}[data-whole="true"]')
    return page


def at(page, epsilon):
    """Wait until the page shows an epsilon."""
    page.wait_for_selector(f'{PAGE}[data-epsilon="{epsilon:g}"][data-whole="true"]')


def serious(page):
    found = axe_playwright.Axe().run(page).response["violations"]
    return [one["id"] for one in found if one["impact"] in ("serious", "critical")]


def test_the_slider_moves_all_readings_and_the_picture(visit, address, table):
    page = opened(visit, address, table)
    slider = page.get_by_label("Privacy: epsilon")
    centers = page.locator("studio-chart").nth(1)
    drawn = int(centers.get_attribute("data-drawn"))
    sentence = page.locator(".gauge").nth(1).inner_text()
    slider.focus()
    page.keyboard.press("ArrowRight")
    at(page, 1.05)
    assert page.get_by_label("Exact value").input_value() == "1.05"
    assert page.get_by_label("Correct guesses out of 100").input_value() == "74.08"
    assert slider.get_attribute("aria-valuetext") == "epsilon 1.05"
    page.wait_for_url(re.compile(r"epsilon=1\.05"))
    assert int(centers.get_attribute("data-drawn")) == drawn + 1
    assert page.locator(".gauge").nth(1).inner_text() != sentence
    assert int(page.locator(PAGE).get_attribute("data-milliseconds")) > 0
    page.get_by_label("Correct guesses out of 100").fill("88.08")
    at(page, 2)
    assert page.get_by_label("Exact value").input_value() == "2"
    assert "After one more release: epsilon 1." in page.inner_text(PAGE)
    assert "epsilon = 2 (add/remove)" in page.inner_text(PAGE)
    link = page.get_by_role("link", name="Go to the release").get_attribute("href")
    assert link == f"/release?table={table.id}&method=DPKMeans&epsilon=2&k=5"
    assert "made-up records" in page.locator(".note").inner_text()
    assert serious(page) == []
    assert len(visit.hosts) == 1


def test_back_forward_and_reload_show_the_same(visit, address, table):
    page = opened(visit, address, table)
    page.get_by_label("Exact value").fill("4")
    at(page, 4)
    page.get_by_label("Number of clusters").fill("3")
    page.keyboard.press("Tab")
    page.get_by_text("Cluster 3 (").wait_for(state="detached")
    page.wait_for_url(re.compile("k=3"))
    page.go_back()
    page.get_by_text("Cluster 4 (").wait_for()
    assert page.get_by_label("Exact value").input_value() == "4"
    page.go_forward()
    page.get_by_text("Cluster 3 (").wait_for(state="detached")
    page.reload()
    at(page, 4)
    assert page.get_by_label("Number of clusters").input_value() == "3"


def test_of_many_positions_the_newest_is_asked_for(visit, address, table):
    page = opened(visit, address, table)
    held, asked = [], []

    def hold(route):
        asked.append(json.loads(route.request.post_data)["epsilon"])
        if len(asked) == 1:
            held.append(route)
        else:
            route.continue_()

    page.route(re.compile(r"/explore$"), hold)
    page.get_by_label("Privacy: epsilon").focus()
    for _ in range(6):
        page.keyboard.press("ArrowRight")
    last = float(page.get_by_label("Exact value").input_value())
    while not held:
        page.wait_for_timeout(10)
    held[0].continue_()
    at(page, last)
    assert len(asked) == 2
    assert asked[1] == last


def test_own_records_are_asked_for_by_a_click_alone(visit, address, table):
    page = opened(visit, address, table)
    assert not any("records.png" in one for one in visit.addresses)
    page.get_by_role("button", name="Show my own records").click()
    page.get_by_alt_text("for your eyes only").wait_for()
    assert page.locator(".mark", has_text="for your eyes only").count() == 1
    page.get_by_label("Privacy: epsilon").press("ArrowLeft")
    at(page, 0.961)
    assert sum("records.png" in one for one in visit.addresses) == 1


@pytest.mark.full  # test_release_page.py does so, and test_purchases.py by requests
def test_two_tabs_and_double_clicks_buy_one_copy(visit, address, table):
    tabs = [opened(visit, address, table) for _ in range(2)]
    for page in tabs:
        page.get_by_role("button", name="Show the price").click()
        page.get_by_text("Left now: 3; after: 2.5").wait_for()
    for page in tabs:
        page.get_by_role("button", name="Buy for epsilon 0.5").dblclick()
    for page in tabs:
        page.locator(".note", has_text="private copy").wait_for()
        page.reload()
        page.locator(".note", has_text="private copy").wait_for()
        page.wait_for_url(re.compile("source=copy"))
    assert len(table.ledger.entries) == 1


def test_a_lost_studio_does_not_say_that_no_copy_was_paid(visit, address, table):
    page = opened(visit, address, table)
    page.get_by_role("button", name="Show the price").click()
    button = page.get_by_role("button", name="Buy for epsilon 0.5")
    button.wait_for()
    visit.context.set_offline(True)
    button.click()
    page.locator("#banner").get_by_text("charged once").wait_for()
    assert "Nothing was spent" not in page.locator("#banner").inner_text()


def test_a_narrow_screen_and_clusters_that_follow(browser, address, workspace):
    from helpers.browser import visiting

    table = workspace.add("mixed", "made-up", {}, MIXED)
    table.n_guess = 300
    with visiting(browser, viewport={"width": 390, "height": 844}, color_scheme="dark") as visit:
        page = opened(visit, address, table, "&x=since&y=age")
        page.get_by_text("Cluster 0 (").wait_for()
        assert page.get_by_label("Horizontal axis").input_value() == "since"
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        assert serious(page) == []


def test_a_level_within_a_radius_is_the_same_number(visit, address, workspace, monkeypatch):
    # What clusters are found is not looked at here, and takes seconds.
    monkeypatch.setattr(
        exploration,
        "run_killable",
        lambda _check, work, mechanism, reports, k, seed, _aware: work(
            mechanism, reports, k, seed, False
        ),
    )
    table = workspace.add("devices", "made-up", {}, NUMBERS)
    table.trust_model, table.n_guess = "local", 300
    page = opened(visit, address, table, "&method=Laplace&epsilon=6")
    assert page.get_by_label("Correct guesses out of 100").is_hidden()
    # 10 of 120 years are 1/12 of the range.
    assert page.get_by_label("Level").input_value() == "0.5"
    page.get_by_label("Level").fill("1")
    at(page, 12)
    page.get_by_label("Radius").fill("20")
    assert page.get_by_label("Level").input_value() == "2"
    assert page.get_by_label("Exact value").input_value() == "12"
    page.wait_for_url(re.compile("radius=20"))
    assert "Each report" in page.inner_text(PAGE)
    href = page.get_by_role("link", name="Collect with these settings").get_attribute("href")
    assert href.startswith("/campaigns?")
