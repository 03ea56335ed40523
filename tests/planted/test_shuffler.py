"""Bugs of a relay that its checks must find, each planted on purpose."""

import asyncio
import random
import secrets
from datetime import UTC, datetime

import pytest

from helpers.collector_promises import early_acknowledgements
from helpers.loggers import restored_loggers
from helpers.relay import SIZE, WIDTH, numbers_of, relayed_campaign, running_relay
from helpers.relay_promises import (
    SOURCE,
    arrival_correlation,
    batches_sent_twice_differ,
    doubled_by_crashes,
    forwarded_twice,
    hashes_in_their_own_order,
    incomplete_batches,
    make_store,
    order_p_value,
    report,
    sealing_keys,
    traces,
)
from shoal.service import EventLog, GroupCommit, Outcome, RequestFrame
from shoal.shuffler import RelayStore
from shoal.shuffler import store as store_module
from shoal.shuffler.forwarding import Forwarder


@pytest.fixture(autouse=True)
def _loggers():
    with restored_loggers():
        yield


def test_an_incomplete_batch_at_the_closing_time(tmp_path, monkeypatch):
    right = Forwarder._drop_at_the_end

    def flush(forwarder):
        store, closes = forwarder._store, forwarder._campaign.signed.campaign.closes
        if forwarder._clock() >= closes.timestamp() and (left := store.counts().n_waiting):
            store._fixed = store._fixed._replace(batch_size=left)
            store.form_batch()
        right(forwarder)

    monkeypatch.setattr(Forwarder, "_drop_at_the_end", flush)
    with running_relay(tmp_path) as relay:
        ended = relayed_campaign(closes=datetime(2020, 1, 1, tzinfo=UTC))
        assert incomplete_batches(relay, ended) == [SIZE - 1]


def test_an_early_batch(tmp_path, monkeypatch):
    right = RelayStore.form_batch

    def hasty(store):
        store._fixed = store._fixed._replace(batch_size=SIZE - 2)
        return right(store)

    monkeypatch.setattr(RelayStore, "form_batch", hasty)
    with running_relay(tmp_path) as relay:
        ended = relayed_campaign(closes=datetime(2020, 1, 1, tzinfo=UTC))
        assert SIZE - 2 in incomplete_batches(relay, ended)


class InOrder(random.Random):
    """Draws nothing."""

    def sample(self, population, k):
        return list(population)[:k]


def by_arrival(monkeypatch):
    """Give rows keys that count arrivals."""
    count = iter(range(10**9))
    right = RelayStore._hash

    def counted(store, content, person):
        return (
            next(count).to_bytes(16, "big") if person == b"key" else right(store, content, person)
        )

    monkeypatch.setattr(RelayStore, "_hash", counted)


def test_the_order_of_arrival(tmp_path, monkeypatch):
    by_arrival(monkeypatch)
    with make_store(tmp_path, 3) as store:
        store._source = InOrder()
        assert order_p_value(store, 40) < 1e-9


def test_batches_of_neighbors(tmp_path, monkeypatch):
    """Each is shuffled well, of reports that came together."""
    by_arrival(monkeypatch)

    class Within(random.Random):
        def sample(self, population, k):
            return super().sample(list(population)[:k], k)

    with make_store(tmp_path) as store:
        store._source = Within(0)
        assert arrival_correlation(store, 12) > 0.9


def test_a_shuffle_that_only_rotates(tmp_path, monkeypatch):
    """Every report is at every place as often, in 3 of 6 orders."""
    by_arrival(monkeypatch)

    class Rotating(random.Random):
        def sample(self, population, k):
            drawn, start = list(population)[:k], self.randrange(k)
            return drawn[start:] + drawn[:start]

    with make_store(tmp_path, 3) as store:
        store._source = Rotating(0)
        assert order_p_value(store, 60) < 1e-9


@pytest.mark.parametrize("column", ["at INTEGER DEFAULT (unixepoch())", "number INTEGER DEFAULT 1"])
def test_a_time_or_a_number_in_the_database(tmp_path, monkeypatch, column):
    tables = [one.replace("body BLOB NOT NULL) W", f"body BLOB NOT NULL, {column}) W")
              for one in store_module.TABLES]  # fmt: skip
    assert tables != list(store_module.TABLES)
    monkeypatch.setattr(store_module, "TABLES", tuple(tables))
    with running_relay(tmp_path, trusted_proxies=1) as relay:
        assert "database: waiting" in traces(relay, tmp_path)


@pytest.mark.parametrize(
    "planted",
    [lambda scope: "", lambda scope: str(scope["headers"])],
)
def test_a_line_in_the_log_for_each_report(tmp_path, monkeypatch, planted):
    right = RequestFrame.__call__

    async def talkative(frame, scope, receive, send):
        if scope["type"] == "http":
            EventLog(running[0].log).write("request", text=planted(scope))
        await right(frame, scope, receive, send)

    monkeypatch.setattr(RequestFrame, "__call__", talkative)
    with running_relay(tmp_path, trusted_proxies=1) as relay:
        running = [relay]
        assert "log: request" in traces(relay, tmp_path)


