"""Delivery: the same bytes and key until they arrive, whatever the collector answers."""

from dataclasses import replace
from datetime import timedelta
from types import SimpleNamespace

import pytest

from helpers.campaigns import KEY
from helpers.stub_collector import (
    BOX,
    HOME,
    URL,
    WORK,
    StubCollector,
    joined,
    make_campaign,
    make_device,
    revised,
    stored,
)
from shoal.campaigns import Campaign, open_campaign, sign_campaign
from shoal.client import Answer, Retries, delivery
from shoal.exceptions import CampaignError, DeliveryError, ParameterError
from shoal.mechanisms import PartitionResponse


@pytest.fixture
def path(tmp_path):
    return tmp_path / "device.db"


@pytest.fixture
def waits(monkeypatch):
    """Return the waits between attempts, none of which is waited."""
    waited = []
    # The client's own clock alone: other threads of this process sleep too.
    monkeypatch.setattr(delivery, "time", SimpleNamespace(sleep=waited.append))
    return waited


def digest_of(campaign):
    return open_campaign(sign_campaign(campaign, KEY), KEY.public).digest


@pytest.mark.parametrize(
    "trouble",
    [
        [OSError("no route"), TimeoutError("late")],
        [503, 429],
        [500, Answer(502, {}, b"<html>")],
        ["drop"],
    ],
    ids=["network", "busy", "broken", "stored, not said"],
)
def test_an_attempt_after_trouble_sends_the_same(path, trouble):
    collector = StubCollector(make_campaign())
    device = joined(path, collector)
    collector.plan = [collector.store_and_drop if step == "drop" else step for step in trouble]
    assert device.report(HOME).sent
    assert len(collector.sent) == len(trouble) + 1
    assert len(set(collector.sent)) == 1
    assert list(collector.stored.items()) == collector.sent[:1]


def test_a_collector_that_is_busy_for_ever_gets_no_fresh_report(path):
    collector = StubCollector(make_campaign())
    device = joined(path, collector)
    collector.plan = [503] * 30
    for _ in range(5):
        with pytest.raises(DeliveryError, match=r"503.*try again") as refused:
            device.report(HOME)
        assert not refused.value.final
    assert device.send_pending().kept == 1
    assert len(collector.sent) == 18, "bounded: three attempts a call"
    assert len(set(collector.sent)) == 1
    collector.plan = []
    assert device.send_pending() == (1, 0, ())
    assert device.status()[0].epsilon == 1.0


@pytest.mark.parametrize("status", [400, 401, 403, 404, 409, 410, 413, 415, 422, 301, 307])
def test_a_refusal_is_final_and_the_report_is_kept(path, status):
    collector = StubCollector(make_campaign())
    device = joined(path, collector)
    collector.plan = [status]
    with pytest.raises(DeliveryError, match=f"refused for good, status {status}") as refused:
        device.report(HOME)
    assert refused.value.final
    assert "\n" not in str(refused.value)
    assert len(collector.posts) == 1
    assert device.report(HOME).duplicate, "kept, and tried again where somebody asks for it"
    assert len(set(collector.sent)) == 1


@pytest.mark.parametrize(
    "answer",
    [
        Answer(200, {}, b"<html>Sign in to this network</html>"),
        Answer(201, {}, b""),
        Answer(200, {}, b"[]"),
        Answer(201, {}, b'{"stored": 0, "duplicate": false}'),
        Answer(204, {}, b""),
        Answer(299, {}, stored().body),
    ],
    ids=lambda answer: f"{answer.status} {answer.body[:12]!r}",
)
def test_only_a_collectors_word_is_taken_for_arrival(path, answer):
    collector = StubCollector(make_campaign())
    device = joined(path, collector)
    collector.plan = [answer]
    with pytest.raises(DeliveryError, match="must answer as a collector does"):
        device.report(HOME)
    assert device.status()[0].acknowledged == 0
    assert device.send_pending().sent == 1


