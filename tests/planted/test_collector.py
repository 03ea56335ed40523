"""Bugs of a collector that its checks must find, each planted on purpose."""

import asyncio

import pytest

from helpers.collector import running_collector
from helpers.collector_promises import early_acknowledgements, leaks, unprotected_routes
from helpers.loggers import restored_loggers
from shoal.collector.store import GroupCommit, Outcome
from shoal.service import EventLog, Gatekeeper, RequestFrame


@pytest.fixture
def url(tmp_path):
    return f"sqlite:///{tmp_path}/reports.db"


@pytest.fixture(autouse=True)
def _loggers():
    with restored_loggers():
        yield


def test_an_acknowledgement_before_the_commit(url, monkeypatch):
    right, tasks = GroupCommit.submit, []

    async def hasty(writer, submission):
        tasks.append(asyncio.create_task(right(writer, submission)))
        return Outcome.STORED

    monkeypatch.setattr(GroupCommit, "submit", hasty)
    with running_collector(url) as collector:
        assert early_acknowledgements(collector, monkeypatch) > 0


def test_a_route_without_a_check(url, monkeypatch):
    right = Gatekeeper.requires

    def careless(gatekeeper, scope):
        async def check() -> None:
            return None

        return check if scope == "publish" else right(gatekeeper, scope)

    monkeypatch.setattr(Gatekeeper, "requires", careless)
    with running_collector(url) as collector:
        assert unprotected_routes(collector) == {
            ("POST", "/v1/campaigns/{campaign}/analyses/{version}/publish")
        }


@pytest.mark.parametrize(
    ("planted", "mark"),
    [
        (lambda scope: scope["client"][0], "127.0.0.1"),
        (lambda scope: scope["path"], "planted-path"),
        (lambda scope: str(scope["headers"]), "planted-idempotency-key"),
        (lambda scope: str(scope["headers"]), "shoal_token_000000000000_planted"),
    ],
)
def test_a_log_that_says_too_much(url, monkeypatch, planted, mark):
    right = RequestFrame.__call__

    async def talkative(frame, scope, receive, send):
        if scope["type"] == "http":
            EventLog(running[0].log).write("request from", text=planted(scope))
        await right(frame, scope, receive, send)

    monkeypatch.setattr(RequestFrame, "__call__", talkative)
    with running_collector(url) as collector:
        running = [collector]
        assert mark in leaks(collector)


def test_a_log_with_reports(url, monkeypatch):
    from shoal.collector.report_check import ReportCheck

    right = ReportCheck.encode_json

    def talkative(check, body):
        EventLog(running[0].log).write("body", text=body.decode())
        return right(check, body)

    monkeypatch.setattr(ReportCheck, "encode_json", talkative)
    with running_collector(url) as collector:
        running = [collector]
        assert "731.0" in leaks(collector)
