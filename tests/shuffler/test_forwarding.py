"""Batches go out one after the other, by the collector's pace, until each is acknowledged."""

import io
import json
import time
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import pytest

from helpers.campaigns import KEY
from helpers.relay import SIZE, BatchCollector, relayed_campaign
from helpers.relay_promises import make_store, report
from shoal.client import Answer
from shoal.exceptions import StoreUnavailableError
from shoal.service import EventLog
from shoal.shuffler import RelayedCampaign, forwarding
from shoal.shuffler.forwarding import LOOK_SECONDS, Forwarder
from shoal.shuffler.metrics import RelayMetrics


class Relay:
    """A forwarder without a thread, and what it works on."""

    def __init__(self, folder, collector=None, **settings):
        (folder / "homes.json").write_bytes(relayed_campaign().envelope)
        self.document = folder / "homes.json"
        self.log = io.StringIO()
        log = EventLog(self.log)
        self.collector = BatchCollector() if collector is None else collector
        self.store = make_store(folder)
        self.campaign = RelayedCampaign(str(self.document), str(KEY.public), log)
        settings = {"retry_seconds": 1e-3, **settings}
        self.forwarder = Forwarder(
            self.store,
            self.campaign,
            "http://127.0.0.1:9/",
            log,
            RelayMetrics(),
            transport=self.collector,
            **settings,
        )

    def fill(self, batches):
        start = 1000 * len(self.collector.requests)
        self.store.append([report(start + number) for number in range(batches * SIZE)])

    def run(self, steps):
        for _ in range(steps):
            time.sleep(max(0.0, min(self.forwarder.step(), 0.01)))

    def events(self):
        return [json.loads(line) for line in self.log.getvalue().splitlines()]


@pytest.fixture
def relay(tmp_path):
    running = Relay(tmp_path, key="shoal_key_0a1b2c3d4e5f_x")
    yield running
    running.store.close()


def test_a_request_has_what_the_collector_needs_and_no_more(relay):
    relay.fill(1)
    relay.run(1)
    (request,) = relay.collector.posts
    assert request.url == "http://127.0.0.1:9/v1/campaigns/homes/batches/1"
    assert dict(request.headers) == {
        "Content-Type": "application/octet-stream",
        "Shoal-Campaign": relay.campaign.signed.digest,
        "Authorization": "Bearer shoal_key_0a1b2c3d4e5f_x",
    }
    assert "shoal_key" not in relay.log.getvalue()


def test_batches_go_in_order_and_none_is_skipped(relay):
    relay.collector.plan[:] = [503, OSError("gone"), 404, 401, 200, 412]
    relay.fill(3)
    relay.run(40)
    numbers = [int(request.url.rpartition("/")[2]) for request in relay.collector.posts]
    assert numbers == [1] * 7 + [2, 3]
    assert sorted(relay.collector.batches) == [1, 2, 3]
    assert relay.store.counts() == (0, 3, 3, 0)


@pytest.mark.parametrize(
    "body",
    [b"", b"<html>", b"[]", b'{"stored": 5}', b'{"stored": 5, "batch": 2}', b'{"batch": 1}'],
)
def test_another_page_is_no_acknowledgement(relay, body):
    relay.collector.plan[:] = [Answer(200, {}, body)]
    relay.fill(1)
    relay.run(1)
    assert relay.store.next_batch().number == 1
    relay.run(20)
    assert relay.store.next_batch() is None


@pytest.mark.parametrize(("named", "seconds"), [("900", 900.0), ("999999999", 3600.0)])
def test_the_collector_is_left_alone_for_as_long_as_it_says(relay, named, seconds):
    """And not longer than an hour."""
    relay.collector.plan[:] = [Answer(503, {"retry-after": named}, b"")]
    relay.fill(1)
    start = time.monotonic()
    assert relay.forwarder.step() == 0.0
    for _ in range(5):
        assert relay.forwarder.step() == LOOK_SECONDS
    assert len(relay.collector.posts) == 1
    assert 0.0 <= relay.forwarder._not_before - start - seconds <= time.monotonic() - start


