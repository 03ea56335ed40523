"""The database of a relay: full batches in random order, every key once, no times."""

import os
import random
import secrets
import sqlite3
import stat

import pytest

from helpers.relay import SIZE, WIDTH, body_of, numbers_of
from helpers.relay_promises import (
    CONFLICT,
    DUPLICATE,
    STORED,
    arrival_correlation,
    doubled_by_crashes,
    forwarded_twice,
    hashes_in_their_own_order,
    make_store,
    order_p_value,
    report,
)
from shoal.exceptions import ParameterError, StoreError, StoreUnavailableError
from shoal.service import Submission
from shoal.shuffler import RelayStore
from shoal.shuffler import store as store_module


@pytest.fixture
def store(tmp_path):
    with make_store(tmp_path) as opened:
        yield opened


def test_a_batch_has_its_size_and_no_report_is_in_two(store):
    assert store.append([report(number) for number in range(2 * SIZE + 1)]) == [STORED] * 11
    assert [store.form_batch() for _ in range(3)] == [1, 2, None]
    sent = []
    for number in (1, 2):
        batch = store.next_batch()
        assert (batch.number, len(batch.body)) == (number, SIZE * WIDTH)
        assert store.next_batch() == batch  # the same bytes, until it is forgotten
        sent += numbers_of(batch.body)
        store.forget_batch(number)
    assert len(set(sent)) == 2 * SIZE
    assert store.next_batch() is None
    assert store.counts() == (1, 2, 2, 0)


def test_fewer_than_a_batch_are_never_one(store):
    store.append([report(number) for number in range(SIZE - 1)])
    assert store.form_batch() is None
    assert store.drop_waiting() == SIZE - 1
    assert store.form_batch() is None
    assert store.counts() == (0, 0, 0, SIZE - 1)


def test_a_key_counts_once_before_and_after_its_batch(store):
    other = report(0)._replace(body=body_of(99))
    assert store.append([report(0), report(0), other]) == [STORED, DUPLICATE, CONFLICT]
    store.append([report(number) for number in range(1, SIZE)])
    store.form_batch()
    store.forget_batch(1)
    assert store.append([report(0), other]) == [DUPLICATE, CONFLICT]
    assert store.counts().n_waiting == 0


def test_bytes_that_were_caught_are_not_sent_again_under_another_key(store):
    """Neither while the first ones wait nor after their batch."""
    again = report(0)._replace(key=b"another key of somebody")
    assert store.append([report(0), again]) == [STORED, DUPLICATE]
    store.append([report(number) for number in range(1, SIZE)])
    assert store.form_batch() == 1
    assert store.append([again]) == [DUPLICATE]
    assert store.counts().n_waiting == 0


def test_no_report_is_forwarded_twice(store):
    assert forwarded_twice(store) == []


def test_a_crash_while_a_batch_is_formed_loses_and_doubles_nothing(tmp_path, monkeypatch):
    assert doubled_by_crashes(tmp_path, monkeypatch) == []


def test_a_batch_is_forgotten_once(store):
    store.append([report(number) for number in range(SIZE)])
    store.form_batch()
    store.forget_batch(1)
    store.forget_batch(1)  # another process was quicker
    assert store.counts().n_forwarded == 1


def test_orders_of_batches_are_uniform(tmp_path, monkeypatch):
    """By chi-square over the 6 orders of 3, with a seeded stand-in for the randomness."""
    monkeypatch.setattr(secrets, "token_bytes", bytes)
    with make_store(tmp_path, 3, seed=0) as store:
        assert order_p_value(store, 120) > 1e-3


def test_batches_do_not_follow_arrival(tmp_path, monkeypatch):
    """Of 200 reports in 40 batches the correlation has a standard deviation of 0.07."""
    monkeypatch.setattr(secrets, "token_bytes", bytes)
    with make_store(tmp_path, seed=0) as store:
        assert abs(arrival_correlation(store, 40)) < 0.3


