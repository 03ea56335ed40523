"""Who may ask the studio: its own pages, and nobody else's."""

import socket

import httpx
import pytest
from fastapi import Request

from helpers.studio import studio_here

OWN = {"Shoal-Studio": "1"}
# All that a page may load, ask, send and be framed by.
POLICY = {
    "default-src": ["'none'"],
    "script-src": ["'self'"],
    "style-src": ["'self'"],
    "img-src": ["'self'", "data:", "blob:"],
    "font-src": ["'self'"],
    "connect-src": ["'self'"],
    "frame-src": ["'self'"],
    "frame-ancestors": ["'self'"],
    "base-uri": ["'none'"],
    "form-action": ["'none'"],
    "object-src": ["'none'"],
}


def directives(answer):
    """Return the policy of an answer by its parts."""
    (policy,) = answer.headers.get_list("content-security-policy")
    return {name: given for name, *given in (part.split() for part in policy.split(";"))}


def test_pages_and_modules_are_those_of_the_wheel(studio, wheel):
    assert httpx.get(studio).text == (wheel / "shoal/studio/pages/index.html").read_text()
    client = (wheel / "shoal/browser_client/index.js").read_text()
    assert httpx.get(f"{studio}/client/index.js").text == client


@pytest.mark.parametrize(
    "name",
    ["evil.example", "evil.example:8760", "127.0.0.1.evil.example", "evil-localhost", ""],
)
@pytest.mark.parametrize("path", ["/", "/api/session", "/static/api.js"])
def test_another_host_name_is_refused(studio, name, path):
    answer = httpx.get(f"{studio}{path}", headers={"Host": name})
    assert answer.status_code in (400, 421)
    assert "evil" not in answer.text


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "https://127.0.0.1"])
def test_a_request_of_another_origin_is_refused(studio, origin):
    answer = httpx.get(f"{studio}/api/session", headers={"Origin": origin})
    assert answer.status_code == 403
    assert answer.json()["type"] == "/problems/cross-origin"
    assert "access-control-allow-origin" not in answer.headers


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_what_a_browser_says_of_its_site_counts(studio, site):
    asked = {"Sec-Fetch-Site": site, "Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "image"}
    assert httpx.get(f"{studio}/api/session", headers=asked).status_code == 403
    assert httpx.get(f"{studio}/static/api.js", headers=asked).status_code == 403
    visit = {**asked, "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
    assert httpx.get(f"{studio}/", headers=visit).status_code == 200
    assert httpx.get(f"{studio}/api/session", headers=visit).status_code == 403


def test_a_form_cannot_change_anything(studio):
    answer = httpx.post(f"{studio}/api/jobs/x/cancel", data={"a": "b"})
    assert answer.status_code == 403
    assert httpx.post(f"{studio}/api/jobs/x/cancel", headers=OWN).status_code == 404
    for method in ("POST", "DELETE", "PUT", "PATCH", "OPTIONS"):
        for given in ({}, {"Shoal-Studio": ""}, {"Shoal-Studio": "0"}):
            answer = httpx.request(method, f"{studio}/api/tables/x", headers=given)
            assert answer.status_code == 403, method


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/", 200),
        ("HEAD", "/", 200),
        ("GET", "/api/session", 200),
        ("GET", "/static/studio.css", 200),
        ("GET", "/client/index.js", 200),
        ("GET", "/openapi.json", 200),
        ("GET", "/nothing", 404),
        ("GET", "/static/nothing.js", 404),
        ("POST", "/", 405),
        ("OPTIONS", "/api/session", 405),
        ("TRACE", "/", 405),
    ],
)
def test_every_answer_has_all_headers(studio, method, path, status):
    for headers, expected in ((OWN, status), ({**OWN, "Host": "evil.example"}, 421)):
        answer = httpx.request(method, f"{studio}{path}", headers=headers)
        assert answer.status_code == expected
        assert directives(answer) == POLICY
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert answer.headers["cross-origin-resource-policy"] == "same-origin"
        assert answer.headers["cache-control"] in ("no-store", "no-cache")
        assert not [name for name in answer.headers if name.startswith("access-control")]
        assert "server" not in answer.headers


def test_pages_may_ask_the_collector_of_the_studio_and_no_other_address():
    with studio_here() as here:
        here.workspace.connect_origins.add("http://127.0.0.1:9")
        found = directives(here.client.get("/"))
        assert found == {**POLICY, "connect-src": ["'self'", "http://127.0.0.1:9"]}


