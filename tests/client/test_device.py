"""A device: agrees to no less than before, reports a value once, keeps to its budget."""

import copy
import json
import pickle
from datetime import UTC, datetime, timedelta

import numpy as np
import pandas as pd
import pytest

from helpers.campaigns import KEY
from helpers.stub_collector import (
    BOX,
    HOME,
    OTHER_KEY,
    SITE,
    URL,
    WORK,
    StubCollector,
    joined,
    make_campaign,
    make_device,
    revised,
)
from shoal.campaigns import Campaign, SealingKey, Shuffler, open_campaign, sign_campaign
from shoal.client import agreements
from shoal.exceptions import (
    BudgetExceededError,
    CampaignError,
    DataError,
    DeliveryError,
    ParameterError,
)
from shoal.mechanisms import Duchi, Hybrid, Laplace, PartitionResponse, Piecewise, SquareWave
from shoal.privacy import Guarantee, Limits, Release
from shoal.schema import Category, Number, Schema

SCHEMA = Schema([Number("age", minimum=0, maximum=120), Category("city", ["A", "B"])])


@pytest.fixture
def path(tmp_path):
    return tmp_path / "device.db"


# Reports

MECHANISMS = [
    PartitionResponse(1.0, bounds=BOX),
    Piecewise(1.0, bounds=BOX, columns="sample"),
    SquareWave(1.0, bounds=BOX),
    Hybrid(1.0, bounds=BOX),
    Duchi(1.0, bounds=BOX),
    Laplace(1.0, bounds=BOX),
]


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=lambda one: type(one).__name__)
def test_a_value_is_reported_once_by_every_mechanism(path, mechanism):
    collector = StubCollector(make_campaign(mechanism=mechanism, reports_per_device=9))
    device = joined(path, collector)
    first = device.report(HOME)
    assert (first.duplicate, first.sent) == (False, True)
    assert [device.report(HOME).report for _ in range(5)] == [first.report] * 5
    assert len(collector.posts) == 1, "what has arrived is not sent again"
    device.report(WORK)
    again = device.report(HOME)
    assert (again.report, again.duplicate) == (first.report, True), "no new question"
    (status,) = device.status()
    assert (status.drawn, status.acknowledged, status.epsilon) == (2, 2, 2.0)
    assert mechanism.decode(first.report).shape[0] == 1


def test_equal_values_are_one(path):
    """Clipped to the bounds, and zero has no sign."""
    device = joined(path, StubCollector(make_campaign(reports_per_device=9)))
    device.draw([0.0, 1.0])
    for same in ([-0.0, 1.0], [-5.0, 9.0], np.array([0.0, 1.0]), (0, 1), [np.float32(0.0), 1]):
        assert device.draw(same).duplicate
    assert not device.draw([0.0, np.nextafter(1.0, 0.0)]).duplicate


def test_mixed_records(path):
    mechanism = PartitionResponse(1.0, schema=SCHEMA)
    campaign = make_campaign(mechanism=mechanism, reports_per_device=2)
    device = joined(path, StubCollector(campaign))
    first = device.report({"age": 41.0, "city": "B"})
    assert device.report({"city": "B", "age": 41.0}).report == first.report
    assert device.report([41, "B"]).report == first.report
    assert not device.report({"age": 41.0, "city": "A"}).duplicate


def test_bad_records_cost_nothing_and_are_not_named(path):
    device = joined(path)
    for bad in ([np.nan, 0.5], ["secret", "b"], [0.123456]):
        with pytest.raises(DataError) as refused:
            device.report(bad)
        assert "secret" not in str(refused.value)
        assert "0.123" not in str(refused.value)
    with pytest.raises(ParameterError, match="x must be one record"):
        device.report([HOME, WORK])
    assert device.status()[0].drawn == 0


@pytest.mark.parametrize("bad", [0.123456, None, object()], ids=["number", "none", "object"])
def test_what_is_no_record_of_a_schema_is_refused(path, bad):
    campaign = make_campaign(mechanism=PartitionResponse(1.0, schema=SCHEMA))
    with pytest.raises(DataError, match="x must be one record"):
        joined(path, StubCollector(campaign)).draw(bad)


def test_headers_say_what_the_collector_needs_and_no_more(path):
    campaign = make_campaign(reports_per_device=2)
    collector = StubCollector(campaign)
    device = joined(path, collector, ingest_key="ingest-1")
    device.report(HOME)
    device.report(WORK)
    one, two = (dict(post.headers) for post in collector.posts)
    assert one.pop("Idempotency-Key") != two.pop("Idempotency-Key"), "no link between reports"
    digest = open_campaign(sign_campaign(campaign, KEY), KEY.public).digest
    expected = {
        "Authorization": "Bearer ingest-1",
        "Content-Type": "application/octet-stream",
        "Shoal-Campaign": digest,
    }
    assert one == two == expected
    assert not collector.requests[0].headers.keys() & expected.keys(), "a key is not shown around"