def test_batches_are_drawn_by_the_randomness_of_the_system(store, monkeypatch):
    drawn = []
    right = os.urandom

    def counted(size):
        drawn.append(size)
        return right(size)

    monkeypatch.setattr(random, "_urandom", counted)
    monkeypatch.setattr(random, "random", None)
    store.append([report(number) for number in range(SIZE)])
    assert store.form_batch() == 1
    assert isinstance(store._source, secrets.SystemRandom)
    assert len(drawn) >= SIZE - 1  # one for each choice, at least


def test_places_on_the_disk_do_not_follow_the_order_of_a_batch(store, tmp_path):
    assert hashes_in_their_own_order(store, tmp_path)


def test_nothing_of_a_forwarded_report_is_left_in_the_files(store, tmp_path):
    """Neither in free pages nor in the write-ahead log, which is empty."""
    store.append([report(number) for number in range(SIZE)])
    files = [tmp_path / "relay.db", tmp_path / "relay.db-wal"]
    marks = [body_of(number)[8:] for number in range(SIZE)]
    content = b"".join(path.read_bytes() for path in files)
    assert all(mark in content for mark in marks)
    store.form_batch()
    assert files[1].stat().st_size == 0
    store.forget_batch(1)
    content = b"".join(path.read_bytes() for path in files)
    assert not any(mark in content for mark in marks)
    assert b"key-of-" not in content
    assert files[1].stat().st_size == 0


def test_dropped_reports_are_gone_from_the_files(store, tmp_path):
    store.append([report(0)])
    assert store.drop_waiting() == 1
    assert body_of(0)[8:] not in (tmp_path / "relay.db").read_bytes()
    assert (tmp_path / "relay.db-wal").stat().st_size == 0


def test_files_are_for_their_owner_alone_and_durable(store, tmp_path):
    for path in tmp_path.glob("relay.db*"):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    with store._database.read() as connection:
        found = {
            name: connection.exec_driver_sql(f"PRAGMA {name}").scalar_one()
            for name in ("synchronous", "journal_mode", "secure_delete")
        }
    assert found == {"synchronous": 2, "journal_mode": "wal", "secure_delete": 1}


def test_a_database_that_keeps_what_was_deleted_is_refused(tmp_path, monkeypatch):
    monkeypatch.setitem(store_module.PRAGMAS, "secure_delete", 7)
    with pytest.raises(StoreError, match="must take secure_delete=7, got"):
        make_store(tmp_path)


def test_a_relay_that_is_opened_again_goes_on(tmp_path):
    with make_store(tmp_path) as store:
        store.append([report(number) for number in range(SIZE + 1)])
        store.form_batch()
        batch = store.next_batch()
    with make_store(tmp_path) as store:
        assert store.next_batch() == batch
        assert store.append([report(0)]) == [DUPLICATE]
        assert store.counts() == (1, 1, 0, 0)


@pytest.mark.parametrize(
    "changed", [{"campaign": "other"}, {"width": WIDTH + 1}, {"batch_size": SIZE - 1}]
)
def test_the_database_of_another_campaign_is_refused(tmp_path, changed):
    make_store(tmp_path).close()
    given = {"campaign": "homes", "width": WIDTH, "batch_size": SIZE, **changed}
    with pytest.raises(ParameterError, match="must be that of its campaign"):
        RelayStore.open(str(tmp_path / "relay.db"), **given)


def test_a_file_of_something_else_is_refused(tmp_path):
    with sqlite3.connect(tmp_path / "relay.db") as other:
        other.execute("CREATE TABLE accounts (name TEXT)")
    other.close()
    with pytest.raises(StoreError, match="must be its own"):
        make_store(tmp_path)


@pytest.mark.parametrize(
    "submission",
    [
        report(0)._replace(body=b"short"),
        report(0)._replace(campaign="other"),
        report(0)._replace(n_reports=2),
        report(0)._replace(key=b""),
    ],
)
def test_what_is_no_sealed_report_is_refused(store, submission: Submission):
    with pytest.raises(ParameterError):
        store.check_submission(submission)
    store.check_submission(report(0))


def test_a_stopped_relay_takes_nothing(store):
    store.ping()
    store.stop("forwarding has stopped")
    for refused in (store.ping, lambda: store.check_submission(report(0))):
        with pytest.raises(StoreUnavailableError, match="forwarding has stopped"):
            refused()