def test_an_error_that_nobody_foresaw_has_a_policy_and_no_text(monkeypatch, capfd):
    with studio_here() as here:
        monkeypatch.setattr(here.workspace, "get", lambda _identifier: {}["4711-of-a-record"])
        answer = here.client.get("/api/tables/x")
    assert answer.status_code == 500
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    assert "4711" not in answer.text + "".join(capfd.readouterr())


def raw(address, text):
    """Send bytes as they are, and return the status of the answer and its text."""
    host, _, port = address.removeprefix("http://").partition(":")
    with socket.create_connection((host, int(port)), timeout=20) as connection:
        connection.sendall(text.replace("\n", "\r\n").encode("latin-1"))
        answer = b"".join(iter(lambda: connection.recv(65_536), b"")).decode("latin-1")
    return int(answer.split(" ", 2)[1]), answer


@pytest.mark.parametrize(
    ("head", "status"),
    [
        ("Host: 127.0.0.1\nHost: evil.example\n", 421),
        ("Host: evil.example\nHost: 127.0.0.1\n", 421),
        ("Host: 127.0.0.1, evil.example\n", 421),
        ("Host: evil.example@127.0.0.1\n", 421),
        ("Host: 127.0.0.1:80:80\n", 421),
        ("Host: [::1]evil.example\n", 421),
        ("Host: [::1]:8760\n", 200),
        ("Host: LOCALHOST:8760\n", 200),
        ("", 421),
        ("Host: 127.0.0.1\nOrigin: http://127.0.0.1\nOrigin: http://evil.example\n", 403),
        ("Host: 127.0.0.1\nOrigin: http://[\n", 403),
        ("Host: 127.0.0.1\nOrigin: http://127.0.0.1:9\n", 403),
        ("Host: 127.0.0.1\nOrigin: http://127.0.0.1.\n", 403),
        ("Host: 127.0.0.1\nOrigin: file://127.0.0.1\n", 403),
        ("Host: 127.0.0.1\nContent-Length: 5\nTransfer-Encoding: chunked\n", 400),
        ("Host: 127.0.0.1\nContent-Length: 5\nContent-Length: 6\n", 400),
        ("Host: 127.0.0.1\nX: " + "a" * 20_000 + "\n", 431),
    ],
)
def test_heads_that_no_browser_sends(studio, head, status):
    answered, text = raw(studio, f"GET /api/session HTTP/1.1\n{head}Connection: close\n\n")
    assert answered == status
    assert "default-src 'none'" in text
    assert "evil" not in text


@pytest.mark.parametrize("folder", ["static", "client"])
@pytest.mark.parametrize(
    "path",
    [
        "../workspace.py",
        "..%2fworkspace.py",
        "%2e%2e/workspace.py",
        "..%5cworkspace.py",
        "....//workspace.py",
        "%2fetc%2fpasswd",
        "/etc/passwd",
        "%00",
        "studio.js%00",
        "a" * 300,
        "",
        ".",
    ],
)
def test_no_file_beside_the_pages_is_served(studio, folder, path):
    head = f"GET /{folder}/{path} HTTP/1.1\nHost: 127.0.0.1\nConnection: close\n\n"
    status, text = raw(studio, head)
    assert status in (400, 404)
    assert "root:" not in text
    assert "import" not in text


def test_bodies_are_limited_by_what_they_are(api):
    large = b"[" + b" " * (5 << 20) + b"]"
    for kind in ("application/json", "text/plain", "application/json; a=application/octet-stream"):
        answer = api.post("/api/jobs/x/cancel", content=large, headers={"Content-Type": kind})
        assert (answer.status_code, answer.json()["type"]) == (413, "/problems/too-large")
    answer = api.post(
        "/api/jobs/x/cancel", content=large, headers={"Content-Type": "application/octet-stream"}
    )
    assert answer.status_code == 404


def test_a_body_without_a_length_is_limited_too():
    with studio_here(max_body_bytes=1_000) as here:

        @here.app.post("/api/echo")
        async def echo(request: Request) -> int:
            return len(await request.body())

        parts = (b" " * 600 for _ in range(2))
        octets = {"Content-Type": "application/octet-stream"}
        answer = here.client.post("/api/echo", content=parts, headers=octets)
        assert answer.json()["type"] == "/problems/too-large"
        assert here.client.post("/api/echo", content=b"1" * 900, headers=octets).json() == 900


