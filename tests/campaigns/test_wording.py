"""Sentences are no part of the protocol: who rewords one reads every document as before."""

import pytest

from helpers.campaigns import KEY
from helpers.stub_collector import (
    BOX,
    HOME,
    URL,
    StubCollector,
    joined,
    make_campaign,
    make_device,
    revised,
)
from helpers.wording import reworded
from shoal.campaigns import Campaign, open_campaign, sign_campaign
from shoal.client import device_file
from shoal.mechanisms import Laplace, PartitionResponse, load_mechanism

MECHANISMS = [PartitionResponse(1.0, bounds=BOX), Laplace(8.0, bounds=BOX, truncate="resample")]
by_mechanism = pytest.mark.parametrize("mechanism", MECHANISMS, ids=lambda one: type(one).__name__)


@pytest.fixture(autouse=True)
def no_disk_to_wait_for(monkeypatch):
    monkeypatch.setattr(device_file, "SYNCHRONOUS", "OFF")


@by_mechanism
def test_the_words_are_other_ones(mechanism):
    """Otherwise the tests below would hold whatever documents compare."""
    before = str(mechanism.guarantee_)
    with reworded():
        after = str(mechanism.guarantee_)
    assert before != after


@by_mechanism
def test_a_reworded_guarantee_changes_no_document(mechanism):
    earlier = make_campaign(mechanism=mechanism)
    envelope, digest = sign_campaign(earlier, KEY), earlier.mechanism_digest
    with reworded():
        opened = open_campaign(envelope, KEY.public).campaign
        assert opened.to_bytes() == earlier.to_bytes()
        assert opened.mechanism_digest == digest
        newer = make_campaign(mechanism=mechanism, revision=2)
        assert newer.weaker_than(opened) == ()
    assert Campaign.from_bytes(newer.to_bytes()).weaker_than(earlier) == ()


@by_mechanism
def test_a_device_keeps_its_report_where_a_guarantee_is_reworded(tmp_path, mechanism):
    path, campaign = tmp_path / "device.db", make_campaign(mechanism=mechanism)
    collector = StubCollector(campaign)
    first = joined(path, collector).report(HOME)
    with reworded():
        # The device as it was, then the document of a collector with the new words.
        device = make_device(path, collector)
        again = device.report(HOME)
        assert (again.report, again.duplicate) == (first.report, True)
        collector.publish(revised(Campaign.from_bytes(campaign.to_bytes())))
        device.join(URL)
        again = device.report(HOME)
        assert (again.report, again.duplicate) == (first.report, True)
        (status,) = device.status()
        assert status.drawn == 1


@by_mechanism
def test_a_mechanism_file_is_read_where_a_guarantee_is_reworded(tmp_path, mechanism):
    path = tmp_path / "reports.mechanism.json"
    mechanism.save(path)
    text = path.read_text(encoding="utf-8")
    with reworded():
        loaded = load_mechanism(path)
        assert str(loaded.guarantee_) == str(mechanism.guarantee_)
        loaded.save(path)
    assert path.read_text(encoding="utf-8") == text


def test_reports_of_several_units_promise_nothing_after_loading_either():
    mechanism = Laplace(1.0, bounds=BOX, unit="km").fit([HOME])
    mechanism.randomize(HOME)
    mechanism.set_params(unit="m")
    assert mechanism.guarantee_.notion == "none"
    loaded = load_mechanism(mechanism.to_dict())
    assert (loaded.guarantee_.notion, loaded.guarantee_.holds) == ("none", False)
    assert loaded.to_dict() == mechanism.to_dict()
