"""Every key is stored once, with its first body, whoever sends it how often and beside what."""

import threading

import pytest
from sqlalchemy import inspect, text

from helpers.campaigns import WIDTH, signed_campaign
from helpers.submissions import body_of, submission
from shoal.collector.store import Outcome, Store, Submission
from shoal.collector.store._rows import open_rows
from shoal.collector.store.models import devices, submissions
from shoal.exceptions import ParameterError, StoreError

STORED, DUPLICATE, CONFLICT, OVER_LIMIT = Outcome


def stored(store, campaign):
    return b"".join(store.blocks(campaign))


def test_what_is_stored_is_read_back(store, campaign):
    group = [submission(campaign, number, n_reports=1 + number % 3) for number in range(20)]
    assert store.append(group) == [STORED] * 20
    assert store.count(campaign) == sum(one.n_reports for one in group)
    content = stored(store, campaign)
    assert len(content) == sum(len(one.body) for one in group)
    assert all(one.body in content for one in group)


@pytest.mark.parametrize("length", [2, 4], ids=["other length", "same length"])
@pytest.mark.parametrize("together", [True, False], ids=["one group", "two groups"])
def test_a_key_is_stored_once(store, campaign, together, length):
    first, other = submission(campaign, 1), submission(campaign, 1, body=b"\0" * length * WIDTH)
    new = submission(campaign, 2)
    again = [first, other, new, other]
    if together:
        outcomes = store.append([first, *again])
    else:
        outcomes = store.append([first]) + store.append(again)
    assert outcomes == [STORED, DUPLICATE, CONFLICT, STORED, CONFLICT]
    assert sorted([stored(store, campaign).count(one.body) for one in (first, new, other)]) == [
        0,
        1,
        1,
    ]
    assert store.count(campaign) == first.n_reports + new.n_reports


def test_a_body_of_another_length_is_not_read_to_be_another(store, campaign):
    """Or a thousand short ones could load a thousand long ones."""
    known = store._campaign_key(campaign)
    one = submission(campaign, 1)
    store.append([one])
    keys = [known.hash_key(key) for key in (one.key, one.key, b"unknown")]
    with store._database.read() as connection:
        found = open_rows(connection, known).find(keys, [len(one.body), 2, 2])
    assert found == {0: one.body, 1: None}


def test_the_same_key_in_another_campaign_is_another_submission(store, campaign, counted):
    group = [submission(name, 1, n_reports=2, device=b"d") for name in (counted, campaign, counted)]
    assert store.append(group) == [STORED, STORED, DUPLICATE]
    assert store.count(campaign) == store.count(counted) == 2


def test_nothing_is_stored_of_an_empty_group(store):
    assert store.append([]) == []


def test_devices_have_a_limit(store, counted):
    def one(number, n_reports, device):
        return submission(counted, number, n_reports=n_reports, device=device)

    assert store.append([one(1, 2, b"a"), one(2, 2, b"a"), one(3, 3, b"b")]) == [
        STORED,
        OVER_LIMIT,
        STORED,
    ]
    # A retry is no new report; one more fits, a second does not, another device is not concerned.
    assert store.append(
        [one(1, 2, b"a"), one(4, 1, b"a"), one(5, 1, b"a"), one(6, 1, b"b"), one(7, 1, b"c")]
    ) == [DUPLICATE, STORED, OVER_LIMIT, OVER_LIMIT, STORED]
    assert store.count(counted) == 2 + 3 + 1 + 1


def test_no_device_key_or_time_is_in_the_database(store, campaign, counted):
    device, key = b"the device's own number", b"a-key-that-names-someone"
    group = [
        Submission(campaign, key, body_of("x"), 1, device),
        Submission(counted, key, body_of("y"), 1, device),
    ]
    assert store.append(group) == [STORED, STORED]
    with store._database.read() as connection:
        for name in inspect(connection).get_table_names():
            for row in connection.execute(text(f"SELECT * FROM {name}")):
                assert device not in row
                assert key not in row
    assert set(submissions.c.keys()) == {"campaign", "key", "epoch", "body"}
    assert set(devices.c.keys()) == {"campaign", "device", "n_reports"}


def test_hashes_differ_between_campaigns(store, campaign, counted):
    one, other = store._campaign_key(campaign), store._campaign_key(counted)
    assert one.hash_key(b"key") != other.hash_key(b"key")
    assert one.hash_device(b"key") != one.hash_key(b"key")
    assert len(one.secret) == 32


def test_the_order_of_reading_is_not_that_of_arrival(store, campaign):
    """Found in order by chance: 1 / 40!, below 1e-47."""
    group = [submission(campaign, number, n_reports=9) for number in range(40)]
    for one in group:
        store.append([one])
    content = stored(store, campaign)
    places = [content.index(one.body) for one in group]
    assert places != sorted(places)
    assert stored(store, campaign) == content


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        (Submission("{}", b"k" * 16, b"\0" * (WIDTH + 1), 1), "body must hold n_reports reports"),
        (Submission("{}", b"k" * 16, b"", 0), "body must hold n_reports reports"),
        (Submission("{}", b"", b"\0" * WIDTH, 1), "key must not be empty"),
    ],
    ids=["length", "none", "no key"],
)
def test_a_broken_submission_is_refused_with_its_group(store, campaign, broken, message):
    broken = broken._replace(campaign=campaign)
    with pytest.raises(ParameterError, match=message):
        store.append([submission(campaign, 1), broken])
    assert store.count(campaign) == 0


def test_an_unknown_campaign_is_refused(store):
    with pytest.raises(StoreError, match="no campaign 'nowhere'"):
        store.append([submission("nowhere", 1)])


def test_writers_at_the_same_time_store_every_key_once(store, campaign, counted):
    """Four stores send the same submissions in groups of two campaigns, in opposite orders."""
    url = store._database.url.render_as_string(hide_password=False)
    outcomes: list[Outcome] = []
    start = threading.Barrier(4)

    def write(direction):
        with Store.open(url) as own:
            start.wait()
            for number in range(8):
                group = [
                    submission(name, number, n_reports=1, device=b"%d" % number)
                    for name in (campaign, counted)
                ]
                outcomes.extend(own.append(group[::direction]))

    threads = [threading.Thread(target=write, args=(way,)) for way in (1, -1, 1, -1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert outcomes.count(STORED) == 16
    assert outcomes.count(DUPLICATE) == 48
    assert store.count(campaign) == store.count(counted) == 8
    assert len(stored(store, campaign)) == 8 * WIDTH


def test_a_revision_changes_the_limit(store, counted):
    device = b"d"
    assert store.append([submission(counted, 1, n_reports=2, device=device)]) == [STORED]
    store.add_campaign(signed_campaign(counted, device_ids=True, reports_per_device=2, revision=2))
    assert store.append([submission(counted, 2, n_reports=1, device=device)]) == [OVER_LIMIT]