def test_a_report_for_a_shuffler_leaves_sealed_and_stays_the_same(path):
    key = SealingKey(bytes(range(32)))
    campaign = make_campaign(shuffler=Shuffler("X", 10, str(key.public)))
    collector = StubCollector(campaign)
    collector.plan = [503, OSError("gone")]
    receipt = joined(path, collector).report(HOME)
    joined(path, collector).report(HOME)  # it has arrived
    assert len(collector.sent) == 3
    ((_, body),) = set(collector.sent)
    assert len(body) == campaign.body_bytes
    assert key.open(body, campaign.id) == receipt.report
    assert receipt.report not in body


def test_an_id_of_the_device_is_sent_where_asked_and_is_another_in_every_campaign(path):
    asked = [make_campaign(id=name, device_ids=True, open_intake=True) for name in ("one", "two")]
    collector = StubCollector(*asked)
    device = make_device(path, collector, epsilon_limit=9.0, ingest_key={"one": "secret"})
    for name in ("one", "two"):
        device.join(f"{SITE}/v1/campaigns/{name}")
        device.report(HOME)
    sent = [post.headers["Shoal-Device"] for post in collector.posts]
    assert len(set(sent)) == 2
    assert all("Authorization" not in post.headers for post in collector.posts), "open to all"


def test_no_secret_is_in_a_repr_or_pickle(path):
    collector = StubCollector(make_campaign())
    device = joined(path, collector, ingest_key="ingest-1")
    receipt = device.report(HOME)
    for shown in (repr(receipt), repr(device), repr(collector.posts[0])):
        assert "ingest-1" not in shown
        assert repr(receipt.report) not in shown
        assert "0.123" not in shown
    for secret in (receipt, device):
        with pytest.raises(ParameterError, match="must not be pickled"):
            pickle.dumps(secret)
        with pytest.raises(ParameterError, match="must not be pickled"):
            copy.deepcopy(secret)


@pytest.mark.parametrize("key", ["a b", "secret\nX: y", "", "schlüssel", 3, {"homes": "a b"}])
def test_an_ingest_key_fits_into_a_header_and_is_not_repeated(path, key):
    with pytest.raises(ParameterError, match="ingest_key must be visible letters") as refused:
        make_device(path, StubCollector(), ingest_key=key)
    assert "secret" not in str(refused.value)
    assert not path.exists()


# Budgets


def test_past_the_campaigns_budget_nothing_is_drawn(path, monkeypatch):
    collector = StubCollector(make_campaign(reports_per_device=2))
    device = joined(path, collector)
    first = device.report(HOME)
    device.report(WORK)
    before = path.read_bytes()
    monkeypatch.setattr(PartitionResponse, "randomize", no_draw)
    with pytest.raises(BudgetExceededError, match="allows 2 reports of a device, and 2 were drawn"):
        device.report([0.5, 0.5])
    assert device.report(HOME).report == first.report
    assert path.read_bytes() == before
    assert len(collector.posts) == 2


def no_draw(self, x):
    raise AssertionError("drawn")


def test_a_budget_survives_the_process(path):
    joined(path).report(HOME)
    with pytest.raises(BudgetExceededError):
        joined(path).report(WORK)


def test_another_mechanism_would_count_what_was_spent_before(path, monkeypatch):
    """Two reports of 1 were agreed to; now five of 0.3, and one of 1 is spent."""
    monkeypatch.setattr(Campaign, "weaker_than", lambda self, earlier: ())  # the first lock
    campaign = make_campaign(reports_per_device=2)
    collector = StubCollector(campaign)
    device = joined(path, collector)
    device.report(HOME)
    stronger = PartitionResponse(0.3, bounds=BOX)
    collector.publish(revised(campaign, mechanism=stronger, reports_per_device=5))
    device.join(URL)
    device.report(HOME)
    with pytest.raises(BudgetExceededError, match=r"1\.3 was spent and one more report costs 0\.3"):
        device.report(WORK)


