"""Campaigns for tests of the collector: two columns, two bytes a report, signed by one key.

A shuffled one has batches of a few reports, sealed to one key.
"""

from datetime import UTC, datetime

from shoal.campaigns import (
    Campaign,
    SealingKey,
    Shuffler,
    SignedCampaign,
    SigningKey,
    open_campaign,
    sign_campaign,
)
from shoal.mechanisms import PartitionResponse

KEY = SigningKey(bytes(range(32)))
SEALING_KEY = SealingKey(bytes(range(32, 64)))
MECHANISM = PartitionResponse(1.0, bounds=([0.0, 0.0], [1.0, 1.0]))
WIDTH = MECHANISM.report_format().width


def signed_campaign(name: str = "homes", *, key: SigningKey = KEY, **changed) -> SignedCampaign:
    """Return a campaign of this id, with other fields where they are given."""
    campaign = Campaign(
        **{
            "id": name,
            "title": "Where people live",
            "purpose": "Plan bus lines.",
            "mechanism": MECHANISM,
            "closes": datetime(2035, 1, 1, tzinfo=UTC),
            "reports_url": f"http://127.0.0.1/v1/campaigns/{name}/reports",
            "results_url": f"http://127.0.0.1/v1/campaigns/{name}/results",
            **changed,
        }
    )
    return open_campaign(sign_campaign(campaign, key), key.public)


def shuffled_campaign(name: str = "homes", *, batch_size: int = 4, **changed) -> SignedCampaign:
    """Return a campaign of this id whose reports come in batches."""
    relay = Shuffler("the university of X", batch_size, str(SEALING_KEY.public))
    return signed_campaign(name, **{"shuffler": relay, **changed})
