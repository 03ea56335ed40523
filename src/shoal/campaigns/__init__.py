"""Campaigns: the public, signed description of a collection of reports.

A campaign's document says what is asked, by which mechanism a device answers, how often, and until
when. Devices and the collector are built from it alone. It is signed with Ed25519 over its exact
bytes (:func:`sign_campaign`), and a device opens it with a public key that it was shipped with
(:func:`open_campaign`). Where somebody shuffles the reports, devices seal them to the analyst's key
(:class:`SealingKey`). :func:`campaign_words` says in plain words what a document says.
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