def test_the_device_has_a_limit_over_all_campaigns(path):
    """A second campaign that asks the same question is a question all the same."""
    collector = StubCollector(make_campaign(), make_campaign(id="again"))
    device = joined(path, collector, epsilon_limit=1.5)
    device.report(HOME)
    device.join(f"{SITE}/v1/campaigns/again")
    with pytest.raises(BudgetExceededError, match=r"over all campaigns.*asked epsilon = 1, spent"):
        device.report(HOME)
    assert len(collector.posts) == 1
    joined(path, collector, epsilon_limit=2.0).report(HOME, campaign="again")


def test_without_a_limit_there_is_one_campaign(path):
    device = joined(path, StubCollector(make_campaign(), make_campaign(id="again")))
    with pytest.raises(CampaignError, match="takes part in one campaign, 'homes', got 'again'"):
        device.join(f"{SITE}/v1/campaigns/again")
    assert [status.campaign.id for status in device.status()] == ["homes"]


def test_a_limit_that_is_left_out_later_does_not_lift_it(path):
    collector = StubCollector(make_campaign(reports_per_device=9), make_campaign(id="again"))
    joined(path, collector, epsilon_limit=1.0).report(HOME)
    make_device(path, collector, epsilon_limit=1.0).join(f"{SITE}/v1/campaigns/again")
    careless = make_device(path, collector)
    with pytest.raises(BudgetExceededError, match="without epsilon_limit reports to one campaign"):
        careless.report(HOME, campaign="again")
    assert careless.report(WORK, campaign="homes").sent


def test_metric_and_local_reports_are_counted_apart(path):
    far = make_campaign(id="far", mechanism=Laplace(0.5, bounds=BOX, unit="km"))
    collector = StubCollector(make_campaign(), far)
    device = joined(path, collector, epsilon_limit=1.0)
    device.report(HOME)
    device.join(f"{SITE}/v1/campaigns/far")
    with pytest.raises(BudgetExceededError, match="allows no metric spend"):
        device.report(HOME, campaign="far")
    limits = Limits(epsilon=1.0, metric_epsilon=0.5, metric_unit="km")
    device = joined(path, collector, epsilon_limit=limits)
    device.report(HOME, campaign="far")
    slacks = {status.campaign.id: status.slack for status in device.status()}
    assert slacks == {"homes": 0.0, "far": far.mechanism.guarantee_.slack}
    with pytest.raises(BudgetExceededError):
        joined(path, collector, epsilon_limit=limits).report(WORK, campaign="far")


@pytest.mark.parametrize("limit", [0.0, -1.0, float("nan"), True, "1"])
def test_a_limit_is_a_positive_number(path, limit):
    with pytest.raises(ParameterError, match="epsilon"):
        make_device(path, StubCollector(), epsilon_limit=limit)
    assert not path.exists()


# Time


def test_a_closed_campaign_takes_and_sends_nothing(path, monkeypatch):
    collector = StubCollector(make_campaign(reports_per_device=2))
    device = joined(path, collector)
    arrived, kept = device.report(HOME), device.draw(WORK)
    monkeypatch.setattr(agreements, "now", lambda: datetime(2130, 1, 1, tzinfo=UTC))
    for value in (WORK, [0.5, 0.5]):
        with pytest.raises(CampaignError, match="must be open, got one that closed at 2130-01-01"):
            device.report(value)
    assert device.report(HOME).report == arrived.report
    assert device.draw(WORK).report == kept.report
    outcome = device.send_pending()
    assert (outcome.sent, outcome.kept, len(outcome.reasons)) == (0, 1, 1)
    assert len(collector.posts) == 1
    device.join(URL)  # known already: its results may come
    with pytest.raises(CampaignError, match="must be open"):
        joined(path.with_name("late.db"), collector)


# Documents


def changed_bytes(envelope):
    return envelope.replace(b'"sig": "', b'"sig": "A', 1)


@pytest.mark.parametrize(
    ("document", "reason"),
    [
        (sign_campaign(make_campaign(), OTHER_KEY), "must be signed by"),
        (changed_bytes(sign_campaign(make_campaign(), KEY)), "signed document"),
        (b"<html>", "signed document"),
        (sign_campaign(make_campaign(closes=datetime(2020, 1, 1, tzinfo=UTC)), KEY), "closed at"),
    ],
)
def test_a_document_that_is_not_as_signed_is_refused(path, document, reason):
    collector = StubCollector()
    collector.documents["/v1/campaigns/homes"] = document
    device = make_device(path, collector)
    with pytest.raises(CampaignError, match=reason):
        device.join(URL)
    with pytest.raises(ParameterError, match="campaign must be one that was joined"):
        device.report(HOME)
    assert collector.posts == []


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"mechanism": PartitionResponse(1.5, bounds=BOX)}, "epsilon of a report is 1.5"),
        ({"reports_per_device": 2}, "epsilon of all reports is 2, above 1"),
        ({"device_ids": True}, "asks for a number of the device"),
        ({"purpose": "Sell it."}, "another purpose"),
        ({"revision": 1}, "revision 1 is older than 2"),
    ],
)
def test_a_weaker_document_is_refused_with_its_reasons(path, changed, reason):
    collector = StubCollector(make_campaign(revision=2))
    device = joined(path, collector)
    device.draw(HOME)
    collector.publish(make_campaign(**{"revision": 3} | changed))
    with pytest.raises(CampaignError, match=reason) as refused:
        device.join(URL)
    assert "\n" not in str(refused.value)
    assert device.status()[0].campaign.revision == 2
    assert device.report(HOME).sent, "the document that was agreed to still holds"


