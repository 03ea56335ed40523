"""Batches over HTTP: opened, stored as one, acknowledged once, and what is refused."""

import json
import threading
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from helpers.campaigns import SEALING_KEY, shuffled_campaign
from helpers.collector import REPORT, is_problem, running_collector, sealed
from shoal.campaigns import SEALED_OVERHEAD, SealingKey
from shoal.collector import batch_intake
from shoal.collector.batch_intake import GRACE, open_batch
from shoal.collector.store import SCOPES, Store
from shoal.exceptions import StoreUnavailableError
from shoal.mechanisms import PartitionResponse

REPORTS = [bytes([number, 1]) for number in range(4)]
NONE = b"\xff\xff"  # opens, and is no report


@pytest.fixture(scope="module")
def collector(sqlite_collector):
    return sqlite_collector


@pytest.fixture
def campaign(collector):
    return collector.add_shuffled()


def stored(collector, campaign):
    body = b"".join(collector.store.blocks(campaign))
    return [body[start : start + 2] for start in range(0, len(body), 2)]


def test_a_batch_is_stored_once(collector, campaign):
    body = sealed(campaign, *reversed(REPORTS))
    answer = collector.send_batch(campaign, 1, body)
    assert answer.status_code == 201
    assert answer.json() == {"batch": 1, "stored": 4, "dropped": 0, "duplicate": False}
    again = collector.send_batch(campaign, 1, body)
    assert again.status_code == 200
    assert again.json() == {"batch": 1, "stored": 4, "dropped": 0, "duplicate": True}
    assert stored(collector, campaign) == REPORTS
    assert is_problem(
        collector.send_batch(campaign, 1, sealed(campaign, *REPORTS)), "batch-differs"
    )
    assert is_problem(collector.send_batch(campaign, 3, body), "batch-missing")
    assert stored(collector, campaign) == REPORTS


def test_what_does_not_count_is_dropped_and_counted(collector, campaign):
    first = sealed(campaign, *REPORTS)
    width = len(first) // 4
    assert collector.send_batch(campaign, 1, first).status_code == 201
    changed = bytearray(sealed(campaign, REPORT))
    changed[-1] ^= 1
    for number, (part, kind) in enumerate(
        [
            (first[:width], "n_repeated"),  # a relay that sends a report again
            (sealed("another-campaign", REPORT), "n_unopened"),
            (SealingKey.new().public.seal(REPORT, campaign), "n_unopened"),
            (bytes(changed), "n_unopened"),
            (bytes(width), "n_unopened"),
            (sealed(campaign, NONE), "n_invalid"),
        ],
        2,
    ):
        before = collector.store.batch_totals(campaign)
        answer = collector.send_batch(campaign, number, sealed(campaign, *REPORTS[:3]) + part)
        assert answer.json() == {"batch": number, "stored": 3, "dropped": 1, "duplicate": False}
        after = collector.store.batch_totals(campaign)
        assert getattr(after, kind) == getattr(before, kind) + 1
        assert after.n_dropped == before.n_dropped + 1
    twice = sealed(campaign, REPORT)
    answer = collector.send_batch(campaign, 8, sealed(campaign, *REPORTS[:2]) + twice + twice)
    assert answer.json() == {"batch": 8, "stored": 3, "dropped": 1, "duplicate": False}


def test_a_batch_of_nothing_is_a_batch(collector, campaign):
    body = sealed(campaign, *[NONE] * 4)
    assert collector.send_batch(campaign, 1, body).json()["stored"] == 0
    assert collector.send_batch(campaign, 1, body).json()["duplicate"]
    assert collector.send_batch(campaign, 2, sealed(campaign, *REPORTS)).json()["stored"] == 4


def test_devices_send_nothing_to_a_shuffled_campaign(collector):
    campaign = collector.add_shuffled(open_intake=True)
    assert is_problem(collector.send(campaign), "relay-only")
    assert is_problem(collector.send(campaign, sealed(campaign, REPORT)), "relay-only")
    numbers = json.dumps({"reports": [[7.0, 1.0]]}).encode()
    assert is_problem(
        collector.send(campaign, numbers, Content_Type="application/json"), "relay-only"
    )
    assert collector.store.count(campaign) == 0


