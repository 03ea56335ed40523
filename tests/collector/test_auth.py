"""Who may do what: every route but a named few needs a token, with its scope, in time."""

import re
import time
from datetime import UTC, datetime, timedelta

import pytest

from helpers.collector import LATER, is_problem, running_collector
from helpers.collector_promises import PUBLIC, fill, routes, unprotected_routes
from shoal.collector.store import SCOPES

SCOPE_OF = {
    ("GET", "/metrics"): "metrics",
    ("GET", "/v1/campaigns/{campaign}/count"): "read",
    ("GET", "/v1/campaigns/{campaign}/reports"): "read",
    ("GET", "/v1/campaigns/{campaign}/analyses"): "read",
    ("GET", "/v1/campaigns/{campaign}/analyses/{version}"): "read",
    ("POST", "/v1/campaigns/{campaign}/analyses"): "analyze",
    ("POST", "/v1/campaigns/{campaign}/analyses/{version}/publish"): "publish",
}
INTAKE = ("POST", "/v1/campaigns/{campaign}/reports")
BATCHES = ("POST", "/v1/campaigns/{campaign}/batches/{number}")


def test_every_route_but_the_public_ones_needs_a_credential(sqlite_collector):
    """Walks all routes: one that is added without a check is noticed here."""
    assert unprotected_routes(sqlite_collector) == set()


def test_public_routes_answer_without_one(sqlite_collector):
    campaign = sqlite_collector.add_campaign()
    for method, path in PUBLIC:
        answer = sqlite_collector.client.request(method, fill(path, campaign))
        assert answer.status_code == (404 if "results" in path else 200), path


def test_all_routes_are_named_here(sqlite_collector):
    assert routes(sqlite_collector) == {*PUBLIC, *SCOPE_OF, INTAKE, BATCHES}


def test_a_token_opens_its_own_scope_only(sqlite_collector):
    campaign = sqlite_collector.add_campaign()
    for scope in SCOPES:
        token = sqlite_collector.token(scope)
        for (method, path), needed in SCOPE_OF.items():
            url = fill(path, campaign)
            answer = sqlite_collector.client.request(method, url, headers=token)
            if needed == scope:
                assert answer.status_code in {200, 404, 422}, (method, path, scope)
            else:
                assert is_problem(answer, "wrong-scope"), (method, path, scope)
                assert f'scope="{needed}"' in answer.headers["www-authenticate"]


def test_a_token_ends_when_it_is_revoked(collector):
    campaign = collector.add_campaign()
    url = f"/v1/campaigns/{campaign}/count"
    text = collector.store.add_token("Ada", ["read"], LATER)
    headers = {"Authorization": f"Bearer {text}"}
    assert collector.client.get(url, headers=headers).json()["reports"] == 0
    collector.store.revoke_token(text.split("_")[2])
    assert is_problem(collector.client.get(url, headers=headers), "unauthorized")


def test_a_token_ends_when_it_expires(collector, monkeypatch):
    campaign = collector.add_campaign()
    headers = collector.token("read")
    url = f"/v1/campaigns/{campaign}/count"
    assert collector.client.get(url, headers=headers).status_code == 200
    monkeypatch.setattr(collector.store, "_clock", lambda: LATER + timedelta(seconds=1))
    assert is_problem(collector.client.get(url, headers=headers), "unauthorized")
    monkeypatch.undo()
    assert datetime.now(UTC) < LATER


def test_a_revoked_ingest_key_ends_within_seconds(sqlite_collector):
    campaign = sqlite_collector.add_campaign(open_intake=False)
    key = sqlite_collector.store.add_ingest_key(campaign)
    assert sqlite_collector.send(campaign, Authorization=f"Bearer {key}").status_code == 201
    sqlite_collector.store.revoke_ingest_key(key.split("_")[2])
    end = time.monotonic() + 30  # refresh_seconds of this collector is 0.2
    while (answer := sqlite_collector.send(campaign, Authorization=f"Bearer {key}")).is_success:
        assert time.monotonic() < end
        time.sleep(0.05)
    assert is_problem(answer, "unauthorized")


def test_an_ingest_key_opens_its_own_campaign_only(tmp_path):
    """Also while the server remembers that it is right."""
    with running_collector(f"sqlite:///{tmp_path}/reports.db", refresh_seconds=60) as collector:
        own, other = (collector.add_campaign(open_intake=False) for _ in range(2))
        key = f"Bearer {collector.store.add_ingest_key(own)}"
        for _ in range(2):
            assert collector.send(own, Authorization=key).status_code == 201
            assert is_problem(collector.send(other, Authorization=key), "unauthorized")


def test_nothing_takes_records_and_nothing_makes_campaigns(sqlite_collector):
    """Campaigns, tokens and keys are made on the server's machine; records have no way in."""
    posts = {path for method, path in routes(sqlite_collector) if method != "GET"}
    assert posts == {
        "/v1/campaigns/{campaign}/reports",
        "/v1/campaigns/{campaign}/batches/{number}",
        "/v1/campaigns/{campaign}/analyses",
        "/v1/campaigns/{campaign}/analyses/{version}/publish",
    }
    assert not any(re.search("record|token|key", path) for path in posts)


@pytest.mark.parametrize("header", ["", "Bearer", "Basic QWRhOng=", "Bearer \t x", "Bearer a b"])
def test_headers_that_are_no_bearer_token(sqlite_collector, header):
    campaign = sqlite_collector.add_campaign()
    url = f"/v1/campaigns/{campaign}/count"
    answer = sqlite_collector.client.get(url, headers={"Authorization": header})
    assert is_problem(answer, "unauthorized")
