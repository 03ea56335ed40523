"""A page of somebody else, on another port of the same machine: it can neither ask nor change."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from helpers.browser import TIMEOUT
from helpers.studio import ROOT, studio_here
from shoal.studio import server
from shoal.studio.guard import Guard

TOKEN = "of-somebody-else-not-known"
TRY = (ROOT / "tests/helpers/other_origin.js").read_text()
PAGE = f"<!doctype html><title>trying</title><body><script type=module>{TRY}</script>"
NAMED = """<!doctype html><title>form</title><body>
<form id=f method=post enctype="text/plain" action="{target}/api/tables/dataset">
<input name='{{"name":"line","a":"' value='"}}'></form>
<a id=link href="{target}/{query}">studio</a>"""


@pytest.fixture(scope="module")
def elsewhere():
    """Yield the address of another server on this machine, whose pages are bad."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            path, _, query = self.path.partition("?")
            body = PAGE if path == "/" else NAMED.format(target=query, query=path[1:])
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, *_args):
            """Write nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    yield f"127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture(scope="module")
def here():
    """Yield a studio in this process."""
    with studio_here() as running:
        yield running


@pytest.fixture
def other(browser):
    """Yield a context whose pages may write errors: the browser tells what it refused."""
    context = browser.new_context()
    context.set_default_timeout(TIMEOUT)
    yield context
    context.close()


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_nothing_is_learned_and_nothing_changes(other, elsewhere, monkeypatch, host):
    let_in, refused, look = [], [], Guard._refusal

    def noted(guard, scope, headers):
        why = look(guard, scope, headers)
        if "httpx" not in headers.get("user-agent", ""):
            (let_in if why is None else refused).append((scope["method"], scope["path"]))
        return why

    monkeypatch.setattr(Guard, "_refusal", noted)
    with studio_here() as here:
        table = here.client.post("/api/tables/dataset", json={"name": "line", "n": 50}).json()["id"]
        before = here.client.get("/api/session").json()
        page = other.new_page()
        port = elsewhere.partition(":")[2]
        page.goto(f"http://{host}:{port}/?target={here.address}&table={table}")
        page.wait_for_function("() => document.title.startsWith('{')")
        found = json.loads(page.title())
        assert here.client.get("/api/session").json() == before
    assert len(found) == 13
    assert {name: told for name, told in found.items() if told is not None} == {}
    assert let_in == []  # refused here, not by the browser alone
    assert {
        ("GET", "/api/session"),
        ("POST", "/api/tables/dataset"),
        ("OPTIONS", f"/api/tables/{table}"),
        ("GET", "/static/shoal.svg"),
        ("GET", "/static/early.js"),
        ("GET", "/static/api.js"),
        ("GET", "/static/studio.css"),
        ("GET", "/"),
    } <= set(refused)


def test_a_form_of_another_site_changes_nothing(other, here, elsewhere):
    before = here.client.get("/api/session").json()
    page = other.new_page()
    page.goto(f"http://{elsewhere}/x?{here.address}")
    with page.expect_navigation() as sent:
        page.evaluate("document.getElementById('f').submit()")
    assert sent.value.status == 403
    assert here.client.get("/api/session").json() == before


def test_a_link_of_another_site_opens_the_page_without_a_way_back(other, here, elsewhere):
    page = other.new_page()
    page.goto(f"http://{elsewhere}/ledger?{here.address}")
    with other.expect_page() as opening:
        page.evaluate("window.open(document.getElementById('link').href)")
    opened = opening.value
    opened.wait_for_url(f"{here.address}/ledger")
    assert opened.evaluate("window.opener") is None


def test_the_way_in_with_a_token(other, elsewhere):
    """The cookie is set whoever sent the address, and no script and no other site has it."""
    with studio_here(token=TOKEN) as locked:
        target = locked.address
        page = other.new_page()
        page.goto(f"http://{elsewhere}/?target={target}&table=x")
        page.wait_for_function("() => document.title.startsWith('{')")
        assert set(json.loads(page.title()).values()) == {None}
        # A link that somebody sent: the page is another site's.
        page.goto(f"http://localhost:{elsewhere.partition(':')[2]}/x?{target}")
        page.evaluate(f"location.href = '{target}/ledger?token={TOKEN}'")
        page.wait_for_url(f"{target}/ledger")
        page.get_by_role("heading", level=1).wait_for()
        assert page.evaluate("document.cookie") == ""
        assert TOKEN not in page.evaluate("performance.getEntries().map((one) => one.name).join()")
        assert TOKEN not in page.evaluate("document.referrer")
        (cookie,) = other.cookies()
        assert (cookie["httpOnly"], cookie["sameSite"]) == (True, "Strict")
        # Logged in now, and the other site still gets nothing.
        page.goto(f"http://{elsewhere}/?target={target}&table=x")
        page.wait_for_function("() => document.title.startsWith('{')")
        assert set(json.loads(page.title()).values()) == {None}
        bearer = {"Authorization": f"Bearer {TOKEN}"}
        assert locked.client.get("/api/session", headers=bearer).json()["tables"] == []


def test_the_file_that_a_browser_is_started_with_leads_in(other, tmp_path):
    with studio_here(token=TOKEN) as locked:
        page = other.new_page()
        page.goto(server._write_way(str(tmp_path), f"{locked.address}/ledger?token={TOKEN}"))
        page.wait_for_url(f"{locked.address}/ledger")
        page.get_by_role("heading", level=1).wait_for()