def test_a_plain_campaign_takes_no_batch(collector):
    campaign = collector.add_campaign()
    assert is_problem(collector.send_batch(campaign, 1, REPORT * 4), "not-shuffled")


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"Authorization": None}, "unauthorized"),
        ({"Authorization": "Bearer shoal_key_000000000000_x"}, "unauthorized"),
        ({"Shoal_Campaign": None}, "malformed-request"),
        ({"Shoal_Campaign": "0" * 64}, "campaign-changed"),
        ({"Content_Type": "application/json"}, "unsupported-media-type"),
        ({"Content_Type": "text/plain"}, "unsupported-media-type"),
        ({"Content_Encoding": "gzip"}, "unsupported-media-type"),
        ({"number": 0}, "invalid-parameter"),
        ({"number": -1}, "invalid-parameter"),
        ({"number": "01"}, "invalid-parameter"),
        ({"number": "one"}, "invalid-parameter"),
        ({"number": 2**31}, "invalid-parameter"),
        ({"body": b""}, "wrong-shape"),
        ({"body": bytes(4 * (2 + SEALED_OVERHEAD) - 1)}, "wrong-shape"),
        ({"body": bytes(4 * (2 + SEALED_OVERHEAD) + 1)}, "wrong-shape"),
        ({"body": bytes(3 * (2 + SEALED_OVERHEAD))}, "wrong-shape"),
        ({"body": bytes(1 << 20)}, "wrong-shape"),
    ],
)
def test_refusals(collector, campaign, change, problem):
    """Open intake is for devices: a relay needs its key in any case."""
    request = {"number": 1, "body": sealed(campaign, *REPORTS), **change}
    assert is_problem(collector.send_batch(campaign, **request), problem)
    assert collector.store.batch_totals(campaign).n_batches == 0


def test_a_key_is_needed_also_where_intake_is_open(collector):
    campaign = collector.add_shuffled(open_intake=True)
    body = sealed(campaign, *REPORTS)
    assert is_problem(collector.send_batch(campaign, 1, body, Authorization=None), "unauthorized")


@pytest.mark.parametrize(("late", "status"), [(timedelta(hours=1), 201), (GRACE, 410)])
def test_a_batch_may_come_some_time_after_closing(collector, late, status):
    campaign = collector.add_shuffled(closes=datetime.now(UTC) - late)
    answer = collector.send_batch(campaign, 1, sealed(campaign, *REPORTS))
    assert answer.status_code == status
    assert status == 201 or is_problem(answer, "closed")


def test_a_campaign_may_be_open_for_ever(collector):
    """Until the last second that a calendar has: days of grace after it are none."""
    campaign = collector.add_shuffled(closes=datetime.max.replace(tzinfo=UTC))
    assert collector.send_batch(campaign, 1, sealed(campaign, *REPORTS)).status_code == 201


def test_a_server_without_the_key_takes_nothing(tmp_path):
    """It would drop reports that the right key opens."""
    other = [SealingKey.new()]
    with running_collector(f"sqlite:///{tmp_path}/reports.db", sealing_keys=other) as collector:
        campaign = collector.add_shuffled()
        answer = collector.send_batch(campaign, 1, sealed(campaign, *REPORTS))
        assert is_problem(answer, "unavailable")
        assert answer.headers["retry-after"] == "60"
        assert collector.store.batch_totals(campaign).n_batches == 0


def test_one_batch_of_a_campaign_at_a_time(collector, campaign, monkeypatch):
    """A relay that loses patience finds its batch stored, once."""
    started, go = threading.Event(), threading.Event()

    def slow(*arguments):
        started.set()
        assert go.wait(60)
        return open_batch(*arguments)

    monkeypatch.setattr(batch_intake, "open_batch", slow)
    body, answers = sealed(campaign, *REPORTS), []
    sender = threading.Thread(
        target=lambda: answers.append(collector.send_batch(campaign, 1, body))
    )
    sender.start()
    assert started.wait(60)
    assert is_problem(collector.send_batch(campaign, 1, body), "unavailable")
    go.set()
    sender.join()
    assert answers[0].status_code == 201
    assert collector.send_batch(campaign, 1, body).status_code == 200


def test_an_acknowledgement_follows_the_commit(collector, campaign, monkeypatch):
    right, committed = Store.append_batch, []

    def slow(store, *arguments):
        outcome = right(store, *arguments)
        committed.append(outcome)
        return outcome

    monkeypatch.setattr(Store, "append_batch", slow)
    assert collector.send_batch(campaign, 1, sealed(campaign, *REPORTS)).status_code == 201
    assert len(committed) == 1


