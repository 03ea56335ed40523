"""A device and the collector as it is: over HTTP, from the document to the label."""

import time
from datetime import timedelta

import numpy as np
import pytest

from helpers.campaigns import KEY
from helpers.collector import running_collector
from helpers.stub_collector import HOME, QUICK, WORK, make_campaign, make_device, revised
from shoal.campaigns import open_campaign, sign_campaign
from shoal.client import UrlTransport
from shoal.exceptions import CampaignError, DeliveryError
from shoal.privacy import Guarantee, Release


@pytest.fixture(scope="module")
def collector(tmp_path_factory):
    path = tmp_path_factory.mktemp("collector") / "reports.db"
    with running_collector(f"sqlite:///{path}", refresh_seconds=0.01) as running:
        yield running


def add(collector, campaign):
    collector.store.add_campaign(open_campaign(sign_campaign(campaign, KEY), KEY.public))


def wait_for(collector, campaign):
    """Wait until the collector has looked into its database again."""
    for _ in range(1000):
        document = collector.client.get(f"/v1/campaigns/{campaign.id}").content
        if open_campaign(document, KEY.public).campaign == campaign:
            return
        time.sleep(0.01)
    raise AssertionError("the collector still has the document of before")


def device_of(path, collector, name, transport=None, **kwargs):
    transport = UrlTransport() if transport is None else transport
    device = make_device(path, transport, retries=QUICK, **kwargs)
    device.join(f"{collector.address}/v1/campaigns/{name}")
    return device


def test_from_the_document_to_the_label(collector, tmp_path):
    campaign = make_campaign(collector.address, id="homes", reports_per_device=2, device_ids=True)
    add(collector, campaign)
    with pytest.raises(DeliveryError, match="check ingest_key"):
        device_of(tmp_path / "device.db", collector, "homes").report(HOME)
    key = collector.store.add_ingest_key("homes")
    device = device_of(tmp_path / "device.db", collector, "homes", ingest_key=key)
    assert device.send_pending() == (1, 0, ())
    receipts = [device.report(value) for value in (HOME, WORK, HOME)]
    assert [receipt.duplicate for receipt in receipts] == [True, False, True]
    assert collector.store.count("homes") == 2
    stored = b"".join(collector.store.blocks("homes"))  # in any order
    assert sorted([stored[:2], stored[2:]]) == sorted(one.report for one in receipts[:2])
    with pytest.raises(CampaignError, match="no results yet"):
        device.label(HOME)
    store = collector.store
    version = store.add_analysis("homes", "kmeans", {}, 0, store.snapshot("homes"))
    values = {"metric": "euclidean", "centers": np.array([WORK, HOME])}
    release = Release("NoiseAwareKMeans", values, Guarantee("local", epsilon=1.0))
    store.finish_analysis(store.claim_analysis(), release=release.to_json())
    store.publish("homes", version)
    assert (device.label(HOME), device.label(WORK)) == (1, 0)


def test_a_lost_answer_and_a_new_document_leave_one_report(collector, tmp_path):
    campaign = make_campaign(collector.address, id="jobs", open_intake=True)
    add(collector, campaign)
    over_http, lost = UrlTransport(), []

    def lossy(request):
        answer = over_http(request)
        if request.method == "POST" and not lost:
            lost.append(request)
            later = revised(campaign, closes=campaign.closes + timedelta(days=1))
            add(collector, later)
            wait_for(collector, later)
            raise ConnectionResetError("the answer was lost")
        return answer

    device = device_of(tmp_path / "device.db", collector, "jobs", lossy)
    assert device.report(HOME).sent
    assert device.status()[0].campaign.revision == 2
    assert collector.store.count("jobs") == 1
    assert b"".join(collector.store.blocks("jobs")) == lost[0].body
