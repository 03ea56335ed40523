"""Campaigns: public, signed descriptions of a collection of reports from devices.

The document of a campaign states what is asked, by which mechanism a device answers, how often, and
until when. Devices and the collector need nothing else. It is signed with Ed25519 over its exact
bytes (:func:`sign_campaign`), and a device checks it with a public key that comes with the app
(:func:`open_campaign`). If reports are shuffled, devices encrypt them to the analyst's key first
(:class:`SealingKey`). ``campaign_words`` explains a document in plain words.
"""

from shoal.campaigns.campaign import Campaign
from shoal.campaigns.creation import (
    campaign_words,
    closing_time,
    collector_addresses,
    name_columns,
    revise_campaign,
)
from shoal.campaigns.envelope import SignedCampaign, open_campaign, sign_campaign
from shoal.campaigns.keys import PublicKey, SigningKey
from shoal.campaigns.sealing import SEALED_OVERHEAD, SealingKey, SealingPublicKey
from shoal.campaigns.shuffler import Shuffler

__all__ = [
    "SEALED_OVERHEAD",
    "Campaign",
    "PublicKey",
    "SealingKey",
    "SealingPublicKey",
    "Shuffler",
    "SignedCampaign",
    "SigningKey",
    "campaign_words",
    "closing_time",
    "collector_addresses",
    "name_columns",
    "open_campaign",
    "revise_campaign",
    "sign_campaign",
]