def test_a_number_that_is_written_otherwise_makes_no_fresh_report(path):
    """1 and 1.0 are equal, and each would be a mechanism of its own, with a report of its own."""
    campaign = make_campaign(mechanism=Piecewise(1, bounds=BOX), reports_per_device=9)
    collector = StubCollector(campaign)
    device = joined(path, collector)
    first = device.draw(HOME)
    collector.publish(revised(campaign, mechanism=Piecewise(1.0, bounds=BOX)))
    with pytest.raises(CampaignError, match="its reports come from another mechanism"):
        device.join(URL)
    assert device.draw(HOME).report == first.report


def test_all_reasons_are_listed(path):
    collector = StubCollector(make_campaign())
    device = joined(path, collector)
    collector.publish(make_campaign(revision=2, purpose="Sell it.", device_ids=True))
    with pytest.raises(CampaignError, match="another purpose; it asks for a number"):
        device.join(URL)


def test_a_campaign_of_another_key_needs_another_file(path):
    joined(path).report(HOME)
    theirs = StubCollector(make_campaign(), key=OTHER_KEY)
    with pytest.raises(ParameterError, match="public_key must be the one that"):
        make_device(path, theirs, public_key=OTHER_KEY.public)
    again = make_device(path, theirs, public_key=None)
    with pytest.raises(CampaignError, match="signed by"):
        again.join(URL)
    with pytest.raises(BudgetExceededError):
        again.report(WORK)


def test_a_document_can_come_with_the_app(path):
    collector = StubCollector()
    device = make_device(path, collector)
    campaign = device.join_envelope(sign_campaign(make_campaign(), KEY))
    assert campaign == make_campaign()
    assert device.report(HOME).sent
    assert [request.method for request in collector.requests] == ["POST"]
    with pytest.raises(ParameterError, match="url must be an https address"):
        device.join_envelope(sign_campaign(make_campaign(), KEY), url="http://example.org/a")


@pytest.mark.parametrize("url", ["http://example.org/c", "ftp://a/b", "file:///etc/passwd", 3, ""])
def test_documents_come_over_https(path, url):
    collector = StubCollector()
    with pytest.raises(ParameterError, match="url must be"):
        make_device(path, collector).join(url)
    assert collector.requests == []


def test_the_campaign_is_named_where_there_are_several(path):
    collector = StubCollector(make_campaign(), make_campaign(id="jobs"))
    device = joined(path, collector, epsilon_limit=9.0)
    device.join(f"{SITE}/v1/campaigns/jobs")
    assert device.report(HOME).campaign == "jobs", "the one that was joined last"
    again = make_device(path, collector, epsilon_limit=9.0)
    with pytest.raises(ParameterError, match=r"of \['homes', 'jobs'\], got None"):
        again.report(HOME)
    assert again.report(HOME, campaign="homes").campaign == "homes"


# Labels


def release(*centers):
    values = {"metric": "euclidean", "centers": np.array(centers, dtype=float)}
    return Release("NoiseAwareKMeans", values, Guarantee("local", epsilon=1.0))


def publish_results(collector, campaign, released):
    digest = open_campaign(sign_campaign(campaign, KEY), KEY.public).digest
    plain = {"version": 1, "digest": digest, "release": json.loads(released.to_json())}
    path = f"/v1/campaigns/{campaign.id}/results"
    collector.results[path] = json.dumps(plain).encode()


def test_a_label_of_a_record_by_names(path):
    mechanism = PartitionResponse(1.0, bounds=([0.0, 0.0], [1.0, 1.0]))
    mechanism.fit(pd.DataFrame({"east": [0.0], "north": [0.0]}))
    campaign = make_campaign(mechanism=mechanism)
    collector = StubCollector(campaign)
    device = joined(path, collector)
    publish_results(collector, campaign, release((0.9, 0.1), (0.1, 0.9)))
    assert device.label({"north": 0.8, "east": 0.2}) == 1
    assert device.label({"north": 0.2, "east": 0.8}) == 0
    with pytest.raises(DataError, match="x must have a value for each of"):
        device.label({"north": 0.2})


