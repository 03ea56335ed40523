"""The page Audit in a browser: what a visitor sees, cancels, reloads and downloads."""

import pytest

from helpers.audited_studio import SCHEMA, SMALL, Untouchable, empty_workspace, serving_studio
from shoal.studio import promise_settings

TIMEOUT = 60_000  # milliseconds: an audit on a busy machine


@pytest.fixture(scope="module")
def workspace():
    return empty_workspace()


@pytest.fixture(scope="module")
def address(workspace):
    """Yield the address of a studio of this process, whose audits are small."""
    with pytest.MonkeyPatch.context() as patch, serving_studio(workspace) as client:
        patch.setitem(promise_settings.EFFORTS, "quick", SMALL)
        yield str(client.base_url).rstrip("/")


@pytest.fixture(scope="module")
def table(workspace):
    return workspace.add("people.csv", "upload", Untouchable(), SCHEMA)


def _open(visit, address):
    page = visit.open(address)
    page.set_default_timeout(TIMEOUT)
    return page


def _card(page, title):
    return page.get_by_role("region", name=title, exact=True)


CLAIM, REPLAY = "Claim against measured lower bound", "Replay: what one record costs"
ATTACK = "What an attacker learns"


def test_an_estimator_is_audited_and_attacked_and_a_reload_finds_both(visit, address, table):
    page = _open(visit, f"{address}/audit?table={table.id}&method=DPKMeans-grid&k=3&epsilon=1")
    assert page.get_by_label("Clusters").input_value() == "3"
    page.get_by_role("button", name="Run the audit").click()
    _card(page, CLAIM).get_by_text("No violation found", exact=True).wait_for()
    page.get_by_role("button", name="Run the attack").click()
    for _ in range(2):  # the second time after a reload
        claim = _card(page, CLAIM)
        claim.get_by_text("At 99.9% confidence, epsilon is at least").wait_for()
        assert "claimed: 1" in claim.inner_text()
        assert "Together" in _card(page, REPLAY).inner_text()
        attack = _card(page, ATTACK)
        attack.get_by_text("on k-means without privacy").first.wait_for()
        assert "without the release, 50" in attack.inner_text()
        assert "made-up records" in attack.inner_text()
        page.locator("studio-chart[data-drawn]").nth(1).wait_for()
        page.reload()
    with page.expect_download() as got:
        _card(page, CLAIM).get_by_role("button", name="Report page").click()
    assert got.value.suggested_filename == "shoal-audit.html"
    assert table.columns.touched == []
    assert visit.hosts == {address.removeprefix("http://")}


@pytest.mark.full  # the screen of a phone below shows a planted bug, test_audit_api.py audits both
def test_a_planted_bug_is_marked_and_caught_and_its_mechanism_is_not(visit, address):
    page = _open(visit, f"{address}/audit?method=Laplace&epsilon=1")
    page.get_by_label("Plant a bug").check()
    page.get_by_role("button", name="Run the audit").click()
    claim = _card(page, CLAIM)
    claim.get_by_text("Broken: the measured bound is above the claim").wait_for()
    assert "a bug was planted" in claim.inner_text()
    assert "half of what the claim of 1 needs. The audit caught it." in claim.inner_text()
    page.get_by_label("Plant a bug").uncheck()
    assert "Run the audit to compare" in claim.inner_text()  # no result of other settings stays
    page.get_by_role("button", name="Run the audit").click()
    claim.get_by_text("No violation found", exact=True).wait_for()
    page.go_back()
    page.go_back()
    claim.get_by_text("Broken: the measured bound is above the claim").wait_for()
    assert page.get_by_label("Plant a bug").is_checked()


@pytest.mark.full  # test_audit_api.py cancels one, test_trade_off_page.py cancels by a button
def test_an_audit_is_canceled(visit, address):
    page = _open(visit, f"{address}/audit?method=Laplace&effort=thorough")
    page.get_by_role("button", name="Run the audit").click()
    page.get_by_role("button", name="Cancel").click()
    page.get_by_text("Canceled; nothing was released or spent.").wait_for()
    page.reload()
    page.get_by_text("Canceled; nothing was released or spent.").wait_for()
    page.goto(f"{address}/audit?job=0123456789abcdef")
    page.get_by_text("There is no such job: start a new one.").wait_for()


def test_small_screens_and_screen_readers(visit, address, table):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    page = _open(visit, f"{address}/audit?table={table.id}&method=DPKMeans-grid&planted=1&k=3")
    page.set_viewport_size({"width": 390, "height": 844})
    page.get_by_role("button", name="Run the audit").click()
    _card(page, REPLAY).get_by_text("The promise is certainly broken.").wait_for()
    page.locator("studio-chart[data-drawn]").first.wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        found = axe.run(page).response["violations"]
        assert [(one["id"], one["impact"]) for one in found] == []


@pytest.mark.full
def test_explore_leads_to_an_audit_of_its_settings(visit, address, table):
    page = _open(visit, f"{address}/explore?table={table.id}&method=DPKMeans-grid&k=4&epsilon=2")
    page.get_by_role("link", name="Audit this promise").click()
    page.get_by_role("heading", name="Audit: is the promise kept?").wait_for()
    assert page.get_by_label("Estimator or mechanism").input_value() == "DPKMeans-grid"
    assert page.get_by_label("Claimed epsilon").input_value() == "2"
    assert page.get_by_label("Clusters").input_value() == "4"