def test_the_servers_words_stay_out_of_messages(path):
    collector = StubCollector(make_campaign())
    device = joined(path, collector)
    collector.plan = [
        lambda request: Answer(422, {}, b"bad report: " + request.body.hex().encode())
    ]
    with pytest.raises(DeliveryError) as refused:
        device.report(HOME)
    assert collector.posts[0].body.hex() not in str(refused.value)
    assert "bad report" not in str(refused.value)


def test_waits_grow_and_are_drawn(path, waits):
    collector = StubCollector(make_campaign())
    device = joined(path, collector, retries=Retries(attempts=40, first_wait=1.0, max_wait=8.0))
    collector.plan = [503] * 39
    device.report(HOME)
    assert len(waits) == 39
    assert all(wait <= limit for wait, limit in zip(waits, (1, 2, 4, *[8] * 36), strict=True))
    assert len(set(waits)) == 39


@pytest.mark.parametrize(
    ("header", "least"),
    [
        ("3", 3.0),
        ("soon", 0.0),
        ("-3", 0.0),
        ("", 0.0),
        ("Sun, 06 Nov 1994 08:49:37 GMT", 0.0),
        ("Fri, 31 Dec 99999999999999999999 23:59:59 GMT", 0.0),
    ],
)
def test_a_named_time_is_waited(path, waits, header, least):
    collector = StubCollector(make_campaign())
    device = joined(path, collector)
    collector.plan = [Answer(503, {"retry-after": header}, b"")]
    device.report(HOME)
    assert waits == [least]


@pytest.mark.parametrize("header", ["3600", "9" * 400, "Fri, 31 Dec 2100 23:59:59 GMT"])
def test_a_long_time_is_left_to_the_scheduler(path, waits, header):
    collector = StubCollector(make_campaign())
    device = joined(path, collector)
    collector.plan = [Answer(429, {"retry-after": header}, b"")]
    with pytest.raises(DeliveryError, match="s at the earliest") as refused:
        device.report(HOME)
    assert refused.value.wait >= 3600
    assert (len(collector.posts), waits) == (1, [])


def test_pending_reports_of_a_campaign_that_does_not_answer_wait_together(path):
    collector = StubCollector(make_campaign(reports_per_device=9))
    device = joined(path, collector)
    for first in (0.1, 0.2, 0.3):
        device.draw([first, 0.5])
    assert collector.posts == []
    collector.plan = [503] * 3
    assert device.send_pending()[:2] == (0, 3)
    assert len(collector.posts) == 3, "one of them was tried"
    collector.plan = [422]
    outcome = device.send_pending()
    assert outcome[:2] == (2, 1), "a refused one does not hold up the others"
    assert "422" in outcome.reasons[0]


# The document changed


def test_a_new_document_with_the_same_mechanism_takes_the_same_report(path):
    campaign = make_campaign()
    collector = StubCollector(campaign)
    device = joined(path, collector)
    later = revised(campaign, closes=campaign.closes + timedelta(days=9))
    collector.publish(later)
    collector.digest = digest_of(later)
    assert device.report(HOME).sent
    old, new = collector.posts
    assert collector.sent[0] == collector.sent[1]
    assert old.headers["Shoal-Campaign"] == digest_of(campaign)
    assert new.headers["Shoal-Campaign"] == digest_of(later)
    assert device.status()[0].campaign.revision == 2


def test_a_value_is_not_drawn_again_by_way_of_another_mechanism(path):
    campaign = make_campaign(reports_per_device=5)
    collector = StubCollector(campaign)
    device = joined(path, collector)
    assert device.report(HOME).sent
    for revision in range(2, 6):
        epsilon = 1.0 - revision * 1e-9
        collector.publish(
            replace(campaign, mechanism=PartitionResponse(epsilon, bounds=BOX), revision=revision)
        )
        with pytest.raises(CampaignError, match="its reports come from another mechanism"):
            device.join(URL)
        assert device.report(HOME).duplicate
    assert len(set(collector.sent)) == 1
    assert device.status()[0].epsilon == 1.0


