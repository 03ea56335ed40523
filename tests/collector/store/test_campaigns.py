"""Campaigns are kept as they were signed; a revision is later, by the same key, and not weaker."""

from datetime import UTC, datetime

import pytest

from helpers.campaigns import signed_campaign
from shoal.campaigns import SigningKey
from shoal.exceptions import CampaignError, StoreError
from shoal.mechanisms import PartitionResponse

OTHER_KEY = SigningKey(bytes(32))


def test_a_campaign_is_kept_as_it_was_signed(store):
    signed = signed_campaign("kept")
    store.add_campaign(signed)
    store.add_campaign(signed)
    assert store.campaign("kept") == signed
    assert signed in store.campaigns()
    assert store.count("kept") == 0


def test_the_last_revision_is_in_force(store, campaign):
    longer = signed_campaign(campaign, revision=2, closes=datetime(2036, 1, 1, tzinfo=UTC))
    store.add_campaign(longer)
    assert store.campaign(campaign) == longer
    assert [one.campaign.id for one in store.campaigns()].count(campaign) == 1
    assert store.campaign_digests()[campaign] == longer.digest
    assert store.revisions(campaign) == [signed_campaign(campaign), longer]
    with pytest.raises(CampaignError, match="revision 1 is older than 2"):
        store.add_campaign(signed_campaign(campaign))


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"revision": 1, "title": "Other"}, "revision 1 was something else before"),
        ({"reports_per_device": 2}, "epsilon of all reports is 2, above 1"),
        ({"device_ids": True}, "asks for a number of the device"),
        (
            {"mechanism": PartitionResponse(0.5, bounds=([0.0, 0.0], [1.0, 1.0]))},
            "its reports come from another mechanism",
        ),
        ({"key": OTHER_KEY}, "another key signed it"),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_a_document_that_cannot_follow_is_refused(store, campaign, changes, reason):
    before = store.campaign(campaign)
    with pytest.raises(CampaignError, match=reason):
        store.add_campaign(signed_campaign(campaign, **{"revision": 2, **changes}))
    assert store.campaign(campaign) == before


def test_an_unknown_campaign(store):
    for call in (
        store.campaign,
        store.revisions,
        store.count,
        store.snapshot,
        store.ingest_keys,
        store.analyses,
    ):
        with pytest.raises(StoreError, match="there is no campaign 'nowhere' in this database"):
            call("nowhere")
