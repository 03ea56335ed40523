"""A database that is locked, full or away: 503 with Retry-After, and nothing is lost."""

import sqlite3
import threading
import time

import httpx
import pytest
from sqlalchemy import event
from sqlalchemy.exc import DBAPIError

from helpers.collector import REPORT, is_problem, running_collector
from shoal.collector.store import Store
from shoal.service import Intake, app, database


@pytest.fixture
def url(tmp_path, monkeypatch):
    """Return a SQLite database whose connections wait for locks a moment only."""
    monkeypatch.setitem(database.SQLITE_PRAGMAS, "busy_timeout", 50)
    monkeypatch.setattr(database, "LOCK_SECONDS", 0.05)
    monkeypatch.setattr(app, "READY_KEPT_SECONDS", 0.0)
    return f"sqlite:///{tmp_path}/reports.db"


def test_a_locked_database(url):
    with running_collector(url) as collector:
        campaign = collector.add_campaign()
        headers = collector.headers(campaign)
        path = f"/v1/campaigns/{campaign}/reports"
        other = sqlite3.connect(url.removeprefix("sqlite:///"), isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        refused = collector.client.post(path, content=REPORT, headers=headers)
        assert is_problem(refused, "unavailable")
        assert refused.headers["retry-after"] == "1"
        assert is_problem(collector.client.get("/readyz"), "unavailable")
        assert collector.client.get("/healthz").status_code == 200
        other.execute("ROLLBACK")
        other.close()
        again = collector.client.post(path, content=REPORT, headers=headers)
        assert (again.status_code, collector.store.count(campaign)) == (201, 1)
        assert collector.client.get("/readyz").status_code == 200


def test_readiness_is_asked_once_a_second(url, monkeypatch):
    """Anybody may ask, and every answer takes the lock of writers."""
    monkeypatch.setattr(app, "READY_KEPT_SECONDS", 60.0)
    ping, asked = Store.ping, []
    monkeypatch.setattr(Store, "ping", lambda store: asked.append(ping(store)))
    with running_collector(url) as collector:
        for _ in range(20):
            assert collector.client.get("/readyz").status_code == 200
    assert len(asked) == 1


def test_a_database_that_takes_too_long(url, monkeypatch):
    monkeypatch.setattr(app, "READY_SECONDS", 0.05)
    monkeypatch.setattr(Store, "ping", lambda _store: time.sleep(0.5))
    with running_collector(url) as collector:
        assert is_problem(collector.client.get("/readyz"), "unavailable")


def test_tables_of_another_version(url):
    """As after an upgrade by another process: this one must be started again."""
    with running_collector(url) as collector:
        other = sqlite3.connect(url.removeprefix("sqlite:///"), isolation_level=None)
        other.execute("UPDATE shoal_schema SET version_num = 'later'")
        other.close()
        assert is_problem(collector.client.get("/readyz"), "unavailable")


def test_a_writer_that_has_ended(url):
    with running_collector(url) as collector:
        campaign = collector.add_campaign()
        assert collector.send(campaign).status_code == 201
        endpoints = [getattr(route, "endpoint", None) for route in collector.app.router.routes]
        (intake,) = (one for one in endpoints if isinstance(one, Intake))
        intake.writer.stop()
        assert is_problem(collector.client.get("/readyz"), "unavailable")
        assert is_problem(collector.send(campaign), "unavailable")
        assert collector.client.get("/healthz").status_code == 200


def test_a_full_database(url):
    """By a limit of SQLite's own, which gives the error of a full disk.

    Connections take it when they are used: one that is out while its pool is disposed of, as that
    of the watch for campaigns may be, is never closed, which Python 3.13 and later warn of.
    """
    limit = 1  # pages: SQLite takes what the file has, if that is more
    with running_collector(url) as collector:
        campaign = collector.add_campaign()
        engine = collector.store._database._engine

        @event.listens_for(engine, "checkout")
        def take_limit(connection, _record, _proxy):
            connection.execute(f"PRAGMA max_page_count={limit}")

        headers = collector.headers(campaign)
        path, body = f"/v1/campaigns/{campaign}/reports", REPORT * 10_000
        acknowledged = 0
        for _ in range(100):  # pages that are free already are filled first
            refused = collector.send(campaign, body)
            if refused.status_code != 201:
                break
            acknowledged += 10_000
        assert is_problem(refused, "unavailable")
        assert refused.headers["retry-after"] == "30"
        assert collector.store.count(campaign) == acknowledged
        limit = 2**30
        again = collector.client.post(path, content=body, headers=headers)
        assert again.status_code == 201
        assert collector.store.count(campaign) == acknowledged + 10_000


@pytest.mark.full  # `test_durability.py` kills it during intake
def test_a_database_that_is_away(postgres):
    with postgres.database() as name, running_collector(postgres.url(name)) as collector:
        campaign = collector.add_campaign()
        headers = collector.headers(campaign)
        path = f"/v1/campaigns/{campaign}/reports"
        assert collector.send(campaign).status_code == 201
        postgres.kill()
        refused = collector.client.post(path, content=REPORT, headers=headers)
        assert is_problem(refused, "unavailable")
        assert int(refused.headers["retry-after"]) >= 1
        assert is_problem(collector.client.get("/readyz"), "unavailable")
        known = collector.client.get(f"/v1/campaigns/{campaign}")
        assert known.status_code == 200  # documents are still handed out
        postgres.start()
        again = collector.client.post(path, content=REPORT, headers=headers)
        assert (again.status_code, collector.store.count(campaign)) == (201, 2)


def test_a_server_that_is_stopped_stores_what_waits(url, monkeypatch):
    append, started = Store.append, threading.Event()

    def slow(store, group):
        started.set()
        time.sleep(0.3)
        return append(store, group)

    answers = []
    with running_collector(url) as collector:
        campaign = collector.add_campaign()
        assert collector.send(campaign).status_code == 201
        monkeypatch.setattr(Store, "append", slow)
        url_of_reports = f"{collector.address}/v1/campaigns/{campaign}/reports"
        headers = collector.headers(campaign)

        def send():
            answers.append(httpx.post(url_of_reports, content=REPORT, headers=headers, timeout=30))

        sender = threading.Thread(target=send)
        sender.start()
        assert started.wait(60)
    sender.join()
    assert [answer.status_code for answer in answers] == [201]
    with Store.open(url) as store:
        assert store.count(campaign) == 2


def test_what_the_database_says_to_its_users_is_not_for_everybody(url, monkeypatch):
    said = 'connection failed: FATAL:  no pg_hba.conf entry for host "10.1.2.3", user "shoal"'
    with running_collector(url) as collector:
        error = collector.store._database._unavailable(DBAPIError("", None, Exception(said)))
        assert "10.1.2.3" in str(error), "whoever runs the server is told"

        def fail(_store):
            raise error

        monkeypatch.setattr(Store, "ping", fail)
        refused = collector.client.get("/readyz")
        assert is_problem(refused, "unavailable")
        assert "10.1.2.3" not in refused.text
        assert "pg_hba" not in refused.text