def test_keys_in_the_database(tmp_path, monkeypatch):
    """Kept as they were sent, by a relay that hashes nothing."""
    monkeypatch.setattr(RelayStore, "_hash", lambda _store, content, _person: content)
    with running_relay(tmp_path, trusted_proxies=1) as relay:
        assert "file: planted-idempotency-key" in traces(relay, tmp_path)


def test_hashes_in_the_order_of_the_batch(tmp_path, monkeypatch):
    """Their places on the disk would say which report was whose."""
    monkeypatch.setattr(secrets, "token_bytes", bytes)
    right = RelayStore.form_batch

    def in_order(store):
        number = right(store)
        keys = [store._hash(report(one).key, b"key") for one in numbers_of(store.next_batch().body)]
        with store._database.write() as connection:
            connection.exec_driver_sql("DELETE FROM taken")
            connection.exec_driver_sql("INSERT INTO taken VALUES (?, '')", [(key,) for key in keys])
        store._empty_log()
        return number

    monkeypatch.setattr(RelayStore, "form_batch", in_order)
    with make_store(tmp_path, seed=0) as store:
        assert not hashes_in_their_own_order(store, tmp_path)


def test_forgotten_keys(tmp_path, monkeypatch):
    right = RelayStore.form_batch

    def forgetful(store):
        number = right(store)
        with store._database.write() as connection:
            connection.exec_driver_sql("DELETE FROM taken")
            connection.exec_driver_sql("DELETE FROM seals")
        return number

    monkeypatch.setattr(RelayStore, "form_batch", forgetful)
    with make_store(tmp_path) as store:
        assert forwarded_twice(store) == list(range(SIZE))


def test_a_batch_in_two_transactions(tmp_path, monkeypatch):
    """Written by one and taken from those that wait by another: a crash in between doubles."""
    right = RelayStore.form_batch

    def in_two(store):
        with monkeypatch.context() as first:
            first.setattr(store, "_empty_log", lambda: None)
            number = right(store)
        if number is not None:
            with store._database.write() as connection:
                rows = connection.exec_driver_sql("SELECT key, tag FROM taken").all()
                (body,) = connection.exec_driver_sql("SELECT body FROM batches").one()
                parts = [body[start : start + WIDTH] for start in range(0, len(body), WIDTH)]
                back = [(*row, part) for row, part in zip(rows, parts, strict=True)]
                connection.connection.executemany("INSERT INTO waiting VALUES (?, ?, ?)", back)
            with store._database.write() as connection:
                connection.exec_driver_sql(
                    "DELETE FROM waiting WHERE key IN (SELECT key FROM taken)"
                )
        return number

    monkeypatch.setattr(RelayStore, "form_batch", in_two)
    assert doubled_by_crashes(tmp_path, monkeypatch)


def test_an_acknowledgement_before_the_commit(tmp_path, monkeypatch):
    right, tasks = GroupCommit.submit, []

    async def hasty(writer, submission):
        tasks.append(asyncio.create_task(right(writer, submission)))
        return Outcome.STORED

    monkeypatch.setattr(GroupCommit, "submit", hasty)
    with running_relay(tmp_path) as relay:
        assert early_acknowledgements(relay, monkeypatch, RelayStore) > 0


def test_a_batch_that_is_shuffled_again_on_retry(tmp_path, monkeypatch):
    right = RelayStore.next_batch

    def again(store):
        batch = right(store)
        if batch is None:
            return None
        parts = [batch.body[start : start + WIDTH] for start in range(0, len(batch.body), WIDTH)]
        return batch._replace(body=b"".join(parts[1:] + parts[:1]) if shuffled() else batch.body)

    flags = iter([False, True] * 1000)
    shuffled = flags.__next__
    monkeypatch.setattr(RelayStore, "next_batch", again)
    with running_relay(tmp_path) as relay:
        assert batches_sent_twice_differ(relay)


@pytest.mark.parametrize(
    "line",
    [
        "from shoal.campaigns import SealingKey",
        "from shoal.campaigns.sealing import SealingPublicKey",
        "import shoal.campaigns as c; c.SealingKey.load('sealing.pem')",
        "from shoal.collector import Store",
    ],
)
def test_a_sealing_key_in_the_relay(tmp_path, line):
    assert sealing_keys() == []
    text = (SOURCE / "forwarding.py").read_text(encoding="utf-8")
    (tmp_path / "forwarding.py").write_text(f"{text}\n{line}\n", encoding="utf-8")
    assert len(sealing_keys(tmp_path)) == 1