def test_a_label_comes_from_published_results_and_stays(path):
    campaign = make_campaign()
    collector = StubCollector(campaign)
    device = joined(path, collector)
    with pytest.raises(CampaignError, match="no results yet"):
        device.label(HOME)
    publish_results(collector, campaign, release(WORK, HOME))
    assert (device.label(HOME), device.label(WORK)) == (1, 0)
    publish_results(collector, campaign, release(HOME, WORK))
    asked = len(collector.requests)
    assert device.label(HOME) == 1, "kept in the file"
    assert make_device(path, collector).label(HOME) == 1
    assert len(collector.requests) == asked
    assert device.label(HOME, refresh=True) == 0
    assert collector.posts == []
    gets = [request for request in collector.requests if request.url.endswith("results")]
    assert all(set(get.headers) == {"Accept"} and get.body is None for get in gets)
    with pytest.raises(ParameterError, match="x must be one record"):
        device.label([HOME, WORK])


def test_results_of_an_earlier_revision_are_an_answer_and_others_are_not(path):
    campaign = make_campaign()
    collector = StubCollector(campaign)
    device = joined(path, collector)
    collector.publish(revised(campaign, closes=campaign.closes + timedelta(days=1)))
    device.join(URL)
    publish_results(collector, campaign, release(HOME, WORK))
    assert device.label(HOME) == 0
    later = revised(device.status()[0].campaign, title="Where people live now")
    publish_results(collector, later, release(WORK, HOME))
    collector.publish(later)
    assert device.label(HOME, refresh=True) == 1, "the document is fetched, and is no weaker"
    publish_results(collector, campaign, release(HOME, WORK))
    assert device.label(HOME, refresh=True) == 0
    publish_results(collector, make_campaign(revision=7), release(WORK, HOME))
    with pytest.raises(CampaignError, match="must answer a document that this device agreed to"):
        device.label(HOME, refresh=True)
    assert device.label(HOME) == 0


@pytest.mark.parametrize("body", [b"", b"[]", b"{}", b'{"digest": []}', b"<html>"])
def test_results_that_are_none_are_refused(path, body):
    collector = StubCollector(make_campaign())
    device = joined(path, collector)
    collector.results["/v1/campaigns/homes/results"] = body or b" "
    with pytest.raises(CampaignError, match="must hold a release"):
        device.label(HOME)


def test_results_must_hold_a_release(path):
    campaign = make_campaign()
    collector = StubCollector(campaign)
    device = joined(path, collector)
    publish_results(collector, campaign, release(HOME))
    name = "/v1/campaigns/homes/results"
    plain = json.loads(collector.results[name])
    collector.results[name] = json.dumps({**plain, "release": {"centers": []}}).encode()
    with pytest.raises(CampaignError, match="results of campaign 'homes' must hold a release"):
        device.label(HOME)
    collector.results[name] = json.dumps({**plain, "digest": [1]}).encode()
    with pytest.raises(CampaignError, match="must answer a document"):
        device.label(HOME)


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ('"metric": "euclidean", "centers": 1' + "0" * 400, "must hold clusters: centers"),
        (
            '"metric": "cells", "cells": "x", "clusters": {}, "shape": [2, 2], "grid": 2, '
            '"low": [0, 0], "high": [1, 1], "half": 4',
            "must hold clusters: cells",
        ),
        ('"metric": ' + "[" * 500 + "]" * 500, "must not be nested"),  # by JSON or by shoal
    ],
    ids=["huge", "other types", "deep"],
)
def test_results_that_lie_about_their_values_are_refused(path, values, reason):
    campaign = make_campaign()
    collector = StubCollector(campaign)
    device = joined(path, collector)
    publish_results(collector, campaign, release(HOME))
    name = "/v1/campaigns/homes/results"
    before, _, _ = collector.results[name].decode().partition('"values"')
    collector.results[name] = f'{before}"values": {{{values}}}}}}}'.encode()
    with pytest.raises(CampaignError, match=reason) as refused:
        device.label(HOME)
    assert str(HOME[0]) not in str(refused.value)


def test_what_cannot_be_fetched_says_so(path):
    def offline(request):
        raise OSError("no network")

    device = make_device(path, offline)
    device._retries = device._agreements._retries = joined(path)._retries
    with pytest.raises(DeliveryError, match="gave no answer: no network: try again later"):
        device.join(URL)