def test_a_report_of_another_mechanism_is_kept_and_not_sent(path, monkeypatch):
    # Such a document is refused before; this is the second lock.
    monkeypatch.setattr(Campaign, "weaker_than", lambda self, earlier: ())
    campaign = make_campaign(reports_per_device=3)
    collector = StubCollector(campaign)
    device = joined(path, collector)
    later = revised(campaign, mechanism=PartitionResponse(0.5, bounds=BOX))
    collector.publish(later)
    collector.digest = digest_of(later)
    with pytest.raises(DeliveryError, match="drawn by the mechanism of an earlier document"):
        device.report(HOME)
    assert len(collector.posts) == 1
    assert collector.stored == {}
    assert device.send_pending()[:2] == (0, 1)
    assert device.report(HOME).sent, "a new question, by the new document"
    assert device.status()[0].epsilon == 1.5
    assert len(collector.posts) == 2


def test_a_weaker_document_is_refused_in_the_middle_too(path):
    campaign = make_campaign()
    collector = StubCollector(campaign)
    device = joined(path, collector)
    weaker = revised(campaign, mechanism=PartitionResponse(4.0, bounds=BOX))
    collector.publish(weaker)
    collector.digest = digest_of(weaker)
    for _ in range(2):
        with pytest.raises(CampaignError, match="epsilon of a report is 4, above 1"):
            device.report(HOME)
    assert len(set(collector.sent)) == 1
    assert collector.stored == {}
    assert device.send_pending()[:2] == (0, 1)
    assert device.status()[0].digest == digest_of(campaign)


def test_a_collector_that_refuses_its_own_document_is_asked_twice(path):
    collector = StubCollector(make_campaign())
    device = joined(path, collector)
    collector.digest = "0" * 64
    with pytest.raises(DeliveryError, match="got status 412 again"):
        device.report(HOME)
    assert len(collector.posts) == 2


def test_another_campaign_at_the_address_is_not_joined_in_passing(path):
    collector = StubCollector(make_campaign())
    device = joined(path, collector, epsilon_limit=9.0)
    collector.documents["/v1/campaigns/homes"] = sign_campaign(make_campaign(id="jobs"), KEY)
    collector.digest = "0" * 64
    with pytest.raises(CampaignError, match="must have campaign 'homes', got 'jobs'"):
        device.report(HOME)
    assert [status.campaign.id for status in device.status()] == ["homes"]


def test_without_an_address_the_app_brings_the_new_document(path):
    campaign = make_campaign()
    collector = StubCollector()
    device = make_device(path, collector)
    device.join_envelope(sign_campaign(campaign, KEY))
    later = revised(campaign, title="Where people live now")
    collector.digest = digest_of(later)
    with pytest.raises(DeliveryError, match="another document of campaign 'homes': join it"):
        device.report(HOME)
    device.join_envelope(sign_campaign(later, KEY))
    assert device.send_pending().sent == 1
    assert len(set(collector.sent)) == 1


def test_two_devices_that_report_at_once_send_one_report(path):
    """The second one finds the report that the first one keeps and has not sent yet."""
    collector = StubCollector(make_campaign())
    first, second = joined(path, collector), joined(path, collector)
    collector.plan = [lambda request: second.report(HOME) and collector.store(request)]
    assert first.report(HOME).sent
    assert len(set(collector.sent)) == 1
    assert len(collector.stored) == 1
    assert first.status()[0].drawn == 1


@pytest.mark.parametrize(
    "wrong",
    [{"attempts": 0}, {"first_wait": -1.0}, {"first_wait": 9.0, "max_wait": 1.0}],
    ids=str,
)
def test_bad_retries(wrong):
    with pytest.raises(ParameterError, match=next(reversed(wrong))):
        Retries(**wrong)


def test_different_values_have_different_keys(path):
    collector = StubCollector(make_campaign(reports_per_device=2))
    device = joined(path, collector)
    device.report(HOME)
    device.report(WORK)
    keys = [key for key, _ in collector.sent]
    assert len(set(keys)) == 2
    assert all(len(key) == 32 for key in keys)
    assert collector.requests[0].url == URL