def test_a_collector_that_is_down_for_hours(relay, monkeypatch):
    """Waits grow to the longest one and stay there; reports are taken, batches are formed."""
    now, waits = [0.0], []
    monkeypatch.setattr(forwarding, "time", SimpleNamespace(monotonic=lambda: now[0]))
    relay.forwarder._retries = type(relay.forwarder._retries)(1, 1.0, 120.0)
    monkeypatch.setattr(
        type(relay.forwarder._retries), "wait", lambda one, n: min(one.max_wait, 2.0**n)
    )
    relay.collector.plan[:] = [ConnectionRefusedError("down")] * 100
    relay.fill(1)
    while now[0] < 3 * 3600:
        relay.forwarder.step()
        waits.append(relay.forwarder._not_before - now[0])
        now[0] = relay.forwarder._not_before
        if len(waits) == 10:
            relay.fill(2)
    assert max(waits) == 120.0
    assert len(relay.collector.posts) < 3 * 3600 / 120.0 + 10
    relay.collector.plan.clear()
    for _ in range(4):
        now[0] += 121.0
        relay.forwarder.step()
    assert sorted(relay.collector.batches) == [1, 2, 3]


def test_another_digest_is_looked_up(relay):
    newer = relayed_campaign(revision=2)
    relay.document.write_bytes(newer.envelope)
    relay.collector.plan[:] = [412]
    relay.fill(1)
    relay.run(20)
    digests = [request.headers["Shoal-Campaign"] for request in relay.collector.posts]
    assert digests == [relayed_campaign().digest, newer.digest]


def test_a_later_document_is_followed_though_nobody_answers_it(relay, monkeypatch):
    """A page of a new origin cannot: browsers do not let it read the old document."""
    relay.document.write_bytes(relayed_campaign(revision=2, origins=("https://a.org",)).envelope)
    relay.run(2)
    assert relay.campaign.signed.campaign.revision == 1
    monkeypatch.setattr(relay.forwarder, "_next_look", time.monotonic())
    relay.run(1)
    assert relay.campaign.live.origins == {b"https://a.org"}
    relay.document.write_bytes(relayed_campaign(revision=3).envelope)
    relay.run(5)
    assert relay.campaign.signed.campaign.revision == 2


def test_a_later_closing_time_saves_what_waits(tmp_path):
    closes = datetime(2035, 1, 1, tzinfo=UTC)
    relay = Relay(tmp_path, clock=closes.timestamp)
    relay.store.append([report(0)])
    relay.document.write_bytes(
        relayed_campaign(revision=2, closes=closes + timedelta(days=1)).envelope
    )
    relay.forwarder.step()
    assert relay.store.counts() == (1, 0, 0, 0)
    relay.store.close()


def test_a_batch_that_filled_up_at_the_closing_time_is_forwarded(tmp_path, monkeypatch):
    """Reports that were acknowledged between the last look and the end are not deleted."""
    relay = Relay(tmp_path, clock=datetime(2035, 1, 1, tzinfo=UTC).timestamp)
    form_batch = relay.store.form_batch

    def form_too_early():
        monkeypatch.setattr(relay.store, "form_batch", form_batch)
        formed = form_batch()
        relay.fill(1)
        return formed

    monkeypatch.setattr(relay.store, "form_batch", form_too_early)
    relay.run(3)
    assert relay.store.counts() == (0, 1, 1, 0)
    relay.store.close()


def test_nothing_is_dropped_before_the_closing_time(tmp_path):
    now = [0.0]
    relay = Relay(tmp_path, clock=lambda: now[0])
    relay.store.append([report(0)])
    closes = datetime(2035, 1, 1, tzinfo=UTC).timestamp()
    for moment, waiting in ((0.0, 1), (closes - 1, 1), (closes, 0)):
        now[0] = moment
        relay.forwarder.step()
        assert relay.store.counts().n_waiting == waiting
    assert relay.collector.posts == []
    relay.store.close()


def test_a_database_that_is_busy_is_waited_for(relay, monkeypatch):
    monkeypatch.setattr(forwarding, "LOOK_SECONDS", 1e-3)

    def busy():
        relay.forwarder._stopping = True
        raise StoreUnavailableError("the database cannot be used now")

    monkeypatch.setattr(relay.store, "form_batch", busy)
    relay.forwarder.wake()
    relay.forwarder._run()
    assert relay.events()[-1]["event"] == "relay waits"
    relay.store.ping()


def test_an_error_that_nobody_foresaw_ends_intake(relay, monkeypatch):
    def fail():
        raise ZeroDivisionError

    monkeypatch.setattr(relay.store, "form_batch", fail)
    with pytest.raises(ZeroDivisionError):
        relay.forwarder._run()
    with pytest.raises(StoreUnavailableError, match="start the relay again"):
        relay.store.ping()
