"""Snapshots stay as they are while intake goes on; blocks are whole, equal and verified."""

import hashlib
import threading
import tracemalloc

import pytest
from sqlalchemy import delete, update

from helpers.campaigns import WIDTH
from helpers.submissions import submission
from shoal.collector.store import Snapshot, Store
from shoal.collector.store.models import submissions
from shoal.exceptions import ParameterError, StoreError


def group(campaign, numbers, n_reports=3):
    return [submission(campaign, number, n_reports=n_reports) for number in numbers]


@pytest.mark.parametrize("rows", [1, 7, 10, 3000])
def test_blocks_have_as_many_reports_as_asked(store, campaign, rows):
    store.append(group(campaign, range(20), 3) + group(campaign, range(20, 25), 11))
    blocks = list(store.blocks(campaign, rows=rows))
    assert [len(block) for block in blocks[:-1]] == [rows * WIDTH] * (len(blocks) - 1)
    assert 0 < len(blocks[-1]) <= rows * WIDTH
    assert b"".join(blocks) == b"".join(store.blocks(campaign))
    assert sum(map(len, blocks)) == 115 * WIDTH


def test_a_snapshot_is_fixed_while_intake_goes_on(store, campaign):
    store.append(group(campaign, range(10)))
    first = store.snapshot(campaign)
    before = b"".join(store.blocks(campaign, first))
    store.append(group(campaign, range(10, 30)))
    assert b"".join(store.blocks(campaign, first)) == before
    assert first.n_reports == 30
    assert first.digest == hashlib.sha256(before).hexdigest()
    second = store.snapshot(campaign)
    assert second.n_reports == 90
    assert second.last > first.last
    assert len(b"".join(store.blocks(campaign, second))) == 90 * WIDTH
    assert store.snapshot(campaign) == second


def test_reading_is_of_one_moment(store, campaign):
    """What comes between two blocks is not read, wherever its hash stands."""
    store.append(group(campaign, range(30), 1))
    read = b""
    for number, block in enumerate(store.blocks(campaign, rows=1)):
        store.append(group(campaign, [100 + number], 1))
        read += block
    assert len(read) == 30 * WIDTH


def test_nothing_is_read_of_an_empty_campaign(store, campaign):
    assert list(store.blocks(campaign)) == []
    assert store.snapshot(campaign) == Snapshot(1, 0, hashlib.sha256(b"").hexdigest())
    assert store.count(campaign) == 0


@pytest.mark.parametrize("change", ["delete", "replace", "add"])
def test_a_database_that_was_changed_is_noticed(store, campaign, change):
    store.append(group(campaign, range(5)))
    snapshot = store.snapshot(campaign)
    number = store._campaign_key(campaign).number
    of_campaign = submissions.c.campaign == number
    one = store._campaign_key(campaign).hash_key(submission(campaign, 1).key)
    statement = {
        "delete": delete(submissions).where(of_campaign, submissions.c.key == one),
        "replace": update(submissions)
        .where(of_campaign, submissions.c.key == one)
        .values(body=bytes(3 * WIDTH)),
        "add": submissions.insert().values(
            campaign=number, key=bytes(16), epoch=1, body=bytes(WIDTH)
        ),
    }[change]
    with store._database.write() as connection:
        connection.execute(statement)
    with pytest.raises(StoreError, match="are not those of the snapshot"):
        list(store.blocks(campaign, snapshot))


def test_a_block_has_a_report_at_least(store, campaign):
    with pytest.raises(ParameterError, match="rows must be at least 1, got 0"):
        list(store.blocks(campaign, rows=0))


def test_a_snapshot_waits_for_writers_that_have_not_committed(store, campaign):
    """The case that numbers of rows would miss: earlier numbers, committed later."""
    url = store._database.url.render_as_string(hide_password=False)
    snapshots = []

    def take():
        with Store.open(url) as own:
            snapshots.append(own.snapshot(campaign))

    store.append(group(campaign, range(3)))
    with store._database.write() as connection:
        store._append_in(connection, group(campaign, range(3, 6)), all_new=True)
        thread = threading.Thread(target=take)
        thread.start()
        thread.join(0.3)
        waited = not snapshots
    thread.join()
    assert waited
    assert snapshots[0].n_reports == 18
    assert len(b"".join(store.blocks(campaign, snapshots[0]))) == 18 * WIDTH


def test_snapshots_during_sustained_intake_are_exact(store, campaign):
    """Two writers with stores of their own; every snapshot reads back as it was counted."""
    url = store._database.url.render_as_string(hide_password=False)

    def write(start):
        with Store.open(url) as own:
            for number in range(start, start + 60, 3):
                own.append(group(campaign, range(number, number + 3), 2))

    threads = [threading.Thread(target=write, args=(start,)) for start in (0, 1000)]
    for thread in threads:
        thread.start()
    taken = []
    while any(thread.is_alive() for thread in threads):
        taken.append(store.snapshot(campaign))
    for thread in threads:
        thread.join()
    taken.append(store.snapshot(campaign))
    assert taken[-1].n_reports == store.count(campaign) == 240
    for snapshot in {*taken[:: max(len(taken) // 6, 1)], taken[-1]}:
        assert sum(map(len, store.blocks(campaign, snapshot))) == snapshot.n_reports * WIDTH


def test_memory_is_that_of_blocks(store, campaign):
    """2 MB of reports, some of them in large submissions, through blocks of 16 kB."""
    store.append(group(campaign, range(200), 5000 // WIDTH * 2))
    wanted = 200 * (5000 // WIDTH * 2) * WIDTH
    assert wanted == 2_000_000
    tracemalloc.start()
    read = sum(len(block) for block in store.blocks(campaign, rows=8192 // WIDTH))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert read == wanted
    assert peak < 500_000