def test_a_database_that_is_away_takes_the_batch_later(collector, campaign, monkeypatch):
    def away(*_):
        raise StoreUnavailableError("its disk is full", retry_after=30)

    body = sealed(campaign, *REPORTS)
    with monkeypatch.context() as planted:
        planted.setattr(Store, "append_batch", away)
        answer = collector.send_batch(campaign, 1, body)
        assert is_problem(answer, "unavailable")
        assert answer.headers["retry-after"] == "30"
    assert collector.send_batch(campaign, 1, body).status_code == 201


def test_counts_exports_and_results_show_batches(collector):
    from shoal.collector.worker import Worker

    mechanism = PartitionResponse(2.0, bounds=([0.0, 0.0], [1.0, 1.0]))
    campaign = collector.add_shuffled(batch_size=40, mechanism=mechanism)
    reports = [mechanism.encode(mechanism.randomize([0.2, 0.3])) for _ in range(39)]
    body = sealed(campaign, *reports) + bytes(len(sealed(campaign, reports[0])))
    assert collector.send_batch(campaign, 1, body).json()["dropped"] == 1
    headers, root = collector.token(*SCOPES), f"/v1/campaigns/{campaign}"
    count = collector.client.get(f"{root}/count", headers=headers).json()
    assert count == {"campaign": campaign, "reports": 39, "batches": 1, "dropped": 1}
    table = collector.client.get(f"{root}/reports?format=csv", headers=headers)
    assert len(table.text.splitlines()) == 40
    asked = {"method": "noise-aware", "parameters": {"n_clusters": 1, "n_init": 1}}
    refused = collector.client.post(f"{root}/analyses", json=asked, headers=headers)
    assert is_problem(refused, "invalid-parameter")
    assert "honest_share must be given" in refused.json()["detail"]
    asked["parameters"] |= {"honest_share": 1.0, "delta": 1e-4}
    assert collector.client.post(f"{root}/analyses", json=asked, headers=headers).status_code == 202
    assert Worker(collector.store).run_next()
    collector.client.post(f"{root}/analyses/1/publish", headers=headers)
    release = collector.client.get(f"{root}/results").json()["release"]
    promise = release["values"]["collection"]["shuffled"]
    assert (promise["batches"], promise["honest_reports"]) == (1, 39)
    assert promise["guarantee"]["epsilon"] == mechanism.shuffled(39, 1e-4).epsilon < 2.0
    assert release["guarantee"]["notion"] == "local"
    assert release["guarantee"]["epsilon"] == 2.0


def test_nothing_of_a_batch_is_in_the_log(collector, campaign):
    body = sealed(campaign, *REPORTS)
    collector.send_batch(campaign, 1, body)
    line = collector.log.getvalue().splitlines()[-1]
    assert json.loads(line)["route"] == "/v1/campaigns/{campaign}/batches/{number}"
    assert campaign not in line


def test_reports_are_opened_in_order():
    signed = shuffled_campaign("homes")
    body = sealed("homes", *REPORTS)
    opened = open_batch(signed.campaign, SEALING_KEY, body)
    assert [report for _, report in opened.reports] == REPORTS
    width = signed.campaign.body_bytes
    assert [key for key, _ in opened.reports] == [
        body[start : start + 32] for start in range(0, len(body), width)
    ]
    other = replace(signed.campaign, id="works")
    assert open_batch(other, SEALING_KEY, body)[1:] == ([], 4, 0)


def test_a_relay_and_a_collector_understand_each_other(collector, campaign, tmp_path):
    """What waits fills no batch; the others are here once, and the relay may forget them."""
    from shoal.client import Answer
    from shoal.service import Submission
    from shoal.shuffler import RelayStore
    from shoal.shuffler.forwarding import _acknowledges

    document = collector.store.campaign(campaign).campaign
    sizes = {"width": document.body_bytes, "batch_size": document.shuffler.batch_size}
    reports = [bytes([number, 1]) for number in range(9)]
    with RelayStore.open(str(tmp_path / "relay.db"), campaign, **sizes) as relay:
        for number, report in enumerate(reports):
            key = b"key of device %06d" % number
            relay.append([Submission(campaign, key, sealed(campaign, report), 1)])
        while relay.form_batch() is not None:
            pass
        while (batch := relay.next_batch()) is not None:
            for status in (201, 200):  # the first answer may be lost
                sent = collector.send_batch(campaign, batch.number, batch.body)
                assert sent.status_code == status
                answer = Answer(sent.status_code, {}, sent.content)
                assert _acknowledges(answer, batch.number)
            relay.forget_batch(batch.number)
        assert relay.counts().n_waiting == 1
    found = stored(collector, campaign)
    assert len(found) == len(set(found)) == 8
    assert set(found) < set(reports)
