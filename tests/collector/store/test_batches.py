"""Batches: in order, each once, whole or not at all, on each kind of database."""

import hashlib
import threading

import pytest
from sqlalchemy import select

from helpers.campaigns import WIDTH
from helpers.submissions import body_of
from shoal.collector.store import BatchOutcome, BatchTotals, OpenedBatch, Store, StoredBatch
from shoal.collector.store.models import seals
from shoal.exceptions import ParameterError


def batch_of(*names, text=None, **dropped):
    """Return a batch with a report of each name; its digest follows from its content."""
    reports = [(name.encode().ljust(32, b"_"), body_of(name)) for name in names]
    digest = hashlib.sha256(repr((names, text, dropped)).encode()).hexdigest()
    return OpenedBatch(digest, reports, **dropped)


def stored(store, campaign):
    return b"".join(store.blocks(campaign))


def test_batches_come_in_order_and_once(store, campaign):
    first, second = batch_of("a", "b", "c"), batch_of("d", n_unopened=1, n_invalid=2)
    assert store.append_batch(campaign, 2, second) == (BatchOutcome.GAP, None)
    assert store.append_batch(campaign, 0, second) == (BatchOutcome.GAP, None)
    assert store.count(campaign) == 0
    kept = StoredBatch(1, first.digest, 3, 0, 0, 0)
    assert store.append_batch(campaign, 1, first) == (BatchOutcome.STORED, kept)
    assert store.append_batch(campaign, 1, first) == (BatchOutcome.DUPLICATE, kept)
    assert store.append_batch(campaign, 1, second) == (BatchOutcome.CONFLICT, kept)
    assert store.find_batch(campaign, 1, first.digest) == (BatchOutcome.DUPLICATE, kept)
    assert store.find_batch(campaign, 2, second.digest) == (BatchOutcome.STORED, None)
    outcome, later = store.append_batch(campaign, 2, second)
    assert (outcome, later.n_reports, later.n_dropped) == (BatchOutcome.STORED, 1, 3)
    assert store.count(campaign) == 4
    assert store.batch_totals(campaign) == BatchTotals(2, 4, 1, 2, 0, 1)


def test_what_is_kept_is_a_multiset(store, campaign):
    """The order of a lazy relay is not in the database."""
    store.append_batch(campaign, 1, batch_of("c", "a", "b"))
    body = stored(store, campaign)
    reports = [body[start : start + WIDTH] for start in range(0, len(body), WIDTH)]
    assert reports == sorted(body_of(name) for name in "abc")


def test_a_report_that_is_sent_again_counts_once(store, campaign):
    store.append_batch(campaign, 1, batch_of("a", "b"))
    _, second = store.append_batch(campaign, 2, batch_of("b", "c", "c", "a"))
    assert (second.n_reports, second.n_repeated) == (1, 3)
    _, third = store.append_batch(campaign, 3, batch_of("a", "b", "c"))
    assert (third.n_reports, third.n_repeated) == (0, 3)
    assert store.count(campaign) == 3
    assert store.batch_totals(campaign) == BatchTotals(3, 3, 0, 0, 6, 1)


def test_campaigns_do_not_share_seals(store, campaign, counted):
    store.append_batch(campaign, 1, batch_of("a"))
    _, other = store.append_batch(counted, 1, batch_of("a"))
    assert other.n_reports == 1
    with store._database.read() as connection:
        kept = [row.seal for row in connection.execute(select(seals))]
    assert b"a".ljust(32, b"_") not in kept
    assert len(set(kept)) == len(kept)


def test_a_batch_larger_than_one_statement(store, campaign):
    names = [f"{number}" for number in range(1001)]
    _, first = store.append_batch(campaign, 1, batch_of(*names))
    _, second = store.append_batch(campaign, 2, batch_of(*names[500:], "new"))
    assert (first.n_reports, second.n_reports, second.n_repeated) == (1001, 1, 501)


def test_totals_of_a_snapshot(store, campaign):
    assert store.batch_totals(campaign) == BatchTotals(0, 0, 0, 0, 0, 0)
    store.append_batch(campaign, 1, batch_of("a", "b"))
    before = store.snapshot(campaign)
    store.append_batch(campaign, 2, batch_of("c"))
    store.append_batch(campaign, 3, batch_of(n_unopened=4))
    assert store.batch_totals(campaign, before) == BatchTotals(1, 2, 0, 0, 0, 2)
    after = store.snapshot(campaign)
    assert (after.n_reports, store.batch_totals(campaign, after).fewest) == (3, 1)


def test_a_batch_that_fails_leaves_nothing(store, campaign, monkeypatch):
    with pytest.raises(ParameterError, match="reports of 2 bytes"):
        store.append_batch(campaign, 1, OpenedBatch("0" * 64, [(b"key", b"long")]))
    monkeypatch.setattr("shoal.collector.store.batches.insert", lambda table: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        store.append_batch(campaign, 1, batch_of("a"))
    monkeypatch.undo()
    assert (store.count(campaign), stored(store, campaign)) == (0, b"")
    _, again = store.append_batch(campaign, 1, batch_of("a"))
    assert again.n_reports == 1


def test_two_senders_of_one_batch_store_it_once(store, campaign):
    """Two servers, or a relay that is started twice."""
    batch, outcomes = batch_of("a", "b"), []
    start = threading.Barrier(2)

    def send():
        start.wait(60)
        outcomes.append(store.append_batch(campaign, 1, batch)[0].value)

    senders = [threading.Thread(target=send) for _ in range(2)]
    for sender in senders:
        sender.start()
    for sender in senders:
        sender.join()
    assert sorted(outcomes) == ["duplicate", "stored"]
    assert store.count(campaign) == 2


def test_a_database_of_before_gets_the_tables(database_url):
    from alembic.migration import MigrationContext
    from alembic.operations import Operations

    with Store.open(database_url) as opened, opened._database.write() as connection:
        operations = Operations(MigrationContext.configure(connection))
        for table in ("batches", "seals"):
            operations.drop_table(table)
        connection.exec_driver_sql("UPDATE shoal_schema SET version_num = 'r0001'")
    with Store.open(database_url) as upgraded:
        upgraded.ping()
        with upgraded._database.read() as connection:
            assert connection.execute(select(seals)).all() == []