def test_slow_heads_and_bodies_end():
    with studio_here(header_seconds=0.05, body_seconds=0.05) as here:

        @here.app.post("/api/echo")
        async def echo(request: Request) -> int:
            return len(await request.body())

        host, _, port = here.address.removeprefix("http://").partition(":")
        own = f"Host: {host}\r\nShoal-Studio: 1\r\n"
        for text in ("GET / HT", f"POST /api/echo HTTP/1.1\r\n{own}Content-Length: 9\r\n\r\n1"):
            with socket.create_connection((host, int(port)), timeout=20) as slow:
                slow.sendall(text.encode())
                assert slow.recv(65_536).startswith(b"HTTP/1.1 408")


def test_a_refused_request_is_refused_before_its_body_is_read(studio):
    """The answer comes while the body is still missing."""
    status, text = raw(
        studio,
        "POST /api/x HTTP/1.1\nHost: evil.example\nExpect: 100-continue\n"
        "Content-Length: 1000000\n\n",
    )
    assert status == 421
    assert "connection: close" in text.lower()


TOKEN = "Of-24-letters-and-digits"


@pytest.fixture(scope="module")
def locked():
    """Yield the address of a studio that needs a token."""
    with studio_here(token=TOKEN) as here:
        yield here.address


def test_with_a_token_nothing_is_had_without(locked):
    for path in ("/", "/api/session", "/static/api.js", "/charts.js", "/?token=wrong", "/nothing"):
        assert httpx.get(f"{locked}{path}").status_code == 401
    for wrong in (f"{TOKEN}x", TOKEN[:-1], TOKEN[:1], TOKEN[1:], TOKEN.lower(), "é"):
        for sent in ({"Authorization": f"Bearer {wrong}"}, {"Cookie": f"shoal-studio={wrong}"}):
            headers = {name: value.encode("latin-1") for name, value in sent.items()}
            assert httpx.get(locked, headers=headers).status_code == 401
        assert httpx.get(locked, params={"token": wrong}).status_code == 401
    for path in (f"/?token={TOKEN}&token={TOKEN}", f"/api/session?Token={TOKEN}"):
        assert httpx.get(f"{locked}{path}").status_code == 401
    assert httpx.post(f"{locked}/?token={TOKEN}", headers=OWN).status_code == 401
    bearer = {"Authorization": f"Bearer {TOKEN}"}
    assert httpx.get(f"{locked}/api/session", headers=bearer).status_code == 200
    # A token opens no door for pages of others.
    for wrong in ({"Host": "evil.example"}, {"Origin": "http://evil.example"}):
        assert httpx.get(f"{locked}/", headers={**bearer, **wrong}).status_code in (403, 421)


def test_the_token_leaves_the_address_and_is_a_cookie_from_then_on(locked):
    with httpx.Client(base_url=locked, follow_redirects=True) as browser:
        page = browser.get(f"/explore?table=x%26y&token={TOKEN}")
        assert (page.status_code, page.url.raw_path) == (200, b"/explore?table=x%26y")
        assert page.history[0].headers["cache-control"] == "no-store"
        (cookie,) = browser.cookies.jar
        assert cookie.has_nonstandard_attr("HttpOnly")
        assert cookie.get_nonstandard_attr("SameSite") == "strict"
        assert cookie.path == "/"
        assert browser.get("/api/session").status_code == 200
        # Opened again, by a browser that is known already: it leaves the address all the same.
        page = browser.get(f"/ledger?token={TOKEN}")
        assert (page.status_code, page.url.raw_path) == (200, b"/ledger")
    odd = {"Cookie": f'other={{"a": [1, 2]}}; shoal-studio={TOKEN}; bad'}
    assert httpx.get(f"{locked}/api/session", headers=odd).status_code == 200


@pytest.mark.parametrize("path", ["//evil.example", "/%5c%5cevil.example", "/%2f%2fevil.example"])
def test_the_way_on_leads_to_no_other_host(locked, path):
    status, text = raw(
        locked, f"GET {path}?token={TOKEN} HTTP/1.1\nHost: 127.0.0.1\nConnection: close\n\n"
    )
    assert status == 303
    assert "location: /evil.example" in text.lower()
