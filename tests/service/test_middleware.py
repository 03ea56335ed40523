"""Every answer: security headers, an id, limits of bodies, and pages of other origins."""

import itertools

import pytest

from helpers.collector import REPORT, is_problem, running_collector
from shoal.service import PROBLEMS

PAGE = "https://example.org"
OTHER = "https://attacker.example"
ASKED = {"Access-Control-Request-Method": "POST"}


@pytest.mark.parametrize("path", ["/healthz", "/nowhere", "/metrics", "/v1/campaigns/nowhere"])
def test_security_headers_of_every_answer(sqlite_collector, path):
    headers = sqlite_collector.client.get(path).headers
    assert headers["content-security-policy"] == "default-src 'none'; frame-ancestors 'none'"
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["x-frame-options"] == "DENY"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["cache-control"] == "no-store"
    assert len(headers["x-request-id"]) == 16
    assert not {"set-cookie", "server", "access-control-allow-origin"} & set(headers)


def test_framework_refusals_are_problem_documents(sqlite_collector):
    client = sqlite_collector.client
    assert is_problem(client.get("/nowhere"), "not-found")
    assert is_problem(client.get("/docs"), "not-found")
    assert is_problem(client.get("/v1/campaigns/nowhere"), "unknown-campaign")
    assert is_problem(client.get("/v1/campaigns/NOT-AN-ID"), "invalid-parameter")
    wrong = client.delete("/v1/campaigns/homes/reports")
    assert is_problem(wrong, "method-not-allowed")
    assert wrong.headers["allow"] == "GET, POST"


def test_the_type_of_a_problem_can_be_read(sqlite_collector):
    for problem in PROBLEMS.values():
        found = sqlite_collector.client.get(problem.type).json()
        assert found == problem._asdict()
    assert is_problem(sqlite_collector.client.get("/problems/no-such"), "not-found")


def test_documents_are_handed_on_unchanged(sqlite_collector):
    campaign = sqlite_collector.add_campaign()
    signed = sqlite_collector.store.campaign(campaign)
    answer = sqlite_collector.client.get(f"/v1/campaigns/{campaign}")
    assert answer.content == signed.envelope
    assert answer.headers["etag"] == f'"{signed.digest}"'
    again = sqlite_collector.client.get(
        f"/v1/campaigns/{campaign}", headers={"If-None-Match": answer.headers["etag"]}
    )
    assert (again.status_code, again.content) == (304, b"")


def test_a_page_of_the_campaign_may_take_part(sqlite_collector):
    campaign = sqlite_collector.add_campaign(origins=(PAGE,))
    url = f"/v1/campaigns/{campaign}"
    own = {"Origin": PAGE}
    assert sqlite_collector.client.get(url).headers.get("access-control-allow-origin") is None
    for path in (url, f"{url}/results", f"{url}/results/1"):
        answer = sqlite_collector.client.get(path, headers=own)
        assert answer.headers["access-control-allow-origin"] == PAGE
        assert answer.headers["vary"] == "Origin"
    asked = sqlite_collector.client.options(f"{url}/reports", headers={**own, **ASKED})
    assert asked.status_code == 204
    assert asked.headers["access-control-allow-origin"] == PAGE
    assert asked.headers["access-control-allow-methods"] == "POST"
    assert "Idempotency-Key" in asked.headers["access-control-allow-headers"]
    assert "access-control-allow-credentials" not in asked.headers
    sent = sqlite_collector.send(campaign, Origin=PAGE)
    assert (sent.status_code, sent.headers["access-control-allow-origin"]) == (201, PAGE)
    refused = sqlite_collector.send(campaign, b"", Origin=PAGE)
    assert refused.headers["access-control-allow-origin"] == PAGE


def test_other_pages_may_not(sqlite_collector):
    campaign = sqlite_collector.add_campaign(origins=(PAGE,))
    closed = sqlite_collector.add_campaign()
    for name, origin in ((campaign, OTHER), (campaign, "null"), (closed, PAGE)):
        url = f"/v1/campaigns/{name}"
        answer = sqlite_collector.client.get(url, headers={"Origin": origin})
        assert "access-control-allow-origin" not in answer.headers
        asked = sqlite_collector.client.options(
            f"{url}/reports", headers={"Origin": origin, **ASKED}
        )
        assert is_problem(asked, "origin-not-allowed")
        assert "access-control-allow-origin" not in asked.headers


@pytest.mark.parametrize("path", ["/count", "/analyses", "/analyses/1/publish"])
def test_pages_reach_nothing_of_analysts(sqlite_collector, path):
    campaign = sqlite_collector.add_campaign(origins=(PAGE,))
    url = f"/v1/campaigns/{campaign}{path}"
    headers = {"Origin": PAGE, **sqlite_collector.token("read")}
    for answer in (
        sqlite_collector.client.get(url, headers=headers),
        sqlite_collector.client.options(url, headers={"Origin": PAGE, **ASKED}),
    ):
        assert "access-control-allow-origin" not in answer.headers


def test_a_page_may_not_export(sqlite_collector):
    campaign = sqlite_collector.add_campaign(origins=(PAGE,))
    url = f"/v1/campaigns/{campaign}/reports"
    headers = {"Origin": PAGE, **sqlite_collector.token("read")}
    answer = sqlite_collector.client.get(url, headers=headers)
    assert "access-control-allow-origin" not in answer.headers


def test_a_slow_body_is_refused(tmp_path):
    """The first bytes come at once, the rest never."""
    import socket

    with running_collector(f"sqlite:///{tmp_path}/reports.db", body_seconds=0.2) as collector:
        campaign = collector.add_campaign()
        head = "".join(
            f"{name}: {value}\r\n" for name, value in collector.headers(campaign).items()
        )
        port = int(collector.address.rpartition(":")[2])
        with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
            connection.sendall(
                f"POST /v1/campaigns/{campaign}/reports HTTP/1.1\r\nHost: x\r\n{head}"
                "Content-Length: 100\r\n\r\n".encode()
                + REPORT
            )
            answer = b""
            while part := connection.recv(65536):
                answer += part
        assert answer.startswith(b"HTTP/1.1 408 ")
        assert b"/problems/timeout" in answer
        assert collector.store.count(campaign) == 0


def test_a_body_that_does_not_say_how_long_it_is_has_the_same_limit(tmp_path):
    url = f"sqlite:///{tmp_path}/reports.db"
    with running_collector(url, max_body_bytes=2000) as collector:
        campaign = collector.add_campaign()
        for size, status in ((2000, 201), (2002, 413), (200_000, 413)):
            parts = (REPORT * 100 for _ in range(size // 200))
            rest = REPORT * (size % 200 // 2)
            headers = collector.headers(campaign)
            answer = collector.client.post(
                f"/v1/campaigns/{campaign}/reports",
                content=itertools.chain(parts, [rest] if rest else []),
                headers=headers,
            )
            assert answer.status_code == status
        assert collector.store.count(campaign) == 1000


def test_a_body_without_reports_is_small(sqlite_collector):
    """It is read before credentials are looked at, by whoever sends it."""
    campaign = sqlite_collector.add_campaign()
    answer = sqlite_collector.client.post(
        f"/v1/campaigns/{campaign}/analyses",
        content=b'{"parameters": {"a": [' + b"[]," * 30_000 + b"[]]}}",
        headers={"Content-Type": "application/json"},
    )
    assert is_problem(answer, "too-large")
