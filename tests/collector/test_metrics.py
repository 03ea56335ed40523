"""Metrics: what was stored and refused, by campaign; nothing that a client can make up."""

import re

from helpers.collector import REPORT
from shoal.collector.store import Store, StoreUnavailableError


def read(collector) -> dict[str, float]:
    """Return all samples by name and labels."""
    answer = collector.client.get("/metrics", headers=collector.token("metrics"))
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/plain; version=")
    lines = [line for line in answer.text.splitlines() if not line.startswith("#")]
    return {name: float(value) for name, _, value in (line.rpartition(" ") for line in lines)}


def test_submissions_are_counted_by_outcome(collector):
    campaign = collector.add_campaign()
    for body, key in ((REPORT * 3, "a" * 16), (REPORT * 3, "a" * 16), (REPORT, "a" * 16)):
        collector.send(campaign, body, Idempotency_Key=key)
    collector.send(campaign, b"\xff\xff")
    found = read(collector)
    outcomes = {
        "stored": 1,
        "duplicate": 1,
        "key-reused": 1,
        "out-of-range": 1,
    }
    for outcome, count in outcomes.items():
        name = f'shoal_submissions_total{{campaign="{campaign}",outcome="{outcome}"}}'
        assert found[name] == count
    assert found[f'shoal_reports_total{{campaign="{campaign}"}}'] == 3


def test_failed_commits_are_counted(collector, monkeypatch):
    campaign = collector.add_campaign()

    def fail(_store, _group):
        raise StoreUnavailableError("the database cannot be used now")

    monkeypatch.setattr(Store, "append", fail)
    before = read(collector)
    assert collector.send(campaign).status_code == 503
    after = read(collector)
    name = f'shoal_submissions_total{{campaign="{campaign}",outcome="unavailable"}}'
    assert after[name] == 1
    assert after["shoal_failed_commits_total"] - before["shoal_failed_commits_total"] == 1


def test_commits_and_requests_are_timed(collector):
    campaign = collector.add_campaign()
    before = read(collector)
    for _ in range(5):
        collector.send(campaign)
    after = read(collector)
    grown = {name: value - before.get(name, 0.0) for name, value in after.items()}
    assert grown["shoal_group_submissions_sum"] == 5
    assert 1 <= grown["shoal_commit_seconds_count"] <= 5
    assert grown["shoal_failed_commits_total"] == 0
    route = 'route="/v1/campaigns/{campaign}/reports"'
    assert grown[f"shoal_request_seconds_count{{{route}}}"] == 5
    assert grown[f'shoal_requests_total{{method="POST",{route},status="201"}}'] == 5
    assert after["shoal_waiting_submissions"] == 0
    assert after["shoal_active_requests"] == 1  # this one


def test_clients_cannot_make_up_labels(collector):
    collector.client.get("/v1/campaigns/made-up-name")
    collector.client.get("/made-up-path")
    collector.client.request("MADEUP", "/healthz")
    collector.client.post("/v1/campaigns/made-up-name/reports")
    text = "".join(read(collector))
    assert not re.search("made-up|MADEUP|127.0.0.1", text)
